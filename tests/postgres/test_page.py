"""The commands and queries of docs/postgres.md run as they are written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from postgres.databases import Databases, command

import anondb

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "postgres.md").read_text("utf-8")


def here(text: str, databases: Databases) -> str:
    """A text of the page with the URLs of the test's databases."""
    text = re.sub(r"postgresql://HOST/releases/(\w+)", lambda m: databases.url(m[1]), text)
    return text.replace("postgresql://HOST/raw", databases.raw_url())


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S)
    return [text for name, text in found if name == language]


@pytest.mark.slow
def test_the_page(databases: Databases, tmp_path: Path) -> None:
    lines = [line for block in blocks("") for line in block.splitlines() if line.startswith("anondb ")]
    assert len(lines) > 6
    for line in lines:
        done = command(*shlex.split(here(line, databases))[1:])
        assert done.returncode == 0, (line, done.stderr)
    answer(0, databases)
    (code,) = blocks("python")
    exec(compile(here(code, databases), "postgres.md", "exec"), {})
    assert anondb.verify_file(databases.url("autumn")).holds
    weekly, daily = (here(block, databases) for block in blocks("") if block.startswith("CREATE ANONYMIZED"))
    databases.sql("ALTER TABLE shop.sales ADD day integer")
    databases.sql("UPDATE shop.sales SET day = tid % 2")
    with anondb.connect(databases.raw_url()) as db:
        assert [result.kind for result in db.run(weekly + daily)] == ["create", "refresh", "create"]
    answer(1, databases)


def answer(number: int, databases: Databases) -> None:
    """Ask the queries of a block as analysts."""
    for statement in filter(str.strip, blocks("sql")[number].split(";")):
        assert databases.sql(statement, databases.releases, "analysts"), statement
