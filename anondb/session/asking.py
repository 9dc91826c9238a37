"""The queries with one count that a SELECT over persons becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anondb.query.parsing import lowered

ROWS = exp.Count(this=exp.Star())
CHOSEN = "values that are certainly, and probably, among those of IN"


def rows_kept(limit: exp.Expr | None) -> exp.Expr | None:
    """The number of rows of a LIMIT that is a whole number; None for others, such as percentages."""
    number = None if limit is None else limit.args.get("expression")
    options = None if limit is None else limit.args.get("limit_options")
    plain = isinstance(number, exp.Literal) and number.name.isdigit()
    return number if plain and (options is None or not options.args.get("percent")) else None


def largest(node: exp.Select, calls: Mapping[exp.Expr, exp.Expr]) -> exp.Limit | None:
    """The LIMIT of a SELECT that asks for nothing but the groups with the largest counts; None for others."""
    order, limit = node.args.get("order"), node.args.get("limit")
    if order is None or limit is None or any(node.args.get(k) for k in ("having", "qualify", "offset", "distinct")):
        return None
    by, aliases = order.expressions[0], {lowered(e.alias): e.this for e in node.expressions if isinstance(e, exp.Alias)}
    shown = by.this
    if isinstance(shown, exp.Literal) and shown.name.isdigit() and 0 < int(shown.name) <= len(node.expressions):
        shown = node.expressions[int(shown.name) - 1]
        shown = shown.this if isinstance(shown, exp.Alias) else shown
    elif isinstance(shown, exp.Column) and not shown.table:
        shown = aliases.get(lowered(shown.name), shown)
    plain = rows_kept(limit) is not None and not node.find(exp.Window)
    return limit if shown in calls and by.args.get("desc") and plain else None


def is_count(call: exp.Expr) -> bool:
    """Whether an aggregate, with its FILTER, is a count."""
    return isinstance(call.this if isinstance(call, exp.Filter) else call, exp.Count)


def asking(base: exp.Select, count: exp.Expr, conditions: Sequence[exp.Expr]) -> exp.Select:
    """A query with one count, whose FILTER moves into WHERE beside further conditions."""
    tree = base.copy()
    wanted = list(conditions)
    if isinstance(count, exp.Filter):
        wanted.append(count.expression.this)
        count = count.this
    where = tree.args.get("where")
    parts = [*([where.this] if where is not None else []), *wanted]
    if parts:
        tree.set("where", exp.Where(this=exp.and_(*(p.copy() for p in parts))))
    tree.set("expressions", [count.copy()])
    return tree


def asking_by(
    base: exp.Select, keys: Sequence[exp.Expr], count: exp.Expr, conditions: Sequence[exp.Expr]
) -> exp.Select:
    """A query with one count for each value of a column, or of two."""
    tree = asking(base, count, conditions)
    tree.set("expressions", [*(key.copy() for key in keys), *tree.expressions])
    tree.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return tree


def with_chosen(tree: exp.Select, choice: Sequence[int | None]) -> exp.Select:
    """A query with the certain (0), the probable (1) or all possible values (None) of each IN whose values counts choose."""
    made = tree.copy()
    for node, which in zip([n for n in made.find_all(exp.In) if CHOSEN in n.meta], choice, strict=True):
        values = [e.name for e in node.expressions] if which is None else node.meta[CHOSEN][which]
        listed = exp.In(this=node.this.copy(), expressions=[exp.Literal.string(value) for value in values])
        node.replace(listed if values else exp.false())
    return made
