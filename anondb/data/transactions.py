"""Load transactions: take one snapshot of the source, check it, and code it as integers in DuckDB work tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from anondb.data.layouts import ITEMS, arranged, is_single
from anondb.data.sources import Partition, Source, count_if, figures, reading, unseen
from anondb.data.types import LISTS, ROWS, check_id_type, check_types, item_type, kind_of, released_type, short
from anondb.engine import Engine, Origin, Query, Rows, Runner, Table, check_collation, reads
from anondb.engine.arrays import Ints
from anondb.engine.texts import Sql, quoted, sql, type_text
from anondb.errors import InputError, agreeing
from anondb.reading.account import Account
from anondb.reading.options import PEOPLE

MAX_LABEL_BYTES = 10_000_000
MAX_LENGTHS = 1_000_000
_FIRST = 10_000  # rows in which columns are looked at
"""Layouts of the original."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Transactions coded as integers: handles to the DuckDB work tables, and aggregates per item."""

    transactions: Table  # work table ``(tid, item)``, each pair once, sorted
    # work table ``(tid, id)``: every transaction, empty ones included, numbered from 1 in the order of its id
    ids: Table
    items: Table  # work table ``(item, label)``, numbered from 0 in code-point order of the labels
    labels: tuple[str, ...]  # label of each item, by item number
    supports: Ints  # support of each item, by item number
    n_transactions: int  # N
    lengths: dict[int, int]  # number of transactions of each length above 0
    # table, id_column, item_column: the names of the source and its columns
    table: str
    id_column: str
    item_column: str
    reference: Table | None = None  # the source's table or view; None for files and data frames
    duplicates: int = 0  # number of source rows that repeat another
    is_table: bool = True  # whether a count on the rows of the source is a count on these transactions
    warnings: tuple[str, ...] = field(default=())  # remarks for the owner
    # work table ``(tid, item, copies)``: how often each transaction has each item; None unless repeated rows count
    bags: Table | None = None
    n_bag_occurrences: int = 0  # the sum of these copies
    source: str = "the transactions"  # the name of the source in messages
    # the type of its items (``kind_of``); None if the source is untyped text, such as a CSV file
    item_kind: str | None = None
    # whether the analyst's table has a row for each item (``ROWS``) or a list for each person (``LISTS``)
    layout: str = ROWS
    # id_type, item_type: the types that the manifest names; of lists, that of their elements
    id_type: str = "BIGINT"
    item_type: str = "VARCHAR"
    partition: Partition | None = None  # the part of the source's persons that they are; None for all
    account: Account | None = None  # what was read of the file; None for other sources
    left_out: tuple[str, ...] = ()  # the columns of the source that are neither ids nor items, by name
    # work table ``(person)``, the digests of its persons (``publications.persons``); None if ``ids`` has ids
    digests: Table | None = None
    origin: Origin | None = None  # where queries on it are counted; None if that is in ``transactions``

    @property
    def asked_item(self) -> str:
        """The name of the column of items in a release: ``item`` if several became one."""
        return self.item_column if "," not in self.item_column and "*" not in self.item_column else ITEMS

    @property
    def n_items(self) -> int:
        """The number of distinct items."""
        return len(self.labels)

    @cached_property
    def n_occurrences(self) -> int:
        """The number of distinct (transaction, item) pairs."""
        return sum(length * number for length, number in self.lengths.items())

    @property
    def longest(self) -> int:
        """The length of the longest transaction; 0 without items."""
        return max(self.lengths, default=0)

    @property
    def non_empty(self) -> int:
        """The number of transactions with at least one item."""
        return sum(self.lengths.values())


def text_of(column: str, kind: str) -> Sql:
    """A column as VARCHAR without a collation (a NOCASE column would merge items that differ by case)."""
    return sql("decode(encode({}))" if kind == "VARCHAR" else "CAST({} AS VARCHAR)", quoted(column))


def id_of(column: str, kind: str) -> Sql:
    """An id column: text and enums as in ``text_of``, other types unchanged."""
    return text_of(column, kind) if kind.startswith(("VARCHAR", "ENUM")) else quoted(column)


