"""Anonymized views by their names: renamed, described, and read in ordinary SQL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot.errors import SqlglotError

from anondb.engine import DuckDBEngine, Engine, Table, reads
from anondb.engine.texts import sql
from anondb.engine.trees import exp, united
from anondb.errors import AnondbError, InputError
from anondb.ledger import ledger, stored, tables
from anondb.models.named import parameters_of
from anondb.publications import history
from anondb.release.definitions import create_views_and_macros
from anondb.release.freeze import drop_schema
from anondb.release.objects import ROW_ORDER, SchemaName, find_schema, read_release, release_schema, same_name
from anondb.statements.statement import CreateView
from anondb.statements.tokens import tokens_of
from anondb.views.parts import Part, parts_of
from anondb.views.results import Described, Renamed, Stated
from anondb.views.views import partitioned_view, stored_view


def check_not_its_own(engine: DuckDBEngine, statement: CreateView) -> None:
    """Refuse a query that reads the release of the view that it defines, also through views of the owner. Raises InputError:
    ``own_release``."""
    if not engine.runs_sql:
        return
    owners = "NOT internal AND NOT starts_with(lower(schema_name), 'release_')"
    rows = engine.select(reads.rows(reads.system("duckdb_views"), "view_name AS name, sql AS text", where=owners))
    texts = dict(zip((name.lower() for name in rows["name"].tolist()), rows["text"].tolist(), strict=True))
    unread = [statement.query]
    while unread:
        words = [token.text.lower() for token in tokens_of(unread.pop())]
        if (f"release_{statement.name}".lower(), ".") in pairwise(words):
            raise InputError(
                "The query of the view reads its own release, through another view.",
                code="own_release",
                hint="Select from the original table.",
            )
        unread += [texts.pop(word) for word in words if word in texts]


def rename(engine: DuckDBEngine, name: str, new_name: str) -> Renamed:
    """Give a view and its releases another name; published files stay as they are. Raises InputError: the view does not
    exist, or another release or view has the name."""
    partitioned = partitioned_view(engine, name)
    with engine.transaction():
        catalog = stored.current_catalog(engine)
        stored.check_writable(engine, catalog)
        parts = parts_of(engine, catalog, name)
        if partitioned is None:
            entry, _ = stored_view(engine, name)
            pairs = [(entry.name, new_name, entry.release_id)]
        else:
            pairs = [(p.release, f"{new_name}/{p.partition.value}", p.release_id) for p in parts]
        _check_free(engine, catalog, [new_name, *(pair[1] for pair in pairs)], name)
        for old, new, release_id in pairs:
            _move(engine, release_schema(catalog, old), release_schema(catalog, new))
            tables.RELEASES.change(engine, catalog, release_id, name=new)
            tables.VIEWS.change(engine, catalog, release_id, name=new_name, release=new)
    return Renamed(name, new_name)


def _check_free(engine: Engine, catalog: str, names: Sequence[str], old: str) -> None:
    taken = any(find_schema(engine, release_schema(catalog, name)) is not None for name in names)
    if taken or parts_of(engine, catalog, names[0]) or same_name(names[0], old):
        raise InputError("A view or release of the new name exists already.", code="release_exists", hint="Choose another.")


def _move(engine: Engine, old: SchemaName, new: SchemaName) -> None:
    """Move the release of a schema into another one, which DuckDB cannot rename."""
    place = find_schema(engine, old)
    release = None if place is None else read_release(engine, place)
    if release is None:
        raise InputError(f"The schema {old.name!r} does not hold a release.", code="not_a_release")
    engine.run(new.creation(), "creating the schema of the release")
    for name, columns in release.kind.tables.items():
        listed = [reads.named(c) for c in columns]
        order = [reads.named(c) for c in ROW_ORDER[name]]
        engine.create(new.table(name), exp.select(*listed).from_(release.schema.table(name).expression()).order_by(*order))
    create_views_and_macros(engine, new, release.release_id, release.kind)
    drop_schema(engine, release.schema)


def describe(engine: DuckDBEngine, name: str, statement: bool) -> Described | Stated:
    """The facts on a view, or the statement that makes it."""
    partitioned = partitioned_view(engine, name)
    with engine.transaction():
        catalog = stored.current_catalog(engine)
        parts = parts_of(engine, catalog, name)
        if partitioned is None:
            entry, view = stored_view(engine, name)
        else:
            view = partitioned
            entry = next(e for e in ledger.entries(engine, catalog) if e.release_id == parts[-1].release_id)
        text = CreateView(view.name, view.query, view.options).text
        if statement:
            return Stated(view.name, text)
        public = history.publications(engine, catalog)
    files = {p.release_id: p.file for p in public}
    facts: list[tuple[str, Any]] = [
        ("name", view.name),
        ("query", view.query),
        *((name, value) for name, value in view.options.items()),
        ("promise", ", ".join([entry.model, *(f"{n} = {v}" for n, v in _parameters(entry))])),
        ("algorithm", entry.algorithm),
        ("source table", entry.source_table),
    ]
    if not parts:
        facts += [("transactions", entry.transactions), ("released items", entry.released_items)]
        facts += [("published", files.get(entry.release_id, "never"))]
        return Described(view.name, tuple(facts))
    facts += [("transactions", sum(part.transactions for part in parts))]
    facts += [(f"part {part.partition.value}", _part(part, files)) for part in parts]
    return Described(view.name, tuple(facts))


def _parameters(entry: ledger.LedgerEntry) -> list[tuple[str, Any]]:
    return [(name, entry.parameters.get(name)) for name in parameters_of(entry.model) if name in entry.parameters]


def _part(part: Part, files: dict[str, str]) -> str:
    file = files.get(part.release_id)
    return f"{part.transactions:,} transactions, " + (file or "not published")


@contextlib.contextmanager
def readable(engine: DuckDBEngine, text: str) -> Iterator[str]:
    """Let ordinary SQL select from anonymized views by their names, during the block; returns the statement to run. A name
    that is no table or view of the owner becomes a temporary view of the released rows: ``transactions`` of the release or,
    of a partitioned view, of all its releases, with the value in front. The statement has it without the database and the
    schema, which a temporary view does not have."""
    temporary_views: list[Table] = []
    run = text
    with contextlib.suppress(AnondbError):  # then DuckDB refuses the statement for a better reason
        meant = list(_meant(engine, text))
        for name, query in {table.name: query for table, query in meant}.items():
            temporary_views.append(Table("temp", "main", name))
            named = exp.Table(this=exp.to_identifier(name, quoted=True))
            temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
            engine.run(exp.Create(this=named, kind="VIEW", expression=query, properties=temporary), "naming a view")
        run = _unqualified(text, [table for table, _ in meant])
    try:
        yield run
    finally:
        for view in temporary_views:
            with contextlib.suppress(AnondbError):
                engine.run(exp.Drop(tables=[view.expression()], kind="VIEW", exists=True), "forgetting the name of a view")


def _selected(text: str, catalog: str) -> list[exp.Table]:
    """The tables that a statement selects from, whose names are plain, or those of the current database and of ``main``."""
    try:
        trees = sqlglot.parse(text, dialect="duckdb")
    except (SqlglotError, RecursionError):
        return []
    here = catalog.lower()
    places = {("", ""), ("", "main"), ("", here), (here, "main")}
    return [
        table
        for tree in trees
        if tree is not None
        for table in tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and isinstance(table.parent, exp.From | exp.Join)
        if (table.catalog.lower(), table.db.lower()) in places
    ]


def _unqualified(text: str, tables: Sequence[exp.Table]) -> str:
    """A statement in which some tables have their names alone."""
    spans = sorted((table.parts[0].meta["start"], table.this.meta["start"]) for table in tables if table.db)
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


def _meant(engine: DuckDBEngine, text: str) -> Iterator[tuple[exp.Table, exp.Query]]:
    """The views that a statement selects from, with their released rows; a table of the owner comes before a view."""
    catalog = stored.current_catalog(engine)
    if not tables.VIEWS.present(engine, catalog):
        return
    noted, releases = tables.VIEWS.at(catalog), tables.RELEASES.at(catalog)
    present = sql("other.status = {}", ledger.PRESENT)
    named = reads.joined(noted, releases, "release_id", "one.name", where=present, order="name", distinct=True)
    views = engine.select(named)["name"].tolist()
    if not any(view.lower() in text.lower() for view in views):
        return
    for table in _selected(text, catalog):
        view = next((v for v in views if same_name(v, table.name)), None)
        if view is None or engine.query("transactions/catalog", wanted=table.name.lower())["table_name"].tolist():
            continue
        parts = parts_of(engine, catalog, view)
        rows = [_released(engine, part.release, part) for part in parts]
        rows = rows or [_released(engine, view, None)]
        yield table, united(rows)


def _released(engine: DuckDBEngine, release: str, part: Part | None) -> exp.Select:
    whole = stored.find_whole(engine, release)
    table = "transactions" if "transactions" in whole.kind.views else whole.kind.rows
    columns = whole.kind.views.get(table) or whole.kind.tables[table]
    listed: list[exp.Expr] = [reads.named(c) for c in columns]
    if part is not None:
        listed.insert(0, exp.Literal.string(part.partition.value).as_(part.partition.column, quoted=True))
    return exp.select(*listed).from_(whole.schema.table(table).expression())
