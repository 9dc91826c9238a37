"""Turn values of the analyst's query into small tables of the SQL that answers it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp


def inline_table(columns: Mapping[str, str], rows: Sequence[tuple[str | int, ...]]) -> exp.Query:
    """The rows as a query with columns of these types; also for zero rows."""
    dummy = tuple("" if kind == "VARCHAR" else 0 for kind in columns.values())
    values = exp.Values(
        expressions=[exp.Tuple(expressions=[_literal(cell) for cell in row]) for row in rows or [dummy]],
        alias=exp.TableAlias(this=exp.to_identifier("inline_rows"), columns=[exp.to_identifier(c) for c in columns]),
    )
    cells = [exp.cast(exp.column(name), kind, dialect="duckdb").as_(name) for name, kind in columns.items()]
    tree = exp.select(*cells).from_(values, copy=False)
    return tree if rows else tree.where(exp.false())


def label_table(labels: Collection[str]) -> exp.Query:
    """Labels as a query ``(label)``, in order."""
    return inline_table({"label": "VARCHAR"}, [(label,) for label in sorted(labels)])


def _literal(cell: str | int) -> exp.Expr:
    return exp.Literal.string(cell) if isinstance(cell, str) else exp.Literal.number(cell)
