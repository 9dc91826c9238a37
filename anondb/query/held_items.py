"""The signatures of transactions by the numbers of released items, whose rows lie together in a release of sets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from sqlglot import exp

from anondb.engine import Columns, Engine, Table, has_nulls, load
from anondb.errors import InputError
from anondb.query.classes import Classes
from anondb.query.held_sums import HeldRows
from anondb.query.together import Together
from anondb.release.objects import SchemaName

MAX_LISTED = 2_000  # released items whose weights are written into a statement


class HeldItems:
    """The rows of a release of sets, whose released items have the numbers from 1 on.

    Args:
        engine, schema: the release.
        size: its number of transactions.
        together: reads it beside other releases.

    Attributes:
        numbers: the number of each released item.

    Raises:
        InputError: ``not_a_release``: they have other numbers.
    """

    def __init__(self, engine: Engine, schema: SchemaName, size: int, together: Together) -> None:
        self._engine, self._rows, self._schema = engine, schema.table("transaction_items"), schema
        self._size, self._together = size, together
        numbers = together.numbers(schema)
        whole = not any(has_nulls(column) for column in numbers.values())
        pairs = sorted(zip(numbers["item_id"].tolist(), numbers["item"].tolist(), strict=True)) if whole else []
        self.numbers: Mapping[str, int] = {item: number for number, item in pairs}
        if not whole or list(self.numbers.values()) != list(range(1, len(self.numbers) + 1)):
            raise InputError("This release is damaged.", code="not_a_release", hint="Publish it again.")

    def _read(self, name: str, **tables: str) -> Columns:
        return self._together.query(name, self._schema, tables)

    @cached_property
    def rows(self) -> HeldRows | None:
        """The rows in memory, where they are read once; None if they are too many (DuckDB joins them then), or damaged."""
        read = self._together.rows(self._schema)
        return None if read is None else self._held(read)

    def rows_for(self, classes: Classes) -> HeldRows | None:
        """The rows in memory that count for the signatures of these classes, or all if most of them do, or if they were read
        before; None where they are not to be had."""
        if classes.wide:
            return None
        if classes.default is not None or "rows" in self.__dict__:
            return self.rows
        listed = sorted(self.numbers[label] for label in classes.of)
        if not 0 < len(listed) <= MAX_LISTED or not self._together.fits(self._schema):
            return None
        columns: list[exp.Expr] = [exp.column("transaction_id"), exp.column("item_id")]
        if self._together.short(self._schema):
            short = exp.DataType(this=exp.DataType.Type.USMALLINT)
            columns = [exp.TryCast(this=c, to=short.copy()).as_(c.name) for c in columns]
        among = exp.In(this=exp.column("item_id"), expressions=[exp.convert(n) for n in listed])
        tree = exp.select(*columns, copy=False).from_(self._rows.expression(), copy=False).where(among, copy=False)
        return self._held(self._engine.select(tree, "the rows of a release"))

    def _held(self, rows: Columns) -> HeldRows | None:
        return HeldRows.of(rows["transaction_id"], rows["item_id"], self._size, self.numbers)

    def supports(self) -> dict[str, int]:
        """The number of transactions of each released item."""
        if (read := self.__dict__.get("rows")) is not None:
            by_number = read.supports.tolist()
            return {label: by_number[number] for label, number in self.numbers.items() if by_number[number]}
        rows = self._read("query/supports_by_number", transaction_items="transaction_items")
        counts = dict(zip(rows["item_id"].tolist(), rows["transactions"].tolist(), strict=True))
        return {label: counts[number] for label, number in self.numbers.items() if number in counts}

    def lengths(self) -> Columns:
        """The number of transactions with each number of released items above 0: columns released_items, transactions."""
        return self._read("query/lengths", transactions="transaction_items")

    def by_item(self, held: exp.Query) -> list[tuple[str, Any, int]]:
        """The number of transactions of each released item with each signature, without those that have no signature."""
        labels = {number: label for label, number in self.numbers.items()}
        rows = self._engine.query("query/signatures_by_number", {"transaction_items": self._rows, "held": held})
        columns = (rows[c].tolist() for c in ("item_id", "signature", "transactions"))
        return [(labels[number], signature, count) for number, signature, count in zip(*columns, strict=True)]

    def query(self, classes: Classes, codes: Mapping[str, int]) -> exp.Query | None:
        """The query for the signature of each transaction with a relevant released item, of which ``codes`` lists those
        outside the default class; None where the signatures are texts, or too many items would be listed."""
        if classes.wide or len(self.numbers if classes.default is not None else codes) > MAX_LISTED:
            return None
        if classes.default is not None:
            other = classes.weights()[classes.default]
            by_number = [exp.convert(codes.get(label, other)) for label in self.numbers]
            return load("query/held_all").bind(
                {"transaction_items": self._rows}, {"weights": exp.Array(expressions=by_number)}
            )
        if not codes:
            return None
        return self.with_weights(_weights(tuple((self.numbers[label], code) for label, code in codes.items())))

    def with_weights(self, weights: Table | exp.Query) -> exp.Query:
        """The query for the signature of each transaction with one of the released items in a table (item_id, weight)."""
        tables: dict[str, Table | exp.Query] = {"transaction_items": self._rows, "weights": weights}
        return load("query/held_items").bind(tables, {})


@lru_cache(maxsize=256)
def _weights(rows: tuple[tuple[int, int], ...]) -> exp.Query:
    """The table (item_id, weight) of the query."""
    values = exp.Values(
        expressions=[exp.Tuple(expressions=[exp.Literal.number(cell) for cell in row]) for row in rows],
        alias=exp.TableAlias(
            this=exp.to_identifier("added"), columns=[exp.to_identifier(c) for c in ("item_id", "weight")]
        ),
    )
    return exp.select("item_id", "weight").from_(values, copy=False)
