"""The relational values of a release: written when it is frozen, read when it is verified."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from anondb.engine import Engine, Table, reads
from anondb.engine.texts import Sql, listed, quoted, sql, type_text
from anondb.errors import InputError
from anondb.release.conditions import VALUES, ReleasedAttribute
from anondb.release.objects import SchemaName, read_release

if TYPE_CHECKING:
    from anondb.recoding import PublishedAttribute, RelationalRecoding


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
    wanted = ["one.transaction_id"]
    for i, attribute in enumerate(recoding.attributes):
        if attribute.low is None:
            columns[f"label{i}"] = ("VARCHAR", list(attribute.label))
            wanted.append(f"other.label{i} AS {quoted(attribute.name)}")
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
    engine.create(records, reads.joined(classes, values, "class", listed(wanted), order="one.transaction_id"))
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


def _range_columns(i: int, attribute: PublishedAttribute) -> list[Sql]:
    """The columns of a range: ``[low:high]``, its two ends, and whether NULL is among the values."""
    low, high = (
        sql(f"CASE WHEN other.known{i} THEN {{}} END", _typed(Sql(f"other.{end}{i}"), attribute)) for end in ("low", "high")
    )
    name = attribute.name
    columns = {name: range_text(low, high), name + "_lo": low, name + "_hi": high}
    if attribute.has_null:
        columns[name + "_null"] = Sql(f"other.null{i}")
    return [sql("{} AS {}", value, quoted(column)) for column, value in columns.items()]


def range_text(low: Sql, high: Sql) -> Sql:
    """``[low:high]``; NULL if an end is NULL."""
    return sql("'[' || CAST({} AS VARCHAR) || ':' || CAST({} AS VARCHAR) || ']'", low, high)


def _typed(value: Sql, attribute: PublishedAttribute) -> Sql:
    """An end of a range, decoded from its integer code."""
    kind = type_text(attribute.sql_type)
    if attribute.sql_type in ("DATE", "TIMESTAMP"):
        return sql("CAST(make_timestamp({}) AS {})", value, kind)
    if attribute.scale == 1:
        return value
    # Multiply by a decimal unit: a division would round.
    decimals = len(str(attribute.scale)) - 1
    unit = f"CAST('0.{'0' * (decimals - 1)}1' AS DECIMAL(18, {decimals}))"
    return sql("CAST(CAST({} AS DECIMAL(18, 0)) * {} AS {})", value, Sql(unit), kind)


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
    order = listed(map(quoted, release.kind.values)) or "1"
    classes = f"transaction_id AS tid, CAST(dense_rank() OVER (ORDER BY {order}) AS INTEGER) AS class"
    rows = reads.rows(schema.table("records"), classes)
    return engine.create("frozen_classes", rows), sensitive_codes(engine, items, sensitive)


def sensitive_codes(engine: Engine, items: Table, labels: Collection[str]) -> Table:
    """Write the codes ``(item)`` of the labels that occur in ``items (item, label)``."""
    named = engine.put("sensitive_labels", {"label": ("VARCHAR", list(labels))})
    codes = engine.create("sensitive_codes", reads.among(items, named, "label", "item"))
    engine.drop(named)
    return codes
