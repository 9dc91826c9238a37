"""A second release of the same persons: refused, or measured against the naive count."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pytest
from portions import some

import anondb
from anondb.errors import InputError
from anondb.ledger import stored
from anondb.models.anatomy import Anatomy
from anondb.models.relational import KkmAnonymity
from anondb.models.transactional import KmAnonymity, TransactionalK
from anondb.publications import history, published_rows
from anondb.publications.history import Difference, Intersection, notes
from anondb.publications.published_rows import common_cells

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


def naive(database: anondb.Database, names: Sequence[str], k: int) -> tuple[int | None, int | None, int]:
    """Candidates of one and of two known items under all recodings, person by person."""
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


@pytest.mark.slow
@pytest.mark.parametrize("k", some([2, 6, 12], 6, check=()))
def test_a_second_release_is_refused_or_measured(owner_file: Path, tmp_path: Path, k: int) -> None:
    with anondb.connect(owner_file) as database:
        make(database, "sales", "food", "one", 3).publish(tmp_path / "one.duckdb")
        second = make(database, "sales", "drinks", "two", k)
        with pytest.raises(InputError) as caught:
            second.publish(tmp_path / "two.duckdb")
        assert caught.value.code == "overlap" and "allow_overlap=True" in str(caught.value)
        assert not (tmp_path / "two.duckdb").exists()
        (found,) = second.publish(tmp_path / "two.duckdb", allow_overlap=True).intersections
        wanted = naive(database, ("two", "one"), max(k, 3))
        assert (found.smallest_of_one, found.smallest_of_two, found.below_k) == wanted
        assert found.other == "one" and f"{found.smallest:,} persons fit both" in found.words
        noted = history.publications(database.engine, "shop")
        assert [(p.name, p.file, p.allowed_overlap) for p in noted] == [
            ("one", "one.duckdb", False),
            ("two", "two.duckdb", True),
        ]
        assert noted[1].smallest_candidates == found.smallest and noted[0].user_name


@pytest.mark.slow
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
        dropped = {i.other: i for i in gone}["one"]
        assert dropped.difference is not None and dropped.smallest is not None  # its rows were kept


KINDS: dict[str, dict[str, Any]] = {
    "global": {"taxonomy": "food", "model": KmAnonymity(3, 2)},
    "sets": {"model": KmAnonymity(3, 2)},
    "local": {"taxonomy": "food", "model": TransactionalK(3)},
    "bags": {"taxonomy": "food", "model": TransactionalK(3), "algorithm": "clump"},
    "records": {
        "taxonomy": "food",
        "model": KkmAnonymity(3, 1),
        "records": "persons",
        "quasi_identifiers": "age",
        "delta": 1,
        "max_suppression": 100,
    },
    "anatomy": {"model": Anatomy(Fraction(3, 2)), "columns": "columns", "empty_values": "ignore"},
}


def prepare(path: Path) -> None:
    """What the kinds of releases need beside the transactions."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE persons AS SELECT tid, 20 + tid % 3 AS age FROM range(40) r(tid)")
        connection.execute("CREATE TABLE columns (column_id INTEGER, item VARCHAR)")
        connection.executemany("INSERT INTO columns VALUES (?, ?)", [(n // 2, x) for n, x in enumerate(ITEMS)])
        connection.execute("DELETE FROM sales WHERE tid >= 40")


def as_published(path: Path) -> Counter[Any]:
    """The rows of a sealed file as any reader sees them: of an anatomy its buckets."""
    with duckdb.connect(str(path), read_only=True) as reader:
        names = {n for (n,) in reader.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        held: dict[int, list[Any]] = defaultdict(list)
        if "buckets" in names:
            for bucket, *value in reader.execute("FROM buckets").fetchall():
                held[bucket].append((value[0], tuple(value[1]), value[2]))
            return Counter(tuple(sorted(values)) for values in held.values())
        for tid, *row in reader.execute("SELECT transaction_id, item, copies FROM transactions").fetchall():
            held[tid].append(tuple(row))
        records: dict[int, tuple[Any, ...]] = {}
        if "records" in names:
            records = {tid: tuple(row) for tid, *row in reader.execute("FROM records").fetchall()}
        ids = [tid for (tid,) in reader.execute("SELECT transaction_id FROM transaction_ids").fetchall()]
        return Counter((tuple(sorted(held[tid])), records.get(tid, ())) for tid in ids)


def column_values(path: Path) -> Counter[tuple[str, ...]]:
    """The values of the columns of a sealed anatomy without their buckets, but for empty ones."""
    found: Counter[tuple[str, ...]] = Counter()
    with duckdb.connect(str(path), read_only=True) as reader:
        for items, copies in reader.execute("SELECT items, copies FROM buckets WHERE len(items) > 0").fetchall():
            found[tuple(items)] += copies
    return found


def figures(first: Counter[Any], second: Counter[Any], k: int) -> tuple[int, int, int, int]:
    """Rows of each only, alone in the difference, and in groups of fewer than k there."""
    one, other = first - second, second - first
    sizes = [*one.values(), *other.values()]
    return one.total(), other.total(), sizes.count(1), sum(n for n in sizes if n < k)


def told(found: Difference | None) -> tuple[int, int, int, int]:
    assert found is not None
    return found.only_here, found.only_there, found.alone, found.below_k


def cells_of(releases: Sequence[Sequence[tuple[str, str]]], suppressed: Sequence[bool]) -> list[set[str]]:
    """The sets of items that both releases know as unions of released items, by merging until nothing overlaps."""
    groups = [{i for r, i in pairs if r == label} for pairs in releases for label in {r for r, _ in pairs}]
    while True:
        clash = next(((a, b) for a, b in combinations(range(len(groups)), 2) if groups[a] & groups[b]), None)
        if clash is None:
            break
        groups[clash[0]] |= groups.pop(clash[1])
    known = [{i for _, i in pairs} for pairs in releases]
    return [
        g
        for g in groups
        if not (suppressed[0] and g & known[1] - known[0]) and not (suppressed[1] and g & known[0] - known[1])
    ]


def generalized(path: Path, cells: list[set[str]], bags: bool) -> Counter[Any]:
    """The transactions of a sealed file, each released item replaced by the cell that it lies in."""
    with duckdb.connect(str(path), read_only=True) as reader:
        cell = {r: n for r, i in reader.execute("FROM released_items").fetchall() for n, g in enumerate(cells) if i in g}
        held: dict[int, Counter[int]] = defaultdict(Counter)
        for tid, item, copies in reader.execute("SELECT transaction_id, item, copies FROM transactions").fetchall():
            if item in cell:
                held[tid][cell[item]] += copies
        ids = [tid for (tid,) in reader.execute("SELECT transaction_id FROM transaction_ids").fetchall()]
    return Counter(tuple(sorted(held[t].items() if bags else set(held[t]))) for t in ids)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "kept"),
    some(
        [(kind, kept) for kind in KINDS for kept in (False, True)],
        *(("global", False), ("anatomy", True)),
        check=(),
        ids=lambda case: f"{case[0]}-{'dropped' if case[1] else 'present'}",
    ),
)
def test_published_again_without_one_person(owner_file: Path, tmp_path: Path, kind: str, kept: bool) -> None:
    """The report compares what readers of both sealed files can, whatever the release, also once the first is dropped."""
    prepare(owner_file)
    files = [tmp_path / "one.duckdb", tmp_path / "two.duckdb"]
    options: dict[str, Any] = {"queries": 3, **KINDS[kind]}
    k = 2 if kind == "anatomy" else 3
    with anondb.connect(owner_file) as database:
        database.anonymize("sales", name="one", **options).publish(files[0])
        items = {x for (x,) in database.sql("SELECT item FROM sales WHERE tid = 7").fetchall()}  # type: ignore[union-attr]
        basket = [tuple(x for x in pair if x in items) for pair in ("ab", "cd", "ef", "gh") if items & set(pair)]
        database.sql("DELETE FROM sales WHERE tid = 7; DELETE FROM persons WHERE tid = 7")
        second = database.anonymize("sales", name="two", **options)
        if kept:
            database.drop("one")
        (found,) = second.publish(files[1], allow_overlap=True).intersections
    assert told(found.whole) == figures(as_published(files[1]), as_published(files[0]), k)
    assert found.reason is None and found.difference is not None
    assert found.difference.size >= 1 and found.difference.alone >= 1  # who is missing is not hidden by the figures
    assert f"{found.difference.alone:,} alone" in found.words
    if kind == "anatomy":
        values = [column_values(f) for f in files]
        assert told(found.common) == figures(values[1], values[0], k)
        assert values[0] - values[1] == Counter(basket) and found.common is not None  # the basket, column by column
        return
    with_pairs = []
    for file in files:
        with duckdb.connect(str(file), read_only=True) as reader:
            some = reader.execute("SELECT value FROM manifest WHERE key = 'suppression'").fetchall() == [("some",)]
            with_pairs.append((reader.execute("FROM released_items").fetchall(), some))
    cells = cells_of([p for p, _ in with_pairs], [s for _, s in with_pairs])
    rows = [generalized(f, cells, kind == "bags") for f in files]
    assert told(found.common) == figures(rows[1], rows[0], k)
    assert found.common is not None and found.common.cells == len(cells)


@pytest.mark.slow
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


@pytest.mark.slow
def test_recodings_that_differ(owner_file: Path, tmp_path: Path) -> None:
    """Compared in what both recodings have in common, exactly the persons show whose items are not in both."""
    prepare(owner_file)
    with anondb.connect(owner_file) as database:
        database.sql("CREATE TABLE alike AS SELECT tid, item FROM sales WHERE tid <> 7 AND tid <> 11")
        make(database, "sales", "food", "one", 2).publish(tmp_path / "one.duckdb")
        second = make(database, "alike", "food", "two", 12)
        (found,) = second.publish(tmp_path / "two.duckdb", allow_overlap=True).intersections
        assert database.release("one").table("released_items").fetchall() != second.table("released_items").fetchall()
        assert found.whole is not None and found.common is not None and found.common.cells == 3
        assert found.whole.size > 2 and (found.common.only_here, found.common.only_there) == (0, 2)
        assert found.difference is found.common and "3 sets of items" in found.words and found.persons == 37


def test_suppressed_items_are_not_taken_for_missing_ones() -> None:
    """A set of items of which one release may have suppressed a part is not compared."""
    first, second = [("X", "a"), ("X", "b"), ("c", "c")], [("a", "a"), ("c", "c"), ("d", "d")]
    assert common_cells(first, second, False, False) == ({"X": "a", "c": "c"}, {"a": "a", "c": "c", "d": "d"})
    assert common_cells(first, second, False, True) == ({"c": "c"}, {"c": "c", "d": "d"})
    assert common_cells(first, second, True, False) == ({"X": "a", "c": "c"}, {"a": "a", "c": "c"})
    assert common_cells([("U", x) for x in "abc"], [*second, ("V", "c"), ("V", "d")], False, False) == (
        {"U": "a"},
        {"a": "a", "c": "a", "V": "a", "d": "a"},
    )


@pytest.mark.slow
def test_what_cannot_be_compared_says_why(owner_file: Path, tmp_path: Path) -> None:
    prepare(owner_file)
    with anondb.connect(owner_file) as database:
        make(database, "sales", "food", "one", 2).publish(tmp_path / "one.duckdb")
        columns = {"columns": "columns", "empty_values": "ignore"}
        links = database.anonymize("sales", name="links", model=Anatomy(Fraction(2)), queries=3, **columns)  # type: ignore[arg-type]
        (found,) = links.publish(tmp_path / "links.duckdb", allow_overlap=True).intersections
        assert found.difference is None and "an anatomy has no transactions" in found.words
        database.sql("DROP SCHEMA release_one CASCADE")
        second = make(database, "sales", "food", "two", 2)
        gone, links_found = second.publish(tmp_path / "two.duckdb", allow_overlap=True).intersections
        assert gone.difference is None and gone.reason is not None and "was not dropped by anondb" in gone.words
        assert links_found.reason is not None
        kept = database.sql("SELECT other, compared, alone, reason IS NULL FROM anondb.overlaps").fetchall()  # type: ignore[union-attr]
        assert kept == [("one", None, None, False), ("one", None, None, False), ("links", None, None, False)]


@pytest.mark.slow
def test_a_table_of_the_same_name_in_another_database(owner_file: Path, tmp_path: Path) -> None:
    with anondb.connect(owner_file) as database:
        make(database, "sales", "food", "one", 2).publish(tmp_path / "one.duckdb")
        database.sql(f"ATTACH '{tmp_path / 'other.duckdb'}' AS another; CREATE TABLE another.sales AS FROM sales LIMIT 0")
        second = make(database, "sales", "food", "two", 2)
        (found,) = second.publish(tmp_path / "two.duckdb", allow_overlap=True).intersections
        assert found.smallest is not None and found.difference is not None
        assert second.measure(queries=3).queries == 3  # the source is found again


def against(only_there: int, other: str = "one", **more: Any) -> Intersection:
    difference = Difference("transactions", 0, only_there, only_there, only_there, 5)
    return Intersection(other, 9, whole=difference, common=difference, **more)


def test_one_line_on_all_earlier_publications() -> None:
    """It is on the worst of them, and says what that means for a person."""
    gone = Intersection("gone", 9, reason="it is gone")
    alike, apart, few = against(0), against(3, "two"), against(0, "three", smallest_of_one=4, below_k=2)
    assert notes([]) == []
    (line,) = notes([alike, gone, few, apart, against(7, "four")])
    assert "single out persons" in line and "'four': 7 transactions are in one" in line and "Of 5" in line
    assert "what 1 of them tell is not known" in line and "\n" not in line
    (line,) = notes([alike, few, gone])
    assert "fewer than k" in line and "'three'" in line
    (line,) = notes([alike, gone])
    assert "not known" in line and "not measured, since it is gone" in line
    assert "Nobody was found" in notes([alike])[0]


def test_what_was_not_compared_does_not_read_as_safe() -> None:
    """No set of items that both show, or a recoding whose candidates were not counted: nothing is known."""
    differ, nothing = (Difference("transactions", n, n, 0, 0, 5, cells) for n, cells in ((9, None), (0, 0)))
    some = Difference("transactions", 0, 0, 0, 0, 5, 3)
    for unknown in (
        Intersection("one", 9, whole=differ, common=nothing),
        Intersection("one", 9, whole=None, common=nothing),
        Intersection("one", 9, whole=differ, common=some),
        against(0, bounds_differ=3),
    ):
        assert "is not known" in notes([unknown])[0] and "Nobody" not in notes([unknown])[0]
    assert "no set of items is shown by both" in Intersection("one", 9, whole=differ, common=nothing).words
    assert "Nobody was found" in notes([Intersection("one", 9, common=some, smallest_of_one=5, below_k=0)])[0]


@pytest.mark.slow
def test_known_items_are_looked_for_in_all_earlier_releases(owner_file: Path, tmp_path: Path) -> None:
    """Readers have all files: who fits one and the other may not fit a third."""
    names = ("three", "two", "one")
    with duckdb.connect(str(owner_file)) as connection:
        connection.execute("CREATE TABLE tea (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO tea VALUES (?, ?)", taxonomy(["ac", "bd", "eg", "fh"]))
    with anondb.connect(owner_file) as database:
        for name, food in zip(reversed(names), ("food", "drinks", "tea"), strict=True):
            release = make(database, "sales", food, name, 8)
            found = release.publish(tmp_path / f"{name}.duckdb", allow_overlap=True).intersections
        wanted = naive(database, names, 8)
        assert wanted != naive(database, names[:2], 8)
    assert [(i.smallest_of_one, i.smallest_of_two, i.below_k) for i in found] == [wanted, wanted]


@pytest.mark.slow
@pytest.mark.parametrize("kind", some(["local", "records"], "local", check=()))
def test_the_same_rows_tell_nothing_and_others_are_not_known(owner_file: Path, tmp_path: Path, kind: str) -> None:
    """Of recodings that are not global, candidates are not counted: only equal rows are known to say nothing more."""
    prepare(owner_file)
    others = {"model": KmAnonymity(2, 2), "algorithm": "similar", "taxonomy": "food"} if kind == "local" else {"delta": 0.2}
    with anondb.connect(owner_file) as database:
        for n, options in enumerate((KINDS[kind], KINDS[kind], {**KINDS[kind], **others})):
            release = database.anonymize("sales", name=f"r{n}", queries=3, **options)
            found = release.publish(tmp_path / f"{n}.duckdb", allow_overlap=True).intersections
            lines = notes(found)
            if n == 1:
                assert "Nobody was found" in lines[0] and "no transaction is in one" in lines[0]
    if as_published(tmp_path / "2.duckdb") == as_published(tmp_path / "0.duckdb"):
        pytest.fail("the third release was to have other rows")
    assert "is not known" in lines[0] and "Of 2 earlier" in lines[0]


@pytest.mark.nightly
def test_what_is_known_of_the_same_data_is_what_comparing_finds(owner_file: Path) -> None:
    """Of any two recodings of the same data that are exact, also if they differ much."""
    prepare(owner_file)
    with duckdb.connect(str(owner_file)) as connection:
        connection.execute("DELETE FROM persons WHERE tid NOT IN (SELECT tid FROM sales)")  # they would be more persons
    recodings: list[dict[str, Any]] = [
        *(options for name, options in KINDS.items() if name != "anatomy"),
        {"taxonomy": "drinks", "model": KmAnonymity(5, 2)},
        {"taxonomy": "food", "model": TransactionalK(2)},
        {"taxonomy": "food", "model": KmAnonymity(2, 2), "algorithm": "lra"},
        {"model": KmAnonymity(3, 2), "algorithm": "similar"},
        {**KINDS["records"], "delta": 0.3},
    ]
    alike = compared = 0
    with anondb.connect(owner_file) as database:
        names = [f"r{n}" for n in range(len(recodings))]
        for name, options in zip(names, recodings, strict=True):
            database.anonymize("sales", name=name, queries=1, **options)
        with database.engine.transaction():
            schemas = [stored.find_release(database.engine, name) for name in names]
            shown = [r for s in schemas if (r := published_rows.of_schema(database.engine, s)) is not None and r.exact]
            for one, other in combinations([*shown, shown[-1]], 2):
                both = database.engine, database.engine.here().catalog, one, [other]
                wholes, compared_rows = published_rows.differences(*both, whole=[other.release_id])
                known = published_rows.differences(*both, whole=(), same=[other.release_id])[1][other.release_id]
                found = compared_rows[other.release_id]
                assert (known.size, known.cells) == (found.size, found.cells) == (0, known.cells)
                alike += not wholes[other.release_id].size
                compared += 1
    assert alike and compared > 20


@pytest.mark.slow
@pytest.mark.parametrize(("changed", "recoded"), [(False, True), (True, False), (True, True)])
def test_the_rows_of_earlier_releases_are_not_read_again(
    changed: bool, recoded: bool, owner_file: Path, tmp_path: Path
) -> None:
    """Else each further publication would cost more: the ledger has digests of rows that were compared, also of those in the
    sets of items that two recodings share. Of the same data nobody came, left or changed. Candidates are counted once."""
    said: list[str] = []
    with anondb.connect(owner_file, on_statement=said.append) as database:
        for n in range(4):
            release = make(database, "sales", "food", f"r{n}", 12 if recoded and n > 1 else 2)
            said.clear()
            found = release.publish(tmp_path / f"{n}.duckdb", allow_overlap=True).intersections
            assert [i.difference is not None and i.difference.only_there for i in found] == [
                changed * (n - i) for i in range(n)
            ]
            database.sql(f"DELETE FROM sales WHERE {changed} AND tid = {n}")
    read = [text for text in said if '"transactions"' in text or '"transaction_items"' in text]
    assert read and not any(f'"release_r{n}"' in text for text in read for n in range(3))
    assert len([text for text in said if "known_pairs" in text]) == 1
    assert len([text for text in said if "surplus" in text]) == changed  # of all of them at once
