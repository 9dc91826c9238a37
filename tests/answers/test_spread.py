"""``bounds="spread"``: how far other worlds differ, by their definition, on releases of all kinds, and what it is called."""

from __future__ import annotations

import contextlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from answers import ledger_releases, naive_others
from answers.ledger_releases import KINDS, LISTS
from answers.naive_worlds import Naive
from answers.shop import Shop
from answers.test_drawing import draw_naive, file_of, put, rows_of
from portions import some
from typer.testing import CliRunner

import anondb
from anondb import dbapi
from anondb.answers.bags import OtherSets, binomial, drawn_holders, gamma
from anondb.answers.files import DRAWN, DRAWN_COLUMNS, FIRST_OTHER, begin, make_empty, of_worlds
from anondb.answers.spread import COVERED, LARGEST, LEAST, _needed
from anondb.cli import program
from anondb.engine import DuckDBEngine
from anondb.session.opening import open_session

OTHER = of_worlds(DRAWN, FIRST_OTHER)
SILENT = {"mhghs", "hghs", "coat_suppressed", "clump", "codes", "halves"}
"""Releases that do not say which member of a released item is frequent."""
QUICK = {"mhghs_supports"}
MILK = "SELECT count(*) AS n FROM sales WHERE item = 'milk'"
BOTH = "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(*) = 2)"
SIZES = "SELECT size, count(*) AS n FROM (SELECT tid, count(*) AS size FROM sales GROUP BY tid) GROUP BY size ORDER BY size"
ITEMS = "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item"
MEAN = "SELECT avg(size) AS n FROM (SELECT tid, count(*) AS size FROM sales GROUP BY tid)"
LESS = "SELECT item, -count(*) AS n FROM sales GROUP BY item ORDER BY item"
Sessions = Callable[[str], anondb.Session]
ENDS = ["n", "n_lower", "n_upper", "n_low", "n_high"]


@pytest.fixture(scope="module")
def sessions(shop: Shop) -> Iterator[Callable[[str], anondb.Session]]:
    """A session on each release of the shop, opened once."""
    with contextlib.ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(anondb.open(shop.release(name), threads=1)))


# ---------------------------------------------------------------- other worlds


def drawn(engine: DuckDBEngine, naive: Naive, worlds: int) -> list[set[tuple[int, int]]]:
    """The rows (transaction, number of the member) of the other worlds of a file."""
    put(engine, [naive], random.Random(naive.seed))
    begin(engine, FIRST_OTHER)
    make_empty(engine, OTHER, DRAWN_COLUMNS)
    sets = OtherSets(engine, [file_of(naive)], range(FIRST_OTHER, FIRST_OTHER + worlds))
    sets.draw(np.ones(len(sets.single), dtype=np.bool_))
    return rows_of(engine, worlds, OTHER, FIRST_OTHER)


@pytest.mark.slow
def test_other_worlds_are_those_of_the_definition(engine: DuckDBEngine) -> None:
    """Random files, of which all, some or no released items have item supports."""
    rnd = random.Random(51)
    for n in range(40):
        naive = draw_naive(rnd, local=n % 2 == 0)
        if n % 5 == 0:
            naive = replace(naive, supports={})
        pairs = sorted((label, x) for label, listed in naive.members.items() for x in listed)
        shown = {(x, tid): n for n, (label, x) in enumerate(pairs) for tid in naive.rows[label]}
        for w, rows in enumerate(drawn(engine, naive, 2), FIRST_OTHER):
            by_definition = {(tid, shown[x, tid]) for tid, x in naive_others.world(naive, w)}
            assert rows == {row for row in by_definition if len(naive.members[pairs[row[1]][0]]) > 1}


def test_other_worlds_keep_all_that_a_file_says(engine: DuckDBEngine) -> None:
    rnd = random.Random(52)
    for n in range(20):
        naive = draw_naive(rnd, local=False)
        file = file_of(naive)
        holders = drawn_holders(file, np.arange(100, 140))
        assert (holders.min(axis=1) < holders.max(axis=1)).any() or (file.members.size == 1).all() or naive.supports
        for w, world in enumerate(drawn(engine, naive, 40) if n < 4 else []):
            for label, listed in naive.members.items():
                own = [(tid, file.items[file.members.item[m]]) for tid, m in world if file.names[m] == label]
                assert len(listed) == 1 or {tid for tid, _ in own} == set(naive.rows[label])
                for place in (m for m, name in enumerate(file.names) if name == label and len(listed) > 1):
                    held = sum(x == file.items[file.members.item[place]] for _, x in own)
                    low, high = naive.supports.get(label, {}).get(file.items[file.members.item[place]], (0, len(own)))
                    assert low <= held <= high and held == holders[place, w]


