"""Plain tables against (k,k^m)-anonymity and (k,l^m)-diversity: random records against the definitions."""

from __future__ import annotations

import random

import duckdb
import pytest
import rt_reference as naive
from portions import portions

import anondb
from anondb.verify.result import SensitiveWitness


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(2, night=200))
def test_random_tables(seeds: range) -> None:
    """NULL is a value of its own, equal values of any type make a class, and persons without items count."""
    for seed in seeds:
        rng = random.Random(seed)
        people = [(t, rng.choice([None, 1.5, 2.0]), rng.choice([None, "", "NULL", "a"])) for t in range(rng.randint(1, 9))]
        sets = {t: frozenset(i for i in "pqrz" if rng.random() < 0.5) for t, *_ in people}
        rows: list[naive.Row] = [((size, place), sets[t]) for t, size, place in people]
        k, m, ell = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 3)
        sensitive = rng.choice([[], ["z"]])
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE people (tid INTEGER, size DOUBLE, place VARCHAR)")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?)", people)
            connection.execute("CREATE TABLE held (tid INTEGER, item VARCHAR)")
            for t, items in sets.items():
                for item in items:
                    connection.execute("INSERT INTO held VALUES (?, ?)", [t, item])
            db = anondb.connect(connection)
            given = {"records": "people", "quasi_identifiers": "size,place", "sensitive": sensitive, "witnesses": 1000}
            found = db.verify("held", model=anondb.KkmAnonymity(k, m), **given)
            wanted = naive.minimal_kkm(rows, k, m, sensitive)
            assert sorted((w.items, w.support) for w in found.witnesses) == sorted(
                (tuple(sorted(x)), naive.class_support(rows, v, x)) for v, x in wanted
            ), seed
            diverse = db.verify("held", model=anondb.KlmDiversity(k, ell, m), **given)
            exposed = naive.klm_violations(rows, ell, m, sensitive)
            assert diverse.violations == len(wanted) + len(exposed), seed
            assert sorted((w.items, w.sensitive) for w in diverse.witnesses if isinstance(w, SensitiveWitness)) == sorted(
                (tuple(sorted(x)), z) for _, x, z in exposed
            ), seed
            everyone = db.verify("held", model=anondb.KkmAnonymity(k, m), **(given | {"quasi_identifiers": ""}))
            assert everyone.verified == (not naive.kkm_violations([((), t) for _, t in rows], k, m, sensitive)), seed
