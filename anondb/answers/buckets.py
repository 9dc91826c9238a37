"""The worlds of an anatomy: reconstructions by ``release/reconstruct``, which is the macro in the file, from the seed on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from anondb.answers.expected import Flags
from anondb.answers.files import DRAWN, File, Numbered, place
from anondb.engine import DuckDBEngine, Table, load

TEXTS = place("bucket items")


class Buckets:
    """Draws the worlds of files with buckets.

    Args:
        desk: the database with the files' buckets.
        files: the files.
        worlds: the number of worlds.

    Attributes:
        single: no member is the same in all worlds.
    """

    def __init__(self, desk: DuckDBEngine, files: Sequence[File], worlds: int) -> None:
        self._desk, self._files, self._worlds = desk, files, worlds
        self._numbered = Numbered.of(files)
        self.single = np.zeros(len(self._numbered.label), dtype=np.bool_)

    def draw(self, chosen: Flags) -> Flags:
        """Append the items of all worlds to the table ``DRAWN``: all, since a bucket is put together as a whole."""
        passed: exp.Query = exp.select(exp.true().as_("passed"))
        first = tids = 0
        for number, file in enumerate(self._files):
            texts = [file.items[n] for n in file.members.item]
            members = np.arange(first, first + len(texts))
            self._desk.put(TEXTS, {"member": ("INTEGER", members), "item": ("VARCHAR", texts)})
            for world in range(self._worlds):
                tables: dict[str, Table | exp.Query] = {"buckets": place("buckets", number), "in_place": passed}
                made = load("release/reconstruct").bind(tables, {"seed": file.facts.seed + world})
                values = {"world": world, "tids_before": tids}
                rows = load("answers/reconstructed").bind({"reconstruction": made, "texts": TEXTS}, values)
                self._desk.run(exp.Insert(this=DRAWN.expression(), expression=rows), "drawing worlds")
            self._desk.drop(TEXTS)
            first, tids = first + len(texts), tids + file.facts.transactions
        return np.ones(len(chosen), dtype=np.bool_)
