"""Sources of data: tables and views by name, files, data frames. Each becomes one SELECT, which is read once."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from anondb.data.frames import check_frame, is_frame
from anondb.engine import AnyQuery, Engine, Query, Table, is_binary, reads, tuples
from anondb.engine.elsewhere import is_url, warehouse_at
from anondb.engine.queries import source_text
from anondb.engine.texts import Sql, listed, parts_of, quoted, sql, type_text
from anondb.engine.trees import is_tree
from anondb.errors import EngineError, InputError, InternalError, quote_list
from anondb.reading.account import Account
from anondb.reading.files import beside, open_file, text_records
from anondb.reading.formats import SUFFIXES, stem_of, suffix_of
from anondb.reading.options import DETECTED, OF_LINES, Dialect, Reading, as_read

_NUMBERS = itertools.count()
COUNTED_LATER = "transactions"
LIST = "sensitive items"  # the role of a .txt file with an item on each line


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A query over a table, view, file or data frame, with its columns."""

    query: AnyQuery  # selects all columns
    name: str  # its name in messages
    columns: dict[str, str]  # type of each column
    table: str = "transactions"  # the name of the source in a release's manifest, for analysts
    reference: Table | None = None  # the table or view itself; None for files and data frames
    typed: bool = True  # whether the source declares column types; a text file holds text only
    # the columns whose collation is not binary (DuckDB does not compare them by code points)
    collated: frozenset[str] = frozenset()
    partition: Partition | None = None  # the part of the persons that the query selects; None for all
    how: Reading = DETECTED  # how the owner says that it is read
    # id, item: what the owner calls the columns of the persons, and of their items
    id: str = "tid"
    item: str = "item"
    account: Account | None = None  # what was read of a file; None for other sources
    faults: Mapping[str, str] = field(default_factory=dict)  # the columns that cannot be used, with the reason

    @property
    def of_lines(self) -> bool:
        """Whether each line of its file is a person."""
        return self.account is not None and self.account.layout in OF_LINES

    def has(self, name: str) -> bool:
        """Whether it has a column of this name, in any case."""
        return name.lower() in {column.lower() for column in self.columns}

    def column(self, wanted: str, parameter: str) -> str:
        """The exact name of a column; like DuckDB, the search ignores case. Raises InputError: ``no_such_column``;
        ``collation`` if DuckDB treats different texts of the column as equal."""
        names = [wanted] if wanted in self.columns else [n for n in self.columns if n.lower() == wanted.lower()]
        names = names or [n for n in self.columns if n.strip().lower() == wanted.lower()]
        if len(names) != 1:
            # the column names of a file may be its first data row
            how, hint = "", f"Name the column with {parameter}."
            if self.reference is not None:
                how = f"; its columns are {quote_list(list(self.columns))}"
            if self.account is not None:
                n, dialect = len(self.columns), self.account.dialect
                how = f" ({n} column{'s' * (n != 1)}; read as {dialect.words if isinstance(dialect, Dialect) else dialect})"
                if n == 1 and self.how.delimiter is None and isinstance(dialect, Dialect):
                    hint = "Name what separates its columns with --delimiter."
                hint += " anondb peek FILE shows how a file is read, and what to say."
            raise InputError(f"{self.name} has no column {wanted!r}{how}.", code="no_such_column", hint=hint)
        (column,) = names
        if column in self.collated:
            name = quoted(column)
            listed = self.columns[column] != "VARCHAR"
            plain = f"list_transform({name}, lambda x: decode(encode(x)))" if listed else f'{name} COLLATE "binary"'
            raise InputError(
                f"The column {column!r} of {self.name} has a collation: DuckDB does not compare its texts by code"
                " points, so counts of the original would differ from those of a release.",
                code="collation",
                hint=f"Select {plain} in a view or in the query of an anonymized view, and use that.",
            )
        if column in self.faults:
            words = f"Column {list(self.columns).index(column) + 1} of {self.name} {self.faults[column]}."
            raise InputError(words, code="bad_type", hint="Write all values as texts, or all as numbers.")
        return column


