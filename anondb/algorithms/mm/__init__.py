"""MM: total suppression for (h,k,p)-coherence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.algorithms.method import Method, Task
from anondb.errors import InputError

if TYPE_CHECKING:
    from anondb.engine import Engine
    from anondb.recoding import Recoding


def _mm(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.mm.mm import mm

    dataset, private = task.dataset, task.sensitive or ()
    if dataset.labels and set(dataset.labels) <= set(private):
        raise InputError(
            f"All {dataset.n_items} items of {dataset.source} are private: there is none that an attacker is taken to know,"
            " so that nothing is protected.",
            code="all_sensitive",
            hint="Name only the items that are to stay unknown with --sensitive.",
        )
    return mm(engine, dataset, task.model, private=private)


MM = Method(
    name="mm",
    paper="Xu, Wang, Fu and Yu, KDD 2008",
    models=("hkp", "km"),
    run=_mm,
    takes=("taxonomy", "sensitive", "max_suppression"),
    releases="item",
)
