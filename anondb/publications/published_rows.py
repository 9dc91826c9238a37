"""Read the rows of published releases, and compare two of them as their readers can. While a published release is in its
schema, its rows are read there. When it is dropped or replaced, the ledger keeps them (``keep``), because its files still
exist. The kept rows were published; they contain nothing of the original data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anondb.engine import AnyQuery, Engine, Rows, Table, query_of, reads
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
    digests: dict[Any, Table] = field(default_factory=dict)  # work tables of its rows as they were compared

    @property
    def exact(self) -> bool:
        """Whether it and any other exact release of the same data have equal common generalizations: no item is suppressed
        in only some of its transactions."""
        return self.rows is not None and (self.one_image or self.manifest["suppression"] == "none")

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
    """Store the rows of a published release that is about to be dropped, and forget the persons of one that was not. Call it
    inside a transaction."""
    if (release := of_schema(engine, schema)) is None:
        return
    release_id = release.manifest["release_id"]
    if release_id not in {p.release_id for p in publications.publications(engine, catalog)}:
        tables.PERSONS.delete(engine, catalog, release_id)
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


def compare(
    engine: Engine, first: PublishedRows, second: PublishedRows, same_data: bool
) -> tuple[Difference | None, Difference] | None:
    """The multiset differences of two releases: of the published rows, and of their common generalization.

    Published rows are transactions with their relational values (without them if the attributes differ), or buckets. The
    common generalization of transactions has the items alone, generalized to the same sets of items (``common_cells``); that
    of anatomies has the column values without their buckets, over the intersections of the columns of both. The result is
    None if only one of the releases is an anatomy.

    With ``same_data`` both are exact releases of the same data: nothing of their common generalization can differ, and of
    the rows of recodings that are not global it is only seen whether all are equal.
    """
    k = max(first.k, second.k)
    if first.rows is None or second.rows is None:
        if first.buckets is None or second.buckets is None:
            return None
        return _compare_buckets(engine, first.buckets, second.buckets, k)
    both = (first, second)
    pairs = [_pairs(engine, release) for release in both]
    opened = [release.manifest["suppression"] != "none" for release in both]
    cells = common_cells(pairs[0], pairs[1], opened[0], opened[1])
    number = len({n for of_label in cells for n in of_label.values()})
    if same_data and first.one_image and second.one_image:
        return None, Difference("transactions", 0, 0, 0, 0, k, number)
    values = first.attributes == second.attributes
    whole = _rows_apart(engine, both, k, values=values)
    if same_data:
        return None if whole.size else whole, Difference("transactions", 0, 0, 0, 0, k, number)
    bags = {release.manifest["semantics"] == "atomic" for release in both}
    labels = {label for each in pairs for label, _ in each}
    if cells[0] == cells[1] and number == len(labels) and len(bags) == 1 and not (first.attributes or second.attributes):
        return whole, replace(whole, cells=number)  # the cells are the released items
    return whole, _rows_apart(engine, both, k, cells, bags=bags == {True})


def _rows_apart(
    engine: Engine,
    both: Sequence[PublishedRows],
    k: int,
    cells: Sequence[Mapping[str, int]] | None = None,
    *,
    values: bool = False,
    bags: bool = False,
) -> Difference:
    """The multiset difference of the transactions of two releases, with their relational ``values`` or without them; with
    ``cells``, of their common generalization."""
    rows = []
    for release, of_label in zip(both, cells or (None, None), strict=True):
        assert release.rows is not None
        contents, held = release.rows
        if not values:
            contents = reads.rows(contents, f"row_id, persons, {_texts()} AS attribute_values")
        key = (values, bags, None if of_label is None else tuple(of_label.items()))
        if key not in release.digests:
            numbers = []
            if of_label is not None:
                cell: dict[str, tuple[str, Any]] = {
                    "released_item": ("VARCHAR", list(of_label)),
                    "cell": ("INTEGER", list(of_label.values())),
                }
                numbers.append(engine.put("overlap_cells", cell))
                held = query_of("publications/common_items", {"held": held, "cells": numbers[0]}, {"bags": bags})
            tables = {"contents": contents, "held": held}
            name = f"overlap_rows_{release is both[0]}_{len(release.digests)}"
            release.digests[key] = engine.create(name, "publications/row_digests", tables)
            engine.drop(*numbers)
        rows.append(release.digests[key])
    number = None if cells is None else len({n for of_label in cells for n in of_label.values()})
    found = _difference(engine, rows, "transactions", k, number)
    return found


def _compare_buckets(engine: Engine, first: Rows, second: Rows, k: int) -> tuple[Difference, Difference]:
    both = (first, second)
    contents = [query_of("publications/published_buckets", {"buckets": b}) for b in both]
    whole = _difference(engine, contents, "buckets", k)
    cells = engine.create("overlap_cells", "publications/common_columns", {"first_buckets": first, "second_buckets": second})
    values = [query_of("publications/common_values", {"buckets": b, "cells": cells}) for b in both]
    n_cells = int(engine.scalar(reads.counted(reads.rows(cells, "cell", distinct=True))))
    common = _difference(engine, values, "column values", k, n_cells)
    engine.drop(cells)
    return whole, common


def _difference(engine: Engine, both: Sequence[Rows], unit: str, k: int, cells: int | None = None) -> Difference:
    counts = engine.query("publications/rows_apart", {"firsts": both[0], "seconds": both[1]}, k=k)
    here, there, alone, below_k = (int(counts[c][0]) for c in ("only_first", "only_second", "alone", "below_k"))
    return Difference(unit, here, there, alone, below_k, k, cells)


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
