"""What the form of an expression tells of the numbers that it may be."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from anondb.answers.persons.terms import Number
from anondb.query.item_tests import Labels
from anondb.query.parsing import bare
from anondb.query.summed import SUM

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
