"""The part Understand: the profile as pictures, which come as they are counted; its trees are those of ``trees``."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anondb.guide.page import section_html
from anondb.guide.profile import Profile
from anondb.guide.words import profile_sections
from anondb.pages.plots import bars
from anondb.pages.text import counted
from anondb.reading.options import READING
from anondb.ui import tasks, trees
from anondb.ui.load import pictures_of
from anondb.ui.window import Project, project_at, shown

_OTHERS = ("taxonomy", "records", "quasi_identifiers", "hierarchies", "sensitive")
SIZES, WHOLE = "understand_sizes", "understand_profile"


def page(request: Request) -> Response:
    """The page of the part."""
    window, project = project_at(request)
    arguments: dict[str, Any] = {"database": project.database, "method": "profile", "transactions": project.transactions}
    arguments |= {name: value for name, value in project.options.items() if name != "accept"}
    if SIZES not in window.jobs:
        window.run(SIZES, f"Reading {project.transactions}", tasks.call, attackers=False, **arguments)
    tree = trees.shown_tree(window, project)
    if WHOLE not in window.jobs:
        window.run(WHOLE, "Counting what attackers find", tasks.call, **arguments)
    sizes, whole = window.result(SIZES), window.result(WHOLE)
    profile: Profile | None = whole or sizes
    values: dict[str, Any] = {"profile": profile, "jobs": (SIZES, WHOLE), **tree}
    values["pictures"] = () if profile is None else pictures_of(profile.counts) + attackers_of(profile)
    values["sections"] = [section_html(section) for section in profile_sections(whole)] if whole else []
    command = project.command("profile", **source_of(project, *_OTHERS))
    return shown(request, "understand.html", command=command, **values)


def attackers_of(profile: Profile) -> tuple[tuple[str, str], ...]:
    """Drawings of what attackers find, with their titles."""
    alone = {counted(threat.m, "item"): threat.alone for threat in profile.known if profile.items}
    drawn = {"Persons alone for whoever knows some items": alone}
    if profile.people is not None and profile.people.quasi_identifiers:
        both = profile.people.alone if profile.items else profile.people.alone[:1]
        title = "Persons alone for whoever knows their attributes"
        drawn[title] = {f"and {counted(m, 'item')}" if m else "the attributes": n for m, n in enumerate(both)}
        drawn["Persons alone by one attribute"] = {c.name: c.alone for c in profile.people.columns}
    numbers = {title: {name: float(n) for name, n in of.items() if n is not None} for title, of in drawn.items()}
    return tuple((title, bars(title, values, "")) for title, values in numbers.items() if values)


def source_of(project: Project, *others: str) -> dict[str, Any]:
    """The options that name the transactions and how they are read, and other options of the project."""
    options = {n: project.options[n] for n in ("id", "item", *others, *READING) if n in project.options}
    return {"transactions": project.transactions, **options}


ROUTES = [Route("/understand", page), *trees.ROUTES]
