"""The terms of the algebra over persons: what a column of persons' rows is, and the rows of one person.

An expression over the rows of persons is a syntax tree whose columns are *atoms*: the item of a row, a column of the
analyst's table beside it, an attribute, a number or a condition of the person. Numbers of items, and values of items as bits
of numbers, are their weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import fsum
from operator import add
from typing import Any

from sqlglot import exp

from anondb.answers.ranged.compiler import Env
from anondb.query.item_tests import ANY_ITEM, ItemTest
from anondb.query.predicates import ALWAYS, Condition, Weights, both, either, negate
from anondb.query.refusals import too_complex, unsupported
from anondb.query.summed import MAX, MAX_VALUES, MIN, ROUNDED, SUM, VALUES


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
class Estimate:
    """A number of the whole table between two constants; NULL for no original if it is ``there``."""

    low: exp.Expr
    high: exp.Expr
    there: bool


WITH_ESTIMATE = ("a comparison of persons with an estimate", "Compare the result of two queries.")
"""The construct and the hint of a refusal where no rule reads an ``Estimate``."""


@dataclass(frozen=True)
class Refused:
    """A column that no rule reads."""

    construct: str
    hint: str


@dataclass(frozen=True)
class OnPart:
    """The person is in one of these files."""

    places: frozenset[int]


Atom = Item | Looked | Of | Part | Id | Listing | Values | Truth | Number | Estimate | Refused


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


MAX_WEIGHT = 10**12
EXACT = 1 << 20  # numbers of whole multiples of its inverse add up without rounding


def values_of(values: Sequence[tuple[str, Any]]) -> Weights:
    """The different values of items as the bits of numbers.

    Raises:
        InputError: ``query_too_complex``: there are too many.
    """
    bits = {value: 1 << n for n, value in enumerate(dict.fromkeys(value for _, value in values))}
    if len(bits) > MAX_VALUES:
        raise too_complex(f"a person may have more than {MAX_VALUES} different values")
    by_item: dict[str, int] = {}
    for item, value in values:
        by_item[item] = by_item.get(item, 0) | bits[value]
    return Weights(ANY_ITEM, tuple(sorted((item, float(of)) for item, of in by_item.items())), kind=VALUES)


def type_of_sum(kind: str) -> str:
    """The SQL type of a sum of values of a type; "" for sums of whole numbers and of truth values."""
    if kind.startswith("DECIMAL("):
        return f"DECIMAL(38{kind[kind.index(',') :]}"
    return "DOUBLE" if kind in ("DOUBLE", "FLOAT") else ""


def weights_of(values: Sequence[tuple[str, Any]], kind: str = SUM) -> Weights:
    """Numbers of items: decimal ones as multiples of their smallest unit; how much sums of others may be rounded.

    An item with several rows has the sum of their numbers, or the greatest or the least.

    Raises:
        InputError: ``unsupported_query`` for other values than numbers, and for numbers that are too large.
    """
    digits = 0
    for _, value in values:
        if not isinstance(value, int | float | Decimal):
            raise unsupported("the sum of values that are not numbers")
        if not abs(float(value)) <= MAX_WEIGHT:
            raise unsupported("the sum of numbers that are too large")
        if isinstance(value, Decimal):
            digits = max(digits, -int(value.as_tuple().exponent))
    scale = 10 ** min(digits, 3)
    by_item: dict[str, float] = {}
    together: Callable[[float, float], float] = {MAX: max, MIN: min}.get(kind, add)
    for item, value in values:
        number = float(value * scale)
        by_item[item] = together(by_item[item], number) if item in by_item else number
    exact = all((weight * EXACT).is_integer() for weight in by_item.values())
    error = 0.0 if exact else ROUNDED * fsum(map(abs, by_item.values()))
    return Weights(ANY_ITEM, tuple(sorted(by_item.items())), scale, error, kind)
