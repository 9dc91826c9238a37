"""Publish releases: check earlier publications of the same persons, seal the rows, verify them, and record all of it."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any

from anondb.data.sources import is_file, resolve_table
from anondb.engine import DuckDBEngine, reads
from anondb.engine.elsewhere import warehouse_at
from anondb.engine.texts import sql
from anondb.errors import EngineError, InputError, InternalError, VerificationFailed
from anondb.ledger import ledger, stored
from anondb.ledger.tables import PUBLICATIONS
from anondb.models.named import model_of
from anondb.policy import Policy
from anondb.promises.check import verify_release
from anondb.promises.proof_pack import proof_directory, write_proof
from anondb.promises.spec import Shown
from anondb.publications import history, overlap, targets
from anondb.publications.history import Intersection, Publication, PublishedFile
from anondb.release.objects import SchemaName, StoredRelease
from anondb.release.row_sums import RowSums
from anondb.warehouse.postgres.place import Place


def without_ledger(engine: DuckDBEngine, catalog: str) -> tuple[str, ...]:
    """A remark if nothing will be known of a publication later: the ledger is in memory, or there is none."""
    if engine.one_shot:
        return ("A run over files has no ledger: earlier publications of these persons are unknown.",)
    unfiled = "coalesce(bool_and(path IS NULL OR path = ''), false) AS in_memory"
    here = sql("database_name = {}", catalog)
    if engine.runs_sql and engine.scalar(reads.rows(reads.system("duckdb_databases"), unfiled, where=here)):
        words = "The ledger is in memory and ends with the connection, so later publications of these persons are not"
        return (f"{words} compared with this one: keep it in a file.",)
    return ()


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
    """Seal a release into a new file, a folder or a schema of PostgreSQL, and check the sealed rows first (``seal``). The
    ledger records the publication. Unless ``allow_overlap``, a release that shares persons with a different earlier
    publication is refused; else both are compared. A run over files has no ledger and makes no such check. Raises
    InputError: ``overlap``; the release does not exist; the path or the directory of the proof cannot be written.
    VerificationFailed: the sealed rows do not keep the promise. EngineError: disk, memory, or a lock."""
    if include_constraints and proof is None:
        raise InputError("--include-constraints needs --proof.", code="bad_usage")
    targets.check_proof(path, proof, format)
    targets.check_target(engine, path, replace, format)
    before = earlier_of(engine, name)
    if before and not allow_overlap:
        raise overlap.refused(name, before)
    intersections = intersections_of(engine, name, before, note=engine.runs_sql)
    with engine.transaction():
        release = stored.find_whole(engine, name)
        if proof is not None:
            check_proof(engine, release, proof, include_constraints)
        written |= {"replace": replace, "allow_overlap": allow_overlap, "format": format}
        file = seal(engine, name, release, path, intersections, verified, **written)
    if proof is None:
        return file
    digests, mode = (file.sha256, file.content_digest), written.get("mode")
    return replace_fields(file, proof=prove(engine, name, proof, digests, mode, include_constraints))


def check_proof(
    engine: DuckDBEngine, release: StoredRelease, proof: str, include_constraints: bool = False
) -> tuple[Path, Shown]:
    """The folder of the proof of a release, and what the proof shows. Call it inside ``engine.transaction()``."""
    knowledge = ledger.knowledge_of(engine, stored.current_catalog(engine), release.release_id)
    shown = Shown("pgen" if knowledge.privacy == "pgen" else None, values=release.kind.values)
    if include_constraints:
        shown = Shown(knowledge.privacy, knowledge.sensitive or (), release.kind.values)
    return proof_directory(proof, release.manifest, shown), shown


def prove(
    engine: DuckDBEngine,
    name: str,
    proof: str,
    digests: tuple[str, str],
    mode: int | None = None,
    include_constraints: bool = False,
) -> Path:
    """Write the proof of a release that was published, with the digests of its file; replace an earlier proof."""
    with engine.transaction():
        release = stored.find_whole(engine, name)
        place, shown = check_proof(engine, release, proof, include_constraints)
    write_proof(place, release.manifest, digests, shown, mode)
    return place


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
    **written: Any,
) -> PublishedFile:
    """Seal a release into its file, verify the sealed rows, and record the publication and its ``intersections`` with
    earlier ones in the ledger. Call it inside ``engine.transaction()``: the file comes last. If the release still has the
    rows that were ``verified`` in this process, the sealed rows are compared with these. ``written`` says how the file is
    written (``targets.how``)."""
    catalog = stored.current_catalog(engine)
    model = model_of(release.manifest)
    checked_with = ledger.knowledge_of(engine, catalog, release.release_id)
    if not engine.one_shot:
        stored.check_writable(engine, catalog)

    def check(sealed: DuckDBEngine, sealed_schema: SchemaName) -> None:
        with sealed.transaction():
            if not verify_release(sealed, sealed_schema, model, kind=release.kind, knowledge=checked_with).verified:
                raise VerificationFailed("The sealed rows do not keep the promise; the file was not published.")

    how: dict[str, Any] = {"replace": replace, "check": check, "verified": verified, **written}
    file = targets.publish(engine, release.schema, path, release.kind, **how)
    if not engine.one_shot:
        smallest = [i.smallest for i in intersections if i.smallest is not None]
        figures = ("release_id", "transactions", "rows", "sha256", "content_digest")
        stated: dict[str, Any] = {figure: getattr(file, figure) for figure in figures}
        fewest = min(smallest) if smallest else None
        publication = Publication(name, file=file.name, allowed_overlap=allow_overlap, smallest_candidates=fewest, **stated)
        ledger.ensure(engine, catalog)
        PUBLICATIONS.append(engine, catalog, [vars(publication)])
        history.record_overlaps(engine, catalog, name, file.release_id, intersections)
    remarks = (*file.remarks, *without_ledger(engine, catalog), *overlap.stated(engine, catalog, file.release_id))
    return PublishedFile(**vars(file) | {"intersections": tuple(intersections), "remarks": remarks})


def check_source_not_published(engine: DuckDBEngine, policy: Policy) -> None:
    """Raise an ``InputError``, before the long work, if an earlier publication contains persons of a policy's source. Raises
    InputError: ``overlap``."""
    catalog = stored.current_catalog(engine)
    # rows of another database are not fetched for this: there, the release alone says whose it is
    source = policy.transactions
    is_table = isinstance(source, str) and not is_file(source) and warehouse_at(source) is None
    if engine.one_shot or not is_table or not history.publications(engine, catalog):
        return
    with engine.transaction():
        if engine.runs_sql:
            dataset, _ = stored.read_persons(engine, policy)
            before: Sequence[Any] = overlap.earlier(engine, catalog, dataset.ids, None, policy.population)
        else:  # the persons would have to be fetched: they are compared when the release is made
            reference = stored.reference_of(engine, resolve_table(engine, policy.transactions, "transactions"))
            published = overlap.published_before(engine, catalog, None, policy.population)
            before = [e for e in published if e.source_reference == reference]
        if before:
            raise overlap.refused(policy.name or str(policy.transactions), before)


def earlier_of(engine: DuckDBEngine, name: str) -> list[overlap.Earlier]:
    """The other publications that contain persons of a release; none in a run over files."""
    catalog = stored.current_catalog(engine)
    if engine.one_shot or not history.publications(engine, catalog):
        return []
    with engine.transaction():
        return overlap.earlier(engine, catalog, stored.find_whole(engine, name).release_id)


def intersections_of(
    engine: DuckDBEngine, name: str, before: Sequence[overlap.Earlier], *, note: bool = False
) -> list[Intersection]:
    """Compare a release with each of these publications; ``note`` is that of ``overlap.measure``. Its source is read, if
    possible, in a separate transaction, because an unreadable source ends its transaction."""
    if not before:
        return []
    catalog = stored.current_catalog(engine)
    entry = ledger.find(engine, catalog, name)
    if entry is None or not entry.parameters.get("on_engine"):  # else its source is not fetched for this
        with contextlib.suppress(InputError, EngineError, InternalError), engine.transaction():
            schema, data = stored.find_release(engine, name), stored.load_source(engine, name)[1]
            return overlap.measure(engine, catalog, schema, before, data, note=note)
    with engine.transaction():
        return overlap.measure(engine, catalog, stored.find_release(engine, name), before, None, note=note)
