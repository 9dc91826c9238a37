"""Bad records, hierarchies and sensitive items (docs/bad_inputs.md, 85 to 117): one typed error, no data value in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import anondb
from anondb.api.database import Database
from anondb.errors import AnondbError, InfeasibleError, InputError


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with duckdb.connect(str(tmp_path / "own.duckdb")) as own:
        own.execute(
            "CREATE TABLE held AS SELECT * FROM (VALUES (1,'aa'),(1,'bb'),(2,'aa'),(2,'bb'),(3,'aa'),(4,'bb')) t(tid, item)"
        )
        own.execute(
            "CREATE TABLE people AS SELECT * FROM (VALUES (1,30,'secretx','m'),(2,31,'secrety','m'),(3,50,'secretx','f'),"
            "(4,52,'secrety','f')) t(tid, age, place, sex)"
        )
    with anondb.connect(tmp_path / "own.duckdb") as made:
        yield made


def run(database: Database, **options: Any) -> Any:
    given = {
        "model": anondb.KkmAnonymity(2, 2),
        "records": "people",
        "quasi_identifiers": "age,place,sex",
        "delta": 1,
        "name": "r",
        "replace": True,
        "queries": 2,
    }
    return database.anonymize("held", **(given | options))


def refused(database: Database, code: str, kind: type[AnondbError] = InputError, **options: Any) -> None:
    with pytest.raises(kind) as found:
        run(database, **options)
    assert found.value.code == code
    assert "secret" not in str(found.value)
    assert "aa" not in str(found.value)


def sql(database: Database, text: str) -> None:
    database.engine.call(lambda: database.engine.connection.execute(text))


@pytest.mark.slow
def test_good(database: Database) -> None:
    release = run(database)
    assert release.verification.verified
    report = release.report.to_json()
    assert report["relational"]["clusters"] >= 1
    assert report["relational"]["accuracy"]["average_relative_error"] >= 0
    assert report["loss"]["ncp"] <= 1


@pytest.mark.slow
def test_ids(database: Database) -> None:
    sql(database, "CREATE TABLE few AS SELECT * FROM people WHERE tid > 1")
    refused(database, "no_record", records="few")
    spelled = {"transactions": pa.table({"tid": ["007", "8.0", "9 "], "item": ["a"] * 3}), "queries": 0}
    people = pa.table({"tid": ["7", "8", "9"], "sex": ["f", "f", "m"]})
    with pytest.raises(anondb.InputError, match="3 ids differ from another by blanks, leading zeros") as caught:
        database.anonymize(
            **spelled, records=people, quasi_identifiers="sex", model="kkm", k=2, m=1, accept="row-per-person"
        )
    assert caught.value.code == "no_record"
    sql(database, "CREATE TABLE twice AS SELECT * FROM people UNION ALL SELECT * FROM people WHERE tid = 1")
    refused(database, "repeated_id", records="twice")
    sql(database, "CREATE TABLE nulls AS SELECT * FROM people UNION ALL SELECT NULL, 1, 'a', 'b'")
    refused(database, "null_id", records="nulls")
    sql(database, "CREATE TABLE more AS SELECT * FROM people UNION ALL SELECT 9, 60, 'secretx', 'f'")
    assert run(database, records="more").report.transactions == 5  # a person without items


def test_many_persons_of_whom_nobody_knows_an_attribute(database: Database) -> None:
    sql(database, "CREATE TABLE many AS SELECT i AS tid, 'i' || (i % 7) AS item FROM range(300) t(i)")
    sql(database, "CREATE TABLE others AS SELECT i AS tid, i % 5 AS age FROM range(300) t(i)")
    for algorithm in ("rum_bound_rt", "rfirst"):
        options = {
            "records": "others",
            "quasi_identifiers": "",
            "algorithm": algorithm,
            "queries": 0,
            "accept": ["row-per-person"],
        }
        made = database.anonymize("many", name=algorithm, model=anondb.KkmAnonymity(2, 1), **options)
        assert made.verification.verified


@pytest.mark.slow
def test_columns(database: Database) -> None:
    refused(database, "no_quasi_identifiers", quasi_identifiers=None)
    refused(database, "no_such_column", quasi_identifiers="age,nothing")
    refused(database, "bad_usage", quasi_identifiers="age,age")
    refused(database, "direct_identifier", quasi_identifiers="tid,age")
    sql(database, "CREATE TABLE named AS SELECT *, 'secret' || tid AS name, age AS age_lo FROM people")
    refused(database, "direct_identifier", records="named", quasi_identifiers="name")
    assert run(database, records="named", quasi_identifiers="name:categorical").report.warnings
    refused(database, "column_clash", records="named", quasi_identifiers="age,age_lo")
    assert run(database, quasi_identifiers="").verification.verified  # no relational knowledge: k^m-anonymity


@pytest.mark.parametrize("value", ["'NaN'::DOUBLE", "'inf'::DOUBLE", "-0.0::DOUBLE", "1e300"])
def test_numbers(database: Database, value: str) -> None:
    sql(database, f"CREATE TABLE odd AS SELECT tid, CASE WHEN tid = 1 THEN {value} ELSE age END AS age FROM people")
    refused(database, "bad_number", records="odd", quasi_identifiers="age")


@pytest.mark.parametrize("date", ["31.12.1980", "1980-02-30", "1980-12-31 25:00"])
def test_texts_that_are_no_dates(database: Database, date: str) -> None:
    sql(
        database,
        f"CREATE TABLE odd AS SELECT tid, CASE WHEN tid = 1 THEN '{date}' ELSE '1980-12-31' END AS born FROM people",
    )
    refused(database, "bad_date", records="odd", quasi_identifiers="born:date")


@pytest.mark.slow
def test_nulls_decimals_and_dates(database: Database) -> None:
    sql(
        database,
        "CREATE TABLE odd AS SELECT tid, CASE WHEN tid < 3 THEN NULL ELSE age / 10 END::DECIMAL(9,3) AS age,"
        " DATE '2020-01-01' + age::INTEGER AS born, 'same' AS same FROM people",
    )
    assert run(database, records="odd", quasi_identifiers="age,born,same").verification.verified


@pytest.mark.slow
def test_hierarchies(database: Database, tmp_path: Path) -> None:
    sql(
        database,
        "CREATE TABLE trees AS SELECT * FROM (VALUES ('place','secretx','all'),('place','all',NULL))"
        " t(attribute, node, parent)",
    )
    refused(database, "unknown_value", hierarchies="trees")
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "place.tree").write_text("secretx;all\nsecrety;all\n")
    assert run(database, hierarchies=str(tmp_path / "h")).verification.verified
    refused(database, "bad_usage", hierarchies=str(tmp_path / "h"), quasi_identifiers="place:numeric,age")
    (tmp_path / "h" / "place.tree").rename(tmp_path / "h" / "elsewhere.tree")
    assert run(
        database, hierarchies=str(tmp_path / "h"), accept="unused-hierarchies"
    ).verification.verified  # other files are not of this release


@pytest.mark.slow
def test_sensitive(database: Database) -> None:
    klm = anondb.KlmDiversity(2, 2, 2)
    refused(database, "no_sensitive", model=klm)
    assert run(database, model=klm, sensitive=["unheard"]).report.warnings
    refused(database, "all_sensitive", model=klm, sensitive=["aa", "bb"])
    assert run(database, model=klm, sensitive=["bb"], quasi_identifiers="age").verification.verified


@pytest.mark.slow
def test_delta(database: Database) -> None:
    for delta in (-0.1, 1.5, "much", float("nan")):
        refused(database, "bad_parameter", delta=delta)
    with pytest.raises(InfeasibleError, match="smallest feasible delta is") as found:
        run(database, delta=0)
    assert found.value.exit_code == 3
    refused(database, "bad_usage", delta=0.5, algorithm="rfirst")
    refused(database, "no_taxonomy", items="subtrees")
    refused(database, "bad_parameter", items="leaves")
    refused(database, "bad_parameter", infeasible="hope")
    refused(database, "infeasible", InfeasibleError, model=anondb.KkmAnonymity(9, 2))


@pytest.mark.slow
def test_infeasible_clusters(database: Database) -> None:
    sql(database, "CREATE TABLE lone AS SELECT * FROM held WHERE tid = 1")
    report = run(database).report
    assert report.frozen.suppressed_occurrences == 0

    def of(infeasible: str) -> Any:
        options = {"model": anondb.KkmAnonymity(2, 2), "records": "people", "quasi_identifiers": "age", "delta": 1}
        return database.anonymize("lone", **options, infeasible=infeasible, name="s", replace=True, max_suppression=100)

    found = of("suppress").report
    assert found.to_json()["relational"]["suppressed_clusters"] == 1
    assert found.frozen.suppressed_occurrences == 2
    assert found.to_json()["relational"]["merged_clusters"] == 0
    for infeasible in ("merge", "error"):
        with pytest.raises(InfeasibleError):
            of(infeasible)


@pytest.mark.slow
def test_merged_clusters_are_counted(database: Database) -> None:
    """In each cluster of two one person holds the item; together they are two."""
    sql(database, "CREATE TABLE two AS SELECT * FROM (VALUES (1, 'aa'), (3, 'aa')) t(tid, item)")
    options = {"model": anondb.KkmAnonymity(2, 2), "records": "people", "quasi_identifiers": "age"}
    made = database.anonymize("two", **options, algorithm="rfirst", infeasible="merge", name="two")
    found = made.report.to_json()["relational"]
    assert (found["clusters"], found["merged_clusters"], found["suppressed_clusters"]) == (1, 1, 0)


@pytest.mark.slow
def test_values_of_queries(database: Database) -> None:
    for values in (1, 3):
        found = run(database, values=values, size=1).report.to_json()["relational"]["accuracy"]
        assert found["values"] == values and found["average_relative_error"] >= 0
    refused(database, "bad_parameter", values=4)
    refused(database, "bad_parameter", values=0)
    with pytest.raises(InputError, match="values does not apply to"):
        database.anonymize("held", model=anondb.KmAnonymity(2, 2), values=1)


@pytest.mark.slow
def test_several_transaction_attributes(database: Database) -> None:
    sql(
        database,
        "CREATE TABLE wide AS SELECT * FROM (VALUES (1,'x',['u','v']),(2,'x',['u']),(3,NULL,['u']),(4,'x',NULL))"
        " t(tid, drug, codes)",
    )
    release = database.anonymize("wide", model=anondb.KmAnonymity(1, 2), item="drug,codes", item_domains=True, name="wide")
    assert release.report.items == 3
    assert release.report.transactions == 4
    rows = database.engine.call(
        lambda: database.engine.connection.execute(
            "SELECT DISTINCT item FROM release_wide.transactions ORDER BY 1"
        ).fetchall()
    )
    assert [r[0] for r in rows] == ["codes.u", "codes.v", "drug.x"]


def rum(database: Database, **options: Any) -> str:
    """Rum of two records of about 30 and two of about 50, in clusters of two."""
    made = run(database, algorithm="rfirst", delta=None, **options)
    return str(made.report.to_json()["relational"]["rum"])


@pytest.mark.slow
def test_weights_and_domains(database: Database) -> None:
    """Ages 30 to 31 and 50 to 52 of 30 to 52; two sexes that do not mix, and two places of two that do, in each cluster."""
    assert rum(database, quasi_identifiers="age") == "3/44"
    assert rum(database, quasi_identifiers="age,sex,place") == "47/132"  # (3/44 + 0 + 1) / 3
    assert rum(database, quasi_identifiers="age", domains={"AGE": (0, 100)}) == "3/200"
    sql(database, "CREATE TABLE weights AS SELECT * FROM (VALUES ('Age', 0.5), ('place', 0.25)) t(attribute, weight)")
    assert rum(database, quasi_identifiers="age,place", weights="weights") == "25/88"  # 3/88 + 1/4
    assert rum(database, quasi_identifiers="age,place", weights={"place": 0}) == "3/88"  # 1/2 for the other
    sql(
        database,
        "CREATE TABLE born AS SELECT tid, DATE '2000-01-01' + age::INTEGER AS day, age / 4 AS share FROM people;"
        "CREATE TABLE domains AS SELECT * FROM (VALUES ('day', '2000-01-01', '2000-04-10'), ('share', '0', '100.0'))"
        " t(attribute, low, high)",
    )
    assert rum(database, records="born", quasi_identifiers="day,share", domains="domains") == "3/320"  # 3/400 + 3/1600


@pytest.mark.slow
def test_bad_weights_and_domains(database: Database) -> None:
    refused(database, "bad_weight", weights={"age": 2})
    refused(database, "bad_weight", weights={"age": "secret"})
    refused(database, "unknown_attribute", weights={"secret": 1})
    refused(database, "bad_source", weights=1)
    refused(database, "bad_domain", domains={"age": (31, 60)})  # a value lies outside
    refused(database, "bad_domain", domains={"age": (0.5, 60)})
    refused(database, "bad_domain", domains={"age": ("secret", 60)})
    refused(database, "bad_domain", domains={"age": (0, None)})
    refused(database, "bad_domain", domains={"age": (0, 10**30)})
    refused(database, "bad_domain", domains={"age": (0, "1e999999")})
    refused(database, "bad_domain", domains={"age": 60})
    refused(database, "unknown_attribute", weights={5: 1})
    refused(database, "unknown_attribute", domains={"secret": (0, 1)})
    refused(database, "bad_usage", domains={"place": (0, 1)})
    sql(database, "CREATE TABLE born AS SELECT tid, DATE '2000-01-01' + age::INTEGER AS day FROM people")
    refused(database, "bad_domain", records="born", quasi_identifiers="day", domains={"day": (0, 60)})
    for zoned in ("1990-01-01T00:00:00+14:00", "1990-01-01T00:00:00Z"):
        refused(database, "bad_domain", records="born", quasi_identifiers="day", domains={"day": (zoned, "2100-01-01")})
    sql(database, "CREATE TABLE twice AS SELECT * FROM (VALUES ('age', 0, 99), ('age', 0, 100)) t(attribute, low, high)")
    refused(database, "bad_domain", domains="twice")
    with pytest.raises(InputError, match=r"domains does not apply to coat: .* model kkm or klm\."):
        database.anonymize("held", model=anondb.KmAnonymity(2, 2), domains={"age": (0, 1)})


@pytest.mark.slow
def test_checks_of_plain_tables(database: Database) -> None:
    kkm, klm = anondb.KkmAnonymity(2, 2), anondb.KlmDiversity(2, 2, 2)

    def check(code: str, model: Any, **options: Any) -> None:
        with pytest.raises(InputError) as found:
            database.verify("held", model=model, **options)
        assert found.value.code == code

    check("no_records", kkm)
    check("no_quasi_identifiers", kkm, records="people")
    check("no_such_column", kkm, records="people", quasi_identifiers="age,nothing")
    check("no_sensitive", klm, records="people", quasi_identifiers="sex")
    check("bad_usage", anondb.KmAnonymity(2, 2), records="people", quasi_identifiers="sex")
    sql(database, "CREATE TABLE few AS SELECT * FROM people WHERE tid > 1")
    check("no_record", kkm, records="few", quasi_identifiers="sex")
    found = database.verify("held", model=kkm, records="people", quasi_identifiers="sex", witnesses=9)
    assert [(w.items, w.support) for w in found.witnesses] == [(("aa",), 1), (("bb",), 1)]  # of persons 3 and 4
    held = {"records": "people", "quasi_identifiers": "sex", "sensitive": ["bb"]}
    assert database.verify("held", model=kkm, **held).violations == 1
    assert (
        database.verify("held", model=klm, **held, witnesses=9).violations == 3
    )  # with aa or nothing known, persons 1 and 2 have bb
    run(database)
    for options in ({"records": "people"}, {"sensitive": ["aa"]}):
        with pytest.raises(InputError):
            database.verify(release="r", **options)
