"""Aggregates over the rows of persons, as plans for the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, Protocol

from sqlglot import exp

from anondb.answers.persons.decided import has_value
from anondb.answers.persons.domains import UNKNOWN, typeof
from anondb.answers.persons.relations import Relations
from anondb.answers.persons.rows import FLIPPED, Cell
from anondb.answers.persons.terms import (
    Item,
    Looked,
    Number,
    Of,
    OnPart,
    Part,
    PersonRows,
    Scope,
    Truth,
)
from anondb.errors import InputError
from anondb.query.merged import SUM, VALUES
from anondb.query.pairs import SIGNS, is_single
from anondb.query.plan import IDS, ITEMS, MEASURE, PAIRS, ROWS, Plan
from anondb.query.predicates import (
    ALWAYS,
    ANY_ITEM,
    NEVER,
    NOT_EMPTY,
    Condition,
    ItemTest,
    Labels,
    Weights,
    at_least,
    both,
    conjuncts,
    either,
    item_all,
    negate,
    on_item,
    settled,
    split,
)
from anondb.query.refusals import name_of, too_complex, unsupported
from anondb.query.values import Attribute

Bounds = tuple[float | None, float | None, float | None]
Row = tuple[Any, ...]
NONE: Bounds = (0, 0.0, 0)
MAX_TERMS = 120  # of a sum of counts
MERGED_NOTE = "Rows are counted as in the release: an item that is repeated within a transaction counts once."
LISTED_NOTE = "A listed item may not occur in the original at all."
VALUES_NOTE = "All possible values are listed; a listed value may not occur in the original at all."
FEW = 6  # numbers of items whose rows are counted one by one
_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)


class Answers(Protocol):
    """Answers plans."""

    def answer(self, plan: Plan) -> Sequence[Row]:
        """The groups of a plan: their keys, then lower bound, estimate and upper bound."""


@dataclass(frozen=True, eq=False)
class Basic:
    """An aggregate that is answered by itself.

    Attributes:
        how: ``rows``, ``ids``, ``sum``, ``distinct``, or the aggregate of a measure.
        value: the operand, if any.
        wanted: the condition of FILTER, if any.
        share: of a quantile.
    """

    how: str
    value: exp.Expr | None = None
    wanted: exp.Expr | None = None
    share: Fraction | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What distinguishes it from others."""
        return self.how, self.value, self.wanted, self.share


