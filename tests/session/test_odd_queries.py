"""Odd queries, tables and arguments: they give what DuckDB gives on the original, or a typed error that helps."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from each import each
from session.checker import faults, without_bounds
from session.conftest import Named

import anondb
from anondb import Session

KNOWN = pd.DataFrame({"x": [1, 2, 3], "s": ["ab", "cd", "ef"]})
ROWS = "(VALUES (1, TRUE, FALSE, 'ab'), (2, FALSE, TRUE, 'cd'), (3, NULL, NULL, 'ef')) k(x, a, b, s)"


def equal(session: Session, sql: str) -> None:
    assert session.sql(sql).fetchall() == duckdb.sql(sql).fetchall()


def refused(session: Session, sql: str, *words: str, code: str = "unsupported_query") -> None:
    """Check that a query has no bounds, or is refused with another code, and that what is said of it has these words."""
    if code in ("unsupported_query", "query_too_complex"):
        said = without_bounds(session, sql)
    else:
        with pytest.raises(anondb.AnondbError) as error:
            session.sql(sql)
        assert error.value.code == code
        said = str(error.value)
    assert all(word in said for word in words), said


@each(
    "expression",
    [
        "(NOT a) IS NULL",
        "(s || 'q')[3]",
        "(NOT a) < b",
        "(NOT a) BETWEEN false AND b",
        "(s || 'Q') COLLATE NOCASE = 'abq'",
        "-(-x) - (x - (1 - x))",
        "(a IS DISTINCT FROM b) = b",
        "s[1 : x - 1]",
        "DATE '2024-01-31' + INTERVAL (x + 1) DAY - DATE '2024-01-01'",
        "MAP {'a': x + 1}",
        "struct_pack(q := x + 1).q",
        "(x IN (1, 1 + 1)) IS TRUE",
        "(CASE WHEN a THEN s ELSE 'zz' END)[1]",
        "(x + 1)::VARCHAR || (a OR b)::INTEGER",
        "x = ANY([1, x + 1])",
        "(x + 1) <> ALL([x, 3]) AND a",
    ],
)
def test_parentheses_are_kept(named: Named, expression: str) -> None:
    equal(named[1], f"SELECT x, {expression} AS e FROM {ROWS} ORDER BY x")


@each(
    "sql",
    [
        f"SELECT x FROM {ROWS} RIGHT JOIN (VALUES (1), (5)) v(x) USING (x) ORDER BY x",
        f"SELECT * FROM {ROWS} FULL JOIN (VALUES (1, 'ab', 7), (5, 'q', 8)) v(x, s, z) USING (x, s) ORDER BY x",
        f"SELECT x, z, w FROM {ROWS} FULL JOIN (VALUES (1, 2), (5, 3)) v(x, z) USING (x) "
        "LEFT JOIN (VALUES (5, 9)) u(x, w) USING (x) ORDER BY x",
        f"SELECT x, v.z FROM {ROWS} JOIN (VALUES (1, 2)) v(x, z) USING (x)",
    ],
)
def test_a_column_of_using_has_the_values_of_both_sides(named: Named, sql: str) -> None:
    equal(named[1], sql)


def test_one_side_of_using(named: Named) -> None:
    joined = f"FROM {ROWS} FULL JOIN (VALUES (1), (5)) v(x) USING (x)"
    equal(named[1], f"SELECT k.x {joined} ORDER BY 1")
    equal(named[1], f"SELECT v.* {joined} ORDER BY 1")


def test_a_count_of_an_outer_join_may_be_missing(named: Named) -> None:
    counted = "(SELECT 1 AS x, count(DISTINCT tid) AS n FROM sales) c"
    (one, two) = (
        named[1]
        .sql(f"SELECT n IS NULL AS e FROM (VALUES (1), (2)) v(x) LEFT JOIN {counted} USING (x) ORDER BY x")
        .fetchall()
    )
    assert two[0] is not False and one[0] is not True


def test_a_date_of_a_count_has_bounds(named: Named) -> None:
    result = named[1].sql("SELECT DATE '2024-01-01' + count(*)::INT AS day FROM sales WHERE item = 'milk'")
    assert result.columns == ["day", "day_lower", "day_upper"]
    day, lower, upper = result.fetchall()[0]
    assert dt.date(2024, 1, 1) <= lower <= day <= upper


def test_a_text_of_a_count_has_a_note(named: Named) -> None:
    result = named[1].sql("SELECT CASE WHEN count(*) > 20 THEN 'many' ELSE 'few' END AS day FROM sales WHERE item = 'milk'")
    assert any("'day'" in note and "no bounds" in note for note in result.notes)


def test_infinite_bounds_are_none(named: Named) -> None:
    rare = " AND ".join(f"tid IN (SELECT tid FROM sales WHERE item = '{item}')" for item in ("dates", "figs", "bread"))
    result = named[1].sql(f"SELECT ln(count(DISTINCT tid)) AS n FROM sales WHERE {rare}")
    assert result.fetchall()[0][1] is None
    text = json.dumps(named[1].sql("SELECT ln(count(DISTINCT tid) * 0) AS n, 'inf'::DOUBLE AS e FROM sales").to_json())
    assert "Infinity" not in text


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COLUMNS('item|price') FROM prices ORDER BY ALL",
        "SELECT count(*) FROM prices WHERE EXISTS (SELECT 1 FROM food)",
    ],
)
def test_own_tables_give_what_duckdb_gives(named: Named, sql: str) -> None:
    with duckdb.connect(":memory:") as raw:
        for name in ("prices", "food"):
            raw.register(name, named[1].sql(f"FROM {name}").df())
        assert named[1].sql(sql).fetchall() == raw.sql(sql).fetchall()


def test_a_failing_cast_has_a_hint(named: Named) -> None:
    refused(named[1], "SELECT item::INTEGER FROM prices", "TRY_CAST")
    with pytest.raises(anondb.AnondbError) as error:
        named[1].sql("SELECT item::INTEGER FROM prices")
    assert "milk" not in str(error.value)


@each(
    "sql, words",
    [
        ("SELECT count(*) FROM sales WHERE itm = 'milk'", ("column 'itm'",)),
        ('SELECT count(*) FROM sales WHERE item = "milk"', ("column 'milk'", "single quotes")),
        ("SELECT count(*) FROM sale", ("table 'sale'", "sales")),
        ("WITH a AS (SELECT item AS i FROM prices) SELECT i, item AS x FROM a JOIN food ON nod = i", ("column 'nod'",)),
        ("SELECT upper(tid) FROM sales", ("for the original table. ",)),
    ],
)
def test_a_name_that_does_not_exist_is_said(named: Named, sql: str, words: tuple[str, ...]) -> None:
    refused(named[1], sql, *words, code="bad_sql")


# --- items that are whole numbers, or texts of digits ----------------------------------------------------------------

PAIRS = "SELECT a.item, b.item AS other, count(*) n FROM sales a JOIN sales b USING (tid) WHERE a.item < b.item GROUP BY ALL"
LISTED = "(SELECT item, count(*) AS n FROM sales GROUP BY item) l"
OF_NUMBERS = [
    "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 2",
    "SELECT item, count(*) AS n FROM sales GROUP BY item HAVING item = '2' OR item IN ('3')",
    "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY CAST(item AS BIGINT) LIMIT 1",
    "SELECT item, sum(count(*)) OVER (ORDER BY item::BIGINT) AS n FROM sales GROUP BY item",
    "SELECT item || 'x' AS k, count(*) AS n FROM sales GROUP BY 1",
    f"SELECT count(DISTINCT item) AS n, min(CAST(item AS BIGINT)) AS m FROM {LISTED}",
    f"SELECT item, n, price FROM {LISTED} JOIN prices USING (item)",
    f"SELECT item, n FROM {LISTED} JOIN (VALUES ('2', 7)) v(item, w) USING (item)",
    f"SELECT coalesce(item, '5') AS k, n FROM {LISTED} WHERE item IS NOT DISTINCT FROM '10'",
    f"SELECT item FROM {LISTED} WHERE n > 3 UNION ALL SELECT item FROM labels",
    "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item LIMIT 1",
    "SELECT least(item, '3') AS k, count(*) AS n FROM sales GROUP BY 1",
]
AMBIGUOUS = [
    "SELECT item, sum(count(*)) OVER (ORDER BY item) AS n FROM sales GROUP BY item",
    "SELECT item, row_number() OVER (ORDER BY item) AS n FROM sales GROUP BY item",
    "SELECT item, count(*) AS n FROM sales GROUP BY item HAVING item > '2'",
    f"SELECT min(item) AS m FROM {LISTED}",
    f"SELECT item IN ('02') AS b FROM {LISTED}",
    f"SELECT lag(item) OVER (ORDER BY n) AS k FROM {LISTED}",
    f"SELECT l.item, n FROM {LISTED} JOIN labels USING (item)",
    f"SELECT l.item, n FROM {LISTED} JOIN labels t ON t.item = l.item",
    f"SELECT item, n FROM {LISTED} JOIN (VALUES ('02', 7)) v(item, w) USING (item)",
]
OF_TEXTS = f"SELECT n FROM {LISTED} WHERE item IN (SELECT item FROM labels)"


def of_type(folder: Path, kind: str) -> Iterator[tuple[anondb.Session, duckdb.DuckDBPyConnection]]:
    """A session on a release of items of a type, which look like whole numbers, and the original."""
    baskets = [[2]] * 10 + [[10]] * 6 + [[2, 10]] * 4 + [[3]] * 5
    rows = ", ".join(f"({tid}, {item})" for tid, basket in enumerate(baskets) for item in basket)
    with duckdb.connect() as original:
        original.execute(f"CREATE TABLE sales AS SELECT tid, item::{kind} AS item FROM (VALUES {rows}) t(tid, item)")
        original.execute("CREATE TABLE prices AS FROM (VALUES (2, 1.5), (10, 2.5)) t(item, price)")
        original.execute("CREATE TABLE labels AS FROM (VALUES ('2'), ('03')) t(item)")
        release = anondb.connect(original).anonymize("sales", model=anondb.KmAnonymity(2, 2), name="w")
        release.publish(folder / f"{kind}.duckdb")
        with anondb.open(folder / f"{kind}.duckdb") as opened:
            for name in ("prices", "labels"):
                opened.register(name, original.sql(f"FROM {name}").to_arrow_table())
            yield opened, original


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A session on a release of items that are whole numbers, and the original."""
    yield from of_type(tmp_path_factory.mktemp("numbers"), "INTEGER")


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same with texts of digits."""
    yield from of_type(tmp_path_factory.mktemp("codes"), "VARCHAR")


def check_exact(asked: tuple[anondb.Session, duckdb.DuckDBPyConnection], sql: str) -> None:
    opened, original = asked
    result = opened.sql(sql)
    names = [name for name in result.columns if not name.endswith(("_lower", "_upper", "certain"))]
    rows = sorted(tuple(str(row[result.columns.index(n)]).removesuffix(".0") for n in names) for row in result.fetchall())
    assert rows == sorted(tuple(map(str, row)) for row in original.execute(sql).fetchall())


@pytest.mark.slow
@each("sql", OF_NUMBERS)
def test_items_that_are_numbers(numbers: Any, sql: str) -> None:
    check_exact(numbers, sql)


@pytest.mark.slow
@each("sql", [*OF_NUMBERS, *AMBIGUOUS, PAIRS, OF_TEXTS])
def test_codes_are_texts(codes: Any, sql: str) -> None:
    """A release of texts of digits says that they are texts: their order and their spellings are those of texts."""
    check_exact(codes, sql)


@pytest.mark.slow
@each("sql", AMBIGUOUS)
def test_what_depends_on_the_type_of_the_items(numbers: Any, sql: str) -> None:
    refused(numbers[0], sql, "tems", "not texts", "onvert")


@pytest.mark.slow
def test_what_duckdb_refuses_for_the_type_of_the_items_is_refused(numbers: Any) -> None:
    refused(numbers[0], OF_TEXTS, code="bad_sql")
    with pytest.raises(duckdb.Error):
        numbers[1].execute(OF_TEXTS)


@pytest.mark.slow
def test_items_have_the_order_of_their_type(numbers: Any, codes: Any) -> None:
    sql = "SELECT item FROM sales GROUP BY item ORDER BY item"
    for session, original in (numbers, codes):
        assert [row[0] for row in session.sql(sql).fetchall()] == [row[0] for row in original.execute(sql).fetchall()]


def test_a_table_may_be_replaced(numbers: Any) -> None:
    opened, original = numbers
    sql = f"SELECT item, n FROM {LISTED} JOIN again USING (item)"
    opened.register("again", original.sql("SELECT '02' AS item").to_arrow_table())
    refused(opened, sql, "which values equal them")
    opened.register("again", original.sql("SELECT '2' AS item").to_arrow_table())
    assert len(opened.sql(sql)) == 1


# --- tables and arguments -------------------------------------------------------------------------------------------


@pytest.fixture()
def session(shop: Path) -> Any:
    with anondb.open(shop / "supports.duckdb") as opened:
        yield opened


def test_a_table_may_have_a_column_of_nothing(session: Session) -> None:
    session.register("notes", pd.DataFrame({"item": ["milk"], "note": [None], "more": [[]]}))
    assert session.sql("SELECT count(*) AS n FROM sales").fetchall()
    assert session.sql("SELECT upper(note), count(note), more FROM notes GROUP BY ALL").fetchall() == [(None, 0, [])]


@pytest.mark.parametrize(("data", "code"), [(None, "bad_type"), (5, "bad_type"), ("nofile.csv", "no_such_file")])
def test_a_table_that_cannot_be_read_replaces_none(session: Session, data: Any, code: str) -> None:
    session.register("p", KNOWN)
    with pytest.raises(anondb.InputError) as error:
        session.register("p", data)
    assert error.value.code == code and error.value.hint
    assert session.sql("SELECT count(*) FROM p").fetchall() == [(3,)]


def test_times_with_a_zone(session: Session) -> None:
    at = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    session.register("times", pd.DataFrame({"item": ["milk", "bread"], "at": [at, at]}))
    rows = session.sql("SELECT at, count(*) AS n FROM sales JOIN times USING (item) GROUP BY at").fetchall()
    assert len(rows) == 1 and str(rows[0][0]).startswith("2024-01-01")
    assert session.sql("SELECT max(at) AS e FROM times").fetchall() == [(at,)]


@each("value", [np.array(["a", "b"]), np.array([]), pd.Series(["a", "b"]), "\ud800", ["\ud800"], np.timedelta64(3), {1}])
def test_a_parameter_without_a_literal(session: Session, value: Any) -> None:
    with pytest.raises(anondb.InputError) as error:
        session.sql("SELECT count(*) FROM sales WHERE item = ?", [value])
    assert error.value.code == "bad_parameter"


@each(
    "value, wanted",
    [
        (np.int64(3), 3),
        (np.str_("a"), "a"),
        (float("inf"), float("inf")),
        (pd.NaT, None),
        (np.datetime64("2024-01-02", "ns"), dt.datetime(2024, 1, 2)),
    ],
)
def test_a_parameter_of_numpy_or_pandas(session: Session, value: Any, wanted: Any) -> None:
    assert session.sql("SELECT ? AS e", [value]).fetchall() == [(wanted,)]


def test_a_closed_session_says_so(shop: Path) -> None:
    opened = anondb.open(shop / "supports.duckdb")
    opened.close()
    opened.close()
    for use in (lambda: opened.sql("SELECT 1"), lambda: opened.register("p", KNOWN), lambda: opened.unregister("p")):
        with pytest.raises(anondb.InputError) as error:
            use()
        assert error.value.code == "closed" and error.value.hint


@each("files", [None, 5, b"x", [5], [b"x"]])
def test_files_that_are_no_paths(files: Any) -> None:
    with pytest.raises(anondb.InputError) as error:
        anondb.open(files)
    assert error.value.code == "bad_path" and error.value.hint


@each("seconds", ["x", 0, -1, True, float("nan")])
def test_a_time_limit_is_a_number_above_0(shop: Path, seconds: Any) -> None:
    with pytest.raises(anondb.InputError) as error:
        anondb.open(shop / "supports.duckdb", max_seconds=seconds)
    assert error.value.code == "bad_parameter"


COUNTED = "SELECT item, count(*) AS n FROM sales GROUP BY item"


@each(
    "outside, inside",
    [
        (f"({COUNTED}) ORDER BY n DESC, item LIMIT 1", f"{COUNTED} ORDER BY n DESC, item LIMIT 1"),
        (
            f"(({COUNTED}) ORDER BY n DESC, item LIMIT 3) LIMIT 1 OFFSET 1",
            f"{COUNTED} ORDER BY n DESC, item LIMIT 1 OFFSET 1",
        ),
        (f"SELECT * FROM (({COUNTED}) ORDER BY item LIMIT 2) t", f"{COUNTED} ORDER BY item LIMIT 2"),
        (f"WITH t AS (({COUNTED}) ORDER BY item LIMIT 2) FROM t", f"{COUNTED} ORDER BY item LIMIT 2"),
    ],
)
def test_ends_may_follow_parentheses(named: Named, outside: str, inside: str) -> None:
    assert named[1].sql(outside).fetchall() == named[1].sql(inside).fetchall()


def test_rows_whose_keys_no_worlds_share_are_those_of_one(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as groups by numbers that are never the same."""
    monkeypatch.setattr("anondb.answers.worlds.MOST_WORLDS", 6)
    counts = "SELECT item, count(*) AS n FROM sales GROUP BY item"
    number = f"SELECT sum(n * n * length(item) + n * ascii(item)) AS k FROM ({counts})"
    with anondb.open(shop / "plain.duckdb") as session:
        made = session.sql(f"SELECT k FROM ({number}) GROUP BY k")
        assert len(made.fetchall()) == 1 and any("no key is in half of the worlds" in note for note in made.notes)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[anondb.Database, Session]]:
    """A database of whole numbers as items, whose order is not that of their texts, and a session on its release."""
    sealed = tmp_path_factory.mktemp("numbered") / "r.duckdb"
    with anondb.connect() as db:
        db.sql("CREATE TABLE sales AS SELECT p AS tid, i AS item FROM range(60) t(p), unnest([9, 20, 100, -5]) u(i) "
               "WHERE (p * 7 + i) % 5 < 2 OR (i = 100 AND p < 50)")  # fmt: skip
        db.anonymize("sales", model=anondb.KmAnonymity(3, 2), algorithm="similar", name="r", queries=0).publish(sealed)
        with anondb.open(sealed) as session:
            yield db, session


