"""What item supports promise, proven on tiny releases by all the originals that each may come from.

For each release: the table by the SQL of anondb, all worlds that its bounds leave, and in these what
docs/item_supports.md#the-promise states. Equal candidates: who knows some items takes each transaction with the same cover
of them for equally likely. Support: a set of up to m items may be held by nobody, or by k transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
import reference_supports as ref
from portions import portions
from reference_expected import expected_count, expected_holders
from release.benches import ReleaseBench
from release.cases import catalog, dataset
from supports_cases import Bound, asked, freeze_with_supports, frozen_lines, number, released, rule_of, tables_of, weights_of
from supports_random import random_release, random_similar
from supports_worlds import (
    Release,
    TooManyWorldsError,
    anything,
    check_facts,
    check_promise,
    known_facts,
    reader,
    same_table,
    suppressed_in,
    uneven,
    within,
    worlds,
)

from anondb.engine import Engine
from anondb.models.transactional import KmAnonymity
from anondb.recoding import LocalRecoding
from anondb.release.freeze import freeze
from anondb.release.item_supports import SupportRule
from anondb.release.objects import GLOBAL, LOCAL, SchemaName, release_schema, with_item_supports


def published(engine: Engine, releases: Sequence[Release]) -> list[ref.Supports]:
    """The tables of all releases by the SQL of the rule, which gives what the naive rule gives."""
    promises: dict[tuple[int, Bound], list[int]] = {}
    for n, release in enumerate(releases):
        promises.setdefault((release.k, release.m), []).append(n)
    found: list[ref.Supports] = [{} for _ in releases]
    for (k, m), numbers in promises.items():
        cases = [(releases[n].rows, releases[n].members, releases[n].originals) for n in numbers]
        with engine.transaction():
            tables = tables_of(engine, cases, k, m)
        for n, table, case in zip(numbers, tables, cases, strict=True):
            assert table == ref.published(*case, k, m), n
            found[n] = table
    return found


def check_seeds(engine: Engine, seeds: range, draw: Callable[[int], Release] = random_release) -> None:
    releases = [draw(seed) for seed in seeds]
    skipped = 0
    for seed, release, table in zip(seeds, releases, published(engine, releases), strict=True):
        assert not ref.violations(release.rows, release.members, table, release.k, release.m), seed
        try:
            check_promise(release, table)
        except TooManyWorldsError:
            skipped += 1
        except AssertionError as error:
            raise AssertionError((seed, release, table)) from error
    assert skipped < len(seeds) / 4, skipped


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(25, night=20_000))
def test_random_releases_keep_the_promise(engine: Engine, seeds: range) -> None:
    check_seeds(engine, seeds)


@pytest.mark.parametrize("seeds", portions(13, 52, 5000))
def test_opened_rows_keep_the_promise(engine: Engine, seeds: range) -> None:
    """Releases of Similar, where an item is shown as itself in some transactions and as its group in others."""
    check_seeds(engine, seeds, random_similar)


@pytest.mark.parametrize("seeds", portions(9, 35, 400, first=50_000))
def test_the_bits_are_the_originals(seeds: range) -> None:
    """The worlds of the rows alone are all combinations of the originals of their transactions, each once."""
    for seed in seeds:
        release = random_release(seed)
        if release.local:
            continue
        choices = [ref.originals_of(row, release.members, release.others) for row in release.rows]
        choices = [[o for o in c if o or not release.nonempty] for c in choices]
        if np.prod([float(len(c)) for c in choices]) > 3000:
            continue
        wanted = {tuple(release.bits(o) for o in world) for world in product(*choices)}
        found = [tuple(world) for world in worlds(release, anything).tolist()]
        assert len(found) == len(wanted) and set(found) == wanted, seed


@pytest.mark.parametrize("most", [8, pytest.param(16, marks=pytest.mark.slow)])
def test_the_rule_is_the_reference_for_all_counts(engine: Engine, most: int) -> None:
    """All counts of up to three members in up to ``most`` transactions, and others that do not fit any original."""
    for k, m in product((1, 2, 3, 5), (1, 2, 3, float("inf"))):
        cases = [(s, n) for size in (1, 2, 3) for s in range(most + 1) for n in product(range(0, s + 1, size), repeat=size)]
        held = [(f"{c}", "abc"[i], s, n) for c, (s, counts) in enumerate(cases) for i, n in enumerate(counts)]
        with engine.transaction():
            found = rule_of(engine, held, k, m)
        tables: dict[str, dict[str, tuple[int, int]]] = {}
        for label, item, low, high in found:
            tables.setdefault(label, {})[item] = low, high
        for c, (s, counts) in enumerate(cases):
            wanted = ref.of_label(dict(zip("abc", counts, strict=False)), s, k, m)
            assert tables.get(f"{c}", {}) == wanted, (s, counts, k, m)


# --- the macro and the view of a release ----------------------------------------------------------------------------


class Bench(ReleaseBench):
    """A release with item supports."""

    def fill(self, release: Release, table: ref.Supports) -> None:
        complete = [not release.others or j in release.complete for j in range(len(release.rows))]
        weights = weights_of(release.rows, release.members, table)
        self.put(
            {
                "transactions": [(n, u, 1) for n, row in enumerate(release.rows, 1) for u in sorted(row)],
                "transaction_ids": list(enumerate(complete, 1)),
                "released_items": [(u, x) for u, items in release.members.items() for x in items],
                "item_supports": [(u, x, *bounds, float(weights[u])) for (u, x), bounds in sorted(table.items())],
                "manifest": [
                    ("release_id", "number"),
                    ("suppression", "none" if all(complete) else "some"),
                    ("semantics", "set"),
                    ("k", str(release.k)),
                ],
            }
        )


@pytest.fixture(scope="module")
def benches() -> Iterator[dict[bool, Bench]]:
    made = {kind.local: Bench(with_item_supports(kind)) for kind in (GLOBAL, LOCAL)}
    yield made
    for bench in made.values():
        bench.engine.close()


def check_answers(release: Release, table: ref.Supports, answers: dict[tuple[str, ...], tuple[int, float, int]]) -> None:
    """The bounds are those of the formulas, and the estimates the expected numbers within them."""
    read = reader(release, table)
    holders = expected_holders(release.rows, release.members, table, release.k)
    for items, (lower, estimate, upper) in answers.items():
        assert (lower, upper) == read.bounds(items), items
        expected = expected_count(release.rows, release.members, items, holders)
        assert estimate == pytest.approx(min(max(expected, lower), upper), rel=1e-8, abs=1e-8), items


@pytest.mark.parametrize("seeds", portions(5, 16, 2000, first=10_000))
def test_the_macro_has_the_bounds_of_the_formulas(benches: dict[bool, Bench], seeds: range) -> None:
    for seed in seeds:
        release = random_release(seed)
        table = ref.published(release.rows, release.members, release.originals, release.k, release.m)
        bench = benches[release.local]
        bench.fill(release, table)
        queries = [(), *release.itemsets(), ("unknown",), (release.domain[0], "unknown")]
        answers = dict(zip(queries, bench.ask(queries), strict=True))
        try:
            check_answers(release, table, answers)
            counts = bench.item_counts()
            assert counts.keys() == {x for items in release.members.values() for x in items}
            assert all(answer == pytest.approx(answers[x,], abs=1e-9) for x, answer in counts.items())
        except AssertionError as error:
            raise AssertionError((seed, release, table)) from error


def freeze_local(engine: Engine, release: Release, name: str) -> SchemaName:
    """Freeze a local recoding with item supports."""
    labels = tuple(sorted(release.members))
    pairs = [(n, x) for n, u in enumerate(labels) for x in release.members[u]]
    shown = [(tid, labels.index(u)) for tid, row in enumerate(release.rows, 1) for u in sorted(row)]
    schema = release_schema(catalog(engine), name)
    with engine.transaction():
        data = dataset(engine, release.originals)
        rows = {"tid": [t for t, _ in shown], "released": [u for _, u in shown], "copies": [1] * len(shown)}
        recoding = LocalRecoding(
            transactions=engine.put("local_rows", {c: ("INTEGER", v) for c, v in rows.items()}),
            incomplete=np.array([j for j in range(1, len(release.rows) + 1) if release.free(j - 1)], dtype=np.int64),
            labels=labels,
            member_of=np.array([n for n, _ in pairs]),
            member_labels=tuple(x for _, x in pairs),
        )
        rule, model = SupportRule(release.k, number(release.m)), KmAnonymity(release.k, release.m)
        freeze(engine, data, recoding, model, release_schema=schema, replace=True, supports=rule)
    return schema


def local_release() -> Release:
    """A is shown beside two released items that stand for c, and a is also shown as itself."""
    kinds = [("Ac", "ac", 1), ("Ac", "bc", 3), ("AC", "ac", 1), ("AC", "bd", 3), ("aC", "ac", 2)]
    rows = [frozenset(row) for row, _, n in kinds for _ in range(n)]
    originals = [frozenset(original) for _, original, n in kinds for _ in range(n)]
    members = {"A": ["a", "b"], "C": ["c", "d"], "a": ["a"], "c": ["c"]}
    return Release(tuple(rows), tuple(originals), members, (), True, True, 2, 2)


def test_a_frozen_local_recoding(engine: Engine) -> None:
    """Supports are those of each released item alone; an item is at most as often held as all of these allow."""
    release = local_release()
    schema = freeze_local(engine, release, "local")
    assert [line[:4] for line in frozen_lines(engine, schema)] == [
        ("A", "a", 0, 2),
        ("A", "b", 6, 8),
        ("C", "c", 3, 6),
        ("C", "d", 3, 6),
    ]
    answers = asked(engine, schema, [["a"], ["c"], ["a", "c"], ["a", "d"], ["a", "b"]])
    assert [(low, high) for low, _, high in answers] == [(2, 4), (7, 10), (0, 4), (0, 4), (0, 2)]
    table = ref.published(release.rows, release.members, release.originals, 2, 2)
    queries = list(release.itemsets())
    check_answers(release, table, dict(zip(queries, asked(engine, schema, queries), strict=True)))


@pytest.mark.parametrize("seeds", portions(2, 4, 200, first=20_000))
def test_frozen_releases(engine: Engine, seeds: range) -> None:
    """The same through freezing, from the originals to the answers."""
    for seed in seeds:
        release = random_release(seed)
        lost = {x for o in release.originals for x in o} & set(release.others)
        items = [x for below in release.members.values() for x in below]
        if (release.local and len(set(items)) == len(items)) or (bool(lost) != bool(release.others) and not release.local):
            continue  # it would be read as a global recoding, or its complete transactions would be others
        if release.local:
            schema = freeze_local(engine, release, "tiny")
        else:
            schema = freeze_with_supports(engine, release.originals, release.members, release.k, release.m, "tiny")
        table = ref.published(release.rows, release.members, release.originals, release.k, release.m)
        lines = frozen_lines(engine, schema)
        assert [line[:4] for line in lines] == sorted((*of, *bounds) for of, bounds in table.items()), seed
        queries = [x for x in release.itemsets() if len(x) < 4]
        check_answers(release, table, dict(zip(queries, asked(engine, schema, queries), strict=True)))


# --- what readers of the manifest know ------------------------------------------------------------------------------


def all_releases(most: int, k: int, m: Bound, *, nonempty: bool) -> Iterator[Release]:
    """Every release of up to ``most`` transactions over A for a and b, with y and z suppressed, that keeps its promise."""
    members = {"A": ["a", "b"]}
    sets = [frozenset(c) for n in range(5) for c in combinations("abyz", n) if c or not nonempty]
    for n in range(k, most + 1):
        for originals in combinations_with_replacement(sets, n):
            rows = released(originals, members)
            if 0 < sum(map(bool, rows)) < k or not any(rows) or not any({*"yz"} & o for o in originals):
                continue
            yield Release(tuple(rows), originals, members, ("y", "z"), nonempty, False, k, m)


@pytest.mark.parametrize("nonempty", [False, True], ids=["lists", "rows"])
@pytest.mark.parametrize(("most", "k"), [(3, 2), *(pytest.param(4, k, marks=pytest.mark.slow) for k in (2, 3))])
def test_the_manifest_takes_nothing_from_the_promise(most: int, k: int, nonempty: bool) -> None:
    """All tiny originals, in both layouts: the worlds with the number of suppressed items keep E and S, also those of the
    rows alone."""
    said = kept = 0
    seen: dict[object, bool] = {}
    for m in (1, 2):
        for release in all_releases(most, k, m, nonempty=nonempty):
            table = ref.published(release.rows, release.members, release.originals, k, m)
            number_of = len({x for o in release.originals for x in o} & {"y", "z"})
            key = tuple(map(tuple, release.rows)), m, number_of, tuple(sorted(table.items()))
            if key in seen:  # the same release of another original
                continue
            for keep in (anything, within(release, table), same_table(release, table)):
                seen[key] = check_facts(release, worlds(release, keep))
            said, kept = said + seen[key], kept + 1
    assert said == kept if not nonempty else 0 < said < kept


def test_the_number_would_lead_to_persons_where_it_is_left_out() -> None:
    """One row of a table of rows shows nothing, and one item was suppressed: this person is the likeliest to hold it."""
    originals = (frozenset("a"), frozenset("b"), frozenset("ay"), frozenset("y"))
    members = {"A": ["a", "b"]}
    release = Release(tuple(released(originals, members)), originals, members, ("y", "z"), True, False, 3, 1)
    found = worlds(release, anything)
    assert known_facts(release, found) is None
    one = found[suppressed_in(release, found) == 1]
    assert uneven(release, found) == [] and ("y",) in uneven(release, one)
