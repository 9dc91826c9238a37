"""Groups of the original's rows, and those to which the numbers of other groups by the same keys are added.

What only one of them asks of the rows becomes FILTER. Of groups of the table with one row for each person, an aggregate over
the rows that are joined with it is one over persons, each with what their rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import (
    aliased,
    clauses_of,
    conditions_of,
    filtered_by,
    is_inner,
    places_of,
    set_conditions,
    shown_by_name,
)
from anondb.answers.ranged.equivalents import names_alias
from anondb.answers.ranged.listed_groups import TOGETHER
from anondb.answers.ranged.originals import Originals, is_present
from anondb.answers.ranged.relation import fresh
from anondb.answers.ranged.rows_of_records import RowsOfRecords, each_written
from anondb.answers.ranged.sources import grouped
from anondb.answers.ranged.values import when
from anondb.query.parsing import conjoined, is_null, lowered

_PARTS = {"expressions", "from_", "joins", "where", "group"}


@dataclass(frozen=True)
class Groups:
    """The groups of a SELECT, its keys by the names of their columns, and the values of the other columns."""

    select: exp.Select
    keys: Mapping[str, exp.Expr]
    values: Mapping[str, exp.Expr]

    def written(self, select: exp.Select) -> Groups:
        """The same groups with their columns as another SELECT writes them."""
        shown = shown_by_name(select)
        return Groups(select, *({name: shown[name] for name in of} for of in (self.keys, self.values)))

    @property
    def places(self) -> list[exp.Expr]:
        """FROM and the joins."""
        return places_of(self.select)

    @property
    def conditions(self) -> list[exp.Expr]:
        """The conditions of WHERE."""
        return conditions_of(self.select)

    @property
    def linked(self) -> list[exp.Expr]:
        """The conditions of joins."""
        return [part for place in self.places[1:] for part in conjoined(place.args.get("on"))]

    @property
    def sources(self) -> list[exp.Expr]:
        """What is joined, in any order."""
        return sorted((place.this for place in self.places), key=_text)


def read_groups(inner: exp.Select | None, *, having: bool = False) -> Groups | None:
    """The groups of a SELECT that shows all of its keys; None for other queries. With ``having`` it may also have HAVING."""
    group = None if inner is None else inner.args.get("group")
    if inner is None or group is None or not clauses_of(inner) <= (_PARTS | {"having"} if having else _PARTS):
        return None
    if clauses_of(group) not in ({"expressions"}, {"all"}) or inner.find(exp.Window):
        return None
    shown = shown_by_name(inner)
    keys = grouped(inner, lambda column: False)
    names = {name: value for name, value in shown.items() if value in keys}
    whole = len(shown) == len(inner.expressions) and all(shown) and {*names.values()} == {*keys}
    whole = whole and (inner.args.get("having") is None or not names_alias(inner.args["having"], inner))
    return Groups(inner, names, {n: v for n, v in shown.items() if n not in names}) if whole and keys else None


def unnamed(node: exp.Expr) -> exp.Expr:
    """An expression without the tables of its columns."""
    return node.transform(lambda n: exp.column(n.this.copy()) if isinstance(n, exp.Column) else n)


@dataclass(frozen=True)
class Pair:
    """Two groups of rows by the same keys.

    Attributes:
        one, other: the groups, with the same names of the same sources where these are the original's tables.
        common: the conditions of WHERE of both.
        mine, theirs: those of only one of them; for the other, of its joins, too.
        same: whether their rows are joined of the same sources in the same way.
    """

    one: Groups
    other: Groups
    common: list[exp.Expr]
    mine: list[exp.Expr]
    theirs: list[exp.Expr]
    same: bool

    @classmethod
    def of(cls, one: Groups, other: Groups, originals: Originals) -> Pair:
        """Compare two groups."""
        alike = _alike(one, _with_records(other, one, originals), originals)
        one, other = alike or (one, other)
        every = [_turned(part) for part in (*other.linked, *other.conditions)]
        common = [part for part in one.conditions if _turned(part) in every]
        own = [_turned(part) for part in (*one.linked, *common)]
        theirs = [part for part in (*other.linked, *other.conditions) if _turned(part) not in own]
        mine = [part for part in one.conditions if part not in common]
        linked = alike is not None and one.sources == other.sources and _are_linked(one, common, every)
        return cls(one, other, common, mine, theirs, one.places == other.places or linked)

    @property
    def joined(self) -> bool:
        """Whether a condition that both have joins each source."""
        return _are_linked(self.one, self.common, [_turned(part) for part in (*self.other.linked, *self.other.conditions)])


def beside(
    pair: Pair, pairs: Collection[tuple[str, str]], originals: Originals, *, outer: bool, row: bool = False
) -> tuple[exp.Select, dict[str, exp.Expr]] | None:
    """The SELECT of groups to which the columns of others are added, and these; None if they are of different rows.

    Args:
        pair: the groups.
        pairs: the names of the keys of the others, each after that of the key of the first to which it is equal.
        originals: the original's tables.
        outer: whether groups that only the first have are kept; a count of the other is then also ``NAME or 0``.
        row: whether each of the others is one row where it has no rows, too, as an aggregate without GROUP BY.
    """
    one, mine, common = pair.one, pair.mine, list(pair.common)
    copy, kept, own = one.select.copy(), one.select.args.get("having"), [one.keys[name] for name, _ in pairs]
    if own != [pair.other.keys[name] for _, name in pairs] or any(map(_is_odd, (*one.values.values(), kept))):
        return None  # other keys of the same names
    absent = [exp.Not(this=is_null(key)) for key in own if not is_present(key, one.select, originals.present)]
    if outer:  # NULL is equal to nothing
        pair = replace(pair, theirs=[*pair.theirs, *absent])
    else:
        common += absent
    write = _rows_of_groups(pair, own, originals)
    if write is None:
        return None
    number = write(exp.Count(this=exp.Star()))
    values = {name: each_written(value, write) for name, value in pair.other.values.items()}
    copy.set("expressions", [each_written(e, lambda call: filtered_by(call, *mine)) for e in copy.expressions])
    set_conditions(copy, common)
    copy.set("group", exp.Group(expressions=[key.copy() for key in one.keys.values()]) if one.keys else None)
    further = bool(pair.theirs) or not pair.same
    required = [filtered_by(exp.Count(this=exp.Star()), *mine)] if mine and one.keys else []
    required = [*required, number] if further and not outer else required
    having = [] if kept is None else [each_written(kept.this, lambda call: filtered_by(call, *mine))]
    having += [exp.GT(this=n.copy(), expression=exp.convert(0)) for n in required]
    set_conditions(copy, having, "having")
    if outer and further and not row:
        there = exp.GT(this=number, expression=exp.convert(0))
        cases = {n: when(there, value) for n, value in values.items()}
        counts = {f"{n} or 0": value for n, value in values.items() if isinstance(pair.other.values[n], exp.Count)}
        values = {**cases, **counts}
    return copy, values


def _is_odd(value: exp.Expr | None) -> bool:
    """Whether a value may have an aggregate that cannot be written with FILTER."""
    return (
        value is not None and value.find(exp.Anonymous, exp.AnonymousAggFunc, exp.WithinGroup, exp.IgnoreNulls) is not None
    )


def _rows_of_groups(pair: Pair, keys: Sequence[exp.Expr], originals: Originals) -> Callable[[exp.Expr], exp.Expr] | None:
    """A function that writes an aggregate of the other groups as one of the first groups; None if their rows differ."""
    one, other, mine, theirs = pair.one, pair.other, pair.mine, pair.theirs
    coarse = len(keys) < len(one.keys)
    if not pair.same:
        plain = not coarse and not mine
        write = _records_aggregate(one, other, originals, [p for p in theirs if p not in other.linked]) if plain else None
        return _never_null(write) if write is not None and not one.keys else write
    if not pair.joined and mine + theirs:
        return None  # a condition that joins stays in WHERE
    if any(map(_is_odd, other.values.values())):
        return None
    if not coarse:
        return lambda call: filtered_by(call, *theirs)
    calls = [c for value in other.values.values() for c in value.find_all(exp.AggFunc)]
    if mine or theirs or one.select.args.get("having") is not None:
        return None  # a group that is left out is a part of a total
    if any(type(c) not in TOGETHER or isinstance(c.this, exp.Distinct) for c in calls):
        return None

    def total(call: exp.Expr) -> exp.Expr:
        together: exp.Expr = TOGETHER[type(filtered(call)[0])](this=filtered_by(call, *theirs))
        return exp.Window(this=together, partition_by=[key.copy() for key in keys], over="OVER")

    return total


def _never_null(write: Callable[[exp.Expr], exp.Expr]) -> Callable[[exp.Expr], exp.Expr]:
    """The same function for aggregates over all records: a count is 0, not NULL, if there are no records."""

    def filled(call: exp.Expr) -> exp.Expr:
        counts = isinstance(filtered(call)[0], exp.Count)
        return exp.func("coalesce", write(call), exp.convert(0)) if counts else write(call)

    return filled


def _are_linked(one: Groups, common: Sequence[exp.Expr], every: Collection[exp.Expr]) -> bool:
    """Whether all conditions of the joins of groups are those of others, too, and there is one for each join."""
    links = [place for place in one.places[1:] if any(place.args.get(key) for key in ("on", "using", "method"))]
    equal = [part for part in common if isinstance(part, exp.EQ) and len({c.table for c in part.find_all(exp.Column)}) > 1]
    shared = all(_turned(part) in every for part in one.linked)
    return shared and len(links) + len(equal) >= len(one.places) - 1


def _turned(part: exp.Expr) -> exp.Expr:
    """A condition with the sides of ``=`` sorted, so that ``a = b`` and ``b = a`` are the same."""
    if not isinstance(part, exp.EQ):
        return part
    return exp.EQ(**dict(zip(("this", "expression"), sorted(part.iter_expressions(), key=_text), strict=True)))


def _with_records(of: Groups, other: Groups, originals: Originals) -> Groups:
    """Groups of the only table joined with that of the persons' records, if others join it: each row has one record."""
    table, copy = of.places[0].this, of.select.copy()
    records = [place.this for place in other.places if originals.record(place.this) is not None]
    if of.places[1:] or len(other.places) != 2 or len(records) != 1 or lowered(table.name) != originals.persons:
        return of
    alias, own, ids = fresh("record"), originals.id_of(originals.persons), originals.record(records[0])
    if own is None or ids is None:
        return of
    for column in [c for c in copy.find_all(exp.Column) if not c.table and c.parent_select is copy]:
        column.set("table", exp.to_identifier(table.alias_or_name))
    on = exp.EQ(this=exp.column(own, table.alias_or_name), expression=exp.column(ids, alias))
    joined = exp.Table(this=records[0].this.copy(), alias=exp.TableAlias(this=exp.to_identifier(alias)))
    copy.set("joins", [exp.Join(this=joined, on=on)])
    return of.written(copy)


