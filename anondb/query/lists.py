"""Resolve what a release does not show about the original's lists: the bounds must hold for all readings of a query.

A person without items has an empty list in the original, or NULL. Conditions on a list (``list_contains`` and others) are
unknown for NULL; ``IS NULL`` is true. After a query is read, its conditions are complete, and their dependence on NULL lists
is a leaf on ``LISTS`` that is true or false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from anondb.query.plan import Plan
from anondb.query.predicates import (
    ALWAYS,
    NEVER,
    NOT_EMPTY,
    And,
    Condition,
    Not,
    Or,
    both,
    either,
    leaves,
    negate,
    settled,
)
from anondb.query.values import HAS_LIST, LISTS, OnValue

NULL_NOTE = "The original may have NULL or an empty list for a transaction without items; the bounds hold for both."


def readings(plan: Plan, *, relational: bool) -> list[Plan]:
    """Replace the plan's leaves on NULL lists by conditions on items; return one plan, or two.

    Without relational values, all persons without items are equivalent. So the count lies between that of an original
    without NULL and that of the same original with NULL for all of them: two plans. With relational values each person has
    a list or not, independently of everything else.
    """
    if not any(map(_on_lists, leaves(plan.condition))):
        return [plan]
    complete = settled(plan.condition)
    cases = [HAS_LIST] if relational else [ALWAYS, NEVER]
    plans = [replace(plan, condition=_replaced(complete, partial(_of_items, has_list=has))) for has in cases]
    depends = plans[0] != plans[-1] or any(map(_on_lists, leaves(plans[0].condition)))
    return plans[:1] if not depends else [replace(p, notes=(*plan.notes, NULL_NOTE)) for p in plans]


def _on_lists(leaf: Condition) -> bool:
    return isinstance(leaf, OnValue) and leaf.attribute == LISTS.name


def _of_items(leaf: OnValue, has_list: Condition) -> Condition:
    """Replace a leaf on lists; ``has_list`` is the condition that a person without items has a list."""
    of_list, of_null = leaf.holds("list"), leaf.holds(None)
    if of_list == of_null:
        return ALWAYS if of_list else NEVER
    present = either(NOT_EMPTY, has_list)
    return present if of_list else negate(present)


def _replaced(condition: Condition, how: Callable[[OnValue], Condition]) -> Condition:
    if isinstance(condition, OnValue) and _on_lists(condition):
        return how(condition)
    if isinstance(condition, And):
        return both(*(_replaced(p, how) for p in condition.parts))
    if isinstance(condition, Or):
        return either(*(_replaced(p, how) for p in condition.parts))
    if isinstance(condition, Not):
        return negate(_replaced(condition.part, how))
    return condition


def hull(plans: Sequence[Plan]) -> Plan:
    """One plan whose bounds hold for all of them, with the estimate of the first."""
    different: dict[Plan, Plan] = {}
    for plan in plans:
        different.setdefault(replace(plan, notes=()), plan)
    first, *others = different.values()
    if not others:
        return first
    notes = tuple(dict.fromkeys(note for plan in different.values() for note in plan.notes))
    chain: Plan | None = None
    for other in reversed(others):
        chain = replace(other, other=chain)
    return replace(first, notes=notes, other=chain)
