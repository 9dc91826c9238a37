from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from cli.shop import fill
from report.browser import Browser, browser
from shared import once

import anondb

HOSTILE = "<img src=x onerror=document.title='hacked'>\"'\N{RIGHT-TO-LEFT OVERRIDE}"


def make_files(folder: Path) -> None:
    """The owner's ``shop.duckdb`` and its release ``spring.duckdb``, with an item that is hostile to pages."""
    folder.mkdir()
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        fill(connection)
        connection.execute("UPDATE sales SET item = ? WHERE item = 'd'", [HOSTILE])
        connection.execute("UPDATE food SET node = ? WHERE node = 'd'", [HOSTILE])
    with anondb.connect(folder / "shop.duckdb") as database:
        how = {"model": anondb.KmAnonymity(2, 2), "taxonomy": "food", "name": "spring", "queries": 5}
        database.anonymize("sales", publish=folder / "spring.duckdb", **how)


@pytest.fixture(scope="session")
def files(of_run: Path) -> Path:
    """The folder of ``make_files``, which is only read."""
    return once(of_run / "window", make_files)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened
