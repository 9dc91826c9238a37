"""The SQLAlchemy dialect ``anondb:///spring.duckdb``: SQL of PostgreSQL's kind for a session on sealed files.

The part after ``///`` is a file or a pattern; ``bounds``, ``memory_limit``, ``max_seconds``, ``threads`` and ``trusted`` may
follow as ``?bounds=none``. The analyst's own tables go into ``connect_args={"tables": {...}}``. Nothing can be written.
"""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, types
from sqlalchemy.dialects.postgresql.base import PGCompiler, PGIdentifierPreparer, PGTypeCompiler
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedPrimaryKeyConstraint, ReflectedTableComment
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import ArgumentError, NoSuchTableError
from sqlglot import exp

from anondb.session.output import BOUNDS_HINT, CHOICES
from anondb.session.session import Session

SCHEMA = "main"
_OPTIONS: Mapping[str, type] = {"bounds": str, "memory_limit": str, "max_seconds": float, "threads": int, "trusted": str}
_TYPES: Mapping[str, type[types.TypeEngine[Any]]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "UTINYINT"), types.SMALLINT),
    **dict.fromkeys(("INTEGER", "USMALLINT"), types.INTEGER),
    **dict.fromkeys(("BIGINT", "HUGEINT", "UINTEGER", "UBIGINT", "UHUGEINT"), types.BIGINT),
    **dict.fromkeys(("DOUBLE", "FLOAT"), types.DOUBLE),
    "BOOLEAN": types.BOOLEAN,
    "VARCHAR": types.VARCHAR,
    "BLOB": types.BLOB,
    "DATE": types.DATE,
    "TIME": types.TIME,
    "TIMESTAMP": types.TIMESTAMP,
    "UUID": types.UUID,
}


class Preparer(PGIdentifierPreparer):
    """Quotes names; tables have no schema, because a session has a single one."""

    schema_for_object = staticmethod(lambda _: "")


class AnondbDialect(DefaultDialect):
    """The dialect: compiles for DuckDB, connects by ``anondb.dbapi``, reflects the tables of the session."""

    name = "anondb"
    driver = "dbapi"
    default_paramstyle = "qmark"
    div_is_floordiv = False
    supports_alter = False
    supports_native_boolean = True
    supports_statement_cache = True
    statement_compiler = PGCompiler
    type_compiler_cls = PGTypeCompiler
    preparer = Preparer
    _backslash_escapes = False  # PostgreSQL's compiler asks for it

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The module of the connections."""
        from anondb import dbapi

        return dbapi

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of ``dbapi.connect``.

        Raises:
            ArgumentError: an option is unknown, is there twice, or has no valid value.
        """
        options: dict[str, Any] = {}
        for name, value in url.query.items():
            try:
                options[name] = _OPTIONS[name](value)
            except (KeyError, TypeError, ValueError):
                listed = ", ".join(f"{option} ({kind.__name__})" for option, kind in _OPTIONS.items())
                raise ArgumentError(f"{name!r} is no valid option of anondb:///; the options are {listed}.") from None
        if options.get("bounds", "none") not in CHOICES:
            raise ArgumentError(f"The option {BOUNDS_HINT}")
        return [url.database or ""], options

    def _get_default_schema_name(self, connection: Connection) -> str:
        """The single schema."""
        return SCHEMA

    def get_schema_names(self, connection: Connection, **_: Any) -> list[str]:
        """The single schema."""
        return [SCHEMA]

    def get_table_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """The tables that queries may name."""
        session = _session(connection)
        return sorted(session.tables.keys() - set(session.objects)) if schema in (None, SCHEMA) else []

    def get_view_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """The objects of the file that queries may name, such as ``item_counts``."""
        return _session(connection).objects if schema in (None, SCHEMA) else []

    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> bool:
        """Whether there is a table or an object of this name."""
        listed = [*self.get_table_names(connection, schema), *self.get_view_names(connection, schema)]
        return table_name.lower() in map(str.lower, listed)

    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[ReflectedColumn]:
        """The columns of a table, or of an object of the file."""
        session = _session(connection)
        if schema in (None, SCHEMA) and table_name.lower() in session.objects:
            session.sql(exp.select("*").from_(table_name.lower()).limit(0).sql("duckdb"))  # lists it among the tables
        for name, columns in session.types.items():
            if name.lower() == table_name.lower() and schema in (None, SCHEMA):
                return [{"name": n, "type": type_of(kind), "nullable": True, "default": None} for n, kind in columns.items()]
        raise NoSuchTableError(table_name)

    def get_pk_constraint(
        self, connection: Connection, table_name: str, *_: Any, **__: Any
    ) -> ReflectedPrimaryKeyConstraint:
        """None: a release does not show keys."""
        return {"constrained_columns": [], "name": None}

    def get_table_comment(self, connection: Connection, table_name: str, *_: Any, **__: Any) -> ReflectedTableComment:
        """None."""
        return {"text": None}

    def _nothing(self, connection: Connection, *_: Any, **__: Any) -> list[Any]:
        """An empty list: there is nothing of this kind."""
        return []

    get_foreign_keys = get_indexes = get_unique_constraints = get_check_constraints = _nothing
    get_materialized_view_names = get_sequence_names = _nothing
    get_temp_table_names = get_temp_view_names = _nothing


def _session(connection: Connection) -> Session:
    opened: Any = connection.connection.driver_connection
    session: Session = opened.session
    return session


def type_of(kind: str) -> types.TypeEngine[Any]:
    """The type of SQLAlchemy for a type of DuckDB."""
    if kind.endswith("[]"):
        return types.ARRAY(type_of(kind[:-2]))
    if exact := re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", kind):
        return types.DECIMAL(int(exact[1]), int(exact[2]))
    if kind.startswith("TIMESTAMP"):
        return types.TIMESTAMP(timezone=kind.endswith("ZONE"))
    return _TYPES.get(kind, types.NullType)()
