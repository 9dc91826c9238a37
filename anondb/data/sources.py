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
from anondb.engine import Engine, Table, is_binary, reads, tuples
from anondb.engine.elsewhere import is_url, warehouse_at
from anondb.engine.trees import exp
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

    query: exp.Query  # selects all columns
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

    @property
    def rows(self) -> exp.Subquery:
        """Its rows, to select from."""
        return self.query.subquery("source")

    def has(self, name: str) -> bool:
        """Whether it has a column of this name, in any case."""
        return name.lower() in {column.lower() for column in self.columns}

    def column(self, wanted: str, parameter: str) -> str:
        """The exact name of a column; like DuckDB, the search ignores case. Raises InputError: ``no_such_column``;
        ``collation`` if DuckDB treats different texts of the column as equal."""
        names = [wanted] if wanted in self.columns else [n for n in self.columns if n.lower() == wanted.lower()]
        names = names or [n for n in self.columns if n.strip().lower() == wanted.lower()]
        if len(names) == 1:
            self._check_collation(names[0])
            self._check_fault(names[0])
            return names[0]
        # the column names of a file may be its first data row
        how, hint = "", f"Name the column with {parameter}."
        if self.reference is not None:
            how = f"; its columns are {quote_list(list(self.columns))}"
        if self.account is not None:
            dialect = self.account.dialect
            n = len(self.columns)
            how = f" ({n} column{'s' * (n != 1)}; read as {dialect.words if isinstance(dialect, Dialect) else dialect})"
            hint = "Name what separates its columns with --delimiter." if n == 1 and self.how.delimiter is None else hint
            hint += " anondb peek FILE shows how a file is read, and what to say."
        raise InputError(f"{self.name} has no column {wanted!r}{how}.", code="no_such_column", hint=hint)

    def _check_fault(self, column: str) -> None:
        if column in self.faults:
            raise InputError(
                f"Column {list(self.columns).index(column) + 1} of {self.name} {self.faults[column]}.",
                code="bad_type",
                hint="Write all values as texts, or all as numbers.",
            )

    def _check_collation(self, column: str) -> None:
        if column not in self.collated:
            return
        name = exp.to_identifier(column, quoted=True).sql("duckdb")
        plain = f'{name} COLLATE "binary"'
        if self.columns[column] != "VARCHAR":
            plain = f"list_transform({name}, lambda x: decode(encode(x)))"
        raise InputError(
            f"The column {column!r} of {self.name} has a collation: DuckDB does not compare its texts by code"
            " points, so counts of the original would differ from those of a release.",
            code="collation",
            hint=f"Select {plain} in a view or in the query of an anonymized view, and use that.",
        )


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
    def condition(self) -> exp.Expr:
        """The condition that selects its rows."""
        value = exp.cast(exp.Literal.string(self.value), self.kind, dialect="duckdb")
        return exp.EQ(this=reads.named(self.column), expression=value)


@dataclass(frozen=True, eq=False, repr=False)
class QuerySource:
    """The query of an anonymized view: its text, its name in messages, the name of its source in the manifest, and the part
    of its rows that is meant."""

    text: str
    name: str
    table: str
    partition: Partition | None = None

    def tree(self) -> exp.Query:
        """The query as a tree with the text, unchanged, as its only leaf but for the partition."""
        query = exp.Subquery(this=exp.Var(this=self.text))
        if self.partition is None:
            return query
        return exp.select("*").from_(exp.alias_(query, "source", table=True)).where(self.partition.condition)


def is_file(source: str) -> bool:
    """Whether the name of a source is that of a data file rather than of a table: by its extension."""
    return not is_url(source) and warehouse_at(source) is None and suffix_of(source) in SUFFIXES


def describe(
    engine: Engine,
    query: exp.Query,
    name: str,
    table: str = "transactions",
    reference: Table | None = None,
    *,
    is_file: bool = False,
) -> Source:
    """Look up the columns of a query, which DuckDB binds but does not run."""
    engine.at_hand(query)
    with reading(name):
        rows = engine.select(exp.Describe(this=query.copy()), f"reading {name}")  # type: ignore[arg-type]
        columns = dict(zip(rows["column_name"].tolist(), rows["column_type"].tolist(), strict=True))
        collated = frozenset[str]() if is_file else _collated(engine, query, columns)  # files have no collations
    return Source(query, name, columns, table, reference, collated=collated)


