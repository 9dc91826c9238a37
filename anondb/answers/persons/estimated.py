"""Comparisons of persons with a number that a release does not tell: ``n > (SELECT avg(n) FROM ...)``.

The number is one and the same for all persons, between two ends. A comparison of expressions that only rise, or only fall,
with it is true for a person whatever it is where it is true at both ends, and never true where it is true at neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.answers.persons.terms import WITH_ESTIMATE, Estimate, Truth
from anondb.query.item_tests import Choice, ItemTest, Labels, finite, item_not
from anondb.query.parsing import bare
from anondb.query.predicates import NEVER, OnItem, both, chosen, either, negate, on_item, rows_of
from anondb.query.refusals import unsupported

if TYPE_CHECKING:
    from anondb.answers.persons.conditions import Conditions

MOST_ESTIMATES = 3  # numbers in one comparison, each at both of its ends
_ORDERS = (exp.GT, exp.GTE, exp.LT, exp.LTE)
COMPARED = (*_ORDERS, exp.EQ, exp.NEQ, exp.Between)
_OPERATORS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren)


def by_estimates(tree: exp.Expr, reader: Conditions) -> Truth | None:
    """When a comparison with such numbers is true, and when it is false; None for other conditions.

    Raises:
        InputError: ``unsupported_query``: another condition on such a number.
    """
    columns = [c for c in tree.find_all(exp.Column) if isinstance(reader.atom(c), Estimate)]
    if not columns:
        return None
    if (of_parts := _parts(tree)) is not None:
        connected, parts = of_parts
        truth = reader.decided(connected(*(reader.column(by_estimates(p, reader) or reader.decided(p)) for p in parts)))
        return truth.opposite if isinstance(tree, exp.NEQ) else truth
    numbers = list(dict.fromkeys(atom for c in columns if isinstance(atom := reader.atom(c), Estimate)))
    plain = len(numbers) == len(columns) and all(_rises_or_falls(column, tree, reader) for column in columns)
    if not plain or len(numbers) > MOST_ESTIMATES:
        raise unsupported(*WITH_ESTIMATE)
    cases = []
    for ends in product(*((number.low, number.high) for number in numbers)):
        of = dict(zip(numbers, ends, strict=True))
        cases.append(reader.decided(reader.replaced(tree, lambda atom, of=of: of.get(atom))))  # type: ignore[misc]
    there = all(number.there for number in numbers)
    if any(rows_of(way) for case in cases for way in (case.true, case.false)):
        return _of_items(cases if there else [])
    ways = ([case.true for case in cases], [case.false for case in cases])
    return Truth(*(chosen(both(*way) if there else NEVER, either(*way)) for way in ways))


def _of_items(cases: Sequence[Truth]) -> Truth:
    """The condition on the item of a row, from what it is at the ends of the numbers."""
    tests = [finite(case.true.test) if isinstance(case.true, OnItem) else None for case in cases]
    listed = [frozenset[str]() if case.true == NEVER else test for case, test in zip(cases, tests, strict=True)]
    rows = {row for case in cases for row in rows_of(case.true)}
    known = [labels for labels in listed if labels is not None]
    if len(rows) != 1 or len(known) < len(cases) or any(case.false != negate(case.true) for case in cases):
        raise unsupported("a comparison of items with an estimate", "Compare the result of two queries.")
    return one_of_chosen(rows.pop(), frozenset.intersection(*known), frozenset.union(*known))


def one_of_chosen(row: int, certain: frozenset[str], possible: frozenset[str]) -> Truth:
    """Whether the item of a row is one of those that the original decides: these for certain, and these at most."""
    test: ItemTest = Labels(possible) if possible == certain else Choice(certain, possible)
    return Truth(on_item(row, test), on_item(row, item_not(test)))


def _parts(tree: exp.Expr) -> tuple[Callable[..., exp.Expr], list[exp.Expr]] | None:
    """The comparisons that equality, inequality, BETWEEN and those of ``abs(x)``, the greater of x and -x, consist of, and
    how these are connected; None for others."""
    if isinstance(tree, exp.Between):
        low, high = (tree.args[key].copy() for key in ("low", "high"))
        return exp.and_, [exp.GTE(this=tree.this.copy(), expression=low), exp.LTE(this=tree.this.copy(), expression=high)]
    if isinstance(tree, exp.EQ | exp.NEQ):
        return exp.and_, [exp.GTE(**tree.copy().args), exp.LTE(**tree.copy().args)]
    for key in ("this", "expression"):
        if isinstance(bare(tree.args[key]), exp.Abs):
            parts = [tree.copy(), tree.copy()]
            for part, sign in zip(parts, (exp.Paren, exp.Neg), strict=True):
                part.set(key, sign(this=exp.paren(bare(part.args[key]).this)))
            above = isinstance(tree, exp.GT | exp.GTE) is (key == "this")
            return exp.or_ if above else exp.and_, parts
    return None


def _rises_or_falls(column: exp.Expr, tree: exp.Expr, reader: Conditions) -> bool:
    """Whether a side of a comparison only rises, or only falls, with one of its columns, whatever the others are."""
    node, number = column, reader.atom(column)
    while node.parent is not None and node.parent is not tree:
        if isinstance(node.parent, exp.Div) and node.arg_key == "expression":
            if bare(node) is not column or not isinstance(number, Estimate) or not reader.value(number.low) > 0:
                return False
        elif not isinstance(node.parent, _OPERATORS):
            return False
        node = node.parent
    return True
