"""The worlds of an anatomy: reconstructions by ``release/reconstruct``, which is the macro in the file, from the seed on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from sqlglot import exp

from anondb.answers.files import DRAWN, File, Numbered, of_worlds, place
from anondb.engine import DuckDBEngine, Table, load
from anondb.engine.arrays import Flags

TEXTS = place("bucket items")


class Buckets:
    """Draws the worlds of files with buckets.

    Args:
        engine: the database with the files' buckets.
        files: the files.
        numbers: the numbers of the worlds.

    Attributes:
        single: whether a member is the same in all worlds: none is.
    """

    def __init__(self, engine: DuckDBEngine, files: Sequence[File], numbers: range) -> None:
        self._engine, self._drawn, self._texts = engine, *(of_worlds(table, numbers[0]) for table in (DRAWN, TEXTS))
        numbered = Numbered.of(files)
        self.single = np.zeros(len(numbered.label), dtype=np.bool_)
        texts = [file.items[n] for file in files for n in file.members.item]
        engine.put(self._texts, {"member": ("INTEGER", np.arange(len(texts))), "item": ("VARCHAR", texts)})
        ends = [0, *accumulate(len(file.names) for file in files)]
        tids = [0, *accumulate(file.facts.transactions for file in files)]
        self._missing = [
            ({"world": world, "tids_before": tids[n], "first": ends[n], "end": ends[n + 1]}, n, file.facts.seed + world)
            for n, file in enumerate(files)
            for world in numbers
        ]

    def draw(self, chosen: Flags) -> None:
        """Append all items of all worlds to the table ``DRAWN``, unless they are there. ``chosen`` has no effect."""
        while self._missing:
            values, number, seed = self._missing[0]
            passed: exp.Query = exp.select(exp.true().as_("passed"))
            tables: dict[str, Table | exp.Query] = {"buckets": place("buckets", number), "in_place": passed}
            reconstruction = load("release/reconstruct").bind(tables, {"seed": seed})
            rows = load("answers/reconstructed").bind({"reconstruction": reconstruction, "texts": self._texts}, values)
            self._engine.run(exp.Insert(this=self._drawn.expression(), expression=rows), "drawing worlds")
            self._missing.pop(0)
