"""The tables of the owner's ledger, each declared once: from its declaration it is created, written and read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from anondb.engine import Engine, Query, Rows, Table, reads, tuples
from anondb.engine.texts import Sql, listed, literal, quoted, sql
from anondb.errors import InputError
from anondb.release.objects import SchemaName, create_table

LEDGER_SCHEMA = "anondb"
_COLUMN = re.compile(r'[(,] ?"?(\w+)"? ([A-Z]+(?:\[\])?)(?=[,) ])')


@dataclass(frozen=True, eq=False)
class LedgerTable:
    """A table of the ledger. An object of the user that has its name is refused (``ledger_name``)."""

    name: str  # its name in the schema ``anondb``
    declared: str  # its columns with their types, as in CREATE TABLE
    key: str = "release_id"  # the column that says to what a row belongs, mostly a release; empty without one
    order: tuple[str, ...] = ()  # the columns by which its rows are ordered when they are read

    @cached_property
    def columns(self) -> Mapping[str, str]:
        """Its columns with their types in DuckDB."""
        return dict(column.split(" ") for column in self.declared.split(", "))

    def at(self, catalog: str) -> Table:
        """Its identity in the owner's database."""
        return Table(catalog, LEDGER_SCHEMA, self.name)

    def present(self, engine: Engine, catalog: str) -> bool:
        """Whether the owner's database has it."""
        return self.name in stored(engine, catalog, [self])

    def create(self, engine: Engine, catalog: str) -> None:
        """Create it, and the schema of the ledger, where they are missing."""
        create(engine, catalog, [self])

    def append(self, engine: Engine, catalog: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows. Values become texts, which are cast to the types of the columns; None becomes NULL."""
        listed = list(rows)
        texts = {c: [None if row[c] is None else str(row[c]) for row in listed] for c in self.columns}
        if listed:
            columns = {c: (kind, np.array(texts[c], dtype=object)) for c, kind in self.columns.items()}
            engine.insert(self.at(catalog), columns)

    def note(self, engine: Engine, catalog: str, of: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows of a key, each without that column (``append``)."""
        others = [column for column in self.columns if column != self.key]
        self.append(engine, catalog, ({self.key: of, **dict(zip(others, row, strict=True))} for row in rows))

    def noted(self, engine: Engine, catalog: str, of: str) -> list[tuple[Any, ...]]:
        """The rows of a key in their order, each without that column."""
        return [tuple(row.values()) for row in self.rows(engine, catalog, of)]

    def take(self, engine: Engine, catalog: str, rows: Rows, **fixed: str) -> None:
        """Add the rows of a table or query that has the columns of this one, but for those that are ``fixed``."""
        values = listed(literal(fixed[c]) if c in fixed else quoted(c) for c in self.columns)
        names = listed(map(quoted, self.columns))
        text = sql("INSERT INTO {} ({}) {}", self.at(catalog), names, Sql(reads.rows(rows, values).text))
        engine.run(text, "writing the ledger")

    def change(self, engine: Engine, catalog: str, of: str, **values: str) -> None:
        """Set columns of the rows of a key."""
        changed = listed(sql("{} = {}", quoted(column), value) for column, value in values.items())
        engine.run(sql("UPDATE {} SET {} WHERE {}", self.at(catalog), changed, self._where(of)), "writing the ledger")

    def delete(self, engine: Engine, catalog: str, of: str) -> None:
        """Delete the rows of a key; without the table there are none."""
        if self.present(engine, catalog):
            engine.run(sql("DELETE FROM {} WHERE {}", self.at(catalog), self._where(of)), "writing the ledger")

    def query(self, catalog: str, of: str | None = None) -> Query:
        """The query of its rows in their order: all of them, or those of a key without that column."""
        shown = [column for column in self.columns if of is None or column != self.key]
        where = None if of is None else self._where(of)
        return reads.stored(self.at(catalog), shown, where=where, order=self.order)

    def keys(self, engine: Engine, catalog: str) -> set[str]:
        """The keys of its rows."""
        if not self.present(engine, catalog):
            return set()
        keys = reads.rows(self.at(catalog), quoted(self.key), distinct=True)
        return set(engine.select(keys, "reading the ledger")[self.key].tolist())

    def rows(self, engine: Engine, catalog: str, of: str | None = None) -> list[dict[str, Any]]:
        """Its rows in their order, as Python values by column: all of them, or those of a key without that column."""
        if not self.present(engine, catalog):
            return []
        read = engine.select(self.query(catalog, of), "reading the ledger")
        values = zip(*([plain(value) for value in column] for column in read.values()), strict=True)
        return [dict(zip(read, row, strict=True)) for row in values]

    def _where(self, of: str) -> Sql:
        return sql("{} = {}", quoted(self.key), of)


def create(engine: Engine, catalog: str, tables: Iterable[LedgerTable]) -> None:
    """Create the tables that are missing, and the schema of the ledger."""
    listed = list(tables)
    there = stored(engine, catalog, listed)
    if missing := [table for table in listed if table.name not in there]:
        engine.run_all(_statements(catalog, missing), "creating the ledger")


def _statements(catalog: str, tables: Iterable[LedgerTable]) -> Iterator[Sql]:
    yield SchemaName(catalog, LEDGER_SCHEMA).creation(exists=True)
    for table in tables:
        yield create_table(table.at(catalog), table.columns)


def stored(engine: Engine, catalog: str, wanted: Iterable[LedgerTable]) -> set[str]:
    """The names of the wanted tables that the owner's database has. Raises InputError: ``ledger_name``: an object of the
    user has the name of one."""
    read = engine.query("ledger/stored_tables", catalog_name=catalog, schema=LEDGER_SCHEMA)
    texts = {name.lower(): text for name, text in tuples(read)}
    there = [table for table in wanted if table.name in texts]
    for table in there:
        if not table.columns.items() <= _columns_of(texts[table.name]).items():
            raise InputError(
                f"{table.name!r} in the schema {LEDGER_SCHEMA!r} is not the ledger's table of that name.",
                code="ledger_name",
                hint=f"Rename it, or move it into another schema: {LEDGER_SCHEMA!r} is the schema of anondb's ledger.",
            )
    return {table.name for table in there}


def plain(value: Any) -> Any:
    """Convert a NumPy scalar to a Python value; None if it is masked."""
    if value is None or np.ma.is_masked(value):
        return None
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    return value.item() if hasattr(value, "item") else value


@lru_cache(maxsize=64)
def _columns_of(text: str) -> dict[str, str]:
    """The columns and types of a table of the ledger, from the statement that creates it."""
    return {name.lower(): kind for name, kind in _COLUMN.findall(text)}


RELEASES = LedgerTable(
    "releases",
    "name VARCHAR, release_id VARCHAR, model VARCHAR, parameters VARCHAR, algorithm VARCHAR, source_table VARCHAR, "
    "source_reference VARCHAR, id_column VARCHAR, item_column VARCHAR, fingerprint VARCHAR, transactions BIGINT, "
    "items BIGINT, released_items BIGINT, suppressed_items BIGINT, suppressed_occurrences BIGINT, lm_total VARCHAR, "
    "lm DOUBLE, ncp DOUBLE, ul DOUBLE, ul_log2 DOUBLE, ggd VARCHAR, verified BOOLEAN, violations BIGINT, "
    "created TIMESTAMP, user_name VARCHAR, version VARCHAR, status VARCHAR",
    order=("created", "release_id"),
)
DECISIONS = LedgerTable(
    "decisions",
    "release VARCHAR, step BIGINT, round BIGINT, action VARCHAR, subject VARCHAR, support BIGINT, cost VARCHAR",
    key="release",
    order=("round", "step"),
)
TAXONOMIES = LedgerTable(
    "taxonomies", "release VARCHAR, ord BIGINT, node VARCHAR, parent VARCHAR", key="release", order=("ord",)
)
CONSTRAINTS = LedgerTable(
    "constraints",
    "release VARCHAR, kind VARCHAR, ord BIGINT, set_id VARCHAR, item VARCHAR",
    key="release",
    order=("kind", "ord", "item"),
)
SENSITIVE = LedgerTable("sensitive_items", "release VARCHAR, item VARCHAR", key="release", order=("item",))
RECORDS = LedgerTable("record_digests", "release VARCHAR, fingerprint VARCHAR", key="release")
VIEWS = LedgerTable(
    "views", "name VARCHAR, release VARCHAR, release_id VARCHAR, query VARCHAR, options VARCHAR, source_table VARCHAR"
)
WORKLOADS = LedgerTable("workloads", "workload VARCHAR, query_id VARCHAR, items VARCHAR[]", key="workload")
ACCURACY = LedgerTable(
    "accuracy",
    "release VARCHAR, release_id VARCHAR, workload VARCHAR, query_id VARCHAR, truth BIGINT, estimate DOUBLE, "
    "lower_bound BIGINT, upper_bound BIGINT, relative_error DOUBLE",
    key="workload",
)
PUBLICATIONS = LedgerTable(
    "publications",
    "name VARCHAR, release_id VARCHAR, file VARCHAR, transactions BIGINT, rows BIGINT, sha256 VARCHAR, "
    "content_digest VARCHAR, allowed_overlap BOOLEAN, smallest_candidates BIGINT, published TIMESTAMP, user_name VARCHAR",
    order=("published", "release_id", "file"),
)
STATEMENTS = LedgerTable("statements", "release_id VARCHAR, step BIGINT, statement VARCHAR", order=("step",))
REPORTS = LedgerTable("reports", "release_id VARCHAR, report VARCHAR")
OVERLAPS = LedgerTable(
    "overlaps",
    "name VARCHAR, release_id VARCHAR, other VARCHAR, other_id VARCHAR, persons BIGINT, compared VARCHAR, "
    "only_here BIGINT, only_there BIGINT, alone BIGINT, below_k BIGINT, k BIGINT, cells BIGINT, "
    "smallest_candidates BIGINT, bounds_differ BIGINT, reason VARCHAR, measured TIMESTAMP",
)
SECRETS = LedgerTable("secrets", "secret VARCHAR", key="")
PERSONS = LedgerTable("persons", "release_id VARCHAR, person BIGINT")
PARTITIONS = LedgerTable(
    "partitions", "release_id VARCHAR, column_name VARCHAR, value VARCHAR, kind VARCHAR, digest VARCHAR"
)
LOADED_FILES = LedgerTable("loaded_files", "source_reference VARCHAR, path VARCHAR, account VARCHAR", key="source_reference")
# Digests of the distinct rows of releases that were compared, as published (no cells) and generalized to cells.
ROW_WEIGHTS = LedgerTable("row_weights", "release_id VARCHAR, cells VARCHAR, persons BIGINT, content BIGINT, shown BIGINT")
# The rows of published releases that were dropped or replaced.
KEPT_FACTS = LedgerTable("kept_facts", "release_id VARCHAR, key VARCHAR, value VARCHAR", order=("key",))
KEPT_ITEMS = LedgerTable("kept_items", "release_id VARCHAR, released_item VARCHAR, item VARCHAR")
KEPT_COUNTS = LedgerTable("kept_counts", "release_id VARCHAR, item VARCHAR, lower_bound BIGINT, upper_bound BIGINT")
KEPT_ROWS = LedgerTable(
    "kept_rows", "release_id VARCHAR, persons BIGINT, items VARCHAR[], copies INTEGER[], attribute_values VARCHAR[]"
)
KEPT_BUCKETS = LedgerTable(
    "kept_buckets", "release_id VARCHAR, bucket_id INTEGER, column_id INTEGER, items VARCHAR[], copies INTEGER"
)
TABLES = (
    *(RELEASES, DECISIONS, TAXONOMIES, CONSTRAINTS, SENSITIVE, RECORDS, VIEWS, WORKLOADS, ACCURACY, PUBLICATIONS),
    *(STATEMENTS, REPORTS, OVERLAPS, SECRETS, PERSONS, ROW_WEIGHTS, PARTITIONS, LOADED_FILES),
    *(KEPT_FACTS, KEPT_ITEMS, KEPT_COUNTS, KEPT_ROWS, KEPT_BUCKETS),
)
