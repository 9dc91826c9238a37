"""The analyst's session: SQL, written for the original tables, on one or several sealed files."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from sqlglot import exp

from anondb.answers.asked import is_empty
from anondb.answers.estimates import Estimated
from anondb.answers.holder_counts import counts_of_items, items_named
from anondb.answers.normal import for_bounds, normal
from anondb.answers.own_rows import with_lookups, with_own_rows
from anondb.answers.persons.people import Persons
from anondb.answers.plans import Kept, repeatable
from anondb.answers.ranged.compiler import Compiler
from anondb.answers.ranged.originals import Originals
from anondb.answers.ranged.relation import Ranged, failed
from anondb.answers.role_reader import RoleReader
from anondb.answers.several_columns import Source, written_out
from anondb.answers.spread import Spread
from anondb.answers.tables import OwnTables, WorldTables
from anondb.engine import DuckDBEngine
from anondb.engine.answering import Limits
from anondb.engine.untrusted import materialized
from anondb.errors import InputError
from anondb.query.cached_release import Opened
from anondb.query.parsing import SELECT, Statement, lowered, parse_script
from anondb.query.reading import Together
from anondb.query.refusals import unsupported
from anondb.release.reader import SealedRelease, contradictions_told
from anondb.session.answer import ID_HINT, answered
from anondb.session.catalog import Catalog, check_settings, is_of_catalog, summarized
from anondb.session.database import HIDDEN, SessionDatabase, registered
from anondb.session.files import Parts, notes_on, weakest
from anondb.session.output import BOUNDS_HINT, CHOICES, SPREAD, output, selected_from, with_bounds
from anondb.session.parameters import Prepared, literal_of, numbered, with_parameters
from anondb.session.releases import Releases
from anondb.session.result import Result
from anondb.session.scratch import Scratch
from anondb.session.statements import Statements


class Session:
    """A session on sealed files, which are read-only and locked. ``open_session`` opens it; close it, or use ``with``.

    Attributes:
        promise: what all files keep: the model and its parameters, each the weakest of them.
        notes: what is to be known of every answer, such as that the promises of the files differ.
    """

    def __init__(
        self, sealed: Sequence[SealedRelease], engine: DuckDBEngine, resources: contextlib.ExitStack, limits: Limits
    ) -> None:
        self._resources, self._closed, self._limits, self._sealed = resources, False, limits, sealed
        self._database = SessionDatabase(engine)
        together = Together(sealed[0].engine, {s.schema: int(s.manifest["transactions"]) for s in sealed})
        self._opened = [Opened(s, together) for s in sealed]
        for release in self._opened:
            release.original.session_engine = engine
        self._parts = Parts.of(self._opened, engine)
        self._releases = Releases(self._opened, self._database, self._parts)
        self._results = Kept[Result]()
        self._scratch = Scratch(
            self._database, self._described, lambda tree: summarized(tree, self.roles()), self._releases.reserved
        )
        self._prepared = Prepared()
        self._catalog: Catalog | None = None
        manifests = [s.manifest for s in sealed]
        self.promise = weakest(manifests)
        self.notes = notes_on(manifests)

    @property
    def tables(self) -> dict[str, list[str]]:
        """The tables that queries may name, with their columns: the original's, and the ones that were registered."""
        return {name: list(columns) for name, columns in self.types.items()}

    @property
    def types(self) -> dict[str, dict[str, str]]:
        """The tables that queries may name, with the DuckDB types of their columns."""
        shapes = (*self._releases.shapes, *self._database.shapes)
        listed = {name: dict(columns) for name, columns in shapes} | self._scratch.tables
        return {name: columns for name, columns in listed.items() if not name.startswith(HIDDEN)}

    @property
    def objects(self) -> list[str]:
        """The objects of a single file, such as ``item_counts``, whose rows queries may read as they are."""
        return self._releases.objects

    def sql(
        self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None, bounds: str = "columns"
    ) -> Result:
        """Answer a query that is written for the original tables.

        Args:
            query: one SELECT in DuckDB's dialect.
            parameters: the values of ``?`` and ``$1``, or of ``$name``.
            bounds: ``columns``: each computed number ``n`` is followed by ``n_lower`` and ``n_upper``, between which it lies
                for every original that the release may come from (NULL where there is no bound); ``none``: only estimates;
                ``spread``: these are followed by ``n_low`` and ``n_high``, which say how far plausible originals differ.

        Returns:
            The result. Conditions on counts are true, false or NULL where the bounds do not decide. If the result has rows
            that a condition on a count may or may not keep, or groups that need not exist, it has a last column ``certain``.

        Raises:
            InputError: ``bad_sql``, ``bad_parameter``, ``unsupported_query`` with the construct at fault,
                ``query_too_complex`` or ``ambiguous_item``.
            DamagedFile: rows of a file contradict each other.
            BudgetExceeded: ``time_limit`` or ``out_of_memory``.
        """
        self._check_open()
        if bounds not in CHOICES:
            raise InputError(BOUNDS_HINT, code="bad_parameter")
        plain = parameters is None and isinstance(query, str)
        if plain and (kept := self._results.find((query, bounds))) is not None:
            return kept.copy()
        with contradictions_told(self._sealed), self._limits.hold():
            return self._last_result(query, parameters, bounds, plain)

    def _last_result(
        self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None, bounds: str, plain: bool
    ) -> Result:
        """The result of the last statement; that of a query is kept if it is the same each time."""
        *before, last = parse_script(numbered(query))
        if before and parameters is not None:
            raise InputError(
                "Parameters cannot be passed to several statements.",
                code="bad_parameter",
                hint="Run one statement at a time.",
            )
        for statement in before:
            self._done(statement, self._plainly_named(statement.tree), bounds)
        tree = self._plainly_named(with_parameters(last.tree, parameters))
        if last.word != SELECT or not repeatable(tree):
            return self._done(last, tree, bounds)
        key = (query, bounds) if plain and not before else (last.text, tree.sql("duckdb"), bounds)
        return self._results.get(key, lambda: self._done(last, tree, bounds)).copy()

    def _done(self, statement: Statement, tree: exp.Expr, bounds: str) -> Result:
        """The result of a statement, whose tree has its parameters in place."""
        word = statement.word
        check_settings(tree)
        if word == "EXECUTE":
            prepared = self._prepared.statement(statement.tree.name)
            return self._done(prepared, self._plainly_named(prepared.tree), bounds)
        if word == SELECT and is_of_catalog(tree, self.tables):
            return self.catalog.answer(tree)
        if word == SELECT:
            return self._answer(self._resolved(tree), bounds, statement.text)
        if word == "DESCRIBE" and isinstance(tree.this, exp.Query):
            result = self._answer(self._resolved(tree.this), bounds, empty=True)
            return self.catalog.columns(result.columns, result.types)
        if word in ("DESCRIBE", "EXPLAIN", "PRAGMA", "SHOW"):
            return self.catalog.answer(self._resolved(tree) if word == "EXPLAIN" else tree, word)
        statements = Statements(self._scratch, self._prepared, lambda query: self._answer(self._resolved(query), bounds))
        done = statements.run(replace(statement, tree=self._written(tree)))
        self._changed()
        if done.returned is not None:
            return done.returned
        return Result(materialized(self._database.engine, done.shown, failed), ["Count"], done.notes, limits=self._limits)

    def _plainly_named(self, tree: exp.Expr) -> exp.Expr:
        """A query or another statement whose tables have their names alone, or that of a schema of the analyst before."""
        return self._releases.unqualified(self._scratch.flat(tree))

    def _resolved(self, tree: exp.Expr) -> exp.Expr:
        """A query over tables alone: without names of the analyst, PIVOT, UNPIVOT and COLUMNS."""
        return with_bounds(self._written(self._scratch.resolved(tree)), [release.engine for release in self._opened])

    def _written(self, tree: exp.Expr) -> exp.Expr:
        """A query or another statement, without PIVOT, UNPIVOT and COLUMNS."""

        def columns_of(query: exp.Query) -> list[str]:
            return [name for name, _ in self._releases.accepted(self._scratch.resolved(query)) or ()]

        def values_of(query: exp.Query) -> list[exp.Expr]:
            rows = self._answer(self._scratch.resolved(query), "none").fetchall()
            return [literal_of(value) for value, *_ in rows if value is not None]

        return written_out(tree, Source(columns_of, values_of))

    def _changed(self) -> None:
        """Forget what was derived from the analyst's tables."""
        self._results.clear()
        if self._catalog is not None:
            self._catalog.close()
            self._catalog = None

    @property
    def catalog(self) -> Catalog:
        """The tables as a database of empty tables."""
        if self._catalog is None:
            objects = self._releases.object_types
            self._catalog = Catalog({n: of for n, of in self.types.items() if n not in objects}, objects)
        return self._catalog

    def _answer(self, tree: exp.Expr, bounds: str, text: str = "", *, empty: bool = False) -> Result:
        """The result of a query, whose columns have their names in its text; without rows, if these are not needed."""
        bound = self._releases.bind(tree)
        form = normal(tree, self._originals)
        empty = empty or any(is_empty(each, self.roles()) for each in (tree, form))
        try:
            estimated, notes = answered(form, bound, self, spread=bounds == SPREAD, empty=empty)
            bound = self._releases.named_as(text, tree, bound)
            return self._shown(estimated, bound, notes, bounds)
        finally:
            self._database.sweep()

    def _shown(self, estimated: Estimated, bound: Sequence[tuple[str, str]], notes: Sequence[str], bounds: str) -> Result:
        """The rows of an answer with the columns that the analyst sees."""
        self._database.sweep_later(estimated.tables)
        listed, columns, remarks = output(estimated.relation, bound, bounds != "none", estimated.called)
        rows = materialized(self._database.engine, selected_from(estimated.relation, listed), failed)
        return Result(rows, columns, [*notes, *remarks, *self.notes], limits=self._limits)

    # ---------------------------------------------------------------- what an answer takes (``session.answer``)

    @property
    def engine(self) -> DuckDBEngine:
        """The engine on which answers are computed."""
        return self._database.engine

    @cached_property
    def worlds(self) -> WorldTables:
        """Possible worlds of the files."""
        return WorldTables(self._database.engine, self._sealed, self._database.is_aggregate)

    @property
    def spread(self) -> Spread:
        """What the spread of numbers is computed from."""
        return self.worlds.spread

    @property
    def own(self) -> OwnTables:
        """The analyst's tables alone."""
        return OwnTables(self._database.engine)

    @property
    def _originals(self) -> Originals:
        """What the rules of the normal form take from the tables of the releases, and from the analyst's."""
        releases = self._releases
        item = lowered(releases.manifest["item_column"])
        nullable = {lowered(a.name) for a in releases.attributes if a.may_be_null} | ({item} if releases.lists else set())
        of = releases.persons, item, not (releases.bags or releases.lists), nullable
        return Originals(releases.persons_tables, self._own_columns, *of, self._database)

    @property
    def _own_columns(self) -> dict[str, list[str]]:
        """The columns of the analyst's tables, in lower case."""
        return {lowered(name): [*map(lowered, columns)] for name, columns in self._database.shapes}

    def roles(self) -> RoleReader:
        """What reads the roles of the columns of a query."""
        persons = self._releases.persons_tables
        own = {lowered(name): list(columns) for name, columns in self._database.shapes}
        return RoleReader(persons, own, self._database)

    def items_named(self, tree: exp.Expr) -> frozenset[str] | None:
        """The items of which alone a query reads rows; None for all."""
        named = items_named(tree, self._releases.persons, lowered(self._releases.manifest["item_column"]))
        listed = [release.images.keys() for release in self._opened]
        if named is not None and all(any(item in items for items in listed) for item in named):
            return named
        return None  # another text may be a value of the items' type

    def counts_of_items(self, tree: exp.Expr) -> bool:
        """Whether all numbers that a query computes count those who hold one item."""
        manifest = self._releases.manifest
        columns = [lowered(manifest[name]) for name in ("item_column", "id_column")]
        return counts_of_items(tree, self._releases.persons, *columns)

    def types_of(self, tree: exp.Expr) -> list[str]:
        """The types of the columns of a query."""
        return [kind for _, kind in self._releases.bind(tree)]

    def bounds_of(self, tree: exp.Expr, *, ended: bool) -> tuple[Ranged, list[str]]:
        """The rows of a query with bounds, and notes.

        Raises:
            InputError: ``unsupported_query``, ``query_too_complex`` or ``ambiguous_item``: no rule reads it.
        """
        own = self._own_columns
        with self._database.storing(self._releases.is_whole) as store:
            rewritten = with_own_rows(with_lookups(tree, own), own, self._releases.persons_tables, store)
            if rewritten != tree:
                self._releases.bind(rewritten)
            releases = self._releases
            rewritten = for_bounds(rewritten, self._originals)
            compiler = Compiler(Persons(releases), releases, releases.start())
            return compiler.query(rewritten, {}, ended=ended), list(compiler.notes)

    def _described(self, tree: exp.Expr) -> tuple[list[tuple[str, str]], bool]:
        """The columns of a query, and whether it reads tables of the original.

        Raises:
            InputError: ``bad_sql``, or ``unsupported_query``: it uses ids in a way that is not allowed.
        """
        columns, reader = self._releases.bind(tree), self.roles()
        reader.relation(tree)
        if reader.misused is not None:
            raise unsupported(reader.misused, ID_HINT)
        return columns, reader.reads_persons

    def register(self, name: str, data: Any, **reading: Any) -> None:
        """Make a table of the analyst's own available to queries.

        Args:
            name: its name; it replaces a table that was registered under it.
            data: a data frame, an Arrow table, a relation of DuckDB, or the path of a file. It is copied. A column of a
                text file has the first of the types BIGINT, DOUBLE, DECIMAL(18, 2), DATE, TIMESTAMP and BOOLEAN that gives
                all its values back as they are written, so that 007 stays a text.
            **reading: how a file is read, such as ``delimiter=";"`` (``anondb.reading.options.Reading``).

        Raises:
            InputError: ``bad_name``: a table of the release has this name; or ``data`` cannot be read.
        """
        self._check_open()
        if not isinstance(name, str) or not name:
            raise InputError("The name of a table must be a text.", code="bad_name")
        if lowered(name) in {lowered(n) for n, _ in self._releases.shapes}:
            raise InputError("The release has a table of this name.", code="bad_name", hint="Choose another name.")
        with registered(self._database.engine, data, reading) as source:
            self._database.store(name, exp.select("*").from_(source.expression()))
        self._scratch.remove(name)
        self._changed()

    def unregister(self, name: str) -> None:
        """Remove a table that was registered; nothing happens if there is none."""
        self._check_open()
        self._database.remove(name)
        self._changed()

    def is_current(self) -> bool:
        """Whether the releases are still the ones that were opened: in the owner's database they may be replaced."""
        return all(release.is_current() for release in self._opened)

    def close(self) -> None:
        """Close the files. Results stay."""
        self._closed = True
        self._changed()
        self._resources.close()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or a statement of it goes on that nothing ends."""
        return self._closed or any(engine.is_lost for engine in (self.engine, *(each.engine for each in self._opened)))

    def _check_open(self) -> None:
        if self.is_closed:
            raise InputError("The session is closed.", code="closed", hint="Open the file again with anondb.open.")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        tables = ", ".join(f"{name}({', '.join(columns)})" for name, columns in self.tables.items())
        return f"<anondb session: {tables}>"
