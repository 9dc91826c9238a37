"""MM: total suppression for (h,k,p)-coherence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.algorithms.method import Method, Task

if TYPE_CHECKING:
    from anondb.engine import Engine
    from anondb.recoding import Recoding


def _mm(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.mm.mm import mm

    return mm(engine, task.dataset, task.model, private=task.sensitive or ())


MM = Method(
    name="mm",
    paper="Xu, Wang, Fu and Yu, KDD 2008",
    models=("hkp", "km"),
    run=_mm,
    takes=("taxonomy", "sensitive", "max_suppression"),
    releases="item",
)
