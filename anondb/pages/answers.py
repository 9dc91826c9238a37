"""An answer to a query as a page shows it: a table in which the bounds stand below their numbers, and bars."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from anondb.pages.counts import Answered, intervals
from anondb.pages.html import both, table
from anondb.pages.text import number, plain, short

SHOWN, _BARS = 200, 40  # rows


@dataclass(frozen=True)
class Answer:
    """The answer to a query: its columns, all rows as JSON values, and what stands beside numbers."""

    columns: list[str]
    rows: list[list[Any]]
    bounds: str

    @property
    def bounded(self) -> dict[int, tuple[int, int]]:
        """The columns of numbers with bounds, each with the columns of its lower and its upper bound."""
        return self._between("lower", "upper")

    @property
    def spread(self) -> dict[int, tuple[int, int]]:
        """The columns of numbers with a spread, each with the columns of its ends."""
        return self._between("low", "high") if self.bounds == "spread" else {}

    def _between(self, lower: str, upper: str) -> dict[int, tuple[int, int]]:
        at = {name: i for i, name in enumerate(self.columns)}
        pairs = {i: (at.get(f"{name}_{lower}"), at.get(f"{name}_{upper}")) for name, i in at.items()}
        return {i: (low, high) for i, (low, high) in pairs.items() if low is not None and high is not None}

    @property
    def head(self) -> list[tuple[int, str]]:
        """The columns that are shown, by number; bounds and spreads stand in the cells of their numbers."""
        ends = {i for pairs in (self.bounded, self.spread) for pair in pairs.values() for i in pair}
        return [(i, plain(name)) for i, name in enumerate(self.columns) if i not in ends]

    @property
    def shown_rows(self) -> list[list[tuple[str, str]]]:
        """The first rows, each cell as a text and the bounds below it."""
        return [[self._cell(row, i) for i, _ in self.head] for row in self.rows[:SHOWN]]

    @property
    def table(self) -> str:
        """The first rows as a table."""
        ends = '{} <span class="note ends">{}</span>'
        cells = [
            [ends.format(*map(escape, cell)) if cell[1] else escape(cell[0]) for cell in row] for row in self.shown_rows
        ]
        text = [n for n, (i, _) in enumerate(self.head) if i not in self.bounded]
        return table([escape(name) for _, name in self.head], cells, text)

    def _cell(self, row: Sequence[Any], i: int) -> tuple[str, str]:
        low, high = (row[j] for j in self.bounded.get(i, (i, i)))
        words = _words(row[i])
        if i not in self.bounded:
            return words, ""
        if low is None and high is None:
            return words, "no bounds"
        if low == high:
            return words, "exactly"
        within = [_words(row[j]) for j in self.spread.get(i, ())]
        return words, f"{_words(low)} to {_words(high)}" + (f", plausibly {within[0]} to {within[1]}" if within else "")

    @property
    def bars(self) -> str:
        """The first numbers with bounds, each row as a bar; empty if there is none, or one is negative."""
        if not self.bounded:
            return ""
        i, (low, high) = next(iter(self.bounded.items()))
        others = [j for j, _ in self.head if j not in self.bounded and self.columns[j] not in ("certain", "in_worlds")]
        bars = [
            Answered(", ".join(short(_words(row[j]), 40) for j in others) or self.columns[i], row[low], row[i], row[high])
            for row in self.rows[:_BARS]
            if all(isinstance(row[j], int | float) and 0 <= row[j] < math.inf for j in (i, low, high))
        ]
        return both(*(intervals("Answers with their bounds", bars, width) for width in (760, 340))) if bars else ""


def _words(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return number(value) if abs(value) < 1e15 else f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else plain(value if isinstance(value, str) else json.dumps(value))
