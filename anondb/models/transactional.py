"""The strongest promise on transactions: each published transaction equals at least k - 1 others."""

from dataclasses import dataclass
from typing import ClassVar

from anondb.models import Model, parameter_k


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

    @property
    def promise(self) -> str:
        """The promise in a few words."""
        return f"transactional {self.k}-anonymity"
