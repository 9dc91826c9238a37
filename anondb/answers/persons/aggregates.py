"""Aggregates over the rows of persons, as plans for the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from sqlglot import exp

from anondb.answers.persons.rows import FLIPPED
from anondb.answers.persons.sums import FEW, MERGED_NOTE, NONE, Bounds, Sums, average_of, both_of, quotient
from anondb.answers.persons.terms import (
    Item,
    PersonRows,
    Scope,
)
from anondb.errors import InputError
from anondb.query.aggregates import CONT, DISC
from anondb.query.item_tests import ANY_ITEM, item_all
from anondb.query.pairs import SIGNS, is_single
from anondb.query.plan import ITEMS, MEASURE, PAIRS, Plan
from anondb.query.predicates import (
    ALWAYS,
    NEVER,
    Condition,
    Weights,
    at_least,
    both,
    conjuncts,
    either,
    negate,
    settled,
    split,
)
from anondb.query.refusals import unsupported

LISTED_NOTE = "A listed item may not occur in the original at all."
VALUES_NOTE = "All possible values are listed; a listed value may not occur in the original at all."


BETWEEN = ("avg", CONT, DISC)
"""Aggregates that lie between the least and the greatest number."""


@dataclass(frozen=True, eq=False)
class Basic:
    """An aggregate that is answered by itself.

    Attributes:
        how: ``rows``, ``ids``, ``sum``, ``distinct``, ``mean``, ``rows_of_each`` for the number of rows by that of
            persons, ``combined``, or the aggregate of a measure.
        value: the operand, if any.
        wanted: the condition of FILTER, if any.
        share: of a quantile.
        some: whether it is of all rows of a group, of which there is one where the group exists or the number is not NULL.
        terms: of a sum of other aggregates, these and how often each is added.
    """

    how: str
    value: exp.Expr | None = None
    wanted: exp.Expr | None = None
    share: Fraction | None = None
    some: bool = False
    terms: tuple[tuple[int, Basic], ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """What distinguishes it from others."""
        return self.how, self.value, self.wanted, self.share, tuple((n, term.key) for n, term in self.terms)


class Aggregates(Sums):
    """Answers aggregates over rows of persons. A group is a list of alternatives (``Scope``), whose rows add up."""

    def value_of(self, basic: Basic, group: Sequence[Scope]) -> Bounds:
        """The bounds of an aggregate over a group."""
        if basic.terms:
            return self._combined(basic.terms, group)
        group = self.wanted(basic, group)
        if basic.how == "rows_of_each":
            return self._rows_of_each(group)
        if basic.how == "ids":
            return self.persons(either(*(self.closed(s.rows) for s in group)))
        if basic.how == "rows":
            return self._rows_of([s.rows for s in group])
        assert basic.value is not None
        if basic.how == "sum":
            return self.total([self.sum_in(s.rows, self.resolved(basic.value, s)) for s in group])
        if basic.how == "mean":
            return self._mean(basic.value, group)
        if basic.how == "distinct":
            return self._different(basic.value, group)
        return self._measured(basic, group)

    def wanted(self, basic: Basic, group: Sequence[Scope]) -> list[Scope]:
        """The rows of a group that FILTER chooses."""
        if basic.wanted is None:
            return list(group)
        return [self.filtered(scope, [basic.wanted]) for scope in group]

    # ---------------------------------------------------------------- several together

    def _combined(self, terms: Sequence[tuple[int, Basic]], group: Sequence[Scope]) -> Bounds:
        """A sum of numbers of rows or persons, each a number of times: within that of their bounds, and of their parts."""
        apart = self.total([self.times(self.value_of(basic, group), factor) for factor, basic in terms])
        (scope,) = group
        chosen = [self.wanted(basic, group)[0].rows for _, basic in terms]
        if any((one.compared, one.rows) != (scope.rows.compared, scope.rows.rows) for one in chosen):
            return apart
        of_rows = terms[0][1].how == "rows"
        conditions = [one.where if of_rows else self.closed(one) for one in chosen]
        added: dict[Condition, int] = {}
        for held in product((True, False), repeat=len(terms)):
            met = both(*(c if h else negate(c) for c, h in zip(conditions, held, strict=True)))
            number = sum(factor for (factor, _), h in zip(terms, held, strict=True) if h)
            if met != NEVER and number:
                added[met] = number

        def counted(met: Condition) -> Bounds:
            return self.rows_in(replace(scope.rows, where=met)) if of_rows else self.persons(met)

        steps: list[Bounds] = []
        for low, high in pairwise(sorted({0, *added.values()})):
            part = either(*(met for met, n in added.items() if (n >= high if high > 0 else n <= low)))
            steps.append(self.times(counted(part), high - low if high > 0 else low - high))
        return both_of(apart, self.total(steps))

    def _rows_of_each(self, group: Sequence[Scope]) -> Bounds:
        """The average number of rows of the persons who have one."""
        (scope,) = group
        rows, persons = self.rows_in(scope.rows), self.persons(self.closed(scope.rows))
        if persons[1] == 0:
            return None, None
        apart = both_of(quotient(rows, persons), (1, None))
        cells = self.cells(scope.rows)
        test = cells[0].test if len(cells) == 1 and cells[0].second is None else None
        if test is None:
            return apart
        met = both(cells[0].person, at_least(1, test))
        return both_of(apart, self.one(Plan(MEASURE, met, measure=Weights(test), aggregate="avg", some=True)))

    # ---------------------------------------------------------------- aggregates of numbers

    def _mean(self, value: exp.Expr, group: Sequence[Scope]) -> Bounds:
        """An average over the rows of a group in which a number is not NULL: their sum by their number, and, of few
        numbers, each as often as it may be at most or at least."""
        (scope,) = group
        tree = self.resolved(value, scope)
        rows = self.rows_in(scope.rows)
        if rows[1] == 0:
            return None, None
        apart = quotient(self.sum_in(scope.rows, tree), rows)
        try:
            listed = [(of, both(scope.rows.where, met)) for of, met in self.values(tree) if of is not None]
        except InputError:
            return apart
        listed = [(of, met) for of, met in listed if met != NEVER]
        if not listed or not all(isinstance(of, int | float | Decimal) for of, _ in listed):
            return apart
        numbers = [float(of) for of, _ in listed]
        within = both_of(apart, (min(numbers), max(numbers)))
        if len(listed) > FEW:
            return within
        each = [self.rows_in(replace(scope.rows, where=met)) for _, met in listed]
        return both_of(within, average_of(numbers, each))

    def _measured(self, basic: Basic, group: Sequence[Scope]) -> Bounds:
        """An average, an extreme, a quantile or a deviation of a number of each person."""
        assert basic.value is not None
        cells, whole = [], len(group) == 1
        for scope in group:
            tree = self.resolved(basic.value, scope)
            whole = whole and not tree.find(exp.Case, exp.If)
            for met, value in self.branches(tree) if tree.find(exp.Case, exp.If) else [(ALWAYS, tree)]:
                rows = replace(scope.rows, where=both(scope.rows.where, met))
                if rows.where == NEVER or isinstance(value.unnest(), exp.Null):
                    continue
                if basic.how in ("min", "max"):  # whatever the number of rows of a person
                    cells.append((self.closed(rows), value))
                    continue
                if basic.how in BETWEEN and any(cell.test is not None for cell in self.cells(rows)):
                    (low, _), (_, high) = (self._measured(replace(basic, how=how), group) for how in ("min", "max"))
                    return low, high
                cells += [(cell.person, value) for cell in self._single_cells(rows, basic.how)]
        if len({value for _, value in cells}) != 1:
            raise unsupported(f"the function {basic.how.upper()} of numbers of several kinds")
        conditions, (_, tree) = [condition for condition, _ in cells], cells[0]
        if len(conditions) > 1 and basic.how not in ("min", "max"):
            raise unsupported(f"the function {basic.how.upper()} over several rows of a person")
        condition = either(*conditions)
        found, factor, constant = self.measure(tree)
        if found is None:
            raise unsupported(
                f"the function {basic.how.upper()} of an expression other than a count of persons or items"
            )
        measured, present = found
        how = basic.how
        if factor < 0 and how in ("min", "max"):
            how = {"min": "max", "max": "min"}[how]
        if (factor != 1 or constant) and how not in ("avg", "min", "max"):
            raise unsupported(f"the function {how.upper()} of an expression")
        some = basic.some and whole and present == ALWAYS
        plan = Plan(MEASURE, both(condition, present), measure=measured, aggregate=how, share=basic.share, some=some)
        bounds = self.times(self.one(plan), float(factor)) if factor != 1 else self.one(plan)
        if not constant:
            return bounds
        low, high = (None if end is None else end + float(constant) for end in bounds)
        return low, high

    def _different(self, value: exp.Expr, group: Sequence[Scope]) -> Bounds:
        """The number of different values of an expression."""
        found: dict[Any, Bounds] = {}
        open_ = False
        for scope in group:
            tree = self.resolved(value, scope)
            atom = self.atom(tree)
            if isinstance(atom, Item):
                listed: dict[Any, Bounds] = dict(self.by_item(scope.rows, atom.row, ids=True))
                open_ = open_ or self.releases.suppressed
            else:
                listed = {
                    of: self.persons(self.closed(replace(scope.rows, where=both(scope.rows.where, met))))
                    for of, met in self.values(tree)
                    if of is not None
                }
            for of, bounds in listed.items():
                before = found.get(of, NONE)
                found[of] = max(before[0] or 0, bounds[0] or 0), _most(before, bounds)
        lower = sum((low or 0) >= 1 for low, _ in found.values())
        upper = sum(high is None or high >= 1 for _, high in found.values())
        more = self.releases.hidden if open_ else 0
        return lower, None if more is None else upper + more

    # ---------------------------------------------------------------- groups

    def by_item(self, rows: PersonRows, row: int, *, ids: bool) -> dict[str, Bounds]:
        """The number of rows, or of persons, for each item of a variable."""
        plans: list[Plan] = []
        notes = (LISTED_NOTE,) if ids else (LISTED_NOTE, MERGED_NOTE)
        if ids:
            met = either(*(self.some_of(part, part.rows - {row}) for part in self.settled_rows(rows, frozenset({row}))))
            parts = [(rest, test) for test, rest in self.divided(settled(met), row)]
        else:
            parts = self._by_row(rows, row)
        for person, test in parts:
            plans.append(Plan(ITEMS, self._plain(person), test, notes=notes))
        found: dict[str, Bounds] = {}
        for plan in plans:
            for item, *bounds in self.answers.answer(self._named_by(plan)):
                of: Bounds = (bounds[0], bounds[1])
                found[item] = self.total([found[item], of]) if item in found else of
        return found

    def pair_plans(self, rows: PersonRows, keys: Sequence[int], *, ids: bool) -> list[Plan]:
        """The plans for the number of rows of each two items of two variables; each pair is in one plan at most."""
        signs, where = SIGNS[""], rows
        for sign, left, right in rows.compared:
            if {left, right} == set(keys):
                signs &= SIGNS[sign if left == keys[0] else FLIPPED[sign]]
                where = replace(where, compared=where.compared - {(sign, left, right)})
        listed = self._by_items(where)
        if len(listed) != 1:
            raise unsupported("GROUP BY two items with other conditions than on single items")
        tests, person, mixed = split(settled(listed[0].where))
        for row in sorted(rows.rows - set(keys)):
            labels = self.labels(tests.get(row, ANY_ITEM))
            if labels is None or len(labels) != 1:
                raise unsupported("GROUP BY the items of two rows beside a third that is not fixed to one item")
            person = both(person, at_least(1, tests[row]))
        if not ids:
            self.check_exact(rows)
        one, two = (tests.get(key, ANY_ITEM) for key in keys)
        plans = []
        for first, rest in self.divided(both(*mixed), keys[0]):
            for second, of_person in self.divided(rest, keys[1]):
                met = self._plain(both(person, of_person))
                if not all(map(is_single, conjuncts(met))):
                    raise unsupported("GROUP BY two items with other conditions than on single items")
                sides = item_all(one, first), item_all(two, second)
                plans.append(self._named_by(Plan(PAIRS, met, *sides, signs, notes=(LISTED_NOTE,))))
        return plans


def _most(one: Bounds, other: Bounds) -> float | None:
    return None if one[1] is None or other[1] is None else max(one[1], other[1])
