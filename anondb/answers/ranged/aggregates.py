"""Aggregates and window functions over known rows, some of which may be absent, with values that have bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace

from sqlglot import exp

from anondb.answers.quotients import filtered, quotient_of
from anondb.answers.ranged import values
from anondb.answers.ranged.clauses import filtered_by
from anondb.answers.ranged.equivalents import terms_of_order
from anondb.answers.ranged.expressions import Resolve, children_of, read, rebuilt
from anondb.answers.ranged.values import Limits, Value
from anondb.query.aggregates import QUANTILES, one_by_one, quantile_of
from anondb.query.parsing import bare, is_null
from anondb.query.refusals import name_of, unsupported

AGGREGATES = (exp.Sum, exp.Count, exp.Avg, exp.Min, exp.Max)
PLACES = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
"""Window functions that give the value of another row, so that their bounds are the bounds of this value."""


RANKED = (*PLACES, exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile)
"""Window functions of the order of rows."""


def aggregates(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The outermost aggregates of an expression, with their FILTER; those of subqueries and of OVER are left out."""
    if node is None or isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Window):
        function, wanted = filtered(node.this)
        rest = [child for child in node.iter_expressions() if child is not node.this]
        inner = [*function.iter_expressions(), *([] if wanted is None else [wanted]), *rest]
    elif isinstance(node, exp.AggFunc) or (isinstance(node, exp.Filter) and isinstance(node.this, exp.AggFunc)):
        yield node
        return
    else:
        inner = list(node.iter_expressions())
    for child in inner:
        yield from aggregates(child)


