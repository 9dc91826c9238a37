"""Reading a COUNT query over the original table: from its syntax tree to a ``Plan``.

Every SELECT is read as a relation: rows of one person, each made of freely chosen items of that person (one for each
copy of the table in the FROM clause) that satisfy a condition. That the rows of all copies belong to one person is
shown by equal ids; a query that leaves this open is refused. Nothing of the tree is skipped: a part that no rule reads
is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from sqlglot import exp

from anondb.errors import InputError
from anondb.query.parsing import lowered, parse
from anondb.query.plan import IDS, ITEMS, ROWS, Plan
from anondb.query.predicates import (
    ALWAYS,
    ANY_ITEM,
    NEVER,
    NO_ITEM,
    NOT_EMPTY,
    Condition,
    Constant,
    ItemTest,
    Labels,
    Pattern,
    at_least,
    both,
    close,
    conjuncts,
    either,
    finite,
    item_all,
    item_not,
    negate,
    on_item,
    renamed,
    rows_of,
    split,
)
from anondb.query.refusals import name_of, only, too_complex, unsupported

LONG, LIST = "long", "list"
BASKETS = ("transaction_id", "items")

MERGED_NOTE = "Rows are counted as in the release: an item that is repeated within a transaction counts once."
LISTED_NOTE = (
    "Only items that some released item stands for are listed; suppressed items are missing, and a listed item may not "
    "occur in the original at all."
)
EITHER_NOTE = (
    "The query does not show whether the original has one row for each item or one list for each id; the bounds hold "
    "for both, the estimate is for the former."
)
NUMBER_NOTE = "Items written as numbers were read as their texts."


class _WrongForm(Exception):
    """The item column is used as a value where the form has a list, or the other way round."""


# --- what an expression can be --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Id:
    person: int


@dataclass(frozen=True)
class _Item:
    row: int


@dataclass(frozen=True)
class _Items:
    """The list of a person's items that pass a test."""

    person: int
    test: ItemTest = ANY_ITEM


@dataclass(frozen=True)
class _Number:
    """How many items of the person pass a test; never less than one where the group has a row for each."""

    test: ItemTest


@dataclass(frozen=True)
class _Truth:
    condition: Condition


@dataclass(frozen=True)
class _Text:
    label: str


@dataclass(frozen=True)
class _Integer:
    value: int


@dataclass(frozen=True)
class _List:
    labels: frozenset[str]


@dataclass(frozen=True)
class _Optional:
    """A column of the right side of a LEFT JOIN: NULL where ``present`` does not hold."""

    present: Condition


_Column = _Id | _Item | _Items | _Number | _Truth | _Optional
_Term = _Column | _Text | _Integer | _List


@dataclass(frozen=True)
class _Relation:
    """Rows of one person: ``condition`` over ``rows``; ``exact`` where the number of rows is known."""

    columns: tuple[tuple[str, _Column], ...]
    rows: frozenset[int]
    condition: Condition
    person: int
    linked: bool = False
    exact: bool = True


@dataclass
class _Group:
    """The rows of one person under GROUP BY: what aggregates look at."""

    tests: Mapping[int, ItemTest]
    rows: frozenset[int]
    mixed: bool


@dataclass
class _Scope:
    """The FROM clause of one SELECT while it is read."""

    outer: _Scope | None
    env: Mapping[str, _Relation]
    sources: list[tuple[str, dict[str, list[_Column]]]] = field(default_factory=list)
    people: list[int] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)
    conditions: list[Condition] = field(default_factory=list)
    exact: bool = True
    optional: list[Condition] = field(default_factory=list)
    group: _Group | None = None
    aliases: dict[str, exp.Expr] = field(default_factory=dict)


