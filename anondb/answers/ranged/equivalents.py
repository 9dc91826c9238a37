"""Other ways to write a query, with the same result in DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    ROWS,
    aliased,
    both_ways,
    clauses_of,
    conditions_of,
    copy_clauses,
    places_of,
    selected,
    set_conditions,
)
from anondb.query.parsing import bare, conjoined, is_conjunct, is_null, lowered

if TYPE_CHECKING:
    from anondb.answers.ranged.originals import Originals

MIRRORED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE
}  # fmt: skip
"""The comparison that says the same of two sides that are swapped."""
_PLAIN = {"expressions", *ROWS, "with_"}
_INSIDE = (exp.AggFunc, exp.Filter, exp.Window, exp.In, exp.Any, exp.All, exp.Exists, exp.Select)
"""A value belongs to each row of a SELECT if the SELECT is the nearest of these nodes around it."""
_ENDED = (exp.Distinct, exp.Literal, exp.Order)


def with_known_names(tree: exp.Expr, originals: Originals) -> exp.Expr:
    """A query with other spellings in place of those that no rule reads."""
    copy = tree.copy()
    for call in list(copy.find_all(exp.WithinGroup)):
        if (quantile := _quantile(call)) is not None:
            call.replace(quantile)
    for end in list(copy.find_all(exp.ArgMax, exp.ArgMin)):
        if end.this == end.expression and end.args.get("count") is None:
            end.replace((exp.Max if isinstance(end, exp.ArgMax) else exp.Min)(this=end.this.copy()))
    for choice in reversed(list(copy.find_all(exp.If))):  # inner ones first
        if choice.arg_key != "ifs":  # if(a, b, c), and no branch of CASE
            branch = exp.If(this=choice.this, true=choice.args["true"])
            choice.replace(exp.Case(ifs=[branch], default=choice.args.get("false")))
    for case in copy.find_all(exp.Case):
        if isinstance(case.this, exp.Column):  # CASE x WHEN y
            for branch in case.args["ifs"]:
                branch.set("this", exp.EQ(this=case.this.copy(), expression=exp.paren(branch.this)))
            case.set("this", None)
        if isinstance(case.args.get("default"), exp.Null):
            case.set("default", None)
        _guard_divisors(case)
    for node in reversed(list(copy.find_all(exp.EQ, exp.NEQ))):
        if (values := _values_compared(node, originals.item)) is not None:
            node.replace(values)
        elif (rows := _rows_compared(node)) is not None:
            among = exp.In(this=node.this, query=exp.Subquery(this=rows))
            node.replace(among if isinstance(node, exp.EQ) else exp.paren(exp.Not(this=among), copy=False))
    for first in list(copy.find_all(exp.FirstValue, exp.First)):
        within = first.this if isinstance(first, exp.First) else first.parent
        if isinstance(within, exp.Order | exp.Window) and (extreme := _first_of_order(within, first)) is not None:
            first.replace(extreme)
            within.set("order", None)
    for select in list(copy.find_all(exp.Select)):
        write_windows(select)
        _write_tuples(select)
        if select.args.get("order") is not None:
            write_first_rows(select)
    return copy


def _guard_divisors(case: exp.Case) -> None:
    """Write ``x / nullif(n, 0)`` for ``x / n`` in each branch of a CASE whose conditions say that n is not 0."""
    zero = exp.convert(0)
    other = list[exp.Expr]()  # what is not 0, since the branches before it are not taken
    for branch in [*case.args["ifs"], case.args.get("default")]:
        conditions = conjoined(branch.this) if isinstance(branch, exp.If) else []
        present = [bare(c.this) for c in conditions if isinstance(c, exp.GT | exp.NEQ) and c.expression == zero]
        present += [bare(c.this) for c in conditions if isinstance(c, exp.GTE) and c.expression == exp.convert(1)]
        value = branch.args["true"] if isinstance(branch, exp.If) else branch
        for quotient in [] if value is None else list(value.find_all(exp.Div)):
            if bare(quotient.expression) in (*present, *other) and quotient.parent_select is case.parent_select:
                quotient.set("expression", exp.Nullif(this=quotient.expression.copy(), expression=zero.copy()))
        other += [
            bare(c.this) for c in conditions if len(conditions) == 1 and isinstance(c, exp.EQ) and c.expression == zero
        ]


def _values_compared(node: exp.Expr, item: str) -> exp.Expr | None:
    """``min(item) = max(item)`` as a condition on the number of different items, which is NULL where there is none."""
    sides = {type(side): side.this for side in (bare(node.args["this"]), bare(node.args["expression"]))}
    if sides.keys() != {exp.Min, exp.Max} or sides[exp.Min] != sides[exp.Max]:
        return None
    if not isinstance(sides[exp.Min], exp.Column) or lowered(sides[exp.Min].name) != item:
        return None
    different = exp.Count(this=exp.Distinct(expressions=[sides[exp.Min].copy()]))
    number = different if is_conjunct(node) else exp.Nullif(this=different, expression=exp.Literal.number(0))
    more = exp.GT if isinstance(node, exp.NEQ) else exp.EQ
    return more(this=number, expression=exp.Literal.number(1))


def _rows_compared(node: exp.Expr) -> exp.Query | None:
    """The subquery of ``= ANY`` or ``<> ALL``, which are IN and NOT IN; None for other comparisons."""
    right = node.args["expression"]
    listed = isinstance(right, exp.Any) if isinstance(node, exp.EQ) else isinstance(right, exp.All)
    query = right.this.unnest() if listed else None
    return query if isinstance(query, exp.Query) else None


def _first_of_order(within: exp.Order | exp.Window, call: exp.Expr) -> exp.Expr | None:
    """``first_value(n) OVER (ORDER BY n DESC)`` and ``first(n ORDER BY n DESC)`` as the greatest n: NULL comes last; None
    for others."""
    order, value = (
        (within.expressions, within.this) if isinstance(within, exp.Order) else (terms_of_order(within), call.this)
    )
    plain = len(order) == 1 and not order[0].args.get("nulls_first") and not within.args.get("spec")
    if not plain or bare(order[0].this) != bare(value):
        return None
    return (exp.Max if order[0].args.get("desc") else exp.Min)(this=value.copy())


def _write_tuples(select: exp.Select) -> None:
    """Write ``count(DISTINCT (a, b))`` of all rows as the number of different rows: a tuple of NULLs is no NULL."""
    calls = [c for c in select.find_all(exp.AggFunc) if c.parent_select is select and not isinstance(c.parent, exp.Filter)]
    tuples = [(call, what) for call in calls if (what := _tuple_counted(call)) is not None]
    if not tuples or not clauses_of(select) <= _PLAIN:
        return
    for call, what in tuples:
        rows = exp.Select(expressions=[part.copy() for part in what.expressions], distinct=exp.Distinct())
        copy_clauses(select, rows)
        number = exp.select(exp.Count(this=exp.Star(), big_int=True)).from_(rows.subquery("different_rows", copy=False))
        shown = isinstance(call.parent, exp.Select)
        call.replace(exp.alias_(number.subquery(), "n", quoted=True) if shown else number.subquery())
    if not any(call.parent_select is select for call in select.find_all(exp.AggFunc)):
        for key in ROWS:  # one row, as that of aggregates
            select.set(key, None)


def _tuple_counted(call: exp.Expr) -> exp.Tuple | None:
    """The tuple of which an aggregate counts the different ones; None for others."""
    what = call.this.expressions if isinstance(call, exp.Count) and isinstance(call.this, exp.Distinct) else []
    return what[0] if len(what) == 1 and isinstance(what[0], exp.Tuple) else None


def write_windows(select: exp.Select) -> None:
    """Write the windows that a SELECT names where they are used."""
    named = {lowered(window.name): window for window in select.args.get("windows") or ()}
    uses = [w for w in select.find_all(exp.Window) if w.args.get("alias") is not None and w.parent_select is select]
    for window in uses if named else ():
        kept = named.get(lowered(window.args["alias"].name))
        if kept is not None and kept is not window and not kept.args.get("alias"):
            copy_clauses(kept, window, [key for key in ("partition_by", "order", "spec") if not window.args.get(key)])
            window.set("alias", None)
    if all(window.args.get("alias") is None for window in uses):
        select.set("windows", None)


def _quantile(node: exp.WithinGroup) -> exp.Expr | None:
    """``percentile_cont(share) WITHIN GROUP (ORDER BY x)`` as ``quantile_cont(x, share)``."""
    ordered = node.expression.expressions
    if not isinstance(node.this, exp.PercentileCont | exp.PercentileDisc) or len(ordered) != 1 or ordered[0].args["desc"]:
        return None
    return type(node.this)(this=ordered[0].this.copy(), expression=node.this.this.copy())


def select_sources(select: exp.Select) -> Iterator[tuple[exp.Expr, exp.Select]]:
    """Each source of a SELECT that is itself a SELECT, directly or by name, with that SELECT."""
    for place in places_of(select):
        source = place.this
        inner = query_of(source)
        if isinstance(inner, exp.Select) and not inner.args.get("distinct") and not inner.is_star:
            yield source, inner


def common_table(source: exp.Table) -> exp.CTE | None:
    """The common table expression that a name stands for: the nearest one around it that is defined before its use."""
    inside: exp.Expr = source
    while (outer := inside.parent) is not None:
        clause = outer if isinstance(outer, exp.With) else outer.args.get("with_") if isinstance(outer, exp.Query) else None
        clause = None if clause is inside else clause  # whose tables were looked up already
        for cte in reversed(clause.expressions if isinstance(clause, exp.With) else []):
            before = clause is not outer or cte.index < inside.index
            if before and lowered(cte.alias) == lowered(source.name):
                definition: exp.CTE = cte
                return definition
        inside = outer
    return None


def query_of(source: exp.Expr, named: Callable[[exp.Table], exp.CTE | None] = common_table) -> exp.Expr | None:
    """The query behind a source that keeps its rows and the names of its columns; None for a table, and for a source that
    renames, samples or pivots them."""
    if clauses_of(source) - {"this", "alias"}:
        return None
    cte = named(source) if isinstance(source, exp.Table) and not source.db else None
    renamed = [part.args["alias"] for part in (source, cte) if part is not None and part.args.get("alias")]
    if any(alias.columns for alias in renamed):
        return None
    return source.this if isinstance(source, exp.Subquery) else None if cte is None else cte.this


def are_same(one: exp.Expr, other: exp.Expr) -> bool:
    """Whether two sources are the same rows, whatever their names are."""
    bodies = [place.copy() for place in (one, other)]
    for body in bodies:
        body.set("alias", None)
    return bodies[0] == bodies[1] and not one.alias_column_names and not other.alias_column_names


def terms_of_order(window: exp.Window) -> list[exp.Ordered]:
    """The terms by which a window orders its rows."""
    order = window.args.get("order")
    return [] if order is None else list(order.expressions)


def are_apart(parts: Iterable[exp.Expr], aliases: Collection[str], names: Collection[str] | None) -> bool:
    """Whether the subqueries in expressions of a SELECT name neither its sources nor, without a table, their columns.

    Args:
        parts: the expressions.
        aliases: the names of the sources, in lower case.
        names: those of their columns; None if these are not told.
    """
    queries = [query for part in parts for query in part.find_all(exp.Select)]
    inner = [column for query in queries for column in query.find_all(exp.Column)]
    return all(
        lowered(c.table) not in aliases if c.table else names is not None and lowered(c.name) not in names for c in inner
    )


FRAME = ("RANGE", "UNBOUNDED", "PRECEDING", "CURRENT ROW", "")
"""The frame of a window that names none: the rows up to the current one, and those that are equal to it."""


def frame_of(window: exp.Window) -> tuple[str, ...]:
    """The kind of a window's frame, where it starts and ends, and what it leaves out, as DuckDB takes what is not said."""
    frame = window.args.get("spec")
    if frame is None:
        return FRAME
    kind, *start, end, out = (frame.text(key).upper() for key in ("kind", "start", "start_side", "end", "exclude"))
    return kind, *start, end or "CURRENT ROW", out


