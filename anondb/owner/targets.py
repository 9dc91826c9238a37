"""Where a release is published: a file, or a schema of PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anondb.engine import DuckDBEngine
from anondb.errors import InputError
from anondb.postgres.place import Place, target
from anondb.release import paths

OPTIONS = ("analysts", "counters", "same_database")  # of a publication in PostgreSQL


def check_target(engine: DuckDBEngine, where: Any, replace: bool) -> None:
    """Check, before the long work, that a release can be published there.

    Raises:
        InputError: see ``release.paths.check_target`` and ``postgres.publish.check_target``.
    """
    if isinstance(where, Place):
        from anondb.postgres.publish import check_target as check_place

        check_place(engine, where, replace)
    else:
        paths.check_target(engine, where, replace)


def target_of(options: Mapping[str, Any]) -> Any:
    """The target that the options of a view name; None without one.

    Raises:
        InputError: ``password_in_statement``: statements are logged, and the ledger keeps the options of a view.
    """
    where = options.get("publish")
    if where is None:
        return None
    named = target(where, **{name: options[name] for name in OPTIONS if name in options})
    if isinstance(named, Place) and named.has_password:
        raise InputError(
            "The URL in a statement holds a password, which the ledger would keep.",
            code="password_in_statement",
            hint="Leave it out, and name a file of passwords in PGPASSFILE.",
        )
    return named
