"""Read a COUNT query over the original table: convert its syntax tree to a ``Plan``.

Every SELECT is read as a relation: rows of one person, each made of any items of that person (one for each copy of the table
in the FROM clause) that satisfy a condition. Equal ids show that the rows of all copies belong to one person; a query that
does not show this is refused. No part of the tree is skipped: a part without a rule is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from anondb.errors import InputError
from anondb.query.conditions import LIST, ConditionReader
from anondb.query.lists import hull, readings
from anondb.query.merged import VALUES
from anondb.query.original import records_tables
from anondb.query.pairs import SIGNS, is_single
from anondb.query.parsing import lowered
from anondb.query.plan import IDS, ITEMS, MEASURE, PAIRS, ROWS, Plan
from anondb.query.predicates import (
    ALWAYS,
    ANY_ITEM,
    NEVER,
    NO_ITEM,
    NOT_EMPTY,
    Condition,
    ItemTest,
    Labels,
    Weights,
    at_least,
    both,
    close,
    conjuncts,
    either,
    finite,
    item_all,
    item_not,
    listed,
    negate,
    on_item,
    renamed,
    rows_of,
    split,
)
from anondb.query.quantiles import QUANTILES, quantile_of
from anondb.query.refusals import name_of, only, too_complex, unsupported
from anondb.query.relations import (
    AttributeTerm,
    Column,
    FlagTerm,
    Group,
    IdTerm,
    ItemsTerm,
    ItemTerm,
    NumberTerm,
    OptionalTerm,
    Relation,
    Scope,
    SumTerm,
    Term,
    TruthTerm,
    aliased,
    bare,
    by_name,
    function_name,
    moved,
    whole,
    with_names,
)
from anondb.query.values import LISTED, NULL_LIST, Attribute
from anondb.query.variances import SPREADS

COMPARED = "a comparison of the items of two copies"
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "<>": "<>"}
BASKETS = ("transaction_id", "items")
AGGREGATES: tuple[type[exp.Expr], ...] = (exp.Sum, exp.Avg, exp.Min, exp.Max, *QUANTILES, *SPREADS)

MERGED_NOTE = "Rows are counted as in the release: an item that is repeated within a transaction counts once."
"""The note on releases of sets; rows of bags are not counted, because bags may repeat items."""
LISTED_NOTE = "A listed item may not occur in the original at all."
"""The note on lists of items where nothing was suppressed."""
MISSING_NOTE = "Suppressed items are missing, and a listed item may not occur in the original at all."
VALUES_NOTE = "All possible values are listed; a listed value may not occur in the original at all."
NUMBER_NOTE = "Items written as numbers were read as their texts."


class Reader(ConditionReader):
    """Reads one query for the layout of the original table."""

    @classmethod
    def of(
        cls, manifest: Mapping[str, str], attributes: Sequence[Attribute] | None, weights: Mapping[int, Weights]
    ) -> Reader:
        """The reader of queries on the original of a release."""
        table, ids, items, layout = (manifest[k] for k in ("table", "id_column", "item_column", "layout"))
        reader = cls(table, ids, items, layout, attributes)
        reader.weights, reader.records = weights, records_tables(manifest)
        return reader

    # ---------------------------------------------------------------- the whole query

    def plan(self, tree: exp.Expr) -> Plan:
        """Read the outermost SELECT as a plan."""
        while isinstance(tree, exp.Subquery):
            only(tree, "this")
            tree = tree.this
        if isinstance(tree, exp.SetOperation):
            raise unsupported(f"{tree.key.upper()} of counts", "Count over the ids that the set operation gives.")
        if not isinstance(tree, exp.Select):
            raise unsupported(f"{tree.key.upper()} as a query")
        only(tree, "expressions", "from_", "joins", "where", "group", "order", "limit", "with_")
        scope = self._scope(tree, {}, None)
        counter, name, listed = None, "count", []
        for selected in tree.expressions:
            alias = selected.alias if isinstance(selected, exp.Alias) else None
            inner = bare(selected.this if isinstance(selected, exp.Alias) else selected)
            if isinstance(inner, exp.Column) and not isinstance(inner.this, exp.Star):
                listed.append((alias or inner.name, self._column(inner, scope)))
            elif counter is not None and isinstance(inner, exp.AggFunc | exp.Filter):
                raise unsupported("several counts in one SELECT", "Ask for them one by one.")
            else:
                counter, name = inner, alias or "count"
        if counter is None:
            raise unsupported("a SELECT without a count")
        kind = self._counter(counter, scope)
        group = tree.args.get("group")
        if group is None:
            if listed:
                raise unsupported("a column next to the count without GROUP BY")
            if tree.args.get("order") is not None or tree.args.get("limit") is not None:
                raise unsupported("ORDER BY or LIMIT", "A single number has no order.")
            condition, rows, _ = self._finish(scope)
            if kind == MEASURE:
                return self._measured(counter, condition, rows, scope, name)
            return self._scalar(kind, condition, rows, scope, name)
        if kind == MEASURE:
            raise unsupported("GROUP BY item or an attribute around an aggregate of numbers")
        if isinstance(counter, exp.Filter | exp.CountIf):
            raise unsupported("FILTER under GROUP BY", "Put the condition into WHERE.")
        return self._listing(tree, group, listed, kind, scope, name)

    def column_of(self, tree: exp.Select, node: exp.Expr) -> Term:
        """What a name stands for in a SELECT, of which FROM, joins and WHERE are read."""
        return self._term(node, self._scope(tree, {}, None))

    def _counter(self, node: exp.Expr, scope: Scope) -> str:
        """Read whether the aggregate counts rows or ids; add the condition of a FILTER to the scope."""
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            scope.conditions.append(self._condition(node.expression.this, scope))
            node = node.this
            if not isinstance(node, (exp.Count, *AGGREGATES)):
                raise unsupported(name_of(node))
        if isinstance(node, exp.CountIf):
            only(node, "this")
            scope.conditions.append(self._condition(node.this, scope))
            return ROWS
        if isinstance(node, AGGREGATES):
            return MEASURE
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
        what = bare(what)
        if not isinstance(what, exp.Column):
            raise unsupported(f"count of an expression ({name_of(what)})")
        column = self._column(what, scope)
        if isinstance(column, OptionalTerm):  # rows with a partner, which has at most one row for each of the left side
            scope.conditions.append(column.present)
            return IDS if distinct else ROWS
        if isinstance(column, AttributeTerm) and not distinct:
            raise unsupported("count of a relational attribute", "Use count(*), with IS NOT NULL in WHERE.")
        if not distinct:
            if isinstance(column, ItemsTerm) and column.nullable:
                scope.conditions.append(negate(NULL_LIST))
            return ROWS
        if not isinstance(column, IdTerm):
            raise unsupported("count(DISTINCT ...) of another column than the id", "Only persons can be counted.")
        return IDS

    def _measured(self, node: exp.Expr, condition: Condition, rows: frozenset[int], scope: Scope, name: str) -> Plan:
        """Read an aggregate of numbers: of the items of rows, or of a column with one number for each person."""
        call = node.this if isinstance(node, exp.Filter) else node
        kind, share = call.key, None
        if isinstance(call, QUANTILES):
            kind, share = quantile_of(call)
        else:
            only(call, "this")
            kind = SPREADS.get(type(call), kind)
        inner = bare(call.this)
        if isinstance(inner, exp.Anonymous):
            row, weights = self._weighted(inner, scope)
            person, test = self._of_row(row, condition, rows, scope)
            if not isinstance(call, exp.Sum):
                raise unsupported(f"{name_of(call)} of a number of each item")
            notes: tuple[str, ...] = (MERGED_NOTE,)
            weighed = Labels(frozenset(label for label, _ in weights.by_label or ()))
            person = both(person, at_least(1, item_all(test, weighed)))
            return Plan(MEASURE, person, name=name, notes=notes, measure=replace(weights, test=test), aggregate="sum")
        column = self._column(inner, scope) if isinstance(inner, exp.Column) else None
        measure: Weights | Attribute | None
        if isinstance(column, FlagTerm) and column.condition == ALWAYS:  # the number of rows where a row is a list
            measure = None
        elif isinstance(column, AttributeTerm):
            measure = column.attribute
        elif isinstance(column, NumberTerm | SumTerm):
            measure = Weights(column.test) if isinstance(column, NumberTerm) else column.weights
        else:
            raise unsupported(f"{name_of(call)} of something else than a number of persons or items")
        if rows:
            condition, several = self._counted(condition, rows, scope)
            if several is not None:
                raise unsupported(f"{name_of(call)} over several rows of a person")
        elif not scope.exact:
            raise unsupported(f"{name_of(call)} of rows that may repeat")
        return Plan(MEASURE, close(condition, rows), name=name, measure=measure, aggregate=kind, share=share)

    def _of_row(self, row: int, condition: Condition, rows: frozenset[int], scope: Scope) -> tuple[Condition, ItemTest]:
        """The condition on persons and the test of the item of one row, if every other row is fixed to a single item."""
        tests, person, mixed = split(condition)
        if mixed or not scope.exact:
            raise unsupported("a sum of rows with OR between an item and other conditions, or that may repeat")
        for other in sorted(rows - {row}):
            labels = finite(tests.get(other, ANY_ITEM))
            if labels is None or len(labels) != 1:
                raise unsupported("a sum over the rows of a self-join")
            person = both(person, at_least(1, tests[other]))
        return person, tests.get(row, ANY_ITEM) if condition != NEVER else NO_ITEM

    def _scalar(self, kind: str, condition: Condition, rows: frozenset[int], scope: Scope, name: str) -> Plan:
        if kind == IDS or not rows:
            if kind == ROWS and not scope.exact:
                raise unsupported("count(*) of rows that may repeat", "Use count(DISTINCT id).")
            return Plan(IDS, close(condition, rows), name=name)
        person, test = self._counted(condition, rows, scope)
        if test is None:
            return Plan(IDS, person, name=name, notes=(MERGED_NOTE,))
        return Plan(ROWS, person, test, name=name, notes=(MERGED_NOTE,))

    def _counted(self, condition: Condition, rows: frozenset[int], scope: Scope) -> tuple[Condition, ItemTest | None]:
        """Count rows as persons, or as the items of one row if every other row is fixed to a single item."""
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
        listed: Sequence[tuple[str, Column]],
        kind: str,
        scope: Scope,
        name: str,
    ) -> Plan:
        """Read a query with GROUP BY."""
        only(group, "expressions", "all")
        keys = self._group_columns(tree, group, scope)
        if len(set(keys)) == 2 and all(isinstance(key, ItemTerm) for key in keys):
            of_rows = [key.row for key in keys if isinstance(key, ItemTerm)]
            return replace(self._pairs(of_rows, listed, kind, scope, name), most=self._largest(tree))
        if tree.args.get("limit") is not None:
            raise unsupported("LIMIT", "The counts are not known exactly.")
        condition, rows, _ = self._finish(scope)
        if any(isinstance(k, IdTerm) for k in keys) or any(isinstance(c, IdTerm) for _, c in listed):
            raise unsupported("GROUP BY the id column around a count", "Ids cannot be listed from a release.")
        if len(set(keys)) == 1 and (isinstance(keys[0], NumberTerm | FlagTerm) or _is_number(keys[0])):
            if rows or any(column != keys[0] for _, column in listed) or tree.args.get("order") is not None:
                raise unsupported("GROUP BY a number of items beside other columns")
            if not scope.exact:
                raise unsupported("count(*) of rows that may repeat", "Use count(DISTINCT id).")
            measure = _measure_of(keys[0])
            columns = tuple(n for n, _ in listed)
            return Plan(MEASURE, condition, name=name, columns=columns, measure=measure, aggregate="histogram")
        if len(set(keys)) != 1 or not isinstance(keys[0], ItemTerm | AttributeTerm):
            raise unsupported("GROUP BY something else than the item column")
        if any(column != keys[0] for _, column in listed):
            raise unsupported("a selected column that is not in GROUP BY")
        if isinstance(keys[0], AttributeTerm):
            plan = self._scalar(kind, condition, rows, scope, name)
            plan = replace(plan, grouped=keys[0].attribute, notes=(*plan.notes, VALUES_NOTE))
        else:
            plan = self._by_item(keys[0].row, condition, rows, kind, scope, name)
        key = "item" if plan.grouped is None else plan.grouped.name
        columns = tuple(n for n, _ in listed) or (key,)
        return replace(plan, columns=columns, descending=self._descending(tree, keys[0], scope))

    def _by_item(
        self, row: int, condition: Condition, rows: frozenset[int], kind: str, scope: Scope, name: str
    ) -> Plan:
        """Count under GROUP BY the item of a row."""
        tests, person, mixed = split(condition)
        if any(row in rows_of(part) for part in mixed):
            raise unsupported("GROUP BY item with OR between that item and other conditions")
        others = rows - {row}
        rest = both(person, *mixed, *(on_item(r, tests[r]) for r in sorted(others) if r in tests))
        notes: tuple[str, ...] = (LISTED_NOTE,)
        if kind == IDS:
            rest = both(*(p for p in conjuncts(close(rest, others)) if p != NOT_EMPTY))  # implied by having the item
        else:
            rest, repeated = self._counted(rest, others, scope)
            if repeated is not None:
                raise unsupported("count(*) of the rows of a self-join", "Use count(DISTINCT id).")
            notes += (MERGED_NOTE,)
        test = tests.get(row, ANY_ITEM) if condition != NEVER else NO_ITEM
        return Plan(ITEMS, rest, test, name=name, notes=notes)

    @staticmethod
    def _largest(tree: exp.Select) -> int | None:
        """The number of groups with the largest counts that ORDER BY and LIMIT ask for; None without them."""
        order, limit = tree.args.get("order"), tree.args.get("limit")
        if order is None and limit is None:
            return None
        by = order.expressions if order is not None else []
        if limit is None or len(by) != 1 or not by[0].args.get("desc") or not isinstance(bare(by[0].this), exp.Count):
            raise unsupported("ORDER BY something else than the count, largest first and with LIMIT")
        only(limit, "expression")
        return whole(limit.expression)

    def _pairs(
        self, keys: Sequence[int], listed: Sequence[tuple[str, Column]], kind: str, scope: Scope, name: str
    ) -> Plan:
        """Count under GROUP BY the items of two rows."""
        signs, apart = SIGNS[""], list[tuple[int, int]]()
        for sign, left, right in scope.compared:
            if {left, right} == set(keys):
                signs &= SIGNS[sign if left == keys[0] else MIRRORED[sign]]
            elif sign == "<>" and len({left, right} & set(keys)) == 1:
                apart.append((left, right) if left in keys else (right, left))
            else:
                raise unsupported(COMPARED)
        scope.compared.clear()
        condition, rows, _ = self._finish(scope)
        tests, person, mixed = split(condition)
        for key, other in apart:
            tests[key] = item_all(tests.get(key, ANY_ITEM), item_not(self._single(tests, other)))
        person = both(person, *(at_least(1, self._single(tests, row)) for row in sorted(rows - set(keys))))
        if mixed or not rows >= set(keys) or not (person == NEVER or all(map(is_single, conjuncts(person)))):
            raise unsupported("GROUP BY two items with other conditions than on single items")
        if kind == ROWS and not scope.exact:
            raise unsupported("count(*) of rows that may repeat", "Use count(DISTINCT id).")
        if [column for _, column in listed] != [ItemTerm(key) for key in keys]:
            raise unsupported(
                "a GROUP BY of two items with other columns than these", "Select both, in the same order."
            )
        first, second = (tests.get(key, ANY_ITEM) if condition != NEVER else NO_ITEM for key in keys)
        notes = (LISTED_NOTE, *((MERGED_NOTE,) if kind == ROWS else ()))
        columns = tuple(n for n, _ in listed)
        return Plan(PAIRS, person, first, second, signs, name=name, columns=columns, notes=notes)

    @staticmethod
    def _single(tests: Mapping[int, ItemTest], row: int) -> ItemTest:
        """The test of a row that is fixed to a single item."""
        test = tests.get(row, ANY_ITEM)
        if len(listed(test) or "12") != 1:
            raise unsupported("GROUP BY the items of two rows beside a third that is not fixed to one item")
        return test

    def _group_columns(self, tree: exp.Select, group: exp.Group, scope: Scope) -> list[Column]:
        columns: list[Column] = []
        expressions = list(group.expressions)
        if group.args.get("all"):
            expressions = [
                e.this if isinstance(e, exp.Alias) else e
                for e in tree.expressions
                if isinstance(bare(e.this if isinstance(e, exp.Alias) else e), exp.Column)
            ]
        if not expressions:
            raise unsupported("GROUP BY without a column")
        for node in map(bare, expressions):
            if isinstance(node, exp.Literal) and not node.is_string:
                place = whole(node)
                if not 1 <= place <= len(tree.expressions):
                    raise unsupported("GROUP BY a position that does not exist")
                chosen = tree.expressions[place - 1]
                node = bare(chosen.this if isinstance(chosen, exp.Alias) else chosen)
            if not isinstance(node, exp.Column):
                raise unsupported("GROUP BY an expression")
            try:
                columns.append(self._column(node, scope))
            except InputError:
                chosen_alias = aliased(tree, node)
                if chosen_alias is None:
                    raise
                columns.append(self._column(chosen_alias, scope))
        return columns

    def _descending(self, tree: exp.Select, key: Column, scope: Scope) -> bool:
        order = tree.args.get("order")
        if order is None:
            return False
        only(order, "expressions")
        (first, *more) = order.expressions
        node = bare(first.this)
        if isinstance(node, exp.Literal) and not node.is_string and 1 <= whole(node) <= len(tree.expressions):
            chosen = tree.expressions[whole(node) - 1]
            node = bare(chosen.this if isinstance(chosen, exp.Alias) else chosen)
        if isinstance(node, exp.Column):
            node = aliased(tree, node) or node
        counts = any(isinstance(e, exp.Alias) and lowered(e.alias) == lowered(node.name) for e in tree.expressions)
        named = isinstance(node, exp.Column) and (aliased(tree, node) is not None or not counts)
        if more or not named or not isinstance(node, exp.Column) or self._column(node, scope) != key:
            raise unsupported(
                "ORDER BY something else than the column of the groups", "The counts are not known exactly."
            )
        return bool(first.args.get("desc"))

    # ---------------------------------------------------------------- relations

    def _relation(
        self, node: exp.Expr, env: Mapping[str, Relation], outer: Scope | None, *, exists: bool = False
    ) -> Relation:
        """Read a subquery as a relation."""
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

    def _set_operation(self, node: exp.SetOperation, env: Mapping[str, Relation], outer: Scope | None) -> Relation:
        only(node, "this", "expression", "distinct", "with_")
        env = self._with(node, env)
        left, right = self._relation(node.this, env, outer), self._relation(node.expression, env, outer)
        for side in (left, right):
            if len(side.columns) != 1 or not isinstance(side.columns[0][1], IdTerm):
                raise unsupported(f"{node.key.upper()} of something else than ids")
        if left.linked != right.linked:
            raise unsupported(f"{node.key.upper()} of which only one side refers to the outer query")
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
        return Relation(
            ((left.columns[0][0], IdTerm(person)),), frozenset(), condition, person, left.linked, exact=not repeated
        )

    def _with(self, node: exp.Expr, env: Mapping[str, Relation]) -> Mapping[str, Relation]:
        clause = node.args.get("with_")
        if clause is None:
            return env
        only(clause, "expressions")
        known = dict(env)
        for cte in clause.expressions:
            only(cte, "this", "alias", "materialized")
            relation = self._relation(cte.this, known, None)
            known[lowered(cte.args["alias"].name)] = with_names(relation, cte.args["alias"])
        return known

    def _select(self, node: exp.Select, env: Mapping[str, Relation], outer: Scope | None, exists: bool) -> Relation:
        only(node, "expressions", "from_", "joins", "where", "group", "having", "distinct", "with_")
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            raise unsupported("DISTINCT ON")
        scope = self._scope(node, env, outer)
        condition, rows, linked = self._finish(scope)
        person = scope.people[0]
        group, having = node.args.get("group"), node.args.get("having")
        grouped: set[Column] = set()
        if group is not None:
            only(group, "expressions", "all")
            grouped = set(self._group_columns(node, group, scope))
            ids = {c for c in grouped if isinstance(c, IdTerm)}
            if not all(self._is_of_scope(c, scope) for c in ids):
                raise unsupported("GROUP BY a column of the outer query")
            if ids:
                grouped = {c for c in grouped if not isinstance(c, AttributeTerm)}  # one value for each id
            if not ids or not grouped <= ids | {ItemTerm(r) for r in rows}:
                raise unsupported("GROUP BY something else than the id in a subquery")
            if grouped == ids:
                tests, _, mixed = split(condition)
                scope.group = Group(tests, rows, bool(mixed), scope.exact)
                condition, rows, scope.exact = close(condition, rows), frozenset(), True
                scope.aliases = {lowered(e.alias): e.this for e in node.expressions if isinstance(e, exp.Alias)}
                if having is not None:
                    condition = both(condition, self._condition(self._of_values(having.this, scope), scope))
                    if rows_of(condition) & scope.rows:
                        raise unsupported("an item outside an aggregate in HAVING")
                having = None
        if having is not None:
            raise unsupported("HAVING without GROUP BY the id" if group is None else "HAVING under GROUP BY item")
        columns = self._projection(node, scope, exists)
        if group is not None and any(isinstance(c, ItemTerm) and c not in grouped for _, c in columns):
            raise unsupported("a selected column that is not in GROUP BY")
        kinds = {type(c) for _, c in columns}
        if distinct is not None and AttributeTerm in kinds and IdTerm not in kinds:
            raise unsupported("DISTINCT relational values", "Only persons can be counted.")
        if distinct is not None or (group is not None and scope.group is None):
            item_rows = {c.row for _, c in columns if isinstance(c, ItemTerm)}
            if item_rows and (rows - item_rows or not any(isinstance(c, IdTerm) for _, c in columns)):
                raise unsupported("DISTINCT items", "Only persons can be counted.")
            if not item_rows:
                condition, rows = close(condition, rows), frozenset()
            scope.exact = True
        return Relation(tuple(columns), rows, condition, person, linked, scope.exact)

    def _projection(self, node: exp.Select, scope: Scope, exists: bool) -> list[tuple[str, Column]]:
        columns: list[tuple[str, Column]] = []
        for selected in node.expressions:
            alias = selected.alias if isinstance(selected, exp.Alias) else ""
            inner = bare(selected.this if isinstance(selected, exp.Alias) else selected)
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
                column: Term = self._column(inner, scope)
                if scope.group is not None and isinstance(column, ItemTerm | ItemsTerm):
                    raise unsupported("a selected column that is not in GROUP BY")
            elif scope.group is not None:
                column = self._aggregate(inner, scope)
            else:
                raise unsupported(f"{name_of(inner)} in the SELECT of a subquery")
            if not isinstance(
                column, IdTerm | ItemTerm | ItemsTerm | NumberTerm | SumTerm | FlagTerm | TruthTerm | AttributeTerm
            ):
                raise unsupported("a column of the right side of a LEFT JOIN in SELECT")
            if isinstance(column, IdTerm) and not self._is_of_scope(column, scope):
                raise unsupported(f"the column {inner.name!r} of the outer query in the SELECT of a subquery")
            columns.append((lowered(alias or inner.name), column))
        return columns

    def _is_of_scope(self, column: IdTerm, scope: Scope) -> bool:
        """Whether an id belongs to the rows of a scope, and not only to an outer query."""
        return any(self._root(column.person) == self._root(person) for person in scope.people)

    # ---------------------------------------------------------------- FROM

    def _scope(self, node: exp.Select, env: Mapping[str, Relation], outer: Scope | None) -> Scope:
        """Read FROM, joins and WHERE."""
        env = self._with(node, env)
        scope = Scope(outer, env)
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

    def _finish(self, scope: Scope) -> tuple[Condition, frozenset[int], bool]:
        """Check that a scope has one person; return its condition, rows, and whether the person is the outer one."""
        if scope.compared:
            raise unsupported(COMPARED, "Group by both items, or name one of them.")
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

    def _source(self, node: exp.Expr, env: Mapping[str, Relation]) -> tuple[str, Relation]:
        """Read a table, CTE or derived table, with fresh numbers for its rows and its person."""
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            relation, name = self._relation(exp.Subquery(this=node.this), env, None), ""
        elif isinstance(node, exp.Table):
            if not isinstance(node.this, exp.Identifier):
                raise unsupported(f"the table function {function_name(node.this)}")
            only(node, "this", "alias", "db", "catalog")
            dotted = ".".join(p.name for p in node.parts)
            name = lowered(node.name)
            if not node.db and name in env:
                relation = env[name]
            elif lowered(dotted) == self.table:
                relation = self._base(self.form, self.id_column, self.item_column)
                if self.attributes is not None and self.table in self.records:  # they are columns of the same table
                    columns = (*relation.columns, *_columns_of(self.attributes))
                    relation = replace(relation, columns=columns)
                if self.form == LIST and self.attributes is not None:  # ids without items may be in the records only
                    relation = replace(relation, condition=either(NOT_EMPTY, LISTED))
            elif lowered(dotted) == "baskets":
                relation = self._base(LIST, *BASKETS)
            elif lowered(dotted) in self.records and self.attributes is not None:
                relation = self._records(self.attributes)
            else:
                also = f"; its relational attributes are in the table {self.records[0]!r}" if self.attributes else ""
                raise unsupported(f"the table {dotted!r}", f"The release is of the table {self.table!r}{also}.")
        else:
            raise unsupported(name_of(node).replace("UNNEST in this place", "UNNEST"))
        alias = node.args.get("alias")
        if alias is not None:
            name = lowered(alias.name) or name
            relation = with_names(relation, alias)
        rows = {row: next(self._fresh) for row in sorted(relation.rows)}
        person = next(self._fresh)
        columns = tuple((n, moved(c, rows, person)) for n, c in relation.columns)
        return name, replace(
            relation,
            columns=columns,
            rows=frozenset(rows.values()),
            condition=renamed(relation.condition, rows),
            person=person,
        )

    def _base(self, form: str, id_column: str, item_column: str) -> Relation:
        person, row = next(self._fresh), next(self._fresh)
        if form == LIST:
            items = ItemsTerm(person, nullable=(id_column, item_column) != BASKETS)
            columns: tuple[tuple[str, Column], ...] = ((id_column, IdTerm(person)), (item_column, items))
            return Relation(columns, frozenset(), ALWAYS, person)
        return Relation(((id_column, IdTerm(person)), (item_column, ItemTerm(row))), frozenset({row}), ALWAYS, person)

    def _records(self, attributes: Sequence[Attribute]) -> Relation:
        """The relational records: one row for each person, also for those without items."""
        person = next(self._fresh)
        columns: tuple[tuple[str, Column], ...] = ((self.id_column, IdTerm(person)), *_columns_of(attributes))
        return Relation(columns, frozenset(), ALWAYS, person)

    def _add(self, node: exp.Expr, scope: Scope) -> Relation:
        name, relation = self._source(node, scope.env)
        scope.sources.append((name, by_name(relation.columns)))
        scope.people.append(relation.person)
        scope.rows |= relation.rows
        scope.conditions.append(relation.condition)
        scope.exact = scope.exact and relation.exact
        return relation

    def _join(self, join: exp.Join, scope: Scope) -> None:
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

    def _half_join(self, join: exp.Join, scope: Scope, *, anti: bool, semi: bool) -> None:
        """Read LEFT, SEMI or ANTI JOIN: the right side becomes a condition on the person, never a row."""
        what = "SEMI JOIN" if semi else "ANTI JOIN" if anti else "LEFT JOIN"
        name, relation = self._source(join.this, scope.env)
        inner = replace(
            scope,
            sources=[*scope.sources, (name, by_name(relation.columns))],
            people=[*scope.people, relation.person],
            compared=[],
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
        if inner.compared or rows_of(on) - relation.rows:
            raise unsupported(f"{what} with a condition on the left side's item", "Put it into WHERE.")
        present = close(both(relation.condition, on), relation.rows)
        if semi or anti:
            scope.conditions.append(negate(present) if anti else present)
            return
        tests, _, mixed = split(both(relation.condition, on))
        single = (len(finite(tests.get(r, ANY_ITEM)) or "12") == 1 for r in relation.rows)
        if not relation.exact or mixed or not all(single):
            scope.optional.append(present)
        scope.sources.append(
            (name, {n: [_optional(present, x) for x in c] for n, c in by_name(relation.columns).items()})
        )

    def _using(self, join: exp.Join, before: Sequence[tuple[str, dict[str, list[Column]]]], right: Relation) -> None:
        for identifier in join.args.get("using") or ():
            name = lowered(identifier.name)
            lefts = [c for _, columns in before for c in columns.get(name, ())]
            rights = [c for n, c in right.columns if n == name]
            if len(rights) != 1 or not lefts or not all(isinstance(c, IdTerm) for c in [*rights, lefts[0]]):
                raise unsupported(f"USING ({identifier.name})", "Join on the id column.")
            if isinstance(rights[0], IdTerm) and isinstance(lefts[0], IdTerm):
                self._unite(rights[0].person, lefts[0].person)


def _is_number(column: Column) -> bool:
    """Whether a column is a number of values."""
    return isinstance(column, SumTerm) and column.weights.kind == VALUES


def _measure_of(column: Column) -> Weights | Condition:
    """What a histogram counts the persons of each value of."""
    if isinstance(column, SumTerm):
        return column.weights
    assert isinstance(column, NumberTerm | FlagTerm)
    return Weights(column.test) if isinstance(column, NumberTerm) else column.condition


def _columns_of(attributes: Sequence[Attribute]) -> list[tuple[str, Column]]:
    return [(lowered(a.name), AttributeTerm(a)) for a in attributes]


def _optional(present: Condition, column: Column) -> OptionalTerm:
    """A column of the right side of a LEFT JOIN."""
    nullable = isinstance(column, ItemsTerm) and column.nullable
    return OptionalTerm(both(present, negate(NULL_LIST)) if nullable else present)


def rewrite(
    tree: exp.Expr,
    manifest: Mapping[str, str],
    attributes: Sequence[Attribute] | None = None,
    weights: Mapping[int, Weights] | None = None,
) -> Plan:
    """Read a COUNT query written for the original table of a release.

    Shapes: ``count(DISTINCT id)``, and ``count(*)`` over ids or over rows of one item each; conditions on the item
    column (=, <>, IN, LIKE, ILIKE, GLOB, starts_with, ...) with AND, OR, NOT; EXISTS and IN with subqueries on the id;
    UNION, INTERSECT and EXCEPT of ids; joins of copies on the id (also LEFT with IS NULL, SEMI, ANTI); GROUP BY id with
    HAVING on counts of items; CTEs and derived tables; GROUP BY item. The table has one row for each item, or one list
    for each id (list_contains, list_has_all, list_has_any, ANY), as the manifest says; ``baskets`` with
    ``transaction_id`` and ``items`` always has lists.

    Relational records are the table of the name in the manifest (``records_table``), or ``records``, with the id column and
    a column for each attribute: comparisons with literals (=, <>, <, BETWEEN, IN, IS NULL), GROUP BY one attribute.

    Literals are compared with the texts of items. ids and items are never NULL.

    Args:
        tree: one SELECT, parsed (``parsing.parse``).
        manifest: the release's manifest: ``table``, ``id_column``, ``item_column`` and ``layout``.
        attributes: the relational attributes; None without records.
        weights: numbers of items that the tree refers to (``conditions.WEIGHT``).

    Raises:
        InputError: ``unsupported_query`` with the construct's name, ``bad_sql``, or ``query_too_complex``.
    """
    try:
        plan = _read(tree, manifest, attributes, weights or {})
        return hull(readings(plan, relational=attributes is not None))
    except RecursionError:
        raise too_complex("it is nested too deeply") from None


def _read(
    tree: exp.Expr,
    manifest: Mapping[str, str],
    attributes: Sequence[Attribute] | None,
    weights: Mapping[int, Weights],
) -> Plan:
    """Read the query, with the notes on it."""
    reader = Reader.of(manifest, attributes, weights)
    plan = reader.plan(tree)
    notes = plan.notes
    if manifest.get("suppression") != "none":
        notes = tuple(MISSING_NOTE if note == LISTED_NOTE else note for note in notes)
    if reader.counts_rows and MERGED_NOTE not in notes:
        notes += (MERGED_NOTE,)
    if MERGED_NOTE in notes and manifest.get("semantics") == "atomic":
        raise unsupported("a number of rows, which a bag may repeat", "Use count(DISTINCT id) or count(DISTINCT item).")
    notes += (NUMBER_NOTE,) if reader.numbers else ()
    return replace(plan, labels=frozenset(reader.labels), numbers=frozenset(reader.numbers), notes=notes)
