"""The part Load: choose a source, see how it is read, mend that, and confirm it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anondb.pages.plots import bars
from anondb.reading.formats import is_data_file
from anondb.reading.options import OF_FILES, PEOPLE, READING, reading_flags
from anondb.ui import tasks
from anondb.ui.window import Project, Window, back, shown, window_of

HERE = "/load"
_PEEK = ("load-peek", "load-taxonomy", "load-records", "load-made")  # jobs about what is being chosen
_BOOLEAN = READING["header"].kinds


@dataclass
class Choice:
    """What was chosen so far.

    Attributes:
        database: that of the tables; empty for files.
        transactions: a file or a table; empty before one is chosen.
        given: how it is read, as far as the user says; with ``id`` and ``item``.
        taxonomy, records: files or tables; empty for none.
    """

    database: str = ""
    transactions: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    taxonomy: str = ""
    records: str = ""


def begin(window: Window, source: str) -> None:
    """Look at a source: the tables of a database, or how a data file is read."""
    window.source = source
    window.forget("load-tables", *_PEEK)
    choice = window.kept["load"] = Choice(transactions=source) if is_data_file(source) else Choice(database=source)
    if choice.database:
        window.run("load-tables", f"Looking at {name_of(source)}", tasks.tables, database=source)
    else:
        look(window, choice)


def look(window: Window, choice: Choice) -> None:
    """Look at the chosen transactions, as far as the user says how they are read."""
    window.forget(*_PEEK)
    choice.taxonomy = choice.records = ""
    how: dict[str, Any] = {"database": choice.database, "source": choice.transactions, "given": choice.given}
    window.run("load-peek", f"Reading {name_of(choice.transactions)}", tasks.peek, **how)


def name_of(source: str) -> str:
    """The name of a source without folders or passwords."""
    return Path(source).name if "://" not in source else source.rpartition("/")[2] or source


def page(request: Request) -> Response:
    """The page of the part."""
    window = window_of(request)
    choice: Choice | None = window.kept.get("load")
    peek, tables = window.result("load-peek"), window.result("load-tables")
    pictures = pictures_of(peek.counts) if peek is not None and peek.counts is not None else ()
    records = window.result("load-records")
    made = "" if choice is None or choice.database else proposed_file(window, choice.transactions)
    return shown(
        request,
        "load.html",
        choice=choice,
        tables=None if tables is None else sorted(tables, key=lambda t: not {"tid", "item"} <= t.columns.keys()),
        peek=peek,
        people=records if peek is None or peek.reading.get("layout") != PEOPLE else peek,
        pictures=pictures,
        options={n: READING[n] for n in READING if choice is not None and not (choice.database and n in OF_FILES)},
        is_boolean=lambda name: READING[name].kinds == _BOOLEAN,
        made=made,
        command=None if peek is None or choice is None or choice.database else load_command(window, choice, peek, made),
    )


def pictures_of(counts: Any, most: int = 14) -> tuple[tuple[str, str], ...]:
    """The drawings of counts, with their titles."""
    lengths = {name: float(persons) for name, persons in counts.ranges().items()}
    frequent = {item: float(persons) for item, persons in counts.frequent[:most]}
    titles = {"Persons by their number of items": lengths, "Persons who have the most frequent items": frequent}
    return tuple((title, bars(title, of, "")) for title, of in titles.items() if of)


def proposed_file(window: Window, source: str) -> str:
    """A name for the DuckDB file, beside the data file or, for a dropped one, in the current folder."""
    path = Path(source)
    beside = Path(path.name) if path.is_relative_to(window.folder) else path
    stem, number = beside.with_name(path.name.partition(".")[0] or "data"), 1
    free = stem.with_name(f"{stem.name}.duckdb")
    while free.exists():
        number += 1
        free = stem.with_name(f"{stem.name}-{number}.duckdb")
    return str(free)


async def named(window: Window, form: FormData) -> str:
    """The file that was dropped or picked or, without one, the path that was typed."""
    file = form.get("file")
    if isinstance(file, UploadFile) and file.filename:
        return str(await window.dropped(file))
    return str(form.get("path") or "").strip()


async def source(request: Request) -> Response:
    """Take another source."""
    window = window_of(request)
    async with request.form() as form:
        chosen = await named(window, form)
    if chosen:
        begin(window, chosen)
    return back(HERE)


async def reading(request: Request) -> Response:
    """Take another table of the database, or another way to read it, and look again."""
    window = window_of(request)
    choice: Choice | None = window.kept.get("load")
    async with request.form() as form:
        values = {name: str(value).strip() for name, value in form.items() if str(value).strip()}
    if choice is not None:
        choice.transactions = values.pop("transactions", choice.transactions)
        choice.given = {name: _read(name, value) for name, value in values.items() if name in ("id", "item", *READING)}
        look(window, choice)
    return back(HERE)


def _read(name: str, value: str) -> Any:
    if name in READING and READING[name].kinds == _BOOLEAN:
        return value == "yes"
    return int(value) if name == "skip" and value.isdecimal() else value


async def beside(request: Request) -> Response:
    """Take a taxonomy, or a table of people's attributes, beside the transactions."""
    window, what = window_of(request), request.path_params["what"]
    choice: Choice | None = window.kept.get("load")
    peek = window.result("load-peek")
    async with request.form() as form:
        chosen = await named(window, form)
    if choice is None or peek is None:
        return back(HERE)
    window.forget(f"load-{what}")
    setattr(choice, what, chosen)
    words, of = f"Reading {name_of(chosen)}", dict[str, Any](database=choice.database)
    if chosen and what == "taxonomy":
        of |= {"source": choice.transactions, "given": dict(peek.reading), "taxonomy": chosen}
        window.run("load-taxonomy", words, tasks.check, **of)
    elif chosen:
        kept = {name: value for name, value in peek.reading.items() if name in ("id", "encoding")}
        of |= {"source": chosen, "given": {"id": "tid", **kept, "layout": PEOPLE}}
        window.run("load-records", words, tasks.peek, **of)
    return back(HERE)


