"""Macros that hide functions of DuckDB's own: a typed refusal wherever anondb computes, or no effect at all."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from portions import some

import anondb
from anondb.api.database import Database
from anondb.cli import main
from anondb.engine.queries import SQL_ROOT
from anondb.engine.shadowed import reachable

ROWS = "CREATE TABLE sales AS SELECT i // 3 AS tid, 'i' || (i * 7) % 11 AS item FROM range(90) AS r(i)"
EDGES = "CREATE TABLE food AS SELECT DISTINCT item AS node, 'ANY' AS parent FROM sales"
COUNT = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'i1'"
VIEW = "CREATE ANONYMIZED VIEW w AS SELECT tid, item FROM sales WITH (model = 'km', k = 2, taxonomy = 'food', queries = 5);"
MACROS = [
    "min(x) AS 1000", "max(x) AS 1000", "sum(x) AS 1000", "greatest(a, b) AS 1000", "row_number() AS 1000",
    "COUNT_star() AS 1000", "lower(x) AS 'z'", '"||"(a, b) AS 1000', '"~~"(a, b) AS 1000', "list_value(a) AS 1000",
    "txid_current() AS 1000", "current_setting(x) AS 'a'", "duckdb_functions() AS TABLE SELECT 1 AS n",
    "unnest(x) AS TABLE SELECT 1 AS n", "duckdb_tables() AS TABLE SELECT 1 AS n", "read_parquet(x) AS TABLE SELECT 1 AS n",
]  # fmt: skip


def shop(connection: duckdb.DuckDBPyConnection) -> Database:
    """A connection of the user's with a release ``spring``."""
    connection.execute(ROWS)
    connection.execute(EDGES)
    database = anondb.connect(connection)
    database.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="spring", queries=5)
    return database


@pytest.fixture
def mine() -> Iterator[tuple[duckdb.DuckDBPyConnection, Database]]:
    connection = duckdb.connect()
    yield connection, shop(connection)
    connection.close()


def entries(database: Database, tmp_path: Path) -> list[Callable[[], Any]]:
    """Everything that computes on a database that has macros of the user's."""
    release = database.release("spring")
    release.query(COUNT)
    return [
        lambda: database.anonymize("sales", taxonomy="food", name="other", queries=5),
        lambda: database.verify("sales"),
        lambda: database.verify(release="spring"),
        lambda: database.check_view("spring"),
        lambda: database.releases(),
        lambda: database.explain("spring", "i1"),
        lambda: release.measure(queries=5),
        lambda: release.attack(individuals=5),
        lambda: release.query(COUNT),
        lambda: database.release("spring").query(COUNT),
        lambda: release.count_bounds(["i1"]),
        lambda: release.table("baskets"),
        lambda: release.publish(tmp_path / "sealed.duckdb"),
        lambda: database.sql(VIEW),
        lambda: database.sql("SHOW ANONYMIZED VIEWS;"),
        lambda: database.drop("spring"),
    ]


def tables_of(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    return connection.sql("SELECT schema_name, table_name FROM system.main.duckdb_tables()").fetchall()


def create(connection: duckdb.DuckDBPyConnection, macro: str, where: str) -> tuple[str, str]:
    """Make a macro; returns its name, and the statement that drops it."""
    connection.execute(f"CREATE {'TEMP' if where == 'temp' else ''} MACRO {macro}")
    name = macro.split("(")[0].strip('"')
    kind = "TABLE" if "AS TABLE" in macro else ""
    return name, f'DROP MACRO {kind} "{where if where == "temp" else "memory"}".main."{name}"'


def check_refusal(call: Callable[[], Any], name: str) -> None:
    with pytest.raises(anondb.InputError) as refused:
        call()
    assert refused.value.code == "shadowed_function"
    assert f"{name!r}" in str(refused.value) and ".main" in str(refused.value)
    assert "1000" not in str(refused.value)


@pytest.mark.slow
def test_every_macro_is_refused(mine: tuple[duckdb.DuckDBPyConnection, Database], tmp_path: Path) -> None:
    """By one call that opens a transaction and by one that answers a question; all of them are tried with some macros."""
    connection, database = mine
    release = database.release("spring")
    for macro in MACROS:
        for where in ("main", "temp"):
            name, drop = create(connection, macro, where)
            check_refusal(lambda: database.verify("sales"), name)
            check_refusal(lambda: release.query(COUNT), name)
            connection.execute(drop)
    assert not database.verify("sales").verified and release.query(COUNT).bounds[2] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("macro", "where"),
    some(
        [(macro, where) for macro in MACROS for where in ("main", "temp")],
        (MACROS[0], "temp"),
        check=(),
        ids=lambda case: f"{case[0].partition('(')[0]}-{case[1]}",
    ),
)
def test_a_macro_is_refused_everywhere(
    mine: tuple[duckdb.DuckDBPyConnection, Database], tmp_path: Path, macro: str, where: str
) -> None:
    connection, database = mine
    calls = entries(database, tmp_path)
    before = tables_of(connection)
    name, drop = create(connection, macro, where)
    for call in calls:
        check_refusal(call, name)
    assert tables_of(connection) == before
    assert not (tmp_path / "sealed.duckdb").exists()
    connection.execute(drop)
    for call in calls:
        call()