def is_itself(shown: exp.Expr) -> bool:
    """Whether a shown expression is a column under its own name."""
    value = shown.unalias()
    return isinstance(value, exp.Column) and lowered(value.name) == lowered(shown.alias_or_name)


def aliases_of(select: exp.Select) -> set[str]:
    """The aliases of a SELECT, in lower case, except those that only repeat the name of a column."""
    return {lowered(e.alias) for e in select.expressions if isinstance(e, exp.Alias) and not is_itself(e)}


def names_alias(part: exp.Expr, select: exp.Select) -> bool:
    """Whether a clause names something that the SELECT computes, rather than a column of its sources."""
    aliases = aliases_of(select)
    return any(not column.table and lowered(column.name) in aliases for column in part.find_all(exp.Column))


def values_shown(select: exp.Select) -> list[exp.Subquery]:
    """The subqueries in the expressions that a SELECT shows which have one value for each of its rows."""
    every = [s for e in select.expressions for s in e.find_all(exp.Subquery) if not isinstance(s.parent, exp.Select)]
    return [s for s in every if s.find_ancestor(*_INSIDE) is select]


def write_first_rows(node: exp.Select) -> None:
    """Write ``SELECT DISTINCT ON (keys)`` as the rows that ``row_number()`` numbers 1 for each key, if it can be."""
    distinct, order = node.args.get("distinct"), node.args.get("order")
    keys = None if distinct is None else distinct.args.get("on")
    if keys is None or node.args.get("qualify") is not None or (order is not None and order.find(exp.Var)):
        return  # ORDER BY ALL is a Var
    by = [resolved(key, node) for key in (keys.expressions if isinstance(keys, exp.Tuple) else [bare(keys)])]
    ordered = None if order is None else order.copy()
    if ordered is not None:
        for part in ordered.expressions:
            part.set("this", resolved(part.this, node))
        ordered.set("expressions", [part for part in ordered.expressions if part.this not in by])
        ordered = ordered if ordered.expressions else None
    window = exp.Window(this=exp.RowNumber(), partition_by=by, order=ordered, over="OVER")
    node.set("distinct", None)
    node.set("qualify", exp.Qualify(this=exp.EQ(this=window, expression=exp.Literal.number(1))))


