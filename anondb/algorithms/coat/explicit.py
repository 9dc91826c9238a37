"""Listed privacy constraints of COAT, from the owner or from Pgen.

The support of a constraint's image never falls: merging and suppressing only add transactions. A constraint with support k
stays satisfied. For the others an upper bound of the support is kept, and the support is computed only when the bound comes
first in the order of choice. A satisfied constraint of support 0 can become unsatisfied: an item that is merged with one
outside the constraint gains the transactions of that item.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from anondb.algorithms.coat.blocks import Blocks
from anondb.engine.arrays import Ints, Ints32, places_of, run_starts

_MANY = 64  # more constraints than this are evaluated together
_DONE = -1  # satisfied: permanently by support k, or by support 0 until an item of it changes


class Explicit:
    """Listed privacy constraints over the blocks before the first merge; satisfied ones have a support of at least k. The
    items of constraint i are ``item[start[i] : start[i + 1]]``, each once; none is empty."""

    def __init__(self, blocks: Blocks, k: int, start: Ints, item: Ints, ids: Sequence[str]) -> None:
        self._blocks, self._k, self._ids = blocks, k, ids
        self._start, self._item = start, item
        n = len(start) - 1
        self._settled = np.zeros(n, dtype=np.bool_)
        self._exact = np.zeros(n, dtype=np.bool_)
        rarest = np.minimum.reduceat(blocks.support[item], start[:-1]) if n else np.empty(0, dtype=np.int64)
        self._level: Ints = np.minimum(rarest, k - 1)
        owner = np.repeat(np.arange(n, dtype=np.int32), np.diff(start))
        self._constraints_of: list[Ints32] = [owner[places] for places in places_of(item, blocks.n)]
        self._both = np.zeros(n, dtype=np.bool_)
        self.chosen = -1

    def choose(self) -> tuple[Ints, int] | None:
        """The items of the unsatisfied constraint with the largest support (tie: input order), and that support."""
        level, exact = self._level, self._exact
        while len(level):
            top = int(level[int(level.argmax())])
            if top == _DONE:
                return None
            first = np.flatnonzero(level == top)
            is_exact = exact[first]
            if is_exact.any():
                first = first[: int(is_exact.argmax()) + 1]
            if len(first) > _MANY:
                self._evaluate_pairs(first[~exact[first]], top)
            for i in first.tolist():
                if not exact[i] and level[i] == top:
                    self._evaluate(i, top)
                if exact[i] and level[i] == top:
                    self.chosen = i
                    return self._item[self._start[i] : self._start[i + 1]], top
        return None

    def _evaluate_pairs(self, constraints: Ints, bound: int) -> None:
        """Do the same as ``_evaluate`` for all constraints of two items in two blocks. One row of co-occurrences per block
        is enough: for each pair, that of the block that changed last."""
        blocks = self._blocks
        constraints = constraints[self._start[constraints + 1] - self._start[constraints] == 2]
        a = blocks.block_of[self._item[self._start[constraints]]]
        b = blocks.block_of[self._item[self._start[constraints] + 1]]
        two = (a >= 0) & (b >= 0) & (a != b)
        constraints, a, b = constraints[two], a[two], b[two]
        if not bound:  # a bound of 0: the supports are 0
            few = ((blocks.support[[a, b]] > 0) & (blocks.support[[a, b]] < self._k)).any(axis=0)
            self._exact[constraints] = few
            self._level[constraints[~few]] = _DONE
            return
        later = blocks.born[a] > blocks.born[b]
        a, b = np.where(later, a, b), np.where(later, b, a)
        order = np.argsort(a, kind="stable")
        constraints, a, b = constraints[order], a[order], b[order]
        bounds = [*run_starts(a).tolist(), len(a)]
        supports = np.empty(len(a), dtype=np.int64)
        for low, high in pairwise(bounds):
            supports[low:high] = blocks.row(int(a[low]))[b[low:high]]
        done = supports >= self._k
        self._settled[constraints] = done
        self._level[constraints] = np.where(done, _DONE, supports)
        self._exact[constraints] = (supports > 0) & ~done

    def _evaluate(self, i: int, bound: int) -> None:
        """Compute the support of a constraint or, with a bound of 0, whether its parts hold."""
        blocks = self._blocks.image(self._item[self._start[i] : self._start[i + 1]])
        support = self._blocks.support_of(blocks) if bound and blocks else 0
        if not blocks or support >= self._k:
            self._settled[i] = True
            self._level[i] = _DONE
        elif support or not bound:  # a bound of 0: the support is 0
            self._exact[i] = support > 0 or not self._blocks.holds(blocks, 0, self._k)
            self._level[i] = support if self._exact[i] else _DONE
        else:
            self._level[i] = 0

    def support(self, blocks: list[int]) -> int:
        """The support of the chosen constraint's image."""
        return self._blocks.support_of(blocks) if blocks else 0

    def merged(self, kept: int, gone: int, support_kept: int, support_gone: int) -> None:
        """Record that two blocks became one, which has the number ``kept``."""
        with_kept, with_gone = self._constraints_of[kept], self._constraints_of[gone]
        support = int(self._blocks.support[kept])
        self._both[with_kept] = True
        double = self._both[with_gone]
        self._both[with_kept] = False
        shared, fresh = with_gone[double], with_gone[~double]
        self._raise(with_kept, support - support_kept)
        self._raise(fresh, support - support_gone)
        self._raise(shared, support - support_gone)  # in addition: a transaction may have lacked either block
        self._constraints_of[kept] = np.concatenate((with_kept, fresh))
        self._constraints_of[gone] = np.empty(0, dtype=np.int32)

    def suppressed(self, block: int) -> None:
        """Record that a block was suppressed, which leaves its constraints one condition less."""
        self._raise(self._constraints_of[block], self._k)
        self._constraints_of[block] = np.empty(0, dtype=np.int32)

    def _raise(self, constraints: Ints32, gain: int) -> None:
        """Raise the bounds of these constraints, whose supports may gain ``gain`` transactions."""
        open_ = constraints[~self._settled[constraints]]
        before = np.maximum(self._level[open_], 0)
        self._level[open_] = np.minimum(before + gain, self._k - 1)
        self._exact[open_] &= (before > 0) & (gain == 0)

    def name(self, items: Ints) -> str:
        """The name of the chosen constraint in messages, with its id."""
        return f"privacy constraint {self._ids[self.chosen]!r}"
