"""Notes on items that a query names and no released item stands for: typing errors, and labels of released items."""

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
    return [_note(release, label) for label in sorted((labels_of(plan) & written) - release.images.keys())]


def _note(release: Opened, label: str) -> str:
    if label in release.sizes:
        members = sorted(item for item, labels in release.images.items() if label in labels)
        listed = ", ".join(map(repr, members[:NEAREST])) + (", ..." if len(members) > NEAREST else "")
        return f"{label!r} is no item but a released item, which stands for {len(members)} items: ask for {listed}."
    suppressed = " or was suppressed" if release.suppressed else ""
    near = _nearest(release, label)
    hint = f" The nearest ones: {', '.join(map(repr, near))}." if near else ""
    return f"No released item stands for {label!r}: it does not occur{suppressed}.{hint}"


def _nearest(release: Opened, label: str) -> list[str]:
    if len(release.items) > MAX_ITEMS:
        return []
    by_lower = {item.lower(): item for item in release.items}
    return [by_lower[item] for item in get_close_matches(label.lower(), by_lower, NEAREST)]
