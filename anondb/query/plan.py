"""``Plan``: the meaning of a COUNT query, a condition on persons and the counted unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from anondb.query.item_tests import ItemTest, finite
from anondb.query.predicates import AtLeast, Condition, OnSum, Weights, leaves
from anondb.query.values import Attribute

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
