"""ARE of COUNT queries over relational values and items (Poulis et al., section 6; docs/algorithms/metrics.md#are).

A query of kind (x, y) asks how many records have x relational values and hold y items. Its estimate is the sum over records
of the probability of the class's values times that of the record's items: by the paper, or as ``count_bounds`` expects it.
Records of a class share their relational values, so only the items are evaluated for each record.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anondb.data.records import Records
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Rows, reads
from anondb.engine.arrays import Floats, Ints, places_of
from anondb.engine.trees import exp
from anondb.errors import InputError
from anondb.recoding import PublishedAttribute, RelationalRecoding
from anondb.utility.accuracy import error_figures
from anondb.utility.supported_items import of_subset, weights


@dataclass(frozen=True)
class RtQuery:
    """A COUNT query: values as (number of the attribute, code), and item numbers."""

    values: tuple[tuple[int, int], ...]
    items: tuple[int, ...]


@dataclass(frozen=True)
class Original:
    """The original data: the records, the records that hold each item, and the items that each record holds."""

    records: Records
    holders: Sequence[Ints]
    held: Sequence[Ints]

    @classmethod
    def load(cls, engine: Engine, dataset: Dataset, records: Records) -> Original:
        """Read the data from a dataset and its records."""
        record, item = _occurrences(engine, dataset.transactions)
        return cls(records, _split(record, item, dataset.n_items), _split(item, record, records.n))

    def count(self, query: RtQuery) -> int:
        """The true answer of a query."""
        fits = np.ones(self.records.n, dtype=np.bool_)
        for i, code in query.values:
            attribute = self.records.attributes[i]
            fits &= (attribute.codes == code) & ~attribute.null
        for item in query.items:
            holding = np.zeros(self.records.n, dtype=np.bool_)
            holding[self.holders[item]] = True
            fits &= holding
        return int(fits.sum())

    def draw(self, x: int, y: int, queries: int, seed: int) -> list[RtQuery]:
        """Draw random queries: x values and y items of a random record. No query has the answer 0. Raises InputError: no
        record has x values and y items."""
        rng = np.random.default_rng(seed)
        attributes = self.records.attributes
        able = np.array([r for r, held in enumerate(self.held) if len(held) >= y], dtype=np.int64)
        usable = sum(not a.null.all() for a in attributes)
        tries = 100 * queries if x <= usable and len(able) and x + y else 0
        drawn: list[RtQuery] = []
        for _ in range(tries):
            if len(drawn) == queries:
                break
            record = int(rng.choice(able))
            chosen = sorted(rng.choice(len(attributes), size=x, replace=False).tolist())
            if any(attributes[i].null[record] for i in chosen):
                continue
            items = sorted(rng.choice(self.held[record], size=y, replace=False).tolist())
            drawn.append(RtQuery(tuple((i, int(attributes[i].codes[record])) for i in chosen), tuple(items)))
        if not drawn:
            raise InputError("No record has as many values and items as a query asks for.", code="bad_parameter")
        return drawn


def _occurrences(engine: Engine, transactions: Rows) -> tuple[Ints, Ints]:
    """The record and the item of each occurrence, sorted."""
    rows = engine.query("transactions/occurrences", {"transactions": transactions})
    return rows["record"].astype(np.int64), rows["item"].astype(np.int64)


def _split(values: Ints, of: Ints, number: int) -> list[Ints]:
    """The values of each of so many groups, in order."""
    return [values[places] for places in places_of(of, number)]


class RtEstimator:
    """Estimates the answers of queries as the paper does: the sets that a released item stands for are equally likely."""

    def __init__(self, engine: Engine, dataset: Dataset, records: Records, recoding: RelationalRecoding) -> None:
        self._records = records
        self._attributes = recoding.attributes
        classes = engine.select(reads.rows(recoding.classes, "class", order="tid"))
        self._class = classes["class"].astype(np.int64)
        shown = reads.rows(recoding.items.transactions, "tid, released AS item")
        self._holding = _split(*_occurrences(engine, shown), len(recoding.items.labels))
        number = self._number = {label: i for i, label in enumerate(dataset.labels)}
        self._sizes = recoding.items.sizes
        self._covering: dict[int, list[int]] = {}
        for r, label in zip(recoding.items.member_of.tolist(), recoding.items.member_labels, strict=True):
            if label in number:
                self._covering.setdefault(number[label], []).append(r)

    def estimate(self, query: RtQuery) -> float:
        """The expected number of records."""
        return float(self.chances(query).sum())

    def chances(self, query: RtQuery) -> Floats:
        """For each record, the probability that it has the values and holds the items."""
        chance = np.ones(self._records.n)
        for i, code in query.values:
            chance *= _chance(self._attributes[i], self._records.attributes[i].values, code)[self._class]
        if not query.items:
            return chance
        covered = np.zeros(self._records.n, dtype=np.int64)
        asked: dict[int, list[int]] = {}
        for item in query.items:
            for released in self._covering.get(item, ()):
                if len(self._holding[released]):
                    asked.setdefault(released, []).append(item)
        for released, items in asked.items():
            holding = self._holding[released]
            covered[holding] += len(items)
            chance[holding] *= self._held(released, items)
        return np.where(covered == len(query.items), chance, 0.0)

    def _held(self, released: int, items: list[int]) -> float:
        """The probability that a record that shows a released item holds these of its members."""
        return of_subset(int(self._sizes[released]), len(items))


class ExpectedEstimator(RtEstimator):
    """Estimates the answers of queries as ``count_bounds`` of the release does, from the expected holders of each member."""

    def __init__(
        self, engine: Engine, dataset: Dataset, records: Records, recoding: RelationalRecoding, holders: exp.Query
    ) -> None:
        """``holders`` is the query (released_item, item, support, expected) of ``expected_holders``."""
        super().__init__(engine, dataset, records, recoding)
        columns = "released_item, item, support, expected"
        rows = engine.select(reads.rows(holders, columns, order="released_item, item"), "expected holders")
        place = {label: r for r, label in enumerate(recoding.items.labels)}
        released = np.array([place[label] for label in rows["released_item"].tolist()], dtype=np.int64)
        share = rows["expected"].astype(np.float64) / rows["support"].astype(np.float64)
        item = [self._number.get(label, -1) for label in rows["item"].tolist()]
        self._share = dict(zip(zip(released.tolist(), item, strict=True), share.tolist(), strict=True))
        self._together = dict(zip(released.tolist(), weights(released, share).tolist(), strict=True))

    def _held(self, released: int, items: list[int]) -> float:
        shares = (self._share[released, item] for item in items)
        together: float = self._together[released]
        return float(math.prod(shares) * together ** (len(items) - 1))


def _chance(attribute: PublishedAttribute, values: Sequence[str | None], code: int) -> Floats:
    """The probability, by class, that the original value has this code."""
    if attribute.low is None or attribute.high is None or attribute.empty is None or attribute.null is None:
        sizes: dict[str, int] = {}
        holding: set[str] = set()
        for label, value in zip(attribute.value_of, attribute.values, strict=True):
            sizes[label] = sizes.get(label, 0) + 1
            if value == values[code]:
                holding.add(label)
        return np.array([1 / sizes[label] if label in holding else 0.0 for label in attribute.label])
    unit = 86_400_000_000 if attribute.sql_type == "DATE" else 1
    inside = ~attribute.empty & (attribute.low <= code) & (code <= attribute.high)
    width = (attribute.high - attribute.low) / unit
    if attribute.sql_type in ("BIGINT", "DATE"):
        share = 1 / np.where(inside, width + 1 + attribute.null, 1)
    else:
        share = np.where(width == 0, 1 / (1 + attribute.null), 0.0)
    return np.where(inside, share, 0.0)


def accuracy_of(
    engine: Engine,
    dataset: Dataset,
    records: Records,
    recoding: RelationalRecoding,
    *,
    k: int | None,
    values: int,
    items: int,
    queries: int,
    seed: int,
    holders: exp.Query,
) -> dict[str, Any] | None:
    """The paper's ARE, and ``RelativeError`` of what the release answers (``holders``: see ``ExpectedEstimator``), of random
    queries on relational values and items, for the owner's report. None if no record has as many values and items. Bounds
    are not measured, so ``width`` is None."""
    original = Original.load(engine, dataset, records)
    try:
        asked = original.draw(values, items, queries, seed)
    except InputError:
        return None
    papers = average_relative_error(original, RtEstimator(engine, dataset, records, recoding), asked)
    truths, estimates = _answers(original, ExpectedEstimator(engine, dataset, records, recoding, holders), asked)
    nothing = [None] * len(asked)
    columns: dict[str, tuple[str, Any]] = {
        "truth": ("BIGINT", truths),
        "lower_bound": ("BIGINT", nothing),
        "upper_bound": ("BIGINT", nothing),
        "relative_error": ("DOUBLE", np.abs(truths - estimates) / truths),
    }
    answers = engine.put("values_answers", columns)
    errors, _ = error_figures(engine, answers, k)
    engine.drop(answers)
    return {
        "queries": len(asked),
        "values": values,
        "items": items,
        "seed": seed,
        "average_relative_error": papers,
        "symmetric_error": float(np.mean(np.abs(truths - estimates) / np.maximum(truths, estimates))),
        "relative_error": errors.to_json(),
        "frequent": errors.frequent_json(),
    }


def average_relative_error(original: Original, estimator: RtEstimator, queries: Sequence[RtQuery]) -> float:
    """ARE: the mean of |truth - estimate| / truth; queries of ``Original.draw`` never have the truth 0."""
    truths, estimates = _answers(original, estimator, queries)
    return float(np.mean(np.abs(truths - estimates) / truths))


def _answers(original: Original, estimator: RtEstimator, queries: Sequence[RtQuery]) -> tuple[Ints, Floats]:
    """Truth and estimate of each query."""
    truths = np.array([original.count(query) for query in queries], dtype=np.int64)
    return truths, np.array([estimator.estimate(query) for query in queries], dtype=np.float64)
