"""The ledger and the frozen releases in PostgreSQL: fetched into DuckDB when they are needed, written back if changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from anondb.engine import DuckDBEngine, Table, tuples
from anondb.engine.trees import exp
from anondb.errors import EngineError, InputError
from anondb.release.definitions import create_views_and_macros
from anondb.release.objects import ROW_ORDER, SchemaName, read_manifest, read_release, schema_names
from anondb.warehouse.postgres.catalog import default_privileges, manifest_in, namespace_of
from anondb.warehouse.postgres.fetched import BEFORE, CATALOG, LEDGER, Fetched, changes, duckdb_table, kept_value, rows_apart
from anondb.warehouse.postgres.place import check_name
from anondb.warehouse.postgres.server import Server
from anondb.warehouse.postgres.tables import SourceTable, creation, place, reading, removals, schema_creation, source_tables

_STATE = "state"


class LedgerEngine(DuckDBEngine):
    """DuckDB in memory, with the ledger and the releases of a database of PostgreSQL."""

    server: Server

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._fetched = Fetched()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """The transaction of PostgreSQL that is open, or one for the block."""
        if self.server.inside:
            yield
            return
        with self.server.undone():
            yield

    def _take(self, query: exp.Query, target: Table, types: dict[str, str], what: str) -> None:
        """Insert the rows of a query of PostgreSQL into a table here."""
        with self.server.stream(query, what) as rows, self.registered(rows) as view:
            values = [kept_value(name, kind) for name, kind in types.items()]
            source = exp.select(*values).from_(view.expression())
            try:
                self.run(exp.Insert(this=target.expression(), expression=source), what)
            except EngineError as error:
                if error.code != "refused":
                    raise
                raise InputError(
                    f"A value of the table {target.name!r} does not fit into a type of DuckDB.",
                    code="unreadable",
                    hint="Cast the column to text in a view, and use that.",
                ) from None

    def _refresh(self) -> None:
        """Fetch the ledger if it has changed; list the releases, and forget those that have changed."""
        owned = self.server.query("postgres/owned")
        schemas = dict(zip(owned["schema_name"], owned["has_state"], strict=True))
        version = self._version() if schemas.pop(LEDGER, False) else None
        if version != self._fetched.version:
            self._fetch_ledger()
            self._fetched.version = version
        for name in [n for n in self._fetched.releases if n not in schemas]:
            self._drop_schema(name)
            del self._fetched.releases[name]
        for name in schemas:
            brought = self._fetched.releases.get(name)
            if brought is not None and self._stored_id(name) != brought:
                self._drop_schema(name)
                brought = None
            if brought is None and not any(n.casefold() == name.casefold() for n in self._fetched.releases if n != name):
                self._make_schema(name)
                self._fetched.releases[name] = None

    def _version(self) -> str | None:
        versions = exp.select(exp.cast(exp.column("version"), "TEXT").as_("version")).from_(place(LEDGER, _STATE))
        rows = self.server.rows(versions, "the version of the ledger").to_pydict()["version"]
        return str(rows[0]) if rows else None

    def _stored_id(self, schema: str) -> str | None:
        """The number of the release in a schema of PostgreSQL; None if it holds none."""
        there = source_tables(self.server, wanted="manifest", schema=schema)
        return manifest_in(self.server, schema).get("release_id") if there else None

    def _fetch_ledger(self) -> None:
        for schema in (LEDGER, BEFORE):
            self._drop_schema(schema)
            self._make_schema(schema)
        for table in source_tables(self.server, schema=LEDGER):
            if table.kind == "r" and table.name != _STATE:
                self._fetch_stored(table, LEDGER)
                self._keep_copy(table.name)

    def _keep_copy(self, name: str) -> None:
        """Remember what PostgreSQL has of a table of the ledger."""
        self.drop(Table(CATALOG, BEFORE, name))
        self.create(Table(CATALOG, BEFORE, name), exp.select("*").from_(Table(CATALOG, LEDGER, name).expression()))

    def _fetch_stored(self, table: SourceTable, schema: str) -> None:
        """Make a table that anondb wrote here, with its rows in their order."""
        how = reading(self.server, table, stored_order=True)
        target = Table(CATALOG, schema, table.name)
        self.run(duckdb_table(target, dict(how.types)), "making a table")
        self._take(how.query, target, dict(how.types), "fetching what anondb wrote")

    def open_schema(self, name: str) -> None:
        """Fetch the frozen release in a schema ``release_<name>``, unless it is here."""
        if self._fetched.releases.get(name, "") is not None:
            return
        with self._reading():
            for table in source_tables(self.server, schema=name):
                if table.kind == "r" and table.name in ROW_ORDER:
                    self._fetch_stored(table, name)
        schema = SchemaName(CATALOG, name)
        if (release := read_release(self, schema)) is not None:
            create_views_and_macros(self, schema, release.release_id, release.kind)
            self._fetched.releases[name] = release.release_id

    def _write_back(self) -> None:
        """Write what the transaction changed of the ledger and of the releases."""
        present = {name.casefold(): name for name in self._releases()}
        created = {}
        for name in present.values():
            fetched = self._fetched.releases.get(name, "")
            made = fetched is not None and self._id_of(name) not in (None, fetched)
            if made and (release := read_release(self, SchemaName(CATALOG, name))) is not None:
                created[name] = release
        gone = [name for name in self._fetched.releases if name.casefold() not in present or name in created]
        now = sorted({table for table, _, _ in self._columns(LEDGER)})
        changed = changes(self, now, {name for name, _, _ in self._columns(BEFORE)})
        if not (created or gone or changed):
            return
        self._begin_writing()
        for name in gone:
            tables = [t.name for t in source_tables(self.server, schema=name) if t.kind == "r" and t.name in ROW_ORDER]
            self.server.run_all(removals(name, tables), "dropping a release")
            del self._fetched.releases[name]
        for name, release in created.items():
            self._make_closed(check_name(name))
            for table, columns in release.kind.tables.items():
                self.server.run(creation(name, table, columns), "making a table")
                self._send(exp.select("*").from_(Table(CATALOG, name, table).expression()), name, table)
            self._fetched.releases[name] = release.release_id
        for name, lost in changed.items():
            self._write_ledger(name, lost)
        self._fetched.version = self._version()

    def claim(self) -> None:
        """Let no other transaction write into the ledger until this one ends. Raises EngineError: ``conflict``."""
        with self._reading():
            if not self.server.query("postgres/claim")["claimed"][0]:
                raise EngineError(
                    "Another run is at work in this database.", code="conflict", hint="Run it again when that has ended."
                )

    def _begin_writing(self) -> None:
        """Make the ledger's schema if it is missing, and change its version, which fails if it changed meanwhile."""
        self.claim()
        state = creation(LEDGER, _STATE, {"version": "VARCHAR"})
        state.set("exists", True)
        new = exp.cast(exp.func("gen_random_uuid"), "TEXT")
        if self._fetched.version is None:
            self._make_closed(LEDGER, exists=True)
            self.server.run(state, "making the ledger")
            first = exp.Insert(this=place(LEDGER, _STATE), expression=exp.select(new))
            self.server.run(first, "making the ledger")
        else:
            self.server.run(exp.update(place(LEDGER, _STATE), {"version": new}), "changing the ledger")

    def _make_closed(self, schema: str, *, exists: bool = False) -> None:
        """Make a schema in PostgreSQL that nobody else may use: without that right, none to its tables has an effect."""
        self.server.run(schema_creation(schema, exists=exists), "making a schema")
        if (namespace := namespace_of(self.server, schema)) is None:
            raise EngineError(
                "Another process made the ledger at the same time.", code="conflict", hint="Nothing was kept: run it again."
            )
        if self.server.query("postgres/grants", namespace=namespace)["grantee"]:
            raise default_privileges("on the ledger and the frozen releases")

    def _id_of(self, schema: str) -> str | None:
        """The number of the release in a schema here; None if it holds none."""
        manifest = SchemaName(CATALOG, schema).table("manifest")
        if not self.exists(manifest):
            return None
        return read_manifest(self, SchemaName(CATALOG, schema)).get("release_id")

    def _write_ledger(self, name: str, lost: bool) -> None:
        """Add the new rows of a table of the ledger; write all of it anew if rows were ``lost``."""
        now, before = Table(CATALOG, LEDGER, name), Table(CATALOG, BEFORE, name)
        rows: exp.Query = exp.select("*").from_(now.expression())
        if not self.exists(before):
            types = {column: kind for table, column, kind in self._columns(LEDGER) if table == name}
            self.server.run(creation(LEDGER, name, types), "making the ledger")
        elif lost:
            self.server.run(exp.delete(place(LEDGER, name)), "writing the ledger")
        else:
            rows = rows_apart(now, before)
        self._send(rows, LEDGER, name)
        self._keep_copy(name)

    def _send(self, rows: exp.Query, schema: str, table: str) -> None:
        """Insert the rows of a query here into a table of PostgreSQL."""
        relation = self.relation(rows)
        unread = EngineError("Rows could not be read.", code="refused")
        self.server.insert(schema, table, self.guarded(relation.to_arrow_table, lambda _: unread))

    def _releases(self) -> list[str]:
        return [name for name in schema_names(self, CATALOG) if name.lower().startswith("release_")]

    def _make_schema(self, name: str) -> None:
        self.run(SchemaName(CATALOG, name).creation(exists=True), "making a schema")

    def _drop_schema(self, name: str) -> None:
        self.run(SchemaName(CATALOG, name).removal(), "dropping a schema")

    def _columns(self, schema: str) -> list[tuple[str, str, str]]:
        rows = self.query("release/columns", catalog_name=CATALOG, schema=schema)
        return list(tuples(rows))
