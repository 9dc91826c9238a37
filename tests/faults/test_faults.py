"""Faults while a release is sealed: the old file or the new one is there, whole, and nothing raw beside it."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from faults.conftest import LETTERS
from portions import some

import anondb
from anondb.errors import EngineError, InputError
from anondb.release.paths import build_directory
from anondb.release.reader import read_sealed_manifest

SCRIPT = Path(__file__).with_name("run_publish.py")
ROOT = SCRIPT.parents[2]


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    """A copy of the owner's database, and the directory ``out`` with the release ``one`` in it."""
    shutil.copy(template, tmp_path / "shop.duckdb")
    (tmp_path / "out").mkdir()
    with anondb.connect(tmp_path / "shop.duckdb") as database:
        database.release("one").publish(tmp_path / "out" / "spring.duckdb")
    return tmp_path


def start(place: Path, *more: str, target: Path | None = None, **options: object) -> subprocess.Popen[str]:
    """The publishing process, ready to begin."""
    words = [sys.executable, str(SCRIPT), str(place / "shop.duckdb"), str(target or place / "out" / "spring.duckdb"), *more]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, **options
    )  # type: ignore[call-overload]
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def ids(place: Path) -> dict[str, str]:
    with duckdb.connect(str(place / "shop.duckdb")) as owner:
        return {
            n: owner.execute(f"SELECT value FROM release_{n}.manifest WHERE key = 'release_id'").fetchall()[0][0]
            for n in ("one", "two")
        }


def check_whole(place: Path, releases: dict[str, str]) -> str:
    """The file is one of the releases, whole; returns which."""
    manifest = read_sealed_manifest(place / "out" / "spring.duckdb")
    which = {i: n for n, i in releases.items()}[manifest["release_id"]]
    with duckdb.connect(str(place / "out" / "spring.duckdb"), read_only=True) as reader:
        assert reader.execute("SELECT count(*) FROM baskets").fetchall() == [(int(manifest["transactions"]),)]
        assert reader.execute("SELECT upper_bound FROM count_bounds([])").fetchall() == [(int(manifest["transactions"]),)]
    return which


def wait_for(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    return process.returncode, out


@pytest.mark.slow
def test_nothing_goes_wrong_without_a_fault(place: Path) -> None:
    releases = ids(place)
    process = start(place)
    go(process)
    assert wait_for(process) == (0, "done\n")
    assert check_whole(place, releases) == "two"


def raw_files(directory: Path) -> list[str]:
    """The files at or below a directory that hold two neighbouring letters of what no release holds."""
    pattern = re.compile(b"(?:" + "|".join(LETTERS).encode() + b"){2}")
    return [str(p) for p in directory.rglob("*") if p.is_file() and pattern.search(p.read_bytes())]


def _kill(place: Path, seed: int, repeats: int) -> tuple[set[str], int]:
    """Kill a publication at random moments; which releases were there afterwards, and how many kills met a build."""
    releases, seen, met, rng = ids(place), set(), 0, random.Random(seed)
    out, process = place / "out", start(place)
    begun = time.perf_counter()
    go(process)
    assert wait_for(process) == (0, "done\n")
    whole = time.perf_counter() - begun  # the moments are spread over a publication, however busy the machine is
    for _ in range(repeats):
        process = start(place)
        go(process)
        time.sleep(rng.uniform(0.0, 1.2 * whole))
        process.kill()
        process.communicate()
        time.sleep(0.05)
        seen.add(check_whole(place, releases))
        assert raw_files(out) == []
        builds = list(out.glob(".anondb-build-*"))
        met += bool(builds)
        assert all(build.stat().st_mode & 0o777 == 0o700 for build in builds)
        with anondb.connect(place / "shop.duckdb") as database:  # the ledger is whole, and the next publication works
            database.release("one").publish(out / "spring.duckdb", replace=True, allow_overlap=True)
        assert sorted(p.name for p in out.iterdir()) == ["spring.duckdb"]
    return seen, met


@pytest.mark.slow
def test_the_scan_finds_what_is_raw(place: Path) -> None:
    assert raw_files(place) == [str(place / "shop.duckdb")]
    with duckdb.connect(str(place / "shop.duckdb")) as owner:
        planted = place / "out" / "one.parquet"
        owner.execute(f"COPY (SELECT tid FROM sales LIMIT 1) TO '{planted}' (COMPRESSION uncompressed)")
        suppressed = {r[0] for r in owner.execute("SELECT DISTINCT item FROM sales WHERE item NOT LIKE 'zq%'").fetchall()}
        assert len(suppressed) == 2
        for name in ("one", "two"):
            published = {r[0] for r in owner.execute(f"SELECT item FROM release_{name}.released_items").fetchall()}
            assert not published & suppressed
    assert raw_files(place / "out") == [str(planted)]


@pytest.mark.slow
@pytest.mark.parametrize("repeats", some([1, 6], 1, check=()))
def test_kill_9_leaves_the_old_release_or_the_new_one(place: Path, repeats: int) -> None:
    _kill(place, repeats, repeats)


@pytest.mark.nightly
def test_kill_9_a_hundred_times(place: Path) -> None:
    seen, met = _kill(place, 2, 100)
    assert seen == {"one", "two"} and met >= 20


def _interrupt(place: Path, seed: int, repeats: int, limit: float) -> None:
    releases, rng = ids(place), random.Random(seed)
    for _ in range(repeats):
        process = start(place, start_new_session=True)
        go(process)
        time.sleep(rng.uniform(0.0, 0.5))
        begun = time.perf_counter()
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=30)
        assert time.perf_counter() - begun < limit
        assert process.returncode in (130, 0, -signal.SIGINT, 1)
        assert check_whole(place, releases) in releases
        with build_directory(place / "out"):  # which removes those that were left behind
            pass
        assert sorted(p.name for p in (place / "out").iterdir()) == ["spring.duckdb"]


