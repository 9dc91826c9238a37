"""Relational and transaction data: random cases against the naive references, step by step and end to end."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import inf

import numpy as np
import pytest
import reference
import rt_reference as naive
from each import each
from portions import portions
from properties.trees import random_tree
from rt_cases import TumOrder, item_sets, published, records_of, taxonomy_of
from rt_reference import Itemset, Schema

from anondb.algorithms.relational import bounds, btd
from anondb.algorithms.relational import cluster as clusters
from anondb.algorithms.relational.bounds import BoundViolated, rum_bound, tum_bound
from anondb.algorithms.relational.btd import BtdOrder
from anondb.algorithms.relational.cluster import cluster
from anondb.algorithms.relational.greedy import diversity_recoder
from anondb.algorithms.relational.items import ClusterRecoding, ItemSets, ItemTree, Recoder, ul, ul_exact
from anondb.algorithms.relational.rt import taxonomy_recoder
from anondb.algorithms.relational.sets import set_recoder
from anondb.data.generalization import Generalization
from anondb.engine import Engine
from anondb.errors import InfeasibleError
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.verify.relational import verify_kkm
from anondb.verify.result import SensitiveWitness

PLACES = {"all": ["north", "south", "far"], "north": ["a", "b"], "south": ["c"], "far": ["d", "e", "f"]}
FOOD = {"food": ["fruit", "drink", "u"], "fruit": ["p", "q", "r"], "drink": ["s", "t"]}


@pytest.fixture(autouse=True)
def as_if_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search few records as many are: in several blocks, and a few first clusters before all."""
    monkeypatch.setattr(clusters, "BLOCK", 2)
    monkeypatch.setattr(bounds, "_FIRST", 1)
    for name, value in {"_BOUND": 0, "_LONGEST": 2, "_FEW": 1}.items():
        monkeypatch.setattr(btd, name, value)


def draw(rng: random.Random, n: int) -> tuple[Schema, list[dict[str, object]], list[Itemset]]:
    """Records with a number, a place, a color, NULLs now and then; and their items, the last of which may be sensitive."""
    nulls = rng.random() < 0.5

    def value(known: list[object]) -> object:
        return None if nulls and rng.random() < 0.15 else rng.choice(known)

    ages: list[object] = [rng.randint(0, 12) for _ in range(rng.choice([1, 4, 9]))]
    rows = [
        {"age": value(ages), "place": value(["a", "b", "c", "d", "e", "f"]), "color": value(["red", "green", "blue"])}
        for _ in range(n)
    ]
    known = [a for r in rows if isinstance(a := r["age"], int)] or [0]
    colors = {r["color"] for r in rows}
    weights = rng.choice([None, {"age": Fraction(1, 2), "place": Fraction(1), "color": Fraction(0)}])
    low, high = min(known), max(known)
    schema = Schema(
        {"age": ("numeric", (low, max(high, low + 1))), "place": ("tree", PLACES, "all"), "color": ("set", colors)}, weights
    )
    if low == high and None not in [r["age"] for r in rows]:
        schema.attributes["age"] = ("numeric", (low, low + 1))
    items = ["p", "q", "r", "s", "t", "u"]
    share = rng.choice([0.2, 0.4, 0.6])
    return schema, rows, [frozenset(i for i in [*items, "y", "z"] if rng.random() < share) for _ in range(n)]


def as_lists(clusters: list[np.ndarray]) -> list[list[int]]:
    return sorted(c.tolist() for c in clusters)


def check_cluster(rng: random.Random) -> None:
    schema, rows, _ = draw(rng, rng.randint(1, 14))
    k = rng.randint(1, 5)
    measure = Generalization(records_of(schema, rows))
    if rng.random() < 0.2:
        measure.dtype = object  # what large denominators fall back to
    if len(rows) < k:
        with pytest.raises(InfeasibleError):
            cluster(measure, k)
        return
    found = cluster(measure, k)
    assert as_lists(found) == naive.cluster(schema, rows, k)
    costs = measure.costs(measure.groups(found)).tolist()
    assert [Fraction(c, measure.denominator) for c in costs] == [schema.group_ncp(rows, c.tolist()) for c in found]
    keys = measure.published(measure.groups(found))
    assert len(set(keys)) == len({schema.published(rows, c.tolist()) for c in found}) == len(found)


