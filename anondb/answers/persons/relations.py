"""Read FROM, joins, WHERE and GROUP BY the id as the rows of persons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from sqlglot import exp

from anondb.answers.persons.joins import MAX_BRANCHES, Joins, shared_names
from anondb.answers.persons.per_person import possible
from anondb.answers.persons.terms import Column, Id, Item, Listing, Of, Part, PersonRows, Scope
from anondb.answers.ranged.clauses import aliased, clauses_of, conditions_of, is_inner, places_of
from anondb.answers.ranged.compiler import Env, with_ctes
from anondb.answers.ranged.sources import source_rows
from anondb.query.parsing import bare, conjoined, lowered
from anondb.query.predicates import ALWAYS, NEVER, NOT_EMPTY, Condition, both, either, negate, on_item
from anondb.query.refusals import name_of, only, unsupported
from anondb.query.values import LISTED

PARTS = ("expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "with_", "order")


class Relations(Joins):
    """Reads queries whose rows belong to single persons. Such rows are listed as alternatives, whose rows add up."""

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
        listed = self._select(node, self.scopes(node, env, outer))
        if len(listed) > MAX_BRANCHES:
            raise unsupported("rows of persons with too many cases")
        for rows in listed:
            self.check_one(rows)
        return listed

    def _select(self, node: exp.Select, scopes: Sequence[Scope]) -> list[PersonRows]:
        """The rows that a SELECT makes of those of its FROM and WHERE."""
        distinct = node.args.get("distinct")
        if distinct is not None:
            only(distinct)
        if node.args.get("group") is not None or node.args.get("having") is not None:
            if node.args.get("group") is None or any(isinstance(e.unalias(), exp.Star) for e in node.expressions):
                raise unsupported("HAVING without GROUP BY the id")
            if any(e.find(exp.Explode) for e in node.expressions):
                raise unsupported("UNNEST beside GROUP BY the id", "Put it around, in a query of the lists.")
            only(node, *(part for part in PARTS if part != "qualify"))
            return self.by_id(node, scopes)
        if self._has_aggregate(node):
            raise unsupported("an aggregate of all persons beside rows of single ones")
        node, scopes = self.with_windows(node, scopes)
        listed = [self._projected(node, scope) for scope in scopes]
        return self.once(listed) if distinct is not None else self.united(listed)

    def _projected(self, node: exp.Select, scope: Scope) -> PersonRows:
        """The rows of a scope with the selected columns."""
        columns: list[Column] = []
        rows = scope.rows
        for selected in node.expressions:
            inner = selected.unalias()
            star = inner.this if isinstance(inner, exp.Column) else inner
            if isinstance(star, exp.Star):
                only(star)
                table = lowered(inner.table) if isinstance(inner, exp.Column) else ""
                shown = [c for c in scope.rows.columns if c.alias == table] if table else _all_columns(node, scope.rows)
                columns += [replace(c, alias="", merged=False) for c in shown]
                continue
            if isinstance(inner, exp.Explode):
                rows, item = self._each(inner.this, scope, rows)
                columns.append(Column("", lowered(selected.alias_or_name or "unnest"), item))
                continue
            columns.append(Column("", lowered(selected.alias_or_name), self.resolved(inner, scope, quiet=True)))
        return replace(rows, columns=tuple(columns))

    # ---------------------------------------------------------------- FROM

    def scopes(self, node: exp.Select, env: Env, outer: Scope | None = None) -> list[Scope]:
        """The rows of FROM, joins and WHERE, as alternatives."""
        clause, joins = node.args.get("from_"), list(node.args.get("joins") or ())
        if clause is None or not any(self.people.is_source(one.this, env) for one in (clause, *joins)):
            raise unsupported("rows of persons beside other rows")
        only(clause, "this")
        pool = conditions_of(node)
        places: list[exp.Expr] = [clause, *joins]
        if not self.people.is_source(clause.this, env):  # a table of the analyst comes first
            first = next(n for n, place in enumerate(places) if self.people.is_source(place.this, env))
            if any(join.side for join in joins[:first]):
                raise unsupported(
                    f"{joins[first - 1].side} JOIN of persons to a table of your own",
                    "Group by its columns alone, and count a column of the persons: count(id) in place of count(*).",
                )
            moved = joins[first - 1]
            only(moved, "this", "kind", "on", "using")
            if moved.kind.upper() not in ("", "INNER", "CROSS"):
                raise unsupported(f"{moved.kind} JOIN of persons to a table of your own", "Write column IN (SELECT ...).")
            pool += conjoined(moved.args.get("on"))
            before = [exp.Join(this=clause.this), *(join.copy() for join in joins[: first - 1])]
            for shared in moved.args.get("using") or ():
                self._with_name(lowered(shared.name), before, env).append("using", shared.copy())
            places = [exp.From(this=moved.this), *before, *joins[first:]]
        scopes = [Scope(PersonRows(), env, outer, aliased(node))]
        for place in self._by_links(places, pool, env):
            if place.args.get("side") in ("FULL", "RIGHT"):
                scopes = self._right(exp.Join(**place.args), scopes)
                continue
            joined: list[Scope] = []
            for scope in scopes:
                joined = possible([*joined, *self._joined(place, scope, pool)])
                if len(joined) > MAX_BRANCHES:
                    raise unsupported("rows of persons with too many cases")
            scopes = joined
        return possible([self.filtered(scope, pool) for scope in scopes])

    def _with_name(self, name: str, places: Sequence[exp.Join], env: Env) -> exp.Join:
        """The first of some of the analyst's tables that has a column."""
        for place in places if len(places) > 1 else ():
            relation, _ = source_rows(self.compiler, place.this, env)
            if any(lowered(column.name) == name for column in relation.columns):
                return place
        return places[0]

    def _by_links(self, places: Sequence[exp.Expr], pool: Sequence[exp.Expr], env: Env) -> Iterator[exp.Expr]:
        """The sources of FROM: of inner joins, a table of the analyst follows a source that it is compared with."""

        def free(place: exp.Expr) -> bool:
            named = place is not places[0] and isinstance(place.this, exp.Table | exp.Subquery)
            inner = named and is_inner(place) and clauses_of(place) <= {"this", "kind", "on"}
            return inner and not self.people.is_source(place.this, env) and "" not in _named(place)

        rest, before = list(places), set[str]()
        while rest:
            run = list(takewhile(free, rest)) or rest[:1]
            rest = rest[len(run) :]
            several = len(run) > 1
            on = [condition for place in run for condition in conjoined(place.args.get("on"))] if several else []
            links = [_named(e) for e in (*pool, *on) if isinstance(bare(e), exp.EQ)]
            while run:
                linked = ((p, {lowered(p.this.alias_or_name)}) for p in run)
                place = next((p for p, own in linked if any(own < link <= own | before for link in links)), run[0])
                run = [p for p in run if p is not place]
                before.add(lowered(place.this.alias_or_name))
                mine = [condition for condition in on if _named(condition) <= before or not run]
                on = [condition for condition in on if condition not in mine]
                yield exp.Join(this=place.this, on=exp.and_(*mine) if mine else None) if several else place

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
            return self._with_table(place.this, join, scope, pool)
        listed = self.source(place.this, scope.env)
        if not side and kind not in ("SEMI", "ANTI"):
            return [self.filtered(*self._beside(scope, rows, join)) for rows in listed]
        matched = []
        for rows in listed:
            inner, conditions = self._beside(scope, rows, join)
            start = replace(inner.rows, where=rows.where, rows=rows.rows, compared=rows.compared, exact=rows.exact)
            match = self.filtered(replace(inner, rows=start), conditions)
            if match.rows.where != NEVER:
                self.check_one(match.rows)
            matched.append(match)
        present = self.closed(*(match.rows for match in matched))
        if kind in ("SEMI", "ANTI"):
            met = negate(present) if kind == "ANTI" else present
            return [scope.restricted(met)]
        joined = []
        for match in (match for match in matched if match.rows.where != NEVER):
            rows = replace(
                match.rows,
                where=both(scope.rows.where, match.rows.where),
                rows=scope.rows.rows | match.rows.rows,
                compared=scope.rows.compared | match.rows.compared,
                exact=scope.rows.exact and match.rows.exact,
            )
            joined.append(replace(scope, rows=rows))
        mine = len(scope.rows.columns)
        nulls = [replace(c, value=exp.null()) for c in matched[0].rows.columns[mine:]]
        absent = replace(scope.rows, columns=(*scope.rows.columns, *nulls), where=both(scope.rows.where, negate(present)))
        return [*joined, replace(scope, rows=absent)]

    def _right(self, join: exp.Join, scopes: Sequence[Scope]) -> list[Scope]:
        """The rows of FULL or RIGHT JOIN of the rows of scopes on ids alone: those of LEFT or INNER JOIN, and the rows of
        persons without rows in the scopes, whose columns are NULL."""
        scope, side = scopes[0], join.side.upper()
        if not self.people.is_source(join.this, scope.env) or isinstance(join.this, exp.Unnest):
            raise unsupported(f"{side} JOIN")
        left = exp.Join(**{**join.args, "side": "LEFT" if side == "FULL" else ""})
        joined = [more for other in scopes for more in self._joined(left, other, [])]
        names = shared_names(join)
        nulls = [replace(c, value=exp.null(), merged=c.merged or c.name in names) for c in scope.rows.columns]
        for rows in self.source(join.this, scope.env):
            present = self.closed(*(other.rows for other in scopes if self._is_by_id(other, rows, join)))
            absent = replace(rows, columns=(*nulls, *rows.columns)).restricted(negate(present))
            joined.append(replace(scope, rows=absent))
        return joined

    def _is_by_id(self, scope: Scope, rows: PersonRows, join: exp.Join) -> bool:
        """Whether a join has the rows of each person together; not if it compares a NULL in place of an id.

        Raises:
            InputError: ``unsupported_query``: it compares other columns.
        """
        inner, conditions = self._beside(scope, rows, join)
        sides = [self.resolved(side, inner) for c in conditions for side in c.iter_expressions()]
        ids = [side for side in sides if isinstance(self.atom(side), Id)]
        equal = len(conditions) == 1 and isinstance(conditions[0], exp.EQ)
        if not equal or len(ids) + sum(isinstance(side, exp.Null) for side in sides) < 2:
            raise unsupported(f"{join.side} JOIN on other columns than the id")
        return len(ids) == 2

    @staticmethod
    def _beside(scope: Scope, rows: PersonRows, join: exp.Join) -> tuple[Scope, list[exp.Expr]]:
        """Rows of a scope and of a source side by side, and the conditions of the join."""
        conditions = conjoined(join.args.get("on"))
        shared = shared_names(join)
        columns = [replace(c, merged=c.merged or c.name in shared) for c in rows.columns]
        for name in shared:
            left = [c.value for c in scope.rows.columns if c.name == name and not c.merged]
            right = [c.value for c in rows.columns if c.name == name]
            if len(left) != 1 or len(right) != 1:
                raise unsupported(f"USING ({name})", "Write the condition of the join with ON.")
            conditions.append(exp.EQ(this=left[0].copy(), expression=right[0].copy()))
        beside = PersonRows(
            (*scope.rows.columns, *columns),
            scope.rows.rows | rows.rows,
            both(scope.rows.where, rows.where),
            scope.rows.compared | rows.compared,
            scope.rows.exact and rows.exact,
            scope.rows.people | rows.people,
        )
        return replace(scope, rows=beside), conditions

    def _unnested(self, node: exp.Unnest, scope: Scope) -> Scope:
        """The rows of a scope with each of the items of a list."""
        only(node, "expressions", "alias")
        if len(node.expressions) != 1:
            raise unsupported("UNNEST of several lists")
        rows, item = self._each(node.expressions[0], scope, scope.rows)
        alias = node.args.get("alias")
        names = [c.name for c in alias.args.get("columns") or ()] if alias is not None else []
        column = Column(lowered(alias.name) if alias is not None else "", lowered(names[0]) if names else "unnest", item)
        return replace(scope, rows=replace(rows, columns=(*rows.columns, column)))

    def _each(self, lists: exp.Expr, scope: Scope, rows: PersonRows) -> tuple[PersonRows, exp.Expr]:
        """Rows of a scope with each of the items of a list, and this item."""
        listing = self.atom(self.resolved(lists, scope))
        if not isinstance(listing, Listing):
            raise unsupported("UNNEST of a list other than the items of a person")
        row = next(self._fresh)
        where = both(rows.where, on_item(row, listing.test))
        exact = rows.exact and not self.releases.bags
        return replace(rows, where=where, rows=rows.rows | {row}, exact=exact), self.column(Item(row))

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
        table = self.releases.described(node)
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


def _named(node: exp.Expr) -> set[str]:
    """The sources whose columns a condition, or that of a join, names; ``""`` for a column without a source."""
    on = node.args.get("on") if isinstance(node, exp.Join) else node
    return set() if on is None else {lowered(column.table) for column in on.find_all(exp.Column)}


def _all_columns(node: exp.Select, rows: PersonRows) -> list[Column]:
    """The columns that a star shows, in the order of the sources in FROM; one of USING stands in the first that has it."""
    sources = [lowered(place.this.alias_or_name) for place in places_of(node)]

    def place(column: Column) -> tuple[int, int]:
        alike = [c for c in rows.columns if c is column or (c.merged and c.name == column.name)]
        return min((sources.index(c.alias) if c.alias in sources else len(sources), rows.columns.index(c)) for c in alike)

    return sorted((column for column in rows.columns if not column.merged), key=place)
