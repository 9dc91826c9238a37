"""Sessions on small releases that a test made in an owner's database, by way of files as publishing writes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import anondb
from anondb.engine import DuckDBEngine, Engine
from anondb.engine.answering import Limits
from anondb.engine.locked import STORAGE_VERSION
from anondb.errors import InputError
from anondb.release.catalog import create_table
from anondb.release.definitions import create_views_and_macros
from anondb.release.objects import SEALED_SCHEMA, SchemaName, read_release
from anondb.release.publish import BUILD_NAME
from anondb.release.reader import SealedRelease
from anondb.session.opening import session_on

OPEN = 2  # sessions of one test that stay open


def has_no_bounds(note: str) -> bool:
    """Whether a note says that an answer has no bounds, which these tests take for a refusal."""
    return "o bounds, since no rule reads this: " in note or note.startswith("Rows of persons are modelled")


@dataclass(frozen=True)
class Answered:
    """The answer to a count: the columns of the groups, and rows of group, lower bound, estimate and upper bound."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...]

    @property
    def bounds(self) -> tuple[Any, Any, Any]:
        """Lower bound, estimate and upper bound of a count without groups."""
        ((lower, estimate, upper),) = self.rows
        return lower, estimate, upper


class Asked:
    """A session on a release."""

    def __init__(self, session: anondb.Session) -> None:
        self.session = session

    def answer(self, sql: str) -> Answered:
        """Answer a query of one count, with or without groups; of several counts, the first. A result without a count has
        its columns and no rows. An answer without bounds is taken for a refusal."""
        result = self.session.sql(sql)
        for note in result.notes:
            if has_no_bounds(note):
                raise InputError(note, code="query_too_complex" if "too complex" in note else "unsupported_query")
        named = next((n for n, name in enumerate(result.columns) if f"{name}_lower" in result.columns), None)
        if named is None:
            return Answered(tuple(result.columns), (), tuple(result.notes))
        shown = result.columns.index("certain") if "certain" in result.columns else len(result.columns)
        groups = [n for n in range(shown) if not named <= n < named + 3]
        rows = ((*(row[n] for n in groups), row[named + 1], row[named], row[named + 2]) for row in result.fetchall())
        return Answered(tuple(result.columns[n] for n in groups), tuple(rows), tuple(result.notes))


def opened(engine: Engine, schema: SchemaName) -> Asked:
    """A session on a release that lies in a schema, as its owner asks it."""
    assert isinstance(engine, DuckDBEngine)
    found = read_release(engine, schema)
    assert found is not None
    release = SealedRelease(schema, found.kind, found.manifest, engine, Path(schema.name))
    return Asked(session_on([release], limits=Limits(None), threads=1))


def answer_of(engine: Engine, schema: SchemaName, sql: str) -> Answered:
    """The answer to one query; see ``opened``."""
    return opened(engine, schema).answer(sql)


class Sessions:
    """Opens releases; only the last few stay open."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, 0
        self.open: list[Asked] = []

    def __call__(self, engine: Engine, schema: SchemaName) -> Asked:
        """A session on a release that lies in a schema."""
        while len(self.open) >= OPEN:
            self.open.pop(0).session.close()
        self.made += 1
        place = self.folder / str(self.made)
        place.mkdir()
        self.open.append(Asked(anondb.open(seal(engine, schema, place / BUILD_NAME), threads=1)))
        return self.open[-1]

    def close(self) -> None:
        for asked in self.open:
            asked.session.close()


def seal(engine: Engine, schema: SchemaName, file: Path) -> Path:
    """Write a release into a file, as publishing does, but in this process and without its checks."""
    release = read_release(engine, schema)
    assert release is not None
    target = SchemaName(file.stem, SEALED_SCHEMA)
    config = {"threads": 1, "storage_compatibility_version": STORAGE_VERSION}
    with duckdb.connect(str(file), config=config) as con:
        owner = DuckDBEngine(con, owned=True)
        owner.run_all([create_table(target.table(name), columns) for name, columns in release.kind.tables.items()], "tables")
        for name, columns in release.kind.tables.items():
            listed = ", ".join(f'"{column}"' for column in columns)
            place = schema.table(name).sql()
            rows = engine._connection.sql(f"SELECT {listed} FROM {place}").to_arrow_table()  # noqa: F841
            con.execute(f"INSERT INTO {target.table(name).sql()} SELECT * FROM rows")
        create_views_and_macros(owner, target, release.manifest["release_id"], release.kind)
    return file
