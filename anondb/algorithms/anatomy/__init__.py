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
    """What steers Multi-Anatomy."""

    correlation: str = option(
        "truncated", "How items are compared: as printed, or by all of phi squared.", choices=("truncated", "full")
    )
    spread: bool = option(False, "Take transactions round-robin from the most frequent values: buckets get smaller.")


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
