"""Conditions on the rows of persons, joins of these with tables of the analyst, and the different rows of persons:
DISTINCT, UNION, INTERSECT and EXCEPT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from sqlglot import exp

from anondb.answers.persons.nested import MAX_ROWS
from anondb.answers.persons.per_person import PerPerson
from anondb.answers.persons.terms import Column, Id, Item, Looked, PersonRows, Refused, Scope
from anondb.answers.ranged.clauses import both_ways
from anondb.answers.ranged.compiler import Env
from anondb.answers.ranged.joined_groups import group_columns
from anondb.answers.ranged.relation import Ranged
from anondb.answers.ranged.sources import source_rows
from anondb.errors import InputError
from anondb.query.item_tests import ANY_ITEM
from anondb.query.parsing import bare, conjoined, lowered, operands
from anondb.query.predicates import (
    NEVER,
    Condition,
    OnItem,
    both,
    either,
    negate,
    on_item,
    renamed,
    replaced,
    settled,
    split,
)
from anondb.query.refusals import only, unsupported

MAX_BRANCHES = 400  # of the rows of persons
_SIGNS: Mapping[type[exp.Expr], str] = {exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}


class Joins(PerPerson):
    """Applies conditions to rows, and puts the rows of tables of the analyst beside them."""

    def filtered(self, scope: Scope, pool: Sequence[exp.Expr]) -> Scope:
        """The rows that satisfy conditions which AND connects."""
        unread: list[InputError] = []
        for condition in pool:
            if id(condition) in scope.done:
                continue
            try:
                scope = replace(scope, rows=self._where(self.resolved(condition, scope), scope.rows))
            except InputError as error:
                unread.append(error)
        if unread and scope.rows.where != NEVER:  # else another condition holds for no row
            raise unread[0]
        return scope

    def _where(self, tree: exp.Expr, rows: PersonRows) -> PersonRows:
        """The rows for which one condition is true: equal ids unite persons, and items of two copies may be compared."""
        tree = bare(tree)
        if isinstance(tree, exp.And):
            for part in operands(tree):
                rows = self._where(part, rows)
            return rows
        compared = isinstance(tree, (exp.EQ, *_SIGNS))
        left, right = (self.atom(tree.this), self.atom(tree.expression)) if compared else (None, None)
        if isinstance(left, Id) and isinstance(right, Id) and isinstance(tree, exp.EQ):
            self.unite(left.person, right.person)
            return rows
        if isinstance(left, Item) and isinstance(right, Item) and left != right:
            if isinstance(tree, exp.EQ):
                return self._same_item(rows, left.row, right.row)
            return replace(rows, compared=rows.compared | {(_SIGNS[type(tree)], left.row, right.row)})
        return rows.restricted(self.where(tree))

    def _same_item(self, rows: PersonRows, one: int, other: int) -> PersonRows:
        """Rows in which two variables have the same item: one variable in place of both."""
        if not {one, other} <= rows.rows or rows.compared or not rows.exact:
            raise unsupported("equal items in a self-join", "Compare their ids alone.")

        def value_of(atom: object) -> exp.Expr | None:
            return self.column(replace(atom, row=one)) if isinstance(atom, Item | Looked) and atom.row == other else None

        columns = tuple(replace(c, value=self.replaced(c.value, value_of)) for c in rows.columns)
        return replace(rows, columns=columns, where=renamed(rows.where, {other: one}), rows=rows.rows - {other})

    # ---------------------------------------------------------------- joins

    def _with_table(self, node: exp.Expr, join: exp.Join, scope: Scope, pool: list[exp.Expr]) -> list[Scope]:
        """The rows of a scope beside those of a table of the analyst that is joined with them."""
        relation, alias = source_rows(self.compiler, node, scope.env)
        if not relation.exact:
            return [self._chosen_items(node, join, scope, pool, relation, lowered(alias))]
        alias, kind = lowered(alias), join.kind.upper()
        outer = join.side.upper() == "LEFT" or kind in ("SEMI", "ANTI")
        names = {lowered(c.name) for c in relation.columns}
        conditions, shared = conjoined(join.args.get("on")), shared_names(join)
        for name in shared:
            left = next((c.value for c in scope.rows.columns if c.name == name and not c.merged), None)
            if left is None or name not in names:
                raise unsupported(f"USING ({name})")
            conditions.append(exp.EQ(this=left.copy(), expression=exp.column(name, alias)))
        placed = [
            Column(alias, lowered(c.name), exp.column(f"c{n}", "k"), lowered(c.name) in shared)
            for n, c in enumerate(relation.columns)
        ]
        inner = replace(scope, rows=replace(scope.rows, columns=(*scope.rows.columns, *placed)))
        trees = [self.resolved(c, inner) for c in conditions]
        if not outer:
            taken = []
            for condition in pool:
                if _is_of_joined(condition, inner, alias):
                    tree = self.resolved(condition, inner)
                    if self._links(tree):
                        taken.append(condition)
                        trees.append(tree)
            linked = [tree for tree in trees if self._links(tree)]
            row = next(iter({r for t in linked for r in self.rows_of(t)}), None)
            used = [t for t in linked if self.rows_of(t) == {row}]
            if row is None or (self.releases.suppressed and not self._all_named(relation, used)):
                return self._by_constants(relation, alias, scope, inner, trees, shared)
            scopes = self._looked_up(relation, row, used, placed, scope, kind="inner")
            done = frozenset(
                id(c) for c, t in zip(taken, trees[len(conditions) :], strict=True) if any(t is u for u in used)
            )
            rest = [c for c, t in zip(conditions, trees, strict=False) if not any(t is u for u in used)]
            return [self.filtered(replace(joined, done=joined.done | done), rest) for joined in scopes]
        rows = {r for t in trees for r in self.rows_of(t)}
        if len(rows) == 1 and not any(map(self._has_persons, trees)):
            return self._looked_up(relation, next(iter(rows)), trees, placed, scope, kind=kind.lower() or "left")
        if len(rows) > 1 or any(isinstance(atom, Id) for t in trees for atom in self.atoms_of(t)):
            raise unsupported(f"{join.side or kind} JOIN with the table {alias!r} on several items, or on an id")
        matched = self._by_constants(relation, alias, scope, inner, trees, shared)
        found = either(*(settled(one.rows.where) for one in matched))
        if kind in ("SEMI", "ANTI"):
            return [scope.restricted(negate(found) if kind == "ANTI" else found)]
        nulls = [replace(c, value=exp.null()) for c in placed]
        alone = replace(scope.rows.restricted(negate(found)), columns=(*scope.rows.columns, *nulls))
        return [*matched, replace(scope, rows=alone)]

    def _links(self, tree: exp.Expr) -> bool:
        """Whether an expression is of the table that is joined and the item of one row alone."""
        of_table = any(c.table == "k" for c in tree.find_all(exp.Column))
        return of_table and len(self.rows_of(tree)) == 1 and not self._has_persons(tree)

    def _has_persons(self, tree: exp.Expr) -> bool:
        """Whether an expression depends on persons by more than an item."""
        return any(not isinstance(atom, Item | Looked) for atom in self.atoms_of(tree))

    def _chosen_items(
        self, node: exp.Expr, join: exp.Join, scope: Scope, pool: Sequence[exp.Expr], relation: Ranged, alias: str
    ) -> Scope:
        """The rows of a scope whose items are in a list of groups, each item once, that counts choose; the groups' numbers
        have no rule here but in conditions of WHERE, which choose groups, too."""
        listed, kind = shared_names(join), join.kind.upper()
        conditions: list[exp.Expr] = [exp.EQ(this=exp.column(n), expression=exp.column(n, alias)) for n in listed]
        conditions += conjoined(join.args.get("on"))
        ctes = {name: cte.node for name, cte in scope.env.items()}
        keys, _ = group_columns(node, ctes)
        names = {lowered(c.name) for c in relation.columns}
        link = _link_of(conditions[0], alias) if len(conditions) == 1 else None
        if link is None or keys != {lowered(link[1].name)} or join.side or kind not in ("", "INNER", "SEMI"):
            raise unsupported("a join of persons with estimates", "Join the results of two queries.")
        left, key = self.resolved(link[0], scope), link[1]
        taken = [c for c in pool if id(c) not in scope.done and _is_of_source(c, alias, names - set(listed), scope)]
        source = node.copy()
        source.set("alias", source.args.get("alias") or exp.TableAlias(this=exp.to_identifier(alias)))
        query = exp.select(exp.column(key.name, alias)).from_(source).where(*(c.copy() for c in taken))
        number = self.column(Refused("a join of persons with estimates", "Join the results of two queries."))
        placed = [
            Column(alias, name, left if name == lowered(key.name) else number, name in listed)
            for name in sorted(names)
            if kind != "SEMI"
        ]
        rows = self._where(self.among_chosen(left, query, scope), scope.rows)
        rows = replace(rows, columns=(*rows.columns, *placed))
        return replace(scope, rows=rows, done=scope.done | {id(c) for c in taken})

    def _looked_up(
        self,
        relation: Ranged,
        row: int,
        conditions: Sequence[exp.Expr],
        placed: Sequence[Column],
        scope: Scope,
        *,
        kind: str,
    ) -> list[Scope]:
        """The rows of a scope with the rows of a table of the analyst that match the item of a variable."""
        ranked = self._ranked(relation, conditions)
        matches = self.releases.rows(exp.select("item", "place").from_(ranked.subquery("ranked")))
        most = max((place for _, place in matches), default=0)
        if self.releases.suppressed and not self._all_named(relation, conditions):
            raise unsupported("a join on a computed item where items were suppressed")
        if kind in ("semi", "anti"):
            met = on_item(row, self.test_of(frozenset(item for item, place in matches if place == 1), False))
            return [scope.restricted(negate(met) if kind == "anti" else met)]
        if most > MAX_BRANCHES:
            raise unsupported("a join of items with too many rows each")
        scopes = []
        for place in range(1, max(most, 1) + 1):
            name = f"l{len(self.lookups)}"
            at_place = exp.EQ(this=exp.column("place"), expression=exp.convert(place))
            self.lookups[name] = exp.select("*").from_(ranked.subquery("ranked")).where(at_place)
            columns = [replace(c, value=self.column(Looked(row, name, f"c{n}"))) for n, c in enumerate(placed)]
            some = self.test_of(frozenset(item for item, at in matches if at == place), False)
            where = scope.rows.where if kind == "left" and place == 1 else both(scope.rows.where, on_item(row, some))
            scopes.append(replace(scope, rows=replace(scope.rows, columns=(*scope.rows.columns, *columns), where=where)))
        return scopes

    def _ranked(self, relation: Ranged, conditions: Sequence[exp.Expr]) -> exp.Select:
        """Each item with the rows of a table of the analyst that match it, numbered by ``place``."""
        cells = [exp.column(f"c{n}", "k") for n in range(len(relation.columns))]
        item = exp.column("item", "d")

        asked = exp.select(item.as_("item"), *cells).from_(self.releases.domain().subquery("d"))
        asked = self.with_lookups(asked, (atom for tree in conditions for atom in self.atoms_of(tree)))
        on = exp.and_(*(exp.paren(self.replaced(tree, self.in_domain)) for tree in conditions))
        order = exp.Order(expressions=[exp.Ordered(this=cell.copy()) for cell in cells])
        number = exp.Window(this=exp.RowNumber(), partition_by=[item.copy()], order=order, over="OVER")
        return asked.join(relation.tree.subquery("k"), on=on).select(number.as_("place"))

    def _all_named(self, relation: Ranged, conditions: Sequence[exp.Expr]) -> bool:
        """Whether all items that a table of the analyst may match are named."""
        for tree in conditions:
            if isinstance(tree.unnest(), exp.EQ):
                sides = [tree.unnest().this.unnest(), tree.unnest().expression.unnest()]
                keys = [s for s in sides if isinstance(s, exp.Column) and s.table == "k"]
                if len(keys) == 1 and any(isinstance(self.atom(s), Item) for s in sides):
                    texts = exp.select(exp.cast(keys[0].copy(), "VARCHAR")).from_(relation.tree.subquery("k"))
                    return {text for (text,) in self.releases.rows(texts)} - {None} <= self.releases.named()
                kinds = set(map(type, self.atoms_of(tree)))
                if Looked in kinds and Item not in kinds:
                    return True
        return False

    def _by_constants(
        self, relation: Ranged, alias: str, scope: Scope, inner: Scope, trees: Sequence[exp.Expr], shared: Sequence[str]
    ) -> list[Scope]:
        """The rows of a scope beside each row of a table of the analyst, whose columns are constants."""
        listed = self.constant_rows(relation)
        if len(listed) > MAX_ROWS:
            raise unsupported(f"a join with the table {alias!r} without an equal item", "Join it on the item column.")
        scopes = []
        for values in listed:
            columns = [
                Column(alias, lowered(c.name), value, lowered(c.name) in shared)
                for c, value in zip(relation.columns, values, strict=True)
            ]
            rows = replace(scope.rows, columns=(*scope.rows.columns, *columns))
            for tree in trees:
                of = tree.copy().transform(
                    lambda n, values=values: (
                        values[int(n.name[1:])].copy() if isinstance(n, exp.Column) and n.table == "k" else n
                    )
                )
                rows = self._where(of, rows)
            if rows.where != NEVER:
                scopes.append(replace(scope, rows=rows))
        nulls = [Column(alias, lowered(c.name), exp.null()) for c in relation.columns]
        absent = replace(inner.rows, where=NEVER, columns=(*scope.rows.columns, *nulls))
        return scopes or [replace(inner, rows=absent)]

    # ---------------------------------------------------------------- different rows

    def once(self, alternatives: Sequence[PersonRows]) -> list[PersonRows]:
        """The different rows."""
        first = alternatives[0]
        kinds = [self.atom(c.value) for c in first.columns]
        items = {atom.row for atom in kinds if isinstance(atom, Item)}
        if not all(any(isinstance(self.atom(c.value), Id) for c in rows.columns) for rows in alternatives):
            raise unsupported("DISTINCT without the id", "Only persons can be counted.")  # or with a NULL, of an outer join
        if any(isinstance(c.value, exp.Column) and self.atom(c.value) is None for c in first.columns):
            raise unsupported("DISTINCT over rows of several kinds", "Select the id alone.")
        if len(alternatives) > 1:
            listed = self._aligned([one for rows in alternatives for one in self.once([rows])])
            return [replace(listed[0], where=either(*(settled(rows.where) for rows in listed)))]
        others = [c for c in first.columns if self.rows_of(c.value) and not isinstance(self.atom(c.value), Item)]
        if others:
            return self._by_values(first)
        if first.rows <= items:
            return [replace(first, exact=True)]
        where = self.closed_but(first, frozenset(items))
        return [replace(first, where=where, rows=first.rows & items, compared=frozenset(), exact=True)]

    def united(self, alternatives: list[PersonRows]) -> list[PersonRows]:
        """Rows of which a person has one at most, of one of several kinds, as rows of one kind if they show ids alone."""
        if len(alternatives) < 2 or not all(map(self._is_single, alternatives)):
            return alternatives
        closed = map(self.closed, alternatives)
        return (
            alternatives
            if any(both(one, other) != NEVER for one, other in combinations(closed, 2))
            else self.once(alternatives)
        )

    def _is_single(self, rows: PersonRows) -> bool:
        """Whether a person has one of these rows at most, and they show ids alone."""
        tests = split(settled(rows.where))[0]
        ids = all(isinstance(self.atom(c.value), Id) for c in rows.columns)
        return ids and rows.exact and all(self.is_one(tests.get(row, ANY_ITEM)) for row in rows.rows)

    def _aligned(self, listed: Sequence[PersonRows]) -> list[PersonRows]:
        """Rows with the same columns, of which one is an item at most, with the same variable for it.

        Raises:
            InputError: ``unsupported_query``: the columns differ in other things than persons and items.
        """
        row, aligned = next(self._fresh), []
        for rows in listed:
            where = replaced(rows.where, partial(_moved, rows.rows, row))
            values = [(self.column(Item(row)) if isinstance(self.atom(c.value), Item) else c.value) for c in rows.columns]
            columns = tuple(replace(c, value=value) for c, value in zip(rows.columns, values, strict=True))
            aligned.append(replace(rows, columns=columns, where=where, rows=frozenset({row} if rows.rows else ())))
        kinds = {tuple("id" if isinstance(self.atom(c.value), Id) else c.value for c in rows.columns) for rows in aligned}
        if len(kinds) > 1 or any(len(rows.rows) > 1 or rows.compared for rows in listed):
            raise unsupported("different rows of several kinds", "Select the id alone.")
        return aligned

    def _by_values(self, rows: PersonRows) -> list[PersonRows]:
        """The different rows of columns that are expressions of an item: one alternative for each value."""
        keys, alternatives = [c.value for c in rows.columns], []
        for _, part in self._divided_by(Scope(rows, {}), keys, keys):
            columns = tuple(replace(c, value=part.fixed.get(c.value, c.value)) for c in rows.columns)
            met = self.closed(part.rows)
            alternatives.append(PersonRows(columns, where=met, people=rows.people))
        if any(self.rows_of(c.value) for part in alternatives for c in part.columns):
            raise unsupported("DISTINCT items beside other values of them")
        return alternatives

    def _set_operation(self, node: exp.SetOperation, env: Env, outer: Scope | None) -> list[PersonRows]:
        only(node, "this", "expression", "distinct", "with_")
        left, right = self.relation(node.this, env, outer), self.relation(node.expression, env, outer)
        names = [c.name for c in left[0].columns]
        if any(len(rows.columns) != len(names) for rows in right):
            raise unsupported("a set operation of different numbers of columns")
        for rows in right:
            self.unite(min(left[0].people), min(rows.people))
        self.check_alike([*left, *right])
        repeated = not node.args.get("distinct")
        if repeated and isinstance(node, exp.Union):
            return left + [replace(rows.renamed("", names)) for rows in right]
        if repeated:
            raise unsupported(f"{node.key.upper()} ALL")
        if isinstance(node, exp.Union):
            return self.once([*left, *right])
        sides = [rows for side in (left, right) for rows in self.once(side)]
        if len(sides) > 2:
            raise unsupported("different rows of several kinds", "Select the id alone.")
        one, two = self._aligned(sides)
        second = settled(two.where)
        return [replace(one, where=both(settled(one.where), second if isinstance(node, exp.Intersect) else negate(second)))]


def shared_names(join: exp.Join) -> list[str]:
    """The columns of USING."""
    return [lowered(column.name) for column in join.args.get("using") or ()]


def _link_of(condition: exp.Expr, alias: str) -> tuple[exp.Expr, exp.Column] | None:
    """What a condition compares with a column of a source for equality, and this column; None for other conditions."""
    for left, right in both_ways(condition, exp.EQ):
        if isinstance(right, exp.Column) and lowered(right.table) == alias and isinstance(left, exp.Column):
            return left, right
    return None


def _is_of_source(condition: exp.Expr, alias: str, names: set[str], scope: Scope) -> bool:
    """Whether a condition is on columns of one source alone."""
    own = {c.name for c in scope.rows.columns}
    columns = list(condition.find_all(exp.Column))
    alone = all(
        lowered(c.table) == alias if c.table else lowered(c.name) in names and lowered(c.name) not in own for c in columns
    )
    return bool(columns) and alone and condition.find(exp.Query) is None


def _is_of_joined(condition: exp.Expr, inner: Scope, alias: str) -> bool:
    """Whether a condition is on a source and on others that are joined already, and not on later ones."""
    of = [
        {c.alias for c in inner.rows.columns if c.name == lowered(column.name) and column.table in ("", c.alias)}
        for column in condition.find_all(exp.Column)
    ]
    return all(of) and any(alias in aliases for aliases in of) and condition.find(exp.Query) is None


def _moved(rows: frozenset[int], row: int, leaf: Condition) -> Condition:
    """A leaf of a condition with another variable in place of these."""
    return replace(leaf, row=row) if isinstance(leaf, OnItem) and leaf.row in rows else leaf
