"""Naive references for relational and transaction data: sets, itertools and fractions, straight from the definitions.

A record is (relational values, items). A relational value is what one attribute holds: a number, a text, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import inf

from reference import ancestors, leaves

Itemset = frozenset[str]
Row = tuple[object, Itemset]  # published relational values, published items


def subsets(items: Collection[str], m: float) -> list[Itemset]:
    top = len(items) if m == inf else min(int(m), len(items))
    return [frozenset(c) for size in range(top + 1) for c in combinations(sorted(items), size)]


def class_support(rows: Sequence[Row], values: object, items: Collection[str]) -> int:
    return sum(v == values and set(items) <= t for v, t in rows)


def kkm_violations(rows: Sequence[Row], k: int, m: float, sensitive: Collection[str] = ()) -> set[tuple[object, Itemset]]:
    """Definition 2: every (class, itemset) that a record holds and fewer than k records of its class do."""
    known = [(v, t - set(sensitive)) for v, t in rows]
    return {(v, x) for v, t in known for x in subsets(t, m) if class_support(known, v, x) < k}


def minimal_kkm(rows: Sequence[Row], k: int, m: float, sensitive: Collection[str] = ()) -> set[tuple[object, Itemset]]:
    found = kkm_violations(rows, k, m, sensitive)
    return {(v, x) for v, x in found if not any(w == v and y < x for w, y in found)}


def klm_violations(rows: Sequence[Row], ell: int, m: float, sensitive: Collection[str]) -> set[tuple[object, Itemset, str]]:
    """Section 5: every (class, nonsensitive itemset, sensitive item) with a confidence above 1/l."""
    found = set()
    for v, t in rows:
        for x in subsets(t - set(sensitive), m):
            for z in sensitive:
                if class_support(rows, v, x | {z}) * ell > class_support(rows, v, x):
                    found.add((v, x, z))
    return found


# ---------------------------------------------------------------------- G, NCP, CLUSTER


class Schema:
    """Attributes: name -> ("numeric", (low, high)) | ("tree", children, root) | ("set", all values)."""

    def __init__(self, attributes: Mapping[str, tuple], weights: Mapping[str, Fraction] | None = None) -> None:
        self.attributes = attributes
        share = Fraction(1, max(len(attributes), 1))
        self.weights = weights or dict.fromkeys(attributes, share)

    def ncp(self, name: str, values: Collection[object], has_null: bool) -> Fraction:
        """NCP of the generalized value of a group with these values; NULL beside others costs all but in sets."""
        kind, *how = self.attributes[name]
        distinct = set(values)
        if len(distinct) == 1:
            return Fraction(0)
        if kind == "set":
            return Fraction(len(distinct), len(how[0]))
        if None in distinct:
            return Fraction(1)
        if kind == "numeric":
            low, high = how[0]
            return Fraction(max(distinct) - min(distinct), high - low)  # type: ignore[type-var,operator,call-overload]
        children, root = how
        common = [a for a in ancestors(children, next(iter(distinct))) if distinct <= set(leaves(children, a))]  # type: ignore[arg-type]
        return Fraction(len(leaves(children, common[0])), len(leaves(children, root)) + has_null)

    def group_ncp(self, records: Sequence[Mapping[str, object]], members: Collection[int]) -> Fraction:
        return sum(
            (
                self.weights[name]
                * self.ncp(name, [records[r][name] for r in members], any(r[name] is None for r in records))
                for name in self.attributes
            ),
            Fraction(0),
        )

    def published(self, records: Sequence[Mapping[str, object]], members: Collection[int]) -> tuple[object, ...]:
        """The generalized values as a key."""
        found: list[object] = []
        for name, (kind, *how) in self.attributes.items():
            distinct = {records[r][name] for r in members}
            known = distinct - {None}
            if kind == "set":
                found.append(frozenset(distinct))
            elif kind == "numeric":
                found.append((min(known, default=None), max(known, default=None), None in distinct))  # type: ignore[type-var]
            elif len(distinct) == 1:
                found.append(next(iter(distinct)))
            elif None in distinct:
                found.append(("all", None))
            else:
                children, _ = how
                found.append(
                    next(a for a in ancestors(children, next(iter(distinct))) if distinct <= set(leaves(children, a)))  # type: ignore[arg-type]
                )
        return tuple(found)


def cluster(schema: Schema, records: Sequence[Mapping[str, object]], k: int) -> list[list[int]]:
    left = list(range(len(records)))
    clusters: list[list[int]] = []
    while len(left) >= k:
        seed, *rest = left
        near = sorted(rest, key=lambda r: (schema.group_ncp(records, [seed, r]), r))[: k - 1]
        clusters.append([seed, *near])
        left = [r for r in left if r not in clusters[-1]]
    for r in left:
        best = min(range(len(clusters)), key=lambda c: (schema.group_ncp(records, [*clusters[c], r]), c))
        clusters[best].append(r)
    fused: dict[object, list[int]] = {}
    for members in clusters:
        fused.setdefault(schema.published(records, members), []).extend(members)
    return sorted(sorted(c) for c in fused.values())


def rum(schema: Schema, records: Sequence[Mapping[str, object]], clusters: Sequence[Sequence[int]]) -> Fraction:
    total = sum((len(c) * schema.group_ncp(records, c) for c in clusters), Fraction(0))
    return total / sum(map(len, clusters))


# ---------------------------------------------------------------------- BTD, UL, merges


def btd_pair(a: Itemset, b: Itemset) -> Fraction:
    return Fraction(len(a ^ b) + 1, len(a & b) + 1)


def btd(transactions: Sequence[Itemset]) -> Fraction:
    return max((btd_pair(a, b) for a, b in combinations(transactions, 2)), default=Fraction(1))


def ul_record(sizes: Collection[int], w_single: int = 0) -> Fraction:
    total = sum(sizes)
    if not total:
        return Fraction(0)
    return Fraction(sum(((1 << a) - 1) * (w_single if a == 1 else 1) for a in sizes), (1 << total) - 1)


def set_ul(transactions: Sequence[Itemset], blocks: Collection[Itemset], w_single: int = 0) -> Fraction:
    """The sum of UL (version B) over records recoded by a partition; a record that lost all its items counts 1."""
    total = Fraction(0)
    for t in transactions:
        held = [len(b) for b in blocks if b & t]
        total += Fraction(1) if t and not held else ul_record(held, w_single)
    return total


def partitions(items: Sequence[str]) -> list[list[Itemset]]:
    if not items:
        return [[]]
    first, rest = items[0], partitions(items[1:])
    found = []
    for p in rest:
        found.append([frozenset({first}), *p])
        found += [[*p[:i], p[i] | {first}, *p[i + 1 :]] for i in range(len(p))]
    return found


def km_holds(transactions: Sequence[Itemset], k: int, m: float) -> bool:
    return all(sum(x <= u for u in transactions) >= k for t in transactions for x in subsets(t, m) if x)


def optimal_partitions(transactions: Sequence[Itemset], k: int, m: float) -> tuple[Fraction, list[list[Itemset]]] | None:
    """The partitions of the items with the least mean UL among those that are k^m-anonymous."""
    items = sorted({i for t in transactions for i in t})
    found: list[tuple[Fraction, list[Itemset]]] = []
    for blocks in partitions(items):
        names = {i: "".join(sorted(b)) for b in blocks for i in b}
        if km_holds([frozenset(names[i] for i in t) for t in transactions], k, m):
            found.append((set_ul(transactions, blocks) / len(transactions), blocks))
    if not found:
        return None
    best = min(u for u, _ in found)
    return best, [b for u, b in found if u == best]


Tum = Callable[[Sequence[int]], Fraction]
Near = Callable[[Sequence[int]], Fraction]


def _order(schema: Schema, records: Sequence, clusters: list[list[int]], c: int, by: str, near: Near) -> list[int]:
    others = [x for x in range(len(clusters)) if x != c]
    by_rum = sorted(others, key=lambda x: (schema.group_ncp(records, clusters[c] + clusters[x]), x))
    if by == "r":
        return by_rum[:1]
    by_items = sorted(others, key=lambda x: (near(clusters[c] + clusters[x]), x))
    if by == "t":
        return by_items
    return sorted(others, key=lambda x: (by_rum.index(x) + by_items.index(x), by_rum.index(x)))


def _merged(clusters: list[list[int]], c: int, x: int) -> list[list[int]]:
    union = sorted(clusters[c] + clusters[x])
    return sorted([*(m for i, m in enumerate(clusters) if i not in (c, x)), union])


def rum_bound(
    schema: Schema, records: Sequence, clusters: Sequence[Sequence[int]], delta: Fraction, by: str, near: Near
) -> list[list[int]] | None:
    found = sorted(sorted(c) for c in clusters)
    if rum(schema, records, found) > delta:
        return None
    while len(found) > 1:
        c = min(range(len(found)), key=lambda i: (schema.group_ncp(records, found[i]), i))
        for x in _order(schema, records, found, c, by, near):
            tried = _merged(found, c, x)
            if rum(schema, records, tried) <= delta:
                found = tried
                break
        else:
            break
    return found


def tum_bound(
    schema: Schema, records: Sequence, clusters: Sequence[Sequence[int]], delta: Fraction, by: str, near: Near, tum: Tum
) -> list[list[int]] | None:
    """``tum`` is the sum of UL over the records of one recoded cluster."""
    found = sorted(sorted(c) for c in clusters)
    n = sum(map(len, found))
    while sum(map(tum, found)) > delta * n:
        if len(found) == 1:
            return None
        c = min(range(len(found)), key=lambda i: (schema.group_ncp(records, found[i]), i))
        found = _merged(found, c, _order(schema, records, found, c, by, near)[0])
    return found
