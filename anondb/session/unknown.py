"""Items that a query names and no released item stands for: typing errors, and labels of released items.

The label of a released item, such as that of a category, is no item: nobody has it, and a note names some of its members.
"""

from __future__ import annotations

from collections.abc import Set
from difflib import get_close_matches

from anondb.query.cached_release import Opened
from anondb.query.plan import Plan
from anondb.query.totals import labels_of

NEAREST = 3
MAX_ITEMS = 20_000  # to compare a text with; in time linear in their number


def unknown_items(release: Opened, plan: Plan, written: Set[str]) -> list[str]:
    """A note for each item that a query names and no released item stands for.

    Args:
        release: the release.
        plan: the query.
        written: the literals that the analyst wrote; others are from the analyst's tables.
    """
    unknown = [label for label in labels_of(plan) & written if label not in release.images]
    return [_note(release, label) for label in sorted(unknown)]


def _note(release: Opened, label: str) -> str:
    suppressed = " or was suppressed" if release.suppressed else ""
    if label in release.sizes:
        members = _members(release, label)
        some = ", ".join(map(repr, members[:NEAREST])) + (", ..." if len(members) > NEAREST else "")
        known = f"{label!r} is no item but a released item, which stands for {len(members)} items"
        return f"{known}: ask for {some}."
    near = _nearest(release, label)
    hint = f" The nearest ones: {', '.join(map(repr, near))}." if near else ""
    return f"No released item stands for {label!r}: it does not occur{suppressed}.{hint}"


def _members(release: Opened, label: str) -> list[str]:
    return sorted(item for item, labels in release.images.items() if label in labels)


def _nearest(release: Opened, label: str) -> list[str]:
    if len(release.items) > MAX_ITEMS:
        return []
    by_lower = {item.lower(): item for item in release.items}
    return [by_lower[item] for item in get_close_matches(label.lower(), by_lower, NEAREST)]
