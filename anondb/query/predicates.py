"""The condition of a COUNT query on one person, as a small tree of conditions on a set of items.

A condition on a person has leaves ``AtLeast(n, test)``: the person has at least n distinct items that pass the test
(``query/item_tests.py``). While a SELECT is being read, a tree may also have leaves ``OnItem(row, test)``, conditions on the
item of one row of its FROM clause, of which "such rows exist" makes leaves ``AtLeast``.

Leaves ``OnSum`` are conditions on a sum over the person's items, leaves ``OnValue`` on a relational value of the person,
leaves ``Chosen`` on a number that the release does not tell; the constructors and ``leaves`` treat unknown nodes as leaves.

``Plan`` is the meaning of a COUNT query: a condition and the counted unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import ceil, floor, fsum
from typing import Any

from anondb.query.item_tests import ANY_ITEM, NO_ITEM, ItemTest, Labels, finite, item_all, item_any, item_not, within
from anondb.query.values import Attribute, OnValue

MAX_PARTS = 30  # of a conjunction, that are compared with each other


@dataclass(frozen=True)
class Constant:
    """Always, or never."""

    value: bool


@dataclass(frozen=True)
class AtLeast:
    """The person has at least ``count`` >= 1 distinct items that pass the test."""

    count: int
    test: ItemTest


@dataclass(frozen=True)
class Weights:
    """The sum of the weights of a person's items, or what else they make together.

    Attributes:
        test: the items that count.
        by_label: the weight of each item; None if each has the weight 1. Other items weigh nothing.
        scale: how many times the numbers of the query's table the weights are, so that decimal numbers are whole weights.
        error: at most how much rounding may change a sum over a person's items.
        kind: ``sum``; or ``max`` or ``min`` of the weights, each person having one; or ``values``: the number of different
            bits of the weights (``merged``).
        others: what suppressed items without a weight here, any number of them, may add at least and at most to a sum.
    """

    test: ItemTest
    by_label: tuple[tuple[str, float], ...] | None = None
    scale: int = 1
    error: float = 0.0
    kind: str = "sum"
    others: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class OnSum:
    """The sum of the weights of a person's items is above a number, or equal to it unless ``open``."""

    weights: Weights
    least: float
    open: bool


@dataclass(frozen=True)
class OnItem:
    """The item of row ``row`` of the FROM clause passes the test."""

    row: int
    test: ItemTest


@dataclass(frozen=True)
class Chosen:
    """A condition that depends on the original: it is true where ``certain`` is, and where ``possible`` is at most."""

    certain: Condition
    possible: Condition


@dataclass(frozen=True)
class Not:
    """The negation of a condition."""

    part: Condition


