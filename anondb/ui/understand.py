"""The part Understand: the profile as pictures, which come as they are counted; its trees are those of ``trees``."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anondb.guide.page import section_html
from anondb.guide.profile import Profile
from anondb.guide.words import profile_sections
from anondb.pages.plots import bars
from anondb.reading.options import reading_flags
from anondb.ui import tasks, trees
from anondb.ui.load import pictures_of
from anondb.ui.window import Project, shown, window_of

_OTHERS = ("taxonomy", "records", "quasi_identifiers", "hierarchies", "sensitive")
SIZES, WHOLE = "understand_sizes", "understand_profile"


def page(request: Request) -> Response:
    """The page of the part."""
    window = window_of(request)
    if window.project is None:
        return shown(request, "understand.html", project=None)
    for name, attackers in ((SIZES, False), (WHOLE, True)):
        if name not in window.jobs:
            words = "Counting what attackers find" if attackers else f"Reading {window.project.transactions}"
            window.run(name, words, tasks.profile, project=window.project, attackers=attackers)
    sizes, whole = window.result(SIZES), window.result(WHOLE)
    counted: Profile | None = whole or sizes
    return shown(
        request,
        "understand.html",
        project=window.project,
        profile=counted,
        jobs=(SIZES, WHOLE),
        pictures=() if counted is None else (*pictures_of(counted.counts), *attackers_of(counted)),
        sections=[section_html(section) for section in profile_sections(whole)] if whole else [],
        command=shlex.join(["anondb", "profile", *source_of(window.project, _OTHERS)]),
        **trees.shown_tree(window),
    )


def attackers_of(profile: Profile) -> Iterable[tuple[str, str]]:
    """Drawings of what attackers find, with their titles."""
    alone = {_known(known.m): float(known.alone) for known in profile.known if known.alone is not None}
    titles = {"Persons alone for whoever knows some items": alone}
    if profile.people is not None and profile.people.quasi_identifiers:
        both = {f"and {_known(m)}" if m else "the attributes": n for m, n in enumerate(profile.people.alone)}
        titles["Persons alone for whoever knows their attributes"] = {
            k: float(n) for k, n in both.items() if n is not None
        }
        of = profile.people.columns
        titles["Persons alone by one attribute"] = {c.name: float(c.alone) for c in of if c.alone is not None}
    return [(title, bars(title, values, "")) for title, values in titles.items() if values]


def _known(m: int) -> str:
    return "1 item" if m == 1 else f"{m} items"


def source_of(project: Project, others: Iterable[str] = ()) -> list[str]:
    """The words of a command that name the transactions and how they are read, and other options of the project."""
    options: dict[str, Any] = dict(project.options)
    words = [project.database, "--transactions", project.transactions]
    for name in ("id", "item", *others):
        words += [f"--{name.replace('_', '-')}", str(options[name])] if name in options else []
    return [*words, *reading_flags(options)]


ROUTES = [Route("/understand", page), *trees.ROUTES]
