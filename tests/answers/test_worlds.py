"""Every possible original of a release has its answers within the bounds, on a portion of the ledger's queries."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from answers.ledger import Query, Shown, queries
from answers.ledger_releases import KINDS, LISTS, Kind, asked, make, put, written_for
from answers.worlds import draw, every, fill, published
from portions import some

import anondb

QUERIES = queries()
SUPPRESSED = {"mhghs", "mhghs_supports", "coat_suppressed", "clump", "hkp_mm", "lists"}
COMPLETE = [name for name in KINDS if name not in SUPPRESSED]


def answers(session: anondb.Session, chosen: Iterable[Query], kind: Kind) -> list[Shown]:
    """The answers to those queries that are answered."""
    found = []
    for query in chosen:
        if query.fits(kind):
            sql = written_for(query.sql, kind)
            try:
                found.append(Shown(session.sql(sql), sql))
            except anondb.InputError as refusal:
                assert refusal.code in ("unsupported_query", "ambiguous_item", "query_too_complex"), sql
    return found


def check(folder: Path, name: str, chosen: Sequence[Query], worlds: int) -> None:
    kind = KINDS[name]
    with asked(name, folder) as (session, con):
        files = [published(file) for file in make(name, folder)]
        results = answers(session, chosen, kind)
        for seed in range(worlds):
            rnd = random.Random(seed)
            fill(con, [draw(file, rnd) for file in files], kind.layout == LISTS)
            wrong = [fault for shown in results for fault in shown.faults(con)]
            assert not wrong, f"world {seed} of {name}:\n" + "\n".join(wrong[:5])
    assert len(results) > len(chosen) / 3


def test_some_worlds_lie_within_the_bounds(folder: Path) -> None:
    check(folder, "apriori_supports", QUERIES[::64], 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(COMPLETE, *COMPLETE[::6], check=()))
def test_worlds_lie_within_the_bounds(folder: Path, name: str) -> None:
    check(folder, name, QUERIES[COMPLETE.index(name) % 24 :: 24], 4)


@pytest.mark.nightly
@pytest.mark.parametrize("name", COMPLETE)
def test_many_worlds_lie_within_the_bounds(folder: Path, name: str) -> None:
    check(folder, name, QUERIES, 100)


# --- tiny releases, all of whose worlds are listed ------------------------------------------------------------------

TREE = {"milk": "dairy", "butter": "dairy", "beer": "drinks", "wine": "drinks", "bread": "bakery"}
FOUR = [["milk", "bread"], ["butter", "bread"], ["beer"], ["wine"]]
FIVE = [["milk", "bread"], ["milk", "bread"], ["milk"], ["milk"], ["butter"]]  # of which item supports are narrower
ALONE, KM = anondb.KmAnonymity(2, 1), anondb.KmAnonymity(2, 2)
SETS = {"model": ALONE, "algorithm": "coat", "taxonomy": "food", "utility_constraints": "level:1"}
TINY: dict[str, tuple[list[list[str]], dict[str, Any]]] = {
    "global": (FOUR, {"model": KM, "taxonomy": "food"}),
    "supports": (FIVE, {**SETS, "item_supports": True}),
    "sets": (FOUR, SETS),
    "divided": (FOUR, {"model": KM, "algorithm": "similar"}),
    "rows": (FOUR, {"model": anondb.TransactionalK(2), "taxonomy": "food", "algorithm": "partition"}),
    "local": (FOUR, {"model": KM, "taxonomy": "food", "algorithm": "lra"}),
}


def tiny(folder: Path, name: str) -> Path:
    """A release of a few persons."""
    file = folder / f"tiny {name}.duckdb"
    bought, policy = TINY[name]
    with duckdb.connect() as con:
        put(con, "sales (tid INTEGER, item VARCHAR)", [(tid, item) for tid, of in enumerate(bought) for item in of])
        nodes = {**TREE, **dict.fromkeys(sorted(set(TREE.values())), "all")}
        put(con, "food (node VARCHAR, parent VARCHAR)", list(nodes.items()))
        anondb.connect(con).anonymize("sales", name="tiny", queries=1, **policy).publish(file)
    return file


@pytest.mark.slow
@pytest.mark.parametrize("name", some(TINY, "supports", check=()))
def test_all_worlds_of_a_tiny_release_lie_within_the_bounds(tmp_path: Path, name: str) -> None:
    """Of the bounds of queries of one number, most are the answers of some worlds."""
    file = tiny(tmp_path, name)
    worlds = list(every(published(file)))
    assert 10 < len(worlds) <= 250
    reached: dict[str, list[float]] = defaultdict(list)
    with anondb.open(file, threads=1) as session, duckdb.connect(config={"threads": 1}) as con:
        put(con, "food (node VARCHAR, parent VARCHAR)", list(TREE.items()))
        put(con, "prices (item VARCHAR, price INTEGER, cheap BOOLEAN)", [(i, len(i), len(i) < 5) for i in TREE])
        for own in ("food", "prices"):
            session.register(own, con.table(own).arrow())
        results = answers(session, QUERIES[3::12], Kind())
        numbers = {
            shown.sql: of[0] for shown in results for of in shown.answer.rows.values() if len(of) == 1 and not shown.keys
        }
        for world in worlds:
            fill(con, [world], lists=False)
            wrong = [fault for shown in results for fault in shown.faults(con)]
            assert not wrong, f"{world}:\n" + "\n".join(wrong[:5])
            for sql in numbers:
                reached[sql] += (value for (value,) in con.execute(sql).fetchall() if value is not None)
    ends = [(numbers[sql].lower, min(values)) for sql, values in reached.items() if values]
    ends += [(numbers[sql].upper, max(values)) for sql, values in reached.items() if values]
    assert len(ends) > 15 and sum(bound == pytest.approx(end) for bound, end in ends) > 0.7 * len(ends)
