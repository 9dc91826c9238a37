"""Estimates of possible worlds through ``anondb.open``: what is answered beside bounds, and what no world may answer."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pandas as pd
import pytest
from answers.shop import Shop
from each import each
from portions import parts

import anondb

MISUSES = [
    "SELECT count(*) FROM sales WHERE tid = 17",
    "SELECT count(*) FROM sales WHERE 17 = tid",
    "SELECT count(*) FROM sales WHERE tid IN (1, 2, 3)",
    "SELECT count(*) FROM sales WHERE tid BETWEEN 1 AND 9",
    "SELECT count(*) FROM sales WHERE tid > 0 AND item = 'milk'",
    "SELECT count(*) FROM sales s JOIN mine m ON m.id = s.tid",
    "SELECT count(*) FROM sales s JOIN mine m ON m.id < s.tid",
    "SELECT count(*) FROM sales s JOIN (SELECT id AS tid FROM mine) USING (tid)",
    "SELECT count(*) FROM sales NATURAL JOIN (SELECT id AS tid FROM mine)",
    "SELECT * FROM sales WHERE tid IN (SELECT id FROM mine)",
    "SELECT * FROM mine WHERE id IN (SELECT tid FROM sales)",
    "SELECT * FROM sales s WHERE EXISTS (SELECT 1 FROM mine WHERE id = s.tid)",
    "SELECT * FROM sales s, LATERAL (SELECT x FROM mine WHERE id = s.tid)",
    "SELECT tid FROM sales INTERSECT SELECT id FROM mine",
    "SELECT id FROM mine EXCEPT SELECT tid FROM sales",
    "SELECT tid, count(*) FROM (SELECT tid FROM sales UNION ALL SELECT id FROM mine) GROUP BY tid HAVING count(*) > 1",
    "SELECT tid + 1 FROM sales",
    "SELECT max(tid) FROM sales",
    "SELECT abs(tid) % 10 AS d, count(*) FROM sales GROUP BY d",
    "SELECT CAST(tid AS VARCHAR) FROM sales",
    "SELECT list(tid) FROM sales",
    "SELECT s FROM sales s WHERE s = {'tid': 17, 'item': 'milk'}",
    "SELECT s.x FROM (SELECT s FROM (SELECT tid AS x FROM sales) s) t WHERE s.x = 17",
    "SELECT t.s.tid FROM (SELECT s FROM sales s) t",
    "SELECT s FROM sales s WHERE s IN (SELECT {'tid': 17, 'item': 'milk'})",
    "SELECT s FROM sales s UNION SELECT {'tid': 17, 'item': 'milk'}",
    "SELECT s, count(*) FROM sales s GROUP BY s HAVING s = {'tid': 17, 'item': 'milk'}",
    "SELECT s FROM sales s ORDER BY s = {'tid': 17, 'item': 'milk'}",
    "SELECT s FROM sales s QUALIFY s.tid = 17",
    "SELECT {'a': tid} AS x FROM sales WHERE (x).a = 17",
    "SELECT {'a': tid + 1} AS x FROM sales",
    "CREATE OR REPLACE TABLE rows_of AS SELECT s FROM sales s; SELECT t.s.tid FROM rows_of t WHERE t.s.tid = 17",
    "SET VARIABLE one = (SELECT tid FROM sales LIMIT 1); SELECT getvariable('one') = 17",
    "SET VARIABLE one = (SELECT tid + 1 FROM sales LIMIT 1)",
    "PREPARE one AS SELECT count(*) FROM sales WHERE tid = ?; EXECUTE one(17)",
    "PREPARE one AS SELECT item FROM sales WHERE tid = $who; EXECUTE one(who := 17)",
    "SELECT COLUMNS('tid') + 1 FROM sales",
    "SELECT hash(s.*) FROM sales s",
    "SELECT max(COLUMNS(*)) FROM sales",
    "SELECT CASE WHEN item = 'milk' THEN tid ELSE 17 END FROM sales",
    "SELECT CASE tid WHEN 17 THEN 1 END FROM sales",
    "SELECT coalesce(tid, 17) FROM sales",
    "SELECT lag(tid) OVER (ORDER BY item) FROM sales",
    "SELECT count(*) FILTER (WHERE tid = 17) FROM sales",
    "SELECT item, count(*) FROM sales GROUP BY item HAVING bool_or(tid = 17)",
    "SELECT count(*) FROM sales WHERE (tid, item) IN (SELECT id, x FROM mine)",
    "SELECT count(*) FROM sales WHERE (tid, item) = (17, 'milk')",
    "SELECT [tid, 17] FROM sales",
    "SELECT {'a': {'b': tid}} FROM sales",
    "SELECT * FROM sales ORDER BY tid = 17",
    "SELECT * REPLACE (tid + 1 AS tid) FROM sales",
    "WITH a AS (SELECT tid AS n FROM sales) SELECT count(*) FROM a WHERE n = 17",
    "WITH a(n) AS (SELECT tid FROM sales) SELECT count(*) FROM a JOIN mine ON id = n",
    "SELECT count(*) FROM (SELECT tid AS n FROM sales) AS q(k) WHERE k = 17",
    "SELECT count(*) FROM baskets WHERE transaction_id = 17",
    "UNPIVOT (SELECT tid, 1 AS one FROM sales) ON tid, one",
    "SELECT (SELECT x FROM mine WHERE id = tid) FROM sales",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM sales JOIN r ON n = tid",
    "SELECT count(*) FROM sales ASOF JOIN mine ON sales.tid >= mine.id",
    "SELECT count(*) FROM query('SELECT * FROM sales WHERE tid = 17'), sales",
    "SELECT count(*) FROM query_table('sales'), sales",
    "SELECT count(*) FROM sales, duckdb_tables()",
    "SELECT count(*) FROM sales, read_csv('/etc/passwd')",
    "SELECT count(*) FROM sales, '/etc/passwd'",
]


@pytest.fixture(scope="module")
def session(shop: Shop) -> Iterator[anondb.Session]:
    with anondb.open(shop.release("kkm"), threads=1) as opened:
        opened.register("mine", pd.DataFrame({"id": [1, 17, 40], "x": ["milk", "tea", "jam"]}))
        yield opened


@pytest.mark.parametrize("queries", parts(MISUSES, 4))
def test_ids_are_compared_with_ids_alone(session: anondb.Session, queries: list[str]) -> None:
    """A real person's number must not find a modelled row, nor be computed from one."""
    for sql in queries:
        with pytest.raises(anondb.InputError) as refusal:
            session.sql(sql)
        assert refusal.value.code in ("unsupported_query", "bad_sql"), sql


