"""The naive references against every golden case they cover, and against each other on random small data."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import goldens
import pytest
import reference as ref
from each import each

Json = dict[str, Any]


def bound(m: int | None) -> ref.Bound:
    return math.inf if m is None else m


def rows(inputs: Json) -> list[list[str]]:
    return [items for _, items in inputs["transactions"]]


def tids(inputs: Json) -> list[str]:
    return [tid for tid, _ in inputs["transactions"]]


def tree(inputs: Json) -> tuple[dict[str, list[str]], str]:
    return inputs["taxonomy"], inputs["root"]


def lists(itemsets: Any) -> list[list[str]]:
    return [list(x) for x in itemsets]


def check_lm(inputs: Json, expected: Json) -> None:
    assert {v: str(ref.lm(*tree(inputs), v)) for v in ref.breadth_first(*tree(inputs))} == expected


def check_hghs(inputs: Json, expected: Json) -> None:
    transactions, k, m = rows(inputs), inputs["k"], bound(inputs["m"])
    result = ref.hghs(*tree(inputs), transactions, k, m)
    seen: Json = {
        "cut": result.cut,
        "suppressed": result.suppressed,
        "cost": str(result.cost),
        "minimal_threats": lists(result.minimal_threats),
        "n_minimal_threats": len(result.minimal_threats),
        "all_suppressed": result.all_suppressed,
        "trace": [
            {
                "cut": e.cut,
                "threats": lists(e.threats),
                "ss": e.suppressed,
                "cost_G": str(e.cost_generalization),
                "cost_S": str(e.cost_suppression),
                "cost": str(e.cost),
            }
            for e in result.trace
        ],
        "published": dict(zip(tids(inputs), map(sorted, result.published), strict=True)),
    }
    last = ref.mhghs(*tree(inputs), transactions, k, m)[-1]
    seen["mhghs"] = {"cut": last.cut, "suppressed": last.suppressed, "cost": str(last.cost)}
    twin = expected.get("isomorphic_to")
    if twin:
        seen["isomorphic_to"] = twin
        original = goldens.named(twin)["expected"]
        assert seen["cost"] == original["cost"]
        assert len(result.minimal_threats) == len(original["minimal_threats"])
    assert set(expected) <= set(seen)
    assert {key: seen[key] for key in expected} == expected
    assert ref.is_km_anonymous(result.published, k, m)


def check_mhghs(inputs: Json, expected: Json) -> None:
    rounds = ref.mhghs(*tree(inputs), rows(inputs), inputs["k"], bound(inputs["m"]))
    assert [
        {
            "i": i,
            "cut": r.cut,
            "suppressed": r.suppressed,
            "cost": str(r.cost),
            "n_minimal_threats": len(r.minimal_threats),
        }
        for i, r in enumerate(rounds, 1)
    ] == expected["rounds"]
    assert set(expected) == {"rounds"}


def check_verify(inputs: Json, expected: Json) -> None:
    transactions, k = rows(inputs), inputs["k"]
    verdicts = {m: ref.is_km_anonymous(transactions, k, bound(m)) for m in inputs.get("ms", [inputs.get("m")])}
    seen: Json = {
        "km": list(verdicts.values()) if "ms" in inputs else verdicts[inputs["m"]],
        "pgen_k2": lists(ref.pgen(transactions, 2)),
        "pgen_k3": lists(ref.pgen(transactions, 3)),
        "violations_m2": lists(ref.threats(transactions, k, 2)),
        "violations_inf": lists(ref.threats(transactions, k, math.inf)),
    }
    if "transactional_k" in inputs:
        seen["transactional_k_anonymous"] = ref.is_transactional_k_anonymous(transactions, inputs["transactional_k"])
    assert set(expected) <= set(seen)
    assert {key: seen[key] for key in expected} == expected


def check_p_item(inputs: Json, expected: Json) -> None:
    assert [str(ref.p_item(s)) for s in inputs["sizes"]] == expected["p"]
    inside = [str(ref.p_item(s, 2)) if s > 1 else None for s in inputs["sizes"]]
    assert inside == expected["p_two_items_inside"]


def flat(generalized: dict[str, list[list[str]]]) -> tuple[list[list[str]], dict[str, list[str]]]:
    """Blocks as labels, and what the labels stand for."""
    members = {"+".join(b): b for t in generalized.values() for b in t}
    return [["+".join(b) for b in t] for t in generalized.values()], members


def check_avgre(inputs: Json, expected: Json) -> None:
    published, members = flat(inputs["generalized"])
    originals = [items for _, items in inputs["original"]]
    assert [tid for tid, _ in inputs["original"]] == list(inputs["generalized"])
    queries = [entry["query"] for entry in expected["queries"]]
    for entry in expected["queries"]:
        actual = ref.support(entry["query"], originals)
        assert actual == entry["actual"]
        for name, flag in (("joint", False), ("product", True)):
            e = ref.estimate(published, members, entry["query"], flag)
            error = ref.relative_error(actual, e)
            assert str(e) == entry.get(f"estimate_{name}", str(e))
            assert (error if error is None else str(error)) == entry.get(f"re_{name}", error and str(error))
    for name, flag in (("joint", False), ("product", True)):
        if f"avgre_{name}" in expected:
            mean, skipped = ref.avg_re(originals, published, members, queries, flag)
            assert (mean if mean is None else str(mean)) == expected[f"avgre_{name}"]
            assert skipped == sum(entry["actual"] == 0 for entry in expected["queries"])


def check_ul003(inputs: Json, expected: Json) -> None:
    published = [[tuple(b) for b in t] for t in inputs["generalized"].values()]
    count = sum(("a", "b") in t for t in published)
    one = ref.ul_item(("a", "b"), count, inputs["M"], inputs["N"], Fraction(3, 8))
    assert str(one) == expected["ul_ab_w_3_8"]
    assert str(ref.ul_a(published, inputs["M"])) == expected["ul_dataset_w1_no_suppression_penalty"]


def check_pgen(inputs: Json, expected: Json) -> None:
    assert lists(ref.pgen(rows(inputs), inputs["k"])) == expected["constraints"]


def check_psat(inputs: Json, expected: Json) -> None:
    transactions, k = rows(inputs), inputs["k"]
    for check in (ref.constraint_satisfied, ref.constraint_satisfied_polynomial):
        assert [check(transactions, p, k) for p in inputs["constraints"]] == expected["satisfied"]
    if "support" in expected:
        assert [ref.support(p, transactions) for p in inputs["constraints"]] == expected["support"]


def check_coat(inputs: Json, expected: Json) -> None:
    assert inputs.get("weights", "all 1") == "all 1"
    if "literal_pseudocode" in expected:
        run_coat_case(inputs, expected["recommended"], literal=False)
        run_coat_case(inputs, expected["literal_pseudocode"], literal=True)
    else:
        run_coat_case(inputs, expected, literal=False)


def run_coat_case(inputs: Json, expected: Any, literal: bool) -> None:
    transactions, k = rows(inputs), inputs["k"]

    def run() -> ref.CoatResult:
        return ref.coat(transactions, k, inputs["privacy"], inputs["utility"], inputs["s_percent"], literal=literal)

    if expected == "no_progress":
        with pytest.raises(ref.NoProgress):
            run()
        return
    if "error" in expected:
        with pytest.raises(ref.UtilityViolated) as caught:
            run()
        assert expected == {"error": "utility_violated", "suppressed_at_error": caught.value.suppressed}
        return
    result = run()
    image = {i: "+".join(b) for b in result.blocks for i in b} | dict.fromkeys(result.suppressed)
    published = [["+".join(b) for b in t] for t in result.published]
    items = len({i for u in inputs["utility"] for i in u})

    def sup(*labels: str) -> int:
        return ref.support(labels, published)

    seen: Json = {
        "generalized": dict(zip(tids(inputs), map(lists, result.published), strict=True)),
        "suppressed": result.suppressed,
        "suppressed_percent": str(Fraction(100 * len(result.suppressed), items)),
        "log": [[list(x) if isinstance(x, tuple) else x for x in entry] for entry in result.log],
        "all_suppressed": result.all_suppressed,
        "k_inf_anonymous": ref.is_km_anonymous(published, k, math.inf),
        "supports": {
            "(a,b)": sup("a+b"),
            "(a,b)c": sup("a+b", "c"),
            "(g,h)": sup("g+h"),
            "e f (g,h)": sup("e", "f", "g+h"),
        },
        "item_supports_original": {i: ref.support([i], transactions) for t in inputs["utility"] for i in t},
    }
    assert set(expected) <= set(seen)
    assert {key: seen[key] for key in expected} == expected
    assert all(ref.constraint_satisfied(published, p, k, image) for p in inputs["privacy"])
    assert ref.utility_satisfied(
        result.blocks,
        result.suppressed,
        inputs["utility"],
        [i for u in inputs["utility"] for i in u],
        inputs["s_percent"],
    )


def check_lcg(inputs: Json, expected: Json) -> None:
    bags = inputs["transactions"]
    label = ref.lcg(*tree(inputs), bags)
    sets = [sorted(set(b)) for b in bags]
    label_of_sets = ref.lcg(*tree(inputs), sets)
    seen = {
        "lcg": list(label),
        "suppressed_occurrences": sum(len(b) - len(label) for b in bags),
        "ggd": str(ref.ggd(*tree(inputs), bags, label)),
        "lcg_after_set_dedup": list(label_of_sets),
        "ggd_after_set_dedup": str(ref.ggd(*tree(inputs), sets, label_of_sets)),
    }
    assert {key: seen[key] for key in expected} == expected


def check_clump(inputs: Json, expected: Json) -> None:
    result = ref.clump(*tree(inputs), rows(inputs), inputs["k"])
    names = tids(inputs)
    assert {
        "clusters": [{"tids": [names[n] for n in c.members], "lcg": list(c.label)} for c in result.clusters],
        "total_ggd": str(result.total_ggd),
        "steps": [
            {"tid": names[n], "ggd_after": {str(j): str(g) for j, g in after.items()}, "chosen": chosen}
            for n, after, chosen in result.steps
        ],
    } == expected


def check_lg(inputs: Json, expected: Json) -> None:
    published = ref.partition(*tree(inputs), rows(inputs), inputs["k"], "whole")
    assert published == ref.partition(*tree(inputs), rows(inputs), inputs["k"], "whole", "breadth_first")
    assert dict(zip(tids(inputs), map(sorted, published), strict=True)) == expected["generalized"]
    assert ref.is_transactional_k_anonymous(published, inputs["k"])
    if "total_ggd" in expected:
        pairs = zip(rows(inputs), published, strict=True)
        total = sum((ref.ggd(*tree(inputs), [original], label) for original, label in pairs), Fraction(0))
        assert str(total) == expected["total_ggd"]


def check_aa(inputs: Json, expected: Json) -> None:
    children, root = tree(inputs)
    originals = rows(inputs)
    cut = ref.apriori(children, root, originals, inputs["k"], bound(inputs["m"]))
    published = ref.generalize(children, originals, cut)
    members = ref.taxonomy_members(children, root)
    seen = {
        "cut": cut,
        "ncp": str(ref.ncp_average(originals, published, members, len(members[root]))),
        "generalized": dict(zip(tids(inputs), map(sorted, published), strict=True)),
    }
    assert {key: seen[key] for key in expected} == expected


def check_multi(inputs: Json, expected: Json) -> None:
    children, root = tree(inputs)
    transactions, k, m = rows(inputs), inputs["k"], bound(inputs["m"])
    result = ref.hghs(children, root, transactions, k, m)
    assert expected["hghs"] == {
        "cut": result.cut,
        "suppressed": result.suppressed,
        "cost": str(result.cost),
        "published": [sorted(t) for t in result.published],
    }
    calls: dict[str, Callable[[], object]] = {
        "aa": lambda: ref.apriori(children, root, transactions, k, m),
        "clump": lambda: ref.clump(children, root, transactions, k),
        "lg": lambda: ref.partition(children, root, transactions, k),
    }
    for name, call in calls.items():
        assert expected[name] == "infeasible"
        with pytest.raises(ref.Infeasible):
            call()
    whole = ref.coat(transactions, k, [["a", "b"]], [["a", "b"]], 100)
    assert expected["coat_p_ab_u_ab_s100"] == {"suppressed": whole.suppressed, "published": whole.published}
    assert expected["coat_p_ab_u_ab_s50"] == "utility_violated"
    with pytest.raises(ref.UtilityViolated):
        ref.coat(transactions, k, [["a", "b"]], [["a", "b"]], 50)


def check_rho(inputs: Json, expected: Json) -> None:
    """rho-uncertainty (docs/algorithms/models.md#not-offered), by its definition."""
    transactions = rows(inputs)
    items = sorted({i for t in transactions for i in t})
    violations = []
    for size in range(1, len(items)):
        for known in combinations(items, size):
            for secret in sorted(set(inputs["sensitive"]) - set(known)):
                together, alone = (ref.support(x, transactions) for x in ({*known, secret}, known))
                if alone and Fraction(together, alone) >= Fraction(inputs["rho"]):
                    violations.append([list(known), secret, str(Fraction(together, alone))])
    assert violations == expected["violations"]


def check_error(inputs: Json, expected: Json) -> None:
    children, root = tree(inputs)
    transactions = rows(inputs)
    calls: dict[str, Callable[[], object]] = {
        "hghs": lambda: ref.hghs(children, root, transactions, 1, 2),
        "mhghs": lambda: ref.mhghs(children, root, transactions, 1, 2),
        "aa": lambda: ref.apriori(children, root, transactions, 1, 2),
        "lg": lambda: ref.partition(children, root, transactions, 1),
        "clump": lambda: ref.clump(children, root, transactions, 1),
    }
    assert expected["error"] == "unknown_item"
    for name in set(calls) & set(inputs["algorithms"]):
        with pytest.raises(ref.UnknownItem) as caught:
            calls[name]()
        assert caught.value.items == expected["items"]


CHECKS = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}
COVERED = goldens.of_kind(*CHECKS)


