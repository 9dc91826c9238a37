"""Reads the rows of releases: those of several together, the signatures of transactions, and the transactions of each item.

A statement for each file of a session takes longer than reading small ones. The rows of a released item lie together in a
release of sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sqlglot import exp

from anondb.engine import Columns, DuckDBEngine, Engine, Table, has_nulls, reads
from anondb.errors import InputError
from anondb.query.classes import Classes, Holding
from anondb.query.held_sums import Array, HeldRows
from anondb.query.relational import Cell, with_cells
from anondb.query.values import Attribute
from anondb.release.objects import SchemaName

if TYPE_CHECKING:
    from anondb.query.cached_release import Opened


SHORT = (1 << 16) - 1  # the largest number of two bytes
ROW_BYTES = 16  # counted for a row: it takes 4 or 8, and up to 32 more while those of one file are added up
MAX_LISTED = 2_000  # released items whose weights are written into a statement
Holdings = dict[str, Counter[Holding]]
T = TypeVar("T")


class Together:
    """Releases of one connection. The first one that runs a query runs it for all that are asked, in one statement.

    Args:
        engine: their engine.
        sizes: the number of transactions of each release.

    Attributes:
        asked: the releases that the current question is about; at first all.
    """

    def __init__(self, engine: DuckDBEngine, sizes: Mapping[SchemaName, int]) -> None:
        self._engine, self.asked, self._sizes = engine, list(sizes), sizes
        self._read: dict[tuple[str, SchemaName], Columns] = {}
        self._begun: set[tuple[str, SchemaName]] = set()
        self._most: dict[SchemaName, tuple[int, int]] = {}  # if it has items: how many rows, and their largest number

    @cached_property
    def array_bytes(self) -> int:
        """How many bytes of arrays each of the releases may hold."""
        return self._engine.array_bytes // len(self._sizes)

    def members(self, schema: SchemaName) -> list[tuple[str, str]] | None:
        """The released items of a release with the items that they stand for, sorted; None if there are NULLs."""
        rows = self.query("release/members", schema, "released_items")
        whole = not any(has_nulls(column) for column in rows.values())
        return sorted(zip(rows["released_item"].tolist(), rows["item"].tolist(), strict=True)) if whole else None

    def numbers(self, schema: SchemaName) -> Columns:
        """The released items of a release with their numbers, and how many rows all have, in each row."""

        def read(schemas: Sequence[SchemaName]) -> list[Columns]:
            tables = [_bound(s, "labels", "transaction_items") for s in schemas]
            results = self._engine.query_each("query/item_numbers", tables)
            for s, columns in zip(schemas, results, strict=True):
                for rows in columns["all_rows"][:1].tolist():
                    self._most[s] = rows, max(self._sizes[s], len(columns["item_id"]))
            return results

        return self._first("query/item_numbers", schema, read)

    def fits(self, schema: SchemaName) -> bool:
        """Whether a release whose numbers were read has items, and there is room for its rows."""
        rows = max(self._most[schema][0], self._sizes[schema]) if schema in self._most else None
        return rows is not None and rows * ROW_BYTES <= self.array_bytes

    def short(self, schema: SchemaName) -> bool:
        """Whether two bytes are enough for each number in the rows of a release that fits."""
        return self._most[schema][1] <= SHORT

    def rows(self, schema: SchemaName) -> Columns | None:
        """The rows of a release of sets; None if it does not fit."""
        if not self.fits(schema):
            return None
        short = self.short(schema)
        name = "query/short_rows" if short else "query/rows"

        def read(schemas: Sequence[SchemaName]) -> list[Columns]:
            if len(schemas) == 1:  # PyArrow need not be imported
                return [self._engine.query(name, _bound(schema, "transaction_items"))]
            return self._engine.rows_each(name, [(_bound(s, "transaction_items"), self._most[s][0]) for s in schemas])

        return self._first(name, schema, read, lambda s: self.fits(s) and self.short(s) == short)

    def query(self, name: str, schema: SchemaName, *tables: str) -> Columns:
        """The rows of a named query on some tables of a release, in no order."""

        def read(schemas: Sequence[SchemaName]) -> list[Columns]:
            return self._engine.query_each(name, [_bound(s, *tables) for s in schemas])

        return self._first(name, schema, read)

    def _first(
        self,
        name: str,
        schema: SchemaName,
        read: Callable[[list[SchemaName]], list[Columns]],
        alike: Callable[[SchemaName], bool] = lambda _: True,
    ) -> Columns:
        """What is read of a release once, by its name: it is read of others that are alike, too, unless it was before."""
        if (name, schema) not in self._read:
            others = [s for s in self.asked if s != schema and (name, s) not in self._begun and alike(s)]
            schemas = [schema, *others]
            keys = [(name, s) for s in schemas]
            self._read |= dict(zip(keys, read(schemas), strict=True))
            self._begun.update(keys)
        return self._read.pop((name, schema))


def _bound(schema: SchemaName, *tables: str) -> dict[str, Table]:
    """The tables of a release that a query reads."""
    return {name: schema.table(name) for name in tables}


def images_of(members: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The released items that stand for each item, from rows (released item, item)."""
    images: dict[str, list[str]] = {}
    for image, item in members:
        images.setdefault(item, []).append(image)
    return {item: tuple(listed) for item, listed in images.items()}


