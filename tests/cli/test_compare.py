"""anondb compare as a user runs it: results side by side, limits, resuming, and the page."""

from __future__ import annotations

import csv
import fcntl
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, Any

import duckdb
import pytest
from cli.shop import BASKETS, Run, runs_in_this_process, state_of
from each import each

import anondb
from anondb.compare import limits, runs
from anondb.compare.merits import frontier, recommended
from anondb.compare.report import comparison
from anondb.compare.runs import Result, Setting, plan
from anondb.errors import InputError
from anondb.pages.plots import Scale, bars, lines, scatter
from anondb.utility.accuracy import FIGURES

SHOP = ("--no-item-supports", "--transactions", "sales", "--taxonomy", "food", "--queries", "20", "--k", "2")


class Page(HTMLParser):
    """Whether all tags are closed, and what the page would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.loaded += [str(value) for name, value in attrs if name in ("src", "href")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def here() -> Iterator[list[str]]:
    """The algorithms of the runs, which are made in this process."""
    with runs_in_this_process() as made:
        yield made


@pytest.mark.slow
def test_side_by_side(run: Run, shop: Path, tmp_path: Path) -> None:
    """All algorithms whose needs are met; the source gets one table, and knows the results the next time."""
    report, table = tmp_path / "page.html", tmp_path / "all.csv"
    words = ("compare", shop, *SHOP, "--m", "2", "--algorithms", "mhghs,apriori,mm", "--json")
    before = state_of(shop)
    found = run(*words, "--report", report, "--csv", table)
    assert found.code == 0 and found.json["transactions"] == 6
    by_name = {r["algorithm"]: r for r in found.json["runs"]}
    assert list(by_name) == ["mhghs", "apriori", "mm"]
    assert {r["status"] for r in by_name.values()} == {"done"} and all(r["verified"] for r in by_name.values())
    for r in by_name.values():
        assert set(r["relative_error"]) == set(FIGURES) and r["relative_error"]["always_zero"] == 1.0
        assert r["average_relative_error"] >= 0 and r["relative_error"]["mean"] >= 0 and r["frequent"]["truth_from"] == 2
        assert r["occurrences"] == found.json["occurrences"] and r["asked"] == by_name["mm"]["asked"]
    assert by_name["apriori"]["lm_total"] == "4/3" and by_name["mm"]["suppressed_items"] == 2
    assert all(r["cpu_seconds"] > 0 and r["peak_mib"] > 20 and r["bounds_width"] is not None for r in by_name.values())
    with table.open(encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    assert [(r["algorithm"], r["parameters"], r["status"]) for r in listed] == [
        (name, "k=2, m=2", "done") for name in by_name
    ]
    headline = "relative_error_median_frequent"
    assert [r[headline] for r in listed] == [str(r["relative_error"]["median_frequent"]) for r in by_name.values()]
    text = report.read_text("utf-8")
    assert Page(text).open == [] and Page(text).loaded == [] and "<script" not in text
    for word in ("In short", "2<sup>2</sup>-anonymity", "apriori", "What each promise covers", "narrowest bounds"):
        assert word in text

    after = state_of(shop)
    new = [name for name in after if name not in before]
    assert new == ['"shop"."anondb"."comparisons"'] and len(after[new[0]]) == 3
    assert {name: rows for name, rows in after.items() if name not in new} == before
    again = run(*words)
    assert again.json["runs"] == found.json["runs"]
    assert state_of(shop) == after
    text = run(*words[:-1]).out
    assert (
        "\nrecommended: " in text
        and "error where truth >= k" in text
        and "answer 0" in text
        and re.search(r" 2 \(\d+(\.\d)? %\)", text)
    )
    assert "answered different queries" not in text


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_promises_side_by_side(run: Run, tmp_path: Path) -> None:
    """Persons with attributes: each run gets the options that it takes, and all are asked the same questions."""
    sales, people, named = (tmp_path / f"{name}.csv" for name in ("sales", "people", "constraints"))
    sales.write_text("tid,item\n" + "".join(f"{t},{i}\n" for t in range(24) for i in "abc"[: 1 + t % 3]), "utf-8")
    people.write_text("tid,age,town\n" + "".join(f"{t},{20 + t % 4},{'xy'[t % 2]}\n" for t in range(24)), "utf-8")
    named.write_text("constraint_id,item\n1,a\n1,c\n", "utf-8")
    words = ["compare", sales, "--k", "3", "--queries", "20", "--model", "km,kkm,constraints", "--json"]
    words += ["--records", people, "--quasi-identifiers", "age,town", "--delta", "0.5,1"]
    words += ["--privacy-constraints", named, "--algorithms", "coat,rum_bound_rt"]
    found = run(*words)
    assert found.code == 0, found.err
    runs = found.json["runs"]
    options = [{name: r["options"].get(name) for name in ("delta", "item_supports")} for r in runs]
    assert [(r["algorithm"], r["model"], *one.values()) for r, one in zip(runs, options, strict=True)] == [
        *(("coat", "km", None, False), ("coat", "km", None, True)),
        *(("rum_bound_rt", "kkm", "0.5", False), ("rum_bound_rt", "kkm", "1", False)),
        *(("coat", "constraints", None, False), ("coat", "constraints", None, True)),
    ]
    assert {r["status"] for r in runs} == {"done"} and len({r["asked"] for r in runs}) == 1
    measured = {r["algorithm"]: [(row["size"], row["queries"]) for row in r["symmetric_errors"]] for r in runs}
    assert measured == {
        "coat": [(2, 3)],
        "rum_bound_rt": [(2, 3), (0, 100)],
    }  # attributes are asked, too, where there are some
    for r in runs:
        before, after = r["risk"]["before"], r["risk"]["after"]
        assert (r["risk"]["persons"], r["risk"]["known"]) == (24, 2)
        assert after["alone"] == 0 and 0 < after["chance"] <= min(before["chance"], 1 / 3)
    printed = run("compare", sales, "--k", "3", "--queries", "20", "--algorithms", "coat", "--item-supports").out
    assert (
        "coat + supports" in printed
        and "chance" in printed
        and "recommended: coat + supports, 3^2-anonymity: of 1 release without" in printed
        and "given up" not in printed
    )


@pytest.mark.usefixtures("here")
def test_options_in_the_names_of_runs_are_explained_where_they_show(run: Run, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("tid,age\n" + "".join(f"{t},{20 + t % 4}\n" for t in range(24)), "utf-8")
    sales = tmp_path / "sales.csv"
    sales.write_text("tid,item\n" + "".join(f"{t},{i}\n" for t in range(24) for i in "abc"[: 1 + t % 3]), "utf-8")
    words = ["compare", sales, "--k", "3", "--queries", "5", "--report", tmp_path / "page.html"]
    kkm = ["--model", "kkm", "--algorithms", "rum_bound_rt", "--delta", "0.5"]
    kkm += ["--records", people, "--quasi-identifiers", "age"]
    explained = {"delta": "how much of the attributes' detail may be given up", "supports": "kkm, klm and hkp have none"}
    for more, shows in ((kkm, {"delta"}), (["--algorithms", "coat"], {"supports"})):
        for text in (run(*words, *more).out, (tmp_path / "page.html").read_text("utf-8")):
            assert {option for option, words in explained.items() if words in " ".join(text.split())} == shows


@pytest.mark.slow
def test_from_python(shop: Path, tmp_path: Path, here: list[str]) -> None:
    """As the command, also on an open database and on data frames; nothing stays but the results in a ledger."""
    how: Any = {"algorithms": ["apriori", "mm"], "k": [2, 3], "queries": 20, "item_supports": False}
    with anondb.connect(shop) as db:
        found = db.compare("sales", taxonomy="food", **how)
        assert [(r.run.name, r.run.parameters["k"]) for r in found.runs] == [
            (name, k) for name in ("apriori", "mm") for k in (2, 3)
        ]
        table = found.df()
        assert table["run"].tolist() == [r.run.name for r in found.runs] and set(table["status"]) == {"done"}
        assert table["lm_total"][0] == "4/3" and "k=3, m=2" in table["parameters"].tolist()
        found.report(tmp_path / "page.html")
        found.csv(tmp_path / "all.csv")
        assert Page((tmp_path / "page.html").read_text("utf-8")).open == []
        ((best, why),) = found.recommended
        assert why in repr(found) and "apriori" in found._repr_html_() and best in found.runs
        tree, sales = (db.sql(f"FROM {name}").df() for name in ("food", "sales"))
        with pytest.raises(InputError, match="delta applies to none"):
            db.compare("sales", taxonomy="food", delta=0.5, **how)
        with pytest.raises(InputError, match="cannot read taxonomy from a set"):
            db.compare("sales", taxonomy={"a"}, **how)
    with anondb.connect(shop, read_only=True) as db:
        assert db.compare("sales", taxonomy="food", **how).runs == found.runs and len(here) == 4
        db.compare("sales", taxonomy="food", again=True, **{**how, "algorithms": "mm", "k": 2})
    assert len(here) == 5
    own = duckdb.connect()
    with anondb.connect(own) as db:
        other = db.compare(sales, taxonomy=tree, **{**how, "algorithms": "apriori", "k": 2})
    assert other.runs[0].figures["lm_total"] == "4/3" and other.runs[0].run.options["taxonomy"] == "DataFrame"
    assert sorted(own.sql("SELECT database_name FROM duckdb_databases()").fetchall()) == [
        ("memory",),
        ("system",),
        ("temp",),
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_a_log_asks_attributes_too(run: Run, tmp_path: Path) -> None:
    """The records of a database are there under their name, in the original and in the release."""
    with duckdb.connect(str(tmp_path / "own.duckdb")) as connection:
        connection.execute("CREATE TABLE sales AS SELECT i AS tid, 'i' || i % 2 AS item FROM range(40) t(i)")
        connection.execute("CREATE TABLE people AS SELECT i AS tid, chr(65 + i::INTEGER % 2) AS sex FROM range(40) t(i)")
    (tmp_path / "log.sql").write_text(
        "SELECT sex, count(*) FROM people GROUP BY sex;\n"
        "SELECT count(*) FROM people JOIN sales USING (tid) WHERE sex = 'A' AND item = 'i0';"
    )
    words = ["compare", tmp_path / "own.duckdb", "--transactions", "sales", "--model", "kkm", "--k", "3", "--m", "1"]
    words += ["--records", "people", "--quasi-identifiers", "sex", "--algorithms", "rum_bound_rt", "--delta", "0.5"]
    figures = run(*words, "--workload", tmp_path / "log.sql", "--json").json["runs"][0]
    assert figures["queries"] == 3 and figures["refused"] == []
    assert [(row["statement"], row["queries"]) for row in figures["symmetric_errors"]] == [(1, 2), (2, 1)]


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_without_queries(run: Run, shop: Path, tmp_path: Path) -> None:
    """Loss and time are compared, and no error is named."""
    words = ("compare", shop, "--transactions", "sales", "--k", "2", "--algorithms", "mm", "--queries", "0", "--json")
    made = run(*words, "--report", tmp_path / "page.html").json["runs"][0]
    assert (made["status"], made["queries"], made["average_relative_error"]) == ("done", 0, None)
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "over 0 random queries of 2 items, so that there are none" in text and "its loss (NCP)" in text


@pytest.mark.nightly
@pytest.mark.usefixtures("here")
def test_runs_again_and_on_changed_data(run: Run, shop: Path) -> None:
    words = ("compare", shop, *SHOP, "--m", "2", "--algorithms", "mhghs,mm", "--json")
    by_name = {r["algorithm"]: r for r in run(*words).json["runs"]}
    more = run("compare", shop, *SHOP, "--m", "2", "--algorithms", "mm", "--json", "--again")
    assert [r["lm_total"] for r in more.json["runs"]] == [by_name["mm"]["lm_total"]]
    with duckdb.connect(str(shop)) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT key) FROM anondb.comparisons").fetchall() == [(3, 2)]
        connection.execute("INSERT INTO sales VALUES (7, 'a')")
    changed = run("compare", shop, *SHOP, "--algorithms", "mm", "--json")
    assert changed.json["transactions"] == 7 and changed.json["runs"][0]["transactions"] == 7


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_attributes_of_the_transactions_table_are_a_part_of_the_data(run: Run, tmp_path: Path) -> None:
    """A run whose quasi-identifiers changed is not taken from the ledger."""
    with duckdb.connect(str(tmp_path / "own.duckdb")) as connection:
        connection.execute("CREATE TABLE sales AS SELECT i AS tid, 'i' || i % 2 AS item, 5 AS age FROM range(40) t(i)")
    words = ["compare", tmp_path / "own.duckdb", "--model", "kkm", "--k", "3", "--m", "1", "--queries", "0", "--json"]
    words += ["--quasi-identifiers", "age", "--algorithms", "rum_bound_rt", "--no-item-supports", "--delta", "1"]
    assert run(*words).json["runs"][0]["risk"]["before"]["alone"] == 0
    with duckdb.connect(str(tmp_path / "own.duckdb")) as connection:
        connection.execute("UPDATE sales SET age = tid")
    assert run(*words).json["runs"][0]["risk"]["before"]["alone"] == 40


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_draws_of_generalized_items_differ_between_runs(run: Run, shop: Path) -> None:
    words = ("--algorithms", "apriori,mm", "--draw", "generalized", "--size", "1")
    assert "answered different queries" in run("compare", shop, *SHOP, *words).out


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_a_failure_does_not_stop_the_rest(run: Run, shop: Path) -> None:
    found = run("compare", shop, *SHOP[:-1], "2,7", "--algorithms", "apriori,mm", "--json")
    assert found.code == 0
    assert [(r["algorithm"], r["parameters"]["k"], r["status"]) for r in found.json["runs"]] == [
        *(("apriori", 2, "done"), ("apriori", 7, "infeasible"), ("mm", 2, "done"), ("mm", 7, "infeasible"))
    ]
    assert "fewer than k = 7" in found.json["runs"][1]["message"]
    none = run("compare", shop, *SHOP[:-1], "7", "--algorithms", "apriori")
    assert none.code == 3 and "infeasible" in none.out


@pytest.mark.slow
def test_limits(run: Run, shop: Path) -> None:
    """Stopped runs are tried again the next time."""
    words = ("compare", shop, *SHOP, "--algorithms", "mm", "--json")
    slow = run(*words, "--time-limit", "0.1")
    assert slow.code == 5 and slow.json["runs"][0]["status"] == "timeout"
    large = run(*words, "--memory-limit", "30MB")
    assert large.code == 5 and large.json["runs"][0]["status"] == "memory"
    assert run(*words).json["runs"][0]["status"] == "done"
    words = ("--total-limit", "1", "--json")
    several = run("compare", shop, *SHOP[:-1], "2,3,4,5", "--algorithms", "mm,apriori", *words).json["runs"]
    assert [r["status"] for r in several if r["algorithm"] == "mm"][:1] == ["done"]
    assert several[-1]["message"] == "There was no time left for it."


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_data_file_and_log(run: Run, tmp_path: Path) -> None:
    source, log = tmp_path / "s.dat", tmp_path / "log.sql"
    source.write_text("".join(" ".join(basket) + "\n" for basket in BASKETS.values()))
    log.write_text("SELECT count(DISTINCT tid) FROM s WHERE item = 'a';\nSELECT count(DISTINCT tid) FROM s;\n")
    found = run("compare", source, "--k", "2", "--algorithms", "coat", "--workload", log, "--json")
    assert found.code == 0 and found.json["runs"][0]["queries"] == 2
    assert found.json["runs"][0]["bounds_width"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_a_log_about_people_of_one_file_with_lists(run: Run, tmp_path: Path) -> None:
    """One file has a row for each person with attributes and a list of items: the table of items has the lists alone."""
    source, log, shop = tmp_path / "stays.csv", tmp_path / "log.sql", tmp_path / "stays.duckdb"
    source.write_text("pid,sex,codes\n" + "".join(f"{n},{'FM'[n % 2]},{'a b' if n % 3 else 'a'}\n" for n in range(24)))
    read = ("--id", "pid", "--item", "codes")
    loading = ("--as", "stays", "--id-as", "pid", "--item-as", "codes", "--layout", "list")
    assert run("load", shop, "--transactions", source, "--records", source, *read, *loading).code == 0
    with duckdb.connect(str(shop), read_only=True) as connection:
        assert [name for name, *_ in connection.execute("DESCRIBE records").fetchall()] == ["pid", "sex"]
    log.write_text(
        "SELECT count(*) FROM records WHERE sex = 'F';"
        "SELECT count(DISTINCT pid) FROM stays JOIN records USING (pid) WHERE sex = 'F' AND codes = 'b'"
    )
    people = ("--records", "records", "--quasi-identifiers", "sex", "--model", "kkm", "--k", "2", "--m", "1")
    asked = ("--algorithms", "rum_bound_r", "--workload", log, "--json")
    found = run("compare", shop, "--transactions", "stays", *read, *people, *asked)
    (done,) = found.json["runs"]
    assert (done["queries"], done["refused"], done["average_relative_error"]) == (2, [], 0), "a truth of 12 and one of 8"
    with duckdb.connect(str(shop)) as connection:
        connection.execute("ALTER TABLE records RENAME TO people")
    renamed = ["people" if word == "records" else word for word in people]
    (done,) = run("compare", shop, "--transactions", "stays", *read, *renamed, *asked).json["runs"]
    assert (done["queries"], done["refused"]) == (2, []), "analysts call the records so, too"


@pytest.mark.usefixtures("here")
def test_what_is_no_log_is_refused_before_any_run(run: Run, shop: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.sql"
    for text, words in (("SELECT 1;\nSELEC", "Line 2 of 'log.sql'"), ("DROP TABLE sales", "not a SELECT")):
        log.write_text(text)
        found = run("compare", shop, *SHOP, "--workload", log)
        assert (found.code, found.out) == (2, "") and words in found.err


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_statements_of_a_log_that_no_release_answers_are_named(run: Run, tmp_path: Path) -> None:
    """Where rows repeat, the table of a release is not that of the source."""
    source, log = tmp_path / "s.csv", tmp_path / "log.sql"
    source.write_text("tid,item\n" + "".join(f"{tid},a\n" for tid in (1, 1, 2, 3)), "utf-8")
    log.write_text("".join(f"SELECT count(DISTINCT tid) FROM {table} WHERE item = 'a';\n" for table in ("s", "compared")))
    words = ("compare", source, "--k", "2", "--algorithms", "coat", "--workload", log)
    told = run(*words)
    assert told.err.count("note: statement 1 of the log is not answered: ") == 1 and "statement 2" not in told.err
    figures = run(*words, "--json").json["runs"][0]
    assert (figures["queries"], [one["statement"] for one in figures["refused"]]) == (1, [1])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--algorithms", "mm,nothing"), "these can: mhghs, hghs, coat"),
        pytest.param(
            ("--algorithms", "mhghs", "--model", "hkp"), "cannot keep the model hkp; these can: mm", marks=pytest.mark.slow
        ),
        (("--model", "km,anatomy"), "A comparison takes the models km, k, constraints, hkp, kkm, klm, not anatomy"),
        (("--model", "constraints"), "needs privacy_constraints"),
        (("--model", "km,kkm"), "needs quasi_identifiers"),
        (("--algorithms", "mm", "--delta", "0.5"), "delta applies to none of these"),
        (("--model", "kkm", "--quasi-identifiers", "age", "--delta", "0.5,2"), "delta must be a number from 0 to 1"),
        pytest.param(("--k", "0"), "k must be an integer from 1", marks=pytest.mark.slow),
        (("--model", "k", "--algorithms", "clump", "--option", "candidates=few"), "candidates must be an integer"),
        (("--k", "x"), "k must be integers"),
        pytest.param(("--m", "x"), "m must be an integer or inf", marks=pytest.mark.slow),
        pytest.param(("--memory-limit", "much"), "a size such as 2GB", marks=pytest.mark.slow),
        pytest.param(
            ("--algorithms", "mm", "--utility-constraints", "food"), "applies to none of these", marks=pytest.mark.slow
        ),
        (("--report", "nowhere/page.html"), "its folder does not exist"),
        (("--report", "page.csv"), "'page.csv' does not end in .html"),
        (("--csv", "page.html"), "'page.html' does not end in .csv"),
        pytest.param(("--queries", "few"), "not a valid int", marks=pytest.mark.slow),
        (("--workload", "nothing.sql"), "'nothing.sql' does not exist"),
        (("--workload", "nothing"), "'nothing' for the workload"),
        pytest.param(("--transactions", "nothing"), "There is no table or view", marks=pytest.mark.slow),
    ],
)
def test_bad_usage(run: Run, shop: Path, words: tuple[str, ...], message: str) -> None:
    before = state_of(shop)
    found = run("compare", shop, *SHOP, *words)
    assert (found.code, found.out) == (2, "") and message in found.err
    assert state_of(shop) == before


# ---------------------------------------------------------------------- the parts


def test_plan() -> None:
    made = plan(["apriori", "mm"], ["km"], {"k": [2, 3], "m": ["1", "inf"]}, {"taxonomy": "food"})
    assert [(r.algorithm, r.parameters["k"], r.parameters["m"]) for r in made[:4]] == [
        *(("apriori", 2, 1), ("apriori", 2, "inf"), ("apriori", 3, 1), ("apriori", 3, "inf"))
    ]
    assert made[0].options == {"taxonomy": "food", "item_supports": False}
    assert made[-1].options == {"item_supports": False} and len(made) == 8
    assert "apriori" not in {r.algorithm for r in plan([], ["km"], {"k": [2], "m": [2]}, {})}
    with pytest.raises(InputError, match="The algorithm apriori needs taxonomy"):
        plan(["apriori"], ["km"], {"k": [2]}, {})


def test_each_run_gets_the_options_that_it_takes() -> None:
    options = {"records": "people", "quasi_identifiers": "age", "privacy_constraints": "named"}
    made = plan(["coat", "rum_bound_rt"], ["km", "kkm", "constraints"], {"k": [3], "delta": [0.5, 1]}, options, None)
    given = [{name: run.options.get(name) for name in ("delta", "item_supports")} for run in made]
    assert [(run.algorithm, run.model, *one.values()) for run, one in zip(made, given, strict=True)] == [
        *(("coat", "km", None, False), ("coat", "km", None, True)),
        *(("rum_bound_rt", "kkm", 0.5, False), ("rum_bound_rt", "kkm", 1, False)),
        *(("coat", "constraints", None, False), ("coat", "constraints", None, True)),
    ]
    takes = {"km": set(), "kkm": {"records", "quasi_identifiers"}, "constraints": {"privacy_constraints"}}
    assert all({*run.options} & {*options} == takes[run.model] for run in made)


def setting(**more: Any) -> Setting:
    values: dict[str, Any] = {
        **dict.fromkeys(("source", "id", "item", "draw", "fingerprint"), "x"),
        **dict.fromkeys(("transactions", "workload", "log", "threads", "memory_limit")),
        "queries": 5,
        "size": 2,
        "seed": 0,
        "time_limit": 9.0,
    }
    return Setting(**{**values, **more})


def test_keys() -> None:
    """Whatever may change a result changes the key; limits do not."""
    run = plan(["mm"], ["km"], {"k": [2], "m": [2]}, {})[0]
    other = plan(["mm"], ["km"], {"k": [3], "m": [2]}, {})[0]
    base = setting().key(run)
    assert setting(time_limit=1.0, memory_limit="1GB", threads=1).key(run) == base
    changed = [setting(**{n: "y"}).key(run) for n in ("fingerprint", "workload", "log", "seed", "draw")]
    assert len({base, setting().key(other), *changed}) == 7


def result(algorithm: str, k: int, m: int | str, ncp: float, **more: Any) -> Result:
    figures = {"ncp": ncp, "lm": ncp, "average_relative_error": 1.5, "bounds_width": 3.0, "suppressed_items": 0}
    figures |= {"released_items": 4, "transactions": 9, "generalized": [{"item": "<b>&\"'", "size": 2, "support": 3}]}
    figures |= {"items": 10, "occurrences": 200, "suppressed_occurrences": 0, "asked": "the same"}
    figures |= {"frequent": {"truth_from": k, "queries": 6}, "queries": 9, "skipped": 0}
    sizes, risk = more.pop("errors", (0.4, 0.2)), {"alone": more.pop("alone", 0), "chance": more.pop("chance", 0.1)}
    figures["symmetric_errors"] = [{"size": i, "queries": 4, "error": e} for i, e in enumerate(sizes, 1)]
    figures["risk"] = {"persons": 9, "known": 2, "before": {"alone": 7, "chance": 0.8}, "after": risk}
    errors = {"mean": 1.5, "median": 1.0, "mean_frequent": 0.75, "always_zero": 1.0, "median_truth": 5.0, "width": 2.0}
    figures["relative_error"] = errors | {"median_frequent": more.pop("error", 0.5)}
    made = plan([algorithm], ["km"], {"k": [k], "m": [m]}, {"taxonomy": "t"}, more.pop("supports", False))[0]
    return Result(made, more.pop("status", "done"), more.pop("message", None), 1.0, 0.5, 99.0, figures | more)


def test_frontier() -> None:
    """By definition: no other run has as little error and risk, and less of one; runs that delete most are not on it."""
    a, b = (
        result("mm", 2, 2, 0.3, errors=(0.1, 0.3), chance=0.2),
        result("coat", 2, 2, 0.1, errors=(0.5, 0.5), chance=0.05),
    )
    worse, equal = (
        result("mm", 5, 2, 0.3, errors=(0.6,), chance=0.05),
        result("pcta", 2, 2, 0.1, errors=(0.2,), chance=0.2),
    )
    gone = result("apriori", 2, 2, 0.1, errors=(0.0,), chance=0.0, suppressed_items=9)
    for some in ([a, b, worse, equal, gone], [gone, equal, worse, b, a]):
        assert {r.run.algorithm for r in frontier(some)} == {"mm", "coat", "pcta"} and worse not in frontier(some)
    assert frontier([worse]) == [worse] and frontier([]) == [] == frontier([result("mm", 2, 2, 0.3, errors=())])


def test_the_recommendation_leaves_nobody_alone_and_says_why() -> None:
    exact = result("coat", 2, 2, 0.0, errors=(0.0,), alone=4, chance=0.5)
    good, safer = result("coat", 5, 2, 0.2, errors=(0.2,)), result("coat", 9, 2, 0.2, errors=(0.3,), chance=0.02)
    helped = result("coat", 5, 2, 0.2, errors=(0.2,), supports=True)
    for some in ([exact, good, safer, helped], [helped, safer, good, exact]):
        ((best, why),) = recommended(some)
        assert best == good
        assert (
            "of 4 releases without attributes, 3 leave the fewest persons alone" in why
            and "least error in two digits: 0.2 " in why
        )
        assert "chance of 10 % (80 % in the original), and finds 0 of 9 persons alone (7 in the original)" in why
        assert why.endswith("Less risk for more error: coat, 9^2-anonymity (chance 2 %, error 0.3).")
    assert recommended([good, result("mm", 2, 2, 0.1, asked="other")]) == []
    ((_, why),) = recommended([result("coat", 2, 2, 0.1, error=1.5)])
    assert "no better than 0: read its bounds" in why
    text = comparison([exact, good, safer, helped], setting(), FACTS)
    assert text.index("Recommendation") < text.index("<h2>In short") and text.count('class="ring"') == 3 + 1
    assert "coat + supports" in text and "coat, 5<sup>2</sup>-anonymity</b>: of 4 releases" in text


def test_releases_that_list_fewer_groups_of_a_log_are_left_out() -> None:
    """An item that is deleted has no group, and its error would be in no mean."""

    def logged(algorithm: str, error: float, queries: int) -> Result:
        rows = [{"size": 0, "statement": 1, "queries": queries, "error": error}]
        return result(algorithm, 2, 2, 0.1, symmetric_errors=rows, queries=queries, asked=f"{queries} groups")

    whole, other, fewer = logged("coat", 0.4, 9), logged("pcta", 0.5, 9), logged("mm", 0.1, 8)
    ((best, why),) = recommended([fewer, other, whole])
    assert best == whole and "of 2 releases" in why and fewer not in frontier([whole, other, fewer])
    assert recommended([whole, fewer, logged("apriori", 0.2, 9)])[0][0].run.algorithm == "apriori"
    assert recommended([whole, Result(**{**vars(other), "figures": other.figures | {"asked": "others"}})]) == []


def test_exact_releases_are_drawn_at_the_left() -> None:
    text = comparison([result(name, 2, 2, 0.0, errors=(0.0,)) for name in ("mm", "coat")], setting(), FACTS)
    plot = text[text.index("Risk against error") : text.index("In short")]
    assert not re.search(r">-[\d.]+<", plot), "no error is negative"


FACTS = {"source": "x", "transactions": 9, "items": 10, "occurrences": 200, "longest": 3}


def in_short(*results: Result) -> str:
    """The answer of the page, as text."""
    found = re.search(r"<h2>In short</h2>(.*?)<h2>", comparison(results, setting(), FACTS), re.S)
    assert found is not None
    return re.sub(r"<[^>]+>", "", found[1])


def test_nobody_is_called_best_without_what_it_suppressed() -> None:
    some = {"suppressed_items": 4, "suppressed_occurrences": 30}
    said = in_short(result("mm", 2, 2, 0.1, error=0.1, **some), result("coat", 2, 2, 0.3))
    beside = "mm (suppressed: 4 of 10 items, 30 of 200 occurrences (15 %))"
    assert f"{beside}: the least loss (NCP), 10 %, the smallest median error of COUNT queries, 0.1 over 6" in said
    assert said.count("mm") == said.count(beside) and said.count("coat") == said.count("coat (nothing suppressed)")
    equal = in_short(result("mm", 2, 2, 0.1, **some), result("coat", 2, 2, 0.1))
    assert "mm (suppressed: 4 of 10 items, 30 of 200 occurrences (15 %)) and coat (nothing suppressed): the least" in equal
    assert "mm, coat (nothing suppressed): the least" in in_short(result("mm", 2, 2, 0.1), result("coat", 2, 2, 0.1))


def test_generalized_items_are_those_of_the_strictest_promise() -> None:
    """Weak promises often generalize nothing."""
    weak, strict = result("mm", 2, 1, 0.0, generalized=[]), result("mm", 5, "inf", 0.1)
    for both in ([weak, strict], [strict, weak]):
        listed = comparison(both, setting(), FACTS).split("The most frequent generalized items")[1]
        assert "No item is generalized" not in listed and "5<sup>" in listed


@pytest.mark.parametrize("gone", [{"suppressed_items": 6}, {"suppressed_items": 1, "suppressed_occurrences": 101}])
def test_who_deletes_most_is_best_at_nothing(gone: dict[str, int]) -> None:
    """Not where it alone is left, either; half is not most."""
    deleter = result("mm", 2, 2, 0.01, error=0.0, bounds_width=0.0, **gone)
    said = in_short(deleter, result("coat", 2, 2, 0.3), result("apriori", 2, 2, 0.4, error=0.6))
    assert "not compared, since it deletes most: mm (suppressed" in said and said.count("mm") == 1
    assert "coat (nothing suppressed): the least loss (NCP), 30 %, the smallest median error" in said
    assert in_short(deleter).startswith("22-anonymity: not compared")
    text = comparison([deleter, result("mm", 5, 2, 0.02, **gone)], setting(), FACTS)
    assert "no runs have errors of the same questions" in text
    half = result("mm", 2, 2, 0.01, suppressed_items=5, suppressed_occurrences=100)
    assert "mm (suppressed: 5 of 10 items, 100 of 200 occurrences (50 %)): the least loss" in in_short(
        half, result("coat", 2, 2, 0.3)
    )


def test_no_error_is_called_the_smallest_that_0_matches() -> None:
    one, other = result("mm", 2, 2, 0.1, error=1.0), result("coat", 2, 2, 0.1, error=1.5)
    said = in_short(one, other)
    assert (
        "smallest median error" not in said
        and "no run answers COUNT queries with truth &ge; k better than the constant answer 0" in said
    )
    said = in_short(result("mm", 2, 2, 0.1, error=None), result("coat", 2, 2, 0.1, error=None))
    assert "smallest median error" not in said and "no query has a truth of k or more" in said
    text = comparison([one, other], setting(), FACTS)
    assert text.count(">answer 0</text>") == 1 and ">queries, truth &ge; k</th>" in text
    assert ">error of them, median / mean</th>" in text


def test_errors_on_different_queries_are_not_compared() -> None:
    said = in_short(result("mm", 2, 2, 0.1, asked="these"), result("coat", 2, 2, 0.2, asked="those"))
    assert "the least loss" in said and "smallest median error" not in said and "narrowest" not in said
    assert "answered different queries" in said


def test_results_survive_json() -> None:
    one = result("apriori", 2, "inf", 0.25, message="why")
    assert Result.of(json.loads(json.dumps(one.to_json()))) == one


def test_page_escapes_and_has_no_hole() -> None:
    """Every combination of k and m, failures, and labels with characters of HTML."""
    done = [result(a, k, m, 0.01 * k) for a in ("mm", "coat", "apriori") for k in (2, 5) for m in (1, 2)]
    failed = result("pcta", 2, 2, 0.0, status="timeout", message="<slow>")
    facts = {"source": "<x>", "transactions": 9, "items": 3, "occurrences": 12, "longest": 3}
    for some in ([*done, failed], done[:1], [failed], []):
        text = comparison(some, setting(), facts)
        assert Page(text).open == [] and "<x>" not in text and "<slow>" not in text and "<b>&" not in text
    text = comparison([*done, failed], setting(), facts)
    assert text.index("How to read the figures") < text.index("What each promise covers") < text.index("All runs")
    for words in ("Against k at m = 1", "Against m at k = 5", "Risk against error", "&lt;slow&gt;"):
        assert words in text
    assert not re.search(r"\b(nan|inf)\b", re.sub(r"<style>.*?</style>", "", text, flags=re.S))


def test_the_page_of_many_promises_has_no_more_plots_than_that_of_four() -> None:
    def plots(k: range, m: tuple[Any, ...]) -> int:
        done = [result(a, one, other, 0.01 * one) for a in ("mm", "coat") for one in k for other in m]
        page = comparison(done, setting(), FACTS)
        assert all(f"Against {words}" in page for words in ("k at m = 1", "k at m = inf", "m at k = 2"))
        return page.count("<figure>")

    assert plots(range(2, 9), (1, 2, 3, "inf")) == plots(range(2, 4), (1, "inf"))


def test_series_differ_without_colour() -> None:
    numbers = {f"s{i}": i for i in range(8)}
    drawn = lines("t", "k", "y", {name: [(1, 1 + i), (2, 2 + i)] for name, i in numbers.items()}, numbers)
    marks = re.findall(r'<(?:circle|rect|polygon)[^>]*fill="[^"]*"', drawn)
    assert len({re.sub(r"[\d.,]+", "", m) for m in marks}) == 6  # two more are crosses
    assert len(set(re.findall(r'stroke-dasharray="([^"]*)"', drawn))) == 6
    assert all(f">s{i}</text>" in drawn for i in range(8)) and "#" not in drawn
    tied = lines("t", "k", "y", {"s0": [(1, 5), (2, 5)], "s1": [(1, 5), (2, 5)]}, numbers)
    assert len(set(re.findall(r'<circle cx="([\d.]+)"', tied))) == 4
    assert "logarithmic" in lines("t", "k", "y", {"s0": [(1, 0.001), (2, 50)]}, numbers)
    assert "logarithmic" not in lines("t", "k", "y", {"s0": [(1, 0), (2, 50)]}, numbers)
    assert (
        "0" in bars("t", {"a": 0.0}, "")
        and scatter("t", "x", "y", [(0, 5, "s0", "note", True), (1, 5, "s0", "", False)], numbers).count("ring") == 1
    )


@each("values", [[0.0], [5.0], [1e-9, 1e9], [0.1, 0.2], [3, 1e7], []])
def test_scale(values: list[float]) -> None:
    for zero in (True, False):
        scale = Scale(values, 10, 20, zero=zero)
        assert all(9.999 <= scale.at(v) <= 20.001 for v in values)
        ticks = scale.ticks()
        assert 1 <= len(ticks) <= 20 and ticks == sorted(ticks)
        assert all(9.999 <= scale.at(t) <= 20.001 for t in ticks)


def test_processes_are_stopped_and_measured() -> None:
    quick = limits.run_limited([sys.executable, "-c", "print(input()[::-1])"], "abc", seconds=20, memory=None)
    assert (quick.status, quick.code, quick.output) == ("done", 0, "cba\n") and quick.cpu_seconds > 0
    slow = limits.run_limited([sys.executable, "-c", "import time; time.sleep(60)"], "", seconds=0.2, memory=None)
    assert slow.status == "timeout" and slow.code < 0 and slow.seconds < 20
    hungry = "x = [bytearray(10**7) for _ in range(100)]; import time; time.sleep(60)"
    large = limits.run_limited([sys.executable, "-c", hungry], "", seconds=60, memory=200 * 10**6)
    assert large.status == "memory" and large.peak_bytes > 190 * 10**6


def test_a_run_ends_when_the_comparison_is_killed(tmp_path: Path) -> None:
    """Nobody would stop it at its limits. It holds a lock as long as it lives."""
    place = tmp_path / "lock"
    run = "import fcntl, sys, time; from anondb.compare.limits import end_with_parent; end_with_parent(); "
    run += "file = open(sys.argv[1], 'w'); fcntl.flock(file, fcntl.LOCK_EX); print('held', file=file, flush=True); "
    comparison = "import sys; from anondb.compare.limits import run_limited; "
    comparison += "run_limited([sys.executable, '-c', *sys.argv[1:]], '', seconds=120, memory=None)"
    with subprocess.Popen([sys.executable, "-c", comparison, run + "time.sleep(120)", str(place)]) as parent:
        until = time.monotonic() + 60
        while not (place.is_file() and place.read_text()):
            assert time.monotonic() < until
            time.sleep(0.05)
        parent.kill()
    with place.open() as file:
        while not _locked(file):
            assert time.monotonic() < until
            time.sleep(0.05)


@pytest.mark.slow
def test_a_run_without_a_comparison_ends_at_once() -> None:
    gone, writer = os.pipe()
    os.close(writer)
    job, writer = os.pipe()  # it would wait for its job otherwise
    command, environment = [sys.executable, "-m", "anondb.compare.child"], {**os.environ, limits.PARENT: str(gone)}
    run = subprocess.run(command, stdin=job, capture_output=True, pass_fds=(gone,), env=environment, timeout=60)
    assert (run.returncode, run.stdout) == (1, b"")
    for end in (gone, job, writer):
        os.close(end)


def _locked(file: IO[str]) -> bool:
    """Take a lock, if no process holds it."""
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def test_a_process_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed from outside, or silent: a result all the same."""
    died = limits.Finished("done", -9, "", 1.0, 1.0, 5)
    monkeypatch.setattr(runs, "run_limited", lambda *a, **b: died)
    found = runs.run_one(setting(), plan(["mm"], ["km"], {"k": [2], "m": [2]}, {})[0])
    assert found.status == "failed" and "signal 9" in str(found.message)


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2 * 10**9), ("512MiB", 512 * 2**20), ("1.5 gb", 15 * 10**8), ("100", 100)]
)
def test_sizes(text: str, size: int) -> None:
    assert limits.parse_size(text) == size


