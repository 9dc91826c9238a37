"""Folders of Parquet files from a stranger: nothing in them runs, and whatever differs from a release is found."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from portions import some

import anondb
from anondb.engine import DuckDBEngine
from anondb.errors import AnondbError
from anondb.publications.parquet import inspect_folder
from anondb.release.digest import content_digest
from anondb.release.objects import GLOBAL, Kind, with_item_supports
from anondb.release.parquet import write_manifest
from anondb.release.publish import IN_MEMORY, rows_in

KIND: Kind = with_item_supports(GLOBAL)
Change = Callable[[Path], None]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("folders")
    with anondb.connect(place / "shop.duckdb", threads=1) as db:
        db.sql("CREATE TABLE sales AS SELECT t AS tid, 'i' || (t + n * n) % 7 AS item FROM range(120) r(t), range(3) s(n)"
               " WHERE n <= t % 3")  # fmt: skip
        nodes = "SELECT DISTINCT item AS node, CASE WHEN item < 'i3' THEN 'A' ELSE 'B' END AS parent FROM sales"
        db.sql(f"CREATE TABLE food AS {nodes} UNION VALUES ('A', 'all'), ('B', 'all')")
        options: dict[str, Any] = {"model": anondb.KmAnonymity(15, 2), "taxonomy": "food", "item_supports": True}
        db.anonymize("sales", queries=0, publish=place / "pq", format="parquet", **options)
    return place / "pq"


def stated(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return told


def restated(folder: Path, manifest: dict[str, str] | None = None) -> None:
    """``manifest.json`` anew, as anondb writes it, with all digests as they are now."""
    told = stated(folder)
    digest = told["content_digest"]
    engine = DuckDBEngine.open(threads=1)
    try:
        for name, columns in KIND.tables.items():
            engine.create(IN_MEMORY.table(name), rows_in(str(folder / f"{name}.parquet"), columns))
        digest = content_digest(engine, IN_MEMORY, KIND)
    except AnondbError:
        pass  # its tables are not those of a release
    finally:
        engine.close()
    (folder / "manifest.json").unlink()
    write_manifest(folder, told["manifest"] if manifest is None else manifest, digest)


def rows(table: str, query: str, compression: str = "zstd") -> Change:
    """Replace the rows of a table by those of a query on them."""

    def change(folder: Path) -> None:
        file = folder / f"{table}.parquet"
        source = query.replace("{rows}", f"read_parquet('{file}')")
        duckdb.sql(f"COPY ({source}) TO '{file}.new' (FORMAT parquet, COMPRESSION {compression})")
        os.replace(f"{file}.new", file)
        manifest = None
        if table == "manifest":
            listed = duckdb.sql(f"SELECT key, value FROM read_parquet('{file}')").fetchall()
            manifest = {key: value for key, value in listed if key is not None and value is not None}
        restated(folder, manifest)

    return change


def script(name: str, write: Callable[[str], str]) -> Change:
    """Write a SQL file anew."""

    def change(folder: Path) -> None:
        place = folder / f"bounds.{name}.sql"
        place.write_text(write(place.read_text("utf-8")), "utf-8")
        restated(folder)

    return change


def trapped(folder: Path) -> None:
    """SQL that writes a file for whoever runs it."""
    witness = folder.parent / "witness.csv"
    script("duckdb", lambda told: f"{told}COPY (SELECT 1) TO '{witness}';\n")(folder)


def text(write: Callable[[str], str]) -> Change:
    """Write ``manifest.json`` anew."""

    def change(folder: Path) -> None:
        place = folder / "manifest.json"
        place.write_text(write(place.read_text("utf-8")), "utf-8")

    return change


def said(key: str, value: Any) -> Change:
    """Another value in ``manifest.json``."""
    return text(lambda told: json.dumps({**json.loads(told), key: value}, ensure_ascii=False, indent=1) + "\n")


def piped(name: str) -> Change:
    """A pipe in the place of a file, which whoever reads it waits for."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return change


def linked(name: str) -> Change:
    """A file elsewhere, and a link to it."""

    def change(folder: Path) -> None:
        shutil.move(folder / name, folder.parent / name)
        (folder / name).symlink_to(folder.parent / name)

    return change


def more(name: str) -> Change:
    """A file more, with its digest."""

    def change(folder: Path) -> None:
        (folder / name).write_text("Ada", "utf-8")
        restated(folder)

    return change


def cut(name: str, keep: float) -> Change:
    def change(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(len(content) * keep)])
        write_manifest_again(folder)

    return change


def write_manifest_again(folder: Path) -> None:
    """With the digests of the files, of which one cannot be read."""
    told = stated(folder)
    (folder / "manifest.json").unlink()
    write_manifest(folder, told["manifest"], told["content_digest"])


