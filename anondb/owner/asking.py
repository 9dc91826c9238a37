"""Ask the releases in the owner's database by the analyst's session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine
from anondb.engine.answering import Limits
from anondb.owner.releases import find_whole
from anondb.release.reader import SealedRelease
from anondb.session.opening import session_on
from anondb.session.result import Result
from anondb.session.session import Session


def session_of(engine: DuckDBEngine, name: str) -> Session:
    """A session on a release in the owner's database, without limits.

    Raises:
        InputError: no release of this name exists, or its schema does not hold one.
    """
    found = find_whole(engine, name)
    release = SealedRelease(engine, found.schema, found.kind, found.manifest, Path(name))
    return session_on([release], limits=Limits(None))


class Asking:
    """Asks the release of a name, whichever it is at the time of the answer.

    Args:
        engine: the engine of the owner's database.
        name: the release.
    """

    def __init__(self, engine: DuckDBEngine, name: str) -> None:
        self._engine, self._name = engine, name
        self._session: Session | None = None

    def sql(
        self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None, bounds: str = "columns"
    ) -> Result:
        """Answer a query (see ``Session.sql``), and once more if the release was replaced meanwhile.

        Raises:
            InputError: also if there is no release of this name any more; ``collation``.
        """
        with self._engine.names.steady():
            while True:
                session = self._session = self._session or session_of(self._engine, self._name)
                try:
                    result = session.sql(query, parameters, bounds)
                except Exception:  # a release that was replaced meanwhile can cause any error
                    if session.is_current():
                        raise
                else:
                    if session.is_current():
                        return result
                self._session = None
