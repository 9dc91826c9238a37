"""What the columns of a query are: keys by which rows of several worlds match, computed numbers, and ids of persons.

A query is read from its text and the columns of the tables that it names. Ids of modelled persons must not be compared with
anything but ids of the original's tables: the number of a real person would find a modelled row. ``RoleReader.misused`` says
which construct of a query does so, or uses an id in another way than to count, to group and to match persons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from sqlglot import exp

from anondb.query.parsing import lowered
from anondb.query.refusals import name_of


class Role(Enum):
    """What the values of a column are.

    Attributes:
        KEY: values that no aggregate computes, by which rows match.
        ID: ids of persons.
        TOTAL: counts and sums, which are 0 where there is no row.
        VALUE: what else is computed from several rows.
    """

    KEY = "key"
    ID = "id"
    TOTAL = "total"
    VALUE = "value"

    @property
    def computed(self) -> bool:
        """Whether it is computed from several rows."""
        return self in (Role.TOTAL, Role.VALUE)


@dataclass(frozen=True)
class Relation:
    """The columns of a relation.

    Attributes:
        columns: their names in lower case, and their roles.
        of_persons: whether its rows belong to single persons.
    """

    columns: tuple[tuple[str, Role], ...]
    of_persons: bool = False

    def renamed(self, names: Sequence[str]) -> Relation:
        """The relation with other names for its first columns."""
        named = [lowered(name) for name in names]
        rest = self.columns[len(named) :]
        firsts = zip(named, (role for _, role in self.columns), strict=False)
        return Relation((*firsts, *rest), self.of_persons)


Env = Mapping[str, Relation]

_LINEAR = (exp.Add, exp.Sub, exp.Neg, exp.Paren, exp.Cast, exp.TryCast, exp.Round, exp.Coalesce, exp.Alias)
_SCALED = (exp.Mul, exp.Div)
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
SETS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)
"""What stands for several sets of grouped expressions."""
_SERIES = (exp.Unnest, exp.GenerateSeries, exp.ExplodingGenerateSeries)
_KEPT = (exp.Alias, exp.Paren, exp.Distinct, exp.Ordered)  # what has the role of its operand


@dataclass
class _Scope:
    """The sources of a SELECT, by their aliases; the SELECT around it; and the roles of what it selects."""

    sources: list[tuple[str, Relation]] = field(default_factory=list)
    outer: _Scope | None = None
    aliases: dict[str, Role] = field(default_factory=dict)

    def role(self, column: exp.Column) -> Role | None:
        """The role of a column; None if there is no such column."""
        name, table = lowered(column.name), lowered(column.table)
        for alias, relation in self.sources:
            if table in ("", alias):
                for other, role in relation.columns:
                    if other == name:
                        return role
        if not table and name in self.aliases:
            return self.aliases[name]
        return None if self.outer is None else self.outer.role(column)


class Functions(Protocol):
    """What is known of DuckDB's functions."""

    def is_aggregate(self, name: str) -> bool:
        """Whether a function computes one value from several rows."""
        ...

    def varies(self, tree: exp.Expr) -> bool:
        """Whether a query may have other rows each time, whatever the tables are."""
        ...