def test_random_numbers_have_their_distributions() -> None:
    rng = np.random.default_rng(53)
    size = 100_000
    for n, p in ((10, 0.3), (5, 0.95), (60, 0.05), (400, 0.4), (3, 1.0), (7, 0.0)):
        found = binomial(np.full(size, n), np.full(size, p), rng.random(size), rng.random(size))
        assert found.mean() == pytest.approx(n * p, abs=0.1) and found.var() == pytest.approx(n * p * (1 - p), abs=2)
        assert found.min() >= 0 and found.max() <= n
    for shape in (0.05, 0.3, 1.0, 4.0, 30.0):
        found = gamma(np.full(size, shape), *(rng.random(size) for _ in range(3)))
        shares = (0.1, 0.5, 0.9)
        assert np.quantile(found, shares) == pytest.approx(np.quantile(rng.gamma(shape, size=size), shares), 0.1, 1e-3)


def test_the_factor_covers_nine_pairs_of_ten() -> None:
    rng = np.random.default_rng(54)
    for far in (1.0, 1.5, 4.0, 100.0):
        mean = rng.integers(20, 200, 300)
        counts = rng.poisson(mean[:, None], (300, 40))
        truth = np.maximum(rng.normal(mean, far * np.sqrt(mean)).round().astype(np.int64), 0)
        factor = _needed(truth, counts)
        covered = [
            np.mean([inside(t, row, f) for t, row in zip(truth, counts, strict=True)]) for f in (factor, factor - 1e-6)
        ]
        assert LEAST <= factor <= LARGEST
        assert factor == LARGEST or covered[0] >= COVERED
        assert factor in (LEAST, LARGEST) or covered[1] < COVERED


def inside(truth: int, counts: np.ndarray, factor: float) -> bool:
    low, high = naive_others.ends(counts.tolist(), float(counts.mean()), factor, (None, None))
    return low - 1e-9 <= truth <= high + 1e-9


# ---------------------------------------------------------------- the ends


@pytest.mark.slow
@pytest.mark.parametrize("name", some(["kkm", "mhghs", "similar"], "kkm", check=()))
@pytest.mark.parametrize("sql", some([MILK, BOTH, SIZES, ITEMS, MEAN, LESS], MEAN, LESS, check=()))
def test_ends_are_those_of_the_definition(sessions: Sessions, name: str, sql: str) -> None:
    """Each query is asked of the tables of each other world by hand."""
    session = sessions(name)
    result = session.sql(sql, bounds="spread")
    spread, connection = session.spread, session.engine.connection
    assert spread.worlds is not None and spread.worlds.count == 40
    spread.worlds.draw(None)  # an answer may need a part of the rows
    answers: dict[object, list[float]] = {}
    for w in range(40):
        connection.execute(f"USE memory.world_{FIRST_OTHER}; SET VARIABLE anondb_world = {FIRST_OTHER + w}")
        for *key, n in connection.execute(sql).fetchall():
            answers.setdefault(tuple(key), []).append(float(n))
    connection.execute("USE memory.main")
    at = result.columns.index("n")
    assert result.columns[at : at + 5] == ENDS and len(result) > 0
    for row in result.fetchall():
        n, lower, upper, low, high = row[at : at + 5]
        found = answers.get(tuple(row[:at]), [])
        if sql is not MEAN:
            found += [0.0] * (40 - len(found))
        assert (low, high) == pytest.approx(naive_others.ends(found, float(n), spread.factor, (lower, upper)), 1e-9, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(KINDS, *QUICK, "kkm", "halves", check=()))
def test_ends_lie_within_bounds_and_hold_the_estimate(name: str, folder: Path) -> None:
    with ledger_releases.asked(name, folder) as (session, _):
        item = "unnest(items)" if KINDS[name].layout == LISTS else "item"
        queries = [
            f"SELECT i AS item, count(*) AS n FROM (SELECT {item} AS i FROM sales) GROUP BY i ORDER BY n DESC LIMIT 5"
        ]
        if KINDS[name].layout != LISTS:
            queries += [SIZES, MEAN, BOTH, "SELECT count(*) * 1.5 - 7 AS n FROM sales"]
        if KINDS[name].with_records:
            queries.append("SELECT count(*) AS n FROM customers WHERE age > 40")
        for sql in queries:
            result, usual = session.sql(sql, bounds="spread"), session.sql(sql)
            at = result.columns.index("n")
            if result.columns == usual.columns:
                assert "n_lower" not in usual.columns  # of exact numbers
                continue
            assert result.columns[at : at + 5] == ENDS
            assert [row[: at + 3] for row in result.fetchall()] == [row[: at + 3] for row in usual.fetchall()]
            for row in result.fetchall():
                n, lower, upper, low, high = row[at : at + 5]
                assert (low is None) == (high is None) == (name in SILENT or n is None)
                if low is not None:
                    assert (lower is None or lower <= low) and low <= n <= high and (upper is None or high <= upper)
            assert any("are NULL" in note for note in result.notes) == (name in SILENT)


