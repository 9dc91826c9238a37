from __future__ import annotations

import math
import tomllib
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from each import each

from anondb.algorithms import METHODS
from anondb.errors import InputError
from anondb.models import count_or_infinity
from anondb.models.named import MODELS, make_model, nearest
from anondb.models.transactional import KmAnonymity, TransactionalK
from anondb.options import flags_of, policy_of, toml_of
from anondb.policy import Policy, Workload, choose_algorithm

parse_m = count_or_infinity("m")


def shown(value: Any) -> str:
    return "huge" if isinstance(value, int) and abs(value) > 10**40 else repr(value)[:20]


def refused(make: Any, code: str = "bad_parameter") -> str:
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.code == code and len(str(caught.value)) < 300
    return str(caught.value)


# ---------------------------------------------------------------------- models by name


def test_make_model() -> None:
    assert make_model() == KmAnonymity(5, 2)
    assert make_model("km", k=3, m="4") == KmAnonymity(3, 4)
    assert make_model("km", m="inf") == make_model("km", m=" Infinity ") == KmAnonymity(5, math.inf)


@pytest.mark.parametrize("name", ["KM", "kn", "", "x"])
def test_unknown_models_list_those_that_there_are(name: str) -> None:
    text = refused(lambda: make_model(name), "unknown_model")
    assert all(m in text for m in MODELS)


@each("text", ["", "x", "2.5", "1e3", "--1", "nan", "1_0", "0x5", "9" * 31, "9" * 5000, "1 2"])
def test_m_that_is_no_integer(text: str) -> None:
    refused(lambda: parse_m(text))


@each("given, m", [("3", 3), (" +3 ", 3), ("-3", -3), (3, 3), (math.inf, math.inf), (2.5, 2.5)])
def test_parse_m(given: Any, m: Any) -> None:
    assert parse_m(given) == m


def test_m_out_of_range_is_the_models_to_refuse() -> None:
    for text in ("0", "-3", "2147483648"):
        refused(lambda text=text: make_model(m=text))
    for value in (2.5, True, None):
        refused(lambda value=value: make_model(m=value))


def test_nearest() -> None:
    assert nearest("mhgsh", ["hghs", "mhghs"]) == " Did you mean 'mhghs'?"
    assert nearest("quite different", ("hghs",)) == ""


# ---------------------------------------------------------------------- the policy


def policy(**options: Any) -> Policy:
    model = options.pop("model", KmAnonymity())
    return policy_of("sales", {"taxonomy": "food", **options}, model=model)


def test_defaults() -> None:
    made = policy()
    assert (made.model, made.algorithm, made.id, made.item) == (KmAnonymity(5, 2), "mhghs", "tid", "item")
    assert made.max_suppression is None and made.workload == Workload(1000, 2, 0, "all") and not made.replace
    assert made.ledger_options() == {"k": 5, "m": 2, "max_suppression": None, "taxonomy": "food"}


def test_algorithms() -> None:
    for name in (n for n, a in METHODS.items() if "km" in a.models):
        assert policy(algorithm=name).algorithm == name
    for wrong in ("caot", "MHGHS", 5, ["hghs"]):
        assert "mhghs, hghs, coat" in refused(lambda wrong=wrong: policy(algorithm=wrong), "unknown_algorithm")


def test_models_and_columns() -> None:
    for wrong in ("km", None, KmAnonymity, 5):
        refused(lambda wrong=wrong: Policy("sales", model=wrong, taxonomy="food"))
    for column in ("id", "item"):
        for wrong in ("", None, 5):
            refused(lambda column=column, wrong=wrong: policy(**{column: wrong}), "empty_name")
    assert policy(taxonomy=None).algorithm == "coat"
    for name in ("mhghs", "hghs"):
        refused(lambda name=name: policy(taxonomy=None, algorithm=name), "no_taxonomy")
        refused(lambda name=name: policy(algorithm=name, literal=True), "bad_usage")


