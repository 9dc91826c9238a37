"""The Python interface: a database, and the releases in it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from anondb import pipeline
from anondb.engine import DuckDBEngine
from anondb.errors import AnondbError, InputError
from anondb.models import Model, check_count
from anondb.models.anatomy import Anatomy
from anondb.models.km import KmAnonymity
from anondb.models.named import MODELS, model_of
from anondb.options import policy_of
from anondb.owner import ledger, publications
from anondb.owner import published_rows as published
from anondb.owner import releases as stored
from anondb.policy import Workload
from anondb.promises import check as checks
from anondb.promises.spec import Knowledge
from anondb.release.objects import SchemaName, read_manifest
from anondb.release.paths import check_target
from anondb.utility import Accuracy, Loss
from anondb.verify import Verification

if TYPE_CHECKING:
    from anondb.owner.attack import Attack
    from anondb.owner.explain import Explanation
    from anondb.owner.publications import Publication
    from anondb.owner.script import StatementResult
    from anondb.owner.view_results import Check, Result
    from anondb.query import Answer, OpenRelease
    from anondb.release.publish import PublishedFile
    from anondb.utility.rules import RuleAccuracy


class Release:
    """A release in the owner's database.

    Attributes:
        name: what the owner calls it.
        report: the report of the run that made it; None for a release made earlier.
    """

    def __init__(self, database: Database, name: str, report: pipeline.Report | None = None) -> None:
        self._database = database
        self.name = name
        self.report = report
        self._opened: OpenRelease | None = None

    @property
    def verification(self) -> Verification:
        """Whether the frozen rows keep the promise; checked anew for a release made earlier."""
        if self.report is not None:
            return self.report.verification
        return self._database.verify(release=self.name)

    @property
    def loss(self) -> Loss:
        """Information loss; of a release made earlier as the ledger has it.

        Raises:
            InputError: ``no_report``: the ledger does not know the release.
        """
        if self.report is not None:
            return self.report.loss
        entry = ledger.find(self._database.engine, stored.current_catalog(self._database.engine), self.name)
        if entry is None:
            raise InputError(f"The ledger has no figures of the release {self.name!r}.", code="no_report")
        exact = {n: None if (text := getattr(entry, n)) is None else Fraction(text) for n in ("lm_total", "ggd")}
        return Loss(lm=entry.lm, ncp=entry.ncp, ul=entry.ul, ul_log2=entry.ul_log2, **exact)

    @property
    def accuracy(self) -> Accuracy:
        """Accuracy on the workload of the run that made it; for others see ``measure``.

        Raises:
            InputError: ``no_report``: the release was made earlier; the answers of that run are in ``anondb.accuracy``.
        """
        if self.report is None:
            raise InputError(
                f"The accuracy of {self.name!r} was measured in an earlier session.",
                code="no_report",
                hint="Measure it again with measure(), or see the table anondb.accuracy.",
            )
        return self.report.accuracy

    def measure(
        self, workload: Any = None, *, queries: int = 1000, size: int = 2, seed: int = 0, draw: str = "all"
    ) -> Accuracy:
        """Accuracy on another workload: the owner's own table, or a random one; answers go to ``anondb.accuracy``."""
        wanted = Workload(queries, size, seed, draw, own=workload)
        return stored.measure_release(self._database.engine, self.name, wanted)

    def rules(
        self, min_support: int, min_confidence: Any = "1/5", *, min_length: int = 2, max_length: int = 4, seed: int = 0
    ) -> RuleAccuracy:
        """Association rules of one reconstruction of an anatomy beside those of its source as it is now.

        Args:
            min_support: in how many transactions a rule's items must be.
            min_confidence: from 0 to 1, exact, such as ``"4/5"``.
            min_length, max_length: how many items a rule has.
            seed: of the reconstruction.

        Raises:
            InputError: no anatomy, its source cannot be found again, or mlxtend is missing.
        """
        from anondb.utility.rules import RuleThresholds

        thresholds = RuleThresholds(min_support, Fraction(min_confidence), min_length, max_length)
        return stored.measure_release_rules(self._database.engine, self.name, thresholds, seed)

    def publish(
        self,
        path: str | os.PathLike[str],
        *,
        replace: bool = False,
        allow_overlap: bool = False,
        proof: str | os.PathLike[str] | None = None,
        include_constraints: bool = False,
    ) -> PublishedFile:
        """Seal the release into a new file of its own, under fresh transaction ids.

        Args:
            path: the file.
            replace: whether a file of this name gives way.
            allow_overlap: whether persons may be in it of whom another release was published before; what readers of
                both learn is then measured (``PublishedFile.intersections``).
            proof: a directory for the proof pack: SQL with which anybody checks the promise, and a page on what it shows.
            include_constraints: whether privacy constraints that the owner wrote may be in the proof.

        Raises:
            InputError: ``overlap``, and as ``check_target`` says.
        """
        return stored.publish_release(
            self._database.engine,
            self.name,
            _path(path),
            replace=replace,
            allow_overlap=allow_overlap,
            proof=None if proof is None else _path(proof),
            include_constraints=include_constraints,
        )

    def attack(self, *, individuals: int = 1000, known: int | None = None, seed: int = 0) -> Attack:
        """A simulated attacker who knows items, and relational values, of real persons: how many candidates the source and
        the release leave.

        Args:
            individuals: how many persons are drawn.
            known: how many of its items the attacker knows of each; by default as many as the promise speaks of.
            seed: of the draw.
        """
        from anondb.owner.attack import attack

        return attack(self._database.engine, self.name, individuals=individuals, known=known, seed=seed)

    def query(self, sql: str) -> Answer:
        """Answer a COUNT query, written for the original table, from this release: lower bound, estimate, upper bound.

        Raises:
            InputError: ``unsupported_query``, naming the construct that cannot be answered soundly.
        """
        from anondb.query import OpenRelease

        if self._opened is None:
            self._opened = OpenRelease(self._database.engine, self._schema())
        try:
            return self._opened.answer(sql)
        except InputError as error:
            if error.code == "not_a_release":
                self._opened = None
                self._schema()  # says what is missing
            raise

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        """A table or view of the release (``transactions``, ``transaction_ids``, ``released_items``, ``manifest``,
        ``baskets``; of an anatomy ``buckets``, ``released_items``, ``manifest``) as a DuckDB relation."""
        return self._database.relation(exp.select("*").from_(self._schema().table(name).expression()))

    def count_bounds(self, items: list[str]) -> tuple[int, float, int]:
        """Lower bound, estimate and upper bound of the number of transactions that hold all of ``items``."""
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise InputError("count_bounds asks for a list of items, each a text.", code="bad_parameter")
        try:
            "".join(items).encode()
        except UnicodeEncodeError:
            raise InputError("An item is not valid Unicode (a lone surrogate).", code="bad_unicode") from None
        schema = self._schema()
        call = exp.Anonymous(this="count_bounds", expressions=[exp.convert(list(items))])
        source = exp.Table(this=call, db=exp.to_identifier(schema.name, quoted=True))
        found = self._database.engine.select(exp.select("*").from_(source), "count_bounds")
        return int(found["lower_bound"][0]), float(found["estimate"][0]), int(found["upper_bound"][0])

    @property
    def manifest(self) -> dict[str, str]:
        """The manifest of the release."""
        return read_manifest(self._database.engine, self._schema())

    @property
    def statements(self) -> list[str]:
        """The SQL that made the release, in order, as the ledger has it; values are not in it."""
        engine, manifest = self._database.engine, self.manifest
        return publications.statements_of(engine, stored.current_catalog(engine), manifest["release_id"])

    def _schema(self) -> SchemaName:
        return stored.find_release(self._database.engine, self.name)


