"""What the repository cites, its readers have: pages, anchors and links resolve, and no text elsewhere is cited."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from each import each

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("anondb", "sql", "tests", "benchmarks", "docs", "examples")
TEXTS = sorted(
    path
    for place in (*(p for f in FOLDERS for p in (ROOT / f).rglob("*")), *ROOT.glob("*.md"), ROOT / "Makefile")
    if (path := place).is_file()
    and path.suffix in (".py", ".sql", ".md", ".yml", "")
    and "__pycache__" not in path.parts
    and path.parent != ROOT / "docs" / "site"  # it names pages of the site, whose links make docs checks
)
PAGES = [path for path in TEXTS if path.suffix == ".md"]
# A page of the repository in running text: coat.md, docs/algorithms/coat.md#r1
CITED = re.compile(r"(?<![\w/])((?:\.\./)*(?:[\w-]+/)*[\w-]+\.md)(?:#([\w-]+))?")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
# Texts that only their authors have
ELSEWHERE = [
    re.compile(pattern)
    for pattern in (
        r"\b[Ss]pec,? (?:section )?\d",
        r"\b[Dd]esign,? (?:section )?\d",
        r"\bthe (?:algorithm )?specification\b",
        r"\bgolden\.json\b",
        r"\bshared (?:data|texts?|spec)\b",
        r"\bthe issues? (?:ask|say|of)",
        r"/work/",
        r"\b[Bb]ad inputs,? B?\d",
        r"\bdesign\.md\b",
    )
]


def where(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def anchors(page: Path) -> frozenset[str]:
    """The ids that a page states, and those that GitHub makes of its headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    slugs = {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", h).lower()).replace(" ", "-") for h in headings}
    return frozenset(slugs | set(re.findall(r'<a id="([\w-]+)"></a>', text)))


@cache
def page_of(name: str, folder: Path) -> Path | None:
    """The page that a text in a folder means, by its path from there, from the top, or from one of the folders of pages."""
    places = (folder, ROOT, ROOT / "docs", ROOT / "docs" / "algorithms")
    return next((page for place in places if (page := (place / name).resolve()).is_file()), None)


def unresolved(name: str, anchor: str | None, folder: Path) -> bool:
    page = page_of(name, folder)
    return page is None or (bool(anchor) and anchor not in anchors(page))


@pytest.mark.slow
@each("folder", [*FOLDERS, "."])
def test_cited_pages_and_anchors_exist(folder: str) -> None:
    here = [p for p in TEXTS if where(p).startswith(f"{folder}/") or (folder == "." and p.parent == ROOT)]
    cited = {(where(p), *names) for p in here for names in CITED.findall(p.read_text("utf-8")) if p != Path(__file__)}
    missing = {c for c in cited if unresolved(c[1], c[2], (ROOT / c[0]).parent)}
    assert here and not missing
    assert folder not in ("anondb", "tests") or len(cited) > 20


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    wrong = []
    for target in LINK.findall(text):
        name, _, anchor = target.partition("#")
        aim = (page.parent / name).resolve() if name else page
        if not re.match(r"https?://", target) and not (aim.exists() and (not anchor or anchor in anchors(aim))):
            wrong.append(target)
    return wrong


def test_links_resolve() -> None:
    assert len(PAGES) > 20 and not {where(p): links for p in PAGES if (links := broken(p))}


@pytest.mark.slow
def test_no_text_elsewhere_is_cited() -> None:
    texts = {where(p): p.read_text("utf-8") for p in TEXTS if p != Path(__file__)}
    cited = {(name, m[0]) for name, text in texts.items() for pattern in ELSEWHERE for m in pattern.finditer(text)}
    assert len(texts) > 500 and not cited


def test_every_mistake_has_its_resolution() -> None:
    """The tags C-1, C-2, ... are the rows of one table; pages use no other."""
    index = (ROOT / "docs" / "algorithms" / "README.md").read_text("utf-8")
    listed = re.findall(r"^\| (C-\d+) \|.*\]\(", index, re.M)
    assert listed == [f"C-{n}" for n in range(1, len(listed) + 1)] and len(listed) > 20
    used = {tag for page in PAGES for tag in re.findall(r"\bC-\d+\b", page.read_text("utf-8"))}
    assert used <= set(listed)
