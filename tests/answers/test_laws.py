"""Answers obey the laws of ``laws.py`` on three releases of the shop, but for what is listed."""

from __future__ import annotations

from collections import defaultdict

import pytest
from answers.judging import Number
from answers.known_failures import changes, known
from answers.laws import SOUND, Checks, Laws
from answers.shop import RELEASES, Shop, asked
from each import each
from portions import portions

ROUNDS = 8  # in which each violation is listed
FREQUENT = "SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC, item"


def violated(shop: Shop, release: str, rounds: range) -> tuple[set[str], list[str], int]:
    """The tight and estimate laws that are violated with the rounds, the violations of sound laws, and how many checks
    of sound laws were made."""
    found: dict[str, list[int]] = defaultdict(list)
    wrong, made = [], 0
    with asked(shop, release) as (session, original):
        items = [item for (item,) in original.execute(FREQUENT).fetchall()]
        for n in rounds:
            checks = Checks()
            Laws(session, items, checks).round(n)
            made += sum(times for law, times in checks.made.items() if law.startswith(SOUND))
            for law, texts in checks.violations.items():
                found[law].append(n)
                wrong += [f"round {n}: {law}: {text}" for text in texts if law.startswith(SOUND)]
    return {f"{n} {law}" for law, numbers in found.items() for n in numbers if not law.startswith(SOUND)}, wrong, made


def check(shop: Shop, release: str, rounds: range) -> None:
    found, wrong, made = violated(shop, release, rounds)
    assert not wrong, "\n".join(wrong[:10])
    assert made > 50 * len(rounds)
    listed = {line for line in known("laws", release) if int(line.split()[0]) in rounds}
    changed = changes("laws", release, found, listed)
    assert not changed, "\n".join(changed)


@pytest.mark.slow
def test_answers_obey_the_laws_in_one_round(shop: Shop) -> None:
    check(shop, "kkm", range(1))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("rounds", portions(0, 0, ROUNDS))
def test_answers_obey_the_laws(shop: Shop, release: str, rounds: range) -> None:
    check(shop, release, rounds)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("rounds", portions(0, 0, 90, first=ROUNDS))
def test_bounds_never_contradict_each_other(shop: Shop, release: str, rounds: range) -> None:
    """More than 20,000 checks of sound laws in all."""
    _, wrong, made = violated(shop, release, rounds)
    assert not wrong, "\n".join(wrong[:10])
    assert made > 70 * len(rounds)


@each(
    "law, wanted",
    [
        (lambda c: c.part("", Number(3, 2, 4), Number(3, 2, 4), ""), set()),
        (lambda c: c.part("", Number(3, 2, 5), Number(2.5, 2, 4), ""), {"tight:  (upper)", "estimate: "}),
        (
            lambda c: c.part("", Number(6, 5, 7), Number(3, 2, 4), ""),
            {"sound: ", "tight:  (lower)", "tight:  (upper)", "estimate: "},
        ),
        (lambda c: c.equal("", Number(3, 2, 4), Number(3, 2, 5), ""), {"tight:  (upper)"}),
        (lambda c: c.equal("", Number(3, 2, 4), Number(3, 2, float("inf")), ""), {"tight:  (upper)"}),
        (
            lambda c: c.equal("", Number(3, 2, 4), Number(5, 5, 6), ""),
            {"sound: ", "tight:  (lower)", "tight:  (upper)", "estimate: "},
        ),
        (lambda c: c.sum("", Number(5, 4, 6), [Number(2, 1, 3), Number(3, 3, 3)], ""), set()),
        (lambda c: c.sum("", Number(5, 3, 6), [Number(2, 1, 3), Number(3, 3, 3)], ""), {"tight:  (lower)"}),
        (
            lambda c: c.sum("", Number(7, 7, 8), [Number(2, 1, 3), Number(3, 3, 3)], ""),
            {"sound: ", "tight:  (upper)", "estimate: "},
        ),
        (lambda c: c.between("", 1, Number(0.5, 1, 2), 3, ""), {"estimate:  (lower)"}),
    ],
)
def test_violations_are_found(law: object, wanted: set[str]) -> None:
    checks = Checks()
    law(checks)  # type: ignore[operator]
    assert set(checks.violations) == wanted


def test_persons_of_a_size_with_an_item_are_among_those_of_the_size_and_those_with_the_item(shop: Shop) -> None:
    sizes = "SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid{having}) GROUP BY n"
    with asked(shop, "similar") as (session, original):
        ((_, _, most),) = session.sql("SELECT count(*) AS c FROM sales WHERE item = 'apples'").fetchall()
        of_all = {n: high for n, _, _, high, *_ in session.sql(sizes.format(having="")).fetchall()}
        some = sizes.format(having=" HAVING bool_or(item = 'apples')")
        bounds = {n: (low, high) for n, _, low, high, *_ in session.sql(some).fetchall()}
        assert all(high <= min(most, of_all[n]) for n, (_, high) in bounds.items())
        assert all(bounds[n][0] <= c <= bounds[n][1] for n, c in original.execute(some).fetchall())
        for n in (2, 5, 9):
            of_one = f"HAVING bool_or(item = 'apples') AND count(*) = {n}"
            one = session.sql(f"SELECT count(*) AS c FROM (SELECT tid FROM sales GROUP BY tid {of_one})")
            ((_, low, high),) = one.fetchall()
            assert low >= bounds[n][0] and high <= bounds[n][1]
