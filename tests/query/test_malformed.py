# ruff: noqa: E501
"""Random queries, damaged: what DuckDB refuses on the original is refused, and what is answered holds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
from query.sealing import Sessions
from query.small import release, untouched
from query.test_differential import TRANSACTIONS, Analyst
from sqlglot.dialects.duckdb import DuckDB

from anondb.engine import Engine
from anondb.errors import InputError

WORDS = [
    "CROSS JOIN", "JOIN", "LEFT JOIN", "NATURAL JOIN", "ASOF JOIN", "ON", "USING (tid)", "USING (item)", "WHERE", "GROUP BY tid",
    "GROUP BY item", "GROUP BY 1", "GROUP BY ALL", "ORDER BY 1", "HAVING count(*) > 1", "DISTINCT", "AND", "OR", "NOT", "IN", "=",
    "<>", "IS NULL", "LIKE", "(", ")", ",", "1", "2.5", "'milk'", "'1'", "NULL", "true", "t", "t a", "a.item", "tid", "item", "b.tid",
    "*", "count(*)", "count(DISTINCT tid)", "count(tid, item)", "count(DISTINCT *)", "sum(item)", "[1]", "['milk']", "ANY(['milk'])",
    "LIMIT 1", "UNION", "EXISTS", "AS x", "FILTER (WHERE item = 'milk')", "OVER ()", "BETWEEN", "DATE '2001-01-01'", "::INTEGER",
    "CASE WHEN", "END", "SELECT", "FROM", "SELECT count(*) FROM t", "rowid", "t.*", "x", "''", "'[milk]'", "list_contains(item, 'milk')",
    "list_contains(['milk'], item)", "list_contains(item, 1)", "item = 1", "item IN (1, 'milk')", "tid = item", "tid = 'milk'",
]  # fmt: skip
WHOLE = [
    "SELECT count(*) FROM t a CROSS JOIN t b ON a.tid = b.tid WHERE a.item = 'milk' AND b.item = 'beer'",
    "SELECT count(DISTINCT a.tid) FROM t a CROSS JOIN t b USING (tid)", "SELECT count(*) FROM t WHERE item = 1",
    "SELECT count(*) FROM t WHERE item IN (1, 2)", "SELECT count(*) FROM t WHERE list_contains(item, 5)",
    "SELECT count(*) FROM t WHERE list_has_any(item, [1])", "SELECT count(*) FROM t WHERE item IN ('milk', 1)",
    "SELECT count(DISTINCT a.tid) FROM t a SEMI JOIN t b ON a.tid = b.tid WHERE b.item = 'milk'",
    "SELECT count(DISTINCT tid) FROM t a JOIN t b ON a.tid = b.tid WHERE a.item = 'milk'",
    "SELECT count(DISTINCT a.tid) FROM t a JOIN t a ON a.tid = a.tid", "SELECT count(*) FROM t WHERE 1 IN item",
    "SELECT item, count(*) FROM t GROUP BY tid", "SELECT count(*) FROM t WHERE item = 'milk' AND 1 = ANY(item)",
    "SELECT count(*) FROM (SELECT tid FROM t UNION SELECT tid, item FROM t)", "SELECT count(*) FROM t a, t a WHERE a.item = 'milk'",
    "SELECT count(*) FROM t WHERE (SELECT tid FROM t) = tid", "SELECT count(*) FROM t WHERE item LIKE 1",
]  # fmt: skip


ALIKE = [
    ["AND", "OR", "AND NOT", "OR NOT", ","], ["=", "<>", "IS NOT DISTINCT FROM", "<", "LIKE", "IN", "^@", ">="], ["tid", "item", "p", "rowid"],
    ["JOIN", "CROSS JOIN", "LEFT JOIN", "SEMI JOIN", "ANTI JOIN", "NATURAL JOIN", ",", "POSITIONAL JOIN", "RIGHT JOIN"], ["ON", "USING", "WHERE"],
    ["UNION", "INTERSECT", "EXCEPT", "UNION ALL", "UNION BY NAME"], ["count", "sum", "bool_or", "count_if", "any_value"],
    ["'milk'", "1", "'1'", "NULL", "''", "item", "['milk']", "2.5", "true", "tid", "'[milk]'"], ["*", "1", "tid", "item", "DISTINCT item", "NULL"],
    ["1", "0", "2", "'1'", "-1", "1.5", "NULL", "tid"],
]  # fmt: skip


def damaged(sql: str, draw: random.Random) -> str:
    """The query with one to three words left out, doubled, moved or replaced by others."""
    words = [sql[token.start : token.end + 1] for token in DuckDB().tokenize(sql)]
    for _ in range(draw.choice([1, 1, 1, 2])):
        place = draw.randrange(len(words))
        how = draw.random()
        alike = [group for group in ALIKE if words[place] in group or (words[place][0] == "'" and "'milk'" in group)]
        if alike and draw.random() < 0.8:
            words[place] = draw.choice(draw.choice(alike))
        elif how < 0.2:
            words[place] = draw.choice(WORDS)
        elif how < 0.5:
            words.insert(place, draw.choice(WORDS))
        elif how < 0.75 and len(words) > 1:
            del words[place]
        else:
            words[place] = draw.choice(words)
    return " ".join(words).replace(" . ", ".")


@pytest.fixture(scope="module")
def original() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as rows:
        rows.execute("CREATE TABLE t (tid INTEGER, item VARCHAR)")
        rows.executemany("INSERT INTO t VALUES (?, ?)", [(n, i) for n, t in enumerate(TRANSACTIONS, 1) for i in t])
        yield rows


LENIENT = 0.012


@pytest.mark.parametrize(
    ("seed", "queries"),
    [(0, 100), pytest.param(2, 300, marks=pytest.mark.slow), pytest.param(1, 30_000, marks=pytest.mark.nightly)],
)
def test_what_duckdb_refuses_is_refused(
    engine: Engine, asked: Sessions, original: duckdb.DuckDBPyConnection, seed: int, queries: int
) -> None:
    """A session reads some texts that DuckDB's parser refuses, such as [1, , 2]: at most the share ``LENIENT``."""
    schema = release(engine, TRANSACTIONS, untouched(TRANSACTIONS), "malformed")
    answer_of = asked(engine, schema).answer
    analyst, seen = Analyst(seed), Counter[str]()
    for number in range(queries):
        draw = analyst.draw
        sql = WHOLE[number] if number < len(WHOLE) else damaged(analyst.count(), draw)
        try:
            answer = answer_of(sql)
        except InputError as error:
            assert error.code in ("unsupported_query", "bad_sql", "query_too_complex", "ambiguous_item"), sql
            seen["refused"] += 1
            continue
        try:
            truth = original.execute(sql).fetchall()
        except duckdb.ParserException:
            seen["lenient"] += 1
            continue
        except duckdb.Error as refusal:
            raise AssertionError(f"DuckDB refuses what was answered: {sql}") from refusal
        if not answer.columns and truth[0][0] is not None:
            assert answer.bounds[0] <= truth[0][0] <= answer.bounds[2], sql
        seen["answered"] += 1
    assert seen["answered"] > queries / 50 and seen["lenient"] <= LENIENT * queries, seen
