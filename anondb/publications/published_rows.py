"""Read the rows of published releases, and compare two of them as their readers can. While a published release is in its
schema, its rows are read there. When it is dropped or replaced, the ledger keeps them (``keep``), because its files still
exist. The kept rows were published; they contain nothing of the original data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anondb.engine import AnyQuery, Engine, Query, Rows, Table, query_of, reads, tuples
from anondb.engine.texts import Sql, listed, quoted, sql
from anondb.errors import InputError
from anondb.ledger import ledger, tables
from anondb.models.named import group_size
from anondb.publications import history as publications
from anondb.publications.history import Difference
from anondb.release import objects
from anondb.release.freeze import drop_schema

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """A release as its readers see it."""

    manifest: Mapping[str, str]
    one_image: bool  # whether each item has the same image in all transactions (a global recoding, without records)
    attributes: tuple[str, ...]  # the columns of its records
    members: Rows  # ``(released_item, item)``
    # its transactions ``(row_id, persons, attribute_values)``, their items ``(row_id, item, copies)``; None for an anatomy
    rows: tuple[AnyQuery, AnyQuery] | None
    counts: Rows  # ``(item, lower_bound, upper_bound)``: what it says of each item
    # ``(bucket_id, column_id, items, copies)`` of an anatomy; None for other releases
    buckets: Rows | None = None
    # its distinct transactions ``(persons, items, copies, attribute_values)``, which the ledger may keep
    distinct: AnyQuery | None = None
    digests: dict[Any, Table] = field(default_factory=dict)  # work tables of its rows, generalized to cells

    @property
    def exact(self) -> bool:
        """Whether it and any other exact release of the same data have equal common generalizations: no item is suppressed
        in only some of its transactions."""
        return self.rows is not None and (self.one_image or self.manifest["suppression"] == "none")

    @property
    def release_id(self) -> str:
        """Its number."""
        return self.manifest["release_id"]

    @property
    def k(self) -> int:
        """The group size of the promise: k, or the l of an anatomy, rounded up."""
        return group_size(self.manifest)


def find(engine: Engine, catalog: str, name: str, release_id: str) -> PublishedRows | None:
    """The rows of a release, from its schema or from the ledger; None if they are gone."""
    schema = objects.find_schema(engine, objects.release_schema(catalog, name))
    release = None if schema is None else of_schema(engine, schema)
    if release is not None and release.manifest["release_id"] == release_id:
        return release
    return _from_ledger(engine, catalog, release_id)


def of_schema(engine: Engine, schema: objects.SchemaName) -> PublishedRows | None:
    """The rows of the release in a schema; None if it holds none."""
    release = objects.read_release(engine, schema)
    if release is None or not release.manifest.keys() >= objects.MANIFEST_KEYS:
        return None
    kind, manifest = release.kind, release.manifest
    members, counts = schema.table("released_items"), schema.table("item_counts")
    if kind is objects.ANATOMY:
        return PublishedRows(manifest, False, (), members, None, counts, schema.table("buckets"))
    source = schema.table("records" if kind.values else "transaction_ids")
    records = reads.rows(source, f"transaction_id, {_texts(kind.values)} AS attribute_values")
    stored = {name: schema.table(name) for name in ("transaction_ids", "transaction_items", "labels")}
    distinct = query_of("publications/published_rows", {**stored, "records": records})
    held = reads.joined(
        stored["transaction_items"], stored["labels"], "item_id", "one.transaction_id AS row_id, item, copies"
    )
    rows = reads.rows(records, "transaction_id AS row_id, 1 AS persons, attribute_values"), held
    return PublishedRows(manifest, not kind.by_transaction, kind.values, members, rows, counts, distinct=distinct)


def _texts(columns: Sequence[str] = ()) -> Sql:
    """A SQL list of texts; typed, because it may be empty."""
    return sql("CAST([{}] AS VARCHAR[])", listed(sql("CAST({} AS VARCHAR)", quoted(column)) for column in columns))


def _from_ledger(engine: Engine, catalog: str, release_id: str) -> PublishedRows | None:
    """The rows of a dropped or replaced release, from the ledger; None if it keeps none."""
    facts = {row["key"]: row["value"] for row in tables.KEPT_FACTS.rows(engine, catalog, release_id)}
    if not facts:
        return None
    shape = json.loads(facts.pop("kept"))
    items, rows, counts, buckets = (
        table.query(catalog, release_id)
        for table in (tables.KEPT_ITEMS, tables.KEPT_ROWS, tables.KEPT_COUNTS, tables.KEPT_BUCKETS)
    )
    in_order = "row_number() OVER (ORDER BY items, copies, attribute_values) AS row_id"
    numbered = reads.rows(rows, f"{in_order}, persons, items, copies, attribute_values")
    held = reads.rows(numbered, "row_id, unnest(items) AS item, unnest(copies) AS copies")
    listed = reads.rows(numbered, "row_id, persons, attribute_values"), held
    shown = (None, buckets) if shape["buckets"] else (listed, None)
    return PublishedRows(facts, shape["one_image"], tuple(shape["attributes"]), items, shown[0], counts, shown[1])


def keep(engine: Engine, catalog: str, schema: objects.SchemaName) -> None:
    """Store the rows of a published release that is about to be dropped, and forget the digests of one that was not. Call it
    inside a transaction."""
    if (release := of_schema(engine, schema)) is None:
        return
    release_id = release.manifest["release_id"]
    if release_id not in {p.release_id for p in publications.publications(engine, catalog)}:
        for table in (tables.PERSONS, tables.ROW_DIGESTS):
            table.delete(engine, catalog, release_id)
        return
    if _from_ledger(engine, catalog, release_id) is not None:
        return
    ledger.ensure(engine, catalog)
    shape = {"one_image": release.one_image, "attributes": release.attributes, "buckets": release.buckets is not None}
    facts = {**release.manifest, "kept": json.dumps(shape, ensure_ascii=False)}
    noted = ({"release_id": release_id, "key": key, "value": value} for key, value in facts.items())
    tables.KEPT_FACTS.append(engine, catalog, noted)
    for table, source in (
        (tables.KEPT_ITEMS, release.members),
        (tables.KEPT_COUNTS, release.counts),
        (tables.KEPT_ROWS, release.distinct),
        (tables.KEPT_BUCKETS, release.buckets),
    ):
        if source is not None:
            table.take(engine, catalog, source, release_id=release_id)


def drop_release(engine: Engine, catalog: str, name: str) -> None:
    """Drop the schema of a release and mark its ledger entry; the ledger keeps the rows if they were published. Call it
    inside ``engine.transaction()``. Raises InputError: the release does not exist, or its schema holds other objects."""
    if (schema := objects.find_schema(engine, objects.release_schema(catalog, name))) is None:
        raise InputError(f"There is no release {name!r}.", code="no_such_release", hint="List them: anondb releases.")
    keep(engine, catalog, schema)
    drop_schema(engine, schema)
    ledger.mark_dropped(engine, catalog, name)


def wholes(
    engine: Engine, catalog: str, first: PublishedRows, others: Sequence[PublishedRows], *, note: bool
) -> dict[str, Difference]:
    """The multiset differences of the published rows of a release and of each of others, by the numbers of these that are of
    its kind. Rows are transactions with their relational values (without them if the attributes differ), or buckets. The
    ledger keeps digests of them, since a published file stays: with ``note`` it gets those that it lacks."""
    alike = [other for other in others if (other.rows is None) == (first.rows is None)]
    if not alike:
        return {}
    known = tables.ROW_DIGESTS.keys(engine, catalog)
    made = {r.release_id: _row_digests(r) for r in (first, *alike) if r.release_id not in known}
    if note:
        ledger.ensure(engine, catalog)
        for number, rows in made.items():
            tables.ROW_DIGESTS.take(engine, catalog, rows, release_id=number)
        digests = tables.ROW_DIGESTS.at(catalog)
    else:
        parts = [reads.rows(rows, sql("{} AS release_id, persons, content, shown", n)) for n, rows in made.items()]
        digests = engine.create("row_digests", reads.union(parts + [tables.ROW_DIGESTS.query(catalog)] * bool(known)))
    own = reads.rows(digests, "*", where=sql("release_id = {}", first.release_id))
    found = _apart(engine, first, alike, (own, digests))
    engine.drop(*[digests] * (not note))
    return found


def common(
    engine: Engine, first: PublishedRows, second: PublishedRows, same_data: bool, whole: Difference | None
) -> Difference | None:
    """The multiset difference of two releases after their common generalization. That of transactions has the items alone,
    generalized to the same sets of items (``common_cells``); that of anatomies has the column values without their buckets,
    over the intersections of the columns of both. The result is None if only one of the releases is an anatomy.

    With ``same_data`` both are exact releases of the same data, of which nothing can differ there. ``whole`` is the
    difference of the published rows, if that is known.
    """
    both = first, second
    if first.buckets is not None and second.buckets is not None:
        return _common_values(engine, first, second, (first.buckets, second.buckets))
    if first.rows is None or second.rows is None:
        return None
    pairs = [_pairs(engine, release) for release in both]
    opened = [release.manifest["suppression"] != "none" for release in both]
    cells = common_cells(pairs[0], pairs[1], opened[0], opened[1])
    number = len({n for of_label in cells for n in of_label.values()})
    if same_data:
        return Difference("transactions", 0, 0, 0, 0, max(first.k, second.k), number)
    bags = {release.manifest["semantics"] == "atomic" for release in both}
    labels = {label for each in pairs for label, _ in each}
    plain = len(bags) == 1 and not (first.attributes or second.attributes)
    if whole and plain and cells[0] == cells[1] and number == len(labels):
        return replace(whole, cells=number)  # the cells are the released items
    rows = [_in_cells(engine, release, of_label, bags == {True}) for release, of_label in zip(both, cells, strict=True)]
    return _apart(engine, first, [second], rows, number)[second.release_id]


def _row_digests(release: PublishedRows) -> Query:
    if release.buckets is not None:
        return query_of("publications/published_buckets", {"buckets": release.buckets})
    assert release.rows is not None
    return query_of("publications/row_digests", dict(zip(("contents", "held"), release.rows, strict=True)))


def _in_cells(engine: Engine, release: PublishedRows, of_label: Mapping[str, int], bags: bool) -> Table:
    """The digests of the rows of a release without relational values, whose items are generalized to cells."""
    key = bags, tuple(of_label.items())
    if key not in release.digests:
        assert release.rows is not None
        contents, held = release.rows
        numbers = ("INTEGER", list(of_label.values()))
        cells = engine.put("overlap_cells", {"released_item": ("VARCHAR", list(of_label)), "cell": numbers})
        held = query_of("publications/common_items", {"held": held, "cells": cells}, {"bags": bags})
        shown = replace(release, rows=(reads.rows(contents, f"row_id, persons, {_texts()} AS attribute_values"), held))
        release.digests[key] = engine.create(f"overlap_{release.release_id}_{len(release.digests)}", _row_digests(shown))
        engine.drop(cells)
    return release.digests[key]


def _common_values(engine: Engine, first: PublishedRows, second: PublishedRows, buckets: tuple[Rows, Rows]) -> Difference:
    both = {"first_buckets": buckets[0], "second_buckets": buckets[1]}
    cells = engine.create("overlap_cells", "publications/common_columns", both)
    values = [query_of("publications/common_values", {"buckets": b, "cells": cells}) for b in buckets]
    number = int(engine.scalar(reads.counted(reads.rows(cells, "cell", distinct=True))))
    found = _apart(engine, first, [second], values, number)[second.release_id]
    engine.drop(cells)
    return found


def _apart(
    engine: Engine, first: PublishedRows, others: Sequence[PublishedRows], rows: Sequence[Rows], cells: int | None = None
) -> dict[str, Difference]:
    """By their numbers, the multiset differences of a release and of others. ``rows`` are digests of its rows and of theirs,
    with the column ``release_id`` where ``cells`` are None."""
    unit = "transactions" if first.rows else "buckets" if cells is None else "column values"
    k = {other.release_id: max(first.k, other.k) for other in others}
    seconds = rows[1] if cells is None else reads.rows(rows[1], sql("{} AS release_id, *", others[0].release_id))
    valued = [other.attributes == first.attributes for other in others]
    sizes, values = ("BIGINT", list(k.values())), ("BOOLEAN", valued)
    compared = engine.put("overlap_compared", {"release_id": ("VARCHAR", list(k)), "k": sizes, "valued": values})
    found = engine.query("publications/rows_apart", {"firsts": rows[0], "seconds": seconds, "compared": compared})
    engine.drop(compared)
    return {n: Difference(unit, one, two, alone, below, k[n], cells) for n, one, two, alone, below in tuples(found)}


def _pairs(engine: Engine, release: PublishedRows) -> Pairs:
    pairs = engine.select(reads.rows(release.members, "released_item, item", order="released_item, item"))
    return list(zip(pairs["released_item"].tolist(), pairs["item"].tolist(), strict=True))


def common_cells(first: Pairs, second: Pairs, first_open: bool, second_open: bool) -> tuple[dict[str, int], dict[str, int]]:
    """The number of the cell of each released item of two releases.

    A cell is a smallest set of items that is a union of released items in both releases, ignoring items that a release does
    not contain: for equal items of a person, both releases publish the same cells. A cell is omitted if one release may have
    suppressed an item of it, because the cells then differ.

    Args:
        first, second: the pairs (released item, item) of each release.
        first_open, second_open: whether the release may have suppressed items.
    """
    above: dict[str, str] = {}

    def top(item: str) -> str:
        while above.setdefault(item, item) != item:
            above[item] = item = above[above[item]]
        return item

    for pairs in (first, second):
        first_of: dict[str, str] = {}
        for released, item in pairs:
            low, high = sorted((top(first_of.setdefault(released, item)), top(item)))
            above[high] = low
    stands = [{item for _, item in pairs} for pairs in (first, second)]
    left_out = {top(item) for item in stands[0] - stands[1] if second_open}
    left_out |= {top(item) for item in stands[1] - stands[0] if first_open}
    number = {item: n for n, item in enumerate(sorted({top(i) for i in above} - left_out))}
    cells, others = (
        {released: number[top(item)] for released, item in pairs if top(item) in number} for pairs in (first, second)
    )
    return cells, others
