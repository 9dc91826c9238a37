"""Transactional k-anonymity as its users meet it: command line, Python, SQL statements, sealed files."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import duckdb
import pytest
from answers import naive_worlds
from cli.shop import Run
from reference_expected import expected_holders

import anondb
from anondb.answers import worlds
from anondb.answers.hashing import seed_of
from anondb.errors import InfeasibleError, InputError

TREE = """Orange;Fruit;Food\nApple;Fruit;Food\nBanana;Fruit;Food\nBeef;Meat;Food\nChicken;Meat;Food
Milk;Dairy;Food\nCheese;Dairy;Food\nButter;Dairy;Food\n"""
BASKETS = {  # the worked example of Clump's companion thesis
    "t1": ["Orange", "Chicken", "Beef"],
    "t2": ["Banana", "Beef", "Cheese"],
    "t3": ["Chicken", "Milk", "Butter"],
    "t4": ["Apple", "Chicken"],
    "t5": ["Chicken", "Beef"],
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "food.tree").write_text(TREE)
    rows = [(t, i) for t, items in BASKETS.items() for i in items]
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE sales(tid VARCHAR, item VARCHAR)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", rows)
    return tmp_path


Command = Callable[..., tuple[int, Any]]


@pytest.fixture
def command(run: Run) -> Command:
    """A command's exit code and what it printed as JSON."""

    def call(*words: str) -> tuple[int, Any]:
        found = run(*words, "--json")
        return found.code, json.loads(found.out)

    return call


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "ggd", "semantics", "baskets"),
    [
        ("clump", "46/7", "atomic", {("Beef", "Food", "Fruit"): 2, ("Chicken", "Food"): 3}),
        pytest.param("partition", "69/7", "set", {("Fruit", "Meat"): 2, ("Food",): 3}, marks=pytest.mark.slow),
    ],
)
def test_the_worked_example(
    shop: Path, command: Command, algorithm: str, ggd: str, semantics: str, baskets: dict[tuple[str, ...], int]
) -> None:
    sealed = str(shop / "sealed.duckdb")
    source, tree = str(shop / "shop.duckdb"), str(shop / "food.tree")
    code, report = command(
        *("anonymize", source, "--taxonomy", tree, "--model", "k", "--k", "2", "--algorithm", algorithm),
        *("--release", "r", "--publish", sealed),
    )
    assert code == 0
    assert report["loss"]["ggd"] == ggd
    assert report["model"] == {"name": "k", "k": 2}
    assert report["verified"] and report["violations"] == 0
    with duckdb.connect(source, read_only=True) as connection:
        rows = connection.execute(
            "SELECT item_id, transaction_id FROM release_r.transaction_items ORDER BY rowid"
        ).fetchall()
    assert len(rows) > 5 and rows == sorted(rows)
    with duckdb.connect(sealed, read_only=True) as connection:
        found = connection.execute("SELECT items FROM baskets").fetchall()
        manifest = dict(connection.execute("FROM manifest").fetchall())
        members = connection.execute("SELECT item FROM released_items WHERE released_item = 'Food'").fetchall()
        bounds = {i: connection.execute("FROM count_bounds([?])", [i]).fetchone() for i in ("Beef", "Milk")}
    assert Counter(tuple(row[0]) for row in found) == baskets
    assert (manifest["semantics"], manifest["model"], manifest["k"]) == (semantics, "k", "2")
    assert len(members) == 8
    for item, (lower, estimate, upper) in bounds.items():
        assert lower <= sum(item in b for b in BASKETS.values()) <= upper
        assert lower <= estimate <= upper
    for where in ((sealed,), (source, "--release", "r")):
        code, checked = command("verify", *where)
        checked.pop("tables", None)
        assert (code, checked) == (0, {"model": {"name": "k", "k": 2}, "verified": True, "violations": 0})
        code, failed = command("verify", *where, "--model", "k", "--k", "3", "--witnesses", "9")
        smallest = [list(b) for b, n in baskets.items() if n < 3]
        assert code == 4
        assert failed["violations"] == 1
        assert failed["witnesses"] == [{"items": smallest[0], "support": 2}]


@pytest.mark.slow
def test_partition_is_the_default_and_needs_a_taxonomy(shop: Path) -> None:
    with anondb.connect(shop / "shop.duckdb") as db:
        with pytest.raises(InputError, match="taxonomy"):
            db.anonymize("sales", model=anondb.TransactionalK(2))
        release = db.anonymize("sales", model=anondb.TransactionalK(2), taxonomy=shop / "food.tree", name="r")
        assert release.report is not None and release.report.algorithm == "partition"
        assert release.count_bounds([]) == (5, 5.0, 5)
        bags = db.anonymize(
            "sales", model=anondb.TransactionalK(2), taxonomy=shop / "food.tree", algorithm="clump", name="bags"
        )
        for made in (release, bags):
            asked = made.query("SELECT count(DISTINCT tid) FROM sales WHERE item = 'Beef'").bounds
            rows = made.query("SELECT item, count(DISTINCT tid) FROM sales GROUP BY item").fetchall()
            listed = {item: (low, middle, high) for item, middle, low, high, *_ in rows}
            assert asked == listed["Beef"]
            assert {i: (low, high) for i, (low, _, high) in listed.items()} == {
                i: made.count_bounds([i])[::2] for i in listed
            }
            check_estimates(made, shop / "sealed.duckdb")


