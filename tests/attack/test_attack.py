"""Simulated attackers against naive ones, person by person."""

from __future__ import annotations

import random
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pytest
from portions import portions, some

import anondb
from anondb.errors import AnondbError, InputError
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.models.transactional import HkpCoherence, KmAnonymity, TransactionalK

CHILDREN = {"R": ["P", "Q"], "P": ["a", "b"], "Q": ["c", "d"]}
EDGES = [("R", None), *((x, node) for node, below in CHILDREN.items() for x in below)]


def owner(place: Path, rows: list[set[str]]) -> anondb.Database:
    """The owner's database: transactions numbered from 0, and the taxonomy."""
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", [(n, x) for n, t in enumerate(rows) for x in sorted(t)])
        connection.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO food VALUES (?, ?)", EDGES)
    return anondb.connect(place)


@pytest.mark.slow
@pytest.mark.parametrize("known", [1, 2, 5])
def test_candidates_are_those_of_a_naive_attacker(tmp_path: Path, known: int) -> None:
    rng = random.Random(known)
    rows = [{x for x in "abcd" if rng.random() < 0.5} or {"a"} for _ in range(30)]
    with owner(tmp_path / "shop.duckdb", rows) as database:
        made = database.anonymize("sales", taxonomy="food", model=KmAnonymity(3, 2), name="one", queries=2)
        found = made.attack(individuals=30, known=known)
        image = {i: r for r, i in made.table("released_items").fetchall()}
    assert found.individuals == 30
    published = [{image[x] for x in t if x in image} for t in rows]

    def sizes(t: set[str]) -> tuple[set[int], set[int]]:
        knowledge = list(combinations(sorted(t), min(known, len(t))))
        before = {sum(set(x) <= u for u in rows) for x in knowledge}
        after = {sum({image[i] for i in x if i in image} <= u for u in published) for x in knowledge}
        return before, after

    for which, candidates in ((0, found.before), (1, found.after)):
        possible = [sizes(t)[which] for t in rows]
        assert min(min(p) for p in possible) <= candidates.smallest <= min(max(p) for p in possible)
        assert candidates.largest <= max(max(p) for p in possible)
        if known == 5:  # everything is known: nothing is left to chance
            exact = sorted(p.pop() for p in possible)
            assert (candidates.smallest, candidates.largest) == (exact[0], exact[-1])
            assert candidates.of_one == exact.count(1) and candidates.below_k == sum(n < 3 for n in exact)
            assert candidates.at_smallest == exact.count(exact[0])
    assert known > 2 or found.after.below_k == 0
    assert found.to_json()["after"]["smallest"] == found.after.smallest


@pytest.mark.slow
def test_the_same_seed_draws_the_same_persons(tmp_path: Path) -> None:
    rows = [{x, "a"} for x in "bcd" for _ in range(8)]
    with owner(tmp_path / "shop.duckdb", rows) as database:
        made = database.anonymize("sales", taxonomy="food", model=KmAnonymity(2, 2), name="one", queries=2)
        assert made.attack(individuals=5, seed=3) == made.attack(individuals=5, seed=3)
        for wrong in ({"individuals": 0}, {"known": 0}):
            with pytest.raises(InputError):
                made.attack(**wrong)
        assert made.attack().fresh
        database.sql("DELETE FROM sales WHERE tid = (SELECT min(tid) FROM sales)")
        assert not made.attack().fresh


# ---------------------------------------------------------------------- local recodings and relational values

KINDS = {
    "age": "BIGINT",
    "size": "DECIMAL(9,2)",
    "born": "DATE",
    "seen": "TIMESTAMP",
    "place": "VARCHAR",
    "col'or": "VARCHAR",
}
VALUES: dict[str, list[Any]] = {
    "age": [20, 21, 30, 44],
    "size": ["1.5", "2.25", "-3.0"],
    "born": ["2001-02-03", "2001-02-05", "1999-12-31"],
    "seen": ["2001-02-03 10:00:00.5", "2001-02-03 11:00:00"],
    "place": ["a", "b", "c"],
    "col'or": ["red", "green", "NULL"],
}
PLACES = [("place", "all", None), ("place", "north", "all"), *(("place", x, "north") for x in "ab"), ("place", "c", "all")]


