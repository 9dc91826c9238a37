"""Releases that are made inside PostgreSQL: the same as those of fetched rows, published in the same way."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from portions import some
from postgres.databases import ITEMS, Databases, command
from realdata import DATA, needs

import anondb
from anondb.data.taxonomy import load_taxonomy
from anondb.errors import InputError
from anondb.ledger.stored import current_catalog
from anondb.ledger.tables import PERSONS, SECRETS
from anondb.models.transactional import TransactionalK
from anondb.pipeline import on_engine
from anondb.utility import workload
from anondb.warehouse.postgres.server import Server

KINDS = {
    "plain": {"model": anondb.KmAnonymity(5, 2), "taxonomy": "shop.food"},
    "hghs": {"model": anondb.KmAnonymity(4, 1), "taxonomy": "shop.food", "algorithm": "hghs"},
    "item_supports": {"model": anondb.KmAnonymity(6, 2), "taxonomy": "shop.food", "item_supports": True},
    "suppressed": {"model": anondb.KmAnonymity(50, 2), "taxonomy": "shop.food", "max_suppression": 100},
    "large_m": {"model": anondb.KmAnonymity(3, 4), "taxonomy": "shop.food"},
}


def facts(release: Any) -> dict[str, Any]:
    """What a release and its report say, but for numbers and times."""
    report = release.report.to_json()
    dropped = ("release", "seconds", "warnings")
    tables = {
        name: sorted(release.table(name).fetchall())
        for name in ("labels", "released_items", "item_counts", "transaction_ids")
    }
    baskets = sorted(map(str, (items for _, items in release.table("baskets").fetchall())))
    manifest = {k: v for k, v in release.manifest.items() if k != "release_id"}
    return {**{k: v for k, v in report.items() if k not in dropped}, **tables, "baskets": baskets, "manifest": manifest}


@pytest.mark.slow
@pytest.mark.parametrize("kind", some(KINDS, "plain", "item_supports", check=()))
def test_the_same_release(databases: Databases, kind: str) -> None:
    texts: list[str] = []
    with anondb.connect(databases.raw_url()) as db:
        here = db.anonymize("shop.sales", name="here", replace=True, **KINDS[kind])
        expected = facts(here)
        db.drop("here")
        engine: Any = db.engine
        engine.server.on_statement = texts.append
        there = db.anonymize("shop.sales", name="here", replace=True, on_engine=True, **KINDS[kind])
        assert facts(there) == expected
        assert any("inside PostgreSQL" in words for words in there.report.warnings)
        assert there.report.accuracy.queries and there.verification.verified
        assert not engine._fetched.filled  # no row of the owner's tables is here
        assert not [t for t in texts if "_anondb" in t and "milk" in t]
    assert not databases.sql("SELECT relname FROM pg_class WHERE relname LIKE '\\_anondb%'")


@pytest.mark.slow
def test_the_whole_way(databases: Databases) -> None:
    """By the command, published, and used by the owner and by analysts like any other release."""
    url = databases.url("inside")
    done = command(
        "anonymize", databases.raw_url(), "--transactions", "shop.sales", "--taxonomy", "shop.food", "--release", "inside",
        "--on-engine", "--publish", url, "--analysts", "analysts", "--counters", "counters", "--allow-overlap", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["verified"] and report["accuracy"]["queries"] > 0
    assert anondb.verify_file(url, expect=report["content_digest"]).holds
    bounds = databases.sql("SELECT * FROM inside.count_bounds(ARRAY['milk'])", databases.releases, "counters")[0]
    with anondb.connect(databases.raw_url()) as db:
        assert db.release("inside").count_bounds(["milk"]) == pytest.approx(bounds)
        assert db.check_view("inside").holds and db.release("inside").measure(queries=5).queries == 5
        assert db.release("inside").attack(individuals=3).individuals == 3
        db.drop("inside")


@pytest.mark.slow
def test_many_rows_stay_where_they_are(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = databases.sql("SELECT count(*) FROM shop.sales")[0][0]
    options: dict[str, Any] = {"taxonomy": "shop.food", "name": "many", "replace": True, "queries": 3}
    for least, fetched, more in ((rows, False, {}), (rows + 1, True, {}), (rows, True, {"on_engine": False})):
        monkeypatch.setattr(on_engine, "MANY_ROWS", least)
        with anondb.connect(databases.raw_url()) as db:
            made = db.anonymize("shop.sales", **options, **more)
            assert made.report is not None and any("inside" in w for w in made.report.warnings) != fetched
    monkeypatch.setattr(on_engine, "MANY_ROWS", 1)  # what cannot stay there is fetched
    with anondb.connect(databases.raw_url()) as db:
        made = db.anonymize("shop.sales", model=anondb.KmAnonymity(2, 1), **{**options, "taxonomy": None})
        assert made.report is not None and not any("inside" in w for w in made.report.warnings)
        db.drop("many")


def made_both_ways(databases: Databases, rows: list[tuple[int, str]], tree: list[tuple[str, str | None]]) -> list[Any]:
    """The facts of the releases of a larger table, fetched and not."""
    for table, columns, content in (("sales", "tid bigint, item text", rows), ("tree", "node text, parent text", tree)):
        databases.sql(f"DROP TABLE IF EXISTS public.{table}")
        databases.sql(f"CREATE TABLE public.{table} ({columns})")
        databases.copy(f"public.{table}", content)
    said = []
    with anondb.connect(databases.raw_url()) as db:
        for there in (False, True):
            release = db.anonymize("sales", taxonomy="tree", name="large", replace=True, on_engine=there, queries=2)
            said.append(facts(release))
        db.drop("large")
    return said


@pytest.mark.slow
def test_the_same_release_of_more_rows(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "SMALL_MASS", 100)  # queries are drawn as from many rows
    rnd = random.Random(5)
    items = [f"{group}{n}" for group in "abcdefgh" for n in range(8)]
    rows = [(t, i) for t in range(800) for i in rnd.sample(items, rnd.randint(1, 6))]
    tree = [("all", None), *((group, "all") for group in "abcdefgh"), *((i, i[0]) for i in items)]
    fetched, there = made_both_ways(databases, rows, tree)
    assert fetched == there and fetched["loss"]["lm_total"] != "0"


@pytest.mark.nightly
@needs("bms1.dat", "bms1.f5.tree")
def test_the_same_release_of_real_data(databases: Databases) -> None:
    lines = (DATA / "bms1.dat").read_text("utf-8").splitlines()
    rows = [(tid, item) for tid, line in enumerate(lines, 1) for item in sorted(set(line.split()))]
    with anondb.connect() as db, db.engine.transaction():
        known = load_taxonomy(db.engine, DATA / "bms1.f5.tree")
    names = known.labels
    tree = [(names[n], None if p < 0 else names[p]) for n, p in enumerate(known.parent.tolist())]
    fetched, there = made_both_ways(databases, rows, tree)
    assert fetched == there and fetched["loss"]["lm_total"] == "1790569/496"


def test_what_is_refused(databases: Databases) -> None:
    before = databases.sql("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1")
    cases: list[tuple[str, dict[str, Any]]] = [
        ("not_on_engine", {"model": anondb.KmAnonymity(2, float("inf"))}),
        ("not_on_engine", {"model": TransactionalK(2)}),
        ("not_on_engine", {"algorithm": "apriori"}),
        ("not_on_engine", {"records": "shop.people"}),
        ("no_such_column", {"item": "article"}),
        ("bad_type", {"item": "tid"}),
    ]
    with anondb.connect(databases.raw_url()) as db:
        for code, more in cases:
            with pytest.raises(InputError) as refused:
                db.anonymize("shop.sales", **{"taxonomy": "shop.food", "on_engine": True, "name": "no", **more})
            assert refused.value.code == code, more
        with pytest.raises(InputError) as refused:
            db.sql(
                "CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM shop.sales"
                " WITH (taxonomy = 'shop.food', on_engine = true)"
            )
        assert refused.value.code == "not_on_engine"
    assert databases.sql("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1") == before
    with anondb.connect() as db, pytest.raises(InputError) as refused:
        db.anonymize("sales", taxonomy="food", on_engine=True)
    assert refused.value.code == "not_on_engine"


@pytest.mark.slow
def test_verification_there(databases: Databases) -> None:
    with anondb.connect(databases.raw_url()) as db:
        for model in (anondb.KmAnonymity(3, 2), anondb.KmAnonymity(1, 1), TransactionalK(3), TransactionalK(1)):
            there = db.verify("shop.sales", model=model, on_engine=True)
            assert not db.engine._fetched.filled  # type: ignore[attr-defined]
            assert there.violations == db.verify("shop.sales", model=model).violations
        for more in ({"witnesses": 1}, {"model": anondb.KmAnonymity(2, float("inf"))}, {"bag_input": True}):
            with pytest.raises(InputError):
                db.verify("shop.sales", **{"model": TransactionalK(2), "on_engine": True, **more})
    with anondb.connect(databases.raw_url(), read_only=True) as db, pytest.raises(InputError) as refused:
        db.verify("shop.sales", on_engine=True)
    assert refused.value.code == "read_only"
    assert command("verify", databases.raw_url(), "--release", "x", "--on-engine").returncode == 2
    done = command("verify", databases.raw_url(), "--transactions", "shop.sales", "--model", "k", "--k", "3", "--on-engine")
    assert done.returncode == 4 and "Traceback" not in done.stderr


@pytest.fixture
def arrived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of all values that reach this process from PostgreSQL."""
    values: list[str] = []
    read, streamed = Server.rows, Server.stream

    def rows(self: Server, query: Any, what: str) -> Any:
        table = read(self, query, what)
        values.extend(str(v) for column in table.columns for v in column.to_pylist())
        return table

    @contextlib.contextmanager
    def stream(self: Server, query: Any, what: str) -> Iterator[Any]:
        with streamed(self, query, what) as reader:
            table = reader.read_all()
        values.extend(str(v) for column in table.columns for v in column.to_pylist())
        yield table.to_reader()

    monkeypatch.setattr(Server, "rows", rows)
    monkeypatch.setattr(Server, "stream", stream)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
