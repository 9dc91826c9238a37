"""The different rows of persons: DISTINCT, UNION, INTERSECT and EXCEPT of rows with the id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from sqlglot import exp

from anondb.answers.persons.joins import Joins
from anondb.answers.persons.terms import Id, Item, PersonRows, Scope
from anondb.answers.ranged.compiler import Env
from anondb.query.item_tests import ANY_ITEM
from anondb.query.predicates import NEVER, Condition, OnItem, both, either, negate, replaced, settled, split
from anondb.query.refusals import only, unsupported


class Different(Joins):
    """Reads rows of which equal ones are one: an id, values of the person, and an item at most."""

    def once(self, alternatives: Sequence[PersonRows]) -> list[PersonRows]:
        """The different rows."""
        first = alternatives[0]
        kinds = [self.atom(c.value) for c in first.columns]
        items = {atom.row for atom in kinds if isinstance(atom, Item)}
        if not all(any(isinstance(self.atom(c.value), Id) for c in rows.columns) for rows in alternatives):
            raise unsupported("DISTINCT without the id", "Only persons can be counted.")  # or with a NULL, of an outer join
        if any(isinstance(c.value, exp.Column) and self.atom(c.value) is None for c in first.columns):
            raise unsupported("DISTINCT over rows of several kinds", "Select the id alone.")
        if len(alternatives) > 1:
            listed = self._aligned([one for rows in alternatives for one in self.once([rows])])
            return [replace(listed[0], where=either(*(settled(rows.where) for rows in listed)))]
        others = [c for c in first.columns if self.rows_of(c.value) and not isinstance(self.atom(c.value), Item)]
        if others:
            return self._by_values(first)
        if first.rows <= items:
            return [replace(first, exact=True)]
        where = self.closed_but(first, frozenset(items))
        return [replace(first, where=where, rows=first.rows & items, compared=frozenset(), exact=True)]

    def united(self, alternatives: list[PersonRows]) -> list[PersonRows]:
        """Rows of which a person has one at most, of one of several kinds, as rows of one kind if they show ids alone."""
        if len(alternatives) < 2 or not all(map(self._is_single, alternatives)):
            return alternatives
        closed = map(self.closed, alternatives)
        return (
            alternatives
            if any(both(one, other) != NEVER for one, other in combinations(closed, 2))
            else self.once(alternatives)
        )

    def _is_single(self, rows: PersonRows) -> bool:
        """Whether a person has one of these rows at most, and they show ids alone."""
        tests = split(settled(rows.where))[0]
        ids = all(isinstance(self.atom(c.value), Id) for c in rows.columns)
        return ids and rows.exact and all(self.is_one(tests.get(row, ANY_ITEM)) for row in rows.rows)

    def _aligned(self, listed: Sequence[PersonRows]) -> list[PersonRows]:
        """Rows with the same columns, of which one is an item at most, with the same variable for it.

        Raises:
            InputError: ``unsupported_query``: the columns differ in other things than persons and items.
        """
        row, aligned = next(self._fresh), []
        for rows in listed:
            where = replaced(rows.where, partial(_moved, rows.rows, row))
            values = [(self.column(Item(row)) if isinstance(self.atom(c.value), Item) else c.value) for c in rows.columns]
            columns = tuple(replace(c, value=value) for c, value in zip(rows.columns, values, strict=True))
            aligned.append(replace(rows, columns=columns, where=where, rows=frozenset({row} if rows.rows else ())))
        kinds = {tuple("id" if isinstance(self.atom(c.value), Id) else c.value for c in rows.columns) for rows in aligned}
        if len(kinds) > 1 or any(len(rows.rows) > 1 or rows.compared for rows in listed):
            raise unsupported("different rows of several kinds", "Select the id alone.")
        return aligned

    def _by_values(self, rows: PersonRows) -> list[PersonRows]:
        """The different rows of columns that are expressions of an item: one alternative for each value."""
        keys, alternatives = [c.value for c in rows.columns], []
        for _, part in self._divided_by(Scope(rows, {}), keys, keys):
            columns = tuple(replace(c, value=part.fixed.get(c.value, c.value)) for c in rows.columns)
            met = self.closed(part.rows)
            alternatives.append(PersonRows(columns, where=met, people=rows.people))
        if any(self.rows_of(c.value) for part in alternatives for c in part.columns):
            raise unsupported("DISTINCT items beside other values of them")
        return alternatives

    def _set_operation(self, node: exp.SetOperation, env: Env, outer: Scope | None) -> list[PersonRows]:
        only(node, "this", "expression", "distinct", "with_")
        left, right = self.relation(node.this, env, outer), self.relation(node.expression, env, outer)
        names = [c.name for c in left[0].columns]
        if any(len(rows.columns) != len(names) for rows in right):
            raise unsupported("a set operation of different numbers of columns")
        for rows in right:
            self.unite(min(left[0].people), min(rows.people))
        self.check_alike([*left, *right])
        repeated = not node.args.get("distinct")
        if repeated and isinstance(node, exp.Union):
            return left + [replace(rows.renamed("", names)) for rows in right]
        if repeated:
            raise unsupported(f"{node.key.upper()} ALL")
        if isinstance(node, exp.Union):
            return self.once([*left, *right])
        sides = [rows for side in (left, right) for rows in self.once(side)]
        if len(sides) > 2:
            raise unsupported("different rows of several kinds", "Select the id alone.")
        one, two = self._aligned(sides)
        second = settled(two.where)
        return [replace(one, where=both(settled(one.where), second if isinstance(node, exp.Intersect) else negate(second)))]


def _moved(rows: frozenset[int], row: int, leaf: Condition) -> Condition:
    """A leaf of a condition with another variable in place of these."""
    return replace(leaf, row=row) if isinstance(leaf, OnItem) and leaf.row in rows else leaf
