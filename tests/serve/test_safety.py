"""Who may connect, what a connection may do, and what the server does with clients that break the rules."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from each import each
from serve.conftest import PASSWORD, Server, Start, running

LONG = "SELECT count(*) FROM range(100000) a, range(100000) b, range(100) c WHERE a.range + b.range + c.range = 7"


def refused(url: str) -> str:
    with pytest.raises(psycopg.OperationalError) as error:
        psycopg.connect(url)
    return str(error.value).partition("FATAL:")[2].strip()


def closed(client: socket.socket, seconds: float) -> bool:
    """Whether the server closes a connection within some time, whatever it says before."""
    client.settimeout(seconds)
    try:
        while client.recv(65536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.slow
def test_a_failed_login_says_the_same_of_all(server: Server) -> None:
    words = {refused(server.url(user, secret)) for user in ("analyst", "nobody") for secret in ("wrong", PASSWORD[:-1])}
    assert words == {"The password is wrong."}
    with psycopg.connect(server.url("nobody")) as connection:  # the name is not checked
        assert connection.execute("SELECT current_user").fetchall() == [("nobody",)]


@pytest.mark.slow
def test_no_password_and_other_kinds_of_login_are_refused(server: Server) -> None:
    start = b"user\0analyst\0database\0shop\0\0"
    for answer in (b"", b"MD5\0" + struct.pack("!i", 3) + b"abc", b"SCRAM-SHA-256\0" + struct.pack("!i", 0)):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(struct.pack("!ii", len(start) + 8, 196608) + start)
            client.recv(1000)
            client.sendall(b"p" + struct.pack("!i", len(answer) + 4) + answer)
            client.settimeout(10)
            said = b""
            while data := client.recv(1000):
                said += data
            assert said[:1] != b"Z" and b"AuthenticationOk" not in said and said[:1] in (b"E", b"")


def test_it_listens_on_this_computer_alone(server: Server) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.port), timeout=5)


@each(
    "sql",
    [
        "COPY sales TO '/tmp/rows.csv'",
        "COPY (SELECT 1) TO STDOUT",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT content FROM read_text('/etc/passwd'), pg_catalog.pg_class",
        "SELECT * FROM pg_catalog.pg_class, pg_read_file('/etc/passwd')",
        "SELECT * FROM pg_catalog.pg_class WHERE relname = (SELECT content FROM read_text('/etc/passwd'))",
        "SELECT getenv('HOME')",
        "SELECT getenv('HOME') FROM pg_catalog.pg_class",
        "ATTACH '/tmp/other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "DO $$ BEGIN END $$",
        "SELECT tid + 1 AS a FROM sales",
    ],
)
def test_nothing_else_is_read_or_written(client: Any, sql: str) -> None:
    try:
        rows = client.execute(sql).fetchall()
    except psycopg.Error as error:
        assert error.sqlstate in ("0A000", "42601")
    else:
        assert "root" not in str(rows) and all(cell is None for row in rows for cell in row)


def test_settings_tell_nothing_of_the_computer(client: Any) -> None:
    names = {name for (name,) in client.execute("SELECT name FROM pg_settings").fetchall()}
    assert "max_index_keys" in names and not {"secret_directory", "home_directory", "temp_directory"} & names


@pytest.mark.slow
def test_no_more_connections_than_the_limit(start: Start) -> None:
    with start("--connections", "1") as server, server.connect(autocommit=True) as first:
        assert refused(server.url()) == "The server has as many connections as it takes."
        assert first.execute("SELECT 1").fetchall() == [(1,)]
        first.close()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                with server.connect() as next_one:
                    assert next_one.execute("SELECT 1").fetchall() == [(1,)]
                    return
            except psycopg.OperationalError:
                time.sleep(0.1)
        pytest.fail("the place was not freed")


@pytest.mark.slow
def test_an_answer_has_limits_and_an_idle_connection_ends(start: Start) -> None:
    options = ("--max-seconds", "1", "--memory-limit", "200MB", "--idle-seconds", "3")
    with start(*options) as server, server.connect(autocommit=True) as connection:
        for sql, state in ((LONG, "57014"), ("SELECT list(range) FROM range(300000000)", "53200")):
            with pytest.raises(psycopg.Error) as error:
                connection.execute(sql)
            assert error.value.sqlstate in (state, "57014")
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
        time.sleep(4)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_another_key_cancels_nothing(server: Server) -> None:
    with server.connect(autocommit=True) as connection:
        (number,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        for process in (number, os.getpid(), 1):
            with socket.create_connection(("127.0.0.1", server.port)) as other:
                other.sendall(struct.pack("!iiiI", 16, 80877102, process, 12345))
                assert closed(other, 20)
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        struct.pack("!Ii", 1 << 31, 196608),
        pytest.param(struct.pack("!ii", 1 << 29, 196608), marks=pytest.mark.slow),  # until the time for a login is over
        struct.pack("!ii", 0, 196608),
        struct.pack("!ii", 8, 1),
        struct.pack("!ii", 30_000, 196608) + b"user\0a" * 4_000,
        struct.pack("!ii", 9, 196608) + b"\xff",
        b"Q" + struct.pack("!i", 13) + b"SELECT 1\0",
    ],
    ids=["http", "huge", "large", "empty", "unknown", "long", "no text", "no login"],
)
def test_a_client_that_breaks_the_protocol_is_cut_off(server: Server, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(sent)
        assert closed(client, 20)
    with server.connect() as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.slow
def test_a_password_file_is_private_and_long(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "password.txt"
    for text, mode, words in (("short", 0o600, "fewer than 12"), (PASSWORD, 0o644, "Others can read")):
        path.write_text(text, "utf-8")
        path.chmod(mode)
        done = _serve(str(shop / "supports.duckdb"), "--port", "0", "--password-file", str(path))
        assert done.returncode == 2 and words in done.stderr and text not in done.stderr


@pytest.mark.slow
def test_a_new_password_for_each_start(shop: Path) -> None:
    said = []
    for _ in range(2):
        with running(shop / "supports.duckdb") as server:
            said.append(server.said[1].removeprefix("Password: ").strip())
            with psycopg.connect(server.url(password=said[-1])) as connection:
                assert connection.execute("SELECT 1").fetchall() == [(1,)]
    assert said[0] != said[1] and min(len(word) for word in said) >= 32


@pytest.mark.slow
def test_a_port_that_is_taken_and_a_file_that_is_no_release(server: Server, shop: Path) -> None:
    done = _serve(str(shop / "supports.duckdb"), "--port", str(server.port))
    assert done.returncode == 5 and "is taken" in done.stderr
    done = _serve(str(shop / "shop.duckdb"), "--port", "0")
    assert done.returncode != 0 and "Serving" not in done.stdout


def test_without_the_extra_the_command_says_what_to_install(shop: Path) -> None:
    words = ["anondb", "serve", str(shop / "supports.duckdb")]
    code = f"import sys; sys.modules['pygwire'] = None; sys.argv = {words!r}; from anondb.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5 and "anondb[serve]" in done.stderr


def _serve(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "anondb", "serve", *words], capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_connections_end_with_the_server(start: Start) -> None:
    with start() as server:
        connection = server.connect(autocommit=True)
        (number,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        os.kill(number, signal.SIGINT)  # Ctrl-C reaches all processes of a terminal; between answers it ends none
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    assert not Path(f"/proc/{number}").exists() or sys.platform != "linux"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_connections_end_when_the_server_is_killed(shop: Path, password_file: Path) -> None:
    command = [sys.executable, "-m", "anondb", "serve", str(shop / "supports.duckdb"), "--port", "0"]
    command += ["--password-file", str(password_file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        server = Server(process, int(process.stdout.readline().split("127.0.0.1:")[1].split("/")[0]), [])
        connection = server.connect(autocommit=True)
        (number,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        connection.pgconn.send_query(LONG.encode())
        time.sleep(1)  # whether or not the answer has begun by then
        process.kill()
    connection.close()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{number}").exists():
        assert time.monotonic() < deadline, "a connection outlives the server"
        time.sleep(0.1)
