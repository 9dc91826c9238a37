"""The model constraints as an owner uses it: the COAT paper's Figure 2(c) out of tables, and everything around it."""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
import reference as ref
from cli.shop import Run, baskets, state_of
from portions import some
from reference_expected import expected_holders

import anondb
from anondb import ConstraintAnonymity, InfeasibleError, InputError, KmAnonymity
from anondb.ledger import ledger

PATIENTS = {
    "Alice": "abcdefgh",
    "Mary": "acefg",
    "George": "cdefh",
    "Jack": "acef",
    "Anne": "efgh",
    "Tom": "defg",
    "Jim": "abde",
    "Steve": "acf",
    "David": "ac",
    "Ellen": "bh",
}
PRIVACY = {"p1": "abc", "p2": "defgh"}  # Figure 1(b)
UTILITY = {"u1": "ab", "u2": "c", "u3": "d", "u4": "efgh"}  # Figure 1(c)
COUNTED = {"cold": "c", "diabetes": "ab", "other": "de"}
FIGURE_2C = sorted(
    [
        *(["(a,b)", "(g,h)", "c", "e", "f"], ["(a,b)", "(g,h)", "c", "e", "f"], ["(g,h)", "c", "e", "f"]),
        *(["(a,b)", "c", "e", "f"], ["(g,h)", "e", "f"], ["(g,h)", "e", "f"], ["(a,b)", "e"], ["(a,b)", "c", "f"]),
        *(["(a,b)", "c"], ["(a,b)", "(g,h)"]),
    ]
)
TREE = [(x, "abc") for x in "abc"] + [(x, "de") for x in "de"] + [(x, "fgh") for x in "fgh"]
TREE += [("abc", "x"), ("de", "y"), ("fgh", "y"), ("x", "root"), ("y", "root")]
SETS = {"visits": ("tid", PATIENTS), "linkable": ("constraint_id", PRIVACY), "keep": ("group_id", UTILITY)}
SETS["counted"] = ("set_id", COUNTED)