class RoleReader:
    """Reads the roles of the columns of queries.

    Args:
        persons: for each of the original's tables, by its name in lower case, its columns and whether one is the id.
        own: the columns of the other tables.
        functions: DuckDB's.

    Attributes:
        misused: the first construct that uses an id in a way that is not allowed, or reads something else than the tables.
        reads_persons: whether a table of the original was named.
        chosen: the SELECTs of the last query whose WHERE reads computed numbers, by their identity.
        keys: for each SELECT of the last query, by its identity, the keys of its sources with computed columns.
    """

    def __init__(
        self,
        persons: Mapping[str, Mapping[str, bool]],
        own: Mapping[str, Iterable[str]],
        functions: Functions,
    ) -> None:
        self._persons, self._own, self.functions = persons, own, functions
        self._ids = {lowered(name) for of in persons.values() for name, is_id in of.items() if is_id}
        self.misused: str | None = None
        self.reads_persons = False
        self.chosen: set[int] = set()
        self.keys: dict[int, list[exp.Column]] = {}

    def relation(self, tree: exp.Expr) -> Relation:
        """The columns of a query."""
        self.chosen.clear()
        self.keys.clear()
        return self._query(tree, {}, None)

    # ---------------------------------------------------------------- queries

    def _misuse(self, construct: str) -> None:
        self.misused = self.misused or construct

    def _query(self, node: exp.Expr, env: Env, outer: _Scope | None) -> Relation:
        env = self._with(node, env, outer)
        if isinstance(node, exp.Subquery | exp.Paren):
            return _aliased(self._query(node.this, env, outer), node)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, env, outer)
        if isinstance(node, exp.Select):
            return self._select(node, env, outer)
        if isinstance(node, exp.Values):
            return self._values(node)
        if isinstance(node, exp.Table):
            return self._table(node, env)
        self._misuse(name_of(node))
        return Relation(())

    def _with(self, node: exp.Expr, env: Env, outer: _Scope | None) -> Env:
        clause = node.args.get("with_")
        if clause is None:
            return env
        seen = dict(env)
        for cte in clause.expressions:
            if clause.recursive and isinstance(cte.this, exp.SetOperation):
                seen[lowered(cte.alias)] = _aliased(self._query(cte.this.this, seen, outer), cte)
            seen[lowered(cte.alias)] = _aliased(self._query(cte.this, seen, outer), cte)
        return seen

    def _set_operation(self, node: exp.SetOperation, env: Env, outer: _Scope | None) -> Relation:
        sides = [self._query(node.args[key], env, outer) for key in ("this", "expression")]
        columns = []
        for (name, one), (_, two) in zip(*(side.columns for side in sides), strict=False):
            if (one is Role.ID) != (two is Role.ID):
                self._misuse(f"{name_of(node)} of an id and something else")
            columns.append((name, one if one is two else _either(one, two)))
        repeated = isinstance(node, exp.Union) and not node.args.get("distinct")
        of_persons = any(side.of_persons for side in sides)
        return Relation(tuple(columns), of_persons and (repeated or any(role is Role.ID for _, role in columns)))

    def _values(self, node: exp.Values) -> Relation:
        width = max((len(row.expressions) for row in node.expressions), default=0)
        return _aliased(Relation(tuple((f"col{n}", Role.KEY) for n in range(width))), node)

    def _table(self, node: exp.Table, env: Env) -> Relation:
        if not isinstance(node.this, exp.Identifier):
            if not isinstance(node.this, _SERIES):
                self._misuse(name_of(node.this))
            for part in node.this.iter_expressions():
                self._value(part, _Scope(), env)
            return _aliased(Relation(((lowered(node.alias) or "unnest", Role.KEY),)), node)
        dotted = lowered(".".join(part.name for part in node.parts))
        if not node.db and dotted in env:
            found = env[dotted]
        elif dotted in self._persons:
            self.reads_persons = True
            listed = self._persons[dotted].items()
            found = Relation(tuple((lowered(n), Role.ID if is_id else Role.KEY) for n, is_id in listed), True)
        elif dotted in self._own:
            found = Relation(tuple((lowered(name), Role.KEY) for name in self._own[dotted]))
        else:
            self._misuse(f"the table {node.name!r}")
            found = Relation(())
        if node.args.get("pivots") and any(role is Role.ID for _, role in found.columns):
            self._misuse("PIVOT of rows with ids")
        return _aliased(found, node)

    # ---------------------------------------------------------------- one SELECT

    def _select(self, node: exp.Select, env: Env, outer: _Scope | None) -> Relation:
        scope = _Scope(outer=outer)
        clause = node.args.get("from_")
        joins = node.args.get("joins") or []
        for source in [*([clause.this] if clause else []), *joins, *(node.args.get("laterals") or [])]:
            self._source(source, scope, env)
        self.keys[id(node)] = _keys(scope)
        grouped = self.grouped(node)
        aggregated = grouped is not None or any(self.has_aggregate(e) for e in node.expressions)
        aggregated = aggregated or node.args.get("having") is not None
        distinct = node.args.get("distinct") is not None and not aggregated
        columns: list[tuple[str, Role]] = []
        for selected in node.expressions:
            inner = selected.this if isinstance(selected, exp.Alias) else selected
            if _is_star(inner):
                columns += self._star(inner, scope)
                continue
            role = self._value(inner, scope, env)
            key = grouped is not None and (inner in grouped or (grouped == [] and not self.has_aggregate(inner)))
            name = lowered(selected.alias_or_name)
            key = key or (
                grouped is not None
                and any(isinstance(g, exp.Column) and not g.table and lowered(g.name) == name for g in grouped)
            )
            if (key or distinct) and role.computed:
                role = Role.KEY
            columns.append((name, role))
            scope.aliases[name] = role
        for name in ("where", "having", "qualify", "group", "order", "distinct", "windows", "sample"):
            part = node.args.get(name)
            for one in part if isinstance(part, list) else [part]:
                if isinstance(one, exp.Expr) and not (name == "distinct" and not one.args.get("on")):
                    self._clause(one, scope, env)
        rows = any(relation.of_persons for _, relation in scope.sources)
        if grouped is not None:
            of_persons = rows and any(
                self._value(g, scope, env) is Role.ID for g in grouped if isinstance(g, exp.Column)
            )
            of_persons = of_persons or (rows and any(role is Role.ID for _, role in columns))
        elif aggregated:
            of_persons = False
        else:
            of_persons = rows and (not distinct or any(role is Role.ID for _, role in columns))
        return Relation(tuple(columns), of_persons)

    def _clause(self, node: exp.Expr, scope: _Scope, env: Env) -> None:
        """Read the expressions of a clause, each by itself."""
        for part in node.iter_expressions():
            role = self._value(part, scope, env)
            if role.computed and isinstance(node, exp.Where):
                self.chosen.add(id(node.parent))
            if role is Role.ID and not isinstance(node, exp.Group | exp.Order | exp.Distinct):
                self._misuse("a condition on an id")

    @staticmethod
    def grouped(node: exp.Select) -> list[exp.Expr] | None:
        """The grouped expressions, empty for ALL; None without GROUP BY."""
        group = node.args.get("group")
        if group is None:
            return None
        keys = [
            part for key in ("expressions", "grouping_sets", "cube", "rollup") for part in _listed(group.args.get(key))
        ]
        while any(isinstance(key, SETS) for key in keys):
            keys = [part for key in keys for part in (key.expressions if isinstance(key, SETS) else [key])]
        keys = [key.this if isinstance(key, exp.Paren) else key for key in keys]
        listed = []
        for key in keys:
            if isinstance(key, exp.Literal) and not key.is_string and 1 <= int(key.name) <= len(node.expressions):
                key = node.expressions[int(key.name) - 1].unalias()
            listed.append(key)
        return listed

    def _source(self, node: exp.Expr, scope: _Scope, env: Env) -> None:
        """Add a source of the FROM clause, and read the condition on which it is joined."""
        if isinstance(node, exp.Join):
            before = list(scope.sources)
            self._source(node.this, scope, env)
            added = scope.sources[len(before) :]
            shared = {lowered(name.name) for name in node.args.get("using") or ()}
            if node.method == "NATURAL":
                shared = {n for _, r in before for n, _ in r.columns} & {n for _, r in added for n, _ in r.columns}
            for name in shared:
                roles = [role for _, r in scope.sources for n, role in r.columns if n == name]
                if Role.ID in roles and set(roles) != {Role.ID}:
                    self._misuse("a join of an id with something else")
            if node.args.get("on") is not None:
                self._value(node.args["on"], scope, env)
            return
        if isinstance(node, exp.Lateral):
            relation = self._query(node.this, env, scope) if isinstance(node.this, exp.Query) else Relation(())
            if not isinstance(node.this, exp.Query):
                self._value(node.this, scope, env)
            scope.sources.append((lowered(node.alias), _aliased(relation, node)))
            return
        if isinstance(node, exp.Unnest):
            for part in node.expressions:
                if self._value(part, scope, env) is Role.ID:
                    self._misuse("unnest of ids")
            names = [c.name for c in node.args["alias"].columns] if node.args.get("alias") else []
            scope.sources.append(
                (lowered(node.alias), Relation(tuple((lowered(n), Role.KEY) for n in names or ["unnest"])))
            )
            return
        if isinstance(node, exp.Subquery | exp.Query | exp.Values):
            relation = self._query(node, env, scope.outer)
        elif isinstance(node, exp.Table):
            relation = self._table(node, env)
        else:
            self._misuse(name_of(node))
            relation = Relation(())
        scope.sources.append((lowered(node.alias_or_name), relation))
        for join in node.args.get("joins") or ():
            self._source(join, scope, env)

    def _star(self, node: exp.Expr, scope: _Scope) -> list[tuple[str, Role]]:
        """The columns of ``*`` or ``t.*``."""
        table = lowered(node.table) if isinstance(node, exp.Column) else ""
        star = node.this if isinstance(node, exp.Column) else node
        left_out = {lowered(e.name) for e in star.args.get("except_") or ()}
        for part in star.args.get("replace") or ():
            if any(c for c in part.find_all(exp.Column) if scope.role(c) is Role.ID):
                self._misuse("REPLACE of an id")
        listed: list[tuple[str, Role]] = []
        for alias, relation in scope.sources:
            if table in ("", alias):
                listed += [(name, role) for name, role in relation.columns if name not in left_out]
        return listed

    # ---------------------------------------------------------------- expressions

    def has_aggregate(self, node: exp.Expr) -> bool:
        """Whether an expression of a SELECT has an aggregate of this SELECT that is not a window function."""
        if isinstance(node, exp.Query):
            return False
        if isinstance(node, exp.Window):
            inner = [*node.this.iter_expressions()]
            inner += [part for key in ("partition_by", "order") for part in _listed(node.args.get(key))]
            return any(map(self.has_aggregate, inner))
        if isinstance(node, exp.AggFunc) or (
            isinstance(node, exp.Anonymous) and self.functions.is_aggregate(node.name)
        ):
            return True
        return any(map(self.has_aggregate, node.iter_expressions()))

    def _value(self, node: exp.Expr, scope: _Scope, env: Env) -> Role:
        """The role of an expression."""
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return self._column(node, scope)
        if isinstance(node, exp.Star | exp.Column | exp.Columns):
            return self._every(node, scope)
        if isinstance(node, _KEPT) and not (isinstance(node, exp.Distinct) and len(node.expressions) != 1):
            return self._value(node.expressions[0] if isinstance(node, exp.Distinct) else node.this, scope, env)
        if isinstance(node, exp.Query):
            columns = self._query(node, env, scope).columns
            return columns[0][1] if columns else Role.KEY
        if isinstance(node, exp.In):
            return self._in(node, scope, env)
        if isinstance(node, exp.Exists):
            self._query(node.this, env, scope)
            return Role.VALUE
        if isinstance(node, exp.Window):
            return self._window(node, scope, env)
        if isinstance(node, exp.Case | exp.If):
            return self._case(node, scope, env)
        if isinstance(node, _COMPARED) and isinstance(node.this, exp.Tuple) and isinstance(node.expression, exp.Tuple):
            pairs = zip(node.this.expressions, node.expression.expressions, strict=False)
            for a, b in pairs:
                self._value(exp.EQ(this=a.copy(), expression=b.copy()), scope, env)
            return Role.KEY
        parts = [
            self._value(part, scope, env) for part in node.iter_expressions() if not isinstance(part, exp.DataType)
        ]
        if isinstance(node, exp.Count):
            return Role.TOTAL
        if isinstance(node, exp.Grouping):
            return Role.KEY
        if Role.ID in parts:
            return self._of_ids(node, parts)
        if isinstance(node, exp.Sum | exp.CountIf):
            return Role.TOTAL
        if isinstance(node, exp.Filter):
            return parts[0]
        if isinstance(node, exp.AggFunc) or (
            isinstance(node, exp.Anonymous) and self.functions.is_aggregate(node.name)
        ):
            return Role.VALUE
        if not any(part.computed for part in parts):
            return Role.KEY
        linear = isinstance(node, _LINEAR) and Role.VALUE not in parts
        scaled = isinstance(node, _SCALED) and parts[:1] == [Role.TOTAL] and isinstance(node.expression, exp.Literal)
        return Role.TOTAL if linear or scaled else Role.VALUE

    def _column(self, node: exp.Column, scope: _Scope) -> Role:
        role = scope.role(node)
        if role is None:
            whole = any(lowered(node.name) == alias and relation.of_persons for alias, relation in scope.sources)
            if whole or lowered(node.name) in self._ids:
                self._misuse(f"the column {node.name!r}" if not whole else "a whole row of a person")
            return Role.KEY
        return role

    def _every(self, node: exp.Expr, scope: _Scope) -> Role:
        """The role of all columns as operands of an expression: of none in count(*)."""
        roles = {role for _, relation in scope.sources for _, role in relation.columns}
        if Role.ID in roles and not isinstance(node.parent, exp.Count):
            self._misuse("a function of all columns")
        return Role.VALUE if any(role.computed for role in roles) else Role.KEY

    def _in(self, node: exp.In, scope: _Scope, env: Env) -> Role:
        left = [self._value(part, scope, env) for part in _members(node.this)]
        query = node.args.get("query")
        if query is None:
            others = [self._value(part, scope, env) for part in node.expressions]
            if Role.ID in left and set(others) != {Role.ID}:
                self._misuse("IN with an id")
        else:
            right = [role for _, role in self._query(query, env, scope).columns]
            if any((a is Role.ID) != (b is Role.ID) for a, b in zip(left, right, strict=False)):
                self._misuse("IN with an id")
        return Role.VALUE if query is not None or any(role.computed for role in left) else Role.KEY

    def _window(self, node: exp.Window, scope: _Scope, env: Env) -> Role:
        role = self._value(node.this, scope, env)
        for part in node.args.get("partition_by") or ():
            self._value(part, scope, env)
        order = node.args.get("order")
        for part in order.expressions if order is not None else ():
            self._value(part, scope, env)
        return Role.TOTAL if role is Role.TOTAL else Role.VALUE

    def _case(self, node: exp.Case | exp.If, scope: _Scope, env: Env) -> Role:
        """CASE: ids, if all results are ids or NULL."""
        if isinstance(node, exp.If):
            tests, results = [node.this], [node.args.get("true"), node.args.get("false")]
        else:
            tests = [node.this, *(one.this for one in node.args["ifs"])]
            results = [*(one.args["true"] for one in node.args["ifs"]), node.args.get("default")]
        asked = [self._value(part, scope, env) for part in tests if part is not None]
        if Role.ID in asked:
            self._misuse(name_of(node))
        listed = [
            self._value(part, scope, env) for part in results if part is not None and not isinstance(part, exp.Null)
        ]
        if Role.ID in listed:
            if set(listed) != {Role.ID}:
                self._misuse(f"{name_of(node)} of an id and something else")
            return Role.ID
        return Role.VALUE if any(role.computed for role in (*asked, *listed)) else Role.KEY

    def _of_ids(self, node: exp.Expr, parts: Sequence[Role]) -> Role:
        """The role of an expression with ids among its operands."""
        if isinstance(node, exp.Coalesce) and set(parts) == {Role.ID}:
            return Role.ID
        if isinstance(node, exp.Tuple):
            return Role.ID
        null = isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)
        if not null and not (isinstance(node, _COMPARED) and set(parts) == {Role.ID}):
            self._misuse(f"{name_of(node)} of an id")
        return Role.KEY


def _keys(scope: _Scope) -> list[exp.Column]:
    """The keys of sources that have computed columns, too."""
    computed = [(a, r) for a, r in scope.sources if any(role.computed for _, role in r.columns)]
    listed = [(a, name) for a, r in computed for name, role in r.columns if role is Role.KEY]
    alone = len(scope.sources) == 1
    return [exp.column(exp.to_identifier(name, quoted=True), a or None) for a, name in listed if name and (a or alone)]


def _members(node: exp.Expr) -> list[exp.Expr]:
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def _either(one: Role, two: Role) -> Role:
    """The role of a column of a set operation whose sides have different ones."""
    return Role.VALUE if Role.VALUE in (one, two) else Role.TOTAL if Role.TOTAL in (one, two) else one


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def _aliased(relation: Relation, node: exp.Expr) -> Relation:
    """A relation under the alias of a source, which may rename its columns."""
    alias = node.args.get("alias")
    names = alias.columns if isinstance(alias, exp.TableAlias) else []
    return relation.renamed([name.name for name in names])


def _listed(part: object) -> list[exp.Expr]:
    if isinstance(part, exp.Expr):
        return [part]
    return [one for one in part if isinstance(one, exp.Expr)] if isinstance(part, list) else []
