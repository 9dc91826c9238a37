"""Draws the items of releases of bags, in which a transaction has copies of released items that may lie above each other.

A row with c copies has c different members, as far as there are so many, each in a place of a random permutation of all
members. Released items choose in the order of their sizes, those that overlap one after the other: a member that the
transaction has already is left out.

Worlds of an anatomy are reconstructions by ``release/reconstruct``, which is the macro in the file, from the seed on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from sqlglot import exp

from anondb.answers.files import DRAWN, ROWS, File, Numbered, of_worlds, place
from anondb.answers.hashing import OTHERS_SHIFT, OTHERS_STEP, RACE, hashed
from anondb.engine import DuckDBEngine, Table, load
from anondb.engine.arrays import Flags, Ints, run_starts

LABELS, OVERLAPS, BELOW, MEMBERS, SINGLES = map(place, ("bags", "overlaps", "below", "bag items", "known items"))
_KEPT = ["world", "label", "tid", "copies", "tried", "size", "first", "tids_before", "members_before", "seed"]


def levels_of(file: File) -> tuple[Ints, list[tuple[int, int]]]:
    """The levels at which the released items of a file choose, and the pairs that share a member, first choice first.

    Returns:
        For each member the level of its released item, from 0: all that it overlaps have another one. The pairs are numbers
        of released items.
    """
    members = file.members
    levels = np.zeros(len(members.label), dtype=np.int64)
    pairs: set[tuple[int, int]] = set()
    holders: dict[int, list[tuple[int, int]]] = {}
    ends = np.r_[members.start[1:], len(members.label)]
    for first in sorted(range(len(members.start)), key=lambda n: (members.size[members.start[n]], n)):
        rows = range(members.start[first], ends[first])
        label, items = int(members.label[rows[0]]), members.item[rows].tolist()
        before = {one for item in items for one in holders.get(item, ())}
        level = 1 + max((level for level, _ in before), default=-1)
        levels[rows] = level
        pairs |= {(other, label) for _, other in before}
        for item in items:
            holders.setdefault(item, []).append((level, label))
    return levels, sorted(pairs)


class Bags:
    """Draws the items of the worlds of files of bags.

    Args:
        engine: the database with the files' rows.
        files: the files.
        numbers: the numbers of the worlds, from 0.

    Attributes:
        single: whether nothing is drawn for a member: its released item stands for it alone, and nothing overlaps it before.
    """

    def __init__(self, engine: DuckDBEngine, files: Sequence[File], numbers: range) -> None:
        self._engine, self._worlds = engine, len(numbers)
        numbered = Numbered.of(files)
        levels, overlaps = zip(*map(levels_of, files), strict=True)
        level = np.concatenate(levels)
        size = np.concatenate([file.members.size for file in files])
        item = np.concatenate([file.members.item for file in files])
        self.single = (size == 1) & (level == 0)
        self._levels = np.unique(level[~self.single]).tolist()
        starts = run_starts(numbered.label)
        firsts = starts[~self.single[starts]]
        columns = {"label": numbered.label, "number": numbered.number, "level": level, "size": size}
        columns |= {"first": np.arange(len(level)), "tids_before": numbered.tids, "members_before": numbered.first}
        columns |= {"seed": numbered.seed}
        engine.put(LABELS, {name: ("BIGINT", values[firsts]) for name, values in columns.items()})
        engine.put(MEMBERS, {"member": ("BIGINT", np.arange(len(item))), "item": ("BIGINT", item)})
        before = np.r_[0, numbered.label][np.cumsum([0, *(len(file.members.label) for file in files)])]
        pairs = [(n + a, n + b) for n, listed in zip(before.tolist(), overlaps, strict=False) for a, b in listed]
        ends = [[pair[n] for pair in pairs] for n in range(2)]
        engine.put(OVERLAPS, {name: ("BIGINT", labels) for name, labels in zip(("below", "above"), ends, strict=True)})
        singles = {"label": numbered.label[self.single], "item": item[self.single]}
        engine.put(SINGLES, {name: ("BIGINT", values) for name, values in singles.items()})
        engine.create(BELOW, "answers/bag_below", {"rows": ROWS, "overlapping": OVERLAPS})

    def draw(self, chosen: Flags) -> None:
        """Append all items of all worlds to the table ``DRAWN``, unless they are there. ``chosen`` has no effect."""
        while self._levels:
            tables: dict[str, Table | exp.Query] = {"rows": ROWS, "bags": LABELS, "below": BELOW}
            values = {"level": self._levels[0], "worlds": self._worlds, "salt": OTHERS_STEP}
            turns = hashed(load("answers/bag_turns").bind(tables, values), [*_KEPT, "number"])
            shifts = load("answers/bag_shifts").bind({"turns": turns}, {"salt": OTHERS_SHIFT})
            placed = hashed(shifts, [*_KEPT, "step"])
            candidates = load("answers/bag_candidates").bind({"shifts": placed}, {"salt": RACE})
            raced = hashed(candidates, ["world", "label", "tid", "copies", "member"])
            tables = {"candidates": raced, "bag_items": MEMBERS, "drawn": DRAWN, "rows": ROWS, "known": SINGLES}
            drawn = load("answers/bag_drawn").bind(tables, {})
            self._engine.run(exp.Insert(this=DRAWN.expression(), expression=drawn), "drawing worlds")
            self._levels.pop(0)


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
