"""Values that are NULL in no row, told from the text of a query and the tables that it reads."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from anondb.answers.ranged.clauses import clauses_of
from anondb.answers.ranged.equivalents import common_table, query_of
from anondb.query.parsing import bare, lowered

Present = Callable[[exp.Table, str], bool | None]
"""Whether a column of a table, in lower case, is never NULL; None if the table has no such column."""


Named = Callable[[exp.Table], exp.CTE | None]
"""The common table expression that a name stands for."""

_TOTAL = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Floor, exp.Ceil, exp.Abs, exp.Upper, exp.Lower, exp.Trim, exp.DPipe),
    *(exp.DateTrunc, exp.TimestampTrunc, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Not),
)
"""Expressions that are NULL only where one of their parts is."""


def is_present(value: exp.Expr, select: exp.Select, present: Present, named: Named = common_table) -> bool:
    """Whether an expression of a SELECT, an aggregate of its groups or a value of its rows, is NULL in no row."""
    value, group, joins = bare(value), select.args.get("group"), select.args.get("joins") or []
    if isinstance(value, exp.Column):
        sets = group is not None and clauses_of(group) - {"expressions", "all"}
        if sets or select.args.get("from_") is None or any(join.side or join.method for join in joins):
            return False  # ROLLUP leaves out keys
        places = [source.this for source in (select.args["from_"], *joins)]
        of = [place for place in places if not value.table or lowered(place.alias_or_name) == lowered(value.table)]
        told = [never for place in of if (never := _of_source(place, lowered(value.name), present, named)) is not None]
        return bool(told) and all(told)
    parts = _parts(value, grouped=group is not None and _has_rows(group))
    return parts is not None and all(is_present(part, select, present, named) for part in parts)


def _has_rows(group: exp.Expr) -> bool:
    """Whether each group has rows: GROUP BY has one set of keys, which is not empty."""
    keys = group.expressions if clauses_of(group) == {"expressions"} else []
    sets = (exp.GroupingSets, exp.Rollup, exp.Cube)
    return bool(keys) and all(key.find(exp.Column, exp.Literal) is not None and not isinstance(key, sets) for key in keys)


def _parts(value: exp.Expr, *, grouped: bool) -> list[exp.Expr] | None:
    """The parts of an expression, without any of which it is NULL only if one of them is; None for others."""
    if isinstance(value, exp.Count | exp.Literal | exp.Boolean):
        return []
    if isinstance(value, exp.Case):
        return [*(branch.args["true"] for branch in value.args["ifs"]), value.args.get("default") or exp.null()]
    if isinstance(value, exp.Sum | exp.Avg | exp.Min | exp.Max):
        return [value.this] if grouped else None
    if isinstance(value, exp.IntDiv | exp.Mod):
        by = bare(value.expression)
        return [value.this] if isinstance(by, exp.Literal) and not by.is_string and float(by.name) else None
    same = type(value) is exp.Cast or isinstance(value, _TOTAL)
    return [part for part in value.iter_expressions() if not isinstance(part, exp.DataType | exp.Var)] if same else None


def _of_source(place: exp.Expr, name: str, present: Present, named: Named) -> bool | None:
    """Whether a column of a source is never NULL; None if it has no such column."""
    if place.alias_column_names:
        return False
    inner = query_of(place, named)
    if inner is None and isinstance(place, exp.Table) and (place.db or named(place) is None):
        return present(place, name)
    if not isinstance(inner, exp.Select) or inner.is_star:
        return False
    shown = [e.unalias() for e in inner.expressions if lowered(e.alias_or_name) == name]
    return all(is_present(e, inner, present, named) for e in shown) if shown else None
