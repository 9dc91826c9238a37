"""Estimates: the mean over possible worlds of the rows of a query, beside the bounds that rules give of the same rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlglot import exp

from anondb.answers.asked import Asked
from anondb.answers.drawn_rows import are_mixed, without_filters, without_rows
from anondb.answers.ends import End
from anondb.answers.first_rows import certain_first
from anondb.answers.ranged.failing import failed
from anondb.answers.ranged.known import INTEGERS, LIKELY, SURE, Column, Known, fresh
from anondb.answers.roles import Role
from anondb.answers.views import schema_of
from anondb.engine import DuckDBEngine, Table
from anondb.engine.untrusted import executed

NUMBERS = (*INTEGERS, "FLOAT", "DOUBLE", "DECIMAL")
"""Types, by their first letters, of which worlds have a mean."""
TYPED = (*INTEGERS, "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "UUID")
"""Types of keys that rules may write as texts."""
LOOKED_AT = 4
"""Worlds in which it is looked up which of very many groups may be shown."""
WORLD, PLACE, COPY, WORLDS, OUTSIDE = "w", "o", "copy", "worlds", "outside"

KEYLESS_NOTE = (
    "No bounds: several rows have the same keys, so that rows do not match between worlds. One world answers."
)
OUTSIDE_NOTE = (
    "Internal error: an answer of a possible original lies outside of the bounds of this query. The bounds are left out; "
    "please report the query."
)


class Drawn(Protocol):
    """Possible worlds as tables."""

    @property
    def count(self) -> int:
        """The number of worlds."""
        ...

    @property
    def possible(self) -> bool:
        """Whether each is a possible original, so that its answers lie within all bounds."""
        ...

    def draw(self, items: frozenset[str] | None) -> None:
        """Draw what a query needs: who holds these items, or, for None, all of them."""
        ...

    def use(self, world: int | None) -> None:
        """Make the tables of a world those that a query names; without a number, leave the worlds."""
        ...


@dataclass(frozen=True)
class Estimated:
    """The rows of a query.

    Attributes:
        known: keys, means over worlds, and bounds.
        tables: the tables on which the rows depend.
        contradicted: whether bounds were left out, since a world has an answer outside of them.
        notes: remarks on the rows.
    """

    known: Known
    tables: Sequence[Table]
    contradicted: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Estimator:
    """Computes the rows of a query.

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

    def rows(self, known: Known | None, *, chosen: bool = False) -> Estimated:
        """The rows of the query: keys, means over worlds, and bounds.

        Args:
            known: the rows of ``asked.ruled`` with bounds; None where no rule reads the query.
            chosen: whether estimates chose these rows, so that others may be rows of the query.

        Raises:
            InputError: DuckDB refuses the query when it computes it.
        """
        made: list[Table] = []
        try:
            drawn = self._drawn(made)
            if self.asked.of_one_world:
                names = [f"c{n}" for n in range(len(self.types))]
                rows = Known(exp.select(*names).from_(drawn.expression()).order_by(PLACE), (Column(""),) * len(names))
                return Estimated(rows, made)
            if are_mixed(self.engine, self.asked, drawn, WORLD):
                return self._first_world(drawn, made)
            return self._beside(self._means(drawn), known, made, chosen)
        except BaseException:
            self.engine.drop(*made)
            raise

    # ---------------------------------------------------------------- worlds

    def _make(self, prefix: str, tree: exp.Query, made: list[Table]) -> Table:
        """A table of the rows of a query."""
        table, tree = Table("memory", "main", fresh(prefix)), without_filters(tree)
        executed(self.engine, exp.Create(this=table.expression(), kind="TABLE", expression=tree).sql("duckdb"), failed)
        made.append(table)
        return table

    def _drawn(self, made: list[Table]) -> Table:
        """The rows of the query in each world: (world, place of the row, columns)."""
        names = [*(f"c{n}" for n in range(len(self.types))), *(["kept"] * self.asked.kept)]
        alias = exp.TableAlias(this=exp.to_identifier("q"), columns=[exp.to_identifier(n) for n in names])
        rows = exp.Subquery(this=self.asked.drawn.copy(), alias=alias)
        schema = exp.Anonymous(this="current_schema")
        number = exp.func("replace", schema, exp.Literal.string(schema_of("")), exp.Literal.string(""))
        world = exp.TryCast(this=number, to=exp.DataType.build("INTEGER"))
        place = exp.Window(this=exp.RowNumber())
        tree = exp.select(world.as_(WORLD), place.as_(PLACE), exp.Column(this=exp.Star(), table="q")).from_(rows)
        if self.asked.leading:
            first, keys = self.asked.ends[0], [exp.column(key, "q") for key in self._keys]
            order = exp.Order(expressions=[term.copy() for term in first.order])
            leading = exp.select(*(key.copy() for key in keys)).from_(rows.copy()).limit(self.asked.leading)
            leading.set("order", order)
            found = self._in_each(leading, "leading", made, most=LOOKED_AT)
            same = [exp.NullSafeEQ(this=key, expression=exp.column(key.name, "found")) for key in keys]
            tree = tree.join(exp.alias_(found.expression(), "found", table=True), on=exp.and_(*same), join_type="semi")
        return self._in_each(tree, "drawn", made)

    def _in_each(self, tree: exp.Query, prefix: str, made: list[Table], most: int = sys.maxsize) -> Table:
        """A table of the rows of a query in all worlds, or in the first ones."""
        table, tree = Table("memory", "main", fresh(prefix)), without_filters(tree)
        if self.asked.empty:
            tree = without_rows({WORLD: "INTEGER", PLACE: "BIGINT"}, self.types, kept=self.asked.kept)
        create = exp.Create(this=table.expression(), kind="TABLE", expression=tree).sql("duckdb")
        insert = exp.Insert(this=table.expression(), expression=tree).sql("duckdb")
        try:
            for number in range(1 if self.asked.of_one_world else min(self.worlds.count, most)):
                self.worlds.use(number)
                executed(self.engine, insert if number else create, failed)
                if not number:
                    made.append(table)
        finally:
            self.worlds.use(None)
        return table

    def _first_world(self, drawn: Table, made: list[Table]) -> Estimated:
        """The rows that the first world keeps, in their order."""
        kept = [exp.column("kept")] if self.asked.kept else []
        rows = exp.select("*").from_(drawn.expression()).where(exp.column(WORLD).eq(exp.convert(0)), *kept)
        table = self._make("rows", rows, made)
        columns = tuple(Column("") for _ in self.types)
        return Estimated(self._ended(Known(rows, columns), table), made, notes=[KEYLESS_NOTE])

    @property
    def _keys(self) -> list[str]:
        return [f"c{n}" for n, role in enumerate(self.asked.roles) if not role.computed]

    def _copies(self, *parts: str) -> exp.Expr:
        """The number of a row among those with the same keys."""
        if self.asked.unique:
            return exp.convert(1).as_(COPY)
        by = [exp.column(name) for name in (*parts, *self._keys)]
        order = exp.Order(expressions=[exp.Ordered(this=exp.column(PLACE))])
        return exp.Window(this=exp.RowNumber(), partition_by=by, order=order).as_(COPY)

    def _means(self, drawn: Table) -> exp.Select:
        """One row for each key: its means with the ends over worlds, and the number of worlds that keep it."""
        kept = exp.column("kept") if self.asked.kept else exp.true()
        listed: list[exp.Expr] = [exp.column(COPY), exp.CountIf(this=kept).as_(WORLDS)]
        listed.append(exp.Min(this=exp.column(PLACE)).as_(PLACE))
        for n, role in enumerate(self.asked.roles):
            cell = exp.column(f"c{n}")
            if not role.computed:
                listed.append(cell)
                continue
            ends = [exp.Min(this=cell.copy()).as_(f"c{n}_l"), exp.Max(this=cell.copy()).as_(f"c{n}_u")]
            listed += [self._mean(cell, role, self.types[n]).as_(f"c{n}"), *ends]
        each = exp.select("*", self._copies(WORLD)).from_(drawn.expression()).subquery("each")
        return exp.select(*listed).from_(each).group_by(COPY, *self._keys)

    def _mean(self, cell: exp.Expr, role: Role, kind: str) -> exp.Expr:
        """The mean over the worlds, of floating numbers in the worlds' order; of other types the most frequent value."""
        if kind.endswith("[]") and kind.startswith(NUMBERS):
            return _mean_list(cell)
        if kind.endswith("]") or not kind.startswith(NUMBERS):
            return exp.Mode(this=cell.copy())
        whole = kind in INTEGERS
        number = cell.copy() if whole else _finite(cell)
        in_order = exp.Order(this=number, expressions=[exp.Ordered(this=exp.column(WORLD))])
        total = exp.cast(exp.Sum(this=number if whole else in_order), "DOUBLE")
        everywhere = role is Role.TOTAL and not self.asked.conditioned
        of: exp.Expr = exp.convert(self.worlds.count) if everywhere else exp.Count(this=number.copy())
        return exp.Div(this=total, expression=of, typed=False, safe=False)

    # ---------------------------------------------------------------- bounds

    def _beside(self, means: exp.Select, known: Known | None, made: list[Table], chosen: bool) -> Estimated:
        """The means of worlds with the bounds of rules, as rows in their last order."""
        half = exp.GTE(this=exp.column(WORLDS, "m"), expression=exp.convert((self.worlds.count + 1) // 2))
        drawn = means.subquery("m")
        columns = tuple(
            map(self._column, range(len(self.types)), [None] * len(self.types) if known is None else known.columns)
        )
        if known is None:
            listed = [exp.column(PLACE, "m"), *self._of_worlds(columns)]
            table = self._make("rows", exp.select(*listed).from_(drawn).where(half), made)
            return Estimated(self._ended(Known(exp.select("*").from_(table.expression()), columns), table), made)
        numbered = exp.select(exp.Window(this=exp.RowNumber()).as_(PLACE), "*").from_(known.tree.subquery("k"))
        ruled = self._make("ruled", exp.select("*", self._copies()).from_(numbered.subquery("k")), made)
        table = self._make("rows", self._joined(drawn, ruled, known, half, chosen), made)
        outside = exp.select(exp.LogicalOr(this=exp.column(OUTSIDE)).as_(OUTSIDE)).from_(table.expression())
        flagged = replace(known, flagged=known.flagged or known.open, columns=columns)
        bad = self.engine.select(outside, "answers of worlds outside of bounds")[OUTSIDE].tolist() == [True]
        whole = not (bad or known.open or self.asked.leading) and len(self.asked.ends) == 1
        notes = certain_first(self.engine, self.asked.ends[0], flagged, table) if whole else []
        return Estimated(self._ended(flagged, table), made, bad, notes)

    def _column(self, n: int, ruled: Column | None) -> Column:
        """What is known of a column; a computed number that no rule reads has bounds that are NULL."""
        unread = ruled is None or ruled.by_estimate
        if self.asked.roles[n].computed and unread and self.types[n].startswith(NUMBERS):
            return Column("", bounded=True, by_estimate=ruled is not None)
        return ruled or Column("", by_estimate=self.asked.roles[n].computed)

    @staticmethod
    def _of_worlds(columns: Sequence[Column]) -> list[exp.Expr]:
        listed: list[exp.Expr] = []
        for n, column in enumerate(columns):
            listed.append(exp.column(f"c{n}", "m"))
            ends = ("_l", "_u") if column.bounded else ()
            listed += [_nothing().as_(f"c{n}{end}") for end in ends]
        return listed

    def _joined(self, drawn: exp.Subquery, ruled: Table, known: Known, half: exp.Expr, chosen: bool) -> exp.Select:
        """Each row that rules list, and, where estimates chose these, those that half of the worlds have."""
        on: list[exp.Expr] = [exp.column(COPY, "b").eq(exp.column(COPY, "m"))]
        for key in self._keys:
            one, two = (exp.cast(exp.column(key, side), "VARCHAR") for side in "bm")
            on.append(exp.NullSafeEQ(this=one, expression=two))
        place = exp.func("coalesce", exp.column(PLACE, "b"), exp.column(PLACE, "m")).as_(PLACE)
        listed: list[exp.Expr] = [place]
        outside: list[exp.Expr] = []
        for n, column in enumerate(known.columns):
            listed += self._cells(n, column, chosen, outside)
        here = exp.column(COPY, "b").is_(exp.null()).not_()
        if known.flagged or known.open:
            sure = exp.column(SURE, "b") if known.flagged else here.copy()
            listed.append(exp.func("coalesce", sure, exp.false()).as_(SURE))
            listed.append(exp.func("coalesce", half.copy(), exp.false()).as_(LIKELY))
        wrong = exp.func("coalesce", exp.or_(*outside), exp.false()) if outside else exp.false()
        tree = exp.select(*listed, wrong.as_(OUTSIDE)).from_(exp.alias_(ruled.expression(), "b", table=True))
        tree = tree.join(drawn, on=exp.and_(*on), join_type="full" if chosen else "left")
        return tree.where(exp.or_(here, half.copy())) if chosen else tree

    def _cells(self, n: int, column: Column, chosen: bool, outside: list[exp.Expr]) -> list[exp.Expr]:
        """The columns of one column of the query: its value, and its bounds if it has some."""
        value: exp.Expr
        value, lower, upper = (exp.column(f"c{n}{end}", "b") for end in ("", "_l", "_u"))
        mean: exp.Expr
        mean, least, most = (exp.column(f"c{n}{end}", "m") for end in ("", "_l", "_u"))
        role = self.asked.roles[n]
        if not role.computed or not (column.bounded or column.by_estimate):
            if not role.computed and not column.bounded and self.types[n] in TYPED:
                value = exp.cast(value, self.types[n]).as_(f"c{n}")
            if chosen and not role.computed:
                value = exp.func("coalesce", value.unalias(), mean).as_(f"c{n}")
            return [value, *([lower, upper] if column.bounded else [])]
        if column.by_estimate:
            ends = ("_l", "_u") if self._column(n, column).bounded else ()
            return [mean.as_(f"c{n}"), *(_nothing().as_(f"c{n}{end}") for end in ends)]
        if not self.types[n].startswith((*NUMBERS, "DATE", "TIME", "BOOLEAN")) or self.types[n].endswith("]"):
            return [mean.as_(f"c{n}"), lower, upper]
        if column.truth:
            if self.worlds.possible:
                outside.append(exp.or_(exp.LT(this=least, expression=lower), exp.GT(this=most, expression=upper)))
            return [value, lower, upper]
        absent = role is Role.TOTAL and not self.asked.conditioned
        if absent and self.types[n].startswith(NUMBERS):
            nowhere = exp.column(COPY, "m").is_(exp.null())
            mean = exp.Case(ifs=[exp.If(this=nowhere, true=exp.Literal.number("0.0"))], default=mean)
        if not self.worlds.possible:
            return [_clipped(mean, lower, upper).as_(f"c{n}"), lower, upper]
        bad = exp.or_(
            exp.LT(this=least, expression=_aside(lower, -1, self.types[n])),
            exp.GT(this=most, expression=_aside(upper, 1, self.types[n])),
        )
        outside.append(bad)
        within = [exp.Case(ifs=[exp.If(this=bad.copy(), true=exp.null())], default=end) for end in (lower, upper)]
        rounded = _clipped(mean, *within) if self.types[n].startswith(("FLOAT", "DOUBLE")) else mean
        return [rounded.as_(f"c{n}"), *(end.as_(f"c{n}{name}") for end, name in zip(within, ("_l", "_u"), strict=True))]

    # ---------------------------------------------------------------- the end

    def _ended(self, known: Known, table: Table) -> Known:
        """The rows in the order of the query, as many as it shows, and its columns."""
        rows: exp.Expr = table.expression()
        for end in self.asked.ends:
            rows = self._placed(end, rows)
        cut = any(end.cuts for end in self.asked.ends)
        columns = tuple(known.columns[n] for n in self.asked.shown)
        listed: list[exp.Expr] = []
        for place, n in enumerate(self.asked.shown):
            ends = ("", "_l", "_u") if known.columns[n].bounded else ("",)
            listed += [exp.column(f"c{n}{end}").as_(f"c{place}{end}") for end in ends]
        if known.flagged:
            listed += [(exp.false() if cut else exp.column(SURE)).as_(SURE), exp.column(LIKELY)]
        shown = exp.select(*listed).from_(rows).order_by(PLACE)
        return replace(known, tree=shown, columns=columns, unsure=known.unsure and not cut)

    @staticmethod
    def _placed(end: End, rows: exp.Expr) -> exp.Subquery:
        """The rows that an end leaves, with their places in its order."""
        order = exp.Order(expressions=[*(term.copy() for term in end.order), exp.Ordered(this=exp.column(PLACE))])
        place = exp.Window(this=exp.RowNumber(), order=order).as_(PLACE)
        ordered = exp.select(exp.Star(replace=[place])).from_(rows)
        if end.ranked is not None:
            ordered.set("qualify", exp.Qualify(this=_tied(end.ranked)))
        tree = exp.select("*").from_(ordered.subquery("ordered")).order_by(PLACE)
        for key, part in (("limit", end.limit), ("offset", end.offset)):
            tree.set(key, part.copy() if part is not None else None)
        return tree.subquery("ended")


_LISTS = (
    "list_transform(range(1, max(len(cell)) + 1), "
    "lambda place: list_avg(list_transform(list(cell ORDER BY w), lambda one: one[place])))"
)


def _mean_list(cell: exp.Expr) -> exp.Expr:
    """The mean of lists, place by place."""

    def inserted(node: exp.Expr) -> exp.Expr:
        return cell.copy() if isinstance(node, exp.Column) and node.name == "cell" else node

    return exp.maybe_parse(_LISTS, dialect="duckdb").transform(inserted)


def _tied(ranked: exp.Expr) -> exp.Expr:
    """A condition on ranks in which equal rows are numbered in their order."""
    made = ranked.copy()
    for window in made.find_all(exp.Window):
        if isinstance(window.this, exp.RowNumber):
            order = window.args.get("order") or exp.Order(expressions=[])
            order.append("expressions", exp.Ordered(this=exp.column(PLACE)))
            window.set("order", order)
    return made


def _finite(cell: exp.Expr) -> exp.Expr:
    """A floating number; NULL if it is infinite or NaN, such as a quotient by 0."""
    number = exp.cast(cell.copy(), "DOUBLE")
    return exp.Case(ifs=[exp.If(this=exp.Anonymous(this="isfinite", expressions=[number]), true=number.copy())])


def _nothing() -> exp.Expr:
    """A bound that does not exist."""
    return exp.cast(exp.null(), "DOUBLE")


def _clipped(mean: exp.Expr, lower: exp.Expr, upper: exp.Expr) -> exp.Expr:
    """An estimate between its bounds; no bound is NULL."""
    return exp.func("least", exp.func("greatest", mean, lower.copy()), upper.copy())


def _aside(end: exp.Expr, sign: int, kind: str) -> exp.Expr:
    """A bound with room for the rounding of floating numbers."""
    if not kind.startswith(NUMBERS) or kind in INTEGERS:
        return end
    number = exp.cast(end, "DOUBLE")
    room = exp.Mul(this=exp.Literal.number("1e-9"), expression=exp.paren(exp.Abs(this=number) + exp.Literal.number(1)))
    return exp.paren(number + room) if sign > 0 else exp.paren(number - room)