def _text(node: exp.Expr) -> str:
    return node.sql("duckdb")


def _alike(one: Groups, other: Groups, originals: Originals) -> tuple[Groups, Groups] | None:
    """Groups with the table of each column and the conditions of joins written, and equal tables under the names that the
    first has for them; None if they do not join tables, each once."""
    written = [made for of in (one, other) if (made := _written(of, originals)) is not None]
    if len(written) < 2:
        return None
    names, theirs = ({lowered(p.this.name): lowered(p.this.alias_or_name) for p in of.places} for of in written)
    again = {theirs[table]: alias for table, alias in names.items() if table in theirs}
    inner = {lowered(t.alias_or_name) for of in written for t in _sources_inside(of.select)}
    rest = {*theirs.values()} - {*again}
    if inner & {*names.values(), *theirs.values()} or rest & {*names.values()}:
        return None
    for of, aliases in zip(written, ({alias: alias for alias in names.values()}, again), strict=True):
        for column in [c for c in of.select.find_all(exp.Column) if lowered(c.table) in aliases]:
            column.set("table", exp.to_identifier(aliases[lowered(column.table)]))
        for table in [place.this for place in of.places if lowered(place.this.alias_or_name) in aliases]:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(aliases[lowered(table.alias_or_name)])))
    return one.written(written[0].select), other.written(written[1].select)


