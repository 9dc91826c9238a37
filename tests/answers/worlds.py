"""Possible originals of sealed files, drawn or listed by their definition; nothing here is anondb's.

An original is possible if each transaction holds at least one member of each released item that it shows and nothing else,
the numbers of holders lie within the item supports, attributes lie in their published ranges and sets, and, in an anatomy,
the columns of each bucket are put together in some order. This is all that a file without suppressed items says.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import duckdb

Baskets = list[set[str]]
Values = list[dict[str, Any]]


@dataclass(frozen=True)
class World:
    """A possible original: the items of each transaction, and its attributes where the file has some."""

    baskets: Baskets
    values: Values


@dataclass(frozen=True)
class Published:
    """What a sealed file says.

    Attributes:
        rows: the released items of each transaction.
        members: the items that each released item may stand for.
        supports: for some released items, the least and the largest number of their transactions that hold a member.
        ranges: for each transaction its attributes: a list of values, or the two ends of a range.
        buckets: of an anatomy, the sets of items of each column of each bucket.
    """

    rows: list[tuple[str, ...]]
    members: Mapping[str, list[str]]
    supports: Mapping[str, dict[str, tuple[int, int]]]
    ranges: list[dict[str, Any]]
    buckets: list[list[list[list[str]]]]


def published(file: Path) -> Published:
    """Read a sealed file, its transactions in an order that does not depend on their random numbers."""
    with duckdb.connect(str(file), read_only=True) as con:
        tables = {name for (name,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        manifest = dict(con.execute("SELECT key, value FROM manifest").fetchall())
        assert manifest["suppression"] == "none" and manifest["semantics"] == "set"
        members: dict[str, list[str]] = defaultdict(list)
        for label, item in con.execute("SELECT released_item, item FROM released_items ORDER BY ALL").fetchall():
            members[label].append(item)
        supports: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
        if "item_supports" in tables:
            text = "SELECT released_item, item, at_least, at_most FROM item_supports ORDER BY ALL"
            for label, item, least, most in con.execute(text).fetchall():
                supports[label][item] = least, most
        if "buckets" in tables:
            return Published([], members, supports, [], _buckets(con))
        rows = dict(con.execute("SELECT transaction_id, list_sort(items) FROM baskets").fetchall())
        ranges = _ranges(con) if "records" in tables else {}
        order = sorted(rows, key=lambda tid: (rows[tid], str(ranges.get(tid))))
        return Published([tuple(rows[tid]) for tid in order], members, supports, [ranges[t] for t in order if ranges], [])


def _buckets(con: duckdb.DuckDBPyConnection) -> list[list[list[list[str]]]]:
    found: dict[Any, dict[Any, list[list[str]]]] = defaultdict(lambda: defaultdict(list))
    text = "SELECT bucket_id, column_id, items, copies FROM buckets ORDER BY ALL"
    for bucket, column, items, copies in con.execute(text).fetchall():
        found[bucket][column] += [items] * copies
    return [list(columns.values()) for columns in found.values()]


def _ranges(con: duckdb.DuckDBPyConnection) -> dict[Any, dict[str, Any]]:
    values: dict[tuple[str, str], list[str]] = defaultdict(list)
    for attribute, label, value in con.execute("FROM released_values ORDER BY ALL").fetchall():
        values[attribute, label].append(value)
    rows = con.execute("FROM records")
    names = [column[0] for column in rows.description or []]
    found = {}
    for row in rows.fetchall():
        shown = dict(zip(names, row, strict=True))
        attributes = [n for n in names[1:] if n.removesuffix("_lo") not in names or n == n.removesuffix("_lo")]
        found[shown["transaction_id"]] = {
            name: (shown[f"{name}_lo"], shown[f"{name}_hi"]) if f"{name}_lo" in shown else values[name, shown[name]]
            for name in attributes
            if not name.endswith("_hi")
        }
    return found


# --- random worlds --------------------------------------------------------------------------------------------------


def draw(file: Published, rnd: random.Random) -> World:
    """A random world. Worlds differ in how many members transactions hold, and in which of them hold the same."""
    if file.buckets:
        return World(list(chain.from_iterable(_aligned(columns, rnd) for columns in file.buckets)), [])
    baskets: Baskets = [set() for _ in file.rows]
    order = list(range(len(file.rows)))
    rnd.shuffle(order)
    for label, items in file.members.items():
        showing = [n for n in order if label in file.rows[n]]
        if rnd.random() < 0.5:
            rnd.shuffle(showing)
        if not showing:
            continue
        if label in file.supports:
            _deal(baskets, showing, _counts(file.supports[label], len(showing), rnd), rnd)
        else:
            _choose(baskets, showing, items, rnd)
    end = rnd.choice([0.0, 1.0, None, None])  # all at one end of their range, or anywhere
    return World(baskets, [{name: _value(v, end, rnd) for name, v in of.items()} for of in file.ranges])


def _aligned(columns: list[list[list[str]]], rnd: random.Random) -> Baskets:
    """The transactions of a bucket, with its columns put together in a random order."""
    shuffled = [rnd.sample(column, len(column)) for column in columns]
    return [set(chain.from_iterable(parts)) for parts in zip(*shuffled, strict=True)]


def _counts(supports: dict[str, tuple[int, int]], rows: int, rnd: random.Random) -> dict[str, int]:
    """How many of the rows hold each member: within the supports, and at least as many in all as there are rows."""
    how = rnd.choice([min, max, rnd.randint, rnd.randint])
    counts = {item: how(least, most) for item, (least, most) in supports.items()}
    while sum(counts.values()) < rows:
        item = rnd.choice([item for item, (_, most) in supports.items() if counts[item] < most])
        counts[item] += 1
    return counts


def _deal(baskets: Baskets, showing: Sequence[int], counts: dict[str, int], rnd: random.Random) -> None:
    """Give each member to as many rows as its count, so that each row has one: members lie side by side around a circle of
    the rows. Then members move from rows that have another one to rows that lack them."""
    place, held = rnd.randrange(len(showing)), [set[str]() for _ in showing]
    for item in rnd.sample(sorted(counts), len(counts)):
        for _ in range(counts[item]):
            held[place % len(showing)].add(item)
            place += 1
    for _ in range(rnd.choice([0, 1, 4]) * len(showing)):
        giver, taker = rnd.randrange(len(showing)), rnd.randrange(len(showing))
        free = sorted(held[giver] - held[taker])
        if len(held[giver]) > 1 and free:
            item = rnd.choice(free)
            held[giver].remove(item)
            held[taker].add(item)
    for row, items in zip(showing, held, strict=True):
        baskets[row] |= items


def _choose(baskets: Baskets, showing: Sequence[int], items: list[str], rnd: random.Random) -> None:
    """Give each row one or more members, each with a chance of its own that is the same for all rows."""
    chances = {item: rnd.choice([0.0, 0.1, 0.5, 1.0]) for item in items}
    for row in showing:
        held = {item for item in items if rnd.random() < chances[item]}
        baskets[row] |= held or {rnd.choice(items)}


def _value(values: Any, end: float | None, rnd: random.Random) -> Any:
    """A value of a published range or set."""
    share = rnd.random() if end is None else end
    if isinstance(values, tuple):
        low, high = values
        if isinstance(low, date):
            return low + timedelta(days=round(share * (high - low).days))
        return low + round(share * (high - low))
    return values[min(int(share * len(values)), len(values) - 1)]


# --- all worlds -----------------------------------------------------------------------------------------------------


def every(file: Published) -> Iterator[World]:
    """All worlds of a tiny file without records and buckets."""
    for baskets in product(*(_contents(row, file.members) for row in file.rows)):
        if all(
            least <= sum(item in baskets[n] for n, row in enumerate(file.rows) if label in row) <= most
            for label, of in file.supports.items()
            for item, (least, most) in of.items()
        ):
            yield World(list(map(set, baskets)), [])


def _contents(row: tuple[str, ...], members: Mapping[str, list[str]]) -> list[frozenset[str]]:
    """All that a transaction may have held."""
    parts = [
        [frozenset(some) for n in range(1, len(members[label]) + 1) for some in combinations(members[label], n)]
        for label in row
    ]
    return [frozenset().union(*chosen) for chosen in product(*parts)]


# --- worlds in DuckDB -----------------------------------------------------------------------------------------------


def fill(con: duckdb.DuckDBPyConnection, worlds: Sequence[World], lists: bool) -> None:
    """Put the tables of an original, of which each file is a part, in place of those in a connection."""
    baskets = [(tid, sorted(items)) for tid, items in enumerate(chain.from_iterable(w.baskets for w in worlds), 1)]
    con.execute("CREATE OR REPLACE TABLE sales (tid INTEGER, items VARCHAR[])")
    con.executemany("INSERT INTO sales VALUES (?, ?)", baskets)
    if not lists:
        con.execute("CREATE OR REPLACE TABLE sales AS SELECT tid, unnest(items) AS item FROM sales")
    values = [(tid, *of.values()) for tid, of in enumerate(chain.from_iterable(w.values for w in worlds), 1)]
    if values:
        con.execute("CREATE OR REPLACE TABLE customers (tid INTEGER, age INTEGER, sex VARCHAR, town VARCHAR, since DATE)")
        con.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?)", values)
