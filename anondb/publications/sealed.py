"""Check a sealed file as its recipient: whether the promise holds, and whether it is the published file."""

import contextlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anondb.data.sources import is_file
from anondb.engine import DuckDBEngine
from anondb.engine.elsewhere import is_url
from anondb.errors import InputError
from anondb.models import AsTable, Model
from anondb.models.named import model_of
from anondb.promises import check as checks
from anondb.promises.proof_pack import script
from anondb.promises.spec import Shown
from anondb.reading.options import as_read
from anondb.release.digest import PREFIX, content_digest, file_digest
from anondb.release.inspect import Inspection, inspect
from anondb.release.manifest import tables_of
from anondb.release.modelled import modelled_tables
from anondb.release.paths import MANIFEST_FILE, is_parquet_release
from anondb.release.reader import SealedRelease, existing_file, sealed_release
from anondb.release.signing import Keys, signer_of, trusted_keys
from anondb.verify import Verification
from anondb.warehouse.at_hand import at_hand, name_of

if TYPE_CHECKING:
    from anondb.publications.history import Publication

_DIGEST = re.compile(rf"({PREFIX})?[0-9a-f]{{64}}", re.IGNORECASE)


@dataclass(frozen=True)
class SealedCheck(AsTable):
    """The result of checking a sealed file.

    Attributes:
        verification: whether its rows keep the promise.
        sha256, content_digest: the digests of the file (of Parquet files, of their ``manifest.json``) and of its content
            (``anondb.release.digest``).
        expected: whether one of them equals the expected digest; None without an expected digest.
        published_as: the publication of this file in the ledger; None if the ledger has none, or without a ledger.
        asked: whether a ledger was consulted.
        signed_by: the trusted public key that signed it; None if no key was trusted.
        modelled_rows: whether its modelled rows are those that follow from the rest of it; None if it has none.
        tables: the original's tables that analysts ask, each with the types of its columns, by name.
    """

    verification: Verification
    sha256: str
    content_digest: str
    expected: bool | None = None
    published_as: "Publication | None" = None
    asked: bool = False
    signed_by: str | None = None
    modelled_rows: bool | None = None
    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def compared(self) -> bool:
        """Whether the digests were compared with an expected digest or a ledger."""
        return self.expected is not None or self.asked

    @property
    def holds(self) -> bool:
        """Whether the promise holds, all comparisons of the digests succeeded, and modelled rows are what they should be."""
        recorded = self.published_as is not None or not self.asked
        same = self.expected is not False and self.modelled_rows is not False
        return self.verification.verified and same and recorded

    def to_json(self, *, witnesses: bool = False) -> dict[str, Any]:
        """The check as JSON values: the verification, and the digests with their comparisons if any were made."""
        said = [name for name in ("expected", "signed_by", "modelled_rows") if getattr(self, name) is not None]
        names = ["tables", *(["sha256", "content_digest"] if self.compared else []), *said]
        values = self.verification.to_json(witnesses=witnesses) | {name: getattr(self, name) for name in names}
        if self.asked:
            values["published_as"] = None if self.published_as is None else self.published_as.name
        return values


def verify_file(
    path: str | os.PathLike[str],
    promised: Callable[[Model], Model] | None = None,
    *,
    witnesses: int = 0,
    privacy_constraints: Any = None,
    sensitive: Any = None,
    expect: str | None = None,
    published_in: str | os.PathLike[str] | None = None,
    trusted: str | os.PathLike[str] | Keys | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    on_statement: Callable[[str], None] | None = None,
) -> SealedCheck:
    """Check a sealed file, or a release in PostgreSQL, on a locked connection; its catalog is checked first.

    Args:
        path: the sealed file, a folder of Parquet files, or ``postgresql://HOST/DATABASE/SCHEMA``.
        promised: maps the file's promise to the promise to check; by default the file's promise is checked.
        witnesses: the maximum number of violations to return.
        privacy_constraints, sensitive: inputs of the models constraints and hkp that no release contains.
        expect: the SHA-256 of the file, or its content digest ``content:...``, from its publisher.
        published_in: the owner's database, whose ledger lists the publications.
        trusted: the public key that must have signed it, or a file with such keys; by default that of ``ANONDB_TRUSTED``,
            if it is set.
        threads, memory_limit: settings of the connection.
        on_statement: called with the text of every statement before it runs.

    Raises:
        InputError: ``no_such_file``, ``not_a_database``, ``not_a_release``; ``bad_parameter``: ``expect`` is not a digest.
        VerificationFailed: ``not_trusted``: no trusted key signed it.
        DamagedFile: it is cut short, bytes of it have changed, or its rows contradict each other.
        EngineError: a file is locked by a process that writes it.
    """
    keys = trusted_keys(trusted)
    if expect is not None and not (isinstance(expect, str) and _DIGEST.fullmatch(expect)):
        raise InputError(
            f"A digest is 64 hexadecimal digits, or {PREFIX} and 64 of them.",
            code="bad_parameter",
            hint="anondb publish prints both, and the proof pack has them.",
        )
    publications = None if published_in is None else _published(published_in)
    options: dict[str, Any] = {"threads": threads, "memory_limit": memory_limit, "on_statement": on_statement}
    options |= {
        "trusted": keys,
        "named": [name_of(path)],
        "anew": True,
        "files": files_among(privacy_constraints, sensitive),
    }
    with at_hand(path, on_statement, memory_limit) as file, sealed_release(file, **options) as sealed:
        promise = model_of(sealed.manifest)
        if promised is not None:
            promise = promised(promise)
        with sealed.engine.transaction():
            knowledge = checks.read_knowledge(sealed.engine, promise, privacy_constraints, sensitive)
            verification = checks.verify_release(sealed.engine, sealed.schema, promise, witnesses, knowledge=knowledge)
        digested = Path(path) / MANIFEST_FILE if is_parquet_release(path) else sealed.path
        checked = _identified(sealed, digested, verification, expect, publications)
        checked = replace(checked, modelled_rows=_modelled_rows_hold(sealed), tables=tables_of(sealed.manifest))
        return replace(checked, signed_by=signer_of(sealed.manifest)) if keys else checked


