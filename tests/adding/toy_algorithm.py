"""A toy algorithm: one generalized item for everything, or for each of ``groups`` parts of the items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anondb.algorithms import METHODS
from anondb.algorithms.method import Method, Task, option
from anondb.engine import Engine
from anondb.recoding import GlobalRecoding


@dataclass(frozen=True)
class Options:
    """What steers the toy."""

    groups: int = option(1, "How many generalized items there are.")


def run(engine: Engine, task: Task) -> GlobalRecoding:
    data, groups = task.dataset, min(task.options.groups, task.dataset.n_items)
    image = np.arange(data.n_items, dtype=np.int64) * groups // max(data.n_items, 1)
    names = tuple("+".join(data.labels[i] for i in np.flatnonzero(image == g)) for g in range(groups))
    return GlobalRecoding(image, names, image, data.labels)


TOY = Method("toy", "no paper", ("km", "floor"), run, Options, takes=("max_suppression",), releases="set")
METHODS[TOY.name] = TOY
