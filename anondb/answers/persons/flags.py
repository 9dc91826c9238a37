"""Variances, covariances and correlations of flags, which are 0 or 1, from averages.

DuckDB adds up deviations from running means, which differs by rounding alone: little for numbers up to 1.

It also tells from the form of an expression which numbers it may be."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce

from sqlglot import exp

from anondb.answers.persons.terms import Number
from anondb.answers.quotients import Quotient, product_of
from anondb.query.aggregates import SPREADS
from anondb.query.item_tests import Labels
from anondb.query.parsing import bare
from anondb.query.summed import SUM

PAIRS = (exp.CovarPop, exp.CovarSamp, exp.Corr)
"""Aggregates of two numbers."""


def is_flag(tree: exp.Expr) -> bool:
    """Whether an expression is CASE with no other results than 0 and 1."""
    case = tree.unnest()
    results = [branch.args["true"] for branch in case.args["ifs"]] if isinstance(case, exp.Case) else []
    return bool(results) and all(part in (exp.convert(0), exp.convert(1)) for part in [*results, case.args.get("default")])


def spread_of_flags(call: exp.Expr, average: Callable[[exp.Expr], exp.Expr], rows: Callable[[], exp.Expr]) -> exp.Expr:
    """How much flags vary, alone or together.

    Args:
        call: an aggregate of one flag, or of a pair.
        average: the average of an expression over the rows.
        rows: the number of rows.
    """
    x, y = (exp.paren(part.unnest().copy()) for part in (call.this, call.args.get("expression") or call.this))

    def together(one: exp.Expr, other: exp.Expr) -> exp.Expr:
        share = exp.paren(average(one.this))
        if one == other:
            return exp.paren(share * exp.paren(exp.convert(1) - share))
        return exp.paren(exp.paren(average(one * other)) - share * exp.paren(average(other.this)))

    kind, spread = SPREADS.get(type(call), call.key), together(x, y)
    if kind == "corr":
        return spread / exp.paren(exp.Sqrt(this=together(x, x)) * exp.Sqrt(this=together(y, y)))
    if kind.endswith("samp"):
        spread = exp.paren(spread * rows() / exp.Nullif(this=rows() - exp.convert(1), expression=exp.convert(0)))
    return exp.Sqrt(this=spread) if kind.startswith("stddev") else spread


def counted(of: Quotient, trees: Callable[[exp.Expr], Sequence[exp.Expr]]) -> Quotient:
    """A quotient by a sum of flags as one by the number of rows that have the flag; others stay as they are.

    Args:
        of: the quotient, which is not asked where there are no rows.
        trees: what an expression is in each kind of rows.
    """
    value = bare(of.below.this) if isinstance(of.below, exp.Sum) and of.also is None else None
    met = _met(value, trees) if value is not None and of.wanted is None and isinstance(of.above, exp.Sum) else None
    if value is None or met is None:
        return of
    every, factors = exp.Count(this=exp.Star()), [bare(part) for part in product_of(of.above.this)]
    rest = [part for part in factors if part != value]
    if len(rest) < len(factors):
        product = reduce(lambda one, other: exp.Mul(this=one, expression=other), [part.copy() for part in rest or [value]])
        return replace(of, above=exp.Sum(this=product), wanted=met, below=every, also=met, filled=True)
    both = _met(bare(of.above.this), trees)
    return of if both is None else replace(of, above=every, wanted=both, below=every.copy(), also=met)


def _met(value: exp.Expr, trees: Callable[[exp.Expr], Sequence[exp.Expr]]) -> exp.Expr | None:
    """The condition that a flag is 1; None for other expressions."""
    cases = [tree.unnest() for tree in trees(value)]
    if not all(map(is_flag, cases)):
        return None
    branches = cases[0].args["ifs"]
    alone = len(cases) == len(branches) == 1 and branches[0].args["true"] == exp.convert(1)
    return exp.paren(branches[0].this.copy() if alone else exp.EQ(this=value.copy(), expression=exp.convert(1)))


Atom = Callable[[exp.Expr], object]
Ends = tuple[float, float, bool]
"""The least and the greatest number, and whether it is whole."""


def ends_of(trees: Iterable[exp.Expr], atom: Atom) -> Ends:
    """The least and the greatest number that expressions may be where they are not NULL, infinite where their form does not
    tell, and whether they are whole.

    Args:
        trees: the expressions, over atoms.
        atom: the atom that a name stands for.
    """
    return _around([_ends_of(tree, atom) or (-math.inf, math.inf, False) for tree in trees])


def _around(numbers: Sequence[Ends]) -> Ends:
    """The ends of numbers each of which is one of some."""
    lows, highs, whole = zip(*numbers, strict=True)
    return min(lows), max(highs), all(whole)


def _ends_of(tree: exp.Expr, atom: Atom) -> Ends | None:
    tree = bare(tree)
    if isinstance(tree, exp.Literal) and not tree.is_string:
        return float(tree.name), float(tree.name), bool(tree.is_int)
    if isinstance(of := atom(tree), Number):
        counts, test = of.weights.kind == SUM and of.weights.by_label is None, of.weights.test
        return (0, len(test.labels) if isinstance(test, Labels) else math.inf, True) if counts else None
    if isinstance(tree, exp.Case) and tree.this is None:
        values = [branch.args["true"] for branch in tree.args["ifs"]] + [tree.args.get("default") or exp.null()]
        ends = [_ends_of(value, atom) for value in values if not isinstance(bare(value), exp.Null)]
        return _around([of for of in ends if of is not None]) if ends and None not in ends else None
    if not isinstance(tree, exp.Add | exp.Sub | exp.Mul):
        return None
    one, two = _ends_of(tree.left, atom), _ends_of(tree.right, atom)
    if one is None or two is None:
        return None
    combine = {exp.Add: operator.add, exp.Sub: operator.sub, exp.Mul: operator.mul}[type(tree)]
    results = [combine(a, b) for a in one[:2] for b in two[:2] if not math.isnan(combine(a, b))]
    return min(results), max(results), one[2] and two[2]
