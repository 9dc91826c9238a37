"""Subqueries in an expression over the rows of persons: of the same person, of tables of the analyst, or of counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.answers.persons.domains import cell, wrapped
from anondb.answers.persons.estimated import one_of_chosen
from anondb.answers.persons.names import Names
from anondb.answers.persons.quantities import certain
from anondb.answers.persons.terms import WITH_ESTIMATE, Column, Estimate, Id, Item, PersonRows, Scope, Truth
from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.ranged.clauses import clauses_of, conditions_of, only_source
from anondb.answers.ranged.compiler import Env, with_ctes
from anondb.answers.ranged.relation import Ranged, typeof
from anondb.answers.ranged.sources import source_rows
from anondb.answers.ranged.subqueries import scalar
from anondb.answers.ranged.values import when
from anondb.errors import InputError
from anondb.query.parsing import lowered
from anondb.query.predicates import ALWAYS, Condition, both, either
from anondb.query.refusals import name_of, only, unsupported

if TYPE_CHECKING:
    from anondb.answers.persons.people import Persons

_PLAIN_PARTS = {"expressions", "from_", "where", "distinct"}
MAX_ROWS = 100  # rows of a table of the analyst that persons are compared with one by one
_ONE_ROW = {"expressions", "from_", "joins", "where", "with_"}  # parts of a SELECT that has one row if it aggregates


class Nested(Names):
    """Reads subqueries."""

    people: Persons

    @abstractmethod
    def relation(self, node: exp.Expr, env: Env, outer: Scope | None = None) -> list[PersonRows]:
        """The rows of a query of single persons."""

    @abstractmethod
    def scopes(self, node: exp.Select, env: Env, outer: Scope | None = None) -> list[Scope]:
        """The rows of FROM, joins and WHERE."""

    @abstractmethod
    def aggregated(self, node: exp.Expr, scopes: Sequence[Scope], met: Condition) -> exp.Expr:
        """An expression of aggregates over the rows of one person, over atoms."""

    def _special(self, node: exp.Expr, scope: Scope) -> exp.Expr | None:
        """Subqueries, and functions of lists of items; None for other expressions."""
        named = isinstance(node, exp.Anonymous) and self.compiler.tables.is_aggregate(node.name)
        if named or isinstance(node, exp.AggFunc | exp.Window):
            raise unsupported(name_of(node))
        if isinstance(node, exp.Exists):
            query = node.this.unnest() if isinstance(node.this, exp.Subquery) else node.this
            if self.people.reads_persons(query, scope.env):
                truth = self._some_listed(query, scope) or certain(self._some(query, scope, "EXISTS"))
                return self.column(truth)
            return exp.Exists(this=self._inlined(query, scope))
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            return self._among(node, scope)
        if isinstance(node, exp.Subquery | exp.Select):
            query = node.unnest() if isinstance(node, exp.Subquery) else node
            return self._single(query, scope)
        return self._list_function(node, scope)

    def _some(self, query: exp.Expr, scope: Scope, what: str) -> Condition:
        """The condition that a subquery has a row."""
        query = query.copy()
        if isinstance(query, exp.Select) and query.args.get("group") is None:
            if self._has_aggregate(query):
                only(query, *_ONE_ROW)
                return ALWAYS
            query.set("expressions", [exp.Literal.number(1).as_("one")])
            query.set("distinct", None)
        listed = self.relation(query, scope.env, scope)
        for rows in listed:
            if not self.is_linked(rows, scope):
                raise unsupported(f"{what} without the outer id", "Compare the id with the one of the outer query.")
        return self.closed(*listed)

    def _some_listed(self, query: exp.Expr, scope: Scope) -> Truth | None:
        """Whether some row of a table of the analyst meets conditions on the person of the queries around; None for rows of
        persons. The columns of each row, in turn, are constants.

        Double NOT EXISTS asks so whether the person has all items of a list.
        """
        if not isinstance(query, exp.Select) or not clauses_of(query) <= _PLAIN_PARTS:
            return None
        place = only_source(query)
        several = self._has_aggregate(query) or any(e.find(exp.Explode) for e in query.expressions)
        if place is None or several or self.people.is_source(place, scope.env):
            return None
        alias, parts = lowered(place.alias_or_name), conditions_of(query)
        listed = exp.select("*").from_(place.copy())
        names = {lowered(c.name) for c in self.compiler.query(listed, scope.env).columns}
        kept = [part for part in parts if not part.find(exp.Query) and _names_alone(part, alias, names)]
        relation = self.compiler.query(listed.where(*(part.copy() for part in kept)), scope.env)
        rows = self.constant_rows(relation) if relation.exact else []
        if not relation.exact or len(rows) > MAX_ROWS:
            raise unsupported("EXISTS over many rows of a table of your own, or over rows that counts choose")
        conditions: list[Condition] = []
        for values in rows:
            named = [Column(alias, lowered(c.name), v) for c, v in zip(relation.columns, values, strict=True)]
            inner = Scope(PersonRows(tuple(named)), scope.env, scope)
            conditions.append(both(*(self.where(self.resolved(p, inner)) for p in parts if p not in kept)))
        return certain(either(*conditions))

    def constant_rows(self, relation: Ranged) -> list[list[exp.Expr]]:
        """The rows of a table of the analyst, as constants; of too many rows some."""
        columns = [exp.column(f"c{n}", "k") for n in range(len(relation.columns))]
        asked = exp.select(*columns, *map(typeof, columns)).from_(relation.tree.subquery("k")).limit(MAX_ROWS + 1)
        rows = self.releases.rows(asked)
        return [[cell(of, str(kind)) for of, kind in zip(row, row[len(columns) :], strict=False)] for row in rows]

    def _among(self, node: exp.In, scope: Scope) -> exp.Expr:
        """IN with a subquery: of ids, of constants, or of items that counts choose."""
        query = node.args["query"].unnest()
        left = self.resolved(node.this, scope)
        atom = self.atom(left)
        if isinstance(atom, Id):
            listed = self.relation(query, scope.env, scope)
            for rows in listed:
                ids = [self.atom(c.value) for c in rows.columns]
                if len(ids) != 1 or not isinstance(ids[0], Id):
                    raise unsupported("IN with a subquery that does not select ids")
                self.unite(ids[0].person, atom.person)
            return self.column(certain(self.closed(*listed)))
        if not self.atoms_of(left) and self.people.of_persons(query, scope.env):
            return self._is_among_items(node, query, scope)
        if self.people.reads_persons(query, scope.env):
            return self.among_chosen(left, query, scope)
        inlined = self._inlined(query, scope)
        if (texts := self._texts_in(inlined)) is not None:
            return exp.In(this=left, expressions=texts) if texts else exp.false()
        condition = node.copy()
        condition.set("this", left)
        condition.set("query", exp.Subquery(this=inlined))
        return condition

    def _is_among_items(self, node: exp.In, query: exp.Expr, scope: Scope) -> exp.Expr:
        """Whether a constant is among the items of the person, none of which is NULL."""
        value, listed = self.constant(self.resolved(node.this, scope)), self.relation(query, scope.env, scope)
        if not isinstance(query, exp.Select) or query.args.get("group") is not None or isinstance(value, exp.Null):
            raise unsupported("a value among others than the items of a person")
        if not all(isinstance(self.atom(c.value), Item) for rows in listed for c in rows.columns):
            raise unsupported("a value among others than the items of a person")
        same = exp.EQ(this=query.expressions[0].unalias().copy(), expression=value)
        return self.column(certain(self._some(query.where(same), scope, "IN")))

    def _texts_in(self, query: exp.Expr) -> list[exp.Expr] | None:
        """The texts that a query of tables of the analyst lists; None for other values, and where it depends on persons."""
        if self.atoms_of(query):
            return None
        alias = exp.TableAlias(this=exp.to_identifier("listed"), columns=[exp.to_identifier("c0")])
        source = exp.Subquery(this=query.copy(), alias=alias)
        values = [v for (v,) in self.releases.rows(exp.select(exp.column("c0", "listed")).distinct().from_(source))]
        if not all(isinstance(v, str) or v is None for v in values):
            return None
        listed: list[exp.Expr] = [exp.Literal.string(v) for v in sorted(v for v in values if v is not None)]
        return [*listed, *([exp.null()] if None in values else [])]

    def among_chosen(self, left: exp.Expr, query: exp.Expr, scope: Scope) -> exp.Expr:
        """IN with a list of items that counts choose: some are certain, others possible."""
        atom, relation = self.atom(left), self.compiler.query(query, scope.env)
        exact = len(relation.columns) == 1 and not relation.open and replace(relation, flagged=False).exact
        if not isinstance(atom, Item) or not exact:
            raise unsupported("IN with a subquery of estimates" + (", or of suppressed rows" if relation.open else ""))
        sure = exp.column("sure") if relation.flagged else exp.true()
        texts = exp.select(exp.cast(exp.column("c0"), "VARCHAR"), sure).from_(relation.tree.subquery("listed"))
        rows = self.releases.rows(texts)
        if any(label is None for label, _ in rows):
            raise unsupported("IN with a subquery of estimates that has NULLs", "Leave them out with IS NOT NULL.")
        possible, chosen = frozenset(item for item, _ in rows), frozenset(item for item, held in rows if held)
        return self.column(one_of_chosen(atom.row, chosen, possible))

    def _single(self, query: exp.Expr, scope: Scope) -> exp.Expr:
        """A subquery with one value: of the person, of tables of the analyst, or of counts that are known."""
        if not self.people.reads_persons(query, scope.env):
            return exp.Subquery(this=self._inlined(query, scope))
        plain = isinstance(query, exp.Select) and clauses_of(query) <= _ONE_ROW
        if isinstance(query, exp.Select) and plain and len(query.expressions) == 1:
            try:
                inner = self.scopes(query, with_ctes(query, scope.env, self.people.of_persons), scope)
                linked = all(self.is_linked(one.rows, scope) for one in inner)
            except InputError:
                linked = False
            if linked:
                for one in inner:
                    self.check_one(one.rows)
                return exp.paren(self._value_of(query, inner))
        value = scalar(exp.Subquery(this=query.copy()), self.compiler, scope.env)
        if value.exact:
            return exp.paren(value.expression.copy())
        if value.unknown or value.truth or any(isinstance(end.unnest(), exp.Null) for end in value.bounds):
            raise unsupported(*WITH_ESTIMATE)
        return self.column(Estimate(*value.bounds, value.sure is None or value.sure == exp.true()))

    def _value_of(self, query: exp.Select, inner: Sequence[Scope]) -> exp.Expr:
        """The value that a subquery about the person has: an aggregate, or that of the only row, NULL without one."""
        value = self.aggregated(query.expressions[0].unalias(), inner, ALWAYS)
        if self._has_aggregate(query):
            return value
        if len(inner) > 1:
            raise unsupported("a subquery with rows of several kinds")
        present = self.closed(inner[0].rows)
        return value if present == ALWAYS else when(self._column_of(present), value, exp.null())

    def _has_aggregate(self, query: exp.Select) -> bool:
        return any(has_aggregate(e, self.compiler.tables.is_aggregate) for e in query.expressions)

    def _inlined(self, query: exp.Expr, scope: Scope) -> exp.Expr:
        """A subquery of tables of the analyst in which these are written out, and outer names are resolved."""
        copy = query.copy()
        named = list(copy.find_all(exp.Column))  # before tables are written out
        inside = {lowered(e.alias) for e in copy.find_all(exp.Alias)} | {
            lowered(c.name) for a in copy.find_all(exp.TableAlias) for c in a.args.get("columns") or ()
        }
        aliases: set[str] = set()
        own = {lowered(cte.alias) for cte in copy.find_all(exp.CTE)}
        for table in list(copy.find_all(exp.Table)):
            if lowered(table.name) in own and not table.db:
                aliases.add(lowered(table.alias_or_name))
                continue
            relation, alias = source_rows(self.compiler, table, scope.env)
            if not relation.exact:
                raise unsupported("a subquery of estimates in a condition on persons")
            columns = [
                exp.column(f"c{n}").as_(exp.to_identifier(c.name, quoted=True)) for n, c in enumerate(relation.columns)
            ]
            inside |= {lowered(c.name) for c in relation.columns}
            aliases.add(lowered(alias))
            source = exp.select(*columns).from_(relation.tree.subquery("listed"))
            table.replace(source.subquery(alias))
        aliases |= {lowered(s.alias) for s in copy.find_all(exp.Subquery, exp.Values) if s.alias}
        for column in named:
            mine = lowered(column.table) in aliases if column.table else lowered(column.name) in inside
            if not mine and any(lowered(column.name) == c.name for s in scope.around() for c in s.rows.columns):
                value = self._named(column.copy(), scope)
                if column is copy:
                    return value
                column.replace(wrapped(value))
        return copy


def _names_alone(part: exp.Expr, alias: str, names: set[str]) -> bool:
    """Whether a condition of a subquery names columns of its only source alone."""
    columns = part.find_all(exp.Column)
    return all(lowered(c.table) == alias if c.table else lowered(c.name) in names for c in columns)
