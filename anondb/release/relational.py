"""The relational part of a release: ``records``, ``released_values``, and conditions on them in ``count_bounds``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.engine import Engine, Table
from anondb.recoding import PublishedAttribute, RelationalRecoding

VALUES = {"attribute": "VARCHAR", "released_value": "VARCHAR", "value": "VARCHAR"}
_DAY = 86_400_000_000  # microseconds
_WIDE = "DECIMAL(38, 18)"  # holds every number that an attribute may have, and what analysts ask for, exactly


@dataclass(frozen=True)
class ReleasedAttribute:
    """A published attribute as the columns of ``records`` show it: its name, the type of its ends where it is published in
    ranges, and whether it has a column that says where NULL is a value."""

    name: str
    ends: str | None
    has_null: bool


def released_attributes(columns: Mapping[str, str]) -> list[ReleasedAttribute]:
    """The attributes of a ``records`` table, from the types of its columns."""
    made = {name + end for name in columns for end in ("_lo", "_hi", "_null")}
    return [
        ReleasedAttribute(name, columns.get(name + "_lo"), name + "_null" in columns)
        for name in columns
        if name != "transaction_id" and name not in made
    ]


def record_columns(attributes: list[ReleasedAttribute]) -> dict[str, str]:
    """The columns of ``records`` and their types."""
    columns = {"transaction_id": "INTEGER"}
    for attribute in attributes:
        columns[attribute.name] = "VARCHAR"
        if attribute.ends is not None:
            columns |= {attribute.name + "_lo": attribute.ends, attribute.name + "_hi": attribute.ends}
            if attribute.has_null:
                columns[attribute.name + "_null"] = "BOOLEAN"
    return columns


# ---------------------------------------------------------------------- writing


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


# ---------------------------------------------------------------------- asking


def condition_tables(attributes: list[ReleasedAttribute]) -> list[tuple[str, dict[str, exp.Expr], dict[str, str]]]:
    """For each attribute, the query that judges its condition, that query's values, and the columns that it reads."""
    found: list[tuple[str, dict[str, exp.Expr], dict[str, str]]] = []
    for attribute in attributes:
        asked = exp.column(exp.to_identifier(attribute.name, quoted=True))
        if attribute.ends is None:
            values: dict[str, exp.Expr] = {"asked": asked, "attribute": exp.Literal.string(attribute.name)}
            found.append(("release/judged_category", values, {"shown": attribute.name}))
            continue
        dated = attribute.ends in ("DATE", "TIMESTAMP")
        typed = exp.cast(asked, f"{'TIMESTAMP' if dated else _WIDE}[]", dialect="duckdb")
        counts = exp.convert(attribute.ends in ("BIGINT", "DATE"))
        found.append(
            (
                "release/judged_range",
                {"asked": typed, "counts": counts},
                {"low": attribute.name + "_lo", "high": attribute.name + "_hi"}
                | ({"has_null": attribute.name + "_null"} if attribute.has_null else {}),
            )
        )
    return found
