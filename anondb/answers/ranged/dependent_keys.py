"""What the keys of groups say: ``GROUP BY c.item, c.n`` of groups ``c`` by the item is that by the item alone, and groups of
which one has a greater number than the other are different groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    clauses_of,
    is_inner,
    places_of,
    selected,
)
from anondb.answers.ranged.equivalents import common_table
from anondb.query.parsing import bare, lowered

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


def with_other_groups(tree: exp.Expr) -> exp.Expr:
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


def keys_of_groups(source: exp.Expr) -> set[str]:
    """The keys of a source that is, or names, a SELECT with GROUP BY; empty for other sources."""
    cte = common_table(source) if isinstance(source, exp.Table) else None
    own, _ = group_columns(source, {} if cte is None else {lowered(source.name): cte})
    return own


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
