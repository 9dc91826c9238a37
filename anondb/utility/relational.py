"""ARE of COUNT queries over relational values and items (Poulis et al., section 6; spec 2.6).

A query of kind (x, y) asks how many records have x given relational values and hold y given items. It is answered from the
recoding as ``count_bounds`` answers it from a release: the probability of each class's values times that of each record's
items. Records of a class share their relational values, so only the items are looked up record by record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.data.records import Records
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table
from anondb.errors import InputError
from anondb.recoding import PublishedAttribute, RelationalRecoding
from anondb.utility.accuracy import Accuracy
from anondb.utility.counting import count_sets
from anondb.utility.workload import Workload

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RtQuery:
    """A COUNT query: values as (number of the attribute, its code), and numbers of items."""

    values: tuple[tuple[int, int], ...]
    items: tuple[int, ...]


@dataclass(frozen=True)
class Original:
    """The original data by record: codes of the attributes, and the records that hold each item."""

    records: Records
    holders: Sequence[Ints]
    held: Sequence[Ints]

    @classmethod
    def load(cls, engine: Engine, dataset: Dataset, records: Records) -> Original:
        """From a dataset and its records."""
        found = engine.query("transactions/occurrences", {"transactions": dataset.transactions})
        record, item = found["record"].astype(np.int64), found["item"].astype(np.int64)
        by_item = np.argsort(item, kind="stable")
        ends = np.cumsum(np.bincount(item, minlength=dataset.n_items))[:-1]
        of_record = np.cumsum(np.bincount(record, minlength=records.n))[:-1]
        return cls(records, np.split(record[by_item], ends), np.split(item, of_record))

    def count(self, query: RtQuery) -> int:
        """The true answer."""
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
        """Random queries: x values and y items of a random record that has as many. None has the answer 0.

        Raises:
            InputError: no record has y items, or there are fewer than x attributes.
        """
        rng = np.random.default_rng(seed)
        attributes = self.records.attributes
        able = np.array([r for r, held in enumerate(self.held) if len(held) >= y], dtype=np.int64)
        if x > len(attributes) or not len(able) or x + y == 0:
            raise InputError("No record has so many values and items.", code="bad_parameter")
        found: list[RtQuery] = []
        while len(found) < queries:
            record = int(rng.choice(able))
            chosen = sorted(rng.choice(len(attributes), size=x, replace=False).tolist())
            if any(attributes[i].null[record] for i in chosen):
                continue
            items = sorted(rng.choice(self.held[record], size=y, replace=False).tolist())
            found.append(RtQuery(tuple((i, int(attributes[i].codes[record])) for i in chosen), tuple(items)))
        return found


class RtEstimator:
    """Answers queries from a recoding."""

    def __init__(self, engine: Engine, dataset: Dataset, records: Records, recoding: RelationalRecoding) -> None:
        self._records = records
        self._attributes = recoding.attributes
        classes = engine.query("utility/classes", {"classes": recoding.classes})
        self._class = classes["class"].astype(np.int64)
        rows = engine.query("utility/local_rows", {"transactions": recoding.items.transactions})
        record, released = rows["record"].astype(np.int64), rows["released"].astype(np.int64)
        order = np.argsort(released, kind="stable")
        ends = np.cumsum(np.bincount(released, minlength=len(recoding.items.labels)))[:-1]
        self._holding = np.split(record[order], ends)
        number = {label: i for i, label in enumerate(dataset.labels)}
        self._sizes = recoding.items.sizes
        self._covering: dict[int, list[int]] = {}
        for r, label in zip(recoding.items.member_of.tolist(), recoding.items.member_labels, strict=True):
            if label in number:
                self._covering.setdefault(number[label], []).append(r)

    def estimate(self, query: RtQuery) -> float:
        """The expected number of records."""
        chance = np.ones(self._records.n)
        for i, code in query.values:
            chance *= _chance(self._attributes[i], self._records.attributes[i].values, code)[self._class]
        if not query.items:
            return float(chance.sum())
        covered = np.zeros(self._records.n, dtype=np.int64)
        wanted: dict[int, int] = {}
        for item in query.items:
            for released in self._covering.get(item, ()):
                wanted[released] = wanted.get(released, 0) + 1
        for released, queried in wanted.items():
            holding = self._holding[released]
            covered[holding] += queried
            chance[holding] *= 2.0**-queried / (1 - 2.0 ** -int(self._sizes[released]))
        return float(chance[covered == len(query.items)].sum())


def _chance(attribute: PublishedAttribute, values: Sequence[str | None], code: int) -> Floats:
    """The probability, by class, that the original value is the one asked for."""
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


def average_relative_error(original: Original, estimator: RtEstimator, queries: Sequence[RtQuery]) -> float:
    """ARE: the mean of |truth - estimate| / truth; the queries of ``Original.draw`` have no answer 0."""
    errors = []
    for query in queries:
        truth = original.count(query)
        errors.append(abs(truth - estimator.estimate(query)) / truth)
    return float(np.mean(errors))


# ---------------------------------------------------------------------- itemset queries on a frozen release


def measure_relational(
    engine: Engine,
    dataset: Dataset,
    workload: Workload,
    transactions: Table,
    transaction_ids: Table,
    released_items: Table,
    *,
    target: str = "answers",
) -> Accuracy:
    """Answer itemset queries on the original data and on a frozen release of a set-valued local recoding.

    The answers are those of the release's ``count_bounds``; records are judged one by one, many queries at a time.

    Args:
        engine: inside a transaction.
        dataset: the original data.
        workload: the queries.
        transactions, transaction_ids, released_items: of the release.
        target: name of the work table of answers.
    """
    rows = engine.query("utility/frozen_rows", {"transactions": transactions})
    ids = engine.query("utility/frozen_incomplete", {"transaction_ids": transaction_ids})
    members = engine.query("utility/frozen_members", {"released_items": released_items})
    open_ended = ~ids["complete"].astype(np.bool_)
    labels, begin = np.unique(rows["item"].astype(object), return_index=True)
    numbers = rows["transaction_id"].astype(np.int64) - 1
    holding = dict(zip(labels.tolist(), np.split(numbers, begin)[1:], strict=True))
    covering: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for released, label in zip(members["released_item"].tolist(), members["item"].tolist(), strict=True):
        covering.setdefault(label, []).append(released)
        sizes[released] = sizes.get(released, 0) + 1
    asked: dict[int, list[str]] = {}
    found = engine.query(
        "utility/query_members", {"names": workload.names, "queries": workload.queries, "items": workload.items}
    )
    gaps = np.ma.getmaskarray(found["label"]).tolist()
    for number, label, is_gap in zip(
        found["query_id"].tolist(), np.ma.getdata(found["label"]).tolist(), gaps, strict=True
    ):
        asked.setdefault(int(number), []).extend([] if is_gap else [label])
    pairs = exp.select(exp.column("query_id").as_("set_id"), "item").from_(workload.queries.expression())
    counted = count_sets(engine, f"{target}_truths", dataset.transactions, pairs)
    truths = engine.select(exp.select("set_id", "support").from_(counted.expression()))
    truth = dict(zip(truths["set_id"].tolist(), truths["support"].tolist(), strict=True))
    n = dataset.n_transactions
    figures: list[tuple[int, int, float, int, int]] = []
    for number, items in asked.items():
        if not items:
            figures.append((number, n, float(n), n, n))
            continue
        figures.append((number, int(truth.get(number, 0)), *_bounds(items, covering, sizes, holding, open_ended, n)))
    columns = ("query_id", "truth", "estimate", "lower_bound", "upper_bound")
    kinds = ("INTEGER", "BIGINT", "DOUBLE", "BIGINT", "BIGINT")
    table = engine.put(
        f"{target}_figures",
        {c: (kind, [row[i] for row in figures]) for i, (c, kind) in enumerate(zip(columns, kinds, strict=True))},
    )
    sources = {"names": workload.names, "queries": workload.queries, "items": workload.items, "figures": table}
    answers = engine.create(target, "utility/relational_answers", sources)
    engine.drop(table, counted)
    errors = engine.query("utility/errors", {"answers": answers})
    relative = np.ma.compressed(np.ma.asarray(errors["relative_error"])).tolist()
    return Accuracy(
        queries=workload.n_queries,
        size=workload.size,
        average_relative_error=fsum(relative) / len(relative) if relative else None,
        skipped=workload.n_queries - len(relative),
        outside=int(np.asarray(errors["outside"]).sum()),
        estimator="joint",
        seed=workload.seed,
        draw=workload.draw,
        answers=answers,
    )


def _bounds(
    items: Sequence[str],
    covering: Mapping[str, Sequence[str]],
    sizes: Mapping[str, int],
    holding: Mapping[str, Ints],
    open_ended: npt.NDArray[np.bool_],
    n: int,
) -> tuple[float, int, int]:
    """Estimate, lower and upper bound of one query, as ``count_bounds`` has them."""
    wanted = Counter(released for item in items for released in covering.get(item, ()))
    covered, certain = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    chance = np.ones(n)
    for released, queried in wanted.items():
        held, size = holding[released], sizes[released]
        covered[held] += queried
        chance[held] *= 2.0**-queried / (1 - 2.0**-size)
        if size == 1:
            certain[held] += queried
    whole = covered == len(items)
    return float(chance[whole].sum()), int((certain == len(items)).sum()), int((whole | open_ended).sum())
