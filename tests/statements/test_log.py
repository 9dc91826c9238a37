"""Accuracy on a log of analyst queries: the same statements on the source and on the release."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import anondb
from anondb.api.database import Database
from anondb.risk.query_log import NO_COUNT, measure_log

LOG = """
SELECT count(DISTINCT tid) FROM sales WHERE item = 'aspirin';  -- a comment; with a semicolon
SELECT item, count(*) AS n FROM sales GROUP BY item;
SELECT avg(tid) FROM sales;
SELECT count(*) AS n, item FROM sales WHERE item IN ('milk', 'bread') GROUP BY item;
SELECT count(DISTINCT tid) FROM sales WHERE item = 'no such item';
SELECT item, count(*) FROM sales GROUP BY item HAVING count(*) > 9;
SELECT count(*) FROM (SELECT DISTINCT item FROM sales)
"""


@pytest.fixture(scope="module")
def shop(demo_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Database:
    database = anondb.connect(shutil.copy(demo_template, tmp_path_factory.mktemp("log") / "shop.duckdb"))
    database.anonymize("sales", taxonomy="food", name="spring", queries=1)
    return database


@pytest.mark.slow
def test_truth_and_bounds_of_every_count(shop: Database, tmp_path: Path) -> None:
    path = tmp_path / "log.sql"
    path.write_text(LOG)
    found = measure_log(shop.engine, "spring", path)
    connection = shop.engine.connection
    truth = dict(connection.sql("SELECT item, count(*) FROM sales GROUP BY item").fetchall())
    listed = {c.query: c for c in found.counts}
    assert {f"2: {item}": n for item, n in truth.items()} == {q: c.truth for q, c in listed.items() if q[0] == "2"}
    assert listed["1"].truth == truth["aspirin"] and listed["4: milk"].truth == truth["milk"]
    (third, reason), *others = found.refused
    assert third == 3 and "AVG" in reason and others == [(6, NO_COUNT)]
    assert listed["7"].truth == len(truth)
    assert found.outside == 0 and found.skipped == 1 and found.unlisted == 0
    errors = [abs(c.truth - c.estimate) / c.truth for c in found.counts if c.truth]
    assert found.average_relative_error == pytest.approx(sum(errors) / len(errors))
    kept = "SELECT query_id, truth, relative_error FROM anondb.accuracy WHERE workload = 'spring: log log.sql'"
    assert len(connection.sql(kept).fetchall()) == len(found.counts)
    assert connection.sql(kept + " AND truth = 0").fetchall() == [("5", 0, None)]


@pytest.mark.slow
def test_a_view_of_some_rows_is_the_original_of_its_release(shop: Database, tmp_path: Path) -> None:
    """Its counts are not those of the table: analysts name the view, and so does the log."""
    shop.sql(
        "CREATE ANONYMIZED VIEW discreet AS SELECT tid, item FROM sales WHERE item <> 'aspirin' "
        "WITH (taxonomy = 'food', queries = 1)"
    )
    path = tmp_path / "log.sql"
    path.write_text(LOG)
    assert [reason for _, reason in measure_log(shop.engine, "discreet", path).refused if "'sales'" in reason]
    path.write_text(LOG.replace("FROM sales", "FROM discreet"))
    found = measure_log(shop.engine, "discreet", path)
    connection = shop.engine.connection
    truth = connection.sql("SELECT item, count(*) FROM sales WHERE item <> 'aspirin' GROUP BY item").fetchall()
    assert {f"2: {i}": n for i, n in truth} == {c.query: c.truth for c in found.counts if c.query[0] == "2" and c.truth}
    assert found.outside == 0 and found.counts[0].truth == 0
    assert connection.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
    connection.execute("CREATE TEMP TABLE discreet (tid INTEGER, item VARCHAR)")
    with pytest.raises(anondb.InputError) as caught:
        measure_log(shop.engine, "discreet", path)
    assert caught.value.code == "name_taken"
    connection.execute("DROP TABLE temp.discreet")


@pytest.mark.slow
def test_attributes_that_are_texts_in_the_source_are_numbers_as_in_the_release(tmp_path: Path) -> None:
    """Analysts write for the types of the release: ``load`` keeps the texts of a file, of which ages are numbers there."""
    with anondb.connect(tmp_path / "hospital.duckdb") as database:
        database.sql("CREATE TABLE stays AS SELECT n // 2 AS tid, 'ab'[1 + n % 2] AS item FROM range(80) r(n)")
        database.sql("CREATE TABLE people AS SELECT n AS tid, CAST(20 + n % 4 * 10 AS VARCHAR) AS age FROM range(40) r(n)")
        kkm = {"model": anondb.KkmAnonymity(k=3, m=1), "records": "people", "quasi_identifiers": "age"}
        database.anonymize("stays", name="spring", delta=0.1, **kkm)
        path = tmp_path / "log.sql"
        path.write_text(
            "SELECT age // 20, count(DISTINCT tid) FROM stays JOIN people USING (tid) WHERE item = 'a' GROUP BY 1"
        )
        found = measure_log(database.engine, "spring", path)
        assert {c.query: c.truth for c in found.counts} == {"1: 1": 20, "1: 2": 20}
        assert found.outside == 0 and not found.refused
        assert "log.sql" in database.release("spring").report_html()
        left = database.engine.connection.sql("SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal")
        assert left.fetchall() == []


@pytest.mark.parametrize(
    ("text", "code"), [("DROP TABLE sales", "bad_workload"), ("SELECT count(DISTINCT tid) FROM", "syntax_error")]
)
def test_what_is_no_log(shop: Database, tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "log.sql"
    path.write_text(text)
    with pytest.raises(anondb.InputError) as caught:
        measure_log(shop.engine, "spring", path)
    assert caught.value.code == code
    assert shop.engine.connection.sql("SELECT count(*) > 0 FROM sales").fetchall() == [(True,)]
