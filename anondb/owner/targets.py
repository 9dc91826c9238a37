"""Where a release is published: a file, or a schema of PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anondb.engine import DuckDBEngine
from anondb.errors import InputError
from anondb.postgres.place import Place, target
from anondb.release import paths
from anondb.release.objects import Kind, SchemaName

if TYPE_CHECKING:
    from anondb.release.publish import PublishedFile

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


def publish(engine: DuckDBEngine, schema: SchemaName, where: str | Place, kind: Kind, **options: Any) -> PublishedFile:
    """Seal a release into a file or a schema of PostgreSQL; the options are those of ``release.publish.publish``."""
    if isinstance(where, Place):
        from anondb.postgres.publish import publish as publish_there

        return publish_there(engine, schema, where, kind=kind, **options)
    from anondb.release.publish import publish as publish_file

    return publish_file(engine, schema, where, kind=kind, **options)


def check_proof(where: str | Place, proof: str | None) -> None:
    """Refuse a proof of a release in PostgreSQL: its SQL reads a file of DuckDB."""
    if isinstance(where, Place) and proof is not None:
        raise InputError(
            "The proof reads a sealed file, not PostgreSQL.",
            code="bad_usage",
            hint="Publish to a file too, with the proof.",
        )


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
