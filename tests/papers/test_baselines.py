"""The algorithms that the papers compare with, on every golden case of theirs."""

from __future__ import annotations

import math
from typing import Any

import goldens
import pytest
from properties.trees import coded, released, taxonomy_of
from verify.published import verified_hkp

from anondb.algorithms.apriori.apriori import apriori, label_order
from anondb.algorithms.apriori.lra import recode_chunks
from anondb.algorithms.apriori.postings import load_postings
from anondb.algorithms.apriori.vpa import parts, vpa
from anondb.algorithms.coat.coat import coat
from anondb.algorithms.mm.mm import mm
from anondb.engine import Engine
from anondb.models.transactional import HkpCoherence, KmAnonymity

Json = dict[str, Any]


def of_kind(kind: str) -> Any:
    return pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in goldens.of_kind(kind)])


def rows(inputs: Json) -> list[list[str]]:
    return [items for _, items in inputs["transactions"]]


def infinite(number: int | None) -> int | float:
    return math.inf if number is None else number


@of_kind("aa")
def test_apriori(engine: Engine, case: Json) -> None:
    inputs, expected = case["inputs"], case["expected"]
    with engine.transaction():
        data = coded(engine, rows(inputs))
        taxonomy = taxonomy_of(inputs["taxonomy"], inputs["root"])
        result = apriori(engine, data, taxonomy, KmAnonymity(inputs["k"], infinite(inputs["m"])))
    assert sorted(result.labels) == expected["cut"]
    if "generalized" in expected:
        published = released(data, result, rows(inputs))
        found = {tid: sorted(items) for (tid, _), items in zip(inputs["transactions"], published, strict=True)}
        assert found == expected["generalized"]
        assert str(result.decisions[-1].cost / data.n_occurrences) == expected["ncp"]


@of_kind("vpa")
def test_vpa(engine: Engine, case: Json) -> None:
    inputs, expected = case["inputs"], case["expected"]
    model = KmAnonymity(inputs["k"], infinite(inputs["m"]))
    with engine.transaction():
        data = coded(engine, rows(inputs))
        taxonomy = taxonomy_of(inputs["taxonomy"], inputs["root"])
        assert [taxonomy.labels[n] for n in taxonomy.children(0)] == inputs["groups"]  # the default
        postings, _ = load_postings(engine, data, taxonomy)
        cut, _ = parts(postings, model, label_order(taxonomy), list(taxonomy.children(0)))
        assert sorted(taxonomy.labels[n] for n in cut) == expected["after_parts"]
        assert sorted(vpa(engine, data, taxonomy, model).labels) == expected["final"]
        assert sorted(apriori(engine, data, taxonomy, model).labels) == expected["aa_cut_same_input"]


@of_kind("mm")
def test_mm(engine: Engine, case: Json) -> None:
    inputs, expected = case["inputs"], case["expected"]
    model = HkpCoherence(inputs["h"], inputs["k"], infinite(inputs["p"]))
    with engine.transaction():
        data = coded(engine, rows(inputs))
        result = mm(engine, data, model, private=inputs["private"])
    removed = [d.subject for d in result.decisions]
    assert removed == expected.get("removed_in_order", expected.get("removed_first_label_tie"))
    assert sorted(removed) in expected.get("removed_sets_over_ties", [sorted(removed)])
    published = released(data, result, rows(inputs))
    if "result" in expected:
        found = {tid: sorted(items) for (tid, _), items in zip(inputs["transactions"], published, strict=True)}
        assert found == expected["result"]
    assert verified_hkp(engine, published, model, inputs["private"]).verified


@of_kind("hkp_verify")
def test_hkp(engine: Engine, case: Json) -> None:
    inputs = case["inputs"]
    for (h, k, p), moles in zip(inputs["queries"], case["expected"]["violations"], strict=True):
        found = verified_hkp(engine, rows(inputs), HkpCoherence(h, k, p), inputs["private"], witnesses=9)
        assert [list(w.items) for w in found.witnesses] == sorted(moles, key=lambda x: (len(x), x))
        assert (found.violations, found.verified) == (len(moles), not moles)


@of_kind("pcta")
def test_pcta(engine: Engine, case: Json) -> None:
    inputs, expected = case["inputs"], case["expected"]
    assert inputs["privacy"] == "all 2-itemsets in lexicographic order" and inputs["weights"] == "all 1"
    with engine.transaction():
        data = coded(engine, rows(inputs))
        result = coat(engine, data, KmAnonymity(inputs["k"], 2))
    members: Json = {}
    for number, label in zip(result.member_of.tolist(), result.member_labels, strict=True):
        members.setdefault(number, []).append(label)
    assert sorted(members.values()) == expected["clusters"]
    assert [x for x, image in zip(data.labels, result.image.tolist(), strict=True) if image < 0] == expected["suppressed"]
    assert [d.subject for d in result.decisions] == [f"({','.join(x)})" for x in expected["merges"]]


@of_kind("lra")
def test_lra(engine: Engine, case: Json) -> None:
    inputs, expected = case["inputs"], case["expected"]
    model = KmAnonymity(inputs["k"], inputs["m"])
    with engine.transaction():
        data = coded(engine, rows(inputs))
        taxonomy = taxonomy_of(inputs["taxonomy"], inputs["root"])
        postings, tids = load_postings(engine, data, taxonomy)
        chunks = list(recode_chunks(postings, 0, model, inputs["parts"]))
    names = [tid for tid, _ in inputs["transactions"]]
    found = [
        {"tids": [names[tids[n] - 1] for n in chunk.members.tolist()], "cut": sorted(taxonomy.labels[n] for n in chunk.cut)}
        for chunk in chunks
    ]
    assert found == expected["chunks"]
