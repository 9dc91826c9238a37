"""Accuracy of a release on COUNT queries: the truth, the estimate and the guaranteed bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Origin, Table, reads
from anondb.models import AsTable, json_of
from anondb.utility.counting import count_sets
from anondb.utility.workload import Workload

FIGURES = ("median_frequent", "mean_frequent", "median", "mean", "always_zero", "median_truth", "width")


@dataclass(frozen=True)
class Accuracy(AsTable):
    """Accuracy of a release on a workload (docs/algorithms/metrics.md#are).

    Attributes:
        queries: number of queries.
        size: number of items in each query; None if it differs.
        relative_error: the figures of |truth - estimate| / truth over the queries that were not skipped.
        skipped: number of queries with the true count 0, which have no relative error.
        outside: number of queries whose true count lies outside the bounds; 0 if the release is of these data.
        estimator: ``joint``, or ``expected``: as ``count_bounds`` answers.
        seed, draw: the seed and the kind of the workload.
        answers: work table ``(query_id, items, truth, estimate, lower_bound, upper_bound, relative_error)``.
        uniform: the mean error of the papers' estimates, which take the non-empty subsets of a released item's members as
            equally likely, if the estimates are others.
    """

    queries: int
    size: int | None
    relative_error: RelativeError
    skipped: int
    outside: int
    estimator: str
    seed: int | None
    draw: str
    answers: Table = field(repr=False)
    uniform: float | None = None

    def __repr__(self) -> str:
        """The number of queries, and the median error."""
        median = self.relative_error.median
        error = "no relative error" if median is None else f"median relative error {median:.4g}"
        return f"<accuracy on {self.queries:,} queries: {error}>"

    @property
    def average_relative_error(self) -> float | None:
        """AvgRE of the papers, the mean error over the queries that were not skipped; None if all were."""
        return self.relative_error.mean if self.uniform is None else self.uniform

    def to_json(self) -> dict[str, Any]:
        """The figures that the command line prints."""
        return {
            **json_of(self, "queries", "size", "average_relative_error", "relative_error"),
            "frequent": self.relative_error.frequent_json(),
            **json_of(self, "skipped", "draw", "seed"),
        }


def members_of(engine: Engine, target: str, items: Table, released_items: Table) -> Table:
    """Make the work table ``(released, label)`` of the original items that each released item stands for, from ``(item,
    label)`` and ``(released_item, item)``."""
    columns = "other.item AS released, one.item AS label"
    return engine.create(target, reads.joined(released_items, items, "released_item = label", columns, distinct=True))


def true_counts(engine: Engine, dataset: Dataset, workload: Workload) -> Table:
    """Make the work table ``(set_id, support)``: how many transactions of the data hold each query. Queries that no
    transaction holds, and those without items, may be missing."""
    if workload.supports is not None:
        numbers = np.arange(1, workload.n_queries + 1)
        return engine.put("set_supports", {"set_id": ("INTEGER", numbers), "support": ("BIGINT", workload.supports)})
    sets = reads.rows(workload.queries, "query_id AS set_id, item")
    origin = dataset.origin or Origin(engine, dataset.transactions)
    return count_sets(engine, origin.transactions, sets, origin.runner)


def accuracy_of(
    engine: Engine,
    dataset: Dataset,
    workload: Workload,
    counts: Table,
    truths: Table,
    *,
    estimator: str,
    k: int | None,
    target: str = "answers",
) -> Accuracy:
    """The accuracy of what a release says of each query: ``counts`` is ``(query_id, lower_bound, estimate, upper_bound)``,
    which is dropped, and nobody holds a query without a row; ``truths`` are those of ``true_counts``, and k the least truth
    of a frequent query (``RelativeError``)."""
    tables = {"queries": workload.queries, "items": workload.items, "names": workload.names}
    tables |= {"counts": counts, "truths": truths}
    answers = engine.create(target, "utility/answers", tables, transactions=dataset.n_transactions)
    engine.drop(counts)
    errors, outside = error_figures(engine, answers, k)
    return Accuracy(
        queries=workload.n_queries,
        size=workload.size,
        relative_error=errors,
        skipped=workload.n_queries - errors.measured,
        outside=outside,
        estimator=estimator,
        seed=workload.seed,
        draw=workload.draw,
        answers=answers,
    )


@dataclass(frozen=True)
class RelativeError(AsTable):
    """Figures of the relative errors |truth - estimate| / truth of a workload.

    All figures are over the queries that have an error: those whose truth, the true count, is above 0. A figure over no
    query is None.

    Attributes:
        k: the k of the model, the least truth of a frequent query; None for a model without k (anatomy), which has no
            frequent queries.
        measured: number of queries with an error.
        frequent: number of queries with a truth of k or more; None without k.
        mean, median: mean and median of the errors.
        mean_frequent, median_frequent: the same over the frequent queries. The median is the main figure, since few queries
            with a tiny truth dominate the mean over all.
        always_zero: the mean error of the answer 0 to all queries: 1. A release whose error
            is not smaller is useless for them.
        median_truth: the median of the true counts.
        width: the median of (upper bound - lower bound) / truth. None if bounds are not measured.
    """

    k: int | None
    measured: int
    frequent: int | None
    mean: float | None
    median: float | None
    mean_frequent: float | None
    median_frequent: float | None
    always_zero: float | None
    median_truth: float | None
    width: float | None

    def to_json(self) -> dict[str, float | None]:
        """The figures, without the numbers of queries."""
        return dict(json_of(self, *FIGURES))

    def frequent_json(self) -> dict[str, int] | None:
        """The least truth of a frequent query, and the number of these; None for a model without k."""
        return None if self.k is None or self.frequent is None else {"truth_from": self.k, "queries": self.frequent}


def error_figures(engine: Engine, answers: Table, k: int | None) -> tuple[RelativeError, int]:
    """Compute the figures of answers ``(truth, lower_bound, upper_bound, relative_error)``, and the number of true counts
    outside their bounds; an answer without an error has NULL, and so do bounds that are not measured. k is the least truth
    of a frequent query, or None."""
    figures = engine.query("utility/error_figures", {"answers": answers}, k=k)
    row = {name: column.tolist()[0] for name, column in figures.items()}
    outside = int(row.pop("outside"))
    return RelativeError(k=k, **{**row, "frequent": None if k is None else row["frequent"]}), outside
