"""Shared by the verifiers: temporary work tables, and the limits on the cost of a check."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from anondb.engine import Engine, Query, Rows, Runner, Table, query_of, reads
from anondb.engine.trees import exp
from anondb.errors import BudgetExceeded

CHUNK_ROWS = 30_000_000  # groups of one aggregate, or rows of one candidate table: about 1 GB
MAX_RANGES = 100_000  # of a join that is counted in ranges
MAX_STORED_ROWS = 60_000_000  # rows of a work table: about 1 GB, and as much again while it is joined
MAX_JOINED_ROWS = 5_000_000_000  # rows through the joins of one size: some minutes

Bound = Mapping[str, Rows]
R = TypeVar("R", bound=Runner)


class Work(Generic[R]):
    """The work tables of one verification, the engine that holds them, and the rows that one of its aggregates may have."""

    def __init__(self, engine: R, chunk_rows: int | None = None) -> None:
        self.engine, self.chunk_rows = engine, CHUNK_ROWS if chunk_rows is None else chunk_rows
        self._tables: list[Table] = []

    def table(
        self, target: str, name: str | Query | exp.Query, tables: Bound | None = None, **values: int | str | None
    ) -> Table:
        """Create the work table ``verify_<target>`` from a query (``named``) or a tree."""
        source = named(name) if isinstance(name, str) else name
        created = self.engine.create(f"verify_{target}", source, tables, **values)
        self._tables.append(created)
        return created

    def drop(self, *tables: Table) -> None:
        """Drop work tables before the end."""
        self.engine.drop(*tables)
        self._tables = [t for t in self._tables if t not in tables]

    def row(self, name: str | Query | exp.Query, tables: Bound | None = None, **values: int) -> dict[str, int]:
        """The single row of numbers that a query (``named``) or a tree returns."""
        source = named(name) if isinstance(name, str) else name
        return {c: int(v[0]) for c, v in self.engine.fetch(source, tables, most=1, **values).items()}

    def count(self, itemsets: Rows) -> int:
        """The number of rows of a table or query."""
        return int(self.engine.fetch(reads.counted(itemsets), most=1)["n"][0])


def lengths(engine: Engine, transactions: Table) -> list[tuple[int, int]]:
    """The lengths of the transactions ``(tid, item)``, and the number of transactions of each."""
    of_each = reads.counted(transactions, "tid", count="length")
    numbers = engine.select(reads.counted(of_each, "length", order="length"))
    return list(zip(numbers["length"].tolist(), numbers["n"].tolist(), strict=True))


@contextlib.contextmanager
def work(engine: R, chunk_rows: int | None = None) -> Iterator[Work[R]]:
    """A context for work tables, which drops them at the end; after an error the engine's transaction rolls them back."""
    place = Work(engine, chunk_rows)
    yield place
    place.drop(*list(place._tables))


def bound(name: str, tables: Bound, **values: int) -> Query:
    """A query (``named``), for use in another query."""
    return query_of(named(name), tables, values)


def named(name: str) -> str:
    """The whole name of a query: one without a folder is in ``sql/verify``, and runs on DuckDB alone."""
    return name if "/" in name else f"verify/{name}"


def check_budget(rows: int, limit: int, what: str) -> None:
    """Refuse a check that would process more rows than the limit."""
    if rows > limit:
        raise BudgetExceeded(
            f"Verifying this promise needs about {rows} rows for {what}; the limit is {limit}.",
            hint="Verify with a smaller m, or with m = inf, which enumerates no itemsets.",
        )
