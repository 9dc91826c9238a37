"""Find the name in a query that no table has, to say so; names are from the analyst's own text."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from anondb.engine import Shape
from anondb.errors import InputError
from anondb.query.parsing import lowered


def not_accepted(tree: exp.Expr, shapes: Shape) -> InputError:
    """The error ``bad_sql`` for a query that DuckDB does not accept.

    Args:
        tree: the query.
        shapes: the tables that it may name.
    """
    what, hint = "", "Test it on a table with the same columns."
    aliases = _lowered(cte.alias for cte in tree.find_all(exp.CTE))
    tables = {lowered(name) for name, _ in shapes} | aliases
    columns = {lowered(column) for _, named in shapes for column in named} | _introduced(tree) | {"rowid"}
    for table in tree.find_all(exp.Table):
        dotted = lowered(".".join(part.name for part in table.parts))
        if isinstance(table.this, exp.Identifier) and not {dotted, lowered(table.name)} & tables:
            what, hint = f": there is no table {table.name!r}", f"The tables are {_listed(name for name, _ in shapes)}."
            break
    else:
        for column in tree.find_all(exp.Column):
            if not isinstance(column.this, exp.Star) and lowered(column.name) not in tables | columns:
                what = f": no table has a column {column.name!r}"
                quoted = isinstance(column.this, exp.Identifier) and column.this.quoted
                hint = "Write texts in single quotes." if quoted else hint
                break
    return InputError(f"DuckDB does not accept this query for the original table{what}.", code="bad_sql", hint=hint)


def _introduced(tree: exp.Expr) -> set[str]:
    """The names that the query itself gives to columns, tables and parameters of functions."""
    names = _lowered(node.alias for node in tree.find_all(exp.Alias, exp.Table, exp.Subquery, exp.Values))
    names |= _lowered(column.name for alias in tree.find_all(exp.TableAlias) for column in alias.columns)
    names |= _lowered(name.name for node in tree.find_all(exp.Lambda) for name in node.expressions)
    if tree.find(exp.Values):
        names |= {f"col{n}" for n in range(100)}
    return names


def _lowered(names: Iterable[str]) -> set[str]:
    return {lowered(name) for name in names}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
