"""Groups joined on their keys as one SELECT: ``a JOIN b USING (k)``, each with ``GROUP BY k`` over the same rows, has the
numbers of ``b`` as further ones of ``a``.

More is known of two numbers of one SELECT, such as that a quotient of them is a share.

Subqueries beside groups as further numbers of these: ``(SELECT count(*) FROM t s WHERE s.k = t.k)`` of ``GROUP BY k``."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.clauses import ROWS, clauses_of, conditions_of, part_of, places_of, set_conditions, shown_by_name
from anondb.answers.ranged.equivalents import aliases_of, linked, select_sources, values_shown
from anondb.answers.ranged.groups import Groups, Pair, beside, read_groups, unnamed
from anondb.answers.ranged.originals import Originals, is_present, rule
from anondb.answers.ranged.relation import fresh
from anondb.engine import reads
from anondb.query.parsing import bare, conjoined, lowered


@rule(exp.Join, exp.Group)
def with_one_select(select: exp.Select, originals: Originals) -> None:
    """A query with one SELECT in place of groups that are joined on their keys."""
    joins = select.args.get("joins") or []
    if not joins or select.is_star or select.find(exp.Lateral):
        return
    if len(joins) > 1 and any(join.args.get("using") or join.method for join in joins):
        return  # a name may be of several sources
    before, named = select.copy(), _name_sources(select)
    as_left = joins[0].side in ("FULL", "RIGHT")
    possible = not as_left or (len(joins) == 1 and _write_as_left(select, originals))
    left = len(select.args["joins"])
    whole = possible and _merge_all(select, originals)
    if not whole and (as_left or len(select.args["joins"]) == left):  # as it was
        for key, part in before.args.items():
            select.set(key, part)
        return
    for source in named:
        source.set("alias", None)  # if it is still there


def _merge_all(select: exp.Select, originals: Originals) -> bool:
    """Make joined groups further columns of those before them, from the left; returns whether none is left."""
    sources, joins = {id(source): inner for source, inner in select_sources(select)}, select.args["joins"]
    while joins:
        merged = _merge(select, sources, originals)
        if not merged and len(joins) == 1 and not joins[0].side:
            _swap(select)  # the groups of persons come first
            merged = _merge(select, sources, originals)
            if not merged:
                _swap(select)
        if not merged:
            return False
        joins.pop(0)
        sources[id(select.args["from_"].this)] = select.args["from_"].this.this
    return True


def _write_as_left(select: exp.Select, originals: Originals) -> bool:
    """Write the FULL or RIGHT JOIN of groups as LEFT JOIN, with the groups of all rows first where neither has all of these;
    returns whether it is possible."""
    (join,) = select.args["joins"]
    sources = {id(source): inner for source, inner in select_sources(select)}
    places = [select.args["from_"].this, join.this]
    one, other = (read_groups(sources.get(id(source))) for source in places)
    names = [lowered(source.alias_or_name) for source in places]
    pairs = _pairs(join, *names)
    if one is None or other is None or pairs is None or not _are_keys(pairs, one, other) or len(pairs) < len(one.keys):
        return False
    if join.side == "FULL" and not all(is_present(key, one.select, originals.present) for key in one.keys.values()):
        return False  # groups of NULL are of one side each
    pair, first = Pair.of(one, other, originals), names[0]
    if join.side == "FULL" and pair.mine and pair.theirs:
        if not pair.same:
            return False
        first = fresh("every")
        base, either = pair.one.select.copy(), [exp.and_(*parts) for parts in (pair.mine, pair.theirs)]
        base.set("expressions", [exp.alias_(pair.one.keys[mine].copy(), mine, quoted=True) for mine, _ in pairs])
        base.set("group", exp.Group(expressions=[key.copy() for key in pair.one.keys.values()]))
        set_conditions(base, [*pair.common, exp.paren(exp.or_(*either))])
        select.set("from_", exp.From(this=base.subquery(first, copy=False)))
        select.set("joins", [_on_keys(places[n], first, [(p[0], p[n]) for p in pairs]) for n in (0, 1)])
    elif join.side == "RIGHT" or pair.mine:
        _swap(select)
        pairs, names = [(theirs, mine) for mine, theirs in pairs], names[::-1]
        first = names[0]
        select.set("joins", [_on_keys(places[0], first, pairs)])
    else:
        select.set("joins", [_on_keys(places[1], first, pairs)])
    using = {lowered(name.name) for name in join.args.get("using") or ()}
    for column in [c for c in select.find_all(exp.Column) if c.parent_select is select and not c.table]:
        if lowered(column.name) in using:
            column.set("table", exp.to_identifier(first))
    for filled in list(select.find_all(exp.Coalesce)):
        sides = [
            (lowered(c.table), lowered(c.name)) for c in (filled.this, *filled.expressions) if isinstance(c, exp.Column)
        ]
        for pair_of in pairs:
            if len(filled.expressions) == 1 and sorted(sides) == sorted(zip(names, pair_of, strict=True)):
                key = reads.named(pair_of[0], first)
                filled.replace(exp.alias_(key, filled.sql("duckdb"), quoted=True) if filled.parent is select else key)
    return True


def _on_keys(source: exp.Expr, first: str, pairs: Collection[tuple[str, str]]) -> exp.Join:
    """LEFT JOIN with a source whose columns are equal to those of the first."""
    alias = source.alias_or_name
    equal = [exp.EQ(this=reads.named(mine, first), expression=reads.named(theirs, alias)) for mine, theirs in pairs]
    return exp.Join(this=source, side="LEFT", on=exp.and_(*equal))


def _name_sources(select: exp.Select) -> list[exp.Subquery]:
    """Give the subqueries of FROM that have no names some; returns these."""
    sources = [place.this for place in places_of(select)]
    named = [source for source in sources if isinstance(source, exp.Subquery) and not source.alias]
    for source in named:
        source.set("alias", exp.TableAlias(this=exp.to_identifier(fresh("groups"))))
    return named


def _swap(select: exp.Select) -> None:
    """Swap the two sources of a SELECT."""
    places = [select.args["from_"], select.args["joins"][0]]
    sources = [place.this for place in places]
    for place, source in zip(places, reversed(sources), strict=True):
        place.set("this", source)


def _merge(select: exp.Select, sources: Mapping[int, exp.Select], originals: Originals) -> bool:
    """Make the groups of the first join further columns of those before it; returns whether this was possible."""
    first, join = select.args["from_"].this, select.args["joins"][0]
    one, other = read_groups(sources.get(id(first)), having=True), read_groups(sources.get(id(join.this)))
    kept, alias = lowered(first.alias_or_name), lowered(join.this.alias_or_name)
    pairs = _pairs(join, kept, alias) if join.side in ("", "LEFT") else None
    if one is None or other is None or pairs is None or not _are_keys(pairs, one, other) or not kept or not alias:
        return False
    apart = [first, join, *(further.this for further in select.args["joins"])]
    apart += [select.args["with_"]] if select.args.get("with_") is not None else []
    inside = {id(c) for place in apart for c in place.find_all(exp.Column)}
    columns = [c for c in select.find_all(exp.Column) if id(c) not in inside]
    own = {*one.keys, *one.values}
    named = (own & {*other.keys, *other.values}) - {lowered(u.name) for u in join.args.get("using") or ()}
    if any(c.parent_select is not select for c in columns) or any(lowered(c.name) in named and not c.table for c in columns):
        return False
    outer, keys = join.side == "LEFT", {theirs: mine for mine, theirs in pairs}
    absent = any(later.side in ("FULL", "RIGHT") for later in select.args["joins"][1:])  # rows without these groups

    def is_theirs(column: exp.Column) -> bool:
        name = lowered(column.name)
        plain = name not in own and (name in other.values or name in keys)
        return lowered(column.table) == alias if column.table else plain

    columns = [column for column in columns if is_theirs(column)]
    ends = [
        c for key in ("order", "qualify") if (part := select.args.get(key)) is not None for c in part.find_all(exp.Column)
    ]
    aliases = aliases_of(select)
    if any(not c.table and lowered(c.name) in aliases and is_theirs(c) for c in ends):
        return False  # a name of the SELECT, or of the groups
    together = beside(Pair.of(one, other, originals), pairs, originals, outer=outer)
    if together is None or (outer and any(lowered(column.name) in keys for column in columns)):
        return False
    made, written = together
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
        read: exp.Expr = exp.column(target.copy(), first.alias_or_name)
        if counted and absent:
            read = exp.func("coalesce", read, exp.convert(0))
        node.replace(exp.alias_(read, column.this.copy()) if shown else read)
    source = exp.Subquery(this=made, alias=exp.TableAlias(this=exp.to_identifier(first.alias_or_name, quoted=True)))
    select.args["from_"].set("this", source)
    return True


def _pairs(join: exp.Join, kept: str, alias: str) -> list[tuple[str, str]] | None:
    """The names of the columns that a join says to be equal, of the source before it and of its own; None for others."""
    if join.kind not in ("", "INNER", "OUTER") or join.method:
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


def _are_keys(pairs: Collection[tuple[str, str]], one: Groups, other: Groups) -> bool:
    """Whether equal columns are keys of both groups, each the same expression, and all of the other's."""
    same = all(
        mine in one.keys and theirs in other.keys and unnamed(one.keys[mine]) == unnamed(other.keys[theirs])
        for mine, theirs in pairs
    )
    return same and len(dict(pairs)) == len({theirs for _, theirs in pairs}) == len(other.keys) == len(pairs)


