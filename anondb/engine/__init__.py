"""Executes SQL on DuckDB: named queries, in whose texts tables and values take their places, and trees, written by sqlglot.
A function that takes an engine is called inside a transaction of it, unless its docstring says outside."""

from anondb.engine.binding import Binder, Shape, readable
from anondb.engine.duckdb_engine import DuckDBEngine
from anondb.engine.failures import check_collation, is_binary
from anondb.engine.interface import Columns, Origin, Runner, Spread, has_nulls, put_integers, tuples
from anondb.engine.queries import NamedQuery, NamedRows, Table, Tables, all_names, load

Engine = DuckDBEngine

__all__ = [
    "Binder",
    "Columns",
    "DuckDBEngine",
    "Engine",
    "NamedQuery",
    "NamedRows",
    "Origin",
    "Runner",
    "Shape",
    "Spread",
    "Table",
    "Tables",
    "all_names",
    "check_collation",
    "has_nulls",
    "is_binary",
    "load",
    "put_integers",
    "readable",
    "tuples",
]
