"""Accuracy of a release of sets or bags on COUNT queries, by the rules of the macro ``count_bounds``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from sqlglot import exp

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table, reads
from anondb.utility.accuracy import Accuracy, accuracy_of, true_counts
from anondb.utility.published import Published
from anondb.utility.supported_items import SupportedItems
from anondb.utility.workload import Workload


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
    suppressed: bool | None = None,
) -> Accuracy:
    """Answer every query on the original data and on a release, as its macro ``count_bounds`` does.

    Each published transaction counts by its released items that stand for the queried items
    (``sql/release/count_bounds_local.sql``). Equal published transactions are evaluated once.

    Args:
        engine: the engine, inside a transaction.
        dataset: the original data.
        classes: ``(content_id, content, complete, support)``: the distinct published transactions, see ``CodedRelease``.
        items: ``(item, label)`` of the released items, numbered from 0 without a gap.
        released_items: ``(released_item, item)``, the original items that these stand for.
        semantics: ``set`` or ``atomic``, from its manifest.
        workload: the queries; drawn ones must come from this dataset.
        k, target: see ``measure``.
        holders: of a release of sets, the query ``(released_item, item, at_least, at_most, expected)`` of
            ``expected_holders``. Without it the non-empty sets of a released item's members are equally likely, as in the
            papers, and the release is a local recoding.
        suppressed: of a global recoding, whether something was suppressed; None for a local recoding.
    """
    truths = true_counts(engine, f"{target}_truths", dataset, workload)
    columns = "other.item AS released, one.item AS label"
    shown = reads.joined(released_items, items, "released_item = label", columns, distinct=True)
    members = engine.create(f"{target}_members", shown)
    published = Published.read(engine, classes, items, members, workload, semantics == "atomic")
    if holders is not None:
        named: dict[str, Table | exp.Query] = {"members": members, "coded": items, "items": workload.items}
        rows = engine.query("utility/supported_members", {**named, "expected": holders})
        published = SupportedItems.of(published, rows, suppressed)
    counts = engine.put(f"{target}_counts", _counts(engine, published, workload))
    answers = engine.create(
        target,
        "utility/local_answers",
        {
            "queries": workload.queries,
            "items": workload.items,
            "contents": classes,
            "names": workload.names,
            "counts": counts,
            "truths": truths,
        },
        transactions=dataset.n_transactions,
    )
    engine.drop(truths, members, counts)
    return accuracy_of(engine, workload, answers, "joint" if holders is None else "expected", k)


def _counts(engine: Engine, published: Published, workload: Workload) -> dict[str, tuple[str, list[float] | list[int]]]:
    """Columns of the lower bound, estimate and upper bound of each query with items."""
    rows = engine.select(reads.rows(workload.queries, "query_id, item", order="query_id, item"))
    query, item = rows["query_id"], rows["item"].tolist()
    starts = np.flatnonzero(np.concatenate((np.ones(min(len(query), 1), dtype=np.bool_), query[1:] != query[:-1])))
    answers = [published.answer(item[a:b]) for a, b in pairwise([*starts.tolist(), len(query)])]
    return {
        "query_id": ("INTEGER", query[starts].tolist()),
        "lower_bound": ("BIGINT", [f[0] for f in answers]),
        "estimate": ("DOUBLE", [f[1] for f in answers]),
        "upper_bound": ("BIGINT", [f[2] for f in answers]),
    }
