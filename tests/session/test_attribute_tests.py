"""Conditions on expressions of an attribute: answered like conditions on the values for which they hold."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

import anondb
from anondb.session import Session

PEOPLE = [("Bergen", 20, "2026-03-02"), ("Cork", 31, "2026-03-03"), (None, 42, "2026-03-08"), ("Bonn", None, None)]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("attributes")
    with anondb.connect() as db:
        sales = pd.DataFrame(
            [(n, item) for n in range(24) for item in ("milk", "figs")[: 1 + n % 2]], columns=["tid", "item"]
        )
        people = pd.DataFrame([(n, *PEOPLE[n % 4]) for n in range(24)], columns=["tid", "town", "age", "day"])
        people["day"], people["age"] = pd.to_datetime(people["day"]).dt.date, people["age"].astype("Int64")
        release = db.anonymize(
            sales,
            model=anondb.KkmAnonymity(2, 1),
            records=people,
            quasi_identifiers="town,age,day",
            name="r",
            queries=1,
        )
        release.publish(place / "r.duckdb")
    with anondb.open(place / "r.duckdb") as opened:
        yield opened


@pytest.mark.parametrize(
    ("condition", "plain"),
    [
        ("town LIKE 'B%'", "town IN ('Bergen', 'Bonn')"),
        ("town NOT LIKE 'B%'", "town = 'Cork'"),
        ("NOT (town LIKE 'B%')", "town = 'Cork'"),
        ("NOT (lower(town) = 'cork')", "town IN ('Bergen', 'Bonn')"),
        ("NOT (upper(town) = 'oslo')", "town IS NOT NULL"),
        ("coalesce(town, 'none') = 'none'", "town IS NULL"),
        ("NOT (coalesce(town, 'none') = 'Cork')", "town IS NULL OR town IN ('Bergen', 'Bonn')"),
        (
            "age % 2 = 0 AND starts_with(town, 'B')",
            "age IN (20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42) AND town IN ('Bergen', 'Bonn')",
        ),
        ("dayname(day) = 'Monday'", "day = DATE '2026-03-02'"),
        ("nullif(age, 20) < 35", "age BETWEEN 21 AND 34"),
    ],
)
def test_a_condition_is_one_on_values(session: Session, condition: str, plain: str) -> None:
    one, two = (
        session.sql(f"SELECT count(*) AS n FROM records WHERE {c}").fetchall() for c in (condition, plain)
    )  # fmt: skip
    assert one == [pytest.approx(row) for row in two]
    filtered = session.sql(f"SELECT count(*) FILTER (WHERE {condition}) AS n FROM records").fetchall()
    assert filtered == [pytest.approx(row) for row in two]


def test_not_of_a_condition_that_is_null_for_a_value_is_refused(session: Session) -> None:
    with pytest.raises(anondb.InputError, match="NULL for a value"):
        session.sql("SELECT count(*) FROM records WHERE NOT (nullif(age, 20) < 35)")
