"""What the parts Load and Understand have done in the worker's process; it imports nothing of the web, to begin quickly."""

from __future__ import annotations

from typing import Any

import anondb
from anondb.api.connect import new_file
from anondb.api.database import Database
from anondb.guide.peek import Peek
from anondb.guide.tables import Columns
from anondb.reading.options import read_as
from anondb.taxonomies.check import Checked, check_taxonomy
from anondb.ui.worker import Say


def opened(database: str, say: Say) -> Database:
    """A database to read; memory for a data file, which has none."""
    if not database:
        return anondb.connect(on_progress=say, one_shot=True)
    return anondb.connect(database, read_only=True, on_progress=say)


def tables(say: Say, database: str) -> tuple[Columns, ...]:
    """The tables of a database."""
    with opened(database, say) as db:
        return db.tables()


def peek(say: Say, database: str, source: str, given: dict[str, Any]) -> Peek:
    """How a file or a table is read."""
    with opened(database, say) as db:
        return db.peek(source, **given)


def check(say: Say, database: str, source: str, given: dict[str, Any], taxonomy: str) -> Checked:
    """Whether a taxonomy fits the items of a file or a table."""
    reading = dict(given)
    columns = {f"{name}_column": reading.pop(name) for name in ("id", "item") if name in reading}
    with opened(database, say) as db:
        return check_taxonomy(db.engine, taxonomy, read_as(source, reading), **columns)


def load(say: Say, database: str, how: dict[str, Any]) -> tuple[str, ...]:
    """Load files into a database; what was read of each."""
    with new_file(database), anondb.connect(database, on_progress=say) as db:
        return tuple(f"{table.table}: {table.account.words}" for table in db.load(**how))
