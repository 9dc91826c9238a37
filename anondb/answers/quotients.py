"""Sums, products and quotients of aggregates, as the text of a query has them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from anondb.query.parsing import bare, whole


@dataclass(frozen=True)
class Quotient:
    """A quotient of two aggregates.

    Attributes:
        above, below: the aggregates.
        wanted, also: the conditions of their FILTER.
        factors: numbers by which it is multiplied.
        never_zero: whether NULL takes the place of 0 below.
        filled: whether 0 takes the place of NULL above.
    """

    above: exp.Expr
    wanted: exp.Expr | None
    below: exp.Expr
    also: exp.Expr | None
    factors: tuple[exp.Expr, ...] = ()
    never_zero: bool = False
    filled: bool = False

    def times(self, value: exp.Expr) -> exp.Expr:
        """A value in place of the quotient of the aggregates, with the factors."""
        return reduce(lambda one, other: exp.Mul(this=one, expression=other), [f.copy() for f in self.factors], value)


def quotient_of(node: exp.Div) -> Quotient:
    """The parts of a quotient; what is no aggregate stays as it is."""

    def plain(side: exp.Expr) -> exp.Expr:
        side = bare(side)
        return plain(side.this) if isinstance(side, exp.Cast) and side.to.this == exp.DataType.Type.DOUBLE else side

    of = [plain(factor) for factor in product_of(node.this)]
    factors = [f for f in of if isinstance(f, exp.Literal) and not f.is_string]
    rest = [f for f in of if f not in factors]
    below = plain(node.expression)
    never_zero = isinstance(below, exp.Nullif) and below.expression == exp.Literal.number(0)
    below = plain(below.this) if never_zero else below
    filled = len(rest) == 1 and isinstance(rest[0], exp.Coalesce) and rest[0].expressions == [exp.convert(0)]
    rest = [plain(rest[0].this)] if filled else rest
    above = filtered(rest[0]) if len(rest) == 1 else (node.this, None)
    (one, wanted), (other, also) = ((_summed(call), of) for call, of in (above, filtered(below)))
    ones = isinstance(other, exp.Sum) and other.this == exp.Literal.number(1)
    if ones and isinstance(one, exp.Sum) and wanted == also:
        other = exp.Count(this=exp.Star())  # without rows both quotients are NULL
    return Quotient(one, wanted, other, also, tuple(factors), never_zero, filled)


def _summed(call: exp.Expr) -> exp.Expr:
    """``count_if(x)`` as the sum of x as 1 and 0, which it is: NULL where x is never there; others as they are."""
    return exp.Sum(this=exp.cast(exp.paren(call.this), "INTEGER")) if isinstance(call, exp.CountIf) else call


def filtered(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """An aggregate and the condition of its FILTER, if it has one."""
    return (node.this, node.expression.this) if isinstance(node, exp.Filter) else (node, None)


def product_of(node: exp.Expr) -> list[exp.Expr]:
    """The factors of a product."""
    node = bare(node)
    return [*product_of(node.left), *product_of(node.right)] if isinstance(node, exp.Mul) else [node]


def terms_of(node: exp.Expr, factor: int = 1) -> list[tuple[int, exp.Expr]]:
    """The terms of a sum, and how often each is added."""
    node = bare(node)
    if isinstance(node, exp.Add | exp.Sub):
        return terms_of(node.left, factor) + terms_of(node.right, factor if isinstance(node, exp.Add) else -factor)
    if isinstance(node, exp.Mul):
        for number, other in ((node.left, node.right), (node.right, node.left)):
            literal = bare(number)
            if isinstance(literal, exp.Literal) and literal.is_int:
                return terms_of(other, factor * whole(literal))
    return [(factor, node)]