def add_people(place: Path, rng: random.Random, n: int) -> None:
    nulls = rng.random() < 0.5
    with duckdb.connect(str(place)) as connection:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in KINDS.items())
        connection.execute(f"CREATE TABLE people (tid INTEGER, {columns})")
        for tid in range(n):
            row = [None if nulls and rng.random() < 0.2 else rng.choice(known) for known in VALUES.values()]
            connection.execute(f"INSERT INTO people VALUES ({', '.join('?' * 7)})", [tid, *row])
        connection.execute("CREATE TABLE trees (attribute VARCHAR, node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO trees VALUES (?, ?, ?)", PLACES)
        connection.execute("CREATE TABLE secret AS SELECT 'd' AS item")


def fits(value: Any, shown: dict[str, Any], name: str, stands_for: dict[tuple[str, str], set[Any]]) -> bool:
    """Whether a published value may be a person's."""
    if name + "_lo" in shown:
        low, high = shown[name + "_lo"], shown[name + "_hi"]
        return bool(shown.get(name + "_null")) if value is None else low is not None and low <= value <= high
    if shown[name] is None:
        return value is None
    return value in stands_for[name, shown[name]]


def naive_sizes(place: Path, name: str, rows: list[set[str]], hidden: set[str], attributes: list[str]) -> list[int]:
    """Who may be each person, if all that can be known of each is known."""
    with duckdb.connect(str(place), read_only=True) as reader:

        def fetch(query: str) -> list[tuple[Any, ...]]:
            return reader.execute(query).fetchall()

        complete = dict(fetch(f"FROM release_{name}.transaction_ids"))
        members: dict[str, set[str]] = {}
        for released, item in fetch(f"FROM release_{name}.released_items"):
            members.setdefault(released, set()).add(item)
        shown: dict[int, list[tuple[str, int]]] = {t: [] for t in complete}
        for t, released, copies in fetch(f"FROM release_{name}.transactions"):
            shown[t].append((released, copies))
        atomic = ("semantics", "atomic") in fetch(f"FROM release_{name}.manifest")
        people: list[dict[str, Any]] = [{} for _ in rows]
        records: dict[int, dict[str, Any]] = {t: {} for t in complete}
        stands_for: dict[tuple[str, str], set[Any]] = {}
        if attributes:
            found = reader.execute(f"FROM release_{name}.records")
            columns = [c[0] for c in found.description]
            for row in found.fetchall():
                records[row[0]] = dict(zip(columns, row, strict=True))
            for attribute, released, value in fetch(f"FROM release_{name}.released_values"):
                stands_for.setdefault((attribute, released), set()).add(value)
            quoted = ", ".join(f'"{a}"' for a in attributes)
            for row in fetch(f"SELECT tid, {quoted} FROM people"):
                people[row[0]] = dict(zip(attributes, row[1:], strict=True))

    def may_be(items: set[str], person: dict[str, Any], t: int) -> bool:
        if not all(fits(person[a], records[t], a, stands_for) for a in attributes):
            return False
        covers = [(r, c) for r, c in shown[t] if members[r] & items]
        held = all(any(x in members[r] for r, _ in covers) for x in items)
        return not complete[t] or (held and (not atomic or sum(c for _, c in covers) >= len(items)))

    drawn = [(row - hidden, person) for row, person in zip(rows, people, strict=True) if attributes or row - hidden]
    return sorted(sum(may_be(items, person, t) for t in complete) for items, person in drawn)


def check(found: Any, sizes: list[int], k: int) -> None:
    assert found.individuals == len(sizes)
    after = found.after
    assert (after.smallest, after.largest) == (sizes[0], sizes[-1])
    assert (after.of_one, after.below_k) == (sizes.count(1), sum(n < k for n in sizes))
    assert after.at_smallest == sizes.count(sizes[0])


