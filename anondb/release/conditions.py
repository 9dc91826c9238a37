"""Conditions on relational values in ``count_bounds``, derived from the columns of a release's ``records`` table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anondb.engine import Query, Table, load
from anondb.engine.texts import Sql, listed, quoted, sql

VALUES = {"attribute": "VARCHAR", "released_value": "VARCHAR", "value": "VARCHAR"}
NUMBERS = "DECIMAL(38, 18)"  # holds every number that an attribute may have, exactly


@dataclass(frozen=True)
class ReleasedAttribute:
    """A published attribute: its name, the type of its range ends (None for categories), and whether a column marks NULL."""

    name: str
    ends: str | None
    has_null: bool


def released_attributes(columns: Mapping[str, str]) -> tuple[ReleasedAttribute, ...]:
    """The attributes of a ``records`` table, from its columns and their types."""
    derived = {name + end for name in columns for end in ("_lo", "_hi", "_null")}
    return tuple(
        ReleasedAttribute(name, columns.get(name + "_lo"), name + "_null" in columns)
        for name in columns
        if name != "transaction_id" and name not in derived
    )


def record_columns(attributes: Sequence[ReleasedAttribute]) -> dict[str, str]:
    """The columns of ``records`` and their types."""
    columns = {"transaction_id": "INTEGER"}
    for attribute in attributes:
        columns[attribute.name] = "VARCHAR"
        if attribute.ends is not None:
            columns |= {attribute.name + "_lo": attribute.ends, attribute.name + "_hi": attribute.ends}
            if attribute.has_null:
                columns[attribute.name + "_null"] = "BOOLEAN"
    return columns


def judged_records(schema: str, attributes: Sequence[ReleasedAttribute]) -> Query:
    """Build the query (transaction_id, must, may, chance) over the conditions on all attributes, for the macro's body. Its
    shape depends on the attributes. A condition is a parameter of the macro with the name of its attribute; all columns are
    qualified, because a parameter replaces an unqualified column of the same name."""
    if not attributes:
        yes = "stored.transaction_id, TRUE AS must, TRUE AS may, CAST(1 AS DOUBLE) AS chance"
        return Query(sql("SELECT {} FROM {} AS stored", Sql(yes), Table("", schema, "transaction_ids")))
    first, *others = (sql(f"{{}} AS judged{i}", _judged(schema, attribute)) for i, attribute in enumerate(attributes))
    joins = (
        sql(f" JOIN {{}} ON judged{i}.transaction_id = judged0.transaction_id", part) for i, part in enumerate(others, 1)
    )
    places = [f"judged{i}" for i in range(len(attributes))]
    must, may = (" AND ".join(f"{place}.{name}" for place in places) for name in ("must", "may"))
    chance = " * ".join(f"{place}.chance" for place in places)
    columns = f"judged0.transaction_id, {must} AS must, {may} AS may, {chance} AS chance"
    return Query(sql("SELECT {} FROM {}{}", Sql(columns), first, Sql("".join(joins))))


def _judged(schema: str, attribute: ReleasedAttribute) -> Query:
    """The query that judges the condition on one attribute."""
    asked, name = quoted(attribute.name), "release/judged_category"
    values: dict[str, Any] = {"asked": asked, "attribute": attribute.name}
    columns = {"shown": _column(attribute.name)}
    if attribute.ends is not None:
        name = "release/judged_range"
        of_type = Sql("TIMESTAMP" if attribute.ends in ("DATE", "TIMESTAMP") else NUMBERS)
        typed = sql("CAST({} AS {}[])", asked, of_type)
        low, high = (sql("CAST({} AS {})", _column(attribute.name + end), of_type) for end in ("_lo", "_hi"))
        numbers = [_number(Sql(f"{typed}[{i}]"), of_type) for i in (1, 2)]
        values = {"asked": typed, "numbers": numbers, "counts": attribute.ends in ("BIGINT", "DATE")}
        columns = {"low": low, "high": high, "low_number": _number(low, of_type), "high_number": _number(high, of_type)}
        columns["has_null"] = _column(attribute.name + "_null") if attribute.has_null else Sql("FALSE")
    shown = listed(("stored.transaction_id", *(f"{value} AS {column}" for column, value in columns.items())))
    records = Query(sql("SELECT {} FROM {} AS stored", shown, Table("", schema, "records")))
    return load(name).filled({**{table: Table("", schema, table) for table in load(name).reads}, "records": records}, values)


def _column(name: str) -> Sql:
    return Sql(f"stored.{quoted(name)}")


def _number(value: Sql, of_type: str) -> Sql:
    """A value as a double; dates and timestamps in days."""
    if of_type == NUMBERS:
        return sql("CAST({} AS DOUBLE)", value)
    return sql("epoch_us({}) / CAST(86400000000 AS DOUBLE)", value)
