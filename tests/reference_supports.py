"""Item supports by their definition (docs/item_supports.md): the rule, the bounds, and all originals of a release."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

Supports = dict[tuple[str, str], tuple[int, int]]  # (released item, item) -> at_least, at_most
Line = tuple[str | None, str | None, int | None, int | None]  # of a table that may hold anything
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


def violations(
    rows: Sequence[Row], members: Mapping[str, Sequence[str]], table: Supports | Sequence[Line], k: int, m: float
) -> int:
    """How many statements of the verifier's definition a table breaks (docs/item_supports.md#the-verifier)."""
    lines = [(*of, *bounds) for of, bounds in table.items()] if isinstance(table, Mapping) else list(table)
    several = {label: items for label, items in members.items() if len(items) > 1}
    broken = sum(label not in several or item not in several[label] for label, item, _, _ in lines)
    for label, items in several.items():
        s = sum(label in row for row in rows)
        bounds: dict[str | None, list[tuple[int | None, int | None]]] = {x: [] for x in items}
        for of, item, low, high in lines:
            if of == label and item in bounds:
                bounds[item].append((low, high))
        if any(bounds.values()) or s >= k:  # a released item that fewer than k show has no rows
            broken += _violations_of_label(list(bounds.values()), s, k, m)
    return broken


def _violations_of_label(bounds: Sequence[Sequence[tuple[int | None, int | None]]], s: int, k: int, m: float) -> int:
    """The statements that the members of one released item break; each member has all of its lines."""
    broken = sum(len(lines) != 1 for lines in bounds)
    there = [line for lines in bounds for line in lines]
    known = [(low, high) for low, high in there if low is not None and high is not None]
    broken += len(there) - len(known)
    broken += sum(not 0 <= low <= high <= s for low, high in known) + sum(high < k for _, high in known)
    total = sum(high for _, high in known)
    return broken + (total < s) + (total - s < (min(m, len(bounds)) - 1) * k)


class Global:
    """What the readers of a global recoding compute: bounds and estimates for all of some items."""

    def __init__(self, rows: Sequence[Row], members: Mapping[str, Sequence[str]], table: Supports, suppressed: bool) -> None:
        self.rows, self.suppressed = rows, suppressed
        self.labels = {label: Label(rows, label, items, table) for label, items in members.items()}
        self.label_of = {x: label for label, items in members.items() for x in items}

    def parts(self, items: Collection[str]) -> dict[str, list[str]]:
        """The queried members of each released item of a query."""
        found: dict[str, list[str]] = {}
        for x in sorted(set(items)):
            if x in self.label_of:
                found.setdefault(self.label_of[x], []).append(x)
        return found

    def bounds(self, items: Collection[str]) -> tuple[int, int]:
        """The least and the greatest number of transactions that hold all items."""
        parts = self.parts(items)
        shown = sum(parts.keys() <= row for row in self.rows)
        upper = min([shown, *(self.labels[label].most(part) for label, part in parts.items())])
        if not set(items) <= self.label_of.keys():
            return 0, upper if self.suppressed else 0
        return max(0, shown - sum(self.labels[label].lacking(part) for label, part in parts.items())), upper

    def estimate(self, items: Collection[str], weight: Mapping[str, Fraction] | None = None) -> Fraction:
        """The product form, times weight^(q-1) for each label with q queried members, held within the bounds."""
        lower, upper = self.bounds(items)
        if not set(items) <= self.label_of.keys():
            return Fraction(0)
        parts = self.parts(items)
        found = Fraction(sum(parts.keys() <= row for row in self.rows))
        for label, part in parts.items():
            found *= self.labels[label].share(part, weight)
        return min(max(found, Fraction(lower)), Fraction(upper))


class Label:
    """A released item, how many transactions show it, and the bounds of its members."""

    def __init__(self, rows: Sequence[Row], label: str, items: Sequence[str], table: Supports) -> None:
        self.label, self.s = label, sum(label in row for row in rows)
        unknown = (self.s if len(items) == 1 else 0, self.s)
        self.of = {x: table.get((label, x), unknown) for x in items}

    def most(self, part: Sequence[str]) -> int:
        """The greatest number of its transactions that hold all of some members."""
        upper = min(self.of[x][1] for x in part)
        if len(part) > 1:
            upper = min(upper, (sum(high for _, high in self.of.values()) - self.s) // (len(part) - 1))
        return upper

    def lacking(self, part: Sequence[str]) -> int:
        """The greatest number of its transactions that lack one of some members, counted for each member."""
        return sum(self.s - self.of[x][0] for x in part)

    def share(self, part: Sequence[str], weight: Mapping[str, Fraction] | None = None) -> Fraction:
        """The expected share of its transactions that hold all of some members."""
        factor = Fraction(1) if weight is None else weight.get(self.label, Fraction(1))
        found = factor ** (len(part) - 1)
        for x in part:
            found *= Fraction(sum(self.of[x]), 2 * self.s) if self.s else 0
        return found


class Local:
    """What the readers of a local recoding of sets compute."""

    def __init__(
        self, rows: Sequence[Row], members: Mapping[str, Sequence[str]], table: Supports, complete: Sequence[bool]
    ) -> None:
        self.rows, self.members, self.complete = rows, members, complete
        self.labels = {label: Label(rows, label, items, table) for label, items in members.items()}

    def covers(self, items: Collection[str]) -> dict[tuple[str, ...], list[bool]]:
        """The released items above all items of a query, and whether each transaction that shows them is complete."""
        found: dict[tuple[str, ...], list[bool]] = {}
        for row, whole in zip(self.rows, self.complete, strict=True):
            above = [u for x in sorted(set(items)) for u in row if x in self.members[u]]
            if len(above) == len(set(items)):
                found.setdefault(tuple(above), []).append(whole)
        return found

    def parts(self, cover: Collection[str], items: Collection[str]) -> dict[str, list[str]]:
        """The queried members of each released item of a cover."""
        return {u: [x for x in sorted(set(items)) if x in self.members[u]] for u in cover}

    def bounds(self, items: Collection[str]) -> tuple[int, int]:
        """The least and the greatest number of transactions that hold all items."""
        if not items:
            return len(self.rows), len(self.rows)
        low = high = 0
        for cover, whole in self.covers(items).items():
            parts = self.parts(cover, items)
            low += max(0, len(whole) - sum(self.labels[u].lacking(part) for u, part in parts.items()))
            high += min([sum(whole), *(self.labels[u].most(part) for u, part in parts.items())])
        of_items = [sum(self.labels[u].of[x][1] for u in self.members if x in self.members[u]) for x in items]
        return low, min([high, *of_items]) + sum(not c for c in self.complete)

    def estimate(self, items: Collection[str], weight: Mapping[str, Fraction] | None = None) -> Fraction:
        """The sum of the product forms of all covers, held within the bounds; suppressed items count as absent."""
        lower, upper = self.bounds(items)
        found = Fraction(0 if items else len(self.rows))
        for cover, whole in self.covers(items).items() if items else ():
            expected = Fraction(len(whole))
            for u, part in self.parts(cover, items).items():
                expected *= self.labels[u].share(part, weight)
            found += expected
        return min(max(found, Fraction(lower)), Fraction(upper))


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
