"""Helpers on syntax trees."""

from __future__ import annotations

from sqlglot import exp

from anondb.query.refusals import unsupported


def bare(node: exp.Expr) -> exp.Expr:
    """An expression without parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def is_null(node: exp.Expr) -> exp.Expr:
    """The condition that an expression is NULL: sqlglot writes no parentheses around NOT."""
    return exp.Is(this=exp.paren(node.copy()) if isinstance(node, exp.Not) else node.copy(), expression=exp.null())


def operands(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of AND or OR, from left to right, without recursion."""
    kind, leaves, todo = type(node), [], [node]
    while todo:
        top = bare(todo.pop())
        if type(top) is kind:
            todo += [top.args["expression"], top.args["this"]]
        else:
            leaves.append(top)
    return leaves


def whole(node: exp.Literal) -> int:
    """The value of a literal that is a whole number."""
    if not (node.name.isascii() and node.name.isdigit()) or len(node.name) > 38:
        raise unsupported("a number that is not whole", "Write items as texts.")
    return int(node.name)
