"""Stars that change columns, defaults of macros, UNPIVOT of columns that a pattern names, and aggregates beside one that no
rule reads."""

from __future__ import annotations

from each import each

from anondb import Session

ITEMS = "SELECT item, count(*) AS n, 1 AS x FROM sales GROUP BY item"
PLAIN = "SELECT item, count(*) AS n FROM sales GROUP BY item"
BOTH = "SELECT item, count(*) AS a, count(DISTINCT tid) AS b FROM sales GROUP BY item"
TURNED = f"SELECT item, 'a' AS name, a AS value FROM ({BOTH}) UNION ALL SELECT item, 'b', b FROM ({BOTH})"
PAIRS = [
    (f"SELECT * EXCLUDE (x) FROM ({ITEMS})", PLAIN),
    (f"SELECT * EXCLUDE (x) REPLACE (n + x AS n) FROM ({ITEMS})", f"SELECT item, n + 1 AS n FROM ({PLAIN})"),
    (f"SELECT * EXCLUDE (x) RENAME (item AS one) FROM ({ITEMS})", f"SELECT item AS one, n FROM ({PLAIN})"),
    (f"SELECT q.* EXCLUDE (x) FROM ({ITEMS}) q", PLAIN),
    (f"SELECT item, * LIKE 'n%' FROM ({ITEMS})", PLAIN),
    (
        "SELECT one, count(*) AS n FROM (SELECT * RENAME (item AS one) FROM sales) GROUP BY one",
        f"SELECT item AS one, n FROM ({PLAIN})",
    ),
    (f"UNPIVOT ({BOTH}) ON COLUMNS(* EXCLUDE item)", TURNED),
    (f"UNPIVOT ({BOTH}) ON COLUMNS('^[ab]$')", TURNED),
    (
        "CREATE OR REPLACE MACRO shown(x, times := 2, of := 'milk') AS times * count(*) FILTER (WHERE x <> of); "
        "SELECT shown(item) AS n, shown(item, of := 'figs') AS m, shown(item, 3) AS k FROM sales",
        "SELECT 2 * count(*) FILTER (WHERE item <> 'milk') AS n, 2 * count(*) FILTER (WHERE item <> 'figs') AS m, "
        "3 * count(*) FILTER (WHERE item <> 'milk') AS k FROM sales",
    ),
]


@each("sql, plain_words", PAIRS)
def test_a_query_is_answered_as_in_plain_words(plain: Session, sql: str, plain_words: str) -> None:
    one, other = plain.sql(sql), plain.sql(plain_words)
    assert one.columns == other.columns and sorted(one.fetchall(), key=str) == sorted(other.fetchall(), key=str)
    assert not any(note.startswith("No bounds") for note in one.notes) and any(row[-1] is not None for row in one.fetchall())


def test_unpivot_with_nulls_has_a_row_for_each_column(plain: Session) -> None:
    rows = f"SELECT item, n, nullif(n, 0) AS m FROM ({PLAIN})"
    result = plain.sql(f"SELECT item, k, v FROM ({rows}) UNPIVOT INCLUDE NULLS (v FOR k IN (n, m))")
    assert len(result.fetchall()) == 2 * len(plain.sql(PLAIN).fetchall())


@each(
    "sql",
    [
        "SELECT count(*) AS n, max(item) AS last FROM sales",
        "SELECT left(item, 1) AS k, count(*) AS n, max(item) AS last FROM sales GROUP BY k",
    ],
)
def test_numbers_keep_their_bounds_beside_an_aggregate_that_no_rule_reads(plain: Session, sql: str) -> None:
    told, counted = plain.sql(sql), plain.sql(sql.replace(", max(item) AS last", ""))
    places = [told.columns.index(name) for name in counted.columns if name != "certain"]
    shown = {tuple(row[n] for n in places) for row in told.fetchall()}
    assert shown == {row[: len(places)] for row in counted.fetchall()}
    assert any("'last'" in note and "the function MAX" in note for note in told.notes)
