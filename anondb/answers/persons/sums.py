"""Numbers of persons and of their rows, and sums over them, from the plans that releases answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from math import isfinite
from typing import Any, cast

from sqlglot import exp

from anondb.answers.persons.counts import NONE, Bounds, Row, both_of
from anondb.answers.persons.rows import FLIPPED, MOST_CELLS, Cell
from anondb.answers.persons.terms import Item, Looked, Number, Of, PersonRows, Truth
from anondb.answers.persons.values import CONDITIONS, MAX_TERMS, Values, with_cases
from anondb.errors import InputError
from anondb.query.item_tests import ItemTest, Labels, item_all
from anondb.query.pairs import is_single
from anondb.query.parsing import is_null
from anondb.query.predicates import (
    ALWAYS,
    IDS,
    MEASURE,
    NEVER,
    NOT_EMPTY,
    PAIRS,
    ROWS,
    AtLeast,
    Condition,
    Or,
    Plan,
    Weights,
    at_least,
    both,
    conjuncts,
    either,
    leaves,
    negate,
    on_item,
    settled,
)
from anondb.query.refusals import too_complex, unsupported
from anondb.query.summed import SUM, VALUES
from anondb.query.values import Attribute

MERGED_NOTE = "Rows are counted as in the release: an item that is repeated within a transaction counts once."
FEW = 6  # numbers of items whose rows are counted one by one
MOST_VALUES = 120  # of an expression, whose rows are counted one by one


class Sums(Values):
    """Answers numbers of rows and sums."""

    # ---------------------------------------------------------------- counts

    def one(self, plan: Plan) -> Bounds:
        """A plan with a single number."""
        if plan.condition == NEVER and plan.counts != MEASURE:
            return NONE
        ((*_, lower, upper),) = self.answer(plan)
        return lower, upper

    def answer(self, plan: Plan) -> Sequence[Row]:
        """The groups of a plan, with the items that the conditions name: keys, then lower bound and upper bound."""
        return self.releases.answer(replace(plan, labels=self.written))

    def by_key(self, plans: Iterable[Plan]) -> dict[Row, Bounds]:
        """The groups of plans by their keys; those with the same key add up."""
        numbers: dict[Row, Bounds] = {}
        for plan in plans:
            for *key, lower, upper in self.answer(plan):
                before = [numbers[tuple(key)]] if tuple(key) in numbers else []
                numbers[tuple(key)] = self.total([*before, (lower, upper)])
        return numbers

    @staticmethod
    def _plain(condition: Condition) -> Condition:
        """A condition without what having some item implies: that the person has one, or something else."""
        return both(
            *(part for part in conjuncts(condition) if NOT_EMPTY not in (part.parts if isinstance(part, Or) else (part,)))
        )

    def persons(self, condition: Condition) -> Bounds:
        """The number of persons for whom a condition holds."""
        return self.one(Plan(IDS, condition))

    def rows_in(self, rows: PersonRows) -> Bounds:
        """The number of rows."""
        return self._rows_of([rows])

    def _rows_of(self, parts: Sequence[PersonRows]) -> Bounds:
        """The number of rows of alternatives; that of persons, where nobody has two."""
        cells = merged([cell for rows in parts for cell in self.cells(rows)])
        if len(cells) > MAX_TERMS:
            raise too_complex("a number of rows of too many kinds")
        total = self.total([self.rows_of_cell(cell) for cell in cells])
        persons, fewer = [one for cell in cells if (one := self.of_one(cell)) is not None], joined(cells)
        if len(persons) == len(cells) and are_apart(persons):
            return self.within(total, lambda: self.persons(either(*persons)))
        return self.within(total, lambda: self.total([self.rows_of_cell(cell) for cell in fewer]))

    def rows_of_cell(self, cell: Cell) -> Bounds:
        """The number of rows of one kind."""
        if cell.second is not None and cell.test is not None:
            plan = Plan(PAIRS, self._plain(cell.person), cell.test, cell.second, cell.signs)
            lower, upper = self.total([row[-2:] for row in self.answer(plan)])
            bounds: Bounds = lower, None if self.releases.suppressed else upper
            alike = cell.test == cell.second and not self.releases.suppressed
            alike = alike and all(map(is_single, conjuncts(plan.condition)))  # sizes of others take long to tell
            return self.within(bounds, lambda: self._pairs_of_each(cell)) if alike else bounds
        if cell.test is None:
            return self.persons(cell.person)
        rows = self.one(Plan(ROWS, cell.person, cell.test, notes=(MERGED_NOTE,)))
        alone = self.is_one(cell.test)  # then it is a number of persons
        if alone or not (self.releases.supported and any(isinstance(leaf, AtLeast) for leaf in leaves(cell.person))):
            return rows
        plan = Plan(MEASURE, both(cell.person, at_least(1, cell.test)), measure=Weights(cell.test), aggregate="sum")
        return self.within(rows, lambda: self.one(plan))

    def _pairs_of_each(self, cell: Cell) -> Bounds:
        """The number of pairs of two items that pass one test, from the number of such items of each person."""
        assert cell.test is not None
        number = self.column(Number(Weights(cell.test)))
        equal = number if "equal" in cell.signs else exp.Literal.number(0)
        sides = exp.Literal.number(len(cell.signs - {"equal"}))
        others = exp.paren(number * (number - 1) * sides / 2)
        return self._sum_of_numbers(cell.person, exp.Add(this=others, expression=equal)) or (None, None)

    @staticmethod
    def total(parts: Sequence[Bounds]) -> Bounds:
        """The sum of numbers with bounds."""
        if not parts:
            return NONE
        if len(parts) == 1:
            return parts[0]
        ends = zip(*parts, strict=True)
        lower, upper = (None if None in end else sum(n for n in end if n is not None) for end in ends)
        return lower, upper

    @staticmethod
    def within(bounds: Bounds, rule: Callable[[], Bounds]) -> Bounds:
        """Bounds with those of a further rule, if it reads the question."""
        try:
            return both_of(bounds, rule())
        except InputError:
            return bounds

    @staticmethod
    def times(bounds: Bounds, factor: float) -> Bounds:
        """A multiple of a number with bounds."""
        lower, upper = (None if end is None else end * factor for end in bounds)
        return (lower, upper) if factor >= 0 else (upper, lower)

    # ---------------------------------------------------------------- sums

    def sum_in(self, rows: PersonRows, tree: exp.Expr) -> Bounds:
        """The sum of an expression over rows; 0 where no row has a value."""
        if self._is_mixed(tree):
            tree = with_cases(tree)  # a condition as a number: the rows for which it is true
        parts = self.branches(tree) if self._is_mixed(tree) else [(ALWAYS, tree)]
        sums = [self._sum_of_values(rows, [(self.value(v), met) for met, v in parts if not self.atoms_of(v)])]
        for met, value in parts:
            here = rows.restricted(met)
            if here.where != NEVER and self.atoms_of(value):
                sums.append(self._sum_of_branch(here, value.unnest()))
        return self.total(sums)

    def _sum_of_branch(self, rows: PersonRows, tree: exp.Expr) -> Bounds:
        atoms, own = self.atoms_of(tree), self.rows_of(tree)
        if len(own) == 1 and all(isinstance(a, Item | Looked) for a in atoms):
            return self._sum_of_items(rows, tree, next(iter(own)))
        if all(isinstance(a, Truth) for a in atoms) or isinstance(tree, CONDITIONS):
            return self._sum_of_values(rows, self.values(tree))
        if own:
            raise unsupported("the sum of an item beside another value")
        return self.total([self._sum_of_persons(cell.person, tree) for cell in self._single_cells(rows, "sum")])

    def _single_cells(self, rows: PersonRows, how: str) -> list[Cell]:
        cells = self.cells(rows)
        if any(cell.test is not None for cell in cells):
            raise unsupported(f"the function {how.upper()} over several rows of a person")
        return cells

    def _sum_of_values(self, rows: PersonRows, values: Sequence[tuple[Any, Condition]]) -> Bounds:
        """The sum of an expression with listed values: of all rows between the ends of these, and of few values of the rows
        with each of them, and by levels."""
        present = [(value, both(rows.where, met)) for value, met in values if value is not None]
        if not all(isinstance(value, int | float | Decimal) for value, _ in present):
            raise unsupported("the sum of values that are not numbers")
        every = [(_number(value), met) for value, met in present if met != NEVER]
        added, bounds = [(number, met) for number, met in every if number], cast("Bounds", (None, None))
        if len(added) <= MOST_VALUES:
            bounds = self.total([self.times(self.rows_in(replace(rows, where=met)), n) for n, met in added])
        if len(added) < 2 or not all(isfinite(number) for number, _ in added):
            return bounds
        bounds = self.within(bounds, lambda: self._between_ends(every, rows))
        return self.within(bounds, lambda: self.by_levels(added, rows))

    def _between_ends(self, listed: Sequence[tuple[float, Condition]], rows: PersonRows) -> Bounds:
        """A sum of numbers of the rows that meet one of these conditions each: as if all had the least, or the greatest."""
        numbers, counted = [number for number, _ in listed], replace(rows, where=either(*(met for _, met in listed)))
        of_rows = self.rows_in(counted)
        return self.times(of_rows, min(numbers))[0], self.times(of_rows, max(numbers))[1]

    def by_levels(self, added: Sequence[tuple[float, Condition]], rows: PersonRows | None) -> Bounds:
        """A sum of numbers over the rows, or persons, that meet one of these conditions each: from each number to the next,
        of all who have that or more."""
        levels = sorted({Fraction(0), *(Fraction(number) for number, met in added if met != NEVER)})
        if len(levels) > FEW:
            return None, None
        steps: list[Bounds] = []
        for low, high in pairwise(levels):
            part = either(*(met for number, met in added if (number >= high if high > 0 else number <= low)))
            counted = self.persons(part) if rows is None else self.rows_in(replace(rows, where=part))
            steps.append(self.times(counted, _number(high - low if high > 0 else low - high)))
        return self.total(steps)

    def _sum_of_persons(self, condition: Condition, tree: exp.Expr) -> Bounds:
        """The sum of a number of the person over persons."""
        measure, factor, constant = self.measure(tree)
        if measure is None:
            rows = PersonRows(where=condition)
            return self._sum_of_numbers(condition, tree) or self._sum_of_values(rows, self.values(tree))
        measured, present = measure
        here = both(condition, present)
        multiple = self.times(self.sum_of_measure(here, measured), float(factor))
        return multiple if not constant else self.total([multiple, self.times(self.persons(here), float(constant))])

    def sum_of_measure(self, condition: Condition, measured: Weights | Attribute | Condition | None) -> Bounds:
        """The sum of a number that a release aggregates, over persons who meet a condition."""
        if condition == NEVER:
            return NONE
        bounds: Bounds = (None, None)
        if isinstance(measured, Weights) and measured.kind == VALUES:
            bounds = self._sum_of_different(condition, measured)
            if not self.releases.summable:
                return bounds
        return both_of(self.one(Plan(MEASURE, condition, measure=measured, aggregate="sum")), bounds)

    def _sum_of_numbers(self, condition: Condition, tree: exp.Expr) -> Bounds | None:
        """The sum over persons of an expression that rises, or falls, with a number of items; None for others.

        From each number to the next one it changes by as much for all persons who have that many items.
        """
        atoms = self.atoms_of(tree)
        atom = atoms[0] if len(atoms) == 1 else None
        if not isinstance(atom, Number) or atom.values:
            return None
        if atom.weights.kind != VALUES and (atom.weights.kind != SUM or atom.weights.by_label is not None):
            return None
        plain = replace(atom, present=ALWAYS)
        results = self.of_values(tree, atom, range(self.most(plain, tree) + 1))
        self._check_tail(plain, results)
        absent = self._absent(tree, atom)
        numbers = [*results, *(of for of, _ in absent)]
        if not all(isinstance(of, int | float | Decimal) and isfinite(of) for of in numbers):
            return None
        changes = [Fraction(new) - Fraction(old) for old, new in pairwise(results)]
        if not (all(change >= 0 for change in changes) or all(change <= 0 for change in changes)):
            return None
        added = {both(condition, met): Fraction(of) for of, met in absent}
        steps: dict[Condition, Fraction] = {}
        for number, change in enumerate([Fraction(results[0]), *changes]):
            met = both(condition, atom.present, self.number_from(plain, number))
            steps[met] = steps.get(met, Fraction(0)) + change
        parts = [self.times(self.persons(met), _number(times)) for met, times in added.items() if times]
        most: float | None = None
        for place, (met, times) in enumerate((met, times) for met, times in steps.items() if times):
            low, high = self.one(Plan(IDS, met, rows_alone=place >= FEW))
            most = high if most is None else min(most, most if high is None else high)  # no more have more items
            parts.append(self.times((low, most), _number(times)))
        return self.total(parts)

    def _sum_of_different(self, condition: Condition, weights: Weights) -> Bounds:
        """The sum of numbers of different values: each person adds 1 for each of their values."""
        tests: dict[int, set[str]] = {}
        for label, bits in weights.by_label or ():
            for n in range(int(bits).bit_length()):
                if int(bits) >> n & 1:
                    tests.setdefault(n, set()).add(label)
        listed = [item_all(weights.test, self.test_of(frozenset(labels), False)) for labels in tests.values()]
        return self.total([self.persons(both(condition, at_least(1, test))) for test in listed])

    def measure(self, tree: exp.Expr) -> tuple[tuple[Weights | Attribute, Condition] | None, Fraction, Fraction]:
        """A number of the person that a release aggregates, with a factor and a constant; None for other expressions."""
        atom = self.atom(tree)
        if isinstance(atom, Of) and not (attribute := self.attribute(atom)).by_value:
            present = self.decided(exp.Not(this=is_null(tree))).true if attribute.may_be_null else ALWAYS
            return (attribute, present), Fraction(1), Fraction(0)
        if isinstance(atom, Number):
            if atom.values and not all(isinstance(v, int | float | Decimal) for _, v in atom.values):
                raise unsupported("an aggregate of values that are not numbers")
            return (atom.weights, atom.present), Fraction(1), Fraction(0)
        multiples = self.linear(tree) if all(isinstance(a, Number) for a in self.atoms_of(tree)) else None
        if multiples is None or not multiples[0]:
            return None, Fraction(1), Fraction(0)
        coefficients, constant = multiples
        present = both(*(a.present for a in coefficients))
        if len(coefficients) == 1:
            ((number, factor),) = coefficients.items()
            return (number.weights, present), factor, constant
        return (self.combined(coefficients), present), Fraction(1), constant

    def _sum_of_items(self, rows: PersonRows, tree: exp.Expr, row: int) -> Bounds:
        """The sum of an expression of the item of a row."""
        evaluated = self.evaluated(tree)
        values = {v for v in evaluated.values.values() if v is not None}
        if any(isinstance(v, str) for v in values):
            raise unsupported("the sum of values that are not numbers")
        if evaluated.complete and self.releases.suppressed and evaluated.other is not None:
            values.add(evaluated.other)
        if not evaluated.complete or len({float(v) for v in values} - {0.0}) > FEW:
            return self._sum_of_weights(rows, tree, row)
        listed = [(v, on_item(row, self.test(tree, lambda x, v=v: x == v))) for v in sorted(values)]  # type: ignore[misc]
        one = self._sum_of_values(rows, listed)
        if sum(float(v) != 0 for v in values) < 2:
            return one
        return self.within(one, lambda: self._sum_of_weights(rows, tree, row))

    def _sum_of_weights(self, rows: PersonRows, tree: exp.Expr, row: int) -> Bounds:
        """The sum of numbers of items, from that of each person."""
        parts = []
        for person, test in self.alone(rows, row):
            weights, some = self.weights(tree, test)
            here = both(person, some)
            parts.append(self.one(Plan(MEASURE, here, measure=weights, aggregate="sum", notes=(MERGED_NOTE,))))
        return self.total(parts)

    def alone(self, rows: PersonRows, row: int) -> list[tuple[Condition, ItemTest]]:
        """The rows by the items of one variable alone: conditions on persons, with tests of the items.

        Raises:
            InputError: ``unsupported_query``: rows may repeat, or another variable has more than a few items.
        """
        self.check_exact(rows)
        parts = [self._without(part, {row}) for part in self._by_items(rows)]
        if any(part is None for part in parts):
            raise unsupported("a number of rows of a self-join", "Use count(DISTINCT id).")
        return [(rest, test) for part in parts for where in part or () for test, rest in self.divided(where, row)]

    def are_alone(self, rows: PersonRows, row: int) -> bool:
        """Whether rows are listed by the items of one variable: each of these says more by itself, unless there are many or
        the other variables have an item or two."""
        parts = [self._without(part, {row}) for part in self.uncompared(rows) or ()]
        choices = sum(len(part) for part in parts if part is not None)
        return bool(parts) and None not in parts and (choices <= 2 or len(self.releases.items) > MAX_TERMS)

    def _without(self, rows: PersonRows, kept: set[int]) -> list[Condition] | None:
        """The condition of rows for each choice of the items of their other variables; None unless these are few."""
        todo, done = [(settled(rows.where), rows.rows - kept)], list[Condition]()
        while todo:
            where, others = todo.pop()
            if not others:
                done.append(where)
                continue
            row = min(others)
            for test, rest in self.divided(where, row):
                labels = self.labels(test)
                if labels is None or len(labels) > len(FLIPPED) * 3:
                    return None
                todo += [(both(rest, at_least(1, Labels(frozenset({x})))), others - {row}) for x in sorted(labels)]
            if len(done) + len(todo) > MAX_TERMS:
                raise too_complex("a number of rows of too many kinds")
        return done


def are_apart(conditions: Sequence[Condition]) -> bool:
    """Whether no two of several conditions hold together, which are not too many."""
    return 1 < len(conditions) <= MOST_CELLS and all(both(*pair) == NEVER for pair in combinations(conditions, 2))


def joined(cells: Sequence[Cell]) -> list[Cell]:
    """Rows that pass the same test, of persons of whom nobody meets the conditions of two, in one cell."""
    kinds: dict[Cell, list[Condition]] = {}
    for cell in cells:
        kinds.setdefault(replace(cell, person=ALWAYS), []).append(cell.person)
    listed = ((kind, [either(*of)] if are_apart(of) else of) for kind, of in kinds.items())
    return [replace(kind, person=person) for kind, of in listed for person in of]


def merged(cells: Sequence[Cell]) -> list[Cell]:
    """The same rows in fewer cells: those for a condition and those for its negation together."""
    done: list[Cell] = []
    for cell in cells:
        for n, other in enumerate(done):
            if (cell.test, cell.second, cell.signs) != (other.test, other.second, other.signs):
                continue
            mine, its = set(conjuncts(cell.person)), set(conjuncts(other.person))
            if negate(both(*(mine - its))) == both(*(its - mine)):
                del done[n]
                return merged([*done, replace(cell, person=both(*(mine & its))), *cells[cells.index(cell) + 1 :]])
        done.append(cell)
    return done


def _number(value: Any) -> float:
    return int(value) if float(value).is_integer() else float(value)