class _Reader:
    """Reads one query for one form of the original table."""

    def __init__(self, table: str, id_column: str, item_column: str, form: str) -> None:
        self.table, self.id_column, self.item_column = lowered(table), lowered(id_column), lowered(item_column)
        self.form = form
        self.numbers: set[str] = set()
        self._fresh = count(1)
        self._same: dict[int, int] = {}

    # ---------------------------------------------------------------- persons

    def _root(self, person: int) -> int:
        while person in self._same:
            person = self._same[person]
        return person

    def _unite(self, left: int, right: int) -> None:
        left, right = self._root(left), self._root(right)
        if left != right:
            self._same[left] = right

    # ---------------------------------------------------------------- the whole query

    def plan(self, tree: exp.Expr) -> Plan:
        """The plan of the outermost SELECT."""
        while isinstance(tree, exp.Subquery):
            only(tree, "this")
            tree = tree.this
        if isinstance(tree, exp.SetOperation):
            raise unsupported(f"{tree.key.upper()} of counts", "Count over the ids that the set operation gives.")
        if not isinstance(tree, exp.Select):
            raise unsupported(f"{tree.key.upper()} as a query")
        only(tree, "expressions", "from_", "joins", "where", "group", "order", "with_")
        scope = self._scope(tree, {}, None)
        counter, name, listed = None, "count", []
        for selected in tree.expressions:
            alias = selected.alias if isinstance(selected, exp.Alias) else None
            inner = _bare(selected.this if isinstance(selected, exp.Alias) else selected)
            if isinstance(inner, exp.Column) and not isinstance(inner.this, exp.Star):
                listed.append((alias or inner.name, self._column(inner, scope)))
            elif counter is not None and isinstance(inner, exp.Count | exp.Filter | exp.CountIf):
                raise unsupported("several counts in one SELECT", "Ask for them one by one.")
            else:
                counter, name = inner, alias or "count"
        if counter is None:
            raise unsupported("a SELECT without a count")
        kind = self._counter(counter, scope)
        group = tree.args.get("group")
        if group is None:
            if listed:
                raise unsupported("a column beside the count without GROUP BY")
            if tree.args.get("order") is not None:
                raise unsupported("ORDER BY", "A single number has no order.")
            condition, rows, _ = self._finish(scope)
            return self._scalar(kind, condition, rows, scope, name)
        if isinstance(counter, exp.Filter | exp.CountIf):
            raise unsupported("FILTER under GROUP BY", "Put the condition into WHERE.")
        return self._listing(tree, group, listed, kind, scope, name)

    def _counter(self, node: exp.Expr, scope: _Scope) -> str:
        """Whether the aggregate counts rows or ids; the condition of a FILTER goes into the scope."""
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            scope.conditions.append(self._condition(node.expression.this, scope))
            node = node.this
            if not isinstance(node, exp.Count):
                raise unsupported(name_of(node))
        if isinstance(node, exp.CountIf):
            only(node, "this")
            scope.conditions.append(self._condition(node.this, scope))
            return ROWS
        if not isinstance(node, exp.Count):
            raise unsupported(name_of(node))
        only(node, "this", "big_int", "expressions")
        if node.expressions:
            raise unsupported("count of several columns")
        what = node.this
        if what is None or isinstance(what, exp.Literal):
            return ROWS
        if isinstance(what, exp.Star):
            only(what)
            return ROWS
        distinct = isinstance(what, exp.Distinct)
        if distinct:
            only(what, "expressions")
            if len(what.expressions) != 1:
                raise unsupported("count(DISTINCT ...) of several columns")
            what = what.expressions[0]
        what = _bare(what)
        if not isinstance(what, exp.Column):
            raise unsupported(f"count of an expression ({name_of(what)})")
        column = self._column(what, scope)
        if isinstance(column, _Optional):
            raise unsupported("count of a column of the right side of a LEFT JOIN")
        if not distinct:
            return ROWS
        if not isinstance(column, _Id):
            raise unsupported("count(DISTINCT ...) of another column than the id", "Only persons can be counted.")
        return IDS

    def _scalar(self, kind: str, condition: Condition, rows: frozenset[int], scope: _Scope, name: str) -> Plan:
        if kind == IDS or not rows:
            if kind == ROWS and not scope.exact:
                raise unsupported("count(*) of rows that may repeat", "Use count(DISTINCT id).")
            return Plan(IDS, close(condition, rows), name=name)
        person, test = self._counted(condition, rows, scope)
        if test is None:
            return Plan(IDS, person, name=name, notes=(MERGED_NOTE,))
        return Plan(ROWS, person, test, name=name, notes=(MERGED_NOTE,))

    def _counted(self, condition: Condition, rows: frozenset[int], scope: _Scope) -> tuple[Condition, ItemTest | None]:
        """Rows as persons, or as the items of one row where the others are one given item each."""
        tests, person, mixed = split(condition)
        if not scope.exact:
            raise unsupported("count(*) of rows that may repeat", "Use count(DISTINCT id).")
        if mixed:
            raise unsupported("count(*) with OR between an item and other conditions", "Use count(DISTINCT id).")
        if condition == NEVER:
            return NEVER, None
        open_rows = []
        for row in sorted(rows):
            labels = finite(tests.get(row, ANY_ITEM))
            if labels is not None and len(labels) == 1:
                person = both(person, at_least(1, tests[row]))
            else:
                open_rows.append(row)
        if len(open_rows) > 1:
            raise unsupported("count(*) of the rows of a self-join", "Use count(DISTINCT id).")
        return person, tests.get(open_rows[0], ANY_ITEM) if open_rows else None

    def _listing(
        self,
        tree: exp.Select,
        group: exp.Group,
        listed: Sequence[tuple[str, _Column]],
        kind: str,
        scope: _Scope,
        name: str,
    ) -> Plan:
        """GROUP BY item."""
        only(group, "expressions", "all")
        condition, rows, _ = self._finish(scope)
        keys = self._group_columns(tree, group, scope)
        if any(isinstance(k, _Id) for k in keys) or any(isinstance(c, _Id) for _, c in listed):
            raise unsupported("GROUP BY the id column around a count", "Ids cannot be listed from a release.")
        if len(set(keys)) != 1 or not isinstance(keys[0], _Item):
            raise unsupported("GROUP BY something else than the item column")
        if any(column != keys[0] for _, column in listed):
            raise unsupported("a selected column that is not in GROUP BY")
        row = keys[0].row
        tests, person, mixed = split(condition)
        if any(row in rows_of(part) for part in mixed):
            raise unsupported("GROUP BY item with OR between that item and other conditions")
        others = rows - {row}
        rest = both(person, *mixed, *(on_item(r, tests[r]) for r in sorted(others) if r in tests))
        notes: tuple[str, ...] = (LISTED_NOTE,)
        if kind == IDS:
            rest = both(*(p for p in conjuncts(close(rest, others)) if p != NOT_EMPTY))  # whoever has the item has one
        else:
            rest, repeated = self._counted(rest, others, scope)
            if repeated is not None:
                raise unsupported("count(*) of the rows of a self-join", "Use count(DISTINCT id).")
            notes += (MERGED_NOTE,)
        return Plan(
            ITEMS,
            rest,
            tests.get(row, ANY_ITEM) if condition != NEVER else NO_ITEM,
            name=name,
            columns=tuple(n for n, _ in listed) or ("item",),
            descending=self._descending(tree, keys[0], scope),
            notes=notes,
        )

    def _group_columns(self, tree: exp.Select, group: exp.Group, scope: _Scope) -> list[_Column]:
        found: list[_Column] = []
        expressions = list(group.expressions)
        if group.args.get("all"):
            expressions = [
                e.this if isinstance(e, exp.Alias) else e
                for e in tree.expressions
                if isinstance(_bare(e.this if isinstance(e, exp.Alias) else e), exp.Column)
            ]
        if not expressions:
            raise unsupported("GROUP BY without a column")
        for node in map(_bare, expressions):
            if isinstance(node, exp.Literal) and not node.is_string:
                place = _whole(node)
                if not 1 <= place <= len(tree.expressions):
                    raise unsupported("GROUP BY a position that does not exist")
                chosen = tree.expressions[place - 1]
                node = _bare(chosen.this if isinstance(chosen, exp.Alias) else chosen)
            if not isinstance(node, exp.Column):
                raise unsupported("GROUP BY an expression")
            try:
                found.append(self._column(node, scope))
            except InputError:
                chosen_alias = _aliased(tree, node)
                if chosen_alias is None:
                    raise
                found.append(self._column(chosen_alias, scope))
        return found

    def _descending(self, tree: exp.Select, key: _Column, scope: _Scope) -> bool:
        order = tree.args.get("order")
        if order is None:
            return False
        only(order, "expressions")
        (first, *more) = order.expressions
        node = _bare(first.this)
        if isinstance(node, exp.Literal) and not node.is_string and 1 <= _whole(node) <= len(tree.expressions):
            chosen = tree.expressions[_whole(node) - 1]
            node = _bare(chosen.this if isinstance(chosen, exp.Alias) else chosen)
        if isinstance(node, exp.Column):
            node = _aliased(tree, node) or node
        counts = any(isinstance(e, exp.Alias) and lowered(e.alias) == lowered(node.name) for e in tree.expressions)
        named = isinstance(node, exp.Column) and (_aliased(tree, node) is not None or not counts)
        if more or not named or not isinstance(node, exp.Column) or self._column(node, scope) != key:
            raise unsupported("ORDER BY something else than the item", "The counts are not known exactly.")
        return bool(first.args.get("desc"))

    # ---------------------------------------------------------------- relations

    def _relation(
        self, node: exp.Expr, env: Mapping[str, _Relation], outer: _Scope | None, *, exists: bool = False
    ) -> _Relation:
        """A subquery as a relation."""
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            if isinstance(node.this, exp.Table):
                raise unsupported("a join inside parentheses")
            return self._relation(node.this, env, outer, exists=exists)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, env, outer)
        if not isinstance(node, exp.Select):
            raise unsupported(f"{name_of(node)}")
        return self._select(node, env, outer, exists)

    def _set_operation(self, node: exp.SetOperation, env: Mapping[str, _Relation], outer: _Scope | None) -> _Relation:
        only(node, "this", "expression", "distinct", "with_")
        env = self._with(node, env)
        left, right = self._relation(node.this, env, outer), self._relation(node.expression, env, outer)
        for side in (left, right):
            if len(side.columns) != 1 or not isinstance(side.columns[0][1], _Id):
                raise unsupported(f"{node.key.upper()} of something else than ids")
        if left.linked != right.linked:
            raise unsupported(f"{node.key.upper()} of which one side looks at the outer query")
        repeated = not node.args.get("distinct")
        if repeated and not isinstance(node, exp.Union):
            raise unsupported(f"{node.key.upper()} ALL")
        one, two = close(left.condition, left.rows), close(right.condition, right.rows)
        if isinstance(node, exp.Union):
            condition = either(one, two)
        elif isinstance(node, exp.Intersect):
            condition = both(one, two)
        elif isinstance(node, exp.Except):
            condition = both(one, negate(two))
        else:
            raise unsupported(node.key.upper())
        person = next(self._fresh)
        if left.linked:
            self._unite(person, left.person)
        return _Relation(
            ((left.columns[0][0], _Id(person)),), frozenset(), condition, person, left.linked, exact=not repeated
        )

    def _with(self, node: exp.Expr, env: Mapping[str, _Relation]) -> Mapping[str, _Relation]:
        clause = node.args.get("with_")
        if clause is None:
            return env
        only(clause, "expressions")
        known = dict(env)
        for cte in clause.expressions:
            only(cte, "this", "alias", "materialized")
            relation = self._relation(cte.this, known, None)
            known[lowered(cte.args["alias"].name)] = _with_names(relation, cte.args["alias"])
        return known

    def _select(self, node: exp.Select, env: Mapping[str, _Relation], outer: _Scope | None, exists: bool) -> _Relation:
        only(node, "expressions", "from_", "joins", "where", "group", "having", "distinct", "with_")
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            raise unsupported("DISTINCT ON")
        scope = self._scope(node, env, outer)
        condition, rows, linked = self._finish(scope)
        person = scope.people[0]
        group, having = node.args.get("group"), node.args.get("having")
        grouped: set[_Column] = set()
        if group is not None:
            only(group, "expressions", "all")
            grouped = set(self._group_columns(node, group, scope))
            ids = {c for c in grouped if isinstance(c, _Id)}
            if not ids or not grouped <= ids | {_Item(r) for r in rows}:
                raise unsupported("GROUP BY something else than the id in a subquery")
            if grouped == ids:
                tests, _, mixed = split(condition)
                scope.group = _Group(tests, rows, bool(mixed))
                condition, rows, scope.exact = close(condition, rows), frozenset(), True
                scope.aliases = {lowered(e.alias): e.this for e in node.expressions if isinstance(e, exp.Alias)}
                if having is not None:
                    condition = both(condition, self._condition(having.this, scope))
                    if rows_of(condition) & scope.rows:
                        raise unsupported("an item outside an aggregate in HAVING")
                having = None
        if having is not None:
            raise unsupported("HAVING without GROUP BY the id" if group is None else "HAVING under GROUP BY item")
        columns = self._projection(node, scope, exists)
        if group is not None and any(isinstance(c, _Item) and c not in grouped for _, c in columns):
            raise unsupported("a selected column that is not in GROUP BY")
        if distinct is not None or (group is not None and scope.group is None):
            kept = {c.row for _, c in columns if isinstance(c, _Item)}
            if kept and (rows - kept or not any(isinstance(c, _Id) for _, c in columns)):
                raise unsupported("DISTINCT items", "Only persons can be counted.")
            if not kept:
                condition, rows = close(condition, rows), frozenset()
            scope.exact = True
        return _Relation(tuple(columns), rows, condition, person, linked, scope.exact)

    def _projection(self, node: exp.Select, scope: _Scope, exists: bool) -> list[tuple[str, _Column]]:
        columns: list[tuple[str, _Column]] = []
        for selected in node.expressions:
            alias = selected.alias if isinstance(selected, exp.Alias) else ""
            inner = _bare(selected.this if isinstance(selected, exp.Alias) else selected)
            if exists:
                if isinstance(inner, exp.Star):
                    only(inner)
                elif isinstance(inner, exp.Column):
                    if not isinstance(inner.this, exp.Star):
                        self._column(inner, scope)
                elif not isinstance(inner, exp.Literal | exp.Null | exp.Boolean):
                    raise unsupported(f"{name_of(inner)} under EXISTS")
                continue
            if isinstance(inner, exp.Star):
                only(inner)
                if len(scope.sources) != 1 or scope.group is not None:
                    raise unsupported("SELECT * of a join or a group", "Name the columns.")
                columns += [(n, c) for n, cs in scope.sources[0][1].items() for c in cs]
                continue
            if isinstance(inner, exp.Column):
                if isinstance(inner.this, exp.Star):
                    raise unsupported("SELECT table.*", "Name the columns.")
                column: _Term = self._column(inner, scope)
                if scope.group is not None and isinstance(column, _Item | _Items):
                    raise unsupported("a selected column that is not in GROUP BY")
            elif scope.group is not None:
                column = self._aggregate(inner, scope)
            else:
                raise unsupported(f"{name_of(inner)} in the SELECT of a subquery")
            if not isinstance(column, _Id | _Item | _Items | _Number | _Truth):
                raise unsupported("a column of the right side of a LEFT JOIN in SELECT")
            columns.append((lowered(alias or inner.name), column))
        return columns

    # ---------------------------------------------------------------- FROM

    def _scope(self, node: exp.Select, env: Mapping[str, _Relation], outer: _Scope | None) -> _Scope:
        """FROM, joins and WHERE."""
        env = self._with(node, env)
        scope = _Scope(outer, env)
        clause = node.args.get("from_")
        if clause is None:
            raise unsupported("a SELECT without FROM")
        only(clause, "this")
        self._add(clause.this, scope)
        for join in node.args.get("joins") or ():
            self._join(join, scope)
        where = node.args.get("where")
        if where is not None:
            only(where, "this")
            scope.conditions.append(self._top(where.this, scope))
        return scope

    def _finish(self, scope: _Scope) -> tuple[Condition, frozenset[int], bool]:
        """The condition and rows of a scope whose sources are all of one person; whether that is the outer one."""
        first = self._root(scope.people[0])
        if any(self._root(p) != first for p in scope.people):
            raise unsupported("a join without equal ids", "Join the copies of the table on the id column.")
        outer = scope.outer
        linked = False
        while outer is not None and not linked:
            linked = any(self._root(p) == first for p in outer.people)
            outer = outer.outer
        condition = both(*scope.conditions)
        if scope.optional:
            parts = conjuncts(condition)
            if any(negate(p) not in parts for p in scope.optional):
                scope.exact = False
        return condition, frozenset(scope.rows), linked

    def _source(self, node: exp.Expr, env: Mapping[str, _Relation]) -> tuple[str, _Relation]:
        """A table, CTE or derived table, with fresh numbers for its rows and its person."""
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            relation, name = self._relation(exp.Subquery(this=node.this), env, None), ""
        elif isinstance(node, exp.Table):
            if not isinstance(node.this, exp.Identifier):
                raise unsupported(f"the table function {_function(node.this)}")
            only(node, "this", "alias", "db", "catalog")
            dotted = ".".join(p.name for p in node.parts)
            name = lowered(node.name)
            if not node.db and name in env:
                relation = env[name]
            elif lowered(dotted) == self.table:
                relation = self._base(self.form, self.id_column, self.item_column)
            elif lowered(dotted) == "baskets":
                relation = self._base(LIST, *BASKETS)
            else:
                raise unsupported(f"the table {dotted!r}", f"The release is of the table {self.table!r}.")
        else:
            raise unsupported(name_of(node).replace("UNNEST in this place", "UNNEST"))
        alias = node.args.get("alias")
        if alias is not None:
            name = lowered(alias.name) or name
            relation = _with_names(relation, alias)
        rows = {row: next(self._fresh) for row in sorted(relation.rows)}
        person = next(self._fresh)
        columns = tuple((n, _moved(c, rows, person)) for n, c in relation.columns)
        return name, replace(
            relation,
            columns=columns,
            rows=frozenset(rows.values()),
            condition=renamed(relation.condition, rows),
            person=person,
        )

    def _base(self, form: str, id_column: str, item_column: str) -> _Relation:
        person, row = next(self._fresh), next(self._fresh)
        if form == LIST:
            columns: tuple[tuple[str, _Column], ...] = ((id_column, _Id(person)), (item_column, _Items(person)))
            return _Relation(columns, frozenset(), ALWAYS, person)
        return _Relation(((id_column, _Id(person)), (item_column, _Item(row))), frozenset({row}), ALWAYS, person)

    def _add(self, node: exp.Expr, scope: _Scope) -> _Relation:
        name, relation = self._source(node, scope.env)
        scope.sources.append((name, _by_name(relation.columns)))
        scope.people.append(relation.person)
        scope.rows |= relation.rows
        scope.conditions.append(relation.condition)
        scope.exact = scope.exact and relation.exact
        return relation

    def _join(self, join: exp.Join, scope: _Scope) -> None:
        only(join, "this", "side", "kind", "on", "using")
        side, kind = join.side.upper(), join.kind.upper()
        if side not in ("", "LEFT") or kind not in ("", "INNER", "CROSS", "OUTER", "SEMI", "ANTI"):
            raise unsupported(f"{side or kind} JOIN")
        if isinstance(join.this, exp.Table | exp.Subquery) and join.this.args.get("joins"):
            raise unsupported("a join inside parentheses")
        if not side and kind in ("", "INNER", "CROSS"):
            before = list(scope.sources)
            relation = self._add(join.this, scope)
            self._using(join, before, relation)
            if join.args.get("on") is not None:
                scope.conditions.append(self._top(join.args["on"], scope))
            return
        self._half_join(join, scope, anti=kind == "ANTI", semi=kind == "SEMI")

    def _half_join(self, join: exp.Join, scope: _Scope, *, anti: bool, semi: bool) -> None:
        """LEFT, SEMI and ANTI JOIN: the right side is a condition on the person, never a row."""
        what = "SEMI JOIN" if semi else "ANTI JOIN" if anti else "LEFT JOIN"
        name, relation = self._source(join.this, scope.env)
        inner = replace(
            scope,
            sources=[*scope.sources, (name, _by_name(relation.columns))],
            people=[*scope.people, relation.person],
        )
        before = self._count_people(scope)
        self._using(join, scope.sources, relation)
        on: Condition = ALWAYS
        if join.args.get("on") is not None:
            on = self._top(join.args["on"], inner)
        if self._count_people(scope) != before:
            raise unsupported(f"{what} that compares ids of the left side")
        if all(self._root(relation.person) != self._root(p) for p in scope.people):
            raise unsupported(f"{what} without equal ids", "Join on the id column.")
        if rows_of(on) - relation.rows:
            raise unsupported(f"{what} with a condition on the left side's item", "Put it into WHERE.")
        present = close(both(relation.condition, on), relation.rows)
        if semi or anti:
            scope.conditions.append(negate(present) if anti else present)
            return
        tests, _, mixed = split(both(relation.condition, on))
        single = (len(finite(tests.get(r, ANY_ITEM)) or "12") == 1 for r in relation.rows)
        if not relation.exact or mixed or not all(single):
            scope.optional.append(present)
        scope.sources.append((name, {n: [_Optional(present)] * len(c) for n, c in _by_name(relation.columns).items()}))

    def _using(self, join: exp.Join, before: Sequence[tuple[str, dict[str, list[_Column]]]], right: _Relation) -> None:
        for identifier in join.args.get("using") or ():
            wanted = lowered(identifier.name)
            lefts = [c for _, columns in before for c in columns.get(wanted, ())]
            rights = [c for n, c in right.columns if n == wanted]
            if len(rights) != 1 or not lefts or not all(isinstance(c, _Id) for c in [*rights, lefts[0]]):
                raise unsupported(f"USING ({identifier.name})", "Join on the id column.")
            if isinstance(rights[0], _Id) and isinstance(lefts[0], _Id):
                self._unite(rights[0].person, lefts[0].person)

    # ---------------------------------------------------------------- conditions

    def _top(self, node: exp.Expr, scope: _Scope) -> Condition:
        """A condition whose equalities of ids, where they stand beside AND only, make two sources one person."""
        node = _bare(node)
        if isinstance(node, exp.And):
            return both(*(self._top(part, scope) for part in _operands(node)))
        if isinstance(node, exp.EQ):
            one, two = _bare(node.left), _bare(node.right)
            if isinstance(one, exp.Column) and isinstance(two, exp.Column):
                left, right = self._column(one, scope), self._column(two, scope)
                if isinstance(left, _Id) and isinstance(right, _Id):
                    self._unite(left.person, right.person)
                    return ALWAYS
        return self._condition(node, scope)

    def _condition(self, node: exp.Expr, scope: _Scope) -> Condition:
        """Any condition."""
        node = _bare(node)
        if isinstance(node, exp.And):
            return both(*(self._condition(p, scope) for p in _operands(node)))
        if isinstance(node, exp.Or):
            return either(*(self._condition(p, scope) for p in _operands(node)))
        if isinstance(node, exp.Not):
            return negate(self._condition(node.this, scope))
        if isinstance(node, exp.Boolean):
            return Constant(bool(node.this))
        if isinstance(node, exp.Exists):
            return self._exists(node, scope)
        if isinstance(node, exp.In):
            return self._in(node, scope)
        if isinstance(node, exp.Is):
            return self._is(node, scope)
        if isinstance(node, exp.EQ | exp.NEQ | exp.NullSafeEQ | exp.NullSafeNEQ):
            same = self._equal(node.left, node.right, scope, isinstance(node, exp.NEQ))
            return negate(same) if isinstance(node, exp.NEQ | exp.NullSafeNEQ) else same
        if isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE):
            return self._compare(node, scope)
        if (found := self._matched(node, scope)) is not None:
            return found
        if (found := self._lists(node, scope)) is not None:
            return found
        if isinstance(node, exp.Column | exp.LogicalOr | exp.LogicalAnd):
            term = self._term(node, scope)
            if isinstance(term, _Truth):
                return term.condition
            raise unsupported("a column used as a condition")
        if isinstance(node, exp.Between):
            raise unsupported("BETWEEN on items or ids", "Items have no order here; list them with IN.")
        if isinstance(node, exp.Xor | exp.BitwiseXor):
            raise unsupported("XOR")
        if isinstance(node, exp.Select | exp.Subquery):
            raise unsupported("a scalar subquery")
        raise unsupported(name_of(node))

    def _count_people(self, scope: _Scope | None) -> int:
        """How many persons the sources of a scope, and of those around it, may belong to."""
        people = set()
        while scope is not None:
            people |= {self._root(p) for p in scope.people}
            scope = scope.outer
        return len(people)

    def _nested(self, node: exp.Expr, scope: _Scope, *, exists: bool = False) -> _Relation:
        """A subquery of a condition: what it says about ids holds inside only, so it must not unite outer sources."""
        before = self._count_people(scope)
        relation = self._relation(node, scope.env, scope, exists=exists)
        if self._count_people(scope) != before:
            raise unsupported("a subquery that compares ids of the outer query with each other")
        return relation

    def _exists(self, node: exp.Exists, scope: _Scope) -> Condition:
        only(node, "this")
        relation = self._nested(node.this, scope, exists=True)
        if not relation.linked:
            raise unsupported("EXISTS without the outer id", "Compare the id with the one of the outer query.")
        return close(relation.condition, relation.rows)

    def _subquery_of_ids(self, node: exp.Expr, scope: _Scope, what: str) -> Condition:
        relation = self._nested(node, scope)
        if len(relation.columns) != 1 or not isinstance(relation.columns[0][1], _Id):
            raise unsupported(f"{what} of something else than ids")
        return close(relation.condition, relation.rows)

    def _in(self, node: exp.In, scope: _Scope) -> Condition:
        only(node, "this", "expressions", "query", "field")
        if isinstance(_bare(node.this), exp.Tuple):
            raise unsupported("IN with several columns")
        query, field_node = node.args.get("query"), node.args.get("field")
        left = self._term(node.this, scope)
        if query is not None:
            if isinstance(left, _Id):
                return self._subquery_of_ids(query, scope, "IN with a subquery")
            raise unsupported("IN with a subquery on another column than the id")
        if field_node is not None:
            lists = self._term(field_node, scope)
            if isinstance(left, _Text | _Integer) and isinstance(lists, _Items):
                return at_least(1, item_all(lists.test, Labels(frozenset({self._label(left)}))))
            if isinstance(lists, _Item):
                raise _WrongForm
            raise unsupported("IN with a column")
        labels = [self._term(e, scope) for e in node.expressions]
        if isinstance(left, _Id):
            raise unsupported("a condition on the values of the id column", "A release has no original ids.")
        if not isinstance(left, _Item | _Items):
            raise unsupported("IN on another column than the item")
        if isinstance(left, _Items):
            raise _WrongForm
        return on_item(left.row, Labels(frozenset(self._label(x) for x in labels)))

    def _is(self, node: exp.Is, scope: _Scope) -> Condition:
        only(node, "this", "expression")
        right = _bare(node.expression)
        if isinstance(right, exp.Boolean):
            inner = self._condition(node.this, scope)
            return inner if right.this else negate(inner)
        if not isinstance(right, exp.Null):
            raise unsupported("IS with something else than NULL, TRUE or FALSE")
        term = self._term(node.this, scope)
        if isinstance(term, _Optional):
            return negate(term.present)
        return NEVER  # ids, items and lists of a release's original are never NULL

    def _equal(self, left_node: exp.Expr, right_node: exp.Expr, scope: _Scope, differs: bool) -> Condition:
        """``left = right``; with ``differs`` the caller negates, so that ``<> ALL`` is the negation of ``= ANY``."""
        left_node, right_node = _bare(left_node), _bare(right_node)
        if isinstance(left_node, exp.Any):
            left_node, right_node = right_node, left_node
        many = None
        if isinstance(right_node, exp.All if differs else exp.Any):
            many = _bare(right_node.this)
        elif differs and isinstance(right_node, exp.Anonymous) and lowered(right_node.name) == "all":
            many = _bare(right_node.expressions[0])
        if many is not None:
            left = self._term(left_node, scope)
            if isinstance(many, exp.Subquery | exp.Select | exp.SetOperation):
                if isinstance(left, _Id):
                    return self._subquery_of_ids(many, scope, "ANY with a subquery")
                raise unsupported("ANY with a subquery on another column than the id")
            right = self._term(many, scope)
            if isinstance(left, _Item) and isinstance(right, _List):
                return on_item(left.row, Labels(right.labels))
            if isinstance(left, _Text | _Integer) and isinstance(right, _Items):
                return at_least(1, item_all(right.test, Labels(frozenset({self._label(left)}))))
            if isinstance(left, _Text | _Integer) and isinstance(right, _Item):
                raise _WrongForm
            raise unsupported("ANY with these operands")
        if isinstance(left_node, exp.Subquery) or isinstance(right_node, exp.Subquery):
            raise unsupported("a scalar subquery")
        left, right = self._term(left_node, scope), self._term(right_node, scope)
        if isinstance(left, _Text | _Integer) and not isinstance(right, _Text | _Integer):
            left, right = right, left
        if isinstance(left, _Id) and isinstance(right, _Id):
            if self._root(left.person) == self._root(right.person):
                return ALWAYS
            raise unsupported("a comparison of ids other than = beside AND")
        if isinstance(left, _Id):
            raise unsupported("a condition on the values of the id column", "A release has no original ids.")
        if isinstance(left, _Item) and isinstance(right, _Text | _Integer):
            return on_item(left.row, Labels(frozenset({self._label(right)})))
        if isinstance(left, _Item) and isinstance(right, _Item):
            if left == right:
                return ALWAYS
            raise unsupported("a comparison of the items of two copies")
        if isinstance(left, _Items) and isinstance(right, _Text | _Integer):
            raise _WrongForm
        if isinstance(left, _Number) and isinstance(right, _Integer):
            return both(at_least(right.value, left.test), negate(at_least(right.value + 1, left.test)))
        if isinstance(left, _Text | _Integer) and type(left) is type(right):
            return Constant(left == right)
        raise unsupported("a comparison of these operands")

    def _compare(self, node: exp.Expr, scope: _Scope) -> Condition:
        kind: type[exp.Expr] = type(node)
        left, right = self._term(node.args["this"], scope), self._term(node.args["expression"], scope)
        flipped: dict[type[exp.Expr], type[exp.Expr]] = {
            exp.GT: exp.LT,
            exp.LT: exp.GT,
            exp.GTE: exp.LTE,
            exp.LTE: exp.GTE,
        }
        if isinstance(left, _Integer) and isinstance(right, _Number):
            left, right, kind = right, left, flipped[kind]
        if isinstance(left, _Number) and isinstance(right, _Integer):
            least = right.value + (1 if kind in (exp.GT, exp.LTE) else 0)
            reached = at_least(least, left.test)
            return reached if kind in (exp.GT, exp.GTE) else negate(reached)
        symbols: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
        if isinstance(left, _Item) and isinstance(right, _Item):
            raise unsupported("a comparison of the items of two copies")
        raise unsupported(f"{symbols[kind]} on items or ids", "Items have no order here; list them with IN.")

    def _matched(self, node: exp.Expr, scope: _Scope) -> Condition | None:
        """LIKE and the other patterns."""
        kind, negated = None, False
        if isinstance(node, exp.Like | exp.ILike | exp.Glob):
            kind, negated = node.key, bool(node.args.get("negate"))
            only(node, "this", "expression", "negate")
        elif isinstance(node, exp.StartsWith | exp.EndsWith | exp.Contains):
            only(node, "this", "expression")
            kind = {exp.StartsWith: "starts_with", exp.EndsWith: "ends_with", exp.Contains: "contains"}[type(node)]
        elif isinstance(node, exp.Anonymous) and lowered(node.name) in ("prefix", "suffix"):
            kind = {"prefix": "starts_with", "suffix": "ends_with"}[lowered(node.name)]
        elif isinstance(node, exp.Escape):
            raise unsupported("ESCAPE")
        if kind is None:
            return None
        sides = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
        if len(sides) != 2:
            raise unsupported(name_of(node))
        left, right = self._term(sides[0], scope), self._term(sides[1], scope)
        if isinstance(left, _Items):
            if kind == "contains" and isinstance(right, _Text | _Integer):
                return at_least(1, item_all(left.test, Labels(frozenset({self._label(right)}))))
            raise _WrongForm
        if not isinstance(left, _Item) or not isinstance(right, _Text):
            raise unsupported(f"{kind.upper()} with other operands than the item column and a text")
        test: ItemTest = Pattern(kind, right.label)
        if kind == "like" and not set(right.label) & set("%_\\"):
            test = Labels(frozenset({right.label}))
        return on_item(left.row, item_not(test) if negated else test)

    def _lists(self, node: exp.Expr, scope: _Scope) -> Condition | None:
        """list_contains, list_has_all, list_has_any and their other names and operators."""
        kinds: dict[type[exp.Expr], str] = {
            exp.ArrayContains: "one",
            exp.ArrayContainsAll: "all",
            exp.ArrayOverlaps: "any",
            exp.ArrayContainedBy: "within",
        }
        names = {"list_has_all": "all", "array_has_all": "all", "list_has_any": "any", "array_has_any": "any"}
        if isinstance(node, exp.Anonymous):
            kind, sides = names.get(lowered(node.name)), node.expressions
        else:
            kind, sides = kinds.get(type(node)), [node.args.get("this"), node.args.get("expression")]
        if kind is None:
            return None
        if not isinstance(node, exp.Anonymous):
            only(node, "this", "expression", "null_safe", "ensure_variant", "check_null")
        if len(sides) != 2:
            raise unsupported(name_of(node))
        left, right = self._term(sides[0], scope), self._term(sides[1], scope)
        if isinstance(left, _Item) or isinstance(right, _Item):
            if kind == "one" and isinstance(left, _List) and isinstance(right, _Item):
                return on_item(right.row, Labels(left.labels))
            raise _WrongForm
        if kind == "one" and isinstance(left, _Items) and isinstance(right, _Text | _Integer):
            return at_least(1, item_all(left.test, Labels(frozenset({self._label(right)}))))
        if isinstance(left, _List) and isinstance(right, _Items) and kind != "one":
            kind = {"all": "within", "within": "all", "any": "any"}[kind]
            left, right = right, left
        if not isinstance(left, _Items) or not isinstance(right, _List) or kind == "one":
            raise unsupported(f"{name_of(node)} with these operands")
        if kind == "within":
            return negate(at_least(1, item_all(left.test, item_not(Labels(right.labels)))))
        inside = item_all(left.test, Labels(right.labels))
        return at_least(1 if kind == "any" else len(right.labels), inside)

    # ---------------------------------------------------------------- terms

    def _label(self, term: _Term) -> str:
        if isinstance(term, _Text):
            return term.label
        if isinstance(term, _Integer):
            self.numbers.add(str(term.value))
            return str(term.value)
        raise unsupported("something else than a literal for an item")

    def _term(self, node: exp.Expr, scope: _Scope) -> _Term:
        node = _bare(node)
        if isinstance(node, exp.Literal):
            return _Text(node.name) if node.is_string else _Integer(_whole(node))
        if isinstance(node, exp.RawString):
            return _Text(node.name)
        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
            return _Integer(-_whole(node.this))
        if isinstance(node, exp.Array):
            only(node, "expressions", "bracket_notation")
            return _List(frozenset(self._label(self._term(e, scope)) for e in node.expressions))
        if isinstance(node, exp.Column):
            if scope.group is not None:
                name = lowered(node.name)
                chosen = scope.aliases.get(name) if not node.table else None
                if chosen is not None and not any(name in columns for _, columns in scope.sources):
                    return self._aggregate(_bare(chosen), scope)
            return self._column(node, scope)
        if isinstance(node, exp.Null):
            raise unsupported("NULL in a comparison", "Write IS NULL.")
        if isinstance(node, exp.Boolean):
            raise unsupported("a boolean compared with another value")
        if isinstance(node, exp.Placeholder | exp.Parameter):
            raise unsupported("a parameter", "Write the value itself.")
        if isinstance(node, exp.Cast | exp.TryCast):
            raise unsupported("CAST", "Items are compared as texts.")
        if isinstance(node, exp.Subquery | exp.Select):
            raise unsupported("a scalar subquery")
        if isinstance(node, exp.Length):
            raise unsupported("len of the list of items", "Ask which items it has.")
        if isinstance(node, exp.Window):
            raise unsupported("a window function")
        return self._aggregate(node, scope)

    def _aggregate(self, node: exp.Expr, scope: _Scope) -> _Term:
        """An aggregate over the rows of one person."""
        group = scope.group
        if isinstance(node, exp.Column):
            return self._column(node, scope)
        if group is None:
            raise unsupported(name_of(node))
        extra: ItemTest = ANY_ITEM
        filtered = False
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            extra, filtered, node = self._test(node.expression.this, scope), True, node.this
        if isinstance(node, exp.LogicalOr | exp.LogicalAnd) and not filtered:
            only(node, "this")
            _, seen = self._row_of(scope)
            test = self._test(node.this, scope)
            if isinstance(node, exp.LogicalOr):
                return _Truth(at_least(1, item_all(seen, test)))
            return _Truth(negate(at_least(1, item_all(seen, item_not(test)))))
        if isinstance(node, exp.CountIf) and not filtered:
            only(node, "this")
            _, seen = self._row_of(scope)
            return _Number(item_all(seen, self._test(node.this, scope)))
        if not isinstance(node, exp.Count):
            raise unsupported(name_of(node))
        only(node, "this", "big_int")
        what = node.this
        if isinstance(what, exp.Distinct):
            only(what, "expressions")
            if len(what.expressions) != 1:
                raise unsupported("count(DISTINCT ...) of several columns")
            inner = _bare(what.expressions[0])
            column = self._column(inner, scope) if isinstance(inner, exp.Column) else None
            if not isinstance(column, _Item):
                raise unsupported("count(DISTINCT ...) of another column than the item in a group")
            if group.mixed:
                raise unsupported("an aggregate after OR between an item and other conditions")
            return _Number(item_all(group.tests.get(column.row, ANY_ITEM), extra))
        if isinstance(what, exp.Star):
            only(what)
        elif isinstance(what, exp.Column):
            self._column(what, scope)
        elif what is not None and not isinstance(what, exp.Literal):
            raise unsupported("count of an expression")
        _, seen = self._row_of(scope)
        return _Number(item_all(seen, extra))

    def _row_of(self, scope: _Scope) -> tuple[int, ItemTest]:
        """The only row of a group, and the test that its items pass already."""
        group = scope.group
        assert group is not None
        if group.mixed:
            raise unsupported("an aggregate after OR between an item and other conditions")
        if len(group.rows) != 1:
            raise unsupported("an aggregate over the rows of a join", "Count DISTINCT items of one copy.")
        (row,) = group.rows
        return row, group.tests.get(row, ANY_ITEM)

    def _test(self, node: exp.Expr, scope: _Scope) -> ItemTest:
        """A condition on the item of a group's only row."""
        row, _ = self._row_of(scope)
        tests, person, mixed = split(self._condition(node, replace(scope, group=None)))
        if mixed or person not in (ALWAYS, NEVER) or set(tests) - {row}:
            raise unsupported("an aggregate of something else than the item")
        return tests.get(row, ANY_ITEM) if person == ALWAYS else NO_ITEM

    def _column(self, node: exp.Column, scope: _Scope) -> _Column:
        """What a name means, in the innermost scope that knows it."""
        only(node, "this", "table")
        if not isinstance(node.this, exp.Identifier):
            raise unsupported(name_of(node.this))
        name, table = lowered(node.name), lowered(node.table)
        at: _Scope | None = scope
        while at is not None:
            found = [
                column
                for alias, columns in at.sources
                if not table or alias == table
                for column in columns.get(name, ())
            ]
            firm = [c for c in found if not isinstance(c, _Optional)]
            if len(firm) == 1 and all(isinstance(c, _Id) for c in firm):
                found = firm
            if len(found) == 1:
                return found[0]
            if found:
                if not table and all(isinstance(c, _Id) for c in found):
                    return found[0]
                raise unsupported(f"the ambiguous column {node.name!r}", "Write table.column.")
            if table and any(alias == table for alias, _ in at.sources):
                break
            at = at.outer
        raise unsupported(
            f"the column {node.name!r}",
            "The release has the id and item columns of the original, and no relational attributes.",
        )


