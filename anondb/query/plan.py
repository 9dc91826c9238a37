"""What a query asks for, once it has been read: a condition on persons, and what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anondb.query.predicates import ANY_ITEM, Condition, ItemTest, describe, describe_test
from anondb.query.values import Attribute

IDS, ROWS, ITEMS = "ids", "rows", "items"


@dataclass(frozen=True)
class Plan:
    """A COUNT query over the original table, compiled.

    Attributes:
        counts: ``ids``: the persons for whom ``condition`` holds; ``rows``: their items that pass ``test``, summed;
            ``items``: for every item that passes ``test``, the persons who have it and for whom ``condition`` holds.
        condition: on one person's set of items.
        test: of the counted or listed items; None where ids are counted.
        name: what the answer's number is called (the alias, or ``count``).
        columns: what the group column is called, empty without GROUP BY.
        descending: whether the groups are wanted in descending order.
        labels: all items that the query names.
        numbers: those that it writes as numbers instead of texts.
        notes: what the analyst should know about the reading.
        grouped: the relational attribute for each of whose values ids or rows are counted.
        other: another reading of the same query, where the query does not show which kind of table the original is (a row
            for each item, or a list for each id; NULL for some lists) and the readings differ; it may have another one.
    """

    counts: str
    condition: Condition
    test: ItemTest | None = None
    name: str = "count"
    columns: tuple[str, ...] = ()
    descending: bool = False
    labels: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    grouped: Attribute | None = None
    other: Plan | None = None

    def others(self) -> Iterator[Plan]:
        """All other readings."""
        if self.other is not None:
            yield self.other
            yield from self.other.others()

    def describe(self) -> str:
        """The condition in words close to SQL; it holds the analyst's own literals and nothing of the release."""
        text = describe(self.condition)
        if self.grouped is not None:
            text += f" and each value of {self.grouped.name!r}"
        if self.test is None:
            return text
        what = "any item" if self.test == ANY_ITEM else describe_test(self.test)
        return f"{'items' if self.counts == ROWS else 'each item'} ({what}) of persons with {text}"
