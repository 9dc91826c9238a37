"""Infer the possible types of the original's item column from the labels of a release.

Labels are the texts of items. If all of them are texts of numbers, dates or the like, the column may have had that type:
DuckDB then converts the literals of a query to it, and '05' means 5.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_FRACTION = r"(\.[0-9]{0,8}[1-9])?"
_DAY = r"[0-9]{4,}-[0-9]{2}-[0-9]{2}"
_TIME = rf"[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}{_FRACTION}"
_ENDLESS = r"|-?infinity"
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.([0-9]+)")


@dataclass(frozen=True)
class Kind:
    """A type other than text: its DuckDB name, the format of its values and, for whole numbers, all types that can hold the
    labels."""

    sql: str
    form: re.Pattern[str]
    low: int = 0
    high: int = 0

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.sql == WHOLE


WHOLE = "BIGINT"
_WIDTHS = (8, 16, 32, 64, 128)
_KINDS = (
    Kind(WHOLE, re.compile(r"0|-?[1-9][0-9]*")),
    Kind("BOOLEAN", re.compile(r"true|false")),
    Kind("UUID", re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")),
    Kind("DATE", re.compile(rf"{_DAY}( \(BC\))?{_ENDLESS}")),
    Kind("TIME", re.compile(_TIME)),
    Kind("TIMESTAMP", re.compile(rf"{_DAY}( \(BC\))? {_TIME}( \(BC\))?{_ENDLESS}")),
)


def kinds_of(labels: Sequence[str]) -> tuple[Kind, ...]:
    """The types other than text that a column with exactly these labels may have."""
    if not labels:
        return ()
    kinds = [*_KINDS]
    if first := _DECIMAL.fullmatch(labels[0]):
        decimals = len(first[1])
        kinds = [Kind(f"DECIMAL(38, {decimals})", re.compile(rf"-?(0|[1-9][0-9]*)\.[0-9]{{{decimals}}}"))]
    matching = [kind for kind in kinds if all(map(kind.form.fullmatch, labels))]
    return tuple(_fitted(kind, labels) for kind in matching)


def _fitted(kind: Kind, labels: Sequence[str]) -> Kind:
    """The type with the width or precision that the labels need."""
    if kind.whole:
        least, most = min(map(int, labels)), max(map(int, labels))
        bits = [b for b in _WIDTHS if -(1 << (b - 1)) <= least and most < 1 << (b if least >= 0 else b - 1)]
        width = bits[0] if bits else _WIDTHS[-1]
        signed = (1 << (width - 1)) - 1
        return replace(kind, low=0 if least >= 0 else -signed - 1, high=signed if most <= signed else 2 * signed + 1)
    nanoseconds = kind.sql == "TIMESTAMP" and any(re.search(r"\.[0-9]{7,}", label) for label in labels)
    return replace(kind, sql="TIMESTAMP_NS") if nanoseconds else kind
