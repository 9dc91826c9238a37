"""How well a release of a local recoding answers COUNT queries; its rules are those of the macro ``count_bounds``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table
from anondb.utility.accuracy import Accuracy, accuracy_of, true_counts
from anondb.utility.workload import Workload

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def measure_local(
    engine: Engine,
    dataset: Dataset,
    classes: Table,
    items: Table,
    released_items: Table,
    semantics: str,
    workload: Workload,
    *,
    k: int | None = None,
    sanity_bound: float = 0.0,
    target: str = "answers",
) -> Accuracy:
    """Answer every query on the original data and on the release of a local recoding.

    Each published transaction counts by what stands for the queried items in it, as in the release's macro
    ``count_bounds`` (``sql/release/count_bounds_local.sql``), whose bounds these are. Transactions that are published alike
    are judged once.

    Args:
        engine: the engine, inside a transaction.
        dataset: the original data.
        classes: ``(content_id, content, complete, support)``: the different published transactions, see ``CodedRelease``.
        items: ``(item, label)`` of the released items, numbered from 0 without a gap.
        released_items: ``(released_item, item)``, which original items these stand for.
        semantics: ``set`` or ``atomic``, as its manifest says.
        workload: the queries; drawn ones are of this dataset.
        k, sanity_bound, target: see ``measure``.
    """
    truths = true_counts(engine, f"{target}_truths", dataset, workload)
    tables = {"released_items": released_items, "items": items}
    members = engine.create(f"{target}_members", "utility/released_members", tables)
    published = _Published.read(engine, classes, items, members, workload, semantics == "atomic")
    counts = engine.put(f"{target}_counts", _counts(engine, published, workload))
    answers = engine.create(
        target,
        "utility/local_answers",
        {
            "queries": workload.queries,
            "items": workload.items,
            "contents": classes,
            "names": workload.names,
            "counts": counts,
            "truths": truths,
        },
        transactions=dataset.n_transactions,
        sanity=float(sanity_bound),
    )
    engine.drop(truths, members, counts)
    return accuracy_of(engine, workload, answers, "joint", k, sanity_bound * dataset.n_transactions)


def _counts(
    engine: Engine, published: _Published, workload: Workload
) -> dict[str, tuple[str, list[float] | list[int]]]:
    """Lower bound, estimate and upper bound of each query that has items, as columns."""
    rows = engine.query("utility/asked", {"queries": workload.queries})
    query, item = rows["query_id"], rows["item"].tolist()
    starts = np.flatnonzero(np.concatenate((np.ones(min(len(query), 1), dtype=np.bool_), query[1:] != query[:-1])))
    found = [published.answer(item[a:b]) for a, b in pairwise([*starts.tolist(), len(query)])]
    return {
        "query_id": ("INTEGER", query[starts].tolist()),
        "lower_bound": ("BIGINT", [f[0] for f in found]),
        "estimate": ("DOUBLE", [f[1] for f in found]),
        "upper_bound": ("BIGINT", [f[2] for f in found]),
    }


@dataclass(frozen=True, eq=False, repr=False)
class _Published:
    """The different published transactions.

    Attributes:
        weight, complete: how many there are of each, and whether nothing can have been suppressed in them.
        sizes: how many original items each released item stands for.
        holders: for each released item, where it is and in how many copies.
        covers: the released items that stand for an item of the workload.
        atomic: the semantics.
    """

    weight: Ints
    complete: npt.NDArray[np.bool_]
    sizes: Ints
    holders: list[tuple[Ints, Ints]]
    covers: dict[int, list[int]]
    atomic: bool

    @classmethod
    def read(
        cls, engine: Engine, classes: Table, items: Table, members: Table, workload: Workload, atomic: bool
    ) -> _Published:
        """Read them from the work tables of ``measure_local``."""
        rows = engine.query("utility/content_items", {"contents": classes})
        held = engine.query("utility/weights", {"contents": classes})
        sizes = engine.query("utility/local_sizes", {"coded": items, "members": members})["size"].astype(np.int64)
        at = np.searchsorted(rows["item"], np.arange(len(sizes) + 1)).tolist()
        place, copies = rows["content_id"].astype(np.int64) - 1, rows["copies"].astype(np.int64)
        found = engine.query("utility/local_covers", {"items": workload.items, "members": members})
        covers: dict[int, list[int]] = {}
        for item, released in zip(found["item"].tolist(), found["released"].tolist(), strict=True):
            covers.setdefault(item, []).append(released)
        return cls(
            weight=held["weight"].astype(np.int64),
            complete=held["complete"].astype(np.bool_),
            sizes=sizes,
            holders=[(place[a:b], copies[a:b]) for a, b in pairwise(at)],
            covers=covers,
            atomic=atomic,
        )

    @cached_property
    def _hidden(self) -> int:
        """How many transactions may hold anything."""
        return int(self.weight[~self.complete].sum())

    def answer(self, items: list[int]) -> tuple[int, float, int]:
        """Lower bound, estimate and upper bound of the number of transactions that hold all of some items."""
        place, must, chance = (self._bags if self.atomic else self._sets)(items)
        weight = self.weight[place]
        upper = int(weight[self.complete[place]].sum()) + self._hidden
        return int(weight[must].sum()), float((weight * chance).sum()), upper

    def _sets(self, items: list[int]) -> tuple[Ints, Flags, Floats]:
        """The transactions that have something for every item, which of them must hold them all, and the probability;
        at most one released item of a transaction stands for an item."""
        held = [[(released, self.holders[released][0]) for released in self.covers.get(item, ())] for item in items]
        rooms = [self._room(n) for n in range(len(items))]
        for room, has in zip(rooms, held, strict=True):
            for released, where in has:
                room[where] = released
        place = np.concatenate([where for _, where in held[0]] or [np.zeros(0, dtype=np.int64)])
        for room in rooms[1:]:
            place = place[room[place] >= 0]
        shown = [room[place] for room in rooms]
        for room, has in zip(rooms, held, strict=True):
            for _, where in has:
                room[where] = -1
        must, chance = np.ones(len(place), dtype=np.bool_), np.ones(len(place))
        for n, which in enumerate(shown):
            # of s members j given ones are there with 2^-j / (1 - 2^-s): the first divides by 1 - 2^-s, each halves
            share = self._first_share[which]
            for other in shown[:n]:
                share[other == which] = 0.5
            chance *= share
            must &= self._certain[which]
        return place, must, chance

    @cached_property
    def _certain(self) -> Flags:
        """Which released items stand for one item only."""
        return np.asarray(self.sizes == 1)

    @cached_property
    def _first_share(self) -> Floats:
        """The probability that a given member of each released item is there."""
        return np.asarray(0.5 / (1 - np.exp2(-self.sizes.astype(np.float64))))

    def _room(self, number: int) -> Ints:
        """Room for one released item of each transaction, -1 where there is none; for each item of a query."""
        if number == len(self._rooms):
            self._rooms.append(np.full(len(self.weight), -1))
        return self._rooms[number]

    @cached_property
    def _rooms(self) -> list[Ints]:
        return []

    def _bags(self, items: list[int]) -> tuple[Ints, Flags, Floats]:
        """The same where each copy stands for one occurrence, and there must be enough of them."""
        number = len(self.weight)
        may, must, chance = np.ones(number, dtype=np.bool_), np.ones(number, dtype=np.bool_), np.ones(number)
        copies = np.zeros(number, dtype=np.int64)
        for item in items:
            covered, certain = np.zeros(number, dtype=np.bool_), np.zeros(number, dtype=np.bool_)
            missing = np.ones(number)
            for released in self.covers.get(item, ()):
                place, times = self.holders[released]
                covered[place] = True
                certain[place] |= self.sizes[released] == 1
                missing[place] *= 1 - np.minimum(1, times / self.sizes[released])
            may &= covered
            must &= certain
            chance *= 1 - missing
        for released in {r for item in items for r in self.covers.get(item, ())}:
            place, times = self.holders[released]
            copies[place] += times
        place = np.flatnonzero(may & (copies >= len(items)))
        return place, must[place], chance[place]
