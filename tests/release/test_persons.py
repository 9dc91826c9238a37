"""Which persons a publication held: known from the ledger, whatever its source holds today."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anondb
from anondb.errors import InputError
from anondb.models.km import KmAnonymity

SMALL: dict[str, Any] = {"model": KmAnonymity(2, 1), "queries": 1}


def baskets(first: int, number: int = 4) -> pd.DataFrame:
    return pd.DataFrame([(tid, item) for tid in range(first, first + number) for item in "ab"], columns=["tid", "item"])


@pytest.fixture
def db(tmp_path: Path) -> Any:
    with anondb.connect(tmp_path / "owner.duckdb", threads=1) as database:
        yield database


def test_persons_are_those_of_the_publication(db: anondb.Database, tmp_path: Path) -> None:
    """A table that grew does not hold more of the persons who were published, nor fewer once it shrank."""
    db.sql("CREATE TABLE sales AS SELECT range // 2 AS tid, 'ab'[range % 2 + 1] AS item FROM range(8)")
    db.anonymize("sales", name="all", **SMALL).publish(tmp_path / "all.duckdb")
    db.sql("INSERT INTO sales SELECT 10 + range // 2, 'ab'[range % 2 + 1] FROM range(8)")
    db.sql("CREATE VIEW later AS FROM sales WHERE tid >= 10; CREATE VIEW across AS FROM sales WHERE tid >= 3")
    db.anonymize("later", name="later", publish=tmp_path / "later.duckdb", **SMALL)
    with pytest.raises(InputError) as caught:
        db.anonymize("across", name="both", publish=tmp_path / "both.duckdb", **SMALL)
    assert caught.value.code == "overlap" and "'all', 'later'" in str(caught.value)
    both = db.anonymize("across", name="both", publish=tmp_path / "both.duckdb", allow_overlap=True, **SMALL)
    assert both.report is not None
    assert [(i.other, i.persons) for i in both.report.intersections] == [("all", 1), ("later", 4)]
    db.sql("DELETE FROM sales WHERE tid < 4")
    db.sql("INSERT INTO sales VALUES (1, 'a'), (1, 'b'), (2, 'a'), (2, 'b')")
    with pytest.raises(InputError, match="'all'"):
        db.anonymize("sales", name="again", publish=tmp_path / "x.duckdb", **SMALL)


def test_data_frames_are_compared_too(db: anondb.Database, tmp_path: Path) -> None:
    db.anonymize(baskets(0), name="one", publish=tmp_path / "one.duckdb", **SMALL)
    db.anonymize(baskets(4), name="two", publish=tmp_path / "two.duckdb", **SMALL)
    with pytest.raises(InputError, match="'one', 'two'"):
        db.anonymize(baskets(3, 2), name="three", publish=tmp_path / "three.duckdb", **SMALL)
    texts = baskets(1, 2).astype(str)
    with pytest.raises(InputError, match="'one'"):
        db.anonymize(texts, name="four", publish=tmp_path / "four.duckdb", **SMALL)


def test_the_digests_are_keyed_and_of_what_may_be_published_only(db: anondb.Database, tmp_path: Path) -> None:
    def kept() -> list[Any]:
        return db.sql("SELECT release_id, count(*) FROM anondb.persons GROUP BY 1 ORDER BY 2").fetchall()  # type: ignore[union-attr]

    db.anonymize(baskets(0, 5), name="one", publish=tmp_path / "one.duckdb", **SMALL)
    db.anonymize(baskets(0, 4), name="trial", **SMALL)
    assert [n for _, n in kept()] == [4, 5]
    db.drop("trial")  # never published: nobody can combine it with anything
    assert [n for _, n in kept()] == [5]
    db.drop("one")
    assert [n for _, n in kept()] == [5]
    with anondb.connect(tmp_path / "other.duckdb") as other:
        other.anonymize(baskets(0, 5), name="one", **SMALL)
        theirs = set(other.sql("SELECT person FROM anondb.persons").fetchall())  # type: ignore[union-attr]
    ours = set(db.sql("SELECT person FROM anondb.persons").fetchall())  # type: ignore[union-attr]
    assert len(ours) == len(theirs) == 5 and not ours & theirs


def test_a_ledger_in_memory_says_so(tmp_path: Path) -> None:
    with anondb.connect(threads=1) as database:
        made = database.anonymize(baskets(0), name="one", publish=tmp_path / "one.duckdb", **SMALL)
        assert made.report is not None and any("ledger is in memory" in w for w in made.report.warnings)
    with anondb.connect(tmp_path / "owner.duckdb", threads=1) as database:
        assert database.anonymize(baskets(0), name="one", **SMALL).publish(tmp_path / "two.duckdb").remarks == ()
