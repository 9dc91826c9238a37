"""``anondb query``: one query, the statements of stdin, and the prompt."""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.shop import Run
from each import each

import anondb
from anondb import Session
from anondb.cli.prompt import prompt
from anondb.query.scripts import script, split

MILK = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk'"
TOP = "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 2"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets what comes from stdin."""

    def given(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return given


@each(
    "text, statements, rest",
    [
        ("SELECT 1; SELECT ';' AS \";\"; SELECT", ["SELECT 1", "SELECT ';' AS \";\""], " SELECT"),
        ("SELECT 1 -- a; b\n;", ["SELECT 1 -- a; b"], ""),
        ("/* ; */ ; ;\n-- x", [], ""),
        ("SELECT 'not; ended", [], "SELECT 'not; ended"),
        ("SELECT '$1,$2;", [], "SELECT '$1,$2;"),
    ],
)
def test_statements_end_with_a_semicolon(text: str, statements: list[str], rest: str) -> None:
    assert split(text) == (statements, rest)
    assert script(text) == [*statements, *([rest.strip()] if rest else [])]


@pytest.mark.slow
def test_a_count_is_printed_as_its_bounds(run: Run, shop: Path) -> None:
    found = run("query", shop / "supports.duckdb", MILK)
    assert found.out.split() == ["lower", "bound", "estimate", "upper", "bound", "19", "20.0", "21"]
    assert run("query", shop / "suppor*.duckdb", MILK).out == found.out
    found = run("query", shop / "supports.duckdb", MILK, "--json")
    assert list(found.json) == ["count", "columns", "rows", "notes"]
    assert found.json["columns"] == ["lower_bound", "estimate", "upper_bound"]


@pytest.mark.slow
def test_what_is_not_one_count_is_answered_by_a_session(run: Run, shop: Path) -> None:
    found = run("query", shop / "supports.duckdb", TOP)
    lines = [line.split() for line in found.out.splitlines()]
    assert lines == [["item", "n", "n_lower", "n_upper"], ["milk", "20", "19", "21"], ["bread", "14", "13", "15"]]
    assert "note: Rows are ordered" in found.err and found.code == 0
    found = run("query", shop / "suppor*.duckdb", TOP, "--json")
    with anondb.open(shop / "supports.duckdb") as session:
        assert found.json == {**session.sql(TOP).to_json(), "rows": [["milk", 20.0, 19, 21], ["bread", 14.0, 13, 15]]}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["supports.duckdb", "SELECT abs(tid) FROM sales"], "unsupported_query"),
        (["supports.duckdb", "SELECT count("], "bad_sql"),
        (["none.duckdb", MILK], "no_such_file"),
        (["supports.duckdb"], "bad_usage"),
        (["shop.duckdb", "--release", "supports"], "bad_usage"),
    ],
)
def test_refused(run: Run, shop: Path, words: list[str], code: str) -> None:
    found = run("query", shop / words[0], *words[1:], "--json")
    assert found.code == 2 and found.json["error"]["code"] == code


@pytest.mark.slow
def test_a_release_of_the_owner(run: Run, shop: Path) -> None:
    found = run("query", shop / "shop.duckdb", MILK, "--release", "supports")
    assert found.out.split()[-3:] == ["19", "20.0", "21"]
    found = run("query", shop / "shop.duckdb", TOP, "--release", "supports", "--json")
    assert found.json == run("query", shop / "supports.duckdb", TOP, "--json").json


@pytest.mark.slow
def test_statements_for_a_release_of_the_owner(run: Run, shop: Path, typed: Callable[[str], None]) -> None:
    typed(f"{TOP};\nSELECT avg(n) AS mean FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)")
    found = run("query", shop / "shop.duckdb", "-", "--release", "supports")
    typed(f"{TOP};\nSELECT avg(n) AS mean FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)")
    assert found.out == run("query", shop / "supports.duckdb", "-").out and "mean_lower" in found.out


def test_the_statements_of_stdin(run: Run, shop: Path, typed: Callable[[str], None]) -> None:
    typed(f"{TOP};\nSELECT 1 AS one")
    found = run("query", shop / "supports.duckdb", "-")
    assert [line.split()[0] for line in found.out.splitlines()] == ["item", "milk", "bread", "one", "1"]
    typed("SELECT 1 AS a; SELECT 2 AS b;")
    results = run("query", shop / "supports.duckdb", "-", "--json").json["results"]
    assert [(r["columns"], r["rows"]) for r in results] == [(["a"], [[1]]), (["b"], [[2]])]
    typed("SELECT 1 AS a; SELECT abs(tid) FROM sales; SELECT 2 AS b")
    found = run("query", shop / "supports.duckdb", "-")
    assert found.code == 2 and found.out.split() == ["a", "1"] and "Ids of a release are modelled" in found.err


def test_without_sql_each_line_is_answered(run: Run, shop: Path, typed: Callable[[str], None]) -> None:
    typed(f".schema\n{TOP}\n;\nSELECT 7 AS seven")
    found = run("query", shop / "supports.duckdb")
    assert found.code == 0 and "sales(tid BIGINT, item VARCHAR)" in found.out
    assert "milk" in found.out and found.out.split()[-2:] == ["seven", "7"]


class Terminal:
    """Lines that are typed at a terminal; an exception is raised in the place of its line."""

    def __init__(self, *lines: str | type[BaseException]) -> None:
        self._lines, self.asked = iter([*lines, EOFError]), []

    def isatty(self) -> bool:
        return True

    def input(self, words: str) -> str:
        self.asked.append(words)
        line = next(self._lines)
        if isinstance(line, str):
            return line
        raise line


@pytest.fixture(scope="module")
def opened(shop: Path) -> Iterator[Session]:
    with anondb.open(shop / "supports.duckdb") as session:
        yield session


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch, opened: Session, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The prompt: what it asks and prints for lines."""

    def typing(*lines: str | type[BaseException]) -> tuple[list[str], str, str]:
        terminal = Terminal(*lines)
        monkeypatch.setattr(sys, "stdin", terminal)
        monkeypatch.setattr(builtins, "input", terminal.input)
        prompt(opened)
        printed = capsys.readouterr()
        return terminal.asked, printed.out, printed.err

    return typing


