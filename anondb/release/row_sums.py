"""Whether two copies of a release hold the same rows: salted sums over the rows of each table, in any order.

A sum cannot tell which rows differ. It is a checksum of 64-bit hashes and no signature: without the salt nobody can choose
rows with equal sums, but the exclusive or alone would miss some changes, such as two rows that exchange their last values;
only the sum shows these. DuckDB's ``hash`` may change between versions, so sums are compared within one process only.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

from anondb.engine import Engine, Query, Table, reads
from anondb.engine.texts import Sql, listed, literal, quoted, sql
from anondb.release.objects import Kind, SchemaName


@dataclass(frozen=True)
class RowSums:
    """The sums of one copy of a release."""

    salt: str = field(repr=False)  # random; copies are compared under one salt
    # for each table the number of rows, and the sum and the exclusive or of their hashes
    tables: dict[str, tuple[int, str, str]] = field(repr=False)

    def counts(self) -> dict[str, int]:
        """The number of rows of each table."""
        return {name: rows for name, (rows, _, _) in self.tables.items()}


def row_sums(
    engine: Engine, schema: SchemaName, kind: Kind, salt: str | None = None, numbered: Table | None = None
) -> RowSums:
    """The sums of the tables of a release; with ``numbered``, of those with numbers of transactions, under new ones."""
    salt = secrets.token_hex(16) if salt is None else salt
    sums: list[Query] = []
    for name, columns in kind.tables.items():
        if numbered is not None and kind.number not in columns:
            continue
        figures = figures_of((literal(salt), *map(quoted, columns)))
        sums.append(reads.rows(rows_of(schema, kind, name, numbered), sql("{} AS name, {}", name, figures)))
    rows = engine.select(reads.union(sums), "the sums of a release")
    names, *totals = (rows[column].tolist() for column in ("name", "n", "total", "parity"))
    return RowSums(salt, dict(zip(names, zip(*totals, strict=True), strict=True)))


def figures_of(row: Iterable[str]) -> Sql:
    """``n, total, parity``: the number of rows, and the sum and the parity of the hashes of these values of each."""
    hashed = Sql(f"hash({listed(row)})")
    return sql("count(*) AS n, CAST(sum({0}) AS VARCHAR) AS total, CAST(bit_xor({0}) AS VARCHAR) AS parity", hashed)


def rows_of(schema: SchemaName, kind: Kind, name: str, numbered: Table | None) -> Query:
    """The rows of a table of a release; with ``numbered`` (tid, transaction_id), under the new numbers."""
    columns = {column: f"one.{quoted(column)}" for column in kind.tables[name]}
    if numbered is None or kind.number not in columns:
        return reads.rows(schema.table(name), listed(columns.values()))
    columns[kind.number] = f"other.transaction_id AS {quoted(kind.number)}"
    return reads.joined(schema.table(name), numbered, f"{kind.number} = tid", listed(columns.values()))
