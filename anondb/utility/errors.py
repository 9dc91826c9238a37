"""Figures of the relative error on a workload, beside the baseline of answering 0."""

from dataclasses import dataclass

from anondb.engine import Engine, Table
from anondb.models import AsTable

FIGURES = ("median_frequent", "mean_frequent", "median", "mean", "always_zero", "median_truth", "width")


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
