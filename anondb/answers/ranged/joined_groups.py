"""Joins with counts of items as subqueries: ``JOIN (SELECT item, count(*) AS n ... GROUP BY item) c ON c.item = s.item``.

Such groups of the table itself have one row for each item that a row may have, so that the join keeps every row, and adds
to it what a scalar subquery says of its item.

LATERAL sources of one row are subqueries, too, and those of the rows of persons are joins.

What the keys of groups say: ``GROUP BY c.item, c.n`` of groups ``c`` by the item is that by the item alone, and groups of
which one has a greater number than the other are different groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    ROWS,
    aliased,
    clauses_of,
    columns_of_join,
    conditions_of,
    is_inner,
    only_source,
    places_of,
    selected,
    shown_by_name,
    sides_of,
)
from anondb.answers.ranged.originals import Originals, rule
from anondb.answers.ranged.relation import SOME_ROWS, fresh
from anondb.query.parsing import bare, lowered

_GROUPS = {"expressions", "from_", "group", "having"}


@rule(exp.Join, exp.AggFunc)
def with_joined_groups(select: exp.Select, originals: Originals) -> None:
    """A query with scalar subqueries in place of the columns of such sources beside the rows of the table of persons."""
    listed, joins, table = list(select.root().find_all(exp.CTE)), select.args.get("joins") or [], originals.persons
    named = {lowered(cte.alias): cte for cte in listed}
    if len(named) < len(listed) or table in named:
        return  # a name has several meanings
    _put_table_first(select, named, table)
    for join in reversed(joins):
        columns, kept = _values(select, join, named, (table, originals.item)) or (None, None)
        if columns is not None and _replace(select, join, columns):
            joins.remove(join)
            if kept is not None:
                select.where(kept, copy=False)
    if any(key.find(exp.Subquery) for key in _keys(select)):
        _drop_dependent(select)


def _keys(select: exp.Select) -> Sequence[exp.Expr]:
    group = select.args.get("group")
    return () if group is None else group.expressions


def _values(
    select: exp.Select, join: exp.Join, named: Mapping[str, exp.CTE], names: tuple[str, str]
) -> tuple[dict[str, exp.Expr], exp.Expr | None] | None:
    """The columns of a source of aggregates, by their names in lower case, as subqueries, and the condition that its groups
    set on the rows; None for other sources."""
    source = join.this
    cte = named.get(lowered(source.name)) if isinstance(source, exp.Table) and not source.db else None
    query = cte.this if cte is not None else source.this
    if not is_inner(join) or not isinstance(query, exp.Select) or not clauses_of(query) <= _GROUPS:
        return None
    keys, _ = group_columns(source, named)
    of = only_source(query)
    if not isinstance(of, exp.Table) or of.args.get("db") or lowered(of.name) != names[0] or query.find(exp.Subquery):
        return None
    outer = _linked(select, join, names[1], of) if keys == {names[1]} else None
    if outer is None:
        return None
    name, having = fresh("g"), query.args.get("having")
    values: dict[str, exp.Expr] = {}
    for shown in query.expressions:
        if lowered(shown.alias_or_name) in keys:
            values[lowered(shown.alias_or_name)] = outer.copy()
            continue
        one = exp.select(shown.unalias().copy()).from_(exp.alias_(exp.to_table(of.name), name, table=True))
        for column in one.find_all(exp.Column):
            column.set("table", exp.to_identifier(name))
        same = exp.EQ(this=exp.column(names[1], name), expression=outer.copy())
        value: exp.Expr = exp.Subquery(this=one.where(same))
        if isinstance(shown.unalias(), exp.Count) and isinstance(shown.unalias().this, exp.Star):
            value = exp.Greatest(this=value, expressions=[exp.convert(1)])  # a group has some row
        values[lowered(shown.alias_or_name)] = value
    kept = None
    if having is not None:
        chosen = query.copy()
        chosen.set("expressions", [exp.column(names[1])])
        kept = exp.In(this=outer.copy(), query=exp.Subquery(this=chosen))
    return values, kept


def _put_table_first(select: exp.Select, named: Mapping[str, exp.CTE], table: str) -> None:
    """Let a join of groups with the table be one of the table with the groups."""
    clause, joins = select.args.get("from_"), select.args.get("joins") or []
    is_table = bool(joins) and isinstance(joins[0].this, exp.Table) and lowered(joins[0].this.name) == table
    if clause is None or not is_table or joins[0].side or joins[0].method or joins[0].kind not in ("", "INNER"):
        return
    first, other = clause.this, joins[0].this
    if isinstance(first, exp.Subquery) or lowered(first.name) in named:
        joins[0].set("this", first)
        clause.set("this", other)


def _linked(select: exp.Select, join: exp.Join, key: str, of: exp.Table) -> exp.Expr | None:
    """For the key of a source, the column of the same table beside it with which it is joined, or the constant that this
    is; None for other joins."""
    alias = lowered(join.this.alias_or_name)
    places = [select.args["from_"].this, *(other.this for other in select.args["joins"] if other is not join)]
    named = [t for t in places if isinstance(t, exp.Table) and not t.db and lowered(t.name) == lowered(of.name)]
    tables = {lowered(t.alias_or_name) for t in named}
    using = [lowered(u.name) for u in join.args.get("using") or ()]
    if using == [key] and len(places) == 1 == len(tables):
        outer: exp.Expr = exp.column(key, next(iter(tables)))
    else:
        sides = sides_of(bare(join.args["on"]), exp.EQ) if join.args.get("on") is not None else []
        mine = [s for s in sides if isinstance(s, exp.Column) and lowered(s.table) == alias and lowered(s.name) == key]
        others = [s for s in sides if isinstance(s, exp.Column) and lowered(s.table) in tables]
        if len(mine) != 1 or len(others) != 1 or lowered(others[0].name) != key:
            return None
        (outer,) = others
    for part in conditions_of(select):
        fixed = isinstance(part, exp.EQ) and part.this == outer and isinstance(part.expression, exp.Literal)
        outer = part.expression if fixed else outer
    return outer


def _replace(select: exp.Select, join: exp.Join, values: Mapping[str, exp.Expr]) -> bool:
    """Put subqueries in the place of the columns of a source, if these are all that the SELECT names of it."""
    columns = columns_of_join(select, join, values, *([select.args["with_"]] if select.args.get("with_") else []))
    if columns is None or any(isinstance(e.unalias(), exp.Star) for e in select.expressions):
        return False
    for column in columns:
        value = values[lowered(column.name)].copy()
        of_group = isinstance(column.parent, exp.Max) and not isinstance(value, exp.Column)
        place = column.parent if of_group and column.parent is not None else column  # of one value in each group
        place.replace(exp.alias_(value, column.name, quoted=True) if place.parent is select else value)
    return True


def _drop_dependent(select: exp.Select) -> None:
    """Take subqueries out of GROUP BY that say nothing more than its other keys: without any, of one group of some rows."""
    keys = [bare(selected(key, select)) for key in _keys(select)]
    rest = {(lowered(key.table), lowered(key.name)) for key in keys if isinstance(key, exp.Column)}
    kept = []
    for key, original in zip(keys, _keys(select), strict=True):
        inner = {lowered(query.this.args["from_"].this.alias) for query in key.find_all(exp.Subquery)}
        outer = {(lowered(c.table), lowered(c.name)) for c in key.find_all(exp.Column) if lowered(c.table) not in inner}
        if not inner or not outer <= rest:
            kept.append(original)
    select.args["group"].set("expressions", kept or [SOME_ROWS.copy()])


_SOURCES = (exp.Subquery, exp.Values, exp.Lateral, exp.Unnest)
"""What may have a name in a FROM clause, beside tables."""


def without_dependent_keys(tree: exp.Expr, ids: Collection[str]) -> exp.Expr:
    """A query that groups by no computed column of a source whose own keys it groups by, too, wherever it does.

    A source with GROUP BY has one row for each value of its keys. So within a group its columns have one value, which is
    their maximum. The source is no outer side of a join, where rows without a partner are NULL.

    Args:
        tree: the query.
        ids: the names of ids, in lower case: rows of single persons stay as they are.
    """
    if tree.find(exp.Group) is None:
        return tree
    copy = tree.copy()
    listed = list(copy.find_all(exp.CTE))
    named = {lowered(cte.alias): cte for cte in listed}
    for select in list(copy.find_all(exp.Select)):
        _rewrite(select, named if len(named) == len(listed) else {}, ids)
    return copy


def _rewrite(node: exp.Select, named: Mapping[str, exp.CTE], ids: Collection[str]) -> None:
    """Take the dependent keys out of one SELECT."""
    group = node.args.get("group")
    if group is None or not clauses_of(group) <= {"expressions"}:
        return
    places, joins = places_of(node), node.args.get("joins") or []
    if not all(map(is_inner, joins)):
        return
    keys = [selected(key, node) for key in group.expressions]
    dependent: set[tuple[str, str]] = set()
    shared = {lowered(u.name) for join in joins for u in join.args.get("using") or ()}
    grouped = {(lowered(k.table), lowered(k.name)) for k in keys if isinstance(k, exp.Column)}
    for place in places:
        alias = lowered(place.this.alias_or_name)
        own, others = group_columns(place.this, named)
        names = {name for table, name in grouped if table == alias} | (shared & {name for _, name in grouped})
        if own and own <= names and not own & set(ids):
            dependent |= {(alias, name) for name in others}
    kept = [n for n, key in enumerate(keys) if _place(key) not in dependent]
    if not dependent or len(kept) == len(keys) or not kept:
        return
    parts = [*node.expressions, *(node.args[k] for k in ("having", "order", "qualify") if node.args.get(k))]
    columns = [column for part in parts for column in part.find_all(exp.Column) if _place(column) in dependent]
    if any(column.parent_select is not node for column in columns):  # a subquery that names it
        return
    for column in columns:
        if _is_of_group(column):
            value = exp.Max(this=column.copy())
            plain = column.parent is node
            column.replace(exp.alias_(value, column.name, quoted=True) if plain else value)
    group.set("expressions", [group.expressions[n] for n in kept])


def with_other_groups(tree: exp.Expr, originals: Originals) -> exp.Expr:
    """A query in which conditions ``d.n > c.n`` on two groups of one common table expression say that their keys differ."""
    if tree.find(exp.CTE) is None or tree.find(exp.GT, exp.LT, exp.NEQ) is None:
        return tree
    copy = tree.copy()
    listed, sources = list(copy.find_all(exp.CTE)), list(copy.find_all(exp.Table, *_SOURCES))
    named, aliases = {lowered(cte.alias): cte for cte in listed}, [lowered(one.alias_or_name) for one in sources]
    once = {alias: one for alias, one in zip(aliases, sources, strict=True) if aliases.count(alias) == 1}
    for node in list(copy.find_all(exp.GT, exp.LT, exp.NEQ)) if len(named) == len(listed) else ():
        sides = [bare(side) for side in (node.this, node.expression)]
        if not all(isinstance(side, exp.Column) for side in sides) or sides[0].name != sides[1].name:
            continue
        one, other = (once.get(lowered(side.text("table"))) for side in sides)
        if not isinstance(one, exp.Table) or not isinstance(other, exp.Table) or one is other:
            continue
        own, others = group_columns(one, named)
        same_groups = lowered(one.name) == lowered(other.name) and group_columns(other, named) == (own, others)
        if same_groups and lowered(sides[0].name) in others and _is_chosen_by(node):
            keys = [[exp.column(exp.to_identifier(k, quoted=True), side.text("table")) for side in sides] for k in own]
            same = exp.and_(*(exp.NullSafeEQ(this=this, expression=that) for this, that in keys))
            node.replace(exp.paren(exp.and_(node.copy(), exp.not_(same))))
    return copy


def _is_chosen_by(node: exp.Expr) -> bool:
    """Whether a condition chooses rows, so that NULL is as false: AND and OR connect it in WHERE, HAVING or ON."""
    around = node.parent
    while isinstance(around, exp.And | exp.Or | exp.Paren):
        around = around.parent
    return isinstance(around, exp.Where | exp.Having | exp.Join)


def _is_of_group(column: exp.Column) -> bool:
    """Whether a column is read once for each group, and not for each row that an aggregate takes."""
    call = column.find_ancestor(exp.AggFunc, exp.Filter, exp.Select)
    around = call.parent if call is not None and isinstance(call.parent, exp.Filter) else call
    return isinstance(call, exp.Select) or (around is not None and isinstance(around.parent, exp.Window))


def _place(node: exp.Expr) -> tuple[str, str] | None:
    """The source and the name of a column."""
    return (lowered(node.table), lowered(node.name)) if isinstance(node, exp.Column) and node.table else None


def group_columns(source: exp.Expr, named: Mapping[str, exp.CTE]) -> tuple[set[str], set[str]]:
    """The keys of a source that is a SELECT with GROUP BY, and its computed columns; empty for other sources."""
    cte = named.get(lowered(source.name)) if isinstance(source, exp.Table) and not source.db else None
    query = cte.this if cte is not None else source.this
    renamed = source.alias_column_names or (cte is not None and cte.alias_column_names)
    if not isinstance(query, exp.Select) or query.args.get("group") is None or renamed or query.find(exp.Explode):
        return set(), set()
    group = query.args["group"]
    clauses = clauses_of(group)
    if not clauses <= {"expressions", "all"}:
        return set(), set()
    shown = [e.unalias() for e in query.expressions if e.find(exp.AggFunc, exp.Window, exp.Query, exp.Anonymous) is None]
    keys = shown if "all" in clauses else [selected(key, query) for key in group.expressions]
    names = {lowered(e.alias_or_name): e.unalias() for e in query.expressions if e.alias_or_name}
    own = {name for name, value in names.items() if value in keys}
    every = all(key in [names[name] for name in own] for key in keys) and len(names) == len(query.expressions)
    computed = {name for name, value in names.items() if name not in own and value.find(exp.AggFunc)}
    return (own, computed) if every else (set(), set())


_ONE_ROW = {"expressions", *ROWS, "with_"}


@rule(exp.Lateral)
def with_joins(select: exp.Select, originals: Originals) -> None:
    """A query with joins in place of LATERAL sources of the rows of a table of persons."""
    names = {lowered(cte.alias) for cte in select.root().find_all(exp.CTE)}
    tables = {name: columns for name, columns in originals.columns.items() if name not in names}
    for join in select.args.get("joins") or ():
        if (query := _query(join)) is not None:
            _write_join(select, join, query, tables)


@rule(exp.Lateral)
def with_subqueries(select: exp.Select, originals: Originals) -> None:
    """A query with scalar subqueries in place of the columns of LATERAL aggregates."""
    joins = select.args.get("joins") or []
    for join in reversed(joins):  # a later one may name an earlier one
        query = _query(join)
        columns = None if query is None else _columns(join.this, query)
        if columns is not None and _is_replaceable(select, join, columns):
            joins.remove(join)
            _put(select, lowered(join.this.alias), columns)


def _query(join: exp.Join) -> exp.Select | None:
    """The SELECT without groups of a LATERAL source that is joined on TRUE; None for other sources."""
    source, on = join.this, join.args.get("on")
    query = source.this.unnest() if isinstance(source, exp.Lateral) and isinstance(source.this, exp.Query) else None
    if not isinstance(query, exp.Select) or not source.alias or join.args.get("using") or join.method:
        return None
    if not clauses_of(query) <= _ONE_ROW or on not in (None, exp.true()):
        return None
    plain = join.side in ("", "LEFT") and join.kind in ("", "INNER", "CROSS", "OUTER")
    return query if plain else None


def _write_join(select: exp.Select, join: exp.Join, query: exp.Select, tables: Mapping[str, Collection[str]]) -> None:
    """Write a source of columns of the rows of a table of persons as a join with the table."""
    clause, where, alias = query.args.get("from_"), query.args.get("where"), join.this.args["alias"]
    table = None if clause is None else clause.this
    if not isinstance(table, exp.Table) or table.db or lowered(table.name) not in tables:
        return
    if alias.columns or table.alias_column_names or query.args.get("joins") or query.args.get("with_"):
        return
    inside, own = lowered(table.alias_or_name), tables[lowered(table.name)]

    def moved(node: exp.Expr) -> exp.Expr:
        of = isinstance(node, exp.Column) and (lowered(node.table) or ("" if lowered(node.name) not in own else inside))
        return exp.column(node.this.copy(), alias.this.copy()) if of == inside else node

    shown = shown_by_name(query)
    columns = {name: moved(of.copy()) for name, of in shown.items() if isinstance(of, exp.Column) and moved(of) is not of}
    nested = where is not None and where.find(exp.Query) is not None
    if nested or len(columns) < len(query.expressions) or not _is_replaceable(select, join, columns):
        return
    hidden = {name for name in own if name not in columns}  # columns of the table that the source does not show
    inner = {id(column) for column in query.find_all(exp.Column)}
    named_alone = {lowered(c.name) for c in select.find_all(exp.Column) if not c.table and id(c) not in inner}
    if named_alone & hidden or any(other.args.get("using") or other.method for other in select.args["joins"]):
        return
    _put(select, lowered(alias.name), columns)
    join.set("this", exp.Table(this=table.this.copy(), alias=exp.TableAlias(this=alias.this.copy())))
    join.set("on", exp.true() if where is None else exp.paren(where.this.transform(moved)))
    join.set("kind", None)


def _columns(source: exp.Lateral, query: exp.Select) -> dict[str, exp.Expr] | None:
    """The columns of a LATERAL source with one row, by their names in lower case; None for other sources."""
    shown = [e.unalias() for e in query.expressions]
    if not all(_is_aggregate(e) for e in shown) or any(e.find(exp.Window, exp.Explode) for e in shown):
        return None
    named = [c.name for c in source.args["alias"].args.get("columns") or ()]
    names = [*named, *(e.alias_or_name for e in query.expressions[len(named) :])]
    listed: dict[str, exp.Expr] = {}
    for name, expression in zip(names, query.expressions, strict=False):
        one = query.copy()
        one.set("expressions", [expression.copy()])
        listed[lowered(name)] = exp.Subquery(this=one)
    return listed if all(names) and len(listed) == len(shown) else None


def _is_aggregate(node: exp.Expr) -> bool:
    """Whether an expression is of an aggregate, so that its SELECT without GROUP BY has one row."""
    return any(call.find_ancestor(exp.Select) is node.find_ancestor(exp.Select) for call in node.find_all(exp.AggFunc))


def _is_replaceable(select: exp.Select, join: exp.Join, columns: dict[str, exp.Expr]) -> bool:
    """Whether all that a SELECT may read of a source are its columns by name, which mean nothing else there."""
    alias = lowered(join.this.alias)
    inner = [table for table in select.find_all(exp.Table, exp.Subquery, exp.Values) if table is not join.this.this]
    own = [c for c in select.find_all(exp.Column) if lowered(c.table) == alias]
    shadowed = any(lowered(table.alias_or_name) == alias for table in inner)
    return not (shadowed or select.is_star) and all(lowered(c.name) in columns for c in own)


def _put(select: exp.Select, alias: str, columns: dict[str, exp.Expr]) -> None:
    """Put subqueries in the place of the columns of a source."""
    aliases = aliased(select)
    for column in list(select.find_all(exp.Column)):
        name, ordered = lowered(column.name), column.find_ancestor(exp.Order, exp.Select)
        plain = not column.table and column.parent_select is select
        if plain and name in aliases and isinstance(ordered, exp.Order):
            continue  # ORDER BY reads the name that the SELECT gives
        if name in columns and (lowered(column.table) == alias or plain):
            value = columns[name].copy()
            column.replace(exp.alias_(value, column.name) if column.parent is select else value)
