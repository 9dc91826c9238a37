"""What leaves ``make test`` is in ``make check`` or in ``make nightly``."""

from __future__ import annotations

from typing import Any

from portions import parts, portions, some


def marks(parameter: Any) -> set[str]:
    return {mark.name for mark in parameter.marks}


def test_every_seed_is_in_one_portion() -> None:
    found = portions(7, 30, 101, first=1000)
    assert [seed for p in found for seed in p.values[0]] == list(range(1000, 1101))
    assert [seed for p in found if not marks(p) for seed in p.values[0]] == list(range(1000, 1007))
    assert [seed for p in found if marks(p) == {"slow"} for seed in p.values[0]] == list(range(1007, 1013))
    assert [seed for p in found if marks(p) == {"nightly"} for seed in p.values[0]] == list(range(1013, 1101))
    assert len({p.id for p in found}) == len(found)
    assert [p.values[0] for p in portions(3)] == [range(3)] and not any(map(len, (portions(0),)))


def test_every_value_is_there_once() -> None:
    found = some([("a", 1), ("b", 2)], ("b", 2), ids=lambda pair: pair[0])
    assert [(p.values, marks(p), p.id) for p in found] == [(("a", 1), {"slow"}, "a"), (("b", 2), set(), "b")]
    assert [marks(p) for p in some("abc", "b", check=["c"])] == [{"nightly"}, set(), {"slow"}]
    assert [marks(p) for p in some("abcdefg", "b")] == [{"slow"}, set(), *[{"nightly"}] * 5]


def test_every_case_is_in_one_part() -> None:
    some_cases, others = parts([*range(7)])
    assert (some_cases.values[0], others.values[0]) == ([0, 3, 6], [1, 2, 4, 5])
    assert (marks(some_cases), marks(others)) == (set(), {"slow"})
