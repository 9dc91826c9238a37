"""The window of whoever has a release alone: asking and auditing it."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from cli.shop import Run
from ui.client import Client, window, window_on
from ui.conftest import HOSTILE

import anondb
from anondb.pages.answers import Answer
from anondb.ui.serve import READERS

COUNT = "SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item ORDER BY n DESC, item"


@pytest.fixture(scope="module")
def client(files: Path) -> Iterator[Client]:
    with window_on(str(files / "spring.duckdb"), parts=READERS) as opened:
        opened.enter()
        yield opened


def command_on(page: str) -> list[str]:
    (text,) = re.findall(r'<figure class="command">.*?<pre tabindex="0">(.*?)</pre>', page, re.S)
    return shlex.split(html.unescape(text).splitlines()[0])[1:]


def test_readers_see_their_parts_alone(client: Client) -> None:
    page = client.done("/ask")
    assert re.findall(r'href="/(\w+)"', page) == ["ask", "audit"] and client.ask("GET", "/publish").status == 404
    assert "sales" in page and "tid" in page and "km, k = 2, m = 2" in page


@pytest.mark.slow
def test_an_answer_is_that_of_the_command(client: Client, files: Path, run: Run) -> None:
    client.done("/ask")
    client.post("/ask", sql=COUNT, bounds="columns")
    page = client.done("/ask")
    with anondb.open(files / "spring.duckdb") as session:
        expected = session.sql(COUNT)
    assert "<svg" in page and HOSTILE not in page and "<img" not in page and html.escape("<img src=x") in page
    saved = list(csv.reader(io.StringIO(client.get("/ask/answer.csv"))))
    assert saved[0] == expected.columns and len(saved) == len(expected) + 1
    rows = json.loads(client.get("/ask/answer.json"))["rows"]
    assert [list(row.values()) for row in rows] == expected.to_json()["rows"] and rows
    printed = json.loads(run(*command_on(page), "--json").out)
    assert [[item, n, low, high] for item, low, n, high in printed["rows"]] == [list(row.values())[:4] for row in rows]


def test_a_query_without_an_answer_says_what_to_do(client: Client) -> None:
    client.done("/ask")
    for wrong, words in (("SELECT nothing FROM", "not valid SQL"), ("DELETE FROM sales", "SELECT")):
        client.post("/ask", sql=wrong, bounds="columns")
        page = client.done("/ask")
        assert 'role="alert"' in page and words in page and "Traceback" not in page, re.findall(r'role="alert".*', page)
        assert client.ask("GET", "/ask/answer.csv").status == 404
    client.post("/ask", sql="SELECT DISTINCT item FROM sales", bounds="columns")
    assert "Answer</h2>" in (page := client.done("/ask")) and "Below each number" not in page
    client.post("/ask", sql="SELECT count(DISTINCT tid) AS n FROM sales", bounds="none")
    assert "exactly" not in client.done("/ask") and '"n": 6' in client.get("/ask/answer.json")


@pytest.mark.slow
def test_an_audit_says_what_verify_and_inspect_say(client: Client, files: Path, run: Run) -> None:
    page = client.done("/audit")
    checked = anondb.verify_file(files / "spring.duckdb")
    assert checked.sha256 in page and checked.content_digest in page and "nothing is wrong" in page
    assert run(*command_on(page)).code == 0 == run("inspect", files / "spring.duckdb").code
    script = client.get("/audit/proof.sql")
    with duckdb.connect(str(files / "spring.duckdb"), read_only=True) as plain:
        assert "PASS" in str(plain.execute(script).fetchall())


@pytest.mark.slow
def test_a_file_with_a_fault_does_not_pass(client: Client, files: Path, tmp_path: Path) -> None:
    page = client.drop("/audit", files / "spring.duckdb", expected="0" * 64)
    page = client.done("/audit")
    assert "something is wrong" in page and "another digest than expected" in page
    assert f'name="expected" size="40" value="{"0" * 64}"' in page
    forged = Path(shutil.copy(files / "spring.duckdb", tmp_path / "forged.duckdb"))
    with duckdb.connect(str(forged)) as connection:
        connection.execute("CREATE TABLE names AS SELECT 'Ann' AS name")
    client.post("/audit", path=str(forged))
    page = client.done("/audit")
    assert "nothing is wrong" not in page and ("something is wrong" in page or 'role="alert"' in page)
    client.post("/audit", path=str(tmp_path / "none.duckdb"))
    assert "does not exist" in client.done("/audit")
    (tmp_path / "sales.csv").write_text("tid,item\n1,a\n")
    client.post("/audit", path=str(tmp_path / "sales.csv"))
    assert "is not a DuckDB database" in client.done("/audit")
    client.post("/audit", path="a" * 300 + ".duckdb")
    page = client.done("/audit")
    assert 'role="alert"' in page and "unexpected" not in page


def test_a_data_file_is_no_release(client: Client, tmp_path: Path) -> None:
    (tmp_path / "purchases.csv").write_text("tid,item\n1,milk\n")
    for part in ("/audit", "/ask/open"):
        client.post(part, path=str(tmp_path / "purchases.csv"))
        assert "Name one, such as a sealed release" in client.done(part.removesuffix("/open"))


@pytest.mark.slow
def test_another_release_can_be_dropped(files: Path, tmp_path: Path) -> None:
    with window(folder=tmp_path) as client:
        client.enter()
        assert "Open a release" in client.get("/ask")
        client.drop("/ask/open", files / "spring.duckdb")
        assert "sales" in client.done("/ask")
        dropped = list(tmp_path.glob("anondb-tmp-*/*/spring.duckdb"))
        assert dropped and all(path.parents[1].stat().st_mode & 0o77 == 0 for path in dropped)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_no_file_can_have(client: Client) -> None:
    client.post("/ask/open", path="a" * 300 + ".duckdb")
    page = client.done("/ask")
    assert 'role="alert"' in page and "unexpected" not in page


def test_a_spread_stands_beside_the_bounds() -> None:
    columns = ["item", "n", "n_lower", "n_upper", "n_low", "n_high", "certain", "in_worlds"]
    rows = [["a", 3.0, 1, 5, 2, 4, False, 0.5], ["b", 3.0, 3, 3, 3, 3, True, 1.0]]
    answer = Answer(columns, rows, "spread")
    assert [name for _, name in answer.head] == ["item", "n", "certain", "in_worlds"]
    assert [cells[1][1] for cells in answer.shown_rows] == ["1 to 5, plausibly 2 to 4", "exactly"]
    assert ">a<" in answer.bars and "0.5" not in answer.bars
    assert [name for _, name in Answer(columns, rows, "columns").head][2:4] == ["n_low", "n_high"]


@pytest.mark.slow
def test_numbers_without_an_end_are_not_drawn() -> None:
    rows = [["a", 3.0, 1, 5], ["b", math.inf, 0, math.inf], ["c", math.nan, None, None]]
    answer = Answer(["item", "n", "n_lower", "n_upper"], rows, "columns")
    assert answer.bars.count("<circle") == 2 and [cells[1] for cells in answer.shown_rows] == [
        ("3", "1 to 5"),
        ("inf", "0 to inf"),
        ("nan", "no bounds"),
    ]
