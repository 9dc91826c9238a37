"""Queries that are answered as simpler ones: grouping sets, and persons beside all rows of a table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, product, starmap
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.clauses import (
    FLAT,
    GROUPED,
    aliased,
    clauses_of,
    conditions_of,
    copy_clauses,
    is_same_key,
    set_children,
)
from anondb.answers.ranged.originals import Originals, is_present, rule
from anondb.answers.ranged.relation import fresh
from anondb.answers.ranged.sources import grouped, grouped_by, source_rows
from anondb.query.parsing import bare, conjoined, lowered
from anondb.query.refusals import only, unsupported

if TYPE_CHECKING:
    from anondb.answers.ranged.compiler import Compiler, Env

MAX_SIDES = 100  # of one UNION ALL
STRICT = (exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Neg, exp.Cast, exp.DataType, exp.Binary)
NOT_STRICT = (exp.Predicate, exp.Connector)
SETS = exp.Rollup | exp.Cube | exp.GroupingSets
GROUPING = exp.Grouping | exp.GroupingId
_OF_ROWS = (exp.AggFunc, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.Query)  # they see the rows of a group
_VALUES = {"t", "f", "true", "false", "y", "n", "yes", "no", "on", "off", "nan", "inf", "infinity", "today", "now", "epoch"}
"""Words that other words may be equal to, in a column that is no text."""


def with_all(tree: exp.Expr) -> exp.Expr:
    """A query with UNION ALL of different rows in place of UNION, if a column has another constant on each side; and with
    one SELECT in place of UNION ALL of rows of a table that meet one of several conditions, of which no row meets two."""
    if tree.find(exp.Union) is None:
        return tree
    copy = tree.copy()
    if any(clause.recursive for clause in copy.find_all(exp.With)):
        return tree
    for union in [node for node in copy.find_all(exp.Union) if not isinstance(node.parent, exp.Union)]:
        sides, chain = _sides(union)
        plain = all(isinstance(side, exp.Select) and clauses_of(side) <= FLAT for side in sides)
        widths = {len(side.expressions) for side in sides} if plain else set()
        if len(widths) == 1 and all(node.args.get("distinct") and not node.args.get("by_name") for node in chain):
            columns = zip(*([e.unalias() for e in side.expressions] for side in sides), strict=True)
            if any(map(_are_different, columns)):
                for side in sides:
                    side.set("distinct", exp.Distinct())
                for node in chain:
                    node.set("distinct", False)
        every = plain and all(clauses_of(node) <= {"this", "expression"} for node in chain)  # no DISTINCT, ORDER BY or LIMIT
        if every and (one := _one_table_rows(sides)) is not None:
            copy = one if union is copy else copy
            union.replace(one)
    return copy


@rule((exp.Except, exp.Intersect), of=(exp.Except, exp.Intersect))
def with_one_source(node: exp.SetOperation, originals: Originals) -> exp.Select | None:
    """The rows of a source that meet a second condition, or do not meet it, in place of INTERSECT and EXCEPT of rows that
    meet each of the two; None for others.

    The second condition is on what is shown, so of equal rows all meet it, or none; with ALL each stays as often as it is.
    """
    one, other = node.this, node.expression
    plain = all(
        isinstance(side, exp.Select) and clauses_of(side) <= {"expressions", "from_", "where"} for side in (one, other)
    )
    if not plain or not clauses_of(node) <= {"this", "expression", "distinct", "with_"}:
        return None
    second, shown = conditions_of(other), {lowered(e.name) for e in one.expressions if isinstance(e, exp.Column)}
    columns = [column for part in second for column in part.find_all(exp.Column)]
    every = one.expressions == [exp.Star()] or all(lowered(column.name) in shown for column in columns)
    same = one.expressions == other.expressions and one.args.get("from_") == other.args.get("from_")
    present = all(is_present(column, other, originals.present) for column in columns)
    if not (same and every and present and columns) or node.find(exp.TableSample) or any(p.find(exp.Query) for p in second):
        return None
    made: exp.Select = one.copy()
    condition = exp.paren(exp.and_(*(part.copy() for part in second)))
    made = made.where(exp.Not(this=condition) if isinstance(node, exp.Except) else condition)
    made.set("distinct", exp.Distinct() if node.args.get("distinct") else None)
    copy_clauses(node, made, ("with_",))
    return made


def _one_table_rows(sides: Sequence[exp.Expr]) -> exp.Select | None:
    """The rows of a table that several SELECT show, of which no two show the same; None for other queries."""
    first, shown = sides[0].copy(), {tuple(side.expressions) for side in sides}
    columns = all(isinstance(e, exp.Column | exp.Star) for e in first.expressions)
    same = columns and len(shown) == 1 and all(clauses_of(side) == {"expressions", "from_", "where"} for side in sides)
    conditions = [side.args["where"].this for side in sides] if same else []
    if not same or any(side.args["from_"] != first.args["from_"] for side in sides):
        return None
    if not isinstance(first.args["from_"].this, exp.Table) or not all(starmap(_are_apart, combinations(conditions, 2))):
        return None
    first.set("where", exp.Where(this=exp.or_(*(exp.paren(condition.copy()) for condition in conditions))))
    assert isinstance(first, exp.Select)
    return first


def _are_apart(one: exp.Expr, other: exp.Expr) -> bool:
    """Whether no row meets two conditions, as far as the values of one column show it."""
    for (column, values, among), (second, others, chosen) in product(_values_in(one), _values_in(other)):
        if column == second and (among or chosen):
            parts = (others, values) if among else (values, others)
            if _differ(values, others) if among and chosen else parts[1] <= parts[0]:
                return True
    return False


def _values_in(condition: exp.Expr) -> Iterator[tuple[exp.Expr, frozenset[exp.Expr], bool]]:
    """For each part of a condition on literals the column, the literals, and whether its value is one of them."""
    for part in conjoined(condition):
        negated = isinstance(part, exp.Not)
        test = bare(part.this if negated else part)
        if isinstance(test, exp.EQ | exp.NEQ):
            values, negated = [test.expression], negated != isinstance(test, exp.NEQ)
        else:
            values = test.expressions if isinstance(test, exp.In) else []
        if isinstance(test.this, exp.Column) and values and all(isinstance(value, exp.Literal) for value in values):
            yield test.this, frozenset(values), not negated


def _differ(some: Collection[exp.Expr], others: Collection[exp.Expr]) -> bool:
    """Whether literals are other values than others, whatever the type of the column is: words, or whole numbers."""
    every = [*some, *others]
    if all(value.is_int and not value.is_string for value in every):
        return {int(value.name) for value in some}.isdisjoint(int(value.name) for value in others)
    words = [{value.name.lower().replace("-", "") for value in values} for values in (some, others)]  # as UUIDs are equal
    plain = all(value.is_string and value.name[:1].isalpha() and value.name.lower() not in _VALUES for value in every)
    return plain and words[0].isdisjoint(words[1])


def _are_different(values: Sequence[exp.Expr]) -> bool:
    """Whether expressions are different texts, or different whole numbers."""
    texts = [isinstance(value, exp.Literal) and value.is_string for value in values]
    numbers = [isinstance(value, exp.Literal) and bool(value.is_int) for value in values]
    cells = [int(value.name) if number else value.name for value, number in zip(values, numbers, strict=True)]
    return (all(texts) or all(numbers)) and len({*cells}) == len(cells)


def _sides(node: exp.Expr) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The queries that a chain of UNION joins, and its nodes."""
    if not isinstance(node, exp.Union):
        return [node], []
    (left, nodes), (right, others) = _sides(node.this), _sides(node.expression)
    return [*left, *right], [node, *nodes, *others]


