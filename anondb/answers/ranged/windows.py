"""Window functions of one SELECT over known rows: totals, ranks, running totals, and what rows have beside others.

Running totals and ranks in an order of estimates: aggregates over the rows up to a row, for certain or possibly.

The frame of a row has the rows before it, those that no term of the order tells from it, and the row itself. A row comes
before another by the first term that differs, so d comes up to r by the terms x, y if ``d.x < r.x OR (d.x <= r.x AND
d.y <= r.y)``. Where this is certain, and d is there for certain, d is in the frame of r for certain; where it is not
possible, it is not. The row itself always is, wherever there is anything to say of it. What counts rows (ROWS) takes equal
rows in any order, so that a row that no term need tell from r is in its frame possibly, and not for certain. A rank is one
more than the number of rows before a row, without those that no term tells from it (EXCLUDE GROUP).

The number of the k-th row before or after each row, where some rows may be absent: ``lag(n, 12) OVER (ORDER BY month)``.

It is that of one of the rows from the k-th to the k-th of those that are there for certain, and lies between the least and
the greatest of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from sqlglot import exp

from anondb.answers.persons.counts import Counts
from anondb.answers.quotients import filtered
from anondb.answers.ranged.aggregates import AGGREGATES, PLACES, Rows, as_quotient, over_all
from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.equivalents import FRAME, frame_of, terms_of_order
from anondb.answers.ranged.expressions import Resolve, computed, read
from anondb.answers.ranged.relation import ONE_GROUP, Sources, fresh, star_of
from anondb.answers.ranged.rollups import total_of_rows
from anondb.answers.ranged.subqueries import scalar
from anondb.answers.ranged.truths import compared, connected
from anondb.answers.ranged.values import Value, greatest, holds, narrowed, of_value, when
from anondb.query.parsing import is_null

_BY_PLACE = (*PLACES, exp.RowNumber, exp.Ntile)
"""Window functions of the places of rows, of which equal ones have any."""
_ROWS = exp.Count(this=exp.Star(), big_int=True)
ORDER_NOTE = "Rows are ordered, ranked and cut off by the estimates; where they are cut off, rows may be missing."


@dataclass(frozen=True)
class Windows:
    """The window functions of a SELECT.

    Attributes:
        compiler, env: convert subqueries.
        node: the SELECT.
        sources: its rows, which get columns.
        rows: what is known of the rows that windows see.
        every: whether these are all groups of persons.
        resolve: looks up what a window names.
    """

    compiler: Compiler
    env: Env
    node: exp.Select
    sources: Sources
    rows: Rows
    every: bool
    resolve: Resolve

    def value(self, node: exp.Window) -> Value:
        """The value of a window function.

        Raises:
            InputError: ``unsupported_query``.
        """
        value = self._of_rows(node)
        if node.this == _ROWS and not node.args.get("spec") and not (value.exact or value.unknown):
            return narrowed(value, Value(exp.convert(1), exp.null()))  # the row itself
        if not isinstance(filtered(node.this)[0], exp.Avg) or node.args.get("order") or value.exact:
            return value
        return narrowed(value, computed(as_quotient(node), self.resolve))

    def _of_rows(self, node: exp.Window) -> Value:
        if self.every and over_all(node):
            value, total = self._over_all(node), self._total(node)
            value = value if total is None else narrowed(value, total)
            counts = isinstance(node.this, exp.Sum) and isinstance(node.this.this, exp.Count)
            return replace(value, sure=None) if counts else value  # each row is one of those that are added up
        terms = [read(term.this, self.resolve) for term in terms_of_order(node)]
        if any(term.item for term in terms):
            return Value(why="an order by items that are not texts. Convert them first, such as CAST(item AS BIGINT)")
        if not all(term.exact for term in terms):
            if (number := rank_as_number(node)) is not None:
                return read(number, self.resolve)
            tables = self.compiler.tables
            if up_to := running(node, self.rows, self.sources, self.resolve, tables, self.every):
                return up_to
            self.compiler.notes[ORDER_NOTE] = None
        elif self._has_ties(node):
            ranked = rank_as_number(node)
            number = ranked if isinstance(ranked, exp.Window) else node
            up_to = running(number, self.rows, self.sources, self.resolve, self.compiler.tables, self.every)
            return up_to or Value(why="a window over rows whose order has ties. Add columns to its ORDER BY")
        near = nearest_row(node, self.rows, self.sources, self.resolve, self.compiler.tables) if self.every else None
        if near is not None:
            return near
        number = None if self.rows.sure is None else rank_as_number(node)
        if number is not None:
            return read(number, self.resolve)
        value = self.sources.once(self.rows.window(node, self.resolve), over=self.every)
        return self.sources.once(self._beside(node, value), over=self.every)

    def _has_ties(self, node: exp.Window) -> bool:
        """Whether a value depends on the places of rows that the window's order, of exact values, does not tell apart."""
        (function, _), (kind, start, _, end, out), tree = filtered(node.this), frame_of(node), self.sources.tree
        by_rows = kind == "ROWS" and (start, end, out) != ("UNBOUNDED", "UNBOUNDED", "")
        if not by_rows and not isinstance(function, _BY_PLACE):
            return False
        own = [read(part, self.resolve) for part in node.args.get("partition_by") or ()]
        own += [read(term.this, self.resolve) for term in terms_of_order(node)]
        if tree.args.get("group") or tree.args.get("joins") or not all(value.exact and not value.item for value in own):
            return False
        place, where = tree.args["from_"].this, None if self.every else tree.args.get("where")
        return not told_apart(self.compiler.tables, place, where, own, [], inf)

    def _over_all(self, node: exp.Window) -> Value:
        return self.sources.total(self.rows.aggregate(node.this, self.resolve))

    def _total(self, node: exp.Window) -> Value | None:
        """The sum over all groups of their numbers of rows, or of sums, from all rows; None for other aggregates."""
        total = total_of_rows(node.this, self.node)
        return None if total is None else scalar(total, self.compiler, self.env)

    def _beside(self, node: exp.Window, value: Value) -> Value:
        """A sum of numbers of rows over certain groups, within the number of all rows less those of the other groups."""
        summed = isinstance(node.this, exp.Sum) and isinstance(node.this.this, exp.Count)
        total = self._total(node) if self.every and summed and not value.unknown else None
        if total is None or total.unknown:
            return value
        (low, high), (least, most), (fewest, all_) = (v.not_null for v in (value, self._over_all(node), total))
        rest = [greatest(exp.convert(0), exp.paren(one - other)) for one, other in ((most, high), (least, low))]
        return narrowed(value, Value(*(exp.paren(end - part) for end, part in zip((fewest, all_), rest, strict=True))))


