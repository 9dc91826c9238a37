"""The statements of sql/warehouse use only what DuckDB, PostgreSQL and Spark have and mean alike."""

from __future__ import annotations

import pytest
import sqlglot
from each import each
from sqlglot import exp

import anondb
from anondb.engine import all_names, load

STATEMENTS = [
    n for n in all_names() if n.startswith("warehouse/") and not n.startswith(("warehouse/spark/", "warehouse/plain/"))
]
# What is in no other statement is refused: lists, structs, ordered or arbitrary aggregates, encodings, functions of the
# catalog or of chance, whole-number division, and all functions that sqlglot does not know.
ALLOWED = (
    exp.Select, exp.Union, exp.Subquery, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered,
    exp.Limit, exp.With, exp.CTE, exp.Distinct, exp.Alias, exp.TableAlias, exp.Table, exp.Column, exp.Identifier, exp.Star,
    exp.Literal, exp.Null, exp.DataType, exp.Cast, exp.Paren, exp.Neg, exp.Case, exp.If, exp.Coalesce,
    exp.And, exp.Or, exp.Not, exp.In, exp.Between, exp.Is, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE,
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod,
    exp.Count, exp.Sum, exp.Min, exp.Max, exp.Filter, exp.Window, exp.WindowSpec, exp.RowNumber,
    exp.Greatest, exp.Least, exp.Floor, exp.Length, exp.Abs, exp.Ln, exp.Exp, exp.NullSafeEQ,
    exp.DPipe, exp.Like, exp.Lower, exp.RegexpLike, exp.Replace, exp.Substring, exp.Trim,
)  # fmt: skip
TYPES = {exp.DType.INT, exp.DType.BIGINT, exp.DType.DOUBLE, exp.DType.TEXT}


def faults(tree: exp.Expr) -> list[str]:
    """What is not portable in a statement."""
    found = []
    for node in tree.walk():
        variable = isinstance(node, exp.Anonymous) and node.name.lower() == "getvariable"
        if not variable and type(node) not in ALLOWED:
            found.append(type(node).__name__)
        if isinstance(node, exp.DataType) and node.this not in TYPES:
            found.append(str(node))
        if isinstance(node, exp.Table) and (node.db or not isinstance(node.this, exp.Identifier)):
            found.append("a table of the catalog, or a table function")
        if isinstance(node, exp.AggFunc) and node.find(exp.Order):
            found.append("an ordered aggregate")
        if isinstance(node, exp.Join) and str(node.args.get("kind") or "").upper() not in ("", "CROSS", "INNER"):
            found.append("a join that not all have")
        if isinstance(node, exp.Join) and str(node.args.get("method") or ""):
            found.append("a join that not all have")
        if isinstance(node, exp.Distinct) and node.args.get("on"):
            found.append("DISTINCT ON")
        if isinstance(node, exp.Select) and not {*node.args}.isdisjoint(UNUSUAL) and any(map(node.args.get, UNUSUAL)):
            found.append("a clause that not all have")
        if isinstance(node, exp.Window) and node.args.get("order") and not node.find(exp.Column):
            found.append("a window without columns")
    return found


UNUSUAL = ("qualify", "sample", "pivots", "laterals", "connect", "windows")


def test_sessions_that_spark_releases_cannot_use_are_refused() -> None:
    for module, version in (("pyspark.sql.connect.session", "4.1.0"), ("pyspark.sql.session", "3.5.3")):
        session = type("SparkSession", (), {"__module__": module, "version": version})()
        with pytest.raises(anondb.InputError) as caught:
            anondb.connect(session)
        assert caught.value.code == "bad_session"


@each("name", STATEMENTS)
def test_statements_are_portable(name: str) -> None:
    assert not faults(load(name).tree)


@each(
    "text",
    [
        "SELECT [a, b] AS x FROM t",
        "SELECT {'a': 1} AS x FROM t",
        "SELECT list(a ORDER BY b) AS x FROM t",
        "SELECT list(a) AS x FROM t",
        "SELECT string_agg(a, ',' ORDER BY a) AS x FROM t",
        "SELECT first(a) AS x FROM t",
        "SELECT any_value(a) AS x FROM t",
        "SELECT arg_min(a, b) AS x FROM t",
        "SELECT bool_or(a) AS x FROM t",
        "SELECT decode(encode(a)) AS x FROM t",
        "SELECT CAST(a AS HUGEINT) AS x FROM t",
        "SELECT a // 2 AS x FROM t",
        "SELECT a FROM duckdb_tables()",
        "SELECT a FROM information_schema.tables",
        "SELECT a FROM t ASOF JOIN u ON t.a >= u.a",
        "SELECT a FROM t SEMI JOIN u ON t.a = u.a",
        "SELECT a FROM t NATURAL JOIN u",
        "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a) = 1",
        "SELECT DISTINCT ON (a) a, b FROM t",
        "SELECT row_number() OVER (ORDER BY random()) AS x FROM t",
        "SELECT row_number() OVER (ORDER BY gen_random_uuid()) AS x FROM t",
        "SELECT row_number() OVER (ORDER BY 1) AS x FROM t",
        "SELECT median(a) AS x FROM t",
        "SELECT unnest(a) AS x FROM t",
        "SELECT current_date AS x FROM t",
        "SELECT a[1] AS x FROM t",
        "SELECT sha256(a) AS x FROM t",
        "SELECT a FROM t USING SAMPLE 10",
    ],
)
def test_what_is_not_portable_is_refused(text: str) -> None:
    assert faults(sqlglot.parse_one(text, dialect="duckdb"))