@dataclass(frozen=True)
class And:
    """The conjunction of two or more conditions."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    """The disjunction of two or more conditions."""

    parts: tuple[Condition, ...]


Condition = Constant | AtLeast | OnSum | OnItem | OnValue | Chosen | Not | And | Or
ALWAYS, NEVER = Constant(True), Constant(False)


def at_least(count: int, test: ItemTest) -> Condition:
    """``AtLeast``, or a constant if the number of labels decides the condition."""
    labels = finite(test)
    if count <= 0:
        return ALWAYS
    return NEVER if labels is not None and count > len(labels) else AtLeast(count, test)


NOT_EMPTY = at_least(1, ANY_ITEM)


def on_sum(weights: Weights, least: float, *, open: bool) -> Condition:
    """``OnSum``, a constant if the weights of all items decide it, or ``AtLeast`` if any item with a weight is enough, of
    which none is negative. Above 2 is at least 3 if all weights are whole."""
    if weights.by_label is None or weights.kind != "sum":
        return OnSum(weights, least, open)
    listed = [weight for _, weight in weights.by_label]
    low = fsum(min(weight, 0.0) for weight in listed) + weights.others[0] - weights.error
    high = fsum(max(weight, 0.0) for weight in listed) + weights.others[1] + weights.error
    if not weights.error and all(weight.is_integer() for weight in (*listed, *weights.others)):
        least, open = float(floor(least) + 1 if open else ceil(least)), False
    if least > high or (open and least == high):
        return NEVER
    if least < low or (not open and least == low):
        return ALWAYS
    adding = {label: weight for label, weight in weights.by_label if weight > 0}
    exact = min(listed, default=0.0) >= 0 and not weights.error and weights.others == (0.0, 0.0)
    if exact and all(weight > least or (not open and weight == least) for weight in adding.values()):
        return at_least(1, item_all(weights.test, Labels(frozenset(adding))))
    return OnSum(weights, least, open)


def on_item(row: int, test: ItemTest) -> Condition:
    """``OnItem``, or a constant if every item or no item passes."""
    return ALWAYS if test == ANY_ITEM else NEVER if test == NO_ITEM else OnItem(row, test)


def negate(condition: Condition) -> Condition:
    """The negation of a condition, with negations moved down to the leaves."""
    if isinstance(condition, Constant):
        return Constant(not condition.value)
    if isinstance(condition, OnItem):
        return on_item(condition.row, item_not(condition.test))
    if isinstance(condition, OnValue):
        return condition.opposite()
    if isinstance(condition, Chosen):
        return Chosen(negate(condition.possible), negate(condition.certain))
    if isinstance(condition, Not):
        return condition.part
    if isinstance(condition, And):
        return either(*(negate(p) for p in condition.parts))
    if isinstance(condition, Or):
        return both(*(negate(p) for p in condition.parts))
    return Not(condition)


def chosen(certain: Condition, possible: Condition) -> Condition:
    """``Chosen``, or the condition that both are."""
    return certain if certain == possible else Chosen(certain, possible)


def implies(condition: Condition, leaf: AtLeast) -> bool:
    """Whether a person for whom a condition holds has as many items that pass the test of a leaf."""
    if isinstance(condition, AtLeast):
        return condition.count >= leaf.count and within(condition.test, leaf.test)
    if isinstance(condition, And):
        return any(implies(p, leaf) for p in condition.parts)
    return isinstance(condition, Or) and all(implies(p, leaf) for p in condition.parts)


def _is_denied(condition: Condition, others: Sequence[Condition]) -> bool:
    """Whether a person for whom other conditions hold has too many items for a condition."""
    leaf = condition.part if isinstance(condition, Not) else None
    return isinstance(leaf, AtLeast) and any(implies(other, leaf) for other in others)


def _flat(kind: type[And] | type[Or], conditions: tuple[Condition, ...]) -> list[Condition]:
    """The parts of conditions of a kind, and the other conditions, each once."""
    parts = (part for c in conditions for part in (c.parts if isinstance(c, kind) else (c,)))
    return list(dict.fromkeys(parts))


def _merged(kind: type[And] | type[Or], parts: list[Condition]) -> list[Condition]:
    """Merge the tests of each row into one leaf, and the thresholds of each test into one."""
    join, pick = (item_all, max) if kind is And else (item_any, min)
    rows: dict[int, ItemTest] = {}
    counts: dict[ItemTest, int] = {}
    others: list[Condition] = []
    for part in parts:
        if isinstance(part, OnItem):
            rows[part.row] = join(rows[part.row], part.test) if part.row in rows else part.test
        elif isinstance(part, AtLeast):
            counts[part.test] = pick(counts[part.test], part.count) if part.test in counts else part.count
        else:
            others.append(part)
    leaves: list[Condition] = [on_item(r, t) for r, t in rows.items()]
    return leaves + [AtLeast(n, t) for t, n in counts.items()] + others


def both(*conditions: Condition) -> Condition:
    """The conjunction of conditions."""
    parts = _merged(And, _flat(And, conditions))
    values = combinations((p for p in parts if isinstance(p, OnValue)), 2)
    if NEVER in parts or any(a.attribute == b.attribute and a.excludes(b) for a, b in values):
        return NEVER
    parts = [p for p in parts if p != ALWAYS]
    for leaf in [p for p in parts if isinstance(p, AtLeast) and (len(parts) <= MAX_PARTS or p == NOT_EMPTY)]:
        if any(implies(p, leaf) for p in parts if p is not leaf):
            parts.remove(leaf)
    if len(parts) <= MAX_PARTS and any(_is_denied(p, parts) for p in parts):
        return NEVER
    for part in [p for p in parts if isinstance(p, Or) and len(parts) <= MAX_PARTS]:
        rest = [p for p in parts if p is not part]
        kept = [branch for branch in part.parts if not _is_denied(branch, rest)]
        if len(kept) < len(part.parts):
            return both(*rest, either(*kept))
    return ALWAYS if not parts else parts[0] if len(parts) == 1 else And(tuple(parts))


def either(*conditions: Condition) -> Condition:
    """The disjunction of conditions."""
    parts = _merged(Or, _flat(Or, conditions))
    if ALWAYS in parts:
        return ALWAYS
    parts = [p for p in parts if p != NEVER]
    return NEVER if not parts else parts[0] if len(parts) == 1 else Or(tuple(parts))


def has(*labels: str) -> Condition:
    """The condition that the person has one of the labels."""
    return at_least(1, Labels(frozenset(labels)))


def met_by(condition: Condition) -> ItemTest:
    """The test of items any one of which meets a condition of its person, whatever else they have."""
    if isinstance(condition, Constant):
        return ANY_ITEM if condition.value else NO_ITEM
    if isinstance(condition, AtLeast):
        return condition.test if condition.count == 1 else NO_ITEM
    if isinstance(condition, And | Or):
        return (item_all if isinstance(condition, And) else item_any)(*map(met_by, condition.parts))
    return NO_ITEM


def leaves(condition: Condition) -> Iterator[Condition]:
    """The leaves, from left to right."""
    if isinstance(condition, And | Or):
        for part in condition.parts:
            yield from leaves(part)
    elif isinstance(condition, Not):
        yield from leaves(condition.part)
    else:
        yield condition


def rows_of(condition: Condition) -> frozenset[int]:
    """The rows in a condition."""
    return frozenset(leaf.row for leaf in leaves(condition) if isinstance(leaf, OnItem))


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The parts of a conjunction, or the condition alone."""
    return condition.parts if isinstance(condition, And) else (condition,)


