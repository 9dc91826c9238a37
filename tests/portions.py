"""Random cases in portions: a sample in ``make test``, the others in ``make check`` or ``make nightly``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

BATCHES = 4  # of what the night has

FEWEST = 10  # seeds of a batch

PART = 4  # ``make check`` takes one of so many seeds that a test has for it beside those of ``make test``

ONE_IN = 20  # of the values that ``make test`` leaves ``make check`` takes


def parts(cases: Sequence[Any], step: int = 3) -> list[Any]:
    """Parameters that are lists of cases of one rule: every ``step``-th, and the others, which are marked slow."""
    others = [case for n, case in enumerate(cases) if n % step]
    return [pytest.param(cases[::step], id="some"), pytest.param(others, id="others", marks=pytest.mark.slow)]


def portions(quick: int, check: int = 0, night: int = 0, *, first: int = 0) -> list[Any]:
    """Parameters that are ranges of seeds, from ``first`` on.

    Args:
        quick: how many seeds ``make test`` takes, in one range.
        check: how many it has in all; ``make check`` takes one of ``PART`` of the others, marked slow and in one range.
        night: how many there are in all with those of ``make nightly``.
        first: the first seed.
    """
    found = [pytest.param(range(first, first + quick), id=f"{first}-{first + quick}")] if quick else []
    done = quick
    night, check = max(night, check), quick + math.ceil(max(check - quick, 0) / PART)
    for until, mark in ((check, pytest.mark.slow), (night, pytest.mark.nightly)):
        rest = max(until - done, 0)
        # A test may state what holds of many cases.
        batches = 1 if mark is pytest.mark.slow else min(BATCHES, max(rest // max(quick, FEWEST), 1))
        ends = [done + rest * (n + 1) // batches for n in range(batches)]
        for begin, end in zip([done, *ends], ends, strict=False):
            if end > begin:
                found.append(
                    pytest.param(range(first + begin, first + end), marks=mark, id=f"{first + begin}-{first + end}")
                )
        done += rest
    return found


def some(
    values: Iterable[Any], *quick: Any, check: Sequence[Any] | None = None, ids: Callable[[Any], str] | None = None
) -> list[Any]:
    """All values as parameters; those that are not among ``quick`` are marked slow, or for the night.

    Args:
        values: the values; a tuple of them is the values of several parameters.
        quick: what ``make test`` takes.
        check: what ``make check`` takes besides; by default one of ``ONE_IN`` others.
        ids: makes the id of a value.
    """
    known = list(values)
    if check is None:
        check = [value for value in known if value not in quick][::ONE_IN]
    assert quick and all(value in known for value in [*quick, *check])
    found = []
    for value in known:
        late = pytest.mark.slow if value in check else pytest.mark.nightly
        marks = [] if value in quick else [late]
        parts = value if isinstance(value, tuple) else (value,)
        found.append(pytest.param(*parts, marks=marks, id=None if ids is None else ids(value)))
    return found
