"""The profile: its figures against naive ones, its three forms, and what it says of bad input."""

from __future__ import annotations

import csv
import json
import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from cli.shop import Run, fill
from realdata import DATA, needs

import anondb
from anondb.algorithms import METHODS
from anondb.guide.estimates import Features, estimates
from anondb.taxonomies.check import Checked

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    with anondb.connect(tmp_path / "shop.duckdb") as db:
        fill(db.engine.connection)
    return tmp_path / "shop.duckdb"


def test_sizes_and_lengths() -> None:
    rng = random.Random(4)
    with anondb.connect() as db:
        for persons in (1, 2, 3, 7, 40):
            baskets = [[f"i{n}" for n in range(9) if rng.random() < 0.3] for _ in range(persons)]
            frame = pd.DataFrame({"tid": range(persons), "item": baskets})
            told = db.profile(frame, k=3)
            lengths, supports = sorted(map(len, baskets)), Counter(item for basket in baskets for item in basket)
            assert (told.persons, told.empty, told.items) == (persons, lengths.count(0), len(supports))
            assert told.occurrences == sum(lengths)
            rare = [n for n in supports.values() if n < 3]
            assert (told.rare_items, told.rare_occurrences) == (len(rare), sum(rare))
            assert told.single_items == rare.count(1) and told.lengths is not None
            shown = (told.lengths.least, told.lengths.lower_quartile, told.lengths.median, told.lengths.upper_quartile)
            assert (*shown, told.lengths.most) == tuple(lengths[max(math.ceil(q * persons / 4) - 1, 0)] for q in range(5))
            assert told.lengths.mean == pytest.approx(sum(lengths) / persons)


def test_persons_by_their_attributes() -> None:
    """Few values as they are, numbers and dates in order and in groups, the most frequent of other values; who has none."""
    rng = random.Random(7)
    people = pd.DataFrame({"tid": range(500), "item": ["a"] * 500, "sex": [rng.choice("FM") for _ in range(500)]})
    people["age"] = [rng.randrange(100) for _ in range(500)]
    people["born"] = [f"19{rng.randrange(20, 80)}-0{rng.randrange(1, 10)}-11" for _ in range(500)]
    people["job"] = [None if n % 10 == 0 else f"job {n % 7 * n % 40}" for n in range(500)]
    with anondb.connect() as db:
        told = db.profile(people, quasi_identifiers="age:numeric,born,job,sex", attackers=False)
    shown = {name: dict(values) for name, values in told.counts.attributes}
    assert list(shown) == ["age", "born", "job", "sex"] and {sum(values.values()) for values in shown.values()} == {500}
    assert shown["sex"] == dict(sorted(Counter(people["sex"]).items(), key=lambda pair: -pair[1]))
    assert list(shown["age"])[:2] == ["0 to 9", "10 to 19"] and shown["age"]["0 to 9"] == sum(people["age"] < 10)
    assert list(shown["born"]) == [f"19{n}0s" for n in range(2, 8)]
    jobs = sorted(Counter(people["job"].dropna()).items(), key=lambda pair: (-pair[1], pair[0]))
    assert list(shown["job"].items())[:14] == jobs[:14] and shown["job"]["no value"] == 50
    assert shown["job"][f"{len(jobs) - 14} other values"] == sum(n for _, n in jobs[14:])
    assert "attributes" not in json.dumps(told.to_json())


def test_nothing_is_written(shop: Path, run: Run) -> None:
    before = shop.read_bytes()
    assert run("profile", shop, "--transactions", "sales", "--taxonomy", "food").code == 0
    assert shop.read_bytes() == before


def test_text_json_and_page(shop: Path, run: Run, tmp_path: Path) -> None:
    page = tmp_path / "profile.html"
    words = ("profile", shop, "--transactions", "sales", "--taxonomy", "food", "--k", 2)
    told = run(*words, "--json", "--html", page).json
    assert told["persons"] == 6 and told["lengths"]["most"] == 2 and told["html"] == str(page)
    assert [(x["violations"], x["alone"]) for x in told["known"]] == [(0, 0), (4, 4), (4, 4)]
    figures = {"fits": True, "nodes": 7, "leaves": 4, "missing": 0, "internal": 0, "unused": 0}
    assert told["taxonomy"] == {**figures, "types": None, "faults": {}}
    assert {x["algorithm"] for x in told["estimates"]} >= {"mhghs", "coat", "similar", "partition"}
    text = run(*words).out
    assert "persons" in text and "2^2-anonymity" in text and "fits" in text
    html = page.read_text("utf-8")
    assert "profile of sales" in html and "<script" not in html and "http" not in html.split("</head>")[1]
    with anondb.connect(shop) as db:
        profile = db.profile("sales", taxonomy="food", k=2)
        assert repr(profile).startswith("profile of sales\n persons") and "persons alone" in repr(profile)
        assert "<table" in profile._repr_html_() and json.dumps(profile.to_json())


