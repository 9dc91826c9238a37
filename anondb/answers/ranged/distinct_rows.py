"""``SELECT DISTINCT item, count(*) OVER (PARTITION BY item)`` as the groups that it lists, and the first row of each group,
of which only the keys are shown, as this group."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import (
    ROWS,
    clauses_of,
    conditions_of,
    copy_clauses,
    only_source,
    only_subquery,
    places_of,
    set_conditions,
    shown_by_name,
)
from anondb.answers.ranged.equivalents import (
    aliases_of,
    names_alias,
    query_of,
    resolved,
    terms_of_order,
    write_windows,
)
from anondb.answers.ranged.originals import Originals, rule
from anondb.query.parsing import bare, lowered

_TOTALS: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.Count: exp.Sum,
    exp.Sum: exp.Sum,
    exp.Min: exp.Min,
    exp.Max: exp.Max,
    exp.LogicalOr: exp.LogicalOr,
    exp.LogicalAnd: exp.LogicalAnd,
}
"""For each aggregate, the one that combines its values of several groups."""
_DIFFERENT = {"expressions", *ROWS, "distinct"}
_GROUPED = {"expressions", "from_", "group", "having", "order", "limit", "offset", "with_"}
_AGGREGATES = (*_TOTALS, exp.Avg, exp.CountIf, exp.Median)


@rule((exp.Window, exp.Subquery), exp.Distinct)
def with_groups(select: exp.Select, originals: Originals) -> exp.Select | None:
    """A query with GROUP BY in place of SELECT DISTINCT over aggregates of windows, but of one row for each person."""
    inner = _of_any_number(select)
    if inner is not None and not _keys_of(inner) & originals.ids:
        inner.set("distinct", exp.Distinct())
        keys = {lowered(e.alias_or_name) for e in inner.expressions if e.find(exp.Window) is None}
        if _groups(inner, originals.columns) is not None and keys <= _keys_of(select):  # each of the groups is one row
            select.set("distinct", None)
    groups = _groups(select, originals.columns) or _with_nested(select)
    keys = _keys_of(select)
    return None if keys and keys <= originals.ids else groups


def _of_originals(inner: exp.Select, originals: Originals) -> bool:
    """Whether the ids that a SELECT shows are those of the original's tables, and no outer join makes them NULL."""
    places = places_of(inner)
    plain = all(isinstance(p.this, exp.Table) and not p.args.get("side") and not p.args.get("method") for p in places)
    own = {lowered(p.this.alias_or_name) for p in places if plain and lowered(p.this.name) in originals.columns}
    persons = [e.unalias() for e in inner.expressions if lowered(e.unalias().name) in originals.ids]
    alone = len(own) == len(places)
    return plain and all(alone or (isinstance(c, exp.Column) and lowered(c.table) in own) for c in persons)


@rule(exp.Distinct, exp.Group)
def with_different_persons(select: exp.Select, originals: Originals) -> None:
    """A query with ``count(DISTINCT id)`` of groups in place of a number of different rows, each of an id and all keys."""
    source = only_source(select)
    inner = None if source is None or source.alias_column_names else query_of(source)
    if not isinstance(inner, exp.Select) or not {"distinct"} <= clauses_of(inner) <= _DIFFERENT:
        return
    if not _of_originals(inner, originals):
        return
    group, shown, ids = select.args.get("group"), shown_by_name(inner), originals.ids
    persons = [name for name, value in shown.items() if isinstance(value, exp.Column) and lowered(value.name) in ids]
    parts = clauses_of(select)
    if len(persons) != 1 or inner.is_star or inner.args["distinct"].args.get("on") or not parts <= _GROUPED or group is None:
        return
    if clauses_of(group) != {"expressions"} or len(shown) < 3:  # one key is read as it is
        return
    keys = [resolved(key, select) for key in group.expressions]
    names = {lowered(key.name) for key in keys if isinstance(key, exp.Column)}
    having, order = select.args.get("having"), select.args.get("order")
    clauses = [*select.expressions, *(part for part in (having, order) if part is not None)]
    calls = [call for part in clauses for call in part.find_all(exp.AggFunc)]
    if len(names) < len(keys) or names != shown.keys() - set(persons) or not all(_is_key(shown[name]) for name in names):
        return
    plain = all(isinstance(call, exp.Count) and _is_every(call, persons[0]) for call in calls)
    if not plain or any(part.find(exp.Query, exp.Window, exp.Filter) for part in clauses):
        return
    aliases = aliases_of(select)
    inside = {id(column) for call in calls for column in call.find_all(exp.Column)}
    columns = [c for part in clauses for c in part.find_all(exp.Column) if id(c) not in inside]
    ordered = [c for c in columns if not c.table and lowered(c.name) in aliases and c.find_ancestor(exp.Order) is not None]
    columns = [c for c in columns if all(c is not one for one in ordered)]
    computed = any(not isinstance(shown[name], exp.Column) for name in names)
    if any(lowered(c.name) not in names for c in columns) or aliases & {*shown} or (computed and (having or order)):
        return
    for call in calls:
        call.set("this", exp.Distinct(expressions=[shown[persons[0]].copy()]))
    select.set("group", exp.Group(expressions=[shown[name].copy() for name in sorted(names)]))
    for column in columns:
        value = shown[lowered(column.name)].copy()
        column.replace(exp.alias_(value, column.name, quoted=True) if column.parent is select else exp.paren(value))
    copy_clauses(inner, select)


