"""Executes SQL on DuckDB: named queries, in whose texts tables and values take their places, composed texts, and trees.
A function that takes an engine is called inside a transaction of it, unless its docstring says outside."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anondb.engine.binding import Binder, Shape, readable
    from anondb.engine.duckdb_engine import DuckDBEngine
    from anondb.engine.failures import check_collation, is_binary
    from anondb.engine.interface import Columns, Origin, Runner, Spread, filled, has_nulls, put_integers, tuples
    from anondb.engine.queries import AnyQuery, NamedQuery, Rows, Tables, all_names, load, query_of, tree_of
    from anondb.engine.texts import Query, Table

    Engine = DuckDBEngine

__all__ = [
    "AnyQuery",
    "Binder",
    "Columns",
    "DuckDBEngine",
    "Engine",
    "NamedQuery",
    "Origin",
    "Query",
    "Rows",
    "Runner",
    "Shape",
    "Spread",
    "Table",
    "Tables",
    "all_names",
    "check_collation",
    "filled",
    "has_nulls",
    "is_binary",
    "load",
    "put_integers",
    "query_of",
    "readable",
    "tree_of",
    "tuples",
]

_LAZY = {
    **dict.fromkeys(("Binder", "Shape", "readable"), "binding"),
    **dict.fromkeys(("DuckDBEngine", "Engine"), "duckdb_engine"),
    **dict.fromkeys(("check_collation", "is_binary"), "failures"),
    **dict.fromkeys(("Columns", "Origin", "Runner", "Spread", "filled", "has_nulls", "put_integers", "tuples"), "interface"),
    **dict.fromkeys(("AnyQuery", "NamedQuery", "Rows", "Tables", "all_names", "load", "query_of", "tree_of"), "queries"),
    **dict.fromkeys(("Query", "Table"), "texts"),
}


def __getattr__(name: str) -> Any:
    """Import a name on first use: who asks for a private folder, such as a window that begins, needs no DuckDB."""
    if name not in _LAZY:
        raise AttributeError(f"module 'anondb.engine' has no attribute {name!r}")
    module = import_module(f"anondb.engine.{_LAZY[name]}")
    value = globals()[name] = getattr(module, "DuckDBEngine" if name == "Engine" else name)
    return value
