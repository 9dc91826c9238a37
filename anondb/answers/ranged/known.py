"""Known rows: relations whose rows, but not all of whose values, are the same for every consistent original.

A relation is a SELECT on the session's own database, the *desk*. Column number i is there ``c<i>``, with bounds ``c<i>_l``
and ``c<i>_u``; beside bounds, ``c<i>`` is a guess by which rows are ordered and chosen. Where a condition on such a column
chose the rows, all possible ones are there, with two more columns: ``sure`` says that the row belongs to the result for
every consistent original, ``likely`` that it does by the guesses. Analysts see means over possible worlds in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from sqlglot import exp

from anondb.answers.ranged.values import Value, check_equal
from anondb.query.parsing import lowered
from anondb.query.refusals import only, unsupported

SURE, LIKELY, IN_WORLDS = "sure", "likely", "in_worlds"
_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
INTEGERS = (*_SIGNED, "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")


@dataclass(frozen=True)
class Column:
    """A column of a relation.

    Attributes:
        name: its name in the query.
        bounded: whether it has bounds.
        by_estimate: whether it depends on estimates without bounds.
        truth: whether it is a condition with bounds.
        present: whether no value is NULL for any original.
        item, plain, unsigned: as for ``Value``.
        spread: whether it has the ends of a spread, ``c<i>_low`` and ``c<i>_high``.
    """

    name: str
    bounded: bool = False
    by_estimate: bool = False
    truth: bool = False
    present: bool = False
    item: bool = False
    plain: bool = False
    unsigned: bool = False
    spread: bool = False


@dataclass(frozen=True)
class Known:
    """Known rows.

    Attributes:
        tree: the SELECT, with the columns described above.
        columns: its columns.
        flagged: whether it has the columns ``sure`` and ``likely``.
        asked: whether a condition of the query is a reason for that, and not only groups that may be empty.
        unsure: whether one of the groups may be empty.
        open: whether rows may be missing: items that were suppressed are not listed. Such relations are flagged.
    """

    tree: exp.Query
    columns: tuple[Column, ...]
    flagged: bool = False
    asked: bool = False
    open: bool = False
    unsure: bool = False

    @property
    def exact(self) -> bool:
        """Whether the rows are the same for every consistent original."""
        return not self.flagged and not any(c.bounded or c.by_estimate for c in self.columns)

    def values(self, alias: str) -> list[tuple[str, Value]]:
        """The names and values of the columns, as the source ``alias`` of a SELECT."""
        return [(c.name, column_value(n, c, alias)) for n, c in enumerate(self.columns)]


def column_value(number: int, column: Column, alias: str) -> Value:
    """The value of a column of a source."""
    here = [exp.column(f"c{number}{end}", alias) for end in ("", "_l", "_u")]
    if column.bounded:
        return Value(*here, truth=column.truth, present=column.present, unsigned=column.unsigned)
    flags = {name: getattr(column, name) for name in ("by_estimate", "present", "item", "plain")}
    return Value(here[0], **flags)


def projected(values: Sequence[Value]) -> list[exp.Expr]:
    """The expressions of a SELECT for the columns of a relation."""
    listed: list[exp.Expr] = []
    for n, value in enumerate(values):
        listed.append(value.estimate.copy().as_(f"c{n}"))
        if value.lower is not None and value.upper is not None:
            listed += [value.lower.copy().as_(f"c{n}_l"), value.upper.copy().as_(f"c{n}_u")]
    return listed


def described(names: Sequence[str], values: Sequence[Value]) -> tuple[Column, ...]:
    """The columns of a relation with these values."""
    pairs = zip(names, values, strict=True)
    return tuple(
        Column(name, v.lower is not None, v.by_estimate, v.truth, v.present, v.item, v.plain, v.unsigned)
        for name, v in pairs
    )


_numbers = count()


def fresh(prefix: str) -> str:
    """A new name on the desk."""
    return f"{prefix}{next(_numbers)}"


@dataclass
class Sources:
    """The FROM clause of a SELECT over known rows.

    Attributes:
        tree: the SELECT so far, without expressions.
        by_alias: for each source its alias in the query, and its columns.
        sure, likely: the conditions that the row of each flagged source is there.
        asked, open, unsure: as for the sources.
        merged: the aliases of sources with columns that are shown once (USING).
        totals: the aggregates over all rows that are columns of the rows, if any.
    """

    tree: exp.Select = field(default_factory=exp.Select)
    by_alias: list[tuple[str, list[tuple[str, Value]]]] = field(default_factory=list)
    sure: list[exp.Expr] = field(default_factory=list)
    likely: list[exp.Expr] = field(default_factory=list)
    asked: bool = False
    open: bool = False
    unsure: bool = False
    merged: frozenset[str] = frozenset()
    totals: exp.Select | None = None

    def add(self, relation: Known, alias: str) -> exp.Expr:
        """Register a relation; returns it as a source for FROM or JOIN."""
        name = fresh("s")
        self.by_alias.append((alias, relation.values(name)))
        self.open = self.open or relation.open
        if relation.flagged:
            self.sure.append(exp.column(SURE, name))
            self.likely.append(exp.column(LIKELY, name))
            self.asked, self.unsure = self.asked or relation.asked, self.unsure or relation.unsure
        return exp.Subquery(this=relation.tree.copy(), alias=exp.TableAlias(this=exp.to_identifier(name)))

    def column(self, node: exp.Column) -> Value | None:
        """The value of a column by its name; None if no source has it.

        Raises:
            InputError: ``unsupported_query``: several sources have it.
        """
        only(node, "this", "table")
        table, name = lowered(node.table), lowered(node.name)
        listed = [v for alias, cs in self.by_alias if not table or alias == table for n, v in cs if lowered(n) == name]
        if len(listed) > 1:
            raise unsupported(f"the ambiguous column {node.name!r}", "Write table.column.")
        if not listed and table in self.merged:
            raise unsupported(f"the column {node.name!r} of one side of USING", "Write it without its table.")
        return listed[0] if listed else None

    def star(self, table: str = "") -> list[tuple[str, Value]]:
        """The columns of all sources, or of one."""
        if table and lowered(table) in self.merged:
            raise unsupported("table.* of a table joined by USING", "Name the columns.")
        return [column for alias, cs in self.by_alias if not table or alias == lowered(table) for column in cs]

    def shared(self, name: str, side: str) -> exp.Expr:
        """Merge a column that the last source shares with one before (USING), in lower case; returns that they are equal.

        Raises:
            InputError: ``unsupported_query``.
        """
        *before, (right, columns) = self.by_alias
        places = [(m, n) for m, (_, cs) in enumerate(before) for n, (c, _) in enumerate(cs) if lowered(c) == name]
        others = [v for c, v in columns if lowered(c) == name]
        if len(places) != 1 or len(others) != 1:
            raise unsupported(f"USING ({name})")
        m, n = places[0]
        (left, cs), other = before[m], others[0]
        shown, one = cs[n]
        if not one.exact or not other.exact:
            raise unsupported(f"USING ({name})")
        check_equal(one, other)
        equal = exp.EQ(this=one.estimate.copy(), expression=other.estimate.copy())
        if side in ("RIGHT", "FULL"):  # the column without the name of a table has the values of both sides
            both = exp.Coalesce(this=one.estimate.copy(), expressions=[other.estimate.copy()])
            before[m : m + 1] = [(left, cs[:n]), ("", [(shown, replace(one, estimate=both))]), (left, cs[n + 1 :])]
        self.merged |= {left, right}
        self.by_alias = [*before, (right, [(c, v) for c, v in columns if lowered(c) != name])]
        return equal

    def missing(self, side: str) -> None:
        """The rows of the sources before the last one, or of the last one, may be missing in an outer join."""
        last = len(self.by_alias) - 1
        for n, (alias, columns) in enumerate(self.by_alias):
            if side == "FULL" or (side == "LEFT" and n == last) or (side == "RIGHT" and n < last):
                self.by_alias[n] = alias, [(c, replace(v, present=False)) for c, v in columns]

    def total(self, value: Value) -> Value:
        """An aggregate over all rows of the only source, as columns of its rows: much quicker than a window function."""
        place = self.tree.args["from_"].this
        if self.totals is None:
            self.totals, alias = exp.select().from_(place.copy()), exp.TableAlias(this=exp.to_identifier(fresh("t")))
            every = (exp.Column(this=exp.Star(), table=exp.to_identifier(name)) for name in (place.alias, alias.name))
            one = exp.Join(this=exp.Subquery(this=self.totals, alias=alias), kind="CROSS")
            joined = exp.select(*every).from_(place)
            joined.append("joins", one)
            self.tree.set("from_", exp.From(this=joined.subquery(place.alias, copy=False)))
        ends = {fresh("w"): end for end in (value.estimate, value.lower, value.upper) if end is not None}
        for name, end in ends.items():
            self.totals.append("expressions", end.copy().as_(name))
        estimate, *bounds = (exp.column(name, place.alias) for name in ends)
        lower, upper = bounds or (None, None)
        return replace(value, estimate=estimate, lower=lower, upper=upper)
