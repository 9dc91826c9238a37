"""What the columns of a query are: keys by which rows of several worlds match, computed numbers, and ids of persons.

A query is read from its text and the columns of the tables that it names. Ids of modelled persons must not be compared with
anything but ids of the original's tables: the number of a real person would find a modelled row. ``RoleReader.misused`` says
which construct of a query does so, or uses an id in another way than to count, to group and to match persons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from sqlglot import exp

from anondb.query.parsing import lowered


class Role(Enum):
    """What the values of a column are.

    Attributes:
        KEY: values that no aggregate computes, by which rows match.
        ID: ids of persons.
        TOTAL: counts and sums, which are 0 where there is no row.
        VALUE: what else is computed from several rows.
    """

    KEY = "key"
    ID = "id"
    TOTAL = "total"
    VALUE = "value"

    @property
    def computed(self) -> bool:
        """Whether it is computed from several rows."""
        return self in (Role.TOTAL, Role.VALUE)


@dataclass(frozen=True)
class Relation:
    """The columns of a relation.

    Attributes:
        columns: their names in lower case, and their roles.
        of_persons: whether its rows belong to single persons.
    """

    columns: tuple[tuple[str, Role], ...]
    of_persons: bool = False

    @property
    def has_ids(self) -> bool:
        """Whether one of its columns has ids of persons."""
        return any(role is Role.ID for _, role in self.columns)

    def renamed(self, names: Sequence[str]) -> Relation:
        """The relation with other names for its first columns."""
        named = [lowered(name) for name in names]
        rest = self.columns[len(named) :]
        firsts = zip(named, (role for _, role in self.columns), strict=False)
        return Relation((*firsts, *rest), self.of_persons)


Env = Mapping[str, Relation]
Person = tuple[int, int]


@dataclass
class Scope:
    """The sources of a SELECT, by their aliases; the SELECT around it; and the roles of what it selects.

    ``persons`` says for each source of persons, by its number, which sources have the same person in each row; ``named``
    whether names of what is selected may come before those of columns, as in HAVING; ``tested`` has the numbers of the
    sources of SEMI JOIN and ANTI JOIN, which have no columns in the rows.
    """

    sources: list[tuple[str, Relation]] = field(default_factory=list)
    outer: Scope | None = None
    aliases: dict[str, Role] = field(default_factory=dict)
    persons: dict[int, Person] = field(default_factory=dict)
    named: bool = False
    tested: set[int] = field(default_factory=set)

    @property
    def shown(self) -> list[tuple[str, Relation]]:
        """The sources whose columns the rows have."""
        return [source for n, source in enumerate(self.sources) if n not in self.tested]

    def owners(self, column: exp.Column) -> list[int]:
        """The numbers of the sources that have a column."""
        name, table = lowered(column.name), lowered(column.table)
        return [
            n
            for n, (alias, relation) in enumerate(self.sources)
            if table in ("", alias) and any(other == name for other, _ in relation.columns)
        ]

    def around(self) -> Iterator[Scope]:
        """This scope, and those around it."""
        yield self
        if self.outer is not None:
            yield from self.outer.around()

    def role(self, column: exp.Column) -> Role | None:
        """The role of a column; None if there is no such column."""
        name, table = lowered(column.name), lowered(column.table)
        if self.named and not table and self.aliases.get(name) is Role.ID:
            return Role.ID
        for alias, relation in self.sources:
            if table in ("", alias):
                for other, role in relation.columns:
                    if other == name:
                        return role
        if not table and name in self.aliases:
            return self.aliases[name]
        return None if self.outer is None else self.outer.role(column)


class Functions(Protocol):
    """What RoleReader asks about DuckDB's functions."""

    def is_aggregate(self, name: str) -> bool:
        """Whether a function computes one value from several rows."""
        ...

    def varies(self, tree: exp.Expr) -> bool:
        """Whether a query may have other rows each time, whatever the tables are."""
        ...


def parts_of(part: object) -> list[exp.Expr]:
    """The expressions of a part of a tree, which may be one, a list or none."""
    if isinstance(part, exp.Expr):
        return [part]
    return [node for node in part if isinstance(node, exp.Expr)] if isinstance(part, list) else []