MOST_ROWS = 2_000  # each of them is compared with each
MOST_TOTALS = 3  # of one SELECT, each of which reads the rows with the ones before it three times
Term = tuple[Value, bool]
"""A number or an exact value by which rows are ordered, and whether the order is descending."""


def rank_as_number(node: exp.Window) -> exp.Expr | None:
    """Ranks as numbers of rows: those before a row, and all of them; None for other windows."""
    if node.args.get("spec") is not None or node.args.get("order") is None:
        return None
    ranked, every = node.copy(), node.copy()
    every.set("this", exp.Count(this=exp.Star(), big_int=True))
    every.set("order", None)
    if isinstance(node.this, exp.PercentRank | exp.CumeDist):
        ahead = isinstance(node.this, exp.PercentRank)
        ranked.set("this", exp.Rank() if ahead else exp.Count(this=exp.Star(), big_int=True))
        share = "least(({0} - {1}) / greatest({2} - {1}, 1), 1)"
        return exp.maybe_parse(share.format(ranked.sql("duckdb"), int(ahead), every.sql("duckdb")), dialect="duckdb")
    if isinstance(node.this, exp.Ntile):
        ranked.set("this", exp.RowNumber())
        return _bucket(ranked, every, node.this.this)
    if not isinstance(node.this, exp.Rank | exp.RowNumber):
        return None
    ranked.set("this", exp.Count(this=exp.Star(), big_int=True))
    frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
    ranked.set("spec", frame)
    if isinstance(node.this, exp.RowNumber):
        return ranked
    frame.set("kind", "RANGE")
    frame.set("exclude", exp.Var(this="GROUP"))
    return exp.Add(this=ranked, expression=exp.Literal.number(1))


def _bucket(place: exp.Expr, every: exp.Expr, buckets: exp.Expr) -> exp.Expr | None:
    """``ntile(k)`` of a place among all: the first buckets have a row more than the others; None unless k is a number."""
    if not isinstance(buckets, exp.Literal) or not buckets.is_int or int(buckets.name) < 1:
        return None
    k, r, n = buckets.name, place.sql("duckdb"), every.sql("duckdb")
    first, others = f"({r} - 1) // ({n} // {k} + 1)", f"({r} - 1 - {n} % {k}) // greatest({n} // {k}, 1)"
    tree = f"greatest(least(1 + CASE WHEN {r} <= ({n} % {k}) * ({n} // {k} + 1) THEN {first} ELSE {others} END, {k}), 1)"
    return exp.maybe_parse(tree, dialect="duckdb")


