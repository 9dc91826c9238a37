"""What the readers of SELECTs over persons need of the releases: their tables, and answers to plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from anondb.answers.persons.bounds import Bounds, Row
from anondb.answers.persons.domains import Releases
from anondb.query.predicates import Plan


@dataclass(frozen=True)
class Described:
    """A table of persons: the names of its columns in lower case.

    Attributes:
        id, item: the columns of the ids and of the items; none of items in the records.
        lists: whether a row has the list of a person's items.
        nullable: whether a list may be NULL.
        some: whether persons without items may lack a row.
        attributes: the relational attributes.
        part: the column that divides the files, if any.
    """

    id: str
    item: str = ""
    lists: bool = False
    nullable: bool = False
    some: bool = False
    attributes: tuple[str, ...] = ()
    part: str = ""


class Counts(Releases, Protocol):
    """The releases of a session, which answer plans."""

    def described(self, node: exp.Table) -> Described:
        """The columns of a table of persons."""

    def id_column(self, table: exp.Table) -> str | None:
        """The id column of a table of persons, in lower case; None for other tables."""

    def is_aggregate(self, name: str) -> bool:
        """Whether a function of DuckDB computes one value from several rows."""

    def answer(self, plan: Plan) -> Sequence[Row]:
        """The groups of a plan."""

    def put(self, keys: Sequence[str], rows: Mapping[Row, Sequence[Bounds]], width: int) -> exp.Query:
        """Put rows into the session's database; returns a SELECT with a column for each key, and two for each number."""

    def put_listed(self, rows: Sequence[Row], width: int) -> exp.Query:
        """Put the rows of an answer whose key is one text into the database, with its number if ``width`` is 1."""
