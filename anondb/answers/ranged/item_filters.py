"""Conditions on a grouped column and a subquery: ``WHERE item NOT IN (SELECT b.item FROM sales a JOIN sales b ...)``.

Such a condition is the same for all rows of an item. So it is a condition on the groups of GROUP BY item, or of SELECT
DISTINCT item, and decides for each item of the list whether it is kept, by the counts of the subquery.

Conditions on an aggregate over all rows of the item of a row: ``QUALIFY count(*) OVER (PARTITION BY item) > 9`` as IN.

So is ``WHERE (SELECT count(*) FROM sales o WHERE o.item = s.item) > 9``: the rows of the item are those of its group, which
has the row itself; what else the subquery asks of its rows becomes FILTER."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import (
    ROWS,
    clauses_of,
    conditions_of,
    filtered_by,
    is_inner,
    only_source,
    only_subquery,
    places_of,
    selected,
    set_conditions,
    shown_by_name,
)
from anondb.answers.ranged.equivalents import link
from anondb.answers.ranged.originals import Originals, rule
from anondb.query.parsing import bare, conjoined, is_null, lowered


@rule(exp.In)
def with_having(select: exp.Select, originals: Originals) -> None:
    """A query with HAVING in place of ``item IN (SELECT item FROM sales GROUP BY item HAVING ...)`` where it has these
    groups."""
    keys = _keys(select)
    parts = conditions_of(select) if len(keys) == 1 and select.args.get("group") else []
    moved = {id(part): same for part in parts if (same := _group_conditions(part, select, keys[0])) is not None}
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


def _group_conditions(part: exp.Expr, node: exp.Select, key: exp.Column) -> tuple[list[exp.Expr], exp.Expr] | None:
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


_ENDED = ("group", "having", "distinct", "order", "limit", "offset")


@rule((exp.Window, exp.Subquery))
def with_item_windows(select: exp.Select, originals: Originals) -> None:
    """A query with ``item IN (SELECT item ... GROUP BY item HAVING ...)`` in place of such conditions.

    They stand in QUALIFY, or in WHERE of the query around, which means the same.
    """
    if all(lowered(cte.alias) != originals.persons for cte in select.root().find_all(exp.CTE)):
        _write_nested(select, originals.persons, originals.item)
        _move_inside(select, originals.item)
        _write_in(select, originals.persons, originals.item)


def _write_nested(node: exp.Select, persons: str, item: str) -> None:
    """Write conditions of WHERE on aggregates over the rows with the item of a row as IN."""
    places, parts = places_of(node), conditions_of(node)
    if not all(map(is_inner, places)):
        return  # the item of a row may be NULL, of which no row is
    own = {lowered(place.this.alias_or_name) for place in places if _is_plain(place.this, persons)}
    written = [_among_items(part, persons, item, own) or part for part in parts]
    if any(old is not new for old, new in zip(parts, written, strict=True)):
        set_conditions(node, written)


def _is_plain(source: exp.Expr, persons: str) -> bool:
    """Whether a source is the table of persons and their items, with its own names of columns."""
    plain = isinstance(source, exp.Table) and not source.db and lowered(source.name) == persons
    return plain and not source.alias_column_names


def _among_items(part: exp.Expr, persons: str, item: str, own: set[str]) -> exp.In | None:
    """A condition on aggregates over the rows with the item of a row of one of these sources as a list of items."""
    queries = [q for q in part.find_all(exp.Subquery) if q.find_ancestor(exp.Query) is part.find_ancestor(exp.Query)]
    calls = [pair for query in queries if (pair := _item_aggregate(query.this, persons, item)) is not None]
    keys = {key for _, key in calls}
    if not calls or len(calls) < len(queries) or len(keys) > 1 or lowered(calls[0][1].table) not in own:
        return None
    having = part.copy()
    copies = [q for q in having.find_all(exp.Subquery) if q.find_ancestor(exp.Query) is None]
    for copied, (call, _) in zip(copies, calls, strict=True):
        copied.replace(call)
    if any(column.find_ancestor(exp.AggFunc, exp.Filter) is None for column in having.find_all(exp.Column)):
        return None
    key = exp.column(item, quoted=True)
    groups = exp.select(key.copy()).from_(exp.Table(this=exp.to_identifier(persons, quoted=True)))
    groups = groups.group_by(key).having(having)
    return exp.In(this=keys.pop().copy(), query=exp.Subquery(this=groups))


def _item_aggregate(query: exp.Expr, persons: str, item: str) -> tuple[exp.Expr, exp.Column] | None:
    """The aggregate of a subquery over the rows with the item of a row around it, and that item; None for others."""
    if not isinstance(query, exp.Select) or clauses_of(query) != {"expressions", "from_", "where"}:
        return None
    source, shown = query.args["from_"].this, query.expressions[0].unalias()
    call, wanted = filtered(shown)
    if len(query.expressions) != 1 or not _is_plain(source, persons) or not isinstance(call, exp.AggFunc):
        return None
    alias = lowered(source.alias_or_name)
    parts = conditions_of(query)
    links = [(part, sides) for part in parts if (sides := link(part, {"", alias})) is not None]
    equal = [(part, outer) for part, (inner, outer) in links if lowered(inner.name) == lowered(outer.name) == item]
    rest = [*(part for part in parts if not equal or part is not equal[0][0]), *([] if wanted is None else [wanted])]
    inside = [column for part in [call, *rest] for column in part.find_all(exp.Column)]
    odd = any(part.find(exp.Query) for part in rest) or (wanted is not None and call.find(exp.Query) is not None)
    if not equal or odd or any(lowered(c.table) not in ("", alias) for c in inside):
        return None
    whole = filtered_by(call, *rest)
    for column in whole.find_all(exp.Column):
        column.set("table", None)
    return whole, equal[0][1]


def _key(window: exp.Expr, item: str) -> exp.Column | None:
    """The column of items, if a window function is an aggregate over all rows with the item of a row."""
    call, _ = filtered(window.this)
    by = [bare(key) for key in window.args.get("partition_by") or ()]
    plain = isinstance(call, exp.AggFunc) and not any(window.args.get(key) for key in ("order", "spec", "alias"))
    (key,) = by if len(by) == 1 else [None]
    return key if plain and isinstance(key, exp.Column) and lowered(key.name) == item else None


def _move_inside(node: exp.Select, item: str) -> None:
    """Move conditions on such windows of a subquery, which is the only source, into its QUALIFY."""
    inner = only_subquery(node)
    if inner is None or node.is_star or inner.is_star:
        return
    names = shown_by_name(inner)
    over = {name for name, e in names.items() if isinstance(e, exp.Window) and _key(e, item) is not None}
    parts = conditions_of(node)
    moved = [p for p in parts if p.find(exp.Column) and p.find(exp.Query) is None and _names(p) <= over]
    if not moved or any(inner.args.get(key) for key in (*_ENDED, "qualify")):
        return
    set_conditions(node, [part for part in parts if part not in moved])
    inside = [part.transform(lambda n: names[lowered(n.name)].copy() if isinstance(n, exp.Column) else n) for part in moved]
    set_conditions(inner, inside, "qualify")
    unused = over - {lowered(column.name) for column in node.find_all(exp.Column) if column.parent_select is node}
    inner.set("expressions", [e for e in inner.expressions if lowered(e.alias_or_name) not in unused] or [exp.convert(1)])


def _names(node: exp.Expr) -> set[str]:
    """The names of the columns of an expression."""
    return {lowered(column.name) for column in node.find_all(exp.Column)}


def _write_in(node: exp.Select, persons: str, item: str) -> None:
    """Write QUALIFY as WHERE, if all its conditions are on such windows, and no other window is used."""
    qualify, places = node.args.get("qualify"), places_of(node)
    if qualify is None or not places or not _is_plain(places[0].this, persons) or not all(map(is_inner, places)):
        return
    if any(node.args.get(key) for key in _ENDED):
        return
    source, parts = places[0].this, conjoined(qualify.this)
    rest = [part.transform(lambda n: exp.null() if isinstance(n, exp.Window) else n) for part in parts]
    alone = all(part.find(exp.Window) for part in parts) and not any(part.find(exp.Column, exp.Query) for part in rest)
    keys = {_key(window, item) for window in qualify.find_all(exp.Window)}
    key = keys.pop() if len(keys) == 1 else None
    if key is None or not alone or any(e.find(exp.Window) for e in node.expressions):
        return
    if lowered(key.table) not in ("", lowered(source.alias_or_name)):
        return
    groups = node.copy()
    for name in ("qualify", "with_"):
        groups.set(name, None)
    groups.set("expressions", [key.copy()])
    having = qualify.this.transform(lambda n: n.this if isinstance(n, exp.Window) else n)
    among = exp.In(this=key.copy(), query=exp.Subquery(this=groups.group_by(key.copy()).having(having)))
    node.set("qualify", None)
    set_conditions(node, [*conditions_of(node), among])
