"""What an engine must do to make releases: checks that anybody can run, each against DuckDB. ``python -m
anondb.warehouse.conformance sqlite://shop.sqlite#sales`` checks the engine and, if a table is named, how it is read there.
The checks make work tables, and drop them."""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from anondb.algorithms.hghs.mhghs import mhghs
from anondb.data.taxonomy import Taxonomy, from_edges
from anondb.data.transactions import Dataset
from anondb.engine import Columns, Table, all_names, load, put_integers, reads, tuples
from anondb.engine.elsewhere import plug_in
from anondb.errors import AnondbError, BudgetExceeded, InputError
from anondb.models.transactional import KmAnonymity
from anondb.release.item_supports import SupportRule, item_supports
from anondb.verify.classes import verify_k_on
from anondb.verify.item_supports import verify_item_supports
from anondb.verify.km import verify_km
from anondb.warehouse.duckdb import DuckDBWarehouse
from anondb.warehouse.loading import coded, load_from
from anondb.warehouse.portable import PortableWarehouse

Pairs = Sequence[tuple[Any, str | None]]
STATEMENTS = tuple(
    name
    for name in all_names()
    if name.startswith(tuple(f"warehouse/{part}/" for part in ("load", "release", "threats", "verify", "workload")))
)
LABELS = (
    "'", '"', "''", "\\", "\\n", "\n", "a", "A", "a ", " a", "a\t", "é", "e\u0301", "ß", "ss", "\U0001f600", "%",
    "NULL", "$1", "{}", "--", "",
)  # fmt: skip
WRITTEN = (
    "1", "1.0", "+01.50", "-0", "-.50", "7.", "12345678901234567890123456789012.10", "true", "FALSE", "\u2003c\u00a0", "1\n",
    "2024-02-28", "2024-02-31", "10:00:00", "2024-02-28 00:00:00", "2024-02-28 10:00:00.5", "a 00:00:00", "2024-00123",
    "123-45-6789", "12:34:56:78:9a:bc", "6B1F0C0E-0000-4000-8000-00000000000a", "6b1f0c0e00004000800000000000000a",
    "1e3", "2024/02/28", "2024-02-28 10:00:00+02", "0000-01-01", "9:5", "{6b1f0c0e-0000-4000-8000-00000000000a}",
)  # fmt: skip
BIG = (2**62, 2**62 + 1, -(2**63), 2**63 - 1, 0, -1, 2**53, 2**53 + 1)
# others are 2
_VALUES = dict[str, int | str](k=3, low=1, high=3, first_from=0, chunk=3, how_many=4, step=1, blanks=" ")
_LABELLED = ("released_item", "label")  # and the items of tables that have one of these, or come from a source
_COUNTED = ("support", "n", "at_least", "at_most")


class Failed(Exception):
    """What an engine did not do. The text says what, and has no data but that of the checks."""


def _same(ours: Any, theirs: Any, what: str) -> None:
    if ours != theirs:
        raise Failed(f"{what} differ from those of DuckDB")


def kind_of(query: str, table: str, column: str) -> str:
    """The type of a column that a portable statement reads."""
    texts = table in ("source", "labels", "members", "released_items", "item_supports", "held")
    if (
        column in _LABELLED
        or (column == "item" and texts)
        or (table in ("source", "ids") and column == "id" and "/load/" in query)
    ):
        return "VARCHAR"
    return "DOUBLE" if column == "weight" else "BIGINT" if column in _COUNTED else "INTEGER"


def put(warehouse: Any, query: str, table: str, rows: Sequence[Sequence[Any]]) -> Table:
    """Create a table that a portable statement reads, with rows."""
    kinds = {c: kind_of(query, table, c) for c in load(query).reads[table] if c}
    created: Table = warehouse.put(f"example_{table}", columns_of(kinds, rows) or {"unused": ("INTEGER", [])})
    return created