def used_names() -> set[str]:
    """Every word before a bracket in the named queries and in the statements of some runs, and what other syntax means."""
    texts = [path.read_text("utf-8") for path in SQL_ROOT.rglob("*.sql")]
    with duckdb.connect() as connection:
        connection.execute(ROWS)
        connection.execute(EDGES)
        database = anondb.connect(connection, on_statement=texts.append)
        for model, more in (
            (anondb.KmAnonymity(2, 2), {"taxonomy": "food"}),
            (anondb.KmAnonymity(2, 2), {"algorithm": "coat"}),
            (anondb.TransactionalK(2), {"taxonomy": "food"}),
            (anondb.HkpCoherence(0.8, 2, 1), {"sensitive": ["i1"], "max_suppression": 100}),
            (anondb.Anatomy(2, columns=2), {}),
        ):
            release = database.anonymize("sales", model=model, name=model.name, queries=5, replace=True, **more)
            if model.name != "anatomy":
                release.query(COUNT)
    text = "\n".join(re.sub(r"^--.*$", "", text, flags=re.M) for text in texts)
    code = re.sub(r"'(?:[^']|'')*'", "''", text)
    words = {word.lower() for word in re.findall(r"\b([a-z_][a-z0-9_]*)\s*\(", code, flags=re.I)}
    operators = {"+", "-", "*", "/", "//", "%", "||", "~~", "!~~", "~~*", "^", "&", "|", "<<", ">>"}
    syntax = {"list_value", "count_star", "array_extract", "array_slice", "struct_extract", "struct_pack", "row"}
    return words | operators | syntax | {"list_contains", "contains", "date_part", "substring", "position", "to_days"}


EVERY = {"min", "max", "sum", "count", "row_number", "greatest", "unnest", "||", "list_value", "lower"}  # among others


