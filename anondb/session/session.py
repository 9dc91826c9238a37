"""The analyst's session: SQL, written for the original tables, on one or several sealed files."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlglot import exp

from anondb.answers.answer import answered
from anondb.answers.estimates import Drawn
from anondb.answers.named import items_named
from anondb.answers.persons.people import Persons
from anondb.answers.ranged.compiler import Compiler
from anondb.answers.ranged.equivalents import with_known_names
from anondb.answers.ranged.failing import failed
from anondb.answers.ranged.known import Known
from anondb.answers.role_reader import RoleReader
from anondb.answers.tables import WorldTables
from anondb.data.sources import is_file, open_source
from anondb.data.types import typed
from anondb.engine import DuckDBEngine, Table
from anondb.engine.answering import DEFAULT_MEMORY, Limits
from anondb.engine.elsewhere import is_url
from anondb.engine.untrusted import desk_engine, materialized
from anondb.errors import EngineError, InputError
from anondb.query import parse
from anondb.query.cached_release import Opened
from anondb.query.parsing import lowered
from anondb.query.reading import Together
from anondb.reading.options import read_as
from anondb.release.reader import SealedRelease, contradictions_told, sealed_releases
from anondb.release.signing import Keys
from anondb.session.desk import Desk
from anondb.session.files import check_alike, files_of, notes_on, weakest
from anondb.session.kept import Kept, repeatable
from anondb.session.output import output, selected_from
from anondb.session.parameters import numbered, with_parameters
from anondb.session.parts import Parts
from anondb.session.releases import Releases
from anondb.session.result import Result, fetched
from anondb.warehouse.at_hand import at_hand, name_of

Sources = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def open_session(
    files: Sources,
    *,
    memory_limit: str = DEFAULT_MEMORY,
    max_seconds: float | None = None,
    threads: int | None = None,
    on_statement: Callable[[str], None] | None = None,
    trusted: str | os.PathLike[str] | Keys | None = None,
) -> Session:
    """Open sealed files to ask them in SQL that is written for the original tables.

    Args:
        files: a sealed file, a folder of them, a release in PostgreSQL (``postgresql://HOST/DATABASE/SCHEMA``), a list of
            these, or a pattern such as ``weeks/*.duckdb``. Several must be releases of disjoint persons and of tables with
            equal names and columns; their counts add up.
        memory_limit: how much memory an answer may take, in DuckDB's notation. On Linux it holds for all memory that this
            process takes while it opens the files, answers, or converts the rows of a result, and an eighth more.
        max_seconds: how many seconds it may take; by default 60 seconds of CPU time, so that other programs do not
            shorten it.
        threads: DuckDB's number of threads.
        on_statement: called with the text of every statement before it runs.
        trusted: the public key that must have signed each file, or a file with such keys; by default that of
            ``ANONDB_TRUSTED``, if it is set.

    Raises:
        VerificationFailed: ``not_trusted``: no trusted key signed a file.
        DamagedFile: a file is cut short, or bytes of it have changed.
        InputError: ``no_such_file``, ``not_a_database``, ``not_a_release``, ``different_releases``, or ``overlap``: the
            manifests show that files hold the same persons.
        EngineError: a file is locked by a process that writes it, or a limit was reached.
    """
    limits = Limits.of(memory_limit, max_seconds)
    options: dict[str, Any] = {"threads": threads, "on_statement": on_statement}
    with limits.hold(), contextlib.ExitStack() as stack:
        paths = _paths(files)
        local = [stack.enter_context(at_hand(path, on_statement, memory_limit)) for path in paths]
        trust: dict[str, Any] = {"trusted": trusted, "named": [name_of(path) for path in paths]}
        opened = stack.enter_context(sealed_releases(local, memory_limit=memory_limit, **options, **trust))
        sealed = [
            one if is_url(path) else replace(one, path=Path(path)) for one, path in zip(opened, paths, strict=True)
        ]
        return session_on(sealed, stack.pop_all(), limits=limits, **options)


def session_on(
    sealed: Sequence[SealedRelease],
    resources: contextlib.ExitStack | None = None,
    *,
    limits: Limits = Limits(),  # noqa: B008
    threads: int | None = None,
    on_statement: Callable[[str], None] | None = None,
) -> Session:
    """A session on open releases, which closes ``resources``; ``limits`` hold for each answer."""
    with contextlib.ExitStack() as stack:
        if resources is not None:
            stack.enter_context(resources)
        check_alike(sealed)
        desk = desk_engine(memory_limit=limits.memory, threads=threads, on_statement=on_statement)
        stack.callback(desk.close)
        kept = contextlib.ExitStack()
        session = Session(sealed, desk, kept, limits)
        kept.enter_context(stack.pop_all())
        return session


def _paths(files: Sources) -> list[str]:
    """The paths of the files; a pattern stands for all files that match it."""
    listed = [files] if isinstance(files, str | os.PathLike) else files
    if not isinstance(listed, Iterable) or isinstance(listed, bytes):
        raise _no_path()
    listed = list(listed)
    if not all(isinstance(file, str | os.PathLike) for file in listed):
        raise _no_path()
    paths: list[str] = []
    for path in (os.fspath(file) for file in listed):
        plain = is_url(path) or Path(path).exists() or not glob.has_magic(path)
        matching = [] if plain else sorted(glob.glob(path))
        for place in matching or [path]:
            paths += files_of(place) if os.path.isdir(place) else [place]
    if not paths:
        raise InputError("There is no file to open.", code="no_such_file", hint="Name a sealed file.")
    if len({os.path.realpath(p) for p in paths}) < len(paths):
        raise InputError("A file is listed twice.", code="different_releases", hint="Name each file once.")
    return paths


def _no_path() -> InputError:
    return InputError(
        "The files of a session are a path or a list of paths.",
        code="bad_path",
        hint="Pass a text or a pathlib.Path, such as 'spring.duckdb' or 'weeks/*.duckdb'.",
    )


class Session:
    """A session on sealed files, which are read-only and locked. ``open_session`` opens it; close it, or use ``with``.

    Attributes:
        promise: what all files keep: the model and its parameters, each the weakest of them.
        notes: what is to be known of every answer, such as that the promises of the files differ.
    """

    def __init__(
        self,
        sealed: Sequence[SealedRelease],
        desk: DuckDBEngine,
        resources: contextlib.ExitStack,
        limits: Limits,
    ) -> None:
        self._resources, self._closed, self._limits, self._sealed = resources, False, limits, sealed
        self._desk = Desk(desk)
        together = Together(sealed[0].engine, {s.schema: int(s.manifest["transactions"]) for s in sealed})
        self._opened = [Opened(s.engine, s.schema, s, together) for s in sealed]
        for release in self._opened:
            release.original.desk = desk
        self._parts = Parts.of(self._opened, desk)
        self._releases = Releases(self._opened, self._desk, self._parts)
        self._results: Kept[Result] = Kept(len)
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
        return {name: dict(columns) for name, columns in (*self._releases.shapes, *self._desk.shapes)}

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
                for every original that the release may come from (NULL where there is no bound); ``none``: only estimates.

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
        with contradictions_told(self._sealed):
            return self._sql(query, parameters, bounds)

    def _sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None, bounds: str) -> Result:
        if bounds not in ("columns", "none"):
            raise InputError("bounds is 'columns' or 'none'.", code="bad_parameter")
        plain = parameters is None and isinstance(query, str)
        if plain and (kept := self._results.find((query, bounds))) is not None:
            return kept.copy()
        with self._limits.hold():
            return self._found(query, parameters, bounds, plain)

    def _found(
        self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None, bounds: str, plain: bool
    ) -> Result:
        """The result of a query, which is kept if it is the same each time."""
        tree = self._releases.unqualified(with_parameters(parse(numbered(query)), parameters))
        if not repeatable(tree):
            return self._answer(tree, bounds == "columns")
        key = query if plain else tree.sql("duckdb"), bounds
        return self._results.get(key, lambda: self._answer(tree, bounds == "columns")).copy()

    def _answer(self, tree: exp.Expr, bounds: bool) -> Result:
        bound = self._releases.bind(tree)
        try:
            made, notes = answered(tree, bound, self)
            self._desk.sweep_later(made.tables)
            listed, columns, remarks = output(made.known, bound, bounds)
            selected, notes = selected_from(made.known, listed), [*notes, *remarks, *self.notes]
            if selected.find(exp.Table) is None and repeatable(selected):
                return self._of_constants(selected, columns, notes)
            rows = materialized(self._desk.engine, selected, failed)
        finally:
            self._desk.sweep()
        return Result(rows, columns, notes, limits=self._limits)

    # ---------------------------------------------------------------- what an answer takes (``answers.answer.House``)

    @property
    def engine(self) -> DuckDBEngine:
        """The engine on which answers are computed."""
        return self._desk.engine

    @cached_property
    def worlds(self) -> Drawn:
        """Possible worlds of the files."""
        return WorldTables(self._desk.engine, self._sealed)

    def roles(self) -> RoleReader:
        """What reads the roles of the columns of a query."""
        persons = self._releases.persons_tables
        own = {lowered(name): list(columns) for name, columns in self._desk.shapes}
        return RoleReader(persons, own, self._desk)

    def items_named(self, tree: exp.Expr) -> frozenset[str] | None:
        """The items of which alone a query reads rows; None for all."""
        named = items_named(tree, self._releases.persons, lowered(self._releases.manifest["item_column"]))
        listed = [release.images.keys() for release in self._opened]
        if named is not None and all(any(item in items for items in listed) for item in named):
            return named
        return None  # another text may be a value of the items' type

    def types_of(self, tree: exp.Expr) -> list[str]:
        """The types of the columns of a query."""
        return [kind for _, kind in self._releases.bind(tree)]

    def bounds_of(self, tree: exp.Expr) -> tuple[Known, list[str]]:
        """The rows of a query with bounds, and notes.

        Raises:
            InputError: ``unsupported_query``, ``query_too_complex`` or ``ambiguous_item``: no rule reads it.
        """
        tree, releases = self._chosen(tree.copy())
        if releases is not self._releases:
            releases.bind(tree)
        return _compiled(with_known_names(tree), releases)

    def _of_constants(self, selected: exp.Query, columns: Sequence[str], notes: Sequence[str]) -> Result:
        """The result of a query without tables, which gives the same rows whenever it is run."""
        engine, text = self._desk.engine, selected.sql("duckdb")
        engine.say(text)

        def work() -> Result:
            rows = engine.connection.sql(text)
            return Result(rows, columns, notes, fetched(rows), self._limits)

        return engine.guarded(work, failed)

    def _chosen(self, tree: exp.Expr) -> tuple[exp.Expr, Releases]:
        """A query without conditions on the column that divides the files, and the releases for which they hold."""
        parts = self._parts
        found = None if parts is None else parts.chosen(tree, self._releases.persons, self._desk.shapes)
        if parts is None or found is None:
            return tree, self._releases
        tree, places = found
        return tree, Releases([self._opened[place] for place in places], self._desk, parts.among(places))

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
        if isinstance(data, os.PathLike) or (isinstance(data, str) and is_file(data)):
            data = _read_file(Path(data), reading)
        elif reading:
            raise InputError("Options of reading go with files.", code="bad_usage", hint="Leave them out.")
        elif hasattr(data, "to_arrow_table"):
            data = data.to_arrow_table()
        place = Desk.place(name)
        with _readable(self._desk.engine, data) as source:
            self.unregister(name)
            self._desk.engine.create(place, exp.select("*").from_(source.expression()))
        self._desk.add(name, place)

    def unregister(self, name: str) -> None:
        """Remove a table that was registered; nothing happens if there is none."""
        self._check_open()
        self._results.clear()
        self._desk.remove(name)
        self._desk.engine.drop(Desk.place(name))

    def is_current(self) -> bool:
        """Whether the releases are still the ones that were opened: in the owner's database they may be replaced."""
        return all(release.is_current() for release in self._opened)

    def close(self) -> None:
        """Close the files. Results stay."""
        self._closed = True
        self._resources.close()

    def _check_open(self) -> None:
        if self._closed:
            raise InputError("The session is closed.", code="closed", hint="Open the file again with anondb.open.")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        tables = ", ".join(f"{name}({', '.join(columns)})" for name, columns in self.tables.items())
        return f"<anondb session: {tables}>"


def _compiled(tree: exp.Expr, releases: Releases) -> tuple[Known, list[str]]:
    """The rows of a query, and its notes."""
    compiler = Compiler(Persons(releases), releases, releases.start())
    return compiler.query(tree, {}), list(compiler.notes)


@contextlib.contextmanager
def _readable(engine: DuckDBEngine, data: Any) -> Iterator[Table]:
    """Data of the analyst as a view of an engine during the block."""
    with contextlib.ExitStack() as stack:
        try:
            view = stack.enter_context(engine.registered(data))
        except (TypeError, EngineError):
            raise InputError(
                "The data of a table cannot be read.",
                code="bad_type",
                hint="Pass a data frame, an Arrow table, a relation of DuckDB, or the path of a file.",
            ) from None
        yield view


def _read_file(path: Path, reading: Mapping[str, Any]) -> Any:
    """A file as an Arrow table."""
    loader = DuckDBEngine.open()
    try:
        with loader.transaction(), open_source(loader, read_as(path, reading), "registered") as source:
            return loader.connection.sql(typed(loader, source).sql("duckdb")).to_arrow_table()
    finally:
        loader.close()
