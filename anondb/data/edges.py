"""The edges of a taxonomy, read from edge tables, wide tables or leaf-to-root path files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from anondb.data.sources import Source, open_source, reading_of, texts_of
from anondb.data.types import kind_of
from anondb.engine import Engine
from anondb.errors import InputError, quote_list
from anondb.reading.files import first_line, text_records
from anondb.reading.formats import suffix_of
from anondb.reading.options import Dialect, ReadAs, Reading, as_read

Edge = tuple[str, str | None]
"""A node and its parent; None for the root."""


@dataclass(frozen=True)
class Edges:
    """What a source says of a taxonomy, before it is checked to be a tree."""

    pairs: list[Edge]  # nodes with their parents, in order
    name: str  # the name of the taxonomy in messages
    kind: str | None = None  # the type of its leaves, as in ``Taxonomy``
    reading: str = ""  # how the source was read, for the message if this makes no tree


def not_a_tree(message: str, hint: str | None = None) -> InputError:
    """The error for edges that are no tree."""
    return InputError(f"The taxonomy is not a tree: {message}", code="not_a_tree", hint=hint)


def edges_of_paths(paths: Sequence[Sequence[str]]) -> list[Edge]:
    """The edges of leaf-to-root paths (``leaf;parent;...;*``, the hierarchy format of ARX, Amnesia, SECRETA). A value
    repeated in the next column (padding of unbalanced hierarchies) counts once. Paths may differ in length, but all must end
    in the root. A path of length one is a taxonomy of a single node."""
    ends: dict[str, None] = dict.fromkeys(path[-1] for path in paths if path)
    steps = dict.fromkeys(_steps(paths))
    return [*((end, None) for end in ends), *((node, above) for node, above in steps if node != above)]


def _steps(paths: Iterable[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The steps of paths; those above the leaf are named once, since many leaves share them."""
    named: set[tuple[str, ...]] = set()
    for path in paths:
        if above := tuple(path[1:]):
            yield path[0], above[0]
        if above not in named:
            named.add(above)
            yield from pairwise(above)


def _root_to_leaf(rows: list[tuple[str, ...]]) -> bool:
    """Whether the first column of a wide table is the coarsest, that is, has fewer distinct values than the last."""
    return len({r[0] for r in rows}) < len({r[-1] for r in rows})


def edges_of_levels(rows: list[tuple[str, ...]]) -> list[Edge]:
    """The edges of a wide table, one column per level, finest or coarsest first; a missing root is added."""
    if not rows:
        raise InputError("The taxonomy is empty.", code="empty_taxonomy", hint="Give one row for each leaf.")
    if _root_to_leaf(rows):
        rows = [tuple(reversed(r)) for r in rows]
    tops = {r[-1] for r in rows}
    if len(tops) > 1:
        taken = {v for r in rows for v in r}
        root = next(c for c in ("*", "ANY", *(f"ANY {i}" for i in range(2, len(taken) + 3))) if c not in taken)
        rows = [(*r, root) for r in rows]
    return edges_of_paths(rows)


def _read_paths(engine: Engine, path: Path, reading: Reading) -> list[Edge] | None:
    """The edges of a file of paths; None if it is one of columns with a header, as Excel writes it in some countries."""
    try:
        dialect = Dialect(reading.delimiter or ";", reading.quote_char, header=False)
        account, rows = text_records(engine, path, "taxonomy", reading, dialect)
        if suffix_of(path) != ".tree" and _has_header(rows):
            return None
        engine.account(account)
        return _edges_of_rows(rows)
    except InputError as error:
        if error.code != "unreadable":
            raise
        raise InputError(
            f"The taxonomy {error}",
            code="bad_file",
            hint='Put a label that begins with a quote in quotes, and double the quotes in it: """so"" named".',
        ) from None


def _has_header(rows: list[list[str]]) -> bool:
    """Whether lines are rows of columns that the first one names: they have several ends, which paths cannot have, all have
    as many fields, and no name occurs again."""
    if len({row[-1] for row in rows}) < 2 or edge_columns(rows[0]) is not None:
        return False
    names = {*map(str.lower, rows[0])}
    return {len(row) for row in rows} == {len(names)} != {1} and names.isdisjoint(x.lower() for row in rows[1:] for x in row)


