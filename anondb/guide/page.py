"""The page of a profile: one HTML file, for the owner."""

from html import escape

from anondb.engine.files import write_private
from anondb.guide.profile import Profile
from anondb.guide.words import Section, profile_sections
from anondb.pages.html import page, table
from anondb.pages.plots import bars


def write_profile(path: str, profile: Profile) -> None:
    """Write the page of a profile; an existing file is replaced."""
    note = '<p class="owner">This page contains exact figures of the original data. It is for their owner.</p>'
    write_private(path, page(f"profile of {profile.source}", [note, profile_body(profile)]))


def profile_body(profile: Profile) -> str:
    """The sections of a profile as HTML, with plots of the persons who stand alone and of the CPU seconds."""
    parts = [section_html(section) for section in profile_sections(profile)]
    alone = {f"{x.m} known": float(x.alone) for x in profile.known if x.alone is not None}
    costs = {x.algorithm: x.cpu_seconds for x in profile.estimates if x.cpu_seconds is not None}
    plots = {"Persons who stand alone": alone, "CPU seconds, estimated": costs}
    figures = "".join(f"<figure><h3>{name}</h3>{bars(name, of, '')}</figure>" for name, of in plots.items() if of)
    return "\n".join([*parts, f'<div class="plots">{figures}</div>'])


def section_html(section: Section) -> str:
    """A section as HTML."""
    head = tuple(map(escape, section.head)) or ("", "")
    text = [i for i in range(len(head)) if i not in section.numbers]
    cells = table(head, [tuple(map(escape, row)) for row in section.rows], text)
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in section.notes)
    return f"<h2>{escape(section.title)}</h2>{cells}{notes}"
