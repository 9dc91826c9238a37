"""The normal form of a query, which rules and worlds read: one way to write what several say with the same result."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from sqlglot import exp

from anondb.answers.ranged.chosen_groups import with_chosen_groups
from anondb.answers.ranged.compiler import with_ctes
from anondb.answers.ranged.deviations import with_variances
from anondb.answers.ranged.distinct_rows import with_different_persons, with_first_rows, with_groups
from anondb.answers.ranged.equivalents import ids_of
from anondb.answers.ranged.groups_beside import with_one_select
from anondb.answers.ranged.item_filters import with_having
from anondb.answers.ranged.item_windows import with_item_windows
from anondb.answers.ranged.laterals import with_joins
from anondb.answers.ranged.listed import with_aggregates, with_own_lists, with_written_rows
from anondb.answers.ranged.matches import with_counted_matches, with_places
from anondb.answers.ranged.numbered import with_numbers_of_rows
from anondb.answers.ranged.ordered_pairs import with_ordered_pairs
from anondb.answers.ranged.over_groups import as_one
from anondb.answers.ranged.plain_sources import without_inner_rows
from anondb.answers.ranged.quantified import with_extremes_of_persons
from anondb.answers.ranged.rows_of_records import Originals, with_sums_of_records
from anondb.answers.ranged.running_joins import with_running
from anondb.answers.ranged.totals import with_totals
from anondb.answers.ranged.unions import with_all
from anondb.answers.ranged.values_beside import with_values_beside
from anondb.query.parsing import is_null, lowered


class Desk(Protocol):
    """The analyst's tables."""

    def rows(self, tree: exp.Query) -> Sequence[tuple[Any, ...]]:
        """The rows of a query over the analyst's tables, or over none."""

    def is_aggregate(self, name: str) -> bool:
        """Whether a function of DuckDB computes one value from several rows."""


def normal(
    tree: exp.Expr,
    tables: Mapping[str, Mapping[str, bool]],
    own: Mapping[str, Collection[str]],
    persons: str,
    item: str,
    nullable: Collection[str],
    desk: Desk,
) -> exp.Expr:
    """A query with aggregates in place of functions of lists and of numbers of rows, GROUP BY in place of the first rows of
    groups, joins in place of LATERAL, subqueries in place of matches by numbers, windows in place of totals of the rows,
    conditions in place of windows over rows of an item, tables in place of subqueries that choose rows of them, HAVING in
    place of a list of the same groups, and one SELECT in place of groups that are joined on their keys.

    Args:
        tree: the query.
        tables: the columns of each of the original's tables, in lower case, and whether one is the id.
        own: the columns of the analyst's tables, in lower case.
        persons, item: the table of persons and their items, and its column of items, in lower case.
        nullable: the columns of the original's tables that may be NULL, in lower case.
        desk: the analyst's tables.
    """

    def present(table: exp.Table, name: str) -> bool | None:
        columns = own.get(lowered(table.name)) or tables.get(lowered(table.name)) or ()
        if table.db or name not in columns:
            return None if columns and not table.db else False
        column = exp.column(exp.to_identifier(name, quoted=True))
        missing = exp.select("1").from_(exp.Table(this=table.this.copy())).where(is_null(column)).limit(1)
        return not desk.rows(missing) if lowered(table.name) in own else name not in nullable

    tree = with_totals(with_ordered_pairs(with_variances(with_all(with_written_rows(tree)), present)), present)
    tree = with_running(tree, present)
    made = with_first_rows(with_numbers_of_rows(with_aggregates(with_own_lists(tree, own, desk.rows)), desk.rows, present))
    made = with_places(with_counted_matches(with_joins(made, tables, own), tables), tables, present)
    made = with_extremes_of_persons(made, tables, item, present)
    made = with_groups(with_item_windows(with_different_persons(made, ids_of(tables)), persons, item), ids_of(tables))
    originals = Originals(tables, persons, present)
    made = with_chosen_groups(without_inner_rows(made, tables), originals)
    made = with_sums_of_records(made, originals)
    made = with_having(with_one_select(with_values_beside(made, originals), originals), item)
    one: exp.Expr | None = None if any(clause.recursive for clause in made.find_all(exp.With)) else made
    while isinstance(one, exp.Select):
        made, one = one, as_one(one, with_ctes(one, {}, lambda query, env: False), desk.is_aggregate)
    return made
