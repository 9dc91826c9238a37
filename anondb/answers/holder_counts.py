"""Queries that only count who holds which item: the numbers of holders answer them, and nobody is drawn.

In a world, a reading of the table of transactions that names ids only to count them has as many rows of an item as the item
has holders. So the table with these numbers takes its place, and sums of them that of counts of rows.

Worlds are drawn for the items alone that a query names, where it reads no rows of others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.clauses import GROUPED, clauses_of, conditions_of, filtered_by, places_of
from anondb.query.parsing import bare, conjoined, dotted, is_null, lowered, operands

HOLDERS = "anondb_holders"
"""The table of a world with a row for each item that somebody holds, and its column with the number of those who do."""

_CLAUSES = {*GROUPED, "qualify", "distinct"}
_ONCE = (exp.Min, exp.Max, exp.LogicalOr, exp.LogicalAnd)
"""Aggregates to which a row that is there twice adds nothing."""


@dataclass(frozen=True)
class Persons:
    """The table of transactions with a row for each item, and what a query may name beside it; all in lower case.

    Attributes:
        table: its name.
        item, id: its columns with the items and with the ids.
        others: the names of its other columns.
        drawn: the names of the other tables of worlds.
        is_aggregate: tells by the name of a function that sqlglot does not know whether it is an aggregate.
    """

    table: str
    item: str
    id: str
    others: Collection[str]
    drawn: Collection[str]
    is_aggregate: Callable[[str], bool]


def over_holders(tree: exp.Expr, persons: Persons) -> exp.Expr | None:
    """The query over numbers of holders; None if it reads more of worlds."""
    tree = tree.copy()
    readings = [table for table in tree.find_all(exp.Table) if lowered(table.name) == persons.table]
    if not readings or not _is_plain(tree, persons):
        return None
    for table in readings:
        select = table.parent_select
        if not isinstance(select, exp.Select) or not _Counts(select, table, persons).write():
            return None
    named = {persons.id, *persons.others}
    return None if any(lowered(node.name) in named for node in tree.find_all(exp.Identifier)) else tree


def _is_plain(tree: exp.Expr, persons: Persons) -> bool:
    """Whether names in a query mean what they mean for the table of transactions, and no other table of worlds is read."""
    return not (
        any(lowered(name.name) == HOLDERS for name in tree.find_all(exp.Identifier))
        or any(lowered(cte.alias) == persons.table for cte in tree.find_all(exp.CTE))
        or any(lowered(table.name) in persons.drawn or table.args.get("db") for table in tree.find_all(exp.Table))
        or any("(" in column.name for column in tree.find_all(exp.Column))  # the name of a column that is written anew
        or any(persons.is_aggregate(call.name) for call in tree.find_all(exp.Anonymous))
        or tree.find(exp.Pivot, exp.Lateral) is not None
    )


class _Counts:
    """Writes a SELECT that reads the table of transactions.

    Args:
        select: the SELECT.
        table: the reading.
        persons: the table.
    """

    def __init__(self, select: exp.Select, table: exp.Table, persons: Persons) -> None:
        self._select, self._table, self._persons = select, table, persons
        self._alias = lowered(table.alias_or_name)
        parts = [*select.expressions, *(select.args.get(name) for name in ("having", "qualify", "order"))]
        self._calls = [call for part in parts for call in aggregates(part)]

    def write(self) -> bool:
        """Write the SELECT over numbers of holders; returns whether this can be done. If not, it may be half written."""
        if not (self._reads_one_table() and self._names_columns() and self._counts_no_row_twice()):
            return False
        for call in self._calls:
            number = self._number(call)
            if number is None:
                return False
            call.replace(number)
        holders = exp.to_table(HOLDERS)
        holders.set("alias", exp.TableAlias(this=exp.to_identifier(self._table.alias_or_name, quoted=True)))
        self._table.replace(holders)
        return True

    # ---------------------------------------------------------------- what is read

    def _reads_one_table(self) -> bool:
        """Whether the table is a plain source, and joins keep its rows as often as other sources have rows beside them."""
        places, plain = places_of(self._select), clauses_of(self._table) <= {"this", "alias"}
        if not plain or self._table.alias_column_names or self._table.parent not in places:
            return False
        if sum(getattr(place.this, "name", None) == self._table.name for place in places) > 1:
            return False
        sides, kinds, methods = ({join.args.get(name) or "" for join in places[1:]} for name in ("side", "kind", "method"))
        first = self._table.parent is places[0]
        return (
            (sides <= {"", "LEFT"} or (first and sides == {"RIGHT"} and len(places) == 2))
            and kinds <= {"", "INNER", "CROSS", "OUTER", *(("SEMI", "ANTI") if first else ())}
            and methods <= {""}
        )

    def _names_columns(self) -> bool:
        """Whether the SELECT names what it reads: no star but in ``count(*)``, and no whole row."""
        stars = [star for star in self._select.find_all(exp.Star) if star.parent_select is self._select]
        columns = [column for column in self._select.find_all(exp.Column) if not column.table]
        return (
            clauses_of(self._select) <= _CLAUSES
            and all(isinstance(star.parent, exp.Count) for star in stars)
            and not any(lowered(column.name) == self._alias for column in columns)
        )

    def _counts_no_row_twice(self) -> bool:
        """Whether equal rows of the table matter to aggregates alone."""
        group, distinct = self._select.args.get("group"), self._select.args.get("distinct")
        if group is not None or self._calls:
            return distinct is None or distinct.args.get("on") is None
        if any(window.parent_select is self._select for window in self._select.find_all(exp.Window)):
            return False
        if distinct is not None:
            return distinct.args.get("on") is None
        place = self._select.parent
        while isinstance(place, exp.Subquery) and not place.alias:
            place = place.parent
        of_set = isinstance(place, exp.SetOperation) and place.args.get("distinct") is True
        return (of_set or isinstance(place, exp.Exists | exp.In)) and not self._select.args.get("limit")

    # ---------------------------------------------------------------- what is counted

    def _number(self, call: exp.Expr) -> exp.Expr | None:
        """What takes the place of an aggregate; None if it reads more than numbers of holders."""
        function, condition = filtered(call)
        if not clauses_of(function) <= {"this", "big_int"} or isinstance(function.this, exp.Order):
            return None
        if isinstance(function, _ONCE):
            return call.copy()
        if isinstance(function, exp.CountIf) and not isinstance(function.this, exp.Distinct):
            return self._total(exp.Sum, condition, function.this)
        if not isinstance(function, exp.Count):
            return None
        counted = function.this
        if isinstance(counted, exp.Distinct):
            if not any(lowered(column.name) == self._persons.id for column in counted.find_all(exp.Column)):
                return call.copy()
            persons = len(counted.expressions) == 1 and self._is(counted.expressions[0], self._persons.id)
            return self._total(exp.Max, condition) if persons and self._has_one_item(condition) else None
        if counted is None or isinstance(counted, exp.Star | exp.Literal):
            return self._total(exp.Sum, condition)
        counted = self._holders if self._is(counted, self._persons.id) else counted
        return self._total(exp.Sum, condition, is_null(counted).not_())

    def _total(self, function: type[exp.AggFunc], *conditions: exp.Expr | None) -> exp.Expr:
        """A number of rows, or of holders of the one item that a row or a group has."""
        holders: exp.Expr = self._holders
        if function is exp.Sum:  # an outer join has a row without a holder
            holders = exp.func("coalesce", holders, exp.convert(1))
        return exp.cast(exp.func("coalesce", filtered_by(function(this=holders), *conditions), exp.convert(0)), "BIGINT")

    @property
    def _holders(self) -> exp.Column:
        """The number of holders of the item of a row."""
        return exp.column(HOLDERS, self._table.alias_or_name, quoted=True)

    def _has_one_item(self, condition: exp.Expr | None) -> bool:
        """Whether all rows that an aggregate reads have the same item."""
        group = self._select.args.get("group")
        if group is not None and not any(group.args.get(name) for name in ("rollup", "cube", "grouping_sets")):
            keys = self._select.expressions if group.args.get("all") else map(self._key, group.expressions)
            if any(self._is(key.unalias(), self._persons.item) for key in keys):
                return True
        alone = len(places_of(self._select)) == 1
        conditions = [*conditions_of(self._select), *conjoined(condition)]
        named = (items_of(bare(each), self._persons.item, self._alias, alone) for each in conditions)
        return any(items is not None and len(items) == 1 for items in named)

    def _key(self, key: exp.Expr) -> exp.Expr:
        """The expression that a number in GROUP BY stands for."""
        shown: list[exp.Expr] = self._select.expressions
        place = int(key.name) if isinstance(key, exp.Literal) and key.is_int else 0
        return shown[place - 1] if 0 < place <= len(shown) else key

    def _is(self, node: exp.Expr, name: str) -> bool:
        """Whether an expression is a column of the table."""
        node = bare(node)
        return isinstance(node, exp.Column) and lowered(node.name) == name and lowered(node.table) in ("", self._alias)


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
