"""A headless Chromium, steered over a pipe: widths, colour schemes, messages, pictures and prints of a page."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
A4 = (8.27, 11.69)  # inches
PRINTED = round((A4[0] - 2 * 0.4) * 96)  # the width of a printed page without its margins, in CSS pixels
WAIT = 60  # seconds
LAUNCHER = """if True:
    import fcntl, os, sys
    pipes = [fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]]
    for pipe, number in zip(pipes, (3, 4)):  # the browser reads 3 and writes 4
        os.dup2(pipe, number)
    os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page of a browser. Commands and events are JSON texts, each with a zero byte behind it."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back, self._number, self._rest = to, back, 0, b""
        self.messages: list[str] = []
        self._session: str | None = None
        self._begin_tab()

    def _begin_tab(self, is_stranger: bool = False) -> str | None:
        """Go on in a new tab, which is in front; return the session of the one before."""
        before, self._session = self._session, None
        context = self.call("Target.createBrowserContext") if is_stranger else {}
        target = self.call("Target.createTarget", url="about:blank", **context)["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return before

    @contextmanager
    def tab(self, *, is_stranger: bool = False) -> Iterator[None]:
        """A second tab, in which all happens meanwhile; that of a stranger has none of the cookies."""
        before = self._begin_tab(is_stranger)
        yield
        self.call("Page.close")
        self._session = before

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Run a command and return its result."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        command |= {} if self._session is None else {"sessionId": self._session}
        text = json.dumps(command).encode() + b"\0"
        assert os.write(self._to, text) == len(text)
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])

    def _next(self) -> dict[str, Any]:
        """The next answer or event; errors and requests are remembered."""
        while b"\0" not in self._rest:
            if not select.select([self._back], [], [], WAIT)[0]:
                raise TimeoutError(f"the browser has not answered for {WAIT} seconds")
            data = os.read(self._back, 1 << 20)
            assert data, "the browser ended"
            self._rest += data
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        method, params = message.get("method"), message.get("params", {})
        if method == "Log.entryAdded":
            self.messages.append(str(params["entry"]["text"]))
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.messages.append(json.dumps(params))
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith("file:"):
            self.messages.append("request to " + params["request"]["url"])
        return dict(message)

    def open(self, page: Path | str, width: int, *, dark: bool = False, printed: bool = False) -> None:
        """Load a page, a file or a URL, at a width, in a colour scheme, as on a screen or as on paper."""
        self.messages.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if printed else "screen", features=[scheme])
        address = page if isinstance(page, str) else page.resolve().as_uri()
        self.call("Page.navigate", url=address)
        if isinstance(page, str):  # which may lead elsewhere
            self.until("!/^about:|token=/.test(location.href) && document.readyState == 'complete'")
        else:
            self.until(f"document.readyState + location.href == {json.dumps('complete' + address)}")

    def until(self, condition: str, seconds: float = WAIT) -> None:
        """Wait until an expression is true in the page; a page that is being left has no values."""
        begun, value = time.monotonic(), None
        while not value:
            if time.monotonic() - begun > seconds:
                raise TimeoutError(f"not within {seconds} seconds: {condition}")
            with suppress(AssertionError):
                value = self.evaluate(f"!!({condition})")
            time.sleep(0.005)

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self, target: Path) -> None:
        """Write a picture of the whole page."""
        taken = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        target.write_bytes(base64.b64decode(taken["data"]))

    def print_to(self, target: Path) -> None:
        """Write the page as a PDF of A4 pages."""
        self.call("Emulation.setEmulatedMedia", media="print")
        size = {"paperWidth": A4[0], "paperHeight": A4[1], **{f"margin{s}": 0.4 for s in ("Left", "Right")}}
        printed = self.call("Page.printToPDF", printBackground=True, **size)
        target.write_bytes(base64.b64decode(printed["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it."""
    to_read, to = os.pipe()
    back, back_write = os.pipe()
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
    quiet = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars")
    command = [str(CHROMIUM), *flags, *quiet, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(to_read), str(back_write), *command],
        pass_fds=(to_read, back_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_read)
    os.close(back_write)
    try:
        opened = Browser(to, back)
        yield opened
        opened.call("Browser.close")
        process.wait(10)
    finally:
        process.kill()
        process.wait()
        os.close(to)
        os.close(back)