def _sources_inside(select: exp.Select) -> list[exp.Expr]:
    """The sources of the queries in the conditions and the expressions of a SELECT."""
    return [t for t in select.find_all(exp.Table, exp.Subquery) if t.parent_select is not select and t.alias_or_name]


def _written(of: Groups, originals: Originals) -> Groups | None:
    """Groups with the table of each column of the original, and ON for USING; None for others than inner joins of tables,
    each once."""
    copy = of.select.copy()
    places = places_of(copy)
    tables = [place.this for place in places]
    if not all(map(is_inner, places)):
        return None
    if not all(isinstance(table, exp.Table) and not table.db and not table.alias_column_names for table in tables):
        return None
    columns = {lowered(t.alias_or_name): originals.names_of(t) for t in tables}
    if len({lowered(table.name) for table in tables}) < len(tables) or len(columns) < len(tables):
        return None
    for n, place in enumerate(places):
        for name in place.args.get("using") or ():
            alias = place.this.alias_or_name
            owners = [t.alias_or_name for t in tables[:n] if lowered(name.name) in columns[lowered(t.alias_or_name)]]
            if not owners or lowered(name.name) not in columns[lowered(alias)]:
                return None
            equal = exp.EQ(this=exp.column(name.name, owners[0]), expression=exp.column(name.name, alias))
            place.set("on", equal if place.args.get("on") is None else exp.and_(place.args["on"], equal))
        place.args.pop("using", None)
    aliases = aliased(copy)
    for column in copy.find_all(exp.Column):
        if column.table or not isinstance(column.this, exp.Identifier) or _is_inner(column, copy, originals):
            continue
        owners = [alias for alias, names in columns.items() if lowered(column.name) in names]
        if owners and column.parent_select is copy:
            column.set("table", exp.to_identifier(owners[0]))
        elif all(columns.values()) and not (isinstance(column.parent, exp.Group) and lowered(column.name) in aliases):
            return None
    return of.written(copy)


