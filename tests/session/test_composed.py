"""Queries that compose what rules read alone: types of constants, groups by nothing, keys inside FILTER, merged rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from each import each
from portions import parts
from session.conftest import Named
from session.test_chosen_items import wrong

import anondb

SEVERAL = [
    "SELECT price + 0.2 = 0.3 AS k0, count(*) AS c1 FROM sales CROSS JOIN (SELECT 0.1::DOUBLE AS price) GROUP BY 1",
    "SELECT price AS k0, count(*) AS c1 FROM sales CROSS JOIN prices WHERE sales.item = 'milk' GROUP BY 1",
    "SELECT 1.5 AS k0, item AS k1, count(*) AS c1 FROM sales GROUP BY 1.5, item",
    "SELECT item AS k0, count(*) FILTER (WHERE item = 'milk') AS c1 FROM sales GROUP BY ROLLUP (item)",
    "SELECT max(c) AS n0 FROM (SELECT tid, max((item <> 'dates')::INTEGER) AS c FROM sales "
    "WHERE item NOT IN (SELECT item FROM sales GROUP BY item HAVING count(*) < 3) GROUP BY tid)",
    "SELECT node AS k0, count(*) AS c1 FROM food ANTI JOIN sales ON food.node = sales.item GROUP BY node",
    "SELECT 0 AS k0, count(*) AS c1 FROM sales WHERE item = 'saffron' GROUP BY ALL",
    "SELECT count_if(item IS NULL OR NULL) AS n0 FROM (SELECT item, count(*) AS c FROM sales GROUP BY item)",
    "SELECT count(*) AS c0 FROM (SELECT DISTINCT b.tid FROM sales a LEFT JOIN (SELECT * FROM sales WHERE item = 'figs') b "
    "ON a.tid = b.tid)",
    "SELECT max(n) AS n0 FROM (SELECT b.tid, count(*) AS n FROM sales a LEFT JOIN (SELECT * FROM sales WHERE item = 'x') b "
    "ON a.tid = b.tid GROUP BY b.tid)",
    "SELECT sum(DISTINCT 2) AS n0, avg(DISTINCT n) AS n1 FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)",
    "SELECT x AS k0, count(*) AS c1 FROM (SELECT tid, unnest([1, 2]) AS x FROM sales GROUP BY tid) GROUP BY x",
    "SELECT count(*) AS c0 FROM (SELECT tid, unnest(list(item)) AS x FROM sales GROUP BY tid)",
    "SELECT item < 'm' AS k0, count(DISTINCT item) * 1.0 / count(DISTINCT item < 'm') AS n1 FROM sales GROUP BY 1",
    "SELECT item AS k0, CAST(count(*) FILTER (WHERE item <> 'x') * 0.5 AS INTEGER) * 1.0 / count(*) AS n1 FROM sales "
    "GROUP BY 1",
    "SELECT p.price AS k0, q.item AS k1, q.n AS n2 FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) q "
    "LEFT JOIN (SELECT DISTINCT item, price FROM prices) p USING (item)",
    "SELECT left(item, 1) AS k0, sum(n) AS n1 FROM (SELECT upper(left(item, 1)) AS item, count(s.tid) AS n FROM "
    "(SELECT DISTINCT item FROM prices) p LEFT JOIN sales s USING (item) GROUP BY item) GROUP BY 1",
    "SELECT count(price = -1 OR item = 'milk') AS n0 FROM sales LEFT JOIN (SELECT 'figs' AS item, 1 AS price) USING (item)",
    "SELECT item AS k0, count(*) AS k1 FROM prices GROUP BY ALL UNION (SELECT DISTINCT item, 5 FROM sales)",
    "SELECT CASE s.item WHEN 'milk' THEN p.price ELSE length(p.item) END AS k0, count(*) AS c1 "
    "FROM prices p JOIN sales s ON p.item = s.item GROUP BY 1",
    "SELECT node AS k0, parent AS k1 FROM food ANTI JOIN (SELECT item AS sold, count(*) AS n FROM sales GROUP BY item) q "
    "ON sold = node",
    "SELECT item AS k0, sum(n) OVER (ORDER BY item ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n1 FROM "
    "(SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) <> 3)",
    "SELECT m AS k0, count(*) AS c1 FROM (SELECT tid, max(CASE item WHEN 'milk' THEN 3 WHEN 'figs' THEN 2 WHEN 'rolls' "
    "THEN 1 END) AS m FROM sales GROUP BY tid) GROUP BY m",
    "SELECT item AS k0, q.n AS n1 FROM prices LEFT JOIN (SELECT item, sum(DISTINCT 0.5) AS n FROM sales GROUP BY item) q "
    "USING (item)",
    "SELECT item AS k0, n AS n1 FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) "
    "WHERE item <> ALL (SELECT item FROM prices) OR item = ANY (SELECT node FROM food WHERE parent = 'dairy')",
    "SELECT item AS k0, sum(count(*)) OVER () AS n1 FROM sales GROUP BY ALL",
    "SELECT item < 'm' AS k0, item IN ('milk', 'figs') AS k1, count(*) AS c2 FROM sales "
    "GROUP BY GROUPING SETS (item IN ('milk', 'figs'), ROLLUP (item < 'm', item IN ('milk', 'figs')))",
    "SELECT item AS k0, sum(if(item < 'm', 2, 1)) AS n1, count(if(item < 'm', 1, NULL)) AS n2, count(DISTINCT CASE WHEN "
    "item IN ('milk', 'figs') THEN tid ELSE NULL END) AS n3 FROM sales GROUP BY item",
    "SELECT sum(x) AS n0, 1 / sum(x) AS n1 FROM (SELECT tid, 1 / 0 AS x FROM sales GROUP BY tid)",
    "SELECT item AS k0, exp(count(*) * 1000) AS n1, sum(if(item = 'milk', 1 / 0, 1)) AS n2 FROM sales GROUP BY item",
    "SELECT CAST(x AS VARCHAR) AS k0, count(*) AS c1 FROM (SELECT tid, (count(*) - 2) / 0 AS x FROM sales GROUP BY tid) "
    "GROUP BY x",
]


@pytest.mark.parametrize("queries", parts(SEVERAL))
def test_the_truth_is_inside(named: Named, shop: Path, queries: list[str]) -> None:
    assert not {sql: faults for sql in queries if (faults := wrong(named, shop, sql, filtered=False))}


@pytest.mark.slow
@each(
    "one, other",
    [
        ("sum(if(item < 'm', 2, 1))", "sum(CASE WHEN item < 'm' THEN 2 ELSE 1 END)"),
        (
            "count(DISTINCT if(item < 'm', tid, NULL))",
            "count(DISTINCT CASE WHEN item < 'm' THEN tid ELSE NULL END)",
        ),
        (
            "count(DISTINCT CASE WHEN item < 'm' THEN tid ELSE NULL END)",
            "count(DISTINCT CASE WHEN item < 'm' THEN tid END)",
        ),
        ("count_if(item = ANY (SELECT item FROM prices))", "count_if(item IN (SELECT item FROM prices))"),
        ("count_if(item <> ALL (SELECT item FROM prices))", "count_if(item NOT IN (SELECT item FROM prices))"),
    ],
)
def test_another_spelling_has_the_same_bounds(named: Named, one: str, other: str) -> None:
    found, expected = (named[1].sql(f"SELECT item, {of} AS n FROM sales GROUP BY item ORDER BY item") for of in (one, other))
    assert found.columns == expected.columns and found.fetchall() == expected.fetchall()
    assert not any(note.startswith("No bounds") for note in found.notes)


@pytest.mark.slow
def test_a_table_whose_rows_were_merged_has_another_name(tmp_path: Path) -> None:
    """Its attributes have this name, too: a table of theirs under the old name would lack the items."""
    rows = "SELECT i // 3 AS tid, chr((97 + (i * i) % 5)::INTEGER) AS item, 20 + (i // 3) % 2 AS age FROM range(36) r(i)"
    with anondb.connect(tmp_path / "r.raw") as db:
        db.sql(f"CREATE TABLE sales AS {rows} UNION ALL SELECT 1, 'b', 21")
        asked = {"model": anondb.KkmAnonymity(2, 1), "quasi_identifiers": "age"}
        db.anonymize("sales", name="spring", queries=0, **asked).publish(tmp_path / "r.duckdb")
    with anondb.open(tmp_path / "r.duckdb") as session:
        assert session.tables["spring"] == ["tid", "item", "age"] and "sales" not in session.tables
