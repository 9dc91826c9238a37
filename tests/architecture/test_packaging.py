"""Wheel, source distribution and editable install carry the queries, and each reads those that belong to it."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import anondb
from anondb.engine.queries import SQL_ROOT

PROJECT = SQL_ROOT.parent
ASK = (
    "import site, sys; site.addsitedir(sys.argv[1]);"
    "from anondb.engine.queries import SQL_ROOT, all_names, load;"
    "[load(name) for name in all_names()]; print(SQL_ROOT)"
)


def build(source: Path, target: str, place: Path) -> Path:
    """Build a target of hatchling's into a folder; the only file there."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(place)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = place.iterdir()
    return built


def unpacked(wheel: Path, place: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


def root_read_from(site: Path) -> Path:
    """The folder from which all queries are read where a folder of packages comes first."""
    libraries = [p for p in sys.path if "site-packages" in p]
    python = [sys.executable, "-E", "-S", "-c", f"import sys; sys.path += {libraries!r}; {ASK}", str(site)]
    done = subprocess.run(python, cwd=site, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def queries(root: Path) -> dict[Path, bytes]:
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*.sql")}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distribution."""
    place = tmp_path_factory.mktemp("sdist")
    built = build(PROJECT, "sdist", place / "dist")
    with tarfile.open(built) as archive:
        archive.extractall(place, filter="data")
    (folder,) = (p for p in place.iterdir() if p.name.startswith("anondb-"))
    return folder


@pytest.mark.slow
def test_source_distribution(source: Path) -> None:
    assert queries(source / "sql") == queries(SQL_ROOT) != {}
    for name in ("tests", "docs", "examples", "Makefile", "README.md"):
        assert (source / name).exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tree", "sdist"])
def test_wheel(kind: str, source: Path, tmp_path: Path) -> None:
    wheel = build(PROJECT if kind == "tree" else source, "wheel:standard", tmp_path / "dist")
    assert wheel.name.startswith(f"anondb-{anondb.__version__}-")
    site = unpacked(wheel, tmp_path / "site")
    assert queries(site / "anondb" / "sql") == queries(SQL_ROOT)
    assert not (site / "sql").exists() and not (site / "tests").exists()
    assert root_read_from(site) == site / "anondb" / "sql"


@pytest.mark.slow
def test_editable_install_reads_the_tree(source: Path, tmp_path: Path) -> None:
    """The copy of the queries that an editable install leaves beside the packages is not read: here it is broken."""
    site = unpacked(build(source, "wheel:editable", tmp_path / "dist"), tmp_path / "site")
    for copy in (site / "anondb" / "sql").rglob("*.sql"):
        copy.write_text("broken")
    assert root_read_from(site) == source / "sql"
