"""Inverting an algorithm on a small release: what its own choices give away to whoever knows it (minimality, downcoding).

It belongs to the owner: the policy comes from the ledger. Persons and items are counted, never shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, product
from math import comb, factorial, prod
from typing import Any

import numpy as np

from anondb.algorithms.method import Task
from anondb.data.requirements import Requirements
from anondb.data.taxonomy import Taxonomy, from_edges
from anondb.data.transactions import Dataset
from anondb.engine import DuckDBEngine, Engine
from anondb.errors import AnondbError, BudgetExceeded, InputError, InternalError
from anondb.models import Model
from anondb.models.named import model_of
from anondb.owner import ledger
from anondb.owner.releases import current_catalog, find_release
from anondb.policy import Policy
from anondb.recode import recode
from anondb.recoding import GlobalRecoding
from anondb.release.objects import read_manifest

MAX_ORIGINALS = 2_000
INVERTIBLE = ("mhghs", "hghs", "coat", "apriori")
Basket = frozenset[str]


@dataclass(frozen=True)
class Inversion:
    """What knowing the algorithm tells about the originals of a small release.

    Attributes:
        originals: originals that the release may come from if nothing is known of the algorithm, persons told apart.
        consistent: those of them for which the algorithm gives this very release.
        naive: the largest probability, over persons and items, that a person has an item, all originals equally likely.
        posterior: the same over the consistent originals only.
        certain: pairs of a person and an item, of those that stay open naively, that the algorithm settles.
    """

    originals: int
    consistent: int
    naive: Fraction
    posterior: Fraction
    certain: int

    def to_json(self) -> dict[str, Any]:
        """The inversion as JSON values; probabilities as floats, numbers of originals as text where they are large."""
        return {
            "originals": str(self.originals),
            "consistent": str(self.consistent),
            "naive": float(self.naive),
            "posterior": float(self.posterior),
            "certain": self.certain,
        }


def invert_release(engine: DuckDBEngine, name: str) -> Inversion:
    """Invert the algorithm on a small release; see ``invert``.

    Raises:
        InputError: no such release, or an algorithm that is not inverted here.
        BudgetExceeded: too many possible originals.
    """
    with engine.transaction():
        schema = find_release(engine, name)
        catalog = current_catalog(engine)
        entry = ledger.find(engine, catalog, name)
        manifest = read_manifest(engine, schema)
        if entry is None or entry.algorithm not in INVERTIBLE:
            raise InputError(f"Inverted are {', '.join(INVERTIBLE)}.", code="bad_usage")
        edges = ledger.taxonomy_of(engine, catalog, entry.release_id)
        members: dict[str, list[str]] = {}
        found = engine.query("release/members", {"released_items": schema.table("released_items")})
        for released, item in zip(found["released_item"].tolist(), found["item"].tolist(), strict=True):
            members.setdefault(released, []).append(item)
        baskets = engine.query("attack/baskets", {t: schema.table(t) for t in ("transactions", "transaction_ids")})
        released_sets: dict[int, set[str]] = {}
        for number, label in zip(baskets["transaction_id"].tolist(), baskets["item"].tolist(), strict=True):
            released_sets.setdefault(number, set()).update([label] if label is not None else [])
        model = model_of(manifest)
        limit = entry.parameters.get("max_suppression")
    return invert(
        list(map(frozenset, released_sets.values())),
        members,
        model,
        entry.algorithm,
        taxonomy=from_edges(edges) if edges else None,
        suppressed=manifest["suppression"] == "some",
        max_suppression=limit,
    )


def invert(
    released: Sequence[Basket],
    members: Mapping[str, Sequence[str]],
    model: Model,
    algorithm: str,
    *,
    taxonomy: Taxonomy | None = None,
    suppressed: bool = False,
    max_suppression: Any = None,
) -> Inversion:
    """Run the algorithm on every original that a release may come from, and keep those that give this release (Wong 2007).

    Equal transactions are interchangeable, so originals are enumerated as multisets and weighted.

    Args:
        released: the published transactions.
        members: what each released item stands for.
        model, algorithm, taxonomy, max_suppression: how the release was made; the attacker knows all of it.
        suppressed: whether something was suppressed: then leaves of the taxonomy without a released item may be anywhere.

    Raises:
        InputError: something was suppressed that no taxonomy names, so that the originals cannot be listed; or
            ``not_its_algorithm``.
        BudgetExceeded: there are more than ``MAX_ORIGINALS``.
    """
    covered = set(chain.from_iterable(members.values()))
    hidden: list[str] = []
    if suppressed:
        if taxonomy is None:
            raise InputError("Items were suppressed whose names nobody knows.", code="bad_usage")
        leaves = [taxonomy.labels[v] for v in range(taxonomy.size) if taxonomy.is_leaf[v]]
        hidden = [x for x in leaves if x not in covered]
    classes = Counter(released)
    sizes = {c: prod(2 ** len(members[r]) - 1 for r in c) * 2 ** len(hidden) for c in classes}
    tried = prod(comb(sizes[c] + n - 1, n) for c, n in classes.items())
    if tried > MAX_ORIGINALS:
        raise BudgetExceeded(
            f"The release may come from {tried:.3g} different originals; at most {MAX_ORIGINALS} are tried."
        )
    preimages = {c: _preimages(c, members, hidden) for c in classes}
    image = {x: r for r, inside in members.items() for x in inside}
    engine = DuckDBEngine.open(threads=1)
    totals: list[Counter[tuple[Basket, str]]] = [Counter(), Counter()]
    weights = [0, 0]
    try:
        for chosen in product(*(combinations_with_replacement(preimages[c], n) for c, n in classes.items())):
            weight = prod(_arrangements(part) for part in chosen)
            baskets = [b for part in chosen for b in part]
            same = _gives(engine, baskets, image, model, algorithm, taxonomy, max_suppression)
            for which in (0, 1) if same else (0,):
                weights[which] += weight
                for c, part in zip(classes, chosen, strict=True):
                    for basket in part:
                        for x in basket:
                            totals[which][c, x] += weight
    finally:
        engine.close()
    if not weights[1]:
        raise InputError("No original gives this release: it was made in another way.", code="not_its_algorithm")
    naive, known = (
        {pair: Fraction(n, weights[which] * classes[pair[0]]) for pair, n in totals[which].items()} for which in (0, 1)
    )
    open_pairs = {pair for pair, share in naive.items() if share < 1}
    settled = sum(classes[pair[0]] for pair in open_pairs if known.get(pair, Fraction(0)) in (0, 1))
    largest = [max((s[p] for p in open_pairs if p in s), default=Fraction(0)) for s in (naive, known)]
    return Inversion(weights[0], weights[1], largest[0], largest[1], settled)


def _preimages(released: Basket, members: Mapping[str, Sequence[str]], hidden: Sequence[str]) -> list[Basket]:
    parts = [[s for s in _subsets(members[r]) if s] for r in sorted(released)] + [list(_subsets(hidden))]
    return [frozenset(chain.from_iterable(choice)) for choice in product(*parts)]


def _subsets(items: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(items, n) for n in range(len(items) + 1))


def _arrangements(part: Sequence[Basket]) -> int:
    """In how many ways the persons of a class can have these originals."""
    return factorial(len(part)) // prod(factorial(n) for n in Counter(part).values())


def _gives(
    engine: Engine,
    baskets: Sequence[Basket],
    image: Mapping[str, str],
    model: Model,
    algorithm: str,
    taxonomy: Taxonomy | None,
    max_suppression: Any,
) -> bool:
    """Whether the algorithm publishes every item of these originals as the release does."""
    with engine.transaction():
        dataset = _dataset(engine, baskets)
        options: dict[str, Any] = {"taxonomy": "known"} if taxonomy is not None else {}
        policy = Policy("known", model=model, algorithm=algorithm, max_suppression=max_suppression, **options)
        task = Task(policy.model, dataset, Requirements(), taxonomy, options=policy.method_options)
        try:
            found = recode(engine, policy, task)
        except AnondbError:
            return False  # infeasible: nothing would have been published
        if not isinstance(found, GlobalRecoding):
            raise InternalError(f"The algorithm {algorithm} gives an item no image of its own.")
        if any(
            image.get(label) != (found.labels[r] if r >= 0 else None)
            for label, r in zip(dataset.labels, found.image.tolist(), strict=True)
        ):
            return False
        used = set(found.image[found.image >= 0].tolist())
        stands = {x for r, x in zip(found.member_of.tolist(), found.member_labels, strict=True) if r in used}
        return stands == set(image)


def _dataset(engine: Engine, baskets: Sequence[Basket]) -> Dataset:
    """A small dataset, coded as ``data.transactions.load_transactions`` does it."""
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
