"""Sums of an expression of the item for each person, such as points by CASE, as sums of a column of a joined table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from anondb.query.parsing import lowered
from anondb.query.refusals import unsupported
from anondb.session.expressions import DRAWN

ITEM, WEIGHTS = "weighed item", "weights of items"  # no name of a query needs quotes like these


class Items(Protocol):
    """The table of persons and their items; ``manifest`` names its columns."""

    manifest: Mapping[str, str]

    @property
    def persons(self) -> str:
        """Its name, in lower case."""
        ...

    @property
    def items(self) -> Sequence[str]:
        """The items that are listed."""
        ...

    @property
    def may_hold_others(self) -> bool:
        """Whether a person may have an item that is not listed."""
        ...


def weighed(node: exp.Select, hidden: set[str], items: Items) -> exp.Select | None:
    """The query with ``sum(CASE WHEN item ... END)`` as the sum of a column of a table that has the number of each item.

    Args:
        node: the query.
        hidden: names of the common table expressions around it, which hide tables.
        items: the table of persons and their items.

    Returns:
        None if there is no such sum.

    Raises:
        InputError: ``unsupported_query``: persons may have items that are not listed.
    """
    if items.persons in hidden | {lowered(cte.alias) for cte in node.find_all(exp.CTE)}:
        return None
    made, changed = node.copy(), False
    for select in [s for s in made.find_all(exp.Select) if s is not made and s.args.get("group") is not None]:
        sums = [
            call for call in select.find_all(exp.Sum) if call.parent_select is select and _is_case(call, select, items)
        ]
        if not sums:
            continue
        if items.may_hold_others:
            raise unsupported("a sum of numbers of all items, which may be suppressed or spelled otherwise")
        _join(select, sums, items.items)
        changed = True
    return made if changed else None


def _is_case(call: exp.Sum, select: exp.Select, items: Items) -> bool:
    """Whether a SELECT from the table of persons alone sums an expression with CASE that depends on nothing but the item."""
    clause, value = select.args.get("from_"), call.this
    table = None if clause is None else clause.this
    if not isinstance(table, exp.Table) or table.db or lowered(table.name) != items.persons or select.args.get("joins"):
        return False
    columns, item = list(value.find_all(exp.Column)), lowered(items.manifest["item_column"])
    names = {"", lowered(table.alias_or_name)}
    if value.find(exp.Query, exp.AggFunc, exp.Window, exp.Distinct, *DRAWN) or not value.find(exp.Case, exp.If):
        return False
    return bool(columns) and all(lowered(c.name) == item and lowered(c.table) in names for c in columns)


def _join(select: exp.Select, sums: Sequence[exp.Sum], labels: Sequence[str]) -> None:
    """Join a table with the numbers of all items, and sum its columns."""
    table = select.args["from_"].this
    item = next(sums[0].this.find_all(exp.Column)).copy()
    item.set("table", exp.to_identifier(table.alias_or_name, quoted=True))
    key = exp.column(ITEM, quoted=True)
    numbers = list(dict.fromkeys(call.this for call in sums))
    listed = [
        number.transform(lambda part: key.copy() if isinstance(part, exp.Column) else part).as_(
            f"weight {n}", quoted=True
        )
        for n, number in enumerate(numbers)
    ]
    rows = exp.Values(
        expressions=[exp.Tuple(expressions=[exp.Literal.string(label)]) for label in labels],
        alias=exp.TableAlias(this=exp.to_identifier("listed"), columns=[exp.to_identifier(ITEM, quoted=True)]),
    )
    weights = exp.select(key, *listed).from_(rows).subquery(exp.to_identifier(WEIGHTS, quoted=True))
    same = exp.EQ(this=exp.column(ITEM, WEIGHTS, quoted=True), expression=item)
    for call in sums:
        call.set("this", exp.column(f"weight {numbers.index(call.this)}", WEIGHTS, quoted=True))
    select.join(weights, on=same, copy=False)
