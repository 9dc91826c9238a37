"""Numbers of a person from their rows, over atoms: numbers of rows, sums, extremes and different values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from itertools import product
from math import inf
from typing import Any

from sqlglot import exp

from anondb.answers.persons.conditions import MAX_TRUTHS
from anondb.answers.persons.domains import typed
from anondb.answers.persons.quantities import certain
from anondb.answers.persons.rows import Cell, Kinds
from anondb.answers.persons.terms import Item, Looked, Number, PersonRows, Scope, Truth, type_of_sum, values_of, weights_of
from anondb.answers.ranged.values import when
from anondb.query.item_tests import ANY_ITEM, NO_ITEM, ItemTest, item_all, item_any
from anondb.query.parsing import cases_of
from anondb.query.predicates import ALWAYS, NEVER, AtLeast, Condition, Weights, at_least, both, conjuncts, either, negate
from anondb.query.refusals import name_of, too_complex, unsupported
from anondb.query.summed import MAX, MAX_VALUES, MIN

FEW_KINDS = 3  # of rows, which are not added up one by one


class Numbers(Kinds):
    """Reads aggregates over the rows of one person."""

    def _column_of(self, condition: Condition) -> exp.Expr:
        return self.column(certain(condition))

    @staticmethod
    def _holds(condition: Condition, met: Condition) -> bool:
        """Whether a condition follows from one that holds."""
        return set(conjuncts(condition)) - {ALWAYS} <= set(conjuncts(met))

    def _one_row(self, rows: PersonRows, tree: exp.Expr) -> list[tuple[Condition, ItemTest]]:
        """The cases of a person in which an expression of one item has rows, of which at most one holds.

        Each is a condition with the test of the items that have a row then.
        """
        own = self.rows_of(tree)
        if len(own) != 1:
            raise unsupported("an expression of several items")
        (row,) = own
        if row not in rows.rows:
            raise unsupported("an expression of an item that is compared with another one")
        parts = self.divided(self.closed_but(rows, own), row)
        conditions = [condition for _, condition in parts if condition != ALWAYS]
        if len(conditions) > MAX_TRUTHS:
            raise too_complex(f"more than {MAX_TRUTHS} conditions on a person beside those on an item")
        by_test: dict[ItemTest, list[Condition]] = {}
        for truth in product((True, False), repeat=len(conditions)):
            met = dict(zip(conditions, truth, strict=True))
            case = both(*(c if held else negate(c) for c, held in met.items()))
            test = self._simpler(item_any(*(t for t, c in parts if met.get(c, True))))
            if case != NEVER and test != NO_ITEM:
                by_test.setdefault(test, []).append(case)
        return [(either(*cases), test) for test, cases in by_test.items()]

    def _case_value(self, cases: Sequence[tuple[Condition, exp.Expr]], other: exp.Expr, met: Condition) -> exp.Expr:
        """The value of the case of a person that holds; another one in no case."""
        if len(cases) == 1 and self._holds(cases[0][0], met):
            return cases[0][1]
        ifs = [exp.If(this=self._column_of(condition), true=value) for condition, value in cases]
        return exp.Case(ifs=ifs, default=other) if ifs else other

    # ---------------------------------------------------------------- numbers of rows

    def _numbers(self, scopes: Sequence[Scope], met: Condition) -> exp.Expr:
        """The number of rows."""
        cells = [
            cell
            for scope in scopes
            for cell in self.cells(scope.rows, open_rows=scope.rows.rows if len(scope.rows.rows) == 1 else frozenset())
        ]
        if (kinds := self._kinds_of_items(cells, met)) is not None:
            return kinds
        return added([self._number_of(cell, met) for cell in cells]) if cells else exp.Literal.number(0)

    def _kinds_of_items(self, cells: Sequence[Cell], met: Condition) -> exp.Expr | None:
        """The number of rows where each kind is one row for those who have an item of a list, as the number of different
        kinds of their items, the rows of SELECT DISTINCT id, category; None for other rows.

        A person has as many of these rows as there are kinds of which they have an item, which is what it counts.
        """
        parts = [set(conjuncts(cell.person)) for cell in cells if cell.test is None]
        if len(parts) < max(FEW_KINDS, len(cells)) or len(parts) > MAX_VALUES:
            return None
        common = set.intersection(*parts)
        listed: list[tuple[str, int]] = []
        for kind, own in enumerate(part - common for part in parts):
            leaf = own.pop() if len(own) == 1 else None
            labels = self.labels(leaf.test) if isinstance(leaf, AtLeast) and leaf.count == 1 else None
            if labels is None:
                return None
            listed += [(label, kind) for label in sorted(labels)]
        number = self.column(Number(values_of(listed)))
        return self._case_value([(both(*common), number)], exp.Literal.number(0), met)

    def _number_of(self, cell: Cell, met: Condition) -> exp.Expr:
        if cell.second is not None:
            if cell.test != cell.second:
                raise unsupported("a number of pairs of items of different kinds")
            n = self.column(Number(Weights(cell.test or ANY_ITEM)))
            ordered = exp.Mul(this=n, expression=exp.paren(exp.Sub(this=n.copy(), expression=exp.Literal.number(1))))
            per = len(cell.signs & {"less", "greater"})
            number: exp.Expr = ordered if per == 2 else exp.Div(this=exp.paren(ordered), expression=exp.Literal.number(2))
            if "equal" in cell.signs:
                number = exp.Add(this=exp.paren(number), expression=n.copy())
        else:
            number = exp.Literal.number(1) if cell.test is None else self.column(Number(Weights(cell.test)))
        return self._case_value([(cell.person, number)], exp.Literal.number(0), met)

    def _decided(self, parts: Sequence[tuple[Scope, Truth]], every: bool, met: Condition | None) -> Truth:
        """Whether a condition is true for some row, or for every row."""

        def some(which: str) -> Condition:
            return self.closed(*(scope.rows.restricted(getattr(truth, which)) for scope, truth in parts))

        deciding, other = ("false", "true") if every else ("true", "false")
        first = some(deciding)
        definite = met is not None and all(d.false == negate(d.true) or d.true == negate(d.false) for _, d in parts)
        second = negate(first) if definite else both(negate(first), some(other))
        return Truth(second, first) if every else Truth(first, second)

    def _different_of_kinds(self, scopes: Sequence[Scope], trees: Sequence[exp.Expr], met: Condition) -> exp.Expr:
        """The number of different values over alternatives, such as those of items with several rows in a table."""
        if not all(len(self.rows_of(tree)) == 1 for tree in trees):
            raise unsupported("count(DISTINCT ...) over rows of several kinds")
        parts = [(tree, *case) for s, tree in zip(scopes, trees, strict=True) for case in self._one_row(s.rows, tree)]
        if len({condition for _, condition, _ in parts}) > 1 or (parts and len(parts) > len(trees)):
            raise unsupported("count(DISTINCT ...) over rows of several kinds")
        if not parts:
            return exp.Literal.number(0)
        items = [isinstance(self.atom(tree), Item) for tree in trees]
        if all(items):
            weights = Weights(item_any(*(test for *_, test in parts)))
        else:
            listed: list[tuple[str, Any]] = []
            for tree, _, test in parts:
                evaluated = self.evaluated(tree)
                if self.releases.suppressed and self._may_pass(test) and evaluated.other is not None:
                    raise unsupported("count(DISTINCT ...) of an expression of items that may be suppressed")
                inside = self.passing(test, frozenset(evaluated.values))
                listed += [(x, v) for x, v in evaluated.values.items() if v is not None and x in inside]
            weights = values_of(listed)
        return self._case_value([(parts[0][1], self.column(Number(weights)))], exp.Literal.number(0), met)

    # ---------------------------------------------------------------- sums

    def _sum(self, scopes: Sequence[Scope], trees: Sequence[exp.Expr], met: Condition) -> exp.Expr:
        """The sum of an expression over the rows; NULL without a row that has a value."""
        parts: list[exp.Expr] = []
        there: list[Condition] = []
        for scope, tree in zip(scopes, trees, strict=True):
            for branch, value in self.branches(tree) if self._is_mixed(tree) else [(ALWAYS, tree)]:
                parts += self._sum_of(scope.rows.restricted(branch), value, met, there)
        if not parts:
            return exp.null()
        present = both(*(part for part in conjuncts(either(*there)) if not self._holds(part, met)))
        return added(parts) if present == ALWAYS else when(self._column_of(present), added(parts), exp.null())

    def _is_mixed(self, tree: exp.Expr) -> bool:
        atoms = self.atoms_of(tree)
        return len(self.rows_of(tree)) != 1 or not all(isinstance(a, Item | Looked) for a in atoms)

    def _sum_of(self, rows: PersonRows, tree: exp.Expr, met: Condition, there: list[Condition]) -> list[exp.Expr]:
        if not self.atoms_of(tree):
            value = self.value(tree)
            if value is None:
                return []
            there.append(self.closed(rows))
            number = self._numbers([Scope(rows, {})], met)
            return [exp.Mul(this=exp.paren(tree.copy()), expression=exp.paren(number))]
        self.check_exact(rows)
        if self.rows_of(tree):
            if len(rows.rows) > 1:
                cells = self.cells(rows, open_rows=self.rows_of(tree))
                if len(self.rows_of(tree)) != 1 or any(cell.test is None or cell.second is not None for cell in cells):
                    raise unsupported("a sum over the rows of a self-join")
                return [self._sum_of_cell(cell, tree, met, there) for cell in cells]
            cases = self._one_row(rows, tree)
            numbers: list[tuple[Condition, exp.Expr]] = []
            for condition, test in cases:
                weights, some = self.weights(tree, test)
                there.append(both(condition, some))
                numbers.append((condition, self._summed(tree, weights)))
            return [self._case_value(numbers, exp.Literal.number(0), met)]
        cells = self.cells(rows)
        if any(cell.test is not None for cell in cells):
            raise unsupported("a sum of a number of the person over their rows")
        there.append(either(*(cell.person for cell in cells)))
        return [self._case_value([(cell.person, tree.copy())], exp.Literal.number(0), met) for cell in cells]

    def _sum_of_cell(self, cell: Cell, tree: exp.Expr, met: Condition, there: list[Condition]) -> exp.Expr:
        """The sum of an expression of the items of a cell."""
        weights, some = self.weights(tree, cell.test or ANY_ITEM)
        present = both(cell.person, some)
        there.append(present)
        return self._case_value([(present, self._summed(tree, weights))], exp.Literal.number(0), met)

    def _summed(self, tree: exp.Expr, weights: Weights) -> exp.Expr:
        return self.column(Number(weights, type=type_of_sum(self.evaluated(tree).kind)))

    def weights(self, tree: exp.Expr, test: ItemTest) -> tuple[Weights, Condition]:
        """The numbers of items that pass a test, by an expression, and the condition that there is one that is not NULL."""
        evaluated = self.evaluated(tree)
        listed = [(x, int(v) if isinstance(v, bool) else v) for x, v in evaluated.values.items() if v is not None]
        if (
            {v for _, v in listed} <= {0, 1}
            and evaluated.complete
            and (self.labels(test) is not None or None not in evaluated.values.values())
        ):
            counted = item_all(test, self.test(tree, lambda v: v == 1))
            return Weights(self._simpler(counted)), at_least(1, item_all(test, self.test(tree, lambda v: v is not None)))
        weights = replace(weights_of(listed), test=test)
        present = self.test(tree, lambda v: v is not None) if evaluated.complete else ANY_ITEM
        if self.releases.suppressed:
            ends = [evaluated.other] if evaluated.complete else self._ends(tree)
            numbers = [float(n) for n in ends if n is not None]
            others = (-inf if min(numbers, default=0) < 0 else 0.0, inf if max(numbers, default=0) > 0 else 0.0)
            weights = replace(weights, others=others)
        return weights, at_least(1, item_all(test, present))

    def _ends(self, tree: exp.Expr) -> list[Any]:
        """The values that CASE may have for items that nothing names.

        Raises:
            InputError: ``unsupported_query``: they are not known.
        """
        case = tree.unnest()
        if not isinstance(case, exp.Case | exp.If) or any(self.atoms_of(v) for _, v in cases_of(case)):
            raise unsupported("a sum of numbers of all items, which may be suppressed", "Sum a CASE of numbers with ELSE.")
        values = [self.value(value) for _, value in cases_of(case)]
        if None in values:
            raise unsupported("the sum of CASE that is NULL for an item", "Write ELSE 0.")
        return values

    # ---------------------------------------------------------------- extremes

    def _extreme(self, call: exp.Expr, scopes: Sequence[Scope], trees: Sequence[exp.Expr], met: Condition) -> exp.Expr:
        """The greatest or the least value of the rows."""
        if len(scopes) > 1:
            return self._extreme_of_kinds(call, scopes, trees, met)
        (scope,), (tree,) = scopes, trees
        if not self.rows_of(tree):
            return self._case_value([(self.closed(scope.rows), tree)], exp.null(), met)
        kind = MAX if isinstance(call, exp.Max) else MIN
        if self._is_mixed(tree):
            raise unsupported(f"{name_of(call)} of an item beside another value")
        cases = [
            (condition, self._extreme_of(tree, test, kind, name_of(call), condition, met))
            for condition, test in self._one_row(scope.rows, tree)
        ]
        return cases[0][1] if len(cases) == 1 else self._case_value(cases, exp.null(), met)

    def _extreme_of_kinds(
        self, call: exp.Expr, scopes: Sequence[Scope], trees: Sequence[exp.Expr], met: Condition
    ) -> exp.Expr:
        """The greatest or the least of several numbers, each in some rows: the first, by their size, that has a row."""
        if any(self.atoms_of(tree) for tree in trees):
            raise unsupported(f"{name_of(call)} over rows of several kinds")
        values = {tree: self.value(tree) for tree in trees}
        if not all(isinstance(value, int | float) for value in values.values()):
            raise unsupported(f"{name_of(call)} over rows of several kinds")
        listed = sorted(zip(scopes, trees, strict=True), key=lambda of: values[of[1]], reverse=isinstance(call, exp.Max))
        cases = [(self.closed(scope.rows), tree) for scope, tree in listed]
        last = cases.pop() if self._holds(cases[-1][0], met) else (NEVER, exp.null())
        return self._case_value(cases, last[1], met)

    def _extreme_of(
        self, tree: exp.Expr, test: ItemTest, kind: str, name: str, condition: Condition, met: Condition
    ) -> exp.Expr:
        """The greatest or the least value of the items that pass a test, if a condition on the person holds; else NULL."""
        evaluated = self.evaluated(tree)
        if self.releases.suppressed and (not evaluated.complete or isinstance(self.atom(tree), Item)):
            raise unsupported(f"{name} of items that may be suppressed")
        inside = self.passing(test, frozenset(evaluated.values))
        listed = {x: v for x, v in evaluated.values.items() if v is not None and x in inside}
        other = evaluated.other if self.releases.suppressed and self._may_pass(test) else None
        values = sorted({*listed.values(), other} - {None})
        if not values:
            return exp.null()
        if all(isinstance(v, int | float | Decimal) for v in values):
            weights = replace(weights_of(list(listed.items()), kind), test=test)
            weight_of = {v: float(v * weights.scale) for v in values}
        else:
            weight_of = {v: float(n) for n, v in enumerate(values)}
            weights = Weights(test, tuple(sorted((x, weight_of[v]) for x, v in listed.items())), kind=kind)
        places = tuple((weight_of[v], v) for v in values)
        number = Number(weights, ALWAYS, places, None if other is None else weight_of[other])
        present = both(condition, self._reaches(number, places[0][0] if kind == MAX else places[-1][0]))
        tree_of: exp.Expr = self.column(number)
        if len(places) == 1:
            tree_of = _literal(places[0][1])
        elif len(places) == 2:
            far, near = (places[1], places[0]) if kind == MAX else (places[0], places[1])
            beyond = self._column_of(self._reaches(number, far[0]))
            tree_of = when(beyond, _literal(far[1]), _literal(near[1]))
        return self._case_value([(present, tree_of)], exp.null(), met)

    def _may_pass(self, test: ItemTest) -> bool:
        """Whether items that nothing names may pass a test."""
        return self.labels(test) is None


def added(parts: Sequence[exp.Expr]) -> exp.Expr:
    """The sum of expressions."""
    return reduce(lambda one, other: exp.Add(this=one, expression=other), parts)


def _literal(value: Any) -> exp.Expr:
    literal = typed(value, "")
    return exp.cast(literal, "DOUBLE") if isinstance(value, float) else literal
