"""Files from a stranger: nothing in them runs, in any command, before their catalog is known to be anondb's."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import duckdb
import pytest
from portions import some

import anondb
from anondb.cli import main
from anondb.errors import AnondbError
from anondb.release.inspect import inspect

WAIT, WITNESS = "sleep_ms(60000)", "the witness was read"
TABLES = ("transaction_items", "labels", "transaction_ids", "released_items", "manifest")
VIEWS = ("transactions", "baskets", "item_counts")


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("strangers")
    with anondb.connect() as database:
        database.sql("CREATE TABLE sales AS SELECT t AS tid, 'i' || (t * n) % 3 AS item FROM range(30) r(t), range(2) s(n)")
        database.anonymize("sales", name="spring", queries=2, publish=place / "spring.duckdb")
    return place / "spring.duckdb"


def instead_of(name: str, query: str) -> str:
    """A view in the place of a table, or another one in the place of a view."""
    kind = "TABLE" if name in TABLES else "VIEW"
    return f"DROP {kind} {name}; CREATE VIEW {name} AS {query}"


def _manifest_of(condition: str) -> str:
    """A manifest that looks right to whoever reads it, and does something besides."""
    return "CREATE TABLE facts AS FROM manifest; " + instead_of(
        "manifest", f"SELECT key, value FROM facts WHERE {condition}"
    )


PROFILE = "FROM enable_profiling(save_location = '{out}/profile.txt')"
LOG = "FROM enable_logging(storage = 'file', storage_path = '{out}/log')"
MACRO = "CREATE OR REPLACE MACRO count_bounds(items) AS TABLE {}"
HOSTILE: dict[str, str] = {
    **{f"{t}: a view that writes a profile": instead_of(t, PROFILE) for t in TABLES + VIEWS},
    **{f"{t}: a view that writes a log": instead_of(t, LOG) for t in ("manifest", "labels", "transactions")},
    **{f"{t}: a view that reads a file": instead_of(t, "FROM read_text('{out}/witness.txt')") for t in TABLES},
    **{f"{t}: a view that waits": instead_of(t, f"SELECT {WAIT} AS a, 'x' AS b") for t in TABLES + VIEWS},
    "a manifest that waits and tells the truth": _manifest_of(f"{WAIT} IS NOT NULL"),
    "a manifest that reads and tells the truth": _manifest_of("EXISTS (FROM read_text('{out}/witness.txt'))"),
    "a view that never ends": instead_of("manifest", "SELECT 'a' AS key, 'b' AS value FROM range(10000000000) a, range(99)"),
    "a macro that reads": MACRO.format("SELECT content FROM read_text('{out}/witness.txt')"),
    "a macro that waits": MACRO.format(f"SELECT {WAIT} AS lower_bound"),
    "a macro that writes a profile": MACRO.format(PROFILE),
    "a macro that writes a log": MACRO.format(LOG),
    "a macro that runs a text": MACRO.format("FROM query('SELECT 1 AS lower_bound')"),
    "a macro of a function that anondb calls": "CREATE MACRO max(x) AS (SELECT content FROM read_text('{out}/witness.txt'))",
    "a macro of a catalog function": "CREATE MACRO duckdb_tables() AS TABLE FROM read_text('{out}/witness.txt')",
    "a table of the name of a catalog function": "CREATE TABLE duckdb_tables (a INTEGER)",
    "a generated column": "CREATE TABLE copied AS FROM labels; DROP TABLE labels; CREATE TABLE labels"
    " (item_id INTEGER, item VARCHAR GENERATED ALWAYS AS (CASE WHEN item_id > 0 THEN 'x' END));"
    " INSERT INTO labels SELECT item_id FROM copied; DROP TABLE copied",
    "a default": f"ALTER TABLE manifest ALTER value SET DEFAULT CAST({WAIT} AS VARCHAR)",
    "a type": "CREATE TYPE kind AS ENUM ('a')",
    "a column of another type": "CREATE TYPE colour AS ENUM ('k'); CREATE TABLE copied AS FROM manifest;"
    " DROP TABLE manifest; CREATE TABLE manifest (key colour, value VARCHAR);"
    " INSERT INTO manifest SELECT 'k', value FROM copied LIMIT 1",
    "a sequence": "CREATE SEQUENCE manifest_rows; CREATE TABLE x (a INTEGER DEFAULT nextval('manifest_rows'))",
    "an index with an expression": "CREATE INDEX i ON labels ((upper(item)))",
    "a constraint": f"CREATE TABLE x (a INTEGER CHECK ({WAIT} IS NOT NULL))",
    "a schema that shadows ours": "CREATE SCHEMA release; CREATE VIEW release.manifest AS " + PROFILE,
    "a view of records": "UPDATE manifest SET value = 'kkm' WHERE key = 'model'; CREATE VIEW records AS " + PROFILE,
    "a manifest of a million rows": "INSERT INTO manifest SELECT 'k' || range, repeat('x', 100) FROM range(1000000)",
}


@pytest.fixture
def stranger(sealed: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A sealed file that somebody changed."""
    (tmp_path / "witness.txt").write_text(WITNESS)
    changed = Path(shutil.copy(sealed, tmp_path / "changed.duckdb"))
    with duckdb.connect(str(changed)) as writer:
        writer.execute(HOSTILE[request.param].replace("{out}", str(tmp_path)))
    return changed


