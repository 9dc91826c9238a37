"""The parts of a SELECT, read and replaced: its clauses, sources, conditions, columns and aggregates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.query.parsing import bare, conjoined, lowered

ROWS = ("from_", "joins", "where")
"""The clauses that say which rows a SELECT reads."""
FLAT = {"expressions", *ROWS}
GROUPED = {*FLAT, "group", "having", "order", "limit", "offset", "with_"}  # what rules read of a SELECT with GROUP BY


def clauses_of(node: exp.Expr) -> set[str]:
    """The names of the parts that a SELECT, a GROUP BY or another node has."""
    return {name for name, part in node.args.items() if part}


def part_of(select: exp.Select, *names: str) -> exp.Select:
    """A SELECT with copies of some clauses of another one."""
    part = exp.Select()
    copy_clauses(select, part, names)
    return part


def copy_clauses(source: exp.Expr, target: exp.Expr, names: Iterable[str] = ROWS) -> None:
    """Replace some clauses of a SELECT, or parts of another node, by copies of those of another one."""
    for name in names:
        part = source.args.get(name)
        target.set(name, [p.copy() for p in part] if isinstance(part, list) else part and part.copy())


def set_children(node: exp.Expr, visit: Callable[[exp.Expr], exp.Expr]) -> None:
    """Put what ``visit`` makes of each child of an expression in its place."""
    for key, part in list(node.args.items()):
        if isinstance(part, list):
            node.set(key, [visit(child) if isinstance(child, exp.Expr) else child for child in part])
        elif isinstance(part, exp.Expr):
            node.set(key, visit(part))


# --- sources ----------------------------------------------------------------------------------------------------------


def places_of(select: exp.Expr) -> list[exp.Expr]:
    """FROM and the joins of a SELECT; nothing without FROM."""
    clause = select.args.get("from_")
    return [] if clause is None else [clause, *(select.args.get("joins") or ())]


def only_source(select: exp.Select) -> exp.Expr | None:
    """The only source of a SELECT; None if it has none or several."""
    places = places_of(select)
    return places[0].this if len(places) == 1 else None


def only_subquery(select: exp.Select) -> exp.Select | None:
    """The SELECT of a subquery that is the only source of another SELECT and gives its columns no other names."""
    source = only_source(select)
    plain = isinstance(source, exp.Subquery) and isinstance(source.this, exp.Select) and not source.alias_column_names
    return source.this if plain and source is not None else None


def is_inner(join: exp.Expr) -> bool:
    """Whether a join keeps each pair of rows that meets its condition, and no other rows."""
    args = join.args
    return not (args.get("side") or args.get("method")) and args.get("kind") in (None, "", "INNER", "CROSS")


# --- conditions -------------------------------------------------------------------------------------------------------


def conditions_of(select: exp.Expr, name: str = "where") -> list[exp.Expr]:
    """The conditions that AND connects in WHERE, or in another clause with a condition."""
    clause = select.args.get(name)
    return conjoined(None if clause is None else clause.this)


def set_conditions(select: exp.Select, parts: Iterable[exp.Expr], name: str = "where") -> None:
    """Let copies of these conditions be the WHERE of a SELECT, or its HAVING or QUALIFY; it has none without conditions."""
    kind = {"where": exp.Where, "having": exp.Having, "qualify": exp.Qualify}[name]
    listed = [exp.paren(part) if isinstance(part, exp.Query) else part for part in parts]
    select.set(name, kind(this=exp.and_(*listed)) if listed else None)


def sides_of(part: exp.Expr, *kinds: type[exp.Expr]) -> list[exp.Expr]:
    """The sides of an operation of these kinds, without parentheses; nothing of other expressions."""
    return [bare(side) for side in part.iter_expressions()] if isinstance(part, kinds) else []


def both_ways(part: exp.Expr | None, *kinds: type[exp.Expr]) -> list[tuple[exp.Expr, exp.Expr]]:
    """The two sides of an operation of these kinds, as written and swapped; nothing of other expressions."""
    sides = [] if part is None else sides_of(part, *kinds)
    return [(one, other) for one, other in (sides, sides[::-1])] if sides else []


# --- columns and aggregates -------------------------------------------------------------------------------------------


def selected(key: exp.Expr, node: exp.Select) -> exp.Expr:
    """The selected expression behind a position; other expressions as they are."""
    if not isinstance(key, exp.Literal) or not key.is_int or not 1 <= int(key.name) <= len(node.expressions):
        return key
    shown: exp.Expr = node.expressions[int(key.name) - 1].unalias()
    return shown


def shown_by_name(select: exp.Expr) -> dict[str, exp.Expr]:
    """The expressions that a SELECT shows, by the names of its columns, in lower case."""
    return {lowered(e.alias_or_name): e.unalias() for e in select.expressions}


def aliased(select: exp.Expr) -> dict[str, exp.Expr]:
    """The expressions to which a SELECT gives names, by these, in lower case."""
    return {lowered(e.alias): e.this for e in select.expressions if isinstance(e, exp.Alias)}


def is_same_key(key: exp.Expr, node: exp.Expr) -> bool:
    """Whether an expression is a grouped one; columns are compared by their names."""
    if not isinstance(key, exp.Column) or not isinstance(node, exp.Column):
        return key == node
    tables = {lowered(column.table) for column in (key, node) if column.table}
    return lowered(key.name) == lowered(node.name) and len(tables) < 2


def columns_of_join(select: exp.Select, join: exp.Expr, names: Collection[str], *apart: exp.Expr) -> list[exp.Column] | None:
    """The columns of a joined source that a SELECT names; None if it names others of it, or a subquery names one.

    Args:
        select: the SELECT.
        join: the join.
        names: the names of the columns of its source, in lower case.
        apart: parts of the SELECT, beside the join, that are left out.
    """
    alias = lowered(join.this.alias_or_name)
    inside = {id(column) for part in (join, *apart) for column in part.find_all(exp.Column)}
    columns = [c for c in select.find_all(exp.Column) if id(c) not in inside]
    columns = [c for c in columns if (lowered(c.table) == alias if c.table or not alias else lowered(c.name) in names)]
    plain = all(lowered(column.name) in names and column.parent_select is select for column in columns)
    return columns if plain else None


def put_value(column: exp.Expr, value: exp.Expr, select: exp.Select) -> None:
    """Put a value in place of a column, under its name if a SELECT shows it."""
    column.replace(exp.alias_(value, column.name, quoted=True) if column.parent is select else value)


def with_filter(call: exp.Expr) -> exp.Expr:
    """An aggregate with its FILTER, if it has one."""
    return call.parent if isinstance(call.parent, exp.Filter) else call


def filtered_by(call: exp.Expr, *conditions: exp.Expr | None) -> exp.Expr:
    """A copy of an aggregate with further conditions on its rows; None is no condition."""
    aggregate, wanted = filtered(call)
    parts = [part for part in (wanted, *conditions) if part is not None]
    return exp.Filter(this=aggregate.copy(), expression=exp.Where(this=exp.and_(*parts))) if parts else aggregate.copy()
