"""What the columns of a query are: keys by which rows of several worlds match, computed numbers, and ids of persons.

A query is read from its text and the columns of the tables that it names. Ids of modelled persons must not be compared with
anything but ids of the original's tables: the number of a real person would find a modelled row. ``RoleReader.misused`` says
which construct of a query does so, or uses an id in another way than to count, to group and to match persons.

A value is a key, an id of a person, or computed of several rows."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from sqlglot import exp

from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.ranged.clauses import conditions_of, places_of
from anondb.answers.ranged.equivalents import link, terms_of_order
from anondb.answers.ranged.relation import fresh
from anondb.answers.role import AGGREGATE, Role, of_others
from anondb.query.parsing import bare, lowered, operands
from anondb.query.refusals import name_of


@dataclass(frozen=True)
class Relation:
    """The columns of a relation.

    Attributes:
        columns: their names in lower case, and their roles.
        of_persons: whether its rows belong to single persons.
        sure: how many of the first columns have their places for certain; None for all. Behind them, one may be several in
            DuckDB, such as the fields of a structure.
        single: whether it has one row, whatever the tables are.
    """

    columns: tuple[tuple[str, Role], ...]
    of_persons: bool = False
    sure: int | None = None
    single: bool = False

    @property
    def has_ids(self) -> bool:
        """Whether one of its columns has ids of persons."""
        return any(role is Role.ID for _, role in self.columns)

    @property
    def has_moved_ids(self) -> bool:
        """Whether an id may be in another place than among ``columns``."""
        return self.sure is not None and any(role is Role.ID for _, role in self.columns[self.sure :])

    def renamed(self, names: Sequence[str]) -> Relation:
        """The relation with other names for its first columns; each that may be that of an id is."""
        named = [lowered(name) for name in names]
        roles, known = [role for _, role in self.columns], len(named)
        if self.has_moved_ids and named:
            known = min(known, self.sure or 0)
            roles = [*roles[:known], *[Role.ID] * (len(named) - known)]
        return replace(self, columns=(*zip(named, roles, strict=False), *self.columns[known:]))

    def beside_others(self) -> Relation:
        """The relation as one of several sources: what is unknown of one is not what is unknown of another, and its single
        row is there where a row of another one is not."""
        place = fresh("source")

        def own(name: str, role: Role) -> Role:
            if self.single and role.computed:
                return of_others(exp.column(name, place))
            return role.of_source(place)

        return replace(self, columns=tuple((name, own(name, role)) for name, role in self.columns))

    def under(self, name: str) -> Role | None:
        """The role of a column by a name that DuckDB gives it: ``x_1`` of a second ``x``, or the text of an expression."""
        alike = [role for n, role in self.columns if not n or re.fullmatch(rf"{re.escape(n)}(_\d+)+", name)]
        return Role.ID if Role.ID in alike else None


Env = Mapping[str, Relation]
Person = tuple[int, int]


@dataclass
class Scope:
    """The sources of a SELECT, by their aliases; the SELECT around it; and the roles of what it selects.

    ``persons`` says for each source of persons, by its number, which sources have the same person in each row; ``named``
    whether names of what is selected may come before those of columns, as in HAVING; ``tested`` has the numbers of the
    sources of SEMI JOIN and ANTI JOIN, which have no columns in the rows; ``merged`` the names that a source shares with
    those before it (USING), by its number: rows have these once.
    """

    sources: list[tuple[str, Relation]] = field(default_factory=list)
    outer: Scope | None = None
    aliases: dict[str, Role] = field(default_factory=dict)
    persons: dict[int, Person] = field(default_factory=dict)
    named: bool = False
    tested: set[int] = field(default_factory=set)
    merged: dict[int, set[str]] = field(default_factory=dict)

    @property
    def shown(self) -> list[tuple[str, Relation]]:
        """The sources whose columns the rows have."""
        return [source for n, source in enumerate(self.sources) if n not in self.tested]

    def every(self, without: Collection[tuple[str, str]] = ()) -> Relation:
        """The columns of all sources as one relation, without some, by the aliases of their sources and their names."""
        columns: list[tuple[str, Role]] = []
        sure: int | None = None
        out = {pair for pair in without if not any(pair[1] in names for names in self.merged.values())}
        for n, (alias, relation) in enumerate(self.sources):
            if n not in self.tested:
                sure = len(columns) + relation.sure if sure is None and relation.sure is not None else sure
                here = (c for c in relation.columns if c[0] not in self.merged.get(n, ()))
                columns += [c for c in here if (alias, c[0]) not in out]
        return Relation(tuple(columns), any(relation.of_persons for _, relation in self.sources), sure)

    def owners(self, column: exp.Column) -> list[int]:
        """The numbers of the sources that have a column."""
        name, table = lowered(column.name), lowered(column.table)
        return [
            n
            for n, (alias, relation) in enumerate(self.sources)
            if table in ("", alias) and any(other == name for other, _ in relation.columns)
        ]

    def around(self) -> Iterator[Scope]:
        """This scope, and those around it."""
        yield self
        if self.outer is not None:
            yield from self.outer.around()

    def role(self, column: exp.Column) -> Role | None:
        """The role of a column; None if there is no such column."""
        name, table = lowered(column.name), lowered(column.table)
        if self.named and not table and self.aliases.get(name) is Role.ID:
            return Role.ID
        for alias, relation in self.sources:
            if table in ("", alias):
                for other, role in relation.columns:
                    if other == name:
                        return role
        if not table and name in self.aliases:
            return self.aliases[name]
        return None if self.outer is None else self.outer.role(column)


class AnalystTables(Protocol):
    """The analyst's tables, and DuckDB's functions."""

    def rows(self, tree: exp.Query) -> Sequence[tuple[Any, ...]]:
        """The rows of a query over the analyst's tables, or over none."""

    def is_aggregate(self, name: str) -> bool:
        """Whether a function computes one value from several rows."""

    def varies(self, tree: exp.Expr) -> bool:
        """Whether a query may have other rows each time, whatever the tables are."""


