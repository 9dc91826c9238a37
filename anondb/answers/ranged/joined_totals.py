"""Groups that are joined with the rows of a SELECT by keys that it groups by, joined with its groups instead:
``SELECT r.k, r.i, count(*) / max(t.n) FROM r JOIN t ON t.k = r.k GROUP BY r.k, r.i``, of groups ``t`` by ``k``.

The rows of a group have one partner, or none, so that the join keeps whole groups, and adds to each what one row says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.clauses import (
    ROWS,
    clauses_of,
    columns_of_join,
    conditions_of,
    is_inner,
    is_same_key,
    part_of,
    places_of,
    selected,
    set_children,
)
from anondb.answers.ranged.dependent_keys import group_columns
from anondb.answers.ranged.equivalents import names_alias
from anondb.answers.ranged.originals import Originals, rule
from anondb.answers.ranged.relation import fresh
from anondb.engine import reads
from anondb.query.parsing import bare, conjoined, lowered

_PARTS = {"expressions", *ROWS, "group", "order", "limit", "offset", "with_"}
_OF_ONE = (exp.Max, exp.Min, exp.AnyValue, exp.First)
"""Aggregates that have the value of a column where it is the same in all rows."""


@rule(exp.Join, exp.Group, inner_first=True)
def with_joined_totals(select: exp.Select, originals: Originals) -> exp.Select | None:
    """A query in which a SELECT joins its groups, in place of its rows, with groups by some of its keys: not by ids, nor by
    the item alone, which are read beside each row (``joined_groups``)."""
    joins, group = select.args.get("joins") or [], select.args.get("group")
    if group is None or not joins or not all(map(is_inner, joins)) or not clauses_of(select) <= _PARTS:
        return None
    if clauses_of(group) != {"expressions"} or names_alias(group, select) or select.is_star:
        return None
    if any(part.find(exp.Query, exp.Window) for part in _shown(select)):
        return None
    named = {lowered(cte.alias): cte for cte in select.root().find_all(exp.CTE)}
    for place, join in enumerate(joins):
        own, computed = group_columns(join.this, named)
        coarser = own and not own & originals.ids and own != {originals.item}
        made = _with_join(select.copy(), place, own, computed) if coarser else None
        if made is not None:
            return made
    return None


def _shown(select: exp.Select) -> list[exp.Expr]:
    """What a SELECT shows, and by what it is ordered."""
    return [*select.expressions, *(part for part in [select.args.get("order")] if part is not None)]


def _with_join(made: exp.Select, place: int, own: Collection[str], computed: Collection[str]) -> exp.Select | None:
    """A SELECT of which one source joins the groups; None unless its keys are among those of the groups.

    Args:
        made: the SELECT, which is changed.
        place: the place of the join.
        own, computed: the keys of the source, and its other columns, in lower case.
    """
    join = made.args["joins"].pop(place)
    _write_names(made)
    links = _links(join, own)
    apart = [made.args["with_"]] if made.args.get("with_") is not None else []
    columns = columns_of_join(made, join, {*own, *computed}, *apart)
    if columns is None or links.keys() != {*own}:
        return None
    for column in [column for column in columns if lowered(column.name) in own]:
        column.replace(links[lowered(column.name)].copy())
    values = [column for column in columns if lowered(column.name) in computed]
    theirs = {id(column) for column in values}
    read = {id(c) for part in (*places_of(made), *conditions_of(made)) for c in part.find_all(exp.Column)}
    keys = [key for of in made.args["group"].expressions if id(key := selected(of, made)) not in theirs]
    mine = {f"k{n}": key.copy() for n, key in enumerate(keys)}
    placed = {name: next((k for k, key in mine.items() if is_same_key(key, of)), "") for name, of in links.items()}
    calls = [call for part in _shown(made) for call in aggregates(part)]
    rest = [call for call in calls if not (isinstance(call, _OF_ONE) and id(call.this) in theirs)]
    inside = {id(column) for part in (*rest, *keys) for column in part.find_all(exp.Column)}
    if theirs & (read | inside) or "" in placed.values():
        return None
    groups, shown = fresh("groups"), {f"a{n}": call for n, call in enumerate(rest)}
    inner, numbers = _grouped(made, mine, shown), {id(call): name for name, call in shown.items()}

    def visit(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, _OF_ONE):  # so sqlglot reads any_value(x)
            node = node.this
        if id(node) in numbers:
            return reads.named(numbers[id(node)], groups)
        if isinstance(node, _OF_ONE) and isinstance(node.this, exp.Column) and id(node.this) in theirs:
            return node.this
        key = next((name for name, of in mine.items() if is_same_key(of, node)), None)
        if key is not None and id(node) not in theirs:
            return reads.named(key, groups)
        set_children(node, visit)
        return node

    for column in values:
        column.set("table", exp.to_identifier(join.this.alias_or_name, quoted=True))
    made.set("expressions", [visit(e) for e in made.expressions])
    if made.args.get("order") is not None:
        visit(made.args["order"])
    if any(c.table != groups and id(c) not in theirs for part in _shown(made) for c in part.find_all(exp.Column)):
        return None
    equal = [exp.EQ(this=reads.named(placed[k], groups), expression=reads.named(k, join.this.alias_or_name)) for k in own]
    made.set("joins", [exp.Join(this=join.this, on=exp.and_(*equal))])
    made.set("from_", exp.From(this=inner.subquery(groups, copy=False)))
    made.set("where", None)
    made.set("group", None)
    return made


def _grouped(made: exp.Select, keys: Mapping[str, exp.Expr], shown: Mapping[str, exp.Expr]) -> exp.Select:
    """The groups of the rows of a SELECT by keys, with aggregates, under these names."""
    inner = part_of(made, *ROWS)
    inner.set("expressions", [exp.alias_(of.copy(), name) for name, of in (*keys.items(), *shown.items())])
    inner.set("group", exp.Group(expressions=[key.copy() for key in keys.values()]))
    return inner


def _write_names(made: exp.Select) -> None:
    """Write the names of the columns that a SELECT shows, and those by which it is ordered as their places."""
    for column in [e for e in made.expressions if isinstance(e, exp.Column)]:
        column.replace(exp.alias_(column.copy(), column.name, quoted=True))
    names = [lowered(e.alias_or_name) for e in made.expressions]
    for term in made.args["order"].expressions if made.args.get("order") is not None else ():
        if isinstance(term.this, exp.Column) and not term.this.table and lowered(term.this.name) in names:
            term.set("this", exp.convert(1 + names.index(lowered(term.this.name))))


def _links(join: exp.Join, own: Collection[str]) -> dict[str, exp.Expr]:
    """What the keys of a joined source are equal to, by their names; empty if the join asks for anything else."""
    if join.args.get("using"):
        return {lowered(name.name): exp.column(name.name, quoted=True) for name in join.args["using"]}
    alias, links = lowered(join.this.alias_or_name), dict[str, exp.Expr]()
    for part in conjoined(join.args.get("on")):
        sides = [bare(side) for side in part.iter_expressions()] if isinstance(part, exp.EQ) else []
        for one, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            of_join = isinstance(one, exp.Column) and lowered(one.table) == alias and lowered(one.name) in own
            if of_join and not any(lowered(c.table) in ("", alias) for c in other.find_all(exp.Column)):
                links[lowered(one.name)] = other
                break
        else:
            return {}
    return links
