"""The session's own database in memory, and what becomes readable as a table of it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import isinf
from pathlib import Path
from typing import Any, TypeVar

from sqlglot import exp

from anondb.answers.persons.counts import Bounds, Row
from anondb.answers.ranged.equivalents import common_table
from anondb.answers.ranged.relation import SURE, Ranged, described, failed, fresh, projected
from anondb.answers.ranged.values import Value
from anondb.answers.tables import OwnTables
from anondb.answers.views import OWN
from anondb.engine import DuckDBEngine, Table, reads, tuples
from anondb.engine.untrusted import executed, materialized
from anondb.errors import EngineError, InputError
from anondb.query.parsing import lowered
from anondb.session.result import fetched

HIDDEN = "anondb_before"  # how names begin of rows that queries read as they were
SEQUENCES = f"memory.{OWN}."  # the schema of sequences, as functions take it
Tree = TypeVar("Tree", bound=exp.Expr)
MAX_LISTED = 4  # answers whose rows stay in the database


class SessionDatabase:
    """The session's own database in memory: the analyst's tables, and the rows that a query is computed from."""

    def __init__(self, engine: DuckDBEngine) -> None:
        self.engine = engine
        self._stored: dict[str, tuple[str, dict[str, str], Table]] = {}
        self.plain: dict[str, list[bool]] = {}
        self._temporary: list[Table] = []
        self._listed: dict[int, tuple[Sequence[Row], Table]] = {}
        schema = exp.Table(db=exp.to_identifier(OWN), catalog=exp.to_identifier("memory"))
        engine.run(exp.Create(this=schema, kind="SCHEMA"), "a schema for the analyst's tables")

    @property
    def shapes(self) -> tuple[tuple[str, Mapping[str, str]], ...]:
        """The names and columns of the analyst's tables."""
        return tuple((name, columns) for name, columns, _ in self._stored.values())

    def store(self, name: str, rows: exp.Query) -> None:
        """Store rows as a table of the analyst, in place of one of this name."""
        place = Table("memory", "main", fresh("stored"))
        self.engine.create(place, rows)
        self.remove(name)
        described = self.engine.relation(exp.select("*").from_(place.expression()))
        self._name(name, dict(zip(described.columns, map(str, described.types), strict=True)), place)

    def _name(self, name: str, columns: dict[str, str], place: Table) -> None:
        """Give rows a name."""
        self._stored[lowered(name)] = name, columns, place
        view = exp.Create(this=Table("memory", OWN, name).expression(), kind="VIEW", replace=True)
        view.set("expression", exp.select("*").from_(place.expression()))
        self.engine.run(view, "a table of the analyst")

    def compute(self, name: str, tree: exp.Query) -> None:
        """Store the rows of a query over the analyst's tables as one of them."""
        with self._computed(tree) as rows:
            self.store(name, exp.select("*").from_(rows.expression()))

    def kept(self, tree: exp.Query) -> str:
        """Store the rows of a query over the analyst's tables under a hidden name, which is returned."""
        name = fresh(HIDDEN)
        self.compute(name, tree)
        return name

    def sequence(self, name: str, properties: exp.Properties | None) -> str:
        """Make a sequence, and return its name as functions take it."""
        place = Table("memory", OWN, name).expression()
        listed = [
            part for part in (properties.expressions if properties else ()) if isinstance(part, exp.SequenceProperties)
        ]
        creation = exp.Create(this=place, kind="SEQUENCE", replace=True, properties=exp.Properties(expressions=listed))
        executed(self.engine, creation.sql("duckdb"), failed)
        return f"{SEQUENCES}{place.this.sql(dialect='duckdb')}"

    def number(self, tree: exp.Query) -> int:
        """The number of rows of a query over the analyst's tables."""
        return int(self.value(exp.select(exp.Count(this=exp.Star())).from_(tree.subquery("counted"))))

    def value(self, tree: exp.Query) -> Any:
        """The only value of a query over the analyst's tables."""
        ((value,),) = self.rows(tree)
        return value

    def rows(self, tree: exp.Query) -> list[Row]:
        """The rows of a query over the analyst's tables."""
        with self._computed(tree) as rows:
            return fetched(materialized(self.engine, exp.select("*").from_(rows.expression()), failed))

    @contextlib.contextmanager
    def _computed(self, tree: exp.Query) -> Iterator[Table]:
        """The rows of a query over the analyst's tables, as a table during the block."""
        rows = Table("memory", "main", fresh("computed"))
        creation = exp.Create(this=rows.expression(), kind="TABLE", expression=tree)
        own = OwnTables(self.engine)
        own.use(0)
        try:
            executed(self.engine, creation.sql("duckdb"), failed)
        finally:
            own.use(None)
        try:
            yield rows
        finally:
            self.engine.drop(rows)

    @contextlib.contextmanager
    def storing(self, is_whole: Callable[[exp.Query], bool]) -> Iterator[Callable[[exp.Query], str | None]]:
        """A function that stores the rows of a query over the analyst's tables, and returns their name during the block.

        Args:
            is_whole: says whether a tree is a query by itself; for any other the function returns None.
        """
        names: list[str] = []

        def store(tree: exp.Query) -> str | None:
            if not is_whole(tree):
                return None
            names.append(fresh("rows"))
            self.compute(names[-1], tree)
            return names[-1]

        try:
            yield store
        finally:
            self._temporary += [place for name in names if (place := self._forgotten(name)) is not None]

    def frozen(self, tree: Tree) -> Tree:
        """A query over tables of the analyst as they are now: it reads their rows under hidden names."""
        for table in list(tree.find_all(exp.Table)):
            name = lowered(table.name)
            if table.db or name.startswith(HIDDEN) or name not in self._stored or common_table(table) is not None:
                continue
            _, columns, place = self._stored[name]
            held = (n for n, (_, _, other) in self._stored.items() if other == place and n.startswith(HIDDEN))
            if (hidden := next(held, None)) is None:
                hidden = fresh(HIDDEN)
                self._name(hidden, columns, place)
            alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True))
            table.set("this", exp.to_identifier(hidden, quoted=True))
            table.set("alias", table.args.get("alias") or alias)
        return tree

    def remove(self, name: str) -> None:
        """Remove a table of the analyst; nothing happens if there is none."""
        place = self._forgotten(name)
        if place is not None and all(place != other for _, _, other in self._stored.values()):
            self.engine.drop(place)

    def _forgotten(self, name: str) -> Table | None:
        """The rows of a table of the analyst, which has no name any more; None if there is none."""
        self.plain.pop(lowered(name), None)
        stored = self._stored.pop(lowered(name), None)
        if stored is None:
            return None
        view = exp.Drop(tables=[Table("memory", OWN, name).expression()], kind="VIEW", exists=True)
        self.engine.run(view, "a table of the analyst")
        return stored[2]

    def table(self, node: exp.Table) -> Ranged | None:
        """The rows of a table of the analyst; None if there is none of this name."""
        if node.db or lowered(node.name) not in self._stored:
            return None
        _, columns, place = self._stored[lowered(node.name)]
        values = [Value(reads.named(c)) for c in columns]
        tree = exp.select(*projected(values)).from_(place.expression())
        return Ranged(tree, described(list(columns), values))

    @cached_property
    def _functions(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names, in lower case, of DuckDB's functions and macros that compute one value from several rows, and of its
        functions of which each call may return another value."""
        columns = ("function_name", "function_type", "coalesce(macro_definition, '') AS definition", "stability")
        listed = self.engine.select(exp.select(*columns).from_("duckdb_functions()"), "the functions of DuckDB")
        rows = list(tuples(listed))
        names = {name for name, kind, *_ in rows if kind == "aggregate"}
        call = re.compile(rf"\b({'|'.join(map(re.escape, sorted(names)))})\(")
        together = (n for n, kind, body, _ in rows if n in names or (kind == "macro" and call.search(body)))
        varying = (name for name, *_, stability in rows if stability == "VOLATILE")
        return frozenset(map(lowered, together)), frozenset(map(lowered, varying))

    def is_aggregate(self, name: str) -> bool:
        """Whether a function of DuckDB computes one value from several rows."""
        return lowered(name) in self._functions[0]

    def varies(self, tree: exp.Expr) -> bool:
        """Whether a query may have other rows each time, whatever the tables are."""
        return tree.find(exp.Rand, exp.Uuid, exp.TableSample) is not None or any(
            lowered(call.name) in self._functions[1] for call in tree.find_all(exp.Anonymous)
        )

    def put(self, keys: Sequence[str], rows: Mapping[Row, Sequence[Bounds]], width: int) -> exp.Query:
        """Put rows into the database until ``sweep``; see ``persons.counts.Counts.put``."""
        counts = list(rows.values())
        if not keys:
            cells_of = [end for bounds in counts[0] for end in bounds]
            listed = [_literal(v).as_(n) for n, v in zip(_names(0, width), cells_of, strict=True)]
            return exp.select(*listed or [exp.convert(1).as_("one")])
        cells = [tuple(zip(*(count[n] for count in counts), strict=True)) or ((),) * 2 for n in range(width + 1)]
        table = self._fill(keys, [[row[n] for row in rows] for n in range(len(keys))], cells)
        self._temporary.append(table)
        return _of(table, len(keys), width)

    def put_columns(self, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> Table:
        """Put columns into the database until ``sweep``."""
        table = self.engine.put(Table("memory", "main", fresh("domain")), columns)
        self._temporary.append(table)
        return table

    def _fill(self, kinds: Sequence[str], keys: Sequence[Sequence[Any]], counts: Sequence[Sequence[Any]]) -> Table:
        """A table of groups: their keys with their types, and the bounds of each count; the last count tells whether the
        group is there."""
        columns: dict[str, tuple[str, Iterable[Any]]] = {
            f"c{n}": column for n, column in enumerate(zip(kinds, keys, strict=True))
        }
        *shown, there = counts
        for n, ends in enumerate(shown, len(kinds)):
            for end, numbers in zip(("_l", "_u"), ends, strict=True):
                kind = "BIGINT" if set(map(type, numbers)) <= {int} else "DOUBLE"
                columns[f"c{n}{end}"] = kind, [None if of != of else of for of in numbers]  # NaN, as of inf - inf
        columns[SURE] = "BOOLEAN", [(lower or 0) >= 1 for lower in there[0]]
        return self.engine.put(Table("memory", "main", fresh("facts")), columns)

    def put_listed(self, rows: Sequence[Row], width: int) -> exp.Query:
        """Put the rows of an answer whose key is one text into the database, where those of the last answers stay; see
        ``put``."""
        stored = self._listed.pop(id(rows), None)
        if stored is None:
            keys, *ends = tuple(zip(*(row for row in rows if row[-1] != 0), strict=True)) or ((),) * 3
            stored = rows, self._fill(["VARCHAR"], [keys], [ends, ends])
        self._listed[id(rows)] = stored
        if len(self._listed) > MAX_LISTED:
            self._temporary.append(self._listed.pop(next(iter(self._listed)))[1])
        return _of(stored[1], 1, width)

    def sweep_later(self, tables: Iterable[Table]) -> None:
        """Drop further tables with the rows of a query."""
        self._temporary += tables

    def sweep(self) -> None:
        """Drop the rows of a query."""
        if self._temporary:
            self.engine.drop(*self._temporary)
            self._temporary.clear()


def sequence_of(node: exp.Expr) -> str:
    """The name of the sequence that a function reads, in lower case; empty for other expressions."""
    read = isinstance(node, exp.Anonymous) and lowered(node.name) in ("nextval", "currval") and len(node.expressions) == 1
    return lowered(node.expressions[0].name) if read and isinstance(node.expressions[0], exp.Literal) else ""


def bindable(tree: exp.Expr) -> str:
    """The text of a query to be bound, which may compute constants: sequences do not go on."""

    def still(node: exp.Expr) -> exp.Expr:
        return exp.cast(exp.convert(1), "BIGINT") if sequence_of(node).startswith(SEQUENCES) else node

    return tree.transform(still).sql("duckdb") if any(map(sequence_of, tree.find_all(exp.Anonymous))) else tree.sql("duckdb")


def _of(table: Table, keys: int, width: int) -> exp.Query:
    """The rows of a table of groups, with some of its counts."""
    names = [*(f"c{n}" for n in range(keys)), *_names(keys, width), SURE]
    return exp.select(*map(exp.column, names)).from_(table.expression())


def _names(first: int, width: int) -> list[str]:
    return [f"c{n}{end}" for n in range(first, first + width) for end in ("_l", "_u")]


def _literal(value: float | None) -> exp.Expr:
    kind = exp.DataType.Type.BIGINT if isinstance(value, int) else exp.DataType.Type.DOUBLE
    text = isinstance(value, float) and isinf(value)  # such a number has no literal
    written = exp.Literal.string(str(value)) if text else exp.convert(value)
    return exp.Cast(this=written, to=exp.DataType(this=kind))


@contextlib.contextmanager
def registered(engine: DuckDBEngine, data: Any, reading: Mapping[str, Any]) -> Iterator[Table]:
    """Make data readable as a table of an engine during the block.

    Args:
        engine: the engine.
        data: a data frame, an Arrow table, a relation of DuckDB, or the path of a file.
        reading: how a file is read.

    Raises:
        InputError: ``bad_type`` or ``bad_usage``, or the file cannot be read.
    """
    from anondb.data.sources import is_file

    if isinstance(data, os.PathLike) or (isinstance(data, str) and is_file(data)):
        data = _read_file(Path(data), reading)
    elif reading:
        raise InputError("Options for reading apply to files only.", code="bad_usage", hint="Leave them out.")
    elif hasattr(data, "to_arrow_table"):
        data = data.to_arrow_table()
    with contextlib.ExitStack() as stack:
        try:
            view = stack.enter_context(engine.registered(data))
        except (TypeError, EngineError):
            hint = "Pass a data frame, an Arrow table, a relation of DuckDB, or the path of a file."
            raise InputError("The data of a table cannot be read.", code="bad_type", hint=hint) from None
        yield view


def _read_file(path: Path, reading: Mapping[str, Any]) -> Any:
    """A file as an Arrow table."""
    from anondb.data.sources import open_source
    from anondb.data.types import typed
    from anondb.reading.options import read_as

    loader = DuckDBEngine.open()
    try:
        with loader.transaction(), open_source(loader, read_as(path, reading), "registered") as source:
            return loader.connection.sql(typed(loader, source).text).to_arrow_table()
    finally:
        loader.close()
