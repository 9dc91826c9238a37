"""Conditions on an aggregate over all rows of the item of a row: ``QUALIFY count(*) OVER (PARTITION BY item) > 9`` as IN.

So is ``WHERE (SELECT count(*) FROM sales o WHERE o.item = s.item) > 9``: the rows of the item are those of its group, which
has the row itself; what else the subquery asks of its rows becomes FILTER.
"""

from __future__ import annotations

from sqlglot import exp

from anondb.answers.ranged.equivalents import link
from anondb.query.parsing import bare, conjoined, lowered

_ENDED = ("group", "having", "distinct", "order", "limit", "offset")


def with_item_windows(tree: exp.Expr, persons: str, item: str) -> exp.Expr:
    """A query with ``item IN (SELECT item ... GROUP BY item HAVING ...)`` in place of such conditions.

    They stand in QUALIFY, or in WHERE of the query around, which means the same.

    Args:
        tree: the query.
        persons, item: the table of persons and their items, and its column of items, in lower case.
    """
    nested = any(query.find_ancestor(exp.Where) for query in tree.find_all(exp.Subquery))
    if not (nested or tree.find(exp.Window)) or any(lowered(cte.alias) == persons for cte in tree.find_all(exp.CTE)):
        return tree
    made = tree.copy()
    for select in list(made.find_all(exp.Select)):  # outer ones first
        _write_nested(select, persons, item)
        clause = select.args.get("from_")
        source = clause.this if clause is not None else None
        if isinstance(source, exp.Subquery) and not select.args.get("joins"):
            _move_inside(select, source, item)
        if isinstance(source, exp.Table) and not source.db and lowered(source.name) == persons:
            _write_in(select, source, item)
    return made


def _write_nested(node: exp.Select, persons: str, item: str) -> None:
    """Write conditions of WHERE on aggregates over the rows with the item of a row as IN."""
    where = node.args.get("where")
    clause, joins = node.args.get("from_"), node.args.get("joins") or []
    sources = [place.this for place in ([clause, *joins] if clause is not None else [])]
    own = {lowered(t.alias_or_name) for t in sources if _is_plain(t, persons)}
    if any(join.side or join.method or join.kind not in ("", "INNER", "CROSS") for join in joins):
        return  # the item of a row may be NULL, of which no row is
    parts = conjoined(where.this if where else None)
    written = [_among_items(part, persons, item, own) or part for part in parts]
    if any(one is not other for one, other in zip(parts, written, strict=True)):
        node.set("where", exp.Where(this=exp.and_(*(part.copy() for part in written))))


def _is_plain(source: exp.Expr, persons: str) -> bool:
    """Whether a source is the table of persons and their items, with its own names of columns."""
    named = source.args.get("alias")
    plain = isinstance(source, exp.Table) and not source.db and lowered(source.name) == persons
    return plain and not (named is not None and named.columns)


def _among_items(part: exp.Expr, persons: str, item: str, own: set[str]) -> exp.In | None:
    """A condition on aggregates over the rows with the item of a row of one of these sources as a list of items."""
    queries = [q for q in part.find_all(exp.Subquery) if q.find_ancestor(exp.Query) is part.find_ancestor(exp.Query)]
    found = [_of_item(query.this, persons, item) for query in queries]
    keys = {of[1] for of in found if of is not None}
    if not found or None in found or len(keys) > 1 or lowered(next(iter(keys)).table) not in own:
        return None
    having = part.copy()
    copies = [q for q in having.find_all(exp.Subquery) if q.find_ancestor(exp.Query) is None]
    for query, of in zip(copies, found, strict=True):
        assert of is not None
        query.replace(of[0])
    if any(column.find_ancestor(exp.AggFunc, exp.Filter) is None for column in having.find_all(exp.Column)):
        return None
    key = exp.column(exp.to_identifier(item, quoted=True))
    groups = exp.select(key.copy()).from_(exp.Table(this=exp.to_identifier(persons, quoted=True)))
    groups = groups.group_by(key).having(having)
    return exp.In(this=keys.pop().copy(), query=exp.Subquery(this=groups))


