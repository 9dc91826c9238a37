"""Releases in PostgreSQL as sealed files: the rows of a checked schema, in a private file that is removed afterwards."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine
from anondb.engine.clean import clean_writer
from anondb.engine.reads import named
from anondb.engine.spill import private_block
from anondb.engine.trees import exp
from anondb.errors import InputError
from anondb.release import objects
from anondb.release.catalog import Finding
from anondb.release.inspect import Inspection, inspect
from anondb.release.modelled import stored_tables
from anondb.release.parquet import ReadBack
from anondb.release.publish import BUILD_NAME, hand_over_table, rows_file, written
from anondb.release.signing import Keys
from anondb.warehouse.postgres import catalog
from anondb.warehouse.postgres.place import Place, release_of
from anondb.warehouse.postgres.server import Server
from anondb.warehouse.postgres.tables import declared_types, reading, source_tables
from anondb.warehouse.postgres.union import parts_at, union_findings

Said = Callable[[str], None] | None


def inspect_release(url: str, trusted: str | os.PathLike[str] | Keys | None = None, **how: Any) -> Inspection:
    """The leak check of a release in PostgreSQL: its catalog and rights there, and its rows as those of a sealed file. For
    ``trusted`` and ``how`` see ``release.inspect.inspect``."""
    place = release_of(url)
    if (parts := parts_at(place)) is not None:
        return _inspect_union(place, parts)
    with private_block() as directory:
        copied = copy(place, directory)
        if copied.file is None:
            return Inspection(Path(str(place.schema)), {}, {"release": str(place)}, copied.findings)
        inspection = inspect(copied.file, trusted, **how)
    figures = {"release": str(place), **{n: text for n, text in inspection.figures.items() if n not in ("wal", "bytes")}}
    return replace(
        inspection, path=Path(str(place.schema)), figures=figures, findings=(*copied.findings, *inspection.findings)
    )


def _inspect_union(union: Place, parts: Sequence[Place]) -> Inspection:
    """The leak check of what shows the parts of a partitioned view, each of which is checked by itself."""
    with contextlib.closing(Server(union)) as server, server.undone():
        catalog.check_reference(server)
        namespace = catalog.namespace_of(server, str(parts[0].schema)) if parts else None
        kind = None if namespace is None else checked_kind(server, parts[0], namespace)[0]
        wrong = [Finding("catalog", "the parts are of no kind of release that is known")]
        findings = wrong if kind is None else union_findings(server, str(union.schema), kind)
    figures = {"release": str(union), "parts": ", ".join(map(str, parts))}
    return Inspection(Path(str(union.schema)), {}, figures, tuple(findings))


def copy(where: Place, directory: Path, on_statement: Said = None) -> ReadBack:
    """Check the schema of a release, and write its rows into a sealed file in a private directory. Nothing of the schema
    runs: its catalog is compared first, and then only plain tables are read."""
    with contextlib.closing(Server(where, on_statement)) as server, server.undone():
        catalog.check_reference(server)
        if (namespace := catalog.namespace_of(server, str(where.schema))) is None:
            raise InputError(f"There is no schema at {where}.", code="no_such_release", hint="Check the URL.")
        kind, manifest, findings = checked_kind(server, where, namespace)
        if kind is None or any(f.check == "catalog" for f in findings):
            return ReadBack(None, tuple(findings))
        return ReadBack(write(server, str(where.schema), kind, manifest, directory), tuple(findings))


def checked_kind(server: Server, where: Place, namespace: int) -> tuple[objects.Kind | None, dict[str, str], list[Finding]]:
    """The kind of a release, its manifest, and the findings; no kind if there is no manifest of a release."""
    if wrong := catalog.manifest_findings(server, namespace):
        return None, {}, wrong
    manifest = catalog.manifest_in(server, str(where.schema))
    kind = _kind_of_layout(server, where, manifest)
    if kind is None or "release_id" not in manifest:
        return None, manifest, [Finding("catalog", "the manifest is of no kind of release that is known")]
    both = [kind] if kind is objects.ANATOMY else [replace(kind, local=local) for local in (False, True)]
    compared = [(candidate, catalog.schema_findings(server, str(where.schema), namespace, candidate)) for candidate in both]
    kind, findings = min(compared, key=lambda pair: len(pair[1]))
    findings += catalog.grant_findings(server, namespace) + catalog.modelled_findings(
        server, str(where.schema), manifest, kind
    )
    return kind, manifest, findings


def _kind_of_layout(server: Server, where: Place, manifest: dict[str, str]) -> objects.Kind | None:
    """The kind that the manifest names; for relational data, from the columns of ``records``."""
    if objects.layout_of(manifest.get("model", "")) != objects.RECORDS:
        return objects.kind_of(manifest, {})
    records = source_tables(server, wanted=objects.RECORDS, schema=where.schema)
    if len(records) != 1:
        return None
    kind = objects.kind_of(manifest, declared_types(records[0]))
    columns = [column.name for column in records[0].columns]
    return kind if kind is not None and list(kind.tables[objects.RECORDS]) == columns else None


def write(server: Server, schema: str, kind: objects.Kind, manifest: Mapping[str, str], directory: Path) -> Path:
    """Write the rows of a release, in the order in which they are stored, into a sealed file."""
    schemas = {objects.SEALED_SCHEMA: schema, objects.MODELLED: f"{schema}_{objects.MODELLED}"}
    tables = {(of, t.name): t for of, place in schemas.items() for t in source_tables(server, schema=place)}
    engine = DuckDBEngine.open(one_shot=True)
    with contextlib.closing(engine), clean_writer(directory) as writer:
        for table in stored_tables(manifest, kind):
            how = reading(server, tables[table.schema, table.name], stored_order=True)
            with server.stream(how.query, f"reading {table.name!r}") as rows, engine.registered(rows) as view:
                types = table.columns.items()
                values = [exp.cast(named(c), t, dialect="duckdb").as_(c, quoted=True) for c, t in types]
                file = directory / rows_file(table.file)
                hand_over_table(engine, exp.select(*values).from_(view.expression()), file)
        writer.write(BUILD_NAME, written(kind, manifest))
    return directory / BUILD_NAME
