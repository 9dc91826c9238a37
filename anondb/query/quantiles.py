"""Quantiles over persons: the place of the number in the order of all numbers, and bounds of the number at this place.

**Bounds.** Every person has a number between two ends; some persons may be left out. The number at a place is at most v if
enough persons are at most v. If that holds for any choice, it holds for the one that counts every person whose lower end is
at most v, and of the others only those who cannot be left out: one person more moves the place by at most one. So the lower
bound is the least v for which it holds there; the upper bound is the mirror image. A quantile between two places lies
between their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from anondb.query.refusals import only, unsupported
from anondb.query.trees import bare

CONT, DISC = "quantile_cont", "quantile_disc"
QUANTILES = (exp.Median, exp.Quantile, exp.PercentileCont, exp.PercentileDisc)
Persons = tuple[float, int, bool]
"""A number, how many persons have it, and whether these count for certain."""


def quantile_of(call: exp.Expr) -> tuple[str, Fraction]:
    """The kind of a quantile, and its share of the persons, from 0 to 1.

    Raises:
        InputError: ``unsupported_query``: the share is not a number from 0 to 1.
    """
    if isinstance(call, exp.Median):
        only(call, "this")
        return CONT, Fraction(1, 2)
    only(call, "this", "expression", "quantile")
    share = bare(call.args.get("quantile") or call.expression)
    if not isinstance(share, exp.Literal) or share.is_string or not 0 <= Fraction(share.name) <= 1:
        raise unsupported("a quantile whose share is not a number from 0 to 1", "Ask for one quantile at a time.")
    return CONT if isinstance(call, exp.PercentileCont) else DISC, Fraction(share.name)


def one_by_one(call: exp.Expr) -> list[exp.Expr]:
    """The quantiles that a call with a list of shares asks for; none for other calls."""
    key = "quantile" if isinstance(call, exp.Quantile) else "expression"
    shares = call.args.get(key) if isinstance(call, QUANTILES) else None
    calls = []
    for share in shares.expressions if isinstance(shares, exp.Array) else ():
        calls.append(call.copy())
        calls[-1].set(key, share.copy())
    return calls


def places(kind: str, share: Fraction, number: int) -> tuple[int, int]:
    """The first and the last place, from 0, between which a quantile of so many numbers lies."""
    if kind == DISC:
        place = max(1, ceil(number * share)) - 1
        return place, place
    exact, rounded = (number - 1) * share, float(number - 1) * float(share)  # DuckDB computes the second one
    return max(min(floor(exact), floor(rounded)), 0), min(max(ceil(exact), ceil(rounded)), number - 1)


def bounds_of(kind: str, share: Fraction, least: Iterable[Persons], greatest: Iterable[Persons]) -> tuple[float, float]:
    """The least and the greatest quantile of some persons, of whom one is certain.

    Args:
        kind, share: the quantile.
        least, greatest: the least and the greatest numbers of the persons.
    """
    low = _first(sorted(least), lambda number: places(kind, share, number)[0] + 1)
    high = _first(sorted(greatest, reverse=True), lambda number: number - places(kind, share, number)[1])
    return low, high


def _first(ordered: Sequence[Persons], wanted: Callable[[int], int]) -> float:
    """The first number up to which, with everybody who may be left out, as many lie as are wanted."""
    number, before = sum(persons for _, persons, certain in ordered if certain), 0
    for place, (value, persons, certain) in enumerate(ordered):
        before += persons
        number += 0 if certain else persons
        last = place + 1 == len(ordered) or ordered[place + 1][0] != value
        if last and before >= wanted(number):
            return value
    raise AssertionError("all persons lie up to the last number")
