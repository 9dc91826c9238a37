"""Numbers of items, and values of items as bits of numbers, from the rows of a query on the session's database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from math import fsum
from operator import add
from typing import Any

from anondb.query.item_tests import ANY_ITEM
from anondb.query.predicates import Weights
from anondb.query.refusals import too_complex, unsupported
from anondb.query.summed import MAX, MAX_VALUES, MIN, ROUNDED, SUM, VALUES

MAX_WEIGHT = 10**12
EXACT = 1 << 20  # numbers of whole multiples of its inverse add up without rounding


def values_of(values: Sequence[tuple[str, Any]]) -> Weights:
    """The different values of items as the bits of numbers.

    Raises:
        InputError: ``query_too_complex``: there are too many.
    """
    bits = {value: 1 << n for n, value in enumerate(dict.fromkeys(value for _, value in values))}
    if len(bits) > MAX_VALUES:
        raise too_complex(f"a person may have more than {MAX_VALUES} different values")
    by_item: dict[str, int] = {}
    for item, value in values:
        by_item[item] = by_item.get(item, 0) | bits[value]
    return Weights(ANY_ITEM, tuple(sorted((item, float(of)) for item, of in by_item.items())), kind=VALUES)


def type_of_sum(kind: str) -> str:
    """The SQL type of a sum of values of a type; "" for sums of whole numbers and of truth values."""
    if kind.startswith("DECIMAL("):
        return f"DECIMAL(38{kind[kind.index(',') :]}"
    return "DOUBLE" if kind in ("DOUBLE", "FLOAT") else ""


def weights_of(values: Sequence[tuple[str, Any]], kind: str = SUM) -> Weights:
    """Numbers of items: decimal ones as multiples of their smallest unit; how much sums of others may be rounded.

    An item with several rows has the sum of their numbers, or the greatest or the least.

    Raises:
        InputError: ``unsupported_query`` for other values than numbers, and for numbers that are too large.
    """
    digits = 0
    for _, value in values:
        if not isinstance(value, int | float | Decimal):
            raise unsupported("the sum of values that are not numbers")
        if not abs(float(value)) <= MAX_WEIGHT:
            raise unsupported("the sum of numbers that are too large")
        if isinstance(value, Decimal):
            digits = max(digits, -int(value.as_tuple().exponent))
    scale = 10 ** min(digits, 3)
    by_item: dict[str, float] = {}
    together: Callable[[float, float], float] = {MAX: max, MIN: min}.get(kind, add)
    for item, value in values:
        number = float(value * scale)
        by_item[item] = together(by_item[item], number) if item in by_item else number
    exact = all((weight * EXACT).is_integer() for weight in by_item.values())
    error = 0.0 if exact else ROUNDED * fsum(map(abs, by_item.values()))
    return Weights(ANY_ITEM, tuple(sorted(by_item.items())), scale, error, kind)
