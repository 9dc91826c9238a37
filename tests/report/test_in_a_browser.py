"""Pages in headless Chromium: no sideways scrolling, no message, nothing loaded, and nothing cut off on A4 paper."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.test_compare import FACTS, result, setting
from portions import some
from report.browser import CHROMIUM, PRINTED, Browser, browser
from report.kinds import KINDS, owner, release

import anondb
from anondb.compare.report import comparison

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]
WIDTHS = (390, 1280)
CUT = """[...document.querySelectorAll('table, td, th, svg, pre, p, .tile')].filter(e => {
  const r = e.getBoundingClientRect(), page = document.body.getBoundingClientRect();
  return r.width && (r.right > page.right + 1 || r.left < page.left) }).length"""
FLOATING = """[...document.querySelectorAll('td:not(.text):not(:first-child)')].filter(e => {
  const r = e.getBoundingClientRect(), next = e.nextElementSibling;
  return r.width && r.right < e.parentElement.getBoundingClientRect().right - 2
    && !(next && Math.abs(next.getBoundingClientRect().top - r.top) < 2) }).length"""
CUT_TEXTS = """[...document.querySelectorAll('body :not(svg) > svg text')].filter(e => {
  const r = e.getBoundingClientRect(), s = e.ownerSVGElement.getBoundingClientRect();
  return r.width && e.ownerSVGElement.parentElement.tagName != 'g' && (r.right > s.right + 1 || r.left < s.left - 1)
  }).map(e => e.textContent)"""
COLOUR = "getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def compared() -> str:
    """The page of a comparison with ties, a failure and a long message."""
    runs: list[dict[str, Any]] = [
        {"algorithm": a, "k": k, "m": m, "ncp": 0.01 * k * m} for a in ("mm", "coat", "pcta", "mhghs") for k in (2, 5, 50)
        for m in (1, 2)
    ]  # fmt: skip
    failed = result("apriori", 2, 2, 0.0, status="timeout", message="It was stopped. " * 20)
    return comparison([*(result(**run) for run in runs), failed], setting(memory_limit="4GB"), FACTS)


@pytest.fixture(scope="module")
def pages(with_some: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of a release for its owner and for analysts, and that of a comparison."""
    place = tmp_path_factory.mktemp("pages")
    with anondb.connect(with_some, read_only=True) as database:
        for name, public in (("owner", False), ("public", True)):
            page = database.release("some").report_html(public=public, queries=50)
            (place / f"{name}.html").write_text(page, "utf-8")
    (place / "compare.html").write_text(compared(), "utf-8")
    return place


def check(chromium: Browser, page: Path, target: Path) -> None:
    """Whether a page fits in every window and scheme, and on paper."""
    seen = set()
    for width in WIDTHS:
        for dark in (False, True):
            chromium.open(page, width, dark=dark)
            assert chromium.evaluate("document.documentElement.scrollWidth") == width
            assert chromium.evaluate(CUT) == 0 and chromium.messages == []
            assert chromium.evaluate(FLOATING) == 0 or width > 640, "a number in the middle of a row"
            assert chromium.evaluate(CUT_TEXTS) == []
            seen.add(chromium.evaluate(COLOUR))
            drawn = chromium.evaluate("[...document.querySelectorAll('svg')].filter(s => s.clientWidth > 200).length")
            assert drawn >= 1 or "<svg" not in page.read_text("utf-8")
    assert len(seen) == 2, "light and dark"
    chromium.open(page, PRINTED, dark=True, printed=True)
    assert chromium.evaluate(CUT) == 0 and chromium.evaluate("document.documentElement.scrollWidth") == PRINTED
    assert chromium.evaluate(COLOUR) in seen - {_dark(chromium, page)}, "paper is light"
    chromium.open(page, 1280)
    cells = chromium.evaluate("[...document.querySelectorAll('td, th')].map(e => e.innerText)")
    chromium.print_to(target)
    assert target.read_bytes().startswith(b"%PDF")
    if shutil.which("pdftotext"):
        printed = subprocess.run(["pdftotext", str(target), "-"], capture_output=True, check=True).stdout.decode()
        words = set(printed.split())
        assert {word for cell in cells for word in cell.split() if word.isascii() and len(word) < 12} <= words


def _dark(chromium: Browser, page: Path) -> Any:
    chromium.open(page, 1280, dark=True)
    return chromium.evaluate(COLOUR)


@pytest.mark.parametrize("name", ["owner", "public", "compare"])
def test_pages(chromium: Browser, pages: Path, tmp_path: Path, name: str) -> None:
    check(chromium, pages / f"{name}.html", tmp_path / "page.pdf")


@pytest.mark.parametrize("kind", some(KINDS, "buckets", "records", "thousands", check=()))
def test_pages_of_every_kind(chromium: Browser, tmp_path: Path, kind: str) -> None:
    with anondb.connect(owner(tmp_path / "shop.duckdb")) as database:
        made = release(database, kind)
        for public in (False, True):
            page = tmp_path / "page.html"
            page.write_text(made.report_html(public=public, queries=50), "utf-8")
            check(chromium, page, tmp_path / "page.pdf")


def test_the_checks_find_what_they_look_for(chromium: Browser, tmp_path: Path) -> None:
    page = tmp_path / "wide.html"
    page.write_text("<!doctype html><table><tr><td><pre style='width:2000px'>x</pre></table><script>lost()</script>")
    chromium.open(page, 1280)
    assert chromium.evaluate("document.documentElement.scrollWidth") > 1280 and chromium.evaluate(CUT) > 0
    assert any("lost is not defined" in message for message in chromium.messages)
