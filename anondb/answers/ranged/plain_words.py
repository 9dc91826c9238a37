"""Plain words: numbers of rows, conditions that all meet, DISTINCT of single rows, common tables of subqueries."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.ranged.clauses import (
    clauses_of,
    conditions_of,
    only_source,
    part_of,
    places_of,
    set_conditions,
    shown_by_name,
)
from anondb.answers.ranged.equivalents import FRAME, common_table, frame_of, query_of
from anondb.answers.ranged.groups import read_groups
from anondb.answers.ranged.originals import Originals, is_present, rule
from anondb.query.parsing import bare, lowered

_SAME = {
    ("mean", 1): "avg({0})",
    ("favg", 1): "avg({0})",
    ("fsum", 1): "sum({0})",
    ("kahan_sum", 1): "sum({0})",
    ("sumkahan", 1): "sum({0})",
    ("geomean", 1): "exp(avg(ln({0})))",
    ("geometric_mean", 1): "exp(avg(ln({0})))",
    ("weighted_avg", 2): "sum(({0}) * ({1})) / sum(CASE WHEN {0} IS NOT NULL THEN {1} ELSE 0 END)",
}
"""Other words of DuckDB for aggregates, by their names and numbers of operands."""
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify)
_ROWS = exp.Count(this=exp.Star(), big_int=True)
_OF_EACH_GROUP = (exp.GTE(this=_ROWS, expression=exp.convert(1)), exp.GT(this=_ROWS, expression=exp.convert(0)))
"""What each group meets, since it has a row."""
_ALWAYS = (exp.true(), exp.EQ(this=exp.convert(1), expression=exp.convert(1)))


def with_plain_words(tree: exp.Expr) -> exp.Expr:
    """A query with ``count(*)``, ``avg`` and ``sum`` in place of other words for these, without double negations, without
    parentheses that change nothing around conditions that AND connects, without the frames that windows have anyway, and
    without conditions that all meet: ``WHERE 1 = 1``, and ``HAVING count(*) >= 1`` of groups; with LIMIT in place of ``FETCH
    FIRST 3 ROWS ONLY``, the schema in which the original's tables are for the current one, ``x COLLATE c = 'l'`` for ``x =
    'l' COLLATE c``, and IN and ``(a, b)`` for ``list_contains`` and ``row``."""
    copy = tree.copy()
    for call in reversed(list(copy.find_all(exp.Anonymous))):  # inner ones first
        if (written := _SAME.get((lowered(call.name), len(call.expressions)))) is not None:
            made: exp.Expr = exp.maybe_parse(written.format(*(e.sql("duckdb") for e in call.expressions)), dialect="duckdb")
            if isinstance(made, exp.AggFunc) or not isinstance(call.parent, exp.Window):
                call.replace(made)
    for schema in list(copy.find_all(exp.CurrentSchema)):
        schema.replace(exp.Literal.string("main"))
    for contains in list(copy.find_all(exp.ArrayContains)):
        if isinstance(contains.this, exp.Array) and all(isinstance(e, exp.Literal) for e in contains.this.expressions):
            contains.replace(exp.In(this=contains.expression, expressions=contains.this.expressions))
    for row in [call for call in copy.find_all(exp.Anonymous) if lowered(call.name) == "row"]:
        if isinstance(row.parent, exp.EQ) and len(row.expressions) > 1:
            row.replace(exp.Tuple(expressions=row.expressions))
    for collated in list(copy.find_all(exp.Collate)):
        _collate_other_side(collated)
    for window in [window for window in copy.find_all(exp.Window) if frame_of(window) == FRAME]:
        window.set("spec", None)
    for fetch in [fetch for fetch in copy.find_all(exp.Fetch) if _is_of_rows(fetch)]:
        fetch.replace(exp.Limit(expression=fetch.args.get("count") or exp.convert(1)))
    for number in list(copy.find_all(exp.Count, exp.CountIf, exp.Sum)):
        if (counted := _rows_counted(number)) is not None:
            number.replace(counted)
    for negated in reversed(list(copy.find_all(exp.Not))):
        again = negated.this.unnest()
        if isinstance(again, exp.Not) and isinstance(again.this.unnest(), exp.Predicate | exp.Connector | exp.Not):
            negated.replace(exp.paren(again.this, copy=False))
    for paren in reversed(list(copy.find_all(exp.Paren))):
        if isinstance(paren.parent, _CONDITIONS) or (isinstance(paren.parent, exp.And) and isinstance(paren.this, exp.And)):
            paren.replace(paren.this)
    for select in copy.find_all(exp.Select):
        _join_where_told(select)
        _join_left(select)
        _write_distinct(select)
        for clause, met in (("where", _ALWAYS), ("having", _OF_EACH_GROUP if _has_groups(select) else ())):
            parts = conditions_of(select, clause)
            if any(part in met for part in parts):
                set_conditions(select, [part for part in parts if part not in met], clause)
    return copy


def with_column_names(tree: exp.Expr) -> exp.Expr:
    """A query whose sources name their columns themselves: ``(SELECT a AS x FROM t) s`` for ``(SELECT a FROM t) s(x)``, and
    what a subquery shows in place of ``SELECT *`` from it."""
    copy = tree.copy()
    for named in copy.find_all(exp.Subquery, exp.CTE):
        if named.alias_column_names and isinstance(named.this, exp.Select):
            _name_columns(named.this, named.args["alias"])
    for select in reversed(list(copy.find_all(exp.Select))):
        source = only_source(select)
        inner = query_of(source) if source is not None and select.expressions == [exp.Star()] else None
        if select.parent is not None and isinstance(inner, exp.Select) and not inner.is_star and all(shown_by_name(inner)):
            names = [exp.to_identifier(e.alias_or_name, quoted=True) for e in inner.expressions]
            if len(names) == len(shown_by_name(inner)):
                select.set("expressions", [exp.column(name) for name in names])
    return copy


def _name_columns(select: exp.Select, alias: exp.TableAlias) -> None:
    """Let a SELECT show its columns by the names that an alias gives them, unless one of these means something there."""
    both = zip(select.expressions, alias.columns, strict=False)
    changed = [(e, name) for e, name in both if lowered(e.alias_or_name) != lowered(name.name)]
    taken = {lowered(name) for e, new in changed for name in (e.alias, new.name)}
    if select.is_star or taken & {lowered(c.name) for c in select.find_all(exp.Column) if not c.table}:
        return
    for expression, name in changed:
        expression.replace(exp.alias_(expression.unalias().copy(), name.copy()))
    alias.set("columns", None)


def _collate_other_side(collated: exp.Collate) -> None:
    """Give the collation of a literal to what it is compared with: constants are read as values without one."""
    side: exp.Expr = collated
    while isinstance(side.parent, exp.Paren):
        side = side.parent
    compared = side.parent
    if isinstance(collated.this, exp.Literal) and isinstance(compared, exp.Predicate) and isinstance(compared, exp.Binary):
        other = compared.right if compared.left is side else compared.left
        literal, kind = collated.this.copy(), collated.expression.copy()
        side.replace(literal)
        if not isinstance(other, exp.Collate):
            other.replace(exp.Collate(this=other.copy(), expression=kind))


def _is_of_rows(fetch: exp.Fetch) -> bool:
    """Whether FETCH takes a number of rows, neither a part of all nor those that are equal to the last one."""
    options = fetch.args.get("limit_options")
    return options is None or not (options.args.get("percent") or options.args.get("with_ties"))


def _join_where_told(select: exp.Select) -> None:
    """Write the equal columns of two sources, which WHERE names, as the condition of the inner join of the second one."""
    joins, before = select.args.get("joins") or [], {lowered(place.this.alias_or_name) for place in places_of(select)[:1]}
    if any(join.side in ("RIGHT", "FULL") for join in joins):
        return
    for join in joins:
        name, parts = lowered(join.this.alias_or_name), conditions_of(select)
        told = [part for part in parts if isinstance(part, exp.EQ) and _is_link(part, name, before)]
        plain = (
            clauses_of(join) <= {"this", "kind"} and join.kind in ("", "CROSS") and not isinstance(join.this, exp.Lateral)
        )
        if plain and told:
            join.set("kind", None)
            join.set("on", exp.and_(*told))
            set_conditions(select, [part for part in parts if part not in told])
        before.add(name)


def _write_distinct(select: exp.Select) -> None:
    """Write ``SELECT DISTINCT ON (x) x`` as the different rows that it is."""
    distinct, order = select.args.get("distinct"), select.args.get("order")
    keys = None if distinct is None else distinct.args.get("on")
    terms = {term.this for term in order.expressions} if order is not None else set()
    if keys is not None and {*keys.expressions} == {*select.expressions} >= terms:
        select.set("distinct", exp.Distinct())


def _join_left(select: exp.Select) -> None:
    """Write ``a RIGHT JOIN b`` as ``b LEFT JOIN a``, where nothing depends on the order of columns."""
    joins, sources = select.args.get("joins") or [], select.args.get("from_")
    plain = len(joins) == 1 and joins[0].side == "RIGHT" and isinstance(joins[0].this, exp.Table | exp.Subquery)
    if sources is not None and plain and not joins[0].method and not any(e.is_star for e in select.expressions):
        first, second = sources.this.copy(), joins[0].this.copy()
        sources.set("this", second)
        joins[0].set("this", first)
        joins[0].set("side", "LEFT")


def _is_link(part: exp.EQ, name: str, before: Collection[str]) -> bool:
    """Whether a condition compares a column of a source with one of those before it."""
    sides = [side for side in (part.left, part.right) if isinstance(side, exp.Column) and side.table]
    tables = {lowered(side.table) for side in sides}
    return len(sides) == len(tables) == 2 and name in tables and bool(tables & {*before})


def _has_groups(select: exp.Expr | None) -> bool:
    """Whether a SELECT has GROUP BY keys, without grouping sets, so that each of its groups has a row."""
    group = None if select is None else select.args.get("group")
    keys = [bare(key) for key in group.expressions] if group is not None and clauses_of(group) == {"expressions"} else []
    return bool(keys) and not any(isinstance(key, exp.Tuple | exp.Rollup | exp.Cube | exp.GroupingSets) for key in keys)


def _rows_counted(call: exp.Expr) -> exp.Expr | None:
    """``count(CASE WHEN c THEN 1 END)`` as the number of rows with c, ``count(1)`` and ``sum(1)`` of groups as that of rows,
    ``count_if(x IS NOT NULL)`` of groups as ``count(x)``; None for other calls."""
    every, what, alone = exp.Count(this=exp.Star(), big_int=True), call.this, not isinstance(call.parent, exp.Filter)
    if isinstance(call, exp.CountIf):
        test = bare(what.this) if isinstance(what, exp.Not) else None
        null = isinstance(test, exp.Is) and isinstance(test.expression, exp.Null) and isinstance(test.this, exp.Column)
        groups = alone and _has_groups(call.parent_select) and not isinstance(call.parent, exp.Window)
        return exp.Count(this=test.this.copy(), big_int=True) if test is not None and null and groups else None
    if isinstance(call, exp.Sum):
        groups = what == exp.convert(1) and alone and not isinstance(call.parent, exp.Window)
        return every if groups and _has_groups(call.parent_select) else None
    if isinstance(what, exp.Literal):
        return every
    plain = isinstance(what, exp.Case) and what.this is None and isinstance(what.args.get("default"), exp.Null | None)
    branches = what.args["ifs"] if plain and alone else []
    if len(branches) != 1 or not isinstance(branches[0].args["true"], exp.Literal):
        return None
    return exp.Filter(this=every, expression=exp.Where(this=branches[0].this.copy()))


@rule(exp.Distinct)
def without_idle_distinct(select: exp.Select, originals: Originals) -> None:
    """A query without DISTINCT in each SELECT whose rows differ: a single row of aggregates, and groups shown with their
    keys."""
    distinct, shown = select.args.get("distinct"), select.expressions
    if distinct is None or distinct.args.get("on") or any(e.find(exp.Explode, exp.Unnest) for e in shown):
        return
    single = select.args.get("group") is None and any(has_aggregate(e, originals.analyst.is_aggregate) for e in shown)
    if single or _shows_keys(select):
        select.set("distinct", None)


def _shows_keys(select: exp.Select) -> bool:
    """Whether a SELECT shows all keys of the groups that it makes, or chooses from its only source."""
    plain = part_of(select, *(clauses_of(select) - {"distinct", "where", "order", "limit", "offset", "with_"}))
    source = only_source(select)
    if source is None or clauses_of(plain) != {"expressions", "from_"}:
        return read_groups(plain, having=True) is not None
    inner = query_of(source)
    groups = read_groups(inner, having=True) if isinstance(inner, exp.Select) else None
    shown = {lowered(e.unalias().name) for e in select.expressions if isinstance(e.unalias(), exp.Column)}
    return groups is not None and {*groups.keys} <= shown


@rule(exp.Limit, exp.Count)
def with_limits_counted(select: exp.Select, originals: Originals) -> None:
    """A query with ``least(5, count(*))`` over all rows in place of ``count(*)`` of the first 5 of them."""
    source = only_source(select)
    inner = source.this if isinstance(source, exp.Subquery) else None
    counts = [e.unalias() for e in select.expressions]
    if not isinstance(inner, exp.Select) or not clauses_of(select) <= {"expressions", "from_", "with_"} or counts != [_ROWS]:
        return
    clauses = [inner.args.get(name) for name in ("limit", "offset")]
    ends = [None if clause is None else clause.expression for clause in clauses]
    plain = all(clause is None or clauses_of(clause) == {"expression"} for clause in clauses)  # no percentage
    if not plain or ends[0] is None or not all(end is None or (isinstance(end, exp.Literal) and end.is_int) for end in ends):
        return
    for name in ("order", "limit", "offset"):
        inner.set(name, None)
    number: exp.Expr = _ROWS.copy()
    if ends[1] is not None:
        number = exp.Greatest(this=exp.convert(0), expressions=[exp.Sub(this=number, expression=ends[1])])
    counts[0].replace(exp.Least(this=ends[0], expressions=[number]))


@rule(exp.Count)
def with_rows_counted(select: exp.Select, originals: Originals) -> None:
    """A query with ``count(*)`` in place of ``count(x)``, where x is NULL in no row, and of ``count(DISTINCT (id, item))``
    of the table of persons who have each item once."""
    alone = only_source(select)
    persons = isinstance(alone, exp.Table) and lowered(alone.name) == originals.persons and common_table(alone) is None
    for call in [c for c in select.find_all(exp.Count) if c.parent_select is select]:
        rows = call.this.expressions if persons and originals.once and isinstance(call.this, exp.Distinct) else []
        parts = rows[0].expressions if len(rows) == 1 and isinstance(rows[0], exp.Tuple) else []
        names = {lowered(part.name) for part in parts if isinstance(part, exp.Column)}
        once = names == {originals.id_of(originals.persons), originals.item}
        if once or (isinstance(call.this, exp.Column) and is_present(call.this, select, originals.present)):
            call.replace(_ROWS.copy())


def with_outer_ctes(tree: exp.Expr, originals: Originals) -> exp.Expr:
    """A query with the common table expressions of first sources, whose names are their own, in the SELECT around them."""
    copy = tree.copy()
    for source in reversed(list(copy.find_all(exp.Subquery))):  # inner ones first
        clause, select = source.this.args.get("with_"), source.parent_select
        if clause is None or clause.recursive or select is None or not isinstance(source.parent, exp.From):
            continue  # a joined source may name those before it
        source.this.set("with_", None)
        outer = select.args.get("with_") or exp.With()
        select.set("with_", exp.With(expressions=[*outer.expressions, *clause.expressions], recursive=outer.recursive))
    return copy
