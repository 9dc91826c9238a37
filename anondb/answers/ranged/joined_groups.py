"""Joins with counts of items as subqueries: ``JOIN (SELECT item, count(*) AS n ... GROUP BY item) c ON c.item = s.item``.

Such groups of the table itself have one row for each item that a row may have, so that the join keeps every row, and adds
to it what a scalar subquery says of its item.

What the keys of groups say: ``GROUP BY c.item, c.n`` of groups ``c`` by the item is that by the item alone, and groups of
which one has a greater number than the other are different groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    clauses_of,
    columns_of_join,
    conditions_of,
    is_inner,
    only_source,
    places_of,
    selected,
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
    if clause is None or not is_table or not is_inner(joins[0]) or select.is_star:
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