def tree_of(children: dict[str, list[str]], root: str, labels: list[str]) -> ItemTree:
    """The taxonomy of items with these labels, some of which may be in none."""
    tree = taxonomy_of(children, root)
    return ItemTree(tree, np.array([tree.node_of.get(label, -1) for label in labels], dtype=np.int64))


def recoders(rng: random.Random, transactions: list[Itemset], k: int, m: float, ell: int) -> tuple[str, Recoder, list[str]]:
    """A recoder by any name, and the sensitive items that it keeps apart."""
    kind = rng.choice(["sets", "taxonomy", "diverse sets", "diverse taxonomy"])
    sensitive = ["y", "z"]
    items, labels = item_sets(transactions, sensitive)
    tree = tree_of(FOOD, "food", labels)
    near = rng.choice([None, tree])
    if kind == "sets":
        return kind, set_recoder(items, k, m, near), sensitive
    if kind == "taxonomy":
        return kind, taxonomy_recoder(items, k, m, tree), sensitive
    if kind == "diverse sets":
        return kind, diversity_recoder(items, k, ell, m, near), sensitive
    return kind, diversity_recoder(items, k, ell, m, tree, subtrees=True), sensitive


def members_of(recoding: ClusterRecoding, labels: list[str], by_taxonomy: bool) -> dict[str, set[str]]:
    """The items that each generalized item stands for."""
    tree = taxonomy_of(FOOD, "food")
    found = {}
    for key in recoding.keys:
        if by_taxonomy:
            assert isinstance(key, int)
            found[str(key)] = {tree.labels[v] for v in tree.leaves(key).tolist()}
        else:
            assert isinstance(key, tuple)
            found[str(key)] = {labels[i] for i in key}
    return found


def check_recoders(rng: random.Random) -> None:
    _, _, transactions = draw(rng, rng.randint(1, 12))
    n = len(transactions)
    k, m, ell = rng.randint(1, 4), rng.choice([1, 2, 2, 3, inf]), rng.randint(1, 4)
    kind, recode, sensitive = recoders(rng, transactions, k, m, ell)
    _, labels = item_sets(transactions, sensitive)
    members = sorted(rng.sample(range(n), rng.randint(1, n)))
    recoding = recode(np.array(members))
    rows = [((), t) for t in published(recoding, members, transactions, labels, sensitive)]
    inside = [((), t) for _, t in rows]
    known = [t - set(sensitive) for _, t in inside]
    assert naive.km_holds(known, k, m)
    stands_for = members_of(recoding, labels, "taxonomy" in kind)
    assert sum(map(len, stands_for.values())) == len(set().union(*stands_for.values()))  # no item in two of them
    plain = [t - set(sensitive) for t in transactions]
    check_truthful(recoding, stands_for, members, plain, labels, known)
    if "diverse" in kind:
        assert not naive.klm_violations(inside, ell, m, sensitive)
    else:
        assert not recoding.lost
    sizes = [[len(stands_for[g]) for g in t] for t in known]
    lost = sum(bool(transactions[r] - set(sensitive)) and not t for r, t in zip(members, known, strict=True))
    assert ul_exact(recoding.profile) == sum(map(naive.ul_record, sizes), Fraction(lost))
    assert abs(ul(recoding.profile) - float(ul_exact(recoding.profile))) < 1e-9


def check_pcta(rng: random.Random) -> None:
    """T by sets is PCTA, with or without the weights of a taxonomy."""
    _, _, transactions = draw(rng, rng.randint(1, 12))
    children, root = random_tree(rng, 8)
    names = dict(zip("pqrstuyz", rng.sample(reference.leaves(children, root) * 8, 8), strict=True))
    transactions = [frozenset(names[i] for i in t) for t in transactions]
    k, m = rng.randint(1, 4), rng.choice([1, 2, 2, 3])
    items, labels = item_sets(transactions)
    if not labels or 0 < sum(map(bool, transactions)) < k or m >= max(map(len, transactions)):
        return
    tree = rng.choice([None, tree_of(children, root, labels)])

    def weight(block: Sequence[str]) -> int:
        below = [set(reference.leaves(children, v)) for v in reference.breadth_first(children, root)]
        return 1 if tree is None else min(len(b) for b in below if b >= set(block))

    recoding = set_recoder(items, k, m, tree)(np.arange(len(transactions)))
    constraints = reference.implicit_constraints(labels, min(m, len(labels)))
    wanted = reference.coat([sorted(t) for t in transactions], k, constraints, [labels], weight=weight)
    image = {i: b for b in wanted.blocks for i in b}
    found = {}
    for i, b in zip(recoding.items.tolist(), recoding.block.tolist(), strict=True):
        if b >= 0:
            found[labels[i]] = tuple(labels[j] for j in recoding.keys[b])  # type: ignore[union-attr]
    assert found == {i: tuple(sorted(b)) for i, b in image.items()}


