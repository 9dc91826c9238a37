"""UNION, INTERSECT and EXCEPT of rows that counts chose: which rows the result has for certain, and possibly."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.answers.ranged.relation import SURE, Ranged
from anondb.query.refusals import unsupported

SIDE = "side"
_FLAGS = {"there": exp.true(), SURE: exp.column(SURE)}


def compared(node: exp.SetOperation, sides: Sequence[Ranged], trees: Sequence[exp.Select], width: int) -> exp.Select:
    """The rows of a set operation without repetitions, with flags.

    Args:
        node: the operation.
        sides: what it compares: rows whose values are exact.
        trees: the rows of each side, with flags.
        width: the number of their columns.

    Raises:
        InputError: ``unsupported_query``: the operation keeps repetitions.
    """
    if not node.args.get("distinct"):
        raise unsupported(f"{node.key.upper()} ALL of rows that an estimate chose", "Leave ALL out.")
    numbered = [tree.select(exp.Literal.number(n).as_(SIDE)) for n, tree in enumerate(trees)]
    columns = [exp.column(f"c{n}") for n in range(width)]
    grouped = exp.select(*columns, *(_any(name, n) for n in (0, 1) for name in _FLAGS))
    grouped = grouped.from_(exp.union(*numbered, distinct=False).subquery("both")).group_by(*columns)
    left, right = ({name: exp.column(f"{name}{n}") for name in _FLAGS} for n in (0, 1))
    if isinstance(node, exp.Except):
        kept = exp.and_(left["there"], exp.not_(right[SURE]))
        # a row that the other side does not list may be there if rows are missing from it
        sure = exp.false() if sides[1].open else exp.and_(left[SURE], exp.not_(right["there"]))
    else:
        join = exp.and_ if isinstance(node, exp.Intersect) else exp.or_
        kept, sure = (join(left[name], right[name]) for name in _FLAGS)
    return exp.select(*columns, sure.as_(SURE)).from_(grouped.subquery("groups")).where(kept)


def _any(flag: str, side: int) -> exp.Expr:
    """Whether one of the rows of a side has a flag."""
    held = exp.and_(exp.column(SIDE).eq(side), _FLAGS[flag].copy())
    return exp.Coalesce(this=exp.LogicalOr(this=held), expressions=[exp.false()]).as_(f"{flag}{side}")
