"""The rows that ORDER BY an estimate and LIMIT choose: for certain, by the estimates, and possibly."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from anondb.answers.ranged.known import LIKELY, SURE
from anondb.query.refusals import unsupported

RANKED, OTHER = "ranked", "other"
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


def leading(rows: exp.Query, key: int, columns: Sequence[str], most: exp.Expr, *, largest: bool) -> exp.Query:
    """The rows that may be among the first; rows with equal keys may come in any order.

    A row is among them for certain if fewer than ``most`` others may come before it, and possibly if fewer do for certain.

    Args:
        rows: the rows that may be there, with the columns ``sure`` and ``likely``.
        key: the number of the column by which they are ordered.
        columns: the columns that are kept.
        most: the number of rows that LIMIT keeps.
        largest: whether the order is descending.
    """
    first, last = ("_u", "_l") if largest else ("_l", "_u")  # the ends of a key at which its row comes first, and last
    before = exp.and_(
        exp.column(SURE, OTHER), _comes(_end(key, last, OTHER), _end(key, first, RANKED), exp.GT, largest)
    )
    beside = _comes(_end(key, first, OTHER), _end(key, last, RANKED), exp.GTE, largest)
    by_estimate = exp.Window(
        this=exp.RowNumber(),
        order=exp.Order(
            expressions=[
                exp.Ordered(this=exp.column(LIKELY, RANKED), desc=True),
                exp.Ordered(this=exp.column(f"c{key}", RANKED), desc=largest, nulls_first=False),
                exp.Ordered(this=exp.column("c0", RANKED)),
            ]
        ),
    )
    sure = exp.and_(exp.column(SURE, RANKED), exp.LTE(this=_number(beside), expression=most.copy()))
    likely = exp.and_(exp.column(LIKELY, RANKED), exp.LTE(this=by_estimate, expression=most.copy()))
    listed = [exp.column(name, RANKED) for name in columns]
    tree = exp.select(*listed, sure.as_(SURE), likely.as_(LIKELY)).from_(RANKED)
    tree = tree.where(exp.LT(this=_number(before), expression=most.copy()))
    return tree.with_(RANKED, as_=rows, materialized=True)


def _number(condition: exp.Expr) -> exp.Subquery:
    """The number of rows for which a condition holds, beside a row."""
    return exp.select(exp.Count(this=exp.Star())).from_(exp.to_table(RANKED).as_(OTHER)).where(condition).subquery()


def _end(key: int, end: str, table: str) -> exp.Expr:
    """An end of the interval of a key; infinite if there is no bound."""
    infinite = exp.cast(exp.Literal.string("-inf" if end == "_l" else "inf"), "DOUBLE")
    return exp.Coalesce(this=exp.column(f"c{key}{end}", table), expressions=[infinite])


def _comes(one: exp.Expr, other: exp.Expr, than: type[exp.GT] | type[exp.GTE], largest: bool) -> exp.Expr:
    """The comparison of two keys, turned round where the smallest come first."""
    return than(this=one, expression=other) if largest else than(this=other, expression=one)
