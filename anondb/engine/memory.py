"""The memory limit in bytes and in DuckDB's words, and how much of it arrays may take beside DuckDB's own memory."""

from __future__ import annotations

import re

SHARE = 8  # of the memory limit, this part is left to arrays
_UNITS = ("", "K", "M", "G", "T", "P")


def bytes_of(limit: str) -> int | None:
    """The bytes of a memory limit as DuckDB reads and writes it, such as ``2.7 GiB`` or ``2GB``; None if there is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGTP]?)(I?B?|BYTES?)", limit.strip().upper())
    return (
        None if match is None else int(float(match[1]) * (1024 if "I" in match[3] else 1000) ** _UNITS.index(match[2]))
    )


def same_limit(limit: str) -> str | None:
    """A limit that DuckDB shows in the same words; None if it has no limit.

    DuckDB cuts digits off: a limit that was set to its own words would be a little lower each time.
    """
    match = re.fullmatch(r"(\d+\.\d) ([KMGTP]iB)", limit)
    return None if match is None else f"{match[1]}5 {match[2]}"


def half_of(limit: str | None) -> str | None:
    """Half of a memory limit; one that is not a size stays as it is."""
    most = None if limit is None else bytes_of(limit)
    return limit if most is None else f"{most // 2} B"


def array_bytes(limit: int | None) -> int:
    """The bytes for arrays under a memory limit; 0 if it is not known."""
    return 0 if limit is None else limit // SHARE
