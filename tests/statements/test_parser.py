"""The grammar of anonymized views: what is accepted, what is refused, and where."""

from __future__ import annotations

import random
from typing import Any

import duckdb
import pytest
import sqlglot
from each import each
from sqlglot import exp

from anondb.engine import Engine, Table
from anondb.errors import InputError
from anondb.options import check_option, view_options
from anondb.release.objects import release_schema
from anondb.statements.parser import parse
from anondb.statements.statement import (
    CreateView,
    DescribeView,
    DropView,
    OnView,
    Ordinary,
    RefreshAll,
    RefreshView,
    RenameView,
    ShowViews,
    Statement,
)
from anondb.statements.tokens import plain_table
from anondb.views.script import prepare

SINCE_2 = int(duckdb.__version__.partition(".")[0]) >= 2


def render(statement: OnView | RefreshAll | ShowViews) -> str:
    """The text of a statement; parsing it gives the statement again."""
    if isinstance(statement, RefreshAll):
        return "REFRESH ALL ANONYMIZED VIEWS"
    if isinstance(statement, ShowViews):
        like = "" if statement.like is None else f" LIKE {exp.convert(statement.like).sql(dialect='duckdb')}"
        return f"SHOW ANONYMIZED VIEWS{like}" + (" WITH (status = true)" if statement.status else "")
    name = ".".join(quoted(part) for part in (*statement.place, statement.name))
    if isinstance(statement, RefreshView):
        ending = " WITH (late_rows = 'ignore')" if statement.ignore_late_rows else ""
        return f"REFRESH ANONYMIZED VIEW {name}{ending}"
    if isinstance(statement, DropView):
        return f"DROP ANONYMIZED VIEW {'IF EXISTS ' * statement.if_exists}{name}"
    if isinstance(statement, RenameView):
        return f"ALTER ANONYMIZED VIEW {name} RENAME TO {quoted(statement.new_name)}"
    if isinstance(statement, DescribeView):
        return f"{'SHOW CREATE' if statement.statement else 'DESCRIBE'} ANONYMIZED VIEW {name}"
    head, _, rest = statement.text.partition(f" VIEW {quoted(statement.name)} AS")
    if statement.replace:
        head = head.replace("CREATE", "CREATE OR REPLACE")
    return f"{head} VIEW {'IF NOT EXISTS ' * statement.if_not_exists}{name} AS{rest}"


def quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")