def _of_item(query: exp.Expr, persons: str, item: str) -> tuple[exp.Expr, exp.Column] | None:
    """The aggregate of a subquery over the rows with the item of a row around it, and that item; None for others."""
    if not isinstance(query, exp.Select) or {k for k, v in query.args.items() if v} != {
        "expressions",
        "from_",
        "where",
    }:
        return None
    source, shown = query.args["from_"].this, query.expressions[0].unalias()
    call = shown.this if isinstance(shown, exp.Filter) else shown
    if len(query.expressions) != 1 or not _is_plain(source, persons) or not isinstance(call, exp.AggFunc):
        return None
    alias = lowered(source.alias_or_name)
    parts = conjoined(query.args["where"].this)
    links = [(part, sides) for part in parts if (sides := link(part, {"", alias})) is not None]
    equal = [(part, outer) for part, (inner, outer) in links if lowered(inner.name) == lowered(outer.name) == item]
    rest = [*(part for part in parts if not equal or part is not equal[0][0]), *shown.find_all(exp.Filter)]
    inside = [column for part in [shown, *rest] for column in part.find_all(exp.Column)]
    if not equal or any(p.find(exp.Query) for p in rest) or any(lowered(c.table) not in ("", alias) for c in inside):
        return None
    made, wanted = call.copy(), [part.copy() for part in rest if not isinstance(part, exp.Filter)]
    wanted += [shown.expression.this.copy()] if isinstance(shown, exp.Filter) else []
    whole = exp.Filter(this=made, expression=exp.Where(this=exp.and_(*wanted))) if wanted else made
    for column in whole.find_all(exp.Column):
        column.set("table", None)
    return whole, equal[0][1]


def _key(window: exp.Expr, item: str) -> exp.Column | None:
    """The column of items, if a window function is an aggregate over all rows with the item of a row."""
    call = window.this.this if isinstance(window.this, exp.Filter) else window.this
    by = [bare(key) for key in window.args.get("partition_by") or ()]
    plain = isinstance(call, exp.AggFunc) and not any(window.args.get(key) for key in ("order", "spec", "alias"))
    (key,) = by if len(by) == 1 else [None]
    return key if plain and isinstance(key, exp.Column) and lowered(key.name) == item else None


def _move_inside(node: exp.Select, source: exp.Subquery, item: str) -> None:
    """Move conditions on such windows of a subquery, which is the only source, into its QUALIFY."""
    inner, named = source.this, source.args.get("alias")
    if not isinstance(inner, exp.Select) or (named is not None and named.columns) or node.is_star or inner.is_star:
        return
    names = {lowered(e.alias_or_name): e.unalias() for e in inner.expressions}
    over = {name for name, e in names.items() if isinstance(e, exp.Window) and _key(e, item) is not None}
    where = node.args.get("where")
    parts = conjoined(where.this if where else None)
    moved = [p for p in parts if p.find(exp.Column) and p.find(exp.Query) is None and _names(p) <= over]
    if not moved or any(inner.args.get(key) for key in (*_ENDED, "qualify")):
        return
    kept = [part.copy() for part in parts if part not in moved]
    node.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    inside = [part.transform(lambda n: names[lowered(n.name)].copy() if isinstance(n, exp.Column) else n) for part in moved]
    inner.set("qualify", exp.Qualify(this=exp.and_(*inside)))
    unused = over - {lowered(column.name) for column in node.find_all(exp.Column) if column.parent_select is node}
    inner.set("expressions", [e for e in inner.expressions if lowered(e.alias_or_name) not in unused] or [exp.convert(1)])


def _names(node: exp.Expr) -> set[str]:
    """The names of the columns of an expression."""
    return {lowered(column.name) for column in node.find_all(exp.Column)}


def _write_in(node: exp.Select, source: exp.Table, item: str) -> None:
    """Write QUALIFY as WHERE, if all its conditions are on such windows, and no other window is used."""
    qualify, joins = node.args.get("qualify"), node.args.get("joins") or []
    outer = any(join.side or join.method or join.kind not in ("", "INNER", "CROSS") for join in joins)
    if qualify is None or outer or any(node.args.get(key) for key in _ENDED):
        return
    parts = conjoined(qualify.this)
    rest = [part.transform(lambda n: exp.null() if isinstance(n, exp.Window) else n) for part in parts]
    alone = all(part.find(exp.Window) for part in parts) and not any(part.find(exp.Column, exp.Query) for part in rest)
    keys = {_key(window, item) for window in qualify.find_all(exp.Window)}
    key = keys.pop() if len(keys) == 1 else None
    named = source.args.get("alias")
    if key is None or not alone or any(e.find(exp.Window) for e in node.expressions) or (named and named.columns):
        return
    if lowered(key.table) not in ("", lowered(source.alias_or_name)):
        return
    groups, where = node.copy(), node.args.get("where")
    for name in ("qualify", "with_"):
        groups.set(name, None)
    groups.set("expressions", [key.copy()])
    having = qualify.this.transform(lambda n: n.this if isinstance(n, exp.Window) else n)
    among = exp.In(this=key.copy(), query=exp.Subquery(this=groups.group_by(key.copy()).having(having)))
    node.set("qualify", None)
    node.set("where", exp.Where(this=exp.and_(*conjoined(where.this if where else None), among)))