MODELS = [
    ({"model": KmAnonymity(2, 2), "algorithm": "lra"}, set()),
    ({"model": KmAnonymity(2, 2), "algorithm": "vpa"}, set()),
    ({"model": TransactionalK(2), "algorithm": "partition"}, set()),
    ({"model": TransactionalK(2), "algorithm": "clump"}, set()),
    ({"model": KkmAnonymity(2, 2), "algorithm": "rum_bound_r", "delta": 0.9}, set()),
    ({"model": KkmAnonymity(2, 2), "algorithm": "rum_bound_rt", "delta": 0.6, "sensitive": "secret"}, {"d"}),
    ({"model": KkmAnonymity(2, 1), "algorithm": "tum_bound_t", "delta": 0.9, "taxonomy": None}, set()),
    ({"model": KlmDiversity(2, 2, 1), "algorithm": "rum_bound_t", "delta": 1, "sensitive": "secret"}, {"d"}),
]


def attacked(place: Path, seed: int, options: dict[str, Any], hidden: set[str]) -> bool:
    """One random database, attacked; False where no release could be made."""
    rng = random.Random(seed)
    rows = [{x for x in "abcd" if rng.random() < 0.6} for _ in range(rng.randint(6, 14))]
    relational = isinstance(options["model"], KkmAnonymity | KlmDiversity)
    attributes = rng.sample(list(KINDS), rng.randint(1, 3)) if relational else []
    more: dict[str, Any] = {}
    with owner(place, rows):
        pass
    add_people(place, rng, len(rows))
    if relational:
        kinds = [f"{a}:categorical" if a in ("place", "col'or") else a for a in attributes]
        more = {"records": "people", "quasi_identifiers": kinds}
        if "place" in attributes and rng.random() < 0.5:
            more |= {"hierarchies": "trees", "quasi_identifiers": [k.removesuffix(":categorical") for k in kinds]}
    else:
        rows = [row for row in rows if row]  # persons without items are not in the table of transactions
    with anondb.connect(place) as database:
        try:
            release = database.anonymize("sales", **{"taxonomy": "food", **more, **options}, name="one", queries=2)
        except AnondbError as error:
            assert error.code in ("infeasible", "delta", "all_suppressed", "bound", "no_merge", "too_few"), error
            return False
        found = release.attack(individuals=99, known=9)
        promised = release.attack(individuals=99)
        model = options["model"]
        assert promised.known == getattr(model, "m", 2)
        assert isinstance(model, KlmDiversity) or promised.after.below_k == 0
        assert found.quasi_identifiers == tuple(attributes)
    check(found, naive_sizes(place, "one", rows, hidden, attributes), model.k)
    persons = [()] * len(rows)
    if attributes:
        with duckdb.connect(str(place), read_only=True) as reader:
            quoted = ", ".join(f'"{a}"' for a in attributes)
            persons = reader.execute(f"SELECT {quoted} FROM people ORDER BY tid").fetchall()
    everybody = list(zip(persons, [row - hidden for row in rows], strict=True))
    drawn = [(p, items) for p, items in everybody if attributes or items]
    before = sorted(sum(p == q and items <= held for q, held in everybody) for p, items in drawn)
    assert (found.before.smallest, found.before.largest) == (before[0], before[-1])
    assert found.before.of_one == before.count(1)
    return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "hidden"), some(MODELS, MODELS[1], MODELS[5], ids=lambda model: model[0]["algorithm"], check=())
)
@pytest.mark.parametrize("seeds", portions(1, 1, 27))
def test_local_recodings_and_records(options: dict[str, Any], hidden: set[str], seeds: range, tmp_path: Path) -> None:
    done = sum(attacked(tmp_path / f"{n}.duckdb", n, options, hidden) for n in seeds)
    assert done or len(seeds) == 1


