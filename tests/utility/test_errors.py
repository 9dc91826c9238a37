"""Figures of relative errors against a naive reference: ties, truth 0, no frequent query, every kind of release, every
draw."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import reference as ref
from portions import some
from reference_expected import expected_count, expected_holders
from utility.test_accuracy import ask, drop_all, load, measure, random_case, release, rows_of

import anondb
from anondb.api.database import Database
from anondb.engine import Engine
from anondb.models.anatomy import Anatomy
from anondb.risk.query_log import measure_log
from anondb.utility.accuracy import RelativeError, error_figures

CONTRACT = {"mean", "median", "mean_frequent", "median_frequent", "always_zero", "median_truth", "width"}
Answer = tuple[int, Fraction, int, int]


def same(found: dict[str, float | None], answers: list[Answer], k: int | None) -> None:
    """Every figure is that of the reference."""
    wanted = ref.error_figures(answers, k)
    assert set(found) == set(wanted) == CONTRACT
    for name, value in wanted.items():
        assert (found[name] is None) == (value is None), (name, found, wanted)
        if value is not None:
            assert found[name] == pytest.approx(float(value), rel=1e-9, abs=1e-12), name


@pytest.mark.slow
def test_random_answers(engine: Engine) -> None:
    """Few different values, so that there are ties; a k that no truth reaches; answers without an error; none at all."""
    rng = random.Random(3)
    seen = set()
    for number in range(150):
        n, top = rng.choice([0, 1, 2, 3, 8, 25]), rng.choice([1, 3, 50])
        k = rng.choice([None, 1, 2, top + 1])
        answers: list[Answer] = []
        for _ in range(n):
            truth = rng.randint(0, top)
            answers.append((truth, Fraction(rng.randint(0, 4 * top), 2), rng.randint(0, truth), truth + rng.randint(0, 3)))
        errors = [float(abs(a - e) / a) if a else None for a, e, _, _ in answers]
        table = engine.put(
            "answers",
            {
                "truth": ("BIGINT", [a for a, *_ in answers]),
                "lower_bound": ("BIGINT", [low for _, _, low, _ in answers]),
                "upper_bound": ("BIGINT", [high for *_, high in answers]),
                "relative_error": ("DOUBLE", pd.array(errors, dtype="Float64").to_numpy(dtype=object, na_value=None)),
            },
        )
        found, outside = error_figures(engine, table, k)
        engine.drop(table)
        same(found.to_json(), answers, k)
        frequent = sum(k is not None and a >= k for a, *_ in answers)
        assert (found.measured, found.frequent) == (sum(e is not None for e in errors), None if k is None else frequent)
        assert found.frequent_json() == (None if k is None else {"truth_from": k, "queries": frequent}) and outside == 0
        seen.add((n == 0, k is None, frequent == 0, found.measured < n, number % 2))
    assert len(seen) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("cases", [6, pytest.param(40, marks=pytest.mark.nightly)])
def test_random_releases(engine: Engine, cases: int) -> None:
    """Truth and estimate are derived anew."""
    rng = random.Random(4)
    baselines = set()
    for _ in range(cases):
        transactions, blocks, queries = random_case(rng, rng.randint(1, 8), rng.randint(1, 12))
        dataset = load(engine, transactions)
        frozen = release(engine, dataset, blocks)
        workload = ask(engine, dataset, queries)
        k = rng.choice([None, 1, 2, 3, 100])
        accuracy = measure(engine, dataset, frozen, workload, k=k)
        published = [{"+".join(b) for b in blocks if set(b) & set(t)} for t in transactions]
        members = {g: b for b in blocks if (g := "+".join(b)) in set().union(*published)}
        holders = expected_holders(published, members)
        answers = [
            (
                ref.support(q, transactions),
                Fraction(expected_count(published, members, q, holders)),
                row["lower_bound"],
                row["upper_bound"],
            )
            for q, row in zip(queries, rows_of(engine, accuracy.answers), strict=True)
        ]
        same(accuracy.relative_error.to_json(), answers, k)
        assert accuracy.average_relative_error == accuracy.to_json()["average_relative_error"]
        assert accuracy.skipped == sum(a == 0 for a, *_ in answers)
        assert accuracy.outside == 0
        baselines.add(accuracy.relative_error.always_zero)
        drop_all(engine)
    assert baselines == {1.0}


# ---------------------------------------------------------------------- releases of every kind

ITEMS = "abcdefgh"
TREE = pd.DataFrame(
    [(item, f"N{n // 2}") for n, item in enumerate(ITEMS)] + [(f"N{n}", "*") for n in range(4)], columns=["node", "parent"]
)
KINDS: dict[str, tuple[Any, dict[str, Any], int | None]] = {
    "mhghs": (anondb.KmAnonymity(k=3, m=2), {"taxonomy": TREE}, 3),
    "lra": (anondb.KmAnonymity(k=2, m=2), {"taxonomy": TREE}, 2),
    "mm": (anondb.HkpCoherence(Fraction(9, 10), 4, 2), {"sensitive": pd.DataFrame({"item": ["h"]})}, 4),
    "coat": (anondb.ConstraintAnonymity(3), {"privacy_constraints": "pgen", "max_suppression": 100}, 3),
    "partition": (anondb.TransactionalK(k=3), {"taxonomy": TREE}, 3),
    "clump": (anondb.TransactionalK(k=2), {"taxonomy": TREE}, 2),
    "rum_bound_rt": (anondb.KkmAnonymity(3, 1), {"records": "people", "quasi_identifiers": "age", "delta": 0.9}, 3),
    "multi_anatomy": (Anatomy(Fraction(2)), {"empty_values": "ignore", "columns": "columns"}, None),
}


def fill(database: Database, seed: int) -> None:
    """Baskets with frequent and rare items, the ages of those who have them, columns for anatomy, and queries."""
    rng = random.Random(seed)
    people = [set(rng.choices(ITEMS, weights=range(1, 9), k=rng.choice([0, 1, 2, 3, 4]))) for _ in range(60)]
    tables: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
        "held": ("tid INTEGER, item VARCHAR", [(tid, item) for tid, t in enumerate(people) for item in sorted(t)]),
        "people": ("tid INTEGER, age INTEGER", [(tid, rng.randint(20, 80)) for tid in range(60)]),
        "columns": ("column_id INTEGER, item VARCHAR", [(n % 4, item) for n, item in enumerate(ITEMS)]),
        "mine": ("query_id INTEGER, item VARCHAR", [(1, "a"), (1, "never"), (2, "h"), (3, "g"), (3, "h")]),
    }
    for name, (columns, rows) in tables.items():
        database.engine.connection.execute(f"CREATE TABLE {name} ({columns})")
        database.engine.connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)


KEPT = """
SELECT items, truth, estimate, lower_bound, upper_bound
FROM anondb.accuracy JOIN anondb.workloads USING (workload, query_id)
WHERE workload = (SELECT max_by(workload, rowid) FROM anondb.accuracy)
"""


def sets_of(made: anondb.Release) -> tuple[list[set[str]], dict[str, set[str]]]:
    """The released transactions and the members of released items; none for releases that are no sets (bags, buckets)."""
    if made.manifest.get("semantics") != "set" or made.manifest["model"] == "anatomy":
        return [], {}
    published: dict[int, set[str]] = {}
    for tid, label, _ in made.table("transactions").fetchall():
        published.setdefault(tid, set()).add(label)
    members: dict[str, set[str]] = {}
    for label, item in made.table("released_items").fetchall():
        members.setdefault(label, set()).add(item)
    return list(published.values()), members


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", some(KINDS, "partition", "mhghs", "rum_bound_rt", "multi_anatomy", check=()))
def test_releases_of_every_kind(algorithm: str) -> None:
    """Every draw and size, the owner's own queries and a log: the figures are those of the kept answers."""
    model, options, k = KINDS[algorithm]
    with anondb.connect() as database:
        connection = database.engine.connection
        fill(database, 5)
        made = database.anonymize("held", model=model, algorithm=algorithm, name="r", queries=40, **options)
        published, members = sets_of(made)

        def kept(accuracy: Any) -> None:
            found = connection.execute(KEPT).fetchall()
            answers = [(a, Fraction(e), low, high) for _, a, e, low, high in found]
            assert accuracy["queries"] == len(answers)
            same(accuracy["relative_error"], answers, k)
            papers = accuracy["relative_error"]["mean"]
            if published:
                asked = [(a, ref.estimate(published, members, items)) for items, a, *_ in found]
                errors = [error for a, e in asked if (error := ref.relative_error(a, e)) is not None]
                papers = pytest.approx(float(sum(errors) / len(errors)), rel=1e-9, abs=1e-12)
            assert accuracy["average_relative_error"] == papers
            assert accuracy["skipped"] == sum(a == 0 for a, *_ in answers)
            frequent = None if k is None else {"truth_from": k, "queries": sum(a >= k for a, *_ in answers)}
            assert accuracy["frequent"] == frequent
            assert accuracy["relative_error"]["always_zero"] == (1.0 if any(a for a, *_ in answers) else None)

        assert made.report is not None
        kept(made.report.to_json()["accuracy"])
        for draw in ("all", "generalized"):
            for size in (1, 2, 5):
                measured = made.measure(queries=30, size=size, draw=draw)
                if measured.queries:
                    kept(measured.to_json())
                else:
                    assert set(measured.relative_error.to_json().values()) == {None}
        kept(made.measure("mine").to_json())
        assert made.measure("mine").skipped == 1


