"""The experiments of the COAT paper (Loukides, Gkoulalas-Divanis and Malin), sections 6 and 7, beside Apriori.

    python benchmarks/coat_paper.py [DIRECTORY]

writes one CSV file and one plot for each figure to benchmarks/coat_paper (or DIRECTORY). The paper's hierarchies and medical
records are not public: here are balanced trees of fan-out 5 over the sorted items, and diagnosis codes of the INFORMS 2008
contest with the ICD-9 tree. Queries are 1,000 random itemsets that some transaction holds, of items that COAT generalizes
(``avgre``) or of all items (``avgre_all``); both releases answer the same ones by the paper's product of probabilities. Time
is CPU seconds of the algorithm alone.
"""

from __future__ import annotations

import csv
import math
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from datasets import DATA
from measuring import Line, Measured, Row, least_cpu, plot
from sqlglot import exp

from anondb.algorithms.apriori.apriori import apriori
from anondb.algorithms.coat.coat import coat, pgen
from anondb.algorithms.coat.weights import TaxonomyWeights
from anondb.data.constraints import (
    ItemSets,
    PrivacyConstraints,
    UtilityConstraints,
    utility_of_level,
    utility_of_siblings,
)
from anondb.data.sources import open_source
from anondb.data.taxonomy import Taxonomy, load_taxonomy
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import DuckDBEngine, Engine, reads
from anondb.errors import AnondbError
from anondb.models.transactional import ConstraintAnonymity, KmAnonymity
from anondb.recoding import GlobalRecoding
from anondb.risk.constraint_report import countable
from anondb.utility.loss import generalized_items
from anondb.utility.workload import Workload, owner_workload, random_workload

K_VALUES = (2, 5, 10, 25, 50)
QUERIES = 1000
LIMIT = Fraction(1, 2)  # s = 0.5 %


class Bench:
    """One data set with its tree, in an engine of its own; inside one transaction."""

    def __init__(self, engine: Engine, dataset: Dataset, taxonomy: Taxonomy) -> None:
        self.engine, self.dataset, self.taxonomy = engine, dataset, taxonomy
        found = engine.select(reads.rows(dataset.transactions, "tid, item"))
        self.tid, self.item = found["tid"].astype(np.int64), found["item"].astype(np.int64)
        self._holding = _sets(self.tid, self.item)
        self._apriori: dict[tuple[int, float], tuple[GlobalRecoding | str, float]] = {}

    def coat(self, k: int, m: float = 2, **options: Any) -> tuple[GlobalRecoding | str, float]:
        """COAT with the weights and the limit of the paper; a refusal is returned as its message."""
        model = ConstraintAnonymity(k) if "privacy" in options else KmAnonymity(k, m)
        given = {"weights": self.taxonomy, "max_suppression": LIMIT, **options}
        return timed(lambda: coat(self.engine, self.dataset, model, **given))

    def apriori(self, k: int, m: float = 2) -> tuple[GlobalRecoding | str, float]:
        """Apriori, once for each k and m."""
        if (k, m) not in self._apriori:
            self._apriori[k, m] = timed(lambda: apriori(self.engine, self.dataset, self.taxonomy, KmAnonymity(k, m)))
        return self._apriori[k, m]

    def queries(self, size: int, pool: Any = None) -> Workload:
        return random_workload(self.engine, self.dataset, queries=QUERIES, size=size, pool=pool, target=f"q{size}")

    def error(self, recoding: GlobalRecoding | str, workload: Workload) -> float | None:
        """AvgRE of a recoding, by the paper's product of the probabilities of the items."""
        if isinstance(recoding, str):
            return None
        showing = _sets(*self._recoded(recoding))
        share = 0.5 / (1 - np.exp2(-recoding.sizes.astype(np.float64)))
        asked = self.engine.select(reads.rows(workload.queries, "query_id, item"))
        errors = []
        for items in _sets(asked["item"], asked["query_id"]).values():
            truth = len(set.intersection(*(self._holding[i] for i in items)))
            image = recoding.image[sorted(items)]
            shown = set.intersection(*(showing[r] for r in image.tolist())) if image.min() >= 0 else ()
            if truth:
                errors.append(abs(truth - len(shown) * float(share[image].prod())) / truth)
        return statistics.fmean(errors) if errors else None

    def _recoded(self, recoding: GlobalRecoding) -> tuple[Any, Any]:
        """Transactions and the released items in them, each pair once."""
        image, n = recoding.image[self.item], len(recoding.labels)
        pairs = np.unique(self.tid[image >= 0] * n + image[image >= 0])
        return pairs // n, pairs % n

    def log2_ul(self, recoding: GlobalRecoding | str) -> float | None:
        """Base-2 logarithm of UL (version A) with the weights of the tree: of the sum of (2^size - 1) / (2^M - 1) x weight x
        support / N, exact up to there, since 1/2^M underflows a double."""
        if isinstance(recoding, str):
            return None
        supports = np.bincount(self._recoded(recoding)[1], minlength=len(recoding.labels))
        tree, shares = self.taxonomy, TaxonomyWeights.of(self.taxonomy.labels, self.taxonomy)
        members: list[list[int]] = [[] for _ in recoding.labels]
        for released, label in zip(recoding.member_of.tolist(), recoding.member_labels, strict=True):
            members[released].append(tree.node_of[label])
        total = Fraction(0)
        for block, size, support in zip(members, recoding.sizes.tolist(), supports.tolist(), strict=True):
            for other in block[1:]:
                shares.merge(block[0], other)
            weight = shares.exact(int(shares.keys(block[0], np.array([block[0]]))[0]))
            total += ((1 << size) - 1) * support * weight
        scale = ((1 << tree.n_leaves) - 1) * self.dataset.n_transactions
        return math.log2(total.numerator) - math.log2(total.denominator) - math.log2(scale) if total else None