def _is_key(value: exp.Expr) -> bool:
    """Whether rows can be grouped by an expression: it has columns, and no aggregate, window or list of rows."""
    odd = (exp.AggFunc, exp.Window, exp.Explode, exp.Unnest, exp.Query)
    return value.find(exp.Column) is not None and value.find(*odd) is None


def _is_every(call: exp.Count, person: str) -> bool:
    """Whether a count is of all rows: of a constant, or of persons, who are never NULL."""
    what = call.this.expressions if isinstance(call.this, exp.Distinct) else [call.this]
    named = len(what) == 1 and isinstance(what[0], exp.Column) and lowered(what[0].name) == person
    return named or isinstance(call.this, exp.Star | exp.Literal)


@rule(exp.RowNumber)
def with_first_rows(select: exp.Select, originals: Originals) -> None:
    """A query with GROUP BY in place of ``row_number() OVER (PARTITION BY keys) = 1``, wherever it shows keys alone.

    The condition stands in QUALIFY, or in WHERE of the query around.
    """
    inner = only_subquery(select)
    if inner is not None and not select.is_star:
        _number_inside(select, inner)
    keys = first_of(select.args["qualify"].this) if select.args.get("qualify") is not None else None
    if keys and _is_plain(select) and all(_same(e.unalias(), keys) for e in select.expressions):
        select.set("qualify", None)
        select.set("group", exp.Group(expressions=[key.copy() for key in keys]))


def _is_plain(node: exp.Select) -> bool:
    """Whether a SELECT neither groups, orders nor limits the rows of its tables, and shows no window functions."""
    ended = any(node.args.get(key) for key in ("distinct", "group", "having", "limit", "offset", "order", "windows"))
    return not ended and not any(e.find(exp.Window, exp.AggFunc) for e in node.expressions)


def _number_inside(node: exp.Select, inner: exp.Select) -> None:
    """Move the condition that the number of a row is 1 into QUALIFY of the subquery which numbers it, if keys alone are used
    of its rows."""
    parts, inside = conditions_of(node), [*inner.find_all(exp.Query), inner.parent, node]
    if any(all(query is not one for one in inside) for query in node.find_all(exp.Query)):
        return  # which may name its rows
    numbers = {lowered(e.alias): e.this for e in inner.expressions if isinstance(e.unalias(), exp.Window)}
    for part in parts:
        made = part.transform(lambda n: numbers.get(lowered(n.name), n).copy() if isinstance(n, exp.Column) else n)
        keys = None if part.find(exp.Query) else first_of(made)
        used = [c for c in node.find_all(exp.Column) if c.parent_select is node and c not in set(part.find_all(exp.Column))]
        shown = [_key_shown(lowered(c.name), inner, keys or []) for c in used]
        others = inner.copy()
        others.set("expressions", [])
        if not keys or None in shown or inner.args.get("qualify") or not _is_plain(others):
            continue
        set_conditions(node, [p for p in parts if p is not part])
        inner.set("expressions", [k.copy() for k in dict.fromkeys(shown) if k is not None] or [keys[0].copy()])
        inner.set("qualify", exp.Qualify(this=made))
        return


