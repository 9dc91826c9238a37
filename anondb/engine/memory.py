"""How much memory arrays may take beside DuckDB's own."""

from __future__ import annotations

import re

MOST_BYTES = 1 << 29  # however much memory there is
SHARE = 8  # of the memory limit, this part is left to arrays
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}


def array_bytes(limit: str) -> int:
    """The bytes for arrays under a memory limit, in DuckDB's words for it, such as ``2.7 GiB``; 0 if they are not known."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGTP]?)(?:iB|B|bytes)", limit)
    return 0 if match is None else min(MOST_BYTES, int(float(match[1]) * _UNITS[match[2]]) // SHARE)
