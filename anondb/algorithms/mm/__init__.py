"""MM: total suppression for (h,k,p)-coherence."""

from typing import Any

from anondb.algorithms.method import Method, Task, imported
from anondb.errors import InputError


def _arguments(task: Task) -> dict[str, Any]:
    dataset, private = task.dataset, task.sensitive or ()
    if dataset.labels and set(dataset.labels) <= set(private):
        raise InputError(
            f"All {dataset.n_items} items of {dataset.source} are private: there is none that an attacker is taken to know,"
            " so that nothing is protected.",
            code="all_sensitive",
            hint="Name only the items that are to stay unknown with --sensitive.",
        )
    return {"private": private}


MM = Method(
    name="mm",
    paper="Xu, Wang, Fu and Yu, KDD 2008",
    models=("hkp", "km"),
    run=imported("mm.mm.mm", _arguments),
    takes=("taxonomy", "sensitive", "max_suppression"),
    releases="item",
)
