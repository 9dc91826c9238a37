"""Plain reads as trees: columns of a table or of two with equal keys, of all rows or of groups, and numbers of rows. Columns
are written in one text, as in SQL: ``"tid, max(item) AS last"``. They are those of anondb's own tables, and names that are
not quoted. A query that says more, or needs a comment, is a file (``queries.py``)."""

import re
from collections.abc import Sequence
from functools import lru_cache

from sqlglot import exp

from anondb.engine.queries import NamedRows, Table, bound, light

Rows = Table | exp.Query | NamedRows
_NAMES = re.compile(r"[\w., ]*")  # also with AS, and whole numbers


def named(name: str, table: str | exp.Identifier | None = None) -> exp.Column:
    """A column by its exact name."""
    return exp.column(exp.to_identifier(name, quoted=True), table)


def rows(
    table: Rows,
    columns: str,
    *,
    where: exp.Expr | str | None = None,
    group: str = "",
    having: exp.Expr | str | None = None,
    order: str = "",
    distinct: bool = False,
) -> exp.Select:
    """Columns of a table or a query: names, also with new ones, or expressions in DuckDB's dialect. ``where`` is a condition
    on rows; of equal ``group`` columns a row is returned, if ``having`` holds. NULL comes last in the ``order``;
    ``distinct`` returns equal rows once."""
    ordered = [exp.Ordered(this=column, desc=False, nulls_first=False) for column in _columns(order)]
    return exp.Select(
        expressions=_columns(columns),
        distinct=exp.Distinct() if distinct else None,
        from_=exp.From(this=bound(table, "one")),
        where=_condition(exp.Where, where),
        group=exp.Group(expressions=_columns(group)) if group else None,
        having=_condition(exp.Having, having),
        order=exp.Order(expressions=ordered) if ordered else None,
    )


def itemsets(transactions: Rows, columns: Sequence[str], *, where: exp.Expr | None = None) -> exp.Select:
    """``(tid, columns)``: the sets of so many items that transactions ``(tid, item)`` hold, each in ascending order.
    ``where`` is a condition on the first item."""
    tree = rows(transactions, f"tid, item AS {columns[0]}", where=where)
    for n, last in enumerate(columns[:-1], 1):
        held = ", ".join(f"one.{column}" for column in ("tid", *columns[:n]))
        further = f"{held}, other.item AS {columns[n]}"
        tree = joined(tree, transactions, "tid", further, where=f"other.item > one.{last}")
    return tree


def once(table: Rows, columns: str) -> exp.Select:
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
    left: bool = False,
    where: exp.Expr | str | None = None,
    group: str = "",
    having: exp.Expr | str | None = None,
    order: str = "",
    distinct: bool = False,
) -> exp.Select:
    """Columns of two tables, ``one.name`` and ``other.name``, for each two rows whose keys are equal. ``on`` names the key:
    ``"item"``, ``"one, two"``, or ``"item = label"`` if it has another name in the other table; empty, all pairs of rows are
    returned. With ``left``, rows whose key the other table has not are returned with NULL. Other arguments are those of
    ``rows``."""
    tree = rows(table, columns, where=where, group=group, having=having, order=order, distinct=distinct)
    how = {"on": _equal(on), "side": "LEFT" if left else None} if on else {"kind": "CROSS"}
    tree.append("joins", exp.Join(this=bound(others, "other"), **how))
    return tree


def union(parts: Sequence[exp.Query]) -> exp.Query:
    """The rows of all parts."""
    return exp.union(*parts, distinct=False) if len(parts) > 1 else parts[0]


def differing(table: Rows, others: Rows, on: str, columns: str) -> exp.Select:
    """As ``n``, for how many keys two tables have other values of the columns, or only one of them has the key."""
    apart = " OR ".join(f"one.{name} IS DISTINCT FROM other.{name}" for name in columns.split(", "))
    tree = joined(table, others, on, "count(*) AS n", where=apart)
    tree.args["joins"][0].set("side", "FULL")
    return tree


def among(table: Rows, others: Rows, on: str, columns: str, *, absent: bool = False, order: str = "") -> exp.Select:
    """Columns of the rows of a table whose key another table has; with ``absent``, of those whose key it has not."""
    same = exp.Select(expressions=[exp.convert(1)], from_=exp.From(this=bound(others, "other")))
    exists = exp.Exists(this=same.where(_equal(on), copy=False))
    return rows(table, columns, where=exp.Not(this=exists) if absent else exists, order=order)


def counted(
    table: Rows,
    by: str = "",
    *,
    count: str = "n",
    where: exp.Expr | str | None = None,
    having: exp.Expr | str | None = None,
    order: str = "",
) -> exp.Select:
    """The number of rows of a table as the column ``count``: of all, or of each value of the columns ``by``. Other arguments
    are those of ``rows``."""
    tree = rows(table, by, where=where, having=having, order=order)
    tree.append("expressions", exp.Count(this=exp.Star()).as_(count))
    if by:
        tree.set("group", exp.Group(expressions=[column.unalias() for column in _columns(by)]))
    return tree


def summed(table: Rows, by: str, of: str, name: str = "", *, order: str = "") -> exp.Select:
    """The sum of a column for each value of the columns ``by``, as a column of the same or of another name."""
    return rows(table, f"{by}, CAST(sum({of}) AS BIGINT) AS {name or of}", group=by, order=order)


def system(function: str) -> exp.Select:
    """What a table function of DuckDB tells of its databases, such as ``duckdb_tables``."""
    return exp.select(exp.Star()).from_(exp.Table(this=exp.Anonymous(this=function)))


def _columns(text: str) -> list[exp.Expr]:
    """The columns of ``a, b.c, d AS e``, or of expressions."""
    if not _NAMES.fullmatch(text):
        return [column.copy() for column in _expressions(text)]
    columns: list[exp.Expr] = []
    for part in text.split(", ") if text else ():
        name, _, other = part.partition(" AS ")
        table, _, last = name.rpartition(".")
        column: exp.Expr = exp.Literal.number(name) if name.isdigit() else exp.column(last, table or None)
        columns.append(column.as_(other) if other else column)
    return columns


@lru_cache(maxsize=256)
def _expressions(text: str) -> list[exp.Expr]:
    return list(light(exp.maybe_parse(text, prefix="SELECT", dialect="duckdb")).expressions)


def _condition(clause: type[exp.Expr], condition: exp.Expr | str | None) -> exp.Expr | None:
    if condition is None:
        return None
    return clause(this=_expressions(condition)[0].copy() if isinstance(condition, str) else condition)


def _equal(on: str) -> exp.Expr:
    pairs = (part.partition(" = ") for part in on.split(", "))
    return exp.and_(*(exp.column(a, "one").eq(exp.column(b or a, "other")) for a, _, b in pairs), copy=False)
