"""A small shop with its sealed releases: as it is, with item supports, and with suppressed items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from shared import once

import anondb
from anondb import Session

TREE = {"milk": "dairy", "butter": "dairy", "bread": "bakery", "rolls": "bakery", "figs": "fruit", "dates": "fruit"}
BASKETS = [
    *(["milk", "bread"],) * 6,
    *(["milk", "butter", "rolls"],) * 3,
    *(["butter", "bread"],) * 2,
    *(["bread"],) * 5,
    *(["milk"],) * 7,
    *(["figs", "milk"],) * 4,
    *(["dates"],) * 2,
    ["figs", "dates", "bread"],
]


CHEAP = pd.Series([True, False, None, True], dtype="boolean")
Named = tuple[str, Session]
RELEASES = {"plain": "shop", "supports": "shop", "suppressed": "rare"}
"""The sealed releases, and the database that each comes from."""


def fill(db: anondb.Database, baskets: list[list[str]]) -> None:
    nodes = {**TREE, **dict.fromkeys(sorted(set(TREE.values())), "all")}
    sales = ", ".join(f"({tid}, '{item}')" for tid, basket in enumerate(baskets, 1) for item in basket)
    db.sql(f"CREATE TABLE sales AS SELECT CAST(tid AS INTEGER) AS tid, item FROM (VALUES {sales}) t(tid, item)")
    db.sql(
        "CREATE TABLE food AS FROM (VALUES " + ", ".join(f"('{n}', '{p}')" for n, p in nodes.items()) + ") t(node, parent)"
    )


@pytest.fixture(scope="session")
def shop(of_run: Path) -> Path:
    """A folder with the sealed releases, and the databases ``shop`` and ``rare``, which has rare items more."""
    return once(of_run / "session", make_shop)


def make_shop(folder: Path) -> None:
    folder.mkdir()
    asked = {"taxonomy": "food", "model": anondb.KmAnonymity(k=3, m=2)}
    with anondb.connect(folder / "shop.duckdb") as db:
        fill(db, BASKETS)
        for name, options in (("plain", {}), ("supports", {"item_supports": True})):
            release = db.anonymize("sales", name=name, algorithm="apriori", **asked, **options)
            release.publish(folder / f"{name}.duckdb", allow_overlap=True)
    with anondb.connect(folder / "rare.duckdb") as db:
        fill(db, [*BASKETS, ["saffron", "milk"], ["vanilla"]])
        db.sql("INSERT INTO food VALUES ('saffron', 'all'), ('vanilla', 'all')")
        release = db.anonymize("sales", name="suppressed", **asked)
        assert release.report.to_json()["suppressed_items"]
        release.publish(folder / "suppressed.duckdb")


@pytest.fixture(scope="module")
def plain(shop: Path) -> Iterator[Session]:
    """A session on the release ``plain``, without tables of the analyst."""
    with anondb.open(shop / "plain.duckdb") as opened:
        yield opened


@pytest.fixture(scope="module")
def supports(shop: Path) -> Iterator[Session]:
    """The same on the release ``supports``."""
    with anondb.open(shop / "supports.duckdb") as opened:
        yield opened


@pytest.fixture(scope="session")
def food() -> pd.DataFrame:
    """The taxonomy, as an analyst has it."""
    nodes = {**TREE, **dict.fromkeys(sorted(set(TREE.values())), "all")}
    return pd.DataFrame({"node": list(nodes), "parent": list(nodes.values())})


@pytest.fixture(scope="session")
def prices() -> pd.DataFrame:
    """Prices of some items, as an analyst has them."""
    return pd.DataFrame({"item": ["milk", "bread", "butter", "dates"], "price": [1.5, 2.25, 2.0, -0.5], "cheap": CHEAP})


LATE = [pytest.param("plain", marks=pytest.mark.nightly), pytest.param("supports", marks=pytest.mark.slow)]


@pytest.fixture(scope="session", params=[*LATE, "suppressed"])
def named(shop: Path, food: pd.DataFrame, prices: pd.DataFrame, request: pytest.FixtureRequest) -> Iterator[Named]:
    """The name of a sealed release, with a session on it that has the tables ``food`` and ``prices``."""
    with anondb.open(shop / f"{request.param}.duckdb") as opened:
        opened.register("food", food)
        opened.register("prices", prices)
        yield str(request.param), opened


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is slow by itself is for the night on ``suppressed``: ``make check`` takes ``supports``, which has more rules."""
    for item in items:
        params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if params.get("named") == "suppressed" and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.nightly)
