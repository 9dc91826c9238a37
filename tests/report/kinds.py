"""An owner's database with a release of each kind, over baskets with hostile labels."""

from __future__ import annotations

import random
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb

import anondb

HOSTILE = ("<script>alert(1)</script>", 'it\'s "quoted"', "two\nlines", "\N{GRINNING FACE}", "</svg><b>&amp;", "x" * 300)
RARE = ("тайна", "щука", "ёж")  # too rare to be released; in an alphabet that nothing else has
PLAIN = tuple("abcdefgh")
ITEMS = (*PLAIN, *HOSTILE, *RARE)
MANY = 3000


def baskets(seed: int = 7, persons: int = 60) -> dict[int, set[str]]:
    """Baskets of a few items; the rare ones are in one basket each."""
    draw = random.Random(seed)
    drawn = {n: set(draw.sample([*PLAIN, *HOSTILE], draw.randint(1, 4))) for n in range(1, persons + 1)}
    for n, item in enumerate(RARE, 1):
        drawn[n].add(item)
    return drawn


def edges() -> list[tuple[str, str | None]]:
    """A taxonomy of three categories."""
    groups = {"letters": PLAIN[:4], "others": (*PLAIN[4:], *HOSTILE[:2]), "strange & <odd>": (*HOSTILE[2:], *RARE)}
    below: list[tuple[str, str | None]] = [(item, group) for group, items in groups.items() for item in items]
    return [("everything", None), *((group, "everything") for group in groups), *below]


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    """The tables of the owner, one of them in a schema whose name must not be published."""
    tree, sales = edges(), [(n, item) for n, items in baskets().items() for item in sorted(items)]
    connection.execute("CREATE SCHEMA private_place; CREATE TABLE private_place.sales (tid INTEGER, item VARCHAR)")
    connection.executemany("INSERT INTO private_place.sales VALUES (?, ?)", sales)
    connection.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
    connection.executemany("INSERT INTO food VALUES (?, ?)", tree)
    connection.execute("CREATE TABLE secrets AS SELECT 'h' AS item")
    connection.execute(
        "CREATE TABLE columns_of AS SELECT item, CAST(ascii(item) % 2 AS VARCHAR) AS attribute"
        " FROM (SELECT DISTINCT item FROM private_place.sales)"
    )
    connection.execute(
        "CREATE TABLE people AS SELECT range AS tid, 20 + range % 7 AS age,"
        " CASE WHEN range % 2 = 0 THEN 'north' ELSE 'south' END AS area FROM range(1, 61)"
    )
    connection.execute("CREATE TABLE one AS SELECT range AS tid, 'only' AS item FROM range(9)")
    connection.execute(f"CREATE TABLE many AS SELECT range AS tid, 'item ' || range % {MANY} AS item FROM range({2 * MANY})")


KINDS: dict[str, dict[str, Any]] = {
    "global": {"model": anondb.KmAnonymity(3, 2), "taxonomy": "food"},
    "sets": {"model": anondb.KmAnonymity(3, 2), "algorithm": "coat"},
    "bottom_up": {"model": anondb.KmAnonymity(3, 2), "taxonomy": "food", "algorithm": "apriori"},
    "supports": {"model": anondb.KmAnonymity(3, 2), "algorithm": "similar"},
    "local": {"model": anondb.KmAnonymity(3, 2), "taxonomy": "food", "algorithm": "lra"},
    "whole": {"model": anondb.TransactionalK(3), "taxonomy": "food"},
    "bags": {"model": anondb.TransactionalK(3), "taxonomy": "food", "algorithm": "clump"},
    "hidden": {"model": anondb.HkpCoherence("4/5", 3, 2), "sensitive": "secrets"},
    "named": {"model": anondb.ConstraintAnonymity(3), "privacy_constraints": "pgen"},
    "buckets": {"model": anondb.Anatomy(2, empty_values="ignore")},
    "records": {
        "model": anondb.KkmAnonymity(3, 2),
        "taxonomy": "food",
        "records": "people",
        "quasi_identifiers": ["age", "area"],
    },
    "diverse": {
        "model": anondb.KlmDiversity(3, 2, 1),
        "taxonomy": "food",
        "records": "people",
        "quasi_identifiers": ["age", "area"],
        "sensitive": "secrets",
    },
    "nothing": {"model": anondb.KmAnonymity(500, 2), "max_suppression": 100, "algorithm": "mm"},
    "single": {"transactions": "one", "model": anondb.KmAnonymity(3, 2), "algorithm": "coat"},
    "thousands": {
        "transactions": "many",
        "model": anondb.KmAnonymity(2, 1),
        "algorithm": "coat",
        "accept": ["row-per-person"],
    },
}
QUICK = ("nothing",)


def release(database: anondb.Database, name: str) -> anondb.Release:
    """Make the release of a kind."""
    options = {"transactions": "private_place.sales", **KINDS[name]}
    return database.anonymize(options.pop("transactions"), name=name, queries=20, **options)


def owner(place: Path) -> Path:
    """A new database of the owner, without releases."""
    with duckdb.connect(str(place)) as connection:
        fill(connection)
    return place


class Parsed(HTMLParser):
    """A page: whether all tags are closed, what it would load, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.loaded += [str(value) for name, value in attrs if name in ("src", "href")]
        self.loaded += [name for name, _ in attrs if name.startswith("on")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style" and data.strip():
            self.texts.append(data)
