"""Reads what the columns of a query are (``roles``), from its text and the columns of the tables that it names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from sqlglot import exp

from anondb.answers.linked import persons_of, unlinked
from anondb.answers.ranged.clauses import is_same_key, selected
from anondb.answers.role import Role, absent_row
from anondb.answers.roles import SUMMARY, AnalystTables, Env, Relation, Scope, ValueRoles, parts_of
from anondb.query.parsing import dotted, lowered
from anondb.query.refusals import name_of

SETS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)
"""What stands for several sets of grouped expressions."""
FIELDS = "fields"
"""Where an unnest that is selected has the names of its columns, which are none for a list (``several_columns``)."""
WITHOUT_IDS = "without_ids"
"""Notes on SUMMARIZE that what it computes of ids is not shown (``session.catalog``)."""
_SERIES = (exp.Unnest, exp.GenerateSeries, exp.ExplodingGenerateSeries)


class RoleReader(ValueRoles):
    """Reads the roles of the columns of queries.

    Args:
        persons: for each of the original's tables, by its name in lower case, its columns and whether one is the id.
        own: the columns of the other tables.
        functions: DuckDB's.

    Attributes:
        misused: the first construct that uses an id in a way that is not allowed, or reads anything but the tables.
        unread: a construct that relates different persons, which no rule of bounds may read.
        reads_persons: whether a table of the original was named.
        chosen: the SELECTs of the last query whose WHERE reads computed numbers, by their identity.
        qualified: those whose QUALIFY does.
        linked: those with a join ON computed numbers.
        by_person: the SELECTs of the last query that group by persons, by their identity.
        named: for each SELECT of the last query, by its identity, the names of sources' columns by which it groups.
        keys: for each SELECT of the last query, by its identity, the keys of its sources with computed columns.
        summarized: for each SUMMARIZE of the last query, by its identity, the names of columns with ids.
    """

    def __init__(
        self,
        persons: Mapping[str, Mapping[str, bool]],
        own: Mapping[str, Iterable[str]],
        functions: AnalystTables,
    ) -> None:
        self._persons, self._own, self.functions = persons, own, functions
        self.ids = {lowered(name) for of in persons.values() for name, is_id in of.items() if is_id}
        self.misused: str | None = None
        self.unread: str | None = None
        self.reads_persons = False
        self.chosen: set[int] = set()
        self.qualified: set[int] = set()
        self.linked: set[int] = set()
        self.by_person: set[int] = set()
        self.named: dict[int, set[str]] = {}
        self.keys: dict[int, list[exp.Column]] = {}
        self.summarized: dict[int, list[str]] = {}
        self.roles: dict[int, Role] = {}
        self._outermost: exp.Expr | None = None

    def relation(self, tree: exp.Expr) -> Relation:
        """The columns of a query."""
        for of_last in (self.chosen, self.qualified, self.linked, self.keys, self.by_person, self.named, self.roles):
            of_last.clear()
        self._outermost = tree
        tables = tree.find_all(exp.Table)
        self.reads_persons = self.reads_persons or any(dotted(table.parts) in self._persons for table in tables)
        relation = self.query(tree, {}, None)
        for node in (n for n in tree.find_all(exp.Summarize, exp.Pivot) if id(n) not in self.summarized):
            self.misuse(name_of(node))
        return relation

    # ---------------------------------------------------------------- queries

    def misuse(self, construct: str) -> None:
        """Note that a construct uses an id in a way that is not allowed."""
        self.misused = self.misused or construct

    def query(self, node: exp.Expr, env: Env, outer: Scope | None) -> Relation:
        """The columns of a query that sees common table expressions, and the scope around it."""
        env = self._with(node, env, outer)
        if isinstance(node, exp.Subquery | exp.Paren | exp.SetOperation):
            relation = self._combined(node, env, outer)
            for name in ("order", "limit", "offset"):
                if node.args.get(name) is not None:
                    self._clause(node.args[name], Scope([("", relation)], outer), env)
            return _aliased(relation, node)
        if isinstance(node, exp.Select):
            return self._select(node, env, outer)
        if isinstance(node, exp.Values):
            return self._values(node, env, outer)
        if isinstance(node, exp.Table):
            return self._table(node, env, outer)
        if isinstance(node, exp.Summarize):
            inner = self.query(node.this, env, outer)
            self.summarized[id(node)] = [name for name, role in inner.columns if role is Role.ID]
            if inner.has_moved_ids or (inner.has_ids and not node.meta.get(WITHOUT_IDS)):
                self.misuse("SUMMARIZE of ids")
            return Relation(tuple((name, Role.KEY) for name in SUMMARY), self.reads_persons)
        self.misuse(name_of(node))
        return Relation(())

    def _with(self, node: exp.Expr, env: Env, outer: Scope | None) -> Env:
        clause = node.args.get("with_")
        if clause is None:
            return env
        seen = dict(env)
        for cte in clause.expressions:
            if clause.recursive and isinstance(cte.this, exp.SetOperation):
                seen[lowered(cte.alias)] = _aliased(self.query(cte.this.this, seen, outer), cte)
            seen[lowered(cte.alias)] = _aliased(self.query(cte.this, seen, outer), cte)
        return seen

    def _combined(self, node: exp.Expr, env: Env, outer: Scope | None) -> Relation:
        """The columns of a set operation, or of what parentheses enclose, which may be a join."""
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, env, outer)
        if not _is_join(node.this):
            return self.query(node.this, env, outer)
        scope = Scope(outer=outer)
        self._source(node.this, scope, env)
        return scope.every()

    def _set_operation(self, node: exp.SetOperation, env: Env, outer: Scope | None) -> Relation:
        sides = [self.query(node.args[key], env, outer) for key in ("this", "expression")]
        if node.args.get("by_name"):
            sides = _by_name(*sides)
        elif any(s.has_ids for s in sides) and (
            len({len(s.columns) for s in sides}) > 1 or any(s.has_moved_ids for s in sides)
        ):
            self.misuse(f"{name_of(node)} of ids and columns that the query does not name")
        columns = []
        for (name, one), (_, two) in zip(*(side.columns for side in sides), strict=False):
            if (one is Role.ID) != (two is Role.ID):
                self.misuse(f"{name_of(node)} of an id and a value that is not an id")
            columns.append((name, one if one == two else _either(one, two)))
        repeated = isinstance(node, exp.Union) and not node.args.get("distinct")
        of_persons = any(side.of_persons for side in sides)
        return Relation(tuple(columns), of_persons and (repeated or any(role is Role.ID for _, role in columns)))

    def _values(self, node: exp.Values, env: Env, outer: Scope | None) -> Relation:
        """The columns of listed rows, which may name columns of the queries around them."""
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        columns = list[tuple[str, Role]]()
        for n, cells in enumerate(zip(*rows, strict=False)):
            roles = {self.value(cell, Scope(outer=outer), env) for cell in cells}
            if Role.ID in roles and len(roles) > 1:
                self.misuse("VALUES that mix ids with other values")
            columns.append((f"col{n}", Role.ID if Role.ID in roles else Role.KEY))
        return _aliased(Relation(tuple(columns)), node)

    def _table(self, node: exp.Table, env: Env, outer: Scope | None) -> Relation:
        if not isinstance(node.this, exp.Identifier):
            if not isinstance(node.this, _SERIES):
                self.misuse(name_of(node.this))
            for part in node.this.iter_expressions():
                if self.value(part, Scope(outer=outer), env) is Role.ID:
                    self.misuse(f"{name_of(node.this)} of ids")
            sure = 1 if node.args.get("ordinality") else None
            return _aliased(Relation(((lowered(node.alias) or "unnest", Role.KEY),), sure=sure), node)
        name = dotted(node.parts)
        if not node.db and name in env:
            relation = env[name]
        elif name in self._persons:
            listed = self._persons[name].items()
            relation = Relation(tuple((lowered(n), Role.ID if is_id else Role.KEY) for n, is_id in listed), True)
        elif name in self._own:
            relation = Relation(tuple((lowered(n), Role.KEY) for n in self._own[name]))
        else:
            self.misuse(f"the table {node.name!r}")
            relation = Relation(())
        return _aliased(relation, node)

    # ---------------------------------------------------------------- one SELECT

    def _select(self, node: exp.Select, env: Env, outer: Scope | None) -> Relation:
        scope = Scope(outer=outer)
        clause = node.args.get("from_")
        joins = node.args.get("joins") or []
        for source in [*([clause.this] if clause else []), *joins, *(node.args.get("laterals") or [])]:
            self._source(source, scope, env)
        if len(scope.sources) > 1:
            scope.sources = [(alias, relation.beside_others()) for alias, relation in scope.sources]
        self.keys[id(node)] = _keys(scope, {lowered(u.name) for join in joins for u in join.args.get("using") or ()})
        self.unread = self.unread or unlinked(node, scope)
        of_outer = any(person[0] != id(scope) for person in scope.persons.values())  # the person of a query around it
        grouped = self.grouped(node)
        self.named[id(node)] = {lowered(g.name) for g in grouped or () if isinstance(g, exp.Column) and scope.owners(g)}
        aggregated = grouped is not None or any(self.has_aggregate(e) for e in node.expressions)
        aggregated = aggregated or node.args.get("having") is not None
        rows = any(relation.of_persons for _, relation in scope.shown)
        by_id = rows and any(self.value(g, scope, env) is Role.ID for g in grouped or () if isinstance(g, exp.Column))
        distinct = node.args.get("distinct") is not None and not aggregated
        columns: list[tuple[str, Role]] = []
        sure: int | None = None
        keys = self._shown_keys(node, grouped or ()) if node is self._outermost else {}
        for each in node.expressions:
            inner = each.unalias()
            if _is_star(inner):
                star = self._star(inner, scope, env)
                sure = len(columns) + star.sure if sure is None and star.sure is not None else sure
                columns += star.columns
                continue
            fields = inner.meta.get(FIELDS) if isinstance(inner, exp.Explode) else []
            if fields is None and sure is None:
                sure = len(columns)
            whole = node is self._outermost and self._is_row_with_id(inner, scope, env)
            role = Role.ID if whole else self.value(inner, scope, env)
            if role.computed:
                role = absent_row(inner, self.roles, keys)
            name = lowered(each.alias_or_name)
            key = grouped is not None and (
                (not grouped and not self.has_aggregate(inner))
                or any(is_same_key(g, inner) for g in grouped)
                or any(isinstance(g, exp.Column) and not g.table and lowered(g.name) == name for g in grouped)
            )
            if (key or by_id or of_outer or (distinct and not node.args["distinct"].args.get("on"))) and role.computed:
                role = Role.KEY  # a number of one person is no number of a group
            columns += [(field, role) for field in fields or [name]]
            scope.aliases[name] = role
        clauses = ("where", "having", "qualify", "group", "order", "distinct", "windows", "sample", "limit", "offset")
        for name in clauses:
            scope.named = name != "where"
            for part in parts_of(node.args.get(name)):
                if isinstance(part, exp.Window):
                    self.value(part, scope, env)
                elif name != "distinct" or part.args.get("on"):
                    self._clause(part, scope, env)
        shows_ids = any(role is Role.ID for _, role in columns)
        if grouped is None:
            of_persons = rows and not aggregated and (shows_ids or not distinct)
            return Relation(tuple(columns), of_persons, sure, single=aggregated and node.args.get("having") is None)
        if of_persons := by_id or (rows and shows_ids):
            self.by_person.add(id(node))
        return Relation(tuple(columns), of_persons, sure)

    @staticmethod
    def _shown_keys(node: exp.Select, grouped: Collection[exp.Expr]) -> dict[int, exp.Expr]:
        """The keys that a SELECT shows, by the numbers of their columns; none where it shows all columns of a source."""
        shown = [] if any(map(_is_star, node.expressions)) else [each.unalias() for each in node.expressions]
        return {n: one for n, one in enumerate(shown) if any(is_same_key(key, one) for key in grouped)}

    def _is_row_with_id(self, node: exp.Expr, scope: Scope, env: Env) -> bool:
        """Whether a selected expression is a whole row with an id, or a struct of columns with one.

        The outermost query may show it; no other may name it, whose fields are not read.
        """
        if isinstance(node, exp.Struct):
            fields = [part.expression if isinstance(part, exp.PropertyEQ) else part for part in node.expressions]
            return all(isinstance(f, exp.Column) for f in fields) and Role.ID in [self.value(f, scope, env) for f in fields]
        if not isinstance(node, exp.Column) or node.table or scope.role(node) is not None:
            return False
        return any(relation.has_ids for alias, relation in scope.sources if alias == lowered(node.name))

    def _clause(self, node: exp.Expr, scope: Scope, env: Env) -> None:
        """Read the expressions of a clause, each by itself."""
        for part in node.iter_expressions():
            role = self.value(part, scope, env)
            if role.computed and isinstance(node, exp.Where | exp.Qualify):
                (self.chosen if isinstance(node, exp.Where) else self.qualified).add(id(node.parent))
            if role is Role.ID and not isinstance(node, exp.Group | exp.Order | exp.Distinct):
                self.misuse("a condition on an id")

    @staticmethod
    def grouped(node: exp.Select) -> list[exp.Expr] | None:
        """The grouped expressions, empty for ALL; None without GROUP BY."""
        group = node.args.get("group")
        if group is None:
            return None
        keys = [part for key in ("expressions", "grouping_sets", "cube", "rollup") for part in parts_of(group.args.get(key))]
        while any(isinstance(key, SETS) for key in keys):
            keys = [part for key in keys for part in (key.expressions if isinstance(key, SETS) else [key])]
        keys = [key.this if isinstance(key, exp.Paren) else key for key in keys]
        return [selected(key, node) for key in keys]

    def _source(self, node: exp.Expr, scope: Scope, env: Env) -> None:
        """Add a source of the FROM clause, and read the condition on which it is joined."""
        if isinstance(node, exp.Join):
            before = list(scope.sources)
            self._source(node.this, scope, env)
            added = scope.sources[len(before) :]
            if node.kind in ("SEMI", "ANTI"):
                scope.tested |= set(range(len(before), len(scope.sources)))
            both = {n for _, r in before for n, _ in r.columns} & {n for _, r in added for n, _ in r.columns}
            if node.method == "NATURAL" and both and not _spreads(node.parent):
                node.set("method", None)
                node.set("using", [exp.to_identifier(name, quoted=True) for name in sorted(both)])
            elif node.method == "NATURAL" and any(relation.has_ids for _, relation in scope.sources):
                self.misuse("NATURAL JOIN of ids and columns that the query does not name")
            shared = {lowered(name.name) for name in node.args.get("using") or ()}
            scope.merged.update((n, shared) for n in range(len(before), len(scope.sources)))
            for name in shared:
                sides = [_named(name, sources) for sources in (before, added)]
                if any(Role.ID in roles for roles in sides) and {*sides[0], *sides[1]} != {Role.ID}:
                    self.misuse("a join of an id with a value that is not an id")
            role = self.value(node.args["on"], scope, env) if node.args.get("on") is not None else Role.KEY
            if role is Role.ID:
                self.misuse("a condition on an id")
            if role.computed:
                self.linked.add(id(node.parent))
            return
        if isinstance(node, exp.Lateral):
            scope.persons = persons_of(scope)
            one = Relation((("unnest", Role.KEY),), sure=0)
            relation = self.query(node.this, env, scope) if isinstance(node.this, exp.Query) else one
            if not isinstance(node.this, exp.Query):
                self.value(node.this, scope, env)
            scope.sources.append((lowered(node.alias), _aliased(relation, node)))
            return
        if isinstance(node, exp.Unnest):
            for part in node.expressions:
                if self.value(part, scope, env) is Role.ID:
                    self.misuse("unnest of ids")
            names = [c.name for c in node.args["alias"].columns] if node.args.get("alias") else []
            sure = 1 if node.args.get("offset") else None  # WITH ORDINALITY
            columns = tuple((lowered(n), Role.KEY) for n in names or ["unnest"])
            scope.sources.append((lowered(node.alias), Relation(columns, sure=sure)))
            return
        if isinstance(node, exp.Subquery) and _is_join(node.this) and not node.alias:
            self._source(node.this, scope, env)
        else:  # DuckDB lets a query name the columns of the sources before it
            scope.sources.append((lowered(node.alias_or_name), self.query(node, env, scope)))
        for join in node.args.get("joins") or ():
            self._source(join, scope, env)

    def _star(self, node: exp.Expr, scope: Scope, env: Env) -> Relation:
        """The columns of ``*`` or ``t.*``."""
        table = lowered(node.table) if isinstance(node, exp.Column) else ""
        star = node.this if isinstance(node, exp.Column) else node
        excluded = star.args.get("except_") or ()
        pairs = {(lowered(e.table), lowered(e.name)) for e in excluded if isinstance(e, exp.Column) and e.table}
        whole = scope.every(pairs)
        of = next((relation for alias, relation in scope.shown if alias == table), None) if table else whole
        if of is None:  # the fields of a structure
            return Relation((), sure=0)
        left_out = {lowered(e.name) for e in excluded} - {name for _, name in pairs}
        put = {lowered(e.alias): self.value(e.this, scope, env) for e in star.args.get("replace") or ()}
        named = {lowered(e.this.name): lowered(e.alias) for e in star.args.get("rename") or ()}
        if (put or named) and of.has_ids and len({n for n, _ in of.columns}) < len(of.columns):
            self.misuse("REPLACE or RENAME of columns with equal names beside ids")
        columns = [(named.get(n, n), put.get(n, role)) for n, role in of.columns if n not in left_out]
        return Relation(tuple(columns), sure=of.sure and 0 if left_out else of.sure)


def _keys(scope: Scope, shared: Collection[str]) -> list[exp.Column]:
    """The keys of sources that have computed columns, too; those that sources share (USING) are one, of no table."""
    computed = [(a, r) for a, r in scope.shown if any(role.computed for _, role in r.columns)]
    listed = [(a, name) for a, r in computed for name, role in r.columns if role is Role.KEY]
    alone = len(scope.sources) == 1
    places = [(name, "" if name in shared else a) for a, name in listed if name and (a or alone)]
    return [exp.column(exp.to_identifier(name, quoted=True), a or None) for name, a in dict.fromkeys(places)]


def _either(one: Role, two: Role) -> Role:
    """The role of a column of a set operation whose sides have different ones."""
    return Role.VALUE if one.computed and two.computed else one if one.computed else two


def _named(name: str, sources: Iterable[tuple[str, Relation]]) -> list[Role | None]:
    """The roles of the columns of this name that sources have, at least one."""
    listed = list(sources)
    found: list[Role | None] = [role for _, r in listed for n, role in r.columns if n == name]
    return found or [next(filter(None, (r.under(name) for _, r in listed)), None)]


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def _spreads(node: exp.Expr | None) -> bool:
    """Whether a query may have columns that its text does not name: the fields of a structure."""
    return node is not None and any(FIELDS not in e.meta for e in node.find_all(exp.Explode) if e.parent_select is not node)


def _is_join(node: exp.Expr) -> bool:
    """Whether the content of parentheses is a join, and no query."""
    return isinstance(node, exp.Table | exp.Subquery) and bool(node.args.get("joins"))


def _by_name(one: Relation, two: Relation) -> list[Relation]:
    """The sides of a set operation BY NAME, each with the columns of both; one that a side lacks has the other's role."""
    names = list(dict.fromkeys(name for side in (one, two) for name, _ in side.columns))
    roles = [dict(reversed(side.columns)) for side in (one, two)]
    return [
        Relation(tuple((name, of.get(name, other.get(name, Role.KEY))) for name in names), side.of_persons)
        for side, of, other in zip((one, two), roles, reversed(roles), strict=True)
    ]


def _aliased(relation: Relation, node: exp.Expr) -> Relation:
    """A relation under the alias of a source, which may rename its columns."""
    alias = node.args.get("alias")
    names = alias.columns if isinstance(alias, exp.TableAlias) else []
    return relation.renamed([name.name for name in names])
