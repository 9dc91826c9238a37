"""The strongest promise on transactions: each published transaction equals at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anondb.models import check_count, parameter_k


@dataclass(frozen=True)
class TransactionalK:
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", int(check_count("k", self.k)))

    def parameters(self) -> dict[str, int | str]:
        """The parameters as they appear in JSON and in the manifest."""
        return {"k": self.k}

    @property
    def promise(self) -> str:
        """The promise in words."""
        return f"transactional {self.k}-anonymity"
