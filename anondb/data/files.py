"""``anondb load``: load files into tables of the owner's database."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from anondb.data.sources import dat_source, describe, file_query, is_file, reading
from anondb.data.taxonomy import Taxonomy, load_taxonomy
from anondb.engine import Engine, Table
from anondb.engine.files import write_file
from anondb.errors import EngineError, InputError


@dataclass(frozen=True)
class Loaded:
    """A loaded table: its name, its number of rows, and a remark."""

    table: str
    rows: int
    note: str = ""


def load_files(
    engine: Engine,
    wanted: Mapping[str, tuple[str | None, str]],
    *,
    replace: bool = False,
    id: str | None = None,
    item: str | None = None,
) -> list[Loaded]:
    """Load files into tables of the current schema: all of them, or none if one fails.

    Args:
        engine: the engine, outside a transaction.
        wanted: (file, table) for each of ``transactions``, ``taxonomy`` and ``records``.
        replace: whether existing tables are replaced.
        id, item: the columns of persons and of items in the files, which become ``tid`` and ``item`` in the tables.

    ``.dat`` transactions become ``(tid, item)``, one row for each item; a file with empty lines becomes one row for each
    transaction with a list, since the long form cannot hold a transaction without items. Taxonomies of any format become
    ``(node, parent, ord)``.

    Raises:
        InputError: a file is missing or malformed, a table name is empty or taken.
    """
    loaded = []
    renamed = {"transactions": {"tid": id, "item": item}, "records": {"tid": id}}
    names = [name.lower() for file, name in wanted.values() if file is not None]
    if len(set(names)) < len(names):
        raise InputError("Two of the tables would have the same name.", code="table_exists", hint="Rename one.")
    with engine.transaction():
        place = engine.query("release/current_place")
        catalog, schema = str(place["catalog_name"][0]), str(place["schema_name"][0])
        for what, (file, name) in wanted.items():
            if file is None:
                continue
            if not name:
                raise InputError(f"The name of the {what} table is empty.", code="empty_name")
            table = Table(catalog, schema, name)
            _make_room(engine, table, replace)
            note = (
                _load_taxonomy(engine, file, table)
                if what == "taxonomy"
                else _load_table(engine, Path(file), what, table, renamed[what])
            )
            rows = int(engine.scalar("transactions/row_count", {"source": table}))
            loaded.append(Loaded(name, rows, note))
    return loaded


def _make_room(engine: Engine, table: Table, replace: bool) -> None:
    """With ``replace``, drop a table of this name; never drop a view."""
    if not engine.exists(table):
        return
    if not replace:
        raise InputError(
            f"A table or view {table.name!r} exists already.",
            code="table_exists",
            hint="Choose another name, or replace it with --replace.",
        )
    try:
        engine.drop(table)
    except EngineError:
        raise InputError(
            f"{table.name!r} is a view; --replace replaces tables only.",
            code="table_exists",
            hint="Drop it first.",
        ) from None


def _load_table(engine: Engine, path: Path, what: str, table: Table, renamed: Mapping[str, str | None]) -> str:
    if path.suffix.lower() not in (".dat", ".csv", ".parquet"):
        raise InputError(
            f"The {what} file {path.name!r} does not end in .dat, .csv or .parquet.", code="bad_file", hint="Rename it."
        )
    if path.suffix.lower() != ".dat":
        query = _renaming(engine, path, what, renamed) if any(renamed.values()) else file_query(path, what)
        with reading(f"file {path.name!r}"):
            engine.create(table, query)
        return ""
    if any(renamed.values()):
        raise InputError("A .dat file has no columns.", code="bad_usage", hint="Leave --id and --item out.")
    source = dat_source(path, what)
    with reading(source.name):
        lists = engine.create("lists", source.query)
    if int(engine.scalar("transactions/empty_lists", {"lists": lists})):
        engine.create(table, exp.select("tid", "item").from_(lists.expression()))
        note = "one row with a list for each transaction, since some have no items"
    else:
        engine.create(
            table, exp.select("tid", exp.func("unnest", exp.column("item")).as_("item")).from_(lists.expression())
        )
        note = ""
    engine.drop(lists)
    return note


def _renaming(engine: Engine, path: Path, what: str, renamed: Mapping[str, str | None]) -> exp.Query:
    """The rows of a file, with other names of some columns.

    Raises:
        InputError: ``no_such_column``; ``column_clash`` if another column has the new name.
    """
    source = describe(engine, file_query(path, what), f"file {path.name!r}", is_file=True)
    new = {source.column(old, f"--{'id' if name == 'tid' else name}"): name for name, old in renamed.items() if old}
    names = [new.get(column, column) for column in source.columns]
    if len(new) < sum(map(bool, renamed.values())) or len({n.lower() for n in names}) < len(names):
        raise InputError(
            f"The columns named become {' and '.join(new.values())}, but {source.name} has another of that name.",
            code="column_clash",
            hint="Name two columns, and rename the other one in the file.",
        )
    columns = zip(source.columns, names, strict=True)
    chosen = [exp.column(exp.to_identifier(c, quoted=True)).as_(n, quoted=True) for c, n in columns]
    return exp.select(*chosen).from_(
        exp.Subquery(this=source.query, alias=exp.TableAlias(this=exp.to_identifier("rows")))
    )


def _load_taxonomy(engine: Engine, file: str, table: Table) -> str:
    taxonomy = load_taxonomy(engine, file)
    put_taxonomy(engine, taxonomy, table)
    return f"{taxonomy.n_leaves} leaves"


def write_taxonomy(engine: Engine, taxonomy: Taxonomy, to: str, *, replace: bool = False) -> None:
    """Write a taxonomy to a ``.tree`` file of leaf-to-root paths, or to a table (node, parent, ord) of the current schema.

    Raises:
        InputError: the name is empty or taken, or the file cannot be written.
    """
    if to.lower().endswith(".tree"):
        _write_paths(taxonomy, Path(to), replace)
        return
    if not to:
        raise InputError("The name of the taxonomy table is empty.", code="empty_name")
    if is_file(to):
        raise InputError(
            f"The taxonomy file {Path(to).name!r} does not end in .tree.", code="bad_file", hint="Rename it."
        )
    with engine.transaction():
        place = engine.query("release/current_place")
        table = Table(str(place["catalog_name"][0]), str(place["schema_name"][0]), to)
        _make_room(engine, table, replace)
        put_taxonomy(engine, taxonomy, table)


def _write_paths(taxonomy: Taxonomy, path: Path, replace: bool) -> None:
    """Write one path for each leaf: complete, or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    for node in taxonomy.leaves(0).tolist():
        labels = []
        while node >= 0:
            labels.append(taxonomy.labels[node])
            node = int(taxonomy.parent[node])
        writer.writerow(labels)
    try:
        write_file(path, text.getvalue(), replace=replace)
    except FileExistsError:
        raise InputError(
            f"The file {path.name!r} exists already.",
            code="file_exists",
            hint="Choose another name, or replace it with --replace.",
        ) from None
    except OSError:
        raise InputError(
            f"The file {path.name!r} cannot be written.",
            code="unwritable",
            hint="Check the folder and its permissions.",
        ) from None


def put_taxonomy(engine: Engine, taxonomy: Taxonomy, table: Table) -> None:
    """Create a table (node, parent, ord), in breadth-first order."""
    order = taxonomy.rank.argsort(kind="stable").tolist()
    parents = [int(taxonomy.parent[node]) for node in order]
    engine.put(
        table,
        {
            "node": ("VARCHAR", [taxonomy.labels[node] for node in order]),
            "parent": ("VARCHAR", [None if p < 0 else taxonomy.labels[p] for p in parents]),
            "ord": ("INTEGER", list(range(taxonomy.size))),
        },
    )
