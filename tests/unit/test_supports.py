"""What item supports say of sets of items: the extremes over all ways in which transactions may hold the members."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from each import each

from anondb.answers.rules.cells import Supports

CASES = [  # how many transactions hold each of three members at least and at most
    ((0, 0, 0), (3, 1, 1)),
    ((1, 0, 0), (2, 1, 1)),
    ((0, 0, 0), (1, 1, 1)),
    ((0, 0, 0), (3, 3, 3)),
    ((2, 1, 0), (3, 2, 1)),
    ((2, 2, 2), (2, 2, 3)),
]
"""Three transactions show a released item with three members, and each holds one or more of them."""


@pytest.mark.slow
@each("least, most", CASES)
def test_sets_have_the_extremes_of_all_originals(least: tuple[int, ...], most: tuple[int, ...]) -> None:
    held = [row for row in product((0, 1), repeat=3) if any(row)]
    worlds = np.array([w for w in product(held, repeat=3) if np.all((least <= (s := np.sum(w, 0))) & (s <= most))])
    chosen = np.array(list(product((False, True), repeat=3)))
    beside = np.ones((len(chosen), 1), dtype=bool)  # a released item of one member, of which all are known
    supports = Supports(np.array([3, 5]), np.array([0, 3]), np.array([*least, 5]), np.array([*most, 5]))
    found = supports.of_sets(np.hstack([chosen, beside]))
    any_ends, rows_ends = (np.dstack(ends) for ends in ((found.any_low, found.any_high), (found.rows_low, found.rows_high)))
    assert len(worlds) and found.size.tolist() == [[sum(one), 1] for one in chosen.tolist()]
    assert (any_ends[:, 1] == 5).all() and (rows_ends[:, 1] == 5).all()
    for n, some in enumerate(chosen):
        of_set = worlds[:, :, some]
        persons, rows = of_set.any(axis=2).sum(axis=1), of_set.sum(axis=(1, 2))
        assert any_ends[n, 0].tolist() == [persons.min(), persons.max()]
        assert rows_ends[n, 0].tolist() == [rows.min(), rows.max()]
