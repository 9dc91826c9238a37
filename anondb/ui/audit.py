"""Audit a release: its promise checked, its bytes inspected, its digest and signature compared, and the proof in SQL."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

import anondb
from anondb.errors import InputError
from anondb.options import flags_of
from anondb.reading.options import word_of
from anondb.ui.window import Form, Window, get, name_of, post, saved
from anondb.ui.worker import Say


@dataclass(frozen=True)
class Audit:
    """What was checked of a file."""

    path: str
    expected: str | None  # the digest that it should have
    trusted: str | None  # the key that should have signed it
    checked: Any  # what ``anondb.verify_file`` returns
    inspected: Any  # what ``anondb.inspect_file`` returns
    proof: str | None  # the SQL that checks the promise without anondb; None if it needs the owner's constraints

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What the file says of itself, and what was measured."""
        measured = {f"{n}, measured": v for n, v in self.inspected.figures.items() if n not in ("digest", "signature")}
        return [*self.inspected.manifest.items(), *measured.items()]

    @property
    def commands(self) -> str:
        """The commands that check the same."""
        options = {"verify": {"expect": self.expected, "trusted": self.trusted}, "inspect": {"trusted": self.trusted}}
        lines = (["anondb", name, word_of(self.path), *flags_of(of)] for name, of in options.items())
        return "\n".join(map(shlex.join, lines))


def auditing(say: Say, path: str, expected: str | None, trusted: str | None) -> Audit:
    """Check a file in all ways that need nothing but the file."""
    say("checking the promise")
    checked = anondb.verify_file(path, expect=expected, trusted=trusted)
    say("inspecting the bytes")
    inspected = anondb.inspect_file(path, trusted=trusted)
    try:
        proof = anondb.proof_sql(path, trusted=trusted)
    except InputError as error:
        if error.code != "no_proof":
            raise
        proof = None
    return Audit(path, expected, trusted, checked, inspected, proof)


@get("/audit", "audit.html")
def page(window: Window) -> dict[str, Any]:
    """The file to check, and what the last check found."""
    if "audit" not in window.jobs and window.parts[0] == "ask" and window.source is not None:
        check(window, Form(path=window.source))
    asked = window.jobs["audit"].arguments if "audit" in window.jobs else {"path": "", "expected": None, "trusted": None}
    return {"audit": window.result("audit"), "asked": asked}


@post("/audit")
def check(window: Window, form: Form) -> None:
    """Check a file that was named, dropped or picked."""
    if "path" in form:
        asked: dict[str, Any] = {name: form.get(name) for name in ("path", "expected", "trusted")}
        window.run("audit", f"Checking {name_of(form['path'])}", auditing, beside=True, **asked)


@get("/audit/proof.sql")
def proof(window: Window) -> Response:
    """The proof in SQL, as a file."""
    audit: Audit | None = window.result("audit")
    name = "" if audit is None else f"verify_{audit.inspected.manifest.get('model', 'release')}.sql"
    return saved(None if audit is None else audit.proof, name)
