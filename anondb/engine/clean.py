"""Starts a clean process that writes a database file, and gives it its job."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

from anondb.engine.failures import wrap
from anondb.engine.limit import current
from anondb.engine.locked import NO_SECRETS_OR_EXTENSIONS, STORAGE_VERSION
from anondb.engine.texts import text_of
from anondb.engine.trees import exp
from anondb.errors import EngineError

_CONFIG = {
    "force_compression": "uncompressed",
    "storage_compatibility_version": STORAGE_VERSION,
    **NO_SECRETS_OR_EXTENSIONS,
    "threads": "1",
    "wal_autocheckpoint": "1B",  # the commit writes the file itself, and no log
}
_KEPT_ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_ZEROED_MEMORY = {  # allocated memory is filled with zeros, so gaps in blocks contain nothing
    "MALLOC_PERTURB_": "255",  # by glibc
    "DUCKDB_JE_MALLOC_CONF": "zero:true",  # by the jemalloc in DuckDB's Linux builds
}
_SCRIPT = Path(__file__).with_name("clean_writer.py")


class CleanWriter:
    """A process that has opened no file yet, waiting for its only job."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def write(self, file: str, statements: Sequence[exp.Expr | str], *, memory_limit: str | None = None) -> None:
        """Create the database ``file`` (in the process's directory) by the statements, and close it. Raises EngineError: the
        disk is full, memory or the time of the answer ran out, or the process failed."""
        config = _CONFIG | {"temp_directory": f"{file}.spill"}
        if memory_limit is not None:
            config["memory_limit"] = memory_limit
        texts = [
            "BEGIN",
            *map(text_of, statements),
            "COMMIT",
            "CHECKPOINT",
        ]  # a commit of each statement would take longer than its work
        job = json.dumps({"file": file, "config": config, "statements": texts}).encode()
        limit = current.get()
        try:
            answered, _ = self._process.communicate(job, None if limit is None else limit.left)
        except subprocess.TimeoutExpired:
            assert limit is not None
            raise limit.error from None
        try:
            answer = json.loads(answered)
            kind = answer["error"]
        except (ValueError, KeyError):
            status = self._process.returncode
            raise EngineError(
                f"The process that writes the sealed file ended early (status {status}).", code="writer_failed"
            ) from None
        if answer["disk_full"]:
            raise EngineError("No disk space left for the sealed file.", code="disk_full")
        if kind is not None:
            error = getattr(duckdb, kind, duckdb.Error)
            raise wrap(error(""), "writing the sealed file")


@contextlib.contextmanager
def clean_writer(directory: Path) -> Iterator[CleanWriter]:
    """Start a clean process in ``directory``; the end of the block kills it in any case. It is a new program, not a fork, so
    it inherits no threads and open databases. It gets no signals of the terminal: on Ctrl-C this process kills it. Raises
    EngineError: ``no_interpreter``, or it cannot be started."""
    packages = str(Path(duckdb.__file__).resolve().parent.parent)
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    try:
        process = subprocess.Popen(
            [_interpreter(), "-I", "-S", str(_SCRIPT), packages],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=directory,
            env=_ZEROED_MEMORY | kept,
            start_new_session=True,
        )
    except OSError as error:
        raise EngineError(
            f"The process that writes the sealed file could not be started ({type(error).__name__}).", code="writer_failed"
        ) from None
    try:
        yield CleanWriter(process)
    finally:
        with contextlib.suppress(OSError):
            process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()


def _interpreter() -> str:
    """The Python to run: this process's own, unless it is embedded in another program or frozen into one."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    bases = [Path(prefix) / "bin" for prefix in (sys.prefix, sys.base_prefix)]
    others = [getattr(sys, "_base_executable", None), *(str(b / f"python{version}") for b in bases)]
    for candidate in (sys.executable, *others):
        if candidate and Path(candidate).name.lower().startswith("python") and os.access(candidate, os.X_OK):
            return candidate
    raise EngineError(
        "No Python interpreter was found to write the sealed file in a separate process.",
        code="no_interpreter",
        hint="Publish with the anondb command of an ordinary Python installation.",
    )
