"""Find earlier publications of the same persons, and measure what readers of both releases learn from comparing them.

A release is refused if an earlier publication contains persons of its source, unless the owner allows it; then both
releases are compared. Overlaps are looked up before anything is written, in separate transactions, because a source that
can no longer be read ends its transaction. The comparison uses the published rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from anondb.data.sources import QuerySource
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.errors import EngineError, InputError, InternalError, quote_list
from anondb.owner import ledger, publications
from anondb.owner import published_rows as published
from anondb.owner.ledger import LedgerEntry
from anondb.owner.publications import Intersection
from anondb.release.objects import SchemaName

GONE = "its rows are gone: its schema was not dropped by anondb"
NOT_ALIKE = "an anatomy has no transactions to compare"
Source = str | None


@dataclass(frozen=True)
class Subject:
    """A release to be published.

    Attributes:
        name: the name of the release.
        source: the identity of its source: the reference of a table, or the query of a view; None for files and data
            frames.
        fingerprint: the digest of its data, if it was computed.
        transactions: their number, if known.
        read: reads the source, inside a transaction.
    """

    name: str
    source: Source
    fingerprint: str | None
    transactions: int | None
    read: Callable[[], Dataset]


@dataclass(frozen=True)
class Earlier:
    """An earlier publication that may contain persons of the new release, and their maximum number."""

    entry: LedgerEntry
    persons: int


def source_of(engine: Engine, catalog: str, entry: LedgerEntry) -> Source:
    """The identity of a release's source: releases with equal identities have the same source."""
    view = ledger.view_of(engine, catalog, entry.release_id)
    return entry.source_reference if view is None else query_source(view)


def query_source(view: ledger.View) -> str:
    """The query of a view in the form of ``source_of``."""
    return QuerySource(view.query, "", "").tree().sql(dialect="duckdb")


def published_before(engine: Engine, catalog: str, but: str | None = None) -> list[LedgerEntry]:
    """All published releases, including dropped and replaced ones, except the one with the number ``but``."""
    by_id = {entry.release_id: entry for entry in ledger.entries(engine, catalog)}
    gone = dict.fromkeys(p.release_id for p in publications.publications(engine, catalog))
    return [by_id[i] for i in gone if i in by_id and i != but]


def earlier(
    engine: Engine,
    catalog: str,
    subject: Subject,
    read: Callable[[LedgerEntry], Dataset],
    but: str | None = None,
) -> list[Earlier]:
    """The earlier publications that may contain persons of the subject, oldest first. Call it outside a transaction.

    Releases of the same source contain them; releases whose source can no longer be read are assumed to. For other releases
    the person ids of the current sources are compared.

    Args:
        engine, catalog: the owner's database.
        subject: the release to be published.
        read: reads the source of an earlier release, inside a transaction.
        but: the number of the release itself, which may be published again.
    """
    with engine.transaction():
        before = [(e, source_of(engine, catalog, e)) for e in published_before(engine, catalog, but)]
    shared: dict[str, int | None] = {}
    overlapping = []
    for entry, source in before:
        same = source is not None and source == subject.source
        at_most: int | None = entry.transactions
        if not same and entry.fingerprint != subject.fingerprint and source is not None:
            if source not in shared:
                shared[source] = None
                with contextlib.suppress(InputError, EngineError, InternalError), engine.transaction():
                    shared[source] = _shared(engine, subject, entry, read)
            at_most = entry.transactions if shared[source] is None else shared[source]
        if at_most:
            overlapping.append(Earlier(entry, min(at_most, subject.transactions or at_most)))
    return overlapping


def _shared(engine: Engine, subject: Subject, entry: LedgerEntry, read: Callable[[LedgerEntry], Dataset]) -> int:
    """The number of ids that both sources share."""
    dataset = read(entry)
    others = engine.create("overlap_ids", exp.select("tid", "id").from_(dataset.ids.expression()))
    engine.drop(dataset.transactions, dataset.ids, dataset.items)
    return int(engine.scalar("release/shared_ids", {"ids": subject.read().ids, "other_ids": others}))


def measure(
    engine: Engine, catalog: str, schema: SchemaName, before: Sequence[Earlier], data: Dataset | None
) -> list[Intersection]:
    """Compare a release with each earlier publication. Call it inside a transaction.

    Args:
        engine, catalog: the owner's database.
        schema: the frozen release.
        before: the earlier publications.
        data: the source, for the candidates that two global recodings leave; None if it cannot be read.
    """
    release = published.of_schema(engine, schema)
    if release is None or not before:
        return []
    with published.at_hand(engine, release) as once:
        return [_measured(engine, catalog, once, one, data) for one in before]


def _measured(
    engine: Engine, catalog: str, release: published.PublishedRows, one: Earlier, data: Dataset | None
) -> Intersection:
    result = Intersection(one.entry.name, one.persons, one.entry.release_id)
    other = published.find(engine, catalog, one.entry.name, one.entry.release_id)
    if other is None:
        return replace(result, reason=GONE)
    compared = published.compare(engine, release, other)
    if compared is None:
        return replace(result, reason=NOT_ALIKE)
    result = replace(result, whole=compared[0], common=compared[1])
    if "item_supports" in release.manifest or "item_supports" in other.manifest:
        differ = engine.scalar("release/bounds_differ", {"counts": release.counts, "other_counts": other.counts})
        result = replace(result, bounds_differ=int(differ))
    if data is None or not (release.one_image and other.one_image):
        return result
    members, tables = (release.members, other.members), (data.transactions, data.items)
    one_item, two_items, below = publications.measure_candidates(engine, tables, members, max(release.k, other.k))
    return replace(result, smallest_of_one=one_item, smallest_of_two=two_items, below_k=below)


def refused(name: str, overlapping: Sequence[Earlier | LedgerEntry], hint: str | None = None) -> InputError:
    """The error for an overlap with earlier publications that the owner did not allow.

    Args:
        name: the name of the release.
        overlapping: the earlier publications.
        hint: advice; by default the option of the command line and Python.
    """
    names = {one.entry.name if isinstance(one, Earlier) else one.name for one in overlapping}
    return InputError(
        f"Persons of {name!r} are in a release that was published before: {quote_list(sorted(names))}. Readers of both may"
        " single out persons whom each of them hides.",
        code="overlap",
        hint=hint or "Say --allow-overlap (in Python allow_overlap=True) if that is wanted; both are then compared.",
    )
