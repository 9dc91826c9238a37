"""Runs inside Spark that are killed leave no work table, schema or row."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

EARLY = ["SHA2", "CREATE SCHEMA"]
LATE = [
    "AS item_id",
    "AS complete",
    "_anondb_release_labels",
    "AS tid, item_id AS item",
    "CREATE VIEW",
    "CREATE FUNCTION",
]


@pytest.mark.nightly
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("step", [*EARLY, *LATE])
def test_a_killed_run_leaves_nothing(tmp_path: Path, step: str, sent: signal.Signals) -> None:
    """Java ends in order when the process that started it is gone, and deletes the private folder and the rows."""
    pytest.importorskip("pyspark")
    command = [sys.executable, str(Path(__file__).parent / "run_spark.py"), f"file://{tmp_path}", step]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root}/tests"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as run:
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
