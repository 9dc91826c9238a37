"""Equal queries have equal answers: the groups of ``spellings.sql`` on three releases of the shop."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable

import duckdb
import pytest
from answers import judging
from answers.groups import Group, groups, same_rows
from answers.judging import Answer, Finding, Number, against_each_other, against_truth, compared, judge
from answers.known_failures import changes, known
from answers.shop import RELEASES, Shop, asked
from each import each
from portions import portions

GROUPS = groups()
LISTED = (judging.CONTRADICTION, judging.ESTIMATE, judging.IN_PART, judging.WIDER)
NAMED = ["milk", "bread", "coffee", "cornflakes", "migraine tablets", "butter", "tea"]


def line_of(group: str, finding: Finding) -> str:
    """A finding as a line of the lists; refusals are listed for each spelling."""
    return f"{group} {finding.spelling}" if finding.kind == judging.IN_PART else group


def check(shop: Shop, release: str, chosen: Callable[[str], bool]) -> None:
    """Judge groups of a release, and compare what fails with what is known to fail."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    with asked(shop, release) as (session, original):
        for group in GROUPS:
            if chosen(group.name) and (group.needs != "records" or "customers" in session.tables):
                for finding in judge(session, original, group):
                    found[finding.kind].setdefault(line_of(group.name, finding), finding.text)
    never = [f"{kind}: {texts}" for kind, texts in found.items() if kind not in LISTED]
    assert not never, "\n".join(never)
    changed = []
    for kind in LISTED:
        listed = {line for line in known(kind, release) if chosen(line.split()[0])}
        changed += changes(kind, release, found[kind], listed)
        changed += [found[kind][line] for line in found[kind] if line not in listed]
    assert not changed, "\n".join(changed)


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_some_equal_queries_have_equal_answers(shop: Shop, release: str) -> None:
    """Of each release others of the groups."""
    some = {group.name for group in GROUPS[6 * list(RELEASES).index(release) :: 18]}
    check(shop, release, lambda name: name in some)


@pytest.mark.nightly
@pytest.mark.parametrize("release", RELEASES)
def test_equal_queries_have_equal_answers(shop: Shop, release: str) -> None:
    check(shop, release, lambda name: True)


SPENT = (
    "SELECT sex, {} FROM customers c LEFT JOIN (SELECT tid, sum(price) AS n FROM sales JOIN prices USING (item) "
    "GROUP BY tid) v ON v.tid = c.tid GROUP BY sex ORDER BY sex"
)


@pytest.mark.parametrize("value", ["coalesce(n, 0)", "3 * coalesce(n, 0) - 1"])
def test_an_average_is_within_its_sum_by_its_number(shop: Shop, value: str) -> None:
    with asked(shop, "kkm") as (session, _):
        averages, sums = (session.sql(SPENT.format(f"{how}({value})")).fetchall() for how in ("avg", "sum"))
        numbers = session.sql("SELECT sex, count(*) FROM customers GROUP BY sex ORDER BY sex").fetchall()
    assert len(averages) == len(sums) == len(numbers) > 1
    for (_, _, low, high), (_, _, least, most), (_, _, few, many) in zip(averages, sums, numbers, strict=True):
        assert low >= least / many * (1 - 1e-9) and high <= most / few * (1 + 1e-9)


def test_what_is_listed_is_in_the_corpus() -> None:
    names = {group.name: len(group.spellings) for group in GROUPS}
    assert len(names) == len(GROUPS) == 217 and min(names.values()) >= 2
    for kind in LISTED:
        for release in RELEASES:
            for line in known(kind, release):
                name, *spelling = line.split()
                assert name in names and (kind == judging.IN_PART) == bool(spelling)
                assert all(1 <= int(n) <= names[name] for n in spelling)


# --- the groups are equal -------------------------------------------------------------------------------------------


def small(rnd: random.Random, leaves: list[str]) -> duckdb.DuckDBPyConnection:
    """A random original of at most 40 persons, over few or many items."""
    con = duckdb.connect()
    con.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
    con.execute("CREATE TABLE customers (tid INTEGER, age INTEGER, sex VARCHAR, town VARCHAR, since DATE)")
    pool = rnd.sample(NAMED, 5) + rnd.sample(leaves, rnd.choice([1, 3, len(leaves)]))
    for tid in range(1, rnd.choice([0, 1, 2, 4, 8, 14, 40]) + 1):
        basket = sorted(set(rnd.choices(pool, k=rnd.choice([1, 1, 2, 3, 4, 6, 9]))))
        con.executemany("INSERT INTO sales VALUES (?, ?)", [(tid, item) for item in basket])
        values = [rnd.randint(18, 95), rnd.choice(["female", "male"]), rnd.choice(["Cork", "Delft"]), rnd.randint(0, 91)]
        con.execute("INSERT INTO customers VALUES ($1, $2, $3, $4, DATE '2026-03-01' + $5::INTEGER)", [tid, *values])
    return con


