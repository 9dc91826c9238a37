"""What each released item adds to a sum over the items of a person.

**The estimate** takes the item supports where the release has them: a member is in a released item as often as the middle of
its published bounds says. Without them all non-empty sets of members are equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.query.cached_release import Opened
from anondb.query.classes import Size
from anondb.query.merged import MAX_VALUES, SUM, VALUES, of_suppressed, shares_of
from anondb.query.predicates import Weights, finite, patterns
from anondb.query.refusals import unsupported
from anondb.query.summed import Summed

MARGIN = 1e-6  # shares that add up to hardly more than 1 leave one member at a time
STEPS = 40  # of the bisection
MAX_KEPT = 8  # sums of a release

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Members:
    """The members of all released items.

    Attributes:
        labels: the released items.
        starts: where the members of each begin.
        items: the members of one after the other.
        likely: how likely each is among those that its released item stands for, by the estimates.
    """

    labels: list[str]
    starts: Array
    items: list[str]
    likely: Array

    @classmethod
    def of(cls, release: Opened) -> Members:
        """The members of a release."""
        labels, sizes = list(release.sizes), np.array(list(release.sizes.values()), dtype=np.int64)
        likely = np.repeat(np.where(sizes == 1, 1.0, 0.5 / (1.0 - 0.5**sizes)), sizes)
        if "item_supports" in release.manifest:
            tables = {**release.tables(), "item_supports": release.schema.table("item_supports")}
            *keys, shares = (column.tolist() for column in release.engine.query("query/shares", tables).values())
            known = dict(zip(zip(*keys, strict=True), shares, strict=True))
            pairs = zip(np.repeat(np.arange(len(labels)), sizes).tolist(), release.listed, likely.tolist(), strict=True)
            likely = np.array([known.get((labels[n], item), share) for n, item, share in pairs], dtype=float)
        return cls(labels, np.cumsum(sizes) - sizes, release.listed, likely)


def summed(release: Opened, weights: Weights, *, spread: bool) -> Summed:
    """What the released items of a transaction add to a sum, and what suppressed ones may; the last sums are kept.

    Args:
        release: the release.
        weights: the weight of each item.
        spread: whether the variances are asked for, which take longer than all else; else they are 0.

    Raises:
        InputError: ``unsupported_query`` for bags, whose items repeat.
    """
    kept = release.summed.pop((weights, spread), None)
    if kept is None:
        if release.bags is not None:
            raise unsupported("a sum over the items of a bag", "Use count(DISTINCT id).")
        kept = _summed(release, weights, spread=spread)
    release.summed[weights, spread] = kept
    if len(release.summed) > MAX_KEPT:
        del release.summed[next(iter(release.summed))]
    return kept


def _summed(release: Opened, weights: Weights, *, spread: bool) -> Summed:
    """The least, expected and greatest value that each released item adds, and the variance, where a member has a weight."""
    if weights.kind != SUM:
        return _merged(release, weights)
    members = release.listed_members
    numbers = _numbers(release, weights, members.items)
    if not len(numbers):
        return Summed([], {name: np.zeros(0) for name in Size._fields}, *hidden(release, weights), error=weights.error)
    starts, likely = members.starts, members.likely

    def added(values: Array) -> Array:
        return np.add.reduceat(values, starts)

    least, greatest = np.minimum.reduceat(numbers, starts), np.maximum.reduceat(numbers, starts)
    low = np.where(least < 0, added(np.minimum(numbers, 0.0)), least)
    high = np.where(greatest > 0, added(np.maximum(numbers, 0.0)), greatest)
    whole, variance = added(numbers * likely), np.zeros(len(starts))
    mean = np.clip(whole, low, high)
    if spread:
        squares = added((numbers * likely) ** 2)
        second = added(numbers * numbers * likely) + _covered(likely, starts) * (whole**2 - squares)
        variance = np.maximum(second - mean**2, 0.0)
    columns = {"least": low, "mean": mean, "variance": variance, "greatest": high}
    counted = np.flatnonzero((least != 0) | (greatest != 0))
    labels = [members.labels[n] for n in counted.tolist()]
    shares = {name: column[counted] for name, column in columns.items()}
    return Summed(labels, shares, *hidden(release, weights), error=weights.error)


def _merged(release: Opened, weights: Weights) -> Summed:
    """What each released item adds to another number than a sum (``merged``), where a member has a weight."""
    members, passing = release.listed_members, release.passing([weights.test])
    weight = dict(weights.by_label or ())
    numbers = np.array([weight.get(i, nan) if passing.of(i)[0] else nan for i in members.items], dtype=float)
    low, high = hidden(release, weights)
    ends = min(weight.values(), default=0.0), max(weight.values(), default=0.0)
    if weights.kind == VALUES:
        ends = 0.0, float(MAX_VALUES)
    one = Summed([], {}, low, high, error=weights.error, kind=weights.kind, ends=ends)
    if not len(numbers):
        return replace(one, shares={name: np.zeros(0) for name in Size._fields})
    counted = np.flatnonzero(np.logical_or.reduceat(~np.isnan(numbers), members.starts))
    columns = shares_of(weights.kind, numbers, members.likely, members.starts)
    labels = [members.labels[n] for n in counted.tolist()]
    return replace(one, labels=labels, shares={name: column[counted] for name, column in columns.items()})


def _numbers(release: Opened, weights: Weights, items: list[str]) -> Array:
    """The weight of each of these items; 0 for those that do not count."""
    passing = release.passing([weights.test])
    if weights.by_label is None and not passing.special:
        return np.full(len(items), float(passing.usual[0]))
    weight = None if weights.by_label is None else dict(weights.by_label)
    special, usual = passing.special, passing.usual
    return np.array(
        [special.get(item, usual)[0] * (1.0 if weight is None else weight.get(item, 0.0)) for item in items],
        dtype=float,
    )


def _covered(likely: Array, starts: Array) -> Array:
    """For each released item the probability r of at least one member, where each is there on its own with probability r
    times its share.

    Given that there is at least one, the shares are as in ``likely``, and two members are there with r times the product of
    their shares.
    """
    several = np.add.reduceat(likely, starts) > 1 + MARGIN
    sizes = np.diff(np.append(starts, len(likely)))
    low, high = np.zeros(len(starts)), np.ones(len(starts))
    for _ in range(STEPS):
        middle = (low + high) / 2
        above = 1 - np.multiply.reduceat(1 - likely * np.repeat(middle, sizes), starts) > middle
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(several, high, 0.0)


def hidden(release: Opened, weights: Weights) -> tuple[float, float]:
    """What suppressed items may add at least and at most to the sum of an incomplete transaction."""
    if not release.suppressed:
        return of_suppressed(weights.kind, ())
    labels = finite(weights.test)
    if weights.by_label is None:
        if labels is None:
            return 0.0, inf
        listed = dict.fromkeys(labels, 1.0)
    else:
        passing, matches = release.passing([weights.test]), bool(patterns(weights.test))
        listed = {
            label: weight
            for label, weight in weights.by_label
            if passing.of(label)[0]
            or (matches and label not in release.images)  # patterns are tried on listed items only
        }
    unseen = [w for label, w in listed.items() if release.differing or label not in release.images]
    low, high = of_suppressed(weights.kind, unseen)
    others = labels is None or any(label not in listed for label in labels)  # named ones may weigh any number, too
    return (low + weights.others[0], high + weights.others[1]) if others else (low, high)