def _sets(values: Any, keys: Any) -> dict[int, set[int]]:
    """The values of each key."""
    found: dict[int, set[int]] = {}
    for value, key in zip(values.tolist(), keys.tolist(), strict=True):
        found.setdefault(key, set()).add(value)
    return found


def timed(work: Callable[[], GlobalRecoding]) -> tuple[GlobalRecoding | str, float]:
    """What came out, or why nothing did, and CPU seconds."""

    def tried() -> GlobalRecoding | str:
        try:
            return work()
        except AnondbError as error:
            return str(error)

    seconds, found = least_cpu(tried)
    return found, seconds


@contextmanager
def bench(transactions: Any, tree: str) -> Iterator[Bench]:
    engine = DuckDBEngine.open(threads=2)
    try:
        with engine.transaction(), open_source(engine, transactions, "transactions") as source:
            dataset = load_transactions(engine, source)
            yield Bench(engine, dataset, load_taxonomy(engine, DATA / tree))
    finally:
        engine.close()


def compare(
    on: Bench,
    ours: GlobalRecoding | str,
    theirs: GlobalRecoding | str,
    sizes: tuple[int, ...],
    **facts: Any,
) -> list[Row]:
    """AvgRE of both on the same queries, one row for each size of queries and each pool."""
    rows = []
    for size in sizes:
        row: Row = {**facts, "q": size}
        for name, pool in (
            ("avgre", None if isinstance(ours, str) else generalized_items(ours)),
            ("avgre_all", None),
        ):
            workload = on.queries(size, pool)
            row[f"{name}_coat"] = on.error(ours, workload)
            row[f"{name}_apriori"] = on.error(theirs, workload)
            row[f"{name}_queries"] = workload.n_queries
            on.engine.drop(workload.queries)
        rows.append(row)
    return rows


def outcome(found: GlobalRecoding | str) -> Row:
    if isinstance(found, str):
        return {"released_items": None, "suppressed_items": None, "refused": found}
    return {"released_items": len(found.labels), "suppressed_items": int((found.image < 0).sum()), "refused": None}


# ---------------------------------------------------------------------- section 6


