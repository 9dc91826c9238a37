"""The rows of a release as integers: each pair once, whatever the order and the repeats of the stored rows."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from each import each
from sqlglot import exp

from anondb.engine import DuckDBEngine
from anondb.release.coded import CodedRelease
from anondb.release.objects import SchemaName

Row = tuple[int | None, int | None, int]
LABELS = [(0, "a"), (1, "b"), (2, "c")]


def coded(engine: DuckDBEngine, rows: list[Row], labels: list[tuple[int, str]] = LABELS) -> Counter[tuple[int | None, str]]:
    """The copies of each pair of a transaction and a label; no pair is repeated."""
    run = engine.connection
    run.execute("CREATE OR REPLACE TABLE transaction_items (transaction_id INTEGER, item_id INTEGER, copies INTEGER)")
    run.execute("CREATE OR REPLACE TABLE labels (item_id INTEGER, item VARCHAR)")
    for table, values in (("transaction_items", rows), ("labels", labels)):
        for value in values:
            run.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(value))})", value)
    with engine.transaction():
        release = CodedRelease(engine, SchemaName("memory", "main"))
        read = engine.select(exp.select("tid", "item", "copies").from_(release.transactions.expression()))
        names = engine.select(exp.select("item", "label").from_(release.items.expression()))
        release.drop()
    label = dict(zip(names["item"].tolist(), names["label"].tolist(), strict=True))
    pairs = [(t, label[i]) for t, i in zip(read["tid"].tolist(), read["item"].tolist(), strict=True)]
    assert len(set(pairs)) == len(pairs)
    return Counter(dict(zip(pairs, read["copies"].tolist(), strict=True)))


@each(
    "rows",
    [
        [],
        [(1, 0, 1)],
        [(1, 0, 1), (1, 0, 1)],
        [(1, 0, 1), (2, 0, 1), (1, 0, 2)],
        [(1, 0, 1), (2, 1, 1), (1, 0, 3)],
        [(2, 0, 1), (1, 0, 1), (2, 0, 1)],
        [(1, 2, 1), (1, 1, 1), (1, 0, 1)],
    ],
)
def test_repeated_rows_are_merged(engine: DuckDBEngine, rows: list[Row]) -> None:
    wanted: Counter[tuple[int | None, str]] = Counter()
    for transaction, item, copies in rows:
        wanted[transaction, "abc"[item or 0]] += copies
    assert coded(engine, rows) == wanted


def test_repeated_labels_are_one_item(engine: DuckDBEngine) -> None:
    labels = [(0, "a"), (1, "b"), (2, "a")]
    assert coded(engine, [(1, 0, 1), (1, 1, 1), (1, 2, 1)], labels) == {(1, "a"): 2, (1, "b"): 1}


def test_rows_around_an_unknown_transaction(engine: DuckDBEngine) -> None:
    """NULL compares with nothing, so it must not hide that the rows around it are the same."""
    found = coded(engine, [(1, 0, 1), (None, 0, 1), (1, 0, 1)])
    assert found[1, "a"] == 2 and found.total() == 3


@pytest.mark.parametrize("seed", range(4))
def test_random_rows(engine: DuckDBEngine, seed: int) -> None:
    draw = random.Random(seed)
    rows: list[Row] = [(draw.randint(1, 4), draw.randint(0, 2), 1) for _ in range(draw.randint(2, 8))]
    if seed % 2:
        rows.sort(key=lambda row: (row[1] or 0, row[0] or 0))
    assert coded(engine, rows) == Counter((t, "abc"[i or 0]) for t, i, _ in rows)
