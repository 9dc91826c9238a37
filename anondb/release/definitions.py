"""The views and macros of a release, and the comments on its objects: SELECTs of ``sql/release`` bound to a schema; and the
statements that make its database."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from anondb.engine import Engine, Query, Rows, Table, load, reads
from anondb.engine.texts import Sql, listed, literal, quoted, sql, text_of
from anondb.release.bodies import body_of, without_ctes
from anondb.release.conditions import judged_records
from anondb.release.item_supports import asked_labels, expected_holders, middles
from anondb.release.modelled import COMMENT, StoredTable, modelled_tables, stored_tables
from anondb.release.objects import ANATOMY, GLOBAL, MODELLED, SEALED_SCHEMA, Kind, SchemaName, create_table

_ITEMS: Mapping[str, Any] = {"items": Sql("items")}
_ANY = secrets.token_hex(16)  # stands for names and numbers in texts that are kept for all releases of a kind
ANY_RELEASE = f"release {_ANY}"
_ANY_SCHEMA = SchemaName(f"catalog {_ANY}", f"schema {_ANY}")
_COUNTS = ("release/item_counts", "release/item_counts_local", "release/item_counts_local_supports")
_BOUNDS = ("release/count_bounds", "release/count_bounds_local", "release/count_bounds_local_supports")


def definitions(schema: SchemaName, release_id: str, kind: Kind = GLOBAL) -> tuple[Sql, ...]:
    """The statements that create the views and macros of a release over the tables of ``schema``.

    ``count_bounds`` returns one row (lower_bound BIGINT, estimate DOUBLE, upper_bound BIGINT): bounds of the number of
    original transactions that hold all items. For a local recoding it judges each transaction by its generalized items
    (proof in ``sql/release/count_bounds_local.sql``). For a global recoding the bounds hold for every original that the
    release may come from, and some original attains each (proof in ``sql/release/count_bounds.sql``):

    * upper: the transactions that have the released item of every queried item;
    * lower: the same number if all those released items stand for one item each, else 0;
    * an item that no released item stands for may be in any transaction if something was suppressed (lower becomes 0,
      upper does not change), and is in no transaction otherwise.

    With relational attributes it also takes a condition on each, and judges each record (proof in
    ``sql/release/count_bounds_relational.sql``).

    An anatomy has no ``baskets``; it has ``reconstruct(seed)``, which returns one possible original. With n_j values in
    column j of a bucket of s transactions that hold the queried items of that column, and r such columns, a bucket adds
    (proof in ``sql/release/bucket_count_bounds.sql``)

    * upper: the smallest n_j;
    * lower: the sum of all n_j less (r - 1) s, or 0 if that is less;
    * estimate: s times the product of all n_j / s.
    """
    views = [_view(schema, name, query, kind) for name, query in view_queries(kind).items()]
    return (*views, *_macros(schema, release_id, kind))


def view_queries(kind: Kind) -> dict[str, str]:
    """The named query of each view."""
    if kind is ANATOMY:
        return {"item_counts": "release/item_counts_buckets"}
    return {"transactions": "release/transactions", "baskets": "release/baskets", "item_counts": _query_of(_COUNTS, kind)}


def _query_of(names: tuple[str, str, str], kind: Kind) -> str:
    """The named query of a kind of release: of a global recoding, of a local one, and of a local one with item supports."""
    if not kind.local:
        return names[0]
    return names[2] if kind.item_supports else names[1]


def _view(schema: SchemaName, name: str, query: str, kind: Kind) -> Sql:
    values = {"view_name": name, "schema_name": schema.name, "table_names": list(kind.tables)}
    unhidden = body_of("release/unhidden", schema.name, values)
    body = body_of(query, schema.name, {}, {"unhidden": unhidden, **parts_of_view(name, schema.name, kind)})
    return sql("CREATE VIEW {} AS {}", schema.table(name), Sql(text_of(body)))


def definition_queries(kind: Kind) -> list[tuple[str, str]]:
    """The views and macros of a kind of release, each with its named query."""
    queries = [*view_queries(kind).items(), ("count_bounds", bounds_query(kind))]
    parts = ["unhidden", "checked_items", "in_place"]
    if kind is ANATOMY:
        queries.append(("reconstruct", "release/reconstruct"))
    if kind.attributes is not None:
        parts += ["judged_category", "judged_range"]
    if kind is not ANATOMY:
        expected = "expected_local" if kind.by_transaction else "expected_global"
        parts += ["wanted_items", "asked_labels", "all_labels", "middles", expected, "weighted_members", "supported_blocks"]
        parts += [] if kind.item_supports else ["no_item_supports"]
    return [*queries, *((part, f"release/{part}") for part in parts)]


def bounds_query(kind: Kind) -> str:
    """The named query of ``count_bounds``."""
    if kind is ANATOMY:
        return "release/bucket_count_bounds"
    if kind.attributes is not None:
        return "release/count_bounds_relational"
    return _query_of(_BOUNDS, kind)


def _macros(schema: SchemaName, release_id: str, kind: Kind) -> Iterator[Sql]:
    parameters = ["items"]
    in_place = _in_place("count_bounds", schema.name, release_id, kind)
    parts: dict[str, Rows] = {"checked": body_of("release/checked_items", schema.name, _ITEMS, in_place)}
    if kind.attributes is not None:
        parts["judged_records"] = judged_records(schema.name, kind.attributes)
        for attribute in kind.attributes:
            parameters.append(f"{quoted(attribute.name)} := NULL")
    if kind is not ANATOMY:
        parts |= parts_of_bounds(schema.name, kind, _ITEMS)
    values = {name: _ITEMS[name] for name in load(bounds_query(kind)).params}
    yield _macro(schema, "count_bounds", parameters, body_of(bounds_query(kind), schema.name, values, parts))
    if kind is ANATOMY:
        in_place = _in_place("reconstruct", schema.name, release_id, kind)
        original = body_of("release/reconstruct", schema.name, {"seed": Sql("seed")}, in_place)
        yield _macro(schema, "reconstruct", ["seed"], original)


def _in_place(macro: str, schema: str, release_id: str, kind: Kind) -> dict[str, Rows]:
    """The check that a macro reads the tables of its release: the table ``in_place`` of its body."""
    values = {"macro_name": macro, "release_id": release_id, "schema_name": schema, "table_names": list(kind.tables)}
    return {"in_place": body_of("release/in_place", schema, values)}


def parts_of_view(name: str, schema: str, kind: Kind, own: Mapping[str, str] = MappingProxyType({})) -> dict[str, Rows]:
    """The queries that replace tables in the body of a view; ``own`` maps queries to those that an engine has instead."""
    if name != "item_counts" or kind is ANATOMY:
        return {}
    return {"expected": expected_holders(_tables(schema, kind), local=kind.by_transaction, own=own)}


def parts_of_bounds(
    schema: str, kind: Kind, items: Mapping[str, Any], own: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Rows]:
    """The queries that replace tables in the body of ``count_bounds`` of a release of sets or bags, for the queried
    ``items``; ``own`` as for ``parts_of_view``."""
    tables, wanted = _tables(schema, kind), body_of("release/wanted_items", schema, items)
    read = None if kind.by_transaction else wanted
    expected = expected_holders(tables, local=kind.by_transaction, wanted=read, own=own)
    weighted = body_of("release/weighted_members", schema, {}, {"wanted": wanted, "expected": expected})
    return {
        "wanted": wanted,
        "middles": middles(tables, asked_labels(tables, wanted)),
        "blocks": body_of("release/supported_blocks", schema, {}, {"weighted": weighted}),
    }


def _tables(schema: str, kind: Kind) -> dict[str, Table]:
    """The tables of a release as bodies name them (``body_of``)."""
    return {name: Table("", schema, name) for name in kind.tables}


def _macro(schema: SchemaName, name: str, parameters: list[str], body: Rows) -> Sql:
    """The statement that creates a table macro."""
    assert isinstance(body, Query)
    text = Sql(without_ctes(body).text)
    return sql("CREATE MACRO {}({}) AS TABLE {}", schema.table(name), listed(parameters), text)


_ROWS_OF = "Number of the transaction in this release: random, and new in every release"
OBJECT_COMMENTS: Mapping[str, str] = {
    "transaction_items": "The rows of the release as numbers; read the view transactions for the labels",
    "labels": "The label of each released item",
    "transaction_ids": "One row for each transaction of the original, also where nothing of it is released",
    "released_items": "The original items that each released item stands for",
    "records": "The relational values of each transaction's person, generalized",
    "released_values": "The original values that each generalized category stands for",
    "item_supports": "How often each item occurs where a released item stands for it and others: bounds",
    "buckets": "The sets of items of each bucket and column, with how many transactions have each",
    "manifest": "What the release promises, and its parameters",
    "transactions": "The released items of each transaction. FROM released_items says what they stand for",
    "baskets": "The released items of each transaction as a sorted list",
    "item_counts": "How many original transactions hold each original item: bounds that hold, and an estimate",
    "count_bounds": "FROM count_bounds(['a', 'b']): how many original transactions hold all of these items",
    "reconstruct": "FROM reconstruct(1): transactions that the release may come from; another seed gives others",
}
COLUMN_COMMENTS: Mapping[str, str] = {
    "transaction_id": _ROWS_OF,
    "item_id": "Number of the released item: its label is in labels",
    "copies": "How often it occurs: 1 unless the release is of bags",
    "complete": "false where items of the transaction may have been suppressed",
    "released_item": "Label of a released item",
    "attribute": "Name of a relational attribute",
    "released_value": "Label of a generalized category",
    "value": "An original value, or the value of the key",
    "bucket_id": "Number of the bucket in this release: random, and new in every release",
    "column_id": "Number of the column, which is a set of items",
    "items": "A sorted list of items",
    "at_least": "At least so many transactions that show the released item hold the item",
    "at_most": "At most so many transactions that show the released item hold the item",
    "weight": "For estimates: members of the released item are held together so much less often than alone",
    "partition": "Value of the column by which the releases are divided",
    "key": "Name of a promise, a parameter, or a fact of the release",
    "lower_bound": "At least so many original transactions",
    "estimate": "About so many original transactions",
    "upper_bound": "At most so many original transactions",
}
_ITEM_COMMENTS = {
    "labels": "Label of a released item",
    "transactions": "Label of a released item",
    "released_items": "An original item",
    "item_supports": "An original item",
    "item_counts": "An original item",
}


def comments(schema: SchemaName, kind: Kind) -> Iterator[Sql]:
    """The statements that comment the objects of a release and their columns; the texts are fixed."""
    for of_kind, names in (("TABLE", kind.tables), ("VIEW", kind.views), ("MACRO TABLE", kind.macros)):
        for name in names:
            yield sql("COMMENT ON {} {} IS {}", Sql(of_kind), schema.table(name), OBJECT_COMMENTS[name])
    for name, columns in (*kind.tables.items(), *kind.views.items()):
        for column in columns:
            place = Sql(f"{schema.table(name).sql()}.{quoted(column)}")
            yield sql("COMMENT ON COLUMN {} IS {}", place, column_comment(name, column))


def column_comment(table: str, column: str) -> str:
    """The comment on a column of a release."""
    if column == "item":
        return _ITEM_COMMENTS[table]
    if table != "records" or column in ("partition", "transaction_id"):
        return COLUMN_COMMENTS[column]
    return "A published value, or an end of its range; released_values says what a category stands for"


def create_views_and_macros(engine: Engine, schema: SchemaName, release_id: str, kind: Kind = GLOBAL) -> None:
    """Create the views, macros and comments of a release in the owner's database."""
    engine.run_all(view_and_macro_texts(schema, release_id, kind), "creating the views and macros of a release")


