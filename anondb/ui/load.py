"""The part Load: choose a source, see how it is read, mend that, and confirm it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from anondb.guide.page import pictures_of
from anondb.policy import SOURCES
from anondb.reading.formats import is_data_file
from anondb.reading.options import OF_FILES, PEOPLE, READING, names_text
from anondb.ui import tasks
from anondb.ui.window import Form, Project, Window, get, name_of, post

HERE = "/load"
_PEEK = ("load-peek", "load-taxonomy", "load-records", "load-made")  # jobs about what is being chosen
_BOOLEAN = READING["header"].kinds
_COLUMNS = {name: SOURCES[name] for name in ("id", "item")}
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
    """What was chosen so far; empty before."""

    database: str = ""  # that of the tables; empty for files
    transactions: str = ""  # a file or a table
    reading: dict[str, Any] = field(
        default_factory=dict
    )  # how it is read, as far as the user says; with ``id`` and ``item``
    taxonomy: str = ""  # a file or a table
    records: str = ""


def chosen(window: Window) -> Choice:
    """What was chosen."""
    choice: Choice = window.kept.setdefault("load", Choice())
    return choice


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
    arguments: dict[str, Any] = {"database": chosen(window).database, "method": "peek", "source": source, **reading}
    window.run(job, f"Reading {name_of(source)}", tasks.call, **arguments)


@get(HERE, "load.html")
def page(window: Window) -> dict[str, Any]:
    """The page of the part."""
    choice, peek, tables = chosen(window), window.result("load-peek"), window.result("load-tables")
    pictures = pictures_of(peek.counts) if peek is not None and peek.counts is not None else ()
    target, names, command = "", dict[str, str](), ""
    if peek is not None and not choice.database:
        proposed, _ = loading_of(window, choice, peek, {}, {})
        target, names = proposed.database, proposed_names(choice, peek.reading)
        made = window.project if window.result("load-made") else None
        command = (made or proposed).load_command
    tables = tables and sorted(tables, key=lambda t: not {"tid", "item"} <= t.columns.keys())
    is_people = peek is not None and peek.reading.get("layout") == PEOPLE
    values: dict[str, Any] = {"choice": choice, "tables": tables, "peek": peek, "pictures": pictures, "target": target}
    values |= {"people": peek if is_people else window.result("load-records"), "names": names, "command": command}
    values |= {"proposal": {} if peek is None else proposal_of(peek)}
    values |= {"kinds": KINDS, "persons": persons_of, "is_boolean": lambda option: option.kinds == _BOOLEAN}
    left = OF_FILES if choice.database else ()
    options = {n: option for n, option in {**_COLUMNS, **READING}.items() if n not in left}
    return values | {"options": options}


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


def proposed_file(window: Window, source: str) -> str:
    """A name for the DuckDB file, beside the data file or, for a dropped one, in the current folder."""
    path = Path(source)
    beside = Path(path.name) if path.is_relative_to(window.folder) else path
    stem = path.name.partition(".")[0] or "data"
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    files = (beside.with_name(f"{name}.duckdb") for name in names)
    return str(next(file for file in files if not os.path.lexists(file)))


@post(f"{HERE}/source")
def source(window: Window, form: Form) -> None:
    """Take another source."""
    if "path" in form:
        begin(window, form["path"])


@post(f"{HERE}/reading")
def reading(window: Window, form: Form) -> None:
    """Take another table of the database, or another way to read it, and look again."""
    choice = chosen(window)
    choice.transactions = form.get("transactions", choice.transactions)
    choice.reading = {name: _read(name, value) for name, value in form.items() if name in {**_COLUMNS, **READING}}
    if choice.transactions:
        look(window, choice)


def _read(name: str, value: str) -> Any:
    if name in READING and READING[name].kinds == _BOOLEAN:
        return value == "yes"
    return int(value) if name == "skip" and value.isdecimal() else value


def proposed_names(choice: Choice, reading: Mapping[str, Any]) -> dict[str, str]:
    """What analysts will call the new table and its columns: as the file calls them, where it does."""
    stem = re.sub(r"\W+", "_", Path(choice.transactions).name.partition(".")[0]).strip("_")
    item = str(reading.get("item", "item"))
    names = {"transactions_as": stem or "transactions", "id_as": reading.get("id", "tid"), "item_as": item}
    return names | ({"item_as": "item"} if "," in item or "*" in item or names["id_as"] == item else {})


def loading_of(
    window: Window, choice: Choice, peek: Any, form: Mapping[str, str], options: Mapping[str, Any]
) -> tuple[Project, dict[str, Any]]:
    """What is anonymized when the chosen files are loaded, named as in a form or as proposed, and how the Python interface
    loads them: in the encoding that one of them needs, since those in UTF-8 are read so nevertheless. A table of people
    keeps its columns as they are."""
    is_people, files = peek.reading.get("layout") == PEOPLE, {n: file for n in _FILES if (file := getattr(choice, n))}
    names = {name: form.get(name, value) for name, value in proposed_names(choice, peek.reading).items()}
    people = window.result("load-records") if choice.records else None
    encoding = {} if people is None else {n: value for n, value in people.reading.items() if n == "encoding"}
    left = ("layout", "id", "id_as", "item_as") if is_people else ()
    named = {**files, **encoding, **peek.reading, **names}.items()
    loading = {name: value for name, value in named if value not in ("", _DEFAULTS.get(name)) and name not in left}
    options = {**options, **{name: name for name in files if name != "transactions"}}
    options |= {n: v for n, v in peek.reading.items() if n == "drop_missing_items"}
    if is_people:
        options |= {"layout": PEOPLE, "id": peek.reading.get("id", "tid")}
    else:
        options |= {n: names[f"{n}_as"] for n in ("id", "item") if names[f"{n}_as"] != _DEFAULTS[f"{n}_as"]}
    paths = {name: Path(file).absolute() for name, file in files.items()}
    shown = {n: path.name if path.is_relative_to(window.folder) else str(path) for n, path in paths.items()}
    database = form.get("database") or proposed_file(window, choice.transactions)
    return Project(database, loading.get("transactions_as", "transactions"), options, {**loading, **shown}), loading


@post(f"{HERE}/confirm")
def confirm(window: Window, form: Form) -> str | None:
    """Make what was chosen the project: at once if it lies in a database, else when the files are loaded."""
    choice, peek = chosen(window), window.result("load-peek")
    people = window.result("load-records") or peek
    if peek is None or peek.problem is not None or people.problem is not None:
        return None
    kinds = ((name, form.get(f"kind of {name}")) for name in form.lists["quasi_identifiers"])
    attributes: dict[str, Any] = {n: form[n] for n in ("hierarchies", "sensitive") if n in form}
    attributes["quasi_identifiers"] = names_text(f"{name}:{kind}" if kind else name for name, kind in kinds)
    attributes["accept"] = tuple(form.lists["accept"])
    options: dict[str, Any] = {name: value for name, value in attributes.items() if value}
    if choice.database:
        beside = {name: table for name in ("taxonomy", "records") if (table := getattr(choice, name))}
        window.use(Project(choice.database, choice.transactions, {**options, **beside, **peek.reading}))
        return "/understand"
    project, how = loading_of(window, choice, peek, form, options)
    words = f"Loading {name_of(choice.transactions)} into {name_of(project.database)}"
    window.run("load-made", words, tasks.load, then=lambda _: window.use(project), database=project.database, how=how)
    return None


@post(f"{HERE}/{{role}}")
def beside(window: Window, form: Form, role: str) -> None:
    """Take a taxonomy, or a table of people's attributes, beside the transactions."""
    choice, peek, path = chosen(window), window.result("load-peek"), form.get("path", "")
    if peek is None or role not in ("taxonomy", "records"):
        return
    window.forget(f"load-{role}")
    setattr(choice, role, path)
    if path and role == "taxonomy":
        of: dict[str, Any] = {"database": choice.database, "source": choice.transactions, "reading": dict(peek.reading)}
        window.run("load-taxonomy", f"Reading {name_of(path)}", tasks.check, taxonomy=path, **of)
    elif path:
        kept = {name: value for name, value in peek.reading.items() if name in ("id", "item", "encoding")}
        _peek(window, "load-records", path, {"id": "tid", **kept, "layout": PEOPLE})
