"""The rows of one person: which of them there are, how many, and of which types their expressions are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product

from sqlglot import exp

from anondb.answers.persons.conditions import Conditions
from anondb.answers.persons.terms import Id, Item, Listing, Looked, Number, Of, PersonRows, Refused, Scope, Truth
from anondb.answers.ranged.relation import INTEGERS, typeof
from anondb.query.item_tests import ANY_ITEM, NO_ITEM, ItemTest, Labels, item_all, item_any, item_not
from anondb.query.pairs import SIGNS
from anondb.query.parsing import cases_of
from anondb.query.predicates import (
    ALWAYS,
    NEVER,
    Condition,
    OnItem,
    Or,
    at_least,
    both,
    conjuncts,
    either,
    leaves,
    on_item,
    replaced,
    rows_of,
    settled,
    split,
)
from anondb.query.refusals import too_complex, unsupported

MAX_TESTS = 6  # of the item of one row in a condition that mixes them
MAX_LABELS = 12  # of a row that is divided into its items
MOST_OUTER = 120  # items of a row around a subquery, each of which its items are compared with
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "<>": "<>"}
_SIGNS: Mapping[str, type[exp.Expr]] = {"<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE, "<>": exp.NEQ}
MAX_BRANCHES = 256  # of OR and AND across rows
MOST_CELLS = 30  # whose persons are compared


@dataclass(frozen=True)
class Cell:
    """Some of the rows of a person: there is one for each item that passes a test, if a condition on the person holds.

    Attributes:
        person: the condition.
        test: the test of the item; None for one row at most.
        second: the test of another item with which each row has one; None for one item.
        signs: how the first item may compare with the second.
    """

    person: Condition
    test: ItemTest | None = None
    second: ItemTest | None = None
    signs: frozenset[str] = frozenset()


class Rows(Conditions):
    """Reads which rows of a person satisfy a condition."""

    def check_one(self, rows: PersonRows) -> None:
        """Refuse rows of several persons."""
        if len({self.person(p) for p in rows.people}) > 1:
            raise unsupported("a join without equal ids", "Join the copies of the table on the id column.")

    def is_linked(self, rows: PersonRows, scope: Scope | None) -> bool:
        """Whether rows are of the person of a scope."""
        mine = {self.person(p) for p in rows.people}
        return scope is not None and any(mine & {self.person(p) for p in s.rows.people} for s in scope.around())

    # ---------------------------------------------------------------- some row

    def of_one(self, cell: Cell) -> Condition | None:
        """The condition that a person has a row of a kind of which nobody has two; None for other kinds."""
        alone = cell.test is None or (not self.releases.bags and self.is_one(cell.test))
        if cell.second is not None or not alone:
            return None
        return cell.person if cell.test is None else both(cell.person, at_least(1, cell.test))

    def closed(self, *alternatives: PersonRows) -> Condition:
        """The condition that the person has such a row; variables of an outer query stay."""
        return either(*(self.closed_but(rows, frozenset()) for rows in alternatives))

    def closed_but(self, rows: PersonRows, kept: frozenset[int]) -> Condition:
        """The condition that the person has such a row with the items of these variables."""
        return either(*(close(part.where, part.rows - kept) for part in self.settled_rows(rows, kept)))

    def settled_rows(self, rows: PersonRows, kept: frozenset[int]) -> list[PersonRows]:
        """Rows without comparisons of two items: one of them exists with some items of the kept variables if one of these
        does."""
        todo, done = [rows], []
        while todo:
            one = todo.pop()
            if not one.compared:
                done.append(one)
                continue
            if len(todo) + len(done) > MAX_LABELS**2:
                raise too_complex("a comparison of the items of a self-join with too many items")
            sign, left, right = sorted(one.compared)[0]
            rest = replace(one, compared=one.compared - {(sign, left, right)})
            around = len({left, right} - rows.rows) == 1 and sign != "<>"
            parts = self._by_item(rest, sign, left, right, MOST_OUTER if around else MAX_LABELS)
            todo += [self._some_pair(rest, sign, left, right, kept)] if parts is None else parts
        return done

    def _by_item(
        self, rows: PersonRows, sign: str, left: int, right: int, most: int = MAX_LABELS
    ) -> list[PersonRows] | None:
        """The rows for each item of the side that has few of them; None if neither does."""
        tests = split(rows.where)[0]
        listed = [self.labels(tests.get(row, ANY_ITEM)) for row in (left, right)]
        sizes = [most + 1 if labels is None else min(len(labels), most + 1) for labels in listed]
        if min(sizes) > most:
            return None
        place = 0 if (sizes[0], left in rows.rows) <= (sizes[1], right in rows.rows) else 1
        fixed, other = (left, right) if place == 0 else (right, left)
        shown = sign if place == 0 else FLIPPED[sign]
        return [
            rows.restricted(on_item(fixed, Labels(frozenset({label}))), on_item(other, self._beyond(label, shown, other)))
            for label in sorted(listed[place] or ())
        ]

    def _beyond(self, label: str, sign: str, row: int) -> ItemTest:
        """The test of items with which one compares so."""
        if sign == "<>":
            return item_not(Labels(frozenset({label})))
        tree = _SIGNS[sign](this=exp.Literal.string(label), expression=self.column(Item(row)))
        return self.test(tree, lambda value: bool(value))

    def _some_pair(self, rows: PersonRows, sign: str, left: int, right: int, kept: frozenset[int]) -> PersonRows:
        """Rows of which one exists if two items compare so; a condition on a number of items replaces the variables."""
        tests, person, mixed = split(settled(rows.where))
        one, two = tests.get(left, ANY_ITEM), tests.get(right, ANY_ITEM)
        outer = {left, right} - rows.rows
        if sign == "<>" and len(outer) == 1 and not {left, right} & kept:
            return self._other_than(rows, *({left, right} - outer), *outer)
        gone = {left, right} - kept
        used = any({left, right} & rows_of(part) for part in mixed) or any(
            {left, right} & {a, b} for _, a, b in rows.compared
        )
        told = len(gone) == 2 or (len(gone) == 1 and sign == "<>" and (one == two or tests.keys().isdisjoint(gone)))
        if used or not told or not {left, right} <= rows.rows or (one != two and sign != "<>"):
            raise unsupported("a comparison of the items of a self-join", "Group by both items, or name one of them.")
        number = 1 if "=" in sign else 2
        met = both(at_least(1, one), at_least(1, two), at_least(number, item_any(one, two)))
        others = (on_item(row, test) for row, test in tests.items() if row not in gone)
        return replace(rows, where=both(person, *mixed, met, *others), rows=rows.rows - gone)

    @staticmethod
    def _other_than(rows: PersonRows, inner: int, outer: int) -> PersonRows:
        """Rows with another item than that of a row of the person in a query around: of the items that pass a test there
        are two, or one if the item around does not pass it."""
        tests, person, mixed = split(settled(rows.where))
        if any(inner in rows_of(part) for part in mixed) or any(inner in (a, b) for _, a, b in rows.compared):
            raise unsupported("a comparison of the items of a self-join", "Group by both items, or name one of them.")
        test = tests.pop(inner, ANY_ITEM)
        passing = both(on_item(outer, test), at_least(2, test))
        failing = both(on_item(outer, item_not(test)), at_least(1, test))
        others = (on_item(row, of) for row, of in tests.items())
        return replace(rows, where=both(person, *mixed, either(passing, failing), *others), rows=rows.rows - {inner})

    # ---------------------------------------------------------------- numbers of rows

    def check_exact(self, rows: PersonRows) -> None:
        """Refuse rows that may repeat.

        Raises:
            InputError: ``unsupported_query``.
        """
        if not rows.exact:
            what = ", which a bag may repeat" if self.releases.bags else " that may repeat"
            raise unsupported(f"a number of rows{what}", "Use count(DISTINCT id) or count(DISTINCT item).")

    def cells(self, rows: PersonRows, *, open_rows: frozenset[int] = frozenset()) -> list[Cell]:
        """The rows of a person, each in one cell.

        Args:
            rows: the rows.
            open_rows: the variables that stay even if they are fixed to one item.

        Raises:
            InputError: ``unsupported_query``: there is no such list of cells.
        """
        self.check_exact(rows)
        if len(rows.rows) == 2 and len(rows.compared) == 1 and (pair := self._pair(rows)) is not None:
            return [pair]
        return [cell for part in self._by_items(rows) for cell in self._cells(part, open_rows)]

    def _pair(self, rows: PersonRows) -> Cell | None:
        """The rows of two items that are compared and fixed to no few ones."""
        ((sign, left, right),) = rows.compared
        tests, person, mixed = split(settled(rows.where))
        few = [self.labels(tests.get(row, ANY_ITEM)) for row in (left, right)]
        if mixed or {left, right} != rows.rows or any(some is not None and len(some) <= MAX_LABELS for some in few):
            return None
        return Cell(person, tests.get(left, ANY_ITEM), tests.get(right, ANY_ITEM), SIGNS[sign])

    def _by_items(self, rows: PersonRows) -> list[PersonRows]:
        """The same rows without comparisons of two items.

        Raises:
            InputError: ``unsupported_query``: both are any of many.
        """
        parts = self.uncompared(rows)
        if parts is None:
            raise unsupported("a number of rows of two items that are compared", "Group by both items.")
        return parts

    def uncompared(self, rows: PersonRows) -> list[PersonRows] | None:
        """The same rows without comparisons of two items; None where both are any of many."""
        todo, done = [rows], list[PersonRows]()
        while todo:
            one = todo.pop()
            if not one.compared:
                done.append(one)
                continue
            sign, left, right = sorted(one.compared)[0]
            rest = replace(one, compared=one.compared - {(sign, left, right)})
            parts = self._by_item(rest, sign, left, right)
            if parts is None:
                return None
            todo += parts
        return done

    def _cells(self, rows: PersonRows, open_rows: frozenset[int]) -> list[Cell]:
        """The cells of rows without comparisons: at most one variable may have many items."""
        where = settled(rows.where)
        if where == NEVER:
            return []
        if not rows.rows:
            return [Cell(where)]
        parts = {row: self.divided(where, row) for row in rows.rows}
        few = {row: self._number(of) for row, of in parts.items()}
        row = min((r for r in rows.rows if r not in open_rows), key=lambda r: (few[r], r), default=min(rows.rows))
        rest, cells = replace(rows, rows=rows.rows - {row}), list[Cell]()
        for test, condition in parts[row]:
            labels = self.labels(test)
            if len(rows.rows) == 1 and (row in open_rows or labels is None or len(labels) != 1):
                cells.append(Cell(condition, test))
                continue
            if labels is None or len(labels) > MAX_LABELS:
                raise unsupported("a number of rows of a self-join", "Use count(DISTINCT id).")
            for label in sorted(labels):
                held = both(condition, at_least(1, Labels(frozenset({label}))))
                cells += self._cells(replace(rest, where=held), open_rows)
        return cells

    def _number(self, parts: list[tuple[ItemTest, Condition]]) -> int:
        labels_of = [self.labels(test) for test, _ in parts]
        return 1 << 30 if None in labels_of else sum(len(labels) for labels in labels_of if labels is not None)

    def divided(self, where: Condition, row: int) -> list[tuple[ItemTest, Condition]]:
        """The items of a variable, divided by what a condition says of them: each test with the rest of the condition."""
        tests = list(dict.fromkeys(leaf.test for leaf in leaves(where) if isinstance(leaf, OnItem) and leaf.row == row))
        parts: dict[Condition, ItemTest] = {}
        for truth, test in self._choices(tests):
            rest = _for_items(where, row, truth)
            if rest != NEVER:
                parts[rest] = item_any(parts[rest], test) if rest in parts else test
        return [(self._simpler(test), rest) for rest, test in parts.items()]

    def _choices(self, tests: Sequence[ItemTest]) -> Iterator[tuple[dict[ItemTest, bool], ItemTest]]:
        """What an item may pass of some tests, each time with the test of such items."""
        passing = [self.labels(test) for test in tests] if len(tests) > MAX_TESTS else []
        if passing and None not in passing and not self.releases.suppressed:
            groups: dict[tuple[bool, ...], set[str]] = {}
            for label in self.releases.items:
                groups.setdefault(tuple(label in of for of in passing if of is not None), set()).add(label)
            for values, labels in groups.items():
                yield dict(zip(tests, values, strict=True)), Labels(frozenset(labels))
            return
        if len(tests) > MAX_TESTS:
            raise too_complex("it has too many conditions on one item beside others")
        for values in product((True, False), repeat=len(tests)):
            truth = dict(zip(tests, values, strict=True))
            test = item_all(*(t if held else item_not(t) for t, held in truth.items())) if tests else ANY_ITEM
            if (test := self._simpler(test)) != NO_ITEM:
                yield truth, test

    def _simpler(self, test: ItemTest) -> ItemTest:
        """A test of listed items as one of the shorter list."""
        if isinstance(test, Labels) or self.releases.suppressed:
            return NO_ITEM if self.labels(test) == frozenset() else test
        labels = self.labels(test)
        if labels is None:
            return test
        listed = frozenset(self.releases.items)
        return test if labels - listed else self.test_of(labels, False)


def _for_items(where: Condition, row: int, truth: Mapping[ItemTest, bool]) -> Condition:
    """A condition for items of a variable that pass some of its tests and fail the others."""

    def leaf_of(leaf: Condition) -> Condition:
        if isinstance(leaf, OnItem) and leaf.row == row:
            return ALWAYS if truth[leaf.test] else NEVER
        return leaf

    return replaced(where, leaf_of)


_NULL, _WHOLE, _NUMBER = "", "a whole number", "a number"
_COMPUTED = (exp.Add, exp.Sub, exp.Mul, exp.Neg)


class Kinds(Rows):
    """Reads the types of columns."""

    def check_alike(self, listed: Sequence[PersonRows]) -> None:
        """Refuse rows of a set operation for which DuckDB converts values of a column to another type."""
        for column in zip(*(rows.columns for rows in listed), strict=True):
            if len({c.value for c in column}) > 1 and len(set[str]().union(*(self._kinds(c.value) for c in column))) > 1:
                raise unsupported("a set operation of columns of different types", "CAST both to one type.")

    def _kinds(self, tree: exp.Expr) -> set[str]:
        """The types that an expression may have, none for NULL; the text of an expression of which they are not known."""
        tree = tree.unnest()
        atom, atoms = self.atom(tree), self.atoms_of(tree)
        if isinstance(atom, Truth) or isinstance(tree, exp.Predicate | exp.Connector | exp.Not):
            return {"BOOLEAN"}
        if isinstance(tree, exp.Case | exp.If):
            return {kind for _, value in cases_of(tree) for kind in self._kinds(value)}
        if atoms and isinstance(tree, _COMPUTED):
            return {kind for part in tree.iter_expressions() for kind in self._kinds(part)}
        if isinstance(atom, Number):
            return {_number_type(atom)}
        if isinstance(atom, Id | Listing):
            kind = type(atom).__name__
        elif isinstance(atom, Of):
            kind = self.attribute(atom).kind
        elif not atoms:
            ((kind,),) = self.releases.rows(exp.select(typeof(tree)))
        elif len(self.rows_of(tree)) == 1 and all(isinstance(a, Item | Looked) for a in atoms):
            kind = self.evaluated(tree).kind
        else:
            kind = _NULL if isinstance(atom, Refused) else tree.sql()
        return {_WHOLE if kind in INTEGERS else kind} - {_NULL, '"NULL"'}


def _number_type(atom: Number) -> str:
    """The type of a number of a person."""
    if atom.values:
        value = atom.values[0][1]
        return _NUMBER if isinstance(value, float | Decimal) else type(value).__name__
    return _NUMBER if atom.weights.by_label and atom.weights.kind == "sum" else _WHOLE


def close(condition: Condition, rows: frozenset[int]) -> Condition:
    """The condition "the person has rows for which ``condition`` holds", where each row is any of the person's items.

    The existential quantifier distributes over a disjunction; in a conjunction the rows are independent of each other. A
    conjunction with a disjunction that mixes rows or persons is multiplied out. What is of an outer query does not change.

    Raises:
        InputError: ``query_too_complex``: more than 256 branches.
    """
    budget = [MAX_BRANCHES]

    def closed(part: Condition) -> Condition:
        budget[0] -= 1
        if budget[0] < 0:
            raise too_complex(f"more than {MAX_BRANCHES} combinations of OR and AND across rows")
        if isinstance(part, Or):
            return either(*(closed(p) for p in part.parts))
        own = [p for p in conjuncts(part) if rows & rows_of(p)]
        rest = [p for p in conjuncts(part) if p not in own]
        mixed = [p for p in own if not isinstance(p, OnItem)]
        if mixed:
            assert isinstance(mixed[0], Or)
            others = [p for p in own if p is not mixed[0]]
            return both(*rest, either(*(closed(both(p, *others)) for p in mixed[0].parts)))
        tests = {p.row: p.test for p in own if isinstance(p, OnItem)}
        return both(*rest, *(at_least(1, tests.get(row, ANY_ITEM)) for row in sorted(rows)))

    return closed(settled(condition))
