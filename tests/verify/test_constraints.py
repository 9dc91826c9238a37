from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import pytest
import reference as ref
from coat_cases import published_tables
from portions import portions, some

from anondb.engine import Engine, Table
from anondb.errors import BudgetExceeded
from anondb.models.transactional import ConstraintAnonymity
from anondb.verify import work
from anondb.verify.constraints import ConstraintVerification, verify_constraints, verify_utility


def _stated(engine: Engine, constraints: Sequence[Collection[str]]) -> Table:
    rows = [(f"p{n}", i) for n, p in enumerate(constraints) for i in sorted(set(p))]
    return engine.put(
        "stated", {"constraint_id": ("VARCHAR", [r[0] for r in rows]), "item": ("VARCHAR", [r[1] for r in rows])}
    )


def _verified(
    engine: Engine,
    transactions: Sequence[Collection[str]],
    image: Mapping[str, str | None],
    constraints: Sequence[Collection[str]],
    k: int,
    witnesses: int = 0,
) -> ConstraintVerification:
    with engine.transaction():
        tables = published_tables(engine, transactions, image)
        stated = _stated(engine, constraints)
        return verify_constraints(engine, *tables, stated, ConstraintAnonymity(k), witnesses=witnesses)


def _case(rng: random.Random) -> tuple[list[list[str]], dict[str, str | None], list[list[str]], int]:
    released = "PQRSTU"[: rng.randint(1, 6)]
    image: dict[str, str | None] = {i: rng.choice([*released, None]) for i in "abcdefghij"}
    transactions = [rng.sample(released, rng.randint(0, min(4, len(released)))) for _ in range(rng.randint(1, 14))]
    constraints = [rng.sample("abcdefghijz", rng.randint(1, 6)) for _ in range(rng.randint(1, 6))]
    return transactions, image, constraints, rng.randint(1, 4)


@pytest.mark.parametrize("seeds", portions(9, 48, 150))
def test_counts_what_the_definition_says(engine: Engine, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "CHUNK_ROWS", 40)
    for seed in seeds:
        transactions, image, constraints, k = _case(random.Random(seed))
        images = {**dict.fromkeys("abcdefghijz"), **image}
        unsatisfied = [n for n, p in enumerate(constraints) if not ref.constraint_satisfied(transactions, p, k, images)]
        found = _verified(engine, transactions, image, constraints, k, witnesses=3)
        assert (found.verified, found.violations) == (not unsatisfied, len(unsatisfied)), seed
        assert found.constraints == len(constraints)
        assert [w.constraint_id for w in found.witnesses] == [f"p{n}" for n in unsatisfied[:3]]
        for witness in found.witnesses:
            assert 0 < ref.support(witness.items, transactions) == witness.support < k
            q = ref.constraint_image(constraints[int(witness.constraint_id[1:])], images)
            assert set(witness.items) <= q


def test_a_corrupted_release_is_rejected(engine: Engine) -> None:
    release = [["ab", "c"]] * 3 + [["ab"]] * 2
    image = {"a": "ab", "b": "ab", "c": "c"}
    assert _verified(engine, release, image, [["a", "c"]], 3).verified
    assert not _verified(engine, release[1:], image, [["a", "c"]], 3).verified
    assert not _verified(engine, [*release, ["c", "d"]], {**image, "d": "d"}, [["a", "c", "d"]], 3).verified
    assert not _verified(engine, [*release, ["d"]], {**image, "d": "d"}, [["a", "d"]], 3).verified
    assert _verified(engine, [*release, ["d"]], image, [["a", "d"]], 3).verified


def test_json(engine: Engine) -> None:
    found = _verified(engine, [["x", "y"], ["x"]], {"a": "x", "b": "y"}, [["a", "b"], ["a"]], 2, witnesses=5)
    assert found.to_json(witnesses=True) == {
        "model": {"name": "constraints", "k": 2},
        "verified": False,
        "violations": 1,
        "constraints": 2,
        "witnesses": [{"constraint_id": "p0", "items": ["x", "y"], "support": 1}],
    }
    assert "witnesses" not in found.to_json()


def test_budget(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MAX_JOINED_ROWS", 1)
    with pytest.raises(BudgetExceeded):
        _verified(engine, [["x"], ["y"], ["x"]], {"a": "x", "b": "y"}, [["a", "b"]], 2)


@pytest.mark.parametrize("seed", some(range(25), *range(3)))
def test_utility_constraints(engine: Engine, seed: int) -> None:
    rng = random.Random(seed)
    items = "abcdefgh"
    image = {i: rng.choice(["P", "Q", "R", "S", None]) for i in items}
    pool = rng.sample(items, rng.randint(0, 8))
    groups = [pool[i::2] for i in range(2) if pool[i::2]]
    s = Fraction(rng.randint(0, 100))
    if seed % 3 == 0:  # just as many as allowed
        s = Fraction(100 * sum(image[i] is None for i in items), len(items))
    rest = [i for i in items if i not in pool]
    blocks = [tuple(i for i in items if image[i] == r) for r in "PQRS"]
    mixed = [b for b in blocks if b and not any(set(b) <= set(u) for u in [*groups, rest])]
    suppressed = [i for i in items if image[i] is None]
    with engine.transaction():
        _, _, mapping = published_tables(engine, [], image)
        rows = [(str(n), i) for n, g in enumerate(groups) for i in g]
        table = engine.put(
            "groups", {"group_id": ("VARCHAR", [r[0] for r in rows]), "item": ("VARCHAR", [r[1] for r in rows])}
        )
        originals = engine.put("originals", {"item": ("INTEGER", range(8)), "label": ("VARCHAR", [*items])})
        found = verify_utility(engine, originals, mapping, table, items=8, max_suppression=s)
    assert (found.mixed, found.suppressed) == (len(mixed), len(suppressed))
    assert found.verified == ref.utility_satisfied([b for b in blocks if b], suppressed, [*groups, rest], items, s)
    assert found.within_limit == (100 * len(suppressed) <= s * len(items))
    assert found.violations == found.mixed + (not found.within_limit)
