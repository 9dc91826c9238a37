"""The owner's way in the window from a table of PostgreSQL to a release in a schema."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from cli.shop import Run
from postgres.databases import Databases
from ui.client import window_on

from anondb.reading.options import word_of

pytestmark = pytest.mark.slow


def test_a_release_in_a_schema(databases: Databases, run: Run, tmp_path: Path) -> None:
    with window_on(databases.raw_url()) as client:
        client.enter()
        assert 'value="shop.sales"' in client.done("/load")
        client.post("/load/reading", transactions="shop.sales")
        client.post("/load/taxonomy", path="shop.food")
        assert "It fits" in client.done("/load")
        client.post("/load/confirm")
        assert "<svg" in client.done("/understand")
        said = {"model": "km", "k": "2", "m": "1, 2", "use": "items", "supports": "no", "seconds": "60"}
        client.post("/choose", **said)
        page = client.done("/choose")
        (number,) = re.findall(r'name="of" value="(\d+)"', page)
        client.post("/choose/take", of=number, pair=["0", "1"])
        assert "Before and after" in client.done("/choose/pair")
        client.post("/choose/why", item="milk")
        assert html.unescape(client.done("/choose/pair")).count("'milk' is published as it is") == 2
        assert not databases.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'anondb'"), "the server is only read"
        client.post("/choose", plain="yes", **said)
        client.post("/publish/release", name="window")
        assert "found no violation" in client.done("/publish")
        client.post("/publish/file", path=databases.url("window"))
        page = html.unescape(client.done("/publish"))
        assert "sealed in <code>postgresql:///" in page
        commands = re.findall(r"^anondb (\w+) '([^']*)' ", page, re.M)
        assert ("publish", databases.raw_url()) in commands and f"--to '{databases.url('window')}'" in page
        client.post("/ask/open", path=databases.url("window"))
        assert "What you can ask about" in client.done("/ask")
        (tmp_path / "policy.toml").write_text(client.get("/publish/policy.toml"))
    done = run("run", tmp_path / "policy.toml")
    assert done.code == 0 and "nothing was done" in done.out, "a view of the server that has this release"


def test_commands_name_a_url_without_its_password() -> None:
    url = "postgresql://owner:secret@db:5433/raw?password=secret&sslmode=require&sslpassword=secret"
    assert word_of(url) == "postgresql://owner@db:5433/raw?sslmode=require"
    assert word_of("postgresql://db/raw") == "postgresql://db/raw" and word_of("-x.csv") == "./-x.csv"
