"""Audit a release: its promise checked, its bytes inspected, its digest and signature compared, and the proof in SQL."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

import anondb
from anondb.errors import InputError
from anondb.ui.window import back, named_file, shown, window_of
from anondb.ui.worker import Say


@dataclass(frozen=True)
class Audit:
    """What was checked of a file.

    Attributes:
        path, expected, trusted: the file, the digest that it should have, and the key that should have signed it.
        promise, holds, violations: the promise, and whether the rows keep it.
        item_supports: the violations by item supports; None if the release has none.
        sha256, content_digest, signature: of the file.
        as_expected: whether it has the expected digest; None without one.
        modelled_rows: whether its modelled rows are what they should be; None if it has none.
        manifest, figures, findings: what the inspection read, measured and objects to.
        proof: the SQL that checks the promise without anondb; None if it needs the owner's constraints.
    """

    path: str
    expected: str | None
    trusted: str | None
    promise: str
    holds: bool
    violations: int
    item_supports: int | None
    sha256: str
    content_digest: str
    signature: str
    as_expected: bool | None
    modelled_rows: bool | None
    manifest: dict[str, str]
    figures: dict[str, str]
    findings: list[tuple[str, str]]
    proof: str | None

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return self.holds and not self.findings and self.as_expected is not False and self.modelled_rows is not False

    @property
    def commands(self) -> str:
        """The commands that check the same."""
        expected = [] if self.expected is None else ["--expect", self.expected]
        trusted = [] if self.trusted is None else ["--trusted", self.trusted]
        lines = (["verify", self.path, *expected, *trusted], ["inspect", self.path, *trusted])
        return "\n".join(shlex.join(["anondb", *line]) for line in lines)


def auditing(say: Say, path: str, expected: str | None, trusted: str | None) -> Audit:
    """Check a file in all ways that need nothing but the file."""
    say("checking the promise")
    checked = anondb.verify_file(path, expect=expected, trusted=trusted)
    say("inspecting the bytes")
    inspected = anondb.inspect_file(path, trusted=trusted)
    verification: Any = checked.verification
    return Audit(
        path,
        expected,
        trusted,
        verification.model.promise,
        verification.verified,
        verification.all_violations,
        verification.item_supports,
        checked.sha256,
        checked.content_digest,
        inspected.figures.get("signature", "none"),
        checked.expected,
        checked.modelled_rows,
        inspected.manifest,
        {name: words for name, words in inspected.figures.items() if name not in ("digest", "signature")},
        [(finding.check, finding.what) for finding in inspected.findings],
        _proof(path, trusted),
    )


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
    return shown(request, "audit.html", audit=window.result("audit"))


def _audit(request: Request, path: str, expected: str | None, trusted: str | None) -> None:
    how: dict[str, Any] = {"path": path, "expected": expected, "trusted": trusted}
    window_of(request).run("audit", f"Checking {Path(path).name}", auditing, beside=True, **how)


async def check(request: Request) -> Response:
    """Check a file that was named, dropped or picked."""
    path, form = await named_file(request)
    if path is not None:
        expected, trusted = (str(form.get(name) or "").strip() or None for name in ("expected", "trusted"))
        _audit(request, path, expected, trusted)
    return back("/audit")


def proof(request: Request) -> Response:
    """The proof in SQL, as a file."""
    audit: Audit | None = window_of(request).result("audit")
    if audit is None or audit.proof is None:
        return PlainTextResponse("There is no proof to save.", 404)
    saved = f'attachment; filename="verify_{audit.manifest.get("model", "release")}.sql"'
    return Response(audit.proof, media_type="text/plain", headers={"Content-Disposition": saved})


ROUTES = [
    Route("/audit", page),
    Route("/audit", check, methods=["POST"]),
    Route("/audit/proof.sql", proof),
]
