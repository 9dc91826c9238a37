"""Which run of a comparison may be called best at something, and what stands beside its name.

A deleted item costs an error of 1 in each query that asks for it, however wrong a generalized one is, so that deleting much
makes the mean error small. Therefore: a run that deletes most items or occurrences is not named; the suppressed items and
occurrences stand beside every run that is; errors are compared by the median over the queries with truth >= k; and no error
is called the smallest that the answer 0 to every query would match.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anondb.compare.runs import Result

Value = Callable[[Result], float | None]


def share_suppressed(result: Result) -> float:
    """Suppressed occurrences, of all of the original."""
    occurrences = result.figures["occurrences"]
    return float(result.figures["suppressed_occurrences"] / occurrences) if occurrences else 0.0


def suppressed_words(result: Result) -> str:
    """What a run suppressed, beside its name."""
    items, occurrences = (result.figures[n] for n in ("suppressed_items", "suppressed_occurrences"))
    if not items and not occurrences:
        return "nothing suppressed"
    share = f"{100 * share_suppressed(result):.3g} %"
    return (
        f"suppressed: {items:,} of {result.figures['items']:,} items, "
        f"{occurrences:,} of {result.figures['occurrences']:,} occurrences ({share})"
    )


def deletes_most(result: Result) -> bool:
    """Whether more than half of the items, or of the occurrences, are gone."""
    return share_suppressed(result) > 0.5 or 2 * result.figures["suppressed_items"] > result.figures["items"]


def median_frequent(result: Result) -> float | None:
    """The headline: the median error over the queries with truth >= k."""
    value: float | None = result.figures["relative_error"]["median_frequent"]
    return value


def frequent_queries(result: Result) -> int:
    """How many queries the headline is over."""
    found = result.figures["frequent"]
    return 0 if found is None else int(found["queries"])


def asked_the_same(results: Sequence[Result]) -> bool:
    """Whether all answered the same queries. ``draw=generalized`` draws from the generalized items of each run, and of a log
    a release may list fewer groups than another."""
    return len({r.figures["asked"] for r in results}) <= 1


def least(results: Sequence[Result], value: Value) -> list[Result]:
    """The runs with the least value: several where they are equal, none where no run has it."""
    found = [(v, r) for r in results if (v := value(r)) is not None]
    return [r for v, r in found if v == min(v for v, _ in found)]


def useful_error(result: Result) -> float | None:
    """The headline error where it is below what answering 0 scores, else None."""
    error, zero = median_frequent(result), result.figures["relative_error"]["always_zero"]
    return error if error is not None and zero is not None and error < zero else None