def _modelled_rows_hold(sealed: SealedRelease) -> bool | None:
    """Whether the modelled rows of a release are those of its first world; None without such rows."""
    if not modelled_tables(sealed.manifest, sealed.kind):
        return None
    from anondb.answers.views import modelled_rows_hold

    return modelled_rows_hold(sealed)


def inspect_file(path: str | os.PathLike[str], *, trusted: str | os.PathLike[str] | Keys | None = None) -> Inspection:
    """Check a release for leaks, byte for byte, as ``anondb inspect`` does.

    Args:
        path: the sealed file, a folder of Parquet files, or ``postgresql://HOST/DATABASE/SCHEMA``.
        trusted: as in ``verify_file``.

    Returns:
        What was measured, and what a release must not have (``Inspection.findings``).

    Raises:
        InputError, VerificationFailed, EngineError: the file cannot be read as a release, as in ``verify_file``.
    """
    from anondb.publications.parquet import inspect_folder
    from anondb.warehouse.postgres.local import inspect_release

    look = inspect_folder if is_parquet_release(path) else inspect_release if is_url(path) else inspect
    return look(path, trusted, redrawn=_modelled_rows_hold)  # type: ignore[arg-type]


def proof_sql(path: str | os.PathLike[str], *, trusted: str | os.PathLike[str] | Keys | None = None) -> str:
    """The SQL that checks the promise of a sealed file without anondb: plain DuckDB, as in the proof pack of its publisher.

    Raises:
        InputError: ``no_proof``: the check needs the owner's constraints; others as in ``verify_file``.
    """
    with at_hand(path) as file, sealed_release(file, trusted=trusted_keys(trusted), named=[name_of(path)]) as sealed:
        return script(sealed.manifest, Shown(values=sealed.kind.values))


def files_among(*sources: Any) -> list[str]:
    """The sources that are files: a locked connection needs permission to read them."""
    named = [as_read(source).data for source in sources]
    return [os.fspath(s) for s in named if isinstance(s, os.PathLike) or (isinstance(s, str) and is_file(s))]


def _identified(
    sealed: SealedRelease,
    file: Path,
    verification: Verification,
    expect: str | None,
    publications: "Sequence[Publication] | None",
) -> SealedCheck:
    """Add the digests and their comparisons to a verification."""
    content = sealed.content_digest or content_digest(sealed.engine, sealed.schema, sealed.kind)
    digests = file_digest(file), content
    same = [p for p in publications or () if p.sha256 == digests[0]] or [
        p for p in publications or () if p.content_digest == digests[1]
    ]
    return SealedCheck(
        verification,
        *digests,
        expected=None if expect is None else expect.lower() in digests,
        published_as=same[-1] if same else None,
        asked=publications is not None,
    )


def _published(owner: str | os.PathLike[str]) -> "list[Publication]":
    """The publications in the ledger of the owner's database."""
    from anondb.publications.history import publications
    from anondb.warehouse.postgres.place import database_of

    if (database := database_of(owner)) is None:
        engine = DuckDBEngine.open(existing_file(owner), read_only=True)
    else:
        from anondb.warehouse.postgres.owner import PostgresEngine

        engine = PostgresEngine.connect(database, read_only=True)
    with contextlib.closing(engine):
        return publications(engine, engine.here().catalog)