def check_estimates(made: anondb.Release, sealed: Path) -> None:
    """Check the estimates of all items in a sealed file: those of count_bounds, and the means over possible worlds."""
    seed = seed_of(made.publish(sealed, replace=True, allow_overlap=True).content_digest)
    shown: dict[int, dict[str, int]] = defaultdict(dict)
    members: dict[str, list[str]] = defaultdict(list)
    with duckdb.connect(str(sealed), read_only=True) as file:
        for tid, label, copies in file.execute("FROM transactions").fetchall():
            shown[tid][label] = copies
        for label, item in file.execute("FROM released_items").fetchall():
            members[label].append(item)
    with anondb.open(sealed) as session:
        rows = session.sql("SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item").df()
    items = sorted({x for listed in members.values() for x in listed})
    if made.manifest["semantics"] == "atomic":
        chances = [{g: min(1, c / len(members[g])) for g, c in labels.items()} for labels in shown.values()]
        held = {x: sum(1 - prod(1 - c for g, c in t.items() if x in members[g]) for t in chances) for x in items}
        drawn_bags = [naive_worlds.of_bags(shown, members, seed, w).values() for w in range(worlds.MOST_WORLDS)]
        drawn = Counter(item for world in drawn_bags for basket in world for item in set(basket))
    else:
        holders = expected_holders([*shown.values()], members)
        held = {x: sum(m for (_, item), m in holders.items() if item == x) for x in items}
        tids = {g: sorted(tid for tid, labels in shown.items() if g in labels) for g in members}
        naive = naive_worlds.Naive(members, tids, len(shown), 2, seed)
        drawn = Counter(item for world in naive_worlds.worlds(naive, worlds.MOST_WORLDS) for _, item in world)
    assert {x: made.count_bounds([x])[1] for x in items} == pytest.approx(held, abs=1e-9)
    assert dict(zip(rows["item"], rows["n"], strict=True)) == pytest.approx(
        {x: drawn[x] / worlds.MOST_WORLDS for x in items}, abs=1e-9
    )


@pytest.mark.nightly
def test_the_owners_accuracy_is_that_of_the_macro(shop: Path) -> None:
    rows = [(f"{n}", i) for n in range(40) for i in {n % 8, n * 7 % 5, n * n % 8}]
    items = [line.split(";")[0] for line in TREE.split()]
    with anondb.connect(shop / "shop.duckdb") as db:
        db.sql("CREATE TABLE more(tid VARCHAR, item VARCHAR)")
        db.engine.connection.executemany("INSERT INTO more VALUES (?, ?)", [(t, items[i]) for t, i in rows])
        for algorithm in ("partition", "clump"):
            for size in (1, 3):
                release = db.anonymize(
                    *("more",),
                    model=anondb.TransactionalK(3),
                    taxonomy=shop / "food.tree",
                    algorithm=algorithm,
                    name="r",
                    replace=True,
                    queries=40,
                    size=size,
                )
                asked = db.sql(
                    "SELECT items, truth, estimate, lower_bound, upper_bound FROM anondb.accuracy "
                    "JOIN anondb.workloads USING (workload, query_id) "
                    "WHERE release_id = (SELECT release_id FROM anondb.releases WHERE status = 'present')"
                )
                assert asked is not None
                answers = asked.fetchall()
                assert answers
                for wanted, truth, estimate, lower, upper in answers:
                    assert release.count_bounds(wanted) == (lower, pytest.approx(estimate), upper)
                    assert lower <= truth <= upper


