"""Write the report of a comparison: one self-contained HTML file that helps the owner choose a release.

It contains labels and exact figures of the original data: like the ledger, it is for the owner and not for publication.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from anondb import __version__
from anondb.compare.merits import (
    asked_the_same,
    deletes_most,
    frequent_queries,
    least,
    median_frequent,
    share_suppressed,
    suppressed_words,
    useful_error,
)
from anondb.compare.plots import bars, lines, mark, number, scatter
from anondb.compare.runs import Result, Setting, frontier
from anondb.errors import InputError
from anondb.models.named import make_model
from anondb.utility.errors import FIGURES

Value = Callable[[Result], float | None]

STYLE = """
:root { --ink: #1b1b1b; --paper: #fff; --soft: #666; --faint: #ddd; --fill: #8aa; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --paper: #171717; --soft: #aaa; --faint: #444; --fill: #577; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } h3 { font-size: 1rem; margin-bottom: .2rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--faint); text-align: right; white-space: nowrap; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2), td.text { text-align: left; }
td.text { white-space: normal; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(26rem, 1fr)); gap: 1rem; } figure { margin: 0; }
svg { width: 100%; height: auto; color: var(--ink); } .legend svg { width: 1.2rem; height: 1.2rem; vertical-align: -.3rem; }
.axis, .tick, .name { font: 12px system-ui, sans-serif; fill: var(--ink); } .tick { fill: var(--soft); }
.grid { stroke: var(--faint); } .line, .ring { fill: none; stroke: var(--ink); stroke-width: 1.6; } .bar { fill: var(--fill);
  stroke: var(--ink); } .note { color: var(--soft); font-size: .9rem; } .legend span { margin-right: 1.2rem; }
"""

# The attacks that a promise covers, and those that it does not (docs/algorithms/limits.md).
PROMISES: Mapping[str, tuple[str, str]] = {
    "km": (
        "An attacker who knows up to m items of a person finds none or at least k transactions that hold them all.",
        "Knowledge of items that a person does not have, of quantities or order, or that a person is in the data at all; and"
        " facts that all k candidates share: if all have the same diagnosis, it is known. m + 1 known items may single out a"
        " person.",
    ),
    "k": (
        "Every published transaction equals at least k - 1 others, so any number of known items leaves k candidates.",
        "Facts that all k candidates share. Levels of the taxonomy are mixed, so the support of an original item is"
        " ambiguous, and a coarse label beside finer ones suggests that it does not stand for those.",
    ),
    "hkp": (
        "An attacker who knows up to p public items has at least k candidates, and guesses no private item of the person"
        " with a confidence above h.",
        "Attackers who already know a private item, or items that a person does not have; and attackers with other prior"
        " beliefs.",
    ),
}


def write_report(path: str, results: Sequence[Result], setting: Setting, facts: Mapping[str, Any]) -> None:
    """Write the report.

    Args:
        path: the new file; an existing one is replaced.
        results: the results, in the order of the runs.
        setting: the shared inputs and limits of the runs.
        facts: transactions, items, occurrences and longest transaction of the source.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        Path(path).write_text(page(results, setting, facts), encoding="utf-8")
    except OSError:
        raise InputError(f"The file {Path(path).name!r} cannot be written.", code="bad_path") from None


def page(results: Sequence[Result], setting: Setting, facts: Mapping[str, Any]) -> str:
    """The HTML of the report."""
    done = [r for r in results if r.status == "done"]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(r.run.algorithm for r in results))}
    body = [
        f"<h1>Comparison of anonymizations of {escape(str(facts['source']))}</h1>",
        f"<p>{facts['transactions']:,} transactions, {facts['items']:,} items, {facts['occurrences']:,} occurrences, the"
        f" longest transaction has {facts['longest']:,} items. {len(results)} runs, {len(done)} of them done.</p>",
        '<p class="note">This page contains exact figures and labels of the original data. It is for the owner, not for'
        " publication.</p>",
        _answer(done),
        _table(results),
        _plots(done, numbers),
        _frontier(done, numbers),
        _generalized(done),
        _promises(results),
        _measures(setting),
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width"><title>anondb compare</title>'
    )
    return (
        f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body>{"".join(body)}</body></html>\n'
    )


