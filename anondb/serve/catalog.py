"""PostgreSQL's SQL about its catalog and about the connection, in words that a session answers. DuckDB has most of the
catalog. A table that it lacks has no rows, a column or a function that it lacks is NULL."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property, reduce

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError

from anondb.errors import AnondbError
from anondb.query.parsing import check_depth, lowered
from anondb.session.catalog import PRIVATE, is_of_catalog
from anondb.session.session import Session

VERSION = "14.0"
_MOST_CHARACTERS = 20_000  # of a query that is translated, which takes time beside the limits of the session
_HINTS = re.compile(r"pg_|information_schema|current_|_user|version\s*\(|set_config", re.I)
_KEYS = ("dba", "encoding", "member", "namespace", "num", "oid", "owner", "rel", "relid", "roleid", "subtype", "typid")
"""How the names of columns end that have numbers."""
_FLAGS = ("attached", "detach", "enabled", "permissive", "security")
_LISTS = ("acl",)
_OPERATORS = {"~": exp.RegexpLike, "~*": exp.RegexpILike, "~~": exp.Like, "~~*": exp.ILike, "=": exp.EQ, "<>": exp.NEQ}
_NAMES: Mapping[type[exp.Expr], str] = {
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentDatabase: "current_database",
    exp.CurrentSchema: "current_schema",
    exp.CurrentUser: "current_user",
    exp.CurrentVersion: "version",
    exp.SessionUser: "session_user",
}
Value = str | int | bool
_SCHEMA = 11  # the number of pg_catalog
_TYPES = ((19, "name", 64), (25, "text", -1), (26, "oid", 4))  # that DuckDB lacks
_TYPE: Mapping[str, Value] = {"typnamespace": _SCHEMA, "typtype": "b", "typrelid": 0, "typelem": 0, "typbasetype": 0}
_WRITTEN = {
    "bool": "boolean",
    "float4": "real",
    "float8": "double precision",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "varchar": "character varying",
}
"""How PostgreSQL writes types that DuckDB's ``format_type`` writes short."""
_PREFIXES = ("_pg_", "array_upper", "json_build_", "pg_", "to_reg", "txid_")  # of functions that are PostgreSQL's own
_NUMBERS = ("OID", "XID", "CID")
IN_MEMORY = "memory"  # DuckDB's name of the database of the catalog


