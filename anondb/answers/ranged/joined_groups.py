"""Joins with counts of items as subqueries: ``JOIN (SELECT item, count(*) AS n ... GROUP BY item) c ON c.item = s.item``.

Such groups of the table itself have one row for each item that a row may have, so that the join keeps every row, and adds
to it what a scalar subquery says of its item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    clauses_of,
    columns_of_join,
    conditions_of,
    is_inner,
    only_source,
    selected,
    sides_of,
)
from anondb.answers.ranged.dependent_keys import group_columns
from anondb.answers.ranged.relation import SOME_ROWS, fresh
from anondb.query.parsing import bare, lowered

_GROUPS = {"expressions", "from_", "group", "having"}


def with_joined_groups(tree: exp.Expr, table: str, item: str) -> exp.Expr:
    """A query with scalar subqueries in place of the columns of such sources beside the rows of a table.

    Args:
        tree: the query.
        table, item: the names of the table and of its column of items, in lower case.
    """
    if tree.find(exp.Join) is None or tree.find(exp.AggFunc) is None:
        return tree
    copy = tree.copy()
    listed = list(copy.find_all(exp.CTE))
    named = {lowered(cte.alias): cte for cte in listed}
    clear = len(named) == len(listed) and table not in named  # each name has one meaning
    for select in list(copy.find_all(exp.Select)) if clear else ():
        joins = select.args.get("joins") or []
        _put_table_first(select, named, table)
        for join in reversed(joins):
            columns, kept = _values(select, join, named, (table, item)) or (None, None)
            if columns is not None and _replace(select, join, columns):
                joins.remove(join)
                if kept is not None:
                    select.where(kept, copy=False)
        if any(key.find(exp.Subquery) for key in _keys(select)):
            _drop_dependent(select)
    return copy


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
