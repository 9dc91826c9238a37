"""Which tables and queries have the rows of single persons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.ranged.clauses import places_of
from anondb.answers.ranged.compiler import Env, with_ctes
from anondb.answers.ranged.sources import grouped
from anondb.query.parsing import lowered


class Tables(Protocol):
    """The tables of persons."""

    def id_column(self, table: exp.Table) -> str | None:
        """The id column of a table of persons, in lower case; None for other tables."""
        ...

    def is_aggregate(self, name: str) -> bool:
        """Whether a function of DuckDB computes one value from several rows."""
        ...


@dataclass
class RowsOfPersons:
    """Tells which tables and queries have the rows of single persons."""

    counts: Tables

    def of_persons(self, node: exp.Expr, env: Env, *, once: bool = False) -> bool:
        """Whether the rows of a query belong to single persons, so that they cannot be shown.

        Args:
            node: the query.
            env: the common table expressions that it sees.
            once: whether equal rows are one, as in a set operation around it: then only rows with ids are of persons.
        """
        env = with_ctes(node, env, self.of_persons)
        if isinstance(node, exp.Subquery | exp.SetOperation):
            once = once or bool(isinstance(node, exp.SetOperation) and node.args.get("distinct"))
            return self.of_persons(node.this, env, once=once)
        if not isinstance(node, exp.Select) or not any(self.is_source(p.this, env) for p in places_of(node)):
            return False
        ids = self._ids(node, env)
        if node.args.get("group") is not None:
            return any(_named(key, ids) for key in grouped(node, lambda column: _named(column, ids)))
        if any(has_aggregate(p, self.counts.is_aggregate) for p in (*node.expressions, node.args.get("having"))):
            return False
        selected = [e.unalias() for e in node.expressions]
        return (node.args.get("distinct") is None and not once) or any(
            isinstance(e, exp.Star) or _named(e, ids) for e in selected
        )

    def is_source(self, node: exp.Expr, env: Env) -> bool:
        """Whether a table or subquery in a FROM clause has the rows of single persons."""
        if isinstance(node, exp.Subquery):
            return self.of_persons(node.this, env)
        if not isinstance(node, exp.Table):
            return False
        cte = env.get(lowered(node.name)) if not node.db else None
        return cte.of_persons if cte is not None else self.counts.id_column(node) is not None

    def tables_of(self, node: exp.Expr, env: Env) -> Iterator[exp.Table]:
        """The tables of persons that a query reads, also by the names of common table expressions."""
        for table in node.find_all(exp.Table):
            cte = env.get(lowered(table.name)) if not table.db else None
            if cte is not None:
                yield from self.tables_of(cte.node.this, cte.env)
            elif self.counts.id_column(table) is not None:
                yield table

    def _ids(self, node: exp.Expr, env: Env) -> frozenset[str]:
        """The names of the id columns of the sources of a SELECT."""
        return frozenset[str]().union(*(self.ids_of(place.this, env) for place in places_of(node)))

    def ids_of(self, node: exp.Expr, env: Env) -> frozenset[str]:
        """The names of the id columns of a source."""
        if isinstance(node, exp.Table):
            cte = env.get(lowered(node.name)) if not node.db else None
            if cte is not None:
                return self.ids_of(exp.Subquery(this=cte.node.this, alias=cte.node.args["alias"]), cte.env)
            column = self.counts.id_column(node)
            return frozenset() if column is None else frozenset({column})
        inner: exp.Expr = node.this if isinstance(node, exp.Subquery) else node
        while isinstance(inner, exp.SetOperation | exp.Subquery):
            inner = inner.this
        if not isinstance(inner, exp.Select):
            return frozenset()
        ids, names = self._ids(inner, env), set[str]()
        renamed = [lowered(c.name) for c in (node.args["alias"].args.get("columns") or ())] if node.args.get("alias") else []
        for n, e in enumerate(inner.expressions):
            if isinstance(e, exp.Star):
                names |= ids
            elif _named(e.unalias(), ids):
                names.add(renamed[n] if n < len(renamed) else lowered(e.alias_or_name))
        return frozenset(names)


def _named(node: exp.Expr, names: frozenset[str]) -> bool:
    """Whether an expression is one of some columns, or the first of these that is not NULL, as of a FULL JOIN."""
    if isinstance(node, exp.Coalesce):
        return all(_named(one, names) for one in (node.this, *node.expressions))
    return isinstance(node, exp.Column) and lowered(node.name) in names
