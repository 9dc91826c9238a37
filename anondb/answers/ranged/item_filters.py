"""Conditions on a grouped column and a subquery: ``WHERE item NOT IN (SELECT b.item FROM sales a JOIN sales b ...)``.

Such a condition is the same for all rows of an item. So it is a condition on the groups of GROUP BY item, or of SELECT
DISTINCT item, and decides for each item of the list whether it is kept, by the counts of the subquery.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    ROWS,
    clauses_of,
    conditions_of,
    only_source,
    selected,
    set_conditions,
)
from anondb.answers.ranged.equivalents import link
from anondb.answers.ranged.originals import Originals, rule
from anondb.query.parsing import bare, is_null, lowered


@rule(exp.In)
def with_having(select: exp.Select, originals: Originals) -> None:
    """A query with HAVING in place of ``item IN (SELECT item FROM sales GROUP BY item HAVING ...)`` where it has these
    groups."""
    keys = _keys(select)
    parts = conditions_of(select) if len(keys) == 1 and select.args.get("group") else []
    moved = {id(part): same for part in parts if (same := _of_same_groups(part, select, keys[0])) is not None}
    if not moved:
        return
    nulls = [] if lowered(keys[0].name) == originals.item else [exp.Not(this=is_null(keys[0]))]
    where = [part for rows, _ in moved.values() for part in rows]
    set_conditions(select, [*(part for part in parts if id(part) not in moved), *where])
    select.having(*(having for _, having in moved.values()), *nulls, copy=False)


def with_item_filters(
    node: exp.Select, of_persons: Callable[[exp.Expr], bool], reads_persons: Callable[[exp.Expr], bool]
) -> exp.Select:
    """A SELECT over persons with its conditions on a grouped column and a subquery on persons in HAVING.

    Args:
        node: the SELECT.
        of_persons: whether the rows of a query belong to single persons.
        reads_persons: whether a query reads a table of persons.
    """
    keys = _keys(node)
    if not keys:
        return node
    kept: list[exp.Expr] = []
    moved: list[exp.Expr] = []
    for part in conditions_of(node):
        filtered = _filter(part, keys, of_persons, reads_persons)
        (kept if filtered is None else moved).append(part if filtered is None else filtered)
    if not moved:
        return node
    copy = node.copy()
    set_conditions(copy, kept)
    if copy.args.get("distinct") is not None:
        copy.set("distinct", None)
        copy.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return copy.having(*moved)


def with_counted_items(
    node: exp.Select, of_persons: Callable[[exp.Expr], bool], reads_persons: Callable[[exp.Expr], bool]
) -> exp.Select:
    """``SELECT count(DISTINCT item)`` with such a condition as the number of rows of the list of these items."""
    shown = node.expressions[0].unalias() if len(node.expressions) == 1 else None
    distinct = shown.this if isinstance(shown, exp.Count) else None
    plain = clauses_of(node) <= {"expressions", *ROWS, "with_"}
    if not plain or not isinstance(distinct, exp.Distinct) or len(distinct.expressions) != 1:
        return node
    listed = node.copy()
    listed.set("with_", None)
    listed.set("expressions", [distinct.expressions[0].copy()])
    listed.set("distinct", exp.Distinct())
    filtered = with_item_filters(listed, of_persons, reads_persons)
    if filtered is listed:
        return node
    made = exp.select(exp.Count(this=exp.Star()).as_(node.expressions[0].alias or "n")).from_(filtered.subquery("listed"))
    made.set("with_", node.args.get("with_"))
    return made


def _keys(node: exp.Select) -> list[exp.Column]:
    """The columns by which a SELECT groups its rows; none if it groups by anything else."""
    group, distinct = node.args.get("group"), node.args.get("distinct")
    if group is not None:
        plain = clauses_of(group) <= {"expressions"}
        keys = [selected(key, node) for key in group.expressions] if plain else []
    else:
        keys = [e.unalias() for e in node.expressions] if distinct is not None and not distinct.args.get("on") else []
    columns = [key for key in keys if isinstance(key, exp.Column)]
    return columns if len(columns) == len(keys) else []


def _of_same_groups(part: exp.Expr, node: exp.Select, key: exp.Column) -> tuple[list[exp.Expr], exp.Expr] | None:
    """The conditions on rows and on groups of ``key IN (SELECT key ... WHERE ... GROUP BY key HAVING ...)``.

    None where a SELECT has other groups: it has these if both read one table, whose rows both choose by the key alone.
    """
    inner = bare(part)
    query = inner.args["query"].unnest() if isinstance(inner, exp.In) and inner.args.get("query") is not None else None
    if not isinstance(query, exp.Select) or clauses_of(query) - {"where"} != {"expressions", "from_", "group", "having"}:
        return None
    query = query.copy()
    inside, around = only_source(query), only_source(node)
    if not isinstance(inside, exp.Table) or not isinstance(around, exp.Table) or inside.this != around.this:
        return None
    own, outer = lowered(inside.alias_or_name), lowered(around.alias_or_name)
    for column in [column for column in query.find_all(exp.Column) if lowered(column.table) == own]:
        if column.parent_select is query:
            column.set("table", None)
        elif own != outer:
            return None

    def is_key(column: exp.Expr) -> bool:
        return isinstance(column, exp.Column) and column.this == key.this and lowered(column.table) in ("", outer)

    chosen = conditions_of(query)
    others = [*chosen, *(other for other in conditions_of(node) if other is not part)]
    if any(o.find(exp.Query) or not all(map(is_key, o.find_all(exp.Column))) for o in others):
        return None
    same = _keys(query) == [exp.Column(this=key.this)] == [e.unalias() for e in query.expressions] and is_key(inner.this)
    return (chosen, query.args["having"].this) if same else None


def _filter(
    part: exp.Expr,
    keys: Sequence[exp.Column],
    of_persons: Callable[[exp.Expr], bool],
    reads_persons: Callable[[exp.Expr], bool],
) -> exp.Expr | None:
    """The condition on a group in place of one on its rows; None if it is another condition."""
    inner: exp.Expr | None = part.unnest()
    negated = isinstance(inner, exp.Not)
    inner = inner.this.unnest() if isinstance(inner, exp.Not) else inner
    if isinstance(inner, exp.Exists):
        inner = next((among for key in keys if (among := _as_in(inner, key)) is not None), None)
    if not isinstance(inner, exp.In) or inner.args.get("query") is None:
        return None
    key = next((key for key in keys if key == inner.this), None)
    query = inner.args["query"].unnest().copy()
    shown = query.expressions[0].unalias() if isinstance(query, exp.Select) and len(query.expressions) == 1 else None
    if key is None or not isinstance(shown, exp.Column) or lowered(shown.name) != lowered(key.name):
        return None
    if not reads_persons(query):
        return None
    if of_persons(query):
        query.set("distinct", exp.Distinct())
        if of_persons(query):  # a list of ids
            return None
    made = exp.In(this=key.copy(), query=exp.Subquery(this=query))
    return exp.Not(this=made) if negated else made


def _as_in(node: exp.Exists, key: exp.Column) -> exp.In | None:
    """``EXISTS (SELECT ... WHERE b.item = s.item AND ...)`` as ``item IN (SELECT b.item ... WHERE ...)``."""
    query = node.this.unnest()
    where = query.args.get("where") if isinstance(query, exp.Select) else None
    clauses = ("group", "having", "limit", "offset", "qualify", "with_")
    if where is None or any(query.args.get(k) for k in clauses) or any(e.find(exp.AggFunc) for e in query.expressions):
        return None
    inside = {lowered(table.alias_or_name) for table in query.find_all(exp.Table)}
    parts = conditions_of(query)
    links = [(part, sides) for part in parts if (sides := link(part, inside)) is not None]
    equal = [(part, shown) for part, (shown, outer) in links if lowered(outer.name) == lowered(key.name)]
    copy = query.copy()
    set_conditions(copy, [part for part in parts if not equal or part is not equal[0][0]])
    if not equal or any(c.table and lowered(c.table) not in inside for c in copy.find_all(exp.Column)):
        return None
    shown = equal[0][1]
    copy.set("expressions", [shown.copy()])
    return exp.In(this=key.copy(), query=exp.Subquery(this=copy))
