"""Worlds by their definition, item by item: no SQL, no arrays, nothing of anondb's."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, gcd, log

Supports = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Naive:
    """A file of sets.

    Attributes:
        members: for each released item, by its label, the items that it stands for.
        rows: for each released item the transactions that show it.
        transactions, k, seed: the numbers of the file.
        supports: for some released items the least and the largest number of holders of each member.
    """

    members: Mapping[str, Sequence[str]]
    rows: Mapping[str, Sequence[int]]
    transactions: int
    k: int
    seed: int
    supports: Mapping[str, Supports] = field(default_factory=dict)


def h(a: int, b: int, c: int) -> int:
    def m(x: int, factor: int) -> int:
        return x * factor % 2**32

    v = (m(a, 2654435761) + m(b, 2246822519) + m(c, 3266489917)) % 2**32
    v = m(v ^ (v >> 16), 2146121005)
    return m(v ^ (v >> 15), 2221713035)


def perm(j: int, s: int, a: int, b: int) -> int:
    return (a * j + floor(Fraction(j * gcd(a, s), s)) + b) % s


def means(file: Naive) -> dict[tuple[str, str], float]:
    """How many hold each member of each released item, as expected."""
    found: dict[tuple[str, str], float] = {}
    for label, members in file.members.items():
        s = len(file.rows[label])
        if len(members) == 1:
            found[label, members[0]] = s
        elif label in file.supports:
            ends = file.supports[label]
            m = {x: max(low, math.sqrt(file.k)) if high == file.k else (low + high) / 2 for x, (low, high) in ends.items()}
            missing, room = s - sum(m.values()), sum(high for _, high in ends.values()) - sum(m.values())
            share = missing / room if missing > 0 and room > 0 else 0
            found |= {(label, x): m[x] + share * (ends[x][1] - m[x]) for x in members}
    fitted = [(label, x) for label, members in file.members.items() for x in members if (label, x) not in found]
    p: dict[str, float] = defaultdict(float)
    for label, members in file.members.items():
        for x in members:
            p[x] += len(file.rows[label]) / len(members) / file.transactions
    for _ in range(30 if fitted else 0):
        for label, x in fitted:
            s, members = len(file.rows[label]), file.members[label]
            f = 0.5 if s >= len(members) else 0
            z = 1 - math.prod(1 - min(p[y], 1) for y in members)
            found[label, x] = min(s, f + s * min(p[x], 1) / z * (1 - f * len(members) / s))
        p = defaultdict(float)
        for (_, x), m in found.items():
            p[x] += m / file.transactions
    return found


def worlds(file: Naive, number: int) -> list[set[tuple[int, str]]]:
    """The rows (transaction, item) of each world."""
    expected = means(file)
    length: dict[int, int] = defaultdict(int)
    for tids in file.rows.values():
        for tid in tids:
            length[tid] += 1
    numbers = {pair: n for n, pair in enumerate(sorted((g, x) for g, members in file.members.items() for x in members))}
    made = []
    for w in range(number):
        world: set[tuple[int, str]] = set()
        for g, label in enumerate(sorted(file.members), 1):
            tids, members = sorted(file.rows[label]), sorted(file.members[label])
            if len(members) == 1:
                world |= {(tid, members[0]) for tid in tids}
            else:
                m = [Fraction(round(expected[label, x] * 2**32), 2**32) for x in members]
                world |= _of_label(file, w, number, g, tids, members, m, [numbers[label, x] for x in members], length)
        made.append(world)
    return made


def _of_label(
    file: Naive,
    w: int,
    number: int,
    g: int,
    tids: Sequence[int],
    members: Sequence[str],
    m: Sequence[Fraction],
    numbers: Sequence[int],
    length: Mapping[int, int],
) -> set[tuple[int, str]]:
    s, c = len(tids), file.seed
    u = ((h(g, 0, 1 + c & 0xFFFFFFFF) + w) % number + Fraction(1, 2)) / number
    n = [floor(sum(m[: i + 1]) + u) - floor(sum(m[:i]) + u) for i in range(len(m))]
    a = 1 + h(g, 11, c) % s
    b = h(g, 12, c) + floor(Fraction(s * ((w + h(g, 13, c)) % number), number))
    rows = set()
    for i, (item, x) in enumerate(zip(members, numbers, strict=True)):
        if n[i] == s:
            rows |= {(tid, item) for tid in tids}
            continue
        first, end = s * sum(n[:i]) // sum(n), s * sum(n[: i + 1]) // sum(n)
        rows |= {(tids[perm(p, s, a, b)], item) for p in range(first, end)}
        free, more = s - (end - first), n[i] - (end - first)
        if more:
            oa, ob = 1 + h(g, x, (w + 7 + c) % 2**32) % free, h(x, g, (w + 8 + c) % 2**32)
            places = [(end + perm(j, free, oa, ob)) % s for j in range(min(4 * more, free))]
            tried = [tids[perm(p, s, a, b)] for p in places]
            race = {t: -log((h(t, x, (w + 21 + c) % 2**32) + 0.5) / 2**32) / length[t] for t in tried}
            rows |= {(t, item) for t in sorted(tried, key=lambda t: (race[t], t))[:more]}
    return rows


def of_bags(
    rows: Mapping[int, Mapping[str, int]], members: Mapping[str, Sequence[str]], seed: int, w: int
) -> dict[int, list[str]]:
    """What each transaction holds in a world of a file of bags; ``rows`` has the copies of each of its released items."""
    number = {label: g for g, label in enumerate(sorted(members), 1)}
    numbers = {pair: n for n, pair in enumerate(sorted((label, x) for label in members for x in members[label]))}
    found: dict[int, list[str]] = {}
    for t, copies in rows.items():
        held: list[str] = []
        for label in sorted(copies, key=lambda label: (len(members[label]), label)):
            c, size, g = copies[label], len(members[label]), number[label]
            earlier = [o for o in copies if (len(members[o]), o) < (size, label) and set(members[o]) & set(members[label])]
            a, b = 1 + h(t, g, (w + 7 + seed) % 2**32) % size, h(g, t, (w + 8 + seed) % 2**32)
            tried = min(4 * c + sum(copies[other] for other in earlier), size)
            listed = [sorted(members[label])[perm(j, size, a, b)] for j in range(tried)]
            race = {x: -log((h(t, numbers[label, x], (w + 21 + seed) % 2**32) + 0.5) / 2**32) for x in listed}
            listed.sort(key=lambda x: race[x])
            listed = [x for x in listed if x not in held] or listed
            held += [listed[i % len(listed)] for i in range(c)]
        found[t] = held
    return found


def place_of(size: int, t: int, attribute: int, w: int, seed: int) -> int:
    """Which of ``size`` values an attribute has."""
    return floor(size * (h(t, attribute, (w + seed) % 2**32) + Fraction(1, 2)) / 2**32)
