"""Odd labels and types: equal in PostgreSQL and DuckDB, or refused; and no value in the server's log."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from postgres.databases import Databases, make
from postgres.server import Server

import anondb
from anondb.errors import AnondbError, InputError

ODD = [
    *("it's", 'say "a"', "back\\slash", "\\N", "new\nline", "carriage\r", "tab\there", "trailing  ", "  leading", "Case"),
    *("case", "CASE", "\U0001f600", "e\u0301", "\u00e9", "a;b", "$$", "%s", "{a,b}", "NULL", "", "\u200b", "x" * 5000),
    *("\x01", "-- x", "CANARY7391"),
]
FIRST_ID = 918273600  # ids are recognized in the log
VALUES = ("CANARY7391", "back\\slash", "\U0001f600", "trailing  ", str(FIRST_ID)[:7], "x" * 50)


@pytest.fixture(scope="module")
def odd(server: Server) -> Databases:
    databases = make(server)
    databases.sql("CREATE TABLE baskets (tid bigint, item text)")
    rows = [(FIRST_ID + t, label) for t in range(3 * len(ODD)) for label in (ODD[t % len(ODD)], ODD[(t + 1) % len(ODD)])]
    databases.copy("baskets", rows)
    return databases


@pytest.mark.slow
def test_labels_are_equal_everywhere(odd: Databases) -> None:
    with anondb.connect(odd.raw_url()) as db:
        release = db.anonymize("baskets", model=anondb.KmAnonymity(3, 1), publish=odd.url("odd"), analysts="analysts")
        assert release.loss.lm_total is None or release.loss.lm_total == 0
        with odd.session(odd.releases, "analysts") as connection:
            for label in ODD:
                answer = connection.execute("SELECT * FROM odd.count_bounds(%s::text[])", [[label]]).fetchone()
                assert answer == release.count_bounds([label]) and answer[0] == 6, label
            labels = connection.execute("SELECT item FROM odd.labels ORDER BY item_id").fetchall()
        assert [label for (label,) in labels] == sorted(ODD)
    with anondb.connect(odd.raw_url()) as db:  # the owner's frozen rows come back as they were
        again = db.release("baskets")
        assert again.verification.verified and again.count_bounds(["trailing  "]) == (6, 6.0, 6)
        assert db.check_view("baskets").fresh
    with anondb.open(odd.url("odd", "analysts")) as session:
        rows = session.sql("SELECT item, count(*) AS n FROM baskets GROUP BY item").fetchall()
        assert {row[0]: row[1] for row in rows} == dict.fromkeys(ODD, 6)


@pytest.mark.slow
def test_no_value_is_in_the_log(odd: Databases) -> None:
    """Statements are logged whole; values come and go by COPY, and errors do not quote them."""
    with anondb.connect(odd.raw_url()) as db:
        begun = len(odd.server.log())
        release = db.anonymize("baskets", model=anondb.KmAnonymity(3, 1), name="logged")
        release.publish(odd.url("logged"), counters="counters", allow_overlap=True)
        release.measure(queries=5)
        release.attack(individuals=3)
        with pytest.raises(AnondbError):
            db.anonymize("baskets", model=anondb.KmAnonymity(1000, 1), name="none")
        db.sql("CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM baskets WITH (k = 3, m = 1, algorithm = 'coat')")
    anondb.verify_file(odd.url("logged"))
    log = odd.server.log()[begun:]
    assert "COPY" in log and "labels" in log
    assert not [value for value in VALUES if value in log]


@pytest.mark.slow
def test_no_value_of_work_inside_is_in_the_log(odd: Databases) -> None:
    with anondb.connect(odd.raw_url()) as db:
        begun = len(odd.server.log())
        tree = pa.table({"node": ["all", *ODD], "parent": [None, *["all"] * len(ODD)]})
        there: dict[str, Any] = {"model": anondb.KmAnonymity(3, 2), "taxonomy": tree, "on_engine": True}
        assert db.anonymize("baskets", name="inside", **there).verification.verified
        assert db.verify("baskets", model=anondb.KmAnonymity(2, 2), on_engine=True).verified
        db.drop("inside")
    log = odd.server.log()[begun:]
    assert "_anondb_transactions" in log
    assert not [value for value in VALUES if value in log]


@pytest.mark.slow
def test_a_nul_character_is_refused(odd: Databases, tmp_path: Any) -> None:
    import pandas as pd

    frame = pd.DataFrame({"tid": [1, 2, 3], "item": ["a\0b"] * 3})
    with anondb.connect() as db:
        release = db.anonymize(frame, model=anondb.KmAnonymity(2, 1), name="nul")
        with pytest.raises(InputError) as refused:
            release.publish(odd.url("nul"))
        assert refused.value.code == "bad_text" and "a\0b" not in str(refused.value)
    assert not odd.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'nul'", odd.releases)


TYPES = {
    "tid uuid, item varchar(20)": [("00000000-0000-0000-0000-00000000000{}", "a")],
    "tid numeric, item text": [("{}.50", "a")],
    "tid timestamptz, item name": [("2001-01-0{} 10:00:00+02", "a")],
    "tid smallint, item text[]": [("{}", "{{a,b}}")],
    "tid numeric(30, 2), item char(5)": [("{}", "a  "), ("{}", "b")],
}


@pytest.mark.slow
@pytest.mark.parametrize("columns", TYPES)
def test_types(odd: Databases, columns: str) -> None:
    odd.sql("DROP TABLE IF EXISTS typed")
    odd.sql(f"CREATE TABLE typed ({columns})")
    odd.copy("typed", [tuple(v.format(n) for v in row) for n in range(1, 7) for row in TYPES[columns]])
    with anondb.connect(odd.raw_url()) as db:
        release = db.anonymize("typed", model=anondb.KmAnonymity(3, 1), name="typed", replace=True, queries=5)
        assert release.count_bounds(["a"])[0] == 6 and release.report is not None
        assert release.report.transactions == 6


REFUSED = {
    "tid integer, item date": ([("1", "infinity")], "endless_date"),
    'tid integer, item text, "Item" text': ([("1", "a", "b")], "column_clash"),
}


@pytest.mark.slow
@pytest.mark.parametrize("columns", REFUSED)
def test_refused_tables(odd: Databases, columns: str) -> None:
    rows, code = REFUSED[columns]
    odd.sql("DROP TABLE IF EXISTS refused")
    odd.sql(f"CREATE TABLE refused ({columns})")
    odd.copy("refused", rows)
    with anondb.connect(odd.raw_url()) as db, pytest.raises(InputError) as refused:
        db.anonymize("refused", name="refused")
    assert refused.value.code == code
    assert not odd.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'release_refused'")


@pytest.mark.slow
def test_row_security_is_not_taken_for_all_rows(server: Server) -> None:
    odd = make(server)
    odd.sql("CREATE TABLE hidden (tid integer, item text)")
    odd.sql("GRANT SELECT ON hidden TO analysts")
    odd.sql("ALTER TABLE hidden ENABLE ROW LEVEL SECURITY")
    odd.sql(f"GRANT CONNECT ON DATABASE {odd.raw} TO analysts")
    with anondb.connect(odd.raw_url("analysts"), read_only=True) as db, pytest.raises(InputError) as refused:
        db.verify("hidden")
    assert refused.value.code == "no_privilege"


@pytest.fixture(scope="module")
def collated(debian: Server) -> Databases:
    databases = make(debian)
    databases.sql("CREATE EXTENSION citext")
    databases.sql("CREATE EXTENSION pg_stat_statements")
    databases.sql("CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    for name, kind in (("ci", "citext"), ("co", "text COLLATE nocase"), ("li", "citext[]")):
        databases.sql(f"CREATE TABLE {name} (tid integer, item {kind})")
        rows = [(1, "{a}"), (2, "{A}"), (3, "{a}")] if name == "li" else [(1, "a"), (2, "A"), (3, "a")]
        databases.copy(name, rows)
    databases.sql('CREATE VIEW plain AS SELECT tid, item::text COLLATE "C" AS item FROM ci')
    return databases


@pytest.mark.slow
@pytest.mark.parametrize("table", ["ci", "co", "li"])
def test_texts_that_differ_and_are_equal_are_refused(collated: Databases, table: str) -> None:
    with anondb.connect(collated.raw_url()) as db, pytest.raises(InputError) as refused:
        db.anonymize(table, model=anondb.KmAnonymity(2, 1))
    assert refused.value.code == "collation"
    with anondb.connect(collated.raw_url()) as db:
        assert db.verify("plain", model=anondb.KmAnonymity(2, 1)).violations == 1


@pytest.mark.slow
def test_no_value_is_in_pg_stat_statements(collated: Databases) -> None:
    collated.sql("CREATE TABLE baskets (tid bigint, item text)")
    collated.copy("baskets", [(FIRST_ID + t, "CANARY7391") for t in range(9)])
    with anondb.connect(collated.raw_url()) as db:
        release = db.anonymize(
            "baskets", model=anondb.KmAnonymity(3, 1), publish=collated.url("spring"), analysts="analysts"
        )
        assert release.report is not None and not any("pg_stat" in w for w in release.report.warnings)
    texts = " ".join(text for (text,) in collated.sql("SELECT query FROM pg_stat_statements"))
    assert "COPY" in texts and "CANARY" not in texts and str(FIRST_ID)[:7] not in texts
    collated.sql("CREATE EXTENSION pg_stat_statements", collated.releases)
    with anondb.connect(collated.raw_url()) as db:
        file = db.release("baskets").publish(collated.url("again"), analysts="analysts")
        assert any("pg_stat_statements" in remark for remark in file.remarks)
