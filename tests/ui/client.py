"""A window of ``anondb ui`` as a process of its own, and a client that speaks HTTP to it as a browser does."""

from __future__ import annotations

import http.client
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import uvicorn

from anondb.ui.app import application
from anondb.ui.guard import Guard
from anondb.ui.window import PARTS, Project, Window
from anondb.ui.worker import DONE, Job, Worker, _outcome

WAIT = 60  # seconds


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Client:
    """Whoever opens the address that a window printed."""

    address: str
    cookie: str = ""
    seen: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Reply:
        """One request, as a page of the window sends it; ``headers`` have _ for -."""
        said = {"Host": self.host, "Origin": f"http://{self.host}", "Cookie": self.cookie}
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", int(self.host.partition(":")[2]), timeout=WAIT)
        try:
            connection.request(method, path, body, {name: value for name, value in said.items() if value})
            reply = connection.getresponse()
            return Reply(reply.status, dict(reply.getheaders()), reply.read().decode())
        finally:
            connection.close()

    def enter(self) -> Reply:
        """Exchange the token for the cookie."""
        parts = urlsplit(self.address)
        reply = self.ask("GET", f"{parts.path}?{parts.query}")
        self.cookie = reply.headers.get("set-cookie", "").partition(";")[0]
        return reply

    def get(self, path: str) -> str:
        """The text of a page."""
        reply = self.ask("GET", path)
        assert reply.status == 200, (path, reply.status, reply.text)
        self.seen = reply.text
        return reply.text

    def post(self, path: str, /, **fields: str | list[str]) -> str:
        """Send a form, and read the page that follows."""
        hidden = re.search(rf'action="{path}"[^>]*><input type="hidden" name="(\w+)" value="(\w+)"', self.seen)
        form = urlencode(dict([hidden.groups()] if hidden else []) | fields, doseq=True).encode()
        return self._follow(self.ask("POST", path, form, Content_Type="application/x-www-form-urlencoded"), path)

    def drop(self, path: str, file: Path, /, **fields: str) -> str:
        """Send a form with a file, and read the page that follows."""
        mark = uuid.uuid4().hex
        parts = [f'--{mark}\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n' for n, v in fields.items()]
        parts.append(f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{file.name}"\r\n\r\n')
        body = "".join(parts).encode() + file.read_bytes() + f"\r\n--{mark}--\r\n".encode()
        return self._follow(self.ask("POST", path, body, Content_Type=f"multipart/form-data; boundary={mark}"), path)

    def _follow(self, reply: Reply, path: str) -> str:
        assert reply.status == 303, (path, reply.status, reply.text)
        return self.get(reply.headers["location"].partition("#")[0])

    def done(self, path: str) -> str:
        """A page, when no work runs there any more."""
        begun = time.monotonic()
        while 'class="job"' in (text := self.get(path)):
            assert time.monotonic() - begun < WAIT, text
            time.sleep(0.02)
        return text


@contextmanager
def window(*words: str, folder: Path, end: signal.Signals = signal.SIGINT) -> Iterator[Client]:
    """Start ``anondb ui`` in a folder, and end it as Ctrl-C does."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUNBUFFERED": "1", "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "anondb", "ui", *words, "--no-browser"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = re.search(r"http://\S+", said)
        assert address, (said, process.communicate(timeout=WAIT))
        yield Client(address[0])
        process.send_signal(end)
        out, error = process.communicate(timeout=WAIT)
        assert error.strip() == "Stopped." and process.returncode == 0, (process.returncode, out, error)
    finally:
        process.kill()
        process.wait()


class AtOnce(Worker):
    """Does tasks in this process, at once."""

    def __init__(self) -> None: ...

    def submit(
        self, words: str, task: Callable[..., Any], arguments: dict[str, Any], then: Callable[[Any], None] | None = None
    ) -> Job:
        kind, value = _outcome(partial(task, lambda words: None, **pickle.loads(pickle.dumps(arguments))))
        done = {"result": pickle.loads(pickle.dumps(value))} if kind == DONE else {"problem": value}
        if kind == DONE and then is not None:
            then(value)
        return Job(0, self, words, task, arguments, state=kind, ended=time.monotonic(), **done)

    def stop(self, job: Job) -> None: ...

    def close(self) -> None: ...


@contextmanager
def window_on(source: str | Project, worker: type[Worker] = AtOnce, parts: Sequence[str] = tuple(PARTS)) -> Iterator[Client]:
    """A window of this process on a file, or with a project loaded; its work is done at once, or by processes as usual."""
    if isinstance(source, Project):
        opened = Window(worker(), worker(), source=source.database, project=source)
    else:
        opened = Window(worker(), worker(), tuple(parts), source)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        guard = Guard(application(opened), port)
        server = uvicorn.Server(uvicorn.Config(guard, log_config=None, log_level="critical", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Client(f"http://127.0.0.1:{port}/?token={guard.token}")
        finally:
            server.should_exit = True
            thread.join()
            opened.close()
