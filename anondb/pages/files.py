"""Write pages and tables of results: they have exact figures of the original data, so only their owner can read them."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from anondb.errors import InputError


def write_private(path: str | os.PathLike[str], text: str) -> None:
    """Write a text into a file with the mode 0600; an existing file is replaced when the whole text is written.

    Raises:
        InputError: ``bad_path``: the file cannot be written.
    """
    target = Path(path)
    temporary = target.with_name(f".{secrets.token_hex(8)}.new")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(temporary, target)
    except OSError:
        raise InputError(
            f"The file {target.name!r} cannot be written.", code="bad_path", hint="Name a file in a directory of yours."
        ) from None
    finally:
        with suppress(OSError):
            temporary.unlink()
