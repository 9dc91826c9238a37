"""Plain words for parts of a query that change nothing as they are written: numbers of rows, conditions that all meet,
DISTINCT of rows that differ, and sources that show all rows of a table.

Pairs of values in any order as those in one order: ``least(a.item, b.item)`` of rows with ``a.item <> b.item`` as
``a.item`` of rows with ``a.item < b.item``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sqlglot import exp

from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.ranged.clauses import (
    clauses_of,
    conditions_of,
    is_inner,
    only_source,
    places_of,
    set_conditions,
    sides_of,
)
from anondb.answers.ranged.equivalents import query_of, resolved
from anondb.answers.ranged.originals import Originals, rule
from anondb.query.parsing import bare, conjoined, lowered

_CONDITIONS = (exp.Where, exp.Having, exp.Qualify)
_ROWS = exp.Count(this=exp.Star(), big_int=True)
_OF_EACH_GROUP = (exp.GTE(this=_ROWS, expression=exp.convert(1)), exp.GT(this=_ROWS, expression=exp.convert(0)))
"""What each group meets, since it has a row."""
_ALWAYS = (exp.true(), exp.EQ(this=exp.convert(1), expression=exp.convert(1)))
_AROUND = {"with_", "order", "limit", "offset"}


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
        for clause, met in (("where", _ALWAYS), ("having", _OF_EACH_GROUP if _of_groups(select) else ())):
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


def _of_groups(select: exp.Expr | None) -> bool:
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
        return every if groups and _of_groups(call.parent_select) else None
    if isinstance(what, exp.Literal):
        return every
    plain = isinstance(what, exp.Case) and what.this is None and isinstance(what.args.get("default"), exp.Null | None)
    branches = what.args["ifs"] if plain and alone else []
    if len(branches) != 1 or not isinstance(branches[0].args["true"], exp.Literal):
        return None
    return exp.Filter(this=every, expression=exp.Where(this=branches[0].this.copy()))


@rule(exp.Distinct)
def without_idle_distinct(select: exp.Select, originals: Originals) -> None:
    """A query without DISTINCT in each SELECT whose rows differ anyway: a single one, or groups with all of their keys."""
    distinct = select.args.get("distinct")
    if distinct is not None and not distinct.args.get("on"):
        select.set("distinct", None)
        if _key(select, originals.analyst.is_aggregate) is None:
            select.set("distinct", distinct)


def _key(select: exp.Select, is_aggregate: Callable[[str], bool]) -> set[str] | None:
    """The names of columns that no two rows of a SELECT have the same values of; None if it is not known to have such."""
    group, source, shown = select.args.get("group"), only_source(select), select.expressions
    names = {lowered(e.alias_or_name) for e in shown}
    if any(e.find(exp.Explode, exp.Unnest) for e in shown) or (select.is_star and select.expressions != [exp.Star()]):
        return None
    if group is None and any(has_aggregate(part, is_aggregate) for part in (*shown, select.args.get("having"))):
        return set()
    if select.args.get("distinct") is not None or (group is not None and clauses_of(group) == {"all"}):
        return None if select.is_star else names
    if group is not None:
        keys = [bare(resolved(key, select)) for key in group.expressions] if clauses_of(group) == {"expressions"} else []
        return _names_of(keys, shown, alone=source is not None) if keys else None
    inner = None if source is None else query_of(source)
    within = _key(inner, is_aggregate) if isinstance(inner, exp.Select) else None
    if within is None or select.is_star:
        return within
    return _names_of([exp.column(name) for name in within], shown, alone=True)


def _names_of(keys: Sequence[exp.Expr], shown: Sequence[exp.Expr], *, alone: bool) -> set[str] | None:
    """The names under which keys are shown, all of them; of a single source a name needs no table."""
    names = {bare(e.unalias()): lowered(e.alias_or_name) for e in shown}
    columns = {lowered(value.name): name for value, name in names.items() if isinstance(value, exp.Column) and alone}
    found = [names.get(key) or columns.get(lowered(key.name) if isinstance(key, exp.Column) else "") for key in keys]
    return None if None in found else {name for name in found if name is not None}


def unwrapped(tree: exp.Expr, originals: Originals) -> exp.Expr:
    """The query within ``SELECT * FROM (query) AS name``, with what is around it: common table expressions, order, LIMIT."""
    around = clauses_of(tree) - {"expressions", "from_"}
    if not isinstance(tree, exp.Select) or tree.expressions != [exp.Star()] or not around <= _AROUND:
        return tree
    source = only_source(tree)
    inner = None if source is None else query_of(source)
    inner = inner.copy() if isinstance(inner, exp.Select) and not clauses_of(inner) & around else None
    ctes = list(tree.args["with_"].expressions) if "with_" in around else []
    if isinstance(source, exp.Table):  # the common table expression of this name, which nothing else reads
        ctes = [cte for cte in ctes if lowered(cte.alias) != lowered(source.name)]
        inner = (
            inner if sum(lowered(table.name) == lowered(source.name) for table in tree.find_all(exp.Table)) == 1 else None
        )
    recursive = "with_" in around and tree.args["with_"].recursive
    terms = [term.this for term in tree.args["order"].expressions] if "order" in around else []
    named = all(isinstance(term, exp.Column | exp.Literal | exp.Var) and not term.args.get("table") for term in terms)
    if inner is None or recursive or not named or (terms and clauses_of(inner) & _AROUND):
        return tree
    for name in around - {"with_"}:
        inner.set(name, tree.args[name].copy())
    if "with_" in around:
        inner.set("with_", exp.With(expressions=[cte.copy() for cte in ctes]) if ctes else None)
    return unwrapped(inner, originals)


@rule((exp.Subquery, exp.CTE), inner_first=True)
def with_own_tables(select: exp.Select, originals: Originals) -> None:
    """A query with the original's tables in place of sources that show all of their rows: ``(SELECT DISTINCT tid, item FROM
    sales)``."""
    for place in places_of(select):
        inner, alias = query_of(place.this), lowered(place.this.alias_or_name)
        shown = _all_rows(inner, originals) if isinstance(inner, exp.Select) else None
        if shown is None:
            continue
        table, names = shown
        own, alone = list(originals.columns[lowered(table.name)]), not select.args.get("joins")
        hidden = {*own} - {*names}
        named = {lowered(c.name) for c in select.root().find_all(exp.Column) if not c.table}
        if (names != own and (select.is_star or alias in named)) or hidden & named or not (alone or (alias and not hidden)):
            continue  # a star or the name of a source is all columns
        as_named = exp.TableAlias(this=exp.to_identifier(alias)) if alias not in ("", lowered(table.name)) else None
        place.set("this", exp.Table(this=table.this.copy(), alias=as_named))


@rule(exp.Count)
def with_counted_rows(select: exp.Select, originals: Originals) -> None:
    """A query with ``count(*)`` in place of a number of ids of a table that has one row for each person."""
    source = _only_table(select)
    named = {lowered(cte.alias) for cte in select.root().find_all(exp.CTE)}
    own = {} if source is None or lowered(source.name) in named else originals.columns.get(lowered(source.name), {})
    ids = {name for name, is_id in own.items() if is_id and originals.item not in own}
    for call in [c for c in select.find_all(exp.Count) if ids and c.parent_select is select]:
        what = call.this.expressions if isinstance(call.this, exp.Distinct) else [call.this]
        one = bare(what[0]) if len(what) == 1 and not call.expressions else None
        if isinstance(one, exp.Column) and lowered(one.name) in ids:
            call.set("this", exp.Star())


def _only_table(select: exp.Select) -> exp.Table | None:
    """The table that is the only source of a SELECT, with its own names of columns; None if it has others."""
    source = only_source(select)
    if source is None or select.args.get("laterals") or source.args.get("pivots") or source.alias_column_names:
        return None
    return source if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier) and not source.db else None


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


def _all_rows(inner: exp.Select, originals: Originals) -> tuple[exp.Table, list[str]] | None:
    """The table of which a SELECT shows all rows, each once, and the columns that it shows; None for others."""
    table, group, distinct = only_source(inner), inner.args.get("group"), inner.args.get("distinct")
    if not isinstance(table, exp.Table) or clauses_of(table) - {"this", "alias"} or table.alias_column_names:
        return None
    if lowered(table.name) not in originals.columns or not clauses_of(inner) <= {
        "expressions",
        "from_",
        "distinct",
        "group",
    }:
        return None
    own = originals.columns[lowered(table.name)]
    names = [lowered(e.name) for e in inner.expressions if isinstance(e, exp.Column) and not e.is_star]
    names = list(own) if inner.expressions == [exp.Star()] else names
    if len({*names}) != len(inner.expressions if not inner.is_star else own) or not {*names} <= own.keys():
        return None
    by = [] if group is None or group.args.get("all") else [lowered(key.name) for key in group.expressions]
    plain = group is None or clauses_of(group) in ({"all"}, {"expressions"})
    if not plain or (by and {*by} != {*names}) or (distinct is not None and distinct.args.get("on") is not None):
        return None
    once = {name for name, is_id in own.items() if is_id or name == originals.item} <= {*names}
    return (table, names) if once or (distinct is None and group is None) else None


_ENDS = (exp.Least, exp.Greatest)
_ONCE = (exp.Min, exp.Max)


@rule(_ENDS)
def with_ordered_pairs(select: exp.Select, originals: Originals) -> None:
    """A query with rows of pairs in one order, wherever only the smaller and the greater value of a pair are used."""
    compared = _comparison(select)
    if compared is None:
        return
    one, other = (bare(side) for side in (compared.left, compared.right))
    ends = [end for end in select.find_all(*_ENDS) if end.parent_select is select and _are(end, one, other)]
    if isinstance(compared, exp.NEQ):
        if not ends or _uses_others(select, compared, ends) or not _counts_once(select):
            return
        compared.replace(exp.LT(this=one.copy(), expression=other.copy()))
    for end in ends:
        value = (one if isinstance(end, exp.Least) == isinstance(compared, exp.LT | exp.LTE | exp.NEQ) else other).copy()
        end.replace(value)


def _comparison(select: exp.Select) -> exp.Binary | None:
    """How a SELECT compares a column of two rows of one table: ``<``, ``>`` or ``<>``; None for others."""
    places = places_of(select)
    if not all(map(is_inner, places)):
        return None
    tables = {lowered(place.this.alias_or_name): place.this for place in places}
    comparisons = []
    for part in _conditions(select):
        sides = sides_of(part, exp.LT, exp.GT, exp.NEQ)
        columns = [side for side in sides if isinstance(side, exp.Column) and side.table]
        columns = columns if len({lowered(column.name) for column in columns}) == 1 else []
        of = [tables.get(lowered(column.table)) for column in columns]
        if len(of) == 2 and of[0] is not of[1] and all(isinstance(table, exp.Table) for table in of):
            comparisons += [part] if len({(lowered(table.name), table.db) for table in of if table is not None}) == 1 else []
    return comparisons[0] if len(comparisons) == 1 and isinstance(comparisons[0], exp.Binary) else None


def _conditions(select: exp.Select) -> list[exp.Expr]:
    """The conditions that AND connects in WHERE and in inner joins."""
    on = [part for join in select.args.get("joins") or () for part in conjoined(join.args.get("on"))]
    return [*on, *conditions_of(select)]


def _are(end: exp.Expr, one: exp.Expr, other: exp.Expr) -> bool:
    """Whether the least or the greatest value is of these two."""
    values = [bare(end.this), *(bare(value) for value in end.expressions)]
    return len(values) == 2 and (values == [one, other] or values == [other, one])


def _uses_others(select: exp.Select, compared: exp.Expr, ends: Sequence[exp.Expr]) -> bool:
    """Whether a SELECT names a column of the two rows, outside of the ends and of the comparison, that may differ."""
    inside = {id(c) for part in (compared, *ends) for c in part.find_all(exp.Column)}
    tables = {lowered(column.table) for column in compared.find_all(exp.Column)}
    values = {lowered(column.name) for column in compared.find_all(exp.Column)}
    second = [join for join in select.args.get("joins") or () if lowered(join.this.alias_or_name) in tables][-1]
    alike = {lowered(name.name) for name in second.args.get("using") or ()}
    for part in _conditions(select):
        sides = sides_of(part, exp.EQ)
        names = {lowered(side.name) for side in sides if isinstance(side, exp.Column)}
        if len(names) == 1 and {lowered(c.table) for side in sides for c in side.find_all(exp.Column)} == tables:
            alike |= names
    alike -= values
    rest = [c for c in select.find_all(exp.Column) if id(c) not in inside]
    return any(
        (lowered(c.table) in tables and (lowered(c.name) not in alike or c.find_ancestor(exp.Query) is not select))
        or (not c.table and lowered(c.name) in values)
        for c in rest
    )


def _counts_once(select: exp.Select) -> bool:
    """Whether it does not matter how often a row of a SELECT is there."""
    around = select.parent_select
    if select.args.get("distinct") or select.args.get("group") is not None:
        of: exp.Select | None = select
    else:
        cte = select.parent if isinstance(select.parent, exp.CTE) else None
        users = [t for t in select.root().find_all(exp.Table) if cte is not None and lowered(t.name) == lowered(cte.alias)]
        of = users[0].parent_select if len(users) == 1 else around if cte is None else None
        of = of if of is not None and not of.args.get("joins") else None
    if of is None or (of is not select and of.args.get("group") is None and not of.args.get("distinct")):
        return False
    calls = [call for call in of.find_all(exp.AggFunc) if call.parent_select is of]
    return not of.find(exp.Window) and all(isinstance(c, _ONCE) or isinstance(c.this, exp.Distinct) for c in calls)
