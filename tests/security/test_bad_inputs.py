"""Bad inputs, end to end: each ends in one typed error that says nothing of the data and changes nothing, or in a release
that is verified. The ids are the numbers of docs/bad_inputs.md."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli.shop import baskets, fill, state_of
from each import each
from portions import some

import anondb
from anondb import AnondbError, KmAnonymity
from anondb.algorithms import METHODS
from anondb.models import Model
from anondb.models.anatomy import Anatomy
from anondb.models.relational import KkmAnonymity
from anondb.models.transactional import TransactionalK

C = "CANARY"  # in every label and text id: no message may have it
Check = Callable[["Done"], bool]


@dataclass(frozen=True)
class Done:
    """A release and its database."""

    release: anondb.Release
    path: Path

    @property
    def report(self) -> dict[str, Any]:
        assert self.release.report is not None
        return self.release.report.to_json()

    @property
    def baskets(self) -> list[list[str]]:
        return sorted(r[0] for r in self.release.table("baskets").project("items").fetchall())

    @property
    def warned(self) -> str:
        return " ".join(self.report["warnings"])


@dataclass(frozen=True)
class Case:
    """SQL that makes table ``t`` (and ``tax``), or data in Python; then either an error's codes or a check."""

    id: str
    sql: Sequence[str] = ()
    data: Callable[[], Any] | None = None
    tree: Callable[[], Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    says: str = ""
    holds: Check = lambda _: True
    slow: bool = False

    @property
    def publishes(self) -> bool:
        """Publishing takes time: where an error is due, to see that no file appears, and where labels are odd."""
        return bool(self.codes or self.data)


def t(values: str, types: str = "(tid, item)") -> str:
    """Table ``t`` of VALUES."""
    return f"CREATE TABLE t AS SELECT * FROM (VALUES {values}) v{types}"


FLAT = (
    "CREATE TABLE tax AS SELECT DISTINCT item::VARCHAR AS node, 'ROOT' AS parent FROM t WHERE item IS NOT NULL"
    " UNION ALL SELECT 'ROOT', NULL"
)
SAME_TYPE = "CREATE TABLE tax AS SELECT DISTINCT item AS node, 'ROOT' AS parent FROM t"
NO_TREE = "CREATE TABLE tax (node VARCHAR, parent VARCHAR)"
ITEMS = f"(1, '{C}a'), (1, '{C}b'), (2, '{C}a'), (2, '{C}b'), (3, '{C}c'), (4, '{C}c')"


def tax(*edges: tuple[str, str | None]) -> list[str]:
    """The tables ``t`` of ITEMS and ``tax`` of edges; labels get the canary in front."""
    rows = ", ".join(
        "(" + ", ".join("NULL" if n is None else f"'{C}{n}'" if n in "abcdef" else f"'{n}'" for n in e) + ")" for e in edges
    )
    return [t(ITEMS), NO_TREE, f"INSERT INTO tax VALUES {rows}" if rows else "SELECT 1"]


TREE = (("R", None), ("X", "R"), ("a", "X"), ("b", "X"), ("c", "R"))


def pairs(labels: Sequence[str]) -> Callable[[], Any]:
    """Two transactions for each label, so that k = 2 holds."""
    return lambda: pa.table({"tid": list(range(2 * len(labels))), "item": [x for x in labels for _ in range(2)]})


def under_root(labels: Sequence[str]) -> Callable[[], Any]:
    return lambda: pa.table({"node": ["ROOT", *labels], "parent": [None, *["ROOT"] * len(labels)]})


ALONE = {"accept": ["row-per-person"]}  # one item of each person, and 100 persons or more


def exactly(id: str, labels: Sequence[str], **more: Any) -> Case:
    """Labels that are all distinct and come back as they are."""

    def all_back(done: Done) -> bool:
        return done.baskets == sorted([x] for x in labels for _ in range(2))

    return Case(id, data=pairs(labels), tree=under_root(labels), holds=all_back, **more)


def ids(id: str, kind: str, values: Sequence[str]) -> Case:
    """Ids of a type, all distinct."""
    rows = ", ".join(f"('{v}'::{kind}, '{C}a')" for v in values)
    return Case(id, [t(rows), FLAT], holds=lambda d: d.report["transactions"] == len(values))


def items(id: str, kind: str, values: Sequence[str], shown: Sequence[str]) -> Case:
    """Items of a type, published as text."""
    rows = ", ".join(f"({n}, {v}::{kind})" for n, v in enumerate([*values, *values]))
    wanted = sorted([s] for s in (*shown, *shown))
    return Case(
        id,
        [t(rows), SAME_TYPE],
        holds=lambda d: (
            d.baskets == wanted and [str(x) for x in d.release.table("transactions").project("item").types] == ["VARCHAR"]
        ),
    )


def refused_type(id: str, kind: str, value: str) -> Case:
    return Case(id, [t(f"(1, {value}::{kind}), (2, {value}::{kind})"), under_any_tree()], codes=("bad_type",), says="'item'")


def under_any_tree() -> str:
    return "CREATE TABLE tax AS SELECT 'ROOT' AS node, NULL::VARCHAR AS parent"


def model(k: Any = 2, m: Any = 2) -> dict[str, Any]:
    return {"k": k, "m": m}


ODD = [
    "'", '"', "''", "\\", "\\n", ";", "--", "$$", "?", "{{}}", "a\nb", "\r", "\r\n", "\t", "\u2028", "'; DROP TABLE t; --",
    "%s", "NULL", "$1", "[a]", "{'a': 1}",
]  # fmt: skip
BIG = 2**63 - 1
CYCLE = [("R", None), ("c", "R"), ("X", "Y"), ("Y", "X"), ("a", "X"), ("b", "Y")]
PURE_CYCLE = [("X", "Y"), ("Y", "X"), ("a", "X"), ("b", "X"), ("c", "Y")]
CHAIN = [("n0", None), *[(f"n{i}", f"n{i - 1}") for i in range(1, 3000)], *[(x, "n2999") for x in "abc"]]
ONLY = [("R", None), ("R2", "R"), ("X", "R2"), ("X2", "X"), ("a", "X2"), ("b", "X2"), ("c", "R2")]
IDENTITY = sorted([[f"{C}a", f"{C}b"]] * 2 + [[f"{C}c"]] * 2)


def same(d: Done) -> bool:
    return d.baskets == IDENTITY and d.report["loss"]["lm_total"] == "0"


CASES = [
    # -------------------------------------------------------------- transactions
    Case("1", [t(f"(1, '{C}a'), (NULL, '{C}b'), (NULL, '{C}a')"), FLAT], codes=("null_id",), says="2 rows"),
    Case("1-nan", data=lambda: pd.DataFrame({"tid": [1, None], "item": [f"{C}a"] * 2}),
         tree=under_root([f"{C}a"]), codes=("null_id", "bad_type")),
    Case("1-list", [t(f"(1, ['{C}a']), (NULL, ['{C}b'])"), under_any_tree()], codes=("null_id",), says="1 row "),
    Case("2", [t(f"(1, '{C}a'), (1, NULL), (2, '{C}a')"), FLAT], codes=("null_item",), says="1 row "),
    Case("2-list", [t(f"(1, ['{C}a', NULL]), (2, ['{C}a'])"), under_any_tree()], codes=("null_item",), says="1 row "),
    Case("3", [t(f"{ITEMS}, (1, '{C}a'), (1, '{C}a')"), FLAT],
         holds=lambda d: d.baskets == IDENTITY and "2 rows repeated" in d.warned),
    Case("4", ["CREATE TABLE t (tid INTEGER, item VARCHAR)", FLAT],
         holds=lambda d: d.baskets == [] and "empty" in d.warned and d.report["loss"]["lm"] in (0, None)),
    Case("5", [t(f"(1, ['{C}a']), (2, ['{C}a']), (3, []), (4, NULL)"), NO_TREE,
               f"INSERT INTO tax VALUES ('ROOT', NULL), ('{C}a', 'ROOT'), ('{C}b', 'ROOT')"],
         holds=lambda d: d.baskets == [[], [], [f"{C}a"], [f"{C}a"]] and d.release.count_bounds([])[2] == 4),
    Case("5-records", [t(ITEMS), FLAT, "CREATE TABLE people AS SELECT unnest(range(3, 7)) AS tid"],
         options={"records": "people"}, holds=lambda d: d.baskets == sorted([*IDENTITY, [], []])),
    Case("6", [*tax(*TREE), f"INSERT INTO t VALUES (9, '{C}d')", f"INSERT INTO tax VALUES ('{C}d', 'R')"],
         holds=lambda d: d.baskets == sorted([*IDENTITY, []]) and d.report["suppressed_items"] == 1),
    Case("8", [t(", ".join(f"({n}, '{C}{x}')" for n in range(9) for x in "abc")), FLAT],
         holds=lambda d: d.baskets == [[f"{C}a", f"{C}b", f"{C}c"]] * 9 and d.report["loss"]["lm"] == 0),
    Case("9", [f"CREATE TABLE t AS SELECT i AS tid, '{C}' || i AS item FROM range(60) r(i)", FLAT],
         holds=lambda d: len(d.baskets) == 60 and (d.report["loss"]["lm"] or 0) == 1, options={"max_suppression": 100}),
    Case("10", [f"CREATE TABLE t AS SELECT 1 AS tid, '{C}' || i AS item FROM range(10000) r(i)", FLAT],
         options=model(2, 3), codes=("all_suppressed", "budget_exceeded")),
    Case("10-two", [f"CREATE TABLE t AS SELECT n AS tid, '{C}' || i AS item FROM range(10000) r(i), range(2) s(n)", FLAT],
         options={**model(2, 3), "memory_limit": "1GB"}, codes=("budget_exceeded", "out_of_memory", "disk_full"), slow=True),
    Case("11-bigint", [t(f"({BIG}, '{C}a'), ({BIG - 1}, '{C}a'), (-{BIG}, '{C}a')"), FLAT],
         holds=lambda d: d.report["transactions"] == 3),
    ids("11-ubigint", "UBIGINT", [str(2**64 - 1), str(2**64 - 2), "0"]),
    ids("11-hugeint", "HUGEINT", [str(2**127 - 1), str(2**127 - 2), "-1"]),
    ids("12-uuid", "UUID", [f"00000000-0000-0000-0000-{n:012d}" for n in range(3)]),
    ids("12-varchar", "VARCHAR", [f"{C}1", f"{C}1 ", C]),
    ids("12-date", "DATE", ["2020-01-01", "2020-01-02", "0001-01-01"]),
    ids("12-timestamp", "TIMESTAMP", ["2020-01-01 00:00:00", "2020-01-01 00:00:00.000001"]),
    Case("13-double", [t(f"(1.5::DOUBLE, '{C}a'), ('nan'::DOUBLE, '{C}a')"), FLAT], codes=("bad_type",), says="'tid'"),
    Case("13-float", [t(f"(1::FLOAT, '{C}a'), (2::FLOAT, '{C}a')"), FLAT], codes=("bad_type",), says="'tid'"),
    items("18-bigint", "BIGINT", [str(BIG), str(BIG - 1)], [str(BIG), str(BIG - 1)]),
    items("18-boolean", "BOOLEAN", ["true", "false"], ["true", "false"]),
    items("18-date", "DATE", ["'2020-01-31'", "'0001-01-01'"], ["2020-01-31", "0001-01-01"]),
    Case("18-enum", [f"CREATE TYPE kind AS ENUM ('{C}z', '{C}a')",
                     "CREATE TABLE t (tid INTEGER, item kind)",
                     f"INSERT INTO t VALUES (1, '{C}z'), (2, '{C}z'), (3, '{C}a'), (4, '{C}a')", FLAT],
         holds=lambda d: d.baskets == [[f"{C}a"], [f"{C}a"], [f"{C}z"], [f"{C}z"]]),
    refused_type("19", "DOUBLE", "1.5"),
    refused_type("19-nan", "DOUBLE", "'nan'"),
    refused_type("20-struct", "STRUCT(a VARCHAR)", f"{{'a': '{C}'}}"),
    refused_type("20-map", "MAP(VARCHAR, VARCHAR)", f"MAP {{'{C}': '{C}'}}"),
    refused_type("20-blob", "BLOB", f"'{C}'"),
    Case("21", [t(f"(1, ['{C}a', '{C}b', '{C}a']), (1, ['{C}b']), (2, ['{C}b', '{C}a'])"), NO_TREE,
                f"INSERT INTO tax VALUES ('ROOT', NULL), ('{C}a', 'ROOT'), ('{C}b', 'ROOT')"],
         holds=lambda d: d.baskets == [[f"{C}a", f"{C}b"]] * 2 and "2 rows repeated" in d.warned),
    refused_type("21-nested", "VARCHAR[][]", f"[['{C}']]"),
    exactly("25", ["", "x"]),
    exactly("26", [" ", "x ", "x", "\tx", ""]),
    Case("26-warning", data=pairs([f"{C} ", C]), tree=under_root([f"{C} ", C]), holds=lambda d: "white space" in d.warned),
    exactly("27", ["A", "a", "É", "é"]),
    exactly("28", ["\u00e9", "e\u0301"]),
    exactly("29", ["\ufeffa", "a", "\u200ba", "\u202ea"]),
    exactly("30", ODD),
    exactly("31", ["a\0b", "\0", "a", "a\0"]),
    Case("32", data=lambda: pd.DataFrame({"tid": [1, 2], "item": pd.Series([f"{C}\ud800"] * 2, dtype=object)}),
         tree=under_root([C]), codes=("bad_unicode",)),
    Case("32-id", data=lambda: pd.DataFrame({"tid": pd.Series(["\ud800", C], dtype=object), "item": [C] * 2}),
         tree=under_root([C]), codes=("bad_unicode",)),
    exactly("33", [str(n) * 1_000_000 for n in range(5)]),
    exactly("33-fifty", [f"{n:02d}" * 500_000 for n in range(50)], options=ALONE, slow=True),
    Case("34", [f"CREATE TABLE t AS SELECT i AS tid, repeat('{C}', 2000000) AS item FROM range(2) r(i)", under_any_tree()],
         codes=("item_too_long",)),
    exactly("35", [f"{n:06d}" for n in range(200_000)], options=ALONE, slow=True),
    exactly("36", ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1"]),
    # -------------------------------------------------------------- taxonomies
    Case("42", tax(("R", None), ("a", "R"), ("b", "R")), codes=("unknown_item",), says="1 of 3 items"),
    Case("43", tax(*TREE, ("d", "R"), ("e", "R")), holds=same),
    Case("44", tax(*CYCLE), codes=("not_a_tree",), says="cycle"),
    Case("44-all", tax(*PURE_CYCLE), codes=("not_a_tree",), says="cycle"),
    Case("45", tax(("R", "R"), ("a", "R"), ("b", "R"), ("c", "R")), codes=("not_a_tree",), says="own parent"),
    Case("46", tax(*TREE, ("c", "X")), codes=("not_a_tree",), says="1 node has two"),
    Case("47", tax(("R", None), ("a", "R"), ("b", "R"), ("c", "S")), codes=("not_a_tree",), says="2 roots"),
    Case("48", tax(("R", None), ("S", None), ("a", "R"), ("b", "R"), ("c", "S")), codes=("not_a_tree",), says="NULL parent"),
    Case("49", [t(f"(1, '{C}'), (2, '{C}')"), NO_TREE, f"INSERT INTO tax VALUES ('{C}', NULL)"],
         holds=lambda d: d.baskets == [[C], [C]] and d.report["loss"]["lm"] == 0),
    Case("49-rare", [t(f"(1, '{C}')"), NO_TREE, f"INSERT INTO tax VALUES ('{C}', NULL)"], codes=("all_suppressed",)),
    Case("50", [t(ITEMS), NO_TREE], codes=("empty_taxonomy",)),
    Case("51", tax(*CHAIN)),
    Case("52", tax(*ONLY), holds=lambda d: len(d.baskets) == 4 and "single child" in d.warned),
    Case("52-inside", tax(("R", None), ("X", "R"), ("Y", "X"), ("Z", "Y"), ("a", "Z"), ("b", "Z"), ("c", "R")),
         holds=lambda d: "single child" in d.warned),
    Case("53", tax(("R", None), ("a", "R"), ("X", "R"), ("b", "X"), ("Y", "X"), ("Z", "Y"), ("c", "Z")),
         holds=lambda d: d.report["loss"]["ncp"] == 0),
    Case("54", [t(ITEMS), f"CREATE TABLE tax AS SELECT '{C}' || i AS node, 'R' AS parent FROM range(100000) r(i)"
                f" UNION ALL SELECT item, 'R' FROM (SELECT DISTINCT item FROM t) UNION ALL SELECT 'R', NULL"],
         holds=same, slow=True),
    Case("55", [*tax(*TREE), "INSERT INTO t VALUES (5, 'X'), (6, 'X')"], codes=("internal_item",), says="1 of 4 items"),
    Case("56", tax(*TREE, ("Y", "R"), ("a", "Y")), codes=("not_a_tree",), says="two or more parents"),
    Case("57", tax(*TREE, *TREE), holds=same),
    Case("58", [t(ITEMS), "CREATE TABLE tax AS SELECT parent AS node, node AS parent FROM (VALUES "
                f"('R', NULL), ('{C}a', 'R'), ('{C}b', 'R'), ('{C}c', 'R')) v(node, parent)"],
         codes=("not_a_tree", "null_node")),
    Case("58-rooted", [t(ITEMS), "CREATE TABLE tax AS SELECT parent AS node, node AS parent FROM (VALUES "
                       f"('{C}a', 'R'), ('{C}b', 'R'), ('{C}c', 'R')) v(node, parent)"],
         codes=("not_a_tree",), says="swapped"),
    *[Case(f"60-{kind}", [t(f"(1, {value}::{kind}), (2, {value}::{kind})"), FLAT], codes=("bad_type",), says="have the type")
      for kind, value in (("INTEGER", "1"), ("UHUGEINT", "1"), ("DATE", "'2020-01-31'"), ("BOOLEAN", "true"))],
    Case("60-text", [t("(1, '01'), (2, '01')"), "CREATE TABLE tax AS SELECT 1 AS node, 'ROOT' AS parent"],
         codes=("bad_type",), says="type VARCHAR"),
    Case("60-list", [t("(1, [1]), (2, [1])"), under_any_tree()], codes=("bad_type",), says="type INTEGER"),
    Case("60-width", [t("(1, 1::TINYINT), (2, 1::TINYINT)"),
                      "CREATE TABLE tax AS SELECT 1::BIGINT AS node, 'ROOT' AS parent"],
         holds=lambda d: len(d.baskets) == 2),
    # -------------------------------------------------------------- parameters
    Case("64", [t(f"(1, '{C}a'), (2, '{C}b')"), FLAT], options=model(1),
         holds=lambda d: d.baskets == [[f"{C}a"], [f"{C}b"]] and "promises nothing" in d.warned),
    *[Case(f"65-{k}", tax(*TREE), options=model(k), codes=("bad_parameter",)) for k in (0, -1)],
    Case("66", tax(*TREE), options=model(5), codes=("all_suppressed",)),
    Case("66-limit", tax(*TREE), options={**model(5), "max_suppression": 99}, codes=("too_much_suppression",)),
    Case("66-all", tax(*TREE), options={**model(5), "max_suppression": 100},
         holds=lambda d: d.baskets == [[]] * 4 and d.report["all_suppressed"]),
    Case("67", [t(", ".join(f"({n}, '{C}a')" for n in range(4))), FLAT, f"INSERT INTO tax VALUES ('{C}b', 'ROOT')"],
         options=model(4),
         holds=lambda d: d.baskets == [[f"{C}a"]] * 4),
    *[Case(f"68-{k!r}", tax(*TREE), options=model(k), codes=("bad_parameter",))
      for k in (2.5, "5", True, math.nan, None, 1e3)],
    Case("68-numpy", tax(*TREE), options=model(np.int64(2), np.int32(2)), holds=same),
    Case("69", tax(*TREE), options=model(10**30), codes=("bad_parameter",)),
    *[Case(f"{n}-m{m}", tax(*TREE), options=model(2, m), codes=("bad_parameter",))
      for n, m in ((70, 0), (71, -1), (71, -math.inf), (71, math.nan))],
    *[Case(f"72-m{m}", tax(*TREE), options=model(2, m), holds=same) for m in (3, 10**6, math.inf)],
    *[Case(f"87-{s!r}"[:20], tax(*TREE), options={"seed": s}, codes=("bad_parameter",))
      for s in (-1, "1", 1.5, 10**30, True, None)],
    Case("87-large", tax(*TREE), options={"seed": 2**63 - 1}, holds=same),
    Case("88", tax(*TREE), options={"algorithm": "hgs"}, codes=("unknown_algorithm",), says="Did you mean 'hghs'"),
    # -------------------------------------------------------------- names
    Case("90", ['CREATE SCHEMA "select"',
                f'CREATE TABLE "select"."from" AS SELECT * FROM (VALUES {ITEMS}) v("table", "where")',
                *tax(*TREE)], options={"source": '"select"."from"', "id": "table", "item": "where"}, holds=same),
    Case("91", [*tax(*TREE),
                'CREATE TABLE "a""; drop table t; --.\U0001f34e" AS SELECT tid AS "x.y", item AS "it\'s" FROM t'],
         options={"source": '"a""; drop table t; --.\U0001f34e"', "id": "x.y", "item": "it's"}, holds=same),
    Case("91-plain", [*tax(*TREE), 'CREATE TABLE "a""; drop table t; --.\U0001f34e" AS FROM t'],
         options={"source": 'a"; drop table t; --.\U0001f34e'}, holds=same),
    Case("92-source", tax(*TREE), options={"source": ""}, codes=("empty_name",)),
    Case("92-taxonomy", tax(*TREE), options={"taxonomy": ""}, codes=("empty_name",)),
    Case("92-name", tax(*TREE), options={"name": ""}, codes=("bad_name",)),
    Case("92-column", tax(*TREE), options={"id": ""}, codes=("empty_name",)),
    Case("93", [*tax(*TREE), f'CREATE TABLE "{"x" * 5000}" AS FROM t'], options={"source": "x" * 5000}, holds=same),
    Case("94-columns", data=lambda: pd.DataFrame({"tid": [1], "item": [C], "ITEM": [C]}), tree=under_root([C]),
         codes=("column_clash",)),
    Case("94-release", tax(*TREE), options={"name": "OLD"}, codes=("release_exists",)),
    Case("95", tax(*TREE), options={"name": "old"}, codes=("release_exists",)),
    Case("95-view", [*tax(*TREE), "CREATE SCHEMA release_v", "CREATE VIEW release_v.x AS SELECT 1"],
         options={"name": "v", "replace": True}, codes=("not_a_release",)),
    Case("96", [*tax(*TREE), "CREATE SCHEMA release_s", "CREATE TABLE release_s.t AS FROM t"],
         options={"source": "release_s.t", "name": "s", "replace": True}, codes=("not_a_release",)),
    Case("96-release", tax(*TREE), options={"source": "release_old.transactions", "id": "transaction_id", "name": "old",
         "taxonomy": "food", "replace": True}, codes=("unknown_item", "internal_item")),
    Case("97", tax(*TREE), options={"name": "t"}, holds=same),
    Case("98", [*tax(*TREE), "CREATE SCHEMA s", "CREATE TABLE s.u AS FROM t", 'CREATE TABLE "s.v" AS FROM t'],
         options={"source": "shop.s.u"}, holds=same),
    Case("98-dot", [*tax(*TREE), 'CREATE TABLE "s.v" AS FROM t'], options={"source": "s.v"}, holds=same),
    Case("98-several", [*tax(*TREE), *(f"CREATE SCHEMA {s}; CREATE TABLE {s}.u AS FROM t" for s in ("one", "two"))],
         options={"source": "u"}, codes=("ambiguous_table",)),
    Case("99", [*tax(*TREE), "CREATE VIEW v AS FROM t", "CREATE VIEW w AS FROM v"], options={"source": "w"}, holds=same),
    Case("99-random", [*tax(*TREE), "CREATE VIEW v AS SELECT tid + (random() * 0.4)::INTEGER AS tid, item FROM t, range(9)"],
         options={"source": "v"}, holds=lambda d: d.report["verified"]),
    Case("99-broken", [*tax(*TREE), "CREATE TABLE gone AS FROM t", "CREATE VIEW v AS FROM gone", "DROP TABLE gone"],
         options={"source": "v"}, codes=("unreadable",)),
    Case("99-failing", [*tax(*TREE), f"CREATE VIEW v AS SELECT tid, error('{C}')::VARCHAR AS item FROM t"],
         options={"source": "v"}, codes=("unreadable",)),
    Case("99-cast", [*tax(*TREE), "CREATE VIEW v AS SELECT item::INTEGER AS tid, item FROM t"],
         options={"source": "v"}, codes=("unreadable",)),
]  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop with a release, made once."""
    path = tmp_path_factory.mktemp("template") / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        fill(connection)
    with anondb.connect(path) as database:
        database.anonymize("sales", model=KmAnonymity(2, 2), taxonomy="food", name="old", queries=5)
    return path


def attempt(case: Case, path: Path, sealed: Path, threads: int, promise: Callable[[Any, Any], Model] = KmAnonymity) -> Done:
    """One run as the owner's program would do it."""
    options: dict[str, Any] = {"source": "t", "taxonomy": "tax", "name": "new", "k": 2, "m": 2, **case.options}
    memory = options.pop("memory_limit", None)
    table = options.pop("source")
    source = table if case.data is None else case.data()
    options["model"] = promise(options.pop("k"), options.pop("m"))
    if case.tree is not None:
        options["taxonomy"] = case.tree()
    database = anondb.connect(path, threads=threads, memory_limit=memory)
    try:
        release = database.anonymize(source, queries=5, publish=sealed if case.publishes else None, **options)
    except BaseException:
        database.close()
        raise
    return Done(release, path)


def check_error(error: AnondbError, case: Case, logged: str) -> None:
    """One typed error, with the stated meaning, and without a data value anywhere."""
    assert error.code in case.codes, error
    assert case.says in str(error)
    seen: BaseException | None = error
    while seen is not None:
        assert C not in str(seen) and C.lower() not in repr(seen).lower()
        assert seen.__cause__ is None
        assert seen.__context__ is None or seen.__suppress_context__
        seen = None if seen.__suppress_context__ else seen.__context__
    assert C not in logged


def of_threads(case: Case) -> list[Any]:
    """With two threads: in ``make test`` every forty-eighth, in ``make check`` every twelfth; the others, and all with one
    thread, in ``make nightly``."""
    place = CASES.index(case)
    marks = [pytest.mark.slow] if place % 12 == 0 else [pytest.mark.nightly]
    quick = not case.slow and place % 48 == 0
    found = [pytest.param(case, (2,), id=case.id, marks=[] if quick else marks)]
    if case.codes and "-" not in case.id:
        found.append(pytest.param(case, (1, 2), id=f"{case.id}-threads", marks=pytest.mark.nightly))
    return found


@pytest.mark.parametrize(("case", "threads"), [parameter for case in CASES for parameter in of_threads(case)])
def test_bad_input(
    case: Case,
    threads: tuple[int, ...],
    template: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    path, sealed = tmp_path / "shop.duckdb", tmp_path / "sealed.duckdb"
    outcomes = []
    for number in threads:
        shutil.copy(template, path)
        with duckdb.connect(str(path)) as connection:
            for statement in case.sql:
                connection.execute(statement)
        before = state_of(path)
        try:
            done = attempt(case, path, sealed, number)
        except AnondbError as error:
            check_error(error, case, caplog.text + "".join(capfd.readouterr()))
            assert state_of(path) == before
            assert {p.name for p in tmp_path.iterdir()} == {"shop.duckdb"}
            outcomes.append(str(error))
            continue
        assert not case.codes, "this was to be refused"
        try:
            assert done.report["verified"] and done.report["violations"] == 0
            assert case.holds(done), (done.baskets[:20], done.warned)
            found = done.baskets
            json.dumps(done.report, allow_nan=False)
        finally:
            done.release._database.close()
        assert not case.publishes or baskets(sealed) == found
    assert len(set(outcomes)) <= 1  # whatever the number of threads


def kept_by(algorithm: str) -> Callable[[Any, Any], Model]:
    """A promise that an algorithm keeps, made from k and m."""
    models = METHODS[algorithm].models
    if "km" in models:
        return KmAnonymity
    return {"k": lambda k, m: TransactionalK(k), "kkm": lambda k, m: KkmAnonymity(k, m), "anatomy": lambda k, m: Anatomy(k)}[
        models[0]
    ]


def goes_with(algorithm: str, case: Case, path: Path) -> dict[str, Any]:
    """The options of a case, and what the algorithm needs besides: a table of people for some."""
    takes = METHODS[algorithm]
    options = {"algorithm": algorithm, **case.options}
    if "taxonomy" not in (*takes.needs, *takes.takes):
        options["taxonomy"] = None
    if algorithm == "multi_anatomy":
        options["columns"] = 2
    if "records" in takes.needs:
        column, source = options.get("id", "tid"), options.get("source", "t")
        made = "CREATE TABLE crowd AS SELECT DISTINCT {0} AS {0}, 20 + length({0}::VARCHAR) % 3 AS age FROM {1}"
        with duckdb.connect(str(path)) as connection, contextlib.suppress(duckdb.Error, UnicodeError):
            if case.data is not None:
                connection.register("frame", case.data())
                source = "frame"
            connection.execute(made.format(f'"{column}"', source))
        options = {"records": "crowd", "quasi_identifiers": "age:categorical", **options}
    return options


MUST_DO = {"3", "18-enum", "43", "57", "90", "91", "98"}  # nothing is wrong with these: a release, by whatever algorithm


def bad_input_of(case: Case, algorithm: str, template: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One typed error without a data value, and nothing changed; or a verified release."""
    caplog.set_level(logging.DEBUG)
    path = Path(shutil.copy(template, tmp_path / "shop.duckdb"))
    with duckdb.connect(str(path)) as connection:
        for statement in case.sql:
            connection.execute(statement)
    options = goes_with(algorithm, case, path)
    before = state_of(path)
    tree = None if options.get("taxonomy", "") is None else case.tree
    given = Case(case.id, case.sql, case.data, tree, options)
    try:
        done = attempt(given, path, tmp_path / "sealed.duckdb", 2, kept_by(algorithm))
    except AnondbError as error:
        check_error(error, Case(case.id, codes=(error.code,)), caplog.text)
        assert not isinstance(error, anondb.InternalError)
        assert state_of(path) == before
        assert {p.name for p in tmp_path.iterdir()} == {"shop.duckdb"}
        assert case.id not in MUST_DO, error
        return
    try:
        assert done.report["verified"] and done.report["violations"] == 0
        json.dumps(done.report, allow_nan=False)
    finally:
        done.release._database.close()


ALL = [(c, a) for c in CASES if not c.slow for a in METHODS]
# Primes that do not divide the number of algorithms: all of them are there.
SAMPLE = [pair for n, pair in enumerate(ALL) if n % 127 == 0]
LARGER_SAMPLE = [pair for n, pair in enumerate(ALL) if n % 47 == 0 and pair not in SAMPLE]


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", METHODS)
@each("case", [case for case in CASES if not case.slow])
def test_bad_input_of_every_algorithm(
    case: Case, algorithm: str, template: Path, tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    bad_input_of(case, algorithm, template, tmp_path_factory.mktemp("case"), caplog)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "algorithm"),
    some([*SAMPLE, *LARGER_SAMPLE], *SAMPLE, check=LARGER_SAMPLE[::24], ids=lambda pair: f"{pair[0].id}-{pair[1]}"),
)
def test_some_bad_input_of_every_algorithm(
    case: Case, algorithm: str, template: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bad_input_of(case, algorithm, template, tmp_path, caplog)


def test_every_number_is_on_the_page() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "bad_inputs.md").read_text("utf-8")
    listed = {n for line in re.findall(r"^\| ([0-9, ]+) \|", page, re.M) for n in line.split(", ")}
    assert {c.id.split("-")[0] for c in CASES} <= listed


def test_the_sample_has_every_algorithm() -> None:
    assert {a for _, a in SAMPLE} == set(METHODS)


@pytest.mark.parametrize("kind", ["setting", "column"])
def test_27_collations_never_merge_items(kind: str, tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        if kind == "setting":
            connection.execute("SET default_collation = 'nocase'")
        collation = " COLLATE NOCASE" if kind == "column" else ""
        connection.execute(f"CREATE TABLE t (tid INTEGER, item VARCHAR{collation})")
        connection.execute("INSERT INTO t VALUES (1, 'A'), (2, 'A'), (3, 'a'), (4, 'a')")
        connection.execute("CREATE TABLE tax AS SELECT * FROM (VALUES ('R', NULL), ('a', 'R'), ('A', 'R')) v(node, parent)")
        database = anondb.connect(connection)
        try:
            release = database.anonymize("t", model=KmAnonymity(2, 2), taxonomy="tax")
        except AnondbError as error:
            assert error.exit_code == 2 and error.code == "collation"
            assert kind == "setting" or "'item'" in str(error)
        else:
            raise AssertionError(f"accepted: {release.name}")


@pytest.mark.slow
def test_89_the_workload_is_the_same_whatever_the_threads(template: Path, tmp_path: Path) -> None:
    found = set()
    for threads in (1, 2):
        path = Path(shutil.copy(template, tmp_path / f"{threads}.duckdb"))
        with anondb.connect(path, threads=threads) as database:
            database.release("old").measure(queries=3, seed=5)
        with duckdb.connect(str(path), read_only=True) as reader:
            text = "SELECT query_id, truth, estimate FROM anondb.accuracy WHERE workload LIKE '%seed=5%' ORDER BY 1"
            found.add(str(reader.execute(text).fetchall()))
    assert len(found) == 1


def test_a_headless_csv_file_is_not_quoted(tmp_path: Path) -> None:
    """The first line of a file is where columns are named, and where the first transaction stands if they are not."""
    path = tmp_path / "t.csv"
    path.write_text(f"1,{C}\n2,{C}b\n")
    with anondb.connect() as database, pytest.raises(AnondbError) as caught:
        database.verify(path)
    assert caught.value.code == "no_such_column"
    assert C not in str(caught.value)


@pytest.mark.parametrize("name", ["source", "taxonomy", "name", "id", "item", "release"])
def test_32_names_that_are_no_unicode(name: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"source": "sales", "taxonomy": "food", "model": KmAnonymity(2, 2)}
    with duckdb.connect() as connection:
        fill(connection)
        database = anondb.connect(connection)
        with pytest.raises(AnondbError) as caught:
            if name == "release":
                database.release("\ud800")
            else:
                options[name] = "\ud800"
                database.anonymize(options.pop("source"), **options)
        assert caught.value.exit_code == 2
