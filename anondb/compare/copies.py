"""Copy what runs read into a private DuckDB file, which each of their processes opens."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sqlglot import exp

from anondb.data.sources import all_columns, open_source
from anondb.engine import Engine, Table

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
        place = exp.Table(db=exp.to_identifier(name, quoted=True), catalog=exp.to_identifier(self.catalog, quoted=True))
        self.engine.run(exp.Create(this=place, kind="SCHEMA"), "making a private copy")


@contextlib.contextmanager
def copying(engine: Engine, file: Path) -> Iterator[Copies]:
    """Inside the block, outside a transaction of the engine, have a new file attached."""
    catalog = exp.to_identifier(f"anondb_{file.stem}", quoted=True)
    place = exp.alias_(exp.Literal.string(str(file)), catalog)
    option = exp.AttachOption(this=exp.var("READ_WRITE"))
    engine.run(exp.Attach(this=place, expressions=[option]), "making a private copy")
    try:
        yield Copies(engine, catalog.name)
    finally:
        engine.run(exp.Detach(this=exp.Table(this=catalog.copy())), "closing a private copy")


def copy_tables(engine: Engine, file: Path, names: Iterable[str]) -> None:
    """Copy tables into a new file, where the same names mean them, outside a transaction of the engine. Raises InputError:
    there is no such table."""
    with copying(engine, file) as copies, copies.transaction():
        for name in dict.fromkeys(names):
            place = exp.to_table(name, dialect="duckdb")
            with open_source(engine, name, "copy") as source:
                engine.create(copies.table(place.db or MAIN, place.name), source.query)