def has_aggregate(node: exp.Expr | None, is_aggregate: Callable[[str], bool]) -> bool:
    """Whether an expression of a SELECT has an aggregate of this SELECT that is not a window function.

    Args:
        node: the expression; None has none.
        is_aggregate: tells by the name of a function that sqlglot does not know whether it is an aggregate.
    """
    if node is None or isinstance(node, exp.Query):
        return False
    if isinstance(node, exp.Window):
        function = node.this
        while isinstance(function, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
            function = function.this
        parts = [*function.iter_expressions(), *node.args.get("partition_by", ()), node.args.get("order")]
        return any(has_aggregate(part, is_aggregate) for part in parts)
    if isinstance(node, exp.AggFunc) or (isinstance(node, exp.Anonymous) and is_aggregate(node.name)):
        return True
    return any(has_aggregate(part, is_aggregate) for part in node.iter_expressions())


def over_all(node: exp.Window) -> bool:
    """Whether a window function is an aggregate over all rows."""
    function, _ = filtered(node.this)
    return isinstance(function, AGGREGATES) and not any(node.args.get(k) for k in ("partition_by", "order", "spec"))


def as_average(node: exp.Div, resolve: Resolve) -> Value | None:
    """A sum by its number of rows as an average; None for others, and for one that is exact."""
    of = quotient_of(node)
    if not isinstance(of.above, exp.Sum) or not isinstance(of.below, exp.Count) or of.wanted != of.also:
        return None
    if of.filled and not of.never_zero:
        return None  # 0 / 0 is no number, and not NULL
    every, value = isinstance(of.below.this, exp.Star | exp.Literal), bare(of.above.this)
    if bare(of.below.this) != value and not (every and read(value, resolve).present):
        return None
    call = exp.Avg(this=value.copy())
    average = read(of.times(filtered_by(call, of.wanted)), resolve)
    return None if average.exact else average


def as_quotient(node: exp.Expr) -> exp.Div:
    """An average, with its FILTER and OVER, as the sum by the number of rows in which the value is not NULL."""

    call, wanted = filtered(node.this if isinstance(node, exp.Window) else node)

    def of(kind: type[exp.AggFunc]) -> exp.Expr:
        made = filtered_by(kind(this=call.this.copy()), wanted)
        return values.of_value(node, made) if isinstance(node, exp.Window) else made

    return exp.Div(this=of(exp.Sum), expression=exp.Nullif(this=of(exp.Count), expression=exp.convert(0)))


@dataclass(frozen=True)
class Rows:
    """The rows that aggregates see.

    Attributes:
        sure: the condition that a row is there for certain; None if all are.
        open: whether further rows may exist that are not listed.
        groups: whether they are divided by GROUP BY.
        wanted: the condition of FILTER that a row may satisfy; None without FILTER.
        limits: those of the numbers of a row that is there, by the conditions on it.
    """

    sure: exp.Expr | None = None
    _: KW_ONLY
    open: bool = False
    groups: bool = False
    wanted: exp.Expr | None = None
    limits: Limits = ()

    def among(self, condition: Value) -> Rows:
        """The rows that satisfy a further condition; whether one does is certain by its lower bound."""
        sure = self.sure if condition.exact else _both(self.sure, values.holds(condition.truths[0], unknown=False))
        return replace(self, sure=sure, limits=self.limits + condition.implies)

    def _where(self, condition: Value) -> Rows:
        """The rows that FILTER, too, wants."""
        return replace(self.among(condition), wanted=_both(self.wanted, condition.truths[1]))

    def aggregate(self, node: exp.Expr, resolve: Resolve) -> Value:
        """The value of an aggregate over the rows of a group.

        Raises:
            InputError: ``unsupported_query``.
        """
        if isinstance(node, exp.Filter):
            condition = read(node.expression.this, resolve)
            return self._where(condition).aggregate(node.this, resolve)
        if self.open:
            return self._for_all_rows(node, replace(self, open=False).aggregate(node, resolve))
        if isinstance(node, exp.CountIf):
            node = _sum_of_truths(node)
        distinct = isinstance(node.this, exp.Distinct)
        this = node.this.expressions[0] if distinct else node.this
        value = None if this is None or isinstance(this, exp.Star) else read(bare(this), resolve)
        if value is not None and value.sure is not None:  # a row whose number is NULL is as good as absent
            present = Value(value.sure, is_null(value.sure).not_(), truth=True)
            return self._where(present)._aggregate_of(node, replace(value, sure=None), resolve, distinct=distinct)
        return self._aggregate_of(node, value, resolve, distinct=distinct)

    def _aggregate_of(self, node: exp.Expr, value: Value | None, resolve: Resolve, *, distinct: bool) -> Value:
        """The value of an aggregate of a value; None for count(*)."""
        if isinstance(node, exp.Count):
            return self._count(value, distinct)
        value = None if value is None else value.within(self.limits)
        if value is None or distinct:
            return Value(why=f"{name_of(node)} DISTINCT")
        others = [read(e, resolve) for _, e in children_of(node) if e is not node.this]
        if any(part.item for part in (value, *others)):
            raise values.ambiguous(f"{name_of(node)} of them")
        if self.sure is None and all(part.exact for part in (value, *others)):
            return Value(self._of(rebuilt(node, [part.expression for part in (value, *others)])))
        if node.args.get("count") is not None:
            return Value(why=f"several values of {name_of(node)} of estimates. Use ORDER BY and LIMIT")
        if value.unknown or isinstance(node, exp.ArgMax | exp.ArgMin):
            return values.unread([value, *others])
        if isinstance(node, exp.Sum):
            return self._sum(value)
        if isinstance(node, (exp.Min, exp.Max, exp.Avg, *QUANTILES)):
            if quantiles := one_by_one(node):
                return values.listed([self.aggregate(one, resolve) for one in quantiles])
            if isinstance(node, QUANTILES):
                quantile_of(node)  # refuses other shares than numbers
            return self._middle(node, value)
        return Value(why=f"{name_of(node)} of estimates. Ask for the rows, and put them together")

    def _of(self, call: exp.Expr, *conditions: exp.Expr | None) -> exp.Expr:
        """An aggregate of the rows that FILTER wants and that satisfy further conditions."""
        return filtered_by(call, self.wanted, *conditions)

    def _count(self, value: Value | None, distinct: bool) -> Value:
        """count(*) or count(x): the rows that are there, where a number may be NULL unless it has bounds."""
        what: exp.Expr = exp.Star()
        if value is not None and value.exact:
            what = value.expression.copy()
        elif distinct:
            return Value(why="count(DISTINCT ...) of an estimate")
        present: exp.Expr | None = None
        if value is not None and not value.exact:
            present = exp.and_(*(is_null(end).not_() for end in value.bounds))
        counted = exp.Count(this=exp.Distinct(expressions=[what]) if distinct else what)
        every = self._of(counted.copy())
        if self.sure is None and present is None:
            return Value(every, present=True, least=0, whole=True)
        return Value(self._of(counted.copy(), self.sure, present), every, present=True, least=0, whole=True)

    def _sum(self, value: Value) -> Value:
        """The sum of numbers with bounds: a row that may be absent adds 0 or its number."""
        ends, unsigned = [], value.least is not None
        for end, extreme in zip(value.there, (values.least, values.greatest), strict=True):
            added = end
            if self.sure is not None and not (unsigned and extreme is values.greatest):
                zero = exp.Literal.number(0)
                absent = zero if unsigned else extreme(end, zero)
                added = values.when(self.sure, end, absent)
            ends.append(self._complete(exp.Sum(this=added), end))
        return Value(*ends, least=0 if unsigned else None, whole=value.whole, sure=self._some)

    def _middle(self, node: exp.Expr, value: Value) -> Value:
        """min, max, avg and quantiles of numbers with bounds: they rise with each number, and lie between the extremes."""
        ends = [self._complete(values.of_value(node, end), end) for end in value.there]
        if self.sure is None:
            return Value(*ends)
        low, high = value.there
        least, greatest = exp.Min(this=low.copy()), exp.Max(this=high.copy())
        extremes = [self._complete(least, low), self._complete(greatest, high)]
        if isinstance(node, exp.Min):
            extremes[1] = self._if_some(self._complete(exp.Min(this=high.copy()), high, self.sure), extremes[1])
        elif isinstance(node, exp.Max):
            extremes[0] = self._if_some(self._complete(exp.Max(this=low.copy()), low, self.sure), extremes[0])
        every = self._of(exp.LogicalAnd(this=self.sure.copy()))
        both = zip(ends, extremes, strict=True)
        return Value(*(values.when(every, end, extreme) for end, extreme in both), sure=self._some)

    @property
    def _some(self) -> exp.Expr | None:
        """Whether a row is there for certain, NULL where none may be; None where a listed one always is."""
        if (self.sure is None and not self.open) or (self.groups and self.wanted is None):  # a group that exists has a row
            return None
        some = self._of(exp.LogicalOr(this=exp.true() if self.sure is None else self.sure.copy()))
        return exp.func("coalesce", some, exp.false()) if self.open else some

    def _if_some(self, end: exp.Expr, other: exp.Expr) -> exp.Expr:
        """A bound from the rows that are there for certain, or another one where none is."""
        has_certain_row = exp.true() if self.sure is None else self._of(exp.LogicalOr(this=self.sure.copy()))
        return values.when(has_certain_row, end, other)

    def _complete(self, total: exp.Expr, end: exp.Expr, *conditions: exp.Expr | None) -> exp.Expr:
        """An aggregate of bounds; NULL if a row has no bound."""
        missing = self._of(exp.Count(this=exp.Star()), is_null(end), *conditions)
        return values.when(missing.eq(0), self._of(total, *conditions))

    def _for_all_rows(self, node: exp.Expr, value: Value) -> Value:
        """An aggregate of the listed rows as one of all rows: more rows can raise a count or a maximum, and so on."""
        if value.unknown:
            return value
        if not isinstance(node, (*AGGREGATES, *QUANTILES, exp.CountIf)):
            return Value(why=f"{name_of(node)} where items were suppressed")
        low, high = value.bounds
        none = exp.cast(exp.null(), "DOUBLE")
        kept = isinstance(node, exp.Count | exp.Max | exp.CountIf), isinstance(node, exp.Min)
        counted = isinstance(node, exp.Count | exp.CountIf)
        return Value(low if kept[0] else none, high if kept[1] else none, sure=None if counted else self._some)

    # ---------------------------------------------------------------- OVER

    def _with_row(self, ends: list[exp.Expr], own: exp.Expr) -> list[exp.Expr]:
        """The two ends of an aggregate of rows, one of which is the current one, whatever is known of it."""
        there = values.holds(exp.true() if self.sure is None else self.sure, unknown=False)
        return [values.greatest(exp.paren(ends[0] + values.when(there, exp.convert(0), own)), own), ends[1]]

    def window(self, node: exp.Window, resolve: Resolve) -> Value:
        """A window function; nothing is known of ranks and of what an order of estimates decides.

        Raises:
            InputError: ``unsupported_query``.
        """
        ordered = terms_of_order(node)
        keys = [read(o.this, resolve) for o in ordered]
        partition = [read(p, resolve) for p in node.args.get("partition_by") or ()]
        if not all(p.exact for p in partition):
            raise unsupported("PARTITION BY an estimate")
        function, _ = filtered(node.this)

        spec = node.args.get("spec")

        def over(call: exp.Expr, frame: exp.Expr | None = spec) -> exp.Expr:
            made = exp.Window(this=call, partition_by=[p.expression.copy() for p in partition], over="OVER")
            if ordered:
                listed = [values.of_value(o, k.expression) for o, k in zip(ordered, keys, strict=True)]
                made.set("order", exp.Order(expressions=listed))
            if frame is not None:
                made.set("spec", frame.copy())
            return made

        arguments = [read(e, resolve) for _, e in children_of(function)]
        if any(v.item for v in (*keys, *(() if isinstance(function, exp.Count) else arguments))):
            raise values.ambiguous("a window function of them or in their order")
        if not all(k.exact for k in keys):
            return Value()
        aggregate = isinstance(function, (*AGGREGATES, *QUANTILES))
        placed = self.sure is None and not self.open  # rows and their order are certain
        counted = counts_rows(spec)
        if counted and self.open:
            return Value(why="a window that ends a number of rows away, of which some may be missing. Write RANGE")
        exact = placed and all(a.exact for a in arguments)
        if aggregate or isinstance(node.this, exp.Filter):
            total = self.aggregate(node.this, resolve)
            ends = [_each_over(end, over) for end in total.ends]
            own = _least_of_row(node.this, resolve) if total.upper is not None and _has_row(spec) else None
            if own is not None and (ordered or isinstance(node.this, exp.Sum)):
                ends = self._with_row(ends, own) if ordered else [values.greatest(ends[0], own), ends[1]]
            if spec is None or not counted or self.sure is None:
                return total.replaced(ends)
            every = exp.func("coalesce", over(exp.LogicalAnd(this=self.sure.copy()), _reached(spec)), exp.true())
            others = (exp.null(), exp.null(), exp.false())  # whether a number is there is not known of another frame
            ends = [values.when(every, end, other) for end, other in zip(ends, others, strict=False)]
            return replace(total, present=False).replaced(ends)
        if exact and not arguments:
            return Value(over(function.copy()))
        chosen = isinstance(function, PLACES) and all(a.exact for a in arguments[1:2])  # which row it is
        if not exact and not (placed and chosen):
            return Value(why="" if isinstance(function, RANKED) else f"{name_of(function)} of estimates")
        of = zip(*([a.expression] if exact else a.bounds for a in arguments), strict=True)
        return Value(*(over(rebuilt(function, list(end))) for end in of))


def counts_rows(frame: exp.Expr | None) -> bool:
    """Whether the frame of a window ends a number of rows before or after the current one, or of groups of equal rows."""
    ends = () if frame is None else (frame.args.get("start"), frame.args.get("end"))
    return any(isinstance(end, exp.Expr) for end in ends) and frame is not None and frame.text("kind").upper() != "RANGE"


def _reached(frame: exp.Expr) -> exp.Expr:
    """The frame with all rows between it and the current one: if these exist, a frame that counts rows holds the same rows.

    The current row is left out, since a value need only hold where its row exists.
    """
    copy = frame.copy()
    for end, side in (("start", "FOLLOWING"), ("end", "PRECEDING")):
        if isinstance(copy.args.get(end), exp.Expr) and copy.text(f"{end}_side").upper() == side:
            copy.set(end, "CURRENT ROW")
            copy.set(f"{end}_side", None)
    copy.set("exclude", exp.Var(this="CURRENT ROW"))
    return copy


def _has_row(frame: exp.Expr | None) -> bool:
    """Whether the frame of a window has the current row for certain."""
    ends = () if frame is None else (frame.text("start").upper(), frame.text("end").upper() or "CURRENT ROW")
    return frame is None or ("CURRENT ROW" in ends and not frame.args.get("exclude"))


def _least_of_row(node: exp.Expr, resolve: Resolve) -> exp.Expr | None:
    """What a row that is there adds at least to a sum of numbers that are never negative, or to a number of rows."""
    if isinstance(node, exp.Count):
        return exp.convert(1) if isinstance(node.this, exp.Star) else None
    own = read(node.this, resolve) if isinstance(node, exp.Sum) and not isinstance(node.this, exp.Distinct) else None
    return None if own is None or not own.present or values.floor_of(own) is None else own.there[0]


def _each_over(node: exp.Expr, over: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """An expression with each aggregate in it as a window function."""

    def visit(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Filter) or (isinstance(part, exp.AggFunc) and not isinstance(part.parent, exp.Filter)):
            return over(part.copy())
        return part

    if isinstance(node, exp.Filter | exp.AggFunc):
        return visit(node)
    copy = node.copy()
    for part in list(aggregates(copy)):
        part.replace(visit(part))
    return copy


def _sum_of_truths(node: exp.CountIf) -> exp.Sum:
    """count_if as the sum of 1 where the condition is true and 0 where it is false: NULL where it is neither in any row."""
    cases = [(node.this.copy(), 1), (exp.Not(this=exp.paren(node.this)), 0)]
    return exp.Sum(this=exp.Case(ifs=[exp.If(this=case, true=exp.Literal.number(number)) for case, number in cases]))


def _both(*conditions: exp.Expr | None) -> exp.Expr | None:
    """The condition that all of these hold; None if there are none."""
    present = [c.copy() for c in conditions if c is not None]
    return exp.and_(*present) if present else None
