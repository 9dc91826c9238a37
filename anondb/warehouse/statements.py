"""The texts of portable statements in the dialect of a warehouse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from anondb.engine import NamedRows, Table, Tables, load
from anondb.engine.queries import Value

PREFIX = "_anondb_"
KEY_BYTES = 32
ROWS_OF_VIEW = ("transaction_items", "labels")


def tree_of(name: str | exp.Query | NamedRows, tables: Tables | None, values: dict[str, Value]) -> exp.Query:
    """The tree of a named query or of a tree, with its tables and values in place."""
    if isinstance(name, exp.Query):
        return name
    return name.tree() if isinstance(name, NamedRows) else load(name).bind(tables or {}, values)


def text_in(dialect: str, statement: exp.Expr) -> str:
    """The text of a tree of DuckDB's dialect in another dialect."""
    return statement.sql(dialect=_dialect(dialect), comments=False)


@lru_cache(maxsize=8)
def _dialect(name: str) -> Dialect:
    return Dialect.get_or_raise(name)


def limited(query: exp.Query, most: int) -> exp.Query:
    """The query, for one row more than ``most``: enough to refuse it."""
    return query if query.args.get("limit") else query.limit(most + 1)


def creation(target: exp.Table, body: exp.Query | None, *, temporary: bool = False) -> exp.Create:
    """The statement ``CREATE TABLE target AS body``."""
    properties = exp.Properties(expressions=[exp.TemporaryProperty()]) if temporary else None
    return exp.Create(this=target, kind="TABLE", expression=body, properties=properties)


def sorted_rows(rows: Table, columns: Sequence[str], order: Sequence[str]) -> exp.Select:
    """A query for columns of a table, sorted by some of them."""
    named = {c: exp.column(exp.to_identifier(c, quoted=True)) for c in (*columns, *order)}
    return exp.select(*(named[c] for c in columns)).from_(rows.expression()).order_by(*(named[c].copy() for c in order))


def view_of(name: str, tables: Mapping[str, Table]) -> exp.Create:
    """The statement that creates the view ``transactions`` of a release beside its tables."""
    place = tables[ROWS_OF_VIEW[0]]
    body = load("warehouse/release/transactions").bind({t: tables[t] for t in ROWS_OF_VIEW}, {})
    return exp.Create(this=Table(place.catalog, place.schema, name).expression(), kind="VIEW", expression=body)


def drawn(source: Table, key: Table) -> exp.Select:
    """A query for the distinct ids of a table with what is drawn for each: its digest under a secret key.

    Without the key a draw says nothing of its id, and with it every run of a task draws the same.
    """
    keyed = exp.DPipe(
        this=exp.column("key", table="key"), expression=exp.cast(exp.column("id", table="ids"), "VARCHAR")
    )
    ids = exp.select("id").distinct().from_(source.expression()).subquery("ids")
    digest = exp.SHA2(this=keyed, length=exp.Literal.number(256)).as_("draw")
    return (
        exp.select(exp.column("id", table="ids"), digest)
        .from_(ids)
        .join(exp.alias_(key.expression(), "key", table=True), join_type="cross")
    )
