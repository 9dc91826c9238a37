"""A table with known rows that is joined with persons by the item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import fsum
from operator import add
from typing import Any, Protocol

from sqlglot import exp

from anondb.query.merged import MAX, MAX_VALUES, MIN, SUM, VALUES
from anondb.query.parsing import lowered
from anondb.query.predicates import ANY_ITEM, Weights
from anondb.query.refusals import too_complex, unsupported
from anondb.query.summed import ROUNDED
from anondb.session.expressions import read
from anondb.session.known import Known, Sources

MAX_WEIGHT = 10**12
EXACT = 1 << 20  # numbers of whole multiples of its inverse add up without rounding


class Registry(Protocol):
    """Where numbers and values of items are kept while a query is converted, and known rows are read."""

    def weigh(self, weights: Weights) -> int:
        """Keep a number for each item; returns the number of the mapping."""
        ...

    def group(self, values: list[tuple[Any, exp.Expr, str]]) -> int:
        """Keep values with the conditions that an item has them, and the SQL type; returns the number of the list."""
        ...

    def rows(self, tree: exp.Query) -> list[tuple[Any, ...]]:
        """Run a query on the desk."""
        ...

    @property
    def items(self) -> Sequence[str]:
        """The items that are listed."""
        ...

    @property
    def may_hold_others(self) -> bool:
        """Whether a person may have an item that is not listed."""
        ...

    def may_hold(self, item: str) -> bool:
        """Whether a person may have an item with this label."""
        ...


@dataclass
class Dimension:
    """A table with known rows.

    Attributes:
        alias: its name in the query.
        known: its rows.
        item: the item column that it is joined with.
        key: the column of the table.
        outer: whether items without a row stay (LEFT JOIN).
    """

    alias: str
    known: Known
    item: exp.Column
    key: exp.Column
    outer: bool
    _cache: dict[exp.Expr, list[tuple[str, Any]]] = field(default_factory=dict)

    def names(self) -> set[str]:
        """The names of its columns, in lower case."""
        return {lowered(c.name) for c in self.known.columns}

    def has(self, node: exp.Column, people: Callable[[exp.Column], bool]) -> bool:
        """Whether a column is one of the table."""
        if node.table:
            return lowered(node.table) == self.alias
        return lowered(node.name) in self.names() and not people(node)

    def is_item(self, node: exp.Expr) -> bool:
        """Whether an expression is the item column that the table is joined with; a name is of one table of persons."""
        if not isinstance(node, exp.Column):
            return False
        tables = {lowered(table) for table in (node.table, self.item.table) if table}
        return lowered(node.name) == lowered(self.item.name) and len(tables) < 2

    def repeats(self, registry: Registry) -> bool:
        """Whether an item has several rows."""
        items = [item for item, _ in self.values(exp.true(), registry)]
        return len(set(items)) < len(items)

    def kind(self, node: exp.Expr, registry: Registry) -> str:
        """The SQL type of an expression.

        Raises:
            InputError: ``unsupported_query`` for a type whose values cannot be grouped by.
        """
        call = exp.Anonymous(this="typeof", expressions=[node.copy()])
        listed = [kind for _, kind in self.values(call, registry)]
        kinds = {str(kind) for kind in [*listed, *([self.without(call, registry)] if self.outer else [])]} - {'"NULL"'}
        kind = kinds.pop() if len(kinds) == 1 else "VARCHAR"
        plain = ("BOOLEAN", "DECIMAL", "DOUBLE", "FLOAT", "DATE", "TIME", "VARCHAR", "INTEGER")
        if kind.endswith(("]", "_NS")) or not (
            kind.startswith(plain) or kind.endswith("INT")
        ):  # Python has no nanoseconds
            raise unsupported(f"GROUP BY a column of the type {kind}", "Cast it to a text in the table.")
        return kind

    def values(self, node: exp.Expr, registry: Registry) -> list[tuple[str, Any]]:
        """The value of an expression for each row, beside the item of the row; rows without an item are left out."""
        if node not in self._cache:
            source, (key, value) = self._read(self.key, node)
            rows = registry.rows(exp.select(exp.cast(key, "VARCHAR"), value).from_(source))
            self._cache[node] = [(item, value) for item, value in rows if item is not None]
        return self._cache[node]

    def without(self, node: exp.Expr, registry: Registry) -> Any:
        """The value of an expression for an item without a row: the columns are NULLs of their types."""
        source, (value,) = self._read(node)
        one = exp.select(exp.Literal.number(1)).subquery("one")
        return registry.rows(exp.select(value).from_(one).join(source, on=exp.false(), join_type="left"))[0][0]

    def _read(self, *nodes: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
        """The rows of the table as a source of a SELECT, and expressions over them."""
        sources = Sources()
        source = sources.add(self.known, self.alias)

        def resolve(part: exp.Expr) -> Any:
            if not isinstance(part, exp.Column):
                return None
            if self.is_item(part) and lowered(part.table) != self.alias:
                return resolve(self.key)
            return sources.column(part)

        listed = [read(node, resolve) for node in nodes]
        if not all(value.exact for value in listed):
            raise unsupported("a join of items with estimates")
        return source, [value.estimate.copy() for value in listed]


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


def weights_of(values: Sequence[tuple[str, Any]], kind: str = SUM) -> Weights:
    """Numbers of items: decimal ones as multiples of their smallest unit; how much sums of others may be rounded.

    An item with several rows has the sum of their numbers, or the greatest or the least.

    Raises:
        InputError: ``unsupported_query`` for other values than numbers, and for numbers that are too large.
    """
    digits = 0
    for _, value in values:
        if not isinstance(value, int | float | Decimal):
            raise unsupported("the sum of something else than numbers")
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
