"""Reports as rows of names and values, for a terminal."""

from anondb.pages.text import counted, number, or_dash, percent
from anondb.release.objects import ReleasedItem
from anondb.report.answers import figures
from anondb.report.contents import Contents
from anondb.report.owner import CHANGED, GONE, OwnerReport

Rows = list[tuple[str, str]]
MOST = 5


def owner_rows(report: OwnerReport) -> Rows:
    """The rows of the owner's report."""
    entry, contents = report.entry, report.contents
    rows: Rows = [
        ("promise", f"{contents.promise} by {entry.algorithm}, verified"),
        ("made", f"{entry.created:%Y-%m-%d %H:%M} UTC by {entry.user_name}, from {entry.source_table}"),
        *_continued("of the run", list(report.read)),
        *([("source", f"has {report.source} since")] if report.source == CHANGED else []),
        *([("source", "cannot be read any more")] if report.source == GONE else []),
        ("transactions", f"{entry.transactions:,} with {counted(entry.items, 'different item')}"),
        *_shown(contents),
        ("suppressed", f"{counted(entry.suppressed_items, 'item')}, {counted(entry.suppressed_occurrences, 'occurrence')}"),
        *_continued("  of them", [f"{s.label}: {s.why or 'no released item'}" for s in report.suppressed[:MOST]]),
    ]
    if entry.ncp is not None:
        rows.append(("information loss", f"NCP {percent(entry.ncp)}, LM {percent(entry.lm)}"))
    for asked in report.asked:
        group = figures(asked.words, asked.answers, report.k)
        words = f"median error {percent(group.frequent_error)} where truth >= {report.k} ({group.frequent:,}),"
        words += f" {percent(group.error)} of all; width of bounds {or_dash(group.width)}"
        rows.append((f"queries of {asked.words}", words))
    for a in report.attacks:
        before, after = (f"{percent(c.below_k / a.individuals)} ({c.of_one:,} alone)" for c in (a.before, a.after))
        beyond = "" if report.covers(a) else " (not promised)"
        words = f"{counted(a.known, 'known item')}{beyond}: {before} before, {after} after"
        rows.append((f"below {report.k} candidates", words))
    rows += [(f"rare sets of {t.size}", f"{t.before:,} before, {t.after:,} after") for t in report.rare_sets]
    rows += _continued("published", [f"{p.file} on {p.published:%Y-%m-%d}" for p in report.publications] or ["no"])
    rows += _continued("other releases", list(report.overlaps))
    if report.seconds:
        rows.append(("seconds", ", ".join(f"{step} {value:.2f}" for step, value in report.seconds.items())))
    return rows


def public_rows(contents: Contents) -> Rows:
    """The rows of the analysts' report."""
    covered, uncovered = contents.covers
    columns = ", ".join(contents.manifest[name] for name in ("id_column", "item_column"))
    rows: Rows = [
        ("promise", contents.promise),
        ("  covered", covered),
        ("  not covered", uncovered),
        ("table", f"{contents.manifest['table']} ({columns})"),
        ("transactions", f"{contents.transactions:,}"),
        *_shown(contents),
        ("suppressed", "some occurrences" if contents.suppressed else "nothing"),
        ("known exactly", f"{contents.exact:,} of {counted(len(contents.counts), 'item')}"),
    ]
    for e in contents.examples:
        bounds = f"{e.lower:,} to {e.upper:,}, estimate {e.estimate:,.1f}"
        rows.append(("transactions with", f"{' and '.join(e.items)}: {bounds}"))
    return rows


def _shown(contents: Contents) -> Rows:
    """The rows on what released items stand for."""
    if contents.buckets is not None:
        b = contents.buckets
        sizes = f"of {number(b.smallest)} to {number(b.largest)} transactions"
        return [("buckets", f"{b.buckets:,} {sizes}, {counted(b.columns, 'column')}")]

    def words(item: ReleasedItem) -> str:
        return f"{item.label}: {len(item.members):,} items, {counted(item.support, 'transaction')}"

    several = contents.generalized
    listed = [words(item) for item in several[:MOST]]
    listed += [f"and {len(several) - MOST:,} more"] if len(several) > MOST else []
    return [
        ("released items", f"{len(contents.items):,}, of which {len(several):,} stand for several items"),
        *_continued("  of them", listed),
    ]


def _continued(name: str, lines: list[str]) -> Rows:
    """Several lines under one name."""
    return [(name if i == 0 else "", line) for i, line in enumerate(lines)]
