"""``row_number() OVER (PARTITION BY id ORDER BY item)``: the places of a person's rows, as one row for each place.

Numbered from 1, the rows of a person who has n of them have the places 1 to n, in whatever order. So the rows with a place k
are one row of each person with k rows or more, and nothing but the place and what the person has is known of them; but the
first key of the order is known of the first row: it is the least one of the person's rows, or the greatest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from anondb.answers.persons.nested import Nested
from anondb.answers.persons.terms import Column, Id, Item, Number, PersonRows, Refused, Scope
from anondb.answers.ranged.equivalents import terms_of_order
from anondb.query.predicates import Condition
from anondb.query.refusals import too_complex, unsupported

MAX_PLACES = 100  # of the rows of a person
_RANKS = (exp.Rank, exp.DenseRank)
_UNPLACED = Refused("an item by its place among those of the person", "Name the item, or take the first one by min(item).")


class Places(Nested):
    """Reads the places of the rows of each person."""

    def with_places(self, node: exp.Select, scopes: Sequence[Scope]) -> list[Scope]:
        """The rows of a SELECT with a column in place of a window function that numbers those of each person.

        Args:
            node: the SELECT, in which the function becomes a column.
            scopes: the rows of FROM and WHERE.
        """
        windows = [w for w in node.find_all(exp.Window) if w.parent_select is node and self._numbers_rows(w, scopes)]
        if not windows:
            return list(scopes)
        if len(set(windows)) > 1:
            raise unsupported("several numbers of the rows of a person")
        listed = self._one_each(windows[0], scopes)
        for window in windows:
            put_column(window, "_place")
        return listed

    def is_by_person(self, window: exp.Window, scopes: Sequence[Scope]) -> bool:
        """Whether a window is PARTITION BY the id alone."""
        by = window.args.get("partition_by") or []
        return len(by) == 1 and all(isinstance(self.atom(self.resolved(by[0], s, quiet=True)), Id) for s in scopes)

    def _numbers_rows(self, window: exp.Window, scopes: Sequence[Scope]) -> bool:
        """Whether a window function gives the rows of each person the numbers from 1 on, each once."""
        if window.args.get("spec") or not isinstance(window.this, (exp.RowNumber, *_RANKS)):
            return False
        if not self.is_by_person(window, scopes):
            return False
        if not isinstance(window.this, _RANKS):
            return True
        keys = [self.atom(self.resolved(term.this, scopes[0], quiet=True)) for term in terms_of_order(window)]
        return len(scopes) == 1 and any(isinstance(k, Item) and scopes[0].rows.rows == {k.row} for k in keys)

    def _one_each(self, window: exp.Window, scopes: Sequence[Scope]) -> list[Scope]:
        """One row of a person for each place."""
        first, met = scopes[0], self.closed(*(scope.rows for scope in scopes))
        for scope in scopes:
            self.check_exact(scope.rows)
            self.check_one(scope.rows)
        number = self.aggregated(exp.Count(this=exp.Star()), scopes, met)
        atoms = [atom for atom in self.atoms_of(number) if isinstance(atom, Number)]
        if any(self.labels(atom.weights.test) is None for atom in atoms):
            raise unsupported("the places of items that may be suppressed")
        most = len(scopes) * max([1, *(len(self.labels(atom.weights.test) or ()) for atom in atoms)])
        if most > MAX_PLACES:
            raise too_complex(f"a person may have more than {MAX_PLACES} rows")
        listed = [self._placed(1, met, first, self._first_key(window, scopes, met))]
        for place in range(2, most + 1):
            enough = exp.GTE(this=exp.paren(number.copy()), expression=exp.Literal.number(place))
            listed.append(self._placed(place, self.where(enough), first, {}))
        return listed

    def _first_key(self, window: exp.Window, scopes: Sequence[Scope], met: Condition) -> dict[exp.Expr, exp.Expr]:
        """The first key of the order that tells the rows of a person apart, in the first row, by its expression."""
        for ordered in terms_of_order(window):
            tree = self.resolved(ordered.this, scopes[0], quiet=True)
            if len(scopes) == 1 and self.rows_of(tree) and not ordered.args.get("nulls_first"):
                call = exp.Max if ordered.args.get("desc") else exp.Min  # both pass NULL over
                first = call(this=ordered.this.copy())
                return {tree.unnest(): self.quietly(lambda part: self.aggregated(part, scopes, met), first)}
            if len(scopes) > 1 or not isinstance(self.atom(tree), Id):
                return {}
        return {}

    def _placed(self, place: int, where: Condition, scope: Scope, values: dict[exp.Expr, exp.Expr]) -> Scope:
        """The rows with a place, of those persons for whom a condition holds."""
        columns = [self._place_column(column, values) for column in scope.rows.columns]
        columns.append(Column("", "_place", exp.Literal.number(place)))
        return replace(scope, rows=PersonRows(tuple(columns), where=where, people=scope.rows.people))

    def _place_column(self, column: Column, values: dict[exp.Expr, exp.Expr]) -> Column:
        if not self.rows_of(column.value):
            return column
        value = values.get(column.value.unnest())
        return replace(column, value=self.column(_UNPLACED) if value is None else value.copy())


def put_column(window: exp.Window, name: str) -> None:
    """Replace a window function by a column; if it is selected, the column takes its name."""
    column = exp.column(name, quoted=True)
    selected = isinstance(window.parent, exp.Select)
    window.replace(exp.alias_(column, window.alias_or_name) if selected else column)
