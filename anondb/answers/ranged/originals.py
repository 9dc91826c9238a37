"""What the rules of the normal form take from the original's tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp

from anondb.answers.ranged.never_null import Present
from anondb.query.parsing import lowered


@dataclass(frozen=True)
class Originals:
    """The original's tables.

    Attributes:
        columns: the columns of each, in lower case, and whether one is the id.
        own: the columns of the analyst's tables, in lower case.
        persons: the table of persons and their items; others have one row for each person.
        present: whether a column of a table is never NULL; None if the table has no such column.
    """

    columns: Mapping[str, Mapping[str, bool]]
    own: Mapping[str, Collection[str]]
    persons: str
    present: Present

    def names_of(self, table: exp.Expr) -> Collection[str]:
        """The columns of a table of the original, or of the analyst; empty for other sources."""
        plain = isinstance(table, exp.Table) and not table.db
        return (self.columns.get(lowered(table.name)) or self.own.get(lowered(table.name), ())) if plain else ()

    def record(self, table: exp.Expr) -> str | None:
        """The id of a table with one row for each person; None for other sources."""
        name = lowered(table.name) if isinstance(table, exp.Table) and not table.db else self.persons
        return None if name == self.persons else self.id_of(name)

    def id_of(self, name: str) -> str | None:
        """The id of a table, if it has one."""
        ids = [column for column, is_id in self.columns.get(name, {}).items() if is_id]
        return ids[0] if len(ids) == 1 else None