def with_metadata(folder: Path) -> None:
    """A text in the metadata of a file of the same rows."""
    place = folder / "labels.parquet"
    table = pq.read_table(place)
    pq.write_table(table.replace_schema_metadata({"note": "Ada"}), place)
    restated(folder)


def written_again(change: Callable[[pa.Table], pa.Table], **how: Any) -> Change:
    """The labels as another table of Arrow, or in another way."""

    def changed(folder: Path) -> None:
        place = folder / "labels.parquet"
        pq.write_table(change(pq.read_table(place)), place, **how)
        write_manifest_again(folder)

    return changed


def of_structs(table: pa.Table) -> pa.Table:
    """Each text within a struct."""
    texts = pa.StructArray.from_arrays([table["item"].combine_chunks()], ["item"])
    return pa.table({"item_id": table["item_id"], "item": texts})


def with_notes(table: pa.Table) -> pa.Table:
    """A text in the metadata of each column."""
    return table.cast(pa.schema([column.with_metadata({"note": "Ada"}) for column in table.schema]))


def with_lies(folder: Path) -> None:
    """Statistics by which no row has the item 2: DuckDB skips them where a condition asks for it."""
    place = folder / "transaction_items.parquet"
    asked = f"SELECT count(*) FROM '{place}' WHERE item_id = 2"
    content = place.read_bytes()
    end = b"\x04\x02\x00\x00\x00"  # the largest number, of four bytes
    for start in range(content.index(b"transaction_id"), len(content)):
        if content.startswith(end, start):
            place.write_bytes(content[: start + 1] + b"\x01" + content[start + 2 :])
            content = place.read_bytes()
    assert duckdb.sql(asked).fetchall() == [(0,)]
    write_manifest_again(folder)


def as_folder(folder: Path) -> None:
    """A folder in the place of a file, with the file in it."""
    place = folder / "labels.parquet"
    content = place.read_bytes()
    place.unlink()
    place.mkdir()
    (place / "labels.parquet").write_bytes(content)


def of_words(folder: Path) -> None:
    """Numbers as texts."""
    place = folder / "labels.parquet"
    table = pq.read_table(place)
    pq.write_table(table.set_column(0, "item_id", table["item_id"].cast(pa.string())), place)
    write_manifest_again(folder)


