"""The owner's way in the window from a table of PostgreSQL to a release in a schema."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from cli.shop import Run
from postgres.databases import Databases
from ui.client import window_on

from anondb.ui.window import argument

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
        said = {"model": "km", "k": "2", "m": "2", "use": "items", "supports": "no", "seconds": "9"}
        assert "Load an export of the table" in client.post("/choose", **said)
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
    assert argument(url) == "postgresql://owner@db:5433/raw?sslmode=require"
    assert argument("postgresql://db/raw") == "postgresql://db/raw" and argument("-x.csv") == "./-x.csv"
