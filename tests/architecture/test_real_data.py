"""Tests that need real data: where it is looked for, and what a run without it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import realdata


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ANONDB_DATA", raising=False)
    monkeypatch.setattr(realdata, "ROOT", tmp_path / "anondb")
    (tmp_path / "anondb").mkdir()
    return tmp_path / "anondb"


def test_the_folder_of_the_data(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert realdata.folder() == checkout / "data"
    (checkout.parent / "shared" / "data").mkdir(parents=True)
    assert realdata.folder() == checkout.parent / "shared" / "data"
    (checkout / "data").mkdir()
    assert realdata.folder() == checkout / "data"
    monkeypatch.setenv("ANONDB_DATA", str(checkout.parent))
    assert realdata.folder() == checkout.parent


@pytest.mark.slow
def test_a_run_without_the_data_says_what_is_missing(tmp_path: Path) -> None:
    words = ("-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "tests/papers/test_coat.py", "-k", "real_data")
    env = {**os.environ, "ANONDB_DATA": str(tmp_path)}
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, *words], cwd=root, env=env, capture_output=True, text=True, check=False)
    said = "2 tests skipped: real data is absent; set ANONDB_DATA to a folder with bms1.dat, bms2.dat (docs/data.md "
    assert done.returncode == 0 and said in done.stdout and "2 skipped" in done.stdout, done.stdout + done.stderr
