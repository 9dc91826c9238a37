"""Read FROM, joins, WHERE, GROUP BY the id and set operations of ids as the rows of persons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

from sqlglot import exp

from anondb.answers.persons.domains import typed, typeof
from anondb.answers.persons.per_person import PerPerson
from anondb.answers.persons.terms import Column, Id, Item, Listing, Looked, Of, Part, PersonRows, Scope
from anondb.answers.ranged.compiler import Env, with_ctes
from anondb.answers.ranged.known import Known
from anondb.answers.ranged.sources import source_rows
from anondb.query.parsing import bare, lowered, operands
from anondb.query.predicates import (
    ALWAYS,
    NEVER,
    NOT_EMPTY,
    Condition,
    both,
    either,
    negate,
    on_item,
    renamed,
)
from anondb.query.refusals import name_of, only, unsupported
from anondb.query.values import LISTED

MAX_BRANCHES = 128  # of the rows of persons
MAX_CONSTANTS = 100  # rows of a table that persons are compared with one by one
_SIGNS: Mapping[type[exp.Expr], str] = {exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
PARTS = ("expressions", "from_", "joins", "where", "group", "having", "distinct", "with_")


class Relations(PerPerson):
    """Reads queries whose rows belong to single persons. Such rows are listed as alternatives, whose rows add up."""

    # ---------------------------------------------------------------- persons

    def start(self) -> None:
        """Begin with no persons and no variables."""
        self._fresh = count(1)
        self._same: dict[int, int] = {}
        self.kinds = {}

    def person(self, number: int) -> int:
        """The person that equal ids show a person to be."""
        while number in self._same:
            number = self._same[number]
        return number

    def _unite(self, one: int, two: int) -> None:
        left, right = self.person(one), self.person(two)
        if left != right:
            self._same[left] = right

    def check_one(self, rows: PersonRows) -> None:
        """Refuse rows of several persons."""
        if len({self.person(p) for p in rows.people}) > 1:
            raise unsupported("a join without equal ids", "Join the copies of the table on the id column.")

    def is_linked(self, rows: PersonRows, scope: Scope | None) -> bool:
        """Whether rows are of the person of a scope."""
        mine = {self.person(p) for p in rows.people}
        return scope is not None and any(mine & {self.person(p) for p in s.rows.people} for s in scope.around())

    # ---------------------------------------------------------------- queries

    def relation(self, node: exp.Expr, env: Env, outer: Scope | None = None) -> list[PersonRows]:
        """The rows of a query of single persons: alternatives with the same columns.

        Raises:
            InputError: ``unsupported_query``.
        """
        env = with_ctes(node, env, self.people.of_persons)
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            return self.relation(node.this, env, outer)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, env, outer)
        if not isinstance(node, exp.Select):
            raise unsupported(name_of(node))
        only(node, *PARTS)
        made = self._select(node, self.scopes(node, env, outer))
        if len(made) > MAX_BRANCHES:
            raise unsupported("rows of persons with too many cases")
        for rows in made:
            self.check_one(rows)
        return made

    def _select(self, node: exp.Select, scopes: Sequence[Scope]) -> list[PersonRows]:
        """The rows that a SELECT makes of those of its FROM and WHERE."""
        distinct = node.args.get("distinct")
        if distinct is not None:
            only(distinct)
        if node.args.get("group") is not None or node.args.get("having") is not None:
            if node.args.get("group") is None or any(
                True
                for e in node.expressions
                for _ in e.find_all(exp.Star)
                if not isinstance(e.unalias(), exp.AggFunc | exp.Filter) and isinstance(e.unalias(), exp.Star)
            ):
                raise unsupported("HAVING without GROUP BY the id")
            return self.by_id(node, scopes)
        if self._has_aggregate(node):
            raise unsupported("an aggregate of all persons beside rows of single ones")
        made = []
        for scope in scopes:
            made += self._projected(node, scope)
        return self.once(made) if distinct is not None else made

    def _projected(self, node: exp.Select, scope: Scope) -> list[PersonRows]:
        columns: list[Column] = []
        rows = scope.rows
        for selected in node.expressions:
            inner = selected.unalias()
            star = inner.this if isinstance(inner, exp.Column) else inner
            if isinstance(star, exp.Star):
                only(star)
                table = lowered(inner.table) if isinstance(inner, exp.Column) else ""
                shown = [c for c in scope.rows.columns if (not table and not c.merged) or (table and c.alias == table)]
                columns += [replace(c, alias="", merged=False) for c in shown]
                continue
            if isinstance(inner, exp.Explode):
                listing = self.atom(self.resolved(inner.this, scope))
                if not isinstance(listing, Listing):
                    raise unsupported("UNNEST of something else than the items of a person")
                row = next(self._fresh)
                rows = replace(rows, rows=rows.rows | {row}, exact=rows.exact and not self.releases.bags)
                columns.append(Column("", lowered(selected.alias_or_name or "unnest"), self.column(Item(row))))
                continue
            columns.append(Column("", lowered(selected.alias_or_name), self.resolved(inner, scope, quiet=True)))
        return [replace(rows, columns=tuple(columns))]

    def once(self, made: Sequence[PersonRows]) -> list[PersonRows]:
        """The different rows."""
        first = made[0]
        kinds = [self.atom(c.value) for c in first.columns]
        items = {atom.row for atom in kinds if isinstance(atom, Item)}
        if not any(isinstance(atom, Id) for atom in kinds):
            raise unsupported("DISTINCT without the id", "Only persons can be counted.")
        plain = all(not isinstance(c.value, exp.Column) or self.atom(c.value) is not None for c in first.columns)
        if len(made) == 1 and plain:
            others = [c for c in first.columns if self.rows_of(c.value) and not isinstance(self.atom(c.value), Item)]
            if others:
                return self._by_values(first)
            rest = first.rows - items
            if not rest:
                return [replace(first, exact=True)]
            closed = [self.some_of(part, rest) for part in self.settled_rows(first, frozenset(items))]
            return [replace(first, where=either(*closed), rows=first.rows & items, compared=frozenset(), exact=True)]
        if len(first.columns) > 1:
            raise unsupported("DISTINCT over rows of several kinds", "Select the id alone.")
        return [
            replace(first, where=either(*map(self.closed, made)), rows=frozenset(), compared=frozenset(), exact=True)
        ]

    def _by_values(self, rows: PersonRows) -> list[PersonRows]:
        """The different rows of columns that are expressions of an item: one alternative for each value."""
        keys, made = [c.value for c in rows.columns], []
        for _, part in self._divided_by(Scope(rows, {}), keys, keys):
            columns = tuple(replace(c, value=part.fixed.get(c.value, c.value)) for c in rows.columns)
            met = self.closed(part.rows)
            made.append(PersonRows(columns, where=met, people=rows.people))
        if any(self.rows_of(c.value) for one in made for c in one.columns):
            raise unsupported("DISTINCT items beside other values of them")
        return made

    def _set_operation(self, node: exp.SetOperation, env: Env, outer: Scope | None) -> list[PersonRows]:
        only(node, "this", "expression", "distinct", "with_")
        left, right = self.relation(node.this, env, outer), self.relation(node.expression, env, outer)
        names = [c.name for c in left[0].columns]
        if any(len(rows.columns) != len(names) for rows in right):
            raise unsupported("a set operation of different numbers of columns")
        for one, two in zip([left[0]] * len(right), right, strict=True):
            self._unite(min(one.people), min(two.people))
        self.check_alike([*left, *right])
        repeated = not node.args.get("distinct")
        if repeated and isinstance(node, exp.Union):
            return left + [replace(rows.renamed("", names)) for rows in right]
        if (
            repeated
            or len(names) != 1
            or not all(isinstance(self.atom(r.columns[0].value), Id) for r in (*left, *right))
        ):
            raise unsupported(f"{node.key.upper()} of something else than ids")
        first, second = (either(*map(self.closed, side)) for side in (left, right))
        if isinstance(node, exp.Union):
            met = either(first, second)
        else:
            met = both(first, second if isinstance(node, exp.Intersect) else negate(second))
        return [replace(left[0], where=met, rows=frozenset(), compared=frozenset(), exact=True)]

    # ---------------------------------------------------------------- FROM

    def scopes(self, node: exp.Select, env: Env, outer: Scope | None = None) -> list[Scope]:
        """The rows of FROM, joins and WHERE, as alternatives."""
        clause, joins = node.args.get("from_"), list(node.args.get("joins") or ())
        if clause is None or not any(self.people.is_source(one.this, env) for one in (clause, *joins)):
            raise unsupported("rows of persons beside other rows")
        only(clause, "this")
        where = node.args.get("where")
        pool = conjuncts(where.this if where is not None else None)
        places: list[exp.Expr] = [clause, *joins]
        if not self.people.is_source(clause.this, env):  # a known table comes first
            first = next(n for n, place in enumerate(places) if self.people.is_source(place.this, env))
            if any(join.side for join in joins[:first]):
                raise unsupported(
                    f"{joins[first - 1].side} JOIN of persons to a table of your own",
                    "Group by its columns alone, and count a column of the persons: count(id) in place of count(*).",
                )
            moved = joins[first - 1]
            only(moved, "this", "kind", "on", "using")
            if moved.kind.upper() not in ("", "INNER", "CROSS"):
                raise unsupported(
                    f"{moved.kind} JOIN of persons to a table of your own", "Write column IN (SELECT ...)."
                )
            pool += conjuncts(moved.args.get("on"))
            shared = moved.args.get("using") or ()
            places = [exp.From(this=moved.this), *(p for p in places if p is not moved)]
            known = exp.Join(this=clause.this)
            if shared:
                known.set("using", [u.copy() for u in shared])
            places[1] = known
        made = [Scope(PersonRows(people=frozenset()), env, outer, self.aliases(node))]
        for place in places:
            made = [more for scope in made for more in self._joined(place, scope, pool)]
            if len(made) > MAX_BRANCHES:
                raise unsupported("rows of persons with too many cases")
        return [self.filtered(scope, pool) for scope in made]

    @staticmethod
    def aliases(node: exp.Select) -> dict[str, exp.Expr]:
        """The names that a SELECT gives to its expressions."""
        return {lowered(e.alias): e.this for e in node.expressions if isinstance(e, exp.Alias)}

    def filtered(self, scope: Scope, pool: Sequence[exp.Expr]) -> Scope:
        """The rows that satisfy conditions which AND connects."""
        for condition in pool:
            if id(condition) in scope.done:
                continue
            scope = replace(scope, rows=self._where(self.resolved(condition, scope), scope.rows))
        return scope

    def _where(self, tree: exp.Expr, rows: PersonRows) -> PersonRows:
        """The rows for which one condition is true: equal ids unite persons, and items of two copies may be compared."""
        tree = bare(tree)
        if isinstance(tree, exp.And):
            for part in operands(tree):
                rows = self._where(part, rows)
            return rows
        sides = (
            [self.atom(tree.this), self.atom(tree.expression)]
            if isinstance(tree, exp.EQ | exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE)
            else []
        )
        if len(sides) == 2 and isinstance(sides[0], Id) and isinstance(sides[1], Id) and isinstance(tree, exp.EQ):
            self._unite(sides[0].person, sides[1].person)
            return rows
        if len(sides) == 2 and isinstance(sides[0], Item) and isinstance(sides[1], Item) and sides[0] != sides[1]:
            if isinstance(tree, exp.EQ):
                return self._same_item(rows, sides[0].row, sides[1].row)
            return replace(rows, compared=rows.compared | {(_SIGNS[type(tree)], sides[0].row, sides[1].row)})
        return replace(rows, where=both(rows.where, self.where(tree)))

    def _same_item(self, rows: PersonRows, one: int, other: int) -> PersonRows:
        """Rows in which two variables have the same item: one variable in place of both."""

        if not {one, other} <= rows.rows or rows.compared or not rows.exact:
            raise unsupported("equal items of two copies", "Compare their ids alone.")
        of = {other: one}
        columns = []
        for c in rows.columns:

            def value_of(atom: object) -> exp.Expr | None:
                if isinstance(atom, Item | Looked) and atom.row == other:
                    return self.column(replace(atom, row=one))
                return None

            columns.append(replace(c, value=self.replaced(c.value, value_of)))
        where = both(renamed(rows.where, of))
        return replace(rows, columns=tuple(columns), where=where, rows=rows.rows - {other})

    # ---------------------------------------------------------------- joins

    def _joined(self, place: exp.Expr, scope: Scope, pool: list[exp.Expr]) -> list[Scope]:
        """The rows of a scope beside those of a further source."""
        join = place if isinstance(place, exp.Join) else exp.Join()
        only(join, "this", "side", "kind", "on", "using")
        side, kind = join.side.upper(), join.kind.upper()
        if side not in ("", "LEFT") or kind not in ("", "INNER", "CROSS", "OUTER", "SEMI", "ANTI"):
            raise unsupported(f"{side or kind} JOIN")
        if isinstance(place.this, exp.Unnest):
            return [self._unnested(place.this, scope)]
        if not self.people.is_source(place.this, scope.env):
            return self._with_known(place.this, join, scope, pool)
        listed = self.source(place.this, scope.env)
        if not side and kind not in ("SEMI", "ANTI"):
            made = []
            for rows in listed:
                both_ = self._beside(scope, rows, join)
                made.append(self.filtered(both_, conjuncts(join.args.get("on"))))
            return made
        matched = []
        for rows in listed:
            inner = self._beside(scope, rows, join)
            start = replace(inner.rows, where=rows.where, rows=rows.rows, compared=rows.compared, exact=rows.exact)
            found = self.filtered(replace(inner, rows=start), conjuncts(join.args.get("on")))
            self.check_one(found.rows)
            matched.append(found)
        present = either(*(self.closed(found.rows) for found in matched))
        if kind in ("SEMI", "ANTI"):
            met = negate(present) if kind == "ANTI" else present
            return [replace(scope, rows=replace(scope.rows, where=both(scope.rows.where, met)))]
        joined = []
        for found in matched:
            rows = replace(
                found.rows,
                where=both(scope.rows.where, found.rows.where),
                rows=scope.rows.rows | found.rows.rows,
                compared=scope.rows.compared | found.rows.compared,
                exact=scope.rows.exact and found.rows.exact,
            )
            joined.append(replace(scope, rows=rows))
        mine = len(scope.rows.columns)
        nulls = [replace(c, value=exp.null()) for c in matched[0].rows.columns[mine:]]
        absent = replace(
            scope.rows, columns=(*scope.rows.columns, *nulls), where=both(scope.rows.where, negate(present))
        )
        return [*joined, replace(scope, rows=absent)]

    def _beside(self, scope: Scope, rows: PersonRows, join: exp.Join) -> Scope:
        """Rows of a scope and of a source side by side; USING unites their persons."""
        shared = {lowered(u.name) for u in join.args.get("using") or ()}
        columns = [replace(c, merged=c.merged or c.name in shared) for c in rows.columns]
        for name in shared:
            left = [c.value for c in scope.rows.columns if c.name == name and not c.merged]
            right = [c.value for c in rows.columns if c.name == name]
            ids = [self.atom(value) for value in (*left, *right)]
            if len(ids) == 2 and all(isinstance(one, Item) for one in ids):
                raise unsupported(f"USING ({name})", "Join on the id column.")
            if len(ids) != 2 or not all(isinstance(one, Id) for one in ids):
                raise unsupported(f"USING ({name})", "Join on the id column.")
            self._unite(*(one.person for one in ids if isinstance(one, Id)))
        made = PersonRows(
            (*scope.rows.columns, *columns),
            scope.rows.rows | rows.rows,
            both(scope.rows.where, rows.where),
            scope.rows.compared | rows.compared,
            scope.rows.exact and rows.exact,
            scope.rows.people | rows.people,
        )
        return replace(scope, rows=made)

    def _unnested(self, node: exp.Unnest, scope: Scope) -> Scope:
        """The rows of a scope with each of the items of a list."""
        only(node, "expressions", "alias")
        listing = self.atom(self.resolved(node.expressions[0], scope)) if len(node.expressions) == 1 else None
        if not isinstance(listing, Listing):
            raise unsupported("UNNEST of something else than the items of a person")
        alias, row = node.args.get("alias"), next(self._fresh)
        names = [c.name for c in alias.args.get("columns") or ()] if alias is not None else []
        column = Column(
            lowered(alias.name) if alias is not None else "",
            lowered(names[0]) if names else "unnest",
            self.column(Item(row)),
        )
        rows = scope.rows
        exact = rows.exact and not self.releases.bags
        return replace(scope, rows=replace(rows, columns=(*rows.columns, column), rows=rows.rows | {row}, exact=exact))

    # ---------------------------------------------------------------- sources

    def source(self, node: exp.Expr, env: Env) -> list[PersonRows]:
        """The rows of a table of persons, or of a query of their rows, under its alias."""
        alias = node.args.get("alias")
        name = alias.name if alias is not None else node.name
        renamed: list[list[str]] = []
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            listed = self.relation(node.this, env)
        else:
            assert isinstance(node, exp.Table)
            only(node, "this", "alias", "db", "catalog")
            cte = env.get(lowered(node.name)) if not node.db else None
            if cte is not None:
                listed = self.relation(cte.node.this, cte.env)
                renamed.append([lowered(c.name) for c in cte.node.args["alias"].args.get("columns") or ()])
            else:
                listed = [self._table(node)]
        if alias is not None:
            renamed.append([lowered(c.name) for c in alias.args.get("columns") or ()])
        for names in renamed:
            listed = [rows.renamed("", names) for rows in listed]
        return [rows.renamed(lowered(name), []) for rows in listed]

    def _table(self, node: exp.Table) -> PersonRows:
        """The rows of a table of persons."""
        person, row = next(self._fresh), next(self._fresh)
        table = self.people.counts.described(node)
        columns = [Column("", table.id, self.column(Id(person)))]
        where: Condition = ALWAYS
        rows: frozenset[int] = frozenset()
        if table.item and table.lists:
            columns.append(Column("", table.item, self.column(Listing(table.nullable))))
            where = either(NOT_EMPTY, LISTED) if table.some else ALWAYS
        elif table.item:
            columns.append(Column("", table.item, self.column(Item(row))))
            rows = frozenset({row})
        columns += [Column("", lowered(name), self.column(Of(name))) for name in table.attributes]
        if table.part:
            columns.append(Column("", lowered(table.part), self.column(Part())))
        exact = not (rows and self.releases.bags)
        return PersonRows(tuple(columns), rows, where, exact=exact, people=frozenset({person}))

    # ---------------------------------------------------------------- known tables

    def _with_known(self, node: exp.Expr, join: exp.Join, scope: Scope, pool: list[exp.Expr]) -> list[Scope]:
        """The rows of a scope beside those of a known table that is joined with them."""
        known, alias = source_rows(self.compiler, node, scope.env)
        if not known.exact:
            raise unsupported("a join of persons with estimates", "Join the results of two queries.")
        alias, kind = lowered(alias), join.kind.upper()
        outer = join.side.upper() == "LEFT" or kind in ("SEMI", "ANTI")
        names = {lowered(c.name): n for n, c in reversed(list(enumerate(known.columns)))}
        conditions = conjuncts(join.args.get("on"))
        shared = [lowered(u.name) for u in join.args.get("using") or ()]
        for name in shared:
            left = next((c.value for c in scope.rows.columns if c.name == name and not c.merged), None)
            if left is None or name not in names:
                raise unsupported(f"USING ({name})")
            conditions.append(exp.EQ(this=left.copy(), expression=exp.column(name, alias)))
        placed = [
            Column(alias, lowered(c.name), exp.column(f"c{n}", "k"), lowered(c.name) in shared)
            for n, c in enumerate(known.columns)
        ]
        inner = replace(scope, rows=replace(scope.rows, columns=(*scope.rows.columns, *placed)))
        trees = [self.resolved(c, inner) for c in conditions]
        if not outer:
            taken = []
            for condition in pool:
                if any(
                    (lowered(c.table) == alias if c.table else lowered(c.name) in names)
                    for c in condition.find_all(exp.Column)
                ) and not condition.find(exp.Query):
                    tree = self.resolved(condition, inner)
                    if len(self.rows_of(tree)) == 1 and _of_known(tree) and not _has_persons(self, tree):
                        taken.append(condition)
                        trees.append(tree)
            linked = [t for t in trees if _of_known(t) and len(self.rows_of(t)) == 1 and not _has_persons(self, t)]
            row = next(iter({r for t in linked for r in self.rows_of(t)}), None) if linked else None
            used = [t for t in linked if self.rows_of(t) == {row}]
            if row is None:
                return self._by_constants(known, alias, scope, inner, trees, shared)
            made = self._looked_up(known, row, used, placed, scope, kind="inner")
            done = frozenset(
                id(c) for c, t in zip(taken, trees[len(conditions) :], strict=True) if any(t is u for u in used)
            )
            made = [replace(one, done=one.done | done) for one in made]
            rest = [c for c, t in zip(conditions, trees, strict=False) if not any(t is u for u in used)]
            return [self.filtered(one, rest) for one in made]
        rows = {r for t in trees for r in self.rows_of(t)}
        if len(rows) == 1 and not any(_has_persons(self, t) for t in trees):
            return self._looked_up(known, next(iter(rows)), trees, placed, scope, kind=kind.lower() or "left")
        raise unsupported(f"{join.side or kind} JOIN with the table {alias!r} on other columns than an item")

    def _looked_up(
        self,
        known: Known,
        row: int,
        conditions: Sequence[exp.Expr],
        placed: Sequence[Column],
        scope: Scope,
        *,
        kind: str,
    ) -> list[Scope]:
        """The rows of a scope with the rows of a known table that match the item of a variable."""
        tables = list(dict.fromkeys(a.table for t in conditions for a in self.atoms_of(t) if isinstance(a, Looked)))

        def value_of(atom: object) -> exp.Expr | None:
            if isinstance(atom, Item):
                return self.item("d")
            return exp.column(atom.column, atom.table) if isinstance(atom, Looked) else None

        domain = self.releases.domain().subquery("d")
        asked = exp.select(
            exp.column("item", "d").as_("item"), *(exp.column(f"c{n}", "k") for n in range(len(known.columns)))
        )
        asked = asked.from_(domain)
        for table in tables:
            same = exp.EQ(this=exp.column("item", table), expression=exp.column("item", "d"))
            asked = asked.join(self.lookups[table].subquery(table), on=same, join_type="left")
        on = exp.and_(*(exp.paren(self.replaced(t, value_of)) for t in conditions))
        asked = asked.join(
            exp.Subquery(this=known.tree.copy(), alias=exp.TableAlias(this=exp.to_identifier("k"))), on=on
        )
        number = exp.Window(
            this=exp.RowNumber(),
            partition_by=[exp.column("item", "d")],
            order=exp.Order(
                expressions=[exp.Ordered(this=exp.column(f"c{n}", "k")) for n in range(len(known.columns))]
            ),
            over="OVER",
        )
        ranked = asked.select(number.as_("place"))
        found = self.releases.rows(exp.select("item", "place").from_(ranked.subquery("ranked")))
        most = max((place for _, place in found), default=0)
        if self.releases.suppressed and not self._all_named(known, conditions):
            raise unsupported("a join on a computed item where items were suppressed")
        matched = self.test_of(frozenset(item for item, place in found if place == 1), False)
        if kind in ("semi", "anti"):
            met = on_item(row, matched)
            return [
                replace(
                    scope,
                    rows=replace(scope.rows, where=both(scope.rows.where, negate(met) if kind == "anti" else met)),
                )
            ]
        if most > MAX_BRANCHES:
            raise unsupported("a join of items with too many rows each")
        made = []
        for place in range(1, max(most, 1) + 1):
            name = f"l{len(self.lookups)}"
            self.lookups[name] = (
                exp.select("*")
                .from_(ranked.subquery("ranked"))
                .where(exp.EQ(this=exp.column("place"), expression=exp.convert(place)))
            )
            columns = [replace(c, value=self.column(Looked(row, name, f"c{n}"))) for n, c in enumerate(placed)]
            some = self.test_of(frozenset(item for item, at in found if at == place), False)
            where = scope.rows.where if kind == "left" and place == 1 else both(scope.rows.where, on_item(row, some))
            made.append(replace(scope, rows=replace(scope.rows, columns=(*scope.rows.columns, *columns), where=where)))
        return made

    def _all_named(self, known: Known, conditions: Sequence[exp.Expr]) -> bool:
        """Whether all items that a known table may match are named."""
        for tree in conditions:
            if isinstance(tree.unnest(), exp.EQ):
                sides = [tree.unnest().this.unnest(), tree.unnest().expression.unnest()]
                keys = [s for s in sides if isinstance(s, exp.Column) and s.table == "k"]
                if len(keys) == 1 and any(isinstance(self.atom(s), Item) for s in sides):
                    source = exp.Subquery(this=known.tree.copy(), alias=exp.TableAlias(this=exp.to_identifier("k")))
                    listed = {
                        row[0]
                        for row in self.releases.rows(exp.select(exp.cast(keys[0].copy(), "VARCHAR")).from_(source))
                    }
                    return listed - {None} <= self.releases.named()
                if any(isinstance(a, Looked) for a in self.atoms_of(tree)) and not any(
                    isinstance(a, Item) for a in self.atoms_of(tree)
                ):
                    return True
        return False

    def _by_constants(
        self, known: Known, alias: str, scope: Scope, inner: Scope, trees: Sequence[exp.Expr], shared: Sequence[str]
    ) -> list[Scope]:
        """The rows of a scope beside each row of a known table, whose columns are constants."""

        source = exp.Subquery(this=known.tree.copy(), alias=exp.TableAlias(this=exp.to_identifier("k")))
        width = len(known.columns)
        cells = [exp.column(f"c{n}", "k") for n in range(width)]
        listed = self.releases.rows(exp.select(*cells, *map(typeof, cells)).from_(source).limit(MAX_CONSTANTS + 1))
        if len(listed) > MAX_CONSTANTS:
            raise unsupported(f"a join with the table {alias!r} without an equal item", "Join it on the item column.")
        made = []
        for row in listed:
            values = [typed(row[n], str(row[width + n])) for n in range(width)]
            columns = [
                Column(alias, lowered(c.name), value, lowered(c.name) in shared)
                for c, value in zip(known.columns, values, strict=True)
            ]
            one = replace(scope, rows=replace(scope.rows, columns=(*scope.rows.columns, *columns)))
            for tree in trees:
                of = tree.copy().transform(
                    lambda n, values=values: (
                        values[int(n.name[1:])].copy() if isinstance(n, exp.Column) and n.table == "k" else n
                    )
                )
                one = replace(one, rows=self._where(of, one.rows))
            if one.rows.where != NEVER:
                made.append(one)
        return made or [
            replace(
                inner,
                rows=replace(
                    inner.rows,
                    where=NEVER,
                    columns=(*scope.rows.columns, *(Column(alias, lowered(c.name), exp.null()) for c in known.columns)),
                ),
            )
        ]


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that AND connects."""
    if condition is None:
        return []
    whole = bare(condition)
    return operands(whole) if isinstance(whole, exp.And) else [whole]


def _of_known(tree: exp.Expr) -> bool:
    """Whether an expression has a column of the known table that is joined."""
    return any(c.table == "k" for c in tree.find_all(exp.Column))


def _has_persons(domains: Relations, tree: exp.Expr) -> bool:
    """Whether an expression depends on something else of persons than an item."""
    return any(not isinstance(atom, Item | Looked) for atom in domains.atoms_of(tree))
