"""Other ways to write a query that is refused as it stands, with the same result in DuckDB."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlglot import exp

from anondb.query.parsing import lowered
from anondb.query.relations import bare, is_null, operands, whole
from anondb.session.counts import branches
from anondb.session.keys import python_value

TESTS: Mapping[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
}


def with_known_names(tree: exp.Expr) -> exp.Expr:
    """A query in which functions have the names under which they are known here."""
    made = tree.copy()
    for call in list(made.find_all(exp.Anonymous, exp.IgnoreNulls)):
        if isinstance(call, exp.Anonymous) and lowered(call.name) == "mean" and len(call.expressions) == 1:
            call.replace(exp.Avg(this=call.expressions[0].copy()))
        elif isinstance(call, exp.IgnoreNulls) and isinstance(call.this, exp.AnyValue):  # so sqlglot reads any_value(x)
            call.replace(call.this.copy())
    return made


def equivalent(node: exp.Expr) -> exp.Expr | None:
    """The query with each of its parts written in another way, if there is one; None if there is none."""
    made, changed = node.copy(), False
    for rewrite in (_first_of_each, _most_frequent, _keys_in_having):
        for select in list(made.find_all(exp.Select)):
            other = rewrite(select)
            changed = changed or other is not None
            if other is not None and select is made:
                made = other
            elif other is not None:
                select.replace(other)
    for call in list(made.find_all(exp.WithinGroup)):
        quantile = _quantile(call)
        if quantile is not None:
            call.replace(quantile)
            changed = True
    for test in list(made.find_all(*TESTS, exp.In)):
        condition = _rows_of_person(test) or _of_branches(test)
        if condition is not None:
            test.replace(condition)
            changed = True
    return made if changed else None


def _quantile(node: exp.WithinGroup) -> exp.Expr | None:
    """``percentile_cont(share) WITHIN GROUP (ORDER BY x)`` as ``quantile_cont(x, share)``."""
    ordered = node.expression.expressions
    if (
        not isinstance(node.this, exp.PercentileCont | exp.PercentileDisc)
        or len(ordered) != 1
        or ordered[0].args["desc"]
    ):
        return None
    return type(node.this)(this=ordered[0].this.copy(), expression=node.this.this.copy())


def _first_of_each(node: exp.Select) -> exp.Select | None:
    """``SELECT DISTINCT ON (keys) ... ORDER BY ...`` as the rows that ``row_number()`` numbers 1 for each key."""
    distinct = node.args.get("distinct")
    keys = None if distinct is None else distinct.args.get("on")
    order = node.args.get("order")
    if keys is None or order is None or node.args.get("qualify") is not None or order.find(exp.Var):  # ORDER BY ALL
        return None
    made = node.copy()
    made.set("distinct", None)
    by = [_resolved(key, node) for key in (keys.expressions if isinstance(keys, exp.Tuple) else [bare(keys)])]
    ordered = order.copy()
    for part in ordered.expressions:
        part.set("this", _resolved(part.this, node))
    window = exp.Window(this=exp.RowNumber(), partition_by=by, order=ordered, over="OVER")
    made.set("qualify", exp.Qualify(this=exp.EQ(this=window, expression=exp.Literal.number(1))))
    return made


def _resolved(key: exp.Expr, node: exp.Select) -> exp.Expr:
    """The selected expression behind a position or an alias."""
    if isinstance(key, exp.Literal) and not key.is_string and 1 <= whole(key) <= len(node.expressions):
        selected: exp.Expr = node.expressions[whole(key) - 1]
        return selected.unalias().copy()
    aliases = {lowered(e.alias): e.this for e in node.expressions if isinstance(e, exp.Alias)}
    plain = isinstance(key, exp.Column) and not key.table
    return aliases.get(lowered(key.name), key).copy() if plain else key.copy()


def _most_frequent(node: exp.Select) -> exp.Select | None:
    """``SELECT mode(x)`` as the x of the greatest number of rows."""
    shown = node.expressions[0].unalias() if len(node.expressions) == 1 else None
    if not isinstance(shown, exp.Mode) or not {k for k, v in node.args.items() if v} <= {
        "expressions", "from_", "joins", "where", "with_"}:  # fmt: skip
        return None
    listing, key, with_ = node.copy(), bare(shown.this), node.args.get("with_")
    number = exp.Count(this=exp.Star(), big_int=True)
    present = exp.Not(this=is_null(key))
    where = node.args.get("where")
    listing.set("with_", None)
    listing.set("expressions", [key.copy().as_("value"), number.as_("number")])
    listing.set("where", exp.Where(this=present if where is None else exp.and_(exp.paren(where.this.copy()), present)))
    listing.set("group", exp.Group(expressions=[key.copy()]))
    first = exp.ArgMax(this=exp.column("value"), expression=exp.column("number"))
    made = exp.select(exp.alias_(first, node.expressions[0].alias or "mode")).from_(listing.subquery("listing"))
    made.set("with_", with_.copy() if with_ is not None else None)
    return made


def _keys_in_having(node: exp.Select) -> exp.Select | None:
    """WHERE that compares grouped columns of several tables, as HAVING: all rows of a group have the same values."""
    where, group = node.args.get("where"), node.args.get("group")
    if where is None or group is None or any(group.args.get(k) for k in ("all", "rollup", "cube", "grouping_sets")):
        return None
    keys = {_resolved(bare(key), node) for key in group.expressions}
    parts = operands(where.this) if isinstance(where.this, exp.And) else [where.this]

    def of_keys(part: exp.Expr) -> bool:
        columns = set(part.find_all(exp.Column))
        return columns <= keys and len({lowered(c.table) for c in columns}) > 1 and part.find(exp.Query) is None

    moved = [part for part in parts if of_keys(part)]
    if not moved:
        return None
    made, kept = node.copy(), [part.copy() for part in parts if not of_keys(part)]
    made.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    having = made.args.get("having")
    conditions = [*([exp.paren(having.this)] if having is not None else []), *(part.copy() for part in moved)]
    made.set("having", exp.Having(this=exp.and_(*conditions)))
    return made


def _rows_of_person(test: exp.Expr) -> exp.Expr | None:
    """``(SELECT count(*) FROM t WHERE t.id = c.id) > n`` as ``c.id IN (SELECT t.id FROM t GROUP BY t.id HAVING ...)``."""
    if isinstance(test, exp.In):
        return None
    for inner, number in ((bare(test.this), bare(test.expression)), (bare(test.expression), bare(test.this))):
        query = inner.this if isinstance(inner, exp.Subquery) else None
        if isinstance(query, exp.Select) and isinstance(number, exp.Literal) and not number.is_string:
            return _counted(test, inner, query, whole(number))
    return None


def _counted(test: exp.Expr, inner: exp.Expr, query: exp.Select, number: int) -> exp.Expr | None:
    where, clause = query.args.get("where"), query.args.get("from_")
    parts = {k for k, v in query.args.items() if v}
    if where is None or clause is None or parts != {"expressions", "from_", "where"} or len(query.expressions) != 1:
        return None
    call = query.expressions[0].unalias()
    name = lowered(clause.this.alias_or_name)
    conditions = operands(where.this) if isinstance(where.this, exp.And) else [where.this]
    links = [(part, sides) for part in conditions if (sides := link(part, {name})) is not None]
    if not isinstance(call, exp.Count) or len(links) != 1:
        return None
    ((linking, (inside, outer)),) = links
    rest = [part.copy() for part in conditions if part is not linking]
    if any(c.table and lowered(c.table) != name for part in (call, *rest) for c in part.find_all(exp.Column)):
        return None
    flipped = bare(test.this) is not inner
    compared = test.copy()
    compared.set("expression" if flipped else "this", call.copy())
    none = TESTS[type(test)](*((number, 0) if flipped else (0, number)))  # of persons without a row
    made = exp.select(inside.copy()).from_(clause.this.copy()).group_by(inside.copy())
    made = made.having(exp.Not(this=exp.paren(compared)) if none else compared)
    if rest:
        made = made.where(exp.and_(*rest))
    chosen = exp.In(this=outer.copy(), query=made.subquery())
    return exp.paren(exp.Not(this=chosen)) if none else chosen


def link(part: exp.Expr, names: Collection[str]) -> tuple[exp.Column, exp.Column] | None:
    """The column of a subquery from these tables and the one around it that a condition compares; None for others."""
    sides: Sequence[exp.Expr] = (bare(part.this), bare(part.expression)) if isinstance(part, exp.EQ) else ()
    for inside, outer in (sides, sides[::-1]) if sides else ():
        if not isinstance(inside, exp.Column) or not isinstance(outer, exp.Column):
            continue
        if lowered(inside.table) in names and outer.table and lowered(outer.table) not in names:
            return inside, outer
    return None


def _of_branches(test: exp.Expr) -> exp.Expr | None:
    """``CASE WHEN x THEN 'a' ELSE 'b' END = 'a'``, or IN, as the branches that meet it, if all results are texts, or whole
    numbers."""
    case = bare(test.this)
    listed = [(c, bare(v)) for c, v in branches(case)] if isinstance(case, exp.Case | exp.If) else []
    wanted = [bare(v) for v in (test.expressions if isinstance(test, exp.In) else [test.expression])]
    literals = [*wanted, *(value for _, value in listed)]
    if not listed or not wanted or not all(isinstance(literal, exp.Literal) for literal in literals):
        return None
    if {type(python_value(literal)) for literal in literals} not in ({str}, {int}):
        return None
    compare = TESTS[exp.EQ if isinstance(test, exp.In) else type(test)]
    values = [python_value(value) for value in wanted]
    met = [
        exp.Is(this=exp.paren(condition), expression=exp.true())  # the next branch has the rows for which it is unknown
        for condition, v in listed
        if any(compare(python_value(v), value) for value in values)
    ]
    return exp.paren(exp.or_(*met)) if met else exp.false()