# --- small helpers --------------------------------------------------------------------------------------------------


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of AND or OR, from left to right, without recursion."""
    kind, found, todo = type(node), [], [node]
    while todo:
        top = _bare(todo.pop())
        if type(top) is kind:
            todo += [top.args["expression"], top.args["this"]]
        else:
            found.append(top)
    return found


def _whole(node: exp.Literal) -> int:
    if not (node.name.isascii() and node.name.isdigit()) or len(node.name) > 38:
        raise unsupported("a number that is not whole", "Write items as texts.")
    return int(node.name)


def _function(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return str(node.name)
    return node.sql_names()[0] if isinstance(node, exp.Func) else node.key.upper()


def _aliased(tree: exp.Select, node: exp.Column) -> exp.Column | None:
    """The column that an unqualified name means as an alias of the SELECT."""
    for selected in tree.expressions:
        if isinstance(selected, exp.Alias) and not node.table and lowered(selected.alias) == lowered(node.name):
            inner = _bare(selected.this)
            return inner if isinstance(inner, exp.Column) else None
    return None


def _with_names(relation: _Relation, alias: exp.Expr) -> _Relation:
    only(alias, "this", "columns")
    names = [lowered(c.name) for c in alias.args.get("columns") or ()]
    if len(names) > len(relation.columns):
        raise unsupported("more column names than columns")
    kept = relation.columns[len(names) :]
    renamed_columns = tuple((n, c) for n, (_, c) in zip(names, relation.columns, strict=False))
    return replace(relation, columns=renamed_columns + kept)


def _by_name(columns: Sequence[tuple[str, _Column]]) -> dict[str, list[_Column]]:
    found: dict[str, list[_Column]] = {}
    for name, column in columns:
        found.setdefault(name, []).append(column)
    return found


def _moved(column: _Column, rows: Mapping[int, int], person: int) -> _Column:
    if isinstance(column, _Id):
        return _Id(person)
    if isinstance(column, _Item):
        return _Item(rows[column.row])
    return _Items(person, column.test) if isinstance(column, _Items) else column


def rewrite(sql: str, manifest: Mapping[str, str]) -> Plan:
    """Read a COUNT query written for the original table that a release is of.

    Shapes: ``count(DISTINCT id)``, and ``count(*)`` over ids or over rows of one item each; conditions on the item
    column (=, <>, IN, LIKE, ILIKE, GLOB, starts_with, ...) with AND, OR, NOT; EXISTS and IN with subqueries on the id;
    UNION, INTERSECT and EXCEPT of ids; joins of copies on the id (also LEFT with IS NULL, SEMI, ANTI); GROUP BY id with
    HAVING on counts of items; CTEs and derived tables; GROUP BY item. The table has one row for each item, or one list
    for each id (list_contains, list_has_all, list_has_any, ANY), whichever the query uses it as; ``baskets`` with
    ``transaction_id`` and ``items`` always means the latter.

    A literal is compared with the text of an item. ids and items are never NULL.

    Args:
        sql: one SELECT in DuckDB's dialect.
        manifest: the release's manifest: ``table``, ``id_column`` and ``item_column``.

    Raises:
        InputError: ``unsupported_query`` with the construct's name, ``bad_sql``, or ``query_too_complex``.
    """
    tree = parse(sql)
    names = tuple(manifest[k] for k in ("table", "id_column", "item_column"))
    plans: list[Plan] = []
    errors: list[InputError] = []
    for form in (LONG, LIST):
        reader = _Reader(names[0], names[1], names[2], form)
        try:
            plan = reader.plan(tree)
            notes = plan.notes + ((NUMBER_NOTE,) if reader.numbers else ())
            plans.append(replace(plan, numbers=frozenset(reader.numbers), notes=notes))
        except _WrongForm:
            continue
        except InputError as error:
            if form == LONG:
                raise
            errors.append(error)
        except RecursionError:
            raise too_complex("it is nested too deeply") from None
    if not plans:
        raise errors[0] if errors else unsupported("the item column both as a value and as a list")
    if len(plans) == 1 or replace(plans[1], notes=()) == replace(plans[0], notes=()):
        return plans[0]
    if plans[0].counts != plans[1].counts:
        raise unsupported("count(*) without a condition that shows what a row is", "Use count(DISTINCT id).")
    return replace(plans[0], other=plans[1], notes=(*plans[0].notes, EITHER_NOTE))
