"""Texts of named queries: the same as those that are not kept, whatever was written before."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from anondb.engine import Table, load
from anondb.engine.texts import creation, named_text

HERE, THERE = Table("temp", "main", "rows"), Table("shop", "main", "sales")


@pytest.mark.parametrize("target", [None, Table("temp", "main", "made"), Table("shop", "release_r", "made")])
def test_a_kept_text_is_that_of_its_tables_values_and_target(target: Table | None) -> None:
    name, values = "transactions/catalog", (1, True, 1.0, 2, "1", None)
    for _ in range(2):
        for value in values:
            query = load(name).bind({}, {"wanted": value})
            made = query if target is None else creation(target, query)
            assert parse_one(named_text(name, {}, {"wanted": value}, target), dialect="duckdb") == made, value
    assert len({named_text(name, {}, {"wanted": value}, target) for value in values}) == len(values)


def test_tables_and_trees() -> None:
    tree = exp.select("key", "value").from_("somewhere")
    texts = [named_text("release/manifest", {"manifest": table}, {}) for table in (HERE, THERE, tree, HERE)]
    assert texts[0] == texts[3] and len(set(texts)) == 3
    assert '"temp"."main"."rows"' in texts[0] and '"shop"."main"."sales"' in texts[1] and "somewhere" in texts[2]
