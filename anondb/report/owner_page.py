"""The owner's page on a release. It contains true counts and labels of the source: it stays with the owner."""

from collections.abc import Iterator
from fractions import Fraction

from anondb.models.named import model_of
from anondb.pages.counts import Answered, Shares, against_truth, intervals, shares, spread
from anondb.pages.html import both, page, table, tiles
from anondb.pages.text import counted, label, number, or_dash, percent, raised
from anondb.pages.treemap import Cell
from anondb.report.answers import Asked, by_support, figures
from anondb.report.owner import CHANGED, GONE, OwnerReport, Suppressed
from anondb.report.parts import MOST_ROWS, cells, generalized, item_map, kind_words, more, promise

LOSSES = (
    ("ncp", "NCP", "the share of all items that a released item stands for; 100 % for a suppressed item"),
    ("lm", "LM", "as NCP, but counts the other items: 0 for an item as itself, 100 % for one that stands for all"),
)
RECORD_LOSSES = (("ncp", "NCP", "the mean share of an attribute's values that a published range or set spans"),)


def owner_page(report: OwnerReport) -> str:
    """The whole page."""
    entry, contents = report.entry, report.contents
    origin = f"by {label(entry.algorithm)}, made on {entry.created:%Y-%m-%d %H:%M} UTC by {label(entry.user_name)}"
    body = [
        f"<h1>Release {label(entry.name)}</h1>",
        f"<p>{raised(contents.promise)} {origin}; source: {label(entry.source_table)}.</p>",
        '<p class="owner">This page has true counts and labels of the source. It is for the owner; analysts get the page of'
        " <code>--public</code>.</p>",
        _source(report),
        "".join(f"<p>{raised(label(line, 1000))}.</p>" for line in report.read),
        tiles(_tiles(report)),
        promise(contents, f"<p><b>Verified.</b> {VERIFIED}</p>"),
        _recoding(report),
        _loss(report),
        _attributes(report),
        _accuracy(report),
        _risk(report),
        _overlaps(report),
        _seconds(report),
    ]
    return page(f"anondb report: {entry.name}", body)


VERIFIED = (
    "A verifier that shares no code with the algorithm checked the frozen rows and returned no violation; otherwise the"
    " release would not have been kept. <code>anondb verify</code> checks them again."
)


def _source(report: OwnerReport) -> str:
    if report.source == GONE:
        return (
            "<p><b>The source cannot be read any more</b>, so the truth is that of the run that made the release,"
            " and no attacker is simulated.</p>"
        )
    if report.source == CHANGED:
        return (
            "<p><b>The source has changed since the release was made.</b> The truth below is that of today, so it may lie"
            " outside the bounds.</p>"
        )
    return ""


def _tiles(report: OwnerReport) -> Iterator[tuple[str, str, str]]:
    """The main figures."""
    entry, contents = report.entry, report.contents
    yield "transactions", f"{entry.transactions:,}", f"with {counted(entry.items, 'different item')}"
    if contents.buckets is None:
        several = len(contents.generalized)
        yield "released items", f"{len(contents.items):,}", f"{several:,} stand for several items"
        yield "suppressed items", f"{entry.suppressed_items:,}", counted(entry.suppressed_occurrences, "occurrence")
    else:
        yield "buckets", f"{contents.buckets.buckets:,}", counted(contents.buckets.columns, "column")
    if entry.ncp is not None:
        of = " of the attributes" if contents.release.kind.attributes is not None else ""
        yield "information loss", percent(entry.ncp), f"NCP{of}, 0 % to 100 %"
    for asked in report.asked[:2]:
        group = figures(asked.words, asked.answers, report.k)
        if group.frequent_error is not None:
            yield f"error, {label(asked.words)}", percent(group.frequent_error), f"median where truth &ge; {report.k}"
    attack = next((attack for attack in reversed(report.attacks) if report.covers(attack)), None)  # the strongest of them
    if attack is not None:
        before, after = (percent(c.below_k / attack.individuals) for c in (attack.before, attack.after))
        yield "persons at risk", after, f"with {counted(attack.known, 'item')} known; {before} in the source"


