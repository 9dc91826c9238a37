"""Conditions on an aggregate over all rows of the item of a row: ``QUALIFY count(*) OVER (PARTITION BY item) > 9`` as IN."""

from __future__ import annotations

from sqlglot import exp

from anondb.query.parsing import bare, conjoined, lowered

_ENDED = ("group", "having", "distinct", "order", "limit", "offset")


def with_item_windows(tree: exp.Expr, persons: str, item: str) -> exp.Expr:
    """A query with ``item IN (SELECT item ... GROUP BY item HAVING ...)`` in place of such conditions.

    They stand in QUALIFY, or in WHERE of the query around, which means the same.

    Args:
        tree: the query.
        persons, item: the table of persons and their items, and its column of items, in lower case.
    """
    if tree.find(exp.Window) is None or any(lowered(cte.alias) == persons for cte in tree.find_all(exp.CTE)):
        return tree
    made = tree.copy()
    for select in list(made.find_all(exp.Select)):  # outer ones first
        clause = select.args.get("from_")
        source = clause.this if clause is not None else None
        if isinstance(source, exp.Subquery) and not select.args.get("joins"):
            _move_inside(select, source, item)
        if isinstance(source, exp.Table) and not source.db and lowered(source.name) == persons:
            _write_in(select, source, item)
    return made


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
    inside = [
        part.transform(lambda n: names[lowered(n.name)].copy() if isinstance(n, exp.Column) else n) for part in moved
    ]
    inner.set("qualify", exp.Qualify(this=exp.and_(*inside)))
    unused = over - {lowered(column.name) for column in node.find_all(exp.Column) if column.parent_select is node}
    inner.set(
        "expressions", [e for e in inner.expressions if lowered(e.alias_or_name) not in unused] or [exp.convert(1)]
    )


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
