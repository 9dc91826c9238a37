"""The ends of a query: the order of all rows, how many of them are shown, and conditions on their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from anondb.answers.ranged.clauses import clauses_of, shown_by_name
from anondb.answers.ranged.equivalents import terms_of_order, write_first_rows
from anondb.answers.ranged.leading import rows_kept
from anondb.answers.ranged.unions import sets_of
from anondb.answers.role_reader import RoleReader
from anondb.answers.roles import Relation
from anondb.query.parsing import lowered

MARGIN = 20
"""Groups by several columns, such as pairs of items, are many: worlds and rules are asked for so many times as many as the
query shows."""
LEAST = 5_000
"""Rules are asked for at least so many groups, since they order them by the numbers that they expect."""
RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.Ntile)


@dataclass(frozen=True)
class End:
    """A step that takes all rows: first the condition on ranks, then the order, then how many rows stay.

    Attributes:
        ranked: a condition on window functions of columns ``c<n>``.
        order: the orderings, of columns ``c<n>``.
        limit, offset: of the query.
    """

    ranked: exp.Expr | None = None
    order: Sequence[exp.Ordered] = ()
    limit: exp.Expr | None = None
    offset: exp.Expr | None = None

    @property
    def cuts(self) -> bool:
        """Whether rows are left out."""
        return any(part is not None for part in (self.ranked, self.limit, self.offset))

    @property
    def columns(self) -> list[int]:
        """The numbers of the columns by which rows are ordered and ranked."""
        parts = [part for part in (self.ranked, *self.order) if part is not None]
        return [int(c.name[1:]) for part in parts for c in part.find_all(exp.Column)]


def unwrapped(tree: exp.Expr) -> exp.Expr:
    """A query without parentheses around it."""
    while isinstance(tree, exp.Subquery | exp.Paren) and not tree.args.get("alias") and not tree.args.get("with_"):
        tree = tree.this
    return tree


def _is_key(shown: exp.Expr, key: exp.Expr) -> bool:
    """Whether a shown expression is the column of a key; one of them has no table where sources share it (USING)."""
    table = lowered(key.text("table"))
    named = isinstance(shown, exp.Column) and lowered(shown.name) == lowered(key.name)
    return named and (not table or lowered(shown.text("table")) in ("", table))


@dataclass
class Ended:
    """A query whose ends are taken off, the outermost one first.

    Attributes:
        body: the rest.
        relation: its columns, hidden ones last.
        reader: what reads the roles of columns.
        shown: the numbers of its columns that are shown.
        cut: the ORDER BY and the LIMIT that were taken off last, if the query has both.
        ends: the ends, the last one first.
    """

    body: exp.Query
    relation: Relation
    reader: RoleReader
    cut: tuple[exp.Expr, exp.Expr] | None = None
    shown: list[int] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)

    def peel(self) -> None:
        """Take off all ends that can be."""
        self.shown = list(range(len(self.relation.columns)))
        while self._peeled() and (inner := self._inner()) is not None:
            query, places, where = inner
            before = self.body, self.relation, self.shown, self.ends
            self.body, self.relation = query, self.reader.relation(query)
            self.shown = [places[n] for n in self.shown]
            self.ends = [_moved(end, places) for end in self.ends]
            ranked = None if where is None else self._ranked(where)
            if where is not None and ranked is None:
                self.body, self.relation, self.shown, self.ends = before
                return
            if ranked is not None:
                self.ends.append(End(ranked))

    def with_keys(self) -> bool:
        """Add the keys of rows that the query does not show, by which rows match between worlds.

        Returns:
            Whether no two rows of the query have the same keys then.
        """
        body = self.body
        if not isinstance(body, exp.Select) or body.args.get("distinct") is not None or body.is_star:
            return False
        self.reader.relation(body)
        grouped, group = self.reader.grouped(body), body.args.get("group")
        series = any(map(has_series, body.expressions))
        if group is not None and group.args.get("all"):
            return not series
        sets = sets_of(body)
        if len(set(map(frozenset, sets))) < len(sets):
            return False
        if grouped is None and any(map(self.reader.has_aggregate, body.expressions)):
            return not series
        shown = [selected.unalias() for selected in body.expressions]
        keys = self.reader.keys.get(id(body), []) if grouped is None else grouped
        names = {lowered(e.alias_or_name) for e in body.expressions} - self.reader.named.get(id(body), set())
        names |= {lowered(e.name) for e in shown if isinstance(e, exp.Column)}
        if grouped is None:
            missing = [key for key in keys if not any(_is_key(e, key) for e in shown)]
        else:
            missing = [
                key for key in keys if key not in shown and not (isinstance(key, exp.Column) and lowered(key.name) in names)
            ]
        grouping = [exp.Grouping(expressions=[key.copy() for key in dict.fromkeys(k for one in sets for k in one)])]
        self._hide([*(key.copy() for key in missing), *(grouping if sets else ())])
        return grouped is not None and not series

    def ruled(self) -> tuple[exp.Query, bool]:
        """The query for rules of bounds, and whether it has an end. Groups by several columns are many: its end leaves those
        that may be shown."""
        several = isinstance(self.body, exp.Select) and len(self.reader.grouped(self.body) or ()) > 1
        number = rows_kept(self.cut[1]) if self.cut is not None and several else None
        if self.cut is None or number is None:
            return self.body, False
        query = self.body.copy()
        query.set("order", self.cut[0].copy())
        query.set("limit", exp.Limit(expression=exp.convert(max(MARGIN * number + MARGIN, LEAST))))
        return query, True

    def _peeled(self) -> bool:
        """Take off the end of this query; whether that was possible."""
        body = self.body
        if any(body.args.get(key) for key in ("sample", "cluster", "distribute", "sort")):
            return False
        cuts = [body.args[key] for key in ("limit", "offset") if body.args.get(key) is not None]
        if any(cut.find(exp.Query, exp.Column) is not None for cut in cuts):
            return False
        distinct = body.args.get("distinct")
        on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
        if on is not None and isinstance(body, exp.Select):
            write_first_rows(body)
            if body.args.get("distinct") is not None:
                return False
            self.relation = self.reader.relation(body)
        order, qualify = body.args.get("order"), body.args.get("qualify")
        terms: list[exp.Ordered] = []
        hidden = list[exp.Expr]()
        for ordered in order.expressions if order is not None else ():
            if isinstance(ordered.this, exp.Var):  # ALL
                places: list[int | None] = list(range(len(self.shown)))
            else:
                places = [self._place(ordered.this, hidden)]
            if None in places:
                return False
            for place in places:
                term = ordered.copy()
                term.set("this", exp.column(f"c{place}"))
                terms.append(term)
        ranked = self._ranked(qualify.this, hidden) if qualify is not None else None
        if qualify is not None and ranked is None:
            return False
        end = End(ranked, terms, body.args.get("limit"), body.args.get("offset"))
        alone = qualify is None and end.offset is None
        self.cut = (order, end.limit) if alone and order is not None and end.limit is not None else None
        for key in ("order", "limit", "offset", "qualify"):
            body.set(key, None)
        self._hide(hidden)
        if end.cuts or end.order:
            self.ends.append(end)
        return True

    def _hide(self, hidden: Sequence[exp.Expr]) -> None:
        first = len(self.relation.columns)
        for n, node in enumerate(hidden, first):
            self.body.append("expressions", exp.alias_(node, f"_hidden{n}"))
        if hidden:
            self.relation = self.reader.relation(self.body)

    def _place(self, node: exp.Expr, hidden: list[exp.Expr]) -> int | None:
        """The number of the column for an expression of ORDER BY, which may become a hidden one; None if it cannot."""
        columns, body = self.relation.columns, self.body
        if isinstance(node, exp.Literal) and not node.is_string:
            return int(node.name) - 1 if node.name.isdigit() and 0 < int(node.name) <= len(columns) else None
        if isinstance(node, exp.Column) and not node.table:
            names = [name for name, _ in columns]
            if lowered(node.name) in names:
                return names.index(lowered(node.name))
        if not isinstance(body, exp.Select):
            return None
        if not body.is_star:
            for n, selected in enumerate(body.expressions):
                if selected.unalias() == node:
                    return n
        if body.args.get("distinct") is not None:
            return None
        hidden.append(node.copy())
        return len(columns) + len(hidden) - 1

    def _ranked(self, condition: exp.Expr, hidden: list[exp.Expr] | None = None) -> exp.Expr | None:
        """A condition on ranks with columns ``c<n>`` as their operands; None for other conditions."""
        ranked = exp.paren(condition.copy())
        if not isinstance(self.body, exp.Select):
            return None
        names = shown_by_name(self.body)
        for column in list(ranked.find_all(exp.Column)):
            rank = names.get(lowered(column.name))
            if isinstance(rank, exp.Window) and column.find_ancestor(exp.Window) is None:
                column.replace(rank.copy())
        own: list[exp.Expr] = []
        for window in list(ranked.find_all(exp.Window)):
            if not isinstance(window.this, RANKS) or window.args.get("spec") is not None or window.args.get("alias"):
                return None
            for part in [*(window.args.get("partition_by") or ()), *(term.this for term in terms_of_order(window))]:
                place = self._place(part, own if hidden is None else hidden)
                if place is None:
                    return None
                part.replace(exp.column(f"c{place}"))
        outside = [c for c in ranked.find_all(exp.Column) if c.find_ancestor(exp.Window) is None]
        if outside or ranked.find(exp.Window) is None or ranked.find(exp.Query) is not None:
            return None
        self._hide(own)
        return ranked

    def _inner(self) -> tuple[exp.Query, list[int], exp.Expr | None] | None:
        """The subquery of a SELECT that only shows its columns, the numbers of these, and a condition on its rows; None for
        other queries, and where the subquery has no end."""
        body = self.body
        plain = {"expressions", "from_", "with_", "where"}
        if not isinstance(body, exp.Select) or not clauses_of(body) <= plain:
            return None
        source = body.args["from_"].this if body.args.get("from_") is not None else None
        query = _query_of(body, source)
        where = body.args.get("where")
        if query is None or not isinstance(query, exp.Query) or not (where is not None or _has_end(query)):
            return None
        names = [name for name, _ in self.reader.relation(query).columns]
        places: list[int] = []
        for selected in body.expressions:
            inner = selected.unalias()
            if isinstance(inner, exp.Star) and not any(inner.args.values()):
                places += range(len(names))
            elif isinstance(inner, exp.Column) and lowered(inner.name) in names:
                places.append(names.index(lowered(inner.name)))
            else:
                return None
        return query, places, None if where is None else where.this


def has_series(node: exp.Expr) -> bool:
    """Whether an expression returns several rows for one, as ``unnest`` does."""
    return any(
        call.find_ancestor(exp.Query) is node.find_ancestor(exp.Query) for call in node.find_all(exp.Explode, exp.Unnest)
    )


def _query_of(body: exp.Select, source: exp.Expr | None) -> exp.Query | None:
    """The query of the only source of a SELECT, with the common table expressions that it sees."""
    clause = body.args.get("with_")
    query: exp.Expr | None = None
    ctes = list(clause.expressions) if clause is not None else []
    if isinstance(source, exp.Subquery) and not (source.args.get("alias") and source.args["alias"].columns):
        query = source.this
    elif isinstance(source, exp.Table) and not source.db and clause is not None and not clause.recursive:
        named = [n for n, cte in enumerate(ctes) if lowered(cte.alias) == lowered(source.name)]
        if named and not ctes[named[0]].args["alias"].columns:
            query, ctes = ctes[named[0]].this, ctes[: named[0]]
    query = None if query is None else unwrapped(query)
    if not isinstance(query, exp.Select | exp.SetOperation) or (ctes and query.args.get("with_")):
        return None
    query = query.copy()
    if ctes and clause is not None:
        kept = clause.copy()
        kept.set("expressions", [cte.copy() for cte in ctes])
        query.set("with_", kept)
    return query


def _has_end(query: exp.Query) -> bool:
    """Whether the rows of a query are cut off, here or in the query that it shows."""
    if any(query.args.get(key) is not None for key in ("limit", "offset", "qualify")):
        return True
    clause = query.args.get("from_")
    inner = _query_of(query, clause.this) if isinstance(query, exp.Select) and clause is not None else None
    return inner is not None and _has_end(inner)


def _moved(end: End, places: Sequence[int]) -> End:
    """An end of a SELECT as one of its subquery."""

    def renamed(node: exp.Expr) -> exp.Expr:
        return exp.column(f"c{places[int(node.name[1:])]}") if isinstance(node, exp.Column) else node

    ranked = None if end.ranked is None else end.ranked.transform(renamed)
    order = [term for term in (before.transform(renamed) for before in end.order) if isinstance(term, exp.Ordered)]
    return End(ranked, order, end.limit, end.offset)
