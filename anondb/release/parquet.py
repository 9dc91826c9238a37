"""Releases as folders of Parquet files: how they are written from a sealed file, and read back into one. A folder holds a
file for each table of the sealed file, with the same columns and in the same order of rows, SQL for the bounds in several
dialects, and ``manifest.json`` with the digests of all of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine, Query, reads
from anondb.engine.clean import clean_writer
from anondb.engine.files import write_file
from anondb.engine.memory import half_of
from anondb.engine.texts import Value, quoted, sql
from anondb.engine.untrusted import reader_engine
from anondb.errors import AnondbError, BudgetExceeded
from anondb.release import objects, publish
from anondb.release.catalog import Finding
from anondb.release.digest import content_digest, file_digest
from anondb.release.modelled import stored_tables
from anondb.release.paths import MANIFEST_FILE, valid_path

FORMAT = "anondb parquet 1"
Scripts = Callable[
    [objects.Kind, Mapping[str, str]], Mapping[str, str]
]  # the SQL files of a release by its manifest, by name
_KEYS = {"format", "manifest", "content_digest", "files"}
_MOST_BYTES = 10_000_000  # of manifest.json
_SCRATCH = "scratch.duckdb"
_COMPRESSED: Mapping[str, Value] = {"COMPRESSION": "zstd", "ROW_GROUP_SIZE": 122_880}


@dataclass(frozen=True)
class ReadBack:
    """A release that lies elsewhere, in a folder of Parquet files or in PostgreSQL, as a sealed file."""

    file: Path | None  # the sealed file; None if the release was refused
    findings: tuple[Finding, ...]  # the defects of the folder or the schema


def write_tables(sealed: Path, kind: objects.Kind, manifest: Mapping[str, str], folder: Path) -> None:
    """Write the tables of a sealed file as Parquet files into a folder, by a process that never opened raw data. The files
    are compressed; row groups have a fixed number of rows, in the order of the table, so that their statistics follow from
    the rows alone."""
    catalog = "sealed"
    copies = (
        publish.copy_of(table.rows(table.place(catalog)), publish.rows_file(table.file), _COMPRESSED)
        for table in stored_tables(manifest, kind)
    )
    statements = [sql("ATTACH {} AS {} (READ_ONLY)", str(sealed), quoted(catalog)), *copies]
    with clean_writer(folder) as writer:
        writer.write(_SCRATCH, statements)
    for name in os.listdir(folder):
        if name.startswith(_SCRATCH):
            os.unlink(folder / name)


def write_manifest(folder: Path, manifest: Mapping[str, str], content_digest: str) -> None:
    """Write ``manifest.json``: the manifest, the content digest, and the SHA-256 of every other file."""
    files = {name: file_digest(folder / name) for name in os.listdir(folder)}
    content = {"format": FORMAT, "manifest": manifest, "content_digest": content_digest, "files": files}
    write_file(folder / MANIFEST_FILE, _manifest_text(content))


def _manifest_text(content: Mapping[str, Any]) -> str:
    """The one text of ``manifest.json`` with this content."""
    maps = {name: dict(sorted(content[name].items())) for name in ("manifest", "files")}
    ordered = {name: maps.get(name, content[name]) for name in ("format", "manifest", "content_digest", "files")}
    return json.dumps(ordered, ensure_ascii=False, indent=1) + "\n"


def read_back(folder: Path, directory: Path, scripts: Scripts, memory_limit: str | None = None) -> ReadBack:
    """Check a folder, and write its rows into a sealed file in a private directory, by a clean process. Nothing but the
    Parquet files of the tables is read, on a connection that can read no other file. The SQL files must be those that anondb
    writes for such a release, and the content digest that of the rows: it stands for the whole folder."""
    folder = valid_path(folder)
    if (stated := _stated(folder)) is None:
        return _refused("catalog", f"{MANIFEST_FILE} is not one that anondb writes")
    findings = _file_findings(folder, stated["files"])
    tables = {name.removesuffix(".parquet") for name in stated["files"] if name.endswith(".parquet")}
    paths = {name: str(folder / publish.rows_file(name)) for name in sorted(tables)}
    if findings:
        return ReadBack(None, tuple(findings))
    half = half_of(memory_limit)  # the other half is for the process that writes
    engine = reader_engine(list(paths.values()), directory, half)
    try:
        if (kind := _kind(engine, stated["manifest"], paths)) is None:
            return _refused("catalog", "the tables are not those of a release")
        engine.run(objects.SchemaName(publish.IN_MEMORY.catalog, objects.MODELLED).creation(), "a schema")
        for table in stored_tables(stated["manifest"], kind):
            engine.create(table.place(publish.IN_MEMORY.catalog), publish.rows_in(paths[table.file], table.columns))
        rows = engine.select(reads.rows(publish.IN_MEMORY.table("manifest"), "key, value"), "the manifest")
        said = dict(zip(rows["key"].tolist(), rows["value"].tolist(), strict=True))
        if said != stated["manifest"] or len(rows["key"]) != len(said) or not said["release_id"].isalnum():
            return _refused("rows", f"{MANIFEST_FILE} and the table manifest differ")
        kind = objects.as_read(engine, publish.IN_MEMORY, kind)
        if not _has_scripts(folder, stated["files"], scripts(kind, stated["manifest"])):
            return _refused("catalog", "the SQL files are not those that anondb writes for such a release")
        if content_digest(engine, publish.IN_MEMORY, kind) != stated["content_digest"]:
            return _refused("bytes", "the content digest is not that of the rows")
        file = publish.rebuild(engine, publish.IN_MEMORY.catalog, kind, stated["manifest"], directory, half)
    except AnondbError as error:
        if isinstance(error, BudgetExceeded) or error.code in ("out_of_memory", "disk_full"):
            raise
        return _refused("rows", f"the files cannot be read ({error.code})")
    finally:
        engine.close()
    return ReadBack(file, ())


def _refused(check: str, what: str) -> ReadBack:
    return ReadBack(None, (Finding(check, what),))


def _has_scripts(folder: Path, files: Mapping[str, str], scripts: Mapping[str, str]) -> bool:
    """Whether a folder has these SQL files beside its tables, and no others."""
    named = {name for name in files if not name.endswith(".parquet")} == scripts.keys()
    return named and all((folder / name).read_bytes() == text.encode() for name, text in scripts.items())


def _stated(folder: Path) -> dict[str, Any] | None:
    """The content of ``manifest.json``; None if it has another form, or is no plain file."""
    path = folder / MANIFEST_FILE
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        text = path.read_bytes().decode()
        stated = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(stated, dict) or stated.keys() != _KEYS or stated["format"] != FORMAT:
        return None
    maps = [stated[key] for key in ("manifest", "files")]
    good = all(isinstance(m, dict) and all(isinstance(v, str) for v in m.values()) for m in maps)
    named = good and all(os.path.basename(name) == name and name for name in stated["files"])
    whole = named and isinstance(stated["content_digest"], str) and stated["manifest"].keys() >= objects.MANIFEST_KEYS
    return stated if whole and _manifest_text(stated) == text else None


def _file_findings(folder: Path, files: Mapping[str, str]) -> list[Finding]:
    """Find files too many or too few, and files whose digest is not the stated one."""
    there = set(os.listdir(folder)) - {MANIFEST_FILE}
    findings = []
    if there != files.keys():
        findings.append(Finding("catalog", f"{len(there ^ files.keys())} files too many or too few"))
    for name in sorted(there & files.keys()):
        path = folder / name
        if path.is_symlink() or not path.is_file() or file_digest(path) != files[name]:
            findings.append(Finding("bytes", f"the digest of {name!r} is not that of {MANIFEST_FILE}"))
    return findings


def _kind(engine: DuckDBEngine, manifest: Mapping[str, str], paths: Mapping[str, str]) -> objects.Kind | None:
    """The kind of release that a manifest names, if the files have its tables and columns."""
    columns = {name: _columns(engine, path) for name, path in paths.items()}
    if (kind := objects.kind_of(manifest, columns.get(objects.RECORDS, {}))) is None:
        return None
    return kind if {table.file: dict(table.columns) for table in stored_tables(manifest, kind)} == columns else None


def _columns(engine: DuckDBEngine, path: str) -> dict[str, str]:
    rows = engine.select(Query(sql("DESCRIBE {}", publish.file_source(path))), "the columns of a file")
    return dict(zip(rows["column_name"].tolist(), rows["column_type"].tolist(), strict=True))
