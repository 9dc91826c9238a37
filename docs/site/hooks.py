"""Hooks of MkDocs: pages from outside of docs/, the reference, pages that no section names, and links between them."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
# Pages of the repository outside of docs/, with their names in the site; other files that pages link to go to files/.
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples/dbt_project/README.md": "dbt-project.md",
    "examples/analyst.ipynb": "tutorials/notebook-analyst.md",
    "examples/owner.ipynb": "tutorials/notebook-owner.md",
    "tests/answers/README.md": "tests-of-answers.md",
    "tests/golden/README.md": "golden.md",
}
# The section of the pages that no section names, by their folder; of others it is "How to".
REST = {"algorithms": "Algorithms", "tutorials": "Tutorials"}
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
CODE = re.compile(r"^```.*?^```$", re.M | re.S)


def on_config(config: Any) -> Any:
    """Put each page of docs/ that no section names at the end of the section for its folder."""
    docs = Path(config.docs_dir)
    named = set(re.findall(r"[\w/.-]+\.md", str(config.nav)))
    sections = {name: pages for part in config.nav for name, pages in part.items()}
    for page in sorted(str(page.relative_to(docs)) for page in docs.rglob("*.md")):
        if page not in named:
            sections[REST.get(os.path.dirname(page), "How to")].append(page)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside of docs/, the files that pages link to, and the reference."""
    sys.path[:0] = [str(Path(__file__).parent), str(ROOT)]
    from reference import pages

    for path, name in OUTSIDE.items():
        text = (ROOT / path).read_text("utf-8")
        files.append(File.generated(config, name, content=_cells(text) if path.endswith(".ipynb") else text))
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    linked = {path for file in files.documentation_pages() for path in _outside(file)}
    for path in sorted(linked):
        files.append(File.generated(config, _in_site(path), content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead links to where their files are in the site; bars in code need no backslash in tables of Python-Markdown."""
    folder = _folder(page.file)
    start = os.path.dirname(page.file.src_uri)

    def led(link: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(folder, link[1]))
        if not (ROOT / target).exists():
            return link[1]
        return os.path.relpath(_in_site(target), start or ".")

    text = re.sub(LINK, led, markdown)
    text = re.sub(r"\[([^\]]+)\]\((?:[./]*files/)?(?:\.\./)*examples\)", r"\1", text)  # a folder is no page
    return re.sub(r"(?m)^\|.*$", lambda row: re.sub(r"`[^`]*`", lambda c: c[0].replace("\\|", "|"), row[0]), text)


def _cells(notebook: str) -> str:
    """The cells of a notebook as a page, its code in blocks."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(notebook)["cells"]]
    return "\n\n".join(f"```python\n{source}\n```" if kind == "code" else source for kind, source in cells)


def _folder(file: File) -> str:
    """The folder in the repository of a page's source."""
    outside = {name: path for path, name in OUTSIDE.items()}
    return os.path.dirname(outside.get(file.src_uri, f"docs/{file.src_uri}"))


def _in_site(path: str) -> str:
    """The name in the site of a file of the repository."""
    return path.removeprefix("docs/") if path.startswith("docs/") else OUTSIDE.get(path, f"files/{path}")


def _outside(file: File) -> set[str]:
    """The files outside of docs/, other than pages with a place of their own, that a page links to."""
    links = LINK.findall(CODE.sub("", file.content_string))
    targets = {os.path.normpath(os.path.join(_folder(file), link)) for link in links}
    return {t for t in targets if not t.startswith("docs/") and t not in OUTSIDE and (ROOT / t).is_file()}
