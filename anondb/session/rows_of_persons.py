"""What a session asks its releases, and which queries have the rows of single persons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlglot import exp

from anondb.query.parsing import lowered
from anondb.query.predicates import Weights
from anondb.session.aggregates import aggregates
from anondb.session.compiler import Env, with_ctes
from anondb.session.keys import Key
from anondb.session.sources import grouped

Bounds = tuple[float | None, float | None, float | None]
Row = tuple[Any, ...]


class Counts(Protocol):
    """What answers counts of persons: one release, or several of disjoint persons."""

    @property
    def suppressed(self) -> bool:
        """Whether items were suppressed, so that lists of items are not complete."""
        ...

    def id_column(self, table: exp.Table) -> str | None:
        """The id column of a table of persons, in lower case; None for other tables."""
        ...

    @property
    def typed(self) -> bool:
        """Whether the items have another type than text."""
        ...

    def plain(self, labels: frozenset[str]) -> bool:
        """Whether texts are spelled as items of every possible type are."""
        ...

    def answer(self, tree: exp.Select) -> Sequence[Row]:
        """The groups of a query with one count: their keys, then lower bound, estimate and upper bound.

        An answer that is kept is the same object each time.
        """
        ...

    def kind(self, tree: exp.Select, node: exp.Expr) -> Key | None:
        """What a column of the FROM clause is; None if it is nothing to group by."""
        ...

    def parts(self, key: exp.Expr) -> list[tuple[Any, exp.Expr]]:
        """The values of the column that divides the files, each with the condition that a column has it."""
        ...

    def weigh(self, weights: Weights) -> int:
        """Keep a number for each item; returns the number of the mapping."""
        ...

    def group(self, values: list[tuple[Any, exp.Expr, str]]) -> int:
        """Keep values with the conditions that an item has them, and the SQL type; returns the number of the list."""
        ...

    def grouped(self, number: int) -> list[tuple[Any, exp.Expr, str]]:
        """The values that were kept."""
        ...

    def rows(self, tree: exp.Query) -> list[Row]:
        """Run a query on the desk."""
        ...

    @property
    def items(self) -> Sequence[str]:
        """The items that are listed."""
        ...

    @property
    def hidden(self) -> int | None:
        """At most how many different items are not listed; None for any number."""
        ...

    @property
    def may_hold_others(self) -> bool:
        """Whether a person may have an item that is not listed."""
        ...

    def may_hold(self, item: str) -> bool:
        """Whether a person may have an item with this label."""
        ...

    def put(self, keys: Sequence[str], rows: Mapping[Row, Sequence[Bounds]], width: int) -> exp.Query:
        """Put rows on the desk; returns a SELECT with a column for each key (of this type), and three for each count.

        With keys, each row has one count more than ``width``, which tells whether the row is there at all.
        """
        ...

    def put_listed(self, kind: str, rows: Sequence[Row], width: int) -> exp.Query:
        """Put the rows of an answer with one key of a type on the desk, with its count if ``width`` is 1; see ``put``."""
        ...


@dataclass
class RowsOfPersons:
    """Tells which tables and queries have the rows of single persons."""

    counts: Counts

    def of_persons(self, node: exp.Expr, env: Env) -> bool:
        """Whether the rows of a query belong to single persons, so that they cannot be shown."""
        env = with_ctes(node, env, self.of_persons)
        if isinstance(node, exp.Subquery | exp.SetOperation):
            return self.of_persons(node.this, env)
        if not isinstance(node, exp.Select) or not any(self.is_source(s, env) for s in _sources(node)):
            return False
        ids = self._ids(node, env)
        if node.args.get("group") is not None:
            return any(_named(key, ids) for key in grouped(node, lambda column: _named(column, ids)))
        if any(True for part in (*node.expressions, node.args.get("having")) for _ in aggregates(part)):
            return False
        selected = [e.this if isinstance(e, exp.Alias) else e for e in node.expressions]
        return node.args.get("distinct") is None or any(isinstance(e, exp.Star) or _named(e, ids) for e in selected)

    def is_source(self, node: exp.Expr, env: Env) -> bool:
        """Whether a table or subquery in a FROM clause has the rows of single persons."""
        if isinstance(node, exp.Subquery):
            return self.of_persons(node.this, env)
        if not isinstance(node, exp.Table):
            return False
        cte = env.get(lowered(node.name)) if not node.db else None
        return cte.of_persons if cte is not None else self.counts.id_column(node) is not None

    def _ids(self, node: exp.Expr, env: Env) -> frozenset[str]:
        """The names of the id columns of the sources of a SELECT."""
        return frozenset[str]().union(*(self._ids_of(source, env) for source in _sources(node)))

    def _ids_of(self, node: exp.Expr, env: Env) -> frozenset[str]:
        """The names of the id columns of a source."""
        if isinstance(node, exp.Table):
            cte = env.get(lowered(node.name)) if not node.db else None
            if cte is not None:
                return self._ids_of(exp.Subquery(this=cte.node.this, alias=cte.node.args["alias"]), cte.env)
            column = self.counts.id_column(node)
            return frozenset() if column is None else frozenset({column})
        inner: exp.Expr = node.this if isinstance(node, exp.Subquery) else node
        while isinstance(inner, exp.SetOperation | exp.Subquery):
            inner = inner.this
        if not isinstance(inner, exp.Select):
            return frozenset()
        ids, names = self._ids(inner, env), set[str]()
        renamed = (
            [lowered(c.name) for c in (node.args["alias"].args.get("columns") or ())] if node.args.get("alias") else []
        )
        for n, e in enumerate(inner.expressions):
            if isinstance(e, exp.Star):
                names |= ids
            elif _named(e.this if isinstance(e, exp.Alias) else e, ids):
                names.add(renamed[n] if n < len(renamed) else lowered(e.alias_or_name))
        return frozenset(names)


def _sources(node: exp.Expr) -> Iterator[exp.Expr]:
    """The sources of a SELECT."""
    clause = node.args.get("from_")
    if clause is not None:
        yield clause.this
    for join in node.args.get("joins") or ():
        yield join.this


def _named(node: exp.Expr, names: frozenset[str]) -> bool:
    return isinstance(node, exp.Column) and lowered(node.name) in names
