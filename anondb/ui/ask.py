"""Ask a release: SQL that is written for the original tables, with bounds, as tables and bars."""

from __future__ import annotations

import csv
import io
import json
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.responses import Response

import anondb
from anondb.options import flags_of
from anondb.pages.answers import SHOWN, Answer
from anondb.reading.options import word_of
from anondb.ui.window import Form, Window, get, name_of, post, saved
from anondb.ui.worker import Say

BOUNDS = {"columns": "its bounds", "spread": "its bounds, and how far plausible originals differ", "none": "nothing"}
_EARLIER, _ITEMS = 20, 2000


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
class Reply(Answer):
    """The answer to a query, its notes, and the seconds it took."""

    sql: str
    notes: list[str]
    seconds: float


_KEPT: dict[str, Any] = {}  # in the process of the worker: the session of the release that was asked last, and its file


def _session(path: str, trusted: str | None) -> anondb.Session:
    """A session, which stays open for the next question while its file is the same."""
    place = Path(path)
    state = place.stat() if place.is_file() else None
    key = (path, trusted, state and (state.st_ino, state.st_mtime_ns, state.st_size), None if state else object())
    if _KEPT.get("key") != key or _KEPT["session"].is_closed:
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


def answering(say: Say, path: str, trusted: str | None, sql: str, bounds: str) -> Reply:
    """Answer a query."""
    begun = time.monotonic()
    result = _session(path, trusted).sql(sql, bounds=bounds)
    values = result.to_json()
    return Reply(result.columns, values["rows"], bounds, sql, result.notes, time.monotonic() - begun)


@get("/ask", "ask.html")
def page(window: Window) -> dict[str, Any]:
    """The query box, the latest answer, and what can be asked."""
    if "ask.open" not in window.jobs and window.parts[0] == "ask" and window.source is not None:
        _open(window, window.source, None)
    opened, answer, job = window.result("ask.open"), window.result("ask"), window.jobs.get("ask")
    asked = job.arguments if job is not None else {"sql": "", "bounds": "columns"}
    command = _command(opened, answer) if opened and answer else ""
    values = {"opened": opened, "answer": answer, "asked": asked, "most": SHOWN, "choices": BOUNDS, "command": command}
    return values | {"earlier": window.kept.get("ask.earlier", [])}


def _command(opened: Opened, answer: Reply) -> str:
    """The command that prints an answer."""
    flags = flags_of({"bounds": None if answer.bounds == "columns" else answer.bounds, "trusted": opened.trusted})
    dash = ["--"] if answer.sql.startswith("-") else []
    return shlex.join(["anondb", "query", *flags, *dash, word_of(opened.path), answer.sql])


def _open(window: Window, path: str, trusted: str | None) -> None:
    window.forget("ask")
    window.run("ask.open", f"Opening {name_of(path)}", opening, beside=True, path=path, trusted=trusted)


@post("/ask/open")
def open_release(window: Window, form: Form) -> None:
    """Open a release that was named, dropped or picked."""
    if "path" in form:
        _open(window, form["path"], form.get("trusted"))


@post("/ask")
def ask(window: Window, form: Form) -> None:
    """Ask a query of the open release."""
    opened, sql = window.result("ask.open"), form.get("sql", "").replace("\r\n", "\n")
    if opened is not None and sql:
        earlier = [query for query in window.kept.get("ask.earlier", []) if query != sql]
        window.kept["ask.earlier"] = [sql, *earlier][:_EARLIER]
        arguments = {"path": opened.path, "trusted": opened.trusted, "sql": sql, "bounds": form.get("bounds", "columns")}
        window.run("ask", "Answering", answering, beside=True, **arguments)


@get("/ask/answer.{kind:str}")
def export(window: Window, kind: str) -> Response:
    """The latest answer as a file, with all rows and columns."""
    answer: Reply | None = window.result("ask")
    if answer is None or kind not in ("json", "csv"):
        return saved(None, "")
    if kind == "json":
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        text = json.dumps({"rows": rows, "notes": answer.notes}, ensure_ascii=False)
        return saved(text, "answer.json", "application/json")
    lines = io.StringIO(newline="")
    csv.writer(lines).writerows([answer.columns, *answer.rows])
    return saved(lines.getvalue(), "answer.csv", "text/csv")
