"""A query that is asked of all worlds at once has the rows that it has in them one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from answers.ledger import queries
from answers.ledger_releases import KINDS, KM, LISTS, asked, written_for
from portions import some

import anondb
from anondb.answers import tables, worlds
from anondb.answers.all_worlds import over_worlds

BY_PRICE = "count(*) AS n FROM sales s LEFT JOIN prices p ON p.item = s.item AND p.price > 2"  # which may be NULL
PAIRS = "FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item"
ODD = (
    f"SELECT s.item, p.price, {BY_PRICE} GROUP BY s.item, p.price ORDER BY n DESC, 1, 2 LIMIT 30",
    f"SELECT a.item, b.item AS other, count(*) AS n {PAIRS} GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT 3",
    f"SELECT upper(s.item) AS i, p.price, {BY_PRICE} GROUP BY ALL HAVING count(*) > 20 ORDER BY n DESC, 1, 2 LIMIT 4",
    f"SELECT unnest({{'a': s.item, 'b': p.price}}), {BY_PRICE} GROUP BY s.item, p.price ORDER BY n DESC, 1, 2 LIMIT 4",
    "SELECT count(*) AS n FROM sales WHERE item = 'nothing of this name'",
    "SELECT count(NOT item < 'm') AS n FROM sales",
    "SELECT (SELECT (SELECT count(*) FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk' AND b.item = 'bread') / "
    "(SELECT count(*) FROM sales)) AS n",
    "SELECT a.n, b.n AS m FROM (SELECT count(*) AS n FROM sales WHERE item = 'milk') a, (SELECT count(*) AS n FROM sales) b",
    "SELECT (SELECT count(*) FROM sales WHERE item = 'milk') / (SELECT count(*) FROM sales WHERE item = 'bread') AS n",
    "WITH sales AS (SELECT tid FROM sales WHERE item = 'milk') SELECT count(*) AS n FROM sales",
    "WITH a(x) AS (SELECT tid FROM sales WHERE item = 'milk'), b AS (SELECT x FROM a) SELECT count(DISTINCT x) AS n FROM b",
    "SELECT item, count(*) / (SELECT count(*) FROM sales) AS n FROM sales GROUP BY item",
    "SELECT item, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS place FROM sales GROUP BY ALL",
    "SELECT count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') AND item = 'bread'",
    "SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'milk')",
    "SELECT count(DISTINCT tid) AS n FROM sales s WHERE (SELECT count(*) FROM sales o WHERE o.tid = s.tid) > 3",
    "SELECT count(DISTINCT t) AS n FROM sales AS s(t) WHERE item = 'milk'",
    "WITH a(x) AS (SELECT tid, item FROM sales) SELECT count(DISTINCT x) AS n FROM a WHERE item = 'milk'",
    "SELECT count(*) AS n FROM (SELECT s.tid FROM sales s JOIN (WITH sales AS (SELECT tid FROM sales WHERE item = 'milk') "
    "SELECT tid FROM sales) m ON s.tid = m.tid) x JOIN sales y ON x.tid = y.tid",
    "SELECT g, count(*) AS n FROM (SELECT item FROM sales) g GROUP BY g",
    "SELECT count(*) AS n FROM sales WHERE item = 'nothing of this name' GROUP BY ()",
    "SELECT 1 AS k FROM sales WHERE item = 'milk' HAVING count(*) > 5",
    "SELECT count(*) AS n FROM (SELECT 'milk' AS i) JOIN sales ON item = i",
    "SELECT p.item, z.n FROM prices p, (SELECT count(*) AS n FROM sales s WHERE s.item = p.item) z",
    "SELECT count(b.tid) AS n FROM sales a LEFT JOIN sales b ON a.tid = b.tid AND b.item IN (SELECT item FROM sales WHERE "
    "item < 'c')",
    "SELECT count(*) AS n FROM sales a JOIN sales b USING (tid) JOIN sales c USING (tid) "
    "WHERE a.item = 'milk' AND c.item = 'beer'",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') a FULL JOIN (SELECT tid FROM sales WHERE item = "
    "'beer') b USING (tid)",
    "SELECT count(*) AS n FROM sales WHERE (tid, item) IN (SELECT tid, max(item) FROM sales GROUP BY tid)",
    "SELECT item, count(*) AS n FROM sales WHERE (tid, item) IN (SELECT tid, max(item) FROM sales GROUP BY tid) "
    "GROUP BY item",
    "SELECT count(DISTINCT tid) AS n FROM sales s WHERE NOT EXISTS (SELECT 1 FROM sales s2 WHERE s2.tid = s.tid "
    "AND s2.item IN (SELECT item FROM sales GROUP BY item HAVING count(*) > 300))",
    "SELECT p.price, count(*) AS n FROM prices p LEFT JOIN sales s USING (item) GROUP BY p.price",
    "SELECT p.item, count(s.tid) AS n FROM prices p LEFT JOIN sales s ON s.item = p.item AND s.item < 'c' GROUP BY p.item",
    "SELECT p.item, count(s.tid) AS n FROM sales s RIGHT JOIN prices p ON s.item = p.item GROUP BY p.item",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk') a "
    "FULL JOIN (SELECT tid FROM sales WHERE item = 'beer') b ON a.tid = b.tid",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' EXCEPT SELECT tid FROM sales WHERE item = 'figs')",
    "SELECT 'a' AS k, count(*) AS n FROM sales WHERE item = 'milk' UNION ALL SELECT 'b', 3",
    "SELECT count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk' AND b.item = 'bread'",
    "SELECT count(*) AS n FROM sales a SEMI JOIN (SELECT tid FROM sales WHERE item = 'milk') b ON a.tid = b.tid",
    "SELECT x.i, (SELECT count(*) FROM sales WHERE item = x.i) AS n FROM (VALUES ('milk'), ('bread'), ('none')) x(i)",
    "SELECT count(*) AS n, count(DISTINCT item) AS i, min(item) AS f, count_if(item = 'milk') AS m FROM sales",
    "SELECT count(*) FILTER (WHERE item = 'milk') AS m, count(DISTINCT tid) FILTER (WHERE item = 'beer') AS b FROM sales",
    "SELECT item, count(DISTINCT tid) AS n, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM sales GROUP BY 1",
    "SELECT count(*) AS n FROM (SELECT item FROM sales GROUP BY item HAVING count(DISTINCT tid) >= 30)",
    "SELECT p.price, count(*) AS n, count(s.tid) AS m FROM sales s JOIN prices p USING (item) GROUP BY p.price",
    "SELECT s.item, count(DISTINCT s.tid) AS n FROM sales s LEFT JOIN food f ON f.node = s.item GROUP BY s.item",
    "SELECT p.item FROM prices p WHERE NOT EXISTS (SELECT 1 FROM sales s WHERE s.item = p.item) OR p.price < 3",
    "SELECT price, count(*) AS n FROM prices WHERE item IN (SELECT item FROM sales) GROUP BY price",
    "SELECT length(item) AS k, count(nullif(item, 'milk')) AS n, count(DISTINCT length(item)) AS d FROM sales GROUP BY 1",
    "SELECT item, count(*) AS n, count(*) OVER () AS groups, rank() OVER (ORDER BY item) AS r FROM sales GROUP BY item",
    "SELECT max(item, 3) AS m, min(item, 2) AS f FROM sales",
    "SELECT item, max(item, 2) AS m, count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'figs') GROUP BY item",
    "SELECT item, list(item) AS l, mode(item) AS m FROM sales WHERE item IN ('figs', 'truffle') GROUP BY item",
    "WITH anondb_holders AS (SELECT 'milk' AS item) SELECT count(*) AS n FROM sales JOIN anondb_holders USING (item)",
    "SELECT count(*) AS n FROM sales a JOIN sales b USING (item)",
    "SELECT p.price, count(*) AS n, count(p.item) AS i FROM prices p LEFT JOIN sales s ON s.item = p.item AND s.item < 'm' "
    "GROUP BY p.price",
    "SELECT count(*) AS n, count(s.item) AS i FROM prices p LEFT JOIN sales s ON s.item = p.item JOIN food f "
    "ON f.node = p.item",
    "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread') AND item < 'c'",
    "SELECT item FROM sales WHERE item < 'c' UNION SELECT item FROM prices",
    "SELECT avg(n) AS a, max(n) AS m, median(n) AS d FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)",
)
"""Queries of many forms, over the shop's tables and the analyst's prices."""


def rows(session: anondb.Session, sql: str) -> Any:
    """The answer, whose rows have no order; or the code of its refusal."""
    try:
        return sorted(map(tuple, session.sql(sql).fetchall()), key=repr)
    except anondb.InputError as refusal:
        return refusal.code


def same(one: Any, other: Any) -> bool:
    """Whether two answers are equal, but for the order in which floating numbers were added up."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def check(folder: Path, release: str, texts: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    monkeypatch.setattr(tables, "over_worlds", lambda *args: written.append(over_worlds(*args)) or written[-1])
    with asked(release, folder) as (session, _):
        at_once = [rows(session, text) for text in texts]
        assert sum(query is not None for query in written) > len(texts) / 2
        monkeypatch.setattr(worlds, "MOST_AT_ONCE", -1)
        monkeypatch.setattr(tables, "over_holders", lambda tree, persons: None)
        one_by_one = [rows(session, f"/* again */ {text}") for text in texts]
    wrong = [text for text, one, other in zip(texts, at_once, one_by_one, strict=True) if not same(one, other)]
    assert not wrong, "\n".join(wrong)
    assert sum(isinstance(answer, list) for answer in at_once) > len(texts) / 2


