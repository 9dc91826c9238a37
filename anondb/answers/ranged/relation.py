"""Range-annotated relations: rows that are the same for every consistent original, with bounds of values that are not.

A relation is a SELECT on the session's own database. An exact column number i is there ``c<i>``, and one with bounds is
``c<i>_l`` and ``c<i>_u``, beside ``c<i>_s`` if it may be NULL (``Value.sure``). Where a condition on bounds chose the rows,
all possible ones are there, with one more column: ``sure`` says that the row is certain, which means that it belongs to the
result for every consistent original.

Here are also literals for values of the analyst's tables, and typed errors for what DuckDB refuses while it computes an
answer: they name the construct at fault, without DuckDB's text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import count
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from anondb.answers.ranged.traits import Traits
from anondb.answers.ranged.values import Value, all_sure, check_equal
from anondb.engine.failures import wrap
from anondb.errors import AnondbError
from anondb.query.parsing import lowered
from anondb.query.refusals import only, unsupported

if TYPE_CHECKING:
    import duckdb

SURE, IN_WORLDS = "sure", "in_worlds"
_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
INTEGERS = (*_SIGNED, "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")


@dataclass(frozen=True)
class Column(Traits):
    """A column of a relation, with what is known of all its values.

    Attributes:
        name: its name in the query.
        bounded: whether it has bounds.
        unknown: whether nothing is known of it.
        part: the number of a column of counts of which it is a part, times a number, as for ``Value``.
        maybe: whether its bounds hold where it is not NULL, which it may be, as where nobody is counted.
        spread: whether it has the ends of a spread, ``c<i>_low`` and ``c<i>_high``.
    """

    name: str
    bounded: bool = False
    unknown: bool = False
    part: tuple[int, float] | None = None
    maybe: bool = False
    spread: bool = False


@dataclass(frozen=True)
class Ranged:
    """A range-annotated relation.

    Attributes:
        tree: the SELECT, with the columns described above.
        columns: its columns.
        flagged: whether it has the column ``sure``.
        asked: whether a condition of the query is a reason for that, and not only groups that may be empty.
        unsure: whether one of the groups may be empty.
        open: whether rows may be missing: items that were suppressed are not listed. Such relations are flagged.
        cut: whether what has no bounds, or an order of bounds, chose among the rows, so that worlds say which are shown.
    """

    tree: exp.Query
    columns: tuple[Column, ...]
    flagged: bool = False
    asked: bool = False
    open: bool = False
    unsure: bool = False
    cut: bool = False

    @property
    def exact(self) -> bool:
        """Whether the rows are the same for every consistent original."""
        return not self.flagged and not any(c.bounded or c.unknown for c in self.columns)

    def values(self, alias: str) -> list[tuple[str, Value]]:
        """The names and values of the columns, as the source ``alias`` of a SELECT."""
        return [(c.name, column_value(n, c, alias)) for n, c in enumerate(self.columns)]


def column_value(number: int, column: Column, alias: str) -> Value:
    """The value of a column of a source."""
    ends = [] if column.unknown else [f"c{number}{end}" for end in (("_l", "_u") if column.bounded else ("",))]
    part = None if column.part is None else (exp.column(f"c{column.part[0]}_u", alias), column.part[1])
    sure = exp.column(f"c{number}_s", alias) if column.maybe and column.bounded else None
    return Value(*(exp.column(end, alias) for end in ends), part=part, sure=sure, **column.traits)


def projected(values: Sequence[Value]) -> list[exp.Expr]:
    """The expressions of a SELECT for the columns of a relation."""
    listed: list[exp.Expr] = []
    for n, value in enumerate(values):
        names = [f"c{n}_l", f"c{n}_u", f"c{n}_s"] if value.upper is not None else [f"c{n}"]
        listed += [end.copy().as_(name) for end, name in zip(value.ends or [exp.null()], names, strict=False)]
    return listed


def described(names: Sequence[str], values: Sequence[Value]) -> tuple[Column, ...]:
    """The columns of a relation with these values."""
    ends = [value.upper for value in values]
    wholes = (None if v.part is None or v.part[0] not in ends else (ends.index(v.part[0]), v.part[1]) for v in values)
    return tuple(
        Column(
            name,
            v.upper is not None,
            v.unknown,
            part=part,
            maybe=v.sure is not None and v.upper is not None,
            **v.traits,
        )
        for name, v, part in zip(names, values, wholes, strict=True)
    )


def marked(tree: exp.Query, columns: Sequence[Column]) -> exp.Query:
    """The rows of a relation without its columns ``c<i>_s``, with these: no number that may be NULL is there for certain."""
    marks = [exp.false().as_(f"c{n}_s") for n, column in enumerate(columns) if column.maybe]
    return exp.select("*", *marks).from_(tree.subquery("rows")) if marks else tree


ONE_GROUP = exp.Group(expressions=[exp.Tuple(expressions=[])])
"""GROUP BY (): one group of all rows, also where a SELECT names no aggregate."""
SOME_ROWS = exp.Case(ifs=[exp.If(this=exp.true(), true=exp.Literal.number(1))])
"""A key of GROUP BY that all rows have: one group, if there are rows."""


def star_of(alias: str) -> exp.Column:
    """All columns of a source."""
    return exp.Column(this=exp.Star(), table=exp.to_identifier(alias))


_numbers = count()


def fresh(prefix: str) -> str:
    """A new name in the session's database."""
    return f"{prefix}{next(_numbers)}"