def _strength(result: Result) -> str:
    """The promise, as HTML."""
    return re.sub(r"\^(\w+)", r"<sup>\1</sup>", escape(make_model(result.run.model, **result.run.parameters).promise))


def _asked(result: Result) -> tuple[Any, ...]:
    """The parameters that comparable results must share: k, and m if the promise has one."""
    return tuple(result.run.parameters.get(name) for name in ("k", "m", "p", "h"))


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.3g} %"


def _answer(done: Sequence[Result]) -> str:
    """The summary: for each promise, the runs with the least loss, the best answers and the shortest time. The suppression
    of each run follows its name; a run that deletes most items is not named (see ``merits``)."""
    parts = []
    for asked in dict.fromkeys(map(_asked, done)):
        some = [r for r in done if _asked(r) == asked]
        named = [r for r in some if not deletes_most(r)]
        said = [*_praise(named), *_not_named(some)]
        parts.append(f"<li>{_strength(some[0])}: {'; '.join(said)}.</li>")
    return f"<h2>In short</h2><ul>{''.join(parts)}</ul>" if parts else "<h2>In short</h2><p>No run was done.</p>"


def _praise(named: Sequence[Result]) -> list[str]:
    """Sentences on the measures in which each run is best; a single run is not compared."""
    if not named:
        return []
    if len(named) == 1:
        error = f"the median error of its {_queries(named[0])} {_shown(median_frequent(named[0]))}"
        loss = _percent(named[0].figures["ncp"])
        return [f"{_who(named[0])} has no other run to compare with; its loss (NCP) is {loss}, {error}"]
    said: dict[str, list[str]] = {}
    same = asked_the_same(named)
    for words, value, shown, of_answers in _MERITS:
        best = least(named, value) if same or not of_answers else []
        if best:
            figure = shown(value(best[0]) or 0.0)
            figure += f" over {_queries(best[0])}" if value is useful_error else ""
            said.setdefault(" and ".join(map(_who, best)), []).append(f"{words} {figure}")
    parts = [f"{who}: {', '.join(what)}" for who, what in said.items()]
    if not same:
        parts.append("errors and bounds are not compared, since the runs answered different queries")
    elif all(median_frequent(r) is None for r in named):
        parts.append("errors are not compared, since no query has a truth of k or more")
    elif not any(useful_error(r) is not None for r in named):
        parts.append("no run answers COUNT queries with truth &ge; k better than the constant answer 0")
    return parts


# The measures in which a run may be named best: text, value, format, and whether it depends on the queries.
_MERITS: tuple[tuple[str, Value, Callable[[float], str], bool], ...] = (
    ("the least loss (NCP),", lambda r: r.figures["ncp"], lambda value: _percent(value), False),
    ("the smallest median error of COUNT queries,", useful_error, number, True),
    ("the narrowest bounds (transactions on average),", lambda r: r.figures["bounds_width"], number, True),
    ("the shortest time (CPU seconds),", lambda r: r.cpu_seconds, lambda value: f"{value:.1f}", False),
)


def _queries(result: Result) -> str:
    return f"{frequent_queries(result):,} queries with truth &ge; k"


def _who(result: Result) -> str:
    return f"<b>{escape(result.run.algorithm)}</b> ({suppressed_words(result)})"


def _not_named(some: Sequence[Result]) -> list[str]:
    """The runs that are not compared."""
    most = [f"{escape(r.run.algorithm)} ({suppressed_words(r)})" for r in some if deletes_most(r)]
    return [f"not compared, since it deletes most: {', '.join(most)}"] if most else []


