"""Random tiny releases that keep their promise, for tests of item supports."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import chain, combinations

from reference import is_km_anonymous
from reference_similar import groups as groups_of
from reference_similar import opened
from reference_supports import Row
from supports_cases import Bound, released, shown
from supports_worlds import LABEL_WORLDS, WORLDS, Release

SHAPES = [(2,), (2,), (2, 1), (2, 1), (3,), (2, 2), (3, 1), (2, 1, 1), (3, 2), (4,), (1, 1)]
MOST_ROWS = {1: 9, 2: 10, 3: 6, 4: 5}  # by the size of the largest label: more have too many worlds


def random_release(seed: int) -> Release:
    """A random release that keeps its promise, by rows of labels or across the levels of a local recoding."""
    rnd = random.Random(seed)
    while True:
        found = _drawn_local(rnd) if rnd.random() < 0.25 else _drawn_global(rnd)
        if found is None or not any(found.rows) or not small(found) or not keeps(found):
            continue
        if narrow(found) or rnd.random() < 0.2:
            return found


def random_similar(seed: int) -> Release:
    """A release of Similar with rows that were opened, every third one with divided ones."""
    rnd = random.Random(seed)
    while True:
        (k, m), domain = (rnd.choice([2, 2, 2, 3]), rnd.choice([1, 2, 2])), rnd.choice(["ab", "abc", "abc", "abcd"])
        chances = {x: rnd.choice([0.2, 0.4, 0.6]) for x in domain}
        kinds = [frozenset(x for x in domain if rnd.random() < chances[x]) or frozenset("a") for _ in range(4)]
        originals = rnd.choices(kinds, k=rnd.randint(k, 9 if len(domain) < 4 else 7))
        groups = groups_of(originals, k, m, 8, 32)
        shown = opened(originals, groups, k, m, rows_per_item=1)
        rows = [frozenset("".join(sorted(u)) + "2" * second for u, second in row) for row in shown]
        members = {u: list(u.rstrip("2")) for u in sorted({u for row in rows for u in row})}
        found = Release(tuple(rows), tuple(originals), members, (), rnd.random() < 0.5, True, k, m)
        overlap = len({x for items in members.values() for x in items}) < sum(map(len, members.values()))
        divided = any(second for row in shown for _, second in row)
        if overlap and small(found) and (divided or seed % 3):
            return found


def small(release: Release) -> bool:
    """Whether each label has few enough worlds, and all together not many more than a test enumerates."""
    of_labels = [(2 ** len(release.members[u]) - 1) ** len(at) for u, at in release.at.items()]
    suppressed = math.prod(2 ** len(release.free(j)) for j in range(len(release.rows)))
    return max(of_labels) <= LABEL_WORLDS and math.prod(of_labels) * suppressed <= 4 * WORLDS


def narrow(release: Release) -> bool:
    """Whether some label is shown often enough that its members have more than one bucket."""
    return any(len(release.members[u]) > 1 and len(at) > 2 * release.k for u, at in release.at.items())


def keeps(release: Release) -> bool:
    """Whether no row or k rows may hold each set of up to m items, by the rows alone."""
    if not release.local:
        return is_km_anonymous([sorted(row) for row in release.rows], release.k, release.m)
    known = [x for x in release.domain if any(x in items for items in release.members.values())]
    above = [{x for u in row for x in release.members[u]} for row in release.rows]
    sizes = range(1, int(min(release.m, len(known))) + 1)
    counts = [sum(set(x) <= a for a in above) for n in sizes for x in combinations(known, n)]
    return all(n == 0 or n >= release.k for n in counts) and len(release.rows) >= release.k


def _promise(rnd: random.Random) -> tuple[int, Bound]:
    return rnd.choice([2, 2, 2, 2, 3, 3, 4]), rnd.choice([1, 2, 2, 3, math.inf])


def _drawn_global(rnd: random.Random) -> Release | None:
    shape = rnd.choice(SHAPES)
    items = iter("abcdef")
    members = {"ABC"[n]: [next(items) for _ in range(size)] for n, size in enumerate(shape)}
    others = tuple("yz"[: rnd.choice([0, 0, 0, 0, 1, 1, 2])])
    filled, (k, m) = rnd.random() < 0.5 or not others, _promise(rnd)
    n = rnd.randint(k, max(k, MOST_ROWS[max(shape)] - len(others)))
    chances = {x: rnd.choice([0.15, 0.4, 0.7]) for x in [*chain.from_iterable(members.values()), *others]}
    originals = [frozenset(x for x, p in chances.items() if rnd.random() < p) for _ in range(n)]
    originals = [o or frozenset([rnd.choice(list(chances))]) if filled else o for o in originals]
    if rnd.random() < 0.6:
        originals = _repeated(rnd, originals, k)
    rows = released(originals, members)
    occurring = shown(members, rows)
    if not others and len(occurring) < len(members):
        return None  # nothing was suppressed, so the items of a released item that is not shown are no items of the data
    return Release(tuple(rows), tuple(originals), occurring, others, filled, False, k, m)


def _repeated(rnd: random.Random, originals: list[Row], k: int) -> list[Row]:
    """Originals of a few kinds, k or more of each, so that the rows keep more promises."""
    kinds = rnd.sample(originals, min(len(originals), rnd.choice([1, 2])))
    return [t for kind in kinds for t in [kind] * rnd.randint(k, k + 2)]


def _drawn_local(rnd: random.Random) -> Release | None:
    domain = "abc" if rnd.random() < 0.8 else "abcd"
    cuts = [_cut(rnd, domain) for _ in range(rnd.choice([2, 2, 3]))]
    others, (k, m) = ("z",) if rnd.random() < 0.2 else (), _promise(rnd)
    n = rnd.randint(k, 9 if not others else 5)
    rows, originals = [], []
    for _ in range(n):
        original = frozenset(x for x in domain if rnd.random() < 0.45) or frozenset(rnd.choice(domain))
        row = frozenset(u for u in rnd.choice(cuts) if set(u) & original)
        for _ in range(rnd.choice([1, 2, k] if not others else [k]) if len(rows) < n else 0):
            kept = frozenset(rnd.choice(u) for u in row) | {x for x in original if rnd.random() < 0.7}
            rows.append(row)
            originals.append(frozenset(x for x in kept if any(x in u for u in row)))
    members = {u: list(u) for u in sorted({u for row in rows for u in row})}
    complete = _complete(rnd, rows, k) if others else frozenset()
    return Release(tuple(rows), tuple(originals), members, others, rnd.random() < 0.5, True, k, m, complete)


def _complete(rnd: random.Random, rows: list[Row], k: int) -> frozenset[int]:
    """The transactions of which nothing was suppressed: all that are published alike, or none of them."""
    kinds = Counter(rows)
    chosen = {row for row in kinds if rnd.random() < 0.6} if min(kinds.values()) >= k else set()
    return frozenset(j for j, row in enumerate(rows) if row in chosen)


def _cut(rnd: random.Random, domain: str) -> list[str]:
    """A random partition of the items into sets, each named by its items."""
    parts: dict[int, str] = {}
    for x in domain:
        n = rnd.randrange(3)
        parts[n] = parts.get(n, "") + x
    return list(parts.values())