def columns_of(kinds: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> dict[str, tuple[str, list[Any]]]:
    """Rows as columns ``{name: (type, values)}``."""
    return {name: (kind, [row[place] for row in rows]) for place, (name, kind) in enumerate(kinds.items())}


def random_rows(rnd: random.Random, query: str, table: str) -> list[tuple[Any, ...]]:
    """Rows of small numbers and short texts, at most one for each combination of all columns but numbers of rows."""
    columns = load(query).reads[table]
    keys = [c for c in columns if c not in (*_COUNTED, "last", "label", "copies", "weight")]
    rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for _ in range(rnd.choice([0, 1, 5, 12, 12])):
        row: dict[str, Any] = {
            c: rnd.choice(LABELS) if kind_of(query, table, c) == "VARCHAR" else rnd.randint(0, 4) for c in columns
        }
        if query == "warehouse/load/checks" and rnd.random() < 0.3:
            row[rnd.choice(columns)] = None
        rows[tuple(row[c] for c in keys)] = tuple(row.values())
    if columns == ("item", "label"):  # of a dictionary, both are unique
        rows = {(label,): (n, label) for n, (_, label) in enumerate({r[1]: r for r in rows.values()}.values())}
    return list(rows.values())


def rows_of(columns: Columns) -> list[tuple[Any, ...]]:
    """The rows of columns, sorted."""
    return sorted(tuples(columns), key=repr)


def loaded(warehouse: Any, pairs: Pairs, kind: str = "BIGINT") -> Dataset:
    """Code transactions ``(id, item)`` in a warehouse, as ``load_from`` does with those of a table."""
    source = warehouse.put("source", columns_of({"id": kind, "item": "VARCHAR"}, pairs))
    names = {"table": "", "id_column": "id", "item_column": "item", "id_type": kind, "item_type": "VARCHAR"}
    return coded(warehouse, source, names)


def random_case(rnd: random.Random) -> tuple[Taxonomy, list[tuple[int, str]]]:
    """A taxonomy of a random shape, and transactions of its leaves."""
    names = [*LABELS, *(f"n{i}" for i in range(9))]
    rnd.shuffle(names)
    edges: list[tuple[str, str | None]] = [(names[0], None)]
    leaves, place = [names[0]], 1
    while place < rnd.randint(4, 12):
        node = leaves.pop(rnd.randrange(len(leaves)))
        below = names[place : place + rnd.randint(1, 3)]
        edges += [(child, node) for child in below]
        leaves, place = leaves + below, place + len(below)
    pairs = [(t, i) for t in range(rnd.randint(4, 20)) for i in leaves if rnd.random() < 0.4]
    return from_edges(edges), pairs or [(0, leaves[0])]


def statements(warehouse: Any, names: Sequence[str] = STATEMENTS, seed: int = 0) -> None:
    """Each portable statement returns, and writes, what DuckDB returns."""
    reference = DuckDBWarehouse()
    for query in names:
        values = {p: _VALUES.get(p, 2) for p in load(query).params}
        rnd = random.Random(f"{query} {seed}")
        rows = {table: random_rows(rnd, query, table) for table in load(query).reads}
        results = []
        for engine in (reference, warehouse):
            with engine.snapshot():
                tables = {table: put(engine, query, table, content) for table, content in rows.items()}
                results.append(rows_of(engine.fetch(load(query).bind(tables, values), most=1000)))
                result = engine.create("result", query, tables, **values)
                written = reads.rows(result, ", ".join(load(query).returns))
                results.append(rows_of(engine.fetch(written, most=1000)))
        _same(results[1:], results[:1] * 3, f"Rows of {query}")


def texts(warehouse: Any) -> None:
    """Texts that differ by case, blanks or marks stay distinct, and stand in no statement."""
    said: list[str] = []
    told, warehouse.on_statement = warehouse.on_statement, said.append
    try:
        with warehouse.snapshot():
            dataset = loaded(warehouse, [(n, label) for n, label in enumerate(LABELS)])
    finally:
        warehouse.on_statement = told
    _same((dataset.labels, dataset.supports.tolist()), (tuple(sorted(LABELS)), [1] * len(LABELS)), "Items")
    if any(label in text for text in said for label in ("é", "\U0001f600", "a\t")):
        raise Failed("An item stands in the text of a statement")


def ids(warehouse: Any) -> None:
    """Big ids stay distinct; each person has one number from 1 on, and other numbers when it is drawn again. Their digests
    are those that DuckDB makes."""
    for kind, values in (("BIGINT", BIG), ("VARCHAR", (*LABELS, *WRITTEN))):
        digests = []
        for engine in (DuckDBWarehouse(), warehouse):
            with engine.snapshot():
                dataset = loaded(engine, [(i, "a") for i in values], kind)
                numbered = engine.fetch(reads.rows(dataset.ids, "tid, id"), most=100)
                digested = engine.digests(dataset.ids, "key")
                digests.append(rows_of(engine.fetch(reads.rows(digested, "digest, id"), most=100)))
        _same(digests[1], digests[0], "Digests of ids")
        _same(sorted(numbered["id"].tolist()), sorted(values), "Ids")
        _same(sorted(numbered["tid"].tolist()), list(range(1, len(values) + 1)), "Numbers of persons")
    orders = set()
    for _ in range(3):
        with warehouse.snapshot():
            dataset = loaded(warehouse, [(i, "a") for i in range(30)])
            orders.add(tuple(rows_of(warehouse.fetch(reads.rows(dataset.ids, "tid, id"), most=30))))
    if len(orders) < 3:
        raise Failed("Persons have the same numbers when these are drawn again")


def refusals(warehouse: Any) -> None:
    """NULLs are counted and refused; no more rows are fetched than stated; an error leaves no work table."""
    for pairs, code in (([(None, "a")], "null_id"), ([(1, None)], "null_item")):
        try:
            with warehouse.snapshot():
                loaded(warehouse, pairs)
        except InputError as error:
            _same(error.code, code, "Refusals of NULL")
        else:
            raise Failed("NULL was not refused")
    with warehouse.snapshot():  # work tables of the same names can be made again
        rows = warehouse.put("source", {"n": ("INTEGER", range(5))})
        before = warehouse.fetched
        try:
            warehouse.fetch(reads.rows(rows, "n"), most=4)
        except BudgetExceeded:
            _same(warehouse.fetched - before <= 5, True, "Numbers of fetched rows")
        else:
            raise Failed("More rows were fetched than stated")
    try:
        with warehouse.snapshot():
            warehouse.fetch(reads.rows(rows, "n"), most=5)
    except AnondbError:
        return
    raise Failed("A work table was left behind")


def recodings(warehouse: Any, seeds: Sequence[int] = range(6)) -> None:
    """The search finds the cut that it finds in DuckDB, and the verifier counts the same violations before and after."""
    reference = DuckDBWarehouse()
    for seed in seeds:
        rnd = random.Random(seed)
        taxonomy, pairs = random_case(rnd)
        model, results = KmAnonymity(rnd.randint(2, 4), rnd.randint(1, 3)), []
        for engine in (reference, warehouse):
            with engine.snapshot():
                results.append(_searched(engine, loaded(engine, pairs), taxonomy, model))
        _same(results[1], results[0], "Recodings")
        _same(results[1][-1], 0, "Violations of released rows")


def _searched(engine: Any, dataset: Dataset, taxonomy: Taxonomy, model: KmAnonymity) -> tuple[Any, ...]:
    """The items and their images, and how many violations the transactions have before and after they are recoded."""
    recoding = mhghs(engine, dataset, taxonomy, model)
    kept = np.flatnonzero(recoding.image >= 0)
    image = put_integers(engine, "image", item=kept, released=recoding.image[kept])
    columns = "one.tid, other.released AS item"
    recoded = engine.create("recoded", reads.joined(dataset.transactions, image, "item", columns, distinct=True))
    before, after = (verify_km(engine, rows, dataset.items, model).violations for rows in (dataset.transactions, recoded))
    return dataset.labels, recoding.image.tolist(), before, after


def supports(warehouse: Any, seeds: Sequence[int] = range(3)) -> None:
    """Item supports are those of DuckDB; their verifier accepts them, and rejects others."""
    reference = DuckDBWarehouse()
    for seed in seeds:
        rnd = random.Random(seed)
        rule = SupportRule(rnd.randint(2, 4), rnd.choice([1, 2, 3, None]))
        members = [(f"U{n}", f"{n}é{i}") for n in range(3) for i in range(rnd.randint(1, 4))]
        held = [{item for _, item in members if rnd.random() < 0.4} for _ in range(30)]
        results = [_supports_in(engine, members, held, rule) for engine in (reference, warehouse)]
        _same(results[1], results[0], "Item supports")
        _same(results[1][1] == 0 and (results[1][2] > 0 or not results[1][0]), True, "Verdicts on item supports")


def _supports_in(
    warehouse: Any, members: Sequence[tuple[str, str]], held: Sequence[set[str]], rule: SupportRule
) -> tuple[Any, int, int]:
    """The item supports of transactions, and how many violations they have as they are, and when they are raised by 1."""
    labels = sorted({label for label, _ in members})
    shown = sorted({(t, labels.index(label)) for t, items in enumerate(held) for label, item in members if item in items})
    counts = [
        (label, item, sum(labels.index(label) == n for _, n in shown), sum(item in items for items in held))
        for label, item in members
    ]
    texts, numbers = dict.fromkeys(("released_item", "item"), "VARCHAR"), dict.fromkeys(("support", "n"), "BIGINT")

    def put_rows(name: str, kinds: dict[str, str], rows: Sequence[Sequence[Any]]) -> Any:
        return warehouse.put(name, columns_of(kinds, rows))

    with warehouse.snapshot():
        columns = item_supports(warehouse, put_rows("counted", texts | numbers, [c for c in counts if c[2]]), rule)
        tables = (
            put_rows("coded", {"tid": "INTEGER", "item": "INTEGER"}, shown),
            put_rows("names", {"item": "INTEGER", "label": "VARCHAR"}, list(enumerate(labels))),
            put_rows("members", texts, members),
        )
        judged = []
        for more in (0, 1):
            raised = (columns["at_most"][0], np.asarray(columns["at_most"][1]) + more)
            written = warehouse.put("written", columns | {"at_most": raised})
            judged.append(verify_item_supports(warehouse, *tables, written, rule.k, rule.m))
            warehouse.drop(written)
        return rows_of({name: np.asarray(values) for name, (_, values) in columns.items()}), judged[0], judged[1]


def classes(warehouse: Any, seeds: Sequence[int] = range(4)) -> None:
    """The classes of equal transactions with fewer than k members are counted as a counter counts them."""
    for seed in seeds:
        rnd = random.Random(seed)
        kinds = [frozenset((i, rnd.randint(1, 2)) for i in range(9) if rnd.random() < 0.6) for _ in range(5)]
        drawn = [(rnd.choice(kinds), rnd.randint(0, 1)) for _ in range(rnd.randint(0, 25))]
        rows = [(tid, i, n) for tid, (held, _) in enumerate(drawn, 3) for i, n in held]
        columns = columns_of(dict.fromkeys(("tid", "item", "copies"), "INTEGER"), rows)
        persons = columns_of(dict.fromkeys(("tid", "complete"), "INTEGER"), [(t, n) for t, (_, n) in enumerate(drawn, 3)])
        with warehouse.snapshot():
            few = verify_k_on(warehouse, warehouse.put("rows", columns), warehouse.put("ids", persons), 3)
        _same(few, sum(n < 3 for n in Counter(drawn).values()), "Small classes")


def table(warehouse: Any, source: tuple[Any, str, str]) -> None:
    """A table of the user, with the names of its columns, is read and recoded there as its rows are when they are fetched.
    Its taxonomy has groups of five items."""
    reference, *columns = source
    with warehouse.snapshot():
        rows = warehouse.all_rows(reference)
    fetched = DuckDBWarehouse()
    fetched.database.register("fetched", rows)
    results = []
    for engine, place in ((fetched, "fetched"), (warehouse, reference)):
        with engine.snapshot():
            dataset = load_from(engine, place, id_column=columns[0], item_column=columns[1])
            facts = (dataset.n_transactions, dataset.lengths, dataset.duplicates, dataset.supports.tolist())
            root = max(("", *dataset.labels), key=len) + "."  # is longer than all items, as are other names that begin so
            edges = [(root, None), *((label, f"{root}{n // 5}") for n, label in enumerate(dataset.labels))]
            edges += [(f"{root}{n}", root) for n in range(len(dataset.labels[::5]))]
            results.append((facts, *_searched(engine, dataset, from_edges(edges), KmAnonymity(5, 2))))
    for what, theirs, ours in zip(("sizes", "items", "images", "violations", "violations"), *results, strict=True):
        _same(ours, theirs, f"In the table, {what}")


CHECKS: tuple[Callable[[Any], None], ...] = (statements, texts, ids, refusals, recodings, classes, supports)


def conform(warehouse: PortableWarehouse, source: tuple[Any, str, str] | None = None) -> Iterator[tuple[str, str, float]]:
    """Run all checks, also ``table`` on a source. Yield for each its name, what the engine did not do (empty if nothing),
    and the seconds."""
    of_table: list[Callable[[Any], None]] = [partial(table, source=source)] if source else []
    for check in (*CHECKS, *of_table):
        began = time.perf_counter()
        try:
            check(warehouse)
            failure = ""
        except (Failed, AnondbError) as error:
            failure = str(error)
        yield getattr(check, "__name__", "table"), failure, time.perf_counter() - began


def main(arguments: Sequence[str]) -> int:
    """Check the engine of a URL, and say what it does; 0 if it conforms."""
    opened = plug_in(arguments[0].partition("://")[0]) if arguments else None
    if opened is None:
        sys.stderr.write("Usage: python -m anondb.warehouse.conformance SCHEME://PLACE[#TABLE [ID ITEM]]\n")
        return 2
    warehouse, reference = opened(arguments[0])
    columns = arguments[1:3] or ("tid", "item")
    failures = 0
    for name, failure, seconds in conform(warehouse, (reference, columns[0], columns[1]) if reference else None):
        sys.stdout.write(f"{name:<12}{seconds:6.1f} s  {failure or 'conforms'}\n")
        failures += bool(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except AnondbError as error:
        sys.exit(f"anondb: {error}")