def check_diverse_sets(rng: random.Random) -> None:
    """T for l^m-diversity by sets, for m <= 2, where no sensitive item has to be suppressed."""
    _, _, transactions = draw(rng, rng.randint(4, 14))
    items, labels = item_sets(transactions, ["y", "z"])
    k, ell, m = rng.randint(1, 4), rng.randint(1, 3), rng.choice([1, 2])
    public = [x for x in labels if x not in "yz"]
    tree = rng.choice([None, tree_of(FOOD, "food", labels)])
    below = [set(reference.leaves(FOOD, v)) for v in reference.breadth_first(FOOD, "food")]
    found = diversity_recoder(items, k, ell, m, tree)(np.arange(len(transactions)))
    if found.suppresses:
        return
    blocks = [{x} for x in public]

    def held(blocks: Sequence[set[str]], also: Itemset = frozenset()) -> int:
        return sum(all(b & t for b in blocks) and also <= t for t in transactions)

    def violates(x: Sequence[set[str]]) -> bool:
        return 0 < held(x) < k or any(held(x, frozenset(z)) * ell > held(x) for z in "yz")

    def loss(union: set[str]) -> int:
        weight = 1 if tree is None else min(len(b) for b in below if b >= union)
        return (2 ** len(union) - 1) * held([union]) * weight

    while bad := next((x for size in range(1, m + 1) for x in combinations(blocks, size) if violates(x)), None):
        rarest = min(bad, key=lambda b: held([b]))
        others = [b for b in blocks if b is not rarest]
        if not others:
            return  # all recodings are tried
        blocks = [b for b in others if b is not (other := min(others, key=lambda b: loss(b | rarest)))]
        blocks = sorted([*blocks, other | rarest], key=min)
    assert [{labels[i] for i in key} for key in found.keys if isinstance(key, tuple)] == blocks


def check_apriori(rng: random.Random) -> None:
    """T by a taxonomy is AA on the cluster: the cut of the reference, as far as items of the cluster lie below it."""
    _, _, transactions = draw(rng, rng.randint(1, 12))
    transactions = [t - {"y", "z"} for t in transactions]
    k, m = rng.randint(1, 4), rng.choice([1, 2, 2, 3, inf])
    items, labels = item_sets(transactions)
    if not labels or 0 < sum(map(bool, transactions)) < k:
        return
    tree = taxonomy_of(FOOD, "food")
    recode = taxonomy_recoder(items, k, m, tree_of(FOOD, "food", labels))
    members = sorted(rng.sample(range(len(transactions)), rng.randint(1, len(transactions))))
    inside = [transactions[r] for r in members]
    if not any(inside) or sum(map(bool, inside)) < k:
        return
    found = recode(np.array(members))
    cut = reference.apriori(FOOD, "food", inside, k, m)
    wanted = {c for c in cut if any(set(reference.leaves(FOOD, c)) & t for t in inside)}
    assert {tree.labels[key] for key in found.keys if isinstance(key, int)} == wanted


