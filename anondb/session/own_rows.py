"""Tables of the analyst: rows of frames, relations and files, and of the parts of a query that read such tables alone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlglot import exp

from anondb.data.sources import is_file, open_source
from anondb.data.types import typed
from anondb.engine import DuckDBEngine, Table
from anondb.errors import EngineError, InputError
from anondb.query.parsing import lowered
from anondb.reading.options import read_as


@contextlib.contextmanager
def registered(engine: DuckDBEngine, data: Any, reading: Mapping[str, Any]) -> Iterator[Table]:
    """Make data readable as a table of an engine during the block.

    Args:
        engine: the engine.
        data: a data frame, an Arrow table, a relation of DuckDB, or the path of a file.
        reading: how a file is read.

    Raises:
        InputError: ``bad_type`` or ``bad_usage``, or the file cannot be read.
    """
    if isinstance(data, os.PathLike) or (isinstance(data, str) and is_file(data)):
        data = _read_file(Path(data), reading)
    elif reading:
        raise InputError("Options for reading apply to files only.", code="bad_usage", hint="Leave them out.")
    elif hasattr(data, "to_arrow_table"):
        data = data.to_arrow_table()
    with contextlib.ExitStack() as stack:
        try:
            view = stack.enter_context(engine.registered(data))
        except (TypeError, EngineError):
            raise InputError(
                "The data of a table cannot be read.",
                code="bad_type",
                hint="Pass a data frame, an Arrow table, a relation of DuckDB, or the path of a file.",
            ) from None
        yield view


def _read_file(path: Path, reading: Mapping[str, Any]) -> Any:
    """A file as an Arrow table."""
    loader = DuckDBEngine.open()
    try:
        with loader.transaction(), open_source(loader, read_as(path, reading), "registered") as source:
            return loader.connection.sql(typed(loader, source).sql("duckdb")).to_arrow_table()
    finally:
        loader.close()


def with_own_rows(
    tree: exp.Expr, own: Collection[str], others: Collection[str], store: Callable[[exp.Query], str | None]
) -> exp.Expr:
    """A query with tables in place of common table expressions and subqueries that read the analyst's tables alone.

    Args:
        tree: the query.
        own: the names of the analyst's tables, in lower case.
        others: those of the other tables.
        store: stores the rows of a query, and gives the name of the table; None if it is no query by itself, since it names
            columns of the query around it.
    """
    made = tree.copy()
    ctes = list(made.find_all(exp.CTE))
    aliases = [lowered(cte.alias) for cte in ctes]
    free = {*own}.difference(aliases)
    for cte, alias in zip(ctes, aliases, strict=True):
        clause = cte.parent
        if not isinstance(clause, exp.With) or aliases.count(alias) > 1 or alias in own or alias in others:
            continue
        rows = exp.select("*").from_(exp.Table(this=cte.args["alias"].this.copy()))
        rows.set("with_", exp.With(expressions=[cte.copy()], recursive=clause.recursive))
        within = {id(table) for table in cte.find_all(exp.Table)}
        tables = [t for t in made.find_all(exp.Table) if _is_plain(t, alias) and id(t) not in within]
        name = store(rows) if tables and _reads(rows, {*free, alias}) else None
        if name is None:
            continue
        cte.pop()
        for table in tables:
            table.set("alias", table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(alias)))
            table.set("this", exp.to_identifier(name))
        free.add(name)
        if not clause.expressions:
            clause.pop()
    for part in list(made.find_all(exp.Subquery)):
        named = part.args.get("alias")
        source = isinstance(part.parent, exp.From | exp.Join) and isinstance(part.this, exp.Query)
        if not source or named is None or named.columns or not _reads(part.this, free):
            continue
        name = store(part.this.copy())
        if name is not None:
            part.replace(exp.Table(this=exp.to_identifier(name), alias=named.copy(), joins=part.args.get("joins")))
    return made


def _is_plain(table: exp.Table, name: str) -> bool:
    return not table.db and lowered(table.name) == name


def _reads(rows: exp.Query, own: Collection[str]) -> bool:
    """Whether a query names these tables alone."""
    named = (t for t in rows.find_all(exp.Table) if isinstance(t.this, exp.Identifier))
    return all(not t.db and lowered(t.name) in own for t in named)
