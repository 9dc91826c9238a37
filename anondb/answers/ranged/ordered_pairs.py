"""Pairs of items in any order as those in one order: ``least(a.item, b.item)`` of rows with ``a.item <> b.item`` as
``a.item`` of rows with ``a.item < b.item``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.query.parsing import bare, conjoined, lowered

_ENDS = (exp.Least, exp.Greatest)
_ONCE = (exp.Min, exp.Max)


def with_ordered_pairs(tree: exp.Expr, item: str) -> exp.Expr:
    """A query with rows of pairs in one order, wherever only the smaller and the greater item of a pair are used.

    Args:
        tree: the query.
        item: the column of items, in lower case.
    """
    if tree.find(*_ENDS) is None:
        return tree
    made = tree.copy()
    for select in list(made.find_all(exp.Select)):
        compared = _comparison(select, item)
        if compared is None:
            continue
        one, other = (bare(side) for side in (compared.left, compared.right))
        ends = [end for end in select.find_all(*_ENDS) if end.parent_select is select and _are(end, one, other)]
        if isinstance(compared, exp.NEQ):
            if not ends or _uses_others(select, compared, ends) or not _counts_once(select):
                continue
            compared.replace(exp.LT(this=one.copy(), expression=other.copy()))
        for end in ends:
            value = (one if isinstance(end, exp.Least) == isinstance(compared, exp.LT | exp.LTE | exp.NEQ) else other).copy()
            end.replace(value)
    return made


def _comparison(select: exp.Select, item: str) -> exp.Binary | None:
    """How a SELECT compares the items of two rows of one table: ``<``, ``>`` or ``<>``; None for others."""
    clause, where, joins = select.args.get("from_"), select.args.get("where"), select.args.get("joins") or []
    if clause is None or any(join.side or join.method or join.kind not in ("", "INNER", "CROSS") for join in joins):
        return None
    tables = {lowered(place.this.alias_or_name): place.this for place in (clause, *joins)}
    parts = [part for join in joins for part in conjoined(join.args.get("on"))]
    found = []
    for part in [*parts, *conjoined(where.this if where is not None else None)]:
        part = bare(part)
        sides = [bare(side) for side in part.iter_expressions()] if isinstance(part, exp.LT | exp.GT | exp.NEQ) else []
        columns = [side for side in sides if isinstance(side, exp.Column) and side.table and lowered(side.name) == item]
        of = [tables.get(lowered(column.table)) for column in columns]
        if len(of) == 2 and of[0] is not of[1] and all(isinstance(table, exp.Table) for table in of):
            found += [part] if len({(lowered(table.name), table.db) for table in of if table is not None}) == 1 else []
    return found[0] if len(found) == 1 and isinstance(found[0], exp.Binary) else None


def _are(end: exp.Expr, one: exp.Expr, other: exp.Expr) -> bool:
    """Whether the least or the greatest value is of these two."""
    values = [bare(end.this), *(bare(value) for value in end.expressions)]
    return len(values) == 2 and (values == [one, other] or values == [other, one])


def _uses_others(select: exp.Select, compared: exp.Expr, ends: Sequence[exp.Expr]) -> bool:
    """Whether a SELECT names a column of the two rows but the id, outside of the ends and of the comparison."""
    inside = {id(c) for part in (compared, *ends) for c in part.find_all(exp.Column)}
    tables = {lowered(column.table) for column in compared.find_all(exp.Column)}
    items = {lowered(column.name) for column in compared.find_all(exp.Column)}
    rest = [c for c in select.find_all(exp.Column) if id(c) not in inside]
    return any(
        lowered(c.name) in items or (lowered(c.table) in tables and c.find_ancestor(exp.Query) is not select) for c in rest
    )


def _counts_once(select: exp.Select) -> bool:
    """Whether it does not matter how often a row of a SELECT is there."""
    around = select.parent_select
    if select.args.get("distinct") or select.args.get("group") is not None:
        of: exp.Select | None = select
    else:
        cte = select.parent if isinstance(select.parent, exp.CTE) else None
        users = [t for t in select.root().find_all(exp.Table) if cte is not None and lowered(t.name) == lowered(cte.alias)]
        of = users[0].parent_select if len(users) == 1 else around if cte is None else None
        of = of if of is not None and not of.args.get("joins") else None
    if of is None or (of is not select and of.args.get("group") is None and not of.args.get("distinct")):
        return False
    calls = [call for call in of.find_all(exp.AggFunc) if call.parent_select is of]
    return not of.find(exp.Window) and all(isinstance(c, _ONCE) or isinstance(c.this, exp.Distinct) for c in calls)