class HeldItems:
    """The rows of a release of sets, whose released items have the numbers from 1 on.

    Args:
        engine, schema: the release.
        size: its number of transactions.
        together: reads it beside other releases.

    Attributes:
        numbers: the number of each released item.

    Raises:
        InputError: ``not_a_release``: they have other numbers.
    """

    def __init__(self, engine: Engine, schema: SchemaName, size: int, together: Together) -> None:
        self._engine, self._rows, self._schema = engine, schema.table("transaction_items"), schema
        self._size, self._together = size, together
        numbers = together.numbers(schema)
        whole = not any(has_nulls(column) for column in numbers.values())
        pairs = sorted(zip(numbers["item_id"].tolist(), numbers["item"].tolist(), strict=True)) if whole else []
        self.numbers: Mapping[str, int] = {item: number for number, item in pairs}
        if not whole or list(self.numbers.values()) != list(range(1, len(self.numbers) + 1)):
            raise InputError("This release is damaged.", code="not_a_release", hint="Publish it again.")

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """The released item of each number."""
        return {number: label for label, number in self.numbers.items()}

    @cached_property
    def rows(self) -> HeldRows | None:
        """The rows in memory, where they are read once; None if they are too many (DuckDB joins them then), or damaged."""
        read = self._together.rows(self._schema)
        return None if read is None else self._held(read)

    def rows_for(self, classes: Classes) -> HeldRows | None:
        """The rows in memory that count for the signatures of these classes; all if every released item counts, or none, and
        if all were read before. None if signatures are texts, and where the rows do not fit."""
        if classes.wide:
            return None
        if len(classes.of) in (0, len(self.numbers)) or "rows" in self.__dict__:
            return self.rows
        listed = sorted(self.numbers[label] for label in classes.of)
        if len(listed) > MAX_LISTED or not self._together.fits(self._schema):
            return None
        columns: list[exp.Expr] = [exp.column("transaction_id"), exp.column("item_id")]
        if self._together.short(self._schema):
            short = exp.DataType(this=exp.DataType.Type.USMALLINT)
            columns = [exp.TryCast(this=c, to=short.copy()).as_(c.name) for c in columns]
        among = exp.In(this=exp.column("item_id"), expressions=[exp.convert(n) for n in listed])
        tree = exp.select(*columns, copy=False).from_(self._rows.expression(), copy=False).where(among, copy=False)
        return self._held(self._engine.select(tree, "the rows of a release"))

    def _held(self, rows: Columns) -> HeldRows | None:
        return HeldRows.of(rows["transaction_id"], rows["item_id"], self._size, self.numbers)

    def supports(self) -> dict[str, int]:
        """The number of transactions of each released item."""
        if (read := self.__dict__.get("rows")) is not None:
            by_number = read.supports.tolist()
            return {label: by_number[number] for label, number in self.numbers.items() if by_number[number]}
        rows = self._together.query("query/supports_by_number", self._schema, "transaction_items")
        counts = dict(zip(rows["item_id"].tolist(), rows["transactions"].tolist(), strict=True))
        return {label: counts[number] for label, number in self.numbers.items() if number in counts}

    def by_item(self, held: exp.Query) -> list[tuple[str, Any, int]]:
        """The number of transactions of each released item with each signature, without those that have no signature."""
        by = "one.item_id, other.signature"
        shown = f"{by}, count(*) AS transactions"
        rows = self._engine.select(reads.joined(self._rows, held, "transaction_id", shown, group=by, order=by))
        columns = (rows[c].tolist() for c in ("item_id", "signature", "transactions"))
        return [(self.labels[number], signature, count) for number, signature, count in zip(*columns, strict=True)]

    def query(self) -> exp.Query:
        """The rows as a query (transaction_id, item), where an item is the number of a released item."""
        return exp.select("transaction_id", exp.column("item_id").as_("item")).from_(self._rows.expression())


