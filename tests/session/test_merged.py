"""What the items of each person make together: several quantiles, the dearest item, the number of categories."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from each import each
from session.checker import without_bounds
from session.conftest import Named
from session.test_chosen_items import check_shop, wrong
from session.test_odd_queries import refused

import anondb

SIZES = "(SELECT tid, count(*) AS n FROM sales GROUP BY tid) p"
PRICED = "FROM sales JOIN prices USING (item)"


def test_bounds_of_a_list_are_lists(named: Named) -> None:
    result = named[1].sql(f"SELECT quantile_cont(n, [0.25, 0.75]) AS q FROM {SIZES}", bounds="columns")
    (q, lower, upper), *_ = result.fetchall()
    assert result.columns == ["q", "q_lower", "q_upper"] and len(q) == 2
    assert lower == [1.0, 2.0 if named[0] == "suppressed" else 1.0]
    assert upper is None if named[0] == "suppressed" else len(upper) == 2


def test_a_sum_with_filter_is_null_for_persons_without_such_an_item(named: Named, shop: Path) -> None:
    inner = "SELECT tid, sum(price) FILTER (WHERE item = 'dates') AS v FROM sales JOIN prices USING (item) GROUP BY tid"
    assert not wrong(named, shop, f"SELECT count(*) AS c0 FROM ({inner}) WHERE v < 5", filtered=False)
    having = "HAVING sum(price) FILTER (WHERE price > 2) < 5"
    grouped = f"SELECT count(*) AS c0 FROM (SELECT tid {PRICED} GROUP BY tid {having})"
    assert not wrong(named, shop, grouped, filtered=False)


@pytest.mark.slow
@each(
    "sql, words",
    [
        (f"SELECT quantile_cont(n, [])  FROM {SIZES}", "a quantile whose share"),
        (f"SELECT quantile_cont(n, [0.5])[1] FROM {SIZES}", "BRACKET"),
        ("SELECT avg(m) FROM (SELECT tid, max(p) AS m FROM sales JOIN odd USING (item) GROUP BY tid)", None),
        ("SELECT avg(m) FROM (SELECT tid, count(DISTINCT l) AS m FROM sales JOIN odd USING (item) GROUP BY tid)", "NaN"),
        ("SELECT max(m) FROM (SELECT tid, count(DISTINCT d) AS m FROM sales JOIN nans USING (item) GROUP BY tid)", "NaN"),
        ("SELECT avg(m) FROM (SELECT tid, max(price) FILTER (WHERE item <> 'milk') AS m FROM sales JOIN prices "
         "USING (item) GROUP BY tid)", None),
    ],
)  # fmt: skip
def test_odd_numbers(named: Named, shop: Path, sql: str, words: str | None) -> None:
    odd = {"item": ["milk", "bread"], "p": [1.0, None], "l": [["a"], ["b"]]}
    named[1].register("odd", pd.DataFrame(odd).astype({"p": "Float64"}))
    with_nans = f"WITH nans AS (SELECT * FROM (VALUES ('milk', 'nan'::DOUBLE)) t(item, d)) {sql}"
    check_shop(named, shop, with_nans, words, empty="avg(m)" in sql)


@pytest.mark.slow
def test_different_values_of_items_with_several_rows(named: Named, shop: Path) -> None:
    rows = "(VALUES ('milk', 1), ('milk', 2), ('bread', 2), ('dates', NULL)) AS several(item, v)"
    for what in ("v", "item", "v % 2"):
        inner = f"SELECT tid, count(DISTINCT {what}) AS n FROM sales JOIN {rows} USING (item) GROUP BY tid"
        check_shop(named, shop, f"SELECT max(n) AS n FROM ({inner})", empty=True)
        check_shop(named, shop, f"SELECT count(*) AS n FROM ({inner}) WHERE n > 1")


@pytest.mark.slow
def test_too_many_values(named: Named) -> None:
    rows = pd.DataFrame({"item": ["milk"] * 60, "v": range(60)})
    named[1].register("many", rows)
    sql = "SELECT max(n) FROM (SELECT tid, count(DISTINCT v) AS n FROM sales JOIN many USING (item) GROUP BY tid)"
    refused(named[1], sql, "more than 52 different values", code="query_too_complex")


def test_other_names_of_the_columns_of_a_subquery(named: Named) -> None:
    """The alias of the subquery renames its columns."""
    inner = "(SELECT tid, count(DISTINCT parent) AS a, count(*) AS b FROM sales JOIN food ON item = node GROUP BY tid)"
    one, two = (named[1].sql(f"SELECT avg({name}) AS n FROM {inner} q{of}") for name, of in (("b", ""), ("a", "(t, b, a)")))
    assert one.fetchall() == two.fetchall()


LIFT = (
    "SELECT a.item AS k0, b.item AS k1, count(*) * (SELECT count(DISTINCT tid) FROM sales) / ((SELECT count(*) FROM sales s "
    "WHERE s.item = a.item) * (SELECT count(*) FROM sales s WHERE s.item = b.item)) AS n0 "
    "FROM sales a JOIN sales b USING (tid) WHERE a.item < b.item GROUP BY a.item, b.item"
)
BESIDE = [
    LIFT,
    "SELECT a.item AS k0, (SELECT count(*) FROM sales s WHERE a.item = s.item AND s.item <> 'milk') AS n0 "
    "FROM sales a GROUP BY 1",
    "SELECT x AS k0, (SELECT count(DISTINCT s.tid) FROM sales s WHERE s.item = q.x) AS n0 "
    "FROM (SELECT item AS x FROM sales) q GROUP BY x",
    "SELECT a.item AS k0, (SELECT count(*) FROM sales s WHERE s.item > a.item) AS n0 FROM sales a GROUP BY a.item",
]


@each("sql", BESIDE)
def test_counts_beside_groups(named: Named, shop: Path, sql: str) -> None:
    assert not wrong(named, shop, sql, filtered=False)


def test_an_id_beside_groups_is_refused(named: Named) -> None:
    refused(
        named[1], "SELECT a.item, (SELECT max(s.tid) FROM sales s WHERE s.item = a.item) AS n FROM sales a GROUP BY a.item"
    )


TRIPLE = "FROM sales a JOIN sales b ON a.tid = b.tid JOIN sales c ON c.tid = a.tid WHERE c.item = 'milk' AND a.item < b.item"
TRIPLES = [
    f"SELECT a.item AS k0, b.item AS k1, count(*) AS c0 {TRIPLE} GROUP BY a.item, b.item",
    f"SELECT a.item AS k0, b.item AS k1, count(*) AS c0 {TRIPLE} AND a.item <> c.item AND b.item <> c.item GROUP BY 1, 2",
    "SELECT a.item AS k0, b.item AS k1, count(DISTINCT a.tid) AS c0 FROM sales a JOIN sales b USING (tid) WHERE "
    "a.item < b.item AND a.tid IN (SELECT tid FROM sales WHERE item = 'bread') GROUP BY 1, 2",
]


@pytest.mark.slow
@each("sql", TRIPLES)
def test_triples_with_a_fixed_item(named: Named, shop: Path, sql: str) -> None:
    assert not wrong(named, shop, sql, filtered=False)


@pytest.mark.slow
def test_the_most_frequent_triples(named: Named) -> None:
    sql = f"SELECT a.item, b.item, count(*) AS n {TRIPLE} GROUP BY a.item, b.item ORDER BY count(*) DESC"
    assert named[1].sql(f"{sql} LIMIT 2").fetchall() == [row[:5] for row in named[1].sql(sql).fetchall()[:2]]


def test_triples_without_a_fixed_item_are_refused(named: Named) -> None:
    for test in ("c.item <> 'milk'", "c.item > a.item", "c.item IN ('milk', 'bread')"):
        sql = f"SELECT a.item, b.item, count(*) {TRIPLE} GROUP BY a.item, b.item".replace("c.item = 'milk'", test)
        assert without_bounds(named[1], sql)


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
