"""The limits of an answer bind the whole process: queries that grow end near their limit, and the session goes on."""

from __future__ import annotations

import hashlib
import json
import mmap
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest
from portions import some

import anondb
from anondb.engine import answering
from anondb.engine.answering import Limits
from anondb.errors import BudgetExceeded

COUNT = "SELECT count(*) AS n FROM sales"
ITEMS = [f"item {n}" for n in range(5_000)]


def chain(first: str, then: str, length: int = 25) -> str:
    """Common table expressions, each of which names the one before."""
    parts = [f"c0 AS ({first})", *(f"c{n} AS ({then.replace('c', f'c{n - 1}')})" for n in range(1, length))]
    return f"WITH {', '.join(parts)} FROM c{length - 1}"


SLOW = {
    "joins": chain(COUNT, "SELECT a.n + b.n AS n FROM c a, c b"),
    "unions": chain(COUNT, "FROM c UNION ALL FROM c"),
    "subqueries": chain(COUNT, "SELECT n + (SELECT max(n) FROM c) AS n FROM c"),
    "own rows": chain("SELECT 1 AS n", "SELECT a.n + b.n AS n FROM c a, c b"),
    "many unions": " UNION ALL ".join([COUNT] * 190),
    "many conditions": "SELECT count(DISTINCT tid) FROM sales WHERE " + " OR ".join(f"item = '{x}'" for x in ITEMS),
    "many columns": "SELECT " + ", ".join(f"count(*) + {n}" for n in range(5_000)) + " FROM sales",
    "many rows": "SELECT count(*) FROM range(10000000) a, range(10000000) b",
    "a constant": "SELECT length(regexp_replace(repeat('ab', 100000000), '(a|b)+?', 'xx', 'g'))",
    "structs": "SELECT map_from_entries(list_transform(range(5000000), lambda x: {'k': x, 'v': x}))",
}
LARGE = {
    "a list": "SELECT range(100000000)",
    "a text": "SELECT repeat('x', 1000000000)",
    "a doubled text": chain("SELECT repeat('x', 1000) AS n", "SELECT n || n AS n FROM c"),
    "rows": "SELECT * FROM range(100000000)",
    "lists": "SELECT range(1000000) FROM range(2000)",
    "a list of numbers": "SELECT range(30000000)",
}
IN_A_PROCESS = """
import resource, sys, anondb
with anondb.open(sys.argv[1], memory_limit="400MB") as session:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        session.sql(sys.argv[2]).fetchall()
    except anondb.EngineError as error:
        print()  # ends the line of DuckDB's progress
        print(error.code, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert session.sql("SELECT count(*) FROM sales").fetchall()
"""
ENDLESS = """
import sys, time, anondb
session, begun = anondb.open(sys.argv[1], max_seconds=4), time.monotonic()
for query in (sys.argv[2], "SELECT count(*) FROM sales"):
    try:
        session.sql(query)
    except anondb.AnondbError as error:
        print(error.code, end=" ")
session.close()
print(time.monotonic() - begun, flush=True)
"""
OPENING = """
import contextlib, resource, sys, anondb, anondb.session
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with contextlib.suppress(anondb.EngineError):
    anondb.open(sys.argv[1], memory_limit="400MB").close()
print()  # ends the line of DuckDB's progress
print(before, *(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", some(SLOW, "subqueries", "a constant", check=()))
def test_what_takes_too_long(name: str, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 2.0
    monkeypatch.setattr(answering, "DEFAULT_SECONDS", seconds)
    with anondb.open(shop / "supports.duckdb") as session:
        begun = time.process_time()
        try:
            session.sql(SLOW[name]).fetchall()
        except BudgetExceeded as error:
            assert error.code == "time_limit" and "2 seconds of CPU time" in str(error)
        except anondb.InputError as error:
            assert error.code in ("query_too_complex", "unsupported_query")
        assert time.process_time() - begun < 1.5 * seconds
        assert session.is_closed or session.sql(COUNT, bounds="none").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("query", ["repeat('9', 9000000)::BIGNUM IS NULL", "map(range(20000000), range(20000000))"])
def test_a_function_that_nothing_ends_is_left_alone(query: str, shop: Path) -> None:
    """DuckDB looks for no interrupt while it reads a long number (for minutes here), or makes a map. Python ends before."""
    command = [sys.executable, "-c", ENDLESS, str(shop / "supports.duckdb"), f"SELECT {query}"]
    *codes, seconds = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    assert codes in (["time_limit"], ["time_limit", "closed"]) and float(seconds) < 1.5 * 4


@pytest.mark.slow
def test_work_is_counted_before_it_is_done(shop: Path) -> None:
    with anondb.open(shop / "supports.duckdb", max_seconds=300) as session:
        result = session.sql(SLOW["joins"])
        assert result.fetchall()[0][1:] == (None, None)
        assert any("asks more than 2,000 queries" in note for note in result.notes)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(LARGE, "a list", "rows", check=()))
def test_what_takes_too_much_memory(name: str, shop: Path) -> None:
    command = [sys.executable, "-c", IN_A_PROCESS, str(shop / "supports.duckdb"), LARGE[name]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    code, before, after = done.stdout.splitlines()[-1].split()
    assert code == "out_of_memory"
    assert int(after) - int(before) < 1.5 * 400_000


def forged(shop: Path, folder: Path, rows: int) -> Path:
    """A release of Parquet files, one of which has the same row many times in less than a kilobyte."""
    with anondb.connect(shutil.copy(shop / "shop.duckdb", folder.with_suffix(".duckdb"))) as db:
        db.release("plain").publish(folder, format="parquet", allow_overlap=True)
    file = folder / "transaction_items.parquet"
    with duckdb.connect() as connection:
        many = f"(SELECT * FROM '{file}' LIMIT 1) t, range({rows}) r(r)"
        options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20000000"
        connection.execute(f"COPY (SELECT t.* FROM {many}) TO '{folder / 'many'}' ({options})")
    (folder / "many").replace(file)
    assert file.stat().st_size < 5_000
    stated = json.loads((folder / "manifest.json").read_text())
    stated["files"][file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(stated, ensure_ascii=False, indent=1) + "\n")
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a limit may end between open and close
def test_a_folder_of_many_rows_ends_in_time(shop: Path, tmp_path: Path) -> None:
    folder = forged(shop, tmp_path / "many", 2_000_000)
    with pytest.raises(BudgetExceeded) as error:
        anondb.open(folder, max_seconds=0.2)
    assert error.value.code == "time_limit"


@pytest.mark.slow
def test_a_folder_of_many_rows_keeps_to_the_memory(shop: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENING, str(forged(shop, tmp_path / "many", 20_000_000))]
    *_, last = subprocess.run(command, capture_output=True, check=True).stdout.splitlines()
    before, own, others = map(int, last.split())
    assert own - before < 1.5 * 400_000 and others < 1.5 * 400_000


def test_the_default_counts_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "DEFAULT_SECONDS", 1.0)

    def waiting(max_seconds: float | None) -> None:
        with Limits.of("1GB", max_seconds).hold():
            time.sleep(1.2)

    waiting(None)
    with pytest.raises(BudgetExceeded, match="longer than the limit of 1 seconds"):
        waiting(1)


@pytest.mark.slow
def test_the_recursion_of_python(shop: Path) -> None:
    many = " OR ".join(f"x = {n}" for n in range(5_000))
    with anondb.open(shop / "supports.duckdb") as session:
        assert len(session.sql(f"FROM range(9) t(x) WHERE {many}")) == 9


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
def test_the_limit_of_the_process_is_as_before(shop: Path) -> None:
    before, seen = resource.getrlimit(resource.RLIMIT_DATA), []
    with anondb.open(shop / "supports.duckdb") as session:
        session.sql(COUNT)
        with pytest.raises(BudgetExceeded), Limits("100MB").hold():
            seen.append(resource.getrlimit(resource.RLIMIT_DATA))
            session.sql("SELECT range(100000000)")
        other = threading.Thread(target=lambda: seen.append(_limit_of_another_thread()))
        other.start()
        other.join()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert seen[0] != before and seen[1] == before  # it would bind other work of the process


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
def test_memory_that_is_reserved_alone_is_not_counted() -> None:
    """Allocators keep what is freed; what they take at once is no more than is left."""
    with Limits("100MB").hold():
        kept = []
        for _ in range(5):
            kept.append(mmap.mmap(-1, 60_000_000, flags=mmap.MAP_PRIVATE))
            time.sleep(0.2)
        with pytest.raises(OSError):
            mmap.mmap(-1, 200_000_000, flags=mmap.MAP_PRIVATE)


def _limit_of_another_thread() -> tuple[int, int]:
    with Limits("100MB").hold():
        return resource.getrlimit(resource.RLIMIT_DATA)


def test_a_large_result_is_whole(shop: Path) -> None:
    with anondb.open(shop / "supports.duckdb") as session:
        result = session.sql("SELECT range AS n FROM range(250001)")
        assert [n for (n,) in result.fetchall()] == list(range(250_001))
        assert result.df()["n"].sum() == result.arrow()["n"].to_pandas().sum() == 250_000 * 250_001 // 2


def test_limits_in_the_words_of_duckdb() -> None:
    from anondb.engine.memory import bytes_of

    for words in ("2GB", "512MiB", "1.5 GiB", "300 mb", "9000kb"):
        with duckdb.connect(config={"memory_limit": words}) as connection:
            ((shown,),) = connection.sql("SELECT current_setting('memory_limit')").fetchall()
        meant, known = bytes_of(words), bytes_of(shown)
        assert meant is not None and known is not None and abs(known - meant) <= meant / 20
