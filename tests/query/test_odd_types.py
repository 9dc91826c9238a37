# ruff: noqa: E501
"""Columns of every type: refused when the release is made, or every answer holds; what DuckDB refuses is refused."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import count
from typing import Any

import duckdb
import pytest

import anondb
from anondb.errors import AnondbError, InputError
from anondb.release.manifest import types_of

INTEGERS = [
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
]
TYPES: dict[str, list[str]] = {
    **{kind: ["1", "5", "17", "100"] for kind in INTEGERS},
    "FLOAT": ["1.1", "1", "2.5", "-0.0"],
    "DOUBLE": ["1.1", "1", "2.5", "0.3"],
    "DECIMAL(5,2)": ["1", "1.1", "2.25", "-3"],
    "DECIMAL(18,0)": ["1", "5", "17"],
    "BOOLEAN": ["true", "false"],
    "DATE": ["2001-02-03", "2001-02-05", "1999-12-31"],
    "TIMESTAMP": ["2001-02-03 10:00:00", "2001-02-05", "1999-12-31 00:00:00.5"],
    "TIMESTAMP_S": ["2001-02-03 10:00:00", "2001-02-05"],
    "TIMESTAMP_MS": ["2001-02-03 10:00:00.25", "2001-02-05"],
    "TIMESTAMP_NS": ["2001-02-03 10:00:00.000000001", "2001-02-03 10:00:00"],
    "TIMESTAMPTZ": ["2001-02-03 10:00:00+00", "2001-02-05 00:00:00+02"],
    "TIME": ["10:00:00", "10:00:00.5"],
    "TIMETZ": ["10:00:00+00", "12:00:00+02"],
    "INTERVAL": ["1 day", "24 hours", "1 month"],
    "UUID": ["aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa", "123e4567-e89b-12d3-a456-426614174000"],
    "BLOB": ["abc", "\\xAA", "1"],
    "BIT": ["1", "01", "101"],
    "ENUM('a', 'A', 'a ')": ["a", "A", "a "],
    "VARCHAR": ["a", "A", "a ", " a", ""],
    "CHAR(5)": ["a", "a    ", "abcde"],
    "VARCHAR /* digits */": ["1", "5", "17"],
    "VARCHAR /* codes */": ["1", "01", "1.0"],
    "VARCHAR /* dates */": ["2001-02-03", "2001-02-05"],
    "JSON": ["1", '"a"', '{"a": 1}', '{"a":1}'],
    "STRUCT(a INTEGER)": ["{'a': 1}", "{'a': 2}"],
    "MAP(VARCHAR, INTEGER)": ["{a=1}", "{b=2}"],
    "UNION(a INTEGER, b VARCHAR)": ["1", "x"],
    "INTEGER[]": ["[1, 2]", "[]"],
    "INTEGER[2]": ["[1, 2]", "[2, 3]"],
    "VARIANT": ["1", "a"],
    "GEOMETRY": ["POINT (1 2)", "POINT (2 1)"],
}  # fmt: skip
SPELLINGS = ["{}", "{}", "{}", " {}", "0{}", "+{}", "{}.0", "{}0", "{} ", "{}e0"]
OTHERS = ["'milk'", "''", "'300'", "'-5'", "'true'", "'t'", "'infinity'", "'nan'", "'01'", "'1.00'", "'1.1'", "'[1, 2]'", "'\\xaa'", "'{a: 1}'", "'1 day'",
          "'2001-02-03'", "'2001-2-3'", "'10:00'", "'AAAAAAAA-AAAA-AAAA-AAAA-AAAAAAAAAAAA'"]  # fmt: skip
BARE = [
    "1",
    "5",
    "-5",
    "1.1",
    "1.10",
    "2.25",
    "300",
    "true",
    "DATE '2001-02-03'",
    "TIMESTAMP '2001-02-03 10:00:00'",
    "NULL",
    "TIMESTAMP '2001-02-03 10:00:00.4'",
    "2",
    "1.10000001",
]


@dataclass
class Asker:
    """Questions about a column of a type, with literals of several writings and types."""

    draw: random.Random
    values: list[str]

    def literal(self) -> str:
        chance = self.draw.random()
        if chance < 0.6:
            text = self.draw.choice(SPELLINGS).format(self.draw.choice(self.values))
            text = self.draw.choice([text, text, text.upper()])
            return "'" + text.replace("'", "''") + "'"
        return self.draw.choice(OTHERS if chance < 0.8 else BARE)

    def of_value(self, column: str) -> str:
        """A condition on a column of single values."""
        one, two, three = (self.literal() for _ in range(3))
        return self.draw.choice([
            f"{column} = {one}", f"{column} = {one}", f"{two} = {column}", f"{column} <> {one}", f"{column} IN ({one}, {two})",
            f"{column} NOT IN ({one}, {two})", f"{column} IS DISTINCT FROM {one}", f"{column} IS NOT DISTINCT FROM {one}",
            f"NOT ({column} = {one} OR {column} = {two})", f"{column} LIKE '1%'", f"{column} ILIKE 'A%'", f"{column} LIKE {one}",
            f"starts_with({column}, '1')", f"contains({column}, 'a')", f"{column} = ANY([{one}, {two}])", f"{one} IN {column}",
            f"list_contains([{one}, {two}], {column})", f"{column} > {one}", f"{column} <= {one}", f"{column} BETWEEN {one} AND {two}",
            f"CAST({column} AS VARCHAR) = {one}", f"{column}::INTEGER = 1", f"{column} = CAST({one} AS VARCHAR)", f"{column} IS NULL",
            f"{column} IN ({one}, {two}, {three})", f"{column} IN [{one}, {two}]", column,
        ])  # fmt: skip

    def of_list(self, column: str) -> str:
        """A condition on a column of lists."""
        one, two = self.literal(), self.literal()
        return self.draw.choice([
            f"list_contains({column}, {one})", f"NOT list_contains({column}, {one})", f"list_has_any({column}, [{one}, {two}])",
            f"list_has_all({column}, [{one}, {two}])", f"{one} = ANY({column})", f"{one} <> ALL({column})", f"{one} IN {column}",
            f"{column} @> [{one}]", f"{column} <@ [{one}, {two}]", f"{column} IS NULL", f"{column} = {one}", f"{column} = [{one}]",
            f"contains({column}, {one})", f"len({column}) = 2", f"{column}[1] = {one}", f"list_contains({column}, {one}) IS NOT TRUE",
        ])  # fmt: skip

    def whole(self, role: str) -> str:
        """A whole query."""
        table = "people" if role == "attribute" else "t"
        condition = self.of_list if role == "list" else self.of_value
        column = "v" if role == "attribute" else "item"
        where, chance = condition(column), self.draw.random()
        if chance < 0.3:
            where = f"{where} {self.draw.choice(['AND', 'OR', 'AND NOT'])} {condition(column)}"
        if chance > 0.9 and role == "rows":
            having = self.draw.choice([f"bool_or({where})", "count(*) >= 2", f"count(*) FILTER (WHERE {where}) = 1"])
            return f"SELECT count(*) FROM (SELECT tid FROM t GROUP BY tid HAVING {having})"
        if chance > 0.8 and role != "list":
            return (
                f"SELECT count(*) FROM {table} WHERE tid NOT IN (SELECT tid FROM {table} WHERE {where})"
                if role == "attribute"
                else f"SELECT count(DISTINCT tid) FROM t WHERE item IS NOT NULL AND tid NOT IN (SELECT tid FROM t WHERE {where})"
            )
        return f"SELECT count({self.draw.choice(['*', 'DISTINCT tid'])}) FROM {table} WHERE {where}"


def original(kind: str, role: str, draw: random.Random) -> tuple[anondb.Database, list[str]] | None:
    """Ten persons with values of a type, each of which several have; None where DuckDB has no such type or value."""
    database = anondb.connect(threads=1)
    connection = database.engine.connection
    values = [f"CAST('{v.replace(chr(39), chr(39) * 2)}' AS {kind})" for v in TYPES[kind]]
    try:
        if role == "list":
            connection.execute(f"CREATE TABLE t (tid INTEGER, item {kind.partition(' /')[0]}[])")
        else:
            connection.execute(f"CREATE TABLE t (tid INTEGER, item {kind if role == 'rows' else 'VARCHAR'})")
        connection.execute(f"CREATE TABLE people (tid INTEGER, v {kind if role == 'attribute' else 'VARCHAR'})")
        for tid in range(12):
            held = draw.sample(values, draw.randint(1, len(values)))
            if role == "list":
                shown = (
                    draw.choice(["NULL", f"CAST([] AS {kind.partition(' /')[0]}[])"]) if tid > 9 else f"[{', '.join(held)}]"
                )
                connection.execute(f"INSERT INTO t VALUES ({tid}, {shown})")
            for value in held if role == "rows" else ["'x'"] if role == "attribute" else []:
                connection.execute(f"INSERT INTO t VALUES ({tid}, {value})")
            value = draw.choice([*values, *values, "NULL"]) if role == "attribute" else "'x'"
            connection.execute(f"INSERT INTO people VALUES ({tid}, {value})")
    except duckdb.Error:
        database.close()
        return None
    texts = [
        row[0]
        for row in connection.execute(
            f"SELECT DISTINCT CAST(x AS VARCHAR) FROM (VALUES {', '.join(f'({v})' for v in values)}) v(x)"
        ).fetchall()
    ]
    return database, [*texts, *TYPES[kind]]


def released(database: anondb.Database, kind: str, role: str, draw: random.Random) -> Any:
    """A release of it, or None where it is refused with a typed error."""
    try:
        if role == "attribute":
            given = {"records": "people", "quasi_identifiers": "v" if draw.random() < 0.6 else "v:categorical"}
            return database.anonymize("t", model=anondb.KkmAnonymity(k=2, m=1), name="r", queries=1, **given)  # type: ignore[arg-type]
        k = draw.choice([1, 1, 3])
        return database.anonymize("t", model=anondb.KmAnonymity(k=k, m=1), name="r", queries=1, max_suppression=100)
    except AnondbError as error:
        assert isinstance(error, InputError) and error.code in ("bad_type", "bad_number", "bad_date", "direct_identifier"), (
            kind,
            role,
            error,
        )
        return None


def twins(connection: duckdb.DuckDBPyConnection, role: str, manifest: dict[str, str]) -> list[duckdb.DuckDBPyConnection]:
    """Other originals that the same release may come from, as far as a reader can tell: of the types and the layout that its
    manifest names."""
    listed = "list(x) FILTER (x IS NOT NULL)"
    rows = (
        "SELECT tid, CAST(unnest(item) AS VARCHAR) AS x FROM t"
        if role == "list"
        else "SELECT tid, CAST(item AS VARCHAR) AS x FROM t"
    )
    if role == "list":
        rows += " UNION ALL SELECT tid, NULL FROM t WHERE item IS NULL OR len(item) = 0"
    found: list[duckdb.DuckDBPyConnection] = []
    numbers, home = count(), duckdb.connect()  # opening a database takes longer than all the rest
    for kind in (types_of(manifest)["v" if role == "attribute" else "item"],):
        for form in (
            f"SELECT tid, CAST({listed} AS {kind}[]) AS item FROM rows GROUP BY tid"
            if manifest["layout"] == "lists"
            else f"SELECT tid, CAST(x AS {kind}) AS item FROM rows WHERE x IS NOT NULL",
        ):
            twin, place = home.cursor(), f"twin_{next(numbers)}"
            twin.execute(f"CREATE SCHEMA {place}; USE {place}")
            try:
                twin.register("rows_given", connection.sql(rows).to_arrow_table())
                twin.register(
                    "people_given", connection.sql("SELECT tid, CAST(v AS VARCHAR) AS v FROM people").to_arrow_table()
                )
                twin.execute("CREATE TABLE rows AS FROM rows_given")
                twin.execute(
                    f"CREATE TABLE people AS SELECT tid, CAST(v AS {kind if role == 'attribute' else 'VARCHAR'}) AS v FROM people_given"
                )
                twin.execute(f"CREATE TABLE t AS {form if role != 'attribute' else 'SELECT tid, x AS item FROM rows'}")
                column, table = ("v", "people_given") if role == "attribute" else ("x", "rows_given")
                other = f"SELECT count(*) FROM {table} WHERE CAST(CAST({column} AS {kind}) AS VARCHAR) <> {column}"
                if role == "attribute" and kind == "VARCHAR":  # texts are read as dates only where they are written so
                    other = "SELECT count(*) FROM people_given WHERE regexp_matches(v, '^[0-9]{4}-.*:')"
                if role == "attribute" and kind.startswith(("DECIMAL", "DOUBLE")):  # as numbers, if they are plain ones
                    other = f"SELECT count(*) FROM people_given WHERE NOT regexp_full_match({column}, '-?(0|[1-9][0-9]*)(\\.[0-9]{{1,2}})?')"
                if twin.execute(other).fetchall() != [(0,)]:
                    continue
            except duckdb.Error:
                continue
            found.append(twin)
    return found


# One of each sort of type: those that items may be told to have, those of attributes, and some that are refused.
SORTS = [
    *("TINYINT", "UBIGINT", "DECIMAL(5,2)", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMPTZ", "TIME"),
    *("UUID", "ENUM('a', 'A', 'a ')", "VARCHAR", "VARCHAR /* codes */", "VARCHAR /* dates */", "BLOB"),
]


@pytest.mark.parametrize(
    ("kinds", "seeds", "queries"),
    [
        pytest.param(SORTS[::16], range(1), 2, id="some"),
        pytest.param(SORTS[1::4] + SORTS[8::16], range(1), 3, id="others", marks=pytest.mark.slow),
        *(pytest.param(list(TYPES)[n::4], range(1), 40, id=f"all-{n}", marks=pytest.mark.nightly) for n in range(4)),
        pytest.param(list(TYPES), range(1, 6), 100, id="often", marks=pytest.mark.nightly),
    ],
)
def test_bounds_of_every_type(kinds: list[str], seeds: range, queries: int) -> None:
    seen: Counter[str] = Counter()
    taken: set[tuple[str, str]] = set()
    for seed in seeds:
        for kind in kinds:
            for role in ("rows", "list", "attribute"):
                draw = random.Random(f"{seed} {kind} {role}")
                made = original(kind, role, draw)
                release = None if made is None else released(made[0], kind, role, draw)
                if made is None or release is None:
                    seen["refused columns" if made else "no such type"] += 1
                    continue
                taken.add((kind, role))
                connection = made[0].engine.connection
                asker, others = Asker(draw, made[1]), twins(connection, role, release.manifest)
                for _ in range(queries):
                    seen[one_question([connection, *others], release, asker.whole(role), kind, role)] += 1
                made[0].close()
    print(dict(seen), sorted(taken))
    assert seen["answered"] >= len(kinds) * len(seeds) * queries // 5 and seen["refused"] > seen["answered"] / 10
    assert seen["answered, although DuckDB refuses it"] <= seen["answered"] / 10


def one_question(originals: list[duckdb.DuckDBPyConnection], release: Any, sql: str, kind: str, role: str) -> str:
    """Ask all originals and the release: how it went, or an error where the answer does not hold for one of them."""
    try:
        answer = release.query(sql if role != "attribute" else sql.replace("people", "records"))
    except InputError as error:
        assert error.code in ("unsupported_query", "bad_sql", "ambiguous_item", "query_too_complex"), (kind, role, sql)
        return "refused"
    low, _, high = answer.bounds
    if low is None and high is None:
        return "refused"  # no rule reads it
    took = []
    for connection in originals:
        try:
            (truth,) = connection.execute(sql).fetchall()[0]
        except duckdb.Error:
            took.append(False)
            continue
        took.append(True)
        assert low <= truth <= high, (kind, role, sql, truth, answer.bounds, len(took) - 1)
    if not any(took):  # a session takes an attribute without ends for texts
        assert role == "attribute", (kind, role, sql, "DuckDB refuses it for every original")
        return "answered, although DuckDB refuses it"
    return "answered" if took[0] else "answered, as other originals would"