def frame(name: str, id_column: str, sets: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame([(i, x) for i, items in sets.items() for x in items], columns=[id_column, "item"])


FRAMES = {name: frame(name, column, sets) for name, (column, sets) in SETS.items()}


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A database with the tables of Figure 1, and the same tables as CSV files beside it."""
    place = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(place)) as connection:
        for name, table in FRAMES.items():
            table.to_csv(tmp_path / f"{name}.csv", index=False)
            connection.execute(f"CREATE TABLE {name} AS FROM read_csv('{tmp_path / name}.csv', all_varchar = true)")
        connection.execute("CREATE VIEW linkable_view AS FROM linkable")
        connection.execute("CREATE TABLE tree (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO tree VALUES (?, ?)", TREE)
    return place


OPTIONS = ("--model", "constraints", "--k", 5, "--max-suppression", 15)


@pytest.mark.nightly
def test_figure_2c_from_files(run: Run, clinic: Path) -> None:
    place, sealed = clinic.parent, clinic.parent / "figure.duckdb"
    stated = ("--privacy-constraints", place / "linkable.csv", "--utility-constraints", place / "keep.csv")
    found = run(
        "anonymize", place / "visits.csv", *OPTIONS, *stated, "--countable", place / "counted.csv",
        "--publish", sealed, "--json",
    ).json  # fmt: skip
    assert baskets(sealed) == FIGURE_2C
    assert found["verified"] and found["suppressed_items"] == 1 and found["released_items"] == 5
    assert found["constraints"] == {
        "privacy": 2,
        "utility": 4,
        "rest": 0,
        "utility_verified": True,
        "countable": [
            {"set_id": "cold", "items": 1, "exact": True, "suppressed": 0, "mixed": 0},
            {"set_id": "diabetes", "items": 2, "exact": True, "suppressed": 0, "mixed": 0},
            {"set_id": "other", "items": 2, "exact": False, "suppressed": 1, "mixed": 0},
        ],
    }
    assert found["loss"]["ul_log2"] == pytest.approx(-5.4336, abs=1e-4) and found["accuracy"]["queries"] == 28
    with duckdb.connect(str(sealed), read_only=True) as analyst:
        assert analyst.execute("FROM count_bounds(['c'])").fetchall() == [(6, 6.0, 6)]  # the study of Example 1
        held = "SELECT count(*) FROM baskets WHERE list_contains(items, '(a,b)')"
        assert analyst.execute(held).fetchall() == [(7,)]  # Example 3.13: patients with a, b or both
        keys = {row[0] for row in analyst.execute("SELECT key FROM manifest").fetchall()}
    assert keys == {
        *("release_id", "model", "k", "transactions", "semantics", "suppression", "table", "id_column", "item_column"),
        *("layout", "types", "suppressed_items", "version"),
    }
    content = sealed.read_bytes()
    assert not any(name in content for name in (b"linkable", b"diabetes", b"cold", b"pgen"))
    assert run("verify", sealed, "--privacy-constraints", place / "linkable.csv").code == 0
    assert run("verify", sealed, "--privacy-constraints", "pgen", "--json").json["violations"] == 6
    refused = run("verify", sealed)
    assert refused.code == 2 and "--privacy-constraints" in refused.err


@pytest.mark.slow
def test_words(run: Run, clinic: Path) -> None:
    given = ("--transactions", "visits", "--privacy-constraints", "linkable", "--utility-constraints", "keep")
    found = run("anonymize", clinic, *OPTIONS, *given, "--countable", "counted")
    text = " ".join(found.out.split())
    assert found.code == 0 and "utility constraints 4, verified" in text and "countable sets 2 of 3 exactly" in text
    assert "other not exact: of 2 items 1 suppressed" in text
    told = run("explain", clinic, "--release", "visits", "--item", "d").out
    assert "a privacy constraint with it is held by only 1" in told and "was suppressed" in told


SOURCES: dict[str, Any] = {
    "table": "linkable",
    "view": "linkable_view",
    "frame": FRAMES["linkable"],
    "arrow": pa.table({"constraint_id": ["p1", "p2"], "item": [list("abc"), list("defgh")]}),
    "python": [list("abc"), list("defgh")],
}


@pytest.mark.slow
@pytest.mark.parametrize("source", some(SOURCES, "view", check=()))
def test_figure_2c_in_python(clinic: Path, source: str) -> None:
    with anondb.connect(clinic) as database:
        release = database.anonymize(
            "visits", model=ConstraintAnonymity(5), privacy_constraints=SOURCES[source],
            utility_constraints=FRAMES["keep"], max_suppression=15, name="figure",
        )  # fmt: skip
        assert sorted(r[0] for r in release.table("baskets").project("items").fetchall()) == FIGURE_2C
        assert database.verify(release="figure").verified and release.verification.verified
        assert not database.verify(release="figure", privacy_constraints=[list("efgh"), list("abh")]).verified
        found = database.verify("visits", model=ConstraintAnonymity(5), privacy_constraints="linkable", witnesses=2)
        assert found.to_json(witnesses=True)["witnesses"] == [
            {"constraint_id": "p1", "items": ["a", "b", "c"], "support": 1},
            {"constraint_id": "p2", "items": ["d", "e", "f", "g", "h"], "support": 1},
        ]
        file = clinic.parent / "sealed.duckdb"
        release.publish(file)
    assert baskets(file) == FIGURE_2C


@pytest.mark.slow
def test_as_an_anonymized_view(clinic: Path) -> None:
    with anondb.connect(clinic) as database:
        database.sql(
            "CREATE ANONYMIZED VIEW figure AS SELECT tid, item FROM visits WITH (model = 'constraints', k = 5, "
            "privacy_constraints = 'linkable_view', utility_constraints = 'keep', countable = 'counted', weights = 1, "
            "max_suppression = 15)"
        )
        assert sorted(r[0] for r in database.sql("FROM release_figure.baskets").project("items").fetchall()) == FIGURE_2C
        assert database.check_view("figure").holds
        database.sql("INSERT INTO visits VALUES ('Zoe', 'a'), ('Zoe', 'h')")
        assert database.check_view("figure").verification.verified
        refreshed = database.sql("REFRESH ANONYMIZED VIEW figure")
        assert "anew" in str(getattr(refreshed, "words", ""))
        assert database.verify(release="figure").verified
        assert not database.sql("REFRESH ANONYMIZED VIEW figure").changed
        database.sql("INSERT INTO linkable VALUES ('p3', 'a'), ('p3', 'h')")
        again = database.sql("REFRESH ANONYMIZED VIEW figure")
        assert again.causes == ("constraints",) and "the constraints have changed" in again.words


@pytest.mark.slow
def test_the_ledger_keeps_the_constraints(clinic: Path, run: Run) -> None:
    stated = ("--transactions", "visits", "--privacy-constraints", "linkable", "--utility-constraints", "keep")
    assert run("anonymize", clinic, *OPTIONS, *stated, "--release", "one").code == 0
    assert run("anonymize", clinic, *OPTIONS, *stated[:3], "pgen", "--release", "two").code == 0
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("DELETE FROM linkable")
    assert run("verify", clinic, "--release", "one").code == 0
    with anondb.connect(clinic) as database:
        found = []
        for name in ("one", "two"):
            entry = ledger.find(database.engine, "clinic", name)
            assert entry is not None
            found.append(ledger.privacy_of(database.engine, "clinic", entry.release_id))
    assert found[1] == "pgen"
    assert not isinstance(found[0], str | None) and found[0].sets() == [tuple("abc"), tuple("defgh")]
    with duckdb.connect(str(clinic)) as connection:  # a release that does not keep what was promised
        connection.execute(
            "DELETE FROM release_one.transaction_items"
            " WHERE item_id = (SELECT item_id FROM release_one.labels WHERE item = 'e') AND transaction_id IN ("
            "SELECT min(transaction_id) FROM release_one.baskets WHERE list_has_all(items, ['(g,h)', 'e', 'f']))"
        )
    broken = run("verify", clinic, "--release", "one", "--json", "--witnesses", 3)
    assert broken.code == 4 and [w["constraint_id"] for w in broken.json["witnesses"]] == ["p2"]


@pytest.mark.slow
def test_pgen_gives_k_inf(clinic: Path) -> None:
    with anondb.connect(clinic) as database:
        release = database.anonymize("visits", model=ConstraintAnonymity(3), privacy_constraints="pgen", name="all")
        assert database.verify(release="all", model=KmAnonymity(3, 10)).verified
        assert not ref.rare_transactions([r[0] for r in release.table("baskets").project("items").fetchall()], 3)
        assert release.report is not None and release.report.constraints is not None
        assert release.report.constraints.to_json()["privacy"] == "pgen"


GROUPS = [("level:1", ["abc", "defgh"]), ("level:2", ["abc", "de", "fgh"]), ("siblings:4", ["abcd", "efgh"])]


@pytest.mark.slow
@pytest.mark.parametrize(("given", "groups"), some(GROUPS, GROUPS[1]))
def test_groups_of_a_taxonomy(clinic: Path, given: str, groups: list[str]) -> None:
    with anondb.connect(clinic) as database:
        release = database.anonymize(
            "visits", model=KmAnonymity(3, 2), taxonomy="tree", algorithm="coat", utility_constraints=given,
            max_suppression=100, name="grouped",
        )  # fmt: skip
        blocks: dict[str, set[str]] = {}
        for released, item in release.table("released_items").fetchall():
            blocks.setdefault(released, set()).add(item)
        assert blocks and all(any(b <= set(g) for g in groups) for b in blocks.values())
        assert release.report is not None and release.report.constraints is not None
        assert release.report.constraints.to_json() == {
            "privacy": None, "utility": len(groups), "rest": 0, "utility_verified": True, "countable": [],
        }  # fmt: skip
        with pytest.raises(InputError) as caught:
            database.anonymize("visits", utility_constraints=given, name="none")
        assert caught.value.code == "no_taxonomy"


@pytest.mark.nightly
def test_weights_change_the_choice(clinic: Path) -> None:
    """Of equally cheap unions the first is made, unless another one weighs less; a taxonomy weighs only if asked to."""
    visits = pd.DataFrame([(1, "a"), (2, "b"), (3, "c"), (4, "d"), (4, "e"), (5, "d")], columns=["tid", "item"])
    heavy = pd.DataFrame({"item": ["a", "b", "c"], "weight": [1, 0.5, 0.25]})
    given: dict[str, tuple[Any, str | None]] = {"none": (None, None), "one": (1, None), "table": (heavy, None)}
    given |= {"tree": ("taxonomy", "tree"), "beside a tree": (None, "tree"), "one beside a tree": (1, "tree")}
    made = {}
    with anondb.connect(clinic) as database:
        for name, (weights, tree) in given.items():
            release = database.anonymize(
                visits, model=ConstraintAnonymity(2), privacy_constraints=[["e"]] if tree else [["c"]],
                weights=weights, taxonomy=tree, algorithm="coat", name=name,
            )  # fmt: skip
            made[name] = {r for r, _ in release.table("released_items").fetchall() if r.startswith("(")}
    assert made == {
        "none": {"(a,c)"}, "one": {"(a,c)"}, "table": {"(b,c)"},
        "tree": {"(d,e)"}, "beside a tree": {"(a,e)"}, "one beside a tree": {"(a,e)"},
    }  # fmt: skip


@pytest.mark.slow
def test_rest_and_unknown_items_are_reported(clinic: Path) -> None:
    with anondb.connect(clinic) as database:
        release = database.anonymize(
            "visits", model=ConstraintAnonymity(2), privacy_constraints=[["a", "nowhere"], ["b", "h", "e"]],
            utility_constraints=[["a", "b"], ["c", "elsewhere"]], name="partial", replace=True,
        )  # fmt: skip
        report = release.report
        assert report is not None and report.constraints is not None
        assert (report.constraints.utility, report.constraints.rest) == (2, 5)
        remarks = " ".join(report.warnings)
        assert "1 item of the privacy constraints never occurs" in remarks and "5 items of the data" in remarks
        assert "1 item of the utility constraints never occurs" in remarks
        assert "nowhere" not in remarks and "elsewhere" not in remarks


@pytest.mark.slow
def test_conflict_names_the_constraints(run: Run, clinic: Path) -> None:
    """One of 8 items is 12.5 percent; nothing is left behind."""
    before = state_of(clinic)
    given = ("--transactions", "visits", "--privacy-constraints", "linkable", "--utility-constraints", "keep")
    refused = run("anonymize", clinic, "--model", "constraints", *given, "--max-suppression", 12)
    assert refused.code == 3 and "'p2'" in refused.err and "'u3'" in refused.err and "1 of 8 items" in refused.err
    none = run("anonymize", clinic, "--model", "constraints", *given, "--max-suppression", 0)
    assert none.code == 3
    assert state_of(clinic) == before
    whole = run("anonymize", clinic, "--model", "constraints", *given, "--max-suppression", 100)
    assert whole.code == 0


def test_a_constraint_that_no_recoding_can_meet(clinic: Path) -> None:
    """A frozen domain and an item that 4 patients have: suppression or nothing; all of it takes 100 percent."""
    with anondb.connect(clinic) as database:
        stuck: dict[str, Any] = {"model": ConstraintAnonymity(5), "privacy_constraints": [["d"]], "name": "stuck"}
        frozen = [[x] for x in "abcdefgh"]
        with pytest.raises(InfeasibleError):
            database.anonymize("visits", utility_constraints=frozen, max_suppression=5, **stuck)
        kept = database.anonymize("visits", utility_constraints=frozen, **stuck)
        assert kept.report is not None and kept.report.frozen.suppressed_items == 1
        alone = pd.DataFrame({"tid": [1, 2], "item": ["secret", "secret"]})
        with pytest.raises(InfeasibleError) as caught:
            database.anonymize(alone, model=ConstraintAnonymity(5), privacy_constraints=[["secret"]], name="alone")
        assert caught.value.code == "all_suppressed" and "secret" not in str(caught.value)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no constraints": ({}, "no_privacy_constraints"),
    "no row": ({"privacy_constraints": FRAMES["linkable"].head(0)}, "empty_constraints"),
    "an empty constraint": ({"privacy_constraints": [["secret"], []]}, "empty_constraint"),
    "a NULL item": ({"privacy_constraints": pa.table({"constraint_id": [1, 1], "item": ["secret", None]})}, "null_item"),
    "no such table": ({"privacy_constraints": "nowhere"}, "no_such_table"),
    "overlapping groups": (
        {"privacy_constraints": [["a"]], "utility_constraints": [["secret"], ["secret"]]},
        "not_a_partition",
    ),
    "a bad weight": ({"privacy_constraints": [["a"]], "weights": {"secret": 2}}, "bad_weight"),
    "weights of no tree": ({"privacy_constraints": [["a"]], "weights": "taxonomy"}, "no_taxonomy"),
    "no such level": (
        {"privacy_constraints": [["a"]], "utility_constraints": "level:9", "taxonomy": "tree"},
        "bad_parameter",
    ),
    "no percentage": ({"privacy_constraints": [["a"]], "max_suppression": 101}, "bad_parameter"),
    "another algorithm": ({"privacy_constraints": [["a"]], "algorithm": "mhghs", "taxonomy": "tree"}, "unknown_algorithm"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", some(BAD, "a NULL item", "overlapping groups", "no percentage", "a bad weight"))
def test_bad_input(clinic: Path, case: str) -> None:
    options, code = BAD[case]
    before = state_of(clinic)
    with anondb.connect(clinic) as database, pytest.raises(InputError) as caught:
        database.anonymize("visits", model=ConstraintAnonymity(2), name="bad", **options)
    assert caught.value.code == code and "secret" not in str(caught.value)
    assert state_of(clinic) == before


def test_privacy_constraints_belong_to_their_model(clinic: Path) -> None:
    with anondb.connect(clinic) as database:
        for call in (
            lambda: database.anonymize("visits", privacy_constraints="linkable"),
            lambda: database.verify("visits", model=KmAnonymity(2, 2), privacy_constraints="linkable"),
        ):
            with pytest.raises(InputError) as caught:
                call()
            assert caught.value.code == "bad_usage"


@pytest.mark.slow
def test_groups_of_any_size_are_readable(tmp_path: Path) -> None:
    """docs/bad_inputs.md, 37 and 38: a short label, the members in a table, and no label that is an item's."""
    items = [f"item {n}" for n in range(3000)] + ["(item 0,item 1,item 10,… 3001 items)"]
    visits = pd.DataFrame({"tid": range(len(items)), "item": items})
    with anondb.connect(tmp_path / "big.duckdb") as database:
        release = database.anonymize(
            visits,
            model=KmAnonymity(len(items), 1),
            name="big",
            queries=5,
            accept=["row-per-person", "rare-items", "one-released-item"],
        )
        rows = release.table("released_items").fetchall()
        labels = {released for released, _ in rows}
        assert {item for _, item in rows} == set(items) and len(labels) == 1
        assert len(labels.pop()) < 200 and not labels & set(items)
        expected = expected_holders([["all"]] * len(items), {"all": items})["all", "item 7"]
        assert release.count_bounds(["item 7"]) == (0, pytest.approx(expected, rel=1e-9), len(items))


@pytest.mark.slow
def test_the_documented_example(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/constraints.md as it is written: scripts, commands, and the utility guarantees of Figure 2(c)."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "constraints.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    for kind, block in blocks:
        if kind == "sql":
            Path(str(re.match(r"-- (\w+\.sql)\n", block)[1])).write_text(block, encoding="utf-8")  # type: ignore[index]
    FRAMES["linkable"].to_csv("linkable.csv", index=False)
    commands = [line for kind, block in blocks if not kind for line in block.splitlines()]
    assert commands.pop(0) == "duckdb clinic.duckdb < clinic.sql"
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute(Path("clinic.sql").read_text(encoding="utf-8"))
    done = {command: run(*shlex.split(command)[1:]) for command in commands}
    assert len(commands) == 5 and all(found.code == 0 for found in done.values()), done
    assert baskets(tmp_path / "figure.duckdb") == FIGURE_2C
    counted = done["anondb run clinic.duckdb studies.sql"].out.split()
    assert [word for word in counted if word.isdecimal()] == ["6", "7"]
    asked = next(found.out for command, found in done.items() if command.startswith("anondb query"))
    assert asked.split()[-3:] == ["7", "7.0", "7"]
    tight = run(*[w if w != "15" else "12" for w in shlex.split(commands[0])[1:-4]], "--release", "tight")
    assert tight.code == 3 and "'p2'" in tight.err and "'u3'" in tight.err


SCRIPT = """
import sys, anondb
with anondb.connect(sys.argv[1], threads=int(sys.argv[2])) as database:
    release = database.anonymize("visits", model=anondb.ConstraintAnonymity(4), privacy_constraints="pgen", name="same")
    print(sorted(r[0] for r in release.table("baskets").project("items").fetchall()))
"""


@pytest.mark.nightly
def test_the_same_with_other_threads_and_hash_seeds(tmp_path: Path) -> None:
    rng = random.Random(3)
    items = [f"i{n}" for n in range(60)]
    rows = [(t, i) for t in range(400) for i in rng.sample(items, rng.randint(1, 5))]
    found = set()
    for number, (threads, seed) in enumerate(((1, 0), (2, 1))):
        place = tmp_path / f"{number}.duckdb"
        with duckdb.connect(str(place)) as connection:
            connection.execute("CREATE TABLE visits (tid INTEGER, item VARCHAR)")
            connection.executemany("INSERT INTO visits VALUES (?, ?)", rows)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(place), str(threads)], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        )  # fmt: skip
        found.add(done.stdout)
    assert len(found) == 1 and "(i" in found.pop()
