"""Estimate, before any run, the CPU seconds and the peak memory of each algorithm.

A run is a process that reads the source, makes, verifies and freezes the release for m = 2, and measures its accuracy on
1,000 queries, as ``anondb compare`` runs it. Its cost is linear in a few figures of the data (``Features``). ``COSTS`` has
the coefficients, which ``benchmarks/estimates.py --fit`` computes from runs on real data and on half a million made baskets,
and ``benchmarks/estimates_people.py FIT`` from runs with the default delta on people with attributes.
benchmarks/README.md has the estimates beside what runs took: they are within a factor of 2, on the machine of that page.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from anondb.algorithms import METHODS
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
Coefficients = Mapping[str, float]
"""By the name of a term (``terms``)."""


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
    attributes: int = 0  # the number of quasi-identifiers; 0 without records
    sensitive: int = 0  # the number of sensitive items


@dataclass(frozen=True)
class Cost:
    """The coefficients of an algorithm: of its CPU seconds, and of its peak memory in MiB."""

    seconds: Coefficients
    mib: Coefficients


@dataclass(frozen=True)
class Estimate:
    """What a run takes."""

    algorithm: str  # its name
    promise: str  # what it would promise, such as ``5^2-anonymity``
    # cpu_seconds, peak_mib: of the whole process; None if they are not estimated
    cpu_seconds: float | None
    peak_mib: float | None
    reason: str | None = None  # why not


COSTS: Mapping[str, Cost] = {
    "mhghs": Cost(
        {"run": 1.1, "occurrences": 2.69, "pair_rows": 0.00255, "items": 0.0792},
        {"run": 158.0, "occurrences": 132.0, "items": 5.53},
    ),
    "hghs": Cost(
        {"run": 1.15, "occurrences": 2.22, "pair_rows": 0.0904, "items": 0.0533},
        {"run": 159.0, "occurrences": 137.0, "items": 3.91},
    ),
    "apriori": Cost(
        {"run": 1.12, "occurrences": 2.37, "pair_rows": 0.072, "items": 0.0565},
        {"run": 153.0, "occurrences": 152.0, "items": 2.65},
    ),
    "vpa": Cost(
        {"run": 1.25, "occurrences": 2.98, "pair_rows": 0.0005, "items": 0.0437},
        {"run": 152.0, "occurrences": 158.0, "items": 2.46},
    ),
    "lra": Cost(
        {"run": 1.2, "occurrences": 4.95, "pair_rows": 0.208, "items": 0.0691},
        {"run": 157.0, "occurrences": 227.0, "pair_rows": 0.545, "items": 4.25},
    ),
    "coat": Cost(
        {"run": 1.3, "occurrences": 2.49, "pairs": 1.13, "items": 0.227},
        {"run": 157.0, "occurrences": 128.0, "pairs": 14.3, "items": 6.7},
    ),
    "pcta": Cost(
        {"run": 1.22, "occurrences": 2.33, "pairs": 0.623, "items": 0.286},
        {"run": 154.0, "occurrences": 147.0, "items": 8.56},
    ),
    "mm": Cost(
        {"run": 1.33, "occurrences": 1.01, "pair_rows": 0.191, "pairs": 0.357, "items": 0.0621},
        {"run": 156.0, "occurrences": 128.0, "pair_rows": 8.42, "pairs": 106.0},
    ),
    "similar": Cost(
        {"run": 1.49, "occurrences": 6.37, "merges": 15.2, "item_pairs": 0.331},
        {"run": 166.0, "occurrences": 205.0, "merges": 179.0, "item_pairs": 9.23},
    ),
    "partition": Cost({"run": 1.3, "occurrences": 2.99}, {"run": 158.0, "occurrences": 210.0, "items": 2.36}),
    "clump": Cost(
        {"run": 1.38, "occurrences": 6.02, "pair_rows": 0.285, "items": 0.225, "clusters": 2.94},
        {"run": 158.0, "occurrences": 201.0, "pair_rows": 1.43, "pairs": 4.37, "items": 8.04, "clusters": 4.31},
    ),
    "rum_bound_rt": Cost({"run": 2.56, "people": 0.0182, "groups": 1.96}, {"run": 220.0, "people": 0.564, "groups": 5.08}),
    "rum_bound_r": Cost({"run": 2.16, "people": 0.0751, "groups": 0.718}, {"run": 207.0, "people": 2.54}),
    "rum_bound_t": Cost({"run": 2.27, "people": 0.0801, "groups": 2.48}, {"run": 216.0, "people": 2.16, "groups": 11.4}),
    "tum_bound_rt": Cost({"run": 2.55, "people": 0.32, "groups": 2.31}, {"run": 217.0, "people": 1.09, "groups": 17.3}),
    "tum_bound_r": Cost({"run": 0.955, "people": 0.392, "groups": 3.78}, {"run": 209.0, "people": 3.0, "groups": 13.4}),
    "tum_bound_t": Cost({"run": 1.5, "people": 0.511, "groups": 3.32}, {"run": 210.0, "people": 3.62, "groups": 8.72}),
    "rfirst": Cost({"run": 2.14, "people": 0.167, "groups": 1.28}, {"run": 217.0, "people": 1.49, "groups": 21.4}),
    "tfirst": Cost({"run": 2.71, "people": 0.0489, "groups": 0.892}, {"run": 210.0, "people": 0.833, "groups": 19.4}),
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
    attributes, sensitive = (0, 0) if people is None else (len(people.quasi_identifiers), people.hidden)
    return Features(dataset.n_transactions, dataset.n_occurrences, dataset.n_items, rows, pairs, attributes, sensitive)


def terms(features: Features, k: int) -> dict[str, float]:
    """The figures that the coefficients are multiplied with. They are 1 for the run; millions of occurrences, rows of pairs
    and pairs; thousands of items, persons and clusters of k persons. For similar, ``merges`` and ``item_pairs`` are millions
    of pairs of items that occur, and of all pairs, divided by the root of k, since larger groups need fewer merges. For
    clump, ``clusters`` are billions of pairs of an occurrence and a cluster of its block."""
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
        "groups": features.persons / k / 1e3,
    }


def estimates(features: Features, k: int, taxonomy: Checked | None) -> tuple[Estimate, ...]:
    """The cost of each algorithm that keeps k^m-anonymity, or more, and needs nothing but transactions and a taxonomy; with
    attributes, of those for (k,k^m)-anonymity, or for (k,l^m)-diversity if items are sensitive."""
    costs = []
    asked, inputs = ("kkm", {"records", "quasi_identifiers"}) if features.attributes else ("km", {"taxonomy"})
    if features.attributes and features.sensitive:
        asked, inputs = "klm", {*inputs, "sensitive"}
    for name, method in METHODS.items():
        model = next((m for m in (asked, *PROMISES[asked].implied_by) if m in method.models), None)
        if model is None or {*method.needs, *PROMISES[model].needs} - inputs:
            continue
        promise = make_model(model, **({"k": k, "m": M} if model == asked else {"k": k})).promise
        if "taxonomy" in method.needs and (taxonomy is None or not taxonomy.fits):
            reason = "a taxonomy is needed" if taxonomy is None else "a taxonomy that fits is needed"
            costs.append(Estimate(name, promise, None, None, reason))
        else:
            costs.append(_estimate(name, promise, features, k))
    return tuple(costs)


def _estimate(name: str, promise: str, features: Features, k: int) -> Estimate:
    if (cost := COSTS.get(name)) is None:
        return Estimate(name, promise, None, None, "its cost was not measured")
    if features.pairs is None:
        reason = f"the pairs of items of each person are {features.pair_rows:,} rows, and at most {MAX_ROWS:,} are counted"
        return Estimate(name, promise, None, None, reason)
    values, longer = terms(features, k), ("people", "groups") if features.sensitive else ()
    seconds = sum(c * values[name] * (DIVERSITY if name in longer else 1) for name, c in cost.seconds.items())
    mib = sum(c * values[name] for name, c in cost.mib.items())
    return Estimate(name, promise, round(seconds, 2), round(mib))
