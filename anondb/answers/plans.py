"""Answers plans over the releases of a session, whose counts add up: their persons are disjoint. Answers are kept: the
files of a session never change. Notes say which items of a plan no released item stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set, Sized
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from itertools import product
from typing import Generic, TypeVar

from sqlglot import exp

from anondb.answers.persons.aggregates import LISTED_NOTE
from anondb.answers.persons.counts import Bounds, Row
from anondb.answers.persons.terms import WITH_ESTIMATE, OnPart
from anondb.query import Plan
from anondb.query.answer import Answer, aggregate_of, answer_plan, check_time
from anondb.query.by_item import ItemCounts, added
from anondb.query.cached_release import Opened
from anondb.query.held_sums import labels_of
from anondb.query.item_tests import Choice, ItemTest, Labels, choices, with_atoms
from anondb.query.predicates import (
    ITEMS,
    NEVER,
    PAIRS,
    AtLeast,
    Chosen,
    Condition,
    OnSum,
    Weights,
    at_least,
    decided,
    leaves,
    replaced,
)
from anondb.query.refusals import unsupported
from anondb.query.summed import SUM
from anondb.query.values import Attribute

MAX_KEPT, MAX_ROWS_KEPT = 64, 5_000  # values that are kept, and the rows of one

VARYING = (
    *(exp.CurrentDate, exp.CurrentDatabase, exp.CurrentSchema, exp.CurrentSchemas, exp.CurrentTime),
    *(exp.CurrentTimestamp, exp.Localtime, exp.Localtimestamp, exp.Anonymous, exp.Rand, exp.Uuid),
)
"""Functions of which the same call may return another value; a function that sqlglot does not know may be one."""

V = TypeVar("V", bound=Sized)


class Kept(Generic[V]):
    """A cache of the most recent values; long values are not kept."""

    def __init__(self) -> None:
        self._values: dict[Hashable, V] = {}

    def find(self, key: Hashable) -> V | None:
        """The value of a key; None if it is not kept."""
        return self._values.get(key)

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a key, which is made unless it is kept."""
        value = self._values.pop(key) if key in self._values else make()
        if len(value) <= MAX_ROWS_KEPT:
            self._values[key] = value
            if len(self._values) > MAX_KEPT:
                del self._values[next(iter(self._values))]
        return value

    def clear(self) -> None:
        """Keep nothing."""
        self._values.clear()


def repeatable(tree: exp.Expr) -> bool:
    """Whether the rows of a query depend on nothing but its text and tables."""
    return tree.find(*VARYING) is None


NEAREST = 3
MAX_ITEMS = 20_000  # to compare a text with; in time linear in their number
MAX_CHOSEN = 2  # subqueries of items that counts choose, each with two cases
_BETWEEN = ("avg", "min", "max", "quantile_cont", "quantile_disc")
MISSING_NOTE = "Suppressed items are missing, and a listed item may not occur in the original at all."


