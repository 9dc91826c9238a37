"""Whatever a name or a label holds, it comes back exactly, and nothing in it is ever run."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import duckdb
import pytest
from portions import some
from reference_expected import expected_holders
from release.cases import dataset, recoding, rows
from release.test_ledger import ENTRY
from sqlglot import exp

from anondb.data.sources import open_source
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import load_transactions
from anondb.engine import DuckDBEngine, Engine
from anondb.errors import InputError
from anondb.ledger.ledger import entries, find, record
from anondb.ledger.stored import current_catalog
from anondb.models.transactional import KmAnonymity
from anondb.publications.published_rows import drop_release
from anondb.release.coded import CodedRelease
from anondb.release.freeze import freeze
from anondb.release.objects import read_manifest, release_schema
from anondb.release.publish import publish
from anondb.release.reader import read_sealed_manifest

LABELS = [
    "", " ", "'", '"', "''", "\\", "\\'", "\\n", "a\nb", "a\r\nb", "\t", "a\0b", "\0", "a\0",
    "; DROP SCHEMA anondb; --",
    "'); DROP TABLE transactions; --", "[a, b]", "{'a': 1}", "NULL", "null", "1", "01", "1.0", "nan", "NaN", "inf",
    "-0",
    "\u202eabc", "\u200b", "\ufeff", "é", "e\u0301", "É", "\U0001f34e", "$1", "?", "%s", "{0}", "getvariable('x')",
    "/* */", "--", "error('x')", "x" * 5000, "main", "items", "select",
]  # fmt: skip
NAMES = [
    "'", '"', 'a"."b', "a.b.c", ";", "; DROP SCHEMA anondb CASCADE; --", "\U0001f34e", "select", "table", "x" * 5000,
    " ",
    "a\nb", "\\", "\u202eabc", "É", "getvariable('release_id')", "%s {0} $1 ?", "--", "/*", "a\0b",
]  # fmt: skip


@pytest.mark.slow
def test_labels_come_back_exactly(owner: Engine, tmp_path: Path) -> None:
    transactions = [[x, LABELS[n - 1]] for n, x in enumerate(LABELS)] + [[x] for x in LABELS]
    half = len(LABELS) // 2
    blocks = {x: [x] for x in LABELS[:half]}
    blocks["group of '\"\\\0;"] = LABELS[half:]
    with owner.transaction():
        data = dataset(owner, transactions)
        assert data.labels == tuple(sorted(LABELS))
        release = freeze(
            owner, data, recoding(data, blocks), KmAnonymity(k=1), release_schema=release_schema("shop", "spring")
        )
        coded = CodedRelease(owner, release.schema)
        assert len(rows(owner, f"FROM {coded.transactions.sql()}")) == release.rows
        assert [r[0] for r in rows(owner, f"SELECT label FROM {coded.items.sql()} ORDER BY item")] == sorted(blocks)
    wanted = sorted((label, member) for label, members in blocks.items() for member in members)
    image = {member: label for label, member in wanted}
    baskets = sorted(sorted({image[i] for i in t}) for t in transactions)
    place = publish(owner, release.schema, tmp_path / "sealed.duckdb").path
    with duckdb.connect(str(place), read_only=True) as analyst:
        assert sorted(analyst.sql("FROM released_items").fetchall()) == wanted
        assert sorted(r[0] for r in analyst.sql("SELECT items FROM baskets").fetchall()) == baskets
        for label in LABELS:
            upper = sum(image[label] in b for b in baskets)
            assert analyst.execute("SELECT upper_bound FROM count_bounds(?)", [[label]]).fetchall() == [(upper,)]


@pytest.mark.slow
@pytest.mark.parametrize("names", [NAMES[::4], pytest.param(NAMES, marks=pytest.mark.nightly)], ids=["some", "all"])
def test_names_of_releases_come_back_exactly(owner: Engine, tmp_path: Path, names: list[str]) -> None:
    with owner.transaction():
        data = dataset(owner, [["a"], ["a", "b"]])
        image = recoding(data, {"AB": ["a", "b"]})
        for name in names:
            hostile = dataclasses.replace(data, table=name, id_column=name, item_column=name)
            release = freeze(owner, hostile, image, KmAnonymity(), release_schema=release_schema("shop", name))
            record(owner, "shop", dataclasses.replace(ENTRY, name=name, source_table=name, release_id=release.release_id))
    expected = expected_holders([["AB"]] * 2, {"AB": ["a", "b"]})["AB", "a"]
    for number, name in enumerate(names):
        schema = release_schema("shop", name)
        found = find(owner, "shop", name)
        assert found is not None and (found.name, found.source_table) == (name, name)
        manifest = read_manifest(owner, schema)
        assert [manifest[k] for k in ("table", "id_column", "item_column")] == [name] * 3
        call = exp.Table(
            this=exp.Anonymous(this="count_bounds", expressions=[exp.array("'a'")]),
            db=exp.to_identifier(schema.name, quoted=True),
        )
        assert rows(owner, exp.select("*").from_(call).sql("duckdb")) == [(0, pytest.approx(expected, abs=1e-12), 2)]
        if number % 7 == 0:
            assert read_sealed_manifest(publish(owner, schema, tmp_path / f"{number}.duckdb").path) == manifest
    assert sorted(e.name for e in entries(owner, "shop")) == sorted(names)
    with owner.transaction():
        for name in names[::3]:
            drop_release(owner, "shop", name)
    assert {e.name for e in entries(owner, "shop") if e.status == "dropped"} == set(names[::3])
    left = rows(owner, "SELECT schema_name FROM duckdb_schemas() WHERE schema_name LIKE 'release_%'")
    assert {r[0].removeprefix("release_") for r in left} == set(names) - set(names[::3])


@pytest.mark.slow
def test_hostile_release_survives_reopening(tmp_path: Path) -> None:
    names = list(NAMES)
    engine = DuckDBEngine.open(tmp_path / 'it\'s "mine"; --.duckdb')
    catalog = current_catalog(engine)
    for name in names[:3]:
        with engine.transaction():
            data = dataset(engine, [["a"]])
            freeze(engine, data, recoding(data, {"a": ["a"]}), KmAnonymity(), release_schema=release_schema(catalog, name))
    engine.close()
    again = DuckDBEngine.open(tmp_path / 'it\'s "mine"; --.duckdb')
    found = rows(again, "SELECT schema_name FROM duckdb_schemas() WHERE schema_name LIKE 'release_%' ORDER BY 1")
    assert [f[0] for f in found] == sorted(f"release_{n}" for n in names[:3])
    publish(again, release_schema(catalog, names[0]), tmp_path / "out '\".duckdb")
    again.close()
    assert read_sealed_manifest(tmp_path / "out '\".duckdb")["transactions"] == "1"


@pytest.mark.parametrize("suffix", some(["csv", "parquet", "dat"], "csv"))
@pytest.mark.parametrize(
    "name", ["a[1].{}", "a*.{}", "a?.{}", "[!b]1.{}", "a]1.{}", "item=x/a1.{}", "level=x/[a]1.{}", "d[1]/**/a1.{}"]
)
def test_a_file_is_that_file(name: str, suffix: str, owner: Engine, tmp_path: Path) -> None:
    """DuckDB's readers take a name for a pattern, and name=value in a path for a column."""
    for place in (tmp_path / "a1", tmp_path / "d1" / "e" / "a1"):
        place.parent.mkdir(parents=True, exist_ok=True)
        write(place.with_suffix(f".{suffix}"), "wrong")
    path = tmp_path / name.format(suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, "right")
    with owner.transaction(), open_source(owner, path, "transactions") as source:
        assert list(source.columns) == ["tid", "item"]
        assert load_transactions(owner, source).labels == ("right",)


