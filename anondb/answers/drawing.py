"""Draws who holds what in releases of sets: all worlds in one statement for some released items.

NumPy has what there is for each member and world: how many hold it, and the permutations. SQL has what there is for each
row.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from anondb.answers.expected import Flags, Ints, begins
from anondb.answers.files import DRAWN, ROWS, File, Numbered, place
from anondb.answers.hashing import OTHERS_SHIFT, OTHERS_STEP, RACE, SHIFT, STEP, TURN, cycle, h, hashed
from anondb.answers.rounding import rounded
from anondb.engine import DuckDBEngine, load

LENGTHS, ORIGINS, COUNTS, CANDIDATES = map(place, ("lengths", "origins", "counts", "candidates"))
AT_ONCE = 1_000_000  # rows that one statement draws, if no single released item has more
KEPT = ("world", "member", "wanted", "tid", "labels")


class Sets:
    """Draws the holders of members in the worlds of files of sets.

    Args:
        desk: the database with the files' rows.
        files: the files.
        worlds: the number of worlds.
        most: how many of them are drawn, the first ones.

    Attributes:
        counts: how many transactions hold each member (row) in each world (column).
        single: whether the released item stands for this member alone, so that nothing is drawn.
    """

    def __init__(self, desk: DuckDBEngine, files: Sequence[File], worlds: int, most: int = sys.maxsize) -> None:
        self._desk, self._worlds, self._most = desk, worlds, most
        self._numbered = numbered = Numbered.of(files)
        self._support = np.concatenate([file.members.support for file in files])
        self.single = np.concatenate([file.members.size == 1 for file in files])
        self._missing = ~self.single
        counts = [rounded(f.members, f.means, f.members.label, worlds, f.facts.seed) for f in files]
        self.counts = np.concatenate(counts)
        some = np.flatnonzero(begins(numbered.label))
        origins = {"label": numbered.label, "tids_before": numbered.tids, "members_before": numbered.first}
        origins |= {"seed": numbered.seed}
        desk.put(ORIGINS, {name: ("BIGINT", values[some]) for name, values in origins.items()})
        desk.create(LENGTHS, "answers/lengths", {"rows": ROWS})

    def draw(self, chosen: Flags) -> None:
        """Append the holders of members to the table ``DRAWN``, unless they are there.

        Args:
            chosen: for each member of all files whether to draw it; all members of a released item together.
        """
        for some in self._portions(np.flatnonzero(chosen & self._missing)):
            self._desk.drop(COUNTS, CANDIDATES)  # of a draw that was interrupted
            self._desk.put(COUNTS, {name: ("BIGINT", values) for name, values in self._table(some).items()})
            self._desk.create(CANDIDATES, "answers/candidates", {"counts": COUNTS, "rows": ROWS, "lengths": LENGTHS})
            raced = load("answers/raced").bind({"candidates": CANDIDATES, "origins": ORIGINS}, {"salt": RACE})
            drawn = load("answers/drawn").bind({"candidates": CANDIDATES, "raced": hashed(raced, KEPT)}, {})
            self._desk.run(exp.Insert(this=DRAWN.expression(), expression=drawn), "drawing worlds")
            self._missing[some] = False
            self._desk.drop(COUNTS, CANDIDATES)

    def _portions(self, members: Ints) -> Sequence[Ints]:
        """Divide members, whole released items at a time, into portions of about ``AT_ONCE`` rows."""
        if not len(members):
            return []
        rows = self.counts[members, : self._most].sum(axis=1)
        starts = np.flatnonzero(begins(self._numbered.label[members]))
        portion = (np.cumsum(rows) - rows)[starts] // AT_ONCE
        return np.split(members, starts[np.flatnonzero(begins(portion))][1:])

    def _table(self, some: Ints) -> dict[str, Ints]:
        """The rows of ``counts`` in ``sql/answers/candidates.sql`` for whole released items."""
        numbered = self._numbered
        n, support, world = self.counts[some], self._support[some, None], np.arange(self._worlds)
        starts = begins(numbered.label[some])
        of, ends = np.cumsum(starts) - 1, np.r_[np.flatnonzero(starts)[1:], len(some)] - 1
        upto = np.cumsum(n, axis=0)
        upto -= (upto - n)[starts][of]
        total = upto[ends][of]
        first = support * (upto - n) // total
        firsts = support * upto // total - first
        first, firsts = np.where(n == support, 0, first), np.where(n == support, support, firsts)
        others = np.maximum(support - firsts, 1)
        label, member, seed = (
            numbered.number[some, None],
            (some - numbered.first[some])[:, None],
            numbered.seed[some, None],
        )
        step = 1 + h(label, STEP, seed) % support
        turned = support * ((world + h(label, TURN, seed)) % self._worlds) // self._worlds
        others_step = 1 + h(label, member, world + OTHERS_STEP + seed) % others
        columns = {
            "world": world,
            "label": numbered.label[some, None],
            "member": some[:, None],
            "support": support,
            "first_place": first,
            "firsts": firsts,
            "wanted": n - firsts,
            "step": step,
            "cycle": cycle(support, step),
            "shift": (h(label, SHIFT, seed) + turned) % support,
            "others_step": others_step,
            "others_cycle": cycle(others, others_step),
            "others_shift": h(member, label, world + OTHERS_SHIFT + seed) % others,
        }
        return {
            name: np.broadcast_to(values, n.shape)[(n > 0) & (world < self._most)] for name, values in columns.items()
        }
