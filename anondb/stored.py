"""What exists already: finding releases and their sources, measuring them again, publishing them."""

from __future__ import annotations

import contextlib
from dataclasses import replace as replace_fields
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from anondb.accuracy import called, generalized_members, measure_on, measure_rules, queries_of
from anondb.checks import model_of, verify_release
from anondb.data.sources import QuerySource, open_source
from anondb.data.transactions import Dataset, fingerprint, load_transactions
from anondb.engine import Engine, Table, quote_list
from anondb.errors import EngineError, InputError, InternalError, VerificationFailed
from anondb.policy import Policy, Workload, from_options
from anondb.release import ledger, publications
from anondb.release.objects import (
    ANATOMY,
    GLOBAL,
    SEALED_SCHEMA,
    Kind,
    SchemaName,
    find_schema,
    read_manifest,
    release_kind,
    release_schema,
    unexpected_objects,
)
from anondb.release.publications import Intersection, Publication
from anondb.release.relational import value_columns
from anondb.utility import Accuracy

if TYPE_CHECKING:
    from anondb.release.publish import PublishedFile
    from anondb.utility.rules import RuleAccuracy, RuleThresholds


def current_catalog(engine: Engine) -> str:
    """The name of the database that releases are written to."""
    return str(engine.scalar("release/current_catalog"))


def check_writable(engine: Engine, catalog: str) -> None:
    """Refuse a read-only database before the long work, not after it."""
    if engine.transient:
        return
    query = (
        exp.select("readonly")
        .from_(exp.Table(this=exp.Anonymous(this="duckdb_databases")))
        .where(exp.column("database_name").eq(exp.convert(catalog)))
    )
    if bool(engine.select(query, "looking up the database")["readonly"][0]):
        raise InputError(
            "The database is open read-only, so nothing can be written into it.",
            code="read_only",
            hint="Open it for writing, or USE another one.",
        )


def tables_with(engine: Engine, id_column: str, item_column: str) -> list[Table]:
    """The tables and views of the current database that have both columns."""
    found = engine.query("transactions/tables_with", id_column=id_column.lower(), item_column=item_column.lower())
    return [Table(*names) for names in zip(*(column.tolist() for column in found.values()), strict=True)]


def sealed_schema(engine: Engine) -> SchemaName | None:
    """Where the release lies if this database is a sealed file, else None."""
    schema = SchemaName(current_catalog(engine), SEALED_SCHEMA)
    kind = release_kind(engine, schema)
    if kind is None:
        return None
    if unexpected_objects(engine, schema, kind):
        raise InputError(
            "The file holds other objects than a sealed release.",
            code="not_a_release",
            hint="Get it from its publisher.",
        )
    return schema


def find_release(engine: Engine, name: str) -> SchemaName:
    """The schema of a release in the owner's database.

    Raises:
        InputError: there is none of this name.
    """
    return _found(engine, name)[0]


def _found(engine: Engine, name: str) -> tuple[SchemaName, Kind]:
    schema = find_schema(engine, release_schema(current_catalog(engine), name))
    if schema is None:
        hint = "A run over files keeps none: load them into a database first, with anondb load."
        hint = hint if engine.one_shot else "List them: anondb releases."
        raise InputError(f"There is no release {name!r}.", code="no_such_release", hint=hint)
    kind = release_kind(engine, schema)
    if kind is None:
        raise InputError(f"The schema {schema.name!r} does not hold a release.", code="not_a_release")
    return schema, kind


def asked_table(dataset: Dataset, name: str) -> str:
    """What analysts call the original of the release ``name``: its source, where the release has the rows of that.

    Where rows were merged, counts over the source are others: then the release's own name, or ``release_<name>`` where the
    source is called so.
    """
    if dataset.is_table:
        return dataset.table
    return name if name.lower() != dataset.table.lower() else f"release_{name}"


