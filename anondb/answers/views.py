"""The tables of the world that a variable names: views with the names, columns, types and layout of the original.

The first world is also what modelled rows of a file are compared with."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from anondb.answers.all_worlds import WORLD_COLUMN, over_worlds
from anondb.answers.files import BAGS, COUNTS, DRAWN, ROWS, SETS, Column, Description, of_worlds, place
from anondb.answers.holder_counts import HOLDERS
from anondb.answers.records import VALUES, of_units
from anondb.engine import Table, load, reads
from anondb.engine.queries import Tables
from anondb.release.digest import modelled_line
from anondb.release.modelled import modelled_tables
from anondb.release.objects import RECORDS, SchemaName
from anondb.release.reader import SealedRelease

OWN = "own"
"""The schema with views of the analyst's tables, under the names that queries use."""
BASE, ITEMS, IDS = map(place, ("base", "items", "ids"))


def schema_of(first: int) -> str:
    """The schema with the tables of the worlds from a number on."""
    return f"world_{first}"


def current_world() -> exp.Expr:
    """The number of the world whose rows the views have."""
    return exp.cast(exp.Anonymous(this="getvariable", expressions=[exp.Literal.string(WORLD_COLUMN)]), "INTEGER")


def world_is(number: int | None) -> exp.Set:
    """The statement that has the views of worlds show the rows of one world, or of none."""
    name = exp.EQ(this=exp.Var(this=WORLD_COLUMN), expression=exp.convert(number))
    return exp.Set(expressions=[exp.SetItem(this=name, kind="VARIABLE")])


def world_numbers(first: int, count: int) -> exp.Select:
    """The numbers of worlds, as a query."""
    ends = [exp.convert(first), exp.convert(first + count)]
    number = exp.cast(exp.column("range"), "INTEGER").as_(WORLD_COLUMN)
    return exp.select(number).from_(exp.Table(this=exp.Anonymous(this="range", expressions=ends)))


def table_of_all(name: str, first: int) -> Table:
    """The table with the rows of a table in all worlds from a number on, and the number of the world."""
    return Table("memory", f"all_worlds_{first}", name)


def of_all(tables: Mapping[Table, exp.Query], first: int, worlds: exp.Query) -> dict[Table, exp.Query]:
    """The tables of ``tables_of`` with the rows of all worlds, and the number of the world as the last column.

    There are none if one of them cannot be written so, as where the original has a column with the name of that one.
    """
    every = [(of.catalog, of.schema, of.name) for of in (of_worlds(table, first) for table in (DRAWN, VALUES, COUNTS))]

    def drawn(table: exp.Table) -> exp.Expr | None:
        if (table.catalog, table.db, table.name) not in every:
            return None
        return exp.select("*", exp.column("world").as_(WORLD_COLUMN)).from_(table.copy()).subquery()

    made = {}
    for table, rows in tables.items():
        query = over_worlds(rows, drawn, worlds, lambda node: node.find(exp.AggFunc) is not None)
        if query is None:
            return {}
        made[table_of_all(table.name, first)] = query
    return made


def tables_of(description: Description, first: int, *, kept: bool) -> dict[Table, exp.Query]:
    """The tables of the worlds from a number on, each with its rows.

    Args:
        description: the description of any of the files.
        first: the number of the first world.
        kept: whether there are rows that are the same in all worlds.
    """

    def table(name: str) -> Table:
        return Table("memory", schema_of(first), name)

    tables = {table(HOLDERS): _holders(description, first)} if description.rows == SETS and not description.lists else {}
    tables[table("baskets")] = _baskets(description, first, kept)
    if description.records is not None:
        tables |= {table(name): _records(description, first) for name in {RECORDS, description.records.lower()}}
    tables.pop(table(description.table.lower()), None)
    return tables | {table(description.table): _transactions(description, first, kept)}


