"""Views by their names: IF NOT EXISTS, qualified names, RENAME, DESCRIBE, SHOW, REFRESH ALL, and SELECT from a view."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anondb
from anondb.errors import AnondbError
from anondb.views.results import Created, Kept, RefreshedAll, Shown

OPTIONS = "WITH (k = 2, m = 2, taxonomy = 'food', queries = 1)"
CREATE = f"CREATE ANONYMIZED VIEW spring AS SELECT tid, item FROM sales {OPTIONS}"


@pytest.fixture
def shop(db: anondb.Database) -> anondb.Database:
    db.sql(CREATE)
    return db


def failure(db: anondb.Database, text: str) -> AnondbError:
    with pytest.raises(AnondbError) as caught:
        db.sql(text)
    return caught.value


def rows(db: anondb.Database, text: str) -> list[Any]:
    found = db.sql(text)
    assert found is not None
    return found.fetchall()


def test_if_not_exists(shop: anondb.Database) -> None:
    again = CREATE.replace("VIEW spring", "VIEW IF NOT EXISTS Spring")
    before = shop.releases()
    found = shop.sql(again)
    assert isinstance(found, Kept) and "stays as it is" in found.words and shop.releases() == before
    assert isinstance(shop.sql(again.replace("Spring", "summer")), Created)


@pytest.mark.slow
def test_qualified_names(shop: anondb.Database, tmp_path: Path) -> None:
    for name in ("main.spring", "shop.spring", '"shop"."MAIN".spring'):
        assert rows(shop, f"DESCRIBE ANONYMIZED VIEW {name}")[0] == ("name", "spring")
    for name in ("other.spring", "shop.other.spring", "main.shop.spring"):
        error = failure(shop, f"SELECT 1;\n  REFRESH ANONYMIZED VIEW {name}")
        assert error.code == "elsewhere" and "line 2, column 27" in str(error) and "USE" in str(error)
    shop.sql(f"ATTACH '{tmp_path / 'more.duckdb'}' AS more; USE more")
    assert failure(shop, "REFRESH ANONYMIZED VIEW shop.spring").code == "elsewhere"


@pytest.mark.slow
def test_renamed_views_are_the_same_releases(shop: anondb.Database, tmp_path: Path) -> None:
    shop.sql("CREATE VIEW spring_rows AS FROM sales")
    release, before = shop.release("spring"), rows(shop, "FROM release_spring.transactions ORDER BY ALL")
    number, bounds = release.manifest["release_id"], release.count_bounds(["a"])
    assert "renamed to summer" in shop.sql("ALTER ANONYMIZED VIEW spring RENAME TO summer").words  # type: ignore[union-attr]
    renamed = shop.release("summer")
    assert renamed.manifest["release_id"] == number and renamed.count_bounds(["a"]) == bounds
    assert rows(shop, "FROM release_summer.transactions ORDER BY ALL") == before
    assert failure(shop, "REFRESH ANONYMIZED VIEW spring").code == "no_such_release"
    assert not shop.sql("REFRESH ANONYMIZED VIEW summer").changed  # type: ignore[union-attr]
    assert shop.explain("summer", "a").conclusion and shop.verify(release="summer").verified
    renamed.publish(tmp_path / "sealed.duckdb")
    assert [(e.name, e.status) for e in shop.releases()] == [("summer", "present")]
    shop.sql(CREATE)
    for name in ("spring", "SUMMER"):
        assert failure(shop, f"ALTER ANONYMIZED VIEW summer RENAME TO {name}").code == "release_exists"
    assert failure(shop, "ALTER ANONYMIZED VIEW winter RENAME TO fall").code == "no_such_release"


@pytest.mark.slow
def test_described_and_shown(shop: anondb.Database) -> None:
    facts = dict(rows(shop, "DESCRIBE ANONYMIZED VIEW spring"))
    assert facts["query"] == "SELECT tid, item FROM sales" and facts["taxonomy"] == "food"
    assert facts["promise"] == "km, k = 2, m = 2" and facts["published"] == "never" and facts["transactions"] == "6"
    ((name, statement),) = rows(shop, "SHOW CREATE ANONYMIZED VIEW spring")
    assert name == "spring" and " \n" not in statement
    shop.sql("DROP ANONYMIZED VIEW spring")
    shop.sql(statement)  # it makes the same view
    assert rows(shop, "SHOW CREATE ANONYMIZED VIEW spring") == [(name, statement)]
    for text in ("DESCRIBE", "SHOW CREATE"):
        error = failure(shop, f"{text} ANONYMIZED VIEW winter")
        assert error.code == "no_such_release" and f"line 1, column {len(text) + 18}: " in str(error)
    shop.sql(CREATE.replace("spring", "spring_2"))

    def names(like: str) -> list[str]:
        found = shop.sql(f"SHOW ANONYMIZED VIEWS LIKE '{like}'")
        assert isinstance(found, Shown)
        return [view["name"] for view in found.views]

    assert names("SPRING%") == ["spring", "spring_2"] and names("spring__") == ["spring_2"] and names("s.*") == []


@pytest.mark.slow
def test_refresh_all_goes_on_after_an_error(shop: anondb.Database) -> None:
    shop.sql("CREATE TABLE others AS FROM sales")
    shop.sql(CREATE.replace("spring", "summer").replace("FROM sales", "FROM others"))
    found = shop.sql("REFRESH ALL ANONYMIZED VIEWS")
    assert isinstance(found, RefreshedAll) and found.fetchall() == [("spring", False), ("summer", False)]
    shop.sql("DROP TABLE sales; INSERT INTO others VALUES (9, 'a')")
    number = shop.release("summer").manifest["release_id"]
    error = failure(shop, "REFRESH ALL ANONYMIZED VIEWS")
    assert error.code == "unreadable" and "1 of 2 views were not refreshed" in str(error)
    assert shop.release("summer").manifest["release_id"] != number


@pytest.mark.slow
def test_select_from_a_view(shop: anondb.Database) -> None:
    assert rows(shop, "SELECT count(DISTINCT transaction_id) FROM spring") == [(6,)]
    join = "SELECT count(*) FROM Spring s JOIN sales ON true WHERE s.item IN (SELECT item FROM spring)"
    assert rows(shop, join)[0][0] > 0
    shop.sql("CREATE TABLE kept AS SELECT * FROM spring")
    assert rows(shop, "SELECT count(*) FROM kept") == rows(shop, "SELECT count(*) FROM release_spring.transactions")
    assert rows(shop, "SELECT 'spring' AS x") == [("spring",)]
    assert rows(shop, "SELECT count(*) FROM duckdb_views() WHERE view_name ILIKE 'spring'") == [(0,)]  # nothing stays
    shop.sql("CREATE TABLE spring AS SELECT 1 AS mine")
    assert rows(shop, "FROM spring") == [(1,)]  # a table of the owner comes first
    shop.sql("BEGIN; DROP TABLE spring")
    assert len(rows(shop, "FROM spring")) > 1
    shop.sql("ROLLBACK")
    assert failure(shop, "SELECT * FROM winter").code == "sql_error"


@pytest.mark.slow
def test_select_from_a_view_by_a_qualified_name(shop: anondb.Database) -> None:
    """As in other statements, the current database and the schema main may be in front."""
    catalog = rows(shop, "SELECT current_database()")[0][0]
    counted = rows(shop, "SELECT count(*) FROM spring")
    for name in (
        "main.spring",
        'MAIN."spring"',
        f"{catalog}.spring",
        f'"{catalog}".main.Spring',
        f"{catalog} . main -- here\n . spring",
    ):
        assert rows(shop, f"SELECT count(*) FROM {name} /* é */ WHERE item <> 'é'") == counted
    both = f"SELECT 'ü', count(*) FROM main.spring a, spring b JOIN {catalog}.main.spring c USING (transaction_id)"
    assert rows(shop, both) == rows(shop, both.replace(f"{catalog}.main.", "").replace("main.", ""))
    assert failure(shop, "SELECT count(*) FROM other.spring").code == "sql_error"
    assert rows(shop, "SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal") == [(0,)]


@pytest.mark.slow
def test_select_from_a_view_of_a_connection_that_was_passed_in(shop: anondb.Database, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "own.duckdb")) as connection:
        db = anondb.connect(connection)
        db.sql("CREATE TABLE sales AS SELECT range AS tid, 'ab'[range % 2 + 1] AS item FROM range(6)")
        db.sql(CREATE.replace("taxonomy = 'food', ", ""))
        assert len(rows(db, "FROM spring")) == 6
        assert connection.execute("SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal").fetchall() == [
            (0,)
        ]


def test_a_view_does_not_read_its_own_release(shop: anondb.Database) -> None:
    shop.sql("CREATE VIEW released AS SELECT transaction_id AS tid, item FROM release_spring.transactions")
    shop.sql("CREATE VIEW further AS FROM released")
    replace = CREATE.replace("CREATE", "CREATE OR REPLACE")
    error = failure(shop, replace.replace("FROM sales", "FROM further"))
    assert error.code == "own_release" and "line 1" in str(error)
    error = failure(shop, replace.replace("FROM sales", "\nFROM release_spring.transactions"))
    assert error.code == "syntax_error" and "line 2, column 6" in str(error)
