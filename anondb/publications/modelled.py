"""Before modelled rows are published: the owner confirms attributes, and no person has an id such as theirs."""

from __future__ import annotations

from collections.abc import Collection

from anondb.answers.files import Column
from anondb.answers.views import modelled_id
from anondb.data import preflight
from anondb.data.transactions import Dataset
from anondb.engine import DuckDBEngine, Engine, Rows, query_of, reads
from anondb.engine.trees import exp
from anondb.errors import InputError
from anondb.ledger.stored import find_whole
from anondb.publications import persons
from anondb.release.manifest import types_of
from anondb.release.objects import SchemaName, read_manifest


def confirm(engine: DuckDBEngine, name: str, accept: Collection[str]) -> None:
    """Have the owner confirm that modelled rows of a release show attributes, if it has any. Raises InputError:
    ``unconfirmed``; ``bad_parameter``: no finding has a name in ``accept``; the release does not exist."""
    preflight.check_names(accept)
    with engine.transaction():
        attributes = find_whole(engine, name).kind.attributes or ()
    findings = preflight.modelled_records([attribute.name for attribute in attributes])
    preflight.confirmed(findings, accept, engine.on_finding)


def check_ids(engine: Engine, release: SchemaName) -> None:
    """Refuse modelled rows for a release whose persons, by the digests in the ledger, have ids such as theirs. A question
    about a real id must not be answered with a modelled row. Call it inside a transaction. Raises InputError:
    ``modelled_ids``."""
    manifest = read_manifest(engine, release)
    kind = types_of(manifest)[manifest["id_column"]]
    digests = persons.digests(engine, release.catalog, _modelled(kind, int(manifest["transactions"])))
    taken = persons.shared(engine, release.catalog, digests).get(manifest["release_id"], 0)
    engine.drop(digests)
    _refuse(taken)


def check_ids_of(engine: Engine, dataset: Dataset) -> None:
    """Refuse modelled rows as ``check_ids`` does, by the ids of the data, where there is no ledger."""
    both: list[Rows] = [dataset.ids, _modelled(dataset.id_type, dataset.n_transactions)]
    persons_here, persons_drawn = (query_of("publications/persons", {"ids": ids}, {"secret": ""}) for ids in both)
    _refuse(int(engine.scalar(reads.joined(persons_here, persons_drawn, "person", "count(*) AS n"))))


def _modelled(kind: str, transactions: int) -> exp.Select:
    """``(tid, id)`` of the persons of a world."""
    ends = [exp.convert(1), exp.convert(transactions + 1)]
    numbers = exp.select(exp.column("range").as_("tid")).from_(exp.Anonymous(this="range", expressions=ends))
    return exp.select("tid", modelled_id(Column("id", kind), "numbers").as_("id")).from_(numbers.subquery("numbers"))


def _refuse(taken: int) -> None:
    if taken:
        raise InputError(
            f"{taken:,} persons have ids that modelled rows would have, such as negative numbers.",
            code="modelled_ids",
            hint="Leave --modelled-rows out, or give these persons other ids in a view.",
        )
