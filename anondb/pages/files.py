"""Write files with raw data or exact figures, such as pages and tables of results, for their owner alone."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anondb.errors import InputError


@contextmanager
def private_files() -> Iterator[None]:
    """Only this user can read the files that are made in the block."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


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
