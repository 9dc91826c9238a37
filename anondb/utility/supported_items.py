"""Answers on a release with item supports, by the rules of its macro ``count_bounds``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anondb.utility.published import Published

if TYPE_CHECKING:
    from anondb.engine import Columns

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class SupportedItems(Published):
    """The distinct published transactions with item supports.

    Attributes:
        bounds: for a released item and an item of the data, at least and at most how many transactions that show the one
            hold the other.
        support, excess, share: of each released item, the number s of transactions that show it, the sum of all upper
            bounds of its members less s, and its weight.
        suppressed: of a global recoding, whether something was suppressed; None for a local recoding.
    """

    bounds: dict[tuple[int, int], tuple[int, int]]
    support: Ints
    excess: Ints
    share: npt.NDArray[np.float64]
    suppressed: bool | None

    @classmethod
    def of(cls, published: Published, members: Columns, suppressed: bool | None) -> SupportedItems:
        """Add the rows of ``utility/supported_members``."""
        support = np.asarray([published.weight[place].sum() for place, _ in published.holders], dtype=np.int64)
        released, at_most = members["released"].astype(np.int64), members["at_most"].astype(np.int64)
        single = published.sizes[released] == 1
        at_least = np.where(at_most >= 0, members["at_least"], np.where(single, support[released], 0))
        at_most = np.where(at_most >= 0, at_most, support[released])
        total = np.bincount(released, weights=at_most, minlength=len(support)).astype(np.int64)
        share = np.ones(len(support))
        share[released] = members["weight"]
        pairs = zip(released.tolist(), members["item"].tolist(), strict=True)
        bounds = dict(zip(pairs, zip(at_least.tolist(), at_most.tolist(), strict=True), strict=True))
        known: dict[str, Any] = {f.name: getattr(published, f.name) for f in fields(Published)}
        return cls(**known, bounds=bounds, support=support, excess=total - support, share=share, suppressed=suppressed)

    def answer(self, items: list[int]) -> tuple[int, float, int]:
        """Lower bound, estimate and upper bound of the number of transactions that hold all of ``items``."""
        local = self.suppressed is None
        known = [item for item in items if self.covers.get(item)]
        if len(known) < len(items) and (local or not self.suppressed):
            return 0, 0.0, self.hidden if local else 0
        if not known:
            return 0, 0.0, int(self.weight.sum())
        place, shown = self.shown(known)
        low, middle, high = 0, 0.0, 0
        covers, which = np.unique(np.stack(shown, axis=1), axis=0, return_inverse=True)
        for number, cover in enumerate(covers.tolist()):
            rows = place[which.ravel() == number]
            visible = rows[self.complete[rows]] if local else rows
            least, expected, most = self._of_cover(known, cover, int(self.weight[rows].sum()))
            low, middle, high = low + least, middle + expected, high + min(most, int(self.weight[visible].sum()))
        if len(known) < len(items):
            return 0, 0.0, high
        if local:
            totals = [sum(self.bounds[released, item][1] for released in self.covers[item]) for item in items]
            high = min(high, *totals) + self.hidden
        return low, min(max(middle, low), high), high

    def _of_cover(self, items: list[int], cover: list[int], n: int) -> tuple[int, float, int]:
        """The same for the n transactions that show these released items, one for each item."""
        low, middle, high = n, float(n), n
        queried: dict[int, int] = {}
        for item, released in zip(items, cover, strict=True):
            least, most = self.bounds[released, item]
            s = int(self.support[released])
            low, high = low - (s - least), min(high, most)
            middle *= (least + most) / (2 * s)
            queried[released] = queried.get(released, 0) + 1
        for released, number in queried.items():
            if number > 1:
                high = min(high, int(self.excess[released]) // (number - 1))
                middle *= float(self.share[released]) ** (number - 1)
        return max(low, 0), middle, high