def test_the_prompt_asks_for_more_until_a_semicolon(at: Callable[..., Any]) -> None:
    asked, out, _ = at("SELECT 1 AS a", ", 2 AS b; SELECT 3 AS c;", "SELECT 'x", KeyboardInterrupt, "SELECT 4 AS d")
    assert asked == ["anondb> ", "   ...> ", "anondb> ", "   ...> ", "anondb> ", "   ...> "]
    assert out.split()[-8:] == ["a", "b", "1", "2", "c", "3", "d", "4"]


def test_the_prompt_goes_on_after_an_error(at: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    _, out, err = at("SELECT abs(tid) FROM sales;", ".nothing", "SELECT 1 AS a;")
    assert "Ids of a release are modelled" in err and "no such command" in err and out.split()[-2:] == ["a", "1"]

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "sql", stopped)
    assert "interrupted" in at("SELECT 1;")[2]


def test_the_commands_of_the_prompt(at: Callable[..., Any], opened: Session, tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("item,price\nmilk,1.5\n", encoding="utf-8")
    _, out, _ = at(".help", f".register prices {prices}", ".tables", "SELECT * FROM prices;", ".quit", "SELECT 8;")
    assert ".register NAME FILE" in out and "sales(tid, item)\nprices(item, price)\n" in out
    assert out.split()[-2:] == ["milk", "1.5"]
    opened.unregister("prices")
    prices.write_text("item;price\nKäse;1,5\n", encoding="latin-1")
    named = f".register 'my prices' '{prices}' --delimiter ; --encoding"
    _, out, err = at(f"{named} latin-1", 'SELECT * FROM "my prices";', named, ".register one", '.register "one')
    assert out.split()[-2:] == ["Käse", "1,5"]
    assert "needs a value" in err and "takes a name and a file" in err and "not closed" in err
    opened.unregister("my prices")
