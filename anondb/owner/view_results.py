"""What the statements of anonymized views return, and what a check of a release against today's data finds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from anondb.owner.publications import notes
from anondb.pipeline import Report
from anondb.utility import Loss
from anondb.verify import Verification

if TYPE_CHECKING:
    from anondb.release.publish import PublishedFile


@dataclass(frozen=True)
class Check:
    """Whether the recoding of a release still keeps its promise on the data as they are now.

    Attributes:
        release: its name.
        verification: of today's data under the release's recoding.
        fresh: whether the data are those that the release was made from.
        transactions, items: of today's data.
        not_covered_items, not_covered_occurrences: items that no released item stands for, which are left out: they were
            suppressed, or are new.
        limit: the policy's bound on suppressed items in percent; None where it states none.
        loss: of the release's recoding on today's data.
        not_covered: the first of these items by label, as many as witnesses were asked for.
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

    @property
    def within_limit(self) -> bool:
        """Whether no more items are left out than the policy allows; all of them only where it allows 100 percent."""
        if not self.items:
            return True
        if self.limit is None:
            return self.not_covered_items < self.items
        return Fraction(100 * self.not_covered_items, self.items) <= self.limit

    @property
    def holds(self) -> bool:
        """Whether today's data keep the policy under this recoding."""
        return self.verification.verified and self.within_limit

    def to_json(self, *, witnesses: bool = False) -> dict[str, Any]:
        """The check as JSON values."""
        return {
            "release": self.release,
            **self.verification.to_json(witnesses=witnesses),
            "against": "source",
            "holds": self.holds,
            "within_limit": self.within_limit,
            "status": "fresh" if self.fresh else "stale",
            "transactions": self.transactions,
            "items": self.items,
            "not_covered_items": self.not_covered_items,
            "not_covered_occurrences": self.not_covered_occurrences,
            "loss": self.loss.to_json(),
            **({"not_covered": list(self.not_covered)} if witnesses else {}),
        }


class Result(ABC):
    """What a statement of anonymized views returned: ``kind`` says which, the rest is readable in three ways.

    As words (``words``), as a table (``columns``, ``fetchall()``) and as JSON values (``to_json()``).
    """

    kind = ""

    @property
    @abstractmethod
    def words(self) -> str:
        """A sentence for the owner."""

    @property
    def notes(self) -> list[str]:
        """Remarks for the owner, a line each."""
        return []

    @property
    def columns(self) -> list[str]:
        """The columns of the result as a table."""
        return [n for n, v in self.to_json().items() if not isinstance(v, dict | list)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows of the result as a table."""
        values = self.to_json()
        return [tuple(values[c] for c in self.columns)]

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""


@dataclass(frozen=True)
class Created(Result):
    """``CREATE ANONYMIZED VIEW``: the report of the release that was made."""

    view: str
    report: Report
    kind = "create"

    @property
    def words(self) -> str:
        """A sentence for the owner."""
        found = self.report
        return (
            f"anonymized view {self.view}: {found.transactions:,} transactions,"
            f" {found.frozen.released_items:,} released items"
        )

    @property
    def notes(self) -> list[str]:
        """A line on each release of the same persons that was published before."""
        return notes(self.report.intersections)

    def to_json(self) -> dict[str, Any]:
        """The report of ``anonymize --json``."""
        return {"view": self.view, **self.report.to_json()}


@dataclass(frozen=True)
class Refreshed(Result):
    """``REFRESH ANONYMIZED VIEW``.

    Attributes:
        view: its name.
        causes: what had changed: ``data``, ``records``, ``sensitive items``, ``taxonomy``, ``constraints`` (weights of items
            among them), ``columns``; if nothing, the release stays, and what follows is None except that ``published`` tells
            whether its file was missing or not current, and has been written.
        before: loss (LM, NCP) of the old release on its own data.
        check: whether the old recoding still holds on today's data; None for a local one, which has nothing to say of them.
        images_changed: items of today's data that are published otherwise than before; None for a local recoding.
        report: of the new release.
        file: the sealed file that was written.
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
        """Where the sealed file is that was written."""
        return None if self.file is None else str(self.file.path)

    @property
    def changed(self) -> bool:
        """Whether the release was made anew."""
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
                f"{head}the {' and the '.join(self.causes)} changed; made anew: LM {_figure(self.before[0])} before,"
                f" {_figure(loss.lm)} now, NCP {_figure(self.before[1])}, {_figure(loss.ncp)}"
            )
        check = self.check
        if check.holds:
            verdict = "the old recoding would still hold"
        elif check.verification.verified:
            verdict = "the old recoding would leave out more items than allowed"
        else:
            verdict = f"the old recoding would not hold any more ({check.verification.violations:,} violations)"
        return (
            f"{head}the {' and the '.join(self.causes)} {'has' if self.causes == ('taxonomy',) else 'have'} changed;"
            f" {verdict}, {check.not_covered_items:,} of"
            f" {check.items:,} items without a released item; made anew: {self.images_changed:,} items are published"
            f" otherwise, LM {_figure(self.before[0])} before, {_figure(check.loss.lm)} with the old recoding,"
            f" {_figure(loss.lm)} now, NCP {_figure(self.before[1])}, {_figure(check.loss.ncp)}, {_figure(loss.ncp)}"
        )

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        before = None if self.before is None else {"lm": self.before[0], "ncp": self.before[1]}
        return {
            "view": self.view,
            "changed": self.changed,
            "causes": list(self.causes),
            "old_recoding_holds": None if self.check is None else self.check.holds,
            "images_changed": self.images_changed,
            "published": self.published,
            "intersections": [] if self.file is None else [i.to_json() for i in self.file.intersections],
            "before": before,
            "old_recoding": None if self.check is None else self.check.to_json(),
            "release": None if self.report is None else self.report.to_json(),
        }


@dataclass(frozen=True)
class Dropped(Result):
    """``DROP ANONYMIZED VIEW``; ``dropped`` is false where there was none and IF EXISTS was said."""

    view: str
    dropped: bool
    kind = "drop"

    @property
    def words(self) -> str:
        """A sentence for the owner."""
        return f"anonymized view {self.view}: " + ("dropped; its entry in the ledger stays" if self.dropped else "none")

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {"view": self.view, "dropped": self.dropped}


@dataclass(frozen=True)
class Shown(Result):
    """``SHOW ANONYMIZED VIEWS``: a row for each, the oldest first."""

    views: tuple[dict[str, Any], ...]
    kind = "show"

    @property
    def words(self) -> str:
        """A sentence for the owner."""
        return f"{len(self.views)} anonymized views"

    @property
    def columns(self) -> list[str]:
        """name, model, parameters, algorithm, source, transactions, lm, ncp, created, status."""
        return ["name", "model", "parameters", "algorithm", "source", "transactions", "lm", "ncp", "created", "status"]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The views as rows."""
        return [tuple(view[c] for c in self.columns) for view in self.views]

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {"views": list(self.views)}


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
