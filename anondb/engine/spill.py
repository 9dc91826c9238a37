"""Creates private directories for spill files, and removes those of killed processes."""

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
    """Remove the spill directories that this user's killed processes left behind."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            if path.stat().st_uid != os.getuid() or not stat.S_ISDIR(path.lstat().st_mode):
                continue
            owner = int(path.name.removeprefix(_PREFIX).split("-")[0])
            try:
                os.kill(owner, 0)
            except ProcessLookupError:
                shutil.rmtree(path, ignore_errors=True)
