"""Averages of squared distances from the mean as variances: ``avg((n - m) ** 2)`` where m is ``(SELECT avg(n) FROM p)``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from anondb.answers.ranged.clauses import both_ways, clauses_of, shown_by_name
from anondb.answers.ranged.equivalents import are_same, query_of
from anondb.answers.ranged.never_null import Present, is_present
from anondb.query.parsing import bare, lowered

_PARTS = {"expressions", "from_", "joins", "with_"}
_EVERY = exp.Count(this=exp.Star(), big_int=True)


def with_variances(tree: exp.Expr, present: Present) -> exp.Expr:
    """A query with variances in place of averages of squared distances from the mean of the same rows, wherever it has them.

    Args:
        tree: the query.
        present: whether a column of a table is never NULL.
    """
    if tree.find(exp.Avg) is None or tree.find(exp.Pow, exp.Mul) is None:
        return tree
    copy = tree.copy()
    for select in list(copy.find_all(exp.Select)):
        clause, joins = select.args.get("from_"), select.args.get("joins") or []
        plain = all(join.kind in ("", "CROSS") and not (join.side or join.args.get("on")) for join in joins)
        if clause is not None and plain and clauses_of(select) <= _PARTS:
            means = {name: of for join in joins for name, of in _means(join.this, clause.this).items()}
            _Deviations(select, clause.this, means).write(present)
    return copy


@dataclass(frozen=True)
class _Deviations:
    """A SELECT without groups over rows and their means.

    Attributes:
        select: the SELECT, which is changed.
        source: the source of the rows.
        means: the column of the rows that each column of the other sources is the mean of, in lower case.
    """

    select: exp.Select
    source: exp.Expr
    means: Mapping[str, str]

    def write(self, present: Present) -> None:
        """Write variances, and leave out sources that gave means for these alone."""
        for node in [n for n in self.select.find_all(exp.Avg, exp.Div) if n.parent_select is self.select]:
            squares = _averaged(node)
            value = None if squares is None else self._deviating(squares)
            if value is not None and (isinstance(node, exp.Avg) or is_present(value, self.select, present)):
                node.replace(exp.VariancePop(this=value.copy()))
        used = {(lowered(c.table), lowered(c.name)) for e in self.select.expressions for c in e.find_all(exp.Column)}
        kept = [join for join in self.select.args.get("joins") or [] if not _is_unused(join.this, self.source, used)]
        self.select.set("joins", kept)

    def _deviating(self, squares: exp.Expr) -> exp.Column | None:
        """The column of which an expression is the squared distance from the mean; None for others."""
        squared = isinstance(squares, exp.Pow) and squares.expression == exp.convert(2)
        squared = squared or (isinstance(squares, exp.Mul) and bare(squares.this) == bare(squares.expression))
        distance = bare(squares.this) if squared else None
        for value, mean in both_ways(distance, exp.Sub):
            own = isinstance(value, exp.Column) and lowered(value.table) in ("", lowered(self.source.alias_or_name))
            if isinstance(value, exp.Column) and own and self._mean(mean) == lowered(value.name):
                return value
        return None

    def _mean(self, node: exp.Expr) -> str | None:
        """The column of the rows that an expression is the mean of."""
        if isinstance(node, exp.Subquery):
            return next(iter(_means(node, self.source).values()), None)
        beside = isinstance(node, exp.Column) and (
            not node.table or lowered(node.table) != lowered(self.source.alias_or_name)
        )
        return self.means.get(lowered(node.name)) if beside else None


def _averaged(node: exp.Expr) -> exp.Expr | None:
    """What is averaged over all rows; None for other quotients, such as by one row less, which may be 0 / 0."""
    if isinstance(node, exp.Avg):
        return bare(node.this)
    call = bare(node.this)
    return bare(call.this) if isinstance(call, exp.Sum) and bare(node.args["expression"]) == _EVERY else None


def _means(place: exp.Expr, source: exp.Expr) -> dict[str, str]:
    """The columns of a source of one row that are means of a column of all rows of another source, and that column."""
    query = query_of(place)
    plain = isinstance(query, exp.Select) and clauses_of(query) == {"expressions", "from_"}
    if query is None or not plain or not are_same(query.args["from_"].this, source):
        return {}
    of = {name: value.this for name, value in shown_by_name(query).items() if isinstance(value, exp.Avg)}
    return {name: lowered(column.name) for name, column in of.items() if isinstance(column, exp.Column)}


def _is_unused(place: exp.Expr, source: exp.Expr, used: set[tuple[str, str]]) -> bool:
    """Whether a source of one row of means is named nowhere."""
    names, alias = _means(place, source), lowered(place.alias_or_name)
    query = query_of(place)
    alone = isinstance(query, exp.Select) and len(names) == len(query.expressions)
    return alone and not any(table == alias or (not table and name in names) for table, name in used)
