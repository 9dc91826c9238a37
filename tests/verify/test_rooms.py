"""The verifier stands alone: nothing of the algorithms, and SQL from its own folder only."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import anondb.verify
from anondb.engine import all_names, load

ROOM = Path(anondb.verify.__file__).parent
# Of pages, how results look in notebooks.
ALLOWED = {"anondb.engine", "anondb.errors", "anondb.models", "anondb.pages", "anondb.verify"}


def _sources() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOM.rglob("*.py"))}


def test_imports() -> None:
    for path, tree in _sources().items():
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, path.name
                names = [node.module or ""]
            ours = [name for name in names if name.split(".")[0] == "anondb"]
            assert all(".".join(name.split(".")[:2]) in ALLOWED for name in ours), (path.name, ours)


def test_sql_of_this_room_only() -> None:
    """A query is named in full (``verify/...``), or by its own name through helpers that put ``verify/`` before it."""
    folders = {name.split("/")[0] for name in all_names()}
    other = re.compile("(" + "|".join(sorted(folders - {"verify"})) + ")/(?!verify/)")
    for path, tree in _sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not other.match(node.value), (path.name, node.value)
    helpers = (ROOM / "work.py").read_text(encoding="utf-8")
    assert 'f"verify/{name}"' in helpers


def test_every_query_loads_and_is_used() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in ROOM.rglob("*.py"))
    for name in all_names():
        if name.startswith("verify/"):
            load(name)
            assert f'"{name}"' in text or f'"{name.removeprefix("verify/")}"' in text, name