def _recoding(report: OwnerReport) -> str:
    """What was generalized and suppressed, and why."""
    contents = report.contents
    gone = [Cell(s.label, "suppressed", s.support, 0) for s in report.suppressed if s.support]
    rest = " Orange: suppressed, by the number of transactions that held it." if gone else ""
    return (
        f"<h2>What was generalized and suppressed, and why</h2><p>{kind_words(contents)} {_why(report)}</p>"
        + item_map(contents, [*cells(contents.items), *gone], rest)
        + generalized(contents, report.reasons)
        + _suppressed(report)
    )


def _why(report: OwnerReport) -> str:
    """The general reason for what was generalized."""
    contents, k = report.contents, report.k
    if contents.buckets is not None:
        return ""
    if not contents.generalized:
        return "" if report.entry.suppressed_occurrences else "No item was generalized or suppressed."
    if report.stopped:
        return (
            "The algorithm went down the taxonomy from its root and stopped where no further step lowered the loss: below,"
            f" items or combinations that fewer than {k:,} transactions hold would have to be suppressed, which costs more."
        )
    return (
        "Items were brought together until every combination that the promise covers was held by no transaction, or by at"
        f" least {k:,}."
    )


def _suppressed(report: OwnerReport) -> str:
    entry, items = report.entry, report.suppressed
    if not items:
        if not entry.suppressed_occurrences:
            return ""
        return (
            f"<p>{counted(entry.suppressed_occurrences, 'occurrence')} of items were suppressed, in"
            f" {counted(report.contents.incomplete, 'transaction')} or fewer.</p>"
        )

    def row(item: Suppressed) -> list[str]:
        support = "-" if item.support is None else f"{item.support:,}"
        return [label(item.label), support, label(item.why or "nothing that is released stands for it", 300)]

    rows = [row(item) for item in items[:MOST_ROWS]]
    head = ("suppressed item", "transactions", "why")
    return (
        f"<h3>{counted(len(items), 'item')} suppressed</h3>"
        + table(head, rows, text=(0, 2))
        + more(len(items) - len(rows), "less frequent item")
    )


def _loss(report: OwnerReport) -> str:
    """Information loss, each measure with its meaning."""
    entry = report.entry
    records = report.contents.release.kind.attributes is not None
    losses = RECORD_LOSSES if records else LOSSES
    rows = [[name, percent(value), words] for key, name, words in losses if (value := getattr(entry, key)) is not None]
    if entry.ul is not None:
        rows.append(["UL", number(entry.ul), "the mean loss of the items of a record"])
    if entry.ul_log2 is not None:
        rows.append(["log2 UL", number(entry.ul_log2), "the utility loss of COAT, as a base-2 logarithm"])
    if entry.ggd is not None:
        rows.append(["GGD", label(entry.ggd), "group generalization distortion, in total"])
    if not rows:
        return ""
    return "<h2>Information loss</h2>" + table(
        ("measure", "value", "meaning" if records else "meaning, averaged over the occurrences"), rows, (0, 2)
    )


def _attributes(report: OwnerReport) -> str:
    """Each attribute before and after, and the groups."""
    if not report.seen or report.groups is None:
        return ""
    groups = report.groups
    figures = (
        f"<figure><h3>{label(a.name)}: loss {percent(a.loss)}</h3>{both(a.drawn(520), a.drawn(356))}</figure>"
        for a in report.seen
        if a.bins
    )
    return (
        f"<h2>The attributes</h2><p>{counted(groups.groups, 'group')} of persons with equal released attributes, of"
        f" {groups.smallest:,} to {groups.largest:,} persons, {number(groups.middle)} in the middle. The loss is the mean"
        " share of an attribute's values that a released range or set spans.</p>"
        f'<div class="flow">{"".join(figures)}</div><p class="note">Grey: persons in the source. Blue: in the release,'
        " those of a range or set spread evenly over it. Lines below: the released ranges of the most persons.</p>"
    )