class Plans:
    """Answers plans; the last short answers are kept, since releases do not change.

    Args:
        opened: the releases, of tables with equal names and columns.
    """

    def __init__(self, opened: Sequence[Opened]) -> None:
        self._opened = opened
        self._answers, self._sums = Kept[Answer](), Kept[list[Row]]()

    def answer(self, plan: Plan, written: Set[str], notes: dict[str, None]) -> Sequence[Row]:
        """The groups of a plan, added up over the releases.

        Where counts choose items (``Choice``), a count lies between those for the fewest and for the most of them.

        Args:
            plan: the plan.
            written: the texts in the query.
            notes: remarks, to which those on the answer are added.
        """
        check_time()
        if any(isinstance(leaf, Chosen) for of in plan.conditions for leaf in leaves(of)):
            return self._at_both_ends(plan, written, notes)
        chosen = list(dict.fromkeys(choice for test in plan.tests for choice in choices(test)))
        if not chosen:
            return self._added(plan, written, notes)
        if len(chosen) > MAX_CHOSEN or plan.aggregate or plan.most is not None:
            raise unsupported("IN with a subquery of estimates, in this query")
        corners = []
        for ends in product((True, False), repeat=len(chosen)):
            of = {c: Labels(c.certain if end else c.possible) for c, end in zip(chosen, ends, strict=True)}
            corners.append({row[:-2]: row[-2:] for row in self._added(_with_tests(plan, of), written, notes)})
        rows: list[Row] = []
        for key in dict.fromkeys(key for answers in corners for key in answers):
            lower, upper = zip(*(answers.get(key, (0, 0)) for answers in corners), strict=True)
            rows.append((*key, min(lower), None if None in upper else max(upper)))
        return rows

    def _at_both_ends(self, plan: Plan, written: Set[str], notes: dict[str, None]) -> Sequence[Row]:
        """The groups of a plan whose condition depends on the original: at least those for whom it is certain, at most those
        for whom it is possible. An average, an extreme or a quantile is within the numbers of the latter."""
        if plan.aggregate in _BETWEEN and len(plan.conditions) == 1:
            possible = replace(_with_end(plan, "possible"), share=None)
            ends = (self.answer(replace(possible, aggregate=how), written, notes) for how in ("min", "max"))
            ((*_, low, _),), ((*_, high),) = ends
            return [(low, high)]
        rises = plan.aggregate in ("", "histogram") or (plan.aggregate == "sum" and _never_falls(plan.measure))
        if not rises or plan.most is not None:
            raise unsupported(*WITH_ESTIMATE)
        counts = (self.answer(_with_end(plan, end), written, notes) for end in ("certain", "possible"))
        least, most = ({row[:-2]: row[-2:] for row in rows} for rows in counts)
        return [(*key, least.get(key, (0, 0))[0], upper) for key, (_, upper) in most.items()]

    def _added(self, plan: Plan, written: Set[str], notes: dict[str, None]) -> Sequence[Row]:
        """The groups of a plan over all releases."""
        releases = list(self._opened)
        if len(releases) > 1:
            plan = replace(plan, most=None)  # the largest of a sum may be small in each part
        releases[0].together.asked = [release.schema for release in releases]
        answered: list[tuple[Sequence[Row], int]] = []
        plans: list[Plan] = []
        localized = [(release, _localized(plan, release, place)) for place, release in enumerate(releases)]
        live = [(release, asked) for release, asked in localized if asked.condition != NEVER] or localized[:1]
        together = len(live) > 1 and plan.aggregate not in ("", "sum", "histogram")
        for release, asked in live:
            unknown = unknown_items(release, asked, written)
            if together:
                notes.update(dict.fromkeys([*plan.notes, *unknown]))
                continue
            answer = self._answers.get((release, asked), partial(answer_plan, release, asked))
            missing = {LISTED_NOTE: MISSING_NOTE} if any(opened.suppressed for opened in self._opened) else {}
            notes.update(dict.fromkeys([*(missing.get(note, note) for note in answer.notes), *unknown]))
            if len(live) == 1:
                return answer.rows
            plans.append(asked)
            listing = plan.counts in (ITEMS, PAIRS) or plan.counts_any
            answered.append((answer.rows, release.size if listing and release.suppressed else 0))
        if together:
            return [aggregate_of(live)]
        if self._opened[0].attributes:
            return _summed(answered)
        return self._sums.get((tuple(plans), tuple(id(release) for release, _ in live)), partial(_summed, answered))


def _never_falls(measure: Weights | Attribute | Condition | None) -> bool:
    """Whether the sum of a number of persons never falls with more of them, since nobody's is negative."""
    if not isinstance(measure, Weights):
        return not isinstance(measure, Attribute)
    least = [weight for _, weight in measure.by_label or ()]
    return measure.kind == SUM and min([*least, measure.others[0] - measure.error], default=0) >= 0


