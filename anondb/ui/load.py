"""The part Load: choose a source, see how it is read, mend that, and confirm it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anondb.pages.plots import bars
from anondb.reading.formats import is_data_file
from anondb.reading.options import OF_FILES, PEOPLE, READING
from anondb.ui import tasks
from anondb.ui.window import Project, Window, back, name_of, posted, shown, window_of

HERE = "/load"
MOST_DRAWN = 14  # items in a picture
_PEEK = ("load-peek", "load-taxonomy", "load-records", "load-made")  # jobs about what is being chosen
_BOOLEAN = READING["header"].kinds
KINDS = {  # of a quasi-identifier
    "": "read as its values look",
    "numeric": "numbers, released as ranges",
    "date": "dates, released as ranges",
    "categorical": "names, released as groups",
}
_FILES = ("transactions", "taxonomy", "records")
_DEFAULTS = {"transactions_as": "transactions", "id_as": "tid", "item_as": "item"}  # of ``Database.load``


@dataclass
class Choice:
    """What was chosen so far.

    Attributes:
        database: that of the tables; empty for files.
        transactions: a file or a table; empty before one is chosen.
        reading: how it is read, as far as the user says; with ``id`` and ``item``.
        taxonomy, records: files or tables; empty for none.
    """

    database: str = ""
    transactions: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    taxonomy: str = ""
    records: str = ""


def begin(window: Window, source: str) -> None:
    """Look at a source: the tables of a database, or how a data file is read."""
    window.source = source
    window.forget("load-tables", *_PEEK)
    choice = window.kept["load"] = Choice(transactions=source) if is_data_file(source) else Choice(database=source)
    if choice.database and Path(source).is_relative_to(window.folder):
        window.run("load-tables", "Looking at the database", tasks.refuse_copy)
    elif choice.database:
        window.run("load-tables", f"Looking at {name_of(source)}", tasks.call, database=source, method="tables")
    else:
        look(window, choice)


def look(window: Window, choice: Choice) -> None:
    """Look at the chosen transactions, as far as the user says how they are read."""
    window.forget(*_PEEK)
    choice.taxonomy = choice.records = ""
    _peek(window, "load-peek", choice.transactions, choice.reading)


def _peek(window: Window, job: str, source: str, reading: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"database": window.kept["load"].database, "method": "peek", "source": source, **reading}
    window.run(job, f"Reading {name_of(source)}", tasks.call, **arguments)


def page(request: Request) -> Response:
    """The page of the part."""
    window = window_of(request)
    choice: Choice | None = window.kept.get("load")
    peek, tables = window.result("load-peek"), window.result("load-tables")
    pictures = pictures_of(peek.counts) if peek is not None and peek.counts is not None else ()
    target, names, command = "", dict[str, str](), ""
    if peek is not None and choice is not None and not choice.database:
        target, names = proposed_file(window, choice.transactions), proposed_names(choice, peek.reading)
        made = window.project if window.result("load-made") else None
        command = (made or project_of(window, loaded(window, choice, peek, names), target, {})).load_command
    tables = tables and sorted(tables, key=lambda t: not {"tid", "item"} <= t.columns.keys())
    is_people = peek is not None and peek.reading.get("layout") == PEOPLE
    values: dict[str, Any] = {"choice": choice, "tables": tables, "peek": peek, "pictures": pictures, "target": target}
    values |= {"people": peek if is_people else window.result("load-records"), "names": names, "command": command}
    values |= {"proposal": {} if peek is None else proposal_of(peek)}
    values |= {"kinds": KINDS, "persons": persons_of, "is_boolean": lambda name: READING[name].kinds == _BOOLEAN}
    options = {n: READING[n] for n in READING if choice is not None and not (choice.database and n in OF_FILES)}
    return shown(request, "load.html", options=options, **values)


def proposal_of(peek: Any) -> dict[str, Any]:
    """What a row is, how the text is divided, and the options that the source needs, by name."""
    if (account := peek.account) is None or peek.problem:
        return dict(peek.reading)
    dialect = account.dialect if isinstance(account.dialect, str) else account.dialect.words
    return {"layout": account.layout, "format": dialect, **peek.reading}


def persons_of(peek: Any, most: int = 12) -> list[tuple[str, str]]:
    """The persons of a proposal, each with the first items."""
    more = {person: f" and {len(has) - most} more" for person, has in peek.persons if len(has) > most}
    return [(person, ", ".join(has[:most]) + more.get(person, "")) for person, has in peek.persons]


def pictures_of(counts: Any) -> tuple[tuple[str, str], ...]:
    """The drawings of counts, with their titles."""
    lengths = {name: float(persons) for name, persons in counts.ranges().items()}
    frequent = {item: float(persons) for item, persons in counts.frequent[:MOST_DRAWN]}
    if not frequent:
        return ()  # people without items
    titles = {"Persons by their number of items": lengths, "Persons who have the most frequent items": frequent}
    return tuple((title, bars(title, of, "")) for title, of in titles.items())


def proposed_file(window: Window, source: str) -> str:
    """A name for the DuckDB file, beside the data file or, for a dropped one, in the current folder."""
    path = Path(source)
    beside = Path(path.name) if path.is_relative_to(window.folder) else path
    stem = path.name.partition(".")[0] or "data"
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    files = (beside.with_name(f"{name}.duckdb") for name in names)
    return str(next(file for file in files if not os.path.lexists(file)))


async def source(request: Request) -> Response:
    """Take another source."""
    fields, _ = await posted(request)
    if "path" in fields:
        begin(window_of(request), fields["path"])
    return back(HERE)


async def reading(request: Request) -> Response:
    """Take another table of the database, or another way to read it, and look again."""
    window = window_of(request)
    choice: Choice | None = window.kept.get("load")
    values, _ = await posted(request)
    if choice is not None:
        choice.transactions = values.pop("transactions", choice.transactions)
        choice.reading = {name: _read(name, value) for name, value in values.items() if name in ("id", "item", *READING)}
        look(window, choice)
    return back(HERE)


def _read(name: str, value: str) -> Any:
    if name in READING and READING[name].kinds == _BOOLEAN:
        return value == "yes"
    return int(value) if name == "skip" and value.isdecimal() else value


async def beside(request: Request) -> Response:
    """Take a taxonomy, or a table of people's attributes, beside the transactions."""
    window, role = window_of(request), request.path_params["role"]
    chosen = (await posted(request))[0].get("path", "")
    choice: Choice | None = window.kept.get("load")
    peek = window.result("load-peek")
    if choice is None or peek is None:
        return back(HERE)
    window.forget(f"load-{role}")
    setattr(choice, role, chosen)
    if chosen and role == "taxonomy":
        of: dict[str, Any] = {"database": choice.database, "source": choice.transactions, "reading": dict(peek.reading)}
        window.run("load-taxonomy", f"Reading {name_of(chosen)}", tasks.check, taxonomy=chosen, **of)
    elif chosen:
        kept = {name: value for name, value in peek.reading.items() if name in ("id", "encoding")}
        _peek(window, "load-records", chosen, {"id": "tid", **kept, "layout": PEOPLE})
    return back(HERE)