def commands(path: Path, tmp_path: Path) -> list[list[str]]:
    asked = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'i1'"
    return [
        ["inspect", str(path)],
        ["verify", str(path)],
        ["verify", str(path), "--expect", "content:" + "0" * 64],
        ["query", str(path), asked],
        ["query", str(path), asked, "--release", "spring"],
        ["verify", str(path), "--release", "spring"],
    ]


def exit_code(command: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command in this process."""
    monkeypatch.setattr(sys, "argv", ["anondb", *command])
    with pytest.raises(SystemExit) as caught:
        main()
    return int(str(caught.value.code))


INTERFACES: dict[str, Callable[[Path], object]] = {"open_release": anondb.open_release, "verify_file": anondb.verify_file}


class Touched:
    """Which files were there, what they held, and when the witness was read."""

    def __init__(self, place: Path) -> None:
        self.place = place
        os.utime(place / "witness.txt", (1, 1_000))
        self.before = self._look()

    def _look(self) -> dict[str, tuple[bytes, int]]:
        return {p.name: (p.read_bytes() if p.suffix != ".txt" else b"", p.stat().st_mtime_ns) for p in self.place.iterdir()}

    def check(self) -> None:
        assert self._look() == self.before


@pytest.mark.slow
@pytest.mark.parametrize("all_commands", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["some", "all"])
@pytest.mark.parametrize("stranger", some(HOSTILE, *list(HOSTILE)[::16]), indirect=True)
def test_nothing_of_a_strangers_file_runs(
    stranger: Path,
    all_commands: bool,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In ``make test`` the leak check, one way to open the file, and one command, another one for each file."""
    seen, begun = Touched(tmp_path), time.perf_counter()
    turn = list(HOSTILE).index(request.node.callspec.params["stranger"])
    listed, calls = commands(stranger, tmp_path), list(INTERFACES.values())
    for command in listed if all_commands else [listed[turn % len(listed)]]:
        assert exit_code(command, monkeypatch) in (2, 4), command
    said = capsys.readouterr()
    assert WITNESS not in said.out + said.err
    for call in calls if all_commands else [calls[turn % len(calls)]]:
        with pytest.raises(AnondbError):
            call(stranger)
    assert not inspect(stranger).clean
    seen.check()
    assert time.perf_counter() - begun < 50  # nothing waits: the views do for a minute each


@pytest.mark.parametrize("stranger", some(HOSTILE, *list(HOSTILE)[::16]), indirect=True)
def test_nothing_of_a_strangers_file_runs_beside_others(stranger: Path, sealed: Path, tmp_path: Path) -> None:
    """A session on several files attaches all of them to one connection."""
    seen, begun = Touched(tmp_path), time.perf_counter()
    for files in ([sealed, stranger], [stranger, sealed]):
        with pytest.raises(AnondbError, match=r"changed\.duckdb' is not a sealed release") as caught:
            anondb.open(files)
        assert caught.value.code == "not_a_release"
    seen.check()
    assert time.perf_counter() - begun < 50


OWNERS = {
    "a view in place of a release's table": "CREATE VIEW release_x.{table} AS " + PROFILE,
    "a view that waits": f"CREATE VIEW release_x.{{table}} AS SELECT {WAIT} AS a",
}


@pytest.mark.parametrize("table", some(TABLES, TABLES[0]))
@pytest.mark.parametrize("what", OWNERS)
def test_a_release_in_a_schema_of_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, table: str
) -> None:
    """It is read where its owner names it, and cannot touch anything there either."""
    (tmp_path / "witness.txt").write_text(WITNESS)
    with duckdb.connect(str(tmp_path / "changed.duckdb")) as writer:
        writer.execute("CREATE SCHEMA release_x")
        writer.execute(OWNERS[what].replace("{out}", str(tmp_path)).replace("{table}", table))
    seen, begun = Touched(tmp_path), time.perf_counter()
    path = str(tmp_path / "changed.duckdb")
    for command in (["verify", path, "--release", "x"], ["query", path, "SELECT count(*) FROM x", "--release", "x"]):
        assert exit_code(command, monkeypatch) in (2, 4)
    seen.check()
    assert time.perf_counter() - begun < 50


