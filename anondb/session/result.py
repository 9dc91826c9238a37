"""The result of a query in a session."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anondb.engine.answering import Limits
from anondb.errors import InputError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa

SHOWN_ROWS = 40
"""Rows of a result that are printed; the number of the others is said."""
MOST_AT_ONCE = 100_000
"""Rows that are converted in one go, which no limit ends."""


class Result:
    """The rows of a query, which stay when the session is closed.

    Attributes:
        columns: the names of the columns, which may repeat as in DuckDB; a computed number ``n`` is followed by its bounds
            ``n_lower`` and ``n_upper``.
        types: the DuckDB types of the columns.
        notes: remarks on the interpretation of the query.
    """

    def __init__(
        self,
        rows: duckdb.DuckDBPyRelation,
        columns: Sequence[str],
        notes: Sequence[str],
        limits: Limits = Limits(),  # noqa: B008
    ) -> None:
        self._relation, self._limits = rows, limits
        self.columns = list(columns)
        self.types = [str(kind) for kind in rows.types]
        self.notes = list(notes)

    @property
    def numbers(self) -> list[bool]:
        """For each column whether it has numbers."""
        return [k.endswith("INT") or k.startswith(("INTEGER", "DOUBLE", "FLOAT", "DECIMAL")) for k in self.types]

    @property
    def bounds(self) -> tuple[Any, Any, Any]:
        """Lower bound, estimate and upper bound of a result that is a single number; a bound is None where there is none.

        Raises:
            InputError: ``not_a_number``: it has other columns, or another number of rows than one.
        """
        name = self.columns[0]
        if self.columns != [name, f"{name}_lower", f"{name}_upper"] or len(self) != 1:
            raise InputError(
                "The result is not a single number with bounds.",
                code="not_a_number",
                hint="Read its rows with fetchall(), df() or arrow().",
            )
        ((estimate, lower, upper),) = self.fetchall()
        return lower, estimate, upper

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows, as Python values."""
        with self._limits.hold():
            return fetched(self._relation)

    def df(self) -> pd.DataFrame:
        """The rows as a data frame of pandas; as in DuckDB, a name that repeats has a number: ``item``, ``item_1``."""
        with self._limits.hold():
            return self._relation.df()

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        with self._limits.hold():
            return self._relation.to_arrow_table().rename_columns(self.columns)

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values; dates and other values without a form in JSON are texts."""
        return {"columns": self.columns, "rows": json_rows(self.fetchall()), "notes": self.notes}

    def copy(self) -> Result:
        """The same result with lists of its own."""
        return Result(self._relation, self.columns, self.notes, self._limits)

    def __len__(self) -> int:
        return len(self._relation)

    def __repr__(self) -> str:
        cells = [self.columns, *([_shown(v) for v in row] for row in self.fetchall()[:SHOWN_ROWS])]
        widths = [max(len(row[n]) for row in cells) for n in range(len(self.columns))]
        sides = [str.rjust if number else str.ljust for number in self.numbers]
        lines = ["  ".join(pad(c, w) for pad, c, w in zip(sides, row, widths, strict=True)) for row in cells]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join([*(line.rstrip() for line in lines), *self._remarks()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_shown(v))}</td>" for v in row) + "</tr>"
            for row in self.fetchall()[:SHOWN_ROWS]
        )
        notes = "".join(f"<p>{html.escape(text)}</p>" for text in self._remarks())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def _remarks(self) -> list[str]:
        more = len(self) - SHOWN_ROWS
        return [*([f"({more:,} more rows)"] if more > 0 else []), *(f"note: {note}" for note in self.notes)]


def fetched(rows: duckdb.DuckDBPyRelation) -> list[tuple[Any, ...]]:
    """All rows of a relation, as Python values."""
    if any("TIME ZONE" in str(kind) for kind in rows.types):  # for these, DuckDB itself needs the package pytz
        return list(zip(*(column.to_pylist() for column in rows.to_arrow_table().columns), strict=True))
    found: list[tuple[Any, ...]] = rows.limit(MOST_AT_ONCE).fetchall()
    while found and len(found) % MOST_AT_ONCE == 0 and (more := rows.limit(MOST_AT_ONCE, len(found)).fetchall()):
        found += more
    return found


def json_rows(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    """Rows as JSON values; dates and other values without a form in JSON are texts."""
    return [[v if _is_plain(v) else str(v) for v in row] for row in rows]


def _is_plain(value: Any) -> bool:
    """Whether JSON has a form for a value; it has none for infinity."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int | str | None)


def _shown(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
