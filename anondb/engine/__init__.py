"""The only room that executes SQL: named queries bound and transpiled by sqlglot, run by DuckDB."""

from anondb.engine.binding import Binder
from anondb.engine.engine import Columns, Engine, quote_list
from anondb.engine.failures import check_collation, is_binary
from anondb.engine.queries import NamedQuery, all_names, load
from anondb.engine.tables import Table

__all__ = [
    "Binder",
    "Columns",
    "Engine",
    "NamedQuery",
    "Table",
    "all_names",
    "check_collation",
    "is_binary",
    "load",
    "quote_list",
]