def running(node: exp.Window, rows: Rows, sources: Sources, resolve: Resolve, tables: Counts, every: bool) -> Value | None:
    """``sum(n) OVER (ORDER BY n DESC, item)`` as columns of the rows of the only source; None for other windows.

    Args:
        node: the window, in whose order estimates are.
        rows: what is known of the rows.
        sources: the rows, which get the columns.
        resolve: looks up what the window names.
        tables: tells whether rows can be told from each other.
        every: whether the rows are all those of the source, rather than those that the WHERE clause keeps so far.
    """
    if node in sources.running:
        return sources.running[node]
    where = None if every else sources.tree.args.get("where")
    several = sources.tree.args.get("joins") or sources.tree.args.get("group")
    if not _is_up_to_row(node) or several or len(sources.running) == MOST_TOTALS:
        return None
    terms = [(read(term.this, resolve), bool(term.args.get("desc"))) for term in node.args["order"].expressions]
    within = [read(part, resolve) for part in node.args.get("partition_by") or ()]
    exact = [value for value, _ in terms if value.exact]
    place = sources.tree.args["from_"].this
    kind, *_, out = frame_of(node)
    by_rows, others = kind == "ROWS", bool(out)
    own = [*within, *exact, *(v for _, v in sources.by_alias[0][1] if v.exact)]
    ends_of = [end for value in (*within, *(v for v, _ in terms)) for end in value.ends]
    plain = all(c.table == place.alias for end in ends_of for c in end.find_all(exp.Column)) and all(v.exact for v in within)
    if not own or not plain or not all(map(_is_ordered, terms)):
        return None
    row = fresh("row")
    pairs = [(value, _moved(value, row), desc) for value, desc in terms]
    surely, possibly = (_up_to(pairs, strict=strict) for strict in (others or by_rows, others))
    equal, alike = ([_same(value, _moved(value, row)) for value in of] for of in (own, within))
    same = exp.and_(*equal)
    sure = exp.and_(rows.sure or exp.true(), holds(surely.truths[0], unknown=False))
    sure = sure if others else exp.or_(sure, same)
    total = replace(rows, sure=sure).aggregate(node.this, resolve)  # which may add columns to the source
    place = sources.tree.args["from_"].this
    if not told_apart(tables, place, where, own, exact):
        return None
    parts = [*([where.this] if where is not None else []), *alike, possibly.truths[1], *([same.not_()] if others else [])]
    up_to = exp.Select().from_(place.copy()).where(*(exp.paren(part.copy()) for part in parts))
    up_to.set("group", ONE_GROUP.copy())  # an end need not have an aggregate
    total, alias = total.replaced([up_to.select(end.copy()).subquery() for end in total.ends]), place.alias
    place.set("alias", exp.TableAlias(this=exp.to_identifier(row)))  # no copy: ``Sources.total`` may add columns
    sources.running[node] = sources.widen(total, exp.select(star_of(row)).from_(place), alias)
    return sources.running[node]


def _is_up_to_row(node: exp.Window) -> bool:
    """Whether a window is an aggregate from the first row to the current one, or to those that are equal to it."""
    (function, _), (kind, *ends, out) = filtered(node.this), frame_of(node)
    plain = isinstance(function, AGGREGATES) and not isinstance(function.this, exp.Distinct)
    return plain and ends == [*FRAME[1:-1]] and (kind, out) in (("ROWS", ""), ("RANGE", ""), ("RANGE", "GROUP"))


def _is_ordered(term: Term) -> bool:
    """Whether rows can be compared by a term: exact values, or numbers with bounds that are never NULL."""
    value, _ = term
    return not value.item and (value.exact or (value.present and value.sure is None and not value.truth))


def _moved(value: Value, alias: str) -> Value:
    """A value of the row of another name."""

    def visit(node: exp.Expr) -> exp.Expr:
        return exp.column(node.this.copy(), alias) if isinstance(node, exp.Column) else node

    return value.replaced([end.copy().transform(visit) for end in value.ends])


def _same(one: Value, other: Value) -> exp.Expr:
    return exp.NullSafeEQ(this=exp.paren(one.expression), expression=exp.paren(other.expression))


def _up_to(terms: Sequence[tuple[Value, Value, bool]], *, strict: bool) -> Value:
    """The condition that a row comes before another one, or, unless it is ``strict``, is equal to it, by terms of both."""
    (one, other, desc), *rest = terms
    more, loose = (exp.GT, exp.GTE) if desc else (exp.LT, exp.LTE)
    ahead, level = (compared(kind(this=exp.null(), expression=exp.null()), one, other) for kind in (more, loose))
    if not rest:
        return ahead if strict else level
    return connected(exp.Or, [ahead, connected(exp.And, [level, _up_to(rest, strict=strict)])])


