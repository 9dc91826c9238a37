"""A query over all possible worlds at once: each SELECT has the number of the world as one more column.

DuckDB plans a query anew for each world that it is asked of, which for small tables is most of the work. So the tables here
have the rows of all worlds; sources are joined, rows grouped, and windows divided by the world, too. What cannot be written
so for every query (a limit, an order, a star) is asked of one world after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from sqlglot import exp

from anondb.answers.ranged.clauses import places_of
from anondb.answers.ranged.equivalents import common_table
from anondb.query.parsing import lowered

WORLD_COLUMN = "anondb_world"
"""The last column of a query over all worlds: the number of the world that has the row. No name of the query begins so."""
_WORLDS = "anondb_worlds"  # the numbers of all worlds, as a source

_SET_OPERATION = {"this", "expression", "distinct", "with_"}
_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Select: {"expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "with_"},
    exp.Union: _SET_OPERATION,
    exp.Intersect: _SET_OPERATION,
    exp.Except: _SET_OPERATION,
    exp.Subquery: {"this", "alias"},
    exp.Table: {"this", "alias", "db", "catalog"},
    exp.Join: {"this", "on", "using", "side", "kind"},
    exp.Group: {"expressions", "all"},
    exp.Distinct: {"expressions"},
    exp.With: {"expressions"},
    exp.CTE: {"this", "alias", "materialized"},
}
"""The parts that a node may have."""
_UNREAD = (exp.Lateral, exp.Pivot, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Summarize)

Source = Callable[[exp.Table], exp.Expr | None]
"""Gives the rows of a table in all worlds, with the number of the world as the last column; None for a table that is the
same in all worlds."""


def over_worlds(
    tree: exp.Expr, source: Source, worlds: exp.Query, has_aggregate: Callable[[exp.Expr], bool]
) -> exp.Query | None:
    """The query over all worlds; None where worlds are asked one after the other.

    Args:
        tree: the query for one world.
        source: gives the rows of its tables in all worlds.
        worlds: the numbers of the worlds, as the column ``WORLD_COLUMN``.
        has_aggregate: tells whether an expression has an aggregate of its SELECT.
    """
    if not isinstance(tree, exp.Query) or not all(map(_is_read, tree.walk())) or not _has_clear_names(tree, source):
        return None
    writer = _Writer(tree, source, worlds, has_aggregate)
    if not writer.depends(tree) or not all(map(writer.reads, tree.find_all(exp.Select))):
        return None
    return writer.query(tree.copy())


def is_current(node: exp.Expr) -> bool:
    """Whether an expression is the number of the world whose rows the tables of a single world show."""
    variable = isinstance(node, exp.Anonymous) and node.name.lower() == "getvariable"
    return variable and node.expressions[0].name == WORLD_COLUMN


# --- what is read -----------------------------------------------------------------------------------------------------


def _is_read(node: exp.Expr) -> bool:
    """Whether a node has only parts that are read here."""
    if isinstance(node, exp.Star):
        return isinstance(node.parent, exp.Count)
    if isinstance(node, exp.Identifier):
        return not lowered(node.name).startswith(WORLD_COLUMN)
    parts = _PARTS.get(type(node), set(node.args))
    return not isinstance(node, _UNREAD) and all(not part or name in parts for name, part in node.args.items())


def _has_clear_names(tree: exp.Query, source: Source) -> bool:
    """Whether each common table expression has a name of its own, which no table of worlds and no other table has."""
    tables, names = list(tree.find_all(exp.Table)), set[str]()
    for cte in tree.find_all(exp.CTE):
        name = lowered(cte.alias)
        if name in names or source(exp.Table(this=exp.to_identifier(cte.alias, quoted=True))) is not None:
            return False
        if any(lowered(table.name) == name and (table.db or common_table(table) is not cte) for table in tables):
            return False
        names.add(name)
    return True


def _nested(node: exp.Select) -> Iterator[exp.Expr]:
    """The queries in the expressions of a SELECT: not its sources, and not those inside other queries."""
    parts = [*node.expressions, *(node.args.get(name) for name in ("where", "group", "having", "qualify"))]
    for part in parts:
        for query in part.find_all(exp.Select, exp.SetOperation) if part is not None else ():
            if query.find_ancestor(exp.Select, exp.SetOperation) is node:
                yield query


def _is_simple(query: exp.Expr) -> bool:
    """Whether DuckDB computes a nested query for the world of each row around it.

    It does not if there are several columns to compare, or if an outer join keeps all rows of its right side.
    """
    plain = isinstance(query, exp.Select) and not any(query.args.get(name) for name in ("with_", "distinct"))
    one = len(query.expressions) == 1 or isinstance(query.parent, exp.Exists)
    joins = query.args.get("joins") or ()
    return plain and one and not any(join.side in ("RIGHT", "FULL") for join in joins) and query.find(exp.Window) is None


def _form(join: exp.Join) -> str:
    """How a join is conditioned: by ON, by USING, or not at all."""
    return next((name for name in ("on", "using") if join.args.get(name)), "")


def _windows(node: exp.Select) -> list[exp.Window]:
    """The windows of a SELECT itself."""
    return [window for window in node.find_all(exp.Window) if window.parent_select is node]


# --- what is written --------------------------------------------------------------------------------------------------


class _Writer:
    """Writes the parts of a query over all worlds; arguments as for ``over_worlds``."""

    def __init__(
        self, tree: exp.Query, source: Source, worlds: exp.Query, has_aggregate: Callable[[exp.Expr], bool]
    ) -> None:
        self._source, self._worlds, self._has_aggregate = source, worlds, has_aggregate
        self._numbers, self._ctes = count(), set[str]()
        ctes = list(tree.find_all(exp.CTE))
        for _ in ctes:  # each may read another one
            self._ctes |= {lowered(cte.alias) for cte in ctes if self.depends(cte.this)}

    def depends(self, node: exp.Expr) -> bool:
        """Whether a query or a source reads rows that are others in each world."""
        tables = (table for table in node.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
        return any(lowered(table.name) in self._ctes or self._source(table) is not None for table in tables)

    def reads(self, node: exp.Select) -> bool:
        """Whether a SELECT is one of those that are written here."""
        joins, group = node.args.get("joins") or [], node.args.get("group")
        sources, keys = [place.this for place in places_of(node)], [] if group is None else group.expressions
        names = {lowered(column.name) for column in node.find_all(exp.Column) if not column.table}
        nested = [query for query in _nested(node) if self.depends(query)]
        of_all_rows = group is None and any(map(self._has_aggregate, node.expressions))
        unread = (
            len(set(map(_form, joins))) > 1,  # a comma binds less than JOIN, and USING has one column of two
            any(join.side and not _form(join) for join in joins),
            any(self.depends(join.args["on"]) for join in joins if join.args.get("on") is not None),
            any(not isinstance(source, exp.Subquery) and not source.alias_or_name for source in sources),
            any(lowered(source.alias_or_name) in names for source in sources),  # a whole row would have the world in it
            not all(map(_is_simple, nested)),
            bool(nested) and any(join.side in ("RIGHT", "FULL") for join in joins),
            any(isinstance(key, exp.Tuple) and not key.expressions for key in keys),  # GROUP BY () has a group without rows
            group is None and node.args.get("having") is not None,
            of_all_rows and bool(nested or node.args.get("qualify")),
            of_all_rows and any(each.find(exp.IntDiv, exp.Mod) for each in node.expressions),  # fail where a count is 0
            group is not None and bool(group.args.get("all") and (nested or _windows(node))),  # no keys there for DuckDB
        )
        return not any(unread)

    # ---------------------------------------------------------------- queries

    def query(self, node: exp.Expr) -> exp.Query:
        """A query that depends on the world, over all worlds."""
        for cte in node.args["with_"].expressions if node.args.get("with_") is not None else ():
            if self.depends(cte.this):
                cte.set("this", self.query(cte.this))
        if isinstance(node, exp.Subquery):
            node.set("this", self.query(node.this))
            return node
        if isinstance(node, exp.SetOperation):
            for name in ("this", "expression"):
                side = node.args[name]
                side = self.query(side) if self.depends(side) else self._crossed(exp.Subquery(this=side))
                node.set(name, exp.Subquery(this=side) if side.args.get("with_") else side)
            return node
        assert isinstance(node, exp.Select)
        return self._select(node)

    def _select(self, node: exp.Select) -> exp.Query:
        world = self._sources(node) or self._one_more(node)
        clause, empty = node.args.get("with_"), None
        if node.args.get("group") is None and any(map(self._has_aggregate, node.expressions)):
            node.set("with_", None)
            empty = node.copy().where(exp.false(), copy=False)
        world = self._within(node, world)
        node.append("expressions", world.copy().as_(WORLD_COLUMN))
        if empty is None:
            return node
        query = self._filled(node.group_by(world.copy(), copy=False), empty)
        if clause is not None:
            query.args["with_"].set("expressions", [*clause.expressions, *query.args["with_"].expressions])
        return query

    def _filled(self, rows: exp.Select, empty: exp.Select) -> exp.Query:
        """The row of each world: that of a query without rows in a world that has none."""
        name = self._name("rows")
        listed = exp.In(this=exp.column(WORLD_COLUMN, _WORLDS), query=exp.select(WORLD_COLUMN).from_(name).subquery())
        others = self._crossed(exp.Subquery(this=empty)).where(exp.not_(listed), copy=False)
        query = exp.union(exp.select("*").from_(name), others, distinct=False, copy=False)
        return query.with_(name, as_=rows, copy=False)

    def _crossed(self, source: exp.Expr) -> exp.Select:
        """The rows of a source that does not depend on the world, in each world; it gets a name if it has none."""
        if not source.alias_or_name:
            source.set("alias", exp.TableAlias(this=exp.to_identifier(self._name("source"))))
        every = exp.Column(this=exp.Star(), table=exp.to_identifier(source.alias_or_name, quoted=True))
        rows = exp.select(every, exp.column(WORLD_COLUMN, _WORLDS)).from_(source)
        return rows.join(self._worlds.subquery(_WORLDS), copy=False)

    def _name(self, what: str) -> str:
        return f"{WORLD_COLUMN}_{what}{next(self._numbers)}"

    # ---------------------------------------------------------------- sources

    def _sources(self, node: exp.Select) -> exp.Expr | None:
        """Write the sources of a SELECT, joined by the world; returns the world of its rows, None if none depends on it."""
        places = places_of(node)
        if not any(self.depends(place.this) for place in places):
            return None
        world = self._put(places[0])
        for join in places[1:]:
            outer = join.args.get("side") in ("RIGHT", "FULL")
            if not outer and not self.depends(join.this):
                continue
            other = self._put(join)
            same = exp.EQ(this=world.copy(), expression=other.copy())
            if join.args.get("using"):
                join.append("using", exp.to_identifier(WORLD_COLUMN))
            elif join.args.get("on") is not None:
                join.set("on", exp.and_(join.args["on"], same, copy=False))
            else:
                node.where(same, copy=False)
            if outer:
                world = other if join.args["side"] == "RIGHT" else exp.func("coalesce", world, other)
        return world

    def _put(self, place: exp.Expr) -> exp.Expr:
        """Write the source of FROM or of a join over all worlds, under its name; returns the world of its rows."""
        source = place.this
        alias = source.args.get("alias") or exp.TableAlias(
            this=exp.to_identifier(source.alias_or_name or self._name("source"), quoted=True)
        )
        if not self.depends(source):
            alias = exp.TableAlias(this=alias.this.copy())
            source = exp.Subquery(this=self._crossed(source))
        elif isinstance(source, exp.Subquery):
            source.set("this", self.query(source.this))
        elif lowered(source.name) not in self._ctes:
            source = self._source(source)
        source.set("alias", alias)
        place.set("this", source)
        return exp.Column(this=exp.to_identifier(WORLD_COLUMN), table=alias.this.copy())

    def _one_more(self, node: exp.Select) -> exp.Expr:
        """The world of a SELECT of which only nested queries depend on it: one more source."""
        name = self._name("source")
        source = self._worlds.subquery(name)
        if node.args.get("from_") is None:
            node.set("from_", exp.From(this=source))
        else:
            node.append("joins", exp.Join(this=source, kind="CROSS"))
        return exp.column(WORLD_COLUMN, name)

    # ---------------------------------------------------------------- expressions

    def _within(self, node: exp.Select, world: exp.Expr) -> exp.Expr:
        """Write the groups, windows and nested queries of a SELECT for the world of a row; returns that world."""
        nested = [query for query in _nested(node) if isinstance(query, exp.Select) and self.depends(query)]
        world = self._marked(node, world) if nested else world
        if (group := node.args.get("group")) is not None and not group.args.get("all"):
            node.group_by(world.copy(), copy=False)
        for window in _windows(node):
            window.append("partition_by", world.copy())
        for call in [call for call in node.find_all(exp.Anonymous) if call.parent_select is node and is_current(call)]:
            call.replace(world.copy())
        for query in nested:
            inside = self._sources(query)
            within = self._within(query, world if inside is None else inside)
            if inside is not None:
                query.where(exp.EQ(this=within.copy(), expression=world.copy()), copy=False)
        return world

    def _marked(self, node: exp.Select, world: exp.Expr) -> exp.Expr:
        """The world of a SELECT as one more column of its first source, with a name that no source of a nested query has."""
        place, name = node.args.get("from_"), self._name("around")
        source = None if place is None else place.this
        if source is None or not isinstance(world, exp.Column) or source.alias_or_name != world.table:
            return world  # of the one more source, or of the query around
        alias = exp.TableAlias(this=source.args["alias"].this.copy())
        marked = exp.select("*", world.copy().as_(name)).from_(source.copy())
        source.replace(exp.Subquery(this=marked, alias=alias))
        return exp.column(name)
