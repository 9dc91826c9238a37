"""Rows without a match: ``FROM a LEFT JOIN b ON ... WHERE b.k IS NULL`` as NOT EXISTS, which may compare estimates."""

from __future__ import annotations

from sqlglot import exp

from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.known import Known
from anondb.answers.ranged.sources import source_rows
from anondb.query.parsing import bare, conjoined, is_null, lowered

_NAMING = ("expressions", "where", "group", "having", "qualify", "distinct", "order", "limit", "offset")
"""The parts of a SELECT that may name a column of its sources, beside the conditions of joins."""


def without_matches(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """A SELECT of the rows of which a LEFT JOIN finds no match, without this join; None for others.

    A row without a match has NULL in each column of the joined rows; one with a match has no NULL in a column in which no
    joined row has any.
    """
    clause, where, joins = node.args.get("from_"), node.args.get("where"), node.args.get("joins") or []
    if clause is None or where is None or not any(join.side == "LEFT" for join in joins):
        return None
    places = [clause.this, *(join.this for join in joins)]
    plain = all(isinstance(place, exp.Table | exp.Subquery) and place.alias_or_name for place in places)
    if not plain or any(join.side in ("RIGHT", "FULL") or join.args.get("using") for join in joins):
        return None
    parts = conjoined(where.this)
    if any(compiler.people.is_source(place, env) for place in places) or not any(map(_tested, parts)):
        return None
    for join in joins:
        if join.side != "LEFT" or join.args.get("on") is None:
            continue
        name = lowered(join.this.alias_or_name)
        tested = [p for p in parts if (column := _tested(p)) is not None and lowered(column.table) == name]
        kept = [part for part in parts if part not in tested]
        relation, _ = source_rows(compiler, join.this, env) if tested else (None, "")
        if relation is None or not any(_never_null(p.this, relation, compiler) for p in tested):
            continue
        made = node.copy()
        made.set("joins", [other.copy() for other in joins if other is not join])
        made.set("where", exp.Where(this=exp.and_(*(part.copy() for part in kept))) if kept else None)
        if _with_nulls(made, name, relation):
            matches = exp.Select(expressions=[exp.convert(1)]).from_(join.this.copy()).where(join.args["on"].copy())
            return made.where(exp.Not(this=exp.Exists(this=matches)))
    return None


def _tested(part: exp.Expr) -> exp.Column | None:
    """The column of which a condition says that it is NULL."""
    column = bare(part.this) if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null) else None
    return column if isinstance(column, exp.Column) else None


def _never_null(node: exp.Expr, relation: Known, compiler: Compiler) -> bool:
    """Whether a column of rows is NULL in none of them, for any original."""
    name = lowered(bare(node).name)
    found = [(n, c) for n, c in enumerate(relation.columns) if lowered(c.name) == name]
    if len(found) != 1 or found[0][1].present:
        return len(found) == 1
    ((number, column),) = found
    if relation.open or column.bounded or column.unknown:
        return False
    missing = exp.select(exp.convert(1)).from_(relation.tree.subquery("r")).where(is_null(exp.column(f"c{number}")))
    return not compiler.tables.rows(missing.limit(1))


def _with_nulls(node: exp.Select, alias: str, relation: Known) -> bool:
    """Write NULL for the columns of rows of this name; returns whether a SELECT then names none of them for certain."""
    names = {lowered(column.name) for column in relation.columns}
    parts = [part for key in _NAMING for part in (node.args[key] if key == "expressions" else [node.args.get(key)])]
    parts += [join.args.get("on") for join in node.args["joins"]]
    for column in [c for part in parts if isinstance(part, exp.Expr) for c in part.find_all(exp.Column)]:
        of_rows = lowered(column.table) == alias or (not column.table and lowered(column.name) in names)
        if of_rows and (not column.table or column.parent_select is not node or lowered(column.name) not in names):
            return False
        if of_rows:
            column.replace(exp.alias_(exp.null(), column.name) if column.parent is node else exp.null())
    return not any(isinstance(e, exp.Star) for e in node.expressions)
