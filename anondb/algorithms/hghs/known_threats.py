"""The threats mined so far by the search of HgHs, and those of them that lie in the current cut."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from anondb.algorithms.hghs.threats import Threats

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]


class KnownThreats:
    """The known threats of two and more nodes.

    Each threat is a row of nodes in the order in which suppression is decided: if all its other nodes are kept, the last
    one is suppressed.
    """

    def __init__(self, size: int, order: Ints) -> None:
        self._size, self._order = size, order
        self._rows: dict[int, tuple[Rows, Rows]] = {}
        self._index: list[tuple[Rows, Ints, Ints, npt.NDArray[np.int16]]] = []
        self.inside: dict[int, set[tuple[int, ...]]] = {}  # the threats that lie in the cut, by their last node
        self.involved = np.zeros(size, dtype=np.bool_)  # for each node, whether a known threat contains it

    def learn(self, new: Threats, cut: set[int], live: npt.NDArray[np.bool_], keep: bool) -> None:
        """Add new threats to the known ones, or replace these unless ``keep``; drop threats with a node that is not
        ``live``."""
        known = self._rows if keep else {}
        self._rows, self._index, self.inside = {}, [], {}
        in_cut = np.zeros(self._size, dtype=np.bool_)
        in_cut[list(cut)] = True
        self.involved[:] = False
        for s in sorted({*known, *new.rows}):
            parts = [known[s]] if s in known else []
            parts += [(new.rows[s], new.supports[s])] if s in new.rows else []
            rows, supports = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
            alive = live[rows].all(axis=1)
            rows, supports = rows[alive], supports[alive]
            self._rows[s] = rows, supports
            ordered = np.take_along_axis(rows, np.argsort(self._order[rows], axis=1, kind="stable"), axis=1)
            flat = ordered.ravel()
            by_node = np.argsort(flat.astype(np.uint16) if self._size <= 2**16 else flat, kind="stable")
            starts = np.searchsorted(flat[by_node], np.arange(self._size + 1))
            members = in_cut[ordered].sum(axis=1, dtype=np.int16)
            self._index.append((ordered, by_node // s, starts, members))
            self.involved[flat] = True
            for row in ordered[members == s].tolist():
                self.inside.setdefault(row[-1], set()).add(tuple(row))

    def move(self, left: int, joined: list[int]) -> None:
        """Update the threats in the cut: the children ``joined`` have replaced the node ``left``."""
        for last in list(self.inside):
            self.inside[last] = {row for row in self.inside[last] if left not in row}
        for row in self.entering(joined):
            self.inside.setdefault(row[-1], set()).add(row)
        for _, by_node, starts, members in self._index:
            members[by_node[starts[left] : starts[left + 1]]] -= 1
            for node in joined:
                members[by_node[starts[node] : starts[node + 1]]] += 1

    def entering(self, nodes: list[int]) -> Iterator[tuple[int, ...]]:
        """The threats that would lie in the cut if ``nodes`` joined it."""
        for ordered, by_node, starts, members in self._index:
            s = ordered.shape[1]
            touched = np.concatenate([by_node[starts[n] : starts[n + 1]] for n in nodes])
            touched = touched[members[touched] + min(len(nodes), s) >= s]
            if len(touched):
                touched.sort()
                begin = np.flatnonzero(np.diff(touched, prepend=-1))
                threat, times = touched[begin], np.diff(begin, append=len(touched))
                for row in ordered[threat[members[threat] + times == s]].tolist():
                    yield tuple(row)

    def support(self, row: tuple[int, ...]) -> int:
        """The support of a known threat."""
        rows, supports = self._rows[len(row)]
        return int(supports[(rows == np.sort(row)).all(axis=1)][0])
