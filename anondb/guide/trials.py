"""The runs behind advice: their input, their limits, and the order of their results.

Results are ordered by the mean of |truth - estimate| / the larger of both, over the same drawn items and pairs of items, all
that occur equally likely, and for people with attributes over the same questions in SQL; each kind of question counts
equally. A deleted item has the error 1 there, the largest, so suppression cannot make it small. (The usual error,
|truth - estimate| / truth, is 1 for a deleted item and has no limit for a generalized one: by it, deleting nearly everything
would often be best.) A run that deletes most items or occurrences is not advised at all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from anondb.compare.merits import deletes_most, mean_error
from anondb.compare.runs import Result, Run, Setting, run_one
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Query, Table, query_of, reads
from anondb.errors import InputError
from anondb.guide.knowledge import Threat
from anondb.guide.needs import order_of
from anondb.guide.profile import Profile
from anondb.release.publish import hand_over_table
from anondb.utility.workload import random_workload

ITEMS, PAIRS = "items", "pairs"
_OF_SIZE = {1: ITEMS, 2: PAIRS}
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


@dataclass(frozen=True)
class Input:
    """What runs read: all persons, or a sample."""

    # source, transactions: a file, and its table of transactions if it is a database
    source: Path
    queries: Path | None  # the file of queries for items and pairs of items; None if nobody has items
    transactions: str | None = None
    # id, item: the columns of the transactions
    id: str = "tid"
    item: str = "item"
    # log, kinds: a file of questions in SQL, and the kind of each of its statements
    log: Path | None = None
    kinds: tuple[str, ...] = ()
    k: int | None = None  # the k of the runs; None for their own
    # replaces options of the runs: the places of what they read
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Prepared:
    """The runs that may be advised, and their input: of all persons and of a sample, if there is one."""

    # source, persons: the name of the transactions, and the number of persons
    source: str
    persons: int
    threat: Threat  # what attackers find who know items
    runs: list[Run]  # the candidates, those first that are tried first if time is short
    # whole, sample: the inputs. The k of the sample is its share, at least 2: so about the same items and pairs are
    # rare.
    whole: Input
    sample: Input | None = None
    sampled: int | None = None  # the number of persons in the sample
    profile: Profile | None = None  # with attributes, the profile of the persons


def choose(engine: Engine, dataset: Dataset, most: int = ALL) -> Table:
    """The work table ``(tid)`` of at most so many persons."""
    return engine.create("chosen", reads.rows(dataset.ids, "tid", order="md5(CAST(tid AS VARCHAR)), tid").first(most))


def write_input(engine: Engine, dataset: Dataset, folder: Path, name: str, most: int = ALL) -> Path:
    """Write the transactions of at most so many persons into a Parquet file, as lists of items."""
    chosen = choose(engine, dataset, most)
    tables = {"chosen": chosen, "transactions": dataset.transactions, "items": dataset.items}
    hand_over_table(engine, query_of("guide/baskets", tables), folder / f"{name}.parquet")
    engine.drop(chosen)
    return folder / f"{name}.parquet"


def write_queries(engine: Engine, dataset: Dataset, folder: Path, name: str) -> Path:
    """Draw items and pairs of items that occur, all equally likely, and write them as a workload."""
    parts: list[Query] = []
    for size, number in QUERIES.items():
        drawn = random_workload(engine, dataset, queries=number, size=size, target=f"guide_{size}")
        named = f"concat('{size}-', CAST(one.query_id AS VARCHAR)) AS query_id, other.label AS item"
        parts.append(reads.joined(drawn.queries, drawn.items, "item", named))
    hand_over_table(engine, reads.union(parts), folder / f"{name}_queries.parquet")
    return folder / f"{name}_queries.parquet"


def try_runs(data: Input, runs: Sequence[Run], limits: Limits, say: Callable[[str], None]) -> list[Result]:
    """The results of the runs, one after the other, until the time is over; runs that do not begin have no result."""
    asked: dict[str, Any] = {
        n: None if file is None else str(file) for n, file in (("workload", data.queries), ("log", data.log))
    }
    asked |= {"queries": 1, "size": 2, "seed": 0, "draw": "all"}
    how: dict[str, Any] = {"threads": limits.threads, "memory_limit": limits.memory_limit, "fingerprint": ""}
    setting = Setting(str(data.source), data.transactions, data.id, data.item, **asked, **how, time_limit=0)
    results = []
    for run in runs:
        if limits.left <= 0:
            break
        say(run.words)
        parameters = run.parameters if data.k is None else {**run.parameters, "k": data.k}
        tried = replace(run, parameters=parameters, options={**run.options, **data.options})
        result = run_one(replace(setting, time_limit=limits.left), tried)
        results.append(replace(result, run=run, figures=_by_kind(result.figures, data.kinds)))
    return results


def _by_kind(figures: dict[str, Any], kinds: Sequence[str]) -> dict[str, Any]:
    """The figures with errors by the kind of question: statements of a kind count equally."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for row in figures.get("symmetric_errors", ()):
        kind = kinds[row["statement"] - 1] if row["statement"] else _OF_SIZE[row["size"]]
        by_kind.setdefault(kind, []).append(row)
    errors = [
        {
            "kind": kind,
            "queries": sum(row["queries"] for row in rows),
            **{name: sum(row[name] for row in rows) / len(rows) for name in ("error", "relative")},
        }
        for kind, rows in by_kind.items()
    ]
    return {**figures, "symmetric_errors": errors} if figures else figures


def error(result: Result) -> float | None:
    """What results are ordered by: the mean of the symmetric errors of each kind of question; None without a release."""
    return None if result.status != "done" else mean_error(result) or 0.0


def ranked(results: Sequence[Result]) -> list[Result]:
    """The results that may be advised, the best first: those that are done and do not delete most. Errors that agree in two
    digits count as equal; then releases without item supports come first, then algorithms in the order of
    ``needs.order_of``."""
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


def sample_k(k: int, persons: int, of: int) -> int:
    """The k for a sample: as large a share of k as the sample is of all persons, rounded up, at least 2."""
    return max(2, math.ceil(k * persons / of))


def no_items(name: str) -> InputError:
    """The error of transactions without an item."""
    hint = "Check --item; for a table of people without items name --layout people."
    return InputError(f"No person of {name} has an item.", code="empty_source", hint=hint)


def supported(result: Result) -> bool:
    """Whether the release has item supports."""
    return bool(result.run.options.get("item_supports"))