@dataclass(frozen=True)
class Partition:
    """The rows of a source that have one value in a column."""

    column: str  # the name of the column
    value: str  # the value as text
    kind: str  # the type of the column

    @property
    def text(self) -> str:
        """What the manifest of a release says of it: a JSON object of the column and the value."""
        return json.dumps({self.column: self.value}, ensure_ascii=False)

    @property
    def literal(self) -> Sql:
        """The value in its type."""
        return sql("CAST({} AS {})", self.value, type_text(self.kind))

    @property
    def condition(self) -> Sql:
        """The condition that selects its rows."""
        return sql("{} = {}", quoted(self.column), self.literal)


@dataclass(frozen=True, eq=False, repr=False)
class QuerySource:
    """The query of an anonymized view: its text, its name in messages, the name of its source in the manifest, and the part
    of its rows that is meant."""

    text: str
    name: str
    table: str
    partition: Partition | None = None

    def query(self) -> Query:
        """The query: its text, unchanged, or the part of its rows."""
        whole = Query(f"({self.text})")
        return whole if self.partition is None else reads.rows(whole, "*", where=self.partition.condition)


def is_file(source: str) -> bool:
    """Whether the name of a source is that of a data file rather than of a table: by its extension."""
    return not is_url(source) and warehouse_at(source) is None and suffix_of(source) in SUFFIXES


def describe(
    engine: Engine, query: AnyQuery, name: str, table: str = "transactions", reference: Table | None = None
) -> Source:
    """Look up the columns of a query, which DuckDB binds but does not run."""
    engine.at_hand(query)
    with reading(name):
        rows = engine.select(Query(sql("DESCRIBE {}", Sql(source_text(query)))), f"reading {name}")
        columns = dict(zip(rows["column_name"].tolist(), rows["column_type"].tolist(), strict=True))
        collated = _collated(engine, query, columns)
    return Source(query, name, columns, table, reference, collated=collated)


def _collated(engine: Engine, query: AnyQuery, columns: dict[str, str]) -> frozenset[str]:
    """The columns of texts, or of lists of texts, whose collation is not binary. The name of a type does not show the
    collation; the definition of a table that is created from the query does."""
    texts = [name for name, kind in columns.items() if re.fullmatch(r"VARCHAR(\[\d*\])?", kind)]
    if not texts:
        return frozenset()
    cells = (
        f"{quoted(name)} AS c{n}" if columns[name] == "VARCHAR" else f"array_extract({quoted(name)}, 1) AS c{n}"
        for n, name in enumerate(texts)
    )
    table = engine.create("collations", reads.rows(query, listed(cells)).first(0))
    is_probe = sql("database_name = 'temp' AND table_name = {}", table.name)
    definition = str(engine.scalar(reads.rows(reads.system("duckdb_tables"), "sql AS definition", where=is_probe)))
    engine.drop(table)
    collations = re.findall(r"\bc(\d+) VARCHAR COLLATE \"?([^\s,;)\"]+)", definition)
    return frozenset(texts[int(n)] for n, collation in collations if not is_binary(collation))


@contextlib.contextmanager
def reading(name: str) -> Iterator[None]:
    """Report a failure to read a source (a broken view, a malformed file) as an InputError without the content."""
    try:
        yield
    except InputError as error:
        if error.code != "bad_unicode":
            raise
        words = f"{name} holds a text that is not valid Unicode (bytes that are not UTF-8, or a lone surrogate)."
        raise InputError(words, code="bad_unicode") from None
    except (EngineError, InternalError) as error:
        if error.code not in ("refused", "internal", "io"):
            raise
        raise InputError(f"{name} cannot be read.", code="unreadable", hint="Run the query by itself first.") from None


def unseen(engine: Engine, source: Source, role: str) -> Account | None:
    """The account of a query or view that reads text files itself: nobody sees which rows its functions skip, or what they
    convert. None for other sources."""
    if source.account is not None:
        return None
    plan = engine.relation(source.query).explain()
    readers = sorted({name.lower() for name in re.findall(r"\bREAD_(?:CSV|JSON|NDJSON)\w*", plan)})
    return Account(source.name, role, unseen=", ".join(readers)) if readers else None


