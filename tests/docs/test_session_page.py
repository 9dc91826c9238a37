"""The examples of docs/session.md, run as they stand there."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import anondb
from anondb.cli import main
from anondb.demo import make_shop

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "session.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
COMMANDS = [line for kind, text in BLOCKS if not kind for line in text.splitlines() if line.startswith("anondb ")]
QUESTIONS = "SELECT count(*) AS n FROM sales; SELECT 1 AS one;"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the page names."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "weeks").mkdir()
    with anondb.connect(folder / "shop.duckdb") as db:
        make_shop(db)
        made = {"taxonomy": "food", "model": anondb.KmAnonymity(5, 2), "item_supports": True, "queries": 1}
        db.anonymize("sales", name="spring", **made).publish(folder / "spring_supports.duckdb")
    for week in (1, 2):
        with anondb.connect(folder / f"raw{week}.duckdb") as db:
            db.sql("CREATE TABLE sales AS SELECT tid, unnest(['milk', 'bread'][: 1 + tid % 2]) AS item FROM range(9) r(tid)")
            release = db.anonymize("sales", model=anondb.KmAnonymity(2, 2), name="w", queries=1)
            release.publish(folder / "weeks" / f"{week}.duckdb")
    (folder / "prices.csv").write_text("item,price\nmilk,1.2\n", encoding="utf-8")
    (folder / "questions.sql").write_text(QUESTIONS, encoding="utf-8")
    return folder


def printed(text: str, names: dict[str, Any]) -> str:
    """What an example prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(text, names)
    return out.getvalue()


@pytest.mark.slow
def test_examples_in_python(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    names: dict[str, Any] = {}
    assert len(PYTHON) >= 5
    for text in PYTHON:
        shown = printed(text, names)
        for line, said in re.findall(r"^(print\(.*\))  # ([\[{'].*)$", text, re.M):
            assert said in shown, line
    names["session"].close()


@pytest.mark.slow
def test_what_the_page_shows_is_printed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    (shown,) = (text for kind, text in BLOCKS if not kind and text.startswith("item "))
    names: dict[str, Any] = {}
    assert printed(PYTHON[0], names) == shown
    names["session"].close()


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_commands(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str) -> None:
    monkeypatch.chdir(place)
    words = shlex.split(command.split(" < ")[0])
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(QUESTIONS.encode())))
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 0 and capsys.readouterr().out


def test_the_model_of_dbt_ends_with_its_only_return() -> None:
    """dbt refuses others when it reads the project."""
    text = (Path(__file__).resolve().parents[2] / "docs/tools.md").read_text("utf-8")
    (model,) = re.findall(r"^def model\(.*?(?=^```)", text, re.M | re.S)
    function = ast.parse(model).body[0]
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    assert isinstance(function, ast.FunctionDef) and returns == [function.body[-1]]
