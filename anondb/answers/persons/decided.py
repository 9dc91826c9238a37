"""When a condition on the rows of a person is true, and when it is false."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from anondb.answers.persons.terms import Truth
from anondb.query.predicates import ALWAYS, NEVER, Condition, both, either, negate


@dataclass(frozen=True)
class Decided:
    """When an expression is true, and when it is false; else it is unknown."""

    true: Condition
    false: Condition

    @property
    def definite(self) -> Condition:
        """The condition that the value is not unknown."""
        return ALWAYS if negate(self.true) == self.false else either(self.true, self.false)

    @property
    def opposite(self) -> Decided:
        """The negation."""
        return Decided(self.false, self.true)


def certain(condition: Condition) -> Decided:
    """A condition that is never unknown."""
    return Decided(condition, negate(condition))


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
    made = tree.copy()
    same = next(b for a, b in zip(tree.walk(), made.walk(), strict=True) if a is part)
    same.replace(exp.paren(value.copy()))
    return made
