"""Tables of PostgreSQL as tables of DuckDB: which types become which, and the statements that read and make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot

from anondb.engine.reads import named
from anondb.engine.trees import exp
from anondb.errors import InputError, quote_list
from anondb.warehouse.postgres.server import Server

# All types that DuckDB has, too. Every other arrives as a UNION of its text, which no id, item or attribute can be.
_AS_IT_IS = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "bool": "BOOLEAN",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
_AS_TEXT = {
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "char", "enum", "uuid", "time"), "VARCHAR"),
    "json": "JSON",
    "jsonb": "JSON",
    "timestamptz": "TIMESTAMP",  # in the zone of the session, UTC
}
_NESTED = "nested"  # lists with more than one dimension, which the type does not show
_LISTED_AS_IT_IS = ("int2", "int4", "int8", "bool", "float8")
_ENDLESS = ("date", "timestamp", "timestamptz")  # types with values "infinity"
COLLATED = "collated"  # stands for the type of texts of which PostgreSQL treats different ones as equal
_HEADER = 4  # of a type modifier; then come 16 bits of precision and 11 of scale
_MOST_DIGITS = 38
# The types in PostgreSQL of what anondb writes. Texts are compared by code points, whatever the database does.
_WRITTEN = {"VARCHAR": "TEXT", "VARCHAR[]": "TEXT[]", "DOUBLE": "DOUBLE PRECISION", "UUID": "TEXT", "UUID[]": "TEXT[]"}


@dataclass(frozen=True)
class Column:
    """A column in PostgreSQL: its name, the name of its type, of its elements, the modifier, and whether it is collated.
    Types below domains are named, ``enum`` stands for all enums, and types that are not PostgreSQL's own have their
    schema."""

    name: str
    type_name: str
    element: str | None
    modifier: int
    collated: bool

    @property
    def shown(self) -> str:
        """The name of its type, for people."""
        return self.type_name if self.element is None else f"{self.element}[]"


@dataclass(frozen=True)
class SourceTable:
    """A table or view in PostgreSQL; ``kind`` is the relkind of its catalog."""

    schema: str
    name: str
    kind: str
    columns: tuple[Column, ...]

    def expression(self) -> exp.Table:
        """Its quoted name."""
        return place(self.schema, self.name)


def place(schema: str, name: str) -> exp.Table:
    """The quoted name of an object of a schema."""
    return exp.Table(this=exp.to_identifier(name, quoted=True), db=exp.to_identifier(schema, quoted=True))


def source_tables(server: Server, *, wanted: str | None = None, schema: str | None = None) -> list[SourceTable]:
    """The tables and views with a name (in lower case), or of a schema."""
    rows = server.query("postgres/columns", wanted=wanted, schema_name=schema)
    tables: dict[tuple[str, str, str], list[Column]] = {}
    for in_schema, table, kind, *column in zip(*rows.values(), strict=True):
        tables.setdefault((in_schema, table, kind), []).append(Column(*column))
    return [SourceTable(*names, tuple(columns)) for names, columns in tables.items()]


def find_table(server: Server, reference: str) -> SourceTable:
    """The table or view ``name`` or ``schema.name``; as in DuckDB, the search ignores case. A name without a schema is
    looked up in the search path of the role. Raises InputError: ``no_such_table``; ``ambiguous_table``."""
    try:
        node = exp.to_table(reference, dialect="duckdb")
    except (sqlglot.errors.SqlglotError, ValueError):
        node = exp.Table()
    alike = [] if node.catalog or not node.name else source_tables(server, wanted=node.name.lower())
    places = [node.db] if node.db else list(server.path)
    for schema in places:
        there = [t for t in alike if t.schema.lower() == schema.lower()]
        exact = [t for t in there if (t.schema, t.name) == (schema, node.name)] or there
        if len(exact) > 1:
            raise InputError(
                "Names of schemas or tables differ by case only.", code="ambiguous_table", hint="Write the exact name."
            )
        if exact:
            return exact[0]
    raise InputError(
        "There is no such table or view in the database.", code="no_such_table", hint="Name it as SCHEMA.TABLE."
    )


def collation_error(subject: str, kind: str = "text") -> InputError:
    """The error for texts of which PostgreSQL treats different ones as equal."""
    return InputError(
        f"{subject} a collation or type that treats different texts as equal.",
        code="collation",
        hint=f'Cast the column to {kind} COLLATE "C" in a view, and use that.',
    )


@dataclass(frozen=True)
class Reading:
    """How a table is read: the query in PostgreSQL, and the types in DuckDB of its columns."""

    query: exp.Select
    types: Mapping[str, str]


def reading(server: Server, table: SourceTable, *, stored_order: bool = False) -> Reading:
    """How to read all columns of a table, also in the order in which rows are stored; the server is asked for what DuckDB
    has to know of numbers and dates. Raises InputError: ``column_clash``; ``endless_date``: a date or time is infinite;
    ``collation``."""
    names = [column.name.lower() for column in table.columns]
    if len(set(names)) < len(names):
        raise InputError(
            f"Columns of the table {table.name!r} differ by case only.",
            code="column_clash",
            hint="Rename one, or select the columns in a view.",
        )
    facts = _facts(server, table)
    chosen, types = [], {}
    for n, column in enumerate(table.columns):
        value, types[column.name] = _as_read(column, facts.get(f"c{n}"))
        chosen.append(value.as_(column.name, quoted=True))
    query = exp.select(*chosen).from_(table.expression())
    return Reading(query.order_by("ctid") if stored_order else query, types)


def declared_types(table: SourceTable) -> dict[str, str]:
    """The types in DuckDB of the columns of a table, by its catalog alone; VARCHAR for those that no range has."""
    types = {column.name: _as_read(column, None)[1] for column in table.columns}
    plain = (*_AS_IT_IS.values(), "DECIMAL")
    return {name: kind if kind.partition("(")[0] in plain else "VARCHAR" for name, kind in types.items()}


def _as_read(column: Column, facts: Any) -> tuple[exp.Expr, str]:
    """The value of a column as it is read, and its type in DuckDB, by what ``_facts`` says of its values, if anything."""
    value, plain, listed = named(column.name), column.element or column.type_name, column.element is not None
    if column.collated and listed:
        raise collation_error(f"The texts in the lists of the column {column.name!r} have", "text[]")
    text = exp.cast(value, "TEXT", dialect="postgres")
    if column.collated:
        return text, COLLATED
    scale = None if listed else facts
    kind = _decimal(column.modifier, scale) if plain == "numeric" else (_AS_IT_IS | _AS_TEXT).get(plain)
    if kind is None or facts == _NESTED:
        tag = exp.to_identifier(f"PostgreSQL {column.shown}{'[]' * (facts == _NESTED)}", quoted=True)
        return text, f"UNION({tag.sql('duckdb')} VARCHAR)"
    if listed:
        return value if plain in _LISTED_AS_IT_IS else exp.cast(value, "TEXT[]", dialect="postgres"), f"{kind}[]"
    if plain == "timestamptz":
        return exp.cast(value, "TIMESTAMP", dialect="postgres"), kind
    return value if plain in _AS_IT_IS else text, kind


def _decimal(modifier: int, scale: Any) -> str | None:
    """The type of a number in DuckDB, from its declared precision and scale or, without these, from its values if known."""
    if modifier >= _HEADER:
        precision, declared = (modifier - _HEADER) >> 16, (modifier - _HEADER) & 2047
        if declared <= precision <= _MOST_DIGITS:
            return f"DECIMAL({precision},{declared})"
    if scale is None:
        return None
    fraction, whole = scale
    return f"DECIMAL({_MOST_DIGITS},{fraction})" if fraction + whole <= _MOST_DIGITS else "DOUBLE"


def _facts(server: Server, table: SourceTable) -> dict[str, Any]:
    """For each number without a declared size, its digits after and before the point, and which lists are ``_NESTED``;
    refuses infinite dates."""
    asked: list[exp.Expr] = []
    for n, column in enumerate(table.columns):
        value = named(column.name)
        if column.type_name == "numeric" and _decimal(column.modifier, None) is None:
            scale = exp.func("scale", value)
            digits = exp.func("length", exp.cast(exp.func("trunc", exp.Abs(this=value.copy())), "TEXT"))
            asked += [exp.Max(this=scale).as_(f"s{n}"), exp.Max(this=digits).as_(f"w{n}")]
        elif column.element is not None:
            dimensions = exp.Anonymous(this="array_ndims", expressions=[value])
            asked.append(exp.LogicalOr(this=exp.GT(this=dimensions, expression=exp.convert(1))).as_(f"d{n}"))
        elif column.type_name in _ENDLESS:
            endless = exp.Anonymous(this="isfinite", expressions=[value]).not_()
            asked.append(exp.LogicalOr(this=endless).as_(f"e{n}"))
    if not asked:
        return {}
    row = server.rows(exp.select(*asked).from_(table.expression()), "numbers and dates of a table").to_pylist()[0]
    if infinite := [table.columns[int(name[1:])].name for name, value in row.items() if name[0] == "e" and value]:
        raise InputError(
            f"Columns of the table {table.name!r} hold infinite dates: {quote_list(infinite)}.",
            code="endless_date",
            hint="Replace them by NULL in a view.",
        )
    nested = {f"c{name[1:]}": _NESTED for name, value in row.items() if name[0] == "d" and value}
    return nested | {f"c{name[1:]}": (row[name] or 0, row[f"w{name[1:]}"] or 0) for name in row if name[0] == "s"}


def written_type(kind: str) -> exp.DataType:
    """The type in PostgreSQL of a type of DuckDB that anondb writes."""
    return exp.DataType.build(_WRITTEN.get(kind, kind), dialect="postgres")


def creation(schema: str, name: str, columns: Mapping[str, str], *, temporary: bool = False) -> exp.Create:
    """The statement that makes a table with columns of DuckDB's types."""
    definitions = []
    for column, kind in columns.items():
        by_code_point = exp.ColumnConstraint(kind=exp.CollateColumnConstraint(this=exp.to_identifier("C", quoted=True)))
        constraints = [by_code_point] if kind.startswith("VARCHAR") else []
        identifier = exp.to_identifier(column, quoted=True)
        definitions.append(exp.ColumnDef(this=identifier, kind=written_type(kind), constraints=constraints))
    table = exp.Table(this=exp.to_identifier(name, quoted=True)) if temporary else place(schema, name)
    properties = exp.Properties(expressions=[exp.TemporaryProperty()]) if temporary else None
    return exp.Create(this=exp.Schema(this=table, expressions=definitions), kind="TABLE", properties=properties)


def schema_creation(schema: str, *, exists: bool = False) -> exp.Create:
    """The statement that makes a schema."""
    return exp.Create(this=_schema(schema), kind="SCHEMA", exists=exists)


def removals(schema: str, tables: Sequence[str]) -> list[exp.Drop]:
    """The statements that drop tables and then their schema, but nothing else that lies in it or depends on it."""
    drops = [exp.Drop(tables=[place(schema, name)], kind="TABLE") for name in tables]
    return [*drops, exp.Drop(tables=[_schema(schema)], kind="SCHEMA")]


def _schema(name: str) -> exp.Table:
    return exp.Table(db=exp.to_identifier(name, quoted=True))
