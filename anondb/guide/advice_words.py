"""Advice in words: the conclusion, its reasons, and the runs behind it."""

from dataclasses import replace
from fractions import Fraction

from anondb.algorithms.relational.rt import DEFAULT_DELTA
from anondb.compare.merits import deletes_most, suppressed_words
from anondb.compare.runs import Result
from anondb.guide.advise import Advice
from anondb.guide.needs import knowledge_words
from anondb.guide.trials import ITEMS, PAIRS, error, supported
from anondb.guide.words import Section, profile_sections, share
from anondb.models.named import make_model
from anondb.pages.text import counted

_ERRORS = (
    "Error: the mean of |truth - estimate| / the larger of both, over the same {asked}. 0 is exact; 1, the largest, is that"
    " of always answering 0, and of whatever was deleted."
)
_OF_ITEMS = "items and pairs of items, all that occur equally likely"
_OF_PEOPLE = "counts in SQL by attributes, in ranges of them"


def advice_sections(advice: Advice) -> list[Section]:
    """The sections of advice: the conclusion, the runs and, with attributes, what the profile says of these."""
    chosen, profile = advice.chosen, advice.profile
    options = (("item supports", "yes" if supported(chosen) else "no"),)
    rows = (
        ("promise", make_model(chosen.run.model, **chosen.run.parameters).promise),
        ("algorithm", chosen.run.algorithm),
        *(options if profile is None else [("delta", chosen.run.options[n]) for n in ("delta",) if n in chosen.run.options]),
        *(("" if n else "why", reason) for n, reason in enumerate(reasons(advice))),
        *([("beside the next best", beside(advice))] if len(advice.on_whole) + len(advice.on_sample) > 1 else []),
    )
    sections = [Section(f"advice for {advice.source}", (), rows)]
    if advice.on_sample:
        title = f"runs on a sample of {advice.sample:,} persons, with k = {advice.sample_k}"
        sections.append(_runs(title, advice.on_sample))
    if advice.on_whole:
        sections.append(_runs(f"runs on all {advice.persons:,} persons", advice.on_whole))
    last = sections.pop()
    asked = (
        _OF_ITEMS if profile is None else f"{_OF_ITEMS}, and the same {_OF_PEOPLE}, and of both; each kind counts equally"
    )
    note = _ERRORS.format(asked=asked if profile is None or profile.items else _OF_PEOPLE)
    of_people = [] if profile is None else profile_sections(profile)[1:]
    return [*sections, replace(last, notes=(note, *last.notes)), *of_people]


def reasons(advice: Advice) -> list[str]:
    """Why the advice is as it is, in sentences."""
    needs, chosen, people = advice.needs, advice.chosen, None if advice.profile is None else advice.profile.people
    sentences = [f"Somebody who knows {knowledge_words(needs.m)} finds none or at least {needs.k} persons who fit."]
    m, alone = advice.known.m, advice.known.alone
    knowing = f"{counted(m, 'item')} of theirs"
    if people is not None:
        by = " (proposed: you know what others know)" if people.proposed else ""
        promise = make_model(chosen.run.model, **chosen.run.parameters).promise
        m, alone = [(m, n) for m, n in enumerate(people.alone) if n is not None and m <= needs.m][-1]
        knows, knowing = f" and {knowledge_words(needs.m)}", f"these and {counted(m, 'item')}"
        if advice.profile is not None and not advice.profile.items:
            knows, knowing, promise = "", "these", f"{promise}, which without items is {needs.k}-anonymity"
        sentences = [
            f"Somebody who knows {', '.join(people.quasi_identifiers)}{by}{knows} finds none or at least {needs.k} persons"
            f" who fit: {promise}."
        ]
    if alone is not None:
        of = f"{alone:,} of {advice.persons:,} persons ({share(alone, advice.persons)})"
        sentences.append(
            f"In the original, {of} {'stands' if alone == 1 else 'stand'} alone for somebody who knows {knowing}."
        )
    of_all = ", in two digits the least of all runs" if advice.next_best is not None else ""
    of_all += "" if needs.item_supports or people else " without item supports"
    sentences.append(f"Its counts have the error {_errors(chosen)}{of_all}; {suppressed_words(chosen)}.")
    if most := [r.run.name for r in (*advice.on_whole, *advice.on_sample) if r.status == "done" and deletes_most(r)]:
        sentences.append(f"Not advised, since most is deleted: {', '.join(dict.fromkeys(most))}.")
    sentences += _supports(advice) if people is None else [*_delta(advice), *_worse_than_zero(advice)]
    without = not any("taxonomy" in r.run.options for r in (*advice.on_whole, *advice.on_sample))
    if without and needs.use == "counts" and people is None:
        sentences.append("There is no taxonomy: with one (anondb taxonomy build, --taxonomy) more algorithms are tried.")
    if not advice.is_tested:
        sentences.append("No run on all persons was done in time: this rests on the sample. Raise --time-limit to be sure.")
    return sentences


