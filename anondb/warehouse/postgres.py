"""PostgreSQL as a warehouse: temporary tables in one transaction of a psycopg connection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from anondb.engine import Columns, NamedRows, Table, Tables
from anondb.engine.failures import at_most, encodable
from anondb.engine.queries import Value
from anondb.errors import AnondbError, EngineError, InputError
from anondb.warehouse.statements import PREFIX, creation, limited, text_in, tree_of, view_of

if TYPE_CHECKING:
    import psycopg

WHOLE = ("int2", "int4", "int8")
TEXTS = ("text", "varchar", "bpchar", "name", "bool", "uuid", "date")  # whose texts are equal if and only if they are
ARRAYS = {**dict.fromkeys(WHOLE, np.int64), "float8": np.float64, "bool": np.bool_}
TYPES = {"VARCHAR": "TEXT", "INTEGER": "INTEGER", "BIGINT": "BIGINT", "DOUBLE": "DOUBLE PRECISION"}


class PostgresWarehouse:
    """One connection to PostgreSQL 15 or newer, in a transaction of the level REPEATABLE READ.

    Every work table is analyzed, since the planner believes that a table without statistics is small. No item, id or key
    stands in the text of a statement, which administrators can read: texts go to the server by COPY.

    Args:
        connection: a psycopg connection without an open transaction. It keeps no object of anondb.
        on_statement: called with the text of every statement before it runs.
        on_progress: called with a short text on the current step of long work.
    """

    portable_only, array_bytes = True, 0

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        *,
        on_statement: Callable[[str], None] | None = None,
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        self._connection = connection
        self._on_statement, self._on_progress = on_statement, on_progress
        self._work: set[Table] = set()
        self.fetched = 0

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """One transaction of the level REPEATABLE READ."""
        import psycopg

        connection = self._connection
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            raise InputError(
                "The connection has a transaction open.",
                code="transaction_open",
                hint="COMMIT or ROLLBACK it first: anondb never ends your transactions.",
            )
        level, connection.isolation_level = connection.isolation_level, psycopg.IsolationLevel.REPEATABLE_READ
        try:
            with connection.transaction():
                self._run(_catalog_first(), "choosing the search path")
                yield
                self.drop(*self._work)
        finally:
            self._work.clear()
            if not connection.closed:
                connection.isolation_level = level

    def progress(self, words: str) -> None:
        """Report the current step of long work to ``on_progress``."""
        if self._on_progress is not None:
            self._on_progress(words)

    # ------------------------------------------------------------------ work tables and queries

    def create(
        self, target: str, name: str | exp.Query | NamedRows, tables: Tables | None = None, **values: Value
    ) -> Table:
        """Create a temporary table from a named query or a tree, and analyze it."""
        table = self._work_table(target)
        self._run(creation(table.expression(), tree_of(name, tables, values), temporary=True), _what(name))
        self._run(exp.Analyze(tables=[table.expression()]), _what(name))
        return table

    def put(self, target: str, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> Table:
        """Create a temporary table from arrays, by COPY."""
        table = self._work_table(target)
        defined = [_column(name, kind) for name, (kind, _) in columns.items()]
        schema = exp.Schema(this=table.expression(), expressions=defined)
        self._run(exp.Create(this=schema, kind="TABLE", properties=_temporary()), "creating a work table")
        lists = [np.asarray(values, dtype=object).tolist() for _, values in columns.values()]
        copying = exp.Copy(this=table.expression(), kind=True, files=[exp.Var(this="STDIN")])
        text = self._said(copying)

        def copy() -> None:
            with self._connection.cursor().copy(text.encode()) as rows:
                for row in zip(*lists, strict=True):
                    rows.write_row(row)

        self._guarded(copy, "filling a work table")
        self._run(exp.Analyze(tables=[table.expression()]), "analyzing a work table")
        return table

    def fetch(
        self, name: str | exp.Query | NamedRows, tables: Tables | None = None, *, most: int, **values: Value
    ) -> Columns:
        """Run a named query or a tree; refuse more than ``most`` rows (``Runner.fetch``)."""
        text = self._said(limited(tree_of(name, tables, values), most))

        def read() -> Columns:
            cursor = self._connection.execute(text.encode())
            rows = cursor.fetchall()
            self.fetched += len(rows)
            kinds = {c.name: ARRAYS.get(self._type(c.type_code), object) for c in cursor.description or ()}
            parts = list(zip(*rows, strict=True)) if rows else [()] * len(kinds)
            return {n: np.array(part, dtype=kind) for (n, kind), part in zip(kinds.items(), parts, strict=True)}

        return at_most(most, self._guarded(read, _what(name)))

    def drop(self, *tables: Table) -> None:
        """Drop temporary tables."""
        for table in tables:
            self._run(exp.Drop(tables=[table.expression()], kind="TABLE", exists=True), "dropping a work table")
        self._work.difference_update(tables)

    # ------------------------------------------------------------------ sources and releases

    def source(self, reference: str, id_column: str, item_column: str) -> Table:
        """Copy two columns of a table or view ``name`` or ``schema.name`` (``Warehouse.source``)."""
        table = exp.to_table(reference, dialect="postgres")
        columns = [exp.column(exp.to_identifier(c, quoted=True)) for c in (id_column, item_column)]
        probe = self._said(exp.select(*columns).from_(table).limit(0))

        def types() -> list[str]:
            cursor = self._connection.execute(probe.encode())
            return [self._type(c.type_code) for c in cursor.description or ()]

        kinds = self._guarded(types, "reading the source")
        taken = [
            _comparable(c, kind, name).as_(alias)
            for c, kind, name, alias in zip(columns, kinds, (id_column, item_column), ("id", "item"), strict=True)
        ]
        taken[1] = taken[1] if kinds[1] not in WHOLE else _text(columns[1]).as_("item")
        return self.create("source", exp.select(*taken).from_(table))

    def number(self, source: Table) -> Table:
        """Number the distinct ids in the order of random UUIDs, which the server draws."""
        order = exp.Order(expressions=[exp.Anonymous(this="gen_random_uuid")])
        number = exp.Window(this=exp.RowNumber(), order=order)
        ids = exp.select("id").distinct().from_(source.expression())
        return self.create("ids", exp.select(exp.cast(number, "INTEGER").as_("tid"), "id").from_(ids.subquery("ids")))

    def release(self, name: str, tables: Mapping[str, exp.Query], check: Callable[[Mapping[str, Table]], None]) -> None:
        """Create the schema with its tables, whose rows are sorted (``Warehouse.release``)."""
        schema = exp.Table(db=exp.to_identifier(name, quoted=True))
        self._run(exp.Create(this=schema, kind="SCHEMA"), "creating the schema of the release")
        written = {table: Table("", name, table) for table in tables}
        for table, rows in tables.items():
            self._run(creation(written[table].expression(), rows), "writing the release")
            self._run(exp.Analyze(tables=[written[table].expression()]), "analyzing the release")
        check(written)
        self._run(view_of("transactions", written), "creating the view of the release")

    # ------------------------------------------------------------------ one statement

    def _work_table(self, name: str) -> Table:
        table = Table("", "pg_temp", PREFIX + name)
        self._work.add(table)
        return table

    def _type(self, oid: int) -> str:
        known = self._connection.adapters.types.get(oid)
        return f"{known.name}[]" if known and oid == known.array_oid else known.name if known else "another type"

    def _run(self, statement: exp.Expr, what: str) -> None:
        text = self._said(statement)
        self._guarded(lambda: self._connection.execute(text.encode()), what)

    def _said(self, statement: exp.Expr) -> str:
        text = encodable(text_in("postgres", statement))
        if self._on_statement is not None:
            self._on_statement(text)
        return text

    def _guarded(self, work: Callable[[], Any], what: str) -> Any:
        """Run ``work``; replace an error of PostgreSQL by a typed one without its text, which may contain data."""
        import psycopg

        try:
            return work()
        except psycopg.Error as error:
            failure = _wrapped(error, what)
        raise failure


def _what(name: str | exp.Query | NamedRows) -> str:
    return f"query {name}" if isinstance(name, str) else "generated query"


def _temporary() -> exp.Properties:
    return exp.Properties(expressions=[exp.TemporaryProperty()])


def _catalog_first() -> exp.Select:
    """The built-in functions and operators come first in the search path of this transaction."""
    path = exp.Literal.string("search_path")
    before = exp.Anonymous(this="current_setting", expressions=[path])
    first = exp.DPipe(this=exp.Literal.string("pg_catalog, "), expression=before)
    return exp.select(exp.Anonymous(this="set_config", expressions=[path.copy(), first, exp.true()]))


def _text(column: exp.Column) -> exp.Expr:
    """A column as a text that is compared byte by byte, whatever its collation."""
    return exp.Collate(this=exp.cast(column.copy(), "TEXT"), expression=exp.to_identifier("C", quoted=True))


def _comparable(column: exp.Column, kind: str, name: str) -> exp.Expr:
    """A column as a whole number, or as a text that is equal if and only if the values are."""
    if kind in WHOLE:
        return exp.cast(column.copy(), "BIGINT")
    if kind in TEXTS:
        return _text(column)
    raise InputError(
        f"The column {name!r} has the type {kind}.",
        code="bad_type",
        hint="Cast it to text or to an integer in a view: equal ids and equal items must be equal exactly.",
    )


def _column(name: str, kind: str) -> exp.ColumnDef:
    """A column of a work table; texts are compared byte by byte."""
    collate = exp.CollateColumnConstraint(this=exp.to_identifier("C", quoted=True))
    constraints = [exp.ColumnConstraint(kind=collate)] if kind == "VARCHAR" else []
    kind_ = exp.DataType.build(TYPES[kind], dialect="postgres")
    return exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=kind_, constraints=constraints)


def _wrapped(error: psycopg.Error, what: str) -> AnondbError:
    import psycopg
    from psycopg import errors

    if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn | errors.InvalidSchemaName):
        return InputError("A table or a column of the source does not exist.", code="no_such_table")
    if isinstance(error, errors.DuplicateSchema):
        return InputError("A schema of this name exists already.", code="release_exists", hint="Choose another name.")
    if isinstance(error, errors.InsufficientPrivilege):
        return EngineError(f"PostgreSQL refused permission ({what}).", code="permission")
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return EngineError(f"PostgreSQL has no room left ({what}).", code="out_of_memory")
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return EngineError(f"The connection to PostgreSQL was lost ({what}).", code="connection")
    return EngineError(f"PostgreSQL refused a statement ({what}: {error.sqlstate}).", code="refused")
