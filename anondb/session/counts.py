"""Reduce aggregates over the rows of persons to plain counts: FILTER, CASE, count_if, sums of conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from anondb.query.quantiles import QUANTILES, one_by_one
from anondb.query.refusals import HINT, name_of, only, unsupported
from anondb.query.relations import bare, is_null
from anondb.query.variances import SPREADS

CONDITIONS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)
"""The kinds of expressions that are conditions, beside columns."""

HINTS: Mapping[type[exp.Expr], str] = {
    exp.ApproxDistinct: "Use count(DISTINCT ...).",
    exp.Mode: "GROUP BY it, and take the first by ORDER BY count(*) DESC LIMIT 1.",
    exp.GroupConcat: "Ask for the rows, and put them together.",
    exp.ArrayAgg: "Ask for the rows, and put them together.",
}
"""What to do in place of an aggregate."""


def composed(call: exp.Expr, basics: list[exp.Expr], kind_of: Callable[[exp.Column], str]) -> exp.Expr:
    """An aggregate as an expression of counts.

    Args:
        call: the aggregate, with its FILTER.
        basics: the plain counts so far; new ones are appended. Count number n is the column ``#n`` of the result.
        kind_of: what a column is (``Key.what``); empty for other names.

    Raises:
        InputError: ``unsupported_query``.
    """
    condition: exp.Expr | None = None
    if not isinstance(call, exp.AggFunc | exp.Filter):  # an average of a joined table's numbers is a quotient
        made = call.copy()
        for key in ("this", "expression"):
            made.set(key, composed(call.args[key], basics, kind_of))
        return made
    if isinstance(call, exp.Filter):
        only(call, "this", "expression")
        condition, call = call.expression.this, call.this
    return _Composer(basics, kind_of).aggregate(call, condition)


class _Composer:
    def __init__(self, basics: list[exp.Expr], kind_of: Callable[[exp.Column], str]) -> None:
        self._basics, self._kind_of = basics, kind_of

    def _may_be_null(self, condition: exp.Expr) -> bool:
        """Whether a condition depends on something else than items."""
        return any(self._kind_of(c) not in ("id", "item") for c in condition.find_all(exp.Column))

    def _count(self, count: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        """The column of a plain count."""
        made = count.copy()
        if condition is not None:
            made = exp.Filter(this=made, expression=exp.Where(this=condition.copy()))
        if made not in self._basics:
            self._basics.append(made)
        return exp.column(exp.to_identifier(f"#{self._basics.index(made)}", quoted=True))

    def _rows(self, condition: exp.Expr | None) -> exp.Expr:
        return self._count(exp.Count(this=exp.Star(), big_int=True), condition)

    def _unless_empty(self, value: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        """A value that is NULL if there are no rows."""
        some = exp.GT(this=self._rows(condition), expression=exp.Literal.number(0))
        return exp.Case(ifs=[exp.If(this=some, true=value)])

    def aggregate(self, call: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        """An aggregate over the rows that satisfy a condition."""
        if call.args.get("count") is not None:
            raise unsupported(f"several values of {name_of(call)}", "Ask for the values and their numbers of rows.")
        if isinstance(call, exp.CountIf):
            only(call, "this")
            rows = self._rows(_both(condition, call.this))  # DuckDB sums ones and zeros
            return self._unless_empty(rows, self._known(call.this, condition))
        if isinstance(call, exp.LogicalOr | exp.LogicalAnd):
            only(call, "this")
            return self._unless_empty(self._decided(call, condition), self._known(call.this, condition))
        if isinstance(call, exp.Count):
            return self._counted(call, condition)
        if isinstance(call, exp.Sum | exp.Avg):
            only(call, "this")
            total, present = self._sum(bare(call.this), condition)
            if total is None:
                return self._count(call, condition)
            if isinstance(call, exp.Sum):
                return self._unless_empty(total, present)
            double = exp.cast(exp.paren(total), "DOUBLE")
            return exp.Div(this=double, expression=self._rows(present), typed=False, safe=False)
        if quantiles := one_by_one(call):
            return exp.Array(expressions=[self._count(one, condition) for one in quantiles])
        if isinstance(call, (exp.Min, exp.Max, *QUANTILES, *SPREADS)):
            return self._count(call, condition)
        raise unsupported(name_of(call), HINTS.get(type(call), HINT))

    def _decided(self, call: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        """bool_or(x): x is true for some row; bool_and(x): x is false for none."""
        zero = exp.Literal.number(0)
        if isinstance(call, exp.LogicalOr):
            return exp.GT(this=self._rows(_both(condition, call.this)), expression=zero)
        false = exp.Is(this=exp.paren(call.this), expression=exp.false())
        return exp.EQ(this=self._rows(_both(condition, false)), expression=zero)

    def _known(self, of: exp.Expr, condition: exp.Expr | None) -> exp.Expr | None:
        """The rows for which a condition is not NULL."""
        if not self._may_be_null(of):
            return condition
        true, false = (exp.Is(this=exp.paren(of), expression=truth()) for truth in (exp.true, exp.false))
        return _both(condition, exp.paren(exp.or_(true, false)))

    def _counted(self, call: exp.Count, condition: exp.Expr | None) -> exp.Expr:
        """count(...), whose operand may be a CASE without ELSE."""
        distinct = isinstance(call.this, exp.Distinct)
        what = call.this.expressions[0] if distinct and len(call.this.expressions) == 1 else call.this
        what = bare(what) if what is not None else what
        if not isinstance(what, exp.Case | exp.If):
            return self._count(call, condition)
        values = [(c, v) for c, v in branches(what) if not isinstance(bare(v), exp.Null)]
        if not distinct:
            values = [(c if isinstance(bare(v), exp.Literal) else _present(c, v), v) for c, v in values]
        if distinct:
            columns = {v for _, v in values}
            if len(columns) != 1 or not isinstance(bare(values[0][1]), exp.Column):
                raise unsupported("count(DISTINCT CASE ...) of several values")
            inner = exp.Count(this=exp.Distinct(expressions=[bare(values[0][1]).copy()]))
            return self._count(inner, _both(condition, exp.or_(*(c for c, _ in values))))
        return self._rows(_both(condition, exp.or_(*(c for c, _ in values))))

    def _sum(self, what: exp.Expr, condition: exp.Expr | None) -> tuple[exp.Expr | None, exp.Expr | None]:
        """The sum of an expression whose values are literals, and the condition that it is not NULL; None for a column."""
        while isinstance(what, exp.Cast | exp.TryCast):
            if not what.to.is_type("DOUBLE") and any("." in n.name for n in what.this.find_all(exp.Literal)):
                raise unsupported("the sum of a cast of numbers that are not whole")
            what = bare(what.this)
        factors = [bare(factor) for factor in what.flatten()] if isinstance(what, exp.Mul) else [what]
        if all(isinstance(f, exp.Column) and self._kind_of(f) in ("condition", "flag") for f in factors):
            return self._rows(_both(condition, exp.and_(*(f.copy() for f in factors)))), condition
        if isinstance(what, exp.Column | exp.Anonymous):
            return None, condition
        if isinstance(what, exp.Literal) and not what.is_string:
            return exp.Mul(this=what.copy(), expression=self._rows(condition)), condition
        if isinstance(what, CONDITIONS):
            return self._rows(_both(condition, what)), self._known(what, condition)
        if not isinstance(what, exp.Case | exp.If):
            raise unsupported(f"the sum of an expression ({name_of(what)})", "Sum a column, a literal or a condition.")
        listed = branches(what)
        terms = []
        for branch, value in listed:
            number = bare(value)
            plain = number.this if isinstance(number, exp.Neg) else number
            if isinstance(number, exp.Null) or (isinstance(number, exp.Literal) and number.name in ("0", "0.0")):
                continue
            if not isinstance(plain, exp.Literal) or plain.is_string:
                raise unsupported("the sum of CASE with other values than numbers")
            rows = self._rows(_both(condition, branch))
            one = number.name == "1" and plain is number
            terms.append(rows if one else exp.Mul(this=exp.paren(number), expression=rows))
        valued = [branch for branch, value in listed if not isinstance(bare(value), exp.Null)]
        present = condition if len(valued) == len(listed) else _both(condition, exp.or_(*valued))
        total: exp.Expr = exp.Literal.number(0)
        for n, term in enumerate(terms):
            total = term if n == 0 else exp.Add(this=total, expression=term)
        return total, present


def branches(node: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    """The results of CASE or IF, each with the condition under which it is the result; a missing ELSE is NULL."""
    if isinstance(node, exp.If):
        pairs, default = [(node.this, node.args["true"])], node.args.get("false")
    else:
        pairs = [
            (b.this if node.this is None else exp.EQ(this=node.this, expression=b.this), b.args["true"])
            for b in node.args["ifs"]
        ]
        default = node.args.get("default")
    listed: list[tuple[exp.Expr, exp.Expr]] = []
    before: list[exp.Expr] = []
    for condition, value in pairs:
        listed.append((exp.and_(*(p.copy() for p in before), condition.copy()), value))
        before.append(_not(condition))
    listed.append((exp.and_(*(p.copy() for p in before)), default if default is not None else exp.null()))
    return listed


def _present(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The condition, for rows whose value is not NULL."""
    return exp.and_(exp.paren(condition), exp.Not(this=exp.paren(is_null(value))))


def _not(condition: exp.Expr) -> exp.Expr:
    """A condition is false or unknown."""
    return exp.Not(this=exp.paren(exp.Is(this=exp.paren(condition), expression=exp.true())))


def _both(one: exp.Expr | None, two: exp.Expr) -> exp.Expr:
    return two.copy() if one is None else exp.and_(one.copy(), two.copy())
