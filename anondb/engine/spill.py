"""Private directories for spill files, and what killed processes left of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

_PREFIX = "anondb-tmp-"


def private_directory() -> Path:
    """A new directory that only this user can read (mode 0700); those of dead processes are removed first."""
    sweep_private_directories()
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def sweep_private_directories() -> None:
    """Remove spill directories that processes of ours left behind when they were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            if path.stat().st_uid != os.getuid() or not stat.S_ISDIR(path.lstat().st_mode):
                continue
            owner = int(path.name.removeprefix(_PREFIX).split("-")[0])
            try:
                os.kill(owner, 0)
            except ProcessLookupError:
                shutil.rmtree(path, ignore_errors=True)
