"""What an analyst can do with an opened release: read it, and nothing else."""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path

import duckdb
import pytest
from portions import some
from release.cases import frozen
from sqlglot import parse_one

import anondb
from anondb.engine import DuckDBEngine, Engine, locked
from anondb.engine.locked import HAS_TIME_LIMIT
from anondb.errors import BudgetExceeded, InputError
from anondb.release import reader
from anondb.release.catalog import listed
from anondb.release.publish import publish


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the owner's database, raw data and a sealed file."""
    place = tmp_path_factory.mktemp("published")
    (place / "raw.csv").write_text("tid,item\n1,secret\n")
    with contextlib.closing(DuckDBEngine.open(place / "shop.duckdb", threads=2)) as owner:
        publish(owner, frozen(owner).schema, place / "spring.duckdb")
    return place


@pytest.fixture
def sealed(published: Path, tmp_path: Path) -> Path:
    for file in published.iterdir():
        if not (tmp_path / file.name).exists():  # an owner's database that is open stays
            shutil.copy(file, tmp_path)
    return tmp_path / "spring.duckdb"


PROBES = {
    "attach": "ATTACH '{place}/shop.duckdb' AS raw",
    "attach read only": "ATTACH '{place}/shop.duckdb' AS raw (READ_ONLY)",
    "csv": "SELECT * FROM read_csv('{place}/raw.csv')",
    "csv by name": "SELECT * FROM '{place}/raw.csv'",
    "text": "SELECT * FROM read_text('{place}/raw.csv')",
    "blob": "SELECT * FROM read_blob('{place}/raw.csv')",
    "parquet": "SELECT * FROM read_parquet('{place}/raw.csv')",
    "glob": "SELECT * FROM glob('{place}/*')",
    "copy out": "COPY transactions TO '{place}/out.csv'",
    "copy in": "CREATE TEMP TABLE x (a VARCHAR); COPY x FROM '{place}/raw.csv'",
    "export": "EXPORT DATABASE '{place}/out'",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "external access": "SET enable_external_access = true",
    "a setting": "SET memory_limit = '100GB'",
    "a pragma": "PRAGMA threads = 64",
    "the time limit": "SET max_execution_time = 0",
    "reset": "RESET lock_configuration",
    "insert": "INSERT INTO transactions VALUES (1, 'x', 1)",
    "drop": "DROP TABLE transactions",
    "update": "UPDATE manifest SET value = 'x'",
    "secret": "CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "python variable": "SELECT * FROM a_frame",
    "checkpoint to file": "ATTACH '{place}/new.duckdb'",
    "environment": "SELECT getenv('HOME')",
    "after another statement": "SELECT 1; ATTACH '{place}/shop.duckdb' AS raw",
    "copy after another statement": "SELECT 1; COPY transactions TO '{place}/out.csv'",
    "text as a query": "FROM query('FROM read_csv(''{place}/raw.csv'')')",
    "a sniffer": "FROM sniff_csv('{place}/raw.csv')",
    "json": "FROM read_json('{place}/raw.csv')",
    "a name in a variable": "SET VARIABLE f = '{place}/raw.csv'; FROM read_text(getvariable('f'))",
    "a prepared statement": "PREPARE p AS FROM read_text('{place}/raw.csv')",
    "in place of the release": "USE memory; DETACH release; ATTACH '{place}/shop.duckdb' AS release",
    "the whole database": "ATTACH '{place}/y.duckdb' AS y; COPY FROM DATABASE release TO y",
    "import": "IMPORT DATABASE '{place}'",
    "standard output": "COPY transactions TO '/dev/stdout'",
    "a profile": "SET profiling_output = '{place}/profile'",
    "a log": "CALL enable_logging(storage = 'file')",
    "spilling": "SET temp_directory = '{place}/spill'",
    "allowed directories": "SET allowed_directories = ['/']",
    "the net": "FROM 'https://localhost/x.csv'",
    "a secret": "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
}
if not HAS_TIME_LIMIT:
    del PROBES["a log"]  # DuckDB 1.5.0 aborts the process, 1.5.6 does not


LASTING = ("copy in", "a name in a variable", "a prepared statement", "in place of the release")  # change a connection


