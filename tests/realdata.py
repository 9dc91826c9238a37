"""Where the real data sets are looked for, which the repository does not hold, and the skip of a test that needs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REASON = "needs real data: set ANONDB_DATA to a folder with"  # tests/conftest.py explains these skips after a run


def folder() -> Path:
    """ANONDB_DATA if it is set, else ``data`` in the checkout, else ``shared/data`` beside the checkout."""
    if os.environ.get("ANONDB_DATA"):
        return Path(os.environ["ANONDB_DATA"])
    beside = ROOT.parent / "shared" / "data"
    return beside if beside.is_dir() and not (ROOT / "data").is_dir() else ROOT / "data"


DATA = folder()


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip the test unless every one of these files is there."""
    missing = [n for n in names if not (DATA / n).is_file()]
    return pytest.mark.skipif(bool(missing), reason=f"{REASON} {', '.join(missing)}")