SAY = "SELECT key, CASE key WHEN '{}' THEN '{}' ELSE value END AS value FROM {{rows}}"
ORDERED = " ORDER BY item_id, transaction_id"
HOSTILE: dict[str, Change] = {
    "a COPY in the SQL of DuckDB": trapped,
    "an ATTACH in the SQL of DuckDB": script("duckdb", lambda told: "ATTACH 'x.duckdb';\n" + told),
    "an INSTALL in the SQL of DuckDB": script("duckdb", lambda told: told.replace("CREATE", "INSTALL x; CREATE", 1)),
    "a COPY in the SQL of PostgreSQL": script("postgres", lambda told: told + "COPY t TO PROGRAM 'true';\n"),
    "another bound in the SQL of PostgreSQL": script("postgres", lambda told: told.replace("lower_bound", "low", 1)),
    "a DROP in the SQL of Spark": script("spark", lambda told: told + "DROP TABLE x;\n"),
    "a comment in the SQL of Spark": script("spark", lambda told: "-- Ada\n" + told),
    "a line feed in the SQL of Spark": script("spark", lambda told: told + "\n"),
    "other ends of lines": script("duckdb", lambda told: told.replace("\n", "\r\n")),
    "an empty SQL file": script("duckdb", lambda told: ""),
    "a SQL file less": lambda folder: ((folder / "bounds.duckdb.sql").unlink(), write_manifest_again(folder))[1],
    "a SQL file of another engine": more("bounds.mysql.sql"),
    "a file more": more("notes.txt"),
    "a hidden file more": more(".notes"),
    "a table more": lambda folder: (shutil.copy(folder / "labels.parquet", folder / "raw.parquet"), restated(folder))[1],
    "a file that is not listed": lambda folder: (folder / "notes.txt").write_text("Ada", "utf-8") and None,
    "a folder more": lambda folder: (folder / "notes").mkdir(),
    "a folder for a file": as_folder,
    "a pipe for manifest.json": piped("manifest.json"),
    "a pipe for a SQL file": piped("bounds.spark.sql"),
    "a link for manifest.json": linked("manifest.json"),
    "a link for a table": linked("labels.parquet"),
    "a link for a SQL file": linked("bounds.spark.sql"),
    "a wrong content digest": said("content_digest", "content:" + "0" * 64),
    "no text for the content digest": said("content_digest", 7),
    "words for the content digest": said("content_digest", "Ada"),
    "another format": said("format", "anondb parquet 2"),
    "a key more in manifest.json": said("note", "Ada"),
    "a list for the files": said("files", ["labels.parquet"]),
    "a path for a file": said("files", {"../labels.parquet": "0" * 64}),
    "a manifest without model": said("manifest", {"release_id": "a" * 32}),
    "a key twice in manifest.json": text(lambda told: told.replace('{\n "format"', '{\n "format": "Ada",\n "format"', 1)),
    "blanks in manifest.json": text(lambda told: told.replace("\n", "\n ", 1)),
    "a text behind manifest.json": text(lambda told: told + " \n"),
    "another order in manifest.json": text(lambda told: json.dumps(dict(reversed(json.loads(told).items())), indent=1)),
    "a deep manifest.json": text(lambda told: "[" * 100_000),
    "no JSON": text(lambda told: told[:-9]),
    "a large manifest.json": text(lambda told: told + " " * 11_000_000),
    "a table that is cut": cut("transaction_items.parquet", 0.6),
    "an empty table": cut("labels.parquet", 0),
    "words for numbers": of_words,
    "a column more": rows("transaction_items", "SELECT *, 'Ada' AS note FROM {rows}" + ORDERED),
    "a column less": rows("transaction_items", "SELECT item_id, transaction_id FROM {rows}" + ORDERED),
    "longer numbers": rows("transaction_items", "SELECT * REPLACE (item_id::BIGINT AS item_id) FROM {rows}" + ORDERED),
    "a label that is NULL": rows("labels", "SELECT item_id, CASE item_id WHEN 2 THEN item END AS item FROM {rows}"),
    "no labels": rows("labels", "SELECT * FROM {rows} WHERE false"),
    "a number beyond the last": rows("transaction_items", "SELECT * FROM {rows} UNION ALL SELECT 1815, 2, 1" + ORDERED),
    "a row twice": rows("transaction_items", "SELECT * FROM {rows} UNION ALL SELECT * FROM {rows}" + ORDERED),
    "another order of rows": rows("transaction_items", "SELECT * FROM {rows} ORDER BY transaction_id, item_id DESC"),
    "a weight that is no number": rows("item_supports", "SELECT * REPLACE ('nan'::DOUBLE AS weight) FROM {rows}"),
    "digits behind the ninth": rows("item_supports", "SELECT * REPLACE (weight * (1 + 3e-12) AS weight) FROM {rows}"),
    "a model that is none": rows("manifest", SAY.format("model", "ada")),
    "words for the version": rows("manifest", SAY.format("version", "Ada")),
    "a key twice": rows("manifest", "SELECT * FROM {rows} UNION ALL SELECT 'k', '7' ORDER BY key"),
    "a key that is NULL": rows("manifest", "SELECT * FROM {rows} UNION ALL SELECT NULL, 'Ada' ORDER BY key"),
    "another manifest than the table's": lambda folder: restated(folder, {**stated(folder)["manifest"], "k": "50"}),
    "a text in the metadata": with_metadata,
    "statistics that lie": with_lies,
    "texts in structs": written_again(of_structs),
    "a column twice in other case": written_again(lambda table: table.append_column("Item", table["item"])),
    "a text in the metadata of columns": written_again(with_notes),
    "no statistics": written_again(lambda table: table, write_statistics=False),
    "pages of another version": written_again(lambda table: table, data_page_version="2.0"),
    "escaped letters in manifest.json": text(lambda told: told.replace('"km"', '"\\u006bm"')),
    "a mark before manifest.json": text(lambda told: "\ufeff" + told),
    "a look-alike of a key": text(lambda told: told.replace('"model"', '"m\u043edel"')),
    "another compression": rows("labels", "SELECT * FROM {rows}", compression="gzip"),
}  # fmt: skip
# What says the same in other bytes, or has rows that a release may have: the leak check alone finds it.
BY_THE_LEAK_CHECK = {
    "a label that is NULL", "no labels", "a number beyond the last", "a row twice", "another order of rows",
    "a weight that is no number", "digits behind the ninth", "words for the version", "a text in the metadata",
    "another compression", "statistics that lie", "a text in the metadata of columns", "no statistics",
    "pages of another version",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", some(HOSTILE, *list(HOSTILE)[::14], "a weight that is no number"))
def test_a_hostile_folder_is_found(published: Path, tmp_path: Path, what: str) -> None:
    """And refused by what reads it, unless its files say what a release says."""
    folder = tmp_path / "pq"
    shutil.copytree(published, folder)
    HOSTILE[what](folder)
    found = inspect_folder(folder)
    assert not found.clean and "Ada" not in str([f.what for f in found.findings])
    for read in (anondb.verify_file, anondb.open):
        try:
            read(folder)
        except AnondbError as error:
            assert error.exit_code in (2, 4) and "Ada" not in str(error)
        else:
            assert what in BY_THE_LEAK_CHECK
    assert not (tmp_path / "witness.csv").exists()


@pytest.mark.slow
def test_there_are_enough_of_them(published: Path) -> None:
    assert len(HOSTILE) >= 45 and inspect_folder(published).clean