def _summed(answers: Sequence[tuple[Sequence[Row], int]]) -> list[Row]:
    """The groups of disjoint persons from the rows of each part, with the upper bound of a group that it does not list."""
    counts = [(rows, absent) for rows, absent in answers if isinstance(rows, ItemCounts)]
    if len(counts) == len(answers):
        return [*added(counts)]
    totals: dict[Row, Bounds] = {}
    elsewhere = sum(absent for _, absent in answers)
    for rows, absent in answers:
        for *key, lower, upper in rows:
            low, high = totals.get(tuple(key), (0, elsewhere))
            totals[tuple(key)] = (
                None if low is None or lower is None else low + lower,
                None if high is None or upper is None else high + upper - absent,
            )
    return [(*key, *bounds) for key, bounds in totals.items()]


def _localized(plan: Plan, release: Opened, place: int) -> Plan:
    """A plan for one release: with its attributes, and whether conditions on files hold for it."""
    parts = {leaf: place in leaf.places for leaf in leaves(plan.condition) if isinstance(leaf, OnPart)}
    own = {a.name: a for a in release.attributes or ()}
    grouped = plan.grouped if plan.grouped is None else own[plan.grouped.name]
    measure = own[plan.measure.name] if isinstance(plan.measure, Attribute) else plan.measure
    return replace(plan, condition=decided(plan.condition, parts), grouped=grouped, measure=measure)


def _with_end(plan: Plan, end: str) -> Plan:
    """A plan with an end in place of each condition that depends on the original."""

    def leaf_of(leaf: Condition) -> Condition:
        return getattr(leaf, end) if isinstance(leaf, Chosen) else leaf

    measure = plan.measure if len(plan.conditions) == 1 else replaced(plan.conditions[1], leaf_of)
    return replace(plan, condition=replaced(plan.condition, leaf_of), measure=measure)


def _with_tests(plan: Plan, of: Mapping[Choice, Labels]) -> Plan:
    """A plan with lists of items in place of choices."""

    def changed(test: ItemTest) -> ItemTest:
        return with_atoms(test, lambda atom: of[atom] if isinstance(atom, Choice) else atom)

    def leaf_of(leaf: Condition) -> Condition:
        if isinstance(leaf, OnSum):
            return replace(leaf, weights=replace(leaf.weights, test=changed(leaf.weights.test)))
        return at_least(leaf.count, changed(leaf.test)) if isinstance(leaf, AtLeast) else leaf

    test, second = (None if t is None else changed(t) for t in (plan.test, plan.second))
    return replace(plan, condition=replaced(plan.condition, leaf_of), test=test, second=second)


def unknown_items(release: Opened, plan: Plan, written: Set[str]) -> list[str]:
    """A note for each item that a query names and no released item stands for.

    Args:
        release: the release.
        plan: the query.
        written: the literals that the analyst wrote; others are from the analyst's tables.
    """
    unknown = [label for label in labels_of(plan) & written if label not in release.images]
    return [_note(release, label) for label in sorted(unknown)]


def _note(release: Opened, label: str) -> str:
    suppressed = " or was suppressed" if release.suppressed else ""
    if label in release.sizes:
        members = sorted(item for item, labels in release.images.items() if label in labels)
        nearest = ", ".join(map(repr, members[:NEAREST])) + (", ..." if len(members) > NEAREST else "")
        what = f"{label!r} is no item but a released item, which stands for {len(members)} items"
        return f"{what}: ask for {nearest}."
    near = _nearest(release, label)
    hint = f" The nearest ones: {', '.join(map(repr, near))}." if near else ""
    return f"No released item stands for {label!r}: it does not occur{suppressed}.{hint}"


def _nearest(release: Opened, label: str) -> list[str]:
    if len(release.items) > MAX_ITEMS:
        return []
    by_lower = {item.lower(): item for item in release.items}
    return [by_lower[item] for item in get_close_matches(label.lower(), by_lower, NEAREST)]
