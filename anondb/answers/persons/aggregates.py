"""Aggregates over the rows of persons, as plans for the release, and values that the grouped item decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from math import isfinite
from typing import Any

from sqlglot import exp

from anondb.answers.persons.counts import NONE, Bounds, Row, average_of, both_of, by_leaves, quotient
from anondb.answers.persons.quantities import with_number
from anondb.answers.persons.rows import FLIPPED, Cell
from anondb.answers.persons.sums import FEW, MERGED_NOTE, Sums, joined, merged
from anondb.answers.persons.terms import Item, Looked, Number, Of, PersonRows, Scope
from anondb.answers.ranged.aggregates import aggregates
from anondb.query.aggregates import CONT, DISC
from anondb.query.item_tests import ANY_ITEM, item_all
from anondb.query.pairs import SIGNS
from anondb.query.parsing import conjoined
from anondb.query.predicates import (
    ITEMS,
    MEASURE,
    NEVER,
    PAIRS,
    Chosen,
    Condition,
    Constant,
    Plan,
    Weights,
    at_least,
    both,
    conjuncts,
    either,
    leaves,
    negate,
    settled,
    split,
)
from anondb.query.refusals import unsupported
from anondb.query.values import OnValue

LISTED_NOTE = "A listed item may not occur in the original at all."
VALUES_NOTE = "All possible values are listed; a listed value may not occur in the original at all."
BETWEEN = ("avg", CONT, DISC)
"""Aggregates that lie between the least and the greatest number."""


@dataclass(frozen=True, eq=False)
class Basic:
    """An aggregate that is answered by itself.

    Attributes:
        how: ``rows``, ``ids``, ``sum``, ``distinct``, ``mean``, ``of_each`` for a sum, or the number of rows, by the
            number of persons, ``combined``, or the aggregate of a measure.
        value: the operand, if any.
        wanted: the condition of FILTER, if any.
        share: of a quantile.
        some: whether it is of all rows of a group, of which there is one where the group exists or the number is not NULL.
        terms: of a sum of other aggregates, these and how often each is added.
        present: whether it is NULL for no group.
        unsigned, whole: of a sum, whether it is never negative, and of whole numbers.
    """

    how: str
    value: exp.Expr | None = None
    wanted: exp.Expr | None = None
    share: Fraction | None = None
    some: bool = False
    terms: tuple[tuple[int, Basic], ...] = ()
    present: bool = False
    unsigned: bool = False
    whole: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """What distinguishes it from others."""
        return self.how, self.value, self.wanted, self.share, tuple((n, term.key) for n, term in self.terms)


@dataclass(frozen=True, eq=False)
class Group:
    """Rows of one group, or of many that a release lists.

    Attributes:
        values: the values of the keys; None at the places of listed ones.
        scopes: its rows.
        listed: the places of the listed keys, each with what is listed.
    """

    values: tuple[Any, ...]
    scopes: tuple[Scope, ...]
    listed: tuple[tuple[int, Item | Of | Number], ...] = ()


class Aggregates(Sums):
    """Answers aggregates over rows of persons. A group is a list of alternatives (``Scope``), whose rows add up."""

    def value_of(self, basic: Basic, group: Sequence[Scope]) -> Bounds:
        """The bounds of an aggregate over a group."""
        if basic.terms:
            return self._combined(basic.terms, group)
        group = self.wanted(basic, group)
        if basic.how == "of_each" and len(group) == 1:
            return self._average_of_sums(basic.value, group[0])
        if basic.how == "of_each":
            persons = self.persons(self.closed(*(scope.rows for scope in group)))
            of_rows = self._rows_of([scope.rows for scope in group])
            return both_of(quotient(of_rows, persons), (1, None)) if persons[1] != 0 else (None, None)
        if basic.how == "ids":
            return self.persons(self.closed(*(scope.rows for scope in group)))
        if basic.how == "rows":
            return self._rows_of([s.rows for s in group])
        assert basic.value is not None
        if basic.how == "sum":
            return self.total([self.sum_in(s.rows, self.resolved(basic.value, s)) for s in group])
        if basic.how == "mean":
            return self._mean(basic.value, group)
        values = {self.resolved(basic.value, s) for s in group} if basic.how == "distinct" else set()
        if len(values) == 1 and not any(map(self.rows_of, values)):
            most = self.persons(self.closed(*(scope.rows for scope in group)))[1]  # each person has one value
            return self.within((0, most), partial(self._different, basic.value, group))
        if basic.how == "distinct":
            return self._different(basic.value, group)
        return self._measured(basic, group)

    def wanted(self, basic: Basic, group: Sequence[Scope]) -> list[Scope]:
        """The rows of a group that FILTER chooses."""
        if basic.wanted is None:
            return list(group)
        return [self.filtered(scope, [basic.wanted]) for scope in group]

    def is_listed(self, what: Any, basic: Basic, scope: Scope) -> bool:
        """Whether a release lists a number of rows for each value: for each item, if no other item makes a row with it; for
        each number of items only if these are single rows of persons, of whom FILTER asks for attributes; of their items
        each number says more alone."""
        rows = self.wanted(basic, [scope])[0].rows
        if isinstance(what, Item):
            return self.are_alone(rows, what.row)
        added = set(conjuncts(rows.where)) - set(conjuncts(scope.rows.where))
        of_attributes = all(isinstance(leaf, OnValue) for part in added for leaf in leaves(part))
        return not isinstance(what, Number) or (not rows.rows and of_attributes)

    # ---------------------------------------------------------------- several together

    def implied(self, one: exp.Expr | None, other: exp.Expr | None, scopes: Sequence[Scope]) -> bool:
        """Whether each row that satisfies a condition satisfies another one, as far as their forms show; None is none."""
        if all(part in conjoined(one) for part in conjoined(other)):
            return True
        return one is not None and other is not None and all(self._implied(one, other, scope) for scope in scopes)

    def _implied(self, one: exp.Expr, other: exp.Expr, scope: Scope) -> bool:
        (first, second) = (self.filtered(scope, [condition]).rows for condition in (one, other))
        same = (first.compared, first.rows) == (second.compared, second.rows)
        return same and both(first.where, negate(second.where)) == NEVER

    def _combined(self, terms: Sequence[tuple[int, Basic]], group: Sequence[Scope]) -> Bounds:
        """A sum of numbers of rows or persons, each a number of times: within that of their bounds, and of their parts."""
        apart = self.total([self.times(self.value_of(basic, group), factor) for factor, basic in terms])
        return self.within(apart, lambda: self._sum_by_terms(terms, group[0]))

    def _sum_by_terms(self, terms: Sequence[tuple[int, Basic]], scope: Scope) -> Bounds:
        """A sum of numbers from those whom some of its terms count, and others do not."""
        chosen = [self.wanted(basic, [scope])[0].rows for _, basic in terms]
        if any((one.compared, one.rows) != (scope.rows.compared, scope.rows.rows) for one in chosen):
            return None, None
        of_rows = terms[0][1].how == "rows" and bool(scope.rows.rows)
        conditions = [one.where if of_rows else self.closed(one) for one in chosen]
        added: list[tuple[float, Condition]] = []
        for held in product((True, False), repeat=len(terms)):
            met = both(*(c if h else negate(c) for c, h in zip(conditions, held, strict=True)))
            added.append((sum(factor for (factor, _), h in zip(terms, held, strict=True) if h), met))
        bounds = self.by_levels(added, scope.rows if of_rows else None)
        parts = [] if of_rows else by_leaves(added)
        return both_of(bounds, self.total([self.times(self.persons(leaf), n) for n, leaf in parts])) if parts else bounds

    def _average_of_sums(self, value: exp.Expr | None, scope: Scope) -> Bounds:
        """The average, over the persons who have a row, of the sum of a number over their rows; of 1 for None."""
        rows, tree = scope.rows, None if value is None else self.resolved(value, scope)
        if tree is None and len(rows.rows) > 1:  # pairs, whose number takes long to tell
            bounds = self.within((1, None), lambda: self._number_of_items(rows, "avg", True))
            if bounds[1] is not None:
                return bounds
        total = self.rows_in(rows) if tree is None else self.sum_in(rows, tree)
        persons = self.persons(self.closed(rows))
        if persons[1] == 0:
            return None, None
        apart = both_of(quotient(total, persons), (1 if tree is None else None, None))
        return self.within(
            apart, lambda: self._number_of_items(rows, "avg", True) if tree is None else self._sum_of_each(rows, tree)
        )

    def _sum_of_each(self, rows: PersonRows, tree: exp.Expr) -> Bounds:
        """The average of the sums of a number of items over the persons who have one of these."""
        own = self.rows_of(tree)
        parts = self.alone(rows, min(own)) if len(own) == 1 else []
        if len(parts) != 1:
            return None, None
        ((person, test),) = parts
        weights, _ = self.weights(tree, test)
        return self._size_aggregate(
            Plan(MEASURE, both(person, at_least(1, test)), measure=weights, aggregate="avg", some=True)
        )

    def _number_of_items(self, rows: PersonRows, how: str, some: bool) -> Bounds:
        """An aggregate of the numbers of rows of the persons who have one, where each row is one of their items."""
        cells = self.cells(rows)
        test = cells[0].test if len(cells) == 1 and cells[0].second is None else None
        if test is None:
            return None, None
        met = both(cells[0].person, at_least(1, test))
        return self._size_aggregate(Plan(MEASURE, met, measure=Weights(test), aggregate=how, some=some))

    def _size_aggregate(self, plan: Plan) -> Bounds:
        """An aggregate of a number of each person; an average also by its sum and the number of persons."""
        bounds = self.one(plan)
        if plan.aggregate == "avg" and (number := self.persons(plan.condition))[1] != 0:
            bounds = self.within(bounds, lambda: quotient(self.sum_of_measure(plan.condition, plan.measure), number))
        return bounds

    # ---------------------------------------------------------------- aggregates of numbers

    def _mean(self, value: exp.Expr, group: Sequence[Scope]) -> Bounds:
        """An average over the rows of a group in which a number is not NULL."""
        parts = [(scope.rows, self.resolved(value, scope)) for scope in group]
        rows = self._rows_of([of for of, _ in parts])
        if rows[1] == 0:
            return None, None
        apart = quotient(self.total([self.sum_in(*part) for part in parts]), rows)
        return self.within(apart, lambda: self._mean_of_few(parts))

    def _mean_of_few(self, parts: Sequence[tuple[PersonRows, exp.Expr]]) -> Bounds:
        """An average of listed numbers: between these, and, of few, each as often as it may be at most or at least."""
        every = [(n, rows.restricted(met)) for rows, tree in parts for n, met in self.values(tree)]
        listed = [(n, of) for n, of in every if n is not None and of.where != NEVER]
        if not listed or not all(isinstance(n, int | float | Decimal) and isfinite(n) for n, _ in listed):
            return None, None
        numbers = [float(n) for n, _ in listed]
        ends = min(numbers), max(numbers)
        if len(listed) > FEW:
            return ends
        return both_of(ends, average_of(numbers, [self.rows_in(of) for _, of in listed]))

    def _measured(self, basic: Basic, group: Sequence[Scope]) -> Bounds:
        """An average, an extreme, a quantile or a deviation of a number of each person."""
        assert basic.value is not None
        cells, whole = [], len(group) == 1
        for scope in group:
            tree = self.resolved(basic.value, scope)
            for met, value in self.branches(tree):
                rows = scope.rows.restricted(met)
                if rows.where == NEVER:
                    continue
                if isinstance(value.unnest(), exp.Null):
                    whole = False
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
        measure, factor, constant = self.measure(tree)
        if measure is None:
            raise unsupported(f"the function {basic.how.upper()} of an expression other than a count of persons or items")
        measured, present = measure
        how = basic.how
        if factor < 0 and how in ("min", "max"):
            how = {"min": "max", "max": "min"}[how]
        if (factor != 1 or constant) and how not in ("avg", "min", "max"):
            raise unsupported(f"the function {how.upper()} of an expression")
        counted = both(condition, present)
        some = basic.some and whole and counted == condition
        plan = Plan(MEASURE, counted, measure=measured, aggregate=how, share=basic.share, some=some)
        bounds = self._size_aggregate(plan)
        bounds = self.times(bounds, float(factor)) if factor != 1 else bounds
        return self.total([bounds, (float(constant), float(constant))]) if constant else bounds

    def _different(self, value: exp.Expr, group: Sequence[Scope]) -> Bounds:
        """The number of different values of an expression."""
        persons_of: dict[Any, Bounds] = {}
        open_ = False
        least: float = 0
        for scope in group:
            tree = self.resolved(value, scope)
            atom = self.atom(tree)
            if isinstance(atom, Item):
                listed = {item: bounds for (item,), bounds in self.by_item([scope.rows], atom.row, ids=True).items()}
                open_ = open_ or self.releases.suppressed
                if self.releases.summable:  # somebody has as many
                    own = frozenset({atom.row})
                    met = self.closed_but(scope.rows, own)
                    alone = replace(scope.rows, where=met, rows=own, compared=frozenset())
                    least = max(least, self._number_of_items(alone, "max", False)[0] or 0)
            else:
                listed = {
                    of: self.persons(self.closed(scope.rows.restricted(met)))
                    for of, met in self.values(tree)
                    if of is not None
                }
            for of, bounds in listed.items():
                low, high = persons_of.get(of, NONE)
                most = None if high is None or bounds[1] is None else max(high, bounds[1])
                persons_of[of] = max(low or 0, bounds[0] or 0), most
        lower = max(least, sum((low or 0) >= 1 for low, _ in persons_of.values()))
        upper = sum(high is None or high >= 1 for _, high in persons_of.values())
        more = self.releases.hidden if open_ else 0
        return lower, None if more is None else upper + more

    # ---------------------------------------------------------------- groups

    def by_item(self, alternatives: Sequence[PersonRows], row: int, *, ids: bool) -> dict[Row, Bounds]:
        """The number of rows, or of persons, for each item of a variable."""
        notes = (LISTED_NOTE,) if ids else (LISTED_NOTE, MERGED_NOTE)
        if ids:
            met = settled(either(*(self.closed_but(rows, frozenset({row})) for rows in alternatives)))
            cells = [Cell(rest, test) for test, rest in self.divided(met, row)]
        else:
            cells = joined(merged([Cell(*part) for rows in alternatives for part in self.alone(rows, row)]))
        return self.by_key([Plan(ITEMS, self._plain(cell.person), cell.test, notes=notes) for cell in cells])

    def persons_by_number(self, condition: Condition, of: Number) -> dict[Row, Bounds]:
        """The number of persons for each number of items; a part of the condition that this number decides keeps or leaves
        out all persons of a number, so that those who are kept lie within the bounds without it, too."""
        plan = Plan(MEASURE, condition, measure=of.weights, aggregate="histogram")
        found, parts = self.by_key([plan]), [p for p in conjuncts(condition) if p != at_least(1, of.weights.test)]
        plain = (leaf for leaf in leaves(condition) if not isinstance(leaf, Chosen))
        known = {leaf for leaf in plain if isinstance(with_number(leaf, of, 0), Constant)}
        rest = [part for part in parts if not known.issuperset(leaves(part))]
        if len(rest) == len(parts):
            return found
        every = self.by_key([replace(plan, condition=both(*rest))])
        kept = [key for key in found if with_number(condition, of, key[0]) != NEVER]
        return {key: both_of(found[key], every.get(key, found[key])) for key in kept}

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
            if not self.is_one(tests.get(row, ANY_ITEM)):
                raise unsupported("GROUP BY the items of two rows beside a third that is not fixed to one item")
            person = both(person, at_least(1, tests[row]))
        if not ids:
            self.check_exact(rows)
        one, two = (tests.get(key, ANY_ITEM) for key in keys)
        plans = []
        for first, rest in self.divided(both(*mixed), keys[0]):
            for second, of_person in self.divided(rest, keys[1]):
                met = self._plain(both(person, of_person))
                sides = item_all(one, first), item_all(two, second)
                plans.append(Plan(PAIRS, met, *sides, signs, notes=(LISTED_NOTE,)))
        return plans


OF_ONE = (exp.AnyValue, exp.First, exp.Min, exp.Max)
"""Aggregates that are the value which all rows of a group have."""


def items_of(reader: Aggregates, scopes: Sequence[Scope], keys: Sequence[exp.Expr]) -> set[int]:
    """The variables of rows by whose items these are grouped."""
    atoms = (reader.atom(reader.resolved(key, scope)) for scope in scopes for key in keys)
    return {atom.row for atom in atoms if isinstance(atom, Item)}


def dependent(
    reader: Aggregates, parts: Sequence[exp.Expr | None], scope: Scope, keys: Sequence[exp.Expr]
) -> list[exp.Expr]:
    """What aggregates of rows grouped by an item take that is looked up for this item, and so is the same in a group.

    Args:
        reader: reads the rows.
        parts: the expressions with the aggregates.
        scope: the rows.
        keys: the grouped expressions.
    """
    items = items_of(reader, [scope], keys)
    taken = [call.this for part in parts for call in aggregates(part) if items and isinstance(call, OF_ONE)]
    values = dict.fromkeys(value for value in taken if isinstance(value, exp.Column) and value not in keys)
    atoms = {value: reader.atom(reader.resolved(value, scope)) for value in values}
    return [value for value, atom in atoms.items() if isinstance(atom, Looked) and atom.row in items]
