"""Decide which runs of a comparison to name as best, by which figures, and with which notes.

A query on a deleted item has an error of 1, while the error of a generalized item has no limit: deleting many items makes
the mean error small. Therefore a run that deletes most items or occurrences is never named; the suppressed items and
occurrences follow the name of every other run; errors are compared by the median over the queries with truth >= k; and an
error is only called the smallest if it is below the error of answering 0 to every query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anondb.compare.runs import Result

Value = Callable[[Result], float | None]


def share_suppressed(result: Result) -> float:
    """The share of the original occurrences that are suppressed."""
    occurrences = result.figures["occurrences"]
    return float(result.figures["suppressed_occurrences"] / occurrences) if occurrences else 0.0


def suppressed_words(result: Result) -> str:
    """Text on the suppressed items and occurrences of a run."""
    items, occurrences = (result.figures[n] for n in ("suppressed_items", "suppressed_occurrences"))
    if not items and not occurrences:
        return "nothing suppressed"
    share = f"{100 * share_suppressed(result):.3g} %"
    return (
        f"suppressed: {items:,} of {result.figures['items']:,} items, "
        f"{occurrences:,} of {result.figures['occurrences']:,} occurrences ({share})"
    )


def deletes_most(result: Result) -> bool:
    """Whether more than half of the items, or of the occurrences, are suppressed."""
    return share_suppressed(result) > 0.5 or 2 * result.figures["suppressed_items"] > result.figures["items"]


def median_frequent(result: Result) -> float | None:
    """The headline error: the median over the queries with truth >= k."""
    value: float | None = result.figures["relative_error"]["median_frequent"]
    return value


def frequent_queries(result: Result) -> int:
    """The number of queries behind the headline error."""
    frequent = result.figures["frequent"]
    return 0 if frequent is None else int(frequent["queries"])


def asked_the_same(results: Sequence[Result]) -> bool:
    """Whether all runs answered the same queries. ``draw=generalized`` draws from the generalized items of each run, and
    releases may list different groups of a log's queries."""
    return len({r.figures["asked"] for r in results}) <= 1


def least(results: Sequence[Result], value: Value) -> list[Result]:
    """The runs with the least value: several if they are equal, none if no run has a value."""
    values = [(v, r) for r in results if (v := value(r)) is not None]
    return [r for v, r in values if v == min(v for v, _ in values)]


def useful_error(result: Result) -> float | None:
    """The headline error if it is below the error of answering 0, else None."""
    error, zero = median_frequent(result), result.figures["relative_error"]["always_zero"]
    return error if error is not None and zero is not None and error < zero else None
