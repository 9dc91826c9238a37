"""Views made, refreshed, dropped, shown and checked; scripts that mix them with ordinary SQL; and why items look so."""

from __future__ import annotations

import errno
import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from each import each
from portions import some

import anondb
from anondb.errors import AnondbError, EngineError, InfeasibleError, InputError
from anondb.release.reader import read_sealed_manifest
from anondb.views.results import Created, Dropped, Refreshed, Shown

OPTIONS = "WITH (k = 2, m = 2, taxonomy = 'food', queries = 5)"
VIEW = "CREATE ANONYMIZED VIEW v AS"
CREATE = f"CREATE ANONYMIZED VIEW spring AS SELECT tid, item FROM sales {OPTIONS}"


def made(db: anondb.Database, text: str) -> Created:
    found = db.sql(text)
    assert isinstance(found, Created)
    return found


def refreshed(db: anondb.Database, name: str = "spring") -> Refreshed:
    found = db.sql(f'REFRESH ANONYMIZED VIEW "{name}"')
    assert isinstance(found, Refreshed)
    return found


def shown(db: anondb.Database, options: str = "") -> list[dict[str, Any]]:
    found = db.sql(f"SHOW ANONYMIZED VIEWS {options}")
    assert isinstance(found, Shown)
    assert found.fetchall() == [tuple(v[c] for c in found.columns) for v in found.views]
    return list(found.views)


def failure(db: anondb.Database, text: str) -> AnondbError:
    with pytest.raises(AnondbError) as caught:
        db.sql(text)
    return caught.value


def release_id(db: anondb.Database, name: str = "spring") -> str:
    return db.release(name).manifest["release_id"]


@pytest.mark.slow
def test_a_view_is_the_release_that_anonymize_makes(db: anondb.Database) -> None:
    found = made(db, CREATE)
    assert found.view == "spring" and found.report.verification.verified
    twin = db.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="twin", queries=5)
    rows = "SELECT items, count(*) FROM release_{}.baskets GROUP BY ALL ORDER BY ALL"
    relations = [db.sql(rows.format(name)) for name in ("spring", "twin")]
    assert relations[0].fetchall() == relations[1].fetchall() != []  # type: ignore[union-attr]
    manifest = db.release("spring").manifest
    assert (manifest["table"], manifest["id_column"], manifest["item_column"]) == ("sales", "tid", "item")
    assert {k: v for k, v in manifest.items() if k != "release_id"} == {
        k: v for k, v in twin.manifest.items() if k != "release_id"
    }
    (row,) = db.sql("SELECT name, release, release_id, query, options FROM anondb.views").fetchall()  # type: ignore[union-attr]
    assert row[:4] == ("spring", "spring", release_id(db), "SELECT tid, item FROM sales")
    assert json.loads(row[4]) == {"k": 2, "m": 2, "taxonomy": "food", "queries": 5}
    assert found.to_json()["view"] == "spring" and "spring" in found.words


QUERIES = [
    ("FROM sales", "", "sales", ("tid", "item")),
    ("SELECT s.item, S.tid FROM main.Sales AS s", "", "sales", ("tid", "item")),
    ("SELECT tid AS a, list(item) AS b FROM SALES GROUP BY 1", "id = 'a', item = 'b'", "v", ("a", "b")),
    ("SELECT s.tid, s.item FROM sales s JOIN people p USING (tid) WHERE town < 3", "", "v", ("tid", "item")),
    ("WITH a AS (SELECT * FROM main.sales) SELECT tid, item FROM a -- c", "", "v", ("tid", "item")),
    ("(SELECT * FROM sales WHERE tid < 4) UNION ALL (SELECT * FROM sales WHERE tid > 3)", "", "v", ("tid", "item")),
    ("SELECT unnest(range(6)) AS tid, 'a' AS item", "", "v", ("tid", "item")),
    ('SELECT tid AS "t;-", item AS "i""m" FROM "sales"', "id = 't;-', item = 'i\"m'", "v", ("t;-", 'i"m')),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "options", "table", "columns"), some(QUERIES, QUERIES[1], QUERIES[3], QUERIES[7], check=())
)
def test_queries(db: anondb.Database, query: str, options: str, table: str, columns: tuple[str, str]) -> None:
    extra = f", {options}" if options else ""
    made(db, f"CREATE ANONYMIZED VIEW v AS {query}\nWITH (k = 2, taxonomy = 'food', queries = 1{extra});")
    manifest = db.release("v").manifest
    assert (manifest["table"], manifest["id_column"], manifest["item_column"]) == (table, *columns)
    assert not refreshed(db, "v").changed
    assert db.check_view("v").holds
    assert db.release("v").measure(queries=3, size=1).queries >= 1  # the query is the source


