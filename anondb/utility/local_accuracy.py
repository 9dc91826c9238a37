"""Accuracy of a release of sets or bags on COUNT queries, by the rules of the macro ``count_bounds``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np

from anondb.data.transactions import Dataset
from anondb.engine import Columns, Engine, Table, Tables, reads
from anondb.engine.arrays import run_starts
from anondb.engine.trees import exp
from anondb.utility.accuracy import Accuracy, accuracy_of, members_of, true_counts
from anondb.utility.counting import count_groups
from anondb.utility.published import Published
from anondb.utility.supported_items import GlobalItems, LocalItems, Members
from anondb.utility.workload import Workload

Answer = tuple[int, float, int]  # lower bound, estimate, upper bound
Answers = Mapping[int, Answer]  # by the number of the query


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
    holders: exp.Query | None = None,
    uniform: bool = False,
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
        k: see ``accuracy_of``.
        holders: of a release of sets, the query ``(released_item, item, at_least, at_most, expected)`` of
            ``expected_holders``. Without it the non-empty sets of a released item's members are equally likely, as in the
            papers.
        uniform: whether the papers' estimates are measured, too.
    """
    asked = _asked(engine, workload)
    members = members_of(engine, "answers_members", items, released_items)
    published = Published.read(engine, classes, items, members, workload, semantics == "atomic")
    engine.drop(members)
    papers = {query: published.answer(of) for query, of in asked.items()} if uniform else None
    if holders is None:
        answers = {query: published.answer(of) for query, of in asked.items()}
        return _accuracy(engine, dataset, workload, answers, "joint", k, papers)
    supported = LocalItems.of(published, _supported(engine, items, holders, workload))
    answers = {query: supported.answer(of) for query, of in asked.items()}
    return _accuracy(engine, dataset, workload, answers, "expected", k, papers)


def measure_global(
    engine: Engine,
    dataset: Dataset,
    transactions: Table,
    items: Table,
    holders: exp.Query,
    workload: Workload,
    *,
    suppressed: bool,
    k: int | None,
    uniform: bool,
) -> Accuracy:
    """Answer every query on the original data and on a global recoding, as its macro ``count_bounds`` does; ``transactions``
    are the released items ``(tid, item)``, each pair once, and ``suppressed`` says whether something was. For the rest see
    ``measure_local``."""
    shown = engine.select(reads.counted(transactions, "item", count="support", order="item"))
    support = np.zeros(int(engine.scalar(reads.counted(items))), dtype=np.int64)
    support[shown["item"]] = shown["support"]
    members = Members.of(support, _supported(engine, items, holders, workload))
    release = GlobalItems(dataset.n_transactions, members, suppressed)
    asked = _asked(engine, workload)
    covers = {query: release.covers(of) for query, of in asked.items()}
    sets = sorted({cover for cover in covers.values() if cover}, key=len)
    groups = [np.array(list(same), dtype=np.int64) for _, same in groupby(sets, key=len)]
    counted = np.concatenate([np.zeros(0, dtype=np.int64), *count_groups(engine, transactions, groups)])
    showing = {(): dataset.n_transactions, **dict(zip(sets, counted.tolist(), strict=True))}
    answers = {query: release.answer(of, showing[covers[query]]) for query, of in asked.items()}
    papers = {query: (0, release.uniform(of, showing[covers[query]]), 0) for query, of in asked.items()}
    return _accuracy(engine, dataset, workload, answers, "expected", k, papers if uniform else None)


def _asked(engine: Engine, workload: Workload) -> dict[int, list[int]]:
    """The items of each query that has some, by its number."""
    rows = engine.select(reads.rows(workload.queries, "query_id, item", order="query_id, item"))
    query, item = rows["query_id"], rows["item"].tolist()
    starts = run_starts(query)
    ends = pairwise([*starts.tolist(), len(query)])
    return {number: item[a:b] for number, (a, b) in zip(query[starts].tolist(), ends, strict=True)}


def _supported(engine: Engine, items: Table, holders: exp.Query, workload: Workload) -> Columns:
    """The rows of ``utility/supported_members``."""
    tables: Tables = {"coded": items, "items": workload.items, "expected": holders}
    return engine.query("utility/supported_members", tables)


def _accuracy(
    engine: Engine,
    dataset: Dataset,
    workload: Workload,
    answers: Answers,
    estimator: str,
    k: int | None,
    papers: Answers | None,
) -> Accuracy:
    """The accuracy of answers, with the mean error of the papers' estimates if there are some."""
    truths = true_counts(engine, dataset, workload)
    measured = accuracy_of(engine, dataset, workload, _put(engine, answers), truths, estimator=estimator, k=k)
    if papers is not None:
        counts = _put(engine, papers)
        other = accuracy_of(engine, dataset, workload, counts, truths, estimator="joint", k=None, target="papers")
        engine.drop(other.answers)
        measured = replace(measured, uniform=other.relative_error.mean)
    engine.drop(truths)
    return measured


def _put(engine: Engine, answers: Answers) -> Table:
    """The work table of answers."""
    kinds = {"lower_bound": "BIGINT", "estimate": "DOUBLE", "upper_bound": "BIGINT"}
    columns = {name: (kind, [answer[n] for answer in answers.values()]) for n, (name, kind) in enumerate(kinds.items())}
    return engine.put("answers_counts", {"query_id": ("INTEGER", list(answers)), **columns})