def _key_shown(name: str, inner: exp.Select, keys: list[exp.Column]) -> exp.Expr | None:
    """What a SELECT shows under a name, if it is one of these keys; None if it is not, or may be another column."""
    named = [e for e in inner.expressions if lowered(e.alias_or_name) == name]
    if named:
        return named[0] if len(named) == 1 and _same(named[0].unalias(), keys) else None
    alike = [key for key in keys if lowered(key.name) == name]
    return alike[0] if len(alike) == 1 and inner.is_star else None


def first_of(condition: exp.Expr) -> list[exp.Column] | None:
    """The keys of which a condition keeps the first row of each group; None for other conditions."""
    made = bare(condition)
    window = bare(made.this) if isinstance(made, exp.EQ | exp.LTE) and made.expression == exp.convert(1) else None
    if not isinstance(window, exp.Window) or not isinstance(window.this, exp.RowNumber) or window.args.get("alias"):
        return None
    keys = [bare(key) for key in window.args.get("partition_by") or ()]
    return [key for key in keys if isinstance(key, exp.Column)] if all(isinstance(k, exp.Column) for k in keys) else None


def _same(shown: exp.Expr, keys: list[exp.Column]) -> bool:
    """Whether an expression is a key."""
    return any(isinstance(shown, exp.Column) and shown.this == key.this and shown.table == key.table for key in keys)


def _keys_of(node: exp.Select) -> set[str]:
    """The names of the columns that a SELECT shows, in lower case."""
    return {lowered(e.unalias().name) for e in node.expressions if isinstance(e.unalias(), exp.Column)}


def _of_any_number(node: exp.Select) -> exp.Select | None:
    """The subquery with windows that is the only source of a SELECT for which repetitions do not matter; None for others."""
    source = only_source(node)
    inner = source.this if isinstance(source, exp.Subquery) else None
    others = any(node.args.get(key) for key in ("laterals", "qualify", "windows"))
    if not isinstance(inner, exp.Select) or others or inner.find(exp.Window) is None or inner.is_star:
        return None
    if any(inner.args.get(key) for key in ("distinct", "group", "having", "limit", "offset")):
        return None
    parts = [*node.expressions, *(node.args[key] for key in ("having", "order") if node.args.get(key))]
    calls = [call for part in parts for call in part.find_all(exp.AggFunc, exp.Window, exp.Anonymous)]
    once = all(isinstance(call, exp.Min | exp.Max) or isinstance(call.this, exp.Distinct) for call in calls)
    distinct = node.args.get("distinct")
    merged = (calls and node.args.get("group") is None) if distinct is None else not distinct.args.get("on")
    return inner if once and merged else None


def _groups(node: exp.Select, tables: Mapping[str, Mapping[str, bool]]) -> exp.Select | None:
    """A SELECT DISTINCT of keys and of aggregates over all rows with some of them as GROUP BY these keys; None for others.

    The rows with equal keys are equal, and DISTINCT keeps one of each; a window over the keys has the rows of their group,
    and one over some of the keys, or none, those of several groups.
    """
    distinct, copy = node.args.get("distinct"), node.copy()
    write_windows(copy)
    plain = not any(copy.args.get(key) for key in ("group", "having", "windows", "laterals"))
    if distinct is None or distinct.args.get("on") or not plain:
        return None
    keys = [e.unalias() for e in copy.expressions if e.find(exp.Window) is None]
    windows = [w for w in copy.find_all(exp.Window) if w.parent_select is copy]
    if not keys or not windows or not all(map(_is_key, keys)):
        return None
    if any(isinstance(key.this if isinstance(key, exp.Column) else key, exp.Star) for key in keys):
        return None
    for window in windows:
        value = _over_groups(window, keys)
        if value is None:
            return None
        window.replace(exp.alias_(value, window.alias) if window.alias and window in copy.expressions else value)
    if not all(_is_of(e.unalias(), keys, copy) for e in copy.expressions):
        return None
    copy.set("distinct", None)
    copy.set("group", exp.Group(expressions=[key.copy() for key in dict.fromkeys(keys)]))
    qualify = copy.args.get("qualify")
    if qualify is not None and names_alias(qualify, copy) and not _has_no_column_of(aliases_of(copy), copy, tables):
        return None  # the column, or what the SELECT gives
    if qualify is not None and copy.find(exp.Window) is None:
        copy.set("having", exp.Having(this=qualify.this))
        copy.set("qualify", None)
    return copy


