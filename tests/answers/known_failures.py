"""The failures that are known, by release: each file in ``known`` has those of one kind. The lists only shrink."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

FOLDER = Path(__file__).with_name("known")


def known(kind: str, release: str) -> set[str]:
    """What is known to fail in a release: the rest of each line of the kind's file that begins with its name."""
    lines = (FOLDER / f"{kind.replace(' ', '_')}.txt").read_text("utf-8").splitlines()
    return {line.removeprefix(release).strip() for line in lines if line.startswith(f"{release} ")}


def changes(kind: str, release: str, found: Collection[str], listed: Collection[str]) -> list[str]:
    """What fails and is not listed, and what is listed and does not fail any more."""
    new = [f"{kind}: {release} {name} fails" for name in sorted(set(found) - set(listed))]
    gone = [f"{kind}: {release} {name} passes now: take the line out" for name in sorted(set(listed) - set(found))]
    return new + gone
