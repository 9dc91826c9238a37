"""The session's own database in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from anondb.engine import DuckDBEngine, Table
from anondb.query.parsing import lowered
from anondb.session.known import LIKELY, SURE, Known, described, fresh, projected
from anondb.session.rows_of_persons import Bounds, Row
from anondb.session.values import Value


class Desk:
    """The session's own database in memory: the analyst's tables, and the rows that a query is computed from."""

    def __init__(self, engine: DuckDBEngine) -> None:
        self.engine = engine
        self._columns: dict[str, tuple[str, dict[str, str]]] = {}
        self.plain: dict[str, list[bool]] = {}
        self._temporary: list[Table] = []

    @property
    def shapes(self) -> tuple[tuple[str, Mapping[str, str]], ...]:
        """The names and columns of the analyst's tables."""
        return tuple(self._columns.values())

    def add(self, name: str, table: Table) -> None:
        """List a table of the desk under a name."""
        described = self.engine.relation(exp.select("*").from_(table.expression()))
        self._columns[lowered(name)] = name, dict(zip(described.columns, map(str, described.types), strict=True))

    def remove(self, name: str) -> None:
        """Remove a table of the analyst."""
        self.plain.pop(lowered(name), None)
        self._columns.pop(lowered(name), None)

    def table(self, node: exp.Table) -> Known | None:
        """The rows of a table of the analyst; None if there is none of this name."""
        if node.db or lowered(node.name) not in self._columns:
            return None
        name, columns = self._columns[lowered(node.name)]
        values = [Value(exp.column(exp.to_identifier(c, quoted=True))) for c in columns]
        tree = exp.select(*projected(values)).from_(self.place(name).expression())
        return Known(tree, described(list(columns), values))

    @staticmethod
    def place(name: str) -> Table:
        """Where a table of the analyst lies, apart from the rows of queries."""
        return Table("memory", "main", f"table {lowered(name)}")

    def put(self, keys: Sequence[str], rows: Mapping[Row, Sequence[Bounds]], width: int) -> exp.Query:
        """Put rows on the desk until ``sweep``; see ``rows_of_persons.Counts.put``."""
        counts = list(rows.values())
        if not keys:
            return exp.select(*(_literal(v).as_(n) for n, v in zip(_names(0, width), _flat(counts[0]), strict=True)))
        columns: dict[str, tuple[str, Iterable[Any]]] = {
            f"c{n}": (kind, [row[n] for row in rows]) for n, kind in enumerate(keys)
        }
        for n in range(width):
            for end, place in (("_l", 0), ("", 1), ("_u", 2)):
                numbers = [count[n][place] for count in counts]
                kind = "BIGINT" if end and set(map(type, numbers)) <= {int} else "DOUBLE"
                columns[f"c{len(keys) + n}{end}"] = kind, numbers
        some = [count[-1] for count in counts]
        columns[SURE] = "BOOLEAN", [(lower or 0) >= 1 for lower, _, _ in some]
        columns[LIKELY] = "BOOLEAN", [(estimate or 0) >= 0.5 for _, estimate, _ in some]
        table = self.engine.put(Table("memory", "main", fresh("facts")), columns)
        self._temporary.append(table)
        return exp.select(*(exp.column(name) for name in columns)).from_(table.expression())

    def sweep(self) -> None:
        """Drop the rows of a query."""
        if self._temporary:
            self.engine.drop(*self._temporary)
            self._temporary.clear()


def _names(first: int, width: int) -> list[str]:
    return [f"c{n}{end}" for n in range(first, first + width) for end in ("_l", "", "_u")]


def _flat(counts: Sequence[Bounds]) -> list[float | None]:
    return [value for bounds in counts for value in bounds]


def _literal(value: float | None) -> exp.Expr:
    if value is None:
        return exp.cast(exp.null(), "DOUBLE")
    return exp.cast(exp.convert(value), "BIGINT" if isinstance(value, int) else "DOUBLE")