def _has_no_column_of(names: Collection[str], node: exp.Select, tables: Mapping[str, Mapping[str, bool]]) -> bool:
    """Whether a SELECT reads tables of the original alone, and none of them has a column of some names."""
    sources = [place.this for place in places_of(node)]
    return all(
        isinstance(source, exp.Table) and not {*tables.get(lowered(source.name), names)} & {*names} for source in sources
    )


def _with_nested(node: exp.Select) -> exp.Select | None:
    """A SELECT DISTINCT of keys beside subqueries that name keys alone as GROUP BY these keys; None for others.

    Such as ``DISTINCT item, (SELECT count(*) FROM sales o WHERE o.item = s.item) FROM sales s``.
    """
    parts = {"expressions", "from_", "where", "distinct", "with_", "order", "limit", "offset"}
    source = only_source(node)
    distinct = node.args.get("distinct")
    if distinct is None or distinct.args.get("on") or not clauses_of(node) <= parts:
        return None
    keys = [e.unalias() for e in node.expressions if isinstance(e.unalias(), exp.Column)]
    others = [e.unalias() for e in node.expressions if not isinstance(e.unalias(), exp.Column)]
    if not isinstance(source, exp.Table) or not keys or any(isinstance(key.this, exp.Star) for key in keys):
        return None
    if not others or not all(_is_of_names(e, source, {lowered(key.name) for key in keys}) for e in others):
        return None
    copy = node.copy()
    copy.set("distinct", None)
    copy.set("group", exp.Group(expressions=[key.copy() for key in dict.fromkeys(keys)]))
    return copy


def _is_of_names(node: exp.Expr, source: exp.Table, names: set[str]) -> bool:
    """Whether an expression is of subqueries over the same table that name columns of the row by these names alone.

    Each such subquery has all columns of the table, so a name without a table is its own.
    """
    queries = [q for q in node.find_all(exp.Subquery) if q.find_ancestor(exp.Query) is node.find_ancestor(exp.Query)]
    outside = [c for c in node.find_all(exp.Column) if c.find_ancestor(exp.Query) is node.find_ancestor(exp.Query)]
    if not queries or outside or node.find(exp.AggFunc) is None:
        return False
    for select in (select for query in queries for select in query.find_all(exp.Select)):
        inner = select.args["from_"].this if select.args.get("from_") else None
        if not isinstance(inner, exp.Table) or (inner.name, inner.db) != (source.name, source.db):
            return False
        if inner.alias_column_names:
            return False
    tables = [table for query in queries for table in query.find_all(exp.Table, exp.Subquery) if table is not query]
    if any(lowered(table.alias_or_name) == lowered(source.alias_or_name) for table in tables):
        return False
    of_row = [c for c in node.find_all(exp.Column) if lowered(c.table) == lowered(source.alias_or_name)]
    return bool(of_row) and {lowered(c.name) for c in of_row} <= names


def _over_groups(window: exp.Window, keys: list[exp.Expr]) -> exp.Expr | None:
    """A window function as an aggregate of one group, or of several groups; None for functions that are no aggregates."""
    call, _ = filtered(window.this)
    by = [bare(part) for part in window.args.get("partition_by") or ()]
    if type(call) not in _AGGREGATES or any(window.args.get(k) for k in ("spec", "alias")):
        return None
    terms = [bare(term.this) for term in terms_of_order(window)]
    if not all(part in keys for part in (*by, *terms)):
        return None
    if set(by) == set(keys):
        of_group: exp.Expr = window.this.copy()
        return of_group
    total = _TOTALS.get(type(call))
    if total is None or isinstance(call.args.get("this"), exp.Distinct):
        return None
    made = exp.Window(this=total(this=window.this.copy()), partition_by=[part.copy() for part in by], over="OVER")
    copy_clauses(window, made, ["order"])  # rows that it does not tell apart are of one frame
    return made


def _is_of(node: exp.Expr, keys: list[exp.Expr], of: exp.Select) -> bool:
    """Whether an expression is of keys, aggregates, and subqueries over the same table that name no row around them."""
    if node in keys or isinstance(node, exp.AggFunc | exp.Filter):
        return True
    if isinstance(node, exp.Subquery):
        source, tables = only_source(of), list(node.find_all(exp.Table))
        same = source is not None and all(table.name == source.name and not table.alias for table in tables)
        return bool(tables) and same and not any(column.table for column in node.find_all(exp.Column))
    if isinstance(node, exp.Column | exp.Query):
        return False
    return all(_is_of(part, keys, of) for part in node.iter_expressions())