def test_accuracy_is_counted_there(databases: Databases, arrived: list[str], own: bool) -> None:
    """In the run and later: the figures are those of fetched rows, and no id is fetched."""
    names = [f"person {n}" for n in range(60)]
    rows = [(name, item) for n, name in enumerate(names) for place, item in enumerate(ITEMS) if (n >> place) & 1]
    queries = [("one", "milk"), ("one", "eggs"), ("two", "soap"), ("three", "of nobody")]
    for table, columns, content in (("asked", "query_id text, item text", queries), ("bought", "tid text, item text", rows)):
        databases.sql(f"DROP TABLE IF EXISTS public.{table}")
        databases.sql(f"CREATE TABLE public.{table} ({columns})")
        databases.copy(f"public.{table}", content)
    workload = "asked" if own else None
    with anondb.connect(databases.raw_url()) as db:
        options = {"name": "asked", "replace": True, "queries": 20, "workload": workload, **KINDS["plain"]}
        expected = db.anonymize("bought", **options).report.accuracy.to_json()
        arrived.clear()
        release = db.anonymize("bought", on_engine=True, **options)
        assert release.report.accuracy.to_json() == expected and expected["queries"] > 2
        assert release.measure(workload, queries=20).to_json() == expected
        assert set(names) & set(arrived) == set() and arrived
        databases.sql("DELETE FROM public.bought WHERE item = 'milk'")  # the source of today is asked
        assert release.measure(workload, queries=20).to_json() != expected
        assert set(names) & set(arrived) == set()
        db.drop("asked")
    assert not databases.sql("SELECT relname FROM pg_class WHERE relname LIKE '\\_anondb%'")


