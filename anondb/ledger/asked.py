"""The name of the table that analysts query a release by."""

from __future__ import annotations

import contextlib

from anondb.data.sources import resolve_table
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.errors import InputError
from anondb.ledger.ledger import View
from anondb.release.objects import same_name
from anondb.statements.queries import plain_table


def asked_table(dataset: Dataset, name: str) -> str:
    """The table name that analysts query for the release ``name``: the source's, if the release has the same rows.

    If rows were merged, counts over the source differ: then it is the release's name, or ``release_<name>`` if the source
    has that name. All parts of a partitioned view have the name that ``of_parts`` gives them.
    """
    if dataset.is_table or dataset.partition is not None:
        return dataset.table
    return _another(dataset.table, name)


def asked_records(dataset: Dataset, name: str, records: str | None) -> str | None:
    """The name of the table ``records`` of the persons' attributes for analysts: that of the items if it is one table with
    some."""
    return asked_table(dataset, name) if records == dataset.table and dataset.labels else records


def of_view(engine: Engine, name: str, query: str) -> str:
    """The table name for a view: that of the table if the query returns all its rows unchanged, else the view's.

    If a view omits rows or computes columns, its counts are not those of the table.
    """
    table = plain_table(query)
    if table is not None:
        with contextlib.suppress(InputError):
            return resolve_table(engine, table, "view's").name
    return name


def of_parts(engine: Engine, view: View, dataset: Dataset) -> str:
    """The table name for all parts of a partitioned view, of which ``dataset`` is the next: that of the view until rows of a
    part were merged, and from then on that of the release."""
    merged = not dataset.is_table and same_name(view.table, of_view(engine, view.name, view.query))
    return _another(view.table, view.name) if merged else view.table


def _another(table: str, name: str) -> str:
    return f"release_{name}" if name.lower() == table.lower() else name
