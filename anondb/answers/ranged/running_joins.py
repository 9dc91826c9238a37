"""Groups beside those up to them as running totals: ``SELECT x.k, sum(y.n) FROM c x JOIN c y ON y.k <= x.k GROUP BY x.k`` of
one row for each k as ``SELECT k, sum(n) OVER (ORDER BY k) FROM c``.

Totals of a common table beside its rows as windows: ``n / (SELECT sum(n) FROM c)`` over c as ``n / sum(n) OVER ()``."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.clauses import GROUPED, clauses_of, conditions_of, is_inner, only_source, part_of, put_value
from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.equivalents import (
    MIRRORED,
    are_apart,
    are_same,
    common_table,
    link,
    query_of,
    resolved,
    terms_of_order,
    values_shown,
)
from anondb.answers.ranged.joined_groups import keys_of_groups
from anondb.answers.ranged.originals import Originals, Present, is_present, rule
from anondb.answers.ranged.relation import fresh
from anondb.engine import reads
from anondb.query.parsing import bare, conjoined, lowered

_ALL_ROWS = {"expressions", "from_", "order", "limit", "offset", "with_"}
_AGGREGATES = (exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg)
_FLIPPED = {**MIRRORED, exp.EQ: exp.EQ}
Term = tuple[str, bool]
"""The name of a column by which rows are ordered, and whether the order is descending."""


@rule()
def with_running(select: exp.Select, originals: Originals) -> exp.Select | None:
    """A query with windows in place of joins and subqueries of the rows up to each row."""
    windowed = _with_totals(select, originals.present)
    if windowed is None:
        _with_subqueries(select, originals.present)
    return windowed


def _with_totals(node: exp.Select, present: Present) -> exp.Select | None:
    """A SELECT of groups and aggregates of those up to each of them, with windows; None for others."""
    clause, joins, group = node.args.get("from_"), node.args.get("joins") or [], node.args.get("group")
    if clause is None or group is None or len(joins) != 1 or not clauses_of(node) <= GROUPED:
        return None
    (join,), one = joins, clause.this
    if not is_inner(join) or join.args.get("using") or clauses_of(group) != {"expressions"} or not _are_same(one, join.this):
        return None
    names = [lowered(place.alias_or_name) for place in (one, join.this)]
    keys = [resolved(key, node) for key in group.expressions]
    tables = {lowered(key.text("table")) for key in keys}
    if len(tables) != 1 or not tables <= set(names) or not all(isinstance(key, exp.Column) for key in keys):
        return None
    row = tables.pop()
    other = names[1 - names.index(row)]
    own = keys_of_groups(one)
    parts = conjoined(join.args.get("on")) + conditions_of(node)
    terms = _terms(parts[0], row, other) if len(parts) == 1 else None
    if terms is None or not own or not own <= {lowered(key.name) for key in keys}:
        return None
    if not _are_never_null(terms, one, node, present):
        return None
    return _windowed(node, one if names[0] == row else join.this, terms, row, other)


def _with_subqueries(node: exp.Select, present: Present) -> None:
    """Write windows in place of ``(SELECT sum(y.n) FROM c y WHERE y.k <= x.k)`` beside the rows of ``c x``."""
    one = only_source(node)
    if not isinstance(one, exp.Table) or not clauses_of(node) <= _ALL_ROWS:
        return
    for query in values_shown(node):
        terms = _up_to(query.this, one)
        if terms is None or not _are_never_null(terms, one, node, present):
            continue
        call = query.this.expressions[0].unalias().copy()
        for column in call.find_all(exp.Column):
            column.set("table", exp.to_identifier(one.alias_or_name))
        query.replace(exp.Window(this=call, order=_order(terms, one), over="OVER"))


def with_counts_up_to(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """A SELECT of persons by a number with ``(SELECT count(*) FROM p u WHERE u.n <= p.n)`` in place of ``sum(count(*)) OVER
    (ORDER BY n)``; None for others.

    More is known of the persons up to a number than of those with each number.
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
        total = isinstance(window.this, exp.Sum) and window.this.this == exp.Count(this=exp.Star(), big_int=True)
        plain = total and not any(window.args.get(part) for part in ("partition_by", "spec", "alias"))
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
        window.replace(rows.subquery())
    return None if copy == before or (where is not None and where.find(exp.Query)) else copy


def _up_to(query: exp.Expr, one: exp.Table) -> list[Term] | None:
    """The order in which a query has the rows of a source up to its row, of which it shows an aggregate; None for others."""
    if not isinstance(query, exp.Select) or clauses_of(query) != {"expressions", "from_", "where"}:
        return None
    source, parts = query.args["from_"].this, conditions_of(query)
    call = query.expressions[0].unalias()
    plain = len(query.expressions) == 1 and type(call) in _AGGREGATES and not isinstance(call.this, exp.Distinct)
    if not plain or len(parts) != 1 or not _are_same(one, source):
        return None
    other = lowered(source.alias_or_name)
    own = all(lowered(column.table) in ("", other) for column in call.find_all(exp.Column))
    return _terms(parts[0], lowered(one.alias_or_name), other) if own else None