@pytest.mark.slow
def test_records_and_other_options_are_kept(db: anondb.Database) -> None:
    made(db, CREATE.replace("m = 2", "m = 'inf', records = 'people', algorithm = 'hghs', max_suppression = '100'"))
    entry = db.releases()[-1]
    assert (entry.transactions, entry.algorithm, entry.parameters["m"]) == (8, "hghs", "inf")
    assert not refreshed(db).changed
    db.sql("DELETE FROM people WHERE tid = 8")
    found = refreshed(db)
    assert found.changed and found.report is not None and found.report.transactions == 7


@pytest.mark.slow
def test_names_that_exist(db: anondb.Database) -> None:
    made(db, CREATE)
    before = release_id(db)
    error = failure(db, CREATE.replace("spring", "SPRING"))
    assert (error.code, error.place) == ("release_exists", {"statement": 1, "line": 1, "column": 24})
    assert "CREATE OR REPLACE" in str(error) and "--" not in str(error)
    assert release_id(db) == before
    made(db, CREATE.replace("CREATE", "CREATE OR REPLACE"))
    assert release_id(db) != before
    assert [e.status for e in db.releases()] == ["dropped", "present"]
    db.sql("CREATE TABLE plain (a INTEGER); CREATE SCHEMA release_mine")
    assert failure(db, CREATE.replace("spring", "mine")).code == "release_exists"
    assert failure(db, CREATE.replace("CREATE", "CREATE OR REPLACE").replace("spring", "mine")).code == "not_a_release"
    assert len(db.sql("SELECT * FROM anondb.views").fetchall()) == 2  # type: ignore[union-attr]


def test_refresh_of_unchanged_data_changes_nothing(db: anondb.Database) -> None:
    made(db, CREATE)
    before = (release_id(db), db.releases(), db.sql("FROM release_spring.transactions").fetchall())  # type: ignore[union-attr]
    db.sql("CREATE OR REPLACE TABLE sales AS FROM sales ORDER BY item DESC")  # the same rows in another order
    found = refreshed(db, "SPRING")
    assert not found.changed and found.report is None and "nothing" in found.words
    assert before == (release_id(db), db.releases(), db.sql("FROM release_spring.transactions").fetchall())  # type: ignore[union-attr]


@pytest.mark.slow
def test_refresh_of_changed_data(db: anondb.Database) -> None:
    made(db, CREATE)
    before = release_id(db)
    db.sql("INSERT INTO sales SELECT range, 'c' FROM range(10, 16)")
    assert [v["status"] for v in shown(db, "WITH (status = true)")] == ["stale"]
    check = db.check_view("spring")
    assert check.holds and not check.fresh and check.not_covered_items == 0 and check.transactions == 12
    found = refreshed(db)
    assert found.changed and found.check == check and found.report is not None
    assert found.images_changed == 4  # a and b became X, Y gave way to c and d
    assert found.report.loss.lm is not None and check.loss.lm is not None
    assert found.report.loss.lm < check.loss.lm
    assert found.before is not None and found.before[0] == db.releases()[0].lm
    assert "still hold" in found.words and found.to_json()["old_recoding_holds"] is True
    assert release_id(db) != before and [e.status for e in db.releases()] == ["dropped", "present"]
    assert [v["status"] for v in shown(db, "WITH (status = true)")] == ["fresh"]
    assert db.check_view("spring").fresh and not refreshed(db).changed


@pytest.mark.slow
def test_a_release_that_is_asked_while_it_changes(db: anondb.Database) -> None:
    """What an open release keeps in memory is never used for another release of its name."""
    made(db, CREATE)
    release = db.release("spring")
    sql = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'a'"
    assert release.query(sql).bounds[2] == 4
    db.sql("INSERT INTO sales SELECT range, 'a' FROM range(10, 16)")
    assert release.query(sql).bounds[2] == 4
    assert refreshed(db).changed
    lower, _, upper = release.query(sql).bounds
    assert lower <= 10 <= upper
    db.sql("DROP ANONYMIZED VIEW spring")
    with pytest.raises(InputError) as caught:
        release.query(sql)
    assert caught.value.code == "no_such_release"
    made(db, CREATE)
    assert release.query(sql).bounds == db.release("spring").query(sql).bounds