_IDS = "id, CAST(NULL AS VARCHAR) AS item"  # the ids of a snapshot, as rows without an item


def load_transactions(engine: Engine, source: Source, *, more_ids: Source | None = None, bags: bool = False) -> Dataset:
    """Read the source once and code its transactions as integers. Its items may be a LIST, or several columns separated by
    commas, which become one (``anondb.data.layouts``). The additional ids of ``more_ids``, a second source with the same id
    column, become empty transactions; with ``bags`` repeated items of a transaction count. Raises InputError: missing
    columns, types that cannot be compared exactly, NULL ids or items, over-long items."""
    check_collation(engine.scalar("transactions/collation"))
    original, named = source, source.item
    source, id_column, item_column = arranged(engine, source, source.id, source.item)
    changed = item_column not in original.columns or original.columns[item_column] != source.columns[item_column]
    element = check_types(source, id_column, item_column)
    id_type = source.columns[id_column]
    if more_ids is not None and not source.typed and id_type == "BIGINT":
        if id_column not in {name.lower() for name in more_ids.columns}:
            words = f"{more_ids.name} has no column {id_column!r} with the numbers of their rows."
            hint = f"Give it a column {id_column}: 1 for the person of the first row, and so on."
            raise InputError(f"The transactions have no ids, but {words}", code="no_such_column", hint=hint)
        id_type = id_type if more_ids.typed else "VARCHAR"
    pairs, rows = _copied(engine, source, id_column, item_column, element, id_type)
    total, missing = _check_values(engine, source, pairs, rows)
    merged = 0
    ids: Rows = pairs
    if rows is not pairs:
        merged = int(engine.scalar(reads.rows(rows, "count(*) - count(DISTINCT id) AS n")))
        ids = reads.rows(rows, _IDS)
    if more_ids is not None:
        further = _more_ids(engine, more_ids, id_column, id_type)
        ids = reads.union([reads.rows(ids, "id, item"), further])
    items = item_column if is_single(original, named) else named
    of_lines = rows is not pairs and more_ids is None and not source.typed and source.columns[id_column] == "BIGINT"
    dataset = _coded(engine, source, pairs, ids, id_column, items, bags, of_lines)
    used = (id_column, item_column, source.partition and source.partition.column)
    dataset = replace(dataset, left_out=tuple(name for name in source.columns if name not in used))
    duplicates, kind = total - dataset.n_occurrences, element or source.columns[item_column]
    cancelling = _cancelling(engine, original, [name for name in dataset.left_out if name in original.columns])
    return replace(
        dataset,
        duplicates=duplicates,
        is_table=not merged and not missing and not changed and (bags or not duplicates),
        warnings=(*enum_remark(item_column, kind), *cancelling, *remarks_on(dataset, duplicates, merged, missing)),
        n_bag_occurrences=total if bags else 0,
        item_kind=kind_of(kind) if source.typed else None,
        layout=ROWS if element is None or changed or source.of_lines else LISTS,
        id_type=released_type(source.columns[id_column]),
        item_type=item_type(kind, dataset.labels),
        account=_accounted(engine, source, dataset, missing),
    )


def _cancelling(engine: Engine, source: Source, columns: Sequence[str]) -> list[str]:
    """A remark on columns of numbers that few rows have with a minus or a letter before, as those have that cancel others;
    the columns are found in the first rows."""
    sums = {
        f"{kind}{n}": count_if(sql("regexp_matches(CAST({} AS VARCHAR), {})", quoted(name), pattern))
        for n, name in enumerate(columns)
        for kind, pattern in (("filled", "."), ("plain", "^[0-9]"), ("marked", "^[A-Za-z-][0-9]"))
    }
    first = figures(engine, source, sums, _FIRST) if sums else {}
    of = [tuple(first[f"{kind}{n}"] for kind in ("filled", "plain", "marked")) for n in range(len(columns))]
    few = [n for n, (filled, plain, marked) in enumerate(of) if 0 < 4 * marked <= plain and plain + marked > 0.95 * filled]
    counts = figures(engine, source, {str(n): sums[f"marked{n}"] for n in few}) if few else {}
    where = ", ".join(f"{counts[str(n)]:,} in {columns[n]!r}" for n in few)
    words = f"Rows have a number with a minus or a letter before it, unlike most: {where}. If they cancel others, a view"
    return [f"{words} leaves both out."] if few else []


