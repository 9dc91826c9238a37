"""The number of different values: between those that occur for certain, or with one person, and those that may occur."""

from __future__ import annotations

import pytest
from portions import some
from session.conftest import Named

CONDITIONS = ["true", "item IN ('milk', 'bread')", "item <> 'bread'", "tid IN (SELECT tid FROM sales WHERE item = 'milk')"]
HIDDEN = {"plain": 0, "supports": 0, "suppressed": 4}  # items of which nobody but their number is told

CERTAIN = {"plain": 0, "supports": 2, "suppressed": 1}  # of dairy and bakery, those that a row shows


@pytest.mark.parametrize("condition", some(CONDITIONS, *CONDITIONS[::2]))
def test_items_are_counted_as_their_groups_are(named: Named, condition: str) -> None:
    name, session = named
    groups = session.sql(f"SELECT item, count(*) AS n FROM sales WHERE {condition} GROUP BY item").df()
    low, estimate, high = session.sql(f"SELECT count(DISTINCT item) AS n FROM sales WHERE {condition}").bounds
    of_one = f"SELECT count(*) AS c FROM sales WHERE {condition} GROUP BY tid"
    most = session.sql(f"SELECT coalesce(max(c), 0) AS n FROM ({of_one})").bounds[0]
    assert low == max((groups.n_lower >= 1).sum(), most)
    assert high == (groups.n_upper >= 1).sum() + HIDDEN[name] and low <= estimate <= high


def test_values_of_a_case_are_counted_once(named: Named) -> None:
    name, session = named
    kinds = "CASE WHEN item IN ('milk', 'butter') THEN 'dairy' WHEN item = 'bread' THEN 'bakery' END"
    assert session.sql(f"SELECT count(DISTINCT {kinds}) AS n FROM sales").bounds[::2] == (CERTAIN[name], 2)
    assert session.sql(f"SELECT count(DISTINCT {kinds}) AS n FROM sales WHERE item = 'dates'").bounds[::2] == (0, 0)
    gone = "CASE WHEN item = 'nothing like it' THEN 1 ELSE 2 END"
    assert session.sql(f"SELECT count(DISTINCT {gone}) AS n FROM sales").bounds[0] == 1


@pytest.mark.parametrize(
    "pairs",
    [
        "sales a JOIN sales b USING (tid) JOIN food f ON f.node = a.item JOIN food g ON g.node = b.item",
        "sales a JOIN food f ON f.node = a.item",
    ],
)
def test_a_group_that_exists_has_a_row(named: Named, pairs: str) -> None:
    groups = named[1].sql(f"SELECT f.parent, count(*) AS n FROM {pairs} GROUP BY f.parent").df()
    sure = groups[groups.certain] if "certain" in groups else groups
    assert (len(sure) > 0 or named[0] == "plain") and (sure.n_lower >= 1).all()