def load_source(engine: Engine, name: str) -> tuple[ledger.LedgerEntry, Dataset]:
    """The source of a release as it is now: the query of a view, else the table that it was made from.

    Raises:
        InputError: no such release, or its source cannot be found again (files and data frames are not kept).
    """
    catalog = current_catalog(engine)
    find_release(engine, name)
    entry = ledger.find(engine, catalog, name)
    view = None if entry is None else ledger.view_of(engine, catalog, entry.release_id)
    if entry is None:
        raise _no_source(name)
    given = source_of(engine, entry, view)
    records = records_of(engine, entry)
    bags = bool(entry.parameters.get("bag_input", False))
    read = partial(load_transactions, engine, id_column=entry.id_column, item_column=entry.item_column, bags=bags)
    with open_source(engine, given, "transactions") as source:
        if records is None:
            return entry, read(source)
        with open_source(engine, records, "records") as ids:
            return entry, read(source, more_ids=ids)


def source_of(engine: Engine, entry: ledger.LedgerEntry, view: ledger.View | None) -> Any:
    """What finds the source of a release again: the query of its view, or the name of a table.

    Raises:
        InputError: ``no_source``: files and data frames are not kept.
    """
    if view is not None:
        return view_policy(engine, view).transactions
    if entry.source_reference is None:
        raise _no_source(entry.name)
    return entry.source_reference


def _no_source(name: str) -> InputError:
    return InputError(f"The source of the release {name!r} is not in this database.", code="no_source")


def records_of(engine: Engine, entry: ledger.LedgerEntry) -> Any:
    """What finds the records of a release again; None where it has none, or they were a file or a data frame."""
    view = ledger.view_of(engine, current_catalog(engine), entry.release_id)
    return entry.parameters.get("records") if view is None else view_policy(engine, view).records


def view_policy(engine: Engine, view: ledger.View, replace: bool = False) -> Policy:
    """The policy of an anonymized view: its query is the source, and it is called like the view."""
    source = QuerySource(view.query, f"the query of the view {view.name!r}", view.table)
    return from_options(view.name, source, view.options, replace=replace)


def measure_release(engine: Engine, name: str, workload: Workload) -> Accuracy:
    """Measure the accuracy of an existing release on its source as it is now, and keep the answers in the ledger.

    Raises:
        InputError: no such release, or its source cannot be found again (files and data frames are not kept).
    """
    catalog = current_catalog(engine)
    with engine.transaction():
        schema, kind = _found(engine, name)
        check_writable(engine, catalog)
        entry, dataset = load_source(engine, name)
        manifest = read_manifest(engine, schema)
        queries = queries_of(engine, dataset, workload, partial(generalized_members, engine, schema, dataset))
        unchanged = dataset.n_transactions == int(manifest["transactions"]) and (
            entry.fingerprint == fingerprint(engine, dataset)
        )
        accuracy = measure_on(engine, dataset, schema, kind, manifest, queries, must_hold=unchanged)
        ledger.record_accuracy(engine, catalog, entry.name, entry.release_id, accuracy.answers, called(queries))
        return accuracy


def measure_release_rules(engine: Engine, name: str, thresholds: RuleThresholds, seed: int = 0) -> RuleAccuracy:
    """The rules of one reconstruction of an anatomy beside those of its source as it is now.

    Raises:
        InputError: no such release, one of another kind, no source, or mlxtend is missing.
    """
    with engine.transaction():
        schema = find_release(engine, name)
        if release_kind(engine, schema) is not ANATOMY:
            raise InputError(f"The release {name!r} is no anatomy: its transactions can be mined as they are.")
        _, dataset = load_source(engine, name)
        return measure_rules(engine, dataset, schema, thresholds, seed)


