"""Where a release is published: a file, or a schema of PostgreSQL."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine
from anondb.engine.elsewhere import is_url
from anondb.errors import InputError
from anondb.reading.formats import SUFFIXES, suffix_of
from anondb.release import paths
from anondb.release.objects import Kind, SchemaName
from anondb.release.publish import SealedFile
from anondb.release.signing import Signer
from anondb.release.target import check_target as check_file
from anondb.statements.statement import Value
from anondb.warehouse.postgres.place import Place, target

OPTIONS = ("analysts", "counters", "same_database")  # of a publication in PostgreSQL
_WRITTEN = ("format", "mode", "sign", "proof", "modelled_rows")  # of any publication


FORMATS = ("duckdb", "parquet")  # of a publication in a file or a folder
SOURCES = (
    *("taxonomy", "records", "hierarchies", "weights", "domains", "sensitive", "privacy_constraints"),
    *("utility_constraints", "countable", "columns", "workload"),
)
SOURCE_SUFFIXES = (*SUFFIXES, ".tree")


def check_target(engine: DuckDBEngine, where: Any, replace: bool, format: str = FORMATS[0]) -> None:
    """Check, before the long work, that a release can be published there."""
    check_format(where, format)
    if format != FORMATS[0]:
        from anondb.publications.parquet import check_folder

        check_folder(engine, where, replace)
    elif isinstance(where, Place):
        from anondb.warehouse.postgres.publish import check_target as check_place

        check_place(engine, where, replace)
    else:
        check_file(engine, where, replace)


def check_format(where: Any, format: str) -> None:
    """Refuse a format that there is not, or not there. Raises InputError: ``bad_parameter``."""
    if format not in FORMATS or (format != FORMATS[0] and isinstance(where, Place)):
        words = "PostgreSQL has no other format." if isinstance(where, Place) else f"There is no format {format!r}."
        raise InputError(words, code="bad_parameter", hint=f"Formats of files: {', '.join(FORMATS)}.")


def publish(
    engine: DuckDBEngine,
    schema: SchemaName,
    where: str | Place,
    kind: Kind,
    *,
    mode: int | None = None,
    format: str = FORMATS[0],
    modelled_rows: bool = False,
    **options: Any,
) -> SealedFile:
    """Seal a release into a file, a folder of Parquet files or a schema of PostgreSQL, also with modelled rows; the options
    are those of ``release.publish.publish``."""
    if modelled_rows:
        from anondb.answers.views import first_world
        from anondb.publications.modelled import check_ids

        if not engine.one_shot:
            check_ids(engine, schema)
        options["draw"] = first_world
    if format != FORMATS[0]:
        from anondb.publications.parquet import publish as publish_folder

        return publish_folder(engine, schema, where, kind, mode=paths.PRIVATE if mode is None else mode, **options)
    if isinstance(where, Place):
        from anondb.warehouse.postgres.publish import publish as publish_there

        return publish_there(engine, schema, where, kind=kind, **options)
    from anondb.release.publish import publish as publish_file

    return publish_file(engine, schema, where, kind=kind, mode=paths.PRIVATE if mode is None else mode, **options)


def how(where: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a view that say how its release is published: ``allow_overlap``, ``mode``, ``format``, ``sign`` and
    ``modelled_rows``. Raises InputError: ``bad_usage``: nothing is published, or not where one of them applies."""
    idle = [f"--{n.replace('_', '-')}" for n in (*_WRITTEN, *OPTIONS, "allow_overlap") if options.get(n)]
    if idle and where is None:
        raise InputError(f"{' and '.join(idle)} {'need' if idle[1:] else 'needs'} --publish.", code="bad_usage")
    mode, format = check_mode(where, options.get("mode")), options.get("format", FORMATS[0])
    check_proof(where, options.get("proof"), format)
    modelled = bool(options.get("modelled_rows"))
    written = {"mode": mode, "format": format, "sign": signer(options.get("sign")), "modelled_rows": modelled}
    return {"allow_overlap": bool(options.get("allow_overlap", False)), **written}


def signer(key: Any) -> Signer | None:
    """Who signs a publication: the private key in a file; None without one. Ledgers and logs see its path alone. Raises
    InputError: ``bad_usage``: it is no file; see ``Signer.read``."""
    if key is None:
        return None
    if not isinstance(key, str | os.PathLike):
        raise InputError("--sign names the file of a key.", code="bad_usage")
    return Signer.read(key)


def check_mode(where: Any, mode: Any) -> int | None:
    """The permissions of published files as a number, from an octal text or a number; None if the owner says nothing. Raises
    InputError: ``bad_parameter``: not permissions with which the owner reads and writes and no other writes; ``bad_usage``
    in PostgreSQL."""
    if mode is None:
        return None
    digits = isinstance(mode, str) and re.fullmatch(r"0?[0-7]{3}", mode)
    number = int(mode, 8) if digits else mode
    if not isinstance(number, int) or isinstance(number, bool) or number & ~0o755 or number & 0o600 != 0o600:
        raise InputError(
            "mode must be permissions such as 0644: the owner reads and writes, and no other writes.", code="bad_parameter"
        )
    if isinstance(where, Place) or is_url(where):
        hint = "In PostgreSQL, name the readers with --analysts."
        raise InputError("mode applies to a sealed file or a folder of Parquet files.", code="bad_usage", hint=hint)
    return number


def check_proof(where: Any, proof: Any, format: str = FORMATS[0]) -> None:
    """Refuse a proof of a publication in PostgreSQL or in Parquet files: its SQL reads a file of DuckDB."""
    if proof is not None and (isinstance(where, Place) or format != FORMATS[0]):
        raise InputError(
            "The proof reads a sealed file, not PostgreSQL or Parquet.",
            code="bad_usage",
            hint="Publish to a file too, with the proof.",
        )


def target_of(options: Mapping[str, Any]) -> Any:
    """The target that the options of a view name; None without one. Raises InputError: ``password_in_statement``: statements
    are logged, and the ledger keeps the options of a view."""
    if (where := options.get("publish")) is None:
        return None
    named = target(where, **{name: options[name] for name in OPTIONS if name in options})
    if isinstance(named, Place) and named.has_password:
        raise InputError(
            "The URL in a statement holds a password, which the ledger would keep.",
            code="password_in_statement",
            hint="Leave it out, and name a file of passwords in PGPASSFILE.",
        )
    return named


def anchored(options: Mapping[str, Value], folder: str | os.PathLike[str] = "") -> dict[str, Value]:
    """Make the paths in a view's options absolute: a later REFRESH may run in another directory than ``folder``."""
    anchored = dict(options)
    for name, value in options.items():
        path = Path(folder, str(value))
        if name == "publish" and is_url(value):
            continue
        is_source = name in SOURCES and suffix_of(path) in SOURCE_SUFFIXES
        if name in ("publish", "sign", "proof") or is_source or (name == "hierarchies" and path.is_dir()):
            anchored[name] = os.path.abspath(path)
    return anchored
