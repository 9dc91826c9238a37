"""Scripts of an analyst: tables, views, macros and variables of their own, beside the original's tables."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest
from each import each
from session.conftest import Named

import anondb

OWN = """
CREATE TABLE prices2 (item VARCHAR, price DOUBLE, "in stock" INTEGER);
INSERT INTO prices2 VALUES ('milk', 1.25, 3), ('bread', 2.5, 0), ('figs', NULL, 1);
INSERT INTO prices2 (price, item) SELECT 9.5, upper(item) FROM prices2 WHERE price > 2;
UPDATE prices2 SET price = price * 2, "in stock" = 7 WHERE item = 'milk';
UPDATE prices2 SET "in stock" = coalesce("in stock", 0) + 1;
DELETE FROM prices2 WHERE price > 9;
ALTER TABLE prices2 ADD COLUMN note VARCHAR;
ALTER TABLE prices2 RENAME COLUMN price TO cost;
CREATE OR REPLACE TEMP TABLE dear AS SELECT item, cost FROM prices2 WHERE cost > 2 ORDER BY cost LIMIT 5;
CREATE VIEW cheap AS SELECT * FROM prices2 WHERE cost IS NULL OR cost <= 2;
CREATE MACRO twice(x) AS x * 2;
CREATE MACRO at_least(low) AS TABLE SELECT item FROM prices2 WHERE cost >= low;
SET VARIABLE least = 2.5;
INSERT INTO prices2 VALUES ('tea', 1, 1, 'new');
CREATE TABLE stock (item VARCHAR PRIMARY KEY, place VARCHAR DEFAULT 'shop', n INTEGER DEFAULT 1 + 1 CHECK (n > 0));
INSERT INTO stock (item) SELECT item FROM prices2;
INSERT INTO stock BY NAME SELECT 5 AS n, 'oil' AS item;
ALTER TABLE stock RENAME COLUMN n TO number;
ALTER TABLE stock ADD COLUMN shelf INTEGER DEFAULT 9;
INSERT INTO stock (item) VALUES ('salt');
CREATE INDEX by_item ON stock (item);
UPDATE stock s SET number = 10 * p."in stock", place = s.place || '!' FROM prices2 p WHERE p.item = s.item AND p.cost > 2;
DELETE FROM stock USING prices2 p, cheap c WHERE p.item = stock.item AND c.item = p.item AND c.cost IS NULL;
"""
QUERIES = [
    "FROM prices2 ORDER BY item",
    "FROM stock ORDER BY item",
    "FROM dear ORDER BY item",
    "SELECT item, twice(cost) + 1 AS c FROM cheap ORDER BY item",
    "FROM at_least(2) ORDER BY item",
    "SELECT count(*) FROM prices2 WHERE cost >= getvariable('least')",
    "VALUES (1, 'a'), (2, 'b')",
    "TABLE dear",
    "SELECT twice(twice(3))",
    "WITH dear AS (SELECT item FROM dear) SELECT count(*) FROM dear",
    "SELECT (SELECT max(cost) FROM dear) AS m, main.cheap.item FROM main.cheap ORDER BY 2",
    "PREPARE p AS SELECT item FROM prices2 WHERE cost > ? AND item <> ? ORDER BY item; EXECUTE p(1, 'milk')",
    "PREPARE p AS SELECT $a + 1 AS a, $b AS b; EXECUTE p(b := 'x', a := -2)",
    "PREPARE p AS INSERT INTO prices2 VALUES ($1, $2, 0, NULL); EXECUTE p('nuts', 1.5); FROM prices2 ORDER BY item",
    "PREPARE p AS SELECT 1 AS a; PREPARE p AS SELECT ? AS b; EXECUTE p([1, 2])",
    "SET VARIABLE most = (SELECT max(cost) FROM prices2); INSERT INTO prices2 VALUES ('gold', 99, 0, ''); "
    "SELECT getvariable('most') AS most",
    "SET VARIABLE luck = random(); SELECT getvariable('luck') = getvariable('luck') AS same",
    "SET VARIABLE row = {'a': 1, 'b': [2]}; SELECT getvariable('row').b AS b",
    "SELECT COLUMNS('^(item|cost)$') FROM prices2 ORDER BY item",
    "SELECT max(COLUMNS(* EXCLUDE (note))) FROM prices2",
    "SELECT COLUMNS(lambda c: c LIKE 'c%') * 2 AS twice FROM prices2 ORDER BY ALL",
    "SELECT string_agg(item, ',' ORDER BY item), group_concat(item), list(cost), len(item) FROM prices2 GROUP BY item "
    "ORDER BY item",
]


PIVOTS = [
    "PIVOT prices2 ON item USING sum(cost)",
    "PIVOT prices2 ON item IN ('milk', 'tea') USING count(*) AS n GROUP BY note ORDER BY note DESC LIMIT 1",
    "WITH c AS (FROM prices2 WHERE cost > 1), d AS (PIVOT c ON item USING sum(cost)) FROM d",
    "WITH c AS (FROM prices2 WHERE cost > 1) PIVOT c ON item USING sum(cost) ORDER BY ALL",
    "CREATE OR REPLACE TABLE turned AS PIVOT prices2 ON item USING sum(cost); FROM turned",
    "FROM (UNPIVOT prices2 ON item, note INTO NAME k VALUE v ORDER BY v, k LIMIT 3)",
    "PIVOT prices2 ON item IN ('milk', 'tea') USING count(*) AS n, max(note) GROUP BY \"in stock\"",
    "PIVOT (SELECT item, cost > 1 AS dear FROM prices2) ON dear USING count(*) GROUP BY item",
    "FROM (SELECT item, note FROM prices2) PIVOT (count(*) FOR item IN ('milk', 'tea') GROUP BY note)",
    "WITH p AS (PIVOT prices2 ON item USING max(cost) GROUP BY note) SELECT milk + 1 FROM p",
    "UNPIVOT (SELECT item, cost, note FROM prices2) ON cost INTO NAME what VALUE v",
    "UNPIVOT (SELECT 1 AS a, 2 AS b, 3 AS c) ON a, b",
    "((UNPIVOT prices2 ON cost))",
    "CREATE OR REPLACE MACRO turned_once() AS TABLE (UNPIVOT prices2 ON cost); FROM turned_once()",
    "PIVOT (SELECT 1 - cost AS gain, '' AS none, cost FROM prices2) ON gain, none USING max(cost)",
    "PIVOT (SELECT left(item, 0) AS none, cost FROM prices2) ON none USING max(cost)",
    "PIVOT prices2 ON item IN (SELECT item FROM prices2 WHERE item = 'tea') USING count(*) GROUP BY note",
]

CHANGES = [
    "MERGE INTO prices2 AS t USING (VALUES ('milk', 5), ('bread', 0), ('rice', 9), ('oil', 1)) AS s(item, price) "
    "ON t.item = s.item WHEN MATCHED AND s.price = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET price = t.price + s.price "
    "WHEN NOT MATCHED AND s.price > 5 THEN INSERT (item, price) VALUES (s.item, s.price * 2) "
    "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET note = 'gone'; FROM prices2 ORDER BY item",
    "MERGE INTO prices2 USING (SELECT 'milk' AS item, 7 AS price, 1 AS n, 'm' AS note) s USING (item) "
    "WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT; FROM prices2 ORDER BY item",
    "MERGE INTO prices2 USING (SELECT 3 AS price, 'salt' AS item) s ON prices2.item = s.item "
    "WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED THEN INSERT BY NAME; FROM prices2 ORDER BY item",
    "MERGE INTO prices2 AS t USING (VALUES ('milk', 5), ('salt', 0), ('figs', 2)) AS s(item, price) ON t.item = s.item "
    "WHEN MATCHED AND s.price = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET price = t.price + s.price WHEN NOT MATCHED THEN "
    "INSERT (item, price) VALUES (s.item, s.price) RETURNING merge_action, *, lower(merge_action) AS a",
    "MERGE INTO prices2 USING (VALUES ('milk'), ('x')) s(item) USING (item) WHEN MATCHED THEN DELETE",
    "CREATE SEQUENCE numbers START 10 INCREMENT 5; CREATE OR REPLACE TABLE turned (id INTEGER DEFAULT nextval('numbers'), "
    "w VARCHAR UNIQUE); INSERT INTO turned (w) VALUES ('a'), ('b') RETURNING id, w || '!' AS w",
    "INSERT INTO turned (w) VALUES ('c') RETURNING *",
    "SELECT nextval('numbers'), currval('numbers')",
    "INSERT INTO turned VALUES (1, 'a'), (2, 'd') ON CONFLICT (w) DO UPDATE SET id = id + excluded.id WHERE id < 12 "
    "RETURNING id; FROM turned ORDER BY w",
    "INSERT OR IGNORE INTO turned VALUES (5, 'a'), (6, 'e'); FROM turned ORDER BY w",
    "INSERT OR REPLACE INTO turned VALUES (7, 'a'), (8, 'f'); FROM turned ORDER BY w",
    "UPDATE turned AS x SET id = x.id * 10 WHERE x.id > 7 RETURNING id, w",
    "DELETE FROM turned WHERE w < 'd' RETURNING w",
    "CREATE TYPE level AS ENUM ('low', 'high'); CREATE OR REPLACE TABLE dear (l level); INSERT INTO dear VALUES ('high'), "
    "('low'); SELECT l, l > 'low'::level AS above FROM dear ORDER BY l",
    "CREATE TYPE kind AS ENUM (SELECT item FROM prices2 UNION ALL SELECT NULL ORDER BY 1 DESC); "
    "SELECT enum_range(NULL::kind) AS kinds",
    "CREATE TYPE money AS DECIMAL(10, 2); SELECT 1.239::money AS m, typeof([2]::money[]) AS t",
    "DROP TYPE money; DROP SEQUENCE IF EXISTS none; CREATE TYPE money AS INTEGER; SELECT 1.6::money AS m",
    "CREATE SCHEMA work; CREATE TABLE work.one AS SELECT 1 AS a; INSERT INTO work.one VALUES (2); SELECT one.a, work.one.a "
    "AS b FROM work.one ORDER BY 1",
    "DROP SCHEMA work CASCADE; DROP TYPE money; SELECT column_name, max, null_percentage FROM (SUMMARIZE prices2) "
    "ORDER BY column_name",
    "SELECT count(p), count(DISTINCT p), count(p) FILTER (WHERE price > 1) FROM prices2 p",
    "SELECT p.*, count(*) FROM prices2 p JOIN turned t ON p.item > t.w GROUP BY 1, 2, 3, 4 ORDER BY ALL",
    "SELECT *, count(*) FROM prices2 p CROSS JOIN dear d GROUP BY ALL ORDER BY ALL",
    "CREATE MACRO above(x) AS TABLE SELECT item FROM prices2 WHERE price > x; "
    "SELECT count(*) FROM above(0) JOIN above(1) USING (item)",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "queries"),
    [
        (OWN, QUERIES),
        (OWN.split("CREATE OR REPLACE")[0], PIVOTS),
        (OWN.split("ALTER TABLE prices2 RENAME")[0], CHANGES),
    ],
    ids=["queries", "pivots", "changes"],
)
def test_own_tables_are_what_duckdb_makes_of_them(named: Named, script: str, queries: list[str]) -> None:
    """The queries come one after the other, also those that change tables."""
    _, session = named
    with duckdb.connect(":memory:") as raw:
        raw.execute(script)
        session.sql(script)
        for sql in queries:
            expected, result = raw.sql(sql), session.sql(sql)
            assert result.columns == expected.columns, sql
            rows = [result.fetchall(), expected.fetchall()]
            ordered = "ORDER BY" in sql
            assert rows[0] == rows[1] or (not ordered and sorted(rows[0], key=str) == sorted(rows[1], key=str)), sql
    for name in ("prices2", "dear", "cheap", "turned", "stock"):
        session.sql(f"DROP TABLE IF EXISTS {name}")
    session.sql("DROP TYPE IF EXISTS level; DROP TYPE IF EXISTS kind; DROP SEQUENCE IF EXISTS numbers")
    session.sql("DROP MACRO IF EXISTS twice; DROP MACRO IF EXISTS at_least; DROP MACRO IF EXISTS above")
    assert not {"prices2", "dear", "cheap"} & session.tables.keys()


def test_a_pivot_has_the_bounds_of_each_item(named: Named) -> None:
    _, session = named
    pivot = session.sql("PIVOT (SELECT item FROM sales) ON item IN ('milk', 'bread') USING count(*)").df()
    single = session.sql("SELECT count(*) AS milk FROM sales WHERE item = 'milk'").df()
    assert pivot[single.columns].equals(single)


def test_a_pivot_of_a_view_has_its_columns_in_order(named: Named) -> None:
    _, session = named
    session.sql("CREATE VIEW held AS SELECT * FROM sales")
    columns = session.sql(
        "PIVOT (SELECT held.item, cheap FROM held JOIN prices USING (item)) ON cheap USING count(*)"
    ).columns
    session.sql("DROP VIEW held")
    assert [name for name in columns if name in ("false", "true")] == ["false", "true"]


def test_two_expressions_with_columns_stand_for_all_columns(named: Named) -> None:
    _, session = named
    counted = "(SELECT item, count(*) AS n FROM sales GROUP BY item)"
    short = session.sql(f"SELECT min(COLUMNS(*)), max(COLUMNS(*)) FROM {counted}")
    long = session.sql(f"SELECT min(item), min(n), max(item), max(n) FROM {counted}")
    assert short.fetchall() == long.fetchall()


SAME = {
    "CREATE TEMP TABLE t AS SELECT item, count(*) AS n FROM sales GROUP BY item; SELECT * FROM t WHERE item = 'milk'": (
        "SELECT item, count(*) AS n FROM sales WHERE item = 'milk' GROUP BY item"
    ),
    "CREATE TEMP VIEW t AS SELECT DISTINCT tid FROM sales WHERE item = 'milk'; SELECT count(*) AS n FROM t": (
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'"
    ),
    "CREATE TABLE t(p) AS SELECT DISTINCT tid FROM sales WHERE item = 'milk';"
    "SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'bread' AND tid IN (SELECT p FROM t)": (
        "SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') AND "
        "bool_or(item = 'bread'))"
    ),
    "CREATE VIEW a AS FROM sales WHERE item LIKE 'b%'; CREATE VIEW t AS FROM a WHERE item <> 'bread';"
    "SELECT count(*) AS n FROM t": "SELECT count(*) AS n FROM sales WHERE item LIKE 'b%' AND item <> 'bread'",
    "CREATE MACRO with_item(x) AS TABLE SELECT DISTINCT tid FROM sales WHERE item = x;"
    "SELECT count(*) AS n FROM with_item('milk')": "SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'",
    "SET VARIABLE wanted = 'milk'; SELECT count(*) AS n FROM sales WHERE item = getvariable('wanted')": (
        "SELECT count(*) AS n FROM sales WHERE item = 'milk'"
    ),
    "SET VARIABLE every = (SELECT count(*) FROM sales); SELECT count(*) + getvariable('every') AS n FROM sales "
    "WHERE item = 'milk'": "SELECT count(*) + (SELECT count(*) FROM sales) AS n FROM sales WHERE item = 'milk'",
    "PREPARE t AS SELECT count(*) AS n FROM sales WHERE item = ?; EXECUTE t('milk')": (
        "SELECT count(*) AS n FROM sales WHERE item = 'milk'"
    ),
    "SELECT max(COLUMNS('n')) FROM (SELECT count(*) AS n FROM sales)": "SELECT count(*) AS n FROM sales",
    "WITH c AS (SELECT item FROM sales WHERE item LIKE 'm%'), d AS (PIVOT c ON item IN ('milk') USING count(*) "
    "ORDER BY milk) SELECT milk AS n FROM d": "SELECT count(*) AS n FROM sales WHERE item = 'milk'",
    "CREATE TABLE t AS SELECT item, count(*) AS n, 1 AS x FROM sales GROUP BY item; ALTER TABLE t DROP COLUMN x;"
    "UPDATE t SET n = 2 * n WHERE item = 'milk'; SELECT n FROM t WHERE item = 'milk'": (
        "SELECT 2 * count(*) AS n FROM sales WHERE item = 'milk'"
    ),
    "CREATE TABLE a AS SELECT 'milk' AS w; CREATE TABLE t AS SELECT count(*) AS n FROM sales WHERE item IN (FROM a); "
    "SET VARIABLE before = (SELECT count(*) FROM sales WHERE item IN (FROM a)); INSERT INTO a VALUES ('bread'); "
    "DROP TABLE a; SELECT (n + getvariable('before')) / 2 AS n FROM t": (
        "SELECT count(*) AS n FROM sales WHERE item = 'milk'"
    ),
    "CREATE TABLE t AS SELECT item, count(*) AS n FROM sales GROUP BY item; DELETE FROM t WHERE item <> 'milk';"
    "SELECT n FROM t": "SELECT count(*) AS n FROM sales WHERE item = 'milk'",
}


@pytest.mark.slow
@each("script", SAME)
def test_bounds_and_estimates_see_through_names(named: Named, script: str) -> None:
    _, session = named
    one, two = session.sql(script).df(), session.sql(SAME[script]).df()
    shared = [column for column in two.columns if column != "certain"]
    pd.testing.assert_frame_equal(one[shared], two[shared], check_dtype=False)
    assert one["n_lower"].notna().all() and (one["n_upper"].notna().all() or named[0] == "suppressed")
    for name in ("t", "a"):
        session.sql(f"DROP TABLE IF EXISTS {name}; DROP MACRO IF EXISTS with_item")


@pytest.mark.slow
@each(
    "script, words",
    [
        ("INSERT INTO sales VALUES (1, 'x')", "the original's tables"),
        ("DELETE FROM main.sales", "the original's tables"),
        ("UPDATE baskets SET items = []", "the original's tables"),
        ("DROP TABLE sales", "the original's tables"),
        ("CREATE OR REPLACE TABLE item_counts AS SELECT 1 AS a", "the original's tables"),
        ("CREATE TABLE other.t AS SELECT 1", "another schema"),
        ("CREATE TABLE t (a INTEGER, b INTEGER GENERATED ALWAYS AS (a))", "a computed column"),
        ("CREATE SCHEMA main", "a schema of this name"),
        ("CREATE SCHEMA w; CREATE TABLE w.t AS SELECT 1 AS a; DROP SCHEMA w", "has tables"),
        ("CREATE TYPE e AS ENUM (SELECT tid FROM sales)", "an id"),
        ("CREATE TYPE e AS ENUM (SELECT item, 1 FROM sales)", "one column"),
        ("CREATE ROLE r", "CREATE"),
        ("SELECT nextval('none')", "does not accept"),
        ("CREATE SEQUENCE q; SELECT count(*) FROM sales WHERE tid = nextval('q')", "an id"),
        (
            "CREATE TABLE t (a INTEGER DEFAULT getenv('HOME')); INSERT INTO t VALUES (1) RETURNING a, getenv('HOME')",
            "accept",
        ),
        ("MERGE INTO sales USING (SELECT 17 AS tid) s USING (tid) WHEN MATCHED THEN DELETE", "the original's tables"),
        (
            "CREATE OR REPLACE TABLE t AS SELECT tid FROM sales; "
            "MERGE INTO t USING (SELECT 17 AS p) s ON t.tid = s.p WHEN MATCHED THEN DELETE",
            "an id",
        ),
        (
            "CREATE OR REPLACE TABLE t AS SELECT tid FROM sales; "
            "MERGE INTO t USING (SELECT 17 AS tid) s USING (tid) WHEN NOT MATCHED THEN INSERT",
            "an id",
        ),
        (
            "CREATE OR REPLACE TABLE t AS SELECT tid FROM sales; INSERT INTO t SELECT tid FROM sales RETURNING tid + 1",
            "an id",
        ),
        ("CREATE OR REPLACE TABLE t AS SELECT tid FROM sales; DELETE FROM t RETURNING tid = 17", "an id"),
        (
            "CREATE OR REPLACE TABLE t AS SELECT tid FROM sales; "
            "INSERT INTO t VALUES (17) ON CONFLICT (tid) DO UPDATE SET tid = excluded.tid",
            "an id",
        ),
        ("CREATE OR REPLACE TABLE t AS SELECT 1 AS a; INSERT OR REPLACE INTO t VALUES (2)", "no key"),
        ("SELECT max(s) FROM sales s", "a whole row"),
        ("SELECT count(s = s) FROM sales s", "a whole row"),
        ("SUMMARIZE SELECT tid + 1 AS p FROM sales", "an id"),
        ("SELECT count(*) FROM sales WHERE tid IN (SELECT approx_unique FROM (SUMMARIZE sales))", "IN with an id"),
        ("COPY sales TO 'x.csv'", "COPY"),
        ("ATTACH 'x.db'", "ATTACH"),
        ("EXPORT DATABASE 'x'", "EXPORT"),
        ("INSTALL httpfs", "INSTALL"),
        ("LOAD httpfs", "LOAD"),
        ("CALL pragma_version()", "CALL"),
        ("SET enable_external_access = true", "SET of this setting"),
        ("SET lock_configuration = false", "SET of this setting"),
        ("PRAGMA enable_profiling", "this PRAGMA"),
        ("CREATE TABLE t AS SELECT * FROM read_csv('x.csv')", "does not accept"),
        ("CREATE TABLE t AS SELECT * FROM duckdb_settings()", "duckdb_settings"),
        ("CREATE VIEW t AS SELECT * FROM sales WHERE tid = 17", "an id"),
        ("CREATE TABLE t AS SELECT tid + 1 AS p FROM sales", "an id"),
        ("CREATE TABLE t AS SELECT tid FROM sales; INSERT INTO t VALUES (17)", "an id"),
        ("CREATE TABLE t AS SELECT tid FROM sales; UPDATE t SET tid = 17 WHERE true", "an id"),
        ("CREATE MACRO m(x) AS x = 17; SELECT count(*) FROM sales WHERE m(tid)", "id"),
        ("CREATE TABLE t AS SELECT 17 AS p; SELECT count(*) FROM sales WHERE tid IN (FROM t)", "id"),
        ("SET VARIABLE p = 17; SELECT count(*) FROM sales WHERE tid = getvariable('p')", "id"),
        ("CREATE VIEW t AS FROM sales; DELETE FROM t", "a view"),
        ("CREATE TABLE t AS SELECT 1; CREATE TABLE t AS SELECT 2", "OR REPLACE"),
        ("CREATE TABLE t AS SELECT 'MILK' COLLATE NOCASE AS a", "COLLATE"),
        ("PREPARE p AS COPY sales TO 'x.csv'", "COPY"),
        ("EXECUTE never(1)", "no prepared"),
        ("PREPARE p AS SELECT ?; EXECUTE p", "has no value"),
        ("PREPARE p AS SELECT ?; EXECUTE p(1, 2)", "no parameter"),
        ("PREPARE p AS SELECT ?; EXECUTE p((SELECT 1))", "constants"),
        ("PREPARE p AS SELECT ?; DEALLOCATE p; EXECUTE p(1)", "no prepared"),
        ("PREPARE p AS SELECT ?; DEALLOCATE ALL; EXECUTE p(1)", "no prepared"),
        ("PREPARE p AS EXECUTE p", "PREPARE that does not hold exactly one"),
        ("SELECT * FROM count_bounds([getenv('HOME')])", "constants"),
        ("SELECT * FROM count_bounds((SELECT ['milk']))", "constants"),
        ("INSERT INTO t VALUES (1)", "no table"),
        ("CREATE TABLE t AS SELECT 1 AS a; INSERT INTO t (a, a) VALUES (1, 2)", "other columns"),
        ("CREATE MACRO abs(x) AS 1", "a function of this name"),
        ("CREATE MACRO m(x) AS x + x; SELECT " + "m(" * 30 + "1" + ")" * 30, "nested too deeply"),
        ("CREATE MACRO m(x) AS m(x); SELECT m(1)", "nested too deeply"),
        ("CREATE MACRO m(x) AS x; CREATE MACRO m(x) AS 1", "a macro of this name"),
        ("PIVOT sales ON tid USING count(*)", "the operator = of an id"),
        ("PIVOT sales ON tid IN (17) USING count(*)", "id"),
        ("UNPIVOT sales ON tid, item", "an id"),
        ("CREATE TABLE t AS SELECT 1 AS a; INSERT INTO t VALUES (1, 2)", "other columns"),
    ],
)
def test_refused(named: Named, script: str, words: str) -> None:
    _, session = named
    before = session.sql("SELECT count(*) FROM sales").fetchall() if "original" in words else None
    with pytest.raises(anondb.InputError) as error:
        session.sql(script)
    assert words in str(error.value), str(error.value)
    session.sql("SET VARIABLE v = 1; DROP TABLE IF EXISTS u; DROP VIEW IF EXISTS t; DROP MACRO IF EXISTS m")
    session.sql("DROP SCHEMA IF EXISTS w CASCADE; DROP SEQUENCE IF EXISTS q")
    assert before is None or session.sql("SELECT count(*) FROM sales").fetchall() == before


@pytest.mark.slow
def test_names_may_not_grow_without_end(shop: Path) -> None:
    with anondb.open(shop / "plain.duckdb") as session:
        session.sql("CREATE TABLE t0 AS SELECT count(*) AS n FROM sales")
        with pytest.raises(anondb.InputError) as error:
            for n in range(1_000):
                session.sql(f"CREATE TABLE t{n + 1} AS SELECT a.n + b.n AS n FROM t{n} a, t{n} b")
        assert error.value.code == "query_too_complex"


def test_parameters_go_with_one_statement(named: Named) -> None:
    _, session = named
    session.sql("CREATE TABLE mine (item VARCHAR, n INTEGER)")
    assert session.sql("INSERT INTO mine VALUES (?, ?)", ["milk", 3]).fetchall() == [(1,)]
    assert session.sql("FROM mine").fetchall() == [("milk", 3)]
    with pytest.raises(anondb.InputError) as error:
        session.sql("SELECT 1; SELECT ?", [3])
    assert error.value.code == "bad_parameter"
    session.sql("DROP TABLE mine")


def test_settings_and_transactions_change_nothing(named: Named) -> None:
    _, session = named
    for sql in ("SET threads = 1", "RESET threads", "USE main"):
        assert session.sql(sql).notes == [
            "The settings of a session are fixed when it is opened: SET, RESET and USE change nothing."
        ]
    assert session.sql("BEGIN; SELECT 1; COMMIT").fetchall() == []


OWN_PARTS = {  # a query with parts that read no table of the original, and one that means the same
    "WITH RECURSIVE x AS (SELECT 'milk' AS i UNION ALL SELECT i || 'y' FROM x WHERE length(i) < 5) "
    "SELECT count(*) AS n FROM sales JOIN x ON item = i": (
        "SELECT count(*) AS n FROM sales JOIN (VALUES ('milk'), ('milky')) AS x(i) ON item = i"
    ),
    "WITH a AS (SELECT item, price FROM prices), b(i) AS (SELECT item FROM a WHERE price > 2) "
    "SELECT count(*) AS n FROM b JOIN sales s ON s.item = b.i": ("SELECT count(*) AS n FROM sales WHERE item IN ('bread')"),
    "WITH unread AS (SELECT item::INTEGER AS i FROM prices) SELECT count(*) AS n FROM sales WHERE item = 'milk'": (
        "SELECT count(*) AS n FROM sales WHERE item = 'milk'"
    ),
}


@pytest.mark.slow
@each("sql", OWN_PARTS)
def test_parts_of_own_tables_are_what_they_stand_for(named: Named, sql: str) -> None:
    assert named[1].sql(sql).fetchall() == named[1].sql(OWN_PARTS[sql]).fetchall()


def test_a_name_within_a_part_hides_no_table_of_the_original(named: Named) -> None:
    inner = "WITH RECURSIVE sales AS (SELECT 1 AS tid, 'milk' AS item UNION ALL SELECT tid + 1, item FROM sales"
    inner += " WHERE tid < 3)"
    sql = f"SELECT count(*) AS n FROM sales s, ({inner} SELECT max(tid) AS m FROM sales) t WHERE s.item = 'milk'"
    expected = named[1].sql("SELECT count(*) AS n FROM sales WHERE item = 'milk'").fetchall()[0]
    assert named[1].sql(sql).fetchall() == [expected]


def test_a_part_may_name_the_columns_of_the_rows_beside_it(named: Named) -> None:
    sql = "SELECT p.item, q.x, count(*) AS n FROM prices p JOIN sales s USING (item), (SELECT p.price * 2 AS x) q"
    sql += " GROUP BY ALL"
    listed = {row[0]: row[1] for row in named[1].sql(sql).fetchall()}
    assert listed["milk"] == 3


def test_ids_of_persons_are_inserted_beside_others(named: Named) -> None:
    _, session = named
    session.sql(
        "CREATE OR REPLACE TEMP TABLE held AS SELECT tid, item FROM sales WHERE item = 'milk';"
        "INSERT INTO held (item, tid) SELECT item, tid FROM sales WHERE item = 'bread'"
    )
    asked = "SELECT item, count(*) AS n, count(DISTINCT tid) AS m FROM {} GROUP BY item ORDER BY item"
    expected = session.sql(asked.format("sales WHERE item IN ('milk', 'bread')"))
    assert session.sql(asked.format("held")).fetchall() == expected.fetchall()
    with pytest.raises(anondb.InputError, match="of an id and a value that is not an id"):
        session.sql("INSERT INTO held VALUES (17, 'milk')")


@each(
    "script, query",
    [
        ("CREATE TABLE k (i VARCHAR, n BIGINT); INSERT INTO k SELECT item, count(*) FROM sales GROUP BY item", "FROM k"),
        (
            "CREATE TABLE k (i VARCHAR, n BIGINT); INSERT INTO k VALUES ('all', 1); INSERT INTO k VALUES ('milk', "
            "(SELECT count(*) FROM sales WHERE item = 'milk')); UPDATE k SET n = n + (SELECT count(*) FROM sales)",
            "SELECT i, n FROM k",
        ),
        (
            "CREATE TABLE k AS SELECT * FROM sales; UPDATE k SET item = upper(item)",
            "SELECT item, count(*) FROM k GROUP BY 1",
        ),
    ],
)
def test_rows_of_the_original_in_tables_made_by_types(shop: Path, script: str, query: str) -> None:
    with anondb.open(shop / "supports.duckdb") as session, duckdb.connect() as con:
        con.execute(f"ATTACH '{shop / 'shop.duckdb'}' (READ_ONLY); CREATE VIEW sales AS FROM shop.sales")
        session.sql(script)
        con.execute(script)
        told = {row[0]: row[1:4] for row in session.sql(query).fetchall()}
        truth = dict(con.execute(query).fetchall())
        assert told.keys() == truth.keys() and set(session.tables) == {"baskets", "sales", "k"}
        assert all(low <= truth[key] <= high for key, (_, low, high) in told.items())


def test_a_default_is_forgotten_with_its_table(plain: anondb.Session) -> None:
    plain.sql("CREATE TABLE d (a INTEGER, b INTEGER DEFAULT 7); INSERT INTO d (a) VALUES (1)")
    assert plain.sql("FROM d").fetchall() == [(1, 7)]
    plain.register("d", pd.DataFrame({"a": [1], "b": [2]}))
    assert plain.sql("INSERT INTO d (a) VALUES (3); FROM d ORDER BY a").fetchall() == [(1, 2), (3, None)]
    plain.sql("DROP TABLE d; CREATE TABLE d (a INTEGER, b INTEGER); INSERT INTO d (a) VALUES (4)")
    assert plain.sql("FROM d; DROP TABLE d; SELECT 1").fetchall() == [(1,)]
