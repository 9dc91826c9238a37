"""Asks random queries in sessions on random releases, and compares with DuckDB on the originals."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from session.checker import faults
from session.random_queries import Analyst, Asked
from session.random_releases import Sealed, draw_sealed

import anondb
from anondb.session import Session

REFUSED = ("unsupported_query", "query_too_complex", "ambiguous_item")


@dataclass
class Tally:
    """The answers, refusals and failures of each kind of query."""

    answered: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    invalid: Counter[str] = field(default_factory=Counter)  # that DuckDB refuses on the original
    failures: list[str] = field(default_factory=list)


class Case:
    """A session on a random release beside the original tables."""

    def __init__(self, sealed: Sealed, session: Session, raw: duckdb.DuckDBPyConnection) -> None:
        self.sealed, self.session, self.raw = sealed, session, raw

    def outcome(self, asked: Asked) -> tuple[str, list[tuple[str, str]]]:
        """What becomes of a query: ``answered``, ``refused`` or ``invalid``, and what is wrong with it."""
        try:
            true = self.raw.execute(asked.truth)
            names, truth = [c[0] for c in true.description or []], true.fetchall()
        except duckdb.Error:
            return "invalid", []
        try:
            result = self.session.sql(asked.sql)
        except anondb.InputError as error:
            return ("refused", []) if error.code in REFUSED else ("answered", [("", f"{error.code}: {error}")])
        except Exception as error:  # each other one is a bug
            return "answered", [("", f"{type(error).__name__}: {error}")]
        listed = self.sealed.complete or not any("suppressed" in note for note in result.notes)
        every = listed and not asked.limit
        return "answered", faults(result.columns, result.fetchall(), names, truth, filtered=asked.filtered, every=every)

    def shown(self, asked: Asked, found: list[tuple[str, str]]) -> str:
        """A failure with the original and the release, and with the column at fault alone if it fails alone."""
        name, text = found[0]
        alone = asked.only({name, *(c.split()[-1] for c in asked.columns if c.split()[-1][0] == "k")})
        if name and alone.columns and (again := self.outcome(alone)[1]):
            asked, text = alone, again[0][1]
        lines = [text, f"query: {asked.sql}", f"release: {self.sealed.how}"]
        lines += [f"{file.stem}: {published(file)}" for file in self.sealed.files]
        return "\n".join([*lines, f"original: {self.sealed.original}"])


def published(file: Path) -> list[tuple[Any, ...]]:
    """The rows of a sealed file, as readers see them."""
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"ATTACH '{file}' AS f (READ_ONLY)")
        tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        shown = "buckets" if "buckets" in tables else "baskets ORDER BY ALL"
        return connection.execute(f"FROM f.{shown}").fetchall()


@contextmanager
def opened(sealed: Sealed) -> Iterator[Case]:
    """A session on the release, with the analyst's own tables, and the original in DuckDB."""
    original = sealed.original
    with duckdb.connect(":memory:") as raw, anondb.open(sealed.files, threads=1) as session:
        raw.execute("SET threads = 1")
        original.fill(raw)
        for name in ("food", "prices"):
            session.register(name, raw.table(name).arrow())
        yield Case(sealed, session, raw)


def ask(seed: int, folder: Path, queries: int, tally: Tally, records: bool | None = None) -> None:
    """Ask ``queries`` random queries of a random release."""
    rnd = random.Random(seed)
    sealed = draw_sealed(rnd, folder, records)
    with opened(sealed) as case:
        analyst = Analyst(rnd, sealed.original)
        kinds = analyst.kinds()
        for n in range(queries):
            kind = kinds[(n + seed) % len(kinds)] if n % 2 else rnd.choice(kinds)
            asked = analyst.ask(kind)
            outcome, found = case.outcome(asked)
            getattr(tally, outcome)[kind] += 1
            if found:
                tally.failures.append(f"seed {seed}, {kind}: {case.shown(asked, found)}")
