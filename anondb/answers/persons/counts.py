"""What the readers of SELECTs over persons ask of releases (tables, answers to plans), and the arithmetic of bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Protocol

import numpy as np
from sqlglot import exp

from anondb.answers.ranged.relation import Ranged
from anondb.query.predicates import ALWAYS, AtLeast, Condition, Constant, Plan, decided, implies, leaves
from anondb.query.values import Attribute


@dataclass(frozen=True)
class Described:
    """A table of persons: the names of its columns in lower case.

    Attributes:
        id, item: the columns of the ids and of the items; none of items in the records.
        lists: whether a row has the list of a person's items.
        nullable: whether a list may be NULL.
        some: whether persons without items may lack a row.
        attributes: the relational attributes.
        part: the column that divides the files, if any.
    """

    id: str
    item: str = ""
    lists: bool = False
    nullable: bool = False
    some: bool = False
    attributes: tuple[str, ...] = ()
    part: str = ""


class Counts(Protocol):
    """The releases of a session: what reading a query needs of them, and answers to plans."""

    @property
    def items(self) -> Sequence[str]:
        """The items that are listed."""

    @property
    def suppressed(self) -> bool:
        """Whether items were suppressed, so that lists of items are not complete."""

    @property
    def typed(self) -> bool:
        """Whether the items have another type than text."""

    @property
    def type(self) -> str:
        """The type of the items."""

    @property
    def hidden(self) -> int | None:
        """At most how many different items are not listed; None for any number."""

    @property
    def bags(self) -> bool:
        """Whether persons may have an item several times."""

    @property
    def supported(self) -> bool:
        """Whether releases have item supports, which say more of sums than the rows do."""

    @property
    def summable(self) -> bool:
        """Whether the releases give sums over the items of persons."""

    @property
    def attributes(self) -> Sequence[Attribute]:
        """The relational attributes, with the values of all files; none without records."""

    def domain(self) -> exp.Query:
        """The items that are listed or named, as rows (item, listed) of the session's database."""

    def named(self) -> frozenset[str]:
        """The items of ``domain``."""

    def values_of(self, attribute: str) -> Sequence[Any]:
        """The values that an attribute may have; dates as ISO texts."""

    def extent(self, attribute: str) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest value that a number or a time may have, in days since 1970; None if all are NULL."""

    def rows(self, tree: exp.Query) -> list[tuple[Any, ...]]:
        """Run a query on the session's database."""

    def places(self, condition: exp.Expr) -> frozenset[int]:
        """The files for which a condition on the column that divides them holds."""

    @property
    def part_type(self) -> str:
        """The type in which the values of this column are shown."""

    def parts(self) -> Sequence[Any]:
        """The value of the column that divides the files, in each of them."""

    @property
    def persons_tables(self) -> Mapping[str, Mapping[str, bool]]:
        """The columns of each of the original's tables, in lower case, and whether one is the id."""

    def table(self, node: exp.Table) -> Ranged | None:
        """The rows of a table of the analyst, or of the release; None if there is none of this name."""

    def plain(self, labels: frozenset[str]) -> bool:
        """Whether texts are spelled as items of every possible type are."""

    def described(self, node: exp.Table) -> Described:
        """The columns of a table of persons."""

    def id_column(self, table: exp.Table) -> str | None:
        """The id column of a table of persons, in lower case; None for other tables."""

    def is_aggregate(self, name: str) -> bool:
        """Whether a function of DuckDB computes one value from several rows."""

    def answer(self, plan: Plan) -> Sequence[Row]:
        """The groups of a plan: their keys, then lower bound and upper bound."""

    def put(self, keys: Sequence[str], rows: Mapping[Row, Sequence[Bounds]], width: int) -> exp.Query:
        """Put rows into the session's database; returns a SELECT with a column for each key, and two for each number."""

    def put_listed(self, rows: Sequence[Row], width: int) -> exp.Query:
        """Put the rows of an answer whose key is one text into the database, with its number if ``width`` is 1."""


Bounds = tuple[float | None, float | None]
"""Lower bound and upper bound of a number; None where there is none."""
Row = tuple[Any, ...]
NONE: Bounds = (0, 0)


def both_of(one: Bounds, other: Bounds) -> Bounds:
    """A number that lies within two bounds."""
    lows, highs = ([end for end in ends if end is not None] for ends in zip(one, other, strict=True))
    low, high = max(lows, default=None), min(highs, default=None)
    turned = low is not None and high is not None and low > high  # by the rounding of floating numbers
    return (high, low) if turned else (low, high)


def is_unsigned(bounds: Bounds) -> bool:
    """Whether no number within bounds is negative."""
    return bounds[0] is not None and bounds[0] >= 0


def quotient(number: Bounds, rows: Bounds) -> Bounds:
    """A number by a number of rows, of which there is one at least."""
    least, most = max(rows[0] or 0, 1), None if rows[1] is None else max(rows[1], 1)

    def divided(end: float | None, outward: bool) -> float | None:
        by = least if outward else most
        return None if end is None else 0.0 if by is None else end / by

    low, high = number
    return divided(low, low is not None and low < 0), divided(high, high is not None and high > 0)


def average_of(values: Sequence[float], numbers: Sequence[Bounds]) -> Bounds:
    """The average of values, of each of which there are some: the least one has the smallest as often, and the others as
    rarely, as possible."""
    rising = sorted(zip(map(Fraction, values), numbers, strict=True), key=lambda of: of[0])
    ends: list[float | None] = []
    for ordered, best in ((rising, min), (rising[::-1], max)):
        means = []
        for place in range(1, len(ordered) + 1):
            many = [(v, most) for v, (_, most) in ordered[:place]] + [(v, least or 0) for v, (least, _) in ordered[place:]]
            if any(n is None for _, n in many):
                return None, None
            total = sum(Fraction(n) for _, n in many if n)
            means += [sum(v * Fraction(n) for v, n in many if n) / total] if total else []
        ends.append(float(best(means)) if means else None)
    return ends[0], ends[1]


MOST_LEAVES = 6


def by_leaves(added: Sequence[tuple[float, Condition]]) -> list[tuple[float, Condition]]:
    """A number of each person as a sum of numbers for the leaves of conditions; empty for one that is no such sum.

    Args:
        added: conditions, of which one holds for each person, with its number: ``a AND NOT b`` 1, ``b AND NOT a`` -1, and
            others 0 are 1 for ``a`` and -1 for ``b``.
    """
    tests = list(dict.fromkeys(leaf for _, met in added for leaf in leaves(met) if not isinstance(leaf, Constant)))
    if len(tests) > MOST_LEAVES:
        return []
    rows, numbers = list[tuple[bool, ...]](), list[float]()
    for truths in product((False, True), repeat=len(tests)):
        true = [test for test, truth in zip(tests, truths, strict=True) if truth]
        false = (test for test, truth in zip(tests, truths, strict=True) if not truth)
        if any(isinstance(leaf, AtLeast) and any(implies(test, leaf) for test in true) for leaf in false):
            continue  # nobody has these
        of = dict(zip(tests, truths, strict=True))
        rows.append((True, *truths))
        numbers.append(sum(number for number, met in added if decided(met, of) == ALWAYS))
    matrix = np.array(rows, dtype=np.float64)
    factors = np.linalg.lstsq(matrix, np.array(numbers), rcond=None)[0].round(9)
    if not np.allclose(matrix @ factors, numbers, rtol=0, atol=1e-6):
        return []
    whole = [int(factor) if factor.is_integer() else factor for factor in factors.tolist()]
    return [(factor, leaf) for factor, leaf in zip(whole, (ALWAYS, *tests), strict=True) if factor]
