"""What a release consists of: its schema's name, its tables, its view and its macro, and what is allowed."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from anondb.engine import Engine, Table, load
from anondb.errors import InputError, InternalError
from anondb.release.conditions import (
    VALUES,
    ReleasedAttribute,
    judged_records,
    record_columns,
    released_attributes,
)

MANIFEST_KEYS = frozenset(
    {"release_id", "model", "transactions", "semantics", "suppression", "table", "id_column", "item_column", "version"}
)
SEALED_SCHEMA = "main"
_PREFIX = "release_"

MANIFEST = {"key": "VARCHAR", "value": "VARCHAR"}


@dataclass(frozen=True)
class Kind:
    """What a kind of release consists of (design 2.4).

    Attributes:
        tables, views: columns and types of each.
        macros: parameters of each table macro.
        numbered, number: the table and the column of the random numbers, which every sealed file has anew.
        rows: the tables whose rows are the anonymized data.
        attributes: of releases with relational values: what is published of them.
        local: whether a release is read as one of a local recoding, whose released items may overlap.
    """

    tables: Mapping[str, Mapping[str, str]]
    views: Mapping[str, Mapping[str, str]]
    macros: Mapping[str, tuple[str, ...]]
    numbered: str = "transaction_ids"
    number: str = "transaction_id"
    rows: tuple[str, ...] = ("transactions",)
    attributes: tuple[ReleasedAttribute, ...] | None = None
    local: bool = False


GLOBAL = Kind(
    tables={
        "transactions": {"transaction_id": "INTEGER", "item": "VARCHAR", "copies": "INTEGER"},
        "transaction_ids": {"transaction_id": "INTEGER", "complete": "BOOLEAN"},
        "released_items": {"released_item": "VARCHAR", "item": "VARCHAR"},
        "manifest": MANIFEST,
    },
    views={"baskets": {"transaction_id": "INTEGER", "items": "VARCHAR[]"}},
    macros={"count_bounds": ("items",)},
)
LOCAL = replace(GLOBAL, local=True)
ANATOMY = Kind(
    tables={
        "buckets": {"bucket_id": "INTEGER", "column_id": "INTEGER", "items": "VARCHAR[]", "copies": "INTEGER"},
        "released_items": {"released_item": "VARCHAR", "item": "VARCHAR"},
        "manifest": MANIFEST,
    },
    views={},
    macros={"count_bounds": ("items",), "reconstruct": ("seed",)},
    numbered="buckets",
    number="bucket_id",
    rows=("buckets",),
)
# by the name of the model
KINDS: Mapping[str, Kind] = {"km": GLOBAL, "constraints": GLOBAL, "hkp": GLOBAL, "k": LOCAL, "anatomy": ANATOMY}

RELATIONAL = ("kkm", "klm")  # models whose releases have a kind of their own for each set of attributes


def relational_kind(attributes: Sequence[ReleasedAttribute]) -> Kind:
    """The kind of a release with these relational attributes; ``count_bounds`` takes a condition on each."""
    values = {"records": record_columns(attributes), "released_values": VALUES}
    return Kind(
        tables={name: GLOBAL.tables.get(name, values.get(name, {})) for name in _WITH_RECORDS},
        views=GLOBAL.views,
        macros={"count_bounds": ("items", *(a.name for a in attributes))},
        attributes=tuple(attributes),
    )


_WITH_RECORDS = ("transactions", "transaction_ids", "released_items", "records", "released_values", "manifest")


@dataclass(frozen=True)
class SchemaName:
    """A schema, qualified by its catalog (the name under which its database is attached)."""

    catalog: str
    name: str

    def table(self, name: str) -> Table:
        """The identity of a table or view in this schema."""
        return Table(self.catalog, self.name, name)

    def expression(self) -> exp.Table:
        """The quoted sqlglot node of this name."""
        return exp.Table(
            db=exp.to_identifier(self.name, quoted=True), catalog=exp.to_identifier(self.catalog, quoted=True)
        )


def same_name(left: str, right: str) -> bool:
    """Whether two schema names clash in DuckDB, or would on a system that folds the case of all letters."""
    return left.casefold() == right.casefold()


def check_name(name: str) -> str:
    """A release's name: any text but the empty one.

    Raises:
        InputError: ``bad_name``: no text, empty, or not valid Unicode.
    """
    if not isinstance(name, str) or not name:
        raise InputError("A release needs a name.", code="bad_name", hint="Name it with --release NAME.")
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("The name of the release is not valid Unicode.", code="bad_name", hint="Rename it.") from None
    return name


def release_schema(catalog: str, name: str) -> SchemaName:
    """The schema of the release ``name`` in the owner's database: ``release_<name>``."""
    return SchemaName(catalog, _PREFIX + check_name(name))