class Translator:
    """Translates the statements of a client that asked for a database under a user's name, for the session that answers
    them; ``settings`` are those of PostgreSQL that it may ask for."""

    def __init__(self, session: Session, database: str, user: str, settings: Mapping[str, str]) -> None:
        self._session, self._settings = session, settings
        self._columns: dict[str, list[str]] = {}
        self._overridden: dict[str, Value] = dict.fromkeys(("catalog_name", "datname", "table_catalog"), database)
        self._overridden |= {"typnamespace": _SCHEMA, "typrelid": 0}
        self._more: dict[str, list[dict[str, Value]]] = {
            "pg_namespace": [{"oid": _SCHEMA, "nspname": "pg_catalog"}],
            "pg_settings": [{"name": name, "setting": setting} for name, setting in settings.items()],
            "pg_type": [{"oid": oid, "typname": name, "typlen": n, **_TYPE} for oid, name, n in _TYPES],
        }
        self._values: dict[str, Value] = {
            **dict.fromkeys(("current_catalog", "current_database"), database),
            **dict.fromkeys(("current_user", "session_user"), user),
            "current_schema": "main",
            "pg_backend_pid": os.getpid(),
            "pg_is_in_recovery": False,
            "version": f"PostgreSQL {VERSION} (anondb)",
        }

    def translated(self, sql: str) -> str:
        """A query of the catalog or of the connection, in DuckDB's words; any other statement as it is."""
        if len(sql) > _MOST_CHARACTERS or not _HINTS.search(sql):
            return sql
        try:
            (tree,) = Postgres().parse(sql)
            if not isinstance(tree, exp.Query):
                return sql
            check_depth(tree)
        except (AnondbError, SqlglotError, RecursionError, ValueError):
            return sql
        _without_functions(tree)
        _name_columns(tree)
        if not tree.find(exp.Table):
            changed = self._with_values(tree)
            return self._written(tree) if changed or tree.find(exp.Dot, exp.ObjectIdentifier) else sql
        if not is_of_catalog(tree, self._session.tables, PRIVATE):
            return sql
        for column in tree.find_all(exp.Column):
            column.set("db", None)  # a table that is filled is a subquery, which has no schema
        tree = self._without_rows(tree)
        self._with_values(tree)
        self._with_tables(tree)
        return self._written(tree)

    def _written(self, tree: exp.Query) -> str:
        """A query in DuckDB's words."""
        _with_types(tree)
        self._with_functions(tree)
        for name in tree.find_all(exp.Identifier):
            if not name.quoted:  # PostgreSQL lowers it; quoted, it may be a keyword of DuckDB
                name.replace(exp.to_identifier(lowered(name.name), quoted=True))
        return tree.sql("duckdb")

    def _with_values(self, tree: exp.Query) -> bool:
        """Put values in the place of functions of the connection; whether there are some."""
        calls = [(node, value) for node in tree.walk() if (value := self._value(node)) is not None]
        for node, value in calls:
            place = node.parent if isinstance(node.parent, exp.Dot) else node
            place.replace(value)
        return bool(calls)

    def _value(self, node: exp.Expr) -> exp.Expr | None:
        """The value of a function of the connection; None if the node is none."""
        name, arguments = _NAMES.get(type(node), ""), node.expressions
        if isinstance(node, exp.Anonymous):
            name = lowered(node.name)
        if name == "current_setting" and arguments:
            return exp.Literal.string(self._settings.get(lowered(arguments[0].name), ""))
        if name == "set_config" and len(arguments) > 1:
            value: exp.Expr = arguments[1].copy()
            return value
        return None if name not in self._values else exp.convert(self._values[name])

    def _with_functions(self, tree: exp.Expr) -> None:
        """Write NULL for functions that DuckDB lacks, and names of functions without a schema."""
        for dotted in list(tree.find_all(exp.Dot)):
            if isinstance(dotted.expression, exp.Func):
                dotted.replace(dotted.expression)
        for call in list(tree.find_all(exp.Anonymous)):
            name = lowered(call.name)
            if name == "format_type":
                texts = {text: exp.Literal.string(text) for pair in _WRITTEN.items() for text in pair}
                cases = [exp.If(this=texts[short], true=texts[long]) for short, long in _WRITTEN.items()]
                call.replace(exp.Case(this=call.copy(), ifs=cases, default=call.copy()))
            elif name.startswith(_PREFIXES) and not self._has(name, len(call.expressions)):
                parent = call.parent.parent if isinstance(call.parent, exp.Paren) else None
                (parent if isinstance(parent, exp.Dot) else call).replace(exp.null())

    def _has(self, name: str, parameters: int) -> bool:
        """Whether DuckDB has a function of this name with so many parameters."""
        return not self._functions.get(name, frozenset()).isdisjoint((parameters, None))

    @cached_property
    def _functions(self) -> dict[str, frozenset[int | None]]:
        """The names of DuckDB's functions, with how many parameters they take; None for any number."""
        numbers = "CASE WHEN varargs IS NULL THEN len(parameters) END"
        rows = self._session.sql(
            exp.select("function_name", f"list({numbers})")
            .from_("duckdb_functions()")
            .group_by("function_name")
            .sql("duckdb")
        ).fetchall()
        return {lowered(name): frozenset(counts) for name, counts in rows}

    def _without_rows(self, tree: exp.Query) -> exp.Query:
        """Have no rows, of the same columns, for each SELECT from a table that DuckDB lacks."""
        for select in list(tree.find_all(exp.Select)):
            start, joins = select.args.get("from_"), select.args.get("joins") or []
            needed = [part.this for part in (start, *(join for join in joins if not join.side)) if part is not None]
            lacks = any(isinstance(table, exp.Table) and self._lacks(table) for table in needed)
            kept = any(join.side in ("RIGHT", "FULL") for join in joins)
            if not lacks or kept or select.is_star or any(shown.find(exp.AggFunc) for shown in select.selects):
                continue
            names = [shown.alias_or_name or f"column{n}" for n, shown in enumerate(select.selects)]
            empty = _no_rows([exp.alias_(_null(name), name, quoted=True) for name in names])
            if select is tree:
                return empty
            select.replace(empty)
        return tree

    def _lacks(self, table: exp.Table) -> bool:
        """Whether DuckDB lacks a table, and the server has no rows for it."""
        return not self._columns_of(table) and lowered(table.name) not in self._more

    def _with_tables(self, tree: exp.Expr) -> None:
        """Give the tables of the catalog the columns that the query names, and the database its name."""
        ctes = {lowered(cte.alias) for cte in tree.find_all(exp.CTE)}
        for table in list(tree.find_all(exp.Table)):
            if not table.db and lowered(table.name) in ctes:
                continue
            have, wanted = self._columns_of(table), {*_named(table), *self._nowhere(table)}
            more = self._more.get(lowered(table.name), [])
            lacking = sorted(wanted - {*have, *(more[0] if more else ())})
            missing = [exp.alias_(_null(name), name, quoted=True) for name in lacking]
            values = {name: self._overridden[name] for name in have if name in self._overridden}
            if not have or missing or values or more:
                parts: list[exp.Query] = [self._filled(table, missing, values)] if have else []
                cells = [[exp.alias_(exp.convert(value), name) for name, value in row.items()] for row in more]
                parts += [exp.select(*row, *(missing if not have else [])) for row in cells]
                filled = reduce(_together, parts or [_no_rows(missing)])
                table.replace(filled.subquery(table.alias_or_name))

    def _nowhere(self, table: exp.Table) -> set[str]:
        """The columns named without a table that no table of the SELECT has, where this one is its first."""
        select = table.find_ancestor(exp.Select)
        if select is None or table.parent is not select.args.get("from_"):
            return set()
        sources = [table, *(join.this for join in select.args.get("joins") or [])]
        if not all(isinstance(source, exp.Table) for source in sources):
            return set()
        more = [self._more.get(lowered(source.name), [{}])[0] for source in sources]
        return set(_alone(select)).difference(*more, *map(self._columns_of, sources))

    def _filled(self, table: exp.Table, missing: list[exp.Expr], values: Mapping[str, Value]) -> exp.Select:
        """The rows of a table of the catalog with the columns that it lacks, and with other values in some."""
        star = exp.Star(replace=[exp.alias_(exp.convert(value), name) for name, value in values.items()] or None)
        source = table.copy()
        source.set("alias", None)
        rows = exp.select(star, *missing).from_(source)
        if "datname" in values:
            own = exp.Literal.string(IN_MEMORY)
            return rows.where(exp.EQ(this=exp.column("datname", table.name), expression=own))
        return rows.where(exp.column("oid").is_(exp.null()).not_()) if "typrelid" in values else rows

    def _columns_of(self, table: exp.Table) -> list[str]:
        """The columns that DuckDB has of a table of the catalog; none if it lacks the table."""
        schema = lowered(table.db) or "pg_catalog"
        key = f"{schema}.{lowered(table.name)}"
        if lowered(table.name) in PRIVATE:
            return []
        if key not in self._columns:
            try:
                shown = exp.select("*").from_(exp.table_(table.name, db=schema)).limit(0)
                self._columns[key] = [lowered(name) for name in self._session.sql(shown.sql("duckdb")).columns]
            except AnondbError:
                self._columns[key] = []
        return self._columns[key]


