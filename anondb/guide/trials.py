"""The runs behind advice: their input, their limits, and the order of their results.

Results are ordered by the mean of |truth - estimate| / the larger of both, over the same drawn items and pairs of items, all
that occur equally likely. A deleted item has the error 1 there, the largest, so suppression cannot make it small. (The usual
error, |truth - estimate| / truth, is 1 for a deleted item and has no limit for a generalized one: by it, deleting nearly
everything would often be best.) A run that deletes most items or occurrences is not advised at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from anondb.compare.merits import deletes_most
from anondb.compare.runs import Result, Run, Setting, run_one
from anondb.data.transactions import Dataset
from anondb.engine import Engine, load
from anondb.guide.needs import order_of
from anondb.release.publish import hand_over_table
from anondb.utility.workload import random_workload

QUERIES = {1: 300, 2: 700}  # drawn queries by their number of items
ALL = 2**62


@dataclass(frozen=True)
class Limits:
    """Limits of the runs: threads and memory of each, and the moment (``time.monotonic``) when all must be done."""

    threads: int | None
    memory_limit: str
    until: float

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.until - time.monotonic()


def write_input(engine: Engine, dataset: Dataset, folder: Path, name: str, most: int = ALL) -> Path:
    """Write the transactions of at most so many persons into a Parquet file, as lists of items."""
    tables = {"ids": dataset.ids, "transactions": dataset.transactions, "items": dataset.items}
    hand_over_table(engine, load("guide/baskets").bind(tables, {"most": most}), folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


def write_queries(engine: Engine, dataset: Dataset, folder: Path, name: str) -> Path:
    """Draw items and pairs of items that occur, all equally likely, and write them as a workload."""
    parts: list[exp.Query] = []
    for size, number in QUERIES.items():
        drawn = random_workload(engine, dataset, queries=number, size=size, target=f"guide_{size}")
        parts.append(load("guide/asked").bind({"queries": drawn.queries, "items": drawn.items}, {"size": size}))
    hand_over_table(engine, exp.union(*parts, distinct=False), folder / f"{name}_queries.parquet")
    return folder / f"{name}_queries.parquet"


def try_runs(
    source: Path, queries: Path, runs: Sequence[Run], limits: Limits, say: Callable[[str], None]
) -> list[Result]:
    """The results of the runs, one after the other, until the time is over; runs that do not begin have no result."""
    asked: dict[str, Any] = {"workload": str(queries), "log": None, "queries": 1, "size": 2, "seed": 0, "draw": "all"}
    how: dict[str, Any] = {"threads": limits.threads, "memory_limit": limits.memory_limit, "fingerprint": ""}
    setting = Setting(str(source), None, "tid", "item", **asked, **how, time_limit=0)
    results = []
    for run in runs:
        if limits.left <= 0:
            break
        say(run.words)
        results.append(run_one(replace(setting, time_limit=limits.left), run))
    return results


def error(result: Result) -> float | None:
    """What results are ordered by: the mean of the symmetric errors of each size of queries; None without a release."""
    if result.status != "done":
        return None
    errors = [row["error"] for row in result.figures["symmetric_errors"]]
    return sum(errors) / len(errors) if errors else 0.0


def ranked(results: Sequence[Result]) -> list[Result]:
    """The results that may be advised, the best first: those that are done and do not delete most.

    Errors that agree in two digits count as equal; then releases without item supports come first, then algorithms in the
    order of ``needs.order_of``.
    """
    named = [(e, r) for r in results if (e := error(r)) is not None and not deletes_most(r)]
    named.sort(key=lambda x: (round(x[0], 2), supported(x[1]), order_of(x[1].run)))
    return [r for _, r in named]


def distinct(results: Sequence[Result]) -> list[Result]:
    """The results without those that have the figures of an earlier one: two algorithms may end in the same release."""
    seen: dict[str, Result] = {}
    for result in results:
        figures = [result.figures[n] for n in ("symmetric_errors", "ncp", "released_items", "suppressed_occurrences")]
        seen.setdefault(repr(figures), result)
    return list(seen.values())


def supported(result: Result) -> bool:
    """Whether the release has item supports."""
    return bool(result.run.options.get("item_supports"))