class Database:
    """The owner's database: a DuckDB file opened here, or a connection that the user has.

    A connection that is passed in is used as it is: never closed, never reconfigured, nothing temporary left.
    """

    def __init__(self, engine: DuckDBEngine) -> None:
        self.engine = engine

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what anondb opened."""
        self.engine.close()

    def anonymize(
        self,
        transactions: Any,
        *,
        model: Model | None = None,
        name: str | None = None,
        queries: int = 1000,
        size: int = 2,
        seed: int = 0,
        draw: str = "all",
        workload: Any = None,
        replace: bool = False,
        publish: str | os.PathLike[str] | None = None,
        allow_overlap: bool = False,
        **options: Any,
    ) -> Release:
        """Anonymize transactions and freeze a verified release in this database.

        Args:
            transactions: a table or view by name, a data file, a pandas data frame or an Arrow table, with an id and an
                item column (which may be a LIST).
            model: the promise; k^m-anonymity with k=5, m=2 by default.
            name: of the release; that of the source by default.
            queries, size, seed, draw, workload: how accuracy is measured (see ``anondb.policy.Workload``).
            replace: whether a release of the same name gives way.
            publish: also seal the release into this file.
            allow_overlap: whether persons may be in it of whom another release was published before (``Release.publish``).
            options: ``taxonomy``, ``algorithm``, ``id``, ``item``, ``max_suppression`` and so on, and those of the
                algorithm: what ``anondb anonymize --help`` and ``anondb algorithms NAME`` list, with ``_`` for ``-``.

        Raises:
            InputError, InfeasibleError, VerificationFailed, EngineError: see ``anondb.errors``; the database is as it was.
        """
        asked = {"queries": queries, "size": size, "seed": seed, "draw": draw, "workload": workload}
        policy = policy_of(
            transactions,
            {**options, **asked},
            model=KmAnonymity() if model is None else model,
            name=name,
            replace=replace,
        )
        if publish is not None:
            check_target(self.engine, _path(publish), replace)
            _check_not_a_source(publish, transactions, workload, *options.values())
            if not allow_overlap:
                stored.check_source_not_published(self.engine, transactions)
        with self._saying_what_stays():
            report = pipeline.anonymize(self.engine, policy)
            release = Release(self, report.release, report)
            if publish is not None:
                begun = time.perf_counter()
                try:
                    file = release.publish(publish, replace=replace, allow_overlap=allow_overlap)
                except AnondbError as error:
                    kept = f"The release {report.release!r} was made and is kept; only publishing it failed"
                    raise type(error)(f"{error} {kept}: publish it again.", code=error.code) from None
                seconds = time.perf_counter() - begun
                release.report = pipeline.published(report, file, seconds, self.engine.one_shot)
        return release

    @contextlib.contextmanager
    def _saying_what_stays(self) -> Iterator[None]:
        """If Ctrl-C comes after a release was committed, a note of the KeyboardInterrupt says that it is there."""
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
    ) -> Verification:
        """Check any transactions, or the frozen rows of a release, against a model (a release's own by default).

        With ``bag_input`` rows that repeat an item of the same transaction count, for the model ``k``.
        An anatomy is checked on ``buckets``: a table ``(bucket_id, column_id, items, copies)``; ``transactions`` are then
        the original, which may be left out. The model constraints is checked against ``privacy_constraints``: a table, file
        or data frame ``(constraint_id, item)``, or ``pgen``; hkp against the private items ``sensitive``; by default those
        that the release was made with. Transactions are checked against kkm and klm with the ``quasi_identifiers`` of their
        persons' ``records`` as they are, and with ``sensitive`` items; releases hold all of these.
        """
        if (release is None) == (transactions is None and buckets is None):
            raise InputError("Say what to verify: transactions, buckets, or a release.", code="bad_usage")
        if model is not None and (isinstance(model, type) or getattr(model, "name", None) not in MODELS):
            raise InputError(
                f"The model must be one of anondb's, such as KmAnonymity(k=5, m=2), not {type(model).__name__}.",
                code="bad_parameter",
            )
        if bag_input and (release is not None or model is None or model.name != "k"):
            raise InputError("bag_input goes with transactions and the model k.", code="bad_usage")
        if (records is not None or quasi_identifiers is not None) and transactions is None:
            raise InputError("records and quasi_identifiers go with transactions.", code="bad_usage")
        if witnesses != 0:
            witnesses = int(check_count("witnesses", witnesses))
        if release is not None:
            with self.engine.transaction():
                schema = stored.find_release(self.engine, release)
                manifest = read_manifest(self.engine, schema)
                promised = model or model_of(manifest)
                named = checks.read_knowledge(self.engine, promised, privacy_constraints, sensitive)
                noted = stored.knowledge_of(self.engine, schema.catalog, manifest["release_id"])
                knowledge = Knowledge(
                    noted.privacy if named.privacy is None else named.privacy,
                    noted.sensitive if named.sensitive is None else named.sensitive,
                )
                return checks.verify_release(self.engine, schema, promised, witnesses, knowledge=knowledge)
        if buckets is not None:
            promise = Anatomy() if model is None else model
            if not isinstance(promise, Anatomy):
                raise InputError("Buckets are checked against an Anatomy.", code="bad_usage")
            return checks.verify_buckets(
                self.engine, buckets, promise, transactions, id=id, item=item, witnesses=witnesses
            )
        return checks.verify_source(
            self.engine,
            transactions,
            model or KmAnonymity(),
            id=id,
            item=item,
            bag_input=bag_input,
            witnesses=witnesses,
            privacy_constraints=privacy_constraints,
            sensitive=sensitive,
            records=records,
            quasi_identifiers=quasi_identifiers,
        )

    def unknown_items(
        self, transactions: Any, taxonomy: Any, *, id: str = "tid", item: str = "item"
    ) -> tuple[str, ...]:
        """The items that are no leaves of a taxonomy, for which ``anonymize`` is refused; sorted.

        Errors never hold an item; this is how an owner finds those that one counts (``unknown_item``, ``internal_item``).
        """
        return checks.unknown_items(self.engine, transactions, taxonomy, id=id, item=item)

    def sql(self, text: str) -> duckdb.DuckDBPyRelation | Result | None:
        """Run SQL: ordinary statements as they are, mixed with those of anonymized views (``anondb.statements``).

        All of the text is parsed before any of it runs; the first error stops it.

        Returns:
            What the last statement returned: a relation where it is ordinary SQL with rows, a ``Result`` (``words``,
            ``columns``, ``fetchall()``, ``to_json()``) where it is about anonymized views, else None.

        Raises:
            InputError: ``syntax_error`` with line and column; ``sql_error`` where DuckDB refused a statement.
            AnondbError: of the first statement that fails; ``place`` has its number and line.
        """
        from anondb.owner import script as runner

        with self._saying_what_stays():
            return runner.sql(self.engine, text)

    def run(self, text: str) -> Iterator[StatementResult]:
        """Run SQL as ``sql`` does, and give the result of every statement when it is done."""
        from anondb.owner import script as runner

        with self._saying_what_stays():
            yield from runner.run(self.engine, text)

    def check_view(self, name: str, *, model: Model | None = None, witnesses: int = 0) -> Check:
        """Whether today's data still keep the policy of a view or release under its recoding; nothing is written."""
        from anondb.owner.view_check import check_view

        return check_view(self.engine, name, model=model, witnesses=witnesses)

    def explain(self, release: str, item: str) -> Explanation:
        """Why an item looks as it does in a release.

        Raises:
            InputError: no such release; or neither its taxonomy nor the release knows the item.
        """
        from anondb.owner.explain import explain

        return explain(self.engine, release, item)

    def release(self, name: str) -> Release:
        """A release that exists.

        Raises:
            InputError: there is none of this name.
        """
        stored.find_release(self.engine, name)
        return Release(self, name)

    def releases(self) -> list[ledger.LedgerEntry]:
        """The ledger: all releases ever made here, dropped ones too, the oldest first."""
        return ledger.entries(self.engine, stored.current_catalog(self.engine))

    def publications(self) -> list[Publication]:
        """The ledger: all sealed files that left, the oldest first."""
        return publications.publications(self.engine, stored.current_catalog(self.engine))

    def drop(self, name: str) -> None:
        """Drop a release; its entry in the ledger stays, and so do its rows if they were published.

        Raises:
            InputError: there is no such release, or the database is open read-only.
        """
        catalog = stored.current_catalog(self.engine)
        with self.engine.transaction():
            stored.check_writable(self.engine, catalog)
            published.drop_release(self.engine, catalog, name)

    def relation(self, query: exp.Query) -> duckdb.DuckDBPyRelation:
        """A query tree as a DuckDB relation of this connection."""
        return self.engine.relation(query)


def _path(given: str | os.PathLike[str]) -> str:
    """The path as text.

    Raises:
        InputError: it is none, or no file can have it.
    """
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"A path is needed, not {type(given).__name__}.", code="bad_path")
    path = os.fspath(given)
    if not isinstance(path, str) or not path or "\0" in path:
        raise InputError("The path is empty, or not one that a file can have.", code="bad_path")
    return path


