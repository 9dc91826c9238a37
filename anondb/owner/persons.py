"""Which persons a release holds: keyed digests of their ids, in the owner's ledger only.

A table may hold other persons tomorrow, or be gone, but a published file stays. So the ledger keeps the persons of each
release, as 60 bits of a SHA-256 keyed with a secret that lies in the ledger, too. Two persons have equal digests with a
probability of 10^-18, which would refuse a publication, never allow one.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from sqlglot import exp

from anondb.engine import Engine, Table
from anondb.owner import ledger


def digests(engine: Engine, catalog: str, ids: Table | exp.Query) -> Table:
    """The work table ``(person)`` of the digests of ``ids``; call it after ``ledger.ensure``, inside a transaction."""
    return engine.create("persons", "release/persons", {"ids": ids}, secret=_secret(engine, catalog))


def _secret(engine: Engine, catalog: str) -> str:
    """The owner's secret, made when it is first needed."""
    table = ledger.ledger_table(catalog, "secrets")
    known = engine.scalar("release/secret", {"secrets": table})
    if known is not None:
        return str(known)
    made = secrets.token_hex(16)
    engine.insert(table, {"secret": ("VARCHAR", [made])})
    return made


def record(engine: Engine, catalog: str, release_id: str, ids: Table) -> None:
    """Store the persons of a release; call it after ``ledger.ensure``, inside a transaction."""
    made = digests(engine, catalog, ids)
    columns = [exp.to_identifier(name) for name in ledger.PERSONS]
    target = exp.Schema(this=_kept(catalog).expression(), expressions=columns)
    rows = exp.select(exp.convert(release_id).as_("release_id"), "person").from_(made.expression())
    engine.run(exp.Insert(this=target, expression=rows), "writing the ledger")
    engine.drop(made)


def forget(engine: Engine, catalog: str, release_id: str) -> None:
    """Delete the persons of a release that was never published."""
    if ledger.present(engine, _kept(catalog), ledger.PERSONS):
        where = exp.column("release_id").eq(exp.convert(release_id))
        engine.run(exp.delete(_kept(catalog).expression(), where=where), "writing the ledger")


def shared(engine: Engine, catalog: str, persons: Table | str) -> Mapping[str, int]:
    """How many persons each release of the ledger shares with some persons; releases that share none are left out.

    Args:
        engine, catalog: the owner's database.
        persons: the table of ``digests``, or the number of a release.
    """
    kept = _kept(catalog)
    if not ledger.present(engine, kept, ledger.PERSONS):
        return {}
    others: Table | exp.Query = persons if isinstance(persons, Table) else _of(catalog, persons)
    counts = engine.query("release/shared_persons", {"persons": kept, "others": others})
    return {str(i): int(n) for i, n in zip(counts["release_id"].tolist(), counts["n"].tolist(), strict=True)}


def known(engine: Engine, catalog: str) -> set[str]:
    """The numbers of the releases whose persons the ledger has."""
    if not ledger.present(engine, _kept(catalog), ledger.PERSONS):
        return set()
    ids = exp.select("release_id").distinct().from_(_kept(catalog).expression())
    return set(engine.select(ids, "reading the ledger")["release_id"].tolist())


def _kept(catalog: str) -> Table:
    return ledger.ledger_table(catalog, "persons")


def _of(catalog: str, release_id: str) -> exp.Select:
    where = exp.column("release_id").eq(exp.convert(release_id))
    return exp.select("person").from_(_kept(catalog).expression()).where(where)