def find_schema(engine: Engine, wanted: SchemaName) -> SchemaName | None:
    """The schema whose name clashes with the wanted one (upper and lower case are the same), or None."""
    found = engine.query("release/schemas", catalog_name=wanted.catalog)["schema_name"].tolist()
    clashes = [n for n in found if same_name(n, wanted.name)]
    exact = [n for n in clashes if n == wanted.name]
    return SchemaName(wanted.catalog, (exact or clashes)[0]) if clashes else None


def new_release_id() -> str:
    """A random release number: 32 hexadecimal digits from the operating system."""
    return secrets.token_hex(16)


def _body(
    name: str, schema: str, values: Mapping[str, exp.Expression], made: Mapping[str, exp.Query] | None = None
) -> exp.Query:
    """The named query as the body of a view or macro of ``schema``, without a catalog: the file may be attached anyhow.

    Names are qualified by the schema even where it is ``main``, since a CTE of the analyst's query would capture an
    unqualified name in a macro. ``made`` are the tables that are queries themselves.
    """
    query = load(name)
    tree = query.tree.copy()
    for node in list(tree.walk()):
        node.comments = None
    for table in list(tree.find_all(exp.Table)):
        if isinstance(table.this, exp.Identifier) and table.name in query.reads:
            if table.name in (made or {}):
                fresh = (made or {})[table.name].subquery(table.alias or table.name)
                fresh.set("joins", table.args.get("joins"))
                table.replace(fresh)
                continue
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
            table.set("this", exp.to_identifier(table.name, quoted=True))
            table.set("db", exp.to_identifier(schema, quoted=True))
    if set(values) != set(query.params):
        raise InternalError(f"query {name} was bound to the wrong values")
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name.lower() == "getvariable":
            call.replace(values[call.expressions[0].name].copy())
    return tree


def definitions(schema: SchemaName, release_id: str, kind: Kind = GLOBAL) -> tuple[exp.Create, ...]:
    """The statements that create ``baskets`` and ``count_bounds(items)`` over the tables of ``schema``.

    ``count_bounds`` answers with one row (lower_bound BIGINT, estimate DOUBLE, upper_bound BIGINT): how many original
    transactions hold all items. For a local recoding each transaction is judged by what stands for the items in it
    (proof in ``sql/release/count_bounds_local.sql``). For a global recoding the bounds hold for every original that the
    release may come from, and are attained by one (proof in ``sql/release/count_bounds.sql``):

    * upper: the transactions that have the released item of every queried item;
    * lower: the same number if all those released items stand for one item each, else 0;
    * an item that no released item stands for may be anywhere if something was suppressed (it forces lower = 0 and
      leaves upper as it is), and is nowhere if nothing was.

    With relational attributes it takes a condition on each besides, and judges record by record (proof in
    ``sql/release/count_bounds_relational.sql``).

    An anatomy has no ``baskets``, but ``reconstruct(seed)``, one of the originals that it may come from. With n_j
    values in column j of a bucket of s transactions that hold the queried items of that column, and r such columns, a
    bucket adds (proof in ``sql/release/bucket_count_bounds.sql``)

    * upper: the smallest n_j;
    * lower: the sum of all n_j less (r - 1) s, or 0 if that is less;
    * estimate: s times the product of all n_j / s.
    """
    if kind is ANATOMY:
        bounds = _body("release/bucket_count_bounds", schema.name, _ITEMS, _checked(schema.name, release_id, kind))
        placed = {"in_place": _in_place("reconstruct", schema.name, release_id, kind)}
        original = _body("release/reconstruct", schema.name, {"seed": exp.column("seed")}, placed)
        return (
            _macro(schema, "count_bounds", [exp.to_identifier("items")], bounds),
            _macro(schema, "reconstruct", [exp.to_identifier("seed")], original),
        )
    view = exp.Create(
        this=schema.table("baskets").expression(),
        kind="VIEW",
        expression=_body("release/baskets", schema.name, {"schema_name": exp.Literal.string(schema.name)}),
    )
    parameters: list[exp.Expr] = [exp.to_identifier("items")]
    made = _checked(schema.name, release_id, kind)
    name = "release/count_bounds_local" if kind.local else "release/count_bounds"
    if kind.attributes is not None:
        for attribute in kind.attributes:
            named = exp.to_identifier(attribute.name, quoted=True)
            parameters.append(exp.PropertyEQ(this=named, expression=exp.null()))
        made["judged_records"] = judged_records(schema.name, kind.attributes)
        name = "release/count_bounds_relational"
    return view, _macro(schema, "count_bounds", parameters, _body(name, schema.name, _ITEMS, made))


_ITEMS: Mapping[str, exp.Expression] = {"items": exp.column("items")}


def _in_place(macro: str, schema: str, release_id: str, kind: Kind) -> exp.Query:
    """The check that a macro reads the tables of its release."""
    values = {
        "macro_name": exp.Literal.string(macro),
        "release_id": exp.Literal.string(release_id),
        "schema_name": exp.Literal.string(schema),
        "table_names": exp.Array(expressions=[exp.Literal.string(name) for name in kind.tables]),
    }
    return _body("release/in_place", schema, values)


