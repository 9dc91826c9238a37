"""Comparisons with all rows of a list, or with any: ``n >= ALL (SELECT n ...)`` by its extreme; and SEMI JOIN, or ``FROM a
LEFT JOIN b ON ... WHERE b.k IS NULL``, as EXISTS.

For numbers that are never NULL, ``x >= ALL (list)`` is ``coalesce(x >= max(list), TRUE)``: of an empty list the extreme is
NULL, and the comparison is true. So ``x >= ANY (list)`` is ``coalesce(x >= min(list), FALSE)``.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    FLAT,
    clauses_of,
    conditions_of,
    only_source,
    places_of,
    set_conditions,
    shown_by_name,
)
from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.equivalents import query_of
from anondb.answers.ranged.originals import Originals, rule, source_has_values
from anondb.query.parsing import bare, conjoined, lowered

_COMPARED = (exp.GTE, exp.GT, exp.LTE, exp.LT)


@rule((exp.All, exp.Any), of=_COMPARED)
def with_extremes(node: exp.Expr, originals: Originals) -> exp.Expr | None:
    """A query with comparisons with an extreme in place of those with all or any rows of a list of counts:
    ``x >= ALL (SELECT n ...)`` or ``x >= ANY (SELECT n ...)``."""
    of_all = isinstance(node.expression, exp.All)
    query = node.expression.this.unnest() if isinstance(node.expression, exp.All | exp.Any) else None
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.is_star:
        return None
    if not (_is_count(query.expressions[0].unalias(), query) and _is_count(node.this, node.parent_select)):
        return None
    greatest = isinstance(node, exp.GTE | exp.GT) == of_all
    value = exp.Subquery(this=_extreme(query, exp.Max if greatest else exp.Min))
    return exp.Coalesce(this=type(node)(this=node.this.copy(), expression=value), expressions=[exp.convert(of_all)])


def _extreme(query: exp.Select, kind: type[exp.Expr]) -> exp.Select:
    """The greatest or the least value of a query with one column, which may name columns around it where it only joins."""
    inner, name, value = query.copy(), exp.to_identifier("v"), query.expressions[0].unalias()
    if isinstance(value, exp.Column) and clauses_of(query) <= FLAT:
        inner.set("expressions", [kind(this=value.copy())])
        return inner
    inner.set("expressions", [exp.alias_(value.copy(), name)])
    return exp.select(kind(this=exp.column("v", "all_rows"))).from_(inner.subquery("all_rows"))


def _is_count(node: exp.Expr | None, select: exp.Select | None) -> bool:
    """Whether an expression is a count, or a column of a source of a SELECT that is one."""
    node = bare(node) if node is not None else None
    if isinstance(node, exp.Count | exp.CountIf):
        return isinstance(node, exp.Count)
    source = None if select is None else only_source(select)
    if not isinstance(node, exp.Column) or source is None:
        return False
    if node.table and lowered(node.table) != lowered(source.alias_or_name):
        return False
    inner = query_of(source)
    if not isinstance(inner, exp.Select):
        return False
    shown = [e for e in inner.expressions if lowered(e.alias_or_name) == lowered(node.name)]
    return len(shown) == 1 and _is_count(shown[0].unalias(), inner)


def with_exists(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """A SELECT of other rows than those of persons with EXISTS in place of SEMI JOIN and ANTI JOIN; None without these."""
    clause, joins = node.args.get("from_"), node.args.get("joins") or []
    tested = [join for join in joins if join.kind in ("SEMI", "ANTI")]
    if clause is None or not tested or any(join.side in ("RIGHT", "FULL") for join in joins):
        return None
    kept = [join for join in joins if join not in tested]
    if any(compiler.people.is_source(place.this, env) for place in (clause, *kept)):
        return None
    copy = node.copy()
    copy.set("joins", [join.copy() for join in kept])
    for join in tested:
        on, using = join.args.get("on"), join.args.get("using") or ()
        sides = clause.this.alias_or_name, join.this.alias_or_name
        if (using and (len(joins) > 1 or not all(sides))) or (on is None and not using):
            return None
        equal = [exp.EQ(this=exp.column(n.copy(), sides[0]), expression=exp.column(n.copy(), sides[1])) for n in using]
        matches = exp.Select(expressions=[exp.convert(1)]).from_(join.this.copy())
        exists: exp.Expr = exp.Exists(this=matches.where(*equal, *([on.copy()] if on is not None else [])))
        copy.where(exists if join.kind == "SEMI" else exp.Not(this=exists), copy=False)
    return copy


_NAMING = ("expressions", "where", "group", "having", "qualify", "distinct", "order", "limit", "offset")
"""The parts of a SELECT that may name a column of its sources, beside the conditions of joins."""


@rule(exp.Join, exp.Is)
def without_matches(select: exp.Select, originals: Originals) -> None:
    """The rows for which a LEFT JOIN finds no match, by NOT EXISTS in place of this join.

    A row without a match has NULL in each column of the joined rows; one with a match has no NULL in a column in which no
    joined row has any.
    """
    joins, sources = select.args.get("joins") or [], [place.this for place in places_of(select)]
    plain = all(isinstance(source, exp.Table | exp.Subquery) and source.alias_or_name for source in sources)
    if not plain or select.is_star or any(join.side in ("RIGHT", "FULL") or join.method for join in joins):
        return
    for join in [join for join in joins if join.side == "LEFT" and not (join.args.get("using") and len(joins) > 1)]:
        name, parts = lowered(join.this.alias_or_name), conditions_of(select)
        tested = [p for p in parts if (column := _tested(p)) is not None and lowered(column.table) == name]
        if not any(source_has_values(join.this, lowered(bare(p.this).name), originals.present) for p in tested):
            continue
        before, names = select.copy(), _columns_of(join.this, originals)
        joins.remove(join)
        set_conditions(select, [part for part in parts if part not in tested])
        if names and _with_nulls(select, name, names):
            using, alias = join.args.get("using") or (), sources[0].alias_or_name
            on = [exp.EQ(this=exp.column(n.copy(), alias), expression=exp.column(n.copy(), name)) for n in using]
            matches = exp.Select(expressions=[exp.convert(1)]).from_(join.this).where(*on, *conjoined(join.args.get("on")))
            select.where(exp.Not(this=exp.Exists(this=matches)), copy=False)
            return
        for key, part in before.args.items():
            select.set(key, part)
        return


def _columns_of(source: exp.Expr, originals: Originals) -> Collection[str]:
    """The names of the columns of a source, in lower case; empty where they do not show."""
    inner = query_of(source)
    if inner is None:
        return originals.names_of(source)
    return shown_by_name(inner) if isinstance(inner, exp.Select) and not inner.is_star else ()


def _tested(part: exp.Expr) -> exp.Column | None:
    """The column of which a condition says that it is NULL."""
    column = bare(part.this) if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null) else None
    return column if isinstance(column, exp.Column) else None


def _with_nulls(node: exp.Select, alias: str, names: Collection[str]) -> bool:
    """Write NULL for the columns of a source; returns whether a SELECT then names none of them for certain."""
    parts = [part for key in _NAMING for part in (node.args[key] if key == "expressions" else [node.args.get(key)])]
    parts += [join.args.get("on") for join in node.args["joins"]]
    for column in [c for part in parts if isinstance(part, exp.Expr) for c in part.find_all(exp.Column)]:
        of_rows = lowered(column.table) == alias or (not column.table and lowered(column.name) in names)
        if of_rows and (not column.table or column.parent_select is not node or lowered(column.name) not in names):
            return False
        if of_rows:
            column.replace(exp.alias_(exp.null(), column.name) if column.parent is node else exp.null())
    return True
