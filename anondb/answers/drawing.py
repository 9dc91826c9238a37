"""Draws who holds what in releases of sets: all worlds in one statement for some released items.

NumPy has what there is for each member and world: how many hold it, and the permutations. SQL has what there is for each
row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from anondb.answers.expected import Flags, Ints, begins
from anondb.answers.files import DRAWN, ROWS, File, Numbered, of_worlds, place
from anondb.answers.hashing import OTHERS_SHIFT, OTHERS_STEP, RACE, SHIFT, STEP, TURN, cycle, h, hashed
from anondb.answers.rounding import rounded
from anondb.engine import DuckDBEngine, NamedRows, load

LENGTHS, ORIGINS, COUNTS, CANDIDATES = map(place, ("lengths", "origins", "counts", "candidates"))
AT_ONCE = 1_000_000  # rows that one statement draws, if no single released item has more
NARROW = {"world": "SMALLINT", "ordering": "SMALLINT", "label": "INTEGER", "member": "INTEGER", "wanted": "INTEGER"}
KEPT = ("world", "member", "wanted", "tid", "weight")


class Sets:
    """Draws the holders of members in the worlds of files of sets.

    Args:
        desk: the database with the files' rows.
        files: the files.
        numbers: the numbers of the worlds.
        of: K, the number of worlds of which these are some; their number by default.

    Attributes:
        counts: how many transactions hold each member (row) in each world (column).
        single: whether the released item stands for this member alone, so that nothing is drawn.
        rows: the rows of the files.
    """

    rows = ROWS

    def __init__(self, desk: DuckDBEngine, files: Sequence[File], numbers: range, of: int | None = None) -> None:
        self._desk, self._numbers, self._of = desk, np.array(numbers), of or len(numbers)
        self._drawn, self._lengths, self._origins = (of_worlds(one, numbers[0]) for one in (DRAWN, LENGTHS, ORIGINS))
        self._numbered = numbered = Numbered.of(files)
        self._support = np.concatenate([file.members.support for file in files])
        self.single = np.concatenate([file.members.size == 1 for file in files])
        self._missing = ~self.single
        self.counts = np.concatenate([self._holders(file) for file in files])
        some = np.flatnonzero(begins(numbered.label))
        origins = {"label": numbered.label, "tids_before": numbered.tids, "members_before": numbered.first}
        origins |= {"seed": numbered.seed}
        desk.put(self._origins, {name: ("BIGINT", values[some]) for name, values in origins.items()})
        desk.create(self._lengths, self._lengths_of(files))

    def _holders(self, file: File) -> Ints:
        """How many transactions hold each member (row) of a file in each world (column)."""
        every = rounded(file.members, file.means, file.members.label, self._of, file.facts.seed)
        return every[:, self._numbers]

    def _lengths_of(self, files: Sequence[File]) -> NamedRows | exp.Query:
        """The orders of transactions by which their ranks go, and their weights: one order for all worlds."""
        return NamedRows("answers/lengths", {"rows": self.rows}, {})

    def draw(self, chosen: Flags) -> None:
        """Append the holders of members to the table ``DRAWN``, unless they are there.

        Args:
            chosen: for each member of all files whether to draw it; all members of a released item together.
        """
        for some in self._portions(np.flatnonzero(chosen & self._missing)):
            self._desk.drop(COUNTS, CANDIDATES)  # of a draw that was interrupted
            columns = {name: (NARROW.get(name, "BIGINT"), values) for name, values in self._table(some).items()}
            self._desk.put(COUNTS, columns)
            tables = {"counts": COUNTS, "rows": self.rows, "lengths": self._lengths}
            self._desk.create(CANDIDATES, "answers/candidates", tables)
            raced = load("answers/raced").bind({"candidates": CANDIDATES, "origins": self._origins}, {"salt": RACE})
            drawn = load("answers/drawn").bind({"candidates": CANDIDATES, "raced": hashed(raced, KEPT)}, {})
            self._desk.run(exp.Insert(this=self._drawn.expression(), expression=drawn), "drawing worlds")
            self._missing[some] = False
            self._desk.drop(COUNTS, CANDIDATES)

    def _portions(self, members: Ints) -> Sequence[Ints]:
        """Divide members, whole released items at a time, into portions of about ``AT_ONCE`` rows."""
        if not len(members):
            return []
        rows = self.counts[members].sum(axis=1)
        starts = np.flatnonzero(begins(self._numbered.label[members]))
        portion = (np.cumsum(rows) - rows)[starts] // AT_ONCE
        return np.split(members, starts[np.flatnonzero(begins(portion))][1:])

    def _table(self, some: Ints) -> dict[str, Ints]:
        """The rows of ``counts`` in ``sql/answers/candidates.sql`` for whole released items."""
        numbered = self._numbered
        n, support, world = self.counts[some], self._support[some, None], self._numbers
        starts = np.flatnonzero(begins(numbered.label[some]))
        of = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(some)]))
        upto, total = self._upto(some, of, n), np.add.reduceat(n, starts, axis=0)[of]
        first = support * (upto - n) // total
        firsts = support * upto // total - first
        first, firsts = np.where(n == support, 0, first), np.where(n == support, support, firsts)
        others = np.maximum(support - firsts, 1)
        label, member, seed = (
            numbered.number[some, None],
            (some - numbered.first[some])[:, None],
            numbered.seed[some, None],
        )
        ordering, step, shift = self._ranks(label, support, seed)
        others_step = 1 + h(label, member, world + OTHERS_STEP + seed) % others
        columns = {
            "world": world,
            "label": numbered.label[some, None],
            "member": some[:, None],
            "ordering": ordering,
            "support": support,
            "first_place": first,
            "firsts": firsts,
            "wanted": n - firsts,
            "step": step,
            "cycle": cycle(support, step),
            "shift": shift,
            "others_step": others_step,
            "others_cycle": cycle(others, others_step),
            "others_shift": h(member, label, world + OTHERS_SHIFT + seed) % others,
        }
        return {name: np.broadcast_to(values, n.shape)[n > 0] for name, values in columns.items()}

    def _upto(self, some: Ints, of: Ints, n: Ints) -> Ints:
        """How many holders the members of a released item have up to each of them, in the order in which they are first."""
        upto = np.cumsum(n, axis=0)
        before = upto - n
        return np.asarray(upto - before[np.flatnonzero(begins(of))][of])

    def _ranks(self, label: Ints, support: Ints, seed: Ints) -> tuple[Ints | int, Ints, Ints]:
        """Which order of transactions ranks follow, and the step and the shift from places to ranks."""
        turned = support * ((self._numbers + h(label, TURN, seed)) % self._of) // self._of
        return 0, 1 + h(label, STEP, seed) % support, (h(label, SHIFT, seed) + turned) % support
