"""The Python interface: a database, and the releases in it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast, overload

import duckdb
from sqlglot import exp

from anondb import pipeline, reports
from anondb.clock import STEPS, Clock
from anondb.data import preflight
from anondb.engine import DuckDBEngine
from anondb.engine.limit import check_seconds
from anondb.engine.telling import StepDone
from anondb.errors import AnondbError, InputError, quote_list
from anondb.ledger import ledger, stored
from anondb.models import Model, check_count
from anondb.models.anatomy import Anatomy
from anondb.models.km import KmAnonymity
from anondb.models.named import MODELS, model_of
from anondb.options import policy_of
from anondb.policy import Workload, accepted
from anondb.postgres.place import Place, database_of, target
from anondb.promises import check as checks
from anondb.promises.spec import Knowledge
from anondb.publications import history
from anondb.publications import published_rows as published
from anondb.publications.publish import check_source_not_published, publish_release
from anondb.publications.targets import check_mode, check_modelled, check_target, signer
from anondb.reading.options import as_read, read_as
from anondb.release.objects import SchemaName, read_manifest
from anondb.reports import EarlierReport, Report
from anondb.risk.accuracy import measure_release, measure_release_rules
from anondb.utility import Accuracy, Loss
from anondb.verify import Verification

if TYPE_CHECKING:
    import psycopg
    from pyspark.sql import SparkSession

    from anondb.guide.advise import Advice
    from anondb.guide.profile import Profile
    from anondb.publications.history import Publication, PublishedFile
    from anondb.risk.attack import Attack
    from anondb.risk.explain import Explanation
    from anondb.session.asking import Asking
    from anondb.session.result import Result as Rows
    from anondb.spark import SparkDatabase
    from anondb.utility.rules import RuleAccuracy
    from anondb.views.results import Check, Result
    from anondb.views.script import StatementResult


class Release:
    """A release in the owner's database.

    Attributes:
        name: its name.
    """

    def __init__(self, database: Database, name: str, report: Report | None = None) -> None:
        self._database = database
        self.name = name
        self._report = report
        self._asking: Asking | None = None

    def __repr__(self) -> str:
        """The name and, as far as they are known, the promise and the size."""
        facts = dict(self.report.rows()) if self.report is not None else {}
        words = [facts["promise"], *(f"{facts[n]} {n}" for n in ("transactions", "items"))] if facts else ["no report"]
        return f"<release {self.name!r}: {', '.join(words)}>"

    def _repr_html_(self) -> str:
        """The report as a table, for notebooks."""
        report = self.report
        return escape(repr(self)) if report is None else report._repr_html_()

    @property
    def report(self) -> Report | EarlierReport | None:
        """The report of the run that made the release; from the ledger if that was earlier, None if it has none."""
        if self._report is not None:
            return self._report
        engine = self._database.engine
        return reports.earlier(engine, stored.current_catalog(engine), self.name)

    @property
    def verification(self) -> Verification:
        """The verification of the frozen rows; checked again for a release made earlier."""
        if self._report is not None:
            return self._report.verification
        return self._database.verify(release=self.name)

    @property
    def loss(self) -> Loss:
        """The information loss; read from the ledger for a release made earlier.

        Raises:
            InputError: ``no_report``: the release is not in the ledger.
        """
        if self._report is not None:
            return self._report.loss
        entry = ledger.find(self._database.engine, stored.current_catalog(self._database.engine), self.name)
        if entry is None:
            raise InputError(f"The ledger has no figures of the release {self.name!r}.", code="no_report")
        exact = {n: None if (text := getattr(entry, n)) is None else Fraction(text) for n in ("lm_total", "ggd")}
        return Loss(lm=entry.lm, ncp=entry.ncp, ul=entry.ul, ul_log2=entry.ul_log2, **exact)

    @property
    def accuracy(self) -> Accuracy:
        """The accuracy on the workload of the run that made the release; for other workloads see ``measure``.

        Raises:
            InputError: ``no_report``: the release was made earlier; the table ``anondb.accuracy`` has its answers.
        """
        if self._report is None:
            raise InputError(
                f"The accuracy of {self.name!r} was measured in an earlier session.",
                code="no_report",
                hint="Measure it again with measure(), or see report.to_json()['accuracy'].",
            )
        return self._report.accuracy

    def measure(
        self, workload: Any = None, *, queries: int = 1000, size: int = 2, seed: int = 0, draw: str = "all"
    ) -> Accuracy:
        """Measure accuracy on the owner's workload, or on a random one; write the answers to ``anondb.accuracy``."""
        measured = Workload(queries, size, seed, draw, table=workload)
        return measure_release(self._database.engine, self.name, measured)

    def rules(
        self, min_support: int, min_confidence: Any = "1/5", *, min_length: int = 2, max_length: int = 4, seed: int = 0
    ) -> RuleAccuracy:
        """Compare the association rules of one reconstruction of an anatomy with those of its current source.

        Args:
            min_support: the smallest number of transactions that contain a rule's items.
            min_confidence: from 0 to 1, exact, such as ``"4/5"``.
            min_length, max_length: bounds of the number of items in a rule.
            seed: the seed of the reconstruction.

        Raises:
            InputError: the release is not an anatomy, its source no longer exists, or mlxtend is missing.
        """
        from anondb.utility.rules import RuleThresholds

        thresholds = RuleThresholds(min_support, Fraction(min_confidence), min_length, max_length)
        return measure_release_rules(self._database.engine, self.name, thresholds, seed)

    def publish(
        self,
        path: str | os.PathLike[str] | Place,
        *,
        replace: bool = False,
        allow_overlap: bool = False,
        proof: str | os.PathLike[str] | None = None,
        include_constraints: bool = False,
        analysts: str | Sequence[str] | None = None,
        counters: str | Sequence[str] | None = None,
        same_database: bool = False,
        mode: int | str | None = None,
        format: str = "duckdb",
        sign: str | os.PathLike[str] | None = None,
        modelled_rows: bool = False,
        accept: str | Sequence[str] = (),
    ) -> PublishedFile:
        """Seal the release into a new file, a folder of Parquet files, or a schema of PostgreSQL, under fresh numbers.

        Args:
            path: the file, the folder, or ``postgresql://HOST/DATABASE/SCHEMA``.
            replace: whether to replace an existing file or release.
            allow_overlap: whether the release may share persons with an earlier publication; the result then measures
                what readers of both files learn (``PublishedFile.intersections``).
            proof: a directory for the proof pack: SQL that checks the promise without anondb, and a page that explains it.
            include_constraints: whether the proof may contain the owner's privacy constraints.
            analysts, counters: for PostgreSQL: the roles that may read the release, and those that may only call
                ``count_bounds``.
            same_database: whether the release may lie in the database of the raw data; ``PublishedFile.remarks`` says
                what shows then.
            mode: the permissions of the file or of the files in the folder, such as 0o644 or "0644"; by default only their
                owner can read them.
            format: ``duckdb``, or ``parquet`` for a folder.
            sign: the file of the private key that signs it (``anondb keys new``).
            modelled_rows: whether it also has, in the schema ``modelled``, one table that the release permits, with the
                names and columns of the original; no row is a person's.
            accept: findings about these rows that you confirm: ``modelled-records`` where they have attributes.

        Raises:
            InputError: ``overlap``, ``unconfirmed``, ``modelled_ids``, or an error of ``owner.targets.check_target``.
        """
        if modelled_rows:
            from anondb.publications.modelled import confirm

            confirm(self._database.engine, self.name, accepted(accept))
        return publish_release(
            self._database.engine,
            self.name,
            _target(path, analysts, counters, same_database),
            replace=replace,
            allow_overlap=allow_overlap,
            proof=None if proof is None else _path(proof),
            include_constraints=include_constraints,
            mode=check_mode(path, mode),
            verified=None if self._report is None else self._report.verified_rows,
            format=format,
            sign=signer(path, sign),
            modelled_rows=modelled_rows,
        )

    def attack(self, *, individuals: int = 1000, known: int | None = None, seed: int = 0) -> Attack:
        """Simulate an attacker who knows items and relational values of persons: count the candidates in the source and in
        the release.

        Args:
            individuals: the number of persons to draw.
            known: how many items of each person the attacker knows; by default the number in the promise.
            seed: the seed of the draw.
        """
        from anondb.risk.attack import attack

        return attack(self._database.engine, self.name, individuals=individuals, known=known, seed=seed)

    def report_html(self, *, public: bool = False, queries: int = 1000, seed: int = 0) -> str:
        """The page of ``anondb report``: for the owner, with true counts, or with ``public`` for analysts.

        Args:
            public: whether the page may have nothing but what the release itself shows.
            queries, seed: the number of random COUNT queries of each size that measure accuracy, and their seed.

        Raises:
            InputError: ``no_report``: the ledger has no figures of the release, which the owner's page needs.
        """
        from anondb.report.contents import read_contents
        from anondb.report.owner import collect
        from anondb.report.owner_page import owner_page
        from anondb.report.public_page import public_page

        engine = self._database.engine
        if not public:
            return owner_page(collect(engine, self.name, queries=queries, seed=seed))
        with engine.transaction():
            return public_page(read_contents(engine, stored.find_whole(engine, self.name)))

    def query(
        self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None, bounds: str = "columns"
    ) -> Rows:
        """Answer a query that is written for the original tables, as analysts' sessions do (``anondb.Session.sql``).

        Returns:
            The result; ``bounds`` of a single number are its lower bound, estimate and upper bound.

        Raises:
            InputError: ``unsupported_query``, naming the construct that has no sound answer; ``bad_sql``,
                ``bad_parameter``, ``query_too_complex`` or ``ambiguous_item``; or the release no longer exists.
        """
        from anondb.session.asking import Asking

        self._asking = self._asking or Asking(self._database.engine, self.name, stored.find_whole)
        return self._asking.sql(sql, parameters, bounds)

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        """A table or view of the release (``transactions``, ``transaction_ids``, ``released_items``, ``manifest``,
        ``baskets``; for an anatomy ``buckets``, ``released_items``, ``manifest``) as a DuckDB relation."""
        return self._database.relation(exp.select("*").from_(self._schema().table(name).expression()))

    def count_bounds(self, items: Sequence[str | int]) -> tuple[int, float, int]:
        """Lower bound, estimate and upper bound of the number of transactions that hold all of ``items``."""
        if not isinstance(items, list | tuple) or not all(type(item) in (str, int) for item in items):
            raise InputError("count_bounds needs a list of items, each a text or a whole number.", code="bad_parameter")
        labels = [str(item) for item in items]
        try:
            "".join(labels).encode()
        except UnicodeEncodeError:
            raise InputError("An item is not valid Unicode (a lone surrogate).", code="bad_unicode") from None
        schema = self._schema()
        call = exp.Anonymous(this="count_bounds", expressions=[exp.cast(exp.convert(labels), "TEXT[]")])
        source = exp.Table(this=call, db=exp.to_identifier(schema.name, quoted=True))
        bounds = self._database.engine.select(exp.select("*").from_(source), "count_bounds")
        return int(bounds["lower_bound"][0]), float(bounds["estimate"][0]), int(bounds["upper_bound"][0])

    @property
    def manifest(self) -> dict[str, str]:
        """The manifest of the release."""
        return read_manifest(self._database.engine, self._schema())

    @property
    def statements(self) -> list[str]:
        """The SQL statements that made the release, in order, without their values; read from the ledger."""
        engine, manifest = self._database.engine, self.manifest
        return ledger.statements_of(engine, stored.current_catalog(engine), manifest["release_id"])

    def _schema(self) -> SchemaName:
        return stored.find_release(self._database.engine, self.name)


