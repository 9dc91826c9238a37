"""The results of statements of anonymized views, and of checking a release against the current data."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from anondb.ledger.loaded_files import SourceFile
from anondb.models import AsTable, json_of
from anondb.pipeline.report_rows import figure
from anondb.pipeline.reports import Report
from anondb.publications.history import PublishedFile, notes
from anondb.utility.loss import Loss
from anondb.verify import Verification


@dataclass(frozen=True)
class Check(AsTable):
    """The check of a release's recoding on the current data.

    Attributes:
        release: the name of the release.
        verification: the verification of the current data under the release's recoding.
        fresh: whether the data are unchanged since the release was made.
        transactions, items: their numbers in the current data.
        not_covered_items, not_covered_occurrences: the numbers of items without a released item, and of their occurrences:
            they were suppressed, or are new.
        limit: the policy's limit of suppressed items in percent; None without a limit.
        loss: the loss of the release's recoding on the current data.
        source_file, records_file: the files of the data and of their records, if the ledger knows them, read again and
            compared with what was read of them.
        not_covered: the first items without a released item, by label, up to the requested number of witnesses.
    """

    release: str
    verification: Verification
    fresh: bool
    transactions: int
    items: int
    not_covered_items: int
    not_covered_occurrences: int
    limit: Fraction | None
    loss: Loss
    not_covered: tuple[str, ...] = ()
    source_file: SourceFile | None = None
    records_file: SourceFile | None = None

    @property
    def within_limit(self) -> bool:
        """Whether the uncovered items are within the policy's limit; all items may be uncovered only at 100 percent."""
        if not self.items:
            return True
        if self.limit is None:
            return self.not_covered_items < self.items
        return Fraction(100 * self.not_covered_items, self.items) <= self.limit

    @property
    def keeps_policy(self) -> bool:
        """Whether the current data keep the policy under this recoding."""
        return self.verification.verified and self.within_limit

    @property
    def is_of_source(self) -> bool:
        """Whether the data are those of which the release was made, as far as the ledger knows."""
        return self.fresh and all(f is None or f.status == "unchanged" for f in (self.source_file, self.records_file))

    @property
    def holds(self) -> bool:
        """Whether the data keep the policy, and item supports of the release, if it has any, are those of the data."""
        return self.keeps_policy and not self.verification.item_supports

    def to_json(self, *, witnesses: bool = False) -> dict[str, Any]:
        """The check as JSON values."""
        return {
            "release": self.release,
            **self.verification.to_json(witnesses=witnesses),
            "against": "source",
            **json_of(self, "holds", "is_of_source", "within_limit"),
            "status": "fresh" if self.fresh else "stale",
            **json_of(self, "transactions", "items", "not_covered_items", "not_covered_occurrences", "loss"),
            **json_of(self, "source_file", "records_file"),
            **(json_of(self, "not_covered") if witnesses else {}),
        }


