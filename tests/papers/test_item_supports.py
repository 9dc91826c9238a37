"""The golden cases of item supports, through the whole product: tables, bounds and estimates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import goldens
import pytest
import reference_supports as ref
from reference_expected import expected_count, expected_holders
from supports_cases import (
    asked,
    freeze_with_supports,
    frozen_lines,
    released,
    rule_of,
    shown,
    verdicts,
    weighted,
    weights_of,
)

from anondb.engine import Engine

CASES = goldens.params("item_supports")


def originals(inputs: dict[str, Any]) -> list[ref.Row]:
    return [frozenset(items) for n, items in inputs["transactions"] for _ in range(n)]


def table_of(lines: list[list[Any]]) -> ref.Supports:
    return {(label, item): (low, high) for label, item, low, high in lines}


@pytest.mark.slow
@pytest.mark.parametrize(("inputs", "expected"), CASES)
def test_the_product(engine: Engine, inputs: dict[str, Any], expected: dict[str, Any]) -> None:
    """The table, the bounds and the estimates of a release that is frozen."""
    schema = freeze_with_supports(engine, originals(inputs), inputs["labels"], inputs["k"], inputs["m"], "golden")
    lines = frozen_lines(engine, schema)
    assert [list(line[:4]) for line in lines] == expected["table"]
    rows = released(originals(inputs), inputs["labels"])
    weights = weights_of(rows, inputs["labels"], table_of(expected["table"]))
    assert [line[4] for line in lines] == pytest.approx([float(weights[line[0]]) for line in lines], rel=1e-8)
    holders = expected_holders(rows, inputs["labels"], table_of(expected["table"]), inputs["k"])
    answers = asked(engine, schema, [query for query, *_ in expected["answers"]])
    for (query, low, _, high, _), (lower, estimate, upper) in zip(expected["answers"], answers, strict=True):
        assert (lower, upper) == (low, high), query
        expected = expected_count(rows, inputs["labels"], query, holders)
        assert estimate == pytest.approx(min(max(expected, low), high), rel=1e-8, abs=1e-8), query


def _suppressed(inputs: dict[str, Any]) -> set[str]:
    return {x for t in originals(inputs) for x in t} - {x for items in inputs["labels"].values() for x in items}


@pytest.mark.parametrize(("inputs", "expected"), CASES)
def test_the_reference(inputs: dict[str, Any], expected: dict[str, Any]) -> None:
    """The naive reference gives the same, and the exact product form; the truth lies within the bounds."""
    data, labels = originals(inputs), inputs["labels"]
    rows = released(data, labels)
    table = ref.published(rows, labels, data, inputs["k"], inputs["m"])
    assert table == table_of(expected["table"])
    assert not ref.violations(rows, labels, table, inputs["k"], inputs["m"])
    reader = ref.Global(rows, labels, table, bool(_suppressed(inputs)))
    for query, low, estimate, high, truth in expected["answers"]:
        assert reader.bounds(query) == (low, high), query
        assert reader.estimate(query) == Fraction(estimate), query
        assert truth == sum(set(query) <= t for t in data) and low <= truth <= high, query


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("item_supports_table"))
def test_the_rule(engine: Engine, inputs: dict[str, Any], expected: dict[str, Any]) -> None:
    """A table alone, from the counts of the members."""
    k, m, s = inputs["k"], inputs["m"], inputs["support"]
    items = [chr(ord("a") + n) for n in range(len(inputs["counts"]))]
    held = [("A", x, s, n) for x, n in zip(items, inputs["counts"], strict=True)]
    with engine.transaction():
        found = rule_of(engine, held, k, m)
    assert [list(line[2:]) for line in found] == expected["bounds"]
    assert [line[:2] for line in found] == [("A", x) for x in items]
    bounds = ref.of_label(dict(zip(items, inputs["counts"], strict=True)), s, k, m)
    assert [list(bounds[x]) for x in items] == expected["bounds"]


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("item_supports_refused"))
def test_the_verifier_refuses(engine: Engine, inputs: dict[str, Any], expected: dict[str, Any]) -> None:
    """A wrong table beside the rows of another case, whose own table it accepts."""
    assert expected == {"verified": False}
    case = goldens.named(inputs["of"])
    given, labels = case["inputs"], case["inputs"]["labels"]
    rows = released(originals(given), labels)
    tables = [[tuple(line) for line in lines] for lines in (case["expected"]["table"], inputs["table"])]
    published = [(rows, shown(labels, rows), weighted(rows, labels, lines)) for lines in tables]
    with engine.transaction():
        right, wrong = verdicts(engine, published, given["k"], given["m"])
    assert not right and wrong
    assert ref.violations(rows, labels, tables[1], given["k"], given["m"])
