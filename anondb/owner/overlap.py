"""What was published before of the same persons, and what readers of both releases learn from comparing them.

A release is refused if persons of its source are in one that was published before, unless its owner allows that; then what
both leave is measured. Which releases overlap is asked before anything is written, in transactions of their own: a source
that cannot be read any more ends its transaction. What they leave is measured on the rows that were published.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from anondb.data.sources import QuerySource
from anondb.data.transactions import Dataset
from anondb.engine import Engine, quote_list
from anondb.errors import EngineError, InputError, InternalError
from anondb.owner import ledger, publications
from anondb.owner import published_rows as published
from anondb.owner.ledger import LedgerEntry
from anondb.owner.publications import Intersection
from anondb.release.objects import SchemaName

GONE = "its rows are gone: its schema was dropped by other means than anondb's"
NOT_ALIKE = "an anatomy has no transactions that could be compared"
Source = str | None


@dataclass(frozen=True)
class Subject:
    """What is to be published.

    Attributes:
        name: of the release.
        source: what finds its source again: the reference of a table, or the query of a view; None for files and data
            frames.
        fingerprint: of its data, if it was taken.
        transactions: how many it has, if that is known.
        read: reads the source, inside a transaction.
    """

    name: str
    source: Source
    fingerprint: str | None
    transactions: int | None
    read: Callable[[], Dataset]


@dataclass(frozen=True)
class Earlier:
    """A release that was published before and may hold persons of the one at hand: how many at most."""

    entry: LedgerEntry
    persons: int


def source_of(engine: Engine, catalog: str, entry: LedgerEntry) -> Source:
    """What finds the source of a release again: two releases that have it equal have the same source."""
    view = ledger.view_of(engine, catalog, entry.release_id)
    return entry.source_reference if view is None else query_source(view)


def query_source(view: ledger.View) -> str:
    """The query of a view as ``source_of`` has it."""
    return QuerySource(view.query, "", "").tree().sql(dialect="duckdb")


def published_before(engine: Engine, catalog: str, but: str | None = None) -> list[LedgerEntry]:
    """All releases that were published, dropped and replaced ones too, except the one with the number ``but``."""
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
    """The releases that were published before and may hold persons of the subject, the oldest first. Call it outside of a
    transaction.

    Releases of the same source do, and those whose source cannot be read any more are taken to. Of others the ids of the
    persons are compared, as their sources are now.

    Args:
        engine, catalog: the owner's database.
        subject: what is to be published.
        read: reads the source of an earlier release, inside a transaction.
        but: the number of the release itself, which may be published again.
    """
    with engine.transaction():
        before = [(e, source_of(engine, catalog, e)) for e in published_before(engine, catalog, but)]
    shared: dict[str, int | None] = {}
    found = []
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
            found.append(Earlier(entry, min(at_most, subject.transactions or at_most)))
    return found


def _shared(engine: Engine, subject: Subject, entry: LedgerEntry, read: Callable[[LedgerEntry], Dataset]) -> int:
    """How many ids the sources of both have in common."""
    theirs = read(entry)
    others = engine.create("overlap_ids", exp.select("tid", "id").from_(theirs.ids.expression()))
    engine.drop(theirs.transactions, theirs.ids, theirs.items)
    return int(engine.scalar("release/shared_ids", {"ids": subject.read().ids, "other_ids": others}))


def measure(
    engine: Engine, catalog: str, schema: SchemaName, before: Sequence[Earlier], data: Dataset | None
) -> list[Intersection]:
    """What readers of a release and of each earlier one learn from both. Call it inside a transaction.

    Args:
        engine, catalog: the owner's database.
        schema: the frozen release.
        before: the earlier ones.
        data: its source, for the candidates that two global recodings leave; None where it cannot be read.
    """
    mine = published.of_schema(engine, schema)
    if mine is None or not before:
        return []
    with published.at_hand(engine, mine) as once:
        return [_measured(engine, catalog, once, one, data) for one in before]


def _measured(
    engine: Engine, catalog: str, mine: published.PublishedRows, one: Earlier, data: Dataset | None
) -> Intersection:
    found = Intersection(one.entry.name, one.persons, one.entry.release_id)
    other = published.find(engine, catalog, one.entry.name, one.entry.release_id)
    if other is None:
        return replace(found, reason=GONE)
    compared = published.compare(engine, mine, other)
    if compared is None:
        return replace(found, reason=NOT_ALIKE)
    found = replace(found, whole=compared[0], common=compared[1])
    if data is None or not (mine.one_image and other.one_image):
        return found
    members, tables = (mine.members, other.members), (data.transactions, data.items)
    one_item, two_items, below = publications.measure_candidates(engine, tables, members, max(mine.k, other.k))
    return replace(found, smallest_of_one=one_item, smallest_of_two=two_items, below_k=below)


def refused(name: str, found: Sequence[Earlier | LedgerEntry], hint: str | None = None) -> InputError:
    """The error where persons were published before and that was not allowed.

    Args:
        name: of the release.
        found: the earlier ones.
        hint: what to do; by default what the command line and Python take.
    """
    names = {one.entry.name if isinstance(one, Earlier) else one.name for one in found}
    return InputError(
        f"Persons of {name!r} are in a release that was published before: {quote_list(sorted(names))}. Readers of both may"
        " single out persons whom each of them hides.",
        code="overlap",
        hint=hint
        or "Say --allow-overlap (in Python allow_overlap=True) if that is wanted; what both leave is then measured.",
    )
