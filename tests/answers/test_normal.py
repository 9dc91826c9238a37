"""The normal form of a query has its result in DuckDB, on every original: rules and worlds read it in place of the query."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest
import sqlglot
from answers.groups import groups, same_rows
from answers.shop import Shop
from answers.test_spellings import small
from portions import portions
from sqlglot import exp

from anondb.answers.normal import normal
from anondb.answers.ranged.originals import Originals

TABLES = {
    "sales": {"tid": True, "item": False},
    "customers": {"tid": True, "age": False, "sex": False, "town": False, "since": False},
}
OWN = {"food": ["node", "parent"], "prices": ["item", "price"]}
UNSTABLE = ("any_value", "arg_max", "arg_min", "first(", "mode(", "limit", "string_agg", "list(")
"""What may give any of several rows or orders."""


@functools.cache
def aggregates() -> set[str]:
    with duckdb.connect() as con:
        listed = con.execute("SELECT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'")
        return {name for (name,) in listed.fetchall()}


class Analyst:
    """The analyst's tables, in the database of the original."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con

    def rows(self, tree: exp.Query) -> list[tuple[Any, ...]]:
        return self._con.execute(tree.sql("duckdb")).fetchall()

    def is_aggregate(self, name: str) -> bool:
        return name.lower() in aggregates()


def originals(shop: Shop, seeds: range) -> Iterator[tuple[duckdb.DuckDBPyConnection, set[str]]]:
    """Small originals, and the columns of each that may be NULL: also with customers who bought nothing, and NULLs."""
    with duckdb.connect(str(shop.original), read_only=True) as con:
        own = {name: con.table(name).fetchall() for name in OWN}
    for seed in seeds:
        rnd = random.Random(seed)
        with small(rnd, [item for item, _ in own["prices"]]) as con:
            for name, columns in (("food", "node VARCHAR, parent VARCHAR"), ("prices", "item VARCHAR, price INTEGER")):
                con.execute(f"CREATE TABLE {name} ({columns})")
                con.executemany(f"INSERT INTO {name} VALUES (?, ?)", own[name])
            con.execute("INSERT INTO customers FROM (VALUES (901, 44, 'male', 'Cork', DATE '2026-04-02'))")
            con.execute("INSERT INTO customers SELECT 902, 71, 'female', 'Oslo', DATE '2026-05-02'")
            if seed % 2:
                con.execute("UPDATE customers SET town = NULL WHERE tid % 3 = 0")
                con.execute("UPDATE customers SET age = NULL WHERE tid % 4 = 0")
            yield con, {"town", "age"} if seed % 2 else set()


