"""Accuracy of a release of sets or bags on COUNT queries, by the rules of the macro ``count_bounds``."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from sqlglot import exp

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table, Tables, reads
from anondb.engine.places import run_starts
from anondb.utility.accuracy import Accuracy, Counted, ReleasedData, accuracy_of, measure, members_of, true_counts
from anondb.utility.published import Published
from anondb.utility.supported_items import GlobalItems, LocalItems, Members
from anondb.utility.workload import Workload

Answer = tuple[int, float, int]  # lower bound, estimate, upper bound


def measure_local(
    engine: Engine,
    dataset: Dataset,
    classes: Table,
    items: Table,
    released_items: Table,
    semantics: str,
    workload: Workload,
    *,
    k: int | None = None,
    target: str = "answers",
    holders: exp.Query | None = None,
) -> Accuracy:
    """Answer every query on the original data and on a local recoding, as its macro ``count_bounds`` does.

    Each published transaction counts by its released items that stand for the queried items
    (``sql/release/count_bounds_local.sql``). Equal published transactions are evaluated once.

    Args:
        classes: ``(content_id, content, complete, support)``: the distinct published transactions, see ``CodedRelease``.
        items: ``(item, label)`` of the released items, numbered from 0 without a gap.
        released_items: ``(released_item, item)``, the original items that these stand for.
        semantics: ``set`` or ``atomic``, from its manifest.
        workload: the queries; drawn ones must come from this dataset.
        k, target: see ``measure``.
        holders: of a release of sets, the query ``(released_item, item, at_least, at_most, expected)`` of
            ``expected_holders``. Without it the non-empty sets of a released item's members are equally likely, as in the
            papers.
    """
    truths = true_counts(engine, f"{target}_truths", dataset, workload)
    members = members_of(engine, f"{target}_members", items, released_items)
    published = Published.read(engine, classes, items, members, workload, semantics == "atomic")
    if holders is not None:
        tables: Tables = {"members": members, "coded": items, "items": workload.items, "expected": holders}
        published = LocalItems.of(published, engine.query("utility/supported_members", tables))
    estimator = "joint" if holders is None else "expected"
    answered = _answered(engine, dataset, workload, truths, lambda _, items: published.answer(items), target)
    engine.drop(truths, members)
    return accuracy_of(engine, workload, answered, estimator, k)


def measure_global(
    engine: Engine,
    dataset: Dataset,
    released: ReleasedData,
    items: Table,
    holders: exp.Query,
    workload: Workload,
    *,
    k: int | None,
    uniform: bool,
) -> Accuracy:
    """Answer every query on the original data and on a global recoding, as its macro ``count_bounds`` does.

    Args:
        engine, dataset, workload, k: see ``measure``.
        released: the published side, of the same transactions.
        items, holders: see ``measure_local``.
        uniform: whether the papers' estimates are measured, too.
    """
    counted = Counted.of(engine, dataset, released, workload, "answers")
    papers = None
    if uniform:
        papers = measure(engine, dataset, released, workload, target="papers", counted=counted)
        engine.drop(papers.answers)
    shown = engine.select(reads.counted(released.transactions, "item", count="support", order="item"))
    support = np.zeros(int(engine.scalar(reads.counted(items))), dtype=np.int64)
    support[shown["item"]] = shown["support"]
    tables: Tables = {"members": released.members, "coded": items, "items": workload.items, "expected": holders}
    members = Members.of(support, engine.query("utility/supported_members", tables))
    cover = {item: r for r, item in members.bounds}
    rows = engine.select(reads.joined(counted.tables["keys"], counted.tables["counts"], "set_id", "query_id, support"))
    held = dict(zip(rows["query_id"].tolist(), rows["support"].tolist(), strict=True))
    global_items = GlobalItems(dataset.n_transactions, cover, members, released.suppressed)
    truths = counted.tables["truths"]
    answered = _answered(
        engine, dataset, workload, truths, lambda query, items: global_items.answer(items, held.get(query, 0)), "answers"
    )
    engine.drop(*counted.tables.values())
    accuracy = accuracy_of(engine, workload, answered, "expected", k)
    return accuracy if papers is None else replace(accuracy, uniform=papers.average_relative_error)


def _answered(
    engine: Engine,
    dataset: Dataset,
    workload: Workload,
    truths: Table,
    answer: Callable[[int, list[int]], Answer],
    target: str,
) -> Table:
    """The work table of answers; ``answer`` is called with the number and the items of each query with items."""
    rows = engine.select(reads.rows(workload.queries, "query_id, item", order="query_id, item"))
    query, item = rows["query_id"], rows["item"].tolist()
    starts = run_starts(query)
    numbers = query[starts].tolist()
    answers = [answer(q, item[a:b]) for q, (a, b) in zip(numbers, pairwise([*starts.tolist(), len(query)]), strict=True)]
    columns = {
        "query_id": ("INTEGER", numbers),
        "lower_bound": ("BIGINT", [f[0] for f in answers]),
        "estimate": ("DOUBLE", [f[1] for f in answers]),
        "upper_bound": ("BIGINT", [f[2] for f in answers]),
    }
    counts = engine.put(f"{target}_bounds", columns)
    tables = {"queries": workload.queries, "items": workload.items, "names": workload.names}
    tables |= {"counts": counts, "truths": truths}
    answers_table = engine.create(target, "utility/local_answers", tables, transactions=dataset.n_transactions)
    engine.drop(counts)
    return answers_table
