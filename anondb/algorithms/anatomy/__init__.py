"""Multi-Anatomy: items divided into columns, transactions into buckets."""

from dataclasses import dataclass
from typing import Any

from anondb.algorithms.method import Method, Task, imported, option


@dataclass(frozen=True)
class MultiAnatomyOptions:
    """The options of Multi-Anatomy."""

    correlation: str = option(
        "truncated", "Correlation of items: as printed, or the full phi squared.", choices=("truncated", "full")
    )
    spread: bool = option(False, "Take transactions round-robin by their most frequent values, which makes buckets smaller.")


def _arguments(task: Task) -> dict[str, Any]:
    return {"columns": None if isinstance(task.columns, int) else task.columns, **vars(task.options)}


MULTI_ANATOMY = Method(
    name="multi_anatomy",
    paper="Privacy Preservation in Transaction Databases based on Anatomy technique, ICCSE 2010",
    models=("anatomy",),
    run=imported("anatomy.multi_anatomy.multi_anatomy", _arguments),
    options=MultiAnatomyOptions,
    takes=("columns", "empty_values"),
    releases="item",
)
