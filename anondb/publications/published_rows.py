"""Read the rows of published releases, and compare two of them as their readers can. While a published release is in its
schema, its rows are read there. When it is dropped or replaced, the ledger keeps them (``keep``), because its files still
exist. The kept rows were published; they contain nothing of the original data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anondb.engine import AnyQuery, Engine, Query, Rows, Table, query_of, reads, tuples
from anondb.engine.texts import Sql, listed, literal, quoted, sql
from anondb.errors import InputError
from anondb.ledger import ledger, tables
from anondb.models.named import group_size
from anondb.publications import history as publications
from anondb.publications.history import Difference
from anondb.release import objects
from anondb.release.freeze import drop_schema

Pairs = list[tuple[Any, ...]]  # (released item, item)


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
        for table in (tables.PERSONS, tables.ROW_WEIGHTS):
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


@dataclass(frozen=True)
class _Pair:
    """Rows of a release and of another that are compared, as published or generalized to ``cells`` sets of items."""

    other: PublishedRows
    unit: str
    k: int
    valued: bool  # whether relational values count
    keys: tuple[str, str] = ("", "")  # of the digests of each; empty for rows as published
    cells: int | None = None


def differences(
    engine: Engine,
    catalog: str,
    first: PublishedRows,
    others: Sequence[PublishedRows],
    *,
    whole: Collection[str],
    same: Collection[str] = (),
    note: bool = False,
) -> tuple[dict[str, Difference], dict[str, Difference]]:
    """The multiset differences of a release and of others, by the numbers of these: of the published rows, and of the common
    generalizations. An anatomy and transactions have none. Published rows are transactions with their relational values
    (without them if the attributes differ), or buckets. The common generalization of transactions has the items alone,
    generalized to the same sets of items (``common_cells``); that of anatomies has the column values without their buckets,
    over the intersections of the columns of both.

    The ledger keeps digests of the rows, since a published file stays: with ``note`` it gets those that it lacks, and loses
    those of generalized rows of these releases that were not needed. Transactions of all releases are compared at once.

    Args:
        whole: the numbers of those whose published rows are compared.
        same: those of the same data: as both releases are exact, nothing of their common generalization can differ.
    """
    digests = _Digests(engine, catalog)
    pairs, commons, unchanged = list[_Pair](), dict[str, Difference](), dict[str, int]()
    for other in others:
        if (other.rows is None) != (first.rows is None):
            continue
        number, k, unit = other.release_id, max(first.k, other.k), "transactions" if first.rows else "buckets"
        pair = _Pair(other, unit, k, other.attributes == first.attributes)
        if number in whole:
            pairs.append(replace(pair, keys=(digests.of(first), digests.of(other))))
        if first.buckets is not None and other.buckets is not None:
            commons[number] = _common_values(engine, pair, (first.buckets, other.buckets))
            continue
        cells, as_published = _common(engine, first, other)
        n_cells = len({cell for of_label in cells for cell in of_label.values()})
        if number in same:
            commons[number] = Difference("transactions", 0, 0, 0, 0, k, n_cells)
        elif as_published and number in whole:
            unchanged[number] = n_cells
        else:
            bags = {"atomic"} == {release.manifest["semantics"] for release in (first, other)}
            keys = digests.of(first, cells[0], bags=bags), digests.of(other, cells[1], bags=bags)
            pairs.append(replace(pair, valued=True, keys=keys, cells=n_cells))
    own = reads.rows(digests.rows, "cells, persons, content, shown", where=sql("release_id = {}", first.release_id))
    found = _apart(engine, pairs, own, digests.rows)
    digests.end(note, first.release_id)
    wholes = dict[str, Difference]()
    for pair, told in zip(pairs, found, strict=True):
        (wholes if told.cells is None else commons)[pair.other.release_id] = told
    return wholes, commons | {number: replace(wholes[number], cells=n_cells) for number, n_cells in unchanged.items()}


class _Digests:
    """Digests of the rows of releases: those that the ledger has, and work tables of those that it lacks."""

    def __init__(self, engine: Engine, catalog: str) -> None:
        self.engine, self.catalog = engine, catalog
        self.kept = [tables.ROW_WEIGHTS.query(catalog)] if tables.ROW_WEIGHTS.present(engine, catalog) else []
        known = (engine.select(reads.rows(rows, "release_id, cells", distinct=True)) for rows in self.kept)
        self.known = {key for columns in known for key in tuples(columns)}
        self.made: dict[tuple[str, str], Table] = {}
        self.used = set[tuple[str, str]]()

    @property
    def rows(self) -> Query:
        """``(release_id, cells, persons, content, shown)``."""
        return reads.union([*self.kept, *(reads.rows(table, "*") for table in self.made.values())])

    def of(self, release: PublishedRows, cells: Mapping[str, str] | None = None, *, bags: bool = True) -> str:
        """Have the digests of the rows of a release; returns their key. With the cell of each released item, those of rows
        without relational values whose items are generalized to cells, each of them once unless ``bags``."""
        key = "" if cells is None else hashlib.sha256(json.dumps([bags, cells], sort_keys=True).encode()).hexdigest()[:32]
        wanted = release.release_id, key
        self.used.add(wanted)
        if wanted in self.known or wanted in self.made:
            return key
        if release.buckets is not None:
            digests = query_of("publications/published_buckets", {"buckets": release.buckets})
        else:
            assert release.rows is not None
            contents, held = release.rows
            named: Rows = reads.rows(release.members, "released_item, released_item AS cell", distinct=True)
            if cells is not None:
                names = {"released_item": ("VARCHAR", list(cells)), "cell": ("VARCHAR", list(cells.values()))}
                named = self.engine.put("overlap_cells", names)
                contents = reads.rows(contents, f"row_id, persons, {_texts()} AS attribute_values")
            weights = reads.rows(named, "released_item, CAST(md5_number(cell) >> 65 AS BIGINT) AS weight")
            columns = f"one.row_id, other.weight, {'one.copies' if bags else '1 AS copies'}"
            merges = cells is not None and len({*cells.values()}) < len(cells)
            weighted = reads.joined(held, weights, "item = released_item", columns, distinct=merges and not bags)
            digests = query_of("publications/row_digests", {"contents": contents, "weighted": weighted})
        told = reads.rows(digests, sql("{} AS release_id, {} AS cells, persons, content, shown", *wanted))
        self.made[wanted] = self.engine.create(f"row_digests_{len(self.made)}", told)
        if cells is not None:
            self.engine.drop(self.engine.work_table("overlap_cells"))
        return key

    def end(self, note: bool, first: str) -> None:
        """Forget what was made, or note it; of the release ``first`` the rows as published, with which later ones start."""
        if note and self.used:
            ledger.ensure(self.engine, self.catalog)
            for (number, key), rows in self.made.items():
                if number != first or not key:
                    tables.ROW_WEIGHTS.take(self.engine, self.catalog, rows)
            numbers = {number for number, _ in self.used}
            if any(number in numbers and key for number, key in self.known - self.used):
                keys, at = {"", *(key for _, key in self.used)}, tables.ROW_WEIGHTS.at(self.catalog)
                those = (listed(map(literal, sorted(texts))) for texts in (numbers, keys))
                text = sql("DELETE FROM {} WHERE release_id IN ({}) AND cells NOT IN ({})", at, *those)
                self.engine.run(text, "writing the ledger")
        self.engine.drop(*self.made.values())


def _common_values(engine: Engine, pair: _Pair, buckets: tuple[Rows, Rows]) -> Difference:
    cells = engine.create(
        "overlap_cells", "publications/common_columns", {"first_buckets": buckets[0], "second_buckets": buckets[1]}
    )
    of_both = [query_of("publications/common_values", {"buckets": b, "cells": cells}) for b in buckets]
    values = [reads.rows(v, sql("{} AS release_id, '' AS cells, *", pair.other.release_id)) for v in of_both]
    number = int(engine.scalar(reads.counted(reads.rows(cells, "cell", distinct=True))))
    (found,) = _apart(engine, [replace(pair, unit="column values", valued=False, cells=number)], values[0], values[1])
    engine.drop(cells)
    return found


def _apart(engine: Engine, pairs: Sequence[_Pair], firsts: Rows, seconds: Rows) -> list[Difference]:
    """The multiset differences of pairs, of which these are the digests."""
    if not pairs:
        return []
    kinds = list(dict.fromkeys((pair.keys[0], pair.valued) for pair in pairs))
    columns: dict[str, tuple[str, list[Any]]] = {
        "pair": ("INTEGER", list(range(len(pairs)))),
        "kind": ("INTEGER", [kinds.index((pair.keys[0], pair.valued)) for pair in pairs]),
        "first_cells": ("VARCHAR", [pair.keys[0] for pair in pairs]),
        "release_id": ("VARCHAR", [pair.other.release_id for pair in pairs]),
        "cells": ("VARCHAR", [pair.keys[1] for pair in pairs]),
        "k": ("BIGINT", [pair.k for pair in pairs]),
        "valued": ("BOOLEAN", [pair.valued for pair in pairs]),
    }
    compared = engine.put("overlap_compared", columns)
    found = engine.query("publications/rows_apart", {"firsts": firsts, "seconds": seconds, "compared": compared})
    engine.drop(compared)
    told = (
        Difference(pairs[n].unit, here, there, alone, below_k, pairs[n].k, pairs[n].cells)
        for n, here, there, alone, below_k in sorted(tuples(found))
    )
    return list(told)


def _common(engine: Engine, first: PublishedRows, second: PublishedRows) -> tuple[tuple[dict[str, str], ...], bool]:
    """The cell of each released item of two releases, and whether these are the released items, so that rows without
    relational values are generalized already."""
    members = [reads.rows(r.members, "released_item, item", order="released_item, item") for r in (first, second)]
    pairs: list[Pairs] = [list(tuples(engine.select(rows))) for rows in members]
    opened = [release.manifest["suppression"] != "none" for release in (first, second)]
    cells = common_cells(pairs[0], pairs[1], opened[0], opened[1])
    labels = {label for each in pairs for label, _ in each}
    alike = first.manifest["semantics"] == second.manifest["semantics"] and not (first.attributes or second.attributes)
    return cells, alike and cells[0] == cells[1] and len({*cells[0].values()}) == len(labels)


def common_cells(first: Pairs, second: Pairs, first_open: bool, second_open: bool) -> tuple[dict[str, str], dict[str, str]]:
    """The cell of each released item of two releases, named by its first item.

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
    cells, others = (
        {released: top(item) for released, item in pairs if top(item) not in left_out} for pairs in (first, second)
    )
    return cells, others
