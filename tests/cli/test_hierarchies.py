"""``anondb hierarchy build``, ``check`` and ``show``."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
from cli.shop import Run
from files.loading import in_memory
from portions import some

import anondb
from anondb.data.taxonomy import Taxonomy
from anondb.errors import InputError
from anondb.taxonomies.build import Request
from anondb.taxonomies.hierarchies import build_hierarchy, check_hierarchies, supported_hierarchy

PEOPLE = [
    (i, 20 + 7 * i % 50, f"{12 + i % 3}{100 + i % 5}", f"19{60 + i % 20}-{1 + i % 12:02}-05", "FMX"[i % 3])
    for i in range(60)
]


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.sql("CREATE TABLE people (tid INTEGER, age INTEGER, zip VARCHAR, born DATE, sex VARCHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", PEOPLE)
        connection.sql("INSERT INTO people VALUES (60, NULL, '12100', NULL, NULL)")
        connection.sql("CREATE TABLE visits AS SELECT tid, ['a', 'b'][1 + tid % 2] AS item FROM people")
    return path


def paths_of(tree: Taxonomy) -> dict[str, list[str]]:
    """The nodes above each leaf."""
    paths = {}
    for leaf in tree.leaves(0).tolist():
        node, above = int(tree.parent[leaf]), []
        while node >= 0:
            above.append(tree.labels[node])
            node = int(tree.parent[node])
        paths[tree.labels[leaf]] = above
    return paths


def built(clinic: Path, attribute: str, request: Request) -> dict[str, list[str]]:
    with anondb.connect(clinic, read_only=True) as db:
        return paths_of(build_hierarchy(db.engine, "people", attribute, request).tree)


@pytest.mark.slow
def test_groups_of_each_builder(clinic: Path) -> None:
    ages = built(clinic, "age", Request("bands", steps=("5", "20")))
    for age, above in ages.items():
        n = int(age)
        bands = [f"{n // w * w} to {n // w * w + w - 1}" for w in (5, 20)]
        members = [sum(int(a) // w == n // w for a in ages) for w in (5, 20)]
        assert above == [band for band, number in zip(bands, members, strict=True) if number > 1] + ["all"]
    assert built(clinic, "born", Request())["1960-01-05"] == ["1960", "1960s", "all"]  # the only day of its quarter
    assert built(clinic, "zip", Request())["12100"] == ["1210*", "1*", "all"]  # 12* and 121* would hold one group
    assert set(built(clinic, "sex", Request())) == {"F", "M", "X"}


def test_days_months_quarters_years(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    days = ["2001-01-05", "2001-01-06", "2001-02-07", "2001-05-08", "2002-05-08", "1999-01-01"]
    file.write_text("tid,seen\n" + "".join(f"{i},{day}\n" for i, day in enumerate(days)), "utf-8")
    with anondb.connect() as db:
        made = build_hierarchy(db.engine, file, "seen", Request())
    assert made.request.by == "dates" and made.attribute == "seen"
    expected = {days[0]: ["2001-01", "2001 Q1", "2001", "2000s", "all"], days[2]: ["2001 Q1", "2001", "2000s", "all"]}
    assert {day: paths_of(made.tree)[day] for day in expected} == expected
    assert paths_of(made.tree)[days[-1]] == ["all"]


DATES = {
    "20.01.1959 3.1.1959 3.2.1960": "1959-01",
    "1/20/1959 1/3/1959 2/3/1960": "1959-01",
    "20-Jan-1959 03-JAN-1959 3-february-1960": "1959-01",
    "1959/1/20 1959/1/3 1960/2/3": "1959-01",
    "20.01.1959 3.1.1959 1.1.1959 3.2.1960": "1959-01",
    "1959-01-20T10:30 1959-01-20T11:30:00Z 1960-02-03T10:30": "1959-01-20",
}


@pytest.mark.parametrize("texts", DATES)
def test_dates_in_other_forms_are_dates(texts: str, tmp_path: Path) -> None:
    """Where one order of day, month and year fits all values; never groups of what they begin with."""
    (tmp_path / "p.csv").write_text("tid,seen\n" + "".join(f"{n},{day}\n" for n, day in enumerate(texts.split())))
    made = build_hierarchy(in_memory().engine, tmp_path / "p.csv", "seen", Request())
    first, *_, last = texts.split()
    paths = paths_of(made.tree)
    assert made.request.by == "dates" and paths[first] == [DATES[texts], "all"] and paths[last] == ["all"]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("01.02.1959 03.04.1960", "The day or the month"),
        ("1/2/1959 3/4/1960", "The day or the month"),
        ("20.01.59 3.2.60", "2 values cannot be read as dates"),
        ("20.01.1959 1/20/1959", "1 value cannot be read as dates"),
    ],
)
def test_dates_that_may_be_others_are_refused(texts: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("tid,seen\n" + "".join(f"{n},{day}\n" for n, day in enumerate(texts.split())))
    with pytest.raises(InputError, match=words) as caught:
        build_hierarchy(in_memory().engine, tmp_path / "p.csv", "seen", Request())
    assert caught.value.code == "bad_date" and "2001-02-03" in str(caught.value)
    coded = build_hierarchy(in_memory().engine, tmp_path / "p.csv", "seen", Request("code"))
    assert coded.request.by == "code"


@pytest.mark.parametrize("seed", some(range(5), 0, 3))
def test_proposed_bands_nest_and_hold_their_numbers(seed: int, tmp_path: Path) -> None:
    rnd = random.Random(seed)
    decimals = rnd.choice([0, 0, 2])
    numbers = sorted({round(rnd.uniform(-1, 1) * 10 ** rnd.randint(1, 6), decimals) for _ in range(50)})
    texts = [f"{number:.{decimals}f}" for number in numbers]
    file = tmp_path / "n.csv"
    file.write_text("tid,n\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts)), "utf-8")
    with anondb.connect() as db:
        made = build_hierarchy(db.engine, file, "n", Request("bands"))
    widths = [float(step) for step in made.request.steps]
    assert all(b == 2 * a for a, b in pairwise(widths))
    assert (numbers[-1] - numbers[0]) / widths[0] <= 32
    for text, above in paths_of(made.tree).items():
        for band in above[:-1]:
            low, high = map(float, band.replace("under ", "").split(" to "))
            assert low <= float(text) and (float(text) < high if "under" in band else float(text) <= high)


def test_proposals_for_odd_numbers_and_dates(tmp_path: Path) -> None:
    """Where not all values can be read as numbers or dates, others are proposed; steps are plain numbers; -0 is 0."""
    columns = {
        "long": [f"{i}2345678901234567890123" for i in range(1, 8)],
        "day": ["2001-02-30", *(f"2001-02-0{i}" for i in range(1, 7))],
        "pay": [str(700 * i) for i in range(7)],
        "apart": ["-0.0", "0.5", "1.2345678901234567e-18", "7", "8", "9", "1e18"],
    }
    file = tmp_path / "odd.csv"
    rows = zip(range(7), *columns.values(), strict=True)
    file.write_text("\n".join([f"tid,{','.join(columns)}", *(",".join(map(str, row)) for row in rows)]), "utf-8")
    with anondb.connect() as db:
        made = {name: build_hierarchy(db.engine, file, name, Request()) for name in columns}
        zero = build_hierarchy(db.engine, file, "apart", Request("bands", steps=("2",)))
    assert {name: one.request.by for name, one in made.items()} == {
        "long": "code", "day": "frequency", "pay": "bands", "apart": "bands",
    }  # fmt: skip
    assert made["pay"].request.steps == ("200", "400", "800", "1600", "3200")
    assert paths_of(zero.tree)["-0.0"][0] == paths_of(zero.tree)["0.5"][0] == "0 to under 2"


@pytest.mark.slow
def test_what_is_built_is_what_hierarchies_takes(clinic: Path, run: Run, tmp_path: Path) -> None:
    """In a folder and in a table, which holds several attributes; a second one of the same attribute needs --replace."""
    folder = tmp_path / "trees"
    for to in (f"{folder}/", "trees"):
        for attribute in ("age", "zip"):
            words = ["hierarchy", "build", clinic, "--records", "people", "--attribute", attribute.upper(), "--to", to]
            told = run(*words, "--json").json
            assert told["attribute"] == attribute and told["by"] == {"age": "bands", "zip": "code"}[attribute]
            refused = run(*words)
            assert refused.code == 2 and "--replace" in refused.err
        assert run(*words, "--replace").code == 0
    assert sorted(p.name for p in folder.iterdir()) == ["age.tree", "zip.tree"]
    rows = {}
    for name, trees in (("of_folder", folder), ("of_table", "trees")):
        words = ["--records", "people", "--quasi-identifiers", "age,zip", "--hierarchies", trees, "--model", "kkm"]
        done = run("anonymize", clinic, "--transactions", "visits", *words, "--k", 3, "--m", 1, "--release", name)
        assert done.code == 0, done.err
        with duckdb.connect(str(clinic), read_only=True) as reader:
            rows[name] = reader.execute(
                f"SELECT age, zip, count(*) FROM release_{name}.records GROUP BY ALL ORDER BY ALL"
            ).fetchall()
    assert rows["of_folder"] == rows["of_table"] and any(age == "all" or " to " in str(age) for age, *_ in rows["of_table"])


@pytest.mark.slow
def test_other_tables_and_bad_requests_stay_as_they_are(clinic: Path, run: Run, tmp_path: Path) -> None:
    before = clinic.read_bytes()
    build = ["hierarchy", "build", clinic, "--records", "people", "--attribute"]
    for words, said in {
        ("age", "--to", "visits"): "has not the columns",
        ("age", "--to", "visits", "--replace"): "has not the columns",
        ("age", "--to", "age.tree"): "folder",
        ("age", "--to", "t", "--by", "bands", "--steps", "5,12"): "multiple",
        ("age", "--to", "t", "--by", "bands", "--steps", "0"): "above 0",
        ("age", "--to", "t", "--by", "similarity"): "similarity",
        ("sex", "--to", "t", "--by", "bands"): "3 values cannot be read as numbers",
        ("sex", "--to", "t", "--by", "dates"): "3 values cannot be read as dates",
        ("age", "--to", "t", "--by", "bands", "--steps", "five"): "--steps 5,10,20",
        ("ago", "--to", "t"): "ago",
        ("TID", "--to", "t"): "direct identifier",
        ("sex", "--to", "t", "--by", "mapping"): "--mapping",
        ("sex", "--to", "t", "--by", "mapping", "--mapping", "no.csv"): "no.csv",
    }.items():
        done = run(*build, *words)
        assert done.code == 2 and said in done.err, (words, done.err)
    assert clinic.read_bytes() == before


def test_own_groups(clinic: Path, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("value,group\nF,known\nM,known\nother,unknown\nnone,unknown\n", "utf-8")
    words = ["--attribute", "sex", "--mapping", file, "--to", f"{tmp_path}/"]
    told = run("hierarchy", "build", clinic, "--records", "people", *words, "--json").json
    assert told["by"] == "mapping" and told["alone"] == 1 and told["written"].endswith("sex.tree")
    assert (tmp_path / "sex.tree").read_text("utf-8").splitlines() == ["F;known;all", "M;known;all", "X;all"]


def test_check_says_what_does_not_fit(clinic: Path, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "sex.tree").write_text("F;person\nM;person\n", "utf-8")
    (folder / "agee.tree").write_text("1;all\n2;all\n", "utf-8")
    (folder / "zip.csv").write_text("node,parent\na,b\nb,a\nc,\n", "utf-8")
    words = ["hierarchy", "check", clinic, "--records", "people", "--hierarchies", folder]
    told = run(*words, "--json")
    assert told.code == 2 and not told.json["fits"]
    by_name = {of["attribute"]: of for of in told.json["hierarchies"]}
    assert by_name["sex"]["missing"] == ["X"] and by_name["sex"]["shape"]["depths"] == [1, 1, 1]
    assert by_name["agee"]["column"] is None and by_name["agee"]["nearest"] == "age"
    assert set(by_name["zip"]["faults"]["cycle"]) == {"a", "b"}
    text = run(*words).out
    assert "sex: does not fit" in text and "1 values that are missing: X" in text and "did you mean 'age'?" in text
    for name in ("agee.tree", "zip.csv"):
        (folder / name).unlink()
    (folder / "sex.tree").write_text("F;person\nM;person\nX;person\n", "utf-8")
    assert run(*words).code == 0
    with anondb.connect(clinic, read_only=True) as db:
        edges = [("sex", "F", "p"), ("sex", "M", "p"), ("sex", "X", "q"), ("age", "1", None)]
        db.engine.connection.execute("CREATE TEMP TABLE two (attribute VARCHAR, node VARCHAR, parent VARCHAR)")
        db.engine.connection.executemany("INSERT INTO two VALUES (?, ?, ?)", edges)
        age, sex = check_hierarchies(db.engine, "two", "people")
        assert sex.checked.faults == {"several roots": ("p", "q")} and len(age.checked.missing) == len(
            {p[1] for p in PEOPLE}
        )
    assert run(*words[:3], "--hierarchies", folder).code == 2
    (folder / "sex.tree").unlink()
    assert run(*words).code == 2


@pytest.mark.slow
def test_counts_of_persons(clinic: Path, run: Run, tmp_path: Path) -> None:
    folder = f"{tmp_path}/trees/"
    run("hierarchy", "build", clinic, "--records", "people", "--attribute", "age", "--to", folder)
    words = ["hierarchy", "show", clinic, "--records", "people", "--hierarchies", folder, "--attribute", "age"]
    told = {node["node"]: node["persons"] for node in run(*words, "--json").json["nodes"]}
    with anondb.connect(clinic, read_only=True) as db:
        tree, persons = supported_hierarchy(db.engine, folder, "people", "age")
        with pytest.raises(InputError):
            supported_hierarchy(db.engine, folder, "people", "sex")
    naive = Counter(node for _, age, *_ in PEOPLE for node in (str(age), *paths_of(tree)[str(age)]))
    assert told == dict(naive) == dict(zip(tree.labels, persons.tolist(), strict=True))
    assert "all  " in run(*words, "--depth", 1).out and "60 persons" in run(*words).out
    (tmp_path / "trees" / "age.tree").write_text("20;all\n", "utf-8")
    refused = run(*words)
    assert refused.code == 2 and "not in its hierarchy" in refused.err


def test_a_file_of_records(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("patient;age\n1;30\n2;35\n3;61\n", "utf-8")
    words = ["people.csv", "--id", "patient", "--delimiter", ";"]
    assert run("hierarchy", "build", *words, "--attribute", "age", "--to", "trees").code == 0
    assert run("hierarchy", "check", *words, "--hierarchies", "trees").code == 0
    assert "3 persons" in run("hierarchy", "show", *words, "--hierarchies", "trees", "--attribute", "age").out
