"""The items that a query names: worlds are drawn for these alone, where the query reads no rows of others."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from anondb.answers.ranged.clauses import conditions_of
from anondb.query.parsing import bare, conjoined, dotted, lowered, operands


def items_named(tree: exp.Expr, table: str, item_column: str) -> frozenset[str] | None:
    """The items to which every reading of the table of transactions is restricted; None if there is one that is not.

    Args:
        tree: the query.
        table: the table with a row for each item, in lower case.
        item_column: its column with the items, in lower case.
    """
    if any(lowered(cte.alias) == table for cte in tree.find_all(exp.CTE)):
        return None
    named = frozenset[str]()
    for node in tree.find_all(exp.Table):
        name = dotted(node.parts)
        if name == table:
            items = _restricted(node, item_column)
            if items is None:
                return None
            named |= items
        elif name == "baskets":
            return None
    return named


def counts_of_items(tree: exp.Expr, table: str, item_column: str, id_column: str) -> bool:
    """Whether a query is a plain list of items, or names one, and all that it computes are counts of those who hold it.

    Args:
        tree: the query.
        table: the table with a row for each item, in lower case.
        item_column, id_column: its columns, in lower case.
    """
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Query))) > 1 or tree.find(exp.Join, exp.Lateral):
        return False
    where, group, columns = tree.args.get("where"), tree.args.get("group"), {item_column, id_column}
    if [lowered(node.name) for node in tree.find_all(exp.Table)] != [table]:
        return False
    if where is not None and {lowered(column.name) for column in where.find_all(exp.Column)} != {item_column}:
        return False
    selected = {str(n): bare(each.unalias()) for n, each in enumerate(tree.expressions, 1)}
    selected |= {lowered(each.alias_or_name): selected[str(n)] for n, each in enumerate(tree.expressions, 1)}
    keys = [selected.get(lowered(key.name), key) for key in (group.expressions if group is not None else [])]
    computed = [each for each in selected.values() if each.find(exp.AggFunc)]
    by_item = [lowered(key.name) for key in keys if isinstance(key, exp.Column)] == [item_column] and len(keys) == 1
    one = not keys and len(items_named(tree, table, item_column) or ()) == 1
    counted = {lowered(column.name) for each in computed for column in each.find_all(exp.Column)}  # ``*`` has none
    return (by_item or one) and all(isinstance(each, exp.Count) for each in computed) and counted <= columns


def _restricted(node: exp.Table, item_column: str) -> frozenset[str] | None:
    """The items that conditions leave of one reading of the table."""
    select = node.parent_select
    if not isinstance(select, exp.Select) or node.args.get("joins") or node.args.get("pivots"):
        return None
    joins = select.args.get("joins") or []
    alone, alias = not joins and not select.args.get("laterals"), lowered(node.alias_or_name)
    for condition in _conditions(node, select, joins):
        items = items_of(bare(condition), item_column, alias, alone)
        if items is not None:
            return items
    return None


def _conditions(node: exp.Table, select: exp.Select, joins: list[exp.Join]) -> Iterator[exp.Expr]:
    """Conditions that each row of the table that matters meets."""
    yield from conditions_of(select)
    if all(join.side in ("", "LEFT") for join in joins):
        for join in joins:
            if join.side == "" or join.this is node:
                yield from conjoined(join.args.get("on"))


def items_of(node: exp.Expr, item_column: str, alias: str, alone: bool) -> frozenset[str] | None:
    """The items for which a condition on the item column holds; None for other conditions."""
    if isinstance(node, exp.Or):
        parts = [items_of(bare(part), item_column, alias, alone) for part in operands(node)]
        return None if None in parts else frozenset[str]().union(*(part for part in parts if part is not None))
    if isinstance(node, exp.EQ):
        sides = [bare(node.this), bare(node.expression)]
        columns = [side for side in sides if isinstance(side, exp.Column)]
        values = [side for side in sides if not isinstance(side, exp.Column)]
    elif isinstance(node, exp.In) and node.args.get("query") is None:
        values = list(map(bare, node.expressions))
        columns = [side for side in [bare(node.this)] if isinstance(side, exp.Column)]
    else:
        return None
    of_item = len(columns) == 1 and lowered(columns[0].name) == item_column
    if not of_item or not values or not all(isinstance(value, exp.Literal) and value.is_string for value in values):
        return None
    table = lowered(columns[0].table)
    return frozenset(value.name for value in values) if table == alias or (not table and alone) else None