@pytest.mark.slow
def test_refresh_after_a_change_of_the_taxonomy(db: anondb.Database) -> None:
    made(db, CREATE)
    before = release_id(db)
    db.sql("CREATE OR REPLACE TABLE food AS FROM food ORDER BY node DESC")  # the same tree in another order of rows
    assert not refreshed(db).changed and shown(db, "WITH (status = true)")[0]["status"] == "fresh"
    db.sql("UPDATE food SET parent = 'X' WHERE node = 'c'")
    assert shown(db, "WITH (status = true)")[0]["status"] == "stale"
    found = refreshed(db)
    assert found.causes == ("taxonomy",) and found.check is not None and found.check.holds and found.check.fresh
    assert release_id(db) != before and "the taxonomy has changed" in found.words
    assert found.to_json()["causes"] == ["taxonomy"] and not refreshed(db).changed
    db.sql("UPDATE food SET parent = 'Y' WHERE node = 'c'; INSERT INTO sales VALUES (9, 'a')")
    found = refreshed(db)
    assert found.causes == ("data", "taxonomy") and "the data and the taxonomy have changed" in found.words


@pytest.mark.slow
def test_refresh_after_a_change_of_the_records(db: anondb.Database) -> None:
    """Records, weights, hierarchies and sensitive items are what a release is made from, too."""
    db.sql(
        "CREATE TABLE persons AS SELECT DISTINCT tid, 20 + tid AS age, (tid % 2 = 0)::VARCHAR AS even FROM sales;"
        "CREATE TABLE weights AS SELECT 'age' AS attribute, 0.5 AS weight;"
        "CREATE TABLE secret AS SELECT min(item) AS item FROM sales;"
        "CREATE TABLE trees AS SELECT 'even' AS attribute, * FROM (VALUES ('true', 'any'), ('false', 'any'), ('any', NULL))"
        " t(node, parent)"
    )
    made(
        db,
        "CREATE ANONYMIZED VIEW spring AS SELECT tid, item FROM sales WITH (model = 'kkm', k = 2, m = 1, delta = 1,"
        " records = 'persons', quasi_identifiers = 'age,even', weights = 'weights', sensitive = 'secret',"
        " hierarchies = 'trees', queries = 5)",
    )
    assert not refreshed(db).changed
    for cause, change in (
        ("records", "UPDATE persons SET age = age + 1 WHERE tid = (SELECT max(tid) FROM persons)"),
        ("records", "UPDATE weights SET weight = 0.25"),
        ("records", "INSERT INTO trees VALUES ('even', 'unknown', 'any')"),
        ("sensitive items", "UPDATE secret SET item = (SELECT max(item) FROM sales)"),
    ):
        db.sql(change)
        assert shown(db, "WITH (status = true)")[0]["status"] == "stale"
        found = refreshed(db)
        assert found.causes == (cause,) and f"the {cause} changed" in found.words
        assert not refreshed(db).changed
    db.sql("CREATE OR REPLACE TABLE persons AS FROM persons ORDER BY age DESC")  # the same in another order of rows
    assert not refreshed(db).changed


@pytest.mark.slow
def test_refresh_publishes_what_was_not_published(db: anondb.Database, tmp_path: Path) -> None:
    place = tmp_path / "out" / "sealed.duckdb"
    place.parent.mkdir()
    made(db, CREATE.replace("queries = 5", f"queries = 5, publish = '{place}', allow_overlap = true"))
    found = refreshed(db)
    assert not found.changed and found.published is None and "nothing was done" in found.words
    old = place.read_bytes()
    db.sql("INSERT INTO sales VALUES (9, 'a')")
    wal = place.with_name("sealed.duckdb.wal")
    wal.touch()
    assert failure(db, "REFRESH ANONYMIZED VIEW spring").code == "stale_wal"  # said before the long work
    wal.unlink()
    refreshed(db)
    place.write_bytes(old)  # as if publishing had failed after the release was made
    found = refreshed(db)
    assert not found.changed and found.published == str(place) and "it was published" in found.words
    with duckdb.connect(str(place), read_only=True) as analyst:
        sealed = analyst.sql("SELECT value FROM manifest WHERE key = 'release_id'").fetchall()
    assert sealed == [(release_id(db),)] and refreshed(db).published is None
    place.unlink()
    assert refreshed(db).published == str(place)
    place.write_text("no release")
    assert failure(db, "REFRESH ANONYMIZED VIEW spring").code == "target_exists" and place.read_text() == "no release"


