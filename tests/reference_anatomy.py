"""Naive references for Multi-Anatomy, written from docs/algorithms/multi_anatomy.md alone: sets, itertools, exact
fractions. Buckets are lists of positions of transactions; a column value is the frozenset of a transaction's items there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

Transactions = Sequence[Collection[str]]
Columns = Sequence[Collection[str]]
Buckets = list[list[int]]
Rule = tuple[frozenset[str], frozenset[str]]


def values(transactions: Transactions, bucket: Collection[int], column: Collection[str]) -> Counter[frozenset[str]]:
    """The multiset of a bucket's values in a column."""
    return Counter(frozenset(transactions[r]) & frozenset(column) for r in bucket)


def top(transactions: Transactions, bucket: Collection[int], column: Collection[str], count_empty: bool = True) -> int:
    """How often the most frequent value that counts occurs."""
    found = values(transactions, bucket, column)
    return max((n for v, n in found.items() if v or count_empty), default=0)


def is_diverse(
    transactions: Transactions, bucket: Collection[int], columns: Columns, l: Fraction | int, count_empty: bool = True
) -> bool:
    """Definition 5 for one bucket."""
    return all(top(transactions, bucket, c, count_empty) * l <= len(bucket) for c in columns)


def multi_anatomy(
    transactions: Transactions, columns: Columns, l: Fraction | int, count_empty: bool = True
) -> tuple[Buckets, list[int], Buckets | None]:
    """The buckets that the printed pass closes, what it leaves over, and those of the corrected algorithm, None
    where infeasible. Every condition is checked anew, on whole buckets."""

    def fits(bucket: list[int]) -> bool:
        return is_diverse(transactions, bucket, columns, l, count_empty)

    closed: Buckets = []
    current: list[int] = []
    for r in range(len(transactions)):
        current.append(r)
        if fits(current):
            closed.append(current)
            current = []
    if not fits(list(range(len(transactions)))):
        return closed, current, None
    buckets, pool = [list(b) for b in closed], []
    for r in current:
        home = next((b for b in buckets if fits([*b, r])), None)
        (pool if home is None else home).append(r)
    if pool:
        while not fits(pool):
            smallest = min(buckets, key=len)
            buckets = [b for b in buckets if b is not smallest]
            pool = pool + smallest
        buckets.append(sorted(pool))
    return closed, current, buckets


def phi2(transactions: Transactions, a: str, b: str, full: bool = False) -> Fraction:
    """Equation 4 or, with `full`, equation 3 for two values each."""
    n = len(transactions)
    fa, fb = (Fraction(sum(i in t for t in transactions), n) for i in (a, b))
    fab = Fraction(sum(a in t and b in t for t in transactions), n)
    found = (fab - fa * fb) ** 2 / (fa * fb)
    return found / ((1 - fa) * (1 - fb)) if full else found


def pam(distance: Sequence[Sequence[int]], k: int) -> list[int]:
    """PAM with BUILD and best-improvement SWAP, all costs recomputed; ties by number: of swaps, first of the new medoid."""
    points = range(len(distance))

    def cost(medoids: Collection[int]) -> int:
        return sum(min(distance[m][p] for m in medoids) for p in points)

    medoids: list[int] = []
    while len(medoids) < k:
        medoids.append(min((p for p in points if p not in medoids), key=lambda p: (cost([*medoids, p]), p)))
    while True:
        swaps = [
            (cost([*(m for m in medoids if m != old), new]), new, old)
            for new in points
            if new not in medoids
            for old in medoids
        ]
        if not swaps or min(swaps)[0] >= cost(medoids):
            return sorted(medoids)
        _, new, old = min(swaps)
        medoids = [*(m for m in medoids if m != old), new]


def reconstructions(bucket: Sequence[Sequence[frozenset[str]]]) -> Iterator[list[frozenset[str]]]:
    """Every list of transactions that a bucket may come from; `bucket` has the values of each column."""
    first, *others = bucket
    for orders in product(*(permutations(column) for column in others)):
        yield [frozenset().union(*parts) for parts in zip(first, *orders, strict=True)]


def estimate(buckets: Sequence[Sequence[Sequence[frozenset[str]]]], columns: Columns, query: Collection[str]) -> Fraction:
    """The estimate (metrics.md#are): the sum over buckets of |B| times the product of the shares of its values."""
    total = Fraction(0)
    if not set(query) <= set().union(*columns):
        return total
    for bucket in buckets:
        share = Fraction(1)
        for column, cells in zip(columns, bucket, strict=True):
            share *= Fraction(sum(set(query) & set(column) <= cell for cell in cells), len(cells))
        total += len(bucket[0]) * share
    return total


def faked(transactions: Transactions, buckets: Sequence[Collection[int]], columns: Columns) -> tuple[int, int]:
    """As metrics.md#faked: faked records with multiplicity, and distinct."""
    many = distinct = 0
    for bucket in buckets:
        many += len(bucket) ** len(columns) - len(bucket)
        product_ = 1
        for column in columns:
            product_ *= len(values(transactions, bucket, column))
        distinct += product_ - len({frozenset(transactions[r]) for r in bucket})
    return many, distinct


def rules(
    transactions: Transactions, min_support: int, min_confidence: Fraction, min_length: int, max_length: int
) -> set[Rule]:
    """All association rules, by counting every itemset of every transaction."""
    supports: Counter[frozenset[str]] = Counter()
    for t in transactions:
        for size in range(1, max_length + 1):
            supports.update(map(frozenset, combinations(sorted(set(t)), size)))
    found = set()
    for itemset, support in supports.items():
        if support < min_support or not min_length <= len(itemset):
            continue
        for size in range(1, len(itemset)):
            for left in map(frozenset, combinations(sorted(itemset), size)):
                if support >= min_confidence * supports[left]:
                    found.add((left, itemset - left))
    return found
