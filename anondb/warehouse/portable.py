"""What all databases have in common that run the portable statements: an engine adds a dialect and three operations."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from anondb.data.types import kind_of, released_type, short
from anondb.engine import Columns, Query, Table, Tables, load, reads
from anondb.engine.failures import at_most, encodable
from anondb.engine.telling import Progress
from anondb.engine.texts import Value
from anondb.engine.trees import exp
from anondb.errors import AnondbError, EngineError, InputError
from anondb.warehouse.statements import PREFIX, arrow_rows, bad_type, columns_of, limited, text_in, tree_of, what

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
TEXTS = ("VARCHAR", "BOOLEAN", "DATE")
# that DuckDB's trim removes
BLANKS = "".join(map(chr, (0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))


class PortableWarehouse(ABC):
    """A database in which transactions are anonymized without leaving it: a ``Runner`` that reads the owner's tables.

    All work happens inside ``snapshot()``, or between ``begin()`` and ``sweep()``. Before the released rows ``fetch`` is the
    only method by which rows of data reach this process.

    Args:
        on_statement: called with the text of every statement before it runs.
        on_progress: called with a short text on the current step of long work.
    """

    portable_only, array_bytes = True, 0
    # the name of the engine in messages, that of its SQL as sqlglot names it, and that of work tables (empty: none)
    name = dialect = schema = ""
    temporary = True  # whether work tables are temporary tables, so that they end with the connection
    notes: tuple[str, ...] = ()  # what the owner should know of how the work was done
    draw = "random()"  # a call that gives other random values in other rows, which nobody can foretell
    sha256 = "sha256({})"  # a call that gives the SHA-256 of a text, in DuckDB's words
    failures: tuple[type[Exception], ...] = ()  # the exceptions of its driver

    def __init__(
        self, *, on_statement: Callable[[str], None] | None = None, on_progress: Callable[[str], None] | None = None
    ) -> None:
        self.on_statement, self._on_progress = on_statement, on_progress
        self._work: set[Table] = set()
        self.fetched = 0  # the number of rows fetched so far

    @abstractmethod
    def run(self, statement: exp.Expr, what: str) -> None:
        """Run a statement without a result; ``what`` names it in errors."""

    @abstractmethod
    def rows(self, query: exp.Query, what: str) -> pa.Table:
        """The rows of a query in Arrow."""

    @abstractmethod
    def load(self, table: Table, kinds: Mapping[str, str], rows: pa.Table) -> None:
        """Create a work table with rows; ``kinds`` are DuckDB's types of its columns."""

    @abstractmethod
    def described(self, reference: Any, columns: Sequence[str]) -> tuple[exp.Table, dict[str, str]]:
        """A table of the user, and the types of all of its columns, in DuckDB's words. Those of the named ones are exact.
        Raises InputError: ``no_such_table``."""

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the source, as far as the engine has states; work tables go with the block."""
        self.begin()
        try:
            yield
        finally:
            self.sweep()

    def begin(self) -> None:
        """Begin to work in the transaction of the owner's engine, instead of ``snapshot()``; ``sweep`` ends it."""
        self._work.clear()

    def sweep(self) -> None:
        """Drop all work tables. It may be called again."""
        with contextlib.suppress(AnondbError):  # after an error, which is the one to report
            self.drop(*self._work)
        self._work.clear()

    def progress(self, words: str, share: float | None = None) -> None:
        """Report the current step of long work to ``on_progress``."""
        if self._on_progress is not None:
            self._on_progress(Progress.of(words, share))

    def create(self, target: str, name: str | Query | exp.Query, tables: Tables | None = None, **values: Value) -> Table:
        """Create a work table from a named query or a tree."""
        table = self.work_table(target)
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()]) if self.temporary else None
        rows = tree_of(name, tables, values)
        creation = exp.Create(this=table.expression(), kind="TABLE", expression=rows, properties=temporary)
        self.run(creation, what(name))
        return table

    def put(self, target: str, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> Table:
        """Create a work table from arrays."""
        table = self.work_table(target)
        kinds = {name: kind for name, (kind, _) in columns.items()}
        self.guarded(lambda: self.load(table, kinds, arrow_rows(columns)), "loading a work table")
        return table

    def fetch(self, name: str | Query | exp.Query, tables: Tables | None = None, *, most: int, **values: Value) -> Columns:
        """Run a named query or a tree; refuse more than ``most`` rows (``Runner.fetch``)."""
        rows = self.rows(limited(tree_of(name, tables, values), most), what(name))
        self.fetched += rows.num_rows
        return at_most(most, columns_of(rows))

    def drop(self, *tables: Table) -> None:
        """Drop work tables."""
        for table in tables:
            self.run(exp.Drop(tables=[table.expression()], kind="TABLE", exists=True), "dropping a work table")
        self._work = self._work.difference(tables)

    def work_table(self, name: str) -> Table:
        """The name of a work table, which ``sweep`` drops."""
        table = Table("", self.schema, PREFIX + name)
        self._work.add(table)
        return table

    def told(self, statement: exp.Expr, what: str, work: Callable[[str], T]) -> T:
        """Call ``work`` with the text of a statement (``said``, ``guarded``)."""
        text = self.said(statement)
        return self.guarded(lambda: work(text), what)

    def said(self, statement: exp.Expr) -> str:
        """The text of a statement in the engine's dialect, of which the caller is told."""
        text = encodable(text_in(self.dialect, statement))
        if self.on_statement is not None:
            self.on_statement(text)
        return text

    def guarded(self, work: Callable[[], T], what: str) -> T:
        """Run ``work``; replace an error of the driver by a typed one without its text, which may contain data."""
        try:
            return work()
        except self.failures as error:
            failure = self.wrapped(error, what)
        raise failure

    def wrapped(self, error: Exception, what: str) -> AnondbError:
        """The typed error for one of the driver."""
        return EngineError(f"{self.name} refused a statement ({what}: {type(error).__name__}).", code="refused")

    def source(self, reference: Any, id_column: str, item_column: str) -> Table:
        """The work table ``(id, item)`` of a table: ids and items as texts that are compared by their code points, or as
        whole numbers. Raises InputError: the table or a column does not exist, or its type has no exact equality."""
        return self.create("source", self.pairs(reference, id_column, item_column))

    def pairs(self, reference: Any, id_column: str, item_column: str) -> exp.Select:
        """A query for the ids and items of a table, so that values are equal if and only if those of the table are. Raises
        InputError: ``no_such_table``, ``no_such_column``, ``bad_type``."""
        table, kinds = self.described(reference, (id_column, item_column))
        ids, items = (column_named(kinds, name) for name in (id_column, item_column))
        for name in (ids, items):
            kind = kinds[name]
            if not self.exact(kind):  # DuckDB's words, which may have values, are in capitals
                several = kind == "JSON" or kind.endswith("[]")
                raise bad_type(name, kind if kind.islower() else short(kind), several=several)
        id_value = exp.cast(reads.named(ids), "BIGINT") if kinds[ids] in WHOLE else self.text(ids, kinds[ids])
        return exp.select(id_value.as_("id"), self.text(items, kinds[items]).as_("item")).from_(table)

    def all_rows(self, reference: Any) -> pa.Table:
        """The rows of a table in Arrow."""
        table, _ = self.described(reference, ())
        return self.rows(exp.select("*").from_(table), "reading the source")

    def exact(self, kind: str) -> bool:
        """Whether values of a type are equal if and only if their texts are."""
        return kind in (*WHOLE, *TEXTS)

    def text(self, column: str, kind: str) -> exp.Expr:
        """A column of a type as a text that is compared by its code points."""
        return exp.cast(reads.named(column), "TEXT")

    def names(self, reference: Any, id_column: str, item_column: str) -> dict[str, Any]:
        """The names of a source and its columns, and the types of these, as a ``Dataset`` has them."""
        table, kinds = self.described(reference, (id_column, item_column))
        ids, items = (column_named(kinds, name) for name in (id_column, item_column))
        return {
            "table": table.name,
            "source": f"the table {exp.table_name(table)}" if isinstance(reference, str) else "the data frame",
            "id_column": ids,
            "item_column": items,
            "item_kind": kind_of(kinds[items]),
            "id_type": released_type(kinds[ids]),
            "item_type": released_type(kinds[items]),
            "left_out": tuple(name for name in kinds if name not in (ids, items)),
        }

    def number(self, source: Table) -> Table:
        """The work table ``(tid, id)``: the distinct ids of a table, numbered from 1 in an order that the engine draws at
        random, once even if a task runs again."""
        draws = reads.rows(reads.rows(source, "id", distinct=True), f"id, {self.draw} AS draw")
        number = "CAST(row_number() OVER (ORDER BY draw) AS INTEGER) AS tid, id"
        return self.create("ids", reads.rows(draws, number))

    def keyed(self, target: str, rows: Query | exp.Query, text: str, key: str) -> Table:
        """The work table of rows with 15 hexadecimal digits, ``digest``, of the SHA-256 of a key and the column ``text``.
        The key reaches the database beside the statements, as a row, and is written once, so that no plan of Spark has
        it."""
        secret = self.put("secret", {"key": ("VARCHAR", [key])})
        table = self.create("key", reads.rows(secret, "key"))
        digest = self.sha256.format(f"other.key || CAST(one.{text} AS TEXT)")
        result = self.create(target, reads.joined(rows, table, "", f"one.*, substr({digest}, 1, 15) AS digest"))
        self.drop(secret, table)
        return result

    def digests(self, ids: Table, key: str) -> Table:
        """The work table ``(digest, id)``: for ids ``(tid, id)`` the beginnings of the digests of ``publications.persons``,
        or the text of an id that only DuckDB writes uniformly."""
        return self.keyed(
            "persons", load("warehouse/load/uniform_ids").bind({"ids": ids}, {"blanks": BLANKS}), "uniform", key
        )

    def has_rows(self, reference: Any, id_column: str, item_column: str, least: int) -> bool:
        """Whether a source has at least ``least`` rows."""
        query = self.pairs(reference, id_column, item_column)
        return bool(self.fetch(reads.counted(query.limit(least)), most=1)["n"][0] >= least)

    @contextlib.contextmanager
    def rows_of(self, table: Table, columns: Sequence[str]) -> Iterator[Any]:
        """The rows of a work table in Arrow, sorted by all columns."""
        query = reads.rows(table, ", ".join(columns), order=", ".join(columns))
        yield self.rows(query.tree(), "fetching rows")


def table_named(reference: Any, dialect: str) -> exp.Table:
    """The table of a name such as ``schema.table``. Raises InputError: ``no_such_table``: it is none."""
    table = None
    from sqlglot.errors import SqlglotError

    with contextlib.suppress(SqlglotError, ValueError):
        table = exp.to_table(str(reference), dialect=dialect)
    if table is None:
        raise InputError("The URL names no table.", code="no_such_table", hint="Write URL#TABLE.")
    for part in table.find_all(exp.Identifier):
        part.set("quoted", True)
    return table


def column_named(columns: Iterable[str], wanted: str) -> str:
    """A column by its name; as in DuckDB, the search ignores case if it has to. Raises InputError: ``no_such_column``."""
    names = list(columns)
    exact = [c for c in names if c == wanted] or [c for c in names if c.lower() == wanted.lower()]
    if len(exact) != 1:
        raise InputError(
            f"The source has no column {wanted!r}.",
            code="no_such_column",
            hint="Name the columns with --id and --item (in Python id and item).",
        )
    return exact[0]


def opened(kind: Callable[..., PortableWarehouse], source: str, **told: Callable[[str], None] | None) -> tuple[Any, str]:
    """The warehouse of a URL ``SCHEME://PLACE#TABLE``, and the name of the table."""
    place, _, table = source.partition("://")[2].partition("#")
    return kind(unquote(place), **told), unquote(table)
