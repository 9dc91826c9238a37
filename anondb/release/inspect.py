"""The leak check of a sealed file: it summarizes the contents, and reports everything that a release must not have."""

import contextlib
import filecmp
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine
from anondb.errors import InputError
from anondb.models import AsTable, json_of
from anondb.release.catalog import Finding, sealed_catalog
from anondb.release.digest import content_digest
from anondb.release.findings import (
    RHO_LIMIT,
    content_findings,
    file_findings,
    order_findings,
    storage_findings,
    stored_statistics,
    written_by,
)
from anondb.release.modelled import modelled_tables
from anondb.release.objects import Kind, SchemaName, table_counts
from anondb.release.publish import rebuild
from anondb.release.reader import SealedRelease, locked_engine
from anondb.release.signing import Keys, fault_of, signer_of, trusted_keys


@dataclass(frozen=True)
class Inspection(AsTable):
    """The result of a leak check.

    Attributes:
        path: the file.
        manifest: its manifest; empty if its catalog is not that of a release (then no table was read).
        figures: the measurement of each check, as text.
        findings: the defects; none if the file holds the release and nothing else.
    """

    path: Path
    manifest: dict[str, str]
    figures: dict[str, str]
    findings: tuple[Finding, ...]

    @property
    def clean(self) -> bool:
        """Whether the check has no findings."""
        return not self.findings

    def to_json(self) -> dict[str, Any]:
        """The inspection as JSON values."""
        return {"file": str(self.path), **json_of(self, "clean", "manifest", "figures", "findings")}


def inspect(
    path: str | os.PathLike[str],
    trusted: str | os.PathLike[str] | Keys | None = None,
    *,
    redrawn: Callable[[SealedRelease], bool | None] | None = None,
) -> Inspection:
    """Check a sealed file for leaks: write-ahead log, bytes, catalog, statistics, rows, their order, and the signature.

    Nothing in the file runs before its catalog is known to be anondb's. The strongest check rebuilds the file: a clean
    process writes the visible rows into a new file, and both files must be equal byte for byte. Then every byte depends
    on the visible rows alone. A signature must be that of its content, and where a key is ``trusted``, by this argument
    or by ``ANONDB_TRUSTED``, there must be one by it. ``redrawn`` says whether modelled rows are those that follow from the
    other rows (``answers.views.first_world``); without it, they are not compared.

    Raises:
        InputError: ``no_such_file``, ``not_a_database``; see ``trusted_keys``.
        DamagedFile: bytes are missing or have changed.
        EngineError: the file is locked, or a disk is full.
    """
    keys = trusted_keys(trusted)
    engine, schema, place = locked_engine(path)
    with contextlib.closing(engine):
        findings = file_findings(place)
        catalog = sealed_catalog(engine, schema)
        figures = {
            "catalog": f"{catalog.objects} objects",
            "wal": "present" if findings and findings[0].check == "wal" else "none",
        }
        size = f"{place.stat().st_size:,}"
        kind = catalog.kind
        if kind is None or not catalog.is_release:  # an object with the name of one of our tables may be anything
            findings += catalog.findings
            return Inspection(place, {}, {**figures, "bytes": f"{size}, not compared"}, tuple(findings))
        engine.use(schema.catalog, checked=True)
        findings += storage_findings(engine, kind, catalog.manifest) + content_findings(engine, schema, kind)
        counts = table_counts(engine, schema, kind)
        figures["rows"] = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        n, rhos, disorder = order_findings(engine, schema, kind, catalog.manifest)
        findings += disorder
        largest = max((abs(r) for r in rhos.values()), default=0.0)
        figures["order"] = f"largest |rho| {largest:.4f}, limit {RHO_LIMIT / max(n, 1) ** 0.5:.4f}"
        figures["digest"] = content_digest(engine, schema, kind, counts)
        figures["signature"], forged = _signature(catalog.manifest, figures["digest"], keys)
        findings += forged
        modelled = modelled_tables(catalog.manifest, kind)
        if modelled and redrawn is not None:
            same = redrawn(SealedRelease(schema, kind, catalog.manifest, engine, place))
            findings += [] if same else [Finding("rows", "modelled rows are not those that follow from the others")]
        if modelled:
            figures["modelled rows"] = "not compared" if redrawn is None else "drawn again"
        compared, differing = _rebuild(engine, schema, kind, place, catalog.manifest)
        figures["bytes"] = f"{size}, {compared}"
        return Inspection(place, catalog.manifest, figures, tuple(findings + differing))


def _signature(manifest: dict[str, str], digest: str, trusted: Keys) -> tuple[str, list[Finding]]:
    """Who signed a release, in words, and what is wrong with that."""
    signer = signer_of(manifest)
    words = "none" if signer is None else f"by {signer}"
    try:
        fault = fault_of(manifest, digest, trusted)
    except InputError:  # keys cannot be checked here, and none is trusted
        return f"{words}, not checked", []
    return words, [] if fault is None else [Finding("signature", fault)]


def _rebuild(
    engine: DuckDBEngine, schema: SchemaName, kind: Kind, place: Path, manifest: Mapping[str, str]
) -> tuple[str, list[Finding]]:
    """Rewrite the visible rows in a clean process, and compare the bytes and the stored statistics."""
    assert engine.spill_directory is not None
    with tempfile.TemporaryDirectory(dir=engine.spill_directory) as private:
        twin = rebuild(engine, schema.catalog, kind, manifest, Path(private))
        if written_by(place) != written_by(twin):
            words = f"not compared: written by DuckDB {written_by(place) or '(unknown)'}, and this is {written_by(twin)}"
            return words, [Finding("bytes", words)]
        findings = []
        reader, twin_schema, _ = locked_engine(twin)
        with contextlib.closing(reader):
            reader.use(twin_schema.catalog, checked=True)
            if stored_statistics(reader, kind, manifest) != stored_statistics(engine, kind, manifest):
                findings.append(Finding("statistics", "the stored statistics are not those of the rows"))
        if filecmp.cmp(place, twin, shallow=False):
            return "identical to a rebuilt file", findings
        findings.append(Finding("bytes", "the bytes differ from those of a file rebuilt from the same rows"))
        return "different from a rebuilt file", findings
