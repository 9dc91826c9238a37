"""Where the real data sets are looked for; docs/data.md says where they come from. ``tests/realdata.py`` has the same rule."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ABSENT = "real data is absent: set ANONDB_DATA to its folder (docs/data.md)"


def folder() -> Path:
    """ANONDB_DATA if it is set, else ``data`` in the checkout, else ``shared/data`` beside the checkout."""
    if os.environ.get("ANONDB_DATA"):
        return Path(os.environ["ANONDB_DATA"])
    beside = ROOT.parent / "shared" / "data"
    return beside if beside.is_dir() and not (ROOT / "data").is_dir() else ROOT / "data"


DATA = folder()