class Result:
    """The result of a statement of anonymized views of the type ``kind``. It is available as a sentence (``words``), a table
    (``columns``, ``fetchall()``) and JSON values (``to_json()``)."""

    kind = ""
    said = ""
    head: ClassVar[tuple[str, ...]] = ()  # its columns as a table; empty for those of its JSON that have single values

    def __repr__(self) -> str:
        """The sentence and the remarks."""
        return "\n".join([self.words, *(f"note: {note}" for note in self.notes)])

    @property
    def words(self) -> str:
        """A sentence for the owner: ``said``, with the values of the fields."""
        return self.said.format(**vars(self))

    @property
    def notes(self) -> list[str]:
        """Remarks for the owner, one line each."""
        return []

    @property
    def columns(self) -> list[str]:
        """The columns of the result as a table."""
        return list(self.head) or [n for n, v in self.to_json().items() if not isinstance(v, dict | list)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows of the result as a table."""
        values = self.to_json()
        return [tuple(values[c] for c in self.columns)]

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return dict(json_of(vars(self)))


@dataclass(frozen=True, repr=False)
class Created(Result):
    """The result of ``CREATE ANONYMIZED VIEW``: the report of the new release."""

    view: str
    report: Report
    kind = "create"

    @property
    def words(self) -> str:
        """A sentence for the owner."""
        report = self.report
        return (
            f"anonymized view {self.view}: {report.transactions:,} transactions,"
            f" {report.frozen.released_items:,} released items"
        )

    @property
    def notes(self) -> list[str]:
        """A line on each release of the same persons that was published before."""
        return notes(self.report.intersections)

    def to_json(self) -> dict[str, Any]:
        """The report of ``anonymize --json``."""
        return {"view": self.view, **self.report.to_json()}


@dataclass(frozen=True, repr=False)
class Refreshed(Result):
    """The result of ``REFRESH ANONYMIZED VIEW``.

    Attributes:
        view: the name of the view.
        causes: the changed inputs: ``data``, ``records``, ``sensitive items``, ``taxonomy``, ``constraints`` (including
            weights of items), ``columns``. If empty, the release stays and the next four attributes are None.
        before: loss (LM, NCP) of the old release on its data.
        check: the old recoding checked on the current data; None for a local recoding, which does not apply to other data.
        images_changed: the number of items of the current data with a new image; None for a local recoding.
        report: the report of the new release.
        file: the sealed file, if one was written: for a new release, or because the old file was missing or not current.
    """

    view: str
    causes: tuple[str, ...]
    before: tuple[float | None, float | None] | None = None
    check: Check | None = None
    images_changed: int | None = None
    report: Report | None = None
    file: PublishedFile | None = None
    kind = "refresh"

    @property
    def published(self) -> str | None:
        """The path of the sealed file, if one was written."""
        return None if self.file is None else str(self.file.path)

    @property
    def changed(self) -> bool:
        """Whether a new release was made."""
        return bool(self.causes)

    @property
    def notes(self) -> list[str]:
        """A line on each release of the same persons that was published before."""
        return [] if self.file is None else notes(self.file.intersections)

    @property
    def words(self) -> str:
        """Sentences for the owner."""
        head = f"anonymized view {self.view}: "
        if self.report is None or self.before is None:
            done = "nothing was done" if self.published is None else "it was published, since its file was not current"
            return f"{head}nothing has changed, and {done}"
        loss = self.report.loss
        if self.check is None:
            return (
                f"{head}the {' and the '.join(self.causes)} changed; made anew: LM {figure(self.before[0])} before,"
                f" {figure(loss.lm)} now, NCP {figure(self.before[1])}, {figure(loss.ncp)}"
            )
        check = self.check
        if check.keeps_policy:
            verdict = "the old recoding would still hold"
        elif check.verification.verified:
            verdict = "the old recoding would leave out more items than allowed"
        else:
            verdict = f"the old recoding would not hold any more ({check.verification.violations:,} violations)"
        return (
            f"{head}the {' and the '.join(self.causes)} {'has' if self.causes == ('taxonomy',) else 'have'} changed;"
            f" {verdict}, {check.not_covered_items:,} of"
            f" {check.items:,} items without a released item; made anew: {self.images_changed:,} items are published"
            f" otherwise, LM {figure(self.before[0])} before, {figure(check.loss.lm)} with the old recoding,"
            f" {figure(loss.lm)} now, NCP {figure(self.before[1])}, {figure(check.loss.ncp)}, {figure(loss.ncp)}"
        )

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            **json_of(self, "view", "changed", "causes"),
            "old_recoding_holds": None if self.check is None else self.check.keeps_policy,
            **json_of(self, "images_changed", "published"),
            "intersections": [] if self.file is None else json_of(self.file.intersections),
            "before": None if self.before is None else dict(zip(("lm", "ncp"), self.before, strict=True)),
            "old_recoding": json_of(self.check),
            "release": json_of(self.report),
        }


@dataclass(frozen=True, repr=False)
class Kept(Result):
    """The result of ``CREATE ANONYMIZED VIEW IF NOT EXISTS`` where there is one of the name."""

    view: str
    kind, said = "create", "anonymized view {view}: exists already, and stays as it is"

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {"view": self.view, "created": False}


@dataclass(frozen=True, repr=False)
class RefreshedAll(Result):
    """The result of ``REFRESH ALL ANONYMIZED VIEWS``: the results of all views, oldest first."""

    views: tuple[Any, ...]
    kind, head = "refresh all", ("view", "changed")

    @property
    def words(self) -> str:
        """A sentence for each view."""
        return "\n".join(result.words for result in self.views) or "there are no anonymized views"

    @property
    def notes(self) -> list[str]:
        """The notes on all views."""
        return [note for result in self.views for note in result.notes]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """A row for each view."""
        return [(result.view, result.changed) for result in self.views]


@dataclass(frozen=True, repr=False)
class Renamed(Result):
    """The result of ``ALTER ANONYMIZED VIEW ... RENAME TO``."""

    view: str
    new_name: str
    kind, said = "rename", "anonymized view {view}: renamed to {new_name}"


@dataclass(frozen=True, repr=False)
class Described(Result):
    """The result of ``DESCRIBE ANONYMIZED VIEW``: facts on a view."""

    view: str
    facts: tuple[tuple[str, Any], ...]
    kind, head = "describe", ("property", "value")

    @property
    def words(self) -> str:
        """The facts, one line each."""
        return "\n".join(f"{name}: {value}" for name, value in self.facts)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The facts as rows of texts."""
        return [(name, str(value)) for name, value in self.facts]

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON values."""
        return {"view": self.view, **dict(self.facts)}


@dataclass(frozen=True, repr=False)
class Stated(Result):
    """The result of ``SHOW CREATE ANONYMIZED VIEW``: the statement that makes the view."""

    view: str
    statement: str
    kind, said = "statement", "{statement}"


@dataclass(frozen=True, repr=False)
class Dropped(Result):
    """The result of ``DROP ANONYMIZED VIEW``; ``dropped`` is false if IF EXISTS was used and the view did not exist."""

    view: str
    dropped: bool
    kind = "drop"

    @property
    def words(self) -> str:
        """A sentence for the owner."""
        return f"anonymized view {self.view}: " + ("dropped; its entry in the ledger stays" if self.dropped else "none")


@dataclass(frozen=True, repr=False)
class Shown(Result):
    """The result of ``SHOW ANONYMIZED VIEWS``: one row for each view, oldest first."""

    views: tuple[dict[str, Any], ...]
    kind = "show"
    head = (
        *("name", "model", "parameters", "algorithm", "source", "partitions"),
        *("transactions", "lm", "ncp", "created", "status"),
    )

    @property
    def words(self) -> str:
        """A sentence for the owner."""
        return f"{len(self.views)} anonymized view{'s' * (len(self.views) != 1)}"

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The views as rows."""
        return [tuple(view[c] for c in self.columns) for view in self.views]
