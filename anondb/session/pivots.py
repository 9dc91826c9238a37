"""PIVOT and UNPIVOT written out as what they stand for: GROUP BY with a FILTER for each column, and UNION ALL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from sqlglot import exp

from anondb.query.parsing import lowered
from anondb.query.refusals import too_complex, unsupported
from anondb.session.parameters import literal_of

MAX_COLUMNS = 200
Columns = Callable[[exp.Query], Sequence[str]]
"""The names of the columns of a query."""
Values = Callable[[exp.Query], Sequence[Any]]
"""The values of the only column of a query."""


def written_out(tree: exp.Expr, columns_of: Columns, values_of: Values) -> exp.Expr:
    """A query without PIVOT and UNPIVOT.

    Args:
        tree: the query.
        columns_of, values_of: of a query over the tables that this one sees.

    Raises:
        InputError: ``unsupported_query`` or ``query_too_complex``: too many columns.
    """
    while (pivot := tree.find(exp.Pivot)) is not None:
        place: exp.Expr = pivot
        source, on, using = pivot.this, pivot.expressions, pivot.args.get("using") or []
        if isinstance(pivot.parent, exp.Table | exp.Subquery) and pivot.arg_key == "pivots":
            place = pivot.parent
            source, on, using = _without_pivots(place), pivot.args.get("fields") or [], pivot.expressions
        rows = exp.select("*").from_(source.copy())
        write = _unpivoted if pivot.args.get("unpivot") else _pivoted
        made: exp.Expr = write(pivot, rows, [part.copy() for part in on], using, columns_of, values_of)
        if place is not pivot:
            alias = (
                pivot.args.get("alias") or place.args.get("alias") or exp.TableAlias(this=exp.to_identifier("pivoted"))
            )
            made = exp.Subquery(this=made, alias=alias.copy())
        if place is tree:
            return made
        place.replace(made)
    return tree


def _without_pivots(place: exp.Expr) -> exp.Expr:
    """A source of rows without what is done with them."""
    source = place.copy()
    for key in ("pivots", "joins", "laterals"):
        if key != "pivots" and source.args.get(key):
            raise unsupported("a join behind PIVOT", "Write PIVOT (SELECT ...) ON ...")
        source.set(key, None)
    return source


def _pivoted(
    pivot: exp.Pivot,
    rows: exp.Select,
    on: list[exp.Expr],
    using: Sequence[exp.Expr],
    columns_of: Columns,
    values_of: Values,
) -> exp.Select:
    """PIVOT: one row for each group, with the aggregates of the rows of each value."""
    listed: list[tuple[exp.Expr, Sequence[exp.Expr]]] = []
    for part in on:
        if isinstance(part, exp.In):
            listed.append((part.this, part.expressions))
        else:
            values = exp.select(part.copy().as_("v")).distinct().from_(rows.subquery("pivoted")).order_by("v")
            listed.append((part, [literal_of(value) for value in values_of(values) if value is not None]))
    aggregates = list(using) or [exp.Count(this=exp.Star(), big_int=True)]
    columns = list(product(*(values for _, values in listed)))
    if len(columns) * len(aggregates) > MAX_COLUMNS:
        raise too_complex(f"PIVOT has more than {MAX_COLUMNS} columns")
    group = pivot.args.get("group")
    if group is not None:
        keys = [key.copy() for key in group.expressions]
    else:
        used = {
            lowered(c.name) for part in (*(one for one, _ in listed), *aggregates) for c in part.find_all(exp.Column)
        }
        keys = [exp.column(exp.to_identifier(n, quoted=True)) for n in columns_of(rows) if lowered(n) not in used]
    made = exp.select(*(key.copy() for key in keys)).from_(rows.subquery("pivoted"))
    for chosen in columns:
        alike = zip(listed, chosen, strict=True)
        here = exp.and_(*(exp.EQ(this=one.copy(), expression=value.unalias().copy()) for (one, _), value in alike))
        for aggregate in aggregates:
            named = aggregate.alias if isinstance(aggregate, exp.Alias) or len(aggregates) > 1 else ""
            named = named or (aggregate.sql("duckdb", normalize_functions="lower") if len(aggregates) > 1 else "")
            name = "_".join([*(_text(value) for value in chosen), *([named] if named else [])])
            cell = exp.Filter(this=aggregate.unalias().copy(), expression=exp.Where(this=here.copy()))
            made = made.select(cell.as_(name, quoted=True))
    return made.group_by(*keys) if keys else made


def _unpivoted(
    pivot: exp.Pivot,
    rows: exp.Select,
    on: list[exp.Expr],
    using: Sequence[exp.Expr],
    columns_of: Columns,
    values_of: Values,
) -> exp.Query:
    """UNPIVOT: one row for each column that is not NULL."""
    into = pivot.args.get("into")
    name, value = "name", "value"
    if into is not None:
        name, (value, *_) = into.this.name, [column.name for column in into.expressions]
    elif using:
        name, value = on[0].this.name, using[0].name
        on = list(on[0].expressions)
    if not on or not all(isinstance(column, exp.Column) for column in on):
        raise unsupported("UNPIVOT of something else than named columns", "Name the columns.")
    turned = {lowered(column.name) for column in on}
    kept = [exp.column(exp.to_identifier(n, quoted=True)) for n in columns_of(rows) if lowered(n) not in turned]
    parts = []
    for column in on:
        there = exp.Not(this=exp.Is(this=column.copy(), expression=exp.null()))
        cells = [*kept, exp.Literal.string(column.name).as_(name, quoted=True), column.copy().as_(value, quoted=True)]
        parts.append(exp.select(*(cell.copy() for cell in cells)).from_(rows.subquery("turned")).where(there))
    return parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False)


def _text(value: exp.Expr) -> str:
    """A value as part of the name of a column."""
    literal = value.find(exp.Literal)
    return value.alias or (value.sql("duckdb").lower() if literal is None else literal.name)
