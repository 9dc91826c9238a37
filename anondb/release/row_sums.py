"""Whether two copies of a release hold the same rows: salted sums over the rows of each table, in any order.

A sum cannot tell which rows differ. It is a checksum of 64-bit hashes and no signature: without the salt nobody can choose
rows with equal sums, but the exclusive or alone would miss some changes, such as two rows that exchange their last values;
only the sum shows these. DuckDB's ``hash`` may change between versions, so sums are compared within one process only.
"""

import secrets
from dataclasses import dataclass, field
from functools import partial, reduce

from sqlglot import exp

from anondb.engine import Engine, Table, reads
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
    sums: list[exp.Query] = []
    for name, columns in kind.tables.items():
        if numbered is not None and kind.number not in columns:
            continue
        row: list[exp.Expr] = [exp.Literal.string(salt), *(reads.named(c) for c in columns)]
        figures = [exp.Literal.string(name).as_("name"), *figures_of(row)]
        sums.append(exp.select(*figures).from_(rows_of(schema, kind, name, numbered).subquery("released")))
    rows = engine.select(reduce(partial(exp.union, distinct=False), sums), "the sums of a release")
    names, *totals = (rows[column].tolist() for column in ("name", "n", "total", "parity"))
    return RowSums(salt, dict(zip(names, zip(*totals, strict=True), strict=True)))


def figures_of(row: list[exp.Expr]) -> list[exp.Expr]:
    """``n, total, parity``: the number of rows, and the sum and the parity of the hashes of these values of each."""
    hashed = exp.Anonymous(this="hash", expressions=row)
    total, parity = exp.Sum(this=hashed), exp.func("bit_xor", hashed.copy(), dialect="duckdb")
    texts = [exp.cast(value, "VARCHAR").as_(name) for name, value in (("total", total), ("parity", parity))]
    return [exp.Count(this=exp.Star()).as_("n"), *texts]


def rows_of(schema: SchemaName, kind: Kind, name: str, numbered: Table | None) -> exp.Select:
    """The rows of a table of a release; with ``numbered`` (tid, transaction_id), under the new numbers."""
    columns = {c: reads.named(c, "one") for c in kind.tables[name]}
    rows = reads.rows(schema.table(name), "")
    if numbered is not None and kind.number in columns:
        rows = reads.joined(schema.table(name), numbered, f"{kind.number} = tid", "")
        columns[kind.number] = exp.column("transaction_id", "other")
    return rows.select(*(value.as_(column, quoted=True) for column, value in columns.items()))