def grouping_sets(node: exp.Select) -> exp.Query | None:
    """A SELECT with ROLLUP, CUBE or GROUPING SETS as one SELECT for each set; None for others.

    Raises:
        InputError: ``unsupported_query``.
    """
    sets = sets_of(node)
    if not sets:
        return None
    only(node.args["group"], "expressions")
    if any(node.args.get(key) for key in ("qualify", "distinct")) or node.find(exp.Window):
        raise unsupported("GROUP BY several sets with DISTINCT or window functions", "Put it around, in a subquery.")
    if len(sets) > MAX_SIDES:
        raise unsupported(f"GROUP BY over {MAX_SIDES} sets")
    every = list(dict.fromkeys(key for keys in sets for key in keys))
    return _union(node, [_select_for_set(node, keys, every) for keys in sets])


def sets_of(node: exp.Select) -> list[tuple[exp.Expr, ...]]:
    """The sets of keys by which a SELECT groups; none without ROLLUP, CUBE or GROUPING SETS."""
    group = node.args.get("group")
    if group is None or not any(isinstance(bare(key), SETS) for key in group.expressions):
        return []
    aliases = aliased(node)

    def is_column(key: exp.Column) -> bool:
        return any(lowered(c.name) == lowered(key.name) for c in aliases[lowered(key.name)].find_all(exp.Column))

    return [
        tuple(dict.fromkeys(grouped_by(key, node, aliases, is_column) for keys in chosen for key in keys))
        for chosen in product(*map(_sets, group.expressions))
    ]