def proposed_names(choice: Choice, reading: Mapping[str, Any]) -> dict[str, str]:
    """What analysts will call the new table and its columns: as the file calls them, where it does."""
    stem = re.sub(r"\W+", "_", Path(choice.transactions).name.partition(".")[0]).strip("_")
    item = str(reading.get("item", "item"))
    names = {"transactions_as": stem or "transactions", "id_as": reading.get("id", "tid"), "item_as": item}
    return names | ({"item_as": "item"} if "," in item or "*" in item or names["id_as"] == item else {})


def loaded(window: Window, choice: Choice, peek: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """How the Python interface loads the chosen files, in the encoding that one of them needs: those in UTF-8 are read so
    nevertheless. A table of people keeps its columns as they are."""
    left = ("layout", "id", "id_as", "item_as") if peek.reading.get("layout") == PEOPLE else ()
    files = {name: getattr(choice, name) for name in _FILES}
    people = window.result("load-records") if choice.records else None
    encoding = {} if people is None else {n: value for n, value in people.reading.items() if n == "encoding"}
    options = {**files, **encoding, **peek.reading, **names}
    return {name: value for name, value in options.items() if value not in ("", _DEFAULTS.get(name)) and name not in left}


def project_of(window: Window, loading: Mapping[str, Any], database: str, options: Mapping[str, Any]) -> Project:
    """What is anonymized when files are loaded into a database."""
    files = {name: Path(loading[name]).absolute() for name in _FILES if name in loading}
    paths = {n: file.name if file.is_relative_to(window.folder) else str(file) for n, file in files.items()}
    return Project(database, loading.get("transactions_as", "transactions"), options, {**loading, **paths})


async def confirm(request: Request) -> Response:
    """Make what was chosen the project: at once if it lies in a database, else when the files are loaded."""
    window = window_of(request)
    choice: Choice | None = window.kept.get("load")
    peek = window.result("load-peek")
    fields, form = await posted(request)
    kinds = ((str(name), fields.get(f"kind of {name}")) for name in form.getlist("quasi_identifiers"))
    attributes: dict[str, Any] = {n: fields[n] for n in ("hierarchies", "sensitive") if n in fields}
    attributes["quasi_identifiers"] = ",".join(f"{name}:{kind}" if kind else name for name, kind in kinds)
    attributes["accept"] = tuple(map(str, form.getlist("accept")))
    if choice is None or peek is None or peek.problem is not None:
        return back(HERE)
    options: dict[str, Any] = {name: value for name, value in attributes.items() if value}
    beside = {name: table for name in ("taxonomy", "records") if (table := getattr(choice, name))}
    if choice.database:
        window.use(Project(choice.database, choice.transactions, {**options, **beside, **peek.reading}))
        return back("/understand")
    database = fields.get("database", proposed_file(window, choice.transactions))
    names = {name: fields.get(name, value) for name, value in proposed_names(choice, peek.reading).items()}
    options |= {name: name for name in beside} | {n: v for n, v in peek.reading.items() if n == "drop_missing_items"}
    if peek.reading.get("layout") == PEOPLE:
        options |= {"layout": PEOPLE, "id": peek.reading.get("id", "tid")}
    else:
        options |= {n: names[f"{n}_as"] for n in ("id", "item") if names[f"{n}_as"] != _DEFAULTS[f"{n}_as"]}
    loading = loaded(window, choice, peek, names)
    project = project_of(window, loading, database, options)
    words = f"Loading {name_of(choice.transactions)} into {name_of(database)}"
    window.run("load-made", words, tasks.load, then=lambda _: window.use(project), database=database, how=loading)
    return back(HERE)


ROUTES = [
    Route(HERE, page),
    Route(f"{HERE}/source", source, methods=["POST"]),
    Route(f"{HERE}/reading", reading, methods=["POST"]),
    Route(f"{HERE}/confirm", confirm, methods=["POST"]),
    Route(f"{HERE}/{{role:str}}", beside, methods=["POST"]),
]
