"""Sources that only choose rows of a table and compute columns of them, as this table: ``(SELECT tid, age // 10 AS decade
FROM t WHERE age > 17)`` as ``t`` with the expressions and the conditions in their places.

A number of the group that a subquery chooses by its keys is an aggregate of rows: ``(SELECT n FROM g WHERE g.k = t.k)`` over
``SELECT k, count(*) AS n FROM s GROUP BY k``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    ROWS,
    both_ways,
    clauses_of,
    columns_of_join,
    conditions_of,
    is_inner,
    only_source,
    part_of,
    places_of,
    put_value,
    shown_by_name,
    sides_of,
)
from anondb.answers.ranged.equivalents import aliases_of, query_of, resolved, select_sources
from anondb.answers.ranged.groups import Groups, read_groups, unnamed
from anondb.answers.ranged.originals import Originals, is_present, rule
from anondb.answers.ranged.relation import fresh
from anondb.answers.ranged.values import when
from anondb.query.parsing import bare, conjoined, lowered

Columns = Mapping[str, Collection[str]]
_PLAIN = {"expressions", "from_", "where"}
_ENDS = ("order", "having", "qualify", "group")
_CLAUSES = (exp.Order, exp.Having, exp.Qualify, exp.Group)
_OTHER = (exp.AggFunc, exp.Window, exp.Query, exp.Explode, exp.Unnest, exp.Anonymous)


@rule((exp.Subquery, exp.CTE), inner_first=True)
def without_inner_rows(select: exp.Select, originals: Originals) -> None:
    """A query with the original's tables in place of sources that only choose rows of them and compute columns."""
    if select.args.get("from_") is not None and not any(e.is_star for e in select.expressions):
        for source, inner in list(select_sources(select)):
            table = _only_table(inner, originals.columns)
            if table is not None:
                _read_table(select, source, inner, table, originals.columns)


@rule(exp.Join)
def with_named_tables(select: exp.Select, originals: Originals) -> None:
    """A query whose aggregates name the table of each column that one of several joined tables has."""
    tables: dict[str, Collection[str]] = {**originals.columns, **originals.own}
    joins, ctes = select.args.get("joins") or [], {lowered(cte.alias) for cte in select.root().find_all(exp.CTE)}
    sources = [place.this for place in places_of(select)] if joins else []
    named = [lowered(s.name) if isinstance(s, exp.Table) and not (s.db or s.alias_column_names) else "" for s in sources]
    if any(name in ctes or name not in tables for name in named):
        return
    shared = {lowered(name.name) for join in joins for name in join.args.get("using") or ()}
    for column in [c for c in select.find_all(exp.Column) if not c.table and c.parent_select is select]:
        name = lowered(column.name)
        of = [s for s, table in zip(sources, named, strict=True) if name in tables[table] and name not in shared]
        if len(of) == 1 and column.find_ancestor(exp.AggFunc, exp.Query) is not select:
            column.set("table", exp.to_identifier(of[0].alias_or_name, quoted=True))


def _only_table(inner: exp.Select, tables: Columns) -> exp.Table | None:
    """The table of which a SELECT computes columns for each row that it chooses; None for others."""
    clause = inner.args.get("from_") if clauses_of(inner) <= _PLAIN else None
    table = None if clause is None else clause.this
    if not isinstance(table, exp.Table) or clauses_of(table) - {"this", "alias"} or table.alias_column_names:
        return None
    named = [e.alias_or_name for e in inner.expressions]
    computed = [e.unalias() for e in inner.expressions]
    plain = lowered(table.name) in tables and all(named) and len({*map(lowered, named)}) == len(named)
    return table if plain and not any(e.find(*_OTHER) for e in computed) else None


def _read_table(select: exp.Select, source: exp.Expr, inner: exp.Select, table: exp.Table, tables: Columns) -> None:
    """Let a SELECT read the table of a source, if each of its names keeps its meaning."""
    before, own, inner = lowered(table.alias_or_name), tables[lowered(table.name)], inner.copy()
    alias, alone = lowered(source.alias_or_name or table.alias_or_name), not select.args.get("joins")
    if not source.alias_or_name and not alone:
        return
    for column in [c for c in inner.find_all(exp.Column) if c.parent_select is inner or lowered(c.table) == before]:
        if lowered(column.table) == before or not (column.table or alone):  # alone a name needs no table
            column.set("table", exp.to_identifier(alias))
    values, place = shown_by_name(inner), next(place for place in places_of(select) if place.this is source)
    columns, where = _columns_of(select, alias, values, own, tables), inner.args.get("where")
    if columns is None or not _keeps_rows(select, place, values, where) or not _keeps_names(select, columns, values):
        return
    if where is not None and (alias != before or not alone) and not _is_apart(where, alias, tables):
        return
    for column in columns:
        value, shown = values[lowered(column.name)].copy(), column.parent is select
        for name in [c for c in value.find_all(exp.Column) if column.table]:
            name.set("table", exp.to_identifier(alias))
        plain = shown or isinstance(value, exp.Column | exp.Literal | exp.Case)
        value = value if plain else exp.paren(value)
        column.replace(exp.alias_(value, column.this.copy()) if shown else value)
    if where is not None and is_inner(place):
        select.where(where.this, copy=False)
    elif where is not None:
        place.set("on", exp.and_(place.args["on"], where.this))
    named = None if alias == lowered(table.name) else exp.TableAlias(this=exp.to_identifier(alias))
    place.set("this", exp.Table(this=table.this.copy(), alias=named))