def view_and_macro_texts(schema: SchemaName, release_id: str, kind: Kind) -> list[str]:
    """The statements that create the views, macros and comments of a release; ``release_id`` is free of quotes."""
    parts = dict(zip(_spelled(_ANY_SCHEMA), _spelled(schema), strict=True)) | {ANY_RELEASE: release_id}
    placeholder = re.compile("|".join(map(re.escape, parts)))
    return [placeholder.sub(lambda match: parts[match[0]], text) for text in _texts(kind)]


def _spelled(schema: SchemaName) -> list[str]:
    """The ways in which statements name a schema: its catalog and its name as identifiers, and its name as a text."""
    return [quoted(schema.catalog), quoted(schema.name), literal(schema.name)]


@lru_cache(maxsize=16)
def _texts(kind: Kind) -> tuple[str, ...]:
    return (*definitions(_ANY_SCHEMA, ANY_RELEASE, kind), *comments(_ANY_SCHEMA, kind))


def build_statements(
    catalog: str, kind: Kind, manifest: Mapping[str, str], source: Callable[[StoredTable], Rows]
) -> list[str]:
    """The statements that create the tables of a release in the current database, which is empty, fill each from its
    ``source``, and create the views and macros."""
    schema = SchemaName(catalog, SEALED_SCHEMA)
    statements = [create_table(schema.table(name), columns) for name, columns in kind.tables.items()]
    statements += modelled_statements(catalog, modelled_tables(manifest, kind))
    for table in stored_tables(manifest, kind):
        rows = reads.stored(source(table), list(table.columns))
        statements.append(sql("INSERT INTO {} {}", table.place(catalog), Sql(rows.text)))
    return [*statements, *view_and_macro_texts(schema, manifest["release_id"], kind)]


def modelled_statements(catalog: str, tables: Sequence[StoredTable]) -> list[Sql]:
    """The statements that create the schema of modelled rows and its tables, with their comments. DuckDB has no comments on
    schemas."""
    schema = SchemaName(catalog, MODELLED)
    statements = [schema.creation()]
    for table in tables:
        statements.append(create_table(table.place(catalog), table.columns))
        statements.append(sql("COMMENT ON TABLE {} IS {}", table.place(catalog), COMMENT))
    return statements if tables else []
