"""``SELECT DISTINCT item, count(*) OVER (PARTITION BY item)`` as the groups that it lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import (
    clauses_of,
    copy_clauses,
    only_source,
    places_of,
)
from anondb.answers.ranged.equivalents import (
    aliases_of,
    names_alias,
    terms_of_order,
    write_windows,
)
from anondb.answers.ranged.originals import Originals, rule
from anondb.query.parsing import bare, lowered

_TOTALS: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.Count: exp.Sum,
    exp.Sum: exp.Sum,
    exp.Min: exp.Min,
    exp.Max: exp.Max,
    exp.LogicalOr: exp.LogicalOr,
    exp.LogicalAnd: exp.LogicalAnd,
}
"""For each aggregate, the one that combines its values of several groups."""
_AGGREGATES = (*_TOTALS, exp.Avg, exp.CountIf, exp.Median)


@rule((exp.Window, exp.Subquery), exp.Distinct)
def with_groups(select: exp.Select, originals: Originals) -> exp.Select | None:
    """A query with GROUP BY in place of SELECT DISTINCT over aggregates of windows, but of one row for each person."""
    inner = _repeatable_source(select)
    if inner is not None and not _keys_of(inner) & originals.ids:
        inner.set("distinct", exp.Distinct())
        keys = {lowered(e.alias_or_name) for e in inner.expressions if e.find(exp.Window) is None}
        if _groups(inner, originals.columns) is not None and keys <= _keys_of(select):  # each of the groups is one row
            select.set("distinct", None)
    groups = _groups(select, originals.columns) or _with_nested(select)
    keys = _keys_of(select)
    return None if keys and keys <= originals.ids else groups


def _is_key(value: exp.Expr) -> bool:
    """Whether rows can be grouped by an expression: it has columns, and no aggregate, window or list of rows."""
    odd = (exp.AggFunc, exp.Window, exp.Explode, exp.Unnest, exp.Query)
    return value.find(exp.Column) is not None and value.find(*odd) is None


def _keys_of(node: exp.Select) -> set[str]:
    """The names of the columns that a SELECT shows, in lower case."""
    return {lowered(e.unalias().name) for e in node.expressions if isinstance(e.unalias(), exp.Column)}


def _repeatable_source(node: exp.Select) -> exp.Select | None:
    """The subquery with windows that is the only source of a SELECT for which repetitions do not matter; None for others."""
    source = only_source(node)
    inner = source.this if isinstance(source, exp.Subquery) else None
    others = any(node.args.get(key) for key in ("laterals", "qualify", "windows"))
    if not isinstance(inner, exp.Select) or others or inner.find(exp.Window) is None or inner.is_star:
        return None
    if any(inner.args.get(key) for key in ("distinct", "group", "having", "limit", "offset")):
        return None
    parts = [*node.expressions, *(node.args[key] for key in ("having", "order") if node.args.get(key))]
    calls = [call for part in parts for call in part.find_all(exp.AggFunc, exp.Window, exp.Anonymous)]
    once = all(isinstance(call, exp.Min | exp.Max) or isinstance(call.this, exp.Distinct) for call in calls)
    distinct = node.args.get("distinct")
    merged = (calls and node.args.get("group") is None) if distinct is None else not distinct.args.get("on")
    return inner if once and merged else None


def _groups(node: exp.Select, tables: Mapping[str, Mapping[str, bool]]) -> exp.Select | None:
    """A SELECT DISTINCT of keys and of aggregates over all rows with some of them as GROUP BY these keys; None for others.

    The rows with equal keys are equal, and DISTINCT keeps one of each; a window over the keys has the rows of their group,
    and one over some of the keys, or none, those of several groups.
    """
    distinct, copy = node.args.get("distinct"), node.copy()
    write_windows(copy)
    plain = not any(copy.args.get(key) for key in ("group", "having", "windows", "laterals"))
    if distinct is None or distinct.args.get("on") or not plain:
        return None
    keys = [e.unalias() for e in copy.expressions if e.find(exp.Window) is None]
    windows = [w for w in copy.find_all(exp.Window) if w.parent_select is copy]
    if not keys or not windows or not all(map(_is_key, keys)):
        return None
    if any(isinstance(key.this if isinstance(key, exp.Column) else key, exp.Star) for key in keys):
        return None
    for window in windows:
        value = _over_groups(window, keys)
        if value is None:
            return None
        window.replace(exp.alias_(value, window.alias) if window.alias and window in copy.expressions else value)
    if not all(_is_of(e.unalias(), keys, copy) for e in copy.expressions):
        return None
    copy.set("distinct", None)
    copy.set("group", exp.Group(expressions=[key.copy() for key in dict.fromkeys(keys)]))
    qualify = copy.args.get("qualify")
    if qualify is not None and names_alias(qualify, copy) and not _has_no_column_of(aliases_of(copy), copy, tables):
        return None  # the column, or what the SELECT gives
    if qualify is not None and copy.find(exp.Window) is None:
        copy.set("having", exp.Having(this=qualify.this))
        copy.set("qualify", None)
    return copy


def _has_no_column_of(names: Collection[str], node: exp.Select, tables: Mapping[str, Mapping[str, bool]]) -> bool:
    """Whether a SELECT reads tables of the original alone, and none of them has a column of some names."""
    sources = [place.this for place in places_of(node)]
    return all(
        isinstance(source, exp.Table) and not {*tables.get(lowered(source.name), names)} & {*names} for source in sources
    )


def _with_nested(node: exp.Select) -> exp.Select | None:
    """A SELECT DISTINCT of keys beside subqueries that name keys alone as GROUP BY these keys; None for others.

    Such as ``DISTINCT item, (SELECT count(*) FROM sales o WHERE o.item = s.item) FROM sales s``.
    """
    parts = {"expressions", "from_", "where", "distinct", "with_", "order", "limit", "offset"}
    source = only_source(node)
    distinct = node.args.get("distinct")
    if distinct is None or distinct.args.get("on") or not clauses_of(node) <= parts:
        return None
    keys = [e.unalias() for e in node.expressions if isinstance(e.unalias(), exp.Column)]
    others = [e.unalias() for e in node.expressions if not isinstance(e.unalias(), exp.Column)]
    if not isinstance(source, exp.Table) or not keys or any(isinstance(key.this, exp.Star) for key in keys):
        return None
    if not others or not all(_is_of_names(e, source, {lowered(key.name) for key in keys}) for e in others):
        return None
    copy = node.copy()
    copy.set("distinct", None)
    copy.set("group", exp.Group(expressions=[key.copy() for key in dict.fromkeys(keys)]))
    return copy


def _is_of_names(node: exp.Expr, source: exp.Table, names: set[str]) -> bool:
    """Whether an expression is of subqueries over the same table that name columns of the row by these names alone.

    Each such subquery has all columns of the table, so a name without a table is its own.
    """
    queries = [q for q in node.find_all(exp.Subquery) if q.find_ancestor(exp.Query) is node.find_ancestor(exp.Query)]
    outside = [c for c in node.find_all(exp.Column) if c.find_ancestor(exp.Query) is node.find_ancestor(exp.Query)]
    if not queries or outside or node.find(exp.AggFunc) is None:
        return False
    for select in (select for query in queries for select in query.find_all(exp.Select)):
        inner = select.args["from_"].this if select.args.get("from_") else None
        if not isinstance(inner, exp.Table) or (inner.name, inner.db) != (source.name, source.db):
            return False
        if inner.alias_column_names:
            return False
    tables = [table for query in queries for table in query.find_all(exp.Table, exp.Subquery) if table is not query]
    if any(lowered(table.alias_or_name) == lowered(source.alias_or_name) for table in tables):
        return False
    of_row = [c for c in node.find_all(exp.Column) if lowered(c.table) == lowered(source.alias_or_name)]
    return bool(of_row) and {lowered(c.name) for c in of_row} <= names


def _over_groups(window: exp.Window, keys: list[exp.Expr]) -> exp.Expr | None:
    """A window function as an aggregate of one group, or of several groups; None for functions that are no aggregates."""
    call, _ = filtered(window.this)
    by = [bare(part) for part in window.args.get("partition_by") or ()]
    if isinstance(call, exp.CumeDist):  # the rows up to a row are those of the groups up to its group
        up_to, every = window.copy(), window.copy()
        every.set("order", None)
        for part in (up_to, every):
            part.set("this", exp.Count(this=exp.Star(), big_int=True))
        parts = [_over_groups(part, [*keys, exp.Star()]) for part in (up_to, every)]
        return None if None in parts else exp.paren(exp.Div(this=parts[0], expression=parts[1]))
    if type(call) not in _AGGREGATES or any(window.args.get(k) for k in ("spec", "alias")):
        return None
    terms = [bare(term.this) for term in terms_of_order(window)]
    if not all(part in keys for part in (*by, *terms)):
        return None
    if set(by) == set(keys):
        of_group: exp.Expr = window.this.copy()
        return of_group
    total = _TOTALS.get(type(call))
    if total is None or isinstance(call.args.get("this"), exp.Distinct):
        return None
    made = exp.Window(this=total(this=window.this.copy()), partition_by=[part.copy() for part in by], over="OVER")
    copy_clauses(window, made, ["order"])  # rows that it does not tell apart are of one frame
    return made


def _is_of(node: exp.Expr, keys: list[exp.Expr], of: exp.Select) -> bool:
    """Whether an expression is of keys, aggregates, and subqueries over the same table that name no row around them."""
    if node in keys or isinstance(node, exp.AggFunc | exp.Filter):
        return True
    if isinstance(node, exp.Subquery):
        source, tables = only_source(of), list(node.find_all(exp.Table))
        same = source is not None and all(table.name == source.name and not table.alias for table in tables)
        return bool(tables) and same and not any(column.table for column in node.find_all(exp.Column))
    if isinstance(node, exp.Column | exp.Query):
        return False
    return all(_is_of(part, keys, of) for part in node.iter_expressions())
