"""Other words for a query: ways to write any SELECT that DuckDB answers alike where each person has an item once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import duckdb
import sqlglot
from answers.groups import Row, same_rows
from sqlglot import exp


def parsed(sql: str) -> exp.Expression:
    return sqlglot.parse_one(sql, dialect="duckdb")


def tables(tree: exp.Expression) -> list[exp.Table]:
    return [table for table in tree.find_all(exp.Table) if table.name == "sales" and not table.db]


def selects(tree: exp.Expression) -> list[exp.Select]:
    return list(tree.find_all(exp.Select))


def from_rows(sql: str) -> Callable[[exp.Expression], exp.Expression]:
    """Read other rows in place of those of ``sales``."""

    def write(tree: exp.Expression) -> exp.Expression:
        for table in tables(tree):
            joins, rows = table.args.get("joins"), parsed(sql).subquery(table.alias or "sales")
            rows.set("joins", joins)
            table.replace(rows)
        return tree

    return write


def in_subquery(tree: exp.Expression) -> exp.Expression:
    return exp.select("*").from_(tree.subquery("whole")).where("true")


def in_cte(tree: exp.Expression) -> exp.Expression | None:
    return None if tree.args.get("with_") else exp.select("*").from_("whole").with_("whole", as_=tree)


def in_scalar(tree: exp.Expression) -> exp.Expression | None:
    one = isinstance(tree, exp.Select) and len(tree.expressions) == 1 and not tree.args.get("group")
    return exp.select(exp.alias_(tree.subquery(), tree.expressions[0].alias_or_name or "n")) if one else None


def from_cte(tree: exp.Expression) -> exp.Expression | None:
    if tree.args.get("with_") or not isinstance(tree, exp.Select):
        return None
    for table in tables(tree):
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier("sales")))
        table.set("this", exp.to_identifier("bought"))
    return tree.with_("bought", as_=parsed("SELECT * FROM sales"))


def in_schema(tree: exp.Expression) -> exp.Expression:
    for table in tables(tree):
        table.set("db", exp.to_identifier("main"))
    return tree


def with_true(tree: exp.Expression) -> exp.Expression:
    for select in selects(tree):
        if select.args.get("from_"):
            select.where("1 = 1", copy=False)
    return tree


def with_present(tree: exp.Expression) -> exp.Expression:
    for select in selects(tree):
        source = select.args.get("from_")
        if source is not None and isinstance(source.this, exp.Table) and source.this.name == "sales":
            select.where(f"{source.this.alias or 'sales'}.item IS NOT NULL", copy=False)
    return tree


def with_or(tree: exp.Expression) -> exp.Expression:
    for among in list(tree.find_all(exp.In)):
        if among.expressions and not among.args.get("query"):
            equal = [exp.EQ(this=among.this.copy(), expression=value.copy()) for value in among.expressions]
            among.replace(exp.paren(exp.or_(*equal)))
    return tree


def swapped(tree: exp.Expression) -> exp.Expression:
    for equal in list(tree.find_all(exp.EQ)):
        equal.replace(exp.EQ(this=equal.expression.copy(), expression=equal.this.copy()))
    return tree


def not_not(tree: exp.Expression) -> exp.Expression:
    for where in list(tree.find_all(exp.Where)):
        where.set("this", exp.not_(exp.paren(exp.not_(exp.paren(where.this.copy())))))
    return tree


def count_of_one(tree: exp.Expression) -> exp.Expression:
    for count in list(tree.find_all(exp.Count)):
        if isinstance(count.this, exp.Star):
            count.set("this", exp.Literal.number(1))
    return tree


def count_of_case(tree: exp.Expression) -> exp.Expression:
    for call in list(tree.find_all(exp.Filter)):
        if isinstance(call.this, exp.Count) and isinstance(call.this.this, exp.Star):
            call.replace(exp.Count(this=exp.Case().when(call.expression.this.copy(), exp.Literal.number(1))))
    return tree


def sum_of_one(tree: exp.Expression) -> exp.Expression:
    for count in list(tree.find_all(exp.Count)):
        select = count.find_ancestor(exp.Select)
        plain = isinstance(count.this, exp.Star) and not isinstance(count.parent, exp.Window | exp.Filter)
        if plain and select is not None and select.args.get("group"):
            count.replace(exp.Sum(this=exp.Literal.number(1)))
    return tree


def with_commas(tree: exp.Expression) -> exp.Expression:
    for select in selects(tree):
        joins = select.args.get("joins") or []
        if all(not join.side and join.kind in ("", "INNER") and join.args.get("on") for join in joins):
            conditions = [join.args["on"].copy() for join in joins]
            for join in joins:
                join.set("on", None)
                join.set("kind", "CROSS")
            select.where(*conditions, copy=False)
    return tree


def other_order(tree: exp.Expression) -> exp.Expression:
    for select in selects(tree):
        joins, place = select.args.get("joins") or [], select.args.get("from_")
        if len(joins) == 1 and not joins[0].side and joins[0].args.get("on") and not select.is_star:
            first, second = place.this.copy(), joins[0].this.copy()
            place.set("this", second)
            joins[0].set("this", first)
    return tree


def sorted_rows(tree: exp.Expression) -> exp.Expression | None:
    plain = isinstance(tree, exp.Select) and not tree.args.get("order") and not tree.args.get("limit")
    return parsed(f"{tree.sql('duckdb')} ORDER BY ALL") if plain else None


def different_rows(tree: exp.Expression) -> exp.Expression | None:
    plain = isinstance(tree, exp.Select) and not tree.args.get("distinct") and not tree.args.get("order")
    return tree.distinct() if plain else None


def having_rows(tree: exp.Expression) -> exp.Expression:
    for select in selects(tree):
        group = select.args.get("group")
        if group and not group.args.get("rollup") and not group.args.get("cube"):
            select.having("count(*) >= 1", copy=False)
    return tree


WAYS: tuple[Callable[[exp.Expression], exp.Expression | None], ...] = (
    *(in_subquery, in_cte, in_scalar, from_cte, in_schema, with_true, with_present, with_or, swapped, not_not, count_of_one),
    *(count_of_case, sum_of_one, with_commas, other_order, sorted_rows, different_rows, having_rows),
    from_rows("SELECT tid, item FROM sales"),
    from_rows("SELECT DISTINCT tid, item FROM sales"),
    from_rows("SELECT tid, item FROM sales GROUP BY ALL"),
    from_rows("SELECT * FROM sales WHERE item = 'milk' UNION ALL SELECT * FROM sales WHERE item <> 'milk'"),
)


def _rows(con: duckdb.DuckDBPyConnection, sql: str) -> list[Row] | None:
    try:
        return con.execute(sql).fetchall()
    except duckdb.Error:
        return None


def in_other_words(con: duckdb.DuckDBPyConnection, sql: str, rnd: random.Random) -> Iterator[str]:
    """A query in other words, in random order: those that change it, and have its rows in an original."""
    tree, rows = parsed(sql), con.execute(sql).fetchall()
    for way in rnd.sample(WAYS, len(WAYS)):
        other = way(tree.copy())
        text = "" if other is None or other == tree else other.sql("duckdb")
        found = _rows(con, text) if text else None
        if found is not None and same_rows(rows, found):
            yield text
