"""Names of tables and columns: what tools ask of a database before a query, and those that a release does not have.

The database has nothing but the names and types of the tables that queries may name, so DuckDB answers about it as it would
about the original: information_schema, pg_catalog, duckdb_tables() and the like, SHOW, DESCRIBE, PRAGMA and EXPLAIN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from sqlglot import exp

from anondb.answers.ranged.relation import failed
from anondb.answers.role_reader import WITHOUT_IDS, RoleReader
from anondb.answers.roles import SUMMARY
from anondb.engine import DuckDBEngine, Shape, reads
from anondb.engine.binding import empty, nulls
from anondb.engine.untrusted import materialized, memory_engine
from anondb.errors import InputError
from anondb.query.parsing import SELECT, dotted, lowered
from anondb.query.refusals import unsupported
from anondb.session.database import HIDDEN
from anondb.session.result import Result

SCHEMAS = ("information_schema", "pg_catalog")
_TOLD = ("columns", "constraints", "databases", "functions", "indexes", "keywords", "schemas", "sequences", "tables")
FUNCTIONS = frozenset(f"duckdb_{name}" for name in (*_TOLD, "types", "views"))
"""Table functions that tell nothing of the computer."""
PRIVATE = frozenset({"pg_settings"})
"""Tables of the catalog that tell of the computer."""
PRAGMAS = ("database_list", "show", "show_tables", "show_tables_expanded", "table_info", "version")
COMPUTED = ("min", "max", "avg", "std", "q25", "q50", "q75")
"""What SUMMARIZE computes from the values of a column."""
Types = Mapping[str, Mapping[str, str]]
SETTINGS = ("calendar", "default_null_order", "default_order", "schema", "search_path", "timezone")
"""Settings that tell nothing of the computer."""


def check_settings(tree: exp.Expr) -> None:
    """Refuse a statement that reads settings of the computer, such as directories.

    Raises:
        InputError: ``unsupported_query``.
    """
    for call in tree.find_all(exp.Anonymous):
        asked = call.expressions[0] if call.expressions else None
        if lowered(call.name) == "current_setting" and not (
            isinstance(asked, exp.Literal) and lowered(asked.name) in SETTINGS
        ):
            raise unsupported("the function current_setting", f"It is answered of {', '.join(SETTINGS)}.")


def is_of_catalog(tree: exp.Expr, own: Iterable[str], answered: Collection[str] = ()) -> bool:
    """Whether a query reads tables of the catalog alone.

    Args:
        tree: the query.
        own: the names of the tables that are not of the catalog.
        answered: tables that the caller answers itself.
    """
    ctes, names = {lowered(cte.alias) for cte in tree.find_all(exp.CTE)}, {lowered(name) for name in own}
    tables = [table for table in tree.find_all(exp.Table) if table.db or lowered(table.name) not in ctes]
    if any(lowered(table.name) in PRIVATE.difference(answered) for table in tables):
        return False
    return bool(tables) and all(_is_of_catalog(t) and (t.db or lowered(t.name) not in names) for t in tables)


def _is_of_catalog(table: exp.Table) -> bool:
    if isinstance(table.this, exp.Anonymous):
        name, operands = lowered(table.this.name), table.this.expressions
        described = name == "pragma_table_info" and all(isinstance(operand, exp.Literal) for operand in operands)
        return described or (name in FUNCTIONS and not operands)
    if not isinstance(table.this, exp.Identifier):
        return False
    return lowered(table.db) in SCHEMAS or (not table.db and lowered(table.name).startswith(("pg_", "sqlite_")))


class Catalog:
    """A database of empty tables.

    Args:
        tables: the tables, with the types of their columns.
        views: the views.
    """

    def __init__(self, tables: Types, views: Types) -> None:
        self._engine: DuckDBEngine = memory_engine(memory_limit="256MB")
        for kind, named in (("TABLE", tables), ("VIEW", views)):
            for name, columns in named.items():
                self._engine.run(empty(name, kind, columns), "a table of the catalog")

    def close(self) -> None:
        """Close the database; results stay."""
        self._engine.close()

    def answer(self, tree: exp.Expr, word: str = SELECT) -> Result:
        """The rows of a query over the catalog, of SHOW, of DESCRIBE of a table, of EXPLAIN of a query, or of PRAGMA.

        Raises:
            InputError: ``unsupported_query`` or ``bad_sql``.
        """
        if isinstance(tree, exp.Pragma) and lowered(tree.this.name) not in PRAGMAS:
            raise unsupported("this PRAGMA", "A session has PRAGMA table_info and show_tables.")
        if word == "SHOW":
            tree = exp.Show(this=tree.name)
        elif word == "EXPLAIN":
            tree = exp.Command(this=word, expression=exp.Literal.string(tree.sql("duckdb")))
        return self._rows(tree)

    def columns(self, names: Sequence[str], types: Sequence[str]) -> Result:
        """The rows of DESCRIBE of a query with these columns."""
        return self._rows(exp.Describe(this=nulls(zip(names, types, strict=True))))

    def _rows(self, tree: exp.Expr) -> Result:
        try:
            rows = materialized(self._engine, tree, failed)  # type: ignore[arg-type]
        except InputError:
            raise InputError(
                "DuckDB does not accept this query of the catalog.",
                code="bad_sql",
                hint="SHOW TABLES lists the tables.",
            ) from None
        return Result(rows, rows.columns, [])


def summarized(tree: exp.Expr, reader: RoleReader) -> exp.Expr:
    """A query whose SUMMARIZE computes nothing from ids."""
    tree = tree.copy()
    reader.relation(tree)
    for node in list(tree.find_all(exp.Summarize)):
        ids = reader.summarized.get(id(node), [])
        if ids and not node.meta.get(WITHOUT_IDS):
            inner = node.copy()
            inner.meta[WITHOUT_IDS] = True
            alike = f"({'|'.join(map(re.escape, ids))})(_[0-9]+)*"  # DuckDB numbers columns of one name
            pattern, option = exp.Literal.string(alike), exp.Literal.string("i")
            is_id = exp.func("regexp_full_match", exp.column("column_name"), pattern, option)
            cells = [
                exp.Case(ifs=[exp.If(this=is_id.copy(), true=exp.null())], default=reads.named(name)).as_(name, quoted=True)
                if name in COMPUTED
                else reads.named(name)
                for name in SUMMARY
            ]
            node.replace(
                exp.select(*cells).from_(exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("s"))))
            )
    return tree


Column = tuple[str, str]


def not_accepted(tree: exp.Expr, shapes: Shape) -> InputError:
    """The error ``bad_sql`` for a query that DuckDB does not accept.

    Args:
        tree: the query.
        shapes: the tables that it may name.
    """
    what, hint = "", "Test it on a table with the same columns."
    aliases = {lowered(cte.alias) for cte in tree.find_all(exp.CTE)}
    tables = {lowered(name) for name, _ in shapes} | aliases
    named = {lowered(table.name) for table in tree.find_all(exp.Table)}
    read = [(name, columns) for name, columns in shapes if lowered(name) in named]
    columns = {lowered(column) for _, listed in read for column in listed} | _introduced(tree) | {"rowid"}
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and not {dotted(table.parts), lowered(table.name)} & tables:
            what = f": there is no table {table.name!r}"
            hint = f"The tables are {', '.join(name for name, _ in shapes if not name.startswith(HIDDEN))}."
            break
    else:
        for column in tree.find_all(exp.Column):
            if not isinstance(column.this, exp.Star) and lowered(column.name) not in tables | columns:
                what = f": no table of the query has a column {column.name!r}"
                quoted = isinstance(column.this, exp.Identifier) and column.this.quoted
                hint = "Write texts in single quotes." if quoted else _columns_of(read) or hint
                break
    return InputError(f"DuckDB does not accept this query for the original table{what}.", code="bad_sql", hint=hint)


def _columns_of(shapes: Shape) -> str:
    """A sentence for each table: its columns."""
    return " ".join(f"Columns of {name}: {', '.join(columns)}." for name, columns in shapes if not name.startswith(HIDDEN))


def as_written(
    text: str, tree: exp.Expr, bound: list[Column], bind: Callable[[str], Sequence[Column] | None]
) -> list[Column]:
    """The names and types of the columns of a query, with the names that DuckDB gives them by its text: sqlglot writes some
    functions under other names.

    Args:
        text: the text; empty if there is none.
        tree: the query.
        bound: the names and types that the tree gives.
        bind: gives those that a text gives; None if DuckDB does not accept it, such as for a name of the session.
    """
    computed = (e for select in tree.find_all(exp.Select) for e in select.expressions if e.find(exp.Func))
    if not text or all(isinstance(e, exp.Alias | exp.Count) for e in computed):
        return bound
    told = bind(text) or ()
    same = len(told) == len(bound)
    return [(name, kind) for (name, _), (_, kind) in zip(told, bound, strict=True)] if same else bound


def _introduced(tree: exp.Expr) -> set[str]:
    """The names that the query itself gives to columns, tables and parameters of functions."""
    names = {lowered(node.alias) for node in tree.find_all(exp.Alias, exp.Table, exp.Subquery, exp.Values)}
    names |= {lowered(column.name) for alias in tree.find_all(exp.TableAlias) for column in alias.columns}
    names |= {lowered(name.name) for node in tree.find_all(exp.Lambda) for name in node.expressions}
    names |= set(SUMMARY) if tree.find(exp.Summarize) else set()
    if tree.find(exp.Values):
        names |= {f"col{n}" for n in range(100)}
    return names
