"""The algorithms for relational and transaction data (Poulis et al., ECML/PKDD 2013): from clusters to a recoding.

``rum_bound`` and ``tum_bound`` bound the loss of one kind of data and keep that of the other low (section 4). The baselines
of the paper, RFIRST and TFIRST, consider only one kind (section 3): RFIRST uses the clusters of CLUSTER unchanged; TFIRST
divides the records, in the order of LRA (by the Gray code of their items, docs/algorithms/lra.md), into groups of at least
k. Each algorithm then recodes the items of every cluster by T.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from anondb.algorithms.apriori.apriori import Apriori, label_order
from anondb.algorithms.apriori.lra import by_gray_code
from anondb.algorithms.apriori.postings import Postings
from anondb.algorithms.relational.bounds import BoundViolated, Merging, nearest, rum_bound, tum_bound
from anondb.algorithms.relational.btd import BtdOrder
from anondb.algorithms.relational.cluster import cluster, fused
from anondb.algorithms.relational.greedy import diversity_recoder
from anondb.algorithms.relational.items import ClusterRecoding, ItemSets, ItemTree, Recoder, joint_profile, recoding, ul
from anondb.algorithms.relational.publish import publish
from anondb.algorithms.relational.sets import partition, set_recoder
from anondb.data.generalization import Generalization
from anondb.data.records import Records
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.engine.arrays import Flags, Ints, run_starts
from anondb.engine.telling import told
from anondb.errors import InfeasibleError, InputError
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.recoding import RelationalRecoding

DEFAULT_DELTA = Fraction(65, 100)  # as in the paper


@dataclass(frozen=True)
class _Plan:
    """The inputs that all steps share."""

    engine: Engine
    measure: Generalization
    items: ItemSets
    recode: Recoder
    k: int
    place: Ints | None


def relational(
    engine: Engine,
    dataset: Dataset,
    records: Records,
    model: KkmAnonymity | KlmDiversity,
    algorithm: str,
    *,
    delta: Any = None,
    taxonomy: Taxonomy | None = None,
    sensitive: frozenset[str] = frozenset(),
    infeasible: str = "suppress",
    subtrees: bool = False,
) -> RelationalRecoding:
    """Achieve (k,k^m)-anonymity or (k,l^m)-diversity of relational and transaction data.

    Args:
        dataset, records: the transactions and the quasi-identifiers of the same persons.
        algorithm: the name of one of ``METHODS``, such as ``rum_bound_rt``.
        delta: how much of the attributes' detail may be given up for that of the items, 0 to 1: the bound on Rum; for
            ``tum_bound`` the reverse, the bound on Tum. 0.65 by default.
        taxonomy: the taxonomy of the items: T unites near items first, or generalizes items to its nodes.
        sensitive: items that attackers do not know, which are published unchanged.
        infeasible: what to do with a cluster that item generalization cannot fix: ``suppress`` items, ``merge`` it with
            the nearest cluster while delta allows, or ``error``.
        subtrees: T generalizes items to nodes of the taxonomy, instead of sets.

    Raises:
        InfeasibleError: fewer records than k; delta cannot be met (``bound_violated``, with the smallest feasible delta);
            item generalization cannot fix a cluster (``infeasible_cluster``).
        InputError: a bad delta; every item is sensitive; an item is not in the taxonomy; subtrees without a taxonomy.
    """
    if subtrees and taxonomy is None:
        raise InputError(
            "items = subtrees needs a taxonomy.", code="no_taxonomy", hint="Name it with --taxonomy TABLE|FILE."
        )
    bound = read_delta(delta)
    is_sensitive = _marks(dataset, sensitive)
    items = ItemSets.load(engine, dataset, is_sensitive)
    measure = Generalization(records)
    tree = place = None
    if taxonomy is not None:
        taxonomy = taxonomy.without(sensitive)
        leaf = _leaves(taxonomy, dataset, is_sensitive)
        tree = ItemTree(taxonomy, leaf)
        place = np.argsort(np.argsort(np.where(is_sensitive, taxonomy.size, taxonomy.rank[leaf]), kind="stable"))
    plan = _Plan(engine, measure, items, _recoder(items, model, tree, subtrees), model.k, place)
    clusters, limit = _form_clusters(plan, algorithm, bound)
    if algorithm.startswith("rum") and limit is not None and Merging(measure, clusters).rum > limit:
        raise BoundViolated("The loss of the relational attributes", limit, Merging(measure, clusters).rum)
    before = len(clusters)
    final, recoded = _recode_clusters(plan, clusters, limit if algorithm.startswith("rum") else None, infeasible)
    tum = ul(joint_profile(recoded)) / max(records.n, 1)
    if algorithm.startswith("tum") and infeasible == "merge" and tum > bound:
        raise BoundViolated("The loss of the items", bound, Fraction(tum))
    result = publish(engine, dataset, measure, items, final, recoded, taxonomy if subtrees else None, is_sensitive, tum)
    return replace(result, merged=before - len(final))


def read_delta(value: Any) -> Fraction:
    """The bound on Rum or Tum as an exact number; None is the default. Raises an ``InputError`` for what is none."""
    try:
        delta = DEFAULT_DELTA if value is None else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        delta = Fraction(-1)
    if isinstance(value, bool) or not 0 <= delta <= 1:
        raise InputError(f"delta must be a number from 0 to 1, not {str(value)[:40]}.", code="bad_parameter")
    return delta


def _marks(dataset: Dataset, sensitive: frozenset[str]) -> Flags:
    """Marks of the sensitive items, by item number."""
    is_sensitive = np.array([label in sensitive for label in dataset.labels], dtype=np.bool_)
    if dataset.n_items and is_sensitive.all():
        raise InputError(
            "Every item is sensitive, so no item is left to protect or generalize.",
            code="all_sensitive",
            hint="Name only the sensitive ones.",
        )
    return is_sensitive


def _leaves(taxonomy: Taxonomy, dataset: Dataset, is_sensitive: Flags) -> Ints:
    """The leaf of each nonsensitive item; sensitive ones need not be in the taxonomy."""
    node = np.array([taxonomy.node_of.get(label, -1) for label in dataset.labels], dtype=np.int64)
    if unknown := int(((node < 0) & ~is_sensitive).sum()):
        raise InputError(
            f"{unknown} of {len(node)} items are not in the taxonomy.",
            code="unknown_item",
            hint="Add them as leaves, or filter them out.",
        )
    inner = int((~taxonomy.is_leaf[node] & (node >= 0)).sum()) if len(node) else 0
    if inner:
        raise InputError(
            f"{inner} of {len(node)} items are inner nodes of the taxonomy, not leaves.",
            code="internal_item",
            hint="Give each a separate leaf below that node.",
        )
    return node


def _recoder(items: ItemSets, model: KkmAnonymity | KlmDiversity, tree: ItemTree | None, subtrees: bool) -> Recoder:
    if isinstance(model, KlmDiversity):
        return diversity_recoder(items, model.k, model.l, model.m, tree, subtrees=subtrees)
    if tree is None or not subtrees:
        return set_recoder(items, model.k, model.m, tree)
    return taxonomy_recoder(items, model.k, model.m, tree)


def _form_clusters(plan: _Plan, algorithm: str, bound: Fraction) -> tuple[list[Ints], Fraction | None]:
    """Form the clusters before T; return them, and delta if the algorithm has one."""
    plan.engine.progress("clustering the records")
    if algorithm == "tfirst":
        return fused(plan.measure, gray_chunks(plan.items, plan.k, plan.place)), None
    start = cluster(plan.measure, plan.k, plan.engine.progress)
    if algorithm == "rfirst" or not plan.items.n_items:  # merges are for items
        return start, bound if algorithm.startswith("rum") else None
    framework, _, variant = algorithm.partition("_bound_")
    order = None if variant == "r" else BtdOrder(plan.items, start)
    if framework == "rum":
        return rum_bound(plan.measure, start, bound, variant, order, plan.engine.progress), bound
    return tum_bound(plan.measure, start, bound, variant, plan.recode, order, plan.engine.progress), bound


def gray_chunks(items: ItemSets, k: int, place: Ints | None = None) -> list[Ints]:
    """Make groups of k records, the last one larger, in the order of the Gray code of their nonsensitive items
    (docs/algorithms/lra.md); ``place`` is that of each item among the bits, by default its number."""
    if items.n < k:
        raise InfeasibleError(f"There are {items.n} records, fewer than k = {k}.", hint="Lower k.")
    if place is None:
        place = np.arange(items.n_items)
    order = by_gray_code(place[items.item] + 1, items.start, items.n_items)
    bounds = [*range(0, items.n - k + 1, k), items.n]
    return [np.sort(order[a:b]) for a, b in pairwise(bounds)]


def _recode_clusters(
    plan: _Plan, clusters: list[Ints], limit: Fraction | None, infeasible: str
) -> tuple[list[Ints], list[ClusterRecoding]]:
    """Recode every cluster by T, and apply the policy to those that generalization cannot fix."""
    recoded = [plan.recode(members) for members in told(plan.engine.progress, "recoding the clusters", clusters)]
    while infeasible != "suppress":
        if (at := next((i for i, recoding in enumerate(recoded) if recoding.suppresses), None)) is None:
            break
        other = nearest(plan.measure, clusters, at, limit) if infeasible == "merge" else None
        if other is None:
            raise InfeasibleError(
                f"{sum(recoding.suppresses for recoding in recoded)} of {len(clusters)} clusters cannot keep the promise by"
                " generalizing their items.",
                code="infeasible_cluster",
                hint="Let them be suppressed or merged, raise --delta, or lower k.",
            )
        union = np.sort(np.concatenate((clusters[at], clusters[other])))
        kept, gone = min(at, other), max(at, other)
        clusters[kept], recoded[kept] = union, plan.recode(union)
        del clusters[gone], recoded[gone]
    return clusters, recoded


def taxonomy_recoder(items: ItemSets, k: int, m: int | float, tree: ItemTree) -> Recoder:
    """Make T for k^m-anonymity by AA, Apriori anonymization, on the nonsensitive items of one cluster
    (docs/algorithms/rum_tum_bound.md#t).

    Each cluster has a separate cut, the one that ``apriori`` finds for its records. Whole subtrees are generalized. So if
    fewer than k records of the cluster hold some child of the root, or two children together, only the root is left. If
    fewer than k records hold items, all items of the cluster are suppressed (docs/algorithms/rum_tum_bound.md#r2).
    """
    taxonomy = tree.taxonomy
    order = label_order(taxonomy)
    leaves = np.flatnonzero(taxonomy.is_leaf).tolist()

    def recode(records: Ints) -> ClusterRecoding:
        held, marks = items.marks(records)
        if int(marks.any(axis=0).sum()) < k:
            return partition(held, marks, np.full(len(held), -1))
        node = tree.leaf[held]
        in_order = np.argsort(node)
        record, item = np.nonzero(marks[in_order].T)
        start = np.append(run_starts(record), len(record)).astype(np.int64)
        search = Apriori(Postings(taxonomy, node[in_order][item].astype(np.int32), start), k, order, 0, set(leaves))
        search.run(m)
        above = search.image(node)
        nodes, block = np.unique(taxonomy.rank[above], return_inverse=True)  # numbered in the order of ties
        chosen = np.empty(len(nodes), dtype=np.int64)
        chosen[block] = above
        return recoding(held, marks, block, tuple(chosen.tolist()), taxonomy.leaf_count[chosen])

    return recode
