"""Loading taxonomies: the formats, and everything that is no tree."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference as ref
from each import each
from properties.trees import random_tree, taxonomy_of

from anondb.data.taxonomy import Taxonomy, edges_of_levels, edges_of_paths, from_edges, load_taxonomy
from anondb.engine import Engine
from anondb.errors import InputError

Row = tuple[Any, ...]
SECRET = "s3cret"
NUMBER = itertools.count()


def parents_of(taxonomy: Taxonomy) -> dict[str, str | None]:
    labels = taxonomy.labels
    return {labels[n]: labels[p] if p >= 0 else None for n, p in enumerate(taxonomy.parent.tolist())}


def breadth_first(taxonomy: Taxonomy) -> list[str]:
    return [label for _, label in sorted(zip(taxonomy.rank.tolist(), taxonomy.labels, strict=True))]


def refused(code: str, load: Callable[[], object], *hints: str) -> None:
    """One typed error, that says what is wrong and holds no label."""
    with pytest.raises(InputError) as caught:
        load()
    assert caught.value.code == code
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    for words in hints:
        assert words in str(caught.value)


def table(engine: Engine, rows: Sequence[Row], columns: Sequence[str] = ("node", "parent")) -> Any:
    kinds = ["INTEGER" if name == "ord" else "VARCHAR" for name in columns]
    values = [[r[i] for r in rows] for i in range(len(columns))]
    return engine.put(f"edges_{next(NUMBER)}", {c: (k, v) for c, k, v in zip(columns, kinds, values, strict=True)})


@each("seed", range(100))
def test_numbering(seed: int) -> None:
    """Preorder numbers, spans, depths, leaf counts and breadth-first ranks of random trees, by definition."""
    children, root = random_tree(random.Random(seed), 15)
    taxonomy = taxonomy_of(children, root)
    assert sorted(taxonomy.labels) == sorted(ref.breadth_first(children, root))
    assert breadth_first(taxonomy) == ref.breadth_first(children, root)
    assert taxonomy.n_leaves == len(ref.leaves(children, root))
    for node, label in enumerate(taxonomy.labels):
        below = set(ref.breadth_first(children, label))
        assert {taxonomy.labels[n] for n in range(node, taxonomy.last[node] + 1)} == below
        assert [taxonomy.labels[n] for n in taxonomy.children(node)] == list(children.get(label, ()))
        assert {taxonomy.labels[n] for n in taxonomy.leaves(node)} == set(ref.leaves(children, label))
        assert taxonomy.leaf_count[node] == len(ref.leaves(children, label))
        assert taxonomy.depth[node] == len(ref.ancestors(children, label)) - 1
        assert taxonomy.is_leaf[node] == (label not in children)
    assert taxonomy.parent[0] == -1 and taxonomy.labels[0] == root
    nodes = np.flatnonzero(np.random.default_rng(seed).random(taxonomy.size) < 0.5)
    of, labels = taxonomy.labels_below(nodes)
    below_each = [[taxonomy.labels[leaf] for leaf in taxonomy.leaves(node).tolist()] for node in nodes.tolist()]
    assert labels == tuple(label for below in below_each for label in below)
    assert of.tolist() == [n for n, below in enumerate(below_each) for _ in below]


def test_all_formats_agree(engine: Engine, tmp_path: Path) -> None:
    rows = [("a", "A", "*"), ("b", "A", "*"), ("c", "B", "*"), ("d e", "B", "*")]
    edges = [("A", "*"), ("B", "*"), ("a", "A"), ("b", "A"), ("c", "B"), ("d e", "B")]
    tree, paths = tmp_path / "t.tree", tmp_path / "paths.csv"
    for file in (tree, paths):
        file.write_text("\ufeff" + "\n".join(";".join(r) for r in rows) + "\n\n", encoding="utf-8")
    wide, edge_file = tmp_path / "wide.csv", tmp_path / "edges.csv"
    wide.write_text("leaf,mid,top\n" + "\n".join(",".join(r) for r in rows), encoding="utf-8")
    edge_file.write_text("NODE,Parent\n" + "\n".join(",".join(r) for r in edges), encoding="utf-8")
    parquet = tmp_path / "edges.parquet"
    pd.DataFrame(edges, columns=["node", "parent"]).to_parquet(parquet)
    found = []
    with engine.transaction():
        for given in (
            tree,
            str(tree),
            paths,
            wide,
            edge_file,
            str(parquet),
            pd.DataFrame(rows, columns=["leaf", "mid", "top"]),
            pd.DataFrame(edges, columns=["node", "parent"]),
            pa.table({"parent": [p for _, p in edges], "node": [n for n, _ in edges]}),
            table(engine, edges),
            table(engine, [tuple(reversed(r)) for r in rows], ("top", "mid", "leaf")),
        ):
            found.append(load_taxonomy(engine, given))
        assert load_taxonomy(engine, found[0]) is found[0]
    for taxonomy in found:
        assert parents_of(taxonomy) == {**dict(edges), "*": None}
        assert breadth_first(taxonomy) == ["*", "A", "B", "a", "b", "c", "d e"]


def test_a_view_and_a_qualified_name(engine: Engine) -> None:
    run = engine._connection.execute
    run("""CREATE TEMP TABLE "odd "" name.with dot" ("NODE" VARCHAR, parent VARCHAR, "x;y" INTEGER)""")
    run("""INSERT INTO "odd "" name.with dot" VALUES ('A', 'root', 1), ('a', 'A', 2)""")
    run("""CREATE TEMP VIEW "select" AS SELECT * FROM "odd "" name.with dot" """)
    with engine.transaction():
        for name in ('odd " name.with dot', "select", 'temp."main"."odd "" name.with dot"'):
            assert parents_of(load_taxonomy(engine, name)) == {"root": None, "A": "root", "a": "A"}
        refused("no_such_table", lambda: load_taxonomy(engine, "nowhere"))
        refused("empty_name", lambda: load_taxonomy(engine, ""))
        refused("bad_source", lambda: load_taxonomy(engine, 7))


def test_order_of_siblings(engine: Engine) -> None:
    """``ord`` orders siblings (tie: label, NULL last); without it the given order counts."""
    rows = [("c", "r", 2), ("b", "r", 3), ("e", "r", 1), ("d", "r", 1), ("z", "r", None), ("r", None, 0)]
    with engine.transaction():
        assert breadth_first(load_taxonomy(engine, table(engine, rows, ("node", "parent", "ord")))) == list("rdecbz")
    with engine.transaction():
        assert breadth_first(load_taxonomy(engine, table(engine, [r[:2] for r in rows]))) == list("rcbedz")


def test_duplicated_rows_count_once() -> None:
    assert from_edges([("a", "r"), ("b", "r"), ("a", "r"), ("r", None), ("r", None)]).labels == ("r", "a", "b")
    assert from_edges(edges_of_paths([["a", "r"], ["a", "r"]])).labels == ("r", "a")


def test_unusual_labels_stay_what_they_are(engine: Engine, tmp_path: Path) -> None:
    labels = ["", " ", "a", "A", "a ", "é", "e\u0301", "\u200b", "\u202e", "'", '"', "\\", "--", "$$", "?", "{{}}"]
    labels += ["\r", "\n", "\t", "\u2028", "a,b", "a;b", "NULL", "=1", "x" * 1_000_000]
    with engine.transaction():
        assert set(parents_of(load_taxonomy(engine, table(engine, [(x, "root") for x in labels])))) == {*labels, "root"}
        nul = [*labels, "\0", "a\0"]
        assert set(parents_of(load_taxonomy(engine, table(engine, [(x, "root") for x in nul])))) == {*nul, "root"}
        file = tmp_path / "odd.tree"
        quoted = ['"' + x.replace('"', '""') + '"' for x in labels]
        file.write_text("\n".join(f"{x};root" for x in quoted), encoding="utf-8", newline="")
        assert set(parents_of(load_taxonomy(engine, file))) == {*labels, "root"}


@each(
    "edges, hint",
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], "cycle"),
        ([(SECRET, "b"), ("b", SECRET), ("x", "r")], "cycle"),
        ([("a", "r"), (SECRET, SECRET)], "one node as child and parent"),
        ([(SECRET, "r"), (SECRET, "q"), ("q", "r")], "two or more parents"),
        ([("r", SECRET), ("q", SECRET), ("r", "x"), ("q", "x")], "two or more parents"),
        ([(SECRET, None), (SECRET, "r")], "two or more parents"),
        ([(SECRET, "r"), (SECRET, None)], "two or more parents"),
        ([("a", SECRET), ("b", "q")], "2 roots"),
        ([("a", "r"), (SECRET, None)], "2 roots"),
        ([("r", "a"), ("r", "b"), ("r", SECRET)], "swapped"),
    ],
)
def test_no_tree(engine: Engine, edges: list[tuple[str, str | None]], hint: str) -> None:
    refused("not_a_tree", lambda: from_edges(edges), hint)
    with engine.transaction():
        refused("not_a_tree", lambda: load_taxonomy(engine, table(engine, edges)), hint)


def refused_in(engine: Engine, code: str, given: Callable[[], Any], *hints: str) -> None:
    """In a transaction of its own, which the error ends."""

    def load() -> None:
        with engine.transaction():
            load_taxonomy(engine, given())

    refused(code, load, *hints)


def test_other_refusals(engine: Engine, tmp_path: Path) -> None:
    rows = [(SECRET, None), ("b", None), ("a", "b")]
    refused_in(engine, "not_a_tree", lambda: table(engine, rows), "2 nodes have a NULL parent")
    refused_in(engine, "null_node", lambda: table(engine, [(None, SECRET), ("a", SECRET)]), "1 row ")
    rows = [("a", None, "r"), ("b", SECRET, "r")]
    refused_in(engine, "null_node", lambda: table(engine, rows, ("x", "y", "z")), "1 row ")
    refused_in(engine, "bad_taxonomy", lambda: table(engine, [(SECRET,)], ("only",)))
    refused_in(engine, "empty_taxonomy", lambda: table(engine, []))
    refused_in(engine, "empty_taxonomy", lambda: table(engine, [], ("x", "y")))
    refused_in(engine, "no_such_file", lambda: tmp_path / "none.tree")
    refused_in(engine, "no_such_file", lambda: tmp_path / "none.parquet")
    bad = tmp_path / "bad.tree"
    bad.write_bytes(SECRET.encode() + b";\xff;*\n")
    refused_in(engine, "bad_unicode", lambda: bad)
    bad.write_bytes(f"{SECRET};A;*\nb;A\n".encode())
    refused_in(engine, "not_a_tree", lambda: bad, "two or more parents")
    same_label = tmp_path / "same.tree"
    same_label.write_text(f"{SECRET};A;*\n{SECRET};B;*\n", encoding="utf-8")
    refused_in(engine, "not_a_tree", lambda: same_label, "1 node has two or more parents")
    empty = tmp_path / "empty.tree"
    empty.write_text("\n\n", encoding="utf-8")
    refused_in(engine, "empty_taxonomy", lambda: empty)
    refused_in(engine, "bad_unicode", lambda: table(engine, [("\ud800", "r")]))
    clash = pd.DataFrame([["a", "b", "c"]], columns=["x", "X", "y"])
    refused_in(engine, "column_clash", lambda: clash)


def test_a_file_that_may_not_be_read(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "CANARY")

    (tmp_path / "t.tree").write_text("a;*\n")
    monkeypatch.setattr(Path, "open", denied)
    refused_in(engine, "no_such_file", lambda: tmp_path / "t.tree", "cannot be read")


def test_unbalanced_wide_tables(engine: Engine) -> None:
    """A value repeated in the next level counts once; a missing root is added under a label that is free."""
    rows = [("a", "A", "A"), ("b", "b", "A"), ("c", "c", "c"), ("*", "B", "B")]
    taxonomy = from_edges(edges_of_levels(rows))
    assert parents_of(taxonomy) == {"ANY": None, "A": "ANY", "c": "ANY", "B": "ANY", "a": "A", "b": "A", "*": "B"}
    assert taxonomy.n_leaves == 4


def test_single_nodes_and_chains() -> None:
    assert from_edges([("only", None)]).n_leaves == 1
    assert from_edges(edges_of_paths([["only"]])).labels == ("only",)
    chain = from_edges([(f"n{i}", f"n{i + 1}") for i in range(3000)])
    assert (chain.size, chain.n_leaves, int(chain.depth.max()), chain.labels[0]) == (3001, 1, 3000, "n3000")


def test_many_leaves_are_fast(engine: Engine) -> None:
    rows = [(f"i{n}", "r") for n in range(100_000)]
    started = time.process_time()
    with engine.transaction():
        taxonomy = load_taxonomy(engine, pd.DataFrame(rows, columns=["node", "parent"]))
    assert taxonomy.n_leaves == 100_000 and taxonomy.last[0] == 100_000
    assert time.process_time() - started < 10
