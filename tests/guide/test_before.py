"""What Python says of files and tables before a release: tables, peek, load, and counts for pictures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from cli.shop import BASKETS, fill

import anondb
from anondb.api.connect import new_file
from anondb.guide.look import Counts


@pytest.fixture
def purchases(tmp_path: Path) -> Path:
    rows = [f"{person};{item}" for person, items in BASKETS.items() for item in items]
    (tmp_path / "purchases.csv").write_text("\n".join(["customer;product", *rows]), "utf-8")
    return tmp_path / "purchases.csv"


def test_tables_and_their_columns() -> None:
    with anondb.connect() as db:
        fill(db.engine.connection)
        for statement in ("CREATE SCHEMA old", 'CREATE VIEW old."my sales" AS SELECT * FROM sales', "CREATE SCHEMA anondb"):
            db.sql(statement)
        assert {t.name: dict(t.columns) for t in db.tables()} == {
            "food": {"node": "VARCHAR", "parent": "VARCHAR"},
            "sales": {"tid": "INTEGER", "item": "VARCHAR"},
            'old."my sales"': {"tid": "INTEGER", "item": "VARCHAR"},
        }
        assert db.peek('old."my sales"').counts == db.peek("sales").counts, "names can be used"


def test_peek_at_a_table_and_at_a_file_say_the_same(purchases: Path) -> None:
    supports = Counter(item for items in BASKETS.values() for item in items)
    with anondb.connect() as db:
        fill(db.engine.connection)
        table, file = db.peek("sales"), db.peek(purchases)
        assert table.persons == file.persons == (("1", ("a", "b")), ("2", ("a", "b")), ("3", ("a", "c")))
        assert table.counts == file.counts == Counts(((2, 6),), tuple(sorted(supports.items(), key=lambda i: (-i[1], i[0]))))
        assert file.reading == {"id": "customer", "item": "product"} and table.account is None
        assert table.command == "anondb anonymize SOURCE --transactions sales --algorithm similar --publish release.duckdb"
        assert db.peek(purchases, delimiter=",").problem is not None
        assert "no table or view 'sale'" in (db.peek("sale").problem or "")


def test_counts_are_those_of_the_profile_and_in_ranges() -> None:
    with anondb.connect() as db:
        fill(db.engine.connection)
        quick, whole = db.profile("sales", attackers=False), db.profile("sales")
        assert quick.counts == whole.counts and quick.lengths == whole.lengths
        assert not quick.known and not quick.estimates and len(whole.known) == 3
    lengths = {n: 10 + n for n in (0, *range(1, 18), 40)}
    ranges = Counts(tuple(lengths.items()), ()).ranges()
    assert list(ranges) == ["0", "1", "2", "3 to 4", "5 to 8", "9 to 16", "17 to 32", "33 to 64"]
    assert ranges["5 to 8"] == 15 + 16 + 17 + 18 and sum(ranges.values()) == sum(lengths.values())
    assert Counts(((0, 2), (7, 1)), ()).ranges() == {"0": 2, "7": 1}


def test_load_makes_a_private_file_or_none(purchases: Path) -> None:
    made = str(purchases.with_suffix(".duckdb"))
    with pytest.raises(anondb.InputError), new_file(made), anondb.connect(made) as db:
        db.load(purchases, id="no", item="product")
    assert not Path(made).exists()
    with new_file(made), anondb.connect(made) as db:
        (loaded,) = db.load(purchases, id="customer", item="product")
        assert loaded.rows == 12 and [t.name for t in db.tables()] == ["transactions"]
    assert Path(made).stat().st_mode & 0o077 == 0
    with pytest.raises(anondb.InputError) as taken, new_file(made), anondb.connect(made) as db:
        db.load(purchases, id="customer", item="product")
    assert taken.value.code == "table_exists" and Path(made).exists(), "a file that was there stays"
