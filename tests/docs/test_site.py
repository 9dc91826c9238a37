"""The site: its reference is complete, its sections name pages that exist, and it builds with all links resolved."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest
import typer
from docs.pages import DOCS, ROOT

import anondb
from anondb.algorithms import METHODS
from anondb.cli import program
from anondb.errors import AnondbError
from anondb.models.named import MODELS, parameters_of
from anondb.options import view_options
from anondb.release.definitions import OBJECT_COMMENTS


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    """The pages of the reference."""
    spec = importlib.util.spec_from_file_location("reference", DOCS / "site" / "reference.py")
    assert spec and spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


def made(name: str) -> str:
    """A page of the reference."""
    return f"reference/{name}.md"


def test_every_command_and_option_is_there(reference: dict[str, str]) -> None:
    page = reference[made("commands")]
    sections = {part.partition("\n")[0]: part for part in page.split("\n## ")[1:]}
    commands: dict[str, typer.core.TyperCommand] = {}
    for name, command in typer.main.get_command(program()).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        commands |= {f"anondb {name} {n}": c for n, c in inner.items()} if inner else {f"anondb {name}": command}
    assert set(sections) == set(commands)
    for name, command in commands.items():
        flags = {o for p in command.params for o in (*p.opts, *p.secondary_opts) if o.startswith("--")} - {"--help"}
        assert flags <= set(re.findall(r"--[a-z][\w-]*", sections[name])), name


def test_the_rest_of_the_reference(reference: dict[str, str]) -> None:
    def there(page: str, names: object) -> bool:
        return all(str(name) in reference[made(page)] for name in names)  # type: ignore[attr-defined]

    assert there("views", [f"<code>{name}</code>" for name in view_options()])
    assert there("models", [f"\n## {name}\n" for name in MODELS])
    assert there("models", [f"<code>{p}</code>" for name in MODELS for p in parameters_of(name)])
    assert there("algorithms", [f"\n## {name}\n" for name in METHODS])
    assert there("algorithms", [f"<code>{o}=" for method in METHODS.values() for o in method.option_parameters])
    errors = [k for k in vars(anondb.errors).values() if isinstance(k, type) and issubclass(k, AnondbError)]
    assert there("errors", [k.__name__ for k in errors if k is not AnondbError])
    assert there("sealed-file", OBJECT_COMMENTS.values())
    functions = [name for name in anondb.__all__ if name[0].islower() and name != "__version__"]
    assert functions and there("python", [f"\n## {name}\n" for name in functions])


def test_the_sections_name_pages_that_exist(reference: dict[str, str]) -> None:
    sections = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    named = re.findall(r"[\w/-]+\.md", sections)
    elsewhere = re.search(r"^OUTSIDE = \{(.*?)^\}", (DOCS / "site" / "hooks.py").read_text("utf-8"), re.M | re.S)
    assert elsewhere and len(set(named)) == len(named) > 40
    outside = set(re.findall(r'": "([\w/-]+\.md)"', elsewhere[1]))
    assert {page for page in named if not (DOCS / page).is_file()} == outside | set(reference)


class Links(HTMLParser):
    """The links and ids of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.ids: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if name in ("href", "src") and value and not re.match(r"\w+:", value):
                self.links.add(value)


@pytest.mark.slow
def test_the_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")  # of the group docs, which make check installs
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {path.resolve(): Links(path) for path in tmp_path.rglob("*.html") if path.name != "404.html"}
    lost = []
    for path, page in pages.items():
        for link in page.links:
            name, _, anchor = link.partition("#")
            aim = (path.parent / name).resolve() if name else path
            if not aim.exists() or (anchor and aim in pages and anchor not in pages[aim].ids):
                lost.append((path.name, link))
    assert len(pages) > 50 and not lost
