"""Similar from the command line, Python and SQL: item supports by default, and its option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from cli.shop import Run

import anondb
from anondb.errors import InputError
from anondb.options import policy_of

WORDS = ("--transactions", "sales", "--k", 2, "--algorithm", "similar", "--release", "new", "--json")
VIEW = "CREATE OR REPLACE ANONYMIZED VIEW new AS SELECT tid, item FROM sales WITH (k = 2, algorithm = 'similar'{})"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Cola and pepsi are once with chips, and otherwise alone."""
    path = tmp_path / "shop.duckdb"
    baskets = ["chips cola", "chips pepsi", "chips", "chips", "cola", "cola", "pepsi", "pepsi"]
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        rows = [(n, item) for n, basket in enumerate(baskets) for item in basket.split()]
        connection.executemany("INSERT INTO sales VALUES (?, ?)", rows)
    return path


def released(sealed: Path) -> tuple[set[str], bool]:
    """The labels of a sealed file, and whether it has item supports."""
    with duckdb.connect(str(sealed), read_only=True) as connection:
        labels = {label for (label,) in connection.execute("SELECT DISTINCT item FROM transactions").fetchall()}
        return labels, ("item_supports",) in connection.execute("SELECT key FROM manifest").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "labels", "supports"),
    [
        ((), {"(cola,pepsi)", "chips", "cola", "pepsi"}, True),
        pytest.param(("--no-item-supports",), {"(cola,pepsi)", "chips", "cola", "pepsi"}, False, marks=pytest.mark.slow),
        pytest.param(("--option", "open=false"), {"(cola,pepsi)", "chips"}, True, marks=pytest.mark.slow),
    ],
)
def test_the_command(run: Run, shop: Path, tmp_path: Path, words: tuple[str, ...], labels: set[str], supports: bool) -> None:
    sealed = tmp_path / "sealed.duckdb"
    made = run("anonymize", shop, *WORDS, *words, "--publish", sealed)
    assert made.code == 0 and made.json["verified"] and made.json["suppressed_items"] == 0, made.err
    assert released(sealed) == (labels, supports)
    checked = run("verify", sealed, "--json")
    assert checked.code == 0 and ("item_supports" in checked.json) == supports
    said = run("verify", sealed).out
    assert said.startswith("2^2-anonymity: holds\n") and "taxonomy" not in said  # there is none
    assert run("inspect", sealed).code == 0
    explained = run("explain", shop, "--release", "new", "--item", "cola")
    assert explained.code == 0 and ("Elsewhere" in explained.out) == (len(labels) != 2), explained.out


@pytest.mark.nightly
def test_views_and_their_refresh(shop: Path) -> None:
    with anondb.connect(shop) as db:
        for more, supports in (("", True), (", item_supports = false", False), (", open = false", True)):
            db.sql(VIEW.format(more))
            assert ("item_supports" in db.release("new").manifest) == supports
            db.sql("INSERT INTO sales VALUES (100, 'chips')")
            db.sql("REFRESH ANONYMIZED VIEW new")
            assert ("item_supports" in db.release("new").manifest) == supports


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"algorithm": "similar"}, True),
        ({"algorithm": "similar", "item_supports": False}, False),
        ({"algorithm": "coat"}, None),
        ({"algorithm": "coat", "item_supports": True}, True),
    ],
)
def test_the_default_of_the_policy(options: dict[str, Any], wanted: bool | None) -> None:
    assert policy_of("sales", options).item_supports is wanted


def test_the_option_is_refused_elsewhere() -> None:
    with pytest.raises(InputError, match="open does not apply to coat"):
        policy_of("sales", {"algorithm": "coat", "open": False})