ANSWERED = [
    "SELECT count(DISTINCT a.tid) FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item",
    "SELECT count(DISTINCT CASE WHEN item = 'milk' THEN tid END) FROM sales",
    "SELECT string_agg(DISTINCT item, ', ' ORDER BY item) FROM sales",
    "SELECT sex, histogram(age) FROM customers GROUP BY sex",
    "SELECT corr(n, age) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) JOIN customers USING (tid)",
    "SELECT a.item, b.item, c.item, count(*) AS n FROM sales a JOIN sales b USING (tid) JOIN sales c USING (tid)"
    " WHERE a.item < b.item AND b.item < c.item GROUP BY ALL ORDER BY n DESC LIMIT 3",
    "SELECT p.town, l.n FROM (SELECT DISTINCT town FROM customers) p,"
    " LATERAL (SELECT count(*) AS n FROM customers c WHERE c.town = p.town) l",
    "SELECT avg(n) FROM (SELECT tid, count(*) OVER (PARTITION BY tid) AS n FROM sales)",
]


@pytest.mark.slow
@each("sql", ANSWERED)
def test_what_no_rule_reads_has_an_estimate(session: anondb.Session, sql: str) -> None:
    result = session.sql(sql)
    rows = result.df()
    assert len(rows) and not any("Internal error" in note for note in result.notes)
    for name in (name for name in rows if f"{name}_lower" in rows):
        assert rows[name].notna().all()