def _delta(advice: Advice) -> list[str]:
    """What delta is, which were tried, and what the default would cost; nothing where delta plays no part."""
    if "delta" not in advice.chosen.run.options:
        return []
    runs = advice.on_whole if advice.is_tested else advice.on_sample
    same = [r for r in runs if r.status == "done" and r.run.algorithm == advice.chosen.run.algorithm]
    default = next((r for r in same if Fraction(r.run.options["delta"]) == DEFAULT_DELTA), None)
    tried = dict.fromkeys(r.run.name for r in (*advice.on_sample, *advice.on_whole))
    gives, keeps = ("items", "attributes") if advice.chosen.run.algorithm.startswith("tum") else ("attributes", "items")
    sentence = (
        f"delta says how much of the {gives}' detail may be given up for that of the {keeps}, 0 to 1; tried:"
        f" {', '.join(tried)}."
    )
    if default is not None and default is not advice.chosen:
        sentence += f" With the default, {float(DEFAULT_DELTA)}, the error is {_errors(default)}."
    return [sentence]


def _worse_than_zero(advice: Advice) -> list[str]:
    """The kinds of question to which 0 would be nearer on average."""
    rows = [row for row in advice.chosen.figures["symmetric_errors"] if row["relative"] > 1]
    if not rows:
        return []
    named = ", ".join(f"{row['kind']} {row['relative']:.3g}" for row in rows)
    words = (
        f"Answering 0 would be nearer on average for these (mean of |truth - estimate| / truth): {named}. Read the bounds of"
        " such answers."
    )
    if advice.profile is not None and not advice.profile.items:
        return [f"{words} Fewer quasi-identifiers, or a smaller k, would help."]
    return [
        f"{words} Item supports would help, and are not possible with attributes, as these lead to private items"
        " (docs/item_supports.md)."
    ]


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
    name = other.run.name + ("" if "delta" in other.run.options or supported(other) else " without item supports")
    return f"error {_errors(chosen)} instead of {_errors(other)} by {name}; {seconds}"


def _errors(result: Result) -> str:
    """The error of a run, and its parts."""
    named = [f"{row['kind']} {figure2(row['error'])}" for row in result.figures["symmetric_errors"]]
    return f"{figure2(error(result))} ({', '.join(named)})"


def figure2(value: float | None) -> str:
    """A number with two digits behind the point."""
    return "-" if value is None else f"{value:.2f}"


def _runs(title: str, results: tuple[Result, ...]) -> Section:
    kinds = dict.fromkeys(row["kind"] for r in results for row in r.figures.get("symmetric_errors", ()))
    kinds = kinds or dict.fromkeys((ITEMS, PAIRS))
    head = ("run", "error", *kinds, "deleted", "NCP", "CPU s", "MiB", "outcome")
    stopped = [f"{r.run.name}: {r.message}" for r in results if r.status not in ("done", "timeout")]
    ordered = sorted(results, key=lambda r: 2.0 if (e := error(r)) is None else e + deletes_most(r))
    rows = tuple(_row(result, tuple(kinds)) for result in ordered)
    return Section(title, head, rows, tuple(dict.fromkeys(stopped)), tuple(range(1, len(head) - 1)))


def _row(result: Result, kinds: tuple[str, ...]) -> tuple[str, ...]:
    costs = (f"{result.cpu_seconds:.1f}", f"{result.peak_mib:,.0f}")
    if result.status != "done":
        outcome = "no time left" if result.status == "timeout" else result.status
        return (result.run.name, *["-"] * (len(kinds) + 3), *costs, outcome)
    by_kind = {row["kind"]: row["error"] for row in result.figures["symmetric_errors"]}
    deleted = share(result.figures["suppressed_occurrences"], result.figures["occurrences"])
    ncp = result.figures["ncp"]
    figures = (figure2(error(result)), *(figure2(by_kind.get(kind)) for kind in kinds), deleted)
    outcome = "deletes most" if deletes_most(result) else "done"
    return (result.run.name, *figures, "-" if ncp is None else f"{100 * ncp:.3g} %", *costs, outcome)
