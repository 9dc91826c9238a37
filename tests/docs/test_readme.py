"""The README: its length, its picture, and its commands."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from docs.pages import ROOT, Outcome, Page, blocks_of, plain

from anondb.demo import baskets, customers

README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "images" / "before_after.svg"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo, and the CSV that the README names."""
    folder = tmp_path_factory.mktemp("readme")
    with (folder / "purchases.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("customer", "product"), *((f"C{t:04d}", item) for t, item in baskets())])
    return folder


@pytest.fixture(scope="module")
def demo(place: Path) -> Outcome:
    """``anondb demo`` in this folder, as a user runs it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    command = [sys.executable, "-m", "anondb", "demo"]
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_length() -> None:
    assert len(README.read_text("utf-8").split()) <= 900


@pytest.mark.slow
def test_commands_and_what_they_print(place: Path, demo: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    page = Page(README, done={"make demo": demo}).follow()
    assert len(page.done) == 4
    (shown,) = (text for kind, text in blocks_of(README) if not kind and "How many" in text)
    assert plain(shown) == plain(demo.out)[2 : 2 + len(plain(shown))]


def test_make_has_the_targets() -> None:
    (commands,) = (text for kind, text in blocks_of(README) if text.startswith("make"))
    rules = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert set(re.findall(r"^make (\w+)", commands, re.M)) == {"demo", "test"} <= rules


@pytest.mark.slow
def test_the_picture_is_true(place: Path, demo: Outcome) -> None:
    """Rows and numbers of the picture are those of the demo's shop and its release."""
    texts = re.findall(r"<text [^>]*>(.*?)</text>", PICTURE.read_text("utf-8"))
    after = next(n for n, text in enumerate(texts) if text.startswith("After"))
    raw, released = ([set(text.split(", ")) for text in texts[n + 1 : n + 4]] for n in (0, after))
    bought: dict[int, set[str]] = {}
    for tid, item in baskets():
        bought.setdefault(tid, set()).add(item)
    assert all(row in bought.values() for row in raw) and f"and {len(bought) - 3:,} other customers" in texts
    assert texts[5].startswith(f"{sum({'apples', 'figs'} <= basket for basket in bought.values())} customer ")
    assert texts[-1].endswith(f": {sum('milk' in basket for basket in bought.values())}.")
    with duckdb.connect(str(place / "anondb-demo" / "spring_supports.duckdb"), read_only=True) as analyst:
        stands_for = analyst.execute("SELECT item, released_item FROM released_items").fetchall()
        fruit = analyst.execute("SELECT count(*) FROM baskets WHERE list_contains(items, 'fruit')").fetchall()[0][0]
        lower, estimate, upper = analyst.execute("FROM count_bounds(['milk'])").fetchall()[0]
    image = dict(stands_for)
    assert [{image[item] for item in row} for row in raw] == released
    assert f"{fruit} rows may be the neighbour’s." in texts
    assert f"Between {lower} and {upper}; estimate {estimate:.0f}." in texts


def test_customers_agree_with_what_they_buy() -> None:
    """Four attributes that are not drawn alone: buyers of nappies have larger households, those of aspirin are older."""
    rows = baskets()
    columns = {name: values for name, (_, values) in customers(rows).items()}
    assert list(columns) == ["tid", "age", "sex", "town", "household"] and min(columns["age"]) >= 18
    mean = {
        (attribute, item): columns[attribute][[tid - 1 for tid, i in rows if i == item]].mean()
        for attribute, item in (("household", "nappies"), ("age", "aspirin"), ("age", "chocolate"))
    }
    assert mean["household", "nappies"] > columns["household"].mean() + 0.5
    assert mean["age", "aspirin"] > columns["age"].mean() > mean["age", "chocolate"]