def resolved(key: exp.Expr, node: exp.Select) -> exp.Expr:
    """The selected expression behind a position or an alias."""
    plain = isinstance(key, exp.Column) and not key.table
    return aliased(node).get(lowered(key.name), key).copy() if plain else selected(key, node).copy()


def as_first_row(node: exp.Select) -> exp.Select | None:
    """``SELECT mode(x)`` as the x of the greatest number of rows, ``SELECT arg_max(x, y)`` as that of the greatest y: the
    first row of a query, where it has one."""
    shown = node.expressions[0].unalias() if len(node.expressions) == 1 else None
    if not isinstance(shown, exp.Mode | exp.ArgMax | exp.ArgMin) or shown.args.get("count") is not None:
        return None
    parts = [bare(part) for part in (shown.this, shown.args.get("expression")) if isinstance(part, exp.Expr)]
    if not clauses_of(node) <= _PLAIN or any(isinstance(p, _ENDED) for p in parts):
        return None
    copy = node.copy()
    present = [exp.Not(this=is_null(part)) for part in parts]
    copy.set("expressions", [parts[0].copy()])
    set_conditions(copy, [*conditions_of(node), *present])
    if isinstance(shown, exp.Mode):
        copy.set("group", exp.Group(expressions=[parts[0].copy()]))
        parts.append(exp.Count(this=exp.Star(), big_int=True))
    first = exp.Ordered(this=parts[1].copy(), desc=not isinstance(shown, exp.ArgMin), nulls_first=False)
    copy.set("order", exp.Order(expressions=[first]))
    copy.set("limit", exp.Limit(expression=exp.convert(1)))
    return copy


def shown_name(shown: exp.Expr) -> str:
    """A name for a shown expression: its own, or its text."""
    return shown.alias or shown.name or shown.sql("duckdb")


def linked(part: exp.Expr, names: Collection[str]) -> tuple[exp.Expr, exp.Expr] | None:
    """The two sides of a condition of a subquery that compares its own tables with the rows around it; None for others.

    Args:
        part: the condition.
        names: the names of the subquery's tables, in lower case.

    Returns:
        The side of the subquery, and that of the rows around it.
    """
    for inside, outer in both_ways(part, exp.EQ, exp.NullSafeEQ):
        own, others = (list(side.find_all(exp.Column)) for side in (inside, outer))
        plain = own and others and not inside.find(exp.Query) and not outer.find(exp.Query)
        apart = all(column.table and lowered(column.table) not in names for column in others)
        if plain and apart and all(lowered(column.table) in names for column in own):
            return inside, outer
    return None


def link(part: exp.Expr, names: Collection[str]) -> tuple[exp.Expr, exp.Column] | None:
    """As ``linked``, but only for a comparison with a single column around the subquery."""
    inside, outer = linked(part, names) or (None, None)
    return (inside, outer) if inside is not None and isinstance(outer, exp.Column) else None