def _check_not_a_source(target: str | os.PathLike[str], *sources: Any) -> None:
    """Refuse to write the sealed file over a file that the release is made from."""
    for source in sources:
        if isinstance(source, str | os.PathLike):
            with contextlib.suppress(OSError, ValueError):
                if os.path.samefile(source, target):
                    raise InputError("The sealed file would replace its own source.", code="target_in_use")


def connect(
    database: str | os.PathLike[str] | duckdb.DuckDBPyConnection = ":memory:",
    *,
    threads: int | None = None,
    memory_limit: str | None = None,
    read_only: bool = False,
    on_statement: Callable[[str], None] | None = None,
    on_progress: Callable[[str], None] | None = None,
    one_shot: bool = False,
) -> Database:
    """Open a database for anonymization.

    Args:
        database: a path, ``:memory:``, or a DuckDB connection, which is used as it is.
        threads, memory_limit: for a connection that anondb opens; refused with one that is passed in.
        read_only: open the file read-only (for verification).
        on_statement: called with the text of every SQL statement before it runs.
        on_progress: called with a few words on what long work is at.
        one_shot: for a single run over files: no ledger is kept.

    Raises:
        InputError: the file is no DuckDB database, or options that cannot apply.
        EngineError: the file is locked.
    """
    if isinstance(database, duckdb.DuckDBPyConnection):
        if threads is not None or memory_limit is not None or read_only:
            raise InputError(
                "threads, memory_limit and read_only apply to connections that anondb opens itself.",
                code="bad_parameter",
                hint="Set them on your connection.",
            )
        return Database(DuckDBEngine(database, on_statement=on_statement, on_progress=on_progress))
    if threads is not None:
        check_count("threads", threads)
    if memory_limit is not None and not isinstance(memory_limit, str):
        raise InputError("memory_limit must be a text such as '2GB'.", code="bad_parameter")
    engine = DuckDBEngine.open(
        _path(database),
        read_only=read_only,
        threads=threads,
        memory_limit=memory_limit,
        on_statement=on_statement,
        on_progress=on_progress,
        one_shot=one_shot,
    )
    return Database(engine)
