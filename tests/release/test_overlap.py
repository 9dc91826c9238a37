"""A second release of the same persons: refused, or measured against the naive count."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import duckdb
import pytest

import anondb
from anondb.errors import InputError
from anondb.models.km import KmAnonymity
from anondb.release import publications

ITEMS = "abcdefgh"


def taxonomy(pairs: list[str]) -> list[tuple[str, str | None]]:
    """A root, a group for each text, and the letters of the text below it."""
    return [("root", None), *((g.upper(), "root") for g in pairs), *((x, g.upper()) for g in pairs for x in g)]


@pytest.fixture
def owner_file(tmp_path: Path) -> Path:
    rng = random.Random(4)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        rows = [(tid, x) for tid in range(40) for x in ITEMS if rng.random() < 0.4]
        connection.executemany("INSERT INTO sales VALUES (?, ?)", rows)
        connection.execute("CREATE TABLE more AS SELECT tid + 30 AS tid, item FROM sales")
        connection.execute("CREATE TABLE others AS SELECT tid + 1000 AS tid, item FROM sales")
        for name, groups in (("food", ["ab", "cd", "ef", "gh"]), ("drinks", ["ah", "bc", "de", "fg"])):
            connection.execute(f"CREATE TABLE {name} (node VARCHAR, parent VARCHAR)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", taxonomy(groups))
    return tmp_path / "shop.duckdb"


def make(database: anondb.Database, source: str, food: str, name: str, k: int) -> anondb.Release:
    return database.anonymize(
        source, taxonomy=food, model=KmAnonymity(k, 2), name=name, queries=3, max_suppression=100, replace=True
    )


def naive(database: anondb.Database, names: tuple[str, str], k: int) -> tuple[int | None, int | None, int]:
    """Candidates of one and of two known items under both recodings, person by person."""
    with database.engine.transaction():
        rows = database.engine.connection.execute("SELECT tid, item FROM sales").fetchall()
    images = [{i: r for r, i in database.release(n).table("released_items").fetchall()} for n in names]
    persons = {tid: {i for t, i in rows if t == tid} for tid, _ in rows}
    seen = {p: [{im[i] for i in items if i in im} for im in images] for p, items in persons.items()}

    def fits(p: int, known: tuple[str, ...]) -> bool:
        return all(im.get(x) is None or im[x] in held for x in known for im, held in zip(images, seen[p], strict=True))

    def joint(x: str) -> tuple[str | None, ...]:
        return tuple(im.get(x) for im in images)

    sizes: dict[int, dict[frozenset[tuple[str | None, ...]], int]] = {1: {}, 2: {}}
    for items in persons.values():
        useful = [x for x in sorted(items) if any(joint(x))]
        for size in (1, 2):
            for known in combinations(useful, size):
                if len({joint(x) for x in known}) == size:
                    sizes[size][frozenset(map(joint, known))] = sum(fits(p, known) for p in persons)
    smallest = [min(found.values(), default=None) for found in sizes.values()]
    return smallest[0], smallest[1], sum(n < k for found in sizes.values() for n in found.values())


@pytest.mark.parametrize("k", [2, 6, 12])
def test_a_second_release_is_refused_or_measured(owner_file: Path, tmp_path: Path, k: int) -> None:
    with anondb.connect(owner_file) as database:
        make(database, "sales", "food", "one", 3).publish(tmp_path / "one.duckdb")
        second = make(database, "sales", "drinks", "two", k)
        with pytest.raises(InputError) as caught:
            second.publish(tmp_path / "two.duckdb")
        assert caught.value.code == "overlap" and "--allow-overlap" in str(caught.value)
        assert not (tmp_path / "two.duckdb").exists()
        (found,) = second.publish(tmp_path / "two.duckdb", allow_overlap=True).intersections
        wanted = naive(database, ("two", "one"), max(k, 3))
        assert (found.smallest_of_one, found.smallest_of_two, found.below_k) == wanted
        assert found.other == "one" and f"{found.smallest:,}" in found.words
        noted = publications.publications(database.engine, "shop")
        assert [(p.name, p.file, p.allowed_overlap) for p in noted] == [
            ("one", "one.duckdb", False),
            ("two", "two.duckdb", True),
        ]
        assert noted[1].smallest_candidates == found.smallest and noted[0].user_name


def test_what_counts_as_overlapping(owner_file: Path, tmp_path: Path) -> None:
    with anondb.connect(owner_file) as database:
        first = make(database, "sales", "food", "one", 2)
        trial = make(database, "sales", "drinks", "trial", 2)  # never published
        first.publish(tmp_path / "one.duckdb")
        first.publish(tmp_path / "copy.duckdb")  # the same release once more
        make(database, "others", "food", "others", 2).publish(tmp_path / "others.duckdb")  # other persons
        more = make(database, "more", "food", "more", 2)  # ten persons are in both
        with pytest.raises(InputError):
            more.publish(tmp_path / "more.duckdb")
        shared = more.publish(tmp_path / "more.duckdb", allow_overlap=True).intersections
        assert [(i.other, i.persons) for i in shared] == [("one", 10)]
        database.drop("one")  # gone from here, not from the world
        with pytest.raises(InputError):
            trial.publish(tmp_path / "trial.duckdb")
        gone = trial.publish(tmp_path / "trial.duckdb", allow_overlap=True).intersections
        assert {i.other: i.smallest for i in gone}["one"] is None and "cannot be measured" in gone[0].words


def test_a_run_over_files_has_no_ledger_and_says_so(owner_file: Path, tmp_path: Path) -> None:
    (tmp_path / "baskets.dat").write_text("a b\na b\na b\n")
    with anondb.connect(one_shot=True) as database:
        made = database.anonymize(
            tmp_path / "baskets.dat", model=KmAnonymity(2, 2), publish=tmp_path / "sealed.duckdb", queries=3
        )
        assert made.report is not None and any("ledger" in w for w in made.report.warnings)


def test_the_ledger_keeps_the_statements(owner_file: Path) -> None:
    with anondb.connect(owner_file) as database:
        made = make(database, "sales", "food", "one", 2)
        texts = made.statements
        assert len(texts) > 30 and any('"release_one"."transactions"' in t for t in texts)
