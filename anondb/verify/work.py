"""Shared by the verifiers: temporary work tables, and the limits on the cost of a check."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from sqlglot import exp

from anondb.engine import Engine, NamedRows, Table, load
from anondb.errors import BudgetExceeded

CHUNK_ROWS = 30_000_000  # groups of one aggregate, or rows of one candidate table: about 1 GB
MAX_STORED_ROWS = 60_000_000  # rows of a work table: about 1 GB, and as much again while it is joined
MAX_JOINED_ROWS = 5_000_000_000  # rows through the joins of one size: some minutes

Bound = Mapping[str, Table | exp.Query]


class Work:
    """The work tables of one verification, and the engine that holds them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._tables: list[Table] = []

    def table(
        self, target: str, name: str | exp.Query, tables: Bound | None = None, **values: int | str | None
    ) -> Table:
        """Create the work table ``verify_<target>`` from a query in ``sql/verify`` or a tree."""
        source = f"verify/{name}" if isinstance(name, str) else name
        created = self.engine.create(f"verify_{target}", source, tables, **values)
        self._tables.append(created)
        return created

    def drop(self, *tables: Table) -> None:
        """Drop work tables before the end."""
        self.engine.drop(*tables)
        self._tables = [t for t in self._tables if t not in tables]

    def row(self, name: str, tables: Bound, **values: int) -> dict[str, int]:
        """The single row of numbers that a query in ``sql/verify`` returns."""
        return {c: int(v[0]) for c, v in self.engine.query(f"verify/{name}", tables, **values).items()}

    def count(self, itemsets: Table | exp.Query | NamedRows) -> int:
        """The number of rows of a table or query."""
        return int(self.engine.scalar("verify/count", {"itemsets": itemsets}))


@contextlib.contextmanager
def work(engine: Engine) -> Iterator[Work]:
    """A context for work tables, which drops them at the end; after an error the engine's transaction rolls them back."""
    place = Work(engine)
    yield place
    place.drop(*list(place._tables))


def bound(name: str, tables: Bound, **values: int) -> exp.Query:
    """The tree of a query in ``sql/verify``, for use in another query."""
    return load(f"verify/{name}").bind(tables, values)


def check_budget(rows: int, limit: int, what: str) -> None:
    """Refuse a check that would process more rows than the limit.

    Raises:
        BudgetExceeded: with the estimated number of rows.
    """
    if rows > limit:
        raise BudgetExceeded(
            f"Verifying this promise needs about {rows} rows for {what}; the limit is {limit}.",
            hint="Verify with a smaller m, or with m = inf, which enumerates no itemsets.",
        )