def _is_inner(column: exp.Column, made: exp.Select, originals: Originals) -> bool:
    """Whether a name alone is a column of the only table of a query inside a SELECT."""
    inner = column.parent_select
    source = None if inner is None or inner is made else inner.args.get("from_")
    table = source.this if source is not None and isinstance(source.this, exp.Table) and not source.this.db else None
    return table is not None and lowered(column.name) in originals.names_of(table)


def _records_aggregate(
    one: Groups, other: Groups, originals: Originals, parts: Sequence[exp.Expr]
) -> Callable[[exp.Expr], exp.Expr] | None:
    """A function that writes an aggregate of rows joined with persons' records as one of the records; None if the records
    are not those of the first groups."""
    record, places = one.places[0].this, other.places
    mine = [p for p in places if isinstance(p.this, exp.Table) and lowered(p.this.name) == lowered(record.name)]
    if one.places[1:] or originals.record(record) is None or len(mine) != 1 or len(places) < 2:
        return None
    if any(p.args.get("side") or p.args.get("method") or p.args.get("kind") not in (None, "", "INNER") for p in places):
        return None
    rest = [p for p in places if p is not mine[0]]
    rows = RowsOfRecords.of(
        record, mine[0].this.alias_or_name, mine[0] if mine[0] in places[1:] else rest[0], rest, originals
    )
    rows = None if rows is None else replace(rows, where=[*rows.where, *parts])
    calls = [c for value in other.values.values() for c in value.find_all(exp.AggFunc)]
    return rows.write if rows is not None and all(rows.is_read(call) for call in calls) else None
