"""Pairs of values in any order as those in one order: ``least(a.item, b.item)`` of rows with ``a.item <> b.item`` as
``a.item`` of rows with ``a.item < b.item``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.answers.ranged.clauses import conditions_of, is_inner, places_of, sides_of
from anondb.answers.ranged.originals import Originals, rule
from anondb.query.parsing import bare, conjoined, lowered

_ENDS = (exp.Least, exp.Greatest)
_ONCE = (exp.Min, exp.Max)


@rule(_ENDS)
def with_ordered_pairs(select: exp.Select, originals: Originals) -> None:
    """A query with rows of pairs in one order, wherever only the smaller and the greater value of a pair are used."""
    compared = _comparison(select)
    if compared is None:
        return
    one, other = (bare(side) for side in (compared.left, compared.right))
    ends = [end for end in select.find_all(*_ENDS) if end.parent_select is select and _are(end, one, other)]
    if isinstance(compared, exp.NEQ):
        if not ends or _uses_others(select, compared, ends) or not _counts_once(select):
            return
        compared.replace(exp.LT(this=one.copy(), expression=other.copy()))
    for end in ends:
        value = (one if isinstance(end, exp.Least) == isinstance(compared, exp.LT | exp.LTE | exp.NEQ) else other).copy()
        end.replace(value)


def _comparison(select: exp.Select) -> exp.Binary | None:
    """How a SELECT compares a column of two rows of one table: ``<``, ``>`` or ``<>``; None for others."""
    places = places_of(select)
    if not all(map(is_inner, places)):
        return None
    tables = {lowered(place.this.alias_or_name): place.this for place in places}
    comparisons = []
    for part in _conditions(select):
        sides = sides_of(part, exp.LT, exp.GT, exp.NEQ)
        columns = [side for side in sides if isinstance(side, exp.Column) and side.table]
        columns = columns if len({lowered(column.name) for column in columns}) == 1 else []
        of = [tables.get(lowered(column.table)) for column in columns]
        if len(of) == 2 and of[0] is not of[1] and all(isinstance(table, exp.Table) for table in of):
            comparisons += [part] if len({(lowered(table.name), table.db) for table in of if table is not None}) == 1 else []
    return comparisons[0] if len(comparisons) == 1 and isinstance(comparisons[0], exp.Binary) else None


def _conditions(select: exp.Select) -> list[exp.Expr]:
    """The conditions that AND connects in WHERE and in inner joins."""
    on = [part for join in select.args.get("joins") or () for part in conjoined(join.args.get("on"))]
    return [*on, *conditions_of(select)]


def _are(end: exp.Expr, one: exp.Expr, other: exp.Expr) -> bool:
    """Whether the least or the greatest value is of these two."""
    values = [bare(end.this), *(bare(value) for value in end.expressions)]
    return len(values) == 2 and (values == [one, other] or values == [other, one])


def _uses_others(select: exp.Select, compared: exp.Expr, ends: Sequence[exp.Expr]) -> bool:
    """Whether a SELECT names a column of the two rows, outside of the ends and of the comparison, that may differ."""
    inside = {id(c) for part in (compared, *ends) for c in part.find_all(exp.Column)}
    tables = {lowered(column.table) for column in compared.find_all(exp.Column)}
    values = {lowered(column.name) for column in compared.find_all(exp.Column)}
    second = [join for join in select.args.get("joins") or () if lowered(join.this.alias_or_name) in tables][-1]
    alike = {lowered(name.name) for name in second.args.get("using") or ()}
    for part in _conditions(select):
        sides = sides_of(part, exp.EQ)
        names = {lowered(side.name) for side in sides if isinstance(side, exp.Column)}
        if len(names) == 1 and {lowered(c.table) for side in sides for c in side.find_all(exp.Column)} == tables:
            alike |= names
    alike -= values
    rest = [c for c in select.find_all(exp.Column) if id(c) not in inside]
    return any(
        (lowered(c.table) in tables and (lowered(c.name) not in alike or c.find_ancestor(exp.Query) is not select))
        or (not c.table and lowered(c.name) in values)
        for c in rest
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
