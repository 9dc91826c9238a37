from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import reference as ref
from coat_cases import dataset_of, expected, image_of, published, random_case, run, same
from each import each
from portions import portions

from anondb.algorithms.coat import blocks as coat_blocks
from anondb.algorithms.coat import explicit as coat_explicit
from anondb.algorithms.coat import implicit as coat_implicit
from anondb.algorithms.coat import mining as coat_mining
from anondb.algorithms.coat.coat import UtilityViolated, coat, group_label, pgen
from anondb.data.constraints import (
    PrivacyConstraints,
    UtilityConstraints,
    load_sets,
    load_weights,
    utility_of_level,
    utility_of_siblings,
)
from anondb.data.taxonomy import Taxonomy, from_edges
from anondb.engine import DuckDBEngine, Engine
from anondb.errors import AnondbError, BudgetExceeded, InputError
from anondb.models.transactional import ConstraintAnonymity, KmAnonymity


@pytest.mark.parametrize("seeds", portions(32, 189, 2200))
def test_same_as_the_naive_reference(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        transactions, k, m, options = random_case(random.Random(seed))
        if any(transactions):
            ours, theirs = run(engine, transactions, k, m, **options), expected(transactions, k, m, **options)
            assert same(ours, theirs), (seed, transactions, k, m, options, ours, theirs)


@pytest.mark.parametrize("seeds", portions(6, 45, 150))
@pytest.mark.parametrize(("dense", "few"), [(64, 128), (1, 0), (3, 1)])
def test_every_way_to_count(engine: Engine, monkeypatch: pytest.MonkeyPatch, dense: int, few: int, seeds: range) -> None:
    """Bitmaps, marked transactions and whole transactions; constraints one by one and pairs together."""
    monkeypatch.setattr(coat_blocks, "_DENSE", dense)
    monkeypatch.setattr(coat_blocks, "_FEW", few)
    monkeypatch.setattr(coat_explicit, "_MANY", 0)
    for seed in seeds:
        rng = random.Random(40_000 + seed)
        transactions, k, m, options = random_case(rng)
        if seed % 2:
            pairs = [list(p) for p in combinations(sorted({i for t in transactions for i in t}), 2)]
            options["privacy"] = rng.sample(pairs, rng.randint(1, len(pairs))) if pairs else [["a", "z"]]
        if any(transactions):
            ours, theirs = run(engine, transactions, k, m, **options), expected(transactions, k, m, **options)
            assert same(ours, theirs), (seed, transactions, k, m, options, ours, theirs)


@pytest.mark.nightly
def test_same_as_the_naive_reference_for_more_items(engine: Engine) -> None:
    for seed in range(60):
        rng = random.Random(seed)
        items = [f"i{n}" for n in range(20)]
        transactions = [rng.sample(items, min(20, 1 + int(rng.expovariate(0.4)))) for _ in range(60)]
        k, m = rng.randint(2, 6), rng.choice((1, 2, 3))
        assert same(run(engine, transactions, k, m), expected(transactions, k, m)), (seed, k, m)


@pytest.mark.parametrize("seeds", portions(6, 47, 160))
def test_promise_and_partition(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        transactions, k, m, options = random_case(random.Random(10_000 + seed))
        options |= {"max_suppression": 100, "literal": False}
        if not any(transactions):
            continue
        found = run(engine, transactions, k, m, **options)
        assert found.recoding is not None
        release, image = published(transactions, found.recoding), image_of(found.recoding)
        stated = options.get("privacy") or ref.implicit_constraints(
            {i for g in (transactions, options.get("utility", ())) for x in g for i in x},
            int(min(m, max(map(len, transactions)))),
        )
        images = {i: image.get(i) for p in stated for i in p}
        assert all(ref.constraint_satisfied(release, p, k, images) for p in stated)
        domain = {i for block in found.blocks for i in block} | set(found.suppressed)
        groups = options.get("utility", [])
        groups = [*groups, sorted(domain - {i for g in groups for i in g})]
        assert ref.utility_satisfied(found.blocks, found.suppressed, groups, domain, 100)
        assert sorted(i for block in found.blocks for i in block) == sorted(domain - set(found.suppressed))


@pytest.mark.parametrize("seeds", portions(4, 18, 60))
def test_coat_with_pgen_is_k_inf_anonymous(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        transactions, k, _, options = random_case(random.Random(20_000 + seed))
        with engine.transaction():
            dataset = dataset_of(engine, transactions)
            found = pgen(engine, dataset, k)
            assert found.sets() == ref.pgen(transactions, k)
            recoding = coat(engine, dataset, KmAnonymity(k, math.inf), privacy="pgen", utility=options.get("utility"))
        assert not ref.rare_transactions(published(transactions, recoding), k)


@pytest.mark.slow
def test_weights_of_a_taxonomy(engine: Engine) -> None:
    leaves = "abcdefgh"
    edges = [(leaf, f"n{i // 2}") for i, leaf in enumerate(leaves)] + [(f"n{i}", f"m{i // 2}") for i in range(4)]
    tree = from_edges([*edges, ("m0", "r"), ("m1", "r")])

    def weight(block: tuple[str, ...]) -> Fraction:
        spans = [n for n in range(tree.size) if {tree.labels[x] for x in tree.leaves(n).tolist()} >= set(block)]
        return Fraction(min(int(tree.leaf_count[n]) for n in spans), 8) if spans else Fraction(1)

    for seed in range(30):
        rng = random.Random(seed)
        items = [*leaves, "x"]
        transactions = [rng.sample(items, rng.randint(1, 5)) for _ in range(14)]
        ours = run(engine, transactions, 3, 2, weights=tree)
        found = ref.coat(transactions, 3, None, None, 100, 2, weight)
        assert (ours.blocks, ours.suppressed) == (found.blocks, found.suppressed), seed


@pytest.mark.parametrize("seeds", portions(6, 20, 60))
def test_packed_order_in_several_words(engine: Engine, monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(coat_implicit, "_WORD", 200)
    monkeypatch.setattr(coat_implicit, "_DENSE", 4)
    monkeypatch.setattr(coat_mining, "CHUNK_SETS", 5)
    for seed in seeds:
        transactions, k, m, options = random_case(random.Random(30_000 + seed))
        if any(transactions):
            assert same(run(engine, transactions, k, m, **options), expected(transactions, k, m, **options)), seed


@pytest.mark.parametrize("seeds", portions(2, 12, 40))
def test_many_rare_items_in_parts(engine: Engine, monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """Most blocks share no transaction with most others; everything is read and counted in several parts."""
    monkeypatch.setattr(coat_blocks, "_PART", 3)
    monkeypatch.setattr(coat_blocks, "_CHUNK", 7)
    monkeypatch.setattr(coat_mining, "CHUNK_READ", 9)
    for seed in seeds:
        rng = random.Random(50_000 + seed)
        items = [f"i{n:02}" for n in range(24)]
        weights = [1 / (n + 1) for n in range(24)]
        transactions = [list(set(rng.choices(items, weights, k=rng.randint(1, 3)))) for _ in range(25)]
        options: dict[str, Any] = {}
        if seed % 2:
            rng.shuffle(items)
            options["utility"] = [items[:11], items[11:18]]
        k, m = rng.randint(2, 6), rng.choice((1, 2))
        assert same(run(engine, transactions, k, m, **options), expected(transactions, k, m, **options)), seed


def test_refuses_only_what_it_would_hold(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    transactions = [["a", "b", "c"]] * 20 + [["a", "d"]]
    monkeypatch.setattr(coat_mining, "MAX_RARE", 1)
    assert run(engine, transactions, 5, 2).recoding is not None  # 61 pairs in transactions, one of them rare
    with pytest.raises(BudgetExceeded, match="too rare"):
        run(engine, [*transactions, ["b", "d"]], 5, 2)


def test_refuses_before_the_first_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes that can be counted come first, and would take long for nothing."""
    statements: list[str] = []
    engine = DuckDBEngine.open(threads=1, on_statement=statements.append)
    transactions = [["a", "b", "c", "d"]] * 3  # 18 pairs, 12 sets of 3, 3 of 4
    monkeypatch.setattr(coat_mining, "MAX_COUNTED", 11)
    with pytest.raises(BudgetExceeded, match="18 sets of 2"):
        run(engine, transactions, 2, math.inf)
    monkeypatch.setattr(coat_mining, "MAX_COUNTED", 19)
    assert run(engine, transactions, 2, math.inf).recoding is not None
    counted = sum("support" in text for text in statements)
    transactions = [["a", "b", "c", "d", "e", "f"]]  # 15 pairs, 20 sets of 3
    with pytest.raises(BudgetExceeded, match="20 sets of 3"):
        run(engine, transactions, 2, math.inf)
    assert counted and counted == sum("support" in text for text in statements)
    engine.close()


@pytest.mark.slow
def test_close_losses_are_compared_exactly(engine: Engine) -> None:
    """Groups of 70 and 71 items, whose losses differ by less than a logarithm tells."""
    items = [f"i{n:03}" for n in range(150)]
    transactions = [[i] for i in items] + [["i000", "i001"]]
    for k in (2, 60):
        assert same(run(engine, transactions, k, 1), expected(transactions, k, 1))


@pytest.mark.slow
def test_the_same_with_one_thread_and_two() -> None:
    rng = random.Random(5)
    items = [f"i{n}" for n in range(300)]
    transactions = [rng.sample(items, rng.randint(1, 8)) for _ in range(3000)]
    found = []
    for threads in (1, 2, 2):
        engine = DuckDBEngine.open(threads=threads)
        outcome = run(engine, transactions, 5, 2)
        found.append((outcome.blocks, outcome.log))
        engine.close()
    assert found[0] == found[1] == found[2]


# ---------------------------------------------------------------------- labels


def test_labels_never_collide(engine: Engine) -> None:
    """docs/bad_inputs.md, 37: items that look like the labels of groups, and groups that would be written alike."""
    transactions = [["a"], ["b"], ["(a,b)"], ["(a,b)"], ["(a,b)"], ["c,d"], ["e"], ["c"], ["d,e"], ["(c,d,e)"], ["(c,d,e)"]]
    utility = [["a", "b"], ["(a,b)"], ["c,d", "e"], ["c", "d,e"], ["(c,d,e)"]]
    found = run(engine, transactions, 2, 1, utility=utility)
    assert found.recoding is not None and not found.suppressed
    labels = found.recoding.labels
    assert len(set(labels)) == len(labels) == 5
    assert set(labels) == {"(a,b) #2", "(a,b)", "(c,d,e) #2", "(c,d,e)", "(c,d,e) #3"}
    assert [[x] for x in ("(a,b)",) * 3] == published(transactions, found.recoding)[2:5]


def test_long_labels_are_short() -> None:
    assert group_label(["a", "b"]) == "(a,b)"
    many = group_label([f"item{i}" for i in range(100_000)])
    assert many == "(item0,item1,item2,… 100000 items)"
    assert len(group_label(["x" * 10**6, "y"])) < 120


# ---------------------------------------------------------------------- reading constraints


def _frame(ids: list[Any], items: list[Any], name: str = "constraint_id") -> pd.DataFrame:
    return pd.DataFrame({name: ids, "item": items})


def test_tables_views_files_and_frames(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text('constraint_id,item\n10,a\n9,b\n10,c\n9,b\n2,""\n11,b\n', encoding="utf-8")
    with engine.transaction():
        frame = _frame([10, 9, 10, 9, 2, 11], ["a", "b", "c", "b", "", "b"])
        table = engine.put(
            "given", {"constraint_id": ("INTEGER", frame["constraint_id"]), "item": ("VARCHAR", frame["item"])}
        )
        lists = pd.DataFrame({"constraint_id": [2, 9, 10, 11], "item": [[""], ["b", "b"], ["c", "a"], ["b"]]})
        read = [load_sets(engine, given, PrivacyConstraints) for given in (file, frame, table, lists)]
    for constraints in read:
        assert constraints.ids == ("2", "9", "10")
        assert constraints.sets() == [("",), ("b",), ("a", "c")]
        assert len(constraints.warnings) == 2


@each(
    "ids, items, code",
    [
        (["p1", None], ["a", "b"], "null_id"),
        (["p1", "p1"], ["a", None], "null_item"),
        (["p1", "p2"], ["a", None], "empty_constraint"),
        (["p1", "p2"], [["a"], []], "empty_constraint"),
        ([], [], "empty_constraints"),
        (["p1"], [1.5], "bad_type"),
    ],
)
def test_bad_constraints(engine: Engine, ids: list[Any], items: list[Any], code: str) -> None:
    frame = _frame(ids, items)
    if not ids:
        frame = frame.astype({"constraint_id": "str", "item": "str"})
    with pytest.raises(InputError) as caught, engine.transaction():
        load_sets(engine, frame, PrivacyConstraints)
    assert caught.value.code == code


def test_overlapping_groups(engine: Engine) -> None:
    with pytest.raises(InputError) as caught, engine.transaction():
        load_sets(engine, _frame(["u", "u", "v", "v"], ["secret", "b", "secret", "c"], "group_id"), UtilityConstraints)
    assert caught.value.code == "not_a_partition" and "secret" not in str(caught.value)
    with pytest.raises(InputError, match="constraint_id"), engine.transaction():
        load_sets(engine, _frame(["u"], ["a"], "group_id"), PrivacyConstraints)


def test_remarks_on_unknown_and_uncovered_items(engine: Engine) -> None:
    with engine.transaction():
        dataset = dataset_of(engine, [["a", "b"], ["c"]])
        privacy = load_sets(engine, [["a", "zz"], ["yy"]], PrivacyConstraints, dataset)
        utility = load_sets(engine, [["a"], ["q"]], UtilityConstraints, dataset)
    assert privacy.warnings == ("2 items of the privacy constraints never occur in the data.",)
    assert utility.warnings[0].startswith("1 items of the utility") and utility.warnings[1].startswith("2 items of the data")


def test_weights(engine: Engine) -> None:
    with engine.transaction():
        assert load_weights(engine, pd.DataFrame({"item": ["a", "b"], "weight": [0.1, 1.0]})) == {
            "a": Fraction(1, 10),
            "b": 1,
        }
        for bad in ({"a": 1.5}, {"a": "x"}, {"a": -1}):
            with pytest.raises(InputError) as caught:
                load_weights(engine, bad)
            assert caught.value.code == "bad_weight"


def _tree() -> Taxonomy:
    return from_edges([("a", "p"), ("b", "p"), ("c", "q"), ("d", "q"), ("p", "r"), ("q", "r"), ("e", "r")])


def test_groups_from_a_taxonomy() -> None:
    assert utility_of_level(_tree(), 1).sets() == [("a", "b"), ("c", "d"), ("e",)]
    assert utility_of_level(_tree(), 0).sets() == [("a", "b", "c", "d", "e")]
    assert utility_of_siblings(_tree(), 2).sets() == [("a", "b"), ("c", "d"), ("e",)]
    for wrong in (-1, 3):
        with pytest.raises(InputError):
            utility_of_level(_tree(), wrong)
    with pytest.raises(InputError):
        utility_of_siblings(_tree(), 0)


# ---------------------------------------------------------------------- limits and refusals


def test_limit_names_constraints_and_no_items(engine: Engine) -> None:
    privacy = PrivacyConstraints.of([["secret", "other"]], ["diagnoses"])
    utility = UtilityConstraints.of([["secret"], ["other"]], ["keep", "rest"])
    with engine.transaction():
        dataset = dataset_of(engine, [["secret", "other"], ["secret"], ["other"]])
        with pytest.raises(UtilityViolated) as caught:
            coat(engine, dataset, ConstraintAnonymity(2), privacy=privacy, utility=utility, max_suppression=0)
        text = str(caught.value)
        assert caught.value.exit_code == 3 and caught.value.suppressed == ("other",)
        assert "'diagnoses'" in text and "'rest'" in text and "secret" not in text
        assert "1 of 2 items" in text and "below k = 2" in text
        kept = coat(engine, dataset, ConstraintAnonymity(2), privacy=privacy, utility=utility, max_suppression=100)
    assert [dataset.labels[i] for i in np.flatnonzero(kept.image < 0)] == ["other"]


def test_model_needs_constraints(engine: Engine) -> None:
    with pytest.raises(InputError) as caught, engine.transaction():
        coat(engine, dataset_of(engine, [["a"]]), ConstraintAnonymity(2))
    assert caught.value.code == "no_constraints"
    for wrong in (0, True, 2.5, "5"):
        with pytest.raises(InputError):
            ConstraintAnonymity(wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_too_many_itemsets(engine: Engine) -> None:
    """docs/bad_inputs.md, 10: one long transaction."""
    items = [f"i{n}" for n in range(3000)]
    with pytest.raises(BudgetExceeded, match="4,495,501,001"), engine.transaction():
        coat(engine, dataset_of(engine, [items, items[:3]]), KmAnonymity(2, 3))


@each("transactions", [[[], []], [["a", "b"]] * 6, [["a"], ["b"], ["c"]]])
@each("k", [1, 2, 9])
def test_odd_data(engine: Engine, transactions: list[list[str]], k: int) -> None:
    for m in (1, 2, 3, math.inf):
        found = run(engine, transactions, k, m)
        assert same(found, expected(transactions, k, m))


def test_errors_hold_no_data(engine: Engine) -> None:
    """Whatever is refused, items stay out of the message."""
    with engine.transaction():
        dataset = dataset_of(engine, [["secret1", "secret2"], ["secret1"]])
        bad: list[dict[str, Any]] = [
            {"privacy": [["secret1"], []]},
            {"utility": [["secret1"], ["secret1"]]},
            {"weights": {"secret1": 7}},
            {"utility": [["secret1"], ["secret2"]], "max_suppression": 10},
        ]
        for options in bad:
            with pytest.raises(AnondbError) as caught:
                coat(engine, dataset, KmAnonymity(2, 2), **options)
            assert "secret" not in str(caught.value)
