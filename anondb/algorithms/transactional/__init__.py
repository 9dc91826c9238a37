"""Local recodings for transactional k-anonymity: Partition and Clump."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anondb.algorithms.method import Method, Task, option

if TYPE_CHECKING:
    from anondb.engine import Engine
    from anondb.recoding import Recoding

_EMPTY = option(
    "absorb",
    "What becomes of too few transactions without items: others are emptied until they are a class, or they stay.",
    choices=("absorb", "keep"),
)


@dataclass(frozen=True)
class PartitionOptions:
    """What steers Partition."""

    empty_transactions: str = _EMPTY


@dataclass(frozen=True)
class ClumpOptions:
    """What steers Clump."""

    candidates: int | None = option(None, "How many clusters are evaluated for a transaction; all by default.")
    objective: str = option(
        "total", "What is minimized: the cluster's loss, or its growth.", choices=("total", "increase")
    )
    empty_transactions: str = _EMPTY


def _partition(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.transactional.partition import partition

    return partition(engine, task.dataset, task.tree, task.model, empty=task.options.empty_transactions)


def _clump(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.transactional.clump import clump

    chosen = task.options
    return clump(
        engine,
        task.dataset,
        task.tree,
        task.model,
        bags=task.dataset.bags,
        empty=chosen.empty_transactions,
        objective=chosen.objective,
        candidates=chosen.candidates,
    )


PARTITION = Method(
    name="partition",
    paper="He and Naughton, VLDB 2009",
    models=("k",),
    run=_partition,
    options=PartitionOptions,
    needs=("taxonomy",),
    takes=("max_suppression",),
)
CLUMP = Method(
    name="clump",
    paper="Milani Fard and Wang, SECRYPT 2010",
    models=("k",),
    run=_clump,
    options=ClumpOptions,
    needs=("taxonomy",),
    takes=("max_suppression", "bag_input"),
)