HEAD = "CREATE ANONYMIZED VIEW v AS "
GOOD: list[tuple[str, Statement]] = [
    ("SHOW ANONYMIZED VIEWS", ShowViews()),
    ("show anonymized views", ShowViews()),
    ("SHOW ANONYMIZED VIEWS WITH (status = true)", ShowViews(status=True)),
    ("SHOW ANONYMIZED VIEWS WITH (status = false)", ShowViews()),
    ("REFRESH ANONYMIZED VIEW spring", RefreshView("spring")),
    ("refresh Anonymized view Spring", RefreshView("Spring")),
    ('REFRESH ANONYMIZED VIEW "a ""b"" c"', RefreshView('a "b" c')),
    ('REFRESH ANONYMIZED VIEW "select"', RefreshView("select")),
    ("REFRESH ANONYMIZED VIEW view", RefreshView("view")),
    ("REFRESH ANONYMIZED VIEW replace", RefreshView("replace")),
    ("REFRESH ANONYMIZED VIEW été", RefreshView("été")),
    ("SHOW ANONYMIZED VIEWS LIKE 'week%'", ShowViews(like="week%")),
    ("SHOW ANONYMIZED VIEWS LIKE 'it''s' WITH (status = true)", ShowViews(True, like="it's")),
    ("REFRESH ALL ANONYMIZED VIEWS", RefreshAll()),
    ("REFRESH ANONYMIZED VIEW w WITH (late_rows = 'ignore')", RefreshView("w", True)),
    ("REFRESH ANONYMIZED VIEW w WITH (LATE_ROWS = 'refuse')", RefreshView("w")),
    ("ALTER ANONYMIZED VIEW a RENAME TO b", RenameView("a", "b")),
    ("alter anonymized view main.a rename to main.b", RenameView("a", "b", place=("main",))),
    ("DESCRIBE ANONYMIZED VIEW spring", DescribeView("spring")),
    ("desc anonymized view spring", DescribeView("spring")),
    ("SHOW CREATE ANONYMIZED VIEW shop.main.spring", DescribeView("spring", True, place=("shop", "main"))),
    ('REFRESH ANONYMIZED VIEW main."a.b"', RefreshView("a.b", place=("main",))),
    (
        "CREATE ANONYMIZED VIEW IF NOT EXISTS shop.v AS FROM s",
        CreateView("v", "FROM s", {}, if_not_exists=True, place=("shop",)),
    ),
    (HEAD + 'SELECT "limit", sample FROM s', CreateView("v", 'SELECT "limit", sample FROM s', {})),
    ("DROP ANONYMIZED VIEW spring", DropView("spring")),
    ("DROP ANONYMIZED VIEW IF EXISTS spring", DropView("spring", if_exists=True)),
    ("DROP/**/ANONYMIZED -- x\n VIEW\n\tspring", DropView("spring")),
    ('DROP ANONYMIZED VIEW "a.b;c--"', DropView("a.b;c--")),
    (HEAD + "SELECT tid, item FROM s", CreateView("v", "SELECT tid, item FROM s", {})),
    (HEAD + "FROM s", CreateView("v", "FROM s", {})),
    (HEAD + "TABLE s", CreateView("v", "TABLE s", {})),
    (HEAD + "VALUES (1, 'a')", CreateView("v", "VALUES (1, 'a')", {})),
    (HEAD + "(SELECT 1)", CreateView("v", "(SELECT 1)", {})),
    ("CREATE OR REPLACE ANONYMIZED VIEW v AS FROM s", CreateView("v", "FROM s", {}, replace=True)),
    (HEAD + "FROM s WITH (k = 5)", CreateView("v", "FROM s", {"k": 5})),
    (HEAD + "FROM s WITH (K = 5, M = 'inf')", CreateView("v", "FROM s", {"k": 5, "m": "inf"})),
    (HEAD + "FROM s WITH (\"k\" = +5, m=3)", CreateView("v", "FROM s", {"k": 5, "m": 3})),
    (HEAD + "FROM s WITH (taxonomy = 'it''s; (a)')", CreateView("v", "FROM s", {"taxonomy": "it's; (a)"})),
    (HEAD + "FROM s WITH (taxonomy = $$a'b$$)", CreateView("v", "FROM s", {"taxonomy": "a'b"})),
    (HEAD + "FROM s WITH (max_suppression = 2.5)", CreateView("v", "FROM s", {"max_suppression": 2.5})),
    (HEAD + "FROM s WITH (max_suppression = '1/3')", CreateView("v", "FROM s", {"max_suppression": "1/3"})),
    (HEAD + "FROM s WITH (publish = 'x.duckdb')", CreateView("v", "FROM s", {"publish": "x.duckdb"})),
    (
        HEAD + "FROM s WITH (draw = 'all', seed = 3, queries=10, size=2)",
        CreateView("v", "FROM s", {"draw": "all", "seed": 3, "queries": 10, "size": 2}),
    ),
    (
        HEAD + "WITH a AS (FROM s), b AS (FROM a) SELECT * FROM b WITH (k = 2)",
        CreateView("v", "WITH a AS (FROM s), b AS (FROM a) SELECT * FROM b", {"k": 2}),
    ),
    (
        HEAD + "SELECT * FROM (WITH a AS (FROM s) FROM a) AS x -- WITH (k = 9)\n WITH (k = 2);",
        CreateView("v", "SELECT * FROM (WITH a AS (FROM s) FROM a) AS x", {"k": 2}),
    ),
    (
        HEAD + "SELECT tid, 'WITH (k = 3); x' AS item FROM s WITH (k = 2)",
        CreateView("v", "SELECT tid, 'WITH (k = 3); x' AS item FROM s", {"k": 2}),
    ),
    (
        HEAD + "SELECT tid, list(item) AS item FROM s JOIN c USING (tid) WHERE age > 3 GROUP BY ALL WITH (k = 2)",
        CreateView("v", "SELECT tid, list(item) AS item FROM s JOIN c USING (tid) WHERE age > 3 GROUP BY ALL", {"k": 2}),
    ),
    (
        HEAD + "FROM a UNION ALL BY NAME FROM b EXCEPT FROM c",
        CreateView("v", "FROM a UNION ALL BY NAME FROM b EXCEPT FROM c", {}),
    ),
    (
        HEAD + "SELECT t AT TIME ZONE 'UTC', x::TIMESTAMP WITH TIME ZONE FROM s",
        CreateView("v", "SELECT t AT TIME ZONE 'UTC', x::TIMESTAMP WITH TIME ZONE FROM s", {}),
    ),
    (
        HEAD + "SELECT unnest(l) WITH ORDINALITY FROM s WITH (k=1)",
        CreateView("v", "SELECT unnest(l) WITH ORDINALITY FROM s", {"k": 1}),
    ),
]  # fmt: skip

