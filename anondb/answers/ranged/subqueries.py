"""Subqueries in expressions over known rows: a single value, IN, and EXISTS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import FLAT, clauses_of, conditions_of, places_of, set_conditions
from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.equivalents import link
from anondb.answers.ranged.expressions import Around, Resolve, read
from anondb.answers.ranged.relation import INTEGERS, SURE, Sources, constant, fresh, star_of, typeof
from anondb.answers.ranged.sources import first_column
from anondb.answers.ranged.truths import matched
from anondb.answers.ranged.values import Value, all_sure, check_equal, holds
from anondb.query.parsing import bare, dotted, is_conjunct, is_null, lowered
from anondb.query.refusals import only, unsupported

PLAIN = (*INTEGERS, "FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP")
"""The types of values that are written as constants."""

MAX_EACH = 100  # values of the rows around a subquery
NUMBERS = int | float | Decimal | None
MATCHED = "matched"


def scalar(node: exp.Subquery, compiler: Compiler, env: Env, around: Around | None = None) -> Value:
    """A subquery with a single row and column: a constant of its type, NULL without a row; or, if it names columns of the
    rows around it, what it is for each of these.

    Args:
        node: the subquery.
        compiler, env: convert it.
        around: looks up the columns of the rows around it, if it may name them.
    """
    if around is not None and (of_each := _answered_for_each(node, compiler, env, around)) is not None:
        return of_each
    named: list[exp.Column] = []

    def outer(column: exp.Column) -> Value:
        assert around is not None
        named.append(column)
        return around.column(column)

    seen = None if around is None else replace(around, column=outer)
    relation = compiler.query(_as_extreme(node) or node, env, around=seen)
    if len(relation.columns) != 1 or (relation.flagged and (named or relation.open)) or relation.cut:
        raise unsupported("a scalar subquery of several columns, or of rows that an estimate chose")
    source = exp.Subquery(this=relation.tree, alias=exp.TableAlias(this=exp.to_identifier("one")))
    ((_, value),) = relation.values("one")
    if value.unknown:
        return value
    if named:
        if not (has_one_row(node.this) or relation.exact):  # of an exact value the engine says that there are several
            raise unsupported("a subquery of several rows that names columns around it")
        ends = [exp.Subquery(this=exp.select(end.copy()).from_(source.copy())) for end in value.ends]
        return replace(value, part=None).replaced(ends)
    if relation.flagged and (one := _single_row_value(value, source, compiler)) is not None:
        return one
    row = exp.select(exp.Literal.number(1)).subquery("row")
    shown = [exp.cast(value.expression.copy(), "VARCHAR")] if value.exact else [end.copy() for end in value.ends]
    asked = exp.select(typeof(value.ends[0]), *shown).from_(row).join(source, on=exp.true(), join_type="left")
    rows = compiler.tables.rows(asked.limit(2))
    if len(rows) > 1:
        raise unsupported("a scalar subquery with several rows")
    ((of, *cells),) = rows
    if value.exact:
        (written,) = cells
        return value.replaced([exp.null() if of == '"NULL"' else _constant_of_type(exp.convert(written), str(of))])
    return value.replaced([constant(cell) for cell in cells])


def rows_around(sources: Sources, resolve: Resolve, compiler: Compiler) -> Around:
    """The rows of sources as a subquery sees them."""

    def values(expressions: Sequence[exp.Expr], most: int) -> list[tuple[Any, ...]]:
        rows = sources.tree.copy().select(*expressions, append=False).distinct().limit(most)
        for key in ("group", "having", "qualify"):
            rows.set(key, None)
        return compiler.tables.rows(rows)

    names = {lowered(name) for _, columns in sources.by_alias for name, _ in columns}
    return Around(names, lambda node: read(node, resolve), values)


def _answered_for_each(node: exp.Subquery, compiler: Compiler, env: Env, around: Around) -> Value | None:
    """A subquery over persons that names exact columns of the rows around it: what it is for each of their values, asked by
    itself; None for others."""
    tables = list(node.find_all(exp.Table, exp.Subquery, exp.Lateral))
    if not any(compiler.people.is_source(table, env) for table in tables):
        return None
    inside = {lowered(table.alias_or_name) for table in tables}
    free = around.names - _names(node, compiler, env)
    columns = [c for c in node.find_all(exp.Column) if isinstance(c.this, exp.Identifier)]
    outside = [c for c in columns if (lowered(c.table) not in inside if c.table else lowered(c.name) in free)]
    if not outside:
        return None
    names = list(dict.fromkeys((lowered(c.table), lowered(c.name)) for c in outside))
    outer_values = [around.column(exp.column(name, table or None)) for table, name in names]
    if not all(value.exact for value in outer_values):
        return None
    cells = [value.expression for value in outer_values]
    rows = around.values([*(exp.cast(cell.copy(), "VARCHAR") for cell in cells), *map(typeof, cells)], MAX_EACH + 1)
    if len(rows) > MAX_EACH:
        raise unsupported(f"a subquery that names columns around it with over {MAX_EACH} values", "Join its groups.")
    cases = []
    for row in rows:
        written = [
            exp.convert(text) if value.item else _constant_of_type(exp.convert(text), str(kind))
            for value, text, kind in zip(outer_values, row, row[len(names) :], strict=False)
        ]
        constants = dict(zip(names, written, strict=True))
        one = node.copy()
        for column in list(one.find_all(exp.Column)):
            if (key := (lowered(column.table), lowered(column.name))) in constants:
                column.replace(constants[key].copy())
        equal = [exp.NullSafeEQ(this=cell.copy(), expression=c.copy()) for cell, c in zip(cells, written, strict=True)]
        cases.append((exp.and_(*equal), scalar(one, compiler, env)))
    return matched(cases)


def _single_row_value(value: Value, source: exp.Subquery, compiler: Compiler) -> Value | None:
    """The number of the only row that a subquery may have, such as the group of one item, which is NULL where the row is not
    there; None if the row is there for certain."""
    rows = compiler.tables.rows(exp.select(exp.column(SURE, "one"), *value.ends).from_(source).limit(2))
    if len(rows) > 1:
        raise unsupported("a scalar subquery with several rows")
    if not rows:
        return Value(exp.null())
    ((certain, *cells),) = rows
    if certain is True:
        return None
    low, high, *own = cells * 2 if value.exact else cells
    if value.item or value.truth or any(isinstance(end, bool) or not isinstance(end, NUMBERS) for end in (low, high)):
        raise unsupported("a scalar subquery of rows that an estimate chose, of other values than numbers")
    sure = exp.null() if own == [None] else exp.false()
    return replace(value, present=False, part=None).replaced([constant(low), constant(high), sure])


def _names(query: exp.Expr, compiler: Compiler, env: Env) -> set[str]:
    """The names that columns without a table may have in a query, in lower case."""
    names = {lowered(part.alias) for part in query.find_all(exp.Alias)}
    names |= {lowered(column.name) for alias in query.find_all(exp.TableAlias) for column in alias.columns}
    for table in query.find_all(exp.Table):
        cte = env.get(lowered(table.name)) if not table.db else None
        if cte is not None:
            names |= _names(cte.node, compiler, cte.env)
        elif (persons := compiler.tables.persons_tables.get(dotted(table.parts))) is not None:
            names |= set(map(lowered, persons))
        elif isinstance(table.this, exp.Identifier) and (relation := compiler.tables.table(table)) is not None:
            names |= {lowered(column.name) for column in relation.columns}
    return names


def has_one_row(node: exp.Expr) -> bool:
    """Whether a query has one row, whatever its tables are: it aggregates all of them."""
    plain = isinstance(node, exp.Select) and not any(node.args.get(key) for key in ("group", "having", "offset"))
    return plain and any(call.parent_select is node for e in node.expressions for call in e.find_all(exp.AggFunc))


def _as_extreme(node: exp.Subquery) -> exp.Select | None:
    """``(SELECT n FROM ... ORDER BY n DESC LIMIT 1)`` as the greatest ``n``; None for other subqueries."""
    select = node.this
    if not isinstance(select, exp.Select) or len(select.expressions) != 1 or select.args.get("order") is None:
        return None
    selected, terms, limit = select.expressions[0], select.args["order"].expressions, select.args.get("limit")
    one = limit == exp.Limit(expression=exp.Literal.number(1)) and not select.args.get("offset")
    names = (selected.unalias(), exp.column(selected.alias_or_name), exp.Literal.number(1))
    if not one or len(terms) != 1 or terms[0].this not in names or terms[0].args.get("nulls_first"):
        return None
    inner = select.copy()
    for key in ("order", "limit"):
        inner.set(key, None)
    place = exp.TableAlias(this=exp.to_identifier("rows"), columns=[exp.to_identifier("n")])
    call = (exp.Max if terms[0].args.get("desc") else exp.Min)(this=exp.column("n", "rows"))
    return exp.select(call).from_(exp.Subquery(this=inner, alias=place))


def beside_rows(
    node: exp.Subquery, key_of: Callable[[exp.Expr], Value | None], sources: Sources, compiler: Compiler, env: Env
) -> Value | None:
    """``(SELECT count(*) FROM t s WHERE s.item = a.item)`` beside rows with ``a.item``, as a column of these; None for other
    subqueries.

    Args:
        node: the subquery.
        key_of: the value of a column of the rows.
        sources: the rows, which get the column.
        compiler, env: convert the subquery by itself, grouped by the columns that it compares.
    """
    correlated = _correlated(node.this, key_of)
    if correlated is None:
        return None
    asked, keys = correlated
    relation = compiler.query(asked, env)
    name, place = fresh("s"), sources.tree.args["from_"].this
    *listed, number = [value for _, value in relation.values(name)]
    equal = []
    for (kind, key), own in zip(keys, listed, strict=True):
        check_equal(key, own)
        equal.append(kind(this=key.expression.copy(), expression=own.expression))
    if isinstance(filtered(asked.expressions[-1])[0], exp.Count):
        value = Value(*_counted(number, name, is_open=relation.open), present=True, least=0, whole=True)
    elif number.unknown:
        return number
    else:  # NULL where no row is
        sure: exp.Expr = exp.column(SURE if relation.flagged else MATCHED, name)
        sure = holds(sure, unknown=False) if relation.open else sure
        value = Value(*number.not_null, least=number.least, whole=number.whole, sure=all_sure(sure, number.sure))
    matched = exp.select("*", exp.true().as_(MATCHED)).from_(relation.tree.subquery("r"))
    joined = exp.select(star_of(place.alias)).from_(place)
    joined = joined.join(matched.subquery(name), on=exp.and_(*equal), join_type="left", copy=False)  # totals point to rows
    return sources.widen(value, joined, place.alias)


def _counted(count: Value, name: str, *, is_open: bool) -> list[exp.Expr]:
    """The ends of a count beside rows: 0 where no row is, unless some may be missing."""
    low, high = count.bounds
    none = exp.Literal.number(0)
    absent = exp.If(this=is_null(exp.column(MATCHED, name)), true=exp.null() if is_open else none)
    return [exp.Coalesce(this=low, expressions=[none.copy()]), exp.Case(ifs=[absent], default=high)]


def _correlated(
    node: exp.Expr, key_of: Callable[[exp.Expr], Value | None]
) -> tuple[exp.Select, list[tuple[type[exp.Expr], Value]]] | None:
    """An aggregate whose WHERE compares columns with some of the rows around it, as groups by these columns.

    Returns:
        The groups, and for each of their columns how it is compared, and with what.
    """
    if not isinstance(node, exp.Select) or not clauses_of(node) <= FLAT:
        return None
    names = [lowered(place.this.alias_or_name) for place in places_of(node)]
    number = node.expressions[0].unalias()
    if not names or not all(names) or len(node.expressions) > 1 or not isinstance(filtered(number)[0], exp.AggFunc):
        return None
    inside, parts = {"", *names}, conditions_of(node)  # a name alone is of the query's own
    links = {id(part): sides for part in parts if (sides := link(part, inside)) is not None}
    keys = [(type(part), key_of(links[id(part)][1])) for part in parts if id(part) in links]
    if not keys or any(key is None for _, key in keys):
        return None
    columns = [column for column, _ in links.values()]
    copy = node.copy()
    copy.set("expressions", [*(column.copy() for column in columns), number.copy()])
    set_conditions(copy, [part for part in parts if id(part) not in links])
    copy.set("group", exp.Group(expressions=[column.copy() for column in columns]))
    outside = any(c.table and lowered(c.table) not in inside for c in copy.find_all(exp.Column))
    return None if outside else (copy, [(kind, key) for kind, key in keys if key is not None])


def _constant_of_type(value: exp.Expr, kind: str) -> exp.Expr:
    """A constant of a type from its text, or NULL: in Python, an infinite date is the last one of the calendar.

    Raises:
        InputError: ``unsupported_query`` for other types than those of ``constant``.
    """
    name = kind.partition("(")[0]
    if name not in PLAIN:
        raise unsupported(f"a scalar subquery of the type {name}", "Cast it to a number, a text or a date.")
    return exp.Cast(this=value, to=exp.DataType.build(kind, dialect="duckdb"))


def among(node: exp.In, resolve: Resolve, compiler: Compiler, env: Env, around: Around) -> Value:
    """IN with a subquery; where counts chose its rows, it is certain for the values of rows that are certain."""
    only(node, "this", "query")
    query, row = node.args["query"].unnest(), bare(node.this)
    values = row.expressions if isinstance(row, exp.Tuple) else [row]
    relation = compiler.query(compiler.once(query, env), env) if len(values) == 1 else None
    if relation is None or not replace(relation, flagged=False).exact:
        if not is_conjunct(node):  # where NULL is not as false
            raise unsupported("IN with a subquery of estimates")
        return _equal_row(values, query, compiler, env, around)
    left = read(node.this, resolve)
    if not left.exact or len(relation.columns) != 1:
        raise unsupported("IN with a subquery of estimates")
    check_equal(left, *relation.columns)

    rows = first_column(relation)

    def listed(rows: exp.Query) -> exp.Expr:
        return exp.In(this=left.expression.copy(), query=exp.Subquery(this=rows))

    if not relation.flagged:
        return Value(listed(rows))
    if compiler.tables.rows(rows.where("c0 IS NULL").limit(1)):
        raise unsupported("IN with a subquery of estimates that has NULLs", "Leave them out with IS NOT NULL.")
    certain = exp.and_(is_null(left.expression).not_(), listed(rows.where(exp.column(SURE))))
    return Value(certain, exp.true() if relation.open else listed(rows), truth=True)


def _equal_row(row: Sequence[exp.Expr], query: exp.Expr, compiler: Compiler, env: Env, around: Around) -> Value:
    """Whether a query has a row with the same values, none of which is NULL."""
    columns = [exp.to_identifier(fresh("v")) for _ in row]
    listed = exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier(fresh("q")), columns=columns))
    equal = [exp.EQ(this=exp.Column(this=name.copy()), expression=v.copy()) for name, v in zip(columns, row, strict=True)]
    return exists(exp.Exists(this=exp.select("1").from_(listed).where(*equal)), compiler, env, around)


def exists(node: exp.Exists, compiler: Compiler, env: Env, around: Around) -> Value:
    """EXISTS is a count above 0."""
    only(node, "this")
    inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
    if not isinstance(inner, exp.Select) or any(inner.args.get(key) for key in ("group", "having", "distinct", "limit")):
        raise unsupported("EXISTS with this query", "Write column IN (SELECT ... FROM ...).")
    counted = inner.copy()
    counted.set("expressions", [exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))])
    return scalar(exp.Subquery(this=counted), compiler, env, around)
