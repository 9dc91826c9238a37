"""Parts of a query that read the analyst's tables alone, computed as tables of theirs: rules of bounds read these.

So recursion over a taxonomy, a series of days or a list of items may stand beside the original's tables.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from sqlglot import exp

from anondb.query.parsing import lowered


def with_own_rows(
    tree: exp.Expr, own: Collection[str], others: Collection[str], store: Callable[[exp.Query], str | None]
) -> exp.Expr:
    """A query with tables in place of common table expressions and subqueries that read the analyst's tables alone.

    Args:
        tree: the query.
        own: the names of the analyst's tables, in lower case.
        others: those of the other tables.
        store: stores the rows of a query, and gives the name of the table; None if it is no query by itself, since it names
            columns of the query around it.
    """
    made = tree.copy()
    ctes = list(made.find_all(exp.CTE))
    aliases = [lowered(cte.alias) for cte in ctes]
    free = {*own}.difference(aliases)
    for cte, alias in zip(ctes, aliases, strict=True):
        clause = cte.parent
        if not isinstance(clause, exp.With) or aliases.count(alias) > 1 or alias in own or alias in others:
            continue
        rows = exp.select("*").from_(exp.Table(this=cte.args["alias"].this.copy()))
        rows.set("with_", exp.With(expressions=[cte.copy()], recursive=clause.recursive))
        within = {id(table) for table in cte.find_all(exp.Table)}
        tables = [t for t in made.find_all(exp.Table) if _is_plain(t, alias) and id(t) not in within]
        name = store(rows) if tables and _reads(rows, {*free, alias}) else None
        if name is None:
            continue
        cte.pop()
        for table in tables:
            table.set("alias", table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(alias)))
            table.set("this", exp.to_identifier(name))
        free.add(name)
        if not clause.expressions:
            clause.pop()
    for part in list(made.find_all(exp.Subquery)):
        named = part.args.get("alias")
        source = isinstance(part.parent, exp.From | exp.Join) and isinstance(part.this, exp.Query)
        if not source or named is None or named.columns or not _reads(part.this, free):
            continue
        name = store(part.this.copy())
        if name is not None:
            part.replace(exp.Table(this=exp.to_identifier(name), alias=named.copy(), joins=part.args.get("joins")))
    return made


def _is_plain(table: exp.Table, name: str) -> bool:
    return not table.db and lowered(table.name) == name


def _reads(rows: exp.Query, own: Collection[str]) -> bool:
    """Whether a query names these tables alone."""
    named = (t for t in rows.find_all(exp.Table) if isinstance(t.this, exp.Identifier))
    return all(not t.db and lowered(t.name) in own for t in named)
