"""What the project says of itself in several places is the same everywhere: version, models, bounds, targets."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import anondb
from anondb.models.named import MODELS

ROOT = Path(__file__).resolve().parents[2]


def test_every_model_is_exported() -> None:
    for model in MODELS.values():
        assert model.__name__ in anondb.__all__
        assert getattr(anondb, model.__name__) is model


def test_all_that_is_exported_exists() -> None:
    assert set(anondb._LAZY) <= set(anondb.__all__)
    for name in anondb.__all__:
        assert getattr(anondb, name) is not None
    assert dir(anondb) == sorted(anondb.__all__)


def test_the_changelog_begins_with_this_version_and_can_be_read() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    newest = next(title for title in titles if title != "Unreleased")
    assert re.fullmatch(rf"{re.escape(anondb.__version__)} \(\d{{4}}-\d\d-\d\d\)", newest)
    assert "Unreleased" not in titles[1:]
    section = text.split(f"## {newest}\n")[1].split("\n## ")[0]
    assert len(section.splitlines()) <= 120


def test_the_tests_use_the_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = dict(re.match(r"([a-z]+).*?>=([\d.]+)", d).groups() for d in project["dependencies"])  # type: ignore[union-attr]
    pins = (ROOT / ".github" / "constraints-oldest.txt").read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in pins if not line.startswith("#"))
    assert pinned.pop("sqlglotc") == pinned["sqlglot"]
    assert {n: v.removesuffix(".0").removesuffix(".0") for n, v in pinned.items()} == {
        n: v.removesuffix(".0").removesuffix(".0") for n, v in wanted.items()
    }
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for name, version in wanted.items():
        assert f"| {name} | {version} |" in table


def test_the_targets_that_contributors_are_told_of_exist() -> None:
    told = set(re.findall(r"`make (\w+)`", (ROOT / "CONTRIBUTING.md").read_text("utf-8")))
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"quick", "test", "check", "nightly"} <= told <= targets
