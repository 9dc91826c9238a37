"""Queries over the original tables, asked in a session on a sealed file: the truth lies between the bounds."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from each import each
from session.checker import check_bounds, says_null, without_bounds
from session.conftest import RELEASES, TREE, Named

import anondb
from anondb import Result, Session, dbapi

LISTED = "SELECT item, count(*) AS n, count(*) FILTER (WHERE item = 'bread') AS m FROM sales GROUP BY item"
PAIRS = "SELECT a.item AS x, b.item AS y, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item"
ASKED = [
    "SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'",
    "SELECT count(*) FROM sales",
    "SELECT count(*) FILTER (WHERE item = 'milk') AS milk, count(*) FILTER (WHERE item = 'bread') AS bread FROM sales",
    "SELECT sum(CASE WHEN item IN ('milk', 'bread') THEN 1 ELSE 0 END) AS a, count(CASE WHEN item = 'milk' THEN 1 END) "
    "FROM sales",
    "SELECT count(DISTINCT CASE WHEN item = 'milk' THEN tid END) AS n FROM sales",
    "SELECT count_if(item = 'milk') * 100.0 / count(DISTINCT tid) AS pct FROM sales",
    "SELECT (SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk') - (SELECT count(DISTINCT tid) FROM sales) AS d",
    "SELECT 'milk' AS what, count(DISTINCT tid) AS n FROM sales WHERE item = 'milk' "
    "UNION ALL SELECT 'all', count(DISTINCT tid) FROM sales ORDER BY 1",
    "SELECT item, count(*) AS n, count(*) FILTER (WHERE item LIKE 'b%') AS m FROM sales "
    "WHERE item IN ('milk', 'bread') GROUP BY item",
    "WITH b AS (SELECT tid, bool_or(item = 'milk') AS milk, bool_or(item = 'bread') AS bread FROM sales GROUP BY tid) "
    "SELECT milk, bread, count(*) AS n FROM b GROUP BY milk, bread",
    "SELECT CASE WHEN item IN ('milk', 'butter') THEN 'dairy' ELSE 'other' END AS grp, count(DISTINCT tid) "
    "FROM sales GROUP BY grp",
    "SELECT bool_or(item = 'milk') AS any, bool_and(item = 'milk') AS every FROM sales",
    "SELECT EXISTS (SELECT 1 FROM sales WHERE item = 'milk') AS some",
    "SELECT count(*) > 3 AND count(*) < 50 AS b FROM sales WHERE item = 'bread'",
    "SELECT sum(n) AS total, max(n) AS most, min(n), avg(n), count(*) FROM "
    "(SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread') GROUP BY item)",
    "SELECT count(*) AS items FROM (SELECT item FROM sales GROUP BY item HAVING count(DISTINCT tid) >= 5)",
    "SELECT round(avg(n), 1) AS r, -sum(n) AS s, abs(min(n) - 7) AS a "
    "FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)",
    "SELECT avg(n) AS mean, max(n) AS most, min(n) AS least, sum(n) AS lines, count(*) AS baskets "
    "FROM (SELECT tid, count(*) AS n FROM sales WHERE item LIKE '%' GROUP BY tid)",
    "SELECT avg(n) AS mean FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'milk'))",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) BETWEEN 2 AND 3)",
    "SELECT parent, count(DISTINCT tid) AS n FROM sales JOIN food ON item = node GROUP BY parent",
    "SELECT count(DISTINCT tid) AS n FROM food f JOIN sales s ON s.item = f.node "
    "WHERE f.parent = 'dairy' OR s.item = 'bread'",
    "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN (SELECT node FROM food WHERE parent <> 'dairy')",
    "SELECT sum(price) AS revenue, avg(price) AS mean, count(*) AS lines FROM sales JOIN prices USING (item)",
    "SELECT count(*) AS n, count(price) AS priced FROM sales LEFT JOIN prices USING (item) "
    "WHERE item <> 'milk' AND item <> 'figs'",
    "SELECT parent, sum(price) AS v FROM sales JOIN prices USING (item) JOIN food ON node = sales.item GROUP BY parent",
    "SELECT avg(v) AS mean, max(v) AS most "
    "FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid)",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) > 3)",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid "
    "HAVING sum(price) <= 3.5 AND bool_or(item = 'milk'))",
    "SELECT n, count(*) AS baskets FROM (SELECT tid, count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'butter') "
    "GROUP BY tid) GROUP BY n",
    "SELECT count(*) AS n FROM (SELECT tid, list(item) AS items FROM sales GROUP BY tid) WHERE list_contains(items, 'milk')",
    "SELECT count(DISTINCT tid) AS n FROM sales "
    "WHERE upper(item) = 'MILK' OR lower(item) LIKE 'b%' OR trim(item) IN ('figs')",
    "SELECT count(DISTINCT tid) AS n FROM main.sales WHERE CAST(item AS VARCHAR) = 'milk' OR item BETWEEN 'a' AND 'c'",
    "SELECT CASE WHEN count(*) > 10 THEN count(*) ELSE 0 END AS n FROM sales WHERE item = 'milk'",
    "SELECT count(DISTINCT tid) AS n FROM sales WHERE lower(item) = lower('MILK') OR item = trim(upper(' bread '))",
    *(
        f"SELECT count(*) AS n, count(DISTINCT tid) AS d FROM sales WHERE item {no}IN "
        "(SELECT item FROM sales GROUP BY item HAVING count(*) >= 5)"
        for no in ("", "NOT ")
    ),
    f"{PAIRS} GROUP BY x, y HAVING count(*) >= 5 ORDER BY n DESC",
    f"{PAIRS} AND b.item LIKE 'm%' AND a.item IN ('butter', 'bread') GROUP BY ALL",
    f"SELECT max(n) AS most, count(*) FILTER (WHERE n > 3) AS many, sum(n) AS lines FROM ({PAIRS} GROUP BY x, y)",
    f"SELECT avg(m), min(m), avg(m) < 1 AS b FROM ({LISTED}) WHERE n > 29",
    f"SELECT count(*) FILTER (WHERE n > 5) AS a, sum(n) FILTER (WHERE n > 5) AS b, max(n) FILTER (WHERE n < 6) AS c, "
    f"count_if(n > 5) AS d, sum(n > 5) AS e FROM ({LISTED})",
    *(
        f"SELECT n > 5 AND cheap AS b, NOT (n > 5 AND cheap) AS c, cheap OR n > 5 AS d, (n > 5) = cheap AS e "
        f"FROM ({LISTED}) JOIN prices USING (item) WHERE item = '{item}'"
        for item in ("milk", "bread", "butter")
    ),
    f"SELECT count(*) AS n FROM (SELECT n > 4 AND cheap AS b FROM ({LISTED}) JOIN prices USING (item)) WHERE NOT b",
    "SELECT count(*) AS n FROM (SELECT CASE WHEN count(*) > 19 THEN true END AS b FROM sales WHERE item = 'milk') WHERE b",
    "SELECT (count(*) > 5) = true AS a, (count(*) > 50) IS TRUE AS b, count(*) IS NULL AS c, "
    "(count(*) > 5) IS NOT FALSE AS d FROM sales WHERE item = 'milk'",
    "SELECT coalesce(sum(CASE WHEN item = 'milk' THEN 2 END), 0) AS n FROM sales WHERE item <> 'bread'",
    "SELECT DISTINCT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread') GROUP BY item",
]


@pytest.fixture(scope="module", autouse=True)
def held(shop: Path) -> Iterator[None]:
    """Keep the originals open, so that a query on them need not open the file again."""
    with contextlib.ExitStack() as stack:
        for name in set(RELEASES.values()):
            stack.enter_context(duckdb.connect(str(shop / f"{name}.duckdb"), read_only=True))
        yield


def truths(
    shop: Path, sql: str, prices: pd.DataFrame | None = None, name: str = "plain"
) -> tuple[list[str], list[tuple[Any, ...]]]:
    with duckdb.connect(str(shop / f"{RELEASES[name]}.duckdb"), read_only=True) as connection:
        if prices is not None:
            connection.register("prices", prices)
        found = connection.execute(sql)
        return [c[0] for c in found.description or []], found.fetchall()


def check(result: Result, names: list[str], rows: list[tuple[Any, ...]]) -> None:
    """Each row of the truth is there, and its numbers are between the bounds."""
    computed = [n for n in names if f"{n}_lower" in result.columns]
    keys = [n for n in names if n not in computed]
    shown = [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]
    plain = [n for n in keys if not any(isinstance(r[names.index(n)], bool) for r in rows)] if len(rows) == 1 else keys
    for row in rows:
        truth = dict(zip(names, row, strict=True))
        (match,) = [r for r in shown if all(r[k] == truth[k] for k in plain)]
        for name in computed:
            low, high = match[f"{name}_lower"], match[f"{name}_upper"]
            if truth[name] is None:
                assert (low is None and high is None) or says_null(result.notes), (name, match)
                continue
            truth[name] = float(truth[name])
            assert low is None or low - 1e-9 <= truth[name], (name, match, truth)
            assert high is None or truth[name] <= high + 1e-9, (name, match, truth)
            if low is not None and high is not None:
                estimated = match[name]
                assert says_null(result.notes) if estimated is None else low - 1e-9 <= estimated <= high + 1e-9
        for name in set(keys) - set(plain):
            assert match[name] in (None, truth[name])


@pytest.mark.slow
@each("sql", ASKED)
def test_the_truth_is_between_the_bounds(shop: Path, named: Named, prices: pd.DataFrame, sql: str) -> None:
    name, session = named
    names, rows = truths(shop, sql, prices, name)
    try:
        result = session.sql(sql)
    except anondb.InputError as error:
        assert "suppressed" in str(error)
        return
    assert [c for c in result.columns if c in names] == names
    check(result, names, rows)


def test_columns_are_those_of_the_query_with_bounds_behind_each_number(plain: Session) -> None:
    result = plain.sql(
        "SELECT item, count(*), count(*), count(*) > 3 AS many FROM sales GROUP BY item ORDER BY item LIMIT 2"
    )
    assert result.columns == [
        "item",
        *("count_star()", "count_star()_lower", "count_star()_upper"),
        *("count_star()", "count_star()_lower", "count_star()_upper"),
        "many",
    ]
    numbered = ["count_star()_1", "count_star()_1_lower", "count_star()_1_upper"]
    assert list(result.df().columns) == [*result.columns[:4], *numbered, "many"]
    assert plain.sql("SELECT count(*) AS n FROM sales", bounds="none").columns == ["n"]
    assert len(result) == 2 and result.columns == result.arrow().column_names


@each(
    "sql",
    [
        "SELECT item, item AS ITEM, item FROM sales",
        "SELECT a.item, b.item, a.item || b.item AS item_1 FROM sales a JOIN sales b USING (tid)",
        "SELECT * FROM sales a JOIN sales b ON a.tid = b.tid",
        "SELECT 1 AS a, 2 AS a",
    ],
)
def test_names_repeat_as_in_duckdb(shop: Path, plain: Session, sql: str) -> None:
    with duckdb.connect(str(shop / "shop.duckdb"), read_only=True) as original:
        told = [column[0] for column in original.execute(sql).description]
        numbered = list(original.execute(sql).df().columns)
    for bounds in ("columns", "none"):
        result = plain.sql(sql, bounds=bounds)
        assert result.columns == result.arrow().column_names == told and list(result.df().columns) == numbered
    with dbapi.connect(shop / "plain.duckdb") as connection:
        assert [column[0] for column in connection.cursor().execute(sql).description or ()] == told


def test_groups_that_a_condition_on_a_count_may_keep_are_marked(shop: Path, plain: Session) -> None:
    sql = "SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item HAVING n >= 5 ORDER BY item"
    kept = {item for item, _ in truths(shop, sql)[1]}
    result = plain.sql(sql)
    assert result.columns[-1] == "certain"
    certain = {row[0] for row in result.fetchall() if row[-1]}
    assert certain <= kept <= {row[0] for row in result.fetchall()}


@pytest.mark.slow
def test_groups_that_need_not_exist_are_marked(shop: Path) -> None:
    asked = "SELECT item, count(*) AS n FROM sales GROUP BY item"
    for name in ("plain", "supports"):
        with anondb.open(shop / f"{name}.duckdb") as session:
            rows = session.sql(asked)
            assert rows.columns[-1] == "certain"
            assert len(rows) and all((low >= 1) == certain for _, _, low, _, certain in rows.fetchall())
            assert "certain" in session.sql("SELECT item FROM sales GROUP BY item").columns
            assert "certain" in session.sql(f"SELECT * FROM ({asked}) ORDER BY item").columns
            assert "certain" in session.sql(f"{asked} UNION ALL SELECT 'all', 1").columns
            sure = "SELECT item = 'milk' AS milk, count(*) AS n FROM sales GROUP BY milk"
            assert ("certain" in session.sql(sure).columns) == (name == "plain")  # where both groups have somebody
            for kept in (asked, f"{asked} HAVING n > 2", f"{asked} QUALIFY rank() OVER (ORDER BY n DESC) < 3"):
                assert session.sql(kept, bounds="none").columns == ["item", "n"]
            assert session.sql(f"SELECT sum(n) AS n FROM ({asked})").columns == ["n", "n_lower", "n_upper"]


def test_a_quotient_has_no_bounds_where_its_denominator_may_be_0(plain: Session) -> None:
    sql = "SELECT count(*) / count(*) FILTER (WHERE item = 'figs') AS q FROM sales WHERE item = 'milk'"
    ((estimate, lower, upper),) = plain.sql(sql).fetchall()
    assert lower is None and upper is None and (estimate is None or math.isfinite(estimate))


def test_items_that_no_released_item_stands_for_are_named(plain: Session) -> None:
    (note,) = plain.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'Milc'").notes
    assert "'Milc'" in note and "'milk'" in note
    released = plain._releases._opened[0].sizes
    (label,) = [one for one, members in released.items() if members > 1][:1]
    (note,) = plain.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE item = ?", [label]).notes
    assert f"{label!r} is no item but a released item" in note
    for test in ("item = ?", "item IN (?)", "list_contains(['x', ?], item)"):
        ((estimate, low, high),) = plain.sql(f"SELECT count(DISTINCT tid) FROM sales WHERE {test}", [label]).fetchall()
        assert (low, estimate, high) == (0, 0, 0)
    ((estimate, low, high),) = plain.sql("SELECT count(*) FROM sales WHERE item <> ?", [label]).fetchall()
    assert low <= estimate <= high
    listed = plain.sql("SELECT item, count(*) AS n FROM sales WHERE item = ? GROUP BY item", [label])
    assert not listed.fetchall() and any("ask for" in note for note in listed.notes)
    assert not plain.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'").notes


def test_objects_of_the_file_can_be_read_and_joined(shop: Path) -> None:
    with anondb.open(shop / "plain.duckdb") as session:
        counts = session.sql("SELECT item, upper_bound AS most FROM item_counts ORDER BY item").fetchall()
        assert [item for item, _ in counts] == sorted(TREE)
        joined = "sales JOIN released_items r ON r.item = sales.item"
        sql = f"SELECT released_item, count(DISTINCT tid) AS n FROM {joined} GROUP BY 1"
        rows = session.sql(sql).fetchall()
        assert rows and all(low == high for _, _, low, high in rows)
        session.register("facts0", session.sql("SELECT 1 AS x").df())
        assert len(session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item")) == len(TREE)
        assert session.sql("SELECT x FROM facts0").fetchall() == [(1,)]


def test_parameters(plain: Session) -> None:
    expected = plain.sql("SELECT count(*) AS n FROM sales WHERE item IN ('milk', 'bread')").fetchall()
    for sql, values in (
        ("SELECT count(*) AS n FROM sales WHERE item IN (?, ?)", ["milk", "bread"]),
        ("SELECT count(*) AS n FROM sales WHERE item IN ($2, $1)", ["bread", "milk"]),
        ("SELECT count(*) AS n FROM sales WHERE item IN ($a, $b)", {"a": "milk", "b": "bread"}),
    ):
        assert plain.sql(sql, values).fetchall() == expected
    dairy = plain.sql("SELECT count(*) AS n FROM sales WHERE item LIKE '%ut%'").fetchall()
    assert plain.sql("SELECT count(*) AS n FROM sales WHERE item LIKE '%' || ? || '%'", ["ut"]).fetchall() == dairy
    for values in (["milk"], ["milk", "bread", "figs"], "milk", [{}, "milk"]):
        with pytest.raises(anondb.InputError) as error:
            plain.sql("SELECT count(*) AS n FROM sales WHERE item IN (?, ?)", values)
        assert error.value.code == "bad_parameter" and "bread" not in str(error.value)
    with pytest.raises(anondb.InputError) as error:
        plain.sql("SELECT count(*) AS n FROM sales WHERE item IN (?, $1)", ["milk"])
    assert error.value.code == "bad_parameter"


def test_parameters_with_nothing_between_them(plain: Session) -> None:
    asked = "SELECT count(*) AS n FROM sales WHERE item IN"
    expected = plain.sql(f"{asked} ('milk', 'bread')").fetchall()
    assert plain.sql(f"{asked} ($1,$2)", ["milk", "bread"]).fetchall() == expected
    kept = "SELECT '$1,$2' AS a, $$ $1,$2 $$ AS b, $x$'$1$x$ AS c, $1,$2 -- $1,$2"
    assert plain.sql(kept, ["milk", 3]).fetchall() == [("$1,$2", " $1,$2 ", "'$1", "milk", 3)]


@pytest.mark.slow
def test_parameters_are_taken_in_the_order_of_the_text(shop: Path) -> None:
    asked = "WITH m AS (SELECT count(*) AS n FROM sales WHERE item = {}) SELECT {} AS a,"
    asked += " count(*) FILTER (WHERE item = {}) AS b, '?' AS q, (SELECT n FROM m) AS c FROM sales WHERE item <> {} LIMIT {}"
    values = ["milk", "?", "bread", "figs", 1]
    with anondb.open(shop / "supports.duckdb") as session:
        written = session.sql(asked.format("'milk'", "'?'", "'bread'", "'figs'", "1"))
        assert session.sql(asked.format(*"?????"), values).fetchall() == written.fetchall()


@each(
    "sql, words",
    [
        ("SELECT tid FROM sales", "are modelled"),
        ("SELECT * FROM sales", "are modelled"),
        ("SELECT item FROM sales WHERE item = 'milk'", "are modelled"),
        ("SELECT tid, count(*) FROM sales GROUP BY tid", "are modelled"),
        ("SELECT list(item) FROM sales", "ARRAY_AGG"),
        ("SELECT count(*) || ' baskets' FROM sales", "of an estimate"),
        ("SELECT DISTINCT count(*) FROM sales GROUP BY item", "DISTINCT of estimates"),
        ("SELECT rank() OVER (ORDER BY count(*)) FROM sales GROUP BY item UNION SELECT 1", "compares estimates"),
    ],
)
def test_what_no_rule_reads_has_no_bounds(plain: Session, sql: str, words: str) -> None:
    assert words in without_bounds(plain, sql)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item",
        "SELECT count(*) FROM sales a LEFT JOIN sales b ON a.tid = b.tid AND a.item < b.item",
        "SELECT a.item, b.item AS other, count(*) FROM sales a JOIN sales b USING (tid) JOIN sales c USING (tid) "
        "WHERE c.item LIKE 'm%' GROUP BY 1, 2",
    ],
)
def test_copies_whose_items_are_compared(shop: Path, sql: str) -> None:
    for name in ("plain", "supports"):
        with (
            anondb.open(shop / f"{name}.duckdb") as session,
            duckdb.connect(str(shop / "shop.duckdb"), read_only=True) as raw,
        ):
            check_bounds(session, raw, sql)


@pytest.mark.slow
def test_a_file_of_the_analyst_is_read_as_files_are(shop: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    rows = ["007;1.5;1.50;2024-02-29;true;2024-01-01 10:00:00;;9", "8;2;2.25;2024-03-01;false;2024-01-01 11:00:00;;08"]
    own.write_text("\n".join(["code;price;money;day;yes;at;none;nr", *rows, ""]), encoding="utf-8")
    kinds = ["VARCHAR", "DOUBLE", "DECIMAL(18,2)", "DATE", "BOOLEAN", "TIMESTAMP", "VARCHAR", "VARCHAR"]
    with anondb.open(shop / "plain.duckdb") as session:
        session.register("own", own)
        assert list(session.types["own"].values()) == kinds
        assert session.sql("SELECT code, price, nr FROM own ORDER BY price").fetchall() == [
            ("007", 1.5, "9"),
            ("8", 2.0, "08"),
        ]
        own.write_text(own.read_text() + "9;2;2;2\n")
        with pytest.raises(anondb.InputError, match="line 4 has 4 fields"):
            session.register("own", own)
        assert len(session.sql("SELECT * FROM own").fetchall()) == 2
        own.write_text("a;b,c\n1;2,3\n")
        with pytest.raises(anondb.InputError) as error:
            session.register("own", own)
        assert error.value.code == "ambiguous_dialect"
        session.register("own", own, delimiter=";")
        assert session.tables["own"] == ["a", "b,c"]
        with pytest.raises(anondb.InputError):
            session.register("own", pd.DataFrame({"a": [1]}), delimiter=";")


def test_the_analyst_can_join_own_tables_with_the_results(shop: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("item,price\nmilk,1.5\nbread,2\n", encoding="utf-8")
    counts = "SELECT item, count(*) AS n FROM sales GROUP BY item"
    sql = f"SELECT p.item, p.price * n AS value FROM prices p JOIN ({counts}) USING (item)"
    with anondb.open(shop / "plain.duckdb") as session:
        session.register("prices", prices)
        result = session.sql(sql)
        with pytest.raises(anondb.InputError) as error:
            session.register("Sales", prices)
        assert error.value.code == "bad_name"
        session.unregister("prices")
        with pytest.raises(anondb.InputError):
            session.sql(sql)
    with duckdb.connect(str(shop / "shop.duckdb"), read_only=True) as connection:
        connection.execute(f"CREATE TEMP TABLE prices AS FROM '{prices}'")
        check(result, ["item", "value"], connection.execute(sql).fetchall())


@pytest.mark.slow
def test_several_files_add_up(tmp_path: Path) -> None:
    for week in (1, 2):
        with anondb.connect(tmp_path / f"raw{week}.duckdb") as db:
            db.sql("CREATE TABLE sales AS SELECT tid, unnest(['a', 'b', 'c'][: 1 + tid % 3]) AS item FROM range(30) r(tid)")
            db.anonymize("sales", model=anondb.KmAnonymity(2, 2), name="w").publish(tmp_path / f"week{week}.duckdb")
    with anondb.open(tmp_path / "week*.duckdb") as session:
        assert session.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'b'").fetchall() == [(40.0, 40, 40)]
        assert session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item").fetchall() == [
            ("a", 60.0, 60, 60),
            ("b", 40.0, 40, 40),
            ("c", 20.0, 20, 20),
        ]
    for files in ([], [tmp_path / "week1.duckdb"] * 2, tmp_path / "none.duckdb"):
        with pytest.raises(anondb.InputError):
            anondb.open(files)


def test_results_stay_when_the_session_is_closed_and_can_be_printed(shop: Path) -> None:
    with anondb.open(shop / "plain.duckdb") as session:
        result = session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item")
        assert "sales(tid, item)" in repr(session)
    assert "bread" in repr(result) and "n_lower" in repr(result) and "note: " in repr(result)
    assert "<td>bread</td>" in result._repr_html_() and result.to_json()["columns"] == result.columns


@pytest.mark.slow
def test_numbers_of_items_are_counts_of_listed_items(shop: Path) -> None:
    with anondb.open(shop / "supports.duckdb") as session:
        ((number, lower, upper),) = session.sql("SELECT count(DISTINCT item) AS n FROM sales").fetchall()
        listed = session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item").fetchall()
        assert (lower, upper) == (sum(low >= 1 for _, _, low, _, _ in listed), len(listed)) and lower <= number <= upper
        two = "SELECT count(DISTINCT item) FILTER (WHERE item IN ('milk', 'bread')) AS n, count(DISTINCT tid) m FROM sales"
        assert session.sql(two, bounds="none").fetchall() == [(2, 30)]
        by = session.sql("SELECT item[1] AS c, count(DISTINCT item) AS n FROM sales GROUP BY c ORDER BY c").fetchall()
        assert [(c, upper) for c, _, _, upper, *_ in by] == [("b", 2), ("d", 1), ("f", 1), ("m", 1), ("r", 1)]
    with anondb.open(shop / "suppressed.duckdb") as session:
        ((_, lower, upper),) = session.sql("SELECT count(DISTINCT item) AS n FROM sales").fetchall()
        assert 1 <= lower <= upper == 8


def test_tables_are_named_as_in_the_original(tmp_path: Path) -> None:
    with anondb.connect(tmp_path / "own.duckdb") as own:
        own.sql("CREATE TABLE Sales AS SELECT i // 2 AS tid, chr(97 + (i % 2)::INTEGER) AS item FROM range(8) t(i)")
        own.sql('CREATE TABLE "My People" AS SELECT i AS tid, 30 + i AS age FROM range(4) t(i)')
        made: dict[str, Any] = {"model": anondb.KkmAnonymity(2, 1), "records": "My People", "quasi_identifiers": "age"}
        own.anonymize("Sales", name="spring", queries=0, **made).publish(tmp_path / "spring.duckdb")
    with anondb.open(tmp_path / "spring.duckdb") as session:
        assert session.tables.keys() == {"Sales", "My People", "baskets", "records"}
        assert {"Sales", "My People"} < {row[0] for row in session.sql("SHOW TABLES").fetchall()}
        asked = 'SELECT count(DISTINCT s.tid) FROM "my people" JOIN sales s USING (tid)'
        assert session.sql(asked).fetchall() == [(4.0, 4, 4)]
        with pytest.raises(anondb.InputError, match="The tables are baskets, Sales, My People"):
            session.sql("FROM nothing")
