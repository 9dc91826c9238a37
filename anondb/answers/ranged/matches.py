"""Groups of rows and of those that a join finds for each of them, as subqueries around each row.

Such as ``SELECT a.item, count(b.item) FROM c a LEFT JOIN c b ON b.n > a.n GROUP BY a.item`` of one row for each item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    FLAT,
    GROUPED,
    clauses_of,
    conditions_of,
    copy_clauses,
    only_source,
    part_of,
    places_of,
    rewritten,
    set_conditions,
    shown_by_name,
    with_filter,
)
from anondb.answers.ranged.dependent_keys import keys_of_groups
from anondb.answers.ranged.equivalents import ids_of, query_of, resolved, shown_name, terms_of_order
from anondb.answers.ranged.never_null import Present, is_present
from anondb.answers.ranged.relation import fresh
from anondb.query.parsing import bare, conjoined, lowered

_KEPT = ("from_", "order", "limit", "offset", "with_")
_WITHOUT_NULL = (exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg)
"""Aggregates that leave out NULL, which a column has in a row without a match."""
_COMPARED = (exp.GT, exp.GTE, exp.LT, exp.LTE)


def with_counted_matches(tree: exp.Expr, tables: Mapping[str, Mapping[str, bool]]) -> exp.Expr:
    """A query with subqueries around each row in place of groups of rows and their matches by numbers, wherever it has them.

    Args:
        tree: the query.
        tables: the columns of each of the original's tables, in lower case, and whether one is the id.
    """
    if tree.find(exp.Join) is None or tree.find(exp.Group) is None:
        return tree
    return rewritten(tree, lambda select: _counted(_merged(select) or select, tables))


def with_places(tree: exp.Expr, tables: Mapping[str, Mapping[str, bool]], present: Present) -> exp.Expr:
    """A query with subqueries that count the persons up to a number in place of ``cume_dist()``, ``rank()``,
    ``percent_rank()`` and running counts in its order, wherever SELECT DISTINCT lists them beside columns.

    Args:
        tree: the query.
        tables: as for ``with_counted_matches``.
        present: whether a column of a table is never NULL.
    """
    if tree.find(exp.Distinct) is None or tree.find(exp.Window) is None:
        return tree
    copy = tree.copy()
    for select in list(copy.find_all(exp.Select)):
        clause = select.args.get("from_")
        several = any(select.args.get(key) for key in ("joins", "group", "where", "windows"))
        if clause is None or several or not select.args.get("distinct") or not is_of_persons(clause.this, tables):
            continue
        if not all(isinstance(e.unalias(), exp.Column) or e.find(exp.Window) for e in select.expressions) or select.is_star:
            continue
        windows = [w for w in select.find_all(exp.Window) if w.parent_select is select]
        shown = {lowered(e.unalias().name) for e in select.expressions if isinstance(e.unalias(), exp.Column)}
        ordered = {lowered(column.name) for window in windows for column in window.find_all(exp.Column)}
        if not ordered <= shown:
            continue
        if not clause.this.alias_or_name:
            clause.this.set("alias", exp.TableAlias(this=exp.to_identifier(fresh("rows"))))
        places = [place for w in windows if (place := _place(w, select, clause.this, present)) is not None]
        if not windows or len(places) < len(windows):
            continue
        for window, place in zip(windows, places, strict=True):
            window.replace(exp.paren(place))
        columns = [c.this for e in select.expressions for c in e.find_all(exp.Column) if c.parent_select is select]
        select.set("from_", exp.From(this=_different(clause.this, columns)))
        select.set("distinct", None)
    return copy


def _different(source: exp.Expr, names: Sequence[exp.Expr]) -> exp.Subquery:
    """The different rows of some columns of a source, under its name."""
    alias = source.alias_or_name
    columns = [exp.column(name.copy(), alias) for name in dict.fromkeys(names)]
    return exp.Select(expressions=columns, distinct=exp.Distinct()).from_(source.copy()).subquery(alias, copy=False)


def _place(window: exp.Window, select: exp.Select, source: exp.Expr, present: Present) -> exp.Expr | None:
    """A window in the order of a number as counts of the rows up to it; None for others."""
    terms = terms_of_order(window)
    column = bare(terms[0].this) if len(terms) == 1 else None
    plain = not any(window.args.get(part) for part in ("partition_by", "spec", "alias"))
    if not plain or not isinstance(column, exp.Column) or not is_present(column, select, present):
        return None
    down, other = bool(terms[0].args.get("desc")), fresh("up_to")
    one = exp.convert(1)

    def number(kind: type[exp.Binary] | None) -> exp.Expr:
        rows = source.copy()
        rows.set("alias", exp.TableAlias(this=exp.to_identifier(other)))
        counted = exp.select(exp.Count(this=exp.Star(), big_int=True)).from_(rows)
        if kind is not None:
            sides = exp.column(column.this.copy(), other), exp.column(column.this.copy(), source.alias_or_name)
            counted = counted.where(kind(this=sides[0], expression=sides[1]))
        return counted.subquery()

    before, up_to = (number(exp.GT if down else exp.LT), number(exp.GTE if down else exp.LTE))
    if isinstance(window.this, exp.CumeDist):
        return exp.Div(this=up_to, expression=number(None))
    if isinstance(window.this, exp.Rank):
        return exp.Add(this=before, expression=one)
    if isinstance(window.this, exp.PercentRank):
        others = exp.Nullif(this=exp.paren(exp.Sub(this=number(None), expression=one)), expression=exp.convert(0))
        return exp.Coalesce(this=exp.Div(this=before, expression=others), expressions=[exp.convert(0)])
    return up_to if window.this == exp.Count(this=exp.Star(), big_int=True) else None


def _merged(node: exp.Select) -> exp.Select | None:
    """A SELECT over rows that a subquery only puts together as a SELECT over the sources of these; None for others."""
    source = only_source(node)
    inner = None if source is None else query_of(source)
    if not isinstance(inner, exp.Select) or inner.is_star or not clauses_of(inner) <= FLAT:
        return None
    if not inner.args.get("joins") or any(e.find(exp.AggFunc, exp.Window) for e in inner.expressions):
        return None
    values = shown_by_name(inner)
    copy = node.copy()
    parts = [*copy.expressions, *(copy.args[key] for key in ("where", "group", "having", "order") if copy.args.get(key))]
    if any(part.find(exp.Query) for part in parts):
        return None
    shown = {lowered(e.alias) for e in copy.expressions}
    for column in [column for part in parts for column in part.find_all(exp.Column)]:
        value = values.get(lowered(column.name))
        if value is None or (not column.table and lowered(column.name) in shown):
            return None
        named = isinstance(column.parent, exp.Select) and column.arg_key == "expressions"
        column.replace(exp.alias_(value.copy(), column.name, quoted=True) if named else exp.paren(value.copy()))
    set_conditions(copy, [of.args["where"].this for of in (inner, copy) if of.args.get("where")])
    copy_clauses(inner, copy, ("from_", "joins"))
    for part in list(copy.find_all(exp.Paren)):
        if isinstance(part.this, exp.Column):
            part.replace(part.this)
    return copy


def _counted(node: exp.Select, tables: Mapping[str, Mapping[str, bool]]) -> exp.Select | None:
    """A SELECT that groups rows and their matches with subqueries around each row; None for others.

    A LEFT JOIN has each row; another one those with a match. Rows that may be equal become one row, which aggregates of
    different values, and extremes, do not notice.
    """
    clause, joins, group = node.args.get("from_"), node.args.get("joins") or [], node.args.get("group")
    if clause is None or group is None or not joins or not clauses_of(node) <= GROUPED:
        return None
    left, matches = lowered(clause.this.alias_or_name), _matches(node, clause.this, joins, tables)
    keys = [resolved(key, node) for key in group.expressions]
    own = all(isinstance(key, exp.Column) and lowered(key.table) == left for key in keys)
    if not left or matches is None or clauses_of(group) != {"expressions"} or not own:
        return None
    if not matches.outer and not any(is_of_persons(place.this, tables) for place in (clause, *joins)):
        return None
    names = {lowered(key.name) for key in keys}
    once = _is_once(clause.this, names)
    if names & ids_of(tables) or (not once and _names_others(node, left, names)):
        return None
    made = part_of(node, *_KEPT)
    shown = [(e.unalias().copy(), shown_name(e)) for e in node.expressions]
    made.set("expressions", [exp.alias_(value, name, quoted=True) for value, name in shown])
    having = [node.args["having"].this] if node.args.get("having") is not None else []
    made = made.where(*(part.copy() for part in (*matches.others, *having)), copy=False)
    if not once:
        made.set("from_", exp.From(this=_different(clause.this, [key.this for key in keys])))
    if having and any(not c.table and lowered(c.name) not in names for c in having[0].find_all(exp.Column)) and once:
        return None  # it may be a column of the rows or a name that the SELECT gives
    return made if matches.write(made, once) else None


@dataclass(frozen=True)
class _Matches:
    """What a join finds for each row.

    Attributes:
        rows: a SELECT of them, without what it shows.
        names: the names of their sources, in lower case.
        own: the columns of the rows around, in lower case; None if they are not known.
        others: conditions on the rows alone.
        outer: whether rows without a match are kept.
    """

    rows: exp.Select
    names: frozenset[str]
    own: frozenset[str] | None
    others: Sequence[exp.Expr]
    outer: bool

    def write(self, made: exp.Select, once: bool) -> bool:
        """Write aggregates of matches in a SELECT of the rows as subqueries around each row; returns whether all are.

        Args:
            made: the SELECT, which is changed.
            once: whether each row is there once.
        """
        for call in [call for call in made.find_all(exp.AggFunc) if call.parent_select is made]:
            different = isinstance(call.this, exp.Distinct)
            what = call.this.expressions if different else [call.this, *call.expressions]
            whole = with_filter(call)
            columns = list(whole.find_all(exp.Column))
            of_match = len(what) == 1 and (self.own is not None or all(column.table for column in columns))
            if self.outer:
                of_match = of_match and isinstance(what[0], exp.Column) and _is_of(what[0], self.names, self.own)
            alike = once or different or isinstance(call, exp.Min | exp.Max)
            if not of_match or not alike or not isinstance(call, _WITHOUT_NULL) or isinstance(whole.parent, exp.Window):
                return False
            whole.replace(self.rows.select(whole.copy()).subquery())
        if not self.outer:
            matching = self.rows.select(exp.convert(1))
            matching.set("joins", [join for join in matching.args.get("joins") or [] if join.side != "LEFT"])
            made.where(exp.Exists(this=matching), copy=False)
        return True


def _matches(
    node: exp.Select, source: exp.Expr, joins: Sequence[exp.Join], tables: Mapping[str, Mapping[str, bool]]
) -> _Matches | None:
    """What the joins of a SELECT find for each row of its first source, by numbers or all alike; None for others."""
    first, *rest = joins
    left, names = lowered(source.alias_or_name), frozenset(lowered(join.this.alias_or_name) for join in joins)
    parts = conditions_of(node)
    own = _names(source, tables)
    unnamed = {lowered(column.name) for part in parts for column in part.find_all(exp.Column) if not column.table}
    of_match = [part for part in parts if any(_is_of(column, names, own) for column in part.find_all(exp.Column))]
    on, outer = conjoined(first.args.get("on")) + of_match, first.side == "LEFT"
    plain = first.side in ("", "LEFT") and first.kind in ("", "INNER", "CROSS")
    if not plain or any(join.method or join.args.get("using") for join in joins) or len(names) < len(joins):
        return None
    conditions = [*on, *(part for join in rest for part in conjoined(join.args.get("on")))]
    if (unnamed and own is None) or any(part.find(exp.Query) for part in conditions) or (outer and (of_match or rest)):
        return None
    both = [part for part in on if {left} < {lowered(column.table) for column in part.find_all(exp.Column)}]
    compared = not rest and any(part.find(*_COMPARED) for part in on)
    if not compared and (outer or both or any(join.side != "LEFT" for join in rest)):
        return None
    rows = exp.Select(joins=[join.copy() for join in rest]).from_(first.this.copy()).where(*(part.copy() for part in on))
    return _Matches(rows, names, own, [part for part in parts if part not in of_match], outer)


def _names(source: exp.Expr, tables: Mapping[str, Mapping[str, bool]]) -> frozenset[str] | None:
    """The columns of a source, in lower case; None if they are not known."""
    query = query_of(source)
    if isinstance(query, exp.Select) and not query.is_star:
        return frozenset(lowered(e.alias_or_name) for e in query.expressions)
    columns = tables.get(lowered(source.name)) if query is None and isinstance(source, exp.Table) else None
    return None if columns is None else frozenset(columns)


def _is_of(column: exp.Column, names: frozenset[str], others: frozenset[str] | None) -> bool:
    """Whether a column is of sources of these names, rather than one of other columns."""
    return lowered(column.table) in names if column.table else others is not None and lowered(column.name) not in others


def _names_others(node: exp.Select, left: str, names: set[str]) -> bool:
    """Whether a SELECT may name other columns of its first source than these."""
    conditions = [part for join in node.args["joins"] for part in conjoined(join.args.get("on"))]
    parts = [*node.expressions, *conditions, *(node.args[key] for key in ("where", "having") if node.args.get(key))]
    tables = (left, "")
    return any(
        lowered(c.table) in tables and lowered(c.name) not in names for part in parts for c in part.find_all(exp.Column)
    )


def is_of_persons(source: exp.Expr, tables: Mapping[str, Mapping[str, bool]]) -> bool:
    """Whether a source has rows of single persons."""
    query = query_of(source)
    if not isinstance(query, exp.Select):
        return query is None and isinstance(source, exp.Table) and lowered(source.name) in tables
    group, ids = query.args.get("group"), ids_of(tables)
    if group is None and (query.args.get("distinct") or any(e.find(exp.AggFunc) for e in query.expressions)):
        return any(lowered(e.unalias().name) in ids for e in query.expressions if not e.find(exp.AggFunc))
    if group is not None:
        return any(lowered(column.name) in ids for key in group.expressions for column in key.find_all(exp.Column))
    return any(is_of_persons(place.this, tables) for place in places_of(query))


def _is_once(source: exp.Expr, keys: set[str]) -> bool:
    """Whether the rows of a source differ in some of these columns."""
    query = query_of(source)
    distinct = query.args.get("distinct") if isinstance(query, exp.Select) else None
    if isinstance(query, exp.Select) and distinct is not None and not distinct.args.get("on"):
        return not query.is_star and {lowered(e.alias_or_name) for e in query.expressions} <= keys
    own = keys_of_groups(source)
    return bool(own) and own <= keys
