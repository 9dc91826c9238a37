"""A file loaded into a table, as ``anondb load`` does it, and the persons and items of the table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
from files.naive import Persons
from sqlglot import exp

import anondb
from anondb.data.constraints import load_privacy_constraints
from anondb.data.files import load_files
from anondb.data.sensitive import load_sensitive
from anondb.errors import InputError
from anondb.load import load
from anondb.options import policy_of
from anondb.reading.options import Reading

SECRET = re.compile("hemlock", re.I)  # a value of the files, which no message shows


class Reader:
    """A database in memory; each file replaces the one before."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.database = anondb.connect(self.connection)

    def load(self, path: Path, *, id: str | None = None, item: str | None = None, **options: Any) -> Persons:
        """Load a file of transactions; raise the ``InputError`` of ``load``."""
        engine = self.database.engine
        reading = Reading(**options)
        load_files(engine, {"transactions": (str(path), "loaded")}, replace=True, id=id, item=item, reading=reading)
        return persons_of(self.connection, "loaded")

    def constraints(self, path: Path) -> set[frozenset[str]]:
        """The sets of items in a file of privacy constraints."""
        with self.database.engine.transaction():
            return {frozenset(items) for items in load_privacy_constraints(self.database.engine, path).sets()}

    def sensitive(self, path: Path) -> set[str]:
        """The items in a list of sensitive ones."""
        with self.database.engine.transaction():
            return set(load_sensitive(self.database.engine, path))

    def records(self, path: Path, buyers: list[str]) -> dict[str, str | None]:
        """The town of each person in a file of records (tid, town), of whom ``buyers`` have an item."""
        self.connection.execute("CREATE OR REPLACE TABLE buyers AS SELECT unnest($1) AS tid, 'milk' AS item", [buyers])
        options = {"records": path, "quasi_identifiers": "town:categorical"}
        policy = policy_of("buyers", options, model=anondb.KkmAnonymity(2, 1))
        engine = self.database.engine
        with engine.transaction():
            task = load(engine, policy)
            assert task.records is not None
            numbered = exp.select("id").from_(task.dataset.ids.expression()).order_by("tid")
            ids = engine.select(numbered, "ids")["id"]
        (town,) = task.records.attributes
        return {str(i): town.values[code] for i, code in zip(ids, town.codes.tolist(), strict=True)}


def persons_of(connection: duckdb.DuckDBPyConnection, table: str) -> Persons:
    """The items of each person of a table (tid, item): a row for each item, or a list; NULL is no item."""
    found: Persons = {}
    for person, item in connection.execute(f'SELECT CAST(tid AS VARCHAR), item FROM "{table}"').fetchall():
        assert person is not None
        items = found.setdefault(person, set())
        items.update(map(str, item if isinstance(item, list) else [] if item is None else [item]))
    return found


def flags(options: dict[str, Any]) -> list[str]:
    """Keywords as flags of the command line."""
    words = []
    for name, value in options.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", str(value)]
    return words


def check_refusal(message: str, pattern: str | None, line: int | list[int] | None) -> None:
    """A refusal has the code or the words that the case states, names the line, and shows no value."""
    assert pattern is not None, f"refused: {message}"
    assert re.search(pattern, message, re.I), message
    assert not SECRET.search(message), message
    if line is not None:
        lines = [line] if isinstance(line, int) else line
        assert any(re.search(rf"\bline {n}\b", message) for n in lines), message


def words_of(error: InputError) -> str:
    """The code and the message of an error."""
    return f"{error.code}: {error}"
