"""The verifier of item supports: it refuses whatever breaks what they promise, and nothing else.

The statements are those of docs/item_supports.md#the-verifier, counted naively in tests/reference_supports.py.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import reference_supports as ref
from each import each
from portions import portions, some
from reference_supports import Line
from supports_cases import Bound, Published, freeze_with_supports, tables_of, verdicts, verified, weighted, weights_of
from supports_random import random_release
from supports_worlds import TooManyWorldsError, exposed, within, worlds
from verify.support_mutants import BASES, MUTATIONS, RULE_ONLY, Base, Lines

from anondb.engine import Engine
from anondb.models.transactional import KmAnonymity
from anondb.promises.check import verify_release
from anondb.release.item_supports import weights


def judged(engine: Engine, of: Base, tables: Sequence[Lines]) -> list[list[str]]:
    """What the verifier says of tables with the weights of their bounds."""
    cases = [(of.rows, of.members, weighted(of.rows, of.members, lines)) for lines in tables]
    with engine.transaction():
        return verdicts(engine, cases, of.k, of.m)


def broken(of: Base, lines: Lines) -> bool:
    return ref.violations(of.rows, of.members, lines, of.k, of.m) > 0


@each("name", BASES)
def test_the_tables_of_the_rule_are_accepted(engine: Engine, name: str) -> None:
    of = BASES[name]
    assert judged(engine, of, [of.lines]) == [[]] and not broken(of, of.lines)
    assert len(of.lines) == sum(len(of.members[u]) for u in of.several)


def test_there_are_many_mutations() -> None:
    assert len(MUTATIONS) >= 40 and len(BASES) >= 4


@each("name", BASES)
def test_mutants_are_refused(engine: Engine, name: str) -> None:
    """Each mutant that breaks a statement, and no other."""
    of = BASES[name]
    found = [(mutation, lines) for mutation, mutate in MUTATIONS.items() for lines in mutate(of)]
    verdict = judged(engine, of, [lines for _, lines in found])
    for (mutation, lines), wrong in zip(found, verdict, strict=True):
        assert bool(wrong) == broken(of, lines), (mutation, lines, wrong)
    assert sum(map(bool, verdict)) > 40


WORDS = {
    "a line dropped": "a member of a released item has no item support",
    "a suppressed item": "an item support is of no member",
    "a line repeated": "an item support is repeated",
    "an upper bound above the support": "the bounds of an item are out of order",
    "an upper bound of k - 1": "the upper bound of an item is below k",
    "upper bounds below the support": "the upper bounds of a released item are too small",
    "one less than is needed": "the upper bounds leave no room",
}


@pytest.mark.slow
@each("name", BASES)
def test_the_verifier_says_what_is_wrong(engine: Engine, name: str) -> None:
    """Also where other statements are broken as well."""
    of = BASES[name]
    for mutation, words in WORDS.items():
        found = judged(engine, of, [lines for lines in MUTATIONS[mutation](of) if broken(of, lines)])
        assert found and all(any(w.startswith(words) for w in wrong) for wrong in found), (mutation, found)


def test_each_mutation_breaks_something() -> None:
    for mutation, mutate in MUTATIONS.items():
        assert any(broken(of, lines) for of in BASES.values() for lines in mutate(of)), mutation


def test_tables_that_only_the_rule_forbids(engine: Engine) -> None:
    """They keep what the verifier checks, and are not what the rule gives."""
    kept: dict[str, int] = dict.fromkeys(RULE_ONLY, 0)
    for of in BASES.values():
        found = [(mutation, lines) for mutation, mutate in RULE_ONLY.items() for lines in mutate(of)]
        found = [(mutation, lines) for mutation, lines in found if lines != of.lines and not broken(of, lines)]
        assert not any(judged(engine, of, [lines for _, lines in found])), of
        for mutation, _ in found:
            kept[mutation] += 1
    assert all(kept.values()), kept


def test_a_line_without_names_is_refused(engine: Engine) -> None:
    of = BASES["global-2-2"]
    with engine.transaction():
        for lines in ([*of.lines, (None, None, 0, 9)], [(None, None, None, None)], of.lines):
            case = (of.rows, of.members, weighted(of.rows, of.members, lines))
            assert bool(verified(engine, case, of.k, of.m)) == broken(of, lines) == (lines is not of.lines)


# --- other promises, rows and members beside the same table ---------------------------------------------------------


def claims(of: Base) -> Iterator[tuple[Base, Lines]]:
    """The table of a base beside another promise, other rows or other members."""
    for k in sorted({1, of.k - 1, of.k, of.k + 1, of.k + 3}):
        for m in (1, 2, 3, math.inf):
            yield Base(of.rows, of.originals, of.members, k, m), of.lines
    for u in of.several:
        shown = [j for j, row in enumerate(of.rows) if u in row]
        for n in range(1, len(shown) + 1):
            rows = [row - {u} if j in shown[:n] else row for j, row in enumerate(of.rows)]
            yield Base(tuple(rows), of.originals, of.members, of.k, of.m), of.lines
        for n in range(1, 4):
            yield (
                Base((*of.rows, *[frozenset([u])] * n), (*of.originals, *[frozenset()] * n), of.members, of.k, of.m),
                of.lines,
            )
        for items in ([*of.members[u], "w"], of.members[u][1:], of.members[u][:1], []):
            members = {label: below for label, below in {**of.members, u: items}.items() if below}
            yield Base(of.rows, of.originals, members, of.k, of.m), of.lines


@pytest.mark.slow
@pytest.mark.parametrize("name", some(BASES, *list(BASES)[::2], check=()))
def test_other_promises_rows_and_members(engine: Engine, name: str) -> None:
    found = list(claims(BASES[name]))
    refused = 0
    for promise in {(of.k, of.m) for of, _ in found}:
        some = [(of, lines) for of, lines in found if (of.k, of.m) == promise]
        cases = [(of.rows, of.members, weighted(of.rows, of.members, lines)) for of, lines in some]
        with engine.transaction():
            verdict = verdicts(engine, cases, *promise)
        for (of, lines), wrong in zip(some, verdict, strict=True):
            assert bool(wrong) == broken(of, lines), (of, wrong)
            refused += bool(wrong)
    assert refused > 10


# --- weights --------------------------------------------------------------------------------------------------------

OTHER_WEIGHTS = {
    "a thousandth more": lambda w: w * 1.001 + 0.001 * (w == 0),
    "a thousandth less": lambda w: w * 0.999 - 1e-9 * (w == 0),
    "one": lambda w: 1.0,
    "none": lambda w: None,
    "infinite": lambda w: math.inf,
    "negative": lambda w: -w if w else -1.0,
    "zero, or a half": lambda w: 0.5 * (w == 0),
    "its complement": lambda w: 1 - w + 0.01 * (w == 0.5),
}


@each("name", BASES)
def test_other_weights_are_refused(engine: Engine, name: str) -> None:
    """The weight of a released item that is not that of its bounds, in all of its lines or in one of them."""
    of = BASES[name]
    right = weighted(of.rows, of.members, of.lines)
    changed = [{n for n, line in enumerate(right) if line[0] == u} for u in of.several]
    changed += [{n} for n in range(len(right))]
    found = [
        (change, at, [(*line[:4], other(line[4])) if n in at else line for n, line in enumerate(right)])
        for change, other in OTHER_WEIGHTS.items()
        for at in changed
    ]
    with engine.transaction():
        verdict = verdicts(engine, [(of.rows, of.members, lines) for _, _, lines in found], of.k, of.m)
    accepted = [(change, at) for (change, at, _), wrong in zip(found, verdict, strict=True) if not wrong]
    assert not accepted


def test_a_single_missing_weight_is_refused(engine: Engine) -> None:
    rows, members = [frozenset("A")] * 4, {"A": ["a", "b"]}
    tables = [[("A", "a", 0, 4, 0.0), ("A", "b", 0, 4, weight)] for weight in (0.0, None)]
    with engine.transaction():
        right, wrong = verdicts(engine, [(rows, members, lines) for lines in tables], 2, 2)
    assert not right and wrong


# --- random tables --------------------------------------------------------------------------------------------------


def checked_releases(engine: Engine, seeds: range) -> Iterator[tuple[Published, int, Bound, list[str]]]:
    """Random releases with the tables and weights that anondb gives them, and what its verifier says of these."""
    releases = [random_release(seed) for seed in seeds]
    for k, m in sorted({(r.k, r.m) for r in releases}):
        some = [r for r in releases if (r.k, r.m) == (k, m)]
        with engine.transaction():
            tables = tables_of(engine, [(r.rows, r.members, r.originals) for r in some], k, m)
            cases: list[Published] = []
            for r, table in zip(some, tables, strict=True):
                lines = sorted((u, x, *bounds) for (u, x), bounds in table.items())
                support = np.array([len(r.at[u]) for u, *_ in lines])
                doubled = np.array([low + high for _, _, low, high in lines])
                found = weights(np.array([u for u, *_ in lines], dtype=object), doubled, support)
                cases.append((r.rows, r.members, [(*line, w) for line, w in zip(lines, found.tolist(), strict=True)]))
                exact = weights_of(r.rows, r.members, table)
                assert found.tolist() == pytest.approx([float(exact[u]) for u, *_ in lines], rel=1e-8, abs=1e-8)
            yield from ((case, k, m, wrong) for case, wrong in zip(cases, verdicts(engine, cases, k, m), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(62, night=6000, first=30_000))
def test_honest_tables_are_accepted(engine: Engine, seeds: range) -> None:
    n = 0
    for case, k, m, wrong in checked_releases(engine, seeds):
        assert not wrong and not ref.violations(case[0], case[1], [line[:4] for line in case[2]], k, m), case
        n += 1
    assert n == len(seeds)


def random_table(seed: int) -> tuple[Base, Lines]:
    """A table that is right, or nearly, or anything."""
    rnd = random.Random(seed)
    release = random_release(seed // 5)  # each for some tables
    rule = ref.published(release.rows, release.members, release.originals, release.k, release.m)
    lines: list[Line] = [(u, x, *bounds) for (u, x), bounds in rule.items()]
    of = Base(release.rows, release.originals, release.members, release.k, release.m)
    for _ in range(rnd.choice([0, 1, 1, 2, 5]) if lines else 0):
        at = rnd.randrange(len(lines))
        u, x, low, high = lines[at]
        near = [of.k - 1, of.k, of.k + 1, 2 * of.k, len(of.rows) - 1, len(of.rows), 0, 1]
        kind = rnd.random()
        if kind < 0.1:
            lines.pop(at)
        elif kind < 0.15:
            lines.append(rnd.choice(lines))
        elif kind < 0.25:
            lines[at] = (rnd.choice([u, None, *of.members]), rnd.choice([x, None, *release.domain]), low, high)
        elif kind < 0.3:
            lines[at] = rnd.choice([(u, x, None, high), (u, x, low, None)])
        else:
            other = (rnd.choice([(low or 0) + rnd.randint(-1, 1), 0]), rnd.choice([(high or 0) + rnd.randint(-2, 2), *near]))
            lines[at] = (u, x, *other)
        if not lines:
            break
    return of, lines


@pytest.mark.parametrize("seeds", portions(123, 604, 15_000, first=40_000))
def test_random_tables(engine: Engine, seeds: range) -> None:
    """The verifier refuses exactly those that break a statement."""
    tables = [random_table(seed) for seed in seeds]
    refused = 0
    for k, m in sorted({(of.k, of.m) for of, _ in tables}):
        some = [(of, lines) for of, lines in tables if (of.k, of.m) == (k, m)]
        cases = [(of.rows, of.members, weighted(of.rows, of.members, lines)) for of, lines in some]
        nameless = [any(line[:2] == (None, None) for line in lines) for _, lines in some]
        with engine.transaction():
            named = iter(verdicts(engine, [c for c, bad in zip(cases, nameless, strict=True) if not bad], k, m))
            found = [bad or bool(next(named)) for bad in nameless]
        for (of, lines), wrong in zip(some, found, strict=True):
            assert wrong == broken(of, lines), (of, lines)
            refused += wrong
    assert len(seeds) * 0.2 < refused < len(seeds) * 0.8


def keeps_support(seed: int) -> bool | None:
    """Whether the worlds of a random table expose no itemset; None if they are too many, or it breaks a statement."""
    of, lines = random_table(seed)
    if broken(of, lines):
        return None
    release = random_release(seed // 5)
    try:
        return not exposed(release, worlds(release, within(release, {(u, x): (a, b) for u, x, a, b in lines})))  # type: ignore[misc]
    except TooManyWorldsError:
        return None


@pytest.mark.parametrize("seeds", portions(82, 552, 15_000, first=60_000))
def test_accepted_tables_keep_the_promise(seeds: range) -> None:
    """What breaks no statement exposes no itemset, whatever rule it was made by."""
    found = [keeps_support(seed) for seed in seeds]
    assert False not in found, [seed for seed, kept in zip(seeds, found, strict=True) if kept is False]
    assert found.count(True) > len(seeds) * 0.2


# --- a release ------------------------------------------------------------------------------------------------------


def test_a_frozen_release(engine: Engine) -> None:
    """The promise of a release includes its item supports."""
    of = BASES["global-2-2"]
    schema = freeze_with_supports(engine, of.originals, of.members, of.k, of.m, "checked")
    run = engine._connection.execute  # type: ignore[attr-defined]

    def violations() -> tuple[bool, int]:
        with engine.transaction():
            found = verify_release(engine, schema, KmAnonymity(of.k, of.m))  # type: ignore[arg-type]
        assert found.item_supports is not None
        return found.verified, found.item_supports

    assert violations() == (True, 0)
    run("UPDATE release_checked.item_supports SET at_most = 1, at_least = 0 WHERE item = 'b'")
    verified, n = violations()
    assert not verified and n
    run("DELETE FROM release_checked.item_supports")
    assert violations() == (False, 2)


@pytest.mark.parametrize("name", some(["global-2-2", "global-2-3"], "global-2-3"))
@pytest.mark.parametrize("weight", some(["nan", "inf", "-0.5", "2"], "nan", "2"))
def test_weights_that_are_no_shares(engine: Engine, name: str, weight: str) -> None:
    of = BASES[name]
    schema = freeze_with_supports(engine, of.originals, of.members, of.k, of.m, "weighted")
    for where in (f"released_item = '{of.several[-1]}'", f"item = '{of.members[of.several[-1]][0]}'"):
        engine._connection.execute(  # type: ignore[attr-defined]
            f"UPDATE release_weighted.item_supports SET weight = CAST('{weight}' AS DOUBLE) WHERE {where}"
        )
        with engine.transaction():
            found = verify_release(engine, schema, KmAnonymity(of.k, of.m))  # type: ignore[arg-type]
        assert found.item_supports == 1 and not found.verified
