"""The owner's report on a release: of the run that made it, or as the ledger keeps it."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from anondb.engine import Engine
from anondb.ledger import ledger
from anondb.ledger.tables import REPORTS
from anondb.models import Model, json_of
from anondb.pipeline.report_rows import report_rows, worse_than_zero
from anondb.publications import history
from anondb.publications.history import Intersection, PublishedFile, notes
from anondb.reading.account import Account, Finding, read_json, words_of
from anondb.release.freeze import FrozenRelease
from anondb.release.row_sums import RowSums
from anondb.risk.accuracy import AnatomyFigures
from anondb.risk.constraint_report import ConstraintReport
from anondb.utility.accuracy import Accuracy
from anondb.utility.loss import Loss
from anondb.verify import Verification


class _Printed(ABC):
    """A report that prints itself as rows of names and values, in notebooks as a table."""

    release: str

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""

    def rows(self) -> list[tuple[str, str]]:
        """The names and values that ``anondb anonymize`` prints."""
        return report_rows(self.to_json())

    def __repr__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join([f"release {self.release}", *(f" {name:<{width}}  {value}" for name, value in rows)])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in self.rows())
        return f"<table><caption>release {escape(self.release)}</caption>{rows}</table>"


@dataclass(frozen=True, repr=False)
class Report(_Printed):
    """The owner's report on a release. It contains true counts: do not give it to analysts."""

    release: str
    model: Model
    algorithm: str
    transactions: int
    items: int
    occurrences: int
    verification: Verification
    frozen: FrozenRelease
    loss: Loss
    accuracy: Accuracy
    warnings: tuple[str, ...]
    seconds: dict[str, float]
    published: str | None = None
    sha256: str | None = None
    content_digest: str | None = None
    anatomy: AnatomyFigures | None = None
    relational: dict[str, Any] | None = None
    constraints: ConstraintReport | None = None
    intersections: tuple[Intersection, ...] = ()
    verified_rows: RowSums | None = None
    read: tuple[Account, ...] = ()
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The report of ``anonymize --json`` (docs/contract.md#command-line)."""
        frozen = json_of(self.frozen, "suppressed_items", "suppressed_occurrences", "released_items")
        return {
            "release": self.release,
            "model": {"name": self.model.name, **self.model.parameters()},
            "promise": self.model.promise,
            **json_of(self, "algorithm", "transactions", "items", "occurrences"),
            **json_of(self.verification, "verified", "violations", "across_levels"),
            **frozen,
            "all_suppressed": bool(self.items) and not self.frozen.released_items,
            **json_of(
                self, "constraints", "loss", "relational", "accuracy", "seconds", "published", "sha256", "content_digest"
            ),
            **json_of(self, "intersections", "warnings", "findings"),
            **read_json(self.read),
            **({} if self.anatomy is None else {"anatomy": self.anatomy.to_json()}),
        }


@dataclass(frozen=True, repr=False)
class EarlierReport(_Printed):
    """The report of a release that an earlier session made, as the ledger keeps it."""

    release: str  # the name of the release
    values: Mapping[str, Any]  # the report of ``anonymize --json``

    def to_json(self) -> dict[str, Any]:
        """The report of ``anonymize --json`` (docs/contract.md#command-line)."""
        return dict(self.values)


def record(engine: Engine, catalog: str, report: Report) -> None:
    """Keep a report in the ledger. Call it after ``ledger.record``."""
    text = json.dumps(report.to_json(), ensure_ascii=False, default=str)
    REPORTS.append(engine, catalog, [{"release_id": report.frozen.release_id, "report": text}])


def earlier(engine: Engine, catalog: str, name: str) -> EarlierReport | None:
    """The report of a release that is present, with its last publication; None if the ledger has none."""
    entry = ledger.find(engine, catalog, name)
    values = None if entry is None else _values_of(engine, catalog, entry.release_id)
    if entry is None or values is None:
        return None
    files = [p for p in history.publications(engine, catalog) if p.release_id == entry.release_id]
    last = {"published": files[-1].file, "sha256": files[-1].sha256} if files else {}
    last |= {"content_digest": files[-1].content_digest} if files else {}
    return EarlierReport(entry.name, values | last)


def run_of(engine: Engine, catalog: str, release_id: str) -> tuple[dict[str, float], tuple[str, ...]]:
    """The wall time of each step that made a release, and a line on each file that was read, on each finding that its owner
    confirmed, and on poor estimates; both are empty if the ledger has no report of it."""
    values = _values_of(engine, catalog, release_id) or {}
    seconds = {step: value for step, value in values.get("seconds", {}).items() if step != "total"}
    accounts = [account for account in (values.get("read"), *values.get("read_beside", ())) if account]
    confirmed = (f"confirmed {f['name']}: {f['message']}" for f in values.get("findings", ()))
    poor = (f"estimates: {words}" for words in (worse_than_zero(values) if values else ()))
    return seconds, (*(f"read {words_of(account)}" for account in accounts), *confirmed, *poor)


def _values_of(engine: Engine, catalog: str, release_id: str) -> dict[str, Any] | None:
    """The values of a report in the ledger."""
    rows = REPORTS.rows(engine, catalog, release_id)
    return json.loads(rows[-1]["report"]) if rows else None


def published(report: Report, file: PublishedFile, seconds: float | None = None) -> Report:
    """Add a publication to a report; ``seconds`` is its time if the report does not include it yet."""
    warnings = (*report.warnings, *notes(file.intersections), *file.remarks)
    total = report.seconds["total"]
    more = {} if seconds is None else {"publish": round(seconds, 3), "total": round(total + seconds, 3)}
    return replace(
        report,
        published=str(file.path),
        sha256=file.sha256,
        content_digest=file.content_digest,
        seconds=report.seconds | more,
        warnings=warnings,
        intersections=file.intersections,
    )
