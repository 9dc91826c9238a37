"""The promise of COAT: the privacy constraints hold."""

from dataclasses import dataclass
from typing import ClassVar

from anondb.models import Model, parameter_k


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

    @property
    def promise(self) -> str:
        """The promise in a few words."""
        return f"privacy constraints with k = {self.k}"
