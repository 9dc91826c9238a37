"""Copy what runs read into a private DuckDB file, which each of their processes opens."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from anondb.engine import Engine, Table


@dataclass(frozen=True)
class Copies:
    """An attached file: the places of its tables. A transaction of the engine may write into one file alone."""

    engine: Engine
    catalog: str

    def table(self, schema: str, name: str) -> Table:
        """The place of a table; ``schema.name`` names it for runs."""
        return Table(self.catalog, schema, name)

    def make_schema(self, name: str) -> None:
        """Make a schema."""
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