def _edges_of_rows(paths: list[list[str]]) -> list[Edge]:
    """The edges of a ``;``-separated file: paths, or an edge list if the first line names its columns."""
    columns = edge_columns(paths[0]) if paths else None
    if columns is None or any(len(path) != len(paths[0]) for path in paths):
        return edges_of_paths(paths)
    node, parent = (paths[0].index(name) for name in columns)
    return [(path[node], path[parent] or None) for path in paths[1:]]


def edge_columns(columns: Iterable[str]) -> tuple[str, str] | None:
    """The columns ``node`` (or ``child``) and ``parent`` of an edge list; None if one is missing."""
    names = {column.lower(): column for column in columns}
    node = names.get("node", names.get("child"))
    return None if node is None or "parent" not in names else (node, names["parent"])


def _is_path_file(path: Path, reading: Reading) -> bool:
    """Whether a text file holds paths: it ends in .tree, or its first line has semicolons and no commas."""
    if suffix_of(path) == ".tree":
        return True
    first = first_line(path, reading, "taxonomy")
    return ";" in first and "," not in first


def read_edges(engine: Engine, taxonomy: Any) -> Edges:
    """Read the edges of a taxonomy, which may be no tree; sources and other errors are those of ``load_taxonomy``."""
    if isinstance(taxonomy, Edges):
        return taxonomy
    data, reading = as_read(taxonomy).data, as_read(taxonomy).reading
    if isinstance(data, str | Path) and suffix_of(data) in (".tree", ".csv", ".txt", ".tsv", ".psv"):
        path = Path(data)
        reading = reading_of(engine, path, "taxonomy", reading)
        if _is_path_file(path, reading):
            if (edges := _read_paths(engine, path, reading)) is not None:
                return Edges(edges, f"the taxonomy in file {path.name!r}")
            reading = replace(reading, delimiter=reading.delimiter or ";")
        taxonomy = ReadAs(path, reading)
    with open_source(engine, taxonomy, "taxonomy") as source:
        return _from_source(engine, source)


def _from_source(engine: Engine, source: Source) -> Edges:
    names = {c.lower(): c for c in source.columns}
    edges = edge_columns(source.columns)
    title = source.name if "taxonomy" in source.name else f"the taxonomy in {source.name}"
    if edges is not None:
        columns = [source.column(name, "--taxonomy") for name in edges]
        rows = texts_of(engine, source, columns, (names["ord"], "c0") if "ord" in names else ())
        if nulls := sum(node is None for node, _ in rows):
            raise InputError(f"{nulls} rows of the taxonomy have a NULL node.", code="null_node")
        root_rows = sum(parent is None for _, parent in dict.fromkeys(rows))
        if root_rows > 1:
            raise not_a_tree(f"{root_rows} nodes have a NULL parent.", "Only the root may have one.")
        pairs = [(str(node), parent) for node, parent in rows]
        return Edges(pairs, title, kind_of(source.columns[edges[0]]) if source.typed else None)
    # else perhaps its first data row
    shown = f"; its columns are {quote_list(list(source.columns))}" if source.typed else ""
    if len(names) < 2:
        raise InputError(
            f"{source.name} is no taxonomy: it has neither the columns node (or child) and parent nor one column a level"
            f"{shown}.",
            code="bad_taxonomy",
        )
    rows = texts_of(engine, source, [source.column(name, "--taxonomy") for name in source.columns])
    if nulls := sum(None in row for row in rows):
        raise InputError(
            f"{nulls} rows of the taxonomy have a NULL level.", code="null_node", hint="Repeat the value of the finer level."
        )
    levels = [tuple(str(v) for v in row) for row in rows]
    finest = list(source.columns.values())[-1 if _root_to_leaf(levels) else 0]
    kind = kind_of(finest) if source.typed else None
    how = "one column a level" if source.typed else "one column a level (its first line is its header)"
    reading = f"{source.name} was read as one column a level, since it has no columns node (or child) and parent{shown}."
    return Edges(edges_of_levels(levels), f"{title}, which was read as {how}", kind, reading)
