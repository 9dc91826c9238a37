"""Each query of the transactions and itemsets folders on tiny tables, and every query bound in DuckDB."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import sqlglot
from each import each
from sqlglot import exp

from anondb.engine import Engine, Table, all_names, load, query_of
from anondb.engine.locked import HAS_TRIGGERS
from anondb.engine.queries import NamedQuery
from anondb.errors import InternalError

Row = tuple[Any, ...]


@dataclass
class Example:
    """Tables as ``(columns with types, rows)``, values, and the rows that come back in any order."""

    query: str
    rows: Sequence[Row]
    tables: Mapping[str, tuple[str, Sequence[Row]]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    ordered: bool = False


TRANSACTIONS = ("tid INTEGER, item INTEGER", [(1, 0), (1, 1), (2, 0), (2, 1), (3, 1), (4, 2)])
IDS = ("tid INTEGER, id VARCHAR", [(1, "x"), (2, "y"), (3, "z"), (4, "w"), (5, "empty")])
ITEMS = ("item INTEGER, label VARCHAR", [(0, "a"), (1, "b"), (2, "b ")])
SOURCE = ("id VARCHAR, item VARCHAR", [("x", "b"), ("x", "a"), ("x", "b"), ("y", "é"), ("z", "")])
# Root 0 with the children 1 (leaves 2, 3) and 4: (tid, node), as extended; last node of each subtree.
EXTENDED = ("tid INTEGER, node INTEGER", [(t, n) for t in (1, 2) for n in (0, 1, 2, 3, 4)] + [(3, 0), (3, 1), (3, 2)])
LAST = {0: 4, 1: 3, 2: 2, 3: 3, 4: 4}
COLUMNS = "tid INTEGER, node INTEGER, last INTEGER, family INTEGER"
REACHABLE = (COLUMNS, [(t, n, LAST[n], -1) for t, n in EXTENDED[1]])
FAMILIES = (COLUMNS, [(t, n, LAST[n], {2: 1, 3: 1, 4: 0}.get(n, -1)) for t, n in EXTENDED[1]])
PAIRS = [(2, 2, 9), (2, 3, 1), (2, 4, 3), (2, 5, 2), (2, 6, 1), (4, 4, 3), (4, 5, 2)]
RARE = ("n1 INTEGER, n2 INTEGER, support INTEGER", PAIRS)
# Itemsets of one item each, numbered like it, and pairs of them.
SETS = (
    "tid INTEGER, prefix INTEGER, member INTEGER, itemset INTEGER",
    [(1, 0, 0, 0), (1, 0, 1, 1), (1, 0, 2, 2), (2, 0, 0, 0), (2, 0, 1, 1), (3, 0, 2, 2)],
)
JOINED = ("tid INTEGER, first_set INTEGER, second_set INTEGER", [(1, 0, 1), (1, 0, 2), (1, 1, 2), (2, 0, 1)])
ALL = {"first_from": 0, "first_to": 9}

EXAMPLES = [
    Example(
        "taxonomies/values",
        [(None, 1), ("a", 2), ("b", 1)],
        {"source": ("id INTEGER, value VARCHAR", [(1, "a"), (2, "a"), (2, "a"), (3, "b"), (4, None)])},
        ordered=True,
    ),
    Example(  # two persons of class 1, one with an unknown value in 3 to 5
        "report/released_ranges",
        [(3.0, 5.0, 2, 1), (0.0, 0.0, 1, 0)],
        {
            "shown": (
                "low INTEGER, high INTEGER, missing BOOLEAN",
                [(0, 0, False), (3, 5, False), (3, 5, True), (None, None, True)],
            )
        },
        ordered=True,
    ),
    Example(  # a range of one value is in one bin
        "report/range_histogram",
        [(0, 2.0, 2.0), (1, 0.0, 2.0), (2, 1.0, 3.0)],
        {
            "original": ("value DOUBLE", [(0,), (1,), (6,)]),
            "ranges": ("low DOUBLE, high DOUBLE, persons DOUBLE", [(1, 5, 4), (0, 0, 1), (4, 4, 1), (6, 6, 1)]),
        },
        {"first": 0.0, "width": 2.0, "bins": 3},
        ordered=True,
    ),
    Example(  # three times a third is less than 1 in numbers
        "report/range_histogram",
        [(0, 0.0, 0.0), (1, 0.0, 0.0), (2, 1.0, 1.0)],
        {"original": ("value DOUBLE", [(1.0,)]), "ranges": ("low DOUBLE, high DOUBLE, persons DOUBLE", [(1.0, 1.0, 1)])},
        {"first": 0.0, "width": 1 / 3, "bins": 3},
        ordered=True,
    ),
    Example(  # NULL is a value; nobody in the source has c or d
        "report/category_histogram",
        [("(none)", 2.0, 1.0, 2.0), ("a", 2.0, 3.0, 2.0), ("c", 0.0, 0.5, 1.0), ("d", 0.0, 0.5, 1.0)],
        {
            "original": ("value VARCHAR", [("a",), ("a",), (None,), (None,)]),
            "shown": ("label VARCHAR", [("{a, NULL}",), ("{a, NULL}",), ("a",), ("a",), ("{c, d}",)]),
            "released_values": (
                "attribute VARCHAR, released_value VARCHAR, value VARCHAR",
                [
                    ("x", "{a, NULL}", "a"),
                    ("x", "{a, NULL}", None),
                    ("x", "a", "a"),
                    ("y", "a", "b"),
                    ("x", "{c, d}", "c"),
                    ("x", "{c, d}", "d"),
                ],
            ),
        },
        {"attribute": "x"},
    ),
    Example(  # 0 for a right answer; 1 for the answer 0; none where the truth is 0; by statement; of one workload alone
        "compare/symmetric_errors",
        [(0, 1, 2, 0.5, 1.0), (0, 2, 1, 0.75, 3.0), (2, 0, 2, 0.5, 0.5)],
        {
            "accuracy": (
                "workload VARCHAR, query_id VARCHAR, truth INTEGER, estimate DOUBLE",
                [
                    *(("r: 1", "a", 3, 0), ("r: 1", "b", 0, 1), ("r: 1", "c", 7, 7), ("s", "a", 1, 9)),
                    *(("r: 2", "1: F, 2: x", 2, 4), ("r: 2", "1", 2, 4), ("r: 2", "2", 1, 4)),
                ],
            ),
            "workloads": (
                "workload VARCHAR, query_id VARCHAR, items VARCHAR[]",
                [
                    *(("r: 1", q, ["x", "y"]) for q in "abc"),
                    *(("r: 2", q, None) for q in ("1: F, 2: x", "1", "2")),
                    ("s", "a", ["x"]),
                ],
            ),
        },
        {"prefix": "r: "},
        ordered=True,
    ),
    Example(
        "guide/items_in_classes",
        [(1, 1), (2, 1), (3, 2)],
        {
            "transactions": TRANSACTIONS,
            "classes": ("tid INTEGER, class INTEGER", [(1, 1), (2, 1), (3, 2), (4, 1)]),
            "hidden": ("item INTEGER", [(0,), (2,)]),
        },
    ),
    Example(
        "guide/newly_alone_by_one",
        [(3,)],
        {
            "transactions": ("tid INTEGER, item INTEGER", [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3)]),
            "alone": ("tid INTEGER", [(1,), (2,)]),
        },
    ),
    Example("transactions/collation", [("",)]),
    Example("transactions/catalog", [], values={"wanted": "nothing"}),
    Example("transactions/table_names", []),
    Example(
        "transactions/baskets",
        [(1, ["a", "b c"]), (2, []), (3, ["d", "d"])],
        {"file": ("content VARCHAR", [("a\x1f\x1fb c\x1e\x1ed\x1fd\x1f\x1e",)])},
    ),
    Example("transactions/baskets", [], {"file": ("content VARCHAR", [("",)])}),
    Example(
        "transactions/loaded_counts",
        [(6, 2, 2, 3, 2)],
        {
            "source": ("tid INTEGER, item VARCHAR", [(1, "a"), (1, None), (2, "b"), (2, "a"), (2, None), (None, "c")]),
            "rows": ("tid INTEGER", [(1,), (2,), (2,), (3,), (None,), (None,)]),
        },
    ),
    Example(
        "transactions/bags",
        [(1, 0, 2), (3, 1, 1)],
        {"source": ("tid INTEGER, item VARCHAR", [(1, "a"), (1, "a"), (3, "b")]), "items": ITEMS},
    ),
    Example("transactions/ids", [(1, "x"), (2, "y"), (3, "z")], {"source": SOURCE}),
    Example("warehouse/load/items", [(0, ""), (1, "a"), (2, "b"), (3, "é")], {"source": SOURCE}),
    Example(
        "warehouse/load/item_counts",
        [("a", 2), ("b", 3), ("b ", 1)],
        {"transactions": TRANSACTIONS, "items": ITEMS},
        ordered=True,
    ),
    Example(
        "warehouse/load/uniform_ids",
        [(None, "1.5"), (None, "-3"), (None, "1"), (None, "2024-02-28"), (None, "O'Hara "), ("1e3", None), ("9:5", None)],
        {
            "ids": (
                "tid INTEGER, id VARCHAR",
                [*enumerate(("01.50", "-3.0", "true", "2024-02-28", "_O'Hara ", "1e3", "9:5"))],
            )
        },
        {"blanks": "_"},
    ),
    Example("warehouse/load/checks", [(5, 0, 0, 1, 3)], {"source": SOURCE}),
    Example("warehouse/load/checks", [(2, 1, 1, 0, 1)], {"source": (SOURCE[0], [("x", None), (None, "")])}),
    Example("warehouse/load/checks", [(0, 0, 0, 0, 0)], {"source": (SOURCE[0], [])}),
    Example(
        "warehouse/load/coded",
        [(1, 0), (1, 1), (3, 2)],
        {
            "source": ("id VARCHAR, item VARCHAR", [("x", "b"), ("x", "a"), ("x", "b"), ("z", "b ")]),
            "ids": IDS,
            "items": ITEMS,
        },
    ),
    Example(
        "warehouse/release/rows",
        [(1, 0, 1), (2, 0, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 2, 1)],
        {"recoded": TRANSACTIONS},
        ordered=True,
    ),
    Example(
        "warehouse/release/item_holders",
        [("U", "a", 2, 2), ("U", "b", 2, 1)],
        {
            "held": ("label VARCHAR, n BIGINT", [("a", 2), ("b", 1)]),
            "released_items": ("released_item VARCHAR, item VARCHAR", [("U", "a"), ("U", "b")]),
            "supports": ("released_item VARCHAR, support BIGINT", [("U", 2)]),
        },
    ),
    Example(
        "warehouse/release/item_supports",
        [("U", "a", 7, 10, 10), ("U", "b", 5, 6, 10)],
        {
            "members": (
                "released_item VARCHAR, item VARCHAR, support BIGINT, n BIGINT",
                [("U", "b", 10, 5), ("U", "a", 10, 7), ("V", "c", 10, 10)],
            )
        },
        {"k": 2, "m": 2},
        ordered=True,
    ),
    Example(
        "warehouse/release/transaction_ids",
        [(1, False), (2, False)],
        {"ids": ("tid INTEGER", [(2,), (1,)])},
        {"complete": False},
        ordered=True,
    ),
    Example(
        "answers/frequent_pairs",
        [(0, 2, 2)],  # 0 and 1 have the same released item; 1 and 2 are together once
        {
            "held": (
                "label INTEGER, tid INTEGER, member INTEGER",
                [(1, 1, 0), (1, 1, 1), (2, 1, 2), (1, 2, 0), (1, 2, 1), (1, 3, 0), (2, 3, 2)],
            )
        },
        {"least": 2},
        ordered=True,
    ),
    Example(
        "answers/pairs_in_worlds",
        [(0, 7, 2), (0, 8, 1)],
        {
            "pairs": ("pair INTEGER, first INTEGER, second INTEGER", [(0, 1, 3), (1, 1, 2)]),
            "drawn": (
                "world INTEGER, tid INTEGER, member INTEGER",
                [(7, 1, 1), (7, 1, 3), (7, 2, 1), (7, 2, 3), (8, 1, 1), (8, 1, 3), (8, 2, 1), (8, 3, 2), (8, 3, 3)],
            ),
        },
        ordered=True,
    ),
    Example(
        "transactions/null_counts",
        [(3, 1, 2, 2)],
        {"source": ("id VARCHAR, item VARCHAR", [("x", "é"), (None, None), ("z", None)])},
    ),
    Example(
        "transactions/prefixed_twice",
        [(2,)],
        {"transactions": TRANSACTIONS, "items": ("item INTEGER, label VARCHAR", [(0, "E11.9"), (1, "E11.2.x"), (2, "E11")])},
    ),
    Example("transactions/pairs", [(0, 1, 2)], {"transactions": TRANSACTIONS}),
    Example("transactions/null_counts", [(0, 0, 0, 0)], {"source": ("id VARCHAR, item VARCHAR", [])}),
    Example("transactions/tables_with", [], values={"catalog_name": "memory", "id_column": "no", "item_column": "none"}),
    # two items x and y under the leaves 2 and 4; inner nodes 0 and 1; the transaction of one item is left out
    Example(
        "warehouse/threats/extended",
        [(1, 0), (1, 1), (1, 2), (1, 4)],
        {
            "transactions": ("tid INTEGER, item INTEGER", [(1, 0), (1, 1), (2, 0)]),
            "leaves": ("item INTEGER, node INTEGER", [(0, 2), (1, 4)]),
            "inner_nodes": ("item INTEGER, node INTEGER", [(0, 1), (0, 0), (1, 0)]),
        },
    ),
    Example(
        "warehouse/threats/supports",
        [(0, 0, 3), (0, 1, 3), (0, 2, 3), (0, 3, 2), (0, 4, 2), (1, 1, 1), (1, 2, 1)],
        {"extended": EXTENDED, "transactions": TRANSACTIONS},
    ),
    Example("warehouse/threats/total_mass", [(59,)], {"fresh": EXTENDED, "others": EXTENDED}),
    Example("warehouse/threats/total_mass", [(0,)], {"fresh": (EXTENDED[0], []), "others": EXTENDED}),
    Example(
        "warehouse/threats/asked_pairs",
        [(2, 3, 1), (2, 4, 3)],
        {
            "pairs": RARE,
            "roles": ("node INTEGER, role INTEGER, parent INTEGER", [(2, 1, 1), (3, 1, 1), (4, 2, 0), (5, 1, 0)]),
            "wanted": ("role_1 INTEGER, role_2 INTEGER, siblings INTEGER", [(1, 2, 0), (1, 1, 1)]),
        },
    ),
    Example(
        "warehouse/threats/partners",
        [(0, 13), (1, 13), (2, 13), (3, 10), (4, 10)],
        {"fresh": EXTENDED, "others": EXTENDED},
        ordered=True,
    ),
    Example(
        "warehouse/threats/pairs_within", [(1, 4, 2), (2, 3, 2), (2, 4, 2), (3, 4, 2)], {"fresh": REACHABLE}, {"k": 3, **ALL}
    ),
    Example("warehouse/threats/pairs_within", [], {"fresh": REACHABLE}, {"k": 2, **ALL}),
    Example(
        "warehouse/threats/pairs_within",
        [(2, 3, 2), (2, 4, 2)],
        {"fresh": REACHABLE},
        {"k": 3, "first_from": 2, "first_to": 2},
    ),
    Example(
        "warehouse/threats/pairs_within",
        [(2, 3, 2)],
        {"fresh": (COLUMNS, [r for r in FAMILIES[1] if r[3] >= 0])},
        {"k": 3, **ALL},
    ),
    Example("warehouse/threats/pairs_within", [], {"fresh": FAMILIES}, {"k": 3, "first_from": 3, "first_to": 9}),
    Example(
        "warehouse/threats/pairs_between",
        [(4, 1, 2), (4, 2, 2), (4, 3, 2)],
        {
            "fresh": (COLUMNS, [r for r in REACHABLE[1] if r[1] == 4]),
            "others": (COLUMNS, [r for r in REACHABLE[1] if r[1] != 4]),
        },
        {"k": 3, **ALL},
    ),
    Example(
        "itemsets/private_shares",
        [(0, 1), (1, 2)],
        {"transactions": TRANSACTIONS, "private": ("tid INTEGER, item INTEGER", [(1, 7), (1, 8), (3, 7)])},
        ordered=True,
    ),
    Example("itemsets/join_mass", [(0, 3), (1, 1)], {"occurrences": SETS}, ordered=True),
    Example("itemsets/joined", [(1, 0, 1), (1, 0, 2), (2, 0, 1)], {"occurrences": SETS}, {"first_from": 0, "first_to": 0}),
    Example("itemsets/joined", [(1, 1, 2)], {"occurrences": SETS}, {"first_from": 1, "first_to": 9}),
    Example("itemsets/candidates", [(0, 1, 2), (0, 2, 1), (1, 2, 1)], {"joined": JOINED}, ordered=True),
    Example(
        "itemsets/candidate_shares",
        [(0, 1, 2), (0, 2, 1), (1, 2, 1)],
        {"joined": JOINED, "private": ("tid INTEGER, item INTEGER", [(1, 7), (2, 7), (1, 8), (3, 8)])},
        ordered=True,
    ),
    Example(
        "itemsets/grown",
        [(1, 0, 1, 5), (2, 0, 1, 5), (1, 1, 2, 6)],
        {"occurrences": SETS, "kept": ("first_set INTEGER, second_set INTEGER, itemset INTEGER", [(0, 1, 5), (1, 2, 6)])},
    ),
    Example(
        "warehouse/threats/frequent_pairs",
        [(1, 4, 1, 2), (2, 3, 2, 2), (2, 4, 2, 2), (3, 4, 3, 2)],
        {"reachable": REACHABLE},
        {"k": 2},
    ),
    Example("warehouse/threats/frequent_pairs", [(1, 4, 1, 2), (2, 3, 2, 2)], {"reachable": FAMILIES}, {"k": 2}),
    Example(
        "warehouse/threats/pair_occurrences",
        [(t, 2, 4, 4, -1) for t in (1, 2)],
        {"reachable": REACHABLE, "frequent": ("n1 INTEGER, n2 INTEGER", [(2, 4)])},
    ),
    Example(
        "warehouse/threats/prefix_mass",
        [(2, 4)],
        {"occurrences": ("tid INTEGER, prefix INTEGER", [(1, 2)] * 3 + [(2, 2)] * 2 + [(2, 7)])},
    ),
    Example(
        "transactions/occurrences",
        [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (3, 2)],
        {"transactions": TRANSACTIONS},
        ordered=True,
    ),
]
ELSEWHERE = {"transactions/fingerprint", "transactions/columns"}  # test_fingerprint, test_catalog


def plain(value: Any) -> Any:
    if isinstance(value, np.ma.core.MaskedConstant):
        return None
    if isinstance(value, np.ma.MaskedArray):
        return [None if m else plain(v) for v, m in zip(value.data, np.ma.getmaskarray(value), strict=True)]
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value]
    return value.item() if hasattr(value, "item") else value


def make(engine: Engine, name: str, columns: str, rows: Sequence[Row]) -> Any:
    engine._connection.execute(f"CREATE OR REPLACE TEMP TABLE _anondb_example_{name} ({columns})")
    for row in rows:
        marks = ", ".join("?" for _ in row)
        engine._connection.execute(f"INSERT INTO _anondb_example_{name} VALUES ({marks})", list(row))
    return engine.work_table(f"example_{name}")


@each("example", EXAMPLES)
def test_example(engine: Engine, example: Example) -> None:
    tables = {name: make(engine, name, *content) for name, content in example.tables.items()}
    columns = engine.query(example.query, tables, **example.values)
    assert tuple(columns) == load(example.query).returns
    found = [tuple(map(plain, row)) for row in zip(*(plain(c) for c in columns.values()), strict=True)]
    if example.ordered:
        assert found == list(example.rows)
    else:
        assert sorted(found, key=repr) == sorted(example.rows, key=repr)


def test_every_query_has_an_example() -> None:
    rooms = ("transactions", "itemsets", "warehouse/load", "warehouse/threats", "warehouse/release")
    wanted = {n for n in all_names() if n.rpartition("/")[0] in rooms}
    assert {e.query for e in EXAMPLES if e.query in wanted} | ELSEWHERE == wanted


def test_catalog(engine: Engine) -> None:
    """Tables, views and TEMP tables of any schema; a name in lower case finds them whatever their case."""
    run = engine._connection.execute
    run("CREATE TABLE IF NOT EXISTS Sales (Tid INTEGER, ITEM VARCHAR)")
    run("CREATE SCHEMA IF NOT EXISTS other")
    run("CREATE OR REPLACE VIEW other.SALES AS SELECT 1 AS tid")
    run("CREATE OR REPLACE TEMP TABLE sales AS SELECT 1 AS tid, 2 AS item")
    found = engine.query("transactions/catalog", wanted="sales")
    rows = list(zip(*(c.tolist() for c in found.values()), strict=True))
    assert [r[:3] for r in rows] == [("memory", "main", "Sales"), ("memory", "other", "SALES"), ("temp", "main", "sales")]
    assert [r[3] for r in rows][:2] == [True, False]
    with_both = engine.query("transactions/tables_with", catalog_name="memory", id_column="tid", item_column="item")
    assert list(zip(*(c.tolist() for c in with_both.values()), strict=True)) == [("memory", "main", "Sales")]
    columns = zip(*(c.tolist() for c in engine.query("transactions/columns").values()), strict=True)
    assert [row for row in columns if row[1].lower() == "sales"] == [
        ("main", "Sales", "Tid", "INTEGER", True),
        ("main", "Sales", "ITEM", "VARCHAR", True),
        ("other", "SALES", "tid", "INTEGER", False),
    ]
    run("DROP TABLE temp.main.sales")


def test_fingerprint(engine: Engine) -> None:
    """The same for any order of rows and numbering; another one for other ids, items, pairs or empty transactions."""
    columns = f"{TRANSACTIONS[0]}, copies INTEGER"
    rows = [(t, i, 1) for t, i in TRANSACTIONS[1]]
    base = {"transactions": (columns, rows), "ids": IDS, "items": ITEMS}
    renumbered = {
        "transactions": (columns, [(t * 10, i, 1) for t, i, _ in reversed(rows)]),
        "ids": (IDS[0], [(t * 10, i) for t, i in reversed(IDS[1])]),
        "items": ITEMS,
    }
    others = [
        {**base, "transactions": (columns, rows[1:])},
        {**base, "transactions": (columns, [(*rows[0][:2], 2), *rows[1:]])},
        {**base, "ids": (IDS[0], IDS[1][:-1])},
        {**base, "ids": (IDS[0], [(t, i + "'") for t, i in IDS[1]])},
        {**base, "items": (ITEMS[0], [(n, x + "'") for n, x in ITEMS[1]])},
    ]
    digests = []
    for tables in (base, renumbered, *others):
        bound = {name: make(engine, name, *content) for name, content in tables.items()}
        digests.append(engine.scalar("transactions/fingerprint", bound))
    assert digests[0] == digests[1] and len(set(digests)) == len(digests) - 1
    assert all(re.fullmatch("[0-9a-f]{64}", d) for d in digests)


TEXT = {"label", "content", "name", "key", "value", "member", "released_item", "parameters", "subject", "action"}
TEXT |= {"release", "release_id", "model", "algorithm", "source_table", "id_column", "item_column", "fingerprint"}
TEXT |= {"line", "workload", "ggd", "lm_total", "user_name", "version", "status", "cost"}
OTHER = {"complete": "BOOLEAN", "verified": "BOOLEAN", "suppressed": "BOOLEAN", "created": "TIMESTAMP"}
OTHER |= {"has_null": "BOOLEAN", "low_number": "DOUBLE", "high_number": "DOUBLE", "must": "BOOLEAN", "may": "BOOLEAN"}
OTHER |= {"lm": "DOUBLE", "ncp": "DOUBLE", "ul": "DOUBLE", "ul_log2": "DOUBLE", "relative_error": "DOUBLE"}
TEXT_ITEMS = {
    "released_items",
    "source",
    "baskets",
    "item_supports",
    "item_counts",
    "violations",
}  # tables whose item or id is a label
VALUES = {
    "items": None,
    "schema_name": "main",
    "catalog_name": "memory",
    "wanted": "x",
    "release_id": "r",
    "text": "SELECT 1",
    "asked": [1, 2],
    "numbers": [1.0, 2.0],
    "counts": True,
    "prefix": "x",
}


def kind_of(query: NamedQuery, table: str, column: str) -> str:
    """A type for a column of a table that a query reads, by the conventions of the package's names."""
    if table == "violations" and column == "items":
        return "STRUCT(item VARCHAR)[]"
    if query.name.startswith("proof/") and column in ("item", "items"):  # it reads a sealed file
        return "VARCHAR" if column == "item" else "VARCHAR[]"
    if query.name.startswith("answers/") and column in ("label", "member"):  # numbers
        return "INTEGER"
    if column == "attribute_values":
        return "VARCHAR[]"
    if "attribute_values" in query.reads[table] and column in ("items", "copies"):  # rows as their readers see them
        return "VARCHAR[]" if column == "items" else "INTEGER[]"
    if column == "items" and table.endswith("_buckets"):
        return "VARCHAR[]"
    if column == "items":
        return "VARCHAR[]" if table in ("source", "baskets", "buckets", "vals", "reconstruction") else "INTEGER[]"
    if query.name.startswith("verify/anatomy") and column in ("bucket_id", "column_id"):
        return "VARCHAR"
    if table == "lists":
        return "VARCHAR[]"
    if table == "item_columns" and column == "item":
        return "VARCHAR"
    if column == "content" and table in ("contents", "classes"):
        return "BIGINT[]"
    if (
        query.name.startswith(("release/", "warehouse/spark/"))
        and table != "transactions"
        and column == "item"
        and "tid" not in query.reads[table]
    ):
        return "INTEGER" if {"label", "released"} & set(query.reads[table]) else "VARCHAR"
    if table == "transactions" and column == "item":
        return "VARCHAR" if "transaction_id" in query.reads[table] else "INTEGER"
    if column in ("item", "id") and table in TEXT_ITEMS:
        return "VARCHAR"
    if column == "id" and table in ("ids", "names"):
        return "VARCHAR"
    return "VARCHAR" if column in TEXT else OTHER.get(column, "INTEGER")


