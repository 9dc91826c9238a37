"""Parts of a query that read tables of the analyst alone, and values that are looked up in such tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from sqlglot import exp

from anondb.answers.ranged.aggregates import aggregates
from anondb.answers.ranged.sources import grouped
from anondb.query.parsing import conjoined, is_conjunct, lowered


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
    rewritten = tree.copy()
    ctes = list(rewritten.find_all(exp.CTE))
    aliases = [lowered(cte.alias) for cte in ctes]
    free = {*own}.difference(aliases)
    for cte, alias in zip(ctes, aliases, strict=True):
        clause = cte.parent
        if not isinstance(clause, exp.With) or aliases.count(alias) > 1 or alias in own or alias in others:
            continue
        rows = exp.select("*").from_(exp.Table(this=cte.args["alias"].this.copy()))
        rows.set("with_", exp.With(expressions=[cte.copy()], recursive=clause.recursive))
        within = {id(table) for table in cte.find_all(exp.Table)}
        alike = (t for t in rewritten.find_all(exp.Table) if not t.db and lowered(t.name) == alias)
        tables = [table for table in alike if id(table) not in within]
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
    for clause in rewritten.find_all(exp.With):
        if not any(map(_names_itself, clause.expressions)):
            clause.set("recursive", None)
    for part in list(rewritten.find_all(exp.Subquery)):
        named = part.args.get("alias")
        source = isinstance(part.parent, exp.From | exp.Join) and isinstance(part.this, exp.Query)
        if not source or named is None or named.columns or not _reads(part.this, free):
            continue
        name = store(part.this.copy())
        if name is not None:
            part.replace(exp.Table(this=exp.to_identifier(name), alias=named.copy(), joins=part.args.get("joins")))
    return rewritten


def with_lookups(tree: exp.Expr, own: Mapping[str, Collection[str]]) -> exp.Expr:
    """A query with LEFT JOIN in place of scalar subqueries that look up a value of an analyst's table by a key.

    Args:
        tree: the query.
        own: the columns of the analyst's tables, all names in lower case.
    """
    rewritten, names = tree.copy(), dict[tuple[int, exp.Expr], exp.Identifier]()
    for part in list(rewritten.find_all(exp.Subquery)):
        select, inside = part.parent_select, _place_of(part)
        if select is None or inside is None or (lookup := _lookup(part.this, own)) is None:
            continue
        rows, keys = lookup
        group = None if inside else select.args.get("group")
        by = [key.unalias() for key in grouped(select, lambda column: False)] if group is not None else []
        if group is not None and part not in by and not (set(group.args) == {"expressions"} and all(k in by for k in keys)):
            continue
        name, fresh = names.get((id(select), part.this)), exp.to_identifier(f"_lookup{len(names)}")
        if name is None:
            name = names[id(select), part.this.copy()] = fresh
            on = [exp.EQ(this=exp.column(f"_key{n}", name), expression=key.copy()) for n, key in enumerate(keys)]
            side = None if _rejects_null(part) else "LEFT"
            for join in select.args.get("joins") or ():
                if not any(join.args.get(key) for key in ("kind", "side", "method", "on", "using")):
                    join.set("kind", "CROSS")  # a comma binds less than a join whose ON names the tables before it
            select.append("joins", exp.Join(this=rows.subquery(name.name), side=side, on=exp.and_(*on)))
        if group is not None and part not in by:  # a group has one value of what is looked up by its keys
            group.append("expressions", exp.column("_value", name.copy()))
        part.replace(exp.column("_value", name.copy()))
    return rewritten


def _place_of(part: exp.Subquery) -> bool | None:
    """Whether a scalar subquery stands in WHERE or in an aggregate; None where no column may take its place."""
    node, inside, select = part.parent, False, part.parent_select
    while node is not None and node is not select:
        if isinstance(node, exp.From | exp.Join | exp.In | exp.Exists | exp.Query):
            return None
        node, inside = node.parent, inside or isinstance(node, exp.AggFunc | exp.Where)
    if select is None or select.is_star or select.args.get("from_") is None:
        return None
    alone = select.args.get("group") is None and any(list(aggregates(of)) for of in select.expressions)
    return None if alone and not inside else inside


def _rejects_null(part: exp.Subquery) -> bool:
    """Whether a SELECT leaves the rows out where a scalar subquery is NULL, since it compares it in WHERE."""
    node = part.parent
    while isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Neg | exp.Paren | exp.Cast):
        node = node.parent
    compares = isinstance(node, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between)
    if node is None or not compares or not is_conjunct(node):
        return False
    return isinstance(node.find_ancestor(exp.Where, exp.Having, exp.Qualify), exp.Where)


def _lookup(query: exp.Expr, own: Mapping[str, Collection[str]]) -> tuple[exp.Select, list[exp.Expr]] | None:
    """The rows (_key0, _key1, ..., _value) of a subquery that looks a value up, and what is compared with the keys."""
    kept = {"expressions", "from_", "where"} >= {key for key, part in query.args.items() if part}
    table = query.args["from_"].this if kept and isinstance(query, exp.Select) and query.args.get("from_") else None
    if not isinstance(table, exp.Table) or table.db or lowered(table.name) not in own or len(query.expressions) != 1:
        return None
    alias, columns = lowered(table.alias_or_name), own[lowered(table.name)]

    def own_columns(node: exp.Expr) -> list[bool]:
        nodes = node.find_all(exp.Column)
        return [lowered(c.table) == alias if c.table else lowered(c.name) in columns for c in nodes]

    parts = conjoined(query.args["where"].this if query.args.get("where") else None)
    outer = [part for part in parts if not all(own_columns(part))]
    links = [link for part in outer if (link := _sides(part, own_columns)) is not None]
    value = query.expressions[0].unalias()
    if not links or len(links) < len(outer) or not all(own_columns(value)) or value.find(exp.AggFunc, exp.Query):
        return None
    listed = [key.copy().as_(f"_key{n}") for n, (key, _) in enumerate(links)]
    rows = exp.select(*listed, value.copy().as_("_value")).from_(table.copy())
    rows = rows.where(*(part.copy() for part in parts if part not in outer))
    return rows, [key for _, key in links]


def _sides(part: exp.Expr, own_columns: Callable[[exp.Expr], list[bool]]) -> tuple[exp.Expr, exp.Expr] | None:
    """The sides of an equality: that with columns of the table alone, and that without."""
    sides = (part.this, part.expression) if isinstance(part, exp.EQ) and not part.find(exp.Query) else ()
    for side, other in (sides, sides[::-1]) if sides else ():
        if (mine := own_columns(side)) and all(mine) and not any(own_columns(other)):
            return side, other
    return None


def _reads(rows: exp.Query, own: Collection[str]) -> bool:
    """Whether a query names these tables alone."""
    tables = (t for t in rows.find_all(exp.Table) if isinstance(t.this, exp.Identifier))
    return all(not t.db and lowered(t.name) in own for t in tables)


def _names_itself(cte: exp.CTE) -> bool:
    """Whether a common table expression reads a table of its own name."""
    return any(not table.db and lowered(table.name) == lowered(cte.alias) for table in cte.this.find_all(exp.Table))
