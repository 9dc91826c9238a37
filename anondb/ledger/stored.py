"""Find the releases in the owner's database, read their sources again, and name the tables that analysts query."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from anondb import options
from anondb.data.records import Records, load_records
from anondb.data.sources import QuerySource, open_source, reading_as, resolve_table
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import DuckDBEngine, Engine, Table, reads
from anondb.engine.texts import parts_of, sql
from anondb.errors import InputError
from anondb.ledger import ledger
from anondb.ledger.ledger import View
from anondb.policy import Policy
from anondb.reading.options import READING, ReadAs, Reading, read_as
from anondb.release.conditions import ReleasedAttribute
from anondb.release.objects import (
    SEALED_SCHEMA,
    SEALED_TABLES,
    SchemaName,
    StoredRelease,
    find_schema,
    read_release,
    release_schema,
    same_name,
)


def current_catalog(engine: Engine) -> str:
    """The name of the database that releases are written to."""
    return engine.here().catalog


def check_writable(engine: Engine, catalog: str) -> None:
    """Raise an ``InputError`` for a read-only database, and for a sealed release, before the long work."""
    here = sql("database_name = {}", catalog)
    if bool(engine.scalar(reads.rows(reads.system("duckdb_databases"), "readonly", where=here))):
        raise InputError(
            "The database is open read-only, so nothing can be written into it.",
            code="read_only",
            hint="Open it for writing, or USE another one.",
        )
    if all(engine.exists(Table(catalog, SEALED_SCHEMA, name)) for name in SEALED_TABLES):
        raise InputError(
            "This is a sealed release, into which nothing is written.", code="read_only", hint="Name a database of yours."
        )


def find_release(engine: DuckDBEngine, name: str) -> SchemaName:
    """The schema of a release in the owner's database."""
    return find_whole(engine, name).schema


def find_whole(engine: DuckDBEngine, name: str) -> StoredRelease:
    """A release in the owner's database."""
    if (schema := find_schema(engine, release_schema(current_catalog(engine), name))) is None:
        hint = "A run over files keeps none: load them into a database first, with anondb load."
        hint = hint if engine.one_shot else "List them: anondb releases."
        raise InputError(f"There is no release {name!r}.", code="no_such_release", hint=hint)
    if (release := read_release(engine, schema)) is None:
        raise InputError(f"The schema {schema.name!r} does not hold a release.", code="not_a_release")
    return release


def load_source(engine: DuckDBEngine, name: str) -> tuple[ledger.LedgerEntry, Dataset]:
    """Read the current source of a release: the query of a view, else the table that it was made from. Raises InputError:
    the release or its source does not exist (files and data frames are not kept)."""
    find_release(engine, name)
    if (entry := ledger.find(engine, current_catalog(engine), name)) is None:
        raise _no_source(name)
    source = rows_of(engine, entry, ledger.view_of(engine, current_catalog(engine), entry.release_id))
    bags = bool(entry.parameters.get("bag_input", False))
    with reading_as(engine, source):
        return entry, _read(engine, source, records_of(engine, entry), bags)[0]


def read_persons(engine: Engine, policy: Policy) -> tuple[Dataset, Table | None]:
    """Read the transactions of a policy, including those of persons who are only in its records; and the records' table."""
    with reading_as(engine, policy.rows):
        return _read(engine, policy.rows, policy.people, policy.bag_input)


def _read(engine: Engine, transactions: Any, records: Any, bags: bool) -> tuple[Dataset, Table | None]:
    read = partial(load_transactions, engine, bags=bags)
    with open_source(engine, transactions, "transactions") as source:
        if records is None or records is transactions:
            return read(source), None if records is None else source.reference
        with open_source(engine, records, "records") as ids:
            return read(source, more_ids=ids), ids.reference


def file_gone(name: str, role: str, file: str) -> InputError:
    """The error for a release whose transactions or records (``role``) were read from a file that is gone."""
    return InputError(
        f"The file {file!r}, from which the {role} of the release {name!r} were read, is not where it was.",
        code="no_source",
        hint="Put it back there, or load it with --replace from where it is. The release alone is verified without it.",
    )


def _no_source(name: str) -> InputError:
    return InputError(
        f"The source of the release {name!r} is not in this database.",
        code="no_source",
        hint="Load it into a table here, and make the release of that: data frames and other databases are not kept.",
    )


def _here(engine: Engine, reference: str | None) -> str | None:
    """A reference of ``reference_of`` qualified by the current name of the owner's database: attached databases may have
    tables of the same name."""
    if reference is None:
        return None
    parts = parts_of(reference)
    return Table(current_catalog(engine), *parts).sql() if len(parts) == 2 else reference


