"""Conditions on relational values in ``count_bounds``, derived from the columns of a release's ``records`` table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.engine import Table, reads
from anondb.release.bodies import body_of

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


def judged_records(schema: str, attributes: Sequence[ReleasedAttribute]) -> exp.Query:
    """Build the query (transaction_id, must, may, chance) over the conditions on all attributes, for the macro's body. Its
    shape depends on the attributes. A condition is a parameter of the macro with the name of its attribute; all columns are
    qualified, because a parameter replaces an unqualified column of the same name."""
    if not attributes:
        ids = exp.alias_(Table("", schema, "transaction_ids").expression(), "stored", table=True)
        yes = [exp.true().as_("must"), exp.true().as_("may"), exp.cast(exp.convert(1), "DOUBLE").as_("chance")]
        return exp.select(exp.column("transaction_id", "stored"), *yes).from_(ids)
    parts = [_judged(schema, attribute).subquery(f"judged{i}") for i, attribute in enumerate(attributes)]
    query = exp.select(exp.column("transaction_id", "judged0")).from_(parts[0])
    for i, part in enumerate(parts[1:], 1):
        same = exp.column("transaction_id", f"judged{i}").eq(exp.column("transaction_id", "judged0"))
        query = query.join(part, on=same)
    places = [f"judged{i}" for i in range(len(parts))]
    chance: exp.Expr = exp.column("chance", places[0])
    for place in places[1:]:
        chance = exp.Mul(this=chance, expression=exp.column("chance", place))
    return query.select(
        exp.and_(*(exp.column("must", place) for place in places)).as_("must"),
        exp.and_(*(exp.column("may", place) for place in places)).as_("may"),
        chance.as_("chance"),
    )


def _judged(schema: str, attribute: ReleasedAttribute) -> exp.Query:
    """The query that judges the condition on one attribute."""
    asked = reads.named(attribute.name)
    values: dict[str, exp.Expr]
    columns: dict[str, exp.Expr]
    if attribute.ends is None:
        name = "release/judged_category"
        values = {"asked": asked, "attribute": exp.Literal.string(attribute.name)}
        columns = {"shown": _column(attribute.name)}
    else:
        name = "release/judged_range"
        of_type = "TIMESTAMP" if attribute.ends in ("DATE", "TIMESTAMP") else NUMBERS
        typed = exp.cast(asked, f"{of_type}[]", dialect="duckdb")
        ends = [exp.cast(_column(attribute.name + end), of_type, dialect="duckdb") for end in ("_lo", "_hi")]
        values = {
            "asked": typed,
            "numbers": exp.Array(
                expressions=[_number(exp.Bracket(this=typed.copy(), expressions=[exp.convert(i)]), of_type) for i in (0, 1)]
            ),
            "counts": exp.convert(attribute.ends in ("BIGINT", "DATE")),
        }
        columns = {
            "low": ends[0],
            "high": ends[1],
            "low_number": _number(ends[0], of_type),
            "high_number": _number(ends[1], of_type),
            "has_null": _column(attribute.name + "_null") if attribute.has_null else exp.false(),
        }
    records = exp.select(
        exp.column("transaction_id", "stored"), *(value.as_(column) for column, value in columns.items())
    ).from_(exp.alias_(Table("", schema, "records").expression(), "stored", table=True))
    return body_of(name, schema, values, {"records": records})


def _column(name: str) -> exp.Column:
    return reads.named(name, "stored")


def _number(value: exp.Expr, of_type: str) -> exp.Expr:
    """A value as a double; dates and timestamps in days."""
    if of_type == NUMBERS:
        return exp.cast(value.copy(), "DOUBLE")
    microseconds = exp.Anonymous(this="epoch_us", expressions=[value.copy()])
    return exp.Div(this=microseconds, expression=exp.cast(exp.convert(86_400_000_000), "DOUBLE"), typed=False)
