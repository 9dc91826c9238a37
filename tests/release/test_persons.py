"""Which persons a publication held: known from the ledger, whatever its source holds today."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from portions import portions, some

import anondb
from anondb.engine import reads
from anondb.errors import InputError
from anondb.models.transactional import KmAnonymity
from anondb.warehouse.duckdb import DuckDBWarehouse

SMALL: dict[str, Any] = {"model": KmAnonymity(2, 1), "queries": 1}


def baskets(first: int, number: int = 4) -> pd.DataFrame:
    return pd.DataFrame([(tid, item) for tid in range(first, first + number) for item in "ab"], columns=["tid", "item"])


@pytest.fixture
def db(tmp_path: Path) -> Any:
    with anondb.connect(tmp_path / "owner.duckdb", threads=1) as database:
        yield database


@pytest.mark.slow
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


@pytest.mark.slow
def test_data_frames_are_compared_too(db: anondb.Database, tmp_path: Path) -> None:
    db.anonymize(baskets(0), name="one", publish=tmp_path / "one.duckdb", **SMALL)
    db.anonymize(baskets(4), name="two", publish=tmp_path / "two.duckdb", **SMALL)
    with pytest.raises(InputError, match="'one', 'two'"):
        db.anonymize(baskets(3, 2), name="three", publish=tmp_path / "three.duckdb", **SMALL)
    texts = baskets(1, 2).astype(str)
    with pytest.raises(InputError, match="'one'"):
        db.anonymize(texts, name="four", publish=tmp_path / "four.duckdb", **SMALL)


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_ledger_in_memory_says_so(tmp_path: Path) -> None:
    with anondb.connect(threads=1) as database:
        made = database.anonymize(baskets(0), name="one", publish=tmp_path / "one.duckdb", **SMALL)
        assert made.report is not None and any("ledger is in memory" in w for w in made.report.warnings)
    with anondb.connect(tmp_path / "owner.duckdb", threads=1) as database:
        assert database.anonymize(baskets(0), name="one", **SMALL).publish(tmp_path / "two.duckdb").remarks == ()


EQUAL = {
    "INTEGER": [
        "tid::DECIMAL(10, 2)",
        "tid::HUGEINT",
        "tid || ''",
        "'00' || tid",
        "tid || '.0'",
        "' ' || tid || ' '",
        "tid || 'e0'",
    ],
    "DATE": [
        "tid::TIMESTAMP",
        "tid::TIMESTAMP_NS",
        "(tid || ' 00:00:00+00')::TIMESTAMPTZ",
        "strftime(tid, '%Y/%m/%d')",
        "tid || 'T00:00:00.000Z'",
    ],
    "UUID": ["upper(tid::VARCHAR)", "replace(tid::VARCHAR, '-', '')", "'{' || tid || '}'"],
    "TIMESTAMP": [
        "tid || '000'",
        "replace(tid::VARCHAR, ' ', 'T') || 'Z'",
        "tid::TIMESTAMP_NS",
        "(tid || '+00')::TIMESTAMPTZ",
    ],
}
IDS = {
    "INTEGER": "n",
    "DATE": "DATE '2024-02-28' + n::INTEGER",
    "UUID": "CAST(md5(n::VARCHAR) AS UUID)",
    "TIMESTAMP": "TIMESTAMP '2024-02-28 10:00:00.5' + n * INTERVAL 1 HOUR",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", some(EQUAL, "DATE", check=()))
def test_the_same_persons_under_another_type_are_the_same(db: anondb.Database, tmp_path: Path, kind: str) -> None:
    """What SQL calls equal is one person, whatever its type and the time zone of the connection."""
    rows = f"SELECT ({IDS[kind]})::{kind} AS tid, item FROM range(1, 5) r(n), (VALUES ('a'), ('b')) i(item)"
    db.sql(f"CREATE TABLE sales AS {rows}")
    db.anonymize("sales", name="one", publish=tmp_path / "one.duckdb", **SMALL)
    for n, other in enumerate(EQUAL[kind]):
        db.sql(f"SET TimeZone = '{['UTC', 'America/New_York'][n % 2]}'")
        db.sql(f"CREATE OR REPLACE VIEW others AS SELECT {other} AS tid, item FROM sales")
        with pytest.raises(InputError) as caught:
            db.anonymize("others", name="two", publish=tmp_path / "two.duckdb", replace=True, **SMALL)
        assert caught.value.code == "overlap", other
    db.sql(f"CREATE OR REPLACE VIEW others AS {rows.replace('range(1, 5)', 'range(5, 9)')}")
    db.anonymize("others", name="two", publish=tmp_path / "two.duckdb", replace=True, **SMALL)


def test_texts_that_differ_are_different_persons(db: anondb.Database, tmp_path: Path) -> None:
    texts = [
        "Ann",
        "ann",
        "1a",
        "01a",
        "",
        "-",
        ".",
        "1-",
        "infinity",
        "10:20:30:40",
        "99999-99",
        "1.5",
        "1.05",
        "-1",
        "1",
        "1e99",
    ]
    frame = pd.DataFrame([(tid, item) for tid in texts for item in "ab"], columns=["tid", "item"])
    db.anonymize(frame, name="one", accept=["missing-words"], **SMALL)
    assert db.sql("SELECT count(*) FROM anondb.persons").fetchall() == [(len(texts),)]  # type: ignore[union-attr]


@pytest.mark.slow
def test_ids_of_two_populations_are_different_people(db: anondb.Database, tmp_path: Path) -> None:
    """The owner has said so, by naming both: the ledger and the report have it, and nobody else is let through."""
    db.anonymize(baskets(0), name="shop", publish=tmp_path / "shop.duckdb", population="shoppers", **SMALL)
    for population in (None, "shoppers", " Shoppers"):
        with pytest.raises(InputError, match="population=") as caught:
            db.anonymize(
                baskets(2), name="ward", publish=tmp_path / "x.duckdb", population=population, replace=True, **SMALL
            )
        assert caught.value.code == "overlap"
    for population in ("", "  "):
        with pytest.raises(InputError, match="empty"):
            db.anonymize(baskets(2), population=population, **SMALL)
    ward = db.anonymize(
        baskets(2), name="ward", publish=tmp_path / "ward.duckdb", population="patients", replace=True, **SMALL
    )
    assert ward.report is not None and ward.report.intersections == ()
    said = "2 ids of the population 'patients' are also in published releases of 'shoppers'"
    assert any(said in warning and "nothing was compared" in warning for warning in ward.report.warnings)
    assert db.releases()[-1].parameters["population"] == "patients"
    page = ward.report_html()
    assert "<b>patients</b>" in page and "as you have stated" in page
    with pytest.raises(InputError, match="'shop', 'ward'"):
        db.anonymize(baskets(3, 2), name="all", publish=tmp_path / "all.duckdb", **SMALL)  # of no named population


@pytest.mark.slow
def test_the_population_of_a_view(db: anondb.Database, tmp_path: Path) -> None:
    db.sql("CREATE TABLE sales AS SELECT range // 2 AS tid, 'ab'[range % 2 + 1] AS item, range // 8 AS week FROM range(16)")
    db.anonymize("sales", name="shop", publish=tmp_path / "shop.duckdb", population="shoppers", **SMALL)
    view = "CREATE ANONYMIZED VIEW {} AS FROM sales WITH (k = 2, m = 1, queries = 1, publish = '{}'{})"
    for name, more in (("ward", ""), ("parts", ", partition_by = 'week'")):
        with pytest.raises(InputError, match="before"):
            db.sql(view.format(name, tmp_path / name, more))
        db.sql(view.format(name, tmp_path / name, f"{more}, population = '{name}'"))
        db.sql(f"REFRESH ANONYMIZED VIEW {name}")


FORMS = (  # characters of which ids of a form are made
    "0123456789",
    "0123456789+-.eE",
    "0123456789-/ :.TZ",
    "0123456789abcdefABCDEF",
    "0123456789abcdef-{}",
    "a\n! \u2028\u3000'\\\u00e9%_",
)


def hostile(rnd: random.Random) -> str:
    """An id that may be written like a number, a date, a time or a UUID, or with other texts around it."""
    day = f"{rnd.choice([0, 44, 1999, 2024, 12345]):04}{rnd.choice('-/ ')}{rnd.randint(0, 13):02}-{rnd.randint(0, 32):02}"
    time = f"{rnd.randint(0, 24):02}:{rnd.randint(0, 60):02}{rnd.choice(['', ':00', ':59.5', ':07.250', ':60'])}"
    digits = "".join(rnd.choices("0123456789abcdefABCDEF", k=32))
    dashed = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    made = [
        day,
        time,
        f"{day} {time}",
        f"{day}T{time}Z",
        f"{day} 00:00:00",
        digits,
        dashed,
        "{" + dashed + "}",
        "TRUE",
        "false",
    ]
    form = "".join(rnd.choices(rnd.choice(FORMS), k=rnd.randint(0, 12)))
    return rnd.choice([form, rnd.choice(made), rnd.choice(made) + form[:2], form[:2] + rnd.choice(made)])


@pytest.mark.parametrize("seeds", portions(1, 2, 40))
def test_digests_by_portable_statements_are_those_of_the_ledger(seeds: range) -> None:
    """Whatever an id looks like. Only ids that are written like an odd number, date, time or UUID come back as texts."""
    warehouse = DuckDBWarehouse()
    for seed in seeds:
        rnd = random.Random(seed)
        ids = sorted({hostile(rnd) for _ in range(4000)})
        with warehouse.snapshot():
            given = warehouse.put("ids", {"tid": ("INTEGER", range(len(ids))), "id": ("VARCHAR", ids)})
            made = warehouse.fetch(reads.rows(warehouse.digests(given, "key"), "digest, id"), most=4000)
            rest = [i for i in made["id"].tolist() if i is not None]
            others = warehouse.put("others", {"id": ("VARCHAR", rest)})
            all_digests, of_rest = (
                set(warehouse.fetch("publications/persons", {"ids": rows}, most=4000, secret="key")["person"].tolist())
                for rows in (given, others)
            )
        assert {int(d, 16) for d in made["digest"].tolist() if d is not None} | of_rest == all_digests
        assert 0 < len(rest) < len(ids) / 2 and all(re.match("[-+{]?[.]?[0-9a-fA-F]", i) for i in rest)
