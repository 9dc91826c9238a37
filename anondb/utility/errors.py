"""The relative error of the answers to a workload: its figures beside the baseline, which is to answer 0."""

from __future__ import annotations

from dataclasses import dataclass

from anondb.engine import Engine, Table

FIGURES = ("median_frequent", "mean_frequent", "median", "mean", "always_zero", "median_truth", "width")


@dataclass(frozen=True)
class RelativeError:
    """Figures of the relative errors |truth - estimate| / scale of a workload.

    The scale is the truth, the true count; with a sanity bound s the larger of truth and s x N. All figures are over the
    queries that have an error: those whose truth is above 0, and with a sanity bound all. A figure is None where no query
    enters it.

    Attributes:
        k: from which truth on a query is frequent: the k of the model; None for a model without k (anatomy), where no query
            is.
        measured: how many queries have an error.
        frequent: how many have a truth of k or more; None without k.
        mean, median: of the errors.
        mean_frequent, median_frequent: of the errors of the frequent queries. The median is the headline: few queries with a
            tiny truth decide the mean over all.
        always_zero: the mean error that the answer 0 to each of these queries would have: 1 without a sanity bound. A
            release that does no better tells nothing about them.
        median_truth: the median of the true counts.
        width: the median of (upper bound - lower bound) / scale. None where bounds are not measured.
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
        """What frequent means, and how many queries are; None where it means nothing."""
        return None if self.k is None or self.frequent is None else {"truth_from": self.k, "queries": self.frequent}


def error_figures(
    engine: Engine, answers: Table, k: int | None, *, least_scale: float = 0.0
) -> tuple[RelativeError, int]:
    """The figures of answers, and how many true counts lie outside their bounds.

    Args:
        engine: the engine, inside a transaction.
        answers: ``(truth, lower_bound, upper_bound, relative_error)``; errors are NULL where there is none, bounds where
            they are not measured.
        k: the truth from which on a query is frequent, if any.
        least_scale: s x N, where the errors have a sanity bound s.
    """
    found = engine.query("utility/error_figures", {"answers": answers}, k=k, least_scale=float(least_scale))
    row = {name: column.tolist()[0] for name, column in found.items()}
    outside = int(row.pop("outside"))
    return RelativeError(k=k, **{**row, "frequent": None if k is None else row["frequent"]}), outside