def figures(engine: Engine, source: Source, sums: Mapping[str, str], limit: int | None = None) -> dict[str, int]:
    """Sums over the rows of a source, or over its first rows."""
    rows = source.query if limit is None else reads.rows(source.query, "*").first(limit)
    columns = listed(f"{sum_} AS {quoted(name)}" for name, sum_ in sums.items())
    with reading(source.name):
        totals = engine.select(reads.rows(rows, columns), f"reading {source.name}")
    return {name: int(np.ma.filled(totals[name], 0)[0]) for name in sums}


def texts_of(
    engine: Engine, source: Source, columns: Sequence[str], order: Sequence[str] = (), *, distinct: bool = False
) -> list[tuple[Any, ...]]:
    """Columns of a source as texts, or lists of texts, row by row; None for NULL. Rows may be ``distinct``, and sorted by
    columns, of which those read are ``c0`` and so on."""
    kinds = ["VARCHAR[]" if source.columns[name].endswith("]") else "VARCHAR" for name in columns]
    texts = listed(f"CAST({quoted(n)} AS {k}) AS c{i}" for i, (n, k) in enumerate(zip(columns, kinds, strict=True)))
    query = reads.rows(source.query, texts, distinct=distinct, order=listed(map(quoted, order)))
    with reading(source.name):
        rows = engine.select(query, f"reading {source.name}")
    return list(tuples(rows))


def count_if(condition: str) -> Sql:
    """The number of rows for which a condition holds."""
    return Sql(f"count_if({condition})")


def _candidates(text: str) -> list[tuple[str | None, str | None, str]]:
    """The possible meanings of a name: one unqualified name, schema.name, or catalog.schema.name."""
    meant: list[tuple[str | None, str | None, str]] = [(None, None, text)]
    if 1 <= len(parts := parts_of(text)) <= 3:
        catalog, schema, name = [None, None, *parts][-3:]
        meant += [(catalog, schema, str(name)), *([(schema, "main", str(name))] if len(parts) == 2 else [])]
    return meant


def resolve_table(engine: Engine, text: str, what: str) -> Table:
    """Resolve the name of a table, view or TEMP table, also in attached databases, to catalog.schema.name. A name alone is
    that of a TEMP table, else in the current schema, else in the schema main, where no release is. Raises InputError:
    ``no_such_table``, or ``ambiguous_table`` if the name matches several."""
    if not text:
        raise InputError(f"The name of the {what} table is empty.", code="empty_name")
    candidates = _candidates(text)
    engine.look_up(candidates)
    for catalog, schema, name in candidates:
        rows = [
            ((c != "temp", not current, s != "main") if schema is None else (), Table(c, s, n))
            for c, s, n, current in tuples(engine.query("transactions/catalog", wanted=name.lower()))
            if (catalog is None or c.lower() == catalog.lower()) and (schema is None or s.lower() == schema.lower())
        ]
        tables = [table for rank, table in rows if rank == min(rank for rank, _ in rows)]
        if len(tables) == 1:
            return tables[0]
        if tables:
            words = f"The name {text!r} of the {what} table matches several tables."
            raise InputError(words, code="ambiguous_table", hint="Qualify it as catalog.schema.name.")
    names = {name.lower(): name for name in engine.query("transactions/table_names")["table_name"].tolist()}
    near = difflib.get_close_matches(candidates[-1][2].lower(), names, n=1)
    hint = f"Did you mean {names[near[0]]!r}?" if near else "Check the name and the schema."
    raise InputError(f"There is no table or view {text!r} for the {what}.", code="no_such_table", hint=hint)


def tables_with(engine: Engine, catalog: str, id_column: str, item_column: str) -> list[Table]:
    """The tables and views of a database that have both columns."""
    columns = {"id_column": id_column.lower(), "item_column": item_column.lower()}
    tables = engine.query("transactions/tables_with", None, catalog_name=catalog, **columns)
    return [Table(*names) for names in tuples(tables)]


def all_columns(table: Table) -> Query:
    """``SELECT * FROM table``."""
    return reads.rows(table, "*")


