"""The owner's database in PostgreSQL: an engine on DuckDB that fetches what it needs, and writes back what it changed.

DuckDB works in memory. Its transaction is one REPEATABLE READ transaction of PostgreSQL too: the ledger (schema ``anondb``)
and the frozen releases (``release_<name>``) are fetched from there, tables of the owner when they are named, and at the end
the changes of ledger and releases are written there. A row with a random version lets one of two concurrent owners fail.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from anondb.engine import AnyQuery, Table
from anondb.engine.elsewhere import Name
from anondb.engine.trees import exp
from anondb.errors import AnondbError, InputError
from anondb.warehouse.postgres.fetched import CATALOG, LEDGER, Fetched, duckdb_table, folded, is_owners, tables_of
from anondb.warehouse.postgres.ledger import LedgerEngine
from anondb.warehouse.postgres.place import Place
from anondb.warehouse.postgres.server import Server
from anondb.warehouse.postgres.tables import SourceTable, reading, source_tables
from anondb.warehouse.postgres.warehouse import PostgresWarehouse

_OURS = [f'"{CATALOG}"."{name}' for name in (LEDGER, "release_")]  # in every statement on the ledger or a release
_MAIN = "main"


class PostgresEngine(LedgerEngine):
    """DuckDB in memory on a database of PostgreSQL. ``connect`` opens one."""

    runs_sql = False
    read_only: bool

    @classmethod
    def connect(cls, place: Place, *, read_only: bool = False, **settings: Any) -> PostgresEngine:
        """Connect to the owner's database, and fetch its ledger; ``settings`` are those of ``open``. Raises AnondbError: see
        ``Server``."""
        server = Server(place, settings.get("on_statement"))
        try:
            engine = cls.open(one_shot=True, **settings)
        except BaseException:
            server.close()
            raise
        assert isinstance(engine, cls)
        engine.one_shot, engine.server, engine.read_only = False, server, read_only
        try:
            engine._set_path(server.path)
            engine.look_again()
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

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction here and one in PostgreSQL, which sees one snapshot."""
        before = deepcopy(self._fetched)
        self.server.begin(read_only=self.read_only)
        self.at_the_end(self._commit, self.server.rollback)
        try:
            with super().transaction():
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
            self._fetched.kept = False

    def look_again(self) -> None:
        """Fetch the ledger if another process has changed it since the last transaction."""
        with self.transaction():
            pass

    def _commit(self) -> None:
        """Commit in PostgreSQL, after DuckDB; if that fails, everything is fetched anew."""
        self._fetched.kept = True
        try:
            self.server.commit()
        except AnondbError:
            self._fetched = Fetched(releases=dict.fromkeys(self._releases(), ""), kept=True)
            raise

    def warehouse(self) -> PostgresWarehouse:
        """The database as a warehouse, which works in its transaction."""
        return PostgresWarehouse(self.server, on_progress=self.progress)

    def look_up(self, names: Sequence[Name]) -> None:
        """Make empty tables here for the tables of the owner with one of these names."""
        for catalog, schema, name in names:
            if (catalog or CATALOG) != CATALOG:
                continue
            with self._reading():
                tables = source_tables(self.server, wanted=name.lower())
            for table in tables:
                declared = (table.schema, table.name) in self._fetched.sources
                if not declared and is_owners(table) and (schema or table.schema).lower() == table.schema.lower():
                    self._make_stub(table)

    def look_up_all(self) -> None:
        """Make empty tables here for all tables of the owner."""
        with self._reading():
            tables = source_tables(self.server)
        self.look_up([(None, table.schema, table.name) for table in tables if is_owners(table)])

    def _make_stub(self, table: SourceTable) -> None:
        if any(folded(*source) == folded(table.schema, table.name) for source in self._fetched.sources):
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

    def declare_tables(self, query: AnyQuery) -> None:
        """Make empty tables here for the owner's tables that a query names."""
        for node in tables_of(query):
            self.look_up([(node.catalog or None, node.db or None, node.name)])

    def at_hand(self, query: AnyQuery) -> None:
        """Fetch the rows of the owner's tables that a query names."""
        self.declare_tables(query)
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
        self._fetched.filled.add((table.schema, table.name))
        self.progress(f"fetching {table.schema}.{table.name}")
        with self._reading():
            how = reading(self.server, table)
            self._take(how.query, Table(CATALOG, table.schema, table.name), dict(how.types), f"reading {table.name!r}")

    def _forget_sources(self) -> None:
        """Drop the owner's tables here: the next transaction reads them again."""
        for table in self._fetched.sources.values():
            self.drop(Table(CATALOG, table.schema, table.name))
        self._fetched.sources.clear()
        self._fetched.filled.clear()