def _sets(node: exp.Expr) -> list[tuple[exp.Expr, ...]]:
    """The sets of keys of an expression of GROUP BY."""
    node = bare(node)
    if isinstance(node, exp.Tuple):
        return [tuple(map(bare, node.expressions))]
    if not isinstance(node, SETS):
        return [(node,)]
    if isinstance(node, exp.GroupingSets):
        return [keys for part in node.expressions for keys in _sets(part)]
    units = [_sets(part)[0] for part in node.expressions]
    if isinstance(node, exp.Rollup):
        chosen: Sequence[Sequence[tuple[exp.Expr, ...]]] = [units[:n] for n in range(len(units), -1, -1)]
    else:
        chosen = [subset for n in range(len(units), -1, -1) for subset in combinations(units, n)]
    return [tuple(key for unit in subset for key in unit) for subset in chosen]


def _select_for_set(node: exp.Select, keys: Sequence[exp.Expr], every: Sequence[exp.Expr]) -> exp.Select:
    """The SELECT for one set of keys: the other keys are NULL, but for those inside aggregates."""
    absent = [key for key in every if key not in keys]
    made = _without(node, "order", "limit", "offset")
    listed = []
    for selected in node.expressions:
        value = _replaced(selected.unalias(), keys, absent)
        listed.append(exp.alias_(value, selected.alias_or_name, quoted=True) if selected.alias_or_name else value)
    made.set("expressions", listed)
    if node.args.get("having") is not None:
        made.set("having", exp.Having(this=_replaced(node.args["having"].this, keys, absent)))
    made.set("group", exp.Group(expressions=[key.copy() for key in keys]) if keys else None)
    if not keys and not any(True for e in listed for _ in aggregates(e)):
        raise unsupported("GROUP BY an empty set without an aggregate", "Select count(*), too.")
    return made


def _replaced(node: exp.Expr, keys: Sequence[exp.Expr], absent: Sequence[exp.Expr]) -> exp.Expr:
    """An expression with NULL for absent keys, and with numbers for GROUPING."""

    def visit(part: exp.Expr) -> exp.Expr:
        if isinstance(part, GROUPING):
            if not all(any(is_same_key(key, asked) for key in (*keys, *absent)) for asked in part.expressions):
                raise unsupported("GROUPING of an expression that is not in GROUP BY")
            bits = [int(not any(is_same_key(key, asked) for key in keys)) for asked in part.expressions]
            number: exp.Expr = exp.Literal.number(sum(bit << n for n, bit in enumerate(reversed(bits))))
            return number
        if isinstance(part, _OF_ROWS) or any(is_same_key(key, part) for key in keys):
            return part
        if any(is_same_key(key, part) for key in absent):
            return exp.null()
        set_children(part, visit)
        return part

    return visit(node.copy())


# --- groups without persons -------------------------------------------------------------------------------------------


