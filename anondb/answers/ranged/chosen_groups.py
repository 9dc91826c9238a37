"""A number of the group that a subquery chooses by its keys, as an aggregate of rows: ``(SELECT n FROM g WHERE g.k = t.k)``
over ``SELECT k, count(*) AS n FROM s GROUP BY k``."""

from __future__ import annotations

from sqlglot import exp

from anondb.answers.ranged.equivalents import link, query_of
from anondb.answers.ranged.groups import Groups, read_groups
from anondb.query.parsing import bare, conjoined, lowered


def with_chosen_groups(tree: exp.Expr) -> exp.Expr:
    """A query with aggregates in place of subqueries that choose a group for each of the rows around them."""
    if tree.find(exp.Group) is None or tree.find(exp.Subquery) is None:
        return tree
    made = tree.copy()
    for node in list(made.find_all(exp.Subquery)):
        query, around = node.this, node.find_ancestor(exp.From, exp.Join, exp.Select, exp.In)
        parts = {key for key, part in query.args.items() if part}
        if isinstance(query, exp.Select) and parts == {"expressions", "from_", "where"} and isinstance(around, exp.Select):
            _write(node, query)
    return made


def _write(node: exp.Subquery, query: exp.Select) -> None:
    """Put an aggregate in place of a subquery, if it chooses one group."""
    source = query.args["from_"].this
    inner = query_of(source)
    groups = read_groups(inner) if isinstance(inner, exp.Select) else None
    shown = bare(query.expressions[0].unalias()) if len(query.expressions) == 1 else None
    if groups is None or not isinstance(shown, exp.Column) or lowered(shown.name) not in groups.values:
        return
    chosen = _chosen(query, lowered(source.alias_or_name), groups)
    if chosen is None:
        return
    value, made = groups.values[lowered(shown.name)], exp.Select()
    for key in ("from_", "joins", "where"):
        made.set(key, groups.select.args.get(key))
    made = made.copy().where(*(exp.EQ(this=exp.paren(key.copy()), expression=to.copy()) for key, to in chosen))
    filled, counts = node.parent, isinstance(value, exp.Count)
    whole = counts and isinstance(filled, exp.Coalesce) and filled.this is node and filled.expressions == [exp.convert(0)]
    if not whole and not isinstance(value, exp.Count | exp.Sum | exp.Min | exp.Max | exp.Avg):
        return
    one = value.copy() if whole or not counts else exp.Nullif(this=value.copy(), expression=exp.convert(0))
    target: exp.Expr = filled if whole and filled is not None else node
    subquery = exp.Subquery(this=made.select(one))
    target.replace(exp.alias_(subquery, shown.name, quoted=True) if isinstance(target.parent, exp.Select) else subquery)


def _chosen(query: exp.Select, alias: str, groups: Groups) -> list[tuple[exp.Expr, exp.Expr]] | None:
    """What a subquery compares each key of its groups with, some of it of the rows around; None for others."""
    found: dict[str, exp.Expr] = {}
    for part in conjoined(query.args["where"].this):
        sides: tuple[exp.Expr, exp.Expr] | None = link(part, {alias}) if isinstance(part, exp.EQ) else None
        if sides is None and isinstance(part, exp.EQ):
            one, other = sorted((bare(part.this), bare(part.expression)), key=lambda side: isinstance(side, exp.Literal))
            sides = (one, other) if isinstance(other, exp.Literal) else None
        if sides is None or not isinstance(sides[0], exp.Column) or lowered(sides[0].table) not in ("", alias):
            return None
        found[lowered(sides[0].name)] = sides[1]
    outside = any(isinstance(value, exp.Column) for value in found.values())
    return (
        [(groups.keys[name], to) for name, to in found.items()] if outside and found.keys() == groups.keys.keys() else None
    )
