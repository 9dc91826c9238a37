"""The Python interface: connections that belong to the user, sources of every kind, and releases."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli.shop import BASKETS, EDGES, RELEASED, baskets, fill, state, state_of
from each import each
from portions import some

import anondb
from anondb import AnondbError, EngineError, InfeasibleError, InputError, KmAnonymity

SMALL: dict[str, Any] = {"model": KmAnonymity(2, 2), "taxonomy": "food", "queries": 10}
FRAME = pd.DataFrame([(t, i) for t, b in BASKETS.items() for i in b], columns=["tid", "item"])
TREE = pd.DataFrame(EDGES, columns=["node", "parent"])


@pytest.fixture
def mine() -> Iterator[duckdb.DuckDBPyConnection]:
    """The user's own connection, with settings and temporary objects of the user's."""
    connection = duckdb.connect()
    fill(connection)
    connection.execute("SET threads = 2")
    connection.execute("SET memory_limit = '700MB'")
    connection.execute("SET VARIABLE k = 41")
    connection.execute("CREATE TEMP TABLE notes AS SELECT 1 AS i")
    connection.execute("CREATE TEMP VIEW seen AS FROM notes")
    yield connection
    connection.close()


def around(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Everything of a connection that anondb has no business with."""
    asked = {
        "settings": "FROM duckdb_settings()",
        "databases": "SELECT database_name, path, readonly FROM duckdb_databases()",
        "schemas": "SELECT database_name, schema_name FROM duckdb_schemas()"
        " WHERE schema_name NOT LIKE 'release_%' AND schema_name <> 'anondb'",
        "temporary tables": "SELECT schema_name, table_name FROM duckdb_tables() WHERE temporary",
        "temporary views": "SELECT schema_name, view_name FROM duckdb_views() WHERE temporary",
        "variables": "SELECT name, value::VARCHAR FROM duckdb_variables()",
        "place": "SELECT current_database(), current_schema(), current_schemas(true), current_setting('search_path')",
        "extensions": "SELECT extension_name, loaded, installed FROM duckdb_extensions()",
    }
    return {what: sorted(map(repr, connection.execute(text).fetchall())) for what, text in asked.items()}


# ---------------------------------------------------------------------- a connection that is passed in


