"""What the readers of SELECTs over persons need of the releases: their tables, and answers to plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlglot import exp

from anondb.answers.persons.bounds import Bounds, Row
from anondb.query.predicates import Plan
from anondb.query.values import Attribute


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


class Counts(Protocol):
    """The releases of a session: what reading a query needs of them, and answers to plans."""

    @property
    def items(self) -> Sequence[str]:
        """The items that are listed."""

    @property
    def suppressed(self) -> bool:
        """Whether items were suppressed, so that lists of items are not complete."""

    @property
    def typed(self) -> bool:
        """Whether the items have another type than text."""

    @property
    def type(self) -> str:
        """The type of the items."""

    @property
    def hidden(self) -> int | None:
        """At most how many different items are not listed; None for any number."""

    @property
    def bags(self) -> bool:
        """Whether persons may have an item several times."""

    @property
    def supported(self) -> bool:
        """Whether releases have item supports, which say more of sums than the rows do."""

    @property
    def summable(self) -> bool:
        """Whether the releases give sums over the items of persons."""

    @property
    def attributes(self) -> Sequence[Attribute]:
        """The relational attributes, with the values of all files; none without records."""

    def domain(self) -> exp.Query:
        """The items that are listed or named, as rows (item, listed) of the session's database."""

    def named(self) -> frozenset[str]:
        """The items of ``domain``."""

    def values_of(self, attribute: str) -> Sequence[Any]:
        """The values that an attribute may have; dates as ISO texts."""

    def rows(self, tree: exp.Query) -> list[tuple[Any, ...]]:
        """Run a query on the session's database."""

    def places(self, condition: exp.Expr) -> frozenset[int]:
        """The files for which a condition on the column that divides them holds."""

    @property
    def part_type(self) -> str:
        """The type in which the values of this column are shown."""

    def parts(self) -> Sequence[Any]:
        """The value of the column that divides the files, in each of them."""

    def described(self, node: exp.Table) -> Described:
        """The columns of a table of persons."""

    def id_column(self, table: exp.Table) -> str | None:
        """The id column of a table of persons, in lower case; None for other tables."""

    def is_aggregate(self, name: str) -> bool:
        """Whether a function of DuckDB computes one value from several rows."""

    def answer(self, plan: Plan) -> Sequence[Row]:
        """The groups of a plan: their keys, then lower bound and upper bound."""

    def put(self, keys: Sequence[str], rows: Mapping[Row, Sequence[Bounds]], width: int) -> exp.Query:
        """Put rows into the session's database; returns a SELECT with a column for each key, and two for each number."""

    def put_listed(self, rows: Sequence[Row], width: int) -> exp.Query:
        """Put the rows of an answer whose key is one text into the database, with its number if ``width`` is 1."""
