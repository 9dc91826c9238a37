"""Subqueries that compute columns of rows are merged into the SELECT around them."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from session.conftest import Named
from session.random_analyst import Analyst
from session.random_queries import KINDS, kinds
from session.random_releases import draw_original
from session.test_chosen_items import wrong

from anondb.query.parsing import parse
from anondb.session.merging import merged

LINES = (
    "WITH lines AS (SELECT s.tid AS basket, s.item AS product, coalesce(p.price, 0) AS amount,"
    " CASE WHEN p.price > 1.6 THEN 'dear' ELSE 'cheap' END AS tier FROM sales AS s LEFT JOIN prices AS p ON p.item = s.item)"
)
ASKED = [
    f"{LINES} SELECT tier AS k, count(*) AS c0, count(DISTINCT basket) AS c1, sum(amount) AS n2 FROM lines GROUP BY tier",
    f"{LINES} SELECT product AS k, avg(amount) AS n FROM lines WHERE tier = 'dear' GROUP BY product",
    f"{LINES}, per AS (SELECT basket, sum(amount) AS total, count(*) AS n FROM lines GROUP BY basket)"
    " SELECT count(*) AS c FROM per WHERE total >= 3",
    f"{LINES} SELECT a.product AS k0, b.product AS k1, count(*) AS c FROM (SELECT basket, product FROM lines) a"
    " JOIN (SELECT basket, product FROM lines) b ON a.basket = b.basket AND a.product < b.product GROUP BY 1, 2",
    "WITH l AS (SELECT tid, item, parent FROM sales JOIN food ON item = node) SELECT a.item AS k0, b.item AS k1,"
    " count(*) AS c FROM l a JOIN l b ON a.tid = b.tid WHERE a.parent = 'dairy' AND b.parent = 'bakery' GROUP BY ALL",
    f"{LINES} SELECT 'dear' AS k, count(*) AS c FROM lines WHERE tier = 'dear' UNION ALL"
    " SELECT 'all', count(*) FROM lines",
    "WITH b AS (SELECT * FROM sales JOIN food ON item = node) SELECT parent AS k, count(DISTINCT tid) AS c FROM b"
    " GROUP BY parent",
    "WITH b AS (SELECT sales.*, price > 1 AS dear FROM sales JOIN prices USING (item)),"
    " d AS (SELECT tid, item, dear FROM b WHERE item <> 'bread') SELECT dear AS k, count(*) AS c FROM d GROUP BY dear",
    "SELECT count(*) AS c FROM (SELECT tid, upper(item) AS name FROM sales) WHERE name = 'MILK'",
    "SELECT k, count(*) AS c FROM (SELECT tid, item LIKE 'b%' AS k FROM sales) GROUP BY k",
    f"{LINES} SELECT count(*) FILTER (WHERE tier IN ('dear', 'none')) AS c,"
    " count(*) FILTER (WHERE tier NOT IN ('dear')) AS c1 FROM lines",
    "SELECT count(*) AS c FROM sales WHERE CASE WHEN item LIKE 'b%' THEN 2 WHEN item = 'milk' THEN 1 ELSE 0 END >= 1",
]
TABLES = {"sales": {"tid": "INTEGER", "item": "VARCHAR"}, "prices": {"item": "VARCHAR", "price": "DOUBLE"}}


@pytest.mark.parametrize("sql", ASKED)
def test_the_truth_is_inside_the_bounds(named: Named, shop: Path, sql: str) -> None:
    assert not wrong(named, shop, sql, filtered=False)


def test_the_columns_keep_their_names(named: Named) -> None:
    result = named[1].sql(f"{LINES} SELECT Tier, sum(amount), count(*) FROM lines GROUP BY ALL", bounds="none")
    assert result.columns == ["tier", "sum(amount)", "count_star()"]


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        (
            "SELECT p, count(*) FROM (SELECT tid, price AS p FROM sales JOIN prices USING (item)) AS q GROUP BY p",
            "SELECT prices.price AS p, COUNT(*) AS _col_1 FROM sales AS sales JOIN prices AS prices"
            " ON sales.item = prices.item GROUP BY prices.price",
        ),
        (
            "SELECT item FROM (SELECT tid, item FROM sales LEFT JOIN prices USING (item)) AS q",
            "SELECT sales.item AS item FROM sales AS sales LEFT JOIN prices AS prices ON sales.item = prices.item",
        ),
        ("SELECT tid FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) AS q WHERE n > 1", None),
        ("SELECT tid FROM sales", None),
        (
            "WITH sales AS (SELECT tid, upper(item) AS item FROM sales), b AS (SELECT item FROM sales) SELECT item FROM b",
            "SELECT UPPER(sales.item) AS item FROM sales AS sales",
        ),
        ("SELECT x FROM (SELECT tid AS x FROM unheard) AS q", None),
        (
            "SELECT count(*) FROM (SELECT tid AS b, item FROM sales) AS x WHERE EXISTS"
            " (SELECT 1 FROM sales WHERE sales.tid = x.b AND sales.item = 'milk')",
            None,
        ),
        ("SELECT r FROM (SELECT random() AS r FROM sales) AS q", None),
        ("SELECT p[1] FROM (SELECT tid, item AS p FROM sales) AS q", None),
        ("SELECT upper(p) AS p, count(*) FROM (SELECT tid, item AS p FROM sales) AS q GROUP BY p", None),
        ("SELECT upper(p) AS item, count(*) FROM (SELECT tid, item AS p FROM sales) AS q GROUP BY item", None),
    ],
)
def test_what_is_merged(sql: str, text: str | None) -> None:
    made = merged(parse(sql), TABLES)
    assert (None if made is None else made.sql("duckdb")) == text


def rows(raw: duckdb.DuckDBPyConnection, text: str) -> list[tuple[str, ...]]:
    return sorted(tuple(_shown(cell) for cell in row) for row in raw.execute(text).fetchall())


def _shown(cell: Any) -> str:
    return f"{cell:.9g}" if isinstance(cell, float) else str(cell)


def compare(seeds: range, queries: int) -> int:
    """Merge random queries; returns how many of them can be, whose rows in DuckDB are those of the query as it was."""
    number = 0
    for seed in seeds:
        rnd = random.Random(seed)
        original = draw_original(rnd, records=seed % 2 == 1)
        with closing(duckdb.connect(":memory:", config={"threads": 1})) as raw:
            original.fill(raw)
            analyst = Analyst(rnd, original)
            found = raw.execute(
                "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal"
            ).fetchall()
            tables: dict[str, dict[str, str]] = {}
            for table, column, kind in found:
                tables.setdefault(table, {})[column] = kind
            for _ in range(queries):
                text = KINDS["layered" if rnd.random() < 0.4 else rnd.choice(kinds(analyst))](analyst).truth
                other = merged(parse(text), tables)
                if other is None:
                    continue
                try:
                    truth = rows(raw, text)
                except duckdb.Error:
                    continue
                assert rows(raw, other.sql("duckdb")) == truth, f"{text}\n{other.sql('duckdb')}\n{original}"
                number += 1
    return number


def test_random_queries_have_the_same_rows() -> None:
    assert compare(range(20), 40) > 200


@pytest.mark.nightly
def test_10_000_random_queries_have_the_same_rows() -> None:
    assert compare(range(100, 1100), 60) > 10_000
