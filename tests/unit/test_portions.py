"""What leaves ``make test`` is in ``make check`` or in ``make nightly``."""

from __future__ import annotations

from typing import Any

from portions import portions, some


def marks(parameter: Any) -> set[str]:
    return {mark.name for mark in parameter.marks}


def test_every_seed_is_in_one_portion() -> None:
    found = portions(7, 30, 101, first=1000)
    assert [seed for p in found for seed in p.values[0]] == list(range(1000, 1101))
    assert [seed for p in found if not marks(p) for seed in p.values[0]] == list(range(1000, 1007))
    assert [seed for p in found if marks(p) == {"slow"} for seed in p.values[0]] == list(range(1007, 1030))
    assert [seed for p in found if marks(p) == {"nightly"} for seed in p.values[0]] == list(range(1030, 1101))
    assert len({p.id for p in found}) == len(found)
    assert [p.values[0] for p in portions(3)] == [range(3)] and not any(map(len, (portions(0),)))


def test_every_value_is_there_once() -> None:
    found = some([("a", 1), ("b", 2)], ("b", 2), ids=lambda pair: pair[0])
    assert [(p.values, marks(p), p.id) for p in found] == [(("a", 1), {"slow"}, "a"), (("b", 2), set(), "b")]
    assert [marks(p) for p in some("abc", "b", check=["c"])] == [{"nightly"}, set(), {"slow"}]
