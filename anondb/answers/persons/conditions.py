"""Read expressions over the rows of persons as conditions: when they are true, and when they are false."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from math import isfinite
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from sqlglot import exp

from anondb.answers.persons.domains import rows_of_atom
from anondb.answers.persons.quantities import (
    Quantities,
    by_comparisons,
    by_parts,
    certain,
    condition_in,
    constant_truth,
    has_value,
    is_literal,
    with_part,
)
from anondb.answers.persons.terms import Id, Item, Listing, Number, Of, OnPart, Part, Truth, Values
from anondb.answers.ranged.equivalents import MIRRORED
from anondb.query.item_tests import Labels
from anondb.query.parsing import bare, cases_of, operands
from anondb.query.predicates import ALWAYS, NEVER, NOT_EMPTY, Condition, both, either, negate, on_item
from anondb.query.refusals import name_of, too_complex, unsupported
from anondb.query.summed import MAX, SUM
from anondb.query.values import HAS_LIST, on_value

LISTED_ITEMS = either(NOT_EMPTY, HAS_LIST)
"""The condition that the list of a person's items is not NULL: a person without items has an empty one, or none."""
MAX_BESIDE = 64  # values of a number of the person beside an item
MAX_CASES = 400  # of CASE in one expression, with those in its results
MAX_TRUTHS = 5  # conditions of a person in one expression, each true or false
_HOLDS: Mapping[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.EQ: eq, exp.NEQ: ne, exp.LT: lt, exp.LTE: le, exp.GT: gt, exp.GTE: ge
}  # fmt: skip
_COMPARED = tuple(_HOLDS)
_ATTRIBUTE = (*_COMPARED, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In, exp.Is)


