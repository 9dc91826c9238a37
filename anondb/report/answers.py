"""How good the answers of a release are: figures of workloads by the size of queries and by the true count."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from anondb.models import AsJson

Answer = tuple[tuple[str, ...], int, float, int, int]
"""The items of a query, its true count, estimate, lower bound and upper bound."""


@dataclass(frozen=True)
class Group(AsJson):
    """The figures of some queries."""

    words: str  # which queries they are
    queries: int  # their number
    # median of |truth - estimate| / truth over the queries with a truth above 0; None without such queries
    error: float | None
    # frequent, frequent_error: the number of queries with a truth of k or more, and their median error
    frequent: int
    frequent_error: float | None
    width: float | None  # median of upper bound - lower bound, in transactions
    exact: int  # number of queries whose bounds are equal
    within: int  # number of queries whose truth is within the bounds


@dataclass(frozen=True)
class Asked:
    """The answers to a workload: its name, and the answers in the order of their true counts."""

    words: str
    answers: tuple[Answer, ...]


def figures(words: str, answers: Sequence[Answer], k: int) -> Group:
    """The figures of some answers."""
    errors = [(truth, abs(truth - estimate) / truth) for _, truth, estimate, _, _ in answers if truth]
    frequent = [error for truth, error in errors if truth >= k]
    widths = [upper - lower for *_, lower, upper in answers]
    return Group(
        words,
        len(answers),
        median(error for _, error in errors) if errors else None,
        len(frequent),
        median(frequent) if frequent else None,
        median(widths) if widths else None,
        sum(not width for width in widths),
        sum(lower <= truth <= upper for _, truth, _, lower, upper in answers),
    )


def by_support(answers: Sequence[Answer], k: int) -> Iterator[Group]:
    """The figures of answers by their true counts: below k, and in steps of a factor of ten from k on."""
    low, high = 0, 1
    while True:
        if group := [a for a in answers if low <= a[1] < high]:
            words = f"{low:,}" if high - low == 1 else f"{low:,} to {high - 1:,}"
            yield figures(words, group, k)
        if not any(a[1] >= high for a in answers):
            return
        low, high = high, (k if k > 1 and high == 1 else max(high, k) * 10)