class Database:
    """The owner's database: a DuckDB file that anondb opens, or a connection passed in.

    anondb never closes or reconfigures a connection that is passed in, and leaves no temporary objects in it.
    """

    def __init__(self, engine: DuckDBEngine) -> None:
        self.engine = engine

    def __repr__(self) -> str:
        """The name of the database and its releases."""
        with contextlib.suppress(AnondbError, RuntimeError):  # a closed one
            names = [e.name for e in self.releases() if e.status == ledger.PRESENT]
            known = quote_list(names) if names else "none"
            return f"<database {stored.current_catalog(self.engine)!r}, releases: {known}>"
        return "<database, closed>"

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection if anondb opened it."""
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
        analysts: str | Sequence[str] | None = None,
        counters: str | Sequence[str] | None = None,
        same_database: bool = False,
        mode: int | str | None = None,
        format: str = "duckdb",
        sign: str | os.PathLike[str] | None = None,
        time_limit: float | None = None,
        resume: bool = False,
        **options: Any,
    ) -> Release:
        """Anonymize transactions and freeze a verified release in this database.

        Args:
            transactions: a table or view by name, a data file, a pandas data frame or an Arrow table, with an id and an
                item column (which may be a LIST).
            model: the promise; k^m-anonymity with k=5, m=2 by default.
            name: the name of the release; by default that of the source.
            queries, size, seed, draw, workload: the workload that measures accuracy (see ``anondb.policy.Workload``).
            replace: whether to replace a release of the same name.
            publish: also seal the release into this file or folder, or ``postgresql://HOST/DATABASE/SCHEMA``.
            allow_overlap, analysts, counters, same_database, mode, format, sign: see ``Release.publish``.
            time_limit: the seconds until the release must be made; nothing is kept after that. Sealing is not limited.
            resume: keep the results of finished steps in the schema ``anondb_work`` until the release is made, and go on
                from those of an earlier run with the same data and options.
            options: ``taxonomy``, ``algorithm``, ``id``, ``item``, ``max_suppression`` and so on, and the options of the
                algorithm, as in ``anondb anonymize --help`` and ``anondb algorithms NAME``, with ``_`` for ``-``.

        Raises:
            InputError, InfeasibleError, VerificationFailed, EngineError: see ``anondb.errors``; the database is unchanged.
        """
        measured = {"queries": queries, "size": size, "seed": seed, "draw": draw, "workload": workload}
        policy = policy_of(
            transactions,
            {**options, **measured},
            model=KmAnonymity() if model is None else model,
            name=name,
            replace=replace,
        )
        check_mode(publish, mode)
        check_modelled(publish, policy.modelled_rows)
        signer(publish, sign)
        if publish is not None:
            place = _target(publish, analysts, counters, same_database)
            check_target(self.engine, place, replace, format)
            _check_not_a_source(publish, transactions, workload, *options.values())
            if not allow_overlap:
                check_source_not_published(self.engine, policy)
        with self._noting_committed_release():
            clock = Clock(limit=check_seconds(time_limit))
            report = pipeline.anonymize(self.engine, policy, sums=publish is not None, clock=clock, resume=resume)
            release = Release(self, report.release, report)
            if publish is not None:
                begun = time.perf_counter()
                self.engine.begin_step(f"step {len(STEPS)} of {len(STEPS)}, publishing")
                try:
                    how: dict[str, Any] = {"replace": replace, "mode": mode, "format": format, "sign": sign}
                    how |= {"modelled_rows": policy.modelled_rows, "accept": preflight.FINDINGS}  # confirmed above
                    file = release.publish(place, allow_overlap=allow_overlap, **how)
                except AnondbError as error:
                    kept = f"The release {report.release!r} was made and is kept; only publishing it failed"
                    words = str(error).removesuffix(f" {error.hint}") if error.hint else str(error)
                    raise type(error)(
                        f"{words} {kept}.", code=error.code, hint=error.hint or "Publish it again."
                    ) from None
                finally:
                    self.engine.step_words = ""
                seconds = time.perf_counter() - begun
                self.engine.end_step(StepDone("publish", round(seconds, 3), report.release, {"bytes": file.size}))
                release._report = reports.published(report, file, seconds)
        return release

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
        transactions = read_as(transactions, reading)
        if (release is None) == (transactions is None and buckets is None):
            raise InputError("Say what to verify: transactions, buckets, or a release.", code="bad_usage")
        if model is not None and (isinstance(model, type) or getattr(model, "name", None) not in MODELS):
            raise InputError(
                f"The model must be one of anondb's, such as KmAnonymity(k=5, m=2), not {type(model).__name__}.",
                code="bad_parameter",
            )
        if bag_input and (release is not None or model is None or model.name != "k"):
            raise InputError("bag_input needs transactions and the model k.", code="bad_usage")
        if (records is not None or quasi_identifiers is not None) and transactions is None:
            raise InputError("records and quasi_identifiers need transactions.", code="bad_usage")
        if witnesses != 0:
            witnesses = int(check_count("witnesses", witnesses))
        if on_engine:
            others = (release, buckets, privacy_constraints, sensitive, records, quasi_identifiers)
            more = any(other is not None for other in others) or bag_input or witnesses
            return self._verify_there(transactions, model, id, item, more)
        if release is not None:
            return self._verify_release(release, model, witnesses, privacy_constraints, sensitive)
        columns: dict[str, Any] = {"id": id, "item": item, "witnesses": witnesses}
        if buckets is not None:
            promise = Anatomy() if model is None else model
            if not isinstance(promise, Anatomy):
                raise InputError("Buckets are checked against an Anatomy.", code="bad_usage")
            return checks.verify_buckets(self.engine, buckets, promise, transactions, **columns)
        return checks.verify_source(
            self.engine,
            transactions,
            model or KmAnonymity(),
            **columns,
            bag_input=bag_input,
            privacy_constraints=privacy_constraints,
            sensitive=sensitive,
            records=records,
            quasi_identifiers=quasi_identifiers,
        )

    def _verify_there(self, transactions: Any, model: Model | None, id: str, item: str, more: Any) -> Verification:
        """Verify a table inside PostgreSQL."""
        from anondb.on_engine import verify_on, warehouse_of

        if more or not isinstance(transactions, str):
            raise InputError(
                "Inside the database a table is verified by its rows alone, without witnesses.",
                code="not_on_engine",
                hint="Leave on_engine out: then the table is fetched.",
            )
        with self.engine.transaction():
            return verify_on(
                warehouse_of(self.engine), transactions, model or KmAnonymity(), id_column=id, item_column=item
            )

    def _verify_release(
        self, name: str, model: Model | None, witnesses: int, privacy_constraints: Any, sensitive: Any
    ) -> Verification:
        """Verify the frozen rows of a release with the named constraints and items or, by default, those that it was made
        with."""
        with self.engine.transaction():
            schema = stored.find_release(self.engine, name)
            manifest = read_manifest(self.engine, schema)
            promised = model or model_of(manifest)
            named = checks.read_knowledge(self.engine, promised, privacy_constraints, sensitive)
            noted = ledger.knowledge_of(self.engine, schema.catalog, manifest["release_id"])
            knowledge = Knowledge(
                noted.privacy if named.privacy is None else named.privacy,
                noted.sensitive if named.sensitive is None else named.sensitive,
            )
            return checks.verify_release(self.engine, schema, promised, witnesses, knowledge=knowledge)

    def unknown_items(
        self, transactions: Any, taxonomy: Any, *, id: str = "tid", item: str = "item"
    ) -> tuple[str, ...]:
        """The items that are not leaves of a taxonomy, sorted; ``anonymize`` refuses them.

        Errors never contain an item: ``unknown_item`` and ``internal_item`` count them, and this method lists them.
        """
        return checks.unknown_items(self.engine, transactions, taxonomy, id=id, item=item)

    def profile(
        self,
        transactions: Any,
        *,
        taxonomy: Any = None,
        k: int = 5,
        id: str = "tid",
        item: str = "item",
        **reading: Any,
    ) -> Profile:
        """Profile transactions before a release: sizes, what attackers find, the taxonomy, and what each algorithm takes.

        Args:
            transactions: a table, view, file or data frame.
            taxonomy: the taxonomy of the items, which need not fit.
            k: the k of the promise that violations and costs are counted for.
            id, item: the columns of the transactions.
            reading: how they are read (``anondb.reading.options.Reading``).

        Raises:
            InputError: a source cannot be read, or ``bad_parameter``.
        """
        from anondb.guide.profile import profile

        rows = read_as(transactions, reading)
        return profile(self.engine, rows, taxonomy=taxonomy, k=k, id_column=id, item_column=item)

    def advise(
        self,
        transactions: Any,
        *,
        taxonomy: Any = None,
        k: int = 5,
        m: int | float = 2,
        use: str = "counts",
        item_supports: bool = False,
        id: str = "tid",
        item: str = "item",
        time_limit: float = 120.0,
        threads: int | None = None,
        memory_limit: str = "4GB",
        **reading: Any,
    ) -> Advice:
        """Try algorithms on a sample and on all persons, each in a process, and advise which promise and algorithm to use.

        Args:
            transactions: a table, view, file or data frame; a copy lies in a private directory while runs read it.
            taxonomy: the taxonomy of the items.
            k, m: how many persons the knowledge of m items has to fit, at least; m may be ``math.inf``.
            use: ``counts`` (any release that answers counts well), ``categories`` (of the taxonomy in place of items) or
                ``items`` (unchanged, or deleted).
            item_supports: whether the release may have item supports.
            id, item: the columns of the transactions.
            time_limit: seconds of wall time for all runs.
            threads, memory_limit: limits of each run.
            reading: how the transactions are read (``anondb.reading.options.Reading``).

        Raises:
            InputError, InfeasibleError, BudgetExceeded: see ``anondb.guide.advise.advise``.
        """
        from anondb.guide.advise import advise
        from anondb.guide.needs import Needs, call_of

        named = [repr(x) if isinstance(x, str) else type(x).__name__ for x in (transactions, taxonomy)]
        return advise(
            self.engine,
            read_as(transactions, reading),
            Needs(k, m, use, item_supports),
            command=lambda run: call_of(run, *named),
            taxonomy=taxonomy,
            id_column=id,
            item_column=item,
            time_limit=time_limit,
            threads=threads,
            memory_limit=memory_limit,
        )

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


def _target(where: Any, analysts: Any, counters: Any, same_database: bool) -> str | Place:
    """The file or the place of a publication.

    Raises:
        InputError: see ``_path`` and ``postgres.place.target``.
    """
    named = target(where, analysts, counters, same_database)
    return named if isinstance(named, Place) else _path(named)


def _path(location: Any) -> str:
    """The path as text.

    Raises:
        InputError: the value is not a path, or no file can have it.
    """
    if not isinstance(location, str | os.PathLike):
        raise InputError(f"A path is needed, not {type(location).__name__}.", code="bad_path")
    path = os.fspath(location)
    if not isinstance(path, str) or not path or "\0" in path:
        raise InputError("The path is empty, or not one that a file can have.", code="bad_path")
    return path


def _check_not_a_source(target: str | os.PathLike[str], *sources: Any) -> None:
    """Raise an ``InputError`` if the sealed file would overwrite a source of the release."""
    for source in (as_read(source).data for source in sources):
        if isinstance(source, str | os.PathLike):
            with contextlib.suppress(OSError, ValueError):
                if os.path.samefile(source, target):
                    raise InputError("The sealed file would replace its own source.", code="target_in_use")


@overload
def connect(
    database: str | os.PathLike[str] | duckdb.DuckDBPyConnection | psycopg.Connection[Any] = ":memory:",
    *,
    threads: int | None = None,
    memory_limit: str | None = None,
    read_only: bool = False,
    on_statement: Callable[[str], None] | None = None,
    on_progress: Callable[[str], None] | None = None,
    one_shot: bool = False,
) -> Database: ...


@overload
def connect(database: SparkSession, **options: Any) -> SparkDatabase: ...


def connect(
    database: str | os.PathLike[str] | duckdb.DuckDBPyConnection | psycopg.Connection[Any] | SparkSession = ":memory:",
    *,
    threads: int | None = None,
    memory_limit: str | None = None,
    read_only: bool = False,
    on_statement: Callable[[str], None] | None = None,
    on_progress: Callable[[str], None] | None = None,
    one_shot: bool = False,
    **of_spark: Any,
) -> Database | SparkDatabase:
    """Open a database for anonymization.

    Args:
        database: a path, ``:memory:``, ``postgresql://HOST/DATABASE``, a DuckDB connection, which is used without changing
            its settings, or one of psycopg: anondb connects itself as it did, and sees what is committed; or a session of
            Spark, whose tables are anonymized inside Spark.
        threads, memory_limit: settings of a connection that anondb opens; refused for a connection passed in.
        read_only: open the file read-only (for verification).
        on_statement: called with the text of every SQL statement before it runs.
        on_progress: called with a short description of each step of long work; its attribute ``share`` is the share that is
            done, from 0 to 1, or None.
        one_shot: for a single run over files: keep no ledger.
        of_spark: ``folder`` and ``format`` for a session of Spark (``SparkDatabase``).

    Raises:
        InputError: the file is not a DuckDB database, or an option does not apply.
        EngineError: the file is locked.
    """
    if type(database).__module__.startswith("pyspark.sql"):
        if threads is not None or memory_limit is not None or read_only or one_shot:
            raise InputError("Spark has its own settings of threads and memory.", code="bad_parameter")
        from anondb.spark import SparkDatabase

        spark = cast("SparkSession", database)
        return SparkDatabase(spark, on_statement=on_statement, on_progress=on_progress, **of_spark)
    if of_spark:
        raise TypeError(f"connect() got an unexpected keyword argument {next(iter(of_spark))!r}")
    place = database_of(database)
    if place is not None:
        from anondb.postgres.owner import PostgresEngine

        return Database(
            PostgresEngine.connect(
                place,
                threads=threads,
                memory_limit=memory_limit,
                read_only=read_only,
                on_statement=on_statement,
                on_progress=on_progress,
            )
        )
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