@contextlib.contextmanager
def open_source(engine: Engine, data: Any, what: str) -> Iterator[Source]:
    """Open a table name, ``Table``, query tree, file path or data frame, or one of them with how it is read (``ReadAs``), as
    a ``Source`` for the duration of the block."""
    asked = as_read(data)
    data, how = asked.data, asked.reading
    if isinstance(data, str) and is_file(data):
        data = Path(data)
    if isinstance(data, Path):
        how = how if what == COUNTED_LATER else reading_of(engine, data, what, how)
    elif what == COUNTED_LATER:
        how.check_for(None)
    with contextlib.ExitStack() as opened:
        if isinstance(data, QuerySource):
            source = replace(describe(engine, data.query(), data.name, data.table), partition=data.partition)
        elif isinstance(data, Path):
            is_list = what == LIST and suffix_of(data) == ".txt"
            source = opened.enter_context((_open_list if is_list else _open_file)(engine, data, what, how))
        elif isinstance(data, str) and (connect := warehouse_at(data)) is not None:
            warehouse, name = connect(data, on_progress=engine.progress)
            opened.enter_context(warehouse.snapshot())
            view = opened.enter_context(engine.registered(warehouse.all_rows(name)))
            source = describe(engine, all_columns(view), f"table {name!r}", name)
        elif isinstance(data, str | Table):
            table, called = (data, data.name) if isinstance(data, Table) else (resolve_table(engine, data, what), data)
            source = describe(engine, all_columns(table), f"table {called!r}", table.name, table)
        elif is_frame(data):
            check_frame(data, what)
            view = opened.enter_context(engine.registered(data))
            source = describe(engine, all_columns(view), f"the {what} data frame")
        elif isinstance(data, Query) or is_tree(data):
            source = describe(engine, data, f"the {what} query")
        else:
            words = f"The {what} must be a table name, a file, a data frame or an Arrow table, not {type(data).__name__}."
            raise InputError(words, code="bad_source")
        if what != COUNTED_LATER and (account := unseen(engine, source, what)) is not None:
            engine.account(account)
        yield replace(source, how=how, id=asked.id, item=asked.item)


def reading_as(engine: Engine, transactions: Any) -> AbstractContextManager[None]:
    """A block in which the files beside transactions are read as these are."""
    return engine.beside(as_read(transactions).reading)


def reading_of(engine: Engine, path: Path, what: str, how: Reading) -> Reading:
    """How a file beside the transactions is read: as the owner says of it or, where nothing is said, as they are."""
    return Reading(**{**beside(path, what, engine.reads_beside or DETECTED).texts(), **how.texts()})


@contextlib.contextmanager
def _open_list(engine: Engine, path: Path, what: str, how: Reading) -> Iterator[Source]:
    """Open a text file with an item on each line."""
    account, lines = text_records(engine, path, what, how, Dialect(None, None, header=False))
    items = [item for line in lines if (item := "".join(line).strip())]
    account = replace(account, dialect="a list with an item on each line", rows=len(items))
    account = replace(account, empty=account.empty + len(lines) - len(items))
    engine.account(account)
    rows = engine.put(f"file_{next(_NUMBERS)}", {"item": ("VARCHAR", items)})
    name = f"file {path.name!r}"
    yield Source(all_columns(rows), name, {"item": "VARCHAR"}, stem_of(path), typed=False, account=account)
    engine.drop(rows)


@contextlib.contextmanager
def _open_file(engine: Engine, path: Path, what: str, how: Reading) -> Iterator[Source]:
    """Open a file. The rows of transactions are counted where they are copied; those of other files are copied here."""
    name, table = f"file {path.name!r}", how.file_table or stem_of(path)
    with open_file(engine, path, what, how) as file:
        if file.columns is None:
            source = describe(engine, file.query, name, table)
        else:
            source = Source(file.query, name, dict(file.columns), table, typed=False)
        source = replace(source, account=file.account, faults=file.faults)
        if what == COUNTED_LATER:
            yield source
            return
        with reading(name):
            rows = engine.create(f"file_{next(_NUMBERS)}", source.query)
        file.account.check(int(engine.scalar(reads.counted(rows))))
        engine.account(file.account)
        yield replace(source, query=all_columns(rows))
        engine.drop(rows)
