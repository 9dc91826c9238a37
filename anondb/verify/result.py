"""What a verification finds: the same shape for every model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anondb.models import Model


@dataclass(frozen=True)
class Witness:
    """One violating itemset: its labels in code-point order, and in how many transactions it occurs.

    Labels are released data: they belong in a report for the owner, never in an error message or a log.
    """

    items: tuple[str, ...]
    support: int

    def to_json(self) -> dict[str, Any]:
        """The witness as JSON values."""
        return {"items": list(self.items), "support": self.support}


@dataclass(frozen=True)
class SensitiveWitness(Witness):
    """A set of nonsensitive items whose holders are too sure of a sensitive item: ``support`` is of both together."""

    sensitive: str

    def to_json(self) -> dict[str, Any]:
        """The witness as JSON values."""
        return {**super().to_json(), "sensitive": self.sensitive}


@dataclass(frozen=True)
class Verification:
    """Whether a promise holds, re-derived from its definition on the frozen rows.

    Attributes:
        model: the promise that was checked.
        verified: whether it holds, which is ``violations == 0``.
        violations: how many violations there are; what is counted depends on the model (k^m with finite m: minimal
            threats; m infinite: distinct published transactions with fewer than k supersets; transactional k-anonymity:
            classes of equal transactions with fewer than k members).
        across_levels: violations against an attacker who reads released items of all levels together, where the promise
            was checked for that as well (k^m-anonymity of local recodings, see ``verify_levels``); else None.
        witnesses: the first violations by size and labels, at most as many as asked for.
    """

    model: Model
    verified: bool
    violations: int
    witnesses: tuple[Witness, ...] = ()
    across_levels: int | None = None

    def to_json(self, *, witnesses: bool = False) -> dict[str, Any]:
        """The verification as JSON values; with the key ``witnesses`` only when they are asked for."""
        found: dict[str, Any] = {
            "model": {"name": self.model.name, **self.model.parameters()},
            "verified": self.verified,
            "violations": self.violations,
        }
        if self.across_levels is not None:
            found["across_levels"] = self.across_levels
        if witnesses:
            found["witnesses"] = [w.to_json() for w in self.witnesses]
        return found
