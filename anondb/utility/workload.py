"""Workloads of COUNT queries: itemsets drawn from the data, or the owner's table of queries."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from anondb.data.sources import Source
from anondb.data.transactions import Dataset, id_of, lengths_of, text_of
from anondb.data.types import ID_TYPES, element_of
from anondb.engine import Engine, Origin, Rows, Runner, Table, reads
from anondb.engine.arrays import Ints
from anondb.engine.texts import quoted
from anondb.errors import InputError
from anondb.models import check_count
from anondb.utility.counting import count_itemsets

SMALL_MASS = 300_000
LARGE_MASS = 50_000_000
MIN_ACCEPTANCE = 0.02
MIN_DRAWS = 500
MAX_ROUNDS = 12

Drawn = tuple[Ints, Ints]
"""Itemsets, an array of shape (queries, q), and the support of each."""
SupportsOf = Callable[[Ints], Ints]
"""Counts the supports of itemsets without repeats."""


@dataclass(frozen=True, eq=False, repr=False)
class Workload:
    """COUNT queries: "how many transactions hold all of these items?"."""

    queries: Table  # work table ``(query_id, item)``, each pair once; item numbers are those of ``items``
    # work table, or query, ``(query_id, name)``: every query, including those without items, numbered from 1; the name
    # is the owner's id as text, or the number
    names: Rows
    # work table ``(item, label)`` of at least the items of the queries; numbers from ``Dataset.n_items`` on are items
    # that never occur in the data
    items: Table
    n_queries: int  # number of queries
    size: int | None  # number of items in each query; None if it differs
    seed: int | None  # the seed of drawn queries; None for the owner's queries
    draw: str  # ``all``, ``generalized`` or ``owner``
    table: str | None = None  # the plain name of the owner's table or file; None for drawn queries
    # support of each drawn query in the data; None for the owner's queries
    supports: Ints | None = field(default=None, compare=False)


def random_workload(
    engine: Engine,
    dataset: Dataset,
    *,
    queries: int = 1000,
    size: int = 2,
    seed: int = 0,
    pool: Ints | None = None,
    target: str = "workload",
) -> Workload:
    """Draw distinct supported itemsets uniformly, without replacement (docs/algorithms/metrics.md#are).

    The result depends on the data and the seed, not on the number of threads. If fewer itemsets exist, all are taken. If
    listing them would take too much memory, fewer than ``queries`` may be drawn, still uniformly.

    If the transactions contain few itemsets, all are listed. Otherwise rejection sampling makes each supported itemset
    equally likely: it draws itemsets of the pool and rejects those without support. If that rejects nearly all, it draws
    itemsets within transactions and keeps each with the probability 1 / support.

    Args:
        queries, size: number of queries (0 for none), and number of items in each.
        seed: 0 or more.
        pool: item numbers to draw from; None for all.
        target: prefix of the work tables.

    Raises:
        InputError: ``bad_parameter``.
    """
    wanted, q = int(check_count("queries", queries, low=0)), int(check_count("size", size))
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise InputError(f"seed must be an integer of at least 0, not {seed!r}.", code="bad_parameter")
    chosen, supports = _draw(engine, dataset, wanted, q, int(seed), pool)
    number = len(chosen)
    table = engine.put(
        f"{target}_queries",
        {"query_id": ("INTEGER", np.repeat(np.arange(1, number + 1), q)), "item": ("INTEGER", chosen.ravel())},
    )
    names = reads.rows(table, "query_id, CAST(query_id AS VARCHAR) AS name", distinct=True)
    draw = "all" if pool is None else "generalized"
    return Workload(table, names, dataset.items, number, q, int(seed), draw, supports=supports)


def _draw(engine: Engine, dataset: Dataset, wanted: int, q: int, seed: int, pool: Ints | None) -> Drawn:
    """Draw itemsets; they are returned in lexicographic order."""
    if not wanted:
        return np.empty((0, q), dtype=np.int64), np.empty(0, dtype=np.int64)
    origin = dataset.origin or Origin(engine, dataset.transactions)
    runner, transactions, ids = origin.runner, origin.transactions, origin.ids
    items = np.arange(dataset.n_items) if pool is None else np.unique(np.asarray(pool, dtype=np.int64))
    if pool is not None:
        listed = runner.put("pool", {"item": ("INTEGER", items)})
        transactions = runner.create("pool_rows", reads.joined(transactions, listed, "item", "one.tid, one.item"))
        runner.drop(listed)
    lengths = dataset.lengths if pool is None else lengths_of(runner, transactions)
    classes = [(length, number, number * math.comb(length, q)) for length, number in sorted(lengths.items()) if length >= q]
    mass = sum(weight for _, _, weight in classes)
    rng = np.random.default_rng(seed)

    supports_of = partial(count_itemsets, runner, transactions)
    from_pool = partial(_itemsets_of_pool, supports_of, items, q, rng)
    from_transactions = partial(_itemsets_of_transactions, runner, transactions, supports_of, classes, q, rng, ids)
    chosen, supports = np.empty((0, q), dtype=np.int64), np.empty(0, dtype=np.int64)
    if mass == 0:
        pass
    elif mass <= SMALL_MASS:
        chosen, supports = _sample_all(runner, transactions, q, rng, wanted)
    elif math.comb(len(items), q) <= 2 * wanted:
        chosen, supports = _sample_pool(supports_of, items, q, rng, wanted)
    else:
        density = min(1.0, mass / math.comb(len(items), q))
        if density >= MIN_ACCEPTANCE:
            chosen, supports = _collect(from_pool, wanted, q, int(3 * wanted / density))
        if len(chosen) < wanted:
            chosen, supports = _collect(from_transactions, wanted, q, 3 * wanted)
        if len(chosen) < wanted and mass <= LARGE_MASS:
            chosen, supports = _sample_all(runner, transactions, q, rng, wanted)
    if pool is not None:
        runner.drop(transactions)
    order = np.lexsort(chosen.T[::-1])
    return chosen[order], supports[order]


def _collect(attempt: Callable[[int], Drawn], wanted: int, q: int, draws: int) -> Drawn:
    """Collect the first ``wanted`` distinct itemsets of independent uniform draws: a sample without replacement.
    ``attempt(n)`` makes n draws, ``draws`` at first, and returns the accepted itemsets in draw order. The loop stops after a
    few rounds, or if nearly all draws are rejected. That depends on the number of accepted itemsets only, so it favours no
    itemset."""
    collected: dict[tuple[int, ...], int] = {}
    for _ in range(MAX_ROUNDS):
        draws = max(draws, MIN_DRAWS)
        accepted, supports = attempt(draws)
        collected.update(zip(map(tuple, accepted.tolist()), supports.tolist(), strict=True))
        if len(collected) >= wanted or len(accepted) <= MIN_ACCEPTANCE * draws:
            break
        missing = (wanted - len(collected)) / (len(accepted) / draws)
        draws = int(min(1.2 * missing, 50 * wanted)) + 1
    itemsets = np.array(list(collected)[:wanted], dtype=np.int64).reshape(-1, q)
    return itemsets, np.array(list(collected.values())[:wanted], dtype=np.int64)


def _supports(supports_of: SupportsOf, itemsets: Ints) -> Ints:
    """The support of each row; equal rows are looked up once."""
    distinct, place = np.unique(itemsets, axis=0, return_inverse=True)
    return np.asarray(supports_of(distinct)[place.ravel()])


def _itemsets_of_pool(supports_of: SupportsOf, items: Ints, q: int, rng: np.random.Generator, number: int) -> Drawn:
    """Draw uniform itemsets of the pool and reject those without support."""
    drawn = np.sort(items[_distinct_places(rng, np.full(number, len(items)), q)], axis=1)
    supports = _supports(supports_of, drawn)
    return drawn[supports > 0], supports[supports > 0]


def _itemsets_of_transactions(
    runner: Runner,
    transactions: Table,
    supports_of: SupportsOf,
    classes: list[tuple[int, int, int]],
    q: int,
    rng: np.random.Generator,
    ids: Table | None,
    number: int,
) -> Drawn:
    """Draw uniform occurrences of itemsets and keep each with the probability 1 / support, which makes itemsets uniform.
    Where ``ids`` are given, the numbers of transactions are drawn: these are counted in the order of their ids instead."""
    mass = sum(weight for _, _, weight in classes)
    which = rng.choice(len(classes), size=number, p=[weight / mass for _, _, weight in classes])
    length = np.array([c[0] for c in classes], dtype=np.int64)[which]
    nth = rng.integers(0, np.array([c[1] for c in classes], dtype=np.int64)[which])
    places = _distinct_places(rng, length, q)
    draws = runner.put(
        "draws",
        {
            "draw": ("INTEGER", np.repeat(np.arange(number), q)),
            "length": ("BIGINT", np.repeat(length, q)),
            "nth": ("BIGINT", np.repeat(nth, q)),
            "place": ("BIGINT", places.ravel()),
        },
    )
    rows: Rows = transactions
    if ids is not None:
        ordered = reads.rows(ids, "tid, row_number() OVER (ORDER BY id) AS place")
        rows = reads.joined(transactions, ordered, "tid", "other.place AS tid, one.item")
    tables = {"transactions": rows, "draws": draws}
    drawn = runner.fetch("warehouse/workload/drawn_itemsets", tables, most=number * q)["item"]
    runner.drop(draws)
    itemsets = drawn.astype(np.int64).reshape(number, q)
    supports = _supports(supports_of, itemsets)
    keep = rng.random(number) * supports < 1
    return itemsets[keep], supports[keep]


def _distinct_places(rng: np.random.Generator, limits: Ints, q: int) -> Ints:
    """Draw q distinct integers below each limit, all subsets equally likely (Floyd's algorithm, row by row). Limits are at
    least q."""
    places = np.empty((len(limits), q), dtype=np.int64)
    for column in range(q):
        top = limits - q + column
        drawn = rng.integers(0, top + 1)
        taken = (places[:, :column] == drawn[:, None]).any(axis=1)
        places[:, column] = np.where(taken, top, drawn)
    return places


def _sample_pool(supports_of: SupportsOf, items: Ints, q: int, rng: np.random.Generator, wanted: int) -> Drawn:
    """Sample the supported itemsets of a small pool by counting all of its itemsets."""
    every = np.array(list(combinations(items.tolist(), q)), dtype=np.int64)
    supports = supports_of(every)
    held = np.flatnonzero(supports)
    chosen = held[rng.choice(len(held), size=min(wanted, len(held)), replace=False)]
    return every[chosen], supports[chosen]


def _sample_all(runner: Runner, transactions: Table, q: int, rng: np.random.Generator, wanted: int) -> Drawn:
    """Sample all supported itemsets, which a q-way join lists and numbers in lexicographic order."""
    columns = [f"item{i}" for i in range(1, q + 1)]
    shown = ", ".join(columns)
    listed = reads.counted(reads.itemsets(transactions, columns), shown, count="support")
    number = f"row_number() OVER (ORDER BY {shown}) AS number, {shown}, support"
    table = runner.create("supported_itemsets", reads.rows(listed, number))
    total = int(runner.fetch(reads.counted(table), most=1)["n"][0])
    picks = runner.put("picks", {"number": ("BIGINT", rng.choice(total, size=min(wanted, total), replace=False) + 1)})
    asked = reads.joined(table, picks, "number", f"{shown}, support", order=shown)
    chosen = runner.fetch(asked, most=min(wanted, total))
    runner.drop(table, picks)
    return np.stack([chosen[c].astype(np.int64) for c in columns], axis=1), chosen["support"].astype(np.int64)


def _first_column(source: Source, names: tuple[str, ...], what: str) -> str:
    lowered = {c.lower(): c for c in source.columns}
    for name in names:
        if name in lowered:
            return lowered[name]
    raise InputError(
        f"{source.name} has no column for the {what} of a query.",
        code="no_such_column",
        hint=f"Name it {' or '.join(repr(n) for n in names)}.",
    )


def owner_workload(engine: Engine, dataset: Dataset, source: Source, *, target: str = "workload") -> Workload:
    """Read the owner's queries: one row for each ``(query_id, item)``, or one row for each query with a list of items.

    An item that never occurs in the data is allowed: its true count is 0, but a released item may stand for it. A query
    with an empty list counts all transactions. In a ``.dat`` file a query is a line.

    Args:
        source: a table with the columns ``query_id`` (any exact type) and ``item`` or ``items`` (may be a LIST).
        target: prefix of the work tables.

    Raises:
        InputError: missing columns, inexact types, NULL ids (``null_id``) or items (``null_item``), no query.
    """
    id_column = _first_column(source, ("query_id", "tid"), "id")
    item_column = _first_column(source, ("items", "item"), "items")
    id_type, item_type = source.columns[id_column], source.columns[item_column]
    element = element_of(source, item_column)
    if not ID_TYPES.match(id_type):
        raise InputError(
            f"The column {id_column!r} of {source.name} has a type that queries cannot have.",
            code="bad_type",
            hint="Name the queries by texts, integers, booleans, dates or enums.",
        )
    ids = f"{id_of(id_column, id_type)} AS id"
    if element is None:
        texts = f"{text_of(item_column, item_type)} AS item"
        every = rows = engine.create(f"{target}_rows", reads.rows(source.query, f"{ids}, {texts}"))
    else:
        lists = f"CAST({quoted(item_column)} AS VARCHAR[]) AS items"
        every = engine.create(f"{target}_lists", reads.rows(source.query, f"{ids}, {lists}"))
        rows = engine.create(f"{target}_rows", reads.rows(every, "id, unnest(items) AS item"))
    _refuse_nulls(engine, source, every, rows, element is not None)

    numbers = "CAST(row_number() OVER (ORDER BY id) AS INTEGER) AS query_id, id, CAST(id AS VARCHAR) AS name"
    names = engine.create(f"{target}_names", reads.rows(reads.rows(every, "id", distinct=True), numbers))
    tables = {"source": rows, "items": dataset.items}
    items = engine.create(f"{target}_items", "utility/query_items", tables, n_items=dataset.n_items)
    asked = reads.joined(rows, names, "id", "other.query_id, one.item")
    coded = "one.query_id, other.item"
    matched = reads.joined(asked, items, "item = label", coded, distinct=True, order="query_id, item")
    pairs = engine.create(f"{target}_queries", matched)
    engine.drop(*dict.fromkeys((rows, every)))
    shape = engine.query("utility/query_shape", {"names": names, "queries": pairs})
    number, smallest, largest = (int(shape[c][0]) for c in ("queries", "smallest", "largest"))
    if not number:
        raise InputError(
            f"{source.name} holds no query.", code="empty_workload", hint="Give one row for each item of a query."
        )
    return Workload(pairs, names, items, number, smallest if smallest == largest else None, None, "owner", source.table)


def _refuse_nulls(engine: Engine, source: Source, every: Table, rows: Table, listed: bool) -> None:
    counts: dict[str, Any] = engine.query("transactions/null_counts", {"source": rows})
    ids, items = int(counts["null_ids"][0]), int(counts["null_items"][0])
    if listed:
        lists = reads.rows(every, "id, array_to_string(items, '') AS item")
        counts = engine.query("transactions/null_counts", {"source": lists})
        ids, items = int(counts["null_ids"][0]), items + int(counts["null_items"][0])
    if ids:
        raise InputError(f"{ids} rows of {source.name} have no query id.", code="null_id", hint="Give each query an id.")
    if items:
        raise InputError(f"{items} rows of {source.name} have a NULL item.", code="null_item", hint="Filter them out.")
