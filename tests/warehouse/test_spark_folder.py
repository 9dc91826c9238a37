"""Private folders of runs in Spark: those of killed runs are deleted by the next run, and no others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from anondb.warehouse.spark.folder import PROCESS, RELEASE, delete, make_private, note_release, process

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def ended() -> str:
    """What named a process that has ended."""
    with subprocess.Popen(["sleep", "100"]) as other:
        name = process(other.pid)
        other.kill()
    assert name and not process(other.pid).startswith(name)
    return name


def left(place: Path, name: str, run: str | None, release: Path | str | None = None) -> Path:
    """A private folder with rows, and with what a run notes in it."""
    folder = place / name
    folder.mkdir(parents=True)
    (folder / "1").write_text("rows")
    if run is not None:
        (folder / PROCESS).write_text(run)
    if release is not None:
        (folder / RELEASE).write_text(str(release))
    return folder


def test_folders_of_killed_runs_are_deleted(spark: Any, tmp_path: Path, ended: str) -> None:
    place, elsewhere = tmp_path / "place", tmp_path / "elsewhere"
    for rows in (place / "spring.db", place / "summer.db", elsewhere / "autumn.db"):
        rows.mkdir(parents=True)
    boot, space, pid, begun = ended.split(" ")
    gone = [
        left(place, "_anondb_1", ended, f"file:{place}/spring.db"),
        left(place, "_anondb_2", ended, f"file://{elsewhere}/autumn.db"),
        left(place, "_anondb_3", f"{boot} {space} {os.getpid()} 1"),  # a number that another process has now
    ]
    kept = [
        left(place, "_anondb_4", process(os.getpid()), f"file:{place}/summer.db"),
        left(place, "_anondb_5", None),
        left(place, "_anondb_6", f"another {space} {pid} {begun}"),
        left(place, "_anondb_7", f"{boot} another {pid} {begun}"),
        left(place, "_anondb_8", f"{boot} {space}"),
        left(place, "other", ended),
    ]
    made = Path(make_private(spark, f"file://{place}/").removeprefix("file:"))
    assert made.parent == place and made.stat().st_mode & 0o777 == 0o700
    assert sorted(place.iterdir()) == sorted([*kept, made, place / "summer.db"])
    assert not any(map(Path.exists, gone)) and (elsewhere / "autumn.db").exists()
    java = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    assert (made / PROCESS).read_text() == process(java)


def test_a_folder_that_cannot_be_deleted_keeps_no_other(spark: Any, tmp_path: Path, ended: str) -> None:
    stuck = [left(tmp_path, f"_anondb_{n}", ended, "unknown://spring.db") for n in (1, 2, 3)]
    gone = [left(tmp_path, f"_anondb_{n}", ended) for n in (4, 5, 6)]
    make_private(spark, str(tmp_path))
    assert all(map(Path.exists, stuck)) and not any(map(Path.exists, gone))


@pytest.mark.skipif(os.getuid() != 0, reason="makes a folder of another user, as root")
def test_folders_of_other_users_stay(spark: Any, tmp_path: Path, ended: str) -> None:
    (tmp_path / "spring.db").mkdir()
    theirs = left(tmp_path, "_anondb_1", ended, f"file:{tmp_path}/spring.db")
    os.chown(theirs, 12345, 12345)
    made = make_private(spark, str(tmp_path)).removeprefix("file:")
    assert {str(p) for p in tmp_path.iterdir()} == {made, str(theirs), f"{tmp_path}/spring.db"}


def test_what_a_run_notes(spark: Any, tmp_path: Path) -> None:
    folder = make_private(spark, str(tmp_path))
    (private,) = tmp_path.iterdir()
    note_release(spark, folder, "file:/spring.db")
    assert (private / RELEASE).read_text() == "file:/spring.db"
    note_release(spark, folder, None)
    assert not (private / RELEASE).exists()
    delete(spark, folder)
    assert not private.exists()


def test_a_folder_is_deleted_without_java(tmp_path: Path) -> None:
    """A local folder also where Java is gone, whose error is the one to tell for any other."""
    protocol = pytest.importorskip("py4j.protocol")

    class Gone:
        @property
        def sparkContext(self) -> None:
            raise protocol.Py4JNetworkError("Answer from Java side is empty")

    folder = left(tmp_path, "_anondb_1", "x")
    delete(Gone(), f"file:{folder}")
    assert not folder.exists()
    with pytest.raises(protocol.Py4JNetworkError):
        delete(Gone(), "hdfs://host/_anondb_1")
