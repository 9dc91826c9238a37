"""Other originals that a reader of a sealed file cannot tell from the true one."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace

import duckdb
from session.random_releases import Original, Sealed


def worlds(sealed: Sealed, rnd: random.Random, most: int) -> list[Original]:
    """Up to ``most`` originals, none of releases whose worlds are not as simple as these.

    Of a global recoding: what transactions hold of a released item changes places among those that show it, which keeps all
    counts, and so the item supports. Without item supports and suppression: any members for each released item of a row.
    """
    if len(sealed.files) > 1 or sealed.original.records:
        return []
    with duckdb.connect(str(sealed.files[0]), read_only=True) as connection:
        tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        if "buckets" in tables:
            return []
        pairs = connection.execute("SELECT released_item, item FROM released_items ORDER BY ALL").fetchall()
        rows = connection.execute("SELECT items FROM baskets ORDER BY transaction_id").fetchall()
    members: dict[str, list[str]] = defaultdict(list)
    for label, item in pairs:
        members[label].append(item)
    one_label = len({item for _, item in pairs}) == len(pairs)
    found = [_shuffled(sealed.original, dict(members), rnd) for _ in range(most if one_label else 0)]
    if sealed.complete and "item_supports" not in tables:
        found += [_drawn(sealed.original, dict(members), [row[0] for row in rows], rnd) for _ in range(most)]
    return rnd.sample(found, min(most, len(found)))


def _shuffled(original: Original, members: dict[str, list[str]], rnd: random.Random) -> Original:
    """What transactions hold of each released item, dealt anew to those that show it."""
    baskets: dict[int, list[str]] = {
        tid: [item for item in basket if not any(item in m for m in members.values())]
        for tid, basket in original.baskets.items()
    }
    for items in members.values():
        parts = {tid: [i for i in basket if i in items] for tid, basket in original.baskets.items()}
        showing = [tid for tid, part in parts.items() if part]
        for tid, part in zip(showing, rnd.sample([parts[t] for t in showing], len(showing)), strict=True):
            baskets[tid] += part
    return replace(original, baskets=baskets)


def _drawn(original: Original, members: dict[str, list[str]], rows: list[list[str]], rnd: random.Random) -> Original:
    """For each released item of a row one or more of its members, with a chance that is the same for all rows."""
    chance = {item: rnd.choice([0.0, 0.1, 0.5, 1.0]) for items in members.values() for item in items}
    baskets = {}
    for tid, row in enumerate(rows, 1):
        baskets[tid] = basket = []
        for label in row or []:
            held = [item for item in members[label] if rnd.random() < chance[item]]
            basket += held or [rnd.choice(members[label])]
    return replace(original, baskets=baskets)