def against(on: Bench, data: str, k: int, m: int, sizes: tuple[int, ...]) -> list[Row]:
    """k^m-anonymity by both."""
    (ours, seconds), (theirs, their_seconds) = on.coat(k, m), on.apriori(k, m)
    facts = {"data": data, "k": k, "m": m, **outcome(ours), "seconds_coat": seconds, "seconds_apriori": their_seconds}
    facts |= {"log2_ul_coat": on.log2_ul(ours), "log2_ul_apriori": on.log2_ul(theirs)}
    return compare(on, ours, theirs, sizes, **facts)


def against_k(on: Bench, data: str) -> list[Row]:
    """Figures 8 and 10a: k^2-anonymity for several k."""
    return [row for k in K_VALUES for row in against(on, data, k, 2, (1, 3))]


def against_m(on: Bench, data: str) -> list[Row]:
    """Figures 9 and 10b: k = 5, m from 1 to 3."""
    return [row for m in (1, 2, 3) for row in against(on, data, 5, m, (2,))]


def pairs_of_some_items(on: Bench, percent: int) -> PrivacyConstraints:
    """PP1 to PP5: all pairs of that many percent of the items, drawn at random."""
    n = on.dataset.n_items
    chosen = np.sort(np.random.default_rng(percent).choice(n, size=max(2, n * percent // 100), replace=False))
    first, second = np.triu_indices(len(chosen), k=1)
    member = np.column_stack((chosen[first], chosen[second])).astype(np.int64).ravel()
    start = np.arange(0, len(member) + 1, 2, dtype=np.int64)
    return PrivacyConstraints(tuple(map(str, range(1, len(start)))), on.dataset.labels, start, member)


def mixed_sizes(on: Bench, shares: tuple[float, ...], total: int = 2000) -> PrivacyConstraints:
    """PP6 to PP9: itemsets of 1 to 4 items that some transaction holds, in the shares of the paper's Table 2. The paper does
    not say how many; here ``total``, or all single items where these are fewer."""
    sets: list[list[str]] = []
    for size, share in enumerate(shares, 1):
        drawn = random_workload(
            on.engine, on.dataset, queries=round(total * share / 100), size=size, seed=size, target="drawn"
        )
        items = on.engine.select(exp.select("item").from_(drawn.queries.expression()).order_by("query_id", "item"))["item"]
        on.engine.drop(drawn.queries)
        sets += [[on.dataset.labels[i] for i in block] for block in items.reshape(-1, size).tolist()]
    return PrivacyConstraints.of(sets)


def privacy_policies(on: Bench, data: str) -> list[Row]:
    """Figures 11 and 12: PP1 to PP9, k = 5; Apriori has to protect all itemsets of 2 or 4 items."""
    shares = ((33, 33, 33, 1), (30, 30, 30, 10), (25, 25, 25, 25), (16.7, 16.7, 16.7, 50))
    policies = [(pairs_of_some_items(on, percent), 2, (1, 3)) for percent in (2, 5, 10, 25, 50)]
    policies += [(mixed_sizes(on, share), 4, (2,)) for share in shares]
    rows = []
    for number, (privacy, m, sizes) in enumerate(policies, 1):
        (ours, seconds), (theirs, _) = on.coat(5, privacy=privacy), on.apriori(5, m)
        facts = {"data": data, "policy": f"PP{number}", "constraints": len(privacy), **outcome(ours)}
        rows += compare(on, ours, theirs, sizes, **facts, seconds_coat=seconds)
    return rows


def utility_policies(on: Bench, data: str) -> list[Row]:
    """Figure 13: UP1 to UP4, groups of 25 to 500 siblings; k = 5, m = 2."""
    rows = []
    for number, size in enumerate((25, 50, 250, 500), 1):
        groups = utility_of_siblings(on.taxonomy, size)
        (ours, seconds), (theirs, _) = on.coat(5, 2, utility=groups), on.apriori(5, 2)
        least = ours
        if isinstance(ours, str):  # how much would have to be suppressed
            least, _ = on.coat(5, 2, utility=groups, max_suppression=100)
        facts = {"data": data, "policy": f"UP{number}", "group": size, **outcome(ours), "seconds_coat": seconds}
        facts["suppressed_without_limit"] = outcome(least)["suppressed_items"]
        facts["apriori_inside"] = None if isinstance(theirs, str) else inside(theirs, groups)
        rows += compare(on, least, theirs, (1, 3), **facts)
    return rows


def inside(recoding: GlobalRecoding, groups: UtilityConstraints) -> int:
    """How many of the released items lie inside one utility constraint."""
    of_label, _ = groups.groups_of(recoding.member_labels)
    found: dict[int, set[int]] = {}
    for released, group in zip(recoding.member_of.tolist(), of_label.tolist(), strict=True):
        found.setdefault(released, set()).add(group)
    return sum(len(g) == 1 for g in found.values())


def against_n() -> list[Row]:
    """Figure 14a: CPU seconds on random parts of bms1; k = 5, m = 2."""
    lines = [line.split() for line in (DATA / "bms1.dat").read_text("utf-8").splitlines()]
    order = np.random.default_rng(0).permutation(len(lines)).tolist()
    rows = []
    for n in (1000, 5000, 10000, 20000, 30000, 40000, 50000):
        part = pa.table({"tid": range(n), "item": pa.array([lines[i] for i in order[:n]], pa.list_(pa.string()))})
        with bench(part, "bms1.f5.tree") as on:
            (ours, seconds), (_, their_seconds) = on.coat(5), on.apriori(5)
        rows.append({"n": n, **outcome(ours), "seconds_coat": seconds, "seconds_apriori": their_seconds})
    return rows


# ---------------------------------------------------------------------- section 7


def diagnoses() -> pa.Table:
    """The patients of the INFORMS contest and their diagnosis codes."""
    with (DATA / "informs2005_rt.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["DUPERSID"], row["items"].split()) for row in csv.DictReader(file)]
    return pa.table({"tid": [r[0] for r in rows], "item": pa.array([r[1] for r in rows], pa.list_(pa.string()))})


def disorders(on: Bench, number: int, least: int) -> UtilityConstraints:
    """Syndromes: sections of the ICD-9 tree with at least two codes in the data; the ``number`` rarest of those that at
    least ``least`` diagnoses fall under."""
    sections = utility_of_level(on.taxonomy, 2)
    support = dict(zip(on.dataset.labels, on.dataset.supports.tolist(), strict=True))
    found = []
    for name, codes in zip(sections.ids, sections.sets(), strict=True):
        known = [c for c in codes if c in support]
        total = sum(support[c] for c in known)
        if len(known) > 1 and total >= least:
            found.append((total, name, known))
    chosen = sorted(found)[:number]
    return UtilityConstraints.of([c for _, _, c in chosen], [name for _, name, _ in chosen])


def frequent_combinations(on: Bench, share: float) -> list[tuple[str, ...]]:
    """W1: the codes and pairs of codes that at least this share of the patients have."""
    least = math.ceil(share * on.dataset.n_transactions)
    codes = np.flatnonzero(on.dataset.supports >= least)
    held = {int(c): set(on.tid[on.item == c].tolist()) for c in codes}
    pairs = [(a, b) for a in held for b in held if a < b and len(held[a] & held[b]) >= least]
    return [tuple(on.dataset.labels[i] for i in s) for s in (*((c,) for c in held), *pairs)]


def case_study() -> list[Row]:
    """Figure 15: Pgen's constraints, utility constraints of syndromes, workloads W1 and W2."""
    rows = []
    with bench(diagnoses(), "icd9.tree") as on:
        for share in (0.1, 0.03):
            asked = frequent_combinations(on, share)
            listed = pa.table({"query_id": range(len(asked)), "items": pa.array([list(a) for a in asked])})
            with open_source(on.engine, listed, "workload") as source:
                w1 = owner_workload(on.engine, on.dataset, source, target=f"w{round(100 * share)}")
            rows += _case_study(on, share, w1)
    return rows


def _case_study(on: Bench, share: float, w1: Workload) -> list[Row]:
    rows = []
    for number, least in ((20, 5), (5, 50)):
        syndromes = disorders(on, number, least)
        for k in K_VALUES:
            constraints = pgen(on.engine, on.dataset, k)
            for limit in (LIMIT, Fraction(100)):
                options = {"privacy": constraints, "utility": syndromes, "max_suppression": limit}
                ours, seconds = on.coat(k, **options)
                row = {"syndromes": number, "k": k, "s": str(limit), "constraints": len(constraints), **outcome(ours)}
                row |= {"seconds_coat": seconds, "w1_share": share, "w1_queries": w1.n_queries}
                if not isinstance(ours, str):
                    row["countable"] = kept(on, syndromes, ours)
                    row["w1"] = on.error(ours, w1)
                    pool = generalized_items(ours)
                    if len(pool) > 1:
                        w2 = on.queries(2, pool)
                        row["w2"] = on.error(ours, w2)
                        on.engine.drop(w2.queries)
                rows.append(row)
                if not isinstance(ours, str):
                    break
            theirs, _ = on.apriori(k, math.inf)
            row["apriori"] = outcome(theirs)["released_items"]
            if not isinstance(theirs, str):
                row["apriori_countable"] = kept(on, syndromes, theirs)
    return rows


def kept(on: Bench, syndromes: UtilityConstraints, recoding: GlobalRecoding) -> int:
    """How many syndromes are counted exactly."""
    sets = ItemSets(syndromes.ids, syndromes.labels, syndromes.start, syndromes.member)
    return sum(c.exact for c in countable(sets, recoding, on.dataset))


# ---------------------------------------------------------------------- output


def panel(title: str, rows: list[Row], x: str, columns: tuple[str, ...], **wanted: Any) -> tuple[str, str, list[Line]]:
    """Columns of the rows that agree with some values."""
    chosen = [r for r in rows if all(r.get(c) == v for c, v in wanted.items())]
    return title, x, [(c, [(str(r[x]), r[c]) for r in chosen if r.get(c) is not None]) for c in columns]


def main() -> None:
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "coat_paper"
    both, seconds = ("avgre_coat", "avgre_apriori"), ("seconds_coat", "seconds_apriori")
    found: dict[str, list[Row]] = {}
    for data in ("bms1", "bms2"):
        with bench(DATA / f"{data}.dat", f"{data}.f5.tree") as on:
            for name, rows_of in (
                ("by_k", against_k),
                ("by_m", against_m),
                ("privacy_policies", privacy_policies),
                ("utility_policies", utility_policies),
            ):
                found.setdefault(name, []).extend(rows_of(on, data))
    found |= {"by_n": against_n(), "case_study": case_study()}
    for name, rows in found.items():
        (place / f"{name}.csv").unlink(missing_ok=True)
        Measured(place / f"{name}.csv").add(*rows)
    sets, by_k = ("bms1", "bms2"), found["by_k"]
    shown = {"by_k": ("k", (1, 3)), "by_m": ("m", (2,)), "privacy_policies": ("policy", (1, 3, 2))}
    for name, (x, sizes) in (shown | {"utility_policies": ("policy", (1, 3))}).items():
        panels = [panel(f"{d}, q={q}", found[name], x, both, data=d, q=q) for d in sets for q in sizes]
        plot(place / f"{name}.png", panels)
    uls = ("log2_ul_coat", "log2_ul_apriori")
    plot(place / "ul.png", [panel(f"{d}: log2 UL", by_k, "k", uls, data=d, q=1) for d in sets])
    plot(place / "seconds_by_k.png", [panel(d, by_k, "k", seconds, data=d, q=1) for d in sets])
    plot(place / "by_n.png", [panel("bms1: CPU seconds", found["by_n"], "n", seconds)])
    titles = {n: f"{n} syndromes" for n in (20, 5)}
    study = found["case_study"]
    plot(
        place / "case_study.png", [panel(t, study, "k", ("w1", "w2"), syndromes=n, w1_share=0.1) for n, t in titles.items()]
    )


if __name__ == "__main__":
    main()
