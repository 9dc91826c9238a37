"""Runs inside Spark that are killed leave no work table, schema or row."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TABLES = {"labels", "manifest", "released_items", "transaction_ids", "transaction_items"}
EARLY = ["SHA2", "CREATE SCHEMA"]
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/tests"}
LATE = ["AS item_id", "AS complete", "_anondb_release_labels", "AS tid, item_id AS item", "CREATE VIEW", "CREATE FUNCTION"]


@pytest.mark.nightly
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("step", [*EARLY, *LATE])
def test_a_killed_run_leaves_nothing(tmp_path: Path, step: str, sent: signal.Signals) -> None:
    """Java ends in order when the process that started it is gone, and deletes the private folder and the rows."""
    pytest.importorskip("pyspark")
    command = [sys.executable, str(Path(__file__).parent / "run_spark.py"), f"file://{tmp_path}", step]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True) as run:
        assert run.stdout is not None and run.stdout.readline() == "ready\n"
        (folder,) = tmp_path.glob("_anondb_*")
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "spring.db").exists() == (step in LATE)
        run.send_signal(sent)
        run.wait(60)
    until = time.monotonic() + 60
    while list(tmp_path.iterdir()) and time.monotonic() < until:
        time.sleep(0.2)
    assert not list(tmp_path.iterdir())


@pytest.mark.nightly
@pytest.mark.parametrize("step", ["SHA2", "CREATE VIEW"])
def test_the_next_run_deletes_what_a_killed_java_left(tmp_path: Path, step: str) -> None:
    """Nobody can tidy up when Python and Java are killed together: the next run of this machine does."""
    pytest.importorskip("pyspark")
    script = Path(__file__).parent / "run_spark.py"
    command = [sys.executable, str(script), f"file://{tmp_path}"]
    with subprocess.Popen(
        [*command, step], stdout=subprocess.PIPE, env=ENVIRONMENT, text=True, start_new_session=True
    ) as run:
        assert run.stdout is not None and run.stdout.readline() == "ready\n"
        os.killpg(run.pid, signal.SIGKILL)
    assert list(tmp_path.glob("_anondb_*")) and (tmp_path / "spring.db").exists() == (step == "CREATE VIEW")
    subprocess.run([*command, "no such step"], env=ENVIRONMENT, check=True, capture_output=True)
    assert not list(tmp_path.glob("_anondb_*"))
    assert {p.name for p in tmp_path.glob("spring.db/*")} == TABLES


@pytest.mark.nightly
def test_a_run_whose_java_is_killed_tells_so(tmp_path: Path) -> None:
    """The error is a typed one, and the local folder is deleted at once."""
    pytest.importorskip("pyspark")
    command = [sys.executable, str(Path(__file__).parent / "run_spark.py"), f"file://{tmp_path}", "SHA2", "java"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert "anondb.errors.EngineError" in done.stderr and not list(tmp_path.glob("_anondb_*"))
