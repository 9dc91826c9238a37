"""The owner's database: what can be done with it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from anondb.api.before import BeforeRelease
from anondb.api.release import Release, target_of
from anondb.data import preflight
from anondb.engine import DuckDBEngine
from anondb.engine.limit import check_seconds
from anondb.engine.trees import exp
from anondb.errors import AnondbError, InputError, quote_list
from anondb.ledger import ledger, stored
from anondb.models import Model, check_count
from anondb.models.anatomy import Anatomy
from anondb.models.named import MODELS, model_of
from anondb.models.transactional import KmAnonymity
from anondb.options import PUBLICATION, policy_of
from anondb.pipeline import reports
from anondb.pipeline.anonymize import anonymize as run
from anondb.pipeline.clock import Clock
from anondb.policy import SOURCES, Policy
from anondb.promises import check as checks
from anondb.promises.spec import Knowledge
from anondb.publications import history, targets
from anondb.publications import published_rows as published
from anondb.publications.publish import check_source_not_published
from anondb.reading.options import DETECTED, ReadAs, as_read, read_as
from anondb.release.objects import read_manifest
from anondb.verify import Verification

if TYPE_CHECKING:
    import duckdb

    from anondb.publications.history import Publication
    from anondb.risk.explain import Explanation
    from anondb.views.results import Check, Result
    from anondb.views.script import StatementResult


class Database(BeforeRelease):
    """The owner's database: a DuckDB file that anondb opens, or a connection passed in.

    anondb never closes or reconfigures a connection that is passed in, and leaves no temporary objects in it.
    """

    def __repr__(self) -> str:
        """The name of the database and its releases."""
        with contextlib.suppress(AnondbError, RuntimeError):  # a closed one
            names = [e.name for e in self.releases() if e.status == ledger.PRESENT]
            releases = quote_list(names) if names else "none"
            return f"<database {stored.current_catalog(self.engine)!r}, releases: {releases}>"
        return "<database, closed>"

    def anonymize(
        self,
        transactions: Any,
        *,
        model: Model | str | None = None,
        name: str | None = None,
        replace: bool = False,
        publish: str | os.PathLike[str] | None = None,
        time_limit: float | None = None,
        resume: bool = False,
        **options: Any,
    ) -> Release:
        """Anonymize transactions and freeze a verified release in this database.

        Args:
            transactions: a table or view by name, a data file, a pandas data frame or an Arrow table, with an id and an
                item column (which may be a LIST).
            model: the promise, or its name, with its parameters among the options; k^m-anonymity with k=5, m=2 by default.
            name: the name of the release; by default that of the source.
            replace: whether to replace a release of the same name.
            publish: also seal the release into this file or folder, or ``postgresql://HOST/DATABASE/SCHEMA``.
            time_limit: the seconds until the release must be made; nothing is kept after that. Sealing is not limited.
            resume: keep the results of finished steps in the schema ``anondb_work`` until the release is made, and go on
                from those of an earlier run with the same data and options.
            options: ``taxonomy``, ``algorithm``, ``id``, ``item``, ``max_suppression`` and so on, and the options of the
                algorithm, as in ``anondb anonymize --help`` and ``anondb algorithms NAME``, with ``_`` for ``-``:
                also those of the workload that measures accuracy (``queries``, ``size``, ``seed``, ``draw``, ``workload``)
                and of publishing (``allow_overlap``, ``analysts``, ``counters``, ``same_database``, ``mode``,
                ``format``, ``sign``, ``proof``, as in ``Release.publish``).

        Raises:
            InputError, InfeasibleError, VerificationFailed, EngineError: see ``anondb.errors``; the database is unchanged.
        """
        publication = {option: options.pop(option) for option in PUBLICATION if option in options}
        if isinstance(model, str):
            options["model"], promise = model, None
        else:
            promise = model or KmAnonymity()
        policy = policy_of(transactions, options, model=promise, name=name, replace=replace)
        self._check_publication(policy, publish, publication)
        clock = Clock(limit=check_seconds(time_limit))
        with self._noting_committed_release():
            report = run(self.engine, policy, sums=publish is not None, clock=clock, resume=resume)
            release = Release(self, report.release, report)
            if publish is not None:
                with clock.step(self.engine, "publish", "publishing") as counts, _kept(report.release):
                    rows = policy.modelled_rows
                    accept = preflight.FINDINGS if rows else ()  # the pipeline had them confirmed
                    file = release.publish(publish, replace=replace, modelled_rows=rows, accept=accept, **publication)
                    counts["bytes"] = file.size
                release._report = reports.published(dataclasses.replace(report, seconds=clock.report()), file)
        return release

    def _check_publication(self, policy: Policy, where: Any, publication: Mapping[str, Any]) -> None:
        """Check, before the long work, that a release can be published in this way, and that no source is the target."""
        written = targets.how(where, {**publication, "modelled_rows": policy.modelled_rows})
        if where is None:
            return
        place = target_of(
            where, publication.get("analysts"), publication.get("counters"), bool(publication.get("same_database"))
        )
        targets.check_target(self.engine, place, policy.replace, written["format"])
        named = (policy.transactions, policy.workload.table, *(getattr(policy, name) for name in SOURCES))
        _check_not_a_source(where, *named, *policy.options.values())
        if not publication.get("allow_overlap"):
            check_source_not_published(self.engine, policy)

    @contextlib.contextmanager
    def _noting_committed_release(self) -> Iterator[None]:
        """After Ctrl-C, add a note to the KeyboardInterrupt if a release was already committed."""
        begun = ledger.now()
        try:
            yield
        except KeyboardInterrupt as stopped:
            with contextlib.suppress(AnondbError):
                for entry in self.releases():
                    if entry.created >= begun and entry.status == ledger.PRESENT:
                        stopped.add_note(
                            f"The release {entry.name!r} had been made and verified before that, and is kept; if it was to"
                            " be published, publish it again."
                        )
            raise

    def verify(
        self,
        transactions: Any = None,
        *,
        release: str | None = None,
        buckets: Any = None,
        model: Model | None = None,
        id: str = "tid",
        item: str = "item",
        bag_input: bool = False,
        witnesses: int = 0,
        privacy_constraints: Any = None,
        sensitive: Any = None,
        records: Any = None,
        quasi_identifiers: Any = None,
        on_engine: bool = False,
        **reading: Any,
    ) -> Verification:
        """Check any transactions, or the frozen rows of a release, against a model (by default the release's model).

        Args:
            transactions: the transactions; with ``buckets``, the optional original.
            release: the name of a release in this database.
            buckets: for an anatomy: a table ``(bucket_id, column_id, items, copies)``.
            model: the promise.
            id, item: the columns of the transactions.
            bag_input: for the model k: count rows that repeat an item of the same transaction.
            witnesses: the maximum number of violations to return.
            privacy_constraints: for the model constraints: a table, file or data frame ``(constraint_id, item)``, or
                ``pgen``; by default the constraints that the release was made with.
            sensitive: the private items of hkp (by default those that the release was made with), or the sensitive items of
                transactions checked against kkm or klm.
            records, quasi_identifiers: for transactions checked against kkm or klm: the records of their persons, and the
                columns to compare, unchanged. Releases already contain these values.
            on_engine: check a table inside PostgreSQL, without fetching it; for km and k, without ``witnesses``.
            reading: how the transactions are read (``anondb.reading.options.Reading``).
        """
        rows = None if transactions is None else read_as(transactions, reading, id=id, item=item)
        knowledge = {"privacy_constraints": privacy_constraints, "sensitive": sensitive}
        people = {"records": records, "quasi_identifiers": quasi_identifiers}
        with_people = any(value is not None for value in people.values())
        check_asked(rows, release, buckets, model, bag_input, with_people)
        witnesses = int(check_count("witnesses", witnesses, low=0))
        if on_engine:
            others = (release, buckets, *knowledge.values(), *people.values())
            more = any(other is not None for other in others) or bag_input or witnesses
            return verify_there(self.engine, as_read(rows), model, more)
        if release is not None:
            return verify_release(self.engine, release, model, witnesses, **knowledge)
        if buckets is not None:
            promise = model if isinstance(model, Anatomy) else Anatomy()
            return checks.verify_buckets(self.engine, buckets, promise, rows, witnesses=witnesses)
        how: dict[str, Any] = {**knowledge, **people, "bag_input": bag_input, "witnesses": witnesses}
        return checks.verify_source(self.engine, rows, model or KmAnonymity(), **how)

    def sql(self, text: str) -> duckdb.DuckDBPyRelation | Result | None:
        """Run ordinary SQL, mixed with statements of anonymized views (``anondb.statements``).

        The whole text is parsed before any statement runs; the first error stops the run.

        Returns:
            The result of the last statement: a relation for ordinary SQL with rows, a ``Result`` (``words``, ``columns``,
            ``fetchall()``, ``to_json()``) for a statement of anonymized views, else None.

        Raises:
            InputError: ``syntax_error`` with line and column; ``sql_error`` if DuckDB refused a statement.
            AnondbError: the error of the first statement that fails; ``place`` has its number and line.
        """
        from anondb.views import script as runner

        with self._noting_committed_release():
            return runner.sql(self.engine, text)

    def run(self, text: str) -> Iterator[StatementResult]:
        """Run SQL as ``sql`` does, and yield the result of every statement when it is done."""
        from anondb.views import script as runner

        with self._noting_committed_release():
            yield from runner.run(self.engine, text)

    def check_view(self, name: str, *, model: Model | None = None, witnesses: int = 0) -> Check:
        """Check whether the current data still keep the policy of a view or release under its recoding, without writing."""
        from anondb.views.check import check_view

        return check_view(self.engine, name, model=model, witnesses=witnesses)

    def explain(self, release: str, item: str) -> Explanation:
        """Explain the released form of an item.

        Raises:
            InputError: the release does not exist, or neither it nor its taxonomy contains the item.
        """
        from anondb.risk.explain import explain

        return explain(self.engine, release, item)

    def release(self, name: str) -> Release:
        """An existing release.

        Raises:
            InputError: no release of this name exists.
        """
        stored.find_release(self.engine, name)
        return Release(self, name)

    def releases(self) -> list[ledger.LedgerEntry]:
        """The ledger's releases, including dropped ones, oldest first."""
        self.engine.look_again()
        return ledger.entries(self.engine, stored.current_catalog(self.engine))

    def publications(self) -> list[Publication]:
        """The ledger's publications (sealed files), oldest first."""
        self.engine.look_again()
        return history.publications(self.engine, stored.current_catalog(self.engine))

    def drop(self, name: str) -> None:
        """Drop a release; keep its ledger entry, and its rows if they were published.

        Raises:
            InputError: the release does not exist, or the database is open read-only.
        """
        catalog = stored.current_catalog(self.engine)
        with self.engine.transaction():
            stored.check_writable(self.engine, catalog)
            published.drop_release(self.engine, catalog, name)

    def relation(self, query: exp.Query) -> duckdb.DuckDBPyRelation:
        """A query tree as a DuckDB relation of this connection."""
        return self.engine.relation(query)


@contextlib.contextmanager
def _kept(name: str) -> Iterator[None]:
    """Add to the error of a publication that the release was made."""
    try:
        yield
    except AnondbError as error:
        words = str(error).removesuffix(f" {error.hint}") if error.hint else str(error)
        kept = f"{words} The release {name!r} was made and is kept; only publishing it failed."
        raise type(error)(kept, code=error.code, hint=error.hint or "Publish it again.") from None


def _check_not_a_source(target: str | os.PathLike[str], *sources: Any) -> None:
    """Raise an ``InputError`` if the sealed file would overwrite a source of the release."""
    for source in (as_read(source).data for source in sources):
        if isinstance(source, str | os.PathLike):
            with contextlib.suppress(OSError, ValueError):
                if os.path.samefile(source, target):
                    raise InputError("The sealed file would replace its own source.", code="target_in_use")


def check_asked(
    rows: Any, release: str | None, buckets: Any, model: Model | None, bag_input: bool, with_people: bool
) -> None:
    """Refuse arguments of ``Database.verify`` that do not go together.

    Raises:
        InputError: ``bad_usage``; ``bad_parameter``: the model is none.
    """
    if (release is None) == (rows is None and buckets is None):
        raise InputError("Say what to verify: transactions, buckets, or a release.", code="bad_usage")
    if model is not None and (isinstance(model, type) or getattr(model, "name", None) not in MODELS):
        raise InputError(
            f"The model must be one of anondb's, such as KmAnonymity(k=5, m=2), not {type(model).__name__}.",
            code="bad_parameter",
        )
    if bag_input and (release is not None or model is None or model.name != "k"):
        raise InputError("bag_input needs transactions and the model k.", code="bad_usage")
    if with_people and rows is None:
        raise InputError("records and quasi_identifiers need transactions.", code="bad_usage")
    if buckets is not None and not isinstance(model, Anatomy | None):
        raise InputError("Buckets are checked against an Anatomy.", code="bad_usage")


def verify_there(engine: DuckDBEngine, rows: ReadAs, model: Model | None, more: Any) -> Verification:
    """Verify a table in its database."""
    from anondb.pipeline.on_engine import there, verify_on

    if more or not isinstance(rows.data, str) or rows.reading != DETECTED:
        raise InputError(
            "Inside the database a table is verified by its rows alone, without witnesses.",
            code="not_on_engine",
            hint="Leave on_engine out: then the table is fetched.",
        )
    with engine.transaction():
        warehouse, reference = there(engine, rows.data)
        return verify_on(warehouse, reference, model or KmAnonymity(), id_column=rows.id, item_column=rows.item)


def verify_release(
    engine: DuckDBEngine, name: str, model: Model | None, witnesses: int, privacy_constraints: Any, sensitive: Any
) -> Verification:
    """Verify the frozen rows of a release with the named constraints and items or, by default, those that it was made
    with."""
    with engine.transaction():
        schema = stored.find_release(engine, name)
        manifest = read_manifest(engine, schema)
        promised = model or model_of(manifest)
        named = checks.read_knowledge(engine, promised, privacy_constraints, sensitive)
        noted = ledger.knowledge_of(engine, schema.catalog, manifest["release_id"])
        knowledge = Knowledge(
            noted.privacy if named.privacy is None else named.privacy,
            noted.sensitive if named.sensitive is None else named.sensitive,
        )
        return checks.verify_release(engine, schema, promised, witnesses, knowledge=knowledge)