def test_without_a_rule_bounds_are_null_and_a_note_names_the_construct(session: anondb.Session) -> None:
    result = session.sql(
        "SELECT corr(n, age) AS r FROM (SELECT tid, count(*) n FROM sales GROUP BY tid) JOIN customers USING (tid)"
    )
    assert result.columns == ["r", "r_lower", "r_upper"]
    ((estimate, lower, upper),) = result.fetchall()
    assert -1 <= estimate <= 1 and lower is None and upper is None
    assert sum("o bounds, since no rule reads this: " in note for note in result.notes) == 1


FLAGS = "SELECT tid, max((item = 'pasta')::INT) AS x, max((item = 'olive oil')::INT) AS y FROM sales GROUP BY tid"
NOTED = [
    (
        "SELECT l.k, count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p, LATERAL (SELECT count(*) AS k FROM sales s "
        "WHERE s.tid = p.tid AND s.item IN ('milk', 'butter', 'yogurt', 'brie')) l GROUP BY l.k",
        "rows may be missing",
    ),
    (f"SELECT corr(x, y) AS r FROM ({FLAGS})", "rules give it no ends"),
    (
        "SELECT count(*) AS n FROM customers c WHERE c.age > (SELECT avg(d.age) FROM customers d WHERE d.town = c.town)",
        "the column 'town' in this place",
    ),
]


@each("sql, words", NOTED)
def test_a_note_says_why_bounds_or_rows_are_missing(session: anondb.Session, sql: str, words: str) -> None:
    result = session.sql(sql)
    assert all(row[-2:] == (None, None) for row in result.fetchall())
    assert any(words in note for note in result.notes), result.notes


OF_FEW = [
    "count(*) + 1",
    "count(*) - age",
    "greatest(count(*), 0)",
    "abs(sum(age) - 160)",
    "CASE WHEN count(*) > 0 THEN count(*) * age ELSE -1 END",
    "count(*) * max(age)",
    "6000 * count(*) / (SELECT count(*) FROM customers)",
    "sum(age) / count(*)",
    "coalesce(avg(age), 7)",
]


@each("number", OF_FEW)
def test_in_a_world_without_a_group_its_counts_are_0(session: anondb.Session, number: str) -> None:
    """The estimate is that without GROUP BY, where the row is in all worlds."""
    rows = "FROM customers JOIN sales USING (tid) WHERE item = 'jam' AND age = 80"
    ((_, grouped, *_),) = session.sql(f"SELECT age, {number} AS n {rows} GROUP BY age").fetchall()
    ((alone, *_),) = session.sql(f"SELECT {number.replace('- age', '- 80').replace('* age', '* 80')} AS n {rows}").fetchall()
    assert grouped == pytest.approx(alone, rel=1e-9)


FEW = "FROM customers JOIN sales USING (tid) WHERE item = 'jam' AND age = 80"
ALIKE = [
    (
        f"SELECT d.n / t.n AS s, nullif(d.n / t.n, 0) AS n FROM (SELECT count(*) AS n {FEW}) d, "
        "(SELECT count(*) AS n FROM customers) t",
        f"SELECT n / t AS s, nullif(n / t, 0) AS n FROM (SELECT count(*) AS n, (SELECT count(*) FROM customers) AS t {FEW})",
    ),
    (
        f"SELECT d.age, d.m - t.m AS n FROM (SELECT age, avg(length(town)) AS m {FEW} GROUP BY 1) d JOIN "
        "(SELECT age, avg(length(town)) AS m FROM customers GROUP BY 1) t USING (age)",
        f"SELECT d.age, d.m - t.k AS n FROM (SELECT age, avg(length(town)) AS m {FEW} GROUP BY 1) d JOIN "
        "(SELECT age, avg(length(town)) + 0 AS k FROM customers GROUP BY 1) t USING (age)",
    ),
]