def equal_on(con: duckdb.DuckDBPyConnection, group: Group) -> str:
    """The result of a group as a text, if all of its spellings have it."""
    first, *others = ((sql, con.execute(sql).fetchall()) for sql in group.spellings)
    for sql, rows in others:
        assert same_rows(first[1], rows), f"{first[0]}: {first[1]}\n{sql}: {rows}"
    return str(sorted(map(str, first[1])))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(2, night=100))
def test_groups_are_equal(shop: Shop, seeds: range) -> None:
    """On the shop and on small tables, all spellings of a group have one answer, which differs from table to table."""
    with duckdb.connect(str(shop.original), read_only=True) as con:
        answers = {group.name: {equal_on(con, group)} for group in GROUPS}
        own = {name: con.table(name).fetchall() for name in ("food", "prices")}
    leaves = [item for item, _ in own["prices"]]
    for seed in seeds:
        with small(random.Random(seed), leaves) as table:
            for name, columns in (("food", "node VARCHAR, parent VARCHAR"), ("prices", "item VARCHAR, price INTEGER")):
                table.execute(f"CREATE TABLE {name} ({columns})")
                table.executemany(f"INSERT INTO {name} VALUES (?, ?)", own[name])
            for group in GROUPS:
                answers[group.name].add(equal_on(table, group))
    assert not [name for name, texts in answers.items() if len(texts) < 2]


# --- the judge finds what is wrong ----------------------------------------------------------------------------------


@each(
    "one, other, wanted",
    [
        (Number(5, 3, 8), Number(5, 3, 8), set()),
        (Number(5, 3, 8), Number(5 + 1e-12, 2, 8), set()),
        (Number(5, 3, 8), Number(5.1, 3, 8), {judging.ESTIMATE}),
        (Number(5, 3, 8), Number(None, 3, 8), {judging.ESTIMATE}),
        (Number(0, 0, 8), Number(None, 0, 8), {judging.ESTIMATE}),
        (Number(5, 5, 5), Number(5, 5, 5.1), {judging.WIDER}),
        (Number(5, 3, 8), Number(5, 0, 10), set()),
        (Number(5, 3, 8), Number(5, 0, 11), {judging.WIDER}),
        (Number(5, 3, 8), Number(5, -math.inf, 8), {judging.WIDER}),
        (Number(5, -math.inf, 6), Number(5, 2, math.inf), set()),
        (Number(3, 3, 4), Number(5, 5, 6), {judging.ESTIMATE, judging.CONTRADICTION}),
    ],
)
def test_faults_of_two_numbers_are_found(one: Number, other: Number, wanted: set[str]) -> None:
    assert set(compared(one, other)) == set(compared(other, one)) == wanted


def answer(rows: dict[tuple[object, ...], list[Number]], certain: bool = True, cut: bool = False) -> Answer:
    return Answer("", rows, set(rows) if certain else set(), (True, False), False, cut)


def test_faults_of_rows_are_found() -> None:
    milk, bread = {("milk",): [Number(5, 3, 8)]}, {("bread",): [Number(5, 3, 8)]}
    assert not list(against_truth(answer(milk), [("milk", 8)]))
    assert [kind for kind, _ in against_truth(answer(milk), [("milk", 9)])] == [judging.OUTSIDE]
    assert [kind for kind, _ in against_truth(answer(milk), [])] == [judging.OUTSIDE]
    assert [kind for kind, _ in against_truth(answer({}), [("milk", 8)])] == [judging.MISSING]
    assert not list(against_truth(answer({}, cut=True), [("milk", 8)]))
    both = {judging.CONTRADICTION, judging.ESTIMATE}
    assert {kind for kind, _ in against_each_other(answer(milk), answer(bread))} == both
    unsure = against_each_other(answer(milk, certain=False), answer(bread, certain=False))
    assert {kind for kind, _ in unsure} == {judging.ESTIMATE}