def _table(results: Sequence[Result]) -> str:
    errors = (
        "queries, truth &ge; k",
        "median error of them",
        "mean",
        "median error, all",
        "mean",
        "answer 0",
        "median truth",
    )
    costs = ("wall s", "CPU s", "peak MiB")
    names = (*errors, "bounds' width", "suppressed items", "of occurrences", "NCP", "LM", "released", *costs)
    head = "".join(f"<th>{name}</th>" for name in ("algorithm", "promise", *names))
    rows = []
    for r in results:
        cells = f"<td>{escape(r.run.algorithm)}</td><td>{_strength(r)}</td>"
        if r.status == "done":
            values = [f"{frequent_queries(r):,}"]
            values += [_shown(r.figures["relative_error"][n]) for n in FIGURES if n != "width"]
            values += [_shown(r.figures["bounds_width"]), f"{r.figures['suppressed_items']:,}"]
            values += [_percent(share_suppressed(r)), _percent(r.figures["ncp"]), _percent(r.figures["lm"])]
            values += [f"{r.figures['released_items']:,}"]
            values += [f"{r.seconds:.2f}", f"{r.cpu_seconds:.2f}", f"{r.peak_mib:,.0f}"]
            cells += "".join(f"<td>{value}</td>" for value in values)
        else:
            cells += f'<td class="text" colspan="{len(names)}">{escape(r.status)}: {escape(str(r.message))}</td>'
        rows.append(f"<tr>{cells}</tr>")
    return f'<h2>All runs</h2><div class="scroll"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _shown(value: float | None) -> str:
    return "-" if value is None else number(value)


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
    """Plots of every measure against k and against m if they vary, else a bar for each algorithm."""
    if not done:
        return ""
    marks = "".join(
        f'<span><svg viewBox="0 0 14 14">{mark(i, 7, 7)}</svg> {escape(name)}</span>' for name, i in numbers.items()
    )
    parts = [f'<h2>Loss, accuracy, time and memory</h2><p class="legend">{marks}</p>']
    varied = False
    for axis, fixed in (("k", "m"), ("m", "k")):
        for value in dict.fromkeys(str(r.run.parameters.get(fixed, "any")) for r in done):
            some = [r for r in done if str(r.run.parameters.get(fixed, value)) == value and axis in r.run.parameters]
            if len({_number(r.run.parameters[axis]) for r in some}) < 2:
                continue
            varied = True
            of = "" if value == "any" else f" at {fixed} = {value}"
            parts.append(f"<h3>Against {axis}{of}</h3>" + _figures(some, axis, numbers))
    if not varied:
        for asked in dict.fromkeys(map(_asked, done)):
            some = [r for r in done if _asked(r) == asked]
            parts.append(f"<h3>{_strength(some[0])}</h3>" + _figures(some, None, numbers))
    return "".join(parts)


def _number(value: Any) -> float:
    return math.inf if value == "inf" else float(value)


def _figures(some: Sequence[Result], axis: str | None, numbers: Mapping[str, int]) -> str:
    figures = []
    for title, unit, value in MEASURES:
        drawn = [(r, v) for r in some if (v := value(r)) is not None]
        if not drawn:
            continue
        named = [(r.run.algorithm, r, v) for r, v in drawn]
        if title == ERROR:
            named += [(ZERO, r, r.figures["relative_error"]["always_zero"]) for r, _ in drawn]
        if axis is None:
            plot = bars(title, {name: v for name, _, v in named}, "")
        else:
            finite = [
                (name, _number(r.run.parameters[axis]), v) for name, r, v in named if r.run.parameters[axis] != "inf"
            ]
            series = {
                name: sorted({(x, v) for other, x, v in finite if other == name})
                for name in dict.fromkeys(name for name, *_ in finite)
            }
            plot = lines(title, axis, unit, series, {**numbers, ZERO: len(numbers)})
        figures.append(f"<figure><h3>{title} ({unit})</h3>{plot}</figure>")
    return f'<div class="plots">{"".join(figures)}</div>'


def _frontier(done: Sequence[Result], numbers: Mapping[str, int]) -> str:
    best = frontier([r for r in done if not deletes_most(r)])
    if not best:
        return ""
    figures = []
    for m in dict.fromkeys(str(r.run.parameters.get("m", "any")) for r in done):
        points = [
            (100 * r.figures["ncp"], float(r.run.parameters["k"]), r.run.algorithm, _ring(r) if r in best else None)
            for r in done
            if r.figures["ncp"] is not None and str(r.run.parameters.get("m", m)) == m
        ]
        if len({k for _, k, *_ in points}) > 1:
            title = "Privacy against loss" + ("" if m == "any" else f", m = {m}")
            plot = scatter(title, "information loss, NCP %", "k", points, numbers)
            figures.append(f"<figure><h3>{title}</h3>{plot}</figure>")
    listed = "".join(f"<li>{_strength(r)} by {_who(r)}: NCP {_percent(r.figures['ncp'])}</li>" for r in best)
    return (
        "<h2>Privacy against loss</h2><p>The frontier: no other run keeps a k and an m at least as large and loses less,"
        " runs that delete most items or occurrences left out. In the plots it has rings, with the share of the occurrences"
        f' that are suppressed.</p><ul>{listed}</ul><div class="plots">{"".join(figures)}</div>'
    )


