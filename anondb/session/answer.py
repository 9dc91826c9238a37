"""The answer to a query on the original's tables: bounds of rules where some apply, and estimates of possible worlds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.answers.asked import Asked, asked
from anondb.answers.estimates import OUTSIDE_NOTE, Estimated, Estimator
from anondb.answers.ranged.relation import Ranged
from anondb.answers.ranged.windows import ORDER_NOTE
from anondb.answers.role import Role
from anondb.answers.role_reader import FIELDS
from anondb.answers.spread import Spread, note_of
from anondb.errors import InputError
from anondb.query.refusals import HINT, REFUSED, unsupported

if TYPE_CHECKING:
    from anondb.session.session import Session

MODELLED_NOTE = (
    "Rows of persons are modelled: they are those of one table that the release permits, and no row is a person's."
)
ID_HINT = "Ids of a release are modelled: count and group by them, and compare them with ids of the original's tables alone."
NO_BOUNDS = "No bounds, since no rule reads this: "
VARYING_NOTE = f"{NO_BOUNDS}a random number, or another value that is not the same each time. One world answers."
UNREAD = ("unsupported_query", "query_too_complex", "ambiguous_item")
"""The codes of refusals of the rules, where worlds alone answer."""


def answered(
    tree: exp.Expr, bound: Sequence[tuple[str, str]], session: Session, *, spread: bool = False, empty: bool = False
) -> tuple[Estimated, list[str]]:
    """The rows of a query, and notes on them.

    Args:
        tree: the query.
        bound: the names and types of its columns.
        session: the files, what was derived from them, and the tables of the analyst.
        spread: whether numbers have the ends of their spread.
        empty: whether only the columns are needed; then no world is drawn.

    Raises:
        InputError: the query uses ids of persons in a way that is not allowed, or DuckDB refuses it when it computes it.
    """
    question = asked(tree, len(bound), session.roles())
    if question.misused is not None:
        raise unsupported(question.misused, ID_HINT if question.of_worlds else HINT)
    if not question.of_worlds:
        return modelled(tree, bound, session, of_worlds=False)
    question = replace(question, empty=empty)
    relation, notes, refusal = _ruled(question, session)
    if relation is not None:  # what rules do not know exactly is no key
        listed = zip(question.roles, relation.columns, strict=True)
        vague = (role if role.computed or not (c.bounded or c.unknown) else Role.VALUE for role, c in listed)
        question = replace(question, roles=tuple(vague))
    same = question.shown == tuple(range(len(question.roles)))
    types = [kind for _, kind in bound] if same else session.types_of(question.ruled)
    items, worlds = session.items_named(tree), session.own if empty else session.worlds
    others = None
    if spread and not question.of_one_world:
        others = Spread(None) if empty else session.spread
    if others is not None and others.worlds is not None:
        others.worlds.prepared(question.drawn, items)
    if question.of_one_world:  # rows of persons, or an expression that has another value in each row
        worlds.draw(items)
    else:
        question = replace(question, drawn=worlds.prepared(question.drawn, items))
    try:
        estimated = Estimator(session.engine, worlds, question, types, others).rows(relation)
    except InputError as error:  # the rules say more than DuckDB of what they do not read
        raise refusal or error from None
    if estimated.contradicted:
        notes.append(OUTSIDE_NOTE)
    by_estimates = any(question.roles[n].computed for end in question.ends for n in end.columns)
    if (by_estimates or (relation is not None and relation.cut)) and ORDER_NOTE not in notes:
        notes.append(ORDER_NOTE)
    if others is not None and not empty:
        estimated = replace(estimated, called=note_of(others, session.counts_of_items(tree)))
    return estimated, [*notes, *estimated.notes]


def modelled(
    tree: exp.Expr, bound: Sequence[tuple[str, str]], session: Session, *, of_worlds: bool
) -> tuple[Estimated, list[str]]:
    """The rows of a query as the first world has them, or the analyst's tables alone, and notes on them."""
    everything = tuple(range(len(bound)))
    question = Asked(tree, tree, (Role.VALUE,) * len(bound), everything, of_persons=True)
    worlds = session.worlds if of_worlds else session.own
    worlds.draw(None)
    estimated = Estimator(session.engine, worlds, question, [kind for _, kind in bound]).rows(None)
    return estimated, [MODELLED_NOTE] if of_worlds else []


def _ruled(question: Asked, session: Session) -> tuple[Ranged | None, list[str], InputError | None]:
    """The rows of a query with bounds, and notes; None, with the reason, where no rule reads it."""
    if question.of_persons:
        return None, [MODELLED_NOTE], None
    if question.varies:
        return None, [VARYING_NOTE], None
    if question.unread is not None:
        return None, [f"{NO_BOUNDS}{question.unread}."], None
    try:
        relation, notes = session.bounds_of(question.ruled, ended=question.first)
        fields = any(call.meta.get(FIELDS) for call in question.ruled.find_all(exp.Explode))
        if fields or len(relation.columns) != len(question.roles):
            raise unsupported("unnest of a structure")
        return relation, notes, None
    except InputError as error:
        if error.code not in UNREAD:
            raise
        return None, [f"{NO_BOUNDS}{str(error).removeprefix(REFUSED)}"], error
