"""GROUP BY a CASE of estimates: ``CASE WHEN n > 9 THEN 'often' ELSE 'rarely' END``, one row for each of its constants.

A row belongs to the group of the constant that its CASE has. So the groups are UNION ALL of a SELECT without GROUP BY for
each constant, over the rows with it, which is there if there is such a row.
"""

from __future__ import annotations

from sqlglot import exp

from anondb.answers.ranged.clauses import ROWS, aliased, clauses_of, conditions_of, only_subquery, shown_by_name
from anondb.answers.ranged.relation import fresh
from anondb.answers.ranged.sources import grouped
from anondb.query.parsing import bare, lowered

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
