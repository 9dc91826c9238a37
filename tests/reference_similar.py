"""A naive reference of Similar, from docs/algorithms/similar.md alone, with sets and itertools; nothing is fast.

Costs are floats: both sides round the same terms to the same parts, so that their sums are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache

from reference import Bound, Transactions

Label = frozenset[str]
Shown = tuple[Label, bool]
Distance = Callable[[Label], float]
PARTS = 16


def groups(
    transactions: Transactions,
    k: int,
    m: Bound,
    neighbours: int,
    candidates: int,
    distance: Distance | None = None,
    whole: Callable[[Label], bool] = lambda _: False,
) -> list[Label]:
    """The groups of items, in the order of their smallest items; those that are whole are not split."""
    pair_k = k if m > 1 else 1
    labels = [frozenset([item]) for item in sorted({item for t in transactions for item in t})]
    merged: list[Label] = []

    @cache
    def sup(*some: Label) -> int:
        return sum(all(label & set(t) for label in some) for t in transactions)

    def rare(label: Label, labels: Sequence[Label]) -> bool:
        return sup(label) < k or any(0 < sup(label, other) < pair_k for other in labels if other != label)

    def split() -> list[Label] | None:
        for group in sorted(labels, key=lambda group: (len(group), min(group))):
            parts = [] if whole(group) else [x & group for x in merged if 0 < len(x & group) < len(group)]
            for part in sorted(parts, key=lambda part: abs(len(part) - len(group - part))):
                after = [*(x for x in labels if x != group), part, group - part]
                if not any(rare(x, after) for x in after):
                    return sorted(after, key=min)
        return None

    while len(labels) > 1 and (some := [x for x in labels if rare(x, labels)]):
        a = min(some, key=sup)  # min keeps the first of equals
        b = _partner(a, labels, sup, k, pair_k, neighbours, candidates, distance)
        merged += sorted((a, b), key=min)
        labels = sorted([*(x for x in labels if x not in (a, b)), a | b], key=min)
    while m <= 2 and (after := split()) is not None:
        labels = after
    return labels


def _partner(
    a: Label,
    labels: Sequence[Label],
    sup: Callable[..., int],
    k: int,
    pair_k: int,
    neighbours: int,
    candidates: int,
    distance: Distance | None,
) -> Label:
    """The label that is merged with a."""
    others = [b for b in labels if b != a]

    def occurrences(label: Label) -> int:
        return sum(sup(frozenset([item])) for item in label)

    def error(b: Label, c: Label) -> int:
        """Of the pairs with c, times the occurrences of a and b, rounded."""
        ours, theirs = float(sup(a, c)), float(sup(b, c))
        relative = len(b) / max(theirs, 1.0) + len(a) / max(ours, 1.0)
        return round(abs(theirs * occurrences(a) - occurrences(b) * ours) * (PARTS * len(c)) * relative)

    def error_beside(b: Label, some: Collection[Label]) -> float:
        return sum(error(b, c) for c in some if c != b) / (occurrences(a) + occurrences(b))

    def resolved(b: Label) -> int:
        third = [c for c in others if c != b]
        before = sum(0 < sup(x, c) < pair_k for x in (a, b) for c in third)
        after = sum(0 < sup(a, c) + sup(b, c) < pair_k for c in third)
        alone = (sup(a) < k) + (sup(b) < k) - (sup(a | b) < k)
        return before - after + (0 < sup(a, b) < pair_k) + alone

    def price(b: Label) -> float:
        cost = error_beside(b, others) + (PARTS * len(a) * len(b) if sup(a, b) else 0)
        return cost / resolved(b) * (1 if distance is None else 1 + distance(a | b))

    some = others
    if len(others) > candidates:
        beside = sorted((c for c in others if sup(a, c)), key=lambda c: -len(c) * sup(a, c))[:neighbours]
        best = sorted(others, key=lambda b: error_beside(b, beside))[:candidates]
        some = [b for b in others if b in best]
    some = [b for b in some if resolved(b) > 0]
    return min(some, key=price) if some else max(others, key=sup)


def opened(
    transactions: Transactions, labels: Collection[Label], k: int, m: Bound, rows_per_item: int | None = None
) -> list[frozenset[Shown]]:
    """The rows after opening and dividing: the sets of items that each transaction shows, and which are second labels.

    ``rows_per_item`` is 2k in the definition; with fewer, the promise is kept as well.
    """
    of = {item: (label, False) for label in labels for item in label}
    rows = [{of[item] for item in t} for t in transactions]
    pair_k = k if m > 1 else 1

    def replace(some: Collection[int], group: Shown, other: Shown) -> None:
        for n in _replaced(some, group, rows, transactions, k, pair_k):
            rows[n] = rows[n] - {group} | {other}

    alone = {x: [n for n, t in enumerate(transactions) if set(t) & of[x][0] == {x} != of[x][0]] for x in sorted(of)}
    for x in sorted(alone, key=lambda x: (-len(of[x][0]), len(alone[x]))):
        replace(alone[x], of[x], (frozenset([x]), False))
    inside = {label: [n for n, row in enumerate(rows) if (label, False) in row] for label in labels if len(label) > 1}
    for label in sorted(inside, key=lambda label: -len(inside[label])):
        lengths = sorted((len(rows[n]) for n in inside[label]), reverse=True)
        enough = max(k, (rows_per_item or 2 * k) * len(label))
        if len(lengths) >= 2 * enough:
            least = next(x for n, x in enumerate(lengths) if 2 * sum(lengths[: n + 1]) >= sum(lengths))
            least += least == lengths[-1]
            long = [n for n in inside[label] if len(rows[n]) >= least]
            if min(len(long), len(lengths) - len(long)) >= enough:
                replace(long, (label, False), (label, True))
    return [frozenset(row) for row in rows]


def _replaced(
    some: Collection[int], group: Shown, rows: Sequence[set[Shown]], transactions: Transactions, k: int, pair_k: int
) -> set[int]:
    """The rows among some in which another label replaces that of the group."""
    chosen = set(some)
    while len(chosen) >= k:
        beside = {label for n in chosen for label in rows[n]}
        count = {label: sum(label in rows[n] for n in chosen) for label in beside}
        rare = {label for label in beside if label != group and count[label] < pair_k}
        if rare:
            chosen = {n for n in chosen if not rows[n] & rare}
            continue
        closed: set[int] = set()
        for label in beside:
            least = k if label == group else pair_k
            rest = sum({group, label} <= row for row in rows) - count[label]
            if 0 < rest < least:
                able = [n for n in chosen if label in rows[n]]
                closed |= set(sorted(able, key=lambda n: (len(rows[n]), sorted(transactions[n]), n))[: least - rest])
        if not closed:
            return chosen
        chosen -= closed
    return set()
