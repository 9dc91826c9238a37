"""Which persons a release holds: keyed digests of their ids, in the owner's ledger only.

A table may hold other persons tomorrow, or be gone, but a published file stays. So the ledger keeps the persons of each
release, as 60 bits of a SHA-256 keyed with a secret that lies in the ledger, too. Two persons have equal digests with a
probability of 10^-18, which would refuse a publication, never allow one.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Rows, Table, query_of, reads
from anondb.ledger.tables import PERSONS, SECRETS


def digests(engine: Engine, catalog: str, ids: Rows) -> Table:
    """The work table ``(person)`` of the digests of ``ids``; call it after ``ledger.ensure``, inside a transaction."""
    return engine.create("persons", "publications/persons", {"ids": ids}, secret=key(engine, catalog))


def brought(engine: Engine, digests: Table, secret: str) -> Table:
    """The table of ``digests`` from what another database computed with the secret (``PortableWarehouse.digests``): digests,
    and the ids that only DuckDB can digest."""
    shortened = reads.rows(digests, "CAST('0x' || digest AS BIGINT) AS person", where="digest IS NOT NULL")
    others = reads.rows(digests, "id", where="digest IS NULL")
    rest = query_of("publications/persons", {"ids": others}, {"secret": secret})
    both = reads.union([shortened, reads.rows(rest, "person")])
    return engine.create("persons", reads.rows(both, "person", distinct=True))


def key(engine: Engine, catalog: str) -> str:
    """The owner's secret, made when it is first needed; call it after ``ledger.ensure``."""
    if rows := SECRETS.rows(engine, catalog):
        return str(rows[0]["secret"])
    secret = secrets.token_hex(16)
    SECRETS.append(engine, catalog, [{"secret": secret}])
    return secret


def record(engine: Engine, catalog: str, release_id: str, dataset: Dataset) -> None:
    """Store the persons of a release; call it after ``ledger.ensure``, inside a transaction."""
    persons = dataset.digests or digests(engine, catalog, dataset.ids)
    PERSONS.take(engine, catalog, persons, release_id=release_id)
    engine.drop(persons)


def shared(engine: Engine, catalog: str, persons: Table | str) -> Mapping[str, int]:
    """How many persons each release of the ledger shares with some persons (a table of ``digests``, or the number of a
    release); releases that share none are left out."""
    if not PERSONS.present(engine, catalog):
        return {}
    others: Rows = persons if isinstance(persons, Table) else PERSONS.query(catalog, persons)
    number = "one.release_id, count(*) AS n"
    shared = reads.joined(PERSONS.at(catalog), others, "person", number, group="one.release_id", order="release_id")
    counts = engine.select(shared)
    return {str(i): int(n) for i, n in zip(counts["release_id"].tolist(), counts["n"].tolist(), strict=True)}