def parts_of(part: object) -> list[exp.Expr]:
    """The expressions of a part of a tree, which may be one, a list or none."""
    if isinstance(part, exp.Expr):
        return [part]
    return [node for node in part if isinstance(node, exp.Expr)] if isinstance(part, list) else []


SUMMARY = (
    *("column_name", "column_type", "min", "max", "approx_unique", "avg", "std", "q25", "q50", "q75", "count"),
    "null_percentage",
)
"""The columns of SUMMARIZE."""
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)

_WHOLE = (exp.Distinct, exp.Group, exp.Ordered, exp.Window, exp.Count)  # what distinguishes tuples, and reads no part
_KEPT = (exp.Alias, exp.Paren, exp.Distinct, exp.Ordered, exp.Any, exp.All)  # what has the role of its operand


class ValueRoles(ABC):
    """Reads the roles of expressions; ``role_reader.RoleReader`` reads the queries within them.

    Attributes:
        functions: DuckDB's.
        ids: the names of the id columns, in lower case.
        roles: those of the expressions of the last query, by their identity.
    """

    functions: AnalystTables
    ids: set[str]
    chosen: set[int]
    roles: dict[int, Role]

    @abstractmethod
    def query(self, node: exp.Expr, env: Env, outer: Scope | None) -> Relation:
        """The columns of a query within an expression."""

    @abstractmethod
    def misuse(self, construct: str) -> None:
        """Note that a construct uses an id in a way that is not allowed."""

    def has_aggregate(self, node: exp.Expr) -> bool:
        """Whether an expression of a SELECT has an aggregate of this SELECT that is not a window function."""
        return has_aggregate(node, self.functions.is_aggregate)

    def value(self, node: exp.Expr, scope: Scope, env: Env) -> Role:
        """The role of an expression."""
        role = self.roles[id(node)] = self._role(node, scope, env)
        return role

    def _role(self, node: exp.Expr, scope: Scope, env: Env) -> Role:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return self._column(node, scope)
        if isinstance(node, exp.Identifier) and node.find_ancestor(exp.Dot) is not None:
            return self._column(exp.column(node.copy()), scope)
        if isinstance(node, exp.Connector):
            roles = [self.value(part, scope, env) for part in operands(node)]
            if Role.ID in roles:
                self.misuse("a condition on an id")
            return _together(roles)
        if isinstance(node, exp.Star | exp.Column | exp.Columns | exp.PositionalColumn):
            return self._every(node, scope)
        if isinstance(node, _KEPT) and not (isinstance(node, exp.Distinct) and len(node.expressions) != 1):
            return self.value(node.expressions[0] if isinstance(node, exp.Distinct) else node.this, scope, env)
        if isinstance(node, exp.Query):
            columns = self.query(node, env, scope).columns
            role = columns[0][1] if columns else Role.KEY
            return of_others(node) if role.computed and scope.sources and not _is_of_row(node) else role
        if isinstance(node, exp.Dot):
            return self._dot(node, scope, env)
        if isinstance(node, exp.In):
            return self._in(node, scope, env)
        if isinstance(node, exp.Exists):
            relation = self.query(node.this, env, scope)
            chosen = id(node.this.unnest()) in self.chosen and not relation.of_persons
            return Role.VALUE if chosen else Role.KEY
        if isinstance(node, exp.Window):
            return self._window(node, scope, env)
        if isinstance(node, exp.Case | exp.If):
            return self._case(node, scope, env)
        if isinstance(node, _COMPARED) and isinstance(node.this, exp.Tuple) and isinstance(node.expression, exp.Tuple):
            return self._compared(
                node.this, node.expression, scope, env, "a comparison of an id with a value that is not an id"
            )
        parts = [self.value(part, scope, env) for part in node.iter_expressions() if not isinstance(part, exp.DataType)]
        if isinstance(node, exp.Count | exp.ApproxDistinct):
            return Role.TOTAL
        if isinstance(node, exp.Grouping | exp.Typeof):
            return Role.KEY
        if Role.ID in parts:
            return self._role_with_ids(node, parts)
        if isinstance(node, exp.Sum | exp.CountIf):
            return of_others(node) if _is_of_other_rows(node, scope) else Role.TOTAL
        if isinstance(node, exp.Filter):
            return parts[0]
        if isinstance(node, exp.AggFunc) or (isinstance(node, exp.Anonymous) and self.functions.is_aggregate(node.name)):
            return of_others(node, AGGREGATE)
        return _together(parts)

    def _column(self, node: exp.Column, scope: Scope) -> Role:
        role = scope.role(node)
        if role is None:
            sources = [source for here in scope.around() for source in here.sources]
            given = [of.under(lowered(node.name)) for alias, of in sources if lowered(node.table) in ("", alias)]
            if Role.ID in given:
                return Role.ID
            before = {lowered(part.name) for part in node.parts[:-1]}
            if any(here.aliases.get(name) is Role.ID for name in before for here in scope.around()):
                self.misuse("a field of a row with an id")
            different = isinstance(node.parent, exp.Distinct) and isinstance(node.parent.parent, exp.Count)
            if any(alias == lowered(node.name) and relation.has_ids for alias, relation in sources) and not different:
                self.misuse("a whole row of a person")
            elif lowered(node.name) in self.ids:
                self.misuse(f"the column {node.name!r}")
            return Role.KEY
        return role

    def _dot(self, node: exp.Dot, scope: Scope, env: Env) -> Role:
        """The role of functions that are written behind their first operand, whose columns sqlglot reads as names alone."""
        parts = list(node.flatten())
        names = list(itertools.takewhile(lambda part: isinstance(part, exp.Identifier), parts))
        table = names[-2].name if len(names) > 1 else None
        of = [exp.column(names[-1].name, table)] if names else []
        roles = [self.value(part, scope, env) for part in (*of, *parts[len(names) :])]
        if len(roles) == 1:
            return roles[0]
        if Role.ID in roles:
            self.misuse("a function of an id")
        return _together(roles)

    def _every(self, node: exp.Expr, scope: Scope) -> Role:
        """The role of all columns as operands of an expression: of none in count(*)."""
        roles = {role for _, relation in scope.sources for _, role in relation.columns}
        if Role.ID in roles and not isinstance(node.parent, exp.Count):
            self.misuse("a function of all columns")
        return _together(roles)

    def _compared(self, one: exp.Expr, two: exp.Expr, scope: Scope, env: Env, construct: str) -> Role:
        """The role of whether two values are equal; tuples are compared part by part."""
        one, two = bare(one), bare(two)
        if isinstance(one, exp.Tuple) and isinstance(two, exp.Tuple):
            pairs = zip(one.expressions, two.expressions, strict=False)
            roles = [self._compared(*pair, scope, env, construct) for pair in pairs]
        else:
            roles = [self.value(side, scope, env) for side in (one, two)]
            if (roles[0] is Role.ID) != (roles[1] is Role.ID):
                self.misuse(construct)
        return _together(roles)

    def _in(self, node: exp.In, scope: Scope, env: Env) -> Role:
        query = node.args.get("query")
        if query is None:
            others = [*node.expressions, *(node.args[key] for key in ("field", "unnest") if node.args.get(key))]
            roles = [self._compared(node.this, other, scope, env, "IN with an id") for other in others]
            return _together(roles)
        left = [self.value(part, scope, env) for part in _members(node.this)]
        right = [role for _, role in self.query(query, env, scope).columns]
        whole = len(left) != len(right) and Role.ID in (*left, *right)  # a tuple is compared with a struct
        if whole or any((a is Role.ID) != (b is Role.ID) for a, b in zip(left, right, strict=False)):
            self.misuse("IN with an id")
        counted = query.find(exp.Having, exp.Qualify, exp.Limit) is not None
        chosen = counted and Role.ID not in left  # conditions on a person's rows choose no groups
        return Role.VALUE if chosen or any(role.computed for role in left) else Role.KEY

    def _window(self, node: exp.Window, scope: Scope, env: Env) -> Role:
        role = self.value(node.this, scope, env)
        by = [self.value(part, scope, env) for part in node.args.get("partition_by") or ()]
        spec, select = node.args.get("spec"), node.parent_select
        ordered = [self.value(part, scope, env) for part in terms_of_order(node)]
        for base in parts_of(select.args.get("windows")) if select is not None and node.args.get("alias") else ():
            ordered += [self.value(part.this, scope, env) for part in base.find_all(exp.Ordered)]
        ends = [end for key in ("start", "end") for end in parts_of(spec.args.get(key))] if spec is not None else []
        by_id = bool(ends) and Role.ID in ordered and spec is not None and spec.args.get("kind") == "RANGE"
        if by_id or Role.ID in [self.value(end, scope, env) for end in ends]:
            self.misuse("a window of ids within a distance")
        if Role.ID in by:  # over the rows of one person
            return Role.KEY
        rows = isinstance(node.this, exp.Count) and not node.this.find(exp.Window) and not ordered  # those of its row
        own = rows and not any(self.has_aggregate(part) for part in node.this.iter_expressions())
        return role if role.computed and own else of_others(node)

    def _case(self, node: exp.Case | exp.If, scope: Scope, env: Env) -> Role:
        """CASE: ids, if all results are ids or NULL."""
        if isinstance(node, exp.If):
            tests, results = [node.this], [node.args.get("true"), node.args.get("false")]
        else:
            tests = [node.this, *(branch.this for branch in node.args["ifs"])]
            results = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")]
        tested = [self.value(part, scope, env) for part in tests if part is not None]
        if Role.ID in tested:
            self.misuse(name_of(node))
        listed = [self.value(part, scope, env) for part in results if part is not None and not isinstance(part, exp.Null)]
        if Role.ID in listed:
            if set(listed) != {Role.ID}:
                self.misuse(f"{name_of(node)} of an id and a value that is not an id")
            return Role.ID
        return _together([*tested, *listed])

    def _role_with_ids(self, node: exp.Expr, parts: Sequence[Role]) -> Role:
        """The role of an expression with ids among its operands."""
        if isinstance(node, exp.Coalesce) and set(parts) == {Role.ID}:
            return Role.ID
        if isinstance(node, exp.Tuple) and (set(parts) == {Role.ID} or isinstance(node.parent, _WHOLE)):
            return Role.ID
        null = isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)
        if not null and not (isinstance(node, _COMPARED) and set(parts) == {Role.ID}):
            self.misuse(f"{name_of(node).removesuffix(' in this place')} of an id")
        return Role.KEY


def _is_of_other_rows(node: exp.Expr, scope: Scope) -> bool:
    """Whether a sum adds up rows of counts other than those that make its group, to which they are joined."""
    listed = [relation for _, relation in scope.sources if any(role.computed for _, role in relation.columns)]
    group = node.parent_select.args.get("group") if node.parent_select is not None else None
    own = {lowered(column.table) for column in node.find_all(exp.Column)}
    keys = set() if group is None else {lowered(column.table) for column in group.find_all(exp.Column)}
    return len(listed) > 1 and bool(keys) and "" not in own | keys and own.isdisjoint(keys)


def _is_of_row(node: exp.Query) -> bool:
    """Whether a subquery counts rows that equal the row around it in a column: none where this row is not."""
    query = node.unnest()
    names = {lowered(place.this.alias_or_name) for place in places_of(query)}
    return any(link(part, names) for part in conditions_of(query))


def _together(roles: Iterable[Role]) -> Role:
    """The role of what is computed from values with these roles."""
    return Role.VALUE if any(role.computed for role in roles) else Role.KEY


def _members(node: exp.Expr) -> list[exp.Expr]:
    return node.expressions if isinstance(node, exp.Tuple) else [node]
