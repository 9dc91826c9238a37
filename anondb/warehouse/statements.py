"""The texts of portable statements in the dialect of a warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from anondb.engine import Columns, Query, Tables, load
from anondb.engine import tree_of as engine_tree
from anondb.engine.texts import Value
from anondb.engine.trees import exp
from anondb.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

PREFIX = "_anondb_"


def tree_of(name: str | Query | exp.Query, tables: Tables | None, values: dict[str, Value]) -> exp.Query:
    """The tree of a named query or of a tree, with its tables and values in place."""
    return load(name).bind(tables or {}, values) if isinstance(name, str) else engine_tree(name)


def what(name: str | Query | exp.Query) -> str:
    """What runs, for an error."""
    return f"query {name}" if isinstance(name, str) else "generated query"


def arrow_rows(columns: Mapping[str, tuple[str, Iterable[Any]]]) -> pa.Table:
    """Columns ``{name: (type, values)}`` as an Arrow table."""
    import pyarrow as pa

    kinds = {"VARCHAR": pa.string(), "INTEGER": pa.int32(), "BIGINT": pa.int64(), "DOUBLE": pa.float64()}
    return pa.table({n: pa.array(np.asarray(list(v), dtype=object), kinds[k]) for n, (k, v) in columns.items()})


def columns_of(rows: pa.Table) -> Columns:
    """The columns of an Arrow table; those with texts or NULLs hold Python's objects."""
    import pyarrow as pa

    return {
        name: values.to_numpy()
        if pa.types.is_primitive(values.type) and not values.null_count
        else np.array(values.to_pylist(), dtype=object)
        for name, values in zip(rows.column_names, rows.columns, strict=True)
    }


def bad_type(column: str, kind: str, *, several: bool = False) -> InputError:
    """The error for a column whose equal values may differ as texts, or which may have ``several`` items in a row."""
    hint = "Select a text or a whole number of it in a view, a row for each id and item: equal ones must be equal exactly."
    if several:
        hint = "Inside a database a row has one plain item: fetch the rows instead, with --no-on-engine."
    return InputError(f"The column {column!r} has the type {kind}.", code="bad_type", hint=hint)


def text_in(dialect: str, statement: exp.Expr | Query) -> str:
    """The text of a query, or of a tree, of DuckDB's dialect in another dialect."""
    tree = statement.tree() if isinstance(statement, Query) else statement
    return tree.sql(dialect=_dialect(dialect), comments=False)


@lru_cache(maxsize=8)
def _dialect(name: str) -> Any:
    from sqlglot.dialects.dialect import Dialect

    return Dialect.get_or_raise(name)


def limited(query: exp.Query, most: int) -> exp.Query:
    """The query, for one row more than ``most``: enough to refuse it."""
    return query if query.args.get("limit") else query.limit(most + 1)
