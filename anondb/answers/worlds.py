"""Worlds: complete tables with the names and columns of the original that sealed files permit, drawn from the files alone.

A world is **valid** if every transaction holds a member of each released item that it shows, and nothing else; the numbers
of holders lie within the item supports; and attributes lie in their ranges. Where nothing was suppressed it is a possible
original. Suppressed items are in no world. No world depends on threads, on the order of rows, or on what is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy

import numpy as np
from sqlglot import exp

from anondb.answers.bags import Bags, Buckets, OtherSets
from anondb.answers.drawing import Sets
from anondb.answers.files import (
    BAGS,
    COUNTS,
    COUNTS_COLUMNS,
    DRAWN,
    DRAWN_COLUMNS,
    FIRST_OTHER,
    ROWS,
    SETS,
    File,
    Numbered,
    begin,
    make_empty,
    of_worlds,
    place,
    schema,
)
from anondb.answers.records import Records
from anondb.answers.views import BASE, IDS, ITEMS, of_all, schema_of, table_of_all, tables_of, world_numbers
from anondb.engine import DuckDBEngine, Table, reads
from anondb.engine.arrays import Flags
from anondb.engine.texts import Sql, sql

MOST_WORLDS, MOST_OTHERS = 20, 40
MOST_ROWS = 20_000_000
MOST_AT_ONCE = 2_000_000  # rows of all worlds in one statement
MOST_SAMPLED = 2_000_000  # numbers of holders that are sampled, 12 CPU microseconds each


def worlds_for(rows: float, most: int | None = None) -> int:
    """The number of worlds to draw, fewer for worlds of many rows; at most ``most``, by default ``MOST_WORLDS``."""
    most = MOST_WORLDS if most is None else most
    return max(1, min(most, int(MOST_ROWS // max(rows, 1))))


class Worlds:
    """The worlds of one or several files, whose persons are disjoint, in a database in memory.

    The tables of all worlds are views in one schema: with it on the search path, SQL that was written for the original runs
    as it is, in the world of ``views.world_is``. They have rows once ``draw`` was called.

    Args:
        engine: the database, to which ``files.copied`` copied the files.
        files: the files.
        most: how many worlds are drawn, the first ones; all by default.

    Attributes:
        count: K, how many worlds there are; it depends on the files alone.
        description: the description of the first file.
    """

    def __init__(self, engine: DuckDBEngine, files: Sequence[File], most: int = MOST_WORLDS) -> None:
        self._engine, self._files = engine, files
        self.description, self._rows = files[0].description, _rows_of(engine, files)
        self.count = worlds_for(self._rows)
        numbers = range(min(most, self.count))
        self._drawing = self._drawn(numbers)
        self._records = Records(engine, files, numbers)
        self._names = [name for file in files for name in file.names]
        self._texts = np.array([file.items[n] for file in files for n in file.members.item], dtype=object)
        self._list_items()
        self._make_tables(numbers)

    def others(self) -> Worlds:
        """Other worlds of the same files of sets or buckets, up to 40; ``others`` and ``holders`` say how they differ.

        Their numbers begin with ``files.FIRST_OTHER``. Those of an earlier call are lost.
        """
        others = copy(self)
        begin(self._engine, FIRST_OTHER)
        sampled = sum(int(file.members.unsupported.sum()) for file in self._files)
        others.count = max(1, min(worlds_for(self._rows, MOST_OTHERS), MOST_SAMPLED // max(sampled, 1)))
        numbers = range(FIRST_OTHER, FIRST_OTHER + others.count)
        drawing = OtherSets if isinstance(self._drawing, Sets) else Buckets
        others._drawing = drawing(self._engine, self._files, numbers)
        others._records = Records(self._engine, self._files, numbers)
        others._make_tables(numbers)
        return others

    def _drawn(self, numbers: range) -> Sets | Bags | Buckets:
        """What draws who holds what."""
        rows = self.description.rows
        if rows == SETS:
            return Sets(self._engine, self._files, numbers, self.count)
        return (Bags if rows == BAGS else Buckets)(self._engine, self._files, numbers)

    def _make_tables(self, numbers: range) -> None:
        """Make the tables of these worlds, as views, and the empty tables of what is drawn and counted."""
        self._numbers, self._counted, first = numbers, False, numbers[0]
        make_empty(self._engine, of_worlds(DRAWN, first), DRAWN_COLUMNS)
        make_empty(self._engine, of_worlds(COUNTS, first), COUNTS_COLUMNS)
        kept = bool(self._drawing.single.any())
        tables = tables_of(self.description, first, kept=kept)
        every = of_all(tables, first, world_numbers(first, self.count))
        self._of_all = {table.name.lower(): table for table in every}
        statements: list[exp.Expr] = [schema(schema_of(first)), schema(table_of_all("", first).schema)]
        for table, rows in (tables | every).items():
            statements.append(exp.Create(this=table.expression(), kind="VIEW", expression=rows, replace=True))
        self._engine.run_all(statements, "the tables of worlds")

    def draw(self, labels: Collection[str] | None = None, *, records: bool = True) -> None:
        """Draw what the worlds hold of released items; each is drawn once.

        Args:
            labels: the labels of released items; None for all. In releases of bags and in anatomies they depend on each
                other: all are drawn.
            records: whether to draw the attributes of records, too.
        """
        self._drawing.draw(self._are(labels))
        if records:
            self._records.draw()

    def count_holders(self) -> None:
        """Fill the table of numbers of holders, in releases of sets; nobody is drawn."""
        if self._counted or not isinstance(self._drawing, Sets):
            return
        _, members, of = np.unique(self._texts, return_index=True, return_inverse=True)
        holders = np.zeros((len(members), len(self._numbers)), dtype=np.int64)
        np.add.at(holders, of, self._drawing.counts)
        item, world = np.nonzero(holders)
        values = np.array(self._numbers)[world], members[item], holders[item, world]
        rows = {name: (kind, value) for (name, kind), value in zip(COUNTS_COLUMNS.items(), values, strict=True)}
        self._engine.insert(of_worlds(COUNTS, self._numbers[0]), rows)
        self._counted = True

    def at_once(self, labels: Collection[str] | None, *, counted: bool = False) -> Mapping[str, Table]:
        """The tables with the rows of all worlds, by the name of the original in lower case; none if they are many rows.

        Args:
            labels: the labels of the released items whose rows a query reads; None for all.
            counted: whether it reads numbers of holders instead.
        """
        description = self.description
        if counted:
            return self._of_all
        persons = sum(file.description.transactions for file in self._files)
        if labels is not None and description.rows == SETS:
            means = np.concatenate([file.means for file in self._files])
            rows = means[self._are(labels)].sum() + persons * (description.lists or description.records is not None)
        else:
            rows = self._rows + persons * description.lists
        return self._of_all if rows * self.count <= MOST_AT_ONCE else {}

    def _are(self, labels: Collection[str] | None) -> Flags:
        """Whether the released item of each member has one of these labels; None for all."""
        return np.array([labels is None or name in labels for name in self._names], dtype=np.bool_)

    def labels_of(self, item: str) -> frozenset[str]:
        """The labels of the released items that may stand for an item."""
        return frozenset(self._names[n] for n in np.flatnonzero(self._texts == item))

    def _list_items(self) -> None:
        """Make the tables of items: by member, and by released item where it stands for one."""
        description = self.description
        parts = [None if f.description.partition is None else f.description.partition[1] for f in self._files]
        part = np.repeat(np.array(parts, dtype=object), [len(file.names) for file in self._files])
        columns = {
            "member": ("INTEGER", np.arange(len(part))),
            "label": ("INTEGER", Numbered.of(self._files).label),
            "single": ("BOOLEAN", self._drawing.single),
            "item": ("VARCHAR", self._texts),
            "part": ("VARCHAR", part),
        }
        kinds = {"item": description.item.type} | (
            {} if description.partition is None else {"part": description.partition[0].type}
        )
        texts = self._engine.put(place("texts"), columns)
        typed = [_typed(name, kinds.get(name)) for name in columns]
        self._engine.create(ITEMS, exp.select(*typed).from_(texts.expression()))
        single = exp.select("label", "item", "part").from_(ITEMS.expression()).where(exp.column("single"))
        self._engine.create(BASE, single)
        self._engine.drop(texts)
        self._list_ids(parts, kinds.get("part", "VARCHAR"))

    def _list_ids(self, parts: Sequence[str | None], kind: str) -> None:
        """Make the view of all transactions."""
        listed, before = list[exp.Query](), 0
        for part, file in zip(parts, self._files, strict=True):
            ends = [exp.convert(before + 1), exp.convert(before + file.description.transactions + 1)]
            numbers = exp.Table(this=exp.Anonymous(this="range", expressions=ends))
            tid = exp.cast(exp.column("range"), "INTEGER").as_("tid")
            value = exp.null() if part is None else exp.Literal.string(part)
            listed.append(exp.select(tid, exp.cast(value, kind, dialect="duckdb").as_("part")).from_(numbers))
            before += file.description.transactions
        view = sql("CREATE VIEW {} AS {}", IDS, Sql(reads.union(listed).text))
        self._engine.run(view, "the transactions of worlds")


def _typed(name: str, kind: str | None) -> exp.Expr:
    """A column of texts, cast to a type unless it is None."""
    return exp.column(name) if kind is None else exp.cast(exp.column(name), kind, dialect="duckdb").as_(name)


def _rows_of(engine: DuckDBEngine, files: Sequence[File]) -> float:
    """How many rows the tables of a world have, as expected."""
    description = files[0].description
    if description.rows == SETS:
        held = sum(float(file.means.sum()) for file in files)
    else:
        parts = [ROWS] if description.rows == BAGS else [place("buckets", number) for number in range(len(files))]
        each = "copies" if description.rows == BAGS else "copies * len(items)"
        held = sum(engine.scalar(reads.rows(part, f"CAST(sum({each}) AS BIGINT) AS held")) or 0 for part in parts)
    records = description.records is not None and not description.inline
    return held + (sum(file.description.transactions for file in files) if records else 0)
