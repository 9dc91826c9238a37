"""The body of Spark's function count_bounds returns what that of DuckDB's macro does, on random releases."""

from __future__ import annotations

import random
from typing import Any

import pytest
from portions import portions
from sqlglot import exp

from anondb.engine import DuckDBEngine, load


def random_release(rnd: random.Random, duck: DuckDBEngine) -> tuple[dict[str, Any], list[str]]:
    """The tables of a release of sets, as they may be, and the items that it stands for."""
    blocks = [[f"{b}{n}" for n in range(rnd.randint(1, 4))] for b in "abcde"[: rnd.randint(0, 5)]]
    occurring = [n for n in range(len(blocks)) if rnd.random() < 0.8]
    persons = rnd.randint(0, 9)
    rows = [(t, n) for t in range(persons) for n in occurring if rnd.random() < 0.5]
    members = [(f"block {n}", item) for n in occurring for item in blocks[n]]
    columns: dict[str, dict[str, tuple[str, list[Any]]]] = {
        "transaction_items": {
            "transaction_id": ("INTEGER", [t for t, _ in rows]),
            "item_id": ("INTEGER", [n for _, n in rows]),
        },
        "transaction_ids": {"transaction_id": ("INTEGER", list(range(persons)))},
        "labels": {"item_id": ("INTEGER", occurring), "item": ("VARCHAR", [f"block {n}" for n in occurring])},
        "released_items": {
            "released_item": ("VARCHAR", [m[0] for m in members]),
            "item": ("VARCHAR", [m[1] for m in members]),
        },
        "manifest": {"key": ("VARCHAR", ["suppression"]), "value": ("VARCHAR", [rnd.choice(["some", "none"])])},
        "checked": {"passed": ("BOOLEAN", [True])},
    }
    made: dict[str, Any] = {name: duck.put(f"random_{name}", parts) for name, parts in columns.items()}
    return made, [item for block in blocks for item in block]


@pytest.mark.parametrize("seeds", portions(8, 100, 1000))
def test_both_bodies_agree(duck: DuckDBEngine, seeds: range) -> None:
    for seed in seeds:
        rnd = random.Random(seed)
        with duck.transaction():
            tables, items = random_release(rnd, duck)
            for _ in range(3):
                asked = rnd.sample([*items, "x", "y"], rnd.randint(0, min(5, len(items) + 2)))
                asked += asked[:1] if rnd.random() < 0.2 else []
                listed = exp.cast(
                    exp.Array(expressions=[exp.Literal.string(i) for i in asked]), "TEXT[]", dialect="duckdb"
                )
                found = []
                for name in ("release/count_bounds", "warehouse/spark/count_bounds"):
                    query = load(name)
                    tree = query.bind({t: tables[t] for t in query.reads}, {"items": listed})
                    found.append([column[0] for column in duck.select(tree).values()])
                assert found[0] == [found[1][0], pytest.approx(found[1][1], rel=1e-9, abs=1e-12), found[1][2]]
