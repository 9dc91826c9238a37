"""The texts of statements, in DuckDB's dialect."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from anondb.engine.queries import NamedRows, Table, Tables, Value, load

DUCKDB = Dialect.get_or_raise("duckdb")  # looking it up by its name takes a tenth of the time of writing a statement
_PLACE = re.compile(r"(?<=FROM |JOIN )(?<!DISTINCT FROM )(\w+)\b( AS\b)?|getvariable\('(\w+)'\)")


def named_text(name: str, tables: Tables, values: Mapping[str, Value], target: Table | None = None) -> str:
    """The text of a named query, or of ``CREATE TABLE target AS`` it. It is the text of the file with its tables and values
    in place: parsing and writing it takes as long as running it on little data. The tests compare it with the tree."""
    load(name).check(tables, values)
    parts = _parts(name)  # text, then for each place: a name after FROM or JOIN, AS, the name of a value; and text
    filled = [parts[0]]
    for table, alias, value, text in zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4], strict=True):
        if value is not None:
            filled += [_value_text(values[value]), text]
        elif table in tables:
            filled += [_table_text(tables[table]), alias or f" AS {table}", text]
        else:  # a CTE, or a function
            filled += [table, alias or "", text]
    written = "".join(filled)
    return written if target is None else _creation_text(target) + written


@cache
def _parts(name: str) -> list[str]:
    return _PLACE.split(load(name).text.strip())


def _table_text(table: Table | exp.Query | NamedRows) -> str:
    if isinstance(table, Table):
        return table.sql()
    written = named_text(table.name, table.tables, table.values) if isinstance(table, NamedRows) else text_of(table.copy())
    return f"({written})"


@lru_cache(maxsize=1024, typed=True)  # True == 1 == 1.0
def _value_text(value: Value) -> str:
    return text_of(exp.convert(value))


def filling_text(target: Table, source: Table, columns: tuple[tuple[str, str], ...], *, new: bool) -> str:
    """``CREATE TABLE target AS``, or ``INSERT INTO target``, the columns (name, type) of the source, cast to their types."""
    rows = _casts_text(source, columns)
    return (_creation_text(target) if new else _insertion_text(target, tuple(name for name, _ in columns))) + rows


@lru_cache(maxsize=256)
def _casts_text(source: Table, columns: tuple[tuple[str, str], ...]) -> str:
    """``SELECT`` the columns of a table, cast to their types."""
    casts = [exp.cast(exp.column(n, quoted=True), kind, dialect="duckdb").as_(n, quoted=True) for n, kind in columns]
    return text_of(exp.select(*casts).from_(source.expression()))


@lru_cache(maxsize=256)
def _insertion_text(target: Table, columns: tuple[str, ...]) -> str:
    """``INSERT INTO target (columns)``, to be followed by a query."""
    named = exp.Schema(this=target.expression(), expressions=[exp.to_identifier(c, quoted=True) for c in columns])
    return text_of(exp.Insert(this=named, expression=exp.select("1"))).removesuffix("SELECT 1")


@lru_cache(maxsize=1024)
def drop_text(table: Table) -> str:
    """``DROP TABLE IF EXISTS table``."""
    return text_of(exp.Drop(tables=[table.expression()], kind="TABLE", exists=True))


@lru_cache(maxsize=1024)
def _creation_text(target: Table) -> str:
    """``CREATE TABLE target AS``, to be followed by a query."""
    whole = text_of(creation(target, exp.select("1")))
    return whole.removesuffix("SELECT 1")


def creation(table: Table, body: exp.Query) -> exp.Create:
    """The statement ``CREATE TABLE table AS body``."""
    if table.catalog != "temp":
        return exp.Create(this=table.expression(), kind="TABLE", expression=body)
    this = exp.Table(this=exp.to_identifier(table.name, quoted=True))
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(this=this, kind="TABLE", expression=body, properties=temporary)


def text_of(statement: exp.Expr) -> str:
    """The text of a tree that is not used again: it is not copied, which takes as long as writing it."""
    return statement.sql(dialect=DUCKDB, copy=False)