@pytest.mark.slow
def test_escapes_are_blocked_on_one_connection(sealed: Path, tmp_path: Path) -> None:
    before = {p.name for p in tmp_path.iterdir()}
    with anondb.open_release(sealed) as analyst:
        for name, probe in PROBES.items():
            if name not in LASTING:
                with pytest.raises(duckdb.Error):
                    pytest.fail(f"{name}: {analyst.sql(probe.format(place=tmp_path)).fetchall()}")
        assert analyst.sql("FROM count_bounds([])").fetchall() == [(6, 6.0, 6)]
    assert {p.name for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("probe", some(PROBES, *LASTING[2:], "python variable"))
def test_escapes_are_blocked(sealed: Path, tmp_path: Path, probe: str) -> None:
    pandas = pytest.importorskip("pandas")
    a_frame = pandas.DataFrame({"secret": [1]})
    before = {p.name for p in tmp_path.iterdir()}
    with anondb.open_release(sealed) as analyst, pytest.raises(duckdb.Error):
        analyst.sql(PROBES[probe].format(place=tmp_path)).fetchall()
    assert len(a_frame) == 1 and {p.name for p in tmp_path.iterdir()} == before


def test_the_release_can_be_asked(sealed: Path) -> None:
    with anondb.open_release(sealed, threads=1) as analyst:
        assert analyst.sql("FROM count_bounds([])").fetchall() == [(6, 6.0, 6)]
        assert analyst.sql("SELECT count(*) FROM baskets").fetchall() == [(6,)]
        assert analyst.sql("SELECT upper_bound FROM count_bounds(['apple'])").fetchall() == [(4,)]


ENDLESS = "SELECT count(*) AS n FROM range(1000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3"


@pytest.mark.skipif(not HAS_TIME_LIMIT, reason="this DuckDB has no time limit")
def test_a_query_without_end_ends(sealed: Path) -> None:
    begun = time.perf_counter()
    with anondb.open_release(sealed, max_seconds=0.2) as analyst, pytest.raises(duckdb.Error):
        analyst.sql(ENDLESS).fetchall()
    assert time.perf_counter() - begun < 20


def test_a_time_limit_that_duckdb_does_not_have(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locked, "HAS_TIME_LIMIT", False)
    monkeypatch.setattr(reader, "HAS_TIME_LIMIT", False)
    with pytest.raises(InputError) as caught:
        anondb.open_release(sealed, max_seconds=5)
    assert caught.value.code == "bad_parameter" and "DuckDB 2.0" in str(caught.value)
    with anondb.open_release(sealed) as analyst:
        assert analyst.sql("SELECT count(*) FROM baskets").fetchall() == [(6,)]


@pytest.mark.slow
def test_a_statement_of_anondbs_own_without_end_ends(sealed: Path) -> None:
    """With any DuckDB; and the engine answers further questions."""
    engine, schema, _ = reader.locked_engine(sealed, max_seconds=2)
    begun = time.perf_counter()
    with pytest.raises(BudgetExceeded) as caught:
        engine.select(parse_one(ENDLESS, dialect="duckdb"))
    assert time.perf_counter() - begun < 20 and "2 seconds" in str(caught.value)
    assert listed(engine, schema.catalog)
    engine.close()


def test_memory_is_limited(sealed: Path) -> None:
    with anondb.open_release(sealed, memory_limit="20MB") as analyst, pytest.raises(duckdb.Error):
        analyst.sql("SELECT list(range::VARCHAR || 'x') FROM range(20000000)").fetchall()


@pytest.mark.slow
def test_readers_of_a_replaced_file(owner: Engine, sealed: Path) -> None:
    """The old handle keeps the old release; the next open sees the new one, in this very process."""
    text = "SELECT value FROM manifest WHERE key = 'release_id'"
    old = anondb.open_release(sealed)
    first = old.sql(text).fetchall()
    publish(owner, frozen(owner, name="second").schema, sealed, replace=True)
    with anondb.open_release(sealed) as new:
        second = new.sql(text).fetchall()
        assert first != second and old.sql(text).fetchall() == first
        assert old.sql("FROM count_bounds([])").fetchall() == new.sql("FROM count_bounds([])").fetchall()
    old.close()


@pytest.mark.parametrize(
    "wrong",
    some(
        [{"max_seconds": 0}, {"max_seconds": True}, {"memory_limit": "a lot"}, {"threads": 0}, {"threads": 100_000}],
        {"max_seconds": 0},
    ),
)
def test_bad_limits(sealed: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        anondb.open_release(sealed, **wrong)  # type: ignore[arg-type]


def test_what_is_no_release_is_refused(owner: Engine, tmp_path: Path) -> None:
    frozen(owner)
    owner.close()
    with pytest.raises(InputError) as caught:
        anondb.open_release(tmp_path / "shop.duckdb")
    assert caught.value.code == "not_a_release"