# text, code, line, column
BAD: list[tuple[str, str, int, int]] = [
    ("CREATE ANONYMIZED", "syntax_error", 1, 18),
    ("CREATE ANONYMIZED TABLE v AS FROM s", "syntax_error", 1, 19),
    ("CREATE OR REPLACE ANONYMIZED v AS FROM s", "syntax_error", 1, 30),
    ("CREATE ANONYMIZED VIEW", "syntax_error", 1, 23),
    ("CREATE ANONYMIZED VIEW AS FROM s", "syntax_error", 1, 24),
    ("CREATE ANONYMIZED VIEW 'v' AS FROM s", "syntax_error", 1, 24),
    ("CREATE ANONYMIZED VIEW 1a AS FROM s", "syntax_error", 1, 24),
    ('CREATE ANONYMIZED VIEW "" AS FROM s', "bad_name", 1, 24),
    ("CREATE ANONYMIZED VIEW select AS FROM s", "syntax_error", 1, 24),
    ("CREATE ANONYMIZED VIEW a. AS FROM s", "syntax_error", 1, 27),
    ("CREATE ANONYMIZED VIEW a.b.c.d AS FROM s", "syntax_error", 1, 30),
    ("CREATE ANONYMIZED VIEW v", "syntax_error", 1, 25),
    ("CREATE ANONYMIZED VIEW v FROM s", "syntax_error", 1, 26),
    ("CREATE ANONYMIZED VIEW v WITH (k = 5) AS FROM s", "syntax_error", 1, 26),
    ("CREATE ANONYMIZED VIEW v (a) AS FROM s", "syntax_error", 1, 26),
    ("CREATE ANONYMIZED VIEW IF NOT v AS FROM s", "syntax_error", 1, 31),
    ("CREATE OR REPLACE ANONYMIZED VIEW IF NOT EXISTS v AS FROM s", "syntax_error", 1, 35),
    (HEAD + "FROM s LIMIT 3", "syntax_error", 1, 36),
    (HEAD + "FROM s ORDER BY tid OFFSET 3", "syntax_error", 1, 49),
    (HEAD + "SELECT * FROM (FROM s FETCH FIRST 3 ROWS ONLY)", "syntax_error", 1, 51),
    (HEAD + "FROM s USING SAMPLE 3", "syntax_error", 1, 36),
    (HEAD + "FROM s TABLESAMPLE 10%", "syntax_error", 1, 36),
    (HEAD + "FROM s\nWHERE week < getvariable('now')", "syntax_error", 2, 14),
    (HEAD + "FROM s WHERE random() < 0.5", "syntax_error", 1, 42),
    (HEAD + "FROM release_V.transactions", "syntax_error", 1, 34),
    (HEAD + 'FROM shop."release_v".baskets', "syntax_error", 1, 39),
    ("REFRESH ALL ANONYMIZED VIEW", "syntax_error", 1, 24),
    ("REFRESH ALL ANONYMIZED VIEWS x", "syntax_error", 1, 30),
    ("REFRESH ANONYMIZED VIEW w WITH (k = 2)", "unknown_option", 1, 33),
    ("REFRESH ANONYMIZED VIEW w WITH (late_rows = 'no')", "bad_parameter", 1, 45),
    ("ALTER ANONYMIZED VIEW a RENAME b", "syntax_error", 1, 32),
    ("ALTER ANONYMIZED VIEW a RENAME TO other.b", "syntax_error", 1, 35),
    ("ALTER ANONYMIZED VIEW a RENAME TO", "syntax_error", 1, 34),
    ("DESCRIBE ANONYMIZED VIEW", "syntax_error", 1, 25),
    ("SHOW CREATE ANONYMIZED TABLE v", "syntax_error", 1, 24),
    ("SHOW ANONYMIZED VIEWS LIKE week", "syntax_error", 1, 28),
    ("CREATE ANONYMIZED VIEW v AS", "syntax_error", 1, 28),
    ("CREATE ANONYMIZED VIEW v AS WITH (k = 5)", "syntax_error", 1, 29),
    (HEAD + "FROM s)", "syntax_error", 1, 35),
    (HEAD + "FROM (s", "syntax_error", 1, 36),
    (HEAD + "FROM s WITH", "syntax_error", 1, 40),
    (HEAD + "FROM s WITH (", "syntax_error", 1, 42),
    (HEAD + "FROM s WITH ()", "syntax_error", 1, 42),
    (HEAD + "FROM s WITH (k", "syntax_error", 1, 43),
    (HEAD + "FROM s WITH (k)", "syntax_error", 1, 43),
    (HEAD + "FROM s WITH (k 5)", "syntax_error", 1, 44),
    (HEAD + "FROM s WITH (k = )", "syntax_error", 1, 46),
    (HEAD + "FROM s WITH (k = 5", "syntax_error", 1, 47),
    (HEAD + "FROM s WITH (k = 5,)", "syntax_error", 1, 48),
    (HEAD + "FROM s WITH (k = 5 m = 2)", "syntax_error", 1, 48),
    (HEAD + "FROM s WITH (k = 5, k = 6)", "syntax_error", 1, 49),
    (HEAD + "FROM s WITH (k = 5) x", "syntax_error", 1, 49),
    (HEAD + "FROM s WITH (k = 5) WITH (m = 2)", "syntax_error", 1, 49),
    (HEAD + "FROM s WITH (model = km)", "syntax_error", 1, 50),
    (HEAD + "FROM s WITH (k = NULL)", "syntax_error", 1, 46),
    (HEAD + "FROM s WITH (k = -'5')", "syntax_error", 1, 47),
    (HEAD + "FROM s WITH (k = (5))", "syntax_error", 1, 46),
    (HEAD + "FROM s WITH ('k' = 5)", "syntax_error", 1, 42),
    (HEAD + "FROM s WITH (k = '5')", "bad_parameter", 1, 46),
    (HEAD + "FROM s WITH (k = 5.5)", "bad_parameter", 1, 46),
    (HEAD + "FROM s WITH (k = true)", "bad_parameter", 1, 46),
    (HEAD + "FROM s WITH (m = 'two')", "bad_parameter", 1, 46),
    (HEAD + "FROM s WITH (taxonomy = 5)", "bad_parameter", 1, 53),
    (HEAD + "FROM s WITH (max_suppression = 200)", "bad_parameter", 1, 60),
    (HEAD + "FROM s\nWITH (kk = 5)", "unknown_option", 2, 7),
    (HEAD + "FROM s\nWITH (k = 5,\n  taxonmy = 'x')", "unknown_option", 3, 3),
    (HEAD + "FROM s WITH (transactions = 'x')", "unknown_option", 1, 42),
    (HEAD + "FROM s WITH (threads = 3)", "unknown_option", 1, 42),
    ("REFRESH ANONYMIZED", "syntax_error", 1, 19),
    ("REFRESH ANONYMIZED VIEWS v", "syntax_error", 1, 20),
    ("REFRESH ANONYMIZED VIEW", "syntax_error", 1, 24),
    ("REFRESH ANONYMIZED VIEW a b", "syntax_error", 1, 27),
    ("REFRESH ANONYMIZED VIEW a, b", "syntax_error", 1, 26),
    ("DROP ANONYMIZED VIEW IF v", "syntax_error", 1, 25),
    ("DROP ANONYMIZED VIEW a CASCADE", "syntax_error", 1, 24),
    ("DROP ANONYMIZED v", "syntax_error", 1, 17),
    ("SHOW ANONYMIZED VIEW", "syntax_error", 1, 17),
    ("SHOW ANONYMIZED VIEWS x", "syntax_error", 1, 23),
    ("SHOW ANONYMIZED VIEWS WITH (k = 3)", "unknown_option", 1, 29),
    ("SHOW ANONYMIZED VIEWS WITH (status = 1)", "bad_parameter", 1, 38),
    ("SELECT 1;\n\n  REFRESH ANONYMIZED x", "syntax_error", 3, 22),
    ("SELECT '🍎'; REFRESH ANONYMIZED x", "syntax_error", 1, 32),
    ("REFRESH ANONYMIZED VIEW v; SELECT 'abc", "syntax_error", 1, 35),
    ('SHOW ANONYMIZED VIEWS; SELECT "abc', "syntax_error", 1, 31),
    ("SHOW ANONYMIZED VIEWS; /* abc", "syntax_error", 1, 24),
]

