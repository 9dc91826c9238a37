"""Draws the holders of members in other worlds, which differ from those of estimates as plausible tables do.

The numbers of holders are drawn anew (``holders``); so is, for each world, how much those hold more who show more released
items: the number of released items has a power between 0 and 2. Members meet in blocks, as items that go together do: ranks
follow one random order of the transactions, and members are first holders in a random order, without a further permutation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from anondb.answers.drawing import Sets
from anondb.answers.expected import Ints
from anondb.answers.files import File, of_worlds, place
from anondb.answers.hashing import BASKETS, MEMBERS, POWER, SHIFT, h, hashed
from anondb.answers.holders import drawn_holders
from anondb.engine import NamedRows, load

POWERS = place("powers")


class OtherSets(Sets):
    """Draws the holders of members in the other worlds of files of sets."""

    def _holders(self, file: File) -> Ints:
        return drawn_holders(file, self._numbers)

    def _lengths_of(self, files: Sequence[File]) -> exp.Query:
        """An order of the transactions for each world, and their weights."""
        seed = files[0].facts.seed
        power = (h(self._numbers, 0, POWER + seed) + 0.5) / 2**31
        worlds = {"world": ("BIGINT", self._numbers), "power": ("DOUBLE", power)}
        powers = self._desk.put(of_worlds(POWERS, int(self._numbers[0])), worlds)
        lengths = NamedRows("answers/lengths", {"rows": self.rows}, {})
        arguments = load("answers/orders").bind({"lengths": lengths, "powers": powers}, {"salt": BASKETS + seed})
        orders = hashed(arguments, ["ordering", "tid", "weight"])
        return exp.select("ordering", "tid", exp.column("h").as_("place"), "weight").from_(orders.subquery("orders"))

    def _upto(self, some: Ints, of: Ints, n: Ints) -> Ints:
        numbered = self._numbered
        turn = h((some - numbered.first[some])[:, None], self._numbers, MEMBERS + numbered.seed[some, None])
        order = np.lexsort((turn, np.broadcast_to(of[:, None], n.shape)), axis=0)
        upto = np.empty_like(n)
        np.put_along_axis(upto, order, super()._upto(some, of, np.take_along_axis(n, order, axis=0)), axis=0)
        return upto

    def _ranks(self, label: Ints, support: Ints, seed: Ints) -> tuple[Ints, Ints, Ints]:
        return self._numbers, np.ones_like(support), h(label, self._numbers, SHIFT + seed) % support
