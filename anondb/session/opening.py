"""Open sealed files as a session, and ask the releases of the owner's database by one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine
from anondb.engine.answering import DEFAULT_MEMORY, Limits
from anondb.engine.elsewhere import is_url
from anondb.engine.untrusted import memory_engine
from anondb.release.objects import StoredRelease
from anondb.release.reader import SealedRelease, sealed_releases
from anondb.release.signing import Keys
from anondb.session.files import Sources, check_alike, paths_of
from anondb.session.result import Result
from anondb.session.session import Session
from anondb.warehouse.at_hand import at_hand, name_of


def open_session(
    files: Sources,
    *,
    memory_limit: str = DEFAULT_MEMORY,
    max_seconds: float | None = None,
    threads: int | None = None,
    on_statement: Callable[[str], None] | None = None,
    trusted: str | os.PathLike[str] | Keys | None = None,
) -> Session:
    """Open sealed files to ask them in SQL that is written for the original tables.

    Args:
        files: a sealed file, a folder of them, a release in PostgreSQL (``postgresql://HOST/DATABASE/SCHEMA``), a list of
            these, or a pattern such as ``weeks/*.duckdb``. Several must be releases of disjoint persons and of tables with
            equal names and columns; their counts add up.
        memory_limit: how much memory an answer may take, in DuckDB's notation. On Linux it holds for all memory that this
            process takes while it opens the files, answers, or converts the rows of a result, and an eighth more.
        max_seconds: how many seconds it may take; by default 60 seconds of CPU time, so that other programs do not
            shorten it.
        threads: DuckDB's number of threads.
        on_statement: called with the text of every statement before it runs.
        trusted: the public key that must have signed each file, or a file with such keys; by default that of
            ``ANONDB_TRUSTED``, if it is set.

    Raises:
        VerificationFailed: ``not_trusted``: no trusted key signed a file.
        DamagedFile: a file is cut short, or bytes of it have changed.
        InputError: ``no_such_file``, ``not_a_database``, ``not_a_release``, ``different_releases``, or ``overlap``: the
            manifests show that files hold the same persons.
        EngineError: a file is locked by a process that writes it, or a limit was reached.
    """
    limits = Limits.of(memory_limit, max_seconds)
    options: dict[str, Any] = {"threads": threads, "on_statement": on_statement}
    with limits.hold(), contextlib.ExitStack() as stack:
        paths = paths_of(files, on_statement)
        local = [stack.enter_context(at_hand(path, on_statement, memory_limit)) for path in paths]
        trust: dict[str, Any] = {"trusted": trusted, "named": [name_of(path) for path in paths]}
        opened = stack.enter_context(sealed_releases(local, memory_limit=memory_limit, **options, **trust))
        sealed = [
            release if is_url(path) else replace(release, path=Path(path))
            for release, path in zip(opened, paths, strict=True)
        ]
        return session_on(sealed, stack.pop_all(), limits=limits, **options)


def session_on(
    sealed: Sequence[SealedRelease],
    resources: contextlib.ExitStack | None = None,
    *,
    limits: Limits,
    threads: int | None = None,
    on_statement: Callable[[str], None] | None = None,
) -> Session:
    """A session on open releases, which closes ``resources``; ``limits`` hold for each answer."""
    with contextlib.ExitStack() as stack:
        if resources is not None:
            stack.enter_context(resources)
        check_alike(sealed)
        engine = memory_engine(memory_limit=limits.memory, threads=threads, on_statement=on_statement)
        stack.callback(engine.close)
        kept = contextlib.ExitStack()
        session = Session(sealed, engine, kept, limits)
        kept.enter_context(stack.pop_all())
        return session


Find = Callable[[DuckDBEngine, str], StoredRelease]  # looks up a release by its name


def session_of(engine: DuckDBEngine, name: str, stored: StoredRelease) -> Session:
    """A session on a release in the owner's database, without limits."""
    release = SealedRelease(stored.schema, stored.kind, stored.manifest, engine, Path(name))
    return session_on([release], limits=Limits(None))


class Asking:
    """Asks the release of a name, whichever it is at the time of the answer.

    Args:
        engine: the engine of the owner's database.
        name: the release.
        find: looks it up.
    """

    def __init__(self, engine: DuckDBEngine, name: str, find: Find) -> None:
        self._engine, self._name, self._find = engine, name, find
        self._session: Session | None = None

    def _opened(self) -> Session:
        return session_of(self._engine, self._name, self._find(self._engine, self._name))

    def sql(
        self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None, bounds: str = "columns"
    ) -> Result:
        """Answer a query (see ``Session.sql``), and once more if the release was replaced meanwhile.

        Raises:
            InputError: also if there is no release of this name any more; ``collation``.
        """
        with self._engine.names.steady():
            while True:
                session = self._session = self._session or self._opened()
                try:
                    result = session.sql(query, parameters, bounds)
                except Exception:  # a release that was replaced meanwhile can cause any error
                    if session.is_current():
                        raise
                else:
                    if session.is_current():
                        return result
                self._session = None
