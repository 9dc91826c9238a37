"""GROUP BY the id: the row of each person, with aggregates over the rows of one person."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from anondb.answers.persons.domains import cell, wrapped
from anondb.answers.persons.places import Places, put_column
from anondb.answers.persons.terms import Column, Id, Item, Listing, Looked, Number, PersonRows, Scope, Values, values_of
from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import aliased, is_same_key, set_children
from anondb.answers.ranged.sources import grouped
from anondb.answers.ranged.values import when
from anondb.query.item_tests import ANY_ITEM
from anondb.query.parsing import conjoined, is_null, lowered
from anondb.query.predicates import ALWAYS, NEVER, Condition, Weights, both, either, on_item
from anondb.query.refusals import name_of, unsupported

MAX_VALUES = 200  # of an item's function by which the rows of a person are divided


class PerPerson(Places):
    """Reads groups of the rows of each person."""

    @abstractmethod
    def filtered(self, scope: Scope, pool: Sequence[exp.Expr]) -> Scope:
        """The rows that satisfy conditions which AND connects."""

    def by_id(self, node: exp.Select, scopes: Sequence[Scope]) -> list[PersonRows]:
        """The rows of GROUP BY the id, and perhaps values of the person or of an item; with HAVING."""
        keys = list(dict.fromkeys(grouped(node, lambda column: self._has(column, scopes[0]))))
        trees = [[self.resolved(key, scope) for key in keys] for scope in scopes]
        if not all(any(isinstance(self.atom(tree), Id) for tree in of) for of in trees):  # an outer join has NULL for ids
            raise unsupported("a subquery with GROUP BY that does not group by the id")
        groups: dict[tuple[Any, ...], list[Scope]] = {}
        for scope, of in zip(scopes, trees, strict=True):
            parts = self._divided_by(scope, keys, of)
            new = [part for values, part in parts if values not in groups]
            if not self._are_others(keys, new, groups.values()):
                raise unsupported("GROUP BY the id and values of rows of several kinds", "Group by the id alone.")
            for values, part in parts:
                groups.setdefault(values, []).append(part)
        return [self._grouped(node, keys, group) for group in groups.values()]

    def with_windows(self, node: exp.Select, scopes: Sequence[Scope]) -> tuple[exp.Select, list[Scope]]:
        """A SELECT with columns in place of its aggregates over the rows of each person, and its rows with these columns;
        QUALIFY is applied.

        ``f(x) OVER (PARTITION BY id)`` without an order is f over those rows of FROM and WHERE that have the id of the row,
        and the row is one of them: the number that GROUP BY the id gives to this person.
        """
        node, met, listed = node.copy(), self.closed(*(scope.rows for scope in scopes)), list(scopes)
        for n, window in enumerate(w for w in list(node.find_all(exp.Window)) if w.parent_select is node):
            if not self._is_of_persons(window, scopes):
                continue
            call = window.this
            value = self.quietly(lambda part: self.aggregated(part, scopes, met), call)
            column = Column("", f"_over{n}", value)
            listed = [replace(s, rows=replace(s.rows, columns=(*s.rows.columns, column))) for s in listed]
            put_column(window, column.name)
        listed = self.with_places(node, listed)
        listed = [replace(scope, aliases=aliased(node)) for scope in listed]
        qualify = node.args.get("qualify")
        return node, possible([self.filtered(s, conjoined(qualify.this)) for s in listed]) if qualify else listed

    def _is_of_persons(self, window: exp.Window, scopes: Sequence[Scope]) -> bool:
        """Whether a window function is an aggregate over all rows of the person of the row."""
        function, _ = filtered(window.this)
        if not isinstance(function, exp.AggFunc) or any(window.args.get(key) for key in ("order", "spec")):
            return False
        return self.is_by_person(window, scopes)

    def _are_others(self, keys: Sequence[exp.Expr], parts: Sequence[Scope], groups: Iterable[Sequence[Scope]]) -> bool:
        """Whether rows have other values of the keys than those of groups, or belong to other persons."""

        def differ(one: Scope, two: Scope, key: exp.Expr) -> bool:
            sides = [self.resolved(scope.fixed.get(key, key), scope) for scope in (one, two)]
            if any(isinstance(self.atom(side), Id) for side in sides):
                return False
            if any(map(self.atoms_of, sides)):
                null, other = sides if isinstance(sides[0].unnest(), exp.Null) else sides[::-1]
                atom = self.atom(other)
                never = isinstance(atom, Item) or (isinstance(atom, Number) and atom.present == ALWAYS)
                return isinstance(null.unnest(), exp.Null) and never
            values = [self.value(side) for side in sides]
            return values[0] != values[1] and (None in values or type(values[0]) is type(values[1]))

        def apart(one: Scope, two: Scope) -> bool:
            other = any(differ(one, two, key) for key in keys)
            return other or both(self.closed(one.rows), self.closed(two.rows)) == NEVER

        return all(apart(part, scope) for part in parts for group in groups for scope in group)

    def _has(self, column: exp.Column, scope: Scope) -> bool:
        name, table = lowered(column.name), lowered(column.table)
        return any(c.name == name and (not table or c.alias == table) for c in scope.rows.columns)

    def _divided_by(
        self, scope: Scope, keys: Sequence[exp.Expr], trees: Sequence[exp.Expr]
    ) -> list[tuple[tuple[Any, ...], Scope]]:
        """The rows of a scope for each value of the keys that depend on an item, which are constants then."""
        parts: list[tuple[tuple[Any, ...], Scope]] = [((), scope)]
        for key, tree in zip(keys, trees, strict=True):
            atom = self.atom(tree)
            if not self.rows_of(tree) or isinstance(atom, Item):
                same = None if isinstance(atom, Item | Id) else tree
                parts = [((*values, same), part) for values, part in parts]
                continue
            if len(self.rows_of(tree)) > 1:
                raise unsupported("GROUP BY an expression over both items of a self-join")
            evaluated = self.evaluated(tree)
            if not evaluated.complete:
                raise unsupported("GROUP BY an expression of items that may be suppressed")
            others = [evaluated.other] if self.releases.suppressed else []
            listed = list(dict.fromkeys([*evaluated.values.values(), *others]))
            if len(listed) > MAX_VALUES:
                raise unsupported("GROUP BY the id and an expression of an item with too many values")
            (row,) = self.rows_of(tree)
            more = []
            for values, part in parts:
                for value in listed:
                    test = self.test(tree, lambda v, value=value: v == value and type(v) is type(value))  # type: ignore[misc]
                    here = part.restricted(on_item(row, test))
                    if here.rows.where != NEVER:
                        fixed = {**part.fixed, key: cell(value, evaluated.kind)}
                        more.append(((*values, (repr(value),)), replace(here, fixed=fixed)))
            parts = more or [_without_rows(*parts[0], key)]
        return [(tuple(v if not isinstance(v, exp.Expr) else v.sql() for v in values), part) for values, part in parts]

    def _grouped(self, node: exp.Select, keys: Sequence[exp.Expr], group: Sequence[Scope]) -> PersonRows:
        """The row of each person, or of each item of a person, for alternatives of rows with equal keys."""
        atoms = [self.atom(self.resolved(group[0].fixed.get(key, key), group[0])) for key in keys]
        kept = frozenset(atom.row for atom in atoms if isinstance(atom, Item))
        if kept and len(group) > 1:
            raise unsupported("GROUP BY the id and the item of rows of several kinds")
        for scope in group:
            self.check_one(scope.rows)
        met = either(*(self.closed_but(scope.rows, kept) for scope in group))

        def value_of(part: exp.Expr) -> exp.Expr:
            return self.aggregated(part, group, met, keys=keys, kept=kept)

        columns = [Column("", lowered(e.alias_or_name), self.quietly(value_of, e.unalias())) for e in node.expressions]
        rows = PersonRows(tuple(columns), kept, met, exact=True, people=group[0].rows.people)
        having = node.args.get("having")
        if having is not None:
            rows = rows.restricted(self.where(value_of(having.this)))
        return rows

    # ---------------------------------------------------------------- aggregates over the rows of a person

    def aggregated(
        self,
        node: exp.Expr,
        scopes: Sequence[Scope],
        met: Condition,
        *,
        keys: Sequence[exp.Expr] = (),
        kept: frozenset[int] = frozenset(),
    ) -> exp.Expr:
        """An expression of aggregates over the rows of one person, over atoms.

        Args:
            node: the expression.
            scopes: the rows, as alternatives that add up.
            met: the condition that the person has a row; it holds wherever the expression is used.
            keys: the grouped expressions.
            kept: the variables that the rows are grouped by.
        """

        def visit(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.AggFunc) or (isinstance(part, exp.Filter) and isinstance(part.this, exp.AggFunc)):
                return wrapped(self._aggregate(part, scopes, met, kept))
            key = next((k for k in keys if is_same_key(k, part)), None)
            if key is not None and key in scopes[0].fixed:
                return scopes[0].fixed[key].copy()
            if isinstance(part, exp.Column):
                is_alias = not part.table and not self._has(part, scopes[0])
                alias = scopes[0].aliases.get(lowered(part.name)) if is_alias else None
                if alias is not None and alias is not node:
                    return wrapped(visit(alias.copy()))
                value = self.resolved(part, scopes[0])
                if self.rows_of(value) - kept:
                    raise unsupported("a selected column that is not in GROUP BY")
                return wrapped(value)
            special = self._special(part, scopes[0]) if not isinstance(part, exp.AggFunc | exp.Window) else None
            if special is not None:
                return special
            if isinstance(part, exp.Window):
                raise unsupported("a window function over the rows of a person")
            set_children(part, visit)
            return self._list_function(part, scopes[0]) or self.plain(part)

        return visit(node.copy())

    def _aggregate(self, call: exp.Expr, scopes: Sequence[Scope], met: Condition, kept: frozenset[int]) -> exp.Expr:
        wanted: exp.Expr | None = None
        if isinstance(call, exp.Filter):
            wanted, call = call.expression.this, call.this
        if call.args.get("count") is not None or kept:
            if (
                not kept
                or not isinstance(call, exp.Count)
                or wanted is not None
                or not scopes[0].rows.exact
                or scopes[0].rows.rows != kept
            ):
                raise unsupported(f"{name_of(call)} of the rows of a person by item")
            return exp.Literal.number(1)
        if isinstance(call.this, exp.Distinct) and not isinstance(call, exp.Count | exp.ArrayAgg):
            raise unsupported(f"{name_of(call)} DISTINCT of the rows of a person")
        if wanted is not None:
            scopes = [self._with(scope, self.resolved(wanted, scope)) for scope in scopes]
        inner = call.this
        if isinstance(call, exp.Count):
            return self._count(inner, scopes, met)
        if isinstance(call, exp.CountIf):
            there = [self._with(s, self.resolved(inner, s)) for s in scopes]
            definite = [s.rows.restricted(self.decided(self.resolved(inner, s)).definite) for s in scopes]
            number = self._numbers(there, met)  # DuckDB sums ones and zeros
            return self._case_value([(self.closed(*definite), number)], exp.null(), met)
        if isinstance(call, exp.LogicalOr | exp.LogicalAnd):
            parts = [(scope, self.decided(self.resolved(inner, scope))) for scope in scopes]
            return self.column(self._decided(parts, isinstance(call, exp.LogicalAnd), met if wanted is None else None))
        if isinstance(call, exp.Sum | exp.Avg | exp.Max | exp.Min):
            trees = [self.resolved(inner, scope) for scope in scopes]
            if isinstance(call, exp.Max | exp.Min):
                return self._extreme(call, scopes, trees, met)
            total = self._sum(scopes, trees, met)
            if isinstance(call, exp.Sum):
                return total
            number = self._numbers(self._where_present(scopes, trees), met)
            return exp.Div(this=exp.cast(exp.paren(total), "DOUBLE"), expression=exp.paren(number))
        if isinstance(call, exp.AnyValue | exp.First):
            trees = [self.resolved(inner, scope) for scope in scopes]
            if len(set(trees)) == 1 and not self.rows_of(trees[0]):
                return trees[0]
        if isinstance(call, exp.ArrayAgg) and wanted is None and len(scopes) == 1:
            listing = self._list(inner, scopes[0], met)
            if listing is not None:
                return self.column(listing)
        raise unsupported(name_of(call))

    def _list(self, inner: exp.Expr, scope: Scope, met: Condition) -> Listing | Values | None:
        """The list of the items of a person's rows, each once, or of texts that are looked up for them; None for others."""
        distinct, by = False, list[exp.Expr]()
        while isinstance(inner, exp.Order | exp.Distinct):
            distinct = distinct or isinstance(inner, exp.Distinct)
            by = by or (inner.expressions if isinstance(inner, exp.Order) else [])
            inner = inner.this if isinstance(inner, exp.Order) else inner.expressions[0]
        item = self.resolved(inner, scope)
        ordered = bool(by) and not self.releases.typed and self.resolved(by[0].this, scope, quiet=True) == item
        atom = self.atom(item)
        looked = len(self.rows_of(item)) == 1 and all(isinstance(a, Item | Looked) for a in self.atoms_of(item))
        once = isinstance(atom, Item) and (distinct or (scope.rows.exact and scope.rows.rows == {atom.row}))
        if not once and (isinstance(atom, Item) or not looked):
            return None
        cases = self._one_row(scope.rows, item)
        alone = len(cases) == 1 and self._holds(cases[0][0], met)
        if not isinstance(atom, Item):
            return Values(item, cases[0][1]) if alone else None
        step = 0 if not ordered else -1 if by[0].args.get("desc") else 1
        return Listing(False, cases[0][1], step) if alone else None

    def _with(self, scope: Scope, tree: exp.Expr) -> Scope:
        return scope.restricted(self.where(tree))

    def _where_present(self, scopes: Sequence[Scope], trees: Sequence[exp.Expr]) -> list[Scope]:
        """The rows in which a value is not NULL."""
        return [self._with(s, exp.Not(this=exp.paren(is_null(tree)))) for s, tree in zip(scopes, trees, strict=True)]

    def _count(self, inner: exp.Expr | None, scopes: Sequence[Scope], met: Condition) -> exp.Expr:
        if inner is None or isinstance(inner, exp.Star | exp.Literal):
            return self._numbers(scopes, met)
        distinct = isinstance(inner, exp.Distinct)
        if distinct and len(inner.expressions) != 1:
            raise unsupported("count(DISTINCT ...) of several columns")
        what = inner.expressions[0] if distinct else inner
        trees = [self.resolved(what, scope) for scope in scopes]
        there = self._where_present(scopes, trees)
        if not distinct:
            return self._numbers(there, met)
        if len(scopes) > 1:
            return self._different_of_kinds(there, trees, met)
        (tree,), (scope,) = trees, there
        if not self.rows_of(tree):
            return when(self._column_of(self.closed(scope.rows)), exp.Literal.number(1), exp.Literal.number(0))
        atom = self.atom(tree)
        cases = self._one_row(scope.rows, tree)
        weights = Weights(ANY_ITEM)
        if not isinstance(atom, Item):
            evaluated = self.evaluated(tree)
            if self.releases.suppressed and evaluated.other is not None:
                raise unsupported("count(DISTINCT ...) of an expression of items that may be suppressed")
            listed = [(x, v) for x, v in evaluated.values.items() if v is not None]
            if len({v for _, v in listed}) < len(listed):  # else each value is one item
                weights = values_of(listed)
        numbers = [(condition, self.column(Number(replace(weights, test=test)))) for condition, test in cases]
        return self._case_value(numbers, exp.Literal.number(0), met)


def possible(scopes: Sequence[Scope]) -> list[Scope]:
    """Those alternatives of rows that some person may have; one at least, which has the columns."""
    return [scope for scope in scopes if scope.rows.where != NEVER] or list(scopes[:1])


def _without_rows(values: tuple[Any, ...], scope: Scope, key: exp.Expr) -> tuple[tuple[Any, ...], Scope]:
    """A scope with no rows, in which a key is NULL."""
    nothing = replace(scope.rows, where=NEVER)
    return (*values, ("NULL",)), replace(scope, rows=nothing, fixed={**scope.fixed, key: exp.null()})
