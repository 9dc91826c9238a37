"""Parts of a query that read the analyst's tables alone, computed as tables of theirs: rules of bounds read these.

So recursion over a taxonomy, a series of days or a list of items may stand beside the original's tables.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from sqlglot import exp

from anondb.errors import InputError
from anondb.query.parsing import lowered


def with_own_rows(tree: exp.Expr, own: Collection[str], store: Callable[[exp.Query], str]) -> exp.Expr | None:
    """A query with tables in place of common table expressions and subqueries that read the analyst's tables alone.

    Args:
        tree: the query.
        own: the names of the analyst's tables, in lower case.
        store: stores the rows of a query, and gives the name of the table; raises InputError if they cannot be computed.

    Returns:
        None if there is no such part.
    """
    made, found = tree.copy(), False
    aliases = [lowered(cte.alias) for cte in made.find_all(exp.CTE)]
    free = {*own} - {*aliases}
    for cte in list(made.find_all(exp.CTE)):
        clause, alias = cte.parent, lowered(cte.alias)
        if not isinstance(clause, exp.With) or aliases.count(alias) > 1 or alias in own:
            continue
        rows = exp.select("*").from_(exp.Table(this=cte.args["alias"].this.copy()))
        rows.set("with_", exp.With(expressions=[cte.copy()], recursive=clause.recursive))
        name = _stored(rows, {*free, alias}, store)
        if name is not None:
            found = True
            cte.pop()
            for table in [t for t in made.find_all(exp.Table) if not t.db and lowered(t.name) == alias]:
                table.set("alias", table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(alias)))
                table.set("this", exp.to_identifier(name))
            free.add(name)
            if not clause.expressions:
                clause.pop()
    for part in list(made.find_all(exp.Subquery)):
        named = part.args.get("alias")
        source = isinstance(part.parent, exp.From | exp.Join) and isinstance(part.this, exp.Query)
        if not source or named is None or named.columns:
            continue
        name = _stored(part.this, free, store)
        if name is not None:
            found = True
            part.replace(exp.Table(this=exp.to_identifier(name), alias=named.copy(), joins=part.args.get("joins")))
    return made if found else None


def _stored(rows: exp.Query, free: Collection[str], store: Callable[[exp.Query], str]) -> str | None:
    """The name of a table with the rows of a query; None if it names other tables, or columns of queries around it."""
    named = [t for t in rows.find_all(exp.Table) if isinstance(t.this, exp.Identifier)]
    if any(t.db or lowered(t.name) not in free for t in named):
        return None
    try:
        return store(rows.copy())
    except InputError:
        return None