# what only DuckDB's parser knows: text, line, column
BAD_QUERIES: list[tuple[str, int, int]] = [
    ("SELECT 1;\nSELECT * FRM x y", 2, 14),
    ("SELECT 'é🍎', * FRM x y", 1, 20 if SINCE_2 else 16),  # DuckDB 2.0 reads FRM as an alias
    ("CREAT TABLE x", 1, 1),
    (HEAD + "SELECT tid, item FRM s t", 1, 50),
    (HEAD + "SELECT tid,\n  item FRM s t WITH (k = 2)", 2, 12),
    (HEAD + "INSERT INTO s VALUES (1)", 1, 29),
    (HEAD + "CREATE TABLE x (a INT)", 1, 29),
    (HEAD + "SELECT ? AS tid, 1 AS item", 1, 29),
    *([(HEAD + "PRAGMA version", 1, 29)] if SINCE_2 else []),  # older versions make a SELECT of it
]


def bare(statement: Statement) -> dict[str, Any]:
    """A statement without its position."""
    return {"kind": type(statement)} | {k: v for k, v in vars(statement).items() if not k.endswith("start")}


@each("text, wanted", GOOD)
def test_good(text: str, wanted: Statement) -> None:
    (found,) = parse(text)
    assert bare(found) == bare(wanted)
    assert not isinstance(found, Ordinary)
    (again,) = parse(render(found))
    assert bare(again) == bare(wanted)
    before, (ordinary, shifted) = "\n -- é\n", parse(f"SELECT 1;\n{text}")
    assert isinstance(ordinary, Ordinary) and shifted.start == found.start + len("SELECT 1;\n")
    assert parse(before + text)[0].start == found.start + len(before)


