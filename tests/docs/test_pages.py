"""The commands, SQL and Python of the tutorials and how-to pages, run as they stand there."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import duckdb
import pytest
from docs.pages import DOCS, Page, blocks_of
from realdata import DATA, needs

from anondb.demo import SHOP, baskets, products, run_demo

BMS2 = ("bms2.dat", "bms2.f5.tree")
NOT_RUN = {"architecture.md"}  # a tree of folders
LONG = ("comparing.md", "hospital.md", "profile-and-advise.md")  # several algorithms, each in a process


@cache
def with_tests_of_their_own() -> set[str]:
    """The names of pages that a test, of this file or another, reads."""
    texts = [path.read_text("utf-8") for path in (DOCS.parent / "tests").rglob("test_*.py")]
    return {name for text in texts for name in re.findall(r'(?:"docs"|DOCS) / "([\w-]+\.md)"', text)}


PAGES = [
    str(page.relative_to(DOCS))
    for page in sorted(DOCS.rglob("*.md"))
    if page.parent.name != "algorithms" and blocks_of(page) and page.name not in NOT_RUN | with_tests_of_their_own()
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``anondb demo``, made once."""
    place = tmp_path_factory.mktemp("demo") / "anondb-demo"
    run_demo(place)
    return place


@pytest.fixture(scope="module")
def followed(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A function that follows a page in a folder of its own, once."""
    start = Path.cwd()

    @cache
    def follow(name: str) -> tuple[Path, Page]:
        place = tmp_path_factory.mktemp("page")
        for folder in (place, place / "anondb-demo"):  # pages name the files with and without the folder
            shutil.copytree(demo, folder, dirs_exist_ok=True)
        own_files(place)
        there = all((DATA / file).exists() for file in BMS2)
        os.chdir(place)
        return place, Page(DOCS / name, wanted=lambda command: there or "bms2" not in command).follow()

    yield follow
    os.chdir(start)


def own_files(place: Path) -> None:
    """The files that pages name: purchases with categories, the demo elsewhere, and BMS-WebView-2 if it is here."""
    tree = [(item, category, of) for of, in_it in SHOP.items() for category, w in in_it.items() for item in products(w)]
    tables = {
        "purchases": [("customer", "product"), *((f"C{t:04d}", item) for t, item in baskets())],
        "categories": [("product", "category", "department"), *tree],
    }
    for name, rows in tables.items():
        with (place / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    (place / "data" / "shop").mkdir(parents=True)
    with duckdb.connect(str(place / "shop.duckdb"), read_only=True) as demo:
        sales = demo.execute("FROM sales").fetchall()
        demo.execute(f"COPY sales TO '{place / 'data' / 'shop' / 'sales.parquet'}'")
        demo.execute(f"COPY food TO '{place / 'food.csv'}'")
    with closing(sqlite3.connect(place / "data" / "shop.sqlite")) as elsewhere, elsewhere:
        elsewhere.execute("CREATE TABLE sales (tid INTEGER, item TEXT)")
        elsewhere.executemany("INSERT INTO sales VALUES (?, ?)", sales)
    for name in BMS2:
        if (DATA / name).exists():
            shutil.copy(DATA / name, place / name)


def test_no_page_is_forgotten() -> None:
    assert {"tutorials/owner.md", "views.md", "records.md"} <= set(PAGES)
    assert with_tests_of_their_own() >= {"session.md", "taxonomies.md", "constraints.md", "postgres.md", "spark.md"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.nightly] if name in LONG else []) for name in PAGES])
def test_page(followed, name: str) -> None:  # type: ignore[no-untyped-def]
    _, page = followed(name)
    assert page.done or any(language for language, _ in blocks_of(page.path)) or name == "dbt.md"


@pytest.mark.slow
def test_policies_in_sql(followed) -> None:  # type: ignore[no-untyped-def]
    """Made, refreshed, published, asked, measured, explained and checked by SQL statements and their files alone."""
    place, page = followed("views.md")
    said = {re.sub(r"[^a-z].*", "", c[7:]) + " " + c.split()[-1]: r.out + r.err for c, r in page.done.items()}
    first, second, third = [line for line in said["run policy.sql"].splitlines() if line.startswith("anonymized view")]
    assert "3,000 transactions" in first and "nothing was done" in second
    assert "the data have changed; the old recoding would" in third and "are published otherwise" in third
    assert "fresh" in said["run policy.sql"] and "strictly cheaper" in said["explain saffron"]
    with duckdb.connect(str(place / "anondb-demo" / "shop.duckdb"), read_only=True) as owner:
        (truth,) = owner.execute("SELECT count(DISTINCT tid) FROM orders WHERE item = 'milk'").fetchall()[0]
        recorded = owner.execute("FROM anondb.accuracy WHERE workload = 'policy: log log.sql'").fetchall()
    (asked,) = [r.out for c, r in page.done.items() if c.startswith("anondb query anondb-demo/policy.duckdb")]
    lower, estimate, upper = (float(word) for word in asked.splitlines()[1].split())
    assert lower <= truth <= upper and lower <= estimate <= upper and len(recorded) > 2
    (checked,) = [json.loads(r.out) for c, r in page.done.items() if "policy --against-source" in c]
    assert checked["holds"] is True and checked["status"] == "fresh"


@pytest.mark.slow
@needs(*BMS2)
def test_bms2_from_the_file_to_bounds_that_hold(followed) -> None:  # type: ignore[no-untyped-def]
    place, _ = followed("own-csv.md")
    truth = sum({"55267", "55283"} <= set(line.split()) for line in (DATA / "bms2.dat").read_text().splitlines())
    with duckdb.connect(str(place / "bms2.duckdb"), read_only=True) as analyst:
        lower, estimate, upper = analyst.execute("SELECT * FROM count_bounds(['55267', '55283'])").fetchall()[0]
    assert lower <= truth <= upper and lower <= estimate <= upper and upper < 77512


@pytest.mark.slow
def test_python_of_the_contract(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(demo / "shop.duckdb", tmp_path / "shop.duckdb")
    monkeypatch.chdir(tmp_path)
    (text,) = (text for kind, text in blocks_of(DOCS / "contract.md") if kind == "python")
    page = Page(DOCS / "contract.md")
    page.python(text.replace('"spring.duckdb"', '"spring.duckdb", allow_overlap=True').replace('"spring")', '"new")'))
    page.names["db"].close()
    assert (tmp_path / "spring.duckdb").exists()


def test_taxonomy_of_a_dat_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The script of data.md on six items: a tree that anondb reads."""
    (tmp_path / "six.dat").write_text("1 2\n3 4 10\n5\n")
    monkeypatch.setattr("sys.argv", ["tree.py", str(tmp_path / "six.dat")])
    (text,) = (text for kind, text in blocks_of(DOCS / "data.md") if kind == "python")
    exec(text, {})
    assert capsys.readouterr().out.splitlines() == [f"{n};L1_0;*" for n in (1, 2, 3, 4, 5)] + ["10;L1_1;*"]


@pytest.mark.nightly
def test_a_hospital(followed) -> None:  # type: ignore[no-untyped-def]
    """What the tutorial says beside its commands, and its picture, which is that of the report."""
    place, page = followed("hospital.md")
    text = page.path.read_text("utf-8")
    said = {command.split()[1]: done for command, done in page.done.items()}
    assert "rum_bound_rt δ=0.05, (5,5^1)-anonymity" in said["compare"].out and "recommends 0.05" in text
    with duckdb.connect() as original:
        stays = f"'{place / 'hospital' / 'diagnoses.csv'}'"
        both = f"SELECT count(*) FROM {stays} a JOIN {stays} b USING (patient) WHERE a.code = 'E11' AND b.code = 'I10'"
        (truth,) = original.execute(both).fetchall()[0]
    lower, _, upper = (float(word) for word in said["query"].out.splitlines()[1].split())
    assert lower <= truth <= upper and f"the truth {truth}." in text
    picture = (DOCS / "images" / "hospital_age.svg").read_text("utf-8")
    drawn = re.sub(r"<style>.*?</style>| xmlns=\S+|\n", "", picture, flags=re.S)
    assert drawn in (place / "hospital" / "owner.html").read_text("utf-8")


@pytest.mark.slow
def test_python(followed) -> None:  # type: ignore[no-untyped-def]
    place, page = followed("python.md")
    assert str(page.names["release"].count_bounds) and (place / "anondb-demo" / "winter.duckdb").exists()
