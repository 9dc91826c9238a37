"""Merge subqueries that only choose and compute columns into the SELECTs around them, where sqlglot can."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp
from sqlglot.errors import SqlglotError

from anondb.query.parsing import lowered
from anondb.query.relations import bare, operands
from anondb.session.kept import repeatable

PLAIN = {"expressions", "from_", "joins", "where"}


def merged(tree: exp.Expr, tables: Mapping[str, Mapping[str, str]]) -> exp.Expr | None:
    """A query with the same rows, in which columns that subqueries compute are written out; None if there is no other.

    Args:
        tree: the query; it is not changed.
        tables: the tables that it may name, with the types of their columns.
    """
    from sqlglot.optimizer.merge_subqueries import merge_subqueries
    from sqlglot.optimizer.qualify import qualify
    from sqlglot.optimizer.scope import traverse_scope

    schema: dict[str, object] = {
        lowered(name): {lowered(c): kind for c, kind in of.items()} for name, of in tables.items() if "." not in name
    }
    columns = {lowered(c) for of in tables.values() for c in of}
    if (
        not repeatable(tree)
        or tree.find(exp.Bracket)
        or any(_is_ambiguous(select, columns) for select in tree.find_all(exp.Select))
    ):
        return None
    made = _inlined(tree, schema)
    before = sum(1 for _ in made.find_all(exp.Select))
    try:
        made = qualify(made, schema=schema, dialect="duckdb", quote_identifiers=False)
        if any(scope.is_correlated_subquery for scope in traverse_scope(made)):  # sqlglot may give two tables one name
            return None
        for select in list(made.find_all(exp.Select)):
            _joined_once(select)
            _in_parentheses(select)
        made = merge_subqueries(made)
        while any(_turned(select) for select in list(made.find_all(exp.Select))):
            made = merge_subqueries(made)
    except (SqlglotError, KeyError):  # sqlglot 30 raises KeyError for the alias of VALUES that it renames
        return None
    return made if sum(1 for _ in made.find_all(exp.Select)) < before else None


def _is_ambiguous(node: exp.Select, columns: Collection[str]) -> bool:
    """Whether a name is an alias of the SELECT and may be a column, of which DuckDB and sqlglot may choose another one."""
    aliases = {lowered(e.alias) for e in node.expressions if isinstance(e, exp.Alias) and e.alias != bare(e.this).name}
    inner = {lowered(e.alias) for e in node.find_all(exp.Alias) if e.parent_select is not node}
    outer = {lowered(e.alias) for cte in node.root().find_all(exp.CTE) for e in cte.find_all(exp.Alias)}
    clauses = (node.args.get(key) for key in ("where", "group", "having", "qualify"))
    named = {lowered(c.name) for clause in clauses if clause for c in clause.find_all(exp.Column) if not c.table}
    return bool(aliases & named & {*columns, *inner, *outer})


def _inlined(tree: exp.Expr, tables: Collection[str]) -> exp.Expr:
    """A copy of the query with plain common table expressions in place of their names: sqlglot merges those named once."""
    made = tree.copy()
    clause = made.args.get("with_")
    names = [lowered(cte.alias) for cte in tree.find_all(exp.CTE)]
    if clause is None or clause.recursive or len({*names, *tables}) < len(names) + len(tables):
        return made
    for cte in list(clause.expressions):
        if not _is_plain(cte.this) or cte.args["alias"].args.get("columns"):
            continue
        for table in list(made.find_all(exp.Table)):
            if not table.db and isinstance(table.this, exp.Identifier) and lowered(table.name) == lowered(cte.alias):
                table.replace(cte.this.copy().subquery(table.alias_or_name))
        cte.pop()
    if not clause.expressions:
        made.set("with_", None)
    return made


def _is_plain(node: exp.Expr) -> bool:
    """Whether a query only chooses rows, and computes columns of each row by itself."""
    if not isinstance(node, exp.Select) or not {key for key, part in node.args.items() if part} <= PLAIN:
        return False
    return not any(part.find(exp.AggFunc, exp.Window, exp.Query) for part in node.expressions)


def _turned(node: exp.Select) -> bool:
    """Put a plain subquery of several tables first in FROM, where sqlglot merges it, if all joins are inner ones."""
    joins = node.args.get("joins") or []
    if any(
        join.side or join.method or join.kind not in ("", "INNER", "CROSS") or join.args.get("using") for join in joins
    ):
        return False
    moved = next((join for join in joins if _is_mergeable(join.this)), None)
    if moved is None or _is_mergeable(node.args["from_"].this):
        return False
    for join in joins:
        if join.args.get("on") is not None:
            node.where(exp.paren(join.args["on"].copy()), copy=False)
    tables = [node.args["from_"].this, *(join.this for join in joins if join is not moved)]
    node.set("from_", exp.From(this=moved.this.copy()))
    node.set("joins", [exp.Join(this=table.copy(), kind="CROSS") for table in tables])
    return True


def _is_mergeable(node: exp.Expr) -> bool:
    return isinstance(node, exp.Subquery) and _is_plain(node.this) and bool(node.this.args.get("joins"))


def _in_parentheses(node: exp.Select) -> None:
    """Put the operations that a SELECT computes into parentheses, which sqlglot does not set around them under NOT."""
    for selected in node.expressions:
        value = selected.unalias()
        if isinstance(value, exp.Binary | exp.Unary | exp.Predicate) and not isinstance(value, exp.Paren):
            value.replace(exp.paren(value.copy()))


def _joined_once(node: exp.Select) -> None:
    """Replace ``coalesce(a.x, b.x)``, as which sqlglot writes a column of ``USING (x)``, by ``a.x``."""
    equal: dict[exp.Expr, exp.Expr] = {}
    for join in node.args.get("joins") or ():
        on = join.args.get("on")
        if join.side not in ("", "LEFT") or on is None:
            continue
        for part in operands(on) if isinstance(on, exp.And) else [bare(on)]:
            if isinstance(part, exp.EQ) and isinstance(part.expression, exp.Column):
                first = _first(part.this, equal)
                part.set("this", first.copy())
                equal[part.expression] = first
    for call in list(node.find_all(exp.Coalesce)):
        if call.parent_select is node:
            call.replace(_first(call, equal).copy())


def _first(node: exp.Expr, equal: Mapping[exp.Expr, exp.Expr]) -> exp.Expr:
    """The first column of ``coalesce``, if the others are equal to it or NULL; else the expression."""
    columns = [node.this, *node.expressions] if isinstance(node, exp.Coalesce) else [node]
    first = equal.get(columns[0], columns[0])
    return first if len(columns) > 1 and all(equal.get(column) == first for column in columns[1:]) else node
