"""Asks random queries in sessions on random releases, and compares with DuckDB on the originals."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from session.checker import faults, says_null
from session.random_analyst import Analyst, Asked
from session.random_queries import KINDS, kinds
from session.random_releases import Original, Sealed, draw_sealed
from session.random_worlds import worlds

import anondb
from anondb import Result, Session

REFUSED = ("unsupported_query", "query_too_complex", "ambiguous_item", "no_such_file")
WORLDS = 3  # other originals of a release


@dataclass(frozen=True)
class Fault:
    """What is wrong with an answer: the column at fault, a text, and the original for which it is wrong."""

    column: str
    text: str
    original: Original


@dataclass
class Tally:
    """The answers, refusals and failures of each kind of query."""

    answered: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    invalid: Counter[str] = field(default_factory=Counter)  # that DuckDB refuses on the original
    failures: list[str] = field(default_factory=list)


class Case:
    """A session on a random release beside the original tables, and those of other originals of the same release."""

    def __init__(self, sealed: Sealed, session: Session, originals: list[Original]) -> None:
        self.sealed, self.session = sealed, session
        self.originals = [(original, duckdb.connect(":memory:", config={"threads": 1})) for original in originals]
        for original, raw in self.originals:
            original.fill(raw)

    def close(self) -> None:
        for _, raw in self.originals:
            raw.close()

    def outcome(self, asked: Asked) -> tuple[str, list[Fault]]:
        """What becomes of a query: ``answered``, ``refused`` or ``invalid``, and what is wrong with it."""
        original, raw = self.originals[0]
        try:
            raw.execute(asked.truth)
        except duckdb.Error:
            return "invalid", []
        try:
            result = self.session.sql(asked.sql)
        except anondb.InputError as error:
            refused = error.code in REFUSED
            return ("refused", []) if refused else ("answered", [Fault("", f"{error.code}: {error}", original)])
        except Exception as error:  # each other one is a bug
            return "answered", [Fault("", f"{type(error).__name__}: {error}", original)]
        if any("Internal error" in note for note in result.notes):
            return "answered", [Fault("", "a possible world is outside of the bounds", original)]
        return "answered", [fault for world in self.originals for fault in self._compared(asked, result, *world)]

    def _compared(self, asked: Asked, result: Result, original: Original, raw: duckdb.DuckDBPyConnection) -> Iterator[Fault]:
        """What is wrong with a result if this were the original."""
        try:
            true = raw.execute(asked.truth)
        except duckdb.Error:  # DuckDB refuses some casts for the values of this original only
            return
        names = [c[0] for c in true.description or []]
        listed = self.sealed.complete or not any("suppressed" in note.lower() for note in result.notes)
        modelled = any(note.startswith("No bounds") for note in result.notes)  # rows are those of worlds
        every, rows = listed and not asked.limit and not modelled, result.fetchall()
        how = {"filtered": asked.filtered and not modelled, "every": every, "nullable": says_null(result.notes)}
        for name, text in faults(result.columns, rows, names, true.fetchall(), **how):
            yield Fault(name, text, original)

    def shown(self, asked: Asked, found: list[Fault]) -> str:
        """A failure with the original and the release, and with the column at fault alone if it fails alone."""
        fault = found[0]
        name = fault.column
        alone = asked.only({name, *(c.split()[-1] for c in asked.columns if c.split()[-1][0] == "k")})
        if name and alone.columns and (again := self.outcome(alone)[1]):
            asked, fault = alone, again[0]
        lines = [fault.text, f"query: {asked.sql}", f"release: {self.sealed.how}"]
        lines += [f"{file.stem}: {published(file)}" for file in self.sealed.files]
        return "\n".join([*lines, f"original: {fault.original}"])


def published(file: Path) -> list[tuple[Any, ...]]:
    """The rows of a sealed file, as readers see them."""
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"ATTACH '{file}' AS f (READ_ONLY)")
        tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        shown = "buckets" if "buckets" in tables else "baskets ORDER BY ALL"
        return connection.execute(f"FROM f.{shown}").fetchall()


@contextmanager
def opened(sealed: Sealed, others: Sequence[Original] = ()) -> Iterator[Case]:
    """A session on the release, with the analyst's own tables, and the originals in DuckDB."""
    with anondb.open(sealed.files, threads=1) as session, closing(Case(sealed, session, [sealed.original, *others])) as case:
        for name in ("food", "prices"):
            session.register(name, case.originals[0][1].table(name).arrow())
        yield case


def ask(seed: int, folder: Path, queries: int, tally: Tally, records: bool | None = None) -> None:
    """Ask ``queries`` random queries of a random release."""
    rnd = random.Random(seed)
    sealed = draw_sealed(rnd, folder, records)
    with opened(sealed, worlds(sealed, rnd, WORLDS)) as case:
        analyst = Analyst(rnd, sealed.original)
        names = kinds(analyst)
        for n in range(queries):
            kind = names[(n + seed) % len(names)] if n % 2 else rnd.choice(names)
            asked = KINDS[kind](analyst)
            outcome, found = case.outcome(asked)
            getattr(tally, outcome)[kind] += 1
            if found:
                tally.failures.append(f"seed {seed}, {kind}: {case.shown(asked, found)}")
