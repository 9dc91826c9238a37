"""Items that a query names and no released item stands for: typing errors, and labels of released items.

The label of a released item, such as that of a category, is read in two ways: as an item, which the original does not have,
and as any of the items that it stands for. The estimate is that of the second reading; the bounds enclose both.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from difflib import get_close_matches

from sqlglot import exp

from anondb.query.cached_release import Opened
from anondb.query.plan import ITEMS, PAIRS, Plan
from anondb.query.relations import bare
from anondb.query.totals import labels_of

NEAREST = 3
MAX_ITEMS = 20_000  # to compare a text with; in time linear in their number


def with_members(
    release: Opened, plan: Plan, tree: exp.Select, written: Set[str], rewrite: Callable[[exp.Select], Plan]
) -> Plan:
    """The plan of a count in which labels of released items also stand for their members.

    Args:
        release: the release.
        plan: of the query as it is.
        tree: the query.
        written: the literals that the analyst wrote.
        rewrite: makes a plan of a query.
    """
    labels = (labels_of(plan) & written & release.sizes.keys()) - release.images.keys()
    if not labels or plan.counts in (ITEMS, PAIRS):
        return plan
    members = {label: _members(release, label) for label in labels}
    asked = tree.copy()
    for node in list(asked.find_all(exp.EQ, exp.NEQ, exp.In)):
        values = [bare(node.expression)] if isinstance(node, exp.Binary) else [bare(e) for e in node.expressions]
        if not any(isinstance(v, exp.Literal) and v.is_string and v.name in members for v in values):
            continue
        listed = [m for v in values for m in members.get(v.name if isinstance(v, exp.Literal) else "", [v])]
        literals = [exp.Literal.string(m) if isinstance(m, str) else m.copy() for m in listed]
        among: exp.Expr = exp.In(this=node.this.copy(), expressions=literals)
        node.replace(exp.paren(exp.Not(this=among)) if isinstance(node, exp.NEQ) else among)
    return _beside(rewrite(asked), plan)


def _beside(plan: Plan, other: Plan) -> Plan:
    """A plan with another reading after its own ones."""
    return replace(plan, other=other if plan.other is None else _beside(plan.other, other))


def _members(release: Opened, label: str) -> list[str]:
    return sorted(item for item, labels in release.images.items() if label in labels)


def unknown_items(release: Opened, plan: Plan, written: Set[str]) -> list[str]:
    """A note for each item that a query names and no released item stands for.

    Args:
        release: the release.
        plan: the query.
        written: the literals that the analyst wrote; others are from the analyst's tables.
    """
    listed = plan.counts in (ITEMS, PAIRS)
    unknown = [label for label in labels_of(plan) & written if label not in release.images]
    return [_note(release, label, listed) for label in sorted(unknown)]


def _note(release: Opened, label: str, listed: bool) -> str:
    suppressed = " or was suppressed" if release.suppressed else ""
    if label in release.sizes:
        members = _members(release, label)
        some = ", ".join(map(repr, members[:NEAREST])) + (", ..." if len(members) > NEAREST else "")
        known = f"{label!r} is no item but a released item, which stands for {len(members)} items"
        if listed:
            return f"{known}: ask for {some}."
        return (
            f"{known} ({some}): the estimate is for any of them. The bounds also hold for {label!r} itself, which does not"
            f" occur{suppressed}; for narrower ones ask for the items by name."
        )
    near = _nearest(release, label)
    hint = f" The nearest ones: {', '.join(map(repr, near))}." if near else ""
    return f"No released item stands for {label!r}: it does not occur{suppressed}.{hint}"


def _nearest(release: Opened, label: str) -> list[str]:
    if len(release.items) > MAX_ITEMS:
        return []
    by_lower = {item.lower(): item for item in release.items}
    return [by_lower[item] for item in get_close_matches(label.lower(), by_lower, NEAREST)]