def _ring(result: Result) -> str:
    """The note beside a run on the frontier."""
    return f"{_percent(share_suppressed(result))} suppressed"


def _generalized(done: Sequence[Result]) -> str:
    """The most frequent generalized items of each algorithm under the first promise."""
    parts = []
    for name in dict.fromkeys(r.run.algorithm for r in done):
        first = next(r for r in done if r.run.algorithm == name)
        items = first.figures["generalized"]
        if not items:
            parts.append(f"<h3>{escape(name)}</h3><p>No item is generalized.</p>")
            continue
        share = first.figures["transactions"]
        rows = "".join(
            f'<tr><td class="text">{escape(i["item"])}</td><td>{i["size"]:,}</td><td>{i["support"]:,}</td>'
            f"<td>{_percent(i['support'] / share)}</td></tr>"
            for i in items
        )
        head = "<tr><th>generalized item</th><th>stands for items</th><th>transactions</th><th>share</th></tr>"
        parts.append(
            f'<h3>{escape(name)}, {_strength(first)}</h3><div class="scroll"><table>{head}{rows}</table></div>'
        )
    return "<h2>The most frequent generalized items</h2>" + "".join(parts) if parts else ""


def _promises(results: Sequence[Result]) -> str:
    parts = ["<h2>What each promise covers</h2>"]
    for name in dict.fromkeys(r.run.model for r in results):
        covered, missing = PROMISES[name]
        who = ", ".join(dict.fromkeys(r.run.algorithm for r in results if r.run.model == name))
        words = ", ".join(dict.fromkeys(_strength(r) for r in results if r.run.model == name))
        parts.append(
            f"<h3>{words} ({escape(who)})</h3><p><b>Covered.</b> {covered}</p><p><b>Not covered.</b> {missing}</p>"
        )
    parts.append(
        "<p>None of them is differential privacy. Releases of overlapping data can be joined; algorithms are deterministic,"
        " and an attacker who knows algorithm and parameters can rule out some originals.</p>"
    )
    return "".join(parts)


def _measures(setting: Setting) -> str:
    asked = (
        f"{setting.queries:,} random queries of {setting.size} items (seed {setting.seed}, drawn from {setting.draw})"
    )
    if setting.workload or setting.log:
        asked = "the owner's own queries"
    return (
        "<h2>How to read the figures</h2><ul>"
        "<li>NCP and LM: from 0 % (nothing changed) to 100 % (all suppressed), averaged over the original occurrences. NCP"
        " is the share of the domain that an item was generalized to; a suppressed item counts fully.</li>"
        f"<li>Errors: |truth - estimate| / truth over {asked}. The median over the queries with truth &ge; k is the expected"
        " error of a count that k persons or more share; the rarest queries decide the mean over all. Answer 0: the error of"
        " answering 0 to every query. A release answers 0 for deleted items, so its error comes close to this; if the error"
        " of a release is larger, its estimates are worse than 0, and only its bounds are useful. Bounds' width: mean"
        " difference of the guaranteed upper and lower bound, in transactions.</li>"
        "<li>Suppressed: items that are deleted everywhere, and deleted occurrences. A run that deletes more than half of"
        " the items or occurrences is not named as best: deleting makes errors small without better answers.</li>"
        "<li>Time and memory: those of the whole process, from reading the source to the verified release; limits were"
        f" {setting.time_limit:g} s and {escape(str(setting.memory_limit))} for each run.</li>"
        f"</ul><p class='note'>Made by anondb {__version__}.</p>"
    )
