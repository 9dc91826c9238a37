"""k^m-anonymity against an attacker who knows original items, whatever level they are published at."""

from __future__ import annotations

import math
import random

import pytest
import reference as ref
from portions import portions
from properties.trees import random_tree
from reference_baselines import itemsets_across_levels

from anondb.engine import Engine
from anondb.models.transactional import KmAnonymity
from anondb.promises.spec import Subject
from anondb.promises.stated import KM
from anondb.verify import Verification
from anondb.verify.km import verify_levels


def verified(
    engine: Engine, published: list[set[str]], members: dict[str, list[str]], model: KmAnonymity, witnesses: int = 0
) -> Verification:
    labels = sorted({x for t in published for x in t})
    rows = [(tid, labels.index(x)) for tid, t in enumerate(published, 1) for x in sorted(t)]
    pairs = [(label, item) for label in labels for item in members[label]]
    with engine.transaction():
        return verify_levels(
            engine,
            engine.put("case_rows", {"tid": ("INTEGER", [t for t, _ in rows]), "item": ("INTEGER", [i for _, i in rows])}),
            engine.put("case_items", {"item": ("INTEGER", range(len(labels))), "label": ("VARCHAR", labels)}),
            engine.put(
                "case_members",
                {"released_item": ("VARCHAR", [r for r, _ in pairs]), "item": ("VARCHAR", [i for _, i in pairs])},
            ),
            model,
            witnesses=witnesses,
        )


def check(engine: Engine, seed: int) -> bool:
    """Any published table whose released items do not overlap within a transaction; returns whether the checks differ."""
    rnd = random.Random(seed)
    children, root = random_tree(rnd, 6)
    published = []
    for _ in range(rnd.randint(0, 8)):
        cut = rnd.choice(list(ref.all_cuts(children, root))[:200])
        published.append({node for node in cut if rnd.random() < 0.5})
    published *= rnd.choice([1, 1, 2, 3])
    k, m = rnd.randint(2, 4), rnd.choice([1, 2, 3, math.inf])
    wanted = itemsets_across_levels(children, root, published, k, m)
    found = verified(engine, published, ref.taxonomy_members(children, root), KmAnonymity(k, m), 99)
    assert found.verified == (not wanted), (published, k, m)
    if m != math.inf:
        assert {w.items for w in found.witnesses} <= set(wanted)
    by_labels = ref.is_km_anonymous(published, k, m)
    assert not by_labels or found.verified  # no threat by labels, none across levels
    return by_labels != found.verified


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(7, night=2240))
def test_random(engine: Engine, seeds: range) -> None:
    differ = [check(engine, seed) for seed in seeds]
    assert any(differ) and not all(differ)


def test_the_difference(engine: Engine) -> None:
    """By labels, `apple` is alone; whoever knows the apple cannot tell it from two that show `Fruit`."""
    members = {"apple": ["apple"], "Fruit": ["apple", "pear"], "beef": ["beef"]}
    published = [{"apple"}, {"Fruit"}, {"Fruit"}]
    assert verified(engine, published, members, KmAnonymity(3, 1)).violations == 1  # two may hold a pear
    assert verified(engine, published, members, KmAnonymity(2, 1)).verified
    assert not ref.is_km_anonymous(published, 2, 1)
    found = verified(engine, [*published, {"beef"}], members, KmAnonymity(2, 2), 9)
    assert [(w.items, w.support) for w in found.witnesses] == [(("beef",), 1)]


def test_a_local_release_has_to_pass_both_checks(engine: Engine) -> None:
    """An apple between two fruits: no threat across levels, but a label that only one transaction shows."""
    members = [("apple", "apple"), ("Fruit", "apple"), ("Fruit", "pear")]
    with engine.transaction():
        rows = engine.put("case_rows", {"tid": ("INTEGER", [1, 2, 3]), "item": ("INTEGER", [0, 1, 1])})
        labels = engine.put("case_items", {"item": ("INTEGER", [0, 1]), "label": ("VARCHAR", ["apple", "Fruit"])})
        released = engine.put(
            "case_members",
            {"released_item": ("VARCHAR", [r for r, _ in members]), "item": ("VARCHAR", [i for _, i in members])},
        )
        checked = KM.verify(Subject(engine, rows, labels, released_items=released, local=True), KmAnonymity(2, 1), 0)
    assert (checked.verified, checked.violations, checked.across_levels) == (False, 1, 0)
