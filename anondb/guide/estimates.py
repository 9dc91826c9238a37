"""Estimate, before any run, the CPU seconds and the peak memory of each algorithm.

A run is a process that reads the source, makes, verifies and freezes the release for m = 2, and measures its accuracy on
1,000 queries, as ``anondb compare`` runs it. Its cost is linear in a few figures of the data (``Features``). ``COSTS`` has
the coefficients, which ``benchmarks/estimates.py --fit`` computes from runs on real data and on half a million made baskets,
and ``benchmarks/estimates_people.py FIT`` from runs with the default delta on people with attributes. benchmarks/README.md
has the estimates beside what runs took: they are within a factor of 2, on the machine of that page.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from anondb.algorithms import METHODS
from anondb.algorithms.relational import WITHOUT_ITEMS
from anondb.algorithms.transactional.clump import block_of
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.guide.knowledge import MAX_ROWS, Threat, ranges
from anondb.guide.people import People
from anondb.models.named import make_model
from anondb.promises import PROMISES
from anondb.taxonomies.check import Checked

M = 2
DIVERSITY = 1.35  # the time of (k,l^m)-diversity for each person and cluster, beside that of (k,k^m)-anonymity


@dataclass(frozen=True)
class Features:
    """The figures of the data that costs depend on."""

    # persons, occurrences, items: their numbers
    persons: int
    occurrences: int
    items: int
    pair_rows: int  # the sum over the persons of their pairs of items
    # the number of different pairs that somebody has; None if ``pair_rows`` are too many to be counted
    pairs: int | None
    classes: int = 0  # the number of different combinations of quasi-identifiers; 0 without records
    sensitive: int = 0  # the number of sensitive items


@dataclass(frozen=True)
class Estimate:
    """What a run takes."""

    algorithm: str  # its name
    promise: str  # what it would promise, such as ``5^2-anonymity``
    # cpu_seconds, peak_mib: of the whole process; None if they are not estimated
    cpu_seconds: float | None
    peak_mib: float | None
    reason: str | None = None  # why not


TERMS = ("run", "people", "groups", "occurrences", "pair_rows", "pairs", "items", "merges", "item_pairs", "clusters", "cuts")
"""The figures that costs are linear in, see ``terms``."""
_COSTS = """\
mhghs 1.1,,,2.69,0.00255,,0.0792 158,,,132,,,5.53
hghs 1.15,,,2.22,0.0904,,0.0533 159,,,137,,,3.91
apriori 1.12,,,2.37,0.072,,0.0565 153,,,152,,,2.65
vpa 1.25,,,2.98,0.0005,,0.0437 152,,,158,,,2.46
lra 1.2,,,4.95,0.208,,0.0691 157,,,227,0.545,,4.25
coat 1.3,,,2.49,,1.13,0.227 157,,,128,,14.3,6.7
pcta 1.22,,,2.33,,0.623,0.286 154,,,147,,,8.56
mm 1.33,,,1.01,0.191,0.357,0.0621 156,,,128,8.42,106
similar 1.49,,,6.37,,,,15.2,0.331 166,,,205,,,,179,9.23
partition 1.3,,,2.99 158,,,210,,,2.36
clump 1.38,,,6.02,0.285,,0.225,,,2.94 158,,,201,1.43,4.37,8.04,,,4.31
rum_bound_rt 2.56,0.0182,1.96 220,0.564,5.08
rum_bound_r 2.16,0.0751,0.718 207,2.54
rum_bound_t 2.27,0.0801,2.48 216,2.16,11.4
tum_bound_rt 2.55,0.32,2.31 217,1.09,17.3
tum_bound_r 0.955,0.392,3.78 209,3,13.4
tum_bound_t 1.5,0.511,3.32 210,3.62,8.72
rfirst 2.14,0.167,1.28 217,1.49,21.4
tfirst 2.71,0.0489,,,,,,,,,0.892 210,0.833,,,,,,,,,19.4
people 1.1,0.0166,0.46 170,1
"""  # of an algorithm the coefficients of its CPU seconds and of its peak MiB, in the order of ``TERMS``, empty for 0
COSTS: Mapping[tuple[str, str], Mapping[str, float]] = {
    (algorithm, unit): {term: float(cell) for term, cell in zip(TERMS, cells.split(","), strict=False) if cell}
    for algorithm, *of in map(str.split, _COSTS.splitlines())
    for unit, cells in zip(("seconds", "mib"), of, strict=True)
}


def features(engine: Engine, dataset: Dataset, threats: tuple[Threat, ...], people: People | None = None) -> Features:
    """The figures of transactions, inside a transaction of the engine; ``threats`` are what attackers find, with ``people``
    those who know attributes."""
    rows = next(x.rows for x in threats if x.m == M)
    pairs = None
    if rows <= MAX_ROWS:
        tables = {"transactions": dataset.transactions}
        pairs = sum(
            int(engine.scalar("guide/distinct_pairs", tables, low=low, high=high))
            for low, high in ranges(engine, dataset.transactions, M)
        )
    classes, sensitive = (0, 0) if people is None else (people.classes, people.hidden)
    return Features(dataset.n_transactions, dataset.n_occurrences, dataset.n_items, rows, pairs, classes, sensitive)


def terms(features: Features, k: int) -> dict[str, float]:
    """The figures that the coefficients are multiplied with. They are 1 for the run; millions of occurrences, rows of pairs
    and pairs; thousands of items, persons, groups of at least k persons with near attributes, and cuts of k persons. For
    similar, ``merges`` and ``item_pairs`` are millions of pairs of items that occur, and of all, divided by the root of k,
    since larger groups need fewer merges. For clump, ``clusters`` are billions of pairs of an occurrence and a cluster."""
    return {
        "run": 1,
        "occurrences": features.occurrences / 1e6,
        "pair_rows": features.pair_rows / 1e6,
        "pairs": (features.pairs or 0) / 1e6,
        "items": features.items / 1e3,
        "merges": (features.pairs or 0) / 1e6 / k**0.5,
        "item_pairs": features.items**2 / 1e6 / k**0.5,
        "clusters": features.occurrences * block_of(features.persons, k) / k / 1e9,
        "people": features.persons / 1e3,
        "groups": min(features.persons / k, features.classes) / 1e3,
        "cuts": features.persons / k / 1e3,
    }


def estimates(features: Features, k: int, taxonomy: Checked | None) -> tuple[Estimate, ...]:
    """The cost of each algorithm that keeps k^m-anonymity, or more, and needs nothing but transactions and a taxonomy; with
    attributes, of those for (k,k^m)-anonymity, or for (k,l^m)-diversity if items are sensitive."""
    costs = []
    asked, inputs = ("kkm", {"records", "quasi_identifiers"}) if features.classes else ("km", {"taxonomy"})
    if features.classes and features.sensitive:
        asked, inputs = "klm", {*inputs, "sensitive"}
    for name, method in METHODS.items():
        model = next((m for m in (asked, *PROMISES[asked].implied_by) if m in method.models), None)
        if model is None or {*method.needs, *PROMISES[model].needs} - inputs:
            continue
        if features.classes and not features.items and name not in WITHOUT_ITEMS:
            continue
        promise = make_model(model, **({"k": k, "m": M} if model == asked else {"k": k})).promise
        if "taxonomy" in method.needs and (taxonomy is None or not taxonomy.fits):
            reason = "a taxonomy is needed" if taxonomy is None else "a taxonomy that fits is needed"
            costs.append(Estimate(name, promise, None, None, reason))
        else:
            costs.append(_estimate(name, promise, features, k))
    return tuple(costs)


def _estimate(name: str, promise: str, features: Features, k: int) -> Estimate:
    of = "people" if features.classes and not features.items else name  # which have no items
    if (of, "seconds") not in COSTS:
        return Estimate(name, promise, None, None, "its cost was not measured")
    if features.pairs is None:
        reason = f"the pairs of items of each person are {features.pair_rows:,} rows, and at most {MAX_ROWS:,} are counted"
        return Estimate(name, promise, None, None, reason)
    values, longer = terms(features, k), ("people", "groups") if features.sensitive else ()
    seconds = sum(c * values[t] * (DIVERSITY if t in longer else 1) for t, c in COSTS[of, "seconds"].items())
    return Estimate(name, promise, round(seconds, 2), round(sum(c * values[t] for t, c in COSTS[of, "mib"].items())))
