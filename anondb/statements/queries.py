"""What the query of a view is read for: the table that it selects from unchanged."""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError


def plain_table(query: str) -> str | None:
    """The quoted name of the table if a query only selects columns of all its rows, unchanged; else None."""
    try:
        tree = sqlglot.parse_one(query, dialect="duckdb")
    except (SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Select) or not _has_only(tree, "expressions", "from_"):
        return None
    table = tree.args["from_"].this if tree.args.get("from_") else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return None  # a subquery, or a table function
    columns = all(
        isinstance(c, exp.Star | exp.Column) and _has_only(c, "this", "table") and _has_only(c.this, "this", "quoted")
        for c in tree.expressions
    )
    if not columns or not _has_only(table, "this", "db", "catalog", "alias") or table.alias_column_names:
        return None
    bare: Any = exp.Table(**{k: table.args[k].copy() for k in ("this", "db", "catalog") if table.args.get(k)})
    for part in bare.find_all(exp.Identifier):
        part.set("quoted", True)
    return str(bare.sql(dialect="duckdb"))


def _has_only(node: Any, *allowed: str) -> bool:
    """Whether a node, if it is one, has only the allowed parts."""
    return not isinstance(node, exp.Expr) or all(k in allowed or v in (None, False, []) for k, v in node.args.items())
