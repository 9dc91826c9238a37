"""Groups joined on their keys as one SELECT: ``a JOIN b USING (k)``, each with ``GROUP BY k`` over the same rows, has the
numbers of ``b`` as further ones of ``a``.

What only one of them asks of the rows becomes FILTER. Of groups of the table with one row for each person, a sum over the
rows that are joined with it is a sum over persons, each with that of their rows. More is known of two numbers of one SELECT,
such as that a quotient of them is a share.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp

from anondb.answers.ranged.equivalents import select_sources
from anondb.answers.ranged.over_groups import is_itself
from anondb.answers.ranged.sources import grouped
from anondb.query.parsing import bare, conjoined, is_null, lowered

_PARTS = {"expressions", "from_", "joins", "where", "group"}


def with_one_select(tree: exp.Expr, tables: Mapping[str, Mapping[str, bool]], nullable: Collection[str]) -> exp.Expr:
    """A query with one SELECT in place of groups that are joined on their keys.

    Args:
        tree: the query.
        tables: the columns of each of the original's tables, in lower case, and whether one is the id.
        nullable: the columns of these that may be NULL.
    """
    if tree.find(exp.Join) is None or tree.find(exp.Group) is None:
        return tree
    if any(lowered(cte.alias) in tables for cte in tree.find_all(exp.CTE)):
        return tree  # a name that may mean two tables
    made = tree.copy()
    for select in list(made.find_all(exp.Select)):
        joins = select.args.get("joins") or []
        sources = {id(source): inner for source, inner in select_sources(select)}
        while joins and not select.is_star and not select.find(exp.Lateral):
            merged = _merge(select, sources, tables, nullable)
            if not merged and len(joins) == 1 and not joins[0].side:
                _swap(select)  # the groups of persons come first
                merged = _merge(select, sources, tables, nullable)
                if not merged:
                    _swap(select)
            if not merged:
                break
            joins.pop(0)
            sources[id(select.args["from_"].this)] = select.args["from_"].this.this
    return made


def _swap(select: exp.Select) -> None:
    """Swap the two sources of a SELECT."""
    places = [select.args["from_"], select.args["joins"][0]]
    sources = [place.this for place in places]
    for place, source in zip(places, reversed(sources), strict=True):
        place.set("this", source)


@dataclass(frozen=True)
class _Groups:
    """The groups of a source: the SELECT, its keys by the names of their columns, and the values of the other columns."""

    select: exp.Select
    keys: Mapping[str, exp.Expr]
    values: Mapping[str, exp.Expr]

    @property
    def conditions(self) -> list[exp.Expr]:
        """The conditions of WHERE."""
        where = self.select.args.get("where")
        return conjoined(None if where is None else where.this)

    @property
    def rows(self) -> tuple[exp.Expr, list[exp.Expr]]:
        """The sources."""
        return self.select.args["from_"], self.select.args.get("joins") or []


def _groups(inner: exp.Select | None) -> _Groups | None:
    """The groups of a SELECT that shows all of its keys; None for others."""
    group = None if inner is None else inner.args.get("group")
    if inner is None or group is None or not {key for key, part in inner.args.items() if part} <= _PARTS:
        return None
    if {key for key, part in group.args.items() if part} not in ({"expressions"}, {"all"}) or inner.find(exp.Window):
        return None
    shown = {lowered(e.alias_or_name): e.unalias() for e in inner.expressions}
    keys = grouped(inner, lambda column: False)
    names = {name: value for name, value in shown.items() if value in keys}
    whole = len(shown) == len(inner.expressions) and all(shown) and {*names.values()} == {*keys}
    return _Groups(inner, names, {n: v for n, v in shown.items() if n not in names}) if whole and keys else None


def _merge(
    select: exp.Select,
    sources: Mapping[int, exp.Select],
    tables: Mapping[str, Mapping[str, bool]],
    nullable: Collection[str],
) -> bool:
    """Make the groups of the first join further columns of those before it; returns whether this was possible."""
    first, join = select.args["from_"].this, select.args["joins"][0]
    one, other = (_groups(sources.get(id(source))) for source in (first, join.this))
    kept, alias = lowered(first.alias_or_name), lowered(join.this.alias_or_name)
    pairs = _pairs(join, kept, alias)
    if one is None or other is None or pairs is None or not _are_keys(pairs, one, other) or not kept or not alias:
        return False
    apart = [first, join, *([select.args["with_"]] if select.args.get("with_") is not None else [])]
    inside = {id(c) for place in apart for c in place.find_all(exp.Column)}
    columns = [c for c in select.find_all(exp.Column) if id(c) not in inside]
    own = {*one.keys, *one.values}
    named = (own & {*other.keys, *other.values}) - {lowered(u.name) for u in join.args.get("using") or ()}
    if any(c.parent_select is not select for c in columns) or any(lowered(c.name) in named and not c.table for c in columns):
        return False
    outer, keys = join.side == "LEFT", {theirs: mine for mine, theirs in pairs}

    def is_theirs(column: exp.Column) -> bool:
        name = lowered(column.name)
        plain = name not in own and (name in other.values or name in keys)
        return lowered(column.table) == alias if column.table else plain

    columns = [column for column in columns if is_theirs(column)]
    ends = [
        c for key in ("order", "qualify") if (part := select.args.get(key)) is not None for c in part.find_all(exp.Column)
    ]
    given = {lowered(e.alias) for e in select.expressions if e.alias and not is_itself(e)}
    if any(not c.table and lowered(c.name) in given and is_theirs(c) for c in ends):
        return False  # a name of the SELECT, or of the groups
    beside = _beside(one, other, tables, nullable, outer)
    if beside is None or (outer and any(lowered(column.name) in keys for column in columns)):
        return False
    made, written = beside
    places = {name: exp.to_identifier(f"{alias}.{name}", quoted=True) for name in written}
    for name, value in written.items():
        made.append("expressions", exp.alias_(value, places[name]))
    for column in columns:
        name = lowered(column.name)
        filled = column.parent if isinstance(column.parent, exp.Coalesce) and column.arg_key == "this" else None
        counted = filled is not None and filled.expressions == [exp.convert(0)] and f"{name} or 0" in places
        target = places.get(f"{name} or 0" if counted else name) or exp.to_identifier(keys[name], quoted=True)
        node = filled if counted and filled is not None else column
        shown = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
        read = exp.column(target.copy(), first.alias_or_name)
        node.replace(exp.alias_(read, column.this.copy()) if shown else read)
    source = exp.Subquery(this=made, alias=exp.TableAlias(this=exp.to_identifier(first.alias_or_name, quoted=True)))
    select.args["from_"].set("this", source)
    return True


def _pairs(join: exp.Join, kept: str, alias: str) -> list[tuple[str, str]] | None:
    """The names of the columns that a join says to be equal, of the source before it and of its own; None for others."""
    if join.side not in ("", "LEFT") or join.kind not in ("", "INNER", "OUTER") or join.method:
        return None
    if join.args.get("using"):
        return [(lowered(u.name), lowered(u.name)) for u in join.args["using"]]
    pairs = []
    for part in conjoined(join.args.get("on")):
        sides = {
            lowered(bare(s).text("table")): lowered(bare(s).name)
            for s in part.iter_expressions()
            if isinstance(bare(s), exp.Column)
        }
        if not isinstance(bare(part), exp.EQ) or set(sides) != {kept, alias}:
            return None
        pairs.append((sides[kept], sides[alias]))
    return pairs or None


def _are_keys(pairs: Collection[tuple[str, str]], one: _Groups, other: _Groups) -> bool:
    """Whether equal columns are all keys of both groups, each the same expression."""
    same = all(
        mine in one.keys and theirs in other.keys and _unnamed(one.keys[mine]) == _unnamed(other.keys[theirs])
        for mine, theirs in pairs
    )
    return same and len(dict(pairs)) == len(one.keys) == len(other.keys) == len(pairs)


def _unnamed(node: exp.Expr) -> exp.Expr:
    """An expression without the tables of its columns."""
    return node.transform(lambda n: exp.column(n.this.copy()) if isinstance(n, exp.Column) else n)


def _beside(
    one: _Groups, other: _Groups, tables: Mapping[str, Mapping[str, bool]], nullable: Collection[str], outer: bool
) -> tuple[exp.Select, dict[str, exp.Expr]] | None:
    """The SELECT of groups to which the columns of others are added, and these; None if they are of different rows."""
    made = one.select.copy()
    common = [part for part in one.conditions if part in other.conditions]
    mine, theirs = ([p for p in of.conditions if p not in common] for of in (one, other))
    if any(not isinstance(key, exp.Column) or lowered(key.name) in nullable for key in one.keys.values()):
        if outer:
            return None
        common += [exp.Not(this=is_null(key)) for key in one.keys.values()]  # which is equal to nothing
    if one.rows == other.rows:
        if any(not any(join.args.get(key) for key in ("on", "using", "method")) for join in one.rows[1]) and mine + theirs:
            return None  # a condition that joins stays in WHERE
        number = _filtered(exp.Count(this=exp.Star()), theirs)
        values = {name: _each(value, lambda call: _filtered(call, theirs)) for name, value in other.values.items()}
        having = [_filtered(exp.Count(this=exp.Star()), mine)] if mine else []
        made.set("expressions", [_each(e, lambda call: _filtered(call, mine)) for e in made.expressions])
    else:
        of_persons = None if mine else _of_persons(one, other, tables, theirs)
        if of_persons is None:
            return None
        number, having = of_persons(exp.Count(this=exp.Star())), []
        values = {name: _each(value, of_persons) for name, value in other.values.items()}
    made.set("where", exp.Where(this=exp.and_(*(p.copy() for p in common))) if common else None)
    further = bool(theirs) or one.rows != other.rows
    if not outer and further:
        having.append(number)
    if having:
        made.set("having", exp.Having(this=exp.and_(*(exp.GT(this=n.copy(), expression=exp.convert(0)) for n in having))))
    if outer and further:
        some = exp.GT(this=number, expression=exp.convert(0))
        absent = {n: exp.Case(ifs=[exp.If(this=some.copy(), true=value)]) for n, value in values.items()}
        counts = {f"{n} or 0": value for n, value in values.items() if isinstance(other.values[n], exp.Count)}
        values = {**absent, **counts}
    return made, values


def _each(node: exp.Expr, write: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """An expression with other aggregates in place of its own."""
    made = exp.paren(node.copy())
    for call in [c for c in made.find_all(exp.AggFunc) if c.find_ancestor(exp.Query, exp.AggFunc) is None]:
        whole = call.parent if isinstance(call.parent, exp.Filter) else call
        whole.replace(write(whole.copy()))
    written: exp.Expr = made.this
    return written


def _filtered(call: exp.Expr, parts: list[exp.Expr]) -> exp.Expr:
    """An aggregate, with further conditions on its rows."""
    inner, wanted = (call.this, [call.expression.this]) if isinstance(call, exp.Filter) else (call, [])
    where = [part.copy() for part in (*wanted, *parts)]
    return exp.Filter(this=inner.copy(), expression=exp.Where(this=exp.and_(*where))) if where else inner.copy()


def _of_persons(
    one: _Groups, other: _Groups, tables: Mapping[str, Mapping[str, bool]], parts: list[exp.Expr]
) -> Callable[[exp.Expr], exp.Expr] | None:
    """What writes an aggregate over the rows joined with a table of one row for each person as one over this table."""
    table = one.rows[0].this
    ids = {c for c, is_id in tables.get(lowered(table.name), {}).items() if is_id} if isinstance(table, exp.Table) else set()
    places = [other.rows[0], *other.rows[1]]
    mine = [p for p in places if isinstance(p.this, exp.Table) and lowered(p.this.name) == lowered(table.name)]
    if one.rows[1] or len(ids) != 1 or len(mine) != 1 or len(places) < 2:
        return None
    if any(p.args.get("side") or p.args.get("method") or p.args.get("kind") not in (None, "", "INNER") for p in places):
        return None
    rest, (id_column,) = [p for p in places if p is not mine[0]], ids
    outside, inside = (place.alias_or_name for place in (table, mine[0].this))
    link = mine[0] if isinstance(mine[0], exp.Join) else rest[0]
    using = [lowered(u.name) for u in link.args.get("using") or ()]
    linked = [exp.column(id_column, rest[0].this.alias_or_name), exp.column(id_column, outside)]
    on = [exp.EQ(this=linked[0], expression=linked[1])] if using == [id_column] else conjoined(link.args.get("on"))
    if not on or any(lowered(p.this.alias_or_name) in (lowered(outside), lowered(inside)) for p in rest):
        return None
    where = exp.and_(*(p.copy() for p in (*on, *parts)))

    def moved(node: exp.Expr) -> exp.Expr:
        of = isinstance(node, exp.Column) and lowered(node.table) == lowered(inside)
        return exp.column(node.this.copy(), outside) if of else node

    def write(call: exp.Expr) -> exp.Sum:
        inner = exp.select(call).from_(rest[0].this)
        inner.set("joins", [p.copy() for p in rest[1:]])
        inner = inner.where(where)
        rows: exp.Expr = inner.transform(moved)
        return exp.Sum(this=exp.Subquery(this=rows))

    numbers = [c for value in other.values.values() for c in value.find_all(exp.AggFunc)]
    plain = all(isinstance(c, exp.Sum | exp.Count) and not isinstance(c.this, exp.Distinct) for c in numbers)
    return write if plain else None