GROUPS = "(SELECT item, count(*) AS n FROM sales GROUP BY item)"


@each(
    "sql",
    [
        "SELECT item AS k, n FROM (SELECT item, count(*) AS n, lag(count(*)) OVER (ORDER BY item) AS p FROM sales GROUP BY "
        "item) WHERE p IS NULL",
        "SELECT item AS k, n FROM (SELECT item, count(*) AS n, lag(count(*)) OVER (ORDER BY item) AS p FROM sales GROUP BY "
        "item) WHERE n > p",
        f"SELECT item AS k, lag(n) OVER (ORDER BY item DESC) AS s FROM {GROUPS}",
        f"SELECT item AS k, lead(n) OVER (ORDER BY item::BIGINT) AS s FROM {GROUPS}",
        f"SELECT item AS k, lag(n IGNORE NULLS) OVER (ORDER BY item) AS s FROM {GROUPS}",
        f"SELECT item AS k, any_value(n) OVER (PARTITION BY item) AS s FROM {GROUPS}",
        "SELECT nullif(count(*), 0) AS s FROM sales WHERE item = 7",
        "SELECT abs(nullif(count(*), 0) - 1) AS s FROM sales WHERE item = 7",
        "SELECT * FROM (VALUES ('all', (SELECT count(*) FROM sales)), ('9', (SELECT count(*) FROM sales WHERE item = 9))) "
        "v(k, n)",
        "SELECT col0 AS n FROM (VALUES ((SELECT count(DISTINCT tid) FROM sales)))",
        "SELECT w.k, count(s.tid) AS n FROM (VALUES (9, 'a'), (20, 'b'), (7, 'c')) w(item, k) LEFT JOIN sales s ON s.item = "
        "w.item GROUP BY w.k",
    ],
)
def test_bounds_hold_where_items_are_numbers(numbered: tuple[anondb.Database, Session], sql: str) -> None:
    db, session = numbered
    told, truth = session.sql(sql), db.sql(sql)
    names, missing = truth.columns, any("may be missing" in note for note in told.notes)
    assert not faults(told.columns, told.fetchall(), names, truth.fetchall(), nullable=True, every=not missing), sql
    cells = [(row[names.index("s") + at] for at in (1, 2)) for row in told.fetchall() if "s" in names]
    assert all(low is None or low <= high for low, high in cells), "an interval that nothing lies in"


def test_words_that_begin_statements_are_names_within_queries(plain: Session) -> None:
    words = ("alter", "drop", "force", "grant", "insert", "install", "revoke", "rollback")
    shown = ", ".join(f"avg({word}) AS {word}" for word in words)
    sql = f"SELECT {shown} FROM k WHERE {' + '.join(words)} > 1 AND k.alter < 9"
    rows = pd.DataFrame({word: [n, n + 1] for n, word in enumerate(words)})
    plain.register("k", rows)
    with duckdb.connect() as raw:
        raw.register("k", rows)
        assert plain.sql(sql).fetchall() == raw.sql(sql).fetchall()


def test_decimal_items_are_numbers(tmp_path: Path) -> None:
    """They are ordered and shown as such."""
    query = "SELECT item FROM sales GROUP BY item ORDER BY item DESC LIMIT 2"
    for opened, original in of_type(tmp_path, "DECIMAL(5, 1)"):
        assert opened.sql(query).fetchall() == original.execute(query).fetchall()
