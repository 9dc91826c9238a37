"""Audit a release: its promise checked, its bytes inspected, its digest and signature compared, and the proof in SQL."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import anondb
from anondb.errors import InputError
from anondb.options import flags_of
from anondb.ui.window import argument, back, name_of, posted, saved, shown, window_of
from anondb.ui.worker import Say


@dataclass(frozen=True)
class Audit:
    """What was checked of a file.

    Attributes:
        path, expected, trusted: the file, the digest that it should have, and the key that should have signed it.
        checked, inspected: what ``anondb.verify_file`` and ``anondb.inspect_file`` return.
        proof: the SQL that checks the promise without anondb; None if it needs the owner's constraints.
    """

    path: str
    expected: str | None
    trusted: str | None
    checked: Any
    inspected: Any
    proof: str | None

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return bool(self.checked.holds and self.inspected.clean)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What the file says of itself, and what was measured."""
        measured = {f"{n}, measured": v for n, v in self.inspected.figures.items() if n not in ("digest", "signature")}
        return [*self.inspected.manifest.items(), *measured.items()]

    @property
    def commands(self) -> str:
        """The commands that check the same."""
        options = {"verify": {"expect": self.expected, "trusted": self.trusted}, "inspect": {"trusted": self.trusted}}
        lines = (["anondb", name, argument(self.path), *flags_of(of)] for name, of in options.items())
        return "\n".join(map(shlex.join, lines))


def auditing(say: Say, path: str, expected: str | None, trusted: str | None) -> Audit:
    """Check a file in all ways that need nothing but the file."""
    say("checking the promise")
    checked = anondb.verify_file(path, expect=expected, trusted=trusted)
    say("inspecting the bytes")
    inspected = anondb.inspect_file(path, trusted=trusted)
    return Audit(path, expected, trusted, checked, inspected, _proof(path, trusted))


def _proof(path: str, trusted: str | None) -> str | None:
    try:
        return anondb.proof_sql(path, trusted=trusted)
    except InputError as error:
        if error.code != "no_proof":
            raise
        return None


def page(request: Request) -> Response:
    """The file to check, and what the last check found."""
    window = window_of(request)
    if "audit" not in window.jobs and window.parts[0] == "ask" and window.source is not None:
        _audit(request, window.source, None, None)
    asked = window.jobs["audit"].arguments if "audit" in window.jobs else {"path": "", "expected": None, "trusted": None}
    return shown(request, "audit.html", audit=window.result("audit"), asked=asked)


def _audit(request: Request, path: str, expected: str | None, trusted: str | None) -> None:
    window, words = window_of(request), f"Checking {name_of(path)}"
    window.run("audit", words, auditing, beside=True, path=path, expected=expected, trusted=trusted)


async def check(request: Request) -> Response:
    """Check a file that was named, dropped or picked."""
    fields, _ = await posted(request)
    if "path" in fields:
        _audit(request, fields["path"], fields.get("expected"), fields.get("trusted"))
    return back("/audit")


def proof(request: Request) -> Response:
    """The proof in SQL, as a file."""
    audit: Audit | None = window_of(request).result("audit")
    name = "" if audit is None else f"verify_{audit.inspected.manifest.get('model', 'release')}.sql"
    return saved(None if audit is None else audit.proof, name)


ROUTES = [
    Route("/audit", page),
    Route("/audit", check, methods=["POST"]),
    Route("/audit/proof.sql", proof),
]
