"""What a session keeps between queries changes no answer: short answers, sums, and the encoding of classes."""

from __future__ import annotations

import contextlib
from pathlib import Path

import duckdb
import pandas as pd
import pytest
import sqlglot

import anondb
from anondb.answers import plans
from anondb.answers.ranged import windows
from anondb.query import classes, supported
from anondb.session.database import MAX_LISTED

SIZES = [
    "SELECT avg(n) AS a, max(n) AS b FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'milk'))",
    "SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales WHERE item IN ('milk', 'figs') GROUP BY tid) "
    "GROUP BY n",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 2 AND bool_or(item = 'bread'))",
    "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'dates')",
    "SELECT sum(price) AS s FROM sales JOIN prices USING (item)",
]


def test_answers_are_kept(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    answer = plans.answer_plan
    monkeypatch.setattr(plans, "answer_plan", lambda r, p, **more: asked.append(p) or answer(r, p, **more))  # type: ignore[func-returns-value]
    monkeypatch.setattr(plans, "MAX_KEPT", 2)
    texts = [f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item = '{item}'" for item in ("milk", "bread", "figs")]
    with anondb.open(shop / "supports.duckdb") as session:
        first = [session.sql(text).fetchall() for text in texts]
        number = len(asked)
        assert [session.sql(text).fetchall() for text in texts[1:]] == first[1:] and len(asked) == number
        assert session.sql(texts[0]).fetchall() == first[0] and len(asked) > number


@pytest.mark.slow
@pytest.mark.parametrize("release", ["supports", pytest.param("suppressed", marks=pytest.mark.nightly)])
def test_wide_signatures_answer_alike(
    shop: Path, prices: pd.DataFrame, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More classes than a number has places for are encoded as texts; the rule of kinds of items leaves these out."""

    def answers() -> list[list[tuple[object, ...]]]:
        with anondb.open(shop / f"{release}.duckdb") as session:
            session.register("prices", prices)
            return [session.sql(text).fetchall() for text in SIZES]

    monkeypatch.setattr(supported, "LEVELS", ())
    narrow = answers()
    monkeypatch.setattr(classes, "MAX_BITS", 1)
    for wide, expected in zip(answers(), narrow, strict=True):
        assert [pytest.approx(row) for row in expected] == wide


def test_a_table_that_is_registered_again_changes_the_answer(shop: Path) -> None:
    with anondb.open(shop / "supports.duckdb") as session:
        sums = []
        for price in (1.0, 2.0):
            session.register("prices", pd.DataFrame({"item": ["milk"], "price": [price]}))
            sums.append(session.sql("SELECT sum(price) AS s FROM sales JOIN prices USING (item)").fetchall()[0])
    assert sums[1] == pytest.approx([2 * number for number in sums[0]])


def test_a_result_is_kept_and_owned_by_who_asked(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC, item"
    with anondb.open(shop / "supports.duckdb") as session:
        first = session.sql(text)
        rows, columns, notes = first.fetchall(), list(first.columns), list(first.notes)
        first.columns.append("x")
        first.notes.append("y")
        monkeypatch.setattr(session, "_answer", None)
        again = session.sql(text)
        assert again.fetchall() == rows and again.columns == columns and again.notes == notes
        assert len(session.sql(text)) == len(rows)
        with pytest.raises(TypeError):
            session.sql(text, bounds="none")


@pytest.mark.slow
def test_parameters_tell_results_apart(shop: Path) -> None:
    text = "SELECT count(DISTINCT tid) AS n FROM sales WHERE item = ?"
    with anondb.open(shop / "supports.duckdb") as session:
        for _ in range(2):
            milk, bread = (session.sql(text, [item]).fetchall() for item in ("milk", "bread"))
            assert milk != bread


@pytest.mark.slow
def test_results_of_functions_that_vary_are_not_kept(shop: Path) -> None:
    with anondb.open(shop / "supports.duckdb") as session:
        for text in ("SELECT random() AS r", "SELECT count(*) AS n, uuid() AS r FROM sales"):
            assert session.sql(text).fetchall() != session.sql(text).fetchall()


def test_every_function_of_duckdb_that_varies_is_known() -> None:
    connection = duckdb.connect()
    names = connection.execute(  # + and - of times vary with the time zone alone, which a session does not change
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability <> 'CONSISTENT' AND function_type = 'scalar'"
        " AND function_name NOT IN ('+', '-')"
    ).fetchall()
    assert len(names) > 10
    keywords = ["current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"]
    for call in [*(f"{name}()" for (name,) in names), *keywords]:
        with contextlib.suppress(sqlglot.errors.ParseError):
            assert not plans.repeatable(sqlglot.parse_one(f"SELECT {call}", dialect="duckdb")), call


def test_a_query_that_is_no_text_is_refused(shop: Path) -> None:
    with anondb.open(shop / "supports.duckdb") as session:
        for query in ([], None, {"a": 1}):
            with pytest.raises(anondb.InputError, match="must be a text"):
                session.sql(query)  # type: ignore[arg-type]


def test_an_answer_is_found_by_its_text_without_reading_it(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with anondb.open(shop / "supports.duckdb") as session:
        first = session.sql("SELECT count(*) AS n FROM sales WHERE item = 'milk'")
        monkeypatch.setattr("anondb.session.session.parse_script", lambda _: pytest.fail("the query was read again"))
        again = session.sql("SELECT count(*) AS n FROM sales WHERE item = 'milk'")
        assert again.fetchall() == first.fetchall() and again.notes == first.notes


def test_the_rows_of_all_items_are_stored_once(shop: Path) -> None:
    said: list[str] = []
    with anondb.open(shop / "supports.duckdb", on_statement=said.append) as session:
        listed = session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC")
        first = session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 3")
        shares = session.sql("SELECT item, count(*) * 1.0 / sum(count(*)) OVER () AS p FROM sales GROUP BY item")
        assert first.fetchall() == [row[:4] for row in listed.fetchall()[:3]] and len(shares) == len(listed)
    assert len([text for text in said if text.startswith('CREATE TABLE "memory"."main"."facts')]) == 1


@pytest.mark.slow
def test_a_session_stores_few_answers(shop: Path) -> None:
    said: list[str] = []
    with anondb.open(shop / "supports.duckdb", on_statement=said.append) as session:
        for letter in "abcdefgh":
            session.sql(f"SELECT item, count(*) AS n FROM sales WHERE item NOT LIKE '{letter}%' GROUP BY item")
        left = session._database.engine.connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'memory' AND schema_name = 'main'"
        ).fetchall()
    assert left == [(MAX_LISTED,)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "SELECT item, count(*) / sum(count(*)) OVER () AS p, count(*) - avg(count(*)) OVER () AS d FROM sales GROUP BY item",
        "SELECT item, rank() OVER (ORDER BY count(*)) AS r, max(count(*)) OVER () AS m FROM sales GROUP BY item",
        "SELECT item, min(count(*)) OVER () AS m, rank() OVER (ORDER BY count(*)) AS r, sum(count(*)) OVER () FROM sales"
        " GROUP BY item",
        "SELECT item, count(*) FILTER (WHERE count(*) > 3) OVER () AS c FROM sales GROUP BY item QUALIFY"
        " max(count(*)) OVER () > 3",
    ],
)
def test_aggregates_over_all_rows_are_those_of_windows(shop: Path, query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer() -> list[tuple[object, ...]]:
        with anondb.open(shop / "supports.duckdb") as session:
            return sorted(session.sql(query).fetchall())

    once = answer()
    monkeypatch.setattr(windows, "over_all", lambda node: False)
    assert [pytest.approx(row) for row in answer()] == once


@pytest.mark.slow
def test_a_quotient_of_counts_needs_only_the_divisor_to_have_bounds(shop: Path) -> None:
    """Where items were suppressed a count has no upper bound, and a share still has one of its two bounds."""
    with anondb.open(shop / "suppressed.duckdb") as session:
        ((_, lower, upper),) = session.sql(
            "SELECT count(DISTINCT tid) * 1.0 / count(*) AS p FROM sales WHERE item <> 'milk'"
        ).fetchall()
    assert lower is None and upper is not None