_INNER = {"expressions", *ROWS}
_PARTS = {*_INNER, "group", "order", "limit", "offset", "with_"}


@rule(exp.AggFunc, exp.Subquery)
def with_values_beside(select: exp.Select, originals: Originals) -> None:
    """A query with aggregates of the groups in place of subqueries that aggregate the same rows."""
    subqueries, rows = values_shown(select), select.args.get("from_") is not None
    if not subqueries or any(e.find(exp.Window) for e in select.expressions) or not clauses_of(select) <= _PARTS:
        return
    aggregated = any(True for e in select.expressions for _ in aggregates(e))
    if not rows and not aggregated and not _write_together(select, originals):
        _write_quotients(select, originals)
    elif rows and (select.args.get("group") is not None or aggregated):
        for inner in subqueries:
            _write(select, inner, originals)
        if values_shown(select) and clauses_of(select) <= _INNER:
            _write_together(select, originals)


def _write_quotients(select: exp.Select, originals: Originals) -> None:
    """Write each quotient of aggregates of the same rows, each a subquery, as one of them."""
    quotients = [div for e in select.expressions for div in e.find_all(exp.Div) if div.find_ancestor(exp.Select) is select]
    for quotient in quotients:
        one = exp.Select(expressions=[exp.alias_(quotient.copy(), "quotient")])
        if len(values_shown(one)) == 2 and _write_together(one, originals):
            quotient.replace(exp.paren(exp.Subquery(this=one)))


