"""Rows of persons beside one row of totals: ``FROM sales, (SELECT count(*) AS n FROM sales) t``."""

from __future__ import annotations

from sqlglot import exp

from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.ranged.clauses import (
    ROWS,
    aliased,
    clauses_of,
    is_inner,
    places_of,
    selected,
)
from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.relation import SOME_ROWS
from anondb.answers.ranged.sources import grouped
from anondb.query.parsing import bare, conjoined, lowered
from anondb.query.refusals import only

_TOTALS = {"expressions", *ROWS, "with_"}
"""The parts of a SELECT that has one row if it aggregates."""
_SAME = (exp.AnyValue, exp.Max, exp.Min, exp.First)
"""Aggregates that give the value that all rows have."""


def beside_totals(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """Groups of persons beside one row of aggregates, with a subquery in place of each column of this row; None for others.

    A source with exactly one row adds no row and takes none away, so that its columns are constants. All rows of a group
    have them: an aggregate that gives the value of all rows gives the constant, and a constant divides no group.
    """
    places = places_of(node)
    if len(places) < 2 or node.args.get("group") is None or any(node.args.get(k) for k in ("distinct", "qualify")):
        return None
    totals = {id(p): names for p in places if (names := _columns(p, env, compiler)) is not None}
    rest = [place for place in places if id(place) not in totals]
    if not totals or not any(compiler.people.is_source(place.this, env) for place in rest):
        return None
    if any(e.find(exp.Star) and not e.find(exp.AggFunc) for e in node.expressions):
        return None
    values: dict[tuple[str, str], exp.Expr] = {}
    for place in places:
        for name in totals.get(id(place), ()):
            alias = place.this.alias_or_name
            value = exp.Subquery(this=exp.select(exp.column(name, alias)).from_(place.this.copy()))
            values[lowered(alias), name] = values["", name] = value
    first, *others = rest
    if isinstance(first, exp.Join) and (first.side or first.args.get("using") or first.kind not in ("", "INNER", "CROSS")):
        return None
    keys = [key for key in _keys(node) if not _is_of(selected(key, node), values)] or [SOME_ROWS]
    copy = node.copy()
    copy.set("from_", exp.From(this=first.this.copy()))
    copy.set("joins", [join.copy() for join in others])
    copy.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return _with_values(copy.where(*conjoined(first.args.get("on"))), values)


def _keys(node: exp.Select) -> list[exp.Expr]:
    """The grouped expressions as they are written; for ALL those without aggregates."""
    group = node.args["group"]
    only(group, "expressions", "all")
    return grouped(node, lambda column: True) if group.args.get("all") else list(group.expressions)


def _is_of(node: exp.Expr, values: dict[tuple[str, str], exp.Expr]) -> bool:
    """Whether an expression has columns, and these alone."""
    names = [(lowered(column.table), lowered(column.name)) for column in node.find_all(exp.Column)]
    return bool(names) and all(name in values for name in names) and node.find(exp.Query) is None


def _columns(place: exp.Expr, env: Env, compiler: Compiler) -> list[str] | None:
    """The columns of a source that has exactly one row and is joined without a condition; None for others."""
    if not is_inner(place) or place.args.get("using") or place.args.get("on") not in (None, exp.true()):
        return None
    source = place.this
    cte = env.get(lowered(source.name)) if isinstance(source, exp.Table) and not source.db else None
    query = cte.node.this if cte is not None else source.this
    if source.alias_column_names or (cte is not None and cte.node.alias_column_names):
        return None
    query = query.unnest() if isinstance(query, exp.Subquery) else query
    if not isinstance(query, exp.Select) or not clauses_of(query) <= _TOTALS:
        return None
    aggregated = any(has_aggregate(e, compiler.tables.is_aggregate) for e in query.expressions)
    single = aggregated or not (query.args.get("from_") or query.args.get("where"))
    names = [lowered(e.alias_or_name) for e in query.expressions]
    plain = all(names) and "*" not in names and not any(e.find(exp.Explode) for e in query.expressions)
    return names if plain and single else None


def _with_values(node: exp.Select, values: dict[tuple[str, str], exp.Expr]) -> exp.Select | None:
    """A SELECT with expressions in place of columns; None if a subquery or a name that the SELECT gives may mean one, or if
    FILTER chooses for which rows an aggregate has one."""
    named = aliased(node)
    for column in list(node.find_all(exp.Column)):
        value = values.get((lowered(column.table), lowered(column.name)))
        if value is None:
            continue
        ambiguous = not column.table and lowered(column.name) in named and not isinstance(column.parent, exp.Alias)
        if column.parent_select is not node or ambiguous:
            return None
        place = column.parent
        while isinstance(place, exp.Paren):
            place = place.parent
        call = place if isinstance(place, _SAME) and bare(place.this) == column else None
        if call is not None and isinstance(call.parent, exp.Filter | exp.Window | exp.IgnoreNulls):
            return None
        (call or column).replace(value.copy())
    return node
