"""The number of the k-th row before or after each row, where some rows may be absent: ``lag(n, 12) OVER (ORDER BY month)``.

It is that of one of the rows from the k-th to the k-th of those that are there for certain, and lies between the least and
the greatest of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.answers.ranged.aggregates import Rows
from anondb.answers.ranged.compiler import Tables
from anondb.answers.ranged.expressions import Resolve, read
from anondb.answers.ranged.relation import Sources
from anondb.answers.ranged.running import MOST_ROWS, told_apart
from anondb.answers.ranged.values import Value, of_value, when
from anondb.query.parsing import is_null


@dataclass(frozen=True)
class _Order:
    """The rows before or after each row.

    Attributes:
        within: what divides the rows.
        terms: by what they are ordered.
        ahead: whether the rows after a row are meant.
    """

    within: Sequence[exp.Expr]
    terms: Sequence[exp.Expr]
    ahead: bool

    def over(self, function: exp.Expr, rows: tuple[exp.Expr, exp.Expr] | None = None) -> exp.Expr:
        """A window function over the rows from the farthest to the nearest of these numbers of rows away, or over all."""
        made = exp.Window(this=function, partition_by=[part.copy() for part in self.within], over="OVER")
        made.set("order", exp.Order(expressions=[term.copy() for term in self.terms]))
        if rows is not None:
            side, (first, last) = ("FOLLOWING", rows[::-1]) if self.ahead else ("PRECEDING", rows)
            made.set("spec", exp.WindowSpec(kind="ROWS", start=first, start_side=side, end=last, end_side=side))
        return made


def nearest_row(node: exp.Window, rows: Rows, sources: Sources, resolve: Resolve, tables: Tables) -> Value | None:
    """A number of a row before or after each row, as columns of the rows of the only source; None for other windows, and
    where all rows are there for certain.

    Args:
        node: the window.
        rows: what is known of the rows, which are all of the source.
        sources: the rows, which get columns.
        resolve: looks up what the window names.
        tables: tells whether rows can be told from each other.
    """
    call, order, within = node.this, node.args.get("order"), node.args.get("partition_by") or []
    if not isinstance(call, exp.Lag | exp.Lead) or order is None or rows.sure is None or rows.open:
        return None
    away = call.args.get("offset") or exp.convert(1)
    if not (isinstance(away, exp.Literal) and away.is_int and 0 < int(away.this) < MOST_ROWS) or call.args.get("default"):
        return None
    value, own = read(call.this, resolve), [read(part, resolve) for part in (*within, *(t.this for t in order.expressions))]
    if value.unknown or value.truth or value.sure is not None or not all(one.exact for one in own):
        return None
    if not told_apart(tables, sources.tree.args["from_"].this, None, own, []):
        return None
    keys = [one.expression for one in own]
    terms = [of_value(term, key) for term, key in zip(order.expressions, keys[len(within) :], strict=True)]
    return _between(value, rows.sure, _Order(keys[: len(within)], terms, isinstance(call, exp.Lead)), away, sources)


def _between(value: Value, sure: exp.Expr, order: _Order, away: exp.Expr, sources: Sources) -> Value:
    """The least and the greatest of a number over the rows from the k-th to the k-th that is there for certain."""
    (number,) = sources.once(Value(order.over(exp.RowNumber())), over=True).ends
    kind = exp.Lead if order.ahead else exp.Lag
    certain = exp.IgnoreNulls(this=kind(this=when(sure, number), offset=away.copy()))
    (nearest,) = sources.once(Value(order.over(certain)), over=True).ends
    far = exp.Coalesce(this=exp.Abs(this=exp.paren(number - nearest)), expressions=[exp.convert(MOST_ROWS)])
    reach = (far, away)
    ends = []
    for end, extreme in zip(value.not_null, (exp.Min, exp.Max), strict=True):
        none = order.over(exp.CountIf(this=is_null(end)), reach).eq(0)
        ends.append(when(none, order.over(extreme(this=end.copy()), reach)))
    has_rows = exp.GT(this=order.over(exp.Count(this=exp.Star()), reach), expression=exp.convert(0))
    branches = [exp.If(this=is_null(nearest).not_(), true=exp.true()), exp.If(this=has_rows, true=exp.false())]
    return sources.once(Value(*ends, sure=exp.Case(ifs=branches), whole=value.whole, least=value.least), over=True)
