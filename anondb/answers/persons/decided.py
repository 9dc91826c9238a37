"""When a condition on the rows of a person is true, and when it is false."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from anondb.answers.persons.terms import Truth
from anondb.query.predicates import ALWAYS, NEVER, Condition, both, negate


def certain(condition: Condition) -> Truth:
    """A condition that is never unknown."""
    return Truth(condition, negate(condition))


def constant_truth(value: Any) -> Truth:
    """The truth of a constant, which is unknown if it is NULL."""
    return Truth(NEVER, NEVER) if value is None else certain(ALWAYS if value else NEVER)


def has_value(truth: Truth, value: bool | None) -> Condition:
    """The condition that another one has a truth value; None for unknown."""
    if value is None:
        return NEVER if negate(truth.true) == truth.false else both(negate(truth.true), negate(truth.false))
    return truth.true if value else truth.false


def by_parts(tree: exp.Expr) -> exp.Expr | None:
    """A comparison of rows of values as one of each value, where DuckDB takes NULLs as equal; None for others."""
    if isinstance(tree, exp.In) and isinstance(tree.this, exp.Tuple) and tree.expressions:
        compared = [by_parts(exp.EQ(this=tree.this, expression=row)) for row in tree.expressions]
        return None if None in compared else exp.or_(*compared)
    if not isinstance(tree, exp.EQ | exp.NEQ):
        return None
    left, right = (side.expressions if isinstance(side, exp.Tuple) else [] for side in (tree.this, tree.expression))
    if not left or len(left) != len(right):
        return None
    equal = exp.and_(*(exp.NullSafeEQ(this=one, expression=other) for one, other in zip(left, right, strict=True)))
    return exp.not_(equal) if isinstance(tree, exp.NEQ) else equal


def with_part(tree: exp.Expr, part: exp.Expr, value: exp.Expr) -> exp.Expr:
    """A copy of an expression with another one in place of a part of it."""
    copy = tree.copy()
    same = next(b for a, b in zip(tree.walk(), copy.walk(), strict=True) if a is part)
    same.replace(exp.paren(value.copy()))
    return copy
