"""The commands of docs/over-time.md, run as they stand there."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

import anondb
from anondb.cli import main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "over-time.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S)


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    with pytest.raises(SystemExit) as caught:
        main()
    assert not caught.value.code


@pytest.mark.slow
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    create, refresh = (text for kind, text in BLOCKS if kind == "sql")
    commands = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
    (python,) = (text for kind, text in BLOCKS if kind == "python")
    assert len(commands) == 4
    with anondb.connect("shop.duckdb", threads=1) as db:
        db.sql(
            "CREATE TABLE food AS SELECT * FROM (VALUES ('all', NULL), ('milk', 'all'), ('bread', 'all')) f(node, parent)"
        )
        db.sql(
            "CREATE TABLE sales AS SELECT range AS tid, ['milk', 'bread'][range % 2 + 1] AS item, 1 AS week FROM range(20)"
        )
    Path("weekly.sql").write_text(create, encoding="utf-8")
    run(commands[0], monkeypatch)
    with anondb.connect("shop.duckdb", threads=1) as db:
        db.sql("INSERT INTO sales SELECT tid + 100, item, 2 FROM sales")
        found = db.sql(refresh)
        assert found is not None and [row[0] for row in found.fetchall()] == ["2"]
        late = re.search(r"`(REFRESH .*?late_rows = 'ignore'\))`", PAGE)
        db.sql("INSERT INTO sales VALUES (999, 'milk', 1)")
        assert late and db.sql(late[1]).ignored == 1  # type: ignore[union-attr]
    capsys.readouterr()
    run(commands[1], monkeypatch)
    assert "milk" in capsys.readouterr().out
    run(commands[2], monkeypatch)
    assert "20" in capsys.readouterr().out
    run(commands[3], monkeypatch)
    shown = capsys.readouterr().out
    assert [shown.count(item) for item in ("milk", "bread")] == [2, 2]  # in each of the two weeks
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(python, {})
    assert out.getvalue() == "km, k = 5, m = 2\n[(20.0, 20, 20)]\n"
