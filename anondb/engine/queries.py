"""Named queries: one ``.sql`` file each, with a header that is checked against the parsed statement.

A file looks like this and runs unchanged in the DuckDB shell, after ``SET VARIABLE k = 5`` and with tables of the names
that it reads::

    -- reads: transactions(tid, item)
    -- params: k
    -- returns: item, support
    -- grain: item
    -- What the query is for, in a sentence or two.
    SELECT ...

Tables are bound by replacing names, values by replacing ``getvariable('name')``: in the text for DuckDB, in the syntax tree
for other engines.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from anondb.engine.texts import Query, Sql, Table, Value, literal, text_of
from anondb.engine.trees import exp, light, parsed_query
from anondb.errors import InternalError

_PACKAGE = Path(__file__).resolve().parent.parent
_HEADER = re.compile(r"^--\s*(reads|params|returns|grain):\s*(.*)$")
_READS = re.compile(r"(\w+)\(([^)]*)\)")


# inside an installed package, beside it in a source tree, which an editable install imports: the copy that the build leaves
# in site-packages is never read
SQL_ROOT = _PACKAGE / "sql" if (_PACKAGE / "sql").is_dir() else _PACKAGE.parent / "sql"

_DIALECTS = {"postgres": "postgres"}  # of the rooms whose queries another database runs
_PLACE = re.compile(r"(?<=FROM |JOIN )(?<!DISTINCT FROM )(\w+)\b( AS\b)?|getvariable\('(\w+)'\)")

AnyQuery: TypeAlias = "Query | exp.Query"
Rows: TypeAlias = "Table | Query | exp.Query"
Tables = Mapping[str, "Table | Query | exp.Query"]


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
        return light(parsed_query(self.text, _DIALECTS.get(self.name.partition("/")[0], "duckdb")))

    @cached_property
    def parts(self) -> list[str]:
        """The text, divided at its places: a piece of text, then for each place a name after FROM or JOIN, AS, the name of a
        value; and text."""
        return _PLACE.split(self.text.strip())

    def filled(self, tables: Tables, values: Mapping[str, Any]) -> Query:
        """The text of the statement with its tables and values in place: parsing and writing it takes as long as running it
        on little data. The tests compare it with the tree."""
        self.check(tables, values)
        parts = self.parts
        written = [parts[0]]
        for table, alias, value, text in zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4], strict=True):
            if value is not None:
                written += [literal(values[value]), text]
            elif table in tables:
                written += [source_text(tables[table]), alias or f" AS {table}", text]
            else:  # a CTE, or a function
                written += [table, alias or "", text]
        return Query("".join(written), f"query {self.name}")

    def check(self, tables: Collection[str], values: Collection[str]) -> None:
        """Check that exactly the tables and values of the header are bound."""
        if set(tables) != set(self.reads) or set(values) != self.params:
            raise InternalError(f"query {self.name} was bound to the wrong tables or values")

    def bind(self, tables: Tables, values: Mapping[str, Any], tree: exp.Query | None = None) -> exp.Query:
        """Return the statement, or a changed copy of its ``tree``, with its tables and values in place; exactly the names of
        the header must be bound."""
        self.check(tables, values)
        tree = tree or self.tree.copy()
        cte_names = {cte.alias for cte in tree.find_all(exp.CTE)}
        calls = list(tree.find_all(exp.Anonymous))
        for node in list(tree.find_all(exp.Table)):
            if not isinstance(node.this, exp.Identifier) or node.db or node.name in cte_names:
                continue  # a CTE, a table function or a qualified system table
            table = source(tables[node.name], node.alias or node.name)
            for key in ("joins", "laterals", "pivots"):
                if node.args.get(key):
                    table.set(key, node.args[key])
            node.replace(table)
        for call in calls:
            if call.name.lower() == "getvariable":
                call.replace(_node(values[call.expressions[0].name]))
        return tree


def _node(value: Any) -> exp.Expr:
    return exp.maybe_parse(value, dialect="duckdb") if isinstance(value, Sql) else exp.convert(value, copy=True)


def tree_of(query: AnyQuery) -> exp.Query:
    """A query as a tree."""
    return query.tree() if isinstance(query, Query) else query


def source_text(rows: Rows) -> str:
    """A table, or a query in parentheses, as a source of rows."""
    if isinstance(rows, Table):
        return rows.sql()
    return f"({rows.text if isinstance(rows, Query) else text_of(rows)})"


def source(rows: Rows, alias: str) -> exp.Expression:
    """A table or query as a source of rows under another name."""
    name = exp.TableAlias(this=exp.to_identifier(alias))
    if isinstance(rows, Table):
        table = rows.expression()
        table.set("alias", name)
        return table
    tree = tree_of(rows)
    return exp.Subquery(this=tree if tree.parent is None else tree.copy(), alias=name)  # copies take a tenth of the time


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


def query_of(name: str, tables: Tables | None = None, values: Mapping[str, Value] = MappingProxyType({})) -> Query:
    """A named query with its tables and values."""
    return load(name).filled(tables or {}, values)


def all_names() -> list[str]:
    """The names of all queries in the package, sorted."""
    return sorted(str(p.relative_to(SQL_ROOT))[:-4] for p in SQL_ROOT.rglob("*.sql"))
