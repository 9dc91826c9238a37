"""The first rows of a list, and how many of them belong to it, whatever the original is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anondb.answers.ends import End
from anondb.answers.in_worlds import PLACE
from anondb.answers.ranged.equivalents import terms_of_order
from anondb.answers.ranged.leading import rows_kept
from anondb.answers.ranged.relation import SURE, Ranged
from anondb.engine import DuckDBEngine, Table
from anondb.query.parsing import bare, whole

NOTE = "Of the {rows}, {certain} belong to these for certain."
LISTED_NOTE = "Rows that need not exist have places, too, where rows are cut off."


def certain_first(engine: DuckDBEngine, end: End, relation: Ranged, table: Table) -> list[str]:
    """A note that says how many of the first rows are certain, where a list is ordered by a number with bounds and cut off
    at a number of rows. For one that keys order, the note says if rows have places that need not exist.

    Args:
        engine: the engine.
        end: the order of the list and its length.
        relation: the rows with their bounds.
        table: all rows, before the list is cut off.
    """
    if not any(relation.columns[n].bounded or relation.columns[n].unknown for n in end.columns):
        return _by_keys(engine, end, relation, table)
    rows = None if end.ranked is not None else belonging(end, relation, table)
    if rows is None:
        return []
    ahead, every = exp.CountIf(this=exp.column(SURE)).as_("certain"), exp.Count(this=exp.Star()).as_("n")
    counts = engine.select(exp.select(ahead, every).from_(rows.subquery("rows")), "the certain rows of a list")
    skipped = _skipped(end) or 0
    shown = min(_first_places(end)[1], int(counts["n"][0])) - skipped
    words = f"{shown} rows after the first {skipped}" if skipped else f"{shown} first rows"
    return [NOTE.format(rows=words, certain=int(counts["certain"][0]))] if 0 < shown < int(counts["n"][0]) else []


def _by_keys(engine: DuckDBEngine, end: End, relation: Ranged, table: Table) -> list[str]:
    """A note if rows that need not exist have places in a list that keys alone order and cut off."""
    if not end.cuts or not relation.flagged:
        return []
    every = exp.select(exp.LogicalAnd(this=exp.column(SURE)).as_("every"), exp.Count(this=exp.Star()).as_("n"))
    counts = engine.select(every.from_(table.expression()), "whether all rows are certain")
    number = None if end.ranked or end.offset else rows_kept(end.limit)
    whole = number is not None and not 0 < number < int(counts["n"][0])  # all rows stay, or none
    return [LISTED_NOTE] if counts["every"].tolist() == [False] and not whole else []


def belonging(end: End, relation: Ranged, table: Table) -> exp.Select | None:
    """All rows with the column ``sure``: whether each belongs for certain to those whose ranks satisfy a condition, or to
    the first ones of a list. None where no estimate ranks them, or no rule says more of a list.

    A row belongs to the first k of its group if it is there for certain, and its number is beyond the k + 1st end of all. It
    is none of the first ones that OFFSET skips if as many rows that are there for certain are beyond its own end.
    """
    if not any(relation.columns[n].bounded or relation.columns[n].unknown for n in end.columns):
        return None
    window, places = _first_places(end)
    nothing = None if end.ranked is None else _with_sure(relation, table.expression(), exp.false())
    order = window.args.get("order") if window is not None else None
    first = order.expressions[0] if order is not None else None
    if window is None or first is None or not isinstance(first.this, exp.Column) or first.args.get("nulls_first"):
        return nothing
    column, within = relation.columns[int(first.this.name[1:])], window.args.get("partition_by") or []
    exact = all(isinstance(p, exp.Column) and not relation.columns[int(p.name[1:])].bounded for p in within)
    if relation.open or relation.cut or not exact or not column.bounded or column.unknown or column.maybe:
        return nothing
    down, name = bool(first.args.get("desc")), first.this.name
    near, far = (f"{name}_l", f"{name}_u") if down else (f"{name}_u", f"{name}_l")

    def over(call: exp.Expr, order: exp.Order | None = None) -> exp.Window:
        return exp.Window(this=call, partition_by=[p.copy() for p in within], order=order, over="OVER")

    ends = exp.Order(expressions=[exp.Ordered(this=exp.column(far), desc=down, nulls_first=True)])
    number = over(exp.Count(this=exp.Star())).as_("_number")
    placed = exp.select("*", over(exp.RowNumber(), ends).as_("_place"), number).from_(table.expression())
    next_one = exp.Case(ifs=[exp.If(this=exp.column("_place").eq(places + 1), true=exp.column(far))])
    beyond = exp.select("*", over(exp.Max(this=next_one)).as_("_beyond")).from_(placed.subquery("placed"))
    is_beyond = exp.GT if down else exp.LT
    ahead = is_beyond(this=exp.column(near), expression=exp.column("_beyond"))
    few = exp.LTE(this=exp.column("_number"), expression=exp.convert(places))
    there = exp.column(SURE) if relation.flagged else exp.true()
    sure = exp.and_(there, exp.or_(few, exp.func("coalesce", ahead, exp.false())))
    if end.ranked is None and (skipped := _skipped(end)):
        by = exp.Ordered(this=exp.column(near), desc=down, nulls_first=False)
        last = exp.select(near).from_(table.expression()).where(there.copy()).order_by(by).limit(1).offset(skipped - 1)
        behind = is_beyond(this=last.subquery(), expression=exp.column(far))
        sure = exp.and_(sure, exp.func("coalesce", behind, exp.false()))
    return _with_sure(relation, beyond.subquery("rows"), sure, "_place", "_number", "_beyond")


def of_any(ends: Sequence[End], relation: Ranged, table: Table, shown: Sequence[int], rows: Table) -> exp.Select | None:
    """All rows with bounds of any of them in the columns that are shown, where a list is cut off and shows no key: nothing
    says which rows are the original's. None for other lists, and where an order by all keys of rows that are there tells.

    In the order of a number, the row at a place is at most the upper bound at this place, and those up to a place are at
    least the lower bound there of the rows that are there for certain; from below it is the other way round.

    Args:
        ends: the ends of the list.
        relation, table: as in ``certain_first``.
        shown: the columns that the list shows.
        rows: the same rows, whose column ``sure`` may say whether they belong to the list.
    """
    keys = {n for n, column in enumerate(relation.columns) if not (column.bounded or column.unknown)}
    told = not relation.flagged and all(end.ranked is None and keys == {*end.columns} for end in ends)
    if told or keys & {*shown} or not any(end.cuts for end in ends):
        return None
    missing, united = relation.open or relation.cut, dict[str, exp.Expr]()
    for n in (n for n in shown if relation.columns[n].bounded):
        for name, extreme in ((f"c{n}_l", exp.Min), (f"c{n}_u", exp.Max)):
            cell, number = exp.column(name), exp.Window(this=exp.Count(this=exp.Star()))
            whole = exp.EQ(this=exp.Window(this=exp.Count(this=cell.copy())), expression=number)
            every = exp.false() if missing else whole
            united[name] = exp.Case(ifs=[exp.If(this=every, true=exp.Window(this=extreme(this=cell.copy())))])
    united |= _at_places(ends[0], relation, table, united) if len(ends) == 1 else {}
    return exp.select(exp.Star(replace=[cell.as_(name) for name, cell in united.items()])).from_(rows.expression())


def _at_places(end: End, relation: Ranged, table: Table, united: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
    """The bounds of the number that orders a list, by the places that the list shows."""
    order, last = end.order, rows_kept(end.limit)
    offset = _skipped(end)
    if end.ranked is not None:
        window, last = _first_places(end)
        plain = window is not None and not window.args.get("partition_by") and not isinstance(window.this, exp.DenseRank)
        order = terms_of_order(window) if window is not None and plain and not (end.limit or end.offset) else []
    first = order[0] if order else None
    if first is None or offset is None or not last or not isinstance(first.this, exp.Column):
        return {}
    name, column = first.this.name, relation.columns[int(first.this.name[1:])]
    if f"{name}_l" not in united or column.unknown or column.maybe:
        return {}
    down = bool(first.args.get("desc"))
    near, far = (f"{name}_l", f"{name}_u") if down else (f"{name}_u", f"{name}_l")

    def at(end_of: str, place: int, *, sure: bool) -> exp.Expr:
        order = exp.Ordered(this=exp.column(end_of), desc=down, nulls_first=not sure)
        row = exp.select(end_of).from_(table.expression()).order_by(order).limit(1).offset(place)
        return (row.where(exp.column(SURE)) if sure and relation.flagged else row).subquery()

    ends: dict[str, exp.Expr] = {near: exp.func("coalesce", at(near, offset + last - 1, sure=True), united[near])}
    return ends if relation.open or relation.cut else {**ends, far: at(far, offset, sure=False)}


def _with_sure(relation: Ranged, rows: exp.Expr, sure: exp.Expr, *left_out: str) -> exp.Select:
    """Rows with the column ``sure``, in place of the one that they may have, and without some columns."""
    named = [exp.to_identifier(name) for name in (*left_out, *([SURE] if relation.flagged else []))]
    star = exp.Star(except_=named) if named else exp.Star()
    return exp.select(star, sure.as_(SURE)).from_(rows)


def _first_places(end: End) -> tuple[exp.Window | None, int]:
    """The ranks of which an end takes the first ones, and how many; None for another end."""
    if end.ranked is None:
        kept, skipped = rows_kept(end.limit), _skipped(end)
        places = kept + skipped if kept and skipped is not None else 0
        order = exp.Order(expressions=[term.copy() for term in end.order])
        return (exp.Window(this=exp.RowNumber(), order=order) if places and end.order else None), places
    condition = bare(end.ranked)
    if not isinstance(condition, exp.LTE | exp.LT | exp.EQ):
        return None, 0
    window, number = bare(condition.this), bare(condition.expression)
    if not isinstance(window, exp.Window) or not isinstance(window.this, exp.RowNumber | exp.Rank | exp.DenseRank):
        return None, 0
    places = whole(number) - isinstance(condition, exp.LT) if isinstance(number, exp.Literal) and number.is_int else 0
    return (None if isinstance(condition, exp.EQ) and places != 1 else window), places


def _skipped(end: End) -> int | None:
    """How many rows OFFSET leaves out; None if that is no whole number."""
    return 0 if end.offset is None else rows_kept(end.offset)


def placed(end: End, rows: exp.Expr) -> exp.Subquery:
    """The rows that an end leaves, with their places in its order."""
    order = exp.Order(expressions=[*(term.copy() for term in end.order), exp.Ordered(this=exp.column(PLACE))])
    place = exp.Window(this=exp.RowNumber(), order=order).as_(PLACE)
    ordered = exp.select(exp.Star(replace=[place])).from_(rows)
    if end.ranked is not None:
        ordered.set("qualify", exp.Qualify(this=_tied(end.ranked)))
    tree = exp.select("*").from_(ordered.subquery("ordered")).order_by(PLACE)
    for key, part in (("limit", end.limit), ("offset", end.offset)):
        tree.set(key, part.copy() if part is not None else None)
    return tree.subquery("ended")


def _tied(ranked: exp.Expr) -> exp.Expr:
    """A condition on ranks in which equal rows are numbered in their order."""
    condition = ranked.copy()
    for window in condition.find_all(exp.Window):
        if isinstance(window.this, exp.RowNumber):
            order = window.args.get("order") or exp.Order(expressions=[])
            order.append("expressions", exp.Ordered(this=exp.column(PLACE)))
            window.set("order", order)
    return condition