class Aggregates(Relations):
    """Answers aggregates over rows of persons. A group is a list of alternatives (``Scope``), whose rows add up."""

    answers: Answers

    def value_of(self, basic: Basic, group: Sequence[Scope]) -> Bounds:
        """The bounds of an aggregate over a group."""
        group = self.wanted(basic, group)
        if basic.how == "ids":
            return self.persons(either(*(self.closed(s.rows) for s in group)))
        if basic.how == "rows":
            return self._rows_of([s.rows for s in group])
        assert basic.value is not None
        if basic.how == "sum":
            return self.total([self.sum_in(s.rows, self.resolved(basic.value, s)) for s in group])
        if basic.how == "distinct":
            return self._different(basic.value, group)
        return self._measured(basic, group)

    def wanted(self, basic: Basic, group: Sequence[Scope]) -> list[Scope]:
        """The rows of a group that FILTER chooses."""
        if basic.wanted is None:
            return list(group)
        return [self.filtered(scope, [basic.wanted]) for scope in group]

    # ---------------------------------------------------------------- counts

    def one(self, plan: Plan) -> Bounds:
        """A plan with a single number."""
        plan = self._named_by(plan)
        if plan.condition == NEVER and plan.counts != MEASURE:
            return NONE
        ((*_, lower, estimate, upper),) = self.answers.answer(plan)
        return lower, estimate, upper

    def _named_by(self, plan: Plan) -> Plan:
        return replace(plan, labels=self.written)

    def persons(self, condition: Condition) -> Bounds:
        """The number of persons for whom a condition holds."""
        return self.one(Plan(IDS, condition))

    def rows_in(self, rows: PersonRows) -> Bounds:
        """The number of rows."""
        return self._rows_of([rows])

    def _rows_of(self, parts: Sequence[PersonRows]) -> Bounds:
        """The number of rows of alternatives."""
        cells = merged([cell for rows in parts for cell in self.cells(rows)])
        if len(cells) > MAX_TERMS:
            raise too_complex("a number of rows of too many kinds")
        return self.total([self.rows_of_cell(cell) for cell in cells])

    def rows_of_cell(self, cell: Cell) -> Bounds:
        """The number of rows of one kind."""
        if cell.second is not None and cell.test is not None:
            plan = Plan(PAIRS, self._plain(cell.person), cell.test, cell.second, cell.signs)
            if not all(map(is_single, conjuncts(plan.condition))):
                raise unsupported("a number of pairs of items of some persons")
            listed = [row[-3:] for row in self.answers.answer(self._named_by(plan))]
            lower, estimate, upper = self.total(listed)
            return lower, estimate, None if self.releases.suppressed else upper
        if cell.test is None:
            return self.one(Plan(IDS, cell.person))
        return self.one(Plan(ROWS, cell.person, cell.test, notes=(MERGED_NOTE,)))

    @staticmethod
    def total(parts: Sequence[Bounds]) -> Bounds:
        """The sum of numbers with bounds."""
        if not parts:
            return NONE
        if len(parts) == 1:
            return parts[0]
        ends = zip(*parts, strict=True)
        lower, estimate, upper = (None if None in end else sum(n for n in end if n is not None) for end in ends)
        return lower, estimate, upper

    @staticmethod
    def times(bounds: Bounds, factor: float) -> Bounds:
        """A multiple of a number with bounds."""
        lower, estimate, upper = (None if end is None else end * factor for end in bounds)
        return (lower, estimate, upper) if factor >= 0 else (upper, estimate, lower)

    # ---------------------------------------------------------------- sums

    def sum_in(self, rows: PersonRows, tree: exp.Expr) -> Bounds:
        """The sum of an expression over rows; 0 where no row has a value."""
        parts = self.branches(tree) if self._is_mixed(tree) and tree.find(exp.Case, exp.If) else [(ALWAYS, tree)]
        found: list[Bounds] = []
        for met, value in parts:
            here = replace(rows, where=both(rows.where, met))
            if here.where != NEVER:
                found.append(self._sum_of_branch(here, value.unnest()))
        return self.total(found)

    def _sum_of_branch(self, rows: PersonRows, tree: exp.Expr) -> Bounds:
        atoms = self.atoms_of(tree)
        if not atoms:
            value = self.value(tree)
            return NONE if value is None or float(value) == 0 else self.times(self.rows_in(rows), _number(value))
        own = self.rows_of(tree)
        if len(own) == 1 and all(isinstance(a, Item | Looked) for a in atoms):
            return self._sum_of_items(rows, tree, next(iter(own)))
        if all(isinstance(a, Truth) for a in atoms) or isinstance(tree, _CONDITIONS):
            return self._sum_of_values(rows, self.values(tree))
        if own:
            raise unsupported("the sum of an item beside another value")
        found = [self._sum_of_persons(cell.person, tree) for cell in self._single_cells(rows, "sum")]
        return self.total(found)

    def _single_cells(self, rows: PersonRows, how: str) -> list[Cell]:
        cells = self.cells(rows)
        if any(cell.test is not None for cell in cells):
            raise unsupported(f"the function {how.upper()} over several rows of a person")
        return cells

    def _sum_of_values(self, rows: PersonRows, values: Sequence[tuple[Any, Condition]]) -> Bounds:
        """The sum of an expression with few values."""
        found: list[Bounds] = []
        for value, met in values:
            if value is not None and float(value) != 0:
                here = replace(rows, where=both(rows.where, met))
                found.append(self.times(self.rows_in(here), _number(value)))
        return self.total(found)

    def _sum_of_persons(self, condition: Condition, tree: exp.Expr) -> Bounds:
        """The sum of a number of the person over persons."""
        measure, factor, constant = self.measure(tree)
        if measure is None:
            return self._sum_of_values(PersonRows(where=condition), self.values(tree))
        measured, present = measure
        here = both(condition, present)
        by_value = (
            self._sum_of_different(here, measured)
            if isinstance(measured, Weights) and measured.kind == VALUES
            else None
        )
        if here == NEVER:
            lower, estimate, upper = NONE
        elif by_value is not None and not self.releases.summable:
            lower, estimate, upper = by_value
        else:
            lower, estimate, upper = self.one(Plan(MEASURE, here, measure=measured, aggregate="sum"))
            lower, estimate, upper = both_of((lower, estimate, upper), by_value or (None, None, None))
        found = self.times((lower, 0.0 if estimate is None else estimate, upper), float(factor))
        return found if not constant else self.total([found, self.times(self.persons(here), float(constant))])

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
        if isinstance(atom, Of):
            attribute = next(a for a in self.releases.attributes if a.name == atom.attribute)
            return (attribute, ALWAYS), Fraction(1), Fraction(0)
        if isinstance(atom, Number):
            if atom.values and not all(isinstance(v, int | float) or hasattr(v, "as_tuple") for _, v in atom.values):
                raise unsupported("an aggregate of something else than numbers")
            return (atom.weights, atom.present), Fraction(1), Fraction(0)
        found = self.linear(tree) if all(isinstance(a, Number) for a in self.atoms_of(tree)) else None
        if found is None or not found[0]:
            return None, Fraction(1), Fraction(0)
        coefficients, constant = found
        present = both(*(a.present for a in coefficients))
        if len(coefficients) == 1:
            ((number, factor),) = coefficients.items()
            return (number.weights, present), factor, constant
        return (self.combined(coefficients), present), Fraction(1), constant

    def _sum_of_items(self, rows: PersonRows, tree: exp.Expr, row: int) -> Bounds:
        """The sum of an expression of the item of a row."""
        found = self.evaluated(tree)
        values = {v for v in found.values.values() if v is not None}
        known = not self.releases.suppressed or found.other is not UNKNOWN
        if any(isinstance(v, str) for v in values):
            raise unsupported("the sum of something else than numbers")
        if known and self.releases.suppressed and found.other is not None:
            values.add(found.other)
        if not known or len({float(v) for v in values} - {0.0}) > FEW:
            return self._sum_of_weights(rows, tree, row)
        listed = [(v, on_item(row, self.test(tree, lambda x, v=v: x == v))) for v in sorted(values)]  # type: ignore[misc]
        one = self._sum_of_values(rows, listed)
        if sum(float(v) != 0 for v in values) < 2:
            return one
        try:
            return both_of(one, self._sum_of_weights(rows, tree, row))
        except InputError:
            return one

    def _sum_of_weights(self, rows: PersonRows, tree: exp.Expr, row: int) -> Bounds:
        """The sum of numbers of items, from that of each person."""
        parts = []
        for person, test in self._by_row(rows, row):
            weights, some = self.weights(tree, test)
            here = both(person, some)
            lower, estimate, upper = self.one(
                Plan(MEASURE, here, measure=weights, aggregate="sum", notes=(MERGED_NOTE,))
            )
            parts.append((lower, estimate or 0.0, upper))
        return self.total(parts)

    def _by_row(self, rows: PersonRows, row: int) -> list[tuple[Condition, ItemTest]]:
        """The conditions on persons with the tests of the items of a variable; other variables are fixed to single items."""
        self.check_exact(rows)
        found = []
        for part in self._by_items(rows):
            for where in self._without(part, {row}):
                found += [(rest, test) for test, rest in self.divided(where, row)]
        return found

    def _without(self, rows: PersonRows, kept: set[int]) -> list[Condition]:
        """The condition of rows for each choice of the items of their other variables, which are few."""
        todo, done = [(settled(rows.where), rows.rows - kept)], []
        while todo:
            where, others = todo.pop()
            if not others:
                done.append(where)
                continue
            row = min(others)
            for test, rest in self.divided(where, row):
                labels = self.labels(test)
                if labels is None or len(labels) > len(FLIPPED) * 3:
                    raise unsupported("a number of rows of a self-join", "Use count(DISTINCT id).")
                todo += [(both(rest, at_least(1, Labels(frozenset({x})))), others - {row}) for x in sorted(labels)]
            if len(done) + len(todo) > MAX_TERMS:
                raise too_complex("a number of rows of too many kinds")
        return done

    # ---------------------------------------------------------------- aggregates of numbers

    def _measured(self, basic: Basic, group: Sequence[Scope]) -> Bounds:
        """An average, an extreme, a quantile or a deviation of a number of each person."""
        assert basic.value is not None
        cells = []
        for scope in group:
            tree = self.resolved(basic.value, scope)
            for met, value in self.branches(tree) if tree.find(exp.Case, exp.If) else [(ALWAYS, tree)]:
                rows = replace(scope.rows, where=both(scope.rows.where, met))
                if rows.where == NEVER or isinstance(value.unnest(), exp.Null):
                    continue
                cells += [(cell.person, value) for cell in self._single_cells(rows, basic.how)]
        if len({value for _, value in cells}) != 1:
            raise unsupported(f"the function {basic.how.upper()} of numbers of several kinds")
        conditions = [condition for condition, _ in cells]
        if len(conditions) > 1:
            raise unsupported(f"the function {basic.how.upper()} over several rows of a person")
        ((condition, tree),) = cells
        found, factor, constant = self.measure(tree)
        if found is None:
            raise unsupported(f"the function {basic.how.upper()} of something else than a number of persons or items")
        measured, present = found
        how = basic.how
        if factor < 0 and how in ("min", "max"):
            how = {"min": "max", "max": "min"}[how]
        if (factor != 1 or constant) and how not in ("avg", "min", "max"):
            raise unsupported(f"the function {how.upper()} of an expression")
        plan = Plan(MEASURE, both(condition, present), measure=measured, aggregate=how, share=basic.share)
        lower, estimate, upper = self.times(self.one(plan), float(factor)) if factor != 1 else self.one(plan)
        if not constant:
            return lower, estimate, upper
        low, middle, high = (None if end is None else end + float(constant) for end in (lower, estimate, upper))
        return low, middle, high

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
                found[of] = (
                    max(before[0] or 0, bounds[0] or 0),
                    max(before[1] or 0, bounds[1] or 0),
                    _most(before, bounds),
                )
        lower = sum((low or 0) >= 1 for low, _, _ in found.values())
        upper = sum(high is None or high >= 1 for _, _, high in found.values())
        estimate = sum(min(middle or 0.0, 1.0) for _, middle, _ in found.values())
        more = self.releases.hidden if open_ else 0
        return lower, max(estimate, lower), None if more is None else upper + more

    # ---------------------------------------------------------------- groups

    def by_item(self, rows: PersonRows, row: int, *, ids: bool) -> dict[str, Bounds]:
        """The number of rows, or of persons, for each item of a variable."""
        plans: list[Plan] = []
        notes = (LISTED_NOTE,) if ids else (LISTED_NOTE, MERGED_NOTE)
        if ids:
            met = either(*(self.some_of(part, part.rows - {row}) for part in self.settled_rows(rows)))
            parts = [(rest, test) for test, rest in self.divided(settled(met), row)]
        else:
            parts = self._by_row(rows, row)
        for person, test in parts:
            plans.append(Plan(ITEMS, self._plain(person), test, notes=notes))
        found: dict[str, Bounds] = {}
        for plan in plans:
            for item, *bounds in self.answers.answer(self._named_by(plan)):
                of: Bounds = (bounds[0], bounds[1], bounds[2])
                found[item] = self.total([found[item], of]) if item in found else of
        return found

    @staticmethod
    def _plain(condition: Condition) -> Condition:
        """A condition without that the person has an item, which having some item implies."""
        return both(*(part for part in conjuncts(condition) if part != NOT_EMPTY))

    def pair_plan(self, rows: PersonRows, keys: Sequence[int], *, ids: bool) -> Plan:
        """The plan for the number of rows of each two items of two variables."""
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
        person = self._plain(person)
        if mixed or not all(map(is_single, conjuncts(person))):
            raise unsupported("GROUP BY two items with other conditions than on single items")
        if not ids:
            self.check_exact(rows)
        first, second = (tests.get(key, ANY_ITEM) for key in keys)
        return self._named_by(Plan(PAIRS, person, first, second, signs, notes=(LISTED_NOTE,)))

    def values(self, tree: exp.Expr) -> list[tuple[Any, Condition]]:
        """The values of an expression, each with the condition for it.

        Raises:
            InputError: ``unsupported_query``: they cannot be listed.
        """
        tree = tree.unnest()
        if not self.atoms_of(tree):
            ((value, kind),) = self.releases.rows(exp.select(tree.copy(), typeof(tree)))
            self.kinds[tree] = str(kind)
            return [(value, ALWAYS)]
        if isinstance(tree, _CONDITIONS) or isinstance(self.atom(tree), Truth):
            self.kinds[tree] = "BOOLEAN"
            found = self.decided(tree)
            unknown = both(negate(found.true), negate(found.false))
            unknown = NEVER if negate(found.true) == found.false else unknown
            return [(v, met) for v, met in ((True, found.true), (False, found.false), (None, unknown)) if met != NEVER]
        atoms = self.atoms_of(tree)
        own = self.rows_of(tree)
        if len(own) == 1 and all(isinstance(a, Item | Looked) for a in atoms):
            return self._values_of_item(tree, next(iter(own)))
        if len(atoms) == 1 and isinstance(atoms[0], Of):
            grouped: dict[Any, list[Any]] = {}
            for value, of in self.attribute_values(tree, atoms[0]):
                grouped.setdefault(of, []).append(value)
            return [(of, self.among(atoms[0], members)) for of, members in grouped.items()]
        if len(atoms) == 1 and isinstance(atoms[0], Part):
            return self._values_of_part(tree)
        if len(atoms) == 1 and isinstance(atoms[0], Number):
            return self._values_of_number(tree, atoms[0])
        made = self._values_by_case(tree, [a for a in atoms if isinstance(a, Truth)])
        if made is None:
            raise unsupported(f"GROUP BY an expression ({name_of(tree)})", "Group by each of its parts.")
        return made

    def _values_of_item(self, tree: exp.Expr, row: int) -> list[tuple[Any, Condition]]:
        found = self.evaluated(tree)
        self.kinds[tree] = found.kind
        if found.other is UNKNOWN and self.releases.suppressed:
            made = self._values_by_case(tree, []) if isinstance(tree, exp.Case | exp.If) else None
            if made is not None:
                return made
            raise unsupported(f"GROUP BY an expression of items that may be suppressed ({name_of(tree)})")
        tests: dict[Any, list[str]] = {}
        listed = frozenset(self.releases.items)
        for label, value in found.values.items():
            if self.releases.suppressed or label in listed:
                tests.setdefault(value, []).append(label)
        others = self.releases.suppressed
        if others:
            tests.setdefault(found.other, [])
        return [
            (
                value,
                on_item(
                    row,
                    self.test_of(
                        frozenset(labels), others and value == found.other and type(value) is type(found.other)
                    ),
                ),
            )
            for value, labels in tests.items()
        ]

    def _values_of_part(self, tree: exp.Expr) -> list[tuple[Any, Condition]]:
        places: dict[Any, set[int]] = {}
        values = list(self.releases.parts())
        for place, of in enumerate(self.of_values(tree, Part(), values)):
            places.setdefault(of, set()).add(place)
        return [(of, OnPart(frozenset(where))) for of, where in places.items()]  # type: ignore[misc]

    def _values_of_number(self, tree: exp.Expr, atom: Number) -> list[tuple[Any, Condition]]:
        """The values of an expression of one number; that for great numbers is the one for all beyond."""
        plain = replace(atom, present=ALWAYS)
        made: dict[Any, list[int]] = {}
        if atom.values:
            listed = self.values_of_number(plain, tree)
            found = self.of_values(tree, atom, [value for value, _ in listed])
            grouped: dict[Any, list[Condition]] = {}
            for (_, met), of in zip(listed, found, strict=True):
                grouped.setdefault(of, []).append(met)
            return [(of, both(atom.present, either(*mets))) for of, mets in grouped.items()] + self._absent(tree, atom)
        if atom.weights.by_label is not None and atom.weights.kind == SUM:
            raise unsupported("GROUP BY a sum of numbers of items")
        numbers = list(range(self.most(plain, tree) + 1))
        found = self.of_values(tree, atom, numbers)
        self._check_tail(plain, found)
        for number, of in zip(numbers, found, strict=True):
            made.setdefault(of, []).append(number)
        listed_ = [
            (of, both(atom.present, self._in_ranges(plain, members, numbers[-1]))) for of, members in made.items()
        ]
        if len(listed_) > MAX_TERMS:
            raise too_complex(f"it has over {MAX_TERMS} groups of numbers of items")
        return listed_ + self._absent(tree, atom)

    def _absent(self, tree: exp.Expr, atom: Number) -> list[tuple[Any, Condition]]:
        if atom.present == ALWAYS:
            return []
        value = self.value(self.replaced(tree, lambda a: exp.null() if a == atom else None))
        return [(value, negate(atom.present))]

    def _values_by_case(self, tree: exp.Expr, truths: Sequence[Truth]) -> list[tuple[Any, Condition]] | None:
        """The values of an expression for each truth of its conditions, or for each branch of CASE."""
        parts: list[tuple[Condition, exp.Expr]] = []
        if truths and len(truths) <= 4:
            for held in product((True, False, None), repeat=len(truths)):
                chosen = dict(zip(truths, held, strict=True))
                met = both(*(has_value(t, v) for t, v in chosen.items()))
                of = {t: exp.null() if v is None else exp.convert(v) for t, v in chosen.items()}
                if met != NEVER:
                    parts.append((met, self.replaced(tree, lambda a, of=of: of.get(a))))  # type: ignore[misc]
        elif tree.find(exp.Case, exp.If):
            parts = self.branches(tree)
        if not parts:
            return None
        grouped: dict[Any, list[Condition]] = {}
        for met, part in parts:
            for value, more in self.values(part):
                grouped.setdefault(value, []).append(both(met, more))
                self.kinds[tree] = (
                    self.kinds[part.unnest()] if value is not None or tree not in self.kinds else self.kinds[tree]
                )
        return [(value, either(*mets)) for value, mets in grouped.items() if either(*mets) != NEVER]


def both_of(one: Bounds, other: Bounds) -> Bounds:
    """A number that lies within two bounds."""
    lows, highs = ([end for end in ends if end is not None] for ends in ((one[0], other[0]), (one[2], other[2])))
    return max(lows, default=None), one[1], min(highs, default=None)


def merged(cells: Sequence[Cell]) -> list[Cell]:
    """The same rows in fewer cells: those for a condition and those for its negation together."""
    done: list[Cell] = []
    for cell in cells:
        for n, other in enumerate(done):
            mine, its = set(conjuncts(cell.person)), set(conjuncts(other.person))
            same = (cell.test, cell.second, cell.signs) == (other.test, other.second, other.signs)
            if same and negate(both(*(mine - its))) == both(*(its - mine)):
                del done[n]
                return merged([*done, replace(cell, person=both(*(mine & its))), *cells[cells.index(cell) + 1 :]])
        done.append(cell)
    return done


def _number(value: Any) -> float:
    whole = float(value).is_integer()
    return int(value) if whole else float(value)


def _most(one: Bounds, other: Bounds) -> float | None:
    return None if one[2] is None or other[2] is None else max(one[2], other[2])
