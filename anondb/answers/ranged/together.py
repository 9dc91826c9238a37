"""Scalar subqueries over the same rows as one: ``(SELECT count(*) FROM t WHERE a) - (SELECT count(*) FROM t WHERE b)``.

More is known of both numbers together than of each: the rows with ``a`` that lack ``b`` are no more than those with ``a``.
Counts of persons over different rows are counts over one list of all persons, whose ids are among those of these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.clauses import FLAT, clauses_of, conditions_of, filtered_by, set_conditions
from anondb.query.parsing import bare, lowered

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren, exp.Cast, exp.Nullif, exp.Coalesce, exp.Round)


Counted = Callable[[exp.Select], tuple[exp.Select, exp.Table] | None]
"""The ids of the persons whom a SELECT counts, of whom a table has all; None if it counts others."""


def together(node: exp.Select, counted: Counted) -> exp.Select:
    """A SELECT in which an expression of several scalar subqueries over the same rows is one of these."""
    if all(len(list(e.find_all(exp.Subquery))) < 2 for e in node.expressions):
        return node
    copy = node.copy()
    for selected in copy.expressions:
        _merge(selected, counted)
    return copy


def _merge(node: exp.Expr, counted: Counted) -> None:
    """Replace the largest expressions of subqueries alone, each by one subquery if these have the same rows."""
    if isinstance(node, exp.Query | exp.AggFunc | exp.Window):
        return
    asked = _subqueries(node) or []
    if len(asked) > 1 and (one := _one(node, [of.this for of in asked], counted)) is not None:
        node.replace(one)
        return
    for child in list(node.iter_expressions()):
        _merge(child, counted)


def _subqueries(node: exp.Expr) -> list[exp.Subquery] | None:
    """The subqueries of an expression; None if it has other operands than these and numbers."""
    if isinstance(node, exp.Subquery):
        return [node]
    if isinstance(node, exp.Literal | exp.DataType):
        return []
    if not isinstance(node, _ARITHMETIC):
        return None
    listed = [_subqueries(child) for child in node.iter_expressions()]
    return None if None in listed else [query for of in listed for query in of or ()]


def _one(node: exp.Expr, queries: list[exp.Expr], counted: Counted) -> exp.Subquery | None:
    """An expression of several queries as one, where what not all ask of their rows is a FILTER; None if they differ."""
    selects = [query for query in queries if isinstance(query, exp.Select) and _is_total(query)]
    if len(selects) < len(queries):
        return None
    if any(_sources(select) != _sources(selects[0]) for select in selects):
        selects = [made for select in selects if (made := _listed_count(select, counted)) is not None]
    if len(selects) < len(queries) or any(_sources(select) != _sources(selects[0]) for select in selects):
        return None
    sources = [_sources(select) for select in selects]
    parts = [conditions_of(select) for select in selects]
    common = [part for part in parts[0] if all(part in of for of in parts)]
    further = [[part for part in of if part not in common] for of in parts]
    crossed = any(not any(join.args.get(key) for key in ("on", "using", "method")) for join in sources[0][1])
    if crossed and any(further):  # a condition that joins stays in WHERE
        return None
    values = {id(query): _filtered(q, of) for query, q, of in zip(queries, selects, further, strict=True)}
    made = selects[0].copy()
    made.set("expressions", [_with_values(node, values)])
    set_conditions(made, common)
    return exp.Subquery(this=made)


def _sources(node: exp.Select) -> tuple[exp.Expr, list[exp.Expr]]:
    return node.args["from_"], node.args.get("joins") or []


def _listed_count(node: exp.Select, counted: Counted) -> exp.Select | None:
    """A count of persons as one over the list of all persons of a table; None for another number."""
    calls = list(aggregates(node.expressions[0]))
    persons = counted(node) if len(calls) == 1 and isinstance(calls[0], exp.Count) else None
    if persons is None:
        return None
    ids, table = persons[0], persons[1].copy()
    table.set("alias", None)
    column = ids.expressions[0].this
    every = exp.select(exp.column(column.copy())).distinct().from_(table)
    made = exp.select(node.expressions[0].copy()).from_(every.subquery("persons"))
    among = exp.In(this=exp.column(column.copy(), "persons"), query=exp.Subquery(this=ids))
    (call,) = aggregates(made.expressions[0])
    call.replace(exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=among)))
    return made


def _is_total(node: exp.Select) -> bool:
    """Whether a query is one number of aggregates over rows of its own sources."""
    if not {"expressions", "from_"} <= clauses_of(node) <= FLAT:
        return False
    names = {"", *(lowered(place.alias_or_name) for place in node.find_all(exp.Table, exp.Subquery))}
    calls = list(aggregates(node.expressions[0]))
    left = {id(part) for part in node.expressions[0].walk(prune=lambda part: any(part is call for call in calls))}
    outside = [c for c in node.expressions[0].find_all(exp.Column, exp.Star, exp.Query) if id(c) in left]
    own = all(lowered(column.table) in names for column in node.find_all(exp.Column))
    return len(node.expressions) == 1 and bool(calls) and own and not outside and node.find(exp.Window) is None


def _filtered(node: exp.Select, parts: list[exp.Expr]) -> exp.Expr:
    """The number of a query, with further conditions on the rows of its aggregates."""
    value = exp.paren(bare(node.expressions[0].unalias()))
    for call in list(aggregates(value)) if parts else []:
        call.replace(filtered_by(call, *parts))
    return value


def _with_values(node: exp.Expr, values: Mapping[int, exp.Expr]) -> exp.Expr:
    """A copy of an expression with values in place of its subqueries."""
    if isinstance(node, exp.Subquery):
        return values[id(node.this)]
    made = type(node)(**node.args)
    for key, part in node.args.items():
        if isinstance(part, exp.Expr):
            made.set(key, _with_values(part, values))
        elif isinstance(part, list):
            made.set(key, [_with_values(p, values) if isinstance(p, exp.Expr) else p for p in part])
    return made