def told_apart(
    tables: Counts,
    place: exp.Expr,
    where: exp.Expr | None,
    own: Sequence[Value],
    never_null: Sequence[Value],
    most: float = MOST_ROWS,
) -> bool:
    """Whether some values of each row are no other's, others are never NULL, and the rows are ``most`` or fewer."""
    row = exp.Anonymous(this="row", expressions=[value.expression.copy() for value in own])
    absent = exp.or_(exp.false(), *(is_null(value.expression) for value in never_null))
    every = exp.Count(this=exp.Star())
    different = exp.Count(this=exp.Distinct(expressions=[row]))
    missing = exp.Filter(this=every.copy(), expression=exp.Where(this=absent))
    asked = exp.select(every, different, missing).from_(place.copy())
    ((number, numbers, nulls),) = tables.rows(asked.where(where.this.copy()) if where is not None else asked)
    return number == numbers and not nulls and number <= most


@dataclass(frozen=True)
class _Order:
    """The rows before or after each row.

    Attributes:
        within: what divides the rows.
        terms: by what they are ordered.
        ahead: whether the rows after a row are meant.
    """

    within: Sequence[exp.Expr]
    terms: Sequence[exp.Expr]
    ahead: bool

    def over(self, function: exp.Expr, rows: tuple[exp.Expr, exp.Expr] | None = None) -> exp.Expr:
        """A window function over the rows from the farthest to the nearest of these numbers of rows away, or over all."""
        made = exp.Window(this=function, partition_by=[part.copy() for part in self.within], over="OVER")
        made.set("order", exp.Order(expressions=[term.copy() for term in self.terms]))
        if rows is not None:
            side, (first, last) = ("FOLLOWING", rows[::-1]) if self.ahead else ("PRECEDING", rows)
            made.set("spec", exp.WindowSpec(kind="ROWS", start=first, start_side=side, end=last, end_side=side))
        return made


def nearest_row(node: exp.Window, rows: Rows, sources: Sources, resolve: Resolve, tables: Counts) -> Value | None:
    """A number of a row before or after each row, as columns of the rows of the only source; None for other windows, and
    where all rows are there for certain.

    Args:
        node: the window.
        rows: what is known of the rows, which are all of the source.
        sources: the rows, which get columns.
        resolve: looks up what the window names.
        tables: tells whether rows can be told from each other.
    """
    call, order, within = node.this, node.args.get("order"), node.args.get("partition_by") or []
    if not isinstance(call, exp.Lag | exp.Lead) or order is None or rows.sure is None or rows.open:
        return None
    away = call.args.get("offset") or exp.convert(1)
    if not (isinstance(away, exp.Literal) and away.is_int and 0 < int(away.this) < MOST_ROWS) or call.args.get("default"):
        return None
    value, own = read(call.this, resolve), [read(part, resolve) for part in (*within, *(t.this for t in order.expressions))]
    if value.unknown or value.truth or value.sure is not None or not all(one.exact for one in own):
        return None
    if not told_apart(tables, sources.tree.args["from_"].this, None, own, []):
        return None
    keys = [one.expression for one in own]
    terms = [of_value(term, key) for term, key in zip(order.expressions, keys[len(within) :], strict=True)]
    return _between(value, rows.sure, _Order(keys[: len(within)], terms, isinstance(call, exp.Lead)), away, sources)


def _between(value: Value, sure: exp.Expr, order: _Order, away: exp.Expr, sources: Sources) -> Value:
    """The least and the greatest of a number over the rows from the k-th to the k-th that is there for certain."""
    (number,) = sources.once(Value(order.over(exp.RowNumber())), over=True).ends
    kind = exp.Lead if order.ahead else exp.Lag
    certain = exp.IgnoreNulls(this=kind(this=when(sure, number), offset=away.copy()))
    (nearest,) = sources.once(Value(order.over(certain)), over=True).ends
    far = exp.Coalesce(this=exp.Abs(this=exp.paren(number - nearest)), expressions=[exp.convert(MOST_ROWS)])
    reach = (far, away)
    ends = []
    for end, extreme in zip(value.not_null, (exp.Min, exp.Max), strict=True):
        none = order.over(exp.CountIf(this=is_null(end)), reach).eq(0)
        ends.append(when(none, order.over(extreme(this=end.copy()), reach)))
    has_rows = exp.GT(this=order.over(exp.Count(this=exp.Star()), reach), expression=exp.convert(0))
    branches = [exp.If(this=is_null(nearest).not_(), true=exp.true()), exp.If(this=has_rows, true=exp.false())]
    return sources.once(Value(*ends, sure=exp.Case(ifs=branches), whole=value.whole, least=value.least), over=True)