def value_of(name: str) -> Any:
    if name == "blanks":
        return " "
    if name in ("bags", "complete", "suppressed", "product"):
        return False
    if name == "weights":
        return exp.Array(expressions=[exp.Literal.number(1)])
    return VALUES.get(name, "x" if name.endswith(("_name", "_column")) else 1)


DUCKDB_QUERIES = [name for name in all_names() if not name.startswith("postgres/")]  # PostgreSQL runs these


@each("name", DUCKDB_QUERIES)
def test_every_query_binds_in_duckdb(engine: Engine, name: str) -> None:
    """EXPLAIN over empty tables of the columns that the header declares: no other column is read."""
    if name == "release/triggers" and not HAS_TRIGGERS:
        return
    query = load(name)
    tables = {}
    for table, columns in query.reads.items():
        kinds = ", ".join(f'"{c}" {kind_of(query, table, c)}' for c in columns if c) or "unused INTEGER"
        tables[table] = make(engine, table, kinds, [])
    values = {p: value_of(p) for p in query.params}
    texts = [query.bind(tables, values).sql(dialect="duckdb")]
    if not any(isinstance(value, exp.Expr | list) for value in values.values()):
        texts.append(query_of(name, tables, values).text)
    for text in texts:
        engine._connection.execute(f"EXPLAIN {text}")
        found = engine._connection.execute(f"DESCRIBE {text}").fetchall()
        assert tuple(row[0] for row in found) == query.returns