@pytest.mark.slow
def test_refresh_publishes_overlapping_releases_only_if_allowed(db: anondb.Database, tmp_path: Path) -> None:
    place = tmp_path / "sealed.duckdb"
    made(db, CREATE.replace("queries = 5", f"queries = 5, publish = '{place}'"))
    old, content = release_id(db), place.read_bytes()
    db.sql("INSERT INTO sales VALUES (9, 'a')")
    assert failure(db, "REFRESH ANONYMIZED VIEW spring").code == "overlap"  # said before the long work
    assert release_id(db) == old and place.read_bytes() == content


def state(db: anondb.Database, place: Path) -> tuple[Any, ...]:
    """All that a statement may change: schemas, tables with their rows, and the directory of the sealed file."""
    engine = db.engine
    tables = engine.connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT temporary ORDER BY ALL"
    ).fetchall()
    rows = {t: sorted(map(repr, engine.connection.execute('FROM "{}"."{}"'.format(*t)).fetchall())) for t in tables}
    schemas = engine.connection.execute("SELECT schema_name FROM duckdb_schemas() ORDER BY ALL").fetchall()
    return schemas, rows, {f.name: f.read_bytes() for f in place.iterdir()}


@pytest.mark.slow
def test_a_view_that_cannot_be_published_is_not_made(db: anondb.Database, tmp_path: Path) -> None:
    """All or nothing; what the message says to do is then done, and works."""
    place = tmp_path / "out"
    place.mkdir()
    make = CREATE.replace("queries = 5", f"queries = 5, publish = '{place / 'p.duckdb'}'")
    db.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="old", queries=1).publish(
        place / "old.duckdb"
    )
    before = state(db, place)
    error = failure(db, make)
    assert error.code == "overlap" and "allow_overlap = true" in str(error) and "--" not in str(error)
    assert state(db, place) == before
    allowed = make.replace("queries = 5", "queries = 5, allow_overlap = true")
    found = made(db, allowed)
    assert found.report.published == str(place / "p.duckdb") and found.report.intersections[0].other == "old"

    before = state(db, place)
    other = allowed.replace("spring", "summer")
    assert failure(db, other).code == "target_exists" and state(db, place) == before
    away = other.replace("p.duckdb", "nowhere/p.duckdb")
    error = failure(db, away)
    assert error.code == "no_such_directory" and "Make it first" in str(error) and state(db, place) == before
    (place / "nowhere").mkdir()
    made(db, away)


@pytest.mark.slow
@pytest.mark.parametrize("refreshing", some([False, True], True, ids=lambda r: "refresh" if r else "create", check=()))
def test_what_fails_while_it_is_sealed_leaves_nothing(
    db: anondb.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refreshing: bool
) -> None:
    place = tmp_path / "out"
    place.mkdir()
    text = CREATE.replace("queries = 5", f"queries = 5, allow_overlap = true, publish = '{place / 'p.duckdb'}'")
    if refreshing:
        made(db, text)
        db.sql("INSERT INTO sales VALUES (9, 'a')")
        text = "REFRESH ANONYMIZED VIEW spring"
    before = state(db, place)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as broken:
        broken.setattr("anondb.engine.files.os.replace", full)
        broken.setattr("anondb.engine.files.os.link", full)
        with pytest.raises(EngineError):
            db.sql(text)
    assert state(db, place) == before
    db.sql(text)
    assert read_sealed_manifest(place / "p.duckdb")["release_id"] == release_id(db)


