"""The views and functions of a release in PostgreSQL: those of a sealed file, in PostgreSQL's words. The queries of
``sql/release`` are converted tree by tree, so their proofs hold here too. The bodies of functions are stored as trees (BEGIN
ATOMIC): their names are bound when they are made, and no temporary table or other schema can hide one."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from anondb.engine import Rows, load, tree_of
from anondb.engine.trees import exp
from anondb.errors import InputError
from anondb.release.bodies import body_of
from anondb.release.conditions import judged_records
from anondb.release.definitions import (
    OBJECT_COMMENTS,
    bounds_query,
    column_comment,
    parts_of_bounds,
    parts_of_view,
    view_queries,
)
from anondb.release.modelled import COMMENT, StoredTable
from anondb.release.objects import ANATOMY, ITEM_COUNTS, MODELLED, Kind
from anondb.warehouse.postgres.place import check_name
from anondb.warehouse.postgres.server import text_of
from anondb.warehouse.postgres.tables import creation, place, schema_creation, written_type

NUMBERS = "DECIMAL[]"  # the type of a condition on a number: a range of two
TIMES = "TIMESTAMP[]"
BOUNDS = {name: kind for name, kind in ITEM_COUNTS.items() if name != "item"}
TRANSACTIONS = {"transaction_id": "INTEGER", "items": "VARCHAR[]"}
_OWN = {  # queries that are written for PostgreSQL
    "release/baskets": "postgres/baskets",
    "release/expected_global": "postgres/expected",
    "release/expected_local": "postgres/expected",
}
_COMMENTS = {
    "transactions": "The released items of each transaction. The table released_items says what they stand for",
    "count_bounds": "SELECT * FROM count_bounds(ARRAY['a', 'b']): how many original transactions hold all of these items",
    "reconstruct": "SELECT * FROM reconstruct(1): transactions that the release may come from; another seed gives others",
}


_ANY_SCHEMA = f"schema {secrets.token_hex(16)}"  # stands for the name in texts that are kept for all schemas


def definitions(schema: str, kind: Kind) -> list[str]:
    """The statements that make the views and functions of a release over its tables in ``schema``."""
    any_schema, name = (text_of(exp.to_identifier(n, quoted=True)) for n in (_ANY_SCHEMA, schema))
    return [text.replace(any_schema, name) for text in _texts(kind)]


@lru_cache(maxsize=16)
def _texts(kind: Kind) -> tuple[str, ...]:
    return tuple(_definitions(_ANY_SCHEMA, kind))


def _definitions(schema: str, kind: Kind) -> Iterator[str]:
    passed = {"unhidden": exp.select(exp.true().as_("passed"))}
    for name, query in view_queries(kind).items():
        parts = {} if query in _OWN else passed | parts_of_view(name, schema, kind, _OWN)
        tree = tree_of(body_of(_OWN.get(query, query), schema, {}, parts))
        yield text_of(exp.Create(this=place(schema, name), kind="VIEW", expression=_converted(tree)))
    yield function(schema, "count_bounds", conditions(kind), BOUNDS, _bounds(schema, kind))
    if kind is ANATOMY:
        body = tree_of(body_of("postgres/reconstruct", schema, {"seed": argument(1)}))
        yield function(schema, "reconstruct", {"seed": "BIGINT"}, TRANSACTIONS, body)


def argument(number: int) -> exp.Parameter:
    """An argument of a function by its position: a name could be that of a column."""
    return exp.Parameter(this=exp.Literal.number(number))


def conditions(kind: Kind) -> dict[str, str]:
    """The arguments of ``count_bounds`` and their types. Raises InputError: ``bad_name``: an attribute has the name of
    another argument or of a result."""
    arguments = {"items": "VARCHAR[]"}
    for attribute in kind.attributes or ():
        if attribute.name in arguments or attribute.name in BOUNDS:
            raise InputError(
                f"An attribute of a release in PostgreSQL cannot be called {attribute.name!r}.",
                code="bad_name",
                hint="Rename the column in a view.",
            )
        times = attribute.ends in ("DATE", "TIMESTAMP")
        arguments[attribute.name] = "VARCHAR[]" if attribute.ends is None else TIMES if times else NUMBERS
    return arguments


def _bounds(schema: str, kind: Kind) -> exp.Query:
    """The body of ``count_bounds``."""
    items = {"items": argument(1)}
    parts: dict[str, Rows] = {"checked": body_of("postgres/checked_items", schema, items)}
    if kind.attributes is not None:
        judged = judged_records(schema, kind.attributes).tree()
        numbers = {name: number for number, name in enumerate(conditions(kind), 1)}
        for column in list(judged.find_all(exp.Column)):
            if not column.table and column.name in numbers:
                column.replace(argument(numbers[column.name]))
        parts["judged_records"] = judged
    if kind is not ANATOMY:
        parts |= parts_of_bounds(schema, kind, items, _OWN)
    body = body_of(bounds_query(kind), schema, {name: items[name] for name in load(bounds_query(kind)).params}, parts)
    return _converted(tree_of(body))


def function(
    schema: str,
    name: str,
    arguments: Mapping[str, str],
    returns: Mapping[str, str],
    body: exp.Query,
    *,
    replace: bool = False,
) -> str:
    """The statement that makes a function, which runs with the rights of its owner. All arguments but the first are NULL
    unless they are stated."""
    listed: list[exp.Expr] = []
    for argument, kind in arguments.items():
        default = [] if not listed else [exp.ColumnConstraint(kind=exp.DefaultColumnConstraint(this=exp.null()))]
        listed.append(_field(argument, kind, default))
    columns = exp.Schema(this=exp.var("TABLE"), expressions=[_field(n, k) for n, k in returns.items()])
    path = exp.EQ(this=exp.var("search_path"), expression=exp.var("pg_catalog, pg_temp"))
    properties: list[exp.Expr] = [
        exp.ReturnsProperty(this=columns, is_table=True),
        exp.LanguageProperty(this=exp.var("sql")),
        # sqlglot writes "SQL SECURITY" for MySQL
        exp.StabilityProperty(this=exp.Literal.string("STABLE SECURITY DEFINER")),
        exp.SetConfigProperty(this=exp.Set(expressions=[exp.SetItem(this=path)])),
    ]
    signature = exp.UserDefinedFunction(this=place(schema, name), expressions=listed, wrapped=True)
    head = exp.Create(this=signature, kind="FUNCTION", properties=exp.Properties(expressions=properties), replace=replace)
    return " ".join((text_of(head), "BEGIN ATOMIC", text_of(body) + ";", "END"))


def _field(name: str, kind: str, constraints: list[exp.ColumnConstraint] | None = None) -> exp.ColumnDef:
    identifier = exp.to_identifier(name, quoted=True)
    return exp.ColumnDef(this=identifier, kind=written_type(kind), constraints=constraints or [])


def comments(schema: str, kind: Kind) -> Iterator[exp.Comment]:
    """The statements that comment the objects of a release and their columns; the texts are fixed."""
    for what, relations in (("TABLE", kind.tables), ("VIEW", kind.views)):
        for name, columns in relations.items():
            yield from relation_comments(schema, name, columns, what)
    yield from (comment("FUNCTION", schema, name) for name in kind.macros)


def relation_comments(schema: str, name: str, columns: Iterable[str], kind: str = "TABLE") -> Iterator[exp.Comment]:
    """The statements that comment a table or a view, and its columns."""
    yield comment(kind, schema, name)
    for column in columns:
        where = exp.column(column, name, schema, quoted=True)
        yield exp.Comment(this=where, kind="COLUMN", expression=exp.Literal.string(column_comment(name, column)))


def comment(kind: str, schema: str, name: str) -> exp.Comment:
    """The statement that comments an object of a release."""
    words = exp.Literal.string(_COMMENTS.get(name, OBJECT_COMMENTS[name]))
    return exp.Comment(this=place(schema, name), kind=kind, expression=words)


def _converted(query: exp.Query) -> exp.Query:
    """A query of DuckDB with functions of PostgreSQL; the generator of sqlglot writes the rest."""
    whole = exp.Subquery(this=query)
    for node in reversed(list(query.walk(bfs=True))):  # the parts of a node before the node
        if (fresh := _convert(node)) is not node:
            node.replace(fresh)
    return whole.this  # type: ignore[no-any-return]


def _convert(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Filter) and _is_product(node.this):
        return _product(node.this, node.expression)
    if _is_product(node) and not isinstance(node.parent, exp.Filter):
        return _product(node)
    if isinstance(node, exp.Decode) and isinstance(node.this, exp.Encode):  # texts are compared by code points anyway
        return node.this.this  # type: ignore[no-any-return]
    if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, exp.AnyValue):  # one value in each group
        return exp.Max(this=node.this.this)
    if isinstance(node, exp.Bracket) and isinstance(node.this, exp.Cast):
        return exp.Bracket(this=exp.Paren(this=node.this), expressions=node.expressions)
    if isinstance(node, exp.Length):
        return _length(node.this)
    if isinstance(node, exp.ArraySort) and isinstance(node.this, exp.ArrayAgg):
        listed = node.this.this
        return exp.ArrayAgg(this=exp.Order(this=listed, expressions=[exp.Ordered(this=listed.copy(), nulls_first=False)]))
    if isinstance(node, exp.Anonymous):
        return _called(node)
    return node


def _called(node: exp.Anonymous) -> exp.Expr:
    """A function of DuckDB that sqlglot does not know."""
    name, values = node.name.lower(), node.expressions
    if name == "list_has_all":
        return exp.ArrayContainsAll(this=values[0], expression=values[1])
    if name == "error":  # a cast that fails; concat is not computed before it is needed
        return exp.cast(exp.Anonymous(this="concat", expressions=values), "BOOLEAN")
    if name == "epoch_us":
        seconds = exp.Extract(this=exp.var("EPOCH"), expression=values[0])
        return exp.cast(exp.Mul(this=seconds, expression=exp.convert(1_000_000)), "DOUBLE PRECISION", dialect="postgres")
    return node


def _length(listed: exp.Expr) -> exp.Expr:
    """The length of a list, or the number of its distinct elements."""
    if not isinstance(listed, exp.ArrayDistinct):
        return exp.Anonymous(this="cardinality", expressions=[listed])
    each = exp.TableAlias(this=exp.to_identifier("listed"), columns=[exp.to_identifier("label")])
    elements = exp.Unnest(expressions=[listed.this], alias=each)
    return exp.select(exp.Count(this=exp.Distinct(expressions=[exp.column("label", "listed")]))).from_(elements).subquery()


def _is_product(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == "product"


def _product(call: exp.Expr, condition: exp.Expr | None = None) -> exp.Expr:
    """The product of numbers that are not negative: e to the sum of their logarithms, 0 if one of them is 0."""
    (value,) = call.expressions
    order = value if isinstance(value, exp.Order) else None
    factor = value.this if isinstance(value, exp.Order) else value

    def only(aggregate: exp.Expr) -> exp.Expr:
        return aggregate if condition is None else exp.Filter(this=aggregate, expression=condition.copy())

    logarithm = exp.Ln(this=exp.Nullif(this=factor.copy(), expression=exp.convert(0)))
    ordered = logarithm if order is None else exp.Order(this=logarithm, expressions=[o.copy() for o in order.expressions])
    nothing = exp.EQ(this=only(exp.Min(this=factor.copy())), expression=exp.convert(0))
    total = exp.Exp(this=only(exp.Sum(this=ordered)))
    zero = exp.cast(exp.convert(0), "DOUBLE PRECISION", dialect="postgres")
    return exp.Paren(this=exp.Case(ifs=[exp.If(this=nothing, true=zero)], default=total))


def schema_of(release: str) -> str:
    """The schema of the modelled rows of the release in a schema. Raises InputError: ``bad_name``: the name is too long."""
    return check_name(f"{release}_{MODELLED}")


def schema_statements(schema: str, words: str = COMMENT) -> list[exp.Expr]:
    """The statements that make a schema with a comment, by default that of modelled rows."""
    named = exp.Table(this=exp.to_identifier(schema, quoted=True))
    return [schema_creation(schema), exp.Comment(this=named, kind="SCHEMA", expression=exp.Literal.string(words))]


def table_statements(
    schema: str, tables: Sequence[StoredTable], *, temporary: bool = False
) -> Iterator[exp.Create | exp.Comment]:
    """The statements that make empty tables in the schema, with their comments. Raises InputError: ``bad_name``: a name of
    the original is too long for PostgreSQL."""
    for table in tables:
        for name in (table.name, *table.columns):
            check_name(name)
        yield creation(schema, table.name, table.columns, temporary=temporary)
        yield exp.Comment(this=place(schema, table.name), kind="TABLE", expression=exp.Literal.string(COMMENT))
