"""HgHs, mHgHs and LM on every golden case: the worked example of Liu and Wang (PAKDD 2010), and our own small ones."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import goldens
import numpy as np
import pytest
from properties.trees import coded, mine_all, released, taxonomy_of
from sqlglot import exp

from anondb.algorithms.hghs.hghs import Costs, Search, hghs
from anondb.algorithms.hghs.mhghs import mhghs, rounds
from anondb.algorithms.hghs.threats import ThreatMiner
from anondb.data.sources import open_source
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine
from anondb.errors import InputError
from anondb.models.transactional import KmAnonymity

Json = dict[str, Any]
Labels = tuple[str, ...]


def of_kind(kind: str, part: str | None = None) -> Any:
    """The cases of a kind, or those that have a certain part of the expected values."""
    chosen = [c for c in goldens.of_kind(kind) if part is None or part in c["expected"]]
    return pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in chosen])


def load(engine: Engine, inputs: Json) -> tuple[Dataset, Taxonomy]:
    """Through the loader, from one row with a list of items for each transaction."""
    tids = [tid for tid, _ in inputs["transactions"]]
    sizes = [len(items) for _, items in inputs["transactions"]]
    pairs = [(n, item) for n, (_, items) in enumerate(inputs["transactions"]) for item in items]
    rows = engine.put("case_rows", {"n": ("BIGINT", range(len(tids))), "tid": ("VARCHAR", tids)})
    items = engine.put("case_items", {"n": ("BIGINT", [n for n, _ in pairs]), "item": ("VARCHAR", [i for _, i in pairs])})
    query = (
        exp.select("r.tid", exp.maybe_parse("list(i.item) FILTER (WHERE i.item IS NOT NULL) AS item", dialect="duckdb"))
        .from_(rows.expression().as_("r"))
        .join(items.expression().as_("i"), on="r.n = i.n", join_type="left")
        .group_by("r.tid")
    )
    with open_source(engine, query, "transactions") as source:
        data = load_transactions(engine, source)
    assert data.n_transactions == len(tids) and data.n_occurrences == sum(sizes)
    return data, taxonomy_of(inputs["taxonomy"], inputs["root"])


def model_of(inputs: Json) -> KmAnonymity:
    return KmAnonymity(inputs["k"], math.inf if inputs["m"] is None else inputs["m"])


def by_labels(taxonomy: Taxonomy, nodes: Any) -> list[str]:
    return sorted(taxonomy.labels[n] for n in nodes)


def all_threats(taxonomy: Taxonomy, miner: ThreatMiner, m: float, longest: int) -> dict[Labels, int]:
    """The minimal threats over all cuts, and their supports."""
    found = {(taxonomy.labels[n],): int(miner.supports[n]) for n in np.flatnonzero(miner.infrequent)}
    mined = mine_all(miner, int(min(m, max(longest, 1))))
    for size, rows in mined.rows.items():
        assert rows.shape[1] == size
        for row, support in zip(rows.tolist(), mined.supports[size].tolist(), strict=True):
            assert 0 < support < miner.k
            assert tuple(by_labels(taxonomy, row)) not in found
            found[tuple(by_labels(taxonomy, row))] = support
    return found


@of_kind("lm")
def test_lm(case: Json) -> None:
    inputs = case["inputs"]
    taxonomy = taxonomy_of(inputs["taxonomy"], inputs["root"])
    denominator = max(taxonomy.n_leaves - 1, 1)
    found = {
        label: str(Fraction(int(n) - 1, denominator)) for label, n in zip(taxonomy.labels, taxonomy.leaf_count, strict=True)
    }
    assert found == case["expected"]


@of_kind("hghs")
def test_hghs(engine: Engine, case: Json) -> None:
    inputs, expected = case["inputs"], case["expected"]
    model = model_of(inputs)
    with engine.transaction():
        data, taxonomy = load(engine, inputs)
        miner = ThreatMiner(engine, data, taxonomy, model.k)
        m = int(min(model.m, max(data.longest, 1)))
        result = Search(taxonomy, Costs.of(taxonomy, data), miner, m).run()
        threats = all_threats(taxonomy, miner, model.m, data.longest)
        miner.close()
        recoding = hghs(engine, data, taxonomy, model)
        last = mhghs(engine, data, taxonomy, model)
    kept = set(expected["cut"]) - set(expected["suppressed"])
    transactions = [items for _, items in inputs["transactions"]]
    published = released(data, recoding, transactions)
    seen: Json = {
        "cut": by_labels(taxonomy, result.cut),
        "suppressed": by_labels(taxonomy, result.suppressed),
        "cost": str(result.cost),
        "minimal_threats": [list(t) for t in sorted(threats)],
        "n_minimal_threats": len(threats),
        "all_suppressed": any(transactions) and not any(published),
        "published": {tid: sorted(items) for (tid, _), items in zip(inputs["transactions"], published, strict=True)},
        "isomorphic_to": expected.get("isomorphic_to"),
    }
    for key in set(expected) - {"trace", "mhghs"}:
        assert seen[key] == expected[key], key
    assert set(recoding.labels) == kept
    if "mhghs" in expected:
        assert set(last.labels) == set(expected["mhghs"]["cut"]) - set(expected["mhghs"]["suppressed"])
        assert last.decisions[-1].cost == Fraction(expected["mhghs"]["cost"])


@of_kind("hghs", "trace")
def test_trace(engine: Engine, case: Json) -> None:
    """Every evaluated cut of the golden trace, through the project's own scenario; the decisions follow the trace."""
    inputs, trace = case["inputs"], case["expected"]["trace"]
    model = model_of(inputs)
    with engine.transaction():
        data, taxonomy = load(engine, inputs)
        miner = ThreatMiner(engine, data, taxonomy, model.k)
        costs = Costs.of(taxonomy, data)
        m = int(min(model.m, data.longest))
        mined = mine_all(miner, m)
        known = all_threats(taxonomy, miner, model.m, data.longest)
        search = Search(taxonomy, costs, miner, m)
        result = Search(taxonomy, costs, miner, m).run()
        miner.close()
    for step in trace:
        cut = {taxonomy.node_of[label] for label in step["cut"]}
        search.relevant.learn(mined, cut, np.ones(taxonomy.size, dtype=np.bool_), keep=False)
        suppressed, forced = search.scenario()
        assert set(forced) == suppressed
        assert all(set(row) <= cut and row[-1] == node for node, row in forced.items())
        suppressed |= {node for node in cut if miner.infrequent[node]}
        generalization = Fraction(sum(costs.generalization[n] for n in cut), costs.denominator)
        suppression = Fraction(sum(costs.suppression[n] for n in suppressed), costs.denominator)
        assert by_labels(taxonomy, suppressed) == step["ss"]
        assert [str(x) for x in (generalization, suppression, generalization + suppression)] == [
            step[key] for key in ("cost_G", "cost_S", "cost")
        ]
        assert [list(x) for x in sorted(known) if set(x) <= set(step["cut"])] == step["threats"]
    cost_of = {frozenset(step["cut"]): Fraction(step["cost"]) for step in trace}
    current = frozenset({inputs["root"]})
    steps = [d for d in result.decisions if d.action == "specialize"]
    for decision in steps:
        current = current - {decision.subject} | set(inputs["taxonomy"][decision.subject])
        assert decision.cost == cost_of[current]
    assert sorted(current) == case["expected"]["cut"]
    for decision in result.decisions[len(steps) :]:
        assert decision.action == "suppress" and decision.cost == result.cost
        assert decision.support in {n for x, n in known.items() if decision.subject in x and set(x) <= current}
    assert [d.step for d in result.decisions] == list(range(1, len(result.decisions) + 1))


