"""Copy what runs read into a private DuckDB file, which each of their processes opens."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from anondb.data.sources import all_columns, open_source
from anondb.engine import Engine, Table
from anondb.engine.texts import quoted, sql
from anondb.engine.trees import exp

MAIN = "main"  # the schema that each file has


@dataclass
class Copies:
    """Copies of rows: work tables first, since a transaction may write into one file alone, and one that reads the tables of
    another database writes them into the engine's; then tables of the file."""

    engine: Engine
    catalog: str
    _work: dict[tuple[str, str], Table] = field(default_factory=dict)  # by schema and name in the file

    def table(self, schema: str, name: str) -> Table:
        """A work table, to be made in the block of ``transaction``; ``schema.name`` names its copy for runs."""
        return self._work.setdefault((schema, name), self.engine.work_table(f"copy_{len(self._work)}"))

    def written(self, schema: str, name: str) -> Table:
        """The place of a copy in the file."""
        return Table(self.catalog, schema, name)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in a transaction of the engine, and then write the copies that it made into the file."""
        with self.engine.transaction():
            yield
        for schema in {schema for schema, _ in self._work} - {MAIN}:
            self._make_schema(schema)
        for place, table in self._work.items():
            self.engine.create(self.written(*place), all_columns(table))
            self.engine.drop(table)
        self._work.clear()

    def _make_schema(self, name: str) -> None:
        self.engine.run(sql("CREATE SCHEMA {}.{}", quoted(self.catalog), quoted(name)), "making a private copy")


@contextlib.contextmanager
def copying(engine: Engine, file: Path) -> Iterator[Copies]:
    """Inside the block, outside a transaction of the engine, have a new file attached."""
    catalog = f"anondb_{file.stem}"
    engine.run(sql("ATTACH {} AS {} (READ_WRITE)", str(file), quoted(catalog)), "making a private copy")
    try:
        yield Copies(engine, catalog)
    finally:
        engine.run(sql("DETACH {}", quoted(catalog)), "closing a private copy")


def copy_tables(engine: Engine, file: Path, names: Iterable[str]) -> None:
    """Copy tables into a new file, where the same names mean them, outside a transaction of the engine. Raises InputError:
    there is no such table."""
    with copying(engine, file) as copies, copies.transaction():
        for name in dict.fromkeys(names):
            place = exp.to_table(name, dialect="duckdb")
            with open_source(engine, name, "copy") as source:
                engine.create(copies.table(place.db or MAIN, place.name), source.query)