@pytest.mark.slow
def test_a_refused_refresh_leaves_everything_and_says_what_works(db: anondb.Database, tmp_path: Path) -> None:
    place = tmp_path / "out"
    place.mkdir()
    make = CREATE.replace("queries = 5", f"queries = 5, publish = '{place / 'p.duckdb'}'")
    made(db, make)
    db.sql("INSERT INTO sales VALUES (9, 'a')")
    before = state(db, place)
    error = failure(db, "REFRESH ANONYMIZED VIEW spring")
    assert error.code == "overlap" and "CREATE OR REPLACE" in str(error) and state(db, place) == before
    allowed = make.replace("CREATE", "CREATE OR REPLACE").replace("queries = 5", "queries = 5, allow_overlap = true")
    assert len(made(db, allowed).report.intersections) == 1
    db.sql("INSERT INTO sales VALUES (10, 'a')")
    found = refreshed(db)
    assert [i.other for i in found.report.intersections] == ["spring", "spring"]  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_replaced_version_is_compared_too(db: anondb.Database, tmp_path: Path) -> None:
    """Readers keep the old file: what it and the new one tell together is measured on what was published."""
    place = tmp_path / "p.duckdb"
    text = CREATE.replace("queries = 5", f"queries = 5, allow_overlap = true, publish = '{place}'")
    assert made(db, text).report.intersections == ()
    db.sql(f"ATTACH '{tmp_path / 'more.duckdb'}' AS more; CREATE TABLE more.sales AS FROM sales LIMIT 0")
    rows = []
    for change in ("DELETE FROM sales WHERE tid = 1", "INSERT INTO sales VALUES (9, 'a'), (10, 'b')"):
        old = place.with_name(f"old{len(rows)}.duckdb")
        old.write_bytes(place.read_bytes())
        rows.append(old)
        db.sql(change)
        found = refreshed(db)
        assert found.report is not None and len(found.report.intersections) == len(rows)
        for one, file in zip(found.report.intersections, rows, strict=True):
            baskets = []
            for path in (place, file):
                with duckdb.connect(str(path), read_only=True) as reader:
                    baskets.append(Counter(str(r) for r in reader.execute("SELECT items FROM baskets").fetchall()))
            assert one.whole is not None and one.other == "spring" and one.reason is None
            assert one.whole.only_here == (baskets[0] - baskets[1]).total()
            assert one.whole.only_there == (baskets[1] - baskets[0]).total()
        assert len(found.notes) == 1 and "Compared with the published 'spring'" in found.notes[0]
        assert len(found.to_json()["intersections"]) == len(rows)
        assert found.to_json()["release"]["intersections"] == found.to_json()["intersections"]
    db.sql("DROP ANONYMIZED VIEW spring")
    again = made(db, text.replace("CREATE", "CREATE OR REPLACE"))
    assert len(again.report.intersections) == 3
    assert len(again.notes) == 1 and "Of 3 earlier publications of these persons" in again.notes[0]


