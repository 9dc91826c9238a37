"""Invert an algorithm on a small release: measure what an attacker who knows it can infer (minimality, downcoding). Only the
owner can run it, because the policy comes from the ledger. It counts persons and items, and never shows them."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, product
from math import comb, factorial, prod
from typing import Any

import numpy as np

from anondb.algorithms.method import Task
from anondb.data.constraints import Requirements
from anondb.data.taxonomy import Taxonomy, from_edges
from anondb.data.transactions import Dataset
from anondb.engine import Columns, DuckDBEngine, Engine, reads
from anondb.errors import AnondbError, BudgetExceeded, InputError, InternalError
from anondb.ledger import ledger
from anondb.ledger.stored import current_catalog, find_whole
from anondb.models import Model
from anondb.models.named import model_of
from anondb.policy import Policy
from anondb.promises.check import support_rule
from anondb.recode import recode
from anondb.recoding import GlobalRecoding
from anondb.release.freeze import FrozenRelease
from anondb.release.objects import SchemaName, read_manifest, read_members

MAX_ORIGINALS = 2_000
FEW_TRANSACTIONS, FEW_ORIGINALS = 30, 100  # of a release that is inverted when it is made: some seconds
INVERTIBLE = ("mhghs", "hghs", "coat", "apriori")
Basket = frozenset[str]
Supports = dict[tuple[str, str], tuple[int, int]]


@dataclass(frozen=True)
class Inversion:
    """The inference that knowledge of the algorithm allows on the originals of a small release.

    Attributes:
        originals: the number of possible originals without knowledge of the algorithm; persons are distinguishable.
        consistent: the number of originals for which the algorithm returns exactly this release.
        naive: the largest probability, over persons and items, that a person has an item, all originals equally likely.
        posterior: the same over the consistent originals only.
        certain: the number of (person, item) pairs that are open naively and settled by the algorithm.
    """

    originals: int
    consistent: int
    naive: Fraction
    posterior: Fraction
    certain: int

    def to_json(self) -> dict[str, Any]:
        """The inversion as JSON values; probabilities as floats, large numbers of originals as text."""
        numbers = {"originals": str(self.originals), "consistent": str(self.consistent)}
        return {**vars(self), **numbers, "naive": float(self.naive), "posterior": float(self.posterior)}


def invert_release(engine: DuckDBEngine, name: str) -> Inversion:
    """Invert the algorithm on a small release; see ``invert``. Raises InputError: the release does not exist, or its
    algorithm is not in ``INVERTIBLE``. BudgetExceeded: too many possible originals."""
    with engine.transaction():
        release, catalog = find_whole(engine, name), current_catalog(engine)
        entry = ledger.find(engine, catalog, name)
        if entry is None or entry.algorithm not in INVERTIBLE:
            raise InputError(f"--invert takes releases by {', '.join(INVERTIBLE)} only.", code="bad_usage")
        edges = ledger.taxonomy_of(engine, catalog, entry.release_id)
        view = read_view(engine, release.schema)
    return invert(
        view,
        model_of(release.manifest),
        entry.algorithm,
        taxonomy=from_edges(edges) if edges else None,
        max_suppression=entry.parameters.get("max_suppression"),
    )


@dataclass(frozen=True)
class ReaderView:
    """A release as its readers see it."""

    transactions: Sequence[Basket]  # the published transactions
    members: Mapping[str, Sequence[str]]  # the original items of each released item
    # whether something was suppressed: leaves of the taxonomy without a released item may then occur
    suppressed: bool = False
    # ``at_least`` and ``at_most`` of each released item and member; None without item supports
    item_supports: Supports | None = None


def read_view(engine: Engine, schema: SchemaName) -> ReaderView:
    """Read a release into memory."""
    manifest, members = read_manifest(engine, schema), read_members(engine, schema)
    ids, rows, columns = schema.table("transaction_ids"), schema.table("transactions"), "one.transaction_id, other.item"
    baskets = engine.select(
        reads.joined(ids, rows, "transaction_id", columns, side="LEFT", order="one.transaction_id, other.item")
    )
    transactions: dict[int, set[str]] = {}
    for number, label in zip(baskets["transaction_id"].tolist(), baskets["item"].tolist(), strict=True):
        transactions.setdefault(number, set()).update([label] if label is not None else [])
    supports: Supports | None = None
    if "item_supports" in manifest:
        stored = engine.select(reads.rows(schema.table("item_supports"), "released_item, item, at_least, at_most"))
        supports = _bounds_of(stored)
    suppressed = manifest["suppression"] == "some"
    return ReaderView(list(map(frozenset, transactions.values())), members, suppressed, supports)


def _bounds_of(columns: Columns) -> Supports:
    rows = zip(*(columns[name].tolist() for name in ("released_item", "item", "at_least", "at_most")), strict=True)
    return {(released, item): (low, high) for released, item, low, high in rows}


def invert(
    view: ReaderView,
    model: Model,
    algorithm: str,
    *,
    taxonomy: Taxonomy | None = None,
    max_suppression: Any = None,
    limit: int = MAX_ORIGINALS,
) -> Inversion:
    """Run the algorithm on every possible original of a release, and keep those that return this release (Wong 2007).

    Equal transactions are interchangeable, so originals are enumerated as multisets and weighted. Originals whose counts are
    outside of the release's item supports are impossible; those that the algorithm leads to must publish the same ones.

    Args:
        model, algorithm, taxonomy, max_suppression: the policy of the release, all known to the attacker.
        limit: the largest number of originals to try.

    Raises:
        InputError: suppressed items are in no taxonomy, so the originals cannot be enumerated; or ``not_its_algorithm``.
        BudgetExceeded: the release has more than ``limit`` possible originals.
    """
    classes, members = Counter(view.transactions), view.members
    preimages = _preimages_of(classes, members, _hidden(members, taxonomy) if view.suppressed else [], limit)
    image = {x: r for r, inside in members.items() for x in inside}
    engine = DuckDBEngine.open(threads=1)
    totals: list[Counter[tuple[Basket, str]]] = [Counter(), Counter()]  # of all originals, and of the consistent ones
    weights = [0, 0]
    with contextlib.closing(engine):
        for chosen in product(*(combinations_with_replacement(preimages[c], n) for c, n in classes.items())):
            # in how many ways these originals can be those of the persons
            weight = prod(factorial(len(part)) // prod(map(factorial, Counter(part).values())) for part in chosen)
            baskets = [b for part in chosen for b in part]
            if not _possible(baskets, view.item_supports):
                continue
            same = _gives(engine, baskets, image, model, algorithm, taxonomy, max_suppression)
            same = same and _publishes(engine, baskets, view, model)
            for which in (0, 1) if same else (0,):
                weights[which] += weight
                for c, part in zip(classes, chosen, strict=True):
                    for x in chain.from_iterable(part):
                        totals[which][c, x] += weight
    if not weights[1]:
        raise InputError(
            "The algorithm makes this release of no original: it was made with other parameters, or edited.",
            code="not_its_algorithm",
        )
    return _inversion(classes, weights, totals)


def _possible(baskets: Sequence[Basket], supports: Supports | None) -> bool:
    """Whether an original has counts within the item supports; its items have one image each."""
    if supports is None:
        return True
    counts = Counter(chain.from_iterable(baskets))
    return all(low <= counts[item] <= high for (_, item), (low, high) in supports.items())


def _publishes(engine: Engine, baskets: Sequence[Basket], view: ReaderView, model: Model) -> bool:
    """Whether the item supports of an original are those of the release."""
    if view.item_supports is None:
        return True
    counts, shown = Counter(chain.from_iterable(baskets)), Counter(chain.from_iterable(view.transactions))
    pairs = [(released, item) for released, inside in view.members.items() for item in inside]
    held: dict[str, tuple[str, list[Any]]] = {
        "released_item": ("VARCHAR", [released for released, _ in pairs]),
        "item": ("VARCHAR", [item for _, item in pairs]),
        "support": ("BIGINT", [shown[released] for released, _ in pairs]),
        "n": ("BIGINT", [counts[item] for _, item in pairs]),
    }
    rule = support_rule(model)
    with engine.transaction():
        tables = {"members": engine.put("members", held)}
        published = engine.query("warehouse/release/item_supports", tables, k=rule.k, m=rule.m)
    return _bounds_of(published) == view.item_supports


def inference_warning(engine: Engine, policy: Policy, task: Task, frozen: FrozenRelease, model: Model) -> tuple[str, ...]:
    """The warning for the owner of a small release, just made, from which the algorithm lets readers infer more. Releases
    without item supports, in another database, of more than ``FEW_TRANSACTIONS`` transactions, or with more than
    ``FEW_ORIGINALS`` originals are not tried."""
    if not frozen.kind.item_supports or task.runner is not None:
        return ()
    algorithm = str(policy.algorithm)
    sources = (policy.privacy_constraints, policy.utility_constraints, policy.weights, policy.countable)
    steered = bool(policy.options) or any(source is not None for source in sources)
    if algorithm not in INVERTIBLE or steered or frozen.transactions > FEW_TRANSACTIONS:
        return ()
    view, limits = read_view(engine, frozen.schema), policy.max_suppression
    try:
        result = invert(view, model, algorithm, taxonomy=task.taxonomy, max_suppression=limits, limit=FEW_ORIGINALS)
    except AnondbError:
        return ()
    if not result.certain:
        return ()
    return (
        f"Whoever knows the algorithm {algorithm} can infer {result.certain:,} facts on persons from this small release:"
        " see anondb attack --invert. Leave out the item supports, or release more persons.",
    )


def _inversion(classes: Counter[Basket], weights: Sequence[int], totals: Sequence[Counter[tuple[Basket, str]]]) -> Inversion:
    """The inference from the weights of the originals, and from the total weights of each pair of a class and an item."""
    naive, posterior = (
        {pair: Fraction(n, weights[which] * classes[pair[0]]) for pair, n in totals[which].items()} for which in (0, 1)
    )
    open_pairs = {pair for pair, share in naive.items() if share < 1}
    settled = sum(classes[pair[0]] for pair in open_pairs if posterior.get(pair, Fraction(0)) in (0, 1))
    largest = [max((s[p] for p in open_pairs if p in s), default=Fraction(0)) for s in (naive, posterior)]
    return Inversion(weights[0], weights[1], largest[0], largest[1], settled)


def _hidden(members: Mapping[str, Sequence[str]], taxonomy: Taxonomy | None) -> list[str]:
    """The leaves of the taxonomy that no released item stands for."""
    if taxonomy is None:
        raise InputError(
            "The suppressed items are unknown without a taxonomy, so the possible originals cannot be listed.",
            code="bad_usage",
        )
    covered = set(chain.from_iterable(members.values()))
    leaves = [taxonomy.labels[v] for v in range(taxonomy.size) if taxonomy.is_leaf[v]]
    return [x for x in leaves if x not in covered]


def _preimages_of(
    classes: Counter[Basket], members: Mapping[str, Sequence[str]], hidden: Sequence[str], limit: int
) -> dict[Basket, list[Basket]]:
    """The possible originals of each published transaction, unless too many combinations of them would be tried."""
    sizes = {c: prod(2 ** len(members[r]) - 1 for r in c) * 2 ** len(hidden) for c in classes}
    tried = prod(comb(sizes[c] + n - 1, n) for c, n in classes.items())
    if tried > limit:
        raise BudgetExceeded(f"The release may come from {tried:.3g} different originals; at most {limit} are tried.")
    return {c: _preimages(c, members, hidden) for c in classes}


def _preimages(released: Basket, members: Mapping[str, Sequence[str]], hidden: Sequence[str]) -> list[Basket]:
    parts = [[s for s in _subsets(members[r]) if s] for r in sorted(released)] + [list(_subsets(hidden))]
    return [frozenset(chain.from_iterable(choice)) for choice in product(*parts)]


def _subsets(items: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(items, n) for n in range(len(items) + 1))


def _gives(
    engine: Engine,
    baskets: Sequence[Basket],
    image: Mapping[str, str],
    model: Model,
    algorithm: str,
    taxonomy: Taxonomy | None,
    max_suppression: Any,
) -> bool:
    """Whether the algorithm gives every item of these originals the image that it has in the release."""
    with engine.transaction():
        dataset = _dataset(engine, baskets)
        options: dict[str, Any] = {"taxonomy": "known"} if taxonomy is not None else {}
        policy = Policy("known", model=model, algorithm=algorithm, max_suppression=max_suppression, **options)
        task = Task(policy.model, dataset, Requirements(), taxonomy, options=policy.method_options)
        try:
            recoding = recode(engine, policy, task)
        except AnondbError:
            return False  # infeasible: the algorithm would have made no release
        if not isinstance(recoding, GlobalRecoding):
            raise InternalError(f"The algorithm {algorithm} gives an item several images.")
        if any(
            image.get(label) != (recoding.labels[r] if r >= 0 else None)
            for label, r in zip(dataset.labels, recoding.image.tolist(), strict=True)
        ):
            return False
        used = set(recoding.image[recoding.image >= 0].tolist())
        stands = {x for r, x in zip(recoding.member_of.tolist(), recoding.member_labels, strict=True) if r in used}
        return stands == set(image)


def _dataset(engine: Engine, baskets: Sequence[Basket]) -> Dataset:
    """A small dataset, coded like those of ``data.transactions.load_transactions``."""
    labels = sorted(set(chain.from_iterable(baskets)))
    number = {label: n for n, label in enumerate(labels)}
    rows = [(tid, number[x]) for tid, basket in enumerate(baskets, 1) for x in sorted(basket)]
    return Dataset(
        transactions=engine.put(
            "transactions", {"tid": ("INTEGER", [r[0] for r in rows]), "item": ("INTEGER", [r[1] for r in rows])}
        ),
        ids=engine.put("ids", {c: ("INTEGER", range(1, len(baskets) + 1)) for c in ("tid", "id")}),
        items=engine.put("items", {"item": ("INTEGER", range(len(labels))), "label": ("VARCHAR", labels)}),
        labels=tuple(labels),
        supports=np.bincount([r[1] for r in rows], minlength=len(labels)).astype(np.int64),
        n_transactions=len(baskets),
        lengths=dict(Counter(len(b) for b in baskets if b)),
        table="known",
        id_column="tid",
        item_column="item",
    )