@each("case", COVERED)
def test_golden(case: Json) -> None:
    CHECKS[case["kind"]](case["inputs"], case["expected"])


# --- the references against each other -----------------------------------------------------------------------------


def random_transactions(rng: random.Random, items: list[str], most: int = 8) -> list[list[str]]:
    """A few transactions, some of them repeated, some empty."""
    result: list[list[str]] = []
    for _ in range(rng.randint(0, most)):
        again = bool(result) and rng.random() < 0.3
        result.append(
            list(rng.choice(result)) if again else [i for i in items if rng.random() < rng.choice([0.2, 0.5])]
        )
    return result


def random_taxonomy(rng: random.Random) -> tuple[dict[str, list[str]], str]:
    """Up to seven leaves, joined at random; single children occur."""
    roots = [f"i{n}" for n in range(rng.randint(1, 7))]
    children: dict[str, list[str]] = {}
    for n in range(20):
        if len(roots) == 1 and n:
            break
        node, below = f"N{n}", rng.sample(roots, min(len(roots), rng.choice([1, 2, 2, 3])))
        children[node] = below
        roots = [r for r in roots if r not in below] + [node]
    if len(roots) > 1:
        children["root"] = roots
        roots = ["root"]
    return children, roots[0]


@each("seed", range(150))
def test_anonymity_checks_agree(seed: int) -> None:
    rng = random.Random(seed)
    items = list("abcdef")[: rng.randint(1, 6)]
    transactions, k = random_transactions(rng, items), rng.randint(1, 4)
    longest = max(map(len, transactions), default=0)
    by_definition = ref.is_km_anonymous(transactions, k, math.inf)
    assert by_definition == (ref.count_rare_transactions(transactions, k) == 0)
    assert by_definition == ref.is_km_anonymous(transactions, k, max(1, longest))
    assert by_definition == (not ref.pgen(transactions, k))
    if ref.is_transactional_k_anonymous(transactions, k):
        assert by_definition
    for m in (1, 2, 3, math.inf):
        largest = [x for t in transactions for x in ref.supported_itemsets([t], m) if len(x) == min(m, len(t))]
        assert ref.is_km_anonymous(transactions, k, m) == all(ref.support(x, transactions) >= k for x in largest)
        minimal = ref.minimal_threats(transactions, k, m)
        assert all(any(set(y) <= set(x) for y in minimal) for x in ref.threats(transactions, k, m))
    pairs = ref.implicit_constraints(items, 2)
    if len(items) >= 2:
        held = all(ref.constraint_satisfied(transactions, p, k) for p in pairs)
        assert held == ref.is_km_anonymous(transactions, k, 2)


