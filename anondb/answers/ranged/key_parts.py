"""``GROUP BY least(a.item, b.item)`` as groups of the groups by both items, whose numbers are added up."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import GROUPED, ROWS, aliased, clauses_of, part_of, places_of
from anondb.answers.ranged.sources import grouped
from anondb.query.parsing import lowered

TOGETHER: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.Count: exp.Sum,
    exp.Sum: exp.Sum,
    exp.Min: exp.Min,
    exp.Max: exp.Max,
}
"""For each aggregate of rows, that of the groups of which its group consists."""


def by_parts(node: exp.Select, tables: Mapping[str, Collection[str]]) -> exp.Select | None:
    """A SELECT that groups by an expression of columns of several rows as one over the groups by these columns.

    Args:
        node: the SELECT.
        tables: the columns of each table of persons, in lower case.

    Returns:
        None for a SELECT that groups by no such expression, or has other aggregates than sums, extremes and counts of rows.
    """
    group = node.args.get("group")
    if group is None or clauses_of(group) != {"expressions"}:
        return None
    if not clauses_of(node) <= GROUPED or node.is_star:
        return None
    columns_of_tables = {name for names in tables.values() for name in names}
    keys = grouped(node, lambda column: lowered(column.name) in columns_of_tables)
    several = [len(_rows_of(key, node, tables)) > 1 for key in keys]
    if not any(several):
        return None
    parts = [p for key, wide in zip(keys, several, strict=True) for p in (key.find_all(exp.Column) if wide else [key])]
    columns = {part: exp.column(f"p{n}", "parts") for n, part in enumerate(dict.fromkeys(parts))}
    values: dict[exp.Expr, exp.Column] = {}
    made = part_of(node, "having", "order", "limit", "offset", "with_")
    made.set("expressions", [exp.alias_(e.unalias().copy(), e.alias_or_name, quoted=True) for e in node.expressions])
    made.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    aliases = aliased(node).keys()
    outer = [*made.expressions, made.args["group"], *(made.args[k] for k in ("having", "order") if made.args.get(k))]
    if not all(_replace(part, columns, values, aliases) for part in outer):
        return None
    inner = part_of(node, *ROWS)
    shown = [part.copy().as_(column.name) for part, column in columns.items()]
    shown += [call.copy().as_(column.name) for call, column in values.items()]
    inner.set("expressions", shown)
    inner.set("group", exp.Group(expressions=[part.copy() for part in columns]))
    return made.from_(inner.subquery("parts"), copy=False)


def _rows_of(key: exp.Expr, node: exp.Select, tables: Mapping[str, Collection[str]]) -> set[str]:
    """The rows of tables of persons, by their aliases, of which an expression names columns, if it names no others."""
    named = [place.this for place in places_of(node) if isinstance(place.this, exp.Table) and not place.this.db]
    own = {lowered(table.alias_or_name) for table in named if lowered(table.name) in tables}
    rows = {lowered(column.table) for column in key.find_all(exp.Column)}
    return rows if rows <= own and key.find(exp.Query, exp.AggFunc, exp.Window) is None else set()


def _replace(
    node: exp.Expr, columns: Mapping[exp.Expr, exp.Column], values: dict[exp.Expr, exp.Column], aliases: Collection[str]
) -> bool:
    """Put columns of the groups by the parts in place of what they stand for; whether nothing else is left.

    Args:
        node: what the clause consists of.
        columns: for each part its column.
        values: for each aggregate its column; new ones are added.
        aliases: the names that the SELECT gives, which the clauses after it may use.
    """
    for child in list[exp.Expr](node.iter_expressions()):
        if child in columns:
            child.replace(columns[child].copy())
        elif isinstance(child, exp.AggFunc | exp.Filter):
            call, _ = filtered(child)
            together = TOGETHER.get(type(call))
            if together is None or isinstance(call.this, exp.Distinct) or call.expressions:
                return False
            value = values.setdefault(child.copy(), exp.column(f"v{len(values)}", "parts"))
            child.replace(together(this=value.copy()))
        elif isinstance(child, exp.Query | exp.Window):
            return False
        elif isinstance(child, exp.Column):
            if child.table or lowered(child.name) not in aliases:
                return False
        elif not _replace(child, columns, values, aliases):
            return False
    return True
