"""Evaluate the conditions of a query on the published relational values of a record.

**Consistent originals.** A record's value of an attribute is any value that its published value covers: a number or date of
the range (whole if the ends are), a value of the category, or NULL if included. Attributes are independent of each other and
of the items.

**Why the bounds hold.** The conditions of a query on one attribute divide its values into pieces on which each condition is
constant; a record's part of the walk in ``evaluate`` has one vector for each piece that its published value intersects. So
the least and the greatest value of a record are attained, and their sums over records bound the count of every original.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

from sqlglot import exp

from anondb.engine import Engine, Table, reads, tuples
from anondb.query.evaluate import Part, Question, part_of
from anondb.query.refusals import unsupported
from anondb.query.values import DAY, LISTS, ROW, Attribute, OnValue, Value
from anondb.release.manifest import types_of
from anondb.release.reader import SealedRelease

MAX_GROUPS = 1_000
Cell = tuple[str | int | bool | None, ...]
"""A published value: (category,), or (low, high, whether NULL is among the values)."""


@dataclass(frozen=True)
class Covered:
    """The values that a published value covers: a range or listed values, and whether NULL is among them."""

    low: Fraction | None
    high: Fraction | None
    listed: tuple[str, ...]
    null: bool


def covered(attribute: Attribute, cell: Cell) -> Covered:
    """The values that a published value covers."""
    if attribute.ends is None:
        (label,) = cell
        members = [value for released, value in attribute.values if released == label]
        return Covered(None, None, tuple(sorted(v for v in members if v is not None)), label is None or None in members)
    low, high, null = cell
    if low is None or high is None:
        return Covered(None, None, (), True)
    unit = DAY if attribute.dated else 1
    return Covered(Fraction(low) / unit, Fraction(high) / unit, (), bool(null))


def cell_columns(attribute: Attribute) -> list[exp.Expr]:
    """The columns to read for an attribute from the records table: numbers as texts, times in microseconds."""

    def column(end: str) -> exp.Expr:
        return reads.named(attribute.name + end, "records")

    if attribute.ends is None:
        return [column("")]
    ends = [column("_lo"), column("_hi")]
    if attribute.dated:
        ends = [exp.Anonymous(this="epoch_us", expressions=[exp.cast(end, "TIMESTAMP")]) for end in ends]
    return [*(exp.cast(end, "VARCHAR") for end in ends), column("_null") if attribute.has_null else exp.false()]


def cells_of(attributes: Sequence[Attribute], row: Iterable[Any]) -> tuple[Cell, ...]:
    """The published values of attributes, from a row that begins with their columns."""
    values = iter(row)
    return tuple(tuple(next(values) for _ in range(1 if a.ends is None else 3)) for a in attributes)


def with_cells(
    engine: Engine, records: Table, attributes: Sequence[Attribute], held: exp.Query
) -> tuple[exp.Query, Mapping[str, tuple[Cell, ...]]]:
    """Put the number of a combination of published values before the signature of each transaction.

    Args:
        engine: the engine of the release.
        records: the records of the release.
        attributes: whose values.
        held: the signatures of the transactions that have one.

    Returns:
        A query like ``held`` for all records, with signatures such as ``7|12``, and the combination of each number; without
        attributes ``held`` itself.
    """
    if not attributes:
        return held, {}
    columns = [c.as_(f"c{n}") for n, c in enumerate(c for a in attributes for c in cell_columns(a))]
    names = [exp.column(column.alias) for column in columns]
    people = exp.alias_(records.expression(), "records", table=True)
    shown = exp.select(exp.column("transaction_id", "records"), *columns).from_(people).subquery("shown")
    rank = exp.Window(this=exp.DenseRank(), order=exp.Order(expressions=[exp.Ordered(this=n.copy()) for n in names]))
    number = exp.cast(rank, "VARCHAR").as_("number")
    numbered = exp.select("transaction_id", *names, number).from_(shown).subquery("numbered")
    rows = engine.select(exp.select("number", *names).distinct().from_(numbered), "the published values of records")
    cells = {row[0]: cells_of(attributes, row[1:]) for row in tuples(rows)}
    parts = [exp.column("number", "numbered"), exp.Literal.string("|"), exp.column("signature", "held")]
    tree = exp.select(
        exp.column("transaction_id", "numbered"), exp.Concat(expressions=parts, coalesce=True).as_("signature")
    )
    same = exp.column("transaction_id", "numbered").eq(exp.column("transaction_id", "held"))
    return tree.from_(numbered.copy()).join(held.subquery("held"), on=same, join_type="left"), cells


def values_part(question: Question, attribute: Attribute, cell: Cell) -> Part:
    """The part of a record with this published value in the question's conditions on the attribute."""
    among = covered(attribute, cell)
    places = [(n, t) for n, t in enumerate(question.tests) if isinstance(t, OnValue) and t.attribute == attribute.name]
    values: list[Value | None] = [*among.listed, *([None] if among.null else [])]
    numbers: list[Fraction] = []
    if among.low is not None and among.high is not None:
        marks = [mark for _, test in places for mark in test.marks]
        numbers = sorted(_pieces(among.low, among.high, marks, attribute.whole))
    columns = [[0] * (len(values) + len(numbers))] * len(question.tests)
    for n, test in places:
        columns[n] = [*(int(test.holds(value)) for value in values), *map(int, test.among(numbers))]
    return part_of(zip(*columns, strict=True), len(question.tests))


