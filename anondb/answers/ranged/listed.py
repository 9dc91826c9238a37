"""Plain words: numbers of rows, conditions that all meet, DISTINCT of single rows, and functions of lists as aggregates:
``list_sum(list(x))`` is ``sum(x)``, and so it is around a query with ``list(x) AS l``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from typing import Any

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.ranged.clauses import (
    aliased,
    clauses_of,
    conditions_of,
    filtered_by,
    places_of,
    set_conditions,
)
from anondb.answers.ranged.equivalents import select_sources
from anondb.answers.ranged.originals import Originals, rule
from anondb.answers.ranged.values import when
from anondb.query.aggregates import QUANTILES
from anondb.query.parsing import bare, is_null, lowered

_NUMBERS = {
    *("sum", "avg", "min", "max", "count", "median", "bool_and", "bool_or"),
    *("var_pop", "var_samp", "stddev_pop", "stddev_samp"),
}
_LENGTH, _UNIQUE, _ELEMENT = "len", "unique", "element"
_OF_EACH = {"min", "max", "bool_and", "bool_or", _UNIQUE}  # that equal values do not change
_SPELLINGS: dict[type[exp.Expr], str] = {
    exp.ArrayMin: "min",
    exp.ArrayMax: "max",
    exp.Length: _LENGTH,
    exp.ArraySize: _LENGTH,
}
_LISTS = (exp.ArrayAgg, *QUANTILES)
Rows = Callable[[exp.Query], Sequence[tuple[Any, ...]]]


def with_aggregates(tree: exp.Expr, originals: Originals) -> exp.Expr:
    """A query with aggregates in place of functions of the lists that aggregates make."""
    if tree.find(*_LISTS) is None:
        return tree
    copy, numbers = tree.copy(), count()
    for select in list(copy.find_all(exp.Select)):
        for source, inner in list(select_sources(select)):
            _pull(select, source, inner, numbers)
    for select in list(copy.find_all(exp.Select)):
        for call, name, values in _calls(select):
            if (aggregate := _aggregate(name, values, select)) is not None:
                put(call, aggregate)
    return copy


def with_written_rows(tree: exp.Expr) -> exp.Expr:
    """A query with VALUES in place of ``unnest([1, 2])`` of a list that is written out: a source, or the only column."""
    if tree.find(exp.Unnest, exp.Explode) is None:
        return tree
    copy = tree.copy()
    for node in list(copy.find_all(exp.Unnest)):
        alias, cells = node.args.get("alias"), _cells(node.expressions[0]) if len(node.expressions) == 1 else None
        one = alias is not None and len(alias.columns) == 1 and not node.args.get("offset")
        if cells and alias is not None and one and isinstance(node.parent, exp.From | exp.Join):
            node.replace(exp.Values(expressions=cells, alias=alias.copy()))
    for select in list(copy.find_all(exp.Select)):
        shown = select.expressions[0] if len(select.expressions) == 1 and len(clauses_of(select) - {"with_"}) == 1 else None
        cells = _cells(shown.this.this) if isinstance(shown, exp.Alias) and isinstance(shown.this, exp.Explode) else None
        if shown is not None and cells:
            named = exp.TableAlias(this=exp.to_identifier("written"), columns=[exp.to_identifier(shown.alias, quoted=True)])
            select.set("expressions", [exp.column(shown.alias, quoted=True)])
            select.set("from_", exp.From(this=exp.Values(expressions=cells, alias=named)))
    return copy


def with_queried_rows(tree: exp.Expr) -> exp.Expr:
    """A query with UNION ALL of SELECTs in place of VALUES as a source, where a value is a query."""
    if not any(rows.find(exp.Query) for rows in tree.find_all(exp.Values)):
        return tree
    copy = tree.copy()
    for rows in [rows for rows in copy.find_all(exp.Values) if isinstance(rows.parent, exp.From | exp.Join)]:
        if rows.find(exp.Query) is None:
            continue
        alias, width = rows.args.get("alias"), len(rows.expressions[0].expressions)
        named = [name.name for name in alias.columns] if alias is not None else []
        names = [*named, *(f"col{n}" for n in range(len(named), width))]
        selects = [
            exp.select(*(cell.as_(name, quoted=True) for cell, name in zip(row.expressions, names, strict=False)))
            for row in rows.expressions
        ]
        name = exp.TableAlias(this=alias.this.copy()) if alias is not None and alias.this is not None else None
        made = selects[0] if len(selects) == 1 else exp.union(*selects, distinct=False)
        rows.replace(exp.Subquery(this=made, alias=name))
    return copy


def _cells(node: exp.Expr) -> list[exp.Expr] | None:
    """The rows of a list of constants; None for others."""
    values = node.expressions if isinstance(node, exp.Array) else []
    plain = all(isinstance(value.this if isinstance(value, exp.Neg) else value, exp.Literal) for value in values)
    return [exp.Tuple(expressions=[value.copy()]) for value in values] if values and plain else None


def _pull(select: exp.Select, source: exp.Expr, inner: exp.Select, numbers: Iterator[int]) -> None:
    """Make functions of the lists that a source has columns of columns of this source."""
    lists = {name: value for name, value in aliased(inner).items() if value.find(*_LISTS)}
    tree, alone = select.root(), not select.args.get("joins")
    users = [select] if isinstance(source, exp.Subquery) else list(tree.find_all(exp.Select))
    if not lists or any(user.is_star for user in users):
        return
    alias, pulled = lowered(source.alias_or_name), dict[tuple[str, exp.Expr], exp.Identifier]()
    one = _single_valued_lists(select)
    for call, name, column in _calls(select):
        table = lowered(column.table) if isinstance(column, exp.Column) else None
        if table is None or lowered(column.name) not in lists or table not in ({alias, ""} if alone else {alias}):
            continue
        aggregate = _aggregate(name, lists[lowered(column.name)], inner, single=column in one)
        if aggregate is not None:
            named = exp.to_identifier(f"_list{next(numbers)}", quoted=True)
            named = pulled.setdefault((lowered(column.name), aggregate), named)
            put(call, exp.column(named.copy(), column.args.get("table")))
    for (name, aggregate), named in pulled.items():
        shown = exp.alias_(aggregate, named)
        unused = [e for e in inner.expressions if lowered(e.alias) == name]
        if unused and not any(lowered(column.name) == name for column in tree.find_all(exp.Column)):
            unused[0].replace(shown)
        else:
            inner.append("expressions", shown)


def _calls(select: exp.Select) -> list[tuple[exp.Expr, str, exp.Expr]]:
    """The functions of lists in a SELECT, without those in its subqueries: each with its name and its list.

    Nor those in an index: sqlglot counts indices from 0 if it knows that they are whole numbers, which it does of ``len``.
    """
    calls = []
    for call in select.find_all(*_SPELLINGS, exp.Anonymous, exp.Bracket):
        inside = isinstance(call.find_ancestor(exp.Bracket, exp.Select), exp.Bracket)
        named = _named(call) if call.parent_select is select and not inside else None
        if named is not None:
            calls.append((call, *named))
    return calls


def _named(call: exp.Expr) -> tuple[str, exp.Expr] | None:
    """The name of a function of a list, and the list; None for other functions."""
    if not isinstance(call, exp.Bracket | exp.Anonymous) and type(call) not in _SPELLINGS:
        return None
    if isinstance(call, exp.Bracket):
        first = call.expressions[0] if len(call.expressions) == 1 else None
        whole = isinstance(first, exp.Literal) and first.is_int
        return (f"{_ELEMENT}{first.name}", call.this) if whole and first is not None else None
    if not isinstance(call, exp.Anonymous):
        return (_UNIQUE, call.this.this) if isinstance(call.this, exp.ArrayDistinct) else (_SPELLINGS[type(call)], call.this)
    prefix, _, name = lowered(call.name).partition("_")
    operands: Sequence[exp.Expr] = call.expressions
    if name in ("aggregate", "aggr") and len(operands) == 2 and operands[1].is_string:
        name, operands = lowered(operands[1].name), operands[:1]
    is_of_list = prefix in ("list", "array") and name in {*_NUMBERS, _UNIQUE} and len(operands) == 1
    return (name, operands[0]) if is_of_list else None


def _single_valued_lists(select: exp.Select) -> list[exp.Expr]:
    """The lists that have one value in the rows that WHERE keeps."""
    lengths = [part.this for part in conditions_of(select) if isinstance(part, exp.EQ) and part.expression == exp.convert(1)]
    return [named[1] for call in lengths if (named := _named(call)) is not None and named[0] == _LENGTH]


def _aggregate(name: str, values: exp.Expr, select: exp.Select, *, single: bool = False) -> exp.Expr | None:
    """A function of the list that an aggregate of a SELECT makes, as an aggregate; None for others.

    Args:
        name: the function.
        values: the list.
        select: the SELECT.
        single: whether the list has one value.
    """
    call, wanted = filtered(values)
    if isinstance(call, QUANTILES):
        return _quantile(name, call, wanted)
    if not isinstance(call, exp.ArrayAgg):
        return None
    order = call.this if isinstance(call.this, exp.Order) else None
    what = call.this if order is None else order.this
    different = isinstance(what, exp.Distinct)
    value = what.expressions[0] if different else what
    if name.startswith(_ELEMENT):
        if name == f"{_ELEMENT}0" and order is None and single:
            return _over("min", value, wanted)
        if name != f"{_ELEMENT}0" or order is None or order.expressions[0].this != value:
            return None
        first = order.expressions[0]
        return None if first.args.get("nulls_first") else _over("max" if first.args.get("desc") else "min", value, wanted)
    if different and name not in {*_OF_EACH, "count", _LENGTH}:
        return None
    if name not in ("count", _LENGTH, _UNIQUE):
        return _over(name, value, wanted)
    once = different or name == _UNIQUE
    number = _over("count", exp.Star() if name == _LENGTH else value, wanted)
    if once:
        number = count_of([value], wanted) if name == _LENGTH else _over("count", exp.Distinct(expressions=[value]), wanted)
    return present(number, select, wanted)


def count_of(values: Sequence[exp.Expr], wanted: exp.Expr | None) -> exp.Expr:
    """The number of different values, of which NULL is one, or of different rows of several values."""
    what = values[0] if len(values) == 1 else exp.Tuple(expressions=[value.copy() for value in values])
    number = _over("count", exp.Distinct(expressions=[what]), wanted)
    if len(values) > 1:
        return number
    missing = when(is_null(what), exp.convert(1), exp.convert(0))
    return exp.Add(this=number, expression=_over("max", missing, wanted))


def present(number: exp.Expr, select: exp.Select, wanted: exp.Expr | None) -> exp.Expr:
    """A number of rows of a SELECT, or of those that are wanted, which is NULL where there are none."""
    group = select.args.get("group")
    if wanted is None and group is not None and clauses_of(group) <= {"expressions", "all"}:
        return exp.paren(number)
    has_rows = exp.GT(this=_over("count", exp.Star(), wanted), expression=exp.convert(0))
    return when(has_rows, number)  # without rows there is no list


def _quantile(name: str, call: exp.Expr, wanted: exp.Expr | None) -> exp.Expr | None:
    """One of several quantiles."""
    shares, place = call.args.get("expression"), name.removeprefix(_ELEMENT)
    if not isinstance(shares, exp.Array) or not place.isdigit() or int(place) >= len(shares.expressions):
        return None
    quantile = call.copy()
    quantile.set("expression", shares.expressions[int(place)].copy())
    return filtered_by(quantile, wanted)


def _over(name: str, value: exp.Expr, wanted: exp.Expr | None) -> exp.Expr:
    """An aggregate, with FILTER."""
    return filtered_by(exp.func(name, value.copy(), dialect="duckdb"), wanted)


def put(call: exp.Expr, value: exp.Expr) -> None:
    """Put an expression in place of a function, under its name."""
    selected = isinstance(call.parent, exp.Select) and call.arg_key == "expressions"
    name = call.sql("duckdb", normalize_functions="lower")
    call.replace(exp.alias_(value, name, quoted=True) if selected else value)


_CONDITIONS = (exp.Where, exp.Having, exp.Qualify)
_ROWS = exp.Count(this=exp.Star(), big_int=True)
_OF_EACH_GROUP = (exp.GTE(this=_ROWS, expression=exp.convert(1)), exp.GT(this=_ROWS, expression=exp.convert(0)))
"""What each group meets, since it has a row."""
_ALWAYS = (exp.true(), exp.EQ(this=exp.convert(1), expression=exp.convert(1)))


def with_plain_words(tree: exp.Expr) -> exp.Expr:
    """A query with ``count(*)`` in place of other words for a number of rows, without double negations, without parentheses
    that change nothing around conditions that AND connects, and without conditions that all meet: ``WHERE 1 = 1``, and
    ``HAVING count(*) >= 1`` of groups; with LIMIT in place of ``FETCH FIRST 3 ROWS ONLY``, and the schema in which the
    original's tables are for the current one."""
    copy = tree.copy()
    for schema in list(copy.find_all(exp.CurrentSchema)):
        schema.replace(exp.Literal.string("main"))
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
