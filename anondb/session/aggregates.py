"""Aggregates and window functions over known rows, some of which may be absent, with values that have bounds."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from anondb.query.refusals import name_of, unsupported
from anondb.query.relations import bare
from anondb.session import values
from anondb.session.expressions import Resolve, read
from anondb.session.values import Value

RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile)


def aggregates(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The outermost aggregates of an expression, with their FILTER; those of subqueries and of OVER are left out."""
    if node is None or isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Window):
        function = node.this.this if isinstance(node.this, exp.Filter) else node.this
        inner = [*function.iter_expressions(), *(c for c in node.iter_expressions() if c is not node.this)]
    elif isinstance(node, exp.AggFunc) or (isinstance(node, exp.Filter) and isinstance(node.this, exp.AggFunc)):
        yield node
        return
    else:
        inner = list(node.iter_expressions())
    for child in inner:
        yield from aggregates(child)


class Rows:
    """The rows that aggregates see: conditions that a row is there, certainly and by the estimates; None if all are.

    With ``open``, further rows may exist that are not listed; with ``groups`` they are divided by GROUP BY.
    """

    def __init__(
        self, sure: exp.Expr | None, likely: exp.Expr | None, *, open: bool = False, groups: bool = False
    ) -> None:
        self.sure, self.likely, self.open, self.groups = sure, likely, open, groups

    def aggregate(self, node: exp.Expr, resolve: Resolve) -> Value:
        """The value of an aggregate over the rows of a group.

        Raises:
            InputError: ``unsupported_query``.
        """
        wanted: exp.Expr | None = None
        called = node
        if isinstance(node, exp.Filter):
            condition = read(node.expression.this, resolve)
            if not condition.exact:
                raise unsupported("FILTER with a condition on an estimate", "Write the condition into WHERE.")
            wanted, node = condition.estimate, node.this
        distinct = isinstance(node.this, exp.Distinct)
        this = node.this.expressions[0] if distinct else node.this
        value = None if this is None or isinstance(this, exp.Star) else read(bare(this), resolve)
        if self.open:
            return self._of_some(node, Rows(self.sure, self.likely, groups=self.groups).aggregate(called, resolve))
        if isinstance(node, exp.Count):
            return self._count(node, value, wanted, distinct)
        if value is None or distinct:
            raise unsupported(f"{name_of(node)} DISTINCT")
        others = [read(e, resolve) for e in node.iter_expressions() if e is not node.this]
        if value.exact and self.sure is None and all(other.exact for other in others):
            return Value(_filtered(_over(node, value.estimate), wanted))
        if value.by_estimate:
            return Value(_filtered(_over(node, value.estimate), self._both(wanted, self.likely)), by_estimate=True)
        return self._numbers(node, value, wanted)

    def _count(self, node: exp.Expr, value: Value | None, wanted: exp.Expr | None, distinct: bool) -> Value:
        """count(*) or count(x): the rows that are there; a number with bounds is never NULL."""
        what: exp.Expr = exp.Star()
        if value is not None and value.exact:
            what = value.estimate.copy()
        elif distinct:
            raise unsupported("count(DISTINCT ...) of an estimate")
        present: exp.Expr | None = None  # a number without bounds may be NULL
        if value is not None and not value.exact:
            present = exp.and_(*(end.copy().is_(exp.null()).not_() for end in value.bounds))
        counted = exp.Count(this=exp.Distinct(expressions=[what]) if distinct else what)
        every = _filtered(counted.copy(), wanted)
        if self.sure is None and present is None:
            return Value(every)
        likely, sure = (_filtered(counted.copy(), self._both(wanted, f, present)) for f in (self.likely, self.sure))
        return Value(likely, sure, every)

    def _numbers(self, node: exp.Expr, value: Value, wanted: exp.Expr | None) -> Value:
        """sum, min, max, avg and quantiles of numbers with bounds."""
        low, high = value.bounds
        estimate = _filtered(_over(node, value.estimate), self._both(wanted, self.likely))
        if isinstance(node, exp.Sum):
            zero = exp.Literal.number(0)
            ends = []
            for end, extreme in ((low, values.least), (high, values.greatest)):
                absent = (
                    end
                    if self.sure is None
                    else exp.Case(ifs=[exp.If(this=self.sure.copy(), true=end.copy())], default=extreme(end, zero))
                )
                ends.append(self._unless_empty(self._complete(exp.Sum(this=absent), end, wanted), wanted))
            return Value(estimate, *ends)
        if not isinstance(node, exp.Min | exp.Max | exp.Avg | exp.Median | exp.Quantile):
            raise unsupported(f"{name_of(node)} of estimates")
        ends = [self._complete(_over(node, end), end, wanted) for end in (low, high)]
        if self.sure is None:
            return Value(estimate, *ends)
        extremes = [
            self._complete(exp.Min(this=low.copy()), low, wanted),
            self._complete(exp.Max(this=high.copy()), high, wanted),
        ]
        if isinstance(node, exp.Min):
            extremes[1] = self._complete(exp.Min(this=high.copy()), high, self._both(wanted, self.sure))
        elif isinstance(node, exp.Max):
            extremes[0] = self._complete(exp.Max(this=low.copy()), low, self._both(wanted, self.sure))
        every = exp.LogicalAnd(this=self.sure.copy())
        ends = [
            exp.Case(ifs=[exp.If(this=every.copy(), true=e)], default=x) for e, x in zip(ends, extremes, strict=True)
        ]
        return Value(estimate, *ends)

    def _unless_empty(self, end: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """A bound; none where no row is there for certain, so that the aggregate may be NULL."""
        if self.sure is None or (self.groups and wanted is None):  # a group that exists has a row
            return end
        some = _filtered(exp.LogicalOr(this=self.sure.copy()), wanted)
        return exp.Case(ifs=[exp.If(this=some, true=end)])

    @staticmethod
    def _of_some(node: exp.Expr, value: Value) -> Value:
        """An aggregate of the listed rows as one of all rows: more rows can raise a count or a maximum, and so on."""
        low, high = value.bounds
        none = exp.cast(exp.null(), "DOUBLE")
        kept = isinstance(node, exp.Count | exp.Max), isinstance(node, exp.Min)
        return Value(value.estimate, low if kept[0] else none, high if kept[1] else none)

    def _complete(self, total: exp.Expr, end: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """An aggregate of bounds; NULL if a row has no bound."""
        missing = _filtered(exp.Count(this=exp.Star()), self._both(end.copy().is_(exp.null()), wanted))
        return exp.Case(ifs=[exp.If(this=missing.eq(0), true=_filtered(total, wanted))])

    @staticmethod
    def _both(*conditions: exp.Expr | None) -> exp.Expr | None:
        present = [c.copy() for c in conditions if c is not None]
        return exp.and_(*present) if present else None

    # ---------------------------------------------------------------- OVER

    def window(self, node: exp.Window, resolve: Resolve) -> Value:
        """A window function: ranks and what an order of estimates decides have no bounds.

        Raises:
            InputError: ``unsupported_query``.
        """
        parts = {key: node.args.get(key) for key in ("partition_by", "order", "spec")}
        ordered = parts["order"].expressions if parts["order"] else []
        keys = [read(o.this, resolve) for o in ordered]
        partition = [read(p, resolve) for p in parts["partition_by"] or ()]
        if not all(p.exact for p in partition):
            raise unsupported("PARTITION BY an estimate")
        function = node.this.this if isinstance(node.this, exp.Filter) else node.this

        def over(call: exp.Expr) -> exp.Expr:
            made = exp.Window(this=call, partition_by=[p.estimate.copy() for p in partition], over="OVER")
            if ordered:
                listed = [_reordered(o, k.estimate) for o, k in zip(ordered, keys, strict=True)]
                made.set("order", exp.Order(expressions=listed))
            if parts["spec"] is not None:
                made.set("spec", parts["spec"].copy())
            return made

        arguments = [read(e, resolve) for e in function.iter_expressions() if not isinstance(e, exp.Star)]
        aggregate = isinstance(function, exp.Sum | exp.Count | exp.Avg | exp.Min | exp.Max)
        placed = self.sure is None and not self.open and all(k.exact for k in keys)  # rows and their order are certain
        if isinstance(function, RANKS) or (not aggregate and not placed):
            made = over(_with_arguments(function, [a.estimate for a in arguments]))
            if placed:
                return Value(made)
            return Value(made, by_estimate=True) if isinstance(function, RANKS) else Value(made, exp.null(), exp.null())
        if not aggregate or (placed and all(a.exact for a in arguments)):
            ends = zip(*((a.estimate, *a.bounds) for a in arguments), strict=True)
            whole = [over(_with_arguments(function, list(end))) for end in ends] or [over(function.copy())]
            return Value(whole[0]) if all(a.exact for a in arguments) else Value(*whole)
        if not all(k.exact for k in keys):
            made = over(_with_arguments(function, [a.estimate for a in arguments]))
            return Value(made, exp.null(), exp.null())
        total = self.aggregate(node.this, resolve)
        return Value(*(_each_over(e, over) for e in (total.estimate, *total.bounds)))


def _with_arguments(function: exp.Expr, arguments: list[exp.Expr]) -> exp.Expr:
    """A window function of other arguments."""
    made, rest = function.copy(), iter(arguments)
    for key, part in function.args.items():
        if isinstance(part, exp.Expr) and not isinstance(part, exp.Star):
            made.set(key, next(rest).copy())
    return made


def _each_over(node: exp.Expr, over: object) -> exp.Expr:
    """An expression with each aggregate in it as a window function."""
    assert callable(over)

    def visit(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Filter) or (isinstance(part, exp.AggFunc) and not isinstance(part.parent, exp.Filter)):
            result = over(part.copy())
            assert isinstance(result, exp.Expr)
            return result
        return part

    if isinstance(node, exp.Filter | exp.AggFunc):
        return visit(node)
    made = node.copy()
    for part in list(aggregates(made)):
        part.replace(visit(part))
    return made


def _reordered(node: exp.Ordered, by: exp.Expr) -> exp.Ordered:
    made = node.copy()
    made.set("this", by.copy())
    return made


def _over(node: exp.Expr, value: exp.Expr) -> exp.Expr:
    """An aggregate function of another value."""
    made = node.copy()
    made.set("this", value.copy())
    return made


def _filtered(call: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
    return call if wanted is None else exp.Filter(this=call, expression=exp.Where(this=wanted.copy()))