@pytest.mark.slow
def test_a_connection_is_left_as_it_was(mine: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    before = around(mine)
    database = anondb.connect(mine)
    release = database.anonymize("sales", name="spring", publish=tmp_path / "a.duckdb", **SMALL)
    release.publish(tmp_path / "b.duckdb")
    release.measure(queries=3)
    assert database.verify(release="spring").verified and release.count_bounds(["a"]) == (4, 4.0, 4)
    assert len(release.table("baskets").fetchall()) == 6
    assert around(mine) == before
    database.drop("spring")
    database.close()
    assert around(mine) == before
    assert mine.execute("SELECT count(*) FROM sales").fetchall() == [(12,)]  # still open


@pytest.mark.slow
def test_a_connection_is_left_as_it_was_after_errors(
    mine: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = around(mine), state(mine)
    database = anondb.connect(mine)

    def check(kind: type[AnondbError] | type[BaseException], source: Any, **options: Any) -> None:
        with pytest.raises(kind):
            database.anonymize(source, **{**SMALL, "publish": tmp_path / "x.duckdb", **options})
        assert (around(mine), state(mine)) == everything

    check(InputError, "no such table")
    check(InputError, pd.DataFrame({"tid": [1.5], "item": ["a"]}))
    check(InputError, FRAME, taxonomy=pd.DataFrame({"node": ["a", "a"], "parent": ["x", "y"]}))
    check(InputError, "sales", workload="no such table")
    check(InfeasibleError, "sales", model=KmAnonymity(9, 2))

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for kind, failure in ((RuntimeError, broken), (KeyboardInterrupt, stopped)):
        for step in ("anonymize.verify_release", "anonymize.fingerprint", "load.load_taxonomy", "anonymize.loss_of"):
            with monkeypatch.context() as patch:
                patch.setattr(f"anondb.pipeline.{step}", failure)
                check(kind, "sales")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_temporary_tables_are_sources(mine: duckdb.DuckDBPyConnection) -> None:
    mine.execute("CREATE TEMP TABLE recent AS FROM sales")
    mine.execute("CREATE TEMP TABLE tree AS FROM food")
    release = anondb.connect(mine).anonymize("recent", **{**SMALL, "taxonomy": "tree"})
    assert (
        release.name == "recent" and sorted(r[0] for r in release.table("baskets").project("items").fetchall()) == RELEASED
    )


@pytest.mark.slow
def test_an_open_transaction_is_not_touched(mine: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    database = anondb.connect(mine)
    release = database.anonymize("sales", name="spring", **SMALL)
    mine.execute("BEGIN")
    mine.execute("INSERT INTO sales VALUES (99, 'a')")
    for call in (
        lambda: database.anonymize("sales", name="autumn", **SMALL),
        lambda: database.verify("sales"),
        lambda: database.verify(release="spring"),
        lambda: release.publish(tmp_path / "x.duckdb"),
        lambda: release.measure(),
        lambda: database.drop("spring"),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == "transaction_open" and "COMMIT or ROLLBACK" in str(caught.value)
        assert mine.execute("SELECT count(*) FROM sales").fetchall() == [(13,)]
    mine.execute("COMMIT")
    assert mine.execute("SELECT count(*) FROM sales").fetchall() == [(13,)]
    assert database.verify(release="spring").verified and list(tmp_path.iterdir()) == []


def test_an_open_transaction_is_refused_with_a_hint(mine: duckdb.DuckDBPyConnection) -> None:
    database = anondb.connect(mine)
    mine.execute("BEGIN")
    with pytest.raises(InputError, match="COMMIT or ROLLBACK"):
        database.verify("sales")
    mine.execute("ROLLBACK")
    assert not database.verify("sales").verified


def test_options_of_the_connection_are_the_users(mine: duckdb.DuckDBPyConnection) -> None:
    for options in ({"threads": 1}, {"memory_limit": "1GB"}, {"read_only": True}):
        with pytest.raises(InputError, match="Set them on your connection"):
            anondb.connect(mine, **options)


def test_a_closed_connection() -> None:
    connection = duckdb.connect()
    connection.close()
    with pytest.raises(AnondbError):
        anondb.connect(connection).verify("sales")


@each(
    "options",
    [
        {"threads": 0},
        {"threads": "x"},
        {"threads": True},
        {"threads": 100_000},
        {"memory_limit": 5},
        {"memory_limit": "much"},
    ],
)
def test_options_of_our_own_connections(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        anondb.connect(**options)


@pytest.mark.parametrize("path", some([5, None, "", "a\0b", b"x"], "a\0b", ids=repr))
def test_what_is_no_path(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        anondb.connect(path)
    with anondb.connect() as database:
        release = database.anonymize(FRAME, **{**SMALL, "taxonomy": TREE})
        with pytest.raises(InputError):
            release.publish(path)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------- sources


@pytest.mark.parametrize(
    "kind", some(["pandas", "arrow", "list column", "arrow lists", "categories", "object ids"], "arrow lists")
)
def test_frames(kind: str) -> None:
    tree: Any = TREE
    if kind == "pandas":
        given: Any = FRAME
    elif kind == "arrow":
        given, tree = pa.Table.from_pandas(FRAME), pa.Table.from_pandas(TREE)
    elif kind == "list column":
        given = pd.DataFrame({"tid": list(BASKETS), "item": [list(b) for b in BASKETS.values()]})
    elif kind == "arrow lists":
        given = pa.table({"tid": list(BASKETS), "item": [list(b) for b in BASKETS.values()]})
    elif kind == "categories":
        given = FRAME.astype({"item": "category"})
    else:
        given = FRAME.assign(tid=np.array([str(t) for t in FRAME["tid"]], dtype=object))
    with anondb.connect() as database:
        release = database.anonymize(given, **{**SMALL, "taxonomy": tree}, name="x")
        assert sorted(r[0] for r in release.table("baskets").project("items").fetchall()) == RELEASED
        assert release.verification.verified and release.accuracy.queries == 5
        assert str(release.loss.lm_total) == "4/3"
        checked = database.verify(given, model=KmAnonymity(2, 2), witnesses=1)
        assert (checked.violations, checked.witnesses[0].items) == (4, ("a", "c"))


@pytest.mark.slow
@pytest.mark.parametrize("taxonomy", some(["edges.csv", "wide.csv", "paths.tree", "paths.csv"], "wide.csv", check=()))
def test_taxonomy_files(taxonomy: str, tmp_path: Path) -> None:
    path = tmp_path / taxonomy
    if taxonomy == "edges.csv":
        TREE.to_csv(path, index=False)
    elif taxonomy == "wide.csv":
        path.write_text("leaf,level,top\na,X,all\nb,X,all\nc,Y,all\nd,Y,all\n")
    else:
        path.write_text("a;X;all\nb;X;all\nc;Y;all\nd;Y;all\n")
    with anondb.connect() as database:
        for given in (path, str(path)):
            release = database.anonymize(FRAME, **{**SMALL, "taxonomy": given}, name="x", replace=True)
            assert sorted(r[0] for r in release.table("baskets").project("items").fetchall()) == RELEASED


@pytest.mark.slow
def test_a_view_that_changes_is_read_once(mine: duckdb.DuckDBPyConnection) -> None:
    mine.execute(
        "CREATE VIEW dice AS SELECT (random() * 60)::INTEGER AS tid, chr(97 + (random() * 3)::INTEGER) AS item"
        " FROM range(400)"
    )
    release = anondb.connect(mine).anonymize("dice", **SMALL)
    report = release.report
    assert report is not None and report.verification.verified and report.accuracy.outside == 0
    assert len(release.table("transaction_ids").fetchall()) == report.transactions
    truth = mine.execute("SELECT count(DISTINCT tid) FROM dice").fetchall()[0][0]
    assert 40 <= truth <= 61 and release.count_bounds([]) == (report.transactions, report.transactions, report.transactions)


@pytest.mark.slow
@pytest.mark.parametrize("read_only", some([False, True], True, check=()))
def test_attached_databases(tmp_path: Path, read_only: bool) -> None:
    other = tmp_path / "other.duckdb"
    with duckdb.connect(str(other)) as connection:
        fill(connection)
        connection.execute("CREATE SCHEMA s")
        connection.execute("CREATE TABLE s.sales AS FROM sales")
        connection.execute("CREATE VIEW s.seen AS FROM s.sales")
    before = state_of(other)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{other}' AS other{' (READ_ONLY)' if read_only else ''}")
        database = anondb.connect(connection)
        for number, source in enumerate(("other.sales", "other.main.sales", "other.s.sales", '"other"."s"."seen"')):
            release = database.anonymize(source, **{**SMALL, "taxonomy": "other.food"}, name=f"r{number}")
            assert release.verification.verified and release.measure(queries=3).queries == 3
    assert state_of(other) == before


@pytest.mark.slow
def test_a_file_beside_the_database_is_only_read(shop: Path, tmp_path: Path) -> None:
    before, trial = state_of(shop), tmp_path / "shop" / "shop.duckdb"
    trial.parent.mkdir()
    with anondb.connect(trial, attach=shop) as database:
        made = database.anonymize("sales", model="km", k=2, m=2, taxonomy="food", name="tried", queries=0)
        report = made.owner_report(queries=5)
        assert report.source == "unchanged" and report.supports["a"] == 4 and made.report_html(queries=5) == report.html()
    with anondb.connect(trial, read_only=True) as database:
        assert database.explain("tried", "a").outcome == "as_is"
    assert state_of(shop) == before and baskets(trial, "release_tried") == RELEASED
    refused: tuple[tuple[str, dict[str, Any]], ...] = (
        ("not_a_database", {"attach": __file__}),
        ("no_such_file", {"attach": tmp_path / "none.duckdb"}),
        ("bad_usage", {"attach": "postgresql://nowhere/shop"}),
    )
    for code, options in refused:
        with pytest.raises(InputError) as caught:
            anondb.connect(**options)
        assert caught.value.code == code, code
    with duckdb.connect() as mine, pytest.raises(InputError, match="attach"):
        anondb.connect(mine, attach=shop)


@pytest.mark.slow
def test_a_table_with_the_name_of_a_releases_table_is_read_beside_the_database(tmp_path: Path) -> None:
    """Releases have views ``transactions`` in schemas of their own, in both databases."""
    source = tmp_path / "source.duckdb"
    with anondb.connect(source) as database:
        database.sql("CREATE TABLE transactions AS SELECT range AS tid, 'a' AS item FROM range(4)")
        database.anonymize("transactions", model="km", k=2, m=1, name="old", queries=0)
    with anondb.connect(tmp_path / "trial.duckdb", attach=source) as database:
        for name in ("first", "second"):
            assert database.anonymize("transactions", model="km", k=2, m=1, name=name, queries=0).report.transactions == 4


HOSTILE = ('q"u', "; DROP SCHEMA main; --\ny it's")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "table"),
    some(
        [
            HOSTILE,
            ("select", "from"),
            ("a.b", "c.d"),
            ('q"u', "it's"),
            ("\U0001f34e", "\u202eabc"),
            ("; DROP SCHEMA main; --", "x\ny"),
            ("s", "x" * 5000),
            (" ", "$1 ? %s {0}"),
        ],
        HOSTILE,
        ids=lambda names: ascii(names[1][:10]),
        check=(),
    ),
)
def test_hostile_names(mine: duckdb.DuckDBPyConnection, schema: str, table: str, tmp_path: Path) -> None:
    quoted = ['"' + n.replace('"', '""') + '"' for n in (schema, table)]
    name = ".".join(quoted)
    mine.execute(f"CREATE SCHEMA {quoted[0]}")
    mine.execute(f"CREATE TABLE {name} AS SELECT tid AS {quoted[0]}, item AS {quoted[1]} FROM sales")
    database = anondb.connect(mine)
    release = database.anonymize(name, id=schema, item=table, **SMALL)
    assert release.name == table and release.manifest["table"] == table
    assert (release.manifest["id_column"], release.manifest["item_column"]) == (schema, table)
    assert release.measure(queries=3).queries == 3
    release.publish(tmp_path / "x.duckdb")
    assert baskets(tmp_path / "x.duckdb") == RELEASED
    entry = database.releases()[0]
    assert (entry.name, entry.source_table, entry.status) == (table, table, "present")
    database.drop(table)
    assert database.releases()[0].status == "dropped"


def test_a_name_that_means_several(mine: duckdb.DuckDBPyConnection) -> None:
    for schema in ("one", "two"):
        mine.execute(f"CREATE SCHEMA {schema}")
        mine.execute(f"CREATE TABLE {schema}.both AS FROM sales")
    database = anondb.connect(mine)
    with pytest.raises(InputError) as caught:
        database.verify("both")
    assert caught.value.code == "ambiguous_table"
    assert database.verify("one.both").violations == database.verify("sales").violations
    mine.execute('CREATE TABLE "one.both" (tid INTEGER, item VARCHAR)')
    assert database.verify("one.both").verified  # a table that is called just so comes first


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    some(
        ["anondb", "temp", "system", "main", "memory", "pg_catalog", "select", "x.y", "release_x", "\U0001f34e"],
        "temp",
        "x.y",
        check=(),
    ),
)
def test_names_of_the_owners_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.duckdb"
    with duckdb.connect(str(path)) as connection:
        fill(connection)
    with anondb.connect(path) as database:
        release = database.anonymize("sales", name="spring", **SMALL)
        assert release.count_bounds(["a"]) == (4, 4.0, 4) and release.measure(queries=2).queries == 2
        assert [e.name for e in database.releases()] == ["spring"]
    assert baskets(path, "release_spring") == RELEASED


def test_a_file_called_information_schema(tmp_path: Path) -> None:
    path = tmp_path / "information_schema.duckdb"
    with duckdb.connect(str(path)) as connection:
        fill(connection)
    with pytest.raises(AnondbError) as caught:
        anondb.connect(path)
    assert (caught.value.code, caught.value.exit_code) == ("bad_name", 2)


def test_a_release_of_the_files_own_name(tmp_path: Path) -> None:
    path = tmp_path / "release_x.duckdb"
    with duckdb.connect(str(path)) as connection:
        fill(connection)
    before = state_of(path)
    with anondb.connect(path) as database, pytest.raises(InputError):
        database.anonymize("sales", name="x", **SMALL)
    assert state_of(path) == before


@pytest.mark.slow
def test_a_read_only_database(shop: Path, tmp_path: Path) -> None:
    before = state_of(shop)
    with anondb.connect(shop, read_only=True) as database:
        for call in (
            lambda: database.anonymize("sales", **SMALL),
            lambda: database.release("old").measure(queries=2),
            lambda: database.drop("old"),
            lambda: database.release("old").publish(tmp_path / "sealed.duckdb"),  # the ledger has to note it
        ):
            with pytest.raises(InputError) as caught:
                call()
            assert caught.value.code == "read_only"
        assert database.release("old").verification.verified
    assert state_of(shop) == before and not (tmp_path / "sealed.duckdb").exists()


def test_a_file_that_another_process_holds(shop: Path) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code, str(shop)], text=True, **pipes) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "open\n"
        with pytest.raises(EngineError) as caught:
            anondb.connect(shop)
        assert (caught.value.code, caught.value.exit_code) == ("locked", 5)
        assert str(shop.parent) not in str(caught.value)
        holder.communicate()
    anondb.connect(shop).close()


# ---------------------------------------------------------------------- releases


@pytest.mark.slow
def test_a_release_just_made(shop: Path, tmp_path: Path) -> None:
    with anondb.connect(shop) as database:
        release = database.anonymize("sales", name="spring", **SMALL)
        assert release.verification.verified and release.verification.violations == 0
        assert release.loss.lm == pytest.approx(1 / 9) and release.accuracy.queries == 5
        assert release.manifest.keys() == {
            *("release_id", "model", "k", "m", "transactions", "semantics", "suppression"),
            *("table", "id_column", "item_column", "layout", "types", "suppressed_items", "version"),
        }
        assert isinstance(release.table("transactions"), duckdb.DuckDBPyRelation)
        assert release.table("released_items").order("ALL").fetchall() == [("Y", "c"), ("Y", "d"), ("a", "a"), ("b", "b")]
        assert release.table("transaction_ids").order("ALL").fetchall() == [(n, True) for n in range(1, 7)]
        assert release.count_bounds(["a", "b"]) == (2, 2.0, 2) and release.count_bounds([]) == (6, 6.0, 6)
        assert release.count_bounds(["c"]) == (0, pytest.approx(2.368956, rel=1e-6), 4) and release.count_bounds(["z"]) == (
            0,
            0.0,
            0,
        )
        file = release.publish(tmp_path / "sealed.duckdb")
        assert file.path == tmp_path / "sealed.duckdb" and file.release_id == release.manifest["release_id"]
        for name in ("nothing", "x" * 99, 'a"b'):
            with pytest.raises(AnondbError):
                release.table(name)
        for items in (None, "ab", [None], [1.5], ["\ud800"], {"a": 1}):
            with pytest.raises(InputError):
                release.count_bounds(items)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_release_of_an_earlier_session(shop: Path) -> None:
    with anondb.connect(shop) as database:
        release = database.release("OLD")
        assert release.report is not None and release.verification.verified
        entry = database.releases()[-1]
        assert (str(release.loss.lm_total), release.loss.lm, release.loss.ncp) == (entry.lm_total, entry.lm, entry.ncp)
        assert entry.lm_total is not None and (release.loss.ul_log2, release.loss.ggd) == (None, None)
        with pytest.raises(InputError, match="earlier session"):
            print(release.accuracy)
        assert release.measure(queries=4, size=1).queries == 4
        with pytest.raises(InputError) as caught:
            database.release("no")
        assert caught.value.code == "no_such_release"
        database.drop("old")
        with pytest.raises(InputError):
            database.drop("old")
        with pytest.raises(InputError):
            release.count_bounds(["a"])


@pytest.mark.slow
def test_count_bounds_in_a_plain_client(shop: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.duckdb"
    with anondb.connect(shop) as database:
        database.release("old").publish(sealed)
    with duckdb.connect(str(sealed), read_only=True) as analyst:
        for items in ([], ["a"], ["c"], ["a", "b"], ["a", "c"], ["c", "d"], ["z"]):
            low, middle, high = analyst.execute("SELECT * FROM count_bounds(?)", [items]).fetchall()[0]
            truth = sum(set(items) <= set(b) for b in BASKETS.values())
            assert low <= truth <= high and low <= middle <= high
        assert analyst.execute("SELECT DISTINCT table_name FROM duckdb_tables() ORDER BY 1").fetchall() == [
            ("labels",),
            ("manifest",),
            ("released_items",),
            ("transaction_ids",),
            ("transaction_items",),
        ]


def test_verify_says_what_it_cannot_check(shop: Path) -> None:
    with anondb.connect(shop) as database:
        wrong: list[dict[str, Any]] = [
            {},
            {"transactions": "sales", "release": "old"},
            {"transactions": "sales", "model": "km"},
            {"transactions": "sales", "model": KmAnonymity},
            {"transactions": "sales", "witnesses": -1},
            {"transactions": "sales", "witnesses": "many"},
            {"transactions": 5},
            {"transactions": ""},
            {"transactions": "sales", "id": ""},
        ]
        for options in wrong:
            with pytest.raises(InputError):
                database.verify(**options)


def test_statements_and_progress_can_be_followed(shop: Path) -> None:
    statements: list[str] = []
    words: list[str] = []
    with anondb.connect(shop, on_statement=statements.append, on_progress=words.append) as database:
        database.anonymize("sales", **SMALL)
    assert len(statements) > 10 and any("freez" in w for w in words)


SCRIPT = """
import sys, anondb
from anondb.demo import baskets, taxonomy_edges
import pandas as pd
with anondb.connect(threads=int(sys.argv[1])) as database:
    release = database.anonymize(
        pd.DataFrame(baskets()[:4000], columns=["tid", "item"]),
        model=anondb.KmAnonymity(4, 3), taxonomy=pd.DataFrame(taxonomy_edges(), columns=["node", "parent"]), name="x",
    )
    print(sorted(r[1] for r in release.table("baskets").fetchall()), release.loss, release.accuracy.average_relative_error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seeds", some(["77", "1 3"], "77", check=()))
def test_the_same_release_whatever_threads_and_hash_seed(seeds: str) -> None:
    found = set()
    for threads, seed in ((1, "0"), *((2, seed) for seed in seeds.split())):
        command, env = [sys.executable, "-c", SCRIPT, str(threads)], {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=True)
        found.add(done.stdout)
    assert len(found) == 1 and len(found.pop()) > 1000


@pytest.mark.slow
def test_transactions_and_records_from_frames() -> None:
    sales = pd.DataFrame([(t, f"i{(t * step) % 5}") for t in range(40) for step in (1, 2)], columns=["tid", "item"])
    people = pd.DataFrame({"tid": range(40), "age": [20 + t % 7 for t in range(40)]})
    options = {"model": anondb.KkmAnonymity(k=3, m=1), "quasi_identifiers": "age", "queries": 5}
    sales = sales.drop_duplicates()
    with anondb.connect() as database:
        made = database.anonymize(sales, records=people, name="frames", **options)
        assert made.verification.verified and made.manifest["transactions"] == "40"
        assert database.engine.exists(database.engine.work_table("input_0")) is False


def test_a_closed_database_says_so() -> None:
    with anondb.connect() as db:
        assert repr(db) != "<database, closed>"
    assert repr(db) == "<database, closed>"


@pytest.mark.slow
def test_a_release_prints_itself(shop: Path) -> None:
    with anondb.connect(shop) as db:
        made = db.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="new", queries=5)
        assert repr(made) == "<release 'new': 2^2-anonymity by mhghs, verified on the frozen rows, 6 transactions, 4 items>"
        assert "<td>information loss</td><td>LM " in made._repr_html_()
        assert repr(db) == "<database 'shop', releases: 'old', 'new'>" and "median" in repr(made.accuracy)
        assert made.report is not None
        said, facts = repr(made), made.report.to_json()
        assert repr(made.report).startswith("release new\n promise           2^2-anonymity by mhghs")
        view = db.sql("CREATE ANONYMIZED VIEW seen AS SELECT tid, item FROM sales WITH (k = 2, taxonomy = 'food')")
        assert repr(view) == "anonymized view seen: 6 transactions, 3 released items"
        answer = made.query("SELECT item, count(*) FROM sales GROUP BY item")
        head, first, *_ = repr(answer).splitlines()
        assert head.split()[:2] == ["item", "count_star()"] and first.startswith("-")
        shown = db.verify("sales", model=anondb.KmAnonymity(9, 2), witnesses=1)._repr_html_()
        assert "<th>violations</th>" in shown and "<th>support</th>" in shown
        for result in (made.accuracy, made.loss, made.attack(individuals=2), db.explain("new", "a")):
            assert result._repr_html_().startswith("<table><tr><th>") and "None" not in result._repr_html_()
        assert "<th>count_star()_lower</th>" in answer._repr_html_() and "<td>a</td>" in answer._repr_html_()
    assert repr(db) == "<database, closed>"
    with anondb.connect(shop) as db:
        again = db.release("new")
        assert repr(again) == said and "<caption>release new</caption>" in again._repr_html_()
        assert again.report is not None
        kept = again.report.to_json()
        assert {n: v for n, v in kept.items() if n != "seconds"} == {n: v for n, v in facts.items() if n != "seconds"}
        db.sql("DROP ANONYMIZED VIEW seen")
        again.publish(shop.with_name("new.duckdb"))
        assert again.report.to_json()["published"] == "new.duckdb"


def test_whole_numbers_are_items() -> None:
    with anondb.connect(":memory:") as db:
        db.sql("CREATE TABLE sales AS SELECT tid, unnest([101, 102][: 1 + tid % 2]) AS item FROM range(8) t(tid)")
        release = db.anonymize("sales", model=anondb.KmAnonymity(2, 2), name="r", queries=1)
        assert release.count_bounds([101, "102"]) == (4, 4.0, 4) and release.count_bounds([]) == (8, 8.0, 8)
        for items in ([1.0], [True], [None], "101"):
            with pytest.raises(anondb.InputError):
                release.count_bounds(items)  # type: ignore[arg-type]


def test_a_missing_number_of_a_data_frame_is_named() -> None:
    frame = pd.DataFrame({"tid": [1, 2, None], "item": ["a", "b", "a"]})
    with anondb.connect(":memory:") as db, pytest.raises(anondb.InputError, match=r"a missing value \(NaN\)"):
        db.anonymize(frame, model=anondb.KmAnonymity(2, 2), name="r")
