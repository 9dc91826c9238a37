"""The owner's database in PostgreSQL: an engine on DuckDB that fetches what it needs, and writes back what it changed.

DuckDB works in memory. Its transaction is one REPEATABLE READ transaction of PostgreSQL too: the ledger (schema ``anondb``)
and the frozen releases (``release_<name>``) are fetched from there, tables of the owner when they are named, and at the end
the changes of ledger and releases are written there. A row with a random version lets one of two concurrent owners fail.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlglot import exp

from anondb.engine import DuckDBEngine, Table
from anondb.engine.elsewhere import Name
from anondb.errors import AnondbError, EngineError, InputError
from anondb.postgres.fetched import (
    BEFORE,
    CATALOG,
    LEDGER,
    Fetched,
    changes,
    duckdb_table,
    folded,
    is_owners,
    rows_apart,
    tables_of,
)
from anondb.postgres.place import Place, check_name
from anondb.postgres.server import Server
from anondb.postgres.tables import SourceTable, creation, place, reading, removals, schema_creation, source_tables
from anondb.release.definitions import create_views_and_macros
from anondb.release.objects import ROW_ORDER, SchemaName, read_manifest, read_release

_STATE = "state"
_OURS = [f'"{CATALOG}"."{name}' for name in (LEDGER, "release_")]  # in every statement on the ledger or a release
_MAIN = "main"


class PostgresEngine(DuckDBEngine):
    """DuckDB in memory on a database of PostgreSQL. ``connect`` opens one."""

    runs_sql = False
    server: Server
    read_only: bool

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._fetched = Fetched()

    @classmethod
    def connect(
        cls,
        place: Place,
        *,
        threads: int | None = None,
        memory_limit: str | None = None,
        read_only: bool = False,
        on_statement: Callable[[str], None] | None = None,
        on_progress: Callable[[str], None] | None = None,
    ) -> PostgresEngine:
        """Connect to the owner's database, and fetch its ledger.

        Raises:
            AnondbError: see ``Server``.
        """
        server = Server(place, on_statement)
        try:
            engine = cls.open(
                threads=threads,
                memory_limit=memory_limit,
                on_statement=on_statement,
                on_progress=on_progress,
                one_shot=True,
            )
        except BaseException:
            server.close()
            raise
        assert isinstance(engine, cls)
        engine.one_shot, engine.server, engine.read_only = False, server, read_only
        try:
            engine._set_path(server.path)
            with engine.transaction():
                pass
        except BaseException:
            engine.close()
            raise
        return engine

    def _set_path(self, path: Sequence[str]) -> None:
        """Look names without a schema up where PostgreSQL does."""
        for schema in path:
            self._make_schema(schema)
        names = ",".join(exp.to_identifier(name, quoted=True).sql("duckdb") for name in (*path, _MAIN))
        item = exp.EQ(this=exp.var("search_path"), expression=exp.Literal.string(names))
        self.run(exp.Set(expressions=[exp.SetItem(this=item)]), "choosing schemas")

    def say(self, text: str) -> None:
        """Report a statement; note whether it names the ledger or a release, which then may have to be written back."""
        super().say(text)
        if not self._fetched.touched and any(place in text for place in _OURS):
            self._fetched.touched = True

    def close(self) -> None:
        """Close both connections."""
        self.server.close()
        super().close()

    # ------------------------------------------------------------------ transactions

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction here and one in PostgreSQL, which sees one snapshot."""
        before = self._fetched.copy()
        self.server.begin(read_only=self.read_only)
        self.at_the_end(self._commit, self.server.rollback)
        try:
            with super().transaction():
                self._fetched.inside = True
                self._forget_sources()
                self._refresh()
                self._fetched.touched = False
                yield
                self._forget_sources()
                if self._fetched.touched and not self.read_only:
                    self._write_back()
        except BaseException:
            if not self._fetched.kept:
                self._fetched = before
            raise
        finally:
            self._fetched.inside = self._fetched.kept = False

    def _commit(self) -> None:
        """Commit in PostgreSQL, after DuckDB; if that fails, everything is fetched anew."""
        self._fetched.kept = True
        try:
            self.server.commit()
        except AnondbError:
            self._fetched = Fetched()
            self._fetched.releases = {name: "" for name in self._schemas() if name.lower().startswith("release_")}
            self._fetched.kept = True
            raise

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """The transaction of PostgreSQL that is open, or one for the block."""
        if self._fetched.inside:
            yield
            return
        with self.server.undone():
            yield

    # ------------------------------------------------------------------ the owner's tables

    def look_up(self, names: Sequence[Name]) -> None:
        """Make empty tables here for the tables of the owner with one of these names."""
        for catalog, schema, name in names:
            if (catalog or CATALOG) != CATALOG:
                continue
            with self._reading():
                tables = source_tables(self.server, wanted=name.lower())
            for table in tables:
                known = (table.schema, table.name) in self._fetched.sources
                if not known and is_owners(table) and (schema or table.schema).lower() == table.schema.lower():
                    self._make_stub(table)

    def _make_stub(self, table: SourceTable) -> None:
        clash = [s for s in self._fetched.sources if folded(*s) == folded(table.schema, table.name)]
        if clash:
            raise InputError(
                f"Names of schemas or tables like {table.schema}.{table.name} differ by case only.",
                code="ambiguous_table",
                hint="Rename one, or select it in a view.",
            )
        self._make_schema(table.schema)
        with self._reading():
            types = reading(self.server, table).types
        self.run(duckdb_table(Table(CATALOG, table.schema, table.name), types), "making an empty table")
        self._fetched.sources[table.schema, table.name] = table

    def know(self, query: exp.Query) -> None:
        """Make empty tables here for the owner's tables that a query names."""
        for node in tables_of(query):
            self.look_up([(node.catalog or None, node.db or None, node.name)])

    def at_hand(self, query: exp.Query) -> None:
        """Fetch the rows of the owner's tables that a query names."""
        self.know(query)
        for node in tables_of(query):
            for table in self._meant(node.db.lower(), node.name.lower()):
                if (table.schema, table.name) not in self._fetched.filled:
                    self._fetch_rows(table)

    def _meant(self, schema: str, name: str) -> list[SourceTable]:
        """The tables of a name in lower case: without a schema, the first in the search path."""
        alike = [t for t in self._fetched.sources.values() if t.name.lower() == name]
        if schema:
            return [t for t in alike if t.schema.lower() == schema]
        path = self.server.path
        return sorted((t for t in alike if t.schema in path), key=lambda t: path.index(t.schema))[:1]

    def _fetch_rows(self, table: SourceTable) -> None:
        """Fetch the rows of a table."""
        self._fetched.filled.add((table.schema, table.name))
        self.progress(f"fetching {table.schema}.{table.name}")
        with self._reading():
            how = reading(self.server, table)
            self._take(how.query, Table(CATALOG, table.schema, table.name), dict(how.types), f"reading {table.name!r}")

    def _take(self, query: exp.Query, target: Table, types: dict[str, str], what: str) -> None:
        """Insert the rows of a query of PostgreSQL into a table here."""
        with self.server.stream(query, what) as rows, self.registered(rows) as view:
            values = [exp.column(exp.to_identifier(name, quoted=True)) for name in types]
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

    def _forget_sources(self) -> None:
        """Drop the owner's tables here: the next transaction reads them again."""
        for table in self._fetched.sources.values():
            self.drop(Table(CATALOG, table.schema, table.name))
        self._fetched.sources.clear()
        self._fetched.filled.clear()

    # ------------------------------------------------------------------ ledger and releases: fetching

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
            if brought is None and not any(
                n.casefold() == name.casefold() for n in self._fetched.releases if n != name
            ):
                self._make_schema(name)
                self._fetched.releases[name] = None

    def _version(self) -> str | None:
        versions = exp.select(exp.cast(exp.column("version"), "TEXT").as_("version")).from_(place(LEDGER, _STATE))
        rows = self.server.rows(versions, "the version of the ledger").to_pydict()["version"]
        return str(rows[0]) if rows else None

    def _stored_id(self, schema: str) -> str | None:
        """The number of the release in a schema of PostgreSQL; None if it holds none."""
        tables = source_tables(self.server, wanted="manifest", schema=schema)
        if not tables:
            return None
        query = exp.select("value").from_(tables[0].expression()).where(exp.column("key").eq("release_id"))
        rows = self.server.rows(query, "the number of a release").to_pydict()["value"]
        return str(rows[0]) if rows else None

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
        release = read_release(self, schema)
        if release is not None:
            create_views_and_macros(self, schema, release.manifest["release_id"], release.kind)
            self._fetched.releases[name] = release.manifest["release_id"]

    # ------------------------------------------------------------------ ledger and releases: writing

    def _write_back(self) -> None:
        """Write what the transaction changed of the ledger and of the releases."""
        present = {name.casefold(): name for name in self._schemas() if name.lower().startswith("release_")}
        made = {}
        for name in present.values():
            fetched = self._fetched.releases.get(name, "")
            if fetched is not None and self._id_of(name) not in (None, fetched):
                release = read_release(self, SchemaName(CATALOG, name))
                if release is not None:
                    made[name] = release
        gone = [name for name in self._fetched.releases if name.casefold() not in present or name in made]
        changed = changes(self, self._ledger(), {name for name, _, _ in self._columns(BEFORE)})
        if not (made or gone or changed):
            return
        self._begin_writing()
        for name in gone:
            tables = [t.name for t in source_tables(self.server, schema=name) if t.kind == "r" and t.name in ROW_ORDER]
            self.server.run_all(removals(name, tables), "dropping a release")
            del self._fetched.releases[name]
        for name, release in made.items():
            self.server.run(schema_creation(check_name(name)), "making a schema")
            for table, columns in release.kind.tables.items():
                self.server.run(creation(name, table, columns), "making a table")
                self._send(exp.select("*").from_(Table(CATALOG, name, table).expression()), name, table)
            self._fetched.releases[name] = release.manifest["release_id"]
        for name, lost in changed.items():
            self._write_ledger(name, lost)
        self._fetched.version = self._version()

    def _begin_writing(self) -> None:
        """Make the ledger's schema if it is missing, and change its version: of two concurrent writers one fails."""
        state = creation(LEDGER, _STATE, {"version": "VARCHAR"})
        state.set("exists", True)
        new = exp.cast(exp.func("gen_random_uuid"), "TEXT")
        if self._fetched.version is None:
            self.server.run_all([schema_creation(LEDGER, exists=True), state], "making the ledger")
            first = exp.Insert(this=place(LEDGER, _STATE), expression=exp.select(new))
            self.server.run(first, "making the ledger")
        else:
            self.server.run(exp.update(place(LEDGER, _STATE), {"version": new}), "changing the ledger")

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
            self.server.run(creation(LEDGER, name, self._types(now)), "making the ledger")
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

    # ------------------------------------------------------------------ schemas here

    def _schemas(self) -> list[str]:
        return [str(name) for name in self.query("release/schemas", catalog_name=CATALOG)["schema_name"]]

    def _make_schema(self, name: str) -> None:
        self.run(exp.Create(this=SchemaName(CATALOG, name).expression(), kind="SCHEMA", exists=True), "making a schema")

    def _drop_schema(self, name: str) -> None:
        gone = SchemaName(CATALOG, name).expression()
        self.run(exp.Drop(tables=[gone], kind="SCHEMA", exists=True, cascade=True), "dropping a schema")

    def _ledger(self) -> list[str]:
        """The tables of the ledger."""
        return sorted({table for table, _, _ in self._columns(LEDGER)})

    def _types(self, table: Table) -> dict[str, str]:
        return {column: kind for name, column, kind in self._columns(table.schema) if name == table.name}

    def _columns(self, schema: str) -> list[tuple[str, str, str]]:
        rows = self.query("release/columns", catalog_name=CATALOG, schema=schema)
        return list(zip(*(column.tolist() for column in rows.values()), strict=True))
