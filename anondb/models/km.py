"""The promise of k^m-anonymity."""

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

    @property
    def promise(self) -> str:
        """The promise in a few words."""
        return f"{self.k}^{self.parameters()['m']}-anonymity"
