"""The types of items other than text, and how DuckDB writes their values.

Labels are the texts of items. DuckDB converts the literals of a query to the type of the column: '05' is 5.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

TEXT, WHOLE = "VARCHAR", "BIGINT"
_FRACTION = r"(\.[0-9]{0,8}[1-9])?"
_DAY = r"[0-9]{4,}-[0-9]{2}-[0-9]{2}"
_TIME = rf"[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}{_FRACTION}"
_ENDLESS = r"|-?infinity"
_NUMBER = r"0|-?[1-9][0-9]*"
_MOMENT = rf"{_DAY}( \(BC\))? {_TIME}( \(BC\))?{_ENDLESS}"


@dataclass(frozen=True)
class Kind:
    """A type other than text: its DuckDB name, the format of its values, and whether the manifest names it.

    A manifest says VARCHAR of some types that it has no name for.
    """

    sql: str
    form: re.Pattern[str]
    named: bool = True

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.form.pattern == _NUMBER


_NAMED = {
    WHOLE: _NUMBER,
    "BOOLEAN": "true|false",
    "UUID": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "DATE": rf"{_DAY}( \(BC\))?{_ENDLESS}",
    "TIMESTAMP": _MOMENT,
}
_UNNAMED = [Kind(sql, re.compile(form), False) for sql, form in (("TIME", _TIME), ("TIMESTAMP_NS", _MOMENT))]
_MOST_DIGITS = 38  # of a DECIMAL
_HUGE = Kind("HUGEINT", re.compile(_NUMBER), False)


def kind_of(stated: str, labels: Sequence[str]) -> Kind | None:
    """The type of a column with these labels, or one that it may have; None if it is that of texts.

    Args:
        stated: the type that the manifest names.
        labels: the labels that are known.
    """
    if stated != TEXT:
        decimals = re.search(r",([0-9]+)\)", stated)
        fraction = rf"-?(0|[1-9][0-9]*)\.[0-9]{{{decimals[1]}}}" if decimals and decimals[1] != "0" else _NUMBER
        return Kind(stated, re.compile(_NAMED.get(stated, fraction)))
    huge = [_HUGE] if any(len(label) > _MOST_DIGITS for label in labels) else []
    fitting = (kind for kind in (*_UNNAMED, *huge) if all(map(kind.form.fullmatch, labels)))
    return next(fitting, None) if labels else None


def is_whole(label: str) -> bool:
    """Whether a text is that of a whole number."""
    return re.fullmatch(_NUMBER, label) is not None
