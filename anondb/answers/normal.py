"""The normal form of a query, which rules and worlds read: one way to write what several say with the same result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from sqlglot import exp

from anondb.answers.ranged.chosen_groups import with_chosen_groups
from anondb.answers.ranged.compiler import with_ctes
from anondb.answers.ranged.deviations import with_variances
from anondb.answers.ranged.distinct_rows import with_different_persons, with_first_rows, with_groups
from anondb.answers.ranged.equivalents import ids_of
from anondb.answers.ranged.groups_beside import with_one_select
from anondb.answers.ranged.item_filters import with_having
from anondb.answers.ranged.item_windows import with_item_windows
from anondb.answers.ranged.joined_totals import with_joined_totals
from anondb.answers.ranged.laterals import with_joins
from anondb.answers.ranged.listed import with_aggregates, with_own_lists, with_queried_rows, with_written_rows
from anondb.answers.ranged.matches import with_counted_matches, with_places
from anondb.answers.ranged.numbered import with_numbers_of_rows
from anondb.answers.ranged.ordered_pairs import with_ordered_pairs
from anondb.answers.ranged.originals import Originals
from anondb.answers.ranged.over_groups import as_one
from anondb.answers.ranged.plain_sources import without_inner_rows
from anondb.answers.ranged.plain_words import (
    unwrapped,
    with_outer_ctes,
    with_own_tables,
    with_plain_words,
    without_idle_distinct,
)
from anondb.answers.ranged.quantified import with_extremes_of_persons
from anondb.answers.ranged.rows_of_records import with_sums_of_records
from anondb.answers.ranged.running_joins import with_running
from anondb.answers.ranged.totals import with_totals
from anondb.answers.ranged.unions import with_all
from anondb.answers.ranged.values_beside import with_values_beside
from anondb.answers.roles import AnalystTables
from anondb.query.parsing import is_null, lowered

_FIRST = (with_plain_words, with_written_rows, with_queried_rows, with_all)


def _is_present(
    table: exp.Table,
    name: str,
    tables: Mapping[str, Collection[str]],
    own: Mapping[str, Collection[str]],
    nullable: Collection[str],
    analyst: AnalystTables,
) -> bool | None:
    """Whether a column of a table, in lower case, is never NULL; None if the table has no such column. See ``normal``."""
    columns = own.get(lowered(table.name)) or tables.get(lowered(table.name)) or ()
    if table.db or name not in columns:
        return None if columns and not table.db else False
    column = exp.column(name, quoted=True)
    missing = exp.select("1").from_(exp.Table(this=table.this.copy())).where(is_null(column)).limit(1)
    return not analyst.rows(missing) if lowered(table.name) in own else name not in nullable


def _has_clear_names(tree: exp.Expr, tables: Collection[str]) -> bool:
    """Whether each common table expression has a name of its own, which is that of no table."""
    names = [lowered(cte.alias) for cte in tree.find_all(exp.CTE)]
    return len({*names}) == len(names) and not {*names} & {*tables}


def normal(
    tree: exp.Expr,
    tables: Mapping[str, Mapping[str, bool]],
    own: Mapping[str, Collection[str]],
    persons: str,
    item: str,
    nullable: Collection[str],
    analyst: AnalystTables,
) -> exp.Expr:
    """A query with the same result, of the forms that rules and worlds read.

    Each step writes one thing that may be said in several ways as one of them: first lists, matches and places as sources,
    groups and windows; then sources as tables; then groups by the same keys as one SELECT.

    Args:
        tree: the query.
        tables: the columns of each of the original's tables, in lower case, and whether one is the id.
        own: the columns of the analyst's tables, in lower case.
        persons, item: the table of persons and their items, and its column of items, in lower case.
        nullable: the columns of the original's tables that may be NULL, in lower case.
        analyst: the analyst's tables.
    """
    present = partial(_is_present, tables=tables, own=own, nullable=nullable, analyst=analyst)
    originals = Originals(tables, own, persons, present)
    movable = _has_clear_names(tree, {*tables, *own})  # sources keep their meaning wherever they stand
    steps: tuple[Callable[[exp.Expr], exp.Expr], ...] = (
        *_FIRST,
        lambda query: with_own_tables(unwrapped(with_outer_ctes(query)), tables, item) if movable else query,
        lambda query: without_idle_distinct(query, analyst.is_aggregate),
        lambda query: with_variances(query, present),
        with_ordered_pairs,
        lambda query: with_totals(query, present),
        lambda query: with_running(query, present),
        lambda query: with_own_lists(query, own, analyst.rows),
        with_aggregates,
        lambda query: with_numbers_of_rows(query, analyst.rows, present),
        with_first_rows,
        lambda query: with_joins(query, tables, own),
        lambda query: with_counted_matches(query, tables),
        lambda query: with_places(query, tables, present),
        lambda query: with_extremes_of_persons(query, tables, item, present),
        lambda query: with_different_persons(query, tables),
        lambda query: with_item_windows(query, persons, item),
        lambda query: with_groups(query, tables),
    )
    of_sources: tuple[Callable[[exp.Expr], exp.Expr], ...] = (
        lambda query: with_joined_totals(query, ids_of(tables), item),
        lambda query: without_inner_rows(query, tables),
        lambda query: with_chosen_groups(query, originals),
        lambda query: with_sums_of_records(query, originals),
        lambda query: with_values_beside(query, originals),
        lambda query: with_one_select(query, originals),
        lambda query: with_having(query, item),
    )
    for step in (*steps, *of_sources) if movable else steps:
        tree = step(tree)
    outer: exp.Expr | None = None if any(clause.recursive for clause in tree.find_all(exp.With)) else tree
    while isinstance(outer, exp.Select):
        tree, outer = outer, as_one(outer, with_ctes(outer, {}, lambda query, env: False), analyst.is_aggregate)
    return tree
