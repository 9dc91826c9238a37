"""A query in two parts: rows that rules and possible worlds compute, and what is done with all of them at the end.

The order of the rows, and how many of them are shown, depend on all rows. So an outermost ORDER BY, LIMIT, OFFSET and a
condition on ranks (QUALIFY, or WHERE around a subquery that ranks) leave the query; what they name becomes hidden columns. A
condition on computed numbers (HAVING, or WHERE around a subquery) becomes a hidden column for worlds: a group that a world
does not keep has numbers in it nevertheless."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.optimizer.simplify import simplify

from anondb.answers.ends import MARGIN, End, Ended, has_series, unwrapped
from anondb.answers.ranged.clauses import conditions_of
from anondb.answers.ranged.equivalents import as_first_row
from anondb.answers.ranged.joined_groups import without_dependent_keys
from anondb.answers.ranged.leading import rows_kept
from anondb.answers.role import Role
from anondb.answers.role_reader import RoleReader
from anondb.engine import readable


@dataclass(frozen=True)
class Asked:
    """A query in two parts.

    Attributes:
        ruled: its rows, as the rules of bounds read them, without the end.
        first: whether ``ruled`` has an end, which only says which of very many rows are needed.
        drawn: its rows, as worlds compute them.
        roles: the roles of the columns of both.
        shown: the numbers of the columns that are shown.
        unique: whether no two rows have the same keys.
        listed: whether the query is a UNION ALL of parts with one row each, so that the places of rows tell them apart.
        kept: whether ``drawn`` has one more column, which says whether the world keeps the row.
        conditioned: whether a condition on computed numbers chooses rows elsewhere.
        single: whether there is one row in any case, which is NULL where the query has none.
        ends: the steps that take all rows.
        of_persons: whether the rows belong to single persons; then one world answers.
        varies: whether the query may have other rows each time; then one world answers, too.
        misused: the construct that no world may answer, if there is one.
        unread: the construct that no rule of bounds may read, if there is one.
        of_worlds: whether the query reads tables of the original.
        empty: whether no world has rows, since only the columns are needed.
    """

    ruled: exp.Expr
    drawn: exp.Expr
    roles: tuple[Role, ...]
    shown: tuple[int, ...]
    unique: bool = False
    listed: bool = False
    kept: bool = False
    conditioned: bool = False
    first: bool = False
    single: bool = False
    ends: tuple[End, ...] = ()
    of_persons: bool = False
    varies: bool = False
    misused: str | None = None
    unread: str | None = None
    of_worlds: bool = True
    empty: bool = False

    @property
    def leading(self) -> int:
        """The number of first rows of each world to compare where groups by several columns are too many; 0 for all."""
        first = self.ends[0] if self.ends else End()
        number = rows_kept(first.limit) if first.ranked is None and first.offset is None else None
        several = self.unique and sum(not role.computed for role in self.roles) > 1
        if number is None or not (several and first.order and self.roles[first.columns[0]].computed):
            return 0
        return MARGIN * number + MARGIN

    @property
    def of_one_world(self) -> bool:
        """Whether one world answers."""
        return self.of_persons or self.varies


def asked(tree: exp.Expr, shown: int, reader: RoleReader) -> Asked:
    """The parts of a query.

    Args:
        tree: the query, in which NATURAL JOIN becomes USING.
        shown: the number of its columns.
        reader: what reads their roles.
    """
    tree = without_dependent_keys(unwrapped(tree), reader.ids)
    if _is_one_row(tree, reader) and tree.args.get("order") is not None:
        tree = tree.copy()
        tree.set("order", None)
    relation = reader.relation(tree)
    roles = tuple(role for _, role in relation.columns)
    alone = relation.of_persons or Role.ID in roles or len(roles) != shown
    whole = Asked(
        tree,
        tree,
        roles,
        tuple(range(shown)),
        misused=reader.misused,
        unread=reader.unread or _collated(tree),
        of_worlds=reader.reads_persons,
    )
    plain = not alone and reader.reads_persons and reader.misused is None and not reader.functions.varies(tree)
    first = as_first_row(tree) if plain and isinstance(tree, exp.Select) else None
    if first is not None and not reader.relation(first).columns[0][1].computed:
        return replace(asked(first, shown, reader), single=True)
    if alone or not isinstance(tree, exp.Select | exp.SetOperation):
        return replace(whole, roles=roles if len(roles) == shown else (Role.VALUE,) * shown, of_persons=alone)
    if reader.functions.varies(tree):
        return replace(whole, varies=True)
    ended = Ended(tree.copy(), relation, reader)
    ended.peel()
    unique = ended.with_keys()
    body = ended.body
    roles = tuple(role for _, role in ended.relation.columns)
    ruled, first_alone = ended.ruled()
    drawn, kept = _unconditional(body, reader)
    reader.relation(drawn)
    conditioned = any(_is_condition(select, reader) for select in drawn.find_all(exp.Select))
    return replace(
        whole,
        ruled=ruled,
        first=first_alone,
        drawn=in_one_order(drawn),
        roles=roles,
        shown=tuple(ended.shown),
        unique=unique,
        listed=all(_is_one_row(part, reader) for part in _parts(body)),
        kept=kept,
        conditioned=conditioned,
        ends=tuple(reversed(ended.ends)),
    )


def is_empty(tree: exp.Expr, reader: RoleReader) -> bool:
    """Whether a query has no rows, whatever the tables are: it ends with LIMIT 0, or has a condition that is false."""
    tree = unwrapped(tree)
    limit = tree.args.get("limit")
    if isinstance(limit, exp.Limit) and isinstance(limit.expression, exp.Literal) and limit.expression.name == "0":
        return True
    if tree.args.get("group") is not None or any(map(reader.has_aggregate, tree.expressions)):
        return False
    constants = (part for part in conditions_of(tree) if part.find(exp.Column, exp.Query) is None)
    return any(simplify(part.copy()) == exp.false() for part in constants)


def _collated(tree: exp.Expr) -> str | None:
    """COLLATE elsewhere than in a comparison with a literal: values that differ would be one group or match each other."""
    order = tree.args.get("order")
    last = [] if order is None else [term.this for term in order.expressions]
    for node in tree.find_all(exp.Collate):
        compared = node.parent
        if any(node is term for term in last):
            continue
        parts = [*compared.iter_expressions()] if isinstance(compared, exp.Expr) else []
        others = [part for part in parts if not isinstance(part, exp.Collate)]
        if not isinstance(compared, exp.Predicate) or not others or not all(isinstance(o, exp.Literal) for o in others):
            return "COLLATE elsewhere than in a comparison with a literal. Ask for lower(...)"
    return None


def _is_one_row(tree: exp.Expr, reader: RoleReader) -> bool:
    """Whether a query has one row, whatever the tables are."""
    if not isinstance(tree, exp.Select) or tree.args.get("group") is not None or tree.args.get("having") is not None:
        return False
    if any(map(has_series, tree.expressions)):
        return False
    alone = tree.args.get("from_") is None and tree.args.get("where") is None
    return alone or any(map(reader.has_aggregate, tree.expressions))


def _parts(tree: exp.Expr) -> list[exp.Expr]:
    """The queries of which a query has all rows: the sides of UNION ALL."""
    tree = unwrapped(tree)
    if isinstance(tree, exp.Union) and not tree.args.get("distinct"):
        return [part for key in ("this", "expression") for part in _parts(tree.args[key])]
    return [tree]


def _is_condition(select: exp.Select, reader: RoleReader) -> bool:
    """Whether a SELECT of the query that was read last keeps rows by computed numbers."""
    ends = ("having", "limit", "offset")
    ended = id(select) not in reader.by_person and any(select.args.get(key) is not None for key in ends)
    return ended or id(select) in reader.chosen | reader.qualified | reader.linked


def _unconditional(body: exp.Query, reader: RoleReader) -> tuple[exp.Query, bool]:
    """A query with a column in place of its condition on computed numbers, and whether it has one."""
    if not isinstance(body, exp.Select) or body.args.get("distinct") is not None:
        return body, False
    reader.relation(body)
    if id(body) in reader.linked:
        body = _with_where(body)
    key = "qualify" if body.args.get("qualify") else "having" if body.args.get("group") is not None else "where"
    condition = body.args.get(key)
    reader.relation(body)
    if condition is None or (key != "qualify" and _has_window(body)):  # windows have the rows that QUALIFY leaves out
        return body, False
    if (key == "where" and id(body) not in reader.chosen) or (key == "qualify" and id(body) not in reader.qualified):
        return body, False
    if key == "where" and any(map(reader.has_aggregate, body.expressions)):
        return body, False
    query, parts = body.copy(), [condition.this]
    query.set(key, None)
    if key == "where":
        computed = [(part, _is_computed(part, query, reader)) for part in conditions_of(body)]
        parts = [part for part, is_computed in computed if is_computed]
        rest = [exp.paren(part.copy()) for part, is_computed in computed if not is_computed]
        query = query.where(*rest, copy=False)
    kept_by = exp.and_(*(exp.paren(part.copy()) for part in parts))
    query.append("expressions", exp.alias_(exp.func("coalesce", kept_by, exp.false()), "_kept"))
    return query, True


def _is_computed(condition: exp.Expr, body: exp.Select, reader: RoleReader) -> bool:
    """Whether a condition of WHERE is on computed numbers."""
    alone = body.copy().where(condition.copy(), copy=False)
    reader.relation(alone)
    return id(alone) in reader.chosen


def _with_where(body: exp.Select) -> exp.Select:
    """A SELECT with the conditions of its joins in WHERE, if all of them may be there."""
    joins = body.args["joins"]
    inner = all(join.kind in ("", "INNER", "CROSS") and not (join.side or join.method) for join in joins)
    if not inner or any(join.args.get("using") for join in joins):
        return body
    query = body.copy()
    for join in query.args["joins"]:
        if (on := join.args.get("on")) is not None:
            query.where(exp.paren(on.copy()), copy=False)
            join.set("on", None)
            join.set("kind", "CROSS")
    return query


def _has_window(body: exp.Select) -> bool:
    """Whether a SELECT itself has window functions, for which its condition matters."""
    return any(window.parent_select is body for window in body.find_all(exp.Window))


MANY = 16
_WITHOUT_NULL = (exp.Avg, exp.Count, exp.CountIf, exp.LogicalAnd, exp.LogicalOr, exp.Max, exp.Min, exp.Sum)
"""Aggregates that leave out NULL."""


def without_filters(tree: exp.Query) -> exp.Query:
    """A query with CASE inside aggregates in place of FILTER, where it has many of these and the result stays the same.

    For each FILTER, DuckDB keeps room for the operands of all aggregates beside it: for 60 of them, as PIVOT has, 200 MB.
    """
    if len(list(tree.find_all(exp.Filter))) < MANY:
        return tree
    tree = tree.copy()
    for node in list(tree.find_all(exp.Filter)):
        value = node.this.this if isinstance(node.this, _WITHOUT_NULL) else None
        if isinstance(value, exp.Distinct) and len(value.expressions) == 1:
            value = value.expressions[0]
        if isinstance(value, exp.Expr) and not isinstance(value, exp.Distinct | exp.Order | exp.Tuple):
            counted = exp.Literal.number(1) if isinstance(value, exp.Star) else value.copy()
            value.replace(exp.Case(ifs=[exp.If(this=node.expression.this.copy(), true=counted)]))
            node.replace(node.this)
    return tree


def in_one_order(tree: exp.Query) -> exp.Query:
    """A query of which LIMIT and row_number() choose among rows with equal places by what the SELECT shows.

    DuckDB chooses by the order in which threads read rows, so that equal queries would have different answers.
    """
    tree = tree.copy()
    for query in tree.find_all(exp.Select, exp.SetOperation):
        if any(query.args.get(name) for name in ("limit", "offset")) and not query.is_star:
            shown = [n for n, each in enumerate(query.selects, 1) if not isinstance(each.unalias(), exp.Literal)]
            _append(query, [exp.Literal.number(n) for n in shown])
    for window in tree.find_all(exp.Window):
        select = window.parent_select
        if isinstance(window.this, exp.RowNumber) and select is not None:
            group = select.args.get("group")
            keys = [*(each.unalias() for each in select.expressions), *(group.expressions if group is not None else ())]
            _append(window, [key for key in keys if isinstance(key, exp.Column) and not key.is_star])
    return tree


def _append(node: exp.Expr, keys: Sequence[exp.Expr]) -> None:
    """Order the rows of a query or a window by further expressions, after its own."""
    order = node.args.get("order")
    terms = [] if order is None else order.expressions
    if keys and not any(isinstance(term.this, exp.Star) or term.this.name.lower() == "all" for term in terms):
        node.set("order", exp.Order(expressions=[*terms, *(exp.Ordered(this=key.copy()) for key in keys)]))


def without_rows(first: Mapping[str, str], types: Sequence[str], *, kept: bool) -> exp.Select:
    """The columns of the rows of a query in worlds, without rows.

    Args:
        first: the names and types of the columns before those of the query.
        types: the types of these.
        kept: whether a column says which rows are kept.
    """
    kinds = [*first.items(), *((f"c{n}", kind) for n, kind in enumerate(types)), *([("kept", "BOOLEAN")] * kept)]
    cells = [exp.cast(exp.null(), readable(kind), dialect="duckdb").as_(name) for name, kind in kinds]
    return exp.select(*cells).limit(0)
