"""A query has one meaning: the manifest says the layout of the original and how many items were suppressed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from each import each
from session.checker import without_bounds
from session.conftest import BASKETS, Named, fill

import anondb
from anondb.errors import InputError

N, ROWS = len(BASKETS), sum(map(len, BASKETS))


@contextmanager
def of_lists(folder: Path) -> Iterator[anondb.Session]:
    """A session on a release of the shop as a table of lists."""
    with anondb.connect(folder / "lists.duckdb") as db:
        fill(db, BASKETS)
        db.sql("CREATE TABLE baskets_sold AS SELECT tid, list(item ORDER BY item) AS items FROM sales GROUP BY tid")
        release = db.anonymize("baskets_sold", item="items", name="r", taxonomy="food", model=anondb.KmAnonymity(3, 2))
        release.publish(folder / "sealed.duckdb")
    with anondb.open(folder / "sealed.duckdb") as session:
        yield session


@pytest.mark.slow
def test_a_row_of_lists_is_a_person(tmp_path: Path) -> None:
    with of_lists(tmp_path) as session:
        assert session.sql("SELECT count(*) FROM baskets_sold").fetchall() == [(N, N, N)]
        assert session.sql("SELECT count(*) FROM baskets_sold").notes == []
        found = session.sql("SELECT count(*) FROM baskets_sold WHERE list_contains(items, 'milk')")
        assert found.fetchall()[0][1] <= sum("milk" in b for b in BASKETS) <= found.fetchall()[0][2]
        assert "GROUP BY" in without_bounds(session, "SELECT items, count(*) FROM baskets_sold GROUP BY 1")
        with pytest.raises(InputError) as refusal:
            session.sql("SELECT count(*) FROM baskets_sold WHERE items = 'milk'")
        assert "the operator =" in str(refusal.value)  # no text of this form is a list


@each("name", ["Baskets", "manifest", "item_counts"])
def test_tables_of_the_original_hide_objects_of_the_file(tmp_path: Path, name: str) -> None:
    with anondb.connect(tmp_path / f"{name}.duckdb") as db:
        fill(db, BASKETS)
        db.sql(f"CREATE TABLE {name} AS FROM sales")
        release = db.anonymize(name, name="r", taxonomy="food", model=anondb.KmAnonymity(3, 2))
        release.publish(tmp_path / f"{name}.sealed")
    with anondb.open(tmp_path / f"{name}.sealed") as session:
        assert session.tables[name] == ["tid", "item"]
        (counted,) = session.sql(f"SELECT count(DISTINCT tid) FROM {name} WHERE item = 'milk'").fetchall()
        assert counted[1] <= sum("milk" in b for b in BASKETS) <= counted[2]


def test_a_row_of_rows_is_an_item(named: Named) -> None:
    """The number of rows is that of items; what DuckDB takes for lists alone is refused."""
    name, session = named
    n, lower, upper = session.sql("SELECT count(*) FROM sales").fetchall()[0]
    more = 3 if name == "suppressed" else 0
    assert lower <= n and lower <= ROWS + more and (upper is None or upper >= ROWS + more) and lower >= N
    with pytest.raises(InputError) as refusal:
        session.sql("SELECT count(*) FROM sales WHERE list_contains(item, 'milk')")
    assert refusal.value.code == "bad_sql"


def test_suppressed_items_are_counted(named: Named) -> None:
    """Six items are listed. Two more were suppressed, which the manifest says, and any of them may be counted."""
    name, session = named
    _, lower, upper = session.sql("SELECT count(DISTINCT item) AS n FROM sales").fetchall()[0]
    assert upper == (8 if name == "suppressed" else 6) and lower <= upper
    _, _, upper = session.sql("SELECT count(DISTINCT item) AS n FROM sales WHERE item = 'milk'").fetchall()[0]
    assert upper == 1 or name == "suppressed"