def _copied(
    engine: Engine, source: Source, id_column: str, item_column: str, element: str | None, id_type: str
) -> tuple[Table, Table]:
    """Read the source once; ``element`` is the type of the elements of a LIST item column. Returns its pairs ``(id, item)``,
    and its rows, which are the same, or have a list each; both have the ids in ``id_type``."""
    kind = source.columns[id_column]
    items = quoted(item_column)
    ids = id_of(id_column, kind) if kind == id_type else sql("CAST({} AS {})", quoted(id_column), type_text(id_type))
    if element != "VARCHAR":
        of_lists = sql("CAST({} AS VARCHAR[])", items)
        items = text_of(item_column, source.columns[item_column]) if element is None else of_lists
    with reading(source.name):
        rows = engine.create("source", reads.rows(source.query, f"{ids} AS id, {items} AS item"))
    return (rows if element is None else engine.create("pairs", reads.rows(rows, "id, unnest(item) AS item"))), rows


def _check_values(engine: Engine, source: Source, pairs: Table, rows: Table) -> tuple[int, int]:
    """Refuse NULLs, or delete the rows without an id if the owner leaves them out, and refuse over-long items. Returns the
    number of (transaction, item) pairs that are left, repeated ones included, and of rows without an id or an item."""
    facts = _facts(engine, pairs)
    read = facts if rows is pairs else _facts(engine, reads.rows(rows, _IDS))
    if source.account is not None:
        source.account.check(read["total"])
    if read["null_ids"] and source.how.drop_missing_ids:
        for table in {pairs, rows}:
            engine.run(sql("DELETE FROM {} WHERE id IS NULL", table), "leaving rows out")
        facts = _facts(engine, pairs)
    missing = missing_of(source, read["null_ids"], facts["null_items"])
    if facts["longest"] > MAX_LABEL_BYTES:
        raise InputError(f"An item is longer than {MAX_LABEL_BYTES} bytes.", code="item_too_long")
    return facts["total"] - facts["null_items"], missing


def missing_of(source: Source, ids: int, items: int) -> int:
    """The number of rows without an id, or with an id and without an item, all of which the owner leaves out. Raises
    InputError: ``null_id`` or ``null_item``: the owner does not say so."""
    if ids and not source.how.drop_missing_ids:
        hint = "Give each row an id, or leave these rows out with --drop-missing-ids."
        raise InputError(f"{ids} rows of {source.name} have no id.", code="null_id", hint=hint)
    if items and not source.how.drop_missing_items:
        hint = "Leave them out with --drop-missing-items, which keeps their persons, or filter them out."
        raise InputError(f"{items} rows of {source.name} have a NULL item.", code="null_item", hint=hint)
    return ids + items


def _accounted(engine: Engine, source: Source, dataset: Dataset, missing: int) -> Account | None:
    """The complete account of the rows of a file; None for other sources, also if these read files that nobody sees."""
    account = source.account or unseen(engine, source, "transactions")
    if account is None:
        return None
    account = replace(account, transactions=dataset.n_transactions, items=dataset.n_items)
    if source.account is not None:
        account = replace(account, missing=missing, left_out=() if source.how.layout == PEOPLE else dataset.left_out)
    engine.account(account)
    return account if source.account is not None else None


def _facts(engine: Engine, rows: Rows) -> dict[str, int]:
    """The number of rows and of NULLs of a snapshot."""
    return {name: int(column[0]) for name, column in engine.query("transactions/null_counts", {"source": rows}).items()}


