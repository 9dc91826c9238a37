"""Estimates: the mean over possible worlds of the rows of a query, beside the bounds that rules give of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from anondb.answers.first_rows import belonging, certain_first, of_any, placed
from anondb.answers.in_worlds import COPY, NUMBERS, PLACE, WORLD, InWorlds, finite, written
from anondb.answers.ranged.aggregates import counts_rows
from anondb.answers.ranged.relation import IN_WORLDS, INTEGERS, SURE, Column, Ranged
from anondb.answers.role import ZERO
from anondb.answers.spread import HIGH, LOW, Spread, with_spread
from anondb.engine import Table
from anondb.query.parsing import bare

TYPED = (*INTEGERS, "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "UUID")
"""Types of keys that rules may write as texts."""
WORLDS, OUTSIDE, LACKING = "worlds", "outside", "lacking"

KEYLESS_NOTE = "No bounds: several rows have the same keys, so that worlds do not match. One answers; rows may be missing."
APART_NOTE = "No bounds: no key is in half of the worlds, though most have rows. One world answers; rows may be missing."
OUTSIDE_NOTE = (
    "Internal error: an answer of a possible original lies outside of the bounds of this query. The bounds are left out; "
    "please report the query."
)
ZERO_NOTE = "A number has no bounds in a row where it may be divided by 0. Divide by nullif(n, 0)."
ENDS_NOTE = (
    "A number has no bounds in a row where it is NULL, or rules give it no ends, as by a divisor that may be close to 0."
)
SELDOM_NOTE = "Only rows that half of the worlds have are listed; rows may be missing."
FRAME_NOTE = "A number has no bounds where its window may reach a row that need not exist."
_MEAN_LIST = (
    "list_transform(range(1, max(len(cell)) + 1), "
    "lambda place: list_avg(list_transform(list(cell ORDER BY w), lambda one: one[place])))"
)
"""The mean of lists, place by place."""
_MEAN_OF_ALL = """CASE WHEN absent IS NULL THEN total / found WHEN given = 0 THEN NULL
    ELSE (coalesce(total, 0) + (worlds - given) * absent) / nullif(found + worlds - given, 0) END"""
"""The mean where worlds without a row have a value, too, if it is not NULL; NULL where all worlds have NULL."""


@dataclass(frozen=True)
class Estimated:
    """The rows of a query.

    Attributes:
        relation: keys, means over worlds, and bounds.
        tables: the tables on which the rows depend.
        contradicted: whether bounds were left out, since a world has an answer outside of them.
        notes: remarks on the rows.
        called: a note on the ends of a spread, whose columns are ``{low}`` and ``{high}`` in it.
    """

    relation: Ranged
    tables: Sequence[Table]
    contradicted: bool = False
    notes: Sequence[str] = ()
    called: str = ""


@dataclass(frozen=True)
class Estimator(InWorlds):
    """Computes the rows of a query (``in_worlds.InWorlds``).

    Attributes:
        spread: the spread of computed numbers; None where it is not asked for.
    """

    spread: Spread | None = None

    def rows(self, relation: Ranged | None) -> Estimated:
        """The rows of the query: keys, means over worlds, and bounds.

        Args:
            relation: the rows of ``asked.ruled`` with bounds; None where no rule reads the query.

        Raises:
            InputError: DuckDB refuses the query when it computes it.
        """
        tables: list[Table] = []
        try:
            inline = self.inline()
            if inline is not None:
                return self._beside(self._means(inline.subquery("drawn")), relation, tables)
            drawn = self.drawn(tables)
            if self.asked.of_one_world:
                names = [f"c{n}" for n in range(len(self.types))]
                rows = Ranged(exp.select(*names).from_(drawn.expression()).order_by(PLACE), (Column(""),) * len(names))
                return Estimated(rows, tables)
            if self.are_mixed(drawn):
                return self._first_world(drawn, tables, KEYLESS_NOTE)
            if relation is None and self.keys and self._are_apart(drawn):
                return self._first_world(drawn, tables, APART_NOTE)
            return self._beside(self._means(drawn.expression()), relation, tables)
        except BaseException:
            self.engine.drop(*tables)
            raise

    # ---------------------------------------------------------------- worlds

    def _are_apart(self, drawn: Table) -> bool:
        """Whether most worlds keep rows, but no key is that of rows in half of them."""
        kept = [exp.column("kept")] if self.asked.kept else []
        often = self._is_half(exp.Count(this=exp.Distinct(expressions=[exp.column(WORLD)])))
        rows = exp.select(often.as_("often")).from_(drawn.expression()).where(*kept)
        most = self.engine.select(rows, "worlds with rows")["often"].tolist() == [True]
        shared = rows.select(exp.convert(1).as_("one"), append=False).group_by(*self.keys).having(often.copy()).limit(1)
        return most and not len(self.engine.select(shared, "keys of worlds")["one"])

    def _is_half(self, worlds: exp.Expr) -> exp.Expr:
        """The condition that a number of worlds is half of them, or more."""
        return exp.GTE(this=worlds, expression=exp.convert((self.worlds.count + 1) // 2))

    def _first_world(self, drawn: Table, tables: list[Table], note: str) -> Estimated:
        """The rows that the first world keeps, in their order."""
        kept = [exp.column("kept")] if self.asked.kept else []
        unknown = exp.cast(exp.null(), "DOUBLE").as_(IN_WORLDS)
        rows = exp.select("*", unknown).from_(drawn.expression()).where(exp.column(WORLD).eq(exp.convert(0)), *kept)
        table = self.make("rows", rows, tables)
        columns = tuple(Column("") for _ in self.types)
        return Estimated(self._ended(Ranged(rows, columns), table), tables, notes=[note])

    def _means(self, drawn: exp.Expr) -> exp.Select:
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
            listed += [self._mean(n).as_(f"c{n}"), *ends]
        each = exp.select("*", self.copies(WORLD)).from_(drawn).subquery("each")
        return exp.select(*listed).from_(each).group_by(COPY, *self.keys)

    def _mean(self, n: int) -> exp.Expr:
        """The mean of a column over the worlds, of floating numbers in the worlds' order; of other types the most frequent
        value."""
        cell, kind, absent = exp.column(f"c{n}"), self.types[n], self.absent[n]
        if kind.endswith("[]") and kind.startswith(NUMBERS):
            return written(_MEAN_LIST, cell=cell)
        if kind.endswith("]") or not kind.startswith(NUMBERS):
            return exp.Mode(this=exp.Order(this=cell, expressions=[exp.Ordered(this=exp.column(WORLD))]))
        whole = kind in INTEGERS
        number = cell if whole else finite(cell)
        in_order = exp.Order(this=number.copy(), expressions=[exp.Ordered(this=exp.column(WORLD))])
        total = exp.cast(exp.Sum(this=number if whole else in_order), "DOUBLE")
        found, given = (exp.Count(this=one.copy()) for one in (number, cell))  # given: infinite and NaN, too
        parts = {"total": total, "found": found, "given": given, "worlds": exp.convert(self.worlds.count)}
        if absent == ZERO:
            return written("total / worlds", **parts)
        return written("total / found" if absent is None else _MEAN_OF_ALL, absent=finite(absent or ZERO), **parts)

    # ---------------------------------------------------------------- bounds

    def _beside(self, means: exp.Select, relation: Ranged | None, tables: list[Table]) -> Estimated:
        """The means of worlds with the bounds of rules, as rows in their last order."""
        half = self._is_half(exp.column(WORLDS, "m"))
        drawn = means.subquery("m", copy=False)
        ruled_columns = [None] * len(self.types) if relation is None else relation.columns
        columns = tuple(self._column(n, column) for n, column in enumerate(ruled_columns))
        if relation is None:
            return self._often(drawn, columns, tables)
        place = exp.Window(this=exp.RowNumber()).as_(PLACE)
        numbered = exp.select(place, "*").from_(relation.tree.subquery("k"), copy=False).subquery("k", copy=False)
        listing = exp.select("*", self.copies()).from_(numbered, copy=False)
        listing = self._united(listing, relation)
        if any(column.maybe for column in columns):
            ruled = self.make("ruled", listing, tables)
            listing, columns = exp.select("*").from_(ruled.expression()), self._marked(ruled, columns)
        table = self.make("rows", self._joined(drawn, listing, relation, half), tables)
        table, columns = self._spread(table, columns, tables)
        some = [exp.LogicalOr(this=exp.column(name)).as_(name) for name in (OUTSIDE, LACKING)]
        found = self.engine.select(exp.select(*some).from_(table.expression()), "answers outside of bounds, and without any")
        bad, lacking = (found[name].tolist() == [True] for name in (OUTSIDE, LACKING))
        flagged = replace(relation, flagged=relation.flagged or relation.open, columns=columns)
        whole = not (bad or relation.open or self.asked.leading or relation.cut) and len(self.asked.ends) == 1
        notes = certain_first(self.engine, self.asked.ends[0], flagged, table) if whole else []
        ends = [end for end in self.asked.ends if end.ranked is not None or (whole and flagged.flagged)]
        belong = [rows for end in ends if (rows := belonging(end, flagged, table)) is not None]
        before, known = table, flagged
        if belong:
            table = self.make("rows", belong[0], tables)
            flagged = replace(flagged, flagged=True, asked=relation.asked or any(end.ranked for end in ends))
        united = of_any(self.asked.ends, known, before, self.asked.shown, table) if self.asked.ends else None
        table = table if united is None else self.make("rows", united, tables)
        end = self.asked.ends[0] if len(belong) == len(self.asked.ends) == 1 else None
        told = end is not None and (end.ranked is None or not (end.limit or end.offset))
        return Estimated(
            self._ended(flagged, table, told=told), tables, bad, [*(self._reasons() if lacking else []), *notes]
        )

    def _united(self, rows: exp.Select, relation: Ranged) -> exp.Select:
        """The rows that rules list. Where several that need not exist have the same keys, each has the bounds of all of
        them: nothing says which of them a row of a world is."""
        if self.asked.unique or self.asked.listed or not relation.flagged:
            return rows

        def over(call: exp.Expr) -> exp.Window:
            return exp.Window(this=call, partition_by=[exp.column(key) for key in self.keys], over="OVER")

        every: list[exp.Expr] = [over(exp.LogicalAnd(this=exp.column(SURE))).as_(SURE)]
        for n, column in enumerate(relation.columns):
            for end, extreme in (("_l", exp.Min), ("_u", exp.Max)) if column.bounded else ():
                cell = exp.column(f"c{n}{end}")
                without = exp.EQ(this=over(exp.Count(this=cell.copy())), expression=over(exp.Count(this=exp.Star())))
                united = exp.Case(ifs=[exp.If(this=without, true=over(extreme(this=cell.copy())))])
                every.append(united.as_(cell.name))
            if column.bounded and column.maybe:
                mark = exp.func("coalesce", exp.column(f"c{n}_s"), exp.false())
                every.append(over(exp.LogicalAnd(this=mark)).as_(f"c{n}_s"))
        return exp.select(exp.Star(replace=every)).from_(rows.subquery("k"))

    def _column(self, n: int, ruled: Column | None) -> Column:
        """A column as rules have it; a computed number that no rule reads has bounds that are NULL."""
        unread = ruled is None or ruled.unknown
        if self.asked.roles[n].computed and unread and self.types[n].startswith(NUMBERS):
            return replace(ruled or Column(""), bounded=True, unknown=ruled is not None)
        return ruled or Column("", unknown=self.asked.roles[n].computed)

    def _marked(self, ruled: Table, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns; one stays ``maybe`` only if some row has bounds of it and the number may be NULL there."""
        marks = {
            n: exp.or_(exp.column(f"c{n}_s").is_(exp.true()), _has_no_bounds(n))
            for n, column in enumerate(columns)
            if column.maybe
        }
        if not marks:
            return columns
        always = exp.select(*(exp.LogicalAnd(this=mark).as_(f"c{n}") for n, mark in marks.items()))
        rows = self.engine.select(always.from_(ruled.expression()), "numbers that may be NULL")
        return tuple(
            replace(column, maybe=column.maybe and rows[f"c{n}"].tolist() != [True]) for n, column in enumerate(columns)
        )

    def _reasons(self) -> list[str]:
        """Why a number may have bounds in some rows alone: the query divides by what may be 0, or a window counts rows."""
        ruled = self.asked.ruled
        divisors = (bare(quotient.expression) for quotient in ruled.find_all(exp.Div))
        notes = [] if all(isinstance(divisor, exp.Nullif | exp.Literal) for divisor in divisors) else [ZERO_NOTE]
        return notes + [FRAME_NOTE] * any(map(counts_rows, ruled.find_all(exp.WindowSpec))) or [ENDS_NOTE]

    def _often(self, drawn: exp.Subquery, columns: tuple[Column, ...], tables: list[Table]) -> Estimated:
        """The rows of half of the worlds, without bounds."""
        cells = [cell for n, column in enumerate(columns) for cell in _without_bounds(n, column)]
        listed = [exp.column(PLACE, "m"), exp.column(COPY, "m"), self._share(), *cells]
        often = self._is_half(exp.column(WORLDS, "m"))
        table = self.make("rows", exp.select(*listed).from_(drawn, copy=False).where(often), tables)
        table, columns = self._spread(table, columns, tables)
        rows = Ranged(exp.select("*").from_(table.expression()), columns)
        return Estimated(self._ended(rows, table), tables, notes=[SELDOM_NOTE] * bool(self.keys and self.asked.of_worlds))

    def _share(self) -> exp.Expr:
        """The share of the worlds that have a row."""
        number = exp.func("coalesce", exp.column(WORLDS, "m"), exp.convert(0))
        return exp.Div(this=number, expression=exp.convert(self.worlds.count), typed=False, safe=False).as_(IN_WORLDS)

    def _spread(self, table: Table, columns: tuple[Column, ...], tables: list[Table]) -> tuple[Table, tuple[Column, ...]]:
        """The rows with the spread of all numbers that have columns of bounds, if it is asked for."""
        if self.spread is None:
            return table, columns
        roles = zip(columns, self.asked.roles, self.types, strict=True)
        has = [c.bounded and r.computed and t.startswith(NUMBERS) and not t.endswith("]") for c, r, t in roles]
        table = with_spread(self, self.spread, table, [n for n, has_spread in enumerate(has) if has_spread], tables)
        return table, tuple(replace(column, spread=has_spread) for column, has_spread in zip(columns, has, strict=True))

    def _joined(self, drawn: exp.Subquery, ruled: exp.Select, relation: Ranged, half: exp.Expr) -> exp.Select:
        """The rows that rules list, with the means of worlds. Rows that half of the worlds have are added where rules do not
        list all; they alone stay where worlds choose the rows."""
        on = [exp.column(COPY, "b").eq(exp.column(COPY, "m")), *self.same_keys("b", "m")]
        ranked = any(column.unknown for column in relation.columns)  # DuckDB gives rows in the order of their ranks
        sides = {PLACE: "mb" if ranked else "bm", COPY: "bm"}
        either = [exp.func("coalesce", *(exp.column(name, t) for t in of)).as_(name) for name, of in sides.items()]
        listed: list[exp.Expr] = [*either, self._share()]
        outside: list[exp.Expr] = []
        for n, column in enumerate(relation.columns):
            listed += self._cells(n, column, outside)
        here = exp.column(COPY, "b").is_(exp.null()).not_()
        if relation.flagged or relation.open:
            sure = exp.column(SURE, "b") if relation.flagged else here.copy()
            listed.append(exp.func("coalesce", sure, exp.false()).as_(SURE))
        wrong = exp.func("coalesce", exp.or_(*outside), exp.false()) if outside else exp.false()
        numbers = (n for n, column in enumerate(relation.columns) if column.bounded and not column.unknown)
        listed.append(exp.and_(here.copy(), exp.or_(exp.false(), *(_has_no_bounds(n, "b") for n in numbers))).as_(LACKING))
        tree = exp.select(*listed, wrong.as_(OUTSIDE, copy=False)).from_(ruled.subquery("b", copy=False), copy=False)
        how = "full" if self.asked.first else "left"
        tree = tree.join(drawn, on=exp.and_(*on, copy=False), join_type=how, copy=False)
        return tree.where(half if relation.cut else exp.or_(here, half, copy=False), copy=False)

    def _cells(self, n: int, column: Column, outside: list[exp.Expr]) -> list[exp.Expr]:
        """The columns of one column of the query: its value, and its bounds if it has some."""
        value: exp.Expr
        mean: exp.Expr
        value, lower, upper = (exp.column(f"c{n}{end}", "b") for end in ("", "_l", "_u"))
        mean, least, most = (exp.column(f"c{n}{end}", "m") for end in ("", "_l", "_u"))
        role = self.asked.roles[n]
        if not (column.bounded or column.unknown):
            value = value if role.computed else self._key(n)
            if self.asked.first and not role.computed:
                value = exp.func("coalesce", value, mean)
            return [value.as_(f"c{n}")]
        if column.unknown:
            return _without_bounds(n, self._column(n, column))
        if not self.types[n].startswith((*NUMBERS, "DATE", "TIME", "BOOLEAN")) or self.types[n].endswith("]"):
            return [mean.as_(f"c{n}"), lower, upper]
        if column.truth:
            if self.worlds.possible:
                outside.append(exp.or_(exp.LT(this=least, expression=lower), exp.GT(this=most, expression=upper)))
            return [mean, lower, upper]
        if (absent := self.absent[n]) is not None and self.types[n].startswith(NUMBERS):
            keys = {key: self._key(int(key[1:])) for key in self.keys}
            nowhere = _clipped(written(exp.cast(absent, "DOUBLE"), **keys), lower, upper)
            mean = exp.Case(ifs=[exp.If(this=exp.column(COPY, "m").is_(exp.null()), true=nowhere)], default=mean)
        there = mean.copy().is_(exp.null()).not_()
        if not self.worlds.possible:
            return [exp.Case(ifs=[exp.If(this=there, true=_clipped(mean, lower, upper))]).as_(f"c{n}"), lower, upper]
        bad = exp.or_(
            exp.LT(this=least, expression=_aside(lower, -1, self.types[n])),
            exp.GT(this=most, expression=_aside(upper, 1, self.types[n])),
        )
        outside.append(bad)
        within = [exp.Case(ifs=[exp.If(this=bad.copy(), true=exp.null())], default=end) for end in (lower, upper)]
        if self.types[n].startswith(NUMBERS):
            mean = exp.Case(ifs=[exp.If(this=there, true=_clipped(mean, *within))])
        return [mean.as_(f"c{n}"), *(end.as_(f"c{n}{name}") for end, name in zip(within, ("_l", "_u"), strict=True))]

    def _key(self, n: int) -> exp.Expr:
        """A key of the rows that rules list, which may write it as a text."""
        kind, key = self.types[n], exp.column(f"c{n}", "b")
        typed = kind in TYPED or (kind.startswith("DECIMAL(") and kind.endswith(")"))
        return exp.cast(key, kind, dialect="duckdb") if typed else key

    # ---------------------------------------------------------------- the end

    def _ended(self, relation: Ranged, table: Table, *, told: bool = False) -> Ranged:
        """The rows in the order of the query, as many as it shows, and its columns.

        Args:
            relation: the rows.
            table: the table that has them.
            told: whether ``sure`` says for each of them that it is shown.
        """
        rows: exp.Expr = table.expression()
        if self.asked.single:
            relation = replace(relation, flagged=False, asked=False, unsure=False)
        for end in self.asked.ends:
            rows = placed(end, rows)
        cut = any(end.cuts for end in self.asked.ends)
        columns = tuple(relation.columns[n] for n in self.asked.shown)
        listed: list[exp.Expr] = []
        for place, n in enumerate(self.asked.shown):
            ends = ("", *(("_l", "_u") * relation.columns[n].bounded), *((LOW, HIGH) * relation.columns[n].spread))
            listed += [exp.column(f"c{n}{end}").as_(f"c{place}{end}") for end in ends]
        if relation.flagged:
            listed += [(exp.column(SURE) if told or not cut else exp.false()).as_(SURE)]
        listed.append(exp.column(IN_WORLDS))
        shown = exp.select(*listed).from_(rows).order_by(PLACE)
        if self.asked.single:
            one = exp.select(exp.convert(1).as_("one")).subquery("one")
            shown = exp.select("shown.*").from_(one).join(shown.subquery("shown"), on=exp.true(), join_type="left")
        return replace(relation, tree=shown, columns=columns, unsure=relation.unsure and not cut)


