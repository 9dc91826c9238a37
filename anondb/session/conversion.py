"""Convert expressions over persons and joined tables with known rows to expressions over persons alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any

from sqlglot import exp

from anondb.errors import InputError
from anondb.query.conditions import WEIGHT
from anondb.query.flags import as_counts, decided
from anondb.query.refusals import name_of, unsupported
from anondb.query.relations import bare, is_null
from anondb.session.counts import CONDITIONS
from anondb.session.joined import Dimension, Registry, values_of, weights_of
from anondb.session.keys import VALUE


class Converter:
    """Converts expressions over persons and known tables to ones over persons alone.

    Attributes:
        inner: whether the aggregates are of the rows of one person, and not of all.
    """

    inner = False

    def __init__(
        self, dimensions: Sequence[Dimension], people: Callable[[exp.Column], bool], registry: Registry
    ) -> None:
        self._dimensions, self._people, self._registry = dimensions, people, registry
        self._repeated = [d for d in dimensions if d.repeats(registry)]
        self._bound: list[Dimension] = []  # tables with several rows for an item of which a condition chose one

    def merged(self, conditions: Sequence[exp.Expr]) -> list[exp.Expr]:
        """The conditions of WHERE; those on a table with several rows for an item as one, which a single row has to meet."""
        rest = list(conditions)
        for dimension in self._repeated:
            of_it = [c for c in rest if self._of(c) is dimension]
            rest = [c for c in rest if self._of(c) is not dimension]
            mixed = [c for c in rest if dimension in self._several(c)]
            if len(mixed) + bool(of_it) > 1:
                raise _several_rows(dimension)
            self._bound += [dimension] if of_it or mixed else []
            rest += [exp.and_(*(exp.paren(c) for c in of_it))] if of_it else []
        return rest

    def _several(self, node: exp.Expr) -> list[Dimension]:
        """The tables with several rows for an item on whose columns an expression depends."""
        columns = list(node.find_all(exp.Column))
        return [d for d in self._repeated if any(d.has(column, self._people) for column in columns)]

    def _check_row(self, node: exp.Expr) -> None:
        """Refuse a further expression of a table with several rows for an item: it need not be of the same row."""
        for dimension in self._several(node):
            if dimension in self._bound:
                raise _several_rows(dimension)

    def _check_parts(self, node: exp.Expr) -> None:
        """Refuse a condition whose parts, which are converted one by one, have to be met by the same row of a table."""
        if isinstance(node, exp.Or | exp.Paren) or node.find(exp.AggFunc):
            return
        for dimension in self._several(node):
            if not isinstance(node, exp.And) or all(
                dimension in self._several(side) for side in (node.left, node.right)
            ):
                raise _several_rows(dimension)

    def key(self, node: exp.Expr) -> exp.Expr:
        """A grouped expression over persons alone."""
        made = self.expression(node)
        self._bound += self._several(node)
        return made

    def check_joined(self, node: exp.Select) -> None:
        """Refuse a table with several rows for an item in a subquery whose rows are counted outside."""
        if self._repeated and not isinstance(node.parent, exp.In | exp.Exists | exp.Any):
            raise unsupported(
                "a join with a table that has several rows for an item", "Select DISTINCT ids, or GROUP BY the id."
            )

    def check_rows(self, node: exp.Expr) -> None:
        """Refuse aggregates that depend on how often a join repeats a row of persons."""
        if self._repeated and any(map(_counts_rows, node.find_all(exp.AggFunc))):
            raise unsupported(
                "a count of the rows of a join with a table that has several rows for an item",
                "Use count(DISTINCT id).",
            )

    def _of(self, node: exp.Expr) -> Dimension | None:
        """The known table on whose columns alone, or beside the item, an expression depends; None without its columns."""
        columns = list(node.find_all(exp.Column))
        used = [d for d in self._dimensions if any(d.has(c, self._people) for c in columns)]
        if len(used) != 1 or node.find(exp.Query, exp.AggFunc, exp.Window):
            return None
        (dimension,) = used
        others = [column for column in columns if not dimension.has(column, self._people)]
        return dimension if not others or (not dimension.outer and all(map(dimension.is_item, others))) else None

    def _touched(self, node: exp.Expr) -> bool:
        return any(d.has(c, self._people) for c in node.find_all(exp.Column) for d in self._dimensions)

    def condition(self, node: exp.Expr) -> exp.Expr:
        """A condition over persons alone."""
        if not self._touched(node):
            return node.copy()
        node = self._decided(node)
        dimension = self._of(node)
        if dimension is not None:
            return self.among(dimension, lambda value: value is True, node)
        if isinstance(node, exp.LogicalOr):  # unknown counts as false
            self.check_rows(node)
            self._check_row(node)
            return exp.LogicalOr(this=self.condition(node.this))
        self._check_parts(node)
        if not isinstance(node, exp.And | exp.Or | exp.Paren):
            self._check_null_free(node)
        if isinstance(node, exp.And | exp.Or | exp.Paren | exp.Not):
            made = node.copy()
            for key in ("this", "expression"):
                if node.args.get(key) is not None:
                    made.set(key, self.condition(node.args[key]))
            return made
        return self.expression(node)

    def _decided(self, node: exp.Expr) -> exp.Expr:
        """A comparison of the least or greatest value of a person as a condition on the rows, none of which is unknown."""
        made = decided(node) if self.inner else node
        if made is not node:
            self._check_null_free(made)
        return made

    def _check_null_free(self, node: exp.Expr) -> None:
        """Refuse an operation on a part that depends on a joined table and is NULL for some item."""
        dimension = self._of(node)
        if isinstance(node, exp.AggFunc | exp.Filter) and not isinstance(node, exp.LogicalOr | exp.LogicalAnd):
            return  # of many rows
        if dimension is None:
            for part in node.iter_expressions():
                self._check_null_free(part)
        elif self._may_be_null(dimension, node):
            raise unsupported(
                "NOT or another operation on a column of a joined table with NULLs",
                "Use coalesce, or a condition of its own.",
            )

    def _may_be_null(self, dimension: Dimension, node: exp.Expr) -> bool:
        """Whether an expression of a joined table is NULL for a row that may be there."""
        values = dimension.values(node, self._registry)
        if dimension.outer and dimension.without(node, self._registry) is None:
            return True
        return any(value is None and self._registry.may_hold(item) for item, value in values)

    def among(self, dimension: Dimension, wanted: Callable[[Any], bool], node: exp.Expr) -> exp.Expr:
        """The condition that the value of an expression for the item is a wanted one."""
        rows = dimension.values(node, self._registry)
        listed = sorted({item for item, value in rows if wanted(value)})
        item = dimension.item.copy()
        if dimension.outer and wanted(dimension.without(node, self._registry)):
            others = sorted({item for item, _ in rows} - set(listed))
            if not others:
                return exp.true()
            return exp.paren(exp.or_(item.copy().is_(exp.null()), exp.Not(this=exp.paren(_in(item, others)))))
        return _in(item, listed) if listed else exp.false()

    def expression(self, node: exp.Expr) -> exp.Expr:
        """An expression, with its aggregates, over persons alone.

        Raises:
            InputError: ``unsupported_query``.
        """
        if isinstance(node, exp.Alias):
            named = node.copy()
            named.set("this", self.expression(node.this))
            return named
        node = self._decided(node) if self._touched(node) else node
        node = as_counts(node) if self.inner else node
        self.check_rows(node)
        if not self._touched(node):
            return node.copy()
        self._check_row(node)
        if isinstance(node, exp.Filter):
            if self.inner and not isinstance(node.this, exp.Count) and as_counts(node.this) is not node.this:
                raise unsupported(f"{name_of(node.this)} of conditions with FILTER", "Write the condition into CASE.")
            inner, wanted = self.expression(node.this), self.condition(node.expression.this)
            if isinstance(inner, exp.Filter):
                inner, wanted = inner.this, exp.and_(inner.expression.this, wanted)
            return exp.Filter(this=inner, expression=exp.Where(this=wanted))
        made = self._aggregate(node) if isinstance(node, exp.AggFunc) else None
        if made is not None:
            return made
        dimension = self._of(node)
        if dimension is not None:
            return self._condition_or_value(dimension, node)
        if isinstance(node, CONDITIONS):
            self._check_null_free(node)
        if isinstance(node, exp.Case | exp.If) and (several := self._several(node)):
            raise _several_rows(several[0])
        made = node.copy()
        for key, part in node.args.items():
            if key == "ifs":
                made.set(key, [exp.If(this=self.condition(p.this), true=self.expression(p.args["true"])) for p in part])
            elif isinstance(part, list):
                made.set(key, [self._child(node, key, p) for p in part])
            elif isinstance(part, exp.Expr):
                made.set(key, self._child(node, key, part))
        if any(call.name == VALUE for call in made.find_all(exp.Anonymous)):
            raise unsupported("an expression of a joined table and other columns", "Compute it in the table.")
        return made

    def _aggregate(self, node: exp.AggFunc) -> exp.Expr | None:
        """An aggregate over persons alone; None for a sum, an average or a count of parts that are converted one by one."""
        of = None if node.this is None else self._of(node.this)
        if isinstance(node.this, exp.Distinct):
            if of is None:
                return None
            if self.inner and isinstance(node, exp.Count) and len(node.this.expressions) == 1:
                return self._merged(node, bare(node.this.expressions[0]), of)
            raise unsupported(f"{name_of(node)} DISTINCT of a column of a joined table", "Group by it.")
        if of is not None and self.inner and isinstance(node, exp.Max | exp.Min) and node.args.get("count") is None:
            return self._merged(node, bare(node.this), of)
        if isinstance(node, exp.Count):
            present = exp.Not(this=exp.paren(is_null(node.this)))
            counted = exp.Count(this=exp.Star(), big_int=True)
            return exp.Filter(this=counted, expression=exp.Where(this=self.condition(present)))
        if of is not None and isinstance(node, exp.Sum | exp.Avg | exp.CountIf):
            truths = isinstance(node, exp.CountIf) or isinstance(bare(node.this), CONDITIONS)
            if not truths:
                return self._weighted(node, of)
            if not self.inner and self._may_be_null(of, node.this):  # the sum of no row that is known is NULL
                return self._weighted(exp.Sum(this=exp.cast(exp.paren(node.this), "INTEGER")), of)
        if isinstance(node, exp.LogicalOr | exp.LogicalAnd | exp.CountIf):
            self._check_null_free(node.this)
            return type(node)(this=self.condition(node.this))
        if not isinstance(node, exp.Sum | exp.Avg):
            raise unsupported(f"{name_of(node)} of a column of a joined table")
        return None

    def _child(self, node: exp.Expr, key: str, part: Any) -> Any:
        if not isinstance(part, exp.Expr) or isinstance(part, exp.Identifier | exp.DataType):
            return part
        if isinstance(node, exp.If) and key == "this":
            return self.condition(part)
        if not isinstance(part, CONDITIONS):
            return self.expression(part)
        self._check_null_free(part)
        return self.condition(part)

    def _weighted(self, node: exp.Expr, dimension: Dimension) -> exp.Expr:
        """The sum or mean of a number of each item."""
        inner = bare(node.this)
        values = [*dimension.values(inner, self._registry), *self._others(inner, dimension)]
        if self.inner and self._may_be_null(dimension, inner):
            raise unsupported("the sum of a column with NULLs for each person", "Use coalesce(..., 0).")
        number = self._registry.weigh(weights_of([(item, value) for item, value in values if value is not None]))
        call = exp.Anonymous(this=WEIGHT, expressions=[dimension.item.copy(), exp.Literal.number(number)])
        total = exp.Sum(this=call)
        present = self.condition(exp.Not(this=exp.paren(is_null(inner))))
        if isinstance(node, exp.Sum):
            return total
        counted = exp.Filter(this=exp.Count(this=exp.Star(), big_int=True), expression=exp.Where(this=present))
        return exp.Div(this=total, expression=counted, typed=False, safe=False)

    def _merged(self, node: exp.Expr, inner: exp.Expr, dimension: Dimension) -> exp.Expr:
        """The greatest or the least number of a person, or the number of their different values."""
        without = dimension.without(inner, self._registry) if dimension.outer else None
        if without is not None and self._registry.may_hold_others:
            raise unsupported("items without a row of the table, which may be suppressed or spelled otherwise")
        every = [*dimension.values(inner, self._registry), *self._others(inner, dimension)]
        values = [(item, value) for item, value in every if value is not None]
        if isinstance(node, exp.Count):
            self._check_values(dimension, inner)
            weights = values_of(values)
        elif self._may_be_null(dimension, inner):
            raise unsupported(f"{name_of(node)} of a column with NULLs for each person", "Use coalesce.")
        else:
            weights = weights_of(values, node.key)
        number = exp.Literal.number(self._registry.weigh(weights))
        call = exp.Anonymous(this=WEIGHT, expressions=[dimension.item.copy(), number])
        return type(node)(this=exp.Distinct(expressions=[call]) if isinstance(node, exp.Count) else call)

    def _others(self, node: exp.Expr, dimension: Dimension) -> list[tuple[str, Any]]:
        """The value of an expression for the items of a LEFT JOIN without a row of the table, unless it is NULL."""
        without = dimension.without(node, self._registry) if dimension.outer else None
        if without is None:
            return []
        if without != 0 and self._registry.may_hold_others:
            raise unsupported(
                "the sum over items without a row of the table, which may be suppressed or spelled otherwise"
            )
        with_row = {item for item, _ in dimension.values(node, self._registry)}
        return [(item, without) for item in self._registry.items if item not in with_row]

    def _check_values(self, dimension: Dimension, node: exp.Expr) -> str:
        """Refuse values that cannot be told apart as DuckDB does; returns their SQL type."""
        kind = dimension.kind(node, self._registry)
        if any(isinstance(value, float) and isnan(value) for _, value in dimension.values(node, self._registry)):
            raise unsupported("the different values of a column with NaN", "Make it NULL in the table.")
        if kind == "DATE" or kind.startswith("TIMESTAMP"):  # in Python, infinite ones are the last of the calendar
            finite = exp.Anonymous(this="isfinite", expressions=[node.copy()])
            if any(is_finite is False for _, is_finite in dimension.values(finite, self._registry)):
                raise unsupported(
                    "the different values of a column with infinite dates", "Make them NULL in the table."
                )
        return kind

    def _condition_or_value(self, dimension: Dimension, node: exp.Expr) -> exp.Expr:
        """A condition on the item, or a value of the item to group by."""
        if isinstance(bare(node), CONDITIONS) and not self._may_be_null(dimension, node):
            return self.condition(node)
        kind = self._check_values(dimension, node)
        values: dict[Any, set[str]] = {}
        for item, value in dimension.values(node, self._registry):
            values.setdefault(value, set()).add(item)
        conditions = {value: _in(dimension.item.copy(), sorted(items)) for value, items in values.items()}
        if dimension.outer:
            without = dimension.without(node, self._registry)
            conditions[without] = self.among(dimension, lambda value: value == without, node)
        number = self._registry.group([(value, condition, kind) for value, condition in conditions.items()])
        return exp.Anonymous(this=VALUE, expressions=[dimension.item.copy(), exp.Literal.number(number)])


def _several_rows(dimension: Dimension) -> InputError:
    return unsupported(
        f"several conditions or columns of {dimension.alias!r}, a table with several rows for an item",
        "Choose the rows before the join, in a subquery.",
    )


def _counts_rows(node: exp.Expr) -> bool:
    """Whether an aggregate depends on how often an item is repeated by a join."""
    if isinstance(node, exp.Count):
        return not isinstance(node.this, exp.Distinct)
    return isinstance(node, exp.AggFunc) and not isinstance(node, exp.LogicalOr)


def _in(item: exp.Expr, labels: Sequence[str]) -> exp.Expr:
    return exp.In(this=item, expressions=[exp.Literal.string(label) for label in labels])
