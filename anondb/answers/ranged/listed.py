"""Functions of lists as aggregates: ``list_sum(list(x))`` is ``sum(x)``, also around a query with ``list(x) AS l``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import (
    aliased,
    clauses_of,
    conditions_of,
    filtered_by,
    selected,
)
from anondb.answers.ranged.equivalents import select_sources
from anondb.answers.ranged.originals import Originals, rule
from anondb.answers.ranged.values import when
from anondb.query.aggregates import QUANTILES
from anondb.query.parsing import is_null, lowered

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


def _is_of_rows(value: exp.Expr) -> bool:
    return value.find(exp.AggFunc, exp.Window) is not None


@rule(exp.ArrayAgg, exp.Explode)
def with_rows_of_lists(select: exp.Select, originals: Originals) -> None:
    """A query with rows in place of those of a list for each group of them: ``SELECT k, unnest(list(x)) FROM t GROUP BY k``
    shows k and x of each row."""
    group, shown = select.args.get("group") or exp.Group(all=True), [e.unalias() for e in select.expressions]
    rows, keys = [e for e in shown if isinstance(e, exp.Explode)], [e for e in shown if not isinstance(e, exp.Explode)]
    plain = clauses_of(select) <= {"expressions", "from_", "joins", "where", "group"} and not any(map(_is_of_rows, keys))
    if len(rows) != 1 or clauses_of(rows[0]) != {"this"} or not plain or group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
        return
    call, wanted = filtered(rows[0].this)
    if not isinstance(call, exp.ArrayAgg):
        return
    what = call.this.this if isinstance(call.this, exp.Order) else call.this
    if isinstance(what, exp.Distinct):
        if any(selected(key, select) not in keys for key in group.expressions):
            return  # equal rows of two groups stay apart
        select.set("distinct", exp.Distinct())
        what = what.expressions[0]
    rows[0].replace(what)
    select.set("group", None)
    if wanted is not None:
        select.where(wanted, copy=False)


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