@pytest.mark.parametrize(
    "body",
    [PROFILE, f"SELECT 1 AS tid, {WAIT} AS item", "SELECT 1 AS tid, content AS item FROM read_text('{out}/witness.txt')"],
)
def test_verify_chooses_no_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """The only table that fits may be a trap: the user has to name a view."""
    (tmp_path / "witness.txt").write_text(WITNESS)
    with duckdb.connect(str(tmp_path / "changed.duckdb")) as writer:
        writer.execute(("CREATE VIEW sales AS " + body).replace("{out}", str(tmp_path)))
    seen = Touched(tmp_path)
    assert exit_code(["verify", str(tmp_path / "changed.duckdb")], monkeypatch) == 2
    seen.check()


@pytest.mark.slow
def test_an_honest_file_passes_everywhere(sealed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(shutil.copy(sealed, tmp_path / "spring.duckdb"))
    for command in commands(path, tmp_path)[:2]:
        assert exit_code(command, monkeypatch) == 0
    anondb.open_release(path).close()
    found = anondb.verify_file(path)
    assert found.holds
    assert (
        anondb.verify_file(path, expect=found.sha256).holds and anondb.verify_file(path, expect=found.content_digest).holds
    )
    assert not anondb.verify_file(path, expect="0" * 64).holds


@pytest.mark.parametrize(
    "key, value",
    some(
        list(product(["transactions", "semantics"], ["x", "", "-1", "1.5", "9" * 30, "\u0663"])),
        *(("transactions", "-1"), ("semantics", "")),
    ),
)
def test_a_manifest_of_no_known_kind_is_no_release(sealed: Path, tmp_path: Path, key: str, value: str) -> None:
    place = tmp_path / "forged.duckdb"
    shutil.copy(sealed, place)
    with duckdb.connect(str(place)) as connection:
        connection.execute("UPDATE manifest SET value = ? WHERE key = ?", [value, key])
    for way in (anondb.open, anondb.open_release, anondb.verify_file):
        with pytest.raises(AnondbError) as caught:
            way(place)
        assert caught.value.code == "not_a_release" and repr(value) not in str(caught.value)