def _collated(engine: Engine, query: exp.Query, columns: dict[str, str]) -> frozenset[str]:
    """The columns of texts, or of lists of texts, whose collation is not binary. The name of a type does not show the
    collation; the definition of a table that is created from the query does."""
    texts = [name for name, kind in columns.items() if re.fullmatch(r"VARCHAR(\[\d*\])?", kind)]
    if not texts:
        return frozenset()
    probes: list[exp.Expr] = []
    for name in texts:
        first = exp.Anonymous(this="array_extract", expressions=[reads.named(name), exp.Literal.number(1)])
        probes.append(reads.named(name) if columns[name] == "VARCHAR" else first)
    cells = [probe.as_(f"c{n}") for n, probe in enumerate(probes)]
    empty = exp.select(*cells).from_(query.subquery("source")).limit(0)
    table = engine.create("collations", empty)
    is_probe = exp.and_(exp.column("database_name").eq("temp"), exp.column("table_name").eq(table.name))
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
        raise InputError(
            f"{name} holds a text that is not valid Unicode (bytes that are not UTF-8, or a lone surrogate).",
            code="bad_unicode",
        ) from None
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


def figures(engine: Engine, source: Source, sums: Mapping[str, exp.Expr], limit: int | None = None) -> dict[str, int]:
    """Sums over the rows of a source, or over its first rows."""
    rows = source.rows if limit is None else exp.select("*").from_(source.rows).limit(limit).subquery("first")
    with reading(source.name):
        columns = (sum_.as_(name) for name, sum_ in sums.items())
        totals = engine.select(exp.select(*columns).from_(rows), f"reading {source.name}")
    return {name: int(np.ma.filled(totals[name], 0)[0]) for name in sums}


def texts_of(
    engine: Engine, source: Source, columns: Sequence[str], order: Sequence[str] = (), *, distinct: bool = False
) -> list[tuple[Any, ...]]:
    """Columns of a source as texts, or lists of texts, row by row; None for NULL. Rows may be ``distinct``, and sorted by
    columns, of which those read are ``c0`` and so on."""
    kinds = ["VARCHAR[]" if source.columns[name].endswith("]") else "VARCHAR" for name in columns]
    texts = [exp.cast(reads.named(n), k, dialect="duckdb") for n, k in zip(columns, kinds, strict=True)]
    query = exp.select(*(text.as_(f"c{i}") for i, text in enumerate(texts))).from_(source.rows)
    with reading(source.name):
        query = query.distinct() if distinct else query
        query = query.order_by(*(reads.named(name) for name in order)) if order else query
        rows = engine.select(query, f"reading {source.name}")
    return list(tuples(rows))


def count_if(condition: exp.Expr) -> exp.Expr:
    """The number of rows for which a condition holds."""
    return exp.func("count_if", condition, dialect="duckdb")


def _candidates(text: str) -> list[tuple[str | None, str | None, str]]:
    """The possible meanings of a name: one unqualified name, schema.name, or catalog.schema.name."""
    from sqlglot.errors import SqlglotError

    readings: list[tuple[str | None, str | None, str]] = [(None, None, text)]
    with contextlib.suppress(SqlglotError):
        parsed = exp.maybe_parse(text, into=exp.Table, dialect="duckdb")
        if isinstance(parsed, exp.Table) and isinstance(parsed.this, exp.Identifier) and not parsed.args.get("alias"):
            if parsed.catalog:
                readings.append((parsed.catalog, parsed.db, parsed.name))
            elif parsed.db:
                readings += [(None, parsed.db, parsed.name), (parsed.db, "main", parsed.name)]
            else:
                readings.append((None, None, parsed.name))
    return readings


def resolve_table(engine: Engine, text: str, what: str) -> Table:
    """Resolve the name of a table, view or TEMP table, also in attached databases, to catalog.schema.name. A name alone is
    that of a TEMP table, else in the current schema, else in the schema main, where no release is. Raises InputError:
    ``no_such_table``, or ``ambiguous_table`` if the name matches several."""
    if not text:
        raise InputError(f"The name of the {what} table is empty.", code="empty_name")
    candidates = _candidates(text)
    engine.look_up(candidates)
    for catalog, schema, name in candidates:
        entries = engine.query("transactions/catalog", wanted=name.lower())
        rows = [
            (Table(c, s, n), current)
            for c, s, n, current in zip(*entries.values(), strict=True)
            if (catalog is None or c.lower() == catalog.lower()) and (schema is None or s.lower() == schema.lower())
        ]
        if schema is None:
            ranks = [(t.catalog != "temp", not current, t.schema != "main") for t, current in rows]
            rows = [row for row, rank in zip(rows, ranks, strict=True) if rank == min(ranks)]
        if len(rows) == 1:
            return rows[0][0]
        if len(rows) > 1:
            raise InputError(
                f"The name {text!r} of the {what} table matches several tables.",
                code="ambiguous_table",
                hint="Qualify it as catalog.schema.name.",
            )
    names = {name.lower(): name for name in engine.query("transactions/table_names")["table_name"].tolist()}
    near = difflib.get_close_matches(candidates[-1][2].lower(), names, n=1)
    raise InputError(
        f"There is no table or view {text!r} for the {what}.",
        code="no_such_table",
        hint=f"Did you mean {names[near[0]]!r}?" if near else "Check the name and the schema.",
    )


