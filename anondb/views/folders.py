"""Where a partitioned view is published: a folder with a file, or a folder of Parquet files, for each value; or a schema of
PostgreSQL, with a schema for each value beside it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from anondb.data.sources import Partition
from anondb.engine import DuckDBEngine
from anondb.errors import InputError
from anondb.ledger import ledger, stored
from anondb.publications import history
from anondb.publications.targets import FORMATS, check_format, check_target, how, target_of
from anondb.release.objects import read_manifest
from anondb.release.paths import is_parquet_release
from anondb.views.parts import Part, Value
from anondb.warehouse.postgres.place import Place

_SUFFIXES = {"duckdb": ".duckdb", "parquet": ""}


def file_name(partition: Partition, format: str = "duckdb") -> str:
    """The name of the file of a part: ``column=value.duckdb``, with %XX for characters that names should not have; that of a
    folder has no ending."""
    return f"{quote(partition.column, safe=' ')}={quote(partition.value, safe=' ')}{_SUFFIXES[format]}"


@dataclass(frozen=True)
class Folder:
    """Where the releases of a view are published."""

    place: Path | Place  # a folder, or a schema of PostgreSQL
    format: str  # the format of the files

    def __str__(self) -> str:
        return str(self.place)

    def of(self, partition: Partition, stay: Sequence[str] = ()) -> str | Place:
        """Where the release of a value is published. In PostgreSQL only the releases with the numbers ``stay`` remain beside
        it. Raises InputError: ``bad_name``: the value is too long for the name of a schema."""
        if isinstance(self.place, Place):
            return self.place.part(partition.value, stay)
        return str(self.place / file_name(partition, self.format))

    def make(self) -> None:
        """Make the folder, if it is none of PostgreSQL, which is made with its first release."""
        if isinstance(self.place, Path):
            self.place.mkdir(exist_ok=True)

    def check(self, engine: DuckDBEngine, values: Sequence[Value], *, replacing: bool, fresh: bool) -> None:
        """Check, before the long work, that the releases of some values can be written. Raises InputError: ``bad_path``,
        ``target_exists``, ``bad_name``; see also ``targets.check_target``."""
        if isinstance(self.place, Place):
            from anondb.warehouse.postgres.publish import check_parts

            texts = [value.partition.value for value in values]
            check_parts(engine, self.place, texts, replace=replacing, fresh=fresh)
        elif not os.path.lexists(self.place):
            check_target(engine, str(self.place), False)
        elif not self.place.is_dir():
            name = self.place.name
            raise InputError(f"{name!r} is not a folder.", code="bad_path", hint="Name a folder for the files.")
        else:
            for value in values:
                check_target(engine, self.of(value.partition), replacing, self.format)

    def missing(self, engine: DuckDBEngine, catalog: str, parts: Sequence[Part]) -> list[Part]:
        """The parts that were not published, or are not there as the ledger has them."""
        public = {p.release_id for p in history.publications(engine, catalog)}
        if isinstance(self.place, Place):
            from anondb.warehouse.postgres.publish import manifests

            there = {m["release_id"]: m["table"] for m in manifests(engine, self.place).values()} if parts else {}
            frozen = {p.release_id: read_manifest(engine, stored.find_release(engine, p.release)) for p in parts}
            present = {number for number, manifest in frozen.items() if there.get(number) == manifest["table"]}
        else:
            is_there = Path.is_file if self.format == FORMATS[0] else is_parquet_release
            present = {p.release_id for p in parts if is_there(self.place / file_name(p.partition, self.format))}
        return [p for p in parts if p.release_id not in public & present]


def folder_of(view: ledger.View) -> Folder | None:
    """Where a view is published; None if it is not. Raises InputError: ``bad_parameter``: there is no such format, or no
    such mode; see also ``target_of``."""
    where, format = target_of(view.options), str(view.options.get("format", FORMATS[0]))
    if where is None:
        return None
    how(where, view.options)
    check_format(where, format)
    return Folder(where if isinstance(where, Place) else Path(where), format)
