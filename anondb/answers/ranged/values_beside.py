"""Subqueries beside groups as further numbers of these: ``(SELECT count(*) FROM t s WHERE s.k = t.k)`` of ``GROUP BY k``."""

from __future__ import annotations

from sqlglot import exp

from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.clauses import ROWS, clauses_of, conditions_of, part_of, places_of, set_conditions, shown_by_name
from anondb.answers.ranged.equivalents import linked, values_shown
from anondb.answers.ranged.groups import Groups, Pair, beside, read_groups, unnamed
from anondb.answers.ranged.originals import Originals, rule
from anondb.answers.ranged.relation import fresh
from anondb.query.parsing import bare, lowered

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
    one = read_groups(core) if core.args.get("group") is not None else _of_all(core)
    if one is None:
        return
    names = {key if core.args.get("joins") else unnamed(key): name for name, key in one.keys.items()}
    keys = [names.get(column if core.args.get("joins") else unnamed(column)) for column in outside]
    groups = read_groups(other) if keys else _of_all(other)
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


def _of_all(select: exp.Select) -> Groups | None:
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
