"""SQLite as a warehouse: temporary tables of a connection that reads one state of the file."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anondb.engine import Table, reads
from anondb.engine.failures import bad_unicode
from anondb.engine.files import no_file
from anondb.engine.trees import exp, parsed
from anondb.errors import AnondbError, InputError
from anondb.release.objects import create_table
from anondb.warehouse import portable
from anondb.warehouse.portable import PortableWarehouse, column_named, table_named
from anondb.warehouse.statements import text_in

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = {"integer": "BIGINT", "text": "VARCHAR"}


class SQLiteWarehouse(PortableWarehouse):
    """A file of SQLite, which is only read."""

    name, dialect = "SQLite", "sqlite"
    schema = "temp"
    failures = (sqlite3.Error, OverflowError, TypeError, ValueError)

    def __init__(self, path: str | Path, **told: Callable[[str], None] | None) -> None:
        super().__init__(**told)
        if not Path(path).is_file():
            raise no_file(path)
        place = f"{Path(path).absolute().as_uri()}?mode=ro"
        self._connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
        self._connection.create_function("regexp", 2, _matches, deterministic=True)
        self._connection.create_function("sha2", 2, _sha256, deterministic=True)
        weakref.finalize(self, self._connection.close)

    def begin(self) -> None:
        """Begin a transaction, which sees one state of the file."""
        self.run(exp.Transaction(), "beginning a transaction")

    def sweep(self) -> None:
        """Roll back, which drops work tables."""
        self._connection.rollback()
        self._work.clear()

    def run(self, statement: exp.Expr, what: str) -> None:
        """Run a statement without a result."""
        self.told(statement, what, self._connection.execute)

    def rows(self, query: exp.Query, what: str) -> pa.Table:
        """The rows of a query in Arrow."""
        import pyarrow as pa

        def fetched(text: str) -> pa.Table:
            cursor = self._connection.execute(text)
            names = [column[0] for column in cursor.description]
            columns = list(zip(*cursor, strict=True)) or [()] * len(names)
            arrays = (pa.array(values, None if any(v is not None for v in values) else pa.string()) for values in columns)
            return pa.table(dict(zip(names, arrays, strict=True)))

        return self.told(query, what, fetched)

    def load(self, table: Table, kinds: Mapping[str, str], rows: pa.Table) -> None:
        """Create a temporary table with rows."""
        self.run(parsed(create_table(table, kinds)), "creating")
        insertion = exp.insert(exp.values([tuple(exp.Placeholder() for _ in kinds)]), table.expression())
        self._connection.executemany(
            text_in(self.dialect, insertion), zip(*(c.to_pylist() for c in rows.columns), strict=True)
        )

    def described(self, reference: Any, columns: Sequence[str]) -> tuple[exp.Table, dict[str, str]]:
        """A table, and the types of the values that its columns hold, whatever types these declare."""
        table = table_named(reference, self.dialect)
        listed = self.rows(exp.select("*").from_(table).limit(0), "reading the source").column_names
        kinds = dict.fromkeys(listed, "")
        for name in {column_named(listed, column) for column in columns}:
            kind = exp.Anonymous(this="typeof", expressions=[reads.named(name)])
            where = exp.Not(this=reads.named(name).is_(exp.null()))
            query = exp.select(kind.as_("kind")).distinct().from_(table.copy()).where(where)
            held = self.rows(query, "reading the source")["kind"].to_pylist()
            kinds[name] = KINDS.get(held[0], held[0]) if len(held) == 1 else " and ".join(sorted(held)) or "VARCHAR"
        return table, kinds

    def wrapped(self, error: Exception, what: str) -> AnondbError:
        """The typed error for one of SQLite."""
        text = str(error)
        if not isinstance(error, sqlite3.Error):
            hint = "Give each column values of one type, or leave it out in a view."
            return InputError("A column of the table holds values of several types.", code="bad_type", hint=hint)
        if "UTF-8" in text:
            return bad_unicode()
        if "no such table" in text:
            return InputError("The file has no such table.", code="no_such_table", hint="Write sqlite://FILE#TABLE.")
        if "not a database" in text:
            return InputError("The file is not one of SQLite.", code="not_a_database")
        return super().wrapped(error, what)


def _matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


def _sha256(text: str | None, bits: int) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


opened = partial(portable.opened, SQLiteWarehouse)