def _columns_of(
    select: exp.Select, alias: str, values: Mapping[str, exp.Expr], own: Collection[str], tables: Columns
) -> list[exp.Column] | None:
    """The columns of a source that a SELECT names; None if one may mean something else then.

    Args:
        select: the SELECT.
        alias: the name of the source.
        values: what its columns are, by their names.
        own: the columns of its table, some of which it hides.
        tables: the columns of each of the original's tables.
    """
    aliases = aliases_of(select)
    using = {lowered(u.name) for join in select.args.get("joins") or () for u in join.args.get("using") or ()}
    if any(not isinstance(v, exp.Column) or lowered(v.name) != name for name, v in values.items() if name in using):
        return None
    parts = _parts(select)
    inner = {lowered(t.alias_or_name) for part in parts for t in part.find_all(exp.Table, exp.Subquery)}
    if alias in inner or aliases & (set(own) - set(values)) or _is_read_beside(select, alias, values):
        return None
    columns = []
    for column in [c for part in parts for c in part.find_all(exp.Column)]:
        name, here = lowered(column.name), column.parent_select is select
        if lowered(column.table) == alias:
            if name not in values:
                return None
            columns.append(column)
        elif not column.table and not here and (name in values or name in own) and not _is_of_table(column, tables):
            return None  # of a query inside, or of the rows around it
        elif not column.table and here and (name == alias or (name in own and name not in values)):
            return None  # a row as a value, or a column that the source hides
        elif not column.table and here and name in values and name not in using:
            if name in aliases and column.find_ancestor(*_CLAUSES, exp.Select) is not select:
                return None  # what the SELECT gives, or the column
            columns.append(column)
    return columns


def _is_read_beside(select: exp.Select, alias: str, values: Mapping[str, exp.Expr]) -> bool:
    """Whether another source of a SELECT names a column that this one computes, as in ``unnest(s.numbers)``."""
    computed = {n for n, value in values.items() if not isinstance(value, exp.Column) or lowered(value.name) != n}
    others = [place.this for place in places_of(select) if lowered(place.this.alias_or_name) != alias]
    columns = [column for other in others for column in other.find_all(exp.Column) if lowered(column.name) in computed]
    return any(lowered(c.table) == alias or (not c.table and c.parent_select is select) for c in columns)


def _parts(select: exp.Select) -> list[exp.Expr]:
    """What a SELECT shows, tests and orders by, and the conditions of its joins."""
    parts = [select.args.get(key) for key in ("where", *_ENDS, "distinct")]
    on = [join.args.get("on") for join in select.args.get("joins") or ()]
    return [*select.expressions, *(part for part in (*parts, *on) if part is not None), *(select.args.get("windows") or ())]


def _keeps_names(select: exp.Select, columns: Collection[exp.Column], values: Mapping[str, exp.Expr]) -> bool:
    """Whether no clause after what is shown reads a column of an expression as what the SELECT gives under this name."""
    shown = [lowered(e.alias_or_name) for e in select.expressions]
    plain = {lowered(e.alias_or_name) for e in select.expressions if isinstance(e, exp.Column)}
    for column in columns:
        value = values[lowered(column.name)]
        inside = {lowered(c.name) for c in value.find_all(exp.Column)}
        in_clause = column.find_ancestor(*_CLAUSES, exp.Select) is not select
        if in_clause and not inside:
            return False  # a constant would be a position
        if in_clause and inside & {*shown}:
            same = isinstance(value, exp.Column) and lowered(value.name) == lowered(column.name)
            if not same or not inside & {*shown} <= plain:
                return False
        if column.parent is select and not isinstance(value, exp.Column) and shown.count(lowered(column.name)) > 1:
            return False
    return True


def _is_of_table(column: exp.Column, tables: Columns) -> bool:
    """Whether a name alone is a column of the only table of the query that it is in."""
    inner = column.parent_select
    table = None if inner is None else only_source(inner)
    return isinstance(table, exp.Table) and not table.db and lowered(column.name) in tables.get(lowered(table.name), ())


def _is_apart(where: exp.Expr, alias: str, tables: Columns) -> bool:
    """Whether the names of the queries in a condition mean the same beside other sources, one of which has an alias."""
    inner = [column for query in where.find_all(exp.Query) for column in query.find_all(exp.Column) if not column.table]
    taken = {lowered(table.alias_or_name) for table in where.find_all(exp.Table, exp.Subquery)}
    return alias not in taken and all(_is_of_table(column, tables) for column in inner)


def _keeps_rows(select: exp.Select, place: exp.Expr, values: Mapping[str, exp.Expr], where: exp.Where | None) -> bool:
    """Whether a condition on the rows of a source may stand in WHERE, or in ON of an outer, a semi or an anti join, and no
    computed column is NULL by an outer join."""
    joins = select.args.get("joins") or []
    if any(join.side not in ("", "LEFT") or join.method for join in joins):
        return False
    plain = all(isinstance(value, exp.Column) for value in values.values())
    return is_inner(place) or (plain and (where is None or place.args.get("on") is not None))


_APART = (exp.From, exp.Join, exp.Select, exp.In, exp.Any, exp.All, exp.Exists)


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
    ends = [c for c in columns if not c.table and c.find_ancestor(*_CLAUSES, exp.Select) is not select]
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
