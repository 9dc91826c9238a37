"""What an engine on PostgreSQL has fetched into DuckDB, and the names and tables of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot.errors import SqlglotError

from anondb.engine import AnyQuery, DuckDBEngine, Table, reads, tree_of
from anondb.engine.trees import exp
from anondb.errors import InputError
from anondb.warehouse.postgres.tables import COLLATED, SourceTable

CATALOG = "memory"
LEDGER = "anondb"
BEFORE = "anondb_before"  # the schema of the ledger as it was fetched


@dataclass
class Fetched:
    """What DuckDB holds of the database in PostgreSQL."""

    version: str | None = ""  # of the ledger; None without one, empty if it was not asked for yet
    # the schemas of releases, each with the number of the release that is here, if it is
    releases: dict[str, str | None] = field(default_factory=dict)
    # the tables of the owner that are here, and those with their rows
    sources: dict[tuple[str, str], SourceTable] = field(default_factory=dict)
    filled: set[tuple[str, str]] = field(default_factory=set)
    kept: bool = False  # whether DuckDB has committed it
    touched: bool = False  # whether a statement of the transaction named the ledger or a release


def is_owners(table: SourceTable) -> bool:
    """Whether a table is one of the owner's, not of the ledger or a release."""
    return table.schema != LEDGER and not table.schema.lower().startswith("release_")


def folded(schema: str, name: str) -> tuple[str, str]:
    """The name of a table as DuckDB compares it."""
    return schema.lower(), name.lower()


def tables_of(query: AnyQuery) -> list[exp.Table]:
    """The tables that a query names. Raises InputError: ``bad_sql``: its text cannot be parsed."""
    try:
        tree = tree_of(query)
    except SqlglotError:
        words, hint = "The tables of the query cannot be found.", "Make it a view in PostgreSQL, and use that."
        raise InputError(words, code="bad_sql", hint=hint) from None
    return [table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]


def duckdb_table(table: Table, types: Mapping[str, str]) -> exp.Create:
    """The statement that makes a table here."""
    fields = []
    for name, kind in types.items():
        collated = kind == COLLATED
        constraint = exp.ColumnConstraint(kind=exp.CollateColumnConstraint(this=exp.var("nocase")))
        data_type = exp.DataType.build("VARCHAR" if collated else kind, dialect="duckdb")
        identifier = exp.to_identifier(name, quoted=True)
        fields.append(exp.ColumnDef(this=identifier, kind=data_type, constraints=[constraint] if collated else []))
    return exp.Create(this=exp.Schema(this=table.expression(), expressions=fields), kind="TABLE")


def kept_value(name: str, kind: str) -> exp.Expr:
    """A column as it is inserted here. NULL stays NULL in a UNION, where DuckDB would make it a member."""
    value = reads.named(name)
    if not kind.startswith("UNION"):
        return value
    present = exp.Not(this=exp.Is(this=value, expression=exp.null()))
    return exp.Case(ifs=[exp.If(this=present, true=exp.cast(value.copy(), kind, dialect="duckdb"))])


def changes(engine: DuckDBEngine, tables: list[str], fetched: set[str]) -> dict[str, bool]:
    """The tables of the ledger that are not as they were ``fetched``: whether rows were changed or removed."""
    counts = []
    for name in (t for t in tables if t in fetched):
        now, before = Table(CATALOG, LEDGER, name), Table(CATALOG, BEFORE, name)
        for left, right in ((before, now), (now, before)):
            count = exp.select(exp.Count(this=exp.Star())).from_(rows_apart(left, right).subquery("apart"))
            counts.append(count.subquery().as_(f"{name} {left.schema}", quoted=True))
    figures = engine.select(exp.select(*counts), "comparing the ledger") if counts else {}
    apart = {name: bool(column[0]) for name, column in figures.items()}
    changed = {name: False for name in tables if name not in fetched or apart[f"{name} {LEDGER}"]}
    return changed | {name: True for name in fetched if name in tables and apart[f"{name} {BEFORE}"]}


def rows_apart(left: Table, right: Table) -> exp.Query:
    """The rows of a table that another lacks."""
    sides = [exp.select("*").from_(table.expression()) for table in (left, right)]
    return exp.except_(*sides, distinct=False)
