"""Draws the relational attributes of a world: a value of each range or category, independent of each other and of the items.

With u a random number of the person, the attribute and the world, a range has the value ``lo + floor((hi - lo + 1) u)``, in
units of the last decimal, of days or of microseconds; NULL is one more value where it is possible. A category has one of its
values, each as likely as 1 + the number of records that show it as itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from sqlglot import exp

from anondb.answers.files import Attribute, File, make_empty, of_worlds, place
from anondb.answers.hashing import MASK, hashed
from anondb.engine import DuckDBEngine, Table, load
from anondb.engine.trees import united

VALUES = place("drawn values")
_TWICE = 1 << 33  # 2^32 times the 2 of (2 h + 1) / 2^33 = u


class Records:
    """Draws the attributes of all persons in all worlds.

    Args:
        engine: the database with the files' records.
        files: the files.
        numbers: the numbers of the worlds.
    """

    def __init__(self, engine: DuckDBEngine, files: Sequence[File], numbers: range) -> None:
        self._engine, self._numbers, self._values = engine, numbers, of_worlds(VALUES, numbers[0])
        before = [0, *accumulate(file.description.transactions for file in files)]
        self._missing = [(file, n, before[n]) for n, file in enumerate(files) if file.description.records is not None]
        if self._missing:
            columns = {f"a{n}": a.column.type for n, a in enumerate(files[0].description.attributes)}
            make_empty(engine, self._values, {"world": "SMALLINT", "tid": "INTEGER", **columns})

    def draw(self) -> None:
        """Append the attributes to the table ``VALUES``, unless they are there: world, number of the person, a0, a1, ..."""
        while self._missing:
            drawn = _drawn(self._engine, *self._missing[0], self._numbers)
            self._engine.run(exp.Insert(this=self._values.expression(), expression=drawn), "drawing attributes")
            self._missing.pop(0)


def _drawn(engine: DuckDBEngine, file: File, number: int, before: int, worlds: range) -> exp.Query:
    """The attributes of the persons of a file in worlds."""
    records, weighed = place("records", number), place("weighed values", number)
    if any(a.ends is None for a in file.description.attributes):
        tables: dict[str, Table | exp.Query] = {
            "listed": place("released_values", number),
            "shown": _shown(file, records),
        }
        engine.drop(weighed)
        engine.create(weighed, load("answers/weighed_values").bind(tables, {}))
    persons = load("answers/persons_in_worlds").bind({"records": records}, {"first": worlds.start, "end": worlds.stop})
    for n in range(len(file.description.attributes)):
        persons = _with_hash(persons, n, file.description.seed)
    tid = exp.Add(this=exp.column("transaction_id", "persons"), expression=exp.convert(before))
    query = exp.select(
        exp.cast(exp.column("world", "persons"), "SMALLINT").as_("world"), exp.cast(tid, "INTEGER").as_("tid")
    )
    same = exp.column("transaction_id", "persons").eq(exp.column("transaction_id", "records"))
    shown = exp.alias_(records.expression(), "records", table=True)
    query = query.from_(persons.subquery("persons")).join(shown, on=same)
    for n, attribute in enumerate(file.description.attributes):
        value = _value_in_range(attribute, n)
        if attribute.ends is None:
            query, value = _joined(query, attribute, n, weighed), exp.column("value", f"v{n}")
        query = query.select(exp.cast(value, attribute.column.type, dialect="duckdb").as_(f"a{n}"))
    return query


def _shown(file: File, records: Table) -> exp.Query:
    """How many records show each category."""
    parts = []
    for attribute in file.description.attributes:
        if attribute.ends is None:
            value, count = exp.column(_named(attribute, "")), exp.Count(this=exp.Star())
            columns = (exp.Literal.string(attribute.column.name).as_("attribute"), value.as_("released_value"))
            parts.append(exp.select(*columns, count.as_("records")).from_(records.expression()).group_by(value.copy()))
    return united(parts)


def _with_hash(persons: exp.Query, n: int, seed: int) -> exp.Query:
    """The persons in all worlds, with the hash of the n-th attribute beside those before it."""
    kept = ["transaction_id", "world", *(f"h{i}" for i in range(n))]
    added = exp.Add(this=exp.cast(exp.column("world"), "BIGINT"), expression=exp.convert(seed))
    salt = exp.BitwiseAnd(this=exp.paren(added), expression=exp.convert(MASK))
    arguments = exp.select(exp.column("transaction_id").as_("a"), exp.convert(n).as_("b"), salt.as_("c"), *kept)
    hashes = hashed(arguments.from_(persons.subquery("persons")), kept)
    return exp.select(*kept, exp.column("h").as_(f"h{n}")).from_(hashes.subquery("hashed"))


def _choice(size: exp.Expr, n: int) -> exp.Expr:
    """``floor(size u)`` of the n-th attribute, in whole numbers."""
    twice = exp.Add(this=exp.Mul(this=exp.column(f"h{n}", "persons"), expression=exp.convert(2)), expression=exp.convert(1))
    product = exp.Mul(this=exp.cast(exp.paren(size), "HUGEINT"), expression=exp.paren(twice))
    return exp.IntDiv(this=product, expression=exp.cast(exp.convert(_TWICE), "HUGEINT"))


def _joined(query: exp.Select, attribute: Attribute, n: int, weighed: Table) -> exp.Select:
    """A query joined with the value of a category that was chosen."""
    name, choice = f"v{n}", _choice(exp.column("total", f"v{n}"), n)
    on = exp.and_(
        exp.column("attribute", name).eq(exp.Literal.string(attribute.column.name)),
        exp.column("released_value", name).eq(exp.column(_named(attribute, ""), "records")),
        exp.column("low", name) <= choice,
        choice.copy() < exp.column("high", name),
    )
    return query.join(exp.alias_(weighed.expression(), name, table=True), on=on, join_type="left")


def _value_in_range(attribute: Attribute, n: int) -> exp.Expr:
    """The value of a range that was chosen."""
    low, high = (_units(exp.column(_named(attribute, end), "records"), attribute.ends) for end in ("_lo", "_hi"))
    width = exp.Sub(this=high, expression=low)
    null: exp.Expr = exp.convert(0)
    if attribute.has_null:
        null = exp.cast(exp.column(_named(attribute, "_null"), "records"), "INTEGER")
    size = exp.Add(this=exp.Add(this=width, expression=exp.convert(1)), expression=null)
    choice = _choice(size, n)
    value = of_units(exp.Add(this=low.copy(), expression=choice), attribute.ends)
    return exp.Case(ifs=[exp.If(this=choice.copy() > exp.paren(width.copy()), true=exp.null())], default=value)


def _named(attribute: Attribute, end: str) -> exp.Identifier:
    return exp.to_identifier(attribute.column.name + end, quoted=True)


def _decimals(kind: str | None) -> int:
    """The number of decimals of a type: ``DECIMAL(18,2)`` has 2."""
    return int(kind.rstrip(") ").rpartition(",")[2]) if kind and kind.startswith("DECIMAL") else 0


def _units(value: exp.Expr, kind: str | None) -> exp.Expr:
    """The end of a range as a whole number of units."""
    if kind == "DATE":
        value = exp.Sub(this=value, expression=exp.cast(exp.Literal.string("1970-01-01"), "DATE"))
    elif kind == "TIMESTAMP":
        value = exp.Anonymous(this="epoch_us", expressions=[value])
    elif _decimals(kind):
        value = exp.Mul(this=value, expression=exp.convert(10 ** _decimals(kind)))
    return exp.cast(value, "HUGEINT")


def of_units(value: exp.Expr, kind: str | None) -> exp.Expr:
    """A whole number of units as a value of the type."""
    if kind == "DATE":
        days = exp.cast(exp.paren(value), "INTEGER")
        return exp.paren(exp.Add(this=exp.cast(exp.Literal.string("1970-01-01"), "DATE"), expression=days))
    if kind == "TIMESTAMP":
        return exp.Anonymous(this="make_timestamp", expressions=[exp.cast(exp.paren(value), "BIGINT")])
    if _decimals(kind):
        unit = exp.cast(
            exp.Literal.number(f"0.{'1'.zfill(_decimals(kind))}"), f"DECIMAL({_decimals(kind)}, {_decimals(kind)})"
        )
        return exp.Mul(this=exp.cast(exp.paren(value), "DECIMAL(20, 0)"), expression=unit)
    return exp.paren(value)
