"""Private directories: for spill files and for builds, and removing those that killed processes left."""

import contextlib
import functools
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "anondb-tmp-"


def private_directory() -> Path:
    """A new directory that only this user can read (mode 0700); those of dead processes are removed first."""
    place = Path(tempfile.gettempdir())
    sweep(place, _PREFIX)
    return new_private(place, _PREFIX)


@contextlib.contextmanager
def private_block(place: Path | None = None) -> Iterator[Path]:
    """Make a private directory for the block, in another one if that is named, and remove it at the end."""
    directory = private_directory() if place is None else Path(tempfile.mkdtemp(dir=place))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def new_private(place: Path, prefix: str) -> Path:
    """A new directory in a place, of mode 0700, whose name says which process of which machine made it."""
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{_host()}-{os.getpid()}-{_begun(os.getpid())}-", dir=place))


def sweep(place: Path, prefix: str) -> None:
    """Remove the directories of ``new_private`` that this user's dead processes of this machine left in a place."""
    mine = f"{prefix}{_host()}-"
    runs = functools.cache(_runs)  # a process may have many
    for path in place.glob(f"{mine}*"):
        with contextlib.suppress(OSError, ValueError):
            process, begun, _ = path.name.removeprefix(mine).split("-")
            if runs(int(process), begun):
                continue
            status = path.lstat()
            if status.st_uid == os.getuid() and stat.S_ISDIR(status.st_mode):
                shutil.rmtree(path, ignore_errors=True)


def _runs(process: int, begun: str) -> bool:
    """Whether a process of this machine runs, and is the one that began at this time."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    return _begun(process) == begun


def _begun(process: int) -> str:
    """When a process began, in ticks since the machine did; 0 if the system does not say."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return "0"


def _host() -> str:
    """A digest of what tells this machine, or container, from others that may write to the same place."""
    facts = [os.uname().nodename]
    with contextlib.suppress(OSError):
        facts.append(os.readlink("/proc/self/ns/pid"))
    with contextlib.suppress(OSError):
        facts.append(Path("/etc/machine-id").read_text())
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:12]