def _with_types(tree: exp.Expr) -> None:
    """Write operators and types of PostgreSQL as DuckDB's."""
    for collated in list(tree.find_all(exp.Collate)):
        collated.replace(collated.this)
    for used in list(tree.find_all(exp.Operator)):
        symbol = str(used.args["operator"]).rpartition(".")[2]
        if (operator := _OPERATORS.get(symbol.lstrip("!"))) is not None:
            written = operator(this=used.this, expression=used.expression)
            used.replace(exp.not_(written) if symbol.startswith("!") else written)
    for cast in list(tree.find_all(exp.Cast)):
        name = cast.to.sql().rpartition(".")[2].strip('"').upper()
        if name == "REGCLASS" and isinstance(cast.this, exp.Literal):
            cast.replace(exp.Literal.number(0))
        elif name in _NUMBERS:
            cast.set("to", exp.DataType.build("BIGINT"))
        elif isinstance(cast.to, exp.ObjectIdentifier) or cast.to.this is exp.DType.USERDEFINED:
            cast.set("to", exp.DataType.build("VARCHAR"))


def _without_functions(tree: exp.Expr) -> None:
    """Have functions of PostgreSQL in FROM return no rows: they are asked for keys and options, of which there are none."""
    tables = list(tree.find_all(exp.Table))
    beside = any(isinstance(table.this, exp.Identifier) for table in tables)
    for table in tables:
        call = table.this
        own = lowered(table.db) == "pg_catalog" or isinstance(call, exp.GenerateSeries)
        if not isinstance(call, exp.Func) or not (lowered(call.name).startswith(_PREFIXES) or (own and beside)):
            continue
        listed = [column.name for column in table.args["alias"].columns] if table.args.get("alias") else []
        names = listed or sorted({table.alias, *_named(table)} - {""})
        rows = _no_rows([exp.alias_(_null(name), name) for name in names])
        if isinstance(call, exp.GenerateSeries):  # which DuckDB has, as a column of rows
            rows = exp.select(exp.alias_(call, names[0] if names else "generate_series"))
        table.replace(rows.subquery(table.alias or "listed"))


