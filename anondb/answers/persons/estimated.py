"""Comparisons of persons with a number that a release does not tell: ``n > (SELECT avg(n) FROM ...)``.

The number is one and the same for all persons, between two ends. A comparison of expressions that are straight lines in it
is true for a person whatever it is where it is true at both ends, and never true where it is true at neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.answers.persons.terms import Estimate, Truth
from anondb.query.item_tests import Choice, finite, item_not
from anondb.query.predicates import NEVER, OnItem, both, chosen, either, negate, on_item, rows_of
from anondb.query.refusals import unsupported

if TYPE_CHECKING:
    from anondb.answers.persons.conditions import Conditions

MOST_ESTIMATES = 3  # numbers in one comparison, each at both of its ends
_ORDERS = (exp.GT, exp.GTE, exp.LT, exp.LTE)
COMPARED = (*_ORDERS, exp.EQ, exp.NEQ, exp.Between)
_STRAIGHT = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Paren)


def by_estimates(tree: exp.Expr, reader: Conditions) -> Truth | None:
    """When a comparison with such numbers is true, and when it is false; None for other conditions.

    Raises:
        InputError: ``unsupported_query``: another condition on such a number.
    """
    columns = [c for c in tree.find_all(exp.Column) if isinstance(reader.atom(c), Estimate)]
    if not columns:
        return None
    if (parts := _parts(tree)) is not None:
        both_hold = exp.and_(*(reader.column(by_estimates(part, reader) or reader.decided(part)) for part in parts))
        equal = reader.decided(both_hold)
        return equal.opposite if isinstance(tree, exp.NEQ) else equal
    numbers = list(dict.fromkeys(atom for c in columns if isinstance(atom := reader.atom(c), Estimate)))
    straight = len(numbers) == len(columns) and all(_is_straight(column, tree) for column in columns)
    if not straight or len(numbers) > MOST_ESTIMATES:
        raise unsupported("a comparison of persons with an estimate", "Compare the result of two queries.")
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
    test, (row,) = Choice(frozenset.intersection(*known), frozenset.union(*known)), rows
    return Truth(on_item(row, test), on_item(row, item_not(test)))


def _parts(tree: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The comparisons that equality, inequality and BETWEEN consist of; None for others."""
    if isinstance(tree, exp.Between):
        low, high = (tree.args[key].copy() for key in ("low", "high"))
        return exp.GTE(this=tree.this.copy(), expression=low), exp.LTE(this=tree.this.copy(), expression=high)
    if isinstance(tree, exp.EQ | exp.NEQ):
        return exp.GTE(**tree.copy().args), exp.LTE(**tree.copy().args)
    return None


def _is_straight(column: exp.Expr, tree: exp.Expr) -> bool:
    """Whether a side of a comparison is a straight line in one of its columns."""
    node = column
    while node.parent is not None and node.parent is not tree:
        if not (isinstance(node.parent, _STRAIGHT) or (isinstance(node.parent, exp.Div) and node.arg_key == "this")):
            return False
        node = node.parent
    return True
