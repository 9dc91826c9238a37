"""Decide which runs of a comparison to name as best, by which figures, and with which notes.

A query on a deleted item has an error of 1, while the error of a generalized item has no limit: deleting many items makes
the mean error small. Therefore a run that deletes most items or occurrences is never named; the suppressed items and
occurrences follow the name of every other run; errors are compared by the median over the queries with truth >= k; and an
error is only called the smallest if it is below the error of answering 0 to every query.
"""

from collections.abc import Callable, Mapping, Sequence

from anondb.compare.runs import Result
from anondb.models.named import make_model
from anondb.pages.text import counted, number, percent
from anondb.promises import PROMISES

Value = Callable[[Result], float | None]
MEANINGS: Mapping[str, str] = {  # what the figures of a comparison mean
    "candidate": "a release by one algorithm with one choice of parameters, made in a private place to be compared",
    "error": "the mean of |truth - estimate| / the larger of both; 0 is exact, 1 no better than answering 0; of a release"
    " with attributes half of it is that of queries of a value and items",
    "bounds' width": "the mean difference of the guaranteed upper and lower bound, in transactions",
    "chance of a guess": "an attacker knows some items of each of up to 1,000 persons, and the attributes of the release"
    " where it has some: the mean of 1 / the persons who fit",
    "persons alone": "those whom nobody else fits, for this attacker",
    "loss (NCP)": "the share of the domain that an item was generalized to, averaged over the original occurrences: 0 % is"
    " nothing changed, 100 % all suppressed; that of the attributes where a release has some: compare it among those",
    "suppressed": "items that are deleted everywhere, and deleted occurrences",
}
_OPTIONS = {  # what the options in the names of runs mean
    "delta": (
        "\N{GREEK SMALL LETTER DELTA} (delta)",
        "how much of the attributes' detail may be given up for that of the items, 0 to 1; for tum_bound the reverse",
    ),
    "item_supports": (
        "+ supports",
        "with a table of about how often each item occurs; kkm, klm and hkp have none, as it would lead to private items",
    ),
}


def terms(results: Sequence[Result]) -> Mapping[str, str]:
    """What the figures of a comparison mean, and the options of its runs."""
    named = {n for result in results for n, value in result.run.options.items() if value is not False}
    return {**dict(words for n, words in _OPTIONS.items() if n in named), **MEANINGS}


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


def mean_error(result: Result) -> float | None:
    """The mean of |truth - estimate| / the larger of both, each size of queries alike, as are those of attributes and items;
    None without queries. It is 0 for exact answers and 1 for answering 0 to all: suppression cannot make it small."""
    errors = [row["error"] for row in result.figures["symmetric_errors"]]
    return sum(errors) / len(errors) if errors else None


def chance(result: Result) -> float | None:
    """The mean chance of an attacker's guess, 1 / candidates; None if it was not measured."""
    risk = result.figures.get("risk")
    return None if risk is None else float(risk["after"]["chance"])


def judged(done: Sequence[Result]) -> list[tuple[float, float, Result]]:
    """The error and the risk of each run that has both and does not delete most. Of a log those that answered most of it, if
    they answered the same: a release lists no group for an item that it deletes."""
    figures = [(mean_error(r), chance(r), r) for r in done if not deletes_most(r)]
    points = [(error, risk, r) for error, risk, r in figures if error is not None and risk is not None]
    if not any(row.get("statement") for *_, r in points for row in r.figures["symmetric_errors"]):
        return points
    chosen = []
    for relational in (False, True):
        alike = [point for point in points if PROMISES[point[2].run.model].relational == relational]
        most = max((r.figures["queries"] for *_, r in alike), default=0)
        chosen += [point for point in alike if point[2].figures["queries"] == most]
    return chosen


def frontier(done: Sequence[Result]) -> list[Result]:
    """The runs than which no other has as little error and as little risk, and less of one; the least error first."""
    points = judged(done)

    def beaten(error: float, risk: float) -> bool:
        return any(e <= error and c <= risk and (e, c) != (error, risk) for e, c, _ in points)

    return [r for error, risk, r in sorted(points, key=lambda p: p[:2]) if not beaten(error, risk)]


def recommended(done: Sequence[Result]) -> list[tuple[Result, str]]:
    """The run to choose and why, in words: one of the releases without attributes, one of those with them. It is that with
    the least error among those that leave the fewest persons alone. Errors that agree in two digits count as equal; then the
    smaller risk decides, then that no item supports are published."""
    chosen = []
    for relational in (False, True):
        points = judged([r for r in done if PROMISES[r.run.model].relational == relational])
        if not points or not asked_the_same([r for *_, r in points]):
            continue
        fewest = min(r.figures["risk"]["after"]["alone"] for *_, r in points)
        safe = [p for p in points if p[2].figures["risk"]["after"]["alone"] == fewest]
        best = min(safe, key=lambda p: (round(p[0], 2), round(p[1], 4), bool(p[2].run.options.get("item_supports"))))
        chosen.append((best[2], _reason(best, safe, len(points), relational)))
    return chosen


def _reason(best: tuple[float, float, Result], safe: list[tuple[float, float, Result]], runs: int, relational: bool) -> str:
    """Why a run is recommended, beside the next ones with less risk."""
    error, risk, result = best
    measured = result.figures["risk"]
    what = "with" if relational else "without"
    known = [counted(measured["known"], "item")] if measured["known"] else []
    known += ["the attributes"] if relational else []
    words = (
        f"of {counted(runs, 'release')} {what} attributes, {len(safe):,} leave the fewest persons alone, and of these it has"
        f" the least error in two digits: {number(error)} (0: exact, 1: no better than answering 0). An attacker who knows"
        f" {' and '.join(known)} of a person is right with a"
        f" chance of {percent(risk)} ({percent(measured['before']['chance'])} in the original), and finds"
        f" {measured['after']['alone']:,} of {measured['persons']:,} persons alone"
        f" ({measured['before']['alone']:,} in the original)"
    )
    if useful_error(result) is None and median_frequent(result) is not None:
        words += "; half of its answers where the truth is k or more are no better than 0: read its bounds"
    less = [r for r in frontier([r for *_, r in safe]) if (chance(r) or 0.0) < risk and r is not result][:2]
    more = (f"{name_of(r)} (chance {percent(chance(r))}, error {number(mean_error(r) or 0.0)})" for r in less)
    return words + (f". Less risk for more error: {'; '.join(more)}." if less else ".")


def covered(results: Sequence[Result]) -> dict[str, str]:
    """Each promise of the runs, and what it covers."""
    promises = {make_model(r.run.model, **r.run.parameters).promise: r.run.model for r in results}
    return {promise: PROMISES[model].covers()[0] for promise, model in promises.items()}


def name_of(result: Result) -> str:
    """The run and its promise."""
    return f"{result.run.name}, {make_model(result.run.model, **result.run.parameters).promise}"
