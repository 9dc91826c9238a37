"""Judges the answers to equal queries: against the truth, and against each other.

All spellings of a query have one truth. So each answer's bounds must hold it, the bounds of two answers must meet, and their
estimates are equal. A spelling may have wider bounds than another, but not more than twice as wide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import duckdb
from answers.groups import CLOSE, Group, Row, plain

import anondb

OUTSIDE, MISSING, CONTRADICTION = "truth outside", "row missing", "contradiction"
ESTIMATE, IN_PART, WIDER = "unequal estimate", "answered in part", "wider than twice"
CUT = re.compile(r"\b(LIMIT|QUALIFY|FETCH|row_number|rank)\b", re.IGNORECASE)  # which rows are listed, estimates decide
WIDEST = 2.0  # times the narrowest
Key = tuple[object, ...]


class Number(NamedTuple):
    """A computed number of a result; a bound that does not exist is infinite."""

    estimate: float | None
    lower: float
    upper: float

    @property
    def width(self) -> float:
        return self.upper - self.lower if math.isfinite(self.lower) and math.isfinite(self.upper) else math.inf

    def holds(self, value: float) -> bool:
        """Whether a number lies between the bounds; what is none, as 0 / 0, has no bounds."""
        if math.isnan(value):
            return self.lower == -math.inf and self.upper == math.inf
        slack = CLOSE * max(1.0, abs(value))
        return self.lower - slack <= value <= self.upper + slack


@dataclass(frozen=True)
class Answer:
    """The result of a query, by the keys of its rows.

    Attributes:
        rows: the numbers of each row, by its columns without bounds.
        certain: the keys of rows that every original has.
        keys: for each column whether it is part of the key.
        open: whether a note says that rows may be missing.
        cut: whether the query cuts rows off.
    """

    sql: str
    rows: dict[Key, list[Number]]
    certain: set[Key]
    keys: tuple[bool, ...]
    open: bool
    cut: bool


class Finding(NamedTuple):
    """What is wrong: its kind, the spellings that show it (numbered from 1), and the values."""

    kind: str
    spelling: int
    text: str


def answer_of(result: anondb.Result, sql: str) -> Answer:
    """The parts of a result."""
    columns, places = result.columns, []
    flagged = columns[-1] == "certain"
    n = 0
    while n < len(columns) - flagged:
        bounded = columns[n + 1 : n + 3] == [f"{columns[n]}_lower", f"{columns[n]}_upper"]
        places.append((n, bounded))
        n += 3 if bounded else 1
    rows: dict[Key, list[Number]] = {}
    certain = set()
    for row in result.fetchall():
        key = tuple(plain(row[n]) for n, bounded in places if not bounded)
        rows[key] = [_number(*row[n : n + 3]) for n, bounded in places if bounded]
        if row[-1] is True if flagged else not key or any(0 < x.lower < math.inf for x in rows[key]):
            certain.add(key)
    words = ("missing", "suppressed", "no bounds", "modelled")  # rows without bounds are those of worlds
    is_open = any(word in note for word in words for note in map(str.lower, result.notes))
    return Answer(sql, rows, certain, tuple(not b for _, b in places), is_open, bool(CUT.search(sql)))


def _number(estimate: Any, lower: Any, upper: Any) -> Number:
    low, high = -math.inf if lower is None else ordinal(lower), math.inf if upper is None else ordinal(upper)
    return Number(None if estimate is None else ordinal(estimate), low, high)


def ordinal(value: Any) -> float:
    """A number, or a date as a number of days."""
    return float(value.toordinal()) if hasattr(value, "toordinal") else float(value)


def judge(session: anondb.Session, original: duckdb.DuckDBPyConnection, group: Group) -> list[Finding]:
    """All that is wrong with the answers to a group of equal queries."""
    found: list[Finding] = []
    answers: dict[int, Answer] = {}
    for n, sql in enumerate(group.spellings, 1):
        try:
            answers[n] = answer_of(session.sql(sql), sql)
        except anondb.InputError as refusal:
            found.append(Finding(IN_PART, n, f"{sql}: {refusal}"))
    if not answers:
        found.clear()
    truth = original.execute(group.spellings[0]).fetchall()
    for n, answer in answers.items():
        found += (Finding(kind, n, f"{answer.sql}: {text}") for kind, text in against_truth(answer, truth))
    for (_, one), (n, other) in combinations(answers.items(), 2):
        found += (Finding(kind, n, f"{one.sql} / {other.sql}: {text}") for kind, text in against_each_other(one, other))
    return found


def against_truth(answer: Answer, truth: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """What the truth shows to be wrong with an answer."""
    true = {}
    for row in truth:
        parts = [(plain(v), key) for v, key in zip(row, answer.keys, strict=True)]
        true[tuple(v for v, key in parts if key)] = [v for v, key in parts if not key]
    for key, values in true.items():
        if key in answer.rows:
            for value, number in zip(values, answer.rows[key], strict=True):
                if value is not None and not number.holds(value):
                    yield OUTSIDE, f"{key} is {value}, not within {number}"
        elif not answer.cut and not answer.open:
            yield MISSING, f"{key}"
    if not answer.cut:
        for key in answer.certain - set(true):
            yield OUTSIDE, f"{key} is certain, and no row of the truth"


def against_each_other(one: Answer, other: Answer) -> Iterator[tuple[str, str]]:
    """What the answers to two equal queries show to be wrong with each other."""
    if one.keys != other.keys:
        yield CONTRADICTION, f"the columns {one.keys} and {other.keys}"
        return
    if not (one.cut or other.cut):
        for key in (one.certain - set(other.rows)) | (other.certain - set(one.rows)):
            yield CONTRADICTION, f"{key} is certain in one answer and no row of the other"
    if set(one.rows) != set(other.rows):
        yield ESTIMATE, f"other rows: {sorted(map(str, set(one.rows) ^ set(other.rows)))[:3]}"
    for key in one.rows.keys() & other.rows.keys():
        for x, y in zip(one.rows[key], other.rows[key], strict=True):
            yield from ((kind, f"{key}: {x} and {y}") for kind in compared(x, y))


def compared(x: Number, y: Number) -> Iterable[str]:
    """The kinds of faults that two answers to one number have."""
    lower, upper = max(x.lower, y.lower), min(x.upper, y.upper)
    if lower > upper + CLOSE * max(1.0, abs(upper)):
        yield CONTRADICTION
    if (x.estimate is None) != (y.estimate is None) or not math.isclose(x.estimate or 0, y.estimate or 0, rel_tol=CLOSE):
        yield ESTIMATE
    narrow, wide = sorted((x.width, y.width))
    scale = CLOSE * max([1e-6, *(abs(v) for v in (*x, *y) if v is not None and math.isfinite(v))])
    if wide > WIDEST * narrow + scale:
        yield WIDER