@pytest.mark.slow
def test_paths_of_a_view_are_absolute(db: anondb.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    db.sql("COPY food TO 'food.csv'")
    made(db, CREATE.replace("'food'", "'food.csv', publish = 'sealed.duckdb', allow_overlap = true"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert not refreshed(db).changed
    db.sql("INSERT INTO sales VALUES (9, 'a')")
    assert refreshed(db).published == str(tmp_path / "sealed.duckdb")
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.slow
def test_refresh_when_the_old_recoding_fails(db: anondb.Database) -> None:
    made(db, CREATE)
    db.sql("DELETE FROM sales WHERE tid = 1")  # {a, b} is left once
    check = db.check_view("spring", witnesses=5)
    assert not check.holds and check.verification.violations == 1
    assert check.verification.witnesses[0].items == ("a", "b") and check.verification.witnesses[0].support == 1
    found = refreshed(db)
    assert found.changed and "not hold" in found.words
    assert db.verify(release="spring").verified and db.check_view("spring").holds


@pytest.mark.slow
def test_items_that_are_not_covered(db: anondb.Database) -> None:
    made(db, CREATE.replace("k = 2", "k = 2, max_suppression = 0"))
    db.sql("INSERT INTO food VALUES ('e', 'all'); INSERT INTO sales VALUES (20, 'e'), (21, 'e')")
    check = db.check_view("spring")
    assert (check.not_covered_items, check.not_covered_occurrences, check.items) == (1, 2, 5)
    assert check.verification.verified and not check.within_limit and not check.holds
    assert check.loss.lm_total is not None and check.loss.lm_total >= 2
    found = refreshed(db)
    assert found.images_changed is not None and found.images_changed >= 1


@pytest.mark.slow
def test_refresh_that_fails_keeps_the_old_release(db: anondb.Database) -> None:
    made(db, CREATE)
    before = (release_id(db), len(db.releases()))
    db.sql("DELETE FROM sales WHERE tid > 1")
    with pytest.raises(InfeasibleError):
        db.sql("REFRESH ANONYMIZED VIEW spring")
    assert (release_id(db), len(db.releases())) == before
    db.sql("ALTER TABLE sales RENAME TO moved")
    error = failure(db, "SELECT 1;\nREFRESH ANONYMIZED VIEW spring")
    assert (error.code, error.place) == ("unreadable", {"statement": 2, "line": 2, "column": 25})
    assert [v["status"] for v in shown(db, "WITH (status = true)")] == ["unknown"]


@pytest.mark.slow
def test_refresh_of_what_is_no_view(db: anondb.Database) -> None:
    assert failure(db, "REFRESH ANONYMIZED VIEW spring").code == "no_such_release"
    db.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="spring", queries=1)
    assert failure(db, "REFRESH ANONYMIZED VIEW spring").code == "not_a_view"
    assert db.check_view("spring").holds  # the table that it was made from is known
    made(db, CREATE.replace("CREATE", "CREATE OR REPLACE"))
    assert not refreshed(db).changed


@pytest.mark.slow
def test_drop_and_show(db: anondb.Database) -> None:
    assert shown(db) == []
    made(db, CREATE)
    made(db, CREATE.replace("spring", '"a ""b"""'))
    first, second = shown(db)
    assert (first["name"], first["model"], first["algorithm"], first["source"]) == ("spring", "km", "mhghs", "sales")
    assert (first["parameters"], first["transactions"], first["status"]) == ("k=2, m=2", 6, "unknown")
    assert first["lm"] == db.releases()[0].lm and second["name"] == 'a "b"'
    assert isinstance(db.sql('DROP ANONYMIZED VIEW "a ""b"""'), Dropped)
    assert [v["name"] for v in shown(db)] == ["spring"]
    assert [e.status for e in db.releases()] == ["present", "dropped"]
    db.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="plain", queries=1)
    assert [v["name"] for v in shown(db)] == ["spring"] and db.releases()[-1].name == "plain"
    db.drop("plain")
    assert failure(db, 'DROP ANONYMIZED VIEW "a ""b"""').code == "no_such_release"
    gone = db.sql('DROP ANONYMIZED VIEW IF EXISTS "a ""b"""')
    assert isinstance(gone, Dropped) and not gone.dropped
    assert failure(db, 'REFRESH ANONYMIZED VIEW "a ""b"""').code == "no_such_release"


@pytest.mark.slow
def test_a_mixed_script(db: anondb.Database, tmp_path: Path) -> None:
    place = tmp_path / "sealed.duckdb"
    text = f"""-- a policy
    CREATE TABLE small AS FROM sales WHERE item <> 'd;';
    CREATE ANONYMIZED VIEW spring AS FROM small
      WITH (k = 2, taxonomy = 'food', queries = 1, publish = '{place}', allow_overlap = true);
    INSERT INTO small VALUES (30, 'a');
    SELECT count(*) AS n, 'x;y' AS "a;b" FROM release_spring.transaction_ids;
    SHOW ANONYMIZED VIEWS"""
    results = list(db.run(text))
    assert [(r.number, r.line, r.kind) for r in results] == [
        (1, 2, "sql"), (2, 3, "create"), (3, 5, "sql"), (4, 6, "sql"), (5, 7, "show")
    ]  # fmt: skip
    assert results[2].changed == 1 and results[2].columns == []
    assert (results[3].columns, results[3].rows) == (["n", "a;b"], [(6, "x;y")])
    assert json.dumps([r.to_json() for r in results], default=str)
    with duckdb.connect(str(place), read_only=True) as analyst:  # a stock DuckDB reads it
        assert analyst.sql("SELECT count(*) FROM transaction_ids").fetchall() == [(6,)]
        assert analyst.sql("SELECT upper_bound FROM count_bounds(['a'])").fetchall() == [(4,)]
    found = refreshed(db)
    assert found.report is not None and found.report.published == str(place)
    with duckdb.connect(str(place), read_only=True) as analyst:
        assert analyst.sql("SELECT count(*) FROM transaction_ids").fetchall() == [(7,)]


@pytest.mark.slow
def test_a_stock_duckdb_reads_the_owners_file(db: anondb.Database, tmp_path: Path) -> None:
    made(db, CREATE)
    expected = db.sql("FROM release_spring.baskets ORDER BY ALL").fetchall()  # type: ignore[union-attr]
    db.close()
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as stock:
        assert stock.sql("FROM release_spring.baskets ORDER BY ALL").fetchall() == expected
        stock.sql("INSERT INTO sales VALUES (40, 'a')")
        inside = anondb.connect(stock)  # a connection of the user's own
        assert refreshed(inside).changed
        assert stock.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
        inside.close()


def test_nothing_runs_where_something_cannot_be_parsed(db: anondb.Database) -> None:
    for bad in ("SELECT FROM FROM", "REFRESH ANONYMIZED x", CREATE.replace("k = 2", "kk = 2"), "SELECT 'abc"):
        assert failure(db, f"CREATE TABLE t (a INTEGER);\n{bad}").code in ("syntax_error", "unknown_option")
    assert db.sql("SELECT count(*) FROM duckdb_tables() WHERE table_name = 't'").fetchall() == [(0,)]  # type: ignore[union-attr]


@each(
    "text, code, kind, place",
    [
        ("SELECT 1;\nSELECT nope\nFROM sales", "sql_error", "BinderException, about 'nope'", (2, 2)),
        ("CREATE TABLE Sales (a INT)", "sql_error", "CatalogException, about 'Sales', which exists already", (1, 1)),
        ("DROP VIEW sales", "sql_error", "CatalogException, about 'sales'", (1, 1)),
        ("SELECT 1;\n\nSELECT *\nFROM\nsalez", "sql_error", "CatalogException, about 'salez'", (2, 5)),
        ("SELECT item::INTEGER FROM sales", "sql_error", "ConversionException", (1, 1)),
        ("SELECT error(item) FROM sales; SELECT 1", "sql_error", "InvalidInputException", (1, 1)),
        (VIEW + "\nSELECT tid, item::INTEGER AS item FROM sales\n" + OPTIONS, "unreadable", "cannot be read", (1, 1, 24)),
        (VIEW + "\nSELECT tid,\nitem FROM salez " + OPTIONS, "sql_error", "CatalogException, about 'salez'", (1, 3)),
        (VIEW + " SELECT tid FROM sales " + OPTIONS, "no_such_column", "'item'", (1, 1, 24)),
        (VIEW + " FROM sales WITH (algorithm = 'mhghs')", "no_taxonomy", "the option taxonomy", (1, 1, 24)),
        (VIEW + " FROM sales WITH (taxonomy = 'nope')", "no_such_table", "'nope'", (1, 1, 24)),
        ("BEGIN; " + CREATE, "transaction_open", "transaction", (2, 1, 31)),
    ],
)  # fmt: skip
def test_errors_say_where_and_name_no_value(
    db: anondb.Database, text: str, code: str, kind: str, place: tuple[int, ...]
) -> None:
    db.sql("INSERT INTO sales VALUES (50, 'canary')")
    error = failure(db, text)
    assert (error.code, error.place) == (code, dict(zip(("statement", "line", "column"), place, strict=False)))
    assert kind in str(error) and "canary" not in str(error)
    column = "" if len(place) < 3 else f", column {place[2]}"
    assert str(error).startswith(f"statement {place[0]}, line {place[1]}{column}: ")


def test_what_sql_returns(db: anondb.Database) -> None:
    relation = db.sql("SELECT 1 AS a; SELECT 2 AS b")
    assert isinstance(relation, duckdb.DuckDBPyRelation)
    assert relation.columns == ["b"] and relation.fetchall() == relation.fetchall() == [(2,)]
    assert db.sql("CREATE TABLE t (a INTEGER)") is None
    assert db.sql("") is None
    with pytest.raises(InputError):
        db.sql(3)  # type: ignore[arg-type]


@pytest.mark.slow
def test_views_in_memory() -> None:
    with anondb.connect() as db:
        db.sql("CREATE TABLE sales AS SELECT range // 2 AS tid, ['a', 'b'][range % 2 + 1] AS item FROM range(8)")
        db.sql("CREATE TABLE food AS SELECT * FROM (VALUES ('a', 'all'), ('b', 'all')) AS t(node, parent)")
        made(db, CREATE)
        assert [v["name"] for v in shown(db)] == ["spring"] and not refreshed(db).changed


# ---------------------------------------------------------------------- explain


def test_explain(db: anondb.Database) -> None:
    made(db, CREATE)
    as_is = db.explain("spring", "a")
    assert (as_is.outcome, as_is.released_item, as_is.path) == ("as_is", "a", ("all", "X", "a"))
    assert [(s.action, s.subject) for s in as_is.steps if s.round_number == 2] == [
        ("specialize", "all"),
        ("specialize", "X"),
    ]
    general = db.explain("SPRING", "c")
    assert (general.outcome, general.released_item, general.members) == ("generalized", "Y", ("c", "d"))
    assert "no child cut was strictly cheaper" in general.conclusion
    assert json.dumps(general.to_json())
    with pytest.raises(InputError, match="unknown") as caught:
        db.explain("spring", "unknown")
    assert caught.value.code == "unknown_item"
    with pytest.raises(InputError):
        db.explain("other", "a")


@pytest.mark.slow
@pytest.mark.parametrize("model", [anondb.TransactionalK(3), anondb.KkmAnonymity(3, 1)])
def test_explain_a_local_recoding(model: Any) -> None:
    """Each released item that may stand for an item is named, with the transactions that show it."""
    with anondb.connect() as db:
        db.sql("CREATE TABLE food AS FROM (VALUES ('all', NULL), ('X', 'all'), ('a', 'X'), ('b', 'X')) tree(node, parent)")
        db.sql("CREATE TABLE sales AS SELECT range AS tid, if(range < 9, 'a', 'b') AS item FROM range(10)")
        db.sql("CREATE TABLE people AS SELECT range AS tid, range // 5 AS age FROM range(10)")
        people = {"records": "people", "quasi_identifiers": "age"} if isinstance(model, anondb.KkmAnonymity) else {}
        options = {"taxonomy": "food", "accept": ["one-item"], **people}
        db.anonymize("sales", model=model, name="r", queries=0, **options)
        found, shown = db.explain("r", "a"), Counter(row[1] for row in db.release("r").table("transactions").fetchall())
    assert {form.label: form.support for form in found.forms} == shown and 3 <= shown["a"] < 9
    assert (found.outcome, found.released_item, found.members) == ("generalized", None, ())
    assert f"as it is in {shown['a']} transactions" in found.conclusion and "(2 items, " in found.conclusion
    assert [form["item"] for form in json.loads(json.dumps(found.to_json()))["forms"]] == [
        label for label, _ in shown.most_common()
    ]


@pytest.mark.slow
def test_explain_suppression(db: anondb.Database) -> None:
    db.sql("INSERT INTO food VALUES ('rare', 'all'), ('never', 'all'); INSERT INTO sales VALUES (1, 'rare')")
    made(db, CREATE)
    found = db.explain("spring", "rare")
    assert (found.outcome, found.released_item, found.members) == ("suppressed", None, ())
    last = max(s.round_number for s in found.steps)
    (cause,) = [s for s in found.steps if s.action == "suppress" and s.round_number == last]
    assert cause.support == 1 and "fewer than k = 2" in cause.words
    absent = db.explain("spring", "never")
    assert absent.outcome == "absent" and "did not occur" in absent.conclusion


@pytest.mark.slow
def test_refresh_after_a_change_of_the_weights(db: anondb.Database) -> None:
    db.sql("CREATE TABLE weights AS SELECT DISTINCT item, 0.5 AS weight FROM sales")
    made(
        db,
        "CREATE ANONYMIZED VIEW v AS FROM sales WITH (k = 2, m = 2, algorithm = 'coat', weights = 'weights', queries = 1)",
    )
    assert not refreshed(db, "v").changed
    db.sql("UPDATE weights SET weight = 0.25 WHERE item = (SELECT min(item) FROM sales)")
    assert refreshed(db, "v").causes == ("constraints",)
    assert not refreshed(db, "v").changed


@pytest.mark.slow
def test_refresh_after_a_change_of_the_columns(db: anondb.Database) -> None:
    db.sql(
        "CREATE TABLE halves AS SELECT 1 + dense_rank() OVER (ORDER BY item) % 2 AS column_id, item"
        " FROM (SELECT DISTINCT item FROM sales)"
    )
    made(db, "CREATE ANONYMIZED VIEW v AS FROM sales WITH (model = 'anatomy', l = 1, columns = 'halves', queries = 1)")
    assert not refreshed(db, "v").changed
    db.sql("UPDATE halves SET column_id = 3 - column_id WHERE item = (SELECT min(item) FROM sales)")
    assert shown(db, "WITH (status = true)")[0]["status"] == "stale"
    assert refreshed(db, "v").causes == ("columns",) and not refreshed(db, "v").changed


@pytest.mark.slow
def test_explain_does_not_need_the_taxonomy_again(db: anondb.Database) -> None:
    db.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="plain", queries=1)
    db.sql("DROP TABLE food; DROP TABLE sales")
    assert db.explain("plain", "d").outcome == "generalized"


@pytest.mark.slow
def test_a_view_without_a_taxonomy(db: anondb.Database) -> None:
    made(db, "CREATE ANONYMIZED VIEW v AS FROM sales WITH (k = 2, m = 2, queries = 1)")
    assert db.releases()[-1].algorithm == "coat" and not refreshed(db, "v").changed
    db.sql("INSERT INTO sales SELECT range, 'a' FROM range(60, 64)")
    found = refreshed(db, "v")
    assert found.changed and found.check is not None and found.check.holds
    assert db.explain("v", "a").path == ()