@each(
    "given, percent",
    [
        (0, 0),
        (100, 100),
        ("100", 100),
        (" 12.5 ", Fraction(25, 2)),
        (12.5, Fraction(25, 2)),
        (0.1, Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("1e1", 10),
        (np.float64(5), 5),
        (np.int64(5), 5),
        (Fraction(1, 3), Fraction(1, 3)),
        (-0.0, 0),
    ],
)
def test_percentages(given: Any, percent: Any) -> None:
    made = policy(max_suppression=given)
    assert made.max_suppression == percent
    assert made.ledger_options()["max_suppression"] == str(Fraction(percent))


@each(
    "given",
    [
        -1, 101, "-1", "100.1", "x", "", "5%", "1/0", math.nan, math.inf, -math.inf, "nan", "inf", True, False, [5], b"5",
        5j,
        Decimal("Infinity"), "1e999999999", "1e-999999999", "9" * 5000, 10**5000, -(10**5000), 1e300, "1E+99999999999",
    ],
)  # fmt: skip
def test_no_percentages(given: Any) -> None:
    assert "percentage from 0 to 100" in refused(lambda: policy(max_suppression=given))


# ---------------------------------------------------------------------- workloads

NO_INTEGERS: list[Any] = [1.0, "1", True, None, math.nan, math.inf, [1], Decimal(1), np.float64(1)]


@each("name", ["queries", "size", "seed"])
@each("value", [-1, 10**30, 10**5000, *NO_INTEGERS])
def test_workloads_that_are_refused(name: str, value: Any) -> None:
    assert f"{name} must be an integer from" in refused(lambda: Workload(**{name: value}))


def test_workloads() -> None:
    made = Workload(np.int64(7), np.uint8(3), 2**63 - 1, "generalized")
    assert (made.queries, made.size, made.seed) == (7, 3, 2**63 - 1) and type(made.queries) is int
    refused(lambda: Workload(queries=-1))
    refused(lambda: Workload(size=0))
    assert Workload(seed=0).seed == 0
    for wrong in ("", "ALL", None, 5):
        refused(lambda wrong=wrong: Workload(draw=wrong))


def test_sensitive_items_go_with_the_models_that_are_about_them() -> None:
    given = {"sensitive": "secrets", "records": "people", "quasi_identifiers": "age", "delta": 1}
    for name in ("kkm", "klm"):
        assert choose_algorithm(make_model(name), None, given) in METHODS
    assert choose_algorithm(make_model("hkp"), None, {"sensitive": "secrets"}) == "mm"
    with pytest.raises(InputError, match="sensitive applies to the models hkp, kkm, klm, not to km"):
        choose_algorithm(make_model("km"), "mm", {"sensitive": "secrets"})


def test_options_that_are_not_set_are_no_options() -> None:
    for unset in ({"candidates": None}, {"literal": False}, {"spread": False, "objective": None}):
        assert policy(**unset).options == {}
    clumped = policy(model=TransactionalK(3), algorithm="clump", candidates=None)
    assert clumped.options == {} and clumped.method_options.candidates is None


def test_the_ledger_has_options_as_values() -> None:
    """``--option`` passes texts."""
    made = policy(model=TransactionalK(3), algorithm="clump", candidates="10", objective="increase")
    assert made.ledger_options() == {
        "k": 3, "max_suppression": None, "taxonomy": "food", "candidates": 10, "objective": "increase"
    }  # fmt: skip


def test_options_are_written_as_flags_and_in_files() -> None:
    options: dict[str, Any] = {
        "model": "km", "k": [5, 10], "m": "inf", "item_supports": False, "bag_input": True, "modelled_rows": False,
        "quasi_identifiers": ["age", "sex"], "accept": "one-item,rare-items", "taxonomy": None,
        "literal": True, "delta": 0.5,
    }  # fmt: skip
    assert " ".join(flags_of(options)) == (
        "--model km --k 5,10 --m inf --no-item-supports --bag-input --quasi-identifiers age,sex --accept one-item"
        " --accept rare-items --option literal=true --delta 0.5"
    )
    hostile = {
        "publish": 'a\n"b"\\\x7f\U0001f600\u202e',
        "k": 5,
        "delta": 0.5,
        "literal": True,
        "accept": ["x", "y"],
        "m": None,
    }
    read = tomllib.loads(toml_of(hostile))
    assert read == {name: value for name, value in hostile.items() if name != "m"} | {"accept": "x,y"}
