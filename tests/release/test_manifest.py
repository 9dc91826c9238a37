"""What the manifest says of the original: its layout, the types of its columns, and how many items were suppressed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from each import each
from release.cases import catalog, dataset, recoding

import anondb
from anondb.data.types import item_type, released_type
from anondb.engine import Engine
from anondb.models.transactional import HkpCoherence, KmAnonymity
from anondb.release.findings import content_findings
from anondb.release.freeze import freeze
from anondb.release.manifest import types_of, types_text
from anondb.release.objects import GLOBAL, release_schema

ALL: dict[str, Any] = {"model": KmAnonymity(2, 1), "algorithm": "apriori", "queries": 1}


@pytest.fixture
def con() -> Any:
    made = duckdb.connect()
    made.execute("CREATE TABLE tree AS SELECT unnest(['all', '1', '2']) AS node, unnest([NULL, 'all', 'all']) AS parent")
    yield made
    made.close()


@each(
    "kind, stated",
    [
        *((kind, "BIGINT") for kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")),
        ("UBIGINT", "DECIMAL(20,0)"),
        ("HUGEINT", "DECIMAL(38,0)"),
        ("UHUGEINT", "DECIMAL(38,0)"),
        ("DECIMAL(5,2)", "DECIMAL(5,2)"),
        ("DECIMAL(5, 2)", "DECIMAL(5,2)"),
        ("TIMESTAMP_S", "TIMESTAMP"),
        ("TIMESTAMP_MS", "TIMESTAMP"),
        *((kind, kind) for kind in ("BOOLEAN", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "UUID")),
        *((kind, "VARCHAR") for kind in ("ENUM('x', 'BIGINT')", "STRUCT(a BIGINT)", "TIME", "TIMESTAMP_NS", "JSON")),
    ],
)  # fmt: skip
def test_types_come_from_a_closed_list(kind: str, stated: str) -> None:
    assert released_type(kind) == item_type(kind, ["1"]) == stated


def test_items_that_no_decimal_holds_are_texts() -> None:
    assert item_type("HUGEINT", ["1", "-" + "9" * 38]) == "DECIMAL(38,0)"
    assert item_type("HUGEINT", ["1", "1" + "0" * 38]) == "VARCHAR"


def facts(release: anondb.Release) -> tuple[str, dict[str, str]]:
    return release.manifest["layout"], types_of(release.manifest)


@pytest.mark.slow
@pytest.mark.parametrize(
    "source, layout, kind",
    [
        ("SELECT unnest([1, 1, 2, 2])::UINTEGER AS tid, unnest([1, 2, 1, 2])::SMALLINT AS item", "rows", "BIGINT"),
        ("SELECT unnest([1, 1, 2, 2])::UINTEGER AS tid, unnest(['1', '2', '1', '2']) AS item", "rows", "VARCHAR"),
        ("SELECT unnest([1, 2])::UINTEGER AS tid, [1, 2] AS item", "lists", "BIGINT"),
        ("SELECT unnest([1, 2])::UINTEGER AS tid, ['1', '2'] AS item", "lists", "VARCHAR"),
        ("SELECT unnest([1, 2])::UINTEGER AS tid, '[1, 2]' AS item", "rows", "VARCHAR"),
    ],
)
def test_layout_and_types_of_tables(con: Any, source: str, layout: str, kind: str) -> None:
    """Lists only where the type is one of lists; cells that are read as lists are asked as rows."""
    con.execute(f"CREATE TABLE s AS {source}")
    con.execute(f"CREATE OR REPLACE TABLE tree AS SELECT node::{'BIGINT' if kind == 'BIGINT' else 'VARCHAR'} AS node, parent FROM (VALUES (0, NULL), (1, 0), (2, 0)) AS t(node, parent)")  # noqa: E501  # fmt: skip
    con.execute(f"ALTER TABLE tree ALTER parent TYPE {'BIGINT' if kind == 'BIGINT' else 'VARCHAR'}")
    release = anondb.connect(con).anonymize("s", name="r", taxonomy="tree", **ALL)
    assert facts(release) == (layout, {"tid": "BIGINT", "item": kind})
    assert release.manifest["types"] == json.dumps({"item": kind, "tid": "BIGINT"})


@pytest.mark.slow
def test_layout_and_types_of_files(tmp_path: Path) -> None:
    """Lines of items are asked as rows, whether or not a person has none; all columns of a text file are texts."""
    (tmp_path / "lines.dat").write_text("1 2\n\n1 2\n1 2\n")
    (tmp_path / "rows.csv").write_text("tid,item\n1,1\n1,2\n2,1\n2,2\n")
    (tmp_path / "tree.csv").write_text("node,parent\nall,\n1,all\n2,all\n")
    with anondb.connect(duckdb.connect()) as database:
        for name, ids in (("lines.dat", "BIGINT"), ("rows.csv", "VARCHAR")):
            made = database.anonymize(tmp_path / name, name=name[:4], taxonomy=tmp_path / "tree.csv", **ALL)
            assert facts(made) == ("rows", {"tid": ids, "item": "VARCHAR"})


@pytest.mark.slow
def test_types_of_records(con: Any) -> None:
    """Numbers have the type of their column, or of the numbers that texts are; categories that of their column."""
    con.execute(
        "CREATE TABLE s AS SELECT unnest(range(8)) // 2 AS tid, unnest(['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b']) AS item"
    )
    con.execute("""
        CREATE TABLE p AS
        SELECT
            range AS tid, (range % 2)::SMALLINT AS age, (range % 2)::VARCHAR AS size, range % 2 = 0 AS old,
            (range % 2)::DECIMAL(4,1) AS height, ['x', 'y'][range % 2 + 1]::ENUM('x', 'y', 'rare') AS sex
        FROM range(4)
    """)
    release = anondb.connect(con).anonymize(
        "s",
        name="r",
        model=anondb.KkmAnonymity(2, 1),
        records="p",
        quasi_identifiers="age,size,old,height,sex",
        sensitive=["a"],
    )
    assert types_of(release.manifest) == {
        "age": "BIGINT",
        "height": "DECIMAL(4,1)",
        "item": "VARCHAR",
        "old": "BOOLEAN",
        "sex": "VARCHAR",
        "size": "BIGINT",
        "tid": "BIGINT",
    }


# --- the number of suppressed items ---------------------------------------------------------------------------------


def frozen(
    engine: Engine, transactions: list[str], layout: str = "rows", model: Any = None, labels: str = "ab"
) -> dict[str, str]:
    """The manifest of a release in which the items of ``labels`` stay, and others are suppressed; it is sound."""
    with engine.transaction():
        data = dataset(engine, transactions, layout=layout)
        schema = release_schema(catalog(engine), "spring")
        image = recoding(data, {label: [label] for label in labels})
        release = freeze(engine, data, image, model or KmAnonymity(k=2, m=1), release_schema=schema, replace=True)
    assert content_findings(engine, schema, GLOBAL) == []
    return release.manifest


@pytest.mark.slow
def test_the_number_of_suppressed_items(owner: Engine) -> None:
    assert frozen(owner, ["a", "b"])["suppressed_items"] == "0"
    assert frozen(owner, ["axy", "bx", "az"])["suppressed_items"] == "3"
    assert frozen(owner, ["axy", "bx", "az"], "lists")["suppressed_items"] == "3"


@pytest.mark.slow
def test_it_is_left_out_where_fewer_than_k_rows_are_empty(owner: Engine) -> None:
    """Each of these rows of a table of rows would hold a suppressed item for certain; lists may be empty."""
    assert "suppressed_items" not in frozen(owner, ["a", "a", "a", "x"])
    assert frozen(owner, ["a", "a", "x", "x"])["suppressed_items"] == "1"
    assert frozen(owner, ["a", "a", "a", "x"], "lists")["suppressed_items"] == "1"


@pytest.mark.slow
def test_it_is_left_out_under_other_models(owner: Engine) -> None:
    model = HkpCoherence()
    assert "suppressed_items" not in frozen(owner, ["ax", "bx"], model=model)
    assert frozen(owner, ["a", "b"], model=model)["suppressed_items"] == "0"


@pytest.mark.slow
@pytest.mark.parametrize(
    "key, value",
    [
        ("layout", "row"),
        ("layout", "lists "),
        ("types", '{"item":"VARCHAR", "tid":"BIGINT"}'),
        ("types", '{"tid": "BIGINT", "item": "VARCHAR"}'),
        ("types", '{"item": "VARCHAR", "more": "VARCHAR", "tid": "BIGINT"}'),
        ("types", '{"item": "VARCHAR"}'),
        ("types", '{"item": "VARCHAR", "item": "VARCHAR", "tid": "BIGINT"}'),
        ("types", '{"item": "varchar", "tid": "BIGINT"}'),
        ("types", '{"item": "DECIMAL(5,6)", "tid": "BIGINT"}'),
        ("types", '{"item": "DECIMAL(05,2)", "tid": "BIGINT"}'),
        ("types", '{"item": "INTEGER", "tid": "BIGINT"}'),
        ("types", '{"item": ["VARCHAR"], "tid": "BIGINT"}'),
        ("types", "{"),
        ("suppressed_items", "02"),
        ("suppressed_items", None),
        ("suppression", "none"),
    ],
)
def test_other_forms_are_found(owner: Engine, key: str, value: str | None) -> None:
    """A value that anondb would write otherwise could carry a message."""
    frozen(owner, ["axy", "bx", "az"])
    table = "release_spring.manifest"
    statement = f"DELETE FROM {table} WHERE key = '{key}'" if value is None else f"UPDATE {table} SET value = '{value}' WHERE key = '{key}'"  # noqa: E501  # fmt: skip
    owner._connection.execute(statement)  # type: ignore[attr-defined]
    assert content_findings(owner, release_schema(catalog(owner), "spring"), GLOBAL)


def test_a_number_that_the_promise_forbids_is_found(owner: Engine) -> None:
    frozen(owner, ["a", "a", "a", "x"])
    owner._connection.execute("INSERT INTO release_spring.manifest VALUES ('suppressed_items', '1')")  # type: ignore[attr-defined]
    assert content_findings(owner, release_schema(catalog(owner), "spring"), GLOBAL)


def test_the_text_of_types_has_one_form() -> None:
    assert types_text({"tid": "BIGINT", "é": "DATE"}) == '{"tid": "BIGINT", "é": "DATE"}'
