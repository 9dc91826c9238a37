"""Plain words for parts of a query that change nothing as they are written: numbers of rows, conditions that all meet, and
sources that show all rows of a table."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from anondb.answers.ranged.clauses import clauses_of, conditions_of, only_source, places_of, set_conditions
from anondb.answers.ranged.equivalents import query_of
from anondb.query.parsing import lowered

_CONDITIONS = (exp.Where, exp.Having, exp.Qualify)
_ROWS = exp.Count(this=exp.Star(), big_int=True)
_OF_EACH_GROUP = (exp.GTE(this=_ROWS, expression=exp.convert(1)), exp.GT(this=_ROWS, expression=exp.convert(0)))
"""What each group meets, since it has a row."""
_ALWAYS = (exp.true(), exp.EQ(this=exp.convert(1), expression=exp.convert(1)))
_AROUND = {"with_", "limit", "offset"}


def with_plain_words(tree: exp.Expr) -> exp.Expr:
    """A query with ``count(*)`` in place of other words for a number of rows, without double negations, without parentheses
    that change nothing around conditions that AND connects, and without conditions that all meet: ``WHERE 1 = 1``, and
    ``HAVING count(*) >= 1`` of groups."""
    copy = tree.copy()
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
        for clause, met in (("where", _ALWAYS), ("having", _OF_EACH_GROUP if _of_groups(select) else ())):
            parts = conditions_of(select, clause)
            if any(part in met for part in parts):
                set_conditions(select, [part for part in parts if part not in met], clause)
    return copy


def _of_groups(select: exp.Expr | None) -> bool:
    """Whether a SELECT has GROUP BY without grouping sets, so that each of its groups has a row."""
    group = None if select is None else select.args.get("group")
    return group is not None and clauses_of(group) <= {"expressions", "all"}


def _rows_counted(call: exp.Expr) -> exp.Expr | None:
    """``count(CASE WHEN c THEN 1 END)`` as the number of rows with c, ``count(1)`` and ``sum(1)`` of groups as that of
    rows; None for other calls."""
    every, what, alone = exp.Count(this=exp.Star(), big_int=True), call.this, not isinstance(call.parent, exp.Filter)
    if isinstance(call, exp.Sum):
        groups = what == exp.convert(1) and alone and not isinstance(call.parent, exp.Window)
        return every if groups and _of_groups(call.parent_select) else None
    if isinstance(what, exp.Literal):
        return every
    plain = isinstance(what, exp.Case) and what.this is None and isinstance(what.args.get("default"), exp.Null | None)
    branches = what.args["ifs"] if plain and alone else []
    if len(branches) != 1 or not isinstance(branches[0].args["true"], exp.Literal):
        return None
    return exp.Filter(this=every, expression=exp.Where(this=branches[0].this.copy()))


def unwrapped(tree: exp.Expr) -> exp.Expr:
    """The query within ``SELECT * FROM (query) AS name``, with the common table expressions and the LIMIT around it."""
    around = clauses_of(tree) - {"expressions", "from_"}
    if not isinstance(tree, exp.Select) or tree.expressions != [exp.Star()] or not around <= _AROUND:
        return tree
    source = only_source(tree)
    plain = isinstance(source, exp.Subquery) and not source.alias_column_names and not source.args.get("pivots")
    inner = source.this.copy() if plain and source is not None else None
    if not isinstance(inner, exp.Select) or clauses_of(inner) & around:
        return tree
    for clause in around:
        inner.set(clause, tree.args[clause].copy())
    return unwrapped(inner)


def with_own_tables(tree: exp.Expr, tables: Mapping[str, Mapping[str, bool]], item: str) -> exp.Expr:
    """A query with the original's tables in place of sources that show all of their rows: ``(SELECT DISTINCT tid, item FROM
    sales)``.

    Args:
        tree: the query.
        tables: the columns of each of the original's tables, in lower case, and whether one is the id.
        item: the column of items, in lower case; a person has each item once.
    """
    if tree.find(exp.Subquery, exp.CTE) is None:
        return tree
    copy = tree.copy()
    for select in reversed(list(copy.find_all(exp.Select))):  # inner ones first
        for place in places_of(select):
            inner, alias = query_of(place.this), lowered(place.this.alias_or_name)
            shown = _all_rows(inner, tables, item) if isinstance(inner, exp.Select) else None
            if shown is None:
                continue
            table, names = shown
            own, alone = list(tables[lowered(table.name)]), not select.args.get("joins")
            hidden = {*own} - {*names}
            named = {lowered(c.name) for c in copy.find_all(exp.Column) if not c.table}
            if (
                (names != own and (select.is_star or alias in named))
                or hidden & named
                or not (alone or (alias and not hidden))
            ):
                continue  # a star or the name of a source is all columns
            as_named = exp.TableAlias(this=exp.to_identifier(alias)) if alias not in ("", lowered(table.name)) else None
            place.set("this", exp.Table(this=table.this.copy(), alias=as_named))
    return copy


def with_outer_ctes(tree: exp.Expr) -> exp.Expr:
    """A query with the common table expressions of its sources, whose names are their own, before the SELECT around them."""
    copy = tree.copy()
    for source in reversed(list(copy.find_all(exp.Subquery))):  # inner ones first
        clause, select = source.this.args.get("with_"), source.parent_select
        if clause is None or clause.recursive or select is None or not isinstance(source.parent, exp.From | exp.Join):
            continue
        source.this.set("with_", None)
        outer = select.args.get("with_") or exp.With()
        select.set("with_", exp.With(expressions=[*outer.expressions, *clause.expressions], recursive=outer.recursive))
    return copy


def _all_rows(inner: exp.Select, tables: Mapping[str, Mapping[str, bool]], item: str) -> tuple[exp.Table, list[str]] | None:
    """The table of which a SELECT shows all rows, each once, and the columns that it shows; None for others."""
    table, group, distinct = only_source(inner), inner.args.get("group"), inner.args.get("distinct")
    if not isinstance(table, exp.Table) or table.db or clauses_of(table) - {"this", "alias"} or table.alias_column_names:
        return None
    if lowered(table.name) not in tables or not clauses_of(inner) <= {"expressions", "from_", "distinct", "group"}:
        return None
    own = tables[lowered(table.name)]
    names = [lowered(e.name) for e in inner.expressions if isinstance(e, exp.Column) and not e.is_star]
    names = list(own) if inner.expressions == [exp.Star()] else names
    if len({*names}) != len(inner.expressions if not inner.is_star else own) or not {*names} <= own.keys():
        return None
    by = [] if group is None or group.args.get("all") else [lowered(key.name) for key in group.expressions]
    plain = group is None or clauses_of(group) in ({"all"}, {"expressions"})
    if not plain or (by and {*by} != {*names}) or (distinct is not None and distinct.args.get("on") is not None):
        return None
    once = {name for name, is_id in own.items() if is_id or name == item} <= {*names}
    return (table, names) if once or (distinct is None and group is None) else None