# ---------------------------------------------------------------- what it is called


def noted(session: anondb.Session, sql: str) -> str:
    """What the ends of a spread are called in the notes."""
    notes = session.sql(sql, bounds="spread").notes
    names = {"a modelled range": "range", "a spread": "spread", "are NULL": "none"}
    found = [name for text, name in names.items() for note in notes if text in note and "n_low" in note]
    assert not any("90" in note or "%" in note for note in notes) and len(found) <= 1
    return found[0] if found else ""


@pytest.mark.slow
def test_only_counts_of_items_are_called_a_range(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anondb.answers.worlds.MOST_OTHERS", 10)
    monkeypatch.setattr("anondb.answers.worlds.MOST_WORLDS", 4)
    ranges = [
        MILK,
        ITEMS,
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'",
        "SELECT count(tid) AS n, item AS i FROM main.sales AS s WHERE s.item LIKE 'm%' GROUP BY i HAVING count(*) > 3",
        "SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY 1 ORDER BY n DESC LIMIT 3",
    ]
    spreads = [
        BOTH,
        SIZES,
        MEAN,
        LESS,
        "SELECT count(*) AS n FROM sales",
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread')",
        "SELECT count(*) AS n FROM sales WHERE item <> 'milk'",
        "SELECT item, count(*) AS n, count(*) / 2 AS half FROM sales GROUP BY item",
        "SELECT length(item) AS l, count(*) AS n FROM sales GROUP BY l",
        "SELECT a.item, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'milk' GROUP BY a.item",
    ]
    with anondb.open(shop.release("kkm"), threads=1) as session:
        assert [noted(session, sql) for sql in ranges] == ["range"] * len(ranges)
        assert [noted(session, sql) for sql in spreads] == ["spread"] * len(spreads)
        assert noted(session, "SELECT count(DISTINCT tid) AS persons FROM sales") == ""  # exact


@pytest.mark.slow
def test_a_local_recoding_without_item_supports_has_a_spread_alone(folder: Path) -> None:
    for name, called in (("lra", "spread"), ("anatomy", "spread"), ("apriori_supports", "range")):
        with ledger_releases.asked(name, folder) as (session, _):
            assert noted(session, MILK) in (called, "")


@pytest.mark.slow
def test_rows_that_need_not_exist_say_in_how_many_worlds_they_are(sessions: Sessions) -> None:
    session = sessions("kkm")
    result = session.sql("SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 100", bounds="spread")
    assert result.columns[-2:] == ["certain", "in_worlds"]
    shares = {row[0]: row[-1] for row in result.fetchall()}
    worlds = [session.sql(f"SELECT count(*) AS n FROM sales WHERE item = '{x}'").fetchall()[0][0] for x in shares]
    assert set(shares.values()) <= {n / 20 for n in range(21)} and len(set(shares.values())) > 1
    assert all(share == 1 for share, n in zip(shares.values(), worlds, strict=True) if n > 150)


@pytest.mark.nightly
def test_results_depend_on_the_file_alone(shop: Shop) -> None:
    """On neither threads nor on what was asked before, or with which option."""
    queries, found = [MILK, BOTH, SIZES, ITEMS], []
    for threads, order in ((1, queries), (2, queries[::-1])):
        with anondb.open(shop.release("kkm"), threads=threads) as session:
            session.sql(order[0])
            answers = {sql: session.sql(sql, bounds="spread").fetchall() for sql in order}
            found.append([answers[sql] for sql in queries])
            assert session.sql(MILK).columns == ENDS[:3] and session.sql(MILK, bounds="none").columns == ["n"]
    for one, two in zip(*found, strict=True):
        assert [row[:-5] for row in one] == [row[:-5] for row in two]
        assert [row[-5:] for row in one] == [pytest.approx(row[-5:], 1e-9) for row in two]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "each", "bounds"), [("halves", 4, "columns"), pytest.param("similar", 5, "spread", marks=pytest.mark.slow)]
)
def test_a_question_that_was_interrupted_is_answered_later(name: str, each: int, bounds: str, folder: Path) -> None:
    """Ctrl-C before some statement, while files are copied and worlds made and drawn; some statements later each time."""
    asked, stop_at = [0], [sys.maxsize]

    def stop(_: str) -> None:
        asked[0] += 1
        if asked[0] == stop_at[0]:
            raise KeyboardInterrupt

    files = ledger_releases.make(name, folder)
    with open_session(files, threads=1, on_statement=stop) as session:
        for n in range(100):
            asked[0], stop_at[0] = 0, 1 + each * n
            with contextlib.suppress(KeyboardInterrupt):
                found = session.sql(SIZES, bounds=bounds).fetchall()
                break
    assert n > 5
    with anondb.open(files, threads=1) as other:
        assert other.sql(SIZES, bounds=bounds).fetchall() == found


