"""SELECTs over the tables of persons: their groups, and the aggregates that the releases answer for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import replace
from itertools import product
from typing import Any

from sqlglot import exp

from anondb.answers.persons.aggregates import LISTED_NOTE, VALUES_NOTE, Aggregates, Basic, Group, dependent
from anondb.answers.persons.composed import Composer
from anondb.answers.persons.counts import NONE, Bounds, Counts, Row, both_of, is_unsigned
from anondb.answers.persons.domains import check_kind
from anondb.answers.persons.sums import MERGED_NOTE
from anondb.answers.persons.terms import Item, Number, Of, PersonRows, Scope
from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.compiler import Compiler, Env, Grouped, with_ctes
from anondb.answers.ranged.equivalents import common_table
from anondb.answers.ranged.leading import largest
from anondb.answers.ranged.relation import Column, Ranged, marked
from anondb.answers.ranged.sources import RowsOfPersons, grouped
from anondb.errors import InputError
from anondb.query.aggregates import SPREADS
from anondb.query.item_tests import Labels, finite
from anondb.query.parsing import lowered
from anondb.query.predicates import ALWAYS, IDS, ITEMS, NEVER, ROWS, OnSum, Plan, both, leaves, negate, on_item
from anondb.query.refusals import REFUSED, only, too_complex, unsupported
from anondb.query.summed import SUM, VALUES
from anondb.query.values import TEXT

MAX_GROUPS = 1_000
COUNTED = ("rows", "ids", "distinct")


class Persons(RowsOfPersons):
    """The tables of persons of a session (``compiler.People``)."""

    counts: Counts

    def reads_persons(self, query: exp.Expr, env: Env) -> bool:
        """Whether a query reads a table of persons."""
        inside = {id(cte) for cte in query.find_all(exp.CTE)}
        for table in query.find_all(exp.Table):
            if not table.db and id(common_table(table)) in inside:
                continue
            cte = None if table.db else env.get(lowered(table.name))
            if cte is not None:
                if self.reads_persons(cte.node.this, cte.env):
                    return True
            elif self.counts.id_column(table) is not None:
                return True
        return False

    def grouped(self, node: exp.Select, env: Env, compiler: Compiler, *, ended: bool = False) -> Grouped:
        """The groups and aggregates of a SELECT over tables of persons.

        Raises:
            InputError: ``unsupported_query``, ``query_too_complex``, ``ambiguous_item``.
        """
        return _Grouped(self, compiler).grouped(node, with_ctes(node, env, self.of_persons), ended)

    def counted(self, node: exp.Select, env: Env, compiler: Compiler) -> tuple[exp.Select, exp.Table] | None:
        """The ids of the persons whom a SELECT of one count counts, of whom a table has all; None if it counts others."""
        source, (call,) = node.args["from_"].this, aggregates(node.expressions[0])
        names, tables = self.ids_of(source, env), list(self.tables_of(node, env))
        of_ids = isinstance(call.this, exp.Distinct) and {lowered(c.name) for c in call.this.expressions} == names
        outer = any(join.side for join in node.args.get("joins") or ()) or any(t.this != tables[0].this for t in tables)
        if len(names) != 1 or outer or not (of_ids or isinstance(call.this, exp.Star | exp.Literal)):
            return None
        ids = node.copy()
        ids.set("expressions", [exp.column(exp.to_identifier(min(names), quoted=True), source.alias_or_name or None)])
        return (ids, tables[0]) if of_ids or _Grouped(self, compiler).have_one_row(ids, env) else None


class _Grouped(Aggregates):
    """Reads one SELECT."""

    def __init__(self, people: Persons, compiler: Compiler) -> None:
        super().__init__(people.counts, compiler)
        self.people = people
        self._unread: dict[Basic, InputError] = {}

    def grouped(self, node: exp.Select, env: Env, ended: bool) -> Grouped:
        scopes = self.scopes(node, env)
        for scope in scopes:
            self.check_one(scope.rows)
        keys = self._keys(node, scopes[0])
        parts = [*node.expressions, *map(node.args.get, ("having", "qualify", "order"))]
        keys += dependent(self, parts, scopes[0], keys) if len(scopes) == 1 else []
        composer = Composer(self, scopes, keys)
        replaced = composer.replaced(parts)
        basics, trees = composer.basics, [[self.resolved(key, scope) for key in keys] for scope in scopes]
        kinds = [set[str]() for _ in keys]
        limit = largest(node, replaced) if ended and len(basics) == 1 else None
        most = None if limit is None else int(limit.expression.name)
        quick = self._listed_once(scopes, trees, basics)
        items = [isinstance(self.atom(tree), Item) and self.releases.typed for tree in trees[0]]
        unsigned = {n for n, basic in enumerate(basics) if basic.unsigned}
        if quick is not None:
            tree = self.releases.put_listed(quick, len(basics))
            sure = all(lower >= 1 for _, lower, upper in quick if upper != 0)
            some = self.releases.suppressed
        else:
            rows, some = self._groups(scopes, trees, kinds, basics, most)
            if not keys:
                empty: list[Bounds] = [NONE if b.how in (*COUNTED, "sum", "combined") else (None, None) for b in basics]
                rows = rows or {(): [*empty, NONE]}
            sure = all((of[-1][0] or 0) >= 1 for of in rows.values())
            unsigned |= {n for n in range(len(basics)) if all(is_unsigned(of[n]) for of in rows.values())}
            listed = rows if keys else {key: of[:-1] for key, of in rows.items()}
            tree = self.releases.put([*map(self.common, kinds)], listed, len(basics))
        columns = [Column(f"#k{n}", item=item, plain=item) for n, item in enumerate(items)]
        maybe = not keys and not sure
        columns += [self._column(n, basics, len(keys), maybe=maybe, unsigned=n in unsigned) for n in range(len(basics))]
        relation = Ranged(marked(tree, columns), tuple(columns), flagged=bool(keys), open=some and bool(keys))
        return Grouped(replace(relation, unsure=bool(keys) and not sure), {key: n for n, key in enumerate(keys)}, replaced)

    def have_one_row(self, node: exp.Select, env: Env) -> bool:
        """Whether each person has at most one row of a SELECT."""
        for scope in (scopes := self.scopes(node, env)):
            self.check_one(scope.rows)
        cells = [cell for scope in scopes for cell in self.cells(scope.rows)]
        return len(cells) < 2 and all(cell.test is None for cell in cells)

    def _keys(self, node: exp.Select, scope: Scope) -> list[exp.Expr]:
        if node.args.get("group") is not None:
            return list(dict.fromkeys(grouped(node, lambda column: self._has(column, scope))))
        if node.args.get("distinct") is None:
            return []
        only(node.args["distinct"])
        return list(dict.fromkeys(e.unalias() for e in node.expressions))

    def _listed_once(
        self, scopes: Sequence[Scope], trees: Sequence[Sequence[exp.Expr]], basics: Sequence[Basic]
    ) -> Sequence[Row] | None:
        """The groups by the item with at most one count, whose answer need not be taken apart; None for others."""
        if len(scopes) != 1 or len(trees[0]) != 1 or len(basics) > 1:
            return None
        atom, rows = self.atom(trees[0][0]), scopes[0].rows
        counted = [basic.how for basic in basics if basic.wanted is None]
        if not isinstance(atom, Item) or rows.rows != {atom.row} or counted not in ([], ["rows"], ["ids"]):
            return None
        if len(counted) < len(basics) or (counted == ["rows"] and not rows.exact):
            return None
        parts = self.divided(rows.where, atom.row)
        if len(parts) != 1:
            return None
        ((test, person),) = parts
        notes = (LISTED_NOTE, MERGED_NOTE) if counted == ["rows"] else (LISTED_NOTE,)
        return self.answer(Plan(ITEMS, self._plain(person), test, notes=notes))

    # ---------------------------------------------------------------- groups

    def _groups(
        self,
        scopes: Sequence[Scope],
        trees: Sequence[Sequence[exp.Expr]],
        kinds: Sequence[set[str]],
        basics: Sequence[Basic],
        most: int | None,
    ) -> tuple[dict[Row, list[Bounds]], bool]:
        """The groups, each with the bounds of each aggregate, and of the persons of the group; whether others may exist."""
        groups: dict[tuple[Any, ...], Group] = {}
        for scope, of in zip(scopes, trees, strict=True):
            for group in self._divided_groups(scope, of, kinds):
                whats = {what for _, what in group.listed}
                apart = len(whats) > 1 or any(isinstance(what, Number) for what in whats)
                same = group.values, group.listed, group.scopes if apart else None
                before = groups.get(same)
                groups[same] = group if before is None else replace(before, scopes=before.scopes + group.scopes)
        _check_number(groups)
        rows: dict[Row, list[Bounds]] = {}
        open_ = False
        for group in groups.values():
            open_ = open_ or any(self._is_open(what) for _, what in group.listed)
            for key, bounds in self._group_rows(group, basics, most if len(groups) == 1 else None).items():
                if key in rows:
                    parts = zip([*basics, Basic("rows")], rows[key], bounds, strict=True)
                    bounds = [self._together(*part) for part in parts]
                rows[key] = bounds
        if basics and len(self._unread) == len(dict.fromkeys(basics)):
            raise next(iter(self._unread.values()))
        there = {key: bounds for key, bounds in rows.items() if not trees[0] or bounds[-1][1] != 0}
        return there, open_ and bool(trees[0])

    def _read(self, basic: Basic, scopes: Sequence[Scope]) -> Bounds:
        """The bounds of an aggregate over a group; none if no rule reads it, beside others that are read."""
        try:
            return (None, None) if basic in self._unread else self.value_of(basic, scopes)
        except InputError as error:
            if error.code != "unsupported_query":
                raise
            self._unread[basic] = error
            return None, None

    def _column(self, number: int, basics: Sequence[Basic], keys: int, *, maybe: bool, unsigned: bool) -> Column:
        """The column of an aggregate."""
        if (error := self._unread.get(basics[number])) is None:
            return _column(number, basics, keys, maybe=maybe, unsigned=unsigned)
        return Column(f"#{number}", unknown=True, why=str(error).removeprefix(REFUSED).rstrip("."))

    def _is_open(self, what: Item | Of | Number) -> bool:
        listed = isinstance(what, Item) or (isinstance(what, Number) and finite(what.weights.test) is None)
        return listed and self.releases.suppressed

    def _together(self, basic: Basic, one: Bounds, two: Bounds) -> Bounds:
        """An aggregate of a group over two alternatives of rows."""
        if basic.how not in (*COUNTED, "sum"):
            raise unsupported(f"the function {basic.how.upper()} over rows of several kinds")
        total = self.total([one, two])
        return total if basic.how in ("rows", "sum") else (max(one[0] or 0, two[0] or 0), total[1])

    def _divided_groups(self, scope: Scope, trees: Sequence[exp.Expr], kinds: Sequence[set[str]]) -> list[Group]:
        """The groups of the rows of a scope: the values of expressions, or what a release lists."""
        listed = self._listed_keys(trees)
        at = dict(listed)
        choices: list[list[tuple[Any, Any]]] = []
        for n, tree in enumerate(trees):
            if n in at:
                atom = at[n]
                null = [negate(atom.present)] if isinstance(atom, Number) and atom.present != ALWAYS else []
                choices.append([(None, met) for met in (None, *null)])
                of = self.attribute(atom).kind if isinstance(atom, Of) else TEXT
                kind = "BIGINT" if isinstance(atom, Number) else of
            else:
                choices.append(list(self.values(tree)))
                check_kind(kind := self.kinds.get(tree.unnest(), "VARCHAR"))
            kinds[n].add(kind)
        groups = []
        for cell in product(*choices):
            part = scope.restricted(*(met for _, met in cell if met is not None))
            if part.rows.where != NEVER:
                here = tuple((n, what) for n, what in listed if cell[n][1] is None)
                groups.append(Group(tuple(v for v, _ in cell), (part,), here))
            _check_number(groups)
        return groups

    def _listed_keys(self, trees: Sequence[exp.Expr]) -> Sequence[tuple[int, Item | Of | Number]]:
        """The keys whose values a release lists, with their places: one item or two, else a number, else an attribute."""
        atoms = [(n, self.atom(tree)) for n, tree in enumerate(trees)]
        items = [(n, atom) for n, atom in atoms if isinstance(atom, Item)]
        numbers = [(n, atom) for n, atom in atoms if isinstance(atom, Number) and _is_whole(atom)]
        attributes = [(n, atom) for n, atom in atoms if isinstance(atom, Of)]
        return (items if len(items) == 2 else items[:1]) or numbers[:1] or attributes[-1:]

    def _group_rows(self, group: Group, basics: Sequence[Basic], most: int | None) -> dict[Row, list[Bounds]]:
        """The rows of a group, or of the groups that a release lists."""
        if not group.listed:
            there = self.value_of(Basic("ids"), group.scopes)
            if there[1] == 0 and group.values:
                return {}
            return {group.values: _with_persons(basics, [self._read(basic, group.scopes) for basic in basics], there)}
        scopes, whats = group.scopes, list(dict.fromkeys(what for _, what in group.listed))
        alternatives = [scopes] if isinstance(whats[0], Item) else [[scope] for scope in scopes]
        persons: dict[Row, Bounds] = {}
        for one in alternatives:
            persons |= self._listing(whats, one, Basic("ids"), most)
        persons = persons if len(alternatives) == 1 else self._by_value(whats, scopes, Basic("ids"), persons)
        answers = [self._aggregate_by_value(whats, scopes, basic, persons) for basic in basics]
        rows: dict[Row, list[Bounds]] = {}
        for cells, there in persons.items():
            at, of = list(group.values), dict(zip(whats, cells, strict=True))
            for n, what in group.listed:
                at[n] = of[what]
            rows[tuple(at)] = _with_persons(basics, [answer.get(cells, NONE) for answer in answers], there)
        return rows

    def _each_row(self, basic: Basic, scope: Scope, whats: Sequence[Any]) -> bool:
        """Whether an aggregate counts each person of a group once, or those whom FILTER chooses."""
        items = {what.row for what in whats if isinstance(what, Item)}
        return basic.how == "ids" or (basic.how == "rows" and scope.rows.exact and scope.rows.rows <= items)

    def _adds_key(self, basic: Basic, scope: Scope, whats: Sequence[Any]) -> bool:
        """Whether an aggregate adds up the number by which persons are grouped: of their rows, or of each person once."""
        what, rows = whats[0] if len(whats) == 1 else None, scope.rows
        if not isinstance(what, Number) or what.weights.kind != SUM or what.values or basic.wanted is not None:
            return False
        if what.weights.scale != 1:
            return False
        if basic.how == "sum" and basic.value is not None and not rows.rows:
            return self.atom(self.resolved(basic.value, scope)) == what
        if basic.how != "rows" or not rows.exact or len(rows.rows) != 1 or what.weights.by_label is not None:
            return False
        return [cell.test for cell in self.cells(rows)] == [what.weights.test]

    def _aggregate_by_value(
        self, whats: Sequence[Any], scopes: Sequence[Scope], basic: Basic, persons: Mapping[Row, Bounds]
    ) -> Mapping[Row, Bounds]:
        """An aggregate for each listed value; those of numbers, and of rows of several kinds, are asked one by one."""
        alone, what = len(scopes) == 1, whats[0]
        each = alone and self._each_row(basic, scopes[0], whats)
        if each and basic.wanted is None:
            return persons
        if alone and self._adds_key(basic, scopes[0], whats):
            return {
                (n,): (None if low is None else n * low, None if high is None else n * high)
                for (n,), (low, high) in persons.items()
            }
        listed = basic.how == "ids" or (
            basic.how == "rows" and (each if len(whats) == 2 else all(self.is_listed(what, basic, of) for of in scopes))
        )
        if listed and (alone or isinstance(what, Item)):
            numbers = self._listing(whats, scopes, basic, None)
            parts = self.releases.suppressed and basic.wanted is not None and len(self.releases.parts()) > 1
            return numbers if not parts else {key: numbers.get(key, (0, None)) for key in persons}
        return self._by_value(whats, scopes, basic, persons)

    def _by_value(
        self, whats: Sequence[Any], scopes: Sequence[Scope], basic: Basic, keys: Mapping[Row, Bounds]
    ) -> dict[Row, Bounds]:
        """An aggregate of the rows of each listed value."""
        _check_number(keys)
        return {key: self._read(basic, [self._at(whats, key, scope) for scope in scopes]) for key in keys}

    def _at(self, whats: Sequence[Any], key: Row, scope: Scope) -> Scope:
        """The rows of a listed value."""
        for what, value in zip(whats, key, strict=True):
            if isinstance(what, Item):
                scope = scope.restricted(on_item(what.row, Labels(frozenset({value}))))
            elif isinstance(what, Of):
                scope = scope.restricted(self.among(what, [value]))
            else:
                ends = self.number_from(what, value), negate(self.number_from(what, value + 1))
                scope = scope.restricted(what.present, *ends)
        return scope

    def _listing(self, whats: Sequence[Any], scopes: Sequence[Scope], basic: Basic, most: int | None) -> dict[Row, Bounds]:
        """The number of rows or persons for each value that a release lists, of alternatives for one item alone."""
        rows, *others = [scope.rows for scope in self.wanted(basic, scopes)]
        ids = basic.how == "ids"
        if len(whats) == 2:
            plans = self.pair_plans(rows, [what.row for what in whats], ids=ids)
            return self.by_key([replace(plan, most=most) for plan in plans])
        (what,) = whats
        if isinstance(what, Item):
            return self.by_item([rows, *others], what.row, ids=ids)
        if isinstance(what, Of):
            return self._by_attribute(rows, what, ids=ids)
        if ids or not rows.rows:
            if not ids:
                self.check_exact(rows)
            return self.persons_by_number(both(self.closed(rows), what.present), what)
        raise unsupported("a number of rows for each number of items")

    def _by_attribute(self, rows: PersonRows, what: Of, *, ids: bool) -> dict[Row, Bounds]:
        """The number of rows or persons for each value of an attribute."""
        if any(isinstance(leaf, OnSum) for leaf in leaves(rows.where)):  # of each value alone
            every = self._by_attribute(replace(rows, where=ALWAYS, rows=frozenset(), compared=frozenset()), what, ids=True)
            _check_number(every)
            parts = {key: rows.restricted(self.among(what, [key[0]])) for key in every}
            return {key: self.persons(self.closed(one)) if ids else self.rows_in(one) for key, one in parts.items()}
        if ids:
            plans = [Plan(IDS, self.closed(rows))]
        else:
            plans = []
            for cell in self.cells(rows):
                if cell.second is not None:
                    raise unsupported("a number of pairs of items by an attribute")
                plans.append(Plan(IDS, cell.person) if cell.test is None else Plan(ROWS, cell.person, cell.test))
        return self.by_key([replace(plan, grouped=self.attribute(what), notes=(VALUES_NOTE,)) for plan in plans])


def _with_persons(basics: Sequence[Basic], answers: Sequence[Bounds], persons: Bounds) -> list[Bounds]:
    """The aggregates of a group, and its persons, each of whom has a row."""
    least = persons[0], None
    rows = (both_of(a, least) if b.how == "rows" and b.wanted is None else a for b, a in zip(basics, answers, strict=True))
    return [*rows, persons]


def _is_whole(number: Number) -> bool:
    """Whether a number is one of items, or of their different values."""
    weights = number.weights
    counts = weights.kind == VALUES or (weights.kind == SUM and weights.by_label is None)
    return counts and not number.values and not number.type


def _check_number(groups: Sized) -> None:
    if len(groups) > MAX_GROUPS:
        raise too_complex(f"it has over {MAX_GROUPS} groups")


def _column(number: int, basics: Sequence[Basic], keys: int, *, maybe: bool, unsigned: bool) -> Column:
    """The column of an aggregate: a count with FILTER is a part of that without, of which a group has one at least."""
    basic = basics[number]
    floor = 0 if unsigned or basic.how in SPREADS.values() else None
    if basic.terms:
        return Column(f"#{number}", bounded=True, present=True, least=floor, whole=True)
    if basic.how not in COUNTED:
        return Column(f"#{number}", bounded=True, present=basic.present, least=floor, whole=basic.whole, maybe=maybe)
    same = [n for n, b in enumerate(basics) if b.key == replace(basic, wanted=None).key and n != number]
    wholes = same + [n for n, b in enumerate(basics) if b.how == "rows" and b.wanted is None and n != number]
    least = int(keys > 0 and basic.how != "distinct" and basic.wanted is None)
    part = (keys + wholes[0], 1.0) if wholes else None
    return Column(f"#{number}", bounded=True, present=True, least=least, whole=True, part=part)
