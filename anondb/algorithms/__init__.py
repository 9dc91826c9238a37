"""Algorithms: a package for each family, a module for each algorithm, readable beside its pseudo-code. ``METHODS`` maps
names to algorithms in order of preference: unless the owner names an algorithm, the first whose needs are met runs. Add a
new algorithm as one more ``Method`` here."""

from anondb.algorithms import anatomy, apriori, coat, hghs, mm, relational, similar, transactional
from anondb.algorithms.method import Method

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *(hghs.MHGHS, hghs.HGHS, coat.COAT, *relational.METHODS, transactional.PARTITION, transactional.CLUMP),
        *(apriori.APRIORI, apriori.LRA, apriori.VPA, coat.PCTA, mm.MM, anatomy.MULTI_ANATOMY, similar.SIMILAR),
    )
}
