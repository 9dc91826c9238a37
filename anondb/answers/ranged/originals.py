"""What the rules of the normal form take from the original's tables, and how they write a query."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from sqlglot import exp

from anondb.answers.roles import AnalystTables
from anondb.query.parsing import is_null, lowered


@dataclass(frozen=True)
class Originals:
    """The tables of a query: the original's, and the analyst's.

    Attributes:
        columns: the columns of each table of the original, in lower case, and whether one is the id.
        own: the columns of the analyst's tables, in lower case.
        persons: the table of persons and their items; others have one row for each person.
        item: its column of items, in lower case: a person has each item once, and none is NULL.
        nullable: the columns of the original's tables that may be NULL, in lower case.
        analyst: the analyst's tables.
    """

    columns: Mapping[str, Mapping[str, bool]]
    own: Mapping[str, Collection[str]]
    persons: str
    item: str
    nullable: Collection[str]
    analyst: AnalystTables

    @property
    def ids(self) -> set[str]:
        """The names of the columns of ids."""
        return {name for of in self.columns.values() for name, is_id in of.items() if is_id}

    def names_of(self, table: exp.Expr) -> Collection[str]:
        """The columns of a table of the original, or of the analyst; empty for other sources."""
        plain = isinstance(table, exp.Table) and not table.db
        return (self.columns.get(lowered(table.name)) or self.own.get(lowered(table.name), ())) if plain else ()

    def present(self, table: exp.Table, name: str) -> bool | None:
        """Whether a column of a table, in lower case, is never NULL; None if the table has no such column."""
        columns = self.own.get(lowered(table.name)) or self.columns.get(lowered(table.name)) or ()
        if table.db or name not in columns:
            return None if columns and not table.db else False
        missing = exp.select("1").from_(exp.Table(this=table.this.copy())).where(is_null(exp.column(name, quoted=True)))
        of_analyst = lowered(table.name) in self.own
        return not self.analyst.rows(missing.limit(1)) if of_analyst else name not in self.nullable

    def record(self, table: exp.Expr) -> str | None:
        """The id of a table with one row for each person; None for other sources."""
        name = lowered(table.name) if isinstance(table, exp.Table) and not table.db else self.persons
        return None if name == self.persons else self.id_of(name)

    def id_of(self, name: str) -> str | None:
        """The id of a table, if it has one."""
        ids = [column for column, is_id in self.columns.get(name, {}).items() if is_id]
        return ids[0] if len(ids) == 1 else None


Rule = Callable[[exp.Expr, Originals], exp.Expr]
"""Writes a query as another one with the same result."""


def rule(
    *needed: type[exp.Expr] | tuple[type[exp.Expr], ...], of: type[exp.Expr] = exp.Select, inner_first: bool = False
) -> Callable[[Callable[[Any, Originals], exp.Expr | None]], Rule]:
    """Make a rule of a function that gets each SELECT, changes it, or returns what takes its place.

    Args:
        needed: kinds of nodes; a query without one of each stays as it is.
        of: the kind of nodes that the function gets, if not SELECT.
        inner_first: whether it gets inner ones first.
    """

    def made(write: Callable[[Any, Originals], exp.Expr | None]) -> Rule:
        @wraps(write)
        def written(tree: exp.Expr, originals: Originals) -> exp.Expr:
            if any(tree.find(*(kind if isinstance(kind, tuple) else (kind,))) is None for kind in needed):
                return tree
            copy = tree.copy()
            nodes = list(copy.find_all(of))
            for node in reversed(nodes) if inner_first else nodes:
                other = write(node, originals)
                if other is not None and node is copy:
                    copy = other
                elif other is not None:
                    node.replace(other)
            return copy

        return written

    return made
