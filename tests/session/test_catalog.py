"""What tools ask first: tables, columns, types, empty results, previews."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from each import each
from session.conftest import Named

import anondb

SALES = [("tid", "BIGINT"), ("item", "VARCHAR")]
TABLES = """
SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_name IN ('sales', 'item_counts')
ORDER BY table_name
"""


@each(
    "sql",
    [
        "DESCRIBE sales",
        "DESC main.sales",
        "SHOW sales",
        "DESCRIBE SELECT * FROM sales",
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'sales' ORDER BY ordinal_position",
        "SELECT name, type FROM pragma_table_info('sales')",
        "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'sales' ORDER BY column_index",
        "SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c "
        "ON a.attrelid = c.oid WHERE c.relname = 'sales' ORDER BY a.attnum",
    ],
)
def test_the_columns_of_the_original(named: Named, sql: str) -> None:
    rows = [tuple(str(cell).upper() for cell in row[:2]) for row in named[1].sql(sql).fetchall()]
    types = {"INT8": "BIGINT", "TEXT": "VARCHAR"}
    assert [(name.lower(), types.get(kind, kind)) for name, kind in rows] == SALES


@each(
    "sql",
    ["SHOW TABLES", "PRAGMA show_tables", "SELECT table_name FROM duckdb_tables()", "SELECT name FROM sqlite_master"],
)
def test_the_tables_of_the_original_and_of_the_analyst(named: Named, sql: str) -> None:
    named[1].sql("CREATE OR REPLACE TABLE mine AS SELECT 1 AS a")
    listed = {row[0] for row in named[1].sql(sql).fetchall()}
    assert {"sales", "baskets", "mine"} <= listed and not any("world" in name or "fact" in name for name in listed)
    named[1].sql("DROP TABLE mine")
    assert "mine" not in {row[0] for row in named[1].sql(sql).fetchall()}


def test_objects_of_the_file_are_views(named: Named) -> None:
    assert named[1].sql(TABLES).fetchall() == [("main", "item_counts", "VIEW"), ("main", "sales", "BASE TABLE")]


@each(
    "sql",
    [
        "SELECT * FROM sales LIMIT 0",
        "SELECT * FROM sales WHERE 1 = 0",
        'SELECT * FROM "main"."sales" WHERE false',
        "SELECT * FROM sales WHERE item = 'milk' AND 1 = 0",
    ],
)
def test_an_empty_result_has_the_columns(named: Named, sql: str) -> None:
    result = named[1].sql(sql)
    assert (result.columns, result.types, result.fetchall()) == (["tid", "item"], ["BIGINT", "VARCHAR"], [])


COMPUTED = [
    "SELECT item, count(*) AS n, min(item) AS least, count(*) > 3 AS many FROM sales GROUP BY item",
    "SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 3",
    "SELECT avg(n) AS mean, list(n) AS every FROM (SELECT count(*) AS n FROM sales GROUP BY tid)",
    "SELECT n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)",
    "SELECT item, row_number() OVER (ORDER BY item) AS r FROM sales",
]


@pytest.mark.slow
@each("sql", COMPUTED)
def test_columns_need_no_world(shop: Path, sql: str) -> None:
    """Tools ask for the columns first; drawing worlds takes most of the time of an answer."""
    said: list[str] = []
    with anondb.open(shop / "supports.duckdb", on_statement=said.append) as session:
        columns = [row[:2] for row in session.sql(f"DESCRIBE {sql}").fetchall()]
        none = session.sql(f"SELECT * FROM ({sql}) LIMIT 0")
        assert not any("world_" in text for text in said)
        result = session.sql(sql)
        assert any("world_" in text for text in said)
    assert columns == list(zip(result.columns, result.types, strict=True))
    assert len(none) == 0 and {*result.columns} - {"certain"} == {*none.columns} - {"certain"}


def test_describe_shows_the_columns_of_the_answer(named: Named) -> None:
    sql = "SELECT item, count(*) AS n FROM sales WHERE item = 'milk' GROUP BY item"
    result = named[1].sql(sql)
    described = named[1].sql(f"DESCRIBE {sql}").fetchall()
    assert [row[:2] for row in described] == list(zip(result.columns, result.types, strict=True))


def test_a_summary_tells_nothing_of_ids(named: Named) -> None:
    result = named[1].sql("SUMMARIZE sales")
    rows: dict[str, dict[str, Any]] = {row[0]: dict(zip(result.columns, row, strict=True)) for row in result.fetchall()}
    assert {"tid", "item"} == rows.keys() and rows["item"]["max"] is not None
    assert all(rows["tid"][name] is None for name in ("min", "max", "avg", "std", "q25", "q50", "q75"))
    assert any("modelled" in note for note in result.notes)
    named[1].sql("CREATE OR REPLACE TABLE mine AS SELECT 3 AS a")
    assert named[1].sql("SUMMARIZE mine").fetchall()[0][2:4] == ("3", "3")
    named[1].sql("DROP TABLE mine")


def test_columns_of_any_type(named: Named) -> None:
    types = "NULL AS n, 'a'::ENUM('a', 'it''s') AS e, {'q': [1]} AS s, MAP {'a': NULL} AS m, INTERVAL 1 DAY AS i"
    named[1].register("odd", duckdb.sql(f"SELECT {types}"))
    described = [row[0] for row in named[1].sql("DESCRIBE odd").fetchall()]
    assert described == ["n", "e", "s", "m", "i"] == [row[0] for row in named[1].sql("DESCRIBE FROM odd").fetchall()]
    assert named[1].sql("INSERT INTO odd (e) VALUES ('it''s')").fetchall() == [(1,)]
    assert sorted(named[1].sql("SELECT e FROM odd").fetchall()) == [("a",), ("it's",)]
    named[1].sql("DROP TABLE odd")


def test_plans(named: Named) -> None:
    assert named[1].sql("EXPLAIN SELECT count(*) FROM sales").columns == ["explain_key", "explain_value"]


@each(
    "sql",
    [
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM duckdb_secrets()",
        "SELECT * FROM pg_catalog.pg_settings",
        "SELECT name FROM pg_settings, pg_catalog.pg_class",
        "SELECT * FROM duckdb_extensions()",
        "SELECT * FROM information_schema.tables, read_text('/etc/passwd')",
        "SELECT * FROM information_schema.tables, sales",
        "SELECT count(*) FROM pg_catalog.pg_tables, (SELECT tid FROM sales WHERE tid = 3)",
        "PRAGMA database_size",
        "PRAGMA memory_limit = '1GB'",
        "SELECT current_setting('secret_directory')",
        "SELECT current_setting('secret_directory') FROM duckdb_functions() LIMIT 1",
        "SELECT count(*) FILTER (main.current_setting('secret_' || 'directory') = '') FROM sales",
        "CREATE MACRO told(x) AS current_setting(x); SELECT told('secret_directory')",
        "EXPLAIN SELECT 'secret_directory'.current_setting()",
        "WITH sales AS (SELECT 5 AS tid) SELECT count(*) FROM main.sales",
    ],
)
def test_nothing_else_is_told(named: Named, sql: str) -> None:
    with pytest.raises(anondb.InputError) as error:
        named[1].sql(sql)
    assert error.value.code in ("unsupported_query", "bad_sql")


@pytest.mark.slow
@each(
    "sql",
    [
        'SELECT "main"."sales"."item" AS "item", COUNT(*) AS "n" FROM "main"."sales" GROUP BY "main"."sales"."item"',
        'SELECT "source"."item" AS "item", COUNT(*) AS "n" FROM (SELECT "main"."sales"."tid" AS "tid", '
        '"main"."sales"."item" AS "item" FROM "main"."sales") AS "source" GROUP BY "source"."item" LIMIT 1048575',
        'select "_"."item", "_"."n" from (select "rows"."item" as "item", count(1) as "n" from "main"."sales" "rows" '
        'group by "item") "_" limit 1000',
        "SELECT item AS item, count(*) AS n FROM main.sales GROUP BY item LIMIT 50000",
    ],
)
def test_tools_qualify_names(named: Named, sql: str) -> None:
    plain = named[1].sql("SELECT item, count(*) AS n FROM sales GROUP BY item")
    key = ["item", "n", "n_lower", "n_upper"]
    rows = [frame[key].sort_values("item").values.tolist() for frame in (named[1].sql(sql).df(), plain.df())]
    assert rows[0] == rows[1]