def unseen_parts(question: Question) -> list[Part]:
    """The parts of what a release does not show of a record."""
    return [values_part(question, unseen, ("",)) for unseen in (ROW, LISTS) if unseen.name in question.attributes]


def _pieces(low: Fraction, high: Fraction, marks: Iterable[Fraction], whole: bool) -> Iterable[Fraction]:
    """Divide a range at the marks: yield a value of each piece that is not empty; each mark is a piece of its own."""
    cuts = sorted({low, high, *(m for m in marks if low < m < high)})
    yield from (cut for cut in cuts if not whole or cut.denominator == 1)
    for left, right in pairwise(cuts):
        if not whole or ceil(right) - floor(left) > 1:
            yield (left + right) / 2


def group_values(attribute: Attribute, cells: Iterable[Cell]) -> list[Value | None]:
    """Every possible value, in ascending order, NULL last.

    Raises:
        InputError: ``unsupported_query``: they cannot be listed.
    """
    hint = "Use BETWEEN." if attribute.ends is not None else "Compare it by = or IN with values."
    many = unsupported(f"each value of {attribute.name!r}, which may have over {MAX_GROUPS}", hint)
    values: set[Value] = set()
    null = False
    for among in {covered(attribute, cell) for cell in cells}:
        null = null or among.null
        values.update(among.listed)
        if among.low is None or among.high is None:
            continue
        if not attribute.whole and among.low < among.high:
            raise unsupported(f"GROUP BY {attribute.name!r}, whose values in a range cannot be listed", "Use BETWEEN.")
        if among.high - among.low > MAX_GROUPS or len(values) > MAX_GROUPS:
            raise many
        values.update(among.low + n for n in range(int(among.high - among.low) + 1))
    if len(values) > MAX_GROUPS:
        raise many
    numbers = sorted(value for value in values if isinstance(value, Fraction))
    texts = sorted(value for value in values if isinstance(value, str))
    return [*numbers, *texts, *([None] if null else [])]


def read_attributes(release: SealedRelease) -> tuple[Attribute, ...] | None:
    """The relational attributes of a release, with the types of their columns and the values of their categories; None
    without records."""
    if release.kind.attributes is None:
        return None
    rows = release.engine.query("query/released_values", {"released_values": release.schema.table("released_values")})
    values: dict[str, set[tuple[str, str | None]]] = {}
    for name, released, value in tuples(rows):
        values.setdefault(name, set()).add((released, value))
    types, nullable = types_of(release.manifest), _with_null(release)
    return tuple(
        Attribute(a.name, a.ends, a.has_null or a.name in nullable, frozenset(values.get(a.name, ())), types[a.name])
        for a in release.kind.attributes
    )


def _with_null(release: SealedRelease) -> set[str]:
    """The categories of a release that are NULL in some record, which ``released_values`` does not list."""
    names = [a.name for a in release.kind.attributes or () if a.ends is None]
    if not names:
        return set()
    columns = [reads.named(name) for name in names]
    nulls = [exp.LogicalOr(this=column.is_(exp.null())).as_(f"c{n}") for n, column in enumerate(columns)]
    rows = release.engine.select(
        exp.select(*nulls).from_(release.schema.table("records").expression()),
        "categories that are NULL in some record",
    )
    return {name for n, name in enumerate(names) if rows[f"c{n}"].tolist() == [True]}
