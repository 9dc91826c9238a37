"""The average number of different values that persons have in a joined table, such as of categories."""

from __future__ import annotations

from sqlglot import exp

from anondb.query.parsing import lowered
from anondb.query.relations import bare
from anondb.session.compiler import Env, People


def average_of_values(node: exp.Select, env: Env, people: People) -> tuple[exp.Select, Env] | None:
    """``SELECT avg(c) FROM (SELECT id, count(DISTINCT x) AS c ... GROUP BY id)`` by the counts of persons of each value.

    Each person adds 1 for each of their values, so the sum over all persons is that of the values' numbers of persons.

    Returns:
        The query, and the common table expressions that it sees; None for another query.
    """
    clause = node.args.get("from_")
    if (
        clause is None
        or len(node.expressions) != 1
        or any(v for k, v in node.args.items() if k not in {"expressions", "from_", "with_"})
    ):
        return None
    found, (selected,) = _of_each_person(clause.this, env, people), node.expressions
    call = selected.this if isinstance(selected, exp.Alias) else selected
    if found is None or not isinstance(call, exp.Avg):
        return None
    inner, seen, id_column = found
    asked = bare(call.this)
    counts = [e.this for e in inner.expressions if isinstance(e, exp.Alias) and lowered(e.alias) == lowered(asked.name)]
    distinct = counts[0].this if counts and isinstance(counts[0], exp.Count) else None
    if not isinstance(asked, exp.Column) or not isinstance(distinct, exp.Distinct) or len(distinct.expressions) != 1:
        return None
    value = distinct.expressions[0]
    persons = exp.Count(this=exp.Distinct(expressions=[id_column.copy()]))
    each, every = (inner.copy() for _ in range(2))
    each.set("expressions", [value.copy().as_("value"), persons.copy().as_("persons")])
    each.set("group", exp.Group(expressions=[value.copy()]))
    every.set("expressions", [persons])
    every.set("group", None)
    some = exp.column("value").is_(exp.null()).not_()
    total = exp.select(exp.Sum(this=exp.column("persons"))).from_(each.subquery("each")).where(some)
    known = exp.Coalesce(this=total.subquery(), expressions=[exp.Literal.number(0)])
    product = exp.Mul(this=known, expression=exp.Literal.number("1.0"))
    mean = exp.Div(this=product, expression=every.subquery(), typed=False, safe=False)
    return exp.select(exp.alias_(mean, selected.alias_or_name or "mean", quoted=True)), seen


def _of_each_person(source: exp.Expr, env: Env, people: People) -> tuple[exp.Select, Env, exp.Column] | None:
    """The SELECT of a source with one row for each person, the expressions that it sees, and the id; None for others."""
    inner, seen = _inner(source, env)
    group = None if inner is None else inner.args.get("group")
    if inner is None or group is None or any(v for k, v in group.args.items() if k != "expressions"):
        return None
    if len(group.expressions) != 1 or not people.of_persons(inner, seen):
        return None
    if any(inner.args.get(key) for key in ("having", "qualify", "distinct", "limit", "offset", "with_")):
        return None
    key = bare(group.expressions[0])
    if isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= len(inner.expressions):
        key = bare(inner.expressions[int(key.name) - 1].unalias())
    return (inner, seen, key) if isinstance(key, exp.Column) else None


def _inner(source: exp.Expr, env: Env) -> tuple[exp.Select | None, Env]:
    """The SELECT of a subquery or of a common table expression in FROM, and the expressions that it sees; its columns
    have their own names."""
    aliases = [source.args.get("alias")]
    query: exp.Expr | None = source.this if isinstance(source, exp.Subquery) else None
    if isinstance(source, exp.Table) and not source.db and (cte := env.get(lowered(source.name))) is not None:
        query, env = cte.node.this, cte.env
        aliases.append(cte.node.args["alias"])
    if not isinstance(query, exp.Select) or any(alias and alias.args.get("columns") for alias in aliases):
        return None, env
    names = [lowered(e.alias_or_name) for e in query.expressions]
    return (query if len(set(names)) == len(names) else None), env
