"""The window: who may speak to it, its work, and its end."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.shop import Run
from ui.client import Client, window, window_on

import anondb
from anondb.errors import InputError
from anondb.ui.serve import READERS
from anondb.ui.window import Project
from anondb.ui.worker import Say, Worker


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with window(folder=tmp_path_factory.mktemp("empty")) as opened:
        assert opened.enter().status == 200
        yield opened


def test_the_token_opens_the_window_once(client: Client) -> None:
    assert client.ask("GET", "/load").status == 200
    stranger = Client(client.address)
    assert stranger.enter().status == 403 and stranger.ask("GET", "/load").status == 403
    wrong = Client(client.address.partition("=")[0] + "=x" * 43)
    assert wrong.enter().status == 403 and wrong.cookie == ""


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/load", {"Host": "anondb.example"}, 421),
        ("GET", "/load", {"Origin": "http://anondb.example"}, 403),
        ("POST", "/ask/open", {"Origin": "http://anondb.example"}, 403),
        ("POST", "/ask/open", {"Origin": "null"}, 403),
        ("POST", "/ask/open", {"Origin": ""}, 403),
        ("POST", "/jobs/x/stop", {"Cookie": "anondb_ui_1=x"}, 403),
        ("GET", "/static/../guard.py", {}, 404),
        ("GET", "/jobs/none", {}, 200),
        ("GET", "/favicon.ico", {}, 200),
        ("POST", "/jobs/none/stop", {}, 404),
        ("PUT", "/ask", {}, 405),
    ],
)
def test_strangers_are_refused(client: Client, method: str, path: str, headers: dict[str, str], status: int) -> None:
    reply = client.ask(method, path, **headers)
    assert reply.status == status
    assert status < 400 or re.search("Open the address|do it there|Go back|read the page", reply.text), reply.text


def test_web_sockets_are_closed(client: Client) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13", "Sec_WebSocket_Key": "eA=="}
    reply = client.ask("GET", "/load", **upgrade)
    assert reply.status in (200, 403)  # an ordinary answer, never an upgrade


def test_every_page_is_locked_and_loads_nothing_from_elsewhere(client: Client) -> None:
    for path in ("/load", "/understand", "/choose", "/publish", "/ask", "/audit"):
        reply = client.ask("GET", path)
        headers = {name.lower(): value for name, value in reply.headers.items()}
        assert reply.status == 200, (path, reply.text)
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert headers["cache-control"] == "no-store" and "uvicorn" not in str(headers)
        assert "http://" not in reply.text and "https://" not in reply.text and " style=" not in reply.text
        assert "<h1" in reply.text and reply.text.count('aria-current="page"') == 1


def works(say: Say, seconds: float, fails: str = "") -> Any:
    say("begun")
    time.sleep(seconds)
    if fails == "input":
        raise InputError("That is wrong.", code="bad_parameter", hint="Mend it.")
    if fails == "mistake":
        raise RuntimeError("Ann has asthma")
    return os.getpid()


def ends_all_the_same(say: Say) -> str:
    """A task that an interrupt comes too late for."""
    try:
        say("begun")
        time.sleep(60)
    except KeyboardInterrupt:
        return "made"
    return "not interrupted"


def dies(say: Say) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ignores(say: Say) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    time.sleep(60)


@pytest.mark.slow
def test_work_is_done_in_order_stopped_and_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anondb.ui.worker._PATIENCE", 0.2)
    worker = Worker()
    try:
        first, second = (worker.submit("Working", works, {"seconds": 0}) for _ in range(2))
        odd = worker.submit("Working", works, {"seconds": 0}, then=lambda _: works(print, 0, "input"))
        wrong, mistake = (worker.submit("Working", works, {"seconds": 0, "fails": f}) for f in ("input", "mistake"))
        long, waiting = (worker.submit("Working", works, {"seconds": 60}) for _ in range(2))
        ended(mistake)
        assert first.state == "done" and first.result == second.result != os.getpid()
        assert odd.state == "failed" and odd.problem is not None and odd.problem.hint == "Mend it."
        assert wrong.problem is not None and (wrong.problem.words, wrong.problem.hint) == ("That is wrong.", "Mend it.")
        assert mistake.problem is not None and "Ann" not in mistake.problem.words
        waiting.stop()
        while long.state != "running":
            time.sleep(0.01)
        long.stop()
        ended(long)
        assert [long.state, waiting.state] == ["stopped", "stopped"]
        late = worker.submit("Working", ends_all_the_same, {})
        while late.step != "begun":
            time.sleep(0.01)
        late.stop()
        ended(late)
        assert (late.state, late.result) == ("done", "made"), "what was made is not said to be stopped"
        again = worker.submit("Working", works, {"seconds": 0})
        gone, stubborn = worker.submit("Working", dies, {}), worker.submit("Working", ignores, {})
        ended(gone)
        assert again.state == "done" and gone.state == "failed"
        while stubborn.state != "running":
            time.sleep(0.01)
        stubborn.stop()
        last = worker.submit("Working", works, {"seconds": 0})
        ended(last)
        assert last.state == "done" and last.result != first.result
    finally:
        worker.close()


def ended(job: Any) -> None:
    begun = time.monotonic()
    while job.is_active:
        assert time.monotonic() - begun < 60, job
        time.sleep(0.01)


@pytest.mark.slow
def test_work_that_waits_is_not_begun_at_the_end() -> None:
    worker = Worker()
    first, second = (worker.submit("Working", works, {"seconds": n}) for n in (60, 1))
    while first.step != "begun":
        time.sleep(0.01)
    worker.close()
    assert first.state == "stopped" and second.result is None


@pytest.mark.slow
def test_work_is_stopped_at_once_while_its_process_starts() -> None:
    for tenths in range(5):
        worker = Worker()
        job = worker.submit("Working", works, {"seconds": 60})
        time.sleep(tenths / 10)
        job.stop()
        ended(job)
        assert job.state == "stopped" and job.seconds < 4
        worker.close()


def test_what_cannot_be_opened_is_refused_before_the_window(run: Run, tmp_path: Path) -> None:
    assert run("ui", tmp_path / "none.csv", "--no-browser").code == 2
    (tmp_path / "broken.duckdb").write_text("no database")
    refused = run("ui", tmp_path / "broken.duckdb", "--no-browser")
    assert refused.code == 2 and "Traceback" not in refused.err


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_what_was_dropped_is_deleted_however_the_window_ends(end: signal.Signals, files: Path, tmp_path: Path) -> None:
    with window(folder=tmp_path, end=end) as client:
        client.enter()
        page = client.drop("/load/source", files / "shop.duckdb")
        page = client.done("/load")
        assert "Write the path of the database" in page and list(tmp_path.glob("*/*/shop.duckdb"))
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_made_says_so(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("Ann has asthma")

    monkeypatch.setattr("anondb.ui.window.shown", fails)
    with window_on(str(files / "spring.duckdb"), parts=READERS) as client:
        client.enter()
        reply = client.ask("GET", "/audit")
    assert reply.status == 500 and "mistake in anondb" in reply.text and "Ann" not in reply.text


@pytest.mark.slow
def test_work_that_ends_while_its_page_is_made_is_not_forgotten(files: Path) -> None:
    """The page that began it shows it as running, and is read again; the next one has the result."""
    with window_on(Project(str(files / "shop.duckdb"), "sales")) as client:
        client.enter()
        for path, shown in (("/publish", "spring"), ("/understand", "<svg")):
            assert 'class="job"' in client.get(path) and shown in client.done(path)


def test_the_first_picture_waits_for_no_engine(tmp_path: Path) -> None:
    rows = (f"{person},{person % 2}\n" for person in range(100))  # one item of each, which is a finding
    (tmp_path / "purchases.csv").write_text("customer,product\n" + "".join(rows))
    with anondb.connect() as database:
        look = database.peek(tmp_path / "purchases.csv")
    assert look.findings and look.counts and look.account
    code = "import pickle, sys, anondb.ui.load as load; load.pictures_of(pickle.load(sys.stdin.buffer).counts)"
    code += "; print({'duckdb', 'numpy'} & sys.modules.keys())"
    shown = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(look), capture_output=True, check=True)
    assert shown.stdout.strip() == b"set()", "the window's process would import for as long as another one reads"
