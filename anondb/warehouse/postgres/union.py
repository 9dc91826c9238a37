"""A partitioned view in PostgreSQL: a schema for each value, and one schema that shows all of them as one release. The
schema ``weekly`` has, over ``weekly/1``, ``weekly/2`` and so on, each table and view of a release with the value in front of
its columns; ``item_counts`` and ``count_bounds`` add up the bounds, since the values have disjoint persons."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from anondb.engine import reads, tree_of
from anondb.engine.trees import exp, united
from anondb.errors import InputError
from anondb.release.bodies import body_of
from anondb.release.catalog import Finding
from anondb.release.modelled import COMMENT as MODELLED_COMMENT
from anondb.release.objects import ITEM_COUNTS, Kind, partition_of
from anondb.warehouse.postgres.catalog import (
    TEMPORARY,
    check_rights,
    compared,
    grant_findings,
    manifest_in,
    namespace_of,
    rights_of_release,
)
from anondb.warehouse.postgres.definitions import (
    BOUNDS,
    TRANSACTIONS,
    argument,
    comment,
    conditions,
    function,
    relation_comments,
    schema_statements,
)
from anondb.warehouse.postgres.place import Place
from anondb.warehouse.postgres.server import Server
from anondb.warehouse.postgres.tables import place, removals, source_tables

COMMENT = "The releases of disjoint persons in the schemas whose names begin with this one's and a slash, as one release"
PARTITION = "partition"  # the first column of tables and views
_TEXT = "VARCHAR"
Values = Mapping[str, str]  # the value of each schema of a part


def is_union(server: Server, schema: str) -> bool:
    """Whether a schema shows the parts of a partitioned view."""
    return server.query("postgres/schema", schema_name=schema)["comment"] == [COMMENT]


def parts_of(server: Server, union: str) -> dict[str, bool]:
    """The schemas of the parts of a union, by code point, and whether each belongs to the role."""
    parts = server.query("postgres/parts", beginning=f"{union}/", left_out=MODELLED_COMMENT)
    return dict(zip(parts["schema_name"], parts["owned"], strict=True))


def parts_at(where: Place, say: Callable[[str], None] | None = None) -> list[Place] | None:
    """The releases of a partitioned view at a place; None if another schema, or none, is there."""
    with contextlib.closing(Server(where, say)) as server, server.undone():
        if not is_union(server, str(where.schema)):
            return None
        return [replace(where, schema=name) for name in parts_of(server, str(where.schema))]


def manifests(server: Server, union: str) -> dict[str, dict[str, str]]:
    """The manifest of each part that belongs to the role and has one."""
    schemas = (name for name, owned in parts_of(server, union).items() if owned)
    there = (n for n in schemas if any(t.kind == "r" for t in source_tables(server, wanted="manifest", schema=n)))
    return {schema: manifest_in(server, schema) for schema in there}


def check_free(server: Server, where: Place, *, fresh: bool) -> None:
    """Check, before the long work, that a schema can become that of a view, or is it; a ``fresh`` view replaces none. Raises
    InputError: ``target_exists``; ``bad_name``: its name has a slash."""
    schema = str(where.schema)
    if "/" in schema:
        words = "The schema of a partitioned view has no slash in its name, with which the names of its parts are made."
        raise InputError(words, code="bad_name", hint="Give it another name.")
    there = namespace_of(server, schema) is not None
    if not (there or parts_of(server, schema)) if fresh else (not there or is_union(server, schema)):
        return
    raise InputError(
        f"There is a schema at {where} already, or one of a part of it.",
        code="target_exists",
        hint="Choose another name, or replace the view that is published there.",
    )


def separate(server: Server, where: Place, kind: Kind) -> list[Place]:
    """Leave out of a union the parts that do not stay beside the one at ``where``; return them, to be dropped."""
    union = str(where.union)
    values = _values(server, where, kind)
    gone = [name for name in parts_of(server, union) if name not in values]
    if gone and is_union(server, union):
        if values:
            server.run_all(statements(union, values, kind), "leaving out a part")
        else:
            _drop(server, union)
    return [replace(where, schema=name) for name in gone]


def _drop(server: Server, union: str) -> None:
    """Drop the schema of a union, but nothing that depends on it."""
    rows = server.query("postgres/text_oids", namespace=namespace_of(server, union))
    for kind, name in zip(rows["kind"], rows["name"], strict=True):
        server.run(exp.Drop(tables=[place(union, name)], kind=kind.upper()), "dropping a union")
    server.run_all(removals(union, []), "dropping a union")


def unite(server: Server, where: Place, kind: Kind) -> None:
    """Let the union show the part at ``where`` beside the others, with the same rights; views on it stay."""
    union = str(where.union)
    if namespace_of(server, union) is None:
        server.run_all(schema_statements(union, COMMENT), "making a schema")
    schema = str(where.schema)
    values = _values(server, where, kind) | {schema: schema.removeprefix(f"{union}/")}
    values = dict(sorted(values.items()))
    server.run_all(statements(union, values, kind), "making the union of the parts")
    server.run_all(rights_of_release(where, union, kind), "granting rights")
    namespace = namespace_of(server, union)
    assert namespace is not None
    if _findings(server, union, namespace, values, kind):
        raise InputError(
            f"The schema {union!r} has other objects than the union of the parts.",
            code="target_exists",
            hint="Move them into another schema.",
        )
    check_rights(server, where, [namespace])


def union_findings(server: Server, union: str, kind: Kind) -> list[Finding]:
    """The differences of the schema of a union from what anondb makes over parts of a kind, and rights that it gives."""
    namespace = namespace_of(server, union)
    assert namespace is not None
    said = {name: partition_of(manifest) for name, manifest in manifests(server, union).items()}
    values = {name: part[1] for name, part in said.items() if part is not None}
    return _findings(server, union, namespace, values, kind) + grant_findings(server, namespace)


def _findings(server: Server, union: str, namespace: int, values: Values, kind: Kind) -> list[Finding]:
    return compared(server, union, namespace, statements(TEMPORARY, values, kind), COMMENT)


def _values(server: Server, where: Place, kind: Kind) -> dict[str, str]:
    """The value of each part that stays beside the one at ``where``: their persons are disjoint."""
    there = {n: m for n, m in manifests(server, str(where.union)).items() if m.get("release_id") in where.beside}
    said = {name: partition_of(manifest) for name, manifest in there.items()}
    columns = {name: list(listed) for name, listed in (*kind.tables.items(), *kind.views.items())}
    of_column = {part[0] for part in said.values() if part is not None}
    for name, part in said.items():
        relations = {t.name: [c.name for c in t.columns] for t in source_tables(server, schema=name)}
        if part is None or name != f"{where.union}/{part[1]}" or relations != columns or len(of_column) > 1:
            raise InputError(
                f"The schema {name!r} is not a release of the same kind by the same column.",
                code="different_releases",
                hint="Make all parts anew: CREATE OR REPLACE ANONYMIZED VIEW.",
            )
    return {name: part[1] for name, part in said.items() if part is not None and name != where.schema}


def statements(schema: str, values: Values, kind: Kind) -> Iterator[exp.Expr | str]:
    """The statements that make the views and functions of a union in a schema, or replace them, with their comments."""
    relations = {**kind.tables, **kind.views}
    if any(PARTITION in columns for columns in relations.values()):
        raise InputError(
            f"An attribute of a partitioned view in PostgreSQL cannot be called {PARTITION!r}.",
            code="bad_name",
            hint="Rename the column in the query.",
        )
    for name, columns in relations.items():
        query = _added_counts(values) if name == "item_counts" else _each(values, partial(_shown, name, columns))
        yield exp.Create(this=place(schema, name), kind="VIEW", expression=query, replace=True)
        listed = columns if name == "item_counts" else {PARTITION: _TEXT, **columns}
        yield from relation_comments(schema, name, listed, "VIEW")
    asked = conditions(kind)
    bounds = _each(values, partial(_called, "count_bounds", len(asked), BOUNDS, False))
    body = tree_of(body_of("postgres/added_bounds", schema, {}, {"counted": bounds}))
    yield function(schema, "count_bounds", asked, BOUNDS, body, replace=True)
    if "reconstruct" in kind.macros:
        body = _each(values, partial(_called, "reconstruct", 1, TRANSACTIONS, True))
        yield function(schema, "reconstruct", {"seed": "BIGINT"}, {PARTITION: _TEXT, **TRANSACTIONS}, body, replace=True)
    yield from (comment("FUNCTION", schema, name) for name in kind.macros)


def _each(values: Values, query: Callable[[str, str], exp.Query]) -> exp.Query:
    """The rows of a query on each part."""
    return united([query(name, value) for name, value in values.items()])


def _shown(name: str, columns: Mapping[str, str], schema: str, value: str) -> exp.Query:
    """The rows of a table or view of a part, with its value."""
    return exp.select(_label(value), *map(reads.named, columns)).from_(place(schema, name))


def _called(name: str, arguments: int, columns: Mapping[str, str], labelled: bool, schema: str, value: str) -> exp.Query:
    """What a function of a part returns."""
    passed = [argument(number) for number in range(1, arguments + 1)]
    call = exp.Table(this=exp.Anonymous(this=name, expressions=passed), db=exp.to_identifier(schema, quoted=True))
    return exp.select(*([_label(value)] if labelled else []), *map(reads.named, columns)).from_(call)


def _label(value: str) -> exp.Expr:
    text = exp.cast(exp.Literal.string(value), "TEXT", dialect="postgres")
    return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True)).as_(PARTITION)


def _added_counts(values: Values) -> exp.Query:
    """The bounds of each item over all parts."""
    every = _each(values, lambda schema, _: exp.select(reads.named("item")).from_(place(schema, "released_items")))

    def of_part(schema: str, value: str) -> exp.Query:
        items = exp.select("item").from_("every_item")
        query = tree_of(body_of("postgres/counts_of_part", schema, {}, {"every_item": items}))
        for call in query.find_all(exp.Lateral):
            call.set("this", exp.Dot(this=exp.to_identifier(schema, quoted=True), expression=call.this.copy()))
        return exp.select(*map(reads.named, ITEM_COUNTS)).from_(query.subquery("part"))

    counted = _each(values, of_part)
    return tree_of(body_of("postgres/added_counts", "", {}, {"counted": counted})).with_("every_item", as_=every)
