"""HgHs and mHgHs: heuristic generalization with heuristic suppression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.algorithms.method import Method, Task

if TYPE_CHECKING:
    from anondb.engine import Engine
    from anondb.recoding import Recoding


def _hghs(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.hghs.hghs import hghs

    return hghs(engine, task.dataset, task.tree, task.model)


def _mhghs(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.hghs.mhghs import mhghs

    return mhghs(engine, task.dataset, task.tree, task.model)


HGHS = Method(
    name="hghs",
    paper="Liu and Wang, PAKDD 2010, section 3",
    models=("km",),
    run=_hghs,
    needs=("taxonomy",),
    takes=("max_suppression",),
)
MHGHS = Method(
    name="mhghs",
    paper="Liu and Wang, PAKDD 2010, section 4.2",
    models=("km",),
    run=_mhghs,
    needs=("taxonomy",),
    takes=("max_suppression",),
)