def check_bounds(rng: random.Random) -> tuple[list[tuple[object, Itemset]], int, float]:
    """Both frameworks against the references; what they release, and k and m."""
    schema, rows, transactions = draw(rng, rng.randint(4, 14))
    k, m, delta = rng.randint(1, 3), rng.choice([1, 2]), Fraction(rng.randint(0, 20), 20)
    measure = Generalization(records_of(schema, rows))
    if len(rows) < k:
        return [], k, m
    start = cluster(measure, k)
    items, labels = item_sets(transactions)
    recode = set_recoder(items, k, m)
    by, exact = rng.choice(("r", "t", "rt")), rng.random() < 0.5
    order = TumOrder(recode, start) if exact else BtdOrder(items, start)

    def near(members: list[int]) -> Fraction:
        if exact:
            return ul_exact(recode(np.array(sorted(members))).profile) / len(members)
        return naive.btd([transactions[r] for r in members])

    def tum(members: list[int]) -> Fraction:
        return ul_exact(recode(np.array(members)).profile)

    lists = [c.tolist() for c in start]
    every: list[tuple[object, Itemset]] = []
    for relational in (True, False):
        order = TumOrder(recode, start) if exact else BtdOrder(items, start)
        try:
            if relational:
                found = as_lists(rum_bound(measure, start, delta, by, order))
            else:
                found = as_lists(tum_bound(measure, start, delta, by, recode, order))
        except BoundViolated as error:
            found = None
            if relational:
                assert error.smallest == naive.rum(schema, rows, lists)
        if relational:
            assert found == naive.rum_bound(schema, rows, lists, delta, by, near)
        else:
            assert found == naive.tum_bound(schema, rows, lists, delta, by, near, tum)
        if found is not None:
            released: list[tuple[object, Itemset]] = []
            for members in found:
                recoding = recode(np.array(members))
                sets = published(recoding, members, transactions, labels, [])
                values = schema.published(rows, members)
                check_truthful(recoding, members_of(recoding, labels, False), members, transactions, labels, sets)
                released += [((relational, by, exact, values), s) for s in sets]
            assert not naive.kkm_violations(released, k, m)
            every += released
    return every, k, m


def check_truthful(
    recoding: ClusterRecoding,
    stands_for: dict[str, set[str]],
    members: list[int],
    transactions: list[Itemset],
    labels: list[str],
    sets: list[Itemset],
) -> None:
    """Each published set is the image of its original: every item but the suppressed ones is in it, and nothing else."""
    gone = {labels[i] for i, b in zip(recoding.items.tolist(), recoding.block.tolist(), strict=True) if b < 0}
    for r, t in zip(members, sets, strict=True):
        assert transactions[r] - gone <= set().union(*(stands_for[g] for g in t))
        assert all(stands_for[g] & transactions[r] for g in t)


@each("check", [check_cluster, check_recoders, check_pcta, check_diverse_sets, check_apriori])
@pytest.mark.parametrize("seeds", portions(11, 58, 4000))
def test_steps(check: object, seeds: range) -> None:
    assert callable(check)
    for seed in seeds:
        try:
            check(random.Random(seed))
        except AssertionError as error:
            raise AssertionError(f"case {seed}: {error}") from error


@pytest.mark.parametrize("seeds", portions(7, 54, 4000))
def test_bounds(engine: Engine, seeds: range) -> None:
    """Every step against the references, and all releases of the same k and m against the verifier together."""
    released: dict[tuple[int, float], list[tuple[object, Itemset]]] = {}
    for seed in seeds:
        try:
            rows, k, m = check_bounds(random.Random(seed))
        except AssertionError as error:
            raise AssertionError(f"case {seed}: {error}") from error
        released.setdefault((k, m), []).extend(((seed, v), t) for v, t in rows)
    for (k, m), rows in released.items():
        number_of = {v: i for i, v in enumerate(dict.fromkeys(v for v, _ in rows))}
        with engine.transaction():
            kept = put_rows(engine, [(number_of[v], t) for v, t in rows], [])
            assert verify_kkm(engine, *kept, KkmAnonymity(k, m)).verified
            more = naive.kkm_violations(rows, k + 1, m)
            assert verify_kkm(engine, *kept, KkmAnonymity(k + 1, m)).verified == (not more)


@each("by", ["r", "t", "rt"])
def test_losses_beyond_64_bits(by: str) -> None:
    """Of three long domains whose lengths have no divisor in common."""
    lengths = {"a": 10**15 + 37, "b": 10**9 + 7, "c": 998_244_353}
    schema = Schema({name: ("numeric", (0, length)) for name, length in lengths.items()})
    rng = random.Random(3)
    rows = [{name: rng.randint(0, length) for name, length in lengths.items()} for _ in range(30)]
    transactions = [frozenset(rng.sample("pqrstu", 3)) for _ in rows]
    measure, (items, _) = Generalization(records_of(schema, rows)), item_sets(transactions)
    start, delta = cluster(measure, 3), Fraction(4, 5)
    found = as_lists(rum_bound(measure, start, delta, by, BtdOrder(items, start)))
    wanted = naive.rum_bound(
        schema, rows, as_lists(start), delta, by, lambda members: naive.btd([transactions[r] for r in members])
    )
    assert found == wanted
    assert 1 < len(found) < len(start)


