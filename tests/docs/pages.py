"""Runs the commands, SQL and Python of a page as they stand there, in order, in a folder with the demo's shop.

What a block is, by its language and its first line:

* ``sql`` with ``-- NAME.sql``: a file; ``sql`` with ``-- duckdb FILE``: statements for that file, each with a result
* ``python``: run, all of a page in one namespace; ``print(...)  # value`` prints that value
* ``console``: a dialogue with a server, which ``tests/serve/test_page.py`` holds again
* no language: commands, one a line, with ``# exit code N`` behind those that fail (``python`` runs a script of the
  project); or lines that the last command printed
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anondb.cli import main

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NOT_RUN = ("make", "pip", "cd", "dbt")  # their tests: test_readme.py, tests/statements/test_examples.py
PROGRAMS = ("anondb", "duckdb", "python", *NOT_RUN)


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)


@dataclass(frozen=True)
class Outcome:
    """The end of a command: exit code, stdout and stderr."""

    code: int
    out: str
    err: str


def anondb_here(words: list[str]) -> Outcome:
    """Run anondb in this process."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["anondb", *words])
        patch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as done:
            main()
    return Outcome(int(str(done.value.code)), out.getvalue(), err.getvalue())


def plain(text: str) -> list[str]:
    """The lines of a text, each with single blanks, without estimates between bounds: each release has worlds of its own."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return [re.sub(r"^(\d+) \d+(?:\.\d+)? (\d+)$", r"\1 to \2", line) for line in lines]


@dataclass
class Page:
    """A page and what its blocks did; ``wanted`` says which commands run here."""

    path: Path
    wanted: Callable[[str], bool] = lambda command: True
    done: dict[str, Outcome] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})

    def follow(self) -> Page:
        """Run all blocks in the current folder."""
        kinds = {"sql": self.sql, "python": self.python, "": self.shell, "toml": tomllib.loads, "console": len}
        for language, text in blocks_of(self.path):
            assert language in kinds, f"{self.path.name}: a block of {language} needs a test of its own"
            kinds[language](text)
        return self

    def sql(self, text: str) -> None:
        """Write a file, or ask one."""
        header = re.match(r"-- (?:duckdb (\S+)|(\w+\.sql))\n", text)
        assert header, f"{self.path.name}: a block of SQL begins with -- duckdb FILE or -- NAME.sql"
        if header[2]:
            Path(header[2]).write_text(text, encoding="utf-8")
            return
        with duckdb.connect(header[1], read_only=True) as analyst:
            for statement in duckdb.extract_statements(text):
                assert analyst.execute(statement).fetchall(), statement.query

    def python(self, text: str) -> None:
        """Run the block; a model of dbt is called, too."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(text, self.names)
        for line, value in re.findall(r"^ *(print\(.*\))  # ([\[({'].*)$", text, re.M):
            assert value in out.getvalue(), (line, out.getvalue())
        if "def model(" in text:
            assert len(self.names["model"](None, None)) > 0

    def shell(self, text: str) -> None:
        """Run commands, or compare what the last one printed."""
        if not text.startswith(PROGRAMS):
            last = list(self.done.values())[-1]
            assert set(plain(text)) <= set(plain(last.out + last.err)), (self.path.name, text, last.out)
            return
        for line in text.replace("\\\n", "").splitlines():
            words = shlex.split(line, comments=True)
            assert words[0] in PROGRAMS, line
            if words[0] == "anondb" and self.wanted(line):
                self.command(line, words[1:])
            elif words[0] == "python":
                subprocess.run([sys.executable, ROOT / words[1], *words[2:]], check=True)
            elif words[0] == "duckdb":
                self.proof(words)

    def command(self, line: str, words: list[str]) -> None:
        """Run anondb; DIGEST stands for the last digest that a command printed."""
        printed = "\n".join(done.out for done in self.done.values())
        digests = re.findall(r"^content:(\w+)$", printed, re.M)
        words = [word.replace("DIGEST", digests[-1]) if "DIGEST" in word else word for word in words]
        self.done[line] = outcome = anondb_here(words)
        stated = re.search(r"# exit code (\d+)$", line)
        assert outcome.code == (int(stated[1]) if stated else 0), (line, outcome.out, outcome.err)
        assert outcome.out or outcome.code

    @staticmethod
    def proof(words: list[str]) -> None:
        """duckdb -readonly FILE < SCRIPT, or duckdb FILE < SCRIPT; a proof ends with PASS."""
        *options, file, _, script = words[1:]
        with duckdb.connect(file, read_only=bool(options)) as shell:
            results = [shell.execute(s).fetchall() for s in duckdb.extract_statements(Path(script).read_text("utf-8"))]
        assert not options or str(results[-1][0][0]).startswith("PASS")
