"""A release in the owner's database."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from anondb.engine.trees import exp
from anondb.errors import InputError
from anondb.ledger import ledger, stored
from anondb.ledger.tables import STATEMENTS
from anondb.pipeline import reports
from anondb.pipeline.on_engine import load_release
from anondb.pipeline.reports import EarlierReport, Report
from anondb.policy import Workload, accepted
from anondb.publications.publish import publish_release
from anondb.publications.targets import check_mode, signer
from anondb.release.objects import SchemaName, read_manifest
from anondb.risk.accuracy import measure_release, measure_release_rules
from anondb.utility.accuracy import Accuracy
from anondb.utility.loss import Loss
from anondb.verify import Verification
from anondb.warehouse.postgres.place import Place, target

if TYPE_CHECKING:
    import duckdb

    from anondb.api.database import Database
    from anondb.publications.history import PublishedFile
    from anondb.report.owner import OwnerReport
    from anondb.risk.attack import Attack
    from anondb.session.opening import Asking
    from anondb.session.result import Result as Rows
    from anondb.utility.rules import RuleAccuracy


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
        return measure_release(self._database.engine, self.name, measured, load_release)

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
            analysts, counters: the roles of PostgreSQL that may read the release, and that may only call ``count_bounds``.
            same_database: whether the release may lie in the database of the raw data; ``PublishedFile.remarks`` says
                what shows then.
            mode: the permissions of the file or of the files in the folder, such as 0o644 or "0644"; by default 0600.
            format: ``duckdb``, or ``parquet`` for a folder.
            sign: the file of the private key that signs it (``anondb keys new``).
            modelled_rows: whether it also has, in the schema ``modelled``, one table that the release permits, with the
                names and columns of the original; no row is a person's.
            accept: findings about these rows that you confirm: ``modelled-records`` where they have attributes.

        Raises:
            InputError: ``overlap``, ``unconfirmed``, ``modelled_ids``, or an error of ``publications.targets.check_target``.
        """
        if modelled_rows:
            from anondb.publications.modelled import confirm

            confirm(self._database.engine, self.name, accepted(accept))
        elif accepted(accept):
            raise InputError("--accept needs --modelled-rows.", code="bad_usage")
        return publish_release(
            self._database.engine,
            self.name,
            target_of(path, analysts, counters, same_database),
            replace=replace,
            allow_overlap=allow_overlap,
            proof=None if proof is None else path_of(proof),
            include_constraints=include_constraints,
            mode=check_mode(path, mode),
            verified=None if self._report is None else self._report.verified_rows,
            format=format,
            sign=signer(sign),
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

    def owner_report(self, *, queries: int = 1000, seed: int = 0) -> OwnerReport:
        """What ``anondb report`` tells the owner, as values: what was recoded and why, answers beside the truth, attackers,
        attributes before and after, and what readers learn who have other publications of the same persons.

        Args:
            queries, seed: the number of random COUNT queries of each size that measure accuracy, and their seed.

        Raises:
            InputError: ``no_report``: the ledger has no figures of the release.
        """
        from anondb.report.owner import collect

        return collect(self._database.engine, self.name, queries=queries, seed=seed)

    def report_html(self, *, public: bool = False, queries: int = 1000, seed: int = 0) -> str:
        """The page of ``anondb report``: for the owner, with true counts, or with ``public`` for analysts.

        Args:
            public: whether the page may have nothing but what the release itself shows.
            queries, seed: the number of random COUNT queries of each size that measure accuracy, and their seed.

        Raises:
            InputError: ``no_report``: the ledger has no figures of the release, which the owner's page needs.
        """
        from anondb.report.contents import read_contents

        engine = self._database.engine
        if not public:
            return self.owner_report(queries=queries, seed=seed).html()
        with engine.transaction():
            return read_contents(engine, stored.find_whole(engine, self.name)).html()

    def query(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None, bounds: str = "columns") -> Rows:
        """Answer a query that is written for the original tables, as analysts' sessions do (``anondb.Session.sql``).

        Returns:
            The result; ``bounds`` of a single number are its lower bound, estimate and upper bound.

        Raises:
            InputError: ``unsupported_query``, naming the construct that has no sound answer; ``bad_sql``,
                ``bad_parameter``, ``query_too_complex`` or ``ambiguous_item``; or the release no longer exists.
        """
        from anondb.session.opening import Asking

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
        noted = STATEMENTS.noted(engine, stored.current_catalog(engine), manifest["release_id"])
        return [statement for _, statement in noted]

    def _schema(self) -> SchemaName:
        return stored.find_release(self._database.engine, self.name)


def target_of(where: Any, analysts: Any, counters: Any, same_database: bool) -> str | Place:
    """The file or the place of a publication.

    Raises:
        InputError: see ``path_of`` and ``postgres.place.target``.
    """
    named = target(where, analysts, counters, same_database)
    return named if isinstance(named, Place) else path_of(named)


def path_of(location: Any) -> str:
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
