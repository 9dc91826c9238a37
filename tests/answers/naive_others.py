"""Other worlds and the ends of a spread by their definition, number by number: no SQL, no arrays, nothing of anondb's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

from answers.naive_worlds import Naive, h, perm

Pair = tuple[str, str]


def u(a: int, b: int, c: int) -> float:
    return (h(a, b, c) + 0.5) / 2**32


def holders(file: Naive, w: int) -> dict[Pair, int]:
    """How many hold each member of each released item in world w."""
    pairs = sorted((label, x) for label, members in file.members.items() for x in members)
    n: dict[Pair, int] = {}
    for number, (label, x) in enumerate(pairs):
        s = len(file.rows[label])
        low, high = (s, s) if len(file.members[label]) == 1 else file.supports.get(label, {}).get(x, (0, s))
        share = (h(number, w, 401 + file.seed) + Fraction(1, 2)) / 2**32
        n[label, x] = low + floor((high - low + 1) * share)
    free = [p for p in pairs if len(file.members[p[0]]) > 1 and p[0] not in file.supports]
    if free:
        sample(file, w, pairs, free, n)
    for label, members in file.members.items():
        s = len(file.rows[label])
        ends = file.supports.get(label, {})
        high = {x: s if len(members) == 1 else ends.get(x, (0, s))[1] for x in members}
        missing, room = s - sum(n[label, x] for x in members), sum(high[x] - n[label, x] for x in members)
        if missing > 0:
            n |= {(label, x): n[label, x] + ceil(Fraction(missing * (high[x] - n[label, x]), room)) for x in members}
    return n


def sample(file: Naive, w: int, pairs: Sequence[Pair], free: Sequence[Pair], n: dict[Pair, int]) -> None:
    """Gibbs sampling of the numbers that have no supports: 60 rounds."""
    items = sorted({x for _, x in pairs})
    total = file.transactions
    p = {
        x: sum(len(file.rows[g]) / len(members) for g, members in file.members.items() if x in members) / total
        for x in items
    }
    lists = {x: sum(x in members and len(members) > 1 for members in file.members.values()) for x in items}
    for sweep in range(60):
        turn = 60 * w + sweep
        for label, x in free:
            z = 1 - math.prod(1 - min(p[y], 1 - 1e-6) for y in file.members[label])
            number = pairs.index((label, x))
            chances = u(number, turn, 402 + file.seed), u(number, turn, 403 + file.seed)
            n[label, x] = binomial(len(file.rows[label]), min(p[x] / z, 1), *chances)
        for number, x in enumerate(items):
            shape = max((lists[x] / 2 + sum(n[g, y] for g, y in pairs if y == x)) / 30, 0.05)
            one, two, three = (u(number, turn, salt + file.seed) for salt in (404, 405, 406))
            cube = 1 - 1 / (9 * (shape + 1)) + normal(one, two) / (3 * math.sqrt(shape + 1))
            p[x] = max((shape + 1) * max(cube, 0) ** 3 * three ** (1 / shape) * 30 / total, 1e-7)


def normal(one: float, two: float) -> float:
    return math.sqrt(-2 * math.log(one)) * math.cos(2 * math.pi * two)


def binomial(s: int, p: float, one: float, two: float) -> int:
    variance = s * p * (1 - p)
    if variance > 25:
        return min(max(round(s * p + math.sqrt(variance) * normal(one, two)), 0), s)
    rare = min(p, 1 - p)
    upto, found = (1 - rare) ** s, 0
    while one > upto and found < s:
        found += 1
        upto += math.comb(s, found) * rare**found * (1 - rare) ** (s - found)
    return s - found if p > 0.5 else found


def world(file: Naive, w: int) -> set[tuple[int, str]]:
    """The rows (transaction, item) of world w."""
    made, n = set[tuple[int, str]](), holders(file, w)
    numbers = {pair: number for number, pair in enumerate(sorted(n))}
    length = {t: sum(t in rows for rows in file.rows.values()) for t in range(1, file.transactions + 1)}
    power = 2 * u(w, 0, 409 + file.seed)
    for g, label in enumerate(sorted(file.members), 1):
        s, members = len(file.rows[label]), file.members[label]
        ranked = sorted(file.rows[label], key=lambda t: (h(t, w, (408 + file.seed) % 2**32), t))
        ordered = sorted(members, key=lambda x: h(numbers[label, x], w, 407 + file.seed))
        shift, done, total = h(g, w, 12 + file.seed) % s, 0, sum(n[label, x] for x in members)
        for item in ordered:
            x, count = numbers[label, item], n[label, item]
            first, end = s * done // total, s * (done + count) // total
            done += count
            if count == s:
                made |= {(t, item) for t in ranked}
                continue
            made |= {(ranked[(place + shift) % s], item) for place in range(first, end)}
            others, more = s - (end - first), count - (end - first)
            if more:
                a = 1 + h(g, x, (w + 7 + file.seed) % 2**32) % others
                b = h(x, g, (w + 8 + file.seed) % 2**32) % others
                places = [(end + perm(j, others, a, b)) % s for j in range(min(4 * more, others))]
                race = {
                    t: -math.log(u(t, x, (w + 21 + file.seed) % 2**32)) / length[t] ** power
                    for t in (ranked[(place + shift) % s] for place in places)
                }
                made |= {(t, item) for t in sorted(race, key=lambda t: (race[t], t))[:more]}
    return made


def ends(
    answers: Sequence[float], estimate: float, factor: float, bounds: tuple[float | None, float | None]
) -> tuple[float, float]:
    """The ends of the spread of a number."""

    def log(x: float) -> float:
        return math.copysign(math.log(1 + 2 * abs(x)), x)

    def quantile(share: float) -> float:
        place = share * (len(answers) - 1)
        before, after = sorted(answers)[floor(place)], sorted(answers)[ceil(place)]
        return before + (after - before) * (place - floor(place))

    def far(end: float) -> float:
        y = log(estimate) + factor * (log(end) - log(estimate))
        return math.copysign(math.expm1(abs(y)) / 2, y)

    low, high = far(min(quantile(0.05), estimate)), far(max(quantile(0.95), estimate))
    if min(answers) >= 0:
        low = max(low, 0)
    if max(answers) <= 0:
        high = min(high, 0)
    lower, upper = bounds
    low = low if lower is None else max(low, lower)
    high = high if upper is None else min(high, upper)
    return min(low, estimate), max(high, estimate)
