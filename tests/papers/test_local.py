"""The golden cases of LCG, Clump and Partition."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import goldens
import pytest
import reference as ref
from local_cases import run

from anondb.engine import Engine


def of_kind(*kinds: str) -> Any:
    found = [c for c in goldens.of_kind(*kinds) if "taxonomy" in c["inputs"]]
    return pytest.mark.parametrize("case", found, ids=[c["id"] for c in found])


@of_kind("lcg")
def test_lcg(engine: Engine, case: dict[str, Any]) -> None:
    """One cluster of all transactions."""
    inputs, expected = case["inputs"], case["expected"]
    children, root, bags = inputs["taxonomy"], inputs["root"], inputs["transactions"]
    for bag_input in (False, True):
        read = bags if bag_input else [sorted(set(b)) for b in bags]
        found = run(engine, children, root, bags, len(bags), "clump", bag_input=bag_input).bags
        total = sum((ref.ggd(children, root, [b], t) for b, t in zip(read, found, strict=True)), Fraction(0))
        after = "" if bag_input or "lcg_after_set_dedup" not in expected else "_after_set_dedup"
        assert found == [tuple(expected[f"lcg{after}"])] * len(bags)
        assert str(total) == expected[f"ggd{after}"]
        if "suppressed_occurrences" in expected:
            lost = sum(len(b) - len(t) for b, t in zip(read, found, strict=True))
            assert lost == expected["suppressed_occurrences"]


@of_kind("clump", "lg")
def test_clump_and_partition(engine: Engine, case: dict[str, Any]) -> None:
    inputs, expected = case["inputs"], case["expected"]
    children, root, k = inputs["taxonomy"], inputs["root"], inputs["k"]
    names = [name for name, _ in inputs["transactions"]]
    bags = [items for _, items in inputs["transactions"]]
    if case["kind"] == "clump":
        found = run(engine, children, root, bags, k, "clump").bags
        wanted = {tid: tuple(c["lcg"]) for c in expected["clusters"] for tid in c["tids"]}
    else:
        found = run(engine, children, root, bags, k, "partition", leftover="whole").bags
        wanted = {tid: tuple(items) for tid, items in expected["generalized"].items()}
    assert dict(zip(names, found, strict=True)) == wanted
    if "total_ggd" in expected:
        total = sum((ref.ggd(children, root, [b], t) for b, t in zip(bags, found, strict=True)), Fraction(0))
        assert str(total) == expected["total_ggd"]
