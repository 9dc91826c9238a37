"""The terms of the algebra over persons: what a column of persons' rows is, and the rows of one person.

An expression over the rows of persons is a syntax tree whose columns are *atoms*: the item of a row, a column of the
analyst's table beside it, an attribute, a number or a condition of the person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from anondb.answers.ranged.compiler import Env
from anondb.query.item_tests import ANY_ITEM, ItemTest
from anondb.query.predicates import ALWAYS, Condition, Weights, both, either, negate


@dataclass(frozen=True)
class Item:
    """The item of a row, which is any of the person's items."""

    row: int


@dataclass(frozen=True)
class Looked:
    """A column of a table of the analyst that is joined with the item of a row."""

    row: int
    table: str
    column: str


@dataclass(frozen=True)
class Of:
    """The person's value of a relational attribute."""

    attribute: str


@dataclass(frozen=True)
class Part:
    """The value of the column that divides the files."""


@dataclass(frozen=True)
class Id:
    """The id of a person."""

    person: int


@dataclass(frozen=True)
class Listing:
    """The list of those of a person's items that pass a test; NULL for some persons without items if ``nullable``.

    ``step`` is 1 if its items are in the order of texts, -1 in the reverse order, 0 in none that is known.
    """

    nullable: bool
    test: ItemTest = ANY_ITEM
    step: int = 0


@dataclass(frozen=True)
class Values:
    """The list of the values of an expression of a row for those of a person's items that pass a test."""

    value: exp.Expr
    test: ItemTest


@dataclass(frozen=True)
class Truth:
    """A condition on the person, and perhaps on rows: when it is true and when it is false; else it is unknown."""

    true: Condition
    false: Condition

    @property
    def definite(self) -> Condition:
        """The condition that the value is not unknown."""
        return ALWAYS if negate(self.true) == self.false else either(self.true, self.false)

    @property
    def opposite(self) -> Truth:
        """The negation."""
        return Truth(self.false, self.true)


@dataclass(frozen=True)
class Number:
    """A number of the person from their items; NULL unless ``present``.

    Attributes:
        weights: the weights of the items, and how they make the number.
        present: when it is not NULL.
        values: for the least and the greatest weight, the value that each weight stands for, in ascending order.
        unnamed: for these, the weight of suppressed items that nothing names; None if they do not count.
        type: the SQL type of a sum, if it is not one of whole numbers.
    """

    weights: Weights
    present: Condition = ALWAYS
    values: tuple[tuple[float, Any], ...] = ()
    unnamed: float | None = None
    type: str = ""


@dataclass(frozen=True)
class Refused:
    """A column that no rule reads."""

    construct: str
    hint: str


@dataclass(frozen=True)
class OnPart:
    """The person is in one of these files."""

    places: frozenset[int]


Atom = Item | Looked | Of | Part | Id | Listing | Values | Truth | Number | Refused


@dataclass(frozen=True, eq=False)
class Column:
    """A column of rows: the alias of its source, its name, both in lower case, and its expression.

    Attributes:
        merged: whether it has no name without its source (USING).
    """

    alias: str
    name: str
    value: exp.Expr
    merged: bool = False


@dataclass(frozen=True, eq=False)
class PersonRows:
    """For each person the rows, each made of items of the person, for which a condition holds.

    Attributes:
        columns: the columns of a row.
        rows: the item variables: each stands for any of the person's items.
        where: the condition, on the person and on the variables.
        compared: comparisons (sign, left, right) of the items of two variables that hold as well.
        exact: whether each choice of items is one row.
        people: the persons, which are one and the same once a query is read.
    """

    columns: tuple[Column, ...] = ()
    rows: frozenset[int] = frozenset()
    where: Condition = ALWAYS
    compared: frozenset[tuple[str, int, int]] = frozenset()
    exact: bool = True
    people: frozenset[int] = frozenset()

    def restricted(self, *conditions: Condition) -> PersonRows:
        """The rows for which further conditions hold."""
        return replace(self, where=both(self.where, *conditions))

    def renamed(self, alias: str, names: list[str]) -> PersonRows:
        """The rows as a source: the alias, and new names of the first columns."""
        shown = [c for c in self.columns if not c.merged]
        listed = [replace(c, alias=alias, name=names[n] if n < len(names) else c.name) for n, c in enumerate(shown)]
        return replace(self, columns=tuple(listed))


@dataclass(frozen=True, eq=False)
class Scope:
    """What names mean in a SELECT: the columns of its rows, the names that it gives, and the query around it.

    ``done`` has the conditions of WHERE that hold for its rows already.
    """

    rows: PersonRows
    env: Env
    outer: Scope | None = None
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    done: frozenset[int] = frozenset()
    fixed: dict[exp.Expr, exp.Expr] = field(default_factory=dict)

    def restricted(self, *conditions: Condition) -> Scope:
        """The scope with the rows for which further conditions hold."""
        return replace(self, rows=self.rows.restricted(*conditions))

    def around(self) -> Iterator[Scope]:
        """This scope, and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer
