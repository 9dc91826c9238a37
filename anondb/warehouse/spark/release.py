"""The statements that are those of a release in Spark alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anondb.engine import Rows, Table, load, tree_of
from anondb.engine.trees import exp
from anondb.release.bodies import bound_among
from anondb.release.definitions import view_queries
from anondb.release.item_supports import expected_holders
from anondb.release.objects import GLOBAL

UNFINISHED = "unfinished release of anondb, whose work is in "  # comments of a schema
FINISHED = "release of anondb"


def function_of(name: Table, tables: Mapping[str, Table]) -> exp.Create:
    """The statement that creates ``count_bounds(items)`` of a release, with or without item supports."""
    body = _converted(bounds_of(tables, exp.column("items")))
    kinds = {"lower_bound": "BIGINT", "estimate": "DOUBLE", "upper_bound": "BIGINT"}
    returned = [exp.ColumnDef(this=exp.to_identifier(n), kind=exp.DataType.build(k)) for n, k in kinds.items()]
    items = exp.ColumnDef(this=exp.to_identifier("items"), kind=exp.DataType.build("ARRAY<STRING>", dialect="spark"))
    return exp.Create(
        this=exp.UserDefinedFunction(this=name.expression(), expressions=[items], wrapped=True),
        kind="FUNCTION",
        properties=exp.Properties(
            expressions=[exp.ReturnsProperty(this=exp.Schema(this=exp.Var(this="TABLE"), expressions=returned))]
        ),
        expression=exp.Return(this=body),
    )


def _converted(body: exp.Query) -> exp.Query:
    """A query with functions of Spark where sqlglot has others."""
    for call in [c for c in body.find_all(exp.Anonymous) if c.name.lower() == "list_reduce"]:
        values, merge, start = call.expressions
        call.replace(exp.Reduce(this=values, initial=start, merge=merge))
    for cast in [
        c for c in body.find_all(exp.Cast) if isinstance(c.this, exp.Concat)
    ]:  # NULL, not an error, without ANSI mode
        cast.replace(exp.Anonymous(this="raise_error", expressions=[cast.this]))
    return body


def views_of(tables: Mapping[str, Table]) -> Iterator[exp.Create]:
    """The statements that create the views ``transactions``, ``baskets`` and ``item_counts`` of a release of sets."""
    sources: dict[str, Rows] = {**tables, "expected": expected_holders(tables, local=False)}
    sources["unhidden"] = exp.select(exp.true().as_("passed"))
    for name, query in {**view_queries(GLOBAL), "baskets": "warehouse/spark/baskets"}.items():
        body = _converted(tree_of(bound_among(query, sources)))
        place = tables["labels"]
        yield exp.Create(this=Table(place.catalog, place.schema, name).expression(), kind="VIEW", expression=body)


def bounds_of(tables: Mapping[str, Table], items: exp.Expr) -> exp.Query:
    """The query of ``count_bounds`` for a list of items."""
    wanted = load("warehouse/spark/wanted").bind({"released_items": tables["released_items"]}, {"items": items})
    expected = expected_holders(tables, local=False, wanted=wanted)
    sources: dict[str, Rows] = {**tables, "wanted": wanted, "expected": expected}
    return tree_of(bound_among("warehouse/spark/count_bounds", sources, {"items": items}))