def source_of(engine: Engine, entry: ledger.LedgerEntry, view: ledger.View | None) -> Any:
    """The source of a release: the query of its view, or the name of a table. Raises InputError: ``no_source``: data frames
    are not kept, and a file may be gone."""
    if view is not None:
        return view_policy(view).transactions
    if entry.source_reference is None:
        if (file := _file_of(entry, "source_file")) is not None:
            return file
        noted = entry.parameters.get("source_file")
        raise _no_source(entry.name) if noted is None else file_gone(entry.name, "transactions", noted["account"]["file"])
    return _here(engine, entry.source_reference)


def rows_of(engine: Engine, entry: ledger.LedgerEntry, view: ledger.View | None) -> Any:
    """The source of a release, with how it was read; errors are those of ``source_of``."""
    options = {name: entry.parameters[name] for name in READING if name in entry.parameters}
    return read_as(source_of(engine, entry, view), options, id=entry.id_column, item=entry.item_column)


def records_of(engine: Engine, entry: ledger.LedgerEntry) -> Any:
    """The table or the file of a release's records; None without records, or if they were a data frame or are gone."""
    view = ledger.view_of(engine, current_catalog(engine), entry.release_id)
    if view is not None:
        return view_policy(view).records
    return _file_of(entry, "records_file") or _here(engine, entry.parameters.get("records"))


def released_records(
    engine: Engine, entry: ledger.LedgerEntry, dataset: Dataset, attributes: Sequence[ReleasedAttribute]
) -> Records:
    """The current quasi-identifiers of a release's source, each read in the type that the release shows. Raises InputError:
    ``no_source``: data frames are not kept, and a file may be gone."""
    if (location := records_of(engine, entry)) is None:
        raise InputError(
            "The records of the release are not in this database.",
            code="no_source",
            hint="Load them into a table; a data frame is not kept, and a file may be gone.",
        )
    kinds = [
        f"{a.name}:{'categorical' if a.ends is None else 'date' if a.ends in ('DATE', 'TIMESTAMP') else 'numeric'}"
        for a in attributes
    ]
    return load_records(engine, location, dataset, quasi_identifiers=kinds)


def _file_of(entry: ledger.LedgerEntry, name: str) -> ReadAs | None:
    """A file that a release was made of, with how it was read; None if it is not known, or not there."""
    noted = entry.parameters.get(name)
    there = noted is not None and Path(noted["path"]).is_file()
    return ReadAs(Path(noted["path"]), Reading(**noted["reading"])) if noted and there else None


def view_policy(view: ledger.View, replace: bool = False) -> Policy:
    """The policy of an anonymized view: its query is the source, and the release has the name of the view."""
    source = QuerySource(view.query, f"the query of the view {view.name!r}", view.table, view.partition)
    return options.view_policy(view.release, source, view.options, replace=replace)


def reference_of(engine: Engine, table: Table | None) -> str | None:
    """The reference of a source: its name without the owner's database, whose file may be renamed."""
    if table is None or table.catalog == "temp":
        return None
    return str((replace(table, catalog="") if table.catalog == current_catalog(engine) else table).sql())


def asked_table(dataset: Dataset, name: str) -> str:
    """The table name that analysts query for the release ``name``: the source's, if the release has the same rows. If rows
    were merged, counts over the source differ: then it is the release's name, or ``release_<name>`` if the source has that
    name. All parts of a partitioned view have the name that ``of_parts`` gives them."""
    if dataset.is_table or dataset.partition is not None:
        return dataset.table
    return _another(dataset.table, name)


def asked_records(dataset: Dataset, name: str, records: str | None) -> str | None:
    """The table name under which analysts query the persons' attributes: that of the items if one table has both."""
    return asked_table(dataset, name) if records == dataset.table and dataset.labels else records


def of_view(engine: Engine, name: str, query: str) -> str:
    """The table name for a view: that of the table if the query returns all its rows unchanged, else the view's. If a view
    omits rows or computes columns, its counts are not those of the table."""
    from anondb.statements.tokens import plain_table

    if (table := plain_table(query)) is not None:
        with contextlib.suppress(InputError):
            return resolve_table(engine, table, "view's").name
    return name


def of_parts(engine: Engine, view: View, dataset: Dataset) -> str:
    """The table name for all parts of a partitioned view, the next of which has this dataset: that of the view, or that of
    the release once rows of a part were merged."""
    merged = not dataset.is_table and same_name(view.table, of_view(engine, view.name, view.query))
    return _another(view.table, view.name) if merged else view.table


def _another(table: str, name: str) -> str:
    return f"release_{name}" if name.lower() == table.lower() else name
