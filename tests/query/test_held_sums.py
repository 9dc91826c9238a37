"""Sums over the items of transactions in memory: the groups that a join in DuckDB gives."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from each import each
from portions import portions
from query import sealing
from query.sealing import Sessions
from query.small import release

from anondb.engine import Engine
from anondb.query import held_sums
from anondb.query.held_sums import HeldRows
from anondb.query.reading import ROW_BYTES

ITEMS = [f"i{n}" for n in range(9)]
SIZES = "(SELECT tid, count(*) AS n FROM t {} GROUP BY tid {})"
ASKED = [
    f"SELECT {aggregate} FROM {SIZES.format(where, having)}"
    for aggregate in ("avg(n)", "sum(n)", "max(n)", "min(n)", "median(n)")
    for where, having in (("", ""), ("WHERE item IN ('i1', 'i4', 'i7')", ""), ("", "HAVING bool_or(item = 'i2')"))
] + [
    "SELECT count(*) FROM " + SIZES.format("", "HAVING count(*) > 2"),
    "SELECT count(*) FROM " + SIZES.format("", "HAVING count(*) <= 2 AND bool_or(item = 'i3')"),
    "SELECT n, count(*) FROM " + SIZES.format("", "") + " GROUP BY n",
    "SELECT count(DISTINCT tid) FROM t WHERE item IN ('i0', 'i1', 'i4', 'i7')",
    "SELECT count(DISTINCT tid) FROM t WHERE item IN ('i1', 'i2', 'i4', 'i7', 'i8')",
    "SELECT count(*) FROM " + SIZES.format("", "HAVING NOT bool_or(item IN ('i0', 'i3', 'i8'))"),
]


@pytest.mark.slow
@pytest.mark.parametrize("suppressed", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_groups_are_those_of_a_join(engine: Engine, suppressed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rnd = random.Random(3)
    baskets = [rnd.sample(ITEMS, rnd.randint(0, 5)) for _ in range(80)]
    groups = {"a": ITEMS[:1], "b": ITEMS[1:3], "c": ITEMS[3:6], **({} if suppressed else {"d": ITEMS[6:]})}
    schema = release(engine, baskets, groups, "sums")
    answers = []
    for size in (ROW_BYTES, 1 << 40):
        monkeypatch.setattr("anondb.query.reading.ROW_BYTES", size)
        session = sealing.opened(engine, schema)
        (opened,) = session.session._opened
        assert opened.numbered is not None and (opened.numbered.rows is None) == (size == 1 << 40)
        answers += [sorted(session.answer(sql).rows, key=str) for sql in ASKED]
    half = len(answers) // 2
    for sql, one, two in zip(ASKED, answers[:half], answers[half:]):  # noqa: B905
        rounded = "median" in sql or sql.startswith("SELECT n,")  # means of single sums are grouped by a decimal
        assert [row[:-2] + row[-1:] for row in one] == [row[:-2] + row[-1:] for row in two], sql
        error = {"abs": 0.2} if rounded else {"rel": 1e-9}
        assert [row[-2] for row in one] == pytest.approx([row[-2] for row in two], **error), sql


@pytest.mark.slow
@pytest.mark.parametrize("cases", portions(1, night=6))
@each("differing", [None, False, True])
@each("having", ["", " HAVING bool_or(item = 'i1') OR count(*) > 2"])
def test_numbers_of_items_where_items_were_suppressed(
    engine: Engine, asked: Sessions, having: str, differing: bool | None, cases: range
) -> None:
    """The bounds enclose the truth, also at the ends; greater numbers are not listed, and a note says so. Asked of a
    session, and of a release that is one of several with other items."""
    sql = f"SELECT n, count(*) FROM {SIZES.format('', having)} GROUP BY n"
    for case in cases:
        rnd = random.Random(case)
        baskets = [rnd.sample(ITEMS, rnd.randint(0, 7)) for _ in range(40)]
        groups = {"a": ITEMS[:1], "b": ITEMS[1:3], **({"c": ITEMS[3:5]} if case % 2 else {})}
        schema = release(engine, baskets, groups, f"suppressed_{case}_{differing}")
        if differing is None:
            answer: Any = asked(engine, schema).answer(sql)
        else:
            session = sealing.opened(engine, schema)
            session.session._opened[0].differing = differing
            answer = session.answer(sql)
        kept = [b for b in baskets if b and (not having or "i1" in b or len(b) > 2)]
        truth = Counter(map(len, kept))
        bounds = {n: ends for n, *ends in answer.rows}
        assert all(low <= truth[n] <= high and low <= middle <= high for n, (low, middle, high) in bounds.items())
        assert all(n in bounds or n > max(bounds) for n in truth) and not any(low for low, _, _ in bounds.values())
        assert any("greater numbers" in note for note in answer.notes)


@pytest.mark.parametrize("ids", [[0, 1], [1, 4], np.ma.masked_array([1, 2], [False, True]), [1.0, 2.0]])
def test_rows_with_numbers_of_no_release_are_not_held(ids: Any) -> None:
    """Somebody who edits a file may number its transactions in any way, or not at all."""
    items, numbers = np.array([1, 2]), {"a": 1, "b": 2}
    assert HeldRows.of(np.ma.asanyarray(ids), items, 3, numbers) is None
    assert HeldRows.of(np.array([1, 3]), items, 3, numbers) is not None
    assert HeldRows.of(np.array([1, 3]), np.array([1, 3]), 3, numbers) is None


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("everybody", [False, True])
@pytest.mark.parametrize("few", [False, True])
def test_rows_are_added_up_in_pieces(together: bool, everybody: bool, few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The totals, and the transactions of each item with each signature, as counted row by row."""
    monkeypatch.setattr(held_sums, "PIECE", 7)
    rnd, numbers = random.Random(7), {f"i{n}": n for n in range(1, 13)}
    pairs = [(t, n) for t in range(30) for n in numbers.values() if rnd.random() < 0.4 or (everybody and n == 1)]
    pairs.sort(key=lambda pair: pair[1]) if together else rnd.shuffle(pairs)
    rows = HeldRows.of(*np.array([(t + 1, n) for t, n in pairs], dtype=np.uint16).T, 31 - everybody, numbers)
    assert rows is not None
    codes = {label: 1 + 5 * (n % 3) for label, n in numbers.items() if n < (2 if few else 11) or (everybody and not few)}
    signatures = Counter[int]()
    for transaction, n in pairs:
        signatures[transaction] += codes.get(f"i{n}", 0)
    expected = Counter((n, signatures[transaction]) for transaction, n in pairs)
    known, table = rows.by_item(codes)
    found = {(n, known[m]): table[n, m] for n, m in zip(*(places.tolist() for places in np.nonzero(table)), strict=True)}
    assert found == expected and known.tolist() == sorted(known)
    assert rows.signatures(codes).tolist() == [signatures[t] for t in range(rows.size)]
    assert rows.held == len({t for t, _ in pairs})
    assert rows.supports.tolist() == [sum(n == one for _, one in pairs) for n in range(len(numbers) + 1)]


@pytest.mark.parametrize("most", [3, 1 << 20])
def test_numbers_and_how_often_each_is_there(most: int) -> None:
    keys = np.random.default_rng(1).integers(0, most, 50)
    for one in (keys, keys[:0]):
        values, numbers = held_sums.counted(one)
        assert dict(zip(values.tolist(), numbers.tolist(), strict=True)) == Counter(one.tolist())
        assert values.tolist() == sorted(set(one.tolist()))
