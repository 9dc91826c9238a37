"""Better answers from the item supports of a release (docs/item_supports.md#answers).

Bounds are the intersection of those of the rows (``query/evaluate``) with those that follow from ``count_bounds`` of sets of
items: a conjunction of items has its bounds; NOT has the number of transactions less the bounds; AND and OR of other
conditions have what holds whatever they have in common. So they are sound, and not always the best possible. The estimate of
a condition on at most ``MAX_ITEMS`` items is the sum over the combinations of items that satisfy it, by inclusion and
exclusion of the estimates of ``count_bounds``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from math import fsum

from sqlglot import exp

from anondb.query.cached_release import Opened
from anondb.query.item_counts import ItemRow
from anondb.query.plan import IDS, ROWS, Plan
from anondb.query.predicates import (
    And,
    AtLeast,
    Condition,
    Constant,
    Labels,
    Not,
    Or,
    at_least,
    finite,
    leaves,
    replaced,
)
from anondb.query.totals import Bounds, clip

MAX_ITEMS = 6  # 63 sets of items
MAX_CALLS = 26  # the sets of two or more of five items
Items = frozenset[str]


class SupportedAnswers:
    """Sharpens the answers of a release with item supports."""

    def __init__(self, release: Opened) -> None:
        self._release = release
        self._known: dict[Items, Bounds] = {}

    def scalar(self, plan: Plan, bounds: Bounds) -> Bounds:
        """A query with a single number, whose bounds and estimate from the rows alone are known."""
        if plan.counts == ROWS:
            return self._rows(plan, bounds) if plan.condition == Constant(True) else bounds
        assert plan.counts == IDS
        plan = replace(plan, condition=replaced(plan.condition, self._listed))
        named = [leaf.test for leaf in leaves(plan.condition) if isinstance(leaf, AtLeast)]
        items = frozenset[str]().union(*(test.labels for test in named if isinstance(test, Labels)))
        if not items or len(items) > MAX_ITEMS:
            return bounds
        self._ask(items)
        low, high = self._bounds(plan.condition)
        expected = self._estimate(plan.condition, sorted(items)) if self._is_of(plan.condition, items) else bounds[1]
        return clip(max(bounds[0], low), expected, min(bounds[2], high))

    def _listed(self, leaf: Condition) -> Condition:
        """A condition on items that pass a test as one on these items by name, if they are known and few."""
        if not isinstance(leaf, AtLeast) or isinstance(leaf.test, Labels):
            return leaf
        labels = finite(leaf.test)
        if labels is None and self._release.suppressed:
            return leaf
        passing = self._release.passing([leaf.test])
        few = frozenset(passing.first(self._release.images.keys() if labels is None else labels))
        return at_least(leaf.count, Labels(few)) if len(few) <= MAX_ITEMS else leaf

    def by_item(self, plan: Plan, rows: Sequence[ItemRow]) -> Sequence[ItemRow]:
        """GROUP BY item: each item without a condition on its persons."""
        if plan.condition != Constant(True):
            return rows
        answers: list[ItemRow] = []
        for item, lower, _, upper in rows:
            low, expected, high = self._alone[item]
            answers.append((item, *clip(max(lower, low), expected, min(upper, high))))
        return answers

    def _rows(self, plan: Plan, bounds: Bounds) -> Bounds:
        """A number of rows is the sum of the supports of the items that pass its test."""
        assert plan.test is not None
        passing = self._release.passing([plan.test])
        listed = [self._alone[item] for item in passing.first(self._release.images.keys())]
        high = sum(b[2] for b in listed)
        if self._release.suppressed:  # each item without a released item may be anywhere
            named = passing.special.items()
            high += self._release.size * sum(p[0] for label, p in named if label not in self._release.images)
            high = bounds[2] if any(passing.usual) else high
        return clip(max(bounds[0], sum(b[0] for b in listed)), fsum(b[1] for b in listed), min(bounds[2], high))

    # ------------------------------------------------------------------ bounds and estimates of sets of items

    @cached_property
    def _alone(self) -> Mapping[str, Bounds]:
        """What ``item_counts`` says of each item."""
        counts = self._release.engine.query(
            "query/item_counts", {"item_counts": self._release.schema.table("item_counts")}
        )
        return {item: bounds for item, *bounds in zip(*(c.tolist() for c in counts.values()), strict=True)}  # type: ignore[misc]

    def _ask(self, items: Items) -> None:
        """Ask ``count_bounds`` of all sets of these items that are not known yet.

        One call costs as much as reading the rows; a statement for a table of sets costs as much as some thirty calls.
        """
        self._known |= {frozenset({item}): self._alone[item] for item in items if item in self._alone}
        sets = [frozenset(some) for n in range(1, len(items) + 1) for some in combinations(sorted(items), n)]
        unknown = [some for some in sets if some not in self._known]
        if not unknown:
            return
        with self._as_current():
            if len(unknown) > MAX_CALLS:
                self._ask_all(unknown)
                return
            for some in unknown:
                tree = exp.select("lower_bound", "estimate", "upper_bound").from_(self._count_bounds(_array(some)))
                rows = self._release.engine.select(tree, "the bounds of a set of items")
                lower, expected, upper = (column.tolist()[0] for column in rows.values())
                self._known[some] = lower, expected, upper

    @contextlib.contextmanager
    def _as_current(self) -> Iterator[None]:
        """The release's database as the current one, as its macros need it; of several files of a session none is."""
        engine, catalog = self._release.engine, self._release.schema.catalog
        before = engine.scalar("release/current_catalog")
        if before == catalog:
            yield
            return
        engine.use(catalog, checked=True)
        try:
            yield
        finally:
            engine.use(str(before), checked=True)

    def _ask_all(self, unknown: Sequence[Items]) -> None:
        """Ask ``count_bounds`` of many sets in one statement."""
        asked = [exp.Tuple(expressions=[exp.convert(n), _array(some)]) for n, some in enumerate(unknown)]
        columns = [exp.to_identifier(name) for name in ("n", "asked")]
        values = exp.Values(expressions=asked, alias=exp.TableAlias(this=exp.to_identifier("sets"), columns=columns))
        bounds = self._count_bounds(exp.column("asked", "sets"))
        tree = exp.select(exp.column("n", "sets"), "lower_bound", "estimate", "upper_bound").from_(values)
        answers = self._release.engine.select(tree.join(bounds, join_type="cross"), "the bounds of sets of items")
        for n, *three in zip(*(column.tolist() for column in answers.values()), strict=True):
            self._known[unknown[n]] = (three[0], three[1], three[2])

    def _count_bounds(self, items: exp.Expr) -> exp.Expr:
        """A call of the release's macro."""
        call = exp.Anonymous(this="count_bounds", expressions=[items])
        db = exp.to_identifier(self._release.schema.name, quoted=True)
        return exp.alias_(exp.Table(this=call, db=db), "bounds", table=True)

    def _bounds(self, condition: Condition) -> tuple[int, int]:
        """Bounds of the number of transactions that satisfy a condition."""
        size = self._release.size
        if isinstance(condition, Constant):
            return (size, size) if condition.value else (0, 0)
        if isinstance(condition, Not):
            low, high = self._bounds(condition.part)
            return size - high, size - low
        if isinstance(condition, AtLeast) and isinstance(condition.test, Labels):
            return self._some_of(condition.test.labels, condition.count)
        if isinstance(condition, And):
            return self._all_of(condition.parts)
        if isinstance(condition, Or):
            parts = [self._bounds(part) for part in condition.parts]
            return max(low for low, _ in parts), min(size, sum(high for _, high in parts))
        return 0, size

    def _some_of(self, labels: Items, count: int) -> tuple[int, int]:
        """Bounds for at least ``count`` of some items."""
        if count > len(labels):
            return 0, 0
        sets = [self._known[frozenset(some)] for some in combinations(sorted(labels), count)]
        return max(b[0] for b in sets), min(self._release.size, sum(b[2] for b in sets))

    def _all_of(self, parts: Iterable[Condition]) -> tuple[int, int]:
        """Bounds for a conjunction: the items that it demands together, and the other conditions."""
        demanded, others = frozenset[str](), []
        for part in parts:
            if isinstance(part, AtLeast) and isinstance(part.test, Labels) and part.count == len(part.test.labels):
                demanded |= part.test.labels
            else:
                others.append(self._bounds(part))
        if demanded:
            others.append((self._known[demanded][0], self._known[demanded][2]))
        missing = sum(self._release.size - low for low, _ in others)
        return max(0, self._release.size - missing), min(high for _, high in others)

    @staticmethod
    def _is_of(condition: Condition, items: Items) -> bool:
        """Whether only these items matter."""
        tests = [leaf.test if isinstance(leaf, AtLeast) else None for leaf in leaves(condition)]
        return all(isinstance(test, Labels) and test.labels <= items for test in tests)

    def _estimate(self, condition: Condition, items: Sequence[str]) -> float:
        """The expected number of transactions that satisfy a condition on these items alone."""
        everything = {frozenset(some) for n in range(len(items) + 1) for some in combinations(items, n)}
        holding = {some: self._known[some][1] if some else float(self._release.size) for some in everything}
        exactly = {
            some: fsum((-1) ** (len(more) - len(some)) * holding[more] for more in everything if some <= more)
            for some in everything
        }
        return fsum(max(exactly[some], 0.0) for some in everything if _satisfied(condition, some))


def _array(items: Items) -> exp.Expr:
    """A list of items in SQL."""
    return exp.cast(exp.convert(sorted(items)), "TEXT[]")


def _satisfied(condition: Condition, held: Items) -> bool:
    """Whether a person who holds exactly these of the named items satisfies a condition."""
    if isinstance(condition, Constant):
        return condition.value
    if isinstance(condition, Not):
        return not _satisfied(condition.part, held)
    if isinstance(condition, AtLeast):
        assert isinstance(condition.test, Labels)
        return len(condition.test.labels & held) >= condition.count
    assert isinstance(condition, And | Or)
    parts = (_satisfied(part, held) for part in condition.parts)
    return all(parts) if isinstance(condition, And) else any(parts)
