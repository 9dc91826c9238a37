"""Releases whose rows can be exchanged: the tables, views and macros are made once, for many small releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import duckdb

from anondb.engine import DuckDBEngine
from anondb.release.catalog import create_table
from anondb.release.definitions import create_views_and_macros
from anondb.release.objects import GLOBAL, Kind, SchemaName

Answer = tuple[int, float, int]
Rows = Mapping[str, Sequence[tuple[Any, ...]]]
SCHEMA = SchemaName("memory", "release_r")


def coded(transactions: Sequence[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    """Rows ``(transaction_id, item, copies)`` as the base tables of a release."""
    labels = sorted({item for _, item, _ in transactions})
    number = {label: n for n, label in enumerate(labels, 1)}
    stored = sorted(((t, number[item], copies) for t, item, copies in transactions), key=lambda row: (row[1], row[0]))
    return {"transaction_items": stored, "labels": [(n, label) for label, n in number.items()]}


class ReleaseBench:
    """An empty release of a kind in memory, with the number ``number``."""

    def __init__(self, kind: Kind = GLOBAL) -> None:
        self.engine = DuckDBEngine(duckdb.connect(config={"threads": "1"}), owned=True)
        self.run = self.engine.connection.execute
        self.schema, self.kind = SCHEMA, kind
        self.run("CREATE SCHEMA release_r")
        tables = [create_table(SCHEMA.table(name), columns) for name, columns in kind.tables.items()]
        self.engine.run_all(tables, "making an empty release")
        create_views_and_macros(self.engine, SCHEMA, "number", kind)

    def put(self, content: Rows) -> None:
        """Exchange the rows; ``transactions`` may be said as the view shows them."""
        stored = {t: rows for t, rows in content.items() if t != "transactions"}
        if "transactions" in content:
            stored |= coded(content["transactions"])
        for table, rows in stored.items():
            self.run(f"TRUNCATE release_r.{table}")
            if rows:
                marks = ", ".join("(" + ", ".join("?" * len(rows[0])) + ")" for _ in rows)
                self.run(f"INSERT INTO release_r.{table} VALUES {marks}", list(chain.from_iterable(rows)))

    def ask(self, queries: Sequence[Sequence[str]]) -> list[Answer]:
        """All queries at once, as a lateral join: one row for each."""
        marks = ", ".join("(?, CAST(? AS VARCHAR[]))" for _ in queries)
        found = self.run(
            f"SELECT n, b.* FROM (VALUES {marks}) AS q(n, asked), release_r.count_bounds(q.asked) AS b ORDER BY n",
            list(chain.from_iterable((n, list(q)) for n, q in enumerate(queries))),
        ).fetchall()
        assert [row[0] for row in found] == list(range(len(queries)))
        return [row[1:] for row in found]

    def ask_one(self, query: Sequence[str]) -> Answer:
        (row,) = self.run("FROM release_r.count_bounds(?)", [list(query)]).fetchall()
        return row

    def item_counts(self) -> dict[str, Answer]:
        """What the view says of each item."""
        return {item: tuple(answer) for item, *answer in self.run("FROM release_r.item_counts").fetchall()}  # type: ignore[misc]
