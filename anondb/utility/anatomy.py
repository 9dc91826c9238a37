"""Cost and protection of an anatomy: accuracy of COUNT queries, faked records, and the largest posterior. *Privacy
Preservation in Transaction Databases based on Anatomy technique* (ICCSE 2010), Lemma 1, Theorem 2 and section V;
docs/algorithms/metrics.md."""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table
from anondb.models import json_of
from anondb.recoding import BucketRecoding
from anondb.utility.accuracy import Accuracy, accuracy_of, true_counts
from anondb.utility.workload import Workload


@dataclass(frozen=True)
class BucketFigures:
    """Figures of an anatomy, for the owner."""

    buckets: int
    columns: int
    largest_bucket: int  # its number of transactions
    largest_posterior: Fraction | None  # the largest of Lemma 1, count(v) / |bucket| (bound 1/l); None if no value counts
    largest_posterior_empty: Fraction | None  # the same for the empty value: to have no item of a column
    faked: int  # false records that columns combine to: the sum of |bucket|^columns - |bucket|
    faked_distinct: int  # the distinct combinations of each bucket, less its distinct true ones

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON: fractions as text; numbers of records as natural logarithms, None for 0."""
        names = ("buckets", "columns", "largest_bucket", "largest_posterior", "largest_posterior_empty")
        faked = {"faked_records_ln": self.faked, "faked_distinct_ln": self.faked_distinct}
        return {**json_of(self, *names), **{name: math.log(number) if number else None for name, number in faked.items()}}


def figures(
    engine: Engine, dataset: Dataset, recoding: BucketRecoding, buckets: Table, *, count_empty: bool
) -> BucketFigures:
    """Compute the figures of a frozen anatomy; only the owner knows the distinct true records. ``count_empty``: whether the
    empty value counts."""
    rows = engine.query("utility/bucket_figures", {"buckets": buckets})
    sizes, tops, empties, distinct = (rows[c].tolist() for c in ("size", "top", "empty", "distinct_values"))
    size_of = dict(zip(rows["bucket_id"].tolist(), sizes, strict=True))
    products: dict[int, int] = {}
    for bucket, number in zip(rows["bucket_id"].tolist(), distinct, strict=True):
        products[bucket] = products.get(bucket, 1) * number
    true_records = engine.put(
        "bucket_of", {"tid": ("INTEGER", range(1, len(recoding.bucket) + 1)), "bucket": ("INTEGER", recoding.bucket)}
    )
    tables = {"transactions": dataset.transactions, "buckets": true_records}
    true_distinct = int(engine.scalar("utility/bucket_records", tables))
    engine.drop(true_records)
    repeated = Counter(size_of.values())
    faked = sum(number * (size**recoding.n_columns - size) for size, number in repeated.items())
    return BucketFigures(
        buckets=len(size_of),
        columns=recoding.n_columns,
        largest_bucket=max(sizes, default=0),
        largest_posterior=_largest([max(t, e) for t, e in zip(tops, empties, strict=True)] if count_empty else tops, sizes),
        largest_posterior_empty=_largest(empties, sizes),
        faked=faked,
        faked_distinct=sum(products.values()) - true_distinct,
    )


def _largest(counts: list[int], sizes: list[int]) -> Fraction | None:
    return max((Fraction(c, s) for c, s in set(zip(counts, sizes, strict=True)) if c), default=None)


def measure_buckets(engine: Engine, dataset: Dataset, buckets: Table, workload: Workload) -> Accuracy:
    """Answer every query on the original data and from the buckets of an anatomy.

    In a bucket of s transactions, n_j values of column j hold the query's items of that column, and r columns have items of
    the query. The lower bound of the bucket is the sum of n_j less (r - 1) s, at least 0; its upper bound the smallest n_j;
    its estimate s x product of n_j / s. An anatomy has no k, so no query counts as frequent.

    Args:
        buckets: ``(bucket_id, column_id, items, copies)``, the frozen rows of an anatomy of these data.
        workload: the queries; drawn ones must come from this dataset.
    """
    asked = {"queries": workload.queries}
    tables = {"buckets": buckets, "items": workload.items, **asked}
    members = engine.create("answers_members", "utility/bucket_members", tables)
    sizes = engine.create("answers_sizes", "utility/bucket_sizes", {"buckets": buckets})
    counts = engine.create("answers_counts", "utility/bucket_counts", {**asked, "members": members, "sizes": sizes})
    truths = true_counts(engine, dataset, workload)
    accuracy = accuracy_of(engine, dataset, workload, counts, truths, estimator="joint", k=None)
    engine.drop(members, sizes, truths)
    return accuracy
