"""VPA, vertical partitioning anonymization (Terrovitis, Mamoulis and Kalnis, VLDB Journal 2011; docs/algorithms/vpa.md). A
cut of the taxonomy divides the domain into parts. AA recodes the projection of the data on each part, and then all data,
starting from the union of the cuts of the parts; all threats left are itemsets across parts."""

from collections.abc import Sequence
from dataclasses import replace

from anondb.algorithms.apriori.apriori import Apriori, label_order, search_all
from anondb.algorithms.apriori.postings import Postings, load_postings
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.engine.telling import Tell, silent, within
from anondb.models.transactional import KmAnonymity
from anondb.recoding import Decision, GlobalRecoding


def parts(
    postings: Postings, model: KmAnonymity, order: list[int], tops: Sequence[int], tell: Tell = silent
) -> tuple[set[int], list[Decision]]:
    """Recode each part and return the union of the cuts and the raises; ``tell`` is told of the progress. A part that some,
    but fewer than k, transactions hold becomes its top node."""
    taxonomy = postings.taxonomy
    cut: set[int] = set()
    decisions: list[Decision] = []
    for number, top in enumerate(tops, 1):
        told = within(tell, f"part {number} of {len(tops)}")
        below = Apriori(postings, model.k, order, top, set(taxonomy.leaves(top).tolist()), tell=told)
        if below.feasible:
            below.run(model.m)
            cut |= below.cut
            decisions += [replace(d, step=len(decisions) + i) for i, d in enumerate(below.decisions, 1)]
        else:
            cut.add(top)
    return cut, decisions


def vpa(engine: Engine, dataset: Dataset, taxonomy: Taxonomy, model: KmAnonymity) -> GlobalRecoding:
    """Achieve k^m-anonymity by generalization only: first below each child of the root, then on all data. The cost of a
    decision is the total NCP of its part after the step, and in the last phase that of all data; its round is the size of
    the threat."""
    postings, _ = load_postings(engine, dataset, taxonomy)
    order = label_order(taxonomy)
    cut, decisions = parts(postings, model, order, list(taxonomy.children(0)) or [0], engine.progress)
    return search_all(Apriori(postings, model.k, order, 0, cut, decisions, engine.progress), dataset, model)
