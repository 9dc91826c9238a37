"""The normal form of a query, which rules and worlds read: one way to write what several say with the same result."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from anondb.answers.ranged.compiler import with_ctes
from anondb.answers.ranged.distinct_rows import with_groups
from anondb.answers.ranged.equivalents import with_known_names
from anondb.answers.ranged.groups_beside import with_one_select, with_values_beside
from anondb.answers.ranged.item_filters import with_having, with_item_windows
from anondb.answers.ranged.joined_groups import with_joined_groups, with_other_groups
from anondb.answers.ranged.laterals import with_joins, with_subqueries
from anondb.answers.ranged.listed import with_aggregates, with_queried_rows, with_rows_of_lists, with_written_rows
from anondb.answers.ranged.originals import Originals
from anondb.answers.ranged.over_groups import as_one, with_joined_totals
from anondb.answers.ranged.plain_sources import with_chosen_groups, with_named_tables, without_inner_rows
from anondb.answers.ranged.plain_words import (
    with_column_names,
    with_limits_counted,
    with_outer_ctes,
    with_plain_words,
    with_rows_counted,
    without_idle_distinct,
)
from anondb.answers.ranged.quantified import with_extremes, without_matches
from anondb.answers.ranged.rows_of_records import with_sums_of_records
from anondb.answers.ranged.running_joins import with_own_rows_counted, with_totals
from anondb.answers.ranged.unions import with_all, with_one_source
from anondb.query.parsing import lowered

_FIRST = (with_plain_words, with_written_rows, with_queried_rows, with_all, with_column_names)
_FORMS = (
    *(with_one_source, with_rows_of_lists, without_idle_distinct),
    *(with_limits_counted, with_rows_counted),
    with_named_tables,
    with_totals,
    with_aggregates,
    with_joins,
    without_matches,
    with_item_windows,
    with_groups,
)
_OF_SOURCES = (
    *(with_joined_totals, without_inner_rows, with_chosen_groups, with_sums_of_records, with_values_beside, with_one_select),
    with_having,
)
_OF_BOUNDS = (
    *(with_known_names, with_other_groups, with_joined_groups, with_subqueries, with_extremes),
    *(with_item_windows, with_own_rows_counted),
)


def _has_clear_names(tree: exp.Expr, tables: Collection[str]) -> bool:
    """Whether each common table expression has a name of its own, which is that of no table."""
    names = [lowered(cte.alias) for cte in tree.find_all(exp.CTE)]
    return len({*names}) == len(names) and not {*names} & {*tables}


def normal(tree: exp.Expr, originals: Originals) -> exp.Expr:
    """A query with the same result, of the forms that rules and worlds read.

    Each step writes one thing that may be said in several ways as one of them: first lists as sources, windows as groups;
    then sources as tables; then groups by the same keys as one SELECT.
    """
    movable = _has_clear_names(tree, {*originals.columns, *originals.own})  # sources keep their meaning wherever they stand
    for step in _FIRST:
        tree = step(tree)
    for rule in (with_outer_ctes, *_FORMS, *_OF_SOURCES) if movable else _FORMS:
        tree = rule(tree, originals)
    outer: exp.Expr | None = None if any(clause.recursive for clause in tree.find_all(exp.With)) else tree
    while isinstance(outer, exp.Select):
        tree, outer = outer, as_one(outer, with_ctes(outer, {}, lambda query, env: False), originals.analyst.is_aggregate)
    return tree


def for_bounds(tree: exp.Expr, originals: Originals) -> exp.Expr:
    """A query with the same result, in words that bounds alone read."""
    for rule in _OF_BOUNDS:
        tree = rule(tree, originals)
    return tree