@pytest.mark.slow
def test_rows_of_persons_and_random_numbers_have_no_spread(sessions: Sessions) -> None:
    session = sessions("kkm")
    assert session.sql("SELECT * FROM sales LIMIT 3", bounds="spread").columns == ["tid", "item"]
    unruled = "SELECT string_agg(item, ',' ORDER BY item) AS s, count(*) + random() * 0 AS n FROM sales"
    assert session.sql(unruled, bounds="spread").columns == session.sql(unruled).columns
    result = session.sql("SELECT entropy(item) AS n FROM sales", bounds="spread")  # no rule reads it
    ((n, lower, upper, low, high),) = result.fetchall()
    assert lower is upper is None and low <= n <= high and low < high


@pytest.mark.slow
def test_columns_are_the_same_without_rows_and_the_note_names_them(shop: Shop) -> None:
    """The analyst may have a column of such a name; and LIMIT 0, by which tools look at the columns, draws nothing."""
    sql = "SELECT count(*) AS n_low, count(*) AS n FROM sales WHERE item = 'milk'"
    with dbapi.connect(shop.release("similar"), bounds="spread", threads=1) as connection:
        cursor = connection.cursor()
        described = [cursor.execute(text).description for text in (f"{sql} LIMIT 0", sql)]
    assert described[0] == described[1]
    with anondb.open(shop.release("similar"), threads=1) as session:
        result = session.sql(sql, bounds="spread")
    assert result.columns[3:5] + result.columns[-2:] == ["n_low_low", "n_low_high", "n_low_1", "n_high"]
    assert any(note.startswith("From n_low_low, n_low_1 to n_low_high, n_high is a ") for note in result.notes)


@pytest.mark.slow
def test_an_estimate_that_is_null_has_no_spread(sessions: Sessions) -> None:
    sql = "SELECT count(*) / 0 AS n, ln(count(*) - count(*)) AS l FROM sales WHERE item = 'milk'"
    result = sessions("similar").sql(sql, bounds="spread")
    assert result.columns[:5] == ENDS and set(result.fetchall()[0]) == {None}


@pytest.mark.slow
def test_too_few_worlds_have_no_spread(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anondb.answers.worlds.MOST_ROWS", 30_000)
    with anondb.open(shop.release("kkm"), threads=1) as session:
        result = session.sql(BOTH, bounds="spread")
        assert result.fetchall()[0][3:] == (None, None)
        assert "too large" in result.notes[-1] or any("too large" in note for note in result.notes)


# ---------------------------------------------------------------- ways to ask


@pytest.mark.slow
def test_command_line_dbapi_and_sqlalchemy_pass_the_option(shop: Shop) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    file = str(shop.release("similar"))
    run = CliRunner().invoke(program(), ["query", file, BOTH, "--bounds", "spread", "--json"])
    answer = json.loads(run.stdout)
    assert answer["columns"] == ENDS
    with dbapi.connect(file, bounds="spread", threads=1) as connection:
        cursor = connection.cursor()
        cursor.execute(BOTH)
        assert [column[0] for column in cursor.description or ()] == ENDS
        assert list(cursor.fetchall()[0]) == pytest.approx(answer["rows"][0])
    with sqlalchemy.create_engine(f"anondb:///{file}?bounds=spread").connect() as connection:
        assert list(connection.execute(sqlalchemy.text(BOTH)).keys()) == ENDS
    run = CliRunner().invoke(program(), ["query", file, BOTH, "--bounds", "wide"])
    assert isinstance(run.exception, anondb.InputError) and run.exception.code == "bad_parameter"