def _checked(schema: str, release_id: str, kind: Kind) -> dict[str, exp.Query]:
    """The checks that ``count_bounds`` makes first, as the table ``checked`` of its body."""
    placed = {"in_place": _in_place("count_bounds", schema, release_id, kind)}
    return {"checked": _body("release/checked_items", schema, _ITEMS, placed)}


def _macro(schema: SchemaName, name: str, parameters: list[exp.Expr], body: exp.Query) -> exp.Create:
    """The statement that creates a table macro."""
    return exp.Create(
        this=exp.UserDefinedFunction(this=schema.table(name).expression(), expressions=parameters, wrapped=True),
        kind="MACRO",
        expression=body,
        properties=exp.Properties(
            expressions=[exp.ReturnsProperty(this=exp.Schema(this=exp.var("TABLE")), is_table=True)]
        ),
    )


def create_view_and_macro(engine: Engine, schema: SchemaName, release_id: str, kind: Kind = GLOBAL) -> None:
    """Create the views and macros of a release in the owner's database."""
    for statement in definitions(schema, release_id, kind):
        engine.run(statement, "creating the views and macros of a release")


def release_kind(engine: Engine, schema: SchemaName) -> Kind | None:
    """The kind of release that lies in a schema, by its manifest's model; None where it is none, or a table is missing."""
    found = engine.query("release/columns", catalog_name=schema.catalog, schema=schema.name)
    columns: dict[str, dict[str, str]] = {}
    for table, column, of_type in zip(*(found[c].tolist() for c in found), strict=True):
        columns.setdefault(table, {})[column] = of_type
    if columns.get("manifest") != MANIFEST:
        return None
    model = read_manifest(engine, schema).get("model", "")
    if model in RELATIONAL:
        kind: Kind | None = relational_kind(released_attributes(columns.get("records", {})))
    else:
        kind = KINDS.get(model)
    if kind is None or any(columns.get(name) != wanted for name, wanted in kind.tables.items()):
        return None
    return as_read(engine, schema, kind)


def as_read(engine: Engine, schema: SchemaName, kind: Kind) -> Kind:
    """The kind of a release whose rows decide whether it is read as one of a local recoding."""
    if kind.local or kind is ANATOMY:  # an anatomy recodes no items
        return kind
    read = ("manifest", "released_items", "transaction_ids")
    return replace(kind, local=bool(engine.scalar("release/is_local", {name: schema.table(name) for name in read})))


def is_local(engine: Engine, schema: SchemaName) -> bool:
    """Whether a release is read as one of a local recoding, whose released items may overlap."""
    kind = release_kind(engine, schema)
    return kind is not None and kind.local


def allowed_objects(schema: str, kind: Kind = GLOBAL) -> set[tuple[str, ...]]:
    """All that a release of a kind has, as ``release/objects`` has it: schema, kind of object, name, part, detail."""
    allowed: set[tuple[str, ...]] = {(schema, "schema", "", "", "")}
    for what, relations in (("table", kind.tables), ("view", kind.views)):
        for name, columns in relations.items():
            allowed.add((schema, what, name, "", ""))
            allowed.update((schema, "column", name, column, of_type) for column, of_type in columns.items())
    allowed.update((schema, "function", name, ",".join(parts), "table_macro") for name, parts in kind.macros.items())
    return allowed


def listed_objects(engine: Engine, catalog: str, *, macros: bool = True) -> dict[tuple[str, ...], str]:
    """Everything that the catalog of a database holds, in the same form, with the text of views and macros ('' else).

    Looking macros up takes most of the time.
    """
    listed: dict[tuple[str, ...], str] = {}
    for name in ("release/objects", "release/macros") if macros else ("release/objects",):
        found = engine.query(name, catalog_name=catalog)
        columns = (found[c].tolist() for c in ("schema_name", "kind", "name", "part", "detail"))
        listed.update(zip(zip(*columns, strict=True), found["text"].tolist(), strict=True))
    return listed


def unexpected_objects(
    engine: Engine, schema: SchemaName, kind: Kind = GLOBAL, *, macros: bool = True
) -> list[tuple[str, ...]]:
    """What a release has and must not have, or lacks; a sealed file may have nothing beside its schema ``main``."""
    found, allowed = set(listed_objects(engine, schema.catalog, macros=macros)), allowed_objects(schema.name, kind)
    if schema.name != SEALED_SCHEMA:
        found = {o for o in found if o[0] == schema.name}
    if not macros:
        allowed = {o for o in allowed if o[1] != "function"}
    return sorted(found ^ allowed)


def read_manifest(engine: Engine, schema: SchemaName) -> dict[str, str]:
    """What a release says about itself: its model and parameters, N, semantics, and so on, all as text."""
    found = engine.query("release/manifest", {"manifest": schema.table("manifest")})
    return dict(zip(found["key"].tolist(), found["value"].tolist(), strict=True))