def renamed(condition: Condition, rows: Mapping[int, int]) -> Condition:
    """The condition with its rows renumbered."""
    return replaced(
        condition, lambda leaf: replace(leaf, row=rows.get(leaf.row, leaf.row)) if isinstance(leaf, OnItem) else leaf
    )


def replaced(condition: Condition, leaf_of: Callable[[Condition], Condition]) -> Condition:
    """The condition with other leaves, also in those that depend on the original."""
    if isinstance(condition, Not):
        return negate(replaced(condition.part, leaf_of))
    if isinstance(condition, And):
        return both(*(replaced(part, leaf_of) for part in condition.parts))
    if isinstance(condition, Or):
        return either(*(replaced(part, leaf_of) for part in condition.parts))
    leaf = leaf_of(condition)
    if isinstance(leaf, Chosen) and leaf is condition:
        return chosen(replaced(leaf.certain, leaf_of), replaced(leaf.possible, leaf_of))
    return leaf


def decided(condition: Condition, truths: Mapping[Any, bool]) -> Condition:
    """The condition, with constants in place of leaves whose truth is decided."""
    return replaced(condition, lambda leaf: Constant(truths[leaf]) if leaf in truths else leaf)


def settled(condition: Condition) -> Condition:
    """The condition as a complete one (in WHERE and the like): leaves that are unknown because of a NULL become false.

    This is correct because negations are at the leaves: replacing unknown by false changes no AND or OR from or to true.
    """
    return replaced(condition, lambda leaf: leaf.settled() if isinstance(leaf, OnValue) else leaf)


def split(condition: Condition) -> tuple[dict[int, ItemTest], Condition, list[Condition]]:
    """Split a conjunction: the tests of single rows, the conditions on the person only, and parts that mix these."""
    rows: dict[int, ItemTest] = {}
    person: list[Condition] = []
    mixed: list[Condition] = []
    for part in conjuncts(condition):
        if isinstance(part, OnItem):
            rows[part.row] = part.test
        elif rows_of(part):
            mixed.append(part)
        else:
            person.append(part)
    return rows, both(*person), mixed


IDS, ROWS, ITEMS, PAIRS, MEASURE = "ids", "rows", "items", "pairs", "measure"


@dataclass(frozen=True)
class Plan:
    """A COUNT query over the original table, compiled.

    Attributes:
        counts: ``ids``: the persons for whom ``condition`` holds; ``rows``: their items that pass ``test``, summed;
            ``items``: for every item that passes ``test``, the persons who have it and for whom ``condition`` holds;
            ``pairs``: for every two items that pass ``test`` and ``second``, the persons who have both;
            ``measure``: no count but an aggregate of ``measure`` over the persons for whom ``condition`` holds.
        condition: on one person's set of items.
        test: the test of the counted or listed items; None if ids are counted.
        second: the test of the second of two listed items.
        most: how many of the most frequent pairs of items are wanted, by the order of ``query/pairs``; None for all.
        signs: how the first of two listed items may compare with the second: ``less``, ``equal``, ``greater``.
        labels: all items that the query names.
        notes: remarks for the analyst on the interpretation.
        grouped: the relational attribute in GROUP BY, if any.
        measure: the numbers of persons to aggregate: sums over their items, a relational attribute, or 1 where a condition
            holds and else 0; None for 1 each.
        aggregate: ``sum``, ``avg``, ``min``, ``max``, ``quantile_cont`` or ``quantile_disc``; ``histogram`` for the number
            of persons with each number of items.
        share: of a quantile, the share of the persons with smaller numbers.
        some: whether an aggregate is asked of originals with such persons alone: in others it is NULL, or has no row.
        rows_alone: whether item supports are left out, as in one of many numbers that are added up: they take long.
    """

    counts: str
    condition: Condition
    test: ItemTest | None = None
    second: ItemTest | None = None
    signs: frozenset[str] = frozenset()
    most: int | None = None
    labels: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    grouped: Attribute | None = None
    measure: Weights | Attribute | Condition | None = None
    aggregate: str = ""
    share: Fraction | None = None
    some: bool = False
    rows_alone: bool = False

    @property
    def conditions(self) -> list[Condition]:
        """The condition, and the one that a measure is."""
        measured = None if isinstance(self.measure, Weights | Attribute) else self.measure
        return [self.condition, *([] if measured is None else [measured])]

    @property
    def tests(self) -> list[ItemTest]:
        """The tests of items, in the condition and of what is counted."""
        of = list(leaves(self.condition))
        tests = [leaf.test for leaf in of if isinstance(leaf, AtLeast)]
        tests += [leaf.weights.test for leaf in of if isinstance(leaf, OnSum)]
        tests += [self.measure.test] if isinstance(self.measure, Weights) else []
        return [*tests, *(test for test in (self.test, self.second) if test is not None)]

    @property
    def counts_any(self) -> bool:
        """Whether it lists numbers of items of any kind, to which suppressed ones may add any number."""
        weights = self.measure if self.aggregate == "histogram" and isinstance(self.measure, Weights) else None
        return weights is not None and weights.by_label is None and finite(weights.test) is None
