"""Multi-Anatomy: items divided into columns, transactions into buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anondb.algorithms.method import Method, Task, option

if TYPE_CHECKING:
    from anondb.engine import Engine
    from anondb.recoding import Recoding


@dataclass(frozen=True)
class MultiAnatomyOptions:
    """The options of Multi-Anatomy."""

    correlation: str = option(
        "truncated", "Correlation of items: as printed, or the full phi squared.", choices=("truncated", "full")
    )
    spread: bool = option(False, "Take transactions round-robin by their most frequent values, which makes buckets smaller.")


def _multi_anatomy(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.anatomy.multi_anatomy import multi_anatomy

    return multi_anatomy(
        engine,
        task.dataset,
        task.model,
        None if isinstance(task.columns, int) else task.columns,
        correlation=task.options.correlation,
        spread=task.options.spread,
    )


MULTI_ANATOMY = Method(
    name="multi_anatomy",
    paper="Privacy Preservation in Transaction Databases based on Anatomy technique, ICCSE 2010",
    models=("anatomy",),
    run=_multi_anatomy,
    options=MultiAnatomyOptions,
    takes=("columns", "empty_values"),
    releases="item",
)
