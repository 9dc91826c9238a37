"""Bounds of quantiles, against all choices of persons and numbers, with DuckDB's quantiles."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import duckdb
import pytest

from anondb.query.aggregates import CONT, DISC, bounds_of, places


@pytest.mark.parametrize("kind", [CONT, DISC])
def test_bounds_hold_for_all_choices(kind: str) -> None:
    rnd, connection, exact = random.Random(5), duckdb.connect(), 0
    for _ in range(60):
        share = Fraction(rnd.choice(["0", "0.1", "0.25", "0.5", "0.7", "0.9", "1"]))
        groups = []
        for n in range(rnd.randint(1, 3)):
            low = rnd.randint(0, 4)
            groups.append((low, low + rnd.randint(0, 2), rnd.randint(1, 2), n == 0 or rnd.random() < 0.5))
        low, high = bounds_of(
            kind, share, [(a, n, sure) for a, _, n, sure in groups], [(b, n, sure) for _, b, n, sure in groups]
        )
        persons = [(range(a, b + 1), sure) for a, b, n, sure in groups for _ in range(n)]
        worlds = product(*([*numbers] if sure else [*numbers, None] for numbers, sure in persons))
        texts = [f"[{', '.join(str(n) for n in world if n is not None)}]" for world in worlds]
        listed = ", ".join(f"({text}::BIGINT[])" for text in texts)
        sql = f"SELECT list_aggregate(w, '{kind}', {float(share)}) FROM (VALUES {listed}) v(w)"
        true = [row[0] for row in connection.execute(sql).fetchall()]
        assert all(low <= number <= high for number in true)
        exact += (low, high) == (min(true), max(true))
    assert exact >= (60 if kind == DISC else 20)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [CONT, DISC])
def test_places_are_those_of_duckdb(kind: str) -> None:
    connection = duckdb.connect()
    for share in ("0", "0.05", "0.1", "0.29", "0.5", "0.7", "0.95", "1"):
        for number in range(1, 120):
            sql = f"SELECT {kind}(i, {share}) FROM range({number}) t(i)"
            first, last = places(kind, Fraction(share), number)
            assert first <= connection.execute(sql).fetchone()[0] <= last <= first + 1
