"""What each released item adds to a sum over the items of a person."""

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

MAX_KEPT = 8  # sums of a release

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Members:
    """The members of all released items.

    Attributes:
        labels: the released items.
        starts: where the members of each begin.
        items: the members of one after the other.
    """

    labels: list[str]
    starts: Array
    items: list[str]

    @classmethod
    def of(cls, release: Opened) -> Members:
        """The members of a release."""
        sizes = np.array(list(release.sizes.values()), dtype=np.int64)
        return cls(list(release.sizes), np.cumsum(sizes) - sizes, release.listed)


def summed(release: Opened, weights: Weights) -> Summed:
    """What the released items of a transaction add to a sum, and what suppressed ones may; the last sums are kept.

    Args:
        release: the release.
        weights: the weight of each item.

    Raises:
        InputError: ``unsupported_query`` for bags, whose items repeat.
    """
    kept = release.summed.pop(weights, None)
    if kept is None:
        if release.bags is not None:
            raise unsupported("a sum over the items of a bag", "Use count(DISTINCT id).")
        kept = _summed(release, weights)
    release.summed[weights] = kept
    if len(release.summed) > MAX_KEPT:
        del release.summed[next(iter(release.summed))]
    return kept


def _summed(release: Opened, weights: Weights) -> Summed:
    """The least and the greatest value that each released item adds, where a member has a weight."""
    if weights.kind != SUM:
        return _merged(release, weights)
    members = release.listed_members
    numbers = _numbers(release, weights, members.items)
    if not len(numbers):
        return Summed([], {name: np.zeros(0) for name in Size._fields}, *hidden(release, weights), error=weights.error)
    starts = members.starts
    least, greatest = np.minimum.reduceat(numbers, starts), np.maximum.reduceat(numbers, starts)
    low = np.where(least < 0, np.add.reduceat(np.minimum(numbers, 0.0), starts), least)
    high = np.where(greatest > 0, np.add.reduceat(np.maximum(numbers, 0.0), starts), greatest)
    counted = np.flatnonzero((least != 0) | (greatest != 0))
    labels = [members.labels[n] for n in counted.tolist()]
    shares = {"least": low[counted], "greatest": high[counted]}
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
    columns = shares_of(weights.kind, numbers, members.starts)
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
