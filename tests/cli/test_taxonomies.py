"""``anondb taxonomy build``, ``check`` and ``show``."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pytest
from cli.shop import Run
from each import each

import anondb
from anondb.data.taxonomy import from_edges, load_taxonomy
from anondb.engine import DuckDBEngine
from anondb.errors import InputError
from anondb.taxonomies.build import Request, _divided, _separator, build_taxonomy
from anondb.taxonomies.check import check_taxonomy, faults_of

CODES = ["250", "250.01", "250.02", "401.1", "401.9", "V70"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    rows = [(tid, code, code[0], "diabetes" if code.startswith("250") else None) for tid in range(4) for code in CODES]
    with duckdb.connect(str(path)) as connection:
        connection.sql("CREATE TABLE visits (tid INTEGER, item VARCHAR, chapter VARCHAR, disease VARCHAR)")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", [r for r in rows if r[0] or r[1] != "V70"])
    return path


def edges(shop: Path, table: str) -> dict[str, str | None]:
    with duckdb.connect(str(shop), read_only=True) as connection:
        return dict(connection.execute(f"SELECT node, parent FROM {table} ORDER BY ord").fetchall())


@pytest.mark.slow
def test_build_by_code_and_categories(shop: Path, run: Run) -> None:
    assert run("taxonomy", "build", str(shop), "--by", "code", "--lengths", "1,3", "--to", "codes").code == 0
    expected = {"250": "250*", "250.01": "250*", "250.02": "250*", "401.1": "401*", "401.9": "401*", "V70": "all"}
    assert edges(shop, "codes") == {"all": None, "250*": "all", "401*": "all", **expected}
    assert run("taxonomy", "build", str(shop), "--by", "code", "--to", "all_lengths").code == 0
    finest = {"250": "250*", "250.01": "250.0*", "250.02": "250.0*", "401.1": "401.*", "401.9": "401.*", "V70": "all"}
    assert edges(shop, "all_lengths") == {"all": None, "250*": "all", "250.0*": "250*", "401.*": "all", **finest}
    words = ["--by", "categories", "--columns", "chapter,disease", "--root", "any", "--to", "groups"]
    assert run("taxonomy", "build", str(shop), *words).code == 0
    expected = {**dict.fromkeys(CODES[:3], "diabetes"), "401.1": "4", "401.9": "4", "V70": "any"}
    assert edges(shop, "groups") == {"any": None, "diabetes": "any", "4": "any", **expected}  # 2 has one child
    taken = run("taxonomy", "build", str(shop), *words)
    assert taken.code == 2 and "--replace" in taken.err
    assert run("taxonomy", "build", str(shop), *words, "--replace").code == 0
    with anondb.connect(shop) as db:
        db.sql("INSERT INTO visits VALUES (9, '250', '9', NULL)")
    wrong = run("taxonomy", "build", str(shop), *words, "--replace")
    assert wrong.code == 2 and "1 item has different categories" in wrong.err and "250" in edges(shop, "groups")


@pytest.mark.slow
def test_the_built_taxonomy_is_used(shop: Path, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "codes.tree"
    words = ["--by", "frequency", "--fan-out", "2", "--to", str(file), "--json"]
    assert run("taxonomy", "build", str(shop), *words).json["leaves"] == 6
    run("anonymize", str(shop), "--transactions", "visits", "--taxonomy", str(file), "--k", "2", "--release", "r")
    with anondb.connect(shop) as db:
        assert db.release("r").verification.verified


@pytest.mark.slow
@pytest.mark.parametrize("by", ["prefix", "code", "frequency", "similarity"])
def test_every_builder_makes_a_tree_of_the_items(by: str, tmp_path: Path) -> None:
    rnd = random.Random(by)
    for n in (1, 2, 7, 40):
        items = [f"{rnd.choice('abc')}/{rnd.choice('xyz')}/i{i}" for i in range(n)]
        file = tmp_path / f"{by}{n}.csv"
        rows = [(tid, item) for tid in range(30) for item in rnd.sample(items, rnd.randint(1, min(n, 5)))]
        rows += [(99, item) for item in items]
        file.write_text("tid,item\n" + "".join(f"{tid},{item}\n" for tid, item in rows), "utf-8")
        engine = DuckDBEngine.open()
        tree = build_taxonomy(engine, str(file), Request(by, lengths=(1, 3), fan_out=3))
        again = build_taxonomy(engine, str(file), Request(by, lengths=(1, 3), fan_out=3))
        engine.close()
        assert {tree.labels[leaf] for leaf in tree.leaves(0).tolist()} == set(items)
        assert (tree.labels, tree.parent.tolist()) == (again.labels, again.parent.tolist())
        children = Counter(tree.parent.tolist()[1:])
        assert all(number > 1 for node, number in children.items() if node > 0)
        assert by not in ("frequency", "similarity") or max(children.values(), default=1) <= 3


def test_parts_of_equal_weight() -> None:
    paths = _divided(list(range(8)), np.array([10, 1, 1, 1, 1, 1, 1, 4]), 2)
    assert [path[0] for path in paths] == [0, 1, 1, 1, 1, 1, 1, 1]
    assert max(map(len, paths)) > 2


def test_separators() -> None:
    assert _separator(["a/b", "a/c-d", "e/f"]) == "/" and _separator(["red wine", "white wine"]) == " "
    with pytest.raises(InputError) as error:
        _separator(["a", "b", "c d"])
    assert error.value.code == "bad_parameter"


@pytest.mark.slow
def test_check_names_what_is_wrong(shop: Path, run: Run, tmp_path: Path) -> None:
    with duckdb.connect(str(shop)) as connection:
        connection.sql("CREATE TABLE tree AS SELECT * FROM (VALUES ('250', 'all'), ('250.01', '250'), ('401', 'all'), "
                       "('401.1', '401'), ('x', 'all')) t (node, parent)")  # fmt: skip
    checked = run("taxonomy", "check", str(shop), "--taxonomy", "tree", "--json")
    assert checked.code == 2 and checked.json["missing"] == ["250.02", "401.9", "V70"]
    assert checked.json["internal"] == ["250"] and checked.json["shape"]["single_children"] == ["250", "401"]
    assert "3 items that are missing: 250.02, 401.9, V70" in run("taxonomy", "check", str(shop), "--taxonomy", "tree").out
    file = tmp_path / "complete.tree"
    words = ["--taxonomy", "tree", "--add-missing", "others", "--to", str(file)]
    assert run("taxonomy", "check", str(shop), *words).out.endswith("3 of them added\n")
    assert "V70;others;all\n" in file.read_text("utf-8")
    leaf = run("taxonomy", "check", str(shop), *words[:2], "--add-missing", "x", "--to", "new")
    assert leaf.code == 2 and "not below a leaf" in leaf.err
    with duckdb.connect(str(shop)) as connection:
        connection.sql("INSERT INTO tree VALUES ('x', '401')")
    broken = run("taxonomy", "check", str(shop), "--taxonomy", "tree", "--json")
    assert broken.code == 2 and broken.json["faults"] == {"several parents": ["x"]} and broken.json["shape"] is None


@pytest.mark.slow
def test_items_that_are_numbers_need_a_file(shop: Path, run: Run, tmp_path: Path) -> None:
    """A table of nodes is text, which is never compared with numbers: it is refused, and a check says why."""
    with duckdb.connect(str(shop)) as connection:
        connection.sql("CREATE TABLE numbers AS SELECT i // 3 AS tid, i % 7 AS item FROM range(90) t(i)")
        connection.sql(
            "CREATE TABLE tree AS SELECT 'n' AS node, NULL AS parent UNION SELECT i::VARCHAR, 'n' FROM range(7) t(i)"
        )
    words, file = ["--transactions", "numbers"], tmp_path / "numbers.tree"
    refused = run("taxonomy", "build", str(shop), *words, "--by", "frequency", "--to", "groups")
    assert refused.code == 2 and "INTEGER" in refused.err and ".tree" in refused.err
    assert run("taxonomy", "build", str(shop), *words, "--by", "frequency", "--to", str(file)).code == 0
    assert run("taxonomy", "check", str(shop), *words, "--taxonomy", str(file)).code == 0
    checked = run("taxonomy", "check", str(shop), *words, "--taxonomy", "tree")
    assert checked.code == 2 and "the items have the type INTEGER, the leaves VARCHAR" in checked.out
    assert "types" in run("profile", str(shop), *words, "--taxonomy", "tree").out
    added = ["--taxonomy", str(file), "--add-missing", "new", "--to", "complete"]
    assert "INTEGER" in run("taxonomy", "check", str(shop), *words, *added).err


def test_lists_have_no_categories(shop: Path, run: Run) -> None:
    with duckdb.connect(str(shop)) as connection:
        connection.sql("CREATE TABLE lists AS SELECT 1 AS tid, ['a', 'b'] AS item, 'x' AS chapter")
    words = ["--transactions", "lists", "--by", "categories", "--columns", "chapter", "--to", "groups"]
    refused = run("taxonomy", "build", str(shop), *words)
    assert refused.code == 2 and "are lists, which have no categories" in refused.err


@pytest.mark.slow
def test_a_tree_is_drawn_with_supports(shop: Path, run: Run) -> None:
    run("taxonomy", "build", str(shop), "--by", "code", "--lengths", "3", "--to", "codes")
    listed = run("taxonomy", "show", str(shop), "--taxonomy", "codes", "--transactions", "visits", "--json").json["nodes"]
    supports = {node["node"]: node["transactions"] for node in listed}
    assert supports["all"] == 4 and supports["V70"] == 3 and supports["250*"] == 4
    text = run("taxonomy", "show", str(shop), "--taxonomy", "codes", "--under", "250*", "--most", "2").out
    assert "250*" in text and "and 1 more" in text and "401" not in text
    assert run("taxonomy", "show", str(shop), "--taxonomy", "codes", "--under", "no").code == 2


def test_faults_are_those_that_make_no_tree() -> None:
    rnd = random.Random(7)
    trees = 0
    for _ in range(3_000):
        names = "abcde"[: rnd.randint(2, 5)]
        listed = [(rnd.choice(names), rnd.choice([*names, None])) for _ in range(rnd.randint(1, 6))]
        faults = faults_of(listed)
        try:
            from_edges(listed)
            valid, trees = True, trees + 1
        except InputError:
            valid = False
        repeated_root = {n for n, p in listed if n == p}  # a row that names the root as its own parent is skipped
        assert valid == (not faults) or repeated_root, (listed, faults)
        assert all(label in names for labels in faults.values() for label in labels)
    assert trees > 100


def test_checking_agrees_with_loading(tmp_path: Path) -> None:
    file = tmp_path / "loop.csv"
    file.write_text("node,parent\na,b\nb,a\nc,all\n", "utf-8")
    engine = DuckDBEngine.open()
    assert set(check_taxonomy(engine, str(file)).faults["cycle"]) == {"a", "b"}
    with pytest.raises(InputError), engine.transaction():
        load_taxonomy(engine, str(file))
    engine.close()


def test_levels_of_any_separator(tmp_path: Path) -> None:
    rows = [("code", "chapter"), ("A00", "I"), ("B00", "I"), ("C00", "II")]
    for separator, suffix in ((",", "csv"), (";", "csv"), ("\t", "tsv")):
        path = tmp_path / f"levels.{suffix}"
        path.write_text("".join(separator.join(row) + "\n" for row in rows), encoding="utf-8")
        engine = anondb.connect().engine
        with engine.transaction():
            assert load_taxonomy(engine, path).labels == ("*", "I", "A00", "B00", "II", "C00"), separator


@each("delimiter", [",", ";"])
def test_the_header_of_an_edge_list_is_no_row(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("child,parent\na,all\nb,all\n".replace(",", delimiter), encoding="utf-8")
    engine = anondb.connect().engine
    with engine.accounting() as accounts, engine.transaction():
        load_taxonomy(engine, path)
    (account,) = accounts
    assert (account.header, account.rows) == (True, 2)


@each("text", ["a;X;*\nb;Y;all\nc;X;*\n", "a;I\nb;II\nc;I\n", "a;I;x\nb;II\n"])
def test_paths_of_several_roots_have_no_header(text: str, tmp_path: Path) -> None:
    path = tmp_path / "paths.csv"
    path.write_text(text, encoding="utf-8")
    engine = anondb.connect().engine
    with pytest.raises(InputError, match="roots"), engine.transaction():
        load_taxonomy(engine, path)