class Conditions(Quantities, ABC):
    """Reads conditions."""

    def where(self, tree: exp.Expr) -> Condition:
        """When an expression over atoms is true."""
        return self.decided(tree).true

    def decided(self, tree: exp.Expr) -> Truth:
        """When an expression over atoms is true and when it is false.

        Raises:
            InputError: ``unsupported_query`` or ``query_too_complex``.
        """
        tree = bare(tree)
        if isinstance(tree, exp.And | exp.Or):
            parts = [self.decided(part) for part in operands(tree)]
            true, false = [p.true for p in parts], [p.false for p in parts]
            if isinstance(tree, exp.And):
                return Truth(both(*true), either(*false))
            return Truth(either(*true), both(*false))
        if isinstance(tree, exp.Not):
            return self.decided(tree.this).opposite
        if isinstance(tree, exp.Boolean | exp.Null):
            return constant_truth(self.value(tree))
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Boolean):
            inner = self.decided(tree.this)
            return certain(inner.true if tree.expression.this else inner.false)
        other = tree.expressions[0] if isinstance(tree, exp.Coalesce) and len(tree.expressions) == 1 else None
        if isinstance(other, exp.Boolean):
            inner = self.decided(tree.this)
            return certain(negate(inner.false) if other.this else inner.true)
        atom = self.atom(tree)
        if isinstance(atom, Truth):
            return atom
        plain = isinstance(tree, exp.Predicate) or condition_in(tree) is not tree
        return self._leaf(tree if plain else exp.cast(tree, "BOOLEAN"))

    def _leaf(self, tree: exp.Expr) -> Truth:
        """A condition that is no connective; DuckDB converts numbers and texts to truth values."""
        if (parts := by_parts(tree)) is not None:
            return self.decided(parts)
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
            part = bare(tree.this)
            if isinstance(self.atom(part), Item):
                return constant_truth(False)
            part = bare(part.this) if type(part) is exp.Cast else part
            if isinstance(part, exp.Predicate | exp.Connector | exp.Not):
                return certain(negate(self.decided(part).definite))
        name = name_of(condition_in(tree))
        atoms = self.atoms_of(tree)
        if any(isinstance(atom, Id) for atom in atoms):
            return self._on_ids(tree)
        if any(isinstance(atom, Listing | Values) for atom in atoms):
            return self._on_list(tree)
        if not atoms:
            return constant_truth(self.value(tree))
        rows = self.rows_of(tree)
        kinds = {("row", row) for row in rows} | {("atom", a) for a in atoms if not rows_of_atom(a)}
        truths = [atom for atom in atoms if isinstance(atom, Truth)]
        if truths:
            return self._by_truths(tree, truths)
        if len(kinds) == 1 and not rows:
            (atom,) = atoms
            if isinstance(atom, Of):
                return self._on_attribute(tree, atom)
            if isinstance(atom, Part):
                return self._on_part(tree)
            assert isinstance(atom, Number)
            if atom.weights.kind != SUM or atom.weights.by_label is None or atom.values:
                return self._on_number(tree, atom)
        if len(rows) == 1 and len(kinds) == 1:
            return self._on_row(tree, next(iter(rows)))
        if tree.find(exp.Case, exp.If):
            return self._by_branches(tree)
        if isinstance(tree, exp.Between):
            ends = [
                exp.GTE(this=tree.this, expression=tree.args["low"]),
                exp.LTE(this=tree.this, expression=tree.args["high"]),
            ]
            return self.decided(exp.and_(*ends))
        if all(isinstance(atom, Number) for atom in atoms):
            return self._on_numbers(tree)
        if len(rows) == 1 and (cases := self.by_number(tree, most=MAX_BESIDE)) is not None:
            return self._either((met, self.decided(one)) for met, one in cases)
        if len(rows) == 2 and type(tree) in _HOLDS:
            items = [isinstance(self.atom(side), Item) for side in (tree.this, tree.expression)]
            if all(items) or (any(items) and self.releases.typed):
                raise unsupported("a comparison of the items of a self-join in this place", "Join them by AND.")
            return self._two_rows_compared(tree)
        raise unsupported(f"{name} of an item beside another value", "Compare each with a literal.")

    # ---------------------------------------------------------------- cases

    def _by_truths(self, tree: exp.Expr, truths: Sequence[Truth]) -> Truth:
        """A condition for each truth of conditions in it."""
        if len(truths) > MAX_TRUTHS:
            raise too_complex(f"more than {MAX_TRUTHS} conditions in one expression")
        return self._either((met, self.decided(part)) for met, part in self.by_truths(tree, truths))

    def by_truths(self, tree: exp.Expr, truths: Sequence[Truth]) -> Iterator[tuple[Condition, exp.Expr]]:
        """An expression with constants in place of conditions in it, for each truth of these that some person may have."""
        for values in product((True, False, None), repeat=len(truths)):
            chosen = dict(zip(truths, values, strict=True))
            met = both(*(has_value(truth, value) for truth, value in chosen.items()))
            of = {truth: exp.null() if value is None else exp.convert(value) for truth, value in chosen.items()}
            if met != NEVER:
                yield met, self.replaced(tree, lambda atom, of=of: of.get(atom))  # type: ignore[misc]

    def branches(self, tree: exp.Expr) -> list[tuple[Condition, exp.Expr]]:
        """The expressions without CASE that an expression stands for, each with the condition under which it does."""
        nodes = tree.find_all(exp.Case, exp.If)
        case = next((node for node in nodes if node is tree or not isinstance(node.parent, exp.Case)), None)
        if case is None:
            return [(ALWAYS, tree)]
        listed: list[tuple[Condition, exp.Expr]] = []
        before: list[Condition] = []
        for condition, value in cases_of(case):
            met = self.where(condition)
            here = both(*before, met)
            if here != NEVER:
                branch = value if case is tree else with_part(tree, case, value)
                listed += [(both(here, more), part) for more, part in self.branches(branch)]
                if len(listed) > MAX_CASES:
                    raise too_complex(f"an expression has more than {MAX_CASES} cases")
            before.append(negate(met))
        return [(met, part) for met, part in listed if met != NEVER]

    def _by_branches(self, tree: exp.Expr) -> Truth:
        return self._either((met, self.decided(part)) for met, part in self.branches(tree))

    def _two_rows_compared(self, tree: exp.Expr) -> Truth:
        """How values of two rows compare: for each of the one, the values of the other for which it is so."""
        one, two = ({v: met for v, met in self.values(side) if v is not None} for side in (tree.this, tree.expression))
        if len(one) > MAX_BESIDE:
            raise too_complex(f"a comparison of items by more than {MAX_BESIDE} values")
        kinds = {float if isinstance(value, int | float | Decimal) else type(value) for value in (*one, *two)}
        if len(kinds) > 1 or any(value != value for value in (*one, *two)):
            raise unsupported("a comparison of values of several types")
        holds = _HOLDS[type(tree)]
        ways = (
            (both(met, either(*(there for w, there in two.items() if holds(v, w) is way))) for v, met in one.items())
            for way in (True, False)
        )
        return Truth(*(either(*parts) for parts in ways))

    @staticmethod
    def _either(parts: Iterable[tuple[Condition, Truth]]) -> Truth:
        """What is decided in cases, one of which each person is in."""
        cases = list(parts)
        return Truth(*(either(*(both(met, getattr(part, w)) for met, part in cases)) for w in ("true", "false")))

    # ---------------------------------------------------------------- one atom

    def _on_ids(self, tree: exp.Expr) -> Truth:
        if tree.find(exp.Case, exp.If):
            return self._by_branches(tree)
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null) and isinstance(self.atom(tree.this), Id):
            return certain(NEVER)
        of = [bare(tree.args[key]) for key in ("this", "expression")] if isinstance(tree, _COMPARED) else []
        if any(isinstance(side, exp.Null) for side in of):  # in a row that an outer join adds
            return Truth(NEVER, NEVER)
        ids = [atom.person for side in of if isinstance(atom := self.atom(side), Id)]
        if len(ids) == 2 and isinstance(tree, exp.EQ | exp.NEQ):
            if len(set(map(self.person, ids))) == 1:
                return certain(ALWAYS if isinstance(tree, exp.EQ) else NEVER)
            raise unsupported("ids of different persons", "Join the copies of the table on the id column.")
        raise unsupported("a condition on the values of the id column", "A release has no original ids.")

    @abstractmethod
    def values(self, tree: exp.Expr) -> list[tuple[Any, Condition]]:
        """The values of an expression, each with the condition for it."""

    def _on_list(self, tree: exp.Expr) -> Truth:
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
            atom = self.atom(tree.this)
            if isinstance(atom, Listing):
                return certain(negate(LISTED_ITEMS) if atom.nullable else NEVER)
        lists = (c.parent for c in tree.find_all(exp.Column) if isinstance(self.atom(c), Listing | Values))
        around = next(lists, None)
        while isinstance(around, exp.Paren):
            around = around.parent
        raise unsupported(name_of(around or tree))

    def _on_part(self, tree: exp.Expr) -> Truth:
        places = [
            OnPart(self.releases.places(self.replaced(t, lambda _: exp.column("part"))))
            for t in (tree, exp.Not(this=exp.paren(tree)))
        ]
        return Truth(*places)  # type: ignore[arg-type]

    def _on_attribute(self, tree: exp.Expr, atom: Of) -> Truth:
        """A condition on the values of an attribute: those that a literal compares, or else all that it may have."""
        attribute = self.attribute(atom)
        if isinstance(tree, _ATTRIBUTE):
            tested = tree.copy()
            for key in ("this", "expression", "low", "high"):
                part = tested.args.get(key)
                if isinstance(part, exp.Expr) and not self.atoms_of(part) and not is_literal(part):
                    tested.set(key, self.constant(part))
            place = next((k for k in ("this", "expression") if self.atom(tested.args.get(k) or exp.null()) == atom), None)
            simple = attribute.ends is not None or isinstance(tested, exp.In | exp.EQ)
            told = attribute.unnamed or (simple and not attribute.by_value)
            condition = on_value(tested, attribute, left=place == "this") if place is not None and told else None
            if condition is not None:
                return Truth(condition.settled(), condition.opposite().settled())
        values = self.of_attribute(tree, atom)
        return Truth(*(either(*(met for value, met in values if value is truth)) for truth in (True, False)))

    def _on_row(self, tree: exp.Expr, row: int) -> Truth:
        """A condition on the item of a row."""
        labels = self._listed(tree)
        if labels is not None:
            decided = certain(on_item(row, Labels(labels)))
            return decided.opposite if isinstance(tree, exp.NEQ) else decided
        true = self.test(tree, lambda value: value is not None and bool(value))
        values = self.evaluated(tree)
        if None not in values.values.values() and values.other is not None:
            return certain(on_item(row, true))
        return Truth(on_item(row, true), on_item(row, self.test(tree, lambda value: value is not None and not value)))

    def _listed(self, tree: exp.Expr) -> frozenset[str] | None:
        """The texts that a condition compares an item with for equality; None for other conditions."""
        sides: list[exp.Expr] = []
        if isinstance(tree, exp.EQ | exp.NEQ):
            sides = [bare(tree.this), bare(tree.expression)]
            if not isinstance(self.atom(sides[0]), Item):
                sides.reverse()
        elif isinstance(tree, exp.In) and tree.expressions:
            sides = [bare(tree.this), *map(bare, tree.expressions)]
        if not sides or not isinstance(self.atom(sides[0]), Item):
            return None
        sides = [side if self.atoms_of(side) else self.constant(side) for side in sides]
        kinds = {side.is_string if isinstance(side, exp.Literal) else None for side in sides[1:]}
        if None in kinds or len(kinds) > 1 or (not self.releases.typed and False in kinds):
            return None
        labels = frozenset(side.name for side in sides[1:])
        if self.releases.typed and not labels <= frozenset(self.releases.items):
            labels = self._spelled(sides[1:])
        self.written |= labels
        return labels

    def _spelled(self, literals: Sequence[exp.Expr]) -> frozenset[str]:
        """The texts of the values of the items' type that literals are equal to, as a release spells them."""
        kind = exp.DataType.build(self.releases.type, dialect="duckdb")
        values = [exp.cast(literal.copy(), kind) if literal.is_string else literal.copy() for literal in literals]
        items = [exp.TryCast(this=exp.paren(value.copy()), to=kind.copy()) for value in values]
        same = [exp.EQ(this=item.copy(), expression=value) for item, value in zip(items, values, strict=True)]
        texts = [exp.cast(item, "VARCHAR") for item in items]
        row = self.releases.rows(exp.select(*texts, *same))[0]
        return frozenset(text for text, held in zip(row, row[len(texts) :], strict=False) if held)

    # ---------------------------------------------------------------- numbers

    def _on_number(self, tree: exp.Expr, atom: Number) -> Truth:
        """A condition on one number: the values for which it is true and false."""
        if atom.present != ALWAYS:
            plain = self.column(replace(atom, present=ALWAYS))
            there = self.decided(self.replaced(tree, lambda a: plain if a == atom else None))
            none = self.decided(self.replaced(tree, lambda a: exp.null() if a == atom else None))
            absent = negate(atom.present)
            return self._either([(atom.present, there), (absent, none)])
        if atom.values:
            listed = self.values_of_number(atom, tree)
            truths = self.of_values(tree, atom, [value for value, _ in listed])
            if len(set(truths)) == 1:  # whatever it is, also NULL
                return constant_truth(truths[0])
            ways = [self.in_runs(atom, [met is truth for met in truths]) for truth in (True, False)]
            if None not in truths and len(set(truths)) == 2:
                return self._at_threshold(atom, truths) or Truth(*ways)
            return Truth(*ways) if None in truths else certain(ways[0])
        simple = self._simple(tree, atom)
        if simple is not None:
            return simple
        numbers = list(range(self.most(atom, tree) + 1))
        truths = self.of_values(tree, atom, numbers)
        self._check_tail(atom, truths)
        ways = [self._in_ranges(atom, [n for n in numbers if truths[n] is truth], numbers[-1]) for truth in (True, False)]
        return Truth(*ways) if None in truths else certain(ways[0])

    def _at_threshold(self, atom: Number, truths: Sequence[Any]) -> Truth | None:
        """A condition that changes once along the values of an extreme: that somebody has an item beyond."""
        places = list(atom.values)[:: 1 if atom.weights.kind == MAX else -1]
        changes = [n for n, (a, b) in enumerate(pairwise(truths), 1) if a != b]
        if len(changes) != 1:
            return None
        beyond = certain(self._reaches(atom, places[changes[0]][0]))
        return beyond if truths[-1] else beyond.opposite

    def _simple(self, tree: exp.Expr, atom: Number) -> Truth | None:
        """A comparison of a number of items with a constant; None for other conditions."""
        if not isinstance(tree, _COMPARED):
            return None
        kind: type[exp.Expr] = type(tree)
        left, right = bare(tree.this), bare(tree.expression)
        if self.atom(left) != atom:
            kind, left, right = MIRRORED.get(kind, kind), right, left
        if self.atom(left) != atom or self.atoms_of(right):
            return None
        value = self.value(right)
        if value is None:
            return Truth(NEVER, NEVER)
        if not isinstance(value, int | float | Decimal) or isinstance(value, bool) or not isfinite(value):
            return None
        limit = Fraction(value)
        above = int(limit // 1) + 1  # the least whole number above it
        least = above - 1 if limit.denominator == 1 else above  # the least one that is not below it
        if kind in (exp.EQ, exp.NEQ):
            same = both(self.number_from(atom, least), negate(self.number_from(atom, least + 1)))
            decided = certain(same if limit.denominator == 1 and limit >= 0 else NEVER)
            return decided.opposite if kind is exp.NEQ else decided
        start = above if kind in (exp.GT, exp.LTE) else least
        decided = certain(self.number_from(atom, start))
        return decided if kind in (exp.GT, exp.GTE) else decided.opposite

    def _on_numbers(self, tree: exp.Expr) -> Truth:
        """A comparison of sums: of their difference with a constant; else the condition for each value of a number."""
        compared = isinstance(tree, _COMPARED)
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
            part = bare(tree.this)
            if self.linear(part) is not None:  # a sum is NULL if a part of it is
                numbers = [atom for atom in self.atoms_of(part) if isinstance(atom, Number)]
                return certain(negate(both(*(atom.present for atom in numbers))))
        sides = [exp.paren(tree.args[key].copy()) for key in ("this", "expression")] if compared else []
        difference = self.linear(exp.Sub(this=sides[0], expression=sides[1])) if compared else None
        of_values = self.of_extremes(tree) if compared and difference is None else None
        if of_values is not None:
            return self.decided(of_values)
        if difference is None:
            cases = self.by_number(tree)
            if cases is not None:
                return self._either((met, self.decided(one)) for met, one in cases)
            if (plain := by_comparisons(tree)) is not None:
                return self.decided(plain)
            other = f"{name_of(condition_in(tree))} of several numbers of a person"
            raise unsupported("a comparison of other numbers of a person than sums" if compared else other)
        coefficients, constant = difference
        weights = self.combined(coefficients)
        present = both(*(atom.present for atom in coefficients))
        above, least = self.beyond(weights, -constant * weights.scale)
        of_signs: dict[type[exp.Expr], Condition] = {
            exp.GT: above,
            exp.GTE: least,
            exp.LT: negate(least),
            exp.LTE: negate(above),
            exp.EQ: both(least, negate(above)),
            exp.NEQ: either(negate(least), above),
        }
        holds = of_signs[type(tree)]
        return Truth(both(present, holds), both(present, negate(holds)))
