"""Numbers of a person: their values, sums of multiples of them, and when conditions on them are true and false."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import isfinite
from operator import or_
from typing import Any

from sqlglot import exp

from anondb.answers.persons.attributes import Attributes, literal_of
from anondb.answers.persons.terms import Number, Truth, values_of, weights_of
from anondb.answers.ranged.equivalents import MIRRORED
from anondb.query.item_tests import ItemTest, Labels, choices, passing
from anondb.query.parsing import bare, is_null
from anondb.query.predicates import (
    ALWAYS,
    NEVER,
    AtLeast,
    Condition,
    Constant,
    OnSum,
    Weights,
    at_least,
    both,
    either,
    negate,
    on_sum,
    replaced,
)
from anondb.query.refusals import name_of, too_complex, unsupported
from anondb.query.summed import MAX, MIN, SUM, VALUES
from anondb.query.summed import MAX_VALUES as MOST_BITS

Linear = tuple[dict[Number, Fraction], Fraction]
"""A sum of multiples of numbers, with the coefficient of each, and a constant."""
FAR = 400  # a number of items that no constant of a query comes near
MAX_VALUES = 8  # of a number, by which an expression of several is divided
_PLAIN = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Neg, exp.Paren, exp.Literal, exp.Column, exp.Cast),
    *(exp.Least, exp.Greatest, exp.Case, exp.If, exp.And, exp.Or, exp.Not, exp.Between, exp.In, exp.Coalesce),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Identifier, exp.Boolean, exp.Null, exp.DataType, exp.Is),
)
"""Operations of which a number beyond all constants gives one and the same value, or ever more."""


class Quantities(Attributes):
    """Lists the values of numbers, each with the condition for it."""

    written: frozenset[str] = frozenset()
    """The items that the conditions name."""

    # ---------------------------------------------------------------- numbers

    def values_of_number(self, atom: Number, tree: exp.Expr) -> list[tuple[Any, Condition]]:
        """The values that a number may have, each with its condition; what is beyond has that of the last one.

        Raises:
            InputError: ``unsupported_query``: there is no end of them.
        """
        if atom.values:
            return self._extremes(atom)
        return [
            (n, both(self.number_from(atom, n), negate(self.number_from(atom, n + 1))))
            for n in range(self.most(atom, tree) + 1)
        ]

    def most(self, atom: Number, tree: exp.Expr) -> int:
        """The greatest number of items that is possible; one that a condition cannot tell from others if there is none."""
        if atom.weights.kind == VALUES:
            return reduce(or_, (int(of) for _, of in atom.weights.by_label or ()), 0).bit_count()
        labels = self.labels(atom.weights.test)
        if labels is not None:
            return len(labels)
        if not all(isinstance(node, _PLAIN) for node in tree.walk()):
            raise unsupported(f"{name_of(condition_in(tree))} of a number of items that may be suppressed")
        if any(not n.is_string and float(n.name) >= FAR / 2 for n in tree.find_all(exp.Literal)):
            raise too_complex("it compares a number of items that may be suppressed with a large number")
        return FAR

    def _extremes(self, atom: Number) -> list[tuple[Any, Condition]]:
        """The values of the least or the greatest weight."""
        places = atom.values[:: 1 if atom.weights.kind == MAX else -1]
        reached = [self._reaches(atom, weight) for weight, _ in places]
        beyond = [*map(negate, reached[1:]), ALWAYS]
        return [(value, both(*ends)) for (_, value), *ends in zip(places, reached, beyond, strict=True)]

    def in_runs(self, atom: Number, chosen: Sequence[bool]) -> Condition:
        """The condition that the least or the greatest weight is a chosen one: it reaches the first of a run of such, and
        nothing after the last."""
        reached = [self._reaches(atom, weight) for weight, _ in atom.values[:: 1 if atom.weights.kind == MAX else -1]]
        changes = [n for n, (one, other) in enumerate(pairwise([False, *chosen, False])) if one != other]
        runs = zip(changes[::2], changes[1::2], strict=True)
        return either(*(both(reached[n], negate([*reached, NEVER][end])) for n, end in runs))

    def _reaches(self, atom: Number, weight: float) -> Condition:
        """The condition that somebody has an item of this weight or more, or less for the least one."""
        sign = 1 if atom.weights.kind == MAX else -1
        weights = dict(atom.weights.by_label or ())
        passing = frozenset(label for label, w in weights.items() if sign * w >= sign * weight)
        other = atom.unnamed is not None and sign * atom.unnamed >= sign * weight
        return at_least(1, self.test_of(passing, other))

    def number_from(self, atom: Number, least: int) -> Condition:
        """The condition that a number of items, or of their values, is at least so great."""
        if atom.weights.kind != VALUES:
            return at_least(least, atom.weights.test)
        if least > self.most(atom, exp.null()):
            return NEVER
        return OnSum(atom.weights, least, open=False) if least > 0 else ALWAYS

    def _check_tail(self, atom: Number, results: Sequence[Any]) -> None:
        if atom.weights.kind == SUM and self.labels(atom.weights.test) is None and len(set(results[FAR // 2 :])) > 1:
            raise unsupported("a condition on a number of items that may be suppressed")

    def _in_ranges(self, atom: Number, numbers: Sequence[int], most: int) -> Condition:
        """The condition that a number of items is one of some in ascending order; the greatest stands for all beyond."""
        if not numbers:
            return NEVER
        starts = [n for n in numbers if n - 1 not in set(numbers)]
        ends = [n for n in numbers if n + 1 not in set(numbers)]
        parts = [
            both(self.number_from(atom, a), ALWAYS if b == most else negate(self.number_from(atom, b + 1)))
            for a, b in zip(starts, ends, strict=True)
        ]
        return either(*parts)

    def by_number(
        self, tree: exp.Expr, *, every: bool = False, most: int = MAX_VALUES
    ) -> list[tuple[Condition, exp.Expr]] | None:
        """An expression for each value of the number in it that has the fewest; None if it has many, or if ``every`` number
        must have few and one has many.

        Each person has exactly one of the values, or NULL, and there the expression is that with the value in its place.
        """
        listed: dict[Number, int] = {}
        for atom in self.atoms_of(tree):
            labels = self.labels(atom.weights.test) if isinstance(atom, Number) else None
            if isinstance(atom, Number) and atom.values:
                listed[atom] = len(atom.values)
            elif isinstance(atom, Number) and labels is not None and atom.weights.by_label is None:
                listed[atom] = len(labels) + 1
        if not listed or min(listed.values()) > most or self.releases.bags:
            return None
        if every and (len(listed) < len(self.atoms_of(tree)) or max(listed.values()) > most):
            return None
        of = min(listed, key=lambda atom: listed[atom])
        values = self.values_of_number(replace(of, present=ALWAYS), tree)
        cases = [
            (both(of.present, met), literal_of(value, "DOUBLE" if isinstance(value, float) else of.type))
            for value, met in values
        ]
        cases += [(negate(of.present), exp.null())] if of.present != ALWAYS else []
        return [(met, self.replaced(tree, lambda a, v=v: v if a == of else None)) for met, v in cases]  # type: ignore[misc]

    def of_extremes(self, tree: exp.Expr) -> exp.Expr | None:
        """How the least and the greatest value of the same items compare, as a comparison of the number of their values with
        1; None for others."""
        sides = [self.atom(bare(tree.args[key])) for key in ("this", "expression")]
        of = {atom.weights.kind: atom for atom in sides if isinstance(atom, Number)}
        least, most = of.get(MIN), of.get(MAX)
        if least is None or most is None or least.unnamed is not None or not self.releases.summable:
            return None
        same = least.values == most.values and replace(least.weights, kind=MAX) == most.weights
        if not same or not 2 <= len(least.values) <= MOST_BITS:
            return None
        listed = least.weights.by_label or ()
        weights = replace(values_of(listed), test=least.weights.test)
        if len(least.values) == len(listed):  # each item has its own
            weights = Weights(self.test_of(frozenset(item for item, _ in listed), False))
        number = self.column(Number(weights, both(least.present, most.present)))
        kind = MIRRORED.get(type(tree), type(tree)) if sides[0] is least else type(tree)
        return kind(this=number, expression=exp.Literal.number(1))

    def linear(self, tree: exp.Expr) -> Linear | None:
        """An expression as a sum of multiples of numbers and a constant; None if it is none."""
        tree = bare(tree)
        atom = self.atom(tree)
        if isinstance(atom, Number):
            return ({atom: Fraction(1)}, Fraction(0)) if atom.weights.kind == SUM else None
        if not self.atoms_of(tree):
            value = self.value(tree)
            plain = value is not None and not isinstance(value, bool | str) and hasattr(value, "__float__")
            plain = plain and isfinite(value)
            return ({}, Fraction(value)) if plain else None
        if isinstance(tree, exp.Coalesce) and self._is_never_null(tree.this):
            others = [None if self.atoms_of(one) else self.value(one) for one in tree.expressions]
            return self.linear(tree.this) if all(type(one) in (int, float, Decimal) for one in others) else None
        if isinstance(tree, exp.Neg):
            inner = self.linear(tree.this)
            return None if inner is None else _times(inner, Fraction(-1))
        if (
            isinstance(tree, exp.Cast)
            and tree.to.this in exp.DataType.NUMERIC_TYPES
            and tree.to.is_type("DOUBLE", "BIGINT", "HUGEINT")
        ):
            inner = self.linear(tree.this)
            whole = inner is not None and inner[1].denominator == 1 and all(map(_is_whole, inner[0].items()))
            return inner if tree.to.is_type("DOUBLE") or whole else None
        if not isinstance(tree, exp.Add | exp.Sub | exp.Mul | exp.Div):
            return None
        one, two = self.linear(tree.this), self.linear(tree.expression)
        if one is None or two is None:
            return None
        if isinstance(tree, exp.Add | exp.Sub):
            two = _times(two, Fraction(-1)) if isinstance(tree, exp.Sub) else two
            total = {a: one[0].get(a, Fraction(0)) + two[0].get(a, Fraction(0)) for a in {**one[0], **two[0]}}
            return total, one[1] + two[1]
        if isinstance(tree, exp.Mul) and not one[0]:
            one, two = two, one
        if two[0] or (isinstance(tree, exp.Div) and not two[1]):
            return None
        return _times(one, two[1] if isinstance(tree, exp.Mul) else 1 / two[1])

    def _is_never_null(self, tree: exp.Expr) -> bool:
        """Whether a sum of multiples of numbers is there for every person."""
        return all(isinstance(atom, Number) and atom.present == ALWAYS for atom in self.atoms_of(tree))

    def combined(self, coefficients: Mapping[Number, Fraction]) -> Weights:
        """The weights of a sum of multiples of sums over a person's items."""
        if len(coefficients) == 1:
            (atom, factor), weights = next(iter(coefficients.items())), next(iter(coefficients)).weights
            if factor == 1:
                return weights
        total: dict[str, Fraction] = {}
        for atom, factor in coefficients.items():
            weights = atom.weights
            listed = self.labels(weights.test) if weights.by_label is None else frozenset(dict(weights.by_label))
            if listed is None or weights.others != (0.0, 0.0):
                raise unsupported("a sum of several numbers of items that may be suppressed", "Name the items.")
            of = dict(weights.by_label) if weights.by_label is not None else dict.fromkeys(listed, 1.0)
            inside = self.passing(weights.test, listed)
            for label in inside:
                total[label] = total.get(label, Fraction(0)) + factor * Fraction(of[label]) / weights.scale
        if all(weight == 1 for weight in total.values()):
            return Weights(Labels(frozenset(total)))
        numbers = [(label, Decimal(w.numerator) / Decimal(w.denominator)) for label, w in total.items()]
        return weights_of([(label, value if value % 1 else int(value)) for label, value in numbers])

    @staticmethod
    def beyond(weights: Weights, limit: Fraction) -> tuple[Condition, Condition]:
        """The conditions that a sum is above a limit, and that it is not below it: of ones, on a number of items."""
        if weights.by_label is None and weights.kind == SUM:
            return at_least(limit // 1 + 1, weights.test), at_least(-(-limit // 1), weights.test)
        return on_sum(weights, float(limit), open=True), on_sum(weights, float(limit), open=False)

    def passing(self, test: ItemTest, labels: frozenset[str]) -> frozenset[str]:
        """Those of some labels that pass a test."""
        if choices(test):
            raise unsupported("values of items that a condition on their numbers keeps", "Name the items.")
        return passing(test, labels)


def condition_in(tree: exp.Expr) -> exp.Expr:
    """The expression that is cast to a condition; other expressions as they are."""
    cast = isinstance(tree, exp.Cast) and tree.to.is_type("BOOLEAN")
    inner: exp.Expr = tree.this
    return inner if cast else tree


def _is_whole(multiple: tuple[Number, Fraction]) -> bool:
    """Whether a multiple of a sum over a person's items is a whole number, whatever the items are."""
    (atom, factor), of = multiple, multiple[0].weights.by_label or ()
    return factor.denominator == 1 and atom.weights.scale == 1 and all(weight.is_integer() for _, weight in of)


def _times(sum_: Linear, factor: Fraction) -> Linear:
    return {atom: c * factor for atom, c in sum_[0].items()}, sum_[1] * factor


def is_literal(node: exp.Expr) -> bool:
    """Whether an expression is a literal, perhaps negative or with a type."""
    plain = node.unnest()
    plain = plain.this.unnest() if isinstance(plain, exp.Neg) else plain
    if isinstance(plain, exp.Cast):
        plain = plain.this
    return isinstance(plain, exp.Literal | exp.Null | exp.Boolean)


def certain(condition: Condition) -> Truth:
    """A condition that is never unknown."""
    return Truth(condition, negate(condition))


def constant_truth(value: Any) -> Truth:
    """The truth of a constant, which is unknown if it is NULL."""
    return Truth(NEVER, NEVER) if value is None else certain(ALWAYS if value else NEVER)


def has_value(truth: Truth, value: bool | None) -> Condition:
    """The condition that another one has a truth value; None for unknown."""
    if value is None:
        return NEVER if negate(truth.true) == truth.false else both(negate(truth.true), negate(truth.false))
    return truth.true if value else truth.false


def by_parts(tree: exp.Expr) -> exp.Expr | None:
    """A comparison of rows of values as one of each value, where DuckDB takes NULLs as equal; None for others."""
    if isinstance(tree, exp.In) and isinstance(tree.this, exp.Tuple) and tree.expressions:
        compared = [by_parts(exp.EQ(this=tree.this, expression=row)) for row in tree.expressions]
        return None if None in compared else exp.or_(*compared)
    if not isinstance(tree, exp.EQ | exp.NEQ):
        return None
    left, right = (side.expressions if isinstance(side, exp.Tuple) else [] for side in (tree.this, tree.expression))
    if not left or len(left) != len(right):
        return None
    equal = exp.and_(*(exp.NullSafeEQ(this=one, expression=other) for one, other in zip(left, right, strict=True)))
    return exp.not_(equal) if isinstance(tree, exp.NEQ) else equal


def by_comparisons(tree: exp.Expr) -> exp.Expr | None:
    """IN a list, and a comparison that takes NULLs as equal, by =; NULL for one with NULL, and None for others."""
    if isinstance(tree, exp.In) and tree.expressions:
        return exp.or_(*(exp.EQ(this=exp.paren(tree.this), expression=exp.paren(one)) for one in tree.expressions))
    sides = [bare(tree.args[key]) for key in ("this", "expression")] if isinstance(tree, exp.Binary) else []
    if isinstance(tree, exp.NullSafeEQ | exp.NullSafeNEQ):
        equal = exp.paren(exp.EQ(this=exp.paren(sides[0].copy()), expression=exp.paren(sides[1].copy())))
        same = exp.or_(exp.Is(this=equal, expression=exp.true()), exp.and_(*map(is_null, sides)))
        return exp.not_(same) if isinstance(tree, exp.NullSafeNEQ) else same
    compared = isinstance(tree, exp.EQ | exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE)
    return exp.null() if compared and any(isinstance(side, exp.Null) for side in sides) else None


def with_part(tree: exp.Expr, part: exp.Expr, value: exp.Expr) -> exp.Expr:
    """A copy of an expression with another one in place of a part of it."""
    copy = tree.copy()
    same = next(b for a, b in zip(tree.walk(), copy.walk(), strict=True) if a is part)
    same.replace(exp.paren(value.copy()))
    return copy


def with_number(condition: Condition, atom: Number, number: float) -> Condition:
    """A condition on persons of whom a number of items is known."""

    def decided(leaf: Condition) -> Condition:
        if isinstance(leaf, AtLeast) and atom.weights.kind == SUM and leaf.test == atom.weights.test:
            return Constant(number >= leaf.count)
        if isinstance(leaf, OnSum) and leaf.weights == atom.weights:
            return Constant(number > leaf.least if leaf.open else number >= leaf.least)
        return leaf

    return replaced(condition, decided)