@each("text", ["", "GB", "-1GB", "0GB", "2 apples", "1IB", "9" * 30 + "GB"])
def test_bad_sizes(text: str) -> None:
    with pytest.raises(InputError):
        limits.parse_size(text)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("words", "lines", "asked"),
    [
        ("--id who --item what --layout long", "who,what\n1,a\n1,b\n2,a\n2,b\n", "s WHERE what = 'a'"),
        ("--id who --item a,b --layout one-hot", "who,a,b\n1,1,1\n2,1,1\n", "s WHERE item = 'a'"),
        (
            "--id who --item what --layout list --item-separator +",
            "who,what\n1,a+b\n2,a+b\n",
            "s WHERE what = 'a'",
        ),
    ],
)
def test_a_log_asks_a_file_of_any_layout(run: Run, tmp_path: Path, words: str, lines: str, asked: str) -> None:
    (tmp_path / "s.csv").write_text(lines)
    (log := tmp_path / "log.sql").write_text(f"SELECT count(DISTINCT who) FROM {asked}")
    how = ("--k", "2", "--algorithms", "coat", "--no-item-supports", *words.split())
    told = run("compare", tmp_path / "s.csv", *how, "--workload", log, "--json")
    (one,) = told.json["runs"]
    assert (one["status"], one["queries"], one["refused"], one["bounds_width"]) == ("done", 1, [], 0)


@pytest.mark.slow
def test_persons_with_one_item_are_asked_for_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("tid,item\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(20)))
    (one,) = run("compare", tmp_path / "s.csv", "--k", "2", "--algorithms", "coat", "--json", "--no-item-supports").json[
        "runs"
    ]
    assert one["queries"] > 0 and one["relative_error"]["mean"] == 0
