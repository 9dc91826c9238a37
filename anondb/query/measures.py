"""Sums over the items of a person (sizes, values of baskets), relational numbers, and aggregates of these over persons.

**Consistent originals.** A released item stands for any non-empty set of its members, so it adds at least the least weight
of a member (the sum of all negative ones if there are any), and at most the sum of all positive ones. Suppressed items may
add their weights to incomplete transactions. A person of whom it is not certain that they meet the condition may be left
out. The bounds enclose the aggregate for all choices; those of an average take for the persons of a group who may be left
out the least and the greatest value in the group, so they are valid and not always the best possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from math import ceil, floor, inf

from anondb.query.aggregates import SPREADS, Aggregated, Group, aggregated, spread
from anondb.query.cached_release import Opened
from anondb.query.classes import Classes, Size, Sums, classes_of, passing_of
from anondb.query.evaluate import Evaluator, Outcome, Part, Question
from anondb.query.held_sums import Bounds, added_up, chosen, outside_of, total
from anondb.query.item_tests import finite, within
from anondb.query.predicates import (
    IDS,
    NEVER,
    ROWS,
    AtLeast,
    Condition,
    Not,
    OnSum,
    Plan,
    Weights,
    conjuncts,
    decided,
    implies,
    leaves,
    replaced,
)
from anondb.query.reading import last
from anondb.query.refusals import too_complex, unsupported
from anondb.query.relational import Cell, covered, unseen_parts, values_part
from anondb.query.summed import SUM, VALUES, Summed
from anondb.query.values import Attribute, OneOf, OnValue, Stretches

States = tuple[int, ...]
"""For each comparison of a sum with a number whether it is false (0), true (1) or open (2)."""

TOTAL_ERROR = 1e-9  # the relative error of a sum of doubles over many persons
EXACT_DAYS = 2**15  # from 1970, up to 2059, of which a double has the microseconds
MAX_COMPARED = 3  # comparisons of sums in a condition, each with two cases


def check_number(attribute: Attribute, aggregate: str) -> None:
    """Refuse an aggregate of an attribute that is not a number; a time is one of days for the least and the greatest."""
    if attribute.ends is None or (attribute.dated and aggregate not in ("min", "max")):
        raise unsupported(f"the function {aggregate.upper()} of the attribute {attribute.name!r}, which is not a number")


def of_cell(attribute: Attribute, cell: Cell, persons: int) -> tuple[Sums, bool] | None:
    """The values of persons with a published number, and whether it may be NULL; None if it is NULL."""
    among = covered(attribute, cell)
    if among.low is None or among.high is None:
        return None
    low, high = float(among.low), float(among.high)
    if attribute.dated and not attribute.whole and max(-low, high) >= EXACT_DAYS:
        raise unsupported(f"the least or the greatest time of {attribute.name!r}, since some are far from 1970")
    return Sums(persons * low, persons * high, low, low, high, high), among.null


# --- reading them from the release ----------------------------------------------------------------------------------


def measured(parts: Sequence[tuple[Opened, Plan]]) -> Aggregated:
    """The aggregate of a plan over persons, if there are any: of the sums of their items, or of a relational number.

    Args:
        parts: the plan of each release; these have different persons.
    """
    plan = parts[0][1]
    groups = [group for release, asked in parts for group in groups_of(release, asked)]
    if plan.aggregate in SPREADS.values():
        error = isinstance(plan.measure, Weights) and bool(plan.measure.error)
        ends = spread(plan.aggregate, groups, error=error)
    else:
        ends = aggregated(plan.aggregate, groups, plan.share)
    return scaled(plan, ends)


def scaled(plan: Plan, ends: Aggregated) -> Aggregated:
    """An aggregate of sums of weights in the unit of the query, its bounds with the error of the sums."""
    if not isinstance(plan.measure, Weights):
        return ends
    lower, upper = ends
    scale, error = plan.measure.scale, TOTAL_ERROR if plan.measure.error else 0.0
    if plan.aggregate.startswith("var_"):
        scale **= 2
    error *= max(abs(end) for end in (lower, upper, 0.0) if end is not None)
    low, high = (None if end is None else (end + more) / scale for end, more in ((lower, -error), (upper, error)))
    return low, high


def counted(release: Opened, plan: Plan) -> Bounds:
    """The number of persons of a plan, or of items of these, from all that the release shows of each."""
    return total([(g.outcome, g.persons) for g in groups_of(release, plan)])


def has_sums(condition: Condition) -> bool:
    """Whether a condition compares sums with numbers."""
    return any(isinstance(leaf, OnSum) for leaf in leaves(condition))


def with_sizes_as_sums(plan: Plan) -> Plan | None:
    """The plan with "at least n items of any kind" as conditions on a sum; None if it has other conditions on items.

    The walk over the items of a transaction counts them up to n, which takes too many steps for a large one. Of numbers of
    different items the walk knows which go together, and sums do not; values of attributes go with any of them.
    """
    sizes = [leaf for leaf in set(leaves(plan.condition)) if isinstance(leaf, AtLeast)]
    alike = len({leaf.test for leaf in sizes}) == 1 and finite(sizes[0].test) is None
    large = any(leaf.count > 1 for leaf in sizes) and len(sizes) <= MAX_COMPARED
    if plan.counts != IDS or not alike or not large:
        return None

    def as_sum(leaf: Condition) -> Condition:
        return OnSum(Weights(leaf.test), leaf.count - 0.5, open=True) if isinstance(leaf, AtLeast) else leaf

    condition = replaced(plan.condition, as_sum)
    return (
        replace(plan, condition=condition) if all(isinstance(leaf, OnSum | OnValue) for leaf in leaves(condition)) else None
    )


@dataclass(frozen=True)
class Asked:
    """What a plan asks about the transactions of a release.

    Attributes:
        question: the condition on persons.
        attributes: those that the plan names.
        classes: the classes of released items that the condition distinguishes.
        sums: the sums, the one of the measure first.
        compared: the comparisons of sums with numbers.
        outcome: whether persons meet the condition, from their numbers of released items of each class, their published
            values, whether they are complete, and the states of the comparisons.
    """

    question: Question
    attributes: Sequence[Attribute]
    classes: Classes
    sums: Sequence[Summed]
    compared: Sequence[OnSum]
    outcome: Callable[[tuple[int, ...], tuple[Cell, ...], bool, States], Outcome]


def asked_of(release: Opened, plan: Plan) -> Asked:
    """What a plan asks about the transactions of a release."""
    compared = [leaf for leaf in dict.fromkeys(leaves(plan.condition)) if isinstance(leaf, OnSum)]
    if len(compared) > MAX_COMPARED:
        raise too_complex(f"it compares more than {MAX_COMPARED} sums with numbers")
    question = Question.of(plan.condition, plan.test if plan.counts == ROWS else None)
    names = question.attributes
    number = plan.measure if isinstance(plan.measure, Attribute) else None
    if number is not None:
        check_number(number, plan.aggregate)
    attributes = [a for a in release.attributes or () if a.name in names or a == number]
    passing = passing_of(question.tests)
    outside = outside_of(release, plan, question, passing)
    listed = plan.aggregate in ("histogram", *SPREADS.values()) or plan.share is not None
    measure = plan.measure if isinstance(plan.measure, Weights) else None
    sums = [] if measure is None else [replace(_summed(release, measure, plan), listed=listed)]
    sums += [replace(_summed(release, leaf.weights, plan), least=leaf.least, open=leaf.open) for leaf in compared]
    # the ends of finer groups are closer
    classes = classes_of(question, release.blocks(passing), apart=bool(sums or number))
    if plan.counts_any and release.suppressed:  # any number of suppressed items, which are left out
        sums[0] = replace(sums[0], high=0.0)
    of_parts = _outcomes(question, compared)
    tested, unseen = [n for n, a in enumerate(attributes) if a.name in names], unseen_parts(question)
    part_of_cell = cache(lambda n, cell: values_part(question, attributes[n], cell))

    @cache
    def parts(counts: tuple[int, ...], cells: tuple[Cell, ...], complete: bool) -> tuple[Part, ...]:
        of_values = [*(part_of_cell(n, cells[n]) for n in tested), *unseen]
        listed = [*of_values, *chosen(classes, counts), *(() if complete else outside)]
        return tuple(sorted(listed, key=lambda part: not part.fixed))

    def outcome(counts: tuple[int, ...], cells: tuple[Cell, ...], complete: bool, states: States) -> Outcome:
        return of_parts(parts(counts, cells, complete), states)

    return Asked(question, attributes, classes, sums, compared, outcome)


def _summed(release: Opened, weights: Weights, plan: Plan) -> Summed:
    """What released items add to a sum; whoever has an item with a value for certain has at least one value."""
    one = release.summed(weights)
    if weights.kind != VALUES or not implies(plan.condition, AtLeast(1, weights.test)):
        return one
    items = finite(weights.test)
    if items is None and not release.suppressed:
        passing = passing_of((weights.test,))
        items = frozenset(i for i in release.listed_members.items if passing.of(i)[0])
    valued = items is not None and items <= dict(weights.by_label or ()).keys()
    return replace(one, ends=(1.0, one.ends[1])) if valued else one


def groups_of(release: Opened, plan: Plan) -> list[Group]:
    """The persons of a plan, grouped by what the release shows."""
    if plan.condition == NEVER:
        return []
    low, high = _ends_by_condition(plan)
    asked = asked_of(release, plan)
    plain = not asked.compared and not asked.question.attributes
    plain = plain and len(asked.sums) == 1 and asked.sums[0].kind == SUM
    if plain and plan.aggregate in ("sum", "avg") and set(asked.question.caps) <= {1}:
        complete = not release.suppressed
        added = _added_up(release, asked.classes, asked.sums[0], lambda c: asked.outcome(c, (), complete, ()))
        if added is not None:
            there = [g for g in added if low <= g.sums.max_greatest and g.sums.min_least <= high]
            return [replace(g, sums=g.sums.within(low, high, g.persons)) for g in there]
    number = asked.attributes.index(plan.measure) if isinstance(plan.measure, Attribute) else None
    groups = []
    read = partial(release.records, asked.classes, asked.attributes, asked.sums)
    shown = [replace(one, labels=(), shares={}) for one in asked.sums]  # whose shares follow from the weights
    key = asked.classes.key, plan.measure, asked.compared, shown, asked.attributes
    for g in last(release, "records", key, read) if asked.attributes else read():
        met, values = asked.outcome(g.counts, g.cells, g.complete, g.states), g.sums
        if number is not None:
            value = of_cell(asked.attributes[number], g.cells[number], g.records)
            if value is None:
                continue
            values, null = value
            met = replace(met, least=0) if null else met
        values, size = values or Sums(*(g.records,) * 2, 1, 1, 1, 1), g.size
        if values.max_greatest < low or values.min_least > high:  # nobody of these is counted
            continue
        size = None if size is None else Size(max(size.least, low), min(size.greatest, high))
        groups.append(Group(met, g.records, values.within(low, high, g.records), size))
    return groups


def _ends_by_condition(plan: Plan) -> tuple[float, float]:
    """The ends between which the measured number of each person lies who meets the condition."""
    low, high, weights = -inf, inf, plan.measure
    for span in _spans(plan.condition, weights) if isinstance(weights, Attribute) else ():
        low, high = max(low, span[0]), min(high, span[1])
    if not isinstance(weights, Weights) or weights.kind != SUM or weights.error:
        return low, high
    for part in conjuncts(plan.condition):
        leaf = part.part if isinstance(part, Not) else part
        if isinstance(leaf, OnSum) and leaf.weights == weights:
            low, high = (low, min(high, leaf.least)) if isinstance(part, Not) else (max(low, leaf.least), high)
        elif isinstance(leaf, AtLeast) and weights.by_label is None:
            if isinstance(part, Not) and within(weights.test, leaf.test):
                high = min(high, leaf.count - 1)
            elif not isinstance(part, Not) and within(leaf.test, weights.test):
                low = max(low, leaf.count)
    return low, high


def _spans(condition: Condition, attribute: Attribute) -> Iterator[tuple[float, float]]:
    """The spans in which the attribute of each person lies who meets a condition."""
    for leaf in conjuncts(condition):
        if not isinstance(leaf, OnValue) or leaf.attribute != attribute.name or isinstance(leaf.test, OneOf):
            continue
        test = leaf.test.hull if isinstance(leaf.test, Stretches) else leaf.test
        low, high, beyond = test.low, test.high, attribute.whole and test.open
        if not leaf.negated and leaf.null is not True:
            yield (
                -inf if low is None else float(floor(low) + 1 if beyond else low),
                inf if high is None else float(ceil(high) - 1 if beyond else high),
            )


def _added_up(
    release: Opened, classes: Classes, one: Summed, outcome: Callable[[tuple[int, ...]], Outcome]
) -> list[Group] | None:
    """The persons with items and those without, where one released item has the effect of any number of others.

    A sum or an average over persons for whom the condition is certain takes nothing but the sum of their values, which the
    numbers of transactions of the released items give. None where more is needed.
    """
    every = len(classes.parts) <= 1 and len(classes.of) in (0, len(release.sizes))
    alike = every and not release.differing and all(part.fixed for part in classes.parts)
    if not alike or release.numbered is None or release.numbered.rows is None:
        return None
    met = [outcome((number,) * len(classes.parts)) for number in (1, 0)]
    if met[0].least != met[0].greatest:
        return None
    added = added_up(release.numbered.rows, not release.suppressed, one)
    return [Group(outcome, persons, values) for outcome, (persons, values) in zip(met, added, strict=True) if persons]


def _outcomes(question: Question, compared: Sequence[OnSum]) -> Callable[[tuple[Part, ...], States], Outcome]:
    """The outcome of a condition on persons, from their parts and the states of its comparisons of sums with numbers.

    Which items a person has decides both the sums and the rest of the condition; taking all combinations widens the bounds.
    """
    by_truth: dict[tuple[bool, ...], Evaluator] = {}
    for truths in product((False, True), repeat=len(compared)):
        condition = decided(question.condition, dict(zip(compared, truths, strict=True)))
        by_truth[truths] = Evaluator(replace(question, condition=condition))

    @cache
    def outcome(parts: tuple[Part, ...], states: States) -> Outcome:
        outcomes = [
            evaluator.outcome(parts)
            for truths, evaluator in by_truth.items()
            if all(state in (2, truth) for truth, state in zip(truths, states, strict=True))
        ]
        return Outcome(min(o.least for o in outcomes), max(o.greatest for o in outcomes))

    return outcome
