"""Names of tables as three parts (catalog, schema, name), never as SQL text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp


@dataclass(frozen=True)
class Table:
    """The fully qualified name of a table or view; qualified, since a user's file may have the name of our schema.

    A part may be empty in databases where names have fewer.
    """

    catalog: str
    schema: str
    name: str

    def expression(self) -> exp.Table:
        """The quoted sqlglot node of this name."""
        return exp.Table(
            this=exp.to_identifier(self.name, quoted=True),
            db=exp.to_identifier(self.schema or None, quoted=True),
            catalog=exp.to_identifier(self.catalog or None, quoted=True),
        )

    def sql(self) -> str:
        """The quoted name as DuckDB reads it."""
        return _text(self)


@lru_cache(maxsize=1024)
def _text(table: Table) -> str:
    return table.expression().sql(dialect="duckdb")
