"""Comparisons with all rows of a list, or with any: ``n >= ALL (SELECT n ...)`` by its extreme, and ``EXISTS (SELECT 1 FROM
t WHERE t.x > n)``.

For numbers that are never NULL, ``x >= ALL (list)`` is ``coalesce(x >= max(list), TRUE)``: of an empty list the extreme is
NULL, and the comparison is true. So ``x >= ANY (list)`` is ``coalesce(x >= min(list), FALSE)``. A row has a greater value
than n if the greatest has, and another one if the least or the greatest has.

Rows with and without a match as EXISTS, which may compare estimates: of SEMI JOIN and ANTI JOIN, and of ``FROM a LEFT
JOIN b ON ... WHERE b.k IS NULL``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.answers.ranged.clauses import FLAT, clauses_of, conditions_of, is_inner, only_source, places_of, set_conditions
from anondb.answers.ranged.compiler import Compiler, Env
from anondb.answers.ranged.equivalents import MIRRORED, are_same, query_of
from anondb.answers.ranged.matches import is_of_persons
from anondb.answers.ranged.originals import Originals, is_present, rule
from anondb.answers.ranged.relation import Ranged
from anondb.answers.ranged.sources import source_rows
from anondb.query.parsing import bare, conjoined, is_null, lowered

_COMPARED = (exp.GTE, exp.GT, exp.LTE, exp.LT)
_FLIPPED = {**MIRRORED, exp.NEQ: exp.NEQ}


@rule(exp.Exists, of=(exp.Exists,))
def with_extremes_of_persons(exists: exp.Exists, originals: Originals) -> exp.Expr | None:
    """A query with comparisons with an extreme in place of EXISTS of rows of persons with a greater, smaller or other value,
    but for ids and items, whose comparisons other rules read."""
    others = {*originals.ids, originals.item}
    query, around = exists.this, exists.parent_select
    if not isinstance(query, exp.Select) or not clauses_of(query) <= FLAT:
        return None
    sources, parts = [place.this for place in places_of(query)], conditions_of(query)
    if not parts or not any(is_of_persons(source, originals) for source in sources):
        return None
    own = {lowered(source.alias_or_name) for source in sources}
    compared = [(part, sides) for part in parts if (sides := _sides(part, own, others)) is not None]
    if len(compared) != 1 or around is None:
        return None
    ((part, (kind, value, other)),) = compared
    copy, rest = query.copy(), [p for p in parts if p is not part]
    set_conditions(copy, rest)
    own_row = _has_row(query, around, rest, (value, other), others)
    there = [] if is_present(other, around, originals.present) else [exp.Not(this=is_null(other))]

    def of_rows(number: exp.Expr) -> exp.Expr:
        copy.set("expressions", [number])
        return exp.Subquery(this=copy.copy())

    ends: list[tuple[type[exp.Expr], type[exp.Expr]]] = [(exp.Max, exp.GT), (exp.Min, exp.LT)]
    if kind is not exp.NEQ:
        ends = [(exp.Max if kind in (exp.GT, exp.GTE) else exp.Min, kind)]
    matches = exp.or_(*(of(this=of_rows(end(this=value.copy())), expression=other.copy()) for end, of in ends))
    if kind is exp.NEQ and own_row:  # which has this value, too
        number = exp.Count(this=exp.Distinct(expressions=[value.copy()]))
        matches = exp.GT(this=of_rows(number), expression=exp.convert(1))
    return exp.paren(exp.and_(*there, matches)) if own_row else exp.Coalesce(this=matches, expressions=[exp.false()])


def _has_row(
    query: exp.Select, around: exp.Select, rest: Sequence[exp.Expr], values: tuple[exp.Expr, exp.Expr], never_null: set[str]
) -> bool:
    """Whether a query has the row around it, with the value that it is compared with, among its rows: it reads the same
    tables under other names, with conditions that this row meets.

    Args:
        query: the query.
        around: the SELECT around it.
        rest: its conditions beside the comparison.
        values: the compared values, of its rows and of the row around.
        never_null: columns that equal themselves in each row, in lower case.
    """
    joins = [select.args.get("joins") or [] for select in (query, around)]
    mine, others = ([place.this for place in places_of(select)] for select in (query, around))
    if not mine or not others or not all(is_inner(join) for of in joins for join in of):
        return False
    names: dict[str, str] = {}
    for place in mine:
        free = [p for p in others if are_same(p, place) and lowered(p.alias_or_name) not in names.values()]
        if not free or not isinstance(place, exp.Table):
            return False
        names[lowered(place.alias_or_name)] = lowered(free[0].alias_or_name)

    def renamed(node: exp.Expr) -> exp.Expr:
        copy = node.copy()
        for column in copy.find_all(exp.Column):
            column.set("table", exp.to_identifier(names.get(lowered(column.table), lowered(column.table))))
        return bare(copy)

    def conditions(of: Sequence[exp.Join], where: Sequence[exp.Expr]) -> list[exp.Expr]:
        return [renamed(part) for part in (*where, *(on for join in of for on in conjoined(join.args.get("on"))))]

    def shared(of: Sequence[exp.Join]) -> set[tuple[str, str]]:
        places = [(names.get(name := lowered(join.this.alias_or_name), name), join) for join in of]
        return {(name, lowered(column.name)) for name, join in places for column in join.args.get("using") or ()}

    met = conditions(joins[1], conditions_of(around))
    met += [exp.EQ(this=one.right.copy(), expression=one.left.copy()) for one in met if isinstance(one, exp.EQ)]
    asked = [one for one in conditions(joins[0], rest) if not _is_itself(one, never_null)]
    of_one = renamed(values[0]) == renamed(values[1])
    return of_one and shared(joins[0]) <= shared(joins[1]) and all(one in met for one in asked)


def _is_itself(condition: exp.Expr, never_null: set[str]) -> bool:
    """Whether a condition compares a column with itself, which is true where it is not NULL."""
    column = condition.left if isinstance(condition, exp.EQ) and condition.left == condition.right else None
    return isinstance(column, exp.Column) and lowered(column.name) in never_null


def _sides(part: exp.Expr, own: set[str], others: set[str]) -> tuple[type[exp.Expr], exp.Expr, exp.Expr] | None:
    """How a value of rows of these tables is compared with one around them, and both; None for other conditions."""
    part = bare(part)
    if not isinstance(part, exp.Binary) or type(part) not in _FLIPPED or part.find(exp.Query):
        return None
    for kind, inside, around in ((type(part), part.left, part.right), (_FLIPPED[type(part)], part.right, part.left)):
        columns = [list(side.find_all(exp.Column)) for side in (inside, around)]
        told = all(columns) and all(c.table and lowered(c.name) not in others for of in columns for c in of)
        if told and [{lowered(c.table) in own for c in of} for of in columns] == [{True}, {False}]:
            return kind, inside, around
    return None


@rule((exp.All, exp.Any), of=_COMPARED)
def with_extremes(node: exp.Expr, originals: Originals) -> exp.Expr | None:
    """A query with comparisons with an extreme in place of those with all or any rows of a list of counts:
    ``x >= ALL (SELECT n ...)`` or ``x >= ANY (SELECT n ...)``."""
    of_all = isinstance(node.expression, exp.All)
    query = node.expression.this.unnest() if isinstance(node.expression, exp.All | exp.Any) else None
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.is_star:
        return None
    if not (_is_count(query.expressions[0].unalias(), query) and _is_count(node.this, node.parent_select)):
        return None
    greatest = isinstance(node, exp.GTE | exp.GT) == of_all
    value = exp.Subquery(this=_extreme(query, exp.Max if greatest else exp.Min))
    return exp.Coalesce(this=type(node)(this=node.this.copy(), expression=value), expressions=[exp.convert(of_all)])


def _extreme(query: exp.Select, kind: type[exp.Expr]) -> exp.Select:
    """The greatest or the least value of a query with one column, which may name columns around it where it only joins."""
    inner, name, value = query.copy(), exp.to_identifier("v"), query.expressions[0].unalias()
    if isinstance(value, exp.Column) and clauses_of(query) <= FLAT:
        inner.set("expressions", [kind(this=value.copy())])
        return inner
    inner.set("expressions", [exp.alias_(value.copy(), name)])
    return exp.select(kind(this=exp.column("v", "all_rows"))).from_(inner.subquery("all_rows"))


def _is_count(node: exp.Expr | None, select: exp.Select | None) -> bool:
    """Whether an expression is a count, or a column of a source of a SELECT that is one."""
    node = bare(node) if node is not None else None
    if isinstance(node, exp.Count | exp.CountIf):
        return isinstance(node, exp.Count)
    source = None if select is None else only_source(select)
    if not isinstance(node, exp.Column) or source is None:
        return False
    if node.table and lowered(node.table) != lowered(source.alias_or_name):
        return False
    inner = query_of(source)
    if not isinstance(inner, exp.Select):
        return False
    shown = [e for e in inner.expressions if lowered(e.alias_or_name) == lowered(node.name)]
    return len(shown) == 1 and _is_count(shown[0].unalias(), inner)


_NAMING = ("expressions", "where", "group", "having", "qualify", "distinct", "order", "limit", "offset")
"""The parts of a SELECT that may name a column of its sources, beside the conditions of joins."""


def with_exists(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """A SELECT of other rows than those of persons with EXISTS in place of SEMI JOIN and ANTI JOIN; None without these."""
    clause, joins = node.args.get("from_"), node.args.get("joins") or []
    tested = [join for join in joins if join.kind in ("SEMI", "ANTI")]
    if clause is None or not tested or any(join.side in ("RIGHT", "FULL") for join in joins):
        return None
    kept = [join for join in joins if join not in tested]
    if any(compiler.people.is_source(place.this, env) for place in (clause, *kept)):
        return None
    copy = node.copy()
    copy.set("joins", [join.copy() for join in kept])
    for join in tested:
        on, using = join.args.get("on"), join.args.get("using") or ()
        sides = clause.this.alias_or_name, join.this.alias_or_name
        if (using and (len(joins) > 1 or not all(sides))) or (on is None and not using):
            return None
        equal = [exp.EQ(this=exp.column(n.copy(), sides[0]), expression=exp.column(n.copy(), sides[1])) for n in using]
        matches = exp.Select(expressions=[exp.convert(1)]).from_(join.this.copy())
        exists: exp.Expr = exp.Exists(this=matches.where(*equal, *([on.copy()] if on is not None else [])))
        copy.where(exists if join.kind == "SEMI" else exp.Not(this=exists), copy=False)
    return copy


def without_matches(node: exp.Select, env: Env, compiler: Compiler) -> exp.Select | None:
    """A SELECT of the rows of which a LEFT JOIN finds no match, without this join; None for others.

    A row without a match has NULL in each column of the joined rows; one with a match has no NULL in a column in which no
    joined row has any.
    """
    sources, joins = [place.this for place in places_of(node)], node.args.get("joins") or []
    if not sources or not any(join.side == "LEFT" for join in joins):
        return None
    plain = all(isinstance(source, exp.Table | exp.Subquery) and source.alias_or_name for source in sources)
    if not plain or any(join.side in ("RIGHT", "FULL") or join.args.get("using") for join in joins):
        return None
    parts = conditions_of(node)
    if any(compiler.people.is_source(source, env) for source in sources) or not any(map(_tested, parts)):
        return None
    for join in joins:
        if join.side != "LEFT" or join.args.get("on") is None:
            continue
        name = lowered(join.this.alias_or_name)
        tested = [p for p in parts if (column := _tested(p)) is not None and lowered(column.table) == name]
        kept = [part for part in parts if part not in tested]
        relation, _ = source_rows(compiler, join.this, env) if tested else (None, "")
        if relation is None or not any(is_never_null(p.this, relation, compiler) for p in tested):
            continue
        copy = node.copy()
        copy.set("joins", [other.copy() for other in joins if other is not join])
        set_conditions(copy, kept)
        if _with_nulls(copy, name, relation):
            matches = exp.Select(expressions=[exp.convert(1)]).from_(join.this.copy()).where(join.args["on"].copy())
            return copy.where(exp.Not(this=exp.Exists(this=matches)))
    return None


def _tested(part: exp.Expr) -> exp.Column | None:
    """The column of which a condition says that it is NULL."""
    column = bare(part.this) if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null) else None
    return column if isinstance(column, exp.Column) else None


def is_never_null(node: exp.Expr, relation: Ranged, compiler: Compiler) -> bool:
    """Whether a column of rows is NULL in none of them, for any original."""
    name = lowered(bare(node).name)
    columns = [(n, c) for n, c in enumerate(relation.columns) if lowered(c.name) == name]
    if len(columns) != 1 or columns[0][1].present:
        return len(columns) == 1
    ((number, column),) = columns
    if column.item or column.bounded or column.unknown or relation.open:
        return column.item
    missing = exp.select(exp.convert(1)).from_(relation.tree.subquery("r")).where(is_null(exp.column(f"c{number}")))
    return not compiler.tables.rows(missing.limit(1))


def _with_nulls(node: exp.Select, alias: str, relation: Ranged) -> bool:
    """Write NULL for the columns of rows of this name; returns whether a SELECT then names none of them for certain."""
    names = {lowered(column.name) for column in relation.columns}
    parts = [part for key in _NAMING for part in (node.args[key] if key == "expressions" else [node.args.get(key)])]
    parts += [join.args.get("on") for join in node.args["joins"]]
    for column in [c for part in parts if isinstance(part, exp.Expr) for c in part.find_all(exp.Column)]:
        of_rows = lowered(column.table) == alias or (not column.table and lowered(column.name) in names)
        if of_rows and (not column.table or column.parent_select is not node or lowered(column.name) not in names):
            return False
        if of_rows:
            column.replace(exp.alias_(exp.null(), column.name) if column.parent is node else exp.null())
    return not any(isinstance(e, exp.Star) for e in node.expressions)