def holdings(release: Opened, classes: Classes, attributes: Sequence[Attribute] = ()) -> Holdings:
    """The transactions of each released item, by label, including transactions without a relevant item; with their
    published values of some attributes. Those of the last attributes are kept: each group of a query asks for them."""
    if not attributes:
        return _holdings(release, classes, ())
    return last(release, "holdings", (classes.key, *attributes), lambda: _holdings(release, classes, attributes))


def last(release: Opened, what: str, key: object, make: Callable[[], T]) -> T:
    """What a release has for a key, which is kept until another one is asked for."""
    before: tuple[object, T] | None = release.before.get(what)
    if before is None or before[0] != key:
        before = release.before[what] = key, make()
    return before[1]


def _holdings(release: Opened, classes: Classes, attributes: Sequence[Attribute]) -> Holdings:
    complete = not release.suppressed
    if not classes.parts and not release.local and not attributes:
        return {r: Counter({Holding((r,), (), complete): n}) for r, n in release.supports.items()}
    counted = None if attributes else transactions_by_item(release, classes)
    if counted is not None and release.numbered is not None:
        signatures, table = counted
        labels = release.numbered.labels
        items, which = np.nonzero(table)
        columns = (column.tolist() for column in (items, signatures[which], table[items, which]))
        return _numbered(release, classes, [(labels[item], *rest) for item, *rest in zip(*columns, strict=True)], {})
    held, cells = with_cells(release.engine, release.schema.table("records"), attributes, release.held(classes))
    if release.numbered is not None and not release.local:
        return _numbered(release, classes, release.numbered.by_item(held), cells)
    tables: dict[str, Table | exp.Query] = {"transactions": release.rows, "held": held}
    if release.local:
        tables["transaction_ids"] = release.ids
    if release.bags is not None:
        rows = release.engine.query("query/bag_signatures", {**tables, "chains": release.chains})
    else:
        rows = release.engine.query("query/local_signatures", tables)
    number = len(rows["released_item"])
    completeness = [complete] * number if "complete" not in rows else rows["complete"].tolist()
    items = rows["item" if "item" in rows else "released_item"].tolist()
    above = rows["above"].tolist() if "above" in rows else [None] * number
    columns = (rows[c].tolist() for c in ("released_item", "signature", "transactions"))
    by_label: Holdings = {}
    for label, signature, transactions, item, over, whole in zip(*columns, items, above, completeness, strict=True):
        shown, counts = _decoded(classes, signature, cells)
        holding = Holding((item, *(() if over is None else over)), counts, whole, shown)
        by_label.setdefault(label, Counter())[holding] += transactions
    return by_label


def transactions_by_item(release: Opened, classes: Classes) -> tuple[Array, Array] | None:
    """The number of transactions of each released item with each signature, as ``HeldRows.by_item``; None in a local
    recoding, and where the rows are not in memory."""
    numbered = release.numbered
    if numbered is None or release.local or classes.wide:
        return None
    if not classes.parts:
        supports = np.zeros((len(numbered.numbers) + 1, 1), np.int64)
        supports[[numbered.numbers[label] for label in release.supports], 0] = list(release.supports.values())
        return np.zeros(1, np.int64), supports
    return None if numbered.rows is None else numbered.rows.by_item(classes.codes())


def _numbered(
    release: Opened, classes: Classes, rows: Sequence[tuple[str, Any, int]], cells: Mapping[str, tuple[Cell, ...]]
) -> Holdings:
    """The holdings in a global recoding of sets, from the transactions that have a signature: all others have none."""
    by_label: Holdings = {label: Counter() for label in release.supports}
    complete = not release.suppressed
    decoded = cache(lambda signature: _decoded(classes, signature, cells))
    for label, signature, transactions in rows:
        shown, counts = decoded(signature)
        by_label[label][Holding((label,), counts, complete, shown)] += transactions
    none = classes.counts(None)
    for label, support in release.supports.items():
        rest = support - by_label[label].total()
        if rest:
            by_label[label][Holding((label,), none, complete)] += rest
    return by_label


def _decoded(
    classes: Classes, signature: Any, cells: Mapping[str, tuple[Cell, ...]]
) -> tuple[tuple[Cell, ...], tuple[int, ...]]:
    """The published values in a signature (see ``relational.with_cells``), and its numbers of released items."""
    shown, _, code = str(signature).partition("|") if cells else ("", "", signature)
    return cells.get(shown, ()), classes.counts(code)
