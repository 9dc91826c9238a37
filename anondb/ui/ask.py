"""Ask a release: SQL that is written for the original tables, with bounds, as tables and bars."""

from __future__ import annotations

import csv
import io
import json
import math
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import anondb
from anondb.options import flags_of
from anondb.pages.counts import Answered, intervals
from anondb.pages.html import both
from anondb.pages.text import number, plain, short
from anondb.ui.window import Window, argument, back, name_of, posted, saved, shown, window_of
from anondb.ui.worker import Say

BOUNDS = {"columns": "its bounds", "spread": "its bounds, and how far plausible originals differ", "none": "nothing"}
_SHOWN, _BARS, _EARLIER, _ITEMS = 200, 40, 20, 2000


@dataclass(frozen=True)
class Opened:
    """A release as its reader sees it: tables with the types of their columns, items, its promise, and remarks."""

    path: str
    trusted: str | None
    tables: dict[str, dict[str, str]]
    items: list[str]
    promise: str
    notes: list[str]

    @property
    def words(self) -> list[str]:
        """What a query may name: tables, columns and items."""
        columns = sorted({column for columns in self.tables.values() for column in columns})
        quoted = ["'" + item.replace("'", "''") + "'" for item in self.items]
        return [*self.tables, *columns, *quoted]


@dataclass(frozen=True)
class Answer:
    """The answer to a query: its columns with their types, all rows as JSON values, notes, and the seconds it took."""

    sql: str
    bounds: str
    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    notes: list[str]
    seconds: float

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
        return [[self._cell(row, i) for i, _ in self.head] for row in self.rows[:_SHOWN]]

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


_KEPT: dict[str, Any] = {}  # in the process of the worker: the session of the release that was asked last, and its file


def _session(path: str, trusted: str | None) -> anondb.Session:
    """A session, which stays open for the next question while its file is the same."""
    place = Path(path)
    state = place.stat() if place.is_file() else None
    key = (path, trusted, state and (state.st_ino, state.st_mtime_ns, state.st_size), None if state else object())
    if _KEPT.get("key") != key:
        if "session" in _KEPT:
            _KEPT.pop("session").close()
        _KEPT.update(session=anondb.open(path, trusted=trusted), key=key)
    session: anondb.Session = _KEPT["session"]
    return session


def opening(say: Say, path: str, trusted: str | None) -> Opened:
    """Open a release, and read what its reader may know before the first question."""
    session = _session(path, trusted)
    listing = session.sql("SELECT item FROM item_counts LIMIT ?", [_ITEMS]) if "item_counts" in session.objects else None
    items = [] if listing is None else [str(row[0]) for row in listing.fetchall()]
    return Opened(path, trusted, session.types, items, session.promise, list(session.notes))


def answering(say: Say, path: str, trusted: str | None, sql: str, bounds: str) -> Answer:
    """Answer a query."""
    begun = time.monotonic()
    result = _session(path, trusted).sql(sql, bounds=bounds)
    values = result.to_json()
    return Answer(sql, bounds, result.columns, result.types, values["rows"], result.notes, time.monotonic() - begun)


def page(request: Request) -> Response:
    """The query box, the latest answer, and what can be asked."""
    window = window_of(request)
    if "ask.open" not in window.jobs and window.parts[0] == "ask" and window.source is not None:
        _open(window, window.source, None)
    opened, answer = window.result("ask.open"), window.result("ask")
    job = window.jobs.get("ask")
    asked = job.arguments if job is not None else {"sql": "", "bounds": "columns"}
    values = {"opened": opened, "answer": answer, "asked": asked, "most": _SHOWN, "choices": BOUNDS}
    command = None if answer is None else _command(opened, answer)
    return shown(request, "ask.html", command=command, earlier=window.kept.get("ask.earlier", []), **values)


def _command(opened: Opened | None, answer: Answer) -> str:
    """The command that prints an answer."""
    if opened is None:
        return ""
    flags = flags_of({"bounds": None if answer.bounds == "columns" else answer.bounds, "trusted": opened.trusted})
    dash = ["--"] if answer.sql.startswith("-") else []
    return shlex.join(["anondb", "query", *flags, *dash, argument(opened.path), answer.sql])


def _open(window: Window, path: str, trusted: str | None) -> None:
    window.forget("ask")
    window.run("ask.open", f"Opening {name_of(path)}", opening, beside=True, path=path, trusted=trusted)


async def open_release(request: Request) -> Response:
    """Open a release that was named, dropped or picked."""
    fields, _ = await posted(request)
    if "path" in fields:
        _open(window_of(request), fields["path"], fields.get("trusted"))
    return back("/ask")


async def ask(request: Request) -> Response:
    """Ask a query of the open release."""
    window, (fields, _) = window_of(request), await posted(request)
    opened, sql = window.result("ask.open"), fields.get("sql", "").replace("\r\n", "\n")
    if opened is not None and sql:
        earlier = [query for query in window.kept.get("ask.earlier", []) if query != sql]
        window.kept["ask.earlier"] = [sql, *earlier][:_EARLIER]
        arguments = {"path": opened.path, "trusted": opened.trusted, "sql": sql, "bounds": fields.get("bounds", "columns")}
        window.run("ask", "Answering", answering, beside=True, **arguments)
    return back("/ask")


def export(request: Request) -> Response:
    """The latest answer as a file, with all rows and columns."""
    answer: Answer | None = window_of(request).result("ask")
    if answer is None:
        return saved(None, "")
    if request.url.path.endswith("json"):
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        text = json.dumps({"rows": rows, "notes": answer.notes}, ensure_ascii=False)
        return saved(text, "answer.json", "application/json")
    lines = io.StringIO(newline="")
    csv.writer(lines).writerows([answer.columns, *answer.rows])
    return saved(lines.getvalue(), "answer.csv", "text/csv")


ROUTES = [
    Route("/ask", page),
    Route("/ask", ask, methods=["POST"]),
    Route("/ask/open", open_release, methods=["POST"]),
    Route("/ask/answer.csv", export),
    Route("/ask/answer.json", export),
]
