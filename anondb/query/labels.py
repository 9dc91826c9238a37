"""The types that an original's item column may have, as far as the labels of a release tell.

Labels are the texts of items. Where all of them are texts of numbers, dates or the like, the column may have been of that
type: DuckDB then reads the literals of a query as values of it, so that '05' means 5.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_FRACTION = r"(\.[0-9]{0,8}[1-9])?"
_DAY = r"[0-9]{4,}-[0-9]{2}-[0-9]{2}"
_TIME = rf"[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}{_FRACTION}"
_ENDLESS = r"|-?infinity"
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.([0-9]+)")


@dataclass(frozen=True)
class Kind:
    """A type other than text: its name in DuckDB, and how it writes its values."""

    sql: str
    form: re.Pattern[str]

    @property
    def whole(self) -> bool:
        """Whether it is that of whole numbers."""
        return self.sql == WHOLE


WHOLE = "BIGINT"
_KINDS = (
    Kind(WHOLE, re.compile(r"0|-?[1-9][0-9]*")),
    Kind("BOOLEAN", re.compile(r"true|false")),
    Kind("UUID", re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")),
    Kind("DATE", re.compile(rf"{_DAY}( \(BC\))?{_ENDLESS}")),
    Kind("TIME", re.compile(_TIME)),
    Kind("TIMESTAMP", re.compile(rf"{_DAY}( \(BC\))? {_TIME}( \(BC\))?{_ENDLESS}")),
)


def kinds_of(labels: Sequence[str]) -> tuple[Kind, ...]:
    """The types other than text that a column with these labels, and no others, may have."""
    if not labels:
        return ()
    kinds = [*_KINDS]
    if first := _DECIMAL.fullmatch(labels[0]):
        decimals = len(first[1])
        kinds = [Kind(f"DECIMAL(38, {decimals})", re.compile(rf"-?(0|[1-9][0-9]*)\.[0-9]{{{decimals}}}"))]
    found = [kind for kind in kinds if all(map(kind.form.fullmatch, labels))]
    return tuple(Kind(_finest(kind.sql, labels), kind.form) for kind in found)


def _finest(sql: str, labels: Sequence[str]) -> str:
    """The type, of the precision that the labels need."""
    nanoseconds = sql == "TIMESTAMP" and any(re.search(r"\.[0-9]{7,}", label) for label in labels)
    return "TIMESTAMP_NS" if nanoseconds else sql