@each("text, code, line, column", BAD)
def test_bad(text: str, code: str, line: int, column: int) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.place) == (code, {"line": line, "column": column})
    assert str(caught.value).startswith(f"line {line}, column {column}: ")


def test_the_table_is_long_enough() -> None:
    assert len(GOOD) + len(BAD) + len(BAD_QUERIES) >= 100


@each("text, line, column", BAD_QUERIES)
def test_duckdb_says_where(engine: Engine, text: str, line: int, column: int) -> None:
    with pytest.raises(InputError) as caught:
        prepare(engine, text)
    assert (caught.value.code, caught.value.place) == ("syntax_error", {"line": line, "column": column})


def test_unknown_options_offer_the_nearest() -> None:
    with pytest.raises(InputError, match=r"'taxonomy'"):
        check_option("taxnomy", "x")
    with pytest.raises(InputError, match="Options: "):
        check_option("zzzz", 1)
    assert check_option("spread", True) is True
    assert set(view_options()) >= {"k", "m", "l", "h", "p", "delta", "publish", "workload"}


@each(
    "query, table",
    [
        ("FROM s", '"s"'),
        ('SELECT tid, a.item FROM "S" AS a -- c', '"S"'),
        ("SELECT * FROM x.y.z", '"x"."y"."z"'),
        ("SELECT tid, item FROM s WHERE item <> 'x'", None),
        ("SELECT tid, upper(item) AS item FROM s", None),
        ("SELECT tid, category AS item FROM s", None),
        ("SELECT * REPLACE (upper(item) AS item) FROM s", None),
        ("SELECT * RENAME (category AS item) FROM s", None),
        ("SELECT DISTINCT ON (tid) * FROM s", None),
        ("SELECT tid, item FROM s AS a(item, tid)", None),
        ("SELECT tid, list(item) AS item FROM s GROUP BY tid", None),
        ("FROM s LIMIT 3", None),
        ("FROM s QUALIFY row_number() OVER () = 1", None),
        ("FROM s TABLESAMPLE 10%", None),
        ("FROM s UNION ALL FROM s", None),
        ("FROM s, s AS b", None),
        ("SELECT * FROM a JOIN b USING (x)", None),
        ("WITH c AS (FROM s) FROM c", None),
        ("SELECT * FROM (FROM s)", None),
        ("SELECT 1", None),
        ("SELECT * FROM range(3)", None),
        ("PIVOT s ON item USING count(*)", None),
        ("not sql at all (", None),
    ],
)
def test_plain_table(query: str, table: str | None) -> None:
    assert plain_table(query) == table


