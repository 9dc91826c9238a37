"""Partitioned views: a release for each value, over disjoint persons; what is refused; and what is left after a kill."""

from __future__ import annotations

import random
import shutil
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from portions import portions

import anondb
from anondb.data.sources import Partition
from anondb.errors import AnondbError, InfeasibleError
from anondb.publications.parquet import inspect_folder
from anondb.release.inspect import inspect
from anondb.views.folders import file_name
from anondb.views.partition_results import Partitioned

OPTIONS = "k = 2, m = 1, queries = 1, partition_by = 'week'"
QUERY = "SELECT tid, item, week FROM sales"
CREATE = f"CREATE ANONYMIZED VIEW weekly AS {QUERY} WITH ({OPTIONS}, publish = 'weeks')"
REFRESH = "REFRESH ANONYMIZED VIEW weekly"
SALES = "CREATE TABLE sales AS SELECT range AS tid, 'abc'[range % 3 + 1] AS item, range // 6 AS week FROM range(12)"
WEEK = "INSERT INTO sales SELECT {0} * 6 + range, 'abc'[range % 3 + 1], {0} FROM range(6)"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder, and a copy of it with a database of two weeks, each with two baskets of each of three items, that are
    published. The ledger has absolute paths, so a test works in the same folder."""
    here, copy = (tmp_path_factory.mktemp("weekly") / name for name in ("work", "copy"))
    here.mkdir()
    with pytest.MonkeyPatch.context() as patch, anondb.connect(here / "owner.duckdb", threads=1) as database:
        patch.chdir(here)
        database.sql(SALES)
        database.sql(CREATE)
    shutil.copytree(here, copy)
    return here, copy


@pytest.fixture
def published(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[anondb.Database]:
    """The database with the view of two published weeks."""
    here, copy = places
    shutil.rmtree(here)
    shutil.copytree(copy, here)
    monkeypatch.chdir(here)
    with anondb.connect("owner.duckdb", threads=1) as database:
        yield database


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[anondb.Database]:
    """The database without the view; the current directory is its own."""
    monkeypatch.chdir(tmp_path)
    with anondb.connect("owner.duckdb", threads=1) as database:
        database.sql(SALES)
        yield database


def partitioned(db: anondb.Database, text: str) -> Partitioned:
    found = db.sql(text)
    assert isinstance(found, Partitioned)
    return found


def failure(db: anondb.Database, text: str) -> AnondbError:
    with pytest.raises(AnondbError) as caught:
        db.sql(text)
    return caught.value


def files() -> dict[str, bytes]:
    return {f.name: f.read_bytes() for f in sorted(Path("weeks").iterdir())} if Path("weeks").exists() else {}


def baskets(*paths: str) -> Counter[Any]:
    rows: Counter[Any] = Counter()
    for path in paths:
        with duckdb.connect(path, read_only=True) as reader:
            rows += Counter(str(r) for r in reader.execute("SELECT items FROM baskets").fetchall())
    return rows


@pytest.mark.slow
def test_each_week_is_a_release_of_its_own(published: anondb.Database) -> None:
    db, before = published, files()
    assert list(before) == ["week=0.duckdb", "week=1.duckdb"]
    found = partitioned(db, REFRESH)
    assert not found.changed and found.made == () and found.unchanged == 2 and files() == before
    db.sql(WEEK.format(2))
    found = partitioned(db, REFRESH)
    assert [(p.value, p.transactions) for p in found.made] == [("2", 6)] and found.unchanged == 2
    assert {n: b for n, b in files().items() if n in before} == before and len(files()) == 3
    for n in range(3):
        with duckdb.connect(f"weeks/week={n}.duckdb", read_only=True) as reader:
            facts = dict(reader.execute("FROM manifest").fetchall())
        assert facts["partition"] == f'{{"week": "{n}"}}' and facts["table"] == "sales"
    assert inspect("weeks/week=2.duckdb").clean
    assert {e.name for e in db.releases()} == {f"weekly/{n}" for n in range(3)}
    with anondb.open("weeks/*.duckdb") as session:
        assert session.sql("SELECT count(*) FROM sales").fetchall() == [(18.0, 18, 18)]
        assert session.sql("SELECT count(*) FROM sales WHERE item = 'a'").fetchall() == [(6.0, 6, 6)]
    assert "1 value of 'week' with 6 transactions" in found.words and found.to_json()["made"][0]["report"]["verified"]
    db.sql("CREATE VIEW one AS SELECT tid, item FROM sales WHERE week = 1")
    db.anonymize("one", model=anondb.KmAnonymity(2, 1), name="one", queries=1)
    rows = "SELECT items, count(*) FROM {}.baskets GROUP BY ALL ORDER BY ALL"
    same = [db.sql(rows.format(s)).fetchall() for s in ('"release_weekly/1"', "release_one")]  # type: ignore[union-attr]
    assert same[0] == same[1] != []  # each is the release of its rows alone


REPEATED = "INSERT INTO sales SELECT tid, item, week FROM sales WHERE week = {} AND tid % 2 = 0"


def tables() -> set[str]:
    """The table names of all files."""
    found = set()
    for file in Path("weeks").iterdir():
        with anondb.open(file) as session:
            found |= set(session.tables) - {"baskets"}
    return found


def counted(table: str, number: int) -> None:
    """The folder is asked as a whole, and the bounds hold for the distinct rows."""
    assert tables() == {table}
    with anondb.open("weeks") as session:
        assert session.sql(f'SELECT count(DISTINCT tid) FROM "{table}"').fetchall()[0][1:] == (number, number)


@pytest.mark.slow
def test_weeks_whose_rows_repeat_answer_for_one_table(published: anondb.Database) -> None:
    """Never the raw one, for which counts would differ; weeks that are published already get the new name, too."""
    db, rows = published, baskets("weeks/week=0.duckdb", "weeks/week=1.duckdb")
    db.sql(WEEK.format(2))
    db.sql(REPEATED.format(2))
    found = partitioned(db, REFRESH)
    assert [p.value for p in found.made] == ["2"] and any("'weekly'" in note for note in found.notes)
    counted("weekly", 18)
    assert baskets("weeks/week=0.duckdb", "weeks/week=1.duckdb") == rows
    db.sql(WEEK.format(3))
    assert partitioned(db, REFRESH).notes == []
    counted("weekly", 24)
    before = files()
    assert partitioned(db, REFRESH).unchanged == 4 and files() == before
    assert all(inspect(f"weeks/{name}").clean for name in before)
    db.sql(WEEK.format(4))
    db.sql(REPEATED.format(4))
    assert partitioned(db, REFRESH).notes == []
    counted("weekly", 30)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "table"),
    [
        (lambda text: text, "weekly"),
        (lambda text: text.replace("'weeks'", "'weeks', format = 'parquet'"), "weekly"),
        (lambda text: text.replace("VIEW weekly", "VIEW sales"), "release_sales"),
        (lambda text: text.replace("FROM sales", "FROM sales WHERE week < 9"), "release_weekly"),
        (lambda text: text.replace("SELECT", "SELECT DISTINCT"), "weekly"),
    ],
)
def test_a_view_is_created_over_repeated_rows(db: anondb.Database, change: Any, table: str) -> None:
    db.sql(REPEATED.format(1))
    partitioned(db, change(CREATE))
    counted(table, 12)


@pytest.mark.slow
def test_late_rows_are_refused_with_the_choice(published: anondb.Database) -> None:
    db = published
    db.sql("INSERT INTO sales VALUES (100, 'a', 1), (101, 'b', 1); DELETE FROM sales WHERE tid = 0;" + WEEK.format(2))
    before = files()
    error = failure(db, REFRESH)
    assert error.code == "late_rows" and "2 of 2 values" in str(error) and "(2 more, 1 fewer)" in str(error)
    assert "late_rows = 'ignore'" in str(error) and "CREATE OR REPLACE" in str(error) and files() == before
    found = partitioned(db, f"{REFRESH} WITH (late_rows = 'ignore')")
    assert found.ignored == 2 and [p.value for p in found.made] == ["2"] and "late rows of 2 values" in found.notes[0]
    assert {n: b for n, b in files().items() if n in before} == before  # nobody who came late, or left, is shown
    assert partitioned(db, REFRESH).ignored == 0
    db.sql("UPDATE sales SET item = 'b' WHERE tid = 100")  # as many rows as before
    assert failure(db, REFRESH).code == "late_rows"


@pytest.mark.slow
def test_rows_of_a_week_that_nobody_saw_are_made_anew(db: anondb.Database) -> None:
    partitioned(db, CREATE.replace(", publish = 'weeks'", ""))
    db.sql("INSERT INTO sales VALUES (100, 'a', 1)")
    found = partitioned(db, REFRESH)
    assert [(p.value, p.transactions) for p in found.made] == [("1", 7)] and found.unchanged == 1
    assert [e.status for e in db.releases() if e.name == "weekly/1"] == ["dropped", "present"]


def test_a_week_that_is_gone_stays_published(published: anondb.Database) -> None:
    published.sql("DELETE FROM sales WHERE week = 0")
    found = partitioned(published, REFRESH)
    assert found.gone == 1 and found.unchanged == 2 and len(files()) == 2 and "1 value" in found.notes[0]


def test_a_person_in_two_weeks_is_refused(published: anondb.Database) -> None:
    db = published
    db.sql(WEEK.format(2) + "; INSERT INTO sales VALUES (3, 'b', 2)")
    before = files()
    error = failure(db, REFRESH)
    assert error.code == "shared_persons" and "1 person is" in str(error) and files() == before
    db.sql("DELETE FROM sales WHERE week = 0")  # gone from the table, not from the world
    assert failure(db, REFRESH).code == "shared_persons"
    db.sql("INSERT INTO sales VALUES (14, 'b', 3), (15, 'b', 3), (15, 'a', 3)")
    error = failure(db, CREATE.replace("weekly", "other").replace("sales", "sales WHERE week > 1"))
    assert error.code == "shared_persons" and "2 persons are in two values of 'week'" in str(error) and files() == before


@pytest.mark.slow
def test_a_published_table_does_not_block_other_persons(db: anondb.Database) -> None:
    """The persons of a publication are those of its time; those who came later may be released week by week."""
    db.sql(f"CREATE ANONYMIZED VIEW all_of AS {QUERY} WITH (k = 2, m = 1, queries = 1, publish = 'all.duckdb')")
    error = failure(db, CREATE)
    assert error.code == "overlap" and "allow_overlap = true" in str(error) and not files()
    db.sql(WEEK.format(2) + ";" + WEEK.format(3))
    where = CREATE.replace("FROM sales", "FROM sales WHERE week > 1")
    assert [p.value for p in partitioned(db, where).made] == ["2", "3"]
    allowed = CREATE.replace("weekly", "other").replace("'weeks'", "'more', allow_overlap = true")
    found = partitioned(db, allowed)
    assert [len(p.report.intersections) for p in found.made] == [1, 1, 1, 1]  # type: ignore[union-attr]


PROBLEMS = [
    ("UPDATE sales SET week = NULL WHERE tid < 3", "bad_partition", "3 rows have no value"),
    ("DELETE FROM sales", "bad_partition", "no rows"),
    ("ALTER TABLE sales DROP week; ALTER TABLE sales ADD week VARCHAR; UPDATE sales SET week = 'aA'[tid % 2 + 1]",
     "bad_partition", "upper and lower case"),
    ("ALTER TABLE sales ALTER week TYPE VARCHAR; UPDATE sales SET week = repeat('é', 80)", "bad_partition", "too long"),
    ("ALTER TABLE sales ALTER week TYPE DOUBLE", "bad_type", "'week'"),
    ("ALTER TABLE sales DROP week; ALTER TABLE sales ADD weak INTEGER; CREATE OR REPLACE VIEW v AS FROM sales",
     "no_such_column", "'week'"),
]  # fmt: skip


@pytest.mark.parametrize("change, code, words", PROBLEMS)
def test_bad_values(db: anondb.Database, change: str, code: str, words: str) -> None:
    db.sql(change)
    error = failure(db, CREATE.replace(QUERY, "FROM sales"))
    assert error.code == code and words in str(error) and not files() and db.releases() == []


@pytest.mark.parametrize(
    ("option", "code"),
    [("publish = 'owner.duckdb'", "bad_path"), ("publish = 'no/where'", "no_such_directory"),
     ("publish = 'postgresql://h/d/s', mode = '644'", "bad_usage"), ("publish = 'taken'", "target_exists")],
)  # fmt: skip
def test_folders_that_cannot_be_written(db: anondb.Database, option: str, code: str) -> None:
    Path("taken").mkdir()
    Path("taken/week=1.duckdb").write_text("mine")
    assert failure(db, CREATE.replace("publish = 'weeks'", option)).code == code and db.releases() == []
    assert Path("taken/week=1.duckdb").read_text() == "mine"


def test_names_of_files_carry_the_value_alone() -> None:
    assert file_name(Partition("week", "2026-W01", "VARCHAR")) == "week=2026-W01.duckdb"
    odd = file_name(Partition("a/b", "../x y'é\n", "VARCHAR"))
    assert odd == "a%2Fb=..%2Fx y%27%C3%A9%0A.duckdb"


@pytest.mark.slow
def test_values_of_odd_texts(db: anondb.Database) -> None:
    db.sql("ALTER TABLE sales ALTER week TYPE VARCHAR; UPDATE sales SET week = ['it''s', '../\"x\"\n'][tid // 6 + 1]")
    assert [p.value for p in partitioned(db, CREATE).made] == ['../"x"\n', "it's"]
    assert list(files()) == ["week=..%2F%22x%22%0A.duckdb", "week=it%27s.duckdb"]
    assert all(inspect(Path("weeks") / name).clean for name in list(files())[:1])
    assert db.sql("SELECT week, count(*) FROM weekly GROUP BY 1 ORDER BY 1").fetchall() == [  # type: ignore[union-attr]
        ('../"x"\n', 6), ("it's", 6)]  # fmt: skip


@pytest.mark.slow
def test_a_week_that_is_too_small_leaves_the_others(db: anondb.Database) -> None:
    db.sql("INSERT INTO sales VALUES (100, 'a', 1000);" + WEEK.format(2))
    with pytest.raises(InfeasibleError, match=r"1 of 4 values of 'week' cannot be released: .* The other 3 were made"):
        db.sql(CREATE)
    assert len(files()) == 3
    db.sql("INSERT INTO sales VALUES (101, 'a', 1000)")
    assert [p.value for p in partitioned(db, REFRESH).made] == ["1000"]


@pytest.mark.slow
def test_what_was_not_published_is(published: anondb.Database) -> None:
    db = published
    content = baskets("weeks/week=1.duckdb")
    Path("weeks/week=1.duckdb").unlink()
    found = partitioned(db, REFRESH)
    assert [(p.value, p.report) for p in found.made] == [("1", None)] and not found.changed and found.unchanged == 1
    assert baskets("weeks/week=1.duckdb") == content and "1 published that had no file" in found.words


@pytest.mark.slow
def test_folders_of_parquet_files(db: anondb.Database) -> None:
    """Each value is a folder of Parquet files; one that is missing is written again."""
    parquet = CREATE.replace("'weeks'", "'weeks', format = 'parquet'")
    assert [p.value for p in partitioned(db, parquet).made] == ["0", "1"]
    assert sorted(p.name for p in Path("weeks").iterdir()) == ["week=0", "week=1"]
    assert inspect_folder("weeks/week=1").clean
    before = Path("weeks/week=0/manifest.json").read_bytes()
    shutil.rmtree("weeks/week=1")
    db.sql(WEEK.format(2))
    assert [(p.value, p.report is None) for p in partitioned(db, REFRESH).made] == [("1", True), ("2", False)]
    assert sorted(p.name for p in Path("weeks").iterdir()) == ["week=0", "week=1", "week=2"]
    assert Path("weeks/week=0/manifest.json").read_bytes() == before
    with anondb.open("weeks") as session:
        assert session.sql("SELECT count(*) FROM sales WHERE item = 'a'").fetchall() == [(6.0, 6, 6)]


@pytest.mark.parametrize(("options", "code"), [("format = 'csv'", "bad_parameter"), ("mode = '0666'", "bad_parameter")])
def test_formats_and_modes_that_there_are_not(db: anondb.Database, options: str, code: str) -> None:
    assert failure(db, CREATE.replace("'weeks'", f"'weeks', {options}")).code == code
    assert not Path("weeks").exists() and db.releases() == []


@pytest.mark.slow
def test_the_mode_is_that_of_all_files(db: anondb.Database) -> None:
    db.sql(CREATE.replace("'weeks'", "'weeks', mode = '0644'"))
    assert [stat.S_IMODE(f.stat().st_mode) for f in Path("weeks").iterdir()] == [0o644, 0o644]


@pytest.mark.slow
def test_replaced_dropped_and_renamed(published: anondb.Database) -> None:
    db = published
    assert failure(db, CREATE.replace("weekly", "other")).code == "target_exists"
    assert failure(db, f"CREATE ANONYMIZED VIEW weekly AS {QUERY} WITH (k = 2)").code == "release_exists"
    assert failure(db, CREATE).code == "release_exists"
    replaced = CREATE.replace("CREATE", "CREATE OR REPLACE").replace("k = 2", "k = 3")
    assert failure(db, replaced).code == "overlap"
    ids = {e.release_id for e in db.releases() if e.status == "present"}
    found = partitioned(db, replaced.replace("'weeks'", "'weeks', allow_overlap = true"))
    assert len(found.made) == 2 and not ids & {e.release_id for e in db.releases() if e.status == "present"}
    db.sql("ALTER ANONYMIZED VIEW weekly RENAME TO wk")
    assert failure(db, REFRESH).code == "no_such_release"
    assert partitioned(db, "REFRESH ANONYMIZED VIEW main.wk").unchanged == 2
    assert db.verify(release="wk/1").verified and db.release("wk/1").count_bounds([])[0] == 6
    (shown,) = db.sql("SHOW ANONYMIZED VIEWS WITH (status = true)").views  # type: ignore[union-attr]
    assert (shown["name"], shown["partitions"], shown["transactions"], shown["status"]) == ("wk", 2, 12, "fresh")
    db.sql(WEEK.format(2))
    (shown,) = db.sql("SHOW ANONYMIZED VIEWS LIKE 'W_' WITH (status = true)").views  # type: ignore[union-attr]
    assert shown["status"] == "stale"
    db.sql("DROP ANONYMIZED VIEW wk; DROP ANONYMIZED VIEW IF EXISTS wk")
    assert {e.status for e in db.releases()} == {"dropped"}


@pytest.mark.parametrize("seeds", portions(0, 1, 60))
def test_a_kill_leaves_whole_weeks_or_none(tmp_path: Path, seeds: range) -> None:
    for seed in seeds:
        place = tmp_path / str(seed)
        place.mkdir()
        killed_and_refreshed(place, random.Random(seed))


def start(place: Path) -> subprocess.Popen[str]:
    words = [sys.executable, str(Path(__file__).with_name("run_weeks.py")), "owner.duckdb"]
    child = subprocess.Popen(words, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    return child


def killed_and_refreshed(place: Path, draw: random.Random) -> None:
    """Kill the process that makes and publishes two weeks at a random moment, up to three times, and let it end then."""
    with duckdb.connect(str(place / "owner.duckdb")) as connection:
        connection.execute(SALES)
    for _ in range(draw.randint(1, 3)):
        child = start(place)
        time.sleep(draw.uniform(0.05, 2.5))
        child.kill()
        child.communicate()
        check_whole(place)
    out, err = start(place).communicate()
    assert out == "done\n", err
    check_whole(place)
    names = sorted(f.name for f in (place / "weeks").iterdir())
    assert names == ["week=0.duckdb", "week=1.duckdb"]  # and nothing else is left there
    with anondb.connect(place / "owner.duckdb", threads=1) as database:
        recorded = {p.release_id for p in database.publications()}
        assert {e.release_id for e in database.releases() if e.status == "present"} == recorded


def check_whole(place: Path) -> None:
    """Every release of the database keeps its promise, and every file is that of a release that the ledger has."""
    with anondb.connect(place / "owner.duckdb", threads=1) as database:
        present = {e.name: e.release_id for e in database.releases() if e.status == "present"}
        assert all(database.verify(release=name).verified for name in present)
    for file in (place / "weeks").glob("*.duckdb"):
        with duckdb.connect(str(file), read_only=True) as reader:
            facts = dict(reader.execute("FROM manifest").fetchall())
            assert reader.execute("SELECT count(*) FROM transaction_ids").fetchall() == [(6,)]
        assert present[f"weekly/{file.name[5]}"] == facts["release_id"]