def _write_together(select: exp.Select, originals: Originals) -> bool:
    """Write aggregates of a SELECT and of subqueries in it as those of one of these; returns whether they have its rows."""
    apart = select.copy()
    if select.args.get("from_") is not None:
        for whole in [call for e in apart.expressions for call in aggregates(e)]:
            one = part_of(select, *ROWS).select(whole.copy())
            whole.replace(exp.Subquery(this=one) if whole.parent is not apart else exp.paren(exp.Subquery(this=one)))
        for key in ROWS:
            apart.set(key, None)
    for place in range(len(values_shown(apart))):
        copy = apart.copy()
        base = values_shown(copy)[place]
        asked = _grouped(base.this, originals) if isinstance(base.this, exp.Select) else None
        if asked is None or asked[1]:
            return False
        core, _ = asked
        base.replace(exp.paren(core.expressions[0].unalias()))
        for key in ROWS:
            copy.set(key, core.args.get(key))
        for inner in values_shown(copy):
            _write(copy, inner, originals)
        if not values_shown(copy):
            for key in ("expressions", *ROWS):
                select.set(key, copy.args.get(key))
            return True
    return False


def _write(select: exp.Select, inner: exp.Subquery, originals: Originals) -> None:
    """Put an aggregate of the groups of a SELECT in place of a subquery, if it is one of the same rows."""
    query, order = inner.this, select.args.get("order")
    asked = _grouped(query, originals) if isinstance(query, exp.Select) else None
    if asked is None or (order is not None and order.find(exp.AggFunc)):
        return
    other, outside = asked
    place, core = exp.Placeholder(this=fresh("beside")), select.copy()
    for old in [s for s in values_shown(core) if s == inner]:
        old.replace(place.copy())
    for key in ("order", "limit", "offset", "with_"):
        core.set(key, None)
    one = read_groups(core) if core.args.get("group") is not None else _ungrouped(core)
    if one is None:
        return
    names = {key if core.args.get("joins") else unnamed(key): name for name, key in one.keys.items()}
    keys = [names.get(column if core.args.get("joins") else unnamed(column)) for column in outside]
    groups = read_groups(other) if keys else _ungrouped(other)
    if groups is None or None in keys or len(names) < len(one.keys):
        return
    pairs = [(key, f"key{n}") for n, key in enumerate(keys) if key is not None]
    together = beside(Pair.of(one, groups, originals), pairs, originals, outer=True, row=True)
    if together is None:
        return
    made, values = together
    for node in [node for e in made.expressions for node in e.find_all(exp.Placeholder) if node == place]:
        node.replace(exp.paren(values["value"].copy()))
    for key in ("expressions", "from_", "joins", "where", "group", "having"):
        select.set(key, made.args.get(key))


