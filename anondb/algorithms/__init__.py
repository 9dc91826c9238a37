"""Published algorithms: a room for each family, one file for each algorithm, readable beside its pseudo-code.

``METHODS`` has them by name, in the order in which they are chosen where the owner names none: the first whose needs are
met. A new algorithm is one more ``Method`` here.
"""

from __future__ import annotations

from anondb.algorithms import anatomy, apriori, coat, hghs, mm, relational, transactional
from anondb.algorithms.method import Method

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *(hghs.MHGHS, hghs.HGHS, coat.COAT, *relational.METHODS, transactional.PARTITION, transactional.CLUMP),
        *(apriori.APRIORI, apriori.LRA, apriori.VPA, coat.PCTA, mm.MM, anatomy.MULTI_ANATOMY),
    )
}
