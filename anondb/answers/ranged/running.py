"""Running totals and ranks in an order of estimates: aggregates over the rows up to a row, for certain or possibly.

The frame of a row has the rows before it, those that no term of the order tells from it, and the row itself. A row comes
before another by the first term that differs, so d comes up to r by the terms x, y if ``d.x < r.x OR (d.x <= r.x AND
d.y <= r.y)``. Where this is certain, and d is there for certain, d is in the frame of r for certain; where it is not
possible, it is not. The row itself always is, wherever there is anything to say of it. What counts rows (ROWS) takes equal
rows in any order, so that a row that no term need tell from r is in its frame possibly, and not for certain. A rank is one
more than the number of rows before a row, without those that no term tells from it (EXCLUDE GROUP).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from anondb.answers.persons.counts import Counts
from anondb.answers.quotients import filtered
from anondb.answers.ranged.aggregates import AGGREGATES, Rows
from anondb.answers.ranged.expressions import Resolve, read
from anondb.answers.ranged.relation import ONE_GROUP, Sources, fresh, star_of
from anondb.answers.ranged.truths import compared, connected
from anondb.answers.ranged.values import Value, holds
from anondb.query.parsing import is_null

MOST_ROWS = 2_000  # each of them is compared with each
MOST_TOTALS = 3  # of one SELECT, each of which reads the rows with the ones before it three times
Term = tuple[Value, bool]
"""A number or an exact value by which rows are ordered, and whether the order is descending."""


def rank_as_number(node: exp.Window) -> exp.Expr | None:
    """``rank()`` and ``row_number()`` as numbers of rows; None for other windows."""
    of = type(node.this)
    if of not in (exp.Rank, exp.RowNumber) or node.args.get("spec") is not None or node.args.get("order") is None:
        return None
    copy = node.copy()
    copy.set("this", exp.Count(this=exp.Star(), big_int=True))
    frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
    copy.set("spec", frame)
    if of is exp.RowNumber:
        return copy
    frame.set("kind", "RANGE")
    frame.set("exclude", exp.Var(this="GROUP"))
    return exp.Add(this=copy, expression=exp.Literal.number(1))


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
    frame = node.args.get("spec") or exp.WindowSpec()
    by_rows, others = frame.text("kind").upper() == "ROWS", frame.args.get("exclude") is not None
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
    (function, _), frame = filtered(node.this), node.args.get("spec")
    plain = isinstance(function, AGGREGATES) and not isinstance(function.this, exp.Distinct)
    ends = ("UNBOUNDED", "PRECEDING", "CURRENT ROW") if frame is None else (
        *(frame.text(key).upper() for key in ("start", "start_side")), frame.text("end").upper() or "CURRENT ROW"
    )  # fmt: skip
    excluded = "" if frame is None else frame.text("exclude").upper()
    kinds = frame is None or (frame.text("kind").upper(), excluded) in (("ROWS", ""), ("RANGE", ""), ("RANGE", "GROUP"))
    return plain and kinds and ends == ("UNBOUNDED", "PRECEDING", "CURRENT ROW")


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