@pytest.mark.slow
@pytest.mark.parametrize("repeats", some([1, 3], 1, check=()))
def test_ctrl_c_ends_soon(place: Path, repeats: int) -> None:
    _interrupt(place, 3, repeats, 15.0)  # other tests run at the same time


@pytest.mark.nightly
def test_ctrl_c_twenty_times(place: Path) -> None:
    _interrupt(place, 4, 20, 2.0)


def main_job(place: Path, release: str) -> list[str]:
    """The arguments of the command that makes a release of the shop."""
    job = ["anonymize", str(place / "shop.duckdb"), "--transactions", "sales"]
    return [*job, "--taxonomy", "food", "--release", release]


@pytest.mark.slow
def test_ctrl_c_in_the_main_job_ends_soon(place: Path) -> None:
    """The owner's file is as it was, or the release is there, whole, if it was committed already."""
    words = main_job(place, "three")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "anondb", *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    with anondb.connect(place / "shop.duckdb") as database:
        names = {e.name for e in database.releases()}
        assert names >= {"one", "two"} and all(database.release(name).verification.verified for name in names)


@pytest.mark.slow
def test_ctrl_c_after_the_commit_says_what_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that was committed is kept, and the note of the interrupt names it; one that was not leaves nothing."""
    options = {"taxonomy": "food", "model": anondb.KmAnonymity(400, 2), "queries": 5, "max_suppression": 100}

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with anondb.connect(place / "shop.duckdb") as database:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as caught:
            patch.setattr("anondb.pipeline.anonymize.verify_release", stop)
            database.anonymize("sales", name="three", **options)
        assert not getattr(caught.value, "__notes__", []) and "three" not in {e.name for e in database.releases()}
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as caught:
            patch.setattr("anondb.release.publish.publish", stop)
            database.anonymize("sales", name="three", publish=place / "out" / "x.duckdb", allow_overlap=True, **options)
        assert ["'three'" in note and "kept" in note for note in caught.value.__notes__] == [True]
        assert database.release("three").verification.verified
    script = (
        "import sys; from anondb.release import publish; from anondb.cli import main\n"
        "def stop(*_, **__): raise KeyboardInterrupt\n"
        "publish.publish = stop; main()\n"
    )
    more = ["--max-suppression", "100", "--allow-overlap", "--publish", str(place / "out" / "x.duckdb")]
    words = [*main_job(place, "four"), *more]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script, *words], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 130 and "'four' had been made" in done.stderr and "is kept" in done.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few blocks, where one can be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_a_full_disk(place: Path, small_disk: Path) -> None:
    (small_disk / "own.txt").write_bytes(b"something of the owner's")
    with anondb.connect(place / "shop.duckdb") as database, pytest.raises(EngineError) as caught:
        database.release("two").publish(small_disk / "spring.duckdb", allow_overlap=True)
    assert caught.value.code in ("disk_full", "io") and "zq" not in str(caught.value)
    assert [p.name for p in small_disk.iterdir()] == ["own.txt"]


@pytest.mark.slow
def test_a_limit_of_file_size(place: Path) -> None:
    """What a full quota looks like from inside, without one."""
    releases = ids(place)
    process = start(place, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000)))
    go(process)
    code, said = wait_for(process)
    if code:
        assert code == 5 and said.strip() in ("disk_full", "io", "transaction")
    assert check_whole(place, releases) == ("one" if code else "two")


@pytest.mark.slow
def test_the_memory_limit(place: Path) -> None:
    releases = ids(place)
    process = start(place, "4MB")
    go(process)
    code, said = wait_for(process)
    assert (code == 0 and said == "done\n") or (code == 5 and said.strip() in ("out_of_memory", "disk_full"))
    check_whole(place, releases)


@pytest.mark.slow
def test_a_writer_process_that_dies(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anondb.engine import clean

    releases = ids(place)
    dying = place / "dying.py"
    dying.write_text("import os, signal, sys\nsys.stdin.buffer.read()\nos.kill(os.getpid(), signal.SIGKILL)\n")
    monkeypatch.setattr(clean, "_SCRIPT", dying)
    with anondb.connect(place / "shop.duckdb") as database, pytest.raises(EngineError) as caught:
        database.release("two").publish(place / "out" / "spring.duckdb", replace=True, allow_overlap=True)
    assert caught.value.code == "writer_failed"
    assert check_whole(place, releases) == "one"
    assert [p.name for p in (place / "out").iterdir()] == ["spring.duckdb"]


@pytest.mark.slow
@pytest.mark.parametrize("executable", some(["", None, "/usr/sbin/uwsgi-like"], "/usr/sbin/uwsgi-like", check=()))
def test_an_odd_sys_executable(place: Path, monkeypatch: pytest.MonkeyPatch, executable: str | None) -> None:
    """Embedded in another program, which must not be started as if it were Python."""
    monkeypatch.setattr(sys, "executable", executable)
    with anondb.connect(place / "shop.duckdb") as database:
        database.release("one").publish(place / "out" / "again.duckdb")
    assert read_sealed_manifest(place / "out" / "again.duckdb")["model"] == "km"
    monkeypatch.setattr(sys, "_base_executable", None)
    monkeypatch.setattr(sys, "prefix", "/nowhere")
    monkeypatch.setattr(sys, "base_prefix", "/nowhere")
    with anondb.connect(place / "shop.duckdb") as database, pytest.raises(EngineError) as caught:
        database.release("one").publish(place / "out" / "third.duckdb")
    assert caught.value.code == "no_interpreter"


@pytest.mark.slow
def test_publishing_in_a_process_with_threads(place: Path) -> None:
    stop = threading.Event()
    busy = [threading.Thread(target=lambda: [None for _ in iter(lambda: stop.wait(0.001), True)]) for _ in range(3)]
    for thread in busy:
        thread.start()
    try:
        with anondb.connect(place / "shop.duckdb") as database:
            database.release("one").publish(place / "out" / "threads.duckdb")
    finally:
        stop.set()
    assert read_sealed_manifest(place / "out" / "threads.duckdb")["model"] == "km"


@pytest.mark.slow
def test_a_second_writer(place: Path) -> None:
    with anondb.connect(place / "shop.duckdb"):
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        publish = ["publish", str(place / "shop.duckdb"), "--release", "one", "--to", "x.duckdb"]
        words = [sys.executable, "-m", "anondb", *publish]
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 5 and "locked" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("files", some([range(5), range(5, 12)], range(5), check=()))
def test_corrupt_and_cut_files(place: Path, files: range) -> None:
    whole = (place / "out" / "spring.duckdb").read_bytes()
    for n in files:
        rng = random.Random(9 + n)
        broken = bytearray(whole)
        if n % 3 == 0:
            broken = broken[: rng.randrange(len(broken))]
        else:
            for _ in range(1 + n):
                broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        path = place / "out" / f"broken{n}.duckdb"
        path.write_bytes(broken)
        try:
            manifest = read_sealed_manifest(path)
            with anondb.open_release(path) as reader:
                reader.sql("FROM baskets").fetchall()
            assert manifest["model"] == "km"
        except (InputError, EngineError, anondb.InternalError) as error:
            assert "zq" not in str(error)
        except duckdb.Error:
            pass  # the analyst's own query, on the analyst's connection