def _coded(
    engine: Engine, source: Source, pairs: Table, rows: Rows, id_column: str, item_column: str, bags: bool, of_lines: bool
) -> Dataset:
    """Code the transactions as integers, and drop the pairs; ``rows`` have all ids, which number lines if ``of_lines``."""
    if of_lines:
        ids = engine.create("ids", reads.rows(rows, "CAST(id AS INTEGER) AS tid, id"))
        numbered = reads.rows(pairs, "CAST(id AS INTEGER) AS tid, item")
    else:
        ids = engine.create("ids", "transactions/ids", {"source": rows})
        numbered = reads.joined(pairs, ids, "id", "other.tid, one.item")
    items = engine.create("items", "warehouse/load/items", {"source": pairs})
    tables: dict[str, Rows] = {"source": numbered, "items": items}
    coded = engine.create(
        "transactions", reads.once(reads.joined(numbered, items, "item = label", "one.tid, other.item"), "tid, item")
    )
    counted = engine.create("bags", "transactions/bags", tables) if bags else None
    engine.drop(pairs)
    counts = engine.query("warehouse/load/item_counts", {"transactions": coded, "items": items})
    return Dataset(
        transactions=coded,
        ids=ids,
        items=items,
        labels=tuple(counts["label"].tolist()),
        n_transactions=int(engine.scalar(reads.counted(ids))),
        supports=counts["support"].astype(np.int64),
        lengths=lengths_of(engine, coded),
        table=source.table,
        reference=source.reference,
        id_column=id_column,
        item_column=item_column,
        bags=counted,
        source=source.name,
        partition=source.partition,
    )


def remarks_on(dataset: Dataset, duplicates: int, merged: int, missing: int = 0) -> tuple[str, ...]:
    """Remarks for the owner; ``merged`` rows repeat the id of another list, ``missing`` have no id or no item."""
    near = dataset.n_items - len({label.strip() for label in dataset.labels})
    how = "count once" if dataset.bags is None else "count as further occurrences"
    remarks = {
        f"{missing} rows without an id or an item are left out.": missing,
        f"{near} items differ from another only by white space at the ends; they stay distinct.": near,
        f"{duplicates} rows repeated an item of the same transaction and {how}.": duplicates,
        f"{merged} rows repeated the id of another; the lists of an id are read as one.": merged,
        "The source is empty, and so is the release.": not dataset.n_transactions,
    }
    return tuple(agreeing(remark) for remark, holds in remarks.items() if holds)


def enum_remark(name: str, kind: str) -> list[str]:
    """A remark on a column of an ENUM, whose order analysts do not see: its text would list what the column may hold."""
    words = f"{name!r} is released as texts: analysts' queries order them as texts, not as the ENUM does."
    return [words] if kind.startswith("ENUM") else []


def lengths_of(runner: Runner, transactions: Table) -> dict[int, int]:
    """The number of transactions of each length in a table ``(tid, item)``; empty transactions have no row there."""
    sizes = reads.counted(transactions, "tid", count="length")
    counts = runner.fetch(reads.counted(sizes, "length", order="length"), most=MAX_LENGTHS)
    return dict(zip(counts["length"].tolist(), counts["n"].tolist(), strict=True))


def _more_ids(engine: Engine, source: Source, id_column: str, id_type: str) -> Query:
    """The ids of a second source, as rows without an item."""
    column = source.column(id_column, "--id")
    check_id_type(source, column)
    kind = source.columns[column]
    if kind_of(kind) != kind_of(id_type):
        raise InputError(
            f"The id column {column!r} of {source.name} has the type {short(kind)}, that of the transactions"
            f" {short(id_type)}.",
            code="bad_type",
            hint="Cast one of them: ids are never converted silently.",
        )
    with reading(source.name):
        ids = engine.create("source_ids", reads.rows(source.query, f"{id_of(column, kind)} AS id"))
    if null_ids := int(engine.query("transactions/null_counts", {"source": reads.rows(ids, _IDS)})["null_ids"][0]):
        raise InputError(f"{null_ids} rows of {source.name} have no id.", code="null_id", hint="Give each row an id.")
    return reads.rows(ids, _IDS)


def fingerprint(engine: Engine, dataset: Dataset) -> str:
    """A digest of the source data, independent of the order of its rows; for the owner's ledger only."""
    sets = reads.rows(dataset.transactions, "tid, item, 1 AS copies")
    tables = {"transactions": dataset.bags or sets, "ids": dataset.ids, "items": dataset.items}
    return str(engine.scalar("transactions/fingerprint", tables))
