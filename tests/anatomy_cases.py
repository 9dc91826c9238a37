"""Small anatomies for tests: datasets, buckets as published tables, releases frozen and read again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from release.cases import dataset
from sqlglot import exp

from anondb.algorithms.anatomy.multi_anatomy import multi_anatomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table
from anondb.models.anatomy import Anatomy
from anondb.recoding import BucketRecoding
from anondb.verify.anatomy import AnatomyVerification, Original, verify_anatomy

BUCKETS = ("bucket_id", "column_id", "items", "copies")
Row = tuple[int, int, list[str], int]


def random_table(seed: int, *, most: int = 14) -> tuple[list[list[str]], list[list[str]], Fraction, bool]:
    """Transactions, columns that cover their items, l, and whether empty values count. A few are adversarial: a value that
    is frequent at one end, many empty transactions, equal transactions."""
    rng = random.Random(seed)
    sizes = [rng.randint(1, 3) for _ in range(rng.randint(2, 4))]
    names = iter("abcdefghijklmnopqrstuvwxyz")
    columns = [[next(names) for _ in range(size)] for size in sizes]
    density = rng.choice([0.2, 0.5, 0.8])
    number = rng.randint(1, most)
    transactions = [[i for c in columns for i in c if rng.random() < density] for _ in range(number)]
    if rng.random() < 0.3:
        transactions.sort(key=lambda t: columns[0][0] in t, reverse=rng.random() < 0.5)
    if rng.random() < 0.2:
        transactions = [t if rng.random() < 0.6 else [] for t in transactions]
    l = rng.choice([Fraction(1), Fraction(3, 2), Fraction(2), Fraction(2), Fraction(5, 2), Fraction(3)])
    return transactions, columns, l, rng.random() < 0.5


def occurring(transactions: Sequence[Collection[str]], columns: Iterable[Collection[str]]) -> list[list[str]]:
    """The columns without the items that never occur, and without those that are left empty."""
    items = {i for t in transactions for i in t}
    return [kept for c in columns if (kept := [i for i in c if i in items])]


def members(recoding: BucketRecoding) -> list[list[int]]:
    """The transactions of each bucket, from 0."""
    return [np.flatnonzero(recoding.bucket == b + 1).tolist() for b in range(len(recoding.sizes))]


def recoded(
    engine: Engine, transactions: Sequence[Collection[str]], columns: Any, model: Anatomy, **options: Any
) -> tuple[Dataset, BucketRecoding]:
    """Load and run; call it inside a transaction."""
    data = dataset(engine, transactions)
    return data, multi_anatomy(engine, data, model, columns, **options)


def rows_of(
    transactions: Sequence[Collection[str]], columns: Sequence[Collection[str]], buckets: Sequence[Collection[int]]
) -> list[Row]:
    """What is published of buckets, by definition."""
    found: list[Row] = []
    for b, bucket in enumerate(buckets, 1):
        for j, column in enumerate(columns, 1):
            cells = Counter(tuple(sorted(set(transactions[r]) & set(column))) for r in bucket)
            found += [(b, j, list(cell), copies) for cell, copies in sorted(cells.items())]
    return found


def put_buckets(engine: Engine, rows: Sequence[Row], name: str | Table = "test_buckets") -> Table:
    """Rows as a table."""
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    types = (pa.int32(), pa.int32(), pa.list_(pa.string()), pa.int32())
    content = {n: pa.array(list(c), type=t) for n, c, t in zip(BUCKETS, columns, types, strict=True)}
    with engine.registered(pa.table(content)) as source:
        return engine.create(name, exp.select(*BUCKETS).from_(source.expression()))


def verified(
    engine: Engine, rows: Sequence[Row], model: Anatomy, original: Sequence[Collection[str]] | None = None, **options: Any
) -> AnatomyVerification:
    """Verify rows in a transaction of their own."""
    with engine.transaction():
        table = put_buckets(engine, rows)
        data = None if original is None else dataset(engine, original)
        given = None if data is None else Original(data.transactions, data.items, data.n_transactions)
        return verify_anatomy(engine, table, model, given, **options)
