"""Find earlier publications of the same persons, and measure what readers of both releases learn from comparing them. A
release is refused if an earlier publication contains its persons, unless the owner allows it; then both releases are
compared. The ledger knows the persons of each publication (``persons``). The comparison uses the published rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Rows, reads
from anondb.errors import InputError, by_interface, quote_list
from anondb.ledger import ledger
from anondb.ledger.ledger import LedgerEntry
from anondb.ledger.tables import PERSONS
from anondb.publications import history as publications
from anondb.publications import persons as of_persons
from anondb.publications import published_rows as published
from anondb.publications.history import Intersection
from anondb.release.objects import SchemaName

GONE = "its rows are gone: its schema was not dropped by anondb"
NOT_ALIKE = "an anatomy has no transactions to compare"


@dataclass(frozen=True)
class Earlier:
    """An earlier publication that contains persons of the new release, and their number."""

    entry: LedgerEntry
    persons: int


def _published(engine: Engine, catalog: str) -> list[LedgerEntry]:
    """All published releases, including dropped and replaced ones, oldest first."""
    by_id = {entry.release_id: entry for entry in ledger.entries(engine, catalog)}
    gone = dict.fromkeys(p.release_id for p in publications.publications(engine, catalog))
    return [by_id[i] for i in gone if i in by_id]


def published_before(engine: Engine, catalog: str, replaced: str | None, population: str | None) -> list[LedgerEntry]:
    """The published releases whose ids may mean the same people, except the one with the number ``replaced``."""
    return [e for e in _published(engine, catalog) if e.release_id != replaced and not _apart(e.population, population)]


def _apart(first: str | None, second: str | None) -> bool:
    """Whether equal ids of two populations mean different people: the owner has named both."""
    return first is not None and second is not None and first.strip().casefold() != second.strip().casefold()


def _population(engine: Engine, catalog: str, release_id: str) -> str | None:
    return next((e.population for e in ledger.entries(engine, catalog) if e.release_id == release_id), None)


def stated(engine: Engine, catalog: str, release_id: str) -> tuple[str, ...]:
    """A remark if published releases have ids of this one that mean other people, as the owner has stated."""
    if (here := _population(engine, catalog, release_id)) is None:
        return ()
    shared = of_persons.shared(engine, catalog, release_id)
    apart = [e for e in _published(engine, catalog) if e.release_id in shared and _apart(e.population, here)]
    others, number = {str(e.population) for e in apart}, max((shared[e.release_id] for e in apart), default=0)
    said = f"{number:,} ids of the population {here!r} are also in published releases of {quote_list(sorted(others))}: other"
    return (f"{said} people, as you have stated by naming the populations; nothing was compared.",) * bool(apart)


def earlier(
    engine: Engine, catalog: str, persons: Rows | str, replaced: str | None = None, population: str | None = None
) -> list[Earlier]:
    """The earlier publications that contain some persons, oldest first. Call it inside a transaction.

    A publication whose persons the ledger does not have is assumed to contain them all.

    Args:
        persons: the ids ``(tid, id)`` of a source, or the number of a release, which may be published again.
        replaced: the number of the release of this source, which may be published again.
        population: whom the ids of the source mean.
    """
    if isinstance(persons, str):
        replaced, population = persons, _population(engine, catalog, persons)
    before = published_before(engine, catalog, replaced, population)
    if not before:
        return []
    if not isinstance(persons, str):
        ledger.ensure(engine, catalog)
        digests = of_persons.digests(engine, catalog, persons)
        shared = of_persons.shared(engine, catalog, digests)
        engine.drop(digests)
    else:
        shared = of_persons.shared(engine, catalog, persons)
    recorded = PERSONS.keys(engine, catalog)
    counts = [(e, shared.get(e.release_id, 0 if e.release_id in recorded else e.transactions)) for e in before]
    return [Earlier(entry, number) for entry, number in counts if number]


def measure(
    engine: Engine, catalog: str, schema: SchemaName, before: Sequence[Earlier], data: Dataset | None, *, note: bool
) -> list[Intersection]:
    """Compare a release with each earlier publication, inside a transaction; the source, if it can be read, gives the
    candidates that two global recodings leave. With ``note`` the ledger keeps digests of rows for the next comparison."""
    release = published.of_schema(engine, schema)
    if release is None or not before:
        return []
    now = next((e.fingerprint for e in ledger.entries(engine, catalog) if e.release_id == release.release_id), None)
    found = [published.find(engine, catalog, b.entry.name, b.entry.release_id) for b in before]
    there = [other for other in found if other is not None]
    of_this = {b.entry.release_id for b in before if now is not None and b.entry.fingerprint == now and release.exact}
    same = of_this & {other.release_id for other in there if other.exact}
    recodings = [other for other in there if other.one_image] if release.one_image else []
    joint: dict[str, Any] = {}
    if data is not None and recodings:
        k, members = max(r.k for r in (release, *recodings)), [r.members for r in (release, *recodings)]
        figures = publications.measure_candidates(engine, (data.transactions, data.items), members, k)
        joint = dict(zip(("smallest_of_one", "smallest_of_two", "below_k"), figures, strict=True))
    differing = {other.release_id for other in there if other.release_id not in same or other not in recodings}
    wholes, commons = published.differences(engine, catalog, release, there, whole=differing, same=same, note=note)
    results = []
    for one, other in zip(before, found, strict=True):
        number, differ = one.entry.release_id, None
        whole, common = wholes.get(number), commons.get(number)
        if number in same and whole and whole.size:
            whole = None
        if common and other and "item_supports" in {*release.manifest, *other.manifest}:
            differ = int(engine.scalar(reads.differing(release.counts, other.counts, "item", "lower_bound, upper_bound")))
        told = Intersection(one.entry.name, one.persons, number, whole, common, bounds_differ=differ)
        reason = None if common else NOT_ALIKE if other else GONE
        results.append(replace(told, reason=reason, **joint if other in recodings else {}))
    return results


def allowing_anew(name: str) -> str:
    """What the owner does to make a view anew whose persons are in earlier publications."""
    view = "CREATE OR REPLACE the view with its options and allow_overlap = true in WITH (...)"
    return by_interface(command_line=view, python=view, sql=view, toml=f"add allow_overlap = true to [release.{name}]")


def refused(name: str, overlapping: Sequence[Earlier | LedgerEntry], hint: str | None = None) -> InputError:
    """The error for a release with an overlap with earlier publications that the owner did not allow; ``hint`` is by default
    the option of the command line and Python."""
    names = {(other.entry if isinstance(other, Earlier) else other).name for other in overlapping}
    return InputError(
        f"Persons of {name!r} are in a release that was published before: {quote_list(sorted(names))}. Readers of both may"
        " single out persons whom each of them hides.",
        code="overlap",
        hint=hint
        or "Say --allow-overlap if that is wanted; both are then compared. If equal ids mean different people, make both"
        " releases with --population and different names.",
    )
