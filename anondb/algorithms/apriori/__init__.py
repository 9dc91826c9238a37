"""Apriori anonymization (AA) and its local and vertical variants, LRA and VPA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.algorithms.method import Method, Task

if TYPE_CHECKING:
    from anondb.engine import Engine
    from anondb.recoding import Recoding


def _apriori(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.apriori.apriori import apriori

    return apriori(engine, task.dataset, task.tree, task.model)


def _lra(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.apriori.lra import lra

    return lra(engine, task.dataset, task.tree, task.model)


def _vpa(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.apriori.vpa import vpa

    return vpa(engine, task.dataset, task.tree, task.model)


APRIORI = Method(
    name="apriori",
    paper="Terrovitis, Mamoulis and Kalnis, VLDB 2008",
    models=("km",),
    run=_apriori,
    needs=("taxonomy",),
)
_JOURNAL = "Terrovitis, Mamoulis and Kalnis, VLDB Journal 2011"
LRA = Method(name="lra", paper=_JOURNAL, models=("km",), run=_lra, needs=("taxonomy",))
VPA = Method(name="vpa", paper=_JOURNAL, models=("km",), run=_vpa, needs=("taxonomy",))
