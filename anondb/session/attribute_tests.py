"""Conditions on a function of one relational attribute, as conditions on the values that the release lists."""

from __future__ import annotations

from sqlglot import exp

from anondb.query.refusals import name_of, unsupported
from anondb.query.relations import bare
from anondb.session.keys import Key, among, listed_values
from anondb.session.rows_of_persons import Counts

COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Is)
"""Conditions on an attribute itself, which ``query`` reads."""

TESTS = (exp.Predicate, exp.StartsWith, exp.EndsWith, exp.Contains, exp.SimilarTo, exp.RegexpFullMatch)


def with_listed_values(node: exp.Expr, base: exp.Select, counts: Counts, *, where: bool = False) -> exp.Expr:
    """An expression in which each condition on a function of an attribute names the values for which it holds.

    Args:
        node: the expression; it is not changed.
        base: the FROM clause of its SELECT.
        counts: what answers for the persons.
        where: whether the expression is the condition of WHERE, where NULL counts as false.

    Raises:
        InputError: ``unsupported_query``: a condition is NULL for a value, where this matters.
    """
    made = exp.Where(this=node.copy()) if where else exp.Paren(this=node.copy())
    for test in list(made.find_all(*TESTS)):
        column = None if test.find_ancestor(exp.Query) else _function_of(test)
        key = None if column is None else counts.kind(base, column)
        if column is not None and key is not None and key.attribute:
            test.replace(exp.paren(_listed(test, column, key, base, counts)))
    whole: exp.Expr = made.this
    return whole


def _function_of(test: exp.Expr) -> exp.Column | None:
    """The only column on a function of which a condition depends; None for other conditions."""
    columns = set(test.find_all(exp.Column))
    if len(columns) != 1 or test.find(exp.Query, exp.AggFunc, exp.Window, exp.Rand, exp.Uuid):
        return None
    (column,) = columns
    sides = [bare(side) for side in (test.args.get("this"), test.args.get("expression")) if isinstance(side, exp.Expr)]
    return None if isinstance(test, COMPARISONS) and column in sides else column


def _listed(test: exp.Expr, column: exp.Column, of: Key, base: exp.Select, counts: Counts) -> exp.Expr:
    """A condition by the values for which it is true; false for the others, and NULL where it is for NULL alone."""
    values, _ = listed_values(test, column, of, base, counts)
    holds, unknown = values.get(True, []), values.get(None, [])
    if any(value is not None for value in unknown) and not _is_plain(test):
        raise unsupported(f"NOT of a condition that is NULL for a value ({name_of(test)})", "Use coalesce(..., false).")
    true = [value for value in holds if value is not None]
    made: exp.Expr = among(column, true, of.kind) if true else exp.false()
    present = exp.Not(this=exp.Is(this=column.copy(), expression=exp.null()))
    if None in holds:
        return exp.or_(exp.Not(this=present), made)
    if None not in unknown or _is_plain(test):
        return exp.and_(present, made) if true else made
    if true:
        return made
    some = among(column, [value for members in values.values() for value in members if value is not None][:1], of.kind)
    return exp.and_(some, exp.Not(this=exp.paren(some.copy())))  # false, or NULL for NULL


def _is_plain(test: exp.Expr) -> bool:
    """Whether only AND, OR and parentheses are between a condition and WHERE, so that NULL counts as false."""
    above = test.parent
    while isinstance(above, exp.And | exp.Or | exp.Paren):
        above = above.parent
    return isinstance(above, exp.Where)
