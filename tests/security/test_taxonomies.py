"""Items beside a taxonomy that lacks them or is of another type, how they are listed, and how edge lists may be headed."""

from __future__ import annotations

import traceback
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from portions import some

import anondb
from anondb.cli import main
from anondb.data.taxonomy import load_taxonomy
from anondb.engine import Engine

SECRETS = ("zqx-one", "zqx-two")
SALES = "CREATE TABLE sales AS SELECT i // 3 AS tid, 'i' || (i * 7) % 11 AS item FROM range(90) AS r(i)"
EDGES = "CREATE TABLE food AS SELECT DISTINCT item AS node, 'ANY' AS parent FROM sales"
MORE = "INSERT INTO sales VALUES (1, 'zqx-one'), (2, 'zqx-two'), (3, 'zqx-one')"
INNER = "INSERT INTO sales VALUES (1, 'ANY')"


@pytest.fixture
def lacking(tmp_path: Path) -> Path:
    """An owner's file whose taxonomy lacks two items."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"{SALES}; {EDGES}; {MORE}")
    return path


def whole(error: BaseException) -> str:
    """Everything of an error that can end up in a log."""
    return "".join(traceback.format_exception(error)[-1:]) + repr(vars(error))


TAKERS = ("mhghs", "hghs", "apriori", "lra", "vpa", "coat", "pcta", "mm")


@pytest.mark.parametrize("algorithm", some(TAKERS, "mhghs", "apriori", "coat"))
def test_a_taxonomy_that_lacks_items_is_refused(lacking: Path, algorithm: str) -> None:
    with anondb.connect(lacking) as database:
        with pytest.raises(anondb.InputError) as refused:
            database.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", algorithm=algorithm, name="new")
        assert refused.value.code == "unknown_item"
        said = str(refused.value)
        assert "2 of 13 items of table 'sales' are not in the taxonomy in table 'food'" in said
        assert "Database.unknown_items" in said
        assert not any(secret in whole(refused.value) for secret in SECRETS)
        assert database.releases() == []


def test_the_items_are_listed_where_they_are_asked_for(lacking: Path) -> None:
    with anondb.connect(lacking) as database:
        assert database.unknown_items("sales", "food") == SECRETS
        database.sql(INNER)
        assert database.unknown_items("sales", "food") == ("ANY", *SECRETS)
        frame = pd.DataFrame({"t": [1], "x": ["zqx-one"]})
        assert database.unknown_items(frame, "food", id="t", item="x") == ("zqx-one",)
        database.sql("INSERT INTO food VALUES ('zqx-one', 'ANY'), ('zqx-two', 'ANY'); DELETE FROM sales WHERE item = 'ANY'")
        assert database.unknown_items("sales", "food") == ()


@pytest.mark.parametrize("shown", some([0, 1, 9], 1))
@pytest.mark.parametrize("as_json", [False, True])
def test_on_the_command_line(
    lacking: Path, shown: int, as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["anonymize", str(lacking), "--transactions", "sales", "--taxonomy", "food", "--k", "2"]
    words += ["--witnesses", str(shown)] if shown else []
    monkeypatch.setattr("sys.argv", ["anondb", *words, *(["--json"] if as_json else [])])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 2 and "are not in the taxonomy in table 'food'" in said.err
    assert [secret in said.err for secret in SECRETS] == [shown > 0, shown > 1]
    assert not any(secret in said.out for secret in SECRETS)


def test_in_sql(lacking: Path) -> None:
    view = "CREATE ANONYMIZED VIEW w AS SELECT tid, item FROM sales WITH (model = 'km', k = 2, taxonomy = 'food');"
    with anondb.connect(lacking) as database:
        with pytest.raises(anondb.InputError, match="2 of 13 items of the query of the view 'w'") as refused:
            database.sql(view)
        assert "EXCEPT" in str(refused.value) and "--witnesses" not in str(refused.value)
        assert not any(secret in whole(refused.value) for secret in SECRETS)


@pytest.mark.slow
def test_items_that_a_release_does_not_cover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop.duckdb"
    with anondb.connect(path) as database:
        database.sql(f"{SALES}; {EDGES}")
        database.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="spring", queries=5)
        database.sql(MORE)
        assert database.check_view("spring").not_covered == ()
        assert database.check_view("spring", witnesses=1).not_covered == SECRETS[:1]
    for shown in (0, 9):
        words = ["verify", str(path), "--release", "spring", "--against-source", "--witnesses", str(shown)]
        monkeypatch.setattr("sys.argv", ["anondb", *words])
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr()
        assert all((secret in said.out) == (shown > 0) for secret in SECRETS) and "2 of 13 items" in said.out


# ---------------------------------------------------------------------- types


def typed(items: str, nodes: str) -> str:
    return (
        f"CREATE TABLE sales AS SELECT i // 3 AS tid, ((i * 7) % 11)::{items} AS item FROM range(90) AS r(i);"
        f" CREATE TABLE food AS SELECT DISTINCT item::{nodes} AS node, 'ANY' AS parent FROM sales"
    )


UNLIKE = [("INTEGER", "VARCHAR"), ("VARCHAR", "BIGINT"), ("BIGINT", "VARCHAR")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "nodes", "algorithm"),
    some(
        [(*types, algorithm) for types in UNLIKE for algorithm in ("mhghs", "coat", "pcta", "apriori")],
        *((*UNLIKE[0], "mhghs"), (*UNLIKE[1], "coat"), (*UNLIKE[1], "apriori")),
    ),
)
def test_tables_of_different_types_are_refused(items: str, nodes: str, algorithm: str) -> None:
    with anondb.connect() as database:
        database.sql(typed(items, nodes))
        with pytest.raises(anondb.InputError) as refused:
            database.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", algorithm=algorithm)
        assert refused.value.code == "bad_type"
        assert "table 'sales'" in str(refused.value) and "CAST(item AS VARCHAR)" in str(refused.value)
        database.sql("CREATE VIEW cast_items AS SELECT tid, CAST(item AS VARCHAR) AS item FROM sales")
        database.sql("CREATE VIEW cast_nodes AS SELECT CAST(node AS VARCHAR) AS node, parent FROM food")
        model = anondb.KmAnonymity(2, 2)
        database.anonymize("cast_items", model=model, taxonomy="cast_nodes", algorithm=algorithm, queries=5)


def wide(path: Path, nodes: str) -> str:
    return f"CREATE TABLE levels AS SELECT DISTINCT item::{nodes} AS product, 'g' || item % 2 AS grp FROM sales"


@pytest.mark.parametrize("nodes", ["INTEGER", "VARCHAR"])
def test_wide_tables_are_told_by_their_finest_level(tmp_path: Path, nodes: str) -> None:
    with anondb.connect() as database:
        database.sql(typed("INTEGER", "INTEGER"))
        database.sql(wide(tmp_path, nodes))
        model = anondb.KmAnonymity(2, 2)
        if nodes == "INTEGER":
            database.anonymize("sales", model=model, taxonomy="levels", queries=5)
        else:
            with pytest.raises(anondb.InputError, match="read as one column a level VARCHAR"):
                database.anonymize("sales", model=model, taxonomy="levels")


ROWS = [(n // 3, (n * 7) % 11) for n in range(90)]


@pytest.mark.parametrize(
    ("transactions", "taxonomy"),
    some(list(product(["csv", "dat", "table", "frame", "parquet"], ["csv", "tree", "paths"])), ("csv", "csv")),
)
def test_files_of_text_fit_whatever_is_a_number(tmp_path: Path, transactions: str, taxonomy: str) -> None:
    """In a .dat or CSV file a number is text: labels such as ANY stand beside it."""
    rows = pd.DataFrame(ROWS, columns=["tid", "item"])
    source: Any = tmp_path / f"sales.{transactions}"
    with anondb.connect() as database:
        if transactions == "csv":
            rows.to_csv(source, index=False)
        elif transactions == "dat":
            source.write_text("\n".join(" ".join(map(str, g["item"])) for _, g in rows.groupby("tid")) + "\n")
        elif transactions == "parquet":
            pyarrow.parquet.write_table(pa.Table.from_pandas(rows), source)
        else:
            source = rows if transactions == "frame" else "sales"
            database.sql("CREATE TABLE sales AS SELECT i // 3 AS tid, (i * 7) % 11 AS item FROM range(90) AS r(i)")
        tree = tmp_path / f"food.{'tree' if taxonomy == 'tree' else 'csv'}"
        head, mark = ("node,parent\n", ",") if taxonomy == "csv" else ("", ";")
        tree.write_text(head + "".join(f"{n}{mark}ANY\n" for n in range(11)))
        made = database.anonymize(source, model=anondb.KmAnonymity(2, 2), taxonomy=tree, name="x", queries=5)
        assert made.verification.verified


def test_transactions_of_text_beside_a_table_of_numbers(tmp_path: Path) -> None:
    rows = pd.DataFrame(ROWS, columns=["tid", "item"])
    rows.to_csv(tmp_path / "sales.csv", index=False)
    with anondb.connect() as database:
        database.sql("CREATE TABLE food AS SELECT i AS node, 'ANY' AS parent FROM range(11) AS r(i)")
        model = anondb.KmAnonymity(2, 2)
        database.anonymize(tmp_path / "sales.csv", model=model, taxonomy="food", name="x", queries=5)


# ---------------------------------------------------------------------- headers

TREE = [("a", "X"), ("b", "X"), ("c", "ANY"), ("X", "ANY")]


HEADS = ("node,parent", "child,parent", "Child,PARENT", "parent,child")


@pytest.mark.parametrize("head", some(HEADS, *HEADS[2:]))
@pytest.mark.parametrize("kind", ["csv", "semicolons", "parquet", "table", "frame"])
def test_headers_of_edge_lists(owner: Engine, tmp_path: Path, head: str, kind: str) -> None:
    names = head.split(",")
    edges = [e if names[1].lower() == "parent" else e[::-1] for e in TREE]
    frame = pd.DataFrame(edges, columns=names)
    given: Any = tmp_path / f"food.{'parquet' if kind == 'parquet' else 'csv'}"
    if kind in ("csv", "semicolons"):
        frame.to_csv(given, index=False, sep="," if kind == "csv" else ";")
    elif kind == "parquet":
        pyarrow.parquet.write_table(pa.Table.from_pandas(frame), given)
    elif kind == "table":
        owner.connection.register("frame", frame)
        owner.connection.execute("CREATE TABLE food AS FROM frame")
        given = "food"
    else:
        given = frame
    with owner.transaction():
        tree = load_taxonomy(owner, given)
    parents = {label: tree.labels[p] if p >= 0 else None for label, p in zip(tree.labels, tree.parent, strict=True)}
    assert parents == {**dict(TREE), "ANY": None}


def test_other_columns_are_named_where_they_are_no_data(owner: Engine, tmp_path: Path) -> None:
    rows = "SELECT * FROM (VALUES ('a', 'X'), ('b', 'X'), ('X', 'ANY')) AS v(code, above)"
    owner.connection.execute(f"CREATE TABLE food AS {rows}; CREATE TABLE one AS SELECT 'a' AS code")
    owner.connection.execute(f"COPY ({rows}) TO '{tmp_path / 'food.parquet'}'")
    headless = tmp_path / "zqx.csv"
    headless.write_text("zqx-one,zqx-two\na,X\nb,X\nX,zqx-two\n")
    single = tmp_path / "single.csv"
    single.write_text("zqx-one\nzqx-two\n")
    for given in ("food", tmp_path / "food.parquet"):
        with pytest.raises(anondb.InputError, match="its columns are 'code', 'above'") as refused, owner.transaction():
            load_taxonomy(owner, given)
        assert refused.value.code == "not_a_tree" and "node (or child) and parent" in str(refused.value)
    with pytest.raises(anondb.InputError, match="its columns are 'code'"), owner.transaction():
        load_taxonomy(owner, "one")
    for file in (headless, single):
        with pytest.raises(anondb.InputError, match=r"node \(or child\) and parent") as refused, owner.transaction():
            load_taxonomy(owner, file)
        assert not any(secret in whole(refused.value) for secret in SECRETS)


def test_a_csv_file_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "food.csv").write_text("".join(f"i{n},zqx-{n % 2}\n" for n in range(11)))
    with anondb.connect() as database:
        database.sql(SALES)
        with pytest.raises(anondb.InputError, match="first line is its header") as refused:
            database.anonymize("sales", taxonomy=tmp_path / "food.csv")
        assert "1 of 11 items" in str(refused.value) and "zqx" not in whole(refused.value)
