"""A SELECT over groups that computes with their numbers, as one SELECT: ``SELECT k, s / n FROM (SELECT k, sum(x) AS s,
count(*) AS n FROM t GROUP BY k) WHERE n > 9`` as ``SELECT k, sum(x) / count(*) FROM t GROUP BY k HAVING count(*) > 9``.

More is known of numbers of one SELECT than of the columns of a source, such as that a sum by a count is an average.

Groups that are joined with the rows of a SELECT by keys that it groups by, joined with its groups instead:
``SELECT r.k, r.i, count(*) / max(t.n) FROM r JOIN t ON t.k = r.k GROUP BY r.k, r.i``, of groups ``t`` by ``k``.

The rows of a group have one partner, or none, so that the join keeps whole groups, and adds to each what one row says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set

from sqlglot import exp

from anondb.answers.ranged.aggregates import aggregates, has_aggregate
from anondb.answers.ranged.clauses import (
    ROWS,
    clauses_of,
    columns_of_join,
    conditions_of,
    copy_clauses,
    is_inner,
    is_same_key,
    part_of,
    places_of,
    selected,
    set_children,
    set_conditions,
    shown_by_name,
)
from anondb.answers.ranged.compiler import Env
from anondb.answers.ranged.equivalents import are_apart, is_itself, names_alias, shown_name
from anondb.answers.ranged.joined_groups import group_columns
from anondb.answers.ranged.originals import Originals, rule
from anondb.answers.ranged.relation import fresh
from anondb.answers.ranged.rollups import groups_of
from anondb.answers.ranged.sources import grouped
from anondb.answers.ranged.unions import sets_of
from anondb.engine import reads
from anondb.query.parsing import bare, conjoined, lowered

_OVER = {"expressions", "from_", "where", "group", "having", "qualify", "order", "limit", "offset", "with_", "distinct"}
_OF_ONE = (exp.Min, exp.Max, exp.Avg, exp.AnyValue)  # of one row they are its number
_CLAUSES = ("where", "having", "qualify", "order")


def as_one(node: exp.Select, env: Env, is_aggregate: Callable[[str], bool]) -> exp.Select | None:
    """A SELECT over groups that adds none of them up, as the SELECT of these groups; None for others.

    Args:
        node: the SELECT.
        env: the common table expressions that it sees.
        is_aggregate: tells by the name of a function that sqlglot does not know whether it is an aggregate.
    """
    place = node.args.get("from_")
    inner = None if place is None else groups_of(place.this, env, having=True)
    distinct = node.args.get("distinct")
    if place is None or inner is None or not clauses_of(node) <= _OVER or (distinct is not None and distinct.args.get("on")):
        return None
    windows, order = any(w.parent_select is inner for w in inner.find_all(exp.Window)), node.args.get("order")
    own = [*node.expressions, *([order] if order else [])]
    if windows and (
        any(node.args.get(key) for key in ("group", "having", "qualify")) or any(e.find(exp.Window) for e in own)
    ):
        return None
    copy, keys, alias = node.copy(), _keys(inner), lowered(place.this.alias_or_name)
    values = shown_by_name(inner)
    if keys is None or len(values) < len(inner.expressions) or not all(values):
        return None
    if (having := inner.args.get("having")) is not None and names_alias(having, inner):
        return None
    shown = [e for selected in copy.expressions for e in _shown(selected, inner, alias)]
    if any(e.is_star for e in shown) or (distinct is not None and not _shows(shown, values, keys)):
        return None
    if copy.args.get("group") is not None and not _without_groups(copy, shown, values, keys):
        return None
    computed = {lowered(e.alias_or_name) for e in shown if not is_itself(e)}
    copy.set("expressions", [exp.alias_(e.unalias(), shown_name(e), quoted=True, copy=False) for e in shown])
    parts = [*copy.expressions, *(copy.args[key] for key in _CLAUSES if copy.args.get(key) is not None)]
    if any(has_aggregate(part, is_aggregate) for part in parts) or not are_apart(parts, {alias}, values):
        return None
    plain = {n for e in shown if is_itself(e) and isinstance(values.get(n := lowered(e.alias_or_name)), exp.Column)}
    renamed = {lowered(e.alias_or_name) for e in shown} - {n for n in plain if lowered(values[n].name) == n}
    if not all(_write(part, values, alias, computed, renamed) for part in parts):
        return None
    clauses = ((inner, "having"), (copy, "where"), (copy, "having"))
    if windows and (where := copy.args.get("where")) is not None:  # of rows for which the windows are computed
        copy.set("where", None)
        copy.set("qualify", exp.Qualify(this=where.this))
    conditions = [part for of, key in clauses for part in conditions_of(of, key)]
    copy_clauses(inner, copy)
    copy.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    set_conditions(copy, conditions, "having")
    return copy


def _keys(inner: exp.Select) -> list[exp.Expr] | None:
    """The grouped expressions of a SELECT; None if a name may be that of a column of its tables or an alias."""
    names = {lowered(k.name) for k in inner.args["group"].expressions if isinstance(k, exp.Column) and not k.table}
    other = [e for e in inner.expressions if isinstance(e, exp.Alias) and lowered(e.alias) in names]
    plain = all(isinstance(e.this, exp.Column) and lowered(e.this.name) == lowered(e.alias) for e in other)
    return grouped(inner, lambda column: False) if plain else None


def _shows(shown: list[exp.Expr], values: Mapping[str, exp.Expr], keys: list[exp.Expr]) -> bool:
    """Whether all keys of groups are shown."""
    columns = [values.get(lowered(e.unalias().name)) for e in shown if isinstance(e.unalias(), exp.Column)]
    return all(key in columns for key in keys)


def _without_groups(made: exp.Select, shown: list[exp.Expr], values: Mapping[str, exp.Expr], keys: list[exp.Expr]) -> bool:
    """Write aggregates over groups as the numbers of these groups, where each is one row; returns whether it is.

    Args:
        made: the SELECT with GROUP BY, which is changed.
        shown: what it shows, which is changed.
        values: what the columns of the groups are, by their names.
        keys: the grouped expressions of the groups.
    """
    group = made.args["group"]
    if clauses_of(group) - {"expressions", "all"} or sets_of(made):
        return False
    again = [values.get(lowered(key.name)) for key in grouped(made, lambda c: lowered(c.name) in values)]
    if not all(key in again for key in keys):
        return False
    parts = [*shown, *(made.args[key] for key in _CLAUSES if made.args.get(key) is not None)]
    for call in [call for part in parts for call in part.find_all(exp.AggFunc)]:
        plain = isinstance(call, _OF_ONE) and isinstance(call.this, exp.Column) and not call.expressions
        if not plain or isinstance(call.parent, exp.Window | exp.Filter):
            return False
        call.replace(exp.cast(call.this, "DOUBLE") if isinstance(call, exp.Avg) else call.this)
    made.set("group", None)
    return True


def _shown(selected: exp.Expr, inner: exp.Select, alias: str) -> list[exp.Expr]:
    """What a SELECT over groups shows, with the columns of the groups in place of a star."""
    star = selected.this if isinstance(selected, exp.Column) else selected
    of_groups = not isinstance(selected, exp.Column) or lowered(selected.table) == alias
    if not isinstance(star, exp.Star) or any(star.args.values()) or not of_groups:
        return [selected]
    return [exp.column(e.alias_or_name, quoted=True) for e in inner.expressions]


def _write(part: exp.Expr, values: Mapping[str, exp.Expr], alias: str, computed: Set[str], made: Set[str]) -> bool:
    """Write what columns of groups are in their place; returns whether each name has one meaning.

    Args:
        part: a clause or a shown expression of the SELECT, which is changed.
        values: what the columns of the groups are, by their names.
        alias: the name of the groups.
        computed: the names of shown expressions that are no columns of these names, which QUALIFY and ORDER BY may use.
        made: the names of shown expressions that are then no columns of these names.
    """
    inside = {id(column) for query in part.find_all(exp.Select) for column in query.find_all(exp.Column)}
    for column in [column for column in part.find_all(exp.Column) if id(column) not in inside]:
        name = lowered(column.name)
        value = values.get(name) if lowered(column.table) in ("", alias) else None
        is_shown = part.key in ("qualify", "order") and not column.table and name in computed
        if is_shown and value is None:
            continue
        if isinstance(column.find_ancestor(exp.Bracket, exp.Select), exp.Bracket):
            return False  # sqlglot counts indices from 0 where it knows that they are whole numbers
        if is_shown or value is None or (part.key == "having" and not column.table and name in computed):
            return False
        if part.key in _CLAUSES and any(not c.table and lowered(c.name) in made for c in value.find_all(exp.Column)):
            return False  # the column, or what the SELECT gives
        plain = isinstance(value, exp.Column | exp.Literal | exp.Func) and not isinstance(value, exp.Connector)
        whole = plain or isinstance(column.parent, exp.Alias)
        column.replace(value.copy() if whole else exp.paren(value.copy()))
    return True


_PARTS = {"expressions", *ROWS, "group", "order", "limit", "offset", "with_"}
_OF_EQUAL = (exp.Max, exp.Min, exp.AnyValue, exp.First)
"""Aggregates that have the value of a column where it is the same in all rows."""


@rule(exp.Join, exp.Group, inner_first=True)
def with_joined_totals(select: exp.Select, originals: Originals) -> exp.Select | None:
    """A query in which a SELECT joins its groups, in place of its rows, with groups by some of its keys: not by ids, nor by
    the item alone, which are read beside each row (``joined_groups``), but their extremes."""
    joins, group = select.args.get("joins") or [], select.args.get("group")
    if group is None or not joins or not all(map(is_inner, joins)) or not clauses_of(select) <= _PARTS:
        return None
    if clauses_of(group) != {"expressions"} or names_alias(group, select) or select.is_star:
        return None
    if any(part.find(exp.Query, exp.Window) for part in _shown_parts(select)):
        return None
    named = {lowered(cte.alias): cte for cte in select.root().find_all(exp.CTE)}
    extremes = any(part.find(exp.Min, exp.Max, exp.First) for part in _shown_parts(select))
    for place, join in enumerate(joins):
        own, computed = group_columns(join.this, named)
        coarser = own and not own & originals.ids and (own != {originals.item} or extremes)
        made = _with_join(select.copy(), place, own, computed) if coarser else None
        if made is not None:
            return made
    return None


def _shown_parts(select: exp.Select) -> list[exp.Expr]:
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
    calls = [call for part in _shown_parts(made) for call in aggregates(part)]
    rest = [call for call in calls if not (isinstance(call, _OF_EQUAL) and id(call.this) in theirs)]
    inside = {id(column) for part in (*rest, *keys) for column in part.find_all(exp.Column)}
    if theirs & (read | inside) or "" in placed.values():
        return None
    groups, shown = fresh("groups"), {f"a{n}": call for n, call in enumerate(rest)}
    inner, numbers = _grouped(made, mine, shown), {id(call): name for name, call in shown.items()}

    def visit(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, _OF_EQUAL):  # of equal values
            node = node.this
        if id(node) in numbers:
            return reads.named(numbers[id(node)], groups)
        if isinstance(node, _OF_EQUAL) and isinstance(node.this, exp.Column) and id(node.this) in theirs:
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
    if any(c.table != groups and id(c) not in theirs for part in _shown_parts(made) for c in part.find_all(exp.Column)):
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