def write(path: Path, item: str) -> None:
    """A file of one transaction with one item."""
    if path.suffix == ".parquet":
        plain = path.parent / "plain"
        duckdb.sql(f"SELECT 1 AS tid, '{item}' AS item").write_parquet(str(plain))
        plain.rename(path)
    else:
        path.write_text(f"tid,item\n1,{item}\n" if path.suffix == ".csv" else f"{item}\n")


def test_a_taxonomy_in_a_partitioned_directory(owner: Engine, tmp_path: Path) -> None:
    """A wide table has one column a level; the directory adds none."""
    path = tmp_path / "version=7" / "levels.csv"
    path.parent.mkdir()
    path.write_text("item,group\na,x\nb,x\n")
    assert sorted(load_taxonomy(owner, path).labels) == ["a", "b", "x"]


@pytest.mark.parametrize("rows", [1, 50])
def test_a_number_sign_begins_no_comment(rows: int, owner: Engine, tmp_path: Path) -> None:
    """DuckDB's reader guesses that a file has comments, and leaves such persons out without a word."""
    path = tmp_path / "t.csv"
    path.write_text("tid,item\n" + "".join(f"{n},a\n" for n in range(rows)) + "#1,#b\n#2,a #c\n")
    with owner.transaction(), open_source(owner, path, "transactions") as source:
        data = load_transactions(owner, source)
    assert (data.n_transactions, data.labels) == (rows + 2, ("#b", "a", "a #c"))


@pytest.mark.parametrize("row", ['a;"Best" buys;*', 'a;x;"*', '"a" b;x;*'])
def test_quotes_that_are_not_closed(row: str, owner: Engine, tmp_path: Path) -> None:
    """A path file whose quotes are not those of CSV is refused: no quote is dropped from a label, no line swallowed."""
    path = tmp_path / "t.tree"
    path.write_text(f"{row}\nb;y;*\n")
    with pytest.raises(InputError) as caught:
        load_taxonomy(owner, path)
    assert caught.value.code == "bad_file"
    path.write_text('a;5" pipe;"""Best"" buys"\n')
    assert load_taxonomy(owner, path).labels == ('"Best" buys', '5" pipe', "a")