@pytest.mark.slow
def test_repeated_items_under_both_readings(shop: Path, command: Command) -> None:
    """x03 of the golden cases: Orange twice is another occurrence only if repeated rows count."""
    path = shop / "bags.csv"
    path.write_text("tid,item\n1,Orange\n1,Orange\n1,Beef\n2,Orange\n2,Apple\n2,Chicken\n")
    common = ("anonymize", str(path), "--taxonomy", str(shop / "food.tree"), "--model", "k", "--k", "2")
    common = (*common, "--algorithm", "clump")
    assert command(*common)[1]["loss"]["ggd"] == "9/7"
    code, report = command(*common, "--bag-input", "--publish", str(shop / "bags.duckdb"))
    assert (code, report["loss"]["ggd"]) == (0, "6/7")
    with duckdb.connect(str(shop / "bags.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT DISTINCT items FROM baskets").fetchall() == [(["Fruit", "Meat", "Orange"],)]
    assert command(*common[:-2], "--bag-input")[0] == 2  # sets have no copies
    assert command("verify", str(path), "--model", "k", "--k", "1", "--bag-input")[0] == 0
    code, found = command("verify", str(path), "--model", "k", "--k", "2", "--bag-input", "--witnesses", "5")
    assert code == 4
    assert {"items": ["Beef", "Orange", "Orange"], "support": 1} in found["witnesses"]
    assert command("verify", str(path), "--k", "2", "--bag-input")[0] == 2


@pytest.mark.slow
def test_too_few_transactions(shop: Path, command: Command) -> None:
    for algorithm in ("partition", "clump"):
        common = ("anonymize", str(shop / "shop.duckdb"), "--taxonomy", str(shop / "food.tree"), "--model", "k")
        code, failed = command(*common, "--k", "6", "--algorithm", algorithm)
        assert code == 3
        assert "5 transactions" in failed["error"]["message"]
        # k transactions without items would not be k either
        assert command(*common, "--k", "6", "--algorithm", algorithm, "--max-suppression", "100")[0] == 3
    with duckdb.connect(str(shop / "shop.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM duckdb_schemas() WHERE schema_name LIKE 'release%'").fetchone() == (
            0,
        )


@pytest.mark.slow
def test_empty_transactions(shop: Path) -> None:
    with anondb.connect(shop / "shop.duckdb") as db:
        db.sql("CREATE TABLE persons AS SELECT tid FROM sales UNION SELECT 'e1' UNION SELECT 'e2'")
        options = {"taxonomy": shop / "food.tree", "records": "persons", "replace": True, "name": "r"}
        for algorithm in ("partition", "clump"):
            found = db.anonymize("sales", model=anondb.TransactionalK(2), algorithm=algorithm, **options)
            assert found.report is not None and found.report.transactions == 7
            assert found.manifest["suppression"] == ("none" if algorithm == "partition" else "some")
            found = db.anonymize("sales", model=anondb.TransactionalK(3), algorithm=algorithm, **options)
            assert found.report is not None and found.report.frozen.suppressed_occurrences >= 2
            assert found.manifest["suppression"] == "some"
            hidden = found.table("transaction_ids").filter("NOT complete").fetchall()
            assert len(hidden) >= 3
            if algorithm == "partition":  # the shortest transaction of the rest was emptied
                assert len(hidden) == 3
                asked = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'Beef'"
                low, _, high = found.query(asked).bounds
                ((truth,),) = db.sql(asked).fetchall()
                assert low <= truth <= high and high >= 3  # whose transactions are hidden may have had it
        with pytest.raises(InfeasibleError, match="Every item"):
            db.anonymize("sales", model=anondb.TransactionalK(3), empty_transactions="keep", **options)
        kept = db.anonymize(
            "sales", model=anondb.TransactionalK(3), empty_transactions="keep", max_suppression=100, **options
        )
        assert kept.report is not None and kept.report.to_json()["all_suppressed"]
        for wrong in ({"empty_transactions": "drop"}, {"candidates": 0}, {"candidates": 2.5}, {"objective": "less"}):
            with pytest.raises(InputError):
                db.anonymize("sales", model=anondb.TransactionalK(2), algorithm="clump", **wrong, **options)
        with pytest.raises(InputError, match="clump"):
            db.anonymize("sales", model=anondb.TransactionalK(2), candidates=3, **options)


@pytest.mark.slow
def test_views(shop: Path) -> None:
    with anondb.connect(shop / "shop.duckdb") as db:
        tree = str(shop / "food.tree")
        options = f"model = 'k', k = 2, algorithm = 'clump', taxonomy = '{tree}', objective = 'increase', candidates = 9"
        db.sql(f"CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM sales WITH ({options}, bag_input = true)")
        assert db.sql("REFRESH ANONYMIZED VIEW v").to_json()["changed"] is False
        db.sql("INSERT INTO sales VALUES ('t1', 'Beef')")  # repeats a row, which counts here
        refreshed = db.sql("REFRESH ANONYMIZED VIEW v")
        assert refreshed.to_json()["changed"] is True
        assert refreshed.to_json()["old_recoding"] is None
        assert "made anew" in refreshed.words
        assert db.verify(release="v").verified
        assert db.explain("v", "Beef").forms
        assert db.check_view("v").is_of_source and db.check_view("v").holds
        db.sql("DELETE FROM sales WHERE tid = 't1'")
        check = db.check_view("v")
        assert check.holds and not check.is_of_source, "the release keeps its promise, but is not that of these data"


def test_nothing_of_the_data_is_in_an_error(shop: Path, command: Command) -> None:
    path = shop / "odd.csv"
    path.write_text("tid,item\n1,secret\n2,secret\n")
    code, failed = command("anonymize", str(path), "--taxonomy", str(shop / "food.tree"), "--model", "k", "--k", "2")
    assert (code, failed["error"]["code"]) == (2, "unknown_item")
    assert "secret" not in json.dumps(failed)


@pytest.mark.nightly
def test_the_same_release_whatever_the_threads(shop: Path) -> None:
    for algorithm in ("partition", "clump"):
        seen = []
        for threads in (1, 2):
            with anondb.connect(shop / "shop.duckdb", threads=threads) as db:
                release = db.anonymize(
                    "sales",
                    model=anondb.TransactionalK(2),
                    taxonomy=shop / "food.tree",
                    algorithm=algorithm,
                    name="r",
                    replace=True,
                )
                seen.append(sorted(row[1] for row in release.table("baskets").fetchall()))
        assert seen[0] == seen[1]
