"""The window in headless Chromium: what people see and do, at two widths, light and dark, by mouse and by keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from report.browser import CHROMIUM, PRINTED, Browser
from report.test_in_a_browser import CUT, CUT_TEXTS
from ui.client import Client, window
from ui.conftest import HOSTILE

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]
UNNAMED = """[...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, progress, a, summary, th')]
  .filter(e => !(e.labels && e.labels.length) && !e.ariaLabel && !e.textContent.trim()).map(e => e.outerHTML)"""
MUTE = "[...document.querySelectorAll('svg[role]')].filter(e => e.getAttribute('role') == 'img' || !e.ariaLabel).length"
BARE = """(() => { const shown = e => e.getBoundingClientRect().height > 0, bare = h => {
    let e = h.nextElementSibling;
    while (e && !/^H/.test(e.tagName)) { if (shown(e)) return false; e = e.nextElementSibling; }
    return !e || e.tagName <= h.tagName; };
  return [...document.querySelectorAll('h2, h3')].filter(shown).filter(bare).map(h => h.textContent) })()"""
LEVELS = """(() => { const all = [...document.querySelectorAll('h1, h2, h3, h4')].map(e => +e.tagName[1]);
  return all.filter((level, i) => i && level > all[i - 1] + 1).length + (all.filter(x => x == 1).length != 1) })()"""


@pytest.fixture(scope="module")
def reader(files: Path, chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A window in the browser, which has exchanged the token."""
    with window(str(files / "spring.duckdb"), folder=tmp_path_factory.mktemp("reader")) as opened:
        chromium.open(opened.address, 1280)
        yield opened


def look(chromium: Browser, address: str, wanted: str) -> None:
    """Look at a page as people with small and large windows do, in both colour schemes, and on paper; it loads only from its
    host."""
    host = address.split("/")[2]
    colours = set()
    for width in (1280, 390):
        for dark in (False, True):
            chromium.open(address, width, dark=dark)
            chromium.until(wanted)
            assert chromium.evaluate("document.documentElement.scrollWidth") == width, (address, width)
            assert chromium.evaluate(CUT) == 0 and chromium.evaluate(CUT_TEXTS) == [], (address, width)
            assert chromium.evaluate(UNNAMED) == [] and chromium.evaluate(LEVELS) == 0, address
            assert chromium.evaluate(MUTE) == 0, "a screen reader need not read the texts of an img"
            assert all(m.startswith(f"request to http://{host}/") for m in chromium.messages), chromium.messages
            colours.add(chromium.evaluate("getComputedStyle(document.body).backgroundColor"))
            assert chromium.evaluate("document.title").endswith("anondb")
    assert len(colours) == 2
    chromium.open(address, PRINTED, printed=True)
    chromium.until(wanted)
    assert chromium.evaluate("document.documentElement.scrollWidth") == PRINTED and chromium.evaluate(CUT) == 0, address
    assert chromium.evaluate(BARE) == [], "a heading is printed without its part"


def typed(chromium: Browser, text: str) -> None:
    """Type into what has the focus."""
    chromium.call("Input.insertText", text=text)


def pressed(chromium: Browser, key: str, code: int, modifiers: int = 0) -> None:
    """Press a key; ``modifiers`` 2 is Ctrl, 8 is Shift."""
    for kind in ("keyDown", "keyUp"):
        how = {"type": kind, "key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        chromium.call("Input.dispatchKeyEvent", **how, **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))


def test_a_reader_asks_by_keyboard(chromium: Browser, reader: Client) -> None:
    chromium.open(f"http://{reader.host}/ask", 1280)
    chromium.until("document.querySelector('#sql')")
    chromium.until("document.activeElement.id == 'sql'")
    typed(chromium, "SELECT item, count(DISTINCT tid) AS n FROM sal")
    chromium.until("!document.querySelector('#offers').hidden")
    pressed(chromium, "Tab", 9)
    assert chromium.evaluate("document.querySelector('#sql').value").endswith("FROM sales")
    typed(chromium, " GROUP BY item ORDER BY n DESC")
    pressed(chromium, "Enter", 13, 2)
    chromium.until("document.querySelector('#answer')")
    shown = chromium.evaluate("document.querySelector('main').innerText")
    assert "exactly" in shown and "<img src=x" in shown and chromium.evaluate("document.images.length") == 0
    look(chromium, f"http://{reader.host}/ask", "document.querySelector('h2')")
    spread = "document.querySelector('[name=bounds]').value = 'spread'; document.querySelector('#sql').form.requestSubmit()"
    chromium.evaluate(spread)
    chromium.until("document.querySelector('main').innerText.includes('plausibly')")
    for part in ("ask", "audit"):
        look(chromium, f"http://{reader.host}/{part}", "document.querySelector('h2')")


def test_labels_are_never_code(chromium: Browser, reader: Client) -> None:
    chromium.open(f"http://{reader.host}/ask", 1280)
    chromium.until("document.querySelector('#sql')")
    ask = f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item = {json.dumps(HOSTILE)[1:-1]!r}"
    chromium.evaluate(
        f"(() => {{ const s = document.querySelector('#sql'); s.value = {json.dumps(ask)}; s.form.requestSubmit() }})()"
    )
    chromium.until(f"document.querySelector('#sql').value == {json.dumps(ask)} && !document.querySelector('.job')")
    assert "hacked" not in chromium.evaluate("document.title") and chromium.evaluate("document.images.length") == 0


def test_another_browser_stays_outside(chromium: Browser, reader: Client) -> None:
    for address in (reader.address, reader.address.partition("=")[0] + "=wrong", f"http://{reader.host}/ask"):
        with chromium.tab(is_stranger=True):
            chromium.call("Page.navigate", url=address)
            chromium.until("document.body && document.body.innerText.includes('Open the address that anondb ui printed')")
            assert chromium.evaluate("document.cookie") == "" and chromium.call("Network.getCookies")["cookies"] == []
    chromium.open(f"http://{reader.host}/ask", 1280)
    chromium.until("document.querySelector('#sql')")
    assert chromium.evaluate("document.cookie") == "", "no script reads it"
    (cookie,) = chromium.call("Network.getCookies")["cookies"]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["session"]
    chromium.evaluate(
        "window.said = []; for (const kind of ['open', 'close']) (window.socket ??= new WebSocket"
        "(`ws://${location.host}/ask`)).addEventListener(kind, () => window.said.push(kind))"
    )
    chromium.until("window.said.length")
    assert chromium.evaluate("window.said") == ["close"]


def test_a_page_of_elsewhere_cannot_ask(chromium: Browser, reader: Client, tmp_path: Path) -> None:
    chromium.open(f"http://{reader.host}/ask", 1280)
    chromium.until("document.querySelector('#sql')")
    before = chromium.evaluate("document.querySelector('#sql').value")
    evil = tmp_path / "evil.html"
    evil.write_text(f"<form method=post action=http://{reader.host}/ask><input name=sql value='SELECT 1'></form>")
    chromium.open(evil, 1280)
    chromium.evaluate("document.forms[0].submit()")
    chromium.until("location.protocol == 'http:' && document.readyState == 'complete'")
    assert "not come from a page of this window" in chromium.evaluate("document.body.innerText")
    chromium.open(f"http://{reader.host}/ask", 1280)
    chromium.until("document.querySelector('#sql')")
    assert chromium.evaluate("document.querySelector('#sql').value") == before
