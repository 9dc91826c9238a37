"""A number of the group that a subquery chooses by its keys, as an aggregate of rows: ``(SELECT n FROM g WHERE g.k = t.k)``
over ``SELECT k, count(*) AS n FROM s GROUP BY k``."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    ROWS,
    both_ways,
    clauses_of,
    columns_of_join,
    conditions_of,
    part_of,
    places_of,
    put_value,
    sides_of,
)
from anondb.answers.ranged.equivalents import aliases_of, query_of, resolved
from anondb.answers.ranged.groups import Groups, read_groups, unnamed
from anondb.answers.ranged.originals import Originals, is_present
from anondb.answers.ranged.relation import fresh
from anondb.answers.ranged.values import when
from anondb.query.parsing import bare, conjoined, lowered

_APART = (exp.From, exp.Join, exp.Select, exp.In, exp.Any, exp.All, exp.Exists)
_ENDS = (exp.Order, exp.Group, exp.Having, exp.Qualify)


def with_chosen_groups(tree: exp.Expr, originals: Originals) -> exp.Expr:
    """A query with aggregates in place of subqueries that choose a group for each of the rows around them, and of groups of
    single persons that LEFT JOIN adds to the records of persons.

    Args:
        tree: the query.
        originals: the original's tables.
    """
    if tree.find(exp.Group) is None or tree.find(exp.Subquery, exp.Join) is None:
        return tree
    copy = tree.copy()
    for select in list(copy.find_all(exp.Select)):
        for join in list(select.args.get("joins") or ()):
            if join.side == "LEFT":
                _look_up(select, join, originals)
            elif not join.side and select.args.get("group") is not None:
                _look_up_all(select, join, originals)
    for node in list(copy.find_all(exp.Subquery)):
        query, around = node.this, node.find_ancestor(*_APART)
        plain = isinstance(query, exp.Select) and clauses_of(query) == {"expressions", "from_", "where"}
        if plain and isinstance(around, exp.Select):
            _write(node, query)
    return copy


def _look_up(select: exp.Select, join: exp.Join, originals: Originals) -> None:
    """Put subqueries in place of the numbers of a LEFT JOIN of groups of single persons with their records."""
    record, source = select.args["from_"].this, join.this
    inner, own, alias = query_of(source), originals.record(record), lowered(source.alias_or_name)
    groups = read_groups(inner) if isinstance(inner, exp.Select) else None
    if groups is None or own is None or len(groups.keys) != 1 or not alias or select.is_star or join.method:
        return
    ((name, key),) = groups.keys.items()
    mine, theirs = exp.column(own, record.alias_or_name), exp.column(name, source.alias_or_name)
    using = [lowered(u.name) for u in join.args.get("using") or ()]
    linked = using == [own] == [name] or _are_equal(join.args.get("on"), mine, theirs)
    if linked and isinstance(key, exp.Column) and lowered(key.name) in originals.ids:
        _put(select, join, groups, [(theirs, mine)])


def _look_up_all(select: exp.Select, join: exp.Join, originals: Originals) -> None:
    """The same for the groups of all records, of which each row that a SELECT groups by their keys has one."""
    inner, alias, on = query_of(join.this), lowered(join.this.alias_or_name), conjoined(join.args.get("on"))
    groups = read_groups(inner) if isinstance(inner, exp.Select) else None
    if groups is None or not alias or select.is_star or join.method or join.kind not in ("", "INNER") or groups.conditions:
        return
    if len(groups.places) > 1 or originals.record(groups.places[0].this) is None:
        return
    places = [place.this for place in places_of(select) if place is not join]
    records = [lowered(p.alias_or_name) for p in places if p.name == groups.places[0].this.name and originals.record(p)]
    pairs = [sides for part in on if (sides := _sides(part, alias)) is not None]
    if len(pairs) != len(on) or {lowered(inside.name) for inside, _ in pairs} != groups.keys.keys():
        return
    by = [resolved(key, select) for key in select.args["group"].expressions]
    for inside, outer in pairs:
        of_record = all(lowered(column.table) in records for column in outer.find_all(exp.Column))
        same = unnamed(groups.keys[lowered(inside.name)]) == unnamed(outer)  # of one record each
        if not same or not of_record or outer not in by or not is_present(outer, select, originals.present):
            return
    own = [key for key in by if isinstance(key, exp.Column) and lowered(key.table) == alias]
    others = [column for key in by if key not in own for column in key.find_all(exp.Column)]
    if any(lowered(c.table) == alias or (not c.table and lowered(c.name) in groups.values) for c in others):
        return
    if all(lowered(key.name) in groups.values for key in own) and _put(select, join, groups, pairs):
        select.set("group", exp.Group(expressions=[key.copy() for key in by if key not in own]))


def _put(select: exp.Select, join: exp.Join, groups: Groups, pairs: Sequence[tuple[exp.Expr, exp.Expr]]) -> bool:
    """Put subqueries in place of the numbers of joined groups, if these are all that a SELECT names of them."""
    source, columns = join.this, columns_of_join(select, join, groups.values)
    if columns is None:
        return False
    equal = [exp.EQ(this=theirs.copy(), expression=mine.copy()) for theirs, mine in pairs]
    aliases = aliases_of(select)
    ends = [c for c in columns if not c.table and c.find_ancestor(*_ENDS, exp.Select) is not select]
    if any(lowered(column.name) in aliases for column in ends):
        return False  # what the SELECT gives, or the number
    for column in columns:
        looked = exp.select(exp.column(column.this.copy(), source.alias_or_name)).from_(source.copy())
        subquery = exp.Subquery(this=looked.where(*(part.copy() for part in equal)))
        put_value(column, subquery, select)
    select.args["joins"].remove(join)
    return True


def _are_equal(on: exp.Expr | None, one: exp.Column, other: exp.Column) -> bool:
    """Whether a condition says that two columns are equal, and no more."""
    sides = [] if on is None else sides_of(bare(on), exp.EQ)
    named = {(lowered(side.text("table")), lowered(side.name)) for side in sides if isinstance(side, exp.Column)}
    return named == {(lowered(column.table), lowered(column.name)) for column in (one, other)}


def _write(node: exp.Subquery, query: exp.Select) -> None:
    """Put an aggregate in place of a subquery, if it chooses one group."""
    source = query.args["from_"].this
    inner = query_of(source)
    groups = read_groups(inner) if isinstance(inner, exp.Select) else None
    shown = bare(query.expressions[0].unalias()) if len(query.expressions) == 1 else None
    if groups is None or not isinstance(shown, exp.Column) or lowered(shown.name) not in groups.values:
        return
    chosen = _chosen(query, lowered(source.alias_or_name), groups)
    if chosen is None:
        return
    groups = _apart(groups, {lowered(column.table) for _, to in chosen for column in to.find_all(exp.Column)})
    value = groups.values[lowered(shown.name)]
    equal = [exp.EQ(this=exp.paren(groups.keys[name].copy()), expression=exp.paren(to.copy())) for name, to in chosen]
    made = part_of(groups.select, *ROWS).where(*equal)
    filled, counts = node.parent, isinstance(value, exp.Count)
    whole = counts and isinstance(filled, exp.Coalesce) and filled.this is node and filled.expressions == [exp.convert(0)]
    if not whole and not isinstance(value, exp.Count | exp.Sum | exp.Min | exp.Max | exp.Avg):
        return
    one: exp.Expr = value.copy()
    if counts and not whole:  # a group has rows
        has_rows = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.convert(0))
        every = isinstance(value.this, exp.Star)
        one = exp.Nullif(this=one, expression=exp.convert(0)) if every else when(has_rows, one)
    target: exp.Expr = filled if whole and filled is not None else node
    subquery = exp.Subquery(this=made.select(one))
    target.replace(exp.alias_(subquery, shown.name, quoted=True) if isinstance(target.parent, exp.Select) else subquery)


def _apart(groups: Groups, taken: Collection[str]) -> Groups:
    """The groups with other names for those of their sources that are taken around them."""
    copy = groups.select.copy()
    for table in [t for t in copy.find_all(exp.Table, exp.Subquery) if lowered(t.alias_or_name) in taken]:
        old, new = lowered(table.alias_or_name), exp.to_identifier(fresh("inner"))
        inside = table.parent_select or copy
        for column in [c for c in inside.find_all(exp.Column) if lowered(c.table) == old]:
            column.set("table", new.copy())
        table.set("alias", exp.TableAlias(this=new, columns=table.alias_column_names))
    return groups.written(copy)


def _chosen(query: exp.Select, alias: str, groups: Groups) -> list[tuple[str, exp.Expr]] | None:
    """What a subquery compares each key of its groups with, some of it of the rows around; None for others."""
    parts = [_sides(part, alias) for part in conditions_of(query)]
    compared = {lowered(sides[0].name): sides[1] for sides in parts if sides is not None}
    outside = any(value.find(exp.Column) is not None for value in compared.values())
    every = None not in parts and outside and compared.keys() == groups.keys.keys() and len(compared) == len(parts)
    return list(compared.items()) if every else None


def _sides(part: exp.Expr, alias: str) -> tuple[exp.Column, exp.Expr] | None:
    """The column of a source that a condition says to be equal to something else, and this; None for others."""
    for own, other in both_ways(part, exp.EQ):
        apart = all(column.table and lowered(column.table) != alias for column in other.find_all(exp.Column))
        if isinstance(own, exp.Column) and lowered(own.table) == alias and apart and other.find(exp.Query) is None:
            return own, other
    return None
