"""From a promise to a published file in headless Chromium, with work that is stopped and pages that are read again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from report.browser import CHROMIUM, Browser
from ui.client import Client, window_on
from ui.test_in_a_browser import look, pressed

import anondb
from anondb.release.signing import new_keys
from anondb.ui.window import Project
from anondb.ui.worker import Worker

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]
QUIET = "!document.querySelector('.job')"


@pytest.fixture(scope="module")
def owner(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    """A window on the hostile shop, without what was released of it."""
    place = tmp_path_factory.mktemp("owner")
    shutil.copy(files / "shop.duckdb", place / "shop.duckdb")
    with window_on(Project(str(place / "shop.duckdb"), "sales", {"taxonomy": "food"}), Worker) as opened:
        yield opened, place


def fill(chromium: Browser, **fields: str) -> None:
    """Write into fields by name, and tick those of ``yes``."""
    for name, value in fields.items():
        found = f"document.querySelector('main [name={name}]:not([type=hidden])')"
        chromium.evaluate(f"{found}.checked = true" if value == "yes" else f"{found}.value = {value!r}")


def press(chromium: Browser, words: str, then: str, leaves: bool = True) -> None:
    """Press the first button with these words, and wait, if it leaves the page for the next one."""
    buttons = f"[...document.querySelectorAll('button')].filter(b => b.innerText.startsWith({words!r}))"
    chromium.evaluate(f"window.isLeft = {str(leaves).lower()}; {buttons}[0].click()")
    chromium.until(f"!window.isLeft && document.readyState == 'complete' && ({then})")


def unfold(chromium: Browser, words: str) -> None:
    """Open the first part with these words, if it is folded."""
    found = f"[...document.querySelectorAll('summary')].find(s => s.innerText.startsWith({words!r}))"
    chromium.evaluate(f"{found}.parentElement.open || {found}.click()")


def test_from_a_promise_to_a_file(chromium: Browser, owner: tuple[Client, Path]) -> None:
    client, place = owner
    host = f"http://{client.host}"
    chromium.open(client.address, 1280)
    look(chromium, f"{host}/choose", "document.querySelector('.promise')")
    fill(chromium, k="2")
    press(chromium, "Try candidates", "document.querySelector('.job progress')")
    chromium.open(f"{host}/choose", 390)
    chromium.until("document.querySelector('.job progress')")
    chromium.evaluate("document.querySelector('.job button').focus(); document.querySelector('.said').id = 'first'")
    chromium.until("document.querySelector('.said') && !document.querySelector('#first')")
    assert chromium.evaluate("document.activeElement.innerText") == "Stop", "progress that is read again takes no focus"
    pressed(chromium, "Enter", 13)
    chromium.until("document.querySelector('main').innerText.includes('was stopped')")
    chromium.until("document.activeElement.id == 'main'")
    chromium.evaluate("document.querySelector('[value=items]').click()")
    fill(chromium, k="2", m="1, 2", supports="no")
    press(chromium, "Try candidates", "document.querySelectorAll('[name=pair]').length == 2")
    look(chromium, f"{host}/choose", "document.querySelector('#candidates svg')")
    chromium.evaluate("document.querySelectorAll('[name=pair]').forEach(box => box.click())")
    press(chromium, "Look at two", "document.querySelector('#why')")
    fill(chromium, item="c")
    press(chromium, "Explain", f"{QUIET} && document.querySelector('main').innerText.includes('published as it is')")
    look(chromium, f"{host}/choose/pair", "document.querySelector('#why') && document.querySelector('svg')")
    press(chromium, "Choose the second", f"location.pathname == '/publish' && {QUIET}")
    look(chromium, f"{host}/publish", f"document.querySelector('#history table') && {QUIET}")
    fill(chromium, name="picked")
    press(chromium, "Make the release", f"{QUIET} && document.querySelector('.checks')")
    look(chromium, f"{host}/publish", f"document.querySelector('.checks') && {QUIET}")
    fill(chromium, path=str(place / "picked.duckdb"), allow_overlap="yes")
    press(chromium, "Publish", f"{QUIET} && document.querySelector('#published h2')")
    look(chromium, f"{host}/publish", f"document.querySelector('#published h2') && {QUIET}")
    digest = anondb.verify_file(place / "picked.duckdb").content_digest
    assert digest in chromium.evaluate("document.querySelector('main').innerText")
    assert "hacked" not in chromium.evaluate("document.title") and chromium.evaluate("document.images.length") == 0
    for kind in ("owner", "public"):
        chromium.open(f"{host}/publish/report/{kind}", 1280)
        chromium.until("document.querySelector('svg')")
        assert chromium.evaluate("getComputedStyle(document.querySelector('h1')).fontSize") == "25.6px", "it has its style"
        assert all(message.startswith("request to ") for message in chromium.messages), chromium.messages


def test_two_tabs_show_one_window(chromium: Browser, owner: tuple[Client, Path]) -> None:
    client, _ = owner
    address = f"http://{client.host}/choose"
    chromium.open(client.address, 1280)
    chromium.open(address, 1280)
    unfold(chromium, "The promise")
    chromium.evaluate("document.querySelector('[value=counts]').click()")
    fill(chromium, k="2, 3", m="1, 2", supports="both")
    press(chromium, "Try candidates", "document.querySelector('.job progress')")
    with chromium.tab():
        chromium.open(address, 390)
        press(chromium, "Stop", "document.querySelector('main').innerText.includes('was stopped')", leaves=False)
    chromium.until("document.querySelector('main').innerText.includes('was stopped')")
    tried = "document.querySelectorAll('[name=pair]').length == 2"
    chromium.evaluate("document.querySelector('[value=items]').click()")
    fill(chromium, k="2", supports="no")
    press(chromium, "Try candidates", tried)
    with chromium.tab():
        chromium.open(address, 1280)
        chromium.until(tried)
        unfold(chromium, "The promise")
        fill(chromium, m="1")
        press(chromium, "Try candidates", "document.querySelectorAll('[name=pair]').length == 1")
    press(chromium, "Choose", "document.querySelectorAll('[name=pair]').length == 1")
    assert chromium.evaluate("location.pathname") == "/choose", "a candidate that is no longer there"


def test_a_release_is_signed_recalled_and_dropped(chromium: Browser, owner: tuple[Client, Path]) -> None:
    client, place = owner
    host = f"http://{client.host}"
    key, public, _ = new_keys(place / "owner")
    chromium.open(client.address, 1280)
    chromium.open(f"{host}/publish", 1280)
    chromium.until(f"{QUIET} && document.querySelector('#history table')")
    press(chromium, "Check", f"{QUIET} && document.querySelector('.checks')")
    chromium.evaluate("document.querySelectorAll('[name=allow_overlap]').forEach(box => box.click())")  # of other tests
    fill(chromium, path=str(place / "signed.duckdb"), sign=str(place / "none.key"))
    press(chromium, "Publish", f"{QUIET} && document.querySelector('#published .problem')")
    assert "Check the path" in chromium.evaluate("document.querySelector('#published .problem').innerText")
    fill(chromium, sign=str(key))
    press(chromium, "Publish", f"{QUIET} && document.querySelector('#published h2')")
    assert "It is to be signed" in chromium.evaluate("document.querySelector('.checks').innerText")
    look(chromium, f"{host}/publish", f"document.querySelector('#published h2') && {QUIET}")
    assert anondb.verify_file(place / "signed.duckdb", trusted=str(public)).holds
    chromium.open(f"{host}/publish", 1280)
    press(chromium, "Audit it", f"location.pathname == '/audit' && {QUIET} && document.querySelector('#verdict')")
    unfold(chromium, "Check another file")
    fill(chromium, trusted=str(public))
    press(chromium, "Check", f"{QUIET} && document.querySelector('.checks').innerText.includes('A key that you trust')")
    look(chromium, f"{host}/audit", "document.querySelector('#verdict')")
    chromium.open(f"{host}/publish", 1280)
    chromium.until(f"{QUIET} && document.querySelector('#history table')")
    unfold(chromium, "Recall a publication")
    chromium.until("document.querySelector('#history').innerText.includes('cannot be taken back')")
    dropped = "document.querySelector('[action=\"/publish/drop\"] [name=name]').value"
    name = chromium.evaluate(dropped)
    unfold(chromium, "Drop")
    press(chromium, "Drop it", f"{QUIET} && document.querySelector('#history').innerText.includes('(dropped)')")
    look(chromium, f"{host}/publish", f"document.querySelector('#history table') && {QUIET}")
    with anondb.connect(place / "shop.duckdb", read_only=True) as database:
        assert {entry.name: entry.status for entry in database.releases()}[name] == "dropped"


def test_a_window_that_ended_is_not_waited_for(chromium: Browser, owner: tuple[Client, Path]) -> None:
    chromium.open(owner[0].address, 1280)
    chromium.open(f"http://{owner[0].host}/choose", 1280)
    chromium.evaluate("document.querySelector('[name=try]').click()")
    chromium.until("document.querySelector('.job progress')")
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    chromium.call("Network.emulateNetworkConditions", offline=True, **network)
    try:
        chromium.until("document.querySelector('main').innerText.includes('Start anondb ui again')")
    finally:
        chromium.call("Network.emulateNetworkConditions", offline=False, **network)
