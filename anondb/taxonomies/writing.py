"""Writes a taxonomy, or the hierarchy of an attribute, where other commands read it: to a file or to a table."""

import contextlib
import csv
import io
import os
from pathlib import Path

from anondb.data.attributes import HIERARCHY_SUFFIXES, is_folder
from anondb.data.files import put_taxonomy, room_for, rows_of
from anondb.data.sources import all_columns, describe, is_file
from anondb.data.taxonomy import Taxonomy
from anondb.engine import DuckDBEngine, reads
from anondb.engine.files import write_file
from anondb.engine.texts import sql
from anondb.errors import EngineError, InputError


def _is_file(to: str, attribute: str | None) -> bool:
    """Whether a tree is written to a file: a taxonomy to one that ends in .tree, a hierarchy to one in a folder."""
    return to.lower().endswith(".tree") if attribute is None else to.endswith(("/", os.sep)) or is_folder(to)


def check_target(engine: DuckDBEngine, to: str, attribute: str | None = None) -> None:
    """Refuse to write a tree to a table where tables do not stay: beside a data file, and in PostgreSQL. Raises InputError:
    ``bad_usage``."""
    if _is_file(to, attribute) or not (engine.one_shot or engine.warehouse() is not None):
        return
    what = "a file that ends in .tree" if attribute is None else "a folder, with a / at its end,"
    where = "A data file has no tables to write to." if engine.one_shot else "Trees are not written into PostgreSQL."
    raise InputError(where, code="bad_usage", hint=f"Name {what} with --to.")


def save(engine: DuckDBEngine, tree: Taxonomy, to: str, *, attribute: str | None = None, replace: bool = False) -> str:
    """Write a taxonomy, or the hierarchy of an attribute, outside a transaction; return the name of the file or the table.

    Args:
        to: for a taxonomy, a file that ends in .tree, or a table (node, parent, ord); for a hierarchy, a folder, which is
            made if a separator ends its name, for a file ATTRIBUTE.tree in it, or a table (attribute, node, parent, ord),
            which may have the hierarchies of other attributes.
        replace: whether to replace the tree that is there.

    Raises:
        InputError: ``bad_type``: the items are no texts, and the nodes of a table would be; the name is empty, taken or of
            another table, or the file cannot be written; see ``check_target``.
    """
    check_target(engine, to, attribute)
    if _is_file(to, attribute):
        path = Path(to) if attribute is None else Path(to) / f"{attribute}.tree"
        if attribute is not None:
            if Path(attribute).name != attribute:
                hint = "Name a table with --to."
                raise InputError("No file can have the name of the attribute.", code="bad_path", hint=hint)
            with contextlib.suppress(OSError):  # writing the file says what is wrong
                path.parent.mkdir(parents=True, exist_ok=True)
        write_paths(tree, path, replace)
        return to if attribute is None else str(path)
    if attribute is not None:
        _write_rows(engine, tree, attribute, to, replace)
        return to
    if tree.kind not in (None, "VARCHAR"):
        raise InputError(
            f"The items have the type {tree.kind}, and the nodes of a table would be text, which fits no such items.",
            code="bad_type",
            hint="Name a file that ends in .tree: it fits items of any type.",
        )
    if is_file(to):
        raise InputError(f"The taxonomy file {Path(to).name!r} does not end in .tree.", code="bad_file", hint="Rename it.")
    with engine.transaction():
        put_taxonomy(engine, tree, room_for(engine, to, "taxonomy", replace))
    return to


def _write_rows(engine: DuckDBEngine, tree: Taxonomy, attribute: str, to: str, replace: bool) -> None:
    if not to:
        raise InputError("The name of the table of hierarchies is empty.", code="empty_name")
    if is_file(to) or Path(to).suffix.lower() in HIERARCHY_SUFFIXES:
        hint = "Name the folder, with a / at its end: the file in it gets the name of the attribute."
        words = f"Hierarchies are written to a folder or a table, not to {Path(to).name!r}."
        raise InputError(words, code="bad_file", hint=hint)
    rows = {"attribute": ("VARCHAR", [attribute] * tree.size), **rows_of(tree)}
    with engine.transaction():
        table = engine.here(to)
        if not engine.exists(table):
            engine.put(table, rows)
            return
        if list(describe(engine, all_columns(table), table.name).columns) != list(rows):
            words = f"{table.name!r} exists already, and has not the columns {', '.join(rows)}."
            raise InputError(words, code="table_exists", hint="Choose another name.")
        same = sql("lower(attribute) = {}", attribute.lower())
        if engine.scalar(reads.counted(table, where=same)) and not replace:
            words = f"{table.name!r} has a hierarchy of {attribute!r} already."
            raise InputError(words, code="table_exists", hint="Replace it with --replace.")
        try:
            engine.run(sql("DELETE FROM {} WHERE {}", table, same), "replacing a hierarchy")
            engine.insert(table, rows)
        except EngineError:
            words = f"{table.name!r} cannot be written: it may be a view."
            raise InputError(words, code="table_exists", hint="Name a table.") from None


def write_paths(taxonomy: Taxonomy, path: Path, replace: bool = False) -> None:
    """Write one path for each leaf: complete, or not at all. Raises InputError: ``file_exists``, ``unwritable``."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    for node in taxonomy.leaves(0).tolist():
        labels = []
        while node >= 0:
            labels.append(taxonomy.labels[node])
            node = int(taxonomy.parent[node])
        writer.writerow(labels)
    words = f"The file {path.name!r}"
    try:
        write_file(path, text.getvalue(), replace=replace)
    except FileExistsError:
        hint = "Choose another name, or replace it with --replace."
        raise InputError(f"{words} exists already.", code="file_exists", hint=hint) from None
    except OSError:
        hint = "Check the folder and its permissions."
        raise InputError(f"{words} cannot be written.", code="unwritable", hint=hint) from None
