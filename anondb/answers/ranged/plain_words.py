"""Plain words: numbers of rows, conditions that all meet, DISTINCT of single rows, common tables of subqueries."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.ranged.clauses import clauses_of, conditions_of, places_of, set_conditions
from anondb.answers.ranged.originals import Originals, rule
from anondb.query.parsing import bare, lowered

_CONDITIONS = (exp.Where, exp.Having, exp.Qualify)
_ROWS = exp.Count(this=exp.Star(), big_int=True)
_OF_EACH_GROUP = (exp.GTE(this=_ROWS, expression=exp.convert(1)), exp.GT(this=_ROWS, expression=exp.convert(0)))
"""What each group meets, since it has a row."""
_ALWAYS = (exp.true(), exp.EQ(this=exp.convert(1), expression=exp.convert(1)))


def with_plain_words(tree: exp.Expr) -> exp.Expr:
    """A query with ``count(*)`` in place of other words for a number of rows, without double negations, without parentheses
    that change nothing around conditions that AND connects, and without conditions that all meet: ``WHERE 1 = 1``, and
    ``HAVING count(*) >= 1`` of groups; with LIMIT in place of ``FETCH FIRST 3 ROWS ONLY``, the schema in which the
    original's tables are for the current one, ``x COLLATE c = 'l'`` for ``x = 'l' COLLATE c``, and IN and ``(a, b)`` for
    ``list_contains`` and ``row``."""
    copy = tree.copy()
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
    for fetch in [fetch for fetch in copy.find_all(exp.Fetch) if _is_of_rows(fetch)]:
        fetch.replace(exp.Limit(expression=fetch.args.get("count") or exp.convert(1)))
    for number in list(copy.find_all(exp.Count, exp.Sum)):
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
        for clause, met in (("where", _ALWAYS), ("having", _OF_EACH_GROUP if _has_groups(select) else ())):
            parts = conditions_of(select, clause)
            if any(part in met for part in parts):
                set_conditions(select, [part for part in parts if part not in met], clause)
    return copy


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
    """``count(CASE WHEN c THEN 1 END)`` as the number of rows with c, ``count(1)`` and ``sum(1)`` of groups as that of
    rows; None for other calls."""
    every, what, alone = exp.Count(this=exp.Star(), big_int=True), call.this, not isinstance(call.parent, exp.Filter)
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
    """A query without DISTINCT in each SELECT that has a single row: aggregates without groups."""
    single = select.args.get("group") is None and not any(e.find(exp.Explode, exp.Unnest) for e in select.expressions)
    if single and any(has_aggregate(e, originals.analyst.is_aggregate) for e in select.expressions):
        distinct = select.args.get("distinct")
        select.set("distinct", distinct if distinct is not None and distinct.args.get("on") else None)


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
