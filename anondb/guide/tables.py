"""The tables of an owner's database, among which transactions, taxonomies and records are chosen."""

from collections.abc import Mapping
from dataclasses import dataclass

from anondb.engine import Engine, tuples
from anondb.engine.trees import exp
from anondb.pages.text import plain


@dataclass(frozen=True)
class Columns:
    """A table or view of the owner."""

    name: str  # its name, as ``transactions`` and other arguments take it
    columns: Mapping[str, str]  # the SQL type of each column


def tables(engine: Engine) -> tuple[Columns, ...]:
    """The tables and views of the current database, those of the current schema first; outside a transaction."""
    with engine.transaction():
        engine.look_up_all()
        rows = engine.query("transactions/columns")
    columns_of: dict[str, dict[str, str]] = {}
    for schema, table, column, kind, is_current in tuples(rows):
        columns_of.setdefault(_named(table, None if is_current else schema), {})[column] = kind
    return tuple(Columns(name, columns) for name, columns in columns_of.items())


def words(engine: Engine) -> str:
    """The tables and views of the current database with their columns, in a sentence: ten, each with ten columns."""
    found = tables(engine)
    if not found:
        return "The database has no tables."
    ten = [[*table.columns][:10] + ["..."] * (len(table.columns) > 10) for table in found[:10]]
    shown = [f"{table.name} ({', '.join(names)})" for table, names in zip(found, ten, strict=False)]
    return plain(f"The database has {', '.join(shown)}{f' and {len(found) - 10} more' * (len(found) > 10)}.")


def _named(table: str, schema: str | None) -> str:
    """The name of a table; with its schema, quoted where it is needed."""
    if schema is None:
        return table
    parts = (exp.to_identifier(name, quoted=not exp.SAFE_IDENTIFIER_RE.match(name)) for name in (table, schema))
    return exp.Table(this=next(parts), db=next(parts)).sql("duckdb")
