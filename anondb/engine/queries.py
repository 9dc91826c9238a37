"""Named queries: one ``.sql`` file each, with a header that is checked against the parsed statement.

A file looks like this and runs unchanged in the DuckDB shell, after ``SET VARIABLE k = 5`` and with tables of the names
that it reads::

    -- reads: transactions(tid, item)
    -- params: k
    -- returns: item, support
    -- grain: item
    -- What the query is for, in a sentence or two.
    SELECT ...

Tables are bound by replacing names, values by replacing ``getvariable('name')``, in the syntax tree; or in the text where
DuckDB runs the query alone (``texts.py``), without parsing it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

import sqlglot
from sqlglot import exp

from anondb.errors import InternalError


@dataclass(frozen=True)
class Table:
    """The fully qualified name of a table or view; qualified, since a user's file may have the name of our schema. A part
    may be empty in databases where names have fewer."""

    catalog: str
    schema: str
    name: str

    def expression(self) -> exp.Table:
        """The quoted sqlglot node of this name."""
        return exp.Table(
            this=exp.to_identifier(self.name, quoted=True),
            db=exp.to_identifier(self.schema or None, quoted=True),
            catalog=exp.to_identifier(self.catalog or None, quoted=True),
        )

    def sql(self) -> str:
        """The quoted name as DuckDB reads it."""
        return _text(self)


@lru_cache(maxsize=1024)
def _text(table: Table) -> str:
    return table.expression().sql(dialect="duckdb")


_PACKAGE = Path(__file__).resolve().parent.parent
_HEADER = re.compile(r"^--\s*(reads|params|returns|grain):\s*(.*)$")
_READS = re.compile(r"(\w+)\(([^)]*)\)")


# inside an installed package, beside it in a source tree, which an editable install imports: the copy that the build leaves
# in site-packages is never read
SQL_ROOT = _PACKAGE / "sql" if (_PACKAGE / "sql").is_dir() else _PACKAGE.parent / "sql"

Value = int | float | str | bool | None
_E = TypeVar("_E", bound=exp.Expr)
_DIALECTS = {"postgres": "postgres"}  # of the rooms whose queries another database runs


@dataclass(frozen=True, eq=False, repr=False)
class NamedRows:
    """The rows of a named query with its tables and values, as a table of another query; no tree is made of them."""

    name: str
    tables: Tables
    values: Mapping[str, Value]

    def tree(self) -> exp.Query:
        """The query as a tree."""
        return load(self.name).bind(self.tables, self.values)


Tables = Mapping[str, Table | exp.Query | NamedRows]


@dataclass(frozen=True, eq=False, repr=False)
class NamedQuery:
    """A ``.sql`` file: what it reads, its parameters, what it returns (column names) and its grain; its text, without
    comments, and the tree of that."""

    name: str
    reads: Mapping[str, tuple[str, ...]]
    params: frozenset[str]
    returns: tuple[str, ...]
    grain: str
    text: str

    @cached_property
    def tree(self) -> exp.Query:
        """The statement, parsed."""
        tree = sqlglot.parse_one(self.text, dialect=_DIALECTS.get(self.name.partition("/")[0], "duckdb"))
        if not isinstance(tree, exp.Query):
            raise InternalError(f"query {self.name} is not a SELECT")
        return light(tree)

    def check(self, tables: Collection[str], values: Collection[str]) -> None:
        """Check that exactly the tables and values of the header are bound."""
        if set(tables) != set(self.reads) or set(values) != self.params:
            raise InternalError(f"query {self.name} was bound to the wrong tables or values")

    def bind(self, tables: Tables, values: Mapping[str, Value | exp.Expr], tree: exp.Query | None = None) -> exp.Query:
        """Return the statement, or a changed copy of its ``tree``, with its tables and values in place; exactly the names of
        the header must be bound."""
        self.check(tables, values)
        tree = tree or self.tree.copy()
        cte_names = {cte.alias for cte in tree.find_all(exp.CTE)}
        calls = list(tree.find_all(exp.Anonymous))
        for node in list(tree.find_all(exp.Table)):
            if not isinstance(node.this, exp.Identifier) or node.db or node.name in cte_names:
                continue  # a CTE, a table function or a qualified system table
            table = bound(tables[node.name], node.alias or node.name)
            for key in ("joins", "laterals", "pivots"):
                if node.args.get(key):
                    table.set(key, node.args[key])
            node.replace(table)
        for call in calls:
            if call.name.lower() == "getvariable":
                call.replace(exp.convert(values[call.expressions[0].name], copy=True))
        return tree


def bound(rows: Table | exp.Query | NamedRows, alias: str) -> exp.Expression:
    """A table or query as a source of rows under another name."""
    name = exp.TableAlias(this=exp.to_identifier(alias))
    if isinstance(rows, Table):
        table = rows.expression()
        table.set("alias", name)
        return table
    if isinstance(rows, NamedRows):
        return exp.Subquery(this=rows.tree(), alias=name)
    return exp.Subquery(this=rows if rows.parent is None else rows.copy(), alias=name)  # copies take a tenth of the time


def _header(name: str, text: str) -> dict[str, str]:
    header: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        if match := _HEADER.match(line):
            header[match[1]] = match[2].strip()
    if missing := {"reads", "params", "returns", "grain"} - set(header):
        raise InternalError(f"query {name} lacks header lines: {', '.join(sorted(missing))}")
    return header


@cache
def source_digest(name: str) -> str:
    """The SHA-256 of the file of a query without its comment lines, in hexadecimal."""
    return hashlib.sha256(_statement((SQL_ROOT / f"{name}.sql").read_text(encoding="utf-8")).encode()).hexdigest()


def _statement(text: str) -> str:
    """The text of a file without its comment lines."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("--"))


@cache
def load(name: str) -> NamedQuery:
    """Load the query ``name`` (such as ``transactions/items``); the tests check its header against the statement."""
    text = (SQL_ROOT / f"{name}.sql").read_text(encoding="utf-8")
    header = _header(name, text)
    reads = {m[1]: tuple(c.strip() for c in m[2].split(",")) for m in _READS.finditer(header["reads"])}
    params = frozenset(p.strip() for p in header["params"].split(",") if p.strip() not in ("", "none"))
    returns = tuple(c.strip() for c in header["returns"].split(","))
    return NamedQuery(name, reads, params, returns, header["grain"], _statement(text))


def light(tree: _E) -> _E:
    """A tree without the positions of its nodes in the text: they are unused, and most of the cost of a copy."""
    for node in tree.walk():
        node._meta = None
    return tree


def all_names() -> list[str]:
    """The names of all queries in the package, sorted."""
    return sorted(str(p.relative_to(SQL_ROOT))[:-4] for p in SQL_ROOT.rglob("*.sql"))
