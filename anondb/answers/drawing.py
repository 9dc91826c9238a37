"""Draws who holds what in releases of sets: all worlds together, in arrays, a portion of the released items at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from anondb.answers.expected import rounded
from anondb.answers.files import DRAWN, DRAWN_COLUMNS, ROWS, File, Numbered, of_worlds
from anondb.answers.hashing import MASK, OTHERS_SHIFT, OTHERS_STEP, RACE, SHIFT, STEP, TURN, cycle, h, uniform
from anondb.engine import DuckDBEngine, reads
from anondb.engine.arrays import Flags, Floats, Ints, run_starts
from anondb.engine.failures import damaged

AT_ONCE = 1_000_000  # rows that are drawn together, if no single released item has more
Columns = Mapping[str, Ints]


class Sets:
    """Draws the holders of members in the worlds of files of sets.

    Args:
        engine: the database with the files' rows.
        files: the files.
        numbers: the numbers of the worlds.
        of: K, the number of worlds of which these are some; their number by default.

    Attributes:
        counts: how many transactions hold each member (row) in each world (column).
        single: whether the released item stands for this member alone, so that nothing is drawn.
        rows: the rows of the files.
    """

    rows = ROWS

    def __init__(self, engine: DuckDBEngine, files: Sequence[File], numbers: range, of: int | None = None) -> None:
        self._engine, self._numbers, self._of = engine, np.array(numbers), of or len(numbers)
        self._drawn, self._seed = of_worlds(DRAWN, numbers[0]), files[0].description.seed
        self._numbered, self._transactions = Numbered.of(files), sum(file.description.transactions for file in files)
        self._support = np.concatenate([file.members.support for file in files])
        self.single = np.concatenate([file.members.size == 1 for file in files])
        self._missing = ~self.single
        self.counts = np.concatenate([self._holders(file) for file in files])

    def _holders(self, file: File) -> Ints:
        """How many transactions hold each member (row) of a file in each world (column)."""
        every = rounded(file.members, file.means, file.members.label, self._of, file.description.seed)
        return every[:, self._numbers]

    @cached_property
    def _lengths(self) -> Ints:
        """How many released items each transaction shows.

        Raises:
            DamagedFile: a number of a transaction is beyond those of the files.
        """
        tids = self._engine.select(reads.rows(self.rows, "tid"), "drawing worlds")["tid"]
        if tids.max(initial=0) > self._transactions:
            raise damaged()
        return np.bincount(tids)

    @cached_property
    def _weights(self) -> Floats:
        """The weights in a race of transactions by their lengths (columns); a row for each order of the transactions."""
        return np.arange(self._lengths.max(initial=0) + 1, dtype=np.float64)[None]

    def draw(self, chosen: Flags) -> None:
        """Append the holders of members to the table ``DRAWN``, unless they are there.

        Args:
            chosen: for each member of all files whether to draw it; all members of a released item together.
        """
        for members in self._portions(np.flatnonzero(chosen & self._missing)):
            rows = self._drawn_rows(members)
            self._engine.insert(self._drawn, {name: (kind, rows[name]) for name, kind in DRAWN_COLUMNS.items()})
            self._missing[members] = False

    def _portions(self, members: Ints) -> Sequence[Ints]:
        """Divide members, whole released items at a time, into portions of about ``AT_ONCE`` rows."""
        if not len(members):
            return []
        rows = self.counts[members].sum(axis=1)
        starts = run_starts(self._numbered.label[members])
        portion = (np.cumsum(rows) - rows)[starts] // AT_ONCE
        return np.split(members, starts[run_starts(portion)][1:])

    def _drawn_rows(self, members: Ints) -> Columns:
        """The rows of ``DRAWN`` for whole released items; those of a world lie together.

        The transactions that show a released item have places from 0, which a permutation takes to their ranks. A member
        holds the places for which it is the first member. If it wants more, it has the best of four times as many of the
        other places, by another permutation: those who show more hold more of what each stands for.
        """
        label, of = np.unique(self._numbered.label[members], return_inverse=True)
        with self._engine.registered({"label": label.astype(np.int32)}) as chosen:  # the type of the rows' column
            rows = self._engine.select(reads.among(self.rows, chosen, "label", "label, tid"), "drawing worlds")
        keys = (rows["label"].astype(np.int64) << 32) + rows["tid"]
        keys.sort(kind="stable")  # files have them in order, which takes no time then
        begin = np.searchsorted(keys, label << 32)
        size = np.diff(begin, append=len(keys))
        tids = self._ordered(np.repeat(np.arange(len(label)), size), keys & MASK)
        cells, step = self._cells(members, of, begin, len(tids))
        place, step = _numbered_in(size), np.repeat(step[run_starts(of)], size)
        rank = (step * place + place // np.repeat(cycle(size, step[begin]), size)) % np.repeat(size, size)

        def held(cells: Columns, times: Ints, place: Ints) -> Ints:
            """The transactions at places, so many of each cell."""
            begin, support, shift, order = (np.repeat(cells[n], times) for n in ("begin", "support", "shift", "order"))
            turned = rank[begin + place] + shift
            turned -= support * (turned >= support)
            return np.asarray(tids.ravel()[order * len(rank) + begin + turned])

        firsts = cells["firsts"]
        first = held(cells, firsts, _numbered_in(firsts) + np.repeat(cells["first"], firsts))
        more = {name: values[cells["wanted"] > 0] for name, values in cells.items()}
        tried, places = _others(more)
        other = held(more, tried, places)
        best = in_order(np.repeat(np.arange(len(tried)), tried), self._race(more, tried, other), other)
        wins = _numbered_in(tried) < np.repeat(more["wanted"], tried)
        drawn = {"tid": np.concatenate((first, other[best][wins]))}
        for name in ("world", "member"):
            drawn[name] = np.repeat(np.concatenate((cells[name], more[name])), np.concatenate((firsts, more["wanted"])))
        return drawn

    def _cells(self, members: Ints, of: Ints, begin: Ints, orders: int) -> tuple[Columns, Ints]:
        """What there is for each member of whole released items and world, if it has holders there; by worlds.

        Args:
            members: the members.
            of: the place of the released item of each.
            begin: the first of the rows of each released item.
            orders: the number of orders of the transactions.

        Returns:
            The columns; and, for each member, the step from a place to the rank of the next one.
        """
        numbered, n = self._numbered, self.counts[members]
        support, seed, label = self._support[members, None], numbered.seed[members, None], numbered.number[members, None]
        starts = run_starts(of)
        upto, total = self._upto(members, of, n), np.add.reduceat(n, starts, axis=0)[of]
        first = support * (upto - n) // total
        firsts = np.where(n == support, support, support * upto // total - first)
        step, shift = self._turned(label, support, seed)
        columns = {
            "world": self._numbers,
            "salt": self._numbers + seed,
            "label": label,
            "member": members[:, None],
            "number": (members - numbered.first[members])[:, None],
            "tids_before": numbered.tids[members, None],
            "begin": begin[of][:, None],
            "order": np.arange(len(self._numbers)) % orders,
            "support": support,
            "first": np.where(n == support, 0, first),
            "firsts": firsts,
            "wanted": n - firsts,
            "shift": shift,
        }
        return {name: np.broadcast_to(values, n.shape).T[n.T > 0] for name, values in columns.items()}, step[:, 0]

    def _race(self, cells: Columns, tried: Ints, tid: Ints) -> Floats:
        """The times of transactions in the race of their cells; those of greater weight are faster."""
        before, number, salt, order = (np.repeat(cells[name], tried) for name in ("tids_before", "number", "salt", "order"))
        return np.asarray(-np.log(uniform(tid - before, number, salt + RACE)) / self._weights[order, self._lengths[tid]])

    def _ordered(self, of: Ints, tid: Ints) -> Ints:
        """The transactions of released items by their ranks, a row for each order: here one, that of their numbers.

        Args:
            of: the place of the released item of each, ascending.
            tid: the transactions, ascending for each released item.
        """
        return tid[None]

    def _upto(self, members: Ints, of: Ints, n: Ints) -> Ints:
        """The running sum of the holders of a released item's members, in the order in which the members are first."""
        upto = np.cumsum(n, axis=0)
        before = upto - n
        return np.asarray(upto - before[run_starts(of)][of])

    def _turned(self, label: Ints, support: Ints, seed: Ints) -> tuple[Ints, Ints]:
        """The step and the shift from places to ranks."""
        turned = support * ((self._numbers + h(label, TURN, seed)) % self._of) // self._of
        return 1 + h(label, STEP, seed) % support, (h(label, SHIFT, seed) + turned) % support


