"""A query in other words has the same answer: each spelling of ``spellings.sql``, written in random other ways."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from answers import judging
from answers.groups import Group, groups
from answers.judging import judge
from answers.other_words import in_other_words
from answers.shop import RELEASES, Shop, asked

NEVER = (judging.OUTSIDE, judging.MISSING, judging.CONTRADICTION, judging.IN_PART)
SPELLINGS = [(group, n) for group in groups() for n in range(len(group.spellings))]
MOST = 4  # other ways of one spelling


def check(shop: Shop, release: str, seed: int, share: float) -> None:
    """Judge some spellings, each with other words for it. Few may lose bounds: rules need not read every way."""
    rnd, asked_in_all = random.Random(seed), 0
    wider: dict[tuple[str, int], str] = {}
    with asked(shop, release) as (session, original):
        for group, n in rnd.sample(SPELLINGS, round(share * len(SPELLINGS))):
            if group.needs == "records" and "customers" not in session.tables:
                continue
            sql = group.spellings[n]
            others = list(islice(in_other_words(original, sql, rnd), MOST))
            found = judge(session, original, Group(group.name, group.needs, [sql, *others]))
            wrong = [f"{kind}: {text}" for kind, _, text in found if kind in NEVER]
            assert not wrong, "\n".join(wrong)
            asked_in_all += len(others)
            wider |= {(sql, number): text for kind, number, text in found if kind == judging.WIDER}
    assert asked_in_all > MOST and len(wider) <= max(2, asked_in_all / 20), "\n".join(wider.values())


@pytest.mark.slow
def test_some_queries_have_the_same_answers_in_other_words(shop: Shop) -> None:
    check(shop, "kkm", seed=1, share=0.01)


@pytest.mark.nightly
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("seed", range(5))
def test_queries_have_the_same_answers_in_other_words(shop: Shop, release: str, seed: int) -> None:
    check(shop, release, seed, share=0.3)
