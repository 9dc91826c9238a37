"""Window functions of one SELECT over known rows: totals, ranks, running totals, and what rows have beside others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.aggregates import PLACES, Rows, over_all
from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.equivalents import terms_of_order
from anondb.answers.ranged.expressions import Resolve, read
from anondb.answers.ranged.nearest_rows import nearest_row
from anondb.answers.ranged.relation import Sources
from anondb.answers.ranged.rollups import total_of_rows
from anondb.answers.ranged.running import rank_as_number, running, told_apart
from anondb.answers.ranged.subqueries import scalar
from anondb.answers.ranged.values import Value, greatest, narrowed

_BY_PLACE = (*PLACES, exp.RowNumber, exp.Ntile)
"""Window functions of the places of rows, of which equal ones have any."""
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
        (function, _), frame, tree = filtered(node.this), node.args.get("spec"), self.sources.tree
        by_rows = frame is not None and frame.text("kind").upper() == "ROWS" and not _is_whole(frame)
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


def _is_whole(frame: exp.Expr) -> bool:
    """Whether the frame of a window has all rows, wherever the current one is."""
    return frame.text("start").upper() == frame.text("end").upper() == "UNBOUNDED" and not frame.args.get("exclude")
