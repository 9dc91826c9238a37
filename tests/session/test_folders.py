"""Folders of sealed files in one session: which files, whether their persons are disjoint, and what all of them promise."""

from __future__ import annotations

import random
import shutil
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pandas as pd
import pytest
from session.checker import check_bounds

import anondb
from anondb.errors import InputError
from anondb.ledger.stored import find_release
from anondb.release.publish import publish
from anondb.session.files import check_alike, notes_on, weakest

QUERY = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'a'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``weeks`` with two weeks, ``days`` with the same table by day, ``all.duckdb`` with all of it."""
    place = tmp_path_factory.mktemp("folders")
    with anondb.connect(place / "owner.duckdb", threads=1) as db:
        db.sql(
            "CREATE TABLE sales AS SELECT range AS tid, 'abc'[range % 3 + 1] AS item, range // 6 AS week,"
            " 0 AS day FROM range(12)"
        )
        for name, column in (("weeks", "week"), ("days", "day")):
            db.sql(
                f"CREATE ANONYMIZED VIEW {name} AS SELECT * FROM sales WITH (k = 2, m = 1, queries = 1,"
                f" partition_by = '{column}', publish = '{place / name}', allow_overlap = true)"
            )
        db.sql("CREATE ANONYMIZED VIEW every AS FROM sales WITH (k = 2, m = 1, queries = 1)")
        db.release("every").publish(place / "all.duckdb", allow_overlap=True)
    return place


@pytest.mark.slow
def test_a_folder_adds_up(folder: Path) -> None:
    with duckdb.connect(str(folder / "owner.duckdb"), read_only=True) as owner:
        truth = owner.execute(QUERY).fetchall()
    for files in (folder / "weeks", [folder / "weeks"], str(folder / "we*ks"), sorted((folder / "weeks").iterdir())):
        with anondb.open(files) as session:
            assert [row[0] for row in session.sql(QUERY).fetchall()] == [row[0] for row in truth]
            assert session.promise == "km, k = 2, m = 1" and session.notes == [] and not session.sql(QUERY).notes


@pytest.mark.slow
def test_links_to_files(folder: Path, tmp_path: Path) -> None:
    weeks = sorted((folder / "weeks").iterdir())
    (tmp_path / "first.duckdb").symlink_to(weeks[0])
    with anondb.open(tmp_path) as session, anondb.open(weeks[0]) as single:
        assert session.sql(QUERY).fetchall() == single.sql(QUERY).fetchall()
    assert anondb.verify_file(tmp_path / "first.duckdb").verification.verified
    with pytest.raises(InputError) as caught:
        anondb.open([weeks[0], tmp_path])
    assert caught.value.code == "different_releases"


SIZES = "FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) AS b"
AGGREGATES = (
    f"SELECT avg(n) {SIZES}",
    "SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM sales WHERE item IN ('a', 'e') GROUP BY tid) AS b",
    "SELECT avg(n) FROM (SELECT tid, sum(price) AS n FROM sales JOIN prices USING (item) GROUP BY tid) AS b",
    *(
        f"SELECT {number} FROM (SELECT tid, count(*) AS n FROM sales WHERE item IN ('a', 'b', 'e') GROUP BY tid) AS b"
        for number in ("min(n)", "max(n)", "median(n)", "quantile_disc(n, 0.9)", "stddev_pop(n)", "var_samp(n)")
    ),
)


@pytest.mark.slow
def test_aggregates_over_files_enclose_the_truth(tmp_path: Path) -> None:
    """Of weeks of different sizes and items."""
    prices = pd.DataFrame({"item": list("abcdef"), "price": [1.5, 2.0, 4.0, 8.0, 16.0, -3.0]})
    drawn = random.Random(3)
    rows = [(t, i, t // 100) for t in range(250) for i in drawn.sample("abcdef", 1 + t % (2 + t // 100))]
    sales = pd.DataFrame(rows, columns=["tid", "item", "week"])
    tree = pd.DataFrame({"node": [*"abcdef", "low", "high"], "parent": ["low"] * 3 + ["high"] * 3 + ["all"] * 2})
    for name, frame in {"sales": sales, "food": tree, "prices": prices}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    with anondb.connect(tmp_path / "owner.duckdb", threads=1) as db:
        db.sql("; ".join(f"CREATE TABLE {n} AS FROM '{tmp_path / n}.csv'" for n in ("sales", "food", "prices")))
        truths = [db.sql(text).fetchall()[0][0] for text in AGGREGATES]  # type: ignore[union-attr]
        db.sql(
            "CREATE ANONYMIZED VIEW weeks AS SELECT * FROM sales WITH (k = 9, m = 2, taxonomy = 'food', queries = 1,"
            f" partition_by = 'week', publish = '{tmp_path / 'weeks'}')"
        )
    with anondb.open(tmp_path / "weeks") as session:
        session.register("prices", prices)
        found = []
        for text, truth in zip(AGGREGATES, truths, strict=True):
            ((estimate, lower, upper),) = session.sql(text).fetchall()
            found.append((lower, upper))
            top = inf if upper is None else upper  # items are suppressed in one of the weeks
            assert lower is not None and lower <= truth <= top and lower <= estimate <= top
            assert (lower == top) == ("min(n)" in text)
    assert [n for n, (_, upper) in enumerate(found) if upper is None] == [0]


CHOSEN = [
    "SELECT count(DISTINCT tid) FROM sales WHERE week = 1",
    "SELECT count(DISTINCT tid) FROM sales WHERE item = 'a' AND week IN (0, 9)",
    "SELECT count(DISTINCT s.tid) FROM sales AS s WHERE s.week >= 1 AND s.item <> 'b'",
    "SELECT count(*) FROM (SELECT tid FROM sales WHERE NOT (week < 1 OR week = 3) GROUP BY tid) AS q",
    "SELECT count(DISTINCT tid) FROM sales WHERE item IN ('a', 'b') AND week BETWEEN 0 AND 1",
    "SELECT count(*) FROM sales WHERE WEEK = '1'",
    "SELECT count(*) FROM sales WHERE week = 7",
    "SELECT count(DISTINCT s.tid) FROM sales s JOIN sales t USING (tid) WHERE s.week = 1",
]
OTHERS = {
    "SELECT count(*) AS n FROM sales WHERE week = 1 OR item = 'a'": None,
    "SELECT count(*) AS n FROM sales WHERE abs(week) = 1": None,
    "SELECT count(*) AS n FROM mine LEFT JOIN sales USING (item) WHERE week = 1": "LEFT JOIN of persons to a table",
    "SELECT count(*) AS n FROM sales WHERE week > '01'": "several types",
}
REFUSED = [
    ("SELECT count(*) FROM sales WHERE week = DATE '2026-01-01'", "bad_sql", "'week'"),
]


@pytest.mark.slow
def test_conditions_on_the_column_that_divides_the_files(folder: Path) -> None:
    with anondb.open(folder / "weeks") as session, duckdb.connect(str(folder / "owner.duckdb"), read_only=True) as owner:
        for text in CHOSEN:
            ((estimate, lower, upper),) = session.sql(text).fetchall()
            ((truth,),) = owner.execute(text).fetchall()
            assert lower == truth == upper and estimate == truth, text
        session.register("mine", pd.DataFrame({"item": ["a", "z"]}))
        owner.register("mine", pd.DataFrame({"item": ["a", "z"]}))
        for text, said in OTHERS.items():
            check_bounds(session, owner, text, said)
        for text, code, words in REFUSED:
            with pytest.raises(InputError, match=words) as caught:
                session.sql(text)
            assert caught.value.code == code, text
        session.register("weeks", pd.DataFrame({"week": [1, 2]}))
        assert session.sql("SELECT sum(week) FROM weeks WHERE week > 1").fetchall() == [
            (2,)
        ]  # a column of the analyst's own


def test_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="holds no sealed file") as caught:
        anondb.open(tmp_path)
    assert caught.value.code == "no_such_file"


@pytest.mark.slow
def test_persons_that_the_manifests_show_twice(folder: Path, tmp_path: Path) -> None:
    weeks, days = sorted((folder / "weeks").iterdir()), sorted((folder / "days").iterdir())
    for files in ([*weeks, days[0]], [*weeks[:1], folder / "all.duckdb"], [folder / "all.duckdb", days[0]]):
        with pytest.raises(InputError, match="partition") as caught:
            anondb.open(files)
        assert caught.value.code == "overlap"
    with anondb.connect(folder / "owner.duckdb", threads=1) as db, db.engine.transaction():
        publish(db.engine, find_release(db.engine, "weeks/1"), tmp_path / "again.duckdb")
    shutil.copy(weeks[0], tmp_path / "copy.duckdb")
    for other in ("again", "copy"):
        with pytest.raises(InputError) as caught:
            anondb.open([*weeks, tmp_path / f"{other}.duckdb"])
        assert caught.value.code == "different_releases"  # the same release once more


def test_the_same_value_of_two_releases() -> None:
    def sealed(name: str, partition: str | None) -> Any:
        manifest = {"release_id": name} | ({} if partition is None else {"partition": partition})
        return SimpleNamespace(path=Path(name), manifest=manifest, kind=SimpleNamespace(attributes=None))

    check_alike([sealed("a", '{"week": "1"}'), sealed("b", '{"week": "2"}')])
    check_alike([sealed("a", None), sealed("b", None)])  # the analyst knows that their persons are disjoint
    for other in ('{"week": "1"}', '{"day": "2"}', None):
        with pytest.raises(InputError) as caught:
            check_alike([sealed("a", '{"week": "1"}'), sealed("b", other)])
        assert caught.value.code == "overlap"


def test_the_weakest_promise() -> None:
    km = [{"model": "km", "k": k, "m": m} for k, m in (("5", "2"), ("10", "inf"), ("7", "1"))]
    assert weakest(km) == "km, k = 5, m = 1" and weakest(km[1:2]) == "km, k = 10, m = inf"
    assert notes_on(km[:1]) == [] and "3 promises" in notes_on(km)[0] and "k = 5, m = 1" in notes_on(km)[0]
    hkp = [{"model": "hkp", "h": h, "k": "5", "p": p} for h, p in (("4/5", "2"), ("1/2", "3"))]
    assert weakest(hkp) == "hkp, h = 4/5, k = 5, p = 2"


@pytest.mark.slow
def test_sets_of_items_are_asked_of_each_file_with_item_supports(tmp_path: Path) -> None:
    """The macro of a release counts sets; DuckDB finds it in the current database alone."""
    baskets = [["milk", "bread"], ["milk"], ["bread", "figs"], ["figs"]] * 5
    for name, shift in (("one", 0), ("two", 100)):
        with anondb.connect(tmp_path / f"{name}.raw") as db:
            rows = ", ".join(f"({tid + shift}, '{item}')" for tid, basket in enumerate(baskets) for item in basket)
            db.sql(f"CREATE TABLE sales AS FROM (VALUES {rows}) t(tid, item)")
            release = db.anonymize("sales", model=anondb.KmAnonymity(3, 2), algorithm="similar", name="r", queries=1)
            release.publish(tmp_path / f"{name}.duckdb")
    with anondb.open([tmp_path / "one.duckdb", tmp_path / "two.duckdb"]) as session:
        for _ in range(2):
            rows = session.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread')").fetchall()
            ((estimate, lower, upper),) = rows
            assert lower <= 30 <= upper and lower <= estimate <= upper


def test_items_that_a_later_file_suppressed_are_said_to_be_missing(shop: Path) -> None:
    with anondb.open([shop / "plain.duckdb", shop / "suppressed.duckdb"]) as both:
        notes = both.sql("SELECT item, count(*) AS n FROM sales GROUP BY item").notes
    assert any("Suppressed items are missing" in note for note in notes)