def check(con: duckdb.DuckDBPyConnection, nullable: set[str], sql: str) -> bool:
    """Compare the result of a query with that of its normal form; returns whether this is another query."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    made = normal(tree, Originals(TABLES, OWN, "sales", "item", True, nullable, Analyst(con)))
    if made == tree:
        return False
    wanted, rows = con.execute(sql).fetchall(), con.execute(made.sql("duckdb")).fetchall()
    assert same_rows(wanted, rows), f"{sql}\n{made.sql('duckdb')}\n{wanted}\n{rows}"
    return True


@pytest.mark.parametrize("seeds", portions(1, 2, 40))
def test_equal_queries_keep_their_results(shop: Shop, seeds: range) -> None:
    stable = [sql for group in groups() for sql in group.spellings if not any(word in sql.lower() for word in UNSTABLE)]
    assert sum(check(con, nullable, sql) for con, nullable in originals(shop, seeds) for sql in stable) > 100


RECORDS = "customers c LEFT JOIN sales s ON s.tid = c.tid LEFT JOIN prices p ON p.item = s.item"
BY_TOWN = "WITH g AS (SELECT town, sex, count(*) AS n FROM customers GROUP BY town, sex)"
BY_ITEM = "WITH g AS (SELECT item, count(*) AS n FROM sales GROUP BY item)"
SPENT = "SELECT s.tid, sum(p.price) AS euros, count(*) AS n FROM sales s JOIN prices p ON p.item = s.item GROUP BY s.tid"
WRITTEN = [
    f"SELECT c.tid, c.town, sum(p.price) AS x, count(s.item) AS n, max(p.price) AS m FROM {RECORDS} GROUP BY c.tid, c.town",
    f"SELECT c.tid, sum(CASE WHEN p.price IS NULL THEN 1 ELSE 2 END) AS x FROM {RECORDS} GROUP BY c.tid HAVING "
    "count(s.tid) < 3",
    f"SELECT c.tid FROM {RECORDS} WHERE c.age > 30 GROUP BY c.tid HAVING count(s.tid) > 1",
    f"SELECT c.sex, coalesce(sum(p.price), 0) / count(DISTINCT c.tid) AS x FROM {RECORDS} GROUP BY c.sex",
    f"SELECT c.sex, sum(coalesce(p.price, 1)) / count(DISTINCT c.tid) AS x FROM {RECORDS} GROUP BY c.sex",
    f"SELECT count(CASE WHEN s.item IS NULL THEN 1 END) / count(DISTINCT c.tid) AS x FROM {RECORDS}",
    f"SELECT c.town, avg(coalesce(v.euros, 0)) AS x, sum(v.n) AS y FROM customers c LEFT JOIN ({SPENT}) v ON v.tid = "
    "c.tid GROUP BY 1",
    f"SELECT c.tid, v.n, v.tid AS k FROM customers c LEFT JOIN ({SPENT}) v ON v.tid = c.tid",
    f"SELECT tid, coalesce(n, 0) AS n, euros FROM customers LEFT JOIN ({SPENT}) v USING (tid)",
    "WITH c AS (SELECT age // 20 AS b, town FROM customers), t AS (SELECT b, count(*) AS total FROM c GROUP BY b) "
    "SELECT c.b, c.town, count(*) / t.total AS x FROM c JOIN t ON t.b = c.b GROUP BY c.b, c.town, t.total",
    "SELECT c.town, c.sex, count(*) / t.n AS x FROM customers c JOIN (SELECT town, count(*) AS n FROM customers "
    "c GROUP BY town) t "
    "ON t.town = c.town GROUP BY c.town, c.sex, t.n",
    f"{BY_TOWN} SELECT town, sex, n / (SELECT sum(o.n) FROM g o WHERE o.town = g.town) AS x FROM g",
    f"{BY_TOWN}, t AS (SELECT sum(n) AS total FROM g) SELECT town, n / total AS x FROM g, t",
    f"{BY_TOWN} SELECT town, sex, n FROM g ORDER BY (SELECT max(n) FROM g), town, sex",
    f"{BY_ITEM} SELECT x.item, sum(y.n) / (SELECT count(*) FROM sales) AS c FROM g x JOIN g y ON y.item <= x.item "
    "GROUP BY x.item",
    f"{BY_ITEM} SELECT item, (SELECT sum(o.n) FROM g o WHERE o.item <= g.item) AS c FROM g",
    "SELECT DISTINCT town, count(*) OVER (ORDER BY town) AS n, max(age) OVER (PARTITION BY sex ORDER BY town) AS m, "
    "sex FROM customers",
    "SELECT DISTINCT age // 20 AS b, count(*) OVER (PARTITION BY age // 20) / count(*) OVER () AS x FROM customers",
    "SELECT a, b, count(*) AS n FROM (SELECT DISTINCT s.tid, left(s.item, 1) AS a, length(s.item) AS b FROM sales s) "
    "GROUP BY a, b",
    "SELECT t, (SELECT count(*) FROM customers WHERE age >= t) AS n FROM unnest([20, 50, 70]) u(t)",
    "WITH u AS (SELECT unnest([20, -50]) AS t) SELECT t, count(c.tid) AS n FROM u LEFT JOIN customers c ON c.age > t "
    "GROUP BY t",
    f"{BY_ITEM} SELECT i.item, l.n FROM (SELECT DISTINCT item FROM sales) i, LATERAL (SELECT g.n, g.item FROM g "
    "WHERE g.item = i.item "
    "ORDER BY g.n LIMIT 1) l",
    "SELECT (SELECT count(*) FROM customers WHERE age > 40 AND sex = 'male') / nullif((SELECT count(*) FROM "
    "customers WHERE age > 40), 0) "
    "- (SELECT count(*) FROM sales JOIN customers USING (tid) WHERE sex = 'male') / nullif((SELECT count(*) FROM "
    "customers), 0) AS x",
    "SELECT count(*) / (SELECT count(*) FROM customers) AS x FROM sales",
    "SELECT k, count(*) AS n FROM (SELECT tid, 'x' AS k FROM sales UNION SELECT tid, 'y' FROM sales UNION SELECT 1, 'z') "
    "GROUP BY k",
    "SELECT k, count(*) AS n FROM (SELECT tid, 'x' AS k FROM sales UNION SELECT tid, 'y' FROM sales UNION SELECT 1, 'x') "
    "GROUP BY k",
    "SELECT c.tid FROM customers c ANTI JOIN (SELECT tid FROM sales WHERE item = 'milk') s ON s.tid = c.tid",
    "SELECT x.b, count(*) AS n FROM (SELECT age // 20 AS b, tid FROM customers WHERE sex = 'male') x JOIN sales "
    "USING (tid) GROUP BY x.b",
]

TOWNS = "SELECT town, count(*) AS n FROM customers GROUP BY town"
ODD = [
    "SELECT DISTINCT item FROM (SELECT item, count(*) AS a, sum(1) AS b FROM sales GROUP BY item) UNPIVOT (v FOR k "
    "IN (a, b)) ORDER BY 1",
    "SELECT * FROM (SELECT tid, item FROM sales) PIVOT (count(*) FOR item IN ('milk', 'bread')) ORDER BY ALL",
    "SELECT * FROM (SELECT tid, item FROM sales) TABLESAMPLE reservoir(0 ROWS)",
    "SELECT count(*) FROM (SELECT DISTINCT tid, item FROM sales) s TABLESAMPLE reservoir(3 ROWS)",
    "WITH c AS (SELECT tid, item FROM sales) SELECT count(*) FROM c TABLESAMPLE reservoir(2 ROWS)",
    "WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT count(*) FROM (SELECT DISTINCT item "
    "FROM c) TABLESAMPLE reservoir(2 ROWS)",
    "SELECT count(*) FROM (SELECT tid FROM sales WHERE length(item) = 5 UNION ALL SELECT tid FROM sales WHERE "
    "length(item) = 6)",
    "SELECT count(*) FROM (SELECT tid FROM customers WHERE age = 30 UNION ALL SELECT tid FROM customers WHERE age = 030)",
    "SELECT count(*) FROM (SELECT tid FROM customers WHERE age IN (30, 31) UNION ALL SELECT tid FROM customers "
    "WHERE age = 32)",
    "SELECT c.tid, u.k FROM (SELECT tid, [1, 2] AS l FROM customers) c, unnest(c.l) u(k) WHERE u.k = c.tid ORDER BY ALL",
    "SELECT q.n FROM customers c, (WITH k AS (SELECT tid FROM sales WHERE age > 30) SELECT count(*) AS n FROM k) q "
    "ORDER BY 1",
    "SELECT q.n FROM (WITH k AS (SELECT tid FROM sales) SELECT count(*) AS n FROM k) q, (WITH m AS (SELECT tid "
    "FROM sales WHERE tid > n) SELECT count(*) AS o FROM m) r",
    "SELECT DISTINCT n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) ORDER BY n DESC",
    "SELECT DISTINCT length(item) AS l, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) WHERE n > 1 "
    "ORDER BY l, n LIMIT 3",
    "SELECT DISTINCT n, rank() OVER (ORDER BY n) AS r FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) "
    "ORDER BY ALL",
    "SELECT DISTINCT n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) QUALIFY row_number() OVER (ORDER "
    "BY n, item) <= 4 ORDER BY n",
    "SELECT DISTINCT max(n) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) GROUP BY item ORDER BY m",
    "SELECT DISTINCT ON (n) n, item FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) ORDER BY n, item",
    "SELECT count(DISTINCT n) AS d FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)",
    "SELECT * EXCLUDE (town) FROM (SELECT town, count(*) AS n FROM customers GROUP BY town)",
    "SELECT * REPLACE (n + 1 AS n) FROM (SELECT town, count(*) AS n FROM customers GROUP BY town) g",
    "SELECT max(k) FROM (SELECT tid, [age, tid] AS l FROM customers) c, unnest(l) u(k)",
    "SELECT max(z.y) FROM (SELECT tid, age + 1 AS y FROM customers) c, LATERAL (SELECT c.y + 1 AS y) z",
    "WITH a AS (SELECT -tid AS tid, item FROM sales) SELECT * FROM a ORDER BY tid + 0, item LIMIT 3",
    "WITH a AS (SELECT item, count(*) AS tid FROM sales GROUP BY item, tid) SELECT * FROM a ORDER BY -tid, item LIMIT 3",
    "WITH a AS (SELECT length(item) AS item, count(*) AS n FROM sales GROUP BY 1) SELECT * FROM a ORDER BY item LIMIT 3",
    "SELECT count(*) FROM sales WHERE item = 'nothing' GROUP BY () HAVING count(*) >= 1",
    "SELECT count(*) AS n FROM sales WHERE item = 'nothing' GROUP BY ALL HAVING count(*) >= 1",
    "SELECT sum(1) AS n FROM sales WHERE item = 'nothing' GROUP BY ALL",
    "SELECT sum(1) AS n FROM sales WHERE item = 'nothing' GROUP BY ()",
    "SELECT sum(1) AS n, item FROM sales GROUP BY ROLLUP (item)",
    "SELECT q.n FROM customers c, LATERAL (SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE sales.tid = "
    "c.tid) k) q ORDER BY 1",
    "SELECT * FROM (WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT n FROM t) AS q",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT * FROM t",
    "WITH a AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT * FROM a ORDER BY a.n DESC, item",
    "WITH a AS (SELECT item, count(*) AS item2 FROM sales GROUP BY item) SELECT * FROM a AS b(x, y)",
    "SELECT * FROM (SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC, item LIMIT 3) q ORDER BY item",
    "SELECT count(DISTINCT sales) FROM (SELECT item FROM sales) AS sales",
    "SELECT count(DISTINCT s) FROM (SELECT item, tid FROM sales) AS s",
    "SELECT s FROM (SELECT tid, item FROM sales) AS s ORDER BY ALL",
    "SELECT tid, item FROM (SELECT DISTINCT tid, item FROM sales) AS s NATURAL JOIN (SELECT tid FROM customers) c "
    "ORDER BY ALL",
    "SELECT count(*) FROM (SELECT tid FROM customers) c NATURAL JOIN (SELECT tid, age FROM customers) d",
    "SELECT max(age) FROM (SELECT tid FROM customers) c, customers",
    "SELECT (SELECT count(*) FROM sales WHERE age > 30) AS a FROM (SELECT DISTINCT tid, age FROM customers) c ORDER BY 1",
    "SELECT count(*) FROM (SELECT tid, item FROM sales GROUP BY ROLLUP (tid, item) HAVING count(*) >= 1)",
    "SELECT item, count(*) FROM sales GROUP BY CUBE (item) HAVING count(*) >= 1",
    "SELECT count(CASE WHEN age > 30 THEN NULL END) FROM customers",
    "SELECT count(CASE WHEN age > 30 THEN 1 END) FILTER (WHERE town = 'Cork') FROM customers",
    "SELECT NOT NOT age FROM customers ORDER BY 1",
    "SELECT count(*) FROM customers WHERE NOT (NOT (age))",
    "SELECT count(*) FROM customers WHERE NOT NOT (age > 30 OR age IS NULL) OR sex = 'male'",
    "SELECT c.town, count(*) FROM customers c, sales s RIGHT JOIN prices p ON p.item = s.item WHERE c.tid = s.tid "
    "GROUP BY 1",
    "SELECT count(*) FROM customers c, sales s FULL JOIN prices p ON p.item = s.item WHERE c.tid = s.tid",
    "SELECT count(*) FROM sales s, LATERAL (SELECT x.tid FROM customers x WHERE x.tid = s.tid) c WHERE c.tid = s.tid",
    "SELECT count(*) FROM sales s POSITIONAL JOIN customers c, prices p WHERE p.item = s.item",
    "SELECT DISTINCT town, unnest([1, 1]) AS x FROM (SELECT town FROM customers GROUP BY town) ORDER BY ALL",
    "SELECT DISTINCT count(*) FROM customers GROUP BY ()",
    "SELECT DISTINCT ON (n) town, n FROM (SELECT town, count(*) AS n FROM customers GROUP BY town) ORDER BY n, town",
    "SELECT DISTINCT * EXCLUDE (town) FROM (SELECT town, count(*) AS n FROM customers GROUP BY town) ORDER BY ALL",
    "SELECT count(*) FROM (SELECT tid FROM sales WHERE item <> 'milk' UNION ALL SELECT tid FROM sales WHERE item "
    "<> 'bread')",
    "SELECT count(*) FROM (SELECT tid FROM sales WHERE item = 'milk' UNION ALL SELECT tid FROM sales WHERE item = "
    "'bread' LIMIT 2)",
    "WITH m AS (SELECT tid FROM sales WHERE item = 'milk') SELECT * FROM (WITH k AS (SELECT tid FROM m WHERE tid > "
    "3) SELECT count(*) AS n FROM k) q",
    "SELECT (WITH k AS (SELECT tid FROM sales WHERE item = 'milk') SELECT count(*) FROM k WHERE k.tid = c.tid) AS "
    "n FROM customers c ORDER BY 1",
    "SELECT q.n FROM customers c, (WITH k AS (SELECT tid FROM sales) SELECT count(*) AS n FROM k WHERE k.tid = "
    "c.tid) q ORDER BY 1",
    "SELECT q.n FROM customers c, LATERAL (WITH k AS (SELECT tid FROM sales WHERE sales.tid = c.tid) SELECT "
    "count(*) AS n FROM k) q ORDER BY 1",
    "SELECT q.n FROM customers c, (WITH k AS (SELECT tid FROM sales s WHERE s.tid = c.tid) SELECT count(*) AS n "
    "FROM k) q ORDER BY 1",
    "SELECT count(*) FROM customers c WHERE EXISTS (SELECT 1 FROM (WITH k AS (SELECT tid FROM sales WHERE tid = "
    "c.tid) SELECT tid FROM k) q)",
    "SELECT coalesce(b.n, 0) AS n, c.m FROM (SELECT town, count(*) AS n FROM customers GROUP BY town) a LEFT JOIN (SELECT "
    "town, count(*) AS n FROM customers WHERE age < 50 GROUP BY town) b ON b.town = a.town FULL JOIN (SELECT sex, "
    "count(*) AS m FROM customers GROUP BY sex) c ON c.sex = a.town",
    "SELECT c.town, (SELECT count(*) FROM customers d WHERE d.sex = c.town) AS x FROM customers c GROUP BY c.town",
    "SELECT c.town, c.sex, (SELECT count(*) FROM customers d WHERE d.sex = c.town AND d.town = c.sex) AS x FROM "
    "customers c GROUP BY 1, 2",
    "SELECT town AS town, tid FROM (SELECT sex AS town, tid FROM customers) v",
    "SELECT town AS t, max(age) AS age FROM (SELECT town, -age AS age FROM customers) v GROUP BY town",
    "SELECT x AS x FROM (SELECT age + 1 AS x FROM customers) v WHERE x > 31",
    "WITH x AS (SELECT tid, age + 1 AS age FROM customers), y AS (SELECT tid, age * 2 AS age FROM x) "
    "SELECT a.age, b.age AS b FROM x a JOIN y b ON a.tid = b.tid",
    "SELECT age, count(*) AS n FROM (SELECT age // 10 AS age FROM customers) GROUP BY age HAVING age > 3",
    "SELECT age FROM (SELECT age // 10 AS age, count(*) AS n FROM customers GROUP BY 1) WHERE age > 3",
    "SELECT -n AS age FROM (SELECT age // 20 AS k, count(*) AS n FROM customers GROUP BY 1) WHERE k > 1",
    "SELECT age, d, count(*) AS n FROM (SELECT DISTINCT tid, age // 10 AS age, sex AS d FROM customers) GROUP BY "
    "age, d HAVING age > 3",
    "SELECT DISTINCT age // 10 AS age, count(*) OVER (PARTITION BY age // 10) AS n FROM customers QUALIFY age > 30",
    "SELECT count(*) FROM (SELECT tid, age > 40 OR sex = 'male' AS b FROM customers) c WHERE b AND c.tid > 3",
    "SELECT count(*) FROM (SELECT tid, age > 40 OR sex = 'male' AS b FROM customers) c WHERE NOT b",
    "SELECT k FROM (SELECT town AS k, max(age) > 40 OR min(age) < 20 AS b, count(*) AS n FROM customers GROUP BY "
    "town) WHERE b AND n > 2",
    "SELECT x.tid, (SELECT count(*) FROM customers y WHERE y.since <= x.since) AS n FROM customers x WHERE x.sex = 'male'",
    "SELECT max((SELECT count(*) FROM customers y WHERE y.since <= x.since)) AS n FROM customers x",
    "SELECT x.tid, 3 IN (SELECT count(*) FROM customers y WHERE y.since <= x.since) AS n FROM customers x",
    "WITH g AS (SELECT town, count(age) AS n FROM customers GROUP BY town) SELECT c.tid, (SELECT n FROM g WHERE "
    "g.town = c.town) AS x "
    "FROM customers c",
    "SELECT c.tid, v.n FROM customers c LEFT JOIN (SELECT c.tid, count(s.item) AS n FROM customers c LEFT JOIN "
    "sales s ON c.tid = s.tid "
    "GROUP BY c.tid) v ON v.tid = c.tid",
    "SELECT c.tid, sum(p.price) AS x, count(s.item) AS n FROM customers c LEFT JOIN sales s ON s.tid = c.tid LEFT "
    "JOIN prices p "
    "ON p.price < c.age GROUP BY c.tid",
    "SELECT c.tid, sum(p.price) AS x FROM customers c LEFT JOIN sales s ON s.tid = c.tid LEFT JOIN prices p ON "
    "true GROUP BY c.tid",
    "SELECT c.sex, sum(p.price) / count(DISTINCT c.tid) AS x FROM customers c LEFT JOIN sales s ON s.tid = c.tid "
    "LEFT JOIN prices p "
    "ON coalesce(s.item, 'milk') = p.item GROUP BY c.sex",
    "SELECT c.tid, count(t.item) AS n FROM customers c LEFT JOIN sales s ON s.tid = c.tid AND s.item = 'milk' LEFT "
    "JOIN sales t "
    "ON t.tid = c.tid GROUP BY c.tid",
    "SELECT k, a.n, b.n AS m FROM (SELECT c.town AS k, count(*) AS n FROM customers c LEFT JOIN sales s ON s.tid = "
    "c.tid GROUP BY 1) a "
    "JOIN (SELECT c.town AS k, count(*) AS n FROM customers c JOIN sales s ON s.tid = c.tid GROUP BY 1) b USING (k)",
    "SELECT k, a.n, b.n AS m FROM (SELECT c.town AS k, count(*) AS n FROM customers c SEMI JOIN sales s ON s.tid = "
    "c.tid GROUP BY 1) a "
    "JOIN (SELECT c.town AS k, count(*) AS n FROM customers c JOIN sales s ON s.tid = c.tid GROUP BY 1) b USING (k)",
    "SELECT a.k, a.n, b.n AS m FROM (SELECT s.item AS k, count(*) AS n FROM sales s JOIN prices p USING (item) "
    "GROUP BY 1) a LEFT JOIN "
    "(SELECT s.item AS k, count(*) AS n FROM sales s, prices p GROUP BY 1) b ON a.k = b.k",
    "SELECT x.k, x.n, y.n AS m FROM (SELECT a.item AS k, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid "
    "GROUP BY a.item) x "
    "LEFT JOIN (SELECT b.item AS k, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'milk' "
    "GROUP BY b.item) y "
    "ON x.k = y.k",
    "SELECT a.k, a.n, b.n AS m FROM (SELECT town AS k, product(age) AS n FROM customers WHERE sex = 'male' GROUP "
    "BY town) a JOIN "
    "(SELECT town AS k, count(*) AS n FROM customers WHERE age > 30 GROUP BY town) b ON a.k = b.k",
    "SELECT c.sex, (SELECT sum(d.age) FROM sales t JOIN customers d USING (tid) WHERE d.sex = c.sex) AS x FROM "
    "customers c GROUP BY c.sex",
    "SELECT c.tid, p.price FROM customers c, prices p FULL JOIN food f ON f.node = p.item WHERE c.tid = p.price "
    "AND f.node IS NOT NULL "
    "GROUP BY ALL",
    "SELECT count(*) FROM (SELECT tid, age // 10 AS age FROM customers) c WHERE EXISTS (SELECT 1 FROM customers c "
    "WHERE c.age > 30 "
    "AND c.age < 40)",
    "WITH d AS (SELECT c.tid, c.age AS a FROM customers c WHERE c.age > 30), c AS (SELECT tid, age // 10 AS age "
    "FROM customers) "
    "SELECT c.tid, c.age, d.a FROM c JOIN d ON c.tid = d.tid",
    "SELECT c.tid, (SELECT count(*) FROM (SELECT tid AS t FROM customers) s WHERE EXISTS (SELECT 1 FROM food WHERE "
    "length(node) > "
    "age - 25)) AS x FROM customers c",
    "SELECT count(DISTINCT x) FROM (SELECT sex FROM customers) x",
    "SELECT town AS age, v.age AS b FROM (SELECT town, age // 10 AS age FROM customers) v ORDER BY age, v.age",
    "WITH g AS (SELECT item, sum(price) AS n FROM prices GROUP BY item), prices AS (SELECT 'milk' AS item, 100 AS price) "
    "SELECT s.tid, (SELECT n FROM g WHERE g.item = s.item) AS x FROM sales s",
    "SELECT k FROM (SELECT town AS k, count(*) AS n FROM customers GROUP BY town HAVING n > 1) WHERE k > 'C'",
    "SELECT c.tid, sum(p.price) AS age FROM customers c LEFT JOIN sales s ON s.tid = c.tid LEFT JOIN prices p ON "
    "p.item = s.item "
    "GROUP BY c.tid HAVING age > 2",
    f"WITH g AS ({TOWNS}) SELECT c.tid, (SELECT g.n FROM g WHERE g.town = c.sex AND g.town = c.town) AS x FROM customers c",
    "WITH g AS (SELECT age > 40 AS old, count(*) AS n FROM customers GROUP BY 1) SELECT c.tid, (SELECT n FROM g "
    "WHERE g.old = "
    "(c.age > 40)) AS x FROM customers c",
    "WITH g AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT p.item, 1 = ANY (SELECT n FROM g WHERE "
    "g.item = p.item) AS x "
    "FROM prices p",
    f"SELECT c.sex, count(*) AS x FROM customers c JOIN ({TOWNS}) t ON t.town = c.town GROUP BY c.sex, c.town, t.n + 1",
    "SELECT a, b, count(*) AS n FROM (SELECT DISTINCT s.tid, left(s.item, 1) AS a, length(s.item) AS b FROM sales "
    "s) GROUP BY a, b "
    "HAVING n > 1 ORDER BY n, a, b",
    "SELECT a, b, count(*) AS n FROM (SELECT DISTINCT s.tid, c.town AS a, c.sex AS b FROM customers c LEFT JOIN "
    "sales s ON s.tid = c.tid) "
    "GROUP BY a, b",
    "SELECT DISTINCT town, 3 AS a, count(*) OVER (PARTITION BY town) AS n FROM customers",
    f"WITH c AS ({TOWNS}) SELECT town, sum(n / (SELECT sum(n) FROM c)) OVER (ORDER BY town) AS x FROM c",
    f"WITH c AS ({TOWNS}) SELECT town, n IN (SELECT max(n) FROM c) AS x FROM c",
    "WITH c AS (SELECT sum(tid) AS n FROM customers WHERE age > 99 GROUP BY ALL) SELECT n, (SELECT count(*) FROM c "
    "d WHERE d.n = c.n) AS z "
    "FROM c",
    "WITH RECURSIVE t AS (SELECT 'a' AS k, node FROM food UNION SELECT 'b', f.parent FROM food f JOIN t ON f.node = t.node) "
    "SELECT k, node FROM t",
    "SELECT c.tid, l.n FROM customers c, LATERAL (SELECT count(*) AS n FROM sales s WHERE s.tid = c.tid HAVING "
    "count(*) > 0) l",
    "SELECT (SELECT max(age) FROM customers) AS a, count(*) AS n",
    "SELECT town, count(*) FILTER (WHERE (SELECT count(*) FROM customers) > 1) AS n FROM customers GROUP BY town",
    "SELECT since AS y FROM (SELECT tid, 1 AS x, since FROM customers) v ORDER BY v.x, v.tid LIMIT 2",
    "SELECT sex, town FROM (SELECT town, sex, age FROM customers) v(sex, town)",
    "SELECT n, k FROM (SELECT town AS k, count(*) AS n FROM customers GROUP BY k) v(n, k)",
    "SELECT a, b FROM (SELECT town AS b, age AS a FROM customers WHERE age > 40 ORDER BY a, b LIMIT 9) v(a, b)",
    "SELECT age, x FROM (SELECT tid, age + 1 FROM customers ORDER BY age DESC, tid LIMIT 5) v(age, x)",
    "WITH c(age, n) AS (SELECT town, count(*) FROM customers WHERE age > 30 GROUP BY town) SELECT * FROM (SELECT * FROM c)",
    "WITH c AS (SELECT *, town AS age FROM (SELECT sex, town FROM customers)) SELECT sex, age FROM (SELECT * FROM c) v",
    'SELECT * FROM (SELECT * FROM (SELECT town, town AS "A b" FROM customers)) WHERE "a B" > \'C\'',
    "SELECT item_1 FROM (SELECT * FROM (SELECT item, item AS item_1 FROM sales)) v",
    "SELECT count(*) AS n FROM (SELECT * FROM customers ORDER BY age LIMIT 4 OFFSET 2)",
    "SELECT count(*) FROM (SELECT DISTINCT town FROM customers LIMIT 100 OFFSET 2)",
    "SELECT count(*) FROM (SELECT town FROM customers LIMIT 20%)",
    "SELECT count(*) AS n FROM (SELECT age FROM customers ORDER BY age LIMIT 4) WHERE age > 40",
    "SELECT count(*) AS n FROM (SELECT DISTINCT ON (town) town, age FROM customers ORDER BY town, age LIMIT 1)",
    "SELECT town, unnest(list(age)) AS a FROM customers GROUP BY town",
    "SELECT DISTINCT town, n FROM (SELECT town, count(*) AS n FROM customers GROUP BY ROLLUP (town)) WHERE n > 1",
    "SELECT DISTINCT n FROM (SELECT town, count(*) AS n FROM customers GROUP BY town)",
    f"WITH c AS ({TOWNS}) SELECT DISTINCT c.town, n + 1 AS m FROM c ORDER BY 2, 1 LIMIT 2",
    f"SELECT DISTINCT c.town, c.n FROM ({TOWNS}) c JOIN customers k ON k.town = c.town",
    "SELECT DISTINCT town, sum(tid) AS n FROM customers GROUP BY GROUPING SETS ((town), (town, sex))",
    "SELECT DISTINCT length(town) AS town, n FROM (SELECT town, count(*) AS n FROM customers GROUP BY town)",
    "SELECT town, unnest(list(DISTINCT age) FILTER (WHERE sex = 'male')) AS a FROM customers GROUP BY town",
    "SELECT town AS t, unnest(list(DISTINCT age)) AS a FROM customers GROUP BY town, sex",
    "SELECT unnest(list(DISTINCT town)) AS a FROM customers",
    "SELECT town, unnest(list(age)) AS a FROM customers GROUP BY ROLLUP (town)",
    "SELECT town, age FROM customers EXCEPT SELECT town, age FROM customers WHERE age > 40",
    "SELECT town FROM customers EXCEPT SELECT town FROM customers WHERE age > 40",
    "SELECT * FROM customers WHERE sex = 'male' INTERSECT SELECT * FROM customers WHERE tid > 4 OR town = 'Cork'",
    "SELECT tid, length(item) AS tid FROM sales EXCEPT SELECT tid, length(item) AS tid FROM sales WHERE tid > 3",
    f"WITH c AS ({TOWNS}) SELECT * FROM c EXCEPT SELECT * FROM c WHERE n > 1",
    "SELECT town FROM customers WHERE age > 30 INTERSECT ALL SELECT town FROM customers WHERE town > 'C'",
    "SELECT town FROM customers WHERE age > 30 EXCEPT ALL SELECT town FROM customers WHERE town > 'C'",
]
"""What a rule took for another query."""


@pytest.mark.parametrize("seeds", portions(2, 5, 20))
def test_odd_queries_keep_their_results(shop: Shop, seeds: range) -> None:
    for con, nullable in originals(shop, seeds):
        for sql in ODD:
            check(con, nullable, sql)


@pytest.mark.parametrize("seeds", portions(2, 5, 20))
def test_what_is_written_in_another_way_keeps_its_result(shop: Shop, seeds: range) -> None:
    changed = {sql for con, nullable in originals(shop, seeds) for sql in WRITTEN if check(con, nullable, sql)}
    assert len(changed) >= 16  # some must stay as they are


# --- groups beside groups -------------------------------------------------------------------------------------------

KEYS = ["town", "sex", "town | sex", "age // 20", "date_trunc('month', since)", "CASE WHEN age < 50 THEN 'a' ELSE 'b' END"]
WANTED = ["item = 'milk'", "item IN ('bread', 'tea')", "sex = 'male'", "age > 40", "town = 'Cork'"]
ROWS = [
    "customers {c} JOIN sales {s} USING (tid)",
    "sales {s} JOIN customers {c} ON {s}.tid = {c}.tid",
    "sales {s}, customers {c} WHERE {s}.tid = {c}.tid AND",
    "(SELECT tid, item FROM sales WHERE item <> 'tea') {s} JOIN customers {c} USING (tid)",
    "sales {s} JOIN (SELECT * FROM customers) {c} USING (tid)",
]
NUMBERS = ["count(*)", "count(DISTINCT {c}.tid)", "sum(length(item))", "sum(length(item)) / count(*)"]
OF_PERSONS = ["count(*)", "count(DISTINCT tid)", "sum(age)", "min(age)"]
ALONE = ["count(*)", "count(DISTINCT c.tid)", "avg(c.age)"]
One = Callable[..., str]


def source(one: One, keys: str, alias: str) -> str:
    """Groups by keys named k0 and so on, with a number n, of persons or of their rows."""
    named = ", ".join(f"{key} AS k{n}" for n, key in enumerate(keys.split(" | ")))
    by = ", ".join(str(n + 1) for n in range(len(keys.split(" | "))))
    if one("persons", "rows") == "persons":
        where = one("", "", f" WHERE {one(*WANTED[2:])}")
        return f"(SELECT {named}, {one(*OF_PERSONS)} AS n FROM customers {one('', 'p')}{where} GROUP BY {by}) {alias}"
    s, c = one("s", "x", "a"), one("c", "y", "b")
    rows, wanted = one(*ROWS).format(s=s, c=c), one("true", *WANTED)
    number, place = one(*NUMBERS).format(c=c), "" if rows.endswith("AND") else "WHERE"
    return f"(SELECT {named}, {number} AS n FROM {rows} {place} {wanted} GROUP BY {one(by, 'ALL')}) {alias}"


def joined(rnd: random.Random) -> str:
    """A query on groups that are joined, or beside which subqueries stand."""

    def one(*choices: str) -> str:
        return rnd.choice(choices)

    keys = one(*KEYS)
    names = [f"k{n}" for n in range(len(keys.split(" | ")))]
    side, ratio = one("", "LEFT", "RIGHT", "FULL"), one("a.n", "coalesce(a.n, 0)")
    on = " AND ".join(f"a.{k} = b.{k}" for k in names)
    shown = ", ".join(f"coalesce(a.{k}, b.{k}) AS {k}" for k in names)
    how = one("on", "using", "where") if not side else one("on", "using")
    link = {"on": f" ON {on}", "using": f" USING ({', '.join(names)})", "where": ""}[how]
    between = "," if how == "where" else f" {side} JOIN"
    where = f" WHERE {on}" if how == "where" else ""
    shown = ", ".join(names) if how == "using" else shown
    one_of, other = source(one, keys, "a"), source(one, keys, "b")
    number = one(f"{ratio} AS x, coalesce(b.n, 0) AS y", f"{ratio} / nullif(b.n, 0) AS x", "b.n - a.n AS x")
    return f"SELECT {shown}, {number} FROM {one_of}{between} {other}{link}{where}"


def beside(rnd: random.Random) -> str:
    """A query on groups, or on all rows, with an aggregate of the same rows as a subquery, or of rows beside persons."""

    def one(*choices: str) -> str:
        return rnd.choice(choices)

    key, rows, alone = one("town", "sex"), "sales s JOIN customers d USING (tid)", one(*ALONE)
    wanted, named = one("", " AND item = 'milk'", " AND sex = 'male'"), f"FROM {{}} WHERE d.{key} = c.{key}"
    subquery = one(
        f"(SELECT {one('count(*)', 'count(DISTINCT d.tid)', 'count(*) * 1.5 + 1')} {named.format(rows)}{wanted})",
        f"(SELECT {one('count(*)', 'sum(d.age)', 'coalesce(sum(d.age), -1)')} {named.format('customers d')}"
        f"{one('', ' AND d.age > 30')})",
        "(SELECT count(*) FROM customers)",
    )
    by = one(f"c.{key}", "c.town, c.sex")
    source_of = one("customers c", "customers c", "sales s JOIN customers c USING (tid)")
    males, dear = one("", " WHERE sex = 'male'"), one("", " AND s.item <> 'milk'")
    number = one("count(s.tid)", "count(s.item)", "coalesce(sum(length(s.item)), 0)")
    return one(
        f"SELECT {by}, {alone} AS x, {subquery} AS y, count(*) / {subquery} AS z FROM {source_of} GROUP BY {by}",
        f"SELECT {alone} / nullif((SELECT {one('count(*)', 'sum(age)')} FROM customers{males}), 0) AS n FROM {source_of}",
        f"SELECT c.{key}, {number} / count(DISTINCT c.tid) AS n FROM customers c LEFT JOIN sales s ON s.tid = c.tid{dear} "
        f"{one('', 'WHERE c.age > 30 ')}GROUP BY c.{key}",
        f"WITH g AS (SELECT {key}, item, {one('count(*)', 'sum(age)')} AS n FROM sales JOIN customers USING (tid) "
        "GROUP BY 1, 2) "
        f"SELECT v.i, coalesce((SELECT n FROM g WHERE g.item = v.i AND g.{key} = '{one('Cork', 'male')}'), 0) AS n "
        "FROM (VALUES ('milk'), ('tea'), ('bread')) v(i)",
        f"SELECT {one('', 'q.')}x AS k0, (SELECT count(DISTINCT s.tid) FROM sales s WHERE s.item = q.{one('x', 'item')}) "
        f"AS n FROM (SELECT item AS x, item, tid FROM sales{one('', ' WHERE length(item) > 4')}) q "
        f"GROUP BY {one('x', '1')}, q.item",
    )


@pytest.mark.parametrize("seeds", portions(1, 6, 200))
def test_groups_beside_groups_keep_their_results(shop: Shop, seeds: range) -> None:
    changed = 0
    for number, (con, nullable) in enumerate(originals(shop, seeds)):
        rnd = random.Random(seeds[number])
        changed += sum(check(con, nullable, make(rnd)) for make in (joined, beside) for _ in range(40))
    assert changed > 20 * len(seeds)


TOTALS = "WITH t AS (SELECT town, count(*) AS n FROM customers GROUP BY town)"


@pytest.mark.parametrize("seeds", portions(1, 2, 40))
def test_totals_that_are_joined_with_rows_keep_results(shop: Shop, seeds: range) -> None:
    """Names of columns and of what is shown are read as DuckDB reads them, wherever they stand."""
    joined = "FROM customers c JOIN t ON t.town = c.town"
    queries = (
        f"{TOTALS} SELECT c.sex AS town, count(*) * 1.0 / max(t.n) AS x {joined} GROUP BY c.town, c.sex ORDER BY town, x",
        f"{TOTALS} SELECT c.town, t.n, count(*), 1 {joined} GROUP BY 1, 2, c.sex",
        f"{TOTALS} SELECT lower(c.town) || 'x', count(*) + max(n) AS m FROM customers c JOIN t USING (town) GROUP BY c.town",
        f"{TOTALS} SELECT any_value(t.n) - count(*) AS d {joined} JOIN sales s ON s.tid = c.tid GROUP BY t.town, s.item",
        f"{TOTALS} SELECT c.sex, c.town AS k, count(*) AS n, max(t.n) AS m {joined} GROUP BY 1, 2 ORDER BY n, m, 1 LIMIT 3",
    )
    for con, nullable in originals(shop, seeds):
        assert all(check(con, nullable, sql) for sql in queries)
