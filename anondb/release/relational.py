"""The relational values of a release: written when it is frozen, read when it is verified."""

import json
from collections.abc import Collection
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.engine import Engine, Table, reads
from anondb.errors import InputError
from anondb.recoding import PublishedAttribute, RelationalRecoding
from anondb.release.conditions import VALUES, ReleasedAttribute
from anondb.release.objects import SchemaName, read_release


def shown_attributes(recoding: RelationalRecoding) -> list[ReleasedAttribute]:
    """The attributes of a recoding in the form of the table ``records``."""
    return [
        ReleasedAttribute(a.name, None, False) if a.low is None else ReleasedAttribute(a.name, a.sql_type, a.has_null)
        for a in recoding.attributes
    ]


def write_records(
    engine: Engine, recoding: RelationalRecoding, numbered: Table, records: Table, released_values: Table
) -> None:
    """Write the relational tables of a release, ``records`` and ``released_values``: the values of the class of each of the
    transactions ``(tid, transaction_id)``."""
    columns: dict[str, tuple[str, Any]] = {}
    wanted: list[exp.Expr] = []
    for i, attribute in enumerate(recoding.attributes):
        if attribute.low is None:
            columns[f"label{i}"] = ("VARCHAR", list(attribute.label))
            wanted.append(exp.column(f"label{i}", "other").as_(attribute.name, quoted=True))
            continue
        assert attribute.high is not None and attribute.empty is not None and attribute.null is not None
        occupied = ~attribute.empty
        columns[f"low{i}"] = ("BIGINT", np.where(occupied, attribute.low, 0))
        columns[f"high{i}"] = ("BIGINT", np.where(occupied, attribute.high, 0))
        columns[f"known{i}"] = ("BOOLEAN", occupied)
        columns[f"null{i}"] = ("BOOLEAN", attribute.null)
        wanted += _range_columns(i, attribute)
    columns["class"] = ("INTEGER", np.arange(_classes(recoding)))
    values = engine.put("rt_values", columns)
    classes = reads.joined(numbered, recoding.classes, "tid", "one.transaction_id, other.class")
    rows = reads.joined(classes, values, "class", "one.transaction_id", order="one.transaction_id")
    engine.create(records, rows.select(*wanted))
    engine.drop(values)
    stood_for = sorted(
        {(a.name, label, value) for a in recoding.attributes for label, value in zip(a.value_of, a.values, strict=True)},
        key=lambda row: (row[0], row[1], row[2] is None, row[2] or ""),
    )
    engine.put(released_values, {name: ("VARCHAR", [row[i] for row in stood_for]) for i, name in enumerate(VALUES)})


def _classes(recoding: RelationalRecoding) -> int:
    first = recoding.attributes[0] if recoding.attributes else None
    if first is None:
        return 1
    return len(first.label) if first.low is None else len(first.low)


def _range_columns(i: int, attribute: PublishedAttribute) -> list[exp.Expr]:
    """The columns of a range: ``[low:high]``, its two ends, and whether NULL is among the values."""
    ends = []
    for end in ("low", "high"):
        value = exp.column(f"{end}{i}", "other")
        typed = _typed(value, attribute)
        ends.append(exp.If(this=exp.column(f"known{i}", "other"), true=typed))
    low, high = (exp.Case(ifs=[end]) for end in ends)
    columns: list[exp.Expr] = [
        range_text(low, high).as_(attribute.name, quoted=True),
        low.as_(attribute.name + "_lo", quoted=True),
        high.as_(attribute.name + "_hi", quoted=True),
    ]
    if attribute.has_null:
        columns.append(exp.column(f"null{i}", "other").as_(attribute.name + "_null", quoted=True))
    return columns


def range_text(low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """``[low:high]``; NULL if an end is NULL."""
    texts = [exp.cast(end.copy(), "VARCHAR") for end in (low, high)]
    parts = [exp.Literal.string("["), texts[0], exp.Literal.string(":"), texts[1], exp.Literal.string("]")]
    shown: exp.Expr = parts[0]
    for part in parts[1:]:
        shown = exp.DPipe(this=shown, expression=part)
    return shown


def _typed(value: exp.Expr, attribute: PublishedAttribute) -> exp.Expr:
    """An end of a range, decoded from its integer code."""
    if attribute.sql_type in ("DATE", "TIMESTAMP"):
        return exp.cast(exp.Anonymous(this="make_timestamp", expressions=[value]), attribute.sql_type)
    if attribute.scale == 1:
        return value
    # Multiply by a decimal unit: a division would round.
    decimals = len(str(attribute.scale)) - 1
    whole = exp.cast(value, f"DECIMAL({18},0)")
    unit = exp.cast(exp.Literal.string(f"0.{'0' * (decimals - 1)}1"), f"DECIMAL({18},{decimals})")
    return exp.cast(exp.Mul(this=whole, expression=unit), attribute.sql_type, dialect="duckdb")


def coded_records(engine: Engine, schema: SchemaName, items: Table) -> tuple[Table, Table]:
    """Write the relational classes ``(tid, class)`` and the sensitive items ``(item)`` of frozen rows for a verifier;
    ``items`` are those of ``CodedRelease``. Raises InputError: the release has no relational values, or its list of
    sensitive items cannot be read."""
    release = read_release(engine, schema)
    if release is None or release.kind.attributes is None:
        raise InputError("The release has no relational values.", code="not_a_release", hint="Name another model.")
    try:
        sensitive = [str(label) for label in json.loads(release.manifest["sensitive"])]
    except (KeyError, ValueError, TypeError):
        raise InputError("The manifest of the release is incomplete.", code="not_a_release") from None
    columns: list[exp.Expr] = [reads.named(c) for c in release.kind.values]
    number = exp.Window(
        this=exp.Anonymous(this="dense_rank"),
        order=exp.Order(expressions=[exp.Ordered(this=c) for c in columns or [exp.convert(1)]]),
    )
    rows = exp.select(exp.column("transaction_id").as_("tid"), exp.cast(number, "INTEGER").as_("class")).from_(
        schema.table("records").expression()
    )
    return engine.create("frozen_classes", rows), sensitive_codes(engine, items, sensitive)


def sensitive_codes(engine: Engine, items: Table, labels: Collection[str]) -> Table:
    """Write the codes ``(item)`` of the labels that occur in ``items (item, label)``."""
    named = engine.put("sensitive_labels", {"label": ("VARCHAR", list(labels))})
    codes = engine.create("sensitive_codes", reads.among(items, named, "label", "item"))
    engine.drop(named)
    return codes