@pytest.mark.slow
def test_a_taxonomy_that_does_not_fit(tmp_path: Path, run: Run) -> None:
    data, tree = tmp_path / "data.csv", tmp_path / "tree.csv"
    data.write_text("tid,item\n1,a\n1,X\n2,z\n", "utf-8")
    tree.write_text("node,parent\nall,\nX,all\na,X\nb,X\n", "utf-8")
    told = run("profile", data, "--taxonomy", tree, "--json").json
    figures = {"fits": False, "nodes": 4, "leaves": 2, "missing": 1, "internal": 1, "unused": 1}
    assert told["taxonomy"] == {**figures, "types": None, "faults": {}}
    reasons = {x["algorithm"]: x["reason"] for x in told["estimates"]}
    assert reasons["mhghs"] == "a taxonomy that fits is needed" and reasons["coat"] is None
    tree.write_text("node,parent\na,X\nX,a\n", "utf-8")
    told = run("profile", data, "--taxonomy", tree, "--json").json
    assert told["taxonomy"]["faults"] == {"cycle": 2} and not told["taxonomy"]["fits"]
    assert "cycle" in run("profile", data, "--taxonomy", tree).out


def test_hostile_input(tmp_path: Path, run: Run) -> None:
    odd = tmp_path / 'o"dd[b].csv'
    odd.write_text('person,thing\n1,"a ""quoted""\nline"\n2,<b>\n2,[red]\n', "utf-8")
    page = tmp_path / "page.html"
    done = run("profile", odd, "--id", "person", "--item", "thing", "--html", page)
    assert done.code == 0 and 'profile of o"dd[b]' in done.out
    assert "<b>" not in page.read_text("utf-8").split("<body>")[1].replace("<b></b>", "")
    empty = tmp_path / "empty.csv"
    empty.write_text("tid,item\n", "utf-8")
    done = run("profile", empty)
    assert done.code == 0 and "The source is empty" in done.out
    for words in (
        ("--k", 0),
        ("--html", tmp_path / "no" / "page.html"),
        ("--html", empty),
        ("--item", "itme"),
        ("--taxonomy", "no.csv"),
    ):
        failed = run("profile", empty, *words, "--json")
        assert failed.code == 2 and "error" in failed.json, words
    assert run("profile", tmp_path / "absent.csv").code == 2


def test_estimates_grow_with_the_data_and_say_why_they_are_missing() -> None:
    fits = Checked("a taxonomy")
    small, large = (Features(n * 150, n * 1000, n, n * 5000, n * 400) for n in (10, 1000))
    for one, more in zip(estimates(small, 5, fits), estimates(large, 5, fits), strict=True):
        assert one.cpu_seconds and more.cpu_seconds and one.peak_mib and more.peak_mib
        assert one.cpu_seconds < more.cpu_seconds and one.peak_mib < more.peak_mib
    without = estimates(Features(10, 10, 10, 10**9, None), 5, None)
    assert {x.reason for x in without if x.algorithm in ("mhghs", "partition")} == {"a taxonomy is needed"}
    assert all(x.cpu_seconds is None and x.reason for x in without)


@pytest.mark.slow
@pytest.mark.parametrize("data", ["bms1", "mushroom"])
@needs("bms1.dat", "bms1.f5.tree", "mushroom.dat", "mushroom.f5.tree")
def test_estimates_are_within_a_factor_of_2_of_measured_runs(data: str) -> None:
    """Of those that benchmarks/estimates.py measured."""
    with (ROOT / "benchmarks" / "estimates" / "runs.csv").open(encoding="utf-8", newline="") as file:
        runs = {row["algorithm"]: row for row in csv.DictReader(file) if row["data"] == data}
    with anondb.connect() as db:
        profile = db.profile(DATA / f"{data}.dat", taxonomy=DATA / f"{data}.f5.tree")
    assert len(profile.estimates) == len(runs) == 11
    for estimate in profile.estimates:
        run = runs[estimate.algorithm]
        assert 0.5 < (estimate.cpu_seconds or 0) / float(run["cpu_seconds"]) < 2, estimate
        assert 0.5 < (estimate.peak_mib or 0) / float(run["peak_mib"]) < 2, estimate


def test_estimates_with_attributes_are_within_a_factor_of_2_of_measured_runs() -> None:
    """Of those that benchmarks/estimates_people.py measured."""
    with (ROOT / "benchmarks" / "estimates" / "people.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["algorithm"] for row in rows} == {n for n, method in METHODS.items() if "kkm" in method.models}
    for row in rows:
        features = Features(int(row["persons"]), 0, 1, 0, 0, int(row["persons"]))
        (told,) = (x for x in estimates(features, int(row["k"]), None) if x.algorithm == row["algorithm"])
        assert told.cpu_seconds is not None and told.peak_mib is not None
        assert 0.5 <= told.cpu_seconds / float(row["cpu_seconds"]) <= 2, row
        assert 0.5 <= told.peak_mib / float(row["peak_mib"]) <= 2, row
        few = replace(features, classes=min(features.persons, 500))
        (less,) = (x for x in estimates(few, int(row["k"]), None) if x.algorithm == row["algorithm"])
        assert less.cpu_seconds is not None and less.cpu_seconds <= told.cpu_seconds
        with_sensitive = estimates(replace(features, sensitive=3), int(row["k"]), None)
        assert {x.promise for x in with_sensitive} == {f"({row['k']},2^2)-diversity"}, "benchmarks/README.md has its runs"