def loaded(choice: Choice, reading: Mapping[str, Any]) -> dict[str, Any]:
    """How the Python interface loads the chosen files. A table of people keeps its columns as they are."""
    files = {"transactions": choice.transactions, "taxonomy": choice.taxonomy, "records": choice.records}
    if reading.get("layout") == PEOPLE:
        reading = {name: value for name, value in reading.items() if name not in ("layout", "id")}
    return {**reading, **{what: file for what, file in files.items() if file}}


def load_command(window: Window, choice: Choice, peek: Any, database: str) -> str:
    """The command that loads the chosen files; of dropped ones only the names are known."""
    how = loaded(choice, peek.reading)
    words = ["anondb", "load", database]
    for name in ("transactions", "id", "item", "taxonomy", "records"):
        if name in how:
            dropped = name not in ("id", "item") and Path(how[name]).is_relative_to(window.folder)
            words += [f"--{name}", Path(how[name]).name if dropped else how[name]]
    return shlex.join([*words, *reading_flags(how)])


async def confirm(request: Request) -> Response:
    """Make what was chosen the project: at once if it lies in a database, else when the files are loaded."""
    window = window_of(request)
    choice: Choice | None = window.kept.get("load")
    peek = window.result("load-peek")
    async with request.form() as form:
        lists = {name: tuple(map(str, form.getlist(name))) for name in ("accept", "quasi_identifiers")}
        texts = {n: str(form.get(n) or "").strip() for n in ("database", "hierarchies", "sensitive")}
    if choice is None or peek is None or peek.problem is not None:
        return back(HERE)
    of_people = {"quasi_identifiers": ",".join(lists["quasi_identifiers"])}
    of_people |= {name: texts[name] for name in ("hierarchies", "sensitive")}
    options: dict[str, Any] = {name: value for name, value in of_people.items() if value}
    options |= {"accept": lists["accept"]} if lists["accept"] else {}
    people = {"layout": PEOPLE, "id": peek.reading.get("id", "tid")} if peek.reading.get("layout") == PEOPLE else {}
    if choice.database:
        beside = {"taxonomy": choice.taxonomy, "records": choice.records}
        options |= {**peek.reading, **{name: table for name, table in beside.items() if table}}
        window.use(Project(choice.database, choice.transactions, options))
        return back("/understand")
    database = texts["database"] or proposed_file(window, choice.transactions)
    options |= {**people, **{name: name for name in ("taxonomy", "records") if getattr(choice, name)}}
    command = load_command(window, choice, peek, database)
    project = Project(database, "transactions", options, command)
    how = loaded(choice, peek.reading)
    words = f"Loading {name_of(choice.transactions)} into {name_of(database)}"
    window.run("load-made", words, tasks.load, then=lambda _: window.use(project), database=database, how=how)
    return back(HERE)


ROUTES = [
    Route(HERE, page),
    Route(f"{HERE}/source", source, methods=["POST"]),
    Route(f"{HERE}/reading", reading, methods=["POST"]),
    Route(f"{HERE}/confirm", confirm, methods=["POST"]),
    Route(f"{HERE}/{{what:str}}", beside, methods=["POST"]),
]
