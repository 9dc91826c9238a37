# ruff: noqa: E501
"""Hostile names and labels: what a query says comes back exactly, or is refused by a typed error; nothing is ever run."""

from __future__ import annotations

import random

import pytest
from query.sealing import Sessions, answer_of, opened
from query.small import by_hand, release, untouched

from anondb.engine import Engine
from anondb.errors import InputError

PIECES = [
    "'", '"', "''", '""', ";", "--", "/*", "*/", "\\", "\\'", "\n", "\r\n", "\t", " ", ".", ",", "(", ")", "[", "]", "{", "}",
    "$$", "$1", "?", "%", "_", "::", ":", "=", "<>", "@", "#", "`", "~", "^", "|", "&", "select", "SELECT", "from", "union",
    "drop table transactions", "; DROP TABLE transactions; --", "' OR 1=1 --", '" OR 1=1 --', "x'41'", "e'\\n'", "null",
    "NULL", "true", "count", "items", "main", "read_csv('/etc/passwd')", "getvariable('k')", "error('x')", "\u202e", "\u200b",
    "\ufeff", "é", "e\u0301", "\U0001f34e", "\u2028", "\x7f", "\x01", "a", "A", "0", "1", "05", "-1", "tid", "item", "t",
]  # fmt: skip


def _word(draw: random.Random) -> str:
    return "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 4)))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _words(draw: random.Random, number: int) -> list[str]:
    return sorted({_word(draw) for _ in range(number)})


@pytest.mark.slow
def test_labels_come_back_exactly(engine: Engine, asked: Sessions) -> None:
    """300 labels, each of one person: the condition has the label itself, and no other one."""
    words = _words(random.Random(1), 300)
    session = asked(engine, by_hand(engine, [[word] for word in words], untouched([words])))
    for n in range(0, len(words), 10):
        some = [*map(_literal, words[n : n + 10])]
        for condition in (" OR ".join(f"item = {word}" for word in some), f"item IN ({', '.join(some)})"):
            sql = f"SELECT count(DISTINCT tid) AS n FROM t WHERE {condition}"
            assert session.answer(sql).bounds == (len(some),) * 3, sql
    listed = session.answer("SELECT item, count(*) AS n FROM t GROUP BY item")
    assert [row[0] for row in listed.rows] == words


@pytest.mark.slow
def test_names_come_back_exactly(engine: Engine) -> None:
    """Six identifiers each as table, id and item: a query that names them is answered, and one that names others refused."""
    draw, answered = random.Random(2), 0
    while answered < 6:
        table, tid, item = (_word(draw) for _ in range(3))
        if len({name.lower() for name in (table, tid, item, "baskets")}) < 4 or not all((table, tid, item)):
            continue
        named = {"table": table, "id_column": tid, "item_column": item}
        session = opened(engine, release(engine, [["a"], ["a", "b"], ["b"]], untouched([["a", "b"]]), "named", **named))
        for name, known in ((table, True), (table + "x", False)):
            sql = f"SELECT count(DISTINCT {_quoted(tid)}) AS n FROM {_quoted(name)} WHERE {_quoted(item)} = 'a'"
            if known:
                assert session.answer(sql).bounds == (2, 2, 2), named
            else:
                with pytest.raises(InputError):
                    session.answer(sql)
        answered += 1


@pytest.mark.slow
def test_random_texts_are_answered_or_refused(engine: Engine, asked: Sessions) -> None:
    """400 texts put together from pieces, bare, unquoted and badly quoted: nothing else than an InputError comes out."""
    draw = random.Random(3)
    answered = 0
    session = asked(engine, by_hand(engine, [["a"], ["a", "b"]], untouched([["a", "b"]])))
    for number in range(400):
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
            session.session.sql(sql)
        except InputError as error:
            assert error.code in (
                "unsupported_query",
                "bad_sql",
                "query_too_complex",
                "ambiguous_item",
                "bad_parameter",
                "bad_name",
            ), (sql, error)
            continue
        answered += 1
    assert answered > 20


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
    session = opened(engine, schema)
    asked = [label for label in labels if "\0" not in label][::9]
    for label in asked:
        held = sum(label in t for t in transactions)
        try:
            bounds = session.answer(f"SELECT count(DISTINCT tid) FROM t WHERE item = {_literal(label)}").bounds
        except InputError as error:
            assert error.code == "ambiguous_item"
            continue
        if label in rest:
            assert bounds[0] == 0 and bounds[2] >= held
        else:
            assert bounds == (held, float(held), held)
    listed = session.answer("SELECT item, count(*) FROM t GROUP BY item")
    assert [row[0] for row in listed.rows] == sorted([*labels, "end"])
    many = ", ".join(_literal(x) for x in asked)
    answer = session.answer(f"SELECT count(DISTINCT tid) FROM t WHERE item NOT IN ({many})")
    assert answer.bounds[0] <= sum(bool(set(t) - set(asked)) for t in transactions) <= answer.bounds[2]
    assert engine.exists(schema.table("transactions"))


def test_errors_hold_nothing_of_the_release(engine: Engine) -> None:
    secret = "s3cr3t"
    schema = release(engine, [[secret], [secret, "b"]], {secret: [secret], "b": ["b"]}, "secret")
    for sql in ("SELECT abs(tid) FROM t", "SELECT sum(item) FROM t", "SELECT count(*) FROM x"):
        with pytest.raises(InputError) as error:
            answer_of(engine, schema, sql)
        assert secret not in str(error.value)