NAMES = [
    "Zo\u00eb O'Hara",
    "a\\b",
    "a",
    "A",
    "\U0001f600",
    '"',
    "tr\u00fce",
    " b ",
    "\u2003c",
    "007x",
    "2024-00123",
    "x\n",
    "%",
    "$1",
    "NULL",
]


@pytest.mark.slow
def test_no_id_is_fetched(databases: Databases, arrived: list[str]) -> None:
    """Nor one that is written as a number or a date, and neither ids nor the key of digests stand in the server's log."""
    names = [*NAMES, "0017.50", "2024-02-28", "6B1F0C0E-0000-4000-8000-000000000000"]
    telling = [name for name in names if len(name) > 4]  # which the catalog and the ledger have not by chance
    databases.sql("CREATE TABLE public.visits (tid text, item text)")
    databases.copy("public.visits", [(name, item) for name in names for item in ("milk", "eggs")])
    texts: list[str] = []
    with anondb.connect(databases.raw_url()) as db:
        engine: Any = db.engine
        engine.server.on_statement = texts.append
        db.anonymize("visits", name="ids", on_engine=True, **KINDS["plain"])
        assert not db.verify("visits", model=anondb.KmAnonymity(100, 1), on_engine=True).verified
        assert not set(arrived) & set(telling) and "milk" in arrived
        key = str(SECRETS.rows(engine, current_catalog(engine))[0]["secret"])
    assert [t for t in texts if "SHA256" in t]
    said = "".join((databases.server.log(), *texts))
    assert not [word for word in (key, *telling) if word in said]


