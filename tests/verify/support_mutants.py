"""Wrong tables of item supports, made of right ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import reference_supports as ref
from reference_supports import Line, Row
from supports_cases import Bound, Members, released

Lines = list[Line]
Rule = Callable[[dict[str, int], int], dict[str, tuple[int, int]]]


@dataclass(frozen=True, eq=False)
class Base:
    """A release with item supports."""

    rows: tuple[Row, ...]
    originals: tuple[Row, ...]
    members: Members
    k: int
    m: Bound

    @cached_property
    def lines(self) -> Lines:
        """What the rule publishes."""
        return self.by(lambda counts, s: ref.of_label(counts, s, self.k, self.m))

    @property
    def several(self) -> list[str]:
        """The released items that stand for several items."""
        return [u for u, items in self.members.items() if len(items) > 1]

    def s(self, label: str) -> int:
        """How many transactions show a released item."""
        return sum(label in row for row in self.rows)

    def count(self, label: str, item: str) -> int:
        """How many of these hold an item."""
        return sum(item in o for row, o in zip(self.rows, self.originals, strict=True) if label in row)

    def need(self, label: str) -> int:
        """How much larger than the support the upper bounds must be together."""
        return (int(min(self.m, len(self.members[label]))) - 1) * self.k

    def by(self, rule: Rule) -> Lines:
        """What another rule publishes."""
        return [
            (u, x, *bounds)
            for u in self.several
            for x, bounds in rule({x: self.count(u, x) for x in self.members[u]}, self.s(u)).items()
        ]

    def others(self, label: str, item: str) -> int:
        """The upper bounds of the other members of a released item."""
        return sum(high or 0 for u, x, _, high in self.lines if u == label and x != item)


def base(kinds: str, members: Members, k: int, m: Bound, labels: str = "") -> Base:
    """A release of ``"ab*3 c"`` (three transactions with a and b, one with c); ``labels`` are the rows of a local one."""

    def read(text: str) -> tuple[Row, ...]:
        parts = [part.split("*") for part in text.split()]
        return tuple(frozenset(p[0].strip("-")) for p in parts for _ in range(int(p[1]) if len(p) > 1 else 1))

    originals, listed = read(kinds), {u: list(items) for u, items in members.items()}
    return Base(read(labels) if labels else tuple(released(originals, listed)), originals, listed, k, m)


BASES = {
    "global-2-2": base("ac*6 bc*3 a*3 c*2 abz", {"A": "ab", "c": "c"}, 2, 2),
    "global-3-2": base("ac*5 ad*2 bc*2 bd*4 a*2 c*3 abcd", {"A": "ab", "B": "cd"}, 3, 2),
    "global-2-3": base("abc ab*2 ac bc a*2 b*2 c d*4 -", {"A": "abc", "D": "de"}, 2, 3),
    "global-2-inf": base("abcd*2 ab*3 cd*2 a*4 b d*3 e*3 f*2", {"A": "abcd", "E": "ef"}, 2, math.inf),
    "local-2-2": base(
        "ac*3 bc*2 abc ab*4 a*2 cd*3 d*2", {"A": "ab", "a": "a", "b": "b", "c": "c", "C": "cd"}, 2, 2, "Ac*6 ab*4 a*2 C*5"
    ),
    "global-5-2": base("a*41 ab c b*9 ac*12 abc", {"A": "abc"}, 5, 2),
}
Mutation = Callable[[Base], Iterator[Lines]]
MUTATIONS: dict[str, Mutation] = {}
RULE_ONLY: dict[str, Mutation] = {}


def each(change: Callable[[Base, str, str, int, int], Iterable[Line]]) -> Mutation:
    """Tables in which one line is replaced."""

    def mutants(of: Base) -> Iterator[Lines]:
        for n, line in enumerate(of.lines):
            yield [*of.lines[:n], *change(of, *line), *of.lines[n + 1 :]]  # type: ignore[arg-type]

    return mutants


def more(added: Callable[[Base], Iterable[Line]]) -> Mutation:
    """Tables with one more line."""
    return lambda of: ([*of.lines, line] for line in added(of))


def all_lines(change: Callable[[Base, str, str, int, int], Line]) -> Mutation:
    """The table with all lines changed."""
    return lambda of: iter([[change(of, *line) for line in of.lines]])  # type: ignore[arg-type]


def by_rule(rule: Callable[[Base, dict[str, int], int], dict[str, tuple[int, int]]]) -> Mutation:
    """The table of another rule."""
    return lambda of: iter([of.by(lambda counts, s: rule(of, counts, s))])


def _sum_of(excess: Callable[[Base, str], int]) -> Mutation:
    """The upper bounds of one label add up to its support and an excess, by changing one member's."""

    def change(of: Base, u: str, x: str, low: int, high: int) -> list[Line]:
        wanted = of.s(u) + excess(of, u) - of.others(u, x)
        return [(u, x, min(low, wanted), wanted)]

    return each(change)


