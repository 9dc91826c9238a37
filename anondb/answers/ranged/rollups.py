"""Sums over groups as sums over their rows: ``SELECT sum(c) FROM (SELECT k, count(*) AS c FROM t GROUP BY k) WHERE k > 1``.

More is known of all rows together than of each group: persons with 3 or 4 items are at most all persons, and those with 3
and those with 4 may each be nearly as many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from anondb.answers.quotients import product_of
from anondb.answers.ranged.clauses import ROWS, aliased, clauses_of, copy_clauses, part_of, places_of
from anondb.answers.ranged.compiler import Env
from anondb.answers.ranged.sources import grouped
from anondb.answers.ranged.unions import sets_of
from anondb.query.parsing import bare, conjoined, lowered

_OF_GROUPS = {"expressions", *ROWS, "group"}
_OVER_GROUPS = {*_OF_GROUPS, "having", "order", "limit", "offset", "with_"}
_ELSEWHERE = (exp.AggFunc, exp.Filter, exp.Query, exp.Star, exp.Window)
_ONCE = (exp.Min, exp.Max, exp.LogicalOr, exp.LogicalAnd)
"""Aggregates of keys that are the same for all rows of the groups as for these."""


@dataclass(frozen=True)
class _Number:
    """A column of groups that counts their rows, or sums an expression of these."""

    summed: exp.Expr | None = None


def over_rows(node: exp.Select, env: Env) -> exp.Select | None:
    """A SELECT of sums over counts of groups as one over the rows of these; None for others.

    Args:
        node: the SELECT.
        env: the common table expressions that it sees.
    """
    place = node.args.get("from_")
    inner = None if place is None else groups_of(place.this, env)
    if place is None or inner is None or not clauses_of(node) <= _OVER_GROUPS or node.find(exp.Sum) is None:
        return None
    by_group, joins = node.args.get("group") is not None and _has_keys(node), node.args.get("joins") or []
    others = [lowered(join.this.alias_or_name) for join in joins]
    within = {lowered(one.this.alias_or_name) for one in places_of(inner)}
    if (by_group and _is_self_join(inner)) or not all(others) or within & {*others} or len({*others}) < len(others):
        return None
    named = {lowered(e.alias_or_name) for e in (*inner.expressions, *(e for e in node.expressions if e.alias))}
    reading = _Reading(_columns(inner), lowered(place.this.alias_or_name), by_group, others, named)
    beside = [reading.join(join) for join in joins]
    if None in beside:
        return None
    aliases = aliased(node).keys()
    made = part_of(inner, *ROWS)
    made.set("joins", [*(made.args.get("joins") or []), *beside])
    copy_clauses(node, made, ("limit", "offset", "with_"))
    for selected in node.expressions:
        value = reading.of(selected.unalias())
        if value is None:
            return None
        made.append("expressions", exp.alias_(value, selected.alias_or_name, quoted=True))
    for key in ("where", "group", "having", "order"):
        if node.args.get(key) is not None:
            part = reading.of(node.args[key], aliases if key != "where" else frozenset())
            if part is None:
                return None
            made = made.where(part.this, copy=False) if key == "where" else made
            made.set(key, made.args["where"] if key == "where" else part)
    return made


def total_of_rows(call: exp.Expr, node: exp.Select) -> exp.Subquery | None:
    """The sum over all groups of their numbers of rows, or of their sums, as that of the rows; None for other aggregates.

    Args:
        call: an aggregate over groups.
        node: the SELECT with the groups.
    """
    of = call.this if isinstance(call, exp.Sum) else None
    if not isinstance(of, exp.Sum | exp.Count) or isinstance(of.this, exp.Distinct):
        return None
    return exp.Subquery(this=_alone(of, node))


def sum_of_rows(call: exp.Expr, node: exp.Select, env: Env) -> exp.Subquery | None:
    """A sum over groups beside other aggregates, as that over their rows; None for others.

    Args:
        call: an aggregate.
        node: the SELECT with the aggregate.
        env: the common table expressions that it sees.
    """
    alone = _alone(call, node) if isinstance(call, exp.Sum) and node.args.get("group") is None else None
    return None if alone is None or over_rows(alone, env) is None else exp.Subquery(this=alone)


def _alone(call: exp.Expr, node: exp.Select) -> exp.Select:
    """An aggregate of the rows of a SELECT."""
    made = part_of(node, *ROWS)
    made.set("expressions", [call.copy()])
    return made


def groups_of(source: exp.Expr, env: Env, *, having: bool = False) -> exp.Select | None:
    """The SELECT behind a source that groups by one set of keys, without later clauses; None for other sources.

    Args:
        source: the source.
        env: the common table expressions that its query sees.
        having: whether the SELECT may have HAVING and windows.
    """
    inner: exp.Expr | None = None
    if isinstance(source, exp.Subquery) and not source.alias_column_names and not source.args.get("pivots"):
        inner = source.this
    elif isinstance(source, exp.Table) and not source.db and (cte := env.get(lowered(source.name))) is not None:
        named = {lowered(table.name) for table in cte.node.this.find_all(exp.Table) if not table.db}
        same = all(env.get(name) is cte.env.get(name) for name in named)  # its names mean here what they mean there
        plain = not cte.node.alias_column_names and not source.alias_column_names
        inner = cte.node.this if same and plain else None
    most = _OF_GROUPS | {"having"} if having else _OF_GROUPS
    if not isinstance(inner, exp.Select) or not {"from_", "group"} <= clauses_of(inner) <= most:
        return None
    return inner if _has_keys(inner) and (having or inner.find(exp.Window) is None) else None


def _has_keys(node: exp.Select) -> bool:
    """Whether a SELECT groups by one set of keys, which is not empty."""
    group = node.args["group"]
    if clauses_of(group) - {"expressions", "all"} or sets_of(node):
        return False
    return bool(group.expressions) or any(e.find(exp.AggFunc) is None for e in node.expressions)


def _is_self_join(inner: exp.Select) -> bool:
    """Whether a SELECT joins a table with itself: rules read its groups by both items, and not by one."""
    names = [lowered(place.this.name) for place in places_of(inner) if isinstance(place.this, exp.Table)]
    return len(set(names)) < len(names)


def _columns(inner: exp.Select) -> dict[str, exp.Expr | _Number]:
    """The grouped expressions of a SELECT and its numbers of rows, by their names; without columns of other kinds."""
    keys = grouped(inner, lambda column: False)
    columns: dict[str, exp.Expr | _Number] = {}
    for selected in inner.expressions:
        value, name = bare(selected.unalias()), lowered(selected.alias_or_name)
        if value.find(*_ELSEWHERE) is None and (value in keys or value.find(exp.Anonymous) is None):  # of the keys
            columns[name] = value
        elif isinstance(value, exp.Count) and isinstance(value.this, exp.Star | exp.Literal):
            columns[name] = _Number()
        elif isinstance(value, exp.Sum) and not isinstance(value.this, exp.Distinct):
            columns[name] = _Number(value.this)
    return columns


@dataclass(frozen=True)
class _Reading:
    """Reads expressions over groups as expressions over their rows.

    Attributes:
        columns: what the columns of the groups are.
        alias: the name of the groups.
        by_group: whether each sum is of one group at least, so that no number of rows is NULL.
        others: the names of the sources that are joined with the groups.
        named: the names of all columns of the groups, and those that the SELECT gives.
    """

    columns: Mapping[str, exp.Expr | _Number]
    alias: str
    by_group: bool
    others: Sequence[str] = ()
    named: Set[str] = frozenset()

    def join(self, node: exp.Join) -> exp.Join | None:
        """A join with other rows by the keys, on those of the rows; None for others."""
        if node.method or node.side not in ("", "LEFT") or node.kind not in ("", "INNER", "CROSS"):
            return None
        name = node.this.alias_or_name
        equal = [(self.columns.get(lowered(u.name)), exp.column(u.copy(), name)) for u in node.args.get("using") or ()]
        on = [exp.EQ(this=key.copy(), expression=of) for key, of in equal if isinstance(key, exp.Expr)]
        read = [self.of(part) for part in conjoined(node.args.get("on"))]
        if len(on) < len(equal) or None in read or isinstance(node.this, exp.Unnest | exp.Lateral):
            return None
        made = exp.Join(this=node.this.copy(), side=node.args.get("side"), kind=node.args.get("kind"))
        conditions = [*on, *(part for part in read if part is not None)]
        made.set("on", exp.and_(*conditions) if conditions else None)
        return made

    def of(self, node: exp.Expr, aliases: Set[str] = frozenset()) -> exp.Expr | None:
        """An expression over rows; None if it is something else than sums and functions of the keys.

        Args:
            node: the expression, or the clause.
            aliases: the names that the SELECT gives and the clause may use.
        """
        if isinstance(node, exp.Column):
            value = self._column(node)
            if value is None and (lowered(node.table) in self.others or self._is_of_other(node)):
                return exp.column(node.this.copy(), node.table or self.others[0])
            if value is None and not node.table and lowered(node.name) in aliases:
                return node.copy()
            return exp.paren(value.copy()) if isinstance(value, exp.Expr) else None
        if isinstance(node, exp.Sum):
            return self._sum(node, self.by_group)
        if isinstance(node, exp.Filter) and isinstance(node.this, exp.Sum):
            total, met = self._sum(node.this, False), self.of(node.expression)
            return None if total is None or met is None else exp.Filter(this=total, expression=met)
        if isinstance(node, _ONCE) or (isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct)):
            parts = [self.of(part) for part in (node.this.expressions if isinstance(node, exp.Count) else [node.this])]
            if any(part is None or part.find(exp.AggFunc) for part in parts) or len(parts) != 1 or node.args.get("count"):
                return None
            plain = [bare(part) for part in parts if part is not None]
            return type(node)(this=exp.Distinct(expressions=plain) if isinstance(node, exp.Count) else plain[0])
        if isinstance(node, exp.Coalesce) and isinstance(node.this, exp.Sum) and node.expressions == [exp.convert(0)]:
            total = self._sum(node.this, True)
            return exp.Coalesce(this=total, expressions=[exp.convert(0)]) if isinstance(total, exp.Sum) else total
        if isinstance(node, _ELSEWHERE):
            return None
        made = type(node)()
        for key, part in node.args.items():
            old = part if isinstance(part, list) else [part]
            new = [self.of(p, aliases) if isinstance(p, exp.Expr) else p for p in old]
            if any(n is None and o is not None for n, o in zip(new, old, strict=True)):
                return None
            made.set(key, new if isinstance(part, list) else new[0])
        return made

    def _is_of_other(self, node: exp.Column) -> bool:
        """Whether a name without a table is a column of the only other source."""
        return not node.table and len(self.others) == 1 and lowered(node.name) not in self.named

    def _column(self, node: exp.Column) -> exp.Expr | _Number | None:
        return self.columns.get(lowered(node.name)) if lowered(node.table) in ("", self.alias) else None

    def _sum(self, node: exp.Sum, counts: bool) -> exp.Expr | None:
        """A sum over groups of a number of rows, perhaps times functions of the keys, as a sum over rows.

        Args:
            node: the sum.
            counts: whether the sum of numbers of rows may be their count, which is never NULL.
        """
        value = self._row_share(node.this)
        if value != exp.convert(1):
            return None if value is None else exp.Sum(this=value)
        return exp.Count(this=exp.Star(), big_int=True) if counts else exp.Sum(this=value)

    def _row_share(self, operand: exp.Expr) -> exp.Expr | None:
        """What each row of a group adds where the group adds a number of rows or a sum, perhaps times functions of the keys,
        or CASE of these, which are 0 or NULL for other groups; None for other operands."""
        operand = bare(operand)
        if isinstance(operand, exp.Case) and operand.this is None:
            cases = [(self.of(branch.this), self._row_share(branch.args["true"])) for branch in operand.args["ifs"]]
            default = operand.args.get("default")
            plain = default is None or default == exp.convert(0) or isinstance(default, exp.Null)
            if not plain or any(part is None for case in cases for part in case):
                return None
            ifs = [exp.If(this=met, true=value) for met, value in cases]
            return exp.Case(ifs=ifs, default=default and default.copy())
        factors = product_of(operand)
        numbers = [one for f in factors if isinstance(f, exp.Column) and isinstance(one := self._column(f), _Number)]
        others = [f for f in factors if not (isinstance(f, exp.Column) and isinstance(self._column(f), _Number))]
        weights = [self.of(f) for f in others]
        if len(numbers) != 1 or any(w is None or w.find(exp.AggFunc) for w in weights):
            return None
        summed = numbers[0].summed
        product: list[exp.Expr] = [exp.paren(part.copy()) for part in (*weights, summed) if part is not None]
        return reduce(lambda one, other: exp.Mul(this=one, expression=other), product) if product else exp.convert(1)
