"""Algorithms for (k,k^m)-anonymity and (k,l^m)-diversity of relational and transaction data."""

from dataclasses import dataclass
from typing import Any

from anondb.algorithms.method import Method, Task, imported, option
from anondb.errors import InternalError


@dataclass(frozen=True)
class RelationalOptions:
    """The options of the algorithms for relational and transaction data."""

    infeasible: str = option(
        "suppress",
        "What to do with clusters of records that item generalization cannot fix.",
        choices=("suppress", "merge", "error"),
    )
    items: str = option(
        "sets",
        "Generalize items to sets, of items that are near in the taxonomy if there is one, or to its subtrees.",
        choices=("sets", "subtrees"),
    )


def _arguments(task: Task) -> dict[str, Any]:
    if task.records is None:
        raise InternalError("A relational method ran without records.")
    given = {"records": task.records, "delta": task.delta, "taxonomy": task.taxonomy}
    options = {"infeasible": task.options.infeasible, "subtrees": task.options.items == "subtrees"}
    return {**given, "sensitive": frozenset(task.sensitive or ()), **options}


def _method(name: str) -> Method:
    takes = ("taxonomy", "hierarchies", "weights", "domains", "sensitive", "values", "max_suppression")
    return Method(
        name=name,
        paper="Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos, ECML/PKDD 2013",
        models=("kkm", "klm"),
        run=imported("relational.rt.relational", lambda task: {"algorithm": name, **_arguments(task)}),
        options=RelationalOptions,
        needs=("quasi_identifiers", "records"),
        takes=(*takes, "delta") if "bound" in name else takes,
    )


WITHOUT_ITEMS = (
    "rum_bound_rt",
)  # where nobody has items the others do the same, for merges are for items, or nothing useful
METHODS = tuple(map(_method, (*(f"{b}_bound_{o}" for b in ("rum", "tum") for o in ("rt", "r", "t")), "rfirst", "tfirst")))
