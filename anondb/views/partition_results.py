"""The result of creating or refreshing a partitioned view."""

from dataclasses import dataclass
from typing import Any

from anondb.models import json_of
from anondb.pipeline.reports import Report
from anondb.publications.history import notes
from anondb.views.results import Result


@dataclass(frozen=True)
class MadePart:
    """A release that was made, or only published, for one value."""

    value: str
    release: str
    transactions: int
    report: Report | None  # of the new release; None if it was there and only published
    published: str | None  # the path of its sealed file, if one was written
    renamed: tuple[str, str] | None = None  # analysts' table before and after, if its rows are the first to repeat

    def to_json(self) -> dict[str, Any]:
        """The part as JSON values."""
        return dict(json_of(self, "value", "release", "transactions", "published", "report"))


@dataclass(frozen=True)
class Partitioned(Result):
    """The result of ``CREATE`` or ``REFRESH ANONYMIZED VIEW`` for a partitioned view."""

    view: str
    column: str  # that of the values
    made: tuple[MadePart, ...]  # the releases that were made or published, by value
    unchanged: int  # the number of values whose releases stay
    gone: int = 0  # the number of values that no row has any more; their releases stay
    ignored: int = 0  # the number of values whose late rows were left out
    folder: str | None = None  # where they are published; None if they are not
    kind: str = "refresh"  # ``create`` or ``refresh``
    head = ("value", "release", "transactions", "published")

    @property
    def changed(self) -> bool:
        """Whether a release was made."""
        return any(part.report is not None for part in self.made)

    @property
    def words(self) -> str:
        """A sentence for the owner."""
        new = [part for part in self.made if part.report is not None]
        if not self.made:
            return f"anonymized view {self.view}: no new values of {self.column!r}, and {self.unchanged:,} unchanged"
        said = [f"{_values(len(new))} of {self.column!r} with {sum(p.transactions for p in new):,} transactions released"]
        if len(self.made) > len(new):
            said.append(f"{len(self.made) - len(new):,} published that had no file")
        if self.unchanged:
            said.append(f"{self.unchanged:,} unchanged")
        if self.folder is not None and self.made:
            said.append(f"published in {self.folder}")
        return f"anonymized view {self.view}: {', '.join(said)}"

    @property
    def notes(self) -> list[str]:
        """A line on values that are gone, on late rows, and on earlier publications of the same persons."""
        lines = []
        if self.gone:
            lines.append(f"No rows are left of {_values(self.gone)} of {self.column!r}, whose releases stay.")
        if self.ignored:
            lines.append(f"The late rows of {_values(self.ignored)} of {self.column!r} are in no release.")
        for before, now in (p.renamed for p in self.made if p.renamed is not None):
            lines.append(
                f"Rows repeat, so counts over {before!r} would differ from those of the releases: analysts query the table"
                f" {now!r}, also of earlier values, whose files were written again."
            )
        intersections = [i for p in self.made if p.report is not None for i in p.report.intersections]
        return [*lines, *notes(intersections)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """A row for each release that was made or published."""
        return [(p.value, p.release, p.transactions, p.published) for p in self.made]

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "view": self.view,
            "partition_by": self.column,
            **json_of(self, "changed", "made", "unchanged", "gone"),
            "late_rows_ignored": self.ignored,
            "published": self.folder,
        }


def _values(number: int) -> str:
    return f"{number:,} value{'s' * (number != 1)}"