def beside_table(node: exp.Select, env: Env, compiler: Compiler) -> exp.Query | None:
    """Groups of a known table, LEFT JOIN persons, as each group beside the aggregates of its persons; None for others.

    An aggregate of a column of the persons takes no row without a person, so it is that of the inner join.
    """
    clause, joins = node.args.get("from_"), list(node.args.get("joins") or ())
    plain = clauses_of(node) <= GROUPED and node.args.get("group") is not None
    outer = len(joins) == 1 and joins[0].side == "LEFT" and joins[0].kind in ("", "OUTER") and not joins[0].method
    if clause is None or not plain or not outer or node.find(exp.Window):
        return None
    if compiler.people.is_source(clause.this, env) or not compiler.people.is_source(joins[0].this, env):
        return None
    relation, alias = source_rows(compiler, clause.this, env)
    names, inner = {lowered(column.name) for column in relation.columns}, joins[0].this.alias_or_name

    def of_table(column: exp.Column) -> bool:
        return lowered(column.table or alias) == lowered(alias) and lowered(column.name) in names

    keys = list(dict.fromkeys(grouped(node, lambda column: lowered(column.name) in names)))
    chosen = conditions_of(node)
    own = [column for part in (*keys, *chosen) for column in part.find_all(exp.Column)]
    parts = [*node.expressions, *(node.args[k] for k in ("having", "order") if node.args.get(k) is not None)]
    calls = {call for part in parts for call in aggregates(part)}
    if not relation.exact or not all(map(of_table, own)) or not all(_takes(call, inner) for call in calls):
        return None
    named = [c for c in node.args["group"].expressions if isinstance(c, exp.Column) and not c.table]
    if any(part.find(exp.Query) for part in (*parts, *chosen)) or any(lowered(c.name) not in names for c in named):
        return None  # names of other queries, or of columns of the persons
    around = fresh("g")
    columns = {key: exp.column(f"k{n}", around) for n, key in enumerate(keys)}
    same = [exp.NullSafeEQ(this=key.copy(), expression=columns[key].copy()) for key in keys]
    each = exp.select(*(key.as_(columns[key].name) for key in keys)).from_(clause.this).where(*chosen).distinct()
    asked = exp.Select(joins=[exp.Join(**{k: v for k, v in joins[0].copy().args.items() if k not in ("side", "kind")})])
    asked = asked.from_(clause.this).where(*chosen, *same)

    def value(part: exp.Expr) -> exp.Expr:
        if part in calls:
            one = asked.copy()
            one.set("expressions", [part.copy()])
            return exp.Subquery(this=one)
        return columns[part].copy() if part in columns else part

    made = _without(node, "joins", "group", "having", "where")
    made.set("expressions", [exp.alias_(e.unalias(), e.alias_or_name or "n", quoted=True) for e in node.expressions])
    having = node.args.get("having")
    made.set("where", None if having is None else exp.Where(this=having.this.copy()))
    result = made.transform(value)
    assert isinstance(result, exp.Select)
    result.set("from_", exp.From(this=each.subquery(around)))
    return result


def _takes(call: exp.Expr, table: str) -> bool:
    """Whether an aggregate takes nothing but columns of a table, and no row in which they are NULL."""
    inner, _ = filtered(call)
    what = inner.this.expressions[0] if isinstance(inner.this, exp.Distinct) else inner.this
    columns = list(what.find_all(exp.Column)) if isinstance(what, exp.Expr) else []
    strict = all(isinstance(node, STRICT) and not isinstance(node, NOT_STRICT) for node in what.walk()) if columns else False
    return strict and all(lowered(c.table) == lowered(table) for c in columns) and not inner.expressions


# --- the union ------------------------------------------------------------------------------------------------------


def _without(node: exp.Select, *clauses: str) -> exp.Select:
    """A copy of a SELECT without some clauses, and without its common table expressions."""
    copy = node.copy()
    for key in ("with_", *clauses):
        copy.set(key, None)
    return copy


def _union(node: exp.Select, sides: Sequence[exp.Query]) -> exp.Query:
    """UNION ALL of queries, with the order and the limit of a SELECT whose expressions they have."""
    parts = list(sides)
    while len(parts) > 1:  # halves, so that the tree is not deep
        pairs = [parts[n : n + 2] for n in range(0, len(parts), 2)]
        parts = [
            pair[0] if len(pair) == 1 else exp.Union(this=pair[0], expression=pair[1], distinct=False) for pair in pairs
        ]
    (made,) = parts
    inner = [e.unalias() for e in node.expressions]
    order = node.args.get("order")
    if order is None and not any(node.args.get(key) for key in ("limit", "offset")):
        return made
    made = made.copy()
    if order is not None:
        order = order.copy()
        for ordered in order.expressions:
            if ordered.this in inner:
                ordered.set("this", exp.Literal.number(inner.index(ordered.this) + 1))
        made.set("order", order)
    for key in ("limit", "offset"):
        if node.args.get(key) is not None:
            made.set(key, node.args[key].copy())
    return made