@dataclass
class Sources:
    """The FROM clause of a SELECT over known rows.

    Attributes:
        tree: the SELECT so far, without expressions.
        by_alias: for each source its alias in the query, and its columns.
        sure: the conditions that the row of each flagged source is there.
        asked, open, unsure, cut: as for the sources.
        merged: for the alias of each source with columns that are shown once (USING), those that it has nevertheless.
        totals: the aggregates over all rows that are columns of the rows, if any.
        running: the running totals that are columns of the rows.
    """

    tree: exp.Select = field(default_factory=exp.Select)
    by_alias: list[tuple[str, list[tuple[str, Value]]]] = field(default_factory=list)
    sure: list[exp.Expr] = field(default_factory=list)
    asked: bool = False
    open: bool = False
    unsure: bool = False
    cut: bool = False
    merged: dict[str, dict[str, Value]] = field(default_factory=dict)
    totals: exp.Select | None = None
    running: dict[exp.Expr, Value] = field(default_factory=dict)

    def add(self, relation: Ranged, alias: str) -> exp.Expr:
        """Register a relation; returns it as a source for FROM or JOIN."""
        name = fresh("s")
        self.by_alias.append((lowered(alias), relation.values(name)))
        self.open, self.cut = self.open or relation.open, self.cut or relation.cut
        if relation.flagged:
            self.sure.append(exp.column(SURE, name))
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
        if not listed and name in self.merged.get(table, ()):
            return self.merged[table][name]
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
        equal = exp.EQ(this=one.expression.copy(), expression=other.expression.copy())
        if side in ("RIGHT", "FULL"):  # the column without the name of a table has the values of both sides
            both = exp.Coalesce(this=one.expression.copy(), expressions=[other.expression.copy()])
            before[m : m + 1] = [(left, cs[:n]), ("", [(shown, replace(one, lower=both))]), (left, cs[n + 1 :])]
        for alias, value, kept in ((left, one, side in ("", "LEFT")), (right, other, side == "")):
            self.merged.setdefault(alias, {}).update({name: value} if kept else {})
        self.by_alias = [*before, (right, [(c, v) for c, v in columns if lowered(c) != name])]
        return equal

    def missing(self, side: str) -> None:
        """The rows of the sources before the last one, or of the last one, may be missing in an outer join."""
        last = len(self.by_alias) - 1
        if side in ("RIGHT", "FULL"):
            self.merged = {alias: {} for alias in self.merged}
        for n, (alias, columns) in enumerate(self.by_alias):
            if side == "FULL" or (side == "LEFT" and n == last) or (side == "RIGHT" and n < last):
                self.by_alias[n] = alias, [(c, replace(v, present=False)) for c, v in columns]

    def set_optional(self, sure: exp.Expr, *, flagged: bool) -> None:
        """Let the last source have NULL where LEFT JOIN adds no row: ``sure`` says that there is one, or is NULL."""
        alias, columns = self.by_alias[-1]
        unread = Value(why="a column of rows that counts chose, in an outer join")
        kept = []
        for name, value in columns:
            if value.upper is not None:
                value = replace(value, sure=all_sure(sure, value.sure))
            kept.append((name, unread if value.exact and flagged else value))
        self.by_alias[-1] = alias, kept

    def once(self, value: Value, *, over: bool) -> Value:
        """A value of each row of the only source as columns of it, since bounds of operations repeat their operands.

        Args:
            value: the value; one of other columns stays as it is.
            over: whether it may be a window function.
        """
        clause = self.tree.args.get("from_")
        source = None if clause is None or self.tree.args.get("joins") else clause.this
        columns = [column for end in value.ends for column in end.find_all(exp.Column)]
        windows = any(end.find(exp.Window, exp.AggFunc) for end in value.ends)
        if source is None or (windows and not over) or any(column.table != source.alias for column in columns):
            return value
        return self.widen(value, exp.select(star_of(source.alias)).from_(source), source.alias)

    def widen(self, value: Value, rows: exp.Select, alias: str) -> Value:
        """Let rows with a value as further columns be the only source, of this name; returns the value of these columns."""
        ends = {fresh("w"): end for end in value.ends}
        rows.set("expressions", [*rows.expressions, *(end.copy().as_(name) for name, end in ends.items())])
        self.tree.set("from_", exp.From(this=rows.subquery(alias, copy=False)))
        return value.replaced([exp.column(name, alias) for name in ends])

    def total(self, value: Value) -> Value:
        """An aggregate over all rows of the only source, as columns of its rows: much quicker than a window function."""
        if value.unknown:
            return value
        place = self.tree.args["from_"].this
        if self.totals is None:
            self.totals, alias = exp.select().from_(place.copy()), exp.TableAlias(this=exp.to_identifier(fresh("t")))
            self.totals.set("group", ONE_GROUP.copy())
            joined = exp.select(star_of(place.alias), star_of(alias.name)).from_(place)
            joined.append("joins", exp.Join(this=exp.Subquery(this=self.totals, alias=alias), kind="CROSS"))
            self.tree.set("from_", exp.From(this=joined.subquery(place.alias, copy=False)))
        ends = {fresh("w"): end for end in value.ends}
        for name, end in ends.items():
            self.totals.append("expressions", end.copy().as_(name))
        return value.replaced([exp.column(name, place.alias) for name in ends])


