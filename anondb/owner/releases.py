"""Work with existing releases: find them and their sources, measure them again, publish them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace as replace_fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from anondb import options
from anondb.data.sources import QuerySource, is_file, open_source, resolve_table
from anondb.data.transactions import Dataset, fingerprint, load_transactions
from anondb.engine import DuckDBEngine, Engine, Table
from anondb.errors import EngineError, InputError, InternalError, VerificationFailed
from anondb.models.named import model_of
from anondb.owner import ledger, overlap, publications, targets
from anondb.owner.accuracy import called, generalized_members, measure_on, measure_rules, queries_of
from anondb.owner.publications import Intersection, Publication
from anondb.policy import Policy, Workload
from anondb.postgres.place import Place
from anondb.promises.check import verify_release
from anondb.promises.spec import Knowledge
from anondb.reading.options import READING, read_as
from anondb.release.objects import (
    ANATOMY,
    SchemaName,
    StoredRelease,
    find_schema,
    read_release,
    release_kind,
    release_schema,
)
from anondb.release.relational import value_columns
from anondb.utility import Accuracy

if TYPE_CHECKING:
    from anondb.release.publish import PublishedFile
    from anondb.release.row_sums import RowSums
    from anondb.utility.rules import RuleAccuracy, RuleThresholds


def current_catalog(engine: Engine) -> str:
    """The name of the database that releases are written to."""
    return str(engine.scalar("release/current_catalog"))


def check_writable(engine: Engine, catalog: str) -> None:
    """Raise an ``InputError`` for a read-only database, before the long work."""
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


def without_ledger(engine: DuckDBEngine, catalog: str) -> tuple[str, ...]:
    """A remark if nothing will be known of a publication later: the ledger is in memory, or there is none."""
    if engine.one_shot:
        return ("A run over files has no ledger: earlier publications of these persons are unknown.",)
    if engine.runs_sql and engine.scalar("release/in_memory", catalog_name=catalog):
        words = "The ledger is in memory and ends with the connection, so later publications of these persons are not"
        return (f"{words} compared with this one: keep it in a file.",)
    return ()


def find_release(engine: DuckDBEngine, name: str) -> SchemaName:
    """The schema of a release in the owner's database.

    Raises:
        InputError: no release of this name exists.
    """
    return find_whole(engine, name).schema


def find_whole(engine: DuckDBEngine, name: str) -> StoredRelease:
    """A release in the owner's database.

    Raises:
        InputError: no release of this name exists.
    """
    schema = find_schema(engine, release_schema(current_catalog(engine), name))
    if schema is None:
        hint = "A run over files keeps none: load them into a database first, with anondb load."
        hint = hint if engine.one_shot else "List them: anondb releases."
        raise InputError(f"There is no release {name!r}.", code="no_such_release", hint=hint)
    release = read_release(engine, schema)
    if release is None:
        raise InputError(f"The schema {schema.name!r} does not hold a release.", code="not_a_release")
    return release


def load_source(engine: DuckDBEngine, name: str) -> tuple[ledger.LedgerEntry, Dataset]:
    """Read the current source of a release: the query of a view, else the table that it was made from.

    Raises:
        InputError: the release or its source does not exist (files and data frames are not kept).
    """
    find_release(engine, name)
    entry = ledger.find(engine, current_catalog(engine), name)
    if entry is None:
        raise _no_source(name)
    return entry, load_entry(engine, entry)


def load_entry(engine: Engine, entry: ledger.LedgerEntry) -> Dataset:
    """Read the current source of a release of the ledger, also of a dropped or replaced one.

    Raises:
        InputError: the source does not exist (files and data frames are not kept).
    """
    source = rows_of(engine, entry, ledger.view_of(engine, current_catalog(engine), entry.release_id))
    bags = bool(entry.parameters.get("bag_input", False))
    return _read(engine, source, records_of(engine, entry), entry.id_column, entry.item_column, bags)[0]


def read_persons(engine: Engine, policy: Policy) -> tuple[Dataset, Table | None]:
    """Read the transactions of a policy, including those of persons who are only in its records; and the records' table."""
    return _read(engine, policy.rows, policy.people, policy.id, policy.item, policy.bag_input)


def _read(
    engine: Engine, transactions: Any, records: Any, id_column: str, item_column: str, bags: bool
) -> tuple[Dataset, Table | None]:
    read = partial(load_transactions, engine, id_column=id_column, item_column=item_column, bags=bags)
    with open_source(engine, transactions, "transactions") as source:
        if records is None or records is transactions:
            return read(source), None if records is None else source.reference
        with open_source(engine, records, "records") as ids:
            return read(source, more_ids=ids), ids.reference


def _no_source(name: str) -> InputError:
    return InputError(f"The source of the release {name!r} is not in this database.", code="no_source")


def _here(engine: Engine, reference: str | None) -> str | None:
    """A reference of ``reference_of`` qualified by the current name of the owner's database: attached databases may have
    tables of the same name."""
    if reference is None:
        return None
    table = exp.to_table(reference, dialect="duckdb")
    if not table.catalog:
        table.set("catalog", exp.to_identifier(current_catalog(engine), quoted=True))
    return table.sql(dialect="duckdb")


