"""The normal form of a query, which rules and worlds read: one way to write what several say with the same result."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from anondb.answers.ranged.distinct_rows import with_first_rows
from anondb.answers.ranged.equivalents import without_inner_rows
from anondb.answers.ranged.groups_beside import with_one_select
from anondb.answers.ranged.item_filters import with_having
from anondb.answers.ranged.item_windows import with_item_windows
from anondb.answers.ranged.laterals import with_joins
from anondb.answers.ranged.listed import with_aggregates


def normal(
    tree: exp.Expr,
    tables: Mapping[str, Mapping[str, bool]],
    own: Mapping[str, Collection[str]],
    persons: str,
    item: str,
    nullable: Collection[str],
) -> exp.Expr:
    """A query with aggregates in place of functions of lists, GROUP BY in place of the first rows of groups, joins in place
    of LATERAL, conditions in place of windows over the rows of an item, tables in place of subqueries that choose rows of
    them, HAVING in place of a list of the same groups, and one SELECT in place of groups that are joined on their keys.

    Args:
        tree: the query.
        tables: the columns of each of the original's tables, in lower case, and whether one is the id.
        own: the columns of the analyst's tables, in lower case.
        persons, item: the table of persons and their items, and its column of items, in lower case.
        nullable: the columns of the original's tables that may be NULL, in lower case.
    """
    rows = with_item_windows(with_joins(with_first_rows(with_aggregates(tree)), tables, own), persons, item)
    return with_having(with_one_select(without_inner_rows(rows, tables), tables, nullable), item)
