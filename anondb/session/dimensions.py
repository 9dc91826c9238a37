"""Tables with known rows that a query joins with persons by the item: taxonomies, price lists, the analyst's own groups.

Such a table leaves the FROM clause: a condition on its columns becomes a condition on the item (``item IN (...)``), a number
becomes a weight of each item, a grouped expression becomes groups of items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlglot import exp

from anondb.query.conditions import WEIGHT
from anondb.query.parsing import lowered
from anondb.query.refusals import name_of, only, unsupported
from anondb.query.relations import bare, operands
from anondb.session.compiler import Compiler, Env
from anondb.session.counts import CONDITIONS
from anondb.session.expressions import read
from anondb.session.keys import VALUE
from anondb.session.known import Known, Sources
from anondb.session.sources import source_rows


class Registry(Protocol):
    """Where numbers and values of items are kept while a query is converted, and known rows are read."""

    def weigh(self, weights: dict[str, float]) -> int:
        """Keep a number for each item; returns the number of the mapping."""
        ...

    def group(self, values: list[tuple[Any, frozenset[str], str]]) -> int:
        """Keep values with the items that have them, and the SQL type; returns the number of the list."""
        ...

    def rows(self, tree: exp.Query) -> list[tuple[Any, ...]]:
        """Run a query on the desk."""
        ...


@dataclass
class Dimension:
    """A table with known rows.

    Attributes:
        alias: its name in the query.
        known: its rows.
        item: the item column that it is joined with.
        key: the column of the table.
        outer: whether items without a row stay (LEFT JOIN).
    """

    alias: str
    known: Known
    item: exp.Expr
    key: exp.Column
    outer: bool
    _cache: dict[exp.Expr, list[tuple[str, Any]]] = field(default_factory=dict)

    def names(self) -> set[str]:
        """The names of its columns, in lower case."""
        return {lowered(c.name) for c in self.known.columns}

    def has(self, node: exp.Column, people: Callable[[exp.Column], bool]) -> bool:
        """Whether a column is one of the table."""
        if node.table:
            return lowered(node.table) == self.alias
        return lowered(node.name) in self.names() and not people(node)

    def repeats(self, registry: Registry) -> bool:
        """Whether an item has several rows."""
        items = [item for item, _ in self.values(exp.true(), registry)]
        return len(set(items)) < len(items)

    def values(self, node: exp.Expr, registry: Registry) -> list[tuple[str, Any]]:
        """The value of an expression for each row, beside the item of the row; rows without an item are left out."""
        if node not in self._cache:
            sources = Sources()
            source = sources.add(self.known, self.alias)

            def resolve(part: exp.Expr) -> Any:
                if not isinstance(part, exp.Column):
                    return None
                if part == self.item:
                    return resolve(self.key)
                return sources.column(part)

            listed = [read(part, resolve) for part in (self.key, node)]
            if not all(value.exact for value in listed):
                raise unsupported("a join of items with estimates")
            key = exp.cast(listed[0].estimate.copy(), "VARCHAR")
            rows = registry.rows(exp.select(key, listed[1].estimate.copy()).from_(source))
            self._cache[node] = [(item, value) for item, value in rows if item is not None]
        return self._cache[node]


class Dimensions:
    """Removes tables with known rows from the SELECTs of persons."""

    def __init__(self, compiler: Compiler, registry: Registry, is_person: Callable[[exp.Expr, Env], bool]) -> None:
        self._compiler, self._registry, self._is_person = compiler, registry, is_person

    def without(
        self, node: exp.Select, env: Env, is_column: Callable[[exp.Select, exp.Column], bool]
    ) -> tuple[exp.Select, Converter]:
        """FROM, joins and WHERE of a SELECT of persons without its known tables, and what converts its expressions.

        Args:
            node: the SELECT.
            env: the common table expressions that it sees.
            is_column: whether a name is a column of the persons of a FROM clause.

        Raises:
            InputError: ``unsupported_query``.
        """
        joins = list(node.args.get("joins") or ())
        places = [node.args["from_"], *joins]
        known = [place for place in places if not self._is_person(place.this, env)]
        people = [place for place in places if not any(place is other for other in known)]
        pool = _conjuncts(node.args.get("where"))
        made = exp.select().from_(people[0].this.copy())
        if known and isinstance(
            people[0], exp.Join
        ):  # a known table came first: the condition of the join moves to WHERE
            only(people[0], "this", "on", "using", "kind")
            pool += _conjuncts(people[0], "on")
        made.set("joins", [join.copy() for join in people[1:]])

        def is_people(column: exp.Column) -> bool:
            return is_column(made, column)

        dimensions = []
        for place in known:
            if isinstance(place, exp.Join) and place.side != "LEFT":
                pool += _conjuncts(place, "on")
            dimensions.append(self._dimension(place, joins, pool, env, is_people))
        converter = Converter(dimensions, is_people, self._registry)
        conditions = [converter.condition(c) for c in pool]
        conditions += [converter.among(d, lambda _: True, exp.true()) for d in dimensions if not d.outer]
        if conditions:
            made.set("where", exp.Where(this=exp.and_(*conditions)))
        return made, converter

    def _dimension(
        self,
        place: exp.Expr,
        joins: Sequence[exp.Join],
        pool: list[exp.Expr],
        env: Env,
        is_people: Callable[[exp.Column], bool],
    ) -> Dimension:
        """A known table with the columns by which it is joined; their equality leaves the conditions of the SELECT."""
        relation, alias = source_rows(self._compiler, place.this, env)
        if not relation.exact:
            raise unsupported("a join of persons with estimates", "Join the results of two queries.")
        names = {lowered(c.name) for c in relation.columns}
        outer, using = False, None
        if isinstance(place, exp.Join):
            only(place, "this", "side", "kind", "on", "using")
            if place.side not in ("", "LEFT") or place.kind not in ("", "INNER", "CROSS", "OUTER"):
                raise unsupported(f"{place.side or place.kind} JOIN with the table {alias!r}")
            outer = place.side == "LEFT"
            using = next(iter(place.args.get("using") or ()), None)
        else:
            using = next((u for join in joins for u in join.args.get("using") or ()), None)
        if using is not None:
            return Dimension(lowered(alias), relation, exp.column(using.name), exp.column(using.name, alias), outer)
        conditions = _conjuncts(place, "on") if outer else pool
        if outer and len(conditions) > 1:
            raise unsupported("LEFT JOIN of items on more than the item")
        for condition in conditions:
            parts = (condition.left, condition.right) if isinstance(condition, exp.EQ) else ()
            sides = [side for side in map(bare, parts) if isinstance(side, exp.Column)]
            for one, two in (sides, sides[::-1]) if len(sides) == 2 else ():
                of_table = lowered(two.table) == lowered(alias) if two.table else lowered(two.name) in names
                if of_table and lowered(one.table) != lowered(alias) and is_people(one):
                    pool[:] = [c for c in pool if c is not condition]
                    return Dimension(lowered(alias), relation, one, two, outer)
        raise unsupported(f"a join with the table {alias!r} without an equal item", "Join it on the item column.")


def _conjuncts(node: exp.Expr | None, key: str = "this") -> list[exp.Expr]:
    """The conditions that WHERE or ON connects by AND."""
    condition = node.args.get(key) if node is not None else None
    if condition is None:
        return []
    whole = bare(condition)
    return operands(whole) if isinstance(whole, exp.And) else [whole]


class Converter:
    """Converts expressions over persons and known tables to ones over persons alone."""

    def __init__(
        self, dimensions: Sequence[Dimension], people: Callable[[exp.Column], bool], registry: Registry
    ) -> None:
        self._dimensions, self._people, self._registry = dimensions, people, registry

    def _of(self, node: exp.Expr) -> Dimension | None:
        """The known table on whose columns alone, beside the item, an expression depends; None without its columns."""
        columns = list(node.find_all(exp.Column))
        used = [d for d in self._dimensions if any(d.has(c, self._people) for c in columns)]
        if len(used) != 1 or node.find(exp.Query, exp.AggFunc, exp.Window):
            return None
        (dimension,) = used
        return dimension if all(dimension.has(c, self._people) or c == dimension.item for c in columns) else None

    def _touched(self, node: exp.Expr) -> bool:
        return any(d.has(c, self._people) for c in node.find_all(exp.Column) for d in self._dimensions)

    def condition(self, node: exp.Expr) -> exp.Expr:
        """A condition over persons alone."""
        if not self._touched(node):
            return node.copy()
        dimension = self._of(node)
        if dimension is not None:
            return self.among(dimension, lambda value: value is True, node)
        if isinstance(node, exp.And | exp.Or | exp.Paren | exp.Not):
            if isinstance(node, exp.Not):
                self._check_null_free(node)
            made = node.copy()
            for key in ("this", "expression"):
                if node.args.get(key) is not None:
                    made.set(key, self.condition(node.args[key]))
            return made
        return self.expression(node)

    def _check_null_free(self, node: exp.Expr) -> None:
        """Refuse NOT around a condition that may be unknown for some row."""
        for part in node.find_all(*CONDITIONS):
            dimension = self._of(part) if isinstance(part, exp.Expr) else None
            if dimension is not None and any(v is None for _, v in dimension.values(part, self._registry)):
                raise unsupported("NOT of a condition on a joined table with NULLs", "Write the condition without NOT.")

    def among(self, dimension: Dimension, wanted: Callable[[Any], bool], node: exp.Expr) -> exp.Expr:
        """The condition that the value of an expression for the item is a wanted one."""
        rows = dimension.values(node, self._registry)
        listed = sorted({item for item, value in rows if wanted(value)})
        item = dimension.item.copy()
        if dimension.outer:
            without = self._registry.rows(exp.select(self._nulls(node, dimension)))[0][0]
            if wanted(without):
                others = sorted({item for item, _ in rows} - set(listed))
                return exp.Not(this=exp.paren(_in(item, others))) if others else exp.true()
        return _in(item, listed) if listed else exp.false()

    def _nulls(self, node: exp.Expr, dimension: Dimension) -> exp.Expr:
        """An expression for an item without a row."""
        if any(c == dimension.item for c in node.find_all(exp.Column)):
            raise unsupported("LEFT JOIN of items with an expression of the item and the table")
        return node.copy().transform(lambda part: exp.null() if isinstance(part, exp.Column) else part)

    def expression(self, node: exp.Expr) -> exp.Expr:
        """An expression, with its aggregates, over persons alone.

        Raises:
            InputError: ``unsupported_query``.
        """
        if any(d.repeats(self._registry) for d in self._dimensions) and _counts_rows(node):
            raise unsupported(
                f"{name_of(node)} of a join with a table that has several rows for an item", "Use count(DISTINCT id)."
            )
        if not self._touched(node):
            return node.copy()
        if isinstance(node, exp.Filter):
            inner, wanted = self.expression(node.this), self.condition(node.expression.this)
            if isinstance(inner, exp.Filter):
                inner, wanted = inner.this, exp.and_(inner.expression.this, wanted)
            return exp.Filter(this=inner, expression=exp.Where(this=wanted))
        if isinstance(node, exp.Count) and not isinstance(node.this, exp.Distinct):
            present = exp.Not(this=exp.paren(node.this.copy().is_(exp.null())))
            counted = exp.Count(this=exp.Star(), big_int=True)
            return exp.Filter(this=counted, expression=exp.Where(this=self.condition(present)))
        if isinstance(node, exp.LogicalOr | exp.LogicalAnd | exp.CountIf):
            return type(node)(this=self.condition(node.this))
        if (
            isinstance(node, exp.Sum | exp.Avg)
            and self._of(node.this) is not None
            and not isinstance(bare(node.this), CONDITIONS)
        ):
            return self._weighted(node)
        dimension = self._of(node)
        if dimension is not None:
            return self._condition_or_value(dimension, node)
        if isinstance(node, exp.AggFunc) and not isinstance(node, exp.Sum | exp.Avg | exp.Count):
            raise unsupported(f"{name_of(node)} of a column of a joined table")
        made: exp.Expr = node.copy()
        for key, part in node.args.items():
            if isinstance(part, list):
                made.set(key, [self._child(node, key, p) for p in part])
            elif isinstance(part, exp.Expr):
                made.set(key, self._child(node, key, part))
        return made

    def _child(self, node: exp.Expr, key: str, part: Any) -> Any:
        if not isinstance(part, exp.Expr) or isinstance(part, exp.Identifier | exp.DataType):
            return part
        conditional = isinstance(node, exp.If) and key == "this"
        return self.condition(part) if conditional or isinstance(part, CONDITIONS) else self.expression(part)

    def _weighted(self, node: exp.Expr) -> exp.Expr:
        """The sum or mean of a number of each item."""
        inner = bare(node.this)
        dimension = self._of(inner)
        assert dimension is not None
        weights: dict[str, float] = {}
        for item, value in dimension.values(inner, self._registry):
            if value is None:
                continue
            if isinstance(value, bool) or (not isinstance(value, int | float) and not hasattr(value, "as_tuple")):
                raise unsupported(f"{name_of(node)} of something else than numbers")
            weights[item] = weights.get(item, 0.0) + float(value)
        call = exp.Anonymous(
            this=WEIGHT, expressions=[dimension.item.copy(), exp.Literal.number(self._registry.weigh(weights))]
        )
        total = exp.Sum(this=call)
        present = self.condition(exp.Not(this=exp.paren(inner.copy().is_(exp.null()))))
        if isinstance(node, exp.Sum):
            return total
        counted = exp.Filter(this=exp.Count(this=exp.Star(), big_int=True), expression=exp.Where(this=present))
        return exp.Div(this=total, expression=counted, typed=False, safe=False)

    def _condition_or_value(self, dimension: Dimension, node: exp.Expr) -> exp.Expr:
        """A condition on the item, or a value of the item to group by."""
        if isinstance(bare(node), CONDITIONS):
            return self.condition(node)
        if dimension.outer:
            raise unsupported("GROUP BY a column of the right side of a LEFT JOIN")
        values: dict[Any, set[str]] = {}
        for item, value in dimension.values(node, self._registry):
            values.setdefault(value, set()).add(item)
        kind = _kind(list(values))
        number = self._registry.group([(v, frozenset(items), kind) for v, items in values.items()])
        return exp.Anonymous(this=VALUE, expressions=[dimension.item.copy(), exp.Literal.number(number)])


def _counts_rows(node: exp.Expr) -> bool:
    """Whether an aggregate depends on how often an item is repeated by a join."""
    if isinstance(node, exp.Count):
        return not isinstance(node.this, exp.Distinct)
    return isinstance(node, exp.Sum | exp.Avg | exp.CountIf)


def _in(item: exp.Expr, labels: Sequence[str]) -> exp.Expr:
    return exp.In(this=item, expressions=[exp.Literal.string(label) for label in labels])


def _kind(values: Sequence[Any]) -> str:
    """The SQL type of values of one column."""
    kinds = {type(v) for v in values if v is not None}
    for python, kind in ((bool, "BOOLEAN"), (int, "BIGINT"), (float, "DOUBLE")):
        if kinds == {python}:
            return kind
    return "VARCHAR" if kinds <= {str} else "DOUBLE" if kinds <= {int, float} else "VARCHAR"
