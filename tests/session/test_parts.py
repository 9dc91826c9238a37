"""GROUP BY the column that divides a folder into files: each group is what a session over its file alone answers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from portions import parts, some
from session.checker import check_bounds

import anondb

ITEMS = "abcdefgh"
WEEKS = 4


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the raw tables in ``owner.duckdb``."""
    made = tmp_path_factory.mktemp("parts")
    drawn = random.Random(3)
    rows = [(t, i, t // 90) for t in range(90 * WEEKS - 40) for i in drawn.sample(ITEMS, 1 + t % (2 + t // 90))]
    rows += [(1, "rare", 0), (2, "odd", 0)]
    sales = pd.DataFrame(rows, columns=["tid", "item", "week"])
    tree = pd.DataFrame({"node": [*ITEMS, "rare", "odd", *"xyz"], "parent": [*"xxxyyyyy", *"zz", *["all"] * 3]})
    with anondb.connect(made / "owner.duckdb", threads=1) as db:
        for name, frame in (("sales", sales), ("food", tree)):
            frame.to_csv(made / f"{name}.csv", index=False)
            db.sql(f"CREATE TABLE {name} AS FROM '{made / name}.csv'")
        db.sql("CREATE TABLE plain AS FROM sales WHERE item NOT IN ('rare', 'odd')")
        db.sql("CREATE TABLE days AS SELECT tid, item, DATE '2026-01-26' + CAST(week AS INTEGER) * 3 AS day FROM sales")
    return made


def published(owner: Path, view: str, table: str, column: str) -> Path:
    """A folder with a file for each value of a column."""
    with anondb.connect(owner / "owner.duckdb", threads=1) as db:
        db.sql(
            f"CREATE ANONYMIZED VIEW {view} AS SELECT * FROM {table} WITH (k = 3, m = 1, taxonomy = 'food', queries = 1,"
            f" partition_by = '{column}', publish = '{owner / view}', allow_overlap = true)"
        )
    return owner / view


@pytest.fixture(scope="module")
def weeks(owner: Path) -> Path:
    """Without suppressed items."""
    return published(owner, "weeks", "plain", "week")


@pytest.fixture(scope="module")
def days(owner: Path) -> Path:
    """With suppressed items in one of the files."""
    return published(owner, "days", "days", "day")


SIZES = "(SELECT tid, {}, count(*) AS n FROM {} GROUP BY tid, {}) AS q"
QUERIES = [
    "SELECT {week}, count(*) AS n FROM {sales} GROUP BY {week}",
    "SELECT s.{week}, count(DISTINCT s.tid) AS n FROM {sales} AS s WHERE s.item IN ('a', 'd') GROUP BY ALL ORDER BY 1",
    "SELECT {week}, item, count(*) AS n FROM {sales} GROUP BY {week}, item ORDER BY {week}, n DESC, item",
    "SELECT {week}, count(DISTINCT tid) FILTER (WHERE item = 'b') AS n FROM {sales} GROUP BY {week}",
    "SELECT {week}, avg(n) AS n FROM {sizes} GROUP BY {week}",
    "SELECT {week}, median(n) AS n FROM {sizes} GROUP BY {week}",
    "SELECT s.{week}, count(DISTINCT s.tid) AS n FROM {sales} AS s JOIN {sales} AS t USING (tid) WHERE s.item = 'a'"
    " AND t.item = 'b' GROUP BY s.{week}",
    "WITH those AS (SELECT tid, {week} FROM {sales} WHERE item = 'a') SELECT {week}, count(DISTINCT tid) AS n FROM those"
    " GROUP BY {week}",
    "SELECT {week}, count(DISTINCT tid) AS n FROM {sales} WHERE tid IN (SELECT tid FROM {sales} WHERE item = 'h')"
    " GROUP BY {week} HAVING count(*) > 0",
]
WHOLE = [
    "SELECT week // 2 AS half, count(DISTINCT tid) AS n FROM plain GROUP BY half",
    "SELECT CASE WHEN week < 1 THEN 'first' ELSE 'rest' END AS part, item, count(*) AS n FROM plain GROUP BY part, item",
    "SELECT item, count(*) FILTER (WHERE week = 1) AS n, count(*) FILTER (WHERE week IN (0, 9)) AS m"
    " FROM plain GROUP BY item",
    "SELECT count(*) FILTER (WHERE week = 9) AS n FROM plain",
    "SELECT week, n, count(*) AS m FROM (SELECT tid, week, count(*) AS n FROM plain GROUP BY tid, week) AS q"
    " GROUP BY week, n",
    "SELECT week, count(*) AS n FROM plain WHERE week IN (1, 3) GROUP BY week HAVING week > 1",
    "WITH per AS (SELECT week, count(DISTINCT tid) AS n FROM plain GROUP BY week)"
    " SELECT avg(n) AS n, max(week) AS m FROM per",
    "SELECT DISTINCT week FROM plain",
    "SELECT week, count(*) AS n FROM plain GROUP BY ROLLUP (week)",
    "SELECT week, count(*) AS n FROM (SELECT tid, week + 1 AS week FROM plain) AS q GROUP BY week",
]
FOLDERS = [("days", "day", "days"), ("weeks", "week", "plain")]
HARD = {
    "SELECT count(*) FROM plain WHERE week = 1 OR item = 'a'": None,
    "SELECT count(*) FROM plain WHERE abs(week) = 1": None,
    "SELECT count(DISTINCT week) FROM plain": None,
    "SELECT max(week) FROM plain": "the function MAX",
    "SELECT count(*) FROM plain AS s JOIN plain AS t USING (tid, week)": None,
    "SELECT count(*) FROM plain AS s JOIN plain AS t ON s.tid = t.tid AND s.week <> t.week": None,
    "SELECT count(*) FROM (SELECT tid FROM plain WHERE week = 1 UNION SELECT tid FROM plain WHERE week = 2) AS q": None,
}


def by_key(columns: list[str], rows: list[tuple[Any, ...]], keys: list[str]) -> dict[tuple[str, ...], dict[str, Any]]:
    """The rows as dicts, by their keys as texts."""
    dicts = (dict(zip(columns, row, strict=True)) for row in rows)
    return {tuple(str(row[key]) for key in keys): row for row in dicts}


def check(session: anondb.Session, owner: duckdb.DuckDBPyConnection, text: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """The rows of an answer, whose bounds enclose the truth; all groups of the original are there."""
    result, truth = session.sql(text), owner.execute(text)
    names = [column[0] for column in truth.description or ()]
    keys = [name for name in names if f"{name}_lower" not in result.columns]
    answered = by_key(list(result.columns), result.fetchall(), keys)
    for key, row in by_key(names, truth.fetchall(), keys).items():
        if "item" not in keys or key in answered:  # suppressed items are not listed
            for name in set(names) - set(keys):
                low, high = answered[key][f"{name}_lower"], answered[key][f"{name}_upper"]
                assert row[name] is None or ((low is None or low <= row[name]) and (high is None or row[name] <= high)), text
    return answered


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "column", "table"),
    some([("weeks", "week", "plain"), ("days", "day", "days")], ("days", "day", "days"), check=()),
)
def test_each_group_is_the_answer_of_its_file(request: pytest.FixtureRequest, folder: str, column: str, table: str) -> None:
    place: Path = request.getfixturevalue(folder)
    files = {path.stem.partition("=")[2]: path for path in sorted(place.iterdir())}
    assert len(files) == WEEKS
    with anondb.open(place) as session, duckdb.connect(str(place.with_name("owner.duckdb")), read_only=True) as owner:
        assert session.types[table][column] == {"week": "BIGINT", "day": "DATE"}[column]
        asked = [text.format(week=column, sales=table, sizes=SIZES.format(column, table, column)) for text in QUERIES]
        answers = [check(session, owner, text) for text in asked]
        for value, path in files.items():
            with anondb.open(path) as single:
                for text, answer in zip(asked, answers, strict=True):
                    result = single.sql(text)
                    alone = by_key(
                        list(result.columns), result.fetchall(), [c for c in (column, "item") if c in result.columns]
                    )
                    assert alone and {key: row for key, row in answer.items() if key[0] == value} == alone, text
        for text in asked[:1]:
            assert any("'day'" in note or "'week'" in note for note in session.sql(text).notes)


@pytest.mark.slow
@pytest.mark.parametrize("whole", parts(WHOLE))
def test_other_uses_of_the_column(weeks: Path, whole: list[str]) -> None:
    with anondb.open(weeks) as session, duckdb.connect(str(weeks.with_name("owner.duckdb")), read_only=True) as owner:
        for text in whole:
            assert check(session, owner, text), text


@pytest.mark.slow
def test_hard_uses_of_the_column(weeks: Path) -> None:
    with anondb.open(weeks) as session, duckdb.connect(str(weeks.with_name("owner.duckdb")), read_only=True) as owner:
        for text, words in HARD.items():
            check_bounds(session, owner, text, words)


@pytest.mark.slow
def test_other_uses_of_the_column_where_items_were_suppressed(days: Path) -> None:
    with anondb.open(days) as session, duckdb.connect(str(days.with_name("owner.duckdb")), read_only=True) as owner:
        months = "SELECT month(day) AS month, count(DISTINCT tid) AS n FROM days WHERE item = 'a' GROUP BY month"
        assert sorted(check(session, owner, months)) == [("1",), ("2",)]
        sizes = "SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM days GROUP BY tid) AS q GROUP BY n"
        answer, truth = session.sql(sizes), dict(owner.execute(sizes).fetchall())
        bounds = {n: (low, high) for n, _, low, high, *_ in answer.fetchall()}
        assert all(low <= truth.get(n, 0) <= high for n, (low, high) in bounds.items())
        assert all(n in bounds or n > max(bounds) for n in truth)
        assert any("greater numbers" in note for note in answer.notes)  # items were suppressed in one of the files


@pytest.mark.slow
def test_values_of_no_other_type(tmp_path: Path) -> None:
    with anondb.connect(tmp_path / "owner.duckdb", threads=1) as db:
        db.sql("CREATE TABLE sales AS SELECT range AS tid, 'a' AS item, 'W0' || range // 3 AS week FROM range(9)")
        db.sql(
            "CREATE ANONYMIZED VIEW weeks AS SELECT * FROM sales WITH (k = 2, m = 1, queries = 1, partition_by = 'week',"
            f" publish = '{tmp_path / 'weeks'}')"
        )
    with anondb.open(tmp_path / "weeks") as session:
        result = session.sql(
            "SELECT week, count(DISTINCT tid) AS n FROM sales WHERE item = 'a' GROUP BY week ORDER BY week DESC LIMIT 2"
        )
        assert result.fetchall() == [("W02", 3.0, 3, 3), ("W01", 3.0, 3, 3)]
        assert not any("week" in note for note in result.notes)


SUPPRESSED = [
    "SELECT s.item AS a, t.item AS b, count(*) AS n FROM sales AS s JOIN sales AS t USING (tid) WHERE s.item < t.item"
    " GROUP BY ALL",
    "SELECT item, count(*) FILTER (WHERE week = 1) AS n FROM sales GROUP BY item",
    "SELECT item, sum(CASE WHEN week = 1 THEN 1 ELSE 0 END) AS n FROM sales GROUP BY item",
    "SELECT item, count(*) AS n FROM sales GROUP BY item",
]


@pytest.mark.slow
def test_what_one_file_suppresses_and_another_lists(tmp_path: Path) -> None:
    """Two persons of the second week have a and b, which are listed in the first week alone."""
    rows = [(t, item, 0) for t in range(20) for item in ("ab", "abc")[t < 10]]
    rows += [(t, item, 1) for t in range(20, 40) for item in ("c", "abc")[t < 22]]
    sales = pd.DataFrame(rows, columns=["tid", "item", "week"])
    sales.to_csv(tmp_path / "sales.csv", index=False)
    with anondb.connect(tmp_path / "owner.duckdb", threads=1) as db:
        db.sql(f"CREATE TABLE sales AS FROM '{tmp_path / 'sales.csv'}'")
        db.sql(
            "CREATE TABLE food AS SELECT unnest(['ab', 'a', 'b', 'c']) AS node, unnest(['all', 'ab', 'ab', 'all']) AS parent"
        )
        db.sql(
            "CREATE ANONYMIZED VIEW weeks AS SELECT * FROM sales WITH (k = 5, m = 2, taxonomy = 'food', queries = 1,"
            f" max_suppression = 90, partition_by = 'week', publish = '{tmp_path / 'weeks'}')"
        )
    with anondb.open(tmp_path / "weeks") as session, duckdb.connect(str(tmp_path / "owner.duckdb")) as owner:
        for text in SUPPRESSED:
            assert check(session, owner, text)
