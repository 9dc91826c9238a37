"""The page of a profile: one HTML file, for the owner."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from anondb.pages.html import page, table
from anondb.pages.plots import bars
from anondb.pages.text import counted

if TYPE_CHECKING:
    from anondb.guide.look import Counts
    from anondb.guide.profile import Profile
    from anondb.guide.words import Section

MOST_DRAWN = 14  # items in a picture
Picture = tuple[str, str]  # a title and a drawing


def write_profile(path: str, profile: Profile) -> None:
    """Write the page of a profile; an existing file is replaced."""
    from anondb.engine.files import write_private

    note = '<p class="owner">This page contains exact figures of the original data. It is for their owner.</p>'
    write_private(path, page(f"profile of {profile.source}", [note, profile_body(profile)]))


def profile_body(profile: Profile) -> str:
    """The sections of a profile as HTML, with its pictures and a plot of the CPU seconds."""
    from anondb.guide.words import profile_sections

    parts = [section_html(section) for section in profile_sections(profile)]
    costs = _drawn({"CPU seconds, estimated": {x.algorithm: x.cpu_seconds for x in profile.estimates}})
    pictures = (*pictures_of(profile.counts), *pictures_of_threats(profile), *costs)
    figures = "".join(f"<figure><h3>{escape(title)}</h3>{drawing}</figure>" for title, drawing in pictures)
    return "\n".join([*parts, f'<div class="plots">{figures}</div>'])


def section_html(section: Section) -> str:
    """A section as HTML."""
    head = tuple(map(escape, section.head)) or ("", "")
    text = [i for i in range(len(head)) if i not in section.numbers]
    cells = table(head, [tuple(map(escape, row)) for row in section.rows], text)
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in section.notes)
    return f"<h2>{escape(section.title)}</h2>{cells}{notes}"


def pictures_of(counts: Counts) -> tuple[Picture, ...]:
    """How many items persons have, the most frequent items, and the persons by each attribute."""
    drawn = {}
    if counts.frequent:  # else people without items
        drawn["Persons by their number of items"] = counts.ranges()
        drawn["Persons who have the most frequent items"] = dict(counts.frequent[:MOST_DRAWN])
    return _drawn(drawn | {f"Persons by {name}": dict(of) for name, of in counts.attributes})


def pictures_of_threats(profile: Profile) -> tuple[Picture, ...]:
    """What attackers find who know items, attributes, or both."""
    alone = {counted(threat.m, "item"): threat.alone for threat in profile.known if profile.items}
    drawn = {"Persons alone for whoever knows some items": alone}
    if profile.people is not None and profile.people.quasi_identifiers:
        both = profile.people.alone if profile.items else profile.people.alone[:1]
        title = "Persons alone for whoever knows their attributes"
        drawn[title] = {f"and {counted(m, 'item')}" if m else "the attributes": n for m, n in enumerate(both)}
        drawn["Persons alone by one attribute"] = {c.name: c.alone for c in profile.people.columns}
    return _drawn(drawn)


def _drawn(counts: Mapping[str, Mapping[str, float | None]]) -> tuple[Picture, ...]:
    """Bars of numbers by name, with their title; those that are not known are left out."""
    numbers = {title: {name: float(n) for name, n in of.items() if n is not None} for title, of in counts.items()}
    return tuple((title, bars(title, values, "")) for title, values in numbers.items() if values)