@pytest.mark.slow
@pytest.mark.parametrize("one_in", [30, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_name_that_is_used_is_refused_or_does_not_matter(one_in: int) -> None:
    """One macro after the other is refused by its name; all that are not stay, and change nothing."""
    with duckdb.connect() as connection:
        database = shop(connection)
        right = connection.sql("SELECT items, count(*) FROM release_spring.baskets GROUP BY ALL ORDER BY ALL").fetchall()
        refused, harmless = set(), set()
        names = used_names()
        assert names >= EVERY
        for name in sorted({*sorted(names)[::one_in], *EVERY}):
            made = []
            for kind, body in (("", "(a) AS 1000, (a, b) AS 1000"), ("TABLE", "() AS TABLE SELECT 1000 AS a")):
                with contextlib.suppress(duckdb.Error):  # DuckDB does not let it be hidden
                    connection.execute(f'CREATE MACRO "{name}"{body}')
                    made.append(kind)
            try:
                database.releases()
            except anondb.InputError as error:
                assert error.code == "shadowed_function", name
                refused.add(name)
                for kind in made:
                    connection.execute(f'DROP MACRO {kind} "{name}"')
            else:
                harmless.add(name)
        database.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="again", queries=5)
        found = connection.sql("SELECT items, count(*) FROM release_again.baskets GROUP BY ALL ORDER BY ALL").fetchall()
    assert found == right
    assert refused >= EVERY
    assert len(refused) * one_in > 80 and (harmless or one_in > 1), (len(refused), harmless)


ELSEWHERE = [
    ["CREATE SCHEMA helpers", "CREATE MACRO helpers.min(x) AS 1000"],
    ["ATTACH ':memory:' AS other", "CREATE MACRO other.main.min(x) AS 1000"],
    ["CREATE MACRO discount(x) AS x * 0.9", "CREATE MACRO items_of(x) AS TABLE SELECT x"],
]


EVERYTHING = [statement for statements in ELSEWHERE for statement in statements]


@pytest.mark.slow
@pytest.mark.parametrize("elsewhere", some([EVERYTHING, *ELSEWHERE], EVERYTHING, check=[]))
def test_macros_that_hide_nothing_do_not_matter(
    mine: tuple[duckdb.DuckDBPyConnection, Database], tmp_path: Path, elsewhere: list[str]
) -> None:
    connection, database = mine
    for statement in elsewhere:
        connection.execute(statement)
    for call in entries(database, tmp_path):
        call()


@pytest.mark.parametrize(
    "path", some(["helpers,main", "main,helpers", "other.main,memory.main", '"a.b","x""y".main,memory.main'], "main,helpers")
)
def test_the_search_path_is_followed(mine: tuple[duckdb.DuckDBPyConnection, Database], path: str) -> None:
    connection, database = mine
    connection.execute("CREATE SCHEMA helpers; ATTACH ':memory:' AS other; CREATE SCHEMA \"a.b\"")
    connection.execute('ATTACH \':memory:\' AS "x""y"')
    place = {"h": "helpers", "m": "helpers", "o": "other.main", '"': '"x""y".main'}[path[0]]
    connection.execute(f"CREATE MACRO {place}.min(x) AS 1000")
    database.verify(release="spring")
    connection.execute(f"SET search_path = '{path}'")
    with pytest.raises(anondb.InputError, match="'min'"):
        database.verify("memory.main.sales")


def test_paths() -> None:
    macros = [("db", "main", "f"), ("db", "S", "f"), ("o.p", "main", "f"), ("temp", "main", "f")]
    assert reachable(macros, "", "db") == [macros[0], macros[3]]
    assert reachable(macros, "s", "DB") == macros[1:2] + macros[3:]
    assert reachable(macros, '"o.p".main, db.s', "db") == macros[1:]
    assert reachable(macros, '"o.p"', "db") == macros[2:]


@pytest.mark.slow
def test_a_macro_of_the_same_script(tmp_path: Path) -> None:
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(f"{ROWS}; {EDGES}")
    with anondb.connect(path) as database:
        database.sql(VIEW)
        with pytest.raises(
            anondb.InputError, match=r"statement 2, line 1, column 54: The macro 'min' in shop.main"
        ) as refused:
            database.sql("CREATE MACRO min(x) AS 1000; REFRESH ANONYMIZED VIEW w;")
        assert refused.value.code == "shadowed_function"
        with pytest.raises(anondb.InputError, match="'min'"):
            database.verify("sales")
        assert database.sql("DROP MACRO min; SELECT min(tid) FROM sales").fetchall() == [(0,)]  # type: ignore[union-attr]
        database.sql("REFRESH ANONYMIZED VIEW w")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    some(["anonymize", "verify", "releases", "accuracy", "run", "publish", "attack", "explain"], "verify", "run", check=()),
)
def test_the_command_line(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as connection:
        shop(connection)
        connection.execute("CREATE MACRO min(x) AS 1000")
    script = tmp_path / "script.sql"
    script.write_text(VIEW)
    more = {
        "anonymize": ["--transactions", "sales"],
        "verify": ["--transactions", "sales"],
        "releases": [],
        "accuracy": ["--release", "spring"],
        "run": [str(script)],
        "publish": ["--release", "spring", "--to", str(tmp_path / "sealed.duckdb")],
        "attack": ["--release", "spring"],
        "explain": ["--release", "spring", "--item", "i1"],
    }
    monkeypatch.setattr("sys.argv", ["anondb", command, path, *more[command]])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "The macro 'min' in shop.main hides" in capsys.readouterr().err


def test_a_macro_made_on_the_engines_own_connection() -> None:
    """A database in memory is looked at once, too."""
    with anondb.connect() as database:
        database.engine.connection.execute(f"{ROWS}; CREATE MACRO min(x) AS 1000")
        with pytest.raises(anondb.InputError, match="'min'"):
            database.verify("sales")


def test_sql_that_may_make_a_macro_has_the_names_checked_again() -> None:
    said: list[str] = []
    with anondb.connect(on_statement=said.append) as database:
        database.sql(f"{ROWS}; INSERT INTO sales VALUES (1, 'i1'); SELECT * FROM sales; UPDATE sales SET tid = 1")
        database.verify("sales")
        assert not any("duckdb_functions()" in text for text in said)
        database.sql("CREATE SCHEMA helpers; CREATE MACRO helpers.max(x) AS 1000")
        database.verify("sales")
        made = ("create or replace temp /* as */ FUNCTION max(x) AS 1000", "SET search_path = 'helpers'", "USE helpers")
        for text, undone in zip(made, ("DROP MACRO temp.max", "RESET search_path", "USE main"), strict=True):
            database.sql(text)
            with pytest.raises(anondb.InputError, match="The macro 'max'"):
                database.verify("memory.main.sales")
            database.sql(undone)
        database.verify("sales")
