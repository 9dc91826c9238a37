"""Freezing a release of relational and transaction data: the item sets, and the values of each record beside them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from anondb.engine import Engine, Table
from anondb.errors import InputError, InternalError
from anondb.models import Model
from anondb.recoding import PublishedAttribute, RelationalRecoding
from anondb.release.conditions import VALUES, ReleasedAttribute
from anondb.release.freeze import FrozenRelease, make_room, manifest_of, number_transactions, table_counts
from anondb.release.objects import (
    SchemaName,
    create_view_and_macro,
    new_release_id,
    read_manifest,
    relational_kind,
    release_kind,
)

if TYPE_CHECKING:
    from anondb.data.transactions import Dataset


def freeze_relational(
    engine: Engine,
    dataset: Dataset,
    recoding: RelationalRecoding,
    model: Model,
    *,
    release_schema: SchemaName,
    release_id: str | None = None,
    key: bytes | None = None,
    replace: bool = False,
) -> FrozenRelease:
    """Write the release of a recoding with relational values; arguments as in ``freeze.freeze``.

    The manifest also names the sensitive items (``sensitive``, a JSON list): whoever verifies the promise needs them.

    Raises:
        InputError: the schema exists, or DuckDB could not tell it from its database.
        InternalError: the recoding says something untrue of these data.
    """
    items = recoding.items
    members = engine.put(
        "release_members", {"released": ("INTEGER", items.member_of), "label": ("VARCHAR", list(items.member_labels))}
    )
    sources = {"recoded": items.transactions, "transactions": dataset.transactions, "items": dataset.items}
    found = engine.query("release/relational_lost", {**sources, "members": members, "incomplete": items.incomplete})
    lost_items, lost, hidden, invented = (int(column[0]) for column in found.values())
    if hidden or invented or len(set(items.labels)) != len(items.labels):
        raise InternalError("A recoding does not fit the transactions of its data.")
    make_room(engine, release_schema, replace)
    release_id = new_release_id() if release_id is None else release_id
    numbered = number_transactions(engine, dataset.ids, key)
    labels = engine.put(
        "release_labels",
        {"released": ("INTEGER", np.arange(len(items.labels))), "label": ("VARCHAR", list(items.labels))},
    )
    engine.create(
        release_schema.table("transactions"),
        "release/relational_rows",
        {"recoded": items.transactions, "numbered": numbered, "released": labels},
    )
    engine.create(
        release_schema.table("transaction_ids"),
        "release/relational_ids",
        {"numbered": numbered, "incomplete": items.incomplete},
    )
    pairs = sorted(
        (items.labels[r], label) for r, label in zip(items.member_of.tolist(), items.member_labels, strict=True)
    )
    engine.put(
        release_schema.table("released_items"),
        {"released_item": ("VARCHAR", [r for r, _ in pairs]), "item": ("VARCHAR", [i for _, i in pairs])},
    )
    write_records(engine, recoding, numbered, release_schema.table("records"), release_schema.table("released_values"))
    engine.drop(members, labels, numbered)
    suppression = "some" if recoding.suppressed else "none"
    manifest = manifest_of(dataset, model, release_id, suppression)
    manifest["sensitive"] = json.dumps(list(recoding.sensitive), ensure_ascii=False)
    engine.put(
        release_schema.table("manifest"),
        {"key": ("VARCHAR", list(manifest)), "value": ("VARCHAR", list(manifest.values()))},
    )
    kind = relational_kind([_released(attribute) for attribute in recoding.attributes])
    create_view_and_macro(engine, release_schema, release_id, kind)
    counts = table_counts(engine, release_schema, kind)
    if counts["transaction_ids"] != dataset.n_transactions or counts["records"] != dataset.n_transactions:
        raise InternalError("The frozen release lost a transaction.")
    return FrozenRelease(
        schema=release_schema,
        release_id=release_id,
        transactions=counts["transaction_ids"],
        rows=counts["transactions"],
        released_items=len(items.labels),
        suppressed_items=lost_items,
        suppressed_occurrences=lost,
        suppression=suppression,
        manifest=read_manifest(engine, release_schema),
    )


def _released(attribute: PublishedAttribute) -> ReleasedAttribute:
    if attribute.low is None:
        return ReleasedAttribute(attribute.name, None, False)
    return ReleasedAttribute(attribute.name, attribute.sql_type, attribute.has_null)


def write_records(
    engine: Engine, recoding: RelationalRecoding, numbered: Table, records: Table, released_values: Table
) -> None:
    """Write the relational tables of a release.

    Args:
        engine: inside a transaction.
        recoding: the values of each class.
        numbered: ``(tid, transaction_id)``.
        records, released_values: the tables to make.
    """
    columns: dict[str, tuple[str, Any]] = {}
    wanted: list[exp.Expr] = []
    for i, attribute in enumerate(recoding.attributes):
        if attribute.low is None:
            columns[f"label{i}"] = ("VARCHAR", list(attribute.label))
            wanted.append(exp.column(f"label{i}", "values").as_(attribute.name, quoted=True))
            continue
        assert attribute.high is not None and attribute.empty is not None and attribute.null is not None
        known = ~attribute.empty
        columns[f"low{i}"] = ("BIGINT", np.where(known, attribute.low, 0))
        columns[f"high{i}"] = ("BIGINT", np.where(known, attribute.high, 0))
        columns[f"known{i}"] = ("BOOLEAN", known)
        columns[f"null{i}"] = ("BOOLEAN", attribute.null)
        wanted += _range_columns(i, attribute)
    columns["class"] = ("INTEGER", np.arange(_classes(recoding)))
    values = engine.put("rt_values", columns)
    rows = exp.select(exp.column("transaction_id", "numbered"), *wanted)
    rows = rows.from_(exp.alias_(numbered.expression(), "numbered", table=True))
    rows = rows.join(
        exp.alias_(recoding.classes.expression(), "classes", table=True),
        on=exp.column("tid", "classes").eq(exp.column("tid", "numbered")),
    ).join(
        exp.alias_(values.expression(), "values", table=True),
        on=exp.column("class", "values").eq(exp.column("class", "classes")),
    )
    engine.create(records, rows.order_by(exp.column("transaction_id", "numbered")))
    engine.drop(values)
    stood_for = sorted(
        {
            (a.name, label, value)
            for a in recoding.attributes
            for label, value in zip(a.value_of, a.values, strict=True)
        },
        key=lambda row: (row[0], row[1], row[2] is not None, row[2] or ""),
    )
    engine.put(released_values, {name: ("VARCHAR", [row[i] for row in stood_for]) for i, name in enumerate(VALUES)})


def _classes(recoding: RelationalRecoding) -> int:
    first = recoding.attributes[0] if recoding.attributes else None
    if first is None:
        return 1
    return len(first.label) if first.low is None else len(first.low)


def _range_columns(i: int, attribute: PublishedAttribute) -> list[exp.Expr]:
    """``[low:high]``, its ends, and whether there is a NULL among the values."""
    ends = []
    for end in ("low", "high"):
        value = exp.column(f"{end}{i}", "values")
        typed = _typed(value, attribute)
        ends.append(exp.If(this=exp.column(f"known{i}", "values"), true=typed))
    low, high = (exp.Case(ifs=[end]) for end in ends)
    texts = [exp.cast(end.copy(), "VARCHAR") for end in (low, high)]
    parts = [exp.Literal.string("["), texts[0], exp.Literal.string(":"), texts[1], exp.Literal.string("]")]
    shown: exp.Expr = parts[0]
    for part in parts[1:]:
        shown = exp.DPipe(this=shown, expression=part)
    found: list[exp.Expr] = [
        shown.as_(attribute.name, quoted=True),
        low.as_(attribute.name + "_lo", quoted=True),
        high.as_(attribute.name + "_hi", quoted=True),
    ]
    if attribute.has_null:
        found.append(exp.column(f"null{i}", "values").as_(attribute.name + "_null", quoted=True))
    return found


def _typed(value: exp.Expr, attribute: PublishedAttribute) -> exp.Expr:
    """An end of a range, from the integer that stands for it."""
    if attribute.sql_type in ("DATE", "TIMESTAMP"):
        return exp.cast(exp.Anonymous(this="make_timestamp", expressions=[value]), attribute.sql_type)
    if attribute.scale == 1:
        return value
    # Digits are moved, not divided: the number's text without its point is the integer's.
    decimals = len(str(attribute.scale)) - 1
    whole = exp.cast(value, f"DECIMAL({18},0)")
    unit = exp.cast(exp.Literal.string(f"0.{'0' * (decimals - 1)}1"), f"DECIMAL({18},{decimals})")
    return exp.cast(exp.Mul(this=whole, expression=unit), attribute.sql_type, dialect="duckdb")


def coded_records(engine: Engine, schema: SchemaName, items: Table) -> tuple[Table, Table]:
    """The relational classes and the sensitive items of frozen rows, for a verifier: ``(tid, class)`` and ``(item)``.

    Args:
        engine: inside a transaction.
        schema: the release; ``main`` in a sealed file.
        items: ``(item, label)`` of ``freeze.coded_release``.

    Raises:
        InputError: it is no release with relational values, or its list of sensitive items cannot be read.
    """
    kind = release_kind(engine, schema)
    if kind is None or kind.attributes is None:
        raise InputError("The release has no relational values.", code="not_a_release", hint="Name another model.")
    try:
        sensitive = [str(label) for label in json.loads(read_manifest(engine, schema)["sensitive"])]
    except (KeyError, ValueError, TypeError):
        raise InputError("The manifest of the release is incomplete.", code="not_a_release") from None
    columns: list[exp.Expr] = [
        exp.column(exp.to_identifier(c, quoted=True)) for c in kind.tables["records"] if c != kind.number
    ]
    number = exp.Window(
        this=exp.Anonymous(this="dense_rank"),
        order=exp.Order(expressions=[exp.Ordered(this=c) for c in columns or [exp.convert(1)]]),
    )
    rows = exp.select(exp.column("transaction_id").as_("tid"), exp.cast(number, "INTEGER").as_("class")).from_(
        schema.table("records").expression()
    )
    labels = engine.put("frozen_sensitive_labels", {"label": ("VARCHAR", sensitive)})
    found = engine.create("frozen_sensitive", "release/sensitive", {"items": items, "sensitive": labels})
    engine.drop(labels)
    return engine.create("frozen_classes", rows), found
