"""A small shop, and releases of it of all kinds, which the ledger's queries are asked of."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
from shared import once

import anondb

CHANCES = {
    "dairy": {"milk": 0.4, "butter": 0.2, "cheese": 0.18, "yogurt": 0.12},
    "bakery": {"bread": 0.35, "rolls": 0.12, "bagel": 0.08},
    "fruit": {"apple": 0.3, "pear": 0.1, "figs": 0.06},
    "drinks": {"water": 0.3, "beer": 0.2, "wine": 0.15},
    "pharmacy": {"aspirin": 0.12, "plasters": 0.06},
    "spices": {"saffron": 0.02, "truffle": 0.01},
}
DEPARTMENTS = {"dairy": "food", "bakery": "food", "fruit": "food", "drinks": "food", "pharmacy": "other", "spices": "other"}
ITEMS = {item: chance for items in CHANCES.values() for item, chance in items.items()}
CODES = {item: str(100 + n) for n, item in enumerate(ITEMS)}
PERSONS = 200
ROWS, LISTS = "rows", "lists"
KM = anondb.KmAnonymity(4, 2)
ATTRIBUTES = "age:numeric,sex,town,since:date"


@dataclass(frozen=True)
class Kind:
    """How a release of the shop is made.

    Attributes:
        policy: the options of ``anonymize``.
        layout: whether the original has a row for each item of a person, or a list for each person.
        dates: whether the persons' ids are dates.
        codes: whether the items are numbers, written as texts.
        halves: whether the persons are divided into two files.
        with_records: whether attributes are released.
    """

    policy: dict[str, Any] = field(default_factory=dict)
    layout: str = ROWS
    dates: bool = False
    codes: bool = False
    halves: bool = False

    @property
    def with_records(self) -> bool:
        return "records" in self.policy


def _relational(model: anondb.KkmAnonymity | anondb.KlmDiversity, **more: Any) -> dict[str, Any]:
    return {"model": model, "records": "customers", "quasi_identifiers": ATTRIBUTES, "taxonomy": "food", **more}


KINDS = {
    "mhghs": Kind({"model": KM, "taxonomy": "food"}),
    "mhghs_supports": Kind({"model": KM, "taxonomy": "food", "item_supports": True}),
    "hghs": Kind({"model": anondb.KmAnonymity(6, 2), "taxonomy": "food", "algorithm": "hghs"}),
    "coat_suppressed": Kind(
        {"model": KM, "algorithm": "coat", "taxonomy": "food", "utility_constraints": "level:2", "max_suppression": 50}
    ),
    "similar": Kind({"model": KM, "algorithm": "similar"}),
    "apriori_supports": Kind({"model": KM, "taxonomy": "food", "algorithm": "apriori", "item_supports": True}),
    "lra": Kind({"model": KM, "taxonomy": "food", "algorithm": "lra"}),
    "partition": Kind({"model": anondb.TransactionalK(3), "taxonomy": "food", "item_supports": True}),
    "clump": Kind({"model": anondb.TransactionalK(3), "taxonomy": "food", "algorithm": "clump"}),
    "constraints": Kind({"model": anondb.ConstraintAnonymity(6), "privacy_constraints": "named", "item_supports": True}),
    "hkp_mm": Kind({"model": anondb.HkpCoherence("4/5", 3, 2), "sensitive": "secret", "max_suppression": 60}),
    "kkm": Kind(_relational(anondb.KkmAnonymity(4, 2))),
    "klm": Kind(_relational(anondb.KlmDiversity(4, 2, 1), sensitive="secret")),
    "anatomy": Kind({"model": anondb.Anatomy(2, columns=3, empty_values="ignore")}),
    "lists": Kind({"model": KM, "taxonomy": "food", "item_supports": True}, layout=LISTS),
    "dates": Kind({"model": KM, "algorithm": "similar"}, dates=True),
    "codes": Kind({"model": KM, "algorithm": "pcta"}, codes=True),
    "halves": Kind({"model": KM, "algorithm": "vpa", "taxonomy": "food"}, halves=True),
}


def baskets() -> dict[int, list[str]]:
    """What each person bought; two of the categories go together."""
    draw, found = random.Random(43), {}
    for person in range(1, PERSONS + 1):
        liked = draw.choice([*CHANCES, "dairy", "bakery"])
        chances = {item: min(0.9, p * (1.8 if item in CHANCES[liked] else 0.75)) for item, p in ITEMS.items()}
        basket = [item for item, p in chances.items() if draw.random() < p]
        found[person] = basket or [draw.choice(["milk", "bread", "water"])]
    return found


def customers() -> list[tuple[int, int, str, str, date]]:
    """Age, sex, town and first day of each person."""
    draw = random.Random(44)
    return [
        (
            person,
            min(85, max(18, round(draw.gauss(45, 16)))),
            draw.choice(["female", "male"]),
            draw.choice(["Cork", "Cork", "Delft", "Bergen"]),
            date(2026, 3, 1) + timedelta(days=draw.randint(0, 91)),
        )
        for person in range(1, PERSONS + 1)
    ]


def fill(con: duckdb.DuckDBPyConnection, kind: Kind, bought: dict[int, list[str]]) -> None:
    """The tables of an original by what each person bought, and the analyst's own food and prices."""
    name = (lambda item: CODES.get(item, item)) if kind.codes else str
    put(con, "food (node VARCHAR, parent VARCHAR)", edges(name))
    prices = [(name(item), n % 6 + 1, n % 6 < 2) for n, item in enumerate(ITEMS)]
    put(con, "prices (item VARCHAR, price INTEGER, cheap BOOLEAN)", prices)
    put(con, "secret (item VARCHAR)", [(name("plasters"),)])
    put(con, "named (constraint_id INTEGER, item VARCHAR)", [(n // 2, name(item)) for n, item in enumerate(ITEMS)])
    put(
        con,
        "customers (tid INTEGER, age INTEGER, sex VARCHAR, town VARCHAR, since DATE)",
        [row for row in customers() if row[0] in bought],
    )
    rows = [(person, name(item)) for person, basket in bought.items() for item in basket]
    put(con, "sales (tid INTEGER, item VARCHAR)", rows)
    if kind.dates:
        con.execute("CREATE OR REPLACE TABLE sales AS SELECT DATE '2026-01-01' + tid AS tid, item FROM sales")
    if kind.layout == LISTS:
        con.execute("CREATE OR REPLACE TABLE sales AS SELECT tid, list(item ORDER BY item) AS items FROM sales GROUP BY tid")


def edges(name: Any) -> list[tuple[str, str | None]]:
    """The taxonomy: items, categories, departments."""
    leaves = [(name(item), category) for category, items in CHANCES.items() for item in items]
    return [("all", None), *((d, "all") for d in sorted(set(DEPARTMENTS.values()))), *DEPARTMENTS.items(), *leaves]


def put(con: duckdb.DuckDBPyConnection, table: str, rows: list[Any]) -> None:
    con.execute(f"CREATE TABLE {table}")
    marks = ", ".join("?" * len(rows[0]))
    con.executemany(f"INSERT INTO {table.split()[0]} VALUES ({marks})", rows)


def make(name: str, folder: Path) -> list[Path]:
    """Publish a release, and return its files."""
    kind, files, bought = KINDS[name], [], baskets()
    parts = [{p: b for p, b in bought.items() if p % 2 == n} for n in range(2)] if kind.halves else [bought]
    for n, part in enumerate(parts):

        def sealed(file: Path, part: dict[int, list[str]] = part) -> None:
            with duckdb.connect(config={"threads": 1}) as con:
                fill(con, kind, part)
                options = {"item": "items"} if kind.layout == LISTS else {}
                release = anondb.connect(con).anonymize("sales", name=name, queries=1, **kind.policy, **options)
                release.publish(file)

        files.append(once(folder / f"{name}{n}.duckdb", sealed))
    return files


@contextmanager
def asked(name: str, folder: Path) -> Iterator[tuple[anondb.Session, duckdb.DuckDBPyConnection]]:
    """A session on a release, with the analyst's own tables, and the original's tables in DuckDB."""
    files = make(name, folder)
    with closing(duckdb.connect(config={"threads": 1})) as original, anondb.open(files, threads=1) as session:
        fill(original, KINDS[name], baskets())
        for own in ("food", "prices"):
            session.register(own, original.table(own).arrow())
        yield session, original


def written_for(sql: str, kind: Kind) -> str:
    """A query of the ledger with the names that the items of an original have."""
    return re.sub(r"'([a-z]+)'", lambda found: f"'{CODES.get(found[1], found[1])}'", sql) if kind.codes else sql
