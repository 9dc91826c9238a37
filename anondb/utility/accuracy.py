"""Accuracy of a release on COUNT queries: the truth, the estimate and the guaranteed bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Origin, Table, Tables, reads
from anondb.errors import InputError
from anondb.models import AsTable
from anondb.utility.counting import count_sets
from anondb.utility.workload import Workload

_IMAGE = "one.query_id, other.released, other.size"
_KEY = "query_id, CAST(dense_rank() OVER (ORDER BY array_sort(list(released))) AS INTEGER) AS set_id"
FIGURES = ("median_frequent", "mean_frequent", "median", "mean", "always_zero", "median_truth", "width")
ESTIMATORS = ("joint", "product")


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedData:
    """The published side of a global recoding, coded as integers."""

    transactions: Table  # work table ``(tid, item)`` of released items, each pair once
    # work table ``(released, label)``: the original items that each released item stands for. Released items that never
    # occur in ``transactions`` are ignored, because a release does not list them.
    members: Table
    suppressed: bool  # whether anything was suppressed


@dataclass(frozen=True, eq=False, repr=False)
class Counted:
    """What the queries of a workload count on the data and on a global recoding."""

    # work tables: ``truths(set_id, support)``, the true count of each query; ``images``, its released items;
    # ``keys(query_id, set_id)``, the number of the set of these; ``counts(set_id, support)``, how many show the set
    tables: dict[str, Table]

    @classmethod
    def of(cls, engine: Engine, dataset: Dataset, released: ReleasedData, workload: Workload, target: str) -> Counted:
        """Count them. Raises InputError: ``overlap``: several released items stand for one original item."""
        supports = reads.counted(released.transactions, "item", count="support", order="item")
        tables: Tables = {"items": workload.items, "members": released.members, "supports": supports}
        cover = engine.create(f"{target}_cover", "utility/cover", tables)
        several = reads.counted(cover, "item", having="count(*) > 1")
        overlaps = int(engine.scalar(reads.counted(several)))
        if overlaps:
            raise InputError(
                f"Several released items stand for each of {overlaps} original items, so this is not a global recoding.",
                code="overlap",
                hint="Accuracy is defined here for global recodings only.",
            )
        truths = true_counts(engine, f"{target}_truths", dataset, workload)
        images = engine.create(
            f"{target}_images",
            reads.joined(workload.queries, cover, "item", f"{_IMAGE}, count(*) AS queried", group=_IMAGE),
        )
        keys = engine.create(f"{target}_keys", reads.rows(images, _KEY, group="query_id"))
        sets = reads.joined(images, keys, "query_id", "other.set_id, one.released AS item", distinct=True)
        counts = count_sets(engine, f"{target}_counts", released.transactions, sets)
        engine.drop(cover)
        return cls({"truths": truths, "images": images, "keys": keys, "counts": counts})


@dataclass(frozen=True)
class Accuracy(AsTable):
    """Accuracy of a release on a workload (docs/algorithms/metrics.md#are).

    Attributes:
        queries: number of queries.
        size: number of items in each query; None if it differs.
        relative_error: the figures of |truth - estimate| / truth over the queries that were not skipped.
        skipped: number of queries with the true count 0, which have no relative error.
        outside: number of queries whose true count lies outside the bounds; 0 if the release is of these data.
        estimator: ``joint``, ``product``, or ``expected``: as ``count_bounds`` answers.
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
            "queries": self.queries,
            "size": self.size,
            "average_relative_error": self.average_relative_error,
            "relative_error": self.relative_error.to_json(),
            "frequent": self.relative_error.frequent_json(),
            "skipped": self.skipped,
            "draw": self.draw,
            "seed": self.seed,
        }


def of_release(
    engine: Engine,
    transactions: Table,
    items: Table,
    released_items: Table,
    *,
    suppressed: bool,
) -> ReleasedData:
    """Make the published side from the tables of an existing release.

    Args:
        transactions: ``(tid, item)`` of released items as integers, each pair once.
        items: ``(item, label)`` of these.
        released_items: ``(released_item, item)``.
        suppressed: whether its manifest reports a suppression.
    """
    return ReleasedData(transactions, members_of(engine, "release_members", items, released_items), suppressed)


