"""The promise of COAT: the privacy constraints hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anondb.models import check_count, parameter_k


@dataclass(frozen=True)
class ConstraintAnonymity:
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", int(check_count("k", self.k)))

    def parameters(self) -> dict[str, int | str]:
        """The parameters as they appear in JSON and in the manifest."""
        return {"k": self.k}

    @property
    def promise(self) -> str:
        """The promise in words."""
        return f"privacy constraints with k = {self.k}"
