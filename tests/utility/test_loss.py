from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import goldens
import numpy as np
import pytest
import reference as ref

from anondb.data.taxonomy import from_edges
from anondb.data.transactions import Dataset
from anondb.engine import Table
from anondb.recoding import GlobalRecoding
from anondb.utility.loss import Loss, global_loss, lm_of, ncp_of, ul_a_log2

NOWHERE = Table("temp", "main", "nothing")


def dataset_of(transactions: list[list[str]]) -> Dataset:
    labels = sorted({i for t in transactions for i in t})
    supports = [sum(i in t for t in transactions) for i in labels]
    return Dataset(
        NOWHERE, NOWHERE, NOWHERE, tuple(labels), np.array(supports, dtype=np.int64), len(transactions),
        dict(Counter(len(set(t)) for t in transactions if t)), "t", "tid", "item",
    )  # fmt: skip


def recoding_of(labels: tuple[str, ...], blocks: list[list[str]]) -> GlobalRecoding:
    number = {i: n for n, block in enumerate(blocks) for i in block}
    flat = [(n, i) for n, block in enumerate(blocks) for i in block]
    return GlobalRecoding(
        image=np.array([number.get(i, -1) for i in labels], dtype=np.int64),
        labels=tuple("+".join(b) for b in blocks),
        member_of=np.array([n for n, _ in flat], dtype=np.int64),
        member_labels=tuple(i for _, i in flat),
    )


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("lm"))
def test_golden_lm(inputs: Any, expected: Any) -> None:
    edges = [(child, node) for node, below in inputs["taxonomy"].items() for child in below]
    taxonomy = from_edges([*edges, (inputs["root"], None)])
    seen = {v: str(lm_of(int(taxonomy.leaf_count[n]), taxonomy.n_leaves)) for v, n in taxonomy.node_of.items()}
    assert seen == expected


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("ul003"))
def test_golden_ul(inputs: Any, expected: Any) -> None:
    published = [[tuple(b) for b in t] for t in inputs["generalized"].values()]
    blocks = sorted({b for t in published for b in t})
    supports = [sum(b in t for t in published) for b in blocks]
    sizes = [len(b) for b in blocks]
    total = ref.ul_a(published, inputs["M"])
    assert str(total) == expected["ul_dataset_w1_no_suppression_penalty"]
    at = blocks.index(("a", "b"))
    one = ref.ul_item(("a", "b"), supports[at], inputs["M"], inputs["N"], Fraction(3, 8))
    assert str(one) == expected["ul_ab_w_3_8"]
    assert ul_a_log2(sizes, supports, inputs["N"], inputs["M"]) == pytest.approx(math.log2(total))


def test_ul_of_large_domains() -> None:
    assert ul_a_log2([], [], 3, 5) is None
    assert ul_a_log2([5000], [7], 14, 5000) == pytest.approx(-1.0)
    assert ul_a_log2([10, 3000], [1, 4], 8, 5000) == pytest.approx(-2001.0)


@pytest.mark.slow
def test_random_losses_equal_the_naive_sums() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        domain = [f"i{n}" for n in range(rng.randint(1, 8))]
        transactions = [rng.sample(domain, rng.randint(0, len(domain))) for _ in range(rng.randint(0, 5))]
        dataset = dataset_of(transactions)
        taxonomy = from_edges([(i, "root") for i in domain]) if rng.random() < 0.5 else None
        items = domain if taxonomy is not None else list(dataset.labels)
        rng.shuffle(items)
        blocks, rest = [], items[rng.randint(0, len(items)) if rng.random() < 0.4 else 0 :]
        while rest:
            cut = rng.randint(1, len(rest))
            blocks.append(sorted(rest[:cut]))
            rest = rest[cut:]
        recoding = recoding_of(dataset.labels, blocks)
        members = {"+".join(b): b for b in blocks}
        published = [{g for g, b in members.items() if set(b) & set(t)} for t in transactions]
        loss = global_loss(dataset, recoding, taxonomy)
        assert loss.lm_total == ref.lm_total(transactions, published, members, len(items))
        assert loss.ncp == float(ref.ncp_average(transactions, published, members, len(items)))
        assert loss.lm == (float(loss.lm_total / dataset.n_occurrences) if dataset.n_occurrences else 0.0)


def test_one_item_domain_and_json() -> None:
    dataset = dataset_of([["a"], ["a"]])
    assert global_loss(dataset, recoding_of(("a",), [["a"]])) == Loss(Fraction(0), 0.0, 0.0)
    gone = global_loss(dataset, recoding_of(("a",), []))
    assert gone == Loss(Fraction(2), 1.0, 1.0)
    assert Loss(Fraction(10, 4), 0.5).to_json() == {
        "lm_total": "5/2", "lm": 0.5, "ncp": None, "ul": None, "ul_log2": None, "ggd": None,
    }  # fmt: skip
    assert (lm_of(1, 1), ncp_of(1, 1), ncp_of(2, 8)) == (0, 0, Fraction(1, 4))