def _are_never_null(terms: list[Term], source: exp.Expr, node: exp.Select, present: Present) -> bool:
    """Whether the columns by which rows of a source of a SELECT are ordered are never NULL."""
    columns = (reads.named(name, source.alias_or_name) for name, _ in terms)
    return all(is_present(column, node, present) for column in columns)


def _order(terms: list[Term], source: exp.Expr) -> exp.Order:
    """The order of a window over the rows of a source."""
    columns = [(reads.named(name, source.alias_or_name), down) for name, down in terms]
    return exp.Order(expressions=[exp.Ordered(this=column, desc=down) for column, down in columns])


def _are_same(one: exp.Expr, other: exp.Expr) -> bool:
    """Whether two sources are the same rows under different names."""
    if not all(isinstance(place, exp.Table | exp.Subquery) and place.alias_or_name for place in (one, other)):
        return False
    return are_same(one, other) and lowered(one.alias_or_name) != lowered(other.alias_or_name)


def _terms(condition: exp.Expr, row: str, other: str) -> list[Term] | None:
    """The order in which the other row comes up to the row, by ``y.a > x.a OR y.a = x.a AND y.b <= x.b``; None for other
    conditions."""
    condition = bare(condition)
    if isinstance(condition, exp.GTE | exp.LTE) and isinstance(bare(condition.this), exp.Tuple):
        pairs = zip(*(bare(side).expressions for side in condition.iter_expressions()), strict=True)
        listed = [_terms(_positive(type(condition), *pair), row, other) for pair in pairs]
        return [term for terms in listed for term in terms or ()] if all(listed) else None
    if not isinstance(condition, exp.Or):
        compared = _compared(condition, row, other)
        kinds = {exp.GTE: True, exp.LTE: False}
        return [(compared[1], kinds[compared[0]])] if compared is not None and compared[0] in kinds else None
    for ahead, level in ((condition.left, condition.right), (condition.right, condition.left)):
        first, rest = _compared(bare(ahead), row, other), conjoined(level)
        if first is None or first[0] not in (exp.GT, exp.LT) or len(rest) != 2:
            continue
        for equal, further in (rest, rest[::-1]):
            if _compared(bare(equal), row, other) == (exp.EQ, first[1]) and (more := _terms(further, row, other)):
                return [(first[1], first[0] is exp.GT), *more]
    return None


def _positive(kind: type[exp.Binary], one: exp.Expr, other: exp.Expr) -> exp.Expr:
    """A comparison, in place of that of the negations of its sides."""
    sides = bare(one), bare(other)
    if all(isinstance(side, exp.Neg) for side in sides):
        one, other = (side.this for side in reversed(sides))
    return kind(this=one.copy(), expression=other.copy())


def _compared(node: exp.Expr, row: str, other: str) -> tuple[type[exp.Expr], str] | None:
    """How a column of the other row is compared with that of the row, and its name; None for other conditions."""
    kind = type(node)
    if kind not in _FLIPPED:
        return None
    left, right = bare(node.args["this"]), bare(node.args["expression"])
    if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)) or lowered(left.name) != lowered(right.name):
        return None
    sides = lowered(left.table), lowered(right.table)
    return (
        ({(other, row): kind, (row, other): _FLIPPED[kind]}[sides], lowered(left.name)) if {*sides} == {row, other} else None
    )


def _windowed(node: exp.Select, place: exp.Expr, terms: list[Term], row: str, other: str) -> exp.Select | None:
    """The SELECT over its groups alone, with its aggregates as windows; None if it names anything else."""
    made = part_of(node, "order", "limit", "offset", "with_")
    made.set("expressions", [exp.alias_(e.unalias(), e.alias_or_name, quoted=True) for e in node.expressions])
    made.set("from_", exp.From(this=place.copy()))
    if node.args.get("having") is not None:
        made.set("qualify", exp.Qualify(this=node.args["having"].this.copy()))
    own = [*made.expressions, *(made.args[key] for key in ("qualify", "order") if made.args.get(key) is not None)]
    calls = [call for part in own for call in part.find_all(exp.AggFunc) if call.find_ancestor(exp.Query) is made]
    inside = {id(column) for call in calls for column in call.find_all(exp.Column)}
    query = query_of(place)
    shown = [lowered(e.alias_or_name) for e in query.expressions] if query is not None and not query.is_star else None
    if not are_apart(own, {row, other}, shown):
        return None
    columns = [column for part in own for column in part.find_all(exp.Column)]
    for column in [column for column in columns if column.find_ancestor(exp.Query) is made]:
        named = not column.table and any(lowered(e.alias) == lowered(column.name) for e in made.expressions)
        if lowered(column.table) != (other if id(column) in inside else row) and not (named and id(column) not in inside):
            return None
        if id(column) in inside:
            column.set("table", exp.to_identifier(place.alias_or_name))
    for call in calls:
        if (
            not isinstance(call, _AGGREGATES)
            or isinstance(call.this, exp.Distinct)
            or call.find_ancestor(exp.Filter, exp.Window)
        ):
            return None
        call.replace(exp.Window(this=call.copy(), order=_order(terms, place), over="OVER"))
    return made


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
