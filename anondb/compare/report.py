"""Write the report of a comparison: one self-contained HTML file that helps the owner choose a release. It contains labels
and exact figures of the original data: like the ledger, it is for the owner and not for publication."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from anondb.compare.merits import (
    MEANINGS,
    Value,
    asked_the_same,
    deletes_most,
    frequent_queries,
    frontier,
    judged,
    least,
    median_frequent,
    name_of,
    recommended,
    share_suppressed,
    suppressed_words,
    terms,
    useful_error,
)
from anondb.compare.runs import Result, Setting
from anondb.models.named import make_model
from anondb.pages.html import page, table
from anondb.pages.plots import bars, lines, mark, scatter
from anondb.pages.text import label, number, or_dash, percent, raised
from anondb.promises import PROMISES


def comparison(results: Sequence[Result], setting: Setting, facts: Mapping[str, Any]) -> str:
    """The HTML of the report."""
    done = [r for r in results if r.status == "done"]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(r.run.name for r in results))}
    body = [
        f"<h1>Comparison of anonymizations of {label(str(facts['source']))}</h1>",
        f"<p>{facts['transactions']:,} transactions, {facts['items']:,} items, {facts['occurrences']:,} occurrences, the"
        f" longest transaction has {facts['longest']:,} items. {len(results)} runs, {len(done)} of them done.</p>",
        '<p class="owner">This page contains exact figures and labels of the original data. It is for the owner, not for'
        " publication.</p>",
        recommendation(done),
        _answer(done),
        _measures(setting, results),
        _promises(results),
        runs_tables(results),
        _plots(done, numbers),
        _generalized(done),
    ]
    return page("anondb compare", body)


def recommendation(done: Sequence[Result]) -> str:
    """The recommendation with its reason, and risk against error."""
    chosen, points, best = recommended(done), judged(done), frontier(done)
    if not chosen:
        return "<h2>Recommendation</h2><p>None: no runs have errors of the same questions and a measured risk.</p>"
    listed = "".join(f"<li><b>{raised(name_of(r))}</b>: {raised(why)}</li>" for r, why in chosen)
    numbers = {name: i for i, name in enumerate(dict.fromkeys(r.run.algorithm for *_, r in points))}
    drawn = [
        (e, 100 * c, r.run.algorithm, name_of(r) + ("; on the frontier" if r in best else ""), r in best)
        for e, c, r in points
    ]
    plot = scatter("Risk against error", "mean error", "chance of a guess, %", drawn, numbers)
    return (
        f'<h2>Recommendation</h2><div class="plots"><ul>{listed}</ul><figure><h3>Risk against error</h3>{plot}'
        f"<figcaption>Left and low is best. Error: {MEANINGS['error']}."
        f" Rings, joined: no other run has less of both. On this frontier: {'; '.join(raised(name_of(r)) for r in best)}."
        " Runs that delete most items or occurrences, or list fewer groups of your queries, are left out."
        " Names appear at the pointer.</figcaption></figure></div>"
    )


def _strength(result: Result) -> str:
    """The promise, as HTML."""
    return raised(make_model(result.run.model, **result.run.parameters).promise)


def _by_promise(results: Sequence[Result]) -> Iterable[list[Result]]:
    """The results in groups that can be compared: those of the same promise with the same parameters."""
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        groups.setdefault((result.run.model, *result.run.parameters.items()), []).append(result)
    return groups.values()


def _answer(done: Sequence[Result]) -> str:
    """The summary: for each promise, the runs with the least loss, the best answers and the shortest time. The suppression
    of each run follows its name; a run that deletes most items is not named (see ``merits``)."""
    parts = []
    for runs in _by_promise(done):
        named = [r for r in runs if not deletes_most(r)]
        sentences = _praise(named)
        most = [f"{label(r.run.name)} ({suppressed_words(r)})" for r in runs if deletes_most(r)]
        sentences += [f"not compared, since it deletes most: {', '.join(most)}"] if most else []
        parts.append(f"<li>{_strength(runs[0])}: {'; '.join(sentences)}.</li>")
    return f"<h2>In short</h2><ul>{''.join(parts)}</ul>" if parts else "<h2>In short</h2><p>No run was done.</p>"


def _praise(named: Sequence[Result]) -> list[str]:
    """Sentences on the measures in which each run is best; a single run is not compared."""
    if not named:
        return []
    if len(named) == 1:
        error = f"the median error of its {_queries(named[0])} {or_dash(median_frequent(named[0]))}"
        loss = percent(named[0].figures["ncp"])
        return [f"{_who(named)} has no other run to compare with; its loss (NCP) is {loss}, {error}"]
    merits: dict[str, list[str]] = {}
    same = asked_the_same(named)
    for words, value, shown, of_answers in _MERITS:
        best = least(named, value) if same or not of_answers else []
        if best:
            figure = shown(value(best[0]) or 0.0)
            figure += f" over {_queries(best[0])}" if value is useful_error else ""
            merits.setdefault(_who(best), []).append(f"{words} {figure}")
    parts = [f"{who}: {', '.join(what)}" for who, what in merits.items()]
    if not same:
        parts.append("errors and bounds are not compared, since the runs answered different queries")
    elif all(median_frequent(r) is None for r in named):
        parts.append("errors are not compared, since no query has a truth of k or more")
    elif not any(useful_error(r) is not None for r in named):
        parts.append("no run answers COUNT queries with truth &ge; k better than the constant answer 0")
    return parts


# The measures in which a run may be named best: text, value, format, and whether it depends on the queries.
_MERITS: tuple[tuple[str, Value, Callable[[float], str], bool], ...] = (
    ("the least loss (NCP),", lambda r: r.figures["ncp"], lambda value: percent(value), False),
    ("the smallest median error of COUNT queries,", useful_error, number, True),
    ("the narrowest bounds (transactions on average),", lambda r: r.figures["bounds_width"], number, True),
    ("the shortest time (CPU seconds),", lambda r: r.cpu_seconds, lambda value: f"{value:.1f}", False),
)


def _queries(result: Result) -> str:
    return f"{frequent_queries(result):,} queries with truth &ge; k"


def _who(results: Sequence[Result]) -> str:
    """The algorithms, each with what it suppressed; the words stand once for those that share them."""
    who: dict[str, list[str]] = {}
    for result in results:
        who.setdefault(suppressed_words(result), []).append(f"<b>{label(result.run.name)}</b>")
    return " and ".join(f"{', '.join(names)} ({words})" for words, names in who.items())


HEAD = (
    *("algorithm", "queries, truth &ge; k", "error of them, median / mean", "error of all, median / mean", "answer 0"),
    *("median truth", "bounds' width", "persons alone", "chance of a guess", "suppressed items", "share suppressed"),
    *("NCP", "LM", "released items", "CPU s", "wall s", "MiB"),
)


def runs_tables(results: Sequence[Result]) -> str:
    """A table for each promise."""
    tables = (f"<h3>{_strength(runs[0])}</h3>{table(HEAD, map(_row, runs))}" for runs in _by_promise(results))
    return "".join(["<h2>All runs</h2>", *tables])


def _row(r: Result) -> list[str]:
    """The figures of a run, or its outcome."""
    if r.status != "done":
        return [label(r.run.name), f"{label(r.status)}: {label(str(r.message), 500)}"]
    errors = r.figures["relative_error"]
    risk = r.figures.get("risk")
    return [
        label(r.run.name),
        f"{frequent_queries(r):,}",
        f"{or_dash(errors['median_frequent'])} / {or_dash(errors['mean_frequent'])}",
        f"{or_dash(errors['median'])} / {or_dash(errors['mean'])}",
        *(or_dash(errors[name]) for name in ("always_zero", "median_truth")),
        or_dash(r.figures["bounds_width"]),
        *(("-", "-") if risk is None else (f"{risk['after']['alone']:,}", percent(risk["after"]["chance"]))),
        f"{r.figures['suppressed_items']:,}",
        *(percent(share) for share in (share_suppressed(r), r.figures["ncp"], r.figures["lm"])),
        f"{r.figures['released_items']:,}",
        f"{r.cpu_seconds:.2f}",
        f"{r.seconds:.2f}",
        f"{r.peak_mib:,.0f}",
    ]


ERROR = "Error of COUNT queries with a truth of k or more"
ZERO = "answer 0"  # the baseline of the errors
MEASURES: tuple[tuple[str, str, Value], ...] = (
    ("Information loss", "NCP, %", lambda r: None if r.figures["ncp"] is None else 100 * r.figures["ncp"]),
    (ERROR, "median relative error", median_frequent),
    ("Suppressed", "% of the occurrences", lambda r: 100 * share_suppressed(r)),
    ("Width of guaranteed bounds", "transactions", lambda r: r.figures["bounds_width"]),
    ("Time", "CPU seconds", lambda r: r.cpu_seconds),
    ("Memory", "peak MiB", lambda r: r.peak_mib),
)


def _plots(done: Sequence[Result], numbers: Mapping[str, int]) -> str:
    """Plots of every measure against k and against m if they vary, else a bar for each algorithm. The other parameter has
    its smallest and its largest value there: a plot for each value would make a page that nobody reads."""
    if not done:
        return ""
    marks = "".join(
        f'<span><svg viewBox="0 0 14 14">{mark(i, 7, 7)}</svg> {label(name)}</span>' for name, i in numbers.items()
    )
    parts = [f'<h2>Loss, accuracy, time and memory</h2><p class="legend">{marks}</p>']
    varied = False
    for axis, fixed in (("k", "m"), ("m", "k")):
        for value in _ends(done, fixed):
            runs = [r for r in done if str(r.run.parameters.get(fixed, value)) == value and axis in r.run.parameters]
            if len({_number(r.run.parameters[axis]) for r in runs}) < 2:
                continue
            varied = True
            of = "" if value == "any" else f" at {fixed} = {value}"
            parts.append(f"<h3>Against {axis}{of}</h3>" + _figures(runs, axis, numbers))
    if varied:
        parts.append(
            '<p class="note">Plots against k are at the smallest and the largest m, those against m at the smallest and the'
            " largest k. The tables above have all values.</p>"
        )
    else:
        for runs in _by_promise(done):
            parts.append(f"<h3>{_strength(runs[0])}</h3>" + _figures(runs, None, numbers))
    return "".join(parts)


def _ends(done: Sequence[Result], name: str) -> list[str]:
    """The smallest and the largest value of a parameter; ``any`` if no run has it."""
    values = sorted({str(r.run.parameters[name]) for r in done if name in r.run.parameters}, key=_number)
    return list(dict.fromkeys((values[0], values[-1]))) if values else ["any"]


def _number(value: Any) -> float:
    return math.inf if value == "inf" else float(value)


def _figures(runs: Sequence[Result], axis: str | None, numbers: Mapping[str, int]) -> str:
    figures = []
    for title, unit, value in MEASURES:
        drawn = [(r, v) for r in runs if (v := value(r)) is not None]
        if not drawn:
            continue
        named = [(r.run.name, r, v) for r, v in drawn]
        if title == ERROR:
            named += [(ZERO, r, r.figures["relative_error"]["always_zero"]) for r, _ in drawn]
        if axis is None:
            plot = bars(title, {name: v for name, _, v in named}, "")
        else:
            finite = [(name, _number(r.run.parameters[axis]), v) for name, r, v in named if r.run.parameters[axis] != "inf"]
            series = {
                name: sorted({(x, v) for other, x, v in finite if other == name})
                for name in dict.fromkeys(name for name, *_ in finite)
            }
            plot = lines(title, axis, unit, series, {**numbers, ZERO: len(numbers)})
        figures.append(f"<figure><h3>{title} ({unit})</h3>{plot}</figure>")
    return f'<div class="plots">{"".join(figures)}</div>'


def _generalized(done: Sequence[Result]) -> str:
    """The most frequent generalized items of each algorithm under the strictest promise."""
    parts = []
    for name in dict.fromkeys(r.run.algorithm for r in done):
        runs = [r for r in done if r.run.algorithm == name and not r.run.options.get("item_supports")]
        runs = runs or [r for r in done if r.run.algorithm == name]
        strictest = max(runs, key=lambda r: [_number(r.run.parameters.get(p, 0)) for p in ("k", "m")])
        items, transactions = strictest.figures["generalized"], strictest.figures["transactions"]
        rows = [
            [label(i["item"]), f"{i['size']:,}", f"{i['support']:,}", percent(i["support"] / transactions)] for i in items
        ]
        listed = table(("generalized item", "stands for", "transactions", "share"), rows)
        parts.append(
            f"<h3>{label(name)}, {_strength(strictest)}</h3>{listed if items else '<p>No item is generalized.</p>'}"
        )
    return "<h2>The most frequent generalized items</h2>" + "".join(parts) if parts else ""


def _promises(results: Sequence[Result]) -> str:
    parts = ["<h2>What each promise covers</h2>"]
    for name in dict.fromkeys(r.run.model for r in results):
        covered, missing = PROMISES[name].covers()
        who = ", ".join(dict.fromkeys(r.run.algorithm for r in results if r.run.model == name))
        words = ", ".join(dict.fromkeys(_strength(r) for r in results if r.run.model == name))
        parts.append(
            f"<h3>{words} ({label(who, 999)})</h3><p><b>Covered.</b> {label(covered, 999)}</p>"
            f"<p><b>Not covered.</b> {label(missing, 999)}</p>"
        )
    parts.append(
        "<p>None of them is differential privacy. Releases of overlapping data can be joined; algorithms are deterministic,"
        " and an attacker who knows algorithm and parameters can rule out some originals.</p>"
    )
    return "".join(parts)


def _measures(setting: Setting, results: Sequence[Result]) -> str:
    asked = f"{setting.queries:,} random queries of {setting.size} items"
    asked += f" (seed {setting.seed}, drawn from {setting.draw})" if setting.queries else ", so that there are none"
    if setting.places.get("log"):
        asked = "counts by attributes, and in ranges of them"
    if setting.workload or setting.log:
        asked = "the owner's own queries"
    width, loss = MEANINGS["bounds' width"], MEANINGS["loss (NCP)"]
    own = "".join(f"<li>{name}: {words}.</li>" for name, words in terms(results).items() if name not in MEANINGS)
    return (
        f"<h2>How to read the figures</h2><ul>{own}<li>NCP: {loss}. A suppressed item counts fully. LM: from 0 % to 100 %, "
        f"too.</li><li>Errors: |truth - estimate| / truth over {asked}. The median over the queries with truth &ge; k is "
        "the expected error of a count that k persons or more share; the rarest queries decide the mean over all. Answer 0: "
        "the error of answering 0 to every query. A release answers 0 for deleted items, so its error comes close to this; "
        "if the error of a release is larger, its estimates are worse than 0, and only its bounds are useful. Bounds' "
        f"width: {width}.</li><li>Chance of a guess: {MEANINGS['chance of a guess']}. Persons alone: "
        f"{MEANINGS['persons alone']}.</li><li>Suppressed: {MEANINGS['suppressed']}. A run that deletes more than half of "
        "the items or occurrences is not named as best: deleting makes errors small without better answers.</li><li>Time "
        "and memory: those of the whole process, from reading the source to the verified release; limits were "
        f"{setting.time_limit:g} s and {label(str(setting.memory_limit))} for each run.</li></ul>"
    )