@each("name", DUCKDB_QUERIES)
def test_the_text_of_a_query_is_that_of_its_tree(name: str) -> None:
    query = load(name)
    rows = query_of("release/manifest", {"manifest": Table("a", "b", "c")})
    shown = [Table("a b", 'c"d', "e"), exp.select("x", "y").from_("z").where("x > 1"), rows]
    for value, table in zip((-3, None, 'it\'s "x"'), shown, strict=True):
        tables, values = dict.fromkeys(query.reads, table), dict.fromkeys(query.params, value)
        text, tree = query.filled(tables, values).text, query.bind(tables, values)
        assert "--" not in text, "a comment, or two signs in a row"
        assert sqlglot.parse_one(text, dialect="duckdb").sql(dialect="duckdb") == tree.sql(dialect="duckdb")


def test_binding_is_strict() -> None:
    query = load("warehouse/verify/rare_item_labels")
    for tables, values in (({}, {}), ({"rare": None, "items": None}, {}), ({"rare": None}, {"how_many": 1})):
        with pytest.raises(InternalError):
            query.bind(tables, values)  # type: ignore[arg-type]


def test_values_are_literals() -> None:
    """Whatever a value holds, it stays a value."""
    hostile = "x'; DROP TABLE t; --"
    tree = load("transactions/catalog").bind({}, {"wanted": hostile})
    assert [e.this for e in tree.find_all(exp.Literal) if e.is_string and "DROP" in e.this] == [hostile]
    assert "'x''; DROP TABLE t; --'" in tree.sql(dialect="duckdb")
