"""The owner's window in headless Chromium: files that are dropped, and a tree that is edited by mouse and by keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from report.browser import CHROMIUM, Browser
from ui.client import Client, window
from ui.test_in_a_browser import look, pressed
from ui.test_owners import csv_file

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]
ROW = "[...document.querySelectorAll('.tree [data-node]')].find(row => row.querySelector('label').innerText.trim() == {!r})"
SETTLED = "document.readyState == 'complete' && !document.querySelector('.job, .htmx-request, .htmx-added, .htmx-settling')"
IDLE = SETTLED + " && !document.querySelector('.tree').innerText.includes('being counted')"
BESIDE = """(() => { const dataTransfer = new DataTransfer(); dataTransfer.items.add(new File(["x"], "x.csv"));
  return document.body.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer})) })()"""
DRAG = """(() => {{ const dataTransfer = new DataTransfer(), from = {}, to = {};
  const said = (kind, row) => row.dispatchEvent(new DragEvent(kind, {{bubbles: true, cancelable: true, dataTransfer}}));
  said('dragstart', from); said('dragover', to); said('drop', to) }})()"""


@pytest.fixture(scope="module")
def owner(chromium: Browser, files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with window(folder=tmp_path_factory.mktemp("owner")) as opened:
        chromium.open(opened.address, 1280)
        chromium.until("document.querySelector('input[type=file]')")
        yield opened


def send(chromium: Browser, action: str, **values: str) -> None:
    """Fill in a form of the page and send it."""
    form = f"document.querySelector('form[action=\"{action}\"]')"
    given = "".join(f"f.elements[{name!r}].value = {json.dumps(value)};" for name, value in values.items())
    chromium.evaluate(f"(() => {{ const f = {form}; {given} f.requestSubmit() }})()")


def below(label: str, n: int) -> str:
    return f"({ROW.format(label)} || document.body).innerText.includes('{n} below')"


def test_a_dropped_file(chromium: Browser, owner: Client, tmp_path: Path) -> None:
    assert chromium.evaluate(BESIDE) is False, "the browser does not open a file that is dropped beside the place for it"
    document = chromium.call("DOM.getDocument")["root"]["nodeId"]
    picker = chromium.call("DOM.querySelector", nodeId=document, selector="input[type=file]")["nodeId"]
    chromium.call("DOM.setFileInputFiles", files=[str(csv_file(tmp_path))], nodeId=picker)
    send(chromium, "/load/source")
    chromium.until("document.querySelector('form[action=\"/load/reading\"]') && document.body.innerText.includes('skip 1')")
    send(chromium, "/load/reading", skip="1", delimiter="|", id="client", item="thing")
    chromium.until("document.querySelector('.plots svg')")
    look(chromium, f"http://{owner.host}/load", "document.querySelector('.plots svg')")
    assert chromium.evaluate("document.querySelector('[name=database]').value") == "purchases.duckdb", (
        "not where it was kept"
    )


def test_a_tree_is_edited(chromium: Browser, owner: Client, files: Path) -> None:
    chromium.open(f"http://{owner.host}/load", 1280)
    chromium.until("document.querySelector('form')")
    send(chromium, "/load/source", path=str(files / "shop.duckdb"))
    chromium.until("document.querySelector('[name=transactions]')")
    chromium.evaluate("document.querySelector('[value=sales]').click()")
    send(chromium, "/load/reading")
    chromium.until("document.querySelector('.plots svg')")
    send(chromium, "/load/taxonomy", path="food")
    chromium.until("document.body.innerText.includes('It fits')")
    look(chromium, f"http://{owner.host}/load", "document.body.innerText.includes('It fits')")
    chromium.open(f"http://{owner.host}/load", 1280)
    send(chromium, "/load/confirm")
    chromium.until(f"location.pathname == '/understand' && document.querySelector('.tree') && {IDLE}")
    chromium.evaluate(f"{ROW.format('Y')}.querySelector('input').checked = true")
    chromium.evaluate(DRAG.format(ROW.format("X"), ROW.format("Y")))  # X alone, for it was not ticked
    chromium.until(f"{below('all', 1)} && {below('Y', 3)} && {IDLE}")
    assert chromium.evaluate("document.querySelectorAll('.tree input:checked').length") == 0
    chromium.evaluate("document.querySelector('[value=undo]').click()")
    chromium.until(f"{below('all', 2)} && {IDLE}")
    chromium.evaluate(f"{ROW.format('all')}.querySelector('input').focus()")
    for key, code, wanted in (
        ("ArrowDown", 40, "document.activeElement.closest('[data-node]').innerText.includes('X')"),
        ("ArrowRight", 39, ROW.format("a")),
        ("ArrowDown", 40, "document.activeElement.closest('[data-node]').innerText.includes('4 persons')"),
    ):
        pressed(chromium, key, code)
        chromium.until(wanted)
    chromium.evaluate("document.activeElement.click(); document.querySelector('[name=name]').focus()")
    chromium.call("Input.insertText", text="mine")
    pressed(chromium, "Tab", 9)
    pressed(chromium, "Tab", 9)
    assert chromium.evaluate("document.activeElement.value") == "group"
    pressed(chromium, "Enter", 13)
    chromium.until(f"{below('mine', 1)} && {IDLE}")
    assert chromium.evaluate("document.activeElement.value") == "group", "the focus stays where it was"
    look(chromium, f"http://{owner.host}/understand", f"document.querySelector('.tree') && {IDLE}")
