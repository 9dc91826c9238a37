"""What the rules of the normal form take from the original's tables, such as values that are NULL in no row, and how they
write a query."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from sqlglot import exp

from anondb.answers.ranged.clauses import clauses_of
from anondb.answers.ranged.equivalents import common_table, query_of
from anondb.answers.roles import AnalystTables
from anondb.query.parsing import bare, is_null, lowered


@dataclass(frozen=True)
class Originals:
    """The tables of a query: the original's, and the analyst's.

    Attributes:
        columns: the columns of each table of the original, in lower case, and whether one is the id.
        own: the columns of the analyst's tables, in lower case.
        persons: the table of persons and their items; others have one row for each person.
        item: its column of items, in lower case.
        once: whether a person has a row for each item, once.
        nullable: the columns of the original's tables that may be NULL, in lower case.
        analyst: the analyst's tables.
    """

    columns: Mapping[str, Mapping[str, bool]]
    own: Mapping[str, Collection[str]]
    persons: str
    item: str
    once: bool
    nullable: Collection[str]
    analyst: AnalystTables

    @property
    def ids(self) -> set[str]:
        """The names of the columns of ids."""
        return {name for of in self.columns.values() for name, is_id in of.items() if is_id}

    def names_of(self, table: exp.Expr) -> Collection[str]:
        """The columns of a table of the original, or of the analyst; empty for other sources."""
        plain = isinstance(table, exp.Table) and not table.db
        return (self.columns.get(lowered(table.name)) or self.own.get(lowered(table.name), ())) if plain else ()

    def present(self, table: exp.Table, name: str) -> bool | None:
        """Whether a column of a table, in lower case, is never NULL; None if the table has no such column."""
        columns = self.own.get(lowered(table.name)) or self.columns.get(lowered(table.name)) or ()
        if table.db or name not in columns:
            return None if columns and not table.db else False
        missing = exp.select("1").from_(exp.Table(this=table.this.copy())).where(is_null(exp.column(name, quoted=True)))
        of_analyst = lowered(table.name) in self.own
        return not self.analyst.rows(missing.limit(1)) if of_analyst else name not in self.nullable

    def record(self, table: exp.Expr) -> str | None:
        """The id of a table with one row for each person; None for other sources."""
        name = lowered(table.name) if isinstance(table, exp.Table) and not table.db else self.persons
        return None if name == self.persons else self.id_of(name)

    def id_of(self, name: str) -> str | None:
        """The id of a table, if it has one."""
        ids = [column for column, is_id in self.columns.get(name, {}).items() if is_id]
        return ids[0] if len(ids) == 1 else None


Rule = Callable[[exp.Expr, Originals], exp.Expr]
"""Writes a query as another one with the same result."""


def rule(
    *needed: type[exp.Expr] | tuple[type[exp.Expr], ...],
    of: tuple[type[exp.Expr], ...] = (exp.Select,),
    inner_first: bool = False,
) -> Callable[[Callable[[Any, Originals], exp.Expr | None]], Rule]:
    """Make a rule of a function that gets each SELECT, changes it, or returns what takes its place.

    Args:
        needed: kinds of nodes; a query without one of each stays as it is.
        of: the kinds of nodes that the function gets, if not SELECT.
        inner_first: whether it gets inner ones first.
    """

    def made(write: Callable[[Any, Originals], exp.Expr | None]) -> Rule:
        @wraps(write)
        def written(tree: exp.Expr, originals: Originals) -> exp.Expr:
            if any(tree.find(*(kind if isinstance(kind, tuple) else (kind,))) is None for kind in needed):
                return tree
            copy = tree.copy()
            nodes = list(copy.find_all(*of))
            for node in reversed(nodes) if inner_first else nodes:
                other = write(node, originals)
                if other is not None and node is copy:
                    copy = other
                elif other is not None:
                    node.replace(other)
            return copy

        return written

    return made


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
        told = [
            never for place in of if (never := source_has_values(place, lowered(value.name), present, named)) is not None
        ]
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


def source_has_values(place: exp.Expr, name: str, present: Present, named: Named = common_table) -> bool | None:
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
