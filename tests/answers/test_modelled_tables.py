"""The tables of worlds of sealed files of all kinds: valid by what the files say, and of the original's names and types."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from answers import naive_worlds
from answers.ledger_releases import KINDS, make
from portions import some
from session.random_releases import draw_sealed

import anondb
from anondb.answers.bags import levels_of
from anondb.answers.files import File, copied
from anondb.answers.worlds import Worlds
from anondb.engine.untrusted import memory_engine
from anondb.release.reader import sealed_releases

Rows = list[tuple[Any, ...]]
QUICK = ["kkm", "anatomy"]


@contextmanager
def drawn(files: Sequence[Path], labels: Sequence[str] | None = None) -> Iterator[tuple[Worlds, list[File], Any]]:
    """The worlds of sealed files, what was copied of them, and a connection to their tables."""
    engine = memory_engine(threads=1)
    try:
        with sealed_releases(files) as sealed:
            copies = copied(engine, sealed)
        worlds = Worlds(engine, copies)
        worlds.draw(labels)
        yield worlds, copies, engine.connection
    finally:
        engine.close()


def table(con: Any, world: int, name: str) -> Rows:
    return list(con.execute(f'SET VARIABLE anondb_world = {world}; FROM world_0."{name}"').fetchall())


def baskets(rows: Rows, lists: bool) -> dict[int, list[str]]:
    """The items of each transaction, as texts, by its number."""
    found: dict[int, list[str]] = defaultdict(list)
    for tid, items, *_ in rows:
        if isinstance(tid, date):
            number = (date(9999, 12, 31) - tid).days
        else:
            number = -tid if isinstance(tid, int) else int(tid.removeprefix("modelled-"))
        found[number] += map(str, items) if lists else [str(items)]
    return found


def read(file: Path, query: str) -> Rows:
    with duckdb.connect(str(file), read_only=True) as con:
        return list(con.execute(query).fetchall())


class Said:
    """What a file of sets or bags says, read once."""

    def __init__(self, file: Path) -> None:
        with duckdb.connect(str(file), read_only=True) as con:
            self.manifest = dict(con.execute("FROM manifest").fetchall())
            self.shown: dict[int, dict[str, int]] = defaultdict(dict)
            for tid, label, copies in con.execute("FROM transactions").fetchall():
                self.shown[tid][label] = copies
            self.members: dict[str, set[str]] = defaultdict(set)
            for label, item in con.execute("FROM released_items").fetchall():
                self.members[label].add(item)
            supports = "item_supports" in self.manifest
            self.supports = con.execute("FROM item_supports").fetchall() if supports else []
            self.values: dict[tuple[str, str | None], set[str | None]] = defaultdict(set)
            self.records: list[dict[str, Any]] = []
            if "records_table" in self.manifest:
                for attribute, label, value in con.execute("FROM released_values").fetchall():
                    self.values[attribute, label].add(value)
                rows = con.execute("FROM records ORDER BY transaction_id")
                names = [column[0] for column in rows.description or []]
                self.records = [dict(zip(names, row, strict=True)) for row in rows.fetchall()]
        made = {f"{name}{end}" for record in self.records[:1] for name in record for end in ("_lo", "_hi", "_null")}
        self.attributes = [name for record in self.records[:1] for name in [*record][1:] if name not in made]

    def faults(self, held: Mapping[int, list[str]]) -> list[str]:
        """What the items of a world say that the file forbids."""
        found, bags = [], self.manifest["semantics"] != "set"
        for tid, labels in self.shown.items():
            items = held[tid]
            if not set(items) <= set().union(*(self.members[label] for label in labels)):
                found.append("an item outside the released items")
            if not bags and len(set(items)) < len(items):
                found.append("an item twice")
            if bags and len(items) != sum(labels.values()):
                found.append("another number of items than copies")
            for label in labels:
                needed = sum(copies for other, copies in labels.items() if self.members[other] <= self.members[label])
                if sum(item in self.members[label] for item in items) < (needed if bags else 1):
                    found.append("too few members of a released item")
        for label, item, low, high, _ in self.supports:
            n = sum(item in held[tid] for tid, labels in self.shown.items() if label in labels)
            if not low <= n <= high:
                found.append("a number of holders outside the item supports")
        return found

    def record_faults(self, rows: Rows) -> list[str]:
        """What the attributes of a world (number of the person, values) say that the file forbids."""
        found, of = [], {row[0]: row[1:] for row in rows}
        if len(of) < len(rows) or not of.keys() <= {record["transaction_id"] for record in self.records}:
            found.append("another number of persons")
        for record in self.records:
            for name, value in zip(self.attributes, of.get(record["transaction_id"], ()), strict=False):
                if f"{name}_lo" not in record:
                    possible = value in (self.values.get((name, record[name])) or {record[name]})
                elif value is None:
                    possible = record[f"{name}_lo"] is None or record.get(f"{name}_null", False)
                else:
                    possible = record[f"{name}_lo"] <= value <= record[f"{name}_hi"]
                if not possible:
                    found.append("a value outside its range or category")
        return found


def check(files: Sequence[Path]) -> None:
    """Every world of files is valid."""
    with drawn(files) as (worlds, copies, con):
        description = copies[0].description
        said = [Said(file) for file in files] if description.rows != "buckets" else []
        for w in range(worlds.count):
            rows = table(con, w, description.table)
            persons = {(row[0], *row[2:]) for row in rows}
            values = (
                table(con, w, description.records)
                if description.records is not None and not description.inline
                else [*persons]
            )
            held, before = baskets(rows, description.lists), 0
            for n, copy in enumerate(copies):
                own = {
                    tid - before: items for tid, items in held.items() if 0 < tid - before <= copy.description.transactions
                }
                if description.rows != "buckets":
                    assert not said[n].faults(own)
                elif w < 3:
                    made = read(files[n], f"FROM reconstruct({copy.description.seed + w})")
                    assert own == {tid: items for tid, items in made if items}
                if description.records is not None:
                    of = [(-tid - before, *of) for tid, *of in values if 0 < -tid - before <= copy.description.transactions]
                    assert not said[n].record_faults(of)
                    assert description.inline or len(of) == len(said[n].records)
                before += copy.description.transactions
            assert not rows or max(held) <= before


@pytest.mark.slow
@pytest.mark.parametrize("name", some(KINDS, *QUICK, "lists", "halves", check=()))
def test_worlds_of_every_kind_of_release_are_valid(folder: Path, name: str) -> None:
    check(make(name, folder))


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(40), 0, check=[1]))
def test_worlds_of_random_releases_are_valid(tmp_path: Path, seed: int) -> None:
    sealed = draw_sealed(random.Random(seed), tmp_path)
    check(sealed.files)


def seal_bags(rnd: random.Random, file: Path, repeated: bool) -> None:
    """A random release of bags over a taxonomy of three levels."""
    items = [f"i{n}" for n in range(9)]
    rows = [(tid, rnd.choice(items)) for tid in range(1, 25) for _ in range(rnd.randint(1, 6))]
    tree = [("all", None), *((f"p{n}", "all") for n in range(3)), *((x, f"p{n // 3}") for n, x in enumerate(items))]
    with duckdb.connect() as con:
        con.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        con.executemany("INSERT INTO sales VALUES (?, ?)", rows if repeated else sorted(set(rows)))
        con.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        con.executemany("INSERT INTO food VALUES (?, ?)", tree)
        model = anondb.TransactionalK(3)
        made = anondb.connect(con).anonymize(
            "sales", model=model, algorithm="clump", taxonomy="food", bag_input=repeated, name="r"
        )
        made.publish(file)


@pytest.mark.slow
@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("seed", some(range(1, 12), 1, check=[2]))
def test_worlds_of_bags_are_those_of_the_definition(tmp_path: Path, repeated: bool, seed: int) -> None:
    file = tmp_path / "bags.duckdb"
    seal_bags(random.Random(seed), file, repeated)
    said = Said(file)
    rows, members = said.shown, {label: sorted(items) for label, items in said.members.items()}
    with drawn([file]) as (worlds, copies, con):
        for w in range(worlds.count):
            held = baskets(table(con, w, "sales"), lists=False)
            assert not said.faults(held)
            expected = naive_worlds.of_bags(rows, members, copies[0].description.seed, w)
            assert {t: sorted(items) for t, items in held.items()} == {t: sorted(items) for t, items in expected.items()}
            if not repeated:
                assert all(len(set(items)) == len(items) for items in held.values())


@pytest.mark.slow
def test_levels_of_released_items_that_overlap(folder: Path) -> None:
    with drawn(make("clump", folder)) as (_, copies, _):
        (file,) = copies
        levels, pairs = levels_of(file)
        of = dict(zip(file.members.label.tolist(), levels.tolist(), strict=True))
        sets = defaultdict(set)
        for label, item in zip(file.members.label.tolist(), file.members.item.tolist(), strict=True):
            sets[label].add(item)
        overlapping = {(a, b) for a in sets for b in sets if a != b and sets[a] & sets[b] and of[a] < of[b]}
        assert set(pairs) == overlapping and all(len(sets[a]) <= len(sets[b]) for a, b in pairs)
        assert {frozenset((a, b)) for a in sets for b in sets if a != b and sets[a] & sets[b]} == set(map(frozenset, pairs))


@pytest.mark.slow
def test_attributes_are_those_of_the_definition(folder: Path) -> None:
    (file,) = make("kkm", folder)
    ages = {tid: ends for tid, *ends in read(file, "SELECT transaction_id, age_lo, age_hi FROM records")}
    towns = dict(read(file, "SELECT transaction_id, town FROM records"))
    listed: dict[str, list[str]] = defaultdict(list)
    for label, town in read(file, "SELECT released_value, value FROM released_values WHERE attribute = 'town' ORDER BY ALL"):
        listed[label].append(town)
    alone = Counter({listed[label][0]: n for label, n in Counter(towns.values()).items() if len(listed[label]) == 1})
    with drawn([file]) as (worlds, copies, con):
        seed = copies[0].description.seed
        for w in range(worlds.count):
            rows = [(-tid, *values) for tid, *values in table(con, w, "customers")]
            for t, age, _, town, *_ in rows:
                low, high = ages[t]
                assert age == low + naive_worlds.place_of(high - low + 1, t, 0, w, seed)
                likely = [value for value in listed[towns[t]] for _ in range(1 + alone[value])]
                assert town == likely[naive_worlds.place_of(len(likely), t, 2, w, seed)]
            assert len(rows) == len(ages)
