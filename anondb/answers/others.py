"""Draws the holders of members in other worlds, which differ from those of estimates as plausible tables do.

The numbers of holders are drawn anew (``holders``); so is, for each world, how much those hold more who show more released
items: the number of released items has a power between 0 and 2. Members meet in blocks, as items that go together do: ranks
follow one random order of the transactions, and members are first holders in a random order, without a further permutation.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from anondb.answers.drawing import Sets, in_order
from anondb.answers.files import File
from anondb.answers.hashing import BASKETS, MEMBERS, POWER, SHIFT, h, uniform
from anondb.answers.holders import drawn_holders
from anondb.engine.arrays import Floats, Ints


class OtherSets(Sets):
    """Draws the holders of members in the other worlds of files of sets."""

    def _holders(self, file: File) -> Ints:
        return drawn_holders(file, self._numbers)

    @cached_property
    def _weights(self) -> Floats:
        power = 2 * uniform(self._numbers, 0, POWER + self._seed)
        return np.asarray(super()._weights ** power[:, None])

    def _ordered(self, of: Ints, tid: Ints) -> Ints:
        places = (h(tid, world, BASKETS + self._seed).astype(np.float64) for world in self._numbers)
        return np.stack([tid[in_order(of, place, tid)] for place in places])

    def _upto(self, members: Ints, of: Ints, n: Ints) -> Ints:
        numbered = self._numbered
        turn = h((members - numbered.first[members])[:, None], self._numbers, MEMBERS + numbered.seed[members, None])
        order = np.lexsort((turn, np.broadcast_to(of[:, None], n.shape)), axis=0)
        upto = np.empty_like(n)
        np.put_along_axis(upto, order, super()._upto(members, of, np.take_along_axis(n, order, axis=0)), axis=0)
        return upto

    def _turned(self, label: Ints, support: Ints, seed: Ints) -> tuple[Ints, Ints]:
        return np.ones_like(support), h(label, self._numbers, SHIFT + seed) % support
