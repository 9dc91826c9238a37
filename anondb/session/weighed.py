"""Sums of an expression of the item for each person, such as points by CASE, as sums of numbers of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, Protocol

from sqlglot import exp

from anondb.query.conditions import WEIGHT
from anondb.query.parsing import lowered
from anondb.query.predicates import Weights
from anondb.query.refusals import unsupported
from anondb.query.relations import bare
from anondb.session.counts import branches
from anondb.session.expressions import DRAWN
from anondb.session.joined import weights_of


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
    def typed(self) -> bool:
        """Whether the items have another type than text."""
        ...

    @property
    def suppressed(self) -> bool:
        """Whether items were suppressed, so that lists of items are not complete."""
        ...

    def rows(self, tree: exp.Query) -> list[tuple[Any, ...]]:
        """Run a query on the desk."""
        ...

    def weigh(self, weights: Weights) -> int:
        """Keep a number for each item; returns the number of the mapping."""
        ...


def weighed(node: exp.Select, hidden: set[str], items: Items) -> exp.Select | None:
    """The query with ``sum(CASE WHEN item ... END)`` as the sum of a number of each item (``conditions.WEIGHT``).

    Args:
        node: the query.
        hidden: names of the common table expressions around it, which hide tables.
        items: the table of persons and their items.

    Returns:
        None if there is no such sum.

    Raises:
        InputError: ``unsupported_query``: the numbers are not known, also of items that may be suppressed.
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
        if items.typed:
            raise unsupported("a sum of numbers of all items, which may be spelled otherwise")
        for call in sums:
            item = next(call.find_all(exp.Column)).copy()
            number = exp.Literal.number(items.weigh(_weights(call.this, items)))
            call.set("this", exp.Anonymous(this=WEIGHT, expressions=[item, number]))
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


def _weights(value: exp.Expr, items: Items) -> Weights:
    """The number of each listed item, and the least and the greatest one that suppressed items may have.

    Raises:
        InputError: ``unsupported_query``.
    """
    key = exp.column("item", "listed")
    rows = exp.Values(
        expressions=[exp.Tuple(expressions=[exp.Literal.string(label)]) for label in items.items],
        alias=exp.TableAlias(this=exp.to_identifier("listed"), columns=[exp.to_identifier("item")]),
    )
    number = value.transform(lambda part: key.copy() if isinstance(part, exp.Column) else part)
    listed = items.rows(exp.select(key, number).from_(rows)) if items.items else []
    if any(one is None for _, one in listed):
        raise unsupported("the sum of CASE that is NULL for an item", "Write ELSE 0.")
    weights = weights_of(listed)
    if not items.suppressed:
        return weights
    numbers = _results(bare(value))
    if not numbers:
        raise unsupported("a sum of numbers of all items, which may be suppressed", "Sum a CASE of numbers with ELSE.")
    return replace(weights, others=(-inf if min(numbers) < 0 else 0.0, inf if max(numbers) > 0 else 0.0))


def _results(node: exp.Expr) -> list[float]:
    """The numbers that CASE may result in; none if they are not written as such."""
    results = [bare(result) for _, result in branches(node)] if isinstance(node, exp.Case | exp.If) else []
    literals = [one.this if isinstance(one, exp.Neg) else one for one in results]
    if not all(isinstance(one, exp.Literal) and not one.is_string for one in literals):
        return []
    signs = [-1 if isinstance(one, exp.Neg) else 1 for one in results]
    return [sign * float(one.name) for sign, one in zip(signs, literals, strict=True)]
