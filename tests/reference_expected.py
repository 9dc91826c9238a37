"""Expected numbers by their definition (docs/item_supports.md#bounds): the holders of a member, and of several items."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod, sqrt

Holders = dict[tuple[str, str], float]  # (released item, item)


def known_holders(size: int, s: int, bounds: Sequence[tuple[int, int]] | None, k: int) -> list[float] | None:
    """The expected holders of each member of one released item that s transactions show; None without item supports."""
    if size == 1:
        return [float(s)]
    if not bounds:
        return None
    middles = [max(low, sqrt(k)) if high == k else (low + high) / 2 for low, high in bounds]
    missing, room = s - sum(middles), sum(high for _, high in bounds) - sum(middles)
    share = missing / room if missing > 0 and room > 0 else 0
    return [middle + share * (high - middle) for middle, (_, high) in zip(middles, bounds, strict=True)]


def expected_holders(
    rows: Sequence[Collection[str]],
    members: Mapping[str, Sequence[str]],
    table: Mapping[tuple[str, str], tuple[int, int]] | None = None,
    k: int = 0,
) -> Holders:
    """How many of the transactions that show a released item hold each member; ``table`` are the item supports."""
    shown = {g: sum(g in row for row in rows) for g in members}
    found: Holders = {}
    for g, items in members.items():
        bounds = [table[g, x] for x in items if (g, x) in table] if table else None
        known = known_holders(len(items), shown[g], bounds, k) if shown[g] else [0.0] * len(items)
        found |= {(g, x): m for x, m in zip(items, known or [], strict=False)}
    fitted = [g for g, items in members.items() if items and (g, items[0]) not in found]
    listed = {x: [g for g in members if x in members[g]] for items in members.values() for x in items}
    if not fitted:
        return found
    chance = {x: sum(shown[g] / len(members[g]) for g in listed[x]) / len(rows) for x in listed}
    for _ in range(30):
        for g in fitted:
            s, size = shown[g], len(members[g])
            floor = 0.5 if s >= size else 0
            showing = 1 - prod(1 - min(1, chance[y]) for y in members[g])
            for x in members[g]:
                found[g, x] = min(s, floor + s * min(1, chance[x]) / showing * (1 - floor * size / s))
        chance = {x: sum(found[g, x] for g in listed[x]) / len(rows) for x in listed}
    return found


def weight(shares: Sequence[float]) -> float:
    """w = 1 - product of (1 - w share), the largest solution: 0 if the shares add up to 1 or less."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - prod(1 - middle * share for share in shares) > middle else (low, middle)
    return high if sum(shares) > 1.000001 else 0.0


def expected_count(
    rows: Sequence[Collection[str]], members: Mapping[str, Sequence[str]], items: Collection[str], holders: Holders
) -> float:
    """How many transactions hold all of some items, if these are independent."""
    asked = set(items)
    chances: dict[str, float] = {}
    for g, listed in members.items():
        s, several = sum(g in row for row in rows), asked & set(listed)
        if s and several:
            together = weight([holders[g, x] / s for x in listed]) ** (len(several) - 1)
            chances[g] = together * prod(holders[g, x] / s for x in several)
    return sum(
        prod(chances.get(g, 1) for g in row) for row in map(set, rows) if asked <= {x for g in row for x in members[g]}
    )