def many(rng: random.Random, n: int) -> tuple[Generalization, ItemSets]:
    """Records with two numbers and a color, and items of which a few are frequent."""
    rows = [{"x": rng.randint(0, 999), "y": rng.randint(0, 99), "color": rng.choice("abcdefgh")} for _ in range(n)]
    schema = Schema({"x": ("numeric", (0, 999)), "y": ("numeric", (0, 99)), "color": ("set", set("abcdefgh"))})
    sets = [{f"i{min(rng.randint(0, 60), rng.randint(0, 60)):02d}" for _ in range(rng.randint(0, 9))} for _ in range(n)]
    return Generalization(records_of(schema, rows)), item_sets(sets)[0]


@pytest.mark.slow
def test_no_search_leaves_out_what_it_looks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One block of all records, and first clusters that are all clusters, find the same."""
    measure, items = many(random.Random(5), 400)

    def found() -> list[list[list[int]]]:
        start = cluster(measure, 3)
        merged = (
            rum_bound(measure, start, Fraction(d, 10), by, BtdOrder(items, start)) for by in ("r", "t", "rt") for d in (5, 9)
        )
        return [as_lists(start), *map(as_lists, merged)]

    quick = found()
    monkeypatch.setattr(clusters, "BLOCK", 10**6)
    monkeypatch.setattr(bounds, "_FIRST", 10**6)
    assert found() == quick


@pytest.mark.slow
def test_cluster_looks_at_few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far from all pairs; twice as many records take less than three times as many."""
    pairs = Counter[int]()
    whole = Generalization.pair_costs

    def counted(self: Generalization, seed: int, rows: np.ndarray) -> np.ndarray:
        pairs[self.records.n] += len(rows)
        return whole(self, seed, rows)

    monkeypatch.setattr(clusters, "BLOCK", 32)
    monkeypatch.setattr(Generalization, "pair_costs", counted)
    for n in (1500, 3000):
        cluster(many(random.Random(7), n)[0], 5)
    assert 3 * pairs[1500] < 1500**2 / 10  # records left, in each of 300 steps
    assert pairs[3000] < 2.8 * pairs[1500]


def test_btd_of_one_record_is_one_at_most() -> None:
    items, _ = item_sets([frozenset("ab"), frozenset("ab"), frozenset("c")])
    order = BtdOrder(items, [np.array([0]), np.array([1]), np.array([2])])
    assert order.distances(0, np.array([1, 2])).tolist() == [1 / 3, 4.0]


