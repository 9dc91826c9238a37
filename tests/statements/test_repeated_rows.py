"""Sources with repeated rows: the release has each once, so questions name the release, not the source."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from portions import some
from session.checker import without_bounds

import anondb
from anondb.api.database import Database
from anondb.api.release import Release
from anondb.cli import main
from anondb.risk.query_log import measure_log

PAIRS = [(t, i) for t in range(1, 6) for i in ("a", "b")]
COUNT = "SELECT count(*) FROM {} WHERE item = 'a'"


def shop(repeated: int = 3) -> Database:
    """Five transactions of a and b, of which some rows are there twice; and the same as one list a row."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
    connection.executemany("INSERT INTO sales VALUES (?, ?)", PAIRS + PAIRS[:repeated])
    connection.execute("CREATE TABLE lists AS SELECT tid, list(item) AS item FROM sales GROUP BY tid")
    return anondb.connect(connection)


def answered(release: Release, table: str, sql: str = COUNT) -> None:
    """The bounds hold for the distinct rows under the release's name; the source's name is refused with that name."""
    assert release.manifest["table"] == table
    low, _, high = release.query(sql.format(f'"{table}"')).bounds
    assert low <= 5 <= high
    with pytest.raises(anondb.InputError, match="no table 'sales'") as error:
        release.query(sql.format("sales"))
    assert error.value.code == "bad_sql" and table in str(error.value.hint)


MODEL = anondb.KmAnonymity(k=2, m=1)


@pytest.mark.slow
def test_questions_name_the_release() -> None:
    release = shop().anonymize("sales", model=MODEL, name="spring")
    answered(release, "spring")
    said = " ".join(release.report.warnings) if release.report is not None else ""
    assert "3 rows repeated" in said and "'spring'" in said and "'sales'" in said


def test_without_repeated_rows_the_source_is_named() -> None:
    assert shop(0).anonymize("sales", model=MODEL, name="spring").manifest["table"] == "sales"


@pytest.mark.slow
@pytest.mark.parametrize("name", some([None, "sales", "SALES"], "SALES", check=()))
def test_a_release_that_is_called_like_its_source(name: str | None) -> None:
    answered(shop().anonymize("sales", model=MODEL, name=name), f"release_{name or 'sales'}")


@pytest.mark.slow
def test_bags_count_repeated_rows(tmp_path: Path) -> None:
    database = shop()
    database.sql("CREATE TABLE food AS FROM (VALUES ('all', NULL), ('a', 'all'), ('b', 'all')) AS v(node, parent)")
    clump = {"model": anondb.TransactionalK(k=2), "algorithm": "clump", "taxonomy": "food", "bag_input": True}
    release = database.anonymize("sales", name="spring", **clump)  # type: ignore[arg-type]
    assert release.manifest["table"] == "sales"
    release.publish(tmp_path / "spring.duckdb")
    with anondb.open(tmp_path / "spring.duckdb") as session:
        assert without_bounds(session, COUNT.format("sales")).startswith(
            "No bounds, since no rule reads this: a number of rows, which a bag may repeat."
        )
    assert release.query(COUNT.format("sales")).bounds == (None, 7.0, None)
    assert release.query("SELECT count(DISTINCT tid) FROM sales WHERE item = 'a'").bounds == (5, 5.0, 5)


@pytest.mark.slow
@pytest.mark.parametrize("repeated", [0, 3])
def test_lists(repeated: int, tmp_path: Path) -> None:
    """A list with a member twice is another one in the release, which has it once: so lengths hold for the name asked."""
    database = shop(repeated)
    release = database.anonymize("lists", model=MODEL, name="spring")
    table = release.manifest["table"]
    assert table == ("spring" if repeated else "lists")
    queries = [f"SELECT count(*) FROM {table} WHERE {c}" for c in ("list_contains(item, 'a')", "len(item) = 2")]
    assert [release.query(sql).bounds for sql in queries] == [(5, 5.0, 5)] * 2
    (tmp_path / "log.sql").write_text(";".join(queries))
    found = measure_log(database.engine, "spring", tmp_path / "log.sql")
    assert [(c.truth, c.lower_bound, c.upper_bound) for c in found.counts] == [(5, 5, 5)] * 2 and not found.refused
    if repeated:
        with pytest.raises(anondb.InputError, match="no table 'lists'"):
            release.query("SELECT count(*) FROM lists WHERE len(item) = 2")


@pytest.mark.slow
def test_lengths_of_bags(tmp_path: Path) -> None:
    """Copies count in the length of a list, which no rule bounds."""
    database = shop()
    database.sql("CREATE TABLE food AS FROM (VALUES ('all', NULL), ('a', 'all'), ('b', 'all')) AS v(node, parent)")
    clump = {"model": anondb.TransactionalK(k=2), "algorithm": "clump", "taxonomy": "food", "bag_input": True}
    release = database.anonymize("lists", name="spring", **clump)  # type: ignore[arg-type]
    assert release.manifest["table"] == "lists"
    assert release.query("SELECT count(*) FROM lists WHERE list_contains(item, 'a')").bounds == (5, 5.0, 5)
    release.publish(tmp_path / "spring.duckdb")
    with anondb.open(tmp_path / "spring.duckdb") as session:
        words = "No bounds, since no rule reads this: the length of a list, which may repeat an item."
        for condition in ("len(item) = 2", "array_length(item) = 2 AND list_contains(item, 'b')"):
            sql = f"SELECT count(*) FROM lists WHERE {condition}"
            assert without_bounds(session, sql).startswith(words)
            assert session.sql(sql).bounds == (None, 3.0, None)