def typeof(value: exp.Expr) -> exp.Expr:
    """The name of the type of an expression."""
    return exp.Anonymous(this="typeof", expressions=[value.copy()])


def constant(value: Any) -> exp.Expr:
    """A value of the session's database as a literal.

    Raises:
        InputError: ``unsupported_query`` for other types than numbers, texts, booleans and dates.
    """
    if value is None or isinstance(value, bool | str):
        return exp.convert(value)
    if isinstance(value, date):  # or a timestamp
        return exp.cast(exp.Literal.string(str(value)), "TIMESTAMP" if isinstance(value, datetime) else "DATE")
    if isinstance(value, int):
        return exp.cast(exp.convert(value), "BIGINT" if abs(value) < 1 << 63 else "HUGEINT")
    if isinstance(value, float):
        return exp.cast(exp.Literal.string(str(value)), "DOUBLE")
    if isinstance(value, Decimal):
        text = format(value, "f")
        scale = len(text.partition(".")[2])
        width = max(len(text.lstrip("-0.").replace(".", "")), scale, 1)
        return exp.cast(exp.Literal.string(text), f"DECIMAL({width}, {scale})")
    raise unsupported("a scalar subquery whose value is not a number, a text, a date or a condition")


OVERFLOW = re.compile(r"Overflow (?:in|on) (?:HUGEINT )?(addition|subtraction|multiplication|negation|division|abs)\b")


def failed(error: duckdb.Error) -> AnondbError:
    """The typed error for a query that DuckDB does not accept or run on the rows of a session.

    DuckDB's text may contain data values; only the fixed words of ``OVERFLOW`` are taken from it.
    """
    wrapped, kind, text = wrap(error, "a query"), type(error).__name__, str(error)
    if wrapped.code != "refused":
        return wrapped
    if kind == "OutOfRangeException":
        operation = OVERFLOW.search(text)
        where = "" if operation is None else f", in {operation[1]}"
        return unsupported(f"a number that does not fit its type{where}", "Use a wider type: CAST(n AS DOUBLE), or 1.0 * n.")
    if kind == "ConversionException":
        return unsupported("CAST of a value that does not fit the type", "Use TRY_CAST, which gives NULL for it.")
    if "Division by zero" in text:
        return unsupported("division by zero, by // or %", "Divide by nullif(n, 0).")
    if kind == "InvalidInputException":
        return unsupported("a function of a value that it does not take", "Leave out such values, or use TRY(...).")
    return unsupported("an expression that DuckDB does not take here", "Write it in another way, or leave it out.")