@each("seed", range(150))
def test_constraint_checks_agree(seed: int) -> None:
    rng = random.Random(seed)
    items = list("abcdef")
    transactions, k = random_transactions(rng, items), rng.randint(1, 4)
    image = {i: rng.choice(["A", "B", "C", i, None]) for i in items if rng.random() < 0.7}
    released = [{image.get(i, i) for i in t} - {None} for t in transactions]
    published = [[g for g in t if g is not None] for t in released]
    constraint = rng.sample([*items, "z"], rng.randint(1, 5))
    verdict = ref.constraint_satisfied(published, constraint, k, image)
    assert verdict == ref.constraint_satisfied_polynomial(published, constraint, k, image)


@each("seed", range(80))
def test_hghs_properties(seed: int) -> None:
    rng = random.Random(seed)
    children, root = random_taxonomy(rng)
    transactions = random_transactions(rng, ref.leaves(children, root))
    k, m = rng.randint(1, 3), rng.choice([1, 2, 3, math.inf])
    over_cuts = ref.minimal_threats_over_cuts(children, root, transactions, k, m)
    union = set()
    for cut in ref.all_cuts(children, root):
        assert ref.is_cut(children, root, cut)
        mined = ref.minimal_threats(ref.generalize(children, transactions, cut), k, m)
        assert mined == [x for x in over_cuts if set(x) <= cut]
        union |= set(mined)
    assert union == set(over_cuts)
    members = ref.taxonomy_members(children, root)
    for result in (ref.hghs(children, root, transactions, k, m), ref.mhghs(children, root, transactions, k, m)[-1]):
        assert ref.is_cut(children, root, result.cut)
        assert ref.is_km_anonymous(result.published, k, m)
        assert result.cost == ref.lm_total(transactions, result.published, members, len(members[root]))
    one = ref.hghs(children, root, transactions, k, 1)
    assert [one] == ref.mhghs(children, root, transactions, k, 1)


