"""Ask the releases in the owner's database by the analyst's session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine
from anondb.engine.answering import Limits
from anondb.release.objects import StoredRelease
from anondb.release.reader import SealedRelease
from anondb.session.opening import session_on
from anondb.session.result import Result
from anondb.session.session import Session

Find = Callable[[DuckDBEngine, str], StoredRelease]  # looks up a release by its name


def session_of(engine: DuckDBEngine, name: str, found: StoredRelease) -> Session:
    """A session on a release in the owner's database, without limits."""
    release = SealedRelease(engine, found.schema, found.kind, found.manifest, Path(name))
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
