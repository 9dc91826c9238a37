"""Small releases made by hand, for the tests of freezing and publishing."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from sqlglot import exp

from anondb.data.sources import open_source
from anondb.data.transactions import Dataset, load_transactions
from anondb.data.types import ROWS
from anondb.engine import Engine
from anondb.ledger.stored import current_catalog
from anondb.models.transactional import KmAnonymity
from anondb.recoding import GlobalRecoding
from anondb.release import numbering
from anondb.release.freeze import FrozenRelease, freeze
from anondb.release.objects import SchemaName, release_schema

SHOP = [["apple", "pear"], ["apple", "bread"], ["pear"], ["milk", "bread"], [], ["apple", "caviar"]]
SHOP_BLOCKS = {"Fruit": ["apple", "pear", "quince"], "bread": ["bread"], "milk": ["milk"]}


def dataset(
    engine: Engine, transactions: Sequence[Collection[str]], ids: Sequence[Any] | None = None, layout: str = ROWS
) -> Dataset:
    """The transactions coded, out of a work table with a list of items for each id (1..N, or the texts given).

    ``layout`` is what the release says of the original.
    """
    numbers = list(range(1, len(transactions) + 1))
    rows = engine.put("source_rows", {"tid": ("BIGINT", numbers), "n": ("BIGINT", range(len(transactions)))})
    pairs = [(n, item) for n, t in enumerate(transactions) for item in t]
    items = engine.put("source_items", {"n": ("BIGINT", [n for n, _ in pairs]), "item": ("VARCHAR", [i for _, i in pairs])})
    query = (
        exp.select(
            "r.tid",
            exp.maybe_parse("coalesce(list(i.item) FILTER (WHERE i.item IS NOT NULL), []) AS item", dialect="duckdb"),
        )
        .from_(rows.expression().as_("r"))
        .join(items.expression().as_("i"), on="r.n = i.n", join_type="left")
        .group_by("r.tid")
    )
    with open_source(engine, query, "transactions") as source:
        data = replace(load_transactions(engine, source), layout=layout)
    if ids is not None:
        data = replace(data, ids=engine.put("text_ids", {"tid": ("INTEGER", numbers), "id": ("VARCHAR", list(ids))}))
    return data


def recoding(data: Dataset, blocks: Mapping[str, Sequence[str]]) -> GlobalRecoding:
    """The global recoding that publishes each block under its label; items in no block are suppressed."""
    labels = tuple(blocks)
    image_of = {item: n for n, members in enumerate(blocks.values()) for item in members}
    pairs = [(n, item) for n, members in enumerate(blocks.values()) for item in members]
    return GlobalRecoding(
        image=np.array([image_of.get(label, -1) for label in data.labels], dtype=np.int64),
        labels=labels,
        member_of=np.array([n for n, _ in pairs], dtype=np.int64),
        member_labels=tuple(item for _, item in pairs),
    )


@contextlib.contextmanager
def keyed(key: bytes | None) -> Iterator[None]:
    """Number the transactions of releases by a key in the block; by a random one without."""
    with patch.object(numbering, "new_key", numbering.new_key if key is None else lambda: key):
        yield


def frozen(
    engine: Engine,
    transactions: Sequence[Collection[str]] = SHOP,
    blocks: Mapping[str, Sequence[str]] = SHOP_BLOCKS,
    *,
    name: str = "spring",
    schema: SchemaName | None = None,
    **options: Any,
) -> FrozenRelease:
    """Load, recode and freeze in one transaction."""
    with engine.transaction():
        data = dataset(engine, transactions)
        target = schema or release_schema(catalog(engine), name)
        return freeze(engine, data, recoding(data, blocks), KmAnonymity(k=2, m=2), release_schema=target, **options)


def catalog(engine: Engine) -> str:
    """The name of the owner's database."""
    return current_catalog(engine)


def rows(engine: Engine, text: str) -> list[tuple[Any, ...]]:
    """Run SQL as an analyst would."""
    return engine._connection.execute(text).fetchall()