def source_of(engine: Engine, entry: ledger.LedgerEntry, view: ledger.View | None) -> Any:
    """The source of a release: the query of its view, or the name of a table.

    Raises:
        InputError: ``no_source``: data frames are not kept, and a file may be gone.
    """
    if view is not None:
        return view_policy(engine, view).transactions
    if entry.source_reference is None:
        noted = entry.parameters.get("source_file")
        if noted is None or not Path(noted["path"]).is_file():
            raise _no_source(entry.name)
        return Path(noted["path"])
    return _here(engine, entry.source_reference)


def rows_of(engine: Engine, entry: ledger.LedgerEntry, view: ledger.View | None) -> Any:
    """The source of a release, with how it was read; errors are those of ``source_of``."""
    options = {name: entry.parameters[name] for name in READING if name in entry.parameters}
    return read_as(source_of(engine, entry, view), options)


def records_of(engine: Engine, entry: ledger.LedgerEntry) -> Any:
    """The table of a release's records; None without records, or if they were a file or a data frame."""
    view = ledger.view_of(engine, current_catalog(engine), entry.release_id)
    return _here(engine, entry.parameters.get("records")) if view is None else view_policy(engine, view).records


def view_policy(engine: Engine, view: ledger.View, replace: bool = False) -> Policy:
    """The policy of an anonymized view: its query is the source, and the release has the name of the view."""
    source = QuerySource(view.query, f"the query of the view {view.name!r}", view.table, view.partition)
    return options.view_policy(view.release, source, view.options, replace=replace)


def measure_release(engine: DuckDBEngine, name: str, workload: Workload) -> Accuracy:
    """Measure the accuracy of an existing release on its current source, and store the answers in the ledger.

    Raises:
        InputError: the release or its source does not exist (files and data frames are not kept).
    """
    catalog = current_catalog(engine)
    if not workload.queries and workload.table is None:
        raise InputError("There is no query to measure.", code="bad_parameter", hint="Raise --queries.")
    with engine.transaction():
        whole = find_whole(engine, name)
        check_writable(engine, catalog)
        entry, dataset = load_source(engine, name)
        queries = queries_of(engine, dataset, workload, partial(generalized_members, engine, whole.schema, dataset))
        unchanged = dataset.n_transactions == int(whole.manifest["transactions"]) and (
            entry.fingerprint == fingerprint(engine, dataset)
        )
        accuracy = measure_on(engine, dataset, whole.schema, whole.kind, whole.manifest, queries, must_hold=unchanged)
        ledger.ensure(engine, catalog)
        ledger.record_accuracy(engine, catalog, entry.name, entry.release_id, accuracy.answers, called(queries))
        return accuracy


def measure_release_rules(engine: DuckDBEngine, name: str, thresholds: RuleThresholds, seed: int = 0) -> RuleAccuracy:
    """Compare the association rules of one reconstruction of an anatomy with those of its current source.

    Raises:
        InputError: the release does not exist or is not an anatomy, or its source or mlxtend is missing.
    """
    with engine.transaction():
        schema = find_release(engine, name)
        if release_kind(engine, schema) is not ANATOMY:
            raise InputError(f"The release {name!r} is not an anatomy: mine its transactions directly.")
        _, dataset = load_source(engine, name)
        return measure_rules(engine, dataset, schema, thresholds, seed)


def publish_release(
    engine: DuckDBEngine,
    name: str,
    path: str | Place,
    *,
    replace: bool = False,
    allow_overlap: bool = False,
    proof: str | None = None,
    include_constraints: bool = False,
    verified: RowSums | None = None,
    format: str = targets.FORMATS[0],
    **written: Any,
) -> PublishedFile:
    """Seal a release into a new file, a folder or a schema of PostgreSQL, and check the sealed rows first (``seal``).

    The ledger records the publication. Unless ``allow_overlap``, a release that shares persons with a different earlier
    publication is refused; else both are compared. A run over files has no ledger and makes no such check.

    Raises:
        InputError: ``overlap``; the release does not exist; the path or the directory of the proof cannot be written.
        VerificationFailed: the sealed rows do not keep the promise.
        EngineError: disk, memory, or a lock.
    """
    from anondb.promises.proof_pack import proof_directory, write_proof
    from anondb.promises.spec import Shown

    targets.check_proof(path, proof, format)
    targets.check_target(engine, path, replace, format)
    catalog = current_catalog(engine)
    before = earlier_of(engine, name)
    if before and not allow_overlap:
        raise overlap.refused(name, before)
    intersections = measured(engine, name, before)
    with engine.transaction():
        release = find_whole(engine, name)
        manifest = release.manifest
        known = ledger.knowledge_of(engine, catalog, manifest["release_id"])
        shown = Shown("pgen" if known.privacy == "pgen" else None)
        if include_constraints:
            shown = Shown(known.privacy, known.sensitive or ())
        place = None
        if proof is not None:
            shown = replace_fields(shown, values=value_columns(engine, release.schema))
            place = proof_directory(proof, manifest, shown)
        file = seal(
            engine,
            name,
            release,
            path,
            intersections,
            verified,
            replace=replace,
            allow_overlap=allow_overlap,
            known=known,
            format=format,
            **written,
        )
    if place is not None:
        write_proof(place, manifest, (file.sha256, file.content_digest), shown, written.get("mode"))
    return replace_fields(file, proof=place)


