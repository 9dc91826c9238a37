"""Parameters of k^m-anonymity: exact integers within their range, and nothing else."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anondb.errors import InputError
from anondb.models import KmAnonymity


@pytest.mark.parametrize("k", [1, 5, 2**31 - 1, np.int64(5), np.uint8(5)])
def test_accepted(k: Any) -> None:
    model = KmAnonymity(k, k)
    assert (model.k, model.m) == (int(k), int(k)) and type(model.k) is int and type(model.m) is int
    assert model.parameters() == {"k": int(k), "m": int(k)}


@pytest.mark.parametrize("m", [math.inf, np.inf, np.float64("inf")])
def test_infinity(m: Any) -> None:
    assert KmAnonymity(2, m).m == math.inf and KmAnonymity(2, m).parameters() == {"k": 2, "m": "inf"}
    assert KmAnonymity(2, m) == KmAnonymity(2, math.inf)


BAD = [
    0,
    -1,
    2**31,
    10**30,
    2.5,
    5.0,
    1e3,
    "5",
    "",
    True,
    False,
    None,
    math.nan,
    -math.inf,
    [5],
    Decimal(5),
    Fraction(5),
]


@pytest.mark.parametrize("value", BAD, ids=repr)
@pytest.mark.parametrize("name", ["k", "m"])
def test_refused(name: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        KmAnonymity(**{name: value})
    assert caught.value.code == "bad_parameter" and caught.value.exit_code == 2
    assert str(caught.value).startswith(f"{name} must be an integer from 1 to 2147483647")
    assert repr(value) in str(caught.value)


def test_k_is_never_infinite() -> None:
    with pytest.raises(InputError):
        KmAnonymity(math.inf, 2)  # type: ignore[arg-type]


def test_defaults_and_frozen() -> None:
    assert KmAnonymity() == KmAnonymity(5, 2)
    with pytest.raises(AttributeError):
        KmAnonymity().k = 3  # type: ignore[misc]
