"""The tables of the world that a variable names: views with the names, columns, types and layout of the original."""

from __future__ import annotations

from sqlglot import exp

from anondb.answers.facts import BAGS, Column, Facts
from anondb.answers.files import DRAWN, ROWS, of_worlds, place
from anondb.answers.records import VALUES, of_units
from anondb.engine import Table, load, reads
from anondb.engine.queries import Tables
from anondb.release.objects import RECORDS

OWN = "own"
"""The schema with views of the analyst's tables, under the names that queries use."""
BASE, ITEMS, IDS = map(place, ("base", "items", "ids"))
_NUMBER = "anondb_world"


def schema_of(first: int) -> str:
    """The schema with the tables of the worlds from a number on."""
    return f"world_{first}"


def current_world() -> exp.Expr:
    """The number of the world whose rows the views have."""
    return exp.cast(exp.Anonymous(this="getvariable", expressions=[exp.Literal.string(_NUMBER)]), "INTEGER")


def world_is(number: int | None) -> exp.Set:
    """The statement that has the views of worlds show the rows of one world, or of none."""
    name = exp.EQ(this=exp.Var(this=_NUMBER), expression=exp.convert(number))
    return exp.Set(expressions=[exp.SetItem(this=name, kind="VARIABLE")])


def tables_of(facts: Facts, first: int, *, kept: bool) -> dict[Table, exp.Query]:
    """The tables of the worlds from a number on, each with its rows.

    Args:
        facts: the facts of any of the files.
        first: the number of the first world.
        kept: whether there are rows that are the same in all worlds.
    """

    def table(name: str) -> Table:
        return Table("memory", schema_of(first), name)

    tables = {table("baskets"): _baskets(facts, first, kept)}
    if facts.records is not None:
        tables |= {table(name): _records(facts, first) for name in {RECORDS, facts.records.lower()}}
    tables.pop(table(facts.table.lower()), None)
    return tables | {table(facts.table): _transactions(facts, first, kept)}


def _baskets(facts: Facts, first: int, kept: bool) -> exp.Query:
    """Each transaction with the list of its items, under the names of a sealed file."""
    lists = load("answers/held_lists").bind({"held": _held(facts, first, kept), "ids": IDS}, {})
    number = exp.Neg(this=exp.cast(exp.column("tid", "held"), "BIGINT"))
    items = exp.cast(exp.column("item", "held"), "VARCHAR[]", dialect="duckdb")
    return exp.select(number.as_("transaction_id"), items.as_("items")).from_(lists.subquery("held"))


def _held(facts: Facts, first: int, kept: bool) -> exp.Query:
    """The items of each transaction, a row for each."""
    copies = reads.rows(ROWS, "label, tid, unnest(range(copies)) AS copy")
    rows = copies if facts.rows == BAGS else ROWS
    tables: Tables = {"drawn": of_worlds(DRAWN, first), "items": ITEMS, "rows": rows, "base": BASE}
    held = load("answers/held" if kept else "answers/held_drawn")
    return held.bind({name: tables[name] for name in held.reads}, {"world": current_world()})


def _transactions(facts: Facts, first: int, kept: bool) -> exp.Query:
    """The table of transactions: a row for each item, or one with a list for each id."""
    rows = _held(facts, first, kept)
    source = load("answers/held_lists").bind({"held": rows, "ids": IDS}, {}) if facts.lists else rows
    query = exp.select(modelled_id(facts.id, "held").as_(facts.id.name, quoted=True))
    query = query.select(exp.column("item", "held").as_(facts.item.name, quoted=True)).from_(source.subquery("held"))
    if facts.partition is not None:
        query = query.select(exp.column("part", "held").as_(facts.partition[0].name, quoted=True))
    if facts.inline:
        same = exp.column("tid", "attributes").eq(exp.column("tid", "held"))
        query = query.select(*_values(facts, "attributes")).join(_attributes_of_world(first), on=same)
    return query


def _records(facts: Facts, first: int) -> exp.Query:
    """The table of attributes."""
    query = exp.select(modelled_id(facts.id, "attributes").as_(facts.id.name, quoted=True))
    return query.select(*_values(facts, "attributes")).from_(_attributes_of_world(first))


def _values(facts: Facts, table: str) -> list[exp.Expr]:
    return [exp.column(f"a{n}", table).as_(a.column.name, quoted=True) for n, a in enumerate(facts.attributes)]


def _attributes_of_world(first: int) -> exp.Subquery:
    rows = exp.select("*").from_(of_worlds(VALUES, first).expression())
    return rows.where(exp.column("world").eq(current_world())).subquery("attributes")


def modelled_id(column: Column, table: str) -> exp.Expr:
    """The id of a modelled person by its number: a value that no person of the original has.

    Numbers are negative; of a DECIMAL, multiples of its last decimal. Texts are ``modelled-1`` and so on, as are ids of
    a type without a value to spare (BOOLEAN). Dates are the days before 9999-12-31, timestamps the seconds before it, UUIDs
    ``ffffffff-ffff-ffff-ffff-`` with the number in hexadecimal digits, of a version that does not exist.
    """
    number: exp.Expr = exp.cast(exp.column("tid", table), "BIGINT")
    last = exp.Literal.string("9999-12-31")
    kind = column.type.upper()
    if kind in ("BIGINT", "DOUBLE") or kind.startswith("DECIMAL"):
        return exp.cast(of_units(exp.Neg(this=number), kind), column.type, dialect="duckdb")
    if kind == "DATE":
        return exp.Sub(this=exp.cast(last, "DATE"), expression=exp.cast(number, "INTEGER"))
    if kind == "TIMESTAMP":
        seconds = exp.Anonymous(this="to_seconds", expressions=[number])
        return exp.Sub(this=exp.cast(last, "TIMESTAMP"), expression=seconds)
    if kind == "UUID":
        digits = exp.Anonymous(this="printf", expressions=[exp.Literal.string("%012x"), number])
        text = exp.DPipe(this=exp.Literal.string("ffffffff-ffff-ffff-ffff-"), expression=digits)
        return exp.cast(exp.paren(text), "UUID")
    return exp.DPipe(this=exp.Literal.string("modelled-"), expression=exp.cast(number, "VARCHAR"))
