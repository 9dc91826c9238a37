"""The golden cases of ``tests/golden``: exact inputs and expected values, by kind. A missing file fails whoever reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

Case = dict[str, Any]

FOLDER = Path(__file__).parent / "golden"
COUNTS = {
    "baselines": 8,
    "clump": 7,
    "coat": 11,
    "hghs": 15,
    "item_supports": 13,
    "multi_anatomy": 9,
    "rum_tum_bound": 20,
    "small": 29,
}  # the cases of each file


def _read(name: str) -> list[Case]:
    cases: list[Case] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["cases"]
    if len(cases) != COUNTS[name]:
        raise ValueError(f"tests/golden/{name}.json has {len(cases)} cases instead of {COUNTS[name]}")
    return cases


CASES: list[Case] = [case for name in COUNTS for case in _read(name)]


def of_kind(*kinds: str) -> list[Case]:
    """The cases of the kinds; there is at least one."""
    cases = [c for c in CASES if c["kind"] in kinds]
    if not cases:
        raise LookupError(f"no golden case of kind {' or '.join(kinds)}")
    return cases


def named(name: str) -> Case:
    """The one case with this id."""
    (case,) = (c for c in CASES if c["id"] == name)
    return case


def params(kind: str) -> list[Any]:
    """Inputs and expected values of the cases of a kind, for ``pytest.mark.parametrize``."""
    return [pytest.param(c["inputs"], c["expected"], id=c["id"]) for c in of_kind(kind)]