def _numbered_in(sizes: Ints) -> Ints:
    """The numbers from 0 in each of some groups that lie one after the other."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes))


def _others(cells: Columns) -> tuple[Ints, Ints]:
    """How many of the other places the member of each cell tries, and which."""
    end, support, label, number = cells["first"] + cells["firsts"], cells["support"], cells["label"], cells["number"]
    others = support - cells["firsts"]
    tried = np.minimum(4 * cells["wanted"], others)
    step = 1 + h(label, number, cells["salt"] + OTHERS_STEP) % others
    shift = h(number, label, cells["salt"] + OTHERS_SHIFT) % others
    turn = _numbered_in(tried)
    every = (end, support, others, step, shift, cycle(others, step))
    end, support, others, step, shift, again = (np.repeat(values, tried) for values in every)
    return tried, (end + (step * turn + turn // again + shift) % others) % support


def in_order(group: Ints, key: Floats, tid: Ints) -> Ints:
    """The order by group, key and transaction of rows whose groups are in order: ``lexsort`` in a fifth of the time."""
    order = np.argsort(key)
    narrow = group.astype(np.min_scalar_type(group.max(initial=0)))  # small integers are sorted in linear time
    order = order[np.argsort(narrow[order], kind="stable")]
    same = np.flatnonzero((np.diff(key[order]) == 0) & (np.diff(group[order]) == 0))
    ties = np.union1d(same, same + 1)
    tied = order[ties]
    order[ties] = tied[np.lexsort((tid[tied], key[tied], group[tied]))]
    return np.asarray(order)
