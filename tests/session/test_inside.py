"""Bounds hold what DuckDB gives on the original: queries of many forms, on the small shop."""

from __future__ import annotations

from pathlib import Path

import pytest
from answers.groups import groups
from portions import parts
from session.conftest import Named
from session.test_chosen_items import wrong

CASES = [
    pytest.param(*part.values, id=f"{rule.name}-{part.id}", marks=part.marks)
    for rule in groups(Path(__file__).with_name("inside.sql"))
    for part in parts(rule.spellings, 6)
]


@pytest.mark.parametrize("queries", CASES)
def test_the_truth_is_inside_the_bounds(named: Named, shop: Path, queries: list[str]) -> None:
    assert not {sql: faults for sql in queries if (faults := wrong(named, shop, sql, filtered=False))}


def test_columns_keep_their_names(named: Named) -> None:
    lines = "SELECT s.item, coalesce(p.price, 0) AS amount, 1 AS tier FROM sales s LEFT JOIN prices p USING (item)"
    result = named[1].sql(f"SELECT Tier, sum(amount), count(*) FROM ({lines}) GROUP BY ALL", bounds="none")
    assert result.columns == ["tier", "sum(amount)", "count_star()"]
