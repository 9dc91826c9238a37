from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from each import each

from anondb.errors import InputError
from anondb.models import MAX_PARAMETER, check_count
from anondb.models.transactional import KmAnonymity

NO_INTEGERS: list[Any] = [
    2.5, "5", True, False, math.nan, None, 1e3, 5.0, Decimal(5), Fraction(5), 5j, [5], b"5", np.float64(5), np.bool_(True),
    np.array(5.5), "inf", -math.inf,
]  # fmt: skip


@each("value", [0, -1, 10**30, -(10**30), MAX_PARAMETER + 1, np.int64(0), *NO_INTEGERS])
def test_k_and_m_that_are_refused(value: Any) -> None:
    for make in (lambda: KmAnonymity(k=value), lambda: KmAnonymity(m=value)):
        with pytest.raises(InputError) as caught:
            make()
        assert (caught.value.code, caught.value.exit_code) == ("bad_parameter", 2)
        assert "must be an integer from 1 to 2147483647" in str(caught.value)


def test_a_number_too_long_to_be_shown() -> None:
    with pytest.raises(InputError):
        KmAnonymity(k=10**5000)


@each("value", [1, 5, MAX_PARAMETER, np.int64(5), np.uint8(200)])
def test_exact_integers_are_accepted(value: Any) -> None:
    model = KmAnonymity(k=value, m=value)
    assert (model.k, model.m) == (int(value), int(value))
    assert type(model.k) is int and type(model.m) is int


@pytest.mark.parametrize("infinity", [math.inf, np.inf, np.float32("inf")], ids=repr)
def test_m_may_be_infinite_and_k_may_not(infinity: Any) -> None:
    assert KmAnonymity(m=infinity).m == math.inf
    with pytest.raises(InputError):
        KmAnonymity(k=infinity)


def test_defaults_and_parameters() -> None:
    assert KmAnonymity() == KmAnonymity(5, 2) and KmAnonymity().name == "km"
    assert KmAnonymity(3, 4).parameters() == {"k": 3, "m": 4}
    assert KmAnonymity(np.int64(3), math.inf).parameters() == {"k": 3, "m": "inf"}


def test_models_are_values() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        KmAnonymity().k = 3  # type: ignore[misc]
    assert len({KmAnonymity(5, 2), KmAnonymity(), KmAnonymity(5, math.inf)}) == 2


def test_check_count_names_the_parameter() -> None:
    assert check_count("witnesses", np.int32(7)) == 7
    with pytest.raises(InputError, match=r"witnesses must be .* not 'x'"):
        check_count("witnesses", "x")