def _without_bounds(n: int, column: Column) -> list[exp.Expr]:
    """The columns of a column of the query as worlds have it; if it has columns for bounds, these are NULL."""
    bounds = [exp.cast(exp.null(), "DOUBLE").as_(f"c{n}{end}") for end in ("_l", "_u") if column.bounded]
    return [exp.column(f"c{n}", "m").as_(f"c{n}"), *bounds]


def _has_no_bounds(n: int, source: str | None = None) -> exp.Expr:
    """The condition that a column has no bounds in a row."""
    return exp.and_(*(exp.column(f"c{n}{end}", source).is_(exp.null()) for end in ("_l", "_u")))


def _clipped(mean: exp.Expr, lower: exp.Expr, upper: exp.Expr) -> exp.Expr:
    """An estimate between its bounds; no bound is NULL."""
    return exp.func("least", exp.func("greatest", mean, lower.copy()), upper.copy())


def _aside(end: exp.Expr, sign: int, kind: str) -> exp.Expr:
    """A bound with room for the rounding of floating numbers."""
    if not kind.startswith(NUMBERS) or kind in INTEGERS:
        return end
    number = exp.cast(end, "DOUBLE")
    part = exp.Mul(this=exp.Literal.number("1e-9"), expression=exp.paren(exp.Abs(this=number) + exp.Literal.number(1)))
    room = exp.func("coalesce", finite(exp.paren(part)), exp.Literal.number(0))  # none about an infinite number
    return exp.paren(number + room) if sign > 0 else exp.paren(number - room)
