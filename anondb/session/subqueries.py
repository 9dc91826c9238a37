"""Subqueries in expressions over known rows: a single value, IN, and EXISTS."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from anondb.query.refusals import only, unsupported
from anondb.query.relations import is_null
from anondb.session.compiler import Compiler, Env
from anondb.session.expressions import Resolve, read
from anondb.session.known import LIKELY, SURE
from anondb.session.sources import first_column
from anondb.session.values import Value, check_equal, constant

PLAIN = (
    *(
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
    ),
    *("FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP"),
)
"""The types of values that are written as constants."""


def scalar(node: exp.Subquery, compiler: Compiler, env: Env) -> Value:
    """A subquery with a single row and column, as a constant of its type; NULL without a row."""
    relation = compiler.query(node, env)
    if len(relation.columns) != 1 or relation.flagged:
        raise unsupported("a scalar subquery of several columns, or of rows that an estimate chose")
    source = exp.Subquery(this=relation.tree, alias=exp.TableAlias(this=exp.to_identifier("one")))
    ((_, value),) = relation.values("one")
    ends = [end for end in (value.estimate, value.lower, value.upper) if end is not None]
    kind = exp.Anonymous(this="typeof", expressions=[value.estimate.copy()])
    row = exp.select(exp.Literal.number(1)).subquery("row")
    asked = exp.select(kind, *(end.copy() for end in ends)).from_(row).join(source, on=exp.true(), join_type="left")
    rows = compiler.tables.rows(asked.limit(2))
    if len(rows) > 1:
        raise unsupported("a scalar subquery with several rows")
    ((of, *cells),) = rows
    estimate, *bounds = map(constant, cells)
    if value.exact and of != '"NULL"':
        estimate = _of_type(estimate, str(of))
    return replace(value, estimate=estimate, lower=bounds[0] if bounds else None, upper=bounds[1] if bounds else None)


def _of_type(value: exp.Expr, kind: str) -> exp.Expr:
    """A constant of a type.

    Raises:
        InputError: ``unsupported_query`` for other types than those of ``constant``.
    """
    name = kind.partition("(")[0]
    if name not in PLAIN:
        raise unsupported(f"a scalar subquery of the type {name}", "Cast it to a number, a text or a date.")
    return exp.Cast(this=value, to=exp.DataType.build(kind, dialect="duckdb"))


def among(node: exp.In, resolve: Resolve, compiler: Compiler, env: Env) -> Value:
    """IN with a subquery; where counts chose its rows, it is certain for the values of rows that are certain."""
    only(node, "this", "query")
    left, relation = read(node.this, resolve), compiler.listed(node.args["query"], env)
    if not left.exact or len(relation.columns) != 1 or not replace(relation, flagged=False).exact:
        raise unsupported("IN with a subquery of estimates")
    check_equal(left, *relation.columns)

    def listed(flag: str | None) -> exp.Expr:
        rows = first_column(relation)
        if flag is not None:
            rows = rows.where(exp.column(flag))
        return exp.In(this=left.estimate.copy(), query=exp.Subquery(this=rows))

    if not relation.flagged:
        return Value(listed(None))
    if compiler.tables.rows(first_column(relation).where("c0 IS NULL").limit(1)):
        raise unsupported("IN with a subquery of estimates that has NULLs", "Leave them out with IS NOT NULL.")
    certain = exp.and_(is_null(left.estimate).not_(), listed(SURE))
    return Value(listed(LIKELY), certain, exp.true() if relation.open else listed(None), truth=True)


def exists(node: exp.Exists, compiler: Compiler, env: Env) -> Value:
    """EXISTS over rows of persons is a count above 0."""
    only(node, "this")
    inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
    if not isinstance(inner, exp.Select) or not compiler.people.of_persons(inner, env):
        raise unsupported("EXISTS over a table of your own", "Write column IN (SELECT ... FROM ...).")
    counted = inner.copy()
    counted.set("expressions", [exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))])
    return scalar(exp.Subquery(this=counted), compiler, env)
