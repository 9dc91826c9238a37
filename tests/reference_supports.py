"""Item supports by their definition (docs/item_supports.md): the rule, the bounds, and all originals of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

Supports = dict[tuple[str, str], tuple[int, int]]  # (released item, item) -> at_least, at_most
Row = frozenset[str]


def bucket(n: int, s: int, k: int) -> tuple[int, int]:
    """The bucket of n of s transactions."""
    r = max(0, (s - k - 1) // k)
    lower = 0
    for upper in [*(j * k for j in range(1, r + 1)), s]:
        if n <= upper:
            return lower, upper
        lower = upper + 1
    raise AssertionError((n, s))


def of_label(counts: Mapping[str, int], s: int, k: int, m: float) -> dict[str, tuple[int, int]]:
    """The published bounds of the members of one released item."""
    if len(counts) < 2 or s < k:
        return {}
    bounds = {x: bucket(n, s, k) for x, n in counts.items()}
    need = (min(m, len(counts)) - 1) * k
    largest = min(counts, key=lambda x: (-bounds[x][1], x))
    others = sum(high for x, (_, high) in bounds.items() if x != largest)
    r = max(0, (s - k - 1) // k)
    border = next((t for t in [*(j * k for j in range(1, r + 1)), s] if t + others - s >= need), s)
    if bounds[largest][1] <= border:
        bounds[largest] = (0, border)
    total = sum(high for _, high in bounds.values())
    return {x: (max(low, s - (total - high)), high) for x, (low, high) in bounds.items()}


def published(
    rows: Sequence[Row], members: Mapping[str, Sequence[str]], originals: Sequence[Row], k: int, m: float
) -> Supports:
    """The table of a release: its rows beside the originals, in the same order."""
    table = {}
    for label, items in members.items():
        shown = [original for row, original in zip(rows, originals, strict=True) if label in row]
        counts = {x: sum(x in original for original in shown) for x in items}
        table |= {(label, x): bounds for x, bounds in of_label(counts, len(shown), k, m).items()}
    return table


def violations(rows: Sequence[Row], members: Mapping[str, Sequence[str]], table: Supports, k: int, m: float) -> int:
    """How many statements of the verifier's definition a table breaks (docs/item_supports.md#the-verifier)."""
    broken = sum((label not in members or item not in members[label]) for label, item in table)
    for label, items in members.items():
        s = sum(label in row for row in rows)
        if len(items) < 2 or not s:
            broken += sum(1 for x in items if (label, x) in table)
            continue
        bounds = [table.get((label, x)) for x in items]
        broken += sum(b is None for b in bounds)
        there = [b for b in bounds if b is not None]
        broken += sum(not 0 <= low <= high <= s or high < k for low, high in there)
        total = sum(high for _, high in there)
        broken += total < s or total - s < (min(m, len(items)) - 1) * k
    return broken


def answer(
    rows: Sequence[Row], members: Mapping[str, Sequence[str]], table: Supports, suppressed: bool, items: Sequence[str]
) -> tuple[int, Fraction, int]:
    """Bounds and the product form of the estimate for all of some items, in a global recoding."""
    label_of = {x: label for label, below in members.items() for x in below}
    wanted = sorted(set(items))
    labels = {label_of[x] for x in wanted if x in label_of}
    shown = sum(labels <= row for row in rows)
    if any(x not in label_of for x in wanted):
        return (0, Fraction(0), shown if suppressed else 0)
    support = {label: sum(label in row for row in rows) for label in labels}
    bounds = {x: table.get((label_of[x], x), (support[label_of[x]],) * 2) for x in wanted}
    upper = min([shown, *(high for _, high in bounds.values())])
    for label in labels:
        inside = [x for x in wanted if label_of[x] == label]
        if len(inside) > 1:
            room = sum(table[label, x][1] for x in members[label]) - support[label]
            upper = min(upper, room // (len(inside) - 1))
    lower = max(0, shown - sum(support[label_of[x]] - bounds[x][0] for x in wanted))
    estimate = Fraction(shown)
    for x in wanted:
        estimate *= Fraction(sum(bounds[x]), 2 * support[label_of[x]]) if support[label_of[x]] else 0
    return lower, min(max(estimate, Fraction(lower)), Fraction(upper)), upper


def originals_of(row: Row, members: Mapping[str, Sequence[str]], free: Sequence[str] = ()) -> list[Row]:
    """The originals of one transaction: a non-empty set of members for each released item, and any suppressed items."""
    choices = [
        [frozenset(c) for n in range(1, len(members[u]) + 1) for c in combinations(members[u], n)] for u in sorted(row)
    ]
    choices += [[frozenset(c) for n in range(len(free) + 1) for c in combinations(free, n)]]
    return sorted({frozenset().union(*parts) for parts in product(*choices)}, key=sorted)


def worlds(
    rows: Sequence[Row], members: Mapping[str, Sequence[str]], table: Supports, free: Sequence[str] = ()
) -> Iterator[tuple[Row, ...]]:
    """All original databases that are consistent with a release and its item supports."""
    for world in product(*(originals_of(row, members, free) for row in rows)):
        if all(
            low <= sum(label in row and item in original for row, original in zip(rows, world, strict=True)) <= high
            for (label, item), (low, high) in table.items()
        ):
            yield world
