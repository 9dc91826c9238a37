"""Advice in words: the conclusion, its reasons, and the runs behind it."""

from __future__ import annotations

from dataclasses import replace

from anondb.compare.merits import deletes_most, suppressed_words
from anondb.compare.runs import Result
from anondb.guide.advise import Advice
from anondb.guide.needs import knowledge_words
from anondb.guide.trials import error, supported
from anondb.guide.words import Section, share
from anondb.models.named import make_model

_ERRORS = (
    "Error: the mean of |truth - estimate| / the larger of both, over the same items and pairs of items, all that occur"
    " equally likely. 0 is exact; 1, the largest, is that of always answering 0, and of whatever was deleted."
)


def advice_sections(advice: Advice) -> list[Section]:
    """The sections of advice: the conclusion, and the runs."""
    chosen = advice.chosen
    rows = (
        ("promise", make_model(chosen.run.model, **chosen.run.parameters).promise),
        ("algorithm", chosen.run.algorithm),
        ("item supports", "yes" if supported(chosen) else "no"),
        *(("" if n else "why", reason) for n, reason in enumerate(reasons(advice))),
        ("beside the next best", beside(advice)),
    )
    sections = [Section(f"advice for {advice.source}", (), rows)]
    if advice.on_sample:
        title = f"runs on a sample of {advice.sample:,} persons, with k = {advice.sample_k}"
        sections.append(_runs(title, advice.on_sample))
    if advice.on_whole:
        sections.append(_runs(f"runs on all {advice.persons:,} persons", advice.on_whole))
    last = sections.pop()
    return [*sections, replace(last, notes=(_ERRORS, *last.notes))]


def reasons(advice: Advice) -> list[str]:
    """Why the advice is as it is, in sentences."""
    needs, chosen, alone = advice.needs, advice.chosen, advice.known.alone
    said = [f"Somebody who knows {knowledge_words(needs.m)} finds none or at least {needs.k} persons who fit."]
    if alone is not None:
        of = f"{alone:,} of {advice.persons:,} persons ({share(alone, advice.persons)})"
        items = f"{advice.known.m} item{'s' * (advice.known.m != 1)}"
        said.append(
            f"In the original, {of} {'stands' if alone == 1 else 'stand'} alone for somebody who knows {items} of theirs."
        )
    of_all = "in two digits the least of all runs" + ("" if needs.item_supports else " without item supports")
    said.append(f"Its counts have the error {_errors(chosen)}, {of_all}; {suppressed_words(chosen)}.")
    most = [r.run.algorithm for r in (*advice.on_whole, *advice.on_sample) if r.status == "done" and deletes_most(r)]
    if most:
        said.append(f"Not advised, since most is deleted: {', '.join(dict.fromkeys(most))}.")
    said += _supports(advice)
    if not any("taxonomy" in r.run.options for r in (*advice.on_whole, *advice.on_sample)) and needs.use == "counts":
        said.append("There is no taxonomy: with one (anondb taxonomy build, --taxonomy) more algorithms are tried.")
    if not advice.is_tested:
        said.append("No run on all persons was done in time: this rests on the sample. Raise --time-limit to be sure.")
    return said


_COVERED = "They promise less if readers get other releases of the same persons (docs/item_supports.md)."


def _supports(advice: Advice) -> list[str]:
    """What item supports change, if the best run was done with and without them."""
    chosen, run = advice.chosen, advice.chosen.run
    same = [r for r in advice.on_whole if r.status == "done" and r.run.algorithm == run.algorithm]
    other = next((r for r in same if supported(r) != supported(chosen)), None)
    if supported(chosen):
        said = "Item supports say between which counts each item of a group occurs"
        return [f"{said}{f'; without them the error is {_errors(other)}' if other else ''}. {_COVERED}"]
    return [f"With item supports (--item-supports) the error would be {_errors(other)}. {_COVERED}"] if other else []


def beside(advice: Advice) -> str:
    """What the advised release costs beside the next best."""
    other, chosen = advice.next_best, advice.chosen
    if other is None:
        return "no other run made a release that can be advised"
    seconds = f"{chosen.cpu_seconds:.1f} CPU s instead of {other.cpu_seconds:.1f}"
    return f"error {_errors(chosen)} instead of {_errors(other)} by {_name(other)}; {seconds}"


def _name(result: Result) -> str:
    return result.run.algorithm + (" with item supports" if supported(result) else " without item supports")


def _errors(result: Result) -> str:
    """The error of a run, and its parts."""
    parts = {1: "items", 2: "pairs"}
    named = [
        f"{parts.get(row['size'], row['size'])} {figure2(row['error'])}" for row in result.figures["symmetric_errors"]
    ]
    return f"{figure2(error(result))} ({', '.join(named)})"


def figure2(value: float | None) -> str:
    """A number with two digits behind the point."""
    return "-" if value is None else f"{value:.2f}"


def _runs(title: str, results: tuple[Result, ...]) -> Section:
    head = ("algorithm", "supports", "error", "items", "pairs", "deleted", "NCP", "CPU s", "MiB", "outcome")
    stopped = [f"{r.run.algorithm}: {r.message}" for r in results if r.status not in ("done", "timeout")]
    rows = sorted(results, key=lambda r: 2.0 if (e := error(r)) is None else e + deletes_most(r))
    return Section(title, head, tuple(map(_row, rows)), tuple(dict.fromkeys(stopped)), tuple(range(2, 9)))


def _row(result: Result) -> tuple[str, ...]:
    name = (result.run.algorithm, "yes" if supported(result) else "no")
    costs = (f"{result.cpu_seconds:.1f}", f"{result.peak_mib:,.0f}")
    if result.status != "done":
        return (*name, *["-"] * 5, *costs, "no time left" if result.status == "timeout" else result.status)
    by_size = {row["size"]: row["error"] for row in result.figures["symmetric_errors"]}
    deleted = share(result.figures["suppressed_occurrences"], result.figures["occurrences"])
    ncp = result.figures["ncp"]
    figures = (figure2(error(result)), figure2(by_size.get(1)), figure2(by_size.get(2)), deleted)
    outcome = "deletes most" if deletes_most(result) else "done"
    return (*name, *figures, "-" if ncp is None else f"{100 * ncp:.3g} %", *costs, outcome)
