"""Aggregates over the rows of persons as expressions of those that are answered by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from sqlglot import exp

from anondb.answers.persons.aggregates import Aggregates, Basic
from anondb.answers.persons.terms import Id, Item, Number, Of, Scope
from anondb.errors import InputError
from anondb.query.aggregates import QUANTILES, SPREADS, one_by_one, quantile_of
from anondb.query.merged import VALUES
from anondb.query.parsing import is_null
from anondb.query.predicates import ALWAYS
from anondb.query.refusals import name_of, only, unsupported

HINTS: Mapping[type[exp.Expr], str] = {
    exp.ApproxDistinct: "Use count(DISTINCT ...)",
    exp.Mode: "GROUP BY it, and take the first by ORDER BY count(*) DESC LIMIT 1",
    exp.GroupConcat: "Ask for the rows, and put them together",
    exp.ArrayAgg: "Ask for the rows, and put them together",
}
"""What to do in place of an aggregate."""
_KINDS: tuple[type[exp.Expr], ...] = (exp.Min, exp.Max, *QUANTILES, *SPREADS)


class Composer:
    """Composes the aggregates of a SELECT.

    Attributes:
        basics: those that are answered by themselves; number n is the column ``#n``.
    """

    def __init__(self, reader: Aggregates, scopes: Sequence[Scope], keys: Sequence[exp.Expr]) -> None:
        self._reader, self._scopes, self._keys = reader, scopes, list(keys)
        self.basics: list[Basic] = []

    def _basic(self, basic: Basic) -> exp.Expr:
        number = next((n for n, one in enumerate(self.basics) if one.key == basic.key), len(self.basics))
        if number == len(self.basics):
            self.basics.append(basic)
        return exp.column(exp.to_identifier(f"#{number}", quoted=True))

    def _rows(self, wanted: exp.Expr | None) -> exp.Expr:
        return self._basic(Basic("rows", wanted=wanted))

    def _unless_empty(self, value: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """A value that is NULL if there are no rows that FILTER chooses; without it the column says so."""
        if wanted is None:
            return value
        some = exp.GT(this=self._rows(wanted), expression=exp.Literal.number(0))
        return exp.Case(ifs=[exp.If(this=some, true=value)])

    def composed(self, call: exp.Expr) -> exp.Expr | str:
        """An aggregate, with its FILTER, as an expression of others, or what to say of one that no rule reads.

        Raises:
            InputError: ``unsupported_query``.
        """
        wanted: exp.Expr | None = None
        if isinstance(call, exp.Filter):
            only(call, "this", "expression")
            wanted, call = call.expression.this, call.this
        if isinstance(call.this, exp.Distinct) and not isinstance(call, exp.Count):
            return f"{name_of(call)} DISTINCT. Ask for the values and their numbers of rows"
        if call.args.get("count") is not None:
            return f"several values of {name_of(call)}. Ask for the values and their numbers of rows"
        if isinstance(call, exp.CountIf):
            only(call, "this")
            return self._unless_empty(self._rows(_both(wanted, call.this)), _both(wanted, _present(call.this)))
        if isinstance(call, exp.LogicalOr | exp.LogicalAnd):
            only(call, "this")
            return self._unless_empty(self._decided(call, wanted), _both(wanted, _present(call.this)))
        if isinstance(call, exp.Count):
            return self._count(call, wanted)
        if isinstance(call, exp.Sum):
            only(call, "this")
            value = call.this.unnest()
            return self._unless_empty(self._basic(Basic("sum", value, wanted)), self._where_present(value, wanted))
        if isinstance(call, exp.Avg):
            only(call, "this")
            return self._average(call.this.unnest(), wanted)
        if isinstance(call, exp.AnyValue | exp.First) and (key := self._key(call.this)) is not None:
            return key
        if quantiles := one_by_one(call):
            return exp.Array(expressions=[self._number(one, wanted) for one in quantiles])
        if isinstance(call, _KINDS):
            return self._number(call, wanted)
        return ". ".join(filter(None, [name_of(call), HINTS.get(type(call))]))

    def _key(self, node: exp.Expr) -> exp.Expr | None:
        """A grouped expression, or one that each group has one value of."""
        return node if node in self._keys else None

    def _decided(self, call: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """bool_or(x): x is true for some row; bool_and(x): x is false for none."""
        zero = exp.Literal.number(0)
        if isinstance(call, exp.LogicalOr):
            return exp.GT(this=self._rows(_both(wanted, call.this)), expression=zero)
        false = exp.Is(this=exp.paren(call.this.copy()), expression=exp.false())
        return exp.EQ(this=self._rows(_both(wanted, false)), expression=zero)

    def _count(self, call: exp.Count, wanted: exp.Expr | None) -> exp.Expr:
        only(call, "this", "big_int", "expressions")
        if call.expressions:
            raise unsupported("count of several columns")
        what = call.this
        if what is None or isinstance(what, exp.Literal | exp.Star):
            return self._rows(wanted)
        if not isinstance(what, exp.Distinct):
            return self._rows(self._where_present(what.unnest(), wanted))
        if len(what.expressions) != 1:
            raise unsupported("count(DISTINCT ...) of several columns")
        value = what.expressions[0].unnest()
        wanted, value = _chosen(value, wanted)
        if all(
            isinstance(self._reader.atom(tree), Id) or isinstance(tree.unnest(), exp.Null)
            for tree in self._trees(value)
        ):
            return self._basic(Basic("ids", wanted=self._where_present(value, wanted)))
        return self._basic(Basic("distinct", value, wanted))

    def _trees(self, value: exp.Expr) -> list[exp.Expr]:
        return [self._reader.resolved(value, scope) for scope in self._scopes]

    def _where_present(self, value: exp.Expr, wanted: exp.Expr | None) -> exp.Expr | None:
        """FILTER with the condition that a value is not NULL, unless it never is."""
        if all(isinstance(self._reader.atom(t), Id) or not self._may_be_null(t) for t in self._trees(value)):
            return wanted
        return _both(wanted, exp.Not(this=exp.paren(is_null(value))))

    def _may_be_null(self, tree: exp.Expr) -> bool:
        """Whether an expression may be NULL, as far as its form shows."""
        atom = self._reader.atom(tree)
        if isinstance(atom, Number):
            return atom.present != ALWAYS
        if isinstance(atom, Item) or isinstance(tree, exp.Literal):
            return False
        if not isinstance(tree, exp.Case) or tree.args.get("default") is None:
            return True
        results = [tree.args["default"], *(branch.args["true"] for branch in tree.args["ifs"])]
        return any(self._may_be_null(result.unnest()) for result in results)

    def _average(self, value: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """An average: of a number of each person, or a sum by a number of rows."""
        if len(self._scopes) == 1 and self._is_measure(self._trees(value)[0]):
            return self._measured("avg", value, wanted)
        total = exp.cast(exp.paren(self._basic(Basic("sum", value, wanted))), "DOUBLE")
        present = self._where_present(value, wanted)
        rows = self._rows(present)
        if present is None and not self._keys:  # a number of rows, if the sum is not NULL
            rows = exp.Greatest(this=rows, expressions=[exp.Literal.number(1)])
        return self._among(value, exp.Div(this=total, expression=rows, typed=False, safe=False))

    def _among(self, value: exp.Expr, average: exp.Expr) -> exp.Expr:
        """An average of numbers, which lies between the least and the greatest of them where these are listed."""
        try:
            listed = [v for tree in self._trees(value) for v, _ in self._reader.values(tree) if v is not None]
        except InputError:
            return average
        if not listed or not all(isinstance(v, int | float | Decimal) and isfinite(v) for v in listed):
            return average
        above = exp.Greatest(this=average, expressions=[exp.convert(float(min(listed)))])
        return exp.Least(this=above, expressions=[exp.convert(float(max(listed)))])

    def _measured(self, how: str, value: exp.Expr, wanted: exp.Expr | None, share: Fraction | None = None) -> exp.Expr:
        return self._basic(Basic(how, value, wanted, share, some=wanted is None))

    def _is_measure(self, tree: exp.Expr) -> bool:
        """Whether an expression is a number of the person that a release aggregates."""
        atom = self._reader.atom(tree)
        if isinstance(atom, Of | Number):
            return not (not self._reader.releases.summable and isinstance(atom, Number) and atom.weights.kind == VALUES)
        try:
            found = self._reader.measure(tree)[0]
        except InputError:
            return False
        return found is not None

    def _number(self, call: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
        """An extreme, a quantile or a deviation."""
        kind, share = call.key, None
        if isinstance(call, QUANTILES):
            kind, share = quantile_of(call)
        else:
            only(call, "this")
            kind = SPREADS.get(type(call), kind)
        value = call.this.unnest()
        made = self._measured(kind, value, wanted, share)
        if isinstance(call, exp.Min | exp.Max):
            atoms = [self._reader.atom(tree) for tree in self._trees(value)]
            if any(isinstance(a, Of) and self._is_date(a) for a in atoms):
                first = exp.cast(exp.Literal.string("1970-01-01"), "DATE")
                return exp.Add(this=first, expression=exp.cast(exp.paren(made), "INTEGER"))
        return made

    def _is_date(self, atom: Of) -> bool:
        return any(a.name == atom.attribute and a.ends == "DATE" for a in self._reader.releases.attributes)


def _chosen(value: exp.Expr, wanted: exp.Expr | None) -> tuple[exp.Expr | None, exp.Expr]:
    """``DISTINCT CASE WHEN x THEN column END`` as the column where x is true."""
    if (
        isinstance(value, exp.Case)
        and value.this is None
        and value.args.get("default") is None
        and len(value.args["ifs"]) == 1
    ):
        (branch,) = value.args["ifs"]
        if isinstance(branch.args["true"].unnest(), exp.Column):
            return _both(wanted, branch.this), branch.args["true"].unnest()
    return wanted, value


def _present(condition: exp.Expr) -> exp.Expr:
    """The condition that another one is not NULL."""
    return exp.Not(this=exp.paren(exp.Is(this=exp.paren(condition.copy()), expression=exp.null())))


def _both(one: exp.Expr | None, two: exp.Expr) -> exp.Expr:
    return exp.paren(two.copy()) if one is None else exp.and_(exp.paren(one.copy()), exp.paren(two.copy()))