@each("sql, apart", ALIKE)
def test_unknown_numbers_of_several_sources_may_differ(session: anondb.Session, sql: str, apart: str) -> None:
    """Without the rows, numbers of the same name or expression are not the same number."""
    (row,), (other,) = (session.sql(query).fetchall() for query in (sql, apart))
    assert [*row[::3]] == pytest.approx([*other[::3]])


def test_rows_of_persons_are_modelled(session: anondb.Session) -> None:
    """Their ids are of no person, and a note says so."""
    result = session.sql("SELECT * FROM sales LIMIT 5")
    assert result.columns == ["tid", "item"] and len(result) == 5
    assert all(tid < 0 for tid, _ in result.fetchall())
    assert any("modelled" in note for note in result.notes)
    by_person = session.sql("SELECT tid, count(*) AS n FROM sales GROUP BY tid ORDER BY n DESC LIMIT 3").fetchall()
    assert all(row[0] < 0 for row in by_person)


@each(
    "sql, field",
    [
        ("SELECT s FROM sales s ORDER BY s.item LIMIT 3", "tid"),
        ("SELECT {'who': tid, 'what': item} AS s FROM sales LIMIT 3", "who"),
        ("SELECT COLUMNS(*) FROM sales LIMIT 3", None),
        ("SELECT (SELECT tid FROM sales LIMIT 1) AS one", None),
        ("SET VARIABLE one = (SELECT tid FROM sales LIMIT 1); SELECT getvariable('one') AS one", None),
    ],
)
def test_whole_rows_are_modelled(session: anondb.Session, sql: str, field: str | None) -> None:
    result = session.sql(sql)
    rows = result.fetchall()
    assert rows and all((row[0] if field is None else row[0][field]) < 0 for row in rows)
    assert any("modelled" in note for note in result.notes)


def test_the_type_of_an_id_tells_nothing(session: anondb.Session) -> None:
    sql = "SELECT DISTINCT typeof(tid) AS t, typeof(item) AS i FROM sales"
    assert session.sql(sql).fetchall() == [("BIGINT", "VARCHAR")]


KEYLESS = [
    "SELECT n FROM ({counts}) UNION ALL SELECT n FROM ({counts})",
    "SELECT 'a' AS k, n FROM ({counts}) UNION ALL SELECT 'b', n FROM ({counts})",
    "SELECT unnest(list(n) || list(n)) AS n FROM ({counts})",
]


@pytest.mark.parametrize("sql", KEYLESS)
def test_rows_without_a_key_are_of_one_world(session: anondb.Session, sql: str) -> None:
    """Rows with the same keys do not match between worlds, nor with the rows of rules."""
    result = session.sql(sql.format(counts="SELECT item, count(*) AS n FROM sales GROUP BY item"))
    assert [name for name in result.columns if name.startswith("n")] == ["n"] and len(result) > 50
    assert any("same keys" in note for note in result.notes)
    assert not any("Internal error" in note for note in result.notes)


OF_NOBODY = [
    "SELECT n - 1 AS d FROM (VALUES ('nothing like it')) v(i) LEFT JOIN ({counts}) c ON c.item = v.i",
    "SELECT c.n - d.n AS d FROM ({counts}) c LEFT JOIN ({counts}) d ON d.item = c.item || '?' LIMIT 1",
    "SELECT d FROM (SELECT item, 2 * (n - lag(n) OVER (ORDER BY item)) AS d FROM ({counts})) ORDER BY item LIMIT 1",
]


