"""Tables of the analyst with NULLs, decimal numbers and several rows for an item, joined with the rows of persons."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from each import each
from session.checker import check_bounds

import anondb
from anondb import Session

BASKETS = [*(["a"],) * 10, *(["b"],) * 10, *(["a", "b"],) * 10, *(["a", "b", "c"],) * 10, *(["c"],) * 5]
AGES = [25, 31, None, 40, 31]
TOWNS = ["Cork", "Rome", None]
TABLES = {
    "tags": "VALUES ('a', 'x', 1), ('a', 'y', 5), ('b', 'x', 9)) t(item, tag, w)",
    "np": "VALUES ('a', NULL::DOUBLE), ('b', 2.0)) t(item, price)",
    "dec": "VALUES ('a', 0.1::DECIMAL(9, 2)), ('b', 0.7), ('c', 10.5)) t(item, price)",
    "dbl": "VALUES ('a', 0.1::DOUBLE), ('b', 0.7), ('c', 10.5)) t(item, price)",
    "dts": "VALUES ('a', DATE '2024-01-01', true), ('b', NULL, NULL), ('c', DATE '2023-01-01', false)) t(item, d, f)",
    "nulls": "VALUES ('a'), (NULL)) t(item)",
    "towns": "VALUES ('Cork', 'IE'), ('Rome', NULL)) t(town, country)",
    "keys": "VALUES ('a', 1), ('b', 9)) t(item, tid)",
    "ends": "VALUES ('a', 'infinity'::DATE, '9999-12-31'::DATE, '2024-01-01 00:00:00.000000001'::TIMESTAMP_NS), "
    "('b', '9999-12-31', '9999-12-31', '2024-01-01'), ('c', NULL, NULL, NULL)) t(item, d, last, ns)",
    "odd": "VALUES ('a', [1], 'NaN'::DOUBLE)) t(item, l, w)",
}
SALES = "FROM sales JOIN {} USING (item)"
EACH = "SELECT count(*) AS n FROM (SELECT tid {} GROUP BY tid HAVING {})"


def of(table: str) -> str:
    return SALES.format(table)


def every(table: str, test: str) -> str:
    return EACH.format(of(table), test)


ANSWERED = [
    f"SELECT count(DISTINCT tid) AS n {of('tags')} WHERE tag = 'y' AND w < 3",
    f"SELECT count(DISTINCT tid) AS n {of('tags')} WHERE tag = 'x' AND (w > 3 OR item = 'a')",
    f"SELECT count(DISTINCT tid) AS n {of('tags')} WHERE w > 6 OR sales.item = 'a'",
    f"SELECT count(DISTINCT tid) FILTER (WHERE tag = 'y' AND sales.item <> 'b') AS n {of('tags')}",
    *(
        f"SELECT count(DISTINCT tid) AS n {of('tags')} WHERE {test}"
        for test in (
            "tag = 'y' AND (w < 3 OR sales.item = 'b')",
            "(tag = 'y' OR sales.item = 'b') AND (w < 3 OR sales.item = 'b')",
            "NOT (tag = 'x' OR sales.item = 'b')",
            "((tag = 'y' AND sales.item <> 'b') AND w < 3) IS TRUE",
        )
    ),
    every("tags", "bool_or(tag = 'x') AND bool_or(w = 5)"),
    every("ends", "count(DISTINCT last) = 1"),
    f"SELECT last, count(*) AS n {of('ends')} GROUP BY last",
    f"SELECT tag, count(DISTINCT tid) AS n {of('tags')} GROUP BY tag",
    f"SELECT count(*) AS n FROM (SELECT DISTINCT tid {of('tags')} WHERE w > 3)",
    every("dec", "sum(price) = 0.8"),
    every("dec", "sum(price) >= 0.8"),
    every("dec", "sum(price) > 0.7 AND sum(price) < 11.30"),
    every("dbl", "sum(price) >= 0.8"),
    every("dbl", "sum(price) > 10.9"),
    f"SELECT sum(price) AS s, sum(price) > 3 AS b {of('dec')} WHERE item = 'a'",
    f"SELECT sum(price) AS s, avg(price) AS m {of('dbl')}",
    f"SELECT avg(v) AS m, max(v) AS h FROM (SELECT tid, sum(price) AS v {of('dec')} GROUP BY tid)",
    f"SELECT sum(price) AS n {of('np')}",
    f"SELECT price, count(*) AS n, sum(count(*)) OVER (ORDER BY price) AS s {of('dec')} GROUP BY price",
    f"SELECT price, price * count(*) AS n {of('dec')} GROUP BY price ORDER BY price LIMIT 1",
    f"SELECT year(d) AS y, count(*) AS n {of('dts')} GROUP BY year(d)",
    f"SELECT d, count(*) AS n {of('dts')} GROUP BY d",
    f"SELECT count(*) AS n FROM (SELECT tid {of('np')} GROUP BY tid HAVING bool_or(price > 1))",
    "SELECT bool_and(age > 18) AS a, bool_and(age > 30) AS b, bool_or(age > 50) AS c FROM people",
    "SELECT bool_or(age > 18) AS b FROM people WHERE age IS NULL",
    "SELECT count(*) AS n FROM people HAVING bool_and(age > 18)",
    "SELECT count(CASE WHEN age > 20 THEN town END) AS n, count(CASE WHEN true THEN age END) AS m FROM people",
    "SELECT town, count(CASE WHEN age > 20 THEN town END) AS n FROM people GROUP BY town",
    "SELECT count(*) AS n FROM people LEFT JOIN towns USING (town) WHERE country IS NULL",
    "SELECT count(*) FILTER (WHERE coalesce(country, '?') = '?') AS n FROM people LEFT JOIN towns USING (town)",
    "SELECT avg(age) AS n, sum(age) IS NULL AS b, coalesce(sum(age), -1) AS c FROM people WHERE age IS NULL",
    "SELECT CASE WHEN false THEN 'x' ELSE 'y' END AS k, count(*) AS n FROM sales GROUP BY 1",
    "SELECT CASE WHEN item = 'a' THEN 1.0 WHEN item = 'b' THEN 1.00 ELSE 2.5 END AS k, count(*) AS n FROM sales GROUP BY 1",
    "SELECT CASE WHEN w.price > 10 THEN 'x' WHEN t.f THEN 'y' ELSE 'z' END AS k, count(*) AS n "
    "FROM sales JOIN dec w USING (item) JOIN dts t USING (item) GROUP BY 1",
]
HARD: list[tuple[str, str | None]] = [
    (f"SELECT tag, count(DISTINCT tid) AS n {of('tags')} WHERE w > 3 GROUP BY tag", None),
    (f"SELECT count(DISTINCT tid) FILTER (WHERE w > 3) AS n {of('tags')} WHERE tag = 'x'", None),
    *(
        (f"SELECT count(DISTINCT tid) AS n {of('tags')} WHERE {test}", None)
        for test in (
            "tag = 'y' AND (w < 3 OR sales.tid IS NULL)",
            "(tag = 'y' OR sales.tid IS NULL) AND (w < 3 OR sales.tid IS NULL)",
            "NOT (tag = 'x' OR sales.tid IS NULL)",
            "((tag = 'y' AND sales.tid IS NOT NULL) AND w < 3) IS TRUE",
        )
    ),
    (f"SELECT count(*) AS n FROM (SELECT tid {of('tags')} WHERE w > 3 GROUP BY tid HAVING bool_or(tag = 'x'))", None),
    (f"SELECT count(DISTINCT CASE WHEN tag = 'x' THEN NULL ELSE tid END) AS n {of('tags')}", "GROUP BY an expression"),
    (f"SELECT count(*) AS n FROM (SELECT tid, item {of('tags')})", None),
    (f"SELECT w, count(*) AS n {of('odd')} GROUP BY w", "NaN"),
    ("SELECT hash(item) AS k, count(*) AS n FROM sales GROUP BY 1", "UBIGINT"),
    (f"SELECT w::HUGEINT AS k, count(*) AS n {of('tags')} GROUP BY 1", "HUGEINT"),
    (every("tags", "count(*) > 2"), None),
    (every("tags", "bool_and(tag = 'x')"), None),
    (f"SELECT avg(n) AS n FROM (SELECT tid, count(*) AS n {of('tags')} GROUP BY tid)", None),
    (every("np", "sum(price) < 100"), None),
    (f"SELECT avg(s) AS n FROM (SELECT tid, sum(price) AS s {of('np')} GROUP BY tid)", None),
    ("SELECT count(*) AS n FROM sales s JOIN dts t USING (item) WHERE NOT (t.f OR s.tid IS NULL)", None),
    ("SELECT count(*) AS n FROM sales s JOIN dts t USING (item) WHERE (t.f AND s.tid IS NOT NULL) IS FALSE", None),
    ("SELECT count(*) AS n FROM sales WHERE (item IN (SELECT item FROM nulls)) IS FALSE", None),
    ("SELECT count(*) AS n FROM sales s LEFT JOIN dec p USING (item) WHERE NOT (p.price < 2 AND s.tid IS NOT NULL)", None),
    (every("dts", "bool_and(f)"), None),
    (every("dts", "NOT bool_or(f)"), None),
    ("SELECT count(*) AS n FROM sales JOIN keys USING (item, tid)", "a join of an id with a value that is not an id"),
    ("SELECT sum(CAST(CASE WHEN item = 'a' THEN 0.6 ELSE 0 END AS INTEGER)) AS n FROM sales", None),
    (f"SELECT l, count(*) AS n {of('odd')} GROUP BY l", "a list, NaN"),
    (f"SELECT d, count(*) AS n {of('ends')} GROUP BY d", "infinite dates"),
    (f"SELECT ns, count(*) AS n {of('ends')} GROUP BY ns", "the type TIMESTAMP_NS"),
    (every("ends", "count(DISTINCT d) > 1"), "infinite dates"),
    (every("ends", "count(DISTINCT ns) > 1"), "the type TIMESTAMP_NS"),
    ("SELECT string_split(town, 'o') AS k, count(*) AS n FROM people GROUP BY 1", "a list, NaN"),
    (f"SELECT sum(w) AS n {of('odd')}", "a list, NaN"),
]


def fill(connection: Any) -> None:
    connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
    connection.execute("CREATE TABLE people (tid INTEGER, age INTEGER, town VARCHAR, day DATE)")
    sales = [(tid, item) for tid, basket in enumerate(BASKETS, 1) for item in basket]
    people = [(tid, AGES[tid % 5], TOWNS[tid % 3], date(2024, 1, 1)) for tid in range(1, len(BASKETS) + 1)]
    connection.executemany("INSERT INTO sales VALUES (?, ?)", sales)
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people)


Asked = tuple[Session, duckdb.DuckDBPyConnection]


def beside_original(file: Path, table: str, **options: Any) -> Iterator[Asked]:
    """A session on a release with the tables of the analyst, beside the original."""
    original = duckdb.connect()
    fill(original)
    with duckdb.connect(str(file.with_suffix(".raw"))) as raw:
        fill(raw)
    with anondb.connect(file.with_suffix(".raw")) as db:
        db.anonymize("sales", name=table, queries=1, **options).publish(file)
    with anondb.open(file) as session:
        for name, rows in TABLES.items():
            original.execute(f"CREATE TABLE {name} AS SELECT * FROM ({rows}")
            session.register(name, original.table(name).to_arrow_table())
        yield session, original
    original.close()


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A release that generalizes nothing."""
    how = {"model": anondb.KmAnonymity(2, 2), "algorithm": "coat"}
    yield from beside_original(tmp_path_factory.mktemp("joined") / "plain.duckdb", "plain", **how)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A release with records."""
    how = {"model": anondb.KkmAnonymity(3, 2), "records": "people", "quasi_identifiers": "age,town,day"}
    how |= {"algorithm": "rfirst", "infeasible": "merge"}
    yield from beside_original(tmp_path_factory.mktemp("joined") / "records.duckdb", "records", **how)


@pytest.mark.slow
@each("sql", ANSWERED)
def test_the_truth_is_between_the_bounds(sales: Asked, people: Asked, sql: str) -> None:
    session, original = people if "people" in sql else sales
    result, true = session.sql(sql), original.execute(sql)
    names = [c[0] for c in true.description or []]
    keys = [n for n in names if f"{n}_lower" not in result.columns and n not in "abc"]
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]
    shown = {tuple(row[k] for k in keys): row for row in rows}
    for values in true.fetchall():
        truth = dict(zip(names, values, strict=True))
        row = shown[tuple(truth[k] for k in keys)]
        for name in set(names) - set(keys):
            if f"{name}_lower" not in row:
                assert row[name] in (None, truth[name]), (name, row, truth)
                continue
            ends = row[f"{name}_lower"], row[f"{name}_upper"]
            if truth[name] is None:
                assert ends == (None, None), (name, row)
            else:
                low, high = (None if end is None else float(end) for end in ends)
                value, slack = float(truth[name]), 1e-9 * abs(float(truth[name]))
                assert (low is None or low - slack <= value) and (high is None or value <= high + slack), (name, row, truth)


@pytest.mark.slow
@each("sql, words", HARD)
def test_hard_queries(sales: Asked, people: Asked, sql: str, words: str | None) -> None:
    check_bounds(*(people if "people" in sql else sales), sql, words)


def test_sums_of_decimal_numbers_are_exact(sales: Asked) -> None:
    session, original = sales
    for test in ("sum(price) = 0.8", "sum(price) >= 0.8", "sum(price) <> 11.3"):
        ((estimate, low, high),) = session.sql(every("dec", test)).fetchall()
        assert [(low,)] == [(high,)] == original.execute(every("dec", test)).fetchall() and estimate == low


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.k, count(s.tid) FROM generate_series(0, 4) t(k) LEFT JOIN (SELECT tid, count(*) AS n FROM sales "
        "GROUP BY tid) s ON s.n >= t.k GROUP BY t.k",
        "SELECT p, count(*) FROM (SELECT tid, sum(CASE WHEN item = 'a' THEN 1 ELSE 0 END) AS p FROM sales GROUP BY tid) "
        "GROUP BY p",
    ],
)
def test_groups_have_the_types_of_the_original(sales: Asked, sql: str) -> None:
    session, original = sales
    assert session.sql(sql).types[0] == str(original.sql(sql).types[0])


def test_an_estimate_is_as_precise_as_its_bounds(sales: Asked) -> None:
    session, _ = sales
    session.register("rate", duckdb.sql("SELECT 0.1::FLOAT AS f").to_arrow_table())
    sql = "SELECT item, count(*) * (SELECT f FROM rate) AS n FROM sales GROUP BY item"
    rows = session.sql(sql).fetchall()
    assert rows and all(low <= estimate <= high for _, estimate, low, high in rows)


def test_notes_name_items_that_the_analyst_wrote(named: tuple[str, Session]) -> None:
    session = named[1]
    joined = session.sql("SELECT parent, count(*) AS n FROM sales JOIN food ON item = node GROUP BY parent")
    assert not any(note.startswith(("No released item", "'")) for note in joined.notes)
    asked = session.sql("SELECT count(*) AS n FROM sales WHERE item IN (SELECT node FROM food) OR item = 'mlik'")
    (unknown,) = (note for note in asked.notes if note.startswith("No released item"))
    assert unknown.startswith("No released item stands for 'mlik'")
    alike = session.sql("SELECT count(*) AS n FROM sales WHERE item LIKE 'mil%' OR item SIMILAR TO 'mi.*'")
    assert not any("mi" in note for note in alike.notes)


def test_distinct_columns_of_a_joined_table(named: tuple[str, Session]) -> None:
    for select in ("count(DISTINCT parent)", "count(DISTINCT left(parent, 1))"):
        (bounds,) = named[1].sql(f"SELECT {select} AS n FROM sales JOIN food ON item = node").fetchall()
        assert bounds[1:] == {"plain": (0, 3), "supports": (3, 3), "suppressed": (2, 4)}[named[0]]
    asked = "SELECT count(DISTINCT CASE WHEN parent = 'dairy' THEN tid END) AS n FROM sales JOIN food ON item = node"
    same = "SELECT count(DISTINCT tid) AS n FROM sales JOIN food ON item = node WHERE parent = 'dairy'"
    assert named[1].sql(asked).fetchall() == named[1].sql(same).fetchall()
