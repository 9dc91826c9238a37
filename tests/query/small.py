"""Small originals and their releases, as analysts and owners have them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from release.cases import catalog, dataset, recoding

from anondb.engine import Engine
from anondb.models import KmAnonymity
from anondb.release.freeze import freeze
from anondb.release.objects import SchemaName, release_schema


def release(
    engine: Engine,
    transactions: Sequence[Collection[str]],
    blocks: Mapping[str, Sequence[str]],
    name: str = "spring",
    **names: str,
) -> SchemaName:
    """The release of a recoding by blocks; items in no block are suppressed."""
    from dataclasses import replace

    schema = release_schema(catalog(engine), name)
    with engine.transaction():
        data = replace(
            dataset(engine, transactions), **{"table": "t", "id_column": "tid", "item_column": "item", **names}
        )  # type: ignore[arg-type]
        freeze(engine, data, recoding(data, blocks), KmAnonymity(k=2, m=2), release_schema=schema, replace=True)
    return schema


def untouched(transactions: Sequence[Collection[str]]) -> dict[str, list[str]]:
    """The recoding that changes nothing but the labels."""
    return {f"={item}": [item] for item in sorted({i for t in transactions for i in t})}