# ---------------------------------------------------------------------- mixed scripts

FRAGMENTS = [
    "SELECT 1", "SELECT 'a;b' AS x", 'SELECT 1 AS "a;b"', "SELECT $$;$$", "SELECT $t$ $$;' $t$", "SELECT E'a\\';b'",
    "/* ; */ SELECT 2", "SELECT 3 -- ;'\n", "SELECT /* /* ; */ ; */ 4", "VALUES (';')", "CREATE TABLE t (a INTEGER)",
    "INSERT INTO t VALUES (1)", "BEGIN", "SELECT {'a': [1, 2]}", "SHOW anonymized", "SELECT '\u00e9\U0001f34e;'",
    "SELECT x -> 1", "SELECT a.b[1:2] FROM t", "SELECT 1_000 // 2", "EXPLAIN SELECT 1",
]  # fmt: skip
OWN = ["SHOW ANONYMIZED VIEWS", 'REFRESH ANONYMIZED VIEW "a;b"', HEAD + "SELECT ';' AS x FROM s WITH (taxonomy=';')"]
SPACES = [";", ";\n", " ; ", ";;", "; -- ;'\"\n", ";\n/* ' */\n"]


@each("seed", range(20))
def test_mixed_scripts(engine: Engine, seed: int) -> None:
    """Every statement is found, with its own text at its own place."""
    draw = random.Random(seed)
    for _ in range(25):
        chosen = [draw.choice(FRAGMENTS if draw.random() < 0.7 else OWN) for _ in range(draw.randint(1, 8))]
        text = draw.choice(["", "\n", "-- x\n", "/* ; */"])
        starts = []
        for fragment in chosen:
            starts.append(len(text))
            text += fragment + draw.choice(SPACES)
        steps = prepare(engine, text)
        assert len(steps) == len(chosen)
        for step, fragment, start in zip(steps, chosen, starts, strict=True):
            assert isinstance(step.statement, Ordinary) == (fragment in FRAGMENTS)
            inside = fragment.removeprefix("/* ; */ ") if isinstance(step.statement, Ordinary) else fragment
            place = start + len(fragment) - len(inside)
            assert step.line == text.count("\n", 0, place) + 1
            if isinstance(step.statement, Ordinary):
                assert step.statement.text.startswith(inside)


