"""The rows that left the house, and what readers of two releases learn from comparing them.

As long as a published release lies in its schema, its rows are read there. When it is dropped or replaced, the ledger keeps
them (``keep``): its files are still somewhere. What is kept was published; nothing of the original data is in it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

from sqlglot import exp

from anondb.engine import Engine, Table, load
from anondb.errors import InputError
from anondb.owner import ledger, publications
from anondb.owner.publications import Difference
from anondb.release.freeze import drop_schema
from anondb.release.objects import (
    ANATOMY,
    GLOBAL,
    MANIFEST_KEYS,
    SchemaName,
    find_schema,
    read_manifest,
    release_kind,
    release_schema,
)

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """A release as its readers see it.

    Attributes:
        manifest: its manifest.
        one_image: whether each item has one image, in all transactions (a global recoding, without records).
        attributes: the columns of its records.
        members: ``(released_item, item)``.
        rows: its different transactions ``(persons, items, copies, attribute_values)``; None of an anatomy.
        buckets: ``(bucket_id, column_id, items, copies)`` of an anatomy.
    """

    manifest: Mapping[str, str]
    one_image: bool
    attributes: tuple[str, ...]
    members: Table | exp.Query
    rows: exp.Query | None
    buckets: Table | exp.Query | None = None

    @property
    def k(self) -> int:
        """The size of the groups that it promises: k, or l of an anatomy, which may be a fraction."""
        return ceil(Fraction(self.manifest.get("k") or self.manifest["l"]))


# ---------------------------------------------------------------------- where the rows are


def find(engine: Engine, catalog: str, name: str, release_id: str) -> PublishedRows | None:
    """The rows of a release, from its schema or from what the ledger keeps; None where they are gone."""
    schema = find_schema(engine, release_schema(catalog, name))
    found = None if schema is None else of_schema(engine, schema)
    if found is not None and found.manifest["release_id"] == release_id:
        return found
    return _kept(engine, catalog, release_id)


def of_schema(engine: Engine, schema: SchemaName) -> PublishedRows | None:
    """The rows of the release that lies in a schema; None where it holds none."""
    kind = release_kind(engine, schema)
    if kind is None:
        return None
    manifest, members = read_manifest(engine, schema), schema.table("released_items")
    if not set(manifest) >= MANIFEST_KEYS:
        return None
    if kind is ANATOMY:
        return PublishedRows(manifest, False, (), members, None, schema.table("buckets"))
    ids = schema.table("transaction_ids")
    columns = tuple(c for c in kind.tables.get("records", {}) if c != "transaction_id")
    values = [exp.cast(exp.column(exp.to_identifier(c, quoted=True)), "VARCHAR") for c in columns]
    stored = schema.table("records") if columns else ids
    records = exp.select("transaction_id", _texts(*values).as_("attribute_values")).from_(stored.expression())
    tables: dict[str, Table | exp.Query] = {
        "transaction_ids": ids,
        "transactions": schema.table("transactions"),
        "records": records,
    }
    rows = load("release/published_rows").bind(tables, {})
    return PublishedRows(manifest, kind == GLOBAL, columns, members, rows)


@contextlib.contextmanager
def at_hand(engine: Engine, release: PublishedRows) -> Iterator[PublishedRows]:
    """The release with its rows in a work table, to be compared with several others."""
    if release.rows is None:
        yield release
        return
    made = engine.create("overlap_rows", release.rows)
    columns = ("persons", "items", "copies", "attribute_values")
    yield replace(release, rows=exp.select(*columns).from_(made.expression()))
    engine.drop(made)


def _texts(*values: exp.Expr) -> exp.Cast:
    """A list of texts, which may be empty."""
    return exp.cast(exp.Array(expressions=list(values)), "VARCHAR[]", dialect="duckdb")


def _kept(engine: Engine, catalog: str, release_id: str) -> PublishedRows | None:
    """A release that was dropped or replaced."""

    def query(name: str) -> exp.Query:
        table = name.removeprefix("release/")
        return load(name).bind({table: ledger.ledger_table(catalog, table)}, {"release_id": release_id})

    if not engine.exists(ledger.ledger_table(catalog, "kept_facts")):
        return None
    found = engine.select(query("release/kept_facts"), "reading the ledger")
    facts = dict(zip(found["key"].tolist(), found["value"].tolist(), strict=True))
    if not facts:
        return None
    about = json.loads(facts.pop("kept"))
    rows, buckets = (None, query("release/kept_buckets")) if about["buckets"] else (query("release/kept_rows"), None)
    return PublishedRows(
        facts, about["one_image"], tuple(about["attributes"]), query("release/kept_items"), rows, buckets
    )


def keep(engine: Engine, catalog: str, schema: SchemaName) -> None:
    """Keep the rows of a release that is about to be dropped, if it was published. Call it inside a transaction."""
    there = of_schema(engine, schema)
    if there is None:
        return
    release_id = there.manifest["release_id"]
    gone = {p.release_id for p in publications.publications(engine, catalog)}
    if release_id not in gone or _kept(engine, catalog, release_id) is not None:
        return
    ledger.ensure(engine, catalog)
    about = {"one_image": there.one_image, "attributes": there.attributes, "buckets": there.buckets is not None}
    facts = {**there.manifest, "kept": json.dumps(about, ensure_ascii=False)}
    ledger.append(
        engine,
        ledger.ledger_table(catalog, "kept_facts"),
        ledger.KEPT["kept_facts"],
        [{"release_id": release_id, "key": key, "value": value} for key, value in facts.items()],
    )
    sources: dict[str, Table | exp.Query | None] = {
        "kept_items": there.members,
        "kept_rows": there.rows,
        "kept_buckets": there.buckets,
    }
    for name, source in sources.items():
        if source is None:
            continue
        columns = list(ledger.KEPT[name])
        read = source.expression() if isinstance(source, Table) else source.subquery("stored")
        rows = exp.select(exp.convert(release_id).as_(columns[0]), *columns[1:]).from_(read)
        target = exp.Schema(
            this=ledger.ledger_table(catalog, name).expression(),
            expressions=[exp.to_identifier(c, quoted=True) for c in columns],
        )
        engine.run(exp.Insert(this=target, expression=rows), "keeping what was published")


def drop_release(engine: Engine, catalog: str, name: str) -> None:
    """Drop the schema of a release and note it in the ledger, which keeps the rows if they were published.

    Call it inside ``engine.transaction()``.

    Raises:
        InputError: there is no such release, or its schema holds objects that are not a release's.
    """
    schema = find_schema(engine, release_schema(catalog, name))
    if schema is None:
        raise InputError(f"There is no release {name!r}.", code="no_such_release", hint="List them: anondb releases.")
    keep(engine, catalog, schema)
    drop_schema(engine, schema)
    ledger.mark_dropped(engine, catalog, name)


# ---------------------------------------------------------------------- what two of them do not have in common


def compare(engine: Engine, mine: PublishedRows, other: PublishedRows) -> tuple[Difference, Difference] | None:
    """The multiset difference of two releases: of whole published rows, and in what both have in common.

    Whole rows are transactions with their relational values (without, where the releases have other attributes), or buckets.
    In common are, of transactions, the items alone, as far as both can be generalized to the same sets of items
    (``common_cells``); of anatomies, the values of columns without their buckets, in the parts into which the columns of
    both cut the items. None where an anatomy is compared with transactions.
    """
    k = max(mine.k, other.k)
    if mine.rows is None or other.rows is None:
        if mine.buckets is None or other.buckets is None:
            return None
        return _compare_buckets(engine, mine.buckets, other.buckets, k)
    same = mine.attributes == other.attributes
    firsts, seconds = (
        engine.create(name, rows if same else _without_values(rows))
        for name, rows in (("overlap_firsts", mine.rows), ("overlap_seconds", other.rows))
    )
    whole = _difference(engine, (firsts, seconds), "transactions", k)
    cells = common_cells(_pairs(engine, mine), _pairs(engine, other), *(_open(r) for r in (mine, other)))
    bags = all(r.manifest["semantics"] == "atomic" for r in (mine, other))
    numbers, in_common = [], []
    for rows, name, of_label in zip((firsts, seconds), ("firsts", "seconds"), cells, strict=True):
        columns: dict[str, tuple[str, Any]] = {
            "released_item": ("VARCHAR", list(of_label)),
            "cell": ("INTEGER", list(of_label.values())),
        }
        numbers.append(engine.put(f"overlap_cells_{name}", columns))
        tables = {"published": rows, "cells": numbers[-1]}
        in_common.append(load("release/common_rows").bind(tables, {"bags": bags}))
    common = _difference(
        engine, in_common, "transactions", k, len({n for of_label in cells for n in of_label.values()})
    )
    engine.drop(firsts, seconds, *numbers)
    return whole, common


def _compare_buckets(
    engine: Engine, mine: Table | exp.Query, other: Table | exp.Query, k: int
) -> tuple[Difference, Difference]:
    both = (mine, other)
    contents = [load("release/published_buckets").bind({"buckets": b}, {}) for b in both]
    whole = _difference(engine, contents, "buckets", k)
    cells = engine.create("overlap_cells", "release/common_columns", {"first_buckets": mine, "second_buckets": other})
    values = [load("release/common_values").bind({"buckets": b, "cells": cells}, {}) for b in both]
    common = _difference(engine, values, "column values", k, int(engine.scalar("release/cells", {"cells": cells})))
    engine.drop(cells)
    return whole, common


def _difference(
    engine: Engine, both: Sequence[Table | exp.Query], unit: str, k: int, cells: int | None = None
) -> Difference:
    found = engine.query("release/rows_apart", {"firsts": both[0], "seconds": both[1]}, k=k)
    here, there, alone, below_k = (int(found[c][0]) for c in ("only_first", "only_second", "alone", "below_k"))
    return Difference(unit, here, there, alone, below_k, k, cells)


def _without_values(rows: exp.Query) -> exp.Select:
    """Published transactions without their relational values."""
    columns = ("persons", "items", "copies")
    return exp.select(*columns, _texts().as_("attribute_values")).from_(rows.subquery("stored"))


def _pairs(engine: Engine, release: PublishedRows) -> Pairs:
    found = engine.query("release/members", {"released_items": release.members})
    return list(zip(found["released_item"].tolist(), found["item"].tolist(), strict=True))


def _open(release: PublishedRows) -> bool:
    """Whether an item that nothing stands for may have been suppressed."""
    return release.manifest["suppression"] != "none"


def common_cells(mine: Pairs, other: Pairs, mine_open: bool, other_open: bool) -> tuple[dict[str, int], dict[str, int]]:
    """The number of the cell of each released item of two releases.

    A cell is the smallest set of items that is a union of released items in both, as far as either stands for its items: in
    these sets both releases publish the same of a person whose items are the same. Cells of which one release lacks an item
    that it may have suppressed are left out, since they are not the same in both.

    Args:
        mine, other: the pairs (released item, item) of each release.
        mine_open, other_open: whether it may have suppressed items.
    """
    above: dict[str, str] = {}

    def top(item: str) -> str:
        while above.setdefault(item, item) != item:
            above[item] = item = above[above[item]]
        return item

    for pairs in (mine, other):
        first_of: dict[str, str] = {}
        for released, item in pairs:
            low, high = sorted((top(first_of.setdefault(released, item)), top(item)))
            above[high] = low
    stands = [{item for _, item in pairs} for pairs in (mine, other)]
    left_out = {top(item) for item in stands[0] - stands[1] if other_open}
    left_out |= {top(item) for item in stands[1] - stands[0] if mine_open}
    number = {item: n for n, item in enumerate(sorted({top(i) for i in above} - left_out))}
    first, second = (
        {released: number[top(item)] for released, item in pairs if top(item) in number} for pairs in (mine, other)
    )
    return first, second