def _ungrouped(select: exp.Select) -> Groups | None:
    """The aggregates of all rows of a SELECT, whose columns have different names."""
    values = shown_by_name(select)
    return Groups(select, {}, values) if len(values) == len(select.expressions) and all(values) else None


def _grouped(query: exp.Select, originals: Originals) -> tuple[exp.Select, list[exp.Expr]] | None:
    """A subquery that aggregates rows as groups by the columns that it compares with some around it, and these; None for
    others."""
    query = query.copy()
    places = places_of(query)
    if not places or not clauses_of(query) <= _INNER or len(query.expressions) != 1:
        return None
    names = {lowered(place.this.alias_or_name) for place in places}
    for column in [c for c in query.find_all(exp.Column) if not c.table and c.parent_select is query]:
        owners = [p.this for p in places if lowered(column.name) in originals.names_of(p.this)]
        if owners:
            column.set("table", exp.to_identifier(owners[0].alias_or_name))
    value = query.expressions[0].unalias()
    calls = list(value.find_all(exp.AggFunc))
    if not calls or any(c.find_ancestor(exp.AggFunc) is None for c in value.find_all(exp.Column)):
        return None
    parts = conditions_of(query)
    links = [(part, sides) for part in parts if isinstance(part, exp.EQ) and (sides := linked(part, names)) is not None]
    rest = [part for part in parts if all(part is not one for one, _ in links)]
    copy = query.copy()
    set_conditions(copy, rest)
    keys = [inside for _, (inside, _) in links]
    named = [*((key, f"key{n}") for n, key in enumerate(keys)), (value, "value")]
    copy.set("expressions", [exp.alias_(shown, name) for shown, name in named])
    copy.set("group", exp.Group(expressions=[key.copy() for key in keys]) if keys else None)
    inner = {*names, *(lowered(t.alias_or_name) for t in copy.find_all(exp.Table, exp.Subquery))}
    if any(c.table and lowered(c.table) not in inner for c in copy.find_all(exp.Column)):
        return None
    return copy, [bare(outer) for _, (_, outer) in links]
