"""Own tables without a row for some items (LEFT JOIN), or with NULLs: unknown is neither true nor false nor 0."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from each import each
from session.conftest import Named
from session.test_chosen_items import check_shop, wrong

import anondb

LEFT = "FROM sales LEFT JOIN prices USING (item)"
OF_OTHERS = [  # the value of items without a row is not 0
    f"SELECT sum(coalesce(price, 1)) AS n0, avg(coalesce(price, 1)) AS n1, sum(2 * coalesce(price, 1) + 1) AS n2 {LEFT}",
    f"SELECT item AS k, sum(coalesce(price, 1)) AS n {LEFT} GROUP BY item",
    f"SELECT count(*) AS c FROM (SELECT tid, sum(coalesce(price, 1)) AS v {LEFT} GROUP BY tid) WHERE v > 3",
]


@each("sql", OF_OTHERS)
def test_items_without_a_row(named: Named, shop: Path, sql: str) -> None:
    assert not wrong(named, shop, sql, filtered=False)
    result = named[1].sql(sql)
    assert not any(note.startswith("No bounds") for note in result.notes)


@pytest.mark.slow
@each(
    "sql, words",
    [
        (f"SELECT count(*) FROM (SELECT tid, sum(price) AS v {LEFT} GROUP BY tid) WHERE v < 3", None),
        (f"SELECT count_if(cheap AND tid > 3) {LEFT}", "the operator > of an id"),
        (
            "SELECT coalesce(parent, price::VARCHAR) AS k, count(*) FROM sales JOIN prices USING (item)"
            " JOIN food f ON f.node = sales.item GROUP BY 1",
            None,
        ),
        ("SELECT count(*) FROM sales WHERE CASE WHEN item = 'milk' THEN 0.30000000000000001 ELSE 0.2 END = 0.3", None),
        ("SELECT count(*) FROM sales WHERE (SELECT true)", None),
        ("SELECT count(*) FROM sales WHERE item = 'milk' AND NOT ((SELECT true))", None),
        ("SELECT count(*) FROM sales WHERE (SELECT 'milk') = item", None),
        ("SELECT count(*) FROM sales WHERE EXISTS (SELECT 1 FROM prices p WHERE p.item = sales.item)", None),
        ("SELECT count(*) FROM generate_series(1, 5) t(k) JOIN (SELECT tid FROM sales GROUP BY tid) b ON true", None),
        ("SELECT coalesce(price, 0), count(*) FROM sales NATURAL JOIN prices GROUP BY 1", None),
    ],
)
def test_what_may_be_unknown(named: Named, shop: Path, sql: str, words: str | None) -> None:
    check_shop(named, shop, sql, words)


@pytest.mark.parametrize("pattern", ["s%", "%a%"])
def test_patterns_match_suppressed_items(shop: Path, pattern: str) -> None:
    spices = pd.DataFrame({"item": ["saffron", "milk"], "price": [9.0, 1.5]})
    sql = (
        "SELECT count(*) FROM (SELECT tid, sum(coalesce(price, 0)) AS v FROM sales LEFT JOIN spices USING (item)"
        f" WHERE item LIKE '{pattern}' GROUP BY tid) WHERE v > 3"
    )
    with anondb.open(shop / "suppressed.duckdb") as session:
        session.register("spices", spices)
        ((_, low, high),) = session.sql(sql).fetchall()
    assert low <= 1 <= high  # one person has saffron, which the release suppresses


def test_the_sum_of_suppressed_groups_may_be_null(shop: Path) -> None:
    groups = "(SELECT item, count(*) AS n FROM sales WHERE item = 'saffron' GROUP BY item)"
    with anondb.open(shop / "suppressed.duckdb") as session:
        result = session.sql(f"SELECT sum(n) AS n, count(*) AS groups FROM {groups}")
    assert result.fetchall()[0][:2] == (None, 0) and any("may be NULL" in note for note in result.notes)


@pytest.mark.slow
def test_a_list_that_may_be_null_may_be_a_group(tmp_path: Path) -> None:
    lists = {1: None, 2: None, 3: []} | {tid: ["a", "b"][: 1 + tid % 2] for tid in range(4, 16)}
    baskets = pd.DataFrame({"tid": list(lists), "items": list(lists.values())})
    with anondb.connect() as db:
        release = db.anonymize(baskets, item="items", layout="list", model=anondb.KmAnonymity(2, 1), name="r", queries=1)
        release.publish(tmp_path / "r.duckdb")
    with anondb.open(tmp_path / "r.duckdb") as session:
        table = next(name for name in session.tables if name != "baskets")
        sizes = {n: row for n, *row in session.sql(f"SELECT len(items), count(*) FROM {table} GROUP BY 1").fetchall()}
    assert {n: row[1:3] for n, row in sizes.items()} == {None: [0, 3], 0: [0, 3], 1: [6, 6], 2: [6, 6]}
