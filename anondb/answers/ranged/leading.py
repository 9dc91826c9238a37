"""The rows that ORDER BY and LIMIT choose: for a number with bounds, for certain and possibly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from anondb.answers.ranged.equivalents import resolved
from anondb.answers.ranged.expressions import Resolve, read
from anondb.answers.ranged.relation import SURE
from anondb.query.refusals import unsupported

RANKED = "ranked"
MOST_ROWS = (1 << 63) - 1


def check_limits(node: exp.Expr) -> None:
    """Refuse a literal as LIMIT or OFFSET that is no number of rows.

    Raises:
        InputError: ``unsupported_query``.
    """
    for key in ("limit", "offset"):
        part = node.args.get(key)
        number = None if part is None else part.args.get("expression")
        if isinstance(number, exp.Literal) and not _is_number(number.name):
            raise unsupported(f"{key.upper()} that is not a whole number of rows", "Write a whole number.")


def _is_number(text: str) -> bool:
    try:
        return 0 <= Decimal(text) <= MOST_ROWS
    except InvalidOperation:
        return False


def rows_kept(limit: exp.Expr | None) -> int | None:
    """The number of rows of a LIMIT that is a whole number; None for others, such as percentages."""
    number = None if limit is None else limit.args.get("expression")
    options = None if limit is None else limit.args.get("limit_options")
    if not isinstance(number, exp.Literal) or not number.name.isdigit():
        return None
    return int(number.name) if options is None or not options.args.get("percent") else None


def largest(node: exp.Select, calls: Mapping[exp.Expr, exp.Expr | str]) -> exp.Limit | None:
    """The LIMIT of a SELECT that asks for nothing but the groups with the largest counts; None for others."""
    order, limit = node.args.get("order"), node.args.get("limit")
    if order is None or limit is None or any(node.args.get(k) for k in ("having", "qualify", "offset", "distinct")):
        return None
    by = order.expressions[0]
    plain = rows_kept(limit) is not None and not node.find(exp.Window)
    return limit if plain and by.args.get("desc") and resolved(by.this, node) in calls else None


def number_of_rows(node: exp.Expr, resolve: Resolve) -> exp.Expr:
    """LIMIT or OFFSET, whose number may be an expression.

    Raises:
        InputError: ``unsupported_query``.
    """
    copy, number = node.copy(), node.args.get("expression")
    if number is not None and not isinstance(number, exp.Literal):
        value = read(number, resolve)
        if not value.exact:
            raise unsupported(f"{node.key.upper()} of an estimate", "Write a whole number.")
        copy.set("expression", exp.paren(value.expression))
    return copy


def leading(rows: exp.Query, key: int, columns: Sequence[str], most: int, *, largest: bool) -> exp.Select:
    """The rows that may be among the first; rows with equal keys may come in any order.

    A row may be among them if fewer than ``most`` others come before it for certain: it reaches the end, at which it comes
    last, of the row that is number ``most`` of the certain ones. It is among them for certain if no more than these reach
    the end at which it comes last.

    Args:
        rows: the rows that may be there, with the column ``sure``.
        key: the number of the column by which they are ordered, which has bounds.
        columns: the columns that are kept.
        most: the number of rows that LIMIT keeps.
        largest: whether the order is descending.
    """
    first, last = (exp.column(f"c{key}{end}") for end in (("_u", "_l") if largest else ("_l", "_u")))
    reached = _end(last, most - 1, largest=largest, nulls_first=False).where(exp.column(SURE))
    beyond = _end(first, most, largest=largest, nulls_first=True)
    ahead, behind = (exp.GT, exp.LT) if largest else (exp.LT, exp.GT)
    missed = behind(this=first.copy(), expression=reached.subquery())
    few = exp.select(exp.Count(this=exp.Star())).from_(RANKED).subquery() <= exp.convert(most)
    sure = exp.and_(exp.column(SURE), exp.or_(few, ahead(this=last.copy(), expression=beyond.subquery())))
    certain = exp.func("coalesce", sure, exp.false()).as_(SURE)
    tree = exp.select(*map(exp.column, columns), certain).from_(RANKED)
    tree = tree.where(exp.Not(this=exp.func("coalesce", missed, exp.false())) if most else exp.false())
    inner = exp.select(*map(exp.column, [*columns, SURE])).from_(tree.subquery("chosen"))
    return inner.with_(RANKED, as_=rows, materialized=True)


def _end(end: exp.Expr, place: int, *, largest: bool, nulls_first: bool) -> exp.Select:
    """The end of the row at a place, in the order of these ends."""
    order = exp.Ordered(this=end.copy(), desc=largest, nulls_first=nulls_first)
    return exp.select(end.copy()).from_(RANKED).order_by(order).limit(1).offset(max(place, 0))


def orderings_of(node: exp.Select, width: int) -> list[exp.Ordered]:
    """The parts of ORDER BY; ALL stands for the columns, as many as ``width``, from left to right."""
    order = node.args.get("order")
    listed: list[exp.Ordered] = []
    for ordered in order.expressions if order is not None else ():
        every = isinstance(ordered.this, exp.Var | exp.All)
        for place in range(1, width + 1) if every else ():
            listed.append(ordered.copy())
            listed[-1].set("this", exp.Literal.number(place))
        listed += [] if every else [ordered]
    return listed
