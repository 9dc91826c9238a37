"""A query over all possible worlds at once: each SELECT has the number of the world as one more column.

To ask twenty worlds one after the other takes DuckDB twenty plans of a query, which for small tables are most of the work.
So tables have the rows of all worlds, and sources are joined, rows grouped and windows divided by the world, too. What
cannot be said this way for every query (a limit, an order, a star) is asked world by world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from sqlglot import exp

from anondb.query.parsing import lowered

WORLD_COLUMN, _W = "anondb_world", "anondb_worlds"
"""The last column of a query over all worlds: the number of the world that has the row."""

_SELECT = {"expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "with_"}
_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Select: _SELECT,
    exp.Union: {"this", "expression", "distinct", "with_"},
    exp.Intersect: {"this", "expression", "distinct", "with_"},
    exp.Except: {"this", "expression", "distinct", "with_"},
    exp.Subquery: {"this", "alias"},
    exp.Table: {"this", "alias", "db", "catalog"},
    exp.Join: {"this", "on", "using", "side", "kind"},
    exp.Group: {"expressions", "all"},
    exp.Distinct: {"expressions"},
    exp.With: {"expressions"},
    exp.CTE: {"this", "alias", "materialized"},
}
"""The parts that a node may have."""
_UNREAD = (exp.Lateral, exp.Pivot, exp.Rollup, exp.Cube, exp.GroupingSets)

Source = Callable[[exp.Table], exp.Expr | None]
"""Gives the rows of a table in all worlds, with the number of the world as the last column; None for one that does not
depend on the world."""


def over_worlds(
    tree: exp.Expr, source: Source, worlds: exp.Query, has_aggregate: Callable[[exp.Expr], bool]
) -> exp.Query | None:
    """The query over all worlds; None where worlds are asked one by one.

    Args:
        tree: the query for one world.
        source: gives the rows of its tables in all worlds.
        worlds: the numbers of the worlds, as the column ``WORLD_COLUMN``.
        has_aggregate: tells whether an expression has an aggregate of its query.
    """
    if not isinstance(tree, exp.Query) or not all(map(_is_read, tree.walk())):
        return None
    lift = _Lift(source, worlds, has_aggregate)
    if not all(map(lift.reads_select, tree.find_all(exp.Select))) or not lift.depends(tree, frozenset()):
        return None
    return lift.query(tree.copy(), frozenset())


def _is_read(node: exp.Expr) -> bool:
    """Whether a node has only parts that are read here."""
    allowed = _PARTS.get(type(node))
    if allowed is not None and any(
        value not in (None, False, "", []) for key, value in node.args.items() if key not in allowed
    ):
        return False
    if isinstance(node, exp.Star):
        return isinstance(node.parent, exp.Count)
    return not isinstance(node, _UNREAD)


class _Lift:
    """Writes the parts of a query over all worlds; arguments as for ``over_worlds``."""

    def __init__(self, source: Source, worlds: exp.Query, has_aggregate: Callable[[exp.Expr], bool]) -> None:
        self._source, self._worlds, self._has_aggregate = source, worlds, has_aggregate
        self._numbers = count()

    # ---------------------------------------------------------------- what is read

    def reads_select(self, node: exp.Select) -> bool:
        """Whether a SELECT is one of those that are written here."""
        joins = node.args.get("joins") or []
        if len({_form(join) for join in joins}) > 1 or any(_is_plain(join) and join.side for join in joins):
            return False
        sources = [source.this for source in (node.args.get("from_"), *joins) if source is not None]
        if not all(isinstance(source, exp.Subquery) or source.alias_or_name for source in sources):
            return False
        nested = list(_nested(node))
        if not all(isinstance(query, exp.Select) and query.args.get("with_") is None for query in nested):
            return False
        if any(query.find(exp.Window) or query.args.get("distinct") for query in nested):
            return False
        if any(len(query.expressions) > 1 and not isinstance(query.parent, exp.Exists) for query in nested):
            return False  # DuckDB compares no rows with those of a query about another row
        around = [*joins, *(join for query in nested for join in query.args.get("joins") or [])]
        if nested and any(join.side in ("RIGHT", "FULL") for join in around):
            return False
        group = node.args.get("group")
        if (
            group is not None
            and group.args.get("all")
            and (nested or any(w.parent_select is node for w in node.find_all(exp.Window)))
        ):
            return False  # DuckDB finds no keys of GROUP BY ALL inside windows and subqueries
        alone = group is None and self._is_aggregated(node)
        return not (alone and (nested or any(node.args.get(key) is not None for key in ("having", "qualify"))))

    def _is_aggregated(self, node: exp.Select) -> bool:
        return any(map(self._has_aggregate, node.expressions))

    def depends(self, node: exp.Expr, ctes: frozenset[str]) -> bool:
        """Whether a query reads a table that is another one in each world; ``ctes`` are the expressions that do."""
        ctes = self._with_ctes(node, ctes)[0]
        own = {lowered(cte.alias) for cte in node.find_all(exp.CTE)}
        for table in node.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier):
                name = lowered(table.name)
                if name in ctes or (name not in own and self._source(table) is not None):
                    return True
        return False

    def _with_ctes(self, node: exp.Expr, ctes: frozenset[str]) -> tuple[frozenset[str], list[exp.CTE]]:
        """The common table expressions that depend on the world, with those of a query, and its own of them."""
        clause, own = node.args.get("with_"), []
        for cte in clause.expressions if clause is not None else []:
            ctes -= {lowered(cte.alias)}
            if self.depends(cte.this, ctes):
                ctes |= {lowered(cte.alias)}
                own.append(cte)
        return ctes, own

    # ---------------------------------------------------------------- queries

    def query(self, node: exp.Expr, ctes: frozenset[str]) -> exp.Query:
        """A query that depends on the world, over all worlds."""
        ctes = self._ctes(node, ctes)
        if isinstance(node, exp.Subquery):
            node.set("this", self.query(node.this, ctes))
            return node
        if isinstance(node, exp.SetOperation):
            for key in ("this", "expression"):
                part = node.args[key]
                side = self.query(part, ctes) if self.depends(part, ctes) else self._crossed(part)
                node.set(key, exp.Subquery(this=side) if side.args.get("with_") else side)
            return node
        assert isinstance(node, exp.Select)
        return self._select(node, ctes)

    def _ctes(self, node: exp.Expr, ctes: frozenset[str]) -> frozenset[str]:
        """Write the common table expressions of a query over all worlds; returns all that are."""
        for cte in (made := self._with_ctes(node, ctes))[1]:
            within = made[0] - {lowered(cte.alias)}
            cte.set("this", self.query(cte.this, within))
            _with_column(cte.args["alias"])
        return made[0]

    def _select(self, node: exp.Select, ctes: frozenset[str]) -> exp.Query:
        clause = node.args.pop("with_", None)
        world = self._sources(node, ctes) or self._first(node)
        empty = None
        if node.args.get("group") is None and self._is_aggregated(node):
            empty = node.copy().where(exp.false(), copy=False)
        world = self._within(node, world, ctes)
        node.append("expressions", world.copy().as_(WORLD_COLUMN))
        if empty is not None:
            node.group_by(world.copy(), copy=False)
        made: exp.Query = node if empty is None else self._filled(node, empty)
        if clause is not None:
            inner = made.args.get("with_")
            clause.set("expressions", [*clause.expressions, *(inner.expressions if inner is not None else [])])
            made.set("with_", clause)
        return made

    def _filled(self, rows: exp.Select, empty: exp.Select) -> exp.Query:
        """The single row of each world: that of a query without rows where none are counted."""
        name = f"anondb_rows{next(self._numbers)}"
        listed = exp.In(this=exp.column(WORLD_COLUMN, _W), query=exp.select(WORLD_COLUMN).from_(name).subquery())
        others = self._crossed(empty).where(exp.not_(listed), copy=False)
        made = exp.union(exp.select("*").from_(name), others, distinct=False, copy=False)
        return made.with_(name, as_=rows, copy=False)

    def _crossed(self, rows: exp.Expr, alias: exp.Expr | None = None) -> exp.Select:
        """Rows that are the same in all worlds, for each world."""
        source = rows if alias is not None else exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier("c")))
        name = rows.alias_or_name if alias is not None else "c"
        made = exp.select(exp.column(exp.Star(), exp.to_identifier(name, quoted=True)), exp.column(WORLD_COLUMN, _W))
        return made.from_(source).join(self._worlds.subquery(_W), copy=False)

    # ---------------------------------------------------------------- sources

    def _sources(self, node: exp.Select, ctes: frozenset[str]) -> exp.Expr | None:
        """Write the sources of a SELECT, joined by the world; returns the world of its rows; None if none depends."""
        clause, joins = node.args.get("from_"), node.args.get("joins") or []
        if clause is None or not any(self.depends(source.this, ctes) for source in (clause, *joins)):
            return None
        clause.set("this", self._each(clause.this, ctes, crossed=True))
        world: exp.Expr = _world_of(clause.this)
        for join in joins:
            outer = join.side in ("RIGHT", "FULL")
            if not outer and not self.depends(join.this, ctes):
                continue
            join.set("this", self._each(join.this, ctes, crossed=outer))
            same, other = exp.EQ(this=world.copy(), expression=_world_of(join.this)), _world_of(join.this)
            if join.args.get("using"):
                join.append("using", exp.to_identifier(WORLD_COLUMN))
            elif _is_plain(join):
                node.where(same, copy=False)
            else:
                join.set("on", exp.and_(join.args["on"], same, copy=False))
            if outer:
                world = other if join.side == "RIGHT" else exp.func("coalesce", world, other)
        return world

    def _each(self, source: exp.Expr, ctes: frozenset[str], *, crossed: bool) -> exp.Expr:
        """A source over all worlds, under its name."""
        alias = source.args.get("alias")
        if not self.depends(source, ctes):
            assert crossed
            name = exp.TableAlias(this=exp.to_identifier(source.alias_or_name, quoted=True))
            return exp.Subquery(this=self._crossed(source, name), alias=name)
        if isinstance(source, exp.Subquery):
            source.set("this", self.query(source.this, ctes))
            source.set("alias", alias or exp.TableAlias(this=exp.to_identifier(f"anondb_source{next(self._numbers)}")))
            _with_column(alias)
            return source
        assert isinstance(source, exp.Table)
        alias = alias or exp.TableAlias(this=source.this.copy())
        _with_column(alias)
        rows = source.copy() if lowered(source.name) in ctes else self._source(source)
        assert rows is not None
        rows.set("alias", alias)
        return rows

    def _first(self, node: exp.Select) -> exp.Expr:
        """The world of a SELECT of which only subqueries depend on it: one more source."""
        name = f"anondb_worlds{next(self._numbers)}"
        source = self._worlds.subquery(name)
        if node.args.get("from_") is None:
            node.set("from_", exp.From(this=source))
        else:
            node.append("joins", exp.Join(this=source, kind="CROSS"))
        return exp.column(WORLD_COLUMN, name)

    # ---------------------------------------------------------------- expressions

    def _within(self, node: exp.Select, world: exp.Expr, ctes: frozenset[str]) -> exp.Expr:
        """Write the groups, windows and subqueries of a SELECT for the world of its row; returns that world."""
        nested = [query for query in _nested(node) if isinstance(query, exp.Select) and self.depends(query, ctes)]
        world = self._marked(node, world) if nested else world
        if node.args.get("group") is not None and not node.args["group"].args.get("all"):
            node.group_by(world.copy(), copy=False)
        for window in node.find_all(exp.Window):
            if window.parent_select is node:
                window.append("partition_by", world.copy())
        for call in list(node.find_all(exp.Anonymous)):
            if call.parent_select is node and is_current(call):
                call.replace(world.copy())
        for query in nested:
            inside = self._sources(query, ctes)
            within = self._within(query, world if inside is None else inside, ctes)
            if inside is not None:
                query.where(exp.EQ(this=within.copy(), expression=world.copy()), copy=False)
        return world

    def _marked(self, node: exp.Select, world: exp.Expr) -> exp.Expr:
        """The world of a SELECT under a name that no source of a query inside it has."""
        source = node.args["from_"].this if "from_" in node.args else None
        if not isinstance(world, exp.Column) or source is None or source.alias_or_name != world.table:
            return world
        name = exp.to_identifier(f"{WORLD_COLUMN}{next(self._numbers)}")
        alias = exp.TableAlias(this=source.args["alias"].this.copy())
        marked = exp.select("*", world.copy().as_(name.name)).from_(source.copy())
        source.replace(exp.Subquery(this=marked, alias=alias))
        return exp.Column(this=name)


def is_current(node: exp.Expr) -> bool:
    """Whether an expression is the number of the world that the tables of a single world show."""
    return (
        isinstance(node, exp.Anonymous) and node.name.lower() == "getvariable" and node.expressions[0].name == WORLD_COLUMN
    )


def _form(join: exp.Join) -> str:
    """How a join is conditioned: its forms do not mix, since a comma binds less, and USING has one column of two."""
    return "plain" if _is_plain(join) else "using" if join.args.get("using") else "on"


def _is_plain(join: exp.Join) -> bool:
    """Whether a join has no condition: a comma, or CROSS JOIN."""
    return join.args.get("on") is None and not join.args.get("using")


def _nested(node: exp.Select) -> Iterator[exp.Expr]:
    """The queries in the expressions of a SELECT, not those in its sources or inside other queries."""
    parts = [*node.expressions, *(node.args.get(key) for key in ("where", "group", "having", "qualify"))]
    parts += [join.args.get("on") for join in node.args.get("joins") or []]
    for part in parts:
        for query in part.find_all(exp.Select, exp.SetOperation) if part is not None else []:
            if _around(query) is node:
                yield query


def _around(query: exp.Expr) -> exp.Expr | None:
    """The query around another one."""
    parent = query.parent
    while parent is not None and not isinstance(parent, exp.Select | exp.SetOperation):
        parent = parent.parent
    return parent


def _world_of(source: exp.Expr) -> exp.Column:
    """The number of the world of a row of a source."""
    alias = source.args["alias"].this
    return exp.Column(this=exp.to_identifier(WORLD_COLUMN), table=alias.copy())


def _with_column(alias: exp.Expr | None) -> None:
    """Name the column of the world where an alias names columns."""
    if alias is not None and alias.args.get("columns"):
        alias.append("columns", exp.to_identifier(WORLD_COLUMN))
