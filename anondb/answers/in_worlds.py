"""The rows of a query in possible worlds, one world after the other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.answers.asked import Asked, without_filters, without_rows
from anondb.answers.ranged.equivalents import common_table
from anondb.answers.ranged.relation import INTEGERS, failed, fresh
from anondb.answers.role import ZERO, value_of
from anondb.answers.views import current_world
from anondb.engine import DuckDBEngine, Table
from anondb.engine.texts import Sql, creation, sql, text_of
from anondb.engine.untrusted import executed
from anondb.errors import InputError

if TYPE_CHECKING:
    from anondb.answers.tables import Drawn

NUMBERS = (*INTEGERS, "FLOAT", "DOUBLE", "DECIMAL")
"""Types, by their first letters, of which worlds have a mean."""
LOOKED_AT = 4
"""The number of worlds that say which of very many groups may be shown."""
_SETS = ("all", "cube", "grouping_sets", "rollup")
WORLD, PLACE, COPY = "w", "o", "copy"


@dataclass(frozen=True)
class InWorlds:
    """A query that worlds answer.

    Attributes:
        engine: the engine on which the worlds are tables.
        worlds: the worlds.
        asked: the query.
        types: the types of its columns, hidden ones included.
    """

    engine: DuckDBEngine
    worlds: Drawn
    asked: Asked
    types: Sequence[str]

    def make(self, prefix: str, tree: exp.Query, tables: list[Table]) -> Table:
        """Make a table of the rows of a query, which is not used again, and append it to ``tables``."""
        table = Table("memory", "main", fresh(prefix))
        executed(self.engine, creation(table, without_filters(tree)), failed)
        tables.append(table)
        return table

    def drawn(self, tables: list[Table], wanted: Table | None = None) -> Table:
        """The rows of the query in each world: (world, place of the row, columns).

        Args:
            tables: the tables that the query makes; new ones are appended.
            wanted: a table of the keys that matter; None for all.
        """
        every = self.at_once()
        tree = self._rows_of(every)
        same = self.same_keys("q", "wanted")
        if wanted is None and self.asked.leading:
            first, keys = self.asked.ends[0], [exp.column(key, "q") for key in self.keys]
            order = exp.Order(expressions=[term.copy() for term in first.order])
            leading = exp.select(*(key.copy() for key in keys)).from_(self._named(self.asked.drawn.copy()))
            leading = leading.limit(self.asked.leading)
            leading.set("order", order)
            wanted = self.in_each(leading, "leading", tables, LOOKED_AT)
            same = [exp.NullSafeEQ(this=key, expression=exp.column(key.name, "wanted")) for key in keys]
            tree = self._rows_of(every, wanted)
        if wanted is not None and same:
            listed = exp.alias_(wanted.expression(), "wanted", table=True)
            tree = tree.join(listed, on=exp.and_(*same), join_type="semi")
        return self.in_each(tree, "drawn", tables, sys.maxsize if every is None else 1)

    def at_once(self) -> exp.Query | None:
        """The query over all worlds; None where they are asked one by one."""
        return None if self.asked.empty or self.asked.of_one_world else self.worlds.at_once(self.asked.drawn)

    def inline(self) -> exp.Query | None:
        """The same rows as ``drawn``, as a query, where nothing has to look at them first; None where something has."""
        alike = self.asked.unique or self.asked.listed or not any(role.computed for role in self.asked.roles)
        every = self.at_once() if alike and not self.keys else None
        if every is None:
            return None
        tables = (table for table in every.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
        own = any(not table.db and common_table(table) is None for table in tables)  # the search path says where
        return None if own else self._rows_of(every)

    def _rows_of(self, every: exp.Query | None, wanted: Table | None = None) -> exp.Select:
        """The rows of a query over all worlds, or of the query in one of them, with the world and their place in it; those
        of other keys than the wanted ones may be left out."""
        world: exp.Expr = current_world() if every is None else exp.column(WORLD, "q")
        place = exp.Window(this=exp.RowNumber(), partition_by=[] if every is None else [world.copy()])
        cells = [exp.column(name, "q") for name in self._names]
        if every is not None:
            rows = self._named(every, WORLD)
        else:
            rows = self._named(self.asked.drawn.copy() if wanted is None else self._narrowed(wanted))
        return exp.select(world.as_(WORLD), place.as_(PLACE), *cells).from_(rows)

    def _narrowed(self, wanted: Table) -> exp.Expr:
        """The query in a world, which groups no rows with a value that no wanted key has, where groups do not depend on each
        other: with very many groups this saves most of the time."""
        tree = self.asked.drawn.copy()
        group, together = tree.args.get("group"), tree.args.get("limit") or tree.find(exp.Window)
        if not isinstance(tree, exp.Select) or group is None or together or any(map(group.args.get, _SETS)):
            return tree
        if tree.is_star or tree.find(exp.Explode):  # a column that is shown may be none of those that are named
            return tree
        keys = [n for n, role in enumerate(self.asked.roles) if not role.computed]
        absent = [exp.Max(this=exp.column(f"c{n}").is_(exp.null())).as_(f"c{n}") for n in keys]
        has_null = self.engine.select(exp.select(*absent).from_(wanted.expression()), "keys that are NULL")
        for n in keys:
            value, values = tree.selects[n].unalias(), exp.select(f"c{n}").from_(wanted.expression())
            is_grouped = value in group.expressions or exp.Literal.number(n + 1) in group.expressions
            if is_grouped and has_null[f"c{n}"].tolist() == [False]:
                tree = tree.where(exp.In(this=value.copy(), query=values.subquery()), copy=False)
        return tree

    @property
    def _names(self) -> list[str]:
        """The columns of the query in worlds."""
        return [*(f"c{n}" for n in range(len(self.types))), *(["kept"] * self.asked.kept)]

    def _named(self, rows: exp.Expr, *last: str) -> exp.Subquery:
        """The rows of the query in worlds as the source ``q``, with the names of its columns and of the last ones."""
        columns = [exp.to_identifier(name) for name in (*self._names, *last)]
        return exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier("q"), columns=columns))

    def in_each(self, tree: exp.Query, prefix: str, tables: list[Table], most: int = sys.maxsize) -> Table:
        """A table of the rows of a query in all worlds, or in the first ones."""
        table, tree = Table("memory", "main", fresh(prefix)), without_filters(tree)
        if self.asked.empty:
            tree = without_rows({WORLD: "INTEGER", PLACE: "BIGINT"}, self.types, kept=self.asked.kept)
        text = creation(table, tree)
        numbers = range(1 if self.asked.of_one_world else min(self.worlds.count, most))
        try:
            for number in numbers:
                self.worlds.use(number)
                executed(self.engine, text, failed)
                if number:
                    continue
                tables.append(table)
                if len(numbers) > 1:
                    text = sql("INSERT INTO {} {}", table, Sql(text_of(tree)))
        finally:
            self.worlds.use(None)
        return table

    @cached_property
    def absent(self) -> list[exp.Expr | None]:
        """What each column is in a world without the row, of the columns of keys; None where it has no value there."""
        return [self._absent(None if self.asked.conditioned else role.absent) for role in self.asked.roles]

    def _absent(self, absent: exp.Expr | None) -> exp.Expr | None:
        if absent is None or absent == ZERO or isinstance(absent, exp.Placeholder):
            return absent if absent == ZERO else None
        value = value_of(absent, self.keys)
        try:
            asked = exp.select(value).from_(without_rows({}, self.types, kept=False).subquery("none"))
            executed(self.engine, text_of(asked), failed)
        except InputError:  # DuckDB has no such value of a number that is unknown
            return None
        return value

    @property
    def keys(self) -> list[str]:
        """The columns by which rows of several worlds match."""
        return [f"c{n}" for n, role in enumerate(self.asked.roles) if not role.computed]

    def are_mixed(self, drawn: Table) -> bool:
        """Whether rows of a world have the same keys and different numbers: then they do not match between worlds."""
        if self.asked.unique or self.asked.listed or not any(role.computed for role in self.asked.roles):
            return False
        cells = [exp.column(f"c{n}") for n in range(len(self.asked.roles))]
        number = exp.Count(this=exp.Distinct(expressions=[exp.Tuple(expressions=cells)]))
        mixed = exp.select(WORLD).from_(drawn.expression()).group_by(WORLD, *self.keys).having(number > exp.convert(1))
        return len(self.engine.select(mixed.limit(1), "rows that have the same keys")[WORLD]) > 0

    def same_keys(self, one: str, two: str) -> list[exp.Expr]:
        """The conditions that rows of two sources have the same keys, which may be written as texts in one of them."""
        texts = [[exp.cast(exp.column(key, side), "VARCHAR") for side in (one, two)] for key in self.keys]
        return [exp.NullSafeEQ(this=this, expression=that) for this, that in texts]

    def copies(self, *parts: str) -> exp.Expr:
        """The number of a row among those with the same keys."""
        if self.asked.unique:
            return exp.convert(1).as_(COPY)
        by = [exp.column(name) for name in (*parts, *self.keys)]
        order = exp.Order(expressions=[exp.Ordered(this=exp.column(PLACE))])
        return exp.Window(this=exp.RowNumber(), partition_by=by, order=order).as_(COPY)


def finite(cell: exp.Expr) -> exp.Expr:
    """A floating number; NULL if it is infinite or NaN, such as a quotient by 0."""
    number = exp.cast(cell.copy(), "DOUBLE")
    return exp.Case(ifs=[exp.If(this=exp.Anonymous(this="isfinite", expressions=[number]), true=number.copy())])


def written(text: str | exp.Expr, **parts: exp.Expr) -> exp.Expr:
    """An expression, or that of a text, with expressions in place of the columns of these names."""

    def inserted(node: exp.Expr) -> exp.Expr:
        part = parts.get(node.name) if isinstance(node, exp.Column) else None
        return node if part is None else exp.paren(part.copy())

    return exp.maybe_parse(text, dialect="duckdb").transform(inserted)
