"""The memory limit in bytes and in DuckDB's words, and how much of it arrays may take beside DuckDB's own memory."""

from __future__ import annotations

import re

MOST_BYTES = 1 << 29  # however much memory there is
SHARE = 8  # of the memory limit, this part is left to arrays
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}


def bytes_of(limit: str) -> int | None:
    """The bytes of a memory limit in DuckDB's words for it, such as ``2.7 GiB``; None if there is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGTP]?)(?:iB|B|bytes)", limit)
    return None if match is None else int(float(match[1]) * _UNITS[match[2]])


def same_limit(limit: str) -> str | None:
    """A limit that DuckDB shows in the same words; None if it has no limit.

    DuckDB cuts digits off: a limit that was set to its own words would be a little lower each time.
    """
    match = re.fullmatch(r"(\d+\.\d) ([KMGTP]iB)", limit)
    return None if match is None else f"{match[1]}5 {match[2]}"


def array_bytes(limit: int | None) -> int:
    """The bytes for arrays under a memory limit; 0 if it is not known."""
    return 0 if limit is None else min(MOST_BYTES, limit // SHARE)
