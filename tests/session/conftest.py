"""A small shop with its sealed releases: as it is, with item supports, and with suppressed items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import anondb
from anondb.session import Session

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


RELEASES = {"plain": "shop", "supports": "shop", "suppressed": "rare"}
"""The sealed releases, and the database that each comes from."""


def fill(db: anondb.Database, baskets: list[list[str]]) -> None:
    db.sql("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
    db.sql("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
    for tid, basket in enumerate(baskets, 1):
        db.sql("INSERT INTO sales VALUES " + ", ".join(f"({tid}, '{item}')" for item in basket))
    nodes = {**TREE, **dict.fromkeys(sorted(set(TREE.values())), "all")}
    db.sql("INSERT INTO food VALUES " + ", ".join(f"('{n}', '{p}')" for n, p in nodes.items()))


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sealed releases, and the databases ``shop`` and ``rare``, which has rare items more."""
    folder = tmp_path_factory.mktemp("shop")
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
    return folder


@pytest.fixture(params=RELEASES)
def name(request: pytest.FixtureRequest) -> str:
    """The name of a sealed release."""
    return str(request.param)


@pytest.fixture
def session(shop: Path, name: str) -> Iterator[Session]:
    """A session on the release ``name``."""
    with anondb.open(shop / f"{name}.duckdb") as opened:
        yield opened
