"""GROUP BY a CASE of estimates: ``CASE WHEN n > 9 THEN 'often' ELSE 'rarely' END``, one row for each of its constants.

A row belongs to the group of the constant that its CASE has. So the groups are UNION ALL of a SELECT without GROUP BY for
each constant, over the rows with it, which is there if there is such a row.

``GROUP BY least(a.item, b.item)`` as groups of the groups by both items, whose numbers are added up.

Rows of persons beside one row of totals: ``FROM sales, (SELECT count(*) AS n FROM sales) t``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.ranged.clauses import (
    GROUPED,
    ROWS,
    aliased,
    clauses_of,
    conditions_of,
    is_inner,
    only_subquery,
    part_of,
    places_of,
    selected,
    shown_by_name,
)
from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.relation import SOME_ROWS, fresh
from anondb.answers.ranged.sources import grouped
from anondb.query.parsing import bare, conjoined, lowered
from anondb.query.refusals import only

MAX_LISTED = 12  # constants of a CASE
_LEAVES = (exp.Window, exp.Filter, exp.AggFunc, exp.Column)
_PARTS = {"expressions", *ROWS, "group", "having", "with_"}


def by_constants(node: exp.Select) -> exp.Query | None:
    """A SELECT that groups by one CASE of constants as a row for each of these; None for other queries."""
    windows = any(window.parent_select is node for window in node.find_all(exp.Window))
    if node.args.get("group") is None or not clauses_of(node) <= _PARTS or windows:
        return None
    node = _merged(_lifted(node))
    keys = grouped(node, lambda column: False)
    key = bare(keys[0]) if len(keys) == 1 else None
    results = list(dict.fromkeys(_results(key))) if isinstance(key, exp.Case) else []
    if not results or len(results) > MAX_LISTED or not all(isinstance(r, exp.Literal | exp.Null) for r in results):
        return None
    assert isinstance(key, exp.Case)
    having = node.args.get("having")
    shown = [e.unalias() for e in node.expressions if bare(e.unalias()) != key]
    if any(_names_rows(part) for part in [*shown, *([having.this] if having is not None else [])]):
        return None
    return exp.union(*(_of(node, key, result) for result in results), distinct=False)


def _results(node: exp.Expr) -> list[exp.Expr]:
    """The constants of CASE, and of CASE in its results."""
    node = bare(node)
    if not isinstance(node, exp.Case):
        return [node.copy()]
    results = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default") or exp.null()]
    return [one for result in results for one in _results(result)]


def _names_rows(node: exp.Expr) -> bool:
    """Whether an expression names a column of a row outside of aggregates."""
    query = node.find_ancestor(exp.Query)
    return any(column.find_ancestor(exp.AggFunc, exp.Filter, exp.Query) is query for column in node.find_all(exp.Column))


def _merged(node: exp.Select) -> exp.Select:
    """A SELECT over a subquery that computes columns of its rows alone, as a SELECT over these rows; others as they are."""
    inner = only_subquery(node)
    if inner is None or node.is_star or inner.is_star or not clauses_of(inner) <= {"expressions", "from_", "where"}:
        return node
    values = shown_by_name(inner)
    if any(e.find(exp.Window, exp.Query, exp.AggFunc, exp.Explode) for e in inner.expressions) or node.find(exp.Having):
        return node
    copy = node.copy()
    copy.set("from_", inner.args["from_"].copy())
    parts = [*copy.expressions, *(copy.args[key] for key in ("group", "where") if copy.args.get(key) is not None)]
    for column in [column for part in parts for column in part.find_all(exp.Column)]:
        value = values.get(lowered(column.name))
        if value is None or column.parent_select is not copy:
            return node
        column.replace(exp.alias_(value, column.name) if column.parent is copy else exp.paren(value))
    return copy.where(*(part.copy() for part in conditions_of(inner)))


def _lifted(node: exp.Select) -> exp.Select:
    """A SELECT over a subquery that has a CASE of its aggregates and windows as a column, with the CASE in its place."""
    inner = only_subquery(node)
    if inner is None or node.is_star or inner.is_star:
        return node
    parts, group = clauses_of(inner), inner.args.get("group")
    if not parts <= {*_PARTS, "qualify"} or (group is not None and group.args.get("all")):
        return node
    cases = {
        n: e
        for n, e in aliased(inner).items()
        if isinstance(e, exp.Case) and e.find(*_LEAVES[:-1]) and not e.find(exp.Query)
    }
    copy = node.copy()
    place, leaves = copy.args["from_"].this, dict[exp.Expr, str]()

    def visit(part: exp.Expr) -> exp.Expr:
        name = leaves.setdefault(part, fresh("w")) if isinstance(part, _LEAVES) else ""
        return exp.column(name, place.alias or None) if name else part

    for column in [c for c in copy.find_all(exp.Column) if c.parent_select is copy and lowered(c.name) in cases]:
        lifted = cases[lowered(column.name)].copy().transform(visit)
        column.replace(exp.alias_(lifted, column.name) if column.parent is copy else lifted)
    for part, name in leaves.items():
        place.this.append("expressions", part.copy().as_(name))
    return copy


def _of(node: exp.Select, key: exp.Case, result: exp.Expr) -> exp.Select:
    """The row of one constant."""
    copy, has_rows = node.copy(), exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    for part in ("group", "with_"):
        copy.set(part, None)
    listed = [
        exp.alias_(result.copy(), e.alias or "key") if bare(e.unalias()) == key else e.copy() for e in node.expressions
    ]
    copy.set("expressions", listed)
    for case in [case for condition in conditions_of(copy) for case in condition.find_all(exp.Case)]:
        if case == key:
            case.replace(result.copy())  # which it is in these rows
    return copy.having(has_rows).where(_is(key, result))


def _is(node: exp.Expr, result: exp.Expr) -> exp.Expr:
    """The condition that a CASE has one of its constants."""
    node = bare(node)
    if not isinstance(node, exp.Case):
        return exp.true() if node == result else exp.false()
    copy = node.copy()
    for branch in copy.args["ifs"]:
        branch.set("true", _is(branch.args["true"], result))
    copy.set("default", _is(node.args.get("default") or exp.null(), result))
    return copy


TOGETHER: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.Count: exp.Sum,
    exp.Sum: exp.Sum,
    exp.Min: exp.Min,
    exp.Max: exp.Max,
}
"""For each aggregate of rows, that of the groups of which its group consists."""


def by_parts(node: exp.Select, tables: Mapping[str, Collection[str]]) -> exp.Select | None:
    """A SELECT that groups by an expression of columns of several rows as one over the groups by these columns.

    Args:
        node: the SELECT.
        tables: the columns of each table of persons, in lower case.

    Returns:
        None for a SELECT that groups by no such expression, or has other aggregates than sums, extremes and counts of rows.
    """
    group = node.args.get("group")
    if group is None or clauses_of(group) != {"expressions"}:
        return None
    if not clauses_of(node) <= GROUPED or node.is_star:
        return None
    columns_of_tables = {name for names in tables.values() for name in names}
    keys = grouped(node, lambda column: lowered(column.name) in columns_of_tables)
    several = [len(_rows_of(key, node, tables)) > 1 for key in keys]
    if not any(several):
        return None
    parts = [p for key, wide in zip(keys, several, strict=True) for p in (key.find_all(exp.Column) if wide else [key])]
    columns = {part: exp.column(f"p{n}", "parts") for n, part in enumerate(dict.fromkeys(parts))}
    values: dict[exp.Expr, exp.Column] = {}
    made = part_of(node, "having", "order", "limit", "offset", "with_")
    made.set("expressions", [exp.alias_(e.unalias().copy(), e.alias_or_name, quoted=True) for e in node.expressions])
    made.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    aliases = aliased(node).keys()
    outer = [*made.expressions, made.args["group"], *(made.args[k] for k in ("having", "order") if made.args.get(k))]
    if not all(_replace(part, columns, values, aliases) for part in outer):
        return None
    inner = part_of(node, *ROWS)
    shown = [part.copy().as_(column.name) for part, column in columns.items()]
    shown += [call.copy().as_(column.name) for call, column in values.items()]
    inner.set("expressions", shown)
    inner.set("group", exp.Group(expressions=[part.copy() for part in columns]))
    return made.from_(inner.subquery("parts"), copy=False)


def _rows_of(key: exp.Expr, node: exp.Select, tables: Mapping[str, Collection[str]]) -> set[str]:
    """The rows of tables of persons, by their aliases, of which an expression names columns, if it names no others."""
    named = [place.this for place in places_of(node) if isinstance(place.this, exp.Table) and not place.this.db]
    own = {lowered(table.alias_or_name) for table in named if lowered(table.name) in tables}
    rows = {lowered(column.table) for column in key.find_all(exp.Column)}
    return rows if rows <= own and key.find(exp.Query, exp.AggFunc, exp.Window) is None else set()


def _replace(
    node: exp.Expr, columns: Mapping[exp.Expr, exp.Column], values: dict[exp.Expr, exp.Column], aliases: Collection[str]
) -> bool:
    """Put columns of the groups by the parts in place of what they stand for; whether nothing else is left.

    Args:
        node: what the clause consists of.
        columns: for each part its column.
        values: for each aggregate its column; new ones are added.
        aliases: the names that the SELECT gives, which the clauses after it may use.
    """
    for child in list[exp.Expr](node.iter_expressions()):
        if child in columns:
            child.replace(columns[child].copy())
        elif isinstance(child, exp.AggFunc | exp.Filter):
            call, _ = filtered(child)
            together = TOGETHER.get(type(call))
            if together is None or isinstance(call.this, exp.Distinct) or call.expressions:
                return False
            value = values.setdefault(child.copy(), exp.column(f"v{len(values)}", "parts"))
            child.replace(together(this=value.copy()))
        elif isinstance(child, exp.Query | exp.Window):
            return False
        elif isinstance(child, exp.Column):
            if child.table or lowered(child.name) not in aliases:
                return False
        elif not _replace(child, columns, values, aliases):
            return False
    return True


_TOTALS = {"expressions", *ROWS, "with_"}
"""The parts of a SELECT that has one row if it aggregates."""
_SAME = (exp.AnyValue, exp.Max, exp.Min, exp.First)
"""Aggregates that give the value that all rows have."""


def beside_totals(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """Groups of persons, or rows with windows, beside one row of aggregates, or such rows alone, with a subquery in place of
    each column of these rows; None for others.

    A source with exactly one row adds no row and takes none away, so that its columns are constants. All rows of a group
    have them: an aggregate that gives the value of all rows gives the constant, and a constant divides no group.
    """
    places, group = places_of(node), node.args.get("group")
    if any(node.args.get(k) for k in ("distinct", "qualify")):
        return None
    totals = {id(p): of for p in places if (of := _totals(p, env, compiler)) is not None}
    rest = [place for place in places if id(place) not in totals]
    alone = len(places) == 1 and any(isinstance(value, exp.Subquery) for of in totals.values() for value in of.values())
    if not totals or alone or not _are_beside(node, rest, env, compiler):
        return None
    if any(e.find(exp.Star) and not e.find(exp.AggFunc) for e in node.expressions):
        return None
    values: dict[tuple[str, str], exp.Expr] = {}
    for place in places:
        for name, value in totals.get(id(place), {}).items():
            values[lowered(place.this.alias_or_name), name] = values["", name] = value
    first, *others = rest or [exp.From()]
    if isinstance(first, exp.Join) and (first.side or first.args.get("using") or first.kind not in ("", "INNER", "CROSS")):
        return None
    copy = node.copy()
    copy.set("from_", exp.From(this=first.this.copy()) if rest else None)
    copy.set("joins", [join.copy() for join in others])
    if group is not None:
        keys = [key for key in _keys(node) if not _is_of(selected(key, node), values)] or [SOME_ROWS]
        copy.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    asked = [part for place in (first, *(p for p in places if id(p) in totals)) for part in conjoined(place.args.get("on"))]
    return _with_values(copy.where(*asked), values)


def _are_beside(node: exp.Select, rest: Sequence[exp.Expr], env: Env, compiler: Compiler) -> bool:
    """Whether the sources of a SELECT, beside rows of aggregates, are such that these may be values."""
    windows = any(window.parent_select is node for window in node.find_all(exp.Window))
    aggregated = any(has_aggregate(e, compiler.tables.is_aggregate) for e in node.expressions)
    if node.args.get("group") is not None or (aggregated and rest and not windows):
        return any(compiler.people.is_source(place.this, env) for place in rest)
    return len(rest) == 1 if windows else not rest and not aggregated and clauses_of(node) <= {*_TOTALS, "order"}


def _keys(node: exp.Select) -> list[exp.Expr]:
    """The grouped expressions as they are written; for ALL those without aggregates."""
    group = node.args["group"]
    only(group, "expressions", "all")
    return grouped(node, lambda column: True) if group.args.get("all") else list(group.expressions)


def _is_of(node: exp.Expr, values: dict[tuple[str, str], exp.Expr]) -> bool:
    """Whether an expression has columns, and these alone."""
    names = [(lowered(column.table), lowered(column.name)) for column in node.find_all(exp.Column)]
    return bool(names) and all(name in values for name in names) and node.find(exp.Query) is None


def _totals(place: exp.Expr, env: Env, compiler: Compiler) -> Mapping[str, exp.Expr] | None:
    """The columns of a source that has exactly one row, by their names, as values; None for others."""
    if not is_inner(place) or place.args.get("using"):
        return None
    source = place.this
    cte = env.get(lowered(source.name)) if isinstance(source, exp.Table) and not source.db else None
    query = cte.node.this if cte is not None else source.this
    if source.alias_column_names or (cte is not None and cte.node.alias_column_names):
        return None
    query = query.unnest() if isinstance(query, exp.Subquery) else query
    if not isinstance(query, exp.Select) or not clauses_of(query) <= _TOTALS:
        return None
    aggregated = any(has_aggregate(e, compiler.tables.is_aggregate) for e in query.expressions)
    single = aggregated or not (query.args.get("from_") or query.args.get("where"))
    names = [lowered(e.alias_or_name) for e in query.expressions]
    if not (single and all(names)) or "*" in names or any(e.find(exp.Explode) for e in query.expressions):
        return None
    same = cte is None or all(env.get(name) is of for name, of in cte.env.items())
    if not same:  # its names mean something else here
        return {name: exp.Subquery(this=exp.select(exp.column(name)).from_(source.copy())) for name in names}
    values = dict[str, exp.Expr]()
    for name, value in zip(names, query.expressions, strict=True):
        one = query.copy()
        one.set("expressions", [value.copy()])
        values[name] = exp.paren(value.unalias()) if clauses_of(query) == {"expressions"} else exp.Subquery(this=one)
    return values


def _with_values(node: exp.Select, values: dict[tuple[str, str], exp.Expr]) -> exp.Select | None:
    """A SELECT with expressions in place of columns, and of aggregates that give the value of all rows of a group; None if a
    subquery or a name that the SELECT gives may mean one, or if FILTER chooses for which rows an aggregate has one."""
    named = aliased(node)
    for column in list(node.find_all(exp.Column)):
        value = values.get((lowered(column.table), lowered(column.name)))
        if value is None:
            continue
        ambiguous = not column.table and lowered(column.name) in named and not isinstance(column.parent, exp.Alias)
        if column.parent_select is not node or ambiguous:
            return None
        place = column.parent
        while isinstance(place, exp.Paren):
            place = place.parent
        call = place if isinstance(place, _SAME) and bare(place.this) == column else None
        if call is not None and isinstance(call.parent, exp.Filter | exp.Window | exp.IgnoreNulls):
            return None
        if call is not None and node.args.get("group") is None:  # NULL where there are no rows
            some = exp.GT(this=exp.Count(this=exp.Star(), big_int=True), expression=exp.Literal.number(0))
            value = exp.paren(exp.Case(ifs=[exp.If(this=some, true=value.copy())]))
        (call or column).replace(value.copy())
    return node
