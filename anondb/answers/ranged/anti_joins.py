"""Rows with and without a match as EXISTS, which may compare estimates: of SEMI JOIN and ANTI JOIN, and of ``FROM a LEFT
JOIN b ON ... WHERE b.k IS NULL``."""

from __future__ import annotations

from sqlglot import exp

from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.dependent_keys import group_columns, selected
from anondb.answers.ranged.equivalents import resolved
from anondb.answers.ranged.known import Known
from anondb.answers.ranged.sources import source_rows
from anondb.query.parsing import bare, conjoined, is_null, lowered

_NAMING = ("expressions", "where", "group", "having", "qualify", "distinct", "order", "limit", "offset")
"""The parts of a SELECT that may name a column of its sources, beside the conditions of joins."""
_WITHOUT_NULL = (exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg)
"""Aggregates that leave out NULL, which a column has in a row without a match."""
_OF_MATCHES = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_"}


def with_exists(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """A SELECT of other rows than those of persons with EXISTS in place of SEMI JOIN and ANTI JOIN; None without these."""
    clause, joins = node.args.get("from_"), node.args.get("joins") or []
    tested = [join for join in joins if join.kind in ("SEMI", "ANTI")]
    if clause is None or not tested or any(join.side in ("RIGHT", "FULL") for join in joins):
        return None
    kept = [join for join in joins if join not in tested]
    if any(compiler.people.is_source(place.this, env) for place in (clause, *kept)):
        return None
    made = node.copy()
    made.set("joins", [join.copy() for join in kept])
    for join in tested:
        on, using = join.args.get("on"), join.args.get("using") or ()
        sides = clause.this.alias_or_name, join.this.alias_or_name
        if (using and (len(joins) > 1 or not all(sides))) or (on is None and not using):
            return None
        equal = [exp.EQ(this=exp.column(n.copy(), sides[0]), expression=exp.column(n.copy(), sides[1])) for n in using]
        matches = exp.Select(expressions=[exp.convert(1)]).from_(join.this.copy())
        exists: exp.Expr = exp.Exists(this=matches.where(*equal, *([on.copy()] if on is not None else [])))
        made.where(exists if join.kind == "SEMI" else exp.Not(this=exists), copy=False)
    return made


def with_counted_matches(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """A SELECT that groups rows and their matches by LEFT JOIN with subqueries around each row; None for others.

    Such as ``SELECT a.item, count(b.item) FROM c a LEFT JOIN c b ON b.n > a.n GROUP BY a.item`` of one row for each item.
    """
    clause, joins, group = node.args.get("from_"), node.args.get("joins") or [], node.args.get("group")
    if clause is None or group is None or len(joins) != 1 or not {k for k, v in node.args.items() if v} <= _OF_MATCHES:
        return None
    (join,), on = joins, joins[0].args.get("on")
    left, right = (lowered(place.this.alias_or_name) for place in (clause, join))
    if join.side != "LEFT" or on is None or on.find(exp.Query) or on.find(exp.GT, exp.GTE, exp.LT, exp.LTE) is None:
        return None
    if any(compiler.people.is_source(place, env) for place in (clause.this, join.this)):
        return None
    keys = [resolved(selected(key, node), node) for key in group.expressions]
    own, _ = group_columns(clause.this, {name: cte.node for name, cte in env.items()})
    of_row = {lowered(key.name) for key in keys if isinstance(key, exp.Column) and lowered(key.table) == left}
    several = {k for k, v in group.args.items() if v} != {"expressions"}
    if several or not own or not own <= of_row or len(of_row) < len(set(keys)):
        return None
    made = exp.Select(**{key: node.args.get(key) for key in ("from_", "where", "order", "limit", "offset", "with_")}).copy()
    made.set("expressions", [exp.alias_(e.unalias().copy(), e.alias_or_name, quoted=True) for e in node.expressions])
    having = node.args.get("having")
    made = made if having is None else made.where(having.this.copy(), copy=False)
    for call in [call for call in made.find_all(exp.AggFunc) if call.parent_select is made]:
        what = call.this.expressions if isinstance(call.this, exp.Distinct) else [call.this, *call.expressions]
        of_match = len(what) == 1 and isinstance(what[0], exp.Column) and lowered(what[0].table) == right
        whole = call.parent if isinstance(call.parent, exp.Filter) else call
        if not of_match or not isinstance(call, _WITHOUT_NULL) or isinstance(whole.parent, exp.Window):
            return None
        matches = exp.Select(expressions=[whole.copy()]).from_(join.this.copy()).where(on.copy())
        whole.replace(exp.Subquery(this=matches))
    return made


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
        if relation is None or not any(is_never_null(p.this, relation, compiler) for p in tested):
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


def is_never_null(node: exp.Expr, relation: Known, compiler: Compiler) -> bool:
    """Whether a column of rows is NULL in none of them, for any original."""
    name = lowered(bare(node).name)
    found = [(n, c) for n, c in enumerate(relation.columns) if lowered(c.name) == name]
    if len(found) != 1 or found[0][1].present:
        return len(found) == 1
    ((number, column),) = found
    if column.item or column.bounded or column.unknown or relation.open:
        return column.item
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
