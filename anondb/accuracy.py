"""Accuracy of a release on the owner's or on random COUNT queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from anondb.data.sources import open_source
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.errors import InternalError
from anondb.policy import Workload
from anondb.release.objects import SchemaName
from anondb.utility import Accuracy, measure, of_release, owner_workload, random_workload
from anondb.utility import Workload as Queries


def queries_of(engine: Engine, dataset: Dataset, workload: Workload, pool: Any) -> Queries:
    """The owner's own queries, or random ones, of all items or of ``pool`` (item numbers) as the workload says."""
    if workload.own is not None:
        with open_source(engine, workload.own, "workload") as source:
            return owner_workload(engine, dataset, source)
    return random_workload(
        engine,
        dataset,
        queries=workload.queries,
        size=workload.size,
        seed=workload.seed,
        pool=pool if workload.draw == "generalized" else None,
    )


def called(queries: Queries) -> str:
    """What a workload is called in the ledger."""
    if queries.seed is None:
        return "own queries"
    return f"random size={queries.size} queries={queries.n_queries} seed={queries.seed} draw={queries.draw}"


def generalized_members(engine: Engine, schema: SchemaName, dataset: Dataset) -> Any:
    """The items of the data that a released item stands for together with others."""
    found = engine.query(
        "release/generalized_members", {"released_items": schema.table("released_items"), "items": dataset.items}
    )
    return np.asarray(found["item"], dtype=np.int64)


def measure_on(
    engine: Engine, dataset: Dataset, schema: SchemaName, suppression: str, queries: Queries, must_hold: bool = True
) -> Accuracy:
    """Measure a frozen release on its data.

    Args:
        engine: the engine, inside a transaction.
        dataset: the original data, as they are now.
        schema: the release.
        suppression: ``some`` or ``none``, as its manifest says.
        queries: the workload.
        must_hold: whether the data are those of the release, so that every true count lies within its bounds.

    Raises:
        InternalError: a true count lies outside of its bounds: a bug; nothing is kept.
    """
    released = of_release(
        engine, schema.table("transactions"), schema.table("released_items"), suppressed=suppression == "some"
    )
    accuracy = measure(engine, dataset, released, queries)
    if must_hold and accuracy.outside:
        raise InternalError(f"{accuracy.outside} true counts lie outside their bounds; nothing was kept.")
    return accuracy
