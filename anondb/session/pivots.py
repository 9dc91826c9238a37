"""PIVOT and UNPIVOT written out as what they stand for: GROUP BY with a FILTER for each column, and UNION ALL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sqlglot import exp

from anondb.query.parsing import lowered
from anondb.query.refusals import too_complex, unsupported
from anondb.session.parameters import literal_of

MAX_COLUMNS = 200


@dataclass(frozen=True)
class Source:
    """What PIVOT and UNPIVOT need of the rows that they turn.

    Attributes:
        columns: gives the names of the columns of a query over the tables that this one sees.
        values: gives the values of the only column of such a query.
    """

    columns: Callable[[exp.Query], Sequence[str]]
    values: Callable[[exp.Query], Sequence[Any]]

    def others(self, rows: exp.Select, used: set[str]) -> list[exp.Expr]:
        """The columns of rows but for some, which are named in lower case."""
        return [exp.column(exp.to_identifier(n, quoted=True)) for n in self.columns(rows) if lowered(n) not in used]


def written_out(tree: exp.Expr, source: Source) -> exp.Expr:
    """A query without PIVOT and UNPIVOT.

    Raises:
        InputError: ``unsupported_query`` or ``query_too_complex``: too many columns.
    """
    while (pivot := tree.find(exp.Pivot)) is not None:
        place: exp.Expr = pivot
        rows, on, using = pivot.this, pivot.expressions, pivot.args.get("using") or []
        if isinstance(pivot.parent, exp.Table | exp.Subquery) and pivot.arg_key == "pivots":
            place = pivot.parent
            rows, on, using = _without_pivots(place), pivot.args.get("fields") or [], pivot.expressions
        selected = exp.select("*").from_(rows.copy())
        parts = [part.copy() for part in on]
        made: exp.Expr = (
            _unpivoted(pivot.args.get("into"), selected, parts, using, source)
            if pivot.args.get("unpivot")
            else _pivoted(pivot.args.get("group"), selected, parts, using, source)
        )
        if place is not pivot:
            alias = pivot.args.get("alias") or place.args.get("alias") or _alias("pivoted")
            made = exp.Subquery(this=made, alias=alias.copy())
        if place is tree:
            return made
        place.replace(made)
    return tree


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))


def _without_pivots(place: exp.Expr) -> exp.Expr:
    """A source of rows without what is done with them."""
    source = place.copy()
    for key in ("pivots", "joins", "laterals"):
        if key != "pivots" and source.args.get(key):
            raise unsupported("a join behind PIVOT", "Write PIVOT (SELECT ...) ON ...")
        source.set(key, None)
    return source


def _pivoted(
    group: exp.Group | None, rows: exp.Select, on: Sequence[exp.Expr], using: Sequence[exp.Expr], source: Source
) -> exp.Select:
    """PIVOT: one row for each group, with the aggregates of the rows of each value."""
    turned = rows.subquery("pivoted")
    listed: list[tuple[exp.Expr, Sequence[exp.Expr]]] = []
    for part in on:
        if isinstance(part, exp.In):
            listed.append((part.this, part.expressions))
            continue
        values = source.values(exp.select(part.copy().as_("v")).distinct().from_(turned.copy()).order_by("v"))
        listed.append((part, [literal_of(value) for value in values if value is not None]))
    aggregates = list(using) or [exp.Count(this=exp.Star(), big_int=True)]
    columns = list(product(*(values for _, values in listed)))
    if len(columns) * len(aggregates) > MAX_COLUMNS:
        raise too_complex(f"PIVOT has more than {MAX_COLUMNS} columns")
    read = (c for part in (*(one for one, _ in listed), *aggregates) for c in part.find_all(exp.Column))
    keys = source.others(rows, {lowered(c.name) for c in read}) if group is None else group.expressions
    made = exp.select(*(key.copy() for key in keys)).from_(turned)
    for chosen in columns:
        alike = zip(listed, chosen, strict=True)
        here = exp.and_(*(exp.EQ(this=one.copy(), expression=value.unalias().copy()) for (one, _), value in alike))
        for aggregate in aggregates:
            named = aggregate.alias or (
                aggregate.sql("duckdb", normalize_functions="lower") if len(aggregates) > 1 else ""
            )
            name = "_".join([*(_text(value) for value in chosen), *([named] if named else [])])
            cell = exp.Filter(this=aggregate.unalias().copy(), expression=exp.Where(this=here.copy()))
            made = made.select(cell.as_(name, quoted=True))
    return made.group_by(*(key.copy() for key in keys)) if keys else made


def _unpivoted(
    into: exp.UnpivotColumns | None, rows: exp.Select, on: list[exp.Expr], using: Sequence[exp.Expr], source: Source
) -> exp.Query:
    """UNPIVOT: one row for each column that is not NULL."""
    name, value = "name", "value"
    if into is not None:
        name, (value, *_) = into.this.name, [column.name for column in into.expressions]
    elif using:
        name, value = on[0].this.name, using[0].name
        on = list(on[0].expressions)
    if not on or not all(isinstance(column, exp.Column) for column in on):
        raise unsupported("UNPIVOT of something else than named columns", "Name the columns.")
    kept = source.others(rows, {lowered(column.name) for column in on})
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