def seal(
    engine: DuckDBEngine,
    name: str,
    release: StoredRelease,
    path: str | Place,
    intersections: Sequence[Intersection],
    verified: RowSums | None = None,
    *,
    replace: bool,
    allow_overlap: bool,
    known: Knowledge | None = None,
    **written: Any,
) -> PublishedFile:
    """Seal a release into its file, verify the sealed rows, and record the publication and its ``intersections`` with
    earlier ones in the ledger. Call it inside ``engine.transaction()``: the file comes last.

    If the release still has the rows that were ``verified`` in this process, the sealed rows are compared with these.
    ``known`` (the inputs of its check other than its rows) is read from the ledger unless the caller has it. ``written``
    says how the file is written (``targets.how``).

    Raises:
        AnondbError: see ``publish_release``; nothing was written.
    """
    catalog = current_catalog(engine)
    model = model_of(release.manifest)
    checked_with = ledger.knowledge_of(engine, catalog, release.manifest["release_id"]) if known is None else known
    if not engine.one_shot:
        check_writable(engine, catalog)

    def check(sealed: DuckDBEngine, sealed_schema: SchemaName) -> None:
        with sealed.transaction():
            if not verify_release(sealed, sealed_schema, model, kind=release.kind, knowledge=checked_with).verified:
                raise VerificationFailed("The sealed rows do not keep the promise; the file was not published.")

    how: dict[str, Any] = {"replace": replace, "check": check, "verified": verified, **written}
    file = targets.publish(engine, release.schema, path, release.kind, **how)
    if not engine.one_shot:
        smallest = [i.smallest for i in intersections if i.smallest is not None]
        publications.record_publication(
            engine,
            catalog,
            Publication(
                name=name,
                release_id=file.release_id,
                file=file.name,
                transactions=file.transactions,
                rows=file.rows,
                sha256=file.sha256,
                content_digest=file.content_digest,
                allowed_overlap=allow_overlap,
                smallest_candidates=min(smallest) if smallest else None,
            ),
        )
        publications.record_overlaps(engine, catalog, name, file.release_id, intersections)
    remarks = (*file.remarks, *without_ledger(engine, catalog), *overlap.stated(engine, catalog, file.release_id))
    return replace_fields(file, intersections=tuple(intersections), remarks=remarks)


def reference_of(engine: Engine, table: Table | None) -> str | None:
    """The reference of a source: its name without the owner's database, whose file may be renamed."""
    if table is None or table.catalog == "temp":
        return None
    name = table.expression()
    if table.catalog == current_catalog(engine):
        name.set("catalog", None)
    return name.sql(dialect="duckdb")


def check_source_not_published(engine: DuckDBEngine, policy: Policy) -> None:
    """Raise an ``InputError``, before the long work, if an earlier publication contains persons of a policy's source.

    Raises:
        InputError: ``overlap``.
    """
    catalog = current_catalog(engine)
    is_table = isinstance(policy.transactions, str) and not is_file(policy.transactions)
    if engine.one_shot or not is_table or not publications.publications(engine, catalog):
        return
    with engine.transaction():
        if engine.runs_sql:
            dataset, _ = read_persons(engine, policy)
            before: Sequence[Any] = overlap.earlier(engine, catalog, dataset.ids, None, policy.population)
        else:  # the persons would have to be fetched: they are compared when the release is made
            reference = reference_of(engine, resolve_table(engine, policy.transactions, "transactions"))
            known = overlap.published_before(engine, catalog, None, policy.population)
            before = [e for e in known if e.source_reference == reference]
        if before:
            raise overlap.refused(policy.name or str(policy.transactions), before)


def earlier_of(engine: DuckDBEngine, name: str) -> list[overlap.Earlier]:
    """The other publications that contain persons of a release; none in a run over files."""
    catalog = current_catalog(engine)
    if engine.one_shot or not publications.publications(engine, catalog):
        return []
    with engine.transaction():
        return overlap.earlier(engine, catalog, find_whole(engine, name).manifest["release_id"])


def measured(engine: DuckDBEngine, name: str, before: Sequence[overlap.Earlier]) -> list[Intersection]:
    """Compare a release with each of these publications. Its source is read, if possible, in a separate transaction, because
    an unreadable source ends its transaction."""
    if not before:
        return []
    catalog = current_catalog(engine)
    entry = ledger.find(engine, catalog, name)
    if entry is None or not entry.parameters.get("on_engine"):  # else its source is not fetched for this
        with contextlib.suppress(InputError, EngineError, InternalError), engine.transaction():
            return overlap.measure(engine, catalog, find_release(engine, name), before, load_source(engine, name)[1])
    with engine.transaction():
        return overlap.measure(engine, catalog, find_release(engine, name), before, None)