@pytest.mark.slow
def test_a_workload_without_queries_or_counts(tmp_path: Path) -> None:
    """Nothing to measure: null, and never a division by 0."""
    with anondb.connect() as database:
        database.engine.connection.execute("CREATE TABLE s AS SELECT i AS tid, 'a' AS item FROM range(6) t(i)")
        made = database.anonymize("s", model=anondb.KmAnonymity(k=2, m=1), algorithm="coat", name="r", size=2)
        assert made.accuracy.queries == 0 and made.accuracy.relative_error.measured == 0
        assert set(made.accuracy.to_json()["relative_error"].values()) == {None}
        assert made.accuracy.to_json()["frequent"] == {"truth_from": 2, "queries": 0}
        log = tmp_path / "log.sql"
        log.write_text("SELECT avg(tid) FROM s")
        found = measure_log(database.engine, "r", log)
        assert set(found.to_json()["relative_error"].values()) == {None} and len(found.refused) == 1
        log.write_text("SELECT count(DISTINCT tid) FROM s WHERE item = 'b'; SELECT count(DISTINCT tid) FROM s")
        found = measure_log(database.engine, "r", log)
        assert (found.skipped, found.outside, found.to_json()["frequent"]) == (1, 0, {"truth_from": 2, "queries": 1})
        same(found.to_json()["relative_error"], [(0, Fraction(0), 0, 0), (6, Fraction(6), 6, 6)], 2)


@pytest.mark.slow
def test_the_report_of_records_has_the_same_figures() -> None:
    """Queries of values and items have no bounds, so no width."""
    with anondb.connect() as database:
        fill(database, 6)
        made = database.anonymize(
            "held", model=anondb.KkmAnonymity(3, 1), records="people", quasi_identifiers="age", delta=0.9, name="r", size=1
        )
        assert made.report is not None
        found = made.report.to_json()["relational"]["accuracy"]
        assert set(found["relative_error"]) == CONTRACT and found["relative_error"]["width"] is None
        assert found["frequent"]["truth_from"] == 3 and found["relative_error"]["always_zero"] == 1.0


def test_json_has_the_keys_of_the_contract() -> None:
    none = RelativeError(None, 0, None, None, None, None, None, None, None, None)
    assert set(none.to_json()) == CONTRACT and none.frequent_json() is None
