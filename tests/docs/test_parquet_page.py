"""The commands of docs/parquet.md, run as they stand there."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

import anondb
from anondb.cli import main
from anondb.demo import make_shop

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "parquet.md").read_text("utf-8")
COMMANDS = [line for text in re.findall(r"^```\n(.*?)^```$", PAGE, re.M | re.S) for line in text.splitlines()]


@pytest.mark.slow
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    with anondb.connect("shop.duckdb") as db:
        make_shop(db)
        db.anonymize("sales", taxonomy="food", name="spring", queries=1)
    assert len(COMMANDS) == 4
    for line in COMMANDS:
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as caught:
            main()
        said = capsys.readouterr()
        assert not caught.value.code, said.err
    assert "325" not in said.err and said.out
    listed = set(re.findall(r"`(bounds\.\w+\.sql|manifest\.json)`", PAGE))
    assert listed <= {f.name for f in Path("spring_parquet").iterdir()}
