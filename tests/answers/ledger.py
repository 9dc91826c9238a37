"""The ledger of widths: what each release of ``ledger_releases`` answers to each query of ``ledger.sql``.

``ledger.csv`` has a line for each: the code of a refusal, or the answer in a compact form, with which later answers are
compared.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
from answers.groups import plain
from answers.judging import Answer, Key, Number, answer_of, ordinal
from answers.ledger_releases import KINDS, LISTS, Kind, asked, written_for

import anondb

QUERIES = Path(__file__).with_name("ledger.sql")
FILE = Path(__file__).with_name("ledger.csv")
COLUMNS = ("release", "shape", "n", "outcome", "rows", "unbounded", "log_widths", "digest", "cells")
ANSWERED = "answered"
HEAD = re.compile(r"-- ([a-z ]+)(?: \[(\w+)\])?")
RECORDS = "records"
MOST = 4000  # characters of cells in a line; a longer answer has its sums alone
CLOSE = 2e-6  # relative; cells have 7 digits


@dataclass(frozen=True)
class Query:
    """A query of the ledger: its shape, its number in the shape, what it needs, and its text."""

    shape: str
    n: int
    needs: str
    sql: str

    def fits(self, kind: Kind) -> bool:
        """Whether it can be asked of the originals of such a release."""
        return (self.needs == LISTS) == (kind.layout == LISTS) and (self.needs != RECORDS or kind.with_records)


@dataclass(frozen=True)
class Entry:
    """What became of a query: ``answered`` or the code of a refusal, and the answer.

    Attributes:
        rows: the number of rows.
        unbounded: how many numbers have no finite width.
        log_widths: the sum of log(width + 1) over the others.
        digest: of the cells.
        cells: key, lower bound, estimate and upper bound of each number, if they are short.
    """

    outcome: str
    rows: int = 0
    unbounded: int = 0
    log_widths: float = 0.0
    digest: str = ""
    cells: str = ""

    @property
    def numbers(self) -> dict[str, list[Number]]:
        """The numbers of each row by its key."""
        found = {}
        for text in self.cells.split(";") if self.cells else []:
            key, *numbers = text.split("|")
            found[key] = [_number(n) for n in numbers]
        return found


def _number(text: str) -> Number:
    lower, estimate, upper = (None if part == "-" else float(part) for part in text.split("/"))
    return Number(estimate, -math.inf if lower is None else lower, math.inf if upper is None else upper)


def queries(file: Path = QUERIES) -> list[Query]:
    """The queries in their order."""
    found: list[Query] = []
    shape, needs, n = "", "", 0
    for line in file.read_text("utf-8").splitlines():
        if head := HEAD.fullmatch(line):
            shape, needs, n = head[1], head[2] or "", 0
        elif line.endswith(";"):
            n += 1
            found.append(Query(shape, n, needs, line[:-1]))
    return found


def entry_of(answer: Answer) -> Entry:
    """The compact form of an answer."""
    lines = [
        "|".join([_key(key), *(f"{_shown(x.lower)}/{_shown(x.estimate)}/{_shown(x.upper)}" for x in numbers)])
        for key, numbers in answer.rows.items()
    ]
    text = ";".join(sorted(lines))
    widths = [x.width for numbers in answer.rows.values() for x in numbers]
    finite = [math.log1p(width) for width in widths if width < math.inf]
    return Entry(
        ANSWERED,
        len(lines),
        len(widths) - len(finite),
        float(f"{math.fsum(finite):.7g}"),
        sha256(text.encode()).hexdigest()[:8],
        text if len(text) <= MOST else "",
    )


def _key(key: Sequence[Any]) -> str:
    return ",".join(f"{v:g}" if isinstance(v, float) else str(v) for v in key)


def _shown(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.7g}"


def measured(
    session: anondb.Session, original: duckdb.DuckDBPyConnection, query: Query, kind: Kind
) -> tuple[Entry, list[str]]:
    """What becomes of a query, and where the answer does not hold the truth."""
    sql = written_for(query.sql, kind)
    try:
        result = session.sql(sql)
    except anondb.InputError as refusal:
        return Entry(refusal.code), []
    shown = Shown(result, sql)
    return entry_of(shown.answer), list(shown.faults(original))


class Shown:
    """An answer, to compare with what originals give: numbers with their bounds, conditions, and which rows there are.

    Columns without bounds are the keys of rows, but for those that are computed.
    """

    def __init__(self, result: anondb.Result, sql: str) -> None:
        self.sql, self.answer = sql, answer_of(result, sql)
        keys = [name for name, is_key in zip(_base(result.columns), self.answer.keys, strict=True) if is_key]
        self.keys = [name for name in keys if not computed(name)]
        self.conditions = [name for name in keys if computed(name)]
        self.estimated = [n for n in keys for note in result.notes if f"column {n!r} is computed from estimates" in note]
        self.rows: dict[Key, tuple[dict[str, Any], list[Number]]] = {}
        for key, numbers in self.answer.rows.items():
            named = dict(zip(keys, key, strict=True))
            self.rows[tuple(named[name] for name in self.keys)] = named, numbers
        # where a row is absent, a sum over rows before it is not 0
        flagged = result.columns[-1] == "certain" or " OVER " not in sql
        named = [dict(zip(keys, key, strict=True)) for key in self.answer.certain if flagged and not self.answer.cut]
        self.certain = {tuple(of[name] for name in self.keys) for of in named}

    def faults(self, con: duckdb.DuckDBPyConnection) -> Iterator[str]:
        """Where the answer is wrong if the tables of a connection are the original's: a number outside its bounds, a row
        that is missing or wrongly certain, or a wrong condition."""
        true = con.execute(self.sql)
        names = [column[0] for column in true.description or []]
        bounded = [name for name in names if name not in self.keys and name not in self.conditions]
        found = set()
        for row in true.fetchall():
            values = dict(zip(names, map(plain, row), strict=True))
            key = tuple(values[name] for name in self.keys)
            found.add(key)
            if key not in self.rows:
                if not self.answer.open and not self.answer.cut:
                    yield f"{self.sql}: the row {values} is missing"
                continue
            shown, numbers = self.rows[key]
            for name in self.conditions:
                told = isinstance(values[name], bool) and name not in self.estimated
                if told and shown[name] not in (None, values[name]):
                    yield f"{self.sql}: {name} is {shown[name]}, and {values[name]} in truth"
            for name, number in zip(bounded, numbers, strict=True):
                if values[name] is not None and not number.holds(ordinal(values[name])):
                    yield f"{self.sql}: {name} of {key} is {values[name]} in truth, not within {number}"
        yield from (f"{self.sql}: the row {key} is certain, and not in truth" for key in self.certain - found)


def computed(name: str) -> bool:
    """Whether a column without bounds is computed from counts: a rank, or a condition."""
    return name == "r" or name.startswith("is_")


def _base(columns: Sequence[str]) -> list[str]:
    """The columns of a result without those that anondb adds."""
    added = {f"{name}_{end}" for name in columns for end in ("lower", "upper") if f"{name}_upper" in columns}
    return [name for n, name in enumerate(columns) if name not in added and (name != "certain" or n < len(columns) - 1)]


def entries(folder: Path, release: str, chosen: Iterable[Query]) -> Iterator[tuple[Query, Entry, list[str]]]:
    """What becomes of queries in a release; the release is made in the folder."""
    kind = KINDS[release]
    with asked(release, folder) as (session, original):
        for query in chosen:
            if query.fits(kind):
                yield query, *measured(session, original, query, kind)


def read(file: Path = FILE) -> dict[tuple[str, str, int], Entry]:
    """The entries of a ledger, by release, shape and number."""
    with file.open(encoding="utf-8", newline="") as lines:
        return {
            (line["release"], line["shape"], int(line["n"])): Entry(
                line["outcome"],
                int(line["rows"]),
                int(line["unbounded"]),
                float(line["log_widths"]),
                line["digest"],
                line["cells"],
            )
            for line in csv.DictReader(lines)
        }


def write(ledger: dict[tuple[str, str, int], Entry], file: Path = FILE) -> None:
    """Write a ledger."""
    with file.open("w", encoding="utf-8", newline="") as target:
        lines = csv.writer(target, lineterminator="\n")
        lines.writerow(COLUMNS)
        for (release, shape, n), e in ledger.items():
            lines.writerow([release, shape, n, e.outcome, e.rows, e.unbounded, f"{e.log_widths:.7g}", e.digest, e.cells])


def worse(before: Entry, now: Entry) -> str:
    """What is worse in an answer than it was, or nothing: a refusal, or a bound that is wider."""
    if before.outcome != ANSWERED:
        return ""
    if now.outcome != ANSWERED:
        return f"refused: {now.outcome}"
    if before.cells and now.cells:
        return next(
            (
                f"{key}: {x} was {b}"
                for key, numbers in now.numbers.items()
                for b, x in zip(before.numbers.get(key, []), numbers, strict=False)
                if wider(b, x)
            ),
            "",
        )
    if now.unbounded > before.unbounded:
        return f"{now.unbounded} numbers without bounds, which were {before.unbounded}"
    less = now.log_widths <= before.log_widths * (1 + CLOSE) + CLOSE
    return "" if less or now.unbounded < before.unbounded else f"log widths {now.log_widths}, which were {before.log_widths}"


def wider(before: Number, now: Number) -> bool:
    """Whether bounds are wider than they were, beyond the digits that the ledger has."""
    if before.width == math.inf:
        return False
    return now.width > before.width + CLOSE * max(1.0, abs(before.lower), abs(before.upper))


def ratios(before: Entry, now: Entry) -> list[float]:
    """For each number with finite widths in both answers, log((width + 1) / (width before + 1))."""
    pairs = [
        (b.width, x.width)
        for key, numbers in now.numbers.items()
        for b, x in zip(before.numbers.get(key, []), numbers, strict=False)
    ]
    if not pairs and (before.rows, before.unbounded) == (now.rows, now.unbounded) and before.digest:
        numbers = max(before.rows, 1)  # the sums alone are known: each row gets its share
        return [(now.log_widths - before.log_widths) / numbers] * numbers
    return [math.log1p(x) - math.log1p(b) for b, x in pairs if b < math.inf and x < math.inf]
