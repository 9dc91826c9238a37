"""The one way to write a file: whole or not at all, under a name that nobody can foresee, through no link."""

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anondb.errors import InputError


def no_file(path: str | os.PathLike[str], hint: str = "Check the path.") -> InputError:
    """The error for a path where a file has to be, and none is; ``hint`` is the advice unless a folder is there."""
    name = os.fspath(path) and os.path.basename(os.path.abspath(path))
    if os.path.isdir(path):
        return InputError(f"{name!r} is a folder, not a file.", code="bad_path", hint="Name a file in it.")
    return InputError(f"The file {name!r} does not exist.", code="no_such_file", hint=hint)


@contextmanager
def private_files() -> Iterator[None]:
    """Only this user can read the files that are made in the block."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def write_file(path: str | os.PathLike[str], text: str, *, mode: int = 0o600, replace: bool = True) -> None:
    """Write a text as UTF-8 into a file with the permissions ``mode``, which gets its name when all is written. Raises
    OSError: it cannot be written; ``FileExistsError`` if the name is taken and may not be replaced."""
    target = Path(path)
    unfinished = target.parent / f".{secrets.token_hex(8)}.new"
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            os.fchmod(handle, mode)
        move(unfinished, target, replace)
    except ValueError as error:  # no file can have this name
        raise OSError(str(error)) from None
    finally:
        with suppress(OSError, ValueError):
            unfinished.unlink()


def move(finished: Path, target: Path, replace: bool) -> None:
    """Give a finished file its name in one step; a file that is there is replaced, or else stays."""
    if replace:
        if target.exists() and not target.is_file():  # a device or a pipe, which root could replace
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        os.replace(finished, target)
        return
    try:
        os.link(finished, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.replace(finished, target)
    else:
        os.unlink(finished)


def write_private(path: str | os.PathLike[str], text: str) -> None:
    """Write a text into a file with the mode 0600; an existing file is replaced when the whole text is written. Raises
    InputError: ``bad_path``: the file cannot be written."""
    try:
        write_file(path, text)
    except OSError:
        raise InputError(
            f"The file {Path(path).name!r} cannot be written.", code="bad_path", hint="Name a file in a directory of yours."
        ) from None


@contextmanager
def removed_after_error(files: Iterable[str | os.PathLike[str]]) -> Iterator[None]:
    """Remove new files after an error in the block, so that it can be tried again."""
    try:
        yield
    except BaseException:
        for file in files:
            with suppress(OSError, ValueError):
                os.unlink(file)
        raise
