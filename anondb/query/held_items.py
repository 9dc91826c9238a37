"""The signatures of transactions by the numbers of released items, whose rows lie together in a release of sets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache

from sqlglot import exp

from anondb.engine import Engine, Table, load
from anondb.query.classes import Classes
from anondb.query.held_sums import HeldRows
from anondb.release.objects import SchemaName

MAX_ROWS = 30_000_000  # in memory, 12 bytes each


class HeldItems:
    """The rows of a release of sets.

    Args:
        engine, schema: the release.

    Attributes:
        numbers: the number of each released item.
    """

    def __init__(self, engine: Engine, schema: SchemaName) -> None:
        self._engine, self._rows = engine, schema.table("transaction_items")
        numbers = engine.query("query/item_numbers", {"labels": schema.table("labels")})
        self.numbers: Mapping[str, int] = dict(zip(numbers["item"].tolist(), numbers["item_id"].tolist(), strict=True))

    @classmethod
    def of(cls, engine: Engine, schema: SchemaName) -> HeldItems | None:
        """The rows of a release, unless it has no table of numbers."""
        return cls(engine, schema) if engine.exists(schema.table("labels")) else None

    @cached_property
    def rows(self) -> HeldRows | None:
        """The rows in memory, where they are read once; None if they are too many."""
        counted = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(self._rows.expression())
        if self._engine.select(counted, "the number of rows")["n"][0] > MAX_ROWS:
            return None
        rows = self._engine.select(
            exp.select("transaction_id", "item_id").from_(self._rows.expression()), "the rows of a release"
        )
        return HeldRows.of(rows["transaction_id"], rows["item_id"], self.numbers)

    def supports(self) -> dict[str, int]:
        """The number of transactions of each released item."""
        rows = self._engine.query("query/supports_by_number", {"transaction_items": self._rows})
        counts = dict(zip(rows["item_id"].tolist(), rows["transactions"].tolist(), strict=True))
        return {label: counts[number] for label, number in self.numbers.items() if number in counts}

    def query(self, classes: Classes, codes: Mapping[str, int]) -> exp.Query | None:
        """The query for the signature of each transaction with one of the released items that have ``codes``; None where
        classes name other items."""
        if classes.default is not None or classes.wide or not codes:
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
            this=exp.to_identifier("given"), columns=[exp.to_identifier(c) for c in ("item_id", "weight")]
        ),
    )
    return exp.select("item_id", "weight").from_(values, copy=False)