KEPT = {  # types of ids, and two values of each
    "text": ("Zo\u00eb", " 0042.0 "),
    'text COLLATE "POSIX"': ("true", "1e3!"),
    "varchar(40)": ("a 00:00:00", "1\n"),
    "char(9)": ("a", "b c"),
    "uuid": ("6b1f0c0e-0000-4000-8000-00000000000a", "00000000-0000-0000-0000-000000000000"),
    "boolean": ("t", "f"),
    "smallint": ("-7", "7"),
    "bigint": (str(2**63 - 1), "9007199254740993"),
    "numeric": ("1.50", "-0.00"),
    "numeric(38,9)": ("12345678901234567890123456789.5", "3"),
    "date": ("2024-02-29", "0001-01-01"),
    "time": ("10:00", "23:59:59.999999"),
    "timestamp": ("2024-02-29", "2024-02-29 10:00:00.50"),
    "timestamptz": ("2024-02-29 00:00:00+02", "2024-02-29 00:00:00+00"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", some(KEPT, "text", "timestamptz", check=()))
def test_digests_made_there_are_those_made_here(databases: Databases, kind: str) -> None:
    """So the persons of a release are found in one that was made the other way."""
    databases.sql("DROP TABLE IF EXISTS public.typed")
    databases.sql(f"CREATE TABLE public.typed (tid {kind}, item text)")
    databases.copy("public.typed", [(value, item) for value in KEPT[kind] for item in ("milk", "eggs")])
    kept, texts = list[list[int]](), list[str]()
    with anondb.connect(databases.raw_url(), on_statement=texts.append) as db:
        for there in (False, True):
            options = {"name": "typed", "replace": True, "on_engine": there, "queries": 1, "taxonomy": "shop.food"}
            made = db.anonymize("typed", model=anondb.KmAnonymity(2, 1), **options)
            rows = PERSONS.rows(db.engine, current_catalog(db.engine), made.manifest["release_id"])
            kept.append(sorted(row["person"] for row in rows))
            assert not any("ids were fetched" in words for words in made.report.warnings)
        db.drop("typed")
    assert len(set(kept[0])) == 2 and kept[0] == kept[1] and any("ENCODE(SHA256(" in text for text in texts)


@pytest.mark.slow
def test_the_persons_of_a_release_made_there_are_not_published_again(databases: Databases) -> None:
    """Whichever was made first; ids that only DuckDB writes uniformly are fetched, and the report says how many."""
    databases.sql("CREATE TABLE public.first (tid text, item text)")
    databases.sql("CREATE TABLE public.second (tid text, item text)")
    databases.copy("public.first", [(t, i) for t in ("1e9", "2024/02/28", "x", "y") for i in ("milk", "eggs")])
    databases.copy("public.second", [(t, i) for t in ("1000000000", "2024-02-28", "z", "v") for i in ("milk", "eggs")])
    options: dict[str, Any] = {"model": anondb.KmAnonymity(2, 1), "taxonomy": "shop.food", "queries": 1}
    with anondb.connect(databases.raw_url()) as db:
        first = db.anonymize("first", on_engine=True, publish=databases.url("first"), **options)
        assert any("2 ids were fetched" in words for words in first.report.warnings)
        for there in (True, False):
            second = db.anonymize("second", name="second", replace=True, on_engine=there, **options)
            with pytest.raises(InputError) as refused:
                second.publish(databases.url(f"second_{there}"))
            assert refused.value.code == "overlap"
            shared = second.publish(databases.url(f"second_{there}"), allow_overlap=True)
            assert [i.persons for i in shared.intersections if i.other == "first"] == [2]
