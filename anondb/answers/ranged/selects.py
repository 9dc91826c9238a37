"""Convert one SELECT to a SELECT over known rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.aggregates import Rows, aggregates, as_average, as_quotient
from anondb.answers.ranged.clauses import aliased, conditions_of, is_same_key, places_of, set_conditions
from anondb.answers.ranged.compiler import ROWS_HINT, Compiler, Env, Grouped
from anondb.answers.ranged.expressions import Around, computed, read
from anondb.answers.ranged.item_filters import with_item_filters
from anondb.answers.ranged.leading import check_limits, leading, number_of_rows, orderings_of, rows_kept
from anondb.answers.ranged.listed_groups import by_constants
from anondb.answers.ranged.relation import ONE_GROUP, SURE, Ranged, Sources, described, projected
from anondb.answers.ranged.rollups import sum_of_rows
from anondb.answers.ranged.sources import check_one, grouped, source_rows
from anondb.answers.ranged.subqueries import among, beside_rows, exists, rows_around, scalar
from anondb.answers.ranged.values import Value, ambiguous, holds, narrowed
from anondb.answers.ranged.windows import Windows
from anondb.query.parsing import bare, conjoined, lowered, whole
from anondb.query.refusals import name_of, only, unsupported

MANY_NODES = 60  # of an expression that is computed once, in a column
CHOSEN_NOTE = "Estimates alone choose the rows, since no rule reads this: "
ITEM_NOTE = "Items are ordered as texts; in the original they are numbers or the like, with another order."


class SelectRows:
    """One SELECT while it is converted."""

    def __init__(
        self,
        compiler: Compiler,
        node: exp.Select,
        env: Env,
        source: Ranged | None = None,
        *,
        ended: bool = False,
        around: Around | None = None,
    ) -> None:
        parts = ("expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "order", "limit")
        only(node, *parts, "offset", "with_")
        check_limits(node)
        self.compiler, self.node, self.env, self.ended, self._around = compiler, node, env, ended, around
        self.sources = Sources()
        self.grouped: Grouped | None = None
        self.aliases = aliased(node)
        self._reading: list[str] = []
        if source is not None:
            self.sources.tree.set("from_", exp.From(this=self.sources.add(source, "")))
        elif self._on_persons():
            self.node = node = with_item_filters(node, *compiler.persons_tests(env))
            self.grouped = compiler.people.grouped(node, env, compiler, ended=ended)
            self.sources.tree.set("from_", exp.From(this=self.sources.add(self.grouped.rows, "")))
        else:
            self._from()
        groups = self.grouped is None and node.args.get("group") is not None
        self._rows = Rows(_all(self.sources.sure), open=self.sources.open, groups=groups)
        self._shown = self._windowed = self._rows  # after GROUP BY; what window functions see, which is before QUALIFY
        self._asked, self._cut = False, self.sources.cut

    # ---------------------------------------------------------------- FROM

    def _on_persons(self) -> bool:
        """Whether the SELECT reads tables of persons."""
        return any(self.compiler.people.is_source(place.this, self.env) for place in places_of(self.node))

    def _from(self) -> None:
        clause = self.node.args.get("from_")
        if clause is None:
            return
        only(clause, "this")
        source = self.sources.add(*source_rows(self.compiler, clause.this, self.env))
        self.sources.tree.set("from_", exp.From(this=source))
        for join in self.node.args.get("joins") or ():
            self._join(join)

    def _join(self, join: exp.Join) -> None:
        """Join known rows: each two for which the condition is possible, unless rows without another stay, too.

        LEFT JOIN of rows that may be missing, at most one for each row, has NULL or their numbers.
        """
        only(join, "this", "side", "kind", "on", "using")
        if join.kind in ("SEMI", "ANTI"):
            raise unsupported(f"{join.kind} JOIN beside RIGHT or FULL JOIN", "Use IN or NOT IN.")
        relation, alias = source_rows(self.compiler, join.this, self.env)
        left, flagged = join.side == "LEFT", relation.flagged
        if join.side and (relation.open or (not left and (flagged or self.sources.sure))):
            raise unsupported(f"{join.side} JOIN of rows that an estimate chose")
        if left and not flagged:
            relation = replace(relation, tree=exp.select("*", exp.true().as_(SURE)).from_(relation.tree.subquery("r")))
        source = self.sources.add(replace(relation, flagged=flagged and not left), alias)
        conditions = []
        if join.args.get("on") is not None:
            condition = read(join.args["on"], self.resolve)
            if not condition.exact and join.side:
                raise unsupported(f"{join.side} JOIN on an estimate")
            certain, possible = condition.truths
            conditions.append(possible)
            if not condition.exact:
                self.sources.asked, self.sources.cut = True, self.sources.cut or condition.unknown
                self.sources.sure.append(holds(certain, unknown=False))
        shared = [lowered(identifier.name) for identifier in join.args.get("using") or ()]
        conditions += [self.sources.shared(name, join.side) for name in shared]
        self.sources.missing(join.side)
        if left and flagged:
            check_one(self.compiler, self.sources.tree, source, _all(conditions))
        if left:
            self.sources.set_optional(exp.column(SURE, source.alias), flagged=flagged)
        made = exp.Join(this=source, side=join.side or None, kind=join.kind or None, on=_all(conditions))
        self.sources.tree.append("joins", made)

    # ---------------------------------------------------------------- names

    def resolve(self, node: exp.Expr) -> Value | None:
        """Look up what is not an operation: columns, aggregates, window functions, subqueries."""
        if isinstance(node, exp.Literal) and self.compiler.tables.typed:
            return Value(node.copy(), present=True, plain=self.compiler.tables.plain(frozenset({node.name})))
        if self.grouped is not None:
            if (count := self.grouped.counts.get(node)) is not None:
                return Value(why=count) if isinstance(count, str) else read(count, self.resolve)
            if (key := self._key_value(node)) is not None:
                return key
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Window):
            rows = self.sources, self._windowed, self._all_groups
            return Windows(self.compiler, self.env, self.node, *rows, self.resolve).value(node)
        if isinstance(node, exp.AggFunc) or (isinstance(node, exp.Filter) and isinstance(node.this, exp.AggFunc)):
            alone = sum_of_rows(node, self.node, self.env)
            value = self._rows.aggregate(node, self.resolve)
            if isinstance(filtered(node)[0], exp.Avg) and not value.exact:
                return narrowed(value, computed(as_quotient(node), self.resolve))
            return value if alone is None else narrowed(value, scalar(alone, self.compiler, self.env))
        if isinstance(node, exp.Div) and self.grouped is None and (average := as_average(node, self.resolve)) is not None:
            return average
        if isinstance(node, exp.Anonymous):
            self._check_function(node)
        if isinstance(node, exp.Subquery):
            of = beside_rows(node, self._key_value, self.sources, self.compiler, self.env)
            return of or scalar(node, self.compiler, self.env, self._outer)
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            return among(node, self.resolve, self.compiler, self.env, self._outer)
        if isinstance(node, exp.Exists):
            return exists(node, self.compiler, self.env, self._outer)
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
            value = computed(node, self.resolve)
            long = value.upper is not None and value.is_longer(MANY_NODES)  # an exact value repeats no operand
            return self.sources.once(value, over=False) if long else value
        return None

    @property
    def _outer(self) -> Around:
        """The rows, or the groups, as a subquery sees them."""
        return rows_around(self.sources, self.resolve, self.compiler)

    def _check_function(self, node: exp.Anonymous) -> None:
        """Refuse an aggregate that is not known here over rows that may not be there, or that stand for groups."""
        certain = self._rows.sure is None and not self._rows.open and self.grouped is None
        if not certain and self.compiler.tables.is_aggregate(node.name):
            raise unsupported(f"{name_of(node)} of rows that counts choose", "Ask for the rows, and put them together.")

    @property
    def _all_groups(self) -> bool:
        """Whether the SELECT is over groups of persons, and its windows are over all of them."""
        return self.grouped is not None and self.node.args.get("having") is None

    def _key(self, node: exp.Expr) -> int | None:
        """The column of a grouped expression; columns are compared by their names."""
        assert self.grouped is not None
        if node in self.grouped.keys:
            return self.grouped.keys[node]
        return next((number for key, number in self.grouped.keys.items() if is_same_key(key, node)), None)

    def _key_value(self, node: exp.Expr) -> Value | None:
        """The value of a grouped expression, or, without groups, of a column of the only source."""
        if self.grouped is None:
            if len(self.sources.by_alias) != 1 or not isinstance(node, exp.Column):
                return None
            value = self.sources.column(node)
            return value if value is not None and value.exact else None
        key = self._key(node)
        return None if key is None else self.sources.by_alias[0][1][key][1]

    def _column(self, node: exp.Column) -> Value:
        if isinstance(node.this, exp.Star):
            raise unsupported("table.* in an expression")
        value = self.sources.column(node)
        if value is not None:
            return value
        name = lowered(node.name)
        if not node.table and name in self.aliases and name not in self._reading:
            self._reading.append(name)
            try:
                return read(self.aliases[name], self.resolve)
            finally:
                self._reading.pop()
        if self.grouped is not None:
            raise unsupported(f"the column {node.name!r} outside of aggregates and GROUP BY")
        if self._around is not None:
            return self._around.column(node)
        raise unsupported(f"the column {node.name!r} in this place")

    # ---------------------------------------------------------------- the result

    def rows(self) -> Ranged:
        """The rows of the SELECT."""
        where = self.node.args.get("where")
        if where is not None and self.grouped is None:
            only(where, "this")
            self._rows = self._filter(where.this, "where", self._rows)
        if any(not k.exact for k in self._keys()) and (constants := by_constants(self.node)) is not None:
            return self.compiler.query(constants, self.env, ended=self.ended)
        self._shown = self._grouped() if self._groups() else self._rows
        for clause in ("having", "qualify"):
            condition = self.node.args.get(clause)
            if condition is not None:
                only(condition, "this")
                of_groups = self._all_groups if clause == "qualify" else self.grouped is not None
                place = "where" if of_groups else clause
                self._shown = self._filter(condition.this, place, self._shown)
            if clause == "having":
                self._windowed = self._shown
        names, values = self._projection()
        values = [value.within(self._shown.limits) for value in values]
        once = self.node.args.get("distinct") is not None and self._is_merged(values)
        tree, listed = self._ended(values)
        rows = self._shown
        if rows.sure is not None:
            listed.append(rows.sure.copy().as_(SURE))
        tree.set("expressions", listed)
        flagged = rows.sure is not None
        if once and flagged:  # equal rows are there for certain if one of them is
            certain_of_group = exp.LogicalOr(this=exp.column(SURE)).as_(SURE)
            keys = [exp.column(f"c{n}") for n in range(len(values))]
            tree = exp.select(*keys, certain_of_group).from_(tree.subquery("each")).group_by(*keys)
        elif once:
            tree.set("distinct", exp.Distinct())
        asked = flagged and (self._asked or self.sources.asked)
        unsure = flagged and self.sources.unsure and not self._cut  # of those that an order chose, none is certain
        return Ranged(tree, described(names, values), flagged, asked, rows.open, unsure, self._cut)

    def _groups(self) -> bool:
        """Whether the SELECT groups known rows."""
        if self.grouped is not None:
            return False
        parts = [*self.node.expressions, self.node.args.get("having"), self.node.args.get("order")]
        return self.node.args.get("group") is not None or any(any(True for _ in aggregates(p)) for p in parts)

    def _keys(self) -> list[Value]:
        """The values of GROUP BY over known rows."""
        if self.grouped is not None or self.node.args.get("group") is None:
            return []
        return [read(node, self.resolve) for node in grouped(self.node, lambda c: self.sources.column(c) is not None)]

    def _grouped(self) -> Rows:
        """Set GROUP BY; a group is there for certain if one of its rows is, and always without GROUP BY."""
        if self.node.args.get("group") is None:
            self.sources.tree.set("group", ONE_GROUP.copy())
            self._cut = False
            return Rows()
        keys = self._keys()
        if not all(key.exact for key in keys):
            raise unsupported("GROUP BY an estimate")
        self.sources.tree.set("group", exp.Group(expressions=[key.expression.copy() for key in keys]))
        sure = self._rows.sure
        return Rows(None if sure is None else exp.LogicalOr(this=sure.copy()), open=self._rows.open)

    def _filter(self, node: exp.Expr, clause: str, rows: Rows) -> Rows:
        """Keep the rows for which a condition is possible; returns which of these are there for certain."""
        for part in [node] if clause == "qualify" else conjoined(node):
            value = read(part, self.resolve)
            if value.unknown:
                if value.why:
                    self.compiler.notes[f"{CHOSEN_NOTE}{value.why}."] = None
                rows, self._asked = self._without_bounds(rows), True
                continue
            met = [value.truths[1]]
            if clause == "qualify" and met[0].find(exp.Window) is None:  # without any DuckDB takes no QUALIFY
                met.append(exp.GT(this=exp.Window(this=exp.RowNumber(), over="OVER"), expression=exp.convert(0)))
            set_conditions(self.sources.tree, [*conditions_of(self.sources.tree, clause), *met], clause)
            self._asked, rows = self._asked or not value.exact, rows.among(value)
        return rows

    def _without_bounds(self, rows: Rows) -> Rows:
        """The rows of which what has no bounds chooses some: all are possible, and none is certain."""
        self._cut = True
        return replace(rows, sure=exp.false())

    def _projection(self) -> tuple[list[str], list[Value]]:
        names, values = [], []
        for selected in self.node.expressions:
            inner = selected.unalias()
            star = inner.this if isinstance(inner, exp.Column) else inner
            if isinstance(star, exp.Star):
                only(star)
                listed = self.sources.star(inner.table if isinstance(inner, exp.Column) else "")
                if self.grouped is not None or not listed:
                    raise unsupported("SELECT * of persons", ROWS_HINT)
                names += [n for n, _ in listed]
                values += [v for _, v in listed]
                continue
            if isinstance(selected, exp.Alias):
                self._reading.append(lowered(selected.alias))
            try:
                values.append(read(inner, self.resolve))
            finally:
                if isinstance(selected, exp.Alias):
                    self._reading.pop()
            names.append(selected.alias if isinstance(selected, exp.Alias) else inner.output_name)
        return names, values

    def _is_merged(self, values: Sequence[Value]) -> bool:
        """Whether DISTINCT merges rows; each group of persons is a row of its own."""
        only(self.node.args["distinct"])
        selected = (e.unalias() for e in self.node.expressions)
        if self.grouped is not None and set(self.grouped.keys.values()) <= {self._key(e) for e in selected}:
            return False
        if all(value.exact for value in values):
            return True
        if any(value.item for value in values) or not self._differ([value.expression for value in values if value.exact]):
            raise unsupported("DISTINCT of estimates")
        return False

    def _differ(self, shown: Sequence[exp.Expr]) -> bool:
        """Whether no two rows that may be there have the same values."""
        rows = self.sources.tree.copy()
        rows.set("expressions", [value.copy().as_(f"k{n}") for n, value in enumerate(shown)] or [exp.convert(1).as_("k0")])
        row = exp.Anonymous(this="row", expressions=[exp.column(f"k{n}") for n in range(max(len(shown), 1))])
        number, different = exp.Count(this=exp.Star()), exp.Count(this=exp.Distinct(expressions=[row]))
        asked = exp.select(exp.EQ(this=number, expression=different)).from_(rows.subquery())
        return bool(self.compiler.tables.rows(asked)[0][0])

    def _ended(self, values: Sequence[Value]) -> tuple[exp.Select, list[exp.Expr]]:
        """ORDER BY, LIMIT and OFFSET; returns the rows that may be there, and their columns.

        An order of bounds tells of some rows whether they are among the first ones; for others, all rows are possible.
        """
        tree, orderings, listed = self.sources.tree, orderings_of(self.node, len(values)), projected(values)
        by = [self._ordered(o, values) for o in orderings]
        ends = [key for key in ("limit", "offset") if self.node.args.get(key) is not None]
        if any(value.item for value in takewhile(lambda v: v.exact, by)):
            if ends:
                raise ambiguous("which rows come first")
            self.compiler.notes[ITEM_NOTE] = None
        if self.ended or not ends:
            self._shown = replace(self._shown, open=self._shown.open or bool(ends))
            return tree, listed
        if self._shown.sure is None and not self._shown.open and all(value.exact for value in by):
            made = [ordered.copy() for ordered in orderings]
            for ordered, value in zip(made, by, strict=True):
                ordered.set("this", value.expression.copy())
            ties = [exp.Ordered(this=v.expression.copy()) for v in values if v.exact]
            tree.set("order", exp.Order(expressions=[*made, *ties]) if made else None)
            for key in ends:
                tree.set(key, number_of_rows(self.node.args[key], self.resolve))
            return tree, listed
        most = rows_kept(self.node.args.get("limit"))
        plain = ends == ["limit"] and self.node.args.get("distinct") is None and not self._shown.open
        before, self._shown = self._shown, self._without_bounds(self._shown)
        if most is None or not plain or not by or by[0].upper is None or not by[0].present:
            return tree, listed
        sure = exp.true() if before.sure is None else before.sure.copy()
        tree.set("expressions", [*projected([*values, by[0]]), sure.as_(SURE)])
        self._shown = replace(self._shown, sure=exp.column(SURE))
        names = [column.alias for column in listed]
        chosen = leading(tree, len(values), names, most, largest=bool(orderings[0].args.get("desc")))
        return chosen, [exp.column(name) for name in names]

    def _ordered(self, node: exp.Ordered, values: Sequence[Value]) -> Value:
        inner = bare(node.this)
        if isinstance(inner, exp.Literal) and not inner.is_string:
            place = whole(inner)
            if not 1 <= place <= len(values):
                raise unsupported("ORDER BY a position that does not exist")
            return values[place - 1]
        if isinstance(inner, exp.Column) and not inner.table:
            for n, selected in enumerate(self.node.expressions):
                if isinstance(selected, exp.Alias) and lowered(selected.alias) == lowered(inner.name):
                    return values[n]
        return read(inner, self.resolve)


def _all(conditions: Sequence[exp.Expr]) -> exp.Expr | None:
    return exp.and_(*(c.copy() for c in conditions)) if conditions else None