@each("seed", range(80))
def test_coat_properties(seed: int) -> None:
    rng = random.Random(seed)
    items = list("abcdef")
    transactions, k = random_transactions(rng, items), rng.randint(1, 4)
    cuts = sorted(rng.sample(range(1, 6), rng.randint(0, 3)))
    utility = [items[a:b] for a, b in zip([0, *cuts], [*cuts, 6], strict=True)]
    m = rng.choice([1, 2, 3, math.inf])
    for result, power in (
        (ref.coat(transactions, k, None, utility, m=m), m),
        (ref.coat(transactions, k, ref.pgen(transactions, k), utility), math.inf),
    ):
        image = {i: "".join(b) for b in result.blocks for i in b}
        published = [["".join(b) for b in t] for t in result.published]
        assert ref.is_km_anonymous(published, k, power)
        assert [sorted({image[i] for i in t if i in image}) for t in transactions] == published
        assert ref.utility_satisfied(result.blocks, result.suppressed, utility, items, 100)
        assert sorted([*image, *result.suppressed]) == items


@each("seed", range(60))
def test_originals_and_bounds(seed: int) -> None:
    rng = random.Random(seed)
    items = list("abcde")
    labels = {i: rng.choice(["A", "B", None]) for i in items}
    originals = random_transactions(rng, items, 4)
    published = [{g for i in t if (g := labels[i]) is not None} for t in originals]
    seen = {g for t in published for g in t}
    members = {g: [i for i in items if labels[i] == g] for g in seen}
    lost = any(labels[i] is None for t in originals for i in t)
    suppression = "some" if lost else "none"
    shown = {i: g for g, below in members.items() for i in below}
    for release in published:
        by_definition = {
            o
            for o in [frozenset[str](), *ref.nonempty_subsets(items)]
            if {shown[i] for i in o if i in shown} == release and (lost or o <= set(shown))
        }
        assert by_definition == set(ref.consistent_originals(release, members, items, suppression))
    query = set(rng.sample(items, 2))
    low, high = ref.true_bounds(published, members, items, suppression, lambda o: query <= o)
    assert low <= ref.support(query, originals) <= high
    assert ref.estimate(published, members, query) <= high
    if not lost:
        weighed = sum(
            (
                Fraction(sum(query <= o for o in choices), len(choices))
                for choices in (ref.consistent_originals(t, members, items, "none") for t in published)
            ),
            Fraction(0),
        )
        assert weighed == ref.estimate(published, members, query)


