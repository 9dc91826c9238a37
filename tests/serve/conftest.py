"""A server on the shop's release, as the command starts it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from postgres.server import wheel
from session.conftest import shop  # noqa: F401 - the releases

try:
    import psycopg
    import pygwire  # noqa: F401
    import scramp  # noqa: F401
except ImportError:  # without the extra anondb[serve]
    collect_ignore_glob = ["test_*.py"]
PASSWORD = "correct horse battery"
PSQL = shutil.which("psql", path=f"{wheel()}{os.pathsep}{os.environ['PATH']}")  # that of the other tests' PostgreSQL first


@dataclass(frozen=True)
class Server:
    """A running server: its process, its port and what it printed."""

    process: subprocess.Popen[str]
    port: int
    said: list[str]

    def url(self, user: str = "analyst", password: str = PASSWORD, host: str = "127.0.0.1") -> str:
        return f"host={host} port={self.port} user={user} dbname=shop password='{password}' connect_timeout=20"

    def connect(self, **options: Any) -> Any:
        return psycopg.connect(self.url(), **options)


@contextlib.contextmanager
def running(file: Path, *options: str) -> Iterator[Server]:
    """Start ``anondb serve`` on a free port, and end it with Ctrl-C."""
    command = [sys.executable, "-m", "anondb", "serve", str(file), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = [process.stdout.readline(), process.stdout.readline()]
        assert "127.0.0.1:" in said[0], process.communicate()
        yield Server(process, int(said[0].split("127.0.0.1:")[1].split("/")[0]), said)
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0 and "Traceback" not in errors, errors


@pytest.fixture(scope="module", autouse=True)
def few_worlds() -> None:
    """As many worlds as the server has, which runs in another process."""


@pytest.fixture(scope="session")
def password_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("password") / "password.txt"
    path.write_text(PASSWORD + "\n", "utf-8")
    path.chmod(0o600)
    return path


Start = Callable[..., contextlib.AbstractContextManager[Server]]


@pytest.fixture(scope="session")
def start(shop: Path, password_file: Path) -> Start:  # noqa: F811
    """Starts a server with options."""
    return lambda *options: running(shop / "supports.duckdb", "--password-file", str(password_file), *options)


@pytest.fixture(scope="session")
def server(start: Start) -> Iterator[Server]:
    with start() as begun:
        yield begun


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[Any]:
    with server.connect(autocommit=True) as connection:
        yield connection