@pytest.mark.parametrize("sql", OF_NOBODY)
def test_what_is_null_in_each_world_is_null(session: anondb.Session, sql: str) -> None:
    row = session.sql(sql.format(counts="SELECT item, count(*) AS n FROM sales GROUP BY item")).fetchall()[0]
    assert row[0] is None


def test_parts_of_one_row_match_by_their_places(session: anondb.Session) -> None:
    sql = "SELECT count(*) AS n FROM sales UNION ALL SELECT count(*) FROM sales WHERE item = 'milk' UNION ALL SELECT NULL"
    every, milk, none = session.sql(sql).fetchall()
    assert every == session.sql("SELECT count(*) AS n FROM sales").fetchall()[0]
    assert milk == session.sql("SELECT count(*) AS n FROM sales WHERE item = 'milk'").fetchall()[0]
    assert none == (None, None, None)


@pytest.mark.parametrize(
    "few",
    [
        "SELECT item FROM sales GROUP BY item ORDER BY count(*) > 0 LIMIT 3",
        "SELECT item FROM sales GROUP BY item QUALIFY row_number() OVER (ORDER BY count(*) > 0) < 4",
        "SELECT item FROM (SELECT DISTINCT item FROM sales) LIMIT 3",
    ],
)
def test_which_of_equal_places_are_the_first_does_not_depend_on_earlier_questions(shop: Shop, few: str) -> None:
    """Worlds draw what is asked, in the order of the questions; threads read their rows in any order."""
    answers = []
    for earlier in (
        "SELECT 1 AS one",
        "SELECT count(*) FROM sales s JOIN sales t USING (tid) WHERE s.item = 'milk' AND t.item = 'crisps'",
    ):
        with anondb.open(shop.release("mhghs")) as session:
            session.sql(earlier)
            answers.append(session.sql(f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ({few})").fetchall())
    assert answers[0] == answers[1]


def test_samples_are_of_one_world(session: anondb.Session) -> None:
    sql = "SELECT item, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) USING SAMPLE 3"
    assert len(session.sql(sql)) == 3


@pytest.mark.slow
def test_pivots_of_many_columns_fit_into_the_limit(shop: Shop) -> None:
    with (
        duckdb.connect(str(shop.original), read_only=True) as original,
        anondb.open(shop.release("mhghs"), memory_limit="500MB") as session,
    ):
        initials = original.sql("SELECT DISTINCT item, left(item, 1) AS i FROM sales")
        session.register("initials", initials.to_arrow_table())
        counts = "SELECT i, item, count(*) AS n FROM sales JOIN initials USING (item) GROUP BY ALL"
        result = session.sql(f"PIVOT ({counts}) ON item USING sum(n)").df().set_index("i")
        single = session.sql(f"SELECT n FROM ({counts}) WHERE item = 'milk'").df()
    assert len(result.columns) > 150
    assert result.loc["m", ["milk", "milk_lower", "milk_upper"]].tolist() == single.iloc[0, :3].tolist()
    assert result.loc["b", ["milk"]].isna().all()


@pytest.mark.slow
def test_estimates_depend_on_the_file_alone(shop: Shop) -> None:
    asked = ("SELECT item, count(*) AS n FROM sales GROUP BY item", "SELECT * FROM sales ORDER BY ALL LIMIT 50")
    answers = []
    for threads in (1, 2):
        with anondb.open(shop.release("similar"), threads=threads) as opened:
            before = ["SELECT count(*) FROM sales WHERE item = 'tea'"] * (threads - 1)
            answers.append([sorted(opened.sql(sql).fetchall()) for sql in (*before, *asked)][-2:])
    assert answers[0] == answers[1]


SAME_TOP = [
    "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC, item LIMIT 4",
    "SELECT item, count(*) AS n FROM sales GROUP BY item QUALIFY row_number() OVER (ORDER BY n DESC, item) <= 4"
    " ORDER BY 2 DESC, 1",
    "SELECT item, n FROM (SELECT item, count(*) AS n, row_number() OVER (ORDER BY count(*) DESC, item) AS r FROM sales"
    " GROUP BY item) WHERE r <= 4 ORDER BY n DESC, item",
    "WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), r AS (SELECT *,"
    " row_number() OVER (ORDER BY n DESC, item) AS r FROM c) SELECT item, n FROM r WHERE r <= 4 ORDER BY r",
    "SELECT * FROM (SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY 2 DESC, 1 LIMIT 4) ORDER BY n DESC, item",
]


@pytest.mark.slow
def test_top_lists_are_equal_however_they_are_written(session: anondb.Session) -> None:
    first, *others = ([row[:2] for row in session.sql(sql).fetchall()] for sql in SAME_TOP)
    assert len(first) == 4 and first == sorted(first, key=lambda row: (-row[1], row[0]))
    assert all(other == first for other in others)


@pytest.mark.slow
def test_each_limit_cuts_what_the_one_inside_leaves(session: anondb.Session) -> None:
    top = "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC, item"
    (first, second, third), *_ = [session.sql(f"{top} LIMIT 3").fetchall()]
    names = sorted(row[0] for row in (first, second, third))
    for sql, expected in (
        (f"SELECT item FROM (SELECT * FROM ({top} LIMIT 3) ORDER BY item) LIMIT 2", names[:2]),
        (f"SELECT item FROM ({top} LIMIT 3) LIMIT 2", [first[0], second[0]]),
        (f"SELECT item FROM ({top} LIMIT 3 OFFSET 1) LIMIT 1", [second[0]]),
        (f"SELECT item FROM ({top} LIMIT 3) ORDER BY item DESC LIMIT 1 OFFSET 1", [names[1]]),
    ):
        assert [row[0] for row in session.sql(sql).fetchall()] == expected, sql


@pytest.mark.slow
def test_pairs_after_an_offset(session: anondb.Session) -> None:
    pairs = (
        "SELECT a.item AS one, b.item AS two, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item < b.item "
        "GROUP BY a.item, b.item ORDER BY n DESC, one, two"
    )
    every = [row[:3] for row in session.sql(pairs).fetchall()]
    for end, expected in (("LIMIT 3", every[:3]), ("OFFSET 2", every[2:]), ("LIMIT 2 OFFSET 1", every[1:3])):
        assert [row[:3] for row in session.sql(f"{pairs} {end}").fetchall()] == expected, end


@pytest.mark.slow
def test_a_list_says_how_many_of_its_rows_are_certain(session: anondb.Session) -> None:
    every = session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item").fetchall()
    for k, skipped in ((1, 0), (2, 0), (4, 0), (1, 1), (2, 1), (2, 3)):
        for order, near, far, sign in (("n DESC", 2, 3, 1), ("n", 3, 2, -1)):
            end = f"ORDER BY {order}, item LIMIT {k}" + (f" OFFSET {skipped}" if skipped else "")
            result = session.sql(f"SELECT item, count(*) AS n FROM sales GROUP BY item {end}")
            others = [sum(sign * other[far] >= sign * row[near] for other in every if other is not row) for row in every]
            ahead = [sum(sign * other[near] > sign * row[far] and other[2] >= 1 for other in every) for row in every]
            placed = zip(others, ahead, every, strict=True)
            certain = sum(n < k + skipped and before >= skipped and row[2] >= 1 for n, before, row in placed)
            words = f"{k} rows after the first {skipped}" if skipped else f"{k} first rows"
            assert f"Of the {words}, {certain} belong to these for certain." in result.notes
            listed = session.sql(f"SELECT item, count(*) AS n FROM sales GROUP BY item HAVING n > 0 {end}")
            assert sum(row[listed.columns.index("certain")] for row in listed.fetchall()) == certain
    whole = session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n LIMIT 1000")
    assert not any("for certain" in note for note in whole.notes)