def members_of(engine: Engine, target: str, items: Table, released_items: Table) -> Table:
    """Make the work table ``(released, label)`` of the original items that each released item stands for; see
    ``of_release``."""
    columns = "other.item AS released, one.item AS label"
    return engine.create(target, reads.joined(released_items, items, "released_item = label", columns, distinct=True))


def measure(
    engine: Engine,
    dataset: Dataset,
    released: ReleasedData,
    workload: Workload,
    *,
    k: int | None = None,
    estimator: str = "joint",
    target: str = "answers",
    counted: Counted | None = None,
) -> Accuracy:
    """Answer every query on the original data and on the release.

    A transaction counts with the probability that it holds the query: within one released item that of a uniform
    non-empty subset of its members (``joint``), or the product over the queried members as in the paper (``product``);
    between released items the product; 0 for an item that no released item stands for. The upper bound counts the
    transactions with all released items of the query; the lower bound is the same if each of these stands for one item,
    else 0. An item that no released item stands for has the bounds [0, N] if anything was suppressed, else [0, 0].

    Args:
        released: the published side, of the same transactions.
        workload: the queries; drawn ones must come from this dataset.
        k: the k of the model, the least truth of a frequent query (see ``RelativeError``).
        estimator: ``joint`` or ``product``.
        counted: the counts of these queries, if the caller has them.

    Raises:
        InputError: ``bad_parameter``; ``overlap`` if several released items stand for one original item.
    """
    if estimator not in ESTIMATORS:
        raise InputError(f"estimator must be joint or product, not {estimator!r}.", code="bad_parameter")
    counts = Counted.of(engine, dataset, released, workload, target) if counted is None else counted
    tables = {"names": workload.names, "queries": workload.queries, "items": workload.items}
    answers = engine.create(
        target,
        "utility/answers",
        {**tables, **counts.tables},
        transactions=dataset.n_transactions,
        suppressed=released.suppressed,
        product=estimator == "product",
    )
    if counted is None:
        engine.drop(*counts.tables.values())
    return accuracy_of(engine, workload, answers, estimator, k)


def true_counts(engine: Engine, target: str, dataset: Dataset, workload: Workload) -> Table:
    """Make the work table ``(set_id, support)``: how many transactions of the data hold each query.

    Queries that no transaction holds, and those without items, may be missing.
    """
    if workload.supports is not None:
        numbers = np.arange(1, workload.n_queries + 1)
        return engine.put(target, {"set_id": ("INTEGER", numbers), "support": ("BIGINT", workload.supports)})
    sets = reads.rows(workload.queries, "query_id AS set_id, item")
    origin = dataset.origin or Origin(engine, dataset.transactions)
    return count_sets(engine, target, origin.transactions, sets, origin.runner)


def accuracy_of(engine: Engine, workload: Workload, answers: Table, estimator: str, k: int | None) -> Accuracy:
    """The figures of the answers; ``k`` as in ``error_figures``."""
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
        return {name: getattr(self, name) for name in FIGURES}

    def frequent_json(self) -> dict[str, int] | None:
        """The least truth of a frequent query, and the number of these; None for a model without k."""
        return None if self.k is None or self.frequent is None else {"truth_from": self.k, "queries": self.frequent}


def error_figures(engine: Engine, answers: Table, k: int | None) -> tuple[RelativeError, int]:
    """Compute the figures of answers, and the number of true counts outside their bounds.

    Args:
        answers: ``(truth, lower_bound, upper_bound, relative_error)``; an answer without an
            error has NULL, and so do bounds that are not measured.
        k: the least truth of a frequent query, or None.
    """
    figures = engine.query("utility/error_figures", {"answers": answers}, k=k)
    row = {name: column.tolist()[0] for name, column in figures.items()}
    outside = int(row.pop("outside"))
    return RelativeError(k=k, **{**row, "frequent": None if k is None else row["frequent"]}), outside
