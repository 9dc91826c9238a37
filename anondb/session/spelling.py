"""Which grouped expressions give items that are texts on the desk, but may be numbers or the like in the original."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.session.counts import CONDITIONS
from anondb.session.expressions import read
from anondb.session.keys import VALUE, Domain
from anondb.session.values import Value

if TYPE_CHECKING:
    from anondb.session.rows_of_persons import Counts


def gives_items(domain: Domain, base: exp.Select, counts: Counts) -> bool:
    """Whether the values of a grouped expression are such items.

    Raises:
        InputError: ``ambiguous_item``: what the expression gives depends on the type of the items.
    """
    if domain.of_items or not counts.typed:
        return counts.typed
    made = isinstance(domain.key, exp.Anonymous) and domain.key.name == VALUE
    if domain.values is None or made or isinstance(domain.key, (exp.Case, exp.If, *CONDITIONS)):
        return False

    def resolve(node: exp.Expr) -> Value | None:
        if isinstance(node, exp.Column):
            kind = counts.kind(base, node)
            item = kind is not None and kind.what == "item"
            return Value(node, item=item, plain=item)
        if isinstance(node, exp.Literal):
            return Value(node, plain=counts.plain(frozenset({node.name})))
        return None

    return read(domain.key, resolve).item
