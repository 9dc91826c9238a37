"""The commands of docs/taxonomies.md, run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from cli.shop import in_process

import anondb
from anondb.demo import make_shop

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "taxonomies.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.mark.slow
def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "anondb-demo").mkdir()
    with anondb.connect(tmp_path / "anondb-demo" / "shop.duckdb") as db:
        make_shop(db)
    monkeypatch.chdir(tmp_path)
    run = in_process(monkeypatch, capsys)
    output = ""
    for block in BLOCKS:
        if not block.startswith("anondb "):
            assert block == output
            continue
        for line in block.splitlines():
            outcome = run(*shlex.split(line)[1:])
            assert outcome.code == 0, outcome.err
            output = outcome.out
    assert len(BLOCKS) >= 5 and (tmp_path / "similar.tree").exists() and (tmp_path / "complete.tree").exists()
