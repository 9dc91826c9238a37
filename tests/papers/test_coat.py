from __future__ import annotations

from fractions import Fraction
from typing import Any

import goldens
import pytest
import reference as ref
from coat_cases import dataset_of, image_of, published, published_tables, run
from realdata import DATA, needs

from anondb.algorithms.coat.coat import coat, pgen
from anondb.data.constraints import ItemSets, UtilityConstraints
from anondb.data.sources import open_source
from anondb.data.transactions import load_transactions
from anondb.engine import Engine
from anondb.models.transactional import ConstraintAnonymity, KmAnonymity
from anondb.risk.constraint_report import countable
from anondb.utility.loss import global_loss, ul_a_log2
from anondb.verify.constraints import verify_constraints

# Each case as corrected and as printed; cases with a log alone are those of the corrected algorithm.
VARIANTS = [
    pytest.param(c["inputs"], c["expected"], literal, id=f"{c['id']}{'-literal' if literal else ''}")
    for c in goldens.of_kind("coat")
    for literal in (False, True)
    if not (literal and "log" in c["expected"] and "recommended" not in c["expected"])
]


@pytest.mark.parametrize(("inputs", "expected", "literal"), VARIANTS)
def test_coat(engine: Engine, inputs: Any, expected: Any, literal: bool) -> None:
    if "recommended" in expected:
        expected = expected["literal_pseudocode" if literal else "recommended"]
    transactions = [items for _, items in inputs["transactions"]]
    found = run(
        engine, transactions, inputs["k"], privacy=inputs["privacy"], utility=inputs["utility"],
        max_suppression=inputs["s_percent"], literal=literal,
    )  # fmt: skip
    if expected == "no_progress" or "error" in expected:
        assert found.error == (expected if isinstance(expected, str) else expected["error"])
        assert found.suppressed == ([] if isinstance(expected, str) else expected["suppressed_at_error"])
        return
    assert found.suppressed == expected["suppressed"]
    assert found.recoding is not None
    recoding = found.recoding
    by_label = {label: tuple(sorted(i for i, r in image_of(recoding).items() if r == label)) for label in recoding.labels}
    blocks = [sorted(list(by_label[x]) for x in t) for t in published(transactions, recoding)]
    assert blocks == [expected["generalized"][tid] for tid, _ in inputs["transactions"]]
    if "log" in expected and not literal:
        index = {tuple(sorted(p)): i for i, p in enumerate(inputs["privacy"])}
        log = [[e[0], index[e[1]], e[2]] if e[0] == "constraint" else [e[0], list(e[1]), *e[2:]] for e in found.log]
        assert log == expected["log"]
    if "supports" in expected:
        release = published(transactions, recoding)
        assert sum("(a,b)" in t for t in release) == expected["supports"]["(a,b)"]
        assert sum({"(a,b)", "c"} <= set(t) for t in release) == expected["supports"]["(a,b)c"]


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("pgen"))
def test_pgen(engine: Engine, inputs: Any, expected: Any) -> None:
    with engine.transaction():
        dataset = dataset_of(engine, [items for _, items in inputs["transactions"]])
        assert [list(p) for p in pgen(engine, dataset, inputs["k"]).sets()] == expected["constraints"]


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("psat"))
def test_constraint_satisfaction(engine: Engine, inputs: Any, expected: Any) -> None:
    transactions = [items for _, items in inputs["transactions"]]
    image = {i: i for t in transactions for i in t}
    satisfied = []
    for constraint in inputs["constraints"]:
        with engine.transaction():
            tables = published_tables(engine, transactions, image)
            stated = engine.put(
                "stated", {"constraint_id": ("VARCHAR", ["p"] * len(constraint)), "item": ("VARCHAR", constraint)}
            )
            satisfied.append(verify_constraints(engine, *tables, stated, ConstraintAnonymity(inputs["k"])).verified)
    assert satisfied == expected["satisfied"]


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("ul003"))
def test_utility_loss_of_figure_2c(engine: Engine, inputs: Any, expected: Any) -> None:
    case = goldens.named("s003_coat_ex41")["inputs"]
    transactions = [items for _, items in case["transactions"]]
    found = run(engine, transactions, 5, privacy=case["privacy"], utility=case["utility"], max_suppression="15")
    assert found.recoding is not None
    release = published(transactions, found.recoding)
    sizes = found.recoding.sizes.tolist()
    supports = [sum(label in t for t in release) for label in found.recoding.labels]
    blocks = list(zip(map(range, sizes), supports, strict=True))
    whole = sum(ref.ul_item(tuple(block), n, inputs["M"], inputs["N"]) for block, n in blocks)
    assert whole == Fraction(expected["ul_dataset_w1_no_suppression_penalty"])
    last = found.recoding.decisions[-1].cost
    assert float(last) == pytest.approx(float(ul_a_log2(sizes, supports, 10, 8) or 0) + 11.3162, abs=1e-3)
    at = found.recoding.labels.index("(a,b)")
    assert ref.ul_item(("a", "b"), supports[at], 8, 10, Fraction(3, 8)) == Fraction(expected["ul_ab_w_3_8"])


def test_example_3_13_stays_countable(engine: Engine) -> None:
    """Corollary 3.12: the patients with a or b can be counted in Figure 2(c), those with d or e cannot."""
    inputs = goldens.named("s003_coat_ex41")["inputs"]
    with engine.transaction():
        dataset = dataset_of(engine, [items for _, items in inputs["transactions"]])
        recoding = coat(
            engine, dataset, ConstraintAnonymity(5), privacy=inputs["privacy"], utility=inputs["utility"],
            max_suppression="15",
        )  # fmt: skip
        report = countable(ItemSets.of([["a", "b"], ["d", "e"], ["g"], ["g", "h", "unknown"]]), recoding, dataset)
    assert [(r.exact, r.suppressed, r.mixed) for r in report] == [(True, 0, 0), (False, 1, 0), (False, 0, 1), (True, 0, 0)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "total", "released"),
    [
        pytest.param("bms1", Fraction(324801, 496), 136, marks=needs("bms1.dat")),
        pytest.param("bms2", Fraction(5348987, 3339), 218, marks=needs("bms2.dat")),
    ],
)
def test_all_pairs_of_real_data(engine: Engine, name: str, total: Fraction, released: int) -> None:
    """The totals of docs/data.md#exact-results: all pairs, U = {I}, w = 1."""
    with engine.transaction(), open_source(engine, DATA / f"{name}.dat", "transactions") as source:
        dataset = load_transactions(engine, source)
        recoding = coat(engine, dataset, KmAnonymity(5, 2))
    assert global_loss(dataset, recoding).lm_total == total
    assert len(recoding.labels) == released and (recoding.image >= 0).all()


def test_rest_is_one_group() -> None:
    group, names = UtilityConstraints.of([["b"], ["c", "d"]], ["x", "y"]).groups_of(["a", "b", "c", "e"])
    assert group.tolist() == [2, 0, 1, 2] and names[:2] == ("x", "y")
