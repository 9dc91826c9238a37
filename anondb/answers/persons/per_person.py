"""Expressions over the rows of persons: names, subqueries, and aggregates over the rows of one person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from anondb.answers.persons.conditions import LISTED_ITEMS, MAX_TRUTHS, Decided, _cases
from anondb.answers.persons.domains import UNKNOWN, typed, wrapped
from anondb.answers.persons.rows import Cell, Rows
from anondb.answers.persons.terms import (
    Choice,
    Column,
    Id,
    Item,
    Listing,
    Looked,
    Number,
    PersonRows,
    Refused,
    Scope,
    Truth,
)
from anondb.answers.persons.weights import values_of, weights_of
from anondb.answers.ranged.compiler import Env
from anondb.answers.ranged.sources import grouped, source_rows
from anondb.answers.ranged.subqueries import scalar
from anondb.errors import InputError
from anondb.query.merged import MAX, MIN
from anondb.query.parsing import lowered
from anondb.query.predicates import (
    ALWAYS,
    ANY_ITEM,
    NEVER,
    NO_ITEM,
    Condition,
    ItemTest,
    Labels,
    Weights,
    at_least,
    both,
    conjuncts,
    either,
    has,
    item_all,
    item_any,
    item_not,
    negate,
    on_item,
)
from anondb.query.refusals import name_of, too_complex, unsupported
from anondb.query.trees import operands

if TYPE_CHECKING:
    from anondb.answers.persons.people import Persons

LISTS = (
    exp.ArrayContains,
    exp.Contains,
    exp.ArrayOverlaps,
    exp.ArrayContainsAll,
    exp.ArrayContainedBy,
    exp.Length,
    exp.ArraySize,
)
_OF_LISTS: Mapping[type[exp.Expr], str] = {
    exp.ArrayContains: "one",
    exp.ArrayOverlaps: "any",
    exp.ArrayContainsAll: "all",
    exp.ArrayContainedBy: "inside",
    exp.Contains: "one",
}
_CALLS = {"list_has_all": "all", "array_has_all": "all", "list_has_any": "any", "array_has_any": "any", "len": "len"}
_TURNED = {"any": "any", "all": "inside", "inside": "all"}  # what a function says if the list is its second argument
MAX_VALUES = 200  # of an item's function by which the rows of a person are divided


class PerPerson(Rows):
    """Resolves names, and reads aggregates over the rows of one person."""

    people: Persons

    def relation(self, node: exp.Expr, env: Env, outer: Scope | None = None) -> list[PersonRows]:
        """The rows of a query of single persons (``relations``)."""
        raise NotImplementedError

    def scopes(self, node: exp.Select, env: Env, outer: Scope | None = None) -> list[Scope]:
        """The rows of FROM, joins and WHERE (``relations``)."""
        raise NotImplementedError

    def is_linked(self, rows: PersonRows, scope: Scope | None) -> bool:
        """Whether rows are of the person of a scope (``relations``)."""
        raise NotImplementedError

    def check_one(self, rows: PersonRows) -> None:
        """Refuse rows of several persons (``relations``)."""
        raise NotImplementedError

    # ---------------------------------------------------------------- names

    def resolved(self, node: exp.Expr, scope: Scope, *, quiet: bool = False) -> exp.Expr:
        """An expression over atoms; with ``quiet`` one that no rule reads is refused where it is used.

        Raises:
            InputError: ``unsupported_query``.
        """
        try:
            return self._visit(node.copy(), scope)
        except InputError as error:
            if not quiet or error.code != "unsupported_query":
                raise
            return self.column(refused(error))

    def _visit(self, node: exp.Expr, scope: Scope) -> exp.Expr:
        if isinstance(node, exp.Column):
            return self._named(node, scope)
        if isinstance(node, exp.And | exp.Or):
            parts = [self._visit(part, scope) for part in operands(node)]
            return (exp.and_ if isinstance(node, exp.And) else exp.or_)(*parts, copy=False)
        made = self._special(node, scope)
        if made is not None:
            return made
        for key, part in list(node.args.items()):
            if isinstance(part, list):
                node.set(key, [self._visit(p, scope) if isinstance(p, exp.Expr) else p for p in part])
            elif isinstance(part, exp.Expr):
                node.set(key, self._visit(part, scope))
        return node

    def _named(self, node: exp.Column, scope: Scope) -> exp.Expr:
        """What a name stands for."""
        if isinstance(node.this, exp.Star):
            raise unsupported("table.* in an expression")
        if not node.table and node.name in self.atoms and node.this.args.get("quoted"):
            return node
        if node.table == "k" and node.name.startswith("c") and node.name[1:].isdigit():
            return node
        table, name = lowered(node.table), lowered(node.name)
        for here in scope.around():
            found = [c for c in here.rows.columns if c.name == name and (c.alias == table if table else not c.merged)]
            if found:
                return wrapped(found[0].value)
            if here is scope and not table and name in scope.aliases:
                inner = replace(scope, aliases={k: v for k, v in scope.aliases.items() if k != name})
                return wrapped(self._visit(scope.aliases[name].copy(), inner))
        raise unsupported(f"the column {node.name!r}", "No table of the FROM clause has it.")

    def _special(self, node: exp.Expr, scope: Scope) -> exp.Expr | None:
        """Subqueries, and functions of lists of items; None for other expressions."""
        if isinstance(node, exp.AggFunc | exp.Window):
            raise unsupported(f"{name_of(node)} in this place")
        if isinstance(node, exp.Exists):
            query = node.this.unnest() if isinstance(node.this, exp.Subquery) else node.this
            if self.people.reads_persons(query, scope.env):
                return self.column(self._truth(self._some(query, scope, "EXISTS")))
            return exp.Exists(this=self._inlined(query, scope))
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            return self._among(node, scope)
        if (query := _compared(node)) is not None:  # IN in another spelling
            found = self._among(exp.In(this=node.this, query=exp.Subquery(this=query)), scope)
            return exp.Not(this=exp.paren(found)) if isinstance(node, exp.NEQ) else found
        if isinstance(node, exp.Subquery | exp.Select):
            query = node.unnest() if isinstance(node, exp.Subquery) else node
            return self._single(query, scope)
        return self._of_list(node, scope)

    @staticmethod
    def _truth(condition: Condition) -> Truth:
        return Truth(condition, negate(condition))

    # ---------------------------------------------------------------- subqueries

    def _some(self, query: exp.Expr, scope: Scope, what: str) -> Condition:
        """The condition that a subquery has a row."""
        made = query.copy()
        if isinstance(made, exp.Select) and made.args.get("group") is None:
            made.set("expressions", [exp.Literal.number(1).as_("one")])
            made.set("distinct", None)
        listed = self.relation(made, scope.env, scope)
        for rows in listed:
            if not self.is_linked(rows, scope):
                raise unsupported(f"{what} without the outer id", "Compare the id with the one of the outer query.")
        return either(*map(self.closed, listed))

    def _among(self, node: exp.In, scope: Scope) -> exp.Expr:
        """IN with a subquery: of ids, of known values, or of items that counts choose."""
        query = node.args["query"].unnest()
        left = self.resolved(node.this, scope)
        atom = self.atom(left)
        if isinstance(atom, Id):
            listed = self.relation(query, scope.env, scope)
            for rows in listed:
                ids = [self.atom(c.value) for c in rows.columns]
                if len(ids) != 1 or not isinstance(ids[0], Id):
                    raise unsupported("IN with a subquery of something else than ids")
                self._unite(ids[0].person, atom.person)
            return self.column(self._truth(either(*map(self.closed, listed))))
        if self.people.reads_persons(query, scope.env):
            return self._chosen(left, query, scope)
        made = node.copy()
        made.set("this", left)
        listed_values = self._values_of_known(query, scope)
        if listed_values is not None:
            return exp.In(this=left, expressions=listed_values) if listed_values else exp.false()
        made.set("query", exp.Subquery(this=self._inlined(query, scope)))
        return made

    def _unite(self, one: int, two: int) -> None:
        raise NotImplementedError

    def _values_of_known(self, query: exp.Expr, scope: Scope) -> list[exp.Expr] | None:
        """The texts of a list of known values; None for others, and for a list that depends on the query around it."""
        try:
            known = self.compiler.query(query, scope.env)
        except InputError:
            return None
        if len(known.columns) != 1 or not known.exact:
            return None
        source = exp.Subquery(this=known.tree, alias=exp.TableAlias(this=exp.to_identifier("listed")))
        values = [v for (v,) in self.releases.rows(exp.select(exp.column("c0", "listed")).distinct().from_(source))]
        if not all(isinstance(v, str) or v is None for v in values):
            return None
        return [
            exp.null() if v is None else exp.Literal.string(v)
            for v in sorted(values, key=lambda v: (v is None, v or ""))
        ]

    def _chosen(self, left: exp.Expr, query: exp.Expr, scope: Scope) -> exp.Expr:
        """IN with a list of items that counts choose: some are certain, others possible."""
        atom, known = self.atom(left), self.compiler.listed(query, scope.env)
        if (
            not isinstance(atom, Item)
            or len(known.columns) != 1
            or known.open
            or not replace(known, flagged=False).exact
        ):
            raise unsupported("IN with a subquery of estimates" + (", or of suppressed rows" if known.open else ""))
        source = exp.Subquery(this=known.tree, alias=exp.TableAlias(this=exp.to_identifier("listed")))
        sure = exp.column("sure") if known.flagged else exp.true()
        rows = self.releases.rows(exp.select(exp.cast(exp.column("c0"), "VARCHAR"), sure).from_(source))
        if any(label is None for label, _ in rows):
            raise unsupported("IN with a subquery of estimates that has NULLs", "Leave them out with IS NOT NULL.")
        possible, certain = frozenset(x for x, _ in rows), frozenset(x for x, held in rows if held)
        test: Any = Labels(possible) if possible == certain else Choice(certain, possible)
        return self.column(Truth(on_item(atom.row, test), on_item(atom.row, item_not(test))))

    def _single(self, query: exp.Expr, scope: Scope) -> exp.Expr:
        """A subquery with one value: of the person, of known tables, or of counts that are known."""
        if not self.people.reads_persons(query, scope.env):
            return exp.Subquery(this=self._inlined(query, scope))
        if isinstance(query, exp.Select) and len(query.expressions) == 1 and query.args.get("group") is None:
            try:
                inner = self.scopes(query, scope.env, scope)
                linked = all(self.is_linked(one.rows, scope) for one in inner)
            except InputError:
                linked = False
            if linked:
                for one in inner:
                    self.check_one(one.rows)
                return exp.paren(self.aggregated(query.expressions[0].unalias(), inner, ALWAYS))
        value = scalar(exp.Subquery(this=query.copy()), self.compiler, scope.env)
        if not value.exact:
            raise unsupported("a comparison of persons with an estimate", "Compare the result of two queries.")
        return exp.paren(value.estimate.copy())

    def _inlined(self, query: exp.Expr, scope: Scope) -> exp.Expr:
        """A subquery of known tables in which these are written out, and outer names are resolved."""
        made = query.copy()
        inside: set[str] = set()
        aliases: set[str] = set()
        own = {lowered(cte.alias) for cte in made.find_all(exp.CTE)}
        for table in list(made.find_all(exp.Table)):
            if lowered(table.name) in own and not table.db:
                aliases.add(lowered(table.alias_or_name))
                continue
            known, alias = source_rows(self.compiler, table, scope.env)
            if not known.exact:
                raise unsupported("a subquery of estimates in a condition on persons")
            columns = [
                exp.column(f"c{n}").as_(exp.to_identifier(c.name, quoted=True)) for n, c in enumerate(known.columns)
            ]
            inside |= {lowered(c.name) for c in known.columns}
            aliases.add(lowered(alias))
            source = exp.select(*columns).from_(
                exp.Subquery(this=known.tree.copy(), alias=exp.TableAlias(this=exp.to_identifier("known")))
            )
            table.replace(exp.Subquery(this=source, alias=exp.TableAlias(this=exp.to_identifier(alias))))
        aliases |= {lowered(s.alias) for s in made.find_all(exp.Subquery, exp.Values) if s.alias}
        inside |= {lowered(e.alias) for e in made.find_all(exp.Alias)} | {
            lowered(c.name) for a in made.find_all(exp.TableAlias) for c in a.args.get("columns") or ()
        }
        for column in list(made.find_all(exp.Column)):
            mine = lowered(column.table) in aliases if column.table else lowered(column.name) in inside
            known_one = column.find_ancestor(exp.Subquery)
            if mine or (
                column.name.startswith("c") and known_one is not None and not column.table and column.name[1:].isdigit()
            ):
                continue
            if any(lowered(column.name) == c.name for s in scope.around() for c in s.rows.columns):
                value = self._named(column.copy(), scope)
                if column is made:
                    return value
                column.replace(wrapped(value))
        return made

    # ---------------------------------------------------------------- lists

    def _of_list(self, node: exp.Expr, scope: Scope) -> exp.Expr | None:
        """A function of the list of a person's items; None for other expressions."""
        kind, this, other = "", None, None
        if isinstance(node, LISTS):
            kind = next((kind for of, kind in _OF_LISTS.items() if isinstance(node, of)), "len")
            this, other = node.this, node.args.get("expression")
        elif isinstance(node, exp.Anonymous) and lowered(node.name) in _CALLS:
            kind, this = _CALLS[lowered(node.name)], node.expressions[0]
            other = node.expressions[1] if len(node.expressions) > 1 else None
        elif isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
            kind, this, other = "one", node.expression.this, node.this
        elif isinstance(node, exp.In) and node.args.get("field") is not None:
            kind, this, other = "one", node.args["field"], node.this
        elif isinstance(node, exp.NEQ) and (listed := _all_of(node.expression)) is not None:
            inner = exp.EQ(this=node.this, expression=exp.Any(this=exp.paren(listed)))
            return exp.Not(this=exp.paren(self._visit(inner, scope)))
        if not kind or this is None:
            return None
        listing = self.atom(self.resolved(this, scope, quiet=True))
        if not isinstance(listing, Listing) and kind in _TURNED and other is not None:
            turned = self.atom(self.resolved(other, scope, quiet=True))
            if isinstance(turned, Listing):
                kind, listing, other = _TURNED[kind], turned, this
        if not isinstance(listing, Listing):
            if kind == "one" and isinstance(node, exp.EQ) and isinstance(this.unnest(), exp.Array):
                return self._visit(
                    exp.In(this=node.this, expressions=[e.copy() for e in this.unnest().expressions]), scope
                )
            return None
        rows = isinstance(node, exp.EQ)  # of the list, of which ANY reads none if it is NULL
        there = LISTED_ITEMS if listing.nullable and not rows else ALWAYS
        if kind == "len":
            weights = Weights(ANY_ITEM)
            return self.column(Number(weights, there))
        assert other is not None
        labels = self._texts(self.resolved(other, scope), one=kind == "one")
        self.written |= labels
        if kind == "all":
            met = both(*(has(label) for label in labels))
        elif kind == "inside":
            met = negate(at_least(1, item_not(Labels(labels))))
        else:
            met = has(*labels) if labels else NEVER
        true = both(met, there) if kind == "inside" or not labels else met
        return self.column(Truth(true, both(negate(met), there)))

    def _texts(self, tree: exp.Expr, *, one: bool) -> frozenset[str]:
        values = [tree.unnest()] if one else tree.unnest().expressions if isinstance(tree.unnest(), exp.Array) else []
        empty = isinstance(tree.unnest(), exp.Array) and not one
        if self.releases.typed and values and not any(self.atoms_of(v) for v in values):
            kind = exp.DataType.build(self.releases.type, dialect="duckdb")
            texts = [exp.cast(exp.TryCast(this=exp.paren(v.copy()), to=kind.copy()), "VARCHAR") for v in values]
            return frozenset(t for t in self.releases.rows(exp.select(*texts))[0] if t is not None)
        if not (values or empty) or not all(
            isinstance(v.unnest(), exp.Literal) and v.unnest().is_string for v in values
        ):
            raise unsupported("a list of items compared with something else than texts")
        return frozenset(v.unnest().name for v in values)

    # ---------------------------------------------------------------- GROUP BY the id

    def by_id(self, node: exp.Select, scopes: Sequence[Scope]) -> list[PersonRows]:
        """The rows of GROUP BY the id, and perhaps values of the person or of an item; with HAVING."""
        keys = list(dict.fromkeys(grouped(node, lambda column: self._has(column, scopes[0]))))
        trees = [[self.resolved(key, scope) for key in keys] for scope in scopes]
        ids = [n for n, tree in enumerate(trees[0]) if isinstance(self.atom(tree), Id)]
        if not ids:
            raise unsupported("GROUP BY something else than the id in a subquery")
        made: dict[tuple[Any, ...], list[Scope]] = {}
        for scope, of in zip(scopes, trees, strict=True):
            for values, part in self._divided_by(scope, keys, of):
                made.setdefault(values, []).append(part)
        listed = []
        for group in made.values():
            listed += self._grouped(node, keys, group)
        return listed

    def _has(self, column: exp.Column, scope: Scope) -> bool:
        name, table = lowered(column.name), lowered(column.table)
        return any(c.name == name and (not table or c.alias == table) for c in scope.rows.columns)

    def _divided_by(
        self, scope: Scope, keys: Sequence[exp.Expr], trees: Sequence[exp.Expr]
    ) -> list[tuple[tuple[Any, ...], Scope]]:
        """The rows of a scope for each value of the keys that depend on an item, which are constants then."""
        parts: list[tuple[tuple[Any, ...], Scope]] = [((), scope)]
        for key, tree in zip(keys, trees, strict=True):
            if not self.rows_of(tree) or isinstance(self.atom(tree), Item):
                parts = [((*values, tree if not self.rows_of(tree) else None), part) for values, part in parts]
                continue
            found = self.evaluated(tree)
            if found.other is UNKNOWN and self.releases.suppressed:
                raise unsupported("GROUP BY an expression of items that may be suppressed")
            listed = list(dict.fromkeys([*found.values.values(), *([found.other] if self.releases.suppressed else [])]))
            if len(listed) > MAX_VALUES:
                raise unsupported("GROUP BY the id and an expression of an item with too many values")
            (row,) = self.rows_of(tree)
            more = []
            for values, part in parts:
                for value in listed:
                    test = self.test(tree, lambda v, value=value: v == value and type(v) is type(value))  # type: ignore[misc]
                    where = both(part.rows.where, on_item(row, test))
                    if where == NEVER:
                        continue

                    fixed = typed(value, found.kind)
                    rows = replace(part.rows, where=where)
                    more.append(((*values, (repr(value),)), replace(part, rows=rows, fixed={**part.fixed, key: fixed})))
            parts = more
        return [(tuple(v if not isinstance(v, exp.Expr) else v.sql() for v in values), part) for values, part in parts]

    def _grouped(self, node: exp.Select, keys: Sequence[exp.Expr], group: Sequence[Scope]) -> list[PersonRows]:
        """The row of each person, or of each item of a person, for alternatives of rows with equal keys."""
        first = group[0].rows
        kept: frozenset[int] = frozenset()
        for key in keys:
            atom = self.atom(self.resolved(group[0].fixed.get(key, key), group[0]))
            if isinstance(atom, Item):
                kept |= {atom.row}
        if kept and len(group) > 1:
            raise unsupported("GROUP BY the id and the item of rows of several kinds")
        for scope in group:
            self.check_one(scope.rows)
        if kept:
            found = [self.some_of(part, part.rows - kept) for part in self.settled_rows(first)]
            met = either(*found)
            inside = [replace(group[0], rows=replace(first, where=both(first.where)))]
        else:
            met = either(*(self.closed(scope.rows) for scope in group))
            inside = list(group)

        def value_of(part: exp.Expr) -> exp.Expr:
            return self.aggregated(part, inside, met, keys=keys, kept=kept)

        columns = [Column("", lowered(e.alias_or_name), self._quietly(value_of, e.unalias())) for e in node.expressions]
        rows = PersonRows(tuple(columns), kept, met, exact=True, people=first.people)
        having = node.args.get("having")
        if having is not None:
            rows = replace(rows, where=both(met, self.where(value_of(having.this))))
        return [] if rows.where == NEVER and len(group) < 1 else [rows]

    def some_of(self, rows: PersonRows, rest: frozenset[int]) -> Condition:
        """The condition that rows exist for some values of these variables (``relations``)."""
        raise NotImplementedError

    def _quietly(self, work: Any, part: exp.Expr) -> exp.Expr:
        try:
            return work(part)  # type: ignore[no-any-return]
        except InputError as error:
            if error.code != "unsupported_query":
                raise
            return self.column(refused(error))

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
            key = next((k for k in keys if _same(k, part)), None)
            if key is not None and key in scopes[0].fixed:
                return scopes[0].fixed[key].copy()
            if isinstance(part, exp.Column):
                alias = (
                    scopes[0].aliases.get(lowered(part.name))
                    if not part.table and not self._has(part, scopes[0])
                    else None
                )
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
            for name, child in list(part.args.items()):
                if isinstance(child, list):
                    part.set(name, [visit(c) if isinstance(c, exp.Expr) else c for c in child])
                elif isinstance(child, exp.Expr):
                    part.set(name, visit(child))
            return part

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
        if wanted is not None:
            scopes = [self._with(scope, self.resolved(wanted, scope)) for scope in scopes]
        inner = call.this
        if isinstance(call, exp.Count):
            return self._count(inner, scopes, met)
        if isinstance(call, exp.CountIf):
            there = [self._with(s, self.resolved(inner, s)) for s in scopes]
            met_or_not = [(scope, self.decided(self.resolved(inner, scope)).known) for scope in scopes]
            some = either(*(self.closed(replace(s.rows, where=both(s.rows.where, known))) for s, known in met_or_not))
            number = self._numbers(there, met)  # DuckDB sums ones and zeros
            return number if self._holds(some, met) else _case(self._column_of(some), number, exp.null())
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
            there = [
                self._with(s, exp.Not(this=exp.paren(exp.Is(this=exp.paren(t.copy()), expression=exp.null()))))
                for s, t in zip(scopes, trees, strict=True)
            ]
            number = self._numbers(there, met)
            return exp.Div(this=exp.cast(exp.paren(total), "DOUBLE"), expression=exp.paren(number))
        if isinstance(call, exp.AnyValue | exp.First):
            trees = [self.resolved(inner, scope) for scope in scopes]
            if len(set(trees)) == 1 and not self.rows_of(trees[0]):
                return trees[0]
        raise unsupported(name_of(call))

    def _with(self, scope: Scope, tree: exp.Expr) -> Scope:
        return replace(scope, rows=replace(scope.rows, where=both(scope.rows.where, self.where(tree))))

    def _count(self, inner: exp.Expr | None, scopes: Sequence[Scope], met: Condition) -> exp.Expr:
        if inner is None or isinstance(inner, exp.Star | exp.Literal):
            return self._numbers(scopes, met)
        distinct = isinstance(inner, exp.Distinct)
        if distinct and len(inner.expressions) != 1:
            raise unsupported("count(DISTINCT ...) of several columns")
        what = inner.expressions[0] if distinct else inner
        trees = [self.resolved(what, scope) for scope in scopes]
        there = [
            self._with(s, exp.Not(this=exp.paren(exp.Is(this=exp.paren(t.copy()), expression=exp.null()))))
            for s, t in zip(scopes, trees, strict=True)
        ]
        if not distinct:
            return self._numbers(there, met)
        if len(scopes) > 1:
            return self._different_of_kinds(there, trees, met)
        (tree,), (scope,) = trees, there
        if not self.rows_of(tree):
            return exp.Case(
                ifs=[exp.If(this=self.column(self._truth(self.closed(scope.rows))), true=exp.Literal.number(1))],
                default=exp.Literal.number(0),
            )
        atom = self.atom(tree)
        cases = self._one_row(scope.rows, tree)
        weights = Weights(ANY_ITEM)
        if not isinstance(atom, Item):
            found = self.evaluated(tree)
            if found.other is UNKNOWN and self.releases.suppressed:
                raise unsupported("count(DISTINCT ...) of an expression of items that may be suppressed")
            listed = [(x, v) for x, v in found.values.items() if v is not None]
            if found.other is not UNKNOWN and found.other is not None and self.releases.suppressed:
                raise unsupported("count(DISTINCT ...) of an expression of items that may be suppressed")
            weights = values_of(listed)
        numbers = [(condition, self.column(Number(replace(weights, test=test)))) for condition, test in cases]
        return self._of_cases(numbers, exp.Literal.number(0), met)

    def _different_of_kinds(self, scopes: Sequence[Scope], trees: Sequence[exp.Expr], met: Condition) -> exp.Expr:
        """The number of different values over alternatives, such as those of items with several rows in a table."""
        if not all(len(self.rows_of(tree)) == 1 for tree in trees):
            raise unsupported("count(DISTINCT ...) over rows of several kinds")
        parts = [(tree, *case) for s, tree in zip(scopes, trees, strict=True) for case in self._one_row(s.rows, tree)]
        if len({condition for _, condition, _ in parts}) > 1 or (parts and len(parts) > len(trees)):
            raise unsupported("count(DISTINCT ...) over rows of several kinds")
        if not parts:
            return exp.Literal.number(0)
        items = [isinstance(self.atom(tree), Item) for tree in trees]
        if all(items):
            weights = Weights(item_any(*(test for *_, test in parts)))
        else:
            listed: list[tuple[str, Any]] = []
            for tree, _, test in parts:
                found = self.evaluated(tree)
                if self.releases.suppressed and self._may_pass(test) and found.other is not None:
                    raise unsupported("count(DISTINCT ...) of an expression of items that may be suppressed")
                inside = self.passing(test, frozenset(found.values))
                listed += [(x, v) for x, v in found.values.items() if v is not None and x in inside]
            weights = values_of(listed)
        return self._of_cases([(parts[0][1], self.column(Number(weights)))], exp.Literal.number(0), met)

    def _column_of(self, condition: Condition) -> exp.Expr:
        return self.column(self._truth(condition))

    @staticmethod
    def _holds(condition: Condition, met: Condition) -> bool:
        """Whether a condition follows from one that holds."""
        known = set(conjuncts(met))
        return all(part in known for part in conjuncts(condition) if part != ALWAYS)

    def _one_row(self, rows: PersonRows, tree: exp.Expr) -> list[tuple[Condition, ItemTest]]:
        """The cases of a person in which an expression of one item has rows, of which at most one holds.

        Each is a condition with the test of the items that have a row then.
        """
        own = self.rows_of(tree)
        if len(own) != 1:
            raise unsupported("an expression of several items")
        (row,) = own
        settled = self.settled_rows(rows)
        if any(row not in one.rows for one in settled):
            raise unsupported("an expression of an item that is compared with another one")
        parts = self.divided(either(*(self.some_of(one, one.rows - {row}) for one in settled)), row)
        conditions = [condition for _, condition in parts if condition != ALWAYS]
        if len(conditions) > MAX_TRUTHS:
            raise too_complex(f"more than {MAX_TRUTHS} conditions on a person beside those on an item")
        found: dict[ItemTest, list[Condition]] = {}
        for truth in product((True, False), repeat=len(conditions)):
            met = dict(zip(conditions, truth, strict=True))
            case = both(*(c if held else negate(c) for c, held in met.items()))
            test = self._simpler(item_any(*(t for t, c in parts if met.get(c, True))))
            if case != NEVER and test != NO_ITEM:
                found.setdefault(test, []).append(case)
        return [(either(*cases), test) for test, cases in found.items()]

    def _of_cases(self, cases: Sequence[tuple[Condition, exp.Expr]], other: exp.Expr, met: Condition) -> exp.Expr:
        """The value of the case of a person that holds; another one in no case."""
        if len(cases) == 1 and self._holds(cases[0][0], met):
            return cases[0][1]
        ifs = [exp.If(this=self._column_of(condition), true=value) for condition, value in cases]
        return exp.Case(ifs=ifs, default=other) if ifs else other

    def _numbers(self, scopes: Sequence[Scope], met: Condition) -> exp.Expr:
        """The number of rows."""
        parts: list[exp.Expr] = []
        for scope in scopes:
            for cell in self.cells(scope.rows, open_rows=scope.rows.rows if len(scope.rows.rows) == 1 else frozenset()):
                parts.append(self._number_of(cell, met))
        if not parts:
            return exp.Literal.number(0)
        total = parts[0]
        for part in parts[1:]:
            total = exp.Add(this=total, expression=part)
        return total

    def _number_of(self, cell: Cell, met: Condition) -> exp.Expr:
        if cell.second is not None:
            if cell.test != cell.second:
                raise unsupported("a number of pairs of items of different kinds")
            n = self.column(Number(Weights(cell.test or ANY_ITEM)))
            ordered = exp.Mul(this=n, expression=exp.paren(exp.Sub(this=n.copy(), expression=exp.Literal.number(1))))
            per = len(cell.signs & {"less", "greater"})
            number: exp.Expr = (
                ordered if per == 2 else exp.Div(this=exp.paren(ordered), expression=exp.Literal.number(2))
            )
            if "equal" in cell.signs:
                number = exp.Add(this=exp.paren(number), expression=n.copy())
        else:
            number = exp.Literal.number(1) if cell.test is None else self.column(Number(Weights(cell.test)))
        return (
            number
            if self._holds(cell.person, met)
            else _case(self._column_of(cell.person), number, exp.Literal.number(0))
        )

    def _decided(self, parts: Sequence[tuple[Scope, Decided]], every: bool, met: Condition | None) -> Truth:
        """Whether a condition is true for some row, or for every row."""

        def some(which: str) -> Condition:
            return either(
                *(self.closed(replace(s.rows, where=both(s.rows.where, getattr(d, which)))) for s, d in parts)
            )

        deciding, other = ("false", "true") if every else ("true", "false")
        first = some(deciding)
        known = met is not None and all(d.false == negate(d.true) or d.true == negate(d.false) for _, d in parts)
        second = negate(first) if known else both(negate(first), some(other))
        return Truth(second, first) if every else Truth(first, second)

    def _sum(self, scopes: Sequence[Scope], trees: Sequence[exp.Expr], met: Condition) -> exp.Expr:
        """The sum of an expression over the rows; NULL without a row that has a value."""
        parts: list[exp.Expr] = []
        there: list[Condition] = []
        for scope, tree in zip(scopes, trees, strict=True):
            for branch, value in self.branches(tree) if self._is_mixed(tree) else [(ALWAYS, tree)]:
                rows = replace(scope.rows, where=both(scope.rows.where, branch))
                parts += self._sum_of(rows, value, met, there)
        if not parts:
            return exp.null()
        total = parts[0]
        for part in parts[1:]:
            total = exp.Add(this=total, expression=part)
        present = either(*there)
        return total if self._holds(present, met) else _case(self._column_of(present), total, exp.null())

    def _is_mixed(self, tree: exp.Expr) -> bool:
        atoms = self.atoms_of(tree)
        return len(self.rows_of(tree)) != 1 or not all(isinstance(a, Item | Looked) for a in atoms)

    def _sum_of(self, rows: PersonRows, tree: exp.Expr, met: Condition, there: list[Condition]) -> list[exp.Expr]:
        if not self.atoms_of(tree):
            value = self.value(tree)
            if value is None:
                return []
            there.append(self.closed(rows))
            number = self._numbers([Scope(rows, {})], met)
            return [exp.Mul(this=exp.paren(tree.copy()), expression=exp.paren(number))]
        self.check_exact(rows)
        if self.rows_of(tree):
            cases = self._one_row(rows, tree)
            if len(rows.rows) > 1 and any(cell.test is None for cell in self.cells(rows)):
                raise unsupported("a sum over the rows of a self-join")
            numbers: list[tuple[Condition, exp.Expr]] = []
            for condition, test in cases:
                weights, some = self.weights(tree, test)
                there.append(both(condition, some))
                numbers.append((condition, self.column(Number(weights))))
            return [self._of_cases(numbers, exp.Literal.number(0), met)]
        cells = self.cells(rows)
        if any(cell.test is not None for cell in cells):
            raise unsupported("a sum of a number of the person over their rows")
        there.append(either(*(cell.person for cell in cells)))
        return [
            tree.copy()
            if self._holds(cell.person, met)
            else _case(self._column_of(cell.person), tree.copy(), exp.Literal.number(0))
            for cell in cells
        ]

    def weights(self, tree: exp.Expr, test: ItemTest) -> tuple[Weights, Condition]:
        """The numbers of items that pass a test, by an expression, and the condition that there is one that is not NULL."""
        found = self.evaluated(tree)
        listed = [(x, int(v) if isinstance(v, bool) else v) for x, v in found.values.items() if v is not None]
        zeros_and_ones = {v for _, v in listed} <= {0, 1} and (
            found.other is not UNKNOWN or not self.releases.suppressed
        )
        if zeros_and_ones and (self.labels(test) is not None or None not in found.values.values()):
            counted = item_all(test, self.test(tree, lambda v: v == 1))
            return Weights(self._simpler(counted)), at_least(
                1, item_all(test, self.test(tree, lambda v: v is not None))
            )
        made = weights_of(listed)
        some = (
            self.test(tree, lambda v: v is not None)
            if found.other is not UNKNOWN or not self.releases.suppressed
            else None
        )
        others = (0.0, 0.0)
        if self.releases.suppressed:
            ends = [found.other] if found.other is not UNKNOWN else self._ends(tree)
            numbers = [float(n) for n in ends if n is not None]
            others = (-inf if min(numbers, default=0) < 0 else 0.0, inf if max(numbers, default=0) > 0 else 0.0)
            some = ANY_ITEM if some is None else some
        assert some is not None
        return replace(made, test=test, others=others), at_least(1, item_all(test, some))

    def _ends(self, tree: exp.Expr) -> list[Any]:
        """The values that CASE may have for items that nothing names.

        Raises:
            InputError: ``unsupported_query``: they are not known.
        """
        parts = [self.value(value) for _, value in self._results(tree)]
        if any(part is None for part in parts):
            raise unsupported("the sum of CASE that is NULL for an item", "Write ELSE 0.")
        return parts

    def _results(self, tree: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:

        case = tree.unnest()
        if not isinstance(case, exp.Case | exp.If) or any(self.atoms_of(v) for _, v in _cases(case)):
            raise unsupported(
                "a sum of numbers of all items, which may be suppressed", "Sum a CASE of numbers with ELSE."
            )
        return _cases(case)

    def _extreme(self, call: exp.Expr, scopes: Sequence[Scope], trees: Sequence[exp.Expr], met: Condition) -> exp.Expr:
        """The greatest or the least value of the rows."""
        if len(scopes) > 1:
            raise unsupported(f"{name_of(call)} over rows of several kinds")
        (scope,), (tree,) = scopes, trees
        if not self.rows_of(tree):
            present = self.closed(scope.rows)
            return tree if self._holds(present, met) else _case(self._column_of(present), tree, exp.null())
        kind = MAX if isinstance(call, exp.Max) else MIN
        if self._is_mixed(tree):
            raise unsupported(f"{name_of(call)} of an item beside another value")
        cases = [
            (condition, self._extreme_of(tree, test, kind, name_of(call), condition, met))
            for condition, test in self._one_row(scope.rows, tree)
        ]
        return cases[0][1] if len(cases) == 1 else self._of_cases(cases, exp.null(), met)

    def _extreme_of(
        self, tree: exp.Expr, test: ItemTest, kind: str, name: str, condition: Condition, met: Condition
    ) -> exp.Expr:
        """The greatest or the least value of the items that pass a test, if a condition on the person holds; else NULL."""
        found = self.evaluated(tree)
        if found.other is UNKNOWN and self.releases.suppressed and not isinstance(self.atom(tree), Item):
            raise unsupported(f"{name} of items that may be suppressed")
        if self.releases.suppressed and isinstance(self.atom(tree), Item):
            raise unsupported(f"{name} of items that may be suppressed")
        inside = self.passing(test, frozenset(found.values))
        listed = {x: v for x, v in found.values.items() if v is not None and x in inside}
        other = found.other if self.releases.suppressed and self._may_pass(test) else None
        values = sorted(set(listed.values()) | ({other} if other is not None and other is not UNKNOWN else set()))
        if not values:
            return exp.null()
        numeric = all(isinstance(v, int | float) or hasattr(v, "as_tuple") for v in values)
        if numeric:
            made = weights_of(list(listed.items()), kind)
            weight_of = {v: float(v * made.scale) for v in values}
        else:
            weight_of = {v: float(n) for n, v in enumerate(values)}
            made = Weights(ANY_ITEM, tuple(sorted((x, weight_of[v]) for x, v in listed.items())), kind=kind)
        weights = replace(made, test=test, kind=kind)
        places = tuple((weight_of[v], int(v) if isinstance(v, bool) else v) for v in values)
        if all(isinstance(v, bool) for v in values):
            places = tuple((w, bool(v)) for w, v in places)
        number = Number(weights, ALWAYS, places, None if other is None or other is UNKNOWN else weight_of[other])
        present = both(condition, self._reaches(number, places[0][0] if kind == MAX else places[-1][0]))
        tree_of: exp.Expr = self.column(number)
        if len(places) == 1:
            tree_of = _literal(places[0][1])
        elif len(places) == 2:
            far, near = (places[1], places[0]) if kind == MAX else (places[0], places[1])
            beyond = self._column_of(self._reaches(number, far[0]))
            tree_of = _case(beyond, _literal(far[1]), _literal(near[1]))
        return tree_of if self._holds(present, met) else _case(self._column_of(present), tree_of, exp.null())

    def _may_pass(self, test: ItemTest) -> bool:
        """Whether items that nothing names may pass a test."""
        return self.labels(test) is None


def _compared(node: exp.Expr) -> exp.Query | None:
    """The subquery of ``= ANY`` or ``<> ALL``; None for other expressions."""
    right = node.args.get("expression")
    listed = (isinstance(node, exp.EQ) and isinstance(right, exp.Any)) or (
        isinstance(node, exp.NEQ) and isinstance(right, exp.All)
    )
    found = node.expression.this.unnest() if listed else None
    return found if isinstance(found, exp.Query) else None


def _all_of(node: exp.Expr) -> exp.Expr | None:
    """The list of ALL(list); None for other expressions."""
    if isinstance(node, exp.All):
        inner: exp.Expr = node.this
        return inner.unnest()
    named = isinstance(node, exp.Anonymous) and lowered(node.name) == "all" and len(node.expressions) == 1
    listed: exp.Expr | None = node.expressions[0].unnest() if named else None
    return listed


def refused(error: InputError) -> Refused:
    """The column that no rule reads, by the error of its reading."""
    construct = str(error).removeprefix("Not answered from a release: ").partition(". ")[0].rstrip(".")
    return Refused(construct, error.hint or "")


def _same(key: exp.Expr, node: exp.Expr) -> bool:
    if not isinstance(key, exp.Column) or not isinstance(node, exp.Column):
        return key == node
    tables = {lowered(column.table) for column in (key, node) if column.table}
    return lowered(key.name) == lowered(node.name) and len(tables) < 2


def _case(condition: exp.Expr, value: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=other)


def _literal(value: Any) -> exp.Expr:
    return typed(value, "")
