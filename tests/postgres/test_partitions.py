"""Partitioned views in PostgreSQL: a schema for each value, one that shows all, and what is left when a step fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from postgres.databases import Databases, command, make

import anondb
from anondb.errors import AnondbError

psycopg = pytest.importorskip("psycopg")

ROLES = "analysts = 'analysts', counters = 'counters'"
OPTIONS = f"k = 2, m = 1, queries = 1, max_suppression = 0.5, partition_by = 'week', {ROLES}"
QUERY = "SELECT tid, item, week FROM sales"
FIRST, SECOND = "1 'a%s\"", "2/é"  # values that need quotes
REFRESH = "REFRESH ANONYMIZED VIEW weekly"


@pytest.fixture
def shop(server: Any) -> Databases:
    return make(server)


@pytest.fixture
def db() -> Iterator[anondb.Database]:
    with anondb.connect() as database:
        database.sql("CREATE TABLE sales (tid text, item text, week text, age integer)")
        database.sql(week(FIRST))
        yield database


def week(value: str, items: str = "abc") -> str:
    """Six baskets of a week, two with each item."""
    text = value.replace("'", "''")
    return f"INSERT INTO sales SELECT '{text}' || range, '{items}'[range % 3 + 1], '{text}', range % 2 FROM range(6)"


def create(shop: Databases, head: str = "CREATE", options: str = OPTIONS, schema: str = "weekly") -> str:
    url = shop.url(schema)
    return f"{head} ANONYMIZED VIEW weekly AS {QUERY} WITH ({options}, publish = '{url}')"


def asked(shop: Databases, text: str, role: str = "analysts") -> list[tuple[Any, ...]]:
    return shop.sql(text, shop.releases, role)


def schemas(shop: Databases) -> list[str]:
    names = shop.sql("SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'weekly%'", shop.releases)
    return sorted(name for (name,) in names)


def refused(db: anondb.Database, text: str) -> AnondbError:
    with pytest.raises(AnondbError) as caught:
        db.sql(text)
    return caught.value


@pytest.mark.slow
def test_one_relation_over_all_values(shop: Databases, db: anondb.Database) -> None:
    db.sql(create(shop))
    shop.sql("CREATE VIEW public.own AS SELECT * FROM weekly.transactions", shop.releases)
    written = f'SELECT ctid, xmin::text FROM "weekly/{FIRST.replace(chr(34), chr(34) * 2)}".labels'
    before = asked(shop, written)
    db.sql(week(SECOND, "abd"))
    assert [row[0] for row in db.sql(REFRESH).fetchall()] == [SECOND]
    assert schemas(shop) == ["weekly", f"weekly/{FIRST}", f"weekly/{SECOND}"]
    assert asked(shop, written) == before
    groups = "SELECT partition, count(DISTINCT transaction_id) FROM {} GROUP BY 1 ORDER BY 1"
    for name in ("transactions", "baskets", "transaction_ids"):
        assert asked(shop, groups.format(f"weekly.{name}")) == [(FIRST, 6), (SECOND, 6)]
    restored = shop.restored("weekly", "weekly/*")
    assert asked(restored, groups.format("weekly.transactions")) == [(FIRST, 6), (SECOND, 6)]
    assert command("inspect", restored.url("weekly")).returncode == 0
    assert len(shop.sql(groups.format("own"), shop.releases)) == 2  # views on it stay, and show the new value
    counts = asked(shop, "SELECT item, lower_bound, upper_bound FROM weekly.item_counts")
    assert counts == [("a", 4, 4), ("b", 4, 4), ("c", 2, 2), ("d", 2, 2)]
    pair = "SELECT lower_bound, upper_bound FROM weekly.count_bounds(ARRAY['a', 'd'])"
    assert asked(shop, pair, "counters") == asked(shop, pair) == [(0, 0)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        asked(shop, "SELECT * FROM weekly.item_counts", "counters")
    with anondb.open(shop.url("weekly")) as session:
        found = session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item").fetchall()
        assert [(row[0], *row[2:4]) for row in found] == counts
    inspected = command("inspect", shop.url("weekly"))
    assert inspected.returncode == 0, inspected.stdout + inspected.stderr
    assert "weekly%2F2%2F" in command("verify", shop.url("weekly")).stderr
    (body,) = asked(shop, "SELECT pg_get_functiondef('weekly.count_bounds'::regproc)")[0]
    shop.sql(body.replace("sum(counted.lower_bound)", "min(counted.lower_bound)"), shop.releases)
    assert "text of the function count_bounds" in command("inspect", shop.url("weekly")).stdout


@pytest.mark.slow
def test_nothing_is_left_of_a_step_that_fails(shop: Databases, db: anondb.Database) -> None:
    db.sql(create(shop))
    db.sql(week("3"))
    shop.sql("CREATE TABLE weekly.own (a integer)", shop.releases)
    assert refused(db, REFRESH).code == "target_exists" and "weekly/3" not in schemas(shop)
    shop.sql("DROP TABLE weekly.own", shop.releases)
    db.sql(REFRESH)
    shop.sql('DROP SCHEMA "weekly/3" CASCADE', shop.releases)
    assert [row[0] for row in db.sql(REFRESH).fetchall()] == ["3"]
    assert asked(shop, "SELECT count(*) FROM weekly.transaction_ids") == [(12,)]


@pytest.mark.slow
def test_a_view_in_place_of_another(shop: Databases, db: anondb.Database) -> None:
    """Schemas stay when a view is dropped; one that replaces it drops them, also those of values that are gone."""
    db.sql(create(shop))
    db.sql("DROP ANONYMIZED VIEW weekly")
    assert refused(db, create(shop)).code == "target_exists" and f"weekly/{FIRST}" in schemas(shop)
    db.sql("UPDATE sales SET week = '2'")
    anatomy = OPTIONS.replace("k = 2, m = 1", "model = 'anatomy', l = 1.5").replace("max_suppression = 0.5, ", "")
    db.sql(create(shop, "CREATE OR REPLACE", f"{anatomy}, allow_overlap = true"))
    assert schemas(shop) == ["weekly", "weekly/2"]
    assert asked(shop, "SELECT DISTINCT value FROM weekly.manifest WHERE key = 'model'") == [("anatomy",)]


@pytest.mark.slow
def test_all_answer_for_one_table_if_rows_repeat(shop: Databases, db: anondb.Database) -> None:
    db.sql(create(shop))
    db.sql(week("3"))
    db.sql("INSERT INTO sales SELECT * FROM sales WHERE tid = '30'")
    db.sql(REFRESH)
    assert asked(shop, "SELECT value, count(*) FROM weekly.manifest WHERE key = 'table' GROUP BY 1") == [("weekly", 2)]


def test_names(shop: Databases, db: anondb.Database) -> None:
    assert refused(db, create(shop, schema="weekly%2F1")).code == "bad_name"
    assert refused(db, create(shop, schema="w" * 60)).code == "bad_name"
    shop.sql("CREATE SCHEMA weekly", shop.releases)
    assert refused(db, create(shop)).code == "target_exists"
    assert not db.sql("SHOW ANONYMIZED VIEWS").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        "model = 'anatomy', l = 1.5",
        "model = 'kkm', k = 2, m = 1, quasi_identifiers = 'age'",
        pytest.param("model = 'km', k = 2, m = 1, algorithm = 'vpa', taxonomy = 'food'", marks=pytest.mark.nightly),
    ],
)
def test_bounds_add_up_for_each_kind(shop: Databases, db: anondb.Database, model: str) -> None:
    db.sql(week("2", "bcd"))
    db.sql("CREATE TABLE food AS SELECT 'abcd'[range + 1] AS node, 'all' AS parent FROM range(4)")
    query = QUERY.replace("week", "week, age") if "age" in model else QUERY
    url = shop.url("weekly")
    options = f"{model}, queries = 1, partition_by = 'week', {ROLES}, publish = '{url}'"
    db.sql(f"CREATE ANONYMIZED VIEW weekly AS {query} WITH ({options})")
    parts = [name.replace('"', '""') for name in schemas(shop)[1:]]
    for item, *bounds in asked(shop, "SELECT * FROM weekly.item_counts"):
        each = [shop.sql(f"""SELECT * FROM "{part}".count_bounds(ARRAY['{item}'])""", shop.releases)[0] for part in parts]
        assert bounds == pytest.approx([sum(column) for column in zip(*each, strict=True)])
        assert tuple(bounds) == pytest.approx(asked(shop, f"SELECT * FROM weekly.count_bounds(ARRAY['{item}'])")[0])
    if "anatomy" in model:
        assert asked(shop, "SELECT count(*) FROM weekly.reconstruct(1)") == [(12,)]
    assert command("inspect", url).returncode == 0
