# ruff: noqa: E501
"""Hostile names and labels: what a query says comes back exactly, or is refused by a typed error; nothing is ever run."""

from __future__ import annotations

import random

import pytest
from query.sealing import answer_of
from query.small import release
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from anondb.engine import Engine
from anondb.errors import InputError
from anondb.query import parse, rewrite
from anondb.query.predicates import AtLeast, Labels, has
from anondb.query.rewriter import LISTED_NOTE, MISSING_NOTE

PIECES = [
    "'", '"', "''", '""', ";", "--", "/*", "*/", "\\", "\\'", "\n", "\r\n", "\t", " ", ".", ",", "(", ")", "[", "]", "{", "}",
    "$$", "$1", "?", "%", "_", "::", ":", "=", "<>", "@", "#", "`", "~", "^", "|", "&", "select", "SELECT", "from", "union",
    "drop table transactions", "; DROP TABLE transactions; --", "' OR 1=1 --", '" OR 1=1 --', "x'41'", "e'\\n'", "null",
    "NULL", "true", "count", "items", "main", "read_csv('/etc/passwd')", "getvariable('k')", "error('x')", "\u202e", "\u200b",
    "\ufeff", "é", "e\u0301", "\U0001f34e", "\u2028", "\x7f", "\x01", "a", "A", "0", "1", "05", "-1", "tid", "item", "t",
]  # fmt: skip
LIST = {"table": "t", "id_column": "tid", "item_column": "items", "layout": "lists"}


def _word(draw: random.Random) -> str:
    return "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 4)))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def test_labels_come_back_exactly() -> None:
    """3,000 labels in several places: the condition has the label itself."""
    draw = random.Random(1)
    manifest = {"table": "t", "id_column": "tid", "item_column": "item", "layout": "rows"}
    for _ in range(1000):
        words = [_word(draw) for _ in range(3)]
        one, two, three = map(_literal, words)
        plan = rewrite(
            parse(f"SELECT count(DISTINCT tid) FROM t WHERE item = {one} OR item IN ({two}, {three})"), manifest
        )
        assert plan.condition == AtLeast(1, Labels(frozenset(words)))
        plan = rewrite(parse(f"SELECT count(*) FROM t WHERE list_has_all(items, [{one}, {two}, {three}])"), LIST)
        assert plan.condition == AtLeast(len(set(words)), Labels(frozenset(words)))
        tree = DuckDB().parse(
            f"SELECT {plan.describe().split('of (item IN')[-1][:-1]}" if len(set(words)) > 1 else "SELECT 1"
        )
        if len(set(words)) > 1:
            assert tree[0] is not None and {x.name for x in tree[0].find_all(exp.Literal)} == set(words)


def test_names_come_back_exactly() -> None:
    """3,000 identifiers as table, id and item: read as those of the manifest, or refused with a typed error."""
    draw = random.Random(2)
    for _ in range(1000):
        table, tid, item = (_word(draw) for _ in range(3))
        manifest = {"table": table, "id_column": tid, "item_column": item, "layout": "rows"}
        sql = f"SELECT count(DISTINCT {_quoted(tid)}) AS {_quoted(table)} FROM {_quoted(table)} WHERE {_quoted(item)} = 'a'"
        try:
            plan = rewrite(parse(sql), manifest)
        except InputError as error:
            assert tid.lower() == item.lower() or error.code == "bad_sql", (sql, error)
            continue
        assert plan.condition == has("a")
        other = {**manifest, "table": table + "x"}
        if table.lower() != "baskets":
            with pytest.raises(InputError):
                rewrite(parse(sql), other)


def test_random_texts_are_answered_or_refused() -> None:
    """5,000 texts put together from pieces, bare, unquoted and badly quoted: nothing else than an InputError comes out."""
    draw = random.Random(3)
    manifest = {"table": "t", "id_column": "tid", "item_column": "item", "layout": "rows"}
    answered = 0
    for number in range(5000):
        word = _word(draw)
        sql = [
            word,
            f"SELECT count(*) FROM t WHERE item = '{word}'",
            f"SELECT count(*) FROM t WHERE item = {word}",
            f"SELECT count(*) FROM {word}",
            f'SELECT count(DISTINCT "{word}") FROM t',
            f"SELECT count(*) {word} FROM t WHERE item = 'a'",
            f"SELECT count(*) FROM t WHERE item = 'a' {word}",
            f"WITH {word} AS (SELECT tid FROM t) SELECT count(*) FROM t WHERE item = 'a'",
        ][number % 8]
        try:
            plan = rewrite(parse(sql), manifest)
        except InputError as error:
            assert error.code in ("unsupported_query", "bad_sql", "query_too_complex")
            continue
        answered += 1
        assert plan.counts == "ids" or plan.counts == "rows" or {LISTED_NOTE, MISSING_NOTE} & {*plan.notes}
    assert answered > 300


@pytest.mark.slow
def test_hostile_labels_in_a_release(engine: Engine) -> None:
    """Labels of the release and of the query reach the engine as they are."""
    draw = random.Random(4)
    labels = sorted({_word(draw) for _ in range(400)} | {"a\0b", "\0", ""})
    transactions = [[label] for label in labels] + [[label, "end"] for label in labels[::2]]
    blocks = {f"{label}": [label] for label in labels[::2]}
    rest = labels[1::2]
    blocks["'; DROP TABLE transactions; --"] = rest
    blocks["end"] = ["end"]
    blocks = {key: sorted(set(members) - ({"end"} if key != "end" else set())) for key, members in blocks.items()}
    schema = release(engine, transactions, blocks, "hostile '; --")
    asked = [label for label in labels if "\0" not in label][::9]
    for label in asked:
        held = sum(label in t for t in transactions)
        try:
            bounds = answer_of(
                engine, schema, f"SELECT count(DISTINCT tid) FROM t WHERE item = {_literal(label)}"
            ).bounds
        except InputError as error:
            assert error.code == "ambiguous_item"
            continue
        if label in rest:
            assert bounds[0] == 0 and bounds[2] >= held
        else:
            assert bounds == (held, float(held), held)
    listed = answer_of(engine, schema, "SELECT item, count(*) FROM t GROUP BY item")
    assert [row[0] for row in listed.rows] == sorted([*labels, "end"])
    many = ", ".join(_literal(x) for x in asked)
    answer = answer_of(engine, schema, f"SELECT count(DISTINCT tid) FROM t WHERE item NOT IN ({many})")
    assert answer.bounds[0] <= sum(bool(set(t) - set(asked)) for t in transactions) <= answer.bounds[2]
    assert engine.exists(schema.table("transactions"))


def test_errors_hold_nothing_of_the_release(engine: Engine) -> None:
    secret = "s3cr3t"
    schema = release(engine, [[secret], [secret, "b"]], {secret: [secret], "b": ["b"]}, "secret")
    for sql in ("SELECT count(*) FROM t WHERE item ~ item", "SELECT sum(item) FROM t", "SELECT count(*) FROM x"):
        with pytest.raises(InputError) as error:
            answer_of(engine, schema, sql)
        assert secret not in str(error.value)
