"""Queries of tutorials and tools, written down before any was tried: nothing but harm is refused, and bounds hold the truth.

``pytest -m slow -s tests/session/test_tutorial_queries.py`` prints the shares.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from answers.shop import Shop, asked
from portions import some
from session.checker import SLACK

import anondb
from anondb.session.output import unique
from anondb.session.result import Result

Row = dict[str, Any]
PERSONS = 3000
VIEWS = {
    "mhghs": "CREATE VIEW diagnoses AS SELECT tid AS id, item AS code FROM sales;",
    "kkm": "CREATE VIEW diagnoses AS SELECT tid AS id, item AS code FROM sales;"
    "CREATE VIEW patients AS SELECT tid AS id, age, sex, town, since FROM customers;",
}
ONE_IN = 4  # of the scripts that ``make check`` tries
SHARES = {"mhghs": 0.63, "kkm": 0.61}
"""Of the queries that are no harm, at least so many have bounds narrower than the number of persons, or are exact."""


@dataclass(frozen=True)
class Block:
    """A script with its family, and words of the message with which it is refused."""

    family: str
    refusal: str
    sql: str


BLOCKS = [
    Block(family, refusal, sql)
    for family, refusal, sql in re.findall(
        r"^-- ([a-z]+)(?:: (.*))?\n((?:(?!--).*\n)+)",
        (Path(__file__).parent / "tutorial_queries.sql").read_text("utf-8"),
        re.M,
    )
]
ASKED = [("kkm", slice(0, None, ONE_IN)), ("kkm", slice(None)), ("mhghs", slice(None))]


def rows_of(columns: list[str], rows: list[tuple[Any, ...]]) -> list[Row]:
    return [dict(zip(columns, row, strict=True)) for row in rows]


def is_outside(value: Any, low: Any, high: Any) -> bool:
    """Whether a value, or one of a list, is not between its bounds, as far as there are some."""
    if isinstance(value, list):
        ends = zip(value, low or value, high or value, strict=True)
        return any(is_outside(*each) for each in ends)
    if isinstance(value, float):
        room = SLACK * (1 + abs(value))
        return (low is not None and low > value + room) or (high is not None and high < value - room)
    return (low is not None and low > value) or (high is not None and high < value)


def faults(result: Result, names: list[str], truth: list[tuple[Any, ...]]) -> tuple[list[str], int]:
    """What is wrong with an answer with bounds, and how many numbers were compared with the original's."""
    columns = list(result.df().columns)  # in which no name repeats
    numbers = [name for name in names if f"{name}_lower" in columns]
    ends = {f"{name}{end}" for name in numbers for end in ("_lower", "_upper")}
    if [name for name in columns if name != "certain" and name not in ends] != names:
        return [f"the columns {columns} instead of {names}"], 0
    keys = [name for name in names if name not in numbers]
    mine, true = rows_of(columns, result.fetchall()), rows_of(names, truth)
    listed, expected = ([(str([row[key] for key in keys]), row) for row in rows] for rows in (mine, true))
    count = Counter(key for key, _ in listed), Counter(key for key, _ in expected)
    by_key, found, compared = dict(expected), list[str](), 0
    for key, row in listed:
        for name in numbers if count[0][key] == count[1][key] == 1 else ():
            low, value, high = row[f"{name}_lower"], by_key[key][name], row[f"{name}_upper"]
            if value is not None and (low is not None or high is not None):
                compared += 1
                found += [f"{name} of {key} is {value}, outside of {low} to {high}"] * is_outside(value, low, high)
    return found, compared


def kind_of(result: Result) -> str:
    """``bounds``: narrower than the number of persons; ``exact``: without estimates; or ``modelled``."""
    ends = [name.removesuffix("_lower") for name in result.columns if name.endswith("_lower")]
    for row in rows_of(result.columns, result.fetchall()):
        for low, high in ((row[f"{name}_lower"], row[f"{name}_upper"]) for name in ends):
            if low is not None and high is not None and (not isinstance(low, int | float) or high - low < PERSONS):
                return "bounds"
    said = any("odelled" in note or "No bounds" in note or "estimates" in note for note in result.notes)
    return "modelled" if ends or said else "exact"


def is_compared(sql: str) -> bool:
    """Whether a script ends with a query that the original answers, too."""
    last = sql.rstrip(";\n").split(";")[-1].strip()
    query = last.upper().startswith(("SELECT", "FROM", "WITH", "PIVOT", "UNPIVOT", "EXECUTE"))
    return query and not any(name in last for name in ("item_counts", "information_schema", "current_database"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "blocks"), some(ASKED, ASKED[0], check=(), ids=lambda one: f"{one[0]} {'some' if one[1].step else 'all'}")
)
def test_nothing_but_harm_is_refused_and_bounds_hold(of_run: Path, name: str, blocks: slice) -> None:
    kinds, wrong, compared = Counter[str](), list[str](), 0
    with asked(Shop(of_run), name) as (session, source), duckdb.connect() as original:
        for table in ("sales", "customers", "food", "prices"):
            original.register("rows_of", source.table(table).to_arrow_table())
            original.execute(f"CREATE TABLE {table} AS FROM rows_of")
        session.sql(VIEWS[name])
        original.execute(VIEWS[name])
        for block in BLOCKS[blocks]:
            if "patients" in block.sql and "patients" not in session.tables:
                continue
            try:
                result = session.sql(block.sql)
            except anondb.InputError as error:
                kinds["refused"] += 1
                wrong += [] if block.refusal and block.refusal in str(error) else [f"refused: {block.sql}: {error}"]
                continue
            kinds[kind_of(result)] += 1
            wrong += [f"not refused: {block.sql}"] * bool(block.refusal)
            wrong += [f"{block.sql}: {note}" for note in result.notes if "Internal error" in note]
            if is_compared(block.sql):
                rows = original.execute(block.sql)
                bad, number = faults(result, unique([column[0] for column in rows.description or ()]), rows.fetchall())
                wrong += [f"{block.sql}: {fault}" for fault in bad]
                compared += number
    answered = sum(kinds.values()) - kinds["refused"]
    share = (kinds["bounds"] + kinds["exact"]) / answered
    print(f"{name}: {dict(kinds)}, {share:.1%} with bounds or exact, {compared} numbers within their bounds")
    assert not wrong, "\n".join(wrong)
    assert len(BLOCKS) >= 200 and compared > 1_000 * len(BLOCKS[blocks]) / len(BLOCKS)
    assert blocks.step or share >= SHARES[name]
