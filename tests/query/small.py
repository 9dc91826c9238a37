"""Small originals and their releases, as analysts and owners have them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from release.cases import catalog, dataset, recoding

from anondb.engine import Engine
from anondb.models.transactional import KmAnonymity
from anondb.release.freeze import freeze
from anondb.release.manifest import types_text
from anondb.release.objects import SchemaName, release_schema


def release(
    engine: Engine,
    transactions: Sequence[Collection[str]],
    blocks: Mapping[str, Sequence[str]],
    name: str = "spring",
    **names: str,
) -> SchemaName:
    """The release of a recoding by blocks; items in no block are suppressed."""
    schema = release_schema(catalog(engine), name)
    with engine.transaction():
        data = replace(dataset(engine, transactions), **{"table": "t", "id_column": "tid", "item_column": "item", **names})  # type: ignore[arg-type]
        freeze(engine, data, recoding(data, blocks), KmAnonymity(k=2, m=2), release_schema=schema, replace=True)
    return schema


def untouched(transactions: Sequence[Collection[str]]) -> dict[str, list[str]]:
    """The recoding that changes nothing but the labels."""
    return {f"={item}": [item] for item in sorted({i for t in transactions for i in t})}


def by_hand(engine: Engine, transactions: Sequence[Collection[str]], blocks: Mapping[str, Sequence[str]]) -> SchemaName:
    """The same tables without freezing, which takes most of the time where there are many releases."""
    schema = release_schema(catalog(engine), "by hand")
    image = {item: label for label, members in blocks.items() for item in members}
    published = [sorted({image[i] for i in t if i in image}) for t in transactions]
    occurring = {label for t in published for label in t}
    numbers = {label: n for n, label in enumerate(sorted(occurring), 1)}
    manifest = {
        "release_id": "0",
        "transactions": str(len(transactions)),
        "semantics": "set",
        "suppression": "some" if any(i not in image for t in transactions for i in t) else "none",
        "table": "t",
        "id_column": "tid",
        "item_column": "item",
        "layout": "rows",
        "types": types_text({"tid": "BIGINT", "item": "VARCHAR"}),
        "model": "km",
        "k": "1",
        "m": "1",
        "version": "0",
    }
    run = engine._connection.execute
    run('CREATE SCHEMA IF NOT EXISTS "release_by hand"')
    for name, columns, rows in (
        (
            "transaction_items",
            "transaction_id INTEGER, item_id INTEGER, copies INTEGER",
            [(n, numbers[i], 1) for n, t in enumerate(published, 1) for i in t],
        ),
        ("labels", "item_id INTEGER, item VARCHAR", [(n, label) for label, n in numbers.items()]),
        (
            "transaction_ids",
            "transaction_id INTEGER, complete BOOLEAN",
            [(n, manifest["suppression"] == "none") for n in range(1, len(published) + 1)],
        ),
        ("released_items", "released_item VARCHAR, item VARCHAR", [(g, i) for g in occurring for i in blocks[g]]),
        ("manifest", "key VARCHAR, value VARCHAR", list(manifest.items())),
    ):
        run(f'CREATE OR REPLACE TABLE "release_by hand".{name} ({columns})')
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            run(
                f'INSERT INTO "release_by hand".{name} VALUES ' + ", ".join([f"({marks})"] * len(rows)),
                [v for r in rows for v in r],
            )
    run(
        'CREATE OR REPLACE VIEW "release_by hand".transactions AS SELECT transaction_id, item '
        'FROM "release_by hand".transaction_items JOIN "release_by hand".labels USING (item_id)'
    )
    return schema
