"""Whether two copies of a release hold the same rows: salted sums over the rows of each table, in any order.

A sum cannot tell which rows differ. It is a checksum of 64-bit hashes and no signature: without the salt nobody can choose
rows with equal sums, but the exclusive or alone would miss some changes, such as two rows that exchange their last values;
only the sum shows these. DuckDB's ``hash`` may change between versions, so sums are compared within one process only.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import partial, reduce

from sqlglot import exp

from anondb.engine import Engine, Table
from anondb.release.objects import Kind, SchemaName


@dataclass(frozen=True)
class RowSums:
    """The sums of one copy of a release.

    Attributes:
        salt: random; copies are compared under one salt.
        tables: for each table the number of rows, and the sum and the exclusive or of their hashes.
    """

    salt: str = field(repr=False)
    tables: dict[str, tuple[int, str, str]] = field(repr=False)

    def counts(self) -> dict[str, int]:
        """The number of rows of each table."""
        return {name: rows for name, (rows, _, _) in self.tables.items()}


def row_sums(
    engine: Engine, schema: SchemaName, kind: Kind, salt: str | None = None, numbered: Table | None = None
) -> RowSums:
    """The sums of the tables of a release; with ``numbered``, of those with numbers of transactions, under new ones."""
    salt = secrets.token_hex(16) if salt is None else salt
    sums: list[exp.Query] = []
    for name, columns in kind.tables.items():
        if numbered is not None and kind.number not in columns:
            continue
        row = [exp.Literal.string(salt), *(exp.column(exp.to_identifier(c, quoted=True)) for c in columns)]
        hashed = exp.Anonymous(this="hash", expressions=row)
        figures = [
            exp.Literal.string(name).as_("name"),
            exp.Count(this=exp.Star()).as_("n"),
            exp.cast(exp.Sum(this=hashed), "VARCHAR").as_("total"),
            exp.cast(exp.func("bit_xor", hashed.copy(), dialect="duckdb"), "VARCHAR").as_("parity"),
        ]
        sums.append(exp.select(*figures).from_(rows_of(schema, kind, name, numbered).subquery("released")))
    rows = engine.select(reduce(partial(exp.union, distinct=False), sums), "the sums of a release")
    names, *figures_of = (rows[column].tolist() for column in ("name", "n", "total", "parity"))
    return RowSums(salt, dict(zip(names, zip(*figures_of, strict=True), strict=True)))


def rows_of(schema: SchemaName, kind: Kind, name: str, numbered: Table | None) -> exp.Select:
    """The rows of a table of a release; with ``numbered`` (tid, transaction_id), under the new numbers."""
    columns = {c: exp.to_identifier(c, quoted=True) for c in kind.tables[name]}
    rows = exp.select().from_(exp.alias_(schema.table(name).expression(), "frozen", table=True))
    renumbered = numbered is not None and kind.number in columns
    if numbered is not None and renumbered:
        rows = rows.join(
            exp.alias_(numbered.expression(), "numbered", table=True),
            on=exp.column(kind.number, "frozen").eq(exp.column("tid", "numbered")),
        )
    for column, named in columns.items():
        fresh = renumbered and column == kind.number
        value = exp.column("transaction_id", "numbered") if fresh else exp.column(named, "frozen")
        rows = rows.select(value.as_(column, quoted=True))
    return rows
