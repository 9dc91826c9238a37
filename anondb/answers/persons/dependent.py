"""Values that follow from the item by which rows are grouped."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.answers.persons.aggregates import Aggregates
from anondb.answers.persons.terms import Item, Looked, Scope
from anondb.answers.ranged.aggregates import aggregates

OF_ONE = (exp.AnyValue, exp.First, exp.Min, exp.Max)
"""Aggregates that are the value which all rows of a group have."""


def items_of(reader: Aggregates, scopes: Sequence[Scope], keys: Sequence[exp.Expr]) -> set[int]:
    """The variables of rows by whose items these are grouped."""
    atoms = (reader.atom(reader.resolved(key, scope)) for scope in scopes for key in keys)
    return {atom.row for atom in atoms if isinstance(atom, Item)}


def dependent(
    reader: Aggregates, parts: Sequence[exp.Expr | None], scope: Scope, keys: Sequence[exp.Expr]
) -> list[exp.Expr]:
    """What aggregates of rows grouped by an item take that is looked up for this item, and so is the same in a group.

    Args:
        reader: reads the rows.
        parts: the expressions with the aggregates.
        scope: the rows.
        keys: the grouped expressions.
    """
    items = items_of(reader, [scope], keys)
    taken = [call.this for part in parts for call in aggregates(part) if items and isinstance(call, OF_ONE)]
    values = dict.fromkeys(value for value in taken if isinstance(value, exp.Column) and value not in keys)
    atoms = {value: reader.atom(reader.resolved(value, scope)) for value in values}
    return [value for value, atom in atoms.items() if isinstance(atom, Looked) and atom.row in items]