def _name_columns(tree: exp.Query) -> None:
    """Give the columns that are functions the names that they have in PostgreSQL."""
    for shown in tree.selects:
        call = shown.expression if isinstance(shown, exp.Dot) else shown
        if isinstance(call, exp.Func) and not isinstance(call, exp.Cast):
            name = _NAMES.get(type(call)) or lowered(call.name or call.sql_name())
            shown.replace(exp.alias_(shown.copy(), name, quoted=True))


def _together(first: exp.Query, second: exp.Query) -> exp.Query:
    return exp.Union(this=first, expression=second, distinct=False, by_name=True)


def _no_rows(columns: list[exp.Expr]) -> exp.Select:
    """No rows, with these columns, or with one."""
    return (
        exp.select(*columns or [exp.alias_(_null("oid"), "oid")])
        .from_(exp.table_("pg_namespace", db="pg_catalog"))
        .where(exp.false())
    )


def _named(table: exp.Table) -> Iterator[str]:
    """The columns that a query names of a table, by its name, or by their own where it is the only one."""
    name, select = lowered(table.alias_or_name), table.find_ancestor(exp.Select)
    for column in (select or table.root()).find_all(exp.Column):
        if not column.is_star and lowered(column.table) == name:
            yield lowered(column.name)
    if select is not None and not select.args.get("joins"):
        yield from _alone(select)


def _alone(select: exp.Select) -> Iterator[str]:
    """The columns that a SELECT names without their tables."""
    for column in select.find_all(exp.Column):
        if not (column.is_star or column.table) and column.find_ancestor(exp.Select) is select:
            yield lowered(column.name)


def _null(column: str) -> exp.Expr:
    """NULL in the type that a column of PostgreSQL's catalog has by its name."""
    kinds = {_KEYS: "BIGINT", _FLAGS: "BOOLEAN", _LISTS: "VARCHAR[]"}
    return exp.cast(exp.null(), next((kind for ends, kind in kinds.items() if column.endswith(ends)), "VARCHAR"))
