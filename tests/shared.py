"""What a run of the tests makes once, for all files of tests and for all workers; it is only read."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def place_of_run(factory: pytest.TempPathFactory) -> Path:
    """A folder that the workers of a run share."""
    own = factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    shared.mkdir(exist_ok=True)
    return shared


def once(place: Path, make: Callable[[Path], object]) -> Path:
    """A file or folder, which ``make`` makes at the path that it gets unless it is there."""
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            try:
                make(place)
            except BaseException:  # the next who needs it makes it anew
                shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
                raise
    return place