def publish_release(
    engine: Engine,
    name: str,
    path: str,
    *,
    replace: bool = False,
    allow_overlap: bool = False,
    proof: str | None = None,
    include_constraints: bool = False,
) -> PublishedFile:
    """Seal a release into a file of its own, and verify the sealed rows before the file gets its name.

    What leaves is noted in the ledger. A second, different release of persons of whom one was published before is refused
    unless ``allow_overlap``; then the intersection of both is measured. A run over files has no ledger to ask.

    Raises:
        InputError: ``overlap``; no such release; the path or the directory of the proof cannot be written.
        VerificationFailed: the sealed rows do not keep the promise.
        EngineError: disk, memory, or a lock.
    """
    from anondb.release.proof import Shown, proof_directory, write_proof
    from anondb.release.publish import publish

    catalog = current_catalog(engine)
    found = [] if engine.one_shot else _overlapping(engine, name, measured=allow_overlap)
    with engine.transaction():
        schema = find_release(engine, name)
        manifest = read_manifest(engine, schema)
        model = model_of(manifest)
        privacy = ledger.privacy_of(engine, catalog, manifest["release_id"])
        private = ledger.sensitive_of(engine, catalog, manifest["release_id"])
        shown = Shown(privacy, private) if include_constraints else Shown("pgen" if privacy == "pgen" else None)
        place = None
        if proof is not None:
            shown = replace_fields(shown, values=value_columns(engine, schema))
            place = proof_directory(proof, manifest, shown)
        if not engine.one_shot:
            check_writable(engine, catalog)
            if found and not allow_overlap:
                raise _overlap_error(name, [i.other for i in found])

        def check(sealed: Engine, sealed_schema: SchemaName) -> None:
            with sealed.transaction():
                if not verify_release(sealed, sealed_schema, model, privacy=privacy, sensitive=private).verified:
                    raise VerificationFailed("The sealed rows do not keep the promise; the file was not published.")

        file = publish(engine, schema, path, replace=replace, check=check)
        if not engine.one_shot:
            smallest = [i.smallest for i in found if i.smallest is not None]
            publications.record_publication(
                engine,
                catalog,
                Publication(
                    name=name,
                    release_id=file.release_id,
                    file=file.path.name,
                    transactions=file.transactions,
                    rows=file.rows,
                    allowed_overlap=allow_overlap,
                    smallest_candidates=min(smallest) if smallest else None,
                ),
            )
    if place is not None:
        write_proof(place, manifest, shown)
    return replace_fields(file, intersections=tuple(found), proof=place)


def check_republication(engine: Engine, name: str) -> None:
    """Refuse to make a release anew and publish it where it, or another one of its source, was published before.

    Raises:
        InputError: ``overlap``.
    """
    mine, others = _published_before(engine, name)
    earlier = [entry.name for entry in others if mine is not None and _same_source(mine, entry)]
    if mine is not None and any(
        p.release_id == mine.release_id for p in publications.publications(engine, current_catalog(engine))
    ):
        earlier.append(mine.name)
    if earlier:
        raise _overlap_error(name, earlier)


def reference_of(engine: Engine, table: Table | None) -> str | None:
    """What finds a source again: without the name of the owner's database, since its file may be renamed."""
    if table is None or table.catalog == "temp":
        return None
    name = table.expression()
    if table.catalog == current_catalog(engine):
        name.set("catalog", None)
    return name.sql(dialect="duckdb")


def check_source_not_published(engine: Engine, transactions: Any) -> None:
    """Refuse to make and publish a release of a table of which another one was published, before the long work.

    Sources that share persons without being the same table are found when the release is published.

    Raises:
        InputError: ``overlap``.
    """
    catalog = current_catalog(engine)
    earlier = publications.publications(engine, catalog)
    if engine.one_shot or not earlier:
        return
    with engine.transaction(), open_source(engine, transactions, "transactions") as source:
        reference = reference_of(engine, source.reference)
    gone = {p.release_id for p in earlier}
    same = [e.name for e in ledger.entries(engine, catalog) if e.release_id in gone and e.source_reference == reference]
    if reference is not None and same:
        raise _overlap_error(source.table, same)