@each("seed", range(60))
def test_baselines(seed: int) -> None:
    rng = random.Random(seed)
    children, root = random_taxonomy(rng)
    transactions = random_transactions(rng, ref.leaves(children, root))
    k, m = rng.randint(1, 3), rng.choice([1, 2, math.inf])
    if len(transactions) >= k:
        for ties in ("label", "breadth_first"):
            for leftover in ("fill", "whole"):
                published = ref.partition(children, root, transactions, k, leftover, ties)
                assert ref.is_transactional_k_anonymous(published, k)
        result = ref.clump(children, root, transactions, k)
        assert sorted(n for c in result.clusters for n in c.members) == list(range(len(transactions)))
        for cluster in result.clusters:
            assert len(cluster.members) >= k
            bags = [transactions[n] for n in cluster.members]
            assert len(cluster.label) == min(map(len, bags))
            stepwise: tuple[str, ...] = tuple(bags[0])
            for bag in bags[1:]:
                stepwise = ref.lcg(children, root, [stepwise, bag])
            assert tuple(sorted(stepwise)) == cluster.label
    if 0 < sum(map(bool, transactions)) < k:
        with pytest.raises(ref.Infeasible):
            ref.apriori(children, root, transactions, k, m)
    else:
        cut = ref.apriori(children, root, transactions, k, m)
        assert ref.is_cut(children, root, cut)
        assert ref.is_km_anonymous(ref.generalize(children, transactions, cut), k, m)
