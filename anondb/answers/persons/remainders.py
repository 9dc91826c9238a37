"""Numbers of rows less those that satisfy conditions: ``count(*) - count(*) FILTER (WHERE x)`` as the rows without x."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from anondb.answers.persons.aggregates import Aggregates, Basic
from anondb.answers.persons.terms import Scope
from anondb.errors import InputError
from anondb.query.predicates import NEVER


def remainder(reader: Aggregates, scopes: Sequence[Scope], terms: Sequence[tuple[int, Basic]]) -> exp.Expr | None:
    """The condition of the rows that are left of all rows where no row is taken away twice; None for other sums.

    Args:
        reader: reads the rows.
        scopes: the rows.
        terms: numbers of rows, and how often each is added.
    """
    every = [factor for factor, basic in terms if basic.wanted is None]
    taken = [basic.wanted for factor, basic in terms if factor == -1 and basic.wanted is not None]
    if every != [1] or len(taken) < len(terms) - 1 or any(basic.how != "rows" for _, basic in terms):
        return None
    for pair in combinations(taken, 2):
        try:
            both = [reader.filtered(scope, list(pair)).rows.where for scope in scopes]
        except InputError:
            return None
        if any(where != NEVER for where in both):
            return None
    return exp.and_(*(exp.Not(this=exp.paren(exp.Is(this=exp.paren(part.copy()), expression=exp.true()))) for part in taken))
