"""The estimate of one item in a file is the number that its worlds have on average, before they round it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from portions import portions, some

import anondb
from anondb.answers.files import copied
from anondb.engine import DuckDBEngine
from anondb.release.reader import sealed_release

ITEMS = "abcdefghij"
TREE = pd.DataFrame(
    [(item, f"N{n // 2}") for n, item in enumerate(ITEMS)]
    + [(f"N{n}", f"M{n // 3}") for n in range(5)]
    + [("M0", "*"), ("M1", "*")],
    columns=["node", "parent"],
)
KINDS: dict[str, dict[str, Any]] = {
    "global": {"taxonomy": TREE},
    "global with item supports": {"taxonomy": TREE, "item_supports": True},
    "suppressed": {"algorithm": "coat", "max_suppression": 100},
    "opened": {"algorithm": "similar"},
    "opened without item supports": {"algorithm": "similar", "item_supports": False},
    "local": {"model": anondb.TransactionalK(3), "taxonomy": TREE},
    "local with item supports": {"model": anondb.TransactionalK(3), "taxonomy": TREE, "item_supports": True},
    "areas": {"algorithm": "lra", "taxonomy": TREE},
    "kkm": {"model": anondb.KkmAnonymity(3, 1), "taxonomy": TREE, "delta": 0.7, "quasi_identifiers": "age"},
    "klm": {"model": anondb.KlmDiversity(3, 3, 1), "delta": 0.7, "quasi_identifiers": "age", "sensitive": ["a"]},
}


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(1, night=20))
@pytest.mark.parametrize("kind", some(KINDS, "opened", "kkm", check=()))
def test_of_a_file(kind: str, seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        rng = random.Random(f"{kind} {seed}")
        people = [sorted({*rng.choices(ITEMS, weights=range(1, 11), k=rng.choice([1, 2, 3, 4]))}) for _ in range(70)]
        sales = pd.DataFrame([(tid, item) for tid, t in enumerate(people) for item in t], columns=["tid", "item"])
        ages = pd.DataFrame({"tid": range(70), "age": [rng.randint(20, 60) for _ in people]})
        options = {"model": anondb.KmAnonymity(4, 2), "queries": 1, **KINDS[kind]}
        if "delta" in options:
            options["records"] = ages
        file = tmp_path / f"{seed}.duckdb"
        with anondb.connect() as database:
            database.anonymize(sales, name="r", **options).publish(file)
        wanted = means(file)
        with duckdb.connect(str(file), read_only=True) as reader:
            found = dict(reader.execute("SELECT item, estimate FROM item_counts").fetchall())
            asked = {x: reader.execute("FROM count_bounds(?)", [[x]]).fetchall()[0][1] for x in wanted}
        assert found == pytest.approx(wanted, abs=1e-9)
        assert asked == pytest.approx(wanted, abs=1e-9)


def means(file: Path) -> dict[str, float]:
    """How many hold each item, as the worlds of a file expect."""
    engine = DuckDBEngine(duckdb.connect(), owned=True)
    try:
        with sealed_release(file) as release:
            (one,) = copied(engine, [release])
    finally:
        engine.close()
    summed = np.bincount(one.members.item, one.means, minlength=len(one.items))
    listed = set(one.members.item.tolist())
    return {text: mean for n, (text, mean) in enumerate(zip(one.items, summed.tolist(), strict=True)) if n in listed}
