"""The leak check of a sealed file: it lists what the file holds, and fails on anything that a release must not have."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anondb.engine import Engine
from anondb.engine.clean import clean_writer
from anondb.release.findings import (
    HEADER_BYTES,
    RHO_LIMIT,
    Finding,
    catalog_findings,
    content_findings,
    file_findings,
    order_findings,
    rows_as_stored,
    storage_findings,
    stored_statistics,
)
from anondb.release.freeze import table_counts
from anondb.release.objects import GLOBAL, Kind, SchemaName, listed_objects, read_manifest, release_kind
from anondb.release.publish import BUILD_NAME, build_statements, hand_over_table, rows_file
from anondb.release.reader import sealed_engine

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Inspection:
    """What the leak check saw.

    Attributes:
        path: the file.
        manifest: what it says about itself; empty where its catalog is not a release's, so that nothing in it was read.
        figures: what was measured, in words, one entry for each check.
        findings: what must not be there; none if the file holds the release and nothing else.
    """

    path: Path
    manifest: dict[str, str]
    figures: dict[str, str]
    findings: tuple[Finding, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing was found that must not be there."""
        return not self.findings

    def to_json(self) -> dict[str, Any]:
        """The inspection as JSON values."""
        return {
            "file": str(self.path),
            "clean": self.clean,
            "manifest": self.manifest,
            "figures": self.figures,
            "findings": [{"check": f.check, "what": f.what} for f in self.findings],
        }


def inspect(path: str | os.PathLike[str]) -> Inspection:
    """Check a sealed file for leaks: write-ahead log, bytes, catalog, statistics, rows, and their order.

    The strongest check rebuilds the file: a clean process writes the rows that any reader sees into a new file, and the
    bodies of both must be the same, byte for byte. Then no byte depends on anything but what everybody can read.

    Raises:
        InputError: ``no_such_file``, ``not_a_database``.
        EngineError: the file is locked, or a disk is full.
    """
    engine, schema, place = sealed_engine(path)
    try:
        found = file_findings(place)
        figures = {
            "catalog": f"{len(listed_objects(engine, schema.catalog))} objects",
            "wal": "present" if found and found[0].check == "wal" else "none",
        }
        size = f"{place.stat().st_size:,}"
        kind = release_kind(engine, schema)
        manifest = {} if kind is None else read_manifest(engine, schema)
        release_id = manifest.get("release_id", "")
        found += catalog_findings(engine, schema, kind or GLOBAL, release_id)
        if kind is None or any(
            f.check == "catalog" for f in found
        ):  # else what is called like our table may be anything
            return Inspection(place, {}, {**figures, "bytes": f"{size}, not compared"}, tuple(found))
        found += storage_findings(engine, kind) + content_findings(engine, schema, kind)
        counts = table_counts(engine, schema, kind)
        figures["rows"] = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        n, rhos, disorder = order_findings(engine, schema, kind)
        found += disorder
        largest = max((abs(r) for r in rhos.values()), default=0.0)
        figures["order"] = f"largest |rho| {largest:.4f}, limit {RHO_LIMIT / max(n, 1) ** 0.5:.4f}"
        compared, differing = _rebuild(engine, schema, kind, place, release_id)
        return Inspection(place, manifest, {**figures, "bytes": f"{size}, {compared}"}, tuple(found + differing))
    finally:
        engine.close()


def _rebuild(engine: Engine, schema: SchemaName, kind: Kind, place: Path, release_id: str) -> tuple[str, list[Finding]]:
    """Write the visible rows anew in a clean process, and compare bytes, statistics and the catalog's texts."""
    with tempfile.TemporaryDirectory(prefix=f"anondb-tmp-{os.getpid()}-") as private:
        build = Path(private)
        with clean_writer(build) as writer:
            for name in kind.tables:
                hand_over_table(engine, rows_as_stored(schema, kind, name), build / rows_file(name))
            writer.write(BUILD_NAME, build_statements(kind, release_id))
        twin = build / BUILD_NAME
        if _header_texts(place) != _header_texts(twin):
            return "written by another version of DuckDB, so not compared with a rebuilt file", []
        found = []
        reader, twin_schema, _ = sealed_engine(twin)
        try:
            if stored_statistics(reader, kind) != stored_statistics(engine, kind):
                found.append(Finding("statistics", "the stored statistics are not those of the rows"))
            texts = [set(listed_objects(e, s.catalog).values()) for e, s in ((reader, twin_schema), (engine, schema))]
            if texts[0] != texts[1]:
                found.append(Finding("catalog", "the text of a view or a macro is not anondb's"))
        finally:
            reader.close()
        if _same_bodies(place, twin):
            return "identical to a rebuilt file", found
        found.append(Finding("bytes", "the blocks differ from those of a file rebuilt from the same rows"))
        return "different from a rebuilt file", found


def _header_texts(path: Path) -> bytes:
    """The part of the first header that names the format and DuckDB's version."""
    with path.open("rb") as handle:
        return handle.read(140)[8:]


def _same_bodies(one: Path, other: Path) -> bool:
    with one.open("rb") as left, other.open("rb") as right:
        left.seek(HEADER_BYTES)
        right.seek(HEADER_BYTES)
        while True:
            a, b = left.read(_CHUNK), right.read(_CHUNK)
            if a != b:
                return False
            if not a:
                return True