def test_items_that_share_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more items than there are bits, records are told apart, too."""
    rng = random.Random(4)
    sets = [{f"i{min(rng.sample(range(400), 3))}" for _ in range(rng.randint(0, 7))} for _ in range(120)]
    items, _ = item_sets(sets)
    clusters = np.split(np.arange(120), np.sort(rng.sample(range(1, 120), 30)))
    found = []
    for words in (3, 16):
        monkeypatch.setattr(btd, "_WORDS", words)
        order = BtdOrder(items, clusters)
        found.append([order.first(seed, 5).tolist() for seed in range(31)])
        for seed in range(31):
            wanted = [float(naive.btd([frozenset(sets[r]) for r in (*clusters[seed], *c)])) for c in clusters]
            assert found[-1][seed] == sorted(set(range(31)) - {seed}, key=wanted.__getitem__)[:5]
    assert items.n_items > 64 * 3


@pytest.mark.parametrize("known", [3, 12, 400], ids="{}_items".format)
@pytest.mark.parametrize("near", [(0, 2, 1), (2, 5, 8)], ids=["few", "as_released"])
def test_first_by_btd(monkeypatch: pytest.MonkeyPatch, near: tuple[int, int, int], known: int) -> None:
    """Of clusters of any size, however many of their longest records are compared first."""
    rng = random.Random(known)
    for name, value in zip(("_BOUND", "_LONGEST", "_FEW"), near, strict=True):
        monkeypatch.setattr(btd, name, value)
    sets = [frozenset(f"i{rng.randrange(known)}" for _ in range(rng.choice([0, 1, 3, 9]))) for _ in range(90)]
    items, _ = item_sets(sets)
    clusters = dict(enumerate(np.split(np.arange(90), np.sort(rng.sample(range(1, 90), 13)))))
    order = BtdOrder(items, list(clusters.values()))
    while len(clusters) > 3:
        kept, gone = sorted(rng.sample(sorted(clusters), 2))
        seed, count = rng.choice([kept, gone]), rng.randint(1, len(clusters) - 1)
        wanted = {
            c: naive.btd([sets[r] for r in (*clusters[seed], *members)]) for c, members in clusters.items() if c != seed
        }
        assert order.first(seed, count).tolist() == sorted(wanted, key=lambda c: (wanted[c], c))[:count]
        order.merge(kept, gone)
        clusters[kept] = np.concatenate((clusters[kept], clusters.pop(gone)))


def test_not_monotone() -> None:
    """As docs/algorithms/models.md#not-monotone: raising a and b breaks what was 2-diverse; nothing need be raised."""
    sets = [frozenset(t) for t in ("az", "az", "ab", "ab", "bz", "bz", "", "")]
    for m in (1, 2, inf):
        assert not naive.klm_violations([((), s) for s in sets], 2, m, ["z"])
        items, labels = item_sets(sets, ["z"])
        tree = tree_of({"root": ["a", "b"]}, "root", labels)
        for recode in (diversity_recoder(items, 2, 2, m), diversity_recoder(items, 2, 2, m, tree, subtrees=True)):
            found = recode(np.arange(8))
            assert len(found.keys) == 2


@pytest.mark.parametrize("seeds", portions(4, 9, 400))
def test_verifier(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        _, _, transactions = draw(rng, rng.randint(1, 12))
        classes = rng.randint(1, 3)
        rows: list[tuple[object, Itemset]] = [(rng.randrange(classes), t) for t in transactions]
        k, m, ell = rng.randint(1, 4), rng.choice([1, 2, 3]), rng.randint(1, 3)
        sensitive = rng.choice([[], ["y"], ["y", "z"]])
        with engine.transaction():
            kept = put_rows(engine, rows, sensitive)
            found = verify_kkm(engine, *kept, KkmAnonymity(k, m), witnesses=1000)
            wanted = naive.minimal_kkm(rows, k, m, sensitive)
            assert found.violations == len(wanted), seed
            assert sorted((w.items, w.support) for w in found.witnesses) == sorted(
                (tuple(sorted(x)), naive.class_support(rows, v, x)) for v, x in wanted
            ), seed
            without = verify_kkm(engine, *kept, KkmAnonymity(k, inf))
            assert without.verified == (not naive.kkm_violations(rows, k, inf, sensitive)), seed
            diverse = verify_kkm(engine, *kept, KlmDiversity(k, ell, m), witnesses=1000)
            exposed = naive.klm_violations(rows, ell, m, sensitive)
            assert diverse.violations == len(wanted) + len(exposed), seed
            assert sorted((w.items, w.sensitive) for w in diverse.witnesses if isinstance(w, SensitiveWitness)) == sorted(
                (tuple(sorted(x)), z) for _, x, z in exposed
            ), seed


def put_rows(engine: Engine, rows: list[tuple[object, Itemset]], sensitive: list[str]) -> tuple:
    labels = sorted({i for _, t in rows for i in t})
    pairs = [(r, labels.index(i)) for r, (_, t) in enumerate(rows, 1) for i in sorted(t)]
    return (
        engine.put("case_rows", {"tid": ("INTEGER", [p[0] for p in pairs]), "item": ("INTEGER", [p[1] for p in pairs])}),
        engine.put(
            "case_classes", {"tid": ("INTEGER", range(1, len(rows) + 1)), "class": ("INTEGER", [v for v, _ in rows])}
        ),
        engine.put("case_items", {"item": ("INTEGER", range(len(labels))), "label": ("VARCHAR", labels)}),
        engine.put("case_sensitive", {"item": ("INTEGER", [labels.index(z) for z in sensitive if z in labels])}),
    )