@pytest.mark.slow
def test_candidates_are_the_upper_bound_of_the_macro(tmp_path: Path) -> None:
    """The attacker of one person asks the release for that person's values and items."""
    place = tmp_path / "shop.duckdb"
    rng = random.Random(8)
    rows = [{x for x in "abcd" if rng.random() < 0.6} for _ in range(20)]
    with owner(place, rows):
        pass
    add_people(place, random.Random(5), len(rows))
    with anondb.connect(place) as database:
        release = database.anonymize(
            "sales",
            model=KkmAnonymity(3, 2),
            records="people",
            quasi_identifiers="age,born",
            delta=0.9,
            name="one",
            queries=2,
        )
        found = release.attack(individuals=99, known=9)
    with duckdb.connect(str(place), read_only=True) as reader:
        people = reader.execute("SELECT tid, age, born FROM people WHERE age IS NOT NULL AND born IS NOT NULL").fetchall()
        reader.execute("USE release_one")
        sizes = {
            reader.execute(
                "SELECT upper_bound FROM count_bounds(?::VARCHAR[], age := [?, ?], born := [?::DATE, ?::DATE])",
                [sorted(rows[tid]), age, age, born, born],
            ).fetchall()[0][0]
            for tid, age, born in people
        }
    assert all(isinstance(born, date) for _, _, born in people)
    assert found.after.smallest == min(sizes) and found.after.largest == max(sizes)


@pytest.mark.slow
def test_records_are_found_again(tmp_path: Path) -> None:
    """In the ledger are the records and the rest of the policy; persons without items are persons."""
    place = tmp_path / "shop.duckdb"
    rows: list[set[str]] = [{"a", "b"}, {"a"}, {"b"}, {"a", "b"}, set(), set()]
    with owner(place, rows):
        pass
    add_people(place, random.Random(3), len(rows))
    options: dict[str, Any] = {"model": KkmAnonymity(2, 1), "quasi_identifiers": ["age"], "delta": 1}
    with anondb.connect(place) as database:
        release = database.anonymize("sales", records="people", name="one", queries=2, **options)
        stated = database.releases()[0].parameters
        assert stated["records"] == '"main"."people"' and stated["delta"] == 1 and stated["quasi_identifiers"] == ["age"]
        assert release.attack().individuals == 6 and release.measure(queries=1).queries == 1
        frame = database.sql("FROM people").fetchall()
        assert len(frame) == 6
        other = database.anonymize("sales", records=database.sql("FROM people").df(), name="two", queries=2, **options)
        with pytest.raises(InputError) as caught:
            other.attack()
        assert caught.value.code == "no_source"


def test_private_items_are_not_known(tmp_path: Path) -> None:
    rows = [{"a", "d"}] * 3 + [{"a"}] * 3 + [{"d"}]
    with owner(tmp_path / "shop.duckdb", rows) as database:
        database.sql("CREATE TABLE secret AS SELECT 'd' AS item")
        made = database.anonymize("sales", model=HkpCoherence(0.8, 2, 1), sensitive="secret", name="one", queries=2)
        found = made.attack(known=9)
    assert (found.individuals, found.before.smallest, found.after.smallest) == (6, 6, 6)  # nothing is known of {d}


@pytest.mark.slow
@pytest.mark.parametrize("known", [1, 9])
def test_an_anatomy(known: int, tmp_path: Path) -> None:
    rng = random.Random(4)
    rows = [{x for x in "abcdefgh" if rng.random() < 0.5} or {"a"} for _ in range(30)]
    with owner(tmp_path / "shop.duckdb", rows) as database:
        made = database.anonymize("sales", model=anondb.Anatomy("4/3"), columns=3, name="one", queries=2)
        found = made.attack(individuals=30, known=known)
        buckets = made.table("buckets").fetchall()
    column = {x: c for _, c, items, _ in buckets for x in items}

    def in_bucket(items: set[str], bucket: int, wanted: int) -> int:
        needed = {x for x in items if column[x] == wanted}
        return sum(n for b, c, value, n in buckets if (b, c) == (bucket, wanted) and needed <= set(value))

    def may_be(items: set[str]) -> int:
        asked = {column[x] for x in items}
        return sum(min(in_bucket(items, b, c) for c in asked) for b in {b for b, _, _, _ in buckets})

    possible = [[may_be(set(some)) for some in combinations(sorted(t), min(known, len(t)))] for t in rows]
    assert found.k == 2
    assert min(map(min, possible)) <= found.after.smallest <= min(map(max, possible))
    if known == 9:
        check(found, sorted(sizes[0] for sizes in possible), 2)