def _holders(description: Description, first: int) -> exp.Query:
    """The number of holders of each item that somebody holds."""
    counts, items = of_worlds(COUNTS, first).expression(), exp.alias_(ITEMS.expression(), "items", table=True)
    columns = [
        exp.column("item", "items").as_(description.item.name, quoted=True),
        exp.column("holders", "counts").as_(HOLDERS),
    ]
    same = exp.column("member", "counts").eq(exp.column("member", "items"))
    query = exp.select(*columns).from_(exp.alias_(counts, "counts", table=True)).join(items, on=same)
    return query.where(exp.column("world", "counts").eq(current_world()))


def _baskets(description: Description, first: int, kept: bool) -> exp.Query:
    """Each transaction with the list of its items, under the names of a sealed file."""
    lists = load("answers/held_lists").bind({"held": _held(description, first, kept), "ids": IDS}, {})
    number = exp.Neg(this=exp.cast(exp.column("tid", "held"), "BIGINT"))
    items = exp.cast(exp.column("item", "held"), "VARCHAR[]", dialect="duckdb")
    return exp.select(number.as_("transaction_id"), items.as_("items")).from_(lists.subquery("held"))


def _held(description: Description, first: int, kept: bool) -> exp.Query:
    """The items of each transaction, a row for each."""
    copies = reads.rows(ROWS, "label, tid, unnest(range(copies)) AS copy")
    rows = copies if description.rows == BAGS else ROWS
    tables: Tables = {"drawn": of_worlds(DRAWN, first), "items": ITEMS, "rows": rows, "base": BASE}
    held = load("answers/held" if kept else "answers/held_drawn")
    return held.bind({name: tables[name] for name in held.reads}, {"world": current_world()})


def _transactions(description: Description, first: int, kept: bool) -> exp.Query:
    """The table of transactions: a row for each item, or one with a list for each id."""
    rows = _held(description, first, kept)
    source = load("answers/held_lists").bind({"held": rows, "ids": IDS}, {}) if description.lists else rows
    query = exp.select(modelled_id(description.id, "held").as_(description.id.name, quoted=True))
    query = query.select(exp.column("item", "held").as_(description.item.name, quoted=True)).from_(source.subquery("held"))
    if description.partition is not None:
        query = query.select(exp.column("part", "held").as_(description.partition[0].name, quoted=True))
    if description.inline:
        same = exp.column("tid", "attributes").eq(exp.column("tid", "held"))
        query = query.select(*_values(description, "attributes")).join(_attributes_of_world(description, first), on=same)
    return query


def _records(description: Description, first: int) -> exp.Query:
    """The table of attributes."""
    query = exp.select(modelled_id(description.id, "attributes").as_(description.id.name, quoted=True))
    return query.select(*_values(description, "attributes")).from_(_attributes_of_world(description, first))


def _values(description: Description, table: str) -> list[exp.Expr]:
    return [exp.column(f"a{n}", table).as_(a.column.name, quoted=True) for n, a in enumerate(description.attributes)]


def _attributes_of_world(description: Description, first: int) -> exp.Subquery:
    rows = exp.select("tid", *(f"a{n}" for n in range(len(description.attributes)))).from_(
        of_worlds(VALUES, first).expression()
    )
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


def first_world(release: SealedRelease) -> SchemaName:
    """Draw the first world of a release on its engine; returns the schema of its tables, in the database in memory."""
    from anondb.answers.files import copied
    from anondb.answers.worlds import Worlds

    worlds = Worlds(release.engine, copied(release.engine, [release]), most=1)
    worlds.draw()
    release.engine.run(world_is(0), "choosing a world")
    return SchemaName("memory", schema_of(0))


def modelled_rows_hold(release: SealedRelease) -> bool:
    """Whether the modelled rows of a release are those of its first world, every row and value.

    They are drawn again, and digests of the sorted rows are compared.
    """
    drawn = first_world(release)
    return all(
        modelled_line(release.engine, table, table.place(release.schema.catalog))
        == modelled_line(release.engine, table, drawn.table(table.name))
        for table in modelled_tables(release.manifest, release.kind)
    )
