"""The occurrences of a dataset as arrays of taxonomy leaves, read in pieces of whole transactions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.algorithms.hghs.extended import Extended
from anondb.engine import reads

Piece = tuple[npt.NDArray[Any], npt.NDArray[Any]]
"""The leaves of some transactions, in preorder within each, and where each transaction begins."""

FETCHED = 2_000_000  # occurrences of one fetch, if transactions have the same length


class Occurrences:
    """Non-empty transactions as leaves, in the order of tid: in memory if they fit, else fetched for each pass."""

    nbytes = 0  # of those that are kept

    def __init__(self, extended: Extended, most_bytes: int) -> None:
        self._extended = extended
        dataset = extended.dataset
        self._leaf = np.uint16 if extended.taxonomy.size <= 1 << 16 else np.int32
        whole = np.dtype(self._leaf).itemsize * dataset.n_occurrences + 4 * dataset.non_empty
        if whole <= most_bytes:
            self.nbytes = whole
        self._held: list[Piece] | None = None
        self._several = False

    def pieces(self, most: int) -> Iterator[Piece]:
        """All transactions, in pieces of about ``most`` occurrences (more only if one transaction has more)."""
        for leaf, begin in self._read():
            at = 0
            while at < len(begin):
                end = max(at + 1, int(np.searchsorted(begin, begin[at] + most)))
                stop = begin[end] if end < len(begin) else len(leaf)
                yield leaf[begin[at] : stop], (begin[at:end] - begin[at]).astype(np.int64)
                at = end

    def leave_out_singles(self) -> None:
        """From now on, read only transactions of two and more items."""
        self._several = True
        if self._held is not None:
            self._held = [_with_several_items(*piece) for piece in self._held]

    def _read(self) -> Iterator[Piece]:
        if self._held is not None:
            yield from self._held
        elif self.nbytes:
            self._held = list(self._fetch())
            yield from self._held
        else:
            yield from self._fetch()

    def _fetch(self) -> Iterator[Piece]:
        """Fetch the occurrences in ranges of tid."""
        engine, dataset, leaves = self._extended.engine, self._extended.dataset, self._extended.leaves
        columns = {"item": ("INTEGER", np.arange(len(leaves))), "node": ("INTEGER", leaves)}
        nodes = engine.put("item_leaves", columns)
        step = max(1, FETCHED * dataset.n_transactions // max(dataset.n_occurrences, 1))
        for first in range(1, dataset.n_transactions + 1, step):
            part = exp.column("tid", "one").between(first, first + step - 1)
            held = reads.joined(
                dataset.transactions, nodes, "item", "one.tid, other.node", where=part, order="tid, node"
            )
            rows = engine.fetch(held, most=dataset.n_occurrences)
            leaf = rows["node"].astype(self._leaf, copy=False)
            piece = leaf, np.flatnonzero(np.diff(rows["tid"], prepend=0)).astype(np.int32)
            yield _with_several_items(*piece) if self._several else piece
        engine.drop(nodes)


def _with_several_items(leaf: npt.NDArray[Any], begin: npt.NDArray[Any]) -> Piece:
    """The transactions of two and more items."""
    length = np.diff(begin, append=len(leaf))
    several = length > 1
    kept = length[several]
    return leaf[np.repeat(several, length)], np.cumsum(kept, dtype=np.int32) - kept