def tables_with(engine: Engine, catalog: str, id_column: str, item_column: str) -> list[Table]:
    """The tables and views of a database that have both columns."""
    columns = {"id_column": id_column.lower(), "item_column": item_column.lower()}
    tables = engine.query("transactions/tables_with", None, catalog_name=catalog, **columns)
    return [Table(*names) for names in tuples(tables)]


def all_columns(table: Table) -> exp.Select:
    """``SELECT * FROM table``."""
    return exp.select("*").from_(table.expression())


@contextlib.contextmanager
def open_source(engine: Engine, data: Any, what: str) -> Iterator[Source]:
    """Open a table name, ``Table``, query tree, file path or data frame, or one of them with how it is read (``ReadAs``), as
    a ``Source`` for the duration of the block."""
    asked = as_read(data)
    with _opened(engine, asked.data, asked.reading, what) as source:
        if what != COUNTED_LATER and (account := unseen(engine, source, what)) is not None:
            engine.account(account)
        yield replace(source, id=asked.id, item=asked.item)


@contextlib.contextmanager
def _opened(engine: Engine, data: Any, how: Reading, what: str) -> Iterator[Source]:
    if what == COUNTED_LATER and not isinstance(data, Path) and not (isinstance(data, str) and is_file(data)):
        how.check_for(None)
    if isinstance(data, exp.Query):
        yield replace(describe(engine, data, f"the {what} query"), how=how)
    elif isinstance(data, QuerySource):
        source = describe(engine, data.tree(), data.name, data.table)
        yield replace(source, partition=data.partition, how=how)
    elif isinstance(data, Table):
        yield replace(describe(engine, all_columns(data), f"table {data.name!r}", data.name, data), how=how)
    elif isinstance(data, Path) or (isinstance(data, str) and is_file(data)):
        with _open_file(engine, Path(data), what, how) as source:
            yield source
    elif isinstance(data, str) and (opened := warehouse_at(data)) is not None:
        warehouse, name = opened(data, on_progress=engine.progress)
        with warehouse.snapshot(), engine.registered(warehouse.all_rows(name)) as view:
            yield replace(describe(engine, all_columns(view), f"table {name!r}", name), how=how)
    elif isinstance(data, str):
        table = resolve_table(engine, data, what)
        yield replace(describe(engine, all_columns(table), f"table {data!r}", table.name, table), how=how)
    elif is_frame(data):
        check_frame(data, what)
        with engine.registered(data) as view:
            yield replace(describe(engine, all_columns(view), f"the {what} data frame"), how=how)
    else:
        raise InputError(
            f"The {what} must be a table name, a file, a data frame or an Arrow table, not {type(data).__name__}.",
            code="bad_source",
        )


def reading_as(engine: Engine, transactions: Any) -> AbstractContextManager[None]:
    """A block in which the files beside transactions are read as these are."""
    return engine.beside(as_read(transactions).reading)


def reading_of(engine: Engine, path: Path, what: str, how: Reading) -> Reading:
    """How a file beside the transactions is read: as the owner says of it or, where nothing is said, as they are."""
    return Reading(**{**beside(path, what, engine.reads_beside or DETECTED).texts(), **how.texts()})


@contextlib.contextmanager
def _open_file(engine: Engine, path: Path, what: str, how: Reading) -> Iterator[Source]:
    """Open a file. The rows of transactions are counted where they are copied; those of other files are copied here."""
    name, how = f"file {path.name!r}", how if what == COUNTED_LATER else reading_of(engine, path, what, how)
    if what == LIST and suffix_of(path) == ".txt":
        account, lines = text_records(engine, path, what, how, Dialect(None, None, header=False))
        items = [item for line in lines if (item := "".join(line).strip())]
        empty = account.empty + len(lines) - len(items)
        engine.account(replace(account, dialect="a list with an item on each line", empty=empty, rows=len(items)))
        rows = engine.put(f"file_{next(_NUMBERS)}", {"item": ("VARCHAR", items)})
        yield Source(all_columns(rows), name, {"item": "VARCHAR"}, stem_of(path), typed=False, account=account)
        engine.drop(rows)
        return
    with open_file(engine, path, what, how) as file:
        table = how.file_table or stem_of(path)
        if file.columns is None:
            source = describe(engine, file.query, name, table, is_file=True)
        else:
            source = Source(file.query, name, dict(file.columns), table, typed=False)
        source = replace(source, how=how, account=file.account, faults=file.faults)
        if what == COUNTED_LATER:
            yield source
            return
        with reading(name):
            rows = engine.create(f"file_{next(_NUMBERS)}", source.query)
        file.account.check(int(engine.scalar(reads.counted(rows))))
        engine.account(file.account)
        yield replace(source, query=all_columns(rows))
        engine.drop(rows)