def _accuracy(report: OwnerReport) -> str:
    """Estimates and bounds beside the truth."""
    measured = [asked for asked in report.asked if asked.answers]
    if not measured:
        return "<h2>How good answers are</h2><p>No query was measured.</p>"
    k = report.k
    head = (
        *("queries of", "queries", f"error, truth&nbsp;&ge;&nbsp;{k:,}", "error, all"),
        *("width of bounds", "exact", "truth in bounds"),
    )
    rows = []
    for asked in measured:
        parts = list(by_support(asked.answers, k))
        whole = figures("all", asked.answers, k)
        rows += [
            [
                label(asked.words) if group is whole else f"{label(asked.words)}, truth {group.words}",
                f"{group.queries:,}",
                percent(group.frequent_error),
                percent(group.error),
                or_dash(group.width),
                f"{group.exact:,}",
                f"{group.within:,}",
            ]
            for group in (whole, *(parts if len(parts) > 1 else ()))
        ]
    plots = "".join(f"<figure><h3>Queries of {label(asked.words)}</h3>{_drawn(asked)}</figure>" for asked in measured[:2])
    first = " The promise hides counts below k, so look at the errors where the truth is k or more first."
    first = first if report.contents.buckets is None else ""
    return (
        "<h2>How good answers are</h2><p>Queries ask how many transactions hold all of some items. The error is |truth"
        " &minus; estimate| / truth; the width of the bounds is a number of transactions; both are medians."
        f"{first}</p>"
        f'<div class="plots">{plots}</div><p class="note">Bar: from the lower to the upper bound. Dot: estimate. Orange'
        " line: truth. Some of the queries, evenly spaced; numbers of transactions, on a logarithmic scale.</p>"
        + table(head, rows)
        + _conditional(report)
    )


def _conditional(report: OwnerReport) -> str:
    """Questions with a condition on an attribute."""
    if not report.questions:
        return ""
    by_item: dict[str, list[Answered]] = {}
    for q in report.questions:
        a = q.answer
        by_item.setdefault(q.item, []).append(Answered(q.words, a.lower, a.estimate, a.upper, q.truth))
    parts, head = [], ("persons with", "truth", "estimate", "lower bound", "upper bound")
    for item, asked in by_item.items():
        title = f"Persons with {item}, by attribute"
        drawn = both(*(intervals(title, asked, width) for width in (500, 356)))
        rows = [[label(a.words), f"{a.truth:,}", f"{a.estimate:,.1f}", f"{a.lower:,}", f"{a.upper:,}"] for a in asked]
        heading = f"<h3>Of these, how many have {label(item, 40)}?</h3>"
        parts.append(f"<div><figure>{heading}{drawn}</figure>{table(head, rows)}</div>")
    return (
        "<h3>Questions with a condition</h3><p>How many persons of an age, a sex, a place have a frequent item? Numbers and"
        " dates are asked for in bands of about equally many persons, categories for the most frequent ones. Bar, dot and"
        f' line as above.</p><div class="plots">{"".join(parts)}</div>'
    )


def _drawn(asked: Asked) -> str:
    answers = [Answered(", ".join(items), low, middle, high, truth) for items, truth, middle, low, high in asked.answers]
    title = f"Truth, estimate and bounds of queries of {asked.words}"
    return both(against_truth(title, spread(answers, 48), 520), against_truth(title, spread(answers, 28), 356))


def _risk(report: OwnerReport) -> str:
    """What attackers find in the source and in the release."""
    confidence = _confidence(report)
    if not report.attacks and not report.rare_sets and not confidence:
        return ""
    parts = ["<h2>Risk before and after</h2>", confidence]
    if report.attacks:
        parts.append(_attackers(report))
    if report.rare_sets:
        rows = [[counted(t.size, "item"), f"{t.before:,}", f"{t.after:,}"] for t in report.rare_sets]
        parts.append(
            f"<h3>Sets of items that fewer than {report.k:,} transactions hold</h3><p>Minimal sets only: no part of them is"
            f" as rare.</p>{table(('sets of', 'in the source', 'in the release'), rows)}"
        )
    return "".join(parts)


