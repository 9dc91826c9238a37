"""The sections of a profile, and their form as text; the page has the same sections."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anondb.guide.people import People
from anondb.guide.profile import Profile, taxonomy_figures
from anondb.taxonomies.check import Checked

_COST = (
    "Estimated before any run, for all of reading, anonymizing, verifying and measuring, with m = 2; seconds of CPU time.",
)
_THREATS = (
    "Violations: smallest sets of at most so many items that at least 1 and fewer than {k} persons have, as anondb verify"
    " counts them. Alone: persons with such a set that nobody else has.",
)


@dataclass(frozen=True)
class Section:
    """A table of a report."""

    title: str
    head: tuple[str, ...]  # the names of its columns; none for rows of a name and a value
    rows: tuple[tuple[str, ...], ...]  # the cells
    notes: tuple[str, ...] = ()  # sentences below it
    numbers: tuple[int, ...] = ()  # the columns with numbers, which are aligned to the right


def profile_sections(profile: Profile) -> list[Section]:
    """The sections of a profile."""
    notes = (*(f"read {account.words}" for account in profile.read), *profile.warnings)
    sections = [Section(f"profile of {profile.source}", (), tuple(_sizes(profile)), notes)]
    if profile.known:
        sections += [_threats(profile)] if profile.people is None else _people(profile, profile.people)
    if profile.taxonomy is not None:
        hint = () if profile.taxonomy.fits else ("To list the nodes and items at fault: anondb taxonomy check.",)
        sections.append(Section("taxonomy", (), tuple(_taxonomy(profile.taxonomy)), hint))
    return [*sections, *([_costs(profile)] if profile.estimates else [])]


def _sizes(profile: Profile) -> Iterable[tuple[str, str]]:
    yield "persons", f"{profile.persons:,}" + (f", {profile.empty:,} of them without items" if profile.empty else "")
    yield "items", f"{profile.items:,}"
    if not profile.items:
        return
    yield "occurrences", f"{profile.occurrences:,}"
    if (n := profile.lengths) is not None:
        quartiles = f"quartiles {n.lower_quartile:,}, {n.median:,}, {n.upper_quartile:,}"
        yield "items of a person", f"{n.least:,} to {n.most:,}; {quartiles}; mean {n.mean:.3g}"
    rare = f"{profile.rare_items:,}"
    if profile.occurrences:
        rare += f", with {share(profile.rare_occurrences, profile.occurrences)} of the occurrences"
    yield "items of < k persons", f"{rare} (k = {profile.k}); {profile.single_items:,} of a single person"


def _threats(profile: Profile) -> Section:
    rows, notes = [], [note.format(k=profile.k) for note in _THREATS]
    for threat in profile.known:
        if threat.skipped is not None:
            rows.append((str(threat.m), "not counted", "not counted", "-"))
            notes.append(f"{threat.m} items: {threat.skipped}.")
            continue
        alone = threat.alone or 0
        rows.append((str(threat.m), f"{threat.violations:,}", f"{alone:,}", share(alone, profile.persons)))
    head = ("known items", f"violations, k = {profile.k}", "persons alone", "of all")
    return Section("what an attacker finds who knows some items of a person", head, tuple(rows), tuple(notes), (1, 2, 3))


def _people(profile: Profile, people: People) -> Iterable[Section]:
    """What attackers find who know attributes, and the columns of the records."""
    of = profile.persons

    def cells(count: int | None) -> tuple[str, str]:
        return ("not counted", "-") if count is None else (f"{count:,}", share(count, of))

    by_items = [0, *(threat.alone for threat in profile.known)]
    rows: list[tuple[str, ...]] = [(str(m), *cells(by_items[m]), *cells(n)) for m, n in enumerate(people.alone)]
    head: tuple[str, ...] = ("known items", "alone by the items", "of all", "by them and the quasi-identifiers", "of all")
    if not profile.items:
        rows, head = [cells(people.alone[0])], ("alone by the quasi-identifiers", "of all")
    note = "Alone: persons whom such knowledge fits, and nobody else."
    if people.hidden:
        note += f" With the quasi-identifiers, {people.hidden:,} sensitive items are not known."
    which = f"quasi-identifiers{' (proposed)' * people.proposed}: {', '.join(people.quasi_identifiers) or 'none'}"
    yield Section(which, head, tuple(rows), (note,), tuple(range(len(head) > 2, len(head))))
    shown = [
        (
            c.name,
            "-" if c.values is None else f"{c.values:,}",
            *("" if n is None else f"{n:,}" for n in (c.alone, c.without)),
            c.role,
            c.why,
            c.hierarchy or "",
        )
        for c in people.columns
    ]
    all_known = f"{people.alone[0]:,}"
    notes = (
        f"Alone: by this column only. Without it: by all other quasi-identifiers ({all_known} by all): what lowers it most"
        " contributes most. Roles are proposals: you know who knows what.",
        "To build a hierarchy: anondb hierarchy build SOURCE --records TABLE --attribute NAME --to hierarchies/",
    )
    names = ("column", "values", "alone", "without it", "proposed role", "why", "hierarchy")
    yield Section("columns of the records", names, tuple(shown), notes, (1, 2, 3))


def _taxonomy(taxonomy: Checked) -> Iterable[tuple[str, str]]:
    figures = taxonomy_figures(taxonomy)
    yield "taxonomy", "fits" if figures["fits"] else "does not fit"
    for kind, number in figures["faults"].items():
        yield kind.replace("_", " "), f"{number:,} nodes"
    if figures["nodes"] is not None:
        yield "nodes", f"{figures['nodes']:,}, of which {figures['leaves']:,} leaves"
    if figures["types"] is not None:
        yield "types", "items {}, leaves {}: cast one of them in a view".format(*figures["types"])
    if figures["unused"] is not None:
        yield "items that it lacks", f"{figures['missing']:,}"
        yield "items that are inner nodes", f"{figures['internal']:,}"
        yield "leaves that nobody has", f"{figures['unused']:,}"


def _costs(profile: Profile) -> Section:
    rows, missing = [], dict[str, list[str]]()
    for cost in profile.estimates:
        if cost.cpu_seconds is None or cost.peak_mib is None:
            missing.setdefault(cost.reason or "", []).append(cost.algorithm)
        else:
            rows.append((cost.algorithm, cost.promise, rounded(cost.cpu_seconds), rounded(cost.peak_mib)))
    notes = [f"Not estimated: {', '.join(names)}: {reason}." for reason, names in missing.items()]
    if not rows:
        return Section("what each algorithm takes", (), (), tuple(notes))
    head = ("algorithm", "promise", "CPU s", "peak MiB")
    return Section("what each algorithm takes", head, tuple(rows), (*_COST, *notes), (2, 3))


def rounded(value: float) -> str:
    """A number with two significant digits."""
    return f"{float(f'{value:.2g}'):,.{1 if value < 10 else 0}f}"


def share(part: int, whole: int) -> str:
    """A share as a percentage."""
    if not whole:
        return "-"
    percentage = 100 * part / whole
    return f"{percentage:.0f} %" if percentage >= 10 else f"{percentage:.2g} %"


def sections_text(sections: Iterable[Section]) -> str:
    """Sections as text."""
    return "\n\n".join(map(section_text, sections))


def section_text(section: Section) -> str:
    """A section as text: its title, its rows in columns, its notes."""
    rows = [section.head, *section.rows] if section.head else list(section.rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    lines = [" " + "  ".join(_cells(row, widths, section)).rstrip() for row in rows]
    return "\n".join([section.title, *lines, *section.notes])


def _cells(row: Sequence[str], widths: Sequence[int], section: Section) -> Iterable[str]:
    for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield f"{cell:>{width}}" if i in section.numbers else f"{cell:<{width}}"
