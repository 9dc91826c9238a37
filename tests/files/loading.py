"""A file loaded into a table, as ``anondb load`` does it, and the persons and items of the table."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from files.naive import Persons
from sqlglot import exp

import anondb
from anondb.data.attributes import attribute_hierarchies
from anondb.data.constraints import PrivacyConstraints, load_sensitive, load_sets
from anondb.data.files import load_files
from anondb.data.preflight import confirmed, unused_hierarchies
from anondb.data.sources import open_source
from anondb.data.taxonomy import Taxonomy, load_taxonomy
from anondb.data.transactions import load_transactions
from anondb.errors import InputError
from anondb.options import policy_of
from anondb.pipeline.load import load
from anondb.reading.options import Reading
from anondb.utility.workload import owner_workload

SECRET = re.compile("hemlock", re.I)  # a value of the files, which no message shows


@cache
def in_memory() -> anondb.Database:
    """A database for calls that keep nothing there."""
    return anondb.connect(threads=1)


class Reader:
    """A database in memory; each file replaces the one before."""

    def __init__(self) -> None:
        self.database = anondb.connect(threads=1)
        self.connection = self.database.engine.connection

    def load(self, path: Path, *, id: str | None = None, item: str | None = None, **options: Any) -> Persons:
        """Load a file of transactions; raise the ``InputError`` of ``load``."""
        engine = self.database.engine
        reading = Reading(**options)
        load_files(engine, {"transactions": (str(path), "loaded")}, replace=True, id=id, item=item, reading=reading)
        return persons_of(self.connection, "loaded")

    def constraints(self, path: Path) -> set[frozenset[str]]:
        """The sets of items in a file of privacy constraints."""
        with self.database.engine.transaction():
            return {frozenset(items) for items in load_sets(self.database.engine, path, PrivacyConstraints).sets()}

    def sensitive(self, path: Path) -> set[str]:
        """The items in a list of sensitive ones."""
        with self.database.engine.transaction():
            return set(load_sensitive(self.database.engine, path))

    def workload(self, path: Path) -> Persons:
        """The items of each query in a file of queries."""
        engine = self.database.engine
        self.connection.execute("CREATE OR REPLACE TABLE buyers AS SELECT 1 AS tid, '1' AS item")
        with engine.transaction(), open_source(engine, "buyers", "transactions") as source:
            dataset = load_transactions(engine, source)
            with open_source(engine, path, "workload") as queries:
                made = owner_workload(engine, dataset, queries)
            same = exp.column("query_id", "q").eq(exp.column("query_id", "n"))
            named = exp.select("name", "label").from_(exp.alias_(made.names.expression(), "n", table=True))
            named = named.join(exp.alias_(made.queries.expression(), "q", table=True), on=same, join_type="left")
            on = exp.column("item", "q").eq(exp.column("item", "i"))
            rows = engine.select(
                named.join(exp.alias_(made.items.expression(), "i", table=True), on=on, join_type="left"), "queries"
            )
        found: Persons = {}
        for name, label in zip(rows["name"].tolist(), rows["label"].tolist(), strict=True):
            found.setdefault(name, set()).update([] if label is None else [label])
        return found

    def taxonomy(self, path: Path) -> dict[str, str | None]:
        """The nodes of a taxonomy with their parents."""
        with self.database.engine.transaction():
            return parents_of(load_taxonomy(self.database.engine, path))

    def hierarchies(self, path: Path) -> dict[str, dict[str, str | None]]:
        """The nodes of the hierarchies of ``town`` and ``zip`` with their parents."""
        with self.database.engine.transaction():
            trees, names = attribute_hierarchies(self.database.engine, path, ["town", "zip"])
        confirmed(unused_hierarchies(names or (), ["town", "zip"]), (), None)
        return {name: parents_of(tree) for name, tree in trees.items()}

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


def parents_of(taxonomy: Taxonomy) -> dict[str, str | None]:
    """The nodes of a taxonomy with their parents."""
    labels = taxonomy.labels
    return {
        label: None if parent < 0 else labels[parent] for label, parent in zip(labels, taxonomy.parent.tolist(), strict=True)
    }


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