@of_kind("mhghs")
def test_rounds(engine: Engine, case: Json) -> None:
    inputs, expected = case["inputs"], case["expected"]["rounds"]
    model = model_of(inputs)
    with engine.transaction():
        data, taxonomy = load(engine, inputs)
        miner = ThreatMiner(engine, data, taxonomy, model.k)
        found = list(rounds(engine, data, taxonomy, model, miner))
        visible = np.ones(taxonomy.size, dtype=np.bool_)
        counts = []
        results = found + [found[-1]] * (len(expected) - len(found))  # rounds that would change nothing are not run
        for i, result in enumerate(results, 1):
            threats = [[taxonomy.node_of[x] for x in t] for t in all_threats(taxonomy, miner, i, data.longest)]
            counts.append(sum(bool(visible[t].all()) for t in threats))
            visible[:] = True
            for node in result.cut:
                visible[node + 1 : int(taxonomy.last[node]) + 1] = False
        miner.close()
        recoding = mhghs(engine, data, taxonomy, model)
    seen = [
        {
            "i": i,
            "cut": by_labels(taxonomy, r.cut),
            "suppressed": by_labels(taxonomy, r.suppressed),
            "cost": str(r.cost),
            "n_minimal_threats": n,
        }
        for i, (r, n) in enumerate(zip(results, counts, strict=True), 1)
    ]
    assert seen == expected
    assert {d.round_number for d in found[-1].decisions} == {len(found)}
    assert set(recoding.labels) == set(expected[-1]["cut"]) - set(expected[-1]["suppressed"])


@of_kind("multi", "hghs")
def test_everything_suppressed(engine: Engine, case: Json) -> None:
    inputs, expected = case["inputs"], case["expected"]["hghs"]
    transactions = [items for _, items in inputs["transactions"]]
    with engine.transaction():
        data = coded(engine, transactions)
        taxonomy = taxonomy_of(inputs["taxonomy"], inputs["root"])
        for algorithm in (hghs, mhghs):
            result = algorithm(engine, data, taxonomy, model_of(inputs))
            assert result.labels == () and len(result.member_of) == 0
            assert [sorted(t) for t in released(data, result, transactions)] == expected["published"]
            (decision,) = (d for d in result.decisions if d.round_number == result.decisions[-1].round_number)
            assert (decision.action, [decision.subject]) == ("suppress", expected["suppressed"])
            assert decision.cost == Fraction(expected["cost"])


@of_kind("error", "items")
@pytest.mark.parametrize("algorithm", [hghs, mhghs])
def test_unknown_item(engine: Engine, case: Json, algorithm: Any) -> None:
    inputs = case["inputs"]
    assert algorithm.__name__ in inputs["algorithms"]
    with engine.transaction():
        data, taxonomy = load(engine, inputs)
        with pytest.raises(InputError) as caught:
            algorithm(engine, data, taxonomy, KmAnonymity(2, 2))
    assert caught.value.code == case["expected"]["error"]
    assert "1 of 2 items" in str(caught.value)
    assert not any(item in str(caught.value) for item in case["expected"]["items"])