def test_nothing_but_comments(engine: Engine) -> None:
    for text in ("", "  ", ";", "-- x", "/* y */;;\n"):
        assert prepare(engine, text) == []


# ---------------------------------------------------------------------- hostile names

ALPHABET = "aZ_0 .;,'\"\\`$-/*()[]{}%?!@#&|<>=+~^:\n\r\t\0\u00e9\u00df\u0130\u202e\u200b\ufeff\u6f22\U0001f34e\x7f\x1b"
PARTS = ["select", "from", "--", "/*", "*/", "$$", "''", '""', "; DROP TABLE x", "anonymized", "WITH (", "E'", "NULL"]


def hostile(count: int) -> list[str]:
    """Random names, each once, upper and lower case apart."""
    draw = random.Random(7)
    names: dict[str, str] = {}
    while len(names) < count:
        pieces = [draw.choice(PARTS) if draw.random() < 0.2 else draw.choice(ALPHABET) for _ in range(draw.randint(1, 9))]
        name = "".join(pieces)
        names.setdefault(name.casefold(), name)
    return list(names.values())


@pytest.mark.parametrize("number", [700, pytest.param(5000, marks=pytest.mark.slow)])
def test_hostile_names_through_every_builder(number: int) -> None:
    """View names, columns, tables and texts: what comes back is what went in, and nothing in it is run."""
    for name in hostile(number):
        others: list[Statement] = [RefreshView(name), DropView(name, if_exists=True)]
        created = CreateView(name, "FROM s", {"taxonomy": name, "id": name, "publish": name}, replace=True)
        for statement in [created, *others]:
            (found,) = parse(render(statement))  # type: ignore[arg-type]
            assert bare(found) == bare(statement)
        table = Table(name, name, name).expression()
        (token, *_) = sqlglot.tokenize(Table(name, "s", "t").sql(), dialect="duckdb")
        assert token.text == name and [p.name for p in table.parts] == [name] * 3
        assert release_schema(name, name).name == f"release_{name}"


@pytest.mark.parametrize("number", [700, pytest.param(5000, marks=pytest.mark.slow)])
def test_hostile_names_in_duckdb(engine: Engine, number: int) -> None:
    """The quoted names as DuckDB reads them: as columns, and as tables that a query reads; before 2.0 none may have NUL."""
    names = [name for name in hostile(number) if SINCE_2 or "\0" not in name]
    with duckdb.connect() as connection:
        for i in range(0, len(names), 500):
            some = names[i : i + 500]
            columns = [exp.Literal.number(1).as_(n, quoted=True) for n in some]
            text = exp.select(*columns).sql(dialect="duckdb")
            (statement,) = parse(render(CreateView("v", text, {"k": 2})))
            assert isinstance(statement, CreateView) and statement.query == text
            assert [c[0] for c in connection.execute(statement.query).description or []] == some
    for name in names[::20]:
        query = exp.select("*").from_(Table("memory", "main", name).expression()).sql(dialect="duckdb")
        assert plain_table(query) == Table("memory", "main", name).sql()
        steps = prepare(engine, f"{query}; SHOW ANONYMIZED VIEWS; {query}")
        assert [type(s.statement) for s in steps] == [Ordinary, ShowViews, Ordinary]


def test_unquoted_hostile_names_are_refused_or_read_as_they_are() -> None:
    for name in hostile(1000):
        try:
            statements = parse(f"REFRESH ANONYMIZED VIEW {name}")
        except InputError:
            continue
        first = statements[0]
        assert isinstance(first, RefreshView) and first.name in name.replace('""', '"')