@pytest.mark.slow
def test_ids_with_several_lists() -> None:
    """Lists of one id are read as one, so the release is asked by its own name."""
    database = shop()
    database.sql("CREATE TABLE halves AS SELECT tid, [item] AS item FROM sales UNION ALL SELECT 1, NULL")
    halves = database.anonymize("halves", model=MODEL, name="summer")
    assert halves.manifest["table"] == "summer"
    both = "SELECT count(*) FROM summer WHERE list_contains(item, 'a') AND list_contains(item, 'b')"
    assert halves.query(both).bounds == (5, 5.0, 5)
    with pytest.raises(anondb.InputError, match="no table 'halves'"):
        halves.query(both.replace("summer", "halves"))


def test_several_item_columns() -> None:
    """Nobody can ask a table of several item columns as one of items."""
    frame = pd.DataFrame({"tid": [1, 2, 3], "item": ["a", "a", "a"], "more": ["b", "b", "b"]})
    release = anondb.connect().anonymize(frame, item="item,more", layout="wide", model=MODEL, name="spring")
    assert release.manifest["table"] == "spring" and release.manifest["item_column"] == "item"


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    some(
        ["SELECT tid, item FROM sales", "SELECT tid, lower(item) AS item FROM sales"],
        "SELECT tid, lower(item) AS item FROM sales",
        check=(),
    ),
)
def test_anonymized_views(query: str, tmp_path: Path) -> None:
    database = shop()
    database.sql(f"CREATE ANONYMIZED VIEW spring AS {query} WITH (model = 'km', k = 2, m = 1)")
    table = "spring" if "lower" not in query else "release_spring"
    assert database.release("spring").manifest["table"] == table
    log = tmp_path / "log.sql"
    log.write_text(COUNT.format(table) + f"; SELECT item, count(*) FROM {table} GROUP BY item; {COUNT.format('sales')}")
    found = measure_log(database.engine, "spring", log)
    assert found.outside == 0 and [c.truth for c in found.counts] == [5, 5, 5] and found.refused[0][0] == 3
    connection = database.engine.connection
    assert not connection.execute("SELECT 1 FROM duckdb_views() WHERE view_name = ?", [table]).fetchall()
    release_id = database.release("spring").manifest["release_id"]
    database.sql("REFRESH ANONYMIZED VIEW spring")
    assert database.release("spring").manifest["release_id"] == release_id


@pytest.mark.slow
def test_refresh_follows_repeated_rows() -> None:
    database = shop(0)
    database.sql("CREATE ANONYMIZED VIEW spring AS SELECT tid, item FROM sales WITH (model = 'km', k = 2, m = 1)")
    assert database.release("spring").manifest["table"] == "sales"
    database.sql("INSERT INTO sales VALUES (1, 'a')")
    database.sql("REFRESH ANONYMIZED VIEW spring")
    assert database.release("spring").manifest["table"] == "spring"
    database.sql("CREATE OR REPLACE TABLE sales AS SELECT DISTINCT * FROM sales")
    database.sql("REFRESH ANONYMIZED VIEW spring")
    assert database.release("spring").manifest["table"] == "sales"


@pytest.mark.slow
@pytest.mark.parametrize("source", some(["sales", "lists", "halves"], "halves", check=()))
def test_a_log_on_releases_of_tables(source: str, tmp_path: Path) -> None:
    database = shop()
    database.sql("CREATE TABLE halves AS SELECT tid, [item] AS item FROM sales UNION ALL SELECT 1, NULL")
    release = database.anonymize(source, model=MODEL, name="spring")
    table = release.manifest["table"]
    where = "item = 'a'" if source == "sales" else "list_contains(item, 'a') AND list_contains(item, 'b')"
    log = tmp_path / "log.sql"
    log.write_text(f"SELECT count(*) FROM {table} WHERE {where}")
    found = measure_log(database.engine, "spring", log)
    assert found.outside == 0 and [c.truth for c in found.counts] == [5] and not found.refused


@pytest.mark.slow
def test_a_run_over_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sales.csv").write_text("tid,item\n" + "".join(f"{t},{i}\n" for t, i in PAIRS + PAIRS[:3]))
    place = tmp_path / "spring.duckdb"
    words = ["anondb", "anonymize", str(tmp_path / "sales.csv"), "--k", "2", "--m", "1", "--publish", str(place), "--json"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert any("'release_sales'" in warning for warning in json.loads(capsys.readouterr().out)["warnings"])
    with duckdb.connect(str(place), read_only=True) as sealed:
        assert sealed.execute("SELECT value FROM manifest WHERE key = 'table'").fetchall() == [("release_sales",)]