def written(release: str, step: int) -> list[str]:
    """Every so many queries of the ledger, and those of many forms where a release has baskets as rows."""
    kind = KINDS[release]
    first = list(KINDS).index(release) % step
    texts = [written_for(query.sql, kind) for query in queries()[first::step] if query.fits(kind)]
    return [*ODD, *texts] if kind.layout != LISTS and not kind.codes else texts


def test_worlds_at_once_answer_as_one_by_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(folder, "apriori_supports", ODD[::4], monkeypatch)


def test_columns_may_have_the_name_of_the_number_of_the_world(tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.anondb"
    with duckdb.connect(config={"threads": 1}) as con:
        con.execute("CREATE TABLE sales AS SELECT r AS anondb_world, unnest(['milk', 'bread']) AS item FROM range(60) t(r)")
        release = anondb.connect(con).anonymize("sales", id="anondb_world", item="item", model=KM, algorithm="similar")
        release.publish(sealed)
    with anondb.open(sealed, threads=1) as session:
        sql = "SELECT count(DISTINCT anondb_world) AS n FROM sales WHERE item = 'milk'"
        assert session.sql(sql).fetchall() == [(60.0, 60, 60)]


def test_tables_may_have_the_name_of_the_numbers_of_holders(folder: Path) -> None:
    with asked("apriori_supports", folder) as (session, _):
        session.register("anondb_holders", pd.DataFrame({"item": ["milk"], "x": [5]}))
        milk, milks = (
            session.sql(f"SELECT {number} AS n FROM {source}").fetchall()
            for number, source in (
                ("5 * count(*)", "sales WHERE item = 'milk'"),
                ("sum(x)", "anondb_holders JOIN sales USING (item)"),
            )
        )
        assert milk == milks


def test_a_random_number_is_another_one_in_each_row(folder: Path) -> None:
    with asked("apriori_supports", folder) as (session, _):
        every = session.sql("SELECT count(*) AS n FROM sales WHERE item = 'milk'").fetchall()[0]
        some = session.sql("SELECT count(*) AS n FROM sales WHERE item = 'milk' AND random() < 0.5").fetchall()[0]
    assert 0 < some[0] < every[1]


@pytest.mark.slow
@pytest.mark.parametrize("release", some(KINDS, next(iter(KINDS)), check=()))
def test_worlds_at_once_answer_as_one_by_one_in_all_kinds(
    folder: Path, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(folder, release, written(release, 12), monkeypatch)


@pytest.mark.nightly
@pytest.mark.parametrize("release", KINDS)
def test_worlds_at_once_answer_all_queries_as_one_by_one(
    folder: Path, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(folder, release, written(release, 1), monkeypatch)
