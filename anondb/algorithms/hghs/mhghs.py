"""mHgHs: HgHs in m rounds on ever smaller taxonomies (Liu and Wang, PAKDD 2010, section 4.2; docs/algorithms/mhghs.md)."""

from collections.abc import Iterator
from dataclasses import replace

from anondb.algorithms.hghs.hghs import Anonymization, Costs, Search, recode
from anondb.algorithms.hghs.threats import ThreatMiner
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Runner
from anondb.models.transactional import KmAnonymity
from anondb.recoding import GlobalRecoding


def rounds(
    engine: Runner, dataset: Dataset, taxonomy: Taxonomy, model: KmAnonymity, miner: ThreatMiner
) -> Iterator[Anonymization]:
    """Yield the result of each round i = 1..m: HgHs for k^i-anonymity on the taxonomy truncated at the cut of round i-1.
    Each round decides suppression from scratch; costs stay those of the original taxonomy. Once no antichain of i nodes is
    frequent among the nodes that the search reaches, all later rounds have the same threats and end in the same cut, so they
    are not run."""
    costs = Costs.of(taxonomy, dataset)
    floor = None
    last = int(min(model.m, max(dataset.longest, 1)))
    for i in range(1, last + 1):
        engine.progress(f"round {i} of at most {last}")
        search = Search(taxonomy, costs, miner, i, floor)
        result = search.run(i)
        yield result
        floor = result.cut
        if i > 1 and search.schedule.exhausted:
            return


def mhghs(engine: Runner, dataset: Dataset, taxonomy: Taxonomy, model: KmAnonymity) -> GlobalRecoding:
    """Find a k^m-anonymous recoding by multi-round search; the default for data with a taxonomy."""
    miner = ThreatMiner(engine, dataset, taxonomy, model.k)
    results = list(rounds(engine, dataset, taxonomy, model, miner))
    miner.close()
    decisions = tuple(d for result in results for d in result.decisions)
    return recode(taxonomy, dataset, replace(results[-1], decisions=decisions))
