"""Similar, an algorithm of anondb: groups of items with like pair counts, shown as themselves where that is safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anondb.algorithms.method import Method, Task, option

if TYPE_CHECKING:
    from anondb.engine import Engine
    from anondb.recoding import Recoding


@dataclass(frozen=True)
class SimilarOptions:
    """The options of Similar."""

    open: bool = option(True, "Show items as themselves in the transactions where that is safe.")


def _similar(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.similar.similar import similar

    return similar(engine, task.dataset, task.model, taxonomy=task.taxonomy, open_rows=task.options.open)


SIMILAR = Method(
    name="similar",
    paper="anondb",
    models=("km",),
    run=_similar,
    options=SimilarOptions,
    takes=("taxonomy", "max_suppression"),
    releases="set",
    item_supports=True,
)