def _confidence(report: OwnerReport) -> str:
    """How sure an attacker can be of a private item, in words; empty for promises that do not limit it."""
    model, values = report.entry.model, model_of(report.contents.manifest).parameters()
    most = {"hkp": lambda: Fraction(str(values["h"])), "klm": lambda: 1 / Fraction(str(values["l"]))}
    most["anatomy"] = most["klm"]
    if model not in most:
        return ""
    share = float(most[model]())
    what = "which value of a column is a person's" if model == "anatomy" else "that a person has a sensitive item"
    return (
        f"<p><b>Confidence of a guess: at most {percent(share)}.</b> Somebody who knows what the promise covers, and guesses"
        f" {what}, is right in at most {number(100 * share)} of 100 cases that look alike.</p>"
    )


def _attackers(report: OwnerReport) -> str:
    first = report.attacks[0]
    values = ""
    if first.quasi_identifiers:
        values = f" and the values of {', '.join(label(q) for q in first.quasi_identifiers)}"
    drawn, rows = [], []
    for a in report.attacks:
        heading = counted(a.known, "item") + " known" + ("" if report.covers(a) else " (not promised)")
        both_sides = (("source", a.before), ("release", a.after))
        drawn.append(
            (heading, [Shares(name, c.below_k / a.individuals, c.of_one / a.individuals) for name, c in both_sides])
        )
        rows += [
            [f"{label(heading)}: {name}", f"{c.smallest:,}", number(c.quartiles[1]), f"{c.below_k:,}", f"{c.of_one:,}"]
            for name, c in both_sides
        ]
    title = "Persons with fewer than k candidates"
    head = ("attacker", "fewest candidates", "median", f"below {report.k:,}", "alone")
    return (
        f"<p>Attackers who know some items{values} of {counted(first.individuals, 'person')} drawn from the source, and"
        f" look for the transactions that fit. A person with fewer than {report.k:,} candidates is at risk; one who is"
        f' alone is found.</p><div class="plots"><figure>{both(shares(title, drawn, 500), shares(title, drawn, 356))}'
        f"<figcaption>Whole bar: persons with fewer than {report.k:,} candidates. Dark part: persons who are alone."
        f"</figcaption></figure>{table(head, rows)}</div>"
    )


def _overlaps(report: OwnerReport) -> str:
    """Publications of this release, and of others with the same persons."""
    parts = ["<h2>Publications, and other releases of these persons</h2>"]
    if report.entry.population is not None:
        parts.append(f"<p>The persons are of the population <b>{label(report.entry.population)}</b>.</p>")
    if report.publications:
        files = (
            f"<li><b>{label(p.file)}</b>, {p.published:%Y-%m-%d %H:%M} UTC, SHA-256 <code>{label(p.sha256)}</code></li>"
            for p in report.publications
        )
        parts.append(f"<ul>{''.join(files)}</ul>")
    else:
        parts.append("<p>This release is not published.</p>")
    if report.overlaps:
        listed = "".join(f"<li>{label(line, 1000)}</li>" for line in report.overlaps)
        parts.append(f"<p>Readers of several files can compare them:</p><ul>{listed}</ul>")
    else:
        parts.append("<p>No other publication in this database may contain the same persons.</p>")
    return "".join(parts)


def _seconds(report: OwnerReport) -> str:
    if not report.seconds:
        return ""
    rows = [[label(step), f"{seconds:.2f}"] for step, seconds in report.seconds.items() if seconds]
    rows.append(["together", f"{sum(report.seconds.values()):.2f}"])
    return "<h2>Time</h2>" + table(("step", "seconds"), rows)
