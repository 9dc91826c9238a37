"""The blocks of each utility constraint by size, those of the least support first.

The loss of a union is (2^size - 1) x support. Of the blocks of one size that share no transaction with a given block, the
one of the least support (tie: by label) is therefore the best to merge it with.
"""

from __future__ import annotations

import heapq
import math
from bisect import insort

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
_NEAR = 1e-6  # above the error of logarithms
_Heap = list[tuple[int, int, int]]  # (support, smallest item, block), also of blocks that have changed since


class Companions:
    """The blocks by utility constraint, size and support.

    Args:
        group: utility constraint of each item, numbered from 0.
        support: support of each item; initially, each item is a block.
    """

    def __init__(self, group: Ints, support: Ints) -> None:
        n = len(group)
        self._group: list[int] = group.tolist()
        self._size = [1] * n  # of each block, 0 if dead
        self._heaps: list[dict[int, _Heap]] = [{} for _ in range(int(group.max()) + 1 if n else 0)]
        self._sizes: list[list[int]] = [[1] for _ in self._heaps]  # those with a heap, ascending
        for item in np.argsort(support, kind="stable").tolist():  # a sorted list is a heap
            self._heaps[self._group[item]].setdefault(1, []).append((int(support[item]), item, item))

    def put(self, block: int, size: int, support: int, least: int) -> None:
        """Record that a block has grown."""
        self._size[block] = size
        group = self._group[block]
        heap = self._heaps[group].get(size)
        if heap is None:
            heap = self._heaps[group][size] = []
            insort(self._sizes[group], size)
        heapq.heappush(heap, (support, least, block))

    def remove(self, block: int) -> None:
        """Record that a block is dead."""
        self._size[block] = 0

    def first(self, block: int, support: int) -> tuple[list[int], float]:
        """The first other blocks of the utility constraint of ``block``, one of each size, and a bound for the best one.

        Any union has at least the support of each part, and its loss at least doubles for each item. So a block whose
        size + log2(support) is above the bound, which the first of the least size gives, is not the best.

        Args:
            block, support: the block, and its support.
        """
        group, found, bound = self._group[block], [], math.inf
        for size in self._sizes[group].copy():
            if size + _log2(support) > bound:
                break
            heap = self._heaps[group][size]
            top = self._top(heap, size, block)
            if top is not None:
                bound = min(bound, size + _log2(support + top[0]) + _NEAR)
                if size + _log2(top[0]) <= bound:
                    found.append(top[2])
            elif not heap:
                del self._heaps[group][size]
                self._sizes[group].remove(size)
        return found, bound

    def _top(self, heap: _Heap, size: int, block: int) -> tuple[int, int, int] | None:
        """The first entry of a living block other than ``block``."""
        own = None
        while heap and (heap[0][2] == block or self._size[heap[0][2]] != size):
            entry = heapq.heappop(heap)
            if self._size[entry[2]] == size:
                own = entry
        top = heap[0] if heap else None
        if own is not None:
            heapq.heappush(heap, own)
        return top


def _log2(number: int) -> float:
    return math.log2(number) if number else -math.inf
