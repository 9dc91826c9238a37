"""Plain reads: columns of a table or of two with equal keys, of all rows or of groups, and numbers of rows. Columns are
written in one text, as in SQL: ``"tid, max(item) AS last"``. They are those of anondb's own tables, and names that are not
quoted. A query that says more, or needs a comment, is a file (``queries.py``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from anondb.engine.queries import Rows, source_text
from anondb.engine.texts import Query, Sql, listed, quoted, sql, text_of
from anondb.engine.trees import exp

Condition: TypeAlias = "exp.Expr | str | None"


def named(name: str, table: str | exp.Identifier | None = None) -> exp.Column:
    """A column by its exact name, as a tree."""
    return exp.column(exp.to_identifier(name, quoted=True), table)


def rows(
    table: Rows,
    columns: str,
    *,
    where: Condition = None,
    group: str = "",
    having: Condition = None,
    order: str = "",
    distinct: bool = False,
) -> Query:
    """Columns of a table or a query: names, also with new ones, or expressions in DuckDB's dialect. ``where`` is a condition
    on rows; of equal ``group`` columns a row is returned, if ``having`` holds. NULL comes last in the ``order``;
    ``distinct`` returns equal rows once."""
    return _select(columns, f"{source_text(table)} AS one", where, group, having, order, distinct)


def _select(
    columns: str,
    sources: str,
    where: Condition = None,
    group: str = "",
    having: Condition = None,
    order: str = "",
    distinct: bool = False,
) -> Query:
    clauses = {"WHERE": where, "GROUP BY": group, "HAVING": having, "ORDER BY": order}
    written = [f"{name} {text_of(clause)}" for name, clause in clauses.items() if clause not in (None, "")]
    return Query(" ".join(("SELECT DISTINCT" if distinct else "SELECT", columns, "FROM", sources, *written)))


def itemsets(transactions: Rows, columns: Sequence[str], *, where: Condition = None) -> Query:
    """``(tid, columns)``: the sets of so many items that transactions ``(tid, item)`` hold, each in ascending order.
    ``where`` is a condition on the first item."""
    query = rows(transactions, f"tid, item AS {columns[0]}", where=where)
    for n, last in enumerate(columns[:-1], 1):
        held = ", ".join(f"one.{column}" for column in ("tid", *columns[:n]))
        further = f"{held}, other.item AS {columns[n]}"
        query = joined(query, transactions, "tid", further, where=f"other.item > one.{last}")
    return query


def once(table: Rows, columns: str) -> Query:
    """Whole numbers of a table, in ascending order and equal rows once; for DuckDB alone. Rows that are sorted already take
    a third of the time of DISTINCT. A window without an order reads the rows as the query below it returns them, on one
    thread, whatever the connection's settings."""
    names = columns.split(", ")
    before = ", ".join(f"lag({name}) OVER () AS previous_{name}" for name in names)
    changed = " OR ".join(f"previous_{name} IS DISTINCT FROM {name}" for name in names)
    neighbours = rows(rows(table, columns, order=columns), f"{columns}, {before}")
    return rows(neighbours, columns, where=changed)


def joined(
    table: Rows,
    others: Rows,
    on: str,
    columns: str,
    *,
    side: str = "",
    where: Condition = None,
    group: str = "",
    having: Condition = None,
    order: str = "",
    distinct: bool = False,
) -> Query:
    """Columns of two tables, ``one.name`` and ``other.name``, for each two rows whose keys are equal. ``on`` names the key:
    ``"item"``, ``"one, two"``, or ``"item = label"`` if it has another name in the other table; empty, all pairs of rows are
    returned. On the ``side`` LEFT, or FULL, rows whose key the other table has not are returned with NULL. Other arguments
    are those of ``rows``."""
    how = f"{side} JOIN".strip() if on else "CROSS JOIN"
    sources = f"{source_text(table)} AS one {how} {source_text(others)} AS other" + (f" ON {_equal(on)}" if on else "")
    return _select(columns, sources, where, group, having, order, distinct)


def union(parts: Sequence[Query | exp.Query]) -> Query:
    """The rows of all parts."""
    return Query(" UNION ALL ".join(text_of(part) for part in parts))


def differing(table: Rows, others: Rows, on: str, columns: str) -> Query:
    """As ``n``, for how many keys two tables have other values of the columns, or only one of them has the key."""
    apart = " OR ".join(f"one.{name} IS DISTINCT FROM other.{name}" for name in columns.split(", "))
    return joined(table, others, on, "count(*) AS n", where=apart, side="FULL")


def among(table: Rows, others: Rows, on: str, columns: str, *, absent: bool = False, order: str = "") -> Query:
    """Columns of the rows of a table whose key another table has; with ``absent``, of those whose key it has not."""
    exists = f"EXISTS({_select('1', f'{source_text(others)} AS other', _equal(on)).text})"
    return rows(table, columns, where=f"NOT {exists}" if absent else exists, order=order)


def counted(
    table: Rows, by: str = "", *, count: str = "n", where: Condition = None, having: Condition = None, order: str = ""
) -> Query:
    """The number of rows of a table as the column ``count``: of all, or of each value of the columns ``by``. Other arguments
    are those of ``rows``."""
    group = re.sub(r" AS \w+(?=,|$)", "", by)
    columns = f"{by}, count(*) AS {count}" if by else f"count(*) AS {count}"
    return rows(table, columns, where=where, group=group, having=having, order=order)


def summed(table: Rows, by: str, of: str, name: str = "", *, order: str = "") -> Query:
    """The sum of a column for each value of the columns ``by``, as a column of the same or of another name."""
    return rows(table, f"{by}, CAST(sum({of}) AS BIGINT) AS {name or of}", group=by, order=order)


def stored(table: Rows, columns: Sequence[str], *, where: Condition = None, order: Sequence[str] = ()) -> Query:
    """Columns of a table by their exact names, in the order of others."""
    return rows(table, listed(map(quoted, columns)), where=where, order=listed(map(quoted, order)))


def system(function: str) -> Query:
    """What a table function of DuckDB tells of its databases, such as ``duckdb_tables``."""
    return Query(sql("SELECT * FROM {}()", Sql(function)))


def _equal(on: str) -> str:
    pairs = (part.partition(" = ") for part in on.split(", "))
    return " AND ".join(f"one.{a} = other.{b or a}" for a, _, b in pairs)