def _totals(of: Base) -> Iterator[Line]:
    """The number of transactions that hold an item, whatever shows it."""
    for x in sorted({x for items in of.members.values() for x in items}):
        n = sum(x in original for original in of.originals)
        yield from ((None, x, n, n), (x, x, n, n), ("total", x, n, n))


MUTATIONS |= {
    "a line dropped": each(lambda of, *line: []),
    "a line only": lambda of: ([line] for line in of.lines),
    "no line": lambda of: iter([[]]),
    "a released item dropped": lambda of: ([line for line in of.lines if line[0] != u] for u in of.several),
    "a line repeated": more(lambda of: of.lines),
    "a line repeated with wider bounds": more(lambda of: [(u, x, 0, of.s(u)) for u, x, _, _ in of.lines if u]),
    "all lines repeated": lambda of: iter([of.lines * 2]),
    "a member of another released item": more(
        lambda of: [(u, x, 0, of.s(u)) for u, v in product(of.members, repeat=2) if u != v for x in of.members[v]]
    ),
    "a member in place of another": each(lambda of, u, x, low, high: [(u, of.members[u][0], low, high)]),
    "an item that nobody knows": each(lambda of, u, x, low, high: [(u, "unknown", low, high)]),
    "an item in capitals": each(lambda of, u, x, low, high: [(u, x.upper(), low, high)]),
    "an item with a space": each(lambda of, u, x, low, high: [(u, f"{x} ", low, high)]),
    "a suppressed item": more(lambda of: [(None, "z", 0, n) for n in (1, of.k, len(of.rows))]),
    "a suppressed item as its own released item": more(lambda of: [("z", "z", 0, len(of.rows))]),
    "a released item that stands for one item": more(
        lambda of: [(u, x, of.s(u), of.s(u)) for u, items in of.members.items() if len(items) == 1 for x in items]
    ),
    "a released item that is not shown": more(lambda of: [("none", of.members[of.several[0]][0], 0, of.k)]),
    "the largest number": each(lambda of, u, x, low, high: [(u, x, low, 2**63 - 1)]),
    "the smallest number": each(lambda of, u, x, low, high: [(u, x, -(2**63), high)]),
    "the largest numbers": all_lines(lambda of, u, x, low, high: (u, x, 2**63 - 1, 2**63 - 1)),
    "released item and item exchanged": each(lambda of, u, x, low, high: [(x, u, low, high)]),
    "no released item": each(lambda of, u, x, low, high: [(None, x, low, high)]),
    "no released item at all": all_lines(lambda of, u, x, low, high: (None, x, low, high)),
    "no item": each(lambda of, u, x, low, high: [(u, None, low, high)]),
    "totals": more(_totals),
    "a lower bound above the upper": each(lambda of, u, x, low, high: [(u, x, high + 1, high)]),
    "bounds exchanged": each(lambda of, u, x, low, high: [(u, x, high, low)]),
    "a negative lower bound": each(lambda of, u, x, low, high: [(u, x, -1, high)]),
    "negative bounds": each(lambda of, u, x, low, high: [(u, x, -high, -low)]),
    "an upper bound above the support": each(lambda of, u, x, low, high: [(u, x, low, of.s(u) + 1)]),
    "an upper bound above all transactions": each(lambda of, u, x, low, high: [(u, x, low, 10**6)]),
    "both bounds above the support": each(lambda of, u, x, low, high: [(u, x, of.s(u) + 1, of.s(u) + 1)]),
    "an upper bound of k - 1": each(lambda of, u, x, low, high: [(u, x, 0, of.k - 1)]),
    "an upper bound of 1": each(lambda of, u, x, low, high: [(u, x, 0, 1)]),
    "an upper bound of 0": each(lambda of, u, x, low, high: [(u, x, 0, 0)]),
    "all upper bounds of k - 1": all_lines(lambda of, u, x, low, high: (u, x, 0, of.k - 1)),
    "all upper bounds of k": all_lines(lambda of, u, x, low, high: (u, x, 0, of.k)),
    "an upper bound of k": each(lambda of, u, x, low, high: [(u, x, 0, of.k)]),
    "no upper bound": each(lambda of, u, x, low, high: [(u, x, low, None)]),
    "no lower bound": each(lambda of, u, x, low, high: [(u, x, None, high)]),
    "no bounds": each(lambda of, u, x, low, high: [(u, x, None, None)]),
    "no bounds at all": all_lines(lambda of, u, x, low, high: (u, x, None, None)),
    "upper bounds below the support": _sum_of(lambda of, u: -1),
    "upper bounds of the support": _sum_of(lambda of, u: 0),
    "one more than the support": _sum_of(lambda of, u: 1),
    "one less than is needed": _sum_of(lambda of, u: of.need(u) - 1),
    "k less than is needed": _sum_of(lambda of, u: of.need(u) - of.k),
    "upper bounds one lower": all_lines(lambda of, u, x, low, high: (u, x, min(low, high - 1), high - 1)),
    "exact counts": by_rule(lambda of, counts, s: {x: (n, n) for x, n in counts.items()}),
    "exact counts above k": by_rule(lambda of, counts, s: {x: (n, n) if n > of.k else (0, of.k) for x, n in counts.items()}),
    "exact upper bounds": by_rule(lambda of, counts, s: {x: (0, n) for x, n in counts.items()}),
    "the buckets alone": by_rule(lambda of, counts, s: {x: ref.bucket(n, s, of.k) for x, n in counts.items()}),
    "the rule for a smaller k": by_rule(lambda of, counts, s: ref.of_label(counts, s, of.k - 1, of.m)),
    "the rule for one known item": by_rule(lambda of, counts, s: ref.of_label(counts, s, of.k, 1)),
    "the rule for half of the transactions": by_rule(
        lambda of, counts, s: ref.of_label({x: n // 2 for x, n in counts.items()}, (s + 1) // 2, of.k, of.m)
    ),
}
RULE_ONLY |= {
    "nothing said": all_lines(lambda of, u, x, low, high: (u, x, 0, of.s(u))),
    "no lower bounds": all_lines(lambda of, u, x, low, high: (u, x, 0, high)),
    "a lower bound one lower": each(lambda of, u, x, low, high: [(u, x, max(low - 1, 0), high)]),
    "a lower bound one higher": each(lambda of, u, x, low, high: [(u, x, min(low + 1, high), high)]),
    "an upper bound one higher": each(lambda of, u, x, low, high: [(u, x, low, min(high + 1, of.s(u)))]),
    "an upper bound one lower": each(lambda of, u, x, low, high: [(u, x, min(low, high - 1), high - 1)]),
    "an upper bound as the lower": each(lambda of, u, x, low, high: [(u, x, high, high)]),
    "wider buckets": by_rule(lambda of, counts, s: ref.of_label(counts, s, of.k + 1, of.m)),
    "buckets of 2 k": by_rule(lambda of, counts, s: ref.of_label(counts, s, 2 * of.k, of.m)),
    "a member less": by_rule(
        lambda of, counts, s: ref.of_label({x: max(n - of.k, 0) for x, n in counts.items()}, s, of.k, of.m)
    ),
}
