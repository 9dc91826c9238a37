"""Write the buckets of a frozen anatomy."""

import numpy as np

from anondb.data.transactions import Dataset
from anondb.engine import Engine, reads
from anondb.errors import InternalError
from anondb.recoding import BucketRecoding
from anondb.release.numbering import number_transactions
from anondb.release.objects import SchemaName


def check_buckets(dataset: Dataset, recoding: BucketRecoding) -> None:
    """Raise an ``InternalError`` if an anatomy omits an item or a transaction (a bug in the algorithm)."""
    if len(recoding.column) != dataset.n_items or len(recoding.bucket) != dataset.n_transactions:
        raise InternalError("An anatomy does not fit the items and transactions of its data.")
    if (recoding.column < 1).any() or (recoding.column > recoding.n_columns).any() or (recoding.sizes < 1).any():
        raise InternalError("An anatomy has items without a column, or buckets without a transaction.")


def write_buckets(
    engine: Engine, dataset: Dataset, recoding: BucketRecoding, schema: SchemaName, key: bytes | None
) -> None:
    """Write the bucket table of an anatomy; the buckets get fresh random numbers."""
    columns = engine.put(
        "release_columns", {"item": ("INTEGER", np.arange(dataset.n_items)), "column_id": ("INTEGER", recoding.column)}
    )
    buckets = engine.put(
        "release_buckets",
        {"tid": ("INTEGER", np.arange(1, dataset.n_transactions + 1)), "bucket": ("INTEGER", recoding.bucket)},
    )
    numbers = reads.rows(buckets, "bucket AS tid", distinct=True)
    numbered = number_transactions(engine, numbers, key)
    data = {"transactions": dataset.transactions, "items": dataset.items, "columns": columns}
    engine.create(schema.table("buckets"), "release/frozen_buckets", {**data, "buckets": buckets, "numbered": numbered})
    engine.drop(columns, buckets, numbered)
