"""The columns of a result: what the analyst sees of the known rows of a query."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.answers.ranged.known import INTEGERS, Known, fresh
from anondb.query.parsing import lowered
from anondb.query.refusals import unsupported

CERTAIN = "certain"
WITH_BOUNDS = (
    "TINY",
    "SMALL",
    "INT",
    "BIGINT",
    "HUGEINT",
    "UTINY",
    "USMALL",
    "UINT",
    "UBIG",
    "UHUGE",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
    "DATE",
)
"""Types of computed columns that have bounds, beside BOOLEAN."""


def _unique(names: Sequence[str]) -> list[str]:
    """The names of columns as DuckDB makes them unique: ``n``, ``n_1``, ``n_2``."""
    unique: list[str] = []
    for name in names:
        number, candidate = 0, name
        while lowered(candidate) in map(lowered, unique):
            number += 1
            candidate = f"{name}_{number}"
        unique.append(candidate)
    return unique


def output(known: Known, bound: Sequence[tuple[str, str]], bounds: bool) -> tuple[list[exp.Expr], list[str], list[str]]:
    """The expressions and names of the columns that the analyst sees, and notes on them.

    Args:
        known: the rows.
        bound: the names and types of the query's columns; empty if DuckDB could not describe them.
        bounds: whether bounds are shown.
    """
    names = _unique([name for name, _ in bound] or [column.name for column in known.columns])
    types = [kind for _, kind in bound] or [""] * len(names)
    if len(names) != len(known.columns):
        raise unsupported("an expression that gives several columns, such as unnest of a struct", "Name the fields.")
    listed: list[exp.Expr] = []
    columns: list[str] = []
    notes: list[str] = []
    for n, (name, kind, column) in enumerate(zip(names, types, known.columns, strict=True)):
        estimate, lower, upper = (exp.column(f"c{n}{end}", "result") for end in ("", "_l", "_u"))
        columns.append(name)
        numeric = not kind or kind.startswith(WITH_BOUNDS)
        if column.bounded and kind == "BOOLEAN":
            decided = [exp.If(this=lower, true=exp.true()), exp.If(this=exp.Not(this=upper), true=exp.false())]
            listed.append(exp.Case(ifs=decided))
            continue
        listed.append(_number(estimate, kind) if column.bounded else _whole(estimate, kind))
        if column.by_estimate or (column.bounded and not numeric):
            notes.append(f"The column {name!r} is computed from estimates, and has no bounds.")
        if column.bounded and numeric and bounds:
            listed += [_finite(lower, kind), _finite(upper, kind)]
            columns += [f"{name}_lower", f"{name}_upper"]
    if known.asked or (bounds and known.unsure):
        listed.append(exp.column("sure", "result"))
        columns.append(CERTAIN)
    return listed, _unique(columns), notes


def _number(estimate: exp.Expr, kind: str) -> exp.Expr:
    """An estimate, in the precision of its bounds; NULL for NaN, such as the difference of infinite numbers."""
    if kind not in ("FLOAT", "DOUBLE"):
        return estimate
    number = exp.Not(this=exp.Anonymous(this="isnan", expressions=[exp.cast(estimate.copy(), "DOUBLE")]))
    return exp.Case(ifs=[exp.If(this=number, true=exp.cast(estimate, kind))])


def _whole(value: exp.Expr, kind: str) -> exp.Expr:
    """A known value; a whole number in the type that it has in the original."""
    return exp.cast(value, kind, dialect="duckdb") if kind in INTEGERS else value


def _finite(end: exp.Expr, kind: str) -> exp.Expr:
    """A bound; none if it is infinite, such as the logarithm of 0."""
    if kind not in ("FLOAT", "DOUBLE"):
        return end
    finite = exp.Anonymous(this="isfinite", expressions=[exp.cast(end.copy(), "DOUBLE")])
    return exp.Case(ifs=[exp.If(this=finite, true=end)])


def selected_from(known: Known, listed: Sequence[exp.Expr]) -> exp.Query:
    """The SELECT of these expressions."""
    source = exp.Subquery(this=known.tree, alias=exp.TableAlias(this=exp.to_identifier("result")))
    return exp.select(*(e.as_(fresh("o")) for e in listed)).from_(source)
