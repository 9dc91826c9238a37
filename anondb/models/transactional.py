"""The promises on transactions: k^m-anonymity, equal transactions, and privacy constraints."""

from dataclasses import dataclass
from typing import ClassVar

from anondb.models import Model, parameter_k, parameter_m


@dataclass(frozen=True)
class KmAnonymity(Model):
    """k^m-anonymity (Terrovitis et al. 2008; Liu and Wang, PAKDD 2010, Definition 1).

    An itemset X with 1 <= |X| <= m is a *threat* if it occurs in at least one and in fewer than k transactions. The
    promise holds if no itemset is a threat: an attacker who knows up to m released items of a person is left with at
    least k candidates. ``m = math.inf`` protects against any number of known items. ``k = 1`` promises nothing.

    Raises:
        InputError: k or m is not an exact integer of at least 1 (m may be infinity).
    """

    k: int = parameter_k()
    m: int | float = parameter_m()
    name: ClassVar[str] = "km"
    layout: ClassVar[str] = "transactions"
    words: ClassVar[str] = "{k}^{m}-anonymity"


@dataclass(frozen=True)
class TransactionalK(Model):
    """Transactional k-anonymity (He and Naughton, VLDB 2009; Milani Fard and Wang, SECRYPT 2010, section 2.3;
    docs/algorithms/models.md#k).

    Every published transaction equals at least k - 1 others: as a set of released items, or as a bag if the release
    states the number of copies of each item. Transactions without items form a class. So an attacker who knows a whole
    transaction, absent items included, is left with at least k candidates. It implies k^m-anonymity for every m.
    ``k = 1`` promises nothing.

    Raises:
        InputError: k is not an exact integer of at least 1.
    """

    k: int = parameter_k()
    name: ClassVar[str] = "k"
    layout: ClassVar[str] = "local"
    words: ClassVar[str] = "transactional {k}-anonymity"


@dataclass(frozen=True)
class ConstraintAnonymity(Model):
    """Satisfaction of privacy constraints (Loukides, Gkoulalas-Divanis and Malin, COAT, Definition 3.4;
    docs/algorithms/models.md#constraints).

    A privacy constraint is a set of original items that an attacker may know. Let q be the released items that stand for
    them; suppressed items add nothing. The constraint is satisfied if q is empty, if at least k transactions hold all of q,
    or if none does and every proper non-empty subset of q is held by none or by at least k. Equivalently: every part of q
    that a transaction holds, at least k transactions hold. Itemsets that no constraint covers are not protected.

    Raises:
        InputError: k is not an exact integer of at least 1.
    """

    k: int = parameter_k()
    name: ClassVar[str] = "constraints"
    layout: ClassVar[str] = "transactions"
    words: ClassVar[str] = "privacy constraints with k = {k}"
