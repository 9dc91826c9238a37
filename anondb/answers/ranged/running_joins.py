"""Totals of a common table beside its rows as windows: ``n / (SELECT sum(n) FROM c)`` over c as ``n / sum(n) OVER ()``, and
persons up to a number, counted together."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.clauses import GROUPED, clauses_of, conditions_of, places_of, put_value, shown_by_name
from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.equivalents import (
    FRAME,
    are_same,
    common_table,
    frame_of,
    link,
    query_of,
    resolved,
    terms_of_order,
    values_shown,
)
from anondb.answers.ranged.originals import Originals, is_present, rule
from anondb.answers.ranged.relation import fresh
from anondb.query.parsing import lowered


def with_counts_up_to(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """A SELECT of persons by a number with ``(SELECT count(*) FROM p u WHERE u.n <= p.n)`` in place of ``sum(count(*)) OVER
    (ORDER BY n)``; None for others.

    More is known of the persons up to a number than of those with each number. The number of a row is its key, so ROWS up to
    it are those of RANGE, and it has a person itself.
    """
    clause, group, where = node.args.get("from_"), node.args.get("group"), node.args.get("where")
    if clause is None or group is None or not clauses_of(node) <= {*GROUPED, "qualify"} - {"joins", "having"}:
        return None
    key = resolved(group.expressions[0], node) if len(group.expressions) == 1 else None
    if not isinstance(key, exp.Column) or not compiler.people.is_source(clause.this, env):
        return None
    ctes = {name: cte.node for name, cte in env.items()}
    if not is_present(key, node, lambda table, name: False, lambda t: common_table(t) or ctes.get(lowered(t.name))):
        return None
    copy, alias, own = node.copy(), fresh("up_to"), clause.this.alias_or_name or fresh("rows")
    if not clause.this.alias_or_name:
        copy.args["from_"].this.set("alias", exp.TableAlias(this=exp.to_identifier(own)))
    before = copy.copy()
    for window in [w for w in copy.find_all(exp.Window) if w.parent_select is copy]:
        terms = terms_of_order(window)
        total = isinstance(window.this, exp.Sum) and window.this.this == _ROWS
        up_to = frame_of(window)[1:] == FRAME[1:]
        plain = total and up_to and not any(window.args.get(part) for part in ("partition_by", "alias"))
        if not plain or len(terms) != 1 or resolved(terms[0].this, node) != key:
            continue
        place = clause.this.copy()
        place.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        least = exp.GTE if terms[0].args.get("desc") else exp.LTE
        rows = exp.select(exp.Count(this=exp.Star(), big_int=True)).from_(place)
        of_row = exp.column(key.this.copy(), own)
        rows = rows.where(least(this=exp.column(key.this.copy(), alias), expression=of_row))
        for part in conditions_of(node):
            rows = rows.where(part.transform(lambda n: exp.column(n.this.copy(), alias) if isinstance(n, exp.Column) else n))
        window.replace(exp.Greatest(this=exp.convert(1), expressions=[rows.subquery()]))
    return None if copy == before or (where is not None and where.find(exp.Query)) else copy


@rule(exp.Subquery, exp.Count)
def with_own_rows_counted(select: exp.Select, originals: Originals) -> None:
    """A query in which ``(SELECT count(*) FROM p WHERE p.n <= k.n)`` is 1 at least beside rows ``k`` of ``p``."""
    for inner in values_shown(select):
        query = inner.this
        plain = isinstance(query, exp.Select) and clauses_of(query) == {"expressions", "from_", "where"}
        part, *others = conditions_of(query) if plain else [exp.true()]
        if others or not isinstance(part, exp.LTE | exp.GTE) or query.expressions[0].unalias() != _ROWS:
            continue
        own, sides = query.args["from_"].this, [part.this, part.expression]
        if not all(isinstance(side, exp.Column) for side in sides):
            continue
        sides.sort(key=lambda side: lowered(side.table) == lowered(own.alias_or_name))
        beside = any(_is_row_of(place.this, sides[0], own, sides[1]) for place in places_of(select))
        if beside and is_present(sides[0], select, originals.present):
            inner.replace(exp.Greatest(this=exp.convert(1), expressions=[inner.copy()]))


def _is_row_of(source: exp.Expr, column: exp.Column, other: exp.Expr, of_other: exp.Column) -> bool:
    """Whether a column is that of a source each of whose rows is one of another source, or shows one of its values."""
    if lowered(source.alias_or_name) != lowered(column.table):
        return False
    if are_same(source, other):
        return lowered(column.name) == lowered(of_other.name)
    query = query_of(source)
    if not isinstance(query, exp.Select) or not clauses_of(query) <= {"expressions", "from_", "distinct", "group"}:
        return False
    shown = shown_by_name(query).get(lowered(column.name))
    same = isinstance(shown, exp.Column) and lowered(shown.name) == lowered(of_other.name)
    return same and are_same(query.args["from_"].this, other)


_ROWS = exp.Count(this=exp.Star(), big_int=True)
_PLAIN = {"expressions", "from_", "joins", "order", "limit", "offset", "with_"}
_TOTALS = (exp.Sum, exp.Count, exp.Min, exp.Max, exp.Avg)


@rule(exp.CTE)
def with_totals(select: exp.Select, originals: Originals) -> None:
    """A query with windows in place of subqueries and sources of one row that aggregate all rows of a common table, or those
    of them that have equal columns."""
    source = select.args["from_"].this if select.args.get("from_") is not None else None
    if not isinstance(source, exp.Table) or common_table(source) is None or not clauses_of(select) <= _PLAIN:
        return
    joins, order = select.args.get("joins") or [], select.args.get("order")
    if any(True for part in (*select.expressions, order) for _ in aggregates(part)):
        return
    beside = {lowered(join.this.alias_or_name): _beside(join, source) for join in joins}
    if None in beside.values() or (joins and any(shown.is_star for shown in select.expressions)):
        return
    columns = [c for part in (*select.expressions, *([order] if order else [])) for c in part.find_all(exp.Column)]
    named = Counter(name for of in beside.values() for name in of or ())
    query = query_of(source)
    own = [lowered(e.alias_or_name) for e in query.expressions] if query is not None and not query.is_star else [*named]
    inside_calls = [c for c in columns if c.find_ancestor(exp.Window, exp.AggFunc, exp.Select) is not c.parent_select]
    if any(lowered(c.table) in beside or (not c.table and lowered(c.name) in named) for c in inside_calls):
        return
    for column in columns:
        inside, of, name = column.parent_select is select, lowered(column.table), lowered(column.name)
        if (of in beside or (not of and name in named)) and not inside:
            return
        if not of and name in named:
            if name in own or named[name] > 1:
                return
            column.set("table", exp.to_identifier(next(alias for alias, values in beside.items() if name in (values or ()))))
    for column in columns:
        value = (beside.get(lowered(column.table)) or {}).get(lowered(column.name))
        if value is not None:
            put_value(column, value.copy(), select)
    select.set("joins", [])
    for inner in values_shown(select):
        query, where = inner.this, inner.this.args.get("where")
        by = _equal(query, source) if isinstance(query, exp.Select) else None
        if by is None or not all(is_present(key, select, originals.present) for key in by):
            continue
        query.set("where", None)
        if len(values := _totals(query, source)) == 1:
            (window,) = values.values()
            window.set("partition_by", [key.copy() for key in by])
            inner.replace(window)
        else:
            query.set("where", where)


def _equal(query: exp.Select, source: exp.Table) -> list[exp.Column] | None:
    """The columns of a source that a subquery says to be equal to its own of the same names; None if it asks more."""
    clause = query.args.get("from_")
    own = "" if clause is None else lowered(clause.this.alias_or_name)
    columns = []
    for part in conditions_of(query):
        inside, outer = (link(part, {own}) if isinstance(part, exp.EQ) else None) or (None, None)
        if not isinstance(inside, exp.Column) or outer is None or lowered(inside.name) != lowered(outer.name):
            return None
        columns.append(outer)
    return columns if all(lowered(outer.table) == lowered(source.alias_or_name) for outer in columns) else None


def _beside(join: exp.Join, source: exp.Table) -> dict[str, exp.Window] | None:
    """The columns of a joined source of one row of totals; None for other sources."""
    if join.side or join.method or join.kind not in ("", "CROSS") or join.args.get("on") or join.args.get("using"):
        return None
    return _totals(query_of(join.this), source) or None


def _totals(query: exp.Expr | None, source: exp.Table) -> dict[str, exp.Window]:
    """The columns of a query that are aggregates of all rows of a source, as windows, by their names; none for others."""
    plain = isinstance(query, exp.Select) and clauses_of(query) == {"expressions", "from_"}
    if query is None or not plain or not are_same(query.args["from_"].this, source):
        return {}
    inner = query.args["from_"].this
    if common_table(inner) is not common_table(source):
        return {}
    windows: dict[str, exp.Window] = {}
    for shown in query.expressions:
        call = shown.unalias().copy()
        if not isinstance(call, _TOTALS) or call.find(exp.Distinct, exp.Query):
            return {}
        if any(lowered(column.table) not in ("", lowered(inner.alias_or_name)) for column in call.find_all(exp.Column)):
            return {}
        for column in call.find_all(exp.Column):
            column.set("table", exp.to_identifier(source.alias_or_name))
        windows[lowered(shown.alias_or_name)] = exp.Window(this=call, over="OVER")
    return windows