def _overlap_error(name: str, earlier: list[str]) -> InputError:
    return InputError(
        f"Persons of {name!r} are in a release that was published before: {quote_list(sorted(set(earlier)))}. Joined, both"
        " may single out persons whom each of them hides.",
        code="overlap",
        hint="Say --allow-overlap (a view: allow_overlap = true) if that is wanted; what the join leaves is then measured.",
    )


def _published_before(engine: Engine, name: str) -> tuple[ledger.LedgerEntry | None, list[ledger.LedgerEntry]]:
    """The entry of a release, and those of all others that were published."""
    catalog = current_catalog(engine)
    mine = ledger.find(engine, catalog, name)
    by_id = {entry.release_id: entry for entry in ledger.entries(engine, catalog)}
    gone = dict.fromkeys(p.release_id for p in publications.publications(engine, catalog))
    return mine, [by_id[i] for i in gone if i in by_id and (mine is None or i != mine.release_id)]


def _same_source(mine: ledger.LedgerEntry, other: ledger.LedgerEntry) -> bool:
    same_table = mine.source_reference is not None and mine.source_reference == other.source_reference
    return same_table or mine.fingerprint == other.fingerprint


def _overlapping(engine: Engine, name: str, *, measured: bool) -> list[Intersection]:
    """The other releases that were published and may hold the same persons, each with what the join leaves if wanted.

    Each is looked at in a transaction of its own: a source that cannot be read any more ends its transaction.
    """
    with engine.transaction():
        find_release(engine, name)
        mine, others = _published_before(engine, name)
    found = []
    for other in others:
        overlap: Intersection | None = Intersection(other.name, other.transactions)
        with contextlib.suppress(InputError, EngineError, InternalError), engine.transaction():
            overlap = _overlap(engine, mine, other, measured)
        if overlap is not None:
            found.append(overlap)
    return found


def _overlap(
    engine: Engine, mine: ledger.LedgerEntry | None, other: ledger.LedgerEntry, measured: bool
) -> Intersection | None:
    """None where both sources can be read and share no id; sources that cannot be compared count as overlapping.

    Raises:
        AnondbError: a source is gone: a data frame or a file, which is not kept, or that of a release that was dropped.
    """
    unknown = Intersection(other.name, other.transactions)
    same = mine is not None and _same_source(mine, other)
    if mine is None or (same and not measured):
        return unknown
    schema = find_release(engine, mine.name)
    theirs = None if same else _ids_of(engine, other)
    _, dataset = load_source(engine, mine.name)
    persons = dataset.n_transactions
    if theirs is not None:
        persons = int(engine.scalar("release/shared_ids", {"ids": dataset.ids, "other_ids": theirs}))
        engine.drop(theirs)
    found = replace_fields(unknown, persons=persons) if persons else None
    there = find_schema(engine, release_schema(current_catalog(engine), other.name))
    if (
        found
        and measured
        and there is not None
        and read_manifest(engine, there)["release_id"] == other.release_id
        and all(release_kind(engine, s) == GLOBAL for s in (schema, there))
    ):
        k = max(int(entry.parameters["k"]) for entry in (mine, other))
        members = schema.table("released_items"), there.table("released_items")
        data = (dataset.transactions, dataset.items)
        found = publications.measure_intersection(engine, data, members, other, k, persons)
    engine.drop(dataset.transactions, dataset.ids, dataset.items)
    return found


def _ids_of(engine: Engine, entry: ledger.LedgerEntry) -> Table:
    """The ids of a release's source, in a work table of their own."""
    _, dataset = load_source(engine, entry.name)
    ids = engine.create("overlap_ids", exp.select("tid", "id").from_(dataset.ids.expression()))
    engine.drop(dataset.transactions, dataset.ids, dataset.items)
    return ids
